"""Tuples as values: what Python does to them that their elements decide, and `sum prod any all divmod`.

A tuple is never in memory: each of these is written out for its elements. Where only a run knows which elements there
are, as of an array, a range to n or behind an `if`, `sum prod any all min max` are the loops that they mean.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import reduce

from msgspec.structs import replace

from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.rules import common_type
from workbench.errors import KernelTypeError
from workbench.frontend.expressions import sequences
from workbench.frontend.state.coerce import apply, convert, describe, materialise, truth, usable, weak
from workbench.frontend.state.context import Context, Env, Expression, FormHandler
from workbench.frontend.state.exits import answer
from workbench.frontend.state.operands import Literal, Operand
from workbench.frontend.values import structs, subscripts, views
from workbench.ir.values import Value, number_of
from workbench.limits import UNROLLED_SEQUENCE
from workbench.source import located
from workbench.types import Scalar, Vector, int32, is_integer
from workbench.types import bool as bool_

Generated = ast.GeneratorExp | ast.ListComp


def combined(context: Context, name: str, left: Operand, right: Operand) -> tuple[Operand, ...] | None:
    """Return `(a, b) + (c,)` or `(a, b) * 3`; None of any other operator or operands.

    Raises:
        KernelTypeError: the result is too long to be written out.
    """
    result: tuple[Operand, ...] | None = None
    if name == "add" and isinstance(left, tuple) and isinstance(right, tuple):
        result = left + right
    elif name == "mul":
        for items, times in ((left, right), (right, left)):
            if isinstance(items, tuple) and isinstance(times, Literal) and isinstance(times.value, int):
                result = items[: len(items) * bool(times.value > 0)] * min(max(times.value, 0), UNROLLED_SEQUENCE + 1)
    if result is not None and len(result) > UNROLLED_SEQUENCE:
        message = f"This tuple would have more than {UNROLLED_SEQUENCE} elements."
        raise context.type_error(message, "Pass an array as an argument.")
    return result


def equal(context: Context, left: tuple[Operand, ...], right: tuple[Operand, ...]) -> Value:
    """Emit whether two tuples are equal, element by element; return a bool value."""
    if len(left) != len(right):
        return context.builder.const(False, bool_)
    same = context.builder.const(True, bool_)
    for a, b in zip(left, right, strict=True):
        if isinstance(a, tuple) and isinstance(b, tuple):
            part = equal(context, a, b)
        else:
            part = sequences.contains(context, a, (b,))
        same = apply(context, TABLE["and_"], (same, part))
    return same


def ordered(context: Context, name: str, left: tuple[Operand, ...], right: tuple[Operand, ...]) -> Value:
    """Emit `left < right` and the like, by name: lt, le, gt, ge; return a bool value.

    The first elements that differ decide, or, if none does, the lengths.
    """
    compare = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}[name]
    result = context.builder.const(compare(len(left), len(right)), bool_)
    for a, b in reversed(list(zip(left, right, strict=False))):
        same = equal(context, (a,), (b,))
        if isinstance(a, tuple) and isinstance(b, tuple):
            decided = ordered(context, name, a, b)
        else:
            decided = apply(context, TABLE[name], (usable(context, a), usable(context, b)))
        result = apply(context, TABLE["where"], (same, result, decided))
    return result


def part(context: Context, items: tuple[Operand, ...], node: ast.expr, expression: Expression) -> Operand | None:
    """Return `items[1:]`, `items[-1]` or `items[i]`; None where the index is no integer, or out of range.

    An index that only a run computes takes numbers that have a common type.

    Raises:
        KernelTypeError: the bounds of a slice are not known, or the numbers have no common type.
    """
    if isinstance(node, ast.Slice):
        bounds = [None if n is None else expression(context, n) for n in (node.lower, node.upper, node.step)]
        if not all(b is None or (isinstance(b, Literal) and isinstance(b.value, int)) for b in bounds):
            message = "The bounds of a slice of a tuple are written out."
            raise context.type_error(message, "Take its elements one by one.")
        return items[slice(*(None if b is None else b.value for b in bounds))]  # type: ignore[union-attr]
    index = expression(context, node)
    if isinstance(index, Literal):
        known = not index.is_float and -len(items) <= index.value < len(items)
        return items[int(index.value)] if known else None
    numbers = [o for o in items if isinstance(o, (Value, Literal))]
    if not isinstance(index, Value) or not is_integer(index.type) or len(numbers) < len(items) or not items:
        return None
    return _chosen(context, numbers, index)


def _chosen(context: Context, numbers: Sequence[Value | Literal], index: Value) -> Value:
    """Emit the choice of one of several numbers by an index that a run computes, in their common type.

    Raises:
        KernelTypeError: they have no common type.
    """
    count, one = len(numbers), context.builder.one
    try:
        type = common_type("[i]", [weak(n) for n in numbers])
    except KernelTypeError as error:
        raise context.placed(error) from None
    if isinstance(type, Scalar) and not type.weak:
        items_type = Vector(count, type)
        row = one("vec", [convert(context, n, type) for n in numbers], items_type)
        return one("extract", (row, subscripts.component(context, items_type, index)), type)
    # What has no type yet is in no vector: numbers are compared with the index, which is checked as a vector's is.
    index_type = Vector(count, int32)
    row = context.builder.const(tuple(range(count)), index_type)
    position = one("extract", (row, subscripts.component(context, index_type, index)), int32)
    result: Operand = numbers[-1]
    for k, number in reversed([*enumerate(numbers[:-1])]):
        result = apply(context, TABLE["where"], (apply(context, TABLE["eq"], (position, Literal(k))), number, result))
    return materialise(context, result)


def items_of(context: Context, node: ast.expr, expression: Expression) -> tuple[Operand, ...]:
    """Return the elements of what is known now, or of a generator expression over it.

    Raises:
        KernelSyntaxError, KernelTypeError: it is an array, a number, or has a condition that only a run decides.
    """
    if isinstance(node, ast.Call):
        return sequences.sequence(context, node, expression)
    if not isinstance(node, Generated):
        operand = expression(context, sequences.as_tuple(node))
        items = None if views.is_array(operand) else sequences.elements(context, operand)
        if items is None:
            message = f"A tuple, a vector or a generator expression is expected here; this is {describe(operand)}."
            raise context.type_error(message, "Write a loop: for v in x: s += v.")
        return items
    written_out: list[Operand] = []
    _generate(context, node, node.generators, written_out, expression)
    return tuple(written_out)


def _generate(
    context: Context,
    node: Generated,
    over: Sequence[ast.comprehension],
    items: list[Operand],
    expression: Expression,
    dry: bool = False,
) -> bool:
    """Append to `items` the elements of a generator expression or comprehension, unrolled over the clauses `over`.

    Returns:
        Whether only a run knows which elements there are, at the first sign of which a `dry` run stops.

    Raises:
        KernelSyntaxError: only a run knows it, and this is not a dry run.
    """
    if not over:
        items.append(expression(context, node.elt))
        return False
    first, *inner = over
    if dry and _is_open(context, first.iter, expression):
        return True
    names = [n.id for n in ast.walk(first.target) if isinstance(n, ast.Name)]
    for item in sequences.sequence(context, first.iter, expression):
        with _scope(context.env, names):
            _bind(context, first.target, item)
            known: bool | None = True
            for test in first.ifs:
                known = _decided(context, test, expression)
                if known is None and dry:
                    return True
                if known is None:
                    with context.at(test):
                        message = "Which elements a generator expression leaves out must be known at compile time."
                        raise context.syntax_error(message, "Give 0 in their place: a if condition else 0.")
                if not known:
                    break
            if known and _generate(context, node, inner, items, expression, dry):
                return True
    return False


def _decided(context: Context, test: ast.expr, expression: Expression) -> bool | None:
    """Return the value of an `if` of a generator expression at compile time; None if only a run decides it."""
    with context.at(test):
        with context.builder.block() as opened:
            known = truth(context, expression(context, test))
        written = (op for op in opened.block.ops if op.name == "const" and op.result.type == bool_)
        numbers = {op.result: number_of(op) for op in written}
        if known in numbers:  # compared are numbers of this round
            return bool(numbers[known])
        return known if isinstance(known, bool) else None


def _bind(context: Context, target: ast.expr, item: Operand) -> None:
    """Bind the names of a comprehension's target, a name or nested tuple, to an item in `context.env`.

    Raises:
        KernelTypeError: the item does not have as many parts as the target.
    """
    if isinstance(target, ast.Name):
        structs.bind(context.env, target.id, item)
        return
    parts = target.elts if isinstance(target, ast.Tuple) else []
    items = sequences.elements(context, item)
    if items is None or len(items) != len(parts):
        raise context.type_error(f"{describe(item)} cannot be unpacked into {ast.unparse(target)}.")
    for name, operand in zip(parts, items, strict=True):
        _bind(context, name, operand)


@contextmanager
def _scope(env: Env, names: Sequence[str]) -> Generator[None]:
    """Restore these names in `env` when the block ends: each gets its earlier operand, or is removed if new."""
    before = {name: env[name] for name in names if name in env}
    try:
        yield
    finally:
        for name in names:
            env.pop(name, None)
        env.update(before)


def _only(context: Context, node: ast.Call, most: int) -> None:
    """Check that a call has no keywords and 1 to `most` arguments.

    Raises:
        KernelTypeError: it has others.
    """
    if node.keywords or not 1 <= len(node.args) <= most:
        takes = "one argument" if most == 1 else f"1 to {most} arguments"
        raise context.type_error(f"{ast.unparse(node.func)}() takes {takes}.")


def _is_open(context: Context, node: ast.expr, expression: Expression) -> bool:
    """Return whether only a run knows which elements there are, as of an array or behind an `if`."""
    if isinstance(node, Generated):
        first, *others = node.generators
        if not (others or first.ifs):
            return _is_open(context, first.iter, expression)
        return _generate(context, node, node.generators, [], expression, dry=True)
    if not isinstance(node, ast.Call):
        return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and views.is_array(expression(context, node))
    name = sequences.iterator_name(context, node, expression)
    if name == "range":
        return any([isinstance(expression(context, a), Value) for a in node.args])
    return name in sequences.SEQUENCES and any([_is_open(context, a, expression) for a in node.args])


def looped(context: Context, name: str, node: ast.Call, expression: Expression) -> Operand | None:
    """Lower `sum(x[j] for j in range(n))`, also `prod any all min max`, as the loop that it means, in its own scope.

    Returns:
        The result; None where the elements are known at compile time, and are written out.
    """
    before = dict(context.env)
    with context.builder.block():  # which is dropped: nothing is computed twice
        is_open = _is_open(context, node.args[0], expression)
    context.env.clear()
    context.env.update(before)
    if not is_open:
        return None
    # Built once: a loop around it may be lowered again, and knows the loops inside by their nodes.
    body = answer(node, "as_loop", lambda: _as_loop(name, node))
    inner = replace(context, env=dict(context.env), loops=[], caller=context, of_expression=True)
    trace, context.shared.trace = context.shared.trace, False
    try:
        return context.shared.lower_body(inner, body).value
    finally:
        context.shared.trace = trace


def _as_loop(name: str, node: ast.Call) -> list[ast.stmt]:
    """Return the statements of a func that computes `sum(…)`, `prod any all min` or `max` of one argument in a loop.

    `min` and `max` of no elements break an assertion, as Python raises ValueError.
    """
    over, element = node.args[0], "element.item"
    clauses = [ast.comprehension(ast.Name(element, ast.Store()), over, [], 0)]
    item: ast.expr = ast.Name(element, ast.Load())
    if isinstance(over, Generated):
        clauses, item = over.generators, over.elt
    before: list[ast.stmt] = []
    checked: list[ast.stmt] = []
    after = ast.Return(ast.Constant(name == "all"))
    if name in ("any", "all"):
        test = item if name == "any" else ast.UnaryOp(ast.Not(), item)
        steps: list[ast.stmt] = [ast.If(test, [ast.Return(ast.Constant(name == "any"))], [])]
    elif name in ("min", "max"):
        best, some, value = (f"{of}.{name}" for of in ("best", "some", "value"))
        better = ast.Call(node.func, [ast.Name(best, ast.Load()), ast.Name(value, ast.Load())], [])
        chosen = ast.IfExp(ast.Name(some, ast.Load()), better, ast.Name(value, ast.Load()))
        before = [_assign(best, ast.Constant(0)), _assign(some, ast.Constant(False))]
        steps = [_assign(value, item), _assign(best, chosen), _assign(some, ast.Constant(True))]
        checked = [ast.Assert(ast.Name(some, ast.Load()), ast.Constant(f"{name}() of no elements"))]
        after = ast.Return(ast.Name(best, ast.Load()))
    else:
        total, first = ast.Name(f"total.{name}", ast.Store()), ast.Constant(int(name == "prod"))
        before = [ast.Assign([total], node.args[1] if len(node.args) > 1 else first)]
        steps = [ast.AugAssign(total, ast.Mult() if name == "prod" else ast.Add(), item)]
        after = ast.Return(ast.Name(total.id, ast.Load()))
    for clause in reversed(clauses):
        for test in reversed(clause.ifs):
            steps = [ast.If(test, steps, [])]
        steps = [ast.For(clause.target, clause.iter, steps, [])]
    return [located(s, node) for s in (*before, *steps, *checked, after)]


def _assign(name: str, value: ast.expr) -> ast.stmt:
    """Return the assignment of an expression to a name."""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _sum(context: Context, node: ast.Call, expression: Expression) -> Operand:
    """Lower `sum(x)` or `sum(x, start)`, as a loop or unrolled."""
    _only(context, node, 2)
    in_loop = looped(context, "sum", node, expression)
    if in_loop is not None:
        return in_loop
    total = usable(context, expression(context, node.args[1])) if len(node.args) > 1 else Literal(0)
    for item in items_of(context, node.args[0], expression):
        total = _added(context, total, usable(context, item))
    return total


def _prod(context: Context, node: ast.Call, expression: Expression) -> Operand:
    """Lower `prod(x)`, as a loop or unrolled; the product of literals is a literal."""
    _only(context, node, 1)
    in_loop = looped(context, "prod", node, expression)
    if in_loop is not None:
        return in_loop
    items = [usable(context, item) for item in items_of(context, node.args[0], expression)]
    if all(isinstance(item, Literal) for item in items):
        return Literal(math.prod(item.value for item in items if isinstance(item, Literal)))
    return reduce(lambda a, b: apply(context, TABLE["mul"], (a, b)), items)


def _added(context: Context, a: Value | Literal, b: Value | Literal) -> Value | Literal:
    """Emit the sum of two operands; two literals are folded, and a first literal integer 0 is left out."""
    if isinstance(a, Literal) and (a.value == 0 or isinstance(b, Literal)):
        if isinstance(b, Literal):
            return Literal(a.value + b.value)
        if b.type != bool_ and not a.is_float:
            return b  # Python's sum begins with the integer 0
    return apply(context, TABLE["add"], (a, b))


def _quantified(sign: str) -> FormHandler:
    """Return the lowering of `all(x)` ("and_") or `any(x)` ("or_"), as a loop or unrolled."""

    def lower(context: Context, node: ast.Call, expression: Expression) -> Operand:
        _only(context, node, 1)
        in_loop = looped(context, "all" if sign == "and_" else "any", node, expression)
        if in_loop is not None:
            return in_loop
        result = context.builder.const(sign == "and_", bool_)
        for item in items_of(context, node.args[0], expression):
            known = truth(context, item)
            test = context.builder.const(known, bool_) if isinstance(known, bool) else known
            result = apply(context, TABLE[sign], (result, test))
        return result

    return lower


def _tuple(context: Context, node: ast.Call, expression: Expression) -> Operand:
    """Lower `tuple(x)` to the operands of its items; () without an argument."""
    return items_of(context, node.args[0], expression) if node.args else ()


def _divmod(context: Context, node: ast.Call, expression: Expression) -> Operand:
    """Lower `divmod(a, b)` to the operands of the quotient and the remainder.

    Raises:
        KernelTypeError: it has keywords, or not two arguments.
    """
    if node.keywords or len(node.args) != 2:
        raise context.type_error("divmod() takes two numbers.")
    a, b = (usable(context, expression(context, argument)) for argument in node.args)
    if isinstance(a, Literal) and isinstance(b, Literal):
        a = materialise(context, a)
    return tuple(apply(context, TABLE[name], (a, b)) for name in ("floordiv", "mod"))


FORMS: dict[str, FormHandler] = {
    "sum": _sum,
    "prod": _prod,
    "any": _quantified("or_"),
    "all": _quantified("and_"),
    "tuple": _tuple,
    "divmod": _divmod,
}
