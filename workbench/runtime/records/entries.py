"""What a recorder holds: launches, copies, sums, fills and graphs, each with its time and its line.

An entry is frozen. It can be run again as it stands, or give another entry for other arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from workbench.errors import LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.substitute import Substitution
from workbench.runtime.device.call_site import Site
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import execute_again
from workbench.runtime.launching.record import LaunchRecord

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


class Runnable(Protocol):
    """A captured graph, as far as a recorder knows it."""

    def launch(self) -> None:
        """Run it."""
        ...

    def walk(self) -> Iterable[Any]:
        """Its nodes; those that launch have a `record`."""
        ...


class Entry(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One thing that ran.

    Attributes:
        started: when, in seconds of `time.perf_counter`; 0 where it is not known.
        seconds: how long the caller waited for it (a CUDA launch is queued by then, not over); None: not known.
        site: the line that requested it.
        events: on CUDA, before and after it in its stream, until they have been read.
        on_device: when the device began it, on the clock of `started`, and for how many seconds it ran there.
    """

    started: float = 0.0
    seconds: float | None = None
    site: Site | None = None
    events: tuple[Any, Any] | None = None
    on_device: tuple[float, float] | None = None

    @property
    def kind(self) -> str:
        """ "forward", "adjoint", "tangent", "copy", "add", "fill", "graph" or "jax"."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The kernel's name, or the value of a fill."""
        return ""

    @property
    def size(self) -> tuple[int, ...]:
        """Dimensions of the launch, or the shape of what was copied."""
        raise NotImplementedError

    @property
    def arrays(self) -> tuple[array, ...]:
        """Every array it touches."""
        return ()

    @property
    def subject(self) -> object:
        """What observers were notified of, to find the entry again when it is over."""
        raise NotImplementedError

    @property
    def changes(self) -> tuple[Memory, ...]:
        """The memory that it may change."""
        return ()

    @property
    def parts(self) -> tuple[Entry, ...]:
        """What ran inside it, where that is known: shown with times of their own; they run again with it only."""
        return ()

    def launch(self) -> None:
        """Run it again, on the arrays' current contents."""
        raise NotImplementedError

    def changed(self, values: Mapping[str, Any], swap: Substitution) -> Entry:
        """The same with parameters changed by name and arrays replaced."""
        raise NotImplementedError

    def unfolded(self) -> Entry:
        """The same as work that has a form in a file: itself.

        Raises:
            RecordError: it has none.
        """
        return self

    @property
    def bytes(self) -> int:
        """Bytes of all elements of the arrays that it touches."""
        return sum(a.nbytes for a in self.arrays)

    def __repr__(self) -> str:
        return f"<{' '.join(part for part in self.row() if part)}>"

    def row(self) -> tuple[str, ...]:
        """What the table shows: kind, name, size, time, place."""
        seconds = self.seconds if self.on_device is None else self.on_device[1]
        unit, name = next(((u, n) for u, n in _UNITS if (seconds or 0.0) >= u), _UNITS[-1])
        time = "" if seconds is None else f"{seconds / unit:.3g} {name}"
        return self.kind, self.name, "×".join(map(str, self.size)), time, str(self.site or "")


class LaunchEntry(Entry, frozen=True, eq=False):
    """A recorded launch."""

    record: LaunchRecord

    @property
    def kind(self) -> str:
        """The direction."""
        return self.record.direction

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.record.kernel

    @property
    def size(self) -> tuple[int, ...]:
        """The launch's dimensions."""
        return self.record.dim

    @property
    def arrays(self) -> tuple[array, ...]:
        """Its array arguments."""
        return tuple(a for a in self.record.arguments.values() if isinstance(a, array))

    @property
    def subject(self) -> object:
        """The record."""
        return self.record

    @property
    def changes(self) -> tuple[Memory, ...]:
        """The memory of the arrays that the kernel writes."""
        return self.record.changes

    def launch(self) -> None:
        """Run it again, on the arrays' current contents."""
        execute_again(self.record)

    def changed(self, values: Mapping[str, Any], swap: Substitution) -> Entry:
        """The same launch with parameters changed by name and arrays replaced."""
        record = self.record
        given = {name: new for name, old in record.arguments.items() if (new := swap(old)) is not old}
        given |= {n: record.checked(n, v) for n, v in values.items() if n in record.arguments}
        return replace(self, record=record.changed(given)) if given else self


class WriteEntry(Entry, frozen=True, eq=False):
    """What is recorded of one array that is written as a whole."""

    target: array

    @property
    def size(self) -> tuple[int, ...]:
        """The target's shape."""
        return self.target.shape

    @property
    def arrays(self) -> tuple[array, ...]:
        """The target."""
        return (self.target,)

    @property
    def subject(self) -> object:
        """The target."""
        return self.target

    @property
    def changes(self) -> tuple[Memory, ...]:
        """The target's memory."""
        return (self.target.memory,)

    def changed(self, values: Mapping[str, Any], swap: Substitution) -> Entry:
        """The same with the target replaced."""
        return replace(self, target=swap(self.target))


class CopyEntry(WriteEntry, frozen=True, eq=False):
    """A recorded copy or sum; `what` is "copy" or "add"."""

    source: array
    what: str

    @property
    def kind(self) -> str:
        """What it does."""
        return self.what

    @property
    def arrays(self) -> tuple[array, ...]:
        """Target and source."""
        return self.target, self.source

    def launch(self) -> None:
        """Copy or add again."""
        (self.target.copy_ if self.what == "copy" else self.target.add_)(self.source)

    def changed(self, values: Mapping[str, Any], swap: Substitution) -> Entry:
        """The same copy with arrays replaced."""
        return replace(self, target=swap(self.target), source=swap(self.source))


class FillEntry(WriteEntry, frozen=True, eq=False):
    """A recorded fill."""

    value: Any

    @property
    def kind(self) -> str:
        """It is a fill."""
        return "fill"

    @property
    def name(self) -> str:
        """The value."""
        return f"{self.value}"

    def launch(self) -> None:
        """Fill again."""
        self.target.fill_(self.value)


class GraphEntry(Entry, frozen=True, eq=False):
    """A recorded run of a captured graph; its parameters are the graph's own to change."""

    graph: Runnable

    @property
    def kind(self) -> str:
        """It is a graph."""
        return "graph"

    @property
    def name(self) -> str:
        """The graph's name."""
        return getattr(self.graph, "name", "")

    @property
    def size(self) -> tuple[int, ...]:
        """How many nodes it has, where it says so."""
        return (len(self.graph),) if hasattr(self.graph, "__len__") else ()  # type: ignore[arg-type]

    @property
    def arrays(self) -> tuple[array, ...]:
        """Every array that its nodes use."""
        used = {id(a.array): a.array for node in self.graph.walk() for a in getattr(node, "accesses", ())}
        return tuple(used.values())

    @property
    def subject(self) -> object:
        """The graph."""
        return self.graph

    def launch(self) -> None:
        """Run it again."""
        self.graph.launch()

    def changed(self, values: Mapping[str, Any], swap: Substitution) -> Entry:
        """The same graph, where it uses nothing of what is changed.

        Raises:
            LaunchError: it does: that is changed by the graph's own `update`.
        """
        for node in self.graph.walk():
            record = getattr(node, "record", None)
            arguments = record.arguments if record is not None else {}
            used = [n for n, v in arguments.items() if n in values or swap(v) is not v]
            if used:
                raise LaunchError(
                    f"{used[0]} is also used by a graph of this record, which a replay does not change.",
                    parameter=used[0], advice="Use the graph's update(), or replay a part without it.",
                )  # fmt: skip
        return self


class CalledEntry(Entry, frozen=True, eq=False):
    """A call that another library made, as ordinary work on arrays of its own.

    Attributes:
        label: the kernel's name.
        dims: the launch's dimensions, without batches.
        steps: what it does, in order.
        outputs: the arrays with its results.
    """

    label: str
    dims: tuple[int, ...]
    steps: tuple[Entry, ...]
    outputs: tuple[array, ...]

    @property
    def kind(self) -> str:
        """It was a call of JAX."""
        return "jax"

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.label

    @property
    def size(self) -> tuple[int, ...]:
        """The launch's dimensions, without batches."""
        return self.dims

    @property
    def arrays(self) -> tuple[array, ...]:
        """Every array it touches."""
        return tuple(dict.fromkeys((*(a for step in self.steps for a in step.arrays), *self.outputs)))

    @property
    def subject(self) -> object:
        """It is not announced."""
        return self

    @property
    def changes(self) -> tuple[Memory, ...]:
        """The memory of its results."""
        return tuple(dict.fromkeys(m for step in self.steps for m in step.changes))

    def launch(self) -> None:
        """Run it again; `outputs` have the results."""
        for step in self.steps:
            step.launch()

    def changed(self, values: Mapping[str, Any], swap: Substitution) -> Entry:
        """The same call: its operands have no names and are replaced by nothing."""
        return self
