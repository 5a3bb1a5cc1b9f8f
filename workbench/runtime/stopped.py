"""What an interrupt says of the launch that it ended: which, how long it ran, how far it was, what is half written."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress

from workbench.backends.cpu.stopping import Words
from workbench.runtime.launcher import install_launcher


def explain(error: BaseException, what: str, threads: int, written: Iterable[str], row: str = "") -> None:
    """Let `error`, which a native call raised, say what it ended; nothing where that was over, or never began.

    A `KeyboardInterrupt` without a text gets one, anything else that a handler raised gets a note.

    Args:
        error: what was raised.
        what: what ran: a kernel's name and direction, a record, a graph.
        threads: of the launch; 0 where they are not counted.
        written: names of what it may have written in part.
        row: which of several launches it was in.
    """
    words = install_launcher().stopping.ended()
    if not words.began:
        return
    names = list(dict.fromkeys(written))
    half = f" Half written: {', '.join(names)}." if names else ""
    text = f"{what} was stopped after {elapsed(words)}{share(words, threads)}{row}.{half}"
    if isinstance(error, KeyboardInterrupt) and not error.args:
        error.args = (text,)
    else:
        with suppress(AttributeError):
            error.add_note(text)


def elapsed(words: Words) -> str:
    """How long it has run."""
    return f"{(time.perf_counter_ns() - words.began) / 1e9:.1f} s"


def share(words: Words, threads: int) -> str:
    """How much of it is done; empty where that is not known."""
    return f", {min(99, 100 * words.threads // threads)} % of its threads" if threads and words.threads else ""
