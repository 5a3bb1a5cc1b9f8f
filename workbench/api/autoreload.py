"""What IPython's `%autoreload` does with kernels, funcs and structs: names get what the module defines now.

By itself it would leave `from module import kernel` at the old kernel, and would change a struct's class in place,
under its values and under code that was compiled for them.
"""

from __future__ import annotations

import sys
from typing import Any

_EXTENSION = "IPython.extensions.autoreload"
_MARKS = ("__wb_kernel__", "__wb_definitions__", "__wb_struct__")
"""Attributes of kernels, funcs and classes of structs."""


def follow_reloads() -> None:
    """Give `%autoreload` our rule, where it is in use; to be called by decorators, which a reload runs."""
    rules = getattr(sys.modules.get(_EXTENSION), "UPDATE_RULES", None)
    if isinstance(rules, list) and _RULE not in rules:
        rules.insert(0, _RULE)


def _are_ours(old: Any, new: Any) -> bool:
    return all(any(hasattr(value, mark) for mark in _MARKS) for value in (old, new))


def _replace(old: Any, new: Any) -> None:
    """Give each name of a module, or of the notebook, that means `old` the meaning `new`."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if isinstance(names, dict):
            for name in [n for n, value in list(names.items()) if value is old]:
                names[name] = new


_RULE = (_are_ours, _replace)
