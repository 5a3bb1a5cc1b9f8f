"""Locks that a forked child finds free.

A child has one thread, and a copy of every lock as it was; those that other threads held would stay held for ever. So
would a module that another thread was importing: a fork waits for what a compile imports when it is first used. Python
has no public way to ask what is being imported; where it does not have the private names that are used here, a fork
does not wait for imports, and a child that compiles may hang if it was forked during one: `import workbench` and
compile once before forking.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable
from importlib import _bootstrap
from typing import Any

ON_FIRST_USE = {"workbench", "kernel_ext", "llvmlite", "numpy", "msgspec", "platformdirs", "zipfile"}
"""Packages of which something is imported only when a kernel is compiled or read from the cache, or a view is shown."""
_FORKS = hasattr(os, "register_at_fork")
_waited_for: list[Any] = []
_taken: list[Any] = []
_owners: weakref.WeakKeyDictionary[Any, list[tuple[str, Callable[[], Any]]]] = weakref.WeakKeyDictionary()


def fork_safe_lock(owner: Any, name: str, make: Callable[[], Any] = threading.Lock) -> Any:
    """Return a lock for the attribute `name` of `owner`, which is replaced by a new one in each forked child.

    Args:
        owner: an object that is hashed by identity, or a module's name.
        name: the attribute in which the caller keeps the lock.
        make: makes a lock.
    """
    holder = sys.modules[owner] if isinstance(owner, str) else owner
    _owners.setdefault(holder, []).append((name, make))
    return make()


def free_at_fork(lock: Any) -> Any:
    """Register `lock` to be acquired before each fork and released after it in both processes; return it.

    So what it guards is consistent in the child too. Hold such a lock for short work, never for Python code.
    """
    if lock not in _waited_for:
        _waited_for.append(lock)
    return lock


def _locks() -> list[Any]:
    """Return the locks in the order in which threads take them: llvmlite's, which it takes in each call, comes last."""
    lock: Any = sys.modules.get("llvmlite.binding.ffi")  # imported by whoever needed it first
    for name in ("lib", "_lock", "_lock"):
        lock = getattr(lock, name, None)
    return [*reversed(_waited_for), *([lock] if lock is not None else ())]


def after_fork(call: Callable[[], None]) -> None:
    """Have `call` run in each forked child; nothing happens where processes cannot be forked."""
    if _FORKS:
        os.register_at_fork(after_in_child=call)


def _renew() -> None:
    """Replace in a forked child all registered locks, before Python 3.12 also those of cached properties."""
    for owner, names in list(_owners.items()):
        for name, make in names:
            setattr(owner, name, make())
    if sys.version_info < (3, 12):  # before, all objects of a class shared a lock for each cached property
        for module in [m for name, m in sys.modules.items() if name.startswith("workbench")]:
            for cls in [c for c in vars(module).values() if isinstance(c, type)]:
                for descriptor in vars(cls).values():
                    if isinstance(descriptor, functools.cached_property):
                        descriptor.lock = threading.RLock()  # type: ignore[attr-defined]


def _imported_now(seen: set[str]) -> list[str]:
    """Return the modules of `ON_FIRST_USE` that some thread is importing, without those in `seen`."""
    held: dict[str, Any] = getattr(_bootstrap, "_module_locks", {})
    if not hasattr(_bootstrap, "_lock_unlock_module"):
        return []
    return [name for name in list(held) if name.partition(".")[0] in ON_FIRST_USE and name not in seen]


def _before() -> None:
    """Wait until no other thread imports from `ON_FIRST_USE`, then take the locks; again if one began meanwhile."""
    seen: set[str] = set()  # what this thread itself imports stays locked
    while True:
        while names := _imported_now(seen):
            for name in names:
                _bootstrap._lock_unlock_module(name)  # type: ignore[attr-defined]  # as `import` waits
            seen.update(names)
        for lock in _locks():
            lock.acquire()
            _taken.append(lock)
        if not _imported_now(seen) and len(_taken) == len(_locks()):  # an import may have brought a lock
            return
        _after()


def _after() -> None:
    """Release the locks that `_before` took, in the reverse order."""
    taken, _taken[:] = list(_taken), []  # emptied first: another thread that forks fills it once the locks are free
    for lock in reversed(taken):
        lock.release()


if _FORKS:  # first, so that a child's other calls find the locks free
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
after_fork(_renew)
