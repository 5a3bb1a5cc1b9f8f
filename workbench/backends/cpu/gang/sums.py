"""Changes of one element by all threads (`emit/combine`): each thread of a gang puts its part into the buffer.

So the parts are combined in the order of threads one by one, with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.backends.cpu.emit.combine import Combining, Reduction, combined
from workbench.backends.cpu.emit.emit_module import HANDLERS
from workbench.backends.cpu.emit.types import cast
from workbench.backends.cpu.gang.emitter import GangEmitter, each_lane
from workbench.backends.cpu.gang.memory import add_contiguous
from workbench.backends.cpu.gang.transposes import row_sums
from workbench.backends.llvm.values import splat, vector
from workbench.ir.values import Op, Value
from workbench.limits import TRANSPOSED_BLOCK
from workbench.types import Kind, element, float32


def begin_gang(emitter: GangEmitter, combining: Combining) -> None:
    """Emit the start of a gang: set the results of its threads to the values that change nothing."""
    for reduction, k in combining.parts:
        kind = vector(reduction.register, emitter.width)
        empty = splat(reduction.register, reduction.identity)
        for _ in emitter.each_part():
            emitter.writer.do(f"store {kind} {empty}, ptr {_own(emitter, reduction, k)}")


def end_gang(emitter: GangEmitter, combining: Combining) -> None:
    """Emit the end of a gang: the results of its threads are written to the buffers, side by side."""
    w = emitter.writer
    for reduction, k in combining.parts:
        address, kind = combining.result_address(reduction, k), vector(reduction.register, emitter.width)
        align = 8 if reduction.register == "double" else reduction.scalar.bits // 8
        for part in emitter.each_part():
            result = w.emit(f"load {kind}, ptr {_own(emitter, reduction, k)}")
            at = w.emit(f"getelementptr {kind}, ptr {address}, i32 {part}") if part else address
            w.do(f"store {kind} {result}, ptr {at}, align {align}")


def emit_change(emitter: GangEmitter, op: Op) -> None:
    """Emit a change of one element in the lanes that are on.

    It is combined over threads if it is a reduction. Otherwise additions to one element, or side by side, are vectors,
    and all else goes lane by lane.
    """
    reduction: Reduction | None = emitter.reductions.get(op)
    if reduction is None:
        if _is_one_sum(emitter, op):
            _add_together(emitter, op)
        elif op.name != "atomic_add" or not add_contiguous(emitter, op):
            each_lane(emitter, op)
        return
    for _ in emitter.each_part():
        _combine(emitter, op, reduction)
    for result in op.results:  # nothing looks at it
        emitter.bind(result, emitter.of_all_parts(op.operands[-1]))


def _combine(emitter: GangEmitter, op: Op, reduction: Reduction) -> None:
    """Emit the combination of the current part's values with the threads' results so far, in lanes that are on."""
    w, kind = emitter.writer, reduction.register
    value = _as_combined(emitter, op, reduction)
    for k, new in zip(reduction.components, value, strict=True):
        address, wide = _own(emitter, reduction, k), vector(kind, emitter.width)
        old = w.emit(f"load {wide}, ptr {address}")
        if not reduction.once:
            new = combined(reduction, emitter.typed(old, kind), emitter.typed(new, kind)).text
        w.do(f"store {wide} {emitter.merged(emitter.mask, kind, new, old)}, ptr {address}")


def _is_one_sum(emitter: GangEmitter, op: Op) -> bool:
    """Return whether all lanes add to the same element, and its old value is not used."""
    scalar = element(op.operands[-1].type)
    where = op.operands[:-1]
    return op.name == "atomic_add" and not scalar.is_half and emitter.varying.isdisjoint(where) and not emitter.uses(op)


def _add_together(emitter: GangEmitter, op: Op) -> None:
    """Emit an addition to one element, or to one for each row: of the sum of the lanes that are on."""
    value, terms = op.operands[-1], _terms(emitter, op.operands[-1])
    rows = emitter.rows if not emitter.by_row.isdisjoint(op.operands[1:-1]) else 1
    count = len(terms) // rows
    folded = [_folded(emitter, value, terms[k * count : (k + 1) * count], emitter.width) for k in range(rows)]
    sums = [_summed(emitter, value, vectors) for vectors in zip(*folded, strict=True)]
    for row, totals in enumerate(zip(*sums, strict=True)):
        total = Value(value.type, "total")
        emitter.bind(total, totals)
        results = tuple(Value(r.type) for r in op.results)
        with emitter.in_row(row):
            HANDLERS["atomic_add"](emitter, op.replace((*op.operands[:-1], total), results=results))


def _summed(emitter: GangEmitter, value: Value, vectors: Sequence[str]) -> list[str]:
    """Emit the sum of the lanes of each vector, halves pairwise; return the scalars.

    Args:
        emitter: its block is open.
        value: a value of their type.
        vectors: the registers, as many as a power of two.
    """
    w, kind, sums = emitter.writer, emitter.scalar_kind(value), list[str]()
    for first in range(0, len(vectors), emitter.width):
        rows = vectors[first : first + emitter.width]
        total, apart = row_sums(w.emit, _verb(value), kind, element(value.type).size, rows, emitter.width)
        wide = vector(kind, emitter.width)
        sums += [w.emit(f"extractelement {wide} {total}, i64 {k * apart}") for k in range(len(rows))]
    return sums


def emit_slot_total(emitter: GangEmitter, op: Op) -> None:
    """Emit the write to a slot of what the lanes that are on add, summed up pairwise to as many as a block has."""
    from workbench.backends.cpu.gang.slots import slot_row

    value, side = op.operands[-1], min(emitter.width, TRANSPOSED_BLOCK)
    (total,) = _folded(emitter, value, _terms(emitter, value), side)
    (address,) = emitter.vectors[op.operands[0]]
    kind = vector(emitter.scalar_kind(value), side)
    emitter.writer.do(f"store {kind} {total}, ptr {slot_row(emitter, op, address)}")


def _terms(emitter: GangEmitter, value: Value) -> list[list[str]]:
    """Return a value's components in each part, with what adds nothing in lanes that are off."""
    kind = emitter.scalar_kind(value)
    nothing = splat(kind, "-0.0" if _verb(value) == "fadd" else "0")
    return [
        [emitter.merged(emitter.mask, kind, term, nothing) for term in emitter.vector(value)]
        for _ in emitter.each_part()
    ]


def _verb(value: Value) -> str:
    """Return LLVM's instruction that adds two values of a value's type."""
    return "fadd" if element(value.type).kind is Kind.FLOAT else "add"


def _folded(emitter: GangEmitter, value: Value, terms: Sequence[Sequence[str]], least: int) -> list[str]:
    """Emit the sums of a value's components over all parts, halves pairwise; return one vector for each.

    Args:
        emitter: its block is open.
        value: the value.
        terms: its components in each part.
        least: how many lanes the sums have: a part's are added up, halves pairwise, until they are as few.
    """
    w, kind, verb, totals = emitter.writer, emitter.scalar_kind(value), _verb(value), list[str]()
    for parts in map(list, zip(*terms, strict=True)):
        count, wide = emitter.width, vector(kind, emitter.width)
        while len(parts) > 1:
            halves = zip(parts[: len(parts) // 2], parts[len(parts) // 2 :], strict=True)
            parts = [w.emit(f"{verb} {wide} {low}, {high}") for low, high in halves]
        (part,) = parts
        while count > least:
            wide, half = vector(kind, count), count // 2
            low, high = (
                w.emit(f"shufflevector {wide} {part}, {wide} poison, <{half} x i32> <{_lanes(first, half)}>")
                for first in (0, half)
            )
            part, count = w.emit(f"{verb} {vector(kind, half)} {low}, {high}"), half
        totals.append(part)
    return totals


def _lanes(first: int, count: int) -> str:
    """Return a shuffle's mask, as LLVM text, of `count` lanes from `first` on."""
    return ", ".join(f"i32 {first + k}" for k in range(count))


def _as_combined(emitter: GangEmitter, op: Op, reduction: Reduction) -> list[str]:
    """Return the value's components in the current part, converted to the type in which they are combined."""
    w, scalar = emitter.writer, reduction.scalar
    if scalar.is_half:
        emitter.needs_halves(scalar)
    parts = []
    w.lanes = emitter.width
    for part in emitter.operands(op.operands[-1]):
        if scalar.is_half:
            part = w.emit(cast(part, scalar, float32))
        if reduction.register == "double" and scalar.bits < 64:
            part = w.emit(f"fpext float {part} to double")
        parts.append(part if part.startswith("%") else splat(reduction.register, part))
    w.lanes = 0
    w.settle()
    return parts


def _own(emitter: GangEmitter, reduction: Reduction, k: int) -> str:
    """Return the address of the current part's threads' results so far, for component `k` of a reduction."""
    kind = vector(reduction.register, emitter.width)
    return emitter.writer.once(
        ("gang", "reductions", emitter.width, emitter.part, k), f"alloca {kind}, align 64", "gang.sums"
    )
