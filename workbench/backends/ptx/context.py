"""The context that a launch and its kernel share: a table of 64-bit words, by name and index.

The launch fills it; each range of blocks works on a copy, in which the words from `SHARED` on are its own.
"""

from __future__ import annotations

NAMES = (
    "ARENA", "SIZE", "PARAMS", "SYMBOLS", "FAULT", "STOP", "PRINT", "CONDITION", "USER", "WARP", "SUSPENDS",
    "NTID_X", "NTID_Y", "NTID_Z", "NCTAID_X", "NCTAID_Y", "NCTAID_Z", "THREADS", "WARPS", "SCRATCH", "SLOT_SIZE",
    "SLOTS", "IDLE", "SHARED_SIZE", "DYNAMIC", "LOCAL_SIZE", "COUNTERS", "SEED", "GRID",
    "TOUCHED", "HITS", "EVERY", "FIRST", "BLOCKS", "TRACE",
    "SPANS", "SPAN_COUNT", "SPAN_LOW", "SPAN_HIGH", "SHARED_BYTES", "SCRATCH_END", "SHADOW", "SHADOW_SIZE", "OTHER",
    "WRITTEN", "RACES", "RACES_FROM", "RACES_BYTES", "RACES_EVERY", "RELEASES",
    "TOGETHER",
    "SHARED", "LOCAL", "CTAID_X", "CTAID_Y", "CTAID_Z", "FRAMES", "ALIVE", "BLOCKED", "CLOCK", "NOW",
    "INDEX", "STOPPED", "LANES", "MOVED", "LAUNCH",
)  # fmt: skip
AT = {name: index for index, name in enumerate(NAMES)}
BARRIERS = 16
ARRIVED = len(NAMES)
"""Index of the first of four words per barrier: arrivals, arrivals expected, predicates now, predicates last time."""
WORDS = ARRIVED + 4 * BARRIERS

FAULTS = {
    1: "reads or writes memory that does not exist",
    2: "reads or writes at a misaligned address",
    3: "executed a trap",
    4: "reached a barrier that other threads of its warp have not reached",
    5: "waits at a barrier that not all threads of the block reach",
    6: "executes a warp instruction whose member mask names lanes that have not arrived",
    7: "uses a barrier or member mask that does not exist",
    8: "failed an assertion",
    9: "reads or writes shared memory that another thread writes or reads, without a barrier between",
    10: "reads memory that nothing has written",
    11: "reads or writes memory that another thread writes or reads, and nothing orders the two",
    12: "waits in a loop for something that no thread will change",
    13: "reads shared memory that a copy (cp.async) writes that its thread has not waited for",
}
"""For each kind of fault, the predicate of the sentence that reports it."""
SHARED_RACE, UNWRITTEN, GLOBAL_RACE = 9, 10, 11
FAULT_WORDS = ("kind", "instruction", "lane", "warp", "x", "y", "z", "address", "size", "mask", "other")
"""Names of a fault record's words, in order.

`kind` is 0 if there is no fault. `other` is the shadow entry of the other access for a race (`library/races.py`), else,
in a sanitized kernel, the first address of the block's shared memory.
"""
