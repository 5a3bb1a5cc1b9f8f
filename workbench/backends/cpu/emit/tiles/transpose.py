"""A tile turned over: square blocks of vectors, shuffled in registers.

Interleaving the first half of a block's vectors with the second one turns the bits of an element's place round by one;
after as many times as a row's place has bits, rows are columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.memory import wide_index
from workbench.backends.cpu.emit.tiles.matmul import arguments
from workbench.backends.cpu.emit.types import memory
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
    if sides:
        name = f"wb.transpose.{scalar}"
        emitter.writer.declare("@llvm.prefetch.p0", "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        text = _CodeWriter(scalar).function(name)
        windows_text += [f"i64 {wide_index(emitter, v)}" for v in sides]
    else:
        name = f"wb.transpose.{scalar}.{rows}.{columns}"
        text = _CodeWriter(scalar).function(name, rows, columns)
    emitter.writer.declare(f"@{name}", "\n".join(text))
    emitter.writer.do(f"call void @{name}({', '.join(windows_text)})")


def _parts(count: int) -> Iterator[tuple[int, int, int]]:
    """Yield runs of blocks of one side that cover `count` rows or columns: first, end, and the side."""
    start = 0
    for side in SIDES:
        stop = start + (count - start) // side * side
        if stop > start:
            yield start, stop, side
        start = stop


class _CodeWriter:
    """Writes the LLVM IR lines of a function that transposes a tile."""

    def __init__(self, scalar: Scalar) -> None:
        self.scalar, self.align = memory(scalar), scalar.size
        self.lines: list[str] = []
        self.count = self.ahead = 0

    def function(self, name: str, rows: int = 0, columns: int = 0) -> list[str]:
        """Return all lines of the function.

        Args:
            name: its symbol.
            rows: of the tile; 0: the function takes rows and columns as arguments, which must be multiples of the
                largest side.
            columns: of the tile.
        """
        parameters, attributes = "ptr noalias %to, i64 %wide, ptr noalias readonly %from, i64 %row", "nounwind"
        if rows:
            parts = [(r, c) for r in _parts(rows) for c in _parts(columns)]
        else:
            # Kernels have several calls, of code that LLVM takes long for.
            parameters, attributes = f"{parameters}, i64 %rows, i64 %columns", "noinline nounwind"
            self.ahead = PREFETCH_BYTES
            parts = [((0, "%rows", SIDES[0]), (0, "%columns", SIDES[0]))]
        self.lines = [f"define internal void @{name}({parameters}) {attributes} {{", "start:"]
        label = "start"
        if not rows:
            empty = self.emit("icmp eq i64 0, %columns"), self.emit("icmp eq i64 0, %rows")
            self.lines += [f"  br i1 {self.emit('or i1 {}, {}'.format(*empty))}, label %none, label %some"]
            self.lines += ["none:", "  ret void", "some:"]
            label = "some"
        for (top, bottom, high), (left, right, wide) in parts:
            label = self.loops((top, bottom), (left, right), min(high, wide), label)
        return [*self.lines, "  ret void", "}"]

    def emit(self, line: str) -> str:
        """Write an instruction; return the register of its result."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {line}")
        return f"%v{self.count}"

    def loops(self, rows: tuple[int, int | str], columns: tuple[int, int | str], side: int, before: str) -> str:
        """Emit loops over all blocks of one side in a range of rows and columns; return the label after them."""
        self.count += 1
        i, j, end, after = (f"{name}{self.count}" for name in ("i", "j", "end", "after"))
        self.lines += [
            f"  br label %{i}.head",
            f"{i}.head:",
            f"  %{i} = phi i64 [ {rows[0]}, %{before} ], [ %{i}.next, %{end} ]",
            f"  br label %{j}.head",
            f"{j}.head:",
            f"  %{j} = phi i64 [ {columns[0]}, %{i}.head ], [ %{j}.next, %{j}.head ]",
        ]
        self.block(f"%{i}", f"%{j}", side)
        for index, label, stop, then in ((j, f"{j}.head", columns[1], end), (i, f"{i}.head", rows[1], after)):
            self.lines.append(f"  %{index}.next = add nuw nsw i64 %{index}, {side}")
            more = self.emit(f"icmp slt i64 %{index}.next, {stop}")
            self.lines += [f"  br i1 {more}, label %{label}, label %{then}", f"{then}:"]
        return after

    def block(self, i: str, j: str, side: int) -> None:
        """Emit the transposition of one block, whose first row is `i` and first column `j`."""
        kind, size = f"<{side} x {self.scalar}>", f"getelementptr inbounds {self.scalar}, ptr"
        rows_loaded: list[str] = []
        for r in range(side):
            start = self.emit(f"mul nuw nsw i64 {self.emit(f'add nuw nsw i64 {i}, {r}')}, %row")
            address = self.emit(f"{size} %from, i64 {self.emit(f'add nuw nsw i64 {start}, {j}')}")
            if self.ahead:
                ahead = self.emit(f"getelementptr i8, ptr {address}, i64 {self.ahead}")
                self.lines.append(f"  call void @llvm.prefetch.p0(ptr {ahead}, i32 0, i32 3, i32 1)")
            rows_loaded.append(self.emit(f"load {kind}, ptr {address}, align {self.align}"))
        for _ in range(side.bit_length() - 1):
            rows_loaded = [
                self.emit(f"shufflevector {kind} {a}, {kind} {b}, <{side} x i32> <{lanes}>")
                for a, b in zip(rows_loaded[: side // 2], rows_loaded[side // 2 :], strict=True)
                for lanes in _interleaved(side)
            ]
        for c, vector in enumerate(rows_loaded):
            start = self.emit(f"mul nuw nsw i64 {self.emit(f'add nuw nsw i64 {j}, {c}')}, %wide")
            address = self.emit(f"{size} %to, i64 {self.emit(f'add nuw nsw i64 {start}, {i}')}")
            self.lines.append(f"  store {kind} {vector}, ptr {address}, align {self.align}")


def _interleaved(side: int) -> Iterator[str]:
    """Yield two shuffle masks: the first halves of two vectors in turns, then the second halves."""
    for first in (0, side // 2):
        yield ", ".join(f"i32 {lane + more}" for lane in range(first, first + side // 2) for more in (0, side))
