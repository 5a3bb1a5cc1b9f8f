"""IR as text: for readers with their names, and canonical (no names of locals, no places) for module keys."""

from __future__ import annotations

import re
import struct
from contextlib import suppress

import numpy as np

from workbench.ir.json_values import Malformed
from workbench.ir.ops import ADJ_CUDA, CAPTURED, CUDA, REPLAY_CUDA, VALUE, Number
from workbench.ir.values import GRADIENT, REPLAY, Block, Function, Op, Value, scalar_or_vector_of
from workbench.source import Location
from workbench.types import Scalar, Type, Vector, element

_HEX = re.compile(r"[0-9a-f]*")
_PACKED = {"bool": ">?", "int32": ">i", "int64": ">q", "float32": ">f", "float64": ">d"}
# Attributes of many lines, which readers find in the cell.
TEXTS = (CUDA, ADJ_CUDA, REPLAY_CUDA)


def show(function: Function, *, lines: bool = False) -> str:
    """Return the function as readable text; with `lines`, operations end in `@ line`, the line of the user's text."""
    return _Printer(function, canonical=False, lines=lines).to_str()


def canonical(function: Function) -> str:
    """Return the function as text that depends on its meaning alone, for module keys.

    Locals are numbered in order, locations are left out, constants stand with all their bits; a captured constant
    stands by its name alone (its value is a key part of its own).
    """
    return _Printer(function, canonical=True, lines=False).to_str()


def literal_bits(value: object, type: Scalar | Vector) -> str:
    """Return all bits of a constant: the hexadecimal digits of the bytes of its NumPy value, big-endian."""
    scalar = type if isinstance(type, Scalar) else type.dtype
    # Most are packed so: NumPy takes ten times as long. A conversion would not keep the bits of a signalling NaN.
    if type is scalar and scalar.name in _PACKED and value == value:
        with suppress(struct.error, OverflowError):
            return struct.pack(_PACKED[scalar.name], value).hex()
    with np.errstate(over="ignore"):  # 1e300 as a float32 is infinite
        if scalar.is_half:
            bits = [scalar(v).view(np.uint16) for v in np.asarray(value, dtype=object).reshape(-1)]
            return np.array(bits, dtype=">u2").tobytes().hex()
        data = np.asarray(value, dtype=scalar.numpy)
    return data.astype(scalar.numpy.newbyteorder(">")).tobytes().hex()


def read_bits(bits: object, type: Type) -> Number | tuple[Number, ...]:
    """Return the number, or for a vector the tuple of numbers, that `literal_bits` wrote.

    Raises:
        Malformed: the bits are no constant of this type.
    """
    if not isinstance(type, (Scalar, Vector)):
        raise Malformed(f"a constant of {type!r}")
    count = type.length if isinstance(type, Vector) else 1
    scalar = element(type)
    if not isinstance(bits, str) or not _HEX.fullmatch(bits) or len(bits) != 2 * count * scalar.size:
        raise Malformed(f"a constant of {type!r} with the bits {str(bits)[:40]}")
    if scalar.is_half:
        numbers = np.frombuffer(bytes.fromhex(bits), ">u2").astype(np.uint16).view(scalar.numpy).astype(np.float32)
        return tuple(numbers.tolist()) if isinstance(type, Vector) else numbers.tolist()[0]
    decoded = np.frombuffer(bytes.fromhex(bits), scalar.numpy.newbyteorder(">")).tolist()
    return tuple(decoded) if isinstance(type, Vector) else decoded[0]


class _Printer:
    """Writes one function as text: `canonical` for module keys, else for readers; `lines` appends line numbers."""

    def __init__(self, function: Function, canonical: bool, lines: bool) -> None:
        self.function = function
        self.canonical = canonical
        self.lines = lines
        self.names: dict[Value, str] = {}
        self.used: set[str] = set()
        self.rows: list[str] = []

    def to_str(self) -> str:
        """Return the text of the function, one line per operation; call it once per printer."""
        params = ", ".join(f"{self.name(p)}: {p.type!r}" for p in self.function.params)
        head = "function" if self.canonical else self.function.name
        blocks = f" block {self.function.block_dim}" if self.function.block_dim else ""
        self.rows.append(f"{head}({params}) tid {self.function.launch_ndim}{blocks}")
        self.block(self.function.body, 1)
        return "\n".join(self.rows) + "\n"

    def name(self, value: Value) -> str:
        """Return a value's unique label, assigned at first use: `%v0`, … if canonical, else from the value's name."""
        if value not in self.names:
            if self.canonical:
                label = f"v{len(self.names)}"
            else:
                base = value.name or "_"
                label, n = base, 0
                while label in self.used or label == "_":
                    n += 1
                    label = f"{base}{n}"
                self.used.add(label)
            self.names[value] = f"%{label}"
        return self.names[value]

    def block(self, block: Block, depth: int) -> None:
        """Append the lines of a block's operations to `rows`, indented by `depth` steps."""
        for op in block.ops:
            self.op(op, depth)

    def op(self, op: Op, depth: int) -> None:
        """Append the line of an operation to `rows`, then its blocks, gradient and replay in braces."""
        pad = "  " * depth
        operands = ", ".join([self.names.get(v) or self.name(v) for v in op.operands])
        results = ", ".join([f"{self.name(v)}: {v.type!r}" for v in op.results])
        attrs = self.attrs(op)
        line = f"   @ {op.location.shown_line}" if self.lines and op.location.line else ""
        head = f"{pad}{results + ' = ' if results else ''}{op.name}{attrs}{' ' + operands if operands else ''}{line}"
        self.rows.append(head)
        for block in op.blocks:
            params = ", ".join(f"{self.name(v)}: {v.type!r}" for v in block.params)
            self.rows.append(f"{pad}{{ {params}".rstrip())
            self.block(block, depth + 1)
            self.rows.append(f"{pad}}}")
        for name in (GRADIENT, REPLAY):
            block = op.attrs.get(name)
            if block is not None:
                params = ", ".join(f"{self.name(v)}: {v.type!r}" for v in block.params)
                self.rows.append(f"{pad}{name} {{ {params}".rstrip())
                self.block(block, depth + 1)
                self.rows.append(f"{pad}}}")

    def attrs(self, op: Op) -> str:
        """Return an operation's attributes as text behind its name: ` #bits`, ` @captured` or `[name=value, …]`.

        Blocks, locations and missing attributes are left out; for readers, CUDA text too. Empty if nothing is left.
        """
        if op.name == "const":
            captured, value, type = op.attrs.get(CAPTURED), op.attrs[VALUE], scalar_or_vector_of(op.result)
            if captured:
                return f" @{captured}"
            return f" #{literal_bits(value, type)}" if self.canonical else f" {value!r}"
        hidden = () if self.canonical else TEXTS
        items = sorted((k, v) for k, v in op.attrs.items() if v is not None and k not in hidden)
        shown = [f"{k}={v}" for k, v in items if not isinstance(v, (Block, Location))]
        return f"[{', '.join(shown)}]" if shown else ""
