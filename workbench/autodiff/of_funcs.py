"""The derivatives of one number by the numbers it is computed from, as operations: what `grad(f)` in a kernel becomes.

Each is the tangent along one number, in forward mode; what they share is found by the passes behind.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.autodiff.analysis.activity import influenced
from workbench.autodiff.forward_mode import Walk
from workbench.autodiff.reverse.emitter import Emitter
from workbench.ir.build import Builder
from workbench.ir.rewrite import copy_block
from workbench.ir.values import Block, Function, Op, Value, scalar_or_vector_of, walk
from workbench.passes.pipeline import LOWERED, run
from workbench.types import ArrayType, Vector, element


def derivatives(name: str, block: Block, inputs: Sequence[Value]) -> tuple[list[Op], list[Value]]:
    """Return operations that compute the derivatives of a block's only result, a float; and the derivatives.

    These are in the order of `inputs`, each with the type of its input.

    Args:
        name: the func's, for messages.
        block: its operations; they may use values from outside, which are taken to be constant.
        inputs: float numbers and vectors that the block uses.

    Raises:
        NotDifferentiable: something on the way has no derivative.
    """
    value = block.yielded[0]
    out = Value(ArrayType(scalar_or_vector_of(value)), "out")
    builder = Builder()
    builder.location = block.ops[-1].location
    builder.extend(block.ops[:-1])
    builder.store(out, builder.const(0), value)
    body = builder.body()
    ops = walk(body)
    inside = {v for op in ops for v in (*op.results, *(p for b in op.blocks for p in b.params))}
    outside = dict.fromkeys(v for op in ops for v in op.operands if v not in inside)
    params = tuple(dict.fromkeys((*inputs, *outside)))
    function = run(LOWERED, Function(name, params, body))
    emitted_ops: list[Op] = []
    return emitted_ops, [_by_input(function, variable, emitted_ops) for variable in inputs]


def _by_input(function: Function, variable: Value, ops: list[Op]) -> Value:
    """Append the operations of the derivative by an input to `ops`; return it: a vector if the input is one."""
    kind = variable.type
    if not isinstance(kind, Vector):
        return _directional(function, variable, None, ops)
    parts = [_directional(function, variable, k, ops) for k in range(kind.length)]
    builder = Builder()
    builder.location = function.body.ops[-1].location
    vector = builder.one("vec", parts, kind)
    ops += builder.body().ops
    return vector


def _directional(function: Function, variable: Value, component: int | None, ops: list[Op]) -> Value:
    """Append the operations of the derivative along one number to `ops`; return it, in the number's type.

    Args:
        function: computes the result.
        variable: the input.
        component: the number's position in a vector; None: the input is a number.
        ops: receives the operations.
    """
    body = copy_block(function.body, {})
    emitter = Emitter()
    emitter.location = function.body.ops[-1].location
    one = emitter.const(1.0, element(variable.type))
    if component is not None:
        assert isinstance(variable.type, Vector)
        none = emitter.const(0.0, element(variable.type))
        one = emitter.one("vec", [one if k == component else none for k in range(variable.type.length)], variable.type)
    store = body.ops[-1]
    forward = Walk(Function(function.name, function.params, body), influenced(body, (variable,)))
    forward.builder, forward.arrays = emitter, {}
    forward.env = {p: p for p in function.params}
    forward.tangents = {variable: one}
    forward.ops(body.ops[:-1])
    emitter.location = store.location
    tangent = emitter.cast(forward.tangent(store.operands[-1]), element(variable.type))
    ops += emitter.body().ops
    return tangent
