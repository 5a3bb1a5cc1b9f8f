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
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.passes.pipeline import LOWERED, run
from workbench.types import ArrayType, Vector, element


def derivatives(name: str, block: Block, inputs: Sequence[Value]) -> tuple[list[Op], list[Value]]:
    """Return operations for the derivatives of what a block yields, one float, and the derivative by each input.

    Args:
        name: the func's, for messages.
        block: its operations; they may use values from outside, which are taken to be constant.
        inputs: float numbers and vectors that the block uses.

    Raises:
        NotDifferentiable: something on the way has no derivative.
    """
    value = block.yielded[0]
    out = Value(ArrayType(value.type), "out")
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
    made: list[Op] = []
    return made, [_by_input(function, given, made) for given in inputs]


def _by_input(function: Function, given: Value, ops: list[Op]) -> Value:
    """Add the operations of the derivatives by each component of an input; return them together."""
    kind = given.type
    if not isinstance(kind, Vector):
        return _along(function, given, None, ops)
    parts = [_along(function, given, k, ops) for k in range(kind.length)]
    builder = Builder()
    builder.location = function.body.ops[-1].location
    whole = builder.one("vec", parts, kind)
    ops += builder.body().ops
    return whole


def _along(function: Function, given: Value, component: int | None, ops: list[Op]) -> Value:
    """Add the operations of the derivative along one number; return it, in the number's type."""
    body = copy_block(function.body, {})
    emitter = Emitter()
    emitter.location = function.body.ops[-1].location
    one = emitter.const(1.0, element(given.type))
    if component is not None:
        assert isinstance(given.type, Vector)
        none = emitter.const(0.0, element(given.type))
        one = emitter.one("vec", [one if k == component else none for k in range(given.type.length)], given.type)
    store = body.ops[-1]
    forward = Walk(Function(function.name, function.params, body), influenced(body, (given,)))
    forward.builder, forward.arrays = emitter, {}
    forward.env = {p: p for p in function.params}
    forward.tangents = {given: one}
    forward.ops(body.ops[:-1])
    emitter.location = store.location
    tangent = emitter.cast(forward.tangent(store.operands[-1]), element(given.type))
    ops += emitter.body().ops
    return tangent
