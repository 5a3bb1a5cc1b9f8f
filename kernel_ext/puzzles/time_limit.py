"""A limit on how long a block of code may run: what runs longer is interrupted as by the stop button."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TimeLimitError(Exception):
    """The block ran longer than it may."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt the block after some seconds; there is no limit off the main thread and on Windows.

    Raises:
        TimeLimitError: the time was over.
        KeyboardInterrupt: the user interrupted it.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_kill"):
        yield
        return
    state = {"running": True, "expired": False}
    lock = threading.Lock()

    def stop() -> None:
        with lock:
            if state["running"]:
                state["expired"] = True
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        try:
            yield
        finally:
            timer.cancel()
            with lock:
                state["running"] = False
    except KeyboardInterrupt:
        if state["expired"]:
            raise TimeLimitError from None
        raise
