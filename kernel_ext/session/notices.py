"""Messages of Workbench while no cell is being built: shown below the cell that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from kernel_ext.session.cells import is_building, is_kernel
from kernel_ext.views import units
from workbench import events


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
