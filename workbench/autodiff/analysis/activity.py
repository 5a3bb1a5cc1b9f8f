"""Dependence: values that need cotangents, and paths from elements of one array to those of another.

**Activity analysis.** Values that depend on a float parameter or element and influence an effect need a cotangent.
Differentiable dependence is a graph on float values (through loops: carried values depend on themselves). A value is
active where a source reaches it and it reaches a sink. A cast to an integer, a comparison and a builtin whose rule says
None cut the graph, so what is behind them needs no rule and no stored value.

**Paths** from elements of one array to those of another have the fewest cuts. A derivative flows along the edges of
activity. Values flow along others too, where it is cut: casts to integers, comparisons, indices, conditions, builtins
whose rule says None. The cuts on the way say why a gradient is zero.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache

import msgspec

from workbench.builtins import TABLE, Builtin, Ref
from workbench.ir.build import Builder
from workbench.ir.ops import ADJOINTS, EFFECTS, READS
from workbench.ir.values import Block, Function, Op, Value, is_opaque, walk
from workbench.types import ArrayType, Scalar, Type, Vector, element, is_float
from workbench.types import bool as bool_

Edge = tuple[Value, Value]


def active_values(function: Function, numbers: bool = True, constant: frozenset[str] = frozenset()) -> frozenset[Value]:
    """Return the values that get a cotangent: scalars, vectors and tiles of floats, never arrays.

    They depend on a source, and an effect on a float array depends on them.

    Args:
        function: a kernel.
        numbers: parameters that are no arrays are sources.
        constant: names of parameters that are no sources, nor is what is read of these arrays.
    """
    after: dict[Value, list[Value]] = defaultdict(list)
    before: dict[Value, list[Value]] = defaultdict(list)
    parameters = [p for p in function.params if not isinstance(p.type, ArrayType) and p.name not in constant]
    # Constant parameters never enter, so that whole chains behind them need neither rules nor kept values.
    sources = [p for p in parameters if numbers and is_float(p.type)]
    sinks: list[Value] = []
    for op in walk(function.body):
        for a, b in edges_of(op):
            if is_float(a.type) and is_float(b.type):
                after[a].append(b)
                before[b].append(a)
        if op.name in READS and op.results and is_float(op.result.type):
            sources += [op.result] if op.operands[0].name not in constant else []
        if op.name in EFFECTS and is_float(op.operands[0].type):
            sinks.append(op.operands[-1])
        # The derivative of an opaque func can flow through arrays that it reads and writes, which no edge shows.
        if op.name == "custom" and is_opaque(op):
            sources += op.results if any(isinstance(v.type, ArrayType) for v in op.operands) else ()
            sinks += op.operands if touches_floats(op.blocks[0]) else ()
    # Reachability both ways is linear in the edges; rules are only ever asked about the intersection.
    return frozenset(reached(sources, after) & reached(sinks, before))


def influenced(block: Block, sources: Iterable[Value]) -> frozenset[Value]:
    """Return the float values of a block that depend differentiably on the sources, the sources included."""
    after: dict[Value, list[Value]] = defaultdict(list)
    for a, b in (edge for op in walk(block) for edge in edges_of(op)):
        if is_float(a.type) and is_float(b.type):
            after[a].append(b)
    return frozenset(reached(sources, after))


def touches_floats(block: Block) -> bool:
    """Return whether the block changes elements of a float array, at any depth."""
    return any(op.name in EFFECTS and is_float(op.operands[0].type) for op in walk(block))


def reached(starts: Iterable[Value], edges: Mapping[Value, Sequence[Value]]) -> set[Value]:
    """Return the values that the edges lead to from any of `starts`, these included."""
    seen: set[Value] = set()
    pending = list(starts)
    while pending:
        value = pending.pop()
        if value not in seen:
            seen.add(value)
            pending += edges.get(value, ())
    return seen


def _operands(*indices: int) -> Callable[[Op], Iterable[Edge]]:
    """Return a function that returns an operation's edges from the operands at these positions to its result."""
    return lambda op: [(op.operands[p], op.result) for p in indices]


def _all(op: Op) -> Iterable[Edge]:
    """Return the edges of an operation from every operand to its result."""
    return [(v, op.result) for v in op.operands]


def _if(op: Op) -> Iterable[Edge]:
    """Return the edges of an operation from what each of its blocks yields to its results."""
    return [edge for block in op.blocks for edge in zip(block.yielded, op.results, strict=True)]


def _loop(op: Op) -> Iterable[Edge]:
    """Return the edges of a loop: from initial and yielded values to the carried ones and to the results."""
    body = op.blocks[-1]
    carried = len(op.results)
    edges: list[Edge] = []
    for slot, result in enumerate(op.results):
        # The edge from what is yielded back to the parameter closes the circle through the iterations.
        for origin in (op.operands[len(op.operands) - carried + slot], body.yielded[slot]):
            edges.append((origin, result))
            edges += [(origin, block.params[len(block.params) - carried + slot]) for block in op.blocks]
    return edges


def _map(op: Op) -> Iterable[Edge]:
    """Return the edges of a `tile_map`: from tiles to their elements, and from what the block yields to the results."""
    (block,) = op.blocks
    elements = block.params[len(block.params) - len(op.operands) :]
    return [*zip(op.operands, elements, strict=True), *zip(block.yielded, op.results, strict=True)]


def _custom(op: Op) -> Iterable[Edge]:
    """Return the edges of a func's call.

    They come from what its body yields or, if the body is not differentiated, from the inputs that have adjoints.
    """
    if not is_opaque(op):
        return _if(op)
    return [(op.operands[k], result) for k in op.attrs[ADJOINTS] for result in op.results]


_CORE: dict[str, Callable[[Op], Iterable[Edge]]] = {
    "cast": _all,
    "vec": _all,
    "extract": _operands(0),
    "slot_read": _operands(0),
    "slot_write": lambda op: [(op.operands[2], op.operands[0])],
    "insert": _operands(0, 2),
    "if": _if,
    "for": _loop,
    "while": _loop,
    "custom": _custom,
    "tile_map": _map,
    "tile_insert": _operands(0, -1),
    "tile_place": _operands(0, -1),
    "tile_matmul": _all,
    **dict.fromkeys(
        ("tile_extract", "tile_slice", "tile_transpose", "tile_reshape", "tile_broadcast", "tile_reduce", "tile_scan"),
        _operands(0),
    ),
}


def edges_of(op: Op) -> Iterable[Edge]:
    """Return the pairs of values (from, to) between which a derivative flows through an operation.

    Pairs with a value that is no float, between which none flows, may be among them.
    """
    if op.name in _CORE:
        return _CORE[op.name](op)
    if op.name in TABLE and is_float(op.result.type):
        used = depends(TABLE[op.name], tuple(v.type for v in op.operands), op.result.type)
        return [(v, op.result) for v, use in zip(op.operands, used, strict=True) if use]
    return ()


@cache
def depends(builtin: Builtin, operands: tuple[Type, ...], result: Type) -> tuple[bool, ...]:
    """Return, for each operand of a builtin, whether its adjoint rule gives that a cotangent.

    Without a rule it is True for all: reverse mode then meets the operation and refuses it by its line.
    """
    # Without a rule it must count as dependent: the sweep then reaches it and refuses with its line.
    if builtin.gradient is None:
        return (True,) * len(operands)
    if builtin.elementwise:
        operands, result = tuple(_component(t) for t in operands), _component(result)
    builder = Builder()
    # The rule itself is asked, on values made for the question: a table of dependences could fall out of step with it.
    cotangents = builtin.gradient(*(Ref(builder, Value(t)) for t in (result, result, *operands)))
    return tuple(g is not None for g in cotangents)


def _component(type: Type) -> Scalar:
    """Return the type of a vector's components; a scalar type itself."""
    assert isinstance(type, (Scalar, Vector))
    return element(type)


class Link(msgspec.Struct, frozen=True, eq=False):
    """A step of a path: an operation through which one value influences another, or an array.

    Attributes:
        op: the operation.
        value: the influenced value; None for a write to the array.
        cut: why no derivative flows ("cast", "comparison", "index", "condition", "builtin", "integers"); "" if one
            does.
        inside: the `if`, `for` and `while` operations around it, outermost first.
    """

    op: Op
    value: Value | None
    cut: str
    inside: tuple[Op, ...]


def shortest_path(function: Function, sources: Collection[str], targets: Collection[str]) -> tuple[Link, ...] | None:
    """Return the path with the fewest cuts from a load of a source array to a write to a target; None if there is none.

    Args:
        function: a kernel.
        sources: names of arrays.
        targets: names of arrays.
    """
    graph = _Graph(sources, targets)
    graph.block(function.body, ())
    return graph.shortest()


class _Graph:
    """The links of a function, by the value from which they start; those of loads from a source start from None.

    Attributes:
        sources: names of the arrays from whose loads paths begin.
        targets: names of the arrays at whose writes paths end.
        links: by value, the steps that lead on from it.
    """

    def __init__(self, sources: Collection[str], targets: Collection[str]) -> None:
        self.sources, self.targets = sources, targets
        self.links: dict[Value | None, list[Link]] = defaultdict(list)

    def block(self, block: Block, inside: tuple[Op, ...]) -> None:
        """Add the links of a block, also of nested ones; `inside` are the operations around it, outermost first."""
        for op in block.ops:
            self.op(op, inside)
            for inner in op.blocks:
                self.block(inner, (*inside, op))

    def op(self, op: Op, inside: tuple[Op, ...]) -> None:
        """Add the links through an operation, without those inside its blocks."""
        if op.name == "load" and op.operands[0].name in self.sources:
            self.links[None].append(Link(op, op.result, "" if is_float(op.result.type) else "integers", inside))
        if op.name in EFFECTS:
            self.effect(op, inside)
            return
        flows = dict.fromkeys((a, b) for a, b in edges_of(op) if is_float(a.type) and is_float(b.type))
        for a, b in flows:
            self.links[a].append(Link(op, b, "", inside))
        for a, b in self.others(op):
            if (a, b) not in flows:
                self.links[a].append(Link(op, b, _cut(op, b), inside))

    def others(self, op: Op) -> list[tuple[Value, Value]]:
        """Return all pairs of values of which the first may influence the second through an operation."""
        inner = [p for block in op.blocks for p in block.params]
        ends = [*op.results, *inner]
        pairs = [(a, b) for a in op.operands for b in ends]
        for block in op.blocks:
            pairs += [(a, b) for a in block.yielded for b in ends]
        return pairs

    def effect(self, op: Op, inside: tuple[Op, ...]) -> None:
        """Add the links of a write to a target array: from its value, its indices and the conditions around it."""
        if op.operands[0].name not in self.targets:
            return
        *indices, value = op.operands[1:]
        plain = is_float(value.type) and op.name != "atomic"
        self.links[value].append(Link(op, None, "" if plain else _cut(op, None), inside))
        for index in indices:
            self.links[index].append(Link(op, None, "index", inside))
        for around in inside:
            # What decides whether a write happens influences the array too, though no derivative follows.
            for condition in (*around.operands, *(v for b in around.blocks[:-1] for v in b.yielded)):
                self.links[condition].append(Link(op, None, "condition", inside))

    def shortest(self) -> tuple[Link, ...] | None:
        """Return a path with the fewest cuts from a source to a target; None if there is none."""
        best: dict[Value | None, int] = {None: 0}
        came: dict[Value, tuple[Value | None, Link]] = {}
        pending: deque[tuple[Value | None, int]] = deque([(None, 0)])
        end: tuple[int, Value | None, Link] | None = None
        while pending:
            value, cost = pending.popleft()
            # A stale entry of the queue, or one that cannot beat the way that was found.
            if cost > best[value] or (end is not None and cost >= end[0]):
                continue
            for link in self.links[value]:
                total = cost + bool(link.cut)
                if link.value is None:
                    end = (total, value, link) if end is None or total < end[0] else end
                elif total < best.get(link.value, 1 << 30):
                    best[link.value] = total
                    came[link.value] = (value, link)
                    # Costs are 0 or 1, so a deque replaces the heap of Dijkstra's algorithm (0-1 breadth-first search).
                    (pending.append if link.cut else pending.appendleft)((link.value, total))
        if end is None:
            return None
        _, value, link = end
        links = [link]
        while value is not None:
            value, link = came[value]
            links.append(link)
        return tuple(reversed(links))


def _cut(op: Op, result: Value | None) -> str:
    """Return why no derivative flows through an operation, as `Link.cut` says it; `result` is None for a write."""
    if op.name in _CUTS:
        return _CUTS[op.name]
    if op.name in TABLE:
        return "comparison" if result is not None and result.type == bool_ else "builtin"
    return "integers"


_CUTS = {
    "cast": "cast", "load": "index", "extract": "index", "insert": "index", "if": "condition", "for": "condition",
    "while": "condition", "atomic": "builtin",
}  # fmt: skip
