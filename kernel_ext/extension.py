"""What loading adds to a shell, and taking all of it back.

What was there before under the same names is kept and returned, so that unloading leaves the shell as it was found.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import workbench as wb
from kernel_ext import show
from kernel_ext.magics.completion import Matcher
from kernel_ext.magics.cuda_magics import CudaMagics
from kernel_ext.magics.gradient_magics import GradientMagics
from kernel_ext.magics.graph_magics import GraphMagics
from kernel_ext.magics.magics import KernelMagics
from kernel_ext.magics.measure_magics import MeasureMagics
from kernel_ext.magics.options import with_help
from kernel_ext.magics.record_magics import RecordMagics
from kernel_ext.magics.workbench_magic import HouseMagics
from kernel_ext.output.output_area import show_here
from kernel_ext.output.progress import Progress
from kernel_ext.output.renderable import Shown
from kernel_ext.session.device_flush import settle
from kernel_ext.session.edits import note_edits
from kernel_ext.session.recording import timeline_view
from kernel_ext.session.tracebacks import ShortTracebacks
from kernel_ext.views import queries, timeline
from kernel_ext.views.views import TimelineView
from workbench import inspect

_KEY = "kernel_ext"


@dataclass(frozen=True)
class _Loaded:
    """What one shell was given, kept in its registry of magics."""

    magics: tuple[Any, ...]
    tracebacks: ShortTracebacks
    matcher: Matcher
    after_cells: tuple[Callable[..., None], ...]
    progress: Progress
    before: dict[str, dict[str, Any]]
    warming: threading.Thread
    checks: bool


def load(shell: Any) -> None:
    """Register with `shell` (once) and print the greeting."""
    registry = shell.magics_manager.registry
    if _KEY not in registry:
        before = {kind: dict(names) for kind, names in shell.magics_manager.magics.items()}
        kernels = KernelMagics(shell)
        cuda = CudaMagics(shell, kernels)
        magics: tuple[Any, ...] = (
            kernels, RecordMagics(shell), GraphMagics(shell), GradientMagics(shell), MeasureMagics(shell), cuda,
        )  # fmt: skip
        magics += (HouseMagics(shell, magics),)
        shell.register_magics(*map(with_help, magics))
        show_recorders(shell, magics[1])
        show_live(shell)
        tracebacks = ShortTracebacks(shell)
        tracebacks.install()
        matcher = Matcher(shell, magics, cuda.headers)
        matcher.install()
        after_cells = (partial(settle, shell), partial(note_edits, shell))
        for ends in after_cells:
            shell.events.register("post_run_cell", ends)
        progress = Progress(shell)
        progress.install()
        warming = threading.Thread(target=inspect.warm, name="workbench-warm", daemon=True)
        registry[_KEY] = _Loaded(
            magics, tracebacks, matcher, after_cells, progress, before, warming, wb.set_checks(True)
        )  # fmt: skip
        warming.start()
    print(queries.greeting())


_DRAWN = {"text/html": timeline.timeline_html, "text/plain": timeline.timeline_text}
"""How a recorder that ends a cell is shown."""


def show_recorders(shell: Any, magics: RecordMagics) -> None:
    """Show a recorder that ends a cell as its timeline."""

    def drawn(draw: Callable[[TimelineView], str]) -> Callable[[wb.Recorder], str]:
        return lambda recorder: draw(timeline_view(recorder, label=magics.label))

    html, plain = (drawn(_DRAWN[kind]) for kind in ("text/html", "text/plain"))
    shell.display_formatter.formatters["text/html"].for_type(wb.Recorder, html)
    shell.display_formatter.formatters["text/plain"].for_type(wb.Recorder, lambda r, p, cycle: p.text(plain(r)))


_LIVE: dict[type, Callable[[Any], Shown]] = {
    inspect.Steps: show.steps,
    wb.Verdict: show.grad,
    wb.GradientReport: show.gradient_report,
}
"""Values that are shown live when they end a cell."""


def show_live(shell: Any) -> None:
    """Show each of `_LIVE` by its function."""
    for kind, made in _LIVE.items():
        shell.display_formatter.ipython_display_formatter.for_type(
            kind, lambda value, made=made: show_here(made(value))
        )


def unload(shell: Any) -> None:
    """Take back what `load` added to `shell`; without it, nothing happens."""
    manager = shell.magics_manager
    loaded = manager.registry.pop(_KEY, None)
    if loaded is None:
        return
    for magics in loaded.magics:
        manager.registry.pop(type(magics).__name__, None)
        for kind, names in magics.magics.items():
            for name in names:
                manager.magics[kind].pop(name, None)
                if name in loaded.before[kind]:
                    manager.magics[kind][name] = loaded.before[kind][name]
        if magics in shell.configurables:
            shell.configurables.remove(magics)
        magics.close()
    for kind in _DRAWN:
        shell.display_formatter.formatters[kind].pop(wb.Recorder, None)
    for shown in _LIVE:
        shell.display_formatter.ipython_display_formatter.pop(shown, None)
    loaded.tracebacks.remove()
    loaded.matcher.remove()
    for ends in loaded.after_cells:
        shell.events.unregister("post_run_cell", ends)
    loaded.progress.remove()
    wb.set_checks(loaded.checks)
    loaded.warming.join()
