"""Funcs with gradients of their own, for code that does not differentiate: nothing but their bodies.

So the forward kernel, and its key, are the same whatever gradient somebody writes for a func.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from workbench.ir.attributes import ADJ_CUDA, ADJOINTS, CAPTURED, CUDA, REPLAY_CUDA
from workbench.ir.rewrite import Rewriter
from workbench.ir.values import DERIVE, GRADIENT, REPLAY, Block, Function, Op, closed_blocks, walk


def has_customs(function: Function) -> bool:
    """Return whether the function has a `custom` operation."""
    return "custom" in function.body.op_names


def without_customs(function: Function) -> Function:
    """Return the function with each `custom` replaced by its body, and without constants that only gradients use.

    One with CUDA text stays, without its gradients: the text is what the func is on CUDA. A function without `custom`s
    is returned as it is.
    """
    if not has_customs(function):
        return function
    body = Rewriter(_stripped).block(function.body)
    used = _captured(body)
    # A constant that only a gradient reads must not be in the forward key: changing it changes no forward code.
    theirs = {name for op in walk(function.body) for closed in closed_blocks(op) for name in _captured(closed)} - used
    return replace(function, body=body, captured=tuple(c for c in function.captured if c.name not in theirs))


def _captured(block: Block) -> set[str]:
    """Return the names of the captured constants in a block and in the blocks that are attributes in it."""
    names = {op.attrs[CAPTURED] for op in walk(block) if op.name == "const" and op.attrs.get(CAPTURED)}
    return names.union(*(_captured(closed) for op in walk(block) for closed in closed_blocks(op)))


def _stripped(on: Rewriter, op: Op) -> Iterable[Op] | None:
    """Return the body of a `custom`, or one with CUDA text without its gradients; None for another operation."""
    if op.name != "custom":
        return None
    if op.attrs.get(CUDA):
        return (on.inside(op.replace(attrs={**op.attrs, **_NO_GRADIENT})),)
    body = on.block(op.blocks[0])
    on.mapping.update(zip(op.results, body.yielded, strict=True))
    return body.ops[:-1]


_NO_GRADIENT = {
    **dict.fromkeys((GRADIENT, REPLAY, ADJ_CUDA, REPLAY_CUDA, DERIVE)),
    ADJOINTS: (),
}
