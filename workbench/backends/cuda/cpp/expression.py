"""Values as C++ expressions: readable, fully typed, with no more parentheses than C++ and the eye need.

Every expression has exactly the C++ type of its value. Small integers are cast back after each operation, because C++
computes them as int; what may overflow is computed in unsigned numbers (see `overflow`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from workbench.backends.base import Options
from workbench.backends.cuda.cpp.c_names import c_type, cast, form_of, label, literal, members
from workbench.backends.cuda.cpp.fields import Fields
from workbench.backends.cuda.cpp.locals import Inlining, is_splat
from workbench.backends.cuda.cpp.pieces import Key
from workbench.backends.cuda.cpp.signed_wrap import WRAPPING
from workbench.backends.layout import access_bytes
from workbench.builtins import TABLE
from workbench.errors import BuildError
from workbench.ir.ops import AXIS, CAPTURED, VALUE
from workbench.ir.values import Op, Value, array_of, number_of, scalar_of, scalar_or_vector_of, vector_of
from workbench.passes.precision import may_lose_sign
from workbench.types import ArrayType, Kind, Scalar, Type, Vector, element, is_half, uint32
from workbench.types import bool as bool_


class CppExpr(NamedTuple):
    """An expression and the precedence of its outermost operator; ATOM binds tightest."""

    text: str
    level: int

    def within(self, level: int) -> str:
        """Return the text, in parentheses if it binds less tightly than `level`."""
        return self.text if self.level >= level else f"({self.text})"


ATOM, UNARY, TERNARY = 16, 15, 3
# For each operator its precedence, and the least precedence of what stands bare at its left and right. Operators that
# C++ binds in ways few remember (shifts, bits, comparisons) get parentheses around anything but arithmetic.
_LEVELS = {
    "*": (13, 13, 14), "/": (13, 13, 14), "%": (13, 13, 14), "+": (12, 12, 13), "-": (12, 12, 13),
    "<<": (11, 14, 14), ">>": (11, 14, 14), "&": (8, 14, 14), "^": (7, 14, 14), "|": (6, 14, 14),
    "<": (10, 12, 12), "<=": (10, 12, 12), ">": (10, 12, 12), ">=": (10, 12, 12), "==": (9, 12, 12), "!=": (9, 12, 12),
    "&&": (5, 9, 9), "||": (4, 9, 9),
}  # fmt: skip
_BINARY = re.compile(r"^\(\{0\} (\S+) \{1\}\)$")
_UNSIGNED = {"int32": ("unsigned", "U"), "int64": ("unsigned long long", "ULL"), "uint16": ("unsigned", "U")}
_PREFIX = {"({0})": "", "(-{0})": "-", "(~{0})": "~", "(!{0})": "!"}


def binary(left: CppExpr, sign: str, right: CppExpr) -> CppExpr:
    """Return the expression of two others joined by an operator, in parentheses where C++ or a reader needs them.

    Chains such as `a && b && c` have none.
    """
    level, bare_left, bare_right = _LEVELS[sign]
    chain = sign in ("&&", "||") and left.level == level
    return CppExpr(f"{left.within(level if chain else bare_left)} {sign} {right.within(bare_right)}", level)


class Expressions(msgspec.Struct):
    """The emitter of values as C++ expressions; it collects what the prelude must contain.

    Attributes:
        inlining: which values are written inside others.
        plain: signed operations that need no care for overflow.
        options: of the code.
        names: returns the name of a value that has one: parameters, thread and loop indices, locals.
        fields: the fields of arrays of structs among the parameters.
        constant: array parameters that nothing changes while the kernel runs.
        compared: types of which two numbers are compared by order.
        keys: prelude pieces needed so far.
        builtins: builtins written so far.
        vectors: vector types used so far.
    """

    inlining: Inlining
    plain: frozenset[Op]
    options: Options
    names: Callable[[Value], str]
    fields: Fields
    constant: frozenset[Value] = frozenset()
    compared: frozenset[Scalar] = frozenset()
    keys: set[Key] = msgspec.field(default_factory=set[Key])
    builtins: set[str] = msgspec.field(default_factory=set[str])
    vectors: set[Vector] = msgspec.field(default_factory=set[Vector])

    def of(self, value: Value) -> CppExpr:
        """Return the expression of a value: a name, or its operation, inlined."""
        if value in self.inlining.fixed or value not in self.inlining.inlined:
            return CppExpr(self.names(value), ATOM)
        return self.op(self.inlining.definition[value])

    def argument(self, value: Value) -> str:
        """Return the text of a value's expression without parentheses, for where a comma or a bracket ends it."""
        return self.of(value).text

    def op(self, op: Op) -> CppExpr:
        """Return the expression of an operation with one result and no effect; the prelude gets what it needs.

        Raises:
            BuildError: it is a function of the maths library, and its operand is no float.
        """
        for type in (op.result.type, *(v.type for v in op.operands)):
            self.require_type(type)
        form = _CORE.get(op.name)
        if form is not None:
            return form(self, op)
        if isinstance(op.result.type, Vector) and op.name in _VECTOR_SIGNS:
            return self._vector_operator(op)
        if op.name in WRAPPING and isinstance(op.result.type, Scalar) and op not in self.plain:
            kind = op.result.type.kind
            if (kind is Kind.INT and op.result.type.bits >= 32) or op.result.type.name == "uint16":
                return CppExpr(
                    cast(c_type(op.result.type), self.unsigned(op).text), UNARY if self._spaced(op) else ATOM
                )
        return self._builtin(op)

    def require_type(self, type: Type) -> None:
        """Record a type that the text uses, whose struct or conversions the prelude must have."""
        inner = type.dtype if isinstance(type, ArrayType) else type
        if is_half(inner):
            self.keys.add(("half", element(inner).name))
        if isinstance(inner, Vector):
            self.vectors.add(inner)

    def element(self, array: Value, indices: tuple[Value, ...]) -> CppExpr:
        """Return the C++ lvalue of an array's element; the prelude gets what it needs."""
        self.require_type(array.type)
        name, short = self.names(array), self.options.index32
        if not self.options.contiguous:
            self.keys.add(("at", str(len(indices)), *_SHORT[short]))
            return CppExpr(f"wb_at({', '.join([name, *map(self.argument, indices)])})", ATOM)
        offset = self._index(indices[0], short and len(indices) > 1)
        for axis, index in enumerate(indices[1:], 1):
            extent = CppExpr(f"(int){name}.shape[{axis}]", UNARY) if short else CppExpr(f"{name}.shape[{axis}]", ATOM)
            offset = binary(binary(offset, "*", extent), "+", self._index(index, short))
        type = array_of(array)
        if type.pitch:
            self.keys.add(("field", *_SHORT[short]))
            first, at = self.fields.first(array)
            form = f"{c_type(type.dtype)}, {type.pitch}, {at}, {self.fields.bytes(array)}"
            return CppExpr(f"wb_field<{form}>({self.names(first)}, {offset.text})", ATOM)
        lvalue = f"{name}.data[{offset.text}]"
        bytes = access_bytes(type) if self.options.aligned else 0
        if bytes:
            self.keys.add(("aligned",))
            lvalue = f"wb_aligned<{bytes}>({lvalue})"
        return CppExpr(lvalue, ATOM)

    def _index(self, value: Value, short: bool) -> CppExpr:
        """Return the expression of an index, cast to int if `short` and its type is wider or uint32."""
        type = element(value.type)
        wider = type.bits == 64 or type == uint32
        return CppExpr(cast("int", self.argument(value)), ATOM) if short and wider else self.of(value)

    def unsigned(self, op: Op) -> CppExpr:
        """Emit a sum, difference, product or negative of signed numbers in unsigned arithmetic, so that it wraps."""
        word, suffix = _UNSIGNED[scalar_of(op.result).name]
        if op.name == "neg":
            return binary(CppExpr(f"0{suffix}", ATOM), "-", self._modular(op.operands[0], word, suffix)[0])
        sign = TABLE[op.name].operator
        left, ready = self._modular(op.operands[0], word, suffix)
        right, also = self._modular(op.operands[1], word, suffix)
        if not ready and not also:
            left = CppExpr(cast(word, left.text), UNARY if " " in word else ATOM)
        return binary(left, sign, right)

    def _modular(self, value: Value, word: str, suffix: str) -> tuple[CppExpr, bool]:
        """Return an operand of unsigned arithmetic, and whether its text is unsigned already."""
        if value in self.inlining.inlined:
            op = self.inlining.definition[value]
            if op.name == "const" and not op.attrs.get(CAPTURED):
                bits = 64 if "long" in word else 32
                return CppExpr(f"{int(number_of(op)) % (1 << bits)}{suffix}", ATOM), True
            if op.name in WRAPPING and op not in self.plain:
                return self.unsigned(op), True
        return self.of(value), False

    def _spaced(self, op: Op) -> bool:
        """Return whether the C++ type of the result has several words, so that a cast to it is a prefix, not a call."""
        return " " in c_type(op.result.type)

    def _builtin(self, op: Op) -> CppExpr:
        """Return the expression of a builtin by its CUDA spelling, cast back where C++ promotes; record the builtin."""
        builtin = TABLE[op.name]
        self.builtins.add(op.name)
        spelling = builtin.cuda
        assert spelling is not None, f"{op.name} was not expanded"
        if spelling.endswith("*"):
            return self._call(op, spelling[:-1])
        match = _BINARY.match(spelling)
        if match:
            text = binary(self.of(op.operands[0]), match[1], self.of(op.operands[1]))
        elif spelling in _PREFIX:
            text = CppExpr(_PREFIX[spelling] + self.of(op.operands[0]).within(ATOM), UNARY)
        elif spelling == "({0} ? {1} : {2})":
            parts = [self.of(v).within(TERNARY + 1) for v in op.operands]
            text = CppExpr(f"{parts[0]} ? {parts[1]} : {parts[2]}", TERNARY)
        else:
            text = self._template(op, spelling)
        return self._narrowed(op, text, promotes=bool(match) or spelling in _PREFIX)

    def _call(self, op: Op, name: str) -> CppExpr:
        """Return the call of a function of CUDA's maths library; `f` is appended to its name for float32.

        Raises:
            BuildError: the operand is not a float.
        """
        scalar = element(op.operands[0].type)
        if scalar.kind is not Kind.FLOAT:
            raise BuildError(f"{op.name}() has no CUDA spelling for {scalar!r}.", op.location, "Cast to a float.")
        suffix = "f" if scalar.bits == 32 else ""
        return CppExpr(f"{name}{suffix}({', '.join(map(self.argument, op.operands))})", ATOM)

    def _template(self, op: Op, spelling: str) -> CppExpr:
        """Return a builtin's spelling with its operands, `{0}`, …, and the result's type, `{T}`, filled in."""
        call = not spelling.startswith("(")
        body = spelling if call else spelling[1:-1]
        parts = [self.of(v).text if call else self.of(v).within(UNARY) for v in op.operands]
        return CppExpr(body.replace("{T}", c_type(op.result.type)).format(*parts), ATOM if call else TERNARY + 1)

    def _narrowed(self, op: Op, text: CppExpr, promotes: bool) -> CppExpr:
        """Return the text with a cast back to the result's type, where C++ promotes it to int.

        It does so for operators on 8 and 16 bits, and for `& | ^` on bools.
        """
        type = op.result.type
        small = isinstance(type, Scalar) and type.bits < 32 and type.kind is not Kind.FLOAT
        if not small or not promotes or (type == bool_ and not op.name.startswith("bit_")):
            return text
        word = c_type(type)
        return CppExpr(cast(word, text.text), UNARY if " " in word else ATOM)

    def _vector_operator(self, op: Op) -> CppExpr:
        """Return the expression of a vector's + - * / or negation; a splat as factor or divisor stays a scalar."""
        sign = _VECTOR_SIGNS[op.name]
        length = form_of(vector_of(op.result))
        if op.name == "neg":
            self.keys.add(("op", length, "-", "v"))
            return CppExpr(f"-{self.of(op.operands[0]).within(UNARY)}", UNARY)
        sides = [self._scalar_of(v) if sign in "*/" else None for v in op.operands]
        if sign == "/" or (sides[0] is not None and sides[1] is not None):
            sides[0] = None
        form = "".join("v" if s is None else "s" for s in sides)
        self.keys.add(("op", length, sign, form))
        left, right = (self.of(v if s is None else s) for v, s in zip(op.operands, sides, strict=True))
        return binary(left, sign, right)

    def _scalar_of(self, value: Value) -> Value | None:
        """Return the scalar that an inlined vector repeats; None if the value is no such vector."""
        op = self.inlining.definition.get(value)
        return op.operands[0] if value in self.inlining.inlined and op is not None and is_splat(op) else None


_SHORT: dict[bool, Key] = {True: ("int",), False: ()}
"""The end of a prelude piece's key if indices have 32 bits."""
_VECTOR_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "neg": "-"}


def _const(e: Expressions, op: Op) -> CppExpr:
    """Return the expression of a constant."""
    text = literal(op.attrs[VALUE], scalar_or_vector_of(op.result))
    return CppExpr(text, UNARY if text.startswith(("-", "(signed", "(unsigned", "(short")) else ATOM)


def _shape(e: Expressions, op: Op) -> CppExpr:
    """Return the expression of an array's size along an axis, in the result's type."""
    extent = f"{e.names(op.operands[0])}.shape[{op.attrs[AXIS]}]"
    return CppExpr(extent, ATOM) if element(op.result.type).bits == 64 else CppExpr(f"(int){extent}", UNARY)


def _load(e: Expressions, op: Op) -> CppExpr:
    """Return the expression of an element: of arrays that nothing changes, by a read through the read-only cache."""
    array, lvalue = op.operands[0], e.element(op.operands[0], op.operands[1:])
    if array not in e.constant:
        return lvalue
    type = array_of(array)
    dtype, bytes = type.dtype, e.fields.word(array, e.constant)
    if bytes:
        e.keys.add(("read_only",))
        return CppExpr(f"wb_read_only<uint{bytes // 4}, {type.offset % bytes}>({lvalue.text})", ATOM)
    if isinstance(dtype, Scalar) and dtype != bool_ and not dtype.is_half:
        e.keys.add(("ldg",))
        return CppExpr(f"__ldg(&{lvalue.text})", ATOM)
    words = _word(element(dtype), access_bytes(type) if e.options.aligned and not type.pitch else 0)
    e.keys.add(("read_only",))
    return CppExpr(f"wb_read_only<{words}>({lvalue.text})", ATOM)


def _word(type: Scalar, bytes: int) -> str:
    """Return the C++ type that `__ldg` reads: a vector type of `bytes` bytes, or of one component if `bytes` is 0."""
    count = max(bytes * 8 // max(type.bits, 8), 1)
    if count > 4:
        return "uint4" if bytes == 16 else "uint2"
    if type.kind is Kind.FLOAT and not type.is_half:
        base = type.name[:5] if type.bits == 32 else "double"
    else:
        base = {1: "uchar", 8: "uchar", 16: "ushort", 32: "uint", 64: "ulonglong"}[type.bits]
    single = {"uchar": "unsigned char", "ushort": "unsigned short", "uint": "unsigned int"}
    return f"{base}{count}" if count > 1 else single.get(base, base.replace("ulonglong", "unsigned long long"))


def _cast(e: Expressions, op: Op) -> CppExpr:
    """Return the expression of a conversion, component by component for vectors."""
    source, target = op.operands[0].type, op.result.type
    text = e.of(op.operands[0])
    if isinstance(source, Vector) and isinstance(target, Vector):
        parts = [
            convert(e, CppExpr(f"{text.within(ATOM)}.{c}", ATOM), source.dtype, target.dtype)
            for c in members(form_of(target))
        ]
        return CppExpr(f"{c_type(target)}{{{', '.join(p.text for p in parts)}}}", ATOM)
    assert isinstance(source, Scalar) and isinstance(target, Scalar)
    return convert(e, text, source, target)


def convert(e: Expressions, text: CppExpr, source: Scalar, target: Scalar) -> CppExpr:
    """Return the C++ conversion of a scalar from type `source` to type `target`.

    To bool it is `!= 0`; of a float to an integer it saturates; halves and conversions that may lose the sign of a
    zero go through functions of the prelude; all others are C++'s own.
    """
    if target.kind is Kind.BOOL:
        zero: Any = 0.0 if source.kind is Kind.FLOAT else 0
        return text if source == target else binary(text, "!=", CppExpr(literal(zero, source), ATOM))
    if source != target and (source.is_half or target.is_half):
        e.keys |= {("from_double", target.name)} if source.bits == 64 else set()
        return CppExpr(f"wb_to_{target.name}({text.text})", ATOM)
    if source.kind is Kind.FLOAT and target.kind is not Kind.FLOAT:
        e.keys.add(("to", target.name))
        return CppExpr(f"wb_to_{target.name}({text.text})", ATOM)
    if may_lose_sign(source, target, e.compared):
        e.keys.add(("convert", target.name))
        return CppExpr(f"wb_convert_{target.name}({text.text})", ATOM)
    word = c_type(target)
    return CppExpr(f"({word}){text.within(UNARY)}", UNARY) if " " in word else CppExpr(f"{word}({text.text})", ATOM)


def _vec(e: Expressions, op: Op) -> CppExpr:
    """Return the expression of a vector of its operands, or of one scalar in all components."""
    type = vector_of(op.result)
    if is_splat(op):
        e.keys.add(("splat", form_of(type)))
        return CppExpr(f"wb_splat{label(form_of(type))}({e.argument(op.operands[0])})", ATOM)
    return CppExpr(f"{c_type(type)}{{{', '.join(map(e.argument, op.operands))}}}", ATOM)


def _extract(e: Expressions, op: Op) -> CppExpr:
    """Return the expression of a component: a member if the index is constant, else a call of `wb_component`."""
    vector, index = op.operands
    form, constant = form_of(vector_of(vector)), e.inlining.definition.get(index)
    if constant is not None and constant.name == "const":
        return CppExpr(f"{e.of(vector).within(ATOM)}.{members(form)[int(number_of(constant))]}", ATOM)
    e.keys.add(("component", form))
    return CppExpr(f"wb_component({e.argument(vector)}, {e.argument(index)})", ATOM)


def _insert(e: Expressions, op: Op) -> CppExpr:
    """Return the expression of a copy of a vector with one component changed."""
    e.keys.add(("with", form_of(vector_of(op.result))))
    return CppExpr(f"wb_with({', '.join(map(e.argument, op.operands))})", ATOM)


def _nonnegative_division(sign: str) -> Callable[[Expressions, Op], CppExpr]:
    """Return the function that writes an operation as C++'s `/` or `%`, right if no operand is negative."""
    return lambda e, op: binary(e.of(op.operands[0]), sign, e.of(op.operands[1]))


_CORE: dict[str, Callable[[Expressions, Op], CppExpr]] = {
    "same": lambda e, op: e.of(op.operands[0]),
    "quotient": _nonnegative_division("/"),
    "remainder": _nonnegative_division("%"),
    "const": _const,
    "shape": _shape,
    "load": _load,
    "cast": _cast,
    "vec": _vec,
    "extract": _extract,
    "insert": _insert,
}
