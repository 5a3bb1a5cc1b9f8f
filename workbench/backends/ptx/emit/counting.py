"""Calls that count, in the variant of a kernel that is compiled with counters; else nothing is emitted."""

from __future__ import annotations

from workbench.backends.ptx.counters import ROW, has_lane_count
from workbench.backends.ptx.emit.emitter import Emitter
from workbench.backends.ptx.emit.values import Value


def count_access(e: Emitter, mask: str, address: Value, size: int, atomic: bool = False) -> None:
    """Emit a call that counts a warp's access to memory; nothing if the kernel is compiled without counters.

    Args:
        e: the emitter; its `counters` is the index of the word at which the instructions' rows begin.
        mask: the i32 of the lanes that access memory.
        address: generic addresses, one per lane.
        size: bytes per lane.
        atomic: it is an atomic operation.
    """
    if e.counters is not None:
        where = (f"i32 {mask}", e.spread(address), f"i32 {size}", f"i1 {int(atomic)}")
        e.call("wbe_count_access", "void", "ptr %ctx", f"i32 {_row(e)}", *where)


def count_guarded(e: Emitter) -> None:
    """Emit a call that counts the lanes that execute the current instruction.

    Nothing is emitted if the kernel is compiled without counters, or its block's count will do (`has_lane_count`).
    """
    if e.counters is not None and has_lane_count(e.instruction):
        e.call("wbe_count_lanes", "void", "ptr %ctx", f"i32 {_row(e)}", f"i32 {e.executing()}")


def _row(e: Emitter) -> int:
    """Return the index of the current instruction's first word in the table of counters."""
    return (e.counters or 0) + len(ROW) * e.index
