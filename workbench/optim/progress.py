"""`for step in progress(100)`: a loop that keeps the losses reported in it, and draws them while it runs."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Generator, Sequence
from html import escape
from typing import Any

from workbench.api.measurement.chart import image
from workbench.events import LossReported, listening, publish
from workbench.host.narrow import is_list
from workbench.runtime.arrays.array import array

PAUSE = 0.1
"""Seconds between two pictures."""
_POINTS = 400
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 560, 206, 84, 16, 46, 28
_INK, _LINE = "#8a8a8a", "#2b7bba"


class Step(int):
    """The number of a step, from 0, to which its loss is reported.

    for step in wb.optim.progress(3):
        step.report(1.0 / (step + 1))
    """

    progress: Progress

    def report(self, loss: float | array) -> None:
        """Add the loss to the history.

        Args:
            loss: a number, or an array of one element, which is read.

        Raises:
            TypeError: it is an array of several elements.
        """
        self.progress.add(int(self), float(loss))


class Progress:
    """The steps of an optimisation: what `progress` returns. A notebook draws it.

    Attributes:
        total: how many steps there are to be.
        done: how many were finished.
        history: the losses reported so far.
        steps: the step of each of them.
        what: the name of what is reported.
        running: whether the loop goes on.
        watch: what a notebook draws while it runs: "loss", arrays, and functions that return a view or an array.
    """

    def __init__(self, total: int, title: str, watch: Sequence[Any] = ()) -> None:
        """Prepare a loop that has not begun; see `progress`."""
        self.total, self.title, self.watch, self.what = total, title, tuple(watch), "loss"
        self.done = 0
        self.history: list[float] = []
        self.steps: list[int] = []
        self.running = False
        self._shown = -math.inf

    def add(self, step: int, loss: float) -> None:
        """Add a loss to the history; draw it unless something is watched or the last picture is newer than `PAUSE`."""
        self.history.append(loss)
        self.steps.append(step)
        if not self.watch and time.monotonic() - self._shown >= PAUSE:
            self._show()

    def __len__(self) -> int:
        """Return how many steps there are to be."""
        return self.total

    def __iter__(self) -> Generator[Step]:
        """Yield the steps, with an empty history; draw while the loop runs and once when it ends, however it ends."""
        self.done, self.history, self.steps, self.running = 0, [], [], True
        try:
            for k in range(self.total):
                step = Step(k)
                step.progress = self
                yield step
                self.done = k + 1
                if self.watch and time.monotonic() - self._shown >= PAUSE:
                    self._show()
        finally:  # also where the loop is left by a break, an error or an interrupt
            self.running = False
            self._show()

    def _show(self) -> None:
        """Report the progress to a notebook's listener; else rewrite the terminal's line, or print once at the end."""
        self._shown = time.monotonic()
        if listening(LossReported):
            publish(LossReported(self))
        elif sys.stdout.isatty():
            print(f"\r{self}\x1b[K", end="" if self.running else "\n", flush=True)
        elif not self.running:
            print(self)

    def __repr__(self) -> str:
        """Return a line: title, steps done, and the last, first and lowest loss."""
        state = "" if self.running or self.done == self.total else ", stopped"
        text = f"{self.title}: {self.done} of {self.total} steps{state}"
        return f"{text}, {losses}" if (losses := self._losses()) else text

    def _losses(self) -> str:
        """Return a clause on the last, first and lowest loss, or on the first NaN if the last is one; "" if none."""
        if not self.history:
            return ""
        if math.isnan(self.history[-1]):
            first = next(s for s, x in zip(self.steps, self.history, strict=True) if math.isnan(x))
            return f"{self.what} nan since step {first}: `with wb.find_nan():` stops where it is made"
        lowest = min((x for x in self.history if not math.isnan(x)), default=math.nan)
        return f"{self.what} {self.history[-1]:.4g} (first {self.history[0]:.4g}, lowest {lowest:.4g})"

    def _repr_html_(self) -> str:
        """Return an HTML image of the losses over the steps."""
        text, losses = repr(self), self._losses()
        lines = (text.removesuffix(f", {losses}"), losses)  # one would be too long
        return image(_picture(text, lines, self.steps, self.history, self.total), text)


def progress(steps: int, title: str = "optimisation", *, watch: Any = ()) -> Progress:
    """Return a loop over the numbers of steps, which draws the loss while it runs.

        run = wb.optim.progress(100)
        for step in run:
            ...
            step.report(loss)
        print(run.history[-1])

        for step in wb.optim.progress(200, watch=[lambda: show.points(x), "loss"]):
            ...

    In a notebook with the extension loaded one picture below the cell follows the losses, on a logarithmic scale where
    they fall far; in a terminal one line does. Interrupt the loop as any other: the history so far is kept.

    Args:
        steps: how many there are to be.
        title: what to call them.
        watch: what a notebook draws side by side, at most ten times a second: arrays, functions that return an array or
            a view, and "loss". The frames are kept (at most 200, and 20 MB) to be looked through. A script draws none.

    Returns:
        What a `for` takes: each element is an int with a method `report`. `history` has the losses, and is emptied when
        the loop starts again.

    Raises:
        ValueError: `steps` is negative.
        TypeError: something to watch is no array, no function and not "loss".
    """
    if steps < 0:
        raise ValueError(f"progress() takes the number of steps, not {steps}")
    watched = tuple(watch) if is_list(watch) else (watch,)
    for each in watched:
        if each != "loss" if isinstance(each, str) else not (isinstance(each, array) or callable(each)):
            raise TypeError(f'watch takes arrays, functions and "loss"; it got {each!r}')
    return Progress(steps, title, watched)


def _picture(title: str, lines: Sequence[str], xs: Sequence[int], ys: Sequence[float], total: int) -> str:
    """Draw the losses `ys` over the steps `xs` as a line; return SVG that is legible on light and on dark.

    The axis is logarithmic where the largest loss is over 20 times the lowest, which is positive.

    Args:
        title: the picture's accessible name.
        lines: the text above the line.
        xs: the step of each loss.
        ys: the losses.
        total: the number of steps, which is the width of the axis.
    """
    every = max(1, len(xs) // _POINTS)
    points = [(x, y) for x, y in zip(xs[::every], ys[::every], strict=True) if math.isfinite(y)]
    if xs and math.isfinite(ys[-1]):
        points.append((xs[-1], ys[-1]))
    values = [y for _, y in points] or [0.0, 1.0]
    low, high = min(values), max(values)
    by_logarithm = low > 0.0 and high > 20.0 * low
    scale: Any = math.log10 if by_logarithm else float
    bottom, top = scale(low), scale(high)
    if top - bottom < 1e-12 * max(1.0, abs(top)):
        bottom, top = bottom - 0.5, top + 0.5
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def position(x: float, y: float) -> tuple[float, float]:
        return _LEFT + wide * x / max(1, total - 1), _TOP + tall * (top - scale(y)) / (top - bottom)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="ui-monospace,monospace" font-size="12" role="img">'
        f"<title>{escape(title)}</title>",
        *(f'<text x="8" y="{15 + 16 * k}" fill="{_INK}">{escape(line)}</text>' for k, line in enumerate(lines)),
    ]
    for k in range(4):
        level = bottom + (top - bottom) * k / 3
        y = _TOP + tall * (1 - k / 3)
        shown = f"{10**level if by_logarithm else level:.3g}"
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="{_INK}" stroke-opacity="0.25"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" fill="{_INK}" text-anchor="end">{shown}</text>')
    for x, anchor in ((0, "start"), (max(0, total - 1), "end")):
        at = _LEFT + wide * x / max(1, total - 1)
        parts.append(f'<text x="{at:.0f}" y="{_HEIGHT - 10}" fill="{_INK}" text-anchor="{anchor}">{x}</text>')
    drawn = [position(x, y) for x, y in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{_LINE}" stroke-width="2"/>')
    if drawn:
        parts.append(f'<circle cx="{drawn[-1][0]:.1f}" cy="{drawn[-1][1]:.1f}" r="3.5" fill="{_LINE}"/>')
    return "".join([*parts, "</svg>"])
