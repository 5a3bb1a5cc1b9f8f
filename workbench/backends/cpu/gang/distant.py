"""Values that are used far behind where they were computed: between the two they lie on the stack.

An adjoint computes a thousand values and then uses them in the reverse order. No target has registers for them, so LLVM
would spill them; but to decide which ones, its register allocator compares what each value meets on its long way, which
takes n² steps for n such values. Here the text spills them: in a long block a value that is not used for an eighth of
`DISTANT_OPERATIONS` is stored where it was computed, and loaded where it is used next. All that is left to allocate is
short. The accesses are volatile, else LLVM would undo them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeAlias

import msgspec

from workbench.backends.llvm.values import Writer
from workbench.ir.values import Block, Op, Value, walk
from workbench.limits import DISTANT_OPERATIONS
from workbench.types import Kind, Scalar, Vector, element


class Distant(msgspec.Struct, frozen=True):
    """The stores and loads that a block needs for values that are used far behind where they are computed.

    Attributes:
        stored: values to store once they are computed.
        loaded: by operation, those of them to load before it.
        over: by operation, those of them that no later operation loads.
    """

    stored: set[Value] = set()
    loaded: dict[Op, list[Value]] = {}
    over: dict[Op, list[Value]] = {}


def distant(block: Block) -> Distant:
    """Return which of a long block's own values to store, and where to load them; for a shorter one, none."""
    result = Distant()
    if len(block.ops) <= DISTANT_OPERATIONS:
        return result
    used_at: dict[Value, int] = {}
    last_load: dict[Value, Op] = {}
    for at, op in enumerate(block.ops):
        inner = [v for b in op.blocks for o in walk(b) for v in o.operands]
        for value in dict.fromkeys((*op.operands, *inner)):
            if value in used_at:
                if at - used_at[value] > DISTANT_OPERATIONS // 8 and _is_number(value):
                    result.stored.add(value)
                    result.loaded.setdefault(op, []).append(value)
                    last_load[value] = op
                used_at[value] = at
        used_at.update(dict.fromkeys(op.results, at))
    for value, op in last_load.items():
        result.over.setdefault(op, []).append(value)
    return result


def _is_number(value: Value) -> bool:
    """Return whether a value is a scalar or vector of numbers, not of bools."""
    return isinstance(value.type, Scalar | Vector) and element(value.type).kind is not Kind.BOOL


Registers: TypeAlias = tuple[dict[Value, tuple[str, ...]], str, tuple[object, ...]]
"""A table that has a value's registers, their LLVM type, and a key for their stack memory."""
Held: TypeAlias = Callable[[Value], Iterable[Registers]]


class Stack:
    """The stack memory of values that are used far away; it is used again for others after a value's last load.

    Attributes:
        writer: where lines go.
    """

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self._free: dict[str, list[str]] = defaultdict(list)
        self._of: dict[tuple[object, ...], str] = {}
        self._count = 0

    def load_operands(self, distant: Distant, op: Op, held: Held) -> None:
        """Emit loads of those operands of an operation that were stored."""
        for value in distant.loaded.get(op, ()):
            over = value in distant.over.get(op, ())
            for operands, kind, key in held(value):
                registers = enumerate(operands[value])
                operands[value] = tuple(
                    [self.load((*key, k), kind, over) if x.startswith("%") else x for k, x in registers]
                )

    def store_results(self, distant: Distant, op: Op, held: Held) -> None:
        """Emit stores of those results of an operation that are used far behind it."""
        for value in filter(distant.stored.__contains__, op.results):
            for operands, kind, key in held(value):
                for k, register in enumerate(operands[value]):
                    if register.startswith("%"):
                        self.store((*key, k), kind, register)

    def store(self, key: tuple[object, ...], kind: str, register: str) -> None:
        """Emit the store of a register.

        Args:
            key: identifies the stored value for `load`.
            kind: its LLVM type.
            register: the register.
        """
        w, free = self.writer, self._free[kind]
        if not free:
            self._count += 1
            free.append(w.once(("distant", self._count), f"alloca {kind}", "distant"))
        self._of[key] = free.pop()
        w.do(f"store volatile {kind} {register}, ptr {self._of[key]}")

    def load(self, key: tuple[object, ...], kind: str, over: bool) -> str:
        """Emit a load of what was stored under `key`; return its register.

        Args:
            key: identifies the stored value.
            kind: its LLVM type.
            over: it is the last load, so the memory is free afterwards.
        """
        address = self._of.pop(key) if over else self._of[key]
        if over:
            self._free[kind].append(address)
        return self.writer.emit(f"load volatile {kind}, ptr {address}")
