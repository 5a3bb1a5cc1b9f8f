"""Chains of operations, cut where they get deep.

LLVM's loop vectoriser asks of each operation in a loop what type it has and whether it is the same in all lanes, and
walks to the chain's beginning each time: n operations in a row take n² steps, seconds from a thousand lines on. So
every `DEEP` operations a float goes through its bits, with a 0 that LLVM does not know to be one: a step that ends both
walks. It costs one integer operation and changes nothing.
"""

from __future__ import annotations

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.text.values import register
from workbench.ir.values import Op, Value
from workbench.types import Kind, Scalar, element

DEEP = 128


class Depths:
    """How many operations each value is away from a load, a parameter or the last cut."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.of: dict[Value, int] = {}
        self.zeros: dict[str, str] = {}

    def after(self, op: Op) -> None:
        """Count an operation that was emitted, and cut its result where it is too deep."""
        if op.name == "load" or not op.results:
            return
        of = self.of
        inputs = op.operands if op.name != "if" else (*op.operands, *op.blocks[0].yielded, *op.blocks[1].yielded)
        depth = 1 + max((of[v] for v in inputs if v in of), default=0)
        for value in op.results:
            if depth >= DEEP and _is_float(element(value.type)):  # type: ignore[arg-type]
                self.cut(value)
            else:
                of[value] = depth

    def cut(self, value: Value) -> None:
        """Let a value's bits pass by something that LLVM cannot look through."""
        w = self.emitter.writer
        kind = register(element(value.type))
        bits = f"i{element(value.type).bits}"
        zero = self.zero(bits)
        parts = []
        for operand in self.emitter.operands(value):
            word = w.emit(f"bitcast {kind} {operand} to {bits}")
            word = w.emit(f"freeze {bits} {w.emit(f'xor {bits} {word}, {zero}')}")
            parts.append(w.emit(f"bitcast {bits} {word} to {kind}", value.name))
        self.emitter.bind(value, parts)

    def zero(self, bits: str) -> str:
        """A 0 that LLVM does not know."""
        w = self.emitter.writer
        if bits not in self.zeros:
            place = w.once(("zero", bits), f"alloca {bits}", "zero.at")
            w.head.append(f"  store volatile {bits} 0, ptr {place}")
            self.zeros[bits] = w.once(("zero", bits, "value"), f"load volatile {bits}, ptr {place}", "zero")
        return self.zeros[bits]


def _is_float(scalar: Scalar) -> bool:
    return scalar.kind is Kind.FLOAT and not scalar.is_half
