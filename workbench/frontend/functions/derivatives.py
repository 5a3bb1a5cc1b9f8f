"""`grad(f)(x, y)` in a kernel: the derivatives of a func's number by the numbers and vectors it is called with.

The func is lowered for parameters of its own, and what differentiates it, which lives on another floor, writes down the
operations of its tangents: one for each number it depends on. So a derivative is code like any other, with
derivatives of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from workbench.builtins.declaration.declare import Form
from workbench.frontend.names.python_names import as_builtin
from workbench.frontend.state.coerce import describe, materialise
from workbench.frontend.state.context import Context, Expression
from workbench.frontend.state.operands import Literal, Operand, Static
from workbench.ir.ops import EFFECTS
from workbench.ir.rewrite import Rewriter
from workbench.ir.values import Block, Op, Value, walk
from workbench.types import ArrayType, Scalar, Vector, is_float

Derive: TypeAlias = Callable[[str, Block, Sequence[Value]], tuple[Sequence[Op], Sequence[Value]]]
"""From a func's name, its operations (which yield one float) and the inputs to the operations of the derivatives, and
one derivative by each input."""
DERIVE: list[Derive] = []
"""The function that differentiates a func: the floor above sets it when it is imported."""


class Derivative(msgspec.Struct, frozen=True):
    """Represents `grad(f)`, which is called or given a local name; `func` is f, a func or a builtin."""

    func: Static


def of_func(context: Context, node: ast.Call, expression: Expression) -> Operand:
    """Lower `grad(f)`, which is known at compile time, and can be called or given a local name.

    Raises:
        KernelTypeError: f is neither a func nor a builtin.
    """
    func = expression(context, node.args[0]) if len(node.args) == 1 and not node.keywords else None
    value = func.value if isinstance(func, Static) else None
    is_form = isinstance(value, Form) and value.body is None
    if not (hasattr(value, "__wb_definitions__") or as_builtin(value) or isinstance(value, Form)) or is_form:
        message = "grad() takes a func or a builtin in a kernel, and is called with that one's arguments: grad(f)(x)."
        raise context.type_error(message)
    assert isinstance(func, Static)
    return Static(Derivative(func), f"grad({func.path})")


def call(context: Context, path: str, args: Sequence[Operand], apply: Callable[[list[Operand]], Operand]) -> Operand:
    """Emit the derivative of a func by the one float or vector among the arguments, or by each of several in a tuple.

    Args:
        context: of the caller.
        path: the func as the user wrote it.
        args: what it is called with.
        apply: lowers a call of the func.

    Raises:
        KernelTypeError: no argument is a float, the result is not one float, or the func changes arrays.
    """
    builder = context.builder
    actual_args = [builder.strong(materialise(context, a)) if isinstance(a, (Value, Literal)) else a for a in args]
    floats = [k for k, v in enumerate(actual_args) if isinstance(v, Value) and _is_number(v)]
    if not floats:
        raise context.type_error(f"grad({path})() takes at least one float or vector of floats.")
    inputs = {k: Value(v.type, v.name) for k, v in enumerate(actual_args) if k in floats and isinstance(v, Value)}
    location = builder.location
    with builder.block() as opened:
        result = apply([inputs.get(k, v) for k, v in enumerate(actual_args)])
        value = builder.strong(materialise(context, result))
        if not isinstance(value.type, Scalar) or not is_float(value.type):
            raise context.type_error(f"grad({path}) needs one float of {path}; this is {describe(result)}.")
        builder.yield_(value)
    if any(op.name in EFFECTS for op in walk(opened.block)):
        raise context.type_error(f"grad({path}): {path} changes an array.", "Take grad() of what it adds.")
    builder.location = location
    (derive,) = DERIVE
    ops, by_input = derive(path, opened.block, [*inputs.values()])
    actual = {inputs[k]: actual_args[k] for k in floats}
    mapping = {param: v for param, v in actual.items() if isinstance(v, Value)}
    builder.extend(Rewriter(lambda rewriter, op: None, mapping).block(Block((), tuple(ops))).ops)
    results = [mapping.get(v, v) for v in by_input]
    return tuple(results) if len(results) > 1 else results[0]


def _is_number(value: Value) -> bool:
    """Return whether a value is a float scalar, or a vector or matrix of floats."""
    return isinstance(value.type, (Scalar, Vector)) and not isinstance(value.type, ArrayType) and is_float(value.type)
