"""Launches of programs that run on several devices: XLA divides what the sharding rule allows.

This file is only used in lowering for more than one device, outside of `shard_map`; programs of one device do not
change. The launch becomes a `custom_partitioning` call with the rule. While XLA compiles, it asks what each device
runs for the shardings that it chose: the same launch over smaller arrays.
"""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import combinations
from typing import Any, NamedTuple

from workbench.errors import LaunchError
from workbench.interop.jax.launches.plan import LaunchConfig, Plan, Shape, rewritten_plan
from workbench.interop.jax.launches.sharding_rule import Axes, Rule, launch_sizes, rule_of
from workbench.interop.jax.native.descriptor import Kind, Wire
from workbench.interop.jax.values.library import library, partitioning
from workbench.interop.jax.values.manual import explicit_mesh, is_partitioned
from workbench.passes.positioned import positioned
from workbench.types import int32

Bind = Callable[..., list[Any]]
"""Runs a launch: operands, then `plan=` and `config=`."""

_warned: set[object] = set()
_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep


class Divisible(NamedTuple):
    """Represents a launch that XLA may divide: a function of its operands, and the plans that devices may run."""

    function: Callable[..., list[Any]]
    plans: Sequence[Plan]


def partitioned(ctx: Any, plan: Plan, config: LaunchConfig, bind: Bind) -> Divisible | None:
    """Return the launch for XLA to divide among devices; None if XLA is not to divide it.

    That is so where the program runs on one device or is exported, where the launch has an effect or returns its
    faults, and where this JAX has no sharding rules.
    """
    # JAX has no effects inside `custom_partitioning`.
    partitioner = partitioning() if is_partitioned(ctx) and not (config.effect or config.records) else None
    if partitioner is None:
        return None
    rule = rule_of(plan, config, ctx.avals_in)
    site = plan.traced.get(("call site", config), ("<unknown>", 0))
    # XLA would not say which elements it fills up uneven parts with. So arrays are padded here, to one size for all
    # meshes, which XLA does by moving rows between neighbours.
    wide = rule.padded(_counts(ctx.module_context.axis_context.abstract_mesh))
    own = [tuple(a.shape) for a in (*ctx.avals_in, *ctx.avals_out)]
    padded = [_padded(s, axes, wide) for s, axes in zip(own, (*rule.operands, *rule.results), strict=True)]
    split = len(rule.operands)

    def launch(*operands: Any) -> list[Any]:
        results = bind(*map(resized, operands, own[:split]), plan=plan, config=config)
        return list(map(resized, results, padded[split:]))

    divided = partitioner.custom_partitioning(launch)
    divided.def_partition(
        partition=_Divided(plan, config, rule, wide, own, bind, site).partition,
        infer_sharding_from_operands=None,
        sharding_rule=_shardy_rule(rule, {**rule.sizes, **wide}, padded),
    )

    def function(*operands: Any) -> list[Any]:
        return list(map(resized, divided(*map(resized, operands, padded[:split])), own[split:]))

    return Divisible(function, _possible_parts(plan, config, rule, wide))


def _counts(mesh: Any) -> list[int]:
    """Return the numbers of parts that axes of a mesh may divide an axis into, ascending; the last is all devices."""
    sizes = [n for n in mesh.shape.values() if n > 1]
    chosen = (c for count in range(1, len(sizes) + 1) for c in combinations(sizes, count))
    return sorted({math.prod(c) for c in chosen})


def _padded(shape: Shape, axes: Axes, wide: Mapping[str, int]) -> Shape:
    """Return a shape with the sizes in `wide` along axes of those factors, and its own elsewhere."""
    return tuple(wide.get(factor, n) for factor, n in zip(axes, shape, strict=True))


def lowered(ctx: Any, operands: Sequence[Any], divisible: Divisible, identity: str) -> Any:
    """Lower a launch to one call that XLA divides among devices; return the values of its results.

    The call is marked with `identity`, by which JAX's persistent cache tells it from others with the same shapes.
    """
    mlir = library().mlir
    results = mlir.lower_fun(divisible.function, multiple_results=True)(ctx, *operands)
    # XLA sees a launch as a number of this process; JAX's persistent cache must tell one launch from another.
    noted = mlir.ir.DictAttr.get({"workbench": mlir.ir.StringAttr.get(identity)})
    call = results[0].owner
    while "custom_call" not in call.name:  # what is padded is cut off again
        call = call.operands[0].owner
    call.attributes["mhlo.frontend_attributes"] = noted
    return results


def _shardy_rule(rule: Rule, known: Mapping[str, int], shapes: Sequence[Shape]) -> Any:
    """Return the rule in Shardy's form.

    Args:
        rule: ours.
        known: sizes by factor; a larger axis is divided by its factor into whole rows.
        shapes: of the operands, then of the results.
    """
    api, sizes = partitioning(), {}

    def factor(name: str, size: int) -> Any:
        outer = known.get(name, size)
        if outer == size:
            return name
        # A memory as one axis, of which the factor divides the rows.
        rest = f"{name}_{size // outer}"
        sizes.update({name: outer, rest: size // outer})
        return api.CompoundFactor(name, rest)

    values = zip((*rule.operands, *rule.results), shapes, strict=True)
    mappings = tuple(api.ArrayMapping(*map(factor, axes, shape)) for axes, shape in values)
    split = len(rule.operands)
    compound = {n for mapping in mappings for f in mapping if not isinstance(f, str) for n in f}
    alone = {n for mapping in mappings for f in mapping if isinstance(f, str) for n in (f,)}
    return api.SdyShardingRule(mappings[:split], mappings[split:], **{n: sizes[n] for n in compound - alone})


def result_shardings(plan: Plan, config: LaunchConfig, avals: Sequence[Any]) -> Sequence[Any]:
    """Return a sharding for the type of each result under a mesh with explicit axes; None for each without such a mesh.

    An axis that the mesh does not divide evenly stays undivided. This also returns None for each if this JAX has no
    sharding rules.

    Raises:
        LaunchError: operands are divided in ways that do not go together.
    """
    mesh = next((m for a in avals if (m := explicit_mesh(a)) is not None), None)
    if mesh is None or partitioning() is None:
        return [None] * len(plan.results)
    rule = rule_of(plan, config, avals)
    chosen: dict[str, tuple[str, ...]] = {}
    for wire, aval, axes in zip(plan.operands, avals, rule.operands, strict=True):
        for axis, (factor, names) in enumerate(zip(axes, _specs(aval), strict=True)):
            taken = {n: f for f, used in chosen.items() for n in used}
            if factor in rule.sizes and names and chosen.setdefault(factor, names) != names:
                raise _ambiguous(
                    plan, f"{wire.name} along {names} in its axis {axis}, other operands along {chosen[factor]}"
                )
            if factor in rule.sizes and any(taken.get(n, factor) != factor for n in names):
                raise _ambiguous(plan, f"two of its axes along {names}")
    sharding = library().jax.sharding

    def typed(axes: Axes, shape: Shape) -> Any:
        # A type cannot say that parts are uneven.
        even = ((f, n % _count(mesh, chosen.get(f, ())) == 0) for f, n in zip(axes, shape, strict=True))
        return sharding.NamedSharding(
            mesh, sharding.PartitionSpec(*(chosen.get(f) if fits else None for f, fits in even))
        )

    return [typed(axes, (*config.batch, *s)) for axes, s in zip(rule.results, config.results, strict=True)]


def _ambiguous(plan: Plan, what: str) -> LaunchError:
    """Return the error for operands that a mesh divides in ways which contradict each other; `what`: which, and how."""
    return LaunchError(
        f"How the results of {plan.kernel} are divided is ambiguous: the mesh divides {what}.",
        advice="Call jax.sharding.reshard on an operand first.",
        function=plan.kernel,
    )


def part_plan(plan: Plan, config: LaunchConfig, rule: Rule, dimensions: Collection[int], wide: Collection[str]) -> Plan:
    """Return the plan of a part of a launch that is divided along these dimensions.

    It is the plan itself if a part needs no position; otherwise its kernel takes two more numbers for each dimension:
    the part's offset and the size of the whole. Factors in `wide` are padded: their parts together may have more
    threads than the launch.
    """
    dimensions = [n for n in dimensions if rule.dims[n]]
    padded = tuple(n for n in dimensions if rule.dims[n] in wide)
    if not (rule.positioned or padded) or not dimensions:
        return plan
    lengths = {part: n for part, n in rule.lengths.items() if n in dimensions}
    cuts = {part: cut for part, cut in rule.cuts.items() if cut.dimension in dimensions}
    key = "part", frozenset(lengths.items()), frozenset(cuts.items()), padded, frozenset(rule.extra.items())
    # Where nothing is on a ring, and no loop is bounded by a size, one plan would serve all sizes.
    key = (*key, config.dims, config.operands, config.results) if rule.halos else key
    known = plan.traced.get(key)
    if known is None:
        sizes = launch_sizes(plan, config)
        function = positioned(plan.code.function(), lengths, cuts, sizes, plan.checked, padded, rule.extra)
        wires, count = plan.target.description.wires, len(plan.operands)
        more = [Wire(p.name, Kind.SCALAR, int32, 0, n) for n, p in enumerate(function.params[len(wires) :], count)]
        known = plan.traced[key] = rewritten_plan(plan, function, (*wires, *more))
    return known


def _possible_parts(plan: Plan, config: LaunchConfig, rule: Rule, wide: Collection[str]) -> list[Plan]:
    """Return the plans that parts of a launch may call in a program read from JAX's persistent cache.

    XLA divided such a program in another process, and does not ask again what a device runs. Without that cache the
    list is empty.
    """
    if not library().jax.config.jax_compilation_cache_dir:
        return []
    dims = [n for n, factor in enumerate(rule.dims) if factor]
    chosen = [c for count in range(len(dims) + 1) for c in combinations(dims, count)]
    return list({id(p): p for c in chosen for p in (part_plan(plan, config, rule, c, wide),)}.values())


class _Divided:
    """Answers XLA about one launch while XLA compiles a program for several devices.

    Attributes:
        plan, config: the launch.
        rule: its sharding rule.
        wide: sizes of the factors that are padded.
        own: shapes of the operands, then of the results, without padding.
        bind: runs a launch: operands, then `plan=` and `config=`.
        site: the file and line that launches, for warnings.
        sizes: of each factor, padded where it is in `wide`.
    """

    def __init__(
        self, plan: Plan, config: LaunchConfig, rule: Rule, wide: Mapping[str, int], own: Sequence[Shape], bind: Bind,
        site: tuple[str, int],
    ) -> None:  # fmt: skip
        """Prepare the answers for the launch of `plan` and `config`; see the class for the arguments."""
        self.plan, self.config, self.rule, self.wide, self.own = plan, config, rule, wide, own
        self.sizes, self.bind, self.site = {**rule.sizes, **wide}, bind, site

    def partition(self, mesh: Any, operands: Sequence[Any], results: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
        """Return the mesh, the function that a device runs, and the shardings of its results and operands."""
        rule = self.rule
        values = [(x, axes) for x, axes in zip((*results, *operands), (*rule.results, *rule.operands), strict=True)]
        chosen = self._chosen(mesh, values)
        self._warn(operands, chosen)
        sharding = library().jax.sharding

        def placed(axes: Axes) -> Any:
            return sharding.NamedSharding(mesh, sharding.PartitionSpec(*(chosen.get(f) for f in axes)))

        parts = {f: _count(mesh, names) for f, names in chosen.items()}
        run = partial(self._run, rule.part(self.config, parts, self.wide), chosen, parts)
        return mesh, run, [placed(a) for a in rule.results], tuple(placed(a) for a in rule.operands)

    def _chosen(self, mesh: Any, values: Sequence[tuple[Any, Axes]]) -> dict[str, tuple[str, ...]]:
        """Return the mesh axes along which each factor is divided: those of the first value that divides it evenly."""
        chosen: dict[str, tuple[str, ...]] = {}
        taken: set[str] = set()
        for value, axes in values:
            for factor, names in zip(axes, _specs(value), strict=True):
                size = self.sizes.get(factor)
                if not names or size is None or factor in chosen or not taken.isdisjoint(names):
                    continue
                # XLA would fill up unequal parts with elements that are none, which a kernel must not see.
                if size % _count(mesh, names) == 0:
                    chosen[factor] = names
                    taken.update(names)
        return chosen

    def _position(self, chosen: Mapping[str, tuple[str, ...]], axes: Shape, factor: str, size: int) -> list[Any]:
        """Return the offset of a device's part along a factor, where a part has `size`, and the factor's full size.

        Both are int32 of the shape `axes`.
        """
        jax = library()
        index = jax.jax.lax.axis_index(chosen[factor]) if factor in chosen else 0
        both = jax.jnp.asarray(index * size, "int32"), jax.jnp.asarray(self.rule.sizes[factor], "int32")
        return [x.reshape(axes) for x in both]

    def _run(
        self, config: LaunchConfig, chosen: Mapping[str, tuple[str, ...]], parts: Mapping[str, int], *operands: Any
    ) -> list[Any]:
        """Run one device's part of the launch, and combine what all devices update; return the part's results.

        Args:
            config: that of the part.
            chosen: the mesh axes along which each divided factor is divided.
            parts: the number of parts of each divided factor.
            operands: the device's parts of the operands.
        """
        rule = self.rule
        divided = [n for n, factor in enumerate(rule.dims) if factor in chosen]
        part = part_plan(self.plan, self.config, rule, divided, self.wide)

        def edges(role: str, position: int, factors: Axes) -> list[Edge]:
            first = len(rule.batch)
            halos = [
                (axis, f, rule.halo(role, position, axis - first)) for axis, f in enumerate(factors) if f in chosen
            ]
            wraps = {f: rule.sizes[f] for f in rule.rings if f in self.wide}
            return [
                Edge(axis, h.before, h.after, chosen[f], parts[f], wraps.get(f, 0))
                for axis, f, h in halos
                if h.before + h.after
            ]

        # What is not divided after all has its own size.
        undivided = {f: n for f, n in self.wide.items() if f not in chosen}
        own = [
            tuple(mine if f in undivided else n for f, n, mine in zip(axes, x.shape, shape, strict=True))
            for x, axes, shape in zip(operands, rule.operands, self.own[: len(operands)], strict=True)
        ]
        inputs = [
            attached(resized(x, shape), edges("operand", n, rule.operands[n]))
            for n, (x, shape) in enumerate(zip(operands, own, strict=True))
        ]
        if part is not self.plan:
            axes = (1,) * len(config.batch)
            for dimension in divided:
                # Counted without the halo.
                size = config.dims[dimension]
                inputs += self._position(chosen, axes, rule.dims[dimension], size)
            config = replace(config, operands=(*config.operands, *[()] * (len(inputs) - len(operands))))
        results = self.bind(*inputs, plan=part, config=config)
        for position, factors in enumerate(rule.results):
            around = edges("result", position, factors)
            added = any(h.added for (role, n, _), h in rule.halos.items() if (role, n) == ("result", position))
            result = sent_back(results[position], around, added)
            results[position] = resized(result, _padded(result.shape, factors, undivided))
        for position, merged in rule.merged.items():
            for factor, kind in merged.items():
                if factor in chosen:
                    results[position] = _put_together(results[position], kind, chosen[factor])
        return results

    def _warn(self, operands: Sequence[Any], chosen: Mapping[str, tuple[str, ...]]) -> None:
        """Warn of the first operand that is gathered on every device, once per kernel and line that launches it."""
        key = (self.plan.kernel, *self.site)
        for wire, value, axes in zip(self.plan.operands, operands, self.rule.operands, strict=True):
            for axis, (factor, names) in enumerate(zip(axes, _specs(value), strict=True)):
                if names and factor not in chosen and key not in _warned:
                    _warned.add(key)
                    why = self.rule.whole.get(factor, "the mesh does not divide it evenly, or divides other axes too")
                    text = (
                        f"JAX gathers {wire.name} of {self.plan} on every device, along axis {axis}: {why}. "
                        "Launch the kernel inside jax.shard_map to divide the work yourself."
                    )
                    warnings.warn_explicit(text, UserWarning, *self.site)


def _specs(value: Any) -> list[tuple[str, ...]]:
    """Return the names of the mesh axes that divide each axis of a value; empty where none does."""
    spec = getattr(value.sharding, "spec", None) or ()
    named = [() if n is None else (n,) if isinstance(n, str) else tuple(n) for n in spec]
    return [*named, *[()] * (len(value.shape) - len(named))]


def _count(mesh: Any, names: Sequence[str]) -> int:
    """Return the number of devices along these axes of a mesh, all together."""
    count = 1
    for name in names:
        count *= mesh.shape[name]
    return count


def _put_together(value: Any, kind: str, names: tuple[str, ...]) -> Any:
    """Return a result merged from all devices along these mesh axes.

    The kind "add" is their sum; any other is the reduction of `jax.numpy` with that name, such as "min".
    """
    lax, jnp = library().jax.lax, library().jnp
    if kind == "add":
        return lax.psum(value, names)
    # Not pmin: a NaN must stay one, as it does in a launch.
    return getattr(jnp, kind)(lax.all_gather(value, names), axis=0)


def note_call_site(plan: Plan, config: LaunchConfig) -> None:
    """Record the line that launches, for a warning: the innermost that is neither Workbench's nor JAX's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_others()):
        frame = frame.f_back
    plan.traced["call site", config] = frame.f_code.co_filename, frame.f_lineno


@lru_cache(maxsize=1)
def _others() -> tuple[str, ...]:
    """Return what names of files begin with that are not the user's: code without a file, JAX and Workbench."""
    jax = os.path.dirname(library().jax.__file__)
    return "<", jax + os.sep, _OWN


class Edge(NamedTuple):
    """Represents the halo of a divided array along one axis.

    Attributes:
        axis: of the array.
        before, after: elements of the neighbours before and after a part.
        names: the mesh axes that divide it.
        count: the number of parts.
        wrap: of a ring that is padded, its size without the padding; else 0.
    """

    axis: int
    before: int
    after: int
    names: tuple[str, ...]
    count: int
    wrap: int = 0

    def pieces(self, size: int) -> Iterator[tuple[int, int, int]]:
        """Yield the elements that come from each neighbour, where parts have `size` elements.

        Yields:
            by how many parts the neighbour is ahead, the first element that it sends and the one behind the last.
        """
        for hop in range(-(-self.before // size), 0, -1):
            yield -hop, size - min(size, self.before - (hop - 1) * size), size
        for hop in range(1, -(-self.after // size) + 1):
            yield hop, 0, min(size, self.after - (hop - 1) * size)

    def shift(self, value: Any, hop: int) -> Any:
        """Return the value of the part that is `hop` ahead; the last part is followed by the first."""
        pairs = [((n + hop) % self.count, n) for n in range(self.count)]
        return library().jax.lax.ppermute(value, self.names, pairs) if hop % self.count else value


def resized(value: Any, shape: Sequence[int]) -> Any:
    """Return a value of this shape: each axis is truncated, or padded with zeros, at its end."""
    lax, jnp = library().jax.lax, library().jnp
    for axis, size in enumerate(shape):
        if value.shape[axis] > size:
            value = lax.slice_in_dim(value, 0, size, axis=axis)
        elif value.shape[axis] < size:
            after = [(0, size - n if k == axis else 0, 0) for k, n in enumerate(value.shape)]
            value = lax.pad(value, jnp.zeros((), value.dtype), after)
    return value


def attached(part: Any, edges: Sequence[Edge]) -> Any:
    """Return a part extended by its halos along each edge.

    The second axis sends what the first has attached, so corners take two steps.
    """
    lax = library().jax.lax
    for edge in edges:
        if edge.wrap:  # the padding begins with the beginning of the ring, and ends with its end
            total = part.shape[edge.axis] * edge.count
            part = _copied(part, edge, 0, edge.wrap, edge.after)
            part = _copied(part, edge, edge.wrap - edge.before, total - edge.before, edge.before)
        pieces = {0: part}
        for hop, first, end in edge.pieces(part.shape[edge.axis]):
            pieces[hop] = edge.shift(lax.slice_in_dim(part, first, end, axis=edge.axis), hop)
        part = lax.concatenate([pieces[hop] for hop in sorted(pieces)], edge.axis)
    return part


def _copied(part: Any, edge: Edge, source: int, target: int, count: int) -> Any:
    """Copy `count` elements of the whole from one position along an axis to another; return the changed part."""
    lax, axis, size = library().jax.lax, edge.axis, part.shape[edge.axis]
    while count:
        (giver, first), (taker, start) = divmod(source, size), divmod(target, size)
        some = min(count, size - first, size - start)
        piece = lax.slice_in_dim(part, first, first + some, axis=axis)
        piece = lax.ppermute(piece, edge.names, [(giver, taker)]) if giver != taker else piece
        filled = lax.dynamic_update_slice_in_dim(part, piece, start, axis)
        part = library().jnp.where(lax.axis_index(edge.names) == taker, filled, part)
        source, target, count = source + some, target + some, count - some
    return part


def sent_back(extended: Any, edges: Sequence[Edge], added: bool) -> Any:
    """Return a part without its halos; if `added`, add each halo to the part that it belongs to."""
    jax, shape, first = library().jax, list(extended.shape), [0] * extended.ndim
    for edge in edges:
        shape[edge.axis] -= edge.before + edge.after
        first[edge.axis] = edge.before
    if not (added and edges):
        return jax.lax.slice(extended, first, [a + n for a, n in zip(first, shape, strict=True)]) if edges else extended
    part = jax.ShapeDtypeStruct(tuple(shape), extended.dtype)
    return jax.linear_transpose(lambda x: attached(x, edges), part)(extended)[0]
