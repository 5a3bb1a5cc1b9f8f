"""Precision: a kernel's 16-bit floats computed in float32, all its floats in float64, and conversions that LLVM spoils.

**16-bit floats** (`halves`). Their arithmetic is done in float32 and rounded after each operation. That is what the
interpreter does (`builtins/declaration/meaning.py`), so all backends agree to the bit: with 24 bits against 11 or 8, a
sum, difference, product, quotient or square root rounded twice is the one rounded once (S. Figueroa, "When is double
rounding innocuous?", 1995). What is left of the narrow types is loads, stores, moves and casts to and from float32 (and
from float64), so a backend needs no arithmetic for them.

**All in float64** (`widen`). Such a kernel is for derivatives that are compared with difference quotients, for which
float32 is too coarse.

**Conversions** (`compared_types`, `may_lose_sign`). Of `0.0 if a < 0 else float64(a)` LLVM, be it the CPU's or the one
in NVRTC, makes the conversion of a choice between 0 and a (llvm/llvm-project#157254), and turns `<` into `<=` on the
way: of -0.0 that makes +0.0. So if a kernel compares numbers of a type by order, backends convert them in a way that
LLVM does not look through.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from workbench.builtins import TABLE
from workbench.ir.build import Builder, Replacements, replace_body
from workbench.ir.values import Block, Function, Op, Value, scalar_or_vector_of, walk
from workbench.passes.dce import prune
from workbench.passes.fold import fold
from workbench.tiles import Tile, contents
from workbench.types import ArrayType, Kind, Scalar, Slots, Type, Vector, element, float32, float64, in_float32, is_half

# Builtins that round nothing.
MOVES = frozenset({"where"})


def halves(function: Function) -> Function:
    """Return the function with all arithmetic on 16-bit floats in float32; the function itself if it has none."""
    types = {id(v.type): v.type for op in walk(function.body) for v in (*op.operands, *op.results)}
    if not any(map(is_half, types.values())):
        return function
    return prune(fold(replace_body(function, _Halves().block(function.body))))


class _Halves:
    """Rewrites a function so that its arithmetic on 16-bit floats is in float32."""

    def __init__(self) -> None:
        self.builder = Builder()

    def block(self, block: Block) -> Block:
        """Return the block with its arithmetic on 16-bit floats in float32."""
        with self.builder.block(block.params) as opened:
            for op in block.ops:
                self.builder.location = op.location
                self.op(op)
        return opened.block

    def op(self, op: Op) -> None:
        """Emit an operation; a builtin on 16-bit floats with widened operands, and its result rounded back."""
        narrow = any(is_half(v.type) for v in (*op.operands, *op.results))
        if narrow and op.name in TABLE and op.name not in MOVES:
            operands = tuple(self.widened(v) for v in op.operands)
            type = scalar_or_vector_of(op.result)
            if not is_half(type):
                self.builder.append(op.replace(operands))
                return
            exact = self.builder.one(op.name, operands, in_float32(type), op.attrs)
            self.builder.append(Op("cast", (exact,), op.results, {}, (), op.location))
        elif narrow and op.name == "cast":
            self.cast(op)
        else:
            blocks = tuple(self.block(b) for b in op.blocks)
            self.builder.append(op.replace(blocks=blocks))

    def widened(self, value: Value) -> Value:
        """Emit a conversion of 16-bit floats to float32; other values are returned as they are."""
        return self.builder.cast(value, in_float32(contents(value.type))) if is_half(value.type) else value

    def cast(self, op: Op) -> None:
        """Emit a conversion from or to 16-bit floats by way of float32; from float64 in one step, which rounds once."""
        (value,), target = op.operands, op.result.type
        if value.type != target:
            value = self.widened(value)
        if is_half(target) and _scalar(value) not in (float32, float64):
            value = self.builder.cast(value, _like(value, float32))
        self.builder.append(Op("cast", (value,), op.results, {}, (), op.location))


def _scalar(value: Value) -> Scalar:
    """Return the scalar type of a value, or of its elements or components."""
    return element(value.type)


def _like(value: Value, scalar: Scalar) -> Scalar | Vector:
    """Return the type of a value with `scalar` as its element: a vector of it, or itself."""
    return value.type.with_dtype(scalar) if isinstance(value.type, Vector) else scalar


def widen(function: Function) -> Function:
    """Return the function with every float a float64; literals have the value that was written, unrounded."""
    mapping: Replacements = {}
    params = tuple(_value(p, mapping) for p in function.params)
    body = _block(function.body, mapping)
    return msgspec.structs.replace(function, params=params, body=body)


def wide_type(type: Type) -> Type:
    """Return the type with float64 in the place of narrower floats."""
    if isinstance(type, Scalar):
        return float64 if type.kind is Kind.FLOAT else type
    if isinstance(type, Vector):
        return type.with_dtype(float64) if type.dtype.kind is Kind.FLOAT else type
    if isinstance(type, (Slots, Tile)):
        return replace(type, dtype=contents(wide_type(type.dtype)))
    if isinstance(type, ArrayType):
        return ArrayType(contents(wide_type(type.dtype)), type.ndim, wide=type.wide)
    return type


def _value(value: Value, mapping: Replacements) -> Value:
    """Return a new value of the wide type, and map the old one to it."""
    mapping[value] = Value(wide_type(value.type), value.name)
    return mapping[value]


def _block(block: Block, mapping: Replacements) -> Block:
    """Return a copy of a block with wide types; `mapping` gets its parameters and results."""
    params = tuple(_value(p, mapping) for p in block.params)
    return Block(params, tuple(_op(op, mapping) for op in block.ops))


def _op(op: Op, mapping: Replacements) -> Op:
    """Return a copy of an operation with wide types, also in attributes; `mapping` gets its results."""
    operands = tuple(mapping[v] for v in op.operands)
    blocks = tuple(_block(b, mapping) for b in op.blocks)
    results = tuple(_value(v, mapping) for v in op.results)
    attrs: dict[str, object] = {k: _block(v, {}) if isinstance(v, Block) else v for k, v in op.attrs.items()}
    return op.replace(operands, results=results, attrs=attrs, blocks=blocks)


_ORDERED = frozenset({"lt", "le", "gt", "ge"})


def compared_types(function: Function) -> frozenset[Scalar]:
    """Return the scalar types of which the function compares numbers with `<`, `<=`, `>` or `>=`."""
    return frozenset(element(op.operands[0].type) for op in walk(function.body) if op.name in _ORDERED)


def may_lose_sign(source: Scalar, target: Scalar, compared: frozenset[Scalar]) -> bool:
    """Return whether LLVM may lose the sign of a zero in a conversion between float32 and float64.

    Args:
        source: the type converted from.
        target: the type converted to.
        compared: the types of which the function compares numbers by order; LLVM errs only if `source` is one.
    """
    return source in compared and {source, target} == {float32, float64}
