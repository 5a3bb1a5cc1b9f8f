"""Values of the C++ text: named locals, shared ones, or expressions written where they are used.

**Inlined values.** The text is read next to the cell, so what the user named keeps its name, and what has no name is
written where it is used once. A value moves down to its use only where that changes nothing: within its block, a load
never past an effect, and never into a loop.

**Shared locals.** A carried value of a loop and the result of an `if` are mutable locals that are assigned. Where the
value that goes in, the value that comes out and the carried one never live at the same time, they share one local, so
that the text says `s += x[i]` as the cell does. Sharing is decided by interference (Chaitin, "Register allocation via
coloring", 1981), so that a swap stays a swap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import ClassVar

import msgspec

from workbench.builtins import TABLE
from workbench.ir.ops import CAPTURED, CHEAP, FENCES, LASTING, LEAD, SLOT_WRITES, STRUCTURED
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


class Classes:
    """Disjoint sets of values that can be merged (union-find); it also records which values live at the same time."""

    def __init__(self) -> None:
        self._parent: dict[Value, Value] = {}
        self._members: dict[Value, set[Value]] = {}
        self._enemies: dict[Value, set[Value]] = {}

    def of(self, value: Value) -> Value:
        """Return the member that represents the class of a value."""
        while self._parent.get(value, value) is not value:
            value = self._parent[value]
        return value

    def members(self, value: Value) -> set[Value]:
        """Return all members of the class of a value; the value alone if it was never merged."""
        return self._members.get(self.of(value), {value})

    def join(self, a: Value, b: Value) -> None:
        """Merge the classes of two values, even if members of both live at the same time."""
        a, b = self.of(a), self.of(b)
        if a is not b:
            self._parent[b] = a
            self._members[a] = self._members.get(a, {a}) | self._members.pop(b, {b})

    def add_interference(self, value: Value, live: set[Value]) -> None:
        """Record that a value lives at the same time as others."""
        for other in live:
            if other is not value:
                self._enemies.setdefault(value, set()).add(other)
                self._enemies.setdefault(other, set()).add(value)

    def join_unless_met(self, a: Value, b: Value) -> None:
        """Merge the classes of two values, unless members of both are recorded as living at the same time."""
        theirs = self.members(b)
        if self.of(a) is not self.of(b) and not any(self._enemies.get(x, set()) & theirs for x in self.members(a)):
            self.join(a, b)


class Locals(Classes):
    """The groups of a function's values that share a local; `of` returns the value that stands for a group."""

    def __init__(self, function: Function, inlining: Inlining) -> None:
        super().__init__()
        self.inlining = inlining
        self._outer: dict[Op, set[Value]] = {}
        for op in walk(function.body):
            self._tie_parameters(op)
        self._block(function.body, set())
        for op in walk(function.body):
            self._share(op)

    def _tie_parameters(self, op: Op) -> None:
        """Give a loop's result and its carried value one local: the result is the value after the last iteration."""
        if op.name == "for":
            for result, param in zip(op.results, op.blocks[0].params[1:], strict=True):
                self.join(result, param)
        elif op.name == "while":
            for block in op.blocks:
                for result, param in zip(op.results, block.params, strict=True):
                    self.join(result, param)

    def _leaves(self, values: Iterable[Value]) -> set[Value]:
        """Return the representatives of the locals that these values' expressions read."""
        locals: set[Value] = set()
        for value in values:
            locals |= {self.of(leaf) for leaf in self.inlining.leaves(value)}
        return locals

    def _block(self, block: Block, live: set[Value]) -> set[Value]:
        """Walk a block backwards from the locals that live after it; return those that live before it."""
        live = set(live)
        for op in reversed(block.ops):
            if op.name == "yield" or any(v in self.inlining.inlined for v in op.results):
                continue
            if op.blocks:
                live = self._STRUCTURED[op.name](self, op, live)
                continue
            if op.name == "native":  # its results are set before its operands are read
                live |= self._leaves(op.operands)
            for result in op.results:
                if result not in self.inlining.fixed:
                    self.add_interference(result, live)
                live.discard(result)
            live |= self._leaves(operands_of(op))
        return live

    def _define(self, results: tuple[Value, ...], live: set[Value]) -> set[Value]:
        """Record that these results live at the same time as each other and `live`; return `live` without them."""
        nodes = {self.of(r) for r in results}
        after = live - nodes
        for node in nodes:
            self.add_interference(node, after | nodes)
        return after

    def _if(self, op: Op, live: set[Value]) -> set[Value]:
        """Walk an `if` backwards from the locals that live after it; return those that live before it."""
        after = self._define(op.results, live)
        before = self._leaves(op.operands)
        for block in op.blocks:
            before |= self._block(block, after | self._leaves(block.yielded))
        return before

    def _for(self, op: Op, live: set[Value]) -> set[Value]:
        """Walk a `for` backwards from the locals that live after it; return those that live before it."""
        (body,) = op.blocks
        # The start is read after the carried locals got their first values, the end and the step at every turn.
        around = (live - {self.of(r) for r in op.results}) | self._from_outside(op) | self._leaves(op.operands[:3])
        around = self._define(op.results, around)
        self._block(body, around | self._leaves(body.yielded))
        return around | self._leaves(op.operands)

    def _while(self, op: Op, live: set[Value]) -> set[Value]:
        """Walk a `while` backwards from the locals that live after it; return those that live before it."""
        condition, body = op.blocks
        nodes = {self.of(r) for r in op.results}
        around = self._define(op.results, (live - nodes) | self._from_outside(op))
        entering = self._block(body, around | self._leaves(body.yielded))
        self._block(condition, around | entering | (live & nodes) | self._leaves(condition.yielded))
        return around | self._leaves(op.operands)

    _STRUCTURED: ClassVar[dict[str, Callable[[Locals, Op, set[Value]], set[Value]]]] = {
        "if": _if,
        "for": _for,
        "while": _while,
    }

    def _from_outside(self, op: Op) -> set[Value]:
        """Return locals that a loop reads and that are defined outside of it: they live as long as the loop runs."""
        if op not in self._outer:
            inside: set[Value] = {self.of(v) for v in op.results}
            read: set[Value] = set()
            for block in op.blocks:
                for inner in walk(block):
                    inside |= {self.of(v) for v in inner.results}
                    read |= self._leaves(operands_of(inner))
            self._outer[op] = read - inside
        return self._outer[op]

    def _share(self, op: Op) -> None:
        """Try to merge a result with the values that flow into it, or a variable with its next value."""
        if op.name not in self._STRUCTURED:
            if len(op.results) == 1:
                self._reassigned(op)
            return
        flows = [b.yielded for b in op.blocks] if op.name != "while" else [op.blocks[1].yielded]
        if op.name != "if":
            flows.append(op.operands[LEAD[op.name] :])
        for values in flows:
            for result, value in zip(op.results, values, strict=True):
                if value not in self.inlining.inlined and value not in self.inlining.fixed:
                    self.join_unless_met(result, value)

    def _reassigned(self, op: Op) -> None:
        """Let the results of `x = x * 2` and `v.x = a` share the local of x or v, which the cell changes, if it can."""
        result = op.result
        if result in self.inlining.inlined or result in self.inlining.fixed or op.name in FENCES:
            return
        for leaf in dict.fromkeys(leaf for v in op.operands for leaf in self.inlining.leaves(v)):
            same = bool(result.name) and leaf.name == result.name
            if leaf.type == result.type and (same or (op.name == "insert" and leaf is op.operands[0])):
                self.join_unless_met(result, leaf)
