"""Substitutes on Windows for signals and /proc: a job object, and the memory of a process.

Written from Microsoft's pages of the functions named here (jobapi2.h, psapi.h), not run.
"""

from __future__ import annotations

import ctypes
from typing import Any, cast

_KILL_ON_JOB_CLOSE = 0x2000
_EXTENDED_LIMITS = 9
"""JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE; JobObjectExtendedLimitInformation."""


class BasicLimits(ctypes.Structure):
    """The Windows structure JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64), ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32), ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t), ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t), ("PriorityClass", ctypes.c_uint32), ("SchedulingClass", ctypes.c_uint32),
    )  # fmt: skip


class ExtendedLimits(ctypes.Structure):
    """The Windows structure JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("Basic", BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


class MemoryCounters(ctypes.Structure):
    """The Windows structure PROCESS_MEMORY_COUNTERS."""

    _fields_ = (
        ("cb", ctypes.c_uint32), ("PageFaultCount", ctypes.c_uint32), ("PeakWorkingSetSize", ctypes.c_size_t),
        ("WorkingSetSize", ctypes.c_size_t), ("QuotaPeakPagedPoolUsage", ctypes.c_size_t),
        ("QuotaPagedPoolUsage", ctypes.c_size_t), ("QuotaPeakNonPagedPoolUsage", ctypes.c_size_t),
        ("QuotaNonPagedPoolUsage", ctypes.c_size_t), ("PagefileUsage", ctypes.c_size_t),
        ("PeakPagefileUsage", ctypes.c_size_t),
    )  # fmt: skip


def job_of(process: Any) -> int | None:
    """Create a job object that ends a process when this process ends, in whatever way; return its handle.

    Windows closes the handle when this process ends, and with that ends the processes in the job.

    Args:
        process: a `subprocess.Popen`.

    Returns:
        The handle; None if no job object can be created or the process cannot be added to it.
    """
    kernel = _kernel32()
    job = kernel.CreateJobObjectW(None, None)
    if not job:
        return None
    limits = ExtendedLimits()
    limits.Basic.LimitFlags = _KILL_ON_JOB_CLOSE
    size = ctypes.sizeof(limits)
    if not (
        kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), size)
        and kernel.AssignProcessToJobObject(job, int(process._handle))
    ):
        kernel.CloseHandle(job)
        return None
    return int(job)


def close(job: int) -> None:
    """Close the handle of a job object whose process is over."""
    _kernel32().CloseHandle(job)


def committed() -> int:
    """Return the bytes that this process has committed; 0 if Windows does not say."""
    kernel, counters = _kernel32(), MemoryCounters()
    counters.cb = ctypes.sizeof(counters)
    answered = kernel.K32GetProcessMemoryInfo(kernel.GetCurrentProcess(), ctypes.byref(counters), counters.cb)
    return int(counters.PagefileUsage) if answered else 0


def _kernel32() -> Any:
    """Return the library kernel32 with the types of the functions that are used here declared."""
    library = cast("Any", ctypes).WinDLL("kernel32", use_last_error=True)  # of Windows
    handle, flag = ctypes.c_void_p, ctypes.c_int
    for name, result, arguments in (
        ("CreateJobObjectW", handle, (handle, ctypes.c_wchar_p)),
        ("SetInformationJobObject", flag, (handle, flag, handle, ctypes.c_uint32)),
        ("AssignProcessToJobObject", flag, (handle, handle)),
        ("CloseHandle", flag, (handle,)),
        ("GetCurrentProcess", handle, ()),
        ("K32GetProcessMemoryInfo", flag, (handle, handle, ctypes.c_uint32)),
    ):
        function: Any = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
