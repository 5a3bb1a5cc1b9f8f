"""`t[i]` where i differs between the threads of a block: an element for each thread, read or written."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from workbench.builtins import tile_algorithms
from workbench.builtins.declaration.declare import TABLE, Form
from workbench.frontend.functions import library
from workbench.frontend.state.coerce import apply, fill, stored, usable
from workbench.frontend.state.context import Context, is_thread
from workbench.frontend.state.operands import Literal, Operand, value_of
from workbench.ir.ops import AXES, SHAPE
from workbench.ir.tiles import tile_of
from workbench.ir.values import Value
from workbench.source import nodes_of
from workbench.tiles import Tile, is_tile, shown
from workbench.types import is_float

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
    gathered = value_of(library.call(context, _differentiable(tile_algorithms.gather, tile), [tile, indices]))
    return gathered


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
