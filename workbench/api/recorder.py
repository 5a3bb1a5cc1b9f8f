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

import difflib
import os
import threading
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from msgspec.structs import replace

from workbench.autodiff.directions import ADJOINTS
from workbench.errors import LaunchError, RecordError, must_be
from workbench.events import Launched, Replayed, listening, publish
from workbench.forks import fork_safe_lock
from workbench.host.narrow import is_mapping
from workbench.host.uniform import Uniform
from workbench.runtime.active_observers import OBSERVERS, enter, leave
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.substitute import Substitution, fits, region
from workbench.runtime.device.call_site import call_site
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.record import Advance, Latest, LaunchRecord
from workbench.runtime.records.archive import write_file
from workbench.runtime.records.contents import Contents
from workbench.runtime.records.counters import Counter, Counters, seeds, step_of
from workbench.runtime.records.external_calls import close_listener, open_listener
from workbench.runtime.records.replay import Prepared
from workbench.runtime.records.save import file_bytes
from workbench.runtime.records.spans import BuildLog, Span, device_times, spans, timeline
from workbench.runtime.work import Add, Copy, Fill, Graph, Launch, Work, flattened

if TYPE_CHECKING:
    from workbench.api.tapes.tape import Tape

HEAD = ("what", "name", "size", "time", "where")
_KEPT_TABLES = 4


class Recorder(Observer):
    """An ordered list of what ran, a tape's backward pass included; `record()` and `load_record()` return one.

    Attributes:
        entries: what ran, in order.
        contents: what arrays held before their first use; None if that is not kept.
        lost: how many calls of other libraries could not be recorded.
        counters: the numbers that advance from replay to replay.
    """

    def __init__(
        self,
        entries: Iterable[Work] = (),
        contents: Contents | None = None,
        *,
        inputs: bool = False,
        counter: Counter | Counters = (),
    ) -> None:
        """Hold these entries; nothing is recorded before `start`.

        Args:
            entries: what ran, in order; or a tape, whose work is taken.
            contents: what arrays held before their first use; None: that is unknown.
            inputs: keep from now on what each array holds before it is first used.
            counter: parameters whose recorded whole numbers advance with each replay: a name, several, or a mapping
                to how much.
        """
        must_be(entries, Iterable, "Recorder() takes entries", advice="with wb.record() as recorder: … makes one.")
        self.entries: list[Work] = list(entries)
        self.contents = Contents() if inputs and contents is None else contents
        self.lost = 0
        self.counters = counter if isinstance(counter, Counters) else Counters(counter)
        self._builds = BuildLog()
        self._tables: dict[Any, Prepared] = {}
        self._parameters: dict[str, tuple[list[LaunchRecord], dict[Any, Any]]] = {}
        self._memories: set[int] | None = None
        self._parts: tuple[list[LaunchRecord], list[LaunchRecord], list[Work]] | None = None
        self._lock = fork_safe_lock(self, "_lock", threading.RLock)

    # What observers are notified of.

    looks_inside = False
    replays = True

    def launching(self, record: LaunchRecord) -> None:
        """Record a launch."""
        self._note(Launch(record, started=time.perf_counter(), site=call_site()))

    def copying(self, target: array, source: array) -> None:
        """Record a copy."""
        self._note(Copy(target, source, started=time.perf_counter(), site=call_site()))

    def adding(self, target: array, source: array) -> None:
        """Record a sum."""
        self._note(Add(target, source, started=time.perf_counter(), site=call_site()))

    def filling(self, target: array, value: Any) -> None:
        """Record a fill."""
        self._note(Fill(target, value, started=time.perf_counter(), site=call_site()))

    def replaying(self, graph: Any) -> None:
        """Record a run of a captured graph."""
        self._note(Graph({"body": graph}, started=time.perf_counter(), site=call_site()))

    def measured(self, subject: object, before: Any, after: Any) -> None:
        """Note the events around something on a device; they are read when recording ends.

        Args:
            subject: the entry.
            before: an event of its stream, before it.
            after: an event of its stream, after it.
        """
        for k in range(len(self.entries) - 1, -1, -1):
            if self.entries[k].subject is subject and self.entries[k].seconds is None:
                self.entries[k] = replace(self.entries[k], events=(before, after))
                return

    def done(self, subject: object, started: float, seconds: float) -> None:
        """Note when something began to run and how long it took.

        Args:
            subject: the entry.
            started: when, in seconds of `time.perf_counter`.
            seconds: how long.
        """
        for k in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[k]
            if entry.subject is subject and entry.seconds is None:
                self.entries[k] = replace(entry, started=started, seconds=seconds)
                return

    def _note(self, entry: Work) -> None:
        """Append an entry, with copies of its arrays' contents if those are recorded; drop what depends on entries."""
        if self.contents is not None:
            self.contents.keep(entry.arrays)
        self.entries.append(entry)
        self._forget()

    def _forget(self) -> None:
        """Drop all that was derived from the entries, which have changed."""
        self._tables.clear()
        self._parameters.clear()
        self._memories = self._parts = None

    @property
    def keeps_inputs(self) -> bool:
        """Return whether the record stores what arrays and JAX's operands held before their first use."""
        return self.contents is not None

    def called(self, entries: Sequence[Work], lost: int) -> None:
        """Add entries of calls that another library made, and count those that could not be recorded."""
        self.entries += entries
        self.lost += lost
        self._forget()

    def start(self) -> Self:
        """Begin to record what this context runs; calling it again does nothing."""
        if self not in OBSERVERS.get():
            enter(self)
            open_listener(self)
            self._builds.start()
        return self

    def stop(self) -> None:
        """Stop recording; `start` continues it. What ran is put in the order in which it began."""
        leave(self)
        close_listener(self)
        self._builds.stop()
        self.entries[:] = device_times(self.entries)
        self.entries.sort(key=lambda e: e.started)
        self._forget()

    # What it holds.

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.entries)

    @overload
    def __getitem__(self, index: int) -> Work: ...

    @overload
    def __getitem__(self, index: slice) -> Recorder: ...

    def __getitem__(self, index: int | slice) -> Work | Recorder:
        """Return one entry by its position, or for a slice a recorder of those entries with the same contents."""
        if isinstance(index, slice):
            return Recorder(self.entries[index], self.contents, counter=self.counters)
        return self.entries[index]

    def __iter__(self) -> Iterator[Work]:
        """Iterate over the entries, in order."""
        return iter(self.entries)

    @property
    def uniforms(self) -> list[Uniform]:
        """The sliders whose values launches took, those in graphs too."""
        return list({id(u): u for r in self._sliding() for u in r.uniforms.values()}.values())

    @property
    def launches(self) -> list[LaunchRecord]:
        """The launches among the entries."""
        return [e.record for e in self.entries if isinstance(e, Launch)]

    def only(self, *, adjoint: bool | None = None, kernel: Any = None) -> Recorder:
        """Return a recorder of the launches of one direction, of one kernel, or both.

        Args:
            adjoint: True: adjoint launches; False: all others; None: both.
            kernel: a kernel or its name; None: every kernel.
        """
        name = getattr(kernel, "name", kernel)
        chosen = [
            e
            for e in self.entries
            if isinstance(e, Launch)
            and (adjoint is None or (e.record.direction in ADJOINTS) == adjoint)
            and (name is None or e.record.kernel == name)
        ]
        return Recorder(chosen, self.contents, counter=self.counters)

    # Running it again.

    def replay(self, arrays: Mapping[array, array] | None = None, /, **changes: Any) -> None:
        """Run everything again, in order, on the arrays' current contents.

        Neighbouring launches on the CPU are one native call; Ctrl-C ends it between two of them. Arguments that came
        from sliders have the sliders' present values.

        Args:
            arrays: recorded arrays to the ones to use in their place, everywhere: in launches, copies and fills, views
                and gradients included.
            changes: parameter name to value, for every launch that has the parameter, only for this run. An array
                given for a parameter replaces the recorded one everywhere. `seed="+20"` makes the recorded whole
                numbers 20 larger than in the last replay that advanced them, as each replay does with those of
                `record(counter=…)`.

        Raises:
            LaunchError: no recorded launch has a parameter of that name, an argument does not fit, or a name stands for
                several arrays; nothing has run.
            KernelFault: with checks, something was out of range; what comes after it has not run.
        """
        amounts = self._advanced(changes)
        latest = {n: Latest() for r in self._sliding() for n in r.uniforms if not isinstance(r.arguments[n], array)}
        changes = {**latest, **changes, **{name: Advance(n) for name, n in amounts.items()}}
        swaps, scalars = self._sorted(changes, self._pairs(arrays))
        started = time.perf_counter()
        with self._lock:
            if OBSERVERS.get() or listening(Launched):
                swap = Substitution(swaps)
                for entry in [e.changed(scalars, swap) for e in self.entries]:
                    entry.launch()
            else:
                self._table(swaps).run(scalars)
        self.counters.amounts |= amounts
        publish(Replayed(len(self._split()[0]), time.perf_counter() - started))

    def backward(
        self,
        loss: array | str | None = None,
        grads: Mapping[array | str, object] | None = None,
        *,
        checkpoint_every: int = 0,
        checkpoint: int = 0,
    ) -> Tape:
        """Run everything again under a tape, then go backwards through it: the gradient of what was recorded.

            with wb.record(inputs=True) as rec:
                simulate(x, loss)
            tape = rec.backward("loss")
            tape.gradients[x]

        It starts from what the arrays held before the recorded code first used them if that was kept
        (`record(inputs=True)`), else from what they hold now. Graphs are looked into.

        Args:
            loss: a float array of one element, or its parameter's name.
            grads: arrays, or names of parameters, to their adjoints, in place of a loss; see `Tape.backward`.
            checkpoint_every: keep one copy of what changes in so many steps, as of `Tape`.
            checkpoint: keep about so many copies, as of `Tape`.

        Returns:
            The tape: `.gradients` has the gradient of each float array, and so has `.grad` of those that have one; not
            of a record that writes `.grad` itself, as a recorded backward pass does.

        Raises:
            LaunchError: as `Tape.backward`, no launch has a parameter of that name, or the operands of a call of JAX
                were not kept.
            NotDifferentiable: there is no right gradient; the message says of which entry.
        """
        from workbench.api.tapes.differentiate import differentiate

        end = self.find(loss) if isinstance(loss, str) else loss
        ends = None if grads is None else {self.find(k) if isinstance(k, str) else k: v for k, v in grads.items()}
        # Inside a capture nothing runs now: the graph starts from what the arrays hold when it is launched.
        if self.contents is not None and not any(observer.takes for observer in OBSERVERS.get()):
            self.rewind()
        return differentiate(self.entries, end, ends, checkpoint_every, checkpoint)

    def rewind(self) -> None:
        """Put back what the arrays held before the recorded code first used them.

        Raises:
            LaunchError: that was not kept; `record(inputs=True)` keeps it.
        """
        if self.contents is None:
            raise LaunchError("This record kept no contents.", advice="Record with wb.record(inputs=True).")
        self.contents.restore()
        for uniform in self.uniforms:
            uniform.store()

    def find(self, name: str) -> Any:
        """Return the recorded argument of the parameter `name`: an array, or a number.

        Raises:
            LaunchError: no launch has one, or it stands for several arrays or numbers.
        """
        records, distinct = self._uses(name)
        scalars = {repr(r.arguments[name]) for r in self._having(name) if None in distinct}
        if len(distinct) > 1 or len(scalars) > 1:
            raise LaunchError(f"{name} is not one argument in this record but several.", parameter=name)
        return records[0].arguments[name]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `.wbr` file that `load_record` opens, here or on another machine: kernels, arrays, what ran.

        Arrays are written as they were before their first use, where that was kept, else as they are now (with a
        warning). The file is written whole or not at all.

        Raises:
            RecordError: something in the record cannot be represented in a file, or the file cannot be written.
        """
        if self.contents is None:
            remark = "this record kept no contents (record with inputs=True): the arrays are saved as they are now"
            warnings.warn(remark, stacklevel=2)
        contents = Contents(self.contents.saved if self.contents is not None else None)
        write_file(Path(path), file_bytes(self.entries, contents, self.counters))

    def _table(self, swaps: dict[array, array]) -> Prepared:
        """Return the entries prepared to run with arrays replaced, remembered for the last few replacements."""
        key = tuple((id(old), id(new)) for old, new in swaps.items())
        table = self._tables.get(key)
        if table is None:
            swap = Substitution(swaps)
            table = Prepared([e.changed({}, swap) for e in self.entries] if swap else self.entries)
            table.kept = swaps
            if len(self._tables) >= _KEPT_TABLES:
                self._tables.pop(next(iter(self._tables)))
            self._tables[key] = table
        return table

    def _sorted(self, changes: dict[str, Any], swaps: dict[array, array]) -> tuple[dict[array, array], dict[str, Any]]:
        """Return the changes as replacements of arrays, added to `swaps`, and as numbers by parameter.

        Raises:
            LaunchError: no launch has the parameter, a value does not fit, or a name stands for several arrays.
        """
        scalars = dict[str, Any]()
        for name, value in changes.items():
            records, distinct = self._uses(name)
            for old in distinct.values():
                fits(name, old, value)
            if not isinstance(value, array):
                for record in records if not isinstance(value, Advance | Latest) else self._having(name):
                    record.checked(name, value)
                scalars[name] = value
            elif len(distinct) > 1:
                raise LaunchError(
                    f"{name} is {len(distinct)} different arrays in this record.",
                    parameter=name,
                    advice="Specify which: rec.replay({old: new}).",
                )
            else:
                swaps[next(iter(distinct.values()))] = value
        return swaps, scalars

    def _pairs(self, replacements: Any) -> dict[array, array]:
        """Return the mapping of recorded arrays to their replacements, checked.

        Raises:
            LaunchError: it is no mapping, an array does not fit, or the record does not use it.
        """
        if replacements is not None and not is_mapping(replacements):
            raise LaunchError(
                f"replay takes a mapping of recorded arrays to other ones; this is {type(replacements).__name__}.",
                advice="By name: rec.replay(x=new); by array: rec.replay({old: new}).",
            )
        if replacements and self._memories is None:
            self._memories = {id(a.memory) for e in self.entries for a in e.arrays}
        pairs = dict[array, array]()
        for old, new in (replacements or {}).items():
            if not isinstance(old, array):
                raise LaunchError(f"{old!r} is not an array.", advice="By name it is rec.replay(x=new).")
            fits("The array", old, new)
            assert isinstance(new, array)
            pairs[old] = new
            if id(old.memory) not in (self._memories or ()):
                raise LaunchError(f"The {old.type!r} of shape {old.shape} to replace is not used by this record.")
        return pairs

    def _uses(self, name: str) -> tuple[list[LaunchRecord], dict[Any, Any]]:
        """Return a launch for each compiled kernel that has the parameter, and its distinct arguments.

        All numbers count as one argument.

        Raises:
            LaunchError: no launch has the parameter.
        """
        if name not in self._parameters:
            having = self._having(name)
            if not having:
                raise self._unknown(name)
            arguments = [r.arguments[name] for r in having]
            distinct = {region(a) if isinstance(a, array) else None: a for a in arguments}
            self._parameters[name] = list({id(r.executable): r for r in having}.values()), distinct
        return self._parameters[name]

    def _having(self, name: str) -> list[LaunchRecord]:
        """Return the recorded launches that have an argument of this name, adjoint launches' names included."""
        return [r for r in self._records() if name in r.arguments]

    def _records(self) -> list[LaunchRecord]:
        """Return the launches, those in graphs too."""
        own, _, graphs = self._split()
        return [*own, *(n.record for e in graphs for n in flattened(e) if isinstance(n, Launch))]

    def _sliding(self) -> list[LaunchRecord]:
        """Return the launches that take values of sliders, those in graphs too."""
        _, sliding, graphs = self._split()
        return [*sliding, *(r for r in self._records() if r.uniforms)] if graphs else sliding

    def _split(self) -> tuple[list[LaunchRecord], list[LaunchRecord], list[Work]]:
        """Return the launches outside of graphs, those of them that took sliders' values, and entries with graphs.

        They are collected once: entries stay as they are, while the contents of a graph may change.
        """
        if self._parts is None:
            own = self.launches
            self._parts = own, [r for r in own if r.uniforms], [e for e in self.entries if e.bodies]
        return self._parts

    def _advanced(self, changes: Mapping[str, Any]) -> dict[str, int]:
        """Return the offsets of numbers from their recorded values in this replay, by name."""
        steps = {name: step for name, value in changes.items() if (step := step_of(name, value)) is not None}
        for name in steps:
            self._uses(name)  # raises where there is none
        own = dict.fromkeys(n for n in self.counters.steps if n not in changes and self._counts(n))
        return {n: self.counters.next(n, self.launches, steps.get(n)) for n in {**own, **steps}}

    def _counts(self, name: str) -> bool:
        """Return whether a launch outside of graphs has a parameter of this name, from which a counter advances."""
        return any(name in r.arguments for r in self.launches)

    def notes(self) -> list[str]:
        """Return notes for readers on seeds of random numbers, and on the numbers that advance with each replay."""
        functions = {id(f): f for r in self.launches if (f := getattr(r.specialisation, "function", None)) is not None}
        seeded = dict.fromkeys(name for f in functions.values() for name in seeds(f))
        known = [n for n in self.counters.steps if self._counts(n)]
        lines = [f"{n} advances by {self.counters.step(n, self.launches)} with each replay" for n in known]
        return lines + [
            f'{n} feeds rand_init: replays draw the same random numbers; record with counter={n!r}, or replay({n}="+1")'
            for n in seeded
            if n not in known
        ]

    def _unknown(self, name: str) -> LaunchError:
        """Return the error for a name that no recorded launch has, with the names that there are."""
        known = sorted({n for r in self._records() for n in r.arguments})
        close = difflib.get_close_matches(name, known, 1)
        return LaunchError(
            f"No recorded launch has a parameter {name}; there is {', '.join(known) or 'none'}.",
            parameter=name,
            advice=f"Did you mean {close[0]}?" if close else "",
        )

    def __copy__(self) -> Recorder:
        """Return another recorder of the same entries, which uses the same arrays."""
        return self[:]

    def __reduce__(self) -> Any:
        """Refuse to be pickled or copied deeply.

        Raises:
            RecordError: always.
        """
        raise RecordError(
            "A record cannot be pickled, nor copied with what it uses.",
            advice='rec.save("run.wbr") writes it, and wb.load_record("run.wbr") loads a copy.',
        )

    # Showing it.

    def spans(self) -> tuple[Span, ...]:
        """Return one span of time per entry, as a timeline draws it."""
        return spans(self.entries)

    def timeline(self) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
        """Return the spans of the entries, and those of kernels that were compiled or loaded from disk meanwhile."""
        return timeline(self.entries, self._builds.noted)

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row per entry (kind, name, size, time, source line), each followed by those of its parts."""
        return [row[1:] for row in self._numbered()]

    def _numbered(self) -> list[tuple[str, ...]]:
        """Return the rows, each after its entry's number; parts of an entry are "0.0", "0.1" and so on."""
        rows = list[tuple[str, ...]]()
        for k, entry in enumerate(self.entries):
            rows.append((str(k), *entry.row()))
            rows += [(f"{k}.{n}", *part.row()) for n, part in enumerate(entry.parts)]
        return rows

    def __repr__(self) -> str:
        rows = [("#", *HEAD), *self._numbered()]
        widths = [max(len(r[k]) for r in rows) for k in range(len(HEAD) + 1)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
        return "\n".join([f"{len(self)} recorded{self._lost()}", *self.notes(), *lines])

    def _lost(self) -> str:
        """Return a clause on the calls that could not be recorded; empty if there are none."""
        return f", {self.lost} more could not be recorded" if self.lost else ""

    def _repr_html_(self) -> str:
        """Return the entries as a table, with notes, for a notebook."""
        head = "".join(f"<th>{h}</th>" for h in ("#", *HEAD))
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in self._numbered())
        notes = ". ".join([self._lost(), *self.notes()]).removeprefix(". ")
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{escape(notes)}"


@contextmanager
def record(inputs: bool = False, counter: Counter = ()) -> Generator[Recorder]:
    """Record what this thread runs inside the `with` and what XLA calls meanwhile; other threads are not seen.

    Args:
        inputs: keep what each array holds before it is first used, so that `rewind` can put it back and a saved record
            starts from there.
        counter: parameters whose recorded whole numbers advance with each replay, as seeds must: a name, several, or a
            mapping to how much. By default by so much that no recorded number comes again.

    Yields:
        The recorder; its entries are complete at the end of the `with`.

    Raises:
        LaunchError: a counter is no whole number of a recorded launch.
    """
    recorder = Recorder(inputs=inputs, counter=counter).start()
    try:
        yield recorder
    finally:
        recorder.stop()
    for name in recorder.counters.steps:
        recorder.counters.step(name, recorder.launches)
