"""Adjoints that are right for some launches only: those in gather form, and those that were refused for all launches.

**Gather form** (`autodiff/gather/form.py`) is two launches, under conditions on a launch's sizes and memory. Where it
would not be right, the adjoint is one launch, as ever.

**Refused adjoints.** An adjoint that is refused for want of what only a launch knows (that it has one thread, that a
parameter keeps two rows apart) is derived again for launches with as many threads along the same axes, and each launch
of it is asked about the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from workbench.api.builds import build
from workbench.api.builds.overlaps import overlap
from workbench.api.kernels.kernel import Specialisation
from workbench.autodiff import derived
from workbench.autodiff.memory.boxes import Box, stored_boxes
from workbench.backends.base import Options
from workbench.deep import with_deep_stack
from workbench.errors import NotDifferentiable
from workbench.ir.analysis import Atom, Sizes
from workbench.runtime.arrays.array import array
from workbench.runtime.device.device import Device
from workbench.runtime.launching.executable import Executable

if TYPE_CHECKING:
    from workbench.autodiff import GatherAdjoint
    from workbench.autodiff.memory.effects import Launch


Region = tuple[slice, ...]
"""A box of an array: a slice with both ends along each axis."""


def gather_adjoint_of(
    specialisation: Specialisation, constant: tuple[int, ...] = (), local: bool = False
) -> GatherAdjoint | None:
    """Return the gather form of a kernel's adjoint, without gradients of numbers; None if there is none.

    Args:
        specialisation: a kernel with types.
        constant: positions of the parameters whose gradients are not requested.
        local: threads must add to elements of their own index alone.
    """
    slot = ("gathering", constant, specialisation.kernel.checkpoints, local)
    if slot not in specialisation.bound:
        specialisation.bound[slot] = _derived(specialisation, constant, local)
    return specialisation.bound[slot]


@with_deep_stack
def boxes_of(specialisation: Specialisation) -> dict[str, Box]:
    """Return the boxes of float arrays that a kernel does nothing with but overwrite, by parameter.

    A box is written in terms of the launch's sizes; an array that the kernel uses in another way has none.
    """
    if "boxes" not in specialisation.bound:
        specialisation.bound["boxes"] = stored_boxes(specialisation.function)
    return specialisation.bound["boxes"]


def overwritten(
    specialisation: Specialisation, dims: tuple[int, ...], names: Sequence[str], values: Sequence[Any]
) -> dict[str, Region]:
    """Return the regions of float arrays that one launch does nothing with but overwrite, by parameter.

    Args:
        specialisation: a kernel with types.
        dims: the launch's dimensions.
        names, values: its arguments, by name, in the same order.
    """

    def number(atom: Atom) -> int:
        if atom.kind == "launch_dim":
            return dims[atom.axis]
        value = values[names.index(atom.name)]
        return value.shape[atom.axis] if atom.kind == "shape" else int(value)

    regions: dict[str, Region] = {}
    for name, box in boxes_of(specialisation).items():
        sides = [(first.of(number) or 0, end.of(number) or 0) for first, end in box]
        regions[name] = tuple([slice(first, max(first, end)) for first, end in sides])
    return regions


@with_deep_stack
def _derived(specialisation: Specialisation, constant: tuple[int, ...], local: bool) -> GatherAdjoint | None:
    """Return the gather form of a kernel's adjoint; None if it is no stencil, or has no adjoint or no such form."""
    from workbench.autodiff.gather.form import gather_adjoint, is_stencil

    function = specialisation.function
    if not is_stencil(function):
        return None
    left_out = frozenset(function.params[k].name for k in constant)
    try:
        adjoint = derived(
            function, "adjoint", numbers=False, checkpoints=specialisation.kernel.checkpoints, constant=left_out,
            uncleared=not local,
        )  # fmt: skip
    except NotDifferentiable:
        return None  # which the adjoint itself reports
    return gather_adjoint(adjoint, local)


def gathers(
    specialisation: Specialisation,
    dims: tuple[int, ...],
    arguments: Mapping[str, Any],
    constant: tuple[int, ...],
    local: bool = False,
) -> GatherAdjoint | None:
    """Return the gather form of the adjoint; None if there is none, or it is not right for this launch.

    That is so where its sizes do not suit, or two of its arrays share memory.
    """
    gather_adjoint = gather_adjoint_of(specialisation, constant, local)
    if gather_adjoint is None or not hold(gather_adjoint, dims, arguments):
        return None
    return None if overlap({n: a for n, a in arguments.items() if isinstance(a, array)}) else gather_adjoint


def hold(gather_adjoint: GatherAdjoint, dims: tuple[int, ...], arguments: Mapping[str, Any]) -> bool:
    """Return whether a launch has the sizes that the gather form needs."""
    sizes = Sizes.of_launch(gather_adjoint.sums, dims, arguments)
    dims = _by_rows(gather_adjoint, dims, sizes)
    for need in gather_adjoint.needs if dims else ():
        size, wanted = dims[need.dim] if need.dim >= 0 else need.number, need.size.of(sizes.of)
        if wanted is None or size > wanted or (need.equal and size != wanted):
            return False
    return bool(dims)


def _by_rows(gather_adjoint: GatherAdjoint, dims: tuple[int, ...], sizes: Sizes) -> tuple[int, ...]:
    """Return a launch's dimensions; for a flattened one the number of rows, their width, and the number of threads.

    Empty if the last row is not whole.
    """
    if gather_adjoint.width is None:
        return dims
    width = gather_adjoint.width.of(sizes.of) or 0
    return (dims[0] // width, width, dims[0]) if width >= 1 and not dims[0] % width else ()


def cleared_regions(
    gather_adjoint: GatherAdjoint, dims: tuple[int, ...], arguments: Mapping[str, Any]
) -> dict[str, Region] | None:
    """Return the region of each adjoint array that is to be filled with 0 after the sums, by name.

    Args:
        gather_adjoint: the form, which holds for the launch.
        dims, arguments: of the launch.

    Returns:
        The regions; None if they are no boxes inside the arrays, so that a launch has to clear them.
    """
    dims = _by_rows(gather_adjoint, dims, Sizes.of_launch(gather_adjoint.sums, dims, arguments))
    regions: dict[str, Region] = {}
    for name in sorted(gather_adjoint.clears):
        if name not in gather_adjoint.boxes:
            return None
        region = tuple(slice(first, first + dims[axis]) for axis, first in gather_adjoint.boxes[name])
        if any(part.stop > n for part, n in zip(region, arguments[name].shape, strict=True)):
            return None
        regions[name] = region
    return regions


def around(region: Region, shape: Sequence[int]) -> Iterator[Region]:
    """Yield boxes without overlap that cover an array of this shape outside of a region."""
    for axis, (part, n) in enumerate(zip(region, shape, strict=True)):
        for neighbour in (slice(0, part.start), slice(part.stop, n)):
            if neighbour.start < neighbour.stop:
                yield (*region[:axis], neighbour, *(slice(0, m) for m in shape[axis + 1 :]))


def load_for(
    specialisation: Specialisation,
    direction: str,
    options: Options,
    device: Device,
    atomic: bool,
    dims: tuple[int, ...],
    load: Callable[..., Executable] = build.load,
) -> tuple[Executable, Options]:
    """Return the code of a direction, and the options that it was built with.

    If there is no adjoint for all launches, it is one for launches with as many threads along the same axes as `dims`.
    `load` is `build.load` or `build.ahead`.

    Raises:
        NotDifferentiable: there is neither.
    """
    options = replace(options, single=None) if options.single is not None else options
    slot = "single", direction, options, device.kind, atomic
    if slot not in specialisation.bound:
        try:
            return load(specialisation, direction, options, device, atomic), options
        except NotDifferentiable:
            if "adjoint" not in direction or specialisation.function.block_dim:
                raise
            specialisation.bound[slot] = True
    from workbench.autodiff.memory.effects import Launch

    options = replace(options, single=Launch.like(specialisation.function, dims).single)
    return load(specialisation, direction, options, device, atomic), options


def ask(
    specialisation: Specialisation, direction: str, options: Options, device: Device, atomic: bool,
    dims: tuple[int, ...], arguments: Mapping[str, Any],
) -> None:  # fmt: skip
    """Check that one launch satisfies the assumptions that its adjoint was derived under, if there are any.

    Raises:
        NotDifferentiable: threads may access the same element where the adjoint assumes that they do not.
    """
    from workbench.autodiff.memory.effects import check_disjoint_threads

    slot = "apart", direction, options, device.kind, atomic
    launch: Launch | None = specialisation.bound.get(slot) or build.launch_like(options)
    if launch is not None and slot not in specialisation.bound:
        stack = not device.is_cuda
        build.function_of(
            specialisation, direction, atomic, options.numbers, options.constant, stack, launch, options.uncleared
        )
        specialisation.bound[slot] = launch
    if launch is not None:
        check_disjoint_threads(specialisation.function, launch, dims, arguments)
