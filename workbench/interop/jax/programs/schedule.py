"""The native segments of a flat program: their steps in order, and where every value lies.

Values that leave a segment are its results; those that live inside share one hidden result by their lifetimes, so XLA
allocates everything and nothing is allocated when the program runs. A launch that changes a value in place does so in
the value's own memory if it is not needed later; a result that began as an operand shares XLA's memory with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.interop.jax.launches.array_kernels import sum_plan
from workbench.interop.jax.launches.launch_config import attributes
from workbench.interop.jax.launches.one_launch import one_launch, pays_on_cpu
from workbench.interop.jax.native.table import Bound, BufferSlice, Fill, Launch, Repeat, Segment, Step
from workbench.interop.jax.programs.flat import Flat, Node, Value

ALIGNMENT = 64
NEVER = 2**62


@dataclass(eq=False)
class _Buffer:
    """Represents memory of a segment.

    Attributes:
        bytes: its size.
        operand, result: its number among the segment's; -1 where it is neither.
        first, last: the nodes between which it is in use.
        donor: the operand that it starts as a copy of; -1 for none.
        offset: in the hidden result, in bytes.
    """

    bytes: int
    operand: int = -1
    result: int = -1
    first: int = 0
    last: int = 0
    donor: int = -1
    offset: int = 0


@dataclass(frozen=True)
class _Use:
    """Represents a value of a step, and the buffer it is in."""

    buffer: _Buffer
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """Represents a segment among the values of its program.

    Attributes:
        segment: what runs.
        inputs: its operands.
        outputs: values with the number of the result that holds each.
        same: values that equal an input, with that input.
    """

    segment: Segment
    inputs: tuple[Value, ...]
    outputs: tuple[tuple[Value, int], ...]
    same: tuple[tuple[Value, Value], ...]


def parts(flat: Flat, function: str) -> dict[int, Part]:
    """Return the native segments of a flat program, by level; `function` is their name in errors."""
    parts = {}
    for level in range(1, flat.levels, 2):
        nodes = [n for n in flat.nodes if n.level == level]
        produced = {v for n in nodes for v in n.outputs}
        others = {v for n in flat.nodes if n.level != level for v in n.inputs} | set(flat.results)
        parts[level] = _Planner(nodes, produced & others).part(function)
    return parts


@dataclass
class _Planner:
    """Plans one segment: the order of its steps, and the buffer of each value.

    Attributes:
        nodes: the segment's operations.
        needed: the values that leave it.
        inputs: the values from outside, in the order of the segment's operands.
        steps: what runs, with buffers whose numbers and offsets are not decided yet.
        buffers: those that are not operands, in the order in which they come into use.
    """

    nodes: Sequence[Node]
    needed: set[Value]
    inputs: list[Value] = field(default_factory=list)
    steps: list[tuple[Any, ...]] = field(default_factory=list)
    buffers: list[_Buffer] = field(default_factory=list)
    _of: dict[Value, _Buffer] = field(default_factory=dict)
    _root: dict[Value, Value] = field(default_factory=dict)
    _last: dict[Value, int] = field(default_factory=dict)

    def part(self, function: str) -> Part:
        """Plan the segment and return it with its inputs and outputs; `function` is its name in errors."""
        self._find_last_uses()
        for at, node in enumerate(self.nodes):
            if node.is_alias:
                self._of[node.outputs[0]] = self._buffer_of(node.inputs[0], at)
            elif node.is_repeat:
                source, output = node.inputs[0], node.outputs[0]
                self._of[output] = self._new(output, at)
                times = output.elements // source.elements
                self.steps.append(("repeat", self._of[output], self._buffer_of(source, at), source.bytes, times))
            else:
                self._launch(node, at)
        results, outputs, same = self._outputs()
        scratch = self._place_temporaries()
        operands = tuple((v.dtype.name, v.shape) for v in self.inputs)
        aliases = tuple((b.donor, b.result) for b in self.buffers if b.donor >= 0 and b.result >= 0)
        shapes = (*((v.dtype.name, v.shape) for v in results), *((("uint8", (scratch,)),) if scratch else ()))
        steps = tuple(self._resolved(step, len(operands), len(results)) for step in self.steps)
        segment = Segment(function, operands, shapes, steps, aliases, scratch > 0)
        return Part(segment, tuple(self.inputs), outputs, same)

    def _find_last_uses(self) -> None:
        """Note the last node that uses each value, aliases counted as one; `NEVER` for one that leaves."""
        for at, node in enumerate(self.nodes):
            for value in node.inputs:
                self._use(value, at)
            for value in node.outputs:
                self._root[value] = self._root.get(node.inputs[0], node.inputs[0]) if node.is_alias else value
                self._use(value, NEVER if value in self.needed else at)

    def _use(self, value: Value, at: int) -> None:
        """Note that the node `at` uses a value, or the value that it is an alias of."""
        root = self._root.setdefault(value, value)
        self._last[root] = max(self._last.get(root, 0), at)

    def _buffer_of(self, value: Value, at: int) -> _Buffer:
        """Return the buffer of a value; one from outside becomes an operand, or is filled if it is one number."""
        buffer = self._of.get(value)
        if buffer is not None:
            return buffer
        if value.fill is not None:
            buffer = self._new(value, at)
            number = np.asarray(value.fill.inputs[0].constant, value.dtype)
            if value.bytes:
                self.steps.append(("fill", buffer, value.bytes, number.tobytes()))
        else:
            # From another segment or from XLA: an operand, which is never written.
            buffer = _Buffer(value.bytes, operand=len(self.inputs))
            self.inputs.append(value)
        self._of[value] = buffer
        return buffer

    def _new(self, value: Value, at: int) -> _Buffer:
        """Return a new buffer for a value, in use from the node `at` to the value's last use."""
        buffer = _Buffer(value.bytes, first=at, last=min(self._last[self._root[value]], NEVER))
        self.buffers.append(buffer)
        return buffer

    def _launch(self, node: Node, at: int) -> None:
        """Append the step of a launch or sum; it changes a value in its own memory where nothing reads it later."""
        if "plan" in node.params:
            plan, config = node.params["plan"], node.params["config"]
            if pays_on_cpu(plan, config):
                plan, config = one_launch(plan, config, [v.shape for v in node.inputs])
            listed = attributes(plan, config)
            target, pairs, shapes = plan.target, dict(plan.target.description.aliases()), None
        else:
            target, pairs, shapes = sum_plan(node.outputs[0].dtype.name).target, {}, (node.outputs[0].elements,)
            listed = {"dims": shapes}
        uses = [_Use(self._buffer_of(v, at), v.dtype.name, shapes or v.shape) for v in node.inputs]
        roots = [self._root[v] for v in node.inputs]
        from_operand = {result: operand for operand, result in pairs.items()}
        for number, value in enumerate(node.outputs):
            operand = from_operand.get(number, -1)
            # In place only if nothing reads the old value later, and the launch does not see it twice.
            alone = operand >= 0 and self._last[roots[operand]] == at and roots.count(roots[operand]) == 1
            if alone and uses[operand].buffer.operand < 0:
                buffer = uses[operand].buffer
                buffer.last = max(buffer.last, self._last[self._root[value]])
            else:
                buffer = self._new(value, at)
                # Aliased for XLA: a donated argument or a scan's carry is then changed in its own memory.
                buffer.donor = uses[operand].buffer.operand if alone else -1
            self._of[value] = buffer
        outputs = [_Use(self._of[v], v.dtype.name, shapes or v.shape) for v in node.outputs]
        self.steps.append(("launch", target, tuple(tuple(listed[n]) for n in sorted(listed)), uses, outputs))

    def _outputs(self) -> tuple[list[Value], tuple[tuple[Value, int], ...], tuple[tuple[Value, Value], ...]]:
        """Return each result's value, each value that leaves with its result's number, and values equal to an input."""
        results: list[Value] = []
        outputs, same = [], []
        for node in self.nodes:
            for value in node.outputs:
                if value not in self.needed:
                    continue
                buffer = self._of[value]
                # The value is an input, passed through; a result for it would cost a copy.
                if buffer.operand >= 0:
                    same.append((value, self.inputs[buffer.operand]))
                    continue
                if buffer.result < 0:
                    buffer.result = len(results)
                    results.append(value)
                outputs.append((value, buffer.result))
        return results, tuple(outputs), tuple(same)

    def _place_temporaries(self) -> int:
        """Set the offsets of buffers that live inside only, by lifetime; return the bytes of the memory for them all.

        Each takes the first gap.
        """
        size, placed = 0, []
        for buffer in (b for b in self.buffers if b.result < 0):
            alive = sorted((b.offset, b.offset + b.bytes) for b in placed if b.last >= buffer.first)
            placed = [b for b in placed if b.last >= buffer.first]
            for start, stop in alive:
                if start - buffer.offset >= buffer.bytes:
                    break
                buffer.offset = max(buffer.offset, -(-stop // ALIGNMENT) * ALIGNMENT)
            placed.append(buffer)
            size = max(size, buffer.offset + buffer.bytes)
        return size

    def _resolved(self, step: tuple[Any, ...], operands: int, results: int) -> Step:
        """Return a step with numbers and offsets of its buffers, for so many operands and results of the segment."""

        def buffer_slice(buffer: _Buffer) -> BufferSlice:
            if buffer.operand >= 0:
                return BufferSlice(buffer.operand)
            return BufferSlice(operands + (buffer.result if buffer.result >= 0 else results), buffer.offset)

        if step[0] == "fill":
            return Fill(buffer_slice(step[1]), step[2], step[3])
        if step[0] == "repeat":
            return Repeat(buffer_slice(step[1]), buffer_slice(step[2]), *step[3:])
        _, target, listed, uses, outputs = step
        inputs, bound = (
            tuple(Bound(buffer_slice(u.buffer), u.dtype, u.shape) for u in group) for group in (uses, outputs)
        )
        return Launch(target, listed, inputs, bound)
