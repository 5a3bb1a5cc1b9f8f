"""Lines about per-thread values: each is one map over the threads of the block.

A statement that names a per-thread value and does nothing to tiles is lowered as in a kernel that runs once per thread,
inside a map whose elements are those values. So it may branch, loop, index arrays, call funcs; what it assigns is
per-thread afterwards. An expression given to an operation on tiles, `tile(x[i])`, is treated alike.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from workbench.builtins.declaration.declare import Form
from workbench.frontend.names.python_names import callee
from workbench.frontend.state.coerce import materialise, stored
from workbench.frontend.state.context import Context, Env, is_thread
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.operands import POISON, Literal, Operand, Parts, Poison, Static, Unset
from workbench.frontend.state.paths import assigned, flags, is_same
from workbench.frontend.tiles import lanes
from workbench.ir.values import Value
from workbench.source import nodes_of
from workbench.tiles import is_tile
from workbench.types import ArrayType


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
        if not (isinstance(node.ctx, ast.Load) and lanes.is_element(self.context, node)):
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
    elements = any(lanes.is_element(context, n) for n in nodes_of(node))
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
