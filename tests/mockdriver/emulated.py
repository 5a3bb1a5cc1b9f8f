"""CUDA devices on the mock driver: arrays, launches, streams and graphs walk the real way down to it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mockdriver import MockDriver

from workbench.backends.base import Artifact, Options
from workbench.backends.cuda import copies
from workbench.backends.cuda.compile.nvrtc import Built, CudaBackend
from workbench.backends.cuda.emit import emit_kernel, entry_name
from workbench.backends.prints import prints
from workbench.ir import Function
from workbench.runtime.device import device_code
from workbench.runtime.device import driver as layer

HOSTSHIM = Path(__file__).parents[1] / "hostshim"
if str(HOSTSHIM) not in sys.path:
    sys.path.insert(0, str(HOSTSHIM))

import hostshim  # noqa: E402

HostLibrary = hostshim.Library  # the name may be given to another later: see tests/gpu/repeated.py


def compile_for_host(self: CudaBackend, function: Function, options: Options, target: str = "") -> Artifact:
    """In place of NVRTC: a shared object."""
    library = HostLibrary([function], options)
    facts: dict[str, Any] = {
        "entry": entry_name(function), "backend": "cuda", "target": target, "stages": {}, "log": "",
    }  # fmt: skip
    shared = emit_kernel(function, options).dynamic_shared
    facts |= {"prints": True} if prints(function) else {}
    return Artifact(library.image, facts | ({"dynamic_shared": shared} if shared else {}))


def build_for_host(text: str, options: Options, target: str, kind: str, function: str = "") -> Built:
    """In place of NVRTC for our own kernels."""
    own = ["unsigned long long", "const int*"] if function == copies.CONDITION else None
    types = own or ["wb_move", "long long", "unsigned long long"]
    return Built(hostshim.built_text(text, function, types), "")


@contextlib.contextmanager
def device(monkeypatch: Any, devices: int = 1) -> Iterator[MockDriver]:
    """Makes `cuda:0` and the others be there, for as long as the monkeypatch lasts; ends with no problem noted."""
    mock = MockDriver(devices)
    found = layer.probe(lambda: None, lambda: (mock.core, mock))
    assert found.driver is not None, found.reason
    monkeypatch.setattr(layer, "_probe", lambda: found)
    monkeypatch.setattr(CudaBackend, "compile", compile_for_host)
    monkeypatch.setattr(device_code, "build", build_for_host)
    yield mock
    assert not mock.problems, mock.problems
