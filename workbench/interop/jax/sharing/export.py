"""Programs that call kernels, exported for other processes.

**`jax_export`** is `jax.export`, with the promise that Workbench's targets keep their meaning: a target's name is made
from its content, so a name never means something else in a later process.

**`jax_pack`** makes of a program bytes that need no cache: JAX's own form of it, and its kernels' portable IR. The
container is that of saved records, and the IR is verified by the same code. Machine code is never in it: the process
that unpacks a program compiles its kernels for the machine that it runs on. XLA's program itself is trusted as far as
`jax.export.deserialize` trusts one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.api.builds.build import load
from workbench.api.load_record import SavedSpecialisation
from workbench.errors import CacheError, LaunchError, RecordError, WorkbenchError, must_be
from workbench.interop.jax.launches.cuda import CudaTarget, arch_here, target_for
from workbench.interop.jax.launches.plan import Code, Plan, origin_data
from workbench.interop.jax.launches.primitives import fault_effect
from workbench.interop.jax.native import edits
from workbench.interop.jax.native.descriptor import Description, Kind, Wire
from workbench.interop.jax.native.table import preload_segment, segment_data
from workbench.interop.jax.native.target import (
    NAME,
    Target,
    make_known,
    make_target,
    registered,
    stored_description,
    thunk_named,
)
from workbench.interop.jax.values.library import export_library, library
from workbench.ir.data import read_type
from workbench.ir.json_values import Malformed
from workbench.runtime.device.driver import driver
from workbench.runtime.launching.checks import checks_here
from workbench.runtime.records import archive, saved
from workbench.runtime.records.saved import DIRECTIONS, read_function
from workbench.types import ArrayType, Scalar, Vector, number_type

_ORIGIN = ("kernel", "checkpoints", "direction", "contiguous", "shared", "constant", "checks", "wires")
_TARGET = ("module", "label", "late", "block", *_ORIGIN[2:])


def jax_pack(exported: Any, vjp_order: int = 0) -> bytes:
    """Pack an exported program with all of its kernels into bytes that another machine can load and differentiate.

        data = wb.jax_pack(wb.jax_export(f)(jax.ShapeDtypeStruct((8,), "float32")), vjp_order=1)

    The bytes hold the program as `exported.serialize(vjp_order)` writes it, and the IR of each kernel it calls, with
    the source lines that errors show. They hold no machine code of the kernels.

    Args:
        exported: what `wb.jax_export(f)(…)`, or `wb.jax_unpack`, returned.
        vjp_order: how often the loaded program can be differentiated.

    Returns:
        The bytes, for `wb.jax_unpack`.

    Raises:
        CacheError: the cache does not hold one of the kernels.
        RecordError: a kernel has no form in a file.
    """
    must_be(exported, export_library().Exported, "jax_pack() takes what wb.jax_export(f)(…) returned")
    program = bytes(exported.serialize(vjp_order=vjp_order))
    members: dict[str, bytes] = {"program": program}
    targets: dict[str, Any] = {}
    segments: dict[str, Any] = {}
    for name in _called(export_library().deserialize(bytearray(program))):
        described = stored_description(name)
        inner = [name]
        if "program" in described:
            segments[name] = {k: described[k] for k in ("program", "words", "calls")}
            inner = sorted(set(described["calls"].values()))
        for target in inner:
            if target not in targets:
                targets[target] = _target_data(target, members)
    return archive.pack({"jax": {"targets": targets, "segments": segments}}, members)


def _called(exported: Any) -> list[str]:
    """Return the names of the targets that a program and its gradients call."""
    names: dict[str, None] = {}
    while True:
        names |= dict.fromkeys(NAME.findall(exported.mlir_module()))
        if not exported.has_vjp():
            return list(names)
        exported = exported.vjp()


def _target_data(name: str, members: dict[str, bytes]) -> Any:
    """Return a target as JSON values for a file, and add its kernel's IR to `members`.

    Raises:
        CacheError: the cache does not hold it.
        RecordError: its kernel has no form in a file.
    """
    described = stored_description(name)
    origin, kernel = described.get("origin"), name.split(".")[1]
    if origin is None:
        raise RecordError(
            f"{kernel} has no form in a file, so a program that calls it cannot be packed.",
            advice="Export the program again with wb.jax_export. A kernel of arrays with 2³¹ elements or more along an "
            "axis has none.",
            function=kernel,
        )
    module = json.dumps(origin["kernel"], separators=(",", ":"), sort_keys=True).encode()
    # One member for a kernel and all of its derivatives.
    member = f"kernels/{hashlib.sha256(module).hexdigest()[:16]}.json"
    members[member] = module
    # Only code for some launches says so: files from before there was any are read as they were.
    rest = {n: origin[n] for n in (*_ORIGIN[2:], "single") if n != "single" or origin.get(n) is not None}
    fma = {"fma": True} if origin.get("fma") else {}
    return {
        "module": {"kernel": kernel, "member": member, "checkpoints": origin["checkpoints"], **fma},
        "label": described["label"],
        "late": described["late"],
        "block": described.get("block", 0),
        **rest,
    }


def jax_unpack(data: bytes) -> Any:
    """Restore the program that `jax_pack` packed, ready to be called here.

        exported = wb.jax_unpack(data)
        exported.call(x)                            # in a jitted function and under jax.grad too

    Neither the kernels' source code nor their cache is needed: they are compiled now, or found in the cache if this
    machine has compiled them before. Those for GPUs are compiled for the GPUs that are here, and left out if there are
    none.

    Args:
        data: from `jax_pack`.

    Returns:
        A `jax.export.Exported`.

    Raises:
        RecordError: the bytes are damaged, foreign or of another version, or a kernel in them is not sound.
    """
    must_be(data, (bytes, bytearray, memoryview), "jax_unpack() takes the bytes of jax_pack", RecordError)
    try:
        content, members = archive.unpack(bytes(data))
        _make_known(content, members)
        return export_library().deserialize(bytearray(members["program"]))
    except RecordError as error:
        reason = error.message.rpartition("is not a usable record: ")[2]
        raise RecordError(f"These bytes are not a usable program of jax_pack: {reason}") from None
    except (saved.Wrong, Malformed) as error:
        raise RecordError(f"These bytes are not a usable program of jax_pack: {error}.") from None


def _make_known(content: Any, members: Mapping[str, bytes]) -> None:
    """Check the content of packed bytes, then register its kernels with XLA and the cache.

    Raises:
        Wrong: the content is malformed.
        RecordError: a kernel cannot be built.
    """
    content_data = saved.record(content, "the content", ("jax",))["jax"]
    content_data = saved.record(content_data, "the program", ("targets", "segments"))
    saved.member("program", members)
    targets, segments = content_data["targets"], content_data["segments"]
    if not isinstance(targets, dict) or not isinstance(segments, dict):
        raise saved.Wrong("a list of kernels that is none")
    for name in (*targets, *segments):
        if NAME.fullmatch(name) is None:
            raise saved.Wrong(f"a kernel with the name {name[:80]}")
    known = registered()
    # All are read before one is registered, since XLA forgets no name.
    targets_by_name = {name: _target(name, data, members) for name, data in targets.items() if name not in known}
    read = {name: segment_data(data, frozenset(targets)) for name, data in segments.items() if name not in known}
    for target in targets_by_name.values():
        if target is not None:
            target.register()
    for name, segment in read.items():
        preload_segment(name, segment)


def _target(name: str, data: Any, members: Mapping[str, bytes]) -> Target | CudaTarget | None:
    """Build the target that a file describes, and return it; None for one on GPUs where there is no driver.

    Raises:
        Wrong: the data is malformed.
        CacheError: the store cannot be used.
        RecordError: the kernel cannot be built.
    """
    some = ("single",) if isinstance(data, dict) and "single" in data else ()
    fields = saved.record(data, f"the target {name}", (*_TARGET, *some))
    function, checkpoints, contracted = read_function(
        saved.converted(fields["module"], saved.SavedModule, "a kernel"), members, False
    )
    direction, constant, single = fields["direction"], fields["constant"], fields.get("single")
    flags = [fields[n] for n in ("contiguous", "shared", "checks")]
    late = fields["late"]
    lists = isinstance(constant, list) and isinstance(single, list | None)
    if (
        direction not in DIRECTIONS
        or not all(type(flag) is bool for flag in flags)
        or not lists
        or late not in (0, 1, 2)
    ):
        raise saved.Wrong(f"the target {name} is compiled in no way that there is")
    block = saved.index(fields["block"], 1025, "block")
    if block and driver() is None:
        return None
    chosen = tuple(saved.index(n, len(function.params), "parameter") for n in constant)
    axes = None if single is None else tuple(saved.index(n, 4, "axis") for n in single)
    contiguous, shared, checks = flags
    source = SavedSpecialisation(function, checkpoints, contracted)
    code = Code(source, direction, contiguous, shared, constant=chosen, checks=checks, single=axes)
    try:
        executable = load(source, direction, code.options, "cpu", shared)
        wires = _wires(fields["wires"], {s.name: s.type for s in executable.layout.slots})
        grains = executable.threads_per_task, executable.strip, executable.sums
        label = saved.converted(fields["label"], saved.Name, "a name")
        description = Description(label, wires, executable.layout, *grains, checks, late)
        explained = code.function if checks else None
        target = make_target(
            description, executable.digest, executable.handle, explained, partial(origin_data, code, wires)
        )
        target._text  # noqa: B018  # a description that cannot be written is found before anything is registered
        if block:
            plan = Plan(function.name, executable.launch_ndim, target, code, _no_further, _no_further)
            return replace(target_for(plan, block, arch_here(plan)), name=name, is_exported=True)
    except (CacheError, saved.Wrong):
        raise
    except WorkbenchError as error:
        raise RecordError(f"{function.name} cannot be built: {error.message}") from None
    except Exception as error:  # legal IR that no front end would make, and that the generator does not expect
        raise RecordError(f"{function.name} cannot be built ({type(error).__name__}).") from error
    return replace(target, name=name, is_exported=True)


def _no_further(*wanted: Any) -> Any:
    """Raise AssertionError: the plan of an exported call is never asked for derivatives."""
    raise AssertionError("the derivatives of an exported call are exported with it")


def on_gpus(name: str) -> CudaTarget | None:
    """Return the GPU target that the store has under a name, built for this machine's GPUs; None without a driver.

    Raises:
        CacheError: the store does not hold it.
        RecordError: its kernel cannot be built.
    """
    members: dict[str, bytes] = {}
    target = _target(name, _target_data(name, members), members)
    assert not isinstance(target, Target), "a target for GPUs has blocks"
    return target


def _wires(data: Any, types: Mapping[str, Any]) -> tuple[Wire, ...]:
    """Return the wire of each parameter from a file's data, checked against the parameters' types.

    Raises:
        Wrong: a parameter is missing or of another type, or operands or results have gaps.
    """
    if not isinstance(data, list) or [w[0] if isinstance(w, list) and w else None for w in data] != list(types):
        raise saved.Wrong("a call whose arguments are not the kernel's parameters")
    wires = tuple(_wire(fields, types[fields[0]]) for fields in data)
    for numbers in ([w.operand for w in wires], [w.result for w in wires], [w.value for w in wires]):
        if not {n for n in numbers if n >= 0} == set(range(max(numbers, default=-1) + 1)):
            raise saved.Wrong("a call with a gap among its operands or results")
    if not any(w.result == 0 and w.kind is not Kind.SHAPE for w in wires):
        raise saved.Wrong("a call without a result")
    return wires


def _wire(fields: list[Any], type: Any) -> Wire:
    """Return a wire from its nine fields in a file, checked against the parameter's type.

    Raises:
        Wrong: the fields are malformed, or do not fit the type.
    """
    if len(fields) != 9 or any(isinstance(n, bool) or not isinstance(n, int) for n in (*fields[3:7], fields[8])):
        raise saved.Wrong("an argument of a call is malformed")
    name, kind, data, rank, operand, result, value, fill, view = fields
    read = read_type(data)
    own = type.dtype if isinstance(type, ArrayType) else type
    is_array = isinstance(type, ArrayType)
    if kind not in list(Kind) or not isinstance(read, (Scalar, Vector)) or number_type(read) != number_type(own):
        raise saved.Wrong(f"{name} of a call has another type than its parameter")
    if is_array != (kind != Kind.SCALAR) or (view == 0 and is_array and kind != Kind.ACCUMULATOR and read != own):
        raise saved.Wrong(f"{name} of a call is not what its parameter is")
    if is_array and kind != Kind.ACCUMULATOR and (rank if view == 0 else view) != type.ndim:
        raise saved.Wrong(f"{name} of a call has another number of dimensions than its parameter")
    if view and rank != 1:
        raise saved.Wrong(f"{name} of a call is a view of no flat array")
    if min(operand, result, value) < -1 or max(operand, result, value) < 0:
        raise saved.Wrong(f"{name} of a call comes from nowhere")
    filled = None if fill is None else bytes.fromhex(saved.converted(fill, saved.Name, "a number"))
    if filled is not None and len(filled) != number_type(read).size:
        raise saved.Wrong(f"{name} of a call is filled with a number of another type")
    return Wire(name, Kind(kind), read, rank, operand, result, value, filled, view)


__all__ = ["jax_pack", "jax_unpack"]


def jax_export(function: Callable[..., Any], arch: str = "", **options: Any) -> Callable[..., Any]:
    """Export functions that call kernels, like `jax.export.export(jax.jit(function), **options)`.

        exported = wb.jax_export(f)(jax.ShapeDtypeStruct((8,), "float32"))
        data = exported.serialize(vjp_order=1)      # with its gradient

    Shapes may be symbolic. The process that loads the program calls `wb.jax_preload(exported)` first, and needs the
    same kernel cache; `wb.jax_pack` makes bytes that need neither.

    Args:
        function: jitted or not.
        arch: with `platforms=["cpu", "cuda"]`, the GPUs to compile for ("sm_90"), which need not be in this machine; by
            default those that are.
        **options: of `jax.export.export`.

    Returns:
        What `jax.export.export` returns: called with the arguments' shapes and dtypes, it returns the exported program.

    Raises:
        LaunchError: inside `with wb.checks():`, whose reports of unwritten outputs are callbacks into this process.
        DeviceError: for GPUs, if there is none and no `arch`, or NVRTC does not know it.
    """
    jax = library().jax
    export = export_library()
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    disabled = tuple(options.pop("disabled_checks", ()))

    def make(*args: Any, **named: Any) -> Any:
        if checks_here():
            raise LaunchError(
                "An exported program cannot report unwritten outputs, as `with wb.checks():` requests.",
                advice="Export outside of it. wb.set_checks(True) exports tests of indices, divisions and asserts.",
            )

        def attempt(checks: Sequence[Any]) -> Any:
            return export.export(jitted, disabled_checks=checks, **options)(*args, **named)

        return _allowed(attempt, disabled, arch)

    return make


def _allowed(make: Callable[[Sequence[Any]], Any], disabled: tuple[Any, ...], arch: str) -> Any:
    """Export by `make` without the safety checks `disabled` and those of the targets that it calls."""
    allow = export_library().DisabledSafetyCheck.custom_call
    known = frozenset[str]()
    token = edits.EXPORTING.set(arch)
    try:
        while True:
            try:
                exported = make((*disabled, *map(allow, sorted(known))))
                break
            except ValueError:  # what it calls is known only now that it, or an equal program before, was lowered
                if known == edits.exported:
                    raise
                known = frozenset(edits.exported)
    finally:
        edits.EXPORTING.reset(token)
    called = sorted(known.intersection(NAME.findall(exported.mlir_module()))) if known else ()
    # JAX exports a gradient when it is serialised; it calls adjoints, which are other targets.
    gradient = partial(_gradient, exported._get_vjp, disabled, arch)
    # What keeps unused launches in the program has done so; a file cannot hold our effect.
    effects = tuple(e for e in exported.unordered_effects if e not in fault_effect())
    allowed = (*disabled, *map(allow, called))
    return replace(exported, disabled_safety_checks=allowed, unordered_effects=effects, _get_vjp=gradient)


def is_exported_here(exported: Any) -> bool:
    """Return whether `jax_export` in this process made a program, whose gradient is then exported when requested."""
    make = getattr(exported, "_get_vjp", None)
    return isinstance(make, partial) and make.func is _gradient


def _gradient(make: Callable[[Any], Any], disabled: tuple[Any, ...], arch: str, exported: Any) -> Any:
    """Export the gradient of an exported program, by JAX's `make`, with the same checks disabled."""
    return _allowed(lambda checks: make(replace(exported, disabled_safety_checks=tuple(checks))), disabled, arch)


def jax_preload(programs: Iterable[object] | object) -> tuple[str, ...]:
    """Register with XLA the kernels of programs that this process did not trace, such as exported ones.

        exported = jax.export.deserialize(data)
        wb.jax_preload(exported)
        exported.call(x)

    Args:
        programs: an `Exported` (its gradients are read too), a compiled program, a program's text, a target's name, or
            several of these.

    Returns:
        The names of the targets found.

    Raises:
        CacheError: the cache does not hold one of the kernels.
    """
    names: dict[str, None] = {}
    alone = isinstance(programs, str) or hasattr(programs, "mlir_module") or hasattr(programs, "as_text")
    for program in [programs] if alone else programs:  # type: ignore[union-attr]
        for text in [program] if isinstance(program, str) else _texts(program):
            names |= dict.fromkeys(NAME.findall(text))
    known = registered()
    for name in names:
        if name not in known:
            described = stored_description(name)
            if "program" in described:
                preload_segment(name, described)
            elif described.get("block"):
                target = on_gpus(name)
                if target is not None:
                    target.register()
            else:
                make_known(name, partial(thunk_named, name))
    return tuple(names)


def _texts(program: Any) -> Iterator[str]:
    """Yield the text of a compiled program, or of an exported one and of the gradients that were exported with it."""
    if not hasattr(program, "mlir_module"):
        yield program.as_text()
        return
    yield program.mlir_module()
    # One that this process exported would make gradients of gradients without end; it knows their kernels anyway.
    while program.has_vjp() and not is_exported_here(program):
        program = program.vjp()
        yield program.mlir_module()
