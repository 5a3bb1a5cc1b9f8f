"""What a test could leave behind in the process, where a later one would stand on it: compared before and after each.

Tests run in any order. What the library keeps on purpose (code, keys, the reasons of recompiles) is kept by name and
text; a test that reads it uses names of its own.
"""

from __future__ import annotations

import builtins
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench import events
from workbench.cache.key import is_outdated
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.device import device
from workbench.runtime.launching import checks
from workbench.runtime.records import external_calls
from workbench.work import Work

_IGNORED = {"PYTEST_CURRENT_TEST", "TF_CPP_MIN_LOG_LEVEL", "TPU_SKIP_MDS_QUERY"}  # pytest's, and what JAX's import sets
_SIGNALS = (signal.SIGINT, signal.SIGTERM, *(s for s in (getattr(signal, "SIGALRM", None),) if s))


def _jax() -> dict[str, Any]:
    jax = sys.modules.get("jax")
    return dict(jax.config.values) if jax is not None and hasattr(jax, "config") else {}


_LOOKS: dict[str, Callable[[], Any]] = {
    "environment variables": lambda: {k: v for k, v in os.environ.items() if k not in _IGNORED},
    "the working directory": os.getcwd,
    "names in builtins": lambda: set(vars(builtins)),  # doctest and sys.displayhook leave `_`, which IPython heeds
    "sys.modules['__main__']": lambda: sys.modules["__main__"],
    "sys.displayhook": lambda: sys.displayhook,
    "sys.excepthook": lambda: sys.excepthook,
    "threading.excepthook": lambda: threading.excepthook,
    "signal handlers": lambda: [signal.getsignal(s) for s in _SIGNALS],
    "the recursion limit": sys.getrecursionlimit,
    "tracing": sys.gettrace,
    "garbage collection": gc.isenabled,
    "NumPy's errstate": np.geterr,
    "NumPy's print options": np.get_printoptions,
    "JAX's configuration": _jax,
    "set_checks": lambda: (checks._default, checks._HERE.get()),
    "the device of a `with`": device._current.get,
    "subscribers of events": lambda: list(events.SUBSCRIBERS),
    "observers of launches": OBSERVERS.get,
    "open recorders": lambda: list(external_calls._open),
    "work in the background": Work.running,
    "a source of ours that changed": is_outdated,  # the process stores nothing on disk from then on
}


def look() -> dict[str, Any]:
    """What is so now."""
    return {name: see() for name, see in _LOOKS.items()}


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What differs, in words; what came up for the first time in between (JAX) does not count."""
    return [
        f"{name}: {_difference(before[name], after[name])}"
        for name in _LOOKS
        if before[name] != after[name] and before[name] != {}
    ]


def _difference(before: Any, after: Any) -> str:
    if isinstance(before, dict):
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return ", ".join(f"{name}: {before.get(name)!r} -> {after.get(name)!r}" for name in names)
    if isinstance(before, set):
        return ", ".join(sorted(map(str, before ^ after)))
    return f"{before!r} -> {after!r}"
