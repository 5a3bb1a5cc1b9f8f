"""The native launcher: one call that runs a kernel's entry over a range, on one thread or several.

It is LLVM IR that our own backend compiles once (decision 6 of the architecture: the wheel stays pure Python). Chunks
of `grain` threads come from one atomic counter; helpers are threads of the system, made for the call: nothing outlives
it, no fork can break it, and none of them holds the GIL. Where none can be made, the caller does it all.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass

from workbench.backends.cpu import fastcall, schedule, systems, turns
from workbench.backends.cpu.compile import CpuBackend, compile_text
from workbench.backends.cpu.crew import crew
from workbench.backends.cpu.jit import CpuCode, load_symbols
from workbench.backends.cpu.schedule import MAX_THREADS

GRAIN = 65536
ENTRY_SIZE = 56
"""Bytes of a row, for `fastcall`: pointers entry, params; int64 total, threads, grain; pointer fault; int64 mask."""

symbols = ("wb_dispatch", "wb_py_link", "wb_busy", *fastcall.FUNCTIONS)

# A job: entry, params, total, grain, fault, next index, status.
_TEXT = """
%job = type { ptr, ptr, i64, i64, ptr, i64, i32 }

define internal ptr @work(ptr %job) #0 {
start:
  %entry.at = getelementptr inbounds %job, ptr %job, i64 0, i32 0
  %params.at = getelementptr inbounds %job, ptr %job, i64 0, i32 1
  %total.at = getelementptr inbounds %job, ptr %job, i64 0, i32 2
  %grain.at = getelementptr inbounds %job, ptr %job, i64 0, i32 3
  %fault.at = getelementptr inbounds %job, ptr %job, i64 0, i32 4
  %next.at = getelementptr inbounds %job, ptr %job, i64 0, i32 5
  %status.at = getelementptr inbounds %job, ptr %job, i64 0, i32 6
  %entry = load ptr, ptr %entry.at
  %params = load ptr, ptr %params.at
  %total = load i64, ptr %total.at
  %grain = load i64, ptr %grain.at
  %fault = load ptr, ptr %fault.at
  br label %take
take:
  %begin = atomicrmw add ptr %next.at, i64 %grain monotonic
  %over = icmp sge i64 %begin, %total
  br i1 %over, label %done, label %run
run:
  %left = sub i64 %total, %begin
  %short = icmp slt i64 %left, %grain
  %size = select i1 %short, i64 %left, i64 %grain
  %end = add i64 %begin, %size
  %code = call i32 %entry(ptr %params, i64 %begin, i64 %end, ptr %fault)
  %old = atomicrmw or ptr %status.at, i32 %code monotonic
  br label %take
done:
  ret ptr null
}

define i32 @wb_dispatch(ptr %entry, ptr %params, i64 %total, i64 %threads, i64 %grain, ptr %fault, i64 %mask) #0 {
start:
  call void @hold(i64 %mask)
  %alone = icmp sle i64 %threads, 1
  %small = icmp sle i64 %total, %grain
  %bad = icmp sle i64 %grain, 0
  %either = or i1 %alone, %small
  %inline = or i1 %either, %bad
  br i1 %inline, label %direct, label %shared
direct:
  %code = call i32 %entry(ptr %params, i64 0, i64 %total, ptr %fault)
  call void @drop(i64 %mask)
  ret i32 %code
shared:
  %code.shared = call i32 @share(ptr %entry, ptr %params, i64 %total, i64 %threads, i64 %grain, ptr %fault)
  call void @drop(i64 %mask)
  ret i32 %code.shared
}

attributes #0 = { nounwind }
"""

_SHARE = """
define internal i32 @share(ptr %entry, ptr %params, i64 %total, i64 %threads, i64 %grain, ptr %fault) #0 {
start:
  %job = alloca %job
  %ids = alloca [MAX_THREADS x i64]
  %total.up = add i64 %total, -1
  %chunks.low = sdiv i64 %total.up, %grain
  %threads.less = add i64 %threads, -1
  %few = icmp slt i64 %chunks.low, %threads.less
  %wanted.all = select i1 %few, i64 %chunks.low, i64 %threads.less
  %many = icmp sgt i64 %wanted.all, MAX_THREADS
  %wanted = select i1 %many, i64 MAX_THREADS, i64 %wanted.all
  %job.0 = insertvalue %job zeroinitializer, ptr %entry, 0
  %job.1 = insertvalue %job %job.0, ptr %params, 1
  %job.2 = insertvalue %job %job.1, i64 %total, 2
  %job.3 = insertvalue %job %job.2, i64 %grain, 3
  %job.4 = insertvalue %job %job.3, ptr %fault, 4
  store %job %job.4, ptr %job
CREW""".replace("CREW", crew("work", "job", "wanted", 6)).replace("MAX_THREADS", str(MAX_THREADS))


@dataclass(frozen=True)
class Launcher:
    """The loaded launcher: its functions, `code.addresses` for native callers, and the object it came from."""

    image: bytes
    code: CpuCode
    functions: fastcall.Functions


_launcher: Launcher | None = None
_lock = threading.Lock()


def text(platform: str = sys.platform) -> str:
    """The launcher's LLVM IR."""
    return _TEXT + _SHARE + systems.threads_text(platform) + turns.TEXT + schedule.TEXT + fastcall.text()


def image() -> bytes:
    """The launcher as an object file: 10 ms to compile, so a cache may keep it and hand it to `install`."""
    return compile_text(text(), CpuBackend().target(), optimise=False)


def install(kept: bytes | None = None) -> Launcher:
    """Load the launcher, from `kept` or compiled now; the first call in a process counts.

    Raises:
        BuildError: `kept` is no object of this platform.
    """
    global _launcher
    with _lock:
        if _launcher is None:
            whole = kept if kept is not None else image()
            code = load_symbols(whole, symbols)
            turns.reset_after_fork(code.addresses)
            _launcher = Launcher(whole, code, fastcall.Functions(code.addresses))
        return _launcher


def dispatch(
    address: int, params_address: int, total: int, threads: int, grain: int = GRAIN, fault: int = 0, mask: int = 0
) -> int:
    """Run the entry at `address` over [0, total); gives the entries' return values, or-ed (0 where all went well).

    Inline where `total <= grain` or `threads == 1`, else in chunks of `grain` over `threads` threads, the caller among
    them. The GIL is free meanwhile; the caller keeps the buffer and what it points to alive. `mask` (see `turns`) is
    the memory that no other launch may change at the same time.
    """
    return (_launcher or install()).functions.run(address, params_address, total, threads, grain, fault, mask)


def replay(table_address: int, count: int) -> int:
    """Run `count` rows one after another, in one native call; gives how many went well.

    A row whose fault record counts a fault is the last one that runs. From time to time it looks for signals, so that
    Ctrl-C ends a long replay with KeyboardInterrupt; the GIL is free in between.
    """
    return (_launcher or install()).functions.replay(table_address, count)
