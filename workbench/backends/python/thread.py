"""A thread of the interpreter: its values, and the walk over its operations."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from workbench.backends.faults import FaultRecord
from workbench.builtins import TABLE
from workbench.builtins.declaration.meaning import apply
from workbench.errors import KernelFault
from workbench.host.narrow import is_numpy_array
from workbench.ir.values import Block, Function, Op, Value, array_of
from workbench.source import Location

Thread = tuple[int, ...]


class Step(msgspec.Struct, frozen=True):
    """An operation that a thread has just executed.

    Attributes:
        thread: the thread's index.
        op: the operation; a structured one is reported when it is over.
        results: the values of its results.
        names: the latest value of each named value so far, parameters included.
        operands: the values of its operands.
    """

    thread: Thread
    op: Op
    results: tuple[Any, ...]
    names: Mapping[str, Any]
    operands: tuple[Any, ...] = ()

    @property
    def location(self) -> Location:
        """The location of the operation in the user's text."""
        return self.op.location


Steps: TypeAlias = Generator[Step, None, Sequence[Any]]
"""The steps inside an operation with blocks; the generator returns its results."""


class Interpreter:
    """A thread of a launch, with the values that it has computed so far.

    Args:
        function: what it runs.
        index: the thread's index.
        bound: the arguments, by parameter.
        dims: the launch's dimensions.
        handlers: the functions that execute operations that are no builtins.
        trace: yield a step for each operation.
        faults: a list that receives the faults.
    """

    def __init__(
        self, function: Function, index: Thread, bound: dict[Value, Any], dims: Thread, handlers: Handlers,
        trace: bool = False, faults: list[FaultRecord] | None = None,
    ) -> None:  # fmt: skip
        self.handlers = handlers
        self.dims = dims
        self.faults = faults if faults is not None else []
        self.function = function
        self.index = index
        self.values = dict(bound)
        self.trace = trace
        self.names = {p.name: v for p, v in bound.items()} if trace else {}

    def block(self, block: Block) -> Iterator[Step]:
        """Execute the operations of a block up to its `yield`; yield a step for each if traced."""
        values, (plain, structured) = self.values, self.handlers
        for op in block.ops:
            if op.name == "yield":
                return
            operands = [values[v] for v in op.operands]
            results: Sequence[Any]
            if op.name in structured:
                results = yield from structured[op.name](self, op, operands)
            elif op.name in TABLE:
                results = (apply(TABLE[op.name], operands, op.result.type),)  # type: ignore[arg-type]
            else:
                results = plain[op.name](self, op, operands)
            values.update(zip(op.results, results, strict=True))
            if self.trace:
                self.names.update((v.name, r) for v, r in zip(op.results, results, strict=True) if v.name)
                yield Step(self.index, op, tuple(results), dict(self.names), tuple(operands))

    def inner(self, block: Block, arguments: Sequence[Any]) -> Steps:
        """Execute a nested block with these arguments as its parameters; return the values of its `yield`.

        It is a generator of the steps, whose return value these are.
        """
        self.values.update(zip(block.params, arguments, strict=True))
        if self.trace:
            self.names.update((p.name, a) for p, a in zip(block.params, arguments, strict=True) if p.name)
        yield from self.block(block)
        return [self.values[v] for v in block.yielded]

    def element_indices(self, op: Op, operands: Sequence[Any]) -> tuple[int, ...]:
        """Return the indices of the array element that a memory operation accesses.

        Raises:
            KernelFault: one is out of range.
        """
        array, type = operands[0], array_of(op.operands[0])
        indices = tuple(int(i) for i in operands[1 : 1 + type.ndim]) if op.name != "reduce_add" else (0,) * type.ndim
        shape = array.shape[: type.ndim]
        if all(0 <= i < n for i, n in zip(indices, shape, strict=True)):
            return indices
        name = op.operands[0].name
        shown = ", ".join(map(str, indices))
        raise self.fault(f"{name}[{shown}] is out of range: {name} has shape {shape}.", op, indices)

    def fault(self, message: str, op: Op, values: tuple[Any, ...]) -> KernelFault:
        """Return the error for a fault of an operation in this thread, with this message; it is not raised here."""
        return KernelFault(message, op.location, function=self.function.name, thread=self.index, values=values)


Handler: TypeAlias = Callable[[Interpreter, Op, list[Any]], Sequence[Any]]
Structured: TypeAlias = Callable[[Interpreter, Op, list[Any]], Steps]


class Handlers(NamedTuple):
    """The functions that execute operations, by name: `plain` without blocks, `structured` with them, as generators."""

    plain: Mapping[str, Handler]
    structured: Mapping[str, Structured]


def copied(element: Any) -> Any:
    """Return an element of an array, as a copy that does not change with the array."""
    return element.copy() if is_numpy_array(element) else element
