"""Lanes in step: what each thread of a warp did, put together line by line as a warp would go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from workbench.host.narrow import is_numpy_array

Number = float | int | bool | tuple[float, ...]


class Item(msgspec.Struct, frozen=True):
    """A value in each lane of a warp: of a name of the kernel, of an element of an array, or of a cotangent.

    Attributes:
        name: `s`, or its cotangent `adj_s`; of elements `x[]`, or `x.grad[]`.
        values: by lane; None for an inactive one.
        indices: of the element, by lane; None for an inactive lane or a plain name.
        floating: whether a derivative can belong to it.
    """

    name: str
    values: tuple[Number | None, ...]
    indices: tuple[tuple[int, ...] | None, ...] = ()
    floating: bool = True

    def label(self, lane: int) -> str:
        """Return its name for one lane, with the element's index if it has one: `x[3]`."""
        index = self.indices[lane]
        subscript = f"[{', '.join(map(str, index))}]" if index else ""
        return f"{self.name.removesuffix('[]')}{subscript}"

    def text(self, lane: int) -> str:
        """Return its value for one lane; empty for an inactive one."""
        value = self.values[lane]
        return "" if value is None else _shown(value)


def _shown(value: Number) -> str:
    """Return a value as text: floats with six digits, a vector in parentheses."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class Moment(msgspec.Struct):
    """An item that is still being collected: values and indices by lane.

    Attributes:
        name, floating: as of `Item`.
        values: by lane.
        indices: of elements, by lane.
        store: whether the values are written to an array.
    """

    name: str
    values: dict[int, Any]
    indices: dict[int, tuple[int, ...]]
    floating: bool = True
    store: bool = False

    def item(self, lanes: int) -> Item:
        """Return the moment's values and indices as an item with one entry for each of `lanes` lanes."""
        values = tuple(_plain(self.values.get(k)) for k in range(lanes))
        return Item(self.name, values, tuple(self.indices.get(k) for k in range(lanes)), self.floating)


SourceLine = tuple[int, str]
"""A line's number and text."""
Noted = tuple[SourceLine, object, Moment]
"""Line, event (a repeated one begins a new step), and the values."""
SweepStep = tuple[SourceLine, dict[str, Moment]]


def _grouped(noted: list[Noted]) -> Iterator[tuple[SourceLine, list[Moment]]]:
    """Group a thread's moments into steps: yield each line with its moments.

    A step ends where the thread goes to another line, or where an event happens again.
    """
    held: list[Moment] = []
    seen: set[object] = set()
    last: SourceLine | None = None
    for line, what, moment in noted:
        if last is not None and (line != last or what in seen):
            yield last, held
            held, seen = [], set()
        held.append(moment)
        seen.add(what)
        last = line
    if last is not None:
        yield last, held


def merged(lanes: list[list[Noted]], first: Callable[[Iterable[SourceLine]], SourceLine]) -> list[SweepStep]:
    """Merge what each lane noted into the steps of a warp: lanes at the line that `first` chooses advance together."""
    grouped = [list(_grouped(noted)) for noted in lanes]
    at = [0] * len(lanes)
    steps: list[SweepStep] = []
    while waiting := {k: grouped[k][at[k]][0] for k in range(len(lanes)) if at[k] < len(grouped[k])}:
        line = first(waiting.values())
        items: dict[str, Moment] = {}
        for lane in (k for k, p in waiting.items() if p == line):
            for number, moment in enumerate(grouped[lane][at[lane]][1]):
                own = items.setdefault(
                    f"{moment.name} {number}", Moment(moment.name, {}, {}, moment.floating, moment.store)
                )
                own.values[lane] = moment.values[0]
                if moment.indices:
                    own.indices[lane] = moment.indices[0]
            at[lane] += 1
        steps.append((line, items))
    return steps


def rows_of(forward: list[SweepStep], backward: list[SweepStep]) -> Iterator[int]:
    """Yield for each item of the reverse sweep, in order, the number of the forward step that it belongs to.

    In each lane a name is assigned as often as a cotangent comes back for it, in the reverse order; if that does not
    hold in all (a constant has no cotangent), then at one line. If neither holds, or lanes disagree, it is the last
    step at the line.
    """
    steps, events = _by_lane(forward), _by_lane(backward)
    lines = {line: row for row, (line, _) in enumerate(forward)}
    for number, (line, items) in enumerate(backward):
        for m in items.values():
            name = m.name.removeprefix("adj_")
            names = [n for n in (name.replace(".grad[]", "[]"), name.removesuffix(".grad[]")) if (n, None) in steps]
            rows = {_row(steps, events, (names or [name])[0], m.name, line, lane, number) for lane in m.values}
            agreed = len(rows) == 1 and None not in rows
            yield (rows.pop() or 0) if agreed else lines.get(line, max(0, len(forward) - 1 - number))


_Rows = dict[tuple[Any, ...], list[int]]


def _row(steps: _Rows, events: _Rows, name: str, back: str, line: SourceLine, lane: int, number: int) -> int | None:
    """Return the forward step for the cotangent `back` of step `number` in one lane; None if that is ambiguous."""
    for where in ((), (line,)):
        assigned, came = steps.get((name, lane, *where), []), events.get((back, lane, *where), [])
        if assigned and len(assigned) == len(came):
            return assigned[-1 - came.index(number)]
    return None


def _by_lane(steps: list[SweepStep]) -> _Rows:
    """Return the steps that have a name in a lane, by (name, lane), and by (name, lane, line).

    The key (name, None) marks a name that occurs at all.
    """
    rows: _Rows = {}
    for row, (line, items) in enumerate(steps):
        for name, lane in dict.fromkeys((m.name, lane) for m in items.values() for lane in m.values):
            rows[name, None] = []
            rows.setdefault((name, lane), []).append(row)
            rows.setdefault((name, lane, line), []).append(row)
    return rows


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python number and an array as a tuple of its first 16 elements; None stays None."""
    if is_numpy_array(value):
        return tuple(float(v) for v in value.ravel()[:16])
    return value.item() if hasattr(value, "item") else value
