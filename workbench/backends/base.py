"""The interface of every backend: its target, its text, its bytes.

A backend never loads or launches; it turns a `Function` into text a person can read and into an artifact a cache can
keep. All that changes its output comes in through its arguments, so a key made of them cannot lie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import msgspec

from workbench.ir.values import Function

RARE = ("aligned", "apart", "constant", "index32", "ordered", "replaced", "single", "uncleared")
"""Options that `Options.items` lists only where they differ from the default."""


class Options(msgspec.Struct, frozen=True):
    """The options that decide the generated code beside the function itself.

    Attributes:
        checks: test array bounds, divisions and asserts, and report faults.
        fast_math: allow reassociation and approximate maths.
        contiguous: every array argument is C-contiguous, so strides are not read.
        index32: the launch has fewer than 2**31 threads and each array reaches over fewer than 2**31 bytes, so CUDA
            code computes indices and offsets in 32 bits. The CPU's code is the same either way.
        aligned: dense arrays of vectors and structs begin where a GPU loads several scalars at once
            (`layout.access_bytes`). The CPU's code is the same either way.
        apart: no two arguments share memory, so CUDA code reads what the kernel does not change through the read-only
            path, and reads it ahead. The CPU's code is the same either way.
        numbers: an adjoint computes the gradients of number parameters too.
        few_cores: a launch has few cores at most, so code that mostly adds to shared elements may be generated for one
            core: it adds without atomics, and its metadata has `one_core`.
        ordered: sums are in the order of threads: on the CPU these run one after the other, and lanes do not add their
            terms together first; on a device several launches stand for one (`autodiff/instrumented.py`).
        constant: positions of the parameters whose gradients an adjoint need not compute.
        quick: of the CPU's code with checks: it holds only the version without the checks that a test of the launch's
            sizes makes needless. A launch that fails the test is declined: it does nothing, and needs the code with
            both versions.
        single: of an adjoint that is right for some launches only: the axes along which these have one thread. None:
            the adjoint is right for all launches.
        uncleared: an adjoint leaves the cotangents of boxes that the kernel overwrites (`autodiff/memory/boxes.py`) as
            they are; the caller clears them.
        replaced: an adjoint sets gradients where it can, instead of adding to them (`autodiff/memory/replaced.py`); its
            metadata says where.
    """

    checks: bool = False
    fast_math: bool = False
    contiguous: bool = True
    index32: bool = True
    aligned: bool = True
    apart: bool = True
    numbers: bool = True
    few_cores: bool = False
    ordered: bool = False
    constant: tuple[int, ...] = ()
    quick: bool = False
    single: tuple[int, ...] | None = None
    uncleared: bool = False
    replaced: bool = False

    def items(self) -> tuple[tuple[str, Any], ...]:
        """Return the options as (name, value) pairs, sorted by name, for keys.

        Those in `RARE` are listed only if they are not at their default. With `quick` the value of `checks` is "quick".
        """
        named = {name: getattr(self, name) for name in self.__struct_fields__ if name != "quick"}
        values = {**named, "checks": "quick"}.items() if self.quick else named.items()
        return tuple(sorted((name, value) for name, value in values if name not in RARE or value != _USUAL[name]))


_USUAL = msgspec.structs.asdict(Options())


class Artifact(msgspec.Struct, frozen=True):
    """A compiled kernel: bytes to load, and metadata.

    Attributes:
        image: an object file (CPU), a cubin (CUDA) or PTX (emulated devices).
        metadata: JSON values; always `entry` (the symbol to call), `stages` (name to seconds), `backend`, `target`.
    """

    image: bytes
    metadata: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class Backend(ABC):
    """A compiler of IR for one kind of target; it neither loads nor launches what it compiles."""

    name: str

    @abstractmethod
    def version(self, target: str = "") -> str:
        """Return everything about the compiler that changes its output, for keys.

        Args:
            target: what is compiled for; empty: the default target.
        """

    @abstractmethod
    def target(self) -> str:
        """Return the default target: an architecture such as `sm_90`, or the CPU's name and features."""

    @abstractmethod
    def emit(self, function: Function, options: Options, target: str) -> str:
        """Return the text that `compile` compiles: CUDA C++ or LLVM IR."""

    @abstractmethod
    def compile(self, function: Function, options: Options, target: str) -> Artifact:
        """Compile the function to an artifact.

        Raises:
            BuildError: the compiler refused the generated text; `log` holds what it said.
        """

    def prepare(self) -> None:  # noqa: B027  (most have nothing to do)
        """Begin slow preparations in the background, before a kernel is compiled; by default there are none."""
