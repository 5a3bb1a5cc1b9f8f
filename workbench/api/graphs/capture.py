"""Capturing: launches, copies and fills inside a `with` become a graph and do not run; `graph.launch()` runs them.

with capture() as g:
    launch(step, n, [x, v, dt])
g.launch()
g.update(dt=0.02)
g                # in a notebook: the picture
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from workbench.api.graphs.graph import Graph
from workbench.errors import DeviceError, LaunchError, its_type
from workbench.runtime import work
from workbench.runtime.active_observers import OBSERVERS, observed_only_by
from workbench.runtime.arrays.array import array
from workbench.runtime.device.device import Device, get_device
from workbench.runtime.device.memory import Memory
from workbench.runtime.device.streams import Stream
from workbench.runtime.graphs.plan_cuda import foreign_work
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.work import condition_of

Branch = Graph | Callable[..., object] | None
_BRANCH = "Pass a function that launches, not the result of a launch: lambda: wb.launch(…)."


class _Capture(Observer):
    """An observer that adds launches, copies and other work to a graph in place of running them.

    Attributes:
        graph: the graph.
        around: the capture inside of which this one was begun; None if there is none.
        written: how often captured work changes each memory.
    """

    takes = True
    looks_inside = False
    defers = True

    def __init__(self, graph: Graph, around: _Capture | None) -> None:
        """Add what runs to `graph`, inside the capture `around`, if any."""
        self.graph = graph
        self.around = around
        self.written: Counter[Memory] = Counter()

    def launching(self, record: LaunchRecord) -> None:
        """Add a launch to the graph; raise a LaunchError if an array is on another device."""
        own = record.executable.device
        for name, a in record.arguments.items():
            if isinstance(a, array) and a.device != own:
                raise LaunchError(
                    f"{record.kernel}: {name} is on {a.device}, and the launch on {own} cannot be part of a graph.",
                    parameter=name,
                    advice="Copy it before, or launch outside of the capture.",
                )
        self.note(work.Launch(record))

    def copying(self, target: array, source: array) -> None:
        """Add a copy to the graph; raise a LaunchError for a copy between devices."""
        if target.device != source.device:
            raise LaunchError(
                f"A copy from {source.device} to {target.device} cannot be part of a graph.",
                advice="Copy before or after g.launch().",
            )
        self._move(work.Copy(target, source))

    def adding(self, target: array, source: array) -> None:
        """Add the addition of one array to another to the graph."""
        self._move(work.Add(target, source))

    def filling(self, target: array, value: float) -> None:
        """Add a fill to the graph."""
        self._move(work.Fill(target, value))

    def _move(self, node: work.Copy | work.Fill) -> None:
        """Add a copy, addition or fill to the graph, as the plain moves that it consists of."""
        for part in work.plain_moves(node):
            self.note(part)

    def reading(self, source: array) -> None:
        """Raise a LaunchError if the array's values are to come from captured work, which has not run."""
        if self.around is not None:
            self.around.reading(source)
        if source.memory in self.written:
            raise LaunchError(
                "This array is written by a launch that was captured and has not run: there are no values to read yet.",
                advice="Read it after g.launch(); for a decision inside the graph use capture_if or capture_while.",
            )

    def replaying(self, graph: work.Nodes) -> None:
        """Add the launch of another graph as a node with that graph as its body."""
        self.note(work.Graph({"body": graph}))

    def branching(self, node: work.Graph) -> work.Graph:
        """Add a branch or loop to the graph, and return it."""
        self.note(node)
        return node

    def note(self, node: work.Work) -> None:
        """Add a node, and count the changes that it will make as new versions of the memories that it writes."""
        self.graph.add(node)
        for memory in node.changes:
            memory.version += 1
            self.written[memory] += 1


def _open() -> _Capture | None:
    """Return the innermost capture whose `with` is open here; None if there is none."""
    return next((o for o in OBSERVERS.get() if isinstance(o, _Capture)), None)


@contextmanager
def capture() -> Generator[Graph]:
    """Capture launches, copies, fills, gradients of tapes and other graphs' launches, without running them.

    What Python does inside runs once, while capturing: it fixes which launches there are. Arrays made inside belong to
    the graph. Tapes and recorders opened outside do not see what is captured, since it does not happen then.

    Yields:
        The graph; complete at the end of the `with`.

    Raises:
        LaunchError: inside, where something cannot be captured: a copy between devices, reading a captured result.
        BuildError: at the end, for a kernel that a compiler refused.
    """
    with _captured() as (graph, watcher):
        yield graph
    for memory in watcher.written:
        # Contents will be others than when it was captured: a tape that is asked too late must notice.
        memory.version += 1


@contextmanager
def capture_body() -> Generator[Graph]:
    """Capture what runs as the body of a branch or loop; at the end the versions of arrays are those from before.

    Yields:
        The graph; complete at the end of the `with`.
    """
    with _captured() as (graph, watcher):
        yield graph
    for memory, changes in watcher.written.items():
        memory.version -= changes


@contextmanager
def _captured() -> Generator[tuple[Graph, _Capture]]:
    """Capture what runs inside into a new graph, which is closed at the end; yield it with its observer.

    All code of its launches has been built when the `with` ends. An exception inside closes the graph as failed.
    """
    graph = Graph()
    watcher = _Capture(graph, _open())
    try:
        with observed_only_by(watcher):
            yield graph, watcher
        # Their kernels were built side by side meanwhile.
        work.make_ready(graph.nodes)
    except BaseException as problem:
        graph.close(f"its capture ended with {type(problem).__name__}")
        raise
    graph.close()


@contextmanager
def capture_stream(
    reads: Sequence[array] = (),
    writes: Sequence[array] = (),
    *,
    device: Device | str | None = None,
    name: str = "library",
) -> Generator[Stream]:
    """Yield a stream for another library: what it queues there inside a capture becomes one node of the graph.

        with wb.capture() as g:
            wb.launch(fill, n, [x])
            with wb.capture_stream(reads=[x], writes=[y]) as stream:
                library.transform(x, y, stream=stream)
            wb.launch(use, n, [y])

    Outside of a capture the library's work runs at once, in order with what our arrays' default stream does.

    Args:
        reads, writes: the arrays that the library uses; if none is named, its work runs after all that was captured
            before and before all that comes after.
        device: where; that of the arrays, else the current one.
        name: what pictures call it.

    Yields:
        The stream; CuPy and cuda.core take it as it is (`__cuda_stream__`), PyTorch as
        `torch.cuda.ExternalStream(int(stream.handle))`.

    Raises:
        DeviceError: in a capture, the device is the CPU, which has nothing to capture; or CUDA could not capture it.
        LaunchError: an array is on another device.
    """
    used = [*reads, *writes]
    target = get_device(device) if device is not None else used[0].device if used else get_device()
    if any(a.device != target for a in used):
        raise LaunchError(
            f"{name}: its arrays are not all on {target}.", advice="A library's work must be on one device."
        )
    opened = _open()
    if opened is None:
        yield Stream(target)
        for a in writes:
            a.changed()
        return
    if not target.is_cuda:
        raise DeviceError(
            f"{name} on the CPU runs at once and cannot be captured.", advice="Call it before or after g.launch()."
        )

    with foreign_work(target, reads, writes, name, opened.note) as stream:
        yield stream


def capture_if(condition: array, on_true: Branch = None, on_false: Branch = None, **arguments: object) -> None:
    """Run one of two branches, as `condition` says when it is reached: inside a capture, when the graph runs.

    Args:
        condition: an int32 array of one element; 0 is false. Kernels may write it.
        on_true: a function that launches kernels, or a graph.
        on_false: the same for a condition of 0.
        arguments: passed to the functions.

    Raises:
        TypeError: the condition is not such an array, or a branch is neither function nor graph.
        LaunchError: there is no branch, or one is a graph that cannot run.
    """
    condition_of(condition)
    if on_true is None and on_false is None:
        raise LaunchError("capture_if has no branch.", advice=_BRANCH)
    if _open() is None:
        _run(on_true if int(condition.numpy().reshape(-1)[0]) else on_false, arguments)
        return
    branches = {"true": _body(on_true, arguments), "false": _body(on_false, arguments)}
    bodies = {name: body for name, body in branches.items() if body}
    work.branched(work.If(bodies, condition))


def capture_while(condition: array, body: Branch, **arguments: object) -> None:
    """Run `body` repeatedly while `condition` is not 0, tested before each iteration.

    Args:
        condition: an int32 array of one element, which the body writes: otherwise it never ends.
        body: a function that launches kernels, or a graph.
        arguments: passed to the function.

    Raises:
        TypeError: the condition is not such an array, or the body is neither function nor graph.
        LaunchError: there is no body, it is a graph that cannot run, or it never writes the condition (in a capture).
    """
    condition_of(condition)
    if body is None:
        raise LaunchError("capture_while has no body.", advice=_BRANCH)
    if _open() is None:
        while int(condition.numpy().reshape(-1)[0]):
            _run(body, arguments)
        return
    inside = _body(body, arguments)
    assert inside is not None
    if not any(memory is condition.memory for memory in inside.written()):
        raise LaunchError(
            "The body of capture_while never writes its condition, so it would run forever or not at all.",
            advice="Let a kernel of the body set the condition to 0.",
        )
    work.branched(work.While({"body": inside}, condition))


def _run(branch: Branch, arguments: dict[str, object]) -> None:
    """Launch the graph or call the function of a branch; do nothing for None.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(branch, Graph):
        branch.launch()
    elif callable(branch):
        branch(**arguments)
    elif branch is not None:
        raise TypeError(f"a branch is a function or a graph, not {its_type(branch)}")


def _body(branch: Branch, arguments: dict[str, object]) -> Graph | None:
    """Return a branch as a graph: a complete graph itself, or what a function launches, captured; None for None."""
    if isinstance(branch, Graph):
        branch.must_be_complete()
        return branch
    if branch is None:
        return None
    with capture_body() as body:
        _run(branch, arguments)
    return body
