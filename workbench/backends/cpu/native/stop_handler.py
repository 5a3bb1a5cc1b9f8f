"""The native side of `stopping` in LLVM IR: what launches look at, what decides, the handler that SIGINT comes by."""

from __future__ import annotations

import re
import signal
import sys

from workbench.backends.cpu.native.fastcall import api

RING = 8
"""Words for calls of JAX, one after the other."""
SOON = 50_000
"""Nanoseconds after its first look in which a launch does not ask who handles SIGINT."""
CALLED, CALLS = 10, 16
"""Where the threads stand on which JAX calls Python, and how many of them are known at a time."""
PATIENCE = 300
"""Milliseconds that the main thread has to leave XLA by itself, before its kernels end in an error."""

_TEXT = """
%stop = type { i32, ptr, i64, i64, i64 }              ; word, who decides, threads done, rows done, when it began (ns)

@wb_main = global %stop { i32 0, ptr @ask, i64 0, i64 0, i64 0 }        ; bytes of the word: 0 just begun, 1 signal
@threads = internal global %stop { i32 0, ptr @no, i64 0, i64 0, i64 0 }
@wb_jax = global ptr @ring                            ; where calls of JAX look that begin now
@ring = internal global [RING x %stop] [STOPS]
@turn = internal global i64 0
@wb_facts = global [FACTS x i64] zeroinitializer
@asking = internal global i8 0                        ; the main thread runs handlers in the middle of a launch

define internal i1 @is(i64 %fact) #0 {                ; whether this thread is the one of that fact
  %here = call i64 @this_thread()
  %at = getelementptr inbounds i64, ptr @wb_facts, i64 %fact
  %wanted = load i64, ptr %at
  %same = icmp eq i64 %here, %wanted
  ret i1 %same
}

define internal i1 @is.called() #0 {                  ; whether JAX has called Python on this thread
start:
  %here = call i64 @this_thread()
  br label %look
look:
  %n = phi i64 [ CALLED, %start ], [ %n.next, %other ]
  %at = getelementptr inbounds i64, ptr @wb_facts, i64 %n
  %known = load i64, ptr %at
  %same = icmp eq i64 %here, %known
  br i1 %same, label %done, label %other
other:
  %n.next = add i64 %n, 1
  %more = icmp ult i64 %n.next, FACTS
  br i1 %more, label %look, label %done
done:
  ret i1 %same
}

define internal ptr @begin() #0 {                     ; what the calling thread's next launch looks at
start:
  %main = call i1 @is(i64 0)
  br i1 %main, label %own, label %other
own:
  store volatile i8 1, ptr @wb_main
  store i64 0, ptr getelementptr (i8, ptr @wb_main, i64 16)
  store i64 0, ptr getelementptr (i8, ptr @wb_main, i64 32)
  ret ptr @wb_main
other:
  %called = call i1 @is.called()
  %current = load ptr, ptr @wb_jax
  %stop = select i1 %called, ptr %current, ptr @threads
  ret ptr %stop
}

define internal void @over(ptr %stop, i32 %code) #0 { ; what was stopped keeps its words, for the error to read
start:
  %stopped = icmp eq i32 %code, -1
  br i1 %stopped, label %leave, label %clear
clear:
  %began = getelementptr inbounds i8, ptr %stop, i64 32
  store i64 0, ptr %began
  br label %leave
leave:
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

define internal i32 @yes(ptr %stop) #0 {              ; of helpers, whose word is set when all is decided
  ret i32 1
}

define internal i32 @no(ptr %stop) #0 {
  ret i32 0
}

define internal i32 @ask(ptr %stop) #0 {              ; of the main thread's launches
start:
  %begun = load volatile i8, ptr %stop
  %first = icmp ne i8 %begun, 0
  br i1 %first, label %arm, label %marks
arm:
  %now = call i64 @now()
  %began = getelementptr inbounds i8, ptr %stop, i64 32
  %known = load i64, ptr %began
  %new = icmp eq i64 %known, 0
  br i1 %new, label %stamp, label %wait
stamp:
  store i64 %now, ptr %began
  br label %marks
wait:                                                 ; a launch that is over soon makes no call of the system
  %since = sub i64 %now, %known
  %long = icmp ugt i64 %since, SOON
  br i1 %long, label %armed, label %marks
armed:
  store volatile i8 STAYS, ptr %stop
  %fresh.now = call i1 @wb_arm()
  br label %marks
marks:
  %fresh = phi i1 [ false, %start ], [ false, %stamp ], [ false, %wait ], [ %fresh.now, %armed ]
  %mark = load volatile i8, ptr getelementptr (i8, ptr @wb_main, i64 1)
  %marked = icmp ne i8 %mark, 0
  %handle = or i1 %fresh, %marked
  br i1 %handle, label %handlers, label %go.on
handlers:
  %raised = call i32 @handle()
  ret i32 %raised
go.on:
  ret i32 0
}

define internal i32 @handle() #0 {                    ; let Python handle signals: not 0 where a handler raises
  PY PyGILState_Ensure
  PY PyGILState_Release
  PY PyErr_CheckSignals
  PY PyObject_Call
  PY Py_DecRef
  store volatile i8 0, ptr getelementptr (i8, ptr @wb_main, i64 1)
  store volatile i8 1, ptr @asking
  %held = call i32 %PyGILState_Ensure()
  %getsignal = load ptr, ptr getelementptr (i64, ptr @wb_facts, i64 3)
  %arguments = load ptr, ptr getelementptr (i64, ptr @wb_facts, i64 4)
  %default = load ptr, ptr getelementptr (i64, ptr @wb_facts, i64 5)
  %handler = call ptr %PyObject_Call(ptr %getsignal, ptr %arguments, ptr null)
  %same = icmp eq ptr %handler, %default
  %usual = zext i1 %same to i64
  store volatile i64 %usual, ptr getelementptr (i64, ptr @wb_facts, i64 7)
  call void %Py_DecRef(ptr %handler)
  %raised = call i32 %PyErr_CheckSignals()
  call void %PyGILState_Release(i32 %held)
  store volatile i8 0, ptr @asking
  ret i32 %raised
}

define internal i32 @ask.jax(ptr %stop) #0 {          ; of calls of JAX: their words are set where they are to end
start:
  %main = call i1 @is(i64 0)
  br i1 %main, label %own, label %wait
own:                                                  ; XLA raises its error first, and the interrupt comes after it
  %raised = call i32 @handle()
  %stopped = icmp ne i32 %raised, 0
  br i1 %stopped, label %later, label %end
later:
  PY PyGILState_Ensure
  PY PyGILState_Release
  PY PyErr_Clear
  PY Py_AddPendingCall
  %held = call i32 %PyGILState_Ensure()
  call void %PyErr_Clear()
  call void %PyGILState_Release(i32 %held)
  %queued = call i32 %Py_AddPendingCall(ptr @wb_arrive, ptr null)
  br label %end
wait:                                                 ; the main thread may come back by itself, with the interrupt
  %n = phi i32 [ 0, %start ], [ %n.next, %nap ]
  %current = load volatile ptr, ptr @wb_jax
  %away = icmp eq ptr %current, %stop
  %patient = icmp ult i32 %n, PATIENCE
  %more = and i1 %away, %patient
  br i1 %more, label %nap, label %end
nap:
  call void @nap(i32 1000)
  %n.next = add i32 %n, 1
  br label %wait
end:
  ret i32 1
}

define i32 @wb_arrive(ptr %unused) #0 {               ; the main thread is between two lines of Python
start:
  PY PyObject_Call
  PY PyObject_IsTrue
  PY Py_DecRef
  %question = load ptr, ptr getelementptr (i64, ptr @wb_facts, i64 8)
  %empty = load ptr, ptr getelementptr (i64, ptr @wb_facts, i64 9)
  %answer = call ptr %PyObject_Call(ptr %question, ptr %empty, ptr null)
  %failed = icmp eq ptr %answer, null
  br i1 %failed, label %raise, label %look
look:
  %yes = call i32 %PyObject_IsTrue(ptr %answer)
  call void %Py_DecRef(ptr %answer)
  %wanted = icmp eq i32 %yes, 1
  br i1 %wanted, label %set, label %leave
set:
  PY PyErr_SetNone
  PY PyExc_KeyboardInterrupt
  call void %PyErr_SetNone(ptr %PyExc_KeyboardInterrupt)
  br label %raise
raise:
  ret i32 -1
leave:
  ret i32 0
}

define internal void @mark() #0 {                     ; a signal has come
start:
  store volatile i8 1, ptr getelementptr (i8, ptr @wb_main, i64 1)
  %usual = load volatile i64, ptr getelementptr (i64, ptr @wb_facts, i64 7)
  %default = icmp ne i64 %usual, 0
  %jax = load i64, ptr getelementptr (i64, ptr @wb_facts, i64 6)
  %here = icmp ne i64 %jax, 0
  %both = and i1 %default, %here
  br i1 %both, label %calls, label %done
calls:
  PY Py_AddPendingCall
  %stop = load volatile ptr, ptr @wb_jax
  store volatile i8 1, ptr %stop
  %queued = call i32 %Py_AddPendingCall(ptr @returned, ptr null)
  br label %done
done:
  ret void
}

define internal i32 @returned(ptr %unused) #0 {       ; the main thread is back in Python
  %turn = load i64, ptr @turn
  %up = add i64 %turn, 1
  %next = urem i64 %up, RING
  %stop = getelementptr inbounds [RING x %stop], ptr @ring, i64 0, i64 %next
  store volatile i32 0, ptr %stop
  store i64 %next, ptr @turn
  store volatile ptr %stop, ptr @wb_jax
  ret i32 0
}
"""

_POSIX = """
declare i32 @sigaction(i32, ptr, ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal void @on_signal(i32 %number, ptr %info, ptr %context) #0 {
  call void @mark()
  %next = load ptr, ptr getelementptr (i64, ptr @wb_facts, i64 1)
  tail call void %next(i32 %number, ptr %info, ptr %context)
  ret void
}

define i1 @wb_arm() #0 {                              ; whether Python's handler stood where ours should
start:
  %action = alloca [512 x i8], align 16
  call void @llvm.memset.p0.i64(ptr %action, i8 0, i64 512, i1 false)
  %asked = call i32 @sigaction(i32 SIGINT, ptr null, ptr %action)
  %now = load ptr, ptr %action
  %python = load ptr, ptr getelementptr (i64, ptr @wb_facts, i64 1)
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
@asked = internal global i64 0

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


def text(platform: str = sys.platform) -> str:
    """The LLVM IR, to stand beside the launcher's and that of `systems`."""
    posix = platform != "win32"
    stops = ", ".join(["%stop { i32 0, ptr @ask.jax, i64 0, i64 0, i64 0 }"] * RING)
    body = (
        _TEXT.replace("STAYS", "0" if posix else "1")
        .replace("STOPS", stops)
        .replace("SOON", str(SOON))
        .replace("RING", str(RING))
        .replace("PATIENCE", str(PATIENCE))
        .replace("FACTS", str(CALLED + CALLS))
        .replace("CALLED", str(CALLED))
    )
    body = re.sub(r"^  PY (\w+)\n", lambda found: api(found[1]), body, flags=re.MULTILINE)
    system = _POSIX.replace("SIGINT", str(int(signal.SIGINT))) if posix else _WINDOWS
    return system + body
