"""Loading into a shell: what it adds, and how all of it is removed again.

What was there before under the same names is kept and returned, so that unloading leaves the shell as it was found.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import workbench as wb
from kernel_ext.magics.completion import Matcher
from kernel_ext.magics.cuda_magics import CudaMagics
from kernel_ext.magics.gradient_magics import GradientMagics
from kernel_ext.magics.graph_magics import GraphMagics
from kernel_ext.magics.kernel_magics import KernelMagics
from kernel_ext.magics.measure_magics import MeasureMagics
from kernel_ext.magics.options import body_for_help, with_help
from kernel_ext.magics.record_magics import RecordMagics
from kernel_ext.magics.words import Help
from kernel_ext.magics.workbench_magic import HouseMagics
from kernel_ext.output.progress import Progress
from kernel_ext.output.staleness import Staleness
from kernel_ext.session.cell_hooks import Interrupted, note_edits, settle, show_losses, show_notices, show_rebuilds
from kernel_ext.session.tracebacks import ShortTracebacks
from kernel_ext.values import Values
from kernel_ext.views.kernels import queries
from workbench import inspect

_KEY = "kernel_ext"


@dataclass(frozen=True)
class _Loaded:
    """The objects that one shell was given, stored in its registry of magics."""

    magics: tuple[Any, ...]
    values: Values
    tracebacks: ShortTracebacks
    matcher: Matcher
    asked: Help
    after_cells: tuple[Callable[..., None], ...]
    transform: Callable[[list[str]], list[str]]
    progress: Progress
    interrupted: Interrupted
    staleness: Staleness
    notices: tuple[Callable[[], None], ...]
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
        values = Values(shell, magics[1].label)
        values.install()
        tracebacks = ShortTracebacks(shell)
        tracebacks.install()
        matcher = Matcher(shell, magics, cuda.headers)
        matcher.install()
        word_help = Help(shell)
        word_help.install()
        after_cells = (partial(settle, shell), partial(note_edits, shell))
        for ends in after_cells:
            shell.events.register("post_run_cell", ends)
        transform = body_for_help(magics)
        shell.input_transformers_cleanup.append(transform)
        progress = Progress(shell)
        progress.install()
        interrupted = Interrupted(shell)
        interrupted.install()
        staleness = Staleness(shell)
        staleness.install()
        warming = threading.Thread(target=inspect.warm, name="workbench-warm", daemon=True)
        registry[_KEY] = _Loaded(
            magics, values, tracebacks, matcher, word_help, after_cells, transform, progress, interrupted,
            staleness, (show_notices(), show_losses(shell), show_rebuilds(shell)), before, warming, wb.set_checks(True),
        )  # fmt: skip
        inspect.note_launches(True)
        warming.start()
    print(queries.greeting())


def unload(shell: Any) -> None:
    """Take back what `load` added to `shell`; without it, nothing happens."""
    manager = shell.magics_manager
    added = manager.registry.pop(_KEY, None)
    if added is None:
        return
    for magics in added.magics:
        manager.registry.pop(type(magics).__name__, None)
        for kind, names in magics.magics.items():
            for name in names:
                manager.magics[kind].pop(name, None)
                if name in added.before[kind]:
                    manager.magics[kind][name] = added.before[kind][name]
        if magics in shell.configurables:
            shell.configurables.remove(magics)
        magics.close()
    added.values.remove()
    added.tracebacks.remove()
    added.matcher.remove()
    added.asked.remove()
    for ends in added.after_cells:
        shell.events.unregister("post_run_cell", ends)
    shell.input_transformers_cleanup.remove(added.transform)
    added.progress.remove()
    added.interrupted.remove()
    added.staleness.remove()
    for ends in added.notices:
        ends()
    wb.set_checks(added.checks)
    inspect.note_launches(False)
    added.warming.join()
