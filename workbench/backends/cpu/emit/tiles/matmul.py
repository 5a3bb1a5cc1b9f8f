"""The product of two tiles as a function of its own: accumulators stay in registers.

A block of the result, some rows by two vectors, is summed over all of k before it is written: for each k two vectors of
b are loaded and multiplied by as many numbers of a as there are rows. Sizes are known, so what a block does not divide
is done by smaller ones and nothing is masked. Tiles fit the nearest caches, so nothing is packed; operands may lie in
an array, with its rows further apart (`window`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.memory import data, element_addresses, size, stride
from workbench.backends.cpu.emit.types import literal, register, width
from workbench.ir.ops import ACCUMULATE, AXES, SHAPE, TRANSPOSE_A
from workbench.ir.values import Op, Value, array_of
from workbench.limits import MATMUL_VECTORS
from workbench.types import Scalar, element

# Rows of a block, by bits of a vector: 2 × rows accumulators and two vectors of b fit 32 registers of 512, 16 of 256.
ROWS = {512: 8, 256: 6, 128: 6}

PARAMETERS = (
    "ptr noalias %c, i64 %c.row",
    "ptr noalias readonly %a, i64 %a.row",
    "ptr noalias readonly %b, i64 %b.row",
)


class Shape(msgspec.Struct, frozen=True):
    """A function that multiplies tiles: c[m, n] = a[m, k] b[k, n].

    Attributes:
        m: rows of c.
        n: columns of c.
        k: the length of the sums.
        scalar: the type of the elements.
        transposed: a is stored as k × m.
        accumulate: the product is added to c.
        array: c may lie in an array.
    """

    m: int
    n: int
    k: int
    scalar: Scalar
    transposed: bool
    accumulate: bool
    array: bool

    @property
    def name(self) -> str:
        """The LLVM symbol of the function."""
        marks = f"{'.t' if self.transposed else ''}{'.acc' if self.accumulate else ''}{'.array' if self.array else ''}"
        return f"wb.matmul.{self.scalar}.{self.m}.{self.n}.{self.k}{marks}"


def emit_matmul(emitter: Emitter, op: Op) -> None:
    """Emit a call of the function that multiplies tiles of this shape."""
    c, a, b = (emitter.operands(v) for v in op.operands)
    _call(emitter, op, (c, a, b), op.attrs[ACCUMULATE])


def emit_add_product(emitter: Emitter, op: Op) -> None:
    """Emit the addition of a product to a tile in slots, or to part of an array, as a condition says when running."""
    *_, slots, condition, a, b = op.operands
    total = window(emitter, op, slots, condition)
    _call(emitter, op, (total, emitter.operands(a), emitter.operands(b)), accumulate=True)


def _call(emitter: Emitter, op: Op, tiles: Sequence[Sequence[str]], accumulate: bool) -> None:
    """Emit a call of the function that multiplies tiles, and define it if it is new.

    Args:
        emitter: its block is open.
        op: the product, whose attributes have the shape.
        tiles: the result or accumulator and both factors: each the operands of a tile in slots or in an array.
        accumulate: whether the product is added to what the first tile holds.
    """
    m, n, k = op.attrs[SHAPE]
    shape = Shape(m, n, k, element(op.operands[-1].type), op.attrs[TRANSPOSE_A], accumulate, len(tiles[0]) > 1)
    scalar = register(shape.scalar)
    maths = emitter.maths
    bits, fused = maths.bits, maths.formulas and maths.fused
    emitter.writer.declare(f"@{shape.name}", "\n".join(_CodeWriter(shape, bits, fused).function()))
    for lanes in sorted({w for _, _, w, _ in _columns(shape, bits)}):
        kind = _vector(scalar, lanes)
        if fused:
            symbol = _fma(scalar, lanes)
            emitter.writer.declare(symbol, f"declare {kind} @{symbol}({kind}, {kind}, {kind})")
    if shape.array:
        emitter.writer.declare("llvm.prefetch", "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    widths = (n, m if shape.transposed else k, n)
    parameters = ", ".join(arguments(emitter, tile, width) for tile, width in zip(tiles, widths, strict=True))
    emitter.writer.do(f"call void @{shape.name}({parameters})")


def _vector(scalar: str, lanes: int) -> str:
    """Return the LLVM type of a vector of `lanes` scalars."""
    return f"<{lanes} x {scalar}>"


def _fma(scalar: str, lanes: int) -> str:
    """Return the name of LLVM's fused multiply-add of vectors of "float" or "double"."""
    return f"llvm.fma.v{lanes}{'f32' if scalar == 'float' else 'f64'}"


def _columns(shape: Shape, bits: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield ranges of columns: first and end, the lanes of a vector, and how many vectors lie side by side."""
    lanes = bits // shape.scalar.bits
    start = 0
    # Two vectors wide, then one, then halves of it down to one number: each column is in exactly one group.
    for count, vectors in ((lanes, MATMUL_VECTORS), *((lanes >> n, 1) for n in range(lanes.bit_length()))):
        both = count * vectors
        stop = start + (shape.n - start) // both * both
        if stop > start:
            yield start, stop, count, vectors
        start = stop


class _CodeWriter:
    """Writes the LLVM IR lines of a function that multiplies tiles."""

    def __init__(self, shape: Shape, bits: int, fused: bool) -> None:
        self.shape = shape
        self.bits = bits
        self.fused = fused
        self.scalar = register(shape.scalar)
        self.lines: list[str] = []
        self.count = 0

    def function(self) -> list[str]:
        """Return all lines of the function."""
        rows = ROWS[self.bits]
        full_rows = self.shape.m // rows * rows
        groups = [(0, full_rows, rows)] if full_rows else []
        if full_rows < self.shape.m:
            groups.append((full_rows, self.shape.m, self.shape.m - full_rows))
        self.lines = [
            # noalias holds here: what is written is a buffer, or an array apart from those that are read (`apart`).
            # noinline: the accumulators need all vector registers.
            f"define internal void @{self.shape.name}({', '.join(PARAMETERS)})"
            f' noinline nounwind "min-legal-vector-width"="{self.bits}" {{',
            "start:",
        ]
        label = "start"
        for low, high, rows in groups:
            for start, stop, lanes, vectors in _columns(self.shape, self.bits):
                label = self.group((low, high, rows), (start, stop, lanes, vectors), label)
        return [*self.lines, "  ret void", "}"]

    def name(self, hint: str) -> str:
        """Return a name that is new in the function, for a register or a block."""
        self.count += 1
        return f"{hint}{self.count}"

    def do(self, line: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(f"  {line}")

    def emit(self, line: str) -> str:
        """Write an instruction; return the register of its result."""
        name = f"%{self.name('v')}"
        self.do(f"{name} = {line}")
        return name

    def open(self, label: str) -> None:
        """Begin a block of this label."""
        self.lines.append(f"{label}:")

    def group(self, rows: tuple[int, int, int], columns: tuple[int, int, int, int], before: str) -> str:
        """Emit the loops over all blocks of one size in a range of rows and columns; return the label after them.

        Args:
            rows: first, end, and rows of a block.
            columns: first, end, lanes of a vector, and vectors of a block.
            before: label of the block from which the loops are entered.
        """
        (low, high, size), (start, stop, lanes, vectors) = rows, columns
        i, j, end, after = (self.name(h) for h in ("i", "j", "end", "after"))
        self.do(f"br label %{i}.head")
        self.open(f"{i}.head")
        self.do(f"%{i} = phi i64 [ {low}, %{before} ], [ %{i}.next, %{end} ]")
        self.do(f"br label %{j}.head")
        self.open(f"{j}.head")
        last = self.name("block")
        self.do(f"%{j} = phi i64 [ {start}, %{i}.head ], [ %{j}.next, %{last} ]")
        self.block(f"%{i}", f"%{j}", size, lanes, vectors, f"{j}.head", last)
        self.do(f"%{j}.next = add nuw nsw i64 %{j}, {lanes * vectors}")
        more = self.emit(f"icmp slt i64 %{j}.next, {stop}")
        self.do(f"br i1 {more}, label %{j}.head, label %{end}")
        self.open(end)
        self.do(f"%{i}.next = add nuw nsw i64 %{i}, {size}")
        more = self.emit(f"icmp slt i64 %{i}.next, {high}")
        self.do(f"br i1 {more}, label %{i}.head, label %{after}")
        self.open(after)
        return after

    def block(self, i: str, j: str, rows: int, lanes: int, vectors: int, before: str, last: str) -> None:
        """Emit the sum over k of one block of the result, in registers.

        Args:
            i: register with its first row.
            j: register with its first column.
            rows: how many it has.
            lanes: columns of a vector.
            vectors: vectors of a row.
            before: label of the block before it.
            last: label for the block at its end, which stays open.
        """
        kind = _vector(self.scalar, lanes)
        size = self.shape.scalar.size
        zero = f"splat ({self.scalar} {literal(0.0, self.shape.scalar)})"
        k = self.name("k")
        totals = {(r, v): f"%{self.name('t')}" for r in range(rows) for v in range(vectors)}
        following = {at: f"{t}.next" for at, t in totals.items()}
        addresses = {at: self.at("c", self.index("c", i, at[0], j, at[1] * lanes)) for at in totals}
        if self.shape.array:
            # On its way while the block computes: all of it is needed at once.
            for address in addresses.values():
                self.do(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 3, i32 1)")
        self.do(f"br label %{k}.head")
        self.open(f"{k}.head")
        self.do(f"%{k} = phi i64 [ 0, %{before} ], [ %{k}.next, %{k}.head ]")
        for at, total in totals.items():
            self.do(f"{total} = phi {kind} [ {zero}, %{before} ], [ {following[at]}, %{k}.head ]")
        # One row of b serves all rows of the block: that is what a block saves.
        sources = [self.at("b", self.index("b", f"%{k}", 0, j, v * lanes)) for v in range(vectors)]
        right = [self.emit(f"load {kind}, ptr {source}, align {size}") for source in sources]
        for r in range(rows):
            turned = self.shape.transposed
            index = self.index("a", f"%{k}", 0, i, r) if turned else self.index("a", i, r, f"%{k}", 0)
            number = self.emit(f"load {self.scalar}, ptr {self.at('a', index)}")
            one = self.emit(f"insertelement {kind} poison, {self.scalar} {number}, i64 0")
            left = self.emit(f"shufflevector {kind} {one}, {kind} poison, <{lanes} x i32> zeroinitializer")
            for v in range(vectors):
                self.add(kind, lanes, left, right[v], totals[r, v], following[r, v])
        self.do(f"%{k}.next = add nuw nsw i64 %{k}, 1")
        more = self.emit(f"icmp slt i64 %{k}.next, {self.shape.k}")
        self.do(f"br i1 {more}, label %{k}.head, label %{last}")
        self.open(last)
        for at, total in following.items():
            address = addresses[at]
            if self.shape.accumulate:
                # Behind the sum over k, so that a long row of products is added up in parts.
                total = self.emit(f"fadd {kind} {self.emit(f'load {kind}, ptr {address}, align {size}')}, {total}")
            self.do(f"store {kind} {total}, ptr {address}, align {size}")

    def add(self, kind: str, lanes: int, left: str, right: str, total: str, result: str) -> None:
        """Emit `total + left · right` as the register `result`; fused where the target can."""
        if self.fused:
            symbol = _fma(self.scalar, lanes)
            self.do(f"{result} = call {kind} @{symbol}({kind} {left}, {kind} {right}, {kind} {total})")
            return
        product = self.emit(f"fmul {kind} {left}, {right}")
        self.do(f"{result} = fadd {kind} {total}, {product}")

    def index(self, tile: str, row: str, more_rows: int, column: str, more_columns: int) -> str:
        """Return the element offset of (row + more_rows, column + more_columns) in a tile."""
        row = self.emit(f"add nuw nsw i64 {row}, {more_rows}") if more_rows else row
        first = self.emit(f"mul nuw nsw i64 {row}, %{tile}.row")
        column_index = self.emit(f"add nuw nsw i64 {first}, {column}")
        return self.emit(f"add nuw nsw i64 {column_index}, {more_columns}") if more_columns else column_index

    def at(self, tile: str, index: str) -> str:
        """Emit the address of a tile's element; `index` is its offset in elements."""
        return self.emit(f"getelementptr inbounds {self.scalar}, ptr %{tile}, i64 {index}")


def emit_window(emitter: Emitter, op: Op) -> None:
    """Emit the operands of a tile that lies in an array or in slots; see `window`."""
    emitter.bind(op.result, window(emitter, op, *op.operands[-2:]))


def window(emitter: Emitter, op: Op, slots: Value, condition: Value) -> tuple[str, str, str]:
    """Return where a tile lies: in an array if a condition holds when running, else in slots.

    Returns:
        The tile's address; the number of elements from row to row of the array; and the condition.
    """
    w = emitter.writer
    (there,) = element_addresses(emitter, op)
    inside = emitter.operand(condition)
    address = w.emit(f"select i1 {inside}, ptr {there}, ptr {emitter.operand(slots)}")
    return address, _count(emitter, op.operands[0], op.attrs[AXES][0] + 1), inside


def arguments(emitter: Emitter, window: Sequence[str], columns: int) -> str:
    """Return a call's arguments for a tile: its address, and the number of elements from row to row.

    Args:
        emitter: its block is open.
        window: the address of slots, or what `window` returns.
        columns: of the tile.
    """
    if len(window) == 1:
        return f"ptr {window[0]}, i64 {columns}"
    address, row, inside = window
    return f"ptr {address}, i64 {emitter.writer.emit(f'select i1 {inside}, i64 {row}, i64 {columns}')}"


def emit_disjoint(emitter: Emitter, op: Op) -> None:
    """Emit whether two arrays do not overlap in memory; of one array twice, whether no two elements of it do."""
    w = emitter.writer
    if op.operands[0] is op.operands[1]:
        emitter.bind(op.result, [_elements_apart(emitter, op.operands[0])])
        return
    (first, end), (second, other) = (_ends(emitter, v) for v in op.operands)
    before, behind = w.emit(f"icmp ule ptr {end}, {second}"), w.emit(f"icmp ule ptr {other}, {first}")
    emitter.bind(op.result, [w.emit(f"or i1 {before}, {behind}")])


def _elements_apart(emitter: Emitter, array: Value) -> str:
    """Return whether each stride of an array reaches beyond what axes of smaller strides span."""
    kind, w, holds = array_of(array), emitter.writer, "true"
    w.declare("llvm.abs.i64", "declare i64 @llvm.abs.i64(i64, i1)")
    axes = range(kind.ndim)
    strides = [w.emit(f"call i64 @llvm.abs.i64(i64 {stride(emitter, array, n)}, i1 false)") for n in axes]
    lasts = [w.emit(f"sub i64 {size(emitter, array, n)}, 1") for n in axes]
    for n in axes:
        reach = str(width(kind.dtype) * element(kind.dtype).size)
        for m in (m for m in axes if m != n):
            inside = w.emit(f"icmp {'ult' if m < n else 'ule'} i64 {strides[m]}, {strides[n]}")
            span = w.emit(f"mul i64 {lasts[m]}, {strides[m]}")
            reach = w.emit(f"add i64 {reach}, {w.emit(f'select i1 {inside}, i64 {span}, i64 0')}")
        single, beyond = w.emit(f"icmp slt i64 {lasts[n]}, 1"), w.emit(f"icmp sle i64 {reach}, {strides[n]}")
        holds = w.emit(f"and i1 {holds}, {w.emit(f'or i1 {single}, {beyond}')}")
    return holds


def _ends(emitter: Emitter, array: Value) -> tuple[str, str]:
    """Return the lowest address of an array's elements and the one behind the highest."""
    kind, w = array_of(array), emitter.writer
    cell = kind.pitch or width(kind.dtype) * element(kind.dtype).size
    if not emitter.options.contiguous:
        ends = [data(emitter, array)] * 2
        for axis in range(kind.ndim):
            last = w.emit(f"sub i64 {size(emitter, array, axis)}, 1")
            last = w.emit(f"mul i64 {last}, {stride(emitter, array, axis)}")
            for n, verb in enumerate(("smin", "smax")):
                w.declare(f"llvm.{verb}.i64", f"declare i64 @llvm.{verb}.i64(i64, i64)")
                more = w.emit(f"call i64 @llvm.{verb}.i64(i64 {last}, i64 0)")
                ends[n] = w.emit(f"getelementptr i8, ptr {ends[n]}, i64 {more}")
        return ends[0], w.emit(f"getelementptr i8, ptr {ends[1]}, i64 {cell}")
    bytes = w.emit(f"mul i64 {_count(emitter, array, 0)}, {cell}")
    return data(emitter, array), w.emit(f"getelementptr i8, ptr {data(emitter, array)}, i64 {bytes}")


def _count(emitter: Emitter, array: Value, first: int) -> str:
    """Return the product of the array's extents from axis `first` on."""
    count = "1"
    for axis in range(first, array_of(array).ndim):
        extent = size(emitter, array, axis)
        count = extent if count == "1" else emitter.writer.emit(f"mul i64 {count}, {extent}")
    return count
