"""What other systems run in `workloads.py`: numba's functions, as attributes, compiled at the first use of one."""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """Return numba's function of that name; a process that times Workbench alone needs no numba."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(importlib.import_module("peers.kernels"), name)
