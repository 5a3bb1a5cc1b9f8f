"""Sequences known at compile time: what Python does to tuples, vectors and ranges that their elements decide.

A sequence is a tuple of operands, so an unrolled loop, an unpacking and a membership test see the same elements: those
of a tuple, a vector, `enumerate`, `zip` and `reversed`.

A tuple is never in memory: what Python does to it (comparisons, subscripts, `sum prod any all divmod`, …) is written
out for its elements. Where only a run knows which elements there are, as of an array, a range to n or behind an `if`,
`sum prod any all min max` are the loops that they mean.

Nothing can tell a list of the function's own, `row = [0.0] * 4` or `grid = [[0] * 3 for _ in range(3)]`, from a tuple,
a vector or a matrix as long as it has one name that is only indexed, looped over, searched with `in` or given to `len
sum min max any all`. So that is what it is: a list whose elements are assigned is a vector, or a matrix if they are
lists; any other one is a tuple, or a matrix. Another use, which would let two names change one list, is refused at that
use.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, TypeGuard

import msgspec
from msgspec.structs import replace

from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.rules import common_type
from workbench.frontend.names import python_names
from workbench.frontend.names.python_names import callee_name, captured_value
from workbench.frontend.state import coerce
from workbench.frontend.state.coerce import convert, weak
from workbench.frontend.state.context import Context, Env, FormHandler
from workbench.frontend.state.operands import Literal, Operand, Static, View
from workbench.frontend.state.paths import stored
from workbench.frontend.values import structs, vectors, views
from workbench.host.narrow import is_tuple
from workbench.ir.values import Value, number_of
from workbench.limits import UNROLLED_SEQUENCE
from workbench.source import located, nodes_of
from workbench.types import ArrayType, Matrix, Scalar, Vector, element, int32, is_float, is_integer, strong
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


def iterator_name(context: Context, node: ast.expr) -> str:
    """Return the name of the iterator that a node calls: `range`, `zip`, `hash_grid_query`, …; empty for none."""
    if not isinstance(node, ast.Call):
        return ""
    callee = context.lower(node.func)
    if not isinstance(callee, Static):
        return ""
    known = isinstance(callee.value, type) and ITERATORS.get(callee.value, "")
    name = callee_name(callee.value)
    return known or (name if name in ("range", "hash_grid_query") else "")


def is_display(node: ast.expr) -> bool:
    """Return whether an expression is a list: `[a, b]`, `[0.0] * n`, `n * [0.0]` or a list comprehension."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return is_display(node.left) or is_display(node.right)
    return isinstance(node, (ast.List, ast.ListComp))


def unchanged(context: Context, node: ast.expr) -> Operand:
    """Lower an expression; a list that is written out where nothing can change it is the tuple of its elements."""
    return displayed(context, node) if is_display(node) else context.lower(node)


def displayed(context: Context, node: ast.expr) -> tuple[Operand, ...]:
    """Lower the elements of a list or of a generator expression; return those that are lists as tuples.

    Raises:
        KernelTypeError: how often a list is repeated is known only when running.
    """
    if isinstance(node, Generated):
        items: list[Operand] = []
        _generate(context, node, node.generators, items)
        return tuple(items)
    if isinstance(node, ast.List):
        return tuple(unchanged(context, n) for n in node.elts)
    assert isinstance(node, ast.BinOp)
    left, right = unchanged(context, node.left), unchanged(context, node.right)
    result = combined(context, "mul", left, right)
    if result is None:
        times = coerce.describe(right if isinstance(left, tuple) else left)
        message = f"How often a list is repeated must be known at compile time; this is {times}."
        raise context.type_error(message, "Write a number, or static(n).")
    return result


def sequence(context: Context, node: ast.expr) -> tuple[Operand, ...]:
    """Lower what a loop runs over, and return its elements, which are known at compile time.

    Raises:
        KernelSyntaxError: it is not a sequence known at compile time.
        KernelTypeError: it is too long to be unrolled, or `zip(…, strict=True)` gets unequal lengths.
    """
    name = iterator_name(context, node)
    with context.at(node):
        if name not in SEQUENCES:
            operand = unchanged(context, node)
            if isinstance(operand, View) or (isinstance(operand, Value) and isinstance(operand.type, ArrayType)):
                raise context.syntax_error(*ARRAY)
            items = elements(context, operand)
        else:
            assert isinstance(node, ast.Call)
            items = SEQUENCES[name](context, node)
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
            return vectors.parts(context, operand)
        return None
    coerce.usable(context, operand)  # refuses what has no value
    return None


def _range(context: Context, node: ast.Call) -> tuple[Operand, ...]:
    """Return the numbers of a `range(…)` that is unrolled, as literals.

    Raises:
        KernelTypeError: a bound is not known at compile time, or there are more than `UNROLLED_SEQUENCE` numbers.
    """
    bounds = [context.lower(a) for a in node.args]
    if node.keywords or not all(isinstance(g, Literal) and not g.is_float for g in bounds):
        message = "The bounds of this range are not known at compile time, and here they must be."
        raise context.type_error(message, "Write for i in range(…), and compute the other names from i.")
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


def start_of(context: Context, node: ast.Call) -> tuple[ast.expr, Value | Literal]:
    """Return the argument of `enumerate` and the number that it counts from.

    Raises:
        KernelTypeError: it has other arguments, or counts from a float.
    """
    arguments = coerce.nodes_by_name(context, node, "iterable start?")
    first = coerce.usable(context, context.lower(arguments["start"])) if "start" in arguments else Literal(0)
    if isinstance(first, Literal) and first.is_float:
        raise context.type_error("enumerate() counts from an integer; this is a float.", "Write int(…).")
    return arguments["iterable"], first


def _enumerate(context: Context, node: ast.Call) -> tuple[Operand, ...]:
    """Return the pairs (number, item) of an `enumerate(…)` that is unrolled."""
    inner, first = start_of(context, node)
    items = sequence(context, inner)
    if isinstance(first, Literal):
        return tuple((Literal(int(first.value) + k), item) for k, item in enumerate(items))
    return tuple((coerce.apply(context, TABLE["add"], (first, Literal(k))), item) for k, item in enumerate(items))


def _zip(context: Context, node: ast.Call) -> tuple[Operand, ...]:
    """Return the tuples of a `zip(…)` that is unrolled, as many as its shortest sequence has items.

    Raises:
        KernelTypeError: it has keywords other than `strict`, or `strict=True` and unequal lengths.
    """
    strict = {k.arg: k.value for k in node.keywords}
    flag = strict.pop("strict", ast.Constant(False))
    if strict or not isinstance(flag, ast.Constant):
        raise context.type_error("zip() takes sequences, and strict=True.")
    sequences = [sequence(context, a) for a in node.args]
    if flag.value and len({len(f) for f in sequences}) > 1:
        lengths = ", ".join(str(len(f)) for f in sequences)
        raise context.type_error(f"The sequences of zip(…, strict=True) have {lengths} elements.")
    return tuple(zip(*sequences, strict=False))


def _reversed(context: Context, node: ast.Call) -> tuple[Operand, ...]:
    """Return the items of a sequence that is unrolled, the last first.

    Raises:
        KernelTypeError: there is not exactly one argument.
    """
    (inner,) = coerce.nodes_by_name(context, node, "sequence /").values()
    return sequence(context, inner)[::-1]


SEQUENCES: dict[str, Callable[[Context, ast.Call], tuple[Operand, ...]]] = {
    "range": _range, "enumerate": _enumerate, "zip": _zip, "reversed": _reversed,
}  # fmt: skip


def contains(context: Context, left: Operand, right: Operand) -> Value:
    """Emit `left in right`, where right is a tuple or a vector; return a bool value.

    Raises:
        KernelTypeError: right is something else.
    """
    items = elements(context, right)
    if items is None:
        raise context.type_error(
            f"in takes a tuple or a vector on its right; this is {coerce.describe(right)}.",
            "Write the comparisons out.",
        )
    item = coerce.usable(context, left)
    result: Value | None = None
    for each in items:
        part = _equal(context, item, coerce.usable(context, each))
        result = part if result is None else coerce.apply(context, TABLE["or_"], (result, part))
    return context.builder.const(False, bool_) if result is None else result


def _equal(context: Context, a: Value | Literal, b: Value | Literal) -> Value:
    """Emit the equality that `in` means: what is the same value is equal, even a NaN."""
    if isinstance(a, Literal) and isinstance(b, Literal):
        return context.builder.const(a.value in (b.value,), bool_)
    return context.builder.const(True, bool_) if a is b else coerce.apply(context, TABLE["eq"], (a, b))


def contains_of_range(context: Context, node: ast.expr, interval: ast.expr) -> Value | None:
    """Emit `n in range(…)` as comparisons; None where the right side is no range.

    Raises:
        KernelTypeError: a number or a bound is no integer, or the step is not written out.
    """
    if iterator_name(context, interval) != "range" or not isinstance(interval, ast.Call):
        return None
    item, *limits = (coerce.usable(context, context.lower(n)) for n in (node, *interval.args))
    start, stop, step = (Literal(0), *limits, Literal(1))[:3] if len(limits) == 1 else (*limits, Literal(1))[:3]
    integers = all(not o.is_float if isinstance(o, Literal) else is_integer(o.type) for o in (item, start, stop))
    if not integers or not isinstance(step, Literal) or step.is_float or step.value == 0 or interval.keywords:
        message = "in range(…) takes integers, and a step that is written out."
        raise context.type_error(message, "Write the comparisons out.")
    less, more = ("le", "lt") if step.value > 0 else ("ge", "gt")
    bounds = (less, (start, item)), (more, (item, stop))
    inside = coerce.apply(context, TABLE["and_"], [coerce.apply(context, TABLE[name], pair) for name, pair in bounds])
    if abs(step.value) != 1:
        rest = coerce.apply(
            context, TABLE["mod"], (coerce.apply(context, TABLE["sub"], (item, start)), Literal(abs(step.value)))
        )
        inside = coerce.apply(context, TABLE["and_"], (inside, coerce.apply(context, TABLE["eq"], (rest, Literal(0)))))
    return inside


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
            part = contains(context, a, (b,))
        same = coerce.apply(context, TABLE["and_"], (same, part))
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
            decided = coerce.apply(context, TABLE[name], (coerce.usable(context, a), coerce.usable(context, b)))
        result = coerce.apply(context, TABLE["where"], (same, result, decided))
    return result


def part(context: Context, items: tuple[Operand, ...], node: ast.expr) -> Operand | None:
    """Return `items[1:]`, `items[-1]` or `items[i]`; None where the index is no integer, or out of range.

    An index that only a run computes takes numbers that have a common type.

    Raises:
        KernelTypeError: the bounds of a slice are not known, or the numbers have no common type.
    """
    if isinstance(node, ast.Slice):
        span = vectors.written_slice(vectors.bounds(context, node))
        if span is None or span.step == 0:
            message = "The bounds of a slice of a tuple are written out, and its step is not 0."
            raise context.type_error(message, "Take its elements one by one.")
        return items[span]
    index = context.lower(node)
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
    type = common_type("[i]", [coerce.weak(n) for n in numbers])
    if isinstance(type, Scalar) and not type.weak:
        items_type = Vector(count, type)
        row = one("vec", [coerce.convert(context, n, type) for n in numbers], items_type)
        return one("extract", (row, vectors.component(context, items_type, index)), type)
    # What has no type yet is in no vector: numbers are compared with the index, which is checked as a vector's is.
    index_type = Vector(count, int32)
    row = context.builder.const(tuple(range(count)), index_type)
    position = one("extract", (row, vectors.component(context, index_type, index)), int32)
    result: Operand = numbers[-1]
    for k, number in reversed([*enumerate(numbers[:-1])]):
        result = coerce.apply(
            context, TABLE["where"], (coerce.apply(context, TABLE["eq"], (position, Literal(k))), number, result)
        )
    return coerce.materialise(context, result)


def items_of(context: Context, node: ast.expr) -> tuple[Operand, ...]:
    """Return the elements of what is known now, or of a generator expression over it.

    Raises:
        KernelSyntaxError, KernelTypeError: it is an array, a number, or has a condition that only a run decides.
    """
    if isinstance(node, ast.Call):
        return sequence(context, node)
    if isinstance(node, Generated) or is_display(node):
        return displayed(context, node)
    operand = context.lower(node)
    items = None if views.is_array(operand) else elements(context, operand)
    if items is None:
        message = f"A tuple, a vector or a generator expression is expected here; this is {coerce.describe(operand)}."
        raise context.type_error(message, "Write a loop: for v in x: s += v.")
    return items


def _generate(
    context: Context, node: Generated, over: Sequence[ast.comprehension], items: list[Operand], dry: bool = False
) -> bool:
    """Append to `items` the elements of a generator expression or comprehension, unrolled over the clauses `over`.

    Returns:
        Whether only a run knows which elements there are, at the first sign of which a `dry` run stops.

    Raises:
        KernelSyntaxError: only a run knows it, and this is not a dry run.
    """
    if not over:
        items.append(unchanged(context, node.elt))
        return False
    first, *inner = over
    if dry and _is_open(context, first.iter):
        return True
    names = [n.id for n in ast.walk(first.target) if isinstance(n, ast.Name)]
    for item in sequence(context, first.iter):
        with _scope(context.env, names):
            _bind(context, first.target, item)
            known: bool | None = True
            for test in first.ifs:
                known = _decided(context, test)
                if known is None and dry:
                    return True
                if known is None:
                    with context.at(test):
                        message = "Which elements a generator expression leaves out must be known at compile time."
                        raise context.syntax_error(message, "Give 0 in their place: a if condition else 0.")
                if not known:
                    break
            if known and _generate(context, node, inner, items, dry):
                return True
    return False


def _decided(context: Context, test: ast.expr) -> bool | None:
    """Return the value of an `if` of a generator expression at compile time; None if only a run decides it."""
    with context.at(test):
        with context.builder.block() as opened:
            known = coerce.truth(context, context.lower(test))
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
    items = elements(context, item)
    if items is None or len(items) != len(parts):
        raise context.type_error(f"{coerce.describe(item)} cannot be unpacked into {ast.unparse(target)}.")
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


def _is_open(context: Context, node: ast.expr) -> bool:
    """Return whether only a run knows which elements there are, as of an array or behind an `if`."""
    if isinstance(node, Generated):
        first, *others = node.generators
        if not (others or first.ifs):
            return _is_open(context, first.iter)
        return _generate(context, node, node.generators, [], dry=True)
    if not isinstance(node, ast.Call):
        return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and views.is_array(context.lower(node))
    name = iterator_name(context, node)
    if name == "range":
        return any([isinstance(context.lower(a), Value) for a in node.args])
    return name in SEQUENCES and any([_is_open(context, a) for a in node.args])


def looped(context: Context, name: str, node: ast.Call) -> Operand | None:
    """Lower `sum(x[j] for j in range(n))`, also `prod any all min max`, as the loop that it means, in its own scope.

    Returns:
        The result; None where the elements are known at compile time, and are written out.
    """
    before = dict(context.env)
    with context.builder.block():  # which is dropped: nothing is computed twice
        is_open = _is_open(context, node.args[0])
    context.env.clear()
    context.env.update(before)
    if not is_open:
        return None
    # Built once: a loop around it may be lowered again, and knows the loops inside by their nodes.
    body = _as_loop(node, name)
    inner = replace(context, env=dict(context.env), loops=[], caller=context, of_expression=True)
    trace, context.shared.trace = context.shared.trace, False
    try:
        return context.shared.syntax.body(inner, body)
    finally:
        context.shared.trace = trace


@stored
def _as_loop(node: ast.Call, name: str) -> list[ast.stmt]:
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


def _reduction(name: str, unrolled: FormHandler, parameters: str = "iterable /") -> FormHandler:
    """Return the lowering of a form with these parameters as a loop, or by `unrolled` if its elements are known."""

    def lower(context: Context, node: ast.Call) -> Operand:
        coerce.nodes_by_name(context, node, parameters)
        in_loop = looped(context, name, node)
        return in_loop if in_loop is not None else unrolled(context, node)

    return lower


def _sum(context: Context, node: ast.Call) -> Operand:
    """Lower `sum(x)` or `sum(x, start)` of known elements."""
    total = coerce.usable(context, context.lower(node.args[1])) if len(node.args) > 1 else Literal(0)
    for item in items_of(context, node.args[0]):
        total = _added(context, total, coerce.usable(context, item))
    return total


def _prod(context: Context, node: ast.Call) -> Operand:
    """Lower `prod(x)` of known elements; the product of literals is a literal."""
    items = [coerce.usable(context, item) for item in items_of(context, node.args[0])]
    if all(isinstance(item, Literal) for item in items):
        return Literal(math.prod(item.value for item in items if isinstance(item, Literal)))
    return reduce(lambda a, b: coerce.apply(context, TABLE["mul"], (a, b)), items)


def _added(context: Context, a: Value | Literal, b: Value | Literal) -> Value | Literal:
    """Emit the sum of two operands; two literals are folded, and a first literal integer 0 is left out."""
    if isinstance(a, Literal) and (a.value == 0 or isinstance(b, Literal)):
        if isinstance(b, Literal):
            return Literal(a.value + b.value)
        if b.type != bool_ and not a.is_float:
            return b  # Python's sum begins with the integer 0
    return coerce.apply(context, TABLE["add"], (a, b))


def _quantified(sign: str) -> FormHandler:
    """Return the lowering of `all(x)` ("and_") or `any(x)` ("or_") of known elements."""

    def lower(context: Context, node: ast.Call) -> Operand:
        result = context.builder.const(sign == "and_", bool_)
        for item in items_of(context, node.args[0]):
            known = coerce.truth(context, item)
            test = context.builder.const(known, bool_) if isinstance(known, bool) else known
            result = coerce.apply(context, TABLE[sign], (result, test))
        return result

    return lower


def _tuple(context: Context, node: ast.Call) -> Operand:
    """Lower `tuple(x)` to the operands of its items; () without an argument."""
    return items_of(context, node.args[0]) if node.args else ()


def _divmod(context: Context, node: ast.Call) -> Operand:
    """Lower `divmod(a, b)` to the operands of the quotient and the remainder.

    Raises:
        KernelTypeError: it has keywords, or not two arguments.
    """
    a, b = (coerce.usable(context, operand) for operand in coerce.lowered(context, node, "a b /").values())
    if isinstance(a, Literal) and isinstance(b, Literal):
        a = coerce.materialise(context, a)
    return tuple(coerce.apply(context, TABLE[name], (a, b)) for name in ("floordiv", "mod"))


FORMS: dict[str, FormHandler] = {
    "sum": _reduction("sum", _sum, "iterable start? /"),
    "prod": _reduction("prod", _prod),
    "any": _reduction("any", _quantified("or_")),
    "all": _reduction("all", _quantified("and_")),
    "tuple": _tuple,
    "divmod": _divmod,
}


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


def list_of(context: Context, name: str, node: ast.expr) -> Operand:
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
    items = displayed(context, node)
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
