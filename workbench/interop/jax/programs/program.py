"""A function of launches as one JAX primitive, `workbench_program`, that runs as one native call.

Its derivatives and batches are programs again. The jvp rule runs the forward program, which also gives what the
derivative needs, and binds `workbench_linear` on the tangents; that one's transpose is the adjoint program. Each is
made from the function's launches by JAX's own machinery, which therefore stays the meaning: where a program cannot be
one call (sizes known later, devices other than the CPU, inside `shard_map`), its launches are XLA's, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from workbench.interop.jax.launches.eager import whole
from workbench.interop.jax.launches.primitives import not_linear, primitives, tangent_of
from workbench.interop.jax.native import edits
from workbench.interop.jax.native.table import Segment
from workbench.interop.jax.programs.flat import Flat, Value, flatten
from workbench.interop.jax.programs.schedule import Part, parts
from workbench.interop.jax.values import arguments
from workbench.interop.jax.values.library import library
from workbench.interop.jax.values.manual import know, shaped, varying
from workbench.types import SCALARS, is_float


@dataclass(eq=False)
class Program:
    """A function of launches, traced.

    Attributes:
        name: of the function.
        closed: its jaxpr.
    """

    name: str
    closed: Any
    _derived: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, name: str, function: Callable[..., Any], operands: Sequence[Any]) -> Program:
        """The program of a function for operands of these shapes and types."""
        jax = library().jax
        shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in operands]
        return cls(name, jax.make_jaxpr(lambda *args: list(function(*args)))(*shapes))

    def __repr__(self) -> str:
        """Say what it is, in a jaxpr."""
        return f"{self.name}: {len(self.closed.jaxpr.eqns)} operations"

    def __call__(self, *operands: Any) -> list[Any]:
        """Its operations one by one."""
        return library().jax.core.eval_jaxpr(self.closed.jaxpr, self.closed.consts, *operands)

    @property
    def inputs(self) -> list[Any]:
        """The types of its operands."""
        return self.closed.in_avals

    def derived(self, key: Any, make: Callable[[], Any]) -> Any:
        """What was made for `key`, made now where it is new."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    @property
    def is_one_call(self) -> bool:
        """Whether it may be one native call: nothing in it acts outside, and all sizes are known."""
        avals = (*self.closed.in_avals, *self.closed.out_avals)
        return not self.closed.effects and not any(arguments.is_symbolic(n) for a in avals for n in a.shape)

    @property
    def checked(self) -> bool:
        """Whether one of its launches reports faults."""
        plans = (node.params.get("plan") for node in self.native[0].nodes)
        return any(plan.checked for plan in plans if plan is not None)

    @property
    def native(self) -> tuple[Flat, dict[int, Part]]:
        """Its operations in levels, with the native segments."""

        def make() -> tuple[Flat, dict[int, Part]]:
            flat = flatten(self.closed, _inner, primitives().launch)
            return flat, parts(flat, self.name)

        return self.derived("native", make)

    def batched(self, axes: tuple[int | None, ...], size: int) -> Program:
        """The program of batches that stand on these axes of the operands; its results have them first."""
        jax = library().jax
        shapes = [
            aval if axis is None else jax.ShapeDtypeStruct((*aval.shape[:axis], size, *aval.shape[axis:]), aval.dtype)
            for aval, axis in zip(self.inputs, axes, strict=True)
        ]
        function = jax.vmap(self, in_axes=axes, out_axes=0)
        # Kept with the program, so that JAX sees the same object for the same transformation, and its caches hit.
        return self.derived(("batched", axes, size), lambda: Program.of(f"{self.name}_batched", function, shapes))

    def chosen(self, results: tuple[int, ...]) -> Program:
        """The program of some of its results, in order."""

        def make() -> Program:
            used = [n in results for n in range(len(self.closed.out_avals))]
            # The other results are not used, so what only they needed goes.
            jaxpr, _ = library().partial_eval.dce_jaxpr(self.closed.jaxpr, used, instantiate=True)
            return Program(self.name, type(self.closed)(jaxpr, self.closed.consts))

        return self.derived(("chosen", results), make)

    def linearised(self, wanted: tuple[int, ...]) -> Linearised:
        """The program split for tangents of the operands numbered `wanted`."""
        return self.derived(("linear", wanted), lambda: _linearised(self, wanted))

    def transposed(self, split: int) -> Program:
        """Of a program that is linear in the operands from `split` on: their cotangents from the results'."""
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
    """A program split for derivatives.

    Attributes:
        forward: returns the results, then residuals that are neither operands nor results.
        tangent: from residuals and tangents, the tangents of the results that are floats.
        residuals: of each, ("operand" or "result", its number).
    """

    forward: Program
    tangent: Program
    residuals: tuple[tuple[str, int], ...]


def _linearised(program: Program, wanted: tuple[int, ...]) -> Linearised:
    jax = library().jax
    floats = [n for n, a in enumerate(program.closed.out_avals) if _is_float(a)]
    moved = [jax.ShapeDtypeStruct(program.inputs[n].shape, program.inputs[n].dtype) for n in wanted]
    kept: list[Any] = []

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
        kept.append(closed)
        return [*results, *closed.consts]

    traced = Program.of(program.name, forward, program.inputs)
    (linear,) = kept
    jaxpr, count = traced.closed.jaxpr, len(program.closed.out_avals)
    outputs, residuals, more = jaxpr.outvars[:count], [], []
    literal = library().Literal
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
    types = [v.aval for v in linear.jaxpr.constvars]

    def tangent(*operands: Any) -> list[Any]:
        split = len(types)
        return jax.core.eval_jaxpr(linear.jaxpr, operands[:split], *operands[split:])

    return Linearised(small, Program.of(f"{program.name}_tangent", tangent, [*types, *moved]), tuple(residuals))


def _is_float(aval: Any) -> bool:
    return aval.dtype.name in SCALARS and is_float(SCALARS[aval.dtype.name])


def _inner(equation: Any) -> Any:
    """The jaxpr that one of our operations stands for."""
    kinds = programs()
    if equation.primitive in (kinds.program, kinds.linear):
        return equation.params["program"].closed
    if equation.primitive is primitives().tangent:
        return tangent_of(tuple(v.aval for v in equation.invars), **equation.params)
    return None


class Programs(NamedTuple):
    """The primitives: a program, one that is linear in its last operands, and a native segment."""

    program: Any
    linear: Any
    segment: Any


@lru_cache(maxsize=1)
def programs() -> Programs:
    """The primitives, made and registered with JAX at the first call."""
    jax = library()
    names = ("program", "linear", "segment")
    found = Programs(*(jax.Primitive(f"workbench_{name}") for name in names))
    for primitive in found:
        primitive.multiple_results = True
    for primitive in (found.program, found.linear):
        primitive.def_impl(partial(_run_jitted, primitive))
        primitive.def_abstract_eval(_results)
        jax.mlir.register_lowering(primitive, jax.mlir.lower_fun(_run_native, True), platform="cpu")
        # Without a platform: everywhere but on the CPU each launch is XLA's.
        jax.mlir.register_lowering(primitive, jax.mlir.lower_fun(_run_each, True))
        jax.batching.primitive_batchers[primitive] = partial(_batch, primitive)
        know(primitive)
    jax.ad.primitive_jvps[found.program] = _program_jvp
    jax.ad.primitive_jvps[found.linear] = _linear_jvp
    jax.ad.primitive_transposes[found.linear] = _transpose
    jax.ad.primitive_transposes[found.program] = _no_transpose
    jax.partial_eval.dce_rules[found.program] = _drop_results
    found.segment.def_abstract_eval(_segment_results)
    jax.mlir.register_lowering(found.segment, _lower_segment, platform="cpu")
    return found


def run_program(program: Program, operands: Sequence[Any]) -> list[Any]:
    """The results of a program, as one call where it can be one."""
    tracers = (x for x in operands if isinstance(x, library().jax.core.Tracer))
    if not program.is_one_call or any(varying(x.aval) for x in tracers):
        return program(*operands)
    return programs().program.bind(*operands, program=program)


def _run_jitted(primitive: Any, *operands: Any, **params: Any) -> list[Any]:
    key = (primitive, params.get("split"))
    program = params["program"]

    def make() -> Callable[..., Any]:
        return whole(partial(primitive.bind, **params), program.name, lambda: program.checked)

    return program.derived(key, make)(*operands)


def _results(*avals: Any, program: Program, split: int = 0) -> list[Any]:
    return [shaped(a.shape, a.dtype, avals) for a in program.closed.out_avals]


def _run_each(*operands: Any, program: Program, split: int = 0) -> list[Any]:
    return program(*operands)


def _run_native(*operands: Any, program: Program, split: int = 0) -> list[Any]:
    """The program level by level: XLA's operations, then a segment, and so on."""
    flat, segments = program.native
    known: dict[Value, Any] = dict(zip(flat.arguments, operands, strict=True))

    def read(value: Value) -> Any:
        if value not in known:
            fill = value.fill
            found = value.constant if fill is None else fill.primitive.bind(read(fill.inputs[0]), **fill.params)
            known[value] = np.asarray(found, value.dtype) if fill is None and np.isscalar(found) else found
        return known[value]

    for level in range(flat.levels):
        if level % 2:
            _run_part(segments[level], read, known)
            continue
        for node in flat.nodes:
            if node.level == level and node.outputs[0].fill is None:
                found = node.primitive.bind(*map(read, node.inputs), **node.params)
                known |= zip(node.outputs, found if node.primitive.multiple_results else [found], strict=True)
    return [read(v) for v in flat.results]


def _run_part(part: Part, read: Callable[[Value], Any], known: dict[Value, Any]) -> None:
    jnp = library().jnp
    operands = [jnp.asarray(read(v)) for v in part.inputs]
    for operand, result in part.segment.aliases:
        # XLA aliases only buffers of equal shapes.
        operands[operand] = operands[operand].reshape(part.segment.results[result][1])
    found = programs().segment.bind(*operands, segment=part.segment)
    known |= {value: found[n].reshape(value.shape) for value, n in part.outputs}
    known |= {value: read(source).reshape(value.shape) for value, source in part.same}


def _segment_results(*avals: Any, segment: Segment) -> list[Any]:
    return [library().ShapedArray(shape, np.dtype(SCALARS[d].numpy)) for d, shape in segment.results]


def _lower_segment(ctx: Any, *operands: Any, segment: Segment) -> Any:
    segment = segment.with_targets(partial(edits.called, ctx))
    edits.note_export(ctx, segment.function, segment.name)
    segment.register()
    rule = library().jax.ffi.ffi_lowering(segment.name, operand_output_aliases=dict(segment.aliases))
    return rule(ctx, *operands)


# ---- derivatives and batches


def _is_zero(tangent: Any) -> bool:
    return type(tangent) is library().ad.Zero


def _program_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, program: Program, split: int = 0
) -> tuple[list[Any], list[Any]]:
    jax = library()
    wanted = tuple(n for n, t in enumerate(tangents) if not _is_zero(t) and _is_float(program.inputs[n]))
    made = program.linearised(wanted)
    found = programs().program.bind(*primals, program=made.forward)
    residuals = [(primals if place == "operand" else found)[n] for place, n in made.residuals]
    given = [jax.ad.instantiate_zeros(tangents[n]) for n in wanted]
    moved = iter(programs().linear.bind(*residuals, *given, program=made.tangent, split=len(residuals)))
    results = found[: len(program.closed.out_avals)]

    def none(result: Any) -> Any:
        return jax.ad.Zero(jax.ShapedArray(result.shape, jax.jax.dtypes.float0))

    pairs = zip(results, program.closed.out_avals, strict=True)
    return results, [next(moved) if _is_float(a) else none(r) for r, a in pairs]


def _linear_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, program: Program, split: int
) -> tuple[list[Any], list[Any]]:
    if not all(map(_is_zero, tangents[:split])):
        return _program_jvp(primals, tangents, program=program)
    again = partial(programs().linear.bind, *primals[:split], program=program, split=split)
    return again(*primals[split:]), again(*map(library().ad.instantiate_zeros, tangents[split:]))


def _transpose(cotangents: Sequence[Any], *operands: Any, program: Program, split: int) -> list[Any]:
    ad = library().ad
    linear = operands[split:]
    wanted = [ad.is_undefined_primal(x) for x in linear]
    if all(map(_is_zero, cotangents)):
        return [None] * split + [ad.Zero(x.aval) if w else None for x, w in zip(linear, wanted, strict=True)]
    full = map(ad.instantiate_zeros, cotangents)
    found = programs().linear.bind(*operands[:split], *full, program=program.transposed(split), split=split)
    return [None] * split + [f if w else None for f, w in zip(found, wanted, strict=True)]


def _no_transpose(cotangents: Sequence[Any], *operands: Any, program: Program) -> Any:
    raise not_linear(program.name)


def _batch(
    primitive: Any, operands: Sequence[Any], axes: Sequence[Any], *, program: Program, **params: Any
) -> tuple[list[Any], list[int]]:
    size = next(x.shape[axis] for x, axis in zip(operands, axes, strict=True) if axis is not None)
    made = program.batched(tuple(axes), size)
    return primitive.bind(*operands, program=made, **params), [0] * len(made.closed.out_avals)


def _drop_results(used: list[bool], *given: Any) -> tuple[list[bool], Any]:
    """What is not requested is not computed; `given` is the equation, in JAX 0.12 after which inputs are live."""
    equation = given[-1]
    program = equation.params["program"]
    if not any(used):
        return [False] * len(equation.invars), None
    if all(used):
        return [True] * len(equation.invars), equation
    chosen = tuple(n for n, u in enumerate(used) if u)
    outvars = [equation.outvars[n] for n in chosen]
    made = equation.replace(params={**equation.params, "program": program.chosen(chosen)}, outvars=outvars)
    return [True] * len(equation.invars), made
