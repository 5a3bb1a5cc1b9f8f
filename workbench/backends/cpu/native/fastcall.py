"""The launcher's functions as Python functions without a compiled extension: their bodies are LLVM IR.

A call through ctypes costs most of a microsecond, more than a small kernel. CPython makes a function object of any
address (`PyCFunction_NewEx`, METH_FASTCALL), and calls it in some ten nanoseconds. The bodies use functions of the
stable ABI alone, whose addresses they get from `ctypes.pythonapi` at run time, so one image serves CPython 3.11 and
later, with the GIL or without. Source: CPython's C API reference, "Common Object Structures", "Limited API".
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping

METH_FASTCALL, METH_NOARGS = 0x80, 0x04
API = (
    "PyLong_AsLongLong", "PyLong_FromLongLong", "PyErr_Occurred", "PyErr_CheckSignals", "PyErr_SetString",
    "PyEval_SaveThread", "PyEval_RestoreThread", "PyBytes_AsString", "PyErr_SetNone", "PyErr_Clear",
    "PyErr_SetInterrupt", "PyGILState_Ensure", "PyGILState_Release", "Py_AddPendingCall", "PyObject_Call",
    "PyObject_IsTrue", "Py_DecRef",
)  # fmt: skip
"""What the bodies call, in the order of the table; after these come `OBJECTS`."""
OBJECTS = ("PyExc_TypeError", "PyExc_KeyboardInterrupt")

FUNCTIONS = ("wb_py_run", "wb_py_launch", "wb_py_replay", "wb_py_hold", "wb_py_drop", "wb_py_row", "wb_py_graph")
"""The functions' symbols; the last two are made anew for each row or graph, with its address as their `self`."""

_TABLE = (*API, *OBJECTS)


def api(name: str) -> str:
    """The text that loads the address of an API function, or an object, as `%name`."""
    at = f"getelementptr inbounds ([{len(_TABLE)} x ptr], ptr @py, i64 0, i64 {_TABLE.index(name)})"
    return f"  %{name} = load ptr, ptr {at}\n"


def _arguments(count: int, skip: int = -1) -> str:
    """`%a0`, `%a1`, … as i64 from Python integers, without the one to `skip`; a wrong call gives an exception."""
    rows = [api("PyLong_AsLongLong"), api("PyErr_Occurred"), api("PyErr_SetString")]
    rows.append(
        f"  %counted = icmp eq i64 %nargs, {count}\n  br i1 %counted, label %take, label %refuse\n"
        "refuse:\n"
        f"{api('PyExc_TypeError')}"
        "  call void %PyErr_SetString(ptr %PyExc_TypeError, ptr @wrong.count)\n  ret ptr null\n"
        "take:\n"
    )
    for k in range(count):
        rows.append(f"  %p{k}.at = getelementptr inbounds ptr, ptr %args, i64 {k}\n  %p{k} = load ptr, ptr %p{k}.at\n")
        if k != skip:
            rows.append(f"  %a{k} = call i64 %PyLong_AsLongLong(ptr %p{k})\n")
    rows.append(
        "  %raised = call ptr %PyErr_Occurred()\n  %good = icmp eq ptr %raised, null\n"
        "  br i1 %good, label %go, label %leave\nleave:\n  ret ptr null\ngo:\n"
    )
    return "".join(rows)


_HEAD = f"""
@py = internal global [{len(_TABLE)} x ptr] zeroinitializer
@wrong.count = private constant [26 x i8] c"wrong number of arguments\\00"

define void @wb_py_link(ptr %table) #0 {{
start:
  br label %head
head:
  %n = phi i64 [ 0, %start ], [ %n.next, %head ]
  %from = getelementptr inbounds ptr, ptr %table, i64 %n
  %to = getelementptr inbounds [{len(_TABLE)} x ptr], ptr @py, i64 0, i64 %n
  %address = load ptr, ptr %from
  store ptr %address, ptr %to
  %n.next = add i64 %n, 1
  %more = icmp slt i64 %n.next, {len(_TABLE)}
  br i1 %more, label %head, label %done
done:
  ret void
}}
"""

_RUN = f"""
define ptr @wb_py_run(ptr %self, ptr %args, i64 %nargs) #0 {{
start:
{_arguments(7)}{api("PyEval_SaveThread")}{api("PyEval_RestoreThread")}
  %entry = inttoptr i64 %a0 to ptr
  %params = inttoptr i64 %a1 to ptr
  %fault = inttoptr i64 %a5 to ptr
  %state = call ptr %PyEval_SaveThread()
  %code = call i32 @wb_dispatch(ptr %entry, ptr %params, i64 %a2, i64 %a3, i64 %a4, ptr %fault, i64 %a6)
  call void %PyEval_RestoreThread(ptr %state)
  %given = call ptr @given(i32 %code)
  ret ptr %given
}}

define ptr @wb_py_launch(ptr %self, ptr %args, i64 %nargs) #0 {{
start:
{_arguments(7, skip=1)}{api("PyBytes_AsString")}
  %params = call ptr %PyBytes_AsString(ptr %p1)
  %is.bytes = icmp ne ptr %params, null
  br i1 %is.bytes, label %run, label %leave
run:
  %fault = inttoptr i64 %a5 to ptr
{api("PyEval_SaveThread")}{api("PyEval_RestoreThread")}
  %entry = inttoptr i64 %a0 to ptr
  %state = call ptr %PyEval_SaveThread()
  %code = call i32 @wb_dispatch(ptr %entry, ptr %params, i64 %a2, i64 %a3, i64 %a4, ptr %fault, i64 %a6)
  call void %PyEval_RestoreThread(ptr %state)
  %given = call ptr @given(i32 %code)
  ret ptr %given
}}

define ptr @wb_py_row(ptr %self, ptr %unused) #0 {{
start:
{api("PyLong_AsLongLong")}{api("PyEval_SaveThread")}{api("PyEval_RestoreThread")}
  %address = call i64 %PyLong_AsLongLong(ptr %self)
  %row = inttoptr i64 %address to ptr
  %state = call ptr %PyEval_SaveThread()
  %stop = call ptr @begin()
  %code = call i32 @row(ptr %row, ptr %stop)
  call void @over(ptr %stop, i32 %code)
  call void %PyEval_RestoreThread(ptr %state)
  %given = call ptr @given(i32 %code)
  ret ptr %given
}}

define internal i32 @row(ptr %row, ptr %stop) #0 {{
  %params.at = getelementptr inbounds i8, ptr %row, i64 8
  %total.at = getelementptr inbounds i8, ptr %row, i64 16
  %threads.at = getelementptr inbounds i8, ptr %row, i64 24
  %grain.at = getelementptr inbounds i8, ptr %row, i64 32
  %fault.at = getelementptr inbounds i8, ptr %row, i64 40
  %entry = load ptr, ptr %row
  %params = load ptr, ptr %params.at
  %total = load i64, ptr %total.at
  %threads = load i64, ptr %threads.at
  %grain = load i64, ptr %grain.at
  %mask.at = getelementptr inbounds i8, ptr %row, i64 48
  %fault = load ptr, ptr %fault.at
  %mask = load i64, ptr %mask.at
  %code = call i32 @launch(ptr %stop, ptr %entry, ptr %params, i64 %total, i64 %threads, i64 %grain, ptr %fault,
                           i64 %mask)
  ret i32 %code
}}

define internal ptr @given(i32 %code) #0 {{           ; as a number; null where it was stopped, and an exception is set
start:
  %stopped = icmp eq i32 %code, -1
  br i1 %stopped, label %look, label %number
look:
{api("PyErr_Occurred")}{api("PyErr_SetNone")}{api("PyExc_KeyboardInterrupt")}
  %raised = call ptr %PyErr_Occurred()
  %none = icmp eq ptr %raised, null
  br i1 %none, label %raise, label %leave
raise:
  call void %PyErr_SetNone(ptr %PyExc_KeyboardInterrupt)
  br label %leave
leave:
  ret ptr null
number:
{api("PyLong_FromLongLong")}
  %wide = sext i32 %code to i64
  %made = call ptr %PyLong_FromLongLong(i64 %wide)
  ret ptr %made
}}
"""

_TURNS = f"""
define ptr @wb_py_hold(ptr %self, ptr %args, i64 %nargs) #0 {{
start:
{_arguments(2)}{api("PyEval_SaveThread")}{api("PyEval_RestoreThread")}
  %place = inttoptr i64 %a1 to ptr
  %state = call ptr %PyEval_SaveThread()
  %stop = call ptr @begin()
  %held = call i64 @hold(i64 %a0, ptr %stop)
  call void @over(ptr %stop, i32 0)
  call void %PyEval_RestoreThread(ptr %state)
  %stopped = icmp slt i64 %held, 0
  %kept = select i1 %stopped, i64 0, i64 %held
  store i64 %kept, ptr %place
  %code = sext i1 %stopped to i32
  %given = call ptr @given(i32 %code)
  ret ptr %given
}}

define ptr @wb_py_drop(ptr %self, ptr %args, i64 %nargs) #0 {{
start:
{_arguments(1)}
  call void @drop(i64 %a0)
  %given = call ptr @given(i32 0)
  ret ptr %given
}}
"""

_REPLAY = f"""
define ptr @wb_py_replay(ptr %self, ptr %args, i64 %nargs) #0 {{
start:
{_arguments(2)}{api("PyEval_SaveThread")}{api("PyEval_RestoreThread")}{api("PyLong_FromLongLong")}
  %table = inttoptr i64 %a0 to ptr
  %state = call ptr %PyEval_SaveThread()
  %stop = call ptr @begin()
  %rows.at = getelementptr inbounds i8, ptr %stop, i64 24
  br label %head
head:
  %n = phi i64 [ 0, %go ], [ %n.next, %next ]
  %more = icmp slt i64 %n, %a1
  br i1 %more, label %body, label %done
body:
  store i64 %n, ptr %rows.at
  %row = getelementptr inbounds {{ ptr, ptr, i64, i64, i64, ptr, i64 }}, ptr %table, i64 %n
  %code = call i32 @row(ptr %row, ptr %stop)
  %broken = icmp eq i32 %code, -1
  br i1 %broken, label %stopped, label %faulty
faulty:
  %fault.at = getelementptr inbounds i8, ptr %row, i64 40
  %fault = load ptr, ptr %fault.at
  %checked = icmp ne ptr %fault, null
  br i1 %checked, label %look, label %next
look:
  %count = load i64, ptr %fault
  %bad = icmp ne i64 %count, 0
  br i1 %bad, label %done, label %next
next:
  %n.next = add i64 %n, 1
  %end = call i1 @ends(ptr %stop)
  br i1 %end, label %stopped, label %head
stopped:
  call void %PyEval_RestoreThread(ptr %state)
  %none = call ptr @given(i32 -1)
  ret ptr %none
done:
  call void @over(ptr %stop, i32 0)
  call void %PyEval_RestoreThread(ptr %state)
  %given = call ptr %PyLong_FromLongLong(i64 %n)
  ret ptr %given
}}
"""

_GRAPH = f"""
define ptr @wb_py_graph(ptr %self, ptr %unused) #0 {{
start:
{api("PyLong_AsLongLong")}{api("PyEval_SaveThread")}{api("PyEval_RestoreThread")}
  %address = call i64 %PyLong_AsLongLong(ptr %self)
  %pair = inttoptr i64 %address to ptr
  %steps = load ptr, ptr %pair
  %count.at = getelementptr inbounds i8, ptr %pair, i64 8
  %count = load i64, ptr %count.at
  %state = call ptr %PyEval_SaveThread()
  %stop = call ptr @begin()
  %code = call i32 @wb_graph(ptr %steps, i64 %count, ptr %stop)
  call void @over(ptr %stop, i32 %code)
  call void %PyEval_RestoreThread(ptr %state)
  %given = call ptr @given(i32 %code)
  ret ptr %given
}}
"""


def text() -> str:
    """The functions' LLVM IR, to stand beside the launcher's and the scheduler's."""
    return _HEAD + _RUN + _TURNS + _REPLAY + _GRAPH


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("body", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Functions:
    """The functions of a loaded image, for the rest of the process.

    Wrong counts and kinds of arguments raise; what an address means is believed. What runs or waits may be stopped by a
    signal whose handler raises (`stopping`): then that is raised here.

    Attributes:
        run: (entry, params' address, total, threads, grain, fault's address or 0, mask) to the entries' return values,
            or-ed.
        launch: the same with the params as bytes in place of their address.
        replay: (table's address, rows) to how many rows went well.
        hold: (mask, address of an int64), to change memory as a launch may; what is held goes there (see `turns`).
        drop: (what is held).
    """

    def __init__(self, addresses: Mapping[str, int]) -> None:
        """From the addresses of the image's symbols."""
        table = (ctypes.c_void_p * len(_TABLE))(*map(_address, API), *map(_object, OBJECTS))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(addresses["wb_py_link"])(ctypes.addressof(table))
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        self._make = make
        self._methods = {name: _Method(name.encode(), addresses[name], METH_FASTCALL, _DOC) for name in FUNCTIONS}
        self._methods["wb_py_row"].flags = self._methods["wb_py_graph"].flags = METH_NOARGS
        self.run, self.launch, self.replay, self.hold, self.drop = (self._function(n, 0) for n in FUNCTIONS[:5])

    def row(self, address: int) -> Callable[[], int]:
        """A function without arguments that runs what stands in the row at `address`; its caller keeps the row."""
        return self._function("wb_py_row", address)

    def graph(self, address: int) -> Callable[[], int]:
        """A function without arguments that runs a graph: at `address` stand its steps' address and number."""
        return self._function("wb_py_graph", address)

    def _function(self, name: str, own: int) -> Callable[..., int]:
        return self._make(ctypes.addressof(self._methods[name]), own, None)


_DOC = b"Native; see workbench.backends.cpu.native.fastcall."


def _address(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _object(name: str) -> int:
    return ctypes.c_void_p.in_dll(ctypes.pythonapi, name).value or 0
