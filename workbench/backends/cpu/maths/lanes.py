"""Fused multiply-add and polynomials for formulas that are written once, for one float or several side by side.

A maths function is needed as a scalar and as a vector that mean the same to the last bit. No operation mixes lanes, so
the scalar is lane 0 of the vector. The formulas count on `fma` to round once. For WebAssembly it is a function of 128
bits, written out without fused multiply-add, which in float32 differs from one rounding in about one of 10⁸ results; in
a browser whose instruction rounds once, that replaces each call (`backends/wasm`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from workbench.backends.llvm.values import Value, Writer, bits_of, vector

LONG = 5  # coefficients
REGISTER = 128  # bits of what the function of multiply-add takes
WRITTEN = {32: "wb_fma_f32x4", 64: "wb_fma_f64x2"}
"""The functions of multiply-add for targets without it, by bits of an element."""


class Unfused(Writer):
    """A writer for targets without fused multiply-add."""

    def splat(self, kind: str, constant: str, lanes: int) -> str:
        """Return a vector with a constant in every lane: a float is loaded from memory, and the text is a register."""
        if kind.startswith("i"):
            return super().splat(kind, constant, lanes)
        # Browsers make a register's constant by three instructions, and load it by one. Weak: LLVM does not fold it.
        name = f"wb_{bits_of(kind)}_{constant[2:]}"
        self.declare(name, f"@{name} = weak constant {kind} {constant}")
        return Value(self, f"@{name}", "ptr").load(kind).spread(lanes).text

    def multiply_add(self, *args: Value) -> Value:
        """Emit x · y + z, for `args` x, y, z, by our function on 128-bit vectors.

        The lanes may fill a part of such a vector, or several.
        """
        lanes, bits = args[0].lanes, bits_of(args[0].elem)
        name, full = WRITTEN[bits], REGISTER // bits
        self.declare(name, _written(bits))
        pieces = list[Value]()
        for first in range(0, max(lanes, 1), full):
            parts = [_register(arg, first, full) for arg in args]
            pieces.append(parts[0].called(name, *map(str, parts)))
        if not lanes:
            return pieces[0].lane(0)
        return pieces[0] if lanes == full else pieces[0].shuffled(range(lanes), pieces[-1])


def _register(value: Value, first: int, full: int) -> Value:
    """Return a vector of `full` lanes with those of a value from the lane `first` on."""
    if not value.lanes:
        return value.new(f"insertelement {vector(value.elem, full)} poison, {value}, i64 0", "", full)
    return value if value.lanes == full else value.shuffled(range(first, first + full))


def fma(x: Value, y: Value | float, z: Value | float) -> Value:
    """Emit x · y + z, rounded once (on WebAssembly almost always; see the module)."""
    return x.w.multiply_add(*x.alike(y, z)) if isinstance(x.w, Unfused) else x.intrinsic("fma", y, z)


@cache
def _written(bits: int) -> str:
    """Return LLVM text that defines our function of x · y + z, for targets without such an instruction.

    It is weak, so that LLVM leaves each call as it stands: a browser may have one instruction for it.
    """
    w, count, kind = Writer(), REGISTER // bits, "float" if bits == 32 else "double"
    x, y, z = (Value(w, f"%x{n}", kind, count) for n in range(3))
    if bits == 64:
        product, rest = _product(x, y)
        small, lost = _sum(z, rest)
        large, more = _sum(product, small)
        total = large + _to_odd(lost, more)
    else:  # the product is exact in float64; the sum is rounded there, and once more here
        narrow, zeros = list[Value](), Value(w, "zeroinitializer", "double", 2)
        for half in ((0, 1), (2, 3)):
            a, b, c = (v.shuffled(half).cast("fpext", "double") for v in (x, y, z))
            # Two zeros beside them: what WebAssembly's instruction makes.
            narrow.append((a * b + c).shuffled(range(4), zeros).cast("fptrunc", "float"))
        total = (narrow[0].bits | narrow[1].shuffled((2, 3, 0, 1)).bits).real
    head = f"define weak {total.type} @{WRITTEN[bits]}({x}, {y}, {z}) noinline nounwind willreturn memory(none) {{"
    return "\n".join([head, *w.lines, f"  ret {total}", "}"])


def _sum(a: Value, b: Value) -> tuple[Value, Value]:
    """Emit a + b as a sum of two: rounded, and what rounding lost (Knuth's two-sum)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _to_odd(a: Value, b: Value) -> Value:
    """Emit a + b, rounded to odd: an inexact sum becomes the neighbour whose last bit is set.

    Added to a larger number, it then ends where the exact sum would (Boldo & Melquiond, IEEE Trans. Computers 57(4),
    2008).
    """
    total, lost = _sum(a, b)
    away = (lost.bits ^ total.bits).do("ashr", 63) | 1  # 1: from zero; -1: towards it
    even = (total.bits & 1).is_("eq", 0)
    return (lost.is_("one", 0.0) & even).choose((total.bits + away).real, total)


def _product(x: Value, y: Value) -> tuple[Value, Value]:
    """Emit x · y as a sum of two float64 (Dekker, Numer. Math. 18, 1971); |x| and |y| below 2⁹⁹⁶."""
    (a, b), (c, d) = _halves(x), _halves(y)
    product = x * y
    return product, ((a * c - product) + a * d + b * c) + b * d


def _halves(x: Value) -> tuple[Value, Value]:
    """Emit x as a sum of two float64 of 26 bits each (Veltkamp)."""
    scaled = x * (2.0**27 + 1.0)
    high = scaled - (scaled - x)
    return high, x - high


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """Emit Σ cₖ xᵏ, by Horner's rule, coefficients from the lowest power on.

    Long ones go in halves of even and odd powers, so that a core has two things to do.
    """
    if len(coefficients) > LONG:
        square = x * x
        return fma(polynomial(square, coefficients[1::2]), x, polynomial(square, coefficients[::2]))
    total = x.like(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = fma(total, x, c)
    return total
