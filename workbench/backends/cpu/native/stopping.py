"""What decides whether a launch ends before its time: Python's own signal handlers, asked from native code.

Code that runs has a `%stop`: a word that loops look at (`strips`), and the function to call where it is not 0. The
first look of a launch of the main thread sees that SIGINT comes by here: our handler marks words and goes on to
Python's. At a mark the main thread takes the GIL and lets Python handle its signals; the launch ends where a handler
raises, whoever wrote it. So a signal that came while nothing ran ends nothing: there is none left to handle.

XLA runs kernels on threads of its own while the main thread waits in it and can handle nothing. What it runs when the
signal comes ends, where the handler is Python's default. Once the main thread is back in Python calls look at another
word of a ring, so that the mark stays for those that have not looked yet and none is left for later ones. Launches of
other Python threads go on: Python interrupts its main thread alone.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  (CPython's own: no Python code runs in its functions)
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

SYMBOLS = ("wb_main", "wb_jax", "wb_facts", "wb_arm")
_MAIN, _PYTHON, _CALLED, _GETSIGNAL, _SIGINT, _DEFAULT, _JAX, _USUAL, _WANTED, _EMPTY = range(10)
"""Facts: the main thread; Python's C handler; a thread on which JAX calls Python; three objects; whether JAX is
here; whether the handler is Python's default; a function and its arguments."""


class Words(NamedTuple):
    """How far the main thread's launch is.

    Attributes:
        threads: that are done, about.
        rows: of a table that are done.
        began: when, as `time.perf_counter_ns`, to about a millisecond; 0 where none has run that long.
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
        """From the addresses of the image's symbols; from now on SIGINT comes by."""
        self._words = (ctypes.c_int64 * 3).from_address(addresses["wb_main"] + 16)
        self._facts = (ctypes.c_uint64 * 10).from_address(addresses["wb_facts"])
        self._arm = ctypes.CFUNCTYPE(ctypes.c_bool)(addresses["wb_arm"])
        self._kept = (int(signal.SIGINT),)
        self.jax = addresses["wb_jax"]
        self._facts[_MAIN] = threading.main_thread().ident or 0
        self._facts[_PYTHON] = _python_handler()
        self._facts[_GETSIGNAL:_JAX] = [id(_signal.getsignal), id(self._kept), id(_signal.default_int_handler)]
        self._facts[_WANTED:] = [id(_interrupt_wanted), id(_EMPTY_TUPLE)]
        self.arm()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: self._facts.__setitem__(_MAIN, threading.get_ident()))

    def arm(self) -> None:
        """See that signals come by: others may have put their handler in the place of ours."""
        self._facts[_USUAL] = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._arm()

    def serve_jax(self) -> int:
        """From now on mark what JAX runs, too; gives where the address stands of what its calls look at."""
        self._facts[_JAX] = 1
        self.arm()
        return self.jax

    @contextmanager
    def called_by_jax(self) -> Iterator[None]:
        """Launches of this thread inside are JAX's: it has called Python from a thread of its own."""
        before, self._facts[_CALLED] = self._facts[_CALLED], threading.get_ident()
        try:
            yield
        finally:
            self._facts[_CALLED] = before

    def words(self) -> Words:
        """What the main thread's launch says of itself now."""
        return Words(*self._words)

    def ended(self) -> Words:
        """What the launch said of itself that was stopped last, once; it had not begun where none was."""
        words = self.words()
        self._words[2] = 0
        return words


def _interrupt_wanted() -> bool:
    """Whether an interrupt that XLA's error went before has still to arrive; not where that has ended the program."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    return frame.f_globals.get("__name__") not in ("threading", "atexit")


_EMPTY_TUPLE: tuple[()] = ()


def _python_handler() -> int:
    """The address of the C function that stands for every handler written in Python; 0 where none has been set."""
    if sys.platform == "win32" or not callable(signal.getsignal(signal.SIGINT)):
        return 0
    action = (ctypes.c_uint64 * 64)()
    ctypes.CDLL(None).sigaction(int(signal.SIGINT), None, action)
    return action[0]
