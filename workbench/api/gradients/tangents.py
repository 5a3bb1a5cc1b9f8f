"""Launching a kernel's tangent: the kernel, and with it the derivative along given tangents.

`jvp` and `hvp` are made of such launches; by itself it is what another library's forward mode (JAX's `jvp` rule) calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.api.builds.arguments import Dim, check
from workbench.api.builds.bind import bind
from workbench.api.kernels.kernel import Kernel
from workbench.api.launches.launch import launch_options, prepare
from workbench.autodiff import parameters, tangent_names, then
from workbench.errors import LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import zeros_like
from workbench.runtime.device.device import Device
from workbench.runtime.launching.execute import execute
from workbench.runtime.launching.record import LaunchRecord
from workbench.types import Vector, is_float


def launch_tangent(
    kernel: Kernel,
    dim: Dim,
    inputs: Sequence[object] = (),
    outputs: Sequence[object] = (),
    *,
    tan_inputs: Sequence[object] = (),
    tan_outputs: Sequence[object] = (),
    device: Device | str | None = None,
    fast_math: bool = False,
    checks: bool | None = None,
) -> None:
    """Run a kernel and, with it, the derivative along tangents: forward mode.

    Does all that `wb.launch(kernel, dim, inputs, outputs)` does; besides, the tangent of every array becomes the
    derivative of what the array has become, along the tangents of what the arrays and numbers were.

        wb.launch_tangent(square, 3, inputs=[x], outputs=[y], tan_inputs=[dx], tan_outputs=[dy])   # dy = 2 x dx

    Args:
        kernel, dim, inputs, outputs, device, fast_math, checks: as for `launch`.
        tan_inputs: for each input its tangent: an array like it, a number for a number; None (and what is left out)
            is 0. What belongs to an argument of integers is None.
        tan_outputs: the same for `outputs`; an array that is given holds the result.

    Raises:
        LaunchError: an argument or a tangent does not fit; nothing has run.
        NotDifferentiable: a derivative would flow through what has none.
    """
    options = launch_options(kernel, checks, fast_math)
    record = prepare(kernel, dim, [*inputs, *outputs], device=device, options=options)
    tangents = [*tan_inputs, *[None] * (len(inputs) - len(tan_inputs)), *tan_outputs]
    if len(tan_inputs) > len(inputs) or len(tan_outputs) > len(outputs):
        raise LaunchError(f"{kernel.name}: there are more tangents than arguments.", advice="Give one an argument.")
    names = dict(zip(record.arguments, tangents, strict=False))
    execute(bind_tangent(record, {n: t for n, t in names.items() if t is not None}))


def bind_tangent(record: LaunchRecord, tangents: Mapping[str, object]) -> LaunchRecord:
    """Return the record of a recorded launch's tangent, given tangents by parameter; those left out are 0.

    Raises:
        LaunchError: a tangent does not fit its argument.
        NotDifferentiable: there is no tangent.
    """
    slots = {s.name: s.type for s in record.executable.layout.slots}
    everything = parameters(record.specialisation.function.params, record.direction)
    params = [p for p in everything if is_float(p.type)]
    names = tangent_names(everything)
    kernel, device = record.specialisation.kernel, record.executable.device
    for name in tangents:
        if name not in names:
            raise LaunchError(f"{kernel.name}: {name} is {slots[name]!r} and has no tangent.", parameter=name)
    complete: dict[str, object] = {}
    for p in params:
        name, argument, value = names[p.name], record.arguments[p.name], tangents.get(p.name)
        if value is None:
            value = zeros_like(argument) if isinstance(argument, array) else _zero(p.type)
        value = check(kernel, name, p.type, value, device)
        if isinstance(value, array) and value.shape != argument.shape:
            raise LaunchError(
                f"{kernel.name}: {name} has shape {value.shape}; {p.name} has {argument.shape}.", parameter=name
            )
        complete[name] = value
    direction = then(record.direction, "tangent")
    arguments = {**record.arguments, **complete}
    return bind(record.specialisation, direction, record.dim, arguments, device, record.launch_options)


def _zero(type: object) -> object:
    """Return the zero tangent of a number or vector parameter."""
    return type() if isinstance(type, Vector) else 0.0
