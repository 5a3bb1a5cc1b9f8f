"""Calls that count, in the variant of a kernel that is compiled with counters; else nothing is emitted."""

from __future__ import annotations

from workbench.backends.ptx.counters import ROW, has_lane_count
from workbench.backends.ptx.emit.emitter import Emitter
from workbench.backends.ptx.emit.values import Value


def count_access(e: Emitter, mask: str, address: Value, size: int, atomic: bool = False) -> None:
    """Emit the count of a warp's access, if this kernel is counted.

    Args:
        e: the emitter; its `counters` is the word of the first instruction's row.
        mask: the lanes.
        address: generic addresses.
        size: bytes per lane.
        atomic: it is an atomic operation.
    """
    if e.counters is not None:
        where = (f"i32 {mask}", e.spread(address), f"i32 {size}", f"i1 {int(atomic)}")
        e.call("wbe_count_access", "void", "ptr %ctx", f"i32 {_row(e)}", *where)


def count_guarded(e: Emitter) -> None:
    """Count the lanes that execute an instruction with a guard, if a count needs them."""
    if e.counters is not None and has_lane_count(e.instruction):
        e.call("wbe_count_lanes", "void", "ptr %ctx", f"i32 {_row(e)}", f"i32 {e.executing()}")


def _row(e: Emitter) -> int:
    return (e.counters or 0) + len(ROW) * e.index
