"""Loops and indices in the form in which they run faster.

**Counted loops** (`counted`). `while k < n: …; k += 1`, where n does not change, has one exit as a `for` when it is cut
into strips (`backends/cpu/emit/loops.py`), and vectorises as one.

**Early exits** (`early_exits`). The front end writes `for … in range(24): … break` with idle rounds, since a short
range can be written out. A longer one is quicker as a `while`, a loop that ends: a gang's threads then leave it one by
one, and its adjoint keeps all states.

**Counters** (`split_counters`). `for k in range(row[i], row[i + 1]): … x[k]` means `x[k + n]` where k is negative.
Behind that choice a compiler does not see that x[k], x[k + 1], … lie side by side, and gathers them. So a loop whose
counter may begin below 0 becomes two: for what begins below 0, and for the rest, where no index is wrapped. Only
innermost loops are split, so code grows by no more than what they are.

**Divisors** (`uniform_divisors`). In `i // w` and `i % n` the divisor, a parameter or a size, is the same in all
threads. No CPU divides vectors of integers. By a number that is known before the loops a quotient is a product with its
reciprocal, and a remainder what is left: no division per thread, and threads go side by side. Literal divisors are left
to the compiler, which knows more of them.

**Strides** (`unit_strides`). In views whose rows have no gaps, what threads access along a row is as adjacent as in a
dense array. Where that holds of columns, of arrays of NumPy's order F and of transposed views, the same is found of the
function that has all indices in reverse (`transposed`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial, reduce

from msgspec.structs import replace

from workbench.builtins import TABLE
from workbench.ir.analysis import Analysis, Atom
from workbench.ir.build import Builder, Rewriter, copy_block, fresh, replace_body, rewrite
from workbench.ir.ops import ACCESSES, AXIS, COLD, ELEMENTS, LOOPS, PURE, VALUE, Number, attributes
from workbench.ir.values import Block, Function, Op, Value, array_of, indices_of, walk
from workbench.limits import SPLIT_LOOP_OPERATIONS, UNROLLED_ITERATIONS
from workbench.passes.analysis.cost import constants, known_trips
from workbench.passes.analysis.divergence import varying_values
from workbench.types import Kind, Scalar, element, int32, uint32
from workbench.types import bool as bool_


def counted(function: Function) -> Function:
    """Return the function with its counting `while`s as `for`s."""
    return rewrite(function, partial(_change, constants(function.body)))


def _change(known: Mapping[Value, Number], rewriter: Rewriter, op: Op) -> Iterator[Op] | None:
    """Return the operations that replace a `while` that only counts; None for any other operation."""
    if op.name != "while":
        return None
    condition, body = op.blocks
    bound = bound_of(condition)
    if bound is None or not _is_next(body, bound[0]):
        return None
    return iter(_as_for(known, rewriter, op, *bound))


def bound_of(condition: Block) -> tuple[int, Value] | None:
    """Return the number of the carried value that a condition bounds from above, and its bound.

    None if the condition is no such test, or its bound may change while the loop runs.
    """
    if len(condition.ops) < 2:
        return None  # a condition that is a name
    *before, test, end = condition.ops
    if test.name not in ("lt", "gt") or end.operands != test.results:
        return None
    low, high = test.operands if test.name == "lt" else reversed(test.operands)
    changing = set(condition.params)
    if low not in changing or not isinstance(low.type, Scalar) or low.type.kind is not Kind.INT:
        return None
    for op in before:
        # What stands before the test is moved before the loop, so it must not depend on the turn, nor have effects.
        if op.blocks or not changing.isdisjoint(op.operands) or not (op.name in PURE or op.name in TABLE):
            return None
    return (condition.params.index(low), high) if high not in changing else None


def _is_next(body: Block, number: int) -> bool:
    """Return whether an iteration adds 1 to the carried value with this number."""
    following = body.yielded[number]
    defining = {v: op for op in body.ops for v in op.results}
    step = defining.get(following)
    if step is None or step.name != "add" or body.params[number] not in step.operands:
        return False
    other = defining.get(next((v for v in step.operands if v is not body.params[number]), following))
    return other is not None and other.name == "const" and other.attrs[VALUE] == 1


def _as_for(known: Mapping[Value, Number], rewriter: Rewriter, op: Op, number: int, stop: Value) -> tuple[Op, ...]:
    """Return a `for` in place of a counting `while`, between what computes its bound and the counter's last value.

    Args:
        known: the constants of the function.
        rewriter: rewrites the loop's body.
        op: the `while`.
        number: of the carried value that counts.
        stop: its bound.
    """
    condition, body = op.blocks
    start, builder = op.operands[number], Builder()
    builder.location = op.location
    for before in condition.ops[:-2]:
        builder.append(before)
    step = builder.const(1, start.type)
    end = body.ops[-1]
    rest = tuple(v for k, v in enumerate(end.operands) if k != number)
    params = (body.params[number], *_without(body.params, number))
    inside = rewriter.block(Block(params, (*body.ops[:-1], end.replace(rest))))
    if known.get(start, -1) >= 0:
        inside = Rewriter(partial(_without_wrap, params[0])).block(inside)
    operands = (start, stop, step, *_without(op.operands, number))
    results = _without(op.results, number)
    builder.append(Op("for", operands, results, op.attrs, (inside,), op.location))
    # The counter ends at `stop`, or stays at `start` if there was no turn.
    some = builder.one("lt", (start, stop), bool_)
    builder.append(Op("where", (some, stop, start), (op.results[number],), {}, (), op.location))
    return builder.body().ops


def _without_wrap(counter: Value, rewriter: Rewriter, op: Op) -> Iterator[Op] | None:
    """Replace the `wrap_index` of a counter that is never below 0 by the counter; None for operations that stay."""
    if op.name != "wrap_index" or op.operands[0] is not counter:
        return None
    rewriter.mapping[op.result] = counter
    return iter(())


def _without(values: tuple[Value, ...], number: int) -> tuple[Value, ...]:
    """Return the values but for the one with this number."""
    return values[:number] + values[number + 1 :]


def early_exits(function: Function) -> Function:
    """Return the function with long `for`s whose remaining iterations are idle after a break as `while`s that end."""
    known = constants(function.body)

    def change(_: Rewriter, op: Op) -> tuple[Op, ...] | None:
        left = _exit_flag(op) if op.name == "for" and (known_trips(op, known) or 0) > UNROLLED_ITERATIONS else None
        return None if left is None or not _fits(op, known) else _as_while(op, left, known[op.operands[2]] > 0)

    return rewrite(function, change)


def _exit_flag(op: Op) -> Value | None:
    """Return the carried flag by which a `for` skips its remaining iterations; None if it has none."""
    (body,) = op.blocks
    tests = {o.result: o.operands[0] for o in body.ops if o.name == "not_"}
    guards = [o for o in body.ops if o.name == "if"]
    if len(guards) != 1 or any(o.name not in ("const", "not_", "if", "yield") for o in body.ops):
        return None
    (guard,) = guards
    left = tests.get(guard.operands[0])
    if left not in body.params[1:] or len(guard.blocks[1].ops) != 1 or not LOOPS.isdisjoint(body.op_names):
        return None
    idle = dict(zip(guard.results, guard.blocks[1].yielded, strict=True))
    same = all(idle.get(v, v) is p for v, p in zip(body.yielded, body.params[1:], strict=True))
    return left if same else None


def _fits(op: Op, known: Mapping[Value, int | float]) -> bool:
    """Return whether the index can count one step beyond the last iteration without overflow."""
    start, _, step = (int(known[v]) for v in op.operands[:3])
    scalar, trips = element(op.operands[0].type), known_trips(op, known) or 0
    return scalar.kind is Kind.INT and abs(start + trips * step) < 2 ** (scalar.bits - 1)


def _as_while(op: Op, left: Value, rises: bool) -> tuple[Op, ...]:
    """Return a `for` that skips its remaining iterations by a flag as a `while` that ends there.

    Args:
        op: the `for`.
        left: the carried flag; True after a break.
        rises: whether its step is positive.
    """
    (body,) = op.blocks
    start, stop, step = op.operands[:3]
    guard = next(o for o in body.ops if o.name == "if")
    b = Builder()
    b.location = op.location
    tested = [fresh(p) for p in body.params]
    with b.block(tested) as condition:
        on = b.one("not_", (tested[body.params.index(left)],), bool_)
        more = b.one("lt" if rises else "gt", (tested[0], stop), bool_)
        b.yield_(b.one("and_", (on, more), bool_))
    with b.block(body.params) as opened:
        b.extend(o for o in body.ops if o.name == "const")
        b.extend(guard.blocks[0].ops[:-1])
        done = dict(zip(guard.results, guard.blocks[0].yielded, strict=True))
        b.yield_(b.one("add", (body.params[0], step), start.type), *(done.get(v, v) for v in body.yielded))
    results = (fresh(body.params[0]), *op.results)
    b.append(Op("while", (start, *op.operands[3:]), results, {}, (condition.block, opened.block), op.location))
    return b.body().ops


def split_counters(function: Function) -> Function:
    """Return the function with innermost `for`s split whose counter may begin below 0 and is a wrapped index.

    Each becomes an `if`: without `wrap_index` if the counter begins at 0 or more, else as it was.
    """
    analysis = Analysis(function)

    def behind(index: Value, counter: Value) -> bool:
        """Return whether an index is the counter, or the counter plus a positive constant."""
        form = analysis.form(index)
        return form.constant >= 0 and form.terms == {Atom("value", value=counter): 1}

    def change(on: Rewriter, op: Op) -> Iterator[Op] | None:
        if op.name != "for" or not _counts_up(op, analysis):
            return None
        operations, counter = list(walk(op.blocks[0])), op.blocks[0].params[0]
        wrapped = {
            o.result: o.operands[0] for o in operations if o.name == "wrap_index" and behind(o.operands[0], counter)
        }
        if not wrapped or len(operations) > SPLIT_LOOP_OPERATIONS or any(o.name in LOOPS for o in operations):
            return None
        return iter(_split(op, on.block(op.blocks[0]), wrapped))

    return rewrite(function, change)


def _counts_up(op: Op, analysis: Analysis) -> bool:
    """Return whether a `for` counts in steps of 1, through signed integers, from a start that is no constant."""
    # A start that is a constant is not split: its sign is known, and LLVM sees it.
    start, _, step = op.operands[:3]
    literal = start in analysis.defs and analysis.defs[start].name == "const"
    return analysis.number(step) == 1 and not literal and element(start.type).kind is Kind.INT


def _split(op: Op, body: Block, wrapped: Mapping[Value, Value]) -> tuple[Op, ...]:
    """Return the loop twice in an `if`: without `wrap_index` if the counter begins at 0 or more, else as it was."""
    start, stop, step, *init = op.operands
    builder = Builder()
    builder.location = op.location
    zero = builder.const(0, start.type)

    def plain(on: Rewriter, o: Op) -> tuple[Op, ...] | None:
        if o.name != "wrap_index" or o.result not in wrapped:
            return None
        on.mapping[o.result] = o.operands[0]
        return ()

    cold = attributes({**op.attrs, COLD: True})
    rest = Rewriter(plain).block(body)
    # A row of a few turns is soon over: one loop to enter, not two.
    positive = builder.one("ge", (start, zero), bool_)
    with builder.block() as above_0:
        builder.yield_(*builder.for_(start, stop, step, init, rest, op.attrs))
    with builder.block() as below_0:
        builder.yield_(*builder.for_(start, stop, step, init, copy_block(body, {}), cold))
    blocks = above_0.block, below_0.block
    builder.append(Op("if", (positive,), op.results, attributes({}), blocks, op.location))
    return builder.body().ops


DIVISIONS = frozenset({"floordiv", "mod"})
TYPES = frozenset({int32, uint32})
"""Types of which a float64 holds each number, and the quotient of any two well within the distance of two quotients."""


def uniform_divisors(function: Function) -> Function:
    """Return the function with integer `//` and `%` by what is the same in all threads as `floor_quotient`s.

    Divisions by literals, and of what is the same in all threads too, stay.
    """
    analysis = Analysis(function)

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if not divides(op) or _is_literal(op, analysis.defs):
            return None
        x, divisor = op.operands
        return as_product(op) if analysis.uniform(divisor) and not analysis.uniform(x) else None

    return rewrite(function, change)


def divides(op: Op) -> bool:
    """Return whether an operation is a `//` or `%` of int32 or uint32, which can be written as a product."""
    return op.name in DIVISIONS and op.result.type in TYPES


def _is_literal(op: Op, defining: Mapping[Value, Op]) -> bool:
    """Return whether the divisor of a division is a constant."""
    divisor = defining.get(op.operands[1])
    return divisor is not None and divisor.name == "const"


def as_product(op: Op) -> tuple[Op, ...]:
    """Return the operations that replace a `//` or `%`: a `floor_quotient`.

    For a remainder, a product and a difference follow.
    """
    x, divisor = op.operands
    if op.name == "floordiv":
        return (Op("floor_quotient", op.operands, op.results, {}, (), op.location),)
    quotient, product = Value(op.result.type), Value(op.result.type)
    return (
        Op("floor_quotient", op.operands, (quotient,), {}, (), op.location),
        Op("mul", (quotient, divisor), (product,), {}, (), op.location),
        Op("sub", (x, product), op.results, {}, (), op.location),
    )


def unit_strides(function: Function) -> Function | None:
    """Return a function that tests whether there are no gaps in the rows along which threads access arrays.

    It is None if threads access no array along rows.
    """
    varying = varying_values(function)
    accesses = [op for op in walk(function.body) if op.name in ACCESSES and not array_of(op.operands[0]).pitch]
    arrays = dict.fromkeys(op.operands[0] for op in accesses if indices_of(op)[-1] in varying)
    if not arrays:
        return None
    b = Builder()
    tests = [b.one("unit_stride", (array,), bool_, {AXIS: array_of(array).ndim - 1}) for array in arrays]
    b.yield_(reduce(lambda one, other: b.one("and_", (one, other), bool_), tests))
    return replace_body(function, b.body())


def transposed(function: Function) -> Function:
    """Return the function with the indices and sizes of every array in reverse."""

    def change(_: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name in ("shape", "unit_stride"):
            axis = array_of(op.operands[0]).ndim - 1 - op.attrs[AXIS]
            return (op.replace(attrs=attributes({**op.attrs, AXIS: axis})),)
        if op.name not in ELEMENTS:
            return None
        array, *rest = op.operands
        ndim = array_of(array).ndim
        return (op.replace((array, *reversed(rest[:ndim]), *rest[ndim:])),)

    return replace(rewrite(function, change), transposed=not function.transposed)
