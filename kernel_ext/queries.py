"""Asking the library what a view shows: panes of a kernel, the cache's content, the greeting.

All of `workbench.inspect` is reached from here, so that views stay plain values.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import workbench as wb
from kernel_ext import figures
from kernel_ext.views import CacheView, EntryRow, InspectView, PaneView
from workbench import inspect

PANES: tuple[str, ...] = inspect.PANES


def pane_views(kernel: Any, names: Iterable[str]) -> tuple[PaneView, ...]:
    """The named texts about `kernel`; one that cannot be made holds the reason."""
    names = tuple(names)
    if not names:
        return ()
    texts = inspect.panes(kernel, names)
    return tuple(PaneView(kernel.name, name, texts[name]) for name in names)


def inspect_view(kernel: Any, names: Iterable[str] = ("source", "ir")) -> InspectView:
    """Texts about `kernel`, to be shown side by side."""
    return InspectView(kernel.name, pane_views(kernel, names))


def cache_view(entries: bool = True) -> CacheView:
    """What is cached; without `entries`, only the sums."""
    info = inspect.cache_info()
    now = time.time()
    rows = [
        EntryRow(e.digest, e.name, e.backend, e.target, e.bytes, now - e.built, now - e.used)
        for e in (inspect.cache_entries() if entries else ())
    ]
    return CacheView(
        info.modules,
        info.bytes,
        info.hits_memory,
        info.hits_disk,
        info.misses,
        str(info.path or ""),
        str(info.problem or ""),
        tuple(sorted(rows, key=lambda r: r.used)),
    )


def cache_why(kernel: Any) -> str:
    """Why `kernel` was last compiled, in one line a reason."""
    reasons = inspect.why(kernel)
    return "\n".join(reasons) if reasons else f"{kernel.name} was not recompiled: no part of its key has changed"


def cache_clear() -> str:
    """Empty the cache; says what went."""
    before = inspect.cache_info()
    wb.cache.clear()
    return f"removed {figures.count(before.modules, 'module')}, {figures.size(before.bytes)}"


def cache_prune() -> str:
    """Bring the cache under its size limit; says what went."""
    before = inspect.cache_info()
    wb.cache.prune()
    after = inspect.cache_info()
    gone = figures.count(before.modules - after.modules, "module")
    return f"removed {gone}, {figures.size(before.bytes - after.bytes)}; kept {figures.size(after.bytes)}"


def cache_export(path: str) -> str:
    """Write the cache to `path`."""
    wb.cache.export(path)
    return f"wrote the cache to {path}"


def cache_import(path: str) -> str:
    """Take the entries of `path` into the cache."""
    before = inspect.cache_info()
    wb.cache.import_(path)
    gained = inspect.cache_info().modules - before.modules
    return f"took {figures.count(gained, 'module')} from {path}"


def greeting() -> str:
    """The one line of `%load_ext`: version, devices, cache."""
    info = inspect.cache_info()
    cached = f"cache {figures.count(info.modules, 'module')}, {figures.size(info.bytes)}"
    problem = f"cache in memory only: {info.problem}" if info.problem else cached
    version = ".".join(wb.__version__.split(".")[:2])
    return " · ".join((f"Workbench {version}", inspect.devices(), problem))
