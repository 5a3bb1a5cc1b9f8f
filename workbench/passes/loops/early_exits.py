"""A `for` whose rounds are idle once it has been left, as a `while` that ends there.

The front end writes `for … in range(24): … break` so, since a short range can be written out. On the CPU a longer one
is quicker as a loop that ends: a gang's threads then leave it one by one, and its adjoint keeps all states.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir.build import Builder
from workbench.ir.ops import LOOPS
from workbench.ir.rewrite import Rewriter, fresh, rewrite
from workbench.ir.values import Function, Op, Value
from workbench.limits import UNROLLED_ITERATIONS
from workbench.passes.analysis.cost import constants, known_trips
from workbench.types import Kind, element
from workbench.types import bool as bool_


def early_exits(function: Function) -> Function:
    """Return the function with such loops."""
    known = constants(function.body)

    def change(_: Rewriter, op: Op) -> tuple[Op, ...] | None:
        left = _left(op) if op.name == "for" and (known_trips(op, known) or 0) > UNROLLED_ITERATIONS else None
        return None if left is None or not _fits(op, known) else _as_while(op, left, known[op.operands[2]] > 0)

    return rewrite(function, change)


def _left(op: Op) -> Value | None:
    """Return the carried flag by which a `for` skips its remaining turns; None if it is not of that form."""
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
    """Return whether the index can count one step beyond the last turn."""
    start, _, step = (int(known[v]) for v in op.operands[:3])
    scalar, trips = element(op.operands[0].type), known_trips(op, known) or 0
    return scalar.kind is Kind.INT and abs(start + trips * step) < 2 ** (scalar.bits - 1)


def _as_while(op: Op, left: Value, rises: bool) -> tuple[Op, ...]:
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
