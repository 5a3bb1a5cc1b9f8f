"""The adjoint launch of a recorded launch: bound each time, or once per code where arrays are dense and lie apart.

What `bind` finds out for such a launch is the same for every launch of the code, so a tape's small launches need no
record, no dictionary of arguments and no look-up of options (`PlainAdjoint`). All else (overlaps, gaps, devices, the
gather form, observers, whoever listens for launches) is bound by `bind_adjoint`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence, Set
from functools import lru_cache, partial
from typing import Any

import msgspec
from msgspec.structs import replace

from workbench.api.builds.bind import adjoints_of, bind
from workbench.api.builds.gathered import Region, boxes_of, gather_adjoint_of, load_for
from workbench.api.builds.overlaps import is_dense, overlap
from workbench.api.kernels.kernel import Specialisation
from workbench.autodiff import FORWARD, then
from workbench.autodiff.directions import READING
from workbench.autodiff.memory.replaced import Described, regions
from workbench.backends.base import Options
from workbench.limits import CLEARED_BYTES
from workbench.runtime.active_observers import unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import zeros
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.execute import cpu_threads, run_packed
from workbench.runtime.launching.record import BLOCK_DIM, LaunchOptions, LaunchRecord
from workbench.structs import ELEMENT
from workbench.types import ArrayType

_ADDRESS = struct.Struct("<Q")


class PlainAdjoint(msgspec.Struct, frozen=True, eq=False):
    """The adjoint's code, with the sources of its parameters, for launches whose arrays are dense and share no memory.

    Attributes:
        executable: the adjoint's code; its first parameters are those of the launch, which it does not change.
        needed: which of the launch's arrays it reads, as positions among its arrays.
        adjoints: for each parameter after those of the launch: the position of the argument whose adjoint it is; a
            scratch array if that gradient is not computed (of a number, or not requested), else None; whether the code
            changes it; whether no other launch may change it at the same time.
        overwritten: it leaves the cotangents of what the launch overwrote to be cleared by the caller.
        replaced: the boxes of gradients that it sets instead of adding to them (`autodiff/memory/replaced.py`).
    """

    executable: Executable
    needed: tuple[int, ...]
    adjoints: tuple[tuple[int, array | None, bool, bool], ...]
    overwritten: bool
    replaced: Described = []

    def regions(self, record: LaunchRecord) -> list[tuple[int, Region]]:
        """Return the positions of the arguments whose gradients a launch sets, each with the region that it sets."""
        count, values = len(record.values), record.values

        def argument(k: int) -> int:
            return k if k < count else self.adjoints[k - count][0]

        every = regions(self.replaced, record.dim, lambda k: values[argument(k)])
        return [(argument(k), region) for k, region in every]

    def call(
        self,
        record: LaunchRecord,
        values: Sequence[Any],
        adjoints: Mapping[Memory, array],
        adjoint_of: Callable[[array], array],
        residuals: Sequence[array] = (),
    ) -> Callable[[], None]:
        """Return a function that runs the adjoint of a launch whose arrays are dense and share no memory.

        Args:
            record: the launch.
            values: its arguments as it found them.
            adjoints: by memory, those that exist.
            adjoint_of: creates the adjoint of an array.
            residuals: the arrays of residuals, of code that reads them.
        """
        packed, mask = record.executable.packer.pack(record.dim, values), 0
        written: list[Memory] = []
        for k, other, changes, locks in self.adjoints:
            if other is None:
                value = record.values[k]
                own = value.memory
                base = adjoints[own] if own in adjoints else adjoint_of(value)
                memory = base.memory
                # It lies in its memory as the array lies in the array's.
                address = memory.address + value.address - own.address
                same_layout = base.address == address and base.strides is value.strides  # which are set with the shape
                packed += base.packed if same_layout else _ADDRESS.pack(address) + value.packed[8:]
            else:
                memory = other.memory
                packed += other.packed
            if changes:
                written.append(memory)
            if locks:
                mask |= memory.lock_bit
        for residual in residuals:
            packed += residual.packed
        return partial(run_packed, self.executable, record.dim, packed, mask, written, (values, residuals))


def lie_apart(arrays: Sequence[array]) -> bool:
    """Return whether the arrays are dense and share no memory."""
    named = {str(k): a for k, a in enumerate(arrays)}
    return is_dense(named) and not overlap(named)


def is_large(changed: Sequence[array]) -> bool:
    """Return whether one of these arrays lies in a memory of more than `CLEARED_BYTES`.

    Of a launch that changes such an array, the tape clears the cotangents, not the adjoint.
    """
    for value in changed:
        if value.memory.nbytes > CLEARED_BYTES:
            return True
    return False


def bound_before(record: LaunchRecord, unwanted: frozenset[str], ordered: bool, large: bool) -> PlainAdjoint | None:
    """Return the binding that an earlier `plain_adjoint` call found for such a launch; None if there is none."""
    binding = record.executable.bound.get(
        (id(record.launch_options), unwanted, ordered, cpu_threads(), "adjoint", large)
    )
    return None if binding is None else binding[1]


def plain_adjoint(
    record: LaunchRecord, unwanted: frozenset[str], ordered: bool, large: bool, step: str = "adjoint",
    replaced: bool = False,
) -> PlainAdjoint | None:  # fmt: skip
    """Return a binding of a recorded launch's adjoint, or of a part of it, that serves all launches of this code.

    It is right only if a launch's arrays are dense and share no memory. None if there is none, so that `bind_adjoint`
    has to bind the adjoint for its arguments.

    Args:
        record: the launch, forward or a derivative.
        unwanted: names of its arrays whose gradients are not computed.
        ordered: run the adjoint's threads in order.
        large: leave it to the caller, if possible, to clear the cotangents of what the launch overwrote.
        step: "adjoint", or a part of it.
        replaced: set gradients where that is possible, instead of adding to them.

    Raises:
        NotDifferentiable: there is no right adjoint.
    """
    launch_options, bound = record.launch_options, record.executable.bound
    # Options are long to hash, and there are few objects of them; each is kept with what was found for it, so no other
    # one gets its id.
    slot = (id(launch_options), unwanted, ordered, cpu_threads(), step, large)
    if replaced or ((known := bound.get((*slot, True))) and known[1] is not None and not known[1].replaced):
        slot = (*slot, True)  # or the same code: it sets nothing
    binding = bound.get(slot)
    if binding is None:
        usual = launch_options.block_dim is BLOCK_DIM and launch_options.stream is None
        if record.executable.device.is_cuda or not usual:
            return None
        binding = bound[slot] = (launch_options, _bound(record, unwanted, ordered, large, step, replaced))
    return binding[1]


def _bound(
    record: LaunchRecord, unwanted: frozenset[str], ordered: bool, large: bool, step: str, replaced: bool
) -> PlainAdjoint | None:
    """Return a binding of a launch's adjoint that suits all launches of its code with dense arrays that lie apart.

    The code is built or loaded. None for CUDA C++ and where the arguments decide more than their layout does.

    Raises:
        NotDifferentiable: there is no right adjoint.
    """
    specialisation, executable = record.specialisation, record.executable
    if not isinstance(specialisation, Specialisation) or executable.geometry is not None:
        return None
    options = adjoint_options(record, unwanted, contiguous=True, ordered=ordered)
    options = uncleared(record, options) if large or step != "adjoint" else options
    options = replacing(record, options) if replaced else options
    is_first = step in ("adjoint", READING) and record.direction == FORWARD and not options.ordered
    if (is_first and gather_adjoint_of(specialisation, options.constant)) or any(
        ELEMENT in name for name in executable.names
    ):
        return None
    direction = then(record.direction, step)
    code, options = load_for(specialisation, direction, options, executable.device, False, record.dim)
    count = len(executable.names)
    if options.single is not None or min(code.written, default=count) < count:
        return None
    reads_residuals = step == READING
    named = adjoints_of(specialisation, then(record.direction, "adjoint") if reads_residuals else direction)
    whose = {adjoint: name for name, adjoint in named.items()}
    names = code.names[count : -2 if reads_residuals else None]
    if code.geometry is not None or code.names[:count] != executable.names or not whose.keys() >= set(names):
        return None
    with unobserved():  # they serve only launches without observers
        adjoints = tuple(
            [
                (executable.names.index(n), _other(executable, n, unwanted), k in code.written, k in code.shared)
                for k, n in enumerate(map(whose.__getitem__, names), count)
            ]
        )
    needed = tuple(n for n, k in enumerate(executable.arrays) if executable.names[k] in code.touched)
    unwritten = [k for k, n in enumerate(names, count) if whose[n] not in executable.writes]
    boxes = [(k, box) for k, box in code.metadata.get("replaced", ()) if k in unwritten]
    return PlainAdjoint(code, needed, adjoints, options.uncleared, boxes)


def _other(executable: Executable, name: str, unwanted: frozenset[str]) -> array | None:
    """Return a scratch array for a gradient that is not computed, of a number or an unwanted array; else None."""
    type = executable.types[name]
    if not isinstance(type, ArrayType):
        return zeros(1, type, executable.device)
    return zeros((1,) * type.ndim, type.dtype, executable.device) if name in unwanted else None


def adjoint_options(
    record: LaunchRecord, unwanted: Set[str], contiguous: bool | None = None, ordered: bool = False
) -> Options:
    """Return the options of the adjoint of a recorded launch, which computes no gradients of `unwanted` and of numbers.

    Args:
        record: a launch, forward or a derivative.
        unwanted: names of its arrays whose gradients are not computed.
        contiguous: whether the code reads no strides; None: as the launch's own.
        ordered: run its threads in order even if the launch does not.
    """
    params = record.specialisation.function.params
    constant = tuple(k for k, p in enumerate(params) if p.name in unwanted) if unwanted else None
    own = record.options
    return _without_numbers(own, constant, own.contiguous if contiguous is None else contiguous, ordered or own.ordered)


def uncleared(record: LaunchRecord, options: Options) -> Options:
    """Return the options of an adjoint that leaves clearing what the launch overwrote to the caller, if that can.

    It can on the CPU, where filling memory costs no launch.
    """
    specialisation = record.specialisation
    first = record.direction == FORWARD and isinstance(specialisation, Specialisation)
    clears = first and not record.executable.device.is_cuda and boxes_of(specialisation)
    return replace(options, uncleared=True) if clears else options


def replacing(record: LaunchRecord, options: Options) -> Options:
    """Return the options of an adjoint that sets gradients where it can: that of a kernel, not of a derivative."""
    return replace(options, replaced=True) if record.direction == FORWARD else options


@lru_cache(maxsize=256)
def _without_numbers(options: Options, constant: tuple[int, ...] | None, contiguous: bool, ordered: bool) -> Options:
    """Return options for code without gradients of numbers, nor of the parameters at the positions `constant`.

    With `constant` None the parameters without gradients stay those of the options.
    """
    left_out = options.constant if constant is None else constant
    return replace(options, numbers=False, constant=left_out, contiguous=contiguous, ordered=ordered)


@lru_cache(maxsize=256)
def _with_code(launch_options: LaunchOptions, code: Options) -> LaunchOptions:
    """Return the launch options with other options of code; the same object for equal arguments."""
    return replace(launch_options, code=code)


def bind_adjoint(
    record: LaunchRecord,
    adjoints: Mapping[str, array],
    instead: Mapping[str, Any] | None = None,
    unwanted: Set[str] = frozenset(),
    ordered: bool = False,
    step: str = "adjoint",
) -> LaunchRecord:
    """Return the adjoint launch of a recorded launch, with adjoints by parameter; numbers get none.

    Args:
        record: a launch, forward or a derivative.
        adjoints: adjoint arrays by parameter.
        instead: arguments of the launch to be replaced.
        unwanted: arrays of a forward launch whose gradients are not computed; what `adjoints` has for them stays.
        ordered: run its threads in order.
        step: "adjoint", or a part of it.

    Raises:
        NotDifferentiable: there is no right adjoint.
    """
    direction = then(record.direction, step)
    complete = {
        adjoint: adjoints[name]
        if name in adjoints
        else zeros(1, record.executable.types[name], record.executable.device)
        for name, adjoint in adjoints_of(record.specialisation, direction).items()
    }
    arguments = {**record.arguments, **(instead or {}), **complete}
    options = adjoint_options(record, unwanted, ordered=ordered)
    options = options if step == "adjoint" else uncleared(record, options)
    launch_options = (
        _with_code(record.launch_options, options)
        if record.launch_options.stream is None
        else replace(record.launch_options, code=options)
    )
    return bind(record.specialisation, direction, record.dim, arguments, record.executable.device, launch_options)
