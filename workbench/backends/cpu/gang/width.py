"""The number of threads of a gang, and the functions that gangs can run.

In other functions threads run one by one (`design/gang.md`).
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator

import msgspec

from workbench.backends.cpu.emit.emit_module import Division
from workbench.backends.cpu.emit.loops import lone_loops
from workbench.backends.cpu.emit.types import width
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.builtins import TABLE
from workbench.ir.analysis import Analysis
from workbench.ir.build import replace_body
from workbench.ir.ops import ACCESSES, COLD, EFFECTS, LEAD, LOOPS, PURE, READS, REDUCTION, SCALAR, UPDATES
from workbench.ir.values import Block, Function, Op, Value, component_of, dtype_of, indices_of, walk
from workbench.limits import (
    EXPANDED_BYTES,
    GANG_BYTE_LANES,
    GANG_COMPONENTS,
    GANG_FRAME_BYTES,
    GANG_LANES,
    GANG_LOOP_BYTES,
    GANG_REGISTER,
    GROUP_ROWS,
    GROUP_ROWS_OPERATIONS,
    GROUP_THREADS,
    SHUFFLED_COMPONENTS_LEAST,
    SHUFFLED_OPERATIONS,
)
from workbench.passes.analysis.cost import mostly_adds
from workbench.passes.analysis.divergence import Neighbours, is_divergent, varying_values
from workbench.passes.loops.peeling import peeled_parts
from workbench.passes.memory.atomics import owned_arrays
from workbench.types import ArrayType, Kind, Slots, element

RULED = frozenset(
    "const tid shape launch_dim row_length row_first load store atomic_add atomic reduce_add cast vec extract insert "
    "fault print slots slot_read slot_write floor_quotient lead quotient_is if for while yield "
    "row_load row_store row_add slot_total row_total apart atomic_load atomic_swap".split()
)
"""Operations for which there is a rule; elementwise builtins are widened."""


def obstacle(function: Function, dense: bool, gathers: bool, own: Collection[Value] = ()) -> str:
    """Return why a function cannot, or should not, run in gangs; empty if it runs in gangs.

    Args:
        function: the function as gangs would run it, in the form in which it is emitted.
        dense: arrays have no gaps between elements.
        gathers: the target loads scattered elements faster together.
        own: arrays in which no thread reads what another one writes.
    """
    operations = list(walk(function.body))
    if function.block_dim:
        return "tiles"
    if not function.launch_ndim:
        return "no index of a thread"
    for op in operations:
        if op.name not in RULED and op.name not in TABLE:
            return op.name
    varying = varying_values(function)
    if not varying:
        return "nothing differs between threads"
    if (
        mostly_adds(function)
        and not any([op.blocks for op in operations])
        and not (dense and _adds_contiguously(function))
    ):
        return "additions, which go lane by lane"
    retries = [op for op in operations if op.name == "while" and is_retry(op)]
    if sum([op.name in _SWAPS for op in operations]) != len(_SWAPS) * len(retries):
        return "an element that is swapped outside of a loop that does nothing else"
    if _may_wait(function, [op for op in operations if op not in retries], own):
        return "threads that wait"
    if not gathers and _all_lone(function, operations):
        return "loops that load by index"
    return _scattered_accesses(function, dense)


def _all_lone(function: Function, operations: list[Op]) -> bool:
    """Return whether there are loops, and each is, or contains, one that threads would go through one by one."""
    lone, loops = lone_loops(function), [op for op in operations if op.name in LOOPS]
    return bool(loops) and all(any(o in lone for o in (op, *_inside(op))) for op in loops)


def _inside(op: Op) -> Iterator[Op]:
    """Yield the operations in the blocks of an operation, at any depth."""
    for block in op.blocks:
        yield from walk(block)


def _adds_contiguously(function: Function) -> bool:
    """Return whether in every addition the threads of a row add to elements that lie side by side."""
    neighbours, added = Neighbours(function), [op for op in walk(function.body) if op.name == "atomic_add"]
    return all(component_of(op) is None and neighbours.is_contiguous(op, (1,)) for op in added)


def _scattered_accesses(function: Function, dense: bool) -> str:
    """Return which accesses to scattered elements make it better to run threads one by one; empty if there are none.

    Two additions of floats to one array at indices that are not linear in the thread's alone, or one in a loop, would
    come in another order than that of threads. Where threads store far from one another in an innermost loop (running
    sums) a gang takes 2.1 times as long.
    """
    neighbours, added = Neighbours(function), set[Value]()
    split = peeled_parts(function)  # at a border, threads go one by one
    for op, loop in _by_gangs(split.inside if split else function.body, None):
        side_by_side = dense and component_of(op) is None and neighbours.is_contiguous(op, (1,))
        often = loop is not None and loop.op_names.isdisjoint(LOOPS)
        if op.name == "store" and often and not side_by_side and not neighbours.is_uniform(op):
            return "a loop that stores to places that lie apart"
        floats = op.name == "atomic_add" and element(op.operands[-1].type).kind is Kind.FLOAT
        if floats and not op.attrs.get(REDUCTION) and not neighbours.is_linear(op, alone=True):
            if op.operands[0] in added or loop:
                return "two additions by index"
            added.add(op.operands[0])
    return ""


def _by_gangs(block: Block, loop: Block | None) -> Iterator[tuple[Op, Block | None]]:
    """Yield the stores and additions that gangs do as vectors, and the body of the innermost loop around each."""
    for op in block.ops:
        if op.name in ("store", "atomic_add"):
            yield op, loop
        elif not op.attrs.get(SCALAR):
            # The second side of a cold `if` is for gangs in which what threads access lies apart, which are few.
            for inner in op.blocks[: 1 if op.name == "if" and op.attrs.get(COLD) else None]:
                yield from _by_gangs(inner, inner if op.name in LOOPS else loop)


def is_retry(op: Op) -> bool:
    """Return whether a `while` only updates one element atomically, and repeats while other threads change it.

    Such a loop waits for no particular thread, so lanes can run it one after the other.
    """
    if len(op.blocks[0].ops) > 1:
        return False
    body = op.blocks[1].ops
    swaps = {o.operands[: -2 if o.name == "atomic_swap" else None]: o.name for o in body if o.name in _SWAPS}
    known = all(o.name in (*_SWAPS, "yield") or o.name in PURE or o.name in TABLE for o in body)
    return known and len(swaps) == 1 and sum(o.name in _SWAPS for o in body) == len(_SWAPS)


_SWAPS = ("atomic_load", "atomic_swap")


def frame(operations: Iterable[Op], varying: frozenset[Value]) -> int:
    """Return the bytes of each thread's own arrays, without the long ones, which are accessed in order.

    Only arrays in `varying` are a thread's own.
    """
    own = [op.result.type for op in operations if op.name == "slots" and op.result in varying]
    sizes = [type.count * type.dtype.size for type in own if isinstance(type, Slots)]
    return sum(size for size in sizes if size < EXPANDED_BYTES // 2)


def _may_wait(function: Function, operations: list[Op], own: Collection[Value]) -> bool:
    """Return whether a loop's end may depend on what another thread writes.

    In a gang that thread might wait for this one in turn.
    """
    used = {v for op in operations for v in op.operands}
    loops = [op for op in operations if op.name in LOOPS]
    inside = [o for op in loops for block in op.blocks for o in walk(block)]
    if any(op.name in UPDATES and not used.isdisjoint(op.results) for op in inside):
        return True
    changed = {op.operands[0] for op in operations if op.name in EFFECTS}.difference(own)
    read = [v for op in operations if op.name in READS - UPDATES and op.operands[0] in changed for v in op.results]
    depends = varying_values(function, axis=function.launch_ndim, besides=read)
    return any(is_divergent(op, depends) for op in loops if op.name == "while")


NARROW = 128
"""Bits of the vectors of targets without masked accesses, and with too few registers for gangs of several rows."""
MASKED = 256
"""The most bits of a vector whose masks are integers; targets with wider ones have registers for masks."""


class Shape(msgspec.Struct, frozen=True):
    """The size of a function's gangs: their threads, in rows and lanes.

    Attributes:
        widths: the threads of the gangs that a row is divided into, the widest first.
        lanes: of a part, at most.
        rows: how many rows a gang spans at first, where they are long enough; 1: only one.
        row_threads: how many threads of each row such a gang has; 0 with one row.
    """

    widths: tuple[int, ...]
    lanes: int
    rows: int = 1
    row_threads: int = 0


def shape(function: Function, maths: Maths, division: Division) -> Shape:
    """Choose how many threads the gangs of a function have.

    Args:
        function: in the form in which it is emitted.
        maths: the target's vectors.
        division: how launches are divided among cores.
    """
    several = widths(function, _filled(function, maths))
    own = frame(walk(function.body), varying_values(function))
    several = tuple(n for n in several if n * own <= GANG_FRAME_BYTES) or several[-1:]
    lanes = part_lanes(function, several[-1], maths)
    # Where threads add, the number of threads is part of a sum's order, which is the same on every target.
    adds = "atomic_add" in function.body.op_names
    rows = of_rows(function)
    if rows is None or len(rows.body.every_op) > GROUP_ROWS_OPERATIONS or rows.body.op_names - _OF_ROWS - TABLE.keys():
        return Shape(several, lanes)
    if transposes(function):
        return Shape(several, lanes, min(several[-1], GANG_LANES), lanes)
    if not (adds or maths.bits > NARROW) or not _shares_rows(rows, division):
        return Shape(several, lanes)
    return Shape(several, lanes, GROUP_ROWS, several[0] if adds else 2 * lanes)


def _filled(function: Function, maths: Maths) -> int:
    """Return how many bits of a vector register code without loops is to fill."""
    return min(maths.filled, MASKED) if mostly_moves(function) else maths.filled


def transposes(function: Function) -> bool:
    """Return whether code without loops accesses elements that lie side by side across rows of threads, not along them.

    A gang of as many rows as it has columns then uses whole lines of the cache. Its threads run in another order than
    one by one, so the function must have been found to permit that (`axes`).
    """
    operations = walk(function.body)
    if not function.axes or not function.body.op_names.isdisjoint(LOOPS | UPDATES):
        return False
    along, across = Neighbours(function), Neighbours(function, function.launch_ndim - 2)
    apart = [op for op in operations if op.name in ACCESSES and across.is_contiguous(op, (1,))]
    return any(not (along.is_contiguous(op) or component_of(op) is not None) for op in apart)


def _shares_rows(function: Function, division: Division) -> bool:
    """Return whether gangs of several rows gain since neighbouring rows read or add to the same elements in a loop."""
    operations = list(walk(function.body))
    if division.order.axes and function.launch_ndim > 2:  # rows that go together may be of two planes
        return False
    varying, by_row = varying_values(function), varying_values(function, axis=-2)
    inside = [o for op in operations if op.name in LOOPS for block in op.blocks for o in walk(block)]
    if {op.operands[0] for op in operations if op.name == "store"} - owned_arrays(function):  # the last thread wins
        return False
    # What has no loops, and is in none, is written for each row where rows take different sides.
    ways = [op for op in operations if op.name in LOOPS or (op.blocks and (op in inside or _has_loops(op)))]
    shared = [o for o in inside if o.name in ACCESSES and by_row.isdisjoint(indices_of(o))]
    added = [o for o in operations if o.name == "atomic_add"]
    if any(o.attrs.get(REDUCTION) or (not division.one_core and not varying.isdisjoint(indices_of(o))) for o in added):
        return False
    if any(not varying.isdisjoint(indices_of(o)[:-1]) for o in added):  # those of one row go by strips
        return False
    if any(is_divergent(op, by_row) for op in ways):
        return False
    return any(not varying.isdisjoint(indices_of(o)) for o in shared)


def of_rows(function: Function) -> Function | None:
    """Return the function as gangs of several rows run it, without its border; None if there are no such gangs.

    The threads inside must be the first ones of rows of equal length, and rows with threads inside follow one another:
    two rows with such threads then have none without between them. That is so for `if i < n and j < m`.
    """
    if function.launch_ndim < 2:
        return None
    split = peeled_parts(function)
    if split is None:
        return function
    analysis, by_row = Analysis(function), varying_values(function, axis=-2)
    if split.once or split.last in by_row or "atomic_add" in function.body.op_names:
        return None
    first = analysis.defs.get(split.first)
    while first is not None and first.name == "where":
        if not _is_half(analysis, first.operands[0], by_row):
            return None
        first = analysis.defs.get(first.operands[1])
    start = analysis.form(first.result) if first else None
    inside = start is not None and not start.terms and start.constant <= 0
    return replace_body(function, split.inside) if inside else None


def _is_half(analysis: Analysis, condition: Value, by_row: Container[Value]) -> bool:
    """Return whether a condition holds in rows that follow one another: it compares numbers that are linear in them."""
    op = analysis.defs.get(condition)
    if op is None or op.name not in ("and_", "lt", "le", "gt", "ge"):
        return condition not in by_row
    if op.name == "and_":
        return all(_is_half(analysis, v, by_row) for v in op.operands)
    atoms = [atom for v in op.operands for atom in analysis.form(v).terms]
    return all(atom.kind == "tid" or atom.value is None or atom.value not in by_row for atom in atoms)


def _has_loops(op: Op) -> bool:
    """Return whether there is a loop in an operation's blocks."""
    return any(not block.op_names.isdisjoint(LOOPS) for block in op.blocks)


_OF_ROWS = frozenset(
    "const tid shape launch_dim load store atomic_add cast vec extract insert wrap_index if for while yield "
    "fault print row_length".split()
)
"""Operations of gangs of several rows, with elementwise ones."""
_OF_STRIPS = frozenset("slot_read slot_write slot_total row_load row_store row_add row_total apart".split())
"""Operations of loops along rows of the threads' own."""


def widths(function: Function, bits: int) -> tuple[int, ...]:
    """Return how many threads gangs have, the widest first; narrower ones run what is left of a row.

    In loops whose turns are the same for all threads, a gang has as many threads as registers hold what they carry: an
    element that all threads add to, or read, is accessed once for all of them. Code without loops fills one register:
    it then passes through memory in ascending order, which the caches are made for.

    Args:
        function: in the form in which it is emitted.
        bits: of a register.
    """
    count, varying = lanes(function), varying_values(function)
    operations = list(walk(_of_gangs(function)))
    loops = [op for op in operations if op.name in LOOPS]
    if any([op.attrs.get(SCALAR) for op in operations]):  # what follows waits for what was stored: better far behind
        return GROUP_THREADS, min(count, GANG_LANES)
    if count > GANG_LANES:
        return count, GANG_LANES
    sizes, adds = _sizes(operations), any([_adds(op) for op in operations if op.name in EFFECTS])
    if not (loops or 1 in sizes or adds):
        full = GANG_LANES // 2 if sizes == {8} else GANG_LANES
        return (max(4, full * bits // GANG_REGISTER),)
    if count != GANG_LANES or not loops or any([op.blocks and is_divergent(op, varying) for op in operations]):
        return (count,)
    carried = [sum(width(v.type) * element(v.type).size for v in op.operands[LEAD[op.name] :]) for op in loops]
    room = GANG_LOOP_BYTES if adds else GANG_LOOP_BYTES * min(bits, MASKED) // MASKED
    most = room // max(4, *carried)
    return (*[n for n in (4 * count, 2 * count) if n <= most][:1], count)


def _of_gangs(function: Function) -> Block:
    """Return what gangs run; in a function with a border, the body of the threads inside."""
    split = peeled_parts(function)
    return split.inside if split else function.body


def _adds(op: Op) -> bool:
    """Return whether an operation adds to an element without being a combined reduction.

    The order of such a sum depends on a gang's width, which is then equal on all targets.
    """
    return op.name in ("atomic_add", "reduce_add") and not op.attrs.get(REDUCTION)


def _fills_register(op: Op) -> bool:
    """Return whether an operation on 512 bits is faster than two on 256."""
    if op.name not in TABLE or op.name in _OF_ROWS:
        return op.name in _OF_ROWS or op.name in _OF_STRIPS
    return isinstance(TABLE[op.name].llvm, dict) and op.name not in ("div", "trunc_div", "trunc_rem", "fmod")


def lanes(function: Function) -> int:
    """Return the number of threads of a gang without regard to the target, since the order of sums may depend on it.

    64 where only bytes are stored, without blocks; else 16; half of these for 64-bit numbers and matrices, which fill
    registers.
    """
    operations = list(walk(function.body))
    sizes = _sizes(operations)
    if sizes == {1} and not any([op.blocks for op in operations]):
        return GANG_BYTE_LANES
    return GANG_LANES // 2 if sizes == {8} or _components(operations) > GANG_COMPONENTS else GANG_LANES


def _sizes(operations: list[Op]) -> set[int]:
    """Return the sizes in bytes of the scalars in arrays that are changed."""
    arrays = dict.fromkeys([op.operands[0] for op in operations if op.name in EFFECTS])
    return {element(dtype_of(array)).size for array in arrays}


def _components(operations: list[Op]) -> int:
    """Return the most scalars that an accessed element has; 1 if nothing is accessed."""
    arrays = dict.fromkeys([op.operands[0] for op in operations if op.name in ACCESSES])
    return max([width(dtype_of(array)) for array in arrays], default=1)


def part_lanes(function: Function, threads: int, maths: Maths) -> int:
    """Return how many lanes a gang's vectors have at most: those of a register that the target prefers.

    Of 512 bits that is half a register, except where the deepest loops have cheap operations and turns that all threads
    share: these load one element for all lanes, so wider ones load less often (7×7 convolutions 0.87 with halves).
    Loops that threads leave one by one take halves on every CPU: two chains wait less than one (rays 0.77 with whole
    ones, the Mandelbrot set 0.87), and so do Intel's maths functions, divisions and roots (gradient of bodies 0.89).
    Halves are also faster where a loop adds to elements that move along the row, since each load spans two stores of
    the iteration before (gradients of 7×7 convolutions 0.66). Bytes stay together as they are stored.

    Args:
        function: in the form in which it is emitted.
        threads: of a gang.
        maths: the target's vectors.
    """
    depths, varying = _by_depth(_of_gangs(function)), varying_values(function)
    operations, deepest = [op for _, op in depths], max([depth for depth, _ in depths], default=0)
    if _sizes(operations) == {1}:
        return threads
    if any([op.blocks and is_divergent(op, varying) for op in operations]):
        return min(threads, min(maths.filled, MASKED if deepest else maths.filled) // 32)
    inside = [op for depth, op in depths if depth == deepest and not varying.isdisjoint((*op.operands, *op.results))]
    computed = {v for op in inside for v in op.results}
    moving = any([indices_of(op)[-1] in computed for op in inside if op.name == "atomic_add"])
    fills = deepest and not moving and all(map(_fills_register, inside))
    return min(threads, (maths.bits if fills else maths.filled) // 32)


def _by_depth(block: Block, depth: int = 0) -> list[tuple[int, Op]]:
    """Return the operations that gangs run in a block and inside, each with the number of loops around it."""
    depths = list[tuple[int, Op]]()
    for op in block.ops:
        if not op.attrs.get(SCALAR):
            depths.append((depth, op))
            for inner in op.blocks:
                depths += _by_depth(inner, depth + (op.name in LOOPS))
    return depths


def shuffles(function: Function) -> bool:
    """Return whether a function's elements are better shuffled in registers than gathered and scattered.

    That is so for elements of many components, and for structs in code without loops. On Zen 4 a product of mat44 takes
    five times as long with gathers and scatters as without, a step `b[i].p += b[i].v` of structs twice.
    """
    arrays = [p.type for p in function.params if isinstance(p.type, ArrayType)]
    loops = not function.body.op_names.isdisjoint(LOOPS)
    return any([width(t.dtype) >= SHUFFLED_COMPONENTS_LEAST or (t.pitch > 0 and not loops) for t in arrays])


def mostly_moves(function: Function) -> bool:
    """Return whether a function without loops does little but shuffle elements: it is faster with narrow vectors.

    In vectors of 256 bits a shuffle is mostly blends, in those of 512 bits it is permutations: a 3×3 inverse takes 0.8
    times as long in narrow ones. What computes more gains from wide ones.
    """
    operations = list(walk(function.body))
    if not shuffles(function) or any(op.name in LOOPS for op in operations):
        return False
    moved = sum(map(_moved, operations))
    computed = sum(width(v.type) for op in operations if not _moved(op) for v in op.results)
    return computed <= SHUFFLED_OPERATIONS * moved


def _moved(op: Op) -> int:
    """Return how many scalars an operation loads from or stores to an array."""
    array = op.operands[0].type if op.operands else None
    return width(array.dtype) if isinstance(array, ArrayType) and op.name != "shape" else 0
