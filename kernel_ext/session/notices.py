"""What Workbench says while no cell is being built: shown below the cell that runs."""

from __future__ import annotations

from collections.abc import Callable

from kernel_ext.session.cells import is_building
from workbench import events


def show_notices() -> Callable[[], None]:
    """Print each notice that no card shows; the returned function ends that."""
    return events.subscribe(_show, events.Notice)


def _show(event: events.Event) -> None:
    if isinstance(event, events.Notice) and not is_building():
        print(event.message)
