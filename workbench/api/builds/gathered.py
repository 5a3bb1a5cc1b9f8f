"""The conditions on a launch's sizes and memory under which its adjoint runs in gather form, as two launches.

See `autodiff/gather/form.py` for the form itself. Where it would not be right, the adjoint is one launch, as ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    from workbench.autodiff.gather.differences import Need


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
    """Return the gather form of the adjoint; None if it is wrong for these arguments, or there is none."""
    gathering = gathering_of(specialisation, constant, local)
    if gathering is None or not hold(gathering, gathering.needs, dims, arguments):
        return None
    return None if overlap({n: a for n, a in arguments.items() if isinstance(a, array)}) else gathering


def hold(gathering: Gathering, needs: Iterable[Need], dims: tuple[int, ...], arguments: Mapping[str, Any]) -> bool:
    """Return whether a launch is as large as the gather form needs it."""
    sizes = Sizes.of_launch(gathering.sums, dims, arguments)
    if gathering.width is not None:
        width = gathering.width.of(sizes.of) or 0
        if width < 1 or dims[0] % width:
            return False
        dims = (dims[0] // width, width, dims[0])
    for need in needs:
        size, wanted = dims[need.dim] if need.dim >= 0 else need.number, need.size.of(sizes.of)
        if wanted is None or size > wanted or (need.equal and size != wanted):
            return False
    return True
