"""Lists of a function's own: `row = [0.0] * 4`, `grid = [[0] * 3 for _ in range(3)]`.

Nothing can tell such a list from a tuple, a vector or a matrix as long as it has one name that is only indexed, looped
over, searched with `in` or given to `len sum min max any all`. So that is what it is: a list whose elements are
assigned is a vector, or a matrix if they are lists; any other one is a tuple, or a matrix. Another use, which would let
two names change one list, is refused at that use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

import msgspec

from workbench.builtins.declaration.rules import common_type
from workbench.frontend.expressions import tuples
from workbench.frontend.state.coerce import convert, describe, weak
from workbench.frontend.state.context import Context, Expression
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.operands import Literal, Operand
from workbench.ir.values import Value
from workbench.limits import UNROLLED_SEQUENCE
from workbench.source import nodes_of
from workbench.types import Matrix, Scalar, Vector, strong

_READERS = frozenset(("len", "sum", "min", "max", "any", "all", "prod", "enumerate", "zip", "reversed", "tuple"))


class Uses(msgspec.Struct, frozen=True):
    """The uses of a list by its name in a function.

    Attributes:
        changed: an element is assigned somewhere.
        by_element: whether lists in it are only indexed in turn: `grid[i][j]`, `len(grid[i])`.
        stray: the first use that could change the list behind its name; None if there is none.
    """

    changed: bool
    by_element: bool
    stray: ast.AST | None


def is_display(node: ast.expr) -> bool:
    """Return whether an expression is a list: `[a, b]`, `[0.0] * n`, `n * [0.0]` or a list comprehension."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return is_display(node.left) or is_display(node.right)
    return isinstance(node, (ast.List, ast.ListComp))


def uses(definition: Definition, name: str) -> Uses:
    """Return how a function uses the list with this name; all functions' uses are in the text of `definition`."""
    changed, by_element = False, True
    stray: ast.AST | None = None
    indexed = {id(n.value) for n in definition.nodes if isinstance(n, ast.Subscript)}
    measured = {id(a) for n in definition.calls if _is_reader(n, ("len",)) for a in n.args}
    for parent, child in _mentions(definition, name):
        if isinstance(parent, ast.Subscript) and child is parent.value:
            changed |= isinstance(parent.ctx, ast.Store)
            by_element &= id(parent) in indexed or id(parent) in measured
            for outer in (n for n in definition.nodes if isinstance(n, ast.Subscript) and n.value is parent):
                changed |= isinstance(outer.ctx, ast.Store)
            if not isinstance(parent.slice, ast.Slice) or isinstance(parent.ctx, ast.Load):
                continue
        elif isinstance(parent, ast.Call) and child in parent.args and _is_reader(parent, _READERS):
            by_element &= id(child) in measured
            continue
        elif isinstance(parent, (ast.For, ast.comprehension)) and child is parent.iter:
            by_element = False
            continue
        elif isinstance(parent, ast.Compare) and isinstance(parent.ops[-1], (ast.In, ast.NotIn)):
            by_element = False
            if child is parent.comparators[-1]:
                continue
        elif isinstance(parent, ast.Assign) and parent.targets == [child] and is_display(parent.value):
            continue
        stray = stray or parent
    if changed and stray is None:
        stray = next(_changed_while_read(definition, name), None)
    return Uses(changed, by_element, stray)


def _is_reader(node: ast.Call, names: frozenset[str] | tuple[str, ...]) -> bool:
    """Return whether a call is of one of the names, without keywords."""
    return isinstance(node.func, ast.Name) and node.func.id in names and not node.keywords


def _mentions(definition: Definition, name: str) -> Iterator[tuple[ast.AST, ast.Name]]:
    """Yield each mention of a name in a function's body, behind the node that it is a part of."""
    for parent in definition.nodes:
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.Name) and child.id == name:
                yield parent, child


def _changed_while_read(definition: Definition, name: str) -> Iterator[ast.AST]:
    """Yield the loops over a list whose bodies assign its elements: Python's would read what they assign."""
    for loop in definition.nodes:
        if isinstance(loop, ast.For) and _has(name, loop.iter, ast.Load):
            stores = (n for n in nodes_of(*loop.body) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
            if any(_has(name, n.value, ast.Load) for n in stores):
                yield loop.iter


def _has(name: str, node: ast.AST, context: type[ast.expr_context]) -> bool:
    """Return whether a name stands in a tree, read or stored as `context` says."""
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, context) for n in nodes_of(node))


def lower(context: Context, name: str, node: ast.expr, expression: Expression) -> Operand:
    """Lower a list that is assigned to a name; return a tuple, a vector or a matrix.

    Raises:
        KernelSyntaxError: the name has a use that could change the list behind it.
        KernelTypeError: elements are assigned, and have no common type; or lists in it are, and differ in length.
    """
    use = uses(context.definition, name)
    if use.stray is not None:
        with context.at(use.stray if hasattr(use.stray, "lineno") else node):
            message = (
                f"{name} is a list, which is only indexed, looped over, searched with in, or given to len, sum, min "
            )
            message += "or max: here it could change behind its name."
            advice = "Write a tuple, (…), or use vec2, vec3, vec4 or an array parameter."
            raise context.syntax_error(message, advice)
    items = _items(context, node, expression)
    nested = any(isinstance(item, tuple) for item in items)
    if not use.changed and not (nested and use.by_element):
        return items
    own_rows = not nested or (use.by_element and not any(map(_repeats_a_row, nodes_of(node))))
    packed = _packed(context, items) if own_rows or not use.changed else None
    if packed is None and use.changed:
        message = f"Elements of the list {name} are assigned, so they are numbers of one type"
        message += f", in rows of one length, each a list of its own and used as {name}[i][j]." if nested else "."
        advice = "Write [[0.0] * 3 for _ in range(2)], or use an array parameter." if nested else "Use a name for each."
        raise context.type_error(message, advice)
    return items if packed is None else packed


def _repeats_a_row(node: ast.AST) -> bool:
    """Return whether a node repeats a list in a list, `[[0.0] * 3] * 2`: the same list each time."""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
    return any(isinstance(n, ast.List) and any(map(is_display, n.elts)) for n in sides)


def _items(context: Context, node: ast.expr, expression: Expression) -> tuple[Operand, ...]:
    """Lower the elements of a list; return those that are lists as tuples.

    Raises:
        KernelTypeError: it is repeated a number of times that only a run knows, or has too many elements.
    """

    def element(context: Context, inner: ast.expr) -> Operand:
        return _items(context, inner, expression) if is_display(inner) else expression(context, inner)

    if isinstance(node, ast.ListComp):
        return tuples.items_of(context, node, element)
    if isinstance(node, ast.List):
        return tuple(element(context, n) for n in node.elts)
    assert isinstance(node, ast.BinOp)
    left, right = element(context, node.left), element(context, node.right)
    result = tuples.combined(context, "mul", left, right)
    if result is None:
        times = describe(right if isinstance(left, tuple) else left)
        message = f"How often a list is repeated must be known at compile time; this is {times}."
        raise context.type_error(message, "Write a number, or static(n).")
    return result


def _packed(context: Context, items: tuple[Operand, ...]) -> Value | None:
    """Emit a vector of numbers, or of tuples of them a matrix; None if they have no common type or differ in length."""
    rows = [item if isinstance(item, tuple) else (item,) for item in items]
    numbers = [n for row in rows for n in row if isinstance(n, Literal) or is_scalar(n)]
    if not 0 < len(numbers) <= UNROLLED_SEQUENCE or any(len(numbers) != len(rows) * len(row) for row in rows):
        return None
    scalar = strong(common_type("[…]", [weak(n) for n in numbers]))
    nested = any(isinstance(item, tuple) for item in items)
    type = Matrix(len(numbers), scalar, len(rows[0])) if nested else Vector(len(numbers), scalar)
    return context.builder.one("vec", [convert(context, n, scalar) for n in numbers], type)


def is_scalar(operand: Operand) -> TypeGuard[Value]:
    """Return whether an operand is a value of a scalar type."""
    return isinstance(operand, Value) and isinstance(operand.type, Scalar)
