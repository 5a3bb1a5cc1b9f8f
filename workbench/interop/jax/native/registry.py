"""Plans by native description: XLA's calls name their kernel by the description's address alone.

Plans are held weakly, since they hold kernels; who notes a call holds the plan as long as the call is shown. A target
with checks outlives its plan (XLA forgets none), and its faults are explained by the kernel's IR alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from workbench.ir.values import Function

names: dict[int, str] = {}
segments: dict[int, Any] = {}
"""By the address of a fused program's table, what it was made from; None if that was only preloaded."""
functions: dict[str, Callable[[], Function]] = {}
"""By the name of a target with checks: what makes its IR, which knows the lines of its faults."""
plans: WeakValueDictionary[str, Any] = WeakValueDictionary()


def plan_of(description: int) -> Any:
    """Return the plan whose description lies at this address; None if it is gone, or was only preloaded."""
    return plans.get(names.get(description, ""))
