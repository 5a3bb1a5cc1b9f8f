"""Memory for code: pages that are filled while nothing can run them, and run when nothing can write them."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from functools import lru_cache
from typing import Any

from workbench.backends.cpu.loader.relocations import AARCH64, X86_64

# Linux's numbers, which are the same on both machines; `mmap` is a library that takes longer to load than a kernel.
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE, _ANONYMOUS = 0x02, 0x20
_FAILED = ctypes.c_void_p(-1).value


class Refused(Exception):
    """The system gives no memory for code: why, and what to do. LLVM's loader would end the process over it."""

    def __init__(self, why: str, advice: str) -> None:
        super().__init__(why)
        self.advice = advice


class Block:
    """Pages of this process.

    Args:
        size: bytes.

    Raises:
        Refused: the system has none left.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        address = _system().mmap(None, size, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
        if address == _FAILED:
            raise _none_left()
        self.address: int = address

    def fill(self, memory: bytearray, code: int) -> None:
        """Put the bytes there; the first `code` of them can then be run, and no longer be written.

        Raises:
            Refused: the system lets no program run what it wrote, or cannot divide the pages: a process may have only
                so many maps (`vm.max_map_count`).
        """
        ctypes.memmove(self.address, bytes(memory), len(memory))
        _flush(self.address, code)
        if _system().mprotect(self.address, code, _READ | _EXECUTE):
            if ctypes.get_errno() == errno.ENOMEM:
                raise _none_left()
            rule = "this system lets no program run code that it wrote to memory"
            raise Refused(rule, "Allow it for Python: SELinux calls it execmem, systemd MemoryDenyWriteExecute=no.")

    def close(self) -> None:
        """Give the pages back."""
        _system().munmap(self.address, self.size)


def _none_left() -> Refused:
    return Refused("there is no memory left for it", "Let go of kernels, graphs or arrays that you no longer need.")


@lru_cache(maxsize=1)
def page() -> int:
    """Bytes of a page."""
    return os.sysconf("SC_PAGESIZE")


@lru_cache(maxsize=1)
def machine() -> int:
    """Return the number that ELF has for this machine; 0 where our loader does not know it or its system."""
    if sys.platform != "linux" or sys.byteorder != "little":
        return 0
    number = {"x86_64": X86_64, "aarch64": AARCH64}.get(platform.machine(), 0)
    return number if number != AARCH64 or _clear_cache() is not None else 0


def _flush(address: int, size: int) -> None:
    """Clear the instruction cache, on machines where it does not see what was written."""
    if platform.machine() != "x86_64":
        _clear_cache()(address, address + size)


@lru_cache(maxsize=1)
def _clear_cache() -> Any:
    """GCC's function for that; None where its library is not there."""
    try:
        function = ctypes.CDLL("libgcc_s.so.1").__clear_cache
    except (OSError, AttributeError):
        return None
    function.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    return function


@lru_cache(maxsize=1)
def _system() -> Any:
    system = ctypes.CDLL(None, use_errno=True)
    system.mmap.restype = ctypes.c_void_p
    system.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    system.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    system.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return system
