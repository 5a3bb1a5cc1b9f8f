"""Hooks around a notebook's cells: notices below them, faults of devices, edits of names, interrupted tapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from kernel_ext.session.cells import is_building, is_kernel
from kernel_ext.views import units
from workbench import events
from workbench.errors import WorkbenchError
from workbench.inspect import note_bindings, opened, settle_all


def show_notices() -> Callable[[], None]:
    """Print each notice that no card shows; the returned function ends that."""
    return events.subscribe(_show, events.Notice)


def _show(event: events.Event) -> None:
    if isinstance(event, events.Notice) and not is_building():
        print(event.message)


def _is_of_the_user(kernel: str, names: Mapping[str, Any]) -> bool:
    """Return whether the notebook, or a module that it imported, has the kernel: the library's own are not told."""
    modules = [vars(m) for m in names.values() if isinstance(m, ModuleType) and m.__name__.split(".")[0] != "workbench"]
    return any(is_kernel(v) and v.name == kernel for held in (names, *modules) for v in list(held.values()))


def show_rebuilds(shell: Any) -> Callable[[], None]:
    """Print why a launch compiled a kernel again, once for each kernel and cell; the returned function ends that."""
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
                print(f"{event.kernel} recompiled: {', '.join(causes)} · {units.seconds(event.seconds)}")

    def cell_begins(*_: Any) -> None:
        reported.clear()

    shell.events.register("pre_run_cell", cell_begins)
    stop = events.subscribe(tell, events.CacheMiss, events.CompileDone)

    def end() -> None:
        shell.events.unregister("pre_run_cell", cell_begins)
        stop()

    return end


def settle(shell: Any, result: Any = None) -> None:
    """Wait for the devices that owe something, and show a fault as the cell's own.

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
    """A hook that closes tapes which an interrupted cell left open.

    Python may raise the interrupt as the `__exit__` of a `with` begins; the tape would then observe every later
    cell."""

    def __init__(self, shell: Any) -> None:
        self._events = shell.events
        self._before: tuple[object, ...] = ()

    def install(self) -> None:
        """Look from now on."""
        self._events.register("pre_run_cell", self.cell_begins)
        self._events.register("post_run_cell", self.cell_ends)

    def remove(self) -> None:
        """Look no more."""
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
