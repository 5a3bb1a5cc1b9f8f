"""Launches that store residuals for their adjoints (`autodiff/residuals.py`): when, and where.

The first launch of a code that a tape records runs as it is, so that a single gradient costs no further build. The
second one has the two forms built in the background; once they are there, launches store residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from msgspec.structs import replace

from workbench.api.builds.build import when_built
from workbench.api.builds.gathered import gather_adjoint_of
from workbench.api.kernels.kernel import Specialisation
from workbench.api.tapes.adjoint_launch import adjoint_options, replacing, uncleared
from workbench.autodiff import FORWARD
from workbench.autodiff.directions import READING, STORING
from workbench.errors import NotDifferentiable
from workbench.events import SUBSCRIBERS, Launched, listening
from workbench.runtime.active_observers import unobserved
from workbench.runtime.arrays.create import empty
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.execute import cpu_threads
from workbench.runtime.launching.record import LaunchRecord
from workbench.types import float64, int64

_BUILDING = "building"


def storing(
    record: LaunchRecord, unwanted: frozenset[str], sets: bool, adjoint: Callable[[], Executable]
) -> LaunchRecord | None:
    """Return a launch that does what another one does and stores residuals; None if it does not pay, or not yet.

    Args:
        record: the launch, whose arrays are dense and share no memory.
        unwanted: names of its arrays whose gradients are not computed.
        sets: whether its adjoint may set gradients.
        adjoint: returns the adjoint's code without residuals.
    """
    bound, launch_options = record.executable.bound, record.launch_options
    slot = "residuals", id(launch_options), unwanted, cpu_threads()
    known: tuple[Any, Executable | str | None] | None = bound.get(slot)
    if known is None:
        wanted = _may_store(record) and "repeats" in adjoint().metadata
        bound[slot] = launch_options, _BUILDING if wanted else None
        return None
    code = known[1]
    if code == _BUILDING:
        code = _built(record, unwanted, sets)
        bound[slot] = launch_options, code
    if not isinstance(code, Executable) or record.threads >= 2**31 or (SUBSCRIBERS and listening(Launched)):
        return None
    with unobserved():
        floats, ints = code.metadata["residuals"]
        residuals = [empty((n, record.threads), kind, "cpu") for n, kind in ((floats, float64), (ints, int64))]
    return replace(record, executable=code, values=[*record.values, *residuals])


def _may_store(record: LaunchRecord) -> bool:
    """Return whether launches of a record's code may store residuals, if its adjoint needs any.

    Contracted and reassociated sums may differ from those of the adjoint.
    """
    executable, options = record.executable, record.options
    plain = record.direction == FORWARD and executable.one_call and not options.ordered and not options.fast_math
    specialisation = record.specialisation
    return plain and isinstance(specialisation, Specialisation) and not specialisation.kernel.fma


def _built(record: LaunchRecord, unwanted: Set[str], sets: bool) -> Executable | str | None:
    """Return the code that stores residuals; `_BUILDING` until it and the adjoint are built; None if there are none."""
    specialisation, device = record.specialisation, record.executable.device
    options = uncleared(record, adjoint_options(record, unwanted, contiguous=True))
    if gather_adjoint_of(specialisation, options.constant):
        return None
    try:
        code = when_built(specialisation, STORING, options, device)
        adjoint = when_built(specialisation, READING, replacing(record, options) if sets else options, device)
    except NotDifferentiable:  # there are none, or the adjoint is right for some launches only
        return None
    if code is None or adjoint is None:
        return _BUILDING
    # Sums of all threads are divided by the length of a strip, which follows from the cost.
    return None if adjoint.sums else replace(code, cost=record.executable.cost)
