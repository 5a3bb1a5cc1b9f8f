"""The state of emitting a function: what its values are in LLVM IR text, and what the text needs beside its lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from workbench.backends.base import Options
from workbench.backends.cpu.emit.loops import Strips, guarded_reads, is_serial, repeated_loads
from workbench.backends.cpu.emit.types import memory, register, width
from workbench.backends.cpu.maths import vecmath
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.backends.layout import Slot, layout
from workbench.backends.llvm.values import Writer
from workbench.backends.zero_signs import compared_types
from workbench.ir.values import Block, Function, Op, Value
from workbench.limits import RUNTIME_UNROLLED_LOOPS
from workbench.types import ArrayType, Kind, Scalar, element

Wishes = tuple[tuple[str, str], ...]
Handler = Callable[[Any, Op], None]
"""Emits an operation: gets the emitter and the operation."""


def later(module: str, name: str) -> Handler:
    """Return a handler that imports a module of `workbench.backends.cpu` when called, and calls one from there.

    A kernel has only a few kinds of operations, and the first launch of a process waits for each import.
    """

    def handler(emitter: Any, op: Op) -> None:
        getattr(import_module(f"workbench.backends.cpu.{module}"), name)(emitter, op)

    handler.__qualname__ = f"{module}.{name}"
    return handler


_AS_IT_IS = ("vectorize.enable", "i1 false"), ("unroll.disable", "")
_ONE_BY_ONE = (("interleave.count", "i32 1"),)
WRITTEN_OUT = ("unroll.disable", ""), ("vectorize.followup_all", '!{!"llvm.loop.unroll.full"}')
"""Hints for a short loop of constant length: it is vectorised, and then unrolled."""
EIGHT_AT_A_TIME = (("unroll.count", "i32 8"),)
"""Hints for a short loop of constant length that is not vectorised and does little but access memory."""
THREAD_BY_THREAD = (("vectorize.enable", "i1 false"),)
LOOPED = (("unroll.disable", ""),)
"""Hints for a loop that is not unrolled."""


class Emitter(ABC):
    """The state of emitting one function as LLVM IR. A subclass knows which handler emits which operation.

    Attributes:
        writer: where lines go.
        one_core: threads run one after the other, so additions to elements need not be atomic.
        constants: the values of `const` operations of scalars, for handlers that look at them.
        slots: the field of each parameter in the buffer of parameters.
        reductions: changes of one element by all threads that are combined, by operation.
        thread: the register that counts threads.
        tids: the thread's indices, as i32.
        heap: the addresses of memory that the entry frees at its end.
        frozen: the repeated loads whose results are frozen (see `loops`).
        wide: in the body of a serial loop, the registers of wrapped indices in 64 bits; None elsewhere.
        guarded: the reads whose results are frozen because they stand in an `if`.
        compared: the types of which two numbers are compared by order.
        row: the linear index of the row's first thread, as i64; empty where the launch has one dimension.
        strips: after how many iterations loops check whether the launch is to end.
        in_gang: a gang is being emitted, not a single thread.
        separate: emits a `for` of independent iterations; None: as any other.
        around: the linear index of the thread whose iterations run as threads (`gang/iterations`); empty: none do.
        pointers: the pointers to element 0 of arrays, which are loaded at the entry.
        unit_strides: the arrays of whose rows the elements are known to be adjacent, where arrays may have gaps.
    """

    unit_strides: frozenset[Value] = frozenset()
    separate: Handler | None = None
    reductions: Mapping[Op, Any] = {}
    in_gang = False
    around = ""

    def __init__(
        self, function: Function, options: Options, maths: Maths, half_instructions: bool, one_core: bool
    ) -> None:
        """Prepare to emit `function`, whose native builtins must take only scalars (see `passes/expand.py`)."""
        self.function = function
        self.options = options
        self.maths = maths
        self.half_instructions = half_instructions
        self.innermost = vecmath.worth_it(function)
        self.halves = vecmath.has_wide_data(function)
        self.one_core = one_core
        self.frozen = repeated_loads(function)
        self.wide: dict[Value, str] | None = None
        self.guarded = guarded_reads(function)
        self.compared = compared_types(function)
        self.writer = self.new_writer()
        self.constants: dict[Value, Any] = {}
        argument_layout = layout([(p.name, p.type) for p in function.params])
        self.slots: dict[Value, Slot] = dict(zip(function.params, argument_layout.slots, strict=True))
        self.thread = ""
        self.tids: tuple[str, ...] = ()
        self.row = ""
        self.strips = Strips(function)
        self.heap: list[str] = []
        self._operands: dict[Value, tuple[str, ...]] = {}
        self._kinds: dict[Value, str] = {}
        self.pointers: dict[Value, str] = {}
        self._vector_functions: dict[str, str] = {}
        self._kept: list[str] = []
        self._loops: list[str] = []

    def new_writer(self) -> Writer:
        """Return an empty writer of lines."""
        return Writer()

    def operands(self, value: Value) -> tuple[str, ...]:
        """Return the LLVM operands of a value's components; a parameter is read at the first use."""
        known = self._operands.get(value)
        if known is None:
            assert value in self.slots and not isinstance(value.type, ArrayType), f"%{value.name} has no operand"
            known = self._operands[value] = self._parameter(value)
        return known

    def operand(self, value: Value) -> str:
        """Return the LLVM operand of a scalar."""
        (operand,) = self.operands(value)
        return operand

    def kind(self, value: Value) -> str:
        """Return the LLVM type of a value's components in registers."""
        return self.scalar_kind(value)

    def scalar_kind(self, value: Value) -> str:
        """Return the LLVM type of a value's components as scalars."""
        kind = self._kinds.get(value)
        if kind is None:
            kind = self._kinds[value] = register(element(value.type))
        return kind

    def carried(self, value: Value, into: Value) -> tuple[str, ...]:
        """Return the LLVM operands with which control flow passes a value on to another one; here the value's own.

        A subclass may hold values in several forms, and converts to that of `into`.

        Args:
            value: what a block yields, or a loop starts with.
            into: the block's parameter or the result that receives it.
        """
        return self.operands(value)

    def bind(self, value: Value, operands: Sequence[str]) -> None:
        """Set the LLVM operands of a value's components."""
        self._operands[value] = tuple(operands)

    def slot_element(self, slots: Value, index: str) -> tuple[tuple[str, ...], str]:
        """Locate an element of a thread's slots.

        Returns:
            The base pointer of each component, and the index of the element from there on.
        """
        return self.operands(slots), index

    def _parameter(self, value: Value) -> tuple[str, ...]:
        """Return a scalar or vector parameter's components, read from the buffer before the loops."""
        slot = self.slots[value]
        scalar = element(value.type)
        names = []
        for k in range(width(value.type)):
            key = (value.name, k)
            where = self.field(slot.offset + k * scalar.size, f"{value.name}.at")
            name = self.writer.once(key, f"load {memory(scalar)}, ptr {where}", value.name)
            if scalar.kind is Kind.BOOL:
                name = self.writer.once((*key, "bool"), f"icmp ne i8 {name}, 0", value.name)
            names.append(name)
        return tuple(names)

    def fault_owner(self) -> str:
        """Return the address of the index of the thread for which this call wrote the fault record; -1: for none.

        It is empty, as here, where the thread that faults first keeps the record, instead of the one with the lowest
        index.
        """
        return ""

    def field(self, offset: int, hint: str) -> str:
        """Return a pointer to the field of the parameter buffer at a byte offset."""
        return self.writer.once(("field", offset), f"getelementptr inbounds i8, ptr %params, i64 {offset}", hint)

    @abstractmethod
    def block(self, block: Block) -> None:
        """Emit the operations of a block in order; the caller reads a final `yield`."""

    def vector_function(self, name: str, scalar: Scalar) -> tuple[str, int] | None:
        """Return our symbol for a maths function and the number of its calls' attribute group.

        None: there is no function of ours, and LLVM's or the C library's is called.

        Args:
            name: the function, such as "sin".
            scalar: the type of its arguments.
        """
        callee = vecmath.callee(name, scalar, self.maths, self.innermost, self.halves)
        if callee is None:
            return None
        if callee.symbol not in self._vector_functions:
            self._vector_functions[callee.symbol] = callee.attribute
            self._kept += callee.kept
            for symbol, text in callee.definitions.items():
                self.writer.declare(symbol, text)
        return callee.symbol, 1 + list(self._vector_functions).index(callee.symbol)

    def is_serial(self, op: Op) -> bool:
        """Return whether a `for` of a single thread is not vectorised, since the target gathers slowly."""
        return not (self.in_gang or self.maths.gathers) and is_serial(op)

    def loop_end(self, cold: bool = False, wishes: Wishes = (), known: bool = True) -> str:
        """Return LLVM metadata for a loop's jump back; empty if there is nothing to say.

        Args:
            cold: the loop is neither vectorised nor unrolled, whatever `wishes` say: it is seldom run, or serial.
            wishes: names and values of `llvm.loop` hints. Loops of functions with frozen loads are not interleaved.
            known: its number of iterations does not depend on data.
        """
        if not known and self.strips.loops > RUNTIME_UNROLLED_LOOPS:
            wishes = (*wishes, *LOOPED)
        wishes = _AS_IT_IS if cold else (*wishes, *_ONE_BY_ONE) if self.frozen else wishes
        if not wishes:
            return ""
        nodes = "".join(f', !{{!"llvm.loop.{name}"{value and ", " + value}}}' for name, value in wishes)
        return f", !llvm.loop {self._node(f'distinct !{{!self{nodes}}}')}"

    def _node(self, text: str) -> str:
        """Add a metadata node, in whose text `!self` stands for its own name; return that name."""
        name = f"!{len(self._loops) + 2}"
        self._loops.append(f"{name} = {text.replace('!self', name)}")
        return name

    def needs_halves(self, scalar: Scalar) -> None:
        """Add to the module the functions that convert a 16-bit float type, and add to its elements atomically."""
        from workbench.backends.cpu.emit.halves import definitions

        for name, text in definitions(scalar.name, self.half_instructions).items():
            self.writer.declare(name, text)
