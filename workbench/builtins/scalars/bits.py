"""Bit operations. A shift is defined for every amount: past the width nothing but sign bits is left."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import numpy as np

from workbench.builtins.declaration.declare import TABLE, builtin, written
from workbench.builtins.declaration.rules import integers, same_integer
from workbench.builtins.scalars.operators import and_, where
from workbench.types import Kind, element, int32


def _bits(name: str, sign: str, instruction: str, doc: str) -> None:
    """Declare the builtin `name`, such as `bit_and`, with NumPy's `bitwise_…` as its reference.

    Args:
        name: the builtin.
        sign: its operator, in Python and in C.
        instruction: LLVM's.
        doc: what it means.
    """

    def reference(x, y):
        return getattr(np, f"bitwise_{name[4:]}")(x, y)

    reference.__doc__ = doc
    builtin(
        integers(2, bools=True),
        name=name,
        operator=sign,
        cuda=f"({{0}} {sign} {{1}})",
        differentiable="no: integers",
        llvm={"int": instruction, "uint": instruction, "bool": instruction},
    )(reference)


_bits("bit_and", "&", "and", "Bitwise and.")
_bits("bit_or", "|", "or", "Bitwise or.")
_bits("bit_xor", "^", "xor", "Bitwise exclusive or.")


@builtin(
    same_integer,
    operator="~",
    cuda="(~{0})",
    differentiable="no: integers",
    llvm={"int": "xor {T} -1,", "uint": "xor {T} -1,"},
)
def invert(x):
    """Every bit flipped."""
    return np.invert(x)


@builtin(
    integers(2),
    operator="<<",
    cuda="wb_shl({0}, {1})",
    differentiable="no: integers",
    prelude="""
template <typename T> WB_FN T wb_shl(T a, T b) {
    return b >= T(0) && b < T(8 * sizeof(T)) ? T(a << b) : T(0);
}
""",
)
def lshift(x, y):
    """x shifted left by y bits; 0 where y is not in 0 ≤ y < width."""
    width = 8 * x.dtype.itemsize
    return np.left_shift(x, y) if 0 <= y < width else x.dtype.type(0)


@builtin(
    integers(2), hidden=True, cuda="({0} << {1})", llvm={"int": "shl", "uint": "shl"}, differentiable="no: integers"
)
def raw_shl(x, y):
    """Left shift by an amount known to be within the width."""
    return np.left_shift(x, y)


@builtin(
    integers(2), hidden=True, cuda="({0} >> {1})", llvm={"int": "ashr", "uint": "lshr"}, differentiable="no: integers"
)
def raw_shr(x, y):
    """Right shift by an amount known to be within the width."""
    return np.right_shift(x, y)


@lshift.expansion
def _(x, y):
    """Emit `lshift(x, y)` by other builtins, and return its result."""
    width = element(x.type).bits
    inside = and_(y >= 0, y < width)
    return where(inside, raw_shl(x, where(inside, y, y.like(0))), x.like(0))


@builtin(
    integers(2),
    operator=">>",
    cuda="wb_shr({0}, {1})",
    differentiable="no: integers",
    prelude="""
template <typename T> WB_FN T wb_shr(T a, T b) {
    return b >= T(0) && b < T(8 * sizeof(T)) ? T(a >> b) : (a < T(0) ? T(-1) : T(0));
}
""",
)
def rshift(x, y):
    """x shifted right by y bits (signed: keeps the sign); all sign bits where y is not in 0 ≤ y < width."""
    width = 8 * x.dtype.itemsize
    return np.right_shift(x, y) if 0 <= y < width else x.dtype.type(-1 if x < 0 else 0)


@rshift.expansion
def _(x, y):
    """Emit `rshift(x, y)` by other builtins, and return its result."""
    scalar = element(x.type)
    inside = and_(y >= 0, y < scalar.bits)
    signs = raw_shr(x, x.like(scalar.bits - 1)) if scalar.kind is Kind.INT else x.like(0)
    return where(inside, raw_shr(x, where(inside, y, y.like(0))), signs)


@builtin(same_integer, hidden=True, differentiable="no: integers")
def bit_sum(x):
    """Return the number of bits that are 1, in the integer's own type."""
    return x.dtype.type((int(x) & ((1 << 8 * x.dtype.itemsize) - 1)).bit_count())


@bit_sum.expansion
def _(x):
    """Emit `bit_sum(x)` by other builtins, and return its result."""
    total = x.like(0)
    for k in range(element(x.type).bits):
        total = total + TABLE["bit_and"](raw_shr(x, x.like(k)), x.like(1))
    return total


@written("bit_count(x)")
def bit_count(x, /):
    """Return the number of an integer's bits that are 1, an int32."""
    return int32(bit_sum(x))
