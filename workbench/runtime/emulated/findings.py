"""Findings: what a sanitized launch did wrong, with all that its error needs; they break no device."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import msgspec

from workbench.backends.ptx.kernel import Fault
from workbench.runtime.emulated.arena import Allocation, Arena
from workbench.runtime.emulated.code import Launch


class Finding(msgspec.Struct, frozen=True):
    """A fault of a sanitized launch, with what the message of its error needs.

    Attributes:
        kernel: the number of the kernel's handle.
        launch: its blocks, and the bytes of its parameters.
        fault: what it was, and where.
        line: in the text that was compiled, or the number of an operation; 0 if it is not known.
        other: the line of the other access of a race; 0 if there is none.
        memory: for each parameter the allocation that it points into, or to the end of; None if it is no such address.
        met: the allocation that the address at fault lies in; None if there is none.
        freed: the freed allocation that held the address last; None if it lies in another one, or was never allocated.
        shared: the address as an offset in the block's shared memory; None if it is not meant to lie there.
        shared_size: bytes of shared memory of the block.
        local: the address lies in the threads' local memory.
    """

    kernel: int
    launch: Launch
    fault: Fault
    line: int = 0
    other: int = 0
    memory: tuple[Allocation | None, ...] = ()
    met: Allocation | None = None
    freed: Allocation | None = None
    shared: int | None = None
    shared_size: int = 0
    local: bool = False


def pointed(params: Iterable[bytes], arena: Arena) -> tuple[Allocation | None, ...]:
    """Return for each parameter the allocation that it points into, or to the end of, or that was freed; else None.

    An array's first eight bytes are its address.
    """
    targets: list[Allocation | None] = []
    for value in params:
        address = struct.unpack_from("<Q", value)[0] if len(value) >= 8 else 0
        here = arena.holds(address)
        targets.append((arena.find(address) or arena.find(address - 1) or arena.found_freed(address)) if here else None)
    return tuple(targets)
