"""A program's JAX operations as a flat list, and its native segments.

**The flat list** says which operations one native call can do. Nested operations (jits, programs, tangents of launches)
are inlined. Then each operation gets a level: even levels are XLA's, odd ones native, and no operation depends on a
later level. So launches with some scalar arithmetic before and after are one native segment, and a program that mixes
them is still correct.

**Segments** have their steps in order, and a place for every value. Values that leave a segment are its results; those
that live inside share one hidden result by their lifetimes, so XLA allocates everything and nothing is allocated when
the program runs. A launch that changes a value in place does so in the value's own memory if it is not needed later; a
result that began as an operand shares XLA's memory with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.interop.jax.launches.array_kernels import sum_plan
from workbench.interop.jax.launches.one_launch import one_launch, pays_on_cpu
from workbench.interop.jax.launches.plan import attributes
from workbench.interop.jax.native.table import Bound, BufferSlice, Fill, Launch, Repeat, Segment, Step
from workbench.interop.jax.values.library import literal_type

_JITS = frozenset({"jit", "pjit", "closed_call", "core_call"})
_CUSTOMS = frozenset({"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"})
_SAME_BYTES = frozenset({"reshape", "squeeze", "expand_dims", "copy", "copy_p"})
_ADDS = frozenset({"add", "add_any"})


@dataclass(eq=False)
class Value:
    """Represents a value of a flat program.

    Attributes:
        dtype, shape: of it.
        constant: its value, where that is known; else None.
        fill: the broadcast of one number that makes it, not run until it is needed; None of other values.
        level: of the operation that makes it; 0 for arguments and constants.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    constant: Any = None
    fill: Any = None
    level: int = 0

    @property
    def elements(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return self.elements * self.dtype.itemsize


@dataclass(eq=False)
class Node:
    """Represents an operation: JAX's primitive with its parameters, its inputs and outputs, its level.

    Operations of even levels are XLA's, those of odd levels are native.
    """

    primitive: Any
    params: dict[str, Any]
    inputs: list[Value]
    outputs: list[Value]
    level: int = 0

    @property
    def is_repeat(self) -> bool:
        """Return whether the output holds the bytes of the input several times over."""
        return _is_repeat(self)

    @property
    def is_alias(self) -> bool:
        """Return whether the output has the same bytes as the input, perhaps in another shape."""
        return _is_alias(self)


@dataclass
class Flat:
    """Represents a flat program: its arguments, operations in order, results."""

    arguments: list[Value]
    nodes: list[Node] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)

    @property
    def levels(self) -> int:
        """The number of levels of its operations."""
        return 1 + max((n.level for n in self.nodes), default=0)


Inner = Callable[[Any], Any]


def flatten(closed: Any, inner: Inner, launch: Any) -> Flat:
    """Return the flat program of a closed jaxpr.

    Args:
        closed: the jaxpr.
        inner: returns the closed jaxpr that an operation stands for, or None.
        launch: the primitive whose operations are native.
    """
    flat = Flat([_value(v.aval) for v in closed.jaxpr.invars])
    flat.results = _Taker(flat.nodes, inner).take(closed, flat.arguments)
    _drop_unused(flat)
    for node in flat.nodes:
        _set_level(node, launch)
    return flat


def _value(aval: Any, constant: Any = None) -> Value:
    """Return a new value of a JAX type; `constant`: what it is, if known."""
    return Value(np.dtype(aval.dtype), tuple(aval.shape), constant)


def _constant(value: Any) -> Value:
    """Return a new value for a constant of a jaxpr."""
    return Value(np.dtype(value.dtype) if hasattr(value, "dtype") else np.asarray(value).dtype, np.shape(value), value)


@dataclass
class _Taker:
    """Collects the operations of nested jaxprs in `nodes`; equal operations of XLA's, and equal numbers, become one."""

    nodes: list[Node]
    inner: Inner
    _numbers: dict[Any, Value] = field(default_factory=dict)
    _values: dict[Any, list[Value]] = field(default_factory=dict)

    def take(self, closed: Any, arguments: Sequence[Value]) -> list[Value]:
        """Append the operations of a closed jaxpr, called with these arguments, to `nodes`; return its results."""
        literal = literal_type()
        known = dict(zip(closed.jaxpr.constvars, map(_constant, closed.consts), strict=True))
        known |= dict(zip(closed.jaxpr.invars, arguments, strict=True))

        def read(atom: Any) -> Value:
            return self._number(atom) if isinstance(atom, literal) else known[atom]

        for equation in closed.jaxpr.eqns:
            inputs = [read(v) for v in equation.invars]
            within = _within(equation) or self.inner(equation)
            outputs = self._node(equation, inputs) if within is None else self.take(within, inputs)
            known |= dict(zip(equation.outvars, outputs, strict=True))
        return [read(v) for v in closed.jaxpr.outvars]

    def _number(self, atom: Any) -> Value:
        """Return the value of a literal; literals of equal type and bytes share one."""
        # By bytes: 0.0 and -0.0 are equal, and NaN equals nothing.
        key = (str(atom.aval.dtype), atom.aval.shape, np.asarray(atom.val).tobytes())
        return self._numbers.setdefault(key, _value(atom.aval, atom.val))

    def _node(self, equation: Any, inputs: list[Value]) -> list[Value]:
        """Return the outputs of an operation on `inputs`: those of an equal one if there is one, else of a new node."""
        try:
            key = (equation.primitive, *inputs, *sorted(equation.params.items()))
            values = self._values.get(key)
        # Parameters of some primitives cannot be hashed; such operations are never shared.
        except TypeError:
            key, values = None, None
        if values is None:
            values = [_value(v.aval) for v in equation.outvars]
            self.nodes.append(Node(equation.primitive, equation.params, inputs, values))
            if key is not None:
                self._values[key] = values
        return values


def _within(equation: Any) -> Any:
    """Return the jaxpr inside an operation that only calls it; None for any other operation."""
    name = equation.primitive.name
    if name in _JITS:
        return equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
    return equation.params.get("call_jaxpr") if name in _CUSTOMS else None


def _drop_unused(flat: Flat) -> None:
    """Remove the operations of which no output is used."""
    used, nodes = set(flat.results), []
    for node in reversed(flat.nodes):
        if not used.isdisjoint(node.outputs):
            used.update(node.inputs)
            nodes.append(node)
    flat.nodes = nodes[::-1]


def _is_alias(node: Node) -> bool:
    """Return whether the output has the bytes of the input, as that of a reshape or a cast to the same type."""
    source, output = node.inputs[0] if node.inputs else None, node.outputs[0]
    if source is None or source.dtype != output.dtype or source.elements != output.elements:
        return False
    name = node.primitive.name
    sizes, sizes_out = ([n for n in shape if n != 1] for shape in (source.shape, output.shape))
    same_order = name == "broadcast_in_dim" and sizes == sizes_out
    plain = (name in _SAME_BYTES and node.params.get("dimensions") in (None, ())) or name in ("squeeze", "expand_dims")
    return plain or same_order or name == "convert_element_type"


def _is_repeat(node: Node) -> bool:
    """Return whether an operation broadcasts along leading axes only, so that the bytes repeat as a whole."""
    if node.primitive.name != "broadcast_in_dim" or not node.inputs[0].elements or not node.inputs[0].shape:
        return False
    source, output = node.inputs[0].shape, node.outputs[0].shape
    while source and source[0] == 1:
        source = source[1:]
    behind = output[len(output) - len(source) :]
    last = tuple(node.params["broadcast_dimensions"])[-1:]
    return len(node.inputs) == 1 and behind == source and (not source or last == (len(output) - 1,))


def _set_level(node: Node, launch: Any) -> None:
    """Set the level of an operation and of its outputs: the earliest that its inputs and its form allow.

    Operations of even levels are XLA's, those of odd levels are native. A broadcast of a known number gets no
    level: it is noted as its output's `fill`.
    """
    before = max((v.level for v in node.inputs), default=0)
    name, output = node.primitive.name, node.outputs[0]
    if name == "broadcast_in_dim" and node.inputs[0].constant is not None and not node.inputs[0].shape:
        # Left undone: a launch that takes a filled value gets the number itself.
        output.fill = node
        return
    if node.primitive is launch:
        # Odd levels are native: this one, if what it needs is made in it or before, else the next.
        level = before if before % 2 else before + 1
    # Both XLA and the native handler can do these, so they stay where their operands are and open no new level.
    elif _is_alias(node) or _is_sum(node) or _is_repeat(node):
        level = before
    else:
        level = before + before % 2
    node.level = level
    for value in node.outputs:
        value.level = level


def _is_sum(node: Node) -> bool:
    """Return whether an operation adds two arrays of one shape, of a type in `_SUMS`."""
    if node.primitive.name not in _ADDS or len(node.inputs) != 2:
        return False
    shapes = {v.shape for v in (*node.inputs, *node.outputs)}
    return len(shapes) == 1 and node.outputs[0].dtype.name in _SUMS


_SUMS = frozenset({"float16", "bfloat16", "float32", "float64", "int32", "int64", "uint32", "uint64"})


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
