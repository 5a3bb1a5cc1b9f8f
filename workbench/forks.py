"""Locks that a forked child finds free.

A child has one thread, and a copy of every lock as it was; those that other threads held would stay held for ever.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

_FORKS = hasattr(os, "register_at_fork")
_owners: weakref.WeakKeyDictionary[Any, list[tuple[str, Callable[[], Any]]]] = weakref.WeakKeyDictionary()


def renewed(owner: Any, name: str, make: Callable[[], Any] = threading.Lock) -> Any:
    """A lock for the attribute `name` of `owner`, which gets another one in each forked child.

    Args:
        owner: an object that is hashed by identity, or a module's name.
        name: where the caller keeps the lock.
        make: makes one.
    """
    place = sys.modules[owner] if isinstance(owner, str) else owner
    _owners.setdefault(place, []).append((name, make))
    return make()


def free_at_fork(lock: Any) -> Any:
    """`lock`, for which a fork waits: what it guards is whole in the child too. For short work, never for Python code
    of others.
    """
    if _FORKS:
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


def after_fork(call: Callable[[], None]) -> None:
    """Have `call` run in each forked child."""
    if _FORKS:
        os.register_at_fork(after_in_child=call)


def _renew() -> None:
    for owner, places in list(_owners.items()):
        for name, make in places:
            setattr(owner, name, make())
    if sys.version_info < (3, 12):  # before, all objects of a class shared a lock for each cached property
        for module in [m for name, m in sys.modules.items() if name.startswith("workbench")]:
            for cls in [c for c in vars(module).values() if isinstance(c, type)]:
                for descriptor in vars(cls).values():
                    if isinstance(descriptor, functools.cached_property):
                        descriptor.lock = threading.RLock()  # type: ignore[attr-defined]


after_fork(_renew)
