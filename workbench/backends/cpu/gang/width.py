"""How many threads a gang has."""

from __future__ import annotations

from workbench.backends.cpu.gang.divergence import is_divergent, varying_values
from workbench.backends.cpu.text.values import width
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.ir.attributes import REDUCTION
from workbench.ir.ops import ACCESSES, EFFECTS, LEAD, LOOPS
from workbench.ir.values import Function, Op, dtype_of, walk
from workbench.limits import GANG_BYTE_LANES, GANG_COMPONENTS, GANG_LANES, GANG_LOOP_BYTES, GANG_REGISTER
from workbench.passes.borders.inside import interior_of
from workbench.types import element


def widths(function: Function, bits: int) -> tuple[int, ...]:
    """Return how many threads gangs have, the widest first: what is left of a row goes by narrower ones.

    In loops whose turns are the same for all threads, a gang has as many threads as registers hold what they carry: an
    element that all threads add to, or read, is accessed once for all of them. Code without loops fills one register:
    it then passes through memory in ascending order, which the caches are made for.

    Args:
        function: as it is about to be emitted.
        bits: of a register.
    """
    count, varying = lanes(function), varying_values(function)
    split = interior_of(function)
    operations = list(walk(split.inside if split else function.body))  # at a border, threads go one by one
    loops = [op for op in operations if op.name in LOOPS]
    if count > GANG_LANES:
        return count, GANG_LANES
    if not (
        loops or _components(operations) > GANG_COMPONENTS or 1 in _sizes(operations) or any(map(_adds, operations))
    ):
        return (max(4, min(count, count * bits // GANG_REGISTER)),)
    if count != GANG_LANES or not loops or any(op.blocks and is_divergent(op, varying) for op in operations):
        return (count,)
    carried = [sum(width(v.type) * element(v.type).size for v in op.operands[LEAD[op.name] :]) for op in loops]
    most = GANG_LOOP_BYTES // max(4, *carried)
    return (*[n for n in (4 * count, 2 * count) if n <= most][:1], count)


def _adds(op: Op) -> bool:
    """Return whether an element's sum may have another order in a gang of another width: that is for all targets."""
    return op.name in ("atomic_add", "reduce_add") and not op.attrs.get(REDUCTION)


def lanes(function: Function) -> int:
    """Return the number of threads of a gang; the same on every target, since sums may go by gangs.

    64 where only bytes are stored, else 16; half of these for 64-bit numbers and matrices, which fill registers.
    """
    operations = list(walk(function.body))
    sizes = _sizes(operations)
    if sizes == {1} and not any(op.blocks for op in operations):
        return GANG_BYTE_LANES
    return GANG_LANES // 2 if sizes == {8} or _components(operations) > GANG_COMPONENTS else GANG_LANES


def _sizes(operations: list[Op]) -> set[int]:
    """Return the bytes of the scalars of what is changed."""
    return {element(dtype_of(op.operands[0])).size for op in operations if op.name in EFFECTS}


def _components(operations: list[Op]) -> int:
    """Return the most scalars that an element has of what is accessed."""
    return max((width(dtype_of(op.operands[0])) for op in operations if op.name in ACCESSES), default=1)


def part_lanes(function: Function, threads: int, maths: Maths) -> int:
    """Return how many lanes a gang's vectors have at most: those of a register that the target prefers.

    Of 512 bits that is half a register, but in loops whose turns all threads share: these load one element for all
    lanes, so wider ones load less often (7×7 convolutions 0.87 with halves), where maths functions, masks and shuffles
    take halves (rays 0.77 without, the Mandelbrot set 0.87). Bytes stay together as they are stored.
    """
    operations = list(walk(function.body))
    varying = varying_values(function)
    if _sizes(operations) == {1}:
        return threads
    apart = any(op.blocks and is_divergent(op, varying) for op in operations)
    shared = not apart and any(op.name in LOOPS for op in operations)
    return min(threads, (maths.bits if shared else maths.filled) // 32)
