"""What Workbench says while no cell is being built: shown below the cell that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from IPython.display import display

from kernel_ext.session.cells import is_building
from workbench import events


def show_notices() -> Callable[[], None]:
    """Print each notice that no card shows; the returned function ends that."""
    return events.subscribe(_show, events.Notice)


def _show(event: events.Event) -> None:
    if isinstance(event, events.Notice) and not is_building():
        print(event.message)


def show_losses(shell: Any) -> Callable[[], None]:
    """Draw the losses of each loop of `wb.optim.progress` in one output; the returned function ends that.

    A shell in a terminal has no outputs that change: there the loop prints a line itself.
    """
    if getattr(shell, "kernel", None) is None:
        return lambda: None
    shown: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def draw(event: events.Event) -> None:
        assert isinstance(event, events.LossReported)
        run = event.progress
        if len(run.history) > 1 and run in shown:
            shown[run].update(run)
        else:  # the loop starts, or starts again
            shown[run] = display(run, display_id=True)

    return events.subscribe(draw, events.LossReported)
