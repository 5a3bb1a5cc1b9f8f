"""The assignment of values to shared mutable locals of the C++ text.

A carried value of a loop and the result of an `if` are locals that are assigned. Where the value that goes in, the
value that comes out and the carried one never live at the same time, they share one local, so that the text says
`s += x[i]` as the cell does. Sharing is decided by interference (Chaitin, "Register allocation via coloring", 1981),
so that a swap stays a swap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from workbench.backends.cuda.cpp.inline_values import Inlining, operands_of
from workbench.ir.ops import FENCES, LEAD
from workbench.ir.values import Block, Function, Op, Value, walk


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
