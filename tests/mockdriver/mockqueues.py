"""The part of the mock driver that is about queues: streams, events, capture, peers, and what kernels print."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

from cuda.bindings import driver as real
from mockparts import Graph, Node

NUMBERS = itertools.count(0x1000, 16)
"""Handles."""


class Queues:
    """Work of a stream is done when it is queued, but for what a capture keeps."""

    streams: dict[int, int]
    events: dict[int, bool]
    graphs: dict[int, Graph]
    captured: dict[int, Graph]
    peers: set[tuple[int, int]]
    strangers: set[tuple[int, int]]
    current: int
    printed: bytes
    _expect: Callable[[bool, str], None]
    _queue: Callable[[Any, str], None]

    def _keep_printed(self, code: Any) -> None:
        """A device keeps what its kernels print until something waits for it."""
        self.printed += code._printed.raw[: code.library.wb_host_printed()]

    def _waited(self) -> None:
        os.write(1, self.printed)
        self.printed = b""

    def _cuDeviceCanAccessPeer(self, device: int, peer: int) -> int:
        return int((device, peer) not in self.strangers)

    def _cuDeviceGetMemPool(self, device: int) -> int:
        return 100 + device

    def _cuMemPoolSetAccess(self, pool: int, wanted: Any, count: int) -> None:
        for one in wanted:
            pair = pool - 100, one.location.id
            (self.peers.add if int(one.flags) else self.peers.discard)(pair)

    def _cuMemPoolGetAccess(self, pool: int, location: Any) -> int:
        return 3 if (pool - 100, location.id) in self.peers else 0

    def _cuStreamCreateWithPriority(self, flags: int, priority: int) -> Any:
        handle = next(NUMBERS)
        self.streams[handle] = self.current
        return real.CUstream(handle)

    def _cuStreamDestroy(self, stream: Any) -> None:
        self._expect(self.streams.pop(int(stream), None) is not None, "a stream was destroyed twice")

    def _cuStreamSynchronize(self, stream: Any) -> None:
        self._queue(stream, "cuStreamSynchronize")
        self._waited()

    def _cuStreamWaitEvent(self, stream: Any, event: Any, flags: int) -> None:
        self._queue(stream, "cuStreamWaitEvent")
        self._expect(self.events.get(int(event), False), "a stream waits for an event that was never recorded")

    def _cuEventCreate(self, flags: int) -> Any:
        handle = next(NUMBERS)
        self.events[handle] = False
        return real.CUevent(handle)

    def _cuEventRecord(self, event: Any, stream: Any) -> None:
        self._queue(stream, "cuEventRecord")
        self._expect(int(event) in self.events, "an event that does not exist was recorded")
        self.events[int(event)] = True

    def _cuEventSynchronize(self, event: Any) -> None:
        self._expect(self.events.get(int(event), False), "an event was waited for that was never recorded")
        self._waited()

    def _cuEventQuery(self, event: Any) -> None:
        self._expect(self.events.get(int(event), False), "an event was asked for that was never recorded")

    def _cuStreamQuery(self, stream: Any) -> None:
        self._queue(stream, "cuStreamQuery")

    def _cuEventElapsedTime(self, start: Any, end: Any) -> float:
        self._expect(self.events[int(start)] and self.events[int(end)], "an event was never recorded")
        return 0.25

    def _cuEventDestroy(self, event: Any) -> None:
        self._expect(self.events.pop(int(event), None) is not None, "an event was destroyed twice")

    # Capture.

    def _cuStreamBeginCapture(self, stream: Any, mode: Any) -> None:
        self._queue(stream, "cuStreamBeginCapture")
        self._expect(int(stream) not in self.captured, "a stream is captured twice")
        self.captured[int(stream)] = Graph()

    def _cuStreamEndCapture(self, stream: Any) -> Any:
        self._expect(int(stream) in self.captured, "a capture ends that never began")
        handle = next(NUMBERS)
        self.graphs[handle] = self.captured.pop(int(stream))
        return real.CUgraph(handle)

    def _now_or_captured(self, stream: Any, work: Callable[[], object]) -> None:
        """Do it, or keep it as the next node of the graph that the stream is captured into."""
        graph = self.captured.get(int(stream))
        if graph is None:
            work()
            return
        handle = next(NUMBERS)
        graph.nodes[handle] = Node(handle, tuple(graph.nodes)[-1:], work=work)
