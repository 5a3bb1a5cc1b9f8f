"""The same call over ranges of parameters: what is fastest, and how it depends on them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from html import escape

import msgspec

from workbench.api.measurement.bench import Bench, bench, duration, rate
from workbench.api.measurement.chart import PRE, bar, heat_map, image, line_chart
from workbench.errors import LaunchError, must_be
from workbench.runtime.launching.execute import cpu_threads

MOST = 4096
"""Points of a sweep at most."""
THREADS = "threads"
"""The name of the axis that is no argument of the call: how many threads a CPU launch may use."""


class Sweep(msgspec.Struct, frozen=True):
    """The benches of a call over the product of some axes.

    Attributes:
        what: what was called.
        axes: name to values.
        points: one per combination, the last axis changing fastest; None if that combination was refused.
        refused: the first refusal, if there was one.
    """

    what: str
    axes: Mapping[str, tuple[object, ...]]
    points: tuple[Bench | None, ...]
    refused: str = ""

    @property
    def choices(self) -> list[dict[str, object]]:
        """The combinations, in the order of the points."""
        return [dict(zip(self.axes, values, strict=True)) for values in itertools.product(*self.axes.values())]

    @property
    def best(self) -> dict[str, object]:
        """The combination with the shortest time, as a dictionary of axis to value."""
        return self.choices[self._order[0]]

    @property
    def _order(self) -> list[int]:
        """Indices of the points that ran, the fastest first."""
        ran = [(p.seconds, k) for k, p in enumerate(self.points) if p]
        return [k for _, k in sorted(ran)]

    def __len__(self) -> int:
        """Return the number of combinations, refused ones included."""
        return len(self.points)

    def __getitem__(self, index: int) -> Bench | None:
        """Return the bench of a combination by its position; None if that was refused."""
        return self.points[index]

    def __str__(self) -> str:
        rows = [(*self.axes, "time", "memory", "arithmetic", "")]
        fastest = min(p.seconds for p in self.points if p)
        for choice, point in zip(self.choices, self.points, strict=True):
            named = [shown(v) for v in choice.values()]
            if point is None:
                rows.append((*named, "refused", "", "", ""))
                continue
            flops = point.flops_per_second
            figures = duration(point.seconds), f"{rate(point.bytes_per_second)}B/s"
            rows.append(
                (*named, *figures, f"{rate(flops)}FLOP/s" if flops is not None else "", bar(fastest / point.seconds))
            )
        widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
        table = ["  ".join(c.rjust(w) for c, w in zip(r[:-1], widths, strict=False)) + f"  {r[-1]}" for r in rows]
        return "\n".join([*(line.rstrip() for line in table), self.verdict])

    __repr__ = __str__

    @property
    def verdict(self) -> str:
        """The best combination in a sentence."""
        order = self._order
        best, worst = self.points[order[0]], self.points[order[-1]]
        assert best is not None and worst is not None
        chosen = ", ".join(f"{n}={shown(v)}" for n, v in self.best.items())
        ratio = worst.seconds / best.seconds
        gain = f", {ratio:.2g} times as fast as the slowest" if ratio >= 1.1 else "; the others are hardly slower"
        gain = gain if len(order) > 1 else ""
        missing = f"; {self.points.count(None)} refused: {self.refused}" if self.refused else ""
        return f"shortest: {chosen} with {duration(best.seconds)}{gain}{missing}"

    def to_svg(self) -> str:
        """Draw the times as SVG: a line over one axis, a map over two.

        Empty if there are more axes, or a combination was refused.
        """
        times = [p.seconds for p in self.points if p]
        names = list(self.axes)
        if len(times) < len(self.points) or len(names) > 2:
            return ""
        if len(names) == 2:
            first, second = self.axes.values()
            rows = [times[k : k + len(second)] for k in range(0, len(times), len(second))]
            title = f"{self.what}: time over {names[0]} (down) and {names[1]} (across)"
            return heat_map(title, [shown(v) for v in first], [shown(v) for v in second], rows, duration)
        values = self.axes[names[0]]
        positions = _axis_positions(values)
        title = f"{self.what}: time over {names[0]}"
        return line_chart(title, positions, [shown(v) for v in values], times, duration)

    def rates_svg(self) -> str:
        """Draw bytes or operations per second over the axis as SVG, with the last point's ceiling.

        Empty if there are several axes, a combination was refused, or the bound is not known.
        """
        points = [p for p in self.points if p]
        last = points[-1] if points else None
        if len(self.axes) != 1 or len(points) < len(self.points) or last is None or not last.bound or not last.ceiling:
            return ""
        memory = last.bound == "memory"
        rates = [p.bytes_per_second if memory else p.flops_per_second or 0.0 for p in points]
        unit, most = ("B/s", last.ceiling.bytes_per_second) if memory else ("FLOP/s", last.ceiling.flops_per_second)
        ((name, values),) = self.axes.items()
        positions = _axis_positions(values)
        title = f"{self.what}: {last.bound} over {name}"
        return line_chart(title, positions, [shown(v) for v in values], rates, lambda v: rate(v) + unit, most)

    def _repr_html_(self) -> str:
        """Return the sweep's pictures, and its table folded below them, for a notebook."""
        pictures = "".join(image(svg, self.verdict) for svg in (self.to_svg(), self.rates_svg()) if svg)
        text = f'<pre style="{PRE}">{escape(str(self))}</pre>'
        return f"<div>{pictures}</div><details><summary>{escape(self.verdict)}</summary>{text}</details>"


def sweep(
    call: Callable[..., object],
    axes: Mapping[str, Sequence[object]],
    *,
    number: int = 0,
    repeat: int = 5,
    what: str = "",
) -> Sweep:
    """Time `call(**values)` for every combination of the axes' values.

    Args:
        call: takes each axis by its name; the axis `threads` is taken by Workbench: how many threads CPU launches use.
        axes: name to values.
        number: calls in a round; 0 chooses.
        repeat: rounds.
        what: the call's name in the result; empty: the function's own name.

    Returns:
        The benches, as a table, a picture (two with one axis) and `best`. A combination that a launch refuses is noted.

    Raises:
        LaunchError: there is no axis, one without values, too many combinations, or every one was refused.
    """
    must_be(call, Callable, "sweep() takes a function of the axes")
    must_be(axes, Mapping, "sweep() takes the values of each axis by its name", advice='Write {"n": [64, 128]}.')
    for name, values in axes.items():
        must_be(values, Iterable, f"sweep() takes the values of {name} as a list")
    named = {name: tuple(values) for name, values in axes.items()}
    count = 1
    for name, values in named.items():
        if not values:
            raise LaunchError(f"The axis {name} has no values.", parameter=name)
        count *= len(values)
    if not named or count > MOST:
        raise LaunchError(f"A sweep has 1 to {MOST} combinations; this one has {count if named else 0}.")
    points: list[Bench | None] = []
    refused: LaunchError | None = None
    for values in itertools.product(*named.values()):
        chosen = dict(zip(named, values, strict=True))
        try:
            with using_threads(chosen.pop(THREADS, None)):
                points.append(bench(lambda c=chosen: call(**c), number=number, repeat=repeat, what=what))
        except LaunchError as error:
            refused = refused or error
            points.append(None)
    if refused is not None and not any(points):
        raise refused
    title = what or getattr(call, "__name__", "call")
    return Sweep(title, named, tuple(points), refused.message if refused else "")


@contextmanager
def using_threads(count: object) -> Generator[None]:
    """Make CPU launches inside use this number of CPU threads; None changes nothing.

    Raises:
        LaunchError: it is not a positive int.
    """
    if count is None:
        yield
        return
    if not isinstance(count, int) or count < 1:
        raise LaunchError(f"threads is a whole number from 1; it is {count!r}.", parameter=THREADS)
    before = os.environ.get("WORKBENCH_THREADS")
    os.environ["WORKBENCH_THREADS"] = str(count)
    cpu_threads.cache_clear()
    try:
        yield
    finally:
        if before is None:
            del os.environ["WORKBENCH_THREADS"]
        else:
            os.environ["WORKBENCH_THREADS"] = before
        cpu_threads.cache_clear()


def _axis_positions(values: Sequence[object]) -> list[float]:
    """Return the positions of an axis's values: the values themselves if all are numbers, else 0, 1, 2, …"""
    numbers = [float(v) for v in values if isinstance(v, (int, float))]
    return numbers if len(numbers) == len(values) else [float(k) for k in range(len(values))]


def shown(value: object) -> str:
    """Return a value of an axis as text."""
    return f"{value:g}" if isinstance(value, float) else str(value)
