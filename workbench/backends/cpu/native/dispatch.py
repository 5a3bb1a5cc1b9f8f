"""The native launcher: one call that runs a kernel's entry over a range, on one thread or several.

It is C (launcher.c) whose generated LLVM IR our own backend compiles once (`design/native.md`): the wheel stays pure
Python.

The launcher's functions are Python functions without a compiled extension (fastcall.c has their bodies). A call through
ctypes costs most of a microsecond, more than a small kernel. CPython makes a function object of any address
(`PyCFunction_NewEx`, METH_FASTCALL), and calls it in some ten nanoseconds. The bodies use functions of the stable ABI
alone, whose addresses they get from `ctypes.pythonapi` at run time, so one image serves CPython 3.11 and later, with
the GIL or without. Source: CPython's C API reference, "Common Object Structures", "Limited API".

**Locks on memory**: launches of several Python threads that add to one array take turns. Code that adds without atomics
is right within one launch and wrong beside another. A launch says which memory it reads and changes as a mask of bits,
one an allocation (two may share one), and waits until none of them is held. All bits are taken in one atomic step, so
no order of taking them can lock up; no launch holds any while it asks for more, or while Python runs.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from workbench.backends.cpu import machine, systems
from workbench.backends.cpu.native import stopping
from workbench.backends.cpu.systems import symbol_addresses
from workbench.forks import after_fork, fork_safe_lock
from workbench.limits import DISPATCH_GRAIN

if TYPE_CHECKING:
    from workbench.backends.cpu.jit import CpuCode

METH_FASTCALL, METH_NOARGS = 0x80, 0x04
API = (
    "PyLong_AsLongLong", "PyLong_FromLongLong", "PyErr_Occurred", "PyErr_CheckSignals", "PyErr_SetString",
    "PyEval_SaveThread", "PyEval_RestoreThread", "PyBytes_AsString", "PyErr_SetNone", "PyErr_Clear",
    "PyGILState_Ensure", "PyGILState_Release", "Py_AddPendingCall", "PyObject_Call",
    "PyObject_IsTrue", "Py_DecRef", "PyObject_CallFunction",
)  # fmt: skip
"""The functions that the bodies call, in the order of launcher.h; after these come `OBJECTS`."""
OBJECTS = ("PyExc_TypeError", "PyExc_KeyboardInterrupt")

FUNCTIONS = ("wb_py_run", "wb_py_launch", "wb_py_hold", "wb_py_drop", "wb_py_row", "wb_py_steps", "wb_py_queue")
"""The functions' symbols; the last three are made for each row, table or queue, with its address as their `self`."""

_TABLE = (*API, *OBJECTS)


class _Method(ctypes.Structure):
    """CPython's C struct PyMethodDef, which describes a function to it."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("body", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Functions:
    """The launcher's native functions as Python functions, for the rest of the process.

    Wrong numbers and types of arguments raise; addresses are not checked. A signal whose handler raises stops
    what runs or waits (`stopping`), and its exception is raised here.

    Attributes:
        run: runs a kernel's entry over a range of threads; takes (entry, params' address, total, threads, grain,
            fault's address or 0, mask, sums), as `dispatch`; returns the entries' return values, or-ed.
        launch: does what `run` does, with the params as bytes instead of their address.
        hold: takes (mask, address of an int64): waits until memory may be changed as by a launch, and stores
            there what is now held (see `bit_of`).
        drop: takes what `hold` stored, and releases it.
    """

    def __init__(self, addresses: Mapping[str, int]) -> None:
        """Make the functions from the addresses of a loaded image's symbols, by name."""
        # wb_py_link copies the addresses into the image; the table itself may go.
        table = (ctypes.c_void_p * len(_TABLE))(*_addresses(API), *map(_object, OBJECTS))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(addresses["wb_py_link"])(ctypes.addressof(table))
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        self._make = make
        # CPython keeps the address of a PyMethodDef without copying it, so these live as long as the functions.
        self._methods = {name: _Method(name.encode(), addresses[name], METH_FASTCALL, _DOC) for name in FUNCTIONS}
        self._methods["wb_py_row"].flags = self._methods["wb_py_steps"].flags = METH_NOARGS
        self.run, self.launch, self.hold, self.drop = (self._function(n, 0) for n in FUNCTIONS[:4])

    def row(self, address: int) -> Callable[[], int]:
        """Return a function without arguments that runs a launch, described by the row at `address`.

        The caller keeps the row alive.
        """
        return self._function("wb_py_row", address)

    def steps(self, address: int) -> Callable[[], int]:
        """Return a function without arguments that runs a table of steps.

        Its caller keeps the table alive, and the table's address and length, which stand at `address`.
        """
        return self._function("wb_py_steps", address)

    def queue(self, address: int) -> Callable[[bytes, bytes, int, int], int]:
        """Return a function that queues launches on a GPU (queue.c).

        The caller keeps the C struct `Queue` at `address` alive.
        """
        return self._function("wb_py_queue", address)

    def _function(self, name: str, own: int) -> Callable[..., int]:
        """Return a new built-in function of Python: the method `name`, with the number `own` as its C `self`."""
        return self._make(ctypes.addressof(self._methods[name]), own, None)


_DOC = b"Native; see workbench.backends.cpu.native.dispatch."


def _addresses(names: Sequence[str]) -> list[int]:
    """Return the addresses of functions of Python's C API; 0 for one that it does not have."""
    if sys.platform == "linux":
        return symbol_addresses(ctypes.pythonapi, names)
    return [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in names]


def _object(name: str) -> int:
    """Return the address of the object that a pointer of Python's C API points to, such as that of an exception."""
    return ctypes.c_void_p.in_dll(ctypes.pythonapi, name).value or 0


ENTRY_SIZE = 64
"""Bytes of a row for fastcall.c: entry, params; int64 total, threads, grain; pointer fault; int64 mask, sums."""

symbols = ("wb_py_link", "wb_busy", *stopping.SYMBOLS, *FUNCTIONS)


class Launcher(msgspec.Struct, frozen=True):
    """The native launcher of this process, as loaded.

    Attributes:
        image: what it was loaded from.
        code: the loaded code; its `addresses` serve native callers.
        functions: its functions for Python.
        stopping: how its launches are stopped.
    """

    image: bytes
    code: CpuCode
    functions: Functions
    stopping: stopping.Stopping


_launcher: Launcher | None = None
_lock = fork_safe_lock(__name__, "_lock")


@lru_cache
def text(platform: str = sys.platform) -> str:
    """Return the launcher's LLVM IR for a platform, as `sys.platform` names it."""
    body = Path(__file__).with_name("launcher.ll").read_text(encoding="utf-8")
    return systems.clock_text(platform) + systems.threads_text(platform) + body


def image() -> bytes:
    """Compile the launcher for this machine, in some 10 ms, into an image or object that `install` takes."""
    from workbench.backends.cpu.compile import compile_text

    return compile_text(text(), machine.target(), optimise=False)


def install(stored: bytes | None = None) -> Launcher:
    """Load the launcher, unless this process has it already; return it.

    Args:
        stored: what `image` returned, perhaps in an earlier process; None: it is compiled now.

    Raises:
        BuildError: it cannot be compiled, or `stored` is no code for this machine.
    """
    from workbench.backends.cpu.jit import load_symbols

    global _launcher
    with _lock:
        # One per process: locks and the words of stops are in its memory, and two of them would not see each other.
        if _launcher is None:
            image_bytes = stored if stored is not None else image()
            code = load_symbols(image_bytes, symbols)
            reset_after_fork(code.addresses)
            functions = Functions(code.addresses)
            _launcher = Launcher(image_bytes, code, functions, stopping.Stopping(code.addresses))
        return _launcher


def dispatch(
    address: int, params_address: int, total: int, threads: int, grain: int = DISPATCH_GRAIN, fault: int = 0,
    mask: int = 0, sums: int = 0,
) -> int:  # fmt: skip
    """Run an entry over [0, total); return the entries' return values, or-ed (0 where all went well).

    The caller and helper threads run chunks; meanwhile the GIL is released.

    Args:
        address: of the entry.
        params_address: of the parameter buffer, which the caller keeps alive with all that it points to.
        total: how many threads the launch has.
        threads: the most CPU threads that run it, the caller among them.
        grain: how many threads of the launch a chunk has, at least 1.
        fault: address of the fault record; 0: none is written.
        mask: the memory that no other launch may change at the same time (see `bit_of`).
        sums: how many 8-byte words a chunk leaves for the end of the launch (`emit/combine.py`).

    Raises:
        KeyboardInterrupt: or what else a signal's handler raises: the launch has ended in the middle (see `stopping`).
    """
    return (_launcher or install()).functions.run(address, params_address, total, threads, grain, fault, mask, sums)


BITS = 62
ANY = (1 << BITS) - 1
"""The mask of memory whose allocation is not known, such as another library's: all bits."""


def reset_after_fork(addresses: Mapping[str, int]) -> None:
    """Arrange that a forked child releases all locks, since it has none of the threads that held them.

    Args:
        addresses: of the launcher's symbols, by name.
    """
    busy = ctypes.c_int64.from_address(addresses["wb_busy"])
    after_fork(lambda: setattr(busy, "value", 0))


def bit_of(address: int) -> int:
    """Return the mask with the bit that stands for the allocation at this address; two allocations may share one."""
    # Fibonacci hashing (2^64 divided by the golden ratio) spreads neighbouring allocations over the bits; the low 6
    # bits of their addresses are mostly the same.
    return 1 << ((address >> 6) * 0x9E3779B97F4A7C15 % 2**64 >> 32) % BITS
