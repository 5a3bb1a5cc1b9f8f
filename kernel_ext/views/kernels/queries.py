"""Asking the library what a view shows: panes of a kernel, the cache's content, the greeting.

All of `workbench.inspect` is reached from here, so that views stay plain values.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import workbench as wb
from kernel_ext.views import html
from kernel_ext.views.view_data import CacheView, EntryRow, InspectView, PaneView
from workbench import inspect
from workbench.errors import WorkbenchError, must_be

PANES: tuple[str, ...] = inspect.PANES
NATIVE = "native"
"""Stands for the architecture of the GPU in this machine; if there is none, each text has its own default."""
KEPT = ("source", "ir", "adjoint", "cuda", "key")
"""Texts that a page without a kernel keeps: those for which nothing is compiled."""


def pane_views(kernel: Any, names: Iterable[str], arch: str = NATIVE) -> tuple[PaneView, ...]:
    """Return the named texts about `kernel`, on a GPU for `arch`; one that cannot be made holds the reason instead."""
    return tuple(_pane(kernel, name, arch) for name in names)


def kept_views(kernel: Any) -> tuple[PaneView, ...]:
    """Return the texts about `kernel` for which nothing is compiled (`KEPT`), as far as its kind has them."""
    return pane_views(kernel, [name for name in KEPT if not _is_cuda(kernel) or name in inspect.CUDA_PANES])


def _is_cuda(kernel: Any) -> bool:
    """Return whether the kernel is CUDA C++."""
    return hasattr(kernel, "signature")


def _pane(kernel: Any, name: str, arch: str) -> PaneView:
    """Return one text about the kernel for `arch`; if it cannot be built, the error is the text."""
    if name not in _WITH_LINES and (name != "sass" or arch == NATIVE):
        first = _first_line(kernel) if name == "source" else 1
        return PaneView(kernel.name, name, inspect.panes(kernel, (name,))[name], first)
    try:
        chosen = {} if arch == NATIVE else {"arch": arch}
        text = _WITH_LINES[name](kernel, **(chosen if name in ("ptx", "sass") else {}))
    except WorkbenchError as error:
        text = error.render()
    return PaneView(kernel.name, name, text)


# These say which line of the cell each of theirs comes from, so that a reader can go from one to the other. LLVM's
# text is that after optimisation, which no longer knows.
_WITH_LINES: dict[str, Callable[..., str]] = {
    "ir": lambda kernel: inspect.ir(kernel, lines=True),
    "adjoint": lambda kernel: inspect.adjoint(kernel, lines=True),
    "tangent": lambda kernel: inspect.tangent(kernel, lines=True),
    "cuda": lambda kernel: inspect.cuda(kernel, lines=True),
    "ptx": lambda kernel, **arch: inspect.ptx(kernel, lines=True, **arch),
    "sass": lambda kernel, **arch: inspect.sass(kernel, **arch),
}


def _first_line(kernel: Any) -> int:
    """Return the cell's line on which the kernel's text begins, its decorators included."""
    if _is_cuda(kernel):
        return kernel.signature.first + kernel.place.source.line_offset
    node = kernel.definition.node
    return min([node.lineno, *(d.lineno for d in node.decorator_list)]) + kernel.definition.source.line_offset


def inspect_view(kernel: Any, names: Iterable[str] = ("source", "ir"), said: str = "") -> InspectView:
    """Return texts about `kernel`, to be shown side by side; `said` stands next to its name.

    Raises:
        Refusal: it is not a kernel.
    """
    must_be(kernel, wb.Kernel, "source() takes a kernel")
    return InspectView(kernel.name, pane_views(kernel, names), said)


def diff_view(kernel: Any, other: Any, pane: str = "ir") -> InspectView:
    """Return the difference of one text about `kernel` from that about `other`, or why it cannot be made."""
    try:
        text = inspect.diff(kernel, other, pane) or f"{kernel.name} and {other.name} are alike"
    except WorkbenchError as error:
        text = error.render()
    return InspectView(kernel.name, (PaneView(kernel.name, f"{pane} against {other.name}", text),))


def cache_view(entries: bool = True) -> CacheView:
    """Return the view of the cache, the module used last first; without `entries`, only its sums."""
    info = inspect.cache_info()
    now = time.time()
    rows = [
        EntryRow(
            e.digest,
            e.name,
            e.backend,
            e.target,
            e.bytes,
            now - e.built,
            now - e.used,
            e.where,
            tuple(inspect.why(e.name)),
        )
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
    """Return why `kernel` was last recompiled, one reason per line; else a sentence that it was not."""
    reasons = inspect.why(kernel)
    return "\n".join(reasons) if reasons else f"{kernel.name} was not recompiled: no part of its key has changed"


def cache_clear() -> str:
    """Empty the cache; return a sentence with the number of modules and their size."""
    before = inspect.cache_info()
    return f"removed {html.count(wb.cache.clear(), 'module')}, {html.size(before.bytes)}"


def cache_remove(digest: str) -> str:
    """Remove one module from the cache; return a sentence that says so, or that it was no longer there.

    Raises:
        CacheError: the digest is not 64 hex digits.
    """
    return f"removed {digest[:8]}" if wb.cache.remove(digest) else f"{digest[:8]} was no longer there"


def cache_prune() -> str:
    """Bring the cache under its size limit; return a sentence with what was removed and kept."""
    removed = wb.cache.prune()
    return f"removed {html.count(removed, 'module')}; kept {html.size(inspect.cache_info().bytes)}"


def cache_export(path: str) -> str:
    """Write the cache to the file `path`; return a sentence with the number of modules.

    Raises:
        CacheError: the file cannot be written.
    """
    return f"wrote {html.count(wb.cache.export(path), 'module')} to {path}"


def cache_import(path: str, trust: bool = False) -> str:
    """Read the modules of the file `path` into the cache, if the user trusts its author; return a sentence on it.

    Raises:
        CacheError: the file is no export, or damaged.
    """
    done = wb.cache.import_(path, trust=trust)
    return " · ".join(p for p in (f"took {html.count(done.taken, 'module')} from {path}", done.message) if p)


def forget_compiled() -> str:
    """Clear JAX's compiled programs, so that each is compiled again at its next call; return a sentence on it."""
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.clear_caches()
    return "jax.clear_caches() was called: JAX functions are compiled again at their next call"


def greeting() -> str:
    """Return the one line of `%load_ext`: version, devices, cache."""
    info = inspect.cache_info()
    cached = f"cache {html.count(info.modules, 'module')}, {html.size(info.bytes)}"
    problem = f"cache in memory only: {info.problem}" if info.problem else cached
    version = ".".join(wb.__version__.split(".")[:2])
    return " · ".join((f"Workbench {version}", inspect.devices(), problem))
