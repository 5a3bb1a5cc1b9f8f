"""Chains of operations, cut where they get deep.

LLVM's loop vectoriser asks of each operation in a loop what type it has and whether it is the same in all lanes, and
walks to the chain's beginning each time: n operations in a row take n² steps, seconds from a thousand lines on. So
every `CHAIN_DEPTH` operations a value goes through a step with a 0 that LLVM does not know to be one: a float through
its bits and a `freeze`, an integer through an unsigned maximum. It ends both walks, costs one integer operation and
changes nothing.
"""

from __future__ import annotations

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.text.values import register
from workbench.ir.values import Op, Value
from workbench.limits import CHAIN_DEPTH
from workbench.types import Kind, Scalar, element


class Depths:
    """How many operations each value is away from a load, a parameter or the last cut."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.of: dict[Value, int] = {}
        self.zeros: dict[str, str] = {}

    def after(self, op: Op) -> None:
        """Count an operation that was emitted, and cut its result where it is too deep."""
        # A load begins a chain: LLVM's walk does not go on through memory.
        if op.name == "load" or not op.results:
            return
        of = self.of
        inputs = op.operands if op.name != "if" else (*op.operands, *op.blocks[0].yielded, *op.blocks[1].yielded)
        depth = 1 + max((of[v] for v in inputs if v in of), default=0)
        for value in op.results:
            if depth >= CHAIN_DEPTH and _has_step(element(value.type)):
                self.cut(value)
            else:
                of[value] = depth

    def cut(self, value: Value) -> None:
        """Let a value's bits pass by something that LLVM cannot look through."""
        emitter = self.emitter
        step = self.past_bits if element(value.type).kind is Kind.FLOAT else self.past_maximum
        emitter.bind(value, [step(o, element(value.type), value.name) for o in emitter.operands(value)])

    def past_bits(self, operand: str, scalar: Scalar, name: str) -> str:
        """Return the same float."""
        w, kind, bits = self.emitter.writer, register(scalar), f"i{scalar.bits}"
        word = w.emit(f"bitcast {kind} {operand} to {bits}")
        word = w.emit(f"freeze {bits} {w.emit(f'xor {bits} {word}, {self.zero(bits)}')}")
        return w.emit(f"bitcast {bits} {word} to {kind}", name)

    def past_maximum(self, operand: str, scalar: Scalar, name: str) -> str:
        """The same integer: none is below 0 as an unsigned one. The type of a call is known without its operands."""
        w, kind = self.emitter.writer, register(scalar)
        function = f"llvm.umax.{kind}"
        w.declare(function, f"declare {kind} @{function}({kind}, {kind})")
        return w.emit(f"call {kind} @{function}({kind} {operand}, {kind} {self.zero(kind)})", name)

    def zero(self, bits: str) -> str:
        """Return a 0 that LLVM does not know."""
        w = self.emitter.writer
        if bits not in self.zeros:
            place = w.once(("zero", bits), f"alloca {bits}", "zero.at")
            # Volatile, so that LLVM cannot know what it loads back; at the head, so that it costs one load per chunk.
            w.head.append(f"  store volatile {bits} 0, ptr {place}")
            self.zeros[bits] = w.once(("zero", bits, "value"), f"load volatile {bits}, ptr {place}", "zero")
        return self.zeros[bits]


def _has_step(scalar: Scalar) -> bool:
    return scalar.kind in (Kind.INT, Kind.UINT) or (scalar.kind is Kind.FLOAT and not scalar.is_half)
