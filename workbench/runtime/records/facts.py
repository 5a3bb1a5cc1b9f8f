"""Facts of a saved kernel that an analysis of its IR has derived: what builds and launches need of them.

A file holds them with a digest of the analysis and of the IR. They are believed in the user's own files only, since
they decide which machine code is run.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from workbench.cache.generator import front_end_version
from workbench.cache.key import Part


class KernelFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Facts that an analysis has derived from a kernel's IR, as a file stores them.

    Attributes:
        digest: of the analysis and of the IR, as `facts_digest` makes it.
        adds_alone: whether some atomic additions become plain ones where no other thread adds to the element, so that
            arguments that overlap need other code.
        forward: the parts of the cache key for the forward direction that depend on the function.
        others: the same for all other directions.
    """

    digest: str
    adds_alone: bool
    forward: tuple[Part, ...]
    others: tuple[Part, ...]


def facts_digest(member: bytes) -> str:
    """Return the digest of the version of the analysis that runs here, and of a kernel's IR as a file holds it."""
    return hashlib.sha256(front_end_version().encode() + b"\n" + member).hexdigest()


def facts_data(specialisation: Any, member: bytes) -> dict[str, Any]:
    """Return what an analysis derives from a kernel's IR, with a digest of both, as JSON values for a file.

    Args:
        specialisation: the kernel.
        member: its IR as the file holds it.
    """
    forward, others = (specialisation.parts(direction) for direction in ("forward", "adjoint"))
    kernel_facts = KernelFacts(facts_digest(member), specialisation.adds_alone, forward, others)
    stored: dict[str, Any] = msgspec.to_builtins(kernel_facts)
    return stored


def read_facts(stored: Any, member: bytes) -> KernelFacts | None:
    """Return what a file of the user's own says that an analysis derived from a kernel's IR.

    None if it says nothing valid, or its digest is not that of this analysis and of the IR `member`.
    """
    try:
        kernel_facts = msgspec.convert(stored, KernelFacts)
    except msgspec.ValidationError:
        return None
    return kernel_facts if kernel_facts.digest == facts_digest(member) else None
