"""Lanes in step: what each thread of a warp did, put together line by line as a warp would go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Number = float | int | bool | tuple[float, ...]


@dataclass(frozen=True)
class Item:
    """A value of each lane, None for a dark one: of a name of the kernel (`s`, its cotangent `adj_s`) or of an element
    (`x[]`, `x.grad[]`), whose `indices` are given. `floating` says whether a derivative can belong to it."""

    name: str
    values: tuple[Number | None, ...]
    indices: tuple[tuple[int, ...] | None, ...] = ()
    floating: bool = True

    def label(self, lane: int) -> str:
        """Its name for one lane: `x[3]`."""
        index = self.indices[lane]
        place = f"[{', '.join(map(str, index))}]" if index else ""
        return f"{self.name.removesuffix('[]')}{place}"

    def text(self, lane: int) -> str:
        """Its value for one lane; empty for a dark one."""
        value = self.values[lane]
        return "" if value is None else _shown(value)


def _shown(value: Number) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclass
class Moment:
    """An item in the making, by lane."""

    name: str
    values: dict[int, Any]
    indices: dict[int, tuple[int, ...]]
    floating: bool = True
    store: bool = False

    def item(self, lanes: int) -> Item:
        """Finished, for so many lanes."""
        values = tuple(_plain(self.values.get(k)) for k in range(lanes))
        return Item(self.name, values, tuple(self.indices.get(k) for k in range(lanes)), self.floating)


Place = tuple[int, str]
"""A line's number and text."""
Noted = tuple[Place, object, Moment]
"""Where, what (a line that does the same again begins a new step), and the values."""
SweepStep = tuple[Place, dict[str, Moment]]


def _grouped(noted: list[Noted]) -> Iterator[tuple[Place, list[Moment]]]:
    """What a thread does at a line, until it goes to another one or does the same again."""
    held: list[Moment] = []
    seen: set[object] = set()
    last: Place | None = None
    for place, what, moment in noted:
        if last is not None and (place != last or what in seen):
            yield last, held
            held, seen = [], set()
        held.append(moment)
        seen.add(what)
        last = place
    if last is not None:
        yield last, held


def merged(lanes: list[list[Noted]], first: Callable[[Iterable[Place]], Place]) -> list[SweepStep]:
    """Lanes in step: those at the line that comes `first` go on together, as a warp would."""
    grouped = [list(_grouped(noted)) for noted in lanes]
    at = [0] * len(lanes)
    steps: list[SweepStep] = []
    while waiting := {k: grouped[k][at[k]][0] for k in range(len(lanes)) if at[k] < len(grouped[k])}:
        place = first(waiting.values())
        items: dict[str, Moment] = {}
        for lane in (k for k, p in waiting.items() if p == place):
            for number, moment in enumerate(grouped[lane][at[lane]][1]):
                own = items.setdefault(
                    f"{moment.name} {number}", Moment(moment.name, {}, {}, moment.floating, moment.store)
                )
                own.values[lane] = moment.values[0]
                if moment.indices:
                    own.indices[lane] = moment.indices[0]
            at[lane] += 1
        steps.append((place, items))
    return steps


def rows_of(forward: list[SweepStep], backward: list[SweepStep]) -> Iterator[int]:
    """For each item of the reverse sweep in order, the forward step that it belongs to.

    In each lane a name is assigned as often as a cotangent comes back for it, in the reverse order. If the numbers
    differ (a value was optimised away), or lanes disagree, the line decides: the last step at it.
    """
    steps = _by_lane(forward)
    events = _by_lane(backward)
    lines = {place: row for row, (place, _) in enumerate(forward)}
    seen: dict[tuple[str, int], int] = {}
    for number, (place, items) in enumerate(backward):
        for own in {(m.name, lane) for m in items.values() for lane in m.values}:
            seen[own] = seen.get(own, 0) + 1
        for m in items.values():
            name = m.name.removeprefix("adj_")
            names = name.replace(".grad[]", "[]"), name.removesuffix(".grad[]")
            exact: set[int] = set()
            for lane in m.values:
                own = steps.get((names[0], lane)) or steps.get((names[1], lane), [])
                alike = len(own) == len(events[m.name, lane])
                exact.add(own[-seen[m.name, lane]] if alike else -1)
            agreed = len(exact) == 1 and -1 not in exact
            yield exact.pop() if agreed else lines.get(place, max(0, len(forward) - 1 - number))


def _by_lane(steps: list[SweepStep]) -> dict[tuple[str, int], list[int]]:
    """For each name and lane the steps that have it."""
    found: dict[tuple[str, int], list[int]] = {}
    for row, (_, items) in enumerate(steps):
        for own in dict.fromkeys((m.name, lane) for m in items.values() for lane in m.values):
            found.setdefault(own, []).append(row)
    return found


def _plain(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, np.ndarray):
        return tuple(float(v) for v in value.ravel()[:16])
    number: Any = value
    return number.item() if isinstance(number, np.generic) else number
