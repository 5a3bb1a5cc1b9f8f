"""Square blocks of elements transposed in registers: rows of elements become columns, which lanes are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from workbench.backends.llvm.values import vector
from workbench.ir.ops import EFFECTS
from workbench.ir.values import Function, Op, array_of, component_of, walk
from workbench.structs import ELEMENT
from workbench.types import element

UNIT = 16
"""Bytes of a register within which every target interleaves two of them."""


def transposed(emit: Callable[[str], str], kind: str, size: int, rows: Sequence[str]) -> list[str]:
    """Transpose a square block whose side is a power of two; return the registers of its columns.

    Neighbouring rows are interleaved within units of 16 bytes, which takes one instruction for each result; then units
    change places.

    Args:
        emit: writes an instruction and returns the register of its result.
        kind: LLVM's type of an element.
        size: its bytes, 4 or 8.
        rows: the registers of the rows, which are vectors.
    """
    side, unit = len(rows), min(len(rows), UNIT // size)
    wide = vector(kind, side)

    def shuffled(a: str, b: str, order: Sequence[int]) -> str:
        """Emit a shuffle of two rows by the numbers of elements, which count on into the second."""
        lanes = ", ".join(f"i32 {k}" for k in order)
        return emit(f"shufflevector {wide} {a}, {wide} {b}, <{side} x i32> <{lanes}>")

    def interleaved(a: str, b: str, count: int) -> list[str]:
        """Interleave two rows within units, `count` elements of each in turn; return the lower and upper halves."""
        orders = [
            [u + half * unit // 2 + first + other * side + k for u in range(0, side, unit)
             for first in range(0, unit // 2, count) for other in (0, 1) for k in range(count)]
            for half in (0, 1)
        ]  # fmt: skip
        return [shuffled(a, b, order) for order in orders]

    parts = list(rows)
    if unit > 1:
        parts = [x for a, b in zip(parts[::2], parts[1::2], strict=True) for x in interleaved(a, b, 1)]
    if unit > 2:
        pairs = [(parts[k + j], parts[k + j + 2]) for k in range(0, side, 4) for j in (0, 1)]
        parts = [x for a, b in pairs for x in interleaved(a, b, 2)]
    step = unit
    while step < side:
        low = [k if not k & step else k - step + side for k in range(side)]
        high = [k + step if not k & step else k + side for k in range(side)]
        parts = [shuffled(parts[k & ~step], parts[k | step], high if k & step else low) for k in range(side)]
        step *= 2
    return parts


def row_sums(
    emit: Callable[[str], str], verb: str, kind: str, size: int, rows: Sequence[str], side: int
) -> tuple[str, int]:
    """Add up each of several rows of `side` elements, halves pairwise.

    Rows that were halved share a vector with others, so each addition is one of a whole vector.

    Args:
        emit: writes an instruction and returns the register of its result.
        verb: LLVM's instruction of an addition.
        kind: LLVM's type of an element.
        size: its bytes, 4 or 8.
        rows: the registers of the rows, which are vectors. Their number is a power of two, no larger than `side`.
        side: how many elements a row has, a power of two.

    Returns:
        A vector of the sums, and by how many lanes the sum of a row is behind that of the row before.
    """
    unit, apart = min(side, UNIT // size), side // len(rows)
    wide, levels = vector(kind, side), list[list[int]]()
    for half in (side >> k for k in range(1, side.bit_length())):
        block = max(2 * half, unit)  # within a unit, one instruction takes half of the elements of two registers
        begins = [f + other * side for f in range(0, side, block) for other in (0, 1)]
        levels.append([begin + k + n for begin in begins for k in range(0, block, 2 * half) for n in range(half)])
    lanes = [[k] * side for k in range(side)]  # by lane, of which of the registers it has elements
    for low in levels:
        lanes = [[(a + b)[n] for n in low] for a, b in zip(lanes[::2], lanes[1::2], strict=True)]
    once = cache(emit)  # fewer rows than lanes come several times, one time beside the other
    parts = [rows[lanes[0].index(k) // apart] for k in range(side)]
    for half, low in zip((side >> k for k in range(1, side.bit_length())), levels, strict=True):
        orders = [", ".join(f"i32 {n + k}" for n in low) for k in (0, half)]
        pairs = zip(parts[::2], parts[1::2], strict=True)
        halves = [[f"{wide} {a}, {wide} {b}, <{side} x i32> <{order}>" for order in orders] for a, b in pairs]
        halves = [[once(f"shufflevector {text}") for text in texts] for texts in halves]
        parts = [once(f"{verb} {wide} {a}, {b}") for a, b in halves]
    return parts[0], apart


def starts(wanted: Iterable[int], count: int, side: int) -> list[int]:
    """Return where blocks of `side` elements begin, in ascending order, that cover the wanted ones.

    The last block may overlap the one before, so that it ends at `count`.

    Args:
        wanted: numbers of elements, ascending.
        count: how many elements there are.
        side: of a block.
    """
    begins: list[int] = []
    for k in wanted:
        if not begins or k >= begins[-1] + side:
            begins.append(min(k, count - side))
    return begins


FIELD_BYTES = 4
"""Bytes of the cells in which structs are loaded."""


def struct_loads(function: Function) -> dict[Op, list[Op]]:
    """Return groups of loads of fields of the same struct, between which nothing is changed, by their first load.

    Groups of a single load are included.
    """
    groups: dict[Op, list[Op]] = {}
    for block in (function.body, *(b for op in walk(function.body) for b in op.blocks)):
        open_groups: dict[tuple[object, ...], list[Op]] = {}
        for op in block.ops:
            if op.blocks or op.name in EFFECTS:
                open_groups.clear()
            elif op.name == "load" and component_of(op) is None and _is_cell(op):
                root = op.operands[0].name.partition(ELEMENT)[0]
                group = open_groups.setdefault((root, *op.operands[1:]), [])
                group.append(op)
                groups[group[0]] = group
    return groups


def _is_cell(op: Op) -> bool:
    """Return whether a load from an array of structs consists of whole aligned cells of FIELD_BYTES bytes."""
    type = array_of(op.operands[0])
    return (
        element(type.dtype).size == FIELD_BYTES
        and type.pitch > 0 == type.pitch % FIELD_BYTES == type.offset % FIELD_BYTES
    )
