"""A program's JAX operations as a flat list, and which of them one native call can do.

Nested operations (jits, programs, tangents of launches) are inlined. Then each operation gets a level: even levels
are XLA's, odd ones native, and no operation depends on a later level. So launches with some scalar arithmetic before
and after are one native segment, and a program that mixes them is still correct.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
        """Whether the output holds the bytes of the input several times over."""
        return _is_repeat(self)

    @property
    def is_alias(self) -> bool:
        """Whether the output has the same bytes as the input, perhaps in another shape."""
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
