"""Lists of a function's own: `row = [0.0] * 4`, `grid = [[0] * 3 for _ in range(3)]`.

Nothing can tell such a list from a tuple, a vector or a matrix as long as it has one name that is only indexed, looped
over, searched with `in` or given to `len sum min max any all`. So that is what it is: a list whose elements are
assigned is a vector, or a matrix if they are lists; any other one is a tuple, or a matrix. Another use, which would let
two names change one list, is refused at that use.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeGuard

import msgspec

from workbench.builtins.declaration.rules import common_type
from workbench.frontend.expressions import sequences
from workbench.frontend.expressions.sequences import is_display
from workbench.frontend.names import python_names
from workbench.frontend.state.coerce import convert, weak
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand, Static
from workbench.ir.values import Value
from workbench.limits import UNROLLED_SEQUENCE
from workbench.source import nodes_of
from workbench.types import Matrix, Scalar, Vector, element, is_float, strong

_READERS = ("len", "sum", "min", "max", "any", "all", "prod", "enumerate", "zip", "reversed", "tuple")


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


def uses(context: Context, name: str) -> Uses:
    """Return how the function that is lowered uses the list with this name; its text has all uses."""
    nodes = context.definition.nodes
    parents = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
    changed, by_element = False, True
    strays, slices = list[ast.AST](), list[ast.AST]()
    for mention in (n for n in nodes if isinstance(n, ast.Name) and n.id == name):
        parent = parents[id(mention)]
        if isinstance(parent, ast.Subscript) and mention is parent.value:
            outer = parents[id(parent)]
            inner = outer if isinstance(outer, ast.Subscript) and parent is outer.value else None
            changed |= any(isinstance(n.ctx, ast.Store) for n in (parent, inner) if n)
            by_element &= not _is_slice(inner) if inner else _reads(context, outer, parent, ("len",))
            if _is_slice(parent):
                by_element = False
                of_copy = inner is not None and isinstance(inner.ctx, ast.Load) and not _is_slice(inner)
                slices += [] if of_copy or _reads(context, outer, parent) else [outer]
                strays += [] if isinstance(parent.ctx, ast.Load) else [parent]
        elif _reads(context, parent, mention):
            by_element &= _reads(context, parent, mention, ("len",))
        elif not (isinstance(parent, ast.Assign) and parent.targets == [mention] and is_display(parent.value)):
            strays.append(parent)
    if changed:  # a vector's slices are vectors: a sum of them is not a longer list
        strays += slices or _changed_while_read(nodes, name)
    return Uses(changed, by_element, strays[0] if strays else None)


def _is_slice(node: ast.AST | None) -> bool:
    """Return whether a node is a slice of something."""
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


def _reads(context: Context, parent: ast.AST, child: ast.AST, names: tuple[str, ...] = ()) -> bool:
    """Return whether a node only reads the elements of the list below it.

    With `names`, it is a call of one of these; else also a loop over the list or a search in it.
    """
    if isinstance(parent, ast.Call):
        several = isinstance(parent.func, ast.Name) and parent.func.id == "zip"
        first = parent.args[:1] if len(parent.args) == 1 or _calls(context, parent, ("sum", "enumerate")) else []
        return child in (parent.args if several else first) and _calls(context, parent, names or _READERS)
    if names:
        return False
    if isinstance(parent, (ast.For, ast.comprehension)):
        return child is parent.iter
    if not isinstance(parent, ast.Compare):
        return False
    return isinstance(parent.ops[-1], (ast.In, ast.NotIn)) and child is parent.comparators[-1]


def _calls(context: Context, node: ast.Call, names: tuple[str, ...]) -> bool:
    """Return whether a call without keywords is of one of the names, as the language means it: not a func's."""
    if not isinstance(node.func, ast.Name) or node.func.id not in names or node.keywords:
        return False
    callee = python_names.name(context, node.func.id)
    return isinstance(callee, Static) and not hasattr(callee.value, "__wb_definitions__")


def _changed_while_read(nodes: Sequence[ast.AST], name: str) -> list[ast.AST]:
    """Return the loops over a list that assign its elements: Python's would read what they assign."""
    return [
        loop.iter
        for loop in nodes
        if isinstance(loop, ast.For) and _has(name, loop.iter) and not _is_range(loop.iter)
        if any(
            isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and _has(name, n.value)
            for n in nodes_of(loop.target, *loop.body)
        )
    ]


def _is_range(node: ast.expr) -> bool:
    """Return whether an expression is `range(…)`, whose bounds are computed once, before the loop."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _has(name: str, node: ast.AST) -> bool:
    """Return whether a name is read in a tree."""
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in nodes_of(node))


def lower(context: Context, name: str, node: ast.expr) -> Operand:
    """Lower a list that is assigned to a name; return a tuple, a vector or a matrix.

    Raises:
        KernelSyntaxError: the name has a use that could change the list behind it.
        KernelTypeError: elements are assigned, and have no common type; or lists in it are, and differ in length.
    """
    use = uses(context, name)
    if use.stray is not None:
        with context.at(use.stray if hasattr(use.stray, "lineno") else node):
            message = f"{name} is a list, which is only indexed, looped over, searched with in, or given to len, sum, "
            message += "min or max: here it could change behind its name."
            advice = "Write a tuple, (…), or use vec2, vec3, vec4 or an array parameter."
            raise context.syntax_error(message, advice)
    items = sequences.displayed(context, node)
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
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else []
    return any(is_display(e) for n in sides for e in getattr(n, "elts", [getattr(n, "elt", n)]) if e is not n)


def _packed(context: Context, items: tuple[Operand, ...]) -> Value | None:
    """Emit a vector of numbers, or of tuples of them a matrix; None if they have no common type or differ in length."""
    rows = [item if isinstance(item, tuple) else (item,) for item in items]
    numbers = [n for row in rows for n in row if isinstance(n, Literal) or _is_scalar(n)]
    if not 0 < len(numbers) <= UNROLLED_SEQUENCE or any(len(numbers) != len(rows) * len(row) for row in rows):
        return None
    scalar = strong(common_type("[…]", [weak(n) for n in numbers]))
    integers = [n.value for n in numbers if isinstance(n, Literal) and isinstance(n.value, int) and is_float(scalar)]
    if any(int(element(scalar).numpy.type(n)) != n for n in integers):
        return None  # an integer among floats that a float rounds
    nested = any(isinstance(item, tuple) for item in items)
    type = Matrix(len(numbers), scalar, len(rows[0])) if nested else Vector(len(numbers), scalar)
    return context.builder.one("vec", [convert(context, n, scalar) for n in numbers], type)


def _is_scalar(operand: Operand) -> TypeGuard[Value]:
    """Return whether an operand is a value of a scalar type."""
    return isinstance(operand, Value) and isinstance(operand.type, Scalar)
