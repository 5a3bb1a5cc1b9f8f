"""Load Workbench into a shell, and remove again everything that it added; draw the losses of loops below their cells.

Its hooks around cells print notices and rebuilds, wait for faults of devices, note edits of names, and close the
tapes of an interrupted cell.

Whatever had the same names before is restored by unloading, which leaves the shell as it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
from IPython.display import display

import workbench as wb
from kernel_ext.magics.completion import Matcher
from kernel_ext.magics.kernel_magics import CudaMagics, KernelMagics
from kernel_ext.magics.measure_magics import MeasureMagics
from kernel_ext.magics.options import body_for_help, with_help
from kernel_ext.magics.words import Help
from kernel_ext.magics.work_magics import GradientMagics, GraphMagics, RecordMagics
from kernel_ext.magics.workbench_magic import HouseMagics
from kernel_ext.output.output_area import Showing, show_and_keep, widgets_wanted
from kernel_ext.output.progress import Progress
from kernel_ext.output.renderable import Shown
from kernel_ext.output.staleness import Staleness
from kernel_ext.session.cells import is_building, is_kernel
from kernel_ext.session.tracebacks import ShortTracebacks
from kernel_ext.values import Values
from kernel_ext.views import html
from kernel_ext.views.kernels import queries
from kernel_ext.views.view_data import as_data
from workbench import events, inspect
from workbench.errors import WorkbenchError
from workbench.inspect import note_bindings, opened, settle_all

_KEY = "kernel_ext"


class _Loaded(msgspec.Struct, frozen=True):
    """Holds all that was added to one shell, in the shell's registry of magics, so that it can be removed."""

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
    """Add the magics and hooks to `shell`, once, and turn checks on; print the greeting each time."""
    registry = shell.magics_manager.registry
    if _KEY not in registry:
        before = {kind: dict(names) for kind, names in shell.magics_manager.magics.items()}
        kernels = KernelMagics(shell)
        cuda = CudaMagics(shell, kernels)
        magics: tuple[Any, ...] = (
            kernels,
            RecordMagics(shell),
            GraphMagics(shell),
            GradientMagics(shell),
            MeasureMagics(shell),
            cuda,
        )
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
    """Remove what `load` added to `shell`, and set checks as they were; nothing happens if it was not loaded."""
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


def show_losses(shell: Any) -> Callable[[], None]:
    """Draw each loop of `wb.optim.progress` in one output; the returned function ends that.

    A shell in a terminal has no outputs that change: there the loop prints a line itself.
    """
    if getattr(shell, "kernel", None) is None:
        return lambda: None
    shown: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def draw(event: events.Event) -> None:
        assert isinstance(event, events.LossReported)
        run = event.progress
        if run not in shown or shown[run][0] is not run.history:  # the loop starts, or starts again
            shown[run] = run.history, _Film(shell) if run.watch else display(display_id=True)
        shown[run][1].update(run)

    return events.subscribe(draw, events.LossReported)


class _Film:
    """Draws the views and the loss that one loop watches, frame by frame."""

    def __init__(self, shell: Any) -> None:
        """Make a film without frames, to be shown in a cell of `shell`."""
        from kernel_ext.views.arrays.animation import Reel

        self._shell, self._reel, self._started, self._failed = shell, Reel(), False, False
        self._showing: Showing | None = None

    def update(self, run: Any) -> None:
        """Draw what is watched as it is now; the last frame is what a saved notebook shows.

        Nothing is drawn after a failure or, without widgets, before the last frame.
        """
        from kernel_ext import show
        from kernel_ext.views.arrays.animation import animation_html, animation_text

        if self._failed or (run.running and not widgets_wanted()):
            return
        losses = np.array(run.history or [np.nan])
        try:
            pictures = [show.picture_of(losses, _loss) if isinstance(w, str) else show.picture_of(w) for w in run.watch]
        except Exception as error:  # the loop may have run for hours
            self._failed = True
            print(f"watch failed with {type(error).__name__}: {error}. The loop goes on without pictures.")
            return
        view = self._reel.add(repr(run), pictures, last=not run.running)
        if not self._started:
            self._started = True
            film = Shown("animation", view, animation_text, animation_html, source=self._reel)
            self._showing = show_and_keep(film, self._shell)
        elif self._showing is not None and self._showing.lasts:
            self._showing.widget.view = as_data(view)
        if self._showing is not None and self._showing.lasts and not run.running:
            self._showing.widget.rested(view)


def _loss(values: Any) -> Shown:
    """Return the array view of a loop's losses, with the name `loss`."""
    from kernel_ext import show

    return show.array(values, "loss")


def show_notices() -> Callable[[], None]:
    """Print each notice published while no cell is being built; the returned function ends that."""
    return events.subscribe(_show, events.Notice)


def _show(event: events.Event) -> None:
    """Print a notice, unless a cell is being built, whose card then shows it."""
    if isinstance(event, events.Notice) and not is_building():
        print(event.message)


def _is_of_the_user(kernel: str, names: Mapping[str, Any]) -> bool:
    """Return whether a kernel of this name is among the notebook's names or in a module that it imported.

    Workbench's own modules do not count.
    """
    modules = [vars(m) for m in names.values() if isinstance(m, ModuleType) and m.__name__.split(".")[0] != "workbench"]
    return any(is_kernel(v) and v.name == kernel for held in (names, *modules) for v in list(held.values()))


def show_rebuilds(shell: Any) -> Callable[[], None]:
    """Print why a launch compiled a kernel of the user's again, once for each kernel and cell.

    The returned function ends that.
    """
    why: dict[tuple[str, str], tuple[str, ...]] = {}
    reported: set[str] = set()

    def tell(event: events.Event) -> None:
        if is_building():
            return
        if isinstance(event, events.CacheMiss):
            why[event.kernel, event.direction] = event.why
        elif isinstance(event, events.CompileDone) and event.kernel not in reported:
            reasons = why.pop((event.kernel, event.direction), ())
            reasons = [reason for reason in reasons if not reason.startswith("option ")]  # of a tool, mostly
            if reasons and _is_of_the_user(event.kernel, shell.user_ns):  # the code differs because a constant does
                reported.add(event.kernel)
                causes = [r for r in reasons if r.startswith("constant ")] or reasons[:1]
                print(f"{event.kernel} recompiled: {', '.join(causes)} · {html.seconds(event.seconds)}")

    def cell_begins(*_: Any) -> None:
        reported.clear()

    shell.events.register("pre_run_cell", cell_begins)
    stop = events.subscribe(tell, events.CacheMiss, events.CompileDone)

    def end() -> None:
        shell.events.unregister("pre_run_cell", cell_begins)
        stop()

    return end


def settle(shell: Any, result: Any = None) -> None:
    """Wait for devices with unfinished work, and show a fault of theirs as the cell's own.

    A launch on a device is over when it is queued, so its fault would otherwise show below the next cell that waits.
    """
    try:
        settle_all()
    except WorkbenchError as problem:
        shell.showtraceback((type(problem), problem, problem.__traceback__))


def note_edits(shell: Any, result: Any = None) -> None:
    """Note the values that names are bound to after a cell, so that stale JAX programs are detected.

    `%%kernel` cells do it themselves; a plain cell may define kernels by a decorator, or change a constant.
    """
    number = getattr(result, "execution_count", None) or shell.execution_count
    note_bindings(shell.user_ns, f"cell [{number}]")


class Interrupted:
    """A hook around cells that closes tapes which an interrupted cell left open.

    Python may raise the interrupt as the `__exit__` of a `with` begins; the tape would then observe every later cell.
    """

    def __init__(self, shell: Any) -> None:
        """Attach to a shell; nothing is registered before `install`."""
        self._events = shell.events
        self._before: tuple[object, ...] = ()

    def install(self) -> None:
        """Register `cell_begins` and `cell_ends` with the shell, to be called around each cell."""
        self._events.register("pre_run_cell", self.cell_begins)
        self._events.register("post_run_cell", self.cell_ends)

    def remove(self) -> None:
        """Remove `cell_begins` and `cell_ends` from the shell."""
        self._events.unregister("pre_run_cell", self.cell_begins)
        self._events.unregister("post_run_cell", self.cell_ends)

    def cell_begins(self, *_: Any) -> None:
        """Note the tapes that are open before the cell."""
        self._before = opened()

    def cell_ends(self, result: Any) -> None:
        """Close the tapes that an interrupted cell opened."""
        if isinstance(result.error_in_exec, KeyboardInterrupt):
            for tape in reversed(opened()):
                if tape not in self._before:
                    tape.__exit__(None, None, None)
