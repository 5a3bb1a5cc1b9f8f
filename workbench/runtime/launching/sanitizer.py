"""From what the emulated device found in a sanitized launch to the error that a user gets (`design/emulated.md`)."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.backends.faults import unravelled
from workbench.errors import KernelFault
from workbench.ir.values import number_ops
from workbench.runtime.launching.executable import Executable
from workbench.source import Location
from workbench.types import ArrayType

if TYPE_CHECKING:  # each needs the compiler of PTX, which few sessions load
    from workbench.runtime.emulated.arena import Allocation
    from workbench.runtime.emulated.findings import Finding

_FAR = 1 << 44
"""Bytes from an array to an address that is no index of it: devices' memory and null pointers are further apart."""
_WRITES = frozenset(("st", "stmatrix", "cp"))
_ATOMICS = frozenset(("atom", "red"))


def explained(executable: Executable, finding: Finding) -> KernelFault:
    """Return the error that a user gets for a finding of a sanitized launch, at the line of the cell as it is now."""
    sentence, advice = _SENTENCES[finding.fault.kind](_FaultReport(executable, finding))
    sentence = sentence[0].upper() + sentence[1:]
    thread = _three(finding.fault.thread, finding.launch.block)
    return KernelFault(
        sentence, _location_of(executable, finding.line), advice, executable.name, thread=thread,
        block=finding.fault.block, count=1, kind=_KINDS[finding.fault.kind],
    )  # fmt: skip


def _location_of(executable: Executable, line: int) -> Location | None:
    """Return the user's location for a line number in a finding; None if it has none."""
    if executable.locate is not None:
        return executable.locate(line) if line else None
    return next((op.location for op, n in number_ops(executable.function).items() if n == line), None)


def _three(linear: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return a linear index as (x, y, z) in a box of these sizes, x running fastest."""
    x, y, z = unravelled(linear, sizes[::-1])[::-1]
    return x, y, z


def _verb(opcode: str) -> str:
    """Return what a PTX instruction does to memory: "writes", "updates" (an atomic) or "reads"."""
    return "writes" if opcode in _WRITES else "updates" if opcode in _ATOMICS else "reads"


class _FaultReport:
    """A finding with the code of its launch, described in a user's words."""

    def __init__(self, executable: Executable, finding: Finding) -> None:
        """Begin a report of a finding in a launch of `executable`."""
        self.executable, self.finding, self.fault = executable, finding, finding.fault

    def who(self) -> str:
        """Return the name of the thread at fault: "thread (3,)"."""
        return self.named(self.fault.thread, self.fault.block)

    def named(self, thread: int, block: tuple[int, int, int]) -> str:
        """Return a thread's name: its index in the launch; if the kernel sees blocks, those in its block and the grid.

        A thread beyond the launch's dimensions has the second form, too.
        """
        launch = self.finding.launch
        position = _three(thread, launch.block)
        if self.executable.geometry is None and not self.executable.metadata.get("block_dim"):
            # The kernel's first parameter has the launch's dimensions; a user counts threads of the launch, not blocks.
            words = struct.unpack_from("<8I", launch.params[0])[::2]
            words = words if self.executable.index32 else struct.unpack_from("<4q", launch.params[0])
            dims = words[: max(self.executable.launch_ndim, 1)]
            linear = block[0] * launch.block[0] + position[0]
            if linear < math.prod(dims):
                return f"thread {unravelled(linear, dims)}"
        return f"thread {position} of block {block}"

    def does(self) -> str:
        """Return what the access does, in words: "reads 4 bytes"."""
        verb, count = _verb(self.fault.instruction.opcode), self.fault.size
        return f"{verb} {count} byte{'s' if count > 1 else ''}"

    def parameters(self) -> list[tuple[str, ArrayType, int, Allocation]]:
        """Return name, type, address and allocation of each array parameter that points to memory."""
        slots = self.executable.layout.slots
        order = (
            (None, *slots)
            if self.executable.geometry is None
            else [slots[k] for k in self.executable.geometry.param_slots]
        )
        launch = self.finding.launch.params
        return [
            (slot.name, slot.type, struct.unpack_from("<Q", value)[0], memory)
            for slot, value, memory in zip(order, launch, self.finding.memory, strict=False)
            if slot is not None and memory is not None and isinstance(slot.type, ArrayType)
        ]

    def nearest(self) -> tuple[str, ArrayType, int, Allocation] | None:
        """Return name, type, address and allocation of the array parameter nearest to the address at fault.

        It is None if the address is no index of any array.
        """
        at, freed = self.fault.address, self.finding.freed

        def distance(one: tuple[str, ArrayType, int, Allocation]) -> int:
            # Just beyond an array is most likely an index of that array, whatever lies there.
            return max(one[3].start - at, at - one[3].end, 0)

        near = min(self.parameters(), key=distance, default=None)
        lost = near is None or distance(near) > _FAR or (freed is not None and near[3] != freed)
        return None if lost else near

    def element(self) -> tuple[str, int, str, int]:
        """Return the address at fault as a text ("x[130]"), as an index, and its array's name and number of elements.

        If it belongs to no array parameter, index and number are 0, and the name is "".
        """
        near, freed, at = self.nearest(), self.finding.freed, self.fault.address
        if near is None:
            return f"byte {at - freed.start:,} of memory" if freed else f"the address {at:#x}", 0, "", 0
        name, type, start, memory = near
        size = type.dtype.size
        index, rest = divmod(self.fault.address - start, size)
        shown = f"{name}[{index}]" + (f" and {rest} bytes" if rest else "")
        return shown, index, name, (memory.end - start) // size


def _outside(report: _FaultReport) -> tuple[str, str]:
    """Return sentence and advice for an access outside of an allocation, of shared or of local memory."""
    finding, who, does = report.finding, report.who(), report.does()
    if finding.shared is not None:
        size = f"{finding.shared_size:,} bytes"
        return f"{who} {does} at byte {finding.shared:,} of shared memory, of which the block has {size}.", ""
    if finding.local:
        return f"{who} {does} of local memory that is not its own.", ""
    shown, index, name, count = report.element()
    if finding.freed is not None:
        whose = f"{shown}: {name}" if name else f"{shown} that"
        return f"{who} {does} at {whose} was freed ({finding.freed.nbytes:,} bytes).", _KEEP
    if not name:
        return f"{who} {does} at {shown}, which belongs to no allocation.", _POINTER
    side = "before its first element" if index < 0 else f"beyond its {count} element{'s' if count != 1 else ''}"
    return f"{who} {does} at {shown}, {side}.", _TEST


def _unwritten(report: _FaultReport) -> tuple[str, str]:
    """Return sentence and advice for a read of memory that nothing has written."""
    finding, who, does = report.finding, report.who(), report.does()
    if finding.shared is not None:
        return f"{who} {does} at byte {finding.shared:,} of shared memory, which no thread has written yet.", _FIRST
    if finding.local:
        return f"{who} {does} of its own variables that it has not written.", "Give each variable a value first."
    shown, _, name, _ = report.element()
    return f"{who} {does} at {shown}, which nothing has written.", f"Fill {name or 'it'} first, or make it by wb.zeros."


def _copied(report: _FaultReport) -> tuple[str, str]:
    """Return sentence and advice for an access to shared memory into which a `cp.async` is under way."""
    at = f"byte {report.finding.shared:,} of shared memory"
    return (
        f"{report.who()} {report.does()} at {at}, where a cp.async may not have arrived yet.",
        "Wait for it first (__pipeline_wait_prior, cp.async.wait_group), then let the threads meet at a barrier.",
    )


def _other(report: _FaultReport) -> tuple[str, str]:
    """Return the verb for the other access of a race, such as "writes", and its place, such as " in line 3" (or "")."""
    assert report.fault.other is not None
    location = _location_of(report.executable, report.finding.other)
    return _verb(report.fault.other.opcode), f" in line {location.shown_line}" if location is not None else ""


def _global_race(report: _FaultReport) -> tuple[str, str]:
    """Return sentence and advice for a race of two threads in global memory."""
    fault = report.fault
    verb, where = _other(report)
    within = fault.block == fault.other_block
    return (
        f"{report.who()} {report.does()} at {report.element()[0]}, which "
        f"{report.named(fault.other_thread, fault.other_block)} {verb}{where}; nothing orders the two.",
        "Put __syncthreads() between the two, or use atomics for both."
        if within and report.executable.geometry is not None
        else "Use atomics for both, let each thread write its own elements, or do it in two launches.",
    )


def _race(report: _FaultReport) -> tuple[str, str]:
    """Return sentence and advice for a race of two threads of a block in shared memory."""
    finding, fault = report.finding, report.fault
    other = _three(fault.other_thread, finding.launch.block)
    verb, where = _other(report)
    return (
        f"{report.who()} {report.does()} at byte {finding.shared:,} of shared memory, which thread {other} "
        f"{verb}{where}; no barrier is between.",
        "Put __syncthreads() between the two (__syncwarp() within a warp), or use atomics for both.",
    )


_FIRST = "Let each element be written before it is read, with __syncthreads() between: warps run in any order."
_TEST = "Test the index: whole blocks run, including threads past the end."
_POINTER = "Set the pointer before it is used: 0 is the null pointer."
_KEEP = "Keep the array until the device is done with it."


def _misaligned(report: _FaultReport) -> tuple[str, str]:
    """Return sentence and advice for an access at an address that is no multiple of its size."""
    finding, size = report.finding, report.fault.size
    shown = report.element()[0] if finding.shared is None else f"byte {finding.shared:,} of shared memory"
    return (
        f"{report.who()} {report.does()} at {shown}, which is not a multiple of {size} bytes.",
        "Cast a pointer to a wider type only where its address is a multiple of that type's size.",
    )


def _sentence(text: str, advice: str = "") -> Callable[[_FaultReport], tuple[str, str]]:
    """Return a function from a report to its sentence, "thread (3,) TEXT.", and the advice."""
    return lambda report: (f"{report.who()} {text}.", advice)


_ALL = "Every thread of the block has to reach it: move it out of the `if`, and return only after the last one."
_LOCK = "Release each lock on every path; a block may wait for an earlier block, but not for a later one."
_SENTENCES: dict[int, Callable[[_FaultReport], tuple[str, str]]] = {
    1: _outside,
    2: _misaligned,
    3: _sentence("executed a trap"),
    4: _sentence("has not reached the barrier here that others of its warp wait at", _ALL),
    5: _sentence("waits at the barrier here, which not all threads of the block reach: they wait forever", _ALL),
    6: _sentence(
        "is named in the mask of the warp operation here, and has not reached it", "Use the lanes that are there."
    ),
    7: _sentence("uses a barrier that does not exist; there are 0 to 15"),
    8: _sentence("failed the assertion here"),
    9: _race,
    10: _unwritten,
    11: _global_race,
    12: _sentence("waits in the loop here for something that no thread that runs will change", _LOCK),
    13: _copied,
}
_KINDS = {
    1: "address", 2: "misaligned", 3: "trap", 4: "barrier", 5: "deadlock", 6: "warp", 7: "barrier", 8: "assert",
    9: "race", 10: "unwritten", 11: "race", 12: "deadlock", 13: "race",
}  # fmt: skip
