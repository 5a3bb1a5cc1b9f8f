"""Complex numbers in the front end: their construction, their parts, and their operators and builtins.

In IR one is a vector of 2, so nothing below the front end has a product of its own for them; what is not done part by
part is a function of the kernel language (`builtins/vectors/complex_numbers.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.rules import called, meet
from workbench.builtins.vectors.complex_numbers import ON_COMPLEX
from workbench.errors import KernelSyntaxError, KernelTypeError
from workbench.frontend.functions import library
from workbench.frontend.state.coerce import apply, assign_type, components, convert, describe, usable, weak
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand
from workbench.ir.values import Value
from workbench.tiles import is_tile
from workbench.types import Complex, Scalar, Vector, complex64

PARTS = ("real", "imag")


def is_complex(operand: object) -> bool:
    """Return whether an operand is a complex number, a literal or not."""
    if isinstance(operand, Literal):
        return operand.is_complex
    return isinstance(operand, Value) and isinstance(operand.type, Complex)


def applied(context: Context, name: str, operands: Sequence[Value | Literal]) -> Operand:
    """Emit an operator or builtin of which an operand is complex.

    Raises:
        KernelTypeError: complex numbers have none of this name.
    """
    if any(is_tile(o) for o in operands):
        message = f"{called(name)} of a tile and a complex number: tiles have no complex elements."
        raise context.error(KernelTypeError, message, "Keep real and imaginary parts in two tiles.")
    if name == "pow" and len(operands) == 2:
        return _power(context, *operands)
    if name in ("eq", "ne"):
        both = meet("join", [weak(o) for o in operands])
        sides = [components(context, convert(context, o, both)) for o in operands]
        each = [apply(context, TABLE[name], pair) for pair in zip(*sides, strict=True)]
        return apply(context, TABLE["and_" if name == "eq" else "or_"], each)
    form = ON_COMPLEX.get(name)
    if form is not None and not any(isinstance(o, Value) and _is_whole(o.type) for o in operands):
        return library.call(context, form, operands)
    return apply(context, TABLE[name], operands)


def _is_whole(type: object) -> bool:
    return isinstance(type, Vector) and not isinstance(type, Complex)


def _power(context: Context, base: Value | Literal, exponent: Value | Literal) -> Operand:
    """Emit z ** n, of an integer n that is written out by squaring."""
    if not isinstance(exponent, Literal) or exponent.is_float:
        return library.call(context, ON_COMPLEX["pow"], (base, exponent))
    mul, result = ON_COMPLEX["mul"], Literal(1)
    square, n = base, abs(int(exponent.value))  # type: ignore[arg-type]
    while n:
        if n & 1:
            result = square if isinstance(result, Literal) else library.call(context, mul, (result, square))
        n >>= 1
        if n:
            square = library.call(context, mul, (square, square))  # type: ignore[assignment]
    if isinstance(result, Literal):
        return convert(context, result, base.type if isinstance(base, Value) else complex64)
    return library.call(context, ON_COMPLEX["div"], (Literal(1), result)) if exponent.value < 0 else result  # type: ignore[operator]


def attribute(context: Context, z: Value | Literal, name: str) -> Operand:
    """Emit `z.real` or `z.imag`.

    Raises:
        KernelSyntaxError: another name.
    """
    if name not in PARTS:
        advice = "Write conj(z)." if name == "conjugate" else ""
        raise context.error(KernelSyntaxError, f"{describe(z)} has no {name}; it has real and imag.", advice)
    if isinstance(z, Literal):
        return Literal(getattr(z.value, name))
    return components(context, z)[PARTS.index(name)]


def makes(target: object) -> bool:
    """Return whether a call of `target` constructs a complex number."""
    return target is complex or isinstance(target, Complex)


def construct(context: Context, target: Any, args: Sequence[Operand]) -> Operand:
    """Emit `complex64()`, `complex64(z)` or `complex64(x, y)`; Python's `complex(x, y)` has its parts' type.

    Raises:
        KernelTypeError: the arguments are no numbers.
    """
    type = None if target is complex else target
    operands = [usable(context, a) for a in args]
    name = repr(type) if type is not None else "complex"
    single = len(operands) == 1 and is_complex(operands[0])
    if len(operands) > 2 or not (single or all(_is_real(o) for o in operands)):
        got = ", ".join(map(describe, operands))
        raise context.error(KernelTypeError, f"{name}() takes a number, or a real and an imaginary part; it got {got}.")
    if type is None and all(isinstance(o, Literal) for o in operands):
        return Literal(complex(*(o.value for o in operands)))  # type: ignore[union-attr]
    if type is None:
        type = meet("join", [weak(Literal(0j)), *(weak(o) for o in operands)])  # type: ignore[assignment]
        assert isinstance(type, Complex)
    if len(operands) < 2:
        return convert(context, operands[0] if operands else Literal(0), type)
    parts = [o if isinstance(o, Literal) else context.builder.cast(o, type.dtype) for o in operands]
    parts = [assign_type(context, p, type.dtype, f"A part of {name}") for p in parts]
    return context.builder.one("vec", parts, type)  # type: ignore[arg-type]


def _is_real(operand: Value | Literal) -> bool:
    if isinstance(operand, Literal):
        return not operand.is_complex
    return isinstance(operand.type, Scalar)
