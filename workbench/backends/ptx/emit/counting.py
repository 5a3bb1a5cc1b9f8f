"""Calls that count, in the variant of a kernel that is compiled with counters; else nothing is emitted."""

from __future__ import annotations

from workbench.backends.llvm.values import Value
from workbench.backends.ptx.counters import ROW, has_lane_count
from workbench.backends.ptx.emit.emitter import Emitter
from workbench.backends.ptx.library.counters import wbe_count_access, wbe_count_lanes


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
