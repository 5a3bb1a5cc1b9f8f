"""The adjoint launch of a recorded launch whose arrays are dense and lie apart: bound once per code, then only called.

What `bind` finds out for such a launch is the same for every launch of the code, so a tape's small launches need no
record, no dictionary of arguments and no look-up of options. All else (overlaps, gaps, devices, the gather form,
observers, whoever listens for launches) is bound by `adjoint_launch`, each time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from workbench.api.builds import build
from workbench.api.builds.bind import adjoints_of
from workbench.api.builds.gathered import gathering_of
from workbench.api.builds.overlaps import is_dense, overlap
from workbench.api.kernels.kernel import Specialisation
from workbench.api.tapes.adjoint_launch import adjoint_options
from workbench.autodiff import FORWARD, then
from workbench.runtime.active_observers import unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import zeros
from workbench.runtime.launching.execute import cpu_threads
from workbench.runtime.launching.loaded import Loaded
from workbench.runtime.launching.record import BLOCK_DIM, LaunchRecord
from workbench.structs import ELEMENT


class PlainAdjoint(msgspec.Struct, frozen=True, eq=False):
    """The adjoint's code, and where its arguments come from.

    Attributes:
        loaded: the adjoint's code.
        forward: the launch's parameters, which come first among the adjoint's.
        adjoints: for each parameter after them: whose adjoint it is, and what stands there for a number, whose
            gradient the code does not touch.
        unwanted: arrays whose gradients it does not touch either: any array may stand there.
    """

    loaded: Loaded
    forward: tuple[str, ...]
    adjoints: tuple[tuple[str, array | None], ...]
    unwanted: frozenset[str]

    def arguments(self, given: Mapping[str, Any], adjoints: Mapping[str, array]) -> list[Any] | None:
        """The arguments in order; None where arrays may share memory or have gaps."""
        values = [given[name] for name in self.forward]
        wanted = [adjoints[name] for name, number in self.adjoints if number is None and name not in self.unwanted]
        if not apart([*values, *wanted]):
            return None
        values += [adjoints[name] if number is None else number for name, number in self.adjoints]
        return values


def apart(values: Collection[object]) -> bool:
    """Whether the arrays among these are dense and share no memory."""
    seen = 0
    for value in values:
        if type(value) is array:
            if not value.is_contiguous:
                return False
            turn = value.memory.turn  # allocations of their own mostly have bits of their own
            if seen & turn:
                arrays = {str(k): a for k, a in enumerate(values) if type(a) is array}
                return is_dense(arrays) and not overlap(arrays)
            seen |= turn
    return True


def plain_adjoint(record: LaunchRecord, unwanted: frozenset[str], ordered: bool) -> PlainAdjoint | None:
    """The binding of a recorded launch's adjoint; None if it has to be bound for its arguments.

    Raises:
        NotDifferentiable: there is no right adjoint.
    """
    specialisation, how = record.specialisation, record.how
    if record.loaded.device.is_cuda or how.block_dim is not BLOCK_DIM or how.stream is not None:
        return None
    if not isinstance(specialisation, Specialisation) or record.loaded.geometry is not None:
        return None
    # With the specialisation, which forgets it when other code of the kernel has come. Options are long to hash, and
    # there are few objects of them; each is kept with what was found for it, so no other one gets its id.
    slot = ("plain adjoint", record.loaded, id(how), unwanted, ordered, cpu_threads())
    bound = specialisation.bound
    if slot not in bound:
        bound[slot] = (how, _bound(record, specialisation, unwanted, ordered))
    return bound[slot][1]


def _bound(
    record: LaunchRecord, specialisation: Specialisation, unwanted: frozenset[str], ordered: bool
) -> PlainAdjoint | None:
    options = adjoint_options(record, unwanted, contiguous=True, ordered=ordered)
    gathers = record.direction == FORWARD and not options.ordered and gathering_of(specialisation, options.constant)
    if gathers or any(ELEMENT in name for name in record.arguments):
        return None
    direction, loaded = then(record.direction, "adjoint"), record.loaded
    code = build.load(specialisation, direction, options, loaded.device)
    forward = tuple(loaded.types)
    whose = {adjoint: name for name, adjoint in adjoints_of(specialisation, direction).items()}
    after = [slot.name for slot in code.layout.slots][len(forward) :]
    if code.geometry is not None or [*forward, *after] != [slot.name for slot in code.layout.slots]:
        return None
    if any(name not in whose for name in after):
        return None
    with unobserved():  # they serve only launches without observers
        adjoints = [
            (n, None if n in loaded.arrays else zeros(1, loaded.types[n], loaded.device))
            for n in map(whose.__getitem__, after)
        ]
    return PlainAdjoint(code, forward, tuple(adjoints), unwanted)
