"""Changes of some components of an element in the place of changes of all of it.

`v[0].x = a` is in IR the load of a vector, an `insert` and a store, and `v[0].x += a` adds a vector that is zero in all
components but x. That is right for one thread, but would overwrite another thread's y. So what a store puts back as it
was loaded is not stored, and zeros are not added. Where no other thread can touch an element, whole vectors are faster.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.deep import with_deep_stack
from workbench.ir.build import Builder, Rewriter, rewrite
from workbench.ir.ops import EFFECTS, OPAQUE, REDUCTION, VALUE
from workbench.ir.values import Block, Function, Op, Value, component_of, definitions, number_of, vector_of, walk
from workbench.passes.memory.atomics import owned_arrays
from workbench.types import Vector, int32

Part = tuple[Value | int, Value]
"""The number of a component, as a literal or an integer value; and what is stored or added there."""


@with_deep_stack
def by_component(function: Function) -> Function:
    """Return the function with changes of some components of elements confined to these; itself if there are none.

    Arrays whose elements no other thread accesses are left alone.
    """
    vectors = [op for op in walk(function.body) if op.operands and isinstance(op.operands[-1].type, Vector)]
    if not any(op.name in ("store", "atomic_add") for op in vectors):
        return function
    owned = owned_arrays(function)
    defs = definitions(function.body)
    used = {v for op in walk(function.body) for v in op.operands}
    loaded = dict[Op, Op]()
    _last_loads(function.body, defs, loaded)
    changes = dict[Op, list[Part]]()
    for op in vectors:
        if op.operands[0] not in owned:
            parts = _parts(op, defs, used, loaded)
            if parts is not None:
                changes[op] = parts

    return _rewritten(function, changes) if changes else function


def _rewritten(function: Function, changes: dict[Op, list[Part]]) -> Function:
    """Return the function with these operations replaced by changes of components."""

    def change(on: Rewriter, op: Op) -> Iterable[Op] | None:
        return _written(op, changes[op]) if op in changes else None

    return rewrite(function, change)


def _parts(op: Op, defs: dict[Value, Op], used: set[Value], loaded: dict[Op, Op]) -> list[Part] | None:
    """Return the components that the operation changes, in order; None if it changes, or may change, all of them."""
    if op.name == "store" and op in loaded:
        return _inserted(op.operands[-1], loaded[op].result, defs)
    plain = op.name == "atomic_add" and component_of(op) is None and not op.attrs.get(REDUCTION)
    return _added(op.operands[-1], defs) if plain and used.isdisjoint(op.results) else None


def _inserted(value: Value, base: Value, defs: dict[Value, Op]) -> list[Part] | None:
    """Return the components that were inserted into `base` to get a value, in order; None if it has another origin."""
    parts: list[Part] = []
    while value is not base:
        op = defs.get(value)
        if op is None or op.name != "insert":
            return None
        value, where, part = op.operands
        parts.append((where, part))
    return parts[::-1]


def _added(value: Value, defs: dict[Value, Op]) -> list[Part] | None:
    """Return the components of a vector that are not zero; None if it may be any."""
    parts = dict[int, Value]()
    op = defs.get(value)
    if op is not None and op.name == "insert" and _is_zero(defs.get(op.operands[0])):
        return [op.operands[1:]]  # type: ignore[list-item]
    while op is not None and op.name == "insert":
        where = defs.get(op.operands[1])
        if where is None or where.name != "const":
            return None
        parts.setdefault(int(number_of(where)), op.operands[2])
        op = defs.get(op.operands[0])
    return sorted(parts.items()) if _is_zero(op) else None


def _is_zero(op: Op | None) -> bool:
    """Return whether an operation is the constant vector of zeros; False for None."""
    return op is not None and op.name == "const" and not any(op.attrs[VALUE])  # type: ignore[arg-type]


def _written(op: Op, parts: list[Part]) -> list[Op]:
    """Return operations that each do to one component what an operation does to the element."""
    on, type = Builder(), vector_of(op.operands[-1])
    on.location = op.location
    for where, part in parts:
        # Looked up, so that with checks an index that is out of range is reported, and no memory outside touched.
        numbers = on.const(tuple(range(type.length)), type.with_dtype(int32))
        at = on.const(where) if isinstance(where, int) else on.one("extract", (numbers, where), int32)
        results = (Value(part.type),) if op.results else ()
        on.append(op.replace((*op.operands[:-1], at, part), results=results))
    return list(on.body().ops)


def _last_loads(block: Block, defs: dict[Value, Op], loaded: dict[Op, Op]) -> None:
    """Record for each store the load of the same element before it, if both are in one block with no effect between.

    Args:
        block: the block; those nested in it are looked through, too.
        defs: the operation that defines each value; not used.
        loaded: receives the load, by store.
    """
    fresh = dict[tuple[Value, ...], Op]()
    for op in block.ops:
        for inner in op.blocks:
            _last_loads(inner, defs, loaded)
        if op.name == "load":
            fresh[op.operands] = op
        elif op.name == "store" and op.operands[:-1] in fresh:
            loaded[op] = fresh[op.operands[:-1]]
        every = [op, *(o for inner in op.blocks for o in walk(inner))]
        if any(o.name in EFFECTS or o.name in OPAQUE for o in every):
            fresh.clear()
