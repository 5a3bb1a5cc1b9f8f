"""A function of launches as one JAX primitive, `workbench_program`, that runs as one native call.

Its derivatives and batches are programs again. The jvp rule runs the forward program, which also returns what the
derivative needs, and binds `workbench_linear` on the tangents; that one's transpose is the adjoint program. JAX's own
machinery makes each from the function's launches, and so defines the meaning: if a program cannot be one call (sizes
known later, devices other than the CPU, several devices), XLA runs its launches one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.interop.jax.launches.primitives import fault_effect, primitives, tangent_of
from workbench.interop.jax.programs.flat import Flat, flatten
from workbench.interop.jax.programs.schedule import Part, parts
from workbench.interop.jax.values import arguments
from workbench.interop.jax.values.library import library, literal_type
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
        """Whether the program may be one native call: it has no effects but faults, and all sizes are known."""
        avals = (*self.closed.in_avals, *self.closed.out_avals)
        acts = self.closed.effects - fault_effect()
        return not acts and not any(arguments.is_symbolic(n) for a in avals for n in a.shape)

    @property
    def checked(self) -> bool:
        """Whether one of its launches reports faults."""
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
