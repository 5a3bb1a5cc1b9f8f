"""Sharding of a wrapped kernel: `f.sharding_rule(…)` shows the rule, `jax_kernel(…, sharding=…)` asserts one.

Neither changes what is divided, which is what the IR proves (`launches/sharding_rule.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from workbench.errors import LaunchError
from workbench.interop.jax.launches.plan import LaunchConfig, Plan
from workbench.interop.jax.launches.primitives import primitives
from workbench.interop.jax.launches.sharding_rule import Axes, Rule, memories, rule_of
from workbench.interop.jax.native.descriptor import Kind, Wire
from workbench.interop.jax.values import arguments
from workbench.interop.jax.values.library import library
from workbench.passes.analysis.partition import Halo

HOW = 'Write a letter for each axis, arrays left and results right: "i j, j -> i".'


@dataclass(frozen=True)
class ShardingRule:
    """Represents the axes of a launch that a mesh may divide.

    Attributes:
        rule: a letter for each axis, array arguments left and results right: "i j, k -> i". Axes with the same letter
            are divided alike; one whose letter is on one side only stays whole, or is summed over.
        whole: of each axis that stays whole, why.
        exchanged: of each axis along which devices exchange the edges of their parts, what one device receives.
    """

    rule: str
    whole: tuple[str, ...]
    exchanged: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the rule as Shardy writes it."""
        return self.rule

    def __repr__(self) -> str:
        """Return the rule, and below it what is exchanged and what is not divided."""
        return "\n".join([self.rule, *self.exchanged, *self.whole])


class Sharded:
    """Adds `sharding_rule` to a kernel that is a JAX function."""

    kernel: Any
    parameters: tuple[str, ...]
    static: frozenset[str]

    def sharding_rule(self, *args: Any, **named: Any) -> ShardingRule:
        """Show which axes a mesh of several devices may divide, for arguments of these shapes and types.

        Args:
            *args, **named: as in a call, or `jax.ShapeDtypeStruct` in place of arrays; nothing runs.

        Returns:
            The rule, with the reason for each axis that stays whole, and what devices exchange along those of which
            threads access neighbours.

        Raises:
            LaunchError: as a call does.

            f.sharding_rule(jnp.ones((6, 4)), jnp.ones(4), launch_dims=6)    # i j, k -> i
        """
        jax = library().jax
        options = {n: named.pop(n) for n in [*named] if n not in self.parameters}
        inputs = arguments.by_name(self.kernel.name, self.parameters, args, named)
        static = {n: inputs.pop(n) for n in [*inputs] if n in self.static}
        call: Any = self
        jaxpr = jax.make_jaxpr(lambda traced: call(**traced, **static, **options))(inputs).jaxpr
        launch = next(e for e in jaxpr.eqns if e.primitive is primitives().launch)
        plan = launch.params["plan"]
        rule = rule_of(plan, launch.params["config"], [v.aval for v in launch.invars])
        left, right = _arrays(plan, rule)
        undivided = [
            f"axis {n} of {wire.name} stays whole: {rule.whole[f]}"
            for wire, axes in [*left, *right]
            for n, f in enumerate(axes)
            if f in rule.whole
        ]
        text = " -> ".join(", ".join(" ".join(axes) for _, axes in side) for side in (left, right))
        avals = {"operand": launch.invars, "result": launch.outvars}
        exchanged = [
            _exchanged(
                f"axis {axis} of {(plan.operands if role == 'operand' else plan.results)[position].name}",
                avals[role][position].aval,
                len(rule.batch) + axis,
                halo,
            )
            for (role, position, axis), halo in rule.halos.items()
        ]
        wires = {w.name: w for w in plan.target.description.wires}
        for (name, axis), extra in rule.extra.items():
            role, position = memories(wires[name])[0]
            moved = _row(avals[role][position].aval, len(rule.batch) + axis)
            exchanged.append(
                f"axis {axis} of {name}: padded, as it is {abs(extra)} {'longer' if extra > 0 else 'shorter'} than the "
                f"launch; of d devices one receives up to d + {abs(extra)} rows of neighbours, {moved} bytes each"
            )
        return ShardingRule(text, tuple(dict.fromkeys(undivided)), tuple(exchanged))


def _row(aval: Any, axis: int) -> int:
    """Return the bytes of the elements that have one index along an axis."""
    return aval.size // max(1, aval.shape[axis]) * aval.dtype.itemsize


def _exchanged(what: str, aval: Any, axis: int, halo: Halo) -> str:
    """Return in words how many elements and bytes a device exchanges along an axis because of its halo."""
    verb = "adds to" if halo.added else "receives"
    total = (halo.before + halo.after) * _row(aval, axis)
    return f"{what}: a device {verb} {halo.before} before and {halo.after} after its part, {total} bytes"


def _arrays(plan: Plan, rule: Rule) -> tuple[list[tuple[Wire, Axes]], list[tuple[Wire, Axes]]]:
    """Return the array operands, and the results, each with the factors of its axes but those of components."""
    left = [(w, a) for w, a in zip(plan.operands, rule.operands, strict=True) if w.kind is Kind.ARRAY]
    right = list(zip(plan.results, rule.results, strict=True))
    batch = len(rule.batch)
    return [(w, a[: batch + w.rank]) for w, a in left], [(w, a[: batch + w.rank]) for w, a in right]


def check_sharding(declared: str, plan: Plan, config: LaunchConfig) -> None:
    """Compare a rule that the user declares with the launch's own.

    Raises:
        LaunchError: it is not a rule for these arrays, or an axis that it divides cannot be divided; it says why.
    """
    # Types without batches: `jax.vmap` adds axes of its own.
    shapes = [library().ShapedArray(s, "float32") for s in config.operands]
    rule = rule_of(plan, config, shapes)
    written = [[side.split() for side in part.split(",")] for part in declared.split("->")]
    sides = _arrays(plan, rule)
    counts = [[len(axes) for _, axes in side] for side in sides]
    if [[len(letters) for letters in side] for side in written] != counts:
        form = " -> ".join(", ".join(" ".join("ijklmnop"[:n]) for n in side) for side in counts)
        _refuse(plan, declared, f"its arrays have these axes: {form}", HOW)
    by_letter: dict[str, list[tuple[int, Wire, int, str]]] = {}
    for position, (side, letters) in enumerate(zip(sides, written, strict=True)):
        for (wire, axes), named in zip(side, letters, strict=True):
            for axis, (factor, letter) in enumerate(zip(axes, named, strict=True)):
                by_letter.setdefault(letter, []).append((position, wire, axis, factor))
    for letter, axes_of_letter in by_letter.items():
        if {position for position, *_ in axes_of_letter} == {0, 1}:
            _compare(plan, declared, letter, axes_of_letter, rule)


def _compare(
    plan: Plan, declared: str, letter: str, axes_of_letter: list[tuple[int, Wire, int, str]], rule: Rule
) -> None:
    """Raise an error if a letter on both sides names axes that are not divided together."""
    for _, wire, axis, factor in axes_of_letter:
        if factor in rule.whole:
            what = f"axis {axis} of {wire.name} ({letter}) cannot be divided: {rule.whole[factor]}"
            _refuse(plan, declared, what, "Give that axis a letter of its own, or launch inside jax.shard_map.")
    if len({factor for *_, factor in axes_of_letter}) > 1:
        _refuse(plan, declared, f"the axes called {letter} are not subscripted by one thread index", HOW)


def _refuse(plan: Plan, declared: str, what: str, advice: str) -> NoReturn:
    """Raise LaunchError for the option `sharding`; `what` is the rest of the sentence."""
    raise LaunchError(f'{plan.kernel} has sharding="{declared}", but {what}.', advice=advice, function=plan.kernel)
