"""Lines about per-thread values: each is one map over the threads of the block.

A statement that names a per-thread value and does nothing to tiles is lowered as in a kernel that runs once per thread,
inside a map whose elements are those values. So it may branch, loop, index arrays, call funcs; what it assigns is
per-thread afterwards. An expression given to an operation on tiles, `tile(x[i])`, is treated alike.

So is `t[i]` where i differs between the threads of a block: an element for each thread, read or written.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import Any

import msgspec

from workbench.builtins import tile_algorithms
from workbench.builtins.declaration.declare import TABLE, Form
from workbench.frontend.functions import library
from workbench.frontend.names.python_names import callee
from workbench.frontend.state.coerce import apply, fill, materialise, stored, usable
from workbench.frontend.state.context import Context, Env, is_thread
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.operands import POISON, Literal, Operand, Parts, Poison, Static, Unset, value_of
from workbench.frontend.state.paths import assigned, flags, is_same
from workbench.ir.ops import AXES, SHAPE
from workbench.ir.tiles import tile_of
from workbench.ir.values import Value
from workbench.source import nodes_of
from workbench.tiles import Tile, is_tile, shown
from workbench.types import ArrayType, is_float

Lower = Callable[[Context, ast.expr], "Operand"]


def is_element(context: Context, node: ast.AST) -> bool:
    """Return whether a node is `t[i]`, of a tile with a name, where i names what differs between threads."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    tile = context.env.get(node.value.id)
    return is_tile(tile) and not is_thread(tile) and _differs(context, node.slice)


def _differs(context: Context, node: ast.expr) -> bool:
    """Return whether an expression reads a name whose value differs between the threads of a block."""
    return any(isinstance(n, ast.Name) and is_thread(context.env.get(n.id)) for n in nodes_of(node))


def element_indices(context: Context, tile: Value, node: ast.expr) -> Value | None:
    """Return the numbers of the elements that `t[node]` means, row by row; None if they do not differ between threads.

    Raises:
        KernelTypeError: it is a part of the tile.
    """
    if not _differs(context, node):
        return None
    type: Tile = tile.type  # type: ignore[assignment]
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    if len(nodes) != type.ndim or any(isinstance(n, ast.Slice) for n in nodes):
        shape = shown(type.shape)
        message = f"Indices that differ between threads choose elements, so a tile of shape {shape} takes {type.ndim}."
        raise context.type_error(message)
    return value_of(number_of(context, type, nodes))


def number_of(context: Context, type: Tile, nodes: Sequence[ast.expr], lower: Lower = Context.lower) -> Operand:
    """Emit the number of the element of a tile that has these indices, row by row."""
    number: Operand = Literal(0)
    for written, size in zip(nodes, type.shape, strict=True):
        with context.at(written):
            index = from_begin(context, usable(context, lower(context, written)), size)
            number = apply(context, TABLE["add"], (apply(context, TABLE["mul"], (number, Literal(size))), index))
    return number


def from_begin(context: Context, index: Operand, size: int) -> Operand:
    """Emit an index counted from the beginning; one that is below 0 counts from the end of `size` elements."""
    if index in context.shared.non_negative or (isinstance(index, Literal) and index.value >= 0):
        return index
    above = apply(context, TABLE["add"], (index, Literal(size)))
    return apply(context, TABLE["where"], (apply(context, TABLE["lt"], (index, Literal(0))), above, index))


def _shaped(context: Context, tile: Value, *shape: int) -> Value:
    """Emit a reshape of a tile to these sizes."""
    type: Tile = tile.type  # type: ignore[assignment]
    return context.builder.one("tile_reshape", (tile,), Tile(type.dtype, shape), {SHAPE: shape})


def taken(context: Context, tile: Value, indices: Value) -> Value:
    """Emit the reading of each thread's element of a tile, by the elements' numbers; return a per-thread value."""
    type: Any = indices.type
    rows = _rows(context, _shaped(context, tile, tile.type.count, 1), _shaped(context, indices, type.count))  # type: ignore[union-attr]
    return stored(_shaped(context, rows, type.count), "thread")


def _rows(context: Context, tile: Value, indices: Value) -> Value:
    """Emit a gather of rows of a tile of two dimensions, by a tile of their numbers; return the tile of rows."""
    return value_of(library.call(context, _differentiable(tile_algorithms.gather, tile), [tile, indices]))


def _differentiable(form: Form, tile: Value) -> Form:
    """Return the form; without its gradients if the tile's elements are no floats."""
    return form if is_float(tile.type.dtype) else replace(form, gradients=[])  # type: ignore[union-attr]


def take_along_axis(context: Context, tile: Value, axis: int, indices: Value) -> Value:
    """Emit a tile of the parts of a tile that have these numbers along an axis."""
    type: Any = tile.type
    order = (axis, *(a for a in range(type.ndim) if a != axis))
    back = tuple(order.index(a) for a in range(type.ndim))
    turned = _turned(context, tile, order)
    others = tuple(type.shape[a] for a in order[1:])
    rows = _rows(context, _shaped(context, turned, type.shape[axis], prod(others)), indices)
    return _turned(context, _shaped(context, rows, indices.type.shape[0], *others), back)  # type: ignore[union-attr]


def _turned(context: Context, tile: Value, axes: tuple[int, ...]) -> Value:
    """Emit a transposition of a tile with its axes in this order; the tile itself if they are in order already."""
    type: Any = tile.type
    if axes == tuple(range(type.ndim)):
        return tile
    shape = tuple(type.shape[a] for a in axes)
    return context.builder.one("tile_transpose", (tile,), Tile(type.dtype, shape), {AXES: axes})


def put(context: Context, tile: Value, indices: Value, value: Value) -> Value:
    """Emit a tile with each thread's value in place of an element, by numbers; of two for one the later thread's."""
    type: Any = tile.type
    count = tile_of(indices).count
    values = value if is_tile(value) else fill(context, (count,), value, "register")
    operands = [
        _shaped(context, tile, type.count, 1),
        _shaped(context, indices, count),
        _shaped(context, values, count, 1),
    ]
    changed = value_of(library.call(context, _differentiable(tile_algorithms.scatter, tile), operands))
    return _shaped(context, changed, *type.shape)


def split(context: Context, node: ast.stmt) -> list[ast.stmt]:
    """Return the statements that stand for `t[i] = v`, `t[i].x = v` and `t[i] += v`; none for any other statement.

    What is assigned is computed first, by each thread; then elements are put into the tile.
    """
    if context.shared.tiling is None or context.shared.lifted or not isinstance(node, (ast.Assign, ast.AugAssign)):
        return []
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    element = target
    while isinstance(element, (ast.Attribute, ast.Subscript)) and not is_element(context, element):
        element = element.value
    if not is_element(context, element) or (isinstance(node, ast.Assign) and len(node.targets) > 1):
        return []
    assert isinstance(element, ast.Subscript)
    if getattr(node, "is_split", False):  # the last of the statements that were returned for another one
        return []
    value, whole_name = (f"lane.{node.lineno}.{node.col_offset}.{k}" for k in range(2))
    held: list[ast.stmt] = [ast.Assign([ast.Name(value, ast.Store())], node.value)]
    last: ast.expr = ast.Name(value, ast.Load())
    if element is not target or isinstance(node, ast.AugAssign):
        read = ast.Subscript(copy.deepcopy(element.value), copy.deepcopy(element.slice), ast.Load())
        changed = copy.deepcopy(node)
        changed.value = last
        part = changed.target if isinstance(changed, ast.AugAssign) else changed.targets[0]
        part = _renamed(part, element, whole_name)
        if isinstance(changed, ast.AugAssign):
            changed.target = part  # type: ignore[assignment]
        else:
            changed.targets = [part]
        held += [ast.Assign([ast.Name(whole_name, ast.Store())], read), changed]
        last = ast.Name(whole_name, ast.Load())
    store = ast.Subscript(element.value, element.slice, ast.Store())
    statements: list[ast.stmt] = [*held, ast.Assign([store], last)]
    for statement in statements:
        for part in nodes_of(statement):
            ast.copy_location(part, node)
    statements[-1].is_split = True  # type: ignore[attr-defined]
    return statements


def _renamed(target: ast.expr, element: ast.Subscript, name: str) -> ast.expr:
    """Return the target with a name in the place of the element that it is, or is a part of."""
    if ast.dump(target) == ast.dump(element) or not isinstance(target, (ast.Attribute, ast.Subscript)):
        return ast.Name(name, ast.Store())
    target.value = _renamed(target.value, element, name)
    return target


def wants_lifting(context: Context, node: ast.AST) -> bool:
    """Return whether the statement or expression is about per-thread values, and about no other tiles.

    It is False in a kernel without tiles, and inside a map.
    """
    if context.shared.tiling is None or context.shared.lifted:
        return False
    used = _used(context, node)
    if not any(is_thread(context.env[n]) for n in used):
        return False
    others = any(is_tile(context.env[n]) and not is_thread(context.env[n]) for n in used)
    # A line with both kinds cannot be one map: operations on tiles need the whole block, and in a map each element
    # stands alone.
    return not others and not uses_tiles(context.definition, node)


class _Hoist(ast.NodeTransformer):
    """Computes operations on tiles before their statement, and puts names in their place.

    Those that may not be computed at all, as in a conditional expression, are left alone.

    Attributes:
        context: of the statement; its `env` gets the names.
        names: those that were added, in order.
    """

    def __init__(self, context: Context) -> None:
        """Prepare to visit one statement of `context`."""
        self.context = context
        self.names: list[str] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace a call of an operation on tiles by the name of its result."""
        if not _is_tile_call(self.context.definition, node):
            return self.generic_visit(node)
        return self._named(node)

    def _named(self, node: ast.expr) -> ast.AST:
        """Lower an expression, bind its operand to a new local name `tile.<n>`, and return a read of that name."""
        # The dot keeps the name out of reach: no Python identifier has one.
        name = f"tile.{len(self.names)}"
        self.context.env[name] = self.context.lower(node)
        self.names.append(name)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Replace a read of an element of a tile for each thread by the name of the result."""
        if not (isinstance(node.ctx, ast.Load) and is_element(self.context, node)):
            return self.generic_visit(node)
        return self._named(node)

    # These choose what is evaluated, per thread; hoisted, an operation on tiles would run, and fault, where Python runs
    # nothing.
    def visit_IfExp(self, node: ast.expr) -> ast.AST:
        """Leave the node as it is."""
        return node

    visit_BoolOp = visit_IfExp


def hoisted(context: Context, node: ast.stmt) -> tuple[ast.stmt, list[str]]:
    """Compute the operations on tiles in an assignment before it; return it with names in their place, and the names.

    So `y[i] = v / tile_sum(tile(v))` is about per-thread values and numbers of the block. Any other statement is
    returned as it is, without names.
    """
    simple = isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign))
    if not simple or context.shared.tiling is None or context.shared.lifted:
        return node, []
    value = node.value
    stores = isinstance(node.targets[0] if isinstance(node, ast.Assign) else node.target, ast.Subscript)  # type: ignore[union-attr]
    is_tile_call = not stores and isinstance(value, ast.Call) and _is_tile_call(context.definition, value)
    elements = any(is_element(context, n) for n in nodes_of(node))
    if is_tile_call or value is None or not (elements or uses_tiles(context.definition, node)):
        return node, []
    hoist = _Hoist(context)
    # A copy: the syntax tree is lowered again for other types, and once more if the first attempt unwinds.
    return hoist.visit(copy.deepcopy(node)), hoist.names


def _is_tile_call(definition: Definition, node: ast.Call) -> bool:
    """Return whether a call is of a tile form, of `untile` or `tid`, or of a func that uses tiles."""
    value = callee(definition, node)
    if isinstance(value, Form):
        return value.name.startswith("tile") or value.name in ("untile", "tid")
    return any(uses_tiles(inner, inner.node) for inner in getattr(value, "__wb_definitions__", ()))


def uses_tiles(definition: Definition, node: ast.AST, seen: tuple[Definition, ...] = ()) -> bool:
    """Return whether a node has a call of an operation on tiles or of `tid`, here or in a func that is called."""
    for call in nodes_of(node):
        if not isinstance(call, ast.Call):
            continue
        value = callee(definition, call)
        if isinstance(value, Form) and (value.name.startswith("tile") or value.name in ("untile", "tid")):
            return True
        for inner in getattr(value, "__wb_definitions__", ()):
            # Funcs that call each other are refused later with a message of their own; here they must only end.
            if inner not in seen and uses_tiles(inner, inner.node, (*seen, inner)):
                return True
    return False


def _used(context: Context, node: ast.AST) -> list[str]:
    """Return the local names in a node, with those of a struct's fields."""
    roots = dict.fromkeys(n.id for n in nodes_of(node) if isinstance(n, ast.Name))
    return [k for k in context.env if k in roots or k.split(".")[0] in roots]


def statement(context: Context, node: ast.stmt, lower: Callable[[Context, Any], None]) -> None:
    """Lower a statement by `lower` in one map over a block's threads; what it assigns becomes per-thread."""
    before = dict(context.env)
    names: list[str] = []

    def make() -> Sequence[Value]:
        lower(context, node)
        values, after = _assigned(context, before, [*assigned([node]), *flags(node, context.results)])
        # Filled while the map is built, read after it: the environment inside the map is dropped with the map.
        outer.update(after)
        names.extend(values)
        return [values[n] for n in names]

    outer: Env = {}
    results = _lifted(context, _used(context, node), make, names)
    context.env.clear()
    # What was assigned inside refers to elements of the map, which do not exist outside; only its results do.
    context.env.update(before | outer)
    for name, result in zip(names, results, strict=True):
        context.env[name] = result


def expression(
    context: Context, node: ast.expr, lower: Callable[[Context, ast.expr], Operand] = Context.lower
) -> Operand:
    """Lower an expression by `lower`; in a map over a block's threads where it is about per-thread values."""
    # A bare name would become a map that copies it, and a tuple is looked at part by part.
    if isinstance(node, (ast.Name, ast.Tuple)) or not wants_lifting(context, node):
        return lower(context, node)
    before = dict(context.env)
    results = _lifted(context, _used(context, node), lambda: [materialise(context, context.lower(node))], [])
    context.env.clear()
    context.env.update(before)
    return results[0]


def _lifted(
    context: Context, used: Sequence[str], make: Callable[[], Sequence[Value]], names: list[str]
) -> list[Value]:
    """Emit one map over the threads of a block, in which per-thread names are their elements.

    Args:
        context: where.
        used: the names that are read.
        make: emits what is done for one thread; returns the values that the map yields.
        names: for messages, those of the results; filled when `make` has run.

    Returns:
        A per-thread value for each value of `make`.
    """
    tiling = context.shared.tiling
    assert tiling is not None
    named = {n: context.env[n] for n in used if is_thread(context.env[n])}
    # Two names of one value share an operand; `dict.fromkeys` keeps the order, which the cache key sees.
    tiles = list(dict.fromkeys(named.values()))
    positive = context.shared.non_negative
    lifted: list[Value] = []

    def element(indices: Sequence[Value], elements: Sequence[Value]) -> Sequence[Value]:
        inside = dict(zip(tiles, elements, strict=True))
        positive.update(e for t, e in inside.items() if t in positive)
        for name, tile in named.items():
            context.env[name] = inside[tile]
        with _lifting(context):
            lifted.extend(make())
        return lifted

    before = dict(context.env)
    try:
        results = context.builder.tile_map((tiling.block_dim,), tiles, element)  # type: ignore[arg-type]
    finally:
        context.env.clear()
        context.env.update(before)
    # Known to be non-negative, an index needs no test for counting from the end; the knowledge crosses the map both
    # ways.
    positive.update(r for r, v in zip(results, lifted, strict=True) if v in positive)
    for name, result in zip(names, results, strict=False):
        # Values are frozen; the name is only for messages and generated code, and is not known before the map is built.
        msgspec.structs.force_setattr(result, "name", name if name.isidentifier() else "")
    return [stored(r, "thread") for r in results]


@contextmanager
def _lifting(context: Context) -> Generator[None]:
    """Set `context.shared.lifted` inside the context, and clear it behind it."""
    context.shared.lifted = True
    try:
        yield
    finally:
        context.shared.lifted = False


def _assigned(context: Context, before: Env, roots: Sequence[str]) -> tuple[dict[str, Value], Env]:
    """Return what assigned names are at the end of a lifted statement: values to yield, and known operands.

    A name is assigned if it, or the struct that it is a field of, is among `roots`, and it is not what it was
    `before`.

    Raises:
        KernelTypeError: one is a tuple or an array, which cannot leave the statement.
    """
    values: dict[str, Value] = {}
    known: Env = {}
    for name in [k for k in context.env if k in roots or k.split(".")[0] in roots]:
        operand = context.env[name]
        if name in before and is_same(before[name], operand):
            continue
        if isinstance(operand, Value) and not isinstance(operand.type, ArrayType):
            values[name] = operand
        elif isinstance(operand, Unset):
            # Assigned on some paths only: after the line that is still so, with the same explanation.
            known[name] = Unset(operand.reason)
        elif isinstance(operand, (Literal, Static, Parts, Poison)):
            known[name] = operand
        elif isinstance(operand, tuple) or name in before or not hasattr(operand, "type"):
            # Tuples, arrays and views are not elements that a map could yield, so they cannot leave the line.
            raise _kept_inside(context, name)
        else:
            known[name] = Unset(_INSIDE.format(name=name))
    known.update((n, POISON) for n, o in context.env.items() if isinstance(o, Poison) and n in roots)
    return values, known


_INSIDE = "{name} depends on the thread and is not a number or vector, so it is known on its own line alone."


def _kept_inside(context: Context, name: str) -> Exception:
    """Return the error for a name assigned on a lifted line to something that only that line can use."""
    return context.type_error(_INSIDE.format(name=name), "Write the whole expression on one line.")
