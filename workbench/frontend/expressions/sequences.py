"""Sequences known at compile time: tuples, vectors, `enumerate`, `zip` and `reversed` of them, and `in` over them.

A sequence is a tuple of operands, so an unrolled loop, an unpacking and a membership test see the same elements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from workbench.builtins.declaration.declare import TABLE
from workbench.frontend.names.python_names import callee_name, captured_value
from workbench.frontend.state.coerce import apply, describe, usable
from workbench.frontend.state.context import Context, Expression
from workbench.frontend.state.operands import Literal, Operand, Static, View
from workbench.frontend.values import matrices
from workbench.host.narrow import is_tuple
from workbench.ir.values import Value
from workbench.limits import UNROLLED_SEQUENCE
from workbench.types import ArrayType, Vector, is_integer
from workbench.types import bool as bool_

OVER = (
    "A loop in a kernel runs over range(…), an array, a tuple, a vector, static(…), and enumerate(…), zip(…) or "
    "reversed(…) of those.",
    "Write for i in range(n).",
)
ARRAY = (
    "The length of an array is known only when the kernel runs; here it must be known at compile time.",
    "Write for i in range(len(x)), and index every array by i.",
)
ITERATORS: dict[Any, str] = {enumerate: "enumerate", zip: "zip", reversed: "reversed"}


def iterator_name(context: Context, node: ast.expr, expression: Expression) -> str:
    """Return the name of the iterator that a node calls: `range`, `zip`, `hash_grid_query`, …; empty for none."""
    if not isinstance(node, ast.Call):
        return ""
    callee = expression(context, node.func)
    if not isinstance(callee, Static):
        return ""
    known = isinstance(callee.value, type) and ITERATORS.get(callee.value, "")
    name = callee_name(callee.value)
    return known or (name if name in ("range", "hash_grid_query") else "")


def as_tuple(node: ast.expr) -> ast.expr:
    """Return a list that is written out as a tuple, where nothing can change it; any other expression as it is."""
    return ast.copy_location(ast.Tuple(node.elts, ast.Load()), node) if isinstance(node, ast.List) else node


def sequence(context: Context, node: ast.expr, expression: Expression) -> tuple[Operand, ...]:
    """Lower what a loop runs over, and return its elements, which are known at compile time.

    Raises:
        KernelSyntaxError: it is not a sequence known at compile time.
        KernelTypeError: it is too long to be unrolled, or `zip(…, strict=True)` gets unequal lengths.
    """
    name = iterator_name(context, node, expression)
    with context.at(node):
        if name not in SEQUENCES:
            operand = expression(context, as_tuple(node))
            if isinstance(operand, View) or (isinstance(operand, Value) and isinstance(operand.type, ArrayType)):
                raise context.syntax_error(*ARRAY)
            items = elements(context, operand)
        else:
            assert isinstance(node, ast.Call)
            items = SEQUENCES[name](context, node, expression)
        if items is None:
            raise context.syntax_error(*OVER)
        if len(items) > UNROLLED_SEQUENCE:
            raise context.type_error(
                f"This sequence has {len(items)} elements; a loop over one is unrolled, up to {UNROLLED_SEQUENCE}.",
                "Put the elements into an array and loop over range(…).",
            )
        return items


def elements(context: Context, operand: Operand) -> tuple[Operand, ...] | None:
    """Return the elements of a tuple or vector, the rows of a matrix; None if it is none of them."""
    if isinstance(operand, tuple):
        return operand
    if isinstance(operand, Static) and is_tuple(operand.value):
        return tuple(captured_value(context, v, f"{operand.path}[{k}]") for k, v in enumerate(operand.value))
    if isinstance(operand, (Value, Literal, Static)):
        if isinstance(operand, Value) and isinstance(operand.type, Vector) and operand.type.shape:
            return matrices.parts(context, operand)
        return None
    usable(context, operand)  # refuses what has no value
    return None


def _range(context: Context, node: ast.Call, expression: Expression) -> tuple[Operand, ...]:
    """Return the numbers of a `range(…)` that is unrolled, as literals.

    Raises:
        KernelTypeError: a bound is not known at compile time, or there are more than `UNROLLED_SEQUENCE` numbers.
    """
    bounds = [expression(context, a) for a in node.args]
    if node.keywords or not all(isinstance(g, Literal) and not g.is_float for g in bounds):
        raise context.type_error(
            "The bounds of this range are not known at compile time, and here they must be.",
            "Write for i in range(…), and compute the other names from i.",
        )
    try:
        numbers = range(*(int(g.value) for g in bounds))  # type: ignore[union-attr]
    except (TypeError, ValueError) as error:
        raise context.type_error(f"range(): {error}.") from None
    if len(numbers) > UNROLLED_SEQUENCE:
        raise context.type_error(
            f"This range has {len(numbers)} elements; with other sequences it is unrolled, up to {UNROLLED_SEQUENCE}.",
            "Write for i in range(…), and compute the other names from i.",
        )
    return tuple(Literal(n) for n in numbers)


def start_of(context: Context, node: ast.Call, expression: Expression) -> tuple[ast.expr, Value | Literal]:
    """Return the argument of `enumerate` and the number that it counts from.

    Raises:
        KernelTypeError: it has other arguments, or counts from a float.
    """
    start = next((k.value for k in node.keywords if k.arg == "start"), node.args[1] if len(node.args) > 1 else None)
    if not node.args or len(node.args) + len(node.keywords) > 2 or any(k.arg != "start" for k in node.keywords):
        raise context.type_error("enumerate() takes a sequence and a start.")
    first = Literal(0) if start is None else usable(context, expression(context, start))
    if isinstance(first, Literal) and first.is_float:
        raise context.type_error("enumerate() counts from an integer; this is a float.", "Write int(…).")
    return node.args[0], first


def _enumerate(context: Context, node: ast.Call, expression: Expression) -> tuple[Operand, ...]:
    """Return the pairs (number, item) of an `enumerate(…)` that is unrolled."""
    inner, first = start_of(context, node, expression)
    items = sequence(context, inner, expression)
    if isinstance(first, Literal):
        return tuple((Literal(int(first.value) + k), item) for k, item in enumerate(items))
    return tuple((apply(context, TABLE["add"], (first, Literal(k))), item) for k, item in enumerate(items))


def _zip(context: Context, node: ast.Call, expression: Expression) -> tuple[Operand, ...]:
    """Return the tuples of a `zip(…)` that is unrolled, as many as its shortest sequence has items.

    Raises:
        KernelTypeError: it has keywords other than `strict`, or `strict=True` and unequal lengths.
    """
    strict = {k.arg: k.value for k in node.keywords}
    flag = strict.pop("strict", ast.Constant(False))
    if strict or not isinstance(flag, ast.Constant):
        raise context.type_error("zip() takes sequences, and strict=True.")
    sequences = [sequence(context, a, expression) for a in node.args]
    if flag.value and len({len(f) for f in sequences}) > 1:
        lengths = ", ".join(str(len(f)) for f in sequences)
        raise context.type_error(f"The sequences of zip(…, strict=True) have {lengths} elements.")
    return tuple(zip(*sequences, strict=False))


def _reversed(context: Context, node: ast.Call, expression: Expression) -> tuple[Operand, ...]:
    """Return the items of a sequence that is unrolled, the last first.

    Raises:
        KernelTypeError: there is not exactly one argument.
    """
    if len(node.args) != 1 or node.keywords:
        raise context.type_error("reversed() takes one sequence.")
    return sequence(context, node.args[0], expression)[::-1]


SEQUENCES: dict[str, Callable[[Context, ast.Call, Expression], tuple[Operand, ...]]] = {
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "reversed": _reversed,
}


def contains(context: Context, left: Operand, right: Operand) -> Value:
    """Emit `left in right`, where right is a tuple or a vector; return a bool value.

    Raises:
        KernelTypeError: right is something else.
    """
    items = elements(context, right)
    if items is None:
        raise context.type_error(
            f"in takes a tuple or a vector on its right; this is {describe(right)}.", "Write the comparisons out."
        )
    item = usable(context, left)
    result: Value | None = None
    for element in items:
        part = _equal(context, item, usable(context, element))
        result = part if result is None else apply(context, TABLE["or_"], (result, part))
    return context.builder.const(False, bool_) if result is None else result


def _equal(context: Context, a: Value | Literal, b: Value | Literal) -> Value:
    """Emit the equality that `in` means: what is the same value is equal, even a NaN."""
    if isinstance(a, Literal) and isinstance(b, Literal):
        return context.builder.const(a.value in (b.value,), bool_)
    return context.builder.const(True, bool_) if a is b else apply(context, TABLE["eq"], (a, b))


def contains_of_range(context: Context, node: ast.expr, interval: ast.expr, expression: Expression) -> Value | None:
    """Emit `n in range(…)` as comparisons; None where the right side is no range.

    Raises:
        KernelTypeError: a number or a bound is no integer, or the step is not written out.
    """
    if iterator_name(context, interval, expression) != "range" or not isinstance(interval, ast.Call):
        return None
    item, *limits = (usable(context, expression(context, n)) for n in (node, *interval.args))
    start, stop, step = (Literal(0), *limits, Literal(1))[:3] if len(limits) == 1 else (*limits, Literal(1))[:3]
    integers = all(not o.is_float if isinstance(o, Literal) else is_integer(o.type) for o in (item, start, stop))
    if not integers or not isinstance(step, Literal) or step.is_float or step.value == 0 or interval.keywords:
        message = "in range(…) takes integers, and a step that is written out."
        raise context.type_error(message, "Write the comparisons out.")
    less, more = ("le", "lt") if step.value > 0 else ("ge", "gt")
    bounds = (less, (start, item)), (more, (item, stop))
    inside = apply(context, TABLE["and_"], [apply(context, TABLE[name], pair) for name, pair in bounds])
    if abs(step.value) != 1:
        rest = apply(context, TABLE["mod"], (apply(context, TABLE["sub"], (item, start)), Literal(abs(step.value))))
        inside = apply(context, TABLE["and_"], (inside, apply(context, TABLE["eq"], (rest, Literal(0)))))
    return inside
