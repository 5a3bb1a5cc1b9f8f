"""Running IR one thread after the other on NumPy arrays: the definition of what a kernel means.

Values are NumPy scalars of the exact type, vectors arrays of shape (length,). Threads run whole, in row-major order, so
a race has one outcome here. It is slow (microseconds an operation) and checks every index: for tests and for stepping.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from workbench.backends.faults import FaultRecord, describe, raised_by
from workbench.backends.layout import FAULT_VALUES
from workbench.backends.prints import text
from workbench.backends.python import tiles
from workbench.builtins import TABLE
from workbench.builtins.atomics import AFTER
from workbench.builtins.declaration.meaning import apply, convert, value_of
from workbench.deep import deep
from workbench.errors import KernelFault, LaunchError
from workbench.ir.values import ATOMIC_KINDS, Block, Function, Op, Value, walk
from workbench.passes.bounds_checks import guard, reported
from workbench.source import Location
from workbench.types import ArrayType, Slots, Type, Vector

Thread = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One operation that one thread has just done.

    Attributes:
        thread: the thread's index.
        op: the operation; a structured one is reported when it is over.
        results: its values.
        names: the latest value of each named value so far, parameters included.
        operands: what it was given.
    """

    thread: Thread
    op: Op
    results: tuple[Any, ...]
    names: Mapping[str, Any]
    operands: tuple[Any, ...] = ()

    @property
    def location(self) -> Location:
        """The place in the user's text."""
        return self.op.location


@deep
def run(
    function: Function, dim: int | Sequence[int], args: Sequence[Any], *, threads: Iterable[Thread] | None = None,
    checks: bool = False,
) -> None:  # fmt: skip
    """Run the function for every thread of `dim`, in row-major order; arrays are written in place.

    Args:
        function: a legal function.
        dim: the launch's dimensions.
        args: one for each parameter, in order: a NumPy array of the parameter's dtype (any strides; vectors take a
            trailing axis of their length), or a number (a sequence of numbers for a vector).
        threads: the threads to run, in this order, instead of all.
        checks: go on after a fault, as compiled code with checks does, and raise the first one at the end.

    Raises:
        LaunchError: an argument does not fit its parameter; nothing has run.
        KernelFault: an index out of range, a failed assert, or a `range` with step 0. What ran before stays written;
            with `checks`, also a division by zero or a shift out of range, and all threads have run.
    """
    dims = _dims(dim)
    bound = _bind(function, args)
    running = guard(function) if checks else function
    faults: list[FaultRecord] = []
    every = product(*(range(n) for n in dims)) if threads is None else threads
    with np.errstate(all="ignore"):
        for thread in every:
            for _ in _Thread(running, thread, bound, dims, trace=False, faults=faults).block(running.body):
                raise AssertionError("an untraced thread gives no steps")
    if faults:
        first = replace(faults[0], count=len(faults))
        raise raised_by(function, first, dims, _shapes(function, bound))


def step(function: Function, dim: int | Sequence[int], args: Sequence[Any], thread: int | Thread) -> Iterator[Step]:
    """Run one thread, giving each operation after it was done; arrays are written in place as the steps are taken.

    Raises:
        LaunchError: the thread is not in `dim`, or an argument does not fit its parameter.
        KernelFault: as `run`.
    """
    dims, index = _dims(dim), _dims(thread)
    if len(index) != len(dims) or not all(0 <= i < n for i, n in zip(index, dims, strict=True)):
        raise LaunchError(f"There is no thread {index} in a launch of {dims}.", function=function.name)
    steps = _Thread(function, index, _bind(function, args), dims, trace=True).block(function.body)
    while True:
        with np.errstate(all="ignore"):
            taken = next(steps, None)
        if taken is None:
            return
        yield taken


def _dims(dim: int | Sequence[int]) -> Thread:
    return tuple(int(n) for n in dim) if isinstance(dim, Sequence) else (int(dim),)


def _bind(function: Function, args: Sequence[Any]) -> dict[Value, Any]:
    if len(args) != len(function.params):
        raise LaunchError(
            f"{function.name} takes {len(function.params)} arguments; it got {len(args)}.", function=function.name
        )
    return {p: _argument(function, p, a) for p, a in zip(function.params, args, strict=True)}


def _shapes(function: Function, bound: Mapping[Value, Any]) -> dict[str, tuple[int, ...]]:
    return {p.name: bound[p].shape[: p.type.ndim] for p in function.params if isinstance(p.type, ArrayType)}


def _argument(function: Function, param: Value, arg: Any) -> Any:
    type = param.type
    if not isinstance(type, ArrayType):
        return value_of(arg, type)
    tail = type.dtype.shape
    dtype = (type.dtype.dtype if isinstance(type.dtype, Vector) else type.dtype).numpy
    fits = isinstance(arg, np.ndarray) and arg.dtype == dtype and arg.ndim == type.ndim + len(tail)
    if not fits or arg.shape[type.ndim :] != tail:
        got = f"{arg.dtype} of shape {arg.shape}" if isinstance(arg, np.ndarray) else repr(arg)
        wanted = f"a NumPy array of {dtype} with {type.ndim + len(tail)} dimensions"
        wanted += f", the last of shape {tail}" if tail else ""
        raise LaunchError(
            f"{param.name} is {type!r}: it takes {wanted}; it got {got}.", function=function.name, parameter=param.name
        )
    return arg


class _Thread:
    """One thread: the values it has computed so far."""

    def __init__(
        self, function: Function, index: Thread, bound: dict[Value, Any], dims: Thread, trace: bool,
        faults: list[FaultRecord] | None = None,
    ) -> None:  # fmt: skip
        self.dims = dims
        self.faults = faults if faults is not None else []
        self.function = function
        self.index = index
        self.values = dict(bound)
        self.trace = trace
        self.names = {p.name: v for p, v in bound.items()} if trace else {}

    def block(self, block: Block) -> Iterator[Step]:
        """Do the operations of a block; gives steps only where traced."""
        values = self.values
        for op in block.ops:
            if op.name == "yield":
                return
            operands = [values[v] for v in op.operands]
            if op.name in _STRUCTURED:
                results = yield from _STRUCTURED[op.name](self, op, operands)
            elif op.name in TABLE:
                results = (apply(TABLE[op.name], operands, op.result.type),)  # type: ignore[arg-type]
            else:
                results = _CORE[op.name](self, op, operands)
            values.update(zip(op.results, results, strict=True))
            if self.trace:
                self.names.update((v.name, r) for v, r in zip(op.results, results, strict=True) if v.name)
                yield Step(self.index, op, tuple(results), dict(self.names), tuple(operands))

    def inner(self, block: Block, arguments: Sequence[Any]) -> Iterator[Step]:
        """Do a nested block; its generator returns what the block yields."""
        self.values.update(zip(block.params, arguments, strict=True))
        if self.trace:
            self.names.update((p.name, a) for p, a in zip(block.params, arguments, strict=True) if p.name)
        yield from self.block(block)
        return [self.values[v] for v in block.yielded]

    def place(self, op: Op, operands: Sequence[Any]) -> tuple[int, ...]:
        """The indices of a memory operation, inside the array.

        Raises:
            KernelFault: one is out of range.
        """
        array, type = operands[0], op.operands[0].type
        assert isinstance(type, ArrayType)
        indices = tuple(int(i) for i in operands[1 : 1 + type.ndim]) if op.name != "reduce_add" else (0,) * type.ndim
        shape = array.shape[: type.ndim]
        if all(0 <= i < n for i, n in zip(indices, shape, strict=True)):
            return indices
        name = op.operands[0].name
        shown = ", ".join(map(str, indices))
        raise self.fault(f"{name}[{shown}] is out of range: {name} has shape {shape}.", op, indices)

    def fault(self, message: str, op: Op, values: tuple[Any, ...]) -> KernelFault:
        return KernelFault(message, op.location, function=self.function.name, thread=self.index, values=values)


def _const(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    return (value_of(op.attrs["value"], op.result.type),)  # type: ignore[arg-type]


def _tid(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    return (np.int32(thread.index[op.attrs["axis"]]),)


def _launch_dim(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    return (np.int64(thread.dims[op.attrs["axis"]]),)


def _fault(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Note it: `run` raises the first one when all threads are done."""
    linear = int(np.ravel_multi_index(thread.index, thread.dims))
    values = [int(v.view(np.int64)) for v in operands] + [0] * (FAULT_VALUES - len(operands))
    thread.faults.append(FaultRecord(1, op.attrs["number"], linear, tuple(values)))
    return ()


def _print(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    sys.stdout.write(text(op.attrs["parts"], operands))
    return ()


def _mark(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    return tuple(_copied(v) for v in operands)


def _assert(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    if not operands[0]:
        made = {v: o for o in walk(thread.function.body) for v in o.results}
        values = tuple(thread.values[v].item() for v in reported(op, made))
        raise describe(thread.function, op, made, thread.index, values, {})
    return ()


def _shape(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    return (_integer(operands[0].shape[op.attrs["axis"]], op.result.type),)


def _load(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    return (_copied(operands[0][thread.place(op, operands)]),)


def _store(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    operands[0][thread.place(op, operands)] = operands[-1]
    return ()


def _add(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    array, place = operands[0], thread.place(op, operands)
    old = _copied(array[place])
    array[place] = old + operands[-1]
    return (old,)


def _atomic(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    array, place = operands[0], thread.place(op, operands)
    old = _copied(array[place])
    kind = op.attrs["kind"]
    array[place] = AFTER[kind](old, *operands[-ATOMIC_KINDS[kind] :])
    return (old,)


def _reduce_add(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    _add(thread, op, operands)
    return ()


def _convert(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    return (convert(operands[0], op.result.type),)  # type: ignore[arg-type]


def _vec(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    return (value_of(operands, op.result.type),)  # type: ignore[arg-type]


def _component(thread: _Thread, op: Op, operands: list[Any]) -> int:
    vector, index = operands[0], int(operands[1])
    if not 0 <= index < vector.size:
        message = f"Component {index} is out of range: a vector of length {vector.size} has 0 to {vector.size - 1}."
        raise thread.fault(message, op, (index,))
    return index


def _extract(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    return (operands[0].flat[_component(thread, op, operands)],)


def _insert(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    vector = operands[0].copy()
    vector.flat[_component(thread, op, operands)] = operands[2]
    return (vector,)


def _slots(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    type = op.result.type
    assert isinstance(type, Slots)
    return ([None] * type.count,)


def _slot_read(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    kept = operands[0][_slot(operands)]
    assert kept is not None, "a slot is read before it is written"
    return (kept,)


def _slot_write(thread: _Thread, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    operands[0][_slot(operands)] = operands[2]
    return ()


def _slot(operands: list[Any]) -> int:
    index = int(operands[1])
    assert 0 <= index < len(operands[0]), f"there is no slot {index}"
    return index


def _if(thread: _Thread, op: Op, operands: list[Any]) -> Any:
    return (yield from thread.inner(op.blocks[0] if operands[0] else op.blocks[1], ()))


def _for(thread: _Thread, op: Op, operands: list[Any]) -> Any:
    start, stop, stride = (int(v) for v in operands[:3])
    if stride == 0:
        raise thread.fault("The step of range() is 0.", op, (start, stop, stride))
    carried = operands[3:]
    for number in range(start, stop, stride):
        carried = yield from thread.inner(op.blocks[0], (_integer(number, op.operands[0].type), *carried))
    return carried


def _while(thread: _Thread, op: Op, operands: list[Any]) -> Any:
    condition, body = op.blocks
    carried = operands
    while True:
        (going,) = yield from thread.inner(condition, carried)
        if not going:
            return carried
        carried = yield from thread.inner(body, carried)


def _integer(number: int, type: Type) -> Any:
    return type.numpy.type(number)  # type: ignore[union-attr]


def _copied(element: Any) -> Any:
    return element.copy() if isinstance(element, np.ndarray) else element


_CORE: dict[str, Callable[[_Thread, Op, list[Any]], tuple[Any, ...]]] = {
    "const": _const,
    "tid": _tid,
    "launch_dim": _launch_dim,
    "fault": _fault,
    "assert": _assert,
    "print": _print,
    "mark": _mark,
    "shape": _shape,
    "load": _load,
    "store": _store,
    "atomic_add": _add,
    "atomic": _atomic,
    "reduce_add": _reduce_add,
    "cast": _convert,
    "vec": _vec,
    "extract": _extract,
    "insert": _insert,
    "slots": _slots,
    "slot_read": _slot_read,
    "slot_write": _slot_write,
    **tiles.OPERATIONS,
}


def _custom(thread: _Thread, op: Op, operands: list[Any]) -> Any:
    if not op.attrs.get("reference", True):
        raise LaunchError(
            f"{op.attrs['name']} has CUDA text and no Python body, so it runs on a CUDA device alone.",
            function=thread.function.name,
        )
    return (yield from thread.inner(op.blocks[0], ()))


_STRUCTURED: dict[str, Callable[[_Thread, Op, list[Any]], Any]] = {
    "if": _if,
    "for": _for,
    "while": _while,
    "custom": _custom,
    **tiles.STRUCTURED,
}
