"""The end of a launch before its time: native code asks Python's own signal handlers.

Code that runs has a `%stop`: a word that loops look at (`strips`), and the function to call where it is not 0. The
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
"""Index of the facts about threads on which JAX calls Python, and how many of those are known at a time."""
_MAIN, _PYTHON, _UNUSED, _GETSIGNAL, _SIGINT, _DEFAULT, _JAX, _USUAL, _WANTED, _EMPTY = range(10)
"""Facts, as stop_handler.c has them: the main thread; Python's C handler; nothing; three objects; whether JAX is here;
whether the handler is Python's default; a function and its arguments. Then the threads on which JAX calls Python."""


class Words(NamedTuple):
    """The progress of the main thread's launch.

    Attributes:
        threads: that are done, about.
        rows: of a table that are done.
        began: when, as `time.perf_counter_ns`, to about a millisecond; 0 if none has run that long.
    """

    threads: int
    rows: int
    began: int


class Stopping:
    """The words of a loaded image, through which launches are stopped.

    Attributes:
        jax: where the address stands of what calls of JAX look at.
    """

    def __init__(self, addresses: Mapping[str, int]) -> None:
        """Read the addresses of the image's symbols, and pass SIGINT on from now on."""
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
        """See that signals come by: others may have replaced our handler."""
        # A user's own handler decides for itself; only Python's default is known to end what runs.
        self._facts[_USUAL] = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._arm()

    def serve_jax(self) -> int:
        """Mark what JAX runs, too, from now on; return the address of the pointer that its calls look at."""
        self._facts[_JAX] = 1
        self.arm()
        return self.jax

    @contextmanager
    def called_by_jax(self) -> Iterator[None]:
        """Launches of this thread inside are JAX's: it has called Python from a thread of its own."""
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

    def ended(self) -> Words:
        """Return the progress of the launch that was stopped last, once; one that had not begun if there is none."""
        words = self.words()
        # Read once: the next launch that is stopped must not report this one's figures.
        self._words[2] = 0
        return words


WAKING = 0.0005
"""Seconds until the main thread is woken."""
Function = TypeVar("Function", bound=Callable[..., Any])
_put_off: list[tuple[BaseException, set[FrameType]]] = []
"""Interrupts with the frames that they have to wait for: of code that XLA called, up to those of JAX's caller."""
_arrive: list[int] = []
_waking: list[bool] = []
"""Set while a thread is about to raise."""
_native: set[CodeType] = set()


def put_off(error: KeyboardInterrupt) -> None:
    """Raise an interrupt, which leaves a function that JAX called, again where the main thread is back from JAX.

    On another thread there is nothing to do: Python interrupts its main thread, too.
    """
    away = _frames_of_jax()
    if away and threading.current_thread() is threading.main_thread():
        _put_off.append((error, away))
        _try_again()


def called_by_native(function: Function) -> Function:
    """Decorator of a function that native code calls, and in which no interrupt may arrive: it would be lost there."""
    _native.add(function.__code__)
    return function


def heed_destructors() -> None:
    """Raise interrupts in destructors behind them; what `sys.unraisablehook` was hears of all else, as before."""
    before = sys.unraisablehook

    @called_by_native
    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is KeyboardInterrupt and threading.current_thread() is threading.main_thread():
            _put_off.append((unraisable.exc_value or KeyboardInterrupt(), set()))
            _try_again()
        else:
            before(unraisable)

    sys.unraisablehook = hook


def _interrupt_wanted() -> bool:
    """Return whether an interrupt is still to arrive after XLA's error, and has not ended the program.

    Raises:
        KeyboardInterrupt: it, where it was put off and can say more.
    """
    frame: FrameType | None = sys._getframe()
    away = set() if not _put_off else _put_off[0][1]
    last = frame
    while frame is not None:
        if frame in away or frame.f_code in _native:
            _try_again()
            _and_later()
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
    """Have the main thread ask again whether an interrupt may arrive."""
    ctypes.pythonapi.Py_AddPendingCall(ctypes.c_void_p(_arrive[-1]), None)


def _and_later() -> None:
    """Wake the main thread a moment later: Python 3.13 forgets a pending call that has queued itself 32 times."""
    if sys.version_info >= (3, 13) and not _waking:
        _waking.append(True)
        with suppress(RuntimeError):  # the interpreter is shutting down
            _thread.start_new_thread(_wake, ())  # `threading` takes a lock, which this thread may hold


def _wake() -> None:
    time.sleep(WAKING)
    _waking.clear()
    harmless = ctypes.cast(ctypes.pythonapi.PyErr_CheckSignals, ctypes.c_void_p)
    ctypes.pythonapi.Py_AddPendingCall(harmless, None)  # with any other, the one that was forgotten is made


def _frames_of_jax() -> set[FrameType]:
    """Return the frames up to JAX's, and JAX's own up to somebody else's; none where JAX has called nothing."""
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
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in packages


_EMPTY_TUPLE: tuple[()] = ()


def _python_handler() -> int:
    """Return the address of the C function that stands for every handler written in Python; 0 if none has been set."""
    if sys.platform == "win32" or not callable(signal.getsignal(signal.SIGINT)):
        return 0
    # More room than any system's `struct sigaction` needs; the handler is its first word on Linux and macOS.
    action = (ctypes.c_uint64 * 64)()
    ctypes.CDLL(None).sigaction(int(signal.SIGINT), None, action)
    return action[0]
