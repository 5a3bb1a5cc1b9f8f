"""Rules for instructions that the lanes of a warp execute together, barriers, and calls of the device's functions."""

from __future__ import annotations

import re

from workbench.backends.ptx.context import ARRIVED
from workbench.backends.ptx.emit.counting import count_access
from workbench.backends.ptx.emit.emitter import LANE_NUMBERS, Emitter, Rule
from workbench.backends.ptx.emit.memory import Access, access, checked
from workbench.backends.ptx.emit.sanitizing import check_races, note_read, note_write, sound_lanes
from workbench.backends.ptx.emit.values import Value
from workbench.backends.ptx.library.races import COPY, READ
from workbench.backends.ptx.matrices import PRODUCTS, Fragments, Product
from workbench.backends.ptx.syntax.program import BITS, Group, Instruction, Operand, Symbol

_LANES = Value(LANE_NUMBERS, "i32")


def _members(e: Emitter, operand: Operand) -> Value:
    """Return the member mask of a warp instruction, per lane; emit a check that faults if lanes in it have not come."""
    members = e.spread(e.read(operand, "b32"))
    alive = e.new("load i32, ptr %alive", "i32", False)
    e.call("wbe_members", "void", "ptr %ctx", f"i32 {e.executing()}", alive, members, f"i32 {e.index}")
    return members


def _shfl(e: Emitter, i: Instruction) -> None:
    """Emit shfl.sync: the value of another lane, and whether that lane is in the segment; refuse it without `.sync`."""
    if "sync" not in i.modifiers:
        raise e.unsupported_instruction()
    first, second = e.pair(i.operands[0])
    value, b, c = (e.read(i.operands[n], "b32") for n in (1, 2, 3))
    _members(e, i.operands[4])
    mode = next(m for m in i.modifiers if m in ("up", "down", "bfly", "idx"))
    b, clamp = e.op("and", b, e.int(31, "i32")), e.op("and", c, e.int(31, "i32"))
    segment = e.op("and", e.op("lshr", c, e.int(8, "i32")), e.int(31, "i32"))
    outside = e.op("xor", segment, e.int(31, "i32"))
    low = e.op("and", _LANES, segment)
    high = e.op("or", low, e.op("and", clamp, outside))
    if mode == "idx":
        source = e.op("or", low, e.op("and", b, outside))
    else:
        source = e.op({"up": "sub", "down": "add", "bfly": "xor"}[mode], _LANES, b)
    within = e.compare("icmp sge" if mode == "up" else "icmp sle", source, high)
    source = e.select(within, source, _LANES)
    e.write(first, e.lanes_of("wbe_permute", "i32", e.spread(value), e.spread(source)))
    e.write(second, within)


def _vote(e: Emitter, i: Instruction) -> None:
    """Emit vote.sync: all, any, uni or ballot of a predicate over the executing members; refuse it without `.sync`."""
    if "sync" not in i.modifiers:
        raise e.unsupported_instruction()
    kind = next(m for m in i.modifiers if m in ("all", "any", "uni", "ballot"))
    held = e.mask_bits(e.read(i.operands[1], "pred"))
    members = _members(e, i.operands[2])
    here = e.op("and", members, Value(e.executing(), "i32", False))
    yes = e.op("and", here, Value(held, "i32", False))
    zero = e.int(0, "i32")
    if kind == "ballot":
        return e.write(i.operands[0], yes)
    none, all = e.compare("icmp eq", yes, zero), e.compare("icmp eq", yes, here)
    if kind == "any":
        return e.write(i.operands[0], e.op("xor", none, e.int(1, "i1")))
    e.write(i.operands[0], all if kind == "all" else e.op("or", all, none))


def _match(e: Emitter, i: Instruction) -> None:
    """Emit match: the mask of members with an equal value, or with `.all` the members if all are equal, and whether."""
    first, second = e.pair(i.operands[0])
    value = e.read(i.operands[1], i.type)
    wide = e.spread(e.resize(value, "i64"))
    members = _members(e, i.operands[2])
    here = e.op("and", members, Value(e.executing(), "i32", False))
    equal = e.lanes_of("wbe_match", "i32", e.spread(wide), e.spread(here))
    if "any" in i.modifiers:
        return e.write(first, equal)
    same = e.compare("icmp eq", equal, here)
    e.write(first, e.select(same, here, e.int(0, "i32")))
    e.write(second, same)


def _redux(e: Emitter, i: Instruction) -> None:
    """Emit redux: the reduction of a 32-bit integer over the executing members; refuse other types and operations."""
    operation = next((m for m in i.modifiers if m in ("add", "min", "max", "and", "or", "xor")), "")
    if not operation or i.type not in ("s32", "u32", "b32"):
        raise e.unsupported_instruction()
    value = e.spread(e.read(i.operands[1], i.type))
    members = _members(e, i.operands[2])
    here = e.op("and", members, Value(e.executing(), "i32", False))
    name = f"{i.type[0]}{operation}" if operation in ("min", "max") else operation
    e.write(i.operands[0], e.lanes_of(f"wbe_redux_{name}", "i32", value, e.spread(here)))


def _activemask(e: Emitter, i: Instruction) -> None:
    """Emit activemask: the mask of the executing lanes."""
    e.write(i.operands[0], Value(e.executing(), "i32", False))


def _elect(e: Emitter, i: Instruction) -> None:
    """Emit elect: the lowest executing member, and a predicate that holds in that lane."""
    first, second = e.pair(i.operands[0])
    members = _members(e, i.operands[1])
    here = e.op("and", members, Value(e.executing(), "i32", False))
    leader = e.intrinsic("llvm.cttz", e.spread(here), more="i1 false")
    e.write(first, leader)
    e.write(second, e.compare("icmp eq", leader, _LANES))


def _bar(e: Emitter, i: Instruction) -> None:
    """Emit bar or barrier: of a warp, a check of its members; of a block, an arrival and, except for arrive, a wait.

    With `.red` the predicates are reduced. Raise a BuildError for a cluster.
    """
    if "warp" in i.modifiers:
        _members(e, i.operands[0])
        e.row('fence syncscope("singlethread") seq_cst')
        if e.sanitizing:
            e.call("wbe_warp_synced", "void", "ptr %ctx")
        return
    if "cluster" in i.modifiers:
        raise e.unsupported_instruction()
    kind = next((m for m in i.modifiers if m in ("sync", "arrive", "red")), "")
    operands = list(i.operands)
    result = operands.pop(0) if kind == "red" else None
    predicate = operands.pop() if kind == "red" else None
    barrier = _scalar(e, operands[0]) if operands else "0"
    count = _scalar(e, operands[1]) if len(operands) > 1 else "0"
    counted = "0"
    mask = e.executing()
    if predicate is not None:
        held = e.mask_bits(e.read(predicate, "pred"))
        counted = e.new(f"and i32 {held}, {mask}", "i32", False).text
    alive = e.new("load i32, ptr %alive", "i32", False)
    waits = "0" if kind == "arrive" else "1"
    e.call(
        "wbe_arrive", "void", "ptr %ctx", f"i32 {mask}", alive, f"i32 {barrier}", f"i32 {count}", f"i32 {counted}",
        f"i32 {waits}", f"i32 {e.index}",
    )  # fmt: skip
    if kind != "arrive":
        e.suspend()
    if result is not None:
        _reduced(e, i, result, barrier)


def _reduced(e: Emitter, i: Instruction, result: Operand, barrier: str) -> None:
    """Emit the result of `bar.red`, read from the barrier's fourth word: the predicates of the phase just ended."""
    at = e.new(f"mul i32 {barrier}, 32", "i32", False)
    row = e.new(f"getelementptr i8, ptr %ctx, i32 {at.text}", "ptr", False)
    word = e.new(f"getelementptr i8, ptr {row.text}, i64 {8 * (ARRIVED + 3)}", "ptr", False)
    both = e.new(f"load i64, ptr {word.text}", "i64", False)
    yes = e.resize(both, "i32")
    if "popc" in i.modifiers:
        return e.write(result, yes)
    all = e.resize(e.op("lshr", both, e.int(32, "i64")), "i32")
    if "and" in i.modifiers:
        return e.write(result, e.compare("icmp eq", yes, all))
    e.write(result, e.compare("icmp ne", yes, e.int(0, "i32")))


def _scalar(e: Emitter, operand: Operand) -> str:
    """Return the text of a 32-bit operand that all executing lanes share, taken from the first of them."""
    value = e.read(operand, "b32")
    if not value.lanes:
        return value.text
    return e.call("wbe_first", "i32", f"i32 {e.executing()}", value)


def _call(e: Emitter, i: Instruction) -> None:
    """Emit a call of a device function that the host serves: printf, a graph's condition, or a failed assertion."""
    returns, name, arguments = i.operands
    assert isinstance(returns, Group) and isinstance(name, Symbol) and isinstance(arguments, Group)
    mask = e.executing()
    values = [_argument(e, a) for a in arguments.items]
    if name.name == "vprintf":
        printed = e.lanes_of("wbe_vprintf", "i32", "ptr %ctx", f"i32 {mask}", *values[:2])
        for variable in returns.items:
            _store(e, variable, mask, printed)
    elif name.name == "cudaGraphSetConditional":
        e.call("wbe_condition", "void", "ptr %ctx", f"i32 {mask}", *values[:2])
    else:
        e.call("wbe_fault", "void", "ptr %ctx", "i32 8", f"i32 {mask}", values[0], "i32 0", f"i32 {e.index}")


def _local_access(e: Emitter, operand: Operand) -> Access:
    """Return the access to a variable in local memory, whose window is all of the arena."""
    assert isinstance(operand, Symbol)
    at = e.op("add", Value("%local", "i64"), e.symbol(operand))
    return Access(at, e.word("ARENA"), e.word("SIZE"))


def _argument(e: Emitter, operand: Operand) -> Value:
    """Emit the load of a call's argument, a variable in local memory, as eight bytes; return its value.

    Behind an argument of four bytes these include the next one's.
    """
    source = _local_access(e, operand)
    mask = checked(e, e.executing(), source, 4)
    return e.lanes_of("wbe_gather_i64", "i64", f"i32 {mask}", source.address)


def _store(e: Emitter, operand: Operand, mask: str, value: Value) -> None:
    """Emit an unchecked store of an i32 per lane to a variable in local memory, noted as written."""
    target = _local_access(e, operand)
    note_write(e, mask, target.address, "i32")
    e.call("wbe_scatter_i32", "void", f"i32 {mask}", target.address, value)


def _trap(e: Emitter, i: Instruction) -> None:
    """Emit trap: a fault of the executing lanes."""
    nowhere = Value("zeroinitializer", "i64")
    e.call("wbe_fault", "void", "ptr %ctx", "i32 3", f"i32 {e.executing()}", nowhere, "i32 0", f"i32 {e.index}")


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
            e.row(f"store {e.spread(e.bits(e.read(item, kind)))}, ptr {_at(e, at)}, align 64")
            at += _WORD * BITS[kind] // 32
    pointers = ", ".join(f"ptr {_at(e, p)}" for p in slots)
    e.call(product.name, "void", *pointers.split(", "))
    elem = f"i{BITS[kinds[2]]}"
    saturate = "satfinite" in i.modifiers
    if saturate:
        raise e.unsupported_instruction()
    at = slots[2]
    for item in to:
        e.write(item, e.new(f"load <32 x {elem}>, ptr {_at(e, at)}, align 64", elem))
        at += _WORD * BITS[kinds[2]] // 32


def _layout(i: Instruction) -> tuple[str, ...]:
    """Return the layouts that an instruction names, "row" or "col", in order."""
    return tuple(m for m in i.modifiers if m in ("row", "col"))


def _at(e: Emitter, offset: int) -> str:
    """Emit the address `offset` bytes into `%scratch`, which holds matrices' fragments; return its name."""
    return e.new(f"getelementptr i8, ptr %scratch, i64 {offset}", "ptr", False).text


def _ldmatrix(e: Emitter, i: Instruction) -> None:
    """Emit ldmatrix or stmatrix of 1, 2 or 4 matrices of 8x8 16-bit elements, with checks; refuse other forms."""
    count = next((int(m[1:]) for m in i.modifiers if m in ("x1", "x2", "x4")), 0)
    if not count or "m8n8" not in i.modifiers or i.type != "b16":
        raise e.unsupported_instruction()
    store = i.opcode == "stmatrix"
    registers = e.group(i.operands[1] if store else i.operands[0])
    rows_at = access(e, i.operands[0] if store else i.operands[1], "shared")
    rows = (1 << 8 * count) - 1
    used = e.new(f"and i32 {e.executing()}, {rows - (1 << 32) if rows >> 31 else rows}", "i32", False).text
    count_access(e, used, rows_at.address, 16)
    used = sound_lanes(e, used, rows_at.address, rows_at.space, 16)
    check_races(e, used, rows_at.address, rows_at.space, 16, COPY if store else READ)
    mask = checked(e, used, rows_at, 16)
    if store:
        note_write(e, mask, rows_at.address, "i64", 2)
    else:
        note_read(e, mask, rows_at.address, rows_at.space, "i64", range(2))
    if store:
        for n, register in enumerate(registers):
            e.row(f"store {e.spread(e.read(register, 'b32'))}, ptr {_at(e, n * _WORD)}, align 64")
    trans = "true" if "trans" in i.modifiers else "false"
    name = f"wbe_{i.opcode}"
    e.call(name, "void", f"i32 {mask}", e.spread(rows_at.address), f"i32 {count}", f"i1 {trans}", f"ptr {_at(e, 0)}")
    if not store:
        for n, register in enumerate(registers):
            value = e.new(f"load <32 x i32>, ptr {_at(e, n * _WORD)}, align 64", "i32")
            e.write(register, value)


def _movmatrix(e: Emitter, i: Instruction) -> None:
    """Emit movmatrix: the transpose of an 8x8 matrix of 16-bit elements; refuse other forms."""
    if "trans" not in i.modifiers or i.type != "b16":
        raise e.unsupported_instruction()
    value: Value = e.spread(e.read(i.operands[1], "b32"))
    e.write(i.operands[0], e.lanes_of("wbe_movmatrix", "i32", value))


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
