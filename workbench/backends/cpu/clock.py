"""The clock that `time.perf_counter` reads, for native code."""

from __future__ import annotations

_CLOCKS = {
    "linux": "declare i32 @clock_gettime(i32, ptr)\ndefine private i64 @now() {\n  %t = alloca { i64, i64 }\n"
    "  %code = call i32 @clock_gettime(i32 1, ptr %t)\n  %s = load i64, ptr %t\n"
    "  %n.at = getelementptr i64, ptr %t, i64 1\n  %n = load i64, ptr %n.at\n  %ns = mul i64 %s, 1000000000\n"
    "  %all = add i64 %ns, %n\n  ret i64 %all\n}",
    "darwin": "declare i64 @clock_gettime_nsec_np(i32)\ndefine private i64 @now() {\n"
    "  %all = call i64 @clock_gettime_nsec_np(i32 8)\n  ret i64 %all\n}",
    "win32": "declare i32 @QueryPerformanceCounter(ptr)\ndefine private i64 @now() {\n  %t = alloca i64\n"
    "  %code = call i32 @QueryPerformanceCounter(ptr %t)\n  %ticks = load i64, ptr %t\n"
    "  %all = mul i64 %ticks, 100\n  ret i64 %all\n}",
}


def clock_text(platform: str) -> str:
    """`@now()`, in nanoseconds: the clock that `time.perf_counter` reads on this platform."""
    return _CLOCKS.get(platform, _CLOCKS["linux"])
