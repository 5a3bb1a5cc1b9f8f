"""Quotients that the threads of a gang share, in loops: `x[(j + q) % n]` of neighbouring threads lies side by side.

In turn q neighbouring threads divide neighbouring numbers, and but for a few turns they have one quotient. With it, the
remainder is the number minus what all share, so elements lie side by side, and the row `t // w` is the same for all. So
what follows a division is written twice, behind one comparison per gang: with the quotient of its first thread
(`lead`), where that is the one of all of them (`quotient_is`), and as it was. Behind the last of several divisions,
threads that do not share it go in groups that do, one after the other, if groups are not too small.

This is for what gangs run; single threads run the function as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_

from workbench.builtins import TABLE
from workbench.ir.build import Builder, Rewriter, copy_block, fresh, replace_body
from workbench.ir.ops import COLD, ELEMENTS, LOOPS, PURE, REDUCTION, UPDATES
from workbench.ir.values import Block, Function, Op, Value, indices_of, walk
from workbench.limits import SHARED_QUOTIENT_OPERATIONS, SHARED_QUOTIENT_THREADS_LEAST
from workbench.passes.analysis.divergence import Neighbours
from workbench.passes.analysis.intervals import MOST
from workbench.types import Scalar, int32
from workbench.types import bool as bool_


def shared_quotients(function: Function) -> Function:
    """Return the function, as gangs run it, with loops in which they divide once; itself if there are none."""
    names = function.body.op_names
    if "floor_quotient" not in names or names.isdisjoint(LOOPS):
        return function
    if any(op.name in UPDATES and not op.attrs.get(REDUCTION) for op in walk(function.body)):
        return function  # the order of sums is that of gangs
    left, before = set[Op](), None
    while function is not before:  # a remainder is divided again, once its own division is shared
        before, function = function, _Step(function, left).function()
    return function


class _Step:
    """Writes what follows one division of each loop twice.

    Attributes:
        left: divisions that stay as they are.
        neighbours: of the function.
        indices: the values that an access's indices are computed from.
    """

    def __init__(self, function: Function, left: set[Op]) -> None:
        self.whole, self.left, self.neighbours = function, left, Neighbours(function)
        defs = self.neighbours.analysis.defs
        waiting = [v for op in walk(function.body) if op.name in ELEMENTS for v in indices_of(op)]
        self.indices = set[Value]()
        while waiting:
            value = waiting.pop()
            if value not in self.indices:
                self.indices.add(value)
                op = defs.get(value)
                waiting += op.operands if op is not None and op.name not in ELEMENTS else ()

    def function(self) -> Function:
        """Return the function with one more division shared in each block; itself if there is none."""
        body = self.block(self.whole.body, inside=False)
        return self.whole if body is self.whole.body else replace_body(self.whole, body)

    def block(self, block: Block, inside: bool) -> Block:
        """Return a block with one more division shared, here if it is `inside` a loop, or in blocks in it."""
        at = next((n for n, op in enumerate(block.ops) if inside and self.is_shared(op)), None)
        if at is not None:
            return self.divided(block, at)
        ops = tuple([self.rewritten(op, inside or op.name in LOOPS) for op in block.ops])
        return block if all(map(is_, ops, block.ops)) else Block(block.params, ops)

    def rewritten(self, op: Op, inside: bool) -> Op:
        """Return an operation with its blocks rewritten, which are `inside` a loop; itself if none changes."""
        blocks = tuple([self.block(block, inside) for block in op.blocks])
        return op if all(map(is_, blocks, op.blocks)) else op.replace(blocks=blocks)

    def is_shared(self, op: Op) -> bool:
        """Return whether an operation is a division of neighbouring numbers, on which an index depends."""
        if op.name != "floor_quotient" or op in self.left or op.result.type != int32:
            return False
        x, divisor = op.operands
        varying = self.neighbours.varying
        return divisor not in varying and x in varying and bool(self.neighbours.step(x)) and op.result in self.indices

    def divided(self, block: Block, at: int) -> Block:
        """Return a block with what follows the division number `at` twice."""
        division, ops, rest, late = block.ops[at], list(block.ops[:at]), list[Op](), set(block.ops[at].results)
        for op in block.ops[at + 1 : -1]:
            pure = not op.blocks and (op.name in PURE or op.name in TABLE)
            if pure and late.isdisjoint(op.operands) and op.name != "floor_quotient":
                ops.append(op)
            else:
                rest.append(op)
                late.update(op.results)
        divisions = [op for op in _every((division, *rest)) if self.is_shared(op)]
        self.left.update(divisions)
        # Those of a remainder are shared later: each writes what follows once more.
        times = sum(op.name == "floor_quotient" for op in _every((division, *rest)))
        if len(_every(rest)) * times > SHARED_QUOTIENT_OPERATIONS:
            return block
        end = block.ops[-1]
        results = tuple(v for v in dict.fromkeys(end.operands) if v in late)
        rest.append(Op("yield", results, location=end.location))
        b = Builder()
        b.location = division.location
        b.extend(ops)
        x, divisor = division.operands
        quotient = b.one("floor_quotient", (b.one("lead", (x,), int32), divisor), int32)
        agree = b.one("quotient_is", (x, quotient, divisor), bool_)
        general = Block((), (division, *rest))
        careful = _in_groups(general, division) if len(divisions) == 1 else general
        fast = _copied(rest, division, quotient)
        replaced = tuple(map(fresh, results))
        b.append(Op("if", (agree,), replaced, COLD.of(True), (fast, careful), division.location))
        new = dict(zip(results, replaced, strict=True))
        b.append(end.replace(tuple(new.get(v, v) for v in end.operands)))
        return Block(block.params, b.body().ops)


def _every(ops: Iterable[Op]) -> list[Op]:
    """Return operations and those in their blocks."""
    return [o for op in ops for o in (op, *(inner for block in op.blocks for inner in walk(block)))]


def _copied(ops: Iterable[Op], division: Op, quotient: Value) -> Block:
    """Return a block of the operations behind a division for threads that have this quotient.

    What is left of the number then is 0 or more, so as an index it does not count from the end.
    """
    x, divisor = division.operands
    products = {op.result for op in ops if op.name == "mul" and set(op.operands) == {division.result, divisor}}
    subtracted = (op for op in ops if op.name == "sub" and op.operands[0] is x)
    rests = {op.result for op in subtracted if op.operands[1] in products}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name != "wrap_index" or op.operands[0] not in rests:
            return None
        on.mapping[op.result] = op.operands[0]
        return ()

    return copy_block(Rewriter(change).block(Block((), tuple(ops))), {division.result: quotient})


def _in_groups(general: Block, division: Op) -> Block:
    """Return a block that begins with a division and runs it for threads with one quotient, group after group.

    Where a group may be small, it is the block itself.
    """
    results, (x, divisor) = general.yielded, division.operands
    if not all(isinstance(v.type, Scalar) for v in results):
        return general
    b = Builder()
    b.location = division.location
    several = b.one("ge", (divisor, b.const(SHARED_QUOTIENT_THREADS_LEAST)), bool_)
    # A number that wraps between two threads is none of a group.
    steady = b.one("quotient_is", (x, b.const(0), b.const(MOST)), bool_)
    with b.block() as groups:
        init = [b.const(True, bool_), *(b.const(False if v.type == bool_ else 0, v.type) for v in results)]
        states, carried = ([fresh(v) for v in init] for _ in range(2))
        with b.block(states) as condition:
            b.yield_(states[0])
        with b.block(carried) as body:
            quotient = b.one("floor_quotient", (b.one("lead", (x,), int32), divisor), int32)
            rest = b.one("sub", (x, b.one("mul", (quotient, divisor), int32)), int32)
            above = b.one("ge", (rest, b.const(0)), bool_)
            own = b.one("and_", (above, b.one("lt", (rest, divisor), bool_)), bool_)
            once = _copied(general.ops[1:], division, quotient)
            with b.block() as others:
                b.yield_(*carried[1:])
            done = tuple(map(fresh, results))
            b.append(Op("if", (own,), done, {}, (once, others.block), division.location))
            b.yield_(b.one("not_", (own,), bool_), *done)
        b.yield_(*b.while_(init, condition.block, body.block)[1:])
    outcome = tuple(map(fresh, results))
    large = b.one("and_", (several, steady), bool_)
    b.append(Op("if", (large,), outcome, {}, (groups.block, general), division.location))
    b.yield_(*outcome)
    return b.body()
