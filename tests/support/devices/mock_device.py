"""`cuda:0`, `cuda:1`, … for tests: the emulated driver under the name of CUDA's, with errors injected and calls kept.

It is no evidence of what hardware does.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cuda.bindings import driver as real

from workbench.api.builds import build
from workbench.backends.cuda.compile import nvrtc
from workbench.backends.cuda.compile.nvrtc import CudaBackend, EmulatedBackend
from workbench.runtime.device import driver as layer
from workbench.runtime.emulated import execution
from workbench.runtime.emulated.api import EmulatedDriver, is_call
from workbench.runtime.emulated.code import Entry, Executable, Launch
from workbench.runtime.emulated.graphs import Executing, Graph
from workbench.runtime.emulated.streams import Event

CAPACITY = 1 << 24
"""Bytes of each device."""
STICKY = (700, 719)


class MockDriver:
    """Stands for the module `cuda.bindings.driver`.

    Attributes:
        calls: name and arguments of each call.
        answers: name to the value to return.
        failing: name to the status to return in place of an answer.
        broken: a status that every call returns.
        strangers: pairs of a device and a peer that it cannot reach.
        launches: blocks and threads of each launch that has run.
    """

    def __init__(self, devices: int = 1) -> None:
        self.answers: dict[str, Any] = {"cuDeviceGetCount": devices}
        self.calls: list[tuple[Any, ...]] = []
        self.failing: dict[str, Any] = {}
        self.broken: Any = None
        self.strangers: set[tuple[int, int]] = set()
        self.launches: list[tuple[int, int]] = []
        self._inner = EmulatedDriver(real, self._load, CAPACITY)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._injecting(name, found) if is_call(name) and name != "cuGetErrorString" else found

    def _injecting(self, name: str, inner: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
        def call(*args: Any) -> tuple[Any, ...]:
            self.calls.append((name, *args))
            if self.broken is not None or name in self.failing:
                status = self.broken if self.broken is not None else self.failing[name]
                self.broken = status if int(status) in STICKY else self.broken
                return (status,)
            if name in self.answers:
                return (real.CUresult.CUDA_SUCCESS, self.answers[name])
            if name == "cuDeviceCanAccessPeer" and tuple(map(int, args)) in self.strangers:
                return (real.CUresult.CUDA_SUCCESS, 0)
            return inner(*args)

        return call

    def _load(self, text: bytes, architecture: Any) -> Executable:
        return _Seen(execution.load(text, architecture), self.launches)

    def left(self, kinds: tuple[type, ...] = (Graph, Executing, Event)) -> list[Any]:
        """Graphs, executable graphs and events that were not given back."""
        return [thing for kind in kinds for _, thing in self._inner.state.handles.all(kind)]


class _Seen:
    """Code whose launches are kept."""

    def __init__(self, code: Executable, launches: list[tuple[int, int]]) -> None:
        self._code, self._launches = code, launches

    @property
    def entries(self) -> Mapping[str, Entry]:
        return self._code.entries

    @property
    def sanitized(self) -> bool:
        return self._code.sanitized

    @property
    def variables(self) -> Mapping[str, int]:
        return self._code.variables

    def addresses(self, machine: Any) -> Mapping[str, int]:
        return self._code.addresses(machine)

    def run(self, name: str, launch: Launch, machine: Any) -> None:
        self._launches.append((math.prod(launch.grid), math.prod(launch.block)))
        self._code.run(name, launch, machine)


@contextlib.contextmanager
def device(monkeypatch: Any, devices: int = 1) -> Iterator[MockDriver]:
    """Makes `cuda:0` and the others be there, for as long as the monkeypatch lasts."""
    mock = MockDriver(devices)
    monkeypatch.setattr(CudaBackend, "kind", EmulatedBackend.kind)
    monkeypatch.setattr(CudaBackend, "version", lambda self, target="": "mock")  # nothing made here is found by others
    monkeypatch.setitem(nvrtc.IMAGES, "cuda", EmulatedBackend.kind)
    found = layer.probe(lambda: None, lambda: mock)
    assert found.driver is not None, found.reason
    monkeypatch.setattr(layer, "_probe", lambda: found)
    monkeypatch.setattr(build, "_DEVICE_CODE", {})
    yield mock
