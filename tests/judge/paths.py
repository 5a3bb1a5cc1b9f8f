"""The ways in which users run a kernel: each takes a program and returns what its arrays, or its gradients, are.

Each uses the public API, on a module that is imported from a file as a user's would be. The exceptions are the
interpreter, which users meet only as `wb.step`, and launches in parts, which are too large for the oracle elsewhere.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path as File
from types import ModuleType
from typing import Any

import numpy as np

import workbench as wb
from tests.judge.program import Array, Overlap, Program, is_floating

Values = dict[str, np.ndarray[Any, Any]]
FOLDER = File(tempfile.gettempdir()) / f"judge-programs-{os.getpid()}"
_COUNT = itertools.count()
MARGIN = 24
"""Rows of elements around an array that is part of a larger one."""


class NotApplicable(Exception):
    """The path does not run such programs."""


@dataclass(frozen=True)
class Path:
    """A way to run a program.

    Attributes:
        run: returns the values of outputs after the launch, the gradients of inputs, or the tangents of outputs.
        returns: which of these: "values", "gradient" or "tangent".
        checks: whether a fault is reported as one; a record from a file runs with checks.
        slow: whether a run takes much longer than on the CPU.
    """

    run: Callable[[Program], Values]
    returns: str = "values"
    checks: bool = False
    slow: bool = False


def module(program: Program) -> ModuleType:
    """The program's module, imported anew from a file of its own."""
    FOLDER.mkdir(exist_ok=True)
    name = f"judged_{next(_COUNT)}"
    file = FOLDER / f"{name}.py"
    file.write_text(program.text)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec and spec.loader
    result = importlib.util.module_from_spec(spec)
    sys.modules[name] = result
    try:
        spec.loader.exec_module(result)
    finally:
        del sys.modules[name]
    return result


@dataclass
class Launch:
    """A program's kernel and arguments, ready to be launched."""

    program: Program
    kernel: Any
    arguments: dict[str, Any]

    @classmethod
    def of(cls, program: Program, device: str | None = None, grad: bool = False, stride: int = 1) -> Launch:
        own = module(program)
        arguments: dict[str, Any] = {}
        for name, argument in program.arguments.items():
            if isinstance(argument, Overlap):
                arguments[name] = arguments[argument.of][argument.at : argument.at + argument.length]
                continue
            dtype = eval(argument.dtype, vars(own))
            if not isinstance(argument, Array):
                arguments[name] = _by_value(argument.value, dtype)
                continue
            wanted = grad and is_floating(argument.values)
            arguments[name] = _array(argument.values, dtype, device, wanted, stride)
        return cls(program, getattr(own, program.kernel), arguments)

    @property
    def inputs(self) -> list[Any]:
        return list(self.arguments.values())

    def go(self, **options: Any) -> Any:
        """Launch it."""
        if self.program.block_dim:
            options["block_dim"] = self.program.block_dim
            return wb.launch_tiled(self.kernel, list(self.program.dim), self.inputs, **options)
        return wb.launch(self.kernel, self.program.dim, self.inputs, **options)

    def outputs(self) -> Values:
        """The arrays that the kernel may have changed."""
        wb.synchronize()
        return {name: np.array(self.arguments[name].numpy()) for name in self.program.outputs}


def _by_value(value: Any, dtype: Any) -> Any:
    if isinstance(value, np.ndarray):
        return dtype(*(v.item() for v in value.ravel()))
    return float(value) if isinstance(value, np.generic) and value.dtype.kind == "V" else value


def _array(values: np.ndarray[Any, Any], dtype: Any, device: str | None, grad: bool, stride: int) -> Any:
    axes = wb.zeros(1, dtype=dtype).numpy().ndim - 1
    shape = values.shape[: values.ndim - axes]
    if stride == 1:
        result = wb.zeros(shape, dtype=dtype, requires_grad=grad)
        result.numpy()[...] = values
        if not device or device == "cpu":
            return result
        moved = wb.zeros(shape, dtype=dtype, device=device, requires_grad=grad)
        wb.copy(moved, result)
        return moved
    base = wb.zeros(tuple(n * stride + 1 for n in shape), dtype=dtype)
    base.numpy()[...] = np.resize(values.ravel(), base.numpy().shape) if values.size else base.numpy()
    result = base[tuple(slice(1, 1 + n * stride, stride) for n in shape)]
    result.numpy()[...] = values
    return result


def _overlaps(program: Program) -> bool:
    return any(isinstance(a, Overlap) for a in program.arguments.values())


def _copies(launch: Launch) -> list[Any]:
    """The arguments as NumPy has them before the launch."""
    result: dict[str, Any] = {}
    for name, a in launch.program.arguments.items():
        if isinstance(a, Overlap):
            result[name] = result[a.of][a.at : a.at + a.length]
        else:
            result[name] = np.array(a.values) if isinstance(a, Array) else launch.arguments[name]
    return list(result.values())


def _launched(program: Program, stride: int = 1, device: str | None = None, **options: Any) -> Values:
    launch = Launch.of(program, stride=stride, device=device)
    launch.go(**options)
    return launch.outputs()


def _inside(program: Program) -> Values:
    """Arrays that are parts of larger ones, whose other elements stay as they are."""
    if _overlaps(program) or any(a.values.dtype.names for a in program.arrays.values()):
        raise NotApplicable("arrays that overlap, or structs, whose bytes between fields NumPy does not copy")
    launch = Launch.of(program)
    around: dict[str, Any] = {}
    for name, argument in program.arrays.items():
        own = launch.arguments[name]
        base = wb.zeros((own.shape[0] + 2 * MARGIN, *own.shape[1:]), dtype=own.dtype)
        base.numpy()[...] = np.resize(argument.values.ravel(), base.numpy().shape) if argument.values.size else 0
        base.numpy()[MARGIN : MARGIN + own.shape[0]] = argument.values
        around[name], launch.arguments[name] = base, base[MARGIN : MARGIN + own.shape[0]]
    before = {name: base.numpy().copy() for name, base in around.items()}
    launch.go()
    result = launch.outputs()
    for name, base in around.items():
        for part in (slice(MARGIN), slice(len(before[name]) - MARGIN, None)):
            if base.numpy()[part].tobytes() != before[name][part].tobytes():
                raise AssertionError(f"Elements around {name} changed.")
    return result


def _in_parts(program: Program) -> Values:
    """The launch cut by hand into parts, as those of several cores are."""
    from tests.backends.cpu.conftest import build, execute
    from workbench.backends.base import Options

    total = math.prod(program.dim)
    if (
        program.block_dim
        or total < 2
        or any(a.values.dtype.names or not a.values.size for a in program.arrays.values())
    ):
        raise NotApplicable("tiles, too few threads, or arrays of structs")
    launch = Launch.of(program)
    launch.go()
    function = launch.kernel.used.function
    again = _copies(launch)
    cuts = sorted({1, total // 3, total - total // 4} - {0, total})
    execute(build(function, Options()), function, program.dim, again, cuts=cuts)
    wb.synchronize()
    return {name: again[k] for k, name in enumerate(program.arguments) if name in program.outputs}


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _at_level(cpu: str, program: Program) -> Values:
    with _environment(WORKBENCH_CPU=cpu):
        return _launched(program)


def _with_threads(threads: str, program: Program) -> Values:
    with _environment(WORKBENCH_THREADS=threads):
        return _launched(program)


def _interpreted(program: Program) -> Values:
    from workbench.backends.python import run

    if program.block_dim or any(a.values.dtype.names for a in program.arrays.values()):
        raise NotApplicable("tiles, or arrays of structs")
    launch = Launch.of(program)
    launch.go()
    again = _copies(launch)
    run(launch.kernel.used.function, program.dim, again)
    wb.synchronize()
    return {name: again[k] for k, name in enumerate(program.arguments) if name in program.outputs}


def _graph(program: Program) -> Values:
    launch = Launch.of(program)
    with wb.capture() as graph:
        launch.go()
    graph.launch()
    return launch.outputs()


def _recorded_command(program: Program) -> Values:
    launch = Launch.of(program)
    command = launch.go(record_cmd=True)
    command.launch()
    return launch.outputs()


def _replayed(program: Program) -> Values:
    """Record, put the arrays back, replay."""
    launch = Launch.of(program)
    with wb.record() as record:
        launch.go()
    wb.synchronize()
    for name in program.outputs:
        launch.arguments[name].numpy()[...] = program.arrays[name].values
    record.replay()
    return launch.outputs()


def _loaded(program: Program) -> Values:
    """Record with inputs, save, load, replay."""
    if any(a.values.dtype.names for a in program.arrays.values()):
        raise NotApplicable("arrays of structs")
    launch = Launch.of(program)
    with wb.record(inputs=True) as record:
        launch.go()
    file = FOLDER / f"record_{next(_COUNT)}.wbr"
    try:
        record.save(file)
    except wb.RecordError as problem:
        raise NotApplicable(str(problem)) from None
    loaded = wb.load_record(file)
    loaded.replay()
    wb.synchronize()
    return {name: np.array(loaded.find(name).numpy()) for name in program.outputs}


def _tape(program: Program, device: str | None = None, checks: bool | None = None) -> Values:
    launch = Launch.of(program, grad=True, device=device)
    with wb.Tape() as tape:
        launch.go(**({} if checks is None else {"checks": checks}))
    seeds = {}
    for name, weights in program.cotangents().items():
        array = launch.arguments[name]
        seed = wb.zeros(array.shape, dtype=array.dtype)
        seed.numpy()[...] = weights
        seeds[array] = seed.to(device) if device else seed
    tape.backward(grads=seeds)
    wb.synchronize()
    return {name: np.array(launch.arguments[name].grad.numpy()) for name in program.inputs}


def _tangent(program: Program) -> Values:
    """Forward mode: the derivative of each output in the direction of the program's tangents."""
    if program.block_dim:
        raise NotApplicable("tiles")
    launch = Launch.of(program)
    arrays = {n: a for n, a in program.arrays.items() if is_floating(a.values)}
    tangents = {name: wb.zeros_like(launch.arguments[name]) for name in arrays}
    for name, direction in program.tangents().items():
        tangents[name].numpy()[...] = direction
    along = [tangents.get(name) for name in program.arguments]
    wb.launch_tangent(launch.kernel, program.dim, launch.inputs, tan_inputs=along)
    wb.synchronize()
    return {name: np.array(tangents[name].numpy()) for name in program.outputs if name in tangents}


def _graph_of_tape(program: Program) -> Values:
    """Forward and backward in one graph."""
    launch = Launch.of(program, grad=True)
    seeds = {}
    for name, weights in program.cotangents().items():
        array = launch.arguments[name]
        seeds[array] = wb.zeros_like(array)
        seeds[array].numpy()[...] = weights
    with wb.capture() as graph:
        with wb.Tape() as tape:
            launch.go()
        tape.backward(grads=seeds)
    graph.launch()
    wb.synchronize()
    return {name: np.array(launch.arguments[name].grad.numpy()) for name in program.inputs}


def _with_64_bits(run: Callable[[Program], Values]) -> Callable[[Program], Values]:
    """Run a path while JAX has types of 64 bits, whatever a test before has set."""

    def path(program: Program) -> Values:
        import jax

        with jax.enable_x64(True):
            return run(program)

    return path


def _jax(program: Program, fresh: bool = False) -> tuple[Any, list[Any]]:
    """The kernel as a JAX function of all its arguments, which returns the outputs; and the arguments.

    With `fresh`, outputs begin with zeros and are no arguments.
    """
    import jax.numpy as jnp

    if program.block_dim or _overlaps(program) or any(a.values.dtype.names for a in program.arrays.values()):
        raise NotApplicable("tiles, structs, or arrays that overlap")
    if 0 in program.dim:
        raise NotApplicable("no threads")
    own = module(program)
    names = program.outputs
    options: dict[str, Any] = {"num_outputs": len(names), "in_out_argnames": names}
    if fresh:
        types = {name: eval(program.arrays[name].dtype, vars(own)) for name in names}
        axes = {name: wb.zeros(1, dtype=t).numpy().ndim - 1 for name, t in types.items()}
        shapes = {name: program.arrays[name].values.shape for name in names}
        dims = {name: shape[: len(shape) - axes[name]] for name, shape in shapes.items()}
        options = {"num_outputs": len(names), "output_dims": dims, "init": dict.fromkeys(names, "zeros")}
    f = wb.jax_kernel(getattr(own, program.kernel), launch_dims=program.dim, **options)
    values = [
        jnp.asarray(a.values) if isinstance(a, Array) else _by_value(a.value, None)
        for name, a in program.arguments.items()
        if not (fresh and name in names)
    ]
    return lambda *args: _as_tuple(f(*args)), values


def _as_tuple(results: Any) -> tuple[Any, ...]:
    return tuple(results) if isinstance(results, (list, tuple)) else (results,)


@_with_64_bits
def _jitted(program: Program) -> Values:
    import jax

    f, values = _jax(program)
    return _named(program, jax.jit(f)(*values))


def _named(program: Program, results: Any) -> Values:
    return {name: np.asarray(r) for name, r in zip(program.outputs, results, strict=True)}


@_with_64_bits
def _batched(program: Program) -> Values:
    """The second of two in a batch; the first has the inputs in reverse."""
    import jax
    import jax.numpy as jnp

    f, values = _jax(program)
    names = list(program.arguments)
    arrays = [k for k, name in enumerate(names) if name in program.arrays]

    def one(*batch: Any) -> Any:
        full = list(values)
        for k, value in zip(arrays, batch, strict=True):
            full[k] = value
        return f(*full)

    batch = [
        jnp.stack([values[k][::-1] if jnp.issubdtype(values[k].dtype, jnp.floating) else values[k], values[k]])
        for k in arrays
    ]
    results = jax.jit(jax.vmap(one))(*batch)
    return _named(program, [r[1] for r in results])


def _weighted(program: Program) -> tuple[Any, list[Any], tuple[int, ...]]:
    """The number that is differentiated, as a JAX function; its arguments, and the positions of the inputs."""
    import jax.numpy as jnp

    f, values = _jax(program)
    names = list(program.arguments)
    weights = program.cotangents()

    def total(*args: Any) -> Any:
        results = zip(program.outputs, f(*args), strict=True)
        return sum(jnp.sum(r.astype(jnp.float64) * weights[name]) for name, r in results if name in weights)

    return total, values, tuple(names.index(name) for name in program.inputs)


@_with_64_bits
def _jax_gradient(program: Program) -> Values:
    import jax

    total, values, wanted = _weighted(program)
    found = jax.jit(jax.grad(total, argnums=wanted))(*values)
    return {name: np.asarray(g) for name, g in zip(program.inputs, found, strict=True)}


@_with_64_bits
def _transposed(program: Program) -> Values:
    """The gradient of a kernel that is linear in an input, as its transpose."""
    import jax
    import jax.numpy as jnp

    zeros = all(is_floating(a.values) and not a.values.any() for a in program.arrays.values() if a.output)
    last = list(program.arguments)[-len(program.outputs) :] == program.outputs
    if len(program.inputs) != 1 or not zeros or not last:
        raise NotApplicable("more than one input, or outputs that are not the last arguments, of floats, and 0 before")
    (name,) = program.inputs
    f, values = _jax(program, fresh=True)
    at = [n for n in program.arguments if n not in program.outputs].index(name)
    weights = [jnp.asarray(program.cotangents()[name]) for name in program.outputs]
    try:
        transpose = jax.linear_transpose(lambda x: f(*values[:at], x, *values[at + 1 :]), values[at])
        (found,) = transpose(tuple(weights))
    except wb.NotDifferentiable as problem:
        raise NotApplicable(str(problem)) from None
    return {name: np.asarray(found)}


@_with_64_bits
def _gradient_in_a_batch(program: Program) -> Values:
    """The second gradient of a batch of two; the first is by other inputs."""
    import jax
    import jax.numpy as jnp

    total, values, wanted = _weighted(program)

    def gradient(*inputs: Any) -> Any:
        full = list(values)
        for k, value in zip(wanted, inputs, strict=True):
            full[k] = value
        return jax.grad(total, argnums=wanted)(*full)

    batch = [jnp.stack([values[k] * 0.5, values[k]]) for k in wanted]
    found = jax.jit(jax.vmap(gradient))(*batch)
    return {name: np.asarray(g[1]) for name, g in zip(program.inputs, found, strict=True)}


@_with_64_bits
def _jax_tangent(program: Program) -> Values:
    import jax
    import jax.numpy as jnp

    f, values = _jax(program)
    names, direction = list(program.arguments), program.tangents()
    wanted = [names.index(name) for name in program.inputs]

    def outputs(*inputs: Any) -> Any:
        full = list(values)
        for k, value in zip(wanted, inputs, strict=True):
            full[k] = value
        return f(*full)

    _, found = jax.jvp(outputs, [values[k] for k in wanted], [jnp.asarray(direction[n]) for n in program.inputs])
    return {name: r for name, r in _named(program, found).items() if is_floating(program.arrays[name].values)}


def levels() -> list[str]:
    """The vector levels of x86 that this machine has, below its own."""
    try:
        flags = set(File("/proc/cpuinfo").read_text().split("flags", 1)[1].split("\n", 1)[0].split())
    except (OSError, IndexError):
        return []
    known = {"x86-64-v2": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}
    return [level for level, flag in known.items() if flag in flags]


PATHS: dict[str, Path] = {
    "cpu": Path(_launched),
    "cpu, checks": Path(partial(_launched, checks=True), checks=True),
    "cpu, strided": Path(partial(_launched, stride=2)),
    "cpu, strided, checks": Path(partial(_launched, stride=3, checks=True), checks=True),
    "cpu, one core": Path(partial(_with_threads, "1")),
    **{f"cpu, {level}": Path(partial(_at_level, level)) for level in levels()},
    "cpu, inside": Path(_inside),
    "cpu, in parts": Path(_in_parts),
    "interpreter": Path(_interpreted),
    "graph": Path(_graph),
    "recorded command": Path(_recorded_command),
    "replay": Path(_replayed),
    "saved record": Path(_loaded, checks=True),
    "emulated": Path(partial(_launched, device="emulated"), slow=True),
    "jax, jit": Path(_jitted),
    "jax, vmap": Path(_batched),
    "tape": Path(_tape, returns="gradient"),
    "tape, checks": Path(partial(_tape, checks=True), returns="gradient", checks=True),
    "tangent": Path(_tangent, returns="tangent"),
    "tape in a graph": Path(_graph_of_tape, returns="gradient"),
    "tape, emulated": Path(partial(_tape, device="emulated"), returns="gradient", slow=True),
    "jax, grad": Path(_jax_gradient, returns="gradient"),
    "jax, vmap of grad": Path(_gradient_in_a_batch, returns="gradient"),
    "jax, transposed": Path(_transposed, returns="gradient"),
    "jax, jvp": Path(_jax_tangent, returns="tangent"),
}
"""Every way, by name."""
