"""Locks that a forked child finds free.

A child has one thread, and a copy of every lock as it was; those that other threads held would stay held for ever.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

_owners: weakref.WeakKeyDictionary[Any, list[tuple[str, Callable[[], Any]]]] = weakref.WeakKeyDictionary()


def renewed(owner: Any, name: str, make: Callable[[], Any] = threading.Lock) -> Any:
    """A new value for the attribute `name` of `owner` (of the module, where it is a module's name), made again in
    each forked child: a lock.
    """
    place = sys.modules[owner] if isinstance(owner, str) else owner
    _owners.setdefault(place, []).append((name, make))
    return make()


def _after_fork() -> None:
    for owner, places in list(_owners.items()):
        for name, make in places:
            setattr(owner, name, make())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
