"""Recording: everything that ran inside a `with`, in order, to be looked at and run again.

with record() as rec:
    ...
rec            # a table
rec.replay()
rec.replay(dt=0.02, x=new_x)
rec.only(adjoint=True).replay()
rec[3].launch()
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from workbench.errors import LaunchError
from workbench.events import Replayed, publish
from workbench.runtime.array import array
from workbench.runtime.execute import execute_again
from workbench.runtime.observers import Observer, observing
from workbench.runtime.record import LaunchRecord


@dataclass(frozen=True, eq=False)
class LaunchEntry:
    """A recorded launch."""

    record: LaunchRecord

    def launch(self) -> None:
        """Run it again, on the arrays' contents of now."""
        execute_again(self.record)

    def row(self) -> tuple[str, str, str, str]:
        """What the table shows: kind, name, threads, place."""
        place = str(self.record.location) if self.record.location else ""
        return self.record.direction, self.record.kernel, "×".join(map(str, self.record.dim)), place

    def changed(self, changes: dict[str, Any], arrays: list[tuple[array, array]]) -> LaunchEntry:
        """The same launch with parameters changed by name and arrays by identity."""
        given = {n: v for n, v in changes.items() if n in self.record.arguments}
        for name, value in self.record.arguments.items():
            for old, new in arrays:
                if value is old and name not in given:
                    given[name] = new
        return LaunchEntry(self.record.changed(given)) if given else self


@dataclass(frozen=True, eq=False)
class CopyEntry:
    """A recorded copy or sum; `kind` is "copy" or "add"."""

    kind: str
    target: array
    source: array

    def launch(self) -> None:
        """Copy or add again."""
        (self.target.copy_ if self.kind == "copy" else self.target.add_)(self.source)

    def row(self) -> tuple[str, str, str, str]:
        """What the table shows."""
        return self.kind, "", "×".join(map(str, self.target.shape)), ""

    def changed(self, changes: dict[str, Any], arrays: list[tuple[array, array]]) -> CopyEntry:
        """The same copy with arrays replaced by identity."""
        table = {id(old): new for old, new in arrays}
        return CopyEntry(self.kind, table.get(id(self.target), self.target), table.get(id(self.source), self.source))


@dataclass(frozen=True, eq=False)
class FillEntry:
    """A recorded fill."""

    target: array
    value: float

    def launch(self) -> None:
        """Fill again."""
        self.target.fill_(self.value)

    def row(self) -> tuple[str, str, str, str]:
        """What the table shows."""
        return "fill", f"{self.value}", "×".join(map(str, self.target.shape)), ""

    def changed(self, changes: dict[str, Any], arrays: list[tuple[array, array]]) -> FillEntry:
        """The same fill with its array replaced by identity."""
        return replace(self, target={id(old): new for old, new in arrays}.get(id(self.target), self.target))


Entry = LaunchEntry | CopyEntry | FillEntry


class Recorder(Observer):
    """An ordered list of what ran, a tape's backward pass included; made by `record()`."""

    sees_backward = True

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self.entries: list[Entry] = list(entries)

    def launching(self, record: LaunchRecord) -> None:
        """Note a launch."""
        self.entries.append(LaunchEntry(record))

    def copying(self, target: array, source: array) -> None:
        """Note a copy."""
        self.entries.append(CopyEntry("copy", target, source))

    def adding(self, target: array, source: array) -> None:
        """Note a sum."""
        self.entries.append(CopyEntry("add", target, source))

    def filling(self, target: array, value: float) -> None:
        """Note a fill."""
        self.entries.append(FillEntry(target, value))

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> Entry:
        return self.entries[index]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @property
    def launches(self) -> list[LaunchRecord]:
        """The launches among the entries."""
        return [e.record for e in self.entries if isinstance(e, LaunchEntry)]

    def only(self, *, adjoint: bool | None = None, kernel: str | None = None) -> Recorder:
        """The launches of one direction, of one kernel, or both."""
        kept = [
            e for e in self.entries
            if isinstance(e, LaunchEntry)
            and (adjoint is None or (e.record.direction == "adjoint") == adjoint)
            and (kernel is None or e.record.kernel == kernel)
        ]  # fmt: skip
        return Recorder(kept)

    def replay(self, **changes: Any) -> None:
        """Run everything again, in order, on the arrays' contents of now.

        Args:
            changes: parameter name to value, for every launch that has the parameter; an array given for a parameter
                replaces the recorded one everywhere: in other launches, copies and fills too.

        Raises:
            LaunchError: no recorded launch has a parameter of that name, or an array of another type.
        """
        started = time.perf_counter()
        for entry in self._changed(changes):
            entry.launch()
        publish(Replayed(len(self.launches), time.perf_counter() - started))

    def _changed(self, changes: dict[str, Any]) -> list[Entry]:
        arrays: list[tuple[array, array]] = []
        for name, value in changes.items():
            found = [r.arguments[name] for r in self.launches if name in r.arguments]
            if not found:
                known = sorted({n for r in self.launches for n in r.arguments})
                raise LaunchError(
                    f"No recorded launch has a parameter {name}; there is {', '.join(known)}.", parameter=name
                )
            for old in found:
                self._fits(name, old, value)
                if isinstance(old, array) and not any(old is o for o, _ in arrays):
                    arrays.append((old, value))
        return [e.changed(changes, arrays) for e in self.entries] if changes else list(self.entries)

    @staticmethod
    def _fits(name: str, old: Any, new: Any) -> None:
        if isinstance(old, array):
            if not isinstance(new, array) or new.type != old.type or new.shape != old.shape or new.device != old.device:
                what = f"{new.type!r} of shape {new.shape}" if isinstance(new, array) else type(new).__name__
                raise LaunchError(f"{name} was an {old.type!r} of shape {old.shape}; this is {what}.", parameter=name)
        elif isinstance(new, array):
            raise LaunchError(f"{name} was a number; this is an array.", parameter=name)

    def rows(self) -> list[tuple[str, str, str, str]]:
        """One row an entry: kind, name, threads, place."""
        return [e.row() for e in self.entries]

    def __repr__(self) -> str:
        head = ("what", "name", "size", "where")
        rows = [head, *self.rows()]
        widths = [max(len(r[k]) for r in rows) for k in range(4)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
        return "\n".join([f"{len(self)} recorded", *lines])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{h}</th>" for h in ("#", "what", "name", "size", "where"))
        body = "".join(
            f"<tr><td>{k}</td>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>"
            for k, row in enumerate(self.rows())
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@contextmanager
def record() -> Iterator[Recorder]:
    """Record what runs inside the `with`."""
    recorder = Recorder()
    with observing(recorder):
        yield recorder
