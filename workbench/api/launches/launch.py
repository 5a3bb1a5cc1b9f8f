"""Launching: arguments checked before anything runs, then one record, executed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Never, cast

import msgspec
from msgspec.structs import replace

from workbench.api.builds.arguments import (
    Dim,
    as_block_dim,
    as_blocks,
    as_dims,
    as_stream,
    check,
    deduce,
    defaults_after,
    listed,
    with_defaults,
    wrong_count,
)
from workbench.api.builds.bind import BINDER, adjoint_arguments, bind, not_wanted, overlap, refuse_tiles, unknown_option
from workbench.api.builds.overlaps import all_disjoint, is_aligned
from workbench.api.kernels.func import Func
from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.api.launches.launch_object import Launch
from workbench.api.launches.recent import NOTING, note
from workbench.backends.base import Options
from workbench.errors import LaunchError, NotDifferentiable, its_type, must_be
from workbench.events import SUBSCRIBERS, Launched, listening
from workbench.frontend.state.context import Tiling
from workbench.host.narrow import is_numpy_array, is_tuple
from workbench.host.uniform import Uniform
from workbench.host.vectors import HostVector
from workbench.ir.values import written_arrays
from workbench.ranges import INFINITE_FROM
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.shapes import BEYOND_INT32
from workbench.runtime.arrays.structure import (
    StructValue,
    arrays_in,
    components,
    kind_of,
    plain_fields,
    spread_all,
    spread_values,
)
from workbench.runtime.device.device import Device, get_device
from workbench.runtime.launching.checks import checks_wanted
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.execute import execute, in_order, run_unseen
from workbench.runtime.launching.geometry import Block, as_block
from workbench.runtime.launching.record import BLOCK_DIM, BY_OCCUPANCY, PLAIN, LaunchOptions, LaunchRecord
from workbench.structs import AnyType, IndexedArray, Struct, StructArray
from workbench.types import Complex, Scalar, Vector, float32, float64

_OPTIONS = {
    (c, f, d): LaunchOptions(Options(checks=c, fast_math=f, ordered=d))
    for c, f, d in itertools.product((False, True), repeat=3)
}


def launch(
    kernel: Kernel,
    dim: Dim,
    inputs: Sequence[object] = (),
    outputs: Sequence[object] = (),
    *,
    adjoint: bool = False,
    adj_inputs: Sequence[object] = (), adj_outputs: Sequence[object] = (),
    record_cmd: bool = False, record_tape: bool = True,
    device: Device | str | None = None,
    stream: object = None, block_dim: Any = BLOCK_DIM,
    fast_math: bool = False, checks: bool | None = None, deterministic: bool | None = None, **unknown: Never,
) -> Launch | None:  # fmt: skip
    """Run a kernel once for each thread of `dim`.

    Args:
        kernel: what to run.
        dim: threads along 1 to 4 dimensions; as many as the kernel asks `tid()` for. 0 threads do nothing.
        inputs, outputs: arguments for the first parameters, and for the rest, in order.
        adjoint: run the adjoint: it reads and clears adjoints of what is written and adds to those of what is read.
        adj_inputs, adj_outputs: adjoint arrays for `inputs` and `outputs`, None for none; the `.grad` of an array that
            requires one is taken if nothing is given. For a number: an array of one element, or None. False for
            an array that the kernel only reads: its gradient is not wanted, and not computed.
        record_cmd: run nothing; give a `Launch` to be run later, again, and with other arguments.
        record_tape: False: to open tapes what it writes is constant, or the matter of a `Tape.record_func`.
        device, stream: where, and in which CUDA stream; the arrays' device and its default stream if not given.
        block_dim: threads of a CUDA block: 1 to 1024 (CUDA C++: or per axis; tiles: divides dim). None: by occupancy.
        fast_math: allow approximate maths, which a kernel's cell may ask for as well.
        checks: test bounds, asserts, divisions, shifts. None: as the cell or `checks()` says, else off (notebooks: on).
        deterministic: sums of floats have the same bits in every run. None: as the environment says, else off.

    Returns:
        A `Launch` with `record_cmd`, else None.

    Raises:
        LaunchError: the arguments do not fit; the message names the parameter, and nothing has run.
        KernelSyntaxError, KernelTypeError, NotDifferentiable: the kernel has errors, or no right adjoint for `adjoint`.
        KernelFault: with checks, something was out of range; the launch is over, and all that did not fault is done.
    """
    if unknown:
        raise unknown_option(launch, unknown)
    values, outputs, uniforms = with_defaults(kernel, dim, inputs, outputs)
    if NOTING and not (adjoint or record_cmd):
        note(kernel, dim, values, block_dim, tiled=False)
    options = launch_options(kernel, checks, fast_math, deterministic)
    plain = stream is None and block_dim is BLOCK_DIM  # a block_dim that is merely equal to it is checked first
    plan = None if adjoint else plan_for(kernel, dim, values, device, block_dim, options.code)
    if plan is not None:
        dims, arguments = plan.arguments(kernel, dim, values)
        if (plan := plan.suiting(kernel, dims, arguments)) is not None:
            bare = plain and plan.executable.geometry is None
            code, block, at = (plan.executable, BLOCK_DIM, None) if bare else plan.form(kernel, dims, block_dim, stream)
            if not (record_cmd or uniforms or OBSERVERS.get() or (SUBSCRIBERS and listening(Launched))):
                return run_unseen(code, dims, arguments, block, at)
            record = plan.record(kernel, dims, arguments, options, code, block, at)
            return finished(kernel, record, record_cmd, record_tape, uniforms)
    adjoints = adjoint_list(inputs, outputs, adj_inputs, adj_outputs)
    options = options if plain else LaunchOptions(options.code, block_dim, stream)
    record = prepare(kernel, dim, listed(kernel, inputs, outputs), adjoints if adjoint else None, device, options)
    return finished(kernel, record, record_cmd, record_tape, uniforms)


Kernel.launch_with = staticmethod(launch)


def finished(
    kernel: Kernel, record: LaunchRecord, record_cmd: bool, record_tape: bool, uniforms: Mapping[str, Uniform]
) -> Launch | None:
    """Run a launch that is ready and return None; with `record_cmd` return it as a `Launch`, not run.

    Args:
        kernel: the kernel.
        record: the launch.
        record_cmd: do not run it.
        record_tape: whether tapes follow it.
        uniforms: the uniforms among its arguments; whatever can run the launch again hears of their changes.
    """
    record = record if record_tape else replace(record, taped=False)
    if not uniforms:
        return Launch(kernel, record.ready()) if record_cmd else execute(record)
    record = replace(record, uniforms=uniforms)
    command = Launch(kernel, record.ready()) if record_cmd else None
    users = [o for o in OBSERVERS.get() if o.replays] if command is None else [command]
    for uniform in uniforms.values():
        for user in users:
            uniform.taken_by(user)
        if not users:  # nobody can run it again
            uniform.read(uniform)
    return execute(record) if command is None else command


def launch_options(
    kernel: Kernel, checks: bool | None = None, fast_math: bool = False, deterministic: bool | None = None
) -> LaunchOptions:
    """Return the options that the launch and the kernel's cell request; block and stream stay at their defaults.

    Raises:
        LaunchError: `checks` is not True, False or None.
    """
    own = getattr(kernel, "checks", None) if checks is None else checks
    checked = checks_wanted() if own is None else own
    ordered = in_order(deterministic)
    try:
        return _OPTIONS[checked, bool(fast_math or getattr(kernel, "fast_math", False)), ordered]
    except (KeyError, TypeError):
        advice = 'Races are looked for inside of: with wb.checks("races"):' if checked == "races" else ""
        message = f"checks is True, False or None, not {checked!r}."
        raise LaunchError(message, advice=advice, parameter="checks") from None


class _Plan(msgspec.Struct, frozen=True):
    """The way to run a forward launch with arguments of certain kinds; cached per kind.

    Attributes:
        specialisation, executable: the code.
        scalars: positions of the numbers, each with the Python type that needs no check between plus and minus the
            number that follows.
        vectors: positions of the vectors, and their types; a tuple of floats between plus and minus the number that
            follows needs no check.
        structs: positions of the structs, the last one first, each with a function that returns its fields; empty if
            `spreads`.
        spreads: whether an argument is an array of structs, or a struct of more than numbers and arrays of them.
        particular: whether the code also depends on sizes and addresses, so that `suits` has to be called.
        key: the kinds.
        flat: whether the code runs once per block of the launch's threads.
    """

    specialisation: Specialisation
    executable: Executable
    scalars: tuple[tuple[int, type | None, float], ...]
    vectors: tuple[tuple[int, Vector, float], ...]
    structs: tuple[tuple[int, Callable[[Mapping[str, Any]], tuple[Any, ...]]], ...]
    spreads: bool
    particular: bool
    key: tuple[object, ...]
    flat: bool

    def arguments(self, kernel: Kernel, dim: Dim, values: list[Any]) -> tuple[tuple[int, ...], list[Any]]:
        """Return the dimensions and the checked arguments, structs as their fields; `values` is changed in place.

        Raises:
            LaunchError: a number or the dimensions do not fit.
        """
        for k, python_type, limit in self.scalars:
            if type(values[k]) is not python_type or not -limit < values[k] < limit:
                values[k] = check(
                    kernel, kernel.parameters[k], self.specialisation.types[k], values[k], self.executable.device
                )
        for k, wanted, limit in self.vectors:
            value: Any = values[k]
            if _is_vector(value, wanted):
                values[k] = components(value)
            elif not _between(value, wanted.shape, limit):
                values[k] = check(kernel, kernel.parameters[k], wanted, value, self.executable.device)
        for k, fields in self.structs:
            values[k : k + 1] = fields(values[k].__dict__)
        if self.spreads:
            flat = spread_values(values)
            if flat is None:  # which raises, with the field's name
                flat = list(spread_all(dict(zip(kernel.parameters, values, strict=True))).values())
            values = flat
        dims = as_dims(dim, kernel.name)
        return as_blocks(dims, self.specialisation, kernel.name) if self.flat else dims, values

    def suiting(self, kernel: Kernel, dims: tuple[int, ...], values: Sequence[object]) -> _Plan | None:
        """Return the plan whose code is right for these arguments: this one, or that for arguments that share memory.

        None if neither is.
        """
        if not self.particular or self.suits(dims, values):
            return self
        other: _Plan | None = kernel.plans.get((_SHARING, self.key))
        return other if other is not None and other is not self and other.suits(dims, values) else None

    def suits(self, dims: tuple[int, ...], values: Sequence[object]) -> bool:
        """Return whether the code is right for so many threads, and for the arrays' alignment and overlaps."""
        code = self.executable
        if code.index32 and math.prod(dims) >= BEYOND_INT32:
            return False
        if code.aligned and (vectors := code.wide_of(values)) and not is_aligned(vectors):
            return False
        if all_disjoint(code.arrays_of(values)):
            return code.apart
        return overlap({code.names[k]: cast("array", values[k]) for k in code.arrays}) is not code.apart

    def form(
        self, kernel: Kernel, dims: tuple[int, ...], block_dim: Any, stream: object
    ) -> tuple[Executable, int | Block, object]:
        """Return the code, the checked threads of a block, and the checked stream.

        Raises:
            LaunchError: there is no such block, or the stream is another device's.
        """
        executable = self.executable
        stream = as_stream(stream, executable.device, kernel.name)
        if executable.geometry is None:
            return executable, as_block_dim(block_dim, kernel.name), stream
        block = as_block(block_dim, dims, kernel.name)
        return executable.in_blocks(block), block, stream

    def record(
        self, kernel: Kernel, dims: tuple[int, ...], values: list[object], options: LaunchOptions,
        executable: Executable, block: int | Block, stream: object,
    ) -> LaunchRecord:  # fmt: skip
        """Return the launch as a record, for observers."""
        options = options if block is BLOCK_DIM and stream is None else LaunchOptions(options.code, block, stream)
        # A tape keeps it: a tuple has no room to grow.
        return LaunchRecord(executable, dims, tuple(values), self.specialisation, kernel.place, options, BINDER)


_FLAT = "threads in blocks"
"""Before a block's threads, in the key of a plan: the launch counts threads, the code blocks."""
_SHARING = "arguments that share memory"
"""Before the kinds of a plan for these: a device has other code for them."""
_LIMITS: dict[AnyType, float] = {float32: INFINITE_FROM["float32"], float64: math.inf}
"""Types that take Python's floats between plus and minus this as they are."""


def _is_number(type: AnyType) -> bool:
    """Return whether the type is a scalar's: a bool, int or float."""
    return isinstance(type, Scalar)


def _is_vector(value: Any, wanted: object) -> bool:
    """Return whether the value is a vector of exactly this type, so that its components need no check."""
    return type(value) is HostVector and value.type is wanted


def _between(scalars: Any, shape: tuple[int, ...], limit: float) -> bool:
    """Return whether the value is a tuple of this shape, of Python floats between minus and plus the limit."""
    if not is_tuple(scalars) or (len(scalars),) != shape:
        return False
    return all([type(n) is float and -limit < n < limit for n in scalars])


def plan_for(
    kernel: object, dim: Dim, values: Sequence[object], device: Device | str | None, block_dim: object, code: Options,
    tiled: bool = False,
) -> _Plan | None:  # fmt: skip
    """Return the plan of an earlier launch with arguments of the same kinds; None if there is none that still holds."""
    if not isinstance(kernel, Kernel) or kernel.stale or block_dim is None:  # by occupancy: the code decides
        return None
    if tiled and type(block_dim) is not int:
        return None
    key = _kinds(dim, values, code, block_dim if tiled else None)
    plan: _Plan | None = kernel.plans.get(key) or kernel.plans.get((_SHARING, key))
    if plan is None and not tiled and type(block_dim) is int:
        key = _kinds(dim, values, code, (_FLAT, block_dim))
        plan = kernel.plans.get(key) or kernel.plans.get((_SHARING, key))
    if plan is None or not plan.specialisation.is_current():
        return None
    if device is not None and device not in (plan.executable.device.name, plan.executable.device):
        return None
    if plan.specialisation.adds_alone and overlap(_arrays(values)):
        return None
    kernel.used = plan.specialisation
    return plan


def _kinds(dim: Dim, values: Sequence[object], code: Options, blocks: object) -> tuple[object, ...]:
    """Return the key of a launch's plan: the number of dimensions, options of code, and each argument's kind.

    `blocks` is how many threads a block has, where the code counts blocks; else None.
    """
    kinds = [v.tag if isinstance(v, array) else float if type(v) is float else kind_of(v) for v in values]
    ndim = len(dim) if isinstance(dim, (tuple, list)) else 1
    return ndim, blocks, code.checks, code.fast_math, code.ordered, *kinds


def _keep_plan(
    kernel: Kernel, dim: Dim, values: Sequence[object], options: LaunchOptions, record: LaunchRecord, tiled: bool
) -> None:
    """Store a plan for later launches with arguments of these kinds, unless the code depends on more than the kinds."""
    arrays = _arrays(values)
    specialisation = record.specialisation
    typed = zip(values, specialisation.types, strict=True)
    tiling = specialisation.tiling
    if (
        not arrays
        or record.executable.build_later is not None
        or (tiling is not None and tiling.threads)
        or record.threads >= BEYOND_INT32  # smaller launches of this kind have 32-bit indices,
        or not is_aligned(arrays.values())  # and aligned vectors are loaded whole
        or any(v is None or is_numpy_array(v) for v, t in typed if not _is_vector(v, t))
        or (specialisation.adds_alone and overlap(arrays))
    ):
        return
    types: Sequence[AnyType] = specialisation.types
    kinds = list(enumerate(types))
    scalars = tuple((k, float if t in _LIMITS else None, _LIMITS.get(t, math.inf)) for k, t in kinds if _is_number(t))
    scalars += tuple((k, None, math.inf) for k, t in kinds if isinstance(t, Complex))
    vectors = tuple((k, t, _LIMITS.get(t.dtype, 0.0)) for k, t in kinds if isinstance(t, Vector) and t.shape)
    executable = record.executable
    spread = [k for k, t in kinds if isinstance(t, (IndexedArray, Struct, StructArray))]
    fields = [(k, plain_fields(type(v))) for k in reversed(spread) if isinstance(v := values[k], StructValue)]
    structs = tuple([(k, field.values) for k, field in fields if field is not None])
    spreads = len(structs) < len(spread)
    flat, on_device = tiling is not None and tiling.flat, executable.on_device
    blocks = options.block_dim if tiled else (_FLAT, options.block_dim) if flat else None
    key = _kinds(dim, values, options.code, blocks)
    kernel.plans[key if executable.apart or not on_device else (_SHARING, key)] = _Plan(
        specialisation, executable, scalars, vectors, () if spreads else structs, spreads, on_device, key, flat
    )


def _taken_as_given(values: Sequence[object], record: LaunchRecord) -> bool:
    """Return whether a kernel that binds its arguments itself used all of them unchanged, and they are of plain kinds.

    Those are arrays, numbers and vectors.
    """
    arrays = [(v, taken) for v, taken in zip(values, record.values, strict=True) if isinstance(v, array)]
    known = all(isinstance(v, array) or type(v) in (int, float, bool, HostVector) for v in values)
    return known and all(v is taken for v, taken in arrays)


def _arrays(values: Sequence[object]) -> dict[str, array]:
    """Return the arrays among arguments and in structs, under names of no meaning."""
    return {f"{k}.{n}": a for k, v in enumerate(values) for n, a in enumerate(arrays_in(v))}


def adjoint_list(
    inputs: Sequence[object], outputs: Sequence[object], adj_inputs: Sequence[object], adj_outputs: Sequence[object]
) -> list[object]:
    """Return the adjoint arguments in the order of the parameters, with None for those that are left out.

    Raises:
        LaunchError: there are more of them than arguments.
    """
    room = len(inputs) if adj_outputs else len(inputs) + len(outputs)
    for name, adjoints, most in (("inputs", adj_inputs, room), ("outputs", adj_outputs, len(outputs))):
        must_be(adjoints, (list, Sequence), f"adj_{name} is a list of arrays")
        if len(adjoints) > most:
            raise LaunchError(
                f"adj_{name} has {len(adjoints)} elements; there are {most} {name if adj_outputs else 'arguments'}.",
                parameter=f"adj_{name}",
                advice="Give one for each argument, in the same order; None leaves one out.",
            )
    padding = [None] * (len(inputs) - len(adj_inputs)) if adj_outputs else []
    return [*adj_inputs, *padding, *adj_outputs]


def prepare(
    kernel: Kernel, dim: Dim, values: Sequence[object], adjoints: Sequence[object] | None = None,
    device: Device | str | None = None, options: LaunchOptions = PLAIN, tiled: bool = False,
) -> LaunchRecord:  # fmt: skip
    """Return a checked launch as a record, not yet run.

    Args:
        kernel: what to launch.
        dim: the dimensions, which count threads, or blocks with `tiled`.
        values: one argument per parameter; those with defaults may be missing at the end.
        adjoints: one per parameter, for a launch of the adjoint; None for a forward launch.
        device: where; None is the arrays' device.
        options: of the launch.
        tiled: whether `launch_tiled` launches it.

    Raises:
        LaunchError: `kernel` is no kernel or out of date, or an argument does not fit.
        KernelSyntaxError, KernelTypeError, NotDifferentiable: the kernel has errors, or no right adjoint.
    """
    must_be_kernel(kernel)
    kernel.refuse_stale()
    dims = as_dims(dim, kernel.name)
    own = kernel.prepare(dims, values, adjoints, device, options, tiled)
    if own is not None:
        if adjoints is None and _taken_as_given(values, own):
            _keep_plan(kernel, dim, values, options, own, tiled)
        return own
    values = [*values, *defaults_after(kernel, len(values))]
    if len(values) != len(kernel.parameters):
        raise wrong_count(kernel, values)
    target = get_device(device) if device is not None else _device_of(values)
    block_dim = as_block_dim(options.block_dim, kernel.name)
    options = LaunchOptions(options.code, block_dim, as_stream(options.stream, target, kernel.name))
    threads = dims if len(dims) > 1 else ()
    size = block_dim or BLOCK_DIM
    tiling = Tiling(size, len(dims)) if tiled else Tiling(size, 1, flat=True, threads=threads)
    specialisation = kernel.specialise(deduce(kernel, values), tiling)
    if block_dim == BY_OCCUPANCY:
        refuse_tiles(specialisation)
    dims = dims if tiled else as_blocks(dims, specialisation, kernel.name)
    arguments = {
        name: check(kernel, name, type, value, target)
        for name, type, value in zip(kernel.parameters, specialisation.types, values, strict=True)
    }
    arguments = spread_all(arguments)
    if adjoints is None:
        record = bind(specialisation, "forward", dims, arguments, target, options)
        _keep_plan(kernel, dim, values, options, record, tiled)
        return record
    constant = not_wanted(specialisation, adjoints)
    pairs = adjoint_arguments(specialisation, arguments, adjoints, target, constant)
    options = replace(options, code=replace(options.code, constant=constant)) if constant else options
    record = bind(specialisation, "adjoint", dims, {**arguments, **pairs}, target, options)
    _refuse_overwritten(record)
    return record


def must_be_kernel(kernel: object, call: str = "launch()") -> None:
    """Check that `kernel` is a kernel.

    Raises:
        LaunchError: it is not, so `call` cannot take it; with what to write.
    """
    if not isinstance(kernel, Kernel):
        if isinstance(kernel, Func):
            raise LaunchError(
                f"{call} takes a kernel; {kernel.name} is a function, which kernels call.",
                advice="To make it a kernel, assign results to elements of an array: a kernel returns nothing.",
            )
        above = isinstance(getattr(kernel, "__wrapped__", None), Kernel)
        raise LaunchError(
            f"{call} takes a kernel; this is {its_type(kernel)}.",
            advice="Put @wb.kernel above the other decorators." if above else "Decorate it: @wb.kernel.",
        )


def _refuse_overwritten(record: LaunchRecord) -> None:
    """Check that a kernel does not change arrays that its adjoint needs.

    An adjoint launched by itself has only their present values.

    Raises:
        NotDifferentiable: it changes one.
    """
    executable = record.executable
    lost = (executable.reads | executable.writes) & written_arrays(record.specialisation.function)
    if lost:
        name = min(lost)
        raise NotDifferentiable(
            f"{record.kernel} changes {name}, and its adjoint needs what {name} held before.",
            advice=f"Write pair = wb.launch_pair({record.kernel}, …), which keeps a copy, or use a wb.Tape().",
            function=record.kernel,
            parameter=name,
        )


def _device_of(values: Sequence[object]) -> Device:
    """Return the device of the first array among the arguments or in their structs, else the current device."""
    return next((a.device for v in values for a in arrays_in(v)), None) or get_device()
