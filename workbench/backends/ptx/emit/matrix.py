"""Rules for mma.sync, ldmatrix and stmatrix: operands go through memory to a function of the library."""

from __future__ import annotations

import re

from workbench.backends.ptx.emit.counting import count_access
from workbench.backends.ptx.emit.emitter import Emitter, Rule
from workbench.backends.ptx.emit.memory import access, checked
from workbench.backends.ptx.emit.sanitizing import check_races, note_read, note_write, sound_lanes
from workbench.backends.ptx.emit.values import Value
from workbench.backends.ptx.library.races import COPY, READ
from workbench.backends.ptx.matrices import PRODUCTS, Fragments, Product
from workbench.backends.ptx.syntax.program import BITS, Instruction

_WORD = 128
"""Bytes of a 32-bit register of all lanes."""


def _mma(e: Emitter, i: Instruction) -> None:
    shape = next((s for m in i.modifiers if (s := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", m))), None)
    types = [m for m in i.modifiers if m in BITS]
    sparse = any(m.startswith("sp") or m.startswith("kind") for m in i.modifiers)
    fragments = i.opcode == "wmma"  # its operands are in one order, whatever their layout was in memory
    if fragments and len(types) == 2:
        types[1:1] = ["f16", "f16"]
    if shape is None or len(types) != 4 or sparse or "xor" in i.modifiers:
        raise e.refuse()
    if not fragments and ("row", "col") != _layout(i):
        raise e.refuse()
    d, a, b, c = types
    m, n, k = (int(s) for s in shape.groups())
    product = PRODUCTS.get((Fragments if fragments else Product)(m, n, k, a, b, c).name)
    if product is None or d != c:
        raise e.refuse()
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
        raise e.refuse()
    at = slots[2]
    for item in to:
        e.write(item, e.new(f"load <32 x {elem}>, ptr {_at(e, at)}, align 64", elem))
        at += _WORD * BITS[kinds[2]] // 32


def _layout(i: Instruction) -> tuple[str, ...]:
    return tuple(m for m in i.modifiers if m in ("row", "col"))


def _at(e: Emitter, offset: int) -> str:
    return e.new(f"getelementptr i8, ptr %scratch, i64 {offset}", "ptr", False).text


def _ldmatrix(e: Emitter, i: Instruction) -> None:
    count = next((int(m[1:]) for m in i.modifiers if m in ("x1", "x2", "x4")), 0)
    if not count or "m8n8" not in i.modifiers or i.type != "b16":
        raise e.refuse()
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
    if "trans" not in i.modifiers or i.type != "b16":
        raise e.refuse()
    value: Value = e.spread(e.read(i.operands[1], "b32"))
    e.write(i.operands[0], e.lanes_of("wbe_movmatrix", "i32", value))


RULES: dict[str, Rule] = {
    "mma": _mma,
    "wmma": _mma,
    "ldmatrix": _ldmatrix,
    "stmatrix": _ldmatrix,
    "movmatrix": _movmatrix,
}
