"""Code of adjoints that are right for some launches only.

An adjoint that is refused for want of what only a launch knows (that it has one thread, that a parameter keeps two rows
apart) is derived again for launches with as many threads along the same axes, and each launch of it is asked about the
rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from workbench.api.builds import build
from workbench.api.kernels.kernel import Specialisation
from workbench.backends.base import Options
from workbench.errors import NotDifferentiable
from workbench.runtime.device.device import Device
from workbench.runtime.launching.executable import Executable

if TYPE_CHECKING:
    from workbench.autodiff.memory.effects import Launch


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
