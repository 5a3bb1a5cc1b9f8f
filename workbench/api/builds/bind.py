"""Arguments, options and the code that suits them, as a record.

Which code suits is decided here alone: strides, sizes, alignment, overlaps and checks choose a variant. So whatever
changes an argument later (a kept launch, a replay, a file) comes back through `BINDER` and never runs code made for
others.

Threads of a block, where a launch leaves them open (`block_dim=None`), follow from the code's registers and shared
memory. Options of a launch under names that other libraries have are refused with the name that is meant.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec.structs import replace

from workbench.api.builds import build
from workbench.api.builds.arguments import Dim, as_blocks, as_dims, check, check_array, spread_adjoints
from workbench.api.builds.build import compile_for
from workbench.api.builds.gathered import ask, gathers, load_for
from workbench.api.builds.overlaps import LaunchAssumptions, is_dense, launch_assumptions, overlap
from workbench.api.kernels.kernel import Specialisation
from workbench.autodiff import (
    ADJOINTS,
    FORWARD,
    GATHERED,
    LOCAL,
    adjoint_names,
    adjoint_type,
    derived,
    parameters,
    tangent_names,
)
from workbench.backends.base import Options
from workbench.backends.cuda.architectures import ARCHITECTURES
from workbench.errors import LaunchError
from workbench.ir.values import Function, written_arrays
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import zeros
from workbench.runtime.arrays.substitute import shares
from workbench.runtime.device.device import Device, driver_of
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.execute import cpu_threads
from workbench.runtime.launching.geometry import Block
from workbench.runtime.launching.occupancy import best_block
from workbench.runtime.launching.record import BLOCK_DIM, BY_OCCUPANCY, PLAIN, Binder, LaunchOptions, LaunchRecord
from workbench.structs import Absent
from workbench.types import ArrayType, is_float


def block_size(specialisation: Specialisation, executable: Executable, options: Options) -> int:
    """Return the threads per block with which most warps are active at once, by the code's registers and shared memory.

    It is `BLOCK_DIM` on the CPU, where it means nothing, and on unknown architectures. For an emulated device, which
    runs PTX, the cubin that says how many registers it takes is compiled, or read from the cache.
    """
    if not executable.device.is_cuda:
        return BLOCK_DIM
    arch = driver_of(executable.device).arch(executable.device.index)
    metadata = executable.metadata
    if "registers" not in metadata:
        metadata = compile_for(specialisation, executable.direction, options, arch).metadata
    known = ARCHITECTURES.get(arch)
    return best_block(known, metadata["registers"], metadata.get("shared", 0)) if known else BLOCK_DIM


def refuse_tiles(specialisation: Specialisation) -> None:
    """Refuse to choose a block size for a kernel of tiles, whose code is compiled for one size.

    Raises:
        LaunchError: the kernel has tiles.
    """
    if specialisation.tiling is not None:
        raise LaunchError(
            f"{specialisation.kernel.name}: a kernel of tiles is compiled for its block_dim, so None cannot choose it.",
            parameter="block_dim",
            advice="Give a number of threads, such as 128.",
        )


def bind(
    specialisation: Specialisation,
    direction: str,
    dims: tuple[int, ...],
    arguments: Mapping[str, object],
    device: Device,
    options: LaunchOptions = PLAIN,
) -> LaunchRecord:
    """Return a launch record of checked arguments and the code for them, which is built if necessary.

    The code depends on direction, options and device, and on strides, sizes, alignment and overlaps of the arrays.

    Raises:
        LaunchError: the kernel asks for another number of dimensions; an adjoint has another shape than its array;
            arrays share memory, or are read-only, where the code does not permit it.
        NotDifferentiable: there is no adjoint for these arguments.
    """
    arrays = {n: a for n, a in arguments.items() if isinstance(a, array)}
    plain = options.block_dim is BLOCK_DIM and options.stream is None and is_dense(arrays) and not overlap(arrays)
    # The CPU's code is the same whatever these are.
    variant = launch_assumptions(dims, arrays) if device.is_cuda else LaunchAssumptions()
    single = tuple(n == 1 for n in dims) if "adjoint" in direction else ()
    key = (direction, options.code, device, cpu_threads(), variant, single)
    bound = specialisation.bound.get(key) if plain else None
    for name, adjoint in adjoints_of(specialisation, direction).items():
        if name in arrays and arrays[adjoint].shape != arrays[name].shape:
            raise LaunchError(
                f"{specialisation.kernel.name}: {adjoint} has shape {arrays[adjoint].shape}; {name} has "
                f"{arrays[name].shape}.",
                parameter=adjoint,
            )
    wanted = specialisation.launch_ndim
    if wanted and wanted != len(dims):
        raise wrong_dimensions(specialisation.kernel.name, wanted, len(dims))
    if direction in (GATHERED, LOCAL):
        _refuse_ungathered(specialisation, dims, arguments, options.code.constant, direction == LOCAL)
    if bound is None:
        bound = _code_for(specialisation, direction, dims, arguments, device, options, variant)
        if plain and bound.executable.geometry is None and bound.executable.build_later is None:
            specialisation.bound[key] = bound
    for name, value in arrays.items():
        if value.memory.read_only and name in bound.executable.writes:
            value.memory.must_be_writable(f"{specialisation.kernel.name}: {name}")
    options = bound.launch_options
    if options.code.single is not None:
        ask(specialisation, direction, options.code, device, bound.atomic, dims, arguments)
    if options.block_dim == BY_OCCUPANCY:
        options = replace(options, block_dim=block_size(specialisation, bound.executable, options.code))
    return record_of(bound.executable, specialisation, dims, arguments, options)


class _Bound(msgspec.Struct, frozen=True, eq=False):
    """Code chosen for one binding of arguments, with its options.

    Where arrays are dense and share no memory, the specialisation holds it for later launches.

    Attributes:
        executable: the code.
        launch_options: the launch's options, with what the arrays' layout adds to them.
        atomic: whether the code never adds without atomics, because arguments overlap.
    """

    executable: Executable
    launch_options: LaunchOptions
    atomic: bool


def adjoints_of(specialisation: Specialisation, direction: str) -> Mapping[str, str]:
    """Map each parameter with a gradient to the name of its adjoint; empty if the direction is no adjoint."""
    before, _, step = direction.rpartition(" ")
    if step not in ADJOINTS:
        return _NONE
    names: Mapping[str, str] | None = specialisation.bound.get(direction)
    if names is None:
        params = specialisation.params
        names = specialisation.bound[direction] = adjoint_names(parameters(params, before or FORWARD))
    return names


_NONE: Mapping[str, str] = {}


def wrong_dimensions(kernel: str, wanted: int, passed: int) -> LaunchError:
    """Return the error of a launch over `passed` dimensions of a kernel that takes `wanted` indices from `tid()`."""
    sizes = "one size" if wanted == 1 else f"{wanted} sizes"
    return LaunchError(
        f"{kernel} asks tid() for {wanted} {'index' if wanted == 1 else 'indices'}; dim has {passed} "
        f"dimension{'s' * (passed > 1)}.",
        parameter="dim",
        advice=f"Write {', '.join('ijkl'[:passed])} = tid() in the kernel, or give dim {sizes}.",
    )


def _code_for(
    specialisation: Specialisation, direction: str, dims: tuple[int, ...], arguments: Mapping[str, object],
    device: Device, launch_options: LaunchOptions, variant: LaunchAssumptions,
) -> _Bound:  # fmt: skip
    """Return the loaded code for a launch's arguments, with the final options and whether it must add by atomics.

    Nothing runs; the code is built on a cache miss, or begun in the background where an observer defers the launch.

    Raises:
        LaunchError, NotDifferentiable: arrays share memory in a way in which this direction would not be right.
    """
    arrays = {n: a for n, a in arguments.items() if isinstance(a, array)}
    options = replace(launch_options.code, contiguous=is_dense(arrays), **variant._asdict())
    before, _, step = direction.rpartition(" ")
    named = adjoints_of(specialisation, direction)
    if step in ADJOINTS:
        atomic = overlap({name: arrays[name] for name in named.values()})
        aliased = list(_aliases(specialisation, arrays)) if atomic else []
        if aliased:
            from workbench.autodiff.memory.effects import check_own_elements
            from workbench.autodiff.reverse_mode import adjoint

            # both raise where the order of accesses would matter: in a thread, and between threads
            adjoint(derived(specialisation.function, before or FORWARD), aliased=True)
            several = math.prod(dims) > 1
            for one, two in ((a, b) for a, b in aliased if several and shares(arrays[a], arrays[b])):
                check_own_elements(specialisation.function, one, two, _shifts(arrays[one], arrays[two]))
    elif "adjoint" in direction:
        atomic = overlap(arrays)
    else:
        atomic = specialisation.adds_alone and overlap(arrays)
    observers = OBSERVERS.get()
    build_later = any(o.defers for o in observers) and not any(o.replays for o in observers)
    load = build.ahead if build_later else build.load
    executable, options = load_for(specialisation, direction, options, device, atomic, dims, load)
    if step in ADJOINTS and overlap(arrays):
        function = derived(specialisation.function, before or FORWARD)
        unwanted = {function.params[k].name for k in options.constant if not before}
        _refuse_shared(executable, function, {n: a for n, a in named.items() if n not in unwanted}, arrays)
    if step == "tangent" and overlap(arrays):
        tangents = tangent_names(parameters(specialisation.function.params, before or FORWARD))
        _refuse_shared_tangents(executable, {n: t for n, t in tangents.items() if n in arrays}, arrays)
    if executable.geometry is not None:
        assert isinstance(launch_options.block_dim, Block), "a kernel that sees its blocks needs their size"
        _refuse_text(executable, dims, arrays)
        executable = executable.in_blocks(launch_options.block_dim)
    return _Bound(executable, replace(launch_options, code=options), atomic)


def _refuse_ungathered(
    specialisation: Specialisation,
    dims: tuple[int, ...],
    arguments: Mapping[str, object],
    constant: tuple[int, ...],
    local: bool,
) -> None:
    """Raise a LaunchError if a recorded launch, with these other arguments, can no longer run in gather form."""
    if not gathers(specialisation, dims, arguments, constant, local):
        raise LaunchError(
            f"{specialisation.kernel.name}: this adjoint was recorded in the form that suits launches as large as its "
            "arrays, which share no memory; the new arguments are others.",
            parameter="dim",
            advice="Run backward() again with these arguments, in place of the recorded launch.",
        )


def _refuse_shared(
    executable: Executable, function: Function, named: Mapping[str, str], arrays: Mapping[str, array]
) -> None:
    """Raise a LaunchError if an adjoint overlaps memory in another way than its array does.

    It would be cleared, or added to, before it is read. Adjoints of arrays that the kernel only reads are only added
    to, so they may share memory, which then receives their sum.

    Args:
        executable: the adjoint's code.
        function: the IR that it is the adjoint of.
        named: maps float parameters whose gradients are wanted to the names of their adjoints.
        arrays: the launch's arrays.
    """
    pairs = {n: a for n, a in named.items() if n in arrays}
    # What a text does with adjoints is not known: none may be shared.
    seeds = pairs.keys() if executable.geometry is not None else written_arrays(function)
    for name in sorted(seeds & pairs.keys()):
        if overlap({name: arrays[name]}):
            raise LaunchError(
                f"{executable.name}: elements of {name} share memory (strides {arrays[name].strides}), and it is "
                "written.",
                parameter=name,
                advice="Write to an array whose elements lie apart.",
            )
    for (one, adj_one), (two, adj_two) in itertools.combinations(pairs.items(), 2):
        if {one, two} & seeds and _overlaps(arrays, adj_one, adj_two) and not _same_layout(arrays, one, two, pairs):
            raise _shared(executable, adj_one, adj_two, f"{adj_one if one in seeds else adj_two} is read and cleared")
    read = executable.reads - set(pairs.values())
    for name, adjoint in itertools.product(sorted(read & arrays.keys()), pairs.values()):
        if _overlaps(arrays, name, adjoint):
            raise _shared(executable, name, adjoint, f"{name} is read while {adjoint} changes")


def _refuse_shared_tangents(executable: Executable, pairs: Mapping[str, str], arrays: Mapping[str, array]) -> None:
    """Raise a LaunchError if a tangent that is written overlaps memory in another way than its array does.

    The same holds where a written array overlaps a tangent.
    """
    for (one, tan_one), (two, tan_two) in itertools.combinations(pairs.items(), 2):
        if {tan_one, tan_two} & executable.writes and _overlaps(arrays, tan_one, tan_two):
            if not _same_layout(arrays, one, two, pairs):
                written = tan_one if tan_one in executable.writes else tan_two
                raise _shared(executable, tan_one, tan_two, f"{written} is written")
    for name, tangent in itertools.product(sorted(arrays.keys() - set(pairs.values())), pairs.values()):
        if {name, tangent} & executable.writes and _overlaps(arrays, name, tangent):
            raise _shared(executable, name, tangent, f"{name if name in executable.writes else tangent} is written")


def _overlaps(arrays: Mapping[str, array], one: str, two: str) -> bool:
    """Return whether the memory of one array of a launch overlaps that of another; both are named by parameter."""
    return overlap({one: arrays[one], two: arrays[two]}, within=False)


def _same_layout(arrays: Mapping[str, array], one: str, two: str, adjoints: Mapping[str, str]) -> bool:
    """Return whether two adjoints have the strides of their arrays, and the same distance in memory."""
    first, second = arrays[adjoints[one]], arrays[adjoints[two]]
    same_distance = first.address - second.address == arrays[one].address - arrays[two].address
    return same_distance and [*map(_steps, (first, second))] == [*map(_steps, (arrays[one], arrays[two]))]


def _steps(a: array) -> list[int]:
    """Return the array's strides, without those of axes of one element."""
    return [s for s, n in zip(a.strides, a.shape, strict=True) if n > 1]


def _shared(executable: Executable, one: str, two: str, why: str) -> LaunchError:
    """Return the error for two arrays of a launch that share memory; `why` says what goes wrong, as a clause."""
    return LaunchError(
        f"{executable.name}: {one} and {two} share memory, and {why}.",
        parameter=two,
        advice=f"Give {two} memory of its own: wb.clone(…).",
    )


def _refuse_text(executable: Executable, dims: tuple[int, ...], arrays: Mapping[str, array]) -> None:
    """Refuse what CUDA C++ cannot take.

    Raises:
        LaunchError: the launch has four dimensions, or an array has gaps between its elements.
    """
    if len(dims) > 3:
        raise LaunchError(f"{executable.name}: CUDA C++ is launched over 1 to 3 dimensions, not 4.", parameter="dim")
    gaps = next((n for n, a in arrays.items() if not a.is_contiguous), "")
    if gaps:
        raise LaunchError(
            f"{executable.name}: {gaps} is a view with gaps (strides {arrays[gaps].strides}); a pointer knows none.",
            parameter=gaps,
            advice=f"Pass {gaps}.contiguous(), or a copy.",
        )


def _aliases(specialisation: Specialisation, arrays: Mapping[str, array]) -> Iterator[tuple[str, str]]:
    """Yield pairs of array parameters that share memory and of which the kernel writes at least one."""
    names = [p.name for p in specialisation.function.params if isinstance(p.type, ArrayType)]
    written = written_arrays(specialisation.function)
    for a, b in itertools.combinations(names, 2):
        if {a, b} & written and _overlaps(arrays, a, b):
            yield a, b


def _shifts(one: array, two: array) -> list[tuple[int, ...]] | None:
    """Return by how many elements along each axis `two` may begin after `one`: all combinations that fit the addresses.

    None if their strides differ.
    """
    if one.strides != two.strides:
        return None
    sizes = [max(pair) for pair in zip(one.shape, two.shape, strict=True)]
    return list(_counts(one.strides, sizes, two.address - one.address))


def _counts(steps: Sequence[int], sizes: Sequence[int], distance: int) -> Iterator[tuple[int, ...]]:
    """Yield tuples of the numbers of steps along each axis that add up to `distance` bytes.

    Each number is less in magnitude than its axis' size.
    """
    if not steps:
        yield from [()] if distance == 0 else []
        return
    step = steps[0]
    for count in {distance // step, -(-distance // step)} if step else {0}:
        if abs(count) < sizes[0]:
            yield from ((count, *rest) for rest in _counts(steps[1:], sizes[1:], distance - count * step))


def record_of(
    executable: Executable,
    specialisation: Specialisation,
    dims: tuple[int, ...],
    arguments: Mapping[str, Any],
    options: LaunchOptions = PLAIN,
) -> LaunchRecord:
    """Return the record of a launch of this code over these dimensions, with the arguments in the code's order."""
    values = [arguments[name] for name in executable.names]
    return LaunchRecord(executable, dims, values, specialisation, specialisation.kernel.place, options, BINDER)


def _check_again(record: LaunchRecord, name: str, value: object) -> object:
    """Return a new argument of a recorded launch, checked for the parameter or IR slot `name`, as the launch packs it.

    Raises:
        LaunchError: it does not fit the type that the code was built for, or is on another device.
    """
    specialisation = record.specialisation
    kernel = specialisation.kernel
    absent = dict(zip(specialisation.parameters, specialisation.types, strict=True)).get(name)
    slot = next(s for s in record.executable.layout.slots if s.name == name)
    return check(kernel, name, absent if isinstance(absent, Absent) else slot.type, value, record.executable.device)


def _bind_again(record: LaunchRecord, dims: Dim, arguments: Mapping[str, object]) -> LaunchRecord:
    """Return a record of the same kernel and direction, not run, for other dimensions and arguments.

    Dimensions that are not the record's own count threads, also for a kernel that runs once per block.
    """
    specialisation, tiling = record.specialisation, record.specialisation.tiling
    counted = as_dims(dims, record.kernel)
    # New dimensions count threads; a record's own count blocks.
    if dims is not record.dim and tiling is not None and tiling.flat:
        specialisation = specialisation.over(counted if len(counted) > 1 else ())
        counted = as_blocks(counted, specialisation, record.kernel)
    return bind(specialisation, record.direction, counted, arguments, record.executable.device, record.launch_options)


BINDER = Binder(_check_again, _bind_again)


def adjoint_arguments(
    specialisation: Specialisation,
    arguments: Mapping[str, object],
    passed: Sequence[object],
    device: Device,
    constant: Sequence[int] = (),
) -> dict[str, array]:
    """Return the `adj_…` arguments, by name.

    Each is the array passed, else the argument's `.grad`, else (for numbers) a new sum that is dropped. For parameters
    at the positions `constant` no gradient is computed: their own arrays stand in for the adjoints.

    Raises:
        LaunchError: an array has neither, or a passed one does not fit.
    """
    kernel = specialisation.kernel
    unwanted = {specialisation.function.params[k].name for k in constant}
    listed = dict(zip(specialisation.parameters, passed, strict=False))
    listed = {name: None if name in unwanted else value for name, value in listed.items()}
    spread = spread_adjoints(kernel, specialisation.types, listed, device)
    result: dict[str, array] = {}
    names = adjoint_names(specialisation.function.params)
    absent = {n for n, t in zip(specialisation.parameters, specialisation.types, strict=True) if isinstance(t, Absent)}
    for name, type in ((p.name, p.type) for p in specialisation.function.params):
        if not is_float(type):
            continue
        value = spread.get(name)
        wanted = adjoint_type(type)
        if value is None:
            argument = arguments[name]
            value = _gradient(argument) if isinstance(argument, array) else zeros(1, type, device)
        if name in unwanted or (value is None and name in absent):
            value = arguments[name]
        if value is None:
            raise LaunchError(
                f"{kernel.name}: the adjoint of {name} is missing.",
                parameter=names[name],
                advice=f"Make {name} with requires_grad=True, or give its adjoint array.",
            )
        result[names[name]] = check_array(kernel, names[name], wanted, value, device)
    return result


def _gradient(value: array) -> array | None:
    """Return the array's `.grad`; for a view, that part of its base's gradient; None if there is neither."""
    gradient = value.memory.grad
    return value.grad if value.grad is not None or gradient is None else value.twin(gradient.memory)


def not_wanted(specialisation: Specialisation, adjoints: Sequence[object]) -> tuple[int, ...]:
    """Return the positions, among the function's parameters, of arrays whose adjoint is passed as False: not requested.

    Raises:
        LaunchError: the kernel writes that array, so gradients come from its adjoint; or it is no array.
    """
    function, kernel = specialisation.function, specialisation.kernel
    excluded = {name for name, value in zip(specialisation.parameters, adjoints, strict=False) if value is False}
    arrays = {p.name for p in function.params if isinstance(p.type, ArrayType)}
    for name in sorted(excluded & written_arrays(function) | excluded - arrays):
        what = "is written, so gradients come from its adjoint" if name in arrays else "is not an array"
        raise LaunchError(
            f"{kernel.name}: adj_{name}=False says that its gradient is not requested; {name} {what}.",
            parameter=f"adj_{name}",
            advice="Give its adjoint array, or None.",
        )
    return tuple(k for k, p in enumerate(function.params) if p.name in excluded)


_INSTEAD = {
    "args": "inputs", "arguments": "inputs", "out": "outputs", "shape": "dim", "size": "dim", "threads": "dim",
    "block": "block_dim", "block_size": "block_dim", "num_threads": "block_dim", "max_blocks": "block_dim",
}  # fmt: skip


def unknown_option(launch: Callable[..., object], names: Iterable[str]) -> LaunchError:
    """Return the error for keywords that a kind of launch does not take.

    Args:
        launch: what was called.
        names: the keywords, of which the first is named.
    """
    name, *_ = names
    known = [p.name for p in inspect.signature(launch).parameters.values() if p.kind is not p.VAR_KEYWORD]
    close = [_INSTEAD[name]] if name in _INSTEAD else get_close_matches(name, known, 1)
    advice = f"Write {close[0]}=…" if close else f"It takes {', '.join(known)}."
    return LaunchError(f"{launch.__name__}() has no option {name}.", advice=advice, parameter=name)
