"""The launch's words, which library functions read and write by name, and what follows from them: where a block is."""

from __future__ import annotations

from workbench.backends.llvm.functions import Long, Ptr, define, when
from workbench.backends.llvm.values import Number, Value, numbers
from workbench.backends.ptx.context import AT

LANES = 32
BLOCKS = 1 << 24
"""The number of thread blocks that entries of the race finder can tell apart; beyond it numbers wrap."""


def word(ctx: Value, name: str) -> Value:
    """Emit the address of a named word of the launch's context."""
    return ctx.at(8 * AT[name])


def get(ctx: Value, name: str) -> Value:
    """Emit a load of a named word."""
    return word(ctx, name).load("i64")


def put(ctx: Value, name: str, value: Value | Number) -> None:
    """Emit a store to a named word."""
    word(ctx, name).store(value if isinstance(value, Value) else ctx.like(value, "i64"))


def zeros(like: Value, elem: str = "i64") -> Value:
    """Return zeros in all lanes."""
    return like.like(0, elem).spread(LANES)


def lane_numbers(like: Value, elem: str, step: int = 1) -> Value:
    """Return the number of each lane, times `step`."""
    return Value(like.w, numbers(elem, LANES, step), elem, LANES)


@define
def block_of_grid(ctx: Ptr) -> Long:
    """Return the linear index of the block in the grid."""
    row = get(ctx, "CTAID_Z") * get(ctx, "NCTAID_Y") + get(ctx, "CTAID_Y")
    return row * get(ctx, "NCTAID_X") + get(ctx, "CTAID_X")


def releases_of(ctx: Value, block: Value) -> Value:
    """Emit the address of the number of releases that a block has made, an i32."""
    return (get(ctx, "RELEASES") + (block << 2)).pointer


@define
def released_to_all(ctx: Ptr) -> None:
    """Count a release of the block, if races in global memory are looked for."""
    with when(get(ctx, "RELEASES").is_("ne", 0)):
        releases_of(ctx, block_of_grid(ctx) & BLOCKS - 1).update("add", ctx.like(1, "i32"))


FUNCTIONS = [block_of_grid, released_to_all]
