"""The end of a launch before its time: native code asks Python's own signal handlers.

Code that runs has a `%stop`: a word that loops look at (`emit/loops`), and the function to call where it is not 0. The
first look of a launch of the main thread sees that SIGINT comes by here: our handler marks words and goes on to
Python's. At a mark the main thread takes the GIL and lets Python handle its signals; the launch ends where a handler
raises, whoever wrote it. So a signal that came while nothing ran ends nothing: there is none left to handle.

XLA runs kernels on threads of its own while the main thread waits in it and can handle nothing. What it runs when the
signal comes ends, where the handler is Python's default. Once the main thread is back in Python calls look at another
word of a ring, so that the mark stays for those that have not looked yet and none is left for later ones. Launches of
other Python threads go on: Python interrupts its main thread alone.

JAX makes an error of its own of an exception in Python code that XLA calls, and Python drops one in a destructor or in
a callback of a weak reference. So an interrupt there is raised again where the main thread is out of that code: until
then it is put off, each time the main thread could raise it.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  (CPython's own: no Python code runs in its functions)
import _thread
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeVar

SYMBOLS = ("wb_main", "wb_jax", "wb_facts", "wb_arm", "wb_arrive")
CALLED, CALLS = 10, 16
"""Index of the first fact about a thread on which JAX calls Python, and how many such threads are known at a time."""
_MAIN, _PYTHON, _UNUSED, _GETSIGNAL, _SIGINT, _DEFAULT, _JAX, _USUAL, _WANTED, _EMPTY = range(10)
"""Facts, as stop_handler.c has them: the main thread; Python's C handler; nothing; three objects; whether JAX is here;
whether the handler is Python's default; a function and its arguments. Then the threads on which JAX calls Python."""


class Words(NamedTuple):
    """The progress of the main thread's launch.

    Attributes:
        threads: about how many of its threads are done.
        rows: how many rows of a table of launches are done.
        began: its start, as `time.perf_counter_ns`, to about a millisecond; 0 if no launch has run that long.
    """

    threads: int
    rows: int
    began: int


class Stopping:
    """The memory and functions of a loaded launcher through which launches are stopped.

    Attributes:
        jax: the address of the pointer to the word that calls by JAX check.
    """

    def __init__(self, addresses: Mapping[str, int]) -> None:
        """Register this process's threads and handlers with the launcher, and pass SIGINT on to Python from now on.

        Args:
            addresses: of the launcher's symbols, by name.
        """
        self._words = (ctypes.c_int64 * 3).from_address(addresses["wb_main"] + 16)
        self._facts = (ctypes.c_uint64 * (CALLED + CALLS)).from_address(addresses["wb_facts"])
        self._arm = ctypes.CFUNCTYPE(ctypes.c_bool)(addresses["wb_arm"])
        self._kept = (int(signal.SIGINT),)
        self.jax = addresses["wb_jax"]
        self._facts[_MAIN] = threading.main_thread().ident or 0
        self._facts[_PYTHON] = _python_handler()
        # By `id`, which is the address: the C code calls these objects, and they live as long as the process.
        self._facts[_GETSIGNAL:_JAX] = [id(_signal.getsignal), id(self._kept), id(_signal.default_int_handler)]
        self._facts[_WANTED:CALLED] = [id(_interrupt_wanted), id(_EMPTY_TUPLE)]
        _arrive.append(addresses["wb_arrive"])
        self.arm()
        heed_destructors()
        if hasattr(os, "register_at_fork"):
            # A child's main thread is the one that forked.
            os.register_at_fork(after_in_child=lambda: self._facts.__setitem__(_MAIN, threading.get_ident()))

    def arm(self) -> None:
        """Install our signal handler again if others replaced it, and note whether Python's default handler is set."""
        # A user's own handler decides for itself; only Python's default is known to end what runs.
        self._facts[_USUAL] = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._arm()

    def serve_jax(self) -> int:
        """Stop launches that JAX runs as well, from now on; return the address of the pointer that its calls read."""
        self._facts[_JAX] = 1
        self.arm()
        return self.jax

    @contextmanager
    def called_by_jax(self) -> Iterator[None]:
        """Treat launches of this thread as JAX's within the context: JAX has called Python from a thread of its own.

        If too many threads are in such a context, this one's launches are not stopped.
        """
        self.serve_jax()
        # If all places are taken the thread's launches are not stopped, which loses an interrupt and nothing else.
        free = next((n for n in range(CALLED, CALLED + CALLS) if not self._facts[n]), None)
        if free is not None:
            self._facts[free] = threading.get_ident()
        try:
            yield
        finally:
            if free is not None:
                self._facts[free] = 0

    def words(self) -> Words:
        """Return the current progress of the main thread's launch."""
        return Words(*self._words)

    def stopped_progress(self) -> Words:
        """Return the progress of the launch that was stopped last; its `began` is 0 if it was returned already."""
        words = self.words()
        # Read once: the next launch that is stopped must not report this one's figures.
        self._words[2] = 0
        return words


WAKING = 0.0005
"""Seconds after which `_wake_later` wakes the main thread."""
Function = TypeVar("Function", bound=Callable[..., Any])
_put_off: list[tuple[BaseException, set[FrameType]]] = []
"""Interrupts with the frames that they have to wait for: of code that XLA called, up to those of JAX's caller."""
_arrive: list[int] = []
_waking: list[bool] = []
"""Set while a thread is about to raise."""
_native: set[CodeType] = set()


def put_off(error: KeyboardInterrupt) -> None:
    """Postpone an interrupt that leaves a function called by JAX; it is raised again behind the call of JAX.

    It does nothing on another thread than the main one, or where JAX has not called.
    """
    away = _frames_of_jax()
    if away and threading.current_thread() is threading.main_thread():
        _put_off.append((error, away))
        _try_again()


def called_by_native(function: Function) -> Function:
    """Mark a function that native code calls, so that no postponed interrupt is raised in it and lost."""
    _native.add(function.__code__)
    return function


def heed_destructors() -> None:
    """Install a `sys.unraisablehook` that raises an interrupt in a destructor again behind it, in the main thread.

    All other exceptions go to what `sys.unraisablehook` was before.
    """
    before = sys.unraisablehook

    @called_by_native
    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        """Postpone an interrupt of the main thread; leave any other exception to the earlier hook."""
        if unraisable.exc_type is KeyboardInterrupt and threading.current_thread() is threading.main_thread():
            _put_off.append((unraisable.exc_value or KeyboardInterrupt(), set()))
            _try_again()
        else:
            before(unraisable)

    sys.unraisablehook = hook


def _interrupt_wanted() -> bool:
    """Return whether an interrupt is to be raised now; the launcher calls it for a pending interrupt.

    It is not while the main thread is still in code that JAX or other native code called, for which it asks again
    later, nor when Python shuts down.

    Raises:
        KeyboardInterrupt: the postponed exception, if there is one.
    """
    frame: FrameType | None = sys._getframe()
    away = set() if not _put_off else _put_off[0][1]
    last = frame
    while frame is not None:
        if frame in away or frame.f_code in _native:
            _try_again()
            _wake_later()
            return False
        last, frame = frame, frame.f_back
    # Python is shutting down: an exception here would be printed and otherwise ignored.
    ends = last is not None and last.f_globals.get("__name__") in ("threading", "atexit")
    if _put_off:
        error, _ = _put_off.pop(0)
        if not ends:
            raise error
    return not ends


def _try_again() -> None:
    """Have the main thread call `_interrupt_wanted` again soon."""
    ctypes.pythonapi.Py_AddPendingCall(ctypes.c_void_p(_arrive[-1]), None)


def _wake_later() -> None:
    """Wake the main thread a moment later, if Python is 3.13 or newer.

    These forget a pending call that has queued itself 32 times.
    """
    if sys.version_info >= (3, 13) and not _waking:
        _waking.append(True)
        with suppress(RuntimeError):  # the interpreter is shutting down
            _thread.start_new_thread(_wake, ())  # `threading` takes a lock, which this thread may hold


def _wake() -> None:
    """Wait WAKING seconds, then queue a harmless call in the main thread, which makes it look at its pending calls."""
    time.sleep(WAKING)
    _waking.clear()
    harmless = ctypes.cast(ctypes.pythonapi.PyErr_CheckSignals, ctypes.c_void_p)
    ctypes.pythonapi.Py_AddPendingCall(harmless, None)  # with any other, the one that was forgotten is made


def _frames_of_jax() -> set[FrameType]:
    """Return the current frames up to JAX's, and JAX's own up to its caller's; none where JAX has not called."""
    frames: set[FrameType] = set()
    frame: FrameType | None = sys._getframe()
    while frame is not None and not _of(frame, "jax", "jaxlib"):
        frames.add(frame)
        frame = frame.f_back
    if frame is None:
        return set()
    while frame is not None and _of(frame, "jax", "jaxlib", "contextlib"):
        frames.add(frame)
        frame = frame.f_back
    return frames


def _of(frame: FrameType, *packages: str) -> bool:
    """Return whether a frame runs code of one of these top-level packages."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in packages


_EMPTY_TUPLE: tuple[()] = ()


def _python_handler() -> int:
    """Return the address of CPython's C handler, which stands for every handler written in Python.

    It is 0 on Windows, and if SIGINT has no handler in Python.
    """
    if sys.platform == "win32" or not callable(signal.getsignal(signal.SIGINT)):
        return 0
    # More room than any system's `struct sigaction` needs; the handler is its first word on Linux and macOS.
    action = (ctypes.c_uint64 * 64)()
    ctypes.CDLL(None).sigaction(int(signal.SIGINT), None, action)
    return action[0]
