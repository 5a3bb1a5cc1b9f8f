"""Loops by what a `for` runs over: a range is a loop of the IR, a sequence known at compile time is unrolled.

A range known now is unrolled where a `static(…)` reads its variable. In an unrolled loop every element keeps what it
is: a literal stays weak, a func stays callable, elements may differ in type. Where the loop can be left early, each
further round is done only while it was not.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from types import NoneType

from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.vectors import hash_grids
from workbench.frontend.expressions.sequences import iterator_name, sequence, start_of
from workbench.frontend.functions import library
from workbench.frontend.state.coerce import apply, default_type, usable
from workbench.frontend.state.context import Context, Loop
from workbench.frontend.state.definition import read_by_static
from workbench.frontend.state.operands import Bundle, Literal, Operand, Static, Unset
from workbench.frontend.state.paths import assigned, exit_flag
from workbench.frontend.statements import loops
from workbench.frontend.values import views
from workbench.frontend.values.structs import bind
from workbench.ir.values import Value
from workbench.limits import UNROLLED_SEQUENCE
from workbench.source import located, nodes_of, template
from workbench.types import Vector, is_float, is_integer


def for_loop(context: Context, node: ast.For) -> None:
    """Lower a `for` over a range, an array, a query of a hash grid, or a sequence known at compile time.

    Raises:
        KernelSyntaxError, KernelTypeError: it runs over something else.
    """
    name = iterator_name(context, node.iter)
    if name == "enumerate" and isinstance(node.iter, ast.Call) and node.iter.args:
        if iterator_name(context, node.iter.args[0]) == "range":
            node = _counted(context, node)
            name = "range"
    if name == "reversed" and isinstance(node.iter, ast.Call) and len(node.iter.args) == 1:
        (inner,) = node.iter.args
        if iterator_name(context, inner) == "range":
            with context.at(node.iter):
                bounds = loops.backwards(context, inner)
            loops.for_loop(context, node, bounds)
            return
    if name == "range":
        bounds = loops.range_of(context, node.iter)
        steps = loops.steps_of(bounds)
        if steps and not steps[UNROLLED_SEQUENCE:] and _is_read_by_static(context, node):
            _unrolled(context, node, [Literal(n) for n in steps])
        else:
            loops.for_loop(context, node, bounds)
    elif name == "hash_grid_query":
        _over_cells(context, node)
    elif not _over_array(context, node):
        _unrolled(context, node, sequence(context, node.iter))


def _is_read_by_static(context: Context, node: ast.For) -> bool:
    """Return whether a `static(…)` in the body reads the loop's variable, which has to be known then."""
    target = node.target
    if not isinstance(target, ast.Name) or target.id not in context.definition.read_by_static:
        return False
    return target.id in read_by_static(nodes_of(*node.body))


def _over_array(context: Context, node: ast.For) -> bool:
    """Lower `for v in x` of an array x, also in `enumerate`, `zip` and `reversed`: a loop over its first dimension.

    Returns:
        False for anything else.
    """
    at = f"place.{node.lineno}.{node.col_offset}"
    with context.at(node.iter):
        item = _element(context, node.iter, at, f"{node.lineno}.{node.col_offset}")
    if item is None:
        return False
    loop = copy.copy(node)
    loop.target = ast.Name(at, ast.Store())
    loop.body = [located(ast.Assign([node.target], item[0]), node.target), *node.body]
    loops.for_loop(context, loop, (Literal(0), item[1], Literal(1)))
    return True


def _element(context: Context, node: ast.expr, at: str, mark: str) -> tuple[ast.expr, Operand] | None:
    """Return what a `for` over an array assigns to its target, and the number of rounds.

    Args:
        context: where; what is iterated over gets local names here that end in `mark`.
        node: what the loop runs over: an array, or `enumerate`, `zip` or `reversed` of arrays.
        at: the name that counts the rounds.
        mark: as above.

    Returns:
        The item, as an expression in `at`, and the number of rounds; None where nothing is an array.
    """
    name = iterator_name(context, node)
    here: ast.expr = ast.Name(at, ast.Load())
    if isinstance(node, ast.Call) and name == "enumerate" and node.args:
        over, first = start_of(context, node)
        inner = _element(context, over, at, f"{mark}.0")
        if inner is None:
            return None
        context.env[f"count.{mark}"] = first
        count = ast.BinOp(here, ast.Add(), ast.Name(f"count.{mark}", ast.Load()))
        return ast.Tuple([count, inner[0]], ast.Load()), inner[1]
    if isinstance(node, ast.Call) and name == "zip" and node.args and not node.keywords:
        inners = [_element(context, a, at, f"{mark}.{k}") for k, a in enumerate(node.args)]
        if all(inner is None for inner in inners):
            return None
        parts = [
            i or _known_element(context, a, at, f"{mark}.{k}")
            for k, (i, a) in enumerate(zip(inners, node.args, strict=True))
        ]
        sizes = [size for _, size in parts]
        fewest = sizes[0]
        for size in sizes[1:]:
            fewest = apply(context, TABLE["min"], (fewest, size))
        return ast.Tuple([item for item, _ in parts], ast.Load()), fewest
    if isinstance(node, ast.Call) and name == "reversed" and len(node.args) == 1:
        node, here = node.args[0], ast.UnaryOp(ast.Invert(), here)  # from the end: -1 - at
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    array = context.lower(node)
    if not views.is_array(array):
        return None
    context.env[f"array.{mark}"] = array
    return ast.Subscript(ast.Name(f"array.{mark}", ast.Load()), here, ast.Load()), views.size(context, array, 0)


def _known_element(context: Context, node: ast.expr, at: str, mark: str) -> tuple[ast.expr, Operand]:
    """Return the item and the number of rounds of a range, or a sequence known now, beside an array in `zip`.

    The item is an expression in `at`, the name that counts the rounds; the names that it reads end in `mark`.

    Raises:
        KernelTypeError: the range has no positive step that is written out.
    """
    here: ast.expr = ast.Name(at, ast.Load())
    if iterator_name(context, node) != "range":
        items = sequence(context, node)
        context.env[f"items.{mark}"] = items
        return ast.Subscript(ast.Name(f"items.{mark}", ast.Load()), here, ast.Load()), Literal(len(items))
    start, stop, step = bounds = loops.range_of(context, node)
    loops.check_integers(context, bounds)
    if not isinstance(step, Literal) or step.value < 1:
        message = "A range beside an array has a positive step that is written out."
        raise context.type_error(message, "Write for i in range(len(x)), and index every array by i.")
    context.env[f"start.{mark}"] = start
    count = apply(context, TABLE["sub"], (stop, start)) if start != Literal(0) else stop
    if step.value != 1:
        count = apply(
            context, TABLE["floordiv"], (apply(context, TABLE["add"], (count, Literal(step.value - 1))), step)
        )
    item = ast.BinOp(here, ast.Mult(), ast.Constant(step.value)) if step.value != 1 else here
    item = item if start == Literal(0) else ast.BinOp(ast.Name(f"start.{mark}", ast.Load()), ast.Add(), item)
    return item, count


def _counted(context: Context, node: ast.For) -> ast.For:
    """Return `for target in enumerate(range(…), start)` as a `for` over the range that sets a counter beside it.

    The counter's first value is bound in `context.env`; the node that is passed is not changed.

    Raises:
        KernelTypeError: `start` is no integer.
    """
    assert isinstance(node.iter, ast.Call)
    inner, first = start_of(context, node.iter)
    assert isinstance(inner, ast.Call)
    if isinstance(first, Value) and not is_integer(first.type):
        raise context.type_error(f"enumerate() counts from an integer; this is {first.type!r}.")
    count, item = (f"{word}.{node.lineno}.{node.col_offset}" for word in ("count", "item"))
    context.env[count] = first
    number: ast.expr = ast.Name(count, ast.Load())
    after: list[ast.stmt] = []
    if len(inner.args) == 1:  # the element itself counts: provably not negative
        number = ast.BinOp(ast.Name(item, ast.Load()), ast.Add(), number)
    else:
        after = [ast.Assign([ast.Name(count, ast.Store())], ast.BinOp(number, ast.Add(), ast.Constant(1)))]
    bind = ast.Assign([node.target], ast.Tuple([number, ast.Name(item, ast.Load())], ast.Load()))
    loop = copy.copy(node)
    loop.target, loop.iter = ast.Name(item, ast.Store()), inner
    loop.body = [*(located(s, node.target) for s in (bind, *after)), *node.body]
    return loop


TEXT = """
for ROW in range(ROWS):
    FIRST, LAST = RANGE(GRID, A, B, C, NA, NB, ROW)
    for PLACE in range(FIRST, LAST):
        _ = GRID.points[PLACE]
"""
GROUPED = """        if GRID.groups[GRID.points[PLACE]] == GROUP:
            pass
"""
KNOWN = ("A", "B", "C", "NA", "NB", "ROWS")


def _over_cells(context: Context, node: ast.For) -> None:
    """Lower `for j in hash_grid_query(grid, x, r)`: a loop over rows of cells, and in it one over what lies in them.

    Raises:
        KernelTypeError: it is not asked for a grid, a point and a radius.
    """
    assert isinstance(node.iter, ast.Call)
    with context.at(node.iter):
        operands = [context.lower(a) for a in node.iter.args]
        few = 0 < len(operands) <= 4 and not node.iter.keywords
        if not few or not _is_grid(operands[0]) or not _is_ball(context, operands[1:3]):
            shown = f"{ast.unparse(node.iter.func)}({', '.join(map(ast.unparse, node.iter.args))})"
            wanted = "a grid, a point of 3 floats, a radius, perhaps a group"
            advice = "Annotate the parameter as grid: wb.HashGrid."
            raise context.type_error(f"hash_grid_query() takes {wanted}; this is {shown}.", advice)
        # More than rounding takes away. Warp's own grid has none, and its programs see which cells are searched.
        slack = Literal(0.0 if context.shared.warp_meanings else 1e-6)
        known = library.call(context, hash_grids.rows, [*operands[:3], slack])
    at = f".{node.lineno}.{node.col_offset}"
    grid = operands[0]
    assert isinstance(known, tuple) and isinstance(grid, Bundle)
    context.env.update(zip((name + at for name in KNOWN), known, strict=True))
    context.env["RANGE" + at] = Static(hash_grids.row, hash_grids.row.name)
    bind(context.env, "GRID" + at, grid)
    grouped = len(operands) > 3
    own = {name: name + at for name in (*KNOWN, "RANGE", "GRID", "GROUP", "ROW", "PLACE", "FIRST", "LAST")}
    outer = template(TEXT + GROUPED * grouped, node, own)
    inner = outer.body[-1]
    inner.body[0].targets = [node.target]
    if grouped:
        context.env["GROUP" + at] = operands[3]
        inner.body[1].body = node.body
    else:
        inner.body += node.body
    outer.exit_flag = inner.exit_flag = exit_flag(node)
    outer.has_else, inner.is_inner = getattr(node, "has_else", False), True
    loops.for_loop(context, outer, loops.range_of(context, outer.iter))


def _is_grid(operand: Operand | None) -> bool:
    """Return whether an operand is a `HashGrid`."""
    return isinstance(operand, Bundle) and operand.type.name == "HashGrid" and operand.type.find("starts") is not None


def _is_ball(context: Context, operands: list[Operand]) -> bool:
    """Return whether there are two operands, the first a vector of 3 floats; the second, a radius, is not looked at."""
    if len(operands) != 2:
        return False
    point, _ = (usable(context, o) for o in operands)
    return (
        isinstance(point, Value) and isinstance(point.type, Vector) and point.type.length == 3 and is_float(point.type)
    )


def _unrolled(context: Context, node: ast.For, items: Sequence[Operand]) -> None:
    """Lower a `for` by lowering its body once for each item, with the target bound to it.

    If the loop may be left early, each later copy of the body runs only while its flag is not set.

    Args:
        context: of the loop.
        node: the loop.
        items: what it runs over.
    """
    flag = exit_flag(node)
    item = f"item.{node.lineno}.{node.col_offset}"
    bind = ast.Assign([node.target], ast.Name(item, ast.Load()))
    body = [located(bind, node.target), *node.body]
    names = [n.id for n in nodes_of(node.target) if isinstance(n, ast.Name)]
    missing = [n for n in assigned(node.body) if isinstance(context.env.get(n), (Unset, NoneType))]
    loop = Loop(tuple(missing), runs=bool(items), exit_flag=flag)
    one_kind = len({_kind(operand) for operand in items}) <= 1
    for position, operand in enumerate(items):
        context.env[item] = operand
        guarded = flag is not None and position > 0
        if guarded and not one_kind:
            for name in names:
                context.env.pop(name, None)
        context.loops.append(loop)
        try:
            context.shared.syntax.loop_body(context, [loops.while_not(flag, body, node)] if guarded else body)  # type: ignore[arg-type]
        finally:
            context.loops.pop()
        loop.next(context.env)
    context.env.pop(item, None)
    loop.after(context.env)
    for name in names:
        if name not in context.env:
            context.env[name] = Unset(f"{name} is unbound here: the loop before has nothing to iterate over.")
        elif flag is not None and isinstance(context.env[name], Unset):
            context.env[name] = Unset(
                f"{name} has a different kind in each iteration of the loop before: it is not known here."
            )


def _kind(operand: Operand) -> object:
    """Return what must be equal of two operands for a loop that may be left to merge them: their types.

    A literal has its weak type, a tuple those of its items, and any other operand None.
    """
    if isinstance(operand, tuple):
        return tuple(_kind(o) for o in operand)
    return (
        operand.type if isinstance(operand, Value) else default_type(operand) if isinstance(operand, Literal) else None
    )
