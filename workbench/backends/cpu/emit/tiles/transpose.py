"""A tile turned over: square blocks of vectors, shuffled in registers.

Interleaving the first half of a block's vectors with the second one turns the bits of an element's place round by one;
after as many times as a row's place has bits, rows are columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.memory import wide_index
from workbench.backends.cpu.emit.tiles.matmul import arguments, define
from workbench.backends.cpu.emit.types import memory
from workbench.backends.llvm.functions import LlvmFunction, Long, Ptr, count
from workbench.ir.ops import SHAPE
from workbench.ir.values import Op
from workbench.limits import PREFETCH_BYTES
from workbench.types import Scalar, element

SIDES = (8, 4, 2, 1)
"""The sides of blocks. At 16 the shuffles are fewer per element, and the text is four times as long."""


def emit_transpose(emitter: Emitter, op: Op) -> None:
    """Emit a call of a function that transposes a tile.

    It is one for this shape, or for any shape of whole blocks if the operation gives the sides as operands.
    """
    to, source, *sides = op.operands
    rows, columns = op.attrs[SHAPE]
    windows_text = [arguments(emitter, emitter.operands(v), n) for v, n in ((to, rows), (source, columns))]
    scalar = element(to.type)
    function = _transposition(scalar, 0 if sides else rows, 0 if sides else columns)
    define(emitter, function)
    windows_text += [f"i64 {wide_index(emitter, v)}" for v in sides] if sides else ["i64 0", "i64 0"]
    emitter.writer.do(f"call void @{function.name}({', '.join(windows_text)})")


def _transposition(scalar: Scalar, rows: int, columns: int) -> LlvmFunction:
    """Return the function that transposes tiles of a shape.

    Args:
        scalar: the type of the elements.
        rows: of the tile; 0: the function's arguments say rows and columns, multiples of the largest side.
        columns: of the tile.
    """
    kind, align = memory(scalar), scalar.size

    def body(to: Ptr, wide: Long, source: Ptr, row: Long, height: Long, width: Long) -> None:
        parts = [
            (row.like(top), row.like(bottom), row.like(left), row.like(right), min(high, broad))
            for top, bottom, high in _parts(rows)
            for left, right, broad in _parts(columns)
        ] or [(row.like(0), height, row.like(0), width, SIDES[0])]
        for top, bottom, left, right, side in parts:
            with count(bottom, top, side) as i, count(right, left, side) as j:
                addresses = [source.at((i + r) * row + j, kind) for r in range(side)]
                for ahead in [] if rows else [address.at(PREFETCH_BYTES) for address in addresses]:
                    to.w.call("void", "llvm.prefetch.p0", str(ahead), "i32 0", "i32 3", "i32 1")
                block = [address.load(kind, side, align=align) for address in addresses]
                for _ in range(side.bit_length() - 1):
                    halves = zip(block[: side // 2], block[side // 2 :], strict=True)
                    block = [a.shuffled(lanes, b) for a, b in halves for lanes in _interleaved(side)]
                for c, column in enumerate(block):
                    to.at((j + c) * wide + i, kind).store(column, align=align)

    # Kernels have several calls of the one for any shape, of code that LLVM takes long for.
    name = f"wb.transpose.{scalar}.{rows}.{columns}" if rows else f"wb.transpose.{scalar}"
    attributes = "nounwind" if rows else "noinline nounwind"
    return LlvmFunction(body, name, head="define internal", attributes=attributes)


def _parts(count: int) -> Iterator[tuple[int, int, int]]:
    """Yield runs of blocks of one side that cover `count` rows or columns: first, end, and the side."""
    start = 0
    for side in SIDES:
        stop = start + (count - start) // side * side
        if stop > start:
            yield start, stop, side
        start = stop


def _interleaved(side: int) -> Iterator[list[int]]:
    """Yield the lanes of two vectors that interleave their first halves, then those of the second ones."""
    for first in (0, side // 2):
        yield [lane + more for lane in range(first, first + side // 2) for more in (0, side)]
