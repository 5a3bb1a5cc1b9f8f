"""Writes one formula as LLVM IR for one float or for several side by side.

A maths function is needed as a scalar and as a vector that mean the same to the last bit. Here it is written once, in
operators on `Lane` values; `Lanes` writes each operation for its width. No operation mixes lanes, so the scalar is lane
0 of the vector. The formulas count on `fma` to round once. For WebAssembly it is a function of 128 bits, written out
without fused multiply-add, which in float32 differs from one rounding in about one of 10⁸ results; in a browser whose
instruction rounds once, that replaces each call (`backends/wasm`).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache

LONG = 5  # coefficients
REGISTER = 128  # bits of what the function of multiply-add takes
WRITTEN = {32: "wb_fma_f32x4", 64: "wb_fma_f64x2"}
"""The functions of multiply-add for targets without it, by bits of an element."""


class Lanes:
    """The LLVM IR of one function body, for one width.

    Attributes:
        bits: 32 or 64, of an element.
        count: elements side by side; 1 for the scalar.
        fused: whether the target has fused multiply-add.
        kind, bit_kind, flag_kind: the LLVM types of values, of their bits, and of conditions.
        rows: the lines so far.
        declarations: of what the text calls, by name.
    """

    def __init__(self, bits: int, count: int, fused: bool = True) -> None:
        self.bits = bits
        self.count = count
        self.fused = fused
        self.kind = self._wide("float" if bits == 32 else "double")
        self.bit_kind = self._wide(f"i{bits}")
        self.flag_kind = self._wide("i1")
        self.rows: list[str] = []
        self.declarations: dict[str, str] = {}

    def _wide(self, kind: str) -> str:
        """Return the LLVM type of `count` elements of type `kind`: that type itself, or a vector."""
        return kind if self.count == 1 else f"<{self.count} x {kind}>"

    @property
    def suffix(self) -> str:
        """The name of this type in LLVM's intrinsics: `f32`, `v8f32`."""
        return f"f{self.bits}" if self.count == 1 else f"v{self.count}f{self.bits}"

    def emit(self, text: str) -> str:
        """Emit one instruction; return its register."""
        name = f"%v{len(self.rows)}"
        self.rows.append(f"  {name} = {text}")
        return name

    def number(self, value: float) -> str:
        """Return a float constant in every lane, rounded to the element's type, as LLVM text.

        Where the target has no fused multiply-add, vectors of it are loaded from memory, and the text is a register.
        """
        rounded = struct.unpack("f", struct.pack("f", value))[0] if self.bits == 32 else value
        kind, text = "float" if self.bits == 32 else "double", struct.pack(">d", rounded).hex().upper()
        if self.fused or self.count == 1:
            return self._all(kind, f"0x{text}")
        # Browsers make a register's constant by three instructions, and load it by one. Weak: LLVM does not fold it.
        name = f"wb_{self.bits}_{text}"
        self.declarations[name] = f"@{name} = weak constant {kind} 0x{text}"
        one = self.emit(f"load {kind}, ptr @{name}")
        first = self.emit(f"insertelement {self.kind} poison, {kind} {one}, i64 0")
        return self.shuffled(self.kind, first, "poison", [0] * self.count)

    def bits_of(self, value: int) -> str:
        """Return LLVM text of an integer constant in every lane."""
        return self._all(f"i{self.bits}", str(value))

    def _all(self, kind: str, text: str) -> str:
        """Return LLVM text of a constant in every lane: the text itself, or a vector that repeats it."""
        return text if self.count == 1 else f"<{', '.join([f'{kind} {text}'] * self.count)}>"

    def widened(self, x: Lane) -> Lane:
        """Emit a conversion to float64; the result belongs to a writer of that width, which shares these lines."""
        wide = Lanes(64, self.count, self.fused)
        wide.rows, wide.declarations = self.rows, self.declarations
        return Lane(wide, self.emit(f"fpext {self.kind} {x.name} to {wide.kind}"))

    def narrowed(self, x: Lane) -> Lane:
        """Emit a conversion of a float64 to this width's type, rounded once."""
        return Lane(self, self.emit(f"fptrunc {x.lanes.kind} {x.name} to {self.kind}"))

    def call(self, intrinsic: str, *args: Lane) -> Lane:
        """Emit a call of an LLVM intrinsic, such as "fabs", on values of this type."""
        name = f"llvm.{intrinsic}.{self.suffix}"
        self.declarations[name] = f"declare {self.kind} @{name}({', '.join([self.kind] * len(args))})"
        return Lane(self, self.emit(f"call {self.kind} @{name}({', '.join(f'{self.kind} {a.name}' for a in args)})"))

    def in_registers(self, *args: Lane) -> Lane:
        """Emit x · y + z, for `args` x, y, z, by our function on 128-bit vectors.

        The lanes may fill a part of such a vector, or several.
        """
        full = Lanes(self.bits, REGISTER // self.bits)
        name = WRITTEN[self.bits]
        self.declarations[name] = _written(self.bits)
        pieces = []
        for first in range(0, self.count, full.count):
            parts = ", ".join(f"{full.kind} {self._register(arg.name, first, full)}" for arg in args)
            pieces.append(self.emit(f"call {full.kind} @{name}({parts})"))
        if self.count == 1:
            return Lane(self, self.emit(f"extractelement {full.kind} {pieces[0]}, i64 0"))
        if self.count == full.count:
            return Lane(self, pieces[0])
        return Lane(self, self.shuffled(full.kind, pieces[0], pieces[-1], range(self.count)))

    def _register(self, name: str, first: int, full: Lanes) -> str:
        """Return a 128-bit vector with the lanes from `first` on.

        Args:
            name: the register of all lanes.
            first: the first lane.
            full: the writer for 128 bits.
        """
        if self.count == 1:
            return self.emit(f"insertelement {full.kind} poison, {self.kind} {name}, i64 0")
        if self.count == full.count:
            return name
        return self.shuffled(self.kind, name, "poison", range(first, first + full.count))

    def shuffled(self, kind: str, one: str, other: str, lanes: Sequence[int]) -> str:
        """Emit a shuffle of two vectors of type `kind`: the lanes of these numbers, which count on into the second."""
        mask = ", ".join(f"i32 {k}" for k in lanes)
        return self.emit(f"shufflevector {kind} {one}, {kind} {other}, <{len(lanes)} x i32> <{mask}>")


class Lane:
    """A float value of a formula, one number in each lane. Operators are IEEE's, rounded once each.

    Attributes:
        lanes: writes the text, and says how wide the value is.
        name: its LLVM register or constant.
    """

    def __init__(self, lanes: Lanes, name: str) -> None:
        self.lanes = lanes
        self.name = name

    def _other(self, value: Lane | float) -> str:
        """Return the LLVM operand of another value or of a number."""
        return value.name if isinstance(value, Lane) else self.lanes.number(value)

    def _do(self, verb: str, left: str, right: str) -> Lane:
        """Emit an instruction on two operands of this type."""
        return Lane(self.lanes, self.lanes.emit(f"{verb} {self.lanes.kind} {left}, {right}"))

    def __add__(self, other: Lane | float) -> Lane:
        """Emit the sum with another value or number."""
        return self._do("fadd", self.name, self._other(other))

    def __sub__(self, other: Lane | float) -> Lane:
        """Emit this value minus another value or number."""
        return self._do("fsub", self.name, self._other(other))

    def __rsub__(self, other: float) -> Lane:
        """Emit a number minus this value."""
        return self._do("fsub", self._other(other), self.name)

    def __mul__(self, other: Lane | float) -> Lane:
        """Emit the product with another value or number."""
        return self._do("fmul", self.name, self._other(other))

    def __truediv__(self, other: Lane | float) -> Lane:
        """Emit this value divided by another value or number."""
        return self._do("fdiv", self.name, self._other(other))

    def __rtruediv__(self, other: float) -> Lane:
        """Emit a number divided by this value."""
        return self._do("fdiv", self._other(other), self.name)

    def __neg__(self) -> Lane:
        """Emit the value with the opposite sign."""
        return Lane(self.lanes, self.lanes.emit(f"fneg {self.lanes.kind} {self.name}"))

    def __abs__(self) -> Lane:
        """Emit the absolute value."""
        return self.lanes.call("fabs", self)

    def constant(self, value: float) -> Lane:
        """Return a value that is the same number in every lane."""
        return Lane(self.lanes, self.lanes.number(value))

    def is_(self, relation: str, other: Lane | float) -> Flag:
        """Emit a comparison, by LLVM's name for it: `olt`, `oeq`, `uno` (either is NaN), …"""
        text = f"fcmp {relation} {self.lanes.kind} {self.name}, {self._other(other)}"
        return Flag(self.lanes, self.lanes.emit(text))

    @property
    def bits(self) -> Bits:
        """The bits of the value as an integer."""
        text = f"bitcast {self.lanes.kind} {self.name} to {self.lanes.bit_kind}"
        return Bits(self.lanes, self.lanes.emit(text))


class Bits:
    """The bits of a value as an integer in each lane; arithmetic wraps.

    Attributes:
        lanes: writes the text, and says how wide the value is.
        name: its LLVM register.
    """

    def __init__(self, lanes: Lanes, name: str) -> None:
        self.lanes = lanes
        self.name = name

    def do(self, verb: str, other: Bits | int) -> Bits:
        """Emit an LLVM integer instruction with the bits on its left: `add`, `and`, `shl`, `ashr`, …"""
        right = other.name if isinstance(other, Bits) else self.lanes.bits_of(other)
        return Bits(self.lanes, self.lanes.emit(f"{verb} {self.lanes.bit_kind} {self.name}, {right}"))

    def equals(self, value: int) -> Flag:
        """Emit whether the integer equals `value`."""
        text = f"icmp eq {self.lanes.bit_kind} {self.name}, {self.lanes.bits_of(value)}"
        return Flag(self.lanes, self.lanes.emit(text))

    @property
    def value(self) -> Lane:
        """The float of these bits."""
        text = f"bitcast {self.lanes.bit_kind} {self.name} to {self.lanes.kind}"
        return Lane(self.lanes, self.lanes.emit(text))

    @property
    def number(self) -> Lane:
        """The float nearest to this integer."""
        text = f"sitofp {self.lanes.bit_kind} {self.name} to {self.lanes.kind}"
        return Lane(self.lanes, self.lanes.emit(text))


class Flag:
    """A truth value in each lane.

    Attributes:
        lanes: writes the text, and says how wide the value is.
        name: its LLVM register.
    """

    def __init__(self, lanes: Lanes, name: str) -> None:
        self.lanes = lanes
        self.name = name

    def __or__(self, other: Flag) -> Flag:
        """Emit in which lanes this or another condition holds."""
        return Flag(self.lanes, self.lanes.emit(f"or {self.lanes.flag_kind} {self.name}, {other.name}"))

    def __and__(self, other: Flag) -> Flag:
        """Emit in which lanes this and another condition hold."""
        return Flag(self.lanes, self.lanes.emit(f"and {self.lanes.flag_kind} {self.name}, {other.name}"))

    def choose(self, yes: Lane | float, no: Lane) -> Lane:
        """Emit a selection: `yes` in lanes where the condition holds, else `no`."""
        first = yes.name if isinstance(yes, Lane) else self.lanes.number(yes)
        kind = self.lanes.kind
        text = f"select {self.lanes.flag_kind} {self.name}, {kind} {first}, {kind} {no.name}"
        return Lane(self.lanes, self.lanes.emit(text))


def fma(x: Lane, y: Lane | float, z: Lane | float) -> Lane:
    """Emit x · y + z, rounded once (on WebAssembly almost always; see the module)."""
    lanes = x.lanes
    second, third = (v if isinstance(v, Lane) else x.constant(v) for v in (y, z))
    return lanes.call("fma", x, second, third) if lanes.fused else lanes.in_registers(x, second, third)


@cache
def _written(bits: int) -> str:
    """Return LLVM text that defines our function of x · y + z, for targets without such an instruction.

    It is weak, so that LLVM leaves each call as it stands: a browser may have one instruction for it.
    """
    lanes = Lanes(bits, REGISTER // bits)
    x, y, z = (Lane(lanes, f"%x{n}") for n in range(3))
    if bits == 64:
        product, rest = _product(x, y)
        small, lost = _sum(z, rest)
        large, more = _sum(product, small)
        total = (large + _to_odd(lost, more)).name
    else:  # the product is exact in float64; the sum is rounded there, and once more here
        wide = Lanes(64, 2)
        wide.rows = lanes.rows
        narrow: list[str] = []
        for half in ((0, 1), (2, 3)):
            a, b, c = (
                Lane(
                    wide,
                    wide.emit(f"fpext <2 x float> {lanes.shuffled(lanes.kind, v.name, 'poison', half)} to {wide.kind}"),
                )
                for v in (x, y, z)
            )
            # Two zeros beside them: what WebAssembly's instruction makes.
            four = wide.shuffled(wide.kind, (a * b + c).name, "zeroinitializer", range(4))
            narrow.append(lanes.emit(f"fptrunc <4 x double> {four} to {lanes.kind}"))
        low, high = (
            Lane(lanes, n).bits for n in (narrow[0], lanes.shuffled(lanes.kind, narrow[1], "poison", (2, 3, 0, 1)))
        )
        total = low.do("or", high).value.name
    params = ", ".join(f"{lanes.kind} %x{n}" for n in range(3))
    head = f"define weak {lanes.kind} @{WRITTEN[bits]}({params}) noinline nounwind willreturn memory(none) {{"
    return "\n".join([head, *lanes.rows, f"  ret {lanes.kind} {total}", "}"])


def _sum(a: Lane, b: Lane) -> tuple[Lane, Lane]:
    """Emit a + b as a sum of two: rounded, and what rounding lost (Knuth's two-sum)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _to_odd(a: Lane, b: Lane) -> Lane:
    """Emit a + b, rounded to odd: an inexact sum becomes the neighbour whose last bit is set.

    Added to a larger number, it then ends where the exact sum would (Boldo & Melquiond, IEEE Trans. Computers 57(4),
    2008).
    """
    total, lost = _sum(a, b)
    away = lost.bits.do("xor", total.bits).do("ashr", 63).do("or", 1)  # 1: from zero; -1: towards it
    even = total.bits.do("and", 1).equals(0)
    return (lost.is_("one", 0.0) & even).choose(total.bits.do("add", away).value, total)


def _product(x: Lane, y: Lane) -> tuple[Lane, Lane]:
    """Emit x · y as a sum of two float64 (Dekker, Numer. Math. 18, 1971); |x| and |y| below 2⁹⁹⁶."""
    (a, b), (c, d) = _halves(x), _halves(y)
    product = x * y
    return product, ((a * c - product) + a * d + b * c) + b * d


def _halves(x: Lane) -> tuple[Lane, Lane]:
    """Emit x as a sum of two float64 of 26 bits each (Veltkamp)."""
    scaled = x * (2.0**27 + 1.0)
    high = scaled - (scaled - x)
    return high, x - high


def polynomial(x: Lane, coefficients: Sequence[float]) -> Lane:
    """Emit Σ cₖ xᵏ, by Horner's rule, coefficients from the lowest power on.

    Long ones go in halves of even and odd powers, so that a core has two things to do.
    """
    if len(coefficients) > LONG:
        square = x * x
        return fma(polynomial(square, coefficients[1::2]), x, polynomial(square, coefficients[::2]))
    total = x.constant(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = fma(total, x, c)
    return total
