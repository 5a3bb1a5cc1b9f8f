"""Calls that look at accesses, in the sanitized variant of a kernel; else nothing is emitted."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.backends.ptx.emit.emitter import Emitter
from workbench.backends.ptx.emit.values import WIDTH, Value
from workbench.backends.ptx.library.races import ATOMIC, ATOMIC_READ, READ, WRITE
from workbench.backends.ptx.syntax.program import Instruction

_SPACES = {"shared": 1, "local": 2}


def sound_lanes(e: Emitter, mask: str, address: Value, space: str, size: int) -> str:
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
    return e.call(
        "wbe_watch", "i32", "ptr %ctx", f"i32 {mask}", e.spread(address), f"i32 {size}",
        f"i32 {_SPACES.get(space, 0)}", f"i32 {e.index}",
    )  # fmt: skip


def check_races(
    e: Emitter, mask: str, address: Value, space: str, size: int, kind: int, value: Value | None = None
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
    written = Value("zeroinitializer", "i64") if value is None else e.spread(e.resize(value, "i64"))
    # In global memory a volatile access is one between threads: PTX gives it the order of a relaxed one.
    volatile = "volatile" in e.instruction.modifiers
    between = {READ: ATOMIC_READ, WRITE: ATOMIC}.get(kind, kind) if volatile else kind
    for name, here, number in (("wbe_race", "shared", kind), ("wbe_race_global", "global", between)):
        if space in (here, ""):
            e.call(
                name, "void", "ptr %ctx", f"i32 {mask}", f"i32 {size}", f"i32 {number}", f"i32 {e.index}",
                e.spread(address), written,
            )  # fmt: skip


def note_read(e: Emitter, mask: str, address: Value, space: str, elem: str, parts: Iterable[int] = (0,)) -> None:
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
            at = e.op("add", address, e.int(n * WIDTH[elem] // 8, "i64")) if n else address
            e.call(f"wbe_read_{elem}", "void", "ptr %ctx", f"i32 {mask}", e.spread(at), f"i32 {e.index}")


def note_write(e: Emitter, mask: str, address: Value, elem: str, count: int = 1, copying: bool = False) -> None:
    """Emit the record that `count` consecutive elements per lane are written, in a sanitized kernel.

    With `copying` they count as written only once the warp waits for its asynchronous copies.
    """
    if e.sanitizing:
        shadow = e.int(0, "i64")
        if copying:
            byte = e.op("or", _groups(e), e.int(0x80, "i32"))
            shadow = e.op("mul", e.resize(byte, "i64"), e.int(0x0101010101010101, "i64"))
        for n in range(count):
            at = e.op("add", address, e.int(n * WIDTH[elem] // 8, "i64")) if n else address
            e.call(f"wbe_wrote_{elem}", "void", "ptr %ctx", f"i32 {mask}", e.spread(at), shadow)


GROUPS = ("%groups = alloca i32", "store i32 0, ptr %groups")
"""LLVM IR that declares the number of groups of `cp.async` that the warp has closed, modulo 127."""


def _groups(e: Emitter) -> Value:
    """Emit a load of the number of copy groups that the warp has closed, modulo 127; return it, a scalar i32."""
    return e.new("load i32, ptr %groups", "i32", False)


def end_copy_group(e: Emitter) -> None:
    """Emit the end of the warp's current group of asynchronous copies, in a sanitized kernel."""
    if e.sanitizing:
        now = e.op("urem", e.op("add", _groups(e), e.int(1, "i32")), e.int(127, "i32"))
        e.row(f"store {now}, ptr %groups")


def wait_for_copies(e: Emitter, left: int = 0) -> None:
    """Emit a sanitizer call that marks the warp's awaited copies as written; its last `left` groups stay pending."""
    if e.sanitizing:
        e.call("wbe_landed", "void", "ptr %ctx", _groups(e), f"i32 {min(left, 126)}")


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
        e.call("wbe_fenced", "void", "ptr %ctx", f"i32 {int(gives)}")
