"""A call that XLA made, as ordinary work: fills, copies, and one launch for each batch, on arrays of its own.

The native handler does all this inside one call, from the call frame. Written out, a call can lie in a file, is checked
like everything else there, and runs where there is no JAX.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.api.builds.bind import bind
from workbench.errors import RecordError, WorkbenchError
from workbench.interop.jax.native.descriptor import Kind, Wire
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import lying_in
from workbench.runtime.arrays.shapes import dense
from workbench.runtime.device.device import CPU
from workbench.runtime.device.memory import Memory, allocate
from workbench.runtime.launching.record import LaunchOptions
from workbench.runtime.records.contents import write_bytes
from workbench.runtime.work import Copy, Fill, Launch, Work
from workbench.types import MAX_NDIM, NUMBERS, Scalar, Vector, is_half, number_type

if TYPE_CHECKING:
    from workbench.interop.jax.launches.plan import Plan

MOST_BATCHES = 100_000


@dataclass(frozen=True, eq=False)
class Held:
    """Represents a buffer of the call in memory of its own: element type, shape, and that memory."""

    dtype: Scalar
    shape: tuple[int, ...]
    memory: Memory

    def view(self, dtype: Scalar | Vector, shape: Sequence[int], strides: Sequence[int], start: int) -> array:
        """Return an array of `dtype` in the buffer's memory, from byte `start` on."""
        return lying_in(self.memory, dtype, shape, strides, start)

    def full_array(self) -> array:
        """Return all of it as an array; of more than four dimensions the first ones are joined into one."""
        extra = max(0, len(self.shape) - MAX_NDIM + 1)
        shape = (math.prod(self.shape[:extra]), *self.shape[extra:]) if extra > 1 else self.shape or (1,)
        return self.view(self.dtype, shape, dense(shape, self.dtype.size), 0)


def unfold(
    plan: Plan,
    attributes: Sequence[Sequence[int]],
    operands: Sequence[np.ndarray[Any, Any]],
    results: Sequence[tuple[str, tuple[int, ...]]],
) -> tuple[tuple[Work, ...], tuple[array, ...]]:
    """Return the work of a call, in order, and the arrays that have its results afterwards.

    Args:
        plan: what was called.
        attributes: the call's, by name: dims, then values and views where there are any.
        operands: what its operands held.
        results: dtype and shape of each result.

    Raises:
        RecordError: it has attributes or element types that cannot be saved, or too many batches.
    """
    try:
        call = _Call(plan, attributes, operands, results)
        return tuple(call.steps()), tuple(held.full_array() for held in call.results)
    except RecordError:
        raise
    except WorkbenchError as error:
        raise RecordError(f"JAX's call of {plan.kernel} cannot be saved: {error.message}") from None


class _Call:
    """Represents a call of XLA's with buffers of its own for the operands and results.

    Attributes:
        plan, wires: what was called.
        operands, results: the buffers.
        values, views: static numbers and views of the call's attributes.
        axes, batches: the number of batch axes, and their sizes.
        dims: of the launch.
    """

    def __init__(
        self,
        plan: Plan,
        attributes: Sequence[Sequence[int]],
        operands: Sequence[np.ndarray[Any, Any]],
        results: Sequence[tuple[str, tuple[int, ...]]],
    ) -> None:
        """Copy the operands' values into new buffers, make zeroed ones for the results, and read the attributes.

        Args:
            plan: what was called.
            attributes: the call's, in the order of their names: dims, then values and views where there are any.
            operands: what its operands held.
            results: dtype and shape of each result.

        Raises:
            RecordError: it has other attributes, or element types that the language does not have.
        """
        self.plan = plan
        self.wires = plan.target.description.wires
        self.operands = [_held(a.dtype.name, a.shape, a) for a in operands]
        self.results = [_held(name, shape) for name, shape in results]
        rest = list(attributes[1:])
        self.values = rest.pop(0) if any(w.value >= 0 for w in self.wires) else ()
        self.views: Sequence[int] = rest.pop(0) if any(w.view for w in self.wires) else []
        if rest:
            raise RecordError(f"JAX's call of {plan.kernel} has attributes that cannot be represented in a file.")
        lead = next(w for w in self.wires if w.result == 0 and w.kind is not Kind.SHAPE)
        self.axes = max(0, len(self.results[0].shape) - _own_rank(lead))
        self.batches = self.results[0].shape[: self.axes]
        self.dims = tuple(n if n >= 0 else self.size(-1 - n) for n in attributes[0])

    def size(self, code: int) -> int:
        """Return a launch's dimension that is an array's size; `code` is 4 · the parameter's number + the axis."""
        wire = self.wires[code // 4]
        shape = self.source(wire).shape
        return shape[len(shape) - _own_rank(wire) + code % 4]

    def source(self, wire: Wire) -> Held:
        """Return the buffer of a parameter: its result, or its operand if it is no result."""
        return self.results[wire.result] if wire.result >= 0 else self.operands[wire.operand]

    def steps(self) -> Iterator[Work]:
        """Yield the handler's steps as work, in its order: copies, fills, then a launch per batch.

        Raises:
            RecordError: there are more than `MOST_BATCHES` batches.
        """
        for wire in self.wires:
            if wire.kind is Kind.SHAPE or wire.result < 0:
                continue
            target = self.results[wire.result].full_array()
            if wire.operand >= 0:
                yield Copy(target, self.operands[wire.operand].full_array())
            if wire.fill is not None:
                yield Fill(target, _fill(wire))
        if not math.prod(self.dims):
            return
        if math.prod(self.batches) > MOST_BATCHES:
            raise RecordError(f"JAX's call of {self.plan.kernel} has more than {MOST_BATCHES} batches.")
        code = self.plan.code
        for batch in itertools.product(*map(range, self.batches)):
            arguments = dict(self.arguments(batch))
            options = LaunchOptions(code.options)
            yield Launch(bind(code.specialisation, code.direction, self.dims, arguments, CPU, options))

    def arguments(self, batch: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
        """Yield the name and the value of each of the kernel's parameters in one batch."""
        view = 0
        for wire in self.wires:
            if wire.value >= 0:
                words = np.array(self.values[wire.value :], np.int64)
                yield wire.name, _numbers(words.view(np.uint8), wire.type)
                continue
            held = self.source(wire)
            own = held.shape[self.axes :]
            start = self.shift(held, wire, batch)
            if wire.kind is Kind.SCALAR:
                data = np.frombuffer(_bytes(held), np.uint8)
                yield wire.name, _numbers(data[start:], wire.type)
                continue
            shape: tuple[int, ...] = (1,) if wire.kind is Kind.ACCUMULATOR else tuple(own[: wire.rank])
            strides = dense(shape, wire.type.size)
            if wire.view:
                view_words = self.views[view : view + 1 + 2 * wire.view]
                first, rest = view_words[0], view_words[1:]
                view += 1 + 2 * wire.view
                start, shape, strides = start + first, tuple(rest[: wire.view]), tuple(rest[wire.view :])
            if wire.kind is Kind.SHAPE:
                held, start = _held(number_type(wire.type).name, (*shape, *wire.inner)), 0
            yield wire.name, held.view(wire.type, shape, strides, start)

    def shift(self, held: Held, wire: Wire, batch: tuple[int, ...]) -> int:
        """Return the offset of a batch in a buffer, in bytes; along an axis of size 1 all batches share one."""
        stride = math.prod(held.shape[self.axes :]) * held.dtype.size
        total = 0
        for position, size in zip(reversed(batch), reversed(held.shape[: self.axes]), strict=True):
            total += position * stride if size != 1 else 0
            stride *= size
        return total


def _own_rank(wire: Wire) -> int:
    """Return the number of axes of a parameter's buffer without batch axes; components are one."""
    return wire.rank + bool(wire.inner) if wire.kind is not Kind.ACCUMULATOR else 0 + bool(wire.inner)


def _held(name: str, shape: Sequence[int], data: np.ndarray[Any, Any] | None = None) -> Held:
    """Return a new buffer on the CPU with the bytes of `data`, or with zeros.

    Raises:
        RecordError: the language has no type of this name.
    """
    dtype = NUMBERS.get(name)
    if dtype is None:
        raise RecordError(f"An operand of {name} cannot be represented in a file.")
    memory = allocate(CPU, math.prod(shape) * dtype.size)
    raw = np.zeros(memory.nbytes, np.uint8) if data is None else np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    write_bytes(memory, memory.address, raw)
    return Held(dtype, tuple(shape), memory)


def _bytes(held: Held) -> Any:
    """Return the content of a buffer as bytes."""
    flat = held.view(held.dtype, (held.memory.nbytes // held.dtype.size,), (held.dtype.size,), 0)
    return flat.host().tobytes()


def _numbers(data: np.ndarray[Any, Any], dtype: Scalar | Vector) -> Any:
    """Return a number, or a vector's numbers, from their bytes."""
    scalar = number_type(dtype)
    numbers = np.frombuffer(data[: dtype.size].tobytes(), scalar.numpy)
    numbers = numbers.astype(np.float32) if is_half(scalar) else numbers
    return tuple(numbers.tolist()) if dtype.shape else numbers.tolist()[0]


def _fill(wire: Wire) -> Any:
    """Return the number that a result is filled with, as a NumPy scalar."""
    scalar = number_type(wire.type)
    if isinstance(wire.fill, bytes):
        return np.frombuffer(wire.fill, scalar.numpy)[0]
    return np.asarray(wire.fill).astype(scalar.numpy)[()]
