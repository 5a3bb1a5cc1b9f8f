"""`wb.profile`: count what a GPU would do with a launch, without a GPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from workbench.api.builds.arguments import Dim, listed
from workbench.api.builds.gathered import load_for
from workbench.api.kernels.kernel import Kernel
from workbench.api.launches.launch import launch_options, prepare
from workbench.api.profiling.bound import Bound, bound, rates_of
from workbench.api.profiling.report import Line, Profile, findings, line_of
from workbench.api.profiling.run import count, counting_kernel
from workbench.api.profiling.subject import Subject, contracted, subject_of
from workbench.api.profiling.warp import first_warp
from workbench.api.tapes.adjoint_launch import bind_adjoint
from workbench.api.tapes.launch_step import LaunchStep
from workbench.autodiff import GATHERED
from workbench.backends.cuda.architectures import ARCHITECTURES, Architecture
from workbench.backends.ptx.counters import Counted, Counts
from workbench.errors import DeviceError, LaunchError
from workbench.passes.analysis.divergence import FREE, sum_order
from workbench.runtime.active_observers import observed_only_by, observing, unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import clone, ones
from workbench.runtime.device.device import get_device
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import ordered_runner
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.occupancy import best_block, occupancy
from workbench.runtime.launching.record import BLOCK_DIM, LaunchOptions, LaunchRecord

_CENTRAL = {"memory": "global_sectors", "instructions": "instructions", "atomics": "atomics"} | {
    "shared memory": "shared_wavefronts"
}


def profile(
    kernel: Kernel, dim: Dim, inputs: Sequence[object] = (), outputs: Sequence[object] = (), *, adjoint: bool = False,
    arch: str = "sm_90", block_dim: Any = BLOCK_DIM, tiled: bool = False, deterministic: bool | None = None,
) -> Profile:  # fmt: skip
    """Count what a GPU would do with a launch: instructions, memory sectors, bank conflicts, divergence, atomics.

    No GPU is needed: the PTX that NVRTC makes runs on the CPU, on copies of the arrays, which stay as they are. These
    are counts, never times. A large launch runs on a sample of its blocks, and the profile says so.

    Args:
        kernel: what to run.
        dim: threads along 1 to 4 dimensions, as for `wb.launch`.
        inputs, outputs: arguments, as for `wb.launch`; arrays on the CPU or on an emulated device.
        adjoint: count the adjoint; arrays without `.grad` get adjoints of ones.
        arch: the architecture that is compiled for.
        block_dim: threads of a block, 1 to 1024; of CUDA C++ also a size per dimension. None: as many as suit `arch`.
        tiled: `dim` counts blocks, as for `wb.launch_tiled`.
        deterministic: as for `wb.launch`: say what the order of sums costs on a device.

    Returns:
        The counts of the launch (`p.total`) and of each line of the cell (`p.lines[n]`); `print(p)` shows them.

    Raises:
        LaunchError: the arguments do not fit, or it did what a GPU does not survive.
        DeviceError: NVRTC is not installed, or does not know `arch`.
        BuildError: the PTX has an instruction that cannot be executed.
        NotDifferentiable: with `adjoint`, the kernel has no right adjoint.

    Example:
        >>> p = wb.profile(blur, n, [x], [y])
        >>> p.total.global_sectors / p.total.global_sectors_least
        1.0
    """
    architecture = _architecture(arch)
    record = record_of(kernel, dim, inputs, outputs, adjoint, block_dim, tiled, deterministic)
    if block_dim is None:
        resources = subject_of(record, arch).code.resources
        size = best_block(architecture, resources.get("registers", 0), resources.get("shared", 0))
        record = replace(record, launch_options=replace(record.launch_options, block_dim=size))
    return profile_of(record, arch)


def profile_of(record: LaunchRecord, arch: str) -> Profile:
    """Return the profile of a checked launch, which runs on copies of its arrays only.

    Raises:
        LaunchError: it did what a GPU does not survive.
        DeviceError: NVRTC is not installed, or does not know `arch`.
        BuildError: the PTX has an instruction that cannot be executed.
    """
    architecture = _architecture(arch)
    what = subject_of(record, arch)
    geometry, resources = what.geometry, what.code.resources
    kernel = counting_kernel(what.program, what.code.entry)
    counting = count(kernel, what.program, record, geometry, what.offsets)
    total = _sum(counting.instructions)
    threads = math.prod(geometry.block)
    fits = occupancy(architecture, threads, resources.get("registers", 0), what.shared)
    best = best_block(architecture, resources.get("registers", 0), what.shared)
    if record.executable.geometry is not None or record.specialisation.tiling is not None:
        best = threads
    gain = occupancy(architecture, best, resources.get("registers", 0), what.shared).share - fits.share
    share = geometry.blocks / max(counting.blocks, 1)
    touched, hottest = round(counting.touched * share), round(counting.hottest * share)
    limit = bound(total, touched, hottest, rates_of(arch), geometry.blocks, fits.blocks)
    lines, elsewhere = _lines(what, counting.instructions, total, limit)
    return Profile(
        record.kernel, record.direction, record.dim, arch, geometry.grid, geometry.block, total, lines, elsewhere,
        resources.get("registers", 0), resources.get("spill_stores", 0), what.shared, fits, touched, hottest, limit,
        counting.blocks if counting.blocks < geometry.blocks else None, what.code.lines,
        *first_warp(what, kernel, counting), _contraction(record, what, arch, total, limit),
        (best, gain), resources.get("stack", 0), _order(record, arch, total),
    )  # fmt: skip


def _order(record: LaunchRecord, arch: str, total: Counts) -> str:
    """Return a sentence on what `deterministic=True` costs on a device, or that it would fix an order; else empty."""
    if record.executable.geometry is not None:
        return ""
    if not record.options.ordered:
        free = sum_order(record.executable.function).sharing == FREE
        return (
            ""
            if free
            else (
                "Order not fixed: threads add floats to elements that they share, so on a device the bits may differ "
                "from run to run; deterministic=True orders them."
            )
        )
    device, watching = get_device("emulated"), _Adding(arch)
    try:
        with unobserved():
            executable, _ = load_for(record.specialisation, record.direction, record.options, device, False, record.dim)
            if executable.in_order is None:
                return ""
            items = record.arguments.items()
            arguments = {n: clone(a, requires_grad=False).to(device) if isinstance(a, array) else a for n, a in items}
        with observed_only_by(watching):
            ordered_runner().steps(executable, record.dim, arguments, record.block_dim)
    except LaunchError as error:
        return f"On a device this is refused. {error.message}"
    more = sum(watching.launches, Counts())
    work = more.instructions / max(total.instructions, 1), more.global_sectors / max(total.global_sectors, 1)
    return (
        f"deterministic=True: {len(watching.launches)} launches stand for this one, with {work[0]:.1f} × its "
        f"instructions and {work[1]:.1f} × its sectors, and {watching.nbytes:,} bytes more of memory."
    )


def _contraction(record: LaunchRecord, what: Subject, arch: str, total: Counts, limit: Bound | None) -> float:
    """Return the share of the instructions that `fma=True` would save; 0 if instructions do not bound the launch."""
    fused = contracted(record, arch) if limit is None or limit.by == "instructions" else None
    if fused is None:
        return 0.0
    kernel = counting_kernel(fused, what.code.entry)
    saved = (
        total.instructions - _sum(count(kernel, fused, record, what.geometry, what.offsets).instructions).instructions
    )
    return max(saved, 0) / max(total.instructions, 1)


def profiles(call: Callable[[], object], arch: str = "sm_90") -> list[Profile]:
    """Return profiles of the launches that a call makes, each before it runs; of equal launches the first.

    Args:
        call: launches kernels; they run as without profiling.
        arch: the architecture that is compiled for.

    Returns:
        One profile for each code, direction and dimensions, in the order in which they ran.

    Raises:
        LaunchError, DeviceError, BuildError: as `profile`.
        Exception: what the call raises.
    """
    _architecture(arch)
    watching = _Watching(arch)
    with observing(watching):
        call()
    return list(watching.collected.values())


class _Adding(Observer):
    """An observer that counts what each launch executes, and the bytes of new memory.

    Attributes:
        arch: the architecture that is compiled for.
        launches: the counts of each launch, in order.
        nbytes: of all new memory.
    """

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self.launches: list[Counts] = []
        self.nbytes = 0

    def allocating(self, memory: Memory, filled: bool) -> None:
        """Add the size of new memory."""
        self.nbytes += memory.nbytes

    def launching(self, record: LaunchRecord) -> None:
        """Count a launch before it runs."""
        with unobserved():
            what = subject_of(record, self.arch)
            kernel = counting_kernel(what.program, what.code.entry)
            self.launches.append(_sum(count(kernel, what.program, record, what.geometry, what.offsets).instructions))


class _Watching(Observer):
    """An observer that profiles launches, each kind once (code, direction and dimensions)."""

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self.collected: dict[tuple[object, ...], Profile] = {}

    def launching(self, record: LaunchRecord) -> None:
        """Profile the launch that is about to run, unless an equal one was."""
        kind = record.executable.digest, record.direction, record.dim
        if kind not in self.collected:
            with unobserved():
                self.collected[kind] = profile_of(record, self.arch)


def _architecture(arch: str) -> Architecture:
    """Return an architecture by name (`sm_90`); raise a DeviceError if it is unknown."""
    architecture = ARCHITECTURES.get(arch)
    if architecture is None:
        raise DeviceError(f"There is no architecture {arch!r} here.", advice=f"Use one of {', '.join(ARCHITECTURES)}.")
    return architecture


def record_of(
    kernel: Kernel,
    dim: Dim,
    inputs: Sequence[object],
    outputs: Sequence[object],
    adjoint: bool,
    block_dim: Any,
    tiled: bool,
    deterministic: bool | None = False,
) -> LaunchRecord:
    """Check a launch and return its record, not run.

    With `adjoint` it is the adjoint launch that a tape would make; arrays without `.grad` have adjoints of ones in it.

    Raises:
        LaunchError: the arguments do not fit.
        NotDifferentiable: with `adjoint`, the kernel has no right adjoint.
    """
    options = LaunchOptions(launch_options(kernel, False, deterministic=deterministic).code, block_dim)
    record = prepare(kernel, dim, listed(kernel, inputs, outputs), None, None, options, tiled)
    if not adjoint:
        return record
    arrays = record.executable.arrays_of(record.values)
    step = LaunchStep(record, arrays, [a.memory.version for a in arrays], ordered=record.options.ordered)
    adjoints = {name: _adjoint(value) for name, value in step.floats.items()}
    return bind_adjoint(record, adjoints, step=GATHERED if step.gathers(adjoints) else "adjoint")


def _adjoint(value: array) -> array:
    """Return an array's gradient; ones of its shape if it has none."""
    return value.grad if value.grad is not None else ones(value.shape, value.dtype, value.device)


def _sum(counted: Sequence[Counted]) -> Counts:
    """Return the counts of all instructions added up."""
    return sum((one.counts for one in counted), Counts())


def _lines(
    what: Subject, instructions: Sequence[Counted], total: Counts, limit: Bound | None
) -> tuple[dict[int, Line], tuple[Line, ...]]:
    """Return the counts by line of the kernel's own source, and those of lines in other sources."""
    central = _CENTRAL[limit.by if limit else "instructions"]
    lines: list[Line] = []
    for at, counted in what.by_line(instructions):
        counts = _sum(counted)
        line = line_of(
            counts,
            number=at.shown_line,
            text=at.source.line(at.line),
            where="" if at.source.label == what.code.own.source.label else at.source.name,
            findings=findings(counted, counts, total),
            share=getattr(counts, central) / max(getattr(total, central), 1),
        )
        lines.append(line)
    mine = {line.number: line for line in sorted(lines, key=lambda each: each.number) if not line.where}
    return mine, tuple(line for line in lines if line.where)
