"""The same kernel in float64: where a derivative is compared with difference quotients, float32 is too coarse."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from workbench.ir.rewrite import Mapping
from workbench.ir.values import Block, Function, Op, Value
from workbench.tiles import Tile, contents
from workbench.types import ArrayType, Kind, Scalar, Slots, Type, Vector, float64


def widen(function: Function) -> Function:
    """Return the function with every float a float64; literals have the value that was written, unrounded."""
    mapping: Mapping = {}
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


def _value(value: Value, mapping: Mapping) -> Value:
    """Return a new value of the wide type, and map the old one to it."""
    mapping[value] = Value(wide_type(value.type), value.name)
    return mapping[value]


def _block(block: Block, mapping: Mapping) -> Block:
    """Return a copy of a block with wide types; `mapping` gets its parameters and results."""
    params = tuple(_value(p, mapping) for p in block.params)
    return Block(params, tuple(_op(op, mapping) for op in block.ops))


def _op(op: Op, mapping: Mapping) -> Op:
    """Return a copy of an operation with wide types, also in attributes; `mapping` gets its results."""
    operands = tuple(mapping[v] for v in op.operands)
    blocks = tuple(_block(b, mapping) for b in op.blocks)
    results = tuple(_value(v, mapping) for v in op.results)
    attrs: dict[str, object] = {k: _block(v, {}) if isinstance(v, Block) else v for k, v in op.attrs.items()}
    return op.replace(operands, results=results, attrs=attrs, blocks=blocks)
