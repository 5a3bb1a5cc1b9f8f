"""The conditions on a launch's sizes and memory under which its adjoint runs in gather form, as two launches.

See `autodiff/gather/form.py` for the form itself. Where it would not be right, the adjoint is one launch, as ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.api.builds.overlaps import overlap
from workbench.api.kernels.kernel import Specialisation
from workbench.autodiff import derived
from workbench.deep import deep
from workbench.errors import NotDifferentiable
from workbench.ir.analysis import Sizes
from workbench.runtime.arrays.array import array

if TYPE_CHECKING:
    from workbench.autodiff import Gathering

Region = tuple[slice, ...]
"""A box of an array: a slice with both ends along each axis."""


def gathering_of(
    specialisation: Specialisation, constant: tuple[int, ...] = (), local: bool = False
) -> Gathering | None:
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


@deep
def _derived(specialisation: Specialisation, constant: tuple[int, ...], local: bool) -> Gathering | None:
    """Return the gather form of a kernel's adjoint; None if it is no stencil, or has no adjoint or no such form."""
    from workbench.autodiff.gather.form import gathering, is_stencil

    function = specialisation.function
    if not is_stencil(function):
        return None
    left_out = frozenset(function.params[k].name for k in constant)
    try:
        adjoint = derived(
            function, "adjoint", numbers=False, checkpoints=specialisation.kernel.checkpoints, constant=left_out
        )
    except NotDifferentiable:
        return None  # which the adjoint itself reports
    return gathering(adjoint, local)


def gathers(
    specialisation: Specialisation,
    dims: tuple[int, ...],
    arguments: Mapping[str, Any],
    constant: tuple[int, ...],
    local: bool = False,
) -> Gathering | None:
    """Return the gather form of the adjoint; None if there is none, or it is not right for this launch.

    That is so where its sizes do not suit, or two of its arrays share memory.
    """
    gathering = gathering_of(specialisation, constant, local)
    if gathering is None or not hold(gathering, dims, arguments):
        return None
    return None if overlap({n: a for n, a in arguments.items() if isinstance(a, array)}) else gathering


def hold(gathering: Gathering, dims: tuple[int, ...], arguments: Mapping[str, Any]) -> bool:
    """Return whether a launch has the sizes that the gather form needs."""
    sizes = Sizes.of_launch(gathering.sums, dims, arguments)
    dims = _by_rows(gathering, dims, sizes)
    for need in gathering.needs if dims else ():
        size, wanted = dims[need.dim] if need.dim >= 0 else need.number, need.size.of(sizes.of)
        if wanted is None or size > wanted or (need.equal and size != wanted):
            return False
    return bool(dims)


def _by_rows(gathering: Gathering, dims: tuple[int, ...], sizes: Sizes) -> tuple[int, ...]:
    """Return a launch's dimensions; for a flattened one the number of rows, their width, and the number of threads.

    Empty if the last row is not whole.
    """
    if gathering.width is None:
        return dims
    width = gathering.width.of(sizes.of) or 0
    return (dims[0] // width, width, dims[0]) if width >= 1 and not dims[0] % width else ()


def cleared_regions(
    gathering: Gathering, dims: tuple[int, ...], arguments: Mapping[str, Any]
) -> dict[str, Region] | None:
    """Return the region of each adjoint array that is to be filled with 0 after the sums, by name.

    Args:
        gathering: the form, which holds for the launch.
        dims, arguments: of the launch.

    Returns:
        The regions; None if they are no boxes inside the arrays, so that a launch has to clear them.
    """
    dims = _by_rows(gathering, dims, Sizes.of_launch(gathering.sums, dims, arguments))
    regions: dict[str, Region] = {}
    for name in sorted(gathering.clears):
        if name not in gathering.boxes:
            return None
        region = tuple(slice(first, first + dims[axis]) for axis, first in gathering.boxes[name])
        if any(part.stop > n for part, n in zip(region, arguments[name].shape, strict=True)):
            return None
        regions[name] = region
    return regions


def around(region: Region, shape: Sequence[int]) -> Iterator[Region]:
    """Yield boxes without overlap that cover an array of this shape outside of a region."""
    for axis, (part, n) in enumerate(zip(region, shape, strict=True)):
        for beside in (slice(0, part.start), slice(part.stop, n)):
            if beside.start < beside.stop:
                yield (*region[:axis], beside, *(slice(0, m) for m in shape[axis + 1 :]))
