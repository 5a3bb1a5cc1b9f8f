"""Loops over constant ranges written out: what makes a carried value of each iteration a value of its own."""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import partial

from workbench.ir.build import Replacements, copy_op, replace_body
from workbench.ir.ops import LOADS, VALUE
from workbench.ir.values import Block, Function, Op, Value, number_of, scalar_of, walk
from workbench.limits import DECIDED_NEST_OPERATIONS, DECIDED_OPERATIONS
from workbench.passes.fold import fold
from workbench.types import is_integer


def unroll(function: Function, limit: int, chosen: Callable[[Op], bool] = lambda op: True) -> Function:
    """Return the function with each chosen `for` over a constant range written out, inner loops first.

    Args:
        function: any legal IR; fold it first, so that bounds that can be constants are.
        limit: a loop stays as it is if it would become more operations than this.
        chosen: returns whether a loop may be written out.

    Returns:
        A new function, or `function` itself if no loop was written out.
    """
    unroller = _Unroller(function, limit, chosen)
    body = unroller.block(function.body)
    return replace_body(function, body) if unroller.done else function


def write_out(function: Function) -> Function:
    """Return the function with loops written out whose counters decide a condition or choose a component.

    A vector or matrix that is indexed by a counter lies in memory, and a condition on a counter is a branch; where each
    iteration is written out, the one is values, and the other is decided. A loop is written out if its range is known
    and some such index or condition depends on counters and constants alone. That may make the ranges of inner loops
    known (`for j in range(i + 1)`). Where these would become too many operations, loops around such ones stay: hundreds
    of inner loops take longer to compile than either.
    """
    names = function.body.op_names
    if "for" not in names or names.isdisjoint(("extract", "insert", "if")):
        return function
    return _written_out(function, DECIDED_NEST_OPERATIONS) or _written_out(function, 0) or function


def _written_out(function: Function, room: int) -> Function | None:
    """Return the function with loops written out; None if those whose range that makes known take too much room.

    Args:
        function: any legal IR.
        room: the operations that they may become; 0: loops around loops of unknown range stay.
    """
    before = 0
    while True:
        constants = {op.result for op in walk(function.body) if op.name == "const"}
        larger = unroll(function, DECIDED_OPERATIONS, partial(_decides, constants, nests=room > 0))
        if larger is function:
            return function
        function = fold(larger)
        size = sum(1 for _ in walk(function.body))
        if room and before and size - before > room:
            return None
        before = before or size


def _decides(constants: Set[Value], loop: Op, nests: bool) -> bool:
    """Return whether a loop's counter decides a condition or chooses a component in its body.

    Constants and the counters of loops in it may take part, nothing else. Without `nests` it does not if there is a
    loop of unknown range in it.
    """
    (body,) = loop.blocks
    counter = body.params[0]
    known, of_counter = {counter}, {counter}
    operations = list(walk(body))
    if not nests and any(op.name == "for" and not constants >= {*op.operands[:3]} for op in operations):
        return False
    for op in operations:  # each after what it uses
        chooses = op.operands[1:2] if op.name in ("extract", "insert") else op.operands[:1] if op.name == "if" else ()
        if not of_counter.isdisjoint(chooses):
            return True
        bounds = op.operands[:3] if op.name == "for" else op.operands
        if not bounds or not all(v in known or v in constants for v in bounds):
            continue
        results = op.blocks[0].params[:1] if op.name == "for" else () if op.blocks or op.name in LOADS else op.results
        known.update(results)
        if not of_counter.isdisjoint(bounds):
            of_counter.update(results)
    return False


class _Unroller:
    """Rewrites blocks with loops written out.

    Attributes:
        limit: the most operations that a loop may become.
        chosen: returns whether a loop may be written out.
        done: how many were.
        mapping: the results of these loops to the values that replace them.
        constants: the function's integer constants.
    """

    def __init__(self, function: Function, limit: int, chosen: Callable[[Op], bool]) -> None:
        self.limit = limit
        self.chosen = chosen
        self.done = 0
        self.mapping: Replacements = {}
        self.constants = _constants(function)

    def block(self, block: Block) -> Block:
        """Return the block with its chosen loops written out."""
        ops: list[Op] = []
        for op in block.ops:
            self.op(op, ops)
        return Block(block.params, tuple(ops))

    def op(self, op: Op, into: list[Op]) -> None:
        """Append a copy of the operation to `into`, with the loops inside it unrolled.

        A loop that is chosen, of known range and within the limit when written out, is itself written out instead.
        """
        operands = tuple(self.mapping.get(v, v) for v in op.operands)
        blocks = tuple(self.block(b) for b in op.blocks)
        copied = op.replace(operands, blocks=blocks)
        # The original operation decides: its operands are the values whose constants are known.
        constants = self.range(op) if op.name == "for" and self.chosen(op) else None
        # Inner loops are written out already, so nested loops are counted with all their iterations.
        if constants is None or len(constants) * sum(1 for _ in walk(blocks[0])) > self.limit:
            into.append(copied)
            return
        self.done += 1
        self.write_out(copied, constants, into)

    def range(self, op: Op) -> range | None:
        """Return the loop's indices; None if its bounds are no constants, or its step is 0."""
        bounds = [self.constants.get(v) for v in op.operands[:3]]
        start, stop, step = bounds
        return range(start, stop, step) if start is not None and stop is not None and step else None

    def write_out(self, op: Op, constants: range, into: list[Op]) -> None:
        """Append a loop's iterations to `into`, one per number in `constants`; map its results to the last values."""
        (body,) = op.blocks
        index, *params = body.params
        carried = op.operands[3:]
        for number in constants:
            here = Value(index.type, index.name)
            into.append(Op("const", (), (here,), VALUE.of(number), (), op.location))
            mapping: Replacements = {index: here, **dict(zip(params, carried, strict=True))}
            into += [copy_op(inner, mapping) for inner in body.ops[:-1]]
            carried = tuple(mapping.get(v, v) for v in body.yielded)
        self.mapping.update(zip(op.results, carried, strict=True))


def _constants(function: Function) -> dict[Value, int]:
    """Return the values of integer constants, and of casts of these that do not change the number."""
    constants: dict[Value, int] = {}
    for op in walk(function.body):
        if op.name == "const" and is_integer(op.result.type):
            constants[op.result] = int(number_of(op))
        elif op.name == "cast" and is_integer(op.result.type) and op.operands[0] in constants:
            number, type = constants[op.operands[0]], scalar_of(op.result)
            # Positive numbers that fit keep their value under any cast between integers.
            if int(type.numpy.type(0)) <= number < 2 ** (type.bits - 1):
                constants[op.result] = number
    return constants
