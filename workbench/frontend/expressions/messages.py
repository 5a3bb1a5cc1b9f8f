"""Calls that tell the user something: `print`, `printf`, and the expectations of tests.

`print(…)` and `printf(format, …)` are one operation, whose text is known at compile time and whose values are not.

`expect_eq(a, b)`, `expect_neq` and `expect_near(a, b, tolerance)` are asserts, tested by code with checks. A kernel
that calls one runs with checks if its launch does not say otherwise (`Definition.expects`).
"""

from __future__ import annotations

import ast
import re
from functools import reduce

from workbench.builtins.declaration.declare import TABLE
from workbench.frontend.state.coerce import apply, components, describe, lowered, materialise, usable
from workbench.frontend.state.context import Context, FormHandler
from workbench.frontend.state.operands import Literal, Operand, Static
from workbench.ir.ops import MESSAGE, PARTS
from workbench.ir.values import Value
from workbench.types import Complex, Kind, Scalar, Vector, float64

Part = str | tuple[str]
# A conversion of printf: flags, width, precision, C's length (which nothing needs here), and the letter.
CONVERSION = re.compile(r"%(?P<flags>[-+ #0]*\d*(?:\.\d+)?)(?:hh|h|ll|l|z)?(?P<letter>[diuxXofFeEgGc%])")
FORMAT = re.compile(r"(?P<align>[<>]?)(?P<flags>[+ #]?0?\d*(?:\.\d+)?)(?P<letter>[dxXofFeEgGc])")
"""Formats of f-strings that mean the same as a conversion of printf (Python aligns numbers to the right, as C does)."""
WHOLE = frozenset("diuxXoc")
PLACE: Part = ("",)


def lower_print(context: Context, node: ast.Call) -> Operand:
    """Lower `print(a, b)`, with `sep` and `end` as plain strings: the text is the one that Python prints.

    Raises:
        KernelTypeError: it has other keywords, or something that has no text.
    """
    ends = {"sep": " ", "end": "\n"}
    for keyword in node.keywords:
        value = keyword.value
        if keyword.arg not in ends or not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
            raise context.type_error("In a kernel print() takes sep and end, as plain strings.")
        ends[keyword.arg] = value.value
    parts: list[Part] = []
    values: list[Value] = []
    for position, argument in enumerate(node.args):
        if position:
            parts.append(ends["sep"])
        parts += _parts(context, argument, values)
    _emit(context, [*parts, ends["end"]], values)
    return ()


def _parts(context: Context, node: ast.expr, values: list[Value]) -> list[Part]:
    """Return the parts of the printed text that an argument stands for: one, or those of an f-string.

    The values that they show are appended to `values`.
    """
    if not isinstance(node, ast.JoinedStr):
        return [_part(context, node, values)]
    parts: list[Part] = []
    for piece in node.values:
        if not isinstance(piece, ast.FormattedValue):
            parts.append(_part(context, piece, values))
            continue
        with context.at(node):  # parts of f-strings have no positions of their own before Python 3.12
            conversion = _conversion(context, piece)
            if conversion is None:
                parts.append(_part(context, piece.value, values))
            else:
                parts.append((conversion,))
                values.append(_fitting(context, conversion, piece.value, as_in_python=True))
    return parts


def _conversion(context: Context, piece: ast.FormattedValue) -> str | None:
    """Return the conversion of printf that an f-string's format asks for; None where it gives no format.

    Raises:
        KernelSyntaxError: printf() has nothing like it, as for `!a`, `^`, `,` and `%`.
    """
    spec = piece.format_spec
    if spec is None and piece.conversion in (-1, ord("s"), ord("r")):
        return None
    pieces = spec.values if isinstance(spec, ast.JoinedStr) else []
    texts = [p.value for p in pieces if isinstance(p, ast.Constant)]
    form = FORMAT.fullmatch(str(texts[0])) if len(texts) == 1 and piece.conversion == -1 else None
    if form is None or len(pieces) != 1:
        source = ast.unparse(ast.JoinedStr([piece]))
        raise context.syntax_error(
            f"In a kernel an f-string does not know the format of {source}.",
            "It knows a sign, 0, a width, a precision and one of d x X o c f F e E g G, such as {x:8.3f}.",
        )
    align, flags, letter = form["align"], form["flags"], form["letter"]
    return f"%{'-' if align == '<' else ''}{flags}{letter}"


def _part(context: Context, node: ast.expr, values: list[Value]) -> Part:
    """Return what is printed for an argument: a text known now, or a tuple of the conversion of a value.

    The value is appended to `values`; its conversion is empty (`PLACE`), or with Warp's meanings "%g" for a float.
    """
    with context.at(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bool)):
            return str(node.value)
        operand = context.lower(node)
        if isinstance(operand, Static) and isinstance(operand.value, bool):
            return str(operand.value)
        operand = usable(context, operand)
        if isinstance(operand, Literal) and operand.captured is None:
            return f"{operand.value:g}" if operand.is_float and context.shared.warp_meanings else str(operand.value)
        value = _shown(context, operand)
        values.append(value)
        is_float = isinstance(value.type, Scalar) and value.type.kind is Kind.FLOAT
        return ("%g",) if is_float and context.shared.warp_meanings else PLACE  # there with six digits, as in C++


def _shown(context: Context, operand: Value | Literal) -> Value:
    """Return an operand as a value that `print` can show.

    Raises:
        KernelTypeError: it is no scalar, vector or matrix.
    """
    value = materialise(context, operand)
    if not isinstance(value.type, (Scalar, Vector)):
        message = f"print() shows numbers, vectors and matrices; this is {describe(value)}."
        raise context.type_error(message, "Print its elements.")
    return value


def lower_printf(context: Context, node: ast.Call) -> Operand:
    """Lower a call such as `printf("i = %d, x = %f", i, x)`, which prints as C and Python's % do.

    Raises:
        KernelTypeError: the format is no plain string or has an unknown conversion, or the values do not fit it.
    """
    first, *arguments = node.args or [ast.Constant(None)]
    if node.keywords or not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
        raise context.type_error("printf() takes a format, a plain string, and values without names.")
    parts, rest = list[Part](), first.value
    while rest:
        match = CONVERSION.search(rest)
        before = rest[: match.start()] if match else rest
        if "%" in before:
            message = f"printf() does not know {before[before.index('%') :][:3]!r} in its format."
            raise context.type_error(message, "It knows %d %i %u %x %o %c %f %e %g and %%.")
        parts += [before] if before else []
        rest = rest[match.end() :] if match else ""
        if match:
            letter = match["letter"]
            parts.append("%" if letter == "%" else (f"%{match['flags']}{letter}",))
    conversions = [p[0] for p in parts if isinstance(p, tuple)]
    if len(conversions) != len(arguments):
        count = len(arguments)
        raise context.type_error(f"printf() has {len(conversions)} conversions in its format and {count} values.")
    _emit(context, parts, [_fitting(context, p, a) for p, a in zip(conversions, arguments, strict=True)])
    return ()


def _fitting(context: Context, conversion: str, node: ast.expr, *, as_in_python: bool = False) -> Value:
    """Lower the argument of a printf conversion such as "%d", and return its value.

    Args:
        context: of the call.
        conversion: the conversion.
        node: the argument.
        expression: lowers it.
        as_in_python: an integer where a float is expected becomes a float64, as in an f-string.

    Raises:
        KernelTypeError: it is no scalar, or does not fit the conversion.
    """
    with context.at(node):
        value = _shown(context, usable(context, context.lower(node)))
        if not isinstance(value.type, Scalar):
            raise context.type_error(f"printf() shows numbers; this is {value.type!r}.", "Use print().")
        takes_integers = conversion[-1] in WHOLE
        is_int = value.type.kind in (Kind.INT, Kind.UINT)
        if as_in_python and not takes_integers and is_int:  # f"{i:.2f}" takes an integer
            return context.builder.cast(value, float64)
        if takes_integers != (value.type.kind is not Kind.FLOAT):
            advice = f"Write {'%f' if takes_integers else '%d'}, or convert it."
            raise context.type_error(f"{conversion} does not fit {value.type!r}.", advice)
        return value


def _emit(context: Context, parts: list[Part], values: list[Value]) -> None:
    """Emit a `print` of these parts and the values that they refer to; neighbouring texts are joined."""
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    context.builder.emit("print", values, (), {PARTS: tuple(joined)})


TOLERANCE = 1e-6
Number = Value | Literal


def _numbers(context: Context, node: ast.Call, parameters: str) -> list[Number]:
    """Lower the arguments of an expectation, and return them: two numbers or vectors of one shape, then scalars.

    Args:
        context: of the call.
        node: the call.
        parameters: its parameters, as `arguments.lowered` takes them.

    Raises:
        KernelTypeError: there are too many or too few, they are no real numbers, or their shapes differ.
    """
    name = ast.unparse(node.func).split(".")[-1]
    operands = [usable(context, o) for o in lowered(context, node, parameters).values()]
    for operand in operands:
        if isinstance(operand, Value) and (
            not isinstance(operand.type, (Scalar, Vector)) or isinstance(operand.type, Complex)
        ):
            advice = "Compare its elements, or its fields; of complex numbers abs(a - b)."
            raise context.type_error(f"{name}() takes numbers; this is {describe(operand)}.", advice)
    if _shape(operands[0]) != _shape(operands[1]) or any(map(_shape, operands[2:])):
        shown = " and ".join(map(describe, operands))
        raise context.type_error(f"{name}() takes numbers, or vectors of one type; these are {shown}.")
    return operands


def _shape(operand: Number) -> tuple[int, ...]:
    """Return the shape of a vector or matrix; () for a scalar or a literal."""
    return operand.type.shape if isinstance(operand, Value) and isinstance(operand.type, Vector) else ()


def _pairs(context: Context, a: Number, b: Number) -> list[tuple[Number, Number]]:
    """Return the components of two values in pairs; two numbers as the only pair."""
    if not isinstance(a, Value) or not isinstance(b, Value) or not isinstance(a.type, Vector):
        return [(a, b)]
    return list(zip(components(context, a), components(context, b), strict=True))


def _assert(context: Context, condition: Value, message: str = "") -> None:
    """Emit an assert that the condition holds, with a message that may be empty."""
    context.builder.emit("assert", (condition,), (), {MESSAGE: message})


def _equal(context: Context, node: ast.Call) -> Operand:
    """Lower `expect_eq(a, b)` to one assert per component; return the empty tuple."""
    for pair in _pairs(context, *_numbers(context, node, "a b")):
        _assert(context, apply(context, TABLE["eq"], pair))
    return ()


def _differ(context: Context, node: ast.Call) -> Operand:
    """Lower `expect_neq(a, b)` to one assert that some component differs; return the empty tuple."""
    pairs = _pairs(context, *_numbers(context, node, "a b"))
    each = [apply(context, TABLE["ne"], pair) for pair in pairs]
    _assert(context, reduce(lambda a, b: apply(context, TABLE["or_"], (a, b)), each))
    return ()


def _near(context: Context, node: ast.Call) -> Operand:
    """Lower `expect_near(a, b, tolerance)` to one assert per component; return the empty tuple."""
    a, b, *rest = _numbers(context, node, "a b tolerance?")
    pairs, what = _pairs(context, a, b), ast.unparse(node.args[0])
    for k, pair in enumerate(pairs):
        distance = apply(context, TABLE["abs"], (apply(context, TABLE["sub"], pair),))
        near = apply(context, TABLE["le"], (distance, rest[0] if rest else Literal(TOLERANCE)))
        part = f"component {k} of {what}" if len(pairs) > 1 else what
        _assert(context, near, f"{part} is not near enough")
    return ()


FORMS: dict[str, FormHandler] = {
    "print": lower_print, "printf": lower_printf, "expect_eq": _equal, "expect_neq": _differ, "expect_near": _near,
}  # fmt: skip
