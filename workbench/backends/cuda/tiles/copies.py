"""Copies of tiles from arrays into shared memory, 16 bytes at a time; on sm_80 and later they run in the background.

The code tests at run time whether the addresses are multiples of 16 bytes. If not, and beyond an array's edge,
elements are copied one by one. The thread that began a background copy waits for it before the barrier at which the
others wait.
"""

from __future__ import annotations

from workbench.backends.cuda.cpp.c_names import c_type
from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.backends.cuda.cpp.pieces import Key, Pieces
from workbench.backends.cuda.tiles.lower import Lowering
from workbench.backends.cuda.tiles.placement.locations import InShared
from workbench.ir.attributes import AXES, BOUNDS, SHAPE, STEP, THREADS
from workbench.ir.tiles import tile_of
from workbench.ir.values import Op, array_of
from workbench.types import Scalar

WIDE = 16
"""Bytes that a thread copies at once."""
KEY: Key = ("copy_in",)
PIECES: Pieces = {
    KEY: """\
struct __align__(16) wb_chunk { unsigned int words[4]; };
WB_FN void wb_copy_chunk(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
        :: "r"((unsigned int)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#else
    *(wb_chunk*)to = *(const wb_chunk*)from;
#endif
}
WB_FN void wb_arrived() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
// Ends a group of copies; waits for all but the last `left` groups.
WB_FN void wb_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int left> WB_FN void wb_arrived_but() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" :: "n"(left) : "memory");
#endif
}
// Rows from `top` to before `bottom` and columns from `left` to before `right` of the tile are in the array.
// Its own rows are `step` elements apart.
template <int threads, int rows, int columns, int step, typename T>
WB_FN void wb_copy_in(T* tile, unsigned long long from, long long pitch,
                      long long top, long long bottom, long long left, long long right) {
    constexpr int wide = 16 / sizeof(T), across = columns / wide;
    // 8 threads write at once. Of narrow rows with gaps they take 8 rows, since parts of two would meet in a bank.
    constexpr bool down = across < 8 && rows % 8 == 0 && step / wide % 2 == 1;
    bool aligned = ((from | (rows > 1 ? pitch * sizeof(T) : 0ULL)) & 15U) == 0;
    for (int chunk = threadIdx.x; chunk < rows * across; chunk += threads) {
        int row = down ? chunk / (8 * across) * 8 + chunk % 8 : chunk / across;
        int column = (down ? chunk / 8 : chunk) % across * wide;
        const T* source = (const T*)(from + (row * pitch + column) * sizeof(T));
        bool inside = row >= top && row < bottom;
        if (aligned && inside && column >= left && column + wide <= right) {
            wb_copy_chunk(tile + row * step + column, source);
            continue;
        }
        for (int k = 0; k < wide; ++k)
            tile[row * step + column + k] = inside && column + k >= left && column + k < right ? source[k] : T{};
    }
}
"""
}


def is_chunked(low: Lowering, op: Op) -> bool:
    """Return whether a `tile_load` copies to shared memory in chunks of `WIDE` bytes.

    The tile has to be in shared memory, of at most two axes, with scalars as elements, and its rows contiguous in
    the array and a multiple of `WIDE` bytes long.
    """
    array, tile = array_of(op.operands[0]), tile_of(op.result)
    location, axes, shape = low.location_of(op.result), op.attrs[AXES], op.attrs[SHAPE]
    fits = isinstance(location, InShared) and low.contiguous and not array.pitch and isinstance(array.dtype, Scalar)
    return fits and axes[-1] == array.ndim - 1 and shape[-1] * tile.dtype.size % WIDE == 0 and len(shape) <= 2


def emit_copy(e: Emitter, op: Op) -> list[str]:
    """Emit the C++ call that copies a tile from an array to shared memory in chunks."""
    slots, at_slot, array, *offsets = op.operands
    kind = array_of(array)
    e.expressions.keys |= {KEY, ("array",)}
    e.expressions.require_type(kind)
    name, axes, shape = e.name(array), op.attrs[AXES], op.attrs[SHAPE]
    # 15 is the precedence of a cast in C++: anything weaker gets parentheses.
    at = [e.expressions.of(v).within(15) for v in offsets]
    # In 64 bits from the first factor on: an array may have more than 2³¹ elements.
    linear = f"(long long){at[0]}"
    for axis in range(1, kind.ndim):
        linear = f"({linear}) * {name}.shape[{axis}] + {at[axis]}"
    rows = axes[0] if len(shape) == 2 else None
    pitch = " * ".join(f"{name}.shape[{k}]" for k in range(rows + 1, kind.ndim)) if rows is not None else "0"
    ends = ["0", str(shape[0] if rows is not None else 1), "0", str(shape[-1])]
    rest = []
    if op.attrs[BOUNDS]:
        for axis, start in ((rows, 0), (axes[-1], 2)):
            if axis is not None:
                ends[start : start + 2] = [f"-(long long){at[axis]}", f"{name}.shape[{axis}] - {at[axis]}"]
        others = [k for k in range(kind.ndim) if k not in axes]
        rest = [f"{at[k]} >= 0 && {at[k]} < {name}.shape[{k}]" for k in others]
    # Outside along an axis that the tile does not span, no row is inside: the end goes below every start.
    if rest:
        ends[1] = f"{' && '.join(rest)} ? {ends[1]} : -(1LL << 62)"
    count = f"{op.attrs[THREADS]}, {shape[0] if rows is not None else 1}, {shape[-1]}, {op.attrs[STEP]}"
    start = f"(unsigned long long){name}.data + ({linear}) * sizeof({c_type(kind.dtype)})"
    first = e.expressions.argument(at_slot)
    tile = e.name(slots) if first == "0" else f"{e.name(slots)} + {first}"
    return [f"wb_copy_in<{count}>({tile}, {start}, {pitch}, {', '.join(ends)});"]
