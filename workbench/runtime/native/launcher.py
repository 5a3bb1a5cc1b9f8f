"""The native launcher of this process, and what is reported of the work that it runs.

The launcher is loaded from the cache where it is there, else compiled, once.

Work in the main thread is reported while it runs and when it is stopped. Nothing is written down beforehand, since a
launch costs less than that: the functions that call native code or compilers say here how their local variables are
read (`runs`, `compiles`), and the main thread's frames are looked through.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any, TypeVar

import msgspec

from workbench.backends.cpu.native import dispatch
from workbench.backends.cpu.native.stopping import Words
from workbench.cache.native import native_image


@functools.cache
def install_launcher() -> dispatch.Launcher:
    """Return this process's native launcher; the first call loads it from the cache, or compiles it."""
    return dispatch.install(native_image("wb_launcher", dispatch.text, optimise=False))


Function = TypeVar("Function", bound=Callable[..., Any])


class Native(msgspec.Struct, frozen=True):
    """The work of one native call, for messages.

    Attributes:
        what: what people call it.
        threads: of the launch; 0 if they are not counted.
        written: names of what it may write.
        rows: launches of a table; 1 if it is no table.
    """

    what: str
    threads: int = 0
    written: tuple[str, ...] = ()
    rows: int = 1


class UnderWay(msgspec.Struct, frozen=True):
    """The work that is under way in the main thread.

    Attributes:
        doing: "running" or "compiling".
        what: what people call it.
        seconds: how long it has been seen to go on.
        done: how far it is; empty if unknown.
    """

    doing: str
    what: str
    seconds: float
    done: str


_NATIVE: dict[CodeType, Callable[[Mapping[str, Any]], Native]] = {}
_COMPILING: dict[CodeType, Callable[[Mapping[str, Any]], str]] = {}


def runs(read: Callable[[Mapping[str, Any]], Native]) -> Callable[[Function], Function]:
    """Decorate a function that makes a native call; `read` returns, from its local variables, what runs."""

    def decorate(function: Function) -> Function:
        _NATIVE[function.__code__] = read
        return function

    return decorate


def compiles(read: Callable[[Mapping[str, Any]], str]) -> Callable[[Function], Function]:
    """Decorate a function that compiles; `read` returns, from its local variables, the name of what is compiled."""

    def decorate(function: Function) -> Function:
        _COMPILING[function.__code__] = read
        return function

    return decorate


class Watch:
    """A view of what the main thread does, for another thread that looks now and then."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self._compiling: tuple[int, float] = 0, 0.0

    def look(self) -> UnderWay | None:
        """Return what is under way; None if Python runs, or a launch that has just begun."""
        frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]
        frame = frames.get(threading.main_thread().ident or 0)
        while frame is not None:
            native, compiled = _NATIVE.get(frame.f_code), _COMPILING.get(frame.f_code)
            if compiled is not None:
                return UnderWay("compiling", compiled(frame.f_locals), self._since(frame), "")
            if native is not None:
                words = install_launcher().stopping.words()
                run = native(frame.f_locals)
                return UnderWay("running", run.what, _seconds(words), _done(words, run)) if words.began else None
            frame = frame.f_back
        return None

    def _since(self, frame: FrameType) -> float:
        """Return the seconds since this frame was first seen to compile."""
        now = time.perf_counter()
        if self._compiling[0] != id(frame):
            self._compiling = id(frame), now
        return now - self._compiling[1]


def explain(error: BaseException, run: Native) -> None:
    """Add to an error that a native call raised what it ended, and how far that was; nothing if no work was stopped.

    A `KeyboardInterrupt` without a text gets one, anything else that a signal's handler raised gets a note.
    """
    words = install_launcher().stopping.stopped_progress()
    if not words.began:
        return
    done = _done(words, run)
    message = f"{run.what} was stopped after {_seconds(words):.1f} s{f', {done}' if done else ''}."
    if run.written:
        message += f" Half written: {', '.join(run.written)}."
    append_note(error, message)


def append_note(error: BaseException, message: str) -> None:
    """Add a text to an error: to the message of a `KeyboardInterrupt`, to others as a note."""
    if isinstance(error, KeyboardInterrupt) and all(isinstance(a, str) for a in error.args):
        error.args = (" ".join([*error.args, message]),)
    else:
        with suppress(AttributeError):
            error.add_note(message)


def sorted_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in alphabetical order, each once."""
    return tuple(sorted(set(names)))


def _seconds(words: Words) -> float:
    """Return the seconds since native work began."""
    return (time.perf_counter_ns() - words.began) / 1e9


def _done(words: Words, run: Native) -> str:
    """Return how far native work is, "3 of 8" or "40 % of its threads"; empty if nothing is done yet."""
    if run.rows > 1:
        return f"{words.rows + 1} of {run.rows}"
    percent = 100 * words.threads // run.threads if run.threads else 0
    return f"{min(99, percent)} % of its threads" if percent else ""
