"""The launcher's functions as Python functions without a compiled extension: their bodies are in fastcall.c.

A call through ctypes costs most of a microsecond, more than a small kernel. CPython makes a function object of any
address (`PyCFunction_NewEx`, METH_FASTCALL), and calls it in some ten nanoseconds. The bodies use functions of the
stable ABI alone, whose addresses they get from `ctypes.pythonapi` at run time, so one image serves CPython 3.11 and
later, with the GIL or without. Source: CPython's C API reference, "Common Object Structures", "Limited API".
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping

from workbench.backends.cpu.symbols import symbol_address

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
            there what is now held (see `memory_locks`).
        drop: takes what `hold` stored, and releases it.
    """

    def __init__(self, addresses: Mapping[str, int]) -> None:
        """Make the functions from the addresses of a loaded image's symbols, by name."""
        # wb_py_link copies the addresses into the image; the table itself may go.
        table = (ctypes.c_void_p * len(_TABLE))(*map(_address, API), *map(_object, OBJECTS))
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


_DOC = b"Native; see workbench.backends.cpu.native.fastcall."


def _address(name: str) -> int:
    """Return the address of a function of Python's C API; 0 if there is none."""
    if sys.platform == "linux":
        return symbol_address(ctypes.pythonapi, name)
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _object(name: str) -> int:
    """Return the address of the object that a pointer of Python's C API points to, such as that of an exception."""
    return ctypes.c_void_p.in_dll(ctypes.pythonapi, name).value or 0
