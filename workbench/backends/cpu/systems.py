"""Services of the operating system for native code: threads, a clock, formatting, modes of floats, C's functions.

Each function takes a platform as `sys.platform` names it, so that the code of all platforms can be looked at on one.
What is requested must be there: `tests/portability` holds each symbol against the exports of the system's libraries.
Sources: POSIX.1-2017; Apple's `clock_gettime_nsec_np(3)`; Microsoft's pages of the functions named here.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

_POSIX = """
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i64 @pthread_self()
declare i32 @sched_yield()
declare i32 @usleep(i32)
declare i32 @sigaction(i32, ptr, ptr)

define internal zeroext i1 @has_sigaction() {
  ret i1 true
}

define internal zeroext i1 @thread_start(ptr %id, ptr %work, ptr %state) {
  %code = call i32 @pthread_create(ptr %id, ptr null, ptr %work, ptr %state)
  %made = icmp eq i32 %code, 0
  ret i1 %made
}

define internal i64 @this_thread() {
  %id = call i64 @pthread_self()
  ret i64 %id
}

define internal void @nap(i32 %microseconds) {
  %code = call i32 @usleep(i32 %microseconds)
  ret void
}
"""

_JOINED = {
    "linux": """
declare i32 @pthread_timedjoin_np(i64, ptr, ptr)

define internal zeroext i1 @joined(i64 %id, ptr %gone, i64 %all) {
  %time = alloca { i64, i64 }
  %code = call i32 @clock_gettime(i32 0, ptr %time)
  %seconds = load i64, ptr %time
  %part.at = getelementptr i64, ptr %time, i64 1
  %part = load i64, ptr %part.at
  %later = add i64 %part, 20000000
  %full = icmp sge i64 %later, 1000000000
  %over = zext i1 %full to i64
  %seconds.then = add i64 %seconds, %over
  %taken = mul i64 %over, 1000000000
  %part.then = sub i64 %later, %taken
  store i64 %seconds.then, ptr %time
  store i64 %part.then, ptr %part.at
  %status = call i32 @pthread_timedjoin_np(i64 %id, ptr null, ptr %time)
  %done = icmp eq i32 %status, 0
  ret i1 %done
}
""",
    "darwin": """
declare i32 @pthread_join(i64, ptr)

define internal zeroext i1 @joined(i64 %id, ptr %gone, i64 %all) {
start:
  %so.far = load atomic i64, ptr %gone acquire, align 8
  %done = icmp sge i64 %so.far, %all
  br i1 %done, label %join, label %pause
join:
  %status = call i32 @pthread_join(i64 %id, ptr null)
  ret i1 true
pause:
  call void @nap(i32 50)
  ret i1 false
}
""",
    "win32": """
declare i32 @WaitForSingleObject(i64, i32)
declare i32 @CloseHandle(i64)

define internal zeroext i1 @joined(i64 %id, ptr %gone, i64 %all) {
start:
  %waited = call i32 @WaitForSingleObject(i64 %id, i32 20)
  %done = icmp eq i32 %waited, 0
  br i1 %done, label %close, label %not.yet
close:
  %closed = call i32 @CloseHandle(i64 %id)
  ret i1 true
not.yet:
  ret i1 false
}
""",
}

# A thread's function gives a pointer: Windows reads its lower half as the exit code. An id is a handle.
_WINDOWS = """
declare ptr @CreateThread(ptr, i64, ptr, ptr, i32, ptr)
declare i32 @GetCurrentThreadId()
declare i32 @SwitchToThread()
declare void @Sleep(i32)

define internal zeroext i1 @has_sigaction() {
  ret i1 false
}

define internal i32 @sigaction(i32 %signal, ptr %action, ptr %before) {
  ret i32 -1
}

define internal zeroext i1 @thread_start(ptr %id, ptr %work, ptr %state) {
  %handle = call ptr @CreateThread(ptr null, i64 0, ptr %work, ptr %state, i32 0, ptr null)
  store ptr %handle, ptr %id
  %made = icmp ne ptr %handle, null
  ret i1 %made
}

define internal i64 @this_thread() {
  %id = call i32 @GetCurrentThreadId()
  %wide = zext i32 %id to i64
  ret i64 %wide
}

define internal void @nap(i32 %microseconds) {
  call void @Sleep(i32 1)
  ret void
}
"""

_CLOCKS = {
    "linux": """
declare i32 @clock_gettime(i32, ptr)

define private i64 @now() {
  %t = alloca { i64, i64 }
  %code = call i32 @clock_gettime(i32 1, ptr %t)
  %s = load i64, ptr %t
  %n.at = getelementptr i64, ptr %t, i64 1
  %n = load i64, ptr %n.at
  %ns = mul i64 %s, 1000000000
  %all = add i64 %ns, %n
  ret i64 %all
}
""",
    "darwin": """
declare i64 @clock_gettime_nsec_np(i32)

define private i64 @now() {
  %all = call i64 @clock_gettime_nsec_np(i32 8)
  ret i64 %all
}
""",
    "win32": """
declare i32 @QueryPerformanceCounter(ptr)
declare i32 @QueryPerformanceFrequency(ptr)

define private i64 @now() {
  %t = alloca i64
  %f = alloca i64
  %counted = call i32 @QueryPerformanceCounter(ptr %t)
  %asked = call i32 @QueryPerformanceFrequency(ptr %f)
  %ticks = load i64, ptr %t
  %rate = load i64, ptr %f
  %s = udiv i64 %ticks, %rate
  %rest = urem i64 %ticks, %rate
  %ns = mul i64 %s, 1000000000
  %rest.ns = mul i64 %rest, 1000000000
  %part = udiv i64 %rest.ns, %rate
  %all = add i64 %ns, %part
  ret i64 %all
}
""",
}

# The C library of Windows has no such function: its header makes it of this one (2: as C99 says).
_WINDOWS_FORMAT = """
declare i32 @__stdio_common_vsprintf(i64, ptr, i64, ptr, ptr, ptr)
declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_end.p0(ptr)

define internal i32 @snprintf(ptr %to, i64 %size, ptr %format, ...) {
  %list = alloca ptr
  call void @llvm.va_start.p0(ptr %list)
  %given = load ptr, ptr %list
  %written = call i32 @__stdio_common_vsprintf(i64 2, ptr %to, i64 %size, ptr %format, ptr null, ptr %given)
  call void @llvm.va_end.p0(ptr %list)
  ret i32 %written
}
"""

_FLOATS = """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define internal i64 @plain_floats() {
  %place = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %place)
  %mode = load i32, ptr %place
  %plain = and i32 %mode, -32833
  store i32 %plain, ptr %place
  call void @llvm.x86.sse.ldmxcsr(ptr %place)
  %wide = zext i32 %mode to i64
  ret i64 %wide
}

define internal void @floats_as(i64 %mode) {
  %place = alloca i32
  %narrow = trunc i64 %mode to i32
  store i32 %narrow, ptr %place
  call void @llvm.x86.sse.ldmxcsr(ptr %place)
  ret void
}
"""

_FLOATS_ARM = """
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)

define internal i64 @plain_floats() {
  %mode = call i64 @llvm.aarch64.get.fpcr()
  %plain = and i64 %mode, -17301506
  call void @llvm.aarch64.set.fpcr(i64 %plain)
  ret i64 %mode
}

define internal void @floats_as(i64 %mode) {
  call void @llvm.aarch64.set.fpcr(i64 %mode)
  ret void
}
"""

_RENAMED = {"hypotf": "_hypotf"}
"""Functions that the C library of Windows has under another name (its header defines the usual one)."""


def maths_library(system: str) -> str | None:
    """Return the name of the shared library with C's maths functions; None where every process has them anyway.

    Args:
        system: as `sys.platform` names it.
    """
    if system == "linux" and "glibc" in platform.libc_ver():
        return "libm.so.6"  # `find_library` starts a process to find that out
    from ctypes.util import find_library  # which imports half of what starts processes

    return find_library("m")


def renamed(platform: str) -> dict[str, str]:
    """Return the C library's functions that have other names on a platform: by the usual name, the other one."""
    return _RENAMED if platform == "win32" else {}


def threads_text(platform: str) -> str:
    """Return LLVM IR of functions for threads and signals.

    They are `@thread_start(id, work, state)`, `@joined(id, gone, all)`, `@this_thread()`, `@nap(µs)`, `@give_way()`,
    `@sigaction` and `@has_sigaction()`. `@joined` waits for a helper for a while and returns whether it has ended;
    `gone` counts those that have left their work, `all` is how many there are. The text has to stand beside
    `clock_text`.
    """
    threads = _WINDOWS if platform == "win32" else _POSIX
    return threads + _JOINED.get(platform, _JOINED["linux"]) + _give_way(platform)


def yield_text(platform: str) -> str:
    """Return LLVM IR of `@give_way()`, which lets another thread have this core."""
    return f"declare i32 @{_yield(platform)}()\n{_give_way(platform)}"


def _yield(platform: str) -> str:
    """Return the name of the system's function that lets another thread have the core."""
    return "SwitchToThread" if platform == "win32" else "sched_yield"


def _give_way(platform: str) -> str:
    """Return LLVM IR of `@give_way()`, without the declaration of the system's function that it calls."""
    return f"\ndefine private void @give_way() {{\n  %code = call i32 @{_yield(platform)}()\n  ret void\n}}\n"


def clock_text(platform: str) -> str:
    """Return LLVM IR of `@now()`, in nanoseconds: the clock that `time.perf_counter` reads on this platform."""
    return _CLOCKS.get(platform, _CLOCKS["linux"])


def format_text(platform: str) -> str:
    """Return LLVM IR that declares or defines `@snprintf`, with the meaning of C99."""
    return _WINDOWS_FORMAT if platform == "win32" else "declare i32 @snprintf(ptr, i64, ptr, ...)\n"


def floats_text(machine: str) -> str:
    """Return LLVM IR of `@plain_floats()`, after which a thread computes with subnormals, and of `@floats_as(mode)`.

    The first returns the earlier mode, which the second restores. A processor takes subnormals for 0, as operands or
    results, where bits of its mode say so: FTZ and DAZ of MXCSR on x86; FZ, FZ16 and FIZ of FPCR on ARM.

    Args:
        machine: as `platform.machine()` names it.
    """
    return _FLOATS_ARM if machine.lower() in ("aarch64", "arm64") else _FLOATS


def code_model(platform: str) -> str:
    """Return LLVM's code model: "large" on Windows, where code may be loaded far from its callees, else "small"."""
    return "large" if platform == "win32" else "small"


def has_jit_link(platform: str) -> bool:
    """Return whether llvmlite links with JITLink on a platform (`create_lljit_compiler`), not RuntimeDyld."""
    return platform != "win32"


def symbol_addresses(library: ctypes.CDLL | ctypes.PyDLL, names: Iterable[str]) -> list[int]:
    """Return the addresses of functions; 0 for one that neither the library nor what it depends on has."""
    find, handle = _dlsym(), library._handle
    return [find(handle, name.encode()) or 0 for name in names]


@lru_cache(maxsize=1)
def _dlsym() -> Any:
    """Return the C library's `dlsym`, from a handle and a name to an address, or None."""
    find = ctypes.CDLL(None).dlsym
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
    return find
