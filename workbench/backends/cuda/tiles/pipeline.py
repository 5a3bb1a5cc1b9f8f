"""Copies of tiles into shared memory in the background, and loops that multiply meanwhile.

**Copies** are of 16 bytes at a time; on sm_80 and later they run in the background (`cp.async`). The code tests at run
time whether the addresses are multiples of 16 bytes. If not, and beyond an array's edge, elements are copied one by
one. The thread that began a background copy waits for it before the barrier at which the others wait.

**Loops.** A loop over k that loads tiles and multiplies them loads those of the next two turns ahead, into stages in
shared memory, or of one where three stages leave no room for a second block (`emit.tiles_to_threads`). Each iteration
waits for its own tiles (one group of copies stays in flight), passes one barrier, and begins the copies of the
iteration after next, into the stage that all threads have finished with. Only arrays that the loop does not change are
loaded ahead, and if it changes others, only if no two arguments share memory, so that no early load can see another
value. Whether an iteration follows is computed in 64 bits, so nothing is loaded that the loop would not load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.backends.cuda.cpp.c_names import c_type
from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.backends.cuda.cpp.pieces import Key, Pieces
from workbench.backends.cuda.tiles.lower import Lowering
from workbench.backends.cuda.tiles.placement.arena import capability
from workbench.backends.cuda.tiles.placement.layouts import product, when
from workbench.backends.cuda.tiles.placement.locations import InShared
from workbench.backends.cuda.tiles.placement.uses import ANY, Region, Use
from workbench.builtins import TABLE
from workbench.ir.build import copy_op
from workbench.ir.ops import AXES, BOUNDS, COUNT, EFFECTS, OPAQUE, PURE, SHAPE, STEP, THREADS, WAIT, attributes
from workbench.ir.tiles import tile_of
from workbench.ir.values import Op, Value, array_of, walk
from workbench.tiles import is_tile
from workbench.types import Scalar, element, int32, int64
from workbench.types import bool as bool_

WIDE = 16
"""Bytes that a thread copies at once."""
KEY: Key = ("copy_in",)
COPY_PIECES: Pieces = {
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


STAGES = 3


def most_stages(target: str) -> int:
    """Return the most stages of a loop's loads on an architecture; 1 before sm_80, which has no `cp.async`."""
    return STAGES if capability(target) >= 80 else 1


@dataclass(frozen=True)
class _Load:
    """A load of a tile that is started ahead.

    Attributes:
        op: the `tile_load`.
        offsets: the operations of the loop's body that compute its offsets.
        location: of all stages.
        count: elements of one stage.
    """

    op: Op
    offsets: tuple[Op, ...]
    location: InShared
    count: int


def for_loop(low: Lowering, op: Op) -> None:
    """Lower a `for`; with more than one stage, loads that feed its multiplications are started ahead."""
    loads = list(_loads(low, op)) if low.stages > 1 else []
    if not loads:
        low.loop(op)
        return
    b, (block,), stages = low.builder, op.blocks, low.stages
    carried = op.operands[3:]
    low.copies(list(zip(op.results, carried, strict=True)))
    start, _, step = op.operands[:3]
    low.touch(*(Use(load.location.region, "write", ANY) for load in loads), *_reads(loads))
    for stage in range(stages - 1):
        ahead = _sum(low, start, _advance(low, step, stage))
        _begin(low, op, loads, ahead, b.const(stage))
    stage = Value(int32, "stage")
    params = tuple(p for p in block.params if not is_tile(p))
    with b.block((*params, stage)) as scope:
        b.emit("barrier", (), (), {WAIT: True, COUNT: stages - 2})
        low.touch(*_reads(loads))
        before = b.one("eq", (stage, b.const(0)), bool_)
        free = b.one("where", (before, b.const(stages - 1), b.one("sub", (stage, b.const(1)), int32)), int32)
        _begin(low, op, loads, _sum(low, block.params[0], _advance(low, step, stages - 1)), free)
        for load in loads:
            offset = product(b, stage, load.count)
            low.views[load.op.result] = InShared(load.location.region, load.location.steps, offset, entire=False)
        ahead_ops = {load.op for load in loads}
        for inner in block.ops[:-1]:
            if inner not in ahead_ops:
                low.op(inner)
        low.now = block.ops[-1]
        low.copies(list(zip(op.results, block.yielded, strict=True)))
        last = b.one("eq", (stage, b.const(stages - 1)), bool_)
        following = b.one("where", (last, b.const(0), b.one("add", (stage, b.const(1)), int32)), int32)
        b.yield_(*(v for v in block.yielded if not is_tile(v)), following)
    operands = (*op.operands[:3], *(v for v in carried if not is_tile(v)), b.const(0))
    results = (*(v for v in op.results if not is_tile(v)), Value(int32, ""))
    b.append(op.replace(operands, results=results, blocks=(scope.block,)))


def _advance(low: Lowering, step: Value, iterations: int) -> int:
    """Return by how much the index grows in `iterations` iterations, given the constant `step`."""
    return low.numbers[step] * iterations


def _sum(low: Lowering, index: Value, more: int) -> Value:
    """Emit the sum of an index and a constant as an int64."""
    b = low.builder
    return b.one("add", (b.cast(index, int64), b.const(more, int64)), int64)


def _reads(loads: Sequence[_Load]) -> list[Use]:
    """Return the uses of the arrays that the loads read."""
    return [Use(load.op.operands[0], "read", ANY) for load in loads]


def _begin(low: Lowering, op: Op, loads: Sequence[_Load], index: Value, stage: Value) -> None:
    """Emit the copies of an iteration into a stage, which run if that iteration exists, and the end of their group.

    Args:
        low: the lowering.
        op: the loop.
        loads: what is copied.
        index: the loop's index in that iteration, as an int64.
        stage: the number of the stage.
    """
    b, (_, stop, step), (block,) = low.builder, op.operands[:3], op.blocks
    test = "lt" if low.numbers[step] > 0 else "gt"
    comes = b.one(test, (index, b.cast(stop, int64)), bool_)

    def copies() -> None:
        mapping = {block.params[0]: b.cast(index, element(block.params[0].type))}
        for load in loads:
            for needed in load.offsets:
                if needed.results[0] not in mapping:
                    b.append(copy_op(needed, mapping, lambda v: Value(v.type, "")))
            array, *offsets = load.op.operands
            at = product(b, stage, load.count)
            attrs = attributes({**load.op.attrs, THREADS: low.threads, STEP: load.location.steps[0]})
            b.emit("copy_in", (load.location.region.slots, at, array, *(mapping.get(v, v) for v in offsets)), (), attrs)

    when(b, comes, copies)
    b.emit("commit", (), (), {})


def _loads(low: Lowering, op: Op) -> Iterator[_Load]:
    """Yield the loads of a loop that may be started ahead; enlarge the shared memory of each to all stages."""
    (block,) = op.blocks
    ops = [inner for inner in walk(block)]
    opaque = any(inner.name in OPAQUE or inner.name == "native" for inner in ops)
    changed = {inner.operands[0] for inner in ops if inner.name in EFFECTS}
    if (
        opaque
        or (changed and not low.apart)
        or not low.numbers.get(op.operands[2])
        or all(inner.name != "tile_matmul" for inner in block.ops)
    ):
        return
    defs = {v: inner for inner in block.ops for v in inner.results}
    for inner in block.ops:
        if (
            inner.name != "tile_load"
            or inner.operands[0] in changed
            or not low.storage.is_exclusive(inner.result)
            or not is_chunked(low, inner)
        ):
            continue
        offsets = _needed(inner, defs, set(block.params[1:]))
        if offsets is None:
            continue
        location = low.in_shared(inner.result)
        one = location.region
        region = Region(one.dtype, one.count * low.stages, one.name, one.label)
        low.regions[low.storage.of(inner.result)] = region
        low.ahead.update((user, {*low.ahead.get(user, ()), region}) for user in (op, *ops))
        yield _Load(inner, offsets, InShared(region, location.steps), one.count)


def _needed(load: Op, defs: dict[Value, Op], carried: set[Value]) -> tuple[Op, ...] | None:
    """Return the body's operations that compute a load's offsets.

    It is None if the offsets depend on what the loop carries or on an operation that is not pure.
    """
    needed: dict[Op, None] = {}

    def need(value: Value) -> bool:
        if value in carried:
            return False
        if value not in defs or defs[value] in needed:
            return True
        op = defs[value]
        if op.blocks or not (op.name in PURE or op.name in TABLE) or not all(need(v) for v in op.operands):
            return False
        needed[op] = None
        return True

    return tuple(needed) if all(need(v) for v in load.operands[1:]) else None
