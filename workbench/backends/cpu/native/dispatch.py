"""The native launcher: one call that runs a kernel's entry over a range, on one thread or several.

It is LLVM IR that our own backend compiles once (decision 6 of the architecture: the wheel stays pure Python). A range
is run in chunks of `grain` threads, and before each one it looks whether the launch is to end. Several threads take
chunks from one atomic counter; helpers are threads of the system, made for the call: nothing outlives
it, no fork can break it, and none of them holds the GIL. Where none can be made, the caller does it all.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from workbench.backends.cpu import systems
from workbench.backends.cpu.compile import CpuBackend, compile_text
from workbench.backends.cpu.jit import CpuCode, load_symbols
from workbench.backends.cpu.native import fastcall, memory_locks, schedule, stop_handler, stopping
from workbench.backends.cpu.native.helper_threads import crew
from workbench.backends.cpu.native.schedule import MAX_THREADS
from workbench.forks import renewed

GRAIN = 65536
ENTRY_SIZE = 56
"""Bytes of a row, for `fastcall`: pointers entry, params; int64 total, threads, grain; pointer fault; int64 mask."""

symbols = ("wb_dispatch", "wb_py_link", "wb_busy", *stopping.SYMBOLS, *fastcall.FUNCTIONS)

_TEXT = """
; What threads share: the helpers' stop, entry, params, total, grain, fault, next index, status.
%job = type { %stop, ptr, ptr, i64, i64, ptr, i64, i32 }

define internal void @work(ptr %job, ptr %stop) #0 {
start:
  %entry.at = getelementptr inbounds %job, ptr %job, i64 0, i32 1
  %params.at = getelementptr inbounds %job, ptr %job, i64 0, i32 2
  %total.at = getelementptr inbounds %job, ptr %job, i64 0, i32 3
  %grain.at = getelementptr inbounds %job, ptr %job, i64 0, i32 4
  %fault.at = getelementptr inbounds %job, ptr %job, i64 0, i32 5
  %next.at = getelementptr inbounds %job, ptr %job, i64 0, i32 6
  %status.at = getelementptr inbounds %job, ptr %job, i64 0, i32 7
  %threads.at = getelementptr inbounds i8, ptr %stop, i64 16
  %entry = load ptr, ptr %entry.at
  %params = load ptr, ptr %params.at
  %total = load i64, ptr %total.at
  %grain = load i64, ptr %grain.at
  %fault = load ptr, ptr %fault.at
  br label %take
take:
  %begin = atomicrmw add ptr %next.at, i64 %grain monotonic
  %over = icmp sge i64 %begin, %total
  br i1 %over, label %done, label %look
look:
  store i64 %begin, ptr %threads.at
  %end.now = call i1 @ends(ptr %stop)
  br i1 %end.now, label %stopped, label %run
run:
  %left = sub i64 %total, %begin
  %short = icmp slt i64 %left, %grain
  %size = select i1 %short, i64 %left, i64 %grain
  %end = add i64 %begin, %size
  %code = call i32 %entry(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop)
  %old = atomicrmw or ptr %status.at, i32 %code monotonic
  %broken = icmp eq i32 %code, -1
  br i1 %broken, label %done, label %take
stopped:
  %before = atomicrmw or ptr %status.at, i32 -1 monotonic
  br label %done
done:
  ret void
}

; All of a range on this thread, with a look between two chunks.
define internal i32 @alone(ptr %entry, ptr %params, i64 %begin, i64 %end, i64 %grain, ptr %fault, ptr %stop) #0 {
start:
  %threads.at = getelementptr inbounds i8, ptr %stop, i64 16
  br label %chunk
chunk:
  %from = phi i64 [ %begin, %start ], [ %to, %look ]
  %so.far = phi i32 [ 0, %start ], [ %status, %look ]
  %left = sub i64 %end, %from
  %short = icmp sle i64 %left, %grain
  %size = select i1 %short, i64 %left, i64 %grain
  %to = add i64 %from, %size
  %code = call i32 %entry(ptr %params, i64 %from, i64 %to, ptr %fault, ptr %stop)
  %status = or i32 %so.far, %code
  %broken = icmp eq i32 %code, -1
  %over = or i1 %short, %broken
  br i1 %over, label %done, label %look
look:
  store i64 %to, ptr %threads.at
  %end.now = call i1 @ends(ptr %stop)
  br i1 %end.now, label %stopped, label %chunk
stopped:
  ret i32 -1
done:
  ret i32 %status
}

define i32 @wb_dispatch(ptr %entry, ptr %params, i64 %total, i64 %threads, i64 %grain, ptr %fault, i64 %mask) #0 {
  %stop = call ptr @begin()
  %code = call i32 @launch(ptr %stop, ptr %entry, ptr %params, i64 %total, i64 %threads, i64 %grain, ptr %fault,
                           i64 %mask)
  call void @over(ptr %stop, i32 %code)
  ret i32 %code
}

define internal i32 @launch(ptr %stop, ptr %entry, ptr %params, i64 %total, i64 %threads, i64 %grain, ptr %fault,
                            i64 %mask) #0 {
start:
  %held = call i64 @hold(i64 %mask, ptr %stop)
  %stopped = icmp slt i64 %held, 0
  br i1 %stopped, label %leave, label %run
leave:
  ret i32 -1
run:
  %alone = icmp sle i64 %threads, 1
  %small = icmp sle i64 %total, %grain
  %inline = or i1 %alone, %small
  br i1 %inline, label %direct, label %shared
direct:
  %code = call i32 @alone(ptr %entry, ptr %params, i64 0, i64 %total, i64 %grain, ptr %fault, ptr %stop)
  call void @drop(i64 %held)
  ret i32 %code
shared:
  %code.shared = call i32 @share(ptr %entry, ptr %params, i64 %total, i64 %threads, i64 %grain, ptr %fault, ptr %stop)
  call void @drop(i64 %held)
  ret i32 %code.shared
}

attributes #0 = { nounwind }
"""

_SHARE = """
define internal i32 @share(ptr %entry, ptr %params, i64 %total, i64 %threads, i64 %grain, ptr %fault, ptr %stop) #0 {
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
  %job.0 = insertvalue %job zeroinitializer, %stop { i32 0, ptr @yes, i64 0, i64 0, i64 0 }, 0
  %job.entry = insertvalue %job %job.0, ptr %entry, 1
  %job.1 = insertvalue %job %job.entry, ptr %params, 2
  %job.2 = insertvalue %job %job.1, i64 %total, 3
  %job.3 = insertvalue %job %job.2, i64 %grain, 4
  %job.4 = insertvalue %job %job.3, ptr %fault, 5
  store %job %job.4, ptr %job
CREW""".replace("CREW", crew("work", "job", "wanted", 7)).replace("MAX_THREADS", str(MAX_THREADS))


@dataclass(frozen=True)
class Launcher:
    """The loaded launcher: its functions, `code.addresses` for native callers, and the object it came from."""

    image: bytes
    code: CpuCode
    functions: fastcall.Functions
    stopping: stopping.Stopping


_launcher: Launcher | None = None
_lock = renewed(__name__, "_lock")


def text(platform: str = sys.platform) -> str:
    """The launcher's LLVM IR."""
    system = systems.clock_text(platform) + systems.threads_text(platform)
    return system + stop_handler.text(platform) + _TEXT + _SHARE + memory_locks.TEXT + schedule.TEXT + fastcall.text()


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
            memory_locks.reset_after_fork(code.addresses)
            functions = fastcall.Functions(code.addresses)
            _launcher = Launcher(whole, code, functions, stopping.Stopping(code.addresses))
        return _launcher


def dispatch(
    address: int, params_address: int, total: int, threads: int, grain: int = GRAIN, fault: int = 0, mask: int = 0
) -> int:
    """Run the entry at `address` over [0, total); gives the entries' return values, or-ed (0 where all went well).

    In chunks of `grain` (at least 1), over as many as `threads` threads, the caller among them. The GIL is free
    meanwhile; the caller keeps the buffer and what it points to alive. `mask` (see `turns`) is the memory that no other
    launch may change at the same time.

    Raises:
        KeyboardInterrupt: or what else a signal's handler raises: the launch has ended in the middle (see `stopping`).
    """
    return (_launcher or install()).functions.run(address, params_address, total, threads, grain, fault, mask)


def replay(table_address: int, count: int) -> int:
    """Run `count` rows one after another, in one native call; gives how many went well.

    A row whose fault record counts a fault is the last one that runs. The GIL is free meanwhile.

    Raises:
        KeyboardInterrupt: or what else a signal's handler raises: it has ended, perhaps in the middle of a row.
    """
    return (_launcher or install()).functions.replay(table_address, count)
