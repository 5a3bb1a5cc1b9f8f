"""The adjoint of an adjoint that keeps states: the adjoint of a tangent.

A kernel y = f(x) has the adjoint dx += Jᵀ dy. Of cotangents u of its result dx, the adjoint of that makes two things:
J u, for dy, and for x the derivative of dy · J u. The first is the kernel's tangent along u, the second is the adjoint
of this tangent. Neither runs anything backwards but loops that run forward in a kernel. So states are kept once more,
where the adjoint of kept states would be one of slots.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from workbench.autodiff.adjoint_signature import adjoint_names, adjoint_type
from workbench.autodiff.forward_mode import tangent
from workbench.autodiff.memory.aliasing import overwrites
from workbench.autodiff.reverse.cotangents import nothing
from workbench.autodiff.reverse_mode import adjoint
from workbench.ir.build import Builder
from workbench.ir.ops import ACCESSES, EFFECTS, OPAQUE, TILED
from workbench.ir.rewrite import Mapping, Rewriter, fresh
from workbench.ir.values import Block, Function, Op, Value, dtype_of, walk
from workbench.ir.verify import verify
from workbench.passes.pipeline import ADJOINT, TWICE, run
from workbench.types import ArrayType


def adjoint_of_adjoint(
    function: Function, checkpoints: int, stack: bool, numbers: bool, constant: frozenset[str]
) -> Function | None:
    """Return the adjoint of a kernel's adjoint, derived by way of the tangent; None if the kernel is not simple enough.

    It has the parameters that `adjoint` of the kernel's adjoint would have.

    Args:
        function: a kernel; see `_is_plain`.
        checkpoints: states of a loop that are kept at once.
        stack: every state of a short loop may be kept.
        numbers: compute the gradients of parameters that are no arrays.
        constant: names of parameters to whose adjoints the kernel's adjoint does not add.

    Raises:
        NotDifferentiable: the kernel has no tangent, or that has no adjoint.
    """
    kernel = run(TWICE, function)
    if not _is_plain(kernel):
        return None
    pushed = tangent(kernel)
    directions = frozenset(p.name for p in pushed.params[len(kernel.params) :])
    pulled = adjoint(pushed, numbers=numbers, checkpoints=checkpoints, constant=directions, stack=stack)

    # The adjoint's parameters, and beside each of floats (an adjoint, too) what is its cotangent.
    params = [fresh(p) for p in kernel.params]
    first = _new_adjoint_arrays(params)
    second = _new_adjoint_arrays((*params, *first.values()))
    builder, along, unseen = Builder(), list[Value](), set[Value]()
    for param, adjoints in first.items():
        unseen |= {second[adjoints]} if param.name in constant else set()
        is_array = isinstance(param.type, ArrayType)
        along.append(second[adjoints] if is_array else builder.load(second[adjoints], builder.const(0)))
    changed = {op.operands[0].name for op in walk(kernel.body) if op.name in EFFECTS}
    results = {p for p in params if p.name in changed}
    there = dict(zip(pushed.params, (*params, *along), strict=True))
    ops = [*_without(builder.body(), {}, (), unseen), *_without(pushed.body, there, results, unseen)]
    # The tangent's adjoint looks at the cotangents of tangents; a result has none of its own.
    back = (*params, *along, *(second[p] for p in first), *first.values())
    unseen |= {second[p] for p in first if p in results}
    ops += _without(pulled.body, dict(zip(pulled.params, back, strict=True)), {*first.values(), *unseen}, unseen)
    every = (*params, *first.values(), *second.values())
    result = replace(kernel, name=f"{function.name}_adjoint_adjoint", params=every, body=Block((), tuple(ops)))
    return verify(run(ADJOINT, result))


def _is_plain(function: Function) -> bool:
    """Return whether a kernel is simple enough for the adjoint of its adjoint to be that of its tangent.

    Each array is accessed in one way (read, stored to, or added to), no element is stored to twice, nothing uses what
    an addition returns, and there are no tiles and no code of the user's own.
    """
    kinds: dict[Value, set[str]] = {}
    used = {v for op in walk(function.body) for v in op.operands}
    for op in walk(function.body):
        if op.name in OPAQUE or op.name in TILED or (op.name in EFFECTS and not used.isdisjoint(op.results)):
            return False
        if op.name in ACCESSES:
            kinds.setdefault(op.operands[0], set()).add(op.name)
    return not function.block_dim and all(len(k) == 1 for k in kinds.values()) and not overwrites(function, False)


def _new_adjoint_arrays(params: Sequence[Value]) -> dict[Value, Value]:
    """Return a new adjoint array for each parameter with a float type."""
    names = adjoint_names(params)
    return {p: Value(adjoint_type(p.type), names[p.name]) for p in params if p.name in names}


def _without(block: Block, mapping: Mapping, unchanged: Collection[Value], unseen: Collection[Value]) -> tuple[Op, ...]:
    """Return a copy of a block's operations, without changes of some arrays.

    Args:
        block: the block.
        mapping: its values to others.
        unchanged: arrays that are not changed.
        unseen: arrays of which every element is read as 0.
    """

    def change(on: Rewriter, op: Op) -> Sequence[Op] | None:
        if op.name in EFFECTS and op.operands[0] in unchanged:
            return ()
        if op.name == "load" and op.operands[0] in unseen:
            builder = Builder()
            on.mapping[op.result] = nothing(builder, dtype_of(op.operands[0]))
            return builder.body().ops
        return None

    return Rewriter(change, dict(mapping)).block(block).ops
