"""The choice between named locals of the C++ text and expressions written where they are used.

The text is read next to the cell, so what the user named keeps its name, and what has no name is written where it is
used once. A value moves down to its use only where that changes nothing: within its block, a load never past an effect,
and never into a loop.
"""

from __future__ import annotations

import re

import msgspec

from workbench.builtins import TABLE
from workbench.ir.attributes import CAPTURED
from workbench.ir.ops import CHEAP, FENCES, LASTING, SLOT_WRITES, STRUCTURED
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.types import Vector

# Operators written in one expression; beyond it, parts get names.
LIMIT = 10
# What is written at every use, however often that is.
_ALWAYS = frozenset({"const", "tid", "lane"})
_LIGHT = CHEAP | _ALWAYS
# Statements of C++, or nothing of it.
_NEVER = (
    STRUCTURED
    | LASTING
    | SLOT_WRITES
    | {"atomic_load", "insert", "unavailable", "slots", "slot_read", "shared", "shuffle"}
)


class Inlining(msgspec.Struct):
    """The values that are written where they are used, and those that get a local.

    Attributes:
        definition: the operation of each result, loop parameters excluded.
        inlined: values written at their use.
        uses: how many operands each value is (a vector made of one value thrice uses it once).
        fixed: values that never change and need no local: parameters, thread indices, loop indices.
        with_local: vectors that need a local, because components of them are read, or they are printed.
    """

    definition: dict[Value, Op] = msgspec.field(default_factory=dict[Value, Op])
    inlined: set[Value] = msgspec.field(default_factory=set[Value])
    uses: dict[Value, int] = msgspec.field(default_factory=dict[Value, int])
    fixed: set[Value] = msgspec.field(default_factory=set[Value])
    with_local: set[Value] = msgspec.field(default_factory=set[Value])

    def leaves(self, value: Value) -> dict[Value, None]:
        """Return, as keys from left to right, the values with a local that the expression of `value` reads.

        A value with a local reads that one alone; a fixed value reads none.
        """
        if value in self.fixed:
            return {}
        if value not in self.inlined:
            return {value: None}
        leaves: dict[Value, None] = {}
        for operand in self.definition[value].operands:
            leaves |= self.leaves(operand)
        return leaves

    def has_load(self, value: Value) -> bool:
        """Return whether the expression of `value` reads an array."""
        if value not in self.inlined:
            return False
        op = self.definition[value]
        return op.name == "load" or any(self.has_load(v) for v in op.operands)


def operands_of(op: Op) -> tuple[Value, ...]:
    """Return the operands as the text writes them: a vector of one repeated scalar names it once."""
    return op.operands[:1] if is_splat(op) else op.operands


def is_splat(op: Op) -> bool:
    """Return whether the operation makes a vector by repeating one scalar."""
    return op.name == "vec" and len(set(op.operands)) == 1


def has_effect(op: Op) -> bool:
    """Return whether the operation, or one nested in it, changes memory or synchronises threads (`ops.FENCES`)."""
    return op.name in FENCES or any(inner.name in FENCES for block in op.blocks for inner in walk(block))


def inline_values(function: Function) -> Inlining:
    """Decide for every value of the function whether it is written at its use or gets a local."""
    state = Inlining()
    state.fixed |= set(function.params)
    for op in walk(function.body):
        for value in operands_of(op):
            state.uses[value] = state.uses.get(value, 0) + 1
        for value in op.results:
            state.definition[value] = op
        if op.name == "for":
            state.fixed.add(op.blocks[0].params[0])
        if op.name == "print":
            state.with_local |= {v for v in op.operands if isinstance(v.type, Vector)}
        if op.name in ("tid", "lane", "launch_dim", "slots", "shared") or (
            op.name == "const" and op.attrs.get(CAPTURED)
        ):
            state.fixed.add(op.result)
    _block(function.body, state)
    return state


def _block(block: Block, state: Inlining) -> None:
    """Decide for the values of a block and the blocks inside which are inlined, and add those to `state`."""
    effects = [position for position, op in enumerate(block.ops) if has_effect(op)]
    consumer: dict[Value, int] = {}
    for position, op in enumerate(block.ops):
        for value in op.operands:
            consumer[value] = position
    anchors: dict[int, int] = {}
    for position in range(len(block.ops) - 1, -1, -1):
        op = block.ops[position]
        anchors[position] = position
        for inner in op.blocks:
            _block(inner, state)
        if op.name in _NEVER or len(op.results) != 1:
            continue
        value = op.result
        if op.name in _ALWAYS or (op.name == "shape" and not value.name) or _claim_component(op, state):
            state.inlined.add(value)
            continue
        user = consumer.get(value, -1)
        once = state.uses.get(value) == 1 and user >= 0 and value not in state.with_local
        if value.name or not once or not _is_inlinable_in(block.ops[user], value):
            continue
        anchor = anchors[user]
        if op.name == "load" and any(position < e < anchor for e in effects):
            continue
        state.inlined.add(value)
        anchors[position] = anchor
    _limit(block, state)
    _steady_bounds(block, state)


def _claim_component(op: Op, state: Inlining) -> bool:
    """Mark the vector of an unnamed `v.x` as needing a local, and return True; return False for other operations.

    The index of the component has to be constant.
    """
    if op.name != "extract" or op.result.name or not is_constant(op.operands[1], state):
        return False
    state.with_local.add(op.operands[0])
    return True


def is_constant(value: Value, state: Inlining) -> bool:
    """Return whether the value is defined by a `const` operation."""
    return value in state.definition and state.definition[value].name == "const"


def _is_inlinable_in(user: Op, value: Value) -> bool:
    """Return whether the C++ of the using operation contains this operand at most once, as an expression."""
    if user.name == "cast":
        return not isinstance(value.type, Vector)
    builtin = TABLE.get(user.name)
    if builtin is None or builtin.cuda is None or "{" not in builtin.cuda:
        return True
    return len(re.findall(rf"\{{{user.operands.index(value)}\}}", builtin.cuda)) <= 1


def _limit(block: Block, state: Inlining) -> None:
    """Give locals to parts of expressions with more than `LIMIT` operators."""
    size: dict[Value, int] = {}
    for op in block.ops:
        parts = [v for v in op.operands if v in state.inlined and state.definition[v].name not in _ALWAYS and v in size]
        total = (op.name not in _LIGHT) + sum(size[v] for v in parts)
        for part in sorted(parts, key=lambda v: size[v], reverse=True):
            if total <= LIMIT:
                break
            if size[part] > 1:
                state.inlined.discard(part)
                total -= size[part]
        if len(op.results) == 1:
            size[op.result] = total


def _steady_bounds(block: Block, state: Inlining) -> None:
    """Give locals to the end and the step of each `for`, which are read at every iteration, unless they are cheap.

    Cheap are constants, thread indices, and one operation on constants, thread indices and parameters.
    """
    for op in block.ops:
        if op.name == "for":
            for value in op.operands[1:3]:
                if state.has_load(value) or (
                    value in state.inlined
                    and state.definition[value].name not in _ALWAYS
                    and not _is_plain(value, state)
                ):
                    state.inlined.discard(value)


def _is_plain(value: Value, state: Inlining) -> bool:
    """Return whether an inlined value is one operation on constants, thread indices and fixed values."""
    return all(
        v in state.fixed or (v in state.inlined and state.definition[v].name in _ALWAYS)
        for v in state.definition[value].operands
    )
