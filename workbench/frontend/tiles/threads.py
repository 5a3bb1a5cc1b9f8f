"""Blocks and the threads in them: what `tid()` returns in a kernel of tiles, and `block_dim()`."""

from __future__ import annotations

import ast
from math import prod

from workbench.builtins.declaration.declare import TABLE
from workbench.frontend.state.coerce import apply, nodes_by_name, stored
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand
from workbench.frontend.tiles.arguments import tiling_of
from workbench.ir.ops import AXIS, LEVEL
from workbench.ir.values import Value
from workbench.types import int32


def indices(context: Context, count: int) -> tuple[Value, ...]:
    """Lower `tid()` asked for so many indices: those of the block, and the thread in it where there is one more.

    Raises:
        KernelTypeError: the launch has other dimensions.
    """
    tiling = context.shared.tiling
    assert tiling is not None
    if context.shared.lifted:
        raise context.type_error("A mapped func has no tid().", "Pass the index: tile_map(f, t, index).")
    # Launched over threads: `dim` counts threads, numbered block · block_dim + lane.
    if tiling.flat:
        ndim = len(tiling.threads) or 1
        if count != ndim:
            message = f"Launched over threads of {ndim} dimension{'s' * (ndim > 1)}, tid() gives as many indices"
            advice = "Give dim as many sizes, or count blocks: wb.launch_tiled(kernel, dim=[…], …)."
            raise context.type_error(f"{message}; this asks for {count}.", advice)
        context.shared.launch_ndim = 1
        return _of_threads(context, tiling.block_dim, tiling.threads)
    # Without a launch (`%inspect`, a cell's check) nothing says how many dimensions there are: all are taken to be
    # blocks'.
    ndim = count if tiling.ndim is None else tiling.ndim
    if count not in (ndim, ndim + 1):
        raise context.type_error(
            f"tid() gives {ndim} block indices in a launch of {ndim} dimensions, and the thread's "
            f"place in its block as one more; this asks for {count}.",
            "Give dim as many sizes as there are indices.",
        )
    context.shared.launch_ndim = ndim
    blocks = tuple(_block(context, axis) for axis in range(ndim))
    return blocks if count == ndim else (*blocks, lane(context, tiling.block_dim))


def _block(context: Context, axis: int) -> Value:
    """Emit the index of the block along an axis of the launch, an int32."""
    return context.builder.one("tid", (), int32, {AXIS: axis, LEVEL: "block"})


def lane(context: Context, block_dim: int) -> Value:
    """Return the thread's index in its block, a per-thread value; in a block of one thread the number 0."""
    if block_dim == 1:
        return context.builder.const(0, int32)
    (lanes,) = context.builder.tile_map((block_dim,), (), lambda at, elements: [at[0]])
    # So `x[lane]` has no test for an index from the end.
    context.shared.non_negative.add(lanes)
    return stored(lanes, "thread")


def _of_threads(context: Context, block_dim: int, sizes: tuple[int, ...]) -> tuple[Value, ...]:
    """Emit the indices of a thread in a launch over threads of these sizes (none: one dimension).

    Where the last dimensions hold whole blocks, those before them have one index for the whole block: with
    `dim=(rows, block_dim)`, `row, lane = tid()` gives a row that may choose what a tile is loaded from.
    """
    if block_dim == 1:
        return _unravelled(context, _block(context, 0), sizes[1:])
    shared = max((k for k in range(1, len(sizes)) if prod(sizes[k:]) % block_dim == 0), default=0)
    block: Value | Literal = _block(context, 0)
    before: tuple[Value, ...] = ()
    if shared:
        count = Literal(prod(sizes[shared:]) // block_dim)
        slab = block if count.value == 1 else apply(context, TABLE["floordiv"], (block, count))
        before = _unravelled(context, slab, sizes[1:shared])
        block = Literal(0) if count.value == 1 else apply(context, TABLE["mod"], (block, count))
    if isinstance(block, Literal):
        return *before, *_unravelled(context, lane(context, block_dim), sizes[shared + 1 :])
    first = apply(context, TABLE["mul"], (block, Literal(block_dim)))
    (numbers,) = context.builder.tile_map(
        (block_dim,), (), lambda at, elements: [apply(context, TABLE["add"], (first, at[0]))]
    )
    context.shared.non_negative.add(numbers)
    return *before, *_unravelled(context, stored(numbers, "thread"), sizes[shared + 1 :])


def _unravelled(context: Context, number: Value, sizes: tuple[int, ...]) -> tuple[Value, ...]:
    """Return the indices of a thread by its number, in a launch whose dimensions after the first have these sizes."""
    indices: list[Value] = []
    for size in reversed(sizes):
        indices.insert(0, apply(context, TABLE["mod"], (number, Literal(size))))
        number = apply(context, TABLE["floordiv"], (number, Literal(size)))
    indices.insert(0, number)
    context.shared.non_negative.update(indices)
    return tuple(indices)


def _block_dim(context: Context, node: ast.Call) -> Operand:
    """Lower `block_dim()` to the number of threads in a block, a literal.

    Raises:
        KernelTypeError: it has arguments.
    """
    nodes_by_name(context, node, "")
    tiling = context.shared.tiling
    return Literal((tiling or tiling_of(context)).block_dim)


FORMS = {"block_dim": _block_dim}
