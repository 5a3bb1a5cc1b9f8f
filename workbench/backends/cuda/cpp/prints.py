"""`print` in CUDA C++: the device's own printf, one call a print, so a thread's line stays whole."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.backends.cuda.cpp.c_names import form_of, members
from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.backends.cuda.cpp.expression import Expressions
from workbench.ir.attributes import PARTS
from workbench.ir.values import Op, Value
from workbench.types import Complex, Kind, Scalar, Vector, element

# The conversion of print() for a number, and the letters of printf() that take a length.
_PLAIN = {Kind.INT: "%lld", Kind.UINT: "%llu", Kind.FLOAT: "%g", Kind.BOOL: "%s"}
_CAST = {Kind.INT: "(long long)", Kind.UINT: "(unsigned long long)", Kind.FLOAT: "(double)"}


def emit_print(e: Emitter, op: Op) -> list[str]:
    """Emit a call of `printf`."""
    expressions, form, arguments = e.expressions, "", []
    operands = iter(op.operands)
    for part in op.attrs[PARTS]:
        if isinstance(part, str):
            form += part.replace("%", "%%")
            continue
        value = next(operands)
        expressions.meet(value.type)
        scalar = element(value.type)
        if part[0]:
            letter = part[0][-1]
            form += part[0] if scalar.kind is Kind.FLOAT or letter == "c" else f"{part[0][:-1]}ll{letter}"
            text = _bracketed(expressions, value)
            arguments.append(f"(int){text}" if letter == "c" else _word(text, scalar))
        else:
            form += _shape(value.type, _PLAIN[scalar.kind])
            arguments += _components(expressions, value)
    return [f"printf({', '.join([_quoted(form), *arguments])});"]


def _quoted(text: str) -> str:
    """Return a C string; what is no printable character as an octal number."""
    known = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return f'"{"".join(known.get(c, c if c.isprintable() else f"{chr(92)}{ord(c):03o}") for c in text)}"'


def _bracketed(expressions: Expressions, value: Value) -> str:
    return f"({expressions.argument(value)})"


def _shape(type: object, one: str) -> str:
    if isinstance(type, Vector) and len(type.shape) == 2:
        row = f"[{', '.join([one] * type.shape[1])}]"
        return f"[{', '.join([row] * type.shape[0])}]"
    if isinstance(type, Complex):
        return "(%g%+gj)"
    return f"[{', '.join([one] * type.length)}]" if isinstance(type, Vector) else one


def _components(expressions: Expressions, value: Value) -> Iterator[str]:
    scalar = element(value.type)
    text = _bracketed(expressions, value)
    parts = [text] if isinstance(value.type, Scalar) else [f"{text}.{m}" for m in members(form_of(value.type))]  # type: ignore[arg-type]
    for part in parts:
        yield f'{part} ? "True" : "False"' if scalar.kind is Kind.BOOL else _word(part, scalar)


def _word(value: str, scalar: Scalar) -> str:
    """Return the value in the type that printf() reads; floats of 16 bits are structs, which a function widens."""
    return f"(double)wb_to_float32({value})" if scalar.is_half else f"{_CAST.get(scalar.kind, '(long long)')}{value}"
