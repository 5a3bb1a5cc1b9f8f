"""Work: launches, copies, sums, fills, graphs, branches, loops and calls, as nodes that run again on other arguments.

Records, graphs and pages list the same nodes (`design/work.md`). A node is frozen and holds what it uses; a changed one
is another node. The buffers and tables that run it belong to a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.copies import everywhere
from workbench.runtime.arrays.host_convert import repeats
from workbench.runtime.arrays.shapes import meet
from workbench.runtime.device.call_site import Site
from workbench.runtime.device.device import CPU, Device
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import execute_again
from workbench.runtime.launching.record import LaunchRecord
from workbench.structs import Struct
from workbench.types import is_float

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


class Access(msgspec.Struct, frozen=True, eq=False):
    """A use of an array by a node.

    Attributes:
        array: the array.
        name: the node's own name for it, such as a parameter's.
        reads, writes: whether its elements are read, and whether they may change.
    """

    array: array
    name: str
    reads: bool
    writes: bool


class Work(msgspec.Struct, frozen=True, eq=False, kw_only=True, dict=True):
    """A piece of work: a launch, a copy, a sum, a fill, a call, a branch, a loop or a graph.

    Attributes:
        started: when it ran, in seconds of `time.perf_counter`; 0 if that is not known.
        seconds: how long the caller waited for it (a CUDA launch is queued by then, not over); None: not known.
        site: the line that requested it; None: not known.
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
        """The kind: "copy", "add", "fill", "graph", "if", "while", "jax" or "library"; for a launch its direction."""
        return type(self).__name__.lower()

    @property
    def name(self) -> str:
        """The kernel's name, or the value of a fill; "" if it has none."""
        return ""

    @property
    def title(self) -> str:
        """The name that pictures show: its name, or its kind if it has none."""
        return self.name or self.kind

    @property
    def size(self) -> tuple[int, ...]:
        """The dimensions of a launch, the shape of what is copied or filled, or the number of a graph's nodes."""
        raise NotImplementedError

    @property
    def accesses(self) -> Sequence[Access]:
        """The arrays that it uses, and how."""
        raise NotImplementedError

    @property
    def arrays(self) -> tuple[array, ...]:
        """Every array that it touches."""
        return tuple({id(a.array): a.array for a in self.accesses}.values())

    @property
    def device(self) -> Device:
        """The device that it runs on."""
        return next((a.array.device for a in self.accesses), CPU)

    @property
    def bodies(self) -> Mapping[str, Nodes]:
        """The graphs inside it, by what they are for: "body", "true", "false"; empty for most work."""
        return {}

    @property
    def is_barrier(self) -> bool:
        """Return whether the memory that it uses is unknown, so that it stays where it is among other nodes."""
        return False

    @property
    def subject(self) -> object:
        """The object that observers are notified of when it runs; the work itself if they are not."""
        return self

    @property
    def changes(self) -> tuple[Memory, ...]:
        """The memory that the work may change."""
        return tuple(dict.fromkeys(a.array.memory for a in self.accesses if a.writes))

    @property
    def parts(self) -> tuple[Work, ...]:
        """The work that ran inside it, as far as known; it has times of its own, and is rerun only as a whole."""
        return ()

    @property
    def milliseconds(self) -> float | None:
        """The `seconds` in milliseconds; None if not known."""
        return None if self.seconds is None else 1e3 * self.seconds

    @property
    def bytes(self) -> int:
        """Bytes of all elements of the arrays that it touches."""
        return sum(a.nbytes for a in self.arrays)

    def launch(self) -> None:
        """Run the work again, on the arrays' current contents."""
        raise NotImplementedError

    def bodies_run(self) -> Iterator[str]:
        """Return an iterator of the names of the graphs inside that run; a condition is read when it is reached."""
        return iter(self.bodies)

    def step(self) -> Iterator[Work]:
        """Run the work again node by node; yield each node without graphs inside as soon as it has run."""
        self.launch()
        yield self

    def on(self, instead: Callable[[Any], Any]) -> Work:
        """Return the same work on other arrays; the nodes of graphs inside it stay as they are.

        Args:
            instead: returns what to use in place of an argument.

        Raises:
            LaunchError: the work cannot have the other arrays.
        """
        raise NotImplementedError

    def changed(self, values: Mapping[str, Any], swap: Callable[[Any], Any]) -> Work:
        """Return the same work with parameters changed by name, and arrays replaced by what `swap` returns.

        Raises:
            LaunchError: an argument does not fit.
        """
        return self.on(swap) if bool(swap) else self  # an empty Substitution changes nothing

    def unfolded(self) -> Work:
        """Return equivalent work that can be saved in a file.

        Raises:
            RecordError: there is none.
        """
        return self

    def row(self) -> tuple[str, ...]:
        """Return the row of a record's table: kind, name, size, time, source line."""
        seconds = self.seconds if self.on_device is None else self.on_device[1]
        unit, name = next(((u, n) for u, n in _UNITS if (seconds or 0.0) >= u), _UNITS[-1])
        time = "" if seconds is None else f"{seconds / unit:.3g} {name}"
        return self.kind, self.name, "×".join(map(str, self.size)), time, str(self.site or "")

    def __repr__(self) -> str:
        return f"<{' '.join(part for part in self.row() if part)}>"


class Nodes(Protocol):
    """A protocol: the body of a graph, as far as the work around it, plans and pictures know it (`graphs/body.py`)."""

    nodes: list[Work]
    generation: int

    @property
    def device(self) -> Device:
        """The device that it runs on."""
        ...

    @property
    def edges(self) -> list[Any]:
        """The edges of the graph: which node must run after which."""
        ...

    @property
    def levels(self) -> list[list[int]]:
        """Indices of the nodes, level by level; those of one level may run at the same time."""
        ...

    def walk(self) -> Iterator[Work]:
        """Yield every node, each followed by those of the bodies inside it."""
        ...

    def written(self) -> list[Memory]:
        """Return the memory that a run may change."""
        ...

    def stale(self, arrays: bool = True) -> None:
        """Discard the plan, and if `arrays` (the nodes' arrays changed) the edges too."""
        ...

    def around(self, node: Work) -> Nodes:
        """Return a new body that has only this node."""
        ...

    def changed(self, values: Mapping[str, Any], swap: Callable[[Any], Any]) -> Nodes:
        """Return a body with parameters changed by name and arrays replaced; this one if nothing changes."""
        ...

    def launch(self) -> None:
        """Run all nodes, seen by observers."""
        ...

    def step(self) -> Iterator[Work]:
        """Run node by node; yield each node without graphs inside as soon as it has run."""
        ...


class Launch(Work, frozen=True, eq=False, dict=True):
    """A launch of a kernel, in one direction."""

    record: LaunchRecord

    @property
    def kind(self) -> str:
        """The direction of the launch's code."""
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
    def device(self) -> Device:
        """The device that its code runs on."""
        return self.record.executable.device

    @cached_property
    def accesses(self) -> Sequence[Access]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The array arguments that the kernel reads or writes."""
        reads, writes = self.record.reads, self.record.writes
        return [
            Access(a, name, name in reads, name in writes)
            for name, a in self.record.arguments.items()
            if isinstance(a, array) and (name in reads or name in writes)
        ]

    @property
    def arrays(self) -> tuple[array, ...]:
        """The array arguments."""
        return self.record.executable.arrays_of(self.record.values)

    @property
    def subject(self) -> object:
        """The record of the launch."""
        return self.record

    @property
    def changes(self) -> tuple[Memory, ...]:
        """The memory of the arrays that the kernel writes."""
        return self.record.changes

    def launch(self) -> None:
        """Run the launch again, on the arrays' current contents."""
        execute_again(self.record)

    def on(self, instead: Callable[[Any], Any]) -> Work:
        """Return the launch on other arrays, with the code that suits them."""
        return self.changed({}, instead)

    def changed(self, values: Mapping[str, Any], swap: Callable[[Any], Any]) -> Work:
        """Return the launch with parameters changed by name and arrays replaced."""
        record = self.record
        new = {name: other for name, old in record.arguments.items() if (other := swap(old)) is not old}
        new |= {n: record.checked(n, v) for n, v in values.items() if n in record.arguments}
        return replace(self, record=record.changed(new)) if new else self


class Copy(Work, frozen=True, eq=False, dict=True):
    """A copy of all elements of an array to another one of its shape and dtype."""

    target: array
    source: array

    @property
    def size(self) -> tuple[int, ...]:
        """The target's shape."""
        return self.target.shape

    @property
    def accesses(self) -> Sequence[Access]:
        """The target and the source; a sum reads its target, too."""
        return [
            Access(self.target, "target", isinstance(self, Add), True),
            Access(self.source, "source", True, False),
        ]

    @property
    def subject(self) -> object:
        """The target."""
        return self.target

    def launch(self) -> None:
        """Copy the elements again."""
        self.target.copy_(self.source)

    def on(self, instead: Callable[[Any], Any]) -> Work:
        """Return the same copy or sum between other arrays."""
        return replace(self, target=instead(self.target), source=instead(self.source))


class Add(Copy, frozen=True, eq=False, dict=True):
    """A sum: the elements of the source are added to those of the target."""

    def launch(self) -> None:
        """Add the elements again."""
        self.target.add_(self.source)


class Fill(Work, frozen=True, eq=False, dict=True):
    """A fill of all elements with one value."""

    target: array
    value: Any

    @property
    def name(self) -> str:
        """The value, as text."""
        return f"{self.value}"

    @property
    def title(self) -> str:
        """The name that pictures show, such as "fill 0"."""
        return f"fill {self.value:g}" if isinstance(self.value, int | float) else f"fill {self.value}"

    @property
    def size(self) -> tuple[int, ...]:
        """The target's shape."""
        return self.target.shape

    @property
    def accesses(self) -> Sequence[Access]:
        """The target, which is written."""
        return [Access(self.target, "target", False, True)]

    @property
    def subject(self) -> object:
        """The target."""
        return self.target

    def launch(self) -> None:
        """Fill the array again."""
        self.target.fill_(self.value)

    def on(self, instead: Callable[[Any], Any]) -> Work:
        """Return the fill of another array with the same value."""
        return replace(self, target=instead(self.target))


class Graph(Work, frozen=True, eq=False, dict=True):
    """A run of a captured graph; its parameters are the graph's own to change.

    Attributes:
        graphs: the graphs inside, by what they are for: "body", or the "true" and "false" of a branch.
        condition: for a branch or loop, an int32 array of one element; None for a graph that just runs.
    """

    graphs: Mapping[str, Nodes]
    condition: array | None = None

    @property
    def graph(self) -> Any:
        """The graph that runs; for a branch the one for a condition that holds, None if there is only the other."""
        return self.graphs.get("body", self.graphs.get("true"))

    @property
    def name(self) -> str:
        """The name of `graph`; "" if it has none."""
        return getattr(self.graph, "name", "")

    @property
    def size(self) -> tuple[int, ...]:
        """The number of nodes of all graphs inside, not counting graphs inside those."""
        return (sum(len(body.nodes) for body in self.graphs.values()),)

    @property
    def device(self) -> Device:
        """The device that it runs on."""
        return self.condition.device if self.condition is not None else self.graph.device

    @property
    def bodies(self) -> Mapping[str, Nodes]:
        """The graphs inside by what they are for, in the order in which plans have them."""
        return {name: self.graphs[name] for name in ("body", "true", "false") if name in self.graphs}

    @property
    def is_barrier(self) -> bool:
        """Return whether the memory that a node inside uses is unknown."""
        return any(node.is_barrier for body in self.graphs.values() for node in body.nodes)

    @property
    def accesses(self) -> Sequence[Access]:
        """The condition, and what the nodes inside use, one access per array."""
        inner = [a for body in self.graphs.values() for node in body.nodes for a in node.accesses]
        head = [Access(self.condition, "condition", True, False)] if self.condition is not None else []
        return [*head, *_united(inner)]

    @property
    def subject(self) -> object:
        """The graph that runs."""
        return self.graph

    @cached_property
    def alone(self) -> Nodes:
        """The body whose plan runs this work: the graph itself; for a branch or loop a body of this node alone."""
        return self.graph if self.condition is None else next(iter(self.graphs.values())).around(self)

    def launch(self) -> None:
        """Run the graph, branch or loop again; observers see it as one, or node by node."""
        self.alone.launch()

    def step(self) -> Iterator[Work]:
        """Run the graphs inside node by node; yield each node without graphs inside as soon as it has run.

        If an open capture takes a branch or loop, that is yielded as a whole, and nothing runs.
        """
        if self.condition is not None and branched(self):
            yield self
            return
        for name in self.bodies_run():
            yield from self.graphs[name].step()

    def on(self, instead: Callable[[Any], Any]) -> Work:
        """Return the same work with another condition; the graphs inside keep their nodes."""
        condition = None if self.condition is None else instead(self.condition)
        return self if condition is self.condition else replace(self, condition=condition)

    def changed(self, values: Mapping[str, Any], swap: Callable[[Any], Any]) -> Work:
        """Return the same work with graphs of changed nodes; the captured graphs themselves stay as they are."""
        graphs = {name: body.changed(values, swap) for name, body in self.graphs.items()}
        if all(graphs[name] is body for name, body in self.graphs.items()):
            return self.on(swap)
        return replace(self.on(swap), graphs=graphs)


class If(Graph, frozen=True, eq=False, dict=True):
    """A branch: one of two graphs runs, or none, as the condition says when it is reached."""

    def bodies_run(self) -> Iterator[str]:
        """Yield the name of the graph that the condition chooses; nothing if there is none."""
        name = "true" if _holds(self.condition) else "false"
        yield from [name] if name in self.graphs else []


class While(Graph, frozen=True, eq=False, dict=True):
    """A loop: a graph runs as long as the condition, which it writes, is not 0."""

    def bodies_run(self) -> Iterator[str]:
        """Yield "body" as long as the condition holds; it is read each time."""
        while _holds(self.condition):
            yield "body"


class Call(Work, frozen=True, eq=False, dict=True):
    """A call of a kernel that another library (JAX) made, as ordinary work on arrays of its own.

    Attributes:
        label: the kernel's name.
        dims: the launch's dimensions, without batches.
        steps: what it does, in order.
        outputs: the arrays with its results.
    """

    label: str
    dims: tuple[int, ...]
    steps: tuple[Work, ...]
    outputs: tuple[array, ...]

    @property
    def kind(self) -> str:
        """Always "jax"."""
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
    def accesses(self) -> Sequence[Access]:
        """The arrays that its steps use."""
        return list(_united(a for step in self.steps for a in step.accesses))

    @property
    def arrays(self) -> tuple[array, ...]:
        """Every array that it touches."""
        return tuple(dict.fromkeys((*(a for step in self.steps for a in step.arrays), *self.outputs)))

    def launch(self) -> None:
        """Run the call's steps again; `outputs` have the results."""
        for step in self.steps:
            step.launch()

    def on(self, instead: Callable[[Any], Any]) -> Work:
        """Return the call as it is: its arrays are its own, and cannot be replaced."""
        return self


def flattened(node: Work) -> Iterator[Work]:
    """Yield a node, or in its place the nodes of the graphs inside it, at any depth."""
    if not node.bodies:
        yield node
    for body in node.bodies.values():
        for inner in body.nodes:
            yield from flattened(inner)


def make_ready(nodes: list[Work]) -> None:
    """Replace, in place, each launch in a list by one whose code has been built, waiting until it is.

    Raises:
        BuildError: a compiler refused our text.
    """
    nodes[:] = [replace(n, record=n.record.ready()) if isinstance(n, Launch) else n for n in nodes]


def plain_moves(node: Copy | Fill) -> Iterator[Copy | Fill]:
    """Yield copies, sums and fills with numbers that are equivalent to a node: a native loop does each in any order.

    A sum of structs is one of each of their floats, a fill with a vector or a struct a copy of one element, and a copy
    whose arrays overlap goes through an array of its own.
    """
    if isinstance(node, Fill):
        plain = repeats(node.target.dtype, node.value)
        yield node if plain else Copy(node.target, everywhere(node.target, node.value))
    elif isinstance(node, Add) and isinstance(node.target.dtype, Struct):
        others = node.source.field_arrays()
        for path, part in node.target.field_arrays().items():
            if is_float(part.dtype):
                yield from plain_moves(Add(part, others[path]))
    elif meet(node.target, node.source):
        between = node.source.fresh_like()
        yield Copy(between, node.source)
        yield replace(node, source=between)
    else:
        yield node


def _united(accesses: Iterable[Access]) -> Iterator[Access]:
    """Yield one access per array: it reads if one of the given ones does, and writes if one does."""
    united: dict[int, Access] = {}
    for new in accesses:
        old = united.get(id(new.array), new)
        united[id(new.array)] = Access(new.array, old.name, new.reads or old.reads, new.writes or old.writes)
    yield from united.values()


def branched(node: Graph) -> bool:
    """Let an open capture take a branch or loop instead of running it; return whether a capture is open that does.

    Observers opened inside the capture are asked first, and may refuse or replace the node.
    """
    observers = OBSERVERS.get()
    if not any(observer.takes and not observer.looks_inside for observer in observers):
        return False
    for observer in reversed(observers):
        node = observer.branching(node)
        if observer.takes:
            break
    return True


def _holds(condition: array | None) -> bool:
    """Return whether a condition is not 0; None always holds."""
    return condition is None or bool(condition.numpy().reshape(-1)[0])


def condition_of(value: Any) -> array:
    """Return `value` if it can be the condition of a branch or loop: an int32 array of one element.

    Raises:
        TypeError: it is anything else.
    """
    fits = isinstance(value, array) and repr(value.dtype) == "int32" and value.size == 1
    if not fits:
        what = f"{value.type!r} of shape {value.shape}" if isinstance(value, array) else type(value).__name__
        raise TypeError(f"a condition is an int32 array of one element; this is {what}")
    return value
