"""The writer of a warp's instructions: LLVM values of 32 lanes, or scalars that all lanes share."""

from __future__ import annotations

from workbench.backends.llvm.values import Number, Value, Writer, constant
from workbench.backends.ptx.syntax.program import BITS, Instruction, unsupported

LANES = 32
FLOATS = {"f16": "half", "f32": "float", "f64": "double"}


def element(type: str) -> str:
    """Return the LLVM type in which one lane computes with a PTX type; bf16 and packed types are integers."""
    return FLOATS.get(type) or ("i1" if type == "pred" else f"i{BITS[type]}")


def stored(type: str) -> str:
    """Return the LLVM type of one lane of a register of a PTX type; 16-bit floats are stored as integers."""
    return {"f32": "float", "f64": "double"}.get(type) or ("i1" if type == "pred" else f"i{BITS[type]}")


class WarpWriter(Writer):
    """Writes one function's LLVM instructions, in order.

    Attributes:
        version: the PTX version, for messages of errors.
        instruction: the PTX instruction that is being translated, for messages of errors.
    """

    def __init__(self, version: tuple[int, int]) -> None:
        super().__init__()
        self.version = version
        self.instruction = Instruction("", (), ())

    def unsupported_instruction(self, what: str = "") -> Exception:
        """Return an error saying that the current PTX instruction cannot be executed; `what` replaces its message."""
        i = self.instruction
        return unsupported(what or f"The instruction {i.name} cannot be executed", i.line, self.version)

    def value(self, text: str, elem: str, lanes: int = 0) -> Value:
        """Return the value of this name, or this constant."""
        return Value(self, text, elem, lanes)

    def new(self, text: str, elem: str, lanes: int = 0) -> Value:
        """Emit an LLVM instruction that has a result; return the result.

        Args:
            text: the instruction.
            elem: the type of one lane of the result.
            lanes: of the result; 0: it is a scalar.
        """
        return Value(self, self.emit(text), elem, lanes)

    def number(self, value: Number, elem: str) -> Value:
        """Return a constant of an LLVM type; an integer is wrapped to its width."""
        return Value(self, constant(value, elem), elem)

    def float(self, bits: int, elem: str) -> Value:
        """Emit a float constant of an LLVM type, given by its bit pattern; return it as a scalar."""
        return self.number(bits, f"i{16 * 2 ** ['half', 'float', 'double'].index(elem)}").cast("bitcast", elem)
