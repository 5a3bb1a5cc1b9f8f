"""Launching over blocks: a kernel of tiles runs once for each block of `dim`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Never

from workbench.api.builds.arguments import Dim, require_lists, with_defaults
from workbench.api.builds.bind import unknown_option
from workbench.api.kernels.kernel import Kernel
from workbench.api.launches.launch import adjoint_list, finished, launch_options, plan_for, prepare
from workbench.api.launches.launch_object import Launch
from workbench.api.launches.recent import NOTING, note
from workbench.events import SUBSCRIBERS, Launched, listening
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.device.device import Device
from workbench.runtime.launching.execute import run_unseen
from workbench.runtime.launching.record import BLOCK_DIM, LaunchOptions


def launch_tiled(
    kernel: Kernel,
    dim: Dim,
    inputs: Sequence[object] = (),
    outputs: Sequence[object] = (),
    *,
    adjoint: bool = False,
    adj_inputs: Sequence[object] = (),
    adj_outputs: Sequence[object] = (),
    record_cmd: bool = False,
    record_tape: bool = True,
    device: Device | str | None = None,
    stream: object = None,
    block_dim: int = BLOCK_DIM,
    fast_math: bool = False,
    checks: bool | None = None,
    deterministic: bool | None = None,
    **unknown: Never,
) -> Launch | None:
    """Run a kernel once for each block of `dim`; the threads of a block own its tiles together.

    `tid()` gives the block's indices, as many as `dim` has; one more is the thread's place in its block.

    Args:
        kernel: what to run.
        dim: blocks along 1 to 4 dimensions.
        inputs, outputs: arguments, as for `launch`.
        adjoint, adj_inputs, adj_outputs: run the adjoint instead, as for `launch`.
        record_cmd: run nothing; give a `Launch` to be run later.
        record_tape: as for `launch`.
        device: where; the arrays' device if none is given.
        stream: the CUDA stream that it is queued in.
        block_dim: threads of a block, 1 to 1024: a number known while compiling, so another one is other code. On the
            CPU a block is one task whatever it is.
        fast_math, checks, deterministic: as for `launch`.

    Returns:
        A `Launch` with `record_cmd`, else None.

    Raises:
        LaunchError: the arguments do not fit; the message names the parameter, and nothing has run.
        KernelSyntaxError, KernelTypeError: the kernel has errors.
        NotDifferentiable: with `adjoint`, the kernel has no right adjoint.
        KernelFault: with checks, something was out of range; the launch is over, and all that did not fault is done.
    """
    if unknown:
        raise unknown_option(launch_tiled, unknown)
    require_lists(kernel, inputs, outputs)
    values, _, uniforms = with_defaults(kernel, dim, inputs, outputs)
    if NOTING and not (adjoint or record_cmd):
        note(kernel, dim, values, block_dim, tiled=True)
    options = LaunchOptions(launch_options(kernel, checks, fast_math, deterministic).code, block_dim, stream)
    if not (adjoint or record_cmd or uniforms) and _run_again(kernel, dim, values, device, options):
        return None
    adjoints = adjoint_list(inputs, outputs, adj_inputs, adj_outputs)
    record = prepare(kernel, dim, values, adjoints if adjoint else None, device, options, tiled=True)
    return finished(kernel, record, record_cmd, record_tape, uniforms)


def _run_again(
    kernel: Kernel, dim: Dim, values: Sequence[object], device: Device | str | None, options: LaunchOptions
) -> bool:
    """Run a launch by the plan of an earlier one, if there is one that suits it and nobody observes launches.

    Returns:
        Whether it ran.

    Raises:
        LaunchError: a number, the dimensions, the block or the stream do not fit.
        KernelFault: as `launch_tiled`.
    """
    if OBSERVERS.get() or (SUBSCRIBERS and listening(Launched)):
        return False
    plan = plan_for(kernel, dim, values, device, options.block_dim, options.code, tiled=True)
    if plan is None:
        return False
    dims, arguments = plan.arguments(kernel, dim, [*values])
    plan = plan.suiting(kernel, dims, arguments)
    if plan is not None:
        code, block, at = plan.form(kernel, dims, options.block_dim, options.stream)
        run_unseen(code, dims, arguments, block, at)
    return plan is not None
