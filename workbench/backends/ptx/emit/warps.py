"""Rules for instructions that the lanes of a warp execute together, barriers, and calls of the device's functions."""

from __future__ import annotations

import re

from workbench.backends.llvm.values import Value
from workbench.backends.ptx.context import ARRIVED
from workbench.backends.ptx.emit.emitter import Emitter, Rule
from workbench.backends.ptx.emit.instrumentation import check_races, count_access, note_read, note_write, sound_lanes
from workbench.backends.ptx.emit.memory import Access, access, checked
from workbench.backends.ptx.emit.values import LANES
from workbench.backends.ptx.library import races, threads
from workbench.backends.ptx.library.barriers import wbe_arrive
from workbench.backends.ptx.library.faults import wbe_fault
from workbench.backends.ptx.library.lanes import LANE_FUNCTIONS, wbe_first, wbe_match, wbe_permute
from workbench.backends.ptx.library.memory import GATHER, SCATTER
from workbench.backends.ptx.library.products import MATRICES
from workbench.backends.ptx.library.races import COPY, READ
from workbench.backends.ptx.matrices import PRODUCTS, Fragments, Product
from workbench.backends.ptx.syntax.program import BITS, Group, Instruction, Operand, Symbol


def _members(e: Emitter, operand: Operand) -> Value:
    """Return the member mask of a warp instruction, per lane; emit a check that faults if lanes in it have not come."""
    members = e.read(operand, "b32").spread(LANES)
    threads.wbe_members(e.ctx, e.executing(), e.alive.load("i32"), members, e.index)
    return members


def _shfl(e: Emitter, i: Instruction) -> None:
    """Emit shfl.sync: the value of another lane, and whether that lane is in the segment; refuse it without `.sync`."""
    if "sync" not in i.modifiers:
        raise e.unsupported_instruction()
    first, second = e.pair(i.operands[0])
    value, b, c = (e.read(i.operands[n], "b32") for n in (1, 2, 3))
    _members(e, i.operands[4])
    mode = next(m for m in i.modifiers if m in ("up", "down", "bfly", "idx"))
    lanes, b, clamp = e.lane_numbers(), b & 31, c & 31
    segment = c >> 8 & 31
    outside = segment ^ 31
    low = lanes & segment
    high = low | clamp & outside
    if mode == "idx":
        source = low | b & outside
    else:
        source = lanes.do({"up": "sub", "down": "add", "bfly": "xor"}[mode], b)
    within = source.is_("sge" if mode == "up" else "sle", high)
    source = within.choose(source, lanes)
    e.write(first, wbe_permute(value, source))
    e.write(second, within)


def _vote(e: Emitter, i: Instruction) -> None:
    """Emit vote.sync: all, any, uni or ballot of a predicate over the executing members; refuse it without `.sync`."""
    if "sync" not in i.modifiers:
        raise e.unsupported_instruction()
    kind = next(m for m in i.modifiers if m in ("all", "any", "uni", "ballot"))
    held = e.read(i.operands[1], "pred").spread(LANES).mask
    members = _members(e, i.operands[2])
    here = members & e.executing()
    yes = here & held
    zero = e.number(0, "i32")
    if kind == "ballot":
        return e.write(i.operands[0], yes)
    none, all = yes.is_("eq", zero), yes.is_("eq", here)
    if kind == "any":
        return e.write(i.operands[0], ~none)
    e.write(i.operands[0], all if kind == "all" else all | none)


def _match(e: Emitter, i: Instruction) -> None:
    """Emit match: the mask of members with an equal value, or with `.all` the members if all are equal, and whether."""
    first, second = e.pair(i.operands[0])
    value = e.read(i.operands[1], i.type)
    wide = value.to("i64").spread(LANES)
    members = _members(e, i.operands[2])
    here = members & e.executing()
    equal = wbe_match(wide, here)
    if "any" in i.modifiers:
        return e.write(first, equal)
    same = equal.is_("eq", here)
    e.write(first, same.choose(here, 0))
    e.write(second, same)


def _redux(e: Emitter, i: Instruction) -> None:
    """Emit redux: the reduction of a 32-bit integer over the executing members; refuse other types and operations."""
    operation = next((m for m in i.modifiers if m in ("add", "min", "max", "and", "or", "xor")), "")
    if not operation or i.type not in ("s32", "u32", "b32"):
        raise e.unsupported_instruction()
    value = e.read(i.operands[1], i.type).spread(LANES)
    members = _members(e, i.operands[2])
    here = members & e.executing()
    name = f"{i.type[0]}{operation}" if operation in ("min", "max") else operation
    e.write(i.operands[0], LANE_FUNCTIONS[f"wbe_redux_{name}"](value, here))


def _activemask(e: Emitter, i: Instruction) -> None:
    """Emit activemask: the mask of the executing lanes."""
    e.write(i.operands[0], e.executing())


def _elect(e: Emitter, i: Instruction) -> None:
    """Emit elect: the lowest executing member, and a predicate that holds in that lane."""
    first, second = e.pair(i.operands[0])
    members = _members(e, i.operands[1])
    here = members & e.executing()
    leader = here.spread(LANES).intrinsic("cttz", more="i1 false")
    e.write(first, leader)
    e.write(second, leader.is_("eq", e.lane_numbers()))


def _bar(e: Emitter, i: Instruction) -> None:
    """Emit bar or barrier: of a warp, a check of its members; of a block, an arrival and, except for arrive, a wait.

    With `.red` the predicates are reduced. Raise a BuildError for a cluster.
    """
    if "warp" in i.modifiers:
        _members(e, i.operands[0])
        e.do('fence syncscope("singlethread") seq_cst')
        if e.sanitizing:
            races.wbe_warp_synced(e.ctx)
        return
    if "cluster" in i.modifiers:
        raise e.unsupported_instruction()
    kind = next((m for m in i.modifiers if m in ("sync", "arrive", "red")), "")
    operands = list(i.operands)
    result = operands.pop(0) if kind == "red" else None
    predicate = operands.pop() if kind == "red" else None
    barrier, count = (_scalar(e, operands[n]) if len(operands) > n else e.number(0, "i32") for n in (0, 1))
    mask = e.executing()
    counted = e.number(0, "i32") if predicate is None else e.read(predicate, "pred").spread(LANES).mask & mask
    alive, waits = e.alive.load("i32"), int(kind != "arrive")
    wbe_arrive(e.ctx, mask, alive, barrier, count, counted, waits, e.index)
    if kind != "arrive":
        e.suspend()
    if result is not None:
        _reduced(e, i, result, barrier)


def _reduced(e: Emitter, i: Instruction, result: Operand, barrier: Value) -> None:
    """Emit the result of `bar.red`, read from the barrier's fourth word: the predicates of the phase just ended."""
    both = e.ctx.at(barrier * 32).at(8 * (ARRIVED + 3)).load("i64")
    yes = both.to("i32")
    if "popc" in i.modifiers:
        return e.write(result, yes)
    all = (both >> 32).to("i32")
    if "and" in i.modifiers:
        return e.write(result, yes.is_("eq", all))
    e.write(result, yes.is_("ne", 0))


def _scalar(e: Emitter, operand: Operand) -> Value:
    """Return a 32-bit operand that all executing lanes share, taken from the first of them."""
    value = e.read(operand, "b32")
    return wbe_first(e.executing(), value) if value.lanes else value


def _call(e: Emitter, i: Instruction) -> None:
    """Emit a call of a device function that the host serves: printf, a graph's condition, or a failed assertion."""
    returns, name, arguments = i.operands
    assert isinstance(returns, Group) and isinstance(name, Symbol) and isinstance(arguments, Group)
    mask = e.executing()
    values = [_argument(e, a) for a in arguments.items]
    if name.name == "vprintf":
        printed = threads.wbe_vprintf(e.ctx, mask, *values[:2])
        for variable in returns.items:
            _store(e, variable, mask, printed)
    elif name.name == "cudaGraphSetConditional":
        threads.wbe_condition(e.ctx, mask, *values[:2])
    else:
        wbe_fault(e.ctx, 8, mask, values[0], 0, e.index)


def _local_access(e: Emitter, operand: Operand) -> Access:
    """Return the access to a variable in local memory, whose window is all of the arena."""
    assert isinstance(operand, Symbol)
    at = e.value("%local", "i64", LANES) + e.symbol(operand)
    return Access(at, e.word("ARENA"), e.word("SIZE"))


def _argument(e: Emitter, operand: Operand) -> Value:
    """Emit the load of a call's argument, a variable in local memory, as eight bytes; return its value.

    Behind an argument of four bytes these include the next one's.
    """
    source = _local_access(e, operand)
    mask = checked(e, e.executing(), source, 4)
    return GATHER["i64"](mask, source.address)


def _store(e: Emitter, operand: Operand, mask: Value, value: Value) -> None:
    """Emit an unchecked store of an i32 per lane to a variable in local memory, noted as written."""
    target = _local_access(e, operand)
    note_write(e, mask, target.address, "i32")
    SCATTER["i32"](mask, target.address, value)


def _trap(e: Emitter, i: Instruction) -> None:
    """Emit trap: a fault of the executing lanes."""
    wbe_fault(e.ctx, 3, e.executing(), 0, 0, e.index)


def _brkpt(e: Emitter, i: Instruction) -> None:
    """Emit nothing: breakpoints and performance events have no effect here."""


_WORD = 128
"""Bytes that one 32-bit register takes in all 32 lanes together."""


def _mma(e: Emitter, i: Instruction) -> None:
    """Emit mma or wmma.mma: a call of the library's function on fragments that go through `%scratch`.

    Raises:
        BuildError: its shape, types or layout have no such function, or it is sparse or saturates.
    """
    shape = next((s for m in i.modifiers if (s := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", m))), None)
    types = [m for m in i.modifiers if m in BITS]
    sparse = any(m.startswith("sp") or m.startswith("kind") for m in i.modifiers)
    fragments = i.opcode == "wmma"  # its operands are in one order, whatever their layout was in memory
    if fragments and len(types) == 2:
        types[1:1] = ["f16", "f16"]
    if shape is None or len(types) != 4 or sparse or "xor" in i.modifiers:
        raise e.unsupported_instruction()
    if not fragments and ("row", "col") != _layout(i):
        raise e.unsupported_instruction()
    d, a, b, c = types
    m, n, k = (int(s) for s in shape.groups())
    product = PRODUCTS.get((Fragments if fragments else Product)(m, n, k, a, b, c).name)
    if product is None or d != c:
        raise e.unsupported_instruction()
    to, *groups = (e.group(o) for o in i.operands[:4])
    kinds = [("b64" if t == "f64" else "b32") for t in (a, b, c)]
    at = 0
    slots: list[int] = []
    for group, kind in zip(groups, kinds, strict=True):
        slots.append(at)
        for item in group:
            _at(e, at).store(e.read(item, kind).bits.spread(LANES), align=64)
            at += _WORD * BITS[kind] // 32
    MATRICES[product.name](*(_at(e, slot) for slot in slots))
    elem = f"i{BITS[kinds[2]]}"
    if "satfinite" in i.modifiers:
        raise e.unsupported_instruction()
    at = slots[2]
    for item in to:
        e.write(item, _at(e, at).load(elem, LANES, align=64))
        at += _WORD * BITS[kinds[2]] // 32


def _layout(i: Instruction) -> tuple[str, ...]:
    """Return the layouts that an instruction names, "row" or "col", in order."""
    return tuple(m for m in i.modifiers if m in ("row", "col"))


def _at(e: Emitter, offset: int) -> Value:
    """Emit the address `offset` bytes into `%scratch`, which holds matrices' fragments."""
    return e.value("%scratch", "ptr").at(offset)


def _ldmatrix(e: Emitter, i: Instruction) -> None:
    """Emit ldmatrix or stmatrix of 1, 2 or 4 matrices of 8x8 16-bit elements, with checks; refuse other forms."""
    count = next((int(m[1:]) for m in i.modifiers if m in ("x1", "x2", "x4")), 0)
    if not count or "m8n8" not in i.modifiers or i.type != "b16":
        raise e.unsupported_instruction()
    store = i.opcode == "stmatrix"
    registers = e.group(i.operands[1] if store else i.operands[0])
    rows_at = access(e, i.operands[0] if store else i.operands[1], "shared")
    used = e.executing() & (1 << 8 * count) - 1
    count_access(e, used, rows_at.address, 16)
    used = sound_lanes(e, used, rows_at.address, rows_at.space, 16)
    check_races(e, used, rows_at.address, rows_at.space, 16, COPY if store else READ)
    mask = checked(e, used, rows_at, 16)
    if store:
        note_write(e, mask, rows_at.address, "i64", 2)
        for n, register in enumerate(registers):
            _at(e, n * _WORD).store(e.read(register, "b32").spread(LANES), align=64)
    else:
        note_read(e, mask, rows_at.address, rows_at.space, "i64", range(2))
    MATRICES[f"wbe_{i.opcode}"](mask, rows_at.address, count, int("trans" in i.modifiers), _at(e, 0))
    if not store:
        for n, register in enumerate(registers):
            e.write(register, _at(e, n * _WORD).load("i32", LANES, align=64))


def _movmatrix(e: Emitter, i: Instruction) -> None:
    """Emit movmatrix: the transpose of an 8x8 matrix of 16-bit elements; refuse other forms."""
    if "trans" not in i.modifiers or i.type != "b16":
        raise e.unsupported_instruction()
    e.write(i.operands[0], MATRICES["wbe_movmatrix"](e.read(i.operands[1], "b32")))


MATRIX_RULES: dict[str, Rule] = {
    "mma": _mma,
    "wmma": _mma,
    "ldmatrix": _ldmatrix,
    "stmatrix": _ldmatrix,
    "movmatrix": _movmatrix,
}
RULES: dict[str, Rule] = {
    "shfl": _shfl, "vote": _vote, "match": _match, "redux": _redux, "activemask": _activemask, "elect": _elect,
    "bar": _bar, "barrier": _bar, "call": _call, "trap": _trap, "brkpt": _brkpt, "pmevent": _brkpt,
    **MATRIX_RULES,
}  # fmt: skip
