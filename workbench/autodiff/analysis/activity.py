"""Activity analysis: values that depend on a float parameter or element and influence an effect need a cotangent.

Differentiable dependence is a graph on float values (through loops: carried values depend on themselves). A value is
active where a source reaches it and it reaches a sink. A cast to an integer, a comparison and a builtin whose rule
says None cut the graph, so what is behind them needs no rule and no stored value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from workbench.builtins import TABLE, Builtin, Ref
from workbench.ir.attributes import ADJOINTS
from workbench.ir.build import Builder
from workbench.ir.ops import EFFECTS, READS
from workbench.ir.values import Block, Function, Op, Value, is_opaque, walk
from workbench.types import ArrayType, Scalar, Type, Vector, element, is_float

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
