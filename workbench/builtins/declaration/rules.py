"""Type rules: from the types of a call's arguments to the types its operands take and the type of its result.

A rule is a function of the builtin's name and the argument types; literals stand as `WEAK_INT` or `WEAK_FLOAT`, which
adopt what the others are. It raises `KernelTypeError` (without a place: the front end knows that) with what to write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import NoneType

import msgspec

from workbench import types
from workbench.errors import KernelTypeError
from workbench.types import (
    SCALARS,
    ArrayType,
    Complex,
    Kind,
    Matrix,
    Quaternion,
    Scalar,
    Transform,
    Type,
    Vector,
    element,
    float32,
    float64,
    in_complex,
    int32,
    is_integer,
)
from workbench.types import bool as bool_


class Weak(msgspec.Struct, frozen=True):
    """The type of a literal, or of what is made of literals, before it meets another; `default` is what it is alone."""

    default: Scalar | Complex

    def __repr__(self) -> str:
        """Return "a literal", whatever its type."""
        return "a literal"


WEAK_INT = Weak(types.WEAK_INT)
WEAK_FLOAT = Weak(types.WEAK_FLOAT)
WEAK_COMPLEX = Weak(types.complex64)

Arg = Type | Weak
Signature = tuple[tuple[Type, ...], Type]
Rule = Callable[[str, Sequence[Arg]], Signature]

RULES: dict[str, Rule] = {}
"""The type rule of each declared builtin, by name: all that operators on values need to know of it."""

OPERATOR_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**", "neg": "-", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "bit_and": "&", "bit_or": "|", "bit_xor": "^",
    "invert": "~", "lshift": "<<", "rshift": ">>", "not_": "not", "matmul": "@",
}  # fmt: skip

# What is done on quaternions component by component; their product is not (`quat_mul`).
ON_QUATERNIONS = {
    "add", "sub", "neg", "mul", "div", "where", "if … else", "join", "lerp", "dot", "length", "length_sq", "normalize",
}  # fmt: skip
ON_TRANSFORMS = {"add", "sub", "neg", "mul", "div", "where", "if … else", "join"}
# Products and functions of complex numbers are written in the language (`complex_numbers.py`).
ON_COMPLEX = {"add", "sub", "neg", "where", "if … else", "join"}
_UNORDERED = "Complex numbers have no order: compare abs(z), or z.real and z.imag."
_ADVICE_COMPLEX: dict[str, str] = dict.fromkeys(("lt", "le", "gt", "ge", "min", "max", "clamp", "sign"), _UNORDERED)


def called(name: str) -> str:
    """Return what messages call an operation: its sign, `name()`, or, of something else such as `[i]`, the text."""
    return OPERATOR_SIGNS.get(name, f"{name}()" if name[0].isalpha() or name[0] == "_" else name)


def argument_error(name: str, args: Sequence[Arg], wanted: str, advice: str = "") -> KernelTypeError:
    """Return the error for arguments that do not fit; `wanted` says what the operation takes."""
    got = ", ".join(repr(a.default if isinstance(a, Weak) else a) for a in args)
    return KernelTypeError(f"{called(name)} takes {wanted}; it got {got}.", advice=advice)


def count(name: str, args: Sequence[Arg], number: int) -> None:
    """Check the number of arguments.

    Raises:
        KernelTypeError: it is another one.
    """
    if len(args) != number:
        plural = "" if number == 1 else "s"
        raise KernelTypeError(f"{called(name)} takes {number} argument{plural}; it got {len(args)}.")


def common_type(name: str, args: Sequence[Arg]) -> Scalar | Vector:
    """Return the type that all arguments are promoted to: vectors have one length, and scalars broadcast.

    Raises:
        KernelTypeError: there is none, or the operation `name` takes no quaternions, transforms or complex numbers.
    """
    if any([isinstance(a, ArrayType) for a in args]):
        raise argument_error(name, args, "numbers or vectors", "Index the array to get an element.")
    forms = {a.with_dtype(bool_) for a in args if isinstance(a, Vector)}
    is_complex = any([isinstance(a, Complex) or (isinstance(a, Weak) and a == WEAK_COMPLEX) for a in args])
    if is_complex:
        forms = {f.real if isinstance(f, Complex) else f for f in forms} - {bool_}
    if len(forms) > 1:
        plain = all(type(f) is Vector for f in forms)
        raise argument_error(name, args, "vectors of one length" if plain else "vectors or matrices of one shape")
    if any(isinstance(f, Transform) for f in forms) and name not in ON_TRANSFORMS:
        raise argument_error(name, args, "numbers, vectors or matrices", "Take the parts: t.p, t.q.")
    if any(isinstance(f, Quaternion) for f in forms) and name not in ON_QUATERNIONS:
        raise argument_error(name, args, "numbers, vectors or matrices", "Take the components: q.x, q.y, q.z, q.w.")
    if is_complex:
        return _common_complex(name, args, forms.pop() if forms else None)
    strong = [element(a) for a in args if not isinstance(a, Weak)]
    weak = [a.default for a in args if isinstance(a, Weak)]
    scalar = promote_all(strong)
    if strong and scalar is None:
        raise argument_error(name, args, "types that have a common one", "Cast one of them.")
    if scalar is None:
        scalar = types.WEAK_FLOAT if float32 in weak else types.WEAK_INT
    elif scalar.kind is not Kind.FLOAT and float32 in weak:
        scalar = floating(scalar)
    elif scalar == bool_ and weak:
        scalar = int32
    return forms.pop().with_dtype(scalar) if forms else scalar


def part_type(args: Iterable[Arg]) -> Scalar:
    """Return the type of the parts of a complex number among these types: float64 if one of them is, else float32."""
    widest = promote_all(element(a) for a in args if not isinstance(a, Weak))
    return float64 if widest == float64 else float32


def _common_complex(name: str, args: Sequence[Arg], form: Vector | None) -> Complex:
    """Return the complex type that numbers, or vectors of this form, meet with a complex one.

    Args:
        name: the operation's.
        args: the types of all arguments.
        form: the vectors' or matrices' type, whatever its numbers; None if there are only numbers.

    Raises:
        KernelTypeError: the operation takes no complex numbers.
    """
    if name not in ON_COMPLEX:
        advice = _ADVICE_COMPLEX.get(name, "Take z.real, z.imag or abs(z).")
        raise argument_error(
            name, args, "real numbers" if name in _ADVICE_COMPLEX else "numbers that are not complex", advice
        )
    if type(form) not in (NoneType, Vector, Matrix):
        raise argument_error(name, args, "numbers, vectors or matrices")
    scalar = part_type(args)
    return in_complex(form.with_dtype(scalar) if form else scalar)


def floating(scalar: Scalar) -> Scalar:
    """Return the float type that a scalar takes in true division or beside a float literal; a float stays.

    Of others, it is weak for a weak scalar, else float64 for 64 bits and float32 for fewer.
    """
    if scalar.kind is Kind.FLOAT:
        return scalar
    if scalar.weak:
        return types.WEAK_FLOAT
    return float64 if scalar.bits == 64 else float32


def _with_element(t: Scalar | Vector, scalar: Scalar) -> Scalar | Vector:
    """Return the type `t` with numbers of the type `scalar`; `scalar` itself if `t` is no vector."""
    return t.with_dtype(scalar) if isinstance(t, Vector) else scalar


def numeric(operands: int) -> Rule:
    """Return the rule for `operands` numbers or vectors, promoted to one type, the result's; bools count as int32."""

    def rule(name: str, args: Sequence[Arg]) -> Signature:
        count(name, args, operands)
        t = common_type(name, args)
        if element(t) == bool_:
            t = _with_element(t, int32)
        return (t,) * operands, t

    return rule


def floats(operands: int) -> Rule:
    """Return the rule for `operands` floats or vectors of floats, promoted to one type, which is the result's.

    Integers are refused, with the cast to write.
    """

    def rule(name: str, args: Sequence[Arg]) -> Signature:
        count(name, args, operands)
        for a in args:
            if not isinstance(a, Weak) and element(a).kind is not Kind.FLOAT:
                advice = f"Write {name}(float(…))." if not isinstance(a, ArrayType) else "Index the array."
                raise argument_error(name, args, "a float or a vector of floats" if operands == 1 else "floats", advice)
        t = common_type(name, args)
        t = _with_element(t, floating(element(t)))
        return (t,) * operands, t

    return rule


def true_division(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of a division: two numbers are promoted to one float type, the result's; integers are floats."""
    count(name, args, 2)
    t = common_type(name, args)
    t = _with_element(t, floating(element(t)))
    return (t, t), t


_NOT_BITS = {
    "bit_xor": "Write ** for a power.",
    "bit_and": "Write `and` between conditions.",
    "bit_or": "Write `or` between conditions.",
}
"""Advice, by builtin, for those who apply a bit operator to floats."""


def integers(operands: int, bools: bool = False) -> Rule:
    """Return the rule for `operands` integers, promoted to one integer type, which is the result's.

    Bools count as int32; with `bools` they stay bools.
    """

    def rule(name: str, args: Sequence[Arg]) -> Signature:
        count(name, args, operands)
        t = common_type(name, args)
        if element(t).kind is Kind.FLOAT:
            raise argument_error(name, args, "integers", _NOT_BITS.get(name, "Write int(…) for a float."))
        if element(t) == bool_ and not bools:
            t = _with_element(t, int32)
        return (t,) * operands, t

    return rule


def same_integer(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of an operation on one integer, whose type the result has.

    Raises:
        KernelTypeError: it is a float, or a bool, on which Python and NumPy differ.
    """
    operands, t = integers(1, bools=True)(name, args)
    if element(t) == bool_:
        raise argument_error(name, args, "an integer", "Write not … for a bool.")
    return operands, t


def powers(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of a power: base and exponent are promoted to one float type, which is the result's.

    Raises:
        KernelTypeError: neither is a float.
    """
    count(name, args, 2)
    t = common_type(name, args)
    if element(t).kind is not Kind.FLOAT:
        raise argument_error(name, args, "a float as base or exponent", "Write float(…) ** n, or multiply.")
    return (t, t), t


def compared(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of a comparison: two scalars are promoted to one type; the result is a bool."""
    count(name, args, 2)
    t = common_type(name, args)
    if isinstance(t, Vector):
        raise argument_error(name, args, "scalars", "Compare component by component.")
    return (t, t), bool_


def float_to_bool(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of a test of one float, whose result is a bool."""
    operands, t = floats(1)(name, args)
    if isinstance(t, Vector):
        raise argument_error(name, args, "a scalar")
    return operands, bool_


def logical(operands: int) -> Rule:
    """Return the rule for `operands` bools, whose result is a bool."""

    def rule(name: str, args: Sequence[Arg]) -> Signature:
        count(name, args, operands)
        if any(a != bool_ for a in args):
            raise argument_error(name, args, "bools", "Compare with 0 to get a bool.")
        return (bool_,) * operands, bool_

    return rule


def choice(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of a choice: a bool, and two values that are promoted to one type, which is the result's."""
    count(name, args, 3)
    if args[0] != bool_:
        raise argument_error(name, args, "a bool and two values")
    t = common_type(name, args[1:])
    return (bool_, t, t), t


def vectors_to_scalar(operands: int, integers: bool = False) -> Rule:
    """Return the rule for `operands` vectors of one float type, whose result has their component type.

    With `integers`, vectors of integers are taken, too.
    """

    def rule(name: str, args: Sequence[Arg]) -> Signature:
        t = _vector(name, args, operands, integers)
        return (t,) * operands, t.dtype

    return rule


def vectors(operands: int, length: int | None = None, integers: bool = False) -> Rule:
    """Return the rule for `operands` vectors of one float type, which the result has, too.

    Args:
        operands: how many.
        length: the length that they must have; None: any.
        integers: whether vectors of integers are taken, too.
    """

    def rule(name: str, args: Sequence[Arg]) -> Signature:
        t = _vector(name, args, operands, integers)
        if length is not None and t.length != length:
            raise argument_error(name, args, f"vectors of length {length}")
        return (t,) * operands, t

    return rule


def _vector(name: str, args: Sequence[Arg], operands: int, integers: bool = False) -> Vector:
    """Return the common type of the arguments, `operands` vectors of floats, or with `integers` of any numbers.

    Raises:
        KernelTypeError: they are something else, such as matrices or bools.
    """
    count(name, args, operands)
    if not all(isinstance(a, Vector) and not isinstance(a, Matrix) for a in args):
        raise argument_error(name, args, "a vector" if operands == 1 else "vectors")
    t = common_type(name, args)
    assert isinstance(t, Vector)
    if t.dtype.kind is not Kind.FLOAT and not (integers and t.dtype.kind is not Kind.BOOL):
        raise argument_error(name, args, f"vectors of {'numbers' if integers else 'floats'}")
    return t


def index(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of the wrapping of an index: index and size are promoted to one integer type, the result's."""
    count(name, args, 2)
    operands, t = integers(2)(name, args)
    return operands, t


same_float = floats(1)
same_numeric = numeric(1)


def promote(a: Scalar, b: Scalar) -> Scalar | None:
    """Return the type that `a` and `b` are promoted to, by JAX's lattice; None if there is none (int64 with uint64).

    Source: JAX, "Type promotion semantics".
    """
    if a == b:
        return a
    if a.kind is Kind.BOOL or b.kind is Kind.BOOL:
        return b if a.kind is Kind.BOOL else a
    if Kind.FLOAT in (a.kind, b.kind):
        wide, *other = sorted((t for t in (a, b) if t.kind is Kind.FLOAT), key=lambda t: -t.bits)
        return float32 if other and other[0].bits == wide.bits else wide
    if a.kind is b.kind:
        return a if a.bits > b.bits else b
    signed, unsigned = (a, b) if a.kind is Kind.INT else (b, a)
    bits = max(signed.bits, 2 * unsigned.bits)
    return SCALARS.get(f"int{bits}")


def promote_all(types: Iterable[Scalar]) -> Scalar | None:
    """Return the type that all of these are promoted to; None if there is none, or no type at all."""
    others = iter(types)
    result = next(others, None)
    for t in others:
        result = promote(result, t) if result is not None else None
    return result


# What the functions take that are written in the kernel language.

QUATERNION, VECTOR, NUMBER, MATRIX = "quaternion", "vector of length 3", "number", "3 × 3 matrix"
TRANSFORM, MATRIX2, INTEGER, SPATIAL = "transform", "2 × 2 matrix", "integer", "vector of length 6"
COMPLEX = "complex number"
MATRIX3 = MATRIX


def check_count(name: str, args: Sequence[Arg], wanted: str, *counts: int) -> None:
    """Check the number of arguments; `wanted` names them in the error.

    Raises:
        KernelTypeError: it is none of `counts`.
    """
    if len(args) not in counts:
        raise KernelTypeError(f"{name}() takes {wanted}, without names.")


def kinds(*wanted: str) -> Callable[[str, Sequence[Arg]], Sequence[Type]]:
    """Return a check that arguments are of these kinds (`NUMBER`, `VECTOR`, …), in order, none more and none less.

    It returns the types to convert them to: int32 for `INTEGER`; all others have one float type, the widest among
    the arguments, or float32. It raises KernelTypeError if they do not fit.
    """

    def takes(name: str, args: Sequence[Arg]) -> Sequence[Type]:
        if len(args) != len(wanted):
            advice = f"It returns what it computes: … = {name}(…)." if len(args) > len(wanted) else ""
            plural = "s" * (len(wanted) != 1)
            raise KernelTypeError(f"{name}() takes {len(wanted)} argument{plural}; it got {len(args)}.", advice=advice)
        if not all(map(_is_kind, args, wanted)):
            raise argument_error(name, args, ", ".join(f"{'an' if kind == INTEGER else 'a'} {kind}" for kind in wanted))
        strong = (element(a) for a in args if not isinstance(a, Weak))
        scalar = promote_all(s for s in strong if s.kind is Kind.FLOAT) or float32
        scalar = float32 if COMPLEX in wanted and scalar.is_half else scalar
        return [_of_kind(kind, scalar) for kind in wanted]

    return takes


def _is_kind(arg: Arg, kind: str) -> bool:
    """Return whether an argument's type is of a kind such as `NUMBER` or `VECTOR`; literals are numbers."""
    if kind == COMPLEX:
        return isinstance(arg, (Weak, Scalar)) or type(arg) is Complex
    if kind == NUMBER:
        return isinstance(arg, (Weak, Scalar))
    if kind == INTEGER:
        return arg == WEAK_INT or (isinstance(arg, Scalar) and is_integer(arg))
    return isinstance(arg, Vector) and arg.dtype.kind is Kind.FLOAT and arg == _of_kind(kind, arg.dtype)


def _of_kind(kind: str, scalar: Scalar) -> Scalar | Vector:
    """Return the type of a kind with numbers of the type `scalar`: a vec3 of `VECTOR`, int32 of `INTEGER`, say."""
    wide = {QUATERNION: Quaternion(4, scalar), VECTOR: Vector(3, scalar), MATRIX: Matrix(9, scalar, 3)}
    wide |= {TRANSFORM: Transform(7, scalar), MATRIX2: Matrix(4, scalar, 2), INTEGER: int32, SPATIAL: Vector(6, scalar)}
    wide[COMPLEX] = Complex(2, scalar)
    return wide.get(kind, scalar)
