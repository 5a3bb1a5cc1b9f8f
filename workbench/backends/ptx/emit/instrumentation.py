"""Calls that count or look at accesses, in a kernel's counting and sanitized variants; in others nothing is emitted."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.backends.llvm.values import Value, bits_of
from workbench.backends.ptx.counters import ROW, has_lane_count
from workbench.backends.ptx.emit.emitter import Emitter
from workbench.backends.ptx.library import written
from workbench.backends.ptx.library.counters import wbe_count_access, wbe_count_lanes
from workbench.backends.ptx.library.global_races import wbe_race_global
from workbench.backends.ptx.library.races import ATOMIC, ATOMIC_READ, READ, WRITE, wbe_fenced, wbe_race
from workbench.backends.ptx.library.watch import wbe_watch
from workbench.backends.ptx.syntax.program import Instruction


def count_access(e: Emitter, mask: Value, address: Value, size: int, atomic: bool = False) -> None:
    """Emit a call that counts a warp's access to memory; nothing if the kernel is compiled without counters.

    Args:
        e: the emitter; its `counters` is the index of the word at which the instructions' rows begin.
        mask: the i32 of the lanes that access memory.
        address: generic addresses, one per lane.
        size: bytes per lane.
        atomic: it is an atomic operation.
    """
    if e.counters is not None:
        wbe_count_access(e.ctx, _row(e), mask, address, size, int(atomic))


def count_guarded(e: Emitter) -> None:
    """Emit a call that counts the lanes that execute the current instruction.

    Nothing is emitted if the kernel is compiled without counters, or its block's count will do (`has_lane_count`).
    """
    if e.counters is not None and has_lane_count(e.instruction):
        wbe_count_lanes(e.ctx, _row(e), e.executing())


def _row(e: Emitter) -> int:
    """Return the index of the current instruction's first word in the table of counters."""
    return (e.counters or 0) + len(ROW) * e.index


_SPACES = {"shared": 1, "local": 2}


def sound_lanes(e: Emitter, mask: Value, address: Value, space: str, size: int) -> Value:
    """Emit the check that accesses lie in memory that they may touch; the other lanes fault.

    Args:
        e: the emitter; nothing is emitted unless it is `sanitizing`.
        mask: the i32 of the lanes that access memory.
        address: generic addresses.
        space: the state space that the instruction names; "" if it names none.
        size: bytes per lane.

    Returns:
        The mask of the lanes that pass; `mask` itself if nothing is emitted.
    """
    if not e.sanitizing or space == "param":
        return mask
    return wbe_watch(e.ctx, mask, address, size, _SPACES.get(space, 0), e.index)


def check_races(
    e: Emitter, mask: Value, address: Value, space: str, size: int, kind: int, value: Value | None = None
) -> None:
    """Emit the check of an access to shared or global memory for data races; nothing unless `e.sanitizing`.

    Args:
        e: the emitter.
        mask: the i32 of the lanes that access memory.
        address: generic addresses.
        space: the state space that the instruction names; "" if it names none.
        size: bytes per lane.
        kind: of access: READ, WRITE, ATOMIC, ATOMIC_READ or COPY (`library/races.py`).
        value: what a WRITE writes, as integers: writes of equal values do not race. None: not known.
    """
    if not e.sanitizing or space not in ("shared", "global", ""):
        return
    stored = 0 if value is None else value.to("i64")
    # In global memory a volatile access is one between threads: PTX gives it the order of a relaxed one.
    volatile = "volatile" in e.instruction.modifiers
    between = {READ: ATOMIC_READ, WRITE: ATOMIC}.get(kind, kind) if volatile else kind
    for find, here, number in ((wbe_race, "shared", kind), (wbe_race_global, "global", between)):
        if space in (here, ""):
            find(e.ctx, mask, size, number, e.index, address, stored)


def note_read(e: Emitter, mask: Value, address: Value, space: str, elem: str, parts: Iterable[int] = (0,)) -> None:
    """Emit the check that the elements which lanes read have been written, in a sanitized kernel.

    Nothing is emitted for parameters and constants, nor for a load whose result a compiler may have meant to
    discard.

    Args:
        e: the emitter; nothing is emitted unless it is `sanitizing`.
        mask: the i32 of the lanes that read.
        address: generic addresses.
        space: the state space that the instruction names; "" if it names none.
        elem: the LLVM type of an element.
        parts: which elements to check, counted from the address; a compiler may read others along that nothing
            uses.
    """
    if space in ("param", "const") or (space != "global" and id(e.instruction) in e.speculated):
        return
    if e.sanitizing:
        for n in parts:
            at = address + n * bits_of(elem) // 8 if n else address
            written.READ[elem](e.ctx, mask, at, e.index)


def note_write(e: Emitter, mask: Value, address: Value, elem: str, count: int = 1, copying: bool = False) -> None:
    """Emit the record that `count` consecutive elements per lane are written, in a sanitized kernel.

    With `copying` they count as written only once the warp waits for its asynchronous copies.
    """
    if e.sanitizing:
        shadow = e.number(0, "i64")
        if copying:
            byte = _groups(e) | 0x80
            shadow = byte.to("i64") * 0x0101010101010101
        for n in range(count):
            at = address + n * bits_of(elem) // 8 if n else address
            written.WROTE[elem](e.ctx, mask, at, shadow)


GROUPS = ("%groups = alloca i32", "store i32 0, ptr %groups")
"""LLVM IR that declares the number of groups of `cp.async` that the warp has closed, modulo 127."""


def _groups(e: Emitter) -> Value:
    """Emit a load of the number of copy groups that the warp has closed, modulo 127; return it, a scalar i32."""
    return e.value("%groups", "ptr").load("i32")


def end_copy_group(e: Emitter) -> None:
    """Emit the end of the warp's current group of asynchronous copies, in a sanitized kernel."""
    if e.sanitizing:
        now = (_groups(e) + 1).do("urem", 127)
        e.do(f"store {now}, ptr %groups")


def wait_for_copies(e: Emitter, left: int = 0) -> None:
    """Emit a sanitizer call that marks the warp's awaited copies as written; its last `left` groups stay pending."""
    if e.sanitizing:
        written.wbe_landed(e.ctx, _groups(e), min(left, 126))


def note_order(e: Emitter, i: Instruction) -> None:
    """Emit the order that an instruction gives without a barrier, in a sanitized kernel.

    A fence, an acquire or a release orders in both directions; an atomic with a result only comes after others' fences.
    """
    if not e.sanitizing:
        return
    if i.opcode in ("membar", "fence") or not {"acquire", "release", "acq_rel"}.isdisjoint(i.modifiers):
        fence(e, gives=True)
    elif i.opcode == "atom":
        fence(e, gives=False)


def fence(e: Emitter, gives: bool) -> None:
    """Emit that the warp comes after what others did before their fences, in a sanitized kernel.

    With `gives` this is a fence of its own: others may come after it from now on.
    """
    if e.sanitizing:
        wbe_fenced(e.ctx, int(gives))
