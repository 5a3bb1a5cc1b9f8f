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
from workbench.backends.cpu.emit.types import register, width
from workbench.backends.llvm.functions import LlvmFunction, Long, Ptr, Variable, count
from workbench.backends.llvm.values import Value
from workbench.ir.ops import ACCUMULATE, AXES, SHAPE, TRANSPOSE_A
from workbench.ir.values import Op, array_of
from workbench.ir.values import Value as IrValue
from workbench.limits import MATMUL_VECTORS
from workbench.types import Scalar, element

# Rows of a block, by bits of a vector: 2 × rows accumulators and two vectors of b fit 32 registers of 512, 16 of 256.
ROWS = {512: 8, 256: 6, 128: 6}


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
    maths = emitter.maths
    bits, fused = maths.bits, maths.formulas and maths.fused
    define(emitter, _product(shape, bits, fused))
    widths = (n, m if shape.transposed else k, n)
    parameters = ", ".join(arguments(emitter, tile, width) for tile, width in zip(tiles, widths, strict=True))
    emitter.writer.do(f"call void @{shape.name}({parameters})")


def _columns(shape: Shape, bits: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield ranges of columns: first and end, the lanes of a vector, and how many vectors lie side by side."""
    lanes = bits // shape.scalar.bits
    start = 0
    # Two vectors wide, then one, then halves of it down to one number: each column is in exactly one group.
    for wide, vectors in ((lanes, MATMUL_VECTORS), *((lanes >> n, 1) for n in range(lanes.bit_length()))):
        both = wide * vectors
        stop = start + (shape.n - start) // both * both
        if stop > start:
            yield start, stop, wide, vectors
        start = stop


def _product(shape: Shape, bits: int, fused: bool) -> LlvmFunction:
    """Return the function that multiplies tiles of a shape, for vectors of so many bits."""

    def body(c: Ptr, c_row: Long, a: Ptr, a_row: Long, b: Ptr, b_row: Long) -> None:
        full = shape.m // ROWS[bits] * ROWS[bits]
        for low, high, height in ((0, full, ROWS[bits]), (full, shape.m, shape.m - full)):
            for start, stop, lanes, vectors in _columns(shape, bits) if low < high else ():
                with count(c_row.like(high), low, height) as i, count(c_row.like(stop), start, lanes * vectors) as j:
                    rows = [i + r for r in range(height)]
                    columns = [j + v * lanes for v in range(vectors)]
                    _block(shape, fused, (c, c_row, a, a_row, b, b_row), rows, columns, lanes)

    # noinline: the accumulators need all vector registers.
    attributes = f'noinline nounwind "min-legal-vector-width"="{bits}"'
    return LlvmFunction(body, shape.name, head="define internal", attributes=attributes)


def _block(
    shape: Shape, fused: bool, tiles: Sequence[Value], rows: Sequence[Value], columns: Sequence[Value], lanes: int
) -> None:
    """Emit the sum over k of one block of the result, in registers.

    Args:
        shape: of the tiles.
        fused: multiply-adds are fused.
        tiles: the parameters of the function.
        rows: the indices of the block's rows.
        columns: those of the first columns of its vectors.
        lanes: columns of a vector.
    """
    c, c_row, a, a_row, b, b_row = tiles
    kind, size = register(shape.scalar), shape.scalar.size
    addresses = [c.at(row * c_row + column, kind) for row in rows for column in columns]
    if shape.array:
        # On its way while the block computes: all of it is needed at once.
        for address in addresses:
            c.w.call("void", "llvm.prefetch.p0", str(address), "i32 0", "i32 3", "i32 1")
    zero = c.like(0.0, kind).spread(lanes)
    totals = [Variable(zero) for _ in addresses]
    with count(c_row.like(shape.k)) as k:
        # One row of b serves all rows of the block: that is what a block saves.
        right = [b.at(k * b_row + column, kind).load(kind, lanes, align=size) for column in columns]
        for n, row in enumerate(rows):
            number = a.at(k * a_row + row if shape.transposed else row * a_row + k, kind).load(kind)
            left = number.spread(lanes)
            for total, other in zip(totals[n * len(right) :], right, strict=False):
                total.set(left.intrinsic("fma", other, total.get()) if fused else total.get() + left * other)
    for address, total in zip(addresses, totals, strict=True):
        # Behind the sum over k, so that a long row of products is added up in parts.
        old = address.load(kind, lanes, align=size) if shape.accumulate else None
        address.store(total.get() if old is None else old + total.get(), align=size)


def define(emitter: Emitter, function: LlvmFunction) -> None:
    """Add a function to the module, with declarations of what it calls."""
    text, declarations = function.text()
    for name, line in (*declarations.items(), (function.name, text)):
        emitter.writer.declare(name, line)


def emit_window(emitter: Emitter, op: Op) -> None:
    """Emit the operands of a tile that lies in an array or in slots; see `window`."""
    emitter.bind(op.result, window(emitter, op, *op.operands[-2:]))


def window(emitter: Emitter, op: Op, slots: IrValue, condition: IrValue) -> tuple[str, str, str]:
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


def _elements_apart(emitter: Emitter, array: IrValue) -> str:
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


def _ends(emitter: Emitter, array: IrValue) -> tuple[str, str]:
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


def _count(emitter: Emitter, array: IrValue, first: int) -> str:
    """Return the product of the array's extents from axis `first` on."""
    count = "1"
    for axis in range(first, array_of(array).ndim):
        extent = size(emitter, array, axis)
        count = extent if count == "1" else emitter.writer.emit(f"mul i64 {count}, {extent}")
    return count
