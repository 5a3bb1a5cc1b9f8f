"""Graphs as users hold them: run again and again, changed in place, profiled, looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from msgspec.structs import replace

from workbench.api.builds.arguments import Dim, as_dims
from workbench.api.kernels.kernel import Kernel
from workbench.errors import LaunchError, must_be
from workbench.events import SUBSCRIBERS, Replayed, listening
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.substitute import Substitution, fits
from workbench.runtime.graphs import pictures
from workbench.runtime.graphs.body import Body
from workbench.runtime.native.launcher import Native, explain, runs
from workbench.runtime.work import Launch, Work

_OPEN = "it is still being captured"


class Graph(Body):
    """A captured graph; made by `capture()`. It keeps alive the arrays and the code that it uses.

    Attributes:
        nodes: launches, copies, fills, branches and loops, in the order they were captured.
        edges: which must run after which, and because of which arrays; others may run side by side.
    """

    def __init__(self) -> None:
        """Begin an empty graph, which refuses to run until `close` is called."""
        super().__init__()
        self._not_ready = _OPEN

    def close(self, problem: str = "") -> None:
        """End the capture; with a problem the graph cannot be run."""
        self._not_ready = problem

    def must_be_complete(self) -> None:
        """Check that the graph can run.

        Raises:
            LaunchError: its capture is open or has failed, or it is only a picture of other work.
        """
        if self._not_ready:
            advice = "Launch it after the with." if self._not_ready == _OPEN else "Capture it again."
            raise LaunchError(f"This graph cannot run: {self._not_ready}.", advice=advice)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied.

        Raises:
            LaunchError: always.
        """
        raise LaunchError(
            "A graph cannot be pickled or copied.",
            advice="To keep it in a file, record a launch of it and save the record; for another one, capture again.",
        )

    def prepare(self) -> Graph:
        """Do what the first `launch()` does before it runs (plan it, compile its native code); return the graph."""
        self.must_be_complete()
        if self._plan is None:
            self._planned()
        return self

    @runs(lambda frame: frame["plan"].native if "plan" in frame else Native("graph"))
    def launch(self) -> None:
        """Run the graph on its arrays' current contents; inside a capture, become part of that graph.

        Tapes and other observers that look inside see its nodes, which then run one by one.

        Raises:
            LaunchError: it is not complete.
            KernelFault: code with checks met a fault; all that did not fault is done.
            KeyboardInterrupt: or whatever a signal handler raises: it was stopped midway.
        """
        observers, direct = OBSERVERS.get(), self._direct
        if direct is not None and not observers and not (SUBSCRIBERS and listening(Replayed)):
            for memory in self._written:
                memory.version += 1
            run, plan = direct  # held here, too: another thread may give the graph another plan meanwhile
            try:
                run()
            except BaseException as error:
                explain(error, plan.native)
                raise
            return
        self.must_be_complete()
        super().launch()

    def step(self) -> Iterator[Work]:
        """Run the graph node by node; yield each node as soon as it has run (see `Body.step`).

        Raises:
            LaunchError: it is not complete.
        """
        self.must_be_complete()
        return super().step()

    def update(self, only: int | str | Kernel | None = None, /, *, dim: Dim | None = None, **changes: object) -> None:
        """Change parameters in place, in graphs inside this one too; the next `launch()` uses them.

        Args:
            only: the launches of this kernel (itself or its name), or one node by its index; all if None.
            dim: the dimensions of those launches, forward and adjoint alike.
            changes: parameter name to value, for every one of them that has the parameter. An array replaces the one
                that was there in the whole graph: in other launches, views of it, copies, and its gradient by the new
                array's. With an index it replaces only that node's.

        Raises:
            LaunchError: no launch has such a parameter, or a value does not fit; nothing is changed.
        """
        self.must_be_complete()
        chosen = self._chosen(only)
        everywhere = not isinstance(only, int)
        everything = [n for n in self.walk() if isinstance(n, Launch)] if everywhere else chosen
        values: dict[int, dict[str, object]] = {id(node): {} for node in everything}
        for name, value in changes.items():
            _change(chosen, values, name, value)
        pairs: dict[array, array] = {
            old: new
            for node in chosen
            for name, new in values[id(node)].items()
            if isinstance(old := node.record.arguments[name], array) and isinstance(new, array) and new is not old
        }
        instead = Substitution(pairs if everywhere else {})
        new: dict[int, Work] = {}
        for node in self.walk():
            if not isinstance(node, Launch):
                if instead:
                    new[id(node)] = node.on(instead)
                continue
            own = values.get(id(node), {})
            moved = {k: other for k, v in node.record.arguments.items() if (other := instead(v)) is not v} | own
            dims = _dims(node, dim) if dim is not None and node in chosen else None
            if moved or dims is not None:
                new[id(node)] = replace(node, record=node.record.changed(moved, dims))
        self.put(new, bool(pairs))

    def _chosen(self, only: int | str | Kernel | None) -> list[Launch]:
        """Return the launches that `only` means: one by its index, all of a kernel or a name, or all for None.

        Raises:
            LaunchError: there is no such launch.
        """
        if isinstance(only, int):
            if not 0 <= only < len(self.nodes) or not isinstance(self.nodes[only], Launch):
                raise LaunchError(f"Node {only} is not a launch of this graph.", advice="Look at g.nodes.")
            nodes: Sequence[Work] = [self.nodes[only]]
        else:
            nodes = list(self.walk())
        name = only.name if isinstance(only, Kernel) else only if isinstance(only, str) else None
        launches = [n for n in nodes if isinstance(n, Launch) and (name is None or n.name == name)]
        if not launches:
            known = sorted({n.name for n in self.walk() if isinstance(n, Launch)})
            raise LaunchError(f"This graph has no launch of {name}; it has {', '.join(known) or 'none at all'}.")
        return launches

    def profile(self) -> Graph:
        """Run once, node by node, each timed alone: `node.milliseconds`, shown in pictures; returns the graph."""
        self.must_be_complete()
        for k, node in enumerate(self.nodes):
            self.nodes[k] = replace(node, seconds=self.around(node).timed())
        return self

    @property
    def critical_path(self) -> list[int]:
        """Indices of the nodes on the longest chain: by profiled time, else by the number of nodes."""
        return pictures.critical_path(self)

    def layout(self) -> dict[str, object]:
        """Return the positions of the picture's nodes and edges as plain numbers and strings; sizes in pixels."""
        return pictures.placed(self)

    def dot(self) -> str:
        """Return the graph in Graphviz's language."""
        return pictures.dot(self)

    def to_svg(self) -> str:
        """Return the picture as SVG text."""
        return pictures.svg(self)

    def to_json(self) -> str:
        """Return nodes and edges as JSON text."""
        return pictures.to_json(self)

    def __len__(self) -> int:
        """Return the number of nodes, without those of graphs inside this one."""
        return len(self.nodes)

    def __iter__(self) -> Iterator[Work]:
        """Iterate over the nodes, without those of graphs inside this one."""
        return iter(self.nodes)

    def __repr__(self) -> str:
        return pictures.text(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return the graph as text and as HTML, for a notebook."""
        return {"text/plain": pictures.text(self), "text/html": pictures.html(self)}


def graph_of(work: Iterable[Work], origin: str) -> Graph:
    """Return work as a graph that can be looked at: its edges, its critical path, its picture.

        wb.inspect.graph_of(recorder, "a record").critical_path()

    Args:
        work: a record, a tape or a graph.
        origin: what it is, for the message of a launch.

    Returns:
        A graph of the same nodes, which refuses to run.

    Raises:
        LaunchError: it is something else, or a tape has a step that is the user's own function.
    """
    must_be(work, Iterable, "graph_of() takes a record, a tape or a graph")
    graph = Graph()
    graph.nodes += work
    graph.close(f"it is a picture of {origin}, which is what runs")
    return graph


def _change(nodes: Sequence[Launch], changes: dict[int, dict[str, object]], name: str, value: object) -> None:
    """Set the new value in `changes` for each launch that has the parameter, after checking that it fits.

    Raises:
        LaunchError: no launch has it, or the value does not fit.
    """
    chosen = [node for node in nodes if name in node.record.arguments]
    if not chosen:
        known = sorted({n for node in nodes for n in node.record.arguments})
        raise LaunchError(
            f"No launch of this graph has a parameter {name}; there is {', '.join(known)}.", parameter=name
        )
    for node in chosen:
        record = node.record
        new = record.checked(name, value)
        fits(name, record.arguments[name], new)
        changes[id(node)][name] = new


def _dims(node: Launch, dim: Dim) -> tuple[int, ...]:
    """Return new dimensions for a captured launch; raise a LaunchError if their number is not the captured one."""
    dims = as_dims(dim, node.name)
    if len(dims) != len(node.size):
        raise LaunchError(
            f"{node.name} was captured with {len(node.size)} dimensions; dim has {len(dims)}.", parameter="dim"
        )
    return dims
