"""What decides whether a launch ends before its time: Python's own signal handlers, asked from native code.

Code that runs has a `%stop`: a word that loops look at (`strips`), and the function to call where it is not 0. The
first look of a launch sees that SIGINT comes by here: our handler marks the words and goes on to Python's. At a mark the
main thread takes the GIL and lets Python handle its signals; the launch ends where a handler raises, whoever wrote it.
So a signal that came while nothing ran ends nothing: there is none to handle.

Other threads cannot run handlers. Theirs and JAX's launches end only where the main thread does not come back to Python
within `PATIENCE`, because it waits in XLA say, and the handler is Python's default. Once it is back, nothing more ends.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import sys
import threading
from collections.abc import Mapping
from typing import NamedTuple

from workbench.backends.cpu.clock import clock_text
from workbench.backends.cpu.fastcall import api

PATIENCE = 300
"""Milliseconds that the main thread has to handle a signal itself."""
STOPPED = -1
"""The status of what was ended."""
SYMBOLS = ("wb_main", "wb_others", "wb_facts", "wb_arm")
WORDS = 5
"""Words of a `%stop`: the marks, who decides, threads that are done, rows that are done, when it began (ns; 0: soon)."""

_TEXT = """
%stop = type { i32, ptr, i64, i64, i64 }

@wb_main = global %stop { i32 0, ptr @wb_ask, i64 0, i64 0, i64 0 }     ; marks: byte 0 begun, 1 signal, 2 end
@wb_others = global %stop { i32 0, ptr @wb_ask, i64 0, i64 0, i64 0 }
@wb_facts = global [3 x ptr] zeroinitializer          ; the main thread; Python's C handler; whether its own is the default
@asking = internal global i8 0                        ; the main thread runs handlers in the middle of a launch
@deciding = internal global i32 0
@back = internal global i8 0

define internal i1 @on_main() #0 {
  %here = call i64 @this_thread()
  %main = load i64, ptr @wb_facts
  %same = icmp eq i64 %here, %main
  ret i1 %same
}

define internal ptr @begin() #0 {                     ; what the calling thread's next launch looks at
  %main = call i1 @on_main()
  %stop = select i1 %main, ptr @wb_main, ptr @wb_others
  store volatile i8 1, ptr %stop
  %began = getelementptr inbounds i8, ptr %stop, i64 32
  store i64 0, ptr %began
  ret ptr %stop
}

define internal void @over(ptr %stop) #0 {
  %began = getelementptr inbounds i8, ptr %stop, i64 32
  store i64 0, ptr %began
  ret void
}

define internal i1 @ends(ptr %stop) #0 {              ; one look
start:
  %word = load volatile i32, ptr %stop
  %calm = icmp eq i32 %word, 0
  br i1 %calm, label %no, label %decide
decide:
  %ask.at = getelementptr inbounds i8, ptr %stop, i64 8
  %ask = load ptr, ptr %ask.at
  %code = call i32 %ask(ptr %stop)
  %end = icmp ne i32 %code, 0
  ret i1 %end
no:
  ret i1 false
}

define internal i32 @wb_yes(ptr %stop) #0 {           ; of helpers, whose word is set when all is decided
  ret i32 1
}

define internal i32 @wb_ask(ptr %stop) #0 {
start:
  %begun = load volatile i8, ptr %stop
  %first = icmp ne i8 %begun, 0
  br i1 %first, label %arm, label %marks
arm:
  store volatile i8 STAYS, ptr %stop
  %began = getelementptr inbounds i8, ptr %stop, i64 32
  %known = load i64, ptr %began
  %new = icmp eq i64 %known, 0
  br i1 %new, label %stamp, label %armed
stamp:
  %now = call i64 @now()
  store i64 %now, ptr %began
  br label %armed
armed:
  %fresh.now = call i1 @wb_arm()
  br label %marks
marks:
  %fresh = phi i1 [ false, %start ], [ %fresh.now, %armed ]
  %main = call i1 @on_main()
  br i1 %main, label %mine, label %other

mine:
  %mark = load volatile i8, ptr getelementptr (i8, ptr @wb_main, i64 1)
  %marked = icmp ne i8 %mark, 0
  %handle = or i1 %fresh, %marked
  br i1 %handle, label %handlers, label %go.on
handlers:
  store volatile i8 0, ptr getelementptr (i8, ptr @wb_main, i64 1)
  store volatile i8 0, ptr getelementptr (i8, ptr @wb_others, i64 1)
  store volatile i8 1, ptr @back
  store volatile i8 1, ptr @asking
  PY PyGILState_Ensure
  PY PyGILState_Release
  PY PyErr_CheckSignals
  %held = call i32 %PyGILState_Ensure()
  %raised = call i32 %PyErr_CheckSignals()
  %is.own = icmp eq ptr %stop, @wb_main
  %good = icmp eq i32 %raised, 0
  %keep = or i1 %is.own, %good
  br i1 %keep, label %handled, label %again
again:                                                ; XLA called from the main thread: the handler runs again once it returns
  PY PyErr_Clear
  PY PyErr_SetInterrupt
  call void %PyErr_Clear()
  call void %PyErr_SetInterrupt()
  store volatile i8 1, ptr getelementptr (i8, ptr @wb_others, i64 2)
  call void @expect()
  br label %handled
handled:
  call void %PyGILState_Release(i32 %held)
  store volatile i8 0, ptr @asking
  ret i32 %raised

other:
  %end = load volatile i8, ptr getelementptr (i8, ptr @wb_others, i64 2)
  %ended = icmp ne i8 %end, 0
  br i1 %ended, label %stop.it, label %look
look:
  %signal = load volatile i8, ptr getelementptr (i8, ptr @wb_others, i64 1)
  %none = icmp eq i8 %signal, 0
  br i1 %none, label %go.on, label %elect
elect:                                                ; one thread waits for the main one, the others run on
  %pair = cmpxchg ptr @deciding, i32 0, i32 1 acquire monotonic
  %won = extractvalue { i32, i1 } %pair, 1
  br i1 %won, label %watch, label %go.on
watch:
  store volatile i8 0, ptr @back
  call void @expect()
  br label %wait
wait:
  %n = phi i32 [ 0, %watch ], [ %n.next, %sleep ]
  %is.back = load volatile i8, ptr @back
  %answered = icmp ne i8 %is.back, 0
  br i1 %answered, label %leave, label %sleep
sleep:
  call void @nap()
  %n.next = add i32 %n, 1
  %more = icmp ult i32 %n.next, PATIENCE
  br i1 %more, label %wait, label %stuck
stuck:
  %default.at = getelementptr inbounds ptr, ptr @wb_facts, i64 2
  %default = load ptr, ptr %default.at
  %usual = call i32 %default()
  %may = icmp ne i32 %usual, 0
  br i1 %may, label %decide, label %leave
decide:
  store volatile i8 1, ptr getelementptr (i8, ptr @wb_others, i64 2)
  br label %leave
leave:
  %verdict = phi i32 [ 0, %wait ], [ 0, %stuck ], [ 1, %decide ]
  store volatile i8 0, ptr getelementptr (i8, ptr @wb_others, i64 1)
  store atomic i32 0, ptr @deciding release, align 4
  ret i32 %verdict
stop.it:
  ret i32 1
go.on:
  ret i32 0
}

define internal void @expect() #0 {                   ; hear of it when the main thread is back in Python
  PY Py_AddPendingCall
  %queued = call i32 %Py_AddPendingCall(ptr @returned, ptr null)
  ret void
}

define internal i32 @returned(ptr %unused) #0 {
  store volatile i8 1, ptr @back
  store volatile i8 0, ptr getelementptr (i8, ptr @wb_others, i64 1)
  store volatile i8 0, ptr getelementptr (i8, ptr @wb_others, i64 2)
  ret i32 0
}
"""

_POSIX = """
declare i64 @pthread_self()
declare i32 @usleep(i32)
declare i32 @sigaction(i32, ptr, ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal i64 @this_thread() #0 {
  %id = call i64 @pthread_self()
  ret i64 %id
}

define internal void @nap() #0 {
  %code = call i32 @usleep(i32 1000)
  ret void
}

define internal void @on_signal(i32 %number, ptr %info, ptr %context) #0 {
  store volatile i8 1, ptr getelementptr (i8, ptr @wb_main, i64 1)
  store volatile i8 1, ptr getelementptr (i8, ptr @wb_others, i64 1)
  %next = load ptr, ptr getelementptr (ptr, ptr @wb_facts, i64 1)
  tail call void %next(i32 %number, ptr %info, ptr %context)
  ret void
}

define i1 @wb_arm() #0 {                              ; whether Python's handler stood where ours should
start:
  %action = alloca [512 x i8], align 16
  call void @llvm.memset.p0.i64(ptr %action, i8 0, i64 512, i1 false)
  %asked = call i32 @sigaction(i32 SIGINT, ptr null, ptr %action)
  %now = load ptr, ptr %action
  %python = load ptr, ptr getelementptr (ptr, ptr @wb_facts, i64 1)
  %same = icmp eq ptr %now, %python
  %none = icmp eq ptr %python, null
  %known = xor i1 %none, true
  %take = and i1 %same, %known
  br i1 %take, label %put, label %leave
put:
  store ptr @on_signal, ptr %action
  %set = call i32 @sigaction(i32 SIGINT, ptr %action, ptr null)
  ret i1 true
leave:
  ret i1 false
}
"""
"""A `struct sigaction` begins with its handler on every system; the rest goes back as it came."""

_WINDOWS = """
declare i32 @GetCurrentThreadId()
declare void @Sleep(i32)

@asked = internal global i64 0

define internal i64 @this_thread() #0 {
  %id = call i32 @GetCurrentThreadId()
  %wide = zext i32 %id to i64
  ret i64 %wide
}

define internal void @nap() #0 {
  call void @Sleep(i32 1)
  ret void
}

define i1 @wb_arm() #0 {                              ; no handler of ours: Python is asked ten times a second
start:
  %now = call i64 @now()
  %last = load i64, ptr @asked
  %since = sub i64 %now, %last
  %due = icmp ugt i64 %since, 100000000
  br i1 %due, label %ask, label %leave
ask:
  store i64 %now, ptr @asked
  ret i1 true
leave:
  ret i1 false
}
"""


def text() -> str:
    """The LLVM IR, to stand beside the launcher's."""
    posix = sys.platform != "win32"
    body = _TEXT.replace("STAYS", "0" if posix else "1").replace("PATIENCE", str(PATIENCE))
    body = re.sub(r"^  PY (\w+)\n", lambda found: api(found[1]), body, flags=re.MULTILINE)
    system = _POSIX.replace("SIGINT", str(int(signal.SIGINT))) if posix else _WINDOWS
    return clock_text(sys.platform) + system + body


class Stopping:
    """The words of a loaded image.

    Attributes:
        main: address of what launches of the main thread look at.
        others: of what all others do, JAX's among them.
    """

    def __init__(self, addresses: Mapping[str, int]) -> None:
        """From the addresses of the image's symbols; from now on signals come by."""
        self.main, self.others = addresses["wb_main"], addresses["wb_others"]
        self._usual = ctypes.CFUNCTYPE(ctypes.c_int)(_is_usual)
        facts = (ctypes.c_uint64 * 3).from_address(addresses["wb_facts"])
        facts[0] = threading.main_thread().ident or 0
        facts[1] = _python_handler()
        facts[2] = ctypes.cast(self._usual, ctypes.c_void_p).value or 0
        self.arm = ctypes.CFUNCTYPE(ctypes.c_bool)(addresses["wb_arm"])
        self.arm()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: facts.__setitem__(0, threading.get_ident()))

    def words(self) -> Words:
        """What the main thread's launch says of itself now."""
        return Words(*(ctypes.c_int64 * 3).from_address(self.main + 16))


class Words(NamedTuple):
    """How far a launch is.

    Attributes:
        threads: that are done, about.
        rows: of a table that are done.
        began: when, in nanoseconds of `time.perf_counter_ns`, to about a millisecond; 0 where none has run for longer.
    """

    threads: int
    rows: int
    began: int


def _is_usual() -> int:
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _python_handler() -> int:
    """The address of the C function that stands for every handler written in Python; 0 where none has been set."""
    if sys.platform == "win32" or not callable(signal.getsignal(signal.SIGINT)):
        return 0
    action = (ctypes.c_uint64 * 64)()
    ctypes.CDLL(None).sigaction(int(signal.SIGINT), None, action)
    return action[0]
