"""Expressions: one function per kind of syntax, found in a table."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from functools import reduce as reduce_all
from math import prod
from typing import Any

import numpy as np

from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.rules import Weak, common_type
from workbench.builtins.vectors.rotations import quat_mul, transform_multiply
from workbench.errors import WorkbenchError
from workbench.frontend.expressions import calls, complex_numbers, sequences
from workbench.frontend.expressions.sequences import contains, contains_of_range
from workbench.frontend.functions import inline, library
from workbench.frontend.names import python_names
from workbench.frontend.names.python_names import REFUSED, python_value, usable_in_kernel
from workbench.frontend.state import coerce, warp_notices
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import (
    AlreadyReported,
    Bundle,
    Element,
    Elements,
    Literal,
    Operand,
    Poison,
    Static,
    Unset,
    View,
    too_large,
)
from workbench.frontend.tiles import arguments, reduce, slicing
from workbench.frontend.values import structs, vectors, views
from workbench.ir.ops import CHEAP
from workbench.ir.values import Block, Value
from workbench.limits import EXPANDED_POWER, LITERAL_BITS
from workbench.tiles import is_tile
from workbench.types import MAX_NDIM, ArrayType, Complex, Scalar, Transform, Vector, is_float, number_type
from workbench.types import bool as bool_

_PYTHON: Any = operator  # of which stubs leave the parameters out
BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", _PYTHON.add), ast.Sub: ("sub", _PYTHON.sub), ast.Mult: ("mul", _PYTHON.mul),
    ast.Div: ("div", _PYTHON.truediv), ast.FloorDiv: ("floordiv", _PYTHON.floordiv), ast.Mod: ("mod", _PYTHON.mod),
    ast.Pow: ("pow", _PYTHON.pow), ast.BitAnd: ("bit_and", _PYTHON.and_), ast.BitOr: ("bit_or", _PYTHON.or_),
    ast.BitXor: ("bit_xor", _PYTHON.xor), ast.LShift: ("lshift", _PYTHON.lshift),
    ast.RShift: ("rshift", _PYTHON.rshift), ast.MatMult: ("matmul", _PYTHON.matmul),
}  # fmt: skip
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], bool]]] = {
    ast.Lt: ("lt", operator.lt), ast.LtE: ("le", operator.le), ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge), ast.Eq: ("eq", operator.eq), ast.NotEq: ("ne", operator.ne),
}  # fmt: skip
PRODUCTS = {"quat_mul": quat_mul, "transform_multiply": transform_multiply}


def expression(context: Context, node: ast.expr) -> Operand:
    """Lower an expression, and return its result.

    Raises:
        WorkbenchError: with the place of the part at fault.
        AlreadyReported: it uses something whose error is already noted.
    """
    if type(node) is ast.Name and type(known := context.env.get(node.id)) is Value:
        return known
    if type(node) is ast.Constant and type(node.value) is float:
        return Literal(node.value)
    before = context.go(node)
    try:
        result = _lowered(context, node)
        return structs.load_struct(context, result) if type(result) is Element else result
    except WorkbenchError as error:
        raise context.placed(error) from None
    finally:
        context.back(before)


def _unloaded(context: Context, node: ast.expr) -> Operand:
    """Lower an expression, and return its result: an element of an array of structs as that, not loaded yet."""
    with context.at(node):
        return _lowered(context, node)


def _lowered(context: Context, node: ast.expr) -> Operand:
    """Lower an expression by the class of its node; an element of an array of structs is not loaded.

    Raises:
        KernelSyntaxError: the language has no such expression.
        KernelTypeError: it is a name without a value here.
        AlreadyReported: it uses something whose error is already noted.
    """
    lower = LOWER.get(type(node))
    if lower is None:
        message, advice = REFUSED.get(type(node), (f"{type(node).__name__} is not in the kernel language.", ""))
        raise context.syntax_error(message, advice)
    result = lower(context, node)
    if type(result) is Value:
        return result
    if isinstance(result, Unset):
        raise context.type_error(result.reason)
    if isinstance(result, Poison):
        raise AlreadyReported
    return result


def value(context: Context, node: ast.expr) -> Value:
    """Lower an expression to an IR value; a literal becomes a constant of its default type."""
    return coerce.materialise(context, expression(context, node))


def _constant(context: Context, node: ast.Constant) -> Operand:
    """Lower a constant of the source: a number to a literal, a bool to an IR constant.

    Raises:
        KernelSyntaxError: it is a string, None or `…`.
    """
    if isinstance(node.value, bool):
        return context.builder.const(node.value, bool_)
    if isinstance(node.value, (int, float, complex)):
        return Literal(node.value)
    kind = "string" if isinstance(node.value, str) else "None" if node.value is None else type(node.value).__name__
    if kind == "ellipsis":
        raise context.syntax_error("Something was left open here.", "Write what belongs there, in place of the dots.")
    number = isinstance(node.value, str) and node.value.strip("+-").lower() in ("inf", "infinity", "nan")
    advice = "Write wb.inf, -wb.inf or wb.nan." if number else ""
    raise context.syntax_error(f"A kernel has no {kind} values.", advice)


def _name(context: Context, node: ast.Name) -> Operand:
    """Lower the read of a name, local or from the definition's scope."""
    return python_names.name(context, node.id)


def _tuple(context: Context, node: ast.Tuple) -> Operand:
    """Lower each item of a tuple that is written out, and return the operands."""
    return tuple(expression(context, e) for e in node.elts)


def _binary(context: Context, node: ast.BinOp) -> Operand:
    """Lower a binary operator; the left operands of a long chain are lowered in a loop, not recursively."""
    chain = [node]  # a sum of many terms, the last first
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    left = expression(context, chain[-1].left)
    for part in reversed(chain):
        context.go(part)  # the last one is the node, where the context is now
        left = binary(context, type(part.op), left, expression(context, part.right))
    return left


def binary(context: Context, sign: type[ast.operator], left: Operand, right: Operand) -> Operand:
    """Emit a binary operator on two operands, by the class that `ast` has for it; return its result.

    Raises:
        KernelTypeError: there is no such operator for these operands, or a constant cannot be computed.
    """
    name, python = BINARY[sign]
    if context.shared.notices is None and name != "pow" and (type(left) is Value or type(right) is Value):
        known = coerce.remembered(context, TABLE[name], (left, right))
        if known is not None:
            return known
    if isinstance(left, Bundle) or isinstance(right, Bundle):
        return on_structs(context, name, left, right)
    if isinstance(left, tuple) or isinstance(right, tuple):
        several = sequences.combined(context, name, left, right)
        if several is not None:
            return several
    left, right = coerce.usable(context, left), coerce.usable(context, right)
    form = warp_notices.meaning(context, name, (left, right))
    if form is not None:
        return library.over_elements(context, form, (left, right))
    warp_notices.note_operator(context, sign, left, right)
    if name == "matmul" and is_tile(left) and is_tile(right):
        arguments.tiling_of(context)
        return reduce.matmul(context, left, right)
    name = vectors.sign_of(context, name, left, right)
    if name == "pow" and isinstance(right, Literal) and not right.is_float and isinstance(left, Value):
        return _integer_power(context, left, int(right.value))  # type: ignore[arg-type]
    if complex_numbers.is_complex(left) or complex_numbers.is_complex(right):
        if isinstance(left, Literal) and isinstance(right, Literal):
            return _fold(context, python, left.value, right.value)
        return complex_numbers.applied(context, name, (left, right))
    if name in PRODUCTS:
        return library.call(context, PRODUCTS[name], (left, right))
    if isinstance(left, Literal) and isinstance(right, Literal):
        return _fold(context, python, left.value, right.value)
    if name == "pow" and not _any_float(left, right):
        raise context.type_error(
            "An integer to a power that is not a literal may be a fraction.", "Write float(x) ** n."
        )
    return coerce.apply(context, TABLE[name], (left, right))


# Other names that are looked for: Warp's name of `@`.
ALSO = {"matmul": ("mul",)}


def on_structs(context: Context, name: str, *operands: Operand) -> Operand:
    """Emit an operator on structs as a call of the user's func of that name, such as `add`; return its result.

    Args:
        context: where.
        name: of the operator's builtin: add, neg.
        operands: one or two, of which a struct is one.

    Raises:
        KernelTypeError: there is no func of this name, or none that takes these operands.
    """
    for each in (name, *ALSO.get(name, ())):
        value = context.definition.read(each, usable_in_kernel)
        if hasattr(value, "__wb_definitions__"):
            return inline.call(context, python_value(context, value, each), [*operands], {})  # type: ignore[arg-type]
    struct = next(o for o in operands if isinstance(o, Bundle))
    types = (coerce.default_type(o) if isinstance(o, Literal) else coerce.describe(o) for o in operands)
    parameters = ", ".join(f"{p}: {t}" for p, t in zip("ab", types, strict=False))
    fields = ", ".join(f.name for f in struct.type.fields)
    message = f"{struct.type!r} is a struct, and there is no func named {name} for it."
    raise context.type_error(message, f"Define one, def {name}({parameters}), or take the fields: {fields}.")


def _any_float(*operands: Value | Literal) -> bool:
    """Return whether any operand is a float literal or has a float type."""
    return any(o.is_float if isinstance(o, Literal) else is_float(o.type) for o in operands)


def _fold(context: Context, python: Callable[..., Any], *numbers: Any) -> Operand:
    """Compute a Python operator on literals; return a literal, or a constant if it is a bool.

    Raises:
        KernelTypeError: Python cannot compute it, or it is too large or no number of a kernel.
    """
    if _bits(python, *numbers) > LITERAL_BITS + 1:
        raise too_large()
    try:
        result = python(*numbers)
    except ZeroDivisionError as error:
        if not context.shared.warp_meanings or not all(isinstance(n, float) for n in numbers):
            raise context.type_error(f"This constant cannot be computed: {error}.") from None
        with np.errstate(all="ignore"):  # as in C++
            result = float(python(*map(np.float64, numbers)))
    except (ArithmeticError, ValueError, TypeError) as error:
        raise context.type_error(f"This constant cannot be computed: {error}.") from None
    if isinstance(result, bool):
        return context.builder.const(result, bool_)
    if not isinstance(result, (int, float)) and not any(isinstance(n, complex) for n in numbers):
        raise context.type_error(f"This constant is {result!r}, which is not a real number.")
    return Literal(result)


def _bits(python: Callable[..., Any], *numbers: Any) -> int:
    """Return the least number of bits of a power or a shift of integers, less one, before it is computed; else 0."""
    if python is _PYTHON.pow and all(isinstance(n, int) for n in numbers):
        return (abs(numbers[0]).bit_length() - 1) * numbers[1]
    return numbers[1] if python is _PYTHON.lshift and numbers[0] and isinstance(numbers[1], int) else 0


def _integer_power(context: Context, base: Value, exponent: int) -> Operand:
    """Emit x ** n for an integer literal n, by squaring; of a float, large powers are `pow`'s, which round once."""
    real = not isinstance(base.type, Complex)
    if isinstance(base.type, ArrayType) or (abs(exponent) > EXPANDED_POWER and real and _any_float(base)):
        return coerce.apply(context, TABLE["pow"], (base, Literal(float(exponent))))
    if exponent < 0 and not _any_float(base):
        raise context.type_error("An integer to a negative power is a fraction.", "Write float(x) ** n.")
    result: Operand | None = None
    square: Operand = base
    n = abs(exponent)
    while n:
        if n & 1:
            result = square if result is None else binary(context, ast.Mult, result, square)
        n >>= 1
        if n:
            square = binary(context, ast.Mult, square, square)
    if result is None:
        return coerce.convert(context, Literal(1), base.type)
    return binary(context, ast.Div, Literal(1), result) if exponent < 0 else result


def _unary(context: Context, node: ast.UnaryOp) -> Operand:
    """Lower `-x`, `+x`, `~x` or `not x`; the result is a literal, a `Static` or a constant where x is known."""
    operand = expression(context, node.operand)
    if isinstance(node.op, ast.Not):
        condition = coerce.truth(context, operand)
        if isinstance(condition, bool) and (isinstance(operand, Static) or _is_written(node.operand)):
            return Static(not condition, ast.unparse(node))
        if isinstance(condition, bool):
            return context.builder.const(not condition, bool_)
        return coerce.apply(context, TABLE["not_"], (condition,))
    if isinstance(operand, Bundle):
        return on_structs(context, UNARY[type(node.op)], operand)
    operand = coerce.usable(context, operand)
    if isinstance(node.op, ast.UAdd):
        return operand
    if isinstance(operand, Literal):
        return _fold(context, operator.neg if isinstance(node.op, ast.USub) else operator.invert, operand.value)
    return coerce.apply(context, TABLE[UNARY[type(node.op)]], (operand,))


def _is_written(node: ast.expr) -> bool:
    """Return whether an expression is a number or bool that is written out, or `static(…)`.

    A parameter may be a literal in one call of a func, and a value in another: it is not.
    """
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", getattr(node.func, "id", "")) == "static"
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _compare(context: Context, node: ast.Compare) -> Operand:
    """Lower a comparison, also a chain, `in`, or one of tuples, to one bool.

    It is `Static` if all operands are written out as numbers or it compares with None, else an IR value.

    Raises:
        KernelSyntaxError: an operator is not in the language.
        KernelTypeError: the operands do not compare.
    """
    if len(node.ops) == 1 and type(node.ops[0]) in COMPARE:
        operands = [expression(context, node.left), expression(context, node.comparators[0])]
        if Value in map(type, operands):
            known = coerce.remembered(context, TABLE[COMPARE[type(node.ops[0])][0]], operands)
            if known is not None:
                return known
        return _compared(context, node, operands)
    is_none = _is_none(context, node)
    if is_none is not None:
        return is_none
    if not all(type(sign) in COMPARE or isinstance(sign, (ast.In, ast.NotIn)) for sign in node.ops):
        raise context.syntax_error("Only < <= > >= == != in and not in compare in a kernel.")
    if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        inside = contains_of_range(context, node.left, node.comparators[0])
        if inside is not None:
            return coerce.apply(context, TABLE["not_"], (inside,)) if isinstance(node.ops[0], ast.NotIn) else inside
    operands = [expression(context, node.left)]
    for sign, part in zip(node.ops, node.comparators, strict=True):
        searched = isinstance(sign, (ast.In, ast.NotIn))
        operands.append(sequences.unchanged(context, part) if searched else expression(context, part))
    return _compared(context, node, operands)


def _compared(context: Context, node: ast.Compare, operands: Sequence[Operand]) -> Operand:
    """Emit a comparison of these operands, as `_compare` says."""
    signs = [COMPARE.get(type(sign)) for sign in node.ops]
    literals = all(isinstance(o, Literal) for o in operands)
    if literals and all(signs) and all(map(_is_written, (node.left, *node.comparators))):
        pairs = zip(signs, operands, operands[1:], strict=False)
        return Static(all(sign[1](a.value, b.value) for sign, a, b in pairs), ast.unparse(node))  # type: ignore[index,union-attr]
    result: Value | None = None
    for sign, left, right in zip(node.ops, operands, operands[1:], strict=False):
        if isinstance(sign, (ast.In, ast.NotIn)):
            part = contains(context, left, right)
            part = coerce.apply(context, TABLE["not_"], (part,)) if isinstance(sign, ast.NotIn) else part
            result = part if result is None else coerce.apply(context, TABLE["and_"], (result, part))
            continue
        name, python = COMPARE[type(sign)]
        if isinstance(left, Bundle) or isinstance(right, Bundle):
            if warp_notices.is_handle(context, left) != warp_notices.is_handle(context, right):  # the number of no mesh
                return Static(name == "ne", ast.unparse(node))
            raise context.type_error("Structs do not compare.", "Compare their fields.")
        if isinstance(left, tuple) and isinstance(right, tuple):
            order = name not in ("eq", "ne")
            part = sequences.ordered(context, name, left, right) if order else sequences.equal(context, left, right)
            part = coerce.apply(context, TABLE["not_"], (part,)) if name == "ne" else part
            result = part if result is None else coerce.apply(context, TABLE["and_"], (result, part))
            continue
        left, right = coerce.usable(context, left), coerce.usable(context, right)
        either = complex_numbers.is_complex(left) or complex_numbers.is_complex(right)
        equality = name in ("eq", "ne")
        if isinstance(left, Literal) and isinstance(right, Literal) and (equality or not either):
            part = context.builder.const(python(left.value, right.value), bool_)
        elif equality and _compares_componentwise(left, right, either):
            part = _compare_whole(context, name, left, right, either)
        else:
            part = coerce.apply(context, TABLE[name], (left, right))
        result = part if result is None else coerce.apply(context, TABLE["and_"], (result, part))
    assert result is not None
    return result


def _compares_componentwise(left: Value | Literal, right: Value | Literal, either: bool) -> bool:
    """Return whether `==` compares both operands component by component.

    They are vectors or matrices of one shape, or numbers of which, as `either` says, one is complex; and not tiles.
    """
    types = [o.type if isinstance(o, Value) else None for o in (left, right)]
    shapes = [t.shape if isinstance(t, Vector) else () for t in types]
    return shapes[0] == shapes[1] and (either or bool(shapes[0])) and not any(map(is_tile, (left, right)))


def _compare_whole(context: Context, name: str, left: Value | Literal, right: Value | Literal, either: bool) -> Value:
    """Compare two vectors or complex numbers whole: `==` holds if it holds for all components, `!=` if for any."""
    if either:
        both = common_type("join", [coerce.weak(left), coerce.weak(right)])
        left, right = coerce.convert(context, left, both), coerce.convert(context, right, both)
    pairs = zip(coerce.components(context, left), coerce.components(context, right), strict=True)  # type: ignore[arg-type]
    each = [coerce.apply(context, TABLE[name], pair) for pair in pairs]
    return reduce_all(lambda a, b: coerce.apply(context, TABLE["and_" if name == "eq" else "or_"], (a, b)), each)


# What costs less than the branch around it.
_CHEAPER = CHEAP | {"lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "not_", "add", "sub", "neg"}


def _is_none(context: Context, node: ast.Compare) -> Operand | None:
    """Lower `x is None` and `x is not None` to what is known at compile time; None of any other comparison.

    A launch with None in an array's place has code of its own.
    """
    right = node.comparators[0]
    if len(node.ops) != 1 or not isinstance(right, ast.Constant) or right.value is not None:
        return None
    if not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return None
    left = expression(context, node.left)
    none = isinstance(left, Static) and left.value is None
    return Static(none is isinstance(node.ops[0], ast.Is), ast.unparse(node))


def _boolean(context: Context, node: ast.BoolOp) -> Operand:
    """Lower `and`, `or`: short-cutting by an `if` unless the right side is cheap and cannot fault."""
    name = "and_" if isinstance(node.op, ast.And) else "or_"
    absorbing = name == "or_"
    parts = list(node.values)
    while True:  # what is known at compile time decides, or says nothing
        with context.at(parts[0]):
            first = expression(context, parts[0])
        if not (isinstance(first, Static) and (first.value is None or isinstance(first.value, bool))):
            break
        if bool(first.value) is absorbing or len(parts) == 1:
            return Static(bool(first.value), ast.unparse(node))
        del parts[0]
    result = _condition(context, parts[0], first)
    for part in parts[1:]:
        with context.builder.block() as opened:
            right = _condition(context, part, expression(context, part))
            context.builder.yield_(*([right] if isinstance(right, Value) else []))
        block = opened.block
        if isinstance(right, Literal) or isinstance(result, Literal) or not right.type == result.type == bool_:
            result = _one_of(context, absorbing, result, block, right)
        elif _is_cheap(block):
            context.builder.extend(block.ops[:-1])
            result = coerce.apply(context, TABLE[name], (result, right))
        else:
            short = _constant_block(context, name == "or_")
            then, orelse = (block, short) if name == "and_" else (short, block)
            (result,) = context.builder.if_(result, then, orelse)
    return result


def _one_of(
    context: Context, absorbing: bool, left: Value | Literal, block: Block, right: Value | Literal
) -> Value | Literal:
    """Emit `left or right` (absorbing) or `left and right` of numbers: one of the two, as in Python; return it.

    `block` holds the operations that compute `right`; they run only where they are needed.
    """
    condition = coerce.truth(context, left)
    if isinstance(condition, bool):
        if condition is absorbing:
            return left
        context.builder.extend(block.ops[:-1])
        return right
    kinds = coerce.weak(left), coerce.weak(right)
    untyped = next((k.default for k in kinds if isinstance(k, Weak)), None)
    (_, wanted, _), _ = TABLE["where"].rule("if … else", [bool_, *kinds])
    if untyped is not None and bool_ in kinds:  # `flag and 0.1` is as weak as 0.1
        wanted = untyped
    sides = [(Block((), ()), left), (Block((), block.ops[:-1]), right)]
    (first, a), (second, b) = sides if absorbing else reversed(sides)
    return coerce.joined_if(context, condition, (first, second), [(a, b)], [wanted])[0]


def _is_cheap(block: Block) -> bool:
    """Return whether the block costs little and cannot fault: a component at a computed index can."""
    numbers = {op.result for op in block.ops if op.name == "const"}
    return all(
        op.name == "yield" or (op.name in _CHEAPER and (op.name != "extract" or op.operands[1] in numbers))
        for op in block.ops
    )


def _condition(context: Context, node: ast.expr, operand: Operand) -> Value | Literal:
    """Return an operand of `and` or `or` as a scalar; an array is a true constant, None a false one.

    Raises:
        KernelTypeError: it is neither, nor a bool or number.
    """
    if views.is_array(operand) or (isinstance(operand, Static) and operand.value is None):
        return context.builder.const(not isinstance(operand, Static), bool_)  # None is false, an array is true
    operand = coerce.usable(context, operand)
    if isinstance(operand, Literal) or isinstance(operand.type, Scalar):
        return operand
    with context.at(node):
        message = f"and/or take bools and numbers; this is {coerce.describe(operand)}."
        raise context.type_error(message, "Compare it with 0 to get a bool.")


def _constant_block(context: Context, result: bool) -> Block:
    """Return a block that only yields this bool."""
    with context.builder.block() as opened:
        context.builder.yield_(context.builder.const(result, bool_))
    return opened.block


def _choice(context: Context, node: ast.IfExp) -> Operand:
    """Lower `a if c else b`: one side alone if c is known, else a `where` or an `if`.

    It is a `where` if computing the sides takes no operations other than constants.

    Raises:
        KernelTypeError: the sides have no common type.
    """
    condition = coerce.truth(context, expression(context, node.test))
    if isinstance(condition, bool):
        return expression(context, node.body if condition else node.orelse)
    sides, blocks = list[Operand](), list[Block]()
    for part in (node.body, node.orelse):
        with context.builder.block() as opened:
            sides.append(_side(context, part))
        blocks.append(opened.block)
    if any(isinstance(s, (Bundle, tuple, View)) for s in sides):
        if structs.form(sides[0]) != structs.form(sides[1]):
            a, b = map(coerce.describe, sides)
            raise context.type_error(f"if … else chooses between {a} and {b}, which are two types.")
        return structs.chosen(context, condition, blocks, (sides[0], sides[1]), "This choice")
    if all(_only_constants(b) for b in blocks):
        for block in blocks:
            context.builder.extend(block.ops)
        return coerce.apply(context, TABLE["where"], (condition, *sides))
    (_, wanted, _), _ = TABLE["where"].rule(
        "if … else", [bool_, *(coerce.weak(coerce.usable(context, s)) for s in sides)]
    )
    return coerce.joined_if(context, condition, blocks, [(sides[0], sides[1])], [wanted])[0]


def _named(context: Context, node: ast.NamedExpr) -> Operand:
    """Lower `name := value`: bind the name, and return the operand.

    Raises:
        KernelSyntaxError: it stands where it may be computed twice, or not at all.
    """
    where = getattr(node, "uncertain", "")
    if where:
        message = f"{node.target.id} := … may be computed or not, or twice, {where}."
        raise context.syntax_error(message, "Assign it on a line of its own.")
    operand = expression(context, node.value)
    structs.bind(context.env, node.target.id, operand)
    return operand


def _side(context: Context, node: ast.expr) -> Operand:
    """Lower one side of a conditional expression: a struct, a tuple, a part of an array, a literal or an IR value.

    Raises:
        KernelTypeError: it is something else.
    """
    operand = expression(context, node)
    return operand if isinstance(operand, (Bundle, tuple, View)) else coerce.usable(context, operand)


def _only_constants(block: Block) -> bool:
    """Return whether a block has no operations other than constants."""
    return all(op.name == "const" for op in block.ops)


def _call(context: Context, node: ast.Call) -> Operand:
    """Lower a call; a call of `f if c else g` becomes a choice between two calls."""
    if isinstance(node.func, ast.IfExp):
        return _choice(context, _inside(node.func, lambda side: ast.Call(side, node.args, node.keywords)))
    return calls.call(context, node)


def _inside(choice: ast.IfExp, use: Callable[[ast.expr], ast.expr]) -> ast.IfExp:
    """Return `use(a) if c else use(b)` of `a if c else b`: funcs and arrays are chosen by what is done with them."""
    sides = [ast.copy_location(use(side), side) for side in (choice.body, choice.orelse)]
    return ast.copy_location(ast.IfExp(choice.test, *sides), choice)


def _attribute(context: Context, node: ast.Attribute) -> Operand:
    """Lower `base.attr`; of an element of an array of structs only that field is loaded."""
    base = _unloaded(context, node.value)
    return part_of(context, base, node)


_TRAITS: dict[str, Callable[[Vector], Operand]] = {
    "dtype": lambda t: Static(number_type(t), "dtype"),
    "shape": lambda t: tuple(Literal(n) for n in t.shape),
    "ndim": lambda t: Literal(len(t.shape)),
    "length": lambda t: Literal(prod(t.shape)),
}
"""Attributes of a vector's or matrix's type, as NumPy spells them; `length` as Warp does."""


def part_of(context: Context, base: Operand, node: ast.Attribute | ast.Subscript) -> Operand:
    """Lower `base.attr` or `base[index]`, as the node writes it."""
    return (_attribute_of if isinstance(node, ast.Attribute) else _item_of)(context, base, node)  # type: ignore[arg-type]


def _attribute_of(context: Context, base: Operand, node: ast.Attribute) -> Operand:
    """Lower the read of an attribute of a lowered base, by what the base is: module, struct, array, tile or vector.

    Raises:
        KernelSyntaxError, KernelTypeError: it has no such attribute.
    """
    if isinstance(base, Static):
        return python_names.attribute(context, base, node.attr)
    if isinstance(base, (Bundle, Element)):
        return structs.field(context, base, node.attr)
    if isinstance(base, Elements) and node.attr == "dtype":
        return Static(base.type.dtype, f"{base.name}.dtype")
    if isinstance(base, Elements):
        if any(f.name == node.attr for f in base.type.dtype.fields):
            message = f"{base.name} is an array of structs, so it has no {node.attr}; each of its elements has."
            raise context.syntax_error(message, f"Write {base.name}[i].{node.attr}.")
        base = structs.lead(base)
    if isinstance(base, Literal) and isinstance(
        node.value, ast.Attribute
    ):  # of a member of an enum: `Colour.RED.value`
        value = context.definition.read(ast.unparse(node))
        if type(value) in (int, float):
            return Literal(value)
    base = coerce.indexable(context, base)
    if views.is_array(base):
        return views.attribute(context, base, node.attr)
    if is_tile(base):
        return slicing.attribute(context, base, node.attr)
    if isinstance(base, Value) and isinstance(base.type, Vector) and node.attr in _TRAITS:
        return _TRAITS[node.attr](base.type)
    of_transform = isinstance(base, Value) and isinstance(base.type, Transform)
    if complex_numbers.is_complex(base) or (node.attr in complex_numbers.NAMES and not of_transform):
        return complex_numbers.attribute(context, base, node.attr)  # type: ignore[arg-type]
    return vectors.attribute(context, base, node.attr)  # type: ignore[arg-type]


def _subscript(context: Context, node: ast.Subscript) -> Operand:
    """Lower `base[index]`; a subscript of `a if c else b` becomes a choice between two subscripts."""
    if isinstance(node.value, ast.IfExp):
        return _choice(context, _inside(node.value, lambda side: ast.Subscript(side, node.slice, node.ctx)))
    return _item_of(context, expression(context, node.value), node)


def _item_of(context: Context, base: Operand, node: ast.Subscript) -> Operand:
    """Lower `base[index]` of a lowered base, by what the base is: tuple, array, tile, matrix or vector.

    Raises:
        KernelTypeError: it cannot be indexed, or not with this index.
    """
    if isinstance(base, tuple):
        item = sequences.part(context, base, node.slice)
        if item is not None:
            return item
        index = expression(context, node.slice)
        sizes = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        if context.shared.warp_meanings and sizes and isinstance(index, Literal) and index.value in range(MAX_NDIM):
            return Literal(0)  # a shape has four sizes there
        message = f"A tuple of {len(base)} takes a literal index below {len(base)}."
        advice = f"If the index is known only at run time, make it a vector: vector({len(base)}, float)(…)."
        raise context.type_error(message, advice if len(base) > 1 else "")
    if isinstance(base, Elements):
        return structs.subscript(context, base, node.slice)
    base = coerce.indexable(context, base)
    if views.is_array(base):
        return views.subscript(context, base, node.slice)
    if is_tile(base):
        return slicing.subscript(context, base, node.slice)
    if context.shared.tiling is not None and slicing.is_first(context, base, node.slice):
        return base
    if complex_numbers.is_complex(base) and not getattr(getattr(base, "type", None), "shape", ()):
        raise context.type_error(f"{coerce.describe(base)} cannot be indexed.", "Write z.real or z.imag.")
    if complex_numbers.is_complex(base):
        return complex_numbers.subscript(context, base, node.slice)  # type: ignore[arg-type]
    if isinstance(base, Value) and isinstance(base.type, Vector):
        return vectors.subscript(context, base, node.slice)
    raise context.type_error(f"{coerce.describe(base)} cannot be indexed.")


LOWER: dict[type[ast.expr], Callable[[Context, Any], Operand]] = {
    ast.Constant: _constant, ast.Name: _name, ast.Tuple: _tuple, ast.BinOp: _binary, ast.UnaryOp: _unary,
    ast.Compare: _compare, ast.BoolOp: _boolean, ast.IfExp: _choice, ast.Call: _call, ast.Attribute: _attribute,
    ast.Subscript: _subscript, ast.NamedExpr: _named,
}  # fmt: skip
