"""Functions of the driver that capture streams, and what events mean to streams that are captured."""

from __future__ import annotations

from typing import Any, NoReturn

from workbench.runtime.emulated.graphs import Graph, Node
from workbench.runtime.emulated.state import State, Table, function
from workbench.runtime.emulated.status_error import CudaStatusError, expect
from workbench.runtime.emulated.streams import Event, Stream

TABLE: Table = {}
_STATUS = "CUDA_ERROR_STREAM_CAPTURE_"


class Capture:
    """The capture of a stream, and of the streams that joined it by waiting for one of its events.

    Attributes:
        origin: the stream in which it began.
        graph: the graph that it becomes.
        last: by stream, the nodes that what is captured next comes after.
        spoiled: something was done that ends the capture without a graph.
    """

    def __init__(self, origin: Stream) -> None:
        """Begin an empty capture in the stream `origin`."""
        self.origin = origin
        self.graph = Graph(origin.device)
        self.last: dict[Stream, tuple[Node, ...]] = {origin: ()}
        self.spoiled = False

    def add(self, stream: Stream, work: Any) -> None:
        """Add a node for work that comes next in one of the captured streams."""
        self.last[stream] = (self.graph.add(self.last[stream], work),)

    def after(self, stream: Stream, nodes: tuple[Node, ...]) -> None:
        """Make a stream part of the capture: what is captured next in it comes after these nodes, too."""
        stream.capture = self
        self.last[stream] = tuple(dict.fromkeys((*self.last.get(stream, ()), *nodes)))

    @property
    def is_joined(self) -> bool:
        """Return whether the origin stream waits for all work that was captured in the other streams."""
        waited = {before for node in self.graph.nodes for before in node.after} | set(self.last[self.origin])
        return waited.issuperset(self.graph.nodes)

    def invalidate(self, status: str, why: str) -> NoReturn:
        """Refuse a call with a status, and mark the capture as spoiled: it will end without a graph.

        Raises:
            CudaStatusError: always.
        """
        self.spoiled = True
        raise CudaStatusError(status, why)


@function(TABLE)
def _cuStreamBeginCapture(state: State, stream: Any, mode: Any) -> None:
    """Begin the capture of a stream; refuse the default stream and one that is captured already. `mode` is ignored."""
    expect(int(stream or 0) > 2, "the default stream cannot be captured", f"{_STATUS}UNSUPPORTED")
    stream_object = state.stream(stream, "cuStreamBeginCapture")
    expect(stream_object.capture is None, "the stream is being captured already", "CUDA_ERROR_ILLEGAL_STATE")
    stream_object.capture = Capture(stream_object)


@function(TABLE)
def _cuStreamIsCapturing(state: State, stream: Any) -> Any:
    """Return the stream's capture status: none, active, or invalidated."""
    capture = state.stream(stream, "cuStreamIsCapturing").capture
    status = "NONE" if capture is None else "INVALIDATED" if capture.spoiled else "ACTIVE"
    return getattr(state.api.CUstreamCaptureStatus, f"CU_STREAM_CAPTURE_STATUS_{status}")


@function(TABLE)
def _cuStreamEndCapture(state: State, stream: Any) -> Any:
    """End a stream's capture and return the handle of its graph.

    Refuse if the capture began in another stream, was spoiled, or a stream that joined it was not waited for.
    """
    stream_object = state.stream(stream, "cuStreamEndCapture")
    capture = stream_object.capture
    expect(capture is not None, "the stream is not being captured", "CUDA_ERROR_ILLEGAL_STATE")
    expect(capture.origin is stream_object, "the capture was begun in another stream", f"{_STATUS}UNMATCHED")
    for member in capture.last:
        member.capture = None
    ended = "what was done while the stream was captured ended the capture"
    expect(not capture.spoiled, ended, f"{_STATUS}INVALIDATED")
    unjoined = "another stream joined the capture, and its work is not waited for by the stream in which it began"
    expect(capture.is_joined, unjoined, f"{_STATUS}UNJOINED")
    return state.api.CUgraph(state.handles.new(capture.graph))


@function(TABLE)
def _cuEventRecord(state: State, event: Any, stream: Any) -> None:
    """Record an event in a stream; in a captured one, it marks the nodes captured so far, and nothing is queued."""
    event_object = state.handles.get(event, Event, "cuEventRecord")
    stream_object = state.stream(stream, "cuEventRecord")
    state.not_captured_beside(stream_object, "cuEventRecord")
    if event_object.device != stream_object.device:
        raise CudaStatusError("CUDA_ERROR_INVALID_HANDLE", "cuEventRecord: the event and the stream are of two devices")
    capture = stream_object.capture
    if capture is None:
        event_object.captured = None
        state.streams.record(event_object, stream_object)
    else:
        event_object.mark, event_object.captured = None, (capture, capture.last[stream_object])


@function(TABLE)
def _cuStreamWaitEvent(state: State, stream: Any, event: Any, flags: int) -> None:
    """Make a stream's later work wait for an event; if the event is of a capture, the stream joins that."""
    where = "cuStreamWaitEvent"
    stream_object = state.stream(stream, where, anywhere=True)
    event_object = state.handles.get(event, Event, where)
    expect(flags == 0, f"{where}: nodes that wait for events are not emulated", "CUDA_ERROR_NOT_SUPPORTED")
    if event_object.captured is not None:
        _join(stream_object, *event_object.captured)
    elif stream_object.capture is not None:
        why = f"{where}: a stream that is being captured cannot wait for what is not captured"
        stream_object.capture.invalidate(f"{_STATUS}ISOLATION", why)
    elif event_object.mark is not None and not event_object.mark.done:
        stream_object.waits.append(event_object.mark)


def _join(stream: Stream, capture: Capture, nodes: tuple[Node, ...]) -> None:
    """Make a stream part of a capture: what it gets from now on comes after these nodes.

    Raises:
        CudaStatusError: it cannot be captured, or not in this capture.
    """
    where = "cuStreamWaitEvent"
    if capture.origin.capture is not capture:
        why = f"{where}: the event was last recorded in a capture, which is over"
        raise CudaStatusError("CUDA_ERROR_CAPTURED_EVENT", why)
    if stream.default:
        capture.invalidate(f"{_STATUS}IMPLICIT", f"{where}: the default stream cannot be captured")
    if stream.device != capture.origin.device:
        capture.invalidate("CUDA_ERROR_NOT_SUPPORTED", f"{where}: a capture of two devices is not emulated")
    if stream.capture not in (None, capture):
        stream.capture.spoiled = True
        capture.invalidate(f"{_STATUS}MERGE", f"{where}: two captures would become one")
    capture.after(stream, nodes)


def uncaptured(event: Event, where: str) -> Event:
    """Return the event, if it was not last recorded in a capture.

    Raises:
        CudaStatusError: it was, so no device will ever come to it; the capture is spoiled.
    """
    if event.captured is not None:
        why = f"{where}: the event was last recorded in a stream that was being captured"
        event.captured[0].invalidate("CUDA_ERROR_CAPTURED_EVENT", why)
    return event
