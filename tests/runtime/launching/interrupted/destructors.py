"""Interrupts at every line of destructors, ours and others', and of weak references' callbacks: how many arrive."""

from __future__ import annotations

import gc
import json
import signal
import sys
import time
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import workbench as wb
from workbench.runtime.arrays.dlpack import Taken

NAMES = {"__del__", "_remove", "remove"}


@wb.kernel
def once(x: wb.array(dtype=float)):
    x[wb.tid()] = 1.0


class Own:
    """Something of the user's."""

    def __del__(self) -> None:
        self.first = 1
        self.second = 2


def taken() -> None:
    """Ours: a tensor of another library."""
    Taken(np.zeros(3).__dlpack__())


def cycle() -> None:
    """Collected as garbage."""
    made = Own()
    made.me = made
    del made
    gc.collect()


def weakly() -> None:
    """Callbacks of Python's own collections."""
    known, named = weakref.WeakSet(), weakref.WeakValueDictionary()
    key = Own()
    known.add(key)
    named[1] = key


def wait() -> None:
    """Run Python code for a while, as a cell would: what was put off arrives in it."""
    end = time.monotonic() + 0.1
    while time.monotonic() < end:
        pass


def interrupted(drop: Callable[[], object], kind: str, number: int) -> int | None:
    """How many interrupts arrive of one at the event `number` of that kind; None where there are not so many."""
    seen = arrived = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal seen
        if frame.f_code.co_name not in NAMES:
            return None
        if event == kind:
            seen += 1
            if seen == number:
                signal.raise_signal(signal.SIGINT)
        return trace

    try:
        sys.settrace(trace)
        try:
            drop()
        finally:
            sys.settrace(None)
        wait()
    except KeyboardInterrupt:
        arrived += 1
    try:
        wait()
    except KeyboardInterrupt:
        arrived += 1
    return arrived if seen >= number else None


def main() -> None:
    """Say how many interrupts there were and how often each arrived."""
    wb.launch(once, 4, [wb.zeros(4)])
    found: list[int] = []
    for drop in (taken, Own, cycle, weakly):
        for kind in ("call", "line", "return"):
            number = 1
            while (count := interrupted(drop, kind, number)) is not None:
                found.append(count)
                number += 1
    print(json.dumps(found))


if __name__ == "__main__":
    main()
