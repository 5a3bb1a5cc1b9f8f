"""Loops of `wb.optim.progress` below the cell that runs them: their losses, and what they watch as frames of a film."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from IPython.display import display

from kernel_ext.output.output_area import Showing, show_and_keep, widgets_wanted
from kernel_ext.output.renderable import Shown
from kernel_ext.views.view_data import as_data
from workbench import events


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
    """The views and the loss that one loop watches."""

    def __init__(self, shell: Any) -> None:
        from kernel_ext.views.arrays.animation import Reel

        self._shell, self._reel, self._started, self._failed = shell, Reel(), False, False
        self._showing: Showing | None = None

    def update(self, run: Any) -> None:
        """Draw what is watched as it is now; the last frame is what a saved notebook shows."""
        from kernel_ext import show
        from kernel_ext.views.arrays.animation import animation_html, animation_text

        if self._failed or (run.running and not widgets_wanted()):
            return
        losses = np.array(run.history or [np.nan])
        try:
            pictures = [show.picture_of(*((losses, _loss) if isinstance(w, str) else (w,))) for w in run.watch]
        except Exception as error:  # the loop may have run for hours
            self._failed = True
            print(f"watch failed with {type(error).__name__}: {error}. The loop goes on without pictures.")
            return
        view = self._reel.add(repr(run), pictures, last=not run.running)
        if not self._started:
            self._started = True
            film = Shown("animation", view, animation_text, animation_html, frames=self._reel)
            self._showing = show_and_keep(film, self._shell)
        elif self._showing is not None and self._showing.lasts:
            self._showing.widget.view = as_data(view)
        if self._showing is not None and self._showing.lasts and not run.running:
            self._showing.widget.rested(view)


def _loss(values: Any) -> Shown:
    from kernel_ext import show

    return show.array(values, "loss")
