"""The meaning of operations, except builtins and tiles: from a thread, an operation and its operands to the results.

An operation with blocks is a generator of the steps inside, which returns the results.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.backends.faults import FaultRecord, describe
from workbench.backends.layout import FAULT_VALUES
from workbench.backends.prints import text
from workbench.backends.python.thread import Handler, Interpreter, Steps, Structured, copied
from workbench.builtins.atomics import AFTER
from workbench.builtins.declaration.meaning import convert, value_of
from workbench.errors import LaunchError
from workbench.ir.ops import AXIS, KIND, NAME, NUMBER, PARTS, REFERENCE, VALUE
from workbench.ir.values import ATOMIC_KINDS, Op, component_of, definitions, slots_of
from workbench.passes.checks.bounds_checks import reported
from workbench.types import Type


def _fault(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Record a fault of the thread; `run` raises the first one when all threads are done."""
    linear = int(np.ravel_multi_index(thread.index, thread.dims))
    values = [int(v.view(np.int64)) for v in operands] + [0] * (FAULT_VALUES - len(operands))
    thread.faults.append(FaultRecord(1, op.attrs[NUMBER], linear, tuple(values)))
    return ()


def _print(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Write the printed text to stdout; no results."""
    sys.stdout.write(text(op.attrs[PARTS], operands, [v.type for v in op.operands]))
    return ()


def _assert(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Raise a KernelFault with the reported values if the condition does not hold; no results."""
    if not operands[0]:
        defining = definitions(thread.function.body)
        values = tuple(thread.values[v].item() for v in reported(op, defining))
        raise describe(thread.function, op, defining, thread.index, values, {})
    return ()


def _load(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return a copy of the element, or of its component; raise a KernelFault if the index is out of range."""
    memory, index = _cell(thread, op, operands, 0)
    return (copied(memory[index]),)


def _store(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Write the last operand to the element or its component; no results."""
    memory, index = _cell(thread, op, operands, 1)
    memory[index] = operands[-1]
    return ()


def _cell(thread: Interpreter, op: Op, operands: list[Any], values: int) -> tuple[Any, Any]:
    """Return the array, or the components of one of its elements, that an operation accesses, and the index in it.

    `values` is how many operands follow the index and the component: what is stored, compared or added.
    """
    array, index = operands[0], thread.element_indices(op, operands)
    if component_of(op) is None:
        return array, index
    return array[index].reshape(-1), int(operands[len(operands) - 1 - values])


def _swap(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Write the new value of an `atomic_swap`; return False: no other thread came between, so it is done."""
    memory, index = _cell(thread, op, operands, 2)
    memory[index] = operands[-1]
    return (np.False_,)


def _add(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Add the last operand to an element or its component; return the old value."""
    memory, index = _cell(thread, op, operands, 1)
    old = copied(memory[index])
    memory[index] = old + operands[-1]
    return (old,)


def _atomic(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Replace an array's element by what the operation's `KIND` makes of it; return the old value."""
    array, index = operands[0], thread.element_indices(op, operands)
    old = copied(array[index])
    kind = op.attrs[KIND]
    array[index] = AFTER[kind](old, *operands[-ATOMIC_KINDS[kind] :])
    return (old,)


def _reduce_add(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Add the operand to element 0 of the array; no results."""
    _add(thread, op, operands)
    return ()


def _component(thread: Interpreter, op: Op, operands: list[Any]) -> int:
    """Return the index of a component, flat and row by row; raise a KernelFault if the vector has no such component."""
    vector, index = operands[0], int(operands[1])
    if not 0 <= index < vector.size:
        message = f"Component {index} is out of range: a vector of length {vector.size} has 0 to {vector.size - 1}."
        raise thread.fault(message, op, (index,))
    return index


def _insert(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return a copy of a vector with one component replaced; raise a KernelFault if there is no such component."""
    vector = operands[0].copy()
    vector.flat[_component(thread, op, operands)] = operands[2]
    return (vector,)


def _slot_read(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return the value of a slot; assert that it was written."""
    value = operands[0][_slot(operands)]
    assert value is not None, "a slot is read before it is written"
    return (value,)


def _slot_write(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Write the third operand to a slot; no results."""
    operands[0][_slot(operands)] = operands[2]
    return ()


def _slot(operands: list[Any]) -> int:
    """Return the slot's number, the second operand; assert that there is such a slot."""
    index = int(operands[1])
    assert 0 <= index < len(operands[0]), f"there is no slot {index}"
    return index


def _if(thread: Interpreter, op: Op, operands: list[Any]) -> Steps:
    """Run the block that the condition chooses, as a generator of its steps; return what it yields."""
    return (yield from thread.inner(op.blocks[0] if operands[0] else op.blocks[1], ()))


def _for(thread: Interpreter, op: Op, operands: list[Any]) -> Steps:
    """Run the body for each index, as a generator of its steps; return the carried values.

    Raises:
        KernelFault: the step is 0.
    """
    start, stop, stride = (int(v) for v in operands[:3])
    if stride == 0:
        raise thread.fault("The step of range() is 0.", op, (start, stop, stride))
    carried: Sequence[Any] = operands[3:]
    for number in range(start, stop, stride):
        carried = yield from thread.inner(op.blocks[0], (_integer(number, op.operands[0].type), *carried))
    return carried


def _while(thread: Interpreter, op: Op, operands: list[Any]) -> Steps:
    """Run the body while the condition's block yields True, as a generator of the steps; return the carried values."""
    condition, body = op.blocks
    carried: Sequence[Any] = operands
    while True:
        (going,) = yield from thread.inner(condition, carried)
        if not going:
            return carried
        carried = yield from thread.inner(body, carried)


def _integer(number: int, type: Type) -> Any:
    """Return a number as a NumPy integer of an IR type."""
    return type.numpy.type(number)  # type: ignore[union-attr]


def _custom(thread: Interpreter, op: Op, operands: list[Any]) -> Steps:
    """Run the Python body of a func, as a generator of its steps; return its results.

    Raises:
        LaunchError: it has CUDA text alone.
    """
    if not op.attrs.get(REFERENCE, True):
        raise LaunchError(
            f"{op.attrs[NAME]} has CUDA text and no Python body, so it runs on a CUDA device alone.",
            function=thread.function.name,
        )
    return (yield from thread.inner(op.blocks[0], ()))


PLAIN: dict[str, Handler] = {
    "const": lambda thread, op, operands: (value_of(op.attrs[VALUE], op.result.type),),  # type: ignore[arg-type]
    "tid": lambda thread, op, operands: (np.int32(thread.index[op.attrs[AXIS]]),),
    "launch_dim": lambda thread, op, operands: (np.int64(thread.dims[op.attrs[AXIS]]),),
    "fault": _fault,
    "assert": _assert,
    "print": _print,
    "mark": lambda thread, op, operands: tuple(copied(v) for v in operands),
    "shape": lambda thread, op, operands: (_integer(operands[0].shape[op.attrs[AXIS]], op.result.type),),
    "load": _load,
    "store": _store,
    "atomic_add": _add,
    "atomic": _atomic,
    "atomic_load": _load,
    "atomic_swap": _swap,
    # That no other thread accesses the element: here threads run one after the other.
    "owned": lambda thread, op, operands: (np.True_,),
    "reduce_add": _reduce_add,
    "cast": lambda thread, op, operands: (convert(operands[0], op.result.type),),  # type: ignore[arg-type]
    "vec": lambda thread, op, operands: (value_of(operands, op.result.type),),  # type: ignore[arg-type]
    "extract": lambda thread, op, operands: (operands[0].flat[_component(thread, op, operands)],),
    "insert": _insert,
    "slots": lambda thread, op, operands: ([None] * slots_of(op.result).count,),
    "slot_read": _slot_read,
    "slot_write": _slot_write,
}
STRUCTURED: dict[str, Structured] = {
    "if": _if,
    "for": _for,
    "while": _while,
    "custom": _custom,
}
