"""A function of launches as one JAX primitive, `workbench_program`, that runs as one native call.

Its derivatives and batches are programs again. The jvp rule runs the forward program, which also returns what the
derivative needs, and binds `workbench_linear` on the tangents; that one's transpose is the adjoint program. JAX's own
machinery makes each from the function's launches, and so defines the meaning: if a program cannot be one call (sizes
known later, devices other than the CPU, several devices), XLA runs its launches one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from workbench.interop.jax.launches.experimental import experimental_rules
from workbench.interop.jax.launches.primitives import as_one_operation, fault_effect, primitives, tangent_of
from workbench.interop.jax.native import edits
from workbench.interop.jax.native.table import Segment
from workbench.interop.jax.programs.schedule import Flat, Part, Value, flatten, parts
from workbench.interop.jax.values import arguments
from workbench.interop.jax.values.library import library, literal_type, located, needs_devices
from workbench.interop.jax.values.manual import explicit_mesh, is_partitioned, know, shaped, varying
from workbench.types import NUMBERS, is_float


@dataclass(eq=False)
class Program:
    """Represents a function of launches, traced.

    Attributes:
        name: of the function.
        closed: its closed jaxpr.
    """

    name: str
    closed: Any
    _derived: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, name: str, function: Callable[..., Any], operands: Sequence[Any]) -> Program:
        """Trace a function for operands of these shapes and types; return the program."""
        jax = library().jax
        shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in operands]
        return cls(name, jax.make_jaxpr(lambda *args: list(function(*args)))(*shapes))

    def __repr__(self) -> str:
        """Return the name and the number of operations, as a jaxpr shows them."""
        return f"{self.name}: {len(self.closed.jaxpr.eqns)} operations"

    def __call__(self, *operands: Any) -> list[Any]:
        """Run the operations one by one on JAX values; return the results."""
        return library().jax.core.eval_jaxpr(self.closed.jaxpr, self.closed.consts, *operands)

    @property
    def inputs(self) -> list[Any]:
        """The abstract values of the operands."""
        return self.closed.in_avals

    def derived(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the value that `make` computes for `key`, computed at the first request."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    @property
    def is_one_call(self) -> bool:
        """Return whether the program may be one native call: it has no effects but faults, and all sizes are known."""
        avals = (*self.closed.in_avals, *self.closed.out_avals)
        acts = self.closed.effects - fault_effect()
        return not acts and not any(arguments.is_symbolic(n) for a in avals for n in a.shape)

    @property
    def checked(self) -> bool:
        """Return whether one of its launches reports faults."""
        plans = (node.params.get("plan") for node in self.native[0].nodes)
        return any(plan.checked for plan in plans if plan is not None)

    @property
    def native(self) -> tuple[Flat, dict[int, Part]]:
        """The program as a flat list of operations in levels, and the native segments by level."""

        def make() -> tuple[Flat, dict[int, Part]]:
            flat = flatten(self.closed, _inner, primitives().launch)
            return flat, parts(flat, self.name)

        return self.derived("native", make)

    def batched(self, axes: tuple[int | None, ...], size: int) -> Program:
        """Return the program for batches along these axes of the operands (None: no batches), first in results."""
        jax = library().jax
        shapes = [
            aval if axis is None else jax.ShapeDtypeStruct((*aval.shape[:axis], size, *aval.shape[axis:]), aval.dtype)
            for aval, axis in zip(self.inputs, axes, strict=True)
        ]
        function = jax.vmap(self, in_axes=axes, out_axes=0)
        # Kept with the program, so that JAX sees the same object for the same transformation, and its caches hit.
        return self.derived(("batched", axes, size), lambda: Program.of(f"{self.name}_batched", function, shapes))

    def chosen(self, results: tuple[int, ...]) -> Program:
        """Return the program that returns only the results with these numbers."""

        def make() -> Program:
            used = [n in results for n in range(len(self.closed.out_avals))]
            # The other results are not used, so what only they needed goes.
            jaxpr, _ = library().partial_eval.dce_jaxpr(self.closed.jaxpr, used, instantiate=True)
            return Program(self.name, type(self.closed)(jaxpr, self.closed.consts))

        return self.derived(("chosen", results), make)

    def ordered(self, order: tuple[int, ...]) -> Program:
        """Return the program that takes the operands in the order of their numbers in `order`."""

        def function(*operands: Any) -> list[Any]:
            by_number = dict(zip(order, operands, strict=True))
            return self(*(by_number[n] for n in range(len(order))))

        avals = [self.inputs[n] for n in order]
        return self.derived(("ordered", order), lambda: Program.of(self.name, function, avals))

    def linearised(self, wanted: tuple[int, ...]) -> Linearised:
        """Return the forward and the tangent program for tangents of the operands numbered `wanted`; split once."""
        return self.derived(("linear", wanted), lambda: _linearised(self, wanted))

    def transposed(self, split: int) -> Program:
        """Return the transpose of a program that is linear in its operands from `split` on.

        It takes the first `split` operands and the results' cotangents, and returns the cotangents of the other
        operands.
        """
        jax = library().jax
        first, linear = self.inputs[:split], self.inputs[split:]

        def function(*operands: Any) -> Any:
            pull = jax.linear_transpose(lambda *t: self(*operands[:split], *t), *linear)
            return pull(list(operands[split:]))

        avals = (*first, *self.closed.out_avals)
        name = self.name.removesuffix("_tangent")
        return self.derived(("transposed", split), lambda: Program.of(f"{name}_adjoint", function, avals))


@dataclass(frozen=True)
class Linearised:
    """Represents a program split for derivatives.

    Attributes:
        forward: returns the results, then residuals that are neither operands nor results.
        tangent: from residuals and tangents, the tangents of the results that are floats.
        residuals: of each, ("operand" or "result" of `forward`, its number).
    """

    forward: Program
    tangent: Program
    residuals: tuple[tuple[str, int], ...]


def _linearised(program: Program, wanted: tuple[int, ...]) -> Linearised:
    """Split a program for its derivatives by the operands numbered `wanted`."""
    jax = library().jax
    floats = [n for n, a in enumerate(program.closed.out_avals) if is_float_aval(a)]
    moved = [jax.ShapeDtypeStruct(program.inputs[n].shape, program.inputs[n].dtype) for n in wanted]
    saved: list[Any] = []

    def forward(*operands: Any) -> list[Any]:
        def part(*chosen: Any) -> list[Any]:
            full = list(operands)
            for n, value in zip(wanted, chosen, strict=True):
                full[n] = value
            return program(*full)

        results, push = jax.linearize(part, *(operands[n] for n in wanted))
        closed = jax.make_jaxpr(lambda *t: [push(*t)[n] for n in floats])(*moved)
        # Out by a side door: `jax.make_jaxpr` returns only the outer function's jaxpr, and the linear one is made
        # inside it.
        # Without its constants, which are values of this trace: JAX's leak checker looks for those that outlive theirs.
        saved.append(closed.jaxpr)
        return [*results, *closed.consts]

    traced = Program.of(program.name, forward, program.inputs)
    (linear,) = saved
    jaxpr, count = traced.closed.jaxpr, len(program.closed.out_avals)
    outputs, residuals, more = jaxpr.outvars[:count], [], []
    literal = literal_type()
    for number, atom in enumerate(jaxpr.outvars[count:], count):
        if isinstance(atom, literal) or atom not in (*jaxpr.invars, *outputs):
            residuals.append(("result", count + len(more)))
            more.append(number)
        # Residuals that are operands or results already are not handed out a second time.
        elif atom in jaxpr.invars:
            residuals.append(("operand", jaxpr.invars.index(atom)))
        else:
            residuals.append(("result", outputs.index(atom)))
    chosen = [*range(count), *more]
    small = traced.chosen(tuple(chosen))
    types = [v.aval for v in linear.constvars]

    def tangent(*operands: Any) -> list[Any]:
        split = len(types)
        return jax.core.eval_jaxpr(linear, operands[:split], *operands[split:])

    return Linearised(small, Program.of(f"{program.name}_tangent", tangent, [*types, *moved]), tuple(residuals))


def is_float_aval(aval: Any) -> bool:
    """Return whether a value of this abstract type has a gradient."""
    return aval.dtype.name in NUMBERS and is_float(NUMBERS[aval.dtype.name])


def _inner(equation: Any) -> Any:
    """Return the jaxpr that a program or a launch's tangent stands for; None for any other operation."""
    if isinstance(equation.params.get("program"), Program):
        return equation.params["program"].closed
    if equation.primitive is primitives().tangent:
        return tangent_of(tuple(v.aval for v in equation.invars), **equation.params)
    return None


class Programs(NamedTuple):
    """Represents the JAX primitives: a program, a program that is linear in its last operands, and a native segment."""

    program: Any
    linear: Any
    segment: Any


@lru_cache(maxsize=1)
def programs() -> Programs:
    """Return the three primitives, which the first call defines and registers with JAX."""
    jax = library()
    names = ("program", "linear", "segment")
    primitives = Programs(*(jax.Primitive(f"workbench_{name}") for name in names))
    for primitive in primitives:
        primitive.multiple_results = True
    for primitive in (primitives.program, primitives.linear):
        primitive.def_impl(partial(_run_jitted, primitive))
        primitive.def_effectful_abstract_eval(_results)
        jax.mlir.register_lowering(primitive, _lower, platform="cpu")
        # Without a platform: everywhere but on the CPU each launch is XLA's.
        jax.mlir.register_lowering(primitive, jax.mlir.lower_fun(_run_each, True))
        jax.batching.primitive_batchers[primitive] = partial(_batch, primitive)
        know(primitive)
        experimental_rules(primitive, _closed)
        needs_devices(primitive)
    jax.ad.primitive_jvps[primitives.program] = _program_jvp
    jax.ad.primitive_jvps[primitives.linear] = _linear_jvp
    jax.ad.primitive_transposes[primitives.linear] = _transpose
    jax.ad.primitive_transposes[primitives.program] = _transpose_program
    jax.partial_eval.dce_rules[primitives.program] = _drop_results
    primitives.segment.def_effectful_abstract_eval(_segment_results)
    jax.mlir.register_lowering(primitives.segment, _lower_segment, platform="cpu")
    return primitives


def run_program(program: Program, operands: Sequence[Any]) -> list[Any]:
    """Return the results of a program: of one native call if it can be one, else of its operations one by one."""
    tracers = (x for x in operands if isinstance(x, library().jax.core.Tracer))
    if not program.is_one_call or any(varying(x.aval) or explicit_mesh(x.aval) for x in tracers):
        return program(*operands)
    return programs().program.bind(*operands, program=program)


def _run_jitted(primitive: Any, *operands: Any, **params: Any) -> list[Any]:
    """Run a program's primitive outside of `jit`, compiled as one operation, once per program; return its results."""
    key = (primitive, params.get("split"))
    program = params["program"]

    def make() -> Callable[..., Any]:
        return as_one_operation(partial(primitive.bind, **params), program.name, lambda: program.checked)

    return program.derived(key, make)(*operands)


def _results(*avals: Any, program: Program, split: int = 0) -> tuple[list[Any], Any]:
    """Return the JAX types of a program's results, and its effects."""
    return [shaped(a.shape, a.dtype, avals) for a in program.closed.out_avals], program.closed.effects


def _closed(avals: Any, program: Program, split: int = 0) -> Any:
    """Return the closed jaxpr that a program's operation stands for."""
    return program.closed


def _run_each(*operands: Any, program: Program, split: int = 0) -> list[Any]:
    """Return the results of a program whose launches XLA runs one by one."""
    return program(*operands)


def _lower(ctx: Any, *operands: Any, **params: Any) -> Any:
    """Lower a program for the CPU: to native calls, or to its launches where XLA divides the program among devices."""
    # XLA divides launches among devices, each by its own rule.
    run = _run_each if is_partitioned(ctx) else _run_native
    return library().mlir.lower_fun(run, multiple_results=True)(ctx, *operands, **params)


def _run_native(*operands: Any, program: Program, split: int = 0) -> list[Any]:
    """Run the program level by level, XLA's operations, then a native segment, and so on; return its results."""
    flat, segments = program.native
    known: dict[Value, Any] = dict(zip(flat.arguments, operands, strict=True))

    def read(value: Value) -> Any:
        if value not in known:
            fill = value.fill
            filled = value.constant if fill is None else fill.primitive.bind(read(fill.inputs[0]), **fill.params)
            known[value] = np.asarray(filled, value.dtype) if fill is None and np.isscalar(filled) else filled
        return known[value]

    for level in range(flat.levels):
        if level % 2:
            _run_part(segments[level], read, known)
            continue
        for node in flat.nodes:
            if node.level == level and node.outputs[0].fill is None:
                filled = node.primitive.bind(*map(read, node.inputs), **node.params)
                known |= zip(node.outputs, filled if node.primitive.multiple_results else [filled], strict=True)
    return [read(v) for v in flat.results]


def _run_part(part: Part, read: Callable[[Value], Any], known: dict[Value, Any]) -> None:
    """Run a native segment and add the values that leave it to `known`; `read` returns the value of an input."""
    jnp = library().jnp
    operands = [jnp.asarray(read(v)) for v in part.inputs]
    for operand, result in part.segment.aliases:
        # XLA aliases only buffers of equal shapes.
        operands[operand] = operands[operand].reshape(part.segment.results[result][1])
    results = programs().segment.bind(*operands, segment=part.segment)
    known |= {value: results[n].reshape(value.shape) for value, n in part.outputs}
    known |= {value: read(source).reshape(value.shape) for value, source in part.same}


def _segment_results(*avals: Any, segment: Segment) -> tuple[list[Any], Any]:
    """Return the JAX types of a segment's results, and its effects: those of faults if it has checks."""
    results = [library().ShapedArray(shape, np.dtype(NUMBERS[d].numpy)) for d, shape in segment.results]
    return results, fault_effect() if segment.checked else frozenset()


def _lower_segment(ctx: Any, *operands: Any, segment: Segment) -> Any:
    """Register a segment's target, and lower to an FFI call of it."""
    segment = segment.with_targets(partial(edits.called, ctx))
    edits.note_export(ctx, segment.function, segment.name)
    segment.register()
    rule = library().jax.ffi.ffi_lowering(
        segment.name, has_side_effect=segment.checked, operand_output_aliases=dict(segment.aliases)
    )
    with located(segment.name):
        return rule(ctx, *operands)


# ---- derivatives and batches


def _is_zero(tangent: Any) -> bool:
    """Return whether a tangent is JAX's symbolic zero."""
    return type(tangent) is library().ad.Zero


def _program_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, program: Program, split: int = 0
) -> tuple[list[Any], list[Any]]:
    """Run the forward program; return its results and tangents, JAX's zero for results that are not of floats."""
    jax = library()
    wanted = tuple(n for n, t in enumerate(tangents) if not _is_zero(t) and is_float_aval(program.inputs[n]))
    linearised = program.linearised(wanted)
    outputs = programs().program.bind(*primals, program=linearised.forward)
    residuals = [(primals if origin == "operand" else outputs)[n] for origin, n in linearised.residuals]
    instantiated = [jax.ad.instantiate_zeros(tangents[n]) for n in wanted]
    moved = iter(programs().linear.bind(*residuals, *instantiated, program=linearised.tangent, split=len(residuals)))
    results = outputs[: len(program.closed.out_avals)]

    def none(result: Any) -> Any:
        return jax.ad.Zero(jax.ShapedArray(result.shape, jax.jax.dtypes.float0))

    pairs = zip(results, program.closed.out_avals, strict=True)
    return results, [next(moved) if is_float_aval(a) else none(r) for r, a in pairs]


def _linear_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, program: Program, split: int
) -> tuple[list[Any], list[Any]]:
    """Return results and tangents of a program that is linear in the operands from `split` on.

    Where a residual, an operand before, has a tangent, the program is differentiated as a whole.
    """
    if not all(map(_is_zero, tangents[:split])):
        return _program_jvp(primals, tangents, program=program)
    again = partial(programs().linear.bind, *primals[:split], program=program, split=split)
    return again(*primals[split:]), again(*map(library().ad.instantiate_zeros, tangents[split:]))


def _transpose(cotangents: Sequence[Any], *operands: Any, program: Program, split: int) -> list[Any]:
    """Return the cotangents of the linear operands, from `split` on, by the transposed program; None for all others."""
    ad = library().ad
    linear = operands[split:]
    wanted = [ad.is_undefined_primal(x) for x in linear]
    if all(map(_is_zero, cotangents)):
        return [None] * split + [ad.Zero(x.aval) if w else None for x, w in zip(linear, wanted, strict=True)]
    full = map(ad.instantiate_zeros, cotangents)
    cotangents_in = programs().linear.bind(*operands[:split], *full, program=program.transposed(split), split=split)
    return [None] * split + [f if w else None for f, w in zip(cotangents_in, wanted, strict=True)]


def _transpose_program(cotangents: Sequence[Any], *operands: Any, program: Program) -> list[Any]:
    """Transpose a program that is linear in the operands that JAX does not know.

    Each of its launches checks whether it is linear in them.
    """
    linear = [n for n, x in enumerate(operands) if library().ad.is_undefined_primal(x)]
    order = [n for n in range(len(operands)) if n not in linear] + linear
    split = len(operands) - len(linear)
    ordered = program.ordered(tuple(order))
    moved = _transpose(cotangents, *(operands[n] for n in order), program=ordered, split=split)
    by_number = dict(zip(order, moved, strict=True))
    return [by_number[n] for n in range(len(operands))]


def _batch(
    primitive: Any, operands: Sequence[Any], axes: Sequence[Any], *, program: Program, **params: Any
) -> tuple[list[Any], list[int]]:
    """Bind a primitive with the program batched along `axes` (None: no axis); the batch axis of all results is 0."""
    size = next(x.shape[axis] for x, axis in zip(operands, axes, strict=True) if axis is not None)
    batched = program.batched(tuple(axes), size)
    return primitive.bind(*operands, program=batched, **params), [0] * len(batched.closed.out_avals)


def _drop_results(used: list[bool], *rest: Any) -> tuple[list[bool], Any]:
    """Return JAX's rule for unused results: which operands are still needed, and the equation without unused results.

    `rest` ends with the equation; JAX 0.12 passes more before it. The equation is None if nothing is left of it.
    """
    equation = rest[-1]
    program = equation.params["program"]
    effects = bool(program.closed.effects)
    if not any(used) and not effects:
        return [False] * len(equation.invars), None
    if all(used) or effects:
        return [True] * len(equation.invars), equation
    chosen = tuple(n for n, u in enumerate(used) if u)
    outvars = [equation.outvars[n] for n in chosen]
    pruned = equation.replace(params={**equation.params, "program": program.chosen(chosen)}, outvars=outvars)
    return [True] * len(equation.invars), pruned
