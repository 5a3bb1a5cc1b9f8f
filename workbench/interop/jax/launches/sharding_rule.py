"""The sharding rule of a launch: which axes of its operands and results may be divided among devices, together.

A rule gives each axis a factor, as Shardy's do; axes with the same factor are divided alike. Batch axes of `jax.vmap`
are always factors of the batch. Axes that a dimension of the launch subscripts share its factor where
`passes/analysis/partition.py` proves that parts of the launch do what the whole does; where its subscripts reach beyond
a part, the axis has a halo. Every other axis has a factor of its own, and stays whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workbench.interop.jax.launches.plan import LaunchConfig, Plan, Shape, traced_launch
from workbench.interop.jax.native.descriptor import Wire
from workbench.ir.analysis import Sizes
from workbench.passes.analysis.partition import Dimension, Halo, Part, Partition, Reason, partition
from workbench.passes.positioned import Cut
from workbench.types import number_type

Axes = tuple[str, ...]
Buffer = tuple[str, int, int]
"""An axis of an operand or a result: ("operand", number, axis), without batch axes."""


@dataclass(frozen=True)
class Rule:
    """Represents the factors of a launch's axes, those of the batch first.

    Attributes:
        operands, results: a factor for each axis of each.
        batch: factors of the batch axes.
        dims: the factor of each dimension of the launch; "" of one that is not divided.
        viewed: of each view, the factor of its first axis ("" of one that stays whole) and the rows of its halo.
        sizes: of each factor that may be divided; of a dimension of the launch, its threads.
        spans: of factors whose axes may be padded, the sizes of the shortest and the longest.
        rings: of factors around which indices wrap, the elements of all halos: a padding must have room for them.
        extra: of axes of parameters that are not as long as the launch, how much longer they are.
        merged: of results, by number, the factors over which the parts are put together, and how ("add", "min", …).
        whole: why an axis that is not divided is not, by factor.
        positioned: whether parts of the launch use where they begin, or how large the whole is.
        lengths: axes of parameters whose size they use, and the dimension of the launch that divides each.
        cuts: axes of parameters that are divided.
        halos: of buffers' axes, what a part accesses beyond its own, in elements of the axis.
    """

    operands: tuple[Axes, ...]
    results: tuple[Axes, ...]
    batch: Axes
    dims: Axes
    viewed: tuple[tuple[str, int], ...]
    sizes: Mapping[str, int]
    merged: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    whole: Mapping[str, Reason] = field(default_factory=dict)
    positioned: bool = False
    lengths: Mapping[Part, int] = field(default_factory=dict)
    cuts: Mapping[Part, Cut] = field(default_factory=dict)
    halos: Mapping[Buffer, Halo] = field(default_factory=dict)
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    extra: Mapping[Part, int] = field(default_factory=dict)
    rings: Mapping[str, int] = field(default_factory=dict)

    def padded(self, counts: Sequence[int]) -> dict[str, int]:
        """Return the padded size of each factor whose axes are of several sizes, or which no count divides evenly.

        Args:
            counts: numbers of parts that a mesh may make, the largest last; each divides it.
        """
        return {
            factor: -(-(most + self.rings.get(factor, 0)) // counts[-1]) * counts[-1]
            for factor, (least, most) in self.spans.items()
            if least != most or all(most % n for n in counts)
        }

    def part(self, config: LaunchConfig, parts: Mapping[str, int], wide: Mapping[str, int]) -> LaunchConfig:
        """Return the configuration of one device's launch.

        Args:
            config: that of the whole launch.
            parts: the number of parts by factor; factors that it lacks stay whole.
            wide: sizes of padded factors, which are divided in place of their own.
        """

        def size(factor: str, n: int) -> int:
            return wide.get(factor, n) // parts[factor] if factor in parts else n

        def shapes(role: str, factors: Sequence[Axes], shapes_in: Sequence[Shape]) -> tuple[Shape, ...]:
            return tuple(
                tuple(
                    size(f, n) + (sum(self.halo(role, position, axis)[:2]) if f in parts else 0)
                    for axis, (f, n) in enumerate(zip(axes[len(self.batch) :], sizes, strict=True))
                )
                for position, (axes, sizes) in enumerate(zip(factors, shapes_in, strict=True))
            )

        return replace(
            config,
            dims=tuple(map(size, self.dims, config.dims)),
            batch=tuple(map(size, self.batch, config.batch)),
            operands=shapes("operand", self.operands, config.operands),
            results=shapes("result", self.results, config.results),
            views=tuple(
                (offset, size(f, rows) + (halo if f in parts else 0), *rest)
                for (f, halo), (offset, rows, *rest) in zip(self.viewed, config.views, strict=True)
            ),
        )

    def halo(self, role: str, position: int, axis: int) -> Halo:
        """Return how many elements beyond its own a part accesses along an axis, counted without batch axes."""
        return self.halos.get((role, position, axis), Halo(0, 0))


def rule_of(plan: Plan, config: LaunchConfig, avals: Sequence[Any]) -> Rule:
    """Return the sharding rule of a launch whose operands have these types; it is computed once per plan and types."""
    key = "sharding rule", config, tuple(tuple(a.shape) for a in avals)
    rule = plan.traced.get(key)
    if rule is None:
        rule = plan.traced[key] = _Making(plan, config, avals).rule()
    return rule


def launch_sizes(plan: Plan, config: LaunchConfig) -> Sizes:
    """Return the dimensions, shapes and static integers that bound a launch's indices; empty if symbolic."""
    launch = traced_launch(plan, config)
    if launch is None:
        return Sizes()
    numbers = {n: int(a) for n, a in launch.arguments.items() if isinstance(a, np.generic)}
    shapes = {n: a.shape for n, a in launch.arguments.items() if n not in numbers}
    return Sizes(launch.dims, shapes, numbers)


class _Making:
    """Works out the sharding rule of one launch."""

    def __init__(self, plan: Plan, config: LaunchConfig, avals: Sequence[Any]) -> None:
        """Analyse the launch of `plan` and `config`, whose operands have the types `avals`."""
        self.plan, self.config, self.avals = plan, config, avals
        self.wires = {w.name: w for w in plan.target.description.wires}
        self.views = dict(zip((w.name for w in self.wires.values() if w.view), config.views, strict=True))
        self.known: Partition = partition(plan.code.function(), launch_sizes(plan, config))
        # The launch gets the letters that loops are written with.
        self.letters = iter([*"ijklmnopqrstuvwxyzacdefgh", *(f"z{n}" for n in range(10_000))])
        self.reasons: dict[Buffer, Reason] = {}
        self.merged: dict[int, dict[str, str]] = {}
        self.cuts: dict[Part, Cut] = {}
        self.halos: dict[Buffer, Halo] = {}
        self.spans: dict[str, tuple[int, int]] = {}
        self.extra: dict[Part, int] = {}
        self.rings: dict[str, int] = {}

    def rule(self) -> Rule:
        """Return the rule: what each dimension of the launch divides, with halos, and why other axes stay whole.

        With effects or symbolic sizes nothing is divided.
        """
        config = self.config
        if config.effect or config.is_symbolic:
            why = "the launch has effects" if config.effect else "its sizes are not known"
            return self._rule((), [""] * len(config.dims), {}, Reason(why))
        batch = ("b",) if len(config.batch) == 1 else tuple(f"b{n}" for n in range(len(config.batch)))
        names = [next(self.letters) for _ in config.dims]
        factors: dict[Buffer, str] = {}
        for position, dimension in enumerate(self.known.dimensions):
            why, buffers = self._refused(position, dimension), self._buffers(dimension.axes)
            if why is not None:
                self.reasons = {**dict.fromkeys(buffers, why), **self.reasons}
                continue
            factors |= dict.fromkeys(buffers, names[position])
            lengths = {Part(name, axis): self._shape(name)[axis] for name, axis in dimension.axes.items()}
            size = config.dims[position]
            self.extra |= {part: has - size for part, has in lengths.items() if has != size}
            if dimension.ring:
                reach = [max(h[end] for h in (Halo(0, 0), *dimension.halos.values())) for end in (0, 1)]
                self.rings[names[position]] = sum(reach)
            if not any(name in self.views for name in dimension.axes):
                self.spans[names[position]] = min(size, *lengths.values()), max(size, *lengths.values())
            for name, axis in dimension.axes.items():
                halo = dimension.halos.get(name, Halo(0, 0))
                self.cuts[Part(name, axis)] = Cut(position, halo.before)
                rows = self._row(name)
                for buffer in self._buffers({name: axis}) if name in dimension.halos else ():
                    self.halos[buffer] = halo._replace(before=halo.before * rows, after=halo.after * rows)
            for name, kind in dimension.merged.items():
                self.merged.setdefault(self.wires[name].result, {})[names[position]] = kind
        for part, why in self.known.unbounded.items():
            for buffer in self._buffers({part.array: part.axis}):
                self.reasons.setdefault(buffer, why)
        names = [n if n in factors.values() else "" for n in names]
        return self._rule(batch, names, factors, Reason("no thread's index is its subscript"))

    # ---- what may be divided

    def _refused(self, position: int, dimension: Dimension) -> Reason | None:
        """Return why a dimension of the launch is not divided; None if it may be."""
        if dimension.refused is not None:
            return dimension.refused
        for name, axis in dimension.axes.items():
            if name in self.views and (axis or not self._is_whole(name)):
                return Reason(f"{name} is a part of an array, or divided within its rows")
        size = self.config.dims[position]
        cut = set(self._buffers(dimension.axes))
        if not cut:
            return Reason("no array has its index as a subscript")
        for name, axis in dimension.axes.items():
            has = self._shape(name)[axis]
            # Staggered grids are padded; if most of a part were padding, other devices would have nothing to do.
            if has != size and (name in self.views or max(has, size) >= 2 * min(has, size)):
                return Reason(f"{name} has {has} elements along it, and the launch {size}")
            if has != size and dimension.ring:
                return Reason(f"indices wrap around the launch, and {name} has another size")
        return self._shared() or self._unmergeable(dimension)

    def _shared(self) -> Reason | None:
        """Return the reason that two parameters that the kernel accesses are one memory; None if no two are."""
        seen: dict[tuple[str, int], str] = {}
        for name in self.known.accessed:
            for role, position in memories(self.wires[name]):
                if seen.setdefault((role, position), name) != name:
                    return Reason(f"{seen[role, position]} and {name} are one array")
        return None

    def _unmergeable(self, dimension: Dimension) -> Reason | None:
        """Return why the parts of a dimension's results cannot be merged; None if they can."""
        for name, kind in dimension.merged.items():
            wire = self.wires[name]
            if wire.result < 0:
                return Reason(f"{name} is not a result")
            # A minimum of minima is one whatever each began with; a sum would count its beginning once per device.
            if kind == "add" and not _begins_as_zeros(wire):
                return Reason(f"{name} is added to, and does not begin as zeros")
        for name, halo in dimension.halos.items():
            if halo.added and not _begins_as_zeros(self.wires[name]):
                return Reason(f"{name} is added to at other elements, and does not begin as zeros")
        return None

    # ---- buffers

    def _shape(self, name: str) -> Shape:
        """Return the shape of a parameter: of its view, else of its result or operand, without batch axes."""
        wire = self.wires[name]
        if wire.view:
            return self.views[name][1 : 1 + wire.view]
        return self.config.results[wire.result] if wire.result >= 0 else self.config.operands[wire.operand]

    def _is_whole(self, name: str) -> bool:
        """Return whether a view is all of its memory, row by row: then a part of the rows is a part of the memory."""
        wire, (offset, *rest) = self.wires[name], self.views[name]
        shape, strides, size = rest[: wire.view], rest[wire.view :], wire.type.size
        dense = [size * math.prod(shape[n + 1 :]) for n in range(wire.view)]
        held = self.config.results[wire.result] if wire.result >= 0 else self.config.operands[wire.operand]
        covers_memory = math.prod(shape) * size == math.prod(held) * number_type(wire.type).size
        return offset == 0 and strides == dense and covers_memory

    def _row(self, name: str) -> int:
        """Return how many elements of a memory are one row of its view; 1 for a parameter that is no view."""
        return math.prod(self.views[name][2 : 1 + self.wires[name].view]) if name in self.views else 1

    def _buffers(self, axes: Mapping[str, int]) -> list[Buffer]:
        """Return the operands and results that hold these axes of parameters; a view's first axis is its memory's."""
        inside = {name: axis for name, axis in axes.items() if axis == 0 or name not in self.views}
        return [(role, n, axis) for name, axis in inside.items() for role, n in memories(self.wires[name])]

    def _extra(self, lengths: Mapping[Part, int]) -> dict[Part, int]:
        """Return by how much axes are longer than the launch, also those of which only the size is used."""
        used = {p: self._shape(p.array)[p.axis] - self.config.dims[n] for p, n in lengths.items()}
        return {part: n for part, n in (self.extra | used).items() if n}

    def _rule(self, batch: Axes, dims: Sequence[str], factors: Mapping[Buffer, str], otherwise: Reason) -> Rule:
        """Return the rule from the factors of axes; an axis without one gets a factor of its own, which stays whole.

        Args:
            batch: factors of the batch axes.
            dims: of the launch's dimensions; empty for one that is not divided.
            factors: of axes, by operand or result.
            otherwise: why an axis stays whole for which nothing else is known.
        """
        config, needed_whole, together = (
            self.config,
            {},
            Reason("each device updates all of it, and the parts are put together"),
        )
        count = len(config.batch)

        def axes(role: str, position: int, shape: Shape) -> Axes:
            axes_list = []
            for axis, size in enumerate(shape):
                # An operand that does not vary along a batch axis has the size 1 there.
                shared = axis < count and size == config.batch[axis]
                factor = batch[axis] if batch and shared else factors.get((role, position, axis - count), "")
                if not factor:
                    factor = next(self.letters)
                    why = together if role == "result" and position in self.merged else otherwise
                    needed_whole[factor] = self.reasons.get((role, position, axis - count), why)
                axes_list.append(factor)
            return tuple(axes_list)

        operands = tuple(axes("operand", n, tuple(a.shape)) for n, a in enumerate(self.avals))
        results = tuple(axes("result", n, (*config.batch, *s)) for n, s in enumerate(config.results))
        sizes = dict(zip(batch, config.batch, strict=False))
        sizes |= {f: n for f, n in zip(dims, config.dims, strict=True) if f}
        first = {name: (*memories(self.wires[name])[0], 0) for name in self.views}
        viewed = tuple(
            (factors.get(b, ""), sum(self.halos.get(b, Halo(0, 0))[:2]) // self._row(n)) for n, b in first.items()
        )
        lengths = {
            part: dims.index(factors[buffer])
            for part in self.known.sizes
            for buffer in self._buffers({part.array: part.axis})
            if buffer in factors
        }
        numbered = any(d.numbered and f for d, f in zip(self.known.dimensions, dims, strict=False))
        return Rule(
            operands, results, batch, tuple(dims), viewed, sizes, self.merged, needed_whole, numbered or bool(lengths),
            lengths, self.cuts, self.halos, self.spans, self._extra(lengths), self.rings,
        )  # fmt: skip


def _begins_as_zeros(wire: Wire) -> bool:
    """Return whether a parameter is a result that is filled with 0 before the launch."""
    return wire.operand < 0 and wire.fill is not None and wire.fill == 0


def memories(wire: Wire) -> list[tuple[str, int]]:
    """Return the buffers of a parameter as ("operand", number) and ("result", number); empty for a static value."""
    roles = [("operand", wire.operand)] if wire.operand >= 0 else []
    return [*roles, ("result", wire.result)] if wire.result >= 0 else roles
