"""A thread's slots: a local array, in registers where it is small.

Registers have no address. An array whose indices are known while compiling is in them anyway; of another, where the
kernel's are small enough together, each access looks at all of it, which is cheaper than local memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.backends.cuda.cpp.c_names import c_type
from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.backends.cuda.cpp.pieces import Pieces
from workbench.ir.values import Block, Function, Op, Value, slots_of, walk
from workbench.types import Vector, element

WORDS = 72
"""The most words of 32 bits that slots may take in registers at once: about those of a state of 16 bytes."""
PIECES: Pieces = {
    ("slots",): """\
template <typename T, int N> WB_FN T wb_slot(const T (&slots)[N], int at) {
    T found = slots[0];
#pragma unroll
    for (int k = 1; k < N; ++k) found = k == at ? slots[k] : found;
    return found;
}
template <typename T, int N> WB_FN void wb_keep(T (&slots)[N], int at, T value) {
#pragma unroll
    for (int k = 0; k < N; ++k) slots[k] = k == at ? value : slots[k];
}
"""
}


def slots_in_registers(function: Function) -> frozenset[Value]:
    """Return the function's slots that are accessed as registers; those of inner loops are chosen first.

    A kernel of tiles has none: its indices into slots are literals anyway.
    """
    chosen: set[Value] = set()
    if not function.block_dim:
        _choose(function.body, chosen)
    return frozenset(chosen)


def _choose(block: Block, chosen: set[Value]) -> int:
    """Add the block's slots to `chosen` if they fit in registers next to those of nested blocks.

    Returns:
        The words that the chosen ones need at once.
    """
    words_of = {op.result: _words(op.result) for op in block.ops if op.name == "slots"}
    last = {v: n for n, op in enumerate(block.ops) for o in (op, *_nested(op)) for v in o.operands if v in words_of}
    inner = [max((_choose(b, chosen) for b in op.blocks), default=0) for op in block.ops]
    live, most = 0, 0
    for position, op in enumerate(block.ops):
        live += words_of[op.result] if op.name == "slots" else 0
        most = max(most, live + inner[position])
        live -= sum(words for v, words in words_of.items() if last.get(v) == position)
    if most > WORDS:
        return max(inner)
    chosen.update(words_of)
    return most


def _nested(op: Op) -> Iterator[Op]:
    """Return all operations inside an operation's blocks."""
    return (inner for block in op.blocks for inner in walk(block))


def _words(value: Value) -> int:
    """Return how many 32-bit registers slots take."""
    type = slots_of(value)
    parts = type.dtype.length if isinstance(type.dtype, Vector) else 1
    return type.count * parts * max(1, element(type).bits // 32)


def emit_slots(e: Emitter, op: Op) -> list[str]:
    """Emit the declaration of slots as a local array with a fresh name."""
    type = slots_of(op.result)
    name = e.names[op.result] = e.fresh(op.result.name or "slots")
    e.expressions.require_type(type.dtype)
    return [f"{c_type(type.dtype)} {name}[{type.count}];"]


def emit_slot_read(e: Emitter, op: Op) -> list[str]:
    """Emit a local with the slot's value, which later writes do not change; nothing if the value is not used."""
    if op.result not in e.inlining.uses:
        return []
    slots, index = op.operands
    name, at = e.names[slots], e.expressions.argument(index)
    if slots in e.registers:
        e.expressions.keys.add(("slots",))
        return [f"{e.declare(op.result)} = wb_slot({name}, int({at}));"]
    return [f"{e.declare(op.result)} = {name}[{at}];"]


def emit_slot_write(e: Emitter, op: Op) -> list[str]:
    """Emit an assignment to an element of slots."""
    slots, index, value = op.operands
    name, at, text = e.names[slots], e.expressions.argument(index), e.expressions.argument(value)
    if slots in e.registers:
        e.expressions.keys.add(("slots",))
        return [f"wb_keep({name}, int({at}), {text});"]
    return [f"{name}[{at}] = {text};"]
