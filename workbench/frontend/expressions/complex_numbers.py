"""Complex numbers, vectors and matrices in the front end: their construction, their parts, operators and builtins.

In IR one is a vector of its parts, so nothing below the front end has a product of its own for them. Products are those
of the parts, for numbers and matrices alike; what a vector is made of is that of its real and of its imaginary parts;
functions are written in the kernel language (`builtins/vectors/complex_numbers.py`), and called number by number.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from workbench.builtins.declaration import rules
from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.declaration.rules import Arg
from workbench.builtins.vectors.complex_numbers import ON_COMPLEX
from workbench.builtins.vectors.matrices import det, inverted
from workbench.errors import KernelTypeError
from workbench.frontend.functions import library
from workbench.frontend.state import coerce
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand, Static
from workbench.frontend.values import vectors
from workbench.ir.values import Value
from workbench.tiles import is_tile
from workbench.types import Complex, Quaternion, Scalar, Transform, Type, Vector

PARTS, METHODS = ("real", "imag"), ("conjugate", "conj")
NAMES = {*PARTS, *METHODS}
"""Attributes of numbers, vectors and matrices, complex or not."""
BY_PARTS = {"transpose", "trace", "diag", "get_diag", "skew"}
"""Builtins that are done on the real and on the imaginary parts."""
PRODUCTS = {"mul", "matmul", "dot", "outer", "cross", "cw_mul", "ddot"}
"""Builtins that are a product of their operands, conjugating none."""
LENGTHS = {"length", "length_sq", "normalize"}
"""Builtins that see a vector of complex numbers as the vector of all parts."""
OF_ROWS: dict[str, Callable[[Any], Any]] = {"determinant": det, "inverse": inverted}
"""Builtins by their texts in plain arithmetic on the rows of a matrix."""


def is_complex(operand: object) -> bool:
    """Return whether an operand is complex: a literal, or a number, vector or matrix of complex numbers."""
    if isinstance(operand, Literal):
        return operand.is_complex
    return isinstance(operand, Value) and isinstance(operand.type, Complex)


def applied(context: Context, name: str, operands: Sequence[Value | Literal]) -> Operand:
    """Emit an operator or builtin of which an operand is complex.

    Raises:
        KernelTypeError: complex numbers have none of this name.
    """
    if any(is_tile(o) for o in operands):
        message = f"{rules.called(name)} of a tile and a complex number: tiles have no complex elements."
        raise context.type_error(message, "Keep real and imaginary parts in two tiles.")
    types = [coerce.weak(o) for o in operands]
    if any(isinstance(t, (Quaternion, Transform)) for t in types):
        return coerce.apply(context, TABLE[name], operands)
    shapes = [t.shape for t in types if isinstance(t, Vector) and t.shape]
    if name in PRODUCTS and len(operands) == 2:
        _of_parts(name, types)
        return _product(context, name, *(coerce.in_parts(context, o, rules.part_type(types)) for o in operands))
    if shapes and len(operands) == 1:
        (value,) = operands
        assert isinstance(value, Value) and isinstance(value.type, Complex)
        if name in BY_PARTS:
            _of_parts(name, types)
            return by_parts(context, value, lambda part: coerce.apply(context, TABLE[name], (part,)))
        if name in OF_ROWS:
            return _of_rows(context, name, value, _of_parts(name, types))
        if name in LENGTHS and len(value.type.shape) == 1:
            flat = coerce.composed(context, [value], Vector(value.type.length, value.type.dtype))
            result = coerce.apply(context, TABLE[name], (flat,))
            return coerce.composed(context, [result], value.type) if name == "normalize" else result
    form = ON_COMPLEX.get(name)
    if form is not None and shapes in ([], shapes[:1] * len(shapes)):
        return library.over_elements(context, form, operands)
    return coerce.apply(context, TABLE[name], operands)


def _of_parts(name: str, types: Sequence[Arg]) -> Type:
    """Return the type of a builtin's result on the real parts of operands of these types.

    Raises:
        KernelTypeError: the builtin does not take vectors or matrices of these shapes.
    """
    real = [t.real if isinstance(t, Complex) else rules.WEAK_FLOAT if t == rules.WEAK_COMPLEX else t for t in types]
    try:
        return TABLE[name].rule(name, real)[1]
    except KernelTypeError as error:
        expected, got, _ = error.message.partition(" takes ")[2].partition("; it got ")
        raise (rules.argument_error(name, types, expected, error.advice) if got else error) from None


def _product(context: Context, name: str, left: tuple[Value, Value], right: tuple[Value, Value]) -> Value:
    """Emit a product of two operands, each as real and imaginary part; some infinities become NaN, as NumPy's do."""
    (a, b), (c, d) = left, right
    ac, bd, ad, bc = (coerce.apply(context, TABLE[name], pair) for pair in ((a, c), (b, d), (a, d), (b, c)))
    return coerce.joined(
        context, coerce.apply(context, TABLE["sub"], (ac, bd)), coerce.apply(context, TABLE["add"], (ad, bc))
    )


def by_parts(context: Context, value: Value, change: Callable[[Value], Any]) -> Value:
    """Emit a change of the real and of the imaginary part of a complex value alike; return the complex result."""
    return coerce.joined(context, *map(change, coerce.in_parts(context, value)))


class _Number(Ref):
    """A number for an algorithm written in Python's arithmetic: each operator emits what it is in a kernel."""

    __slots__ = ("context",)

    def __init__(self, context: Context, value: Any) -> None:
        """Wrap a scalar IR value of the kernel that is lowered in `context`."""
        super().__init__(context.builder, value)
        self.context = context

    def _op(self, name: str, *args: Any) -> Ref:
        """Emit an operator, by its builtin's name, on numbers of this class or of Python; return its result."""
        return _Number(
            self.context, applied(self.context, name, [getattr(a, "value", None) or Literal(a) for a in args])
        )

    def like(self, number: Any) -> Ref:
        """Emit a Python number as a constant of this number's type."""
        return _Number(self.context, coerce.convert(self.context, Literal(number), self.type))


def _of_rows(context: Context, name: str, m: Value, result: Type) -> Value:
    """Emit the determinant or the inverse of a complex matrix; `result` is its type for the real parts."""
    assert isinstance(m.type, Complex)
    each = [_Number(context, z) for z in coerce.scalar_components(context, m)]
    size = m.type.shape[1]
    text = OF_ROWS[name]([each[k : k + size] for k in range(0, len(each), size)])
    if isinstance(result, Scalar):
        return text.value
    return coerce.composed(context, [z.value for row in text for z in row], m.type)


def attribute(context: Context, z: Value | Literal, name: str) -> Operand:
    """Emit `z.real` or `z.imag` of a number, vector or matrix, or another attribute of a complex vector: `v.x`, `m.T`.

    `z.conjugate` and `z.conj` are methods, for a call.

    Raises:
        KernelSyntaxError: there is no attribute of this name.
    """
    if name in METHODS:
        return Static(partial(_conjugate, context, z), name)
    if name in PARTS:
        return coerce.in_parts(context, z)[PARTS.index(name)]
    if isinstance(z, Value) and isinstance(z.type, Vector) and z.type.shape:
        return by_parts(context, z, lambda part: vectors.attribute(context, part, name))
    raise context.syntax_error(f"{coerce.describe(z)} has no {name}; it has real, imag and conjugate().")


def subscript(context: Context, v: Value, node: ast.expr) -> Value:
    """Emit `v[i]`, `m[i, j]` and slices; an index is evaluated once."""
    names: list[str] = []
    index = vectors.once(context, node, names)
    result = by_parts(context, v, lambda part: vectors.subscript(context, part, index))
    for name in names:
        del context.env[name]
    return result


def _conjugate(context: Context, operand: Value | Literal) -> Operand:
    """Emit the conjugate; of what is real, itself."""
    if isinstance(operand, Literal):
        return Literal(operand.value.conjugate())
    if not is_complex(operand):
        return operand
    real, imag = coerce.in_parts(context, operand)
    return coerce.joined(context, real, coerce.apply(context, TABLE["neg"], (imag,)))


def construct(context: Context, target: Any, args: Sequence[Operand]) -> Operand:
    """Emit `complex64()`, `complex64(z)` or `complex64(x, y)`; Python's `complex(x, y)` has its parts' type.

    Raises:
        KernelTypeError: the arguments are no numbers.
    """
    type = None if target is complex else target
    operands = [coerce.usable(context, a) for a in args]
    name = repr(type) if type is not None else "complex"
    single = len(operands) == 1 and is_complex(operands[0])
    if len(operands) > 2 or not (single or all(_is_real(o) for o in operands)):
        got = ", ".join(map(coerce.describe, operands))
        raise context.type_error(f"{name}() takes a number, or a real and an imaginary part; it got {got}.")
    if type is None and all(isinstance(o, Literal) for o in operands):
        return Literal(complex(*(o.value for o in operands)))  # type: ignore[union-attr]
    if type is None:
        type = rules.common_type("join", [coerce.weak(Literal(0j)), *(coerce.weak(o) for o in operands)])  # type: ignore[assignment]
        assert isinstance(type, Complex)
    if len(operands) < 2:
        return coerce.convert(context, operands[0] if operands else Literal(0), type)
    return coerce.joined(context, *(coerce.convert(context, o, type.dtype) for o in operands))


def _is_real(operand: Value | Literal) -> bool:
    """Return whether an operand is a real scalar; False of vectors."""
    if isinstance(operand, Literal):
        return not operand.is_complex
    return isinstance(operand.type, Scalar)
