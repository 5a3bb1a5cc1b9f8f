"""Operands before they are emitted: matched to parameters, given types, and of tiles taken element by element.

Literals adopt types, values promote, and where paths meet the types must agree. Arguments of calls are matched to
parameters by one rule, for forms, funcs, structs and functions of the library.

Whatever the front end lowers for numbers is lowered once inside a `tile_map`'s block, where each tile is its element;
numbers beside them are outer values. So tiles have all operators and builtins, with the same types and errors.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

import msgspec
import numpy as np

from workbench import types
from workbench.builtins.declaration.declare import TABLE, Builtin
from workbench.builtins.declaration.rules import WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Arg, Signature, Weak
from workbench.errors import KernelTypeError
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import (
    AlreadyReported,
    Bundle,
    Elements,
    Literal,
    Operand,
    Parts,
    Pending,
    Poison,
    Static,
    Unset,
    View,
    counted,
)
from workbench.ir.values import Block, Value
from workbench.passes.weak_literals import too_wide
from workbench.ranges import fits
from workbench.tiles import Tile, contents, is_tile, shown
from workbench.types import ArrayType, Complex, Kind, Scalar, Type, Vector, element, int32, is_integer, is_weak, strong
from workbench.types import bool as bool_

Make = Callable[[Sequence[Operand]], "Sequence[Value]"]


def any_tile(operands: Sequence[Operand]) -> bool:
    """Return whether one of the operands is a tile."""
    return any(map(is_tile, operands))


def shape_of(context: Context, what: str, operands: Sequence[Operand]) -> tuple[int, ...]:
    """Return the one shape of the tiles among the operands, of which there is one at least.

    Raises:
        KernelTypeError: there are two; the message has both.
    """
    shapes = [o.type.shape for o in operands if is_tile(o)]
    for other in shapes[1:]:
        if other != shapes[0]:
            raise context.type_error(
                f"{what} takes tiles of one shape; these are {shown(shapes[0])} and {shown(other)}.",
                "Bring one to the other's shape: tile_broadcast, tile_reshape, tile_transpose, tile_view.",
            )
    return shapes[0]


def over(context: Context, what: str, operands: Sequence[Operand], make: Make) -> tuple[Value, ...]:
    """Emit a `tile_map` that does `make` for each element of tiles; return a tile for each value that it gives.

    Args:
        context: where.
        what: how messages call the operation.
        operands: tiles, of one shape; all others reach `make` as they are.
        make: emits what is done, of operands in which a tile is its element.

    Raises:
        KernelTypeError: the tiles have two shapes.
    """
    shape = shape_of(context, what, operands)
    tiles = list(dict.fromkeys(o for o in operands if is_tile(o)))
    positive = context.shared.non_negative
    yielded: list[Value] = []

    def element(indices: Sequence[Value], elements: Sequence[Value]) -> Sequence[Value]:
        positive.update(indices)
        positive.update(e for t, e in zip(tiles, elements, strict=True) if t in positive)
        inside = dict(zip(tiles, elements, strict=True))
        yielded.extend(make([inside.get(o, o) if is_tile(o) else o for o in operands]))  # type: ignore[arg-type]
        return yielded

    results = context.builder.tile_map(shape, tiles, element)
    positive.update(r for r, v in zip(results, yielded, strict=True) if v in positive)
    storage = "thread" if all(t.type.storage == "thread" for t in tiles) else "register"
    return tuple(stored(r, storage) for r in results)


def stored(value: Value, storage: str) -> Value:
    """Give a tile that nothing has used yet this storage, in place, and return it; any other value stays as it is."""
    if isinstance(value.type, Tile) and value.type.storage != storage:
        msgspec.structs.force_setattr(value, "type", Tile(value.type.dtype, value.type.shape, storage))
    return value


def uniform(context: Context, operand: Operand, what: str) -> Operand:
    """Check that an operand is one for all threads of a block, and return it.

    Raises:
        KernelTypeError: it is a tile.
    """
    if is_tile(operand):
        type: Any = operand.type
        thread = type.storage == "thread"
        shape = "differs between the threads of a block" if thread else f"is a tile of shape {shown(type.shape)}"
        advice = "Use where(condition, a, b), or put the branch into a func for tile_map." if thread else ""
        if thread and context.shared.tiling is not None and context.shared.tiling.flat:
            advice = "Over blocks tid() is the block's: wb.launch_tiled(kernel, dim=[…], …)."
        raise context.type_error(f"{what} has to be one number for the whole block; this {shape}.", advice)
    return operand


def fill(context: Context, shape: tuple[int, ...], value: Value, storage: str) -> Value:
    """Emit a tile with one value everywhere."""
    (tile,) = context.builder.tile_map(shape, (), lambda at, e: [value])
    return stored(tile, storage)


def as_element(context: Context, type: Any, what: str) -> Scalar | Vector:
    """Check that elements of tiles can have a type, and return it.

    Raises:
        KernelTypeError: it is that of complex numbers, an array or a struct.
    """
    if isinstance(type, Complex):
        message = f"{what} would have {type!r} elements; tiles of complex numbers are not built."
        raise context.type_error(message, "Keep real and imaginary parts in two tiles.")
    if isinstance(type, (Scalar, Vector)):
        return type
    kind = "an array" if isinstance(type, ArrayType) else repr(type)
    raise context.type_error(f"{what} has elements that are numbers or vectors, not {kind}.")


_FLOAT, _BOOL = Kind.FLOAT, Kind.BOOL  # to look a member up in an Enum takes 0.2 µs
COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})


def describe(operand: Operand) -> str:
    """Return an operand's type in words for a message; of a Python object how the user wrote it."""
    match operand:
        case Value() | View() | Bundle() | Parts() | Elements():
            return repr(operand.type)
        case Literal():
            kind = "a complex" if operand.is_complex else "a float" if operand.is_float else "an int"
            return f"{kind} literal"
        case tuple():
            return f"a tuple of {len(operand)}"
        case Static():
            return operand.path
        case _:
            return "nothing"


def indexable(context: Context, operand: Operand) -> Value | Literal | View:
    """Return the operand as a number, an array or a part of an array.

    Raises:
        KernelTypeError: it is something else.
        AlreadyReported: its error is already noted.
    """
    return operand if isinstance(operand, View) else usable(context, operand)


def usable(context: Context, operand: Operand) -> Value | Literal:
    """Return the operand as a number, vector, tile or array; a bool known at compile time becomes a constant.

    Raises:
        KernelTypeError: it is something else: a tuple, a struct, a part of an array, None, a name without a value.
        AlreadyReported: its error is already noted.
    """
    if isinstance(operand, (Value, Literal)):
        return operand
    if isinstance(operand, Poison):
        raise AlreadyReported
    if isinstance(operand, Unset):
        raise context.type_error(operand.reason)
    if isinstance(operand, Static) and isinstance(operand.value, bool):
        return context.builder.const(operand.value, bool_)
    if isinstance(operand, tuple):
        what = f"this is {describe(operand)}." if operand else "this call returns none."
        advice = "Unpack the tuple first." if operand else "End the func with a return of a value."
        raise context.type_error(f"A number is expected here; {what}", advice)
    if isinstance(operand, View):
        message = f"A number is expected; {operand.name or 'this'} is {operand.type!r}, a part of an array."
        raise context.type_error(message, "Index one element of it.")
    if isinstance(operand, (Bundle, Elements)):
        raise _struct(context, operand)
    if isinstance(operand, Static) and operand.value is None:
        raise context.type_error(f"{operand.path} is None here.", f"Test first: if {operand.path} is not None: …")
    what = operand.path if isinstance(operand, Static) else "This"
    advice = _pass_it(operand.value) if isinstance(operand, Static) else ""
    advice = f"{what}[x] stands in the body of a @wb.func_grad." if what.split(".")[-1] == "adjoint" else advice
    raise context.type_error(f"{what} is not a value that a kernel can compute with.", advice)


def _pass_it(value: Any) -> str:
    """Return advice how to pass a value to a kernel, which cannot compute with it; empty for functions."""
    if isinstance(value, np.ndarray) or hasattr(value, "__array__"):
        return "Pass it as an argument, to a parameter annotated array(dtype=…)."
    if isinstance(value, list):
        return "Make it a tuple, to unroll loops over it, or an array that is passed as an argument."
    return "Numbers, vectors and tuples of them can be used, and kernels' arguments." if not callable(value) else ""


def _struct(context: Context, operand: Bundle | Elements) -> Exception:
    """Return the error for a struct, or an array of structs, where a number is expected."""
    if isinstance(operand, Elements):
        message, advice = (
            f"A number is expected here; {operand.name} is {operand.type!r}.",
            "Take a field of an element.",
        )
    else:
        message = f"A number is expected here; this is {operand.type!r}, which is a struct."
        advice = f"Take one of its fields: {', '.join(f.name for f in operand.type.fields)}."
    return context.type_error(message, advice)


def default_type(literal: Literal) -> Scalar | Complex:
    """Return the weak type that a literal has until it meets another; of a complex one its default."""
    if literal.is_complex:
        return types.complex64
    return types.WEAK_FLOAT if literal.is_float else types.WEAK_INT


def materialise(context: Context, operand: Operand, type: Type | None = None) -> Value:
    """Return the operand as an IR value: a literal as a constant of `type`, by default of its own; a value as it is.

    Raises:
        KernelTypeError: a literal does not fit the type, or the operand is no value.
    """
    if isinstance(operand, Value):
        return operand
    operand = usable(context, operand)
    if isinstance(operand, Value):
        return operand
    wanted, number = type if type is not None else strong(default_type(operand)), operand.value
    kind = number.__class__
    usual = int32 if kind is int else types.float32 if kind is float else None
    if usual is not None and wanted is usual and fits(number, usual):
        return context.builder.const(number, wanted, operand.captured)
    if isinstance(wanted, ArrayType):
        raise context.type_error(f"An {wanted!r} is expected here; this is {describe(operand)}.")
    scalar = element(wanted)
    is_float = scalar.kind is _FLOAT
    if operand.is_complex and not isinstance(wanted, Complex):
        message = f"The complex number {operand.value!r} does not fit {wanted!r}."
        raise context.type_error(message, "Take its .real or .imag, or an array of complex numbers.")
    if not is_float and operand.is_float:
        raise context.type_error(
            f"The float {operand.value!r} does not fit {scalar!r}.", f"Write {scalar!r}({operand.value!r})."
        )
    if not is_weak(wanted) and not fits(operand.value, scalar):
        raise too_wide(operand.value, scalar, operand.captured)
    if isinstance(wanted, Complex):
        both = complex(operand.value)
        return context.builder.const((both.real, both.imag) * (wanted.length // 2), wanted, operand.captured)
    number = float(operand.value) if is_float else bool(operand.value) if scalar.kind is _BOOL else operand.value
    if isinstance(wanted, Vector):
        return context.builder.const((number,) * wanted.length, wanted)
    return context.builder.const(number, wanted, operand.captured)


def convert(context: Context, operand: Operand, type: Type) -> Value:
    """Convert an operand to this type: literals adopt it, scalars are cast and spread over vectors.

    Of a tile the elements are converted, and `type` may be theirs or a tile's. A value that no path sets becomes zeros.

    Raises:
        KernelTypeError: a literal does not fit the type, or the operand is no value.
    """
    if isinstance(operand, Literal):
        return materialise(context, operand, type)
    if isinstance(operand, Pending):
        zero = materialise(context, Literal(0), contents(type) if isinstance(type, Tile) else type)
        return fill(context, type.shape, zero, type.storage) if isinstance(type, Tile) else zero
    value = materialise(context, operand)
    if value.type is type:
        return value
    if value.type == type:
        return context.builder.cast(value, type)
    if is_tile(value):
        wanted = contents(type)
        if contents(value.type) == wanted:
            return value
        return over(context, "A conversion", [value], lambda parts: [convert(context, parts[0], wanted)])[0]
    if isinstance(type, Complex) and not (isinstance(value.type, Complex) and value.type.shape == type.shape):
        return joined(context, *(convert(context, p, type.real) for p in in_parts(context, value, type.dtype)))
    if isinstance(type, Vector) and isinstance(value.type, Scalar):
        part = context.builder.cast(value, type.dtype)
        return context.builder.one("vec", [part] * type.length, type)
    return context.builder.cast(value, type)


def assign_type(context: Context, operand: Operand, type: Type, what: str, *, tiles: bool = False) -> Value:
    """Convert an operand to the type of what it is assigned to: an element, an annotated parameter.

    Literals, and what is made of them, adopt it. A typed value must have it, or be promoted to it without loss of kind:
    an int may become a float, a float never an int. With `tiles`, so must the elements of a tile; else a tile does not
    fit.

    Raises:
        KernelTypeError: it does not fit; `what` is how the message calls the target.
    """
    if isinstance(operand, (Literal, Value)) and isinstance(weak(operand), Weak):
        if isinstance(type, Vector) and type.shape:
            raise context.type_error(f"{what} is {type!r}; this is {describe(operand)}.", f"Write {type!r}(…).")
        if isinstance(operand, Literal) or adopts(operand, type):
            return convert(context, operand, type)
    value = materialise(context, operand)
    if value.type == type:
        return value
    if is_tile(value) and not tiles:
        raise context.type_error(
            f"{what} is {type!r}; this is a tile of shape {shown(value.type.shape)}.",
            "tile_store(a, t) writes all of it; t[i] is one element, untile(t) each thread's.",
        )
    if is_tile(value) and contents(value.type) == type:
        return value
    if is_tile(value):
        return over(context, what, [value], lambda parts: [assign_type(context, parts[0], type, what)])[0]
    narrower = isinstance(value.type, Scalar) and isinstance(type, Scalar)
    if isinstance(type, Complex) and (
        value.type == type.real or (not type.shape and (is_integer(value.type) or value.type == bool_))
    ):
        return convert(context, value, type)
    if narrower and type.kind is Kind.FLOAT and value.type.kind is not Kind.FLOAT:  # type: ignore[union-attr]
        return context.builder.cast(value, type)
    advice = f"Write {type!r}(…)." if narrower or isinstance(type, Complex) else _component_of(value.type, type)
    message = f"{what} is {type!r}; the value is {value.type!r}."
    raise KernelTypeError(message, advice=advice, what=what, given=value.type)


def _component_of(source: Any, wanted: Any) -> str:
    """Return the advice to take one component or element of a `source` type where `wanted` is expected; else empty."""
    if isinstance(source, Complex) and isinstance(wanted, Scalar):
        return "Take its .real, its .imag or abs()."
    if isinstance(source, Vector) and isinstance(wanted, Scalar):
        return "Take one component of it: v[0]."
    return "Take one element of it: x[i]." if isinstance(source, ArrayType) else ""


def weak(operand: Value | Literal) -> Arg:
    """Return the operand's type as rules take it: a number whose type is still open as `WEAK_INT` or the like."""
    if isinstance(operand, Literal) and operand.is_complex:
        return WEAK_COMPLEX
    type = default_type(operand) if isinstance(operand, Literal) else operand.type
    if not is_weak(type):
        return type
    return WEAK_FLOAT if element(type).kind is Kind.FLOAT else WEAK_INT


def adopts(operand: Operand, type: Any) -> bool:
    """Return whether an operand has no type yet and can take this one.

    An int can take that of any number, a float that of a float, and each of them a complex number's.
    """
    known = weak(operand) if isinstance(operand, (Literal, Value)) else None
    if isinstance(known, Weak) and isinstance(type, Complex):
        return not type.shape
    if known == WEAK_COMPLEX or not isinstance(known, Weak) or not isinstance(type, Scalar):
        return False
    return type.kind is Kind.FLOAT or (known == WEAK_INT and is_integer(type))


def _argument_types(builtin: Builtin, args: Sequence[Value | Literal]) -> list[Arg]:
    """Return the types by which a builtin's rule judges the arguments.

    An integer that a run computes is compared as the int32 that it is by default, with unsigned ones too: it may be
    negative, which no unsigned type can hold.
    """
    known = [weak(a) for a in args]
    if builtin.name in COMPARISONS and any(not isinstance(k, Weak) and is_integer(k) for k in known):
        return [int32 if k == WEAK_INT and isinstance(a, Value) else k for a, k in zip(args, known, strict=True)]
    return known


_SIGNATURES: dict[tuple[Builtin | str, ...], Signature] = {}
"""The signatures of builtins on scalars that were computed so far, by builtin and names of the arguments' types."""
_LITERALS = {int: "an int", float: "a float"}
_WEAK = {WEAK_INT: _LITERALS[int], WEAK_FLOAT: _LITERALS[float]}
_OPEN = {"int32": _LITERALS[int], "float32": _LITERALS[float]}
"""The names there of types that are still open: by Python's types of literals, rules' types, and names of weak ones."""


def remembered(context: Context, builtin: Builtin, operands: Sequence[Operand]) -> Value | None:
    """Emit a builtin on literals and scalars if its signature for their types is known already; else None."""
    key: list[Builtin | str] = [builtin]
    for operand in operands:
        if type(operand) is Value and type(operand.type) is Scalar:
            if operand.type.weak and builtin.name in COMPARISONS:  # see `_argument_types`
                return None
            key.append(_OPEN[operand.type.name] if operand.type.weak else operand.type.name)
        elif type(operand) is Literal and type(operand.value) in _LITERALS:
            key.append(_LITERALS[type(operand.value)])
        else:
            return None
    signature = _SIGNATURES.get(tuple(key))
    if signature is None:
        return None
    pairs = zip(operands, signature[0], strict=True)
    values = [o if type(o) is Value and o.type is wanted else convert(context, o, wanted) for o, wanted in pairs]
    return context.builder.one(builtin.name, values, signature[1])  # type: ignore[arg-type]


def _signature(builtin: Builtin, types_: Sequence[Arg]) -> Signature:
    """Return what a builtin takes and returns for arguments of these types; for scalars it is computed once.

    Raises:
        KernelTypeError: it does not take them.
    """
    key = (builtin, *[t.name if type(t) is Scalar else _WEAK.get(t, "") if isinstance(t, Weak) else "" for t in types_])
    signature = _SIGNATURES.get(key)
    if signature is None:
        signature = builtin.rule(builtin.name, types_)
        if "" not in key:
            _SIGNATURES[key] = signature
    return signature


def apply(context: Context, builtin: Builtin, operands: Sequence[Operand]) -> Value:
    """Emit a builtin on operands, for each element where they are tiles; return its result.

    Raises:
        KernelTypeError: it does not take operands of these types.
    """
    known = remembered(context, builtin, operands)
    if known is not None:
        return known
    args = [usable(context, o) for o in operands]
    if any_tile(args):
        return over(
            context, f"{builtin.operator or builtin.name}", args, lambda parts: [apply(context, builtin, parts)]
        )[0]
    if builtin.across and len(args) == 1 and isinstance(args[0], Value) and isinstance(args[0].type, Vector):
        each = (apply(context, builtin, [c]) for c in components(context, args[0]))
        return reduce(lambda a, b: apply(context, TABLE[builtin.across], (a, b)), each)
    wanted, result = _signature(builtin, _argument_types(builtin, args))
    values = [convert(context, a, t) for a, t in zip(args, wanted, strict=True)]
    return context.builder.one(builtin.name, values, result)


def extracted(context: Context, vector: Value, position: int | Value) -> Value:
    """Emit the reading of a component of a vector; a matrix's are counted row by row."""
    index = context.builder.const(position) if isinstance(position, int) else position
    return context.builder.one("extract", (vector, index), vector.type.dtype)  # type: ignore[union-attr]


def components(context: Context, value: Value) -> list[Value]:
    """Emit the components of a vector, a matrix's row by row; a number is returned alone."""
    if not isinstance(value.type, Vector):
        return [value]
    return [extracted(context, value, k) for k in range(value.type.length)]


def scalar_components(context: Context, value: Value) -> list[Value]:
    """Emit the numbers of a vector or matrix: its components, or the complex numbers that pairs of them are."""
    each = components(context, value)
    if not isinstance(value.type, Complex):
        return each
    return [joined(context, *pair) for pair in zip(each[::2], each[1::2], strict=True)]


def composed(context: Context, each: Sequence[Value], type: Vector) -> Value:
    """Emit a vector or matrix of this type from its numbers, row by row; complex ones are two components each."""
    return context.builder.one("vec", [c for n in each for c in components(context, n)], type)


def in_parts(context: Context, operand: Value | Literal, scalar: Scalar | None = None) -> tuple[Any, Any]:
    """Return the real and the imaginary parts: two numbers, or two vectors or matrices of floats.

    Args:
        scalar: the type that their floats get; None: they keep theirs, and literals are literals.
    """
    if isinstance(operand, Literal):
        both, parts = complex(operand.value), list[Any]()
        parts = [Literal(both.real), Literal(both.imag)]
    elif isinstance(operand.type, Complex):
        parts = each = components(context, operand)
        if operand.type.shape:
            parts = [composed(context, p, operand.type.real) for p in (each[::2], each[1::2])]
    else:
        parts = [operand, convert(context, Literal(0), operand.type)]
    if scalar is not None:
        own: Any = getattr(parts[0], "type", None)
        wanted = own.with_dtype(scalar) if isinstance(own, Vector) else scalar
        parts = [convert(context, p, wanted) for p in parts]
    return parts[0], parts[1]


def joined(context: Context, real: Value, imag: Value) -> Value:
    """Emit the complex number, vector or matrix of a real and an imaginary part, which are of one type."""
    pairs = zip(components(context, real), components(context, imag), strict=True)
    return context.builder.one("vec", [c for pair in pairs for c in pair], types.in_complex(real.type))


def joined_if(
    context: Context,
    condition: Value,
    blocks: Sequence[Block],
    pairs: Sequence[tuple[Operand, Operand]],
    types: Sequence[Type],
    names: Sequence[str] = (),
) -> tuple[Value, ...]:
    """Emit an `if` whose blocks end with what is joined behind it, and return that.

    Args:
        context: where.
        condition: chooses the first block.
        blocks: the operations of both sides, without an end.
        pairs: each operand at the end of both sides.
        types: those that they are converted to.
        names: labels of the results; empty for the operand's own.
    """
    done: list[Block] = []
    for side, block in enumerate(blocks):
        with context.builder.block() as opened:
            context.builder.extend(block.ops)
            context.builder.yield_(*(convert(context, p[side], t) for p, t in zip(pairs, types, strict=True)))
        done.append(opened.block)
    labels = [n or v.name for n, v in zip(names or [""] * len(types), done[0].yielded, strict=True)]
    return context.builder.emit("if", (condition,), types, None, done, labels).results


def truth(context: Context, operand: Operand) -> Value | bool:
    """Return the operand as a condition: a Python bool where it is known now, else a bool value.

    None is False, and an array True.

    Raises:
        KernelTypeError: it is no bool, number or array, or differs between the threads of a block.
    """
    if type(operand) is Value and operand.type is bool_:
        return operand
    if isinstance(operand, Static) and (operand.value is None or isinstance(operand.value, bool)):
        return bool(operand.value)
    if isinstance(operand, View) or (isinstance(operand, Value) and isinstance(operand.type, ArrayType)):
        return True  # an array that was passed, where None could have been
    operand = usable(context, uniform(context, operand, "A condition"))
    if isinstance(operand, Literal):
        return bool(operand.value) if operand.captured is None else materialise(context, operand, bool_)
    if operand.type == bool_:
        return operand
    if isinstance(operand.type, Complex) and not operand.type.shape:
        each = [apply(context, TABLE["ne"], (c, Literal(0))) for c in components(context, operand)]
        return apply(context, TABLE["or_"], each)
    if isinstance(operand.type, Scalar):
        zero = context.builder.const(0, operand.type)
        return context.builder.one("ne", (operand, zero), bool_)
    raise context.type_error(f"A condition must be a bool or a number; this is {operand.type!r}.")


Argument = TypeVar("Argument")


def bound(
    context: Context,
    name: str,
    parameters: Sequence[str],
    args: Sequence[Argument],
    keywords: Mapping[str, Argument],
    optional: Collection[str] = (),
) -> dict[str, Argument]:
    """Return the arguments of a call by the names of the parameters, in the order in which they are written.

    Args:
        context: of the call.
        name: that of the callee.
        parameters: their names, in order.
        args: the arguments without names.
        keywords: the arguments by name.
        optional: the parameters that a call may leave out.

    Raises:
        KernelTypeError: one is missing, given twice, or unknown, or there are too many.
    """
    if len(args) > len(parameters):
        takes = counted(len(parameters)) if parameters else "no arguments"
        raise context.type_error(f"{name}() takes {takes}; it got {len(args)}.")
    arguments = dict(zip(parameters, args, strict=False))
    for key, argument in keywords.items():
        if key in arguments or key not in parameters:
            what = "is given twice to" if key in arguments else "is not a parameter of"
            advice = f"Its parameters: {', '.join(parameters)}." if parameters else ""
            raise context.type_error(f"{key} {what} {name}().", advice)
        arguments[key] = argument
    for parameter in parameters:
        if parameter not in arguments and parameter not in optional:
            raise context.type_error(f"{name}() needs an argument for {parameter}.")
    return arguments


def nodes_by_name(context: Context, node: ast.Call, parameters: str) -> dict[str, ast.expr]:
    """Return the arguments of a call of a form as they are written, by name.

    Args:
        context: of the call.
        node: the call.
        parameters: the parameters in order, those that may be missing with `?`: `a shape offset? storage?`; those
            before a / cannot be given by name.

    Raises:
        KernelTypeError: the call has other arguments.
    """
    name, names = ast.unparse(node.func), parameters.split()
    unnamed = names[: names.index("/")] if "/" in names else []
    named = {k.arg: k.value for k in node.keywords if k.arg}
    if not named.keys().isdisjoint(p.rstrip("?") for p in unnamed):
        raise context.type_error(f"{name}() takes {counted(len(unnamed))} without names.")
    names = [p for p in names if p != "/"]
    optional = [p.rstrip("?") for p in names if p.endswith("?")]
    return bound(context, name, [p.rstrip("?") for p in names], node.args, named, optional)


def argument(context: Context, node: ast.expr) -> Operand:
    """Lower an argument; strings and None, which have no value in a kernel, are taken from the syntax."""
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str)):
        return Static(node.value, repr(node.value))
    return context.lower(node)


def lowered(context: Context, node: ast.Call, parameters: str) -> dict[str, Operand]:
    """Return the arguments of a call of a form as operands, by name; `parameters` as in `nodes_by_name`."""
    return {name: context.lower(n) for name, n in nodes_by_name(context, node, parameters).items()}
