"""The emulated devices behind the stand-in: their memory is the stand-in's, and they run its kernels.

So `cuda:0` is a device with the real cuda-bindings, on which kernels have results. Code for it is PTX, as
nothing here executes cubins.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from typing import Any

from tests.support.cuda_driver.stand_in import library
from workbench.backends.cuda.compile import nvrtc
from workbench.backends.cuda.compile.nvrtc import CudaBackend, EmulatedBackend
from workbench.runtime.device.driver import bindings
from workbench.runtime.emulated import execution
from workbench.runtime.emulated.code import Executable, Kernel, Launch
from workbench.runtime.emulated.state import State
from workbench.runtime.emulated.status_error import CudaStatusError

FIELDS = {
    "alloc": CFUNCTYPE(c_uint64, c_int32, c_uint64),
    "release": CFUNCTYPE(None, c_uint64),
    "load": CFUNCTYPE(c_int64, c_char_p),
    "kernel": CFUNCTYPE(c_int64, c_int64, c_char_p, POINTER(c_uint64)),
    "run": CFUNCTYPE(c_int32, c_int64, c_int32, POINTER(c_uint32), POINTER(c_void_p)),
    "allow": CFUNCTYPE(None, c_int32, c_int32, c_int32),
    "flush": CFUNCTYPE(None),
}
"""The functions of `Executor` in state.h."""


class _Executor(Structure):
    _fields_ = tuple(FIELDS.items())


class _State(State):
    """What the emulated devices hold, but for the conditions of graphs, which the stand-in has."""

    def _set_condition(self, handle: int, value: int) -> None:
        assert library().standin_set_condition(c_void_p(handle), c_uint32(value)) == 0


class Executor:
    """Serves the stand-in of this process."""

    def __init__(self, memory: int) -> None:
        self.state = _State(bindings(), execution.load, memory)
        self.modules: list[Executable] = []
        self.kernels: list[Kernel] = []
        self.errors: list[BaseException] = []
        self.table = _Executor(*(kind(self._noting(getattr(self, name))) for name, kind in FIELDS.items()))

    def _noting(self, do: Callable[..., Any]) -> Callable[..., Any]:
        """Keep what `do` raises, which no exception can carry through the stand-in; it then answers -1."""

        def call(*args: Any) -> Any:
            try:
                return do(*args)
            except Exception as error:
                self.errors.append(error)
                return -1

        return call

    def alloc(self, device: int, nbytes: int) -> int:
        """Memory of a device; pinned memory for -1."""
        try:
            return self.state.alloc(nbytes, device).start
        except CudaStatusError:
            return 0

    def release(self, address: int) -> None:
        """Free it."""
        self.state.free(address)

    def load(self, text: bytes) -> int:
        """The number of the code."""
        self.modules.append(self.state.load(text, self.state.devices[0]))
        return len(self.modules) - 1

    def kernel(self, module: int, name: bytes, sizes: Any) -> int:
        """The number of a kernel; the sizes of its parameters go to `sizes`."""
        made = self.state.kernel(self.modules[module], name.decode())
        assert len(made.entry.param_sizes) <= 64
        for place, size in enumerate(made.entry.param_sizes):
            sizes[place] = size
        self.kernels.append(made)
        return len(self.kernels) - 1

    def run(self, kernel: int, device: int, shape: Any, values: Any) -> int:
        """Run a launch; the status that breaks the device, or 0."""
        found = self.kernels[kernel]
        gx, gy, gz, bx, by, bz, shared = shape[:7]
        params = tuple(ctypes.string_at(values[n], size) for n, size in enumerate(found.entry.param_sizes))
        try:
            self.state.run(found, Launch((gx, gy, gz), (bx, by, bz), params, shared), device)
        except CudaStatusError as refused:
            return int(getattr(self.state.api.CUresult, refused.status))
        return 0

    def allow(self, owner: int, peer: int, flags: int) -> None:
        """Let a device reach another's memory, or not."""
        (self.state.peers.add if flags else self.state.peers.discard)((owner, peer))

    def flush(self) -> None:
        """Write what kernels have printed."""
        self.state.flush()


_serving: list[Executor] = []


def serve(memory: int = 8 << 30) -> Executor:
    """Let the emulated devices run the kernels of this process's stand-in, from before the first use of CUDA on."""
    if not _serving:
        _serving.append(Executor(memory))
        library().standin_execute(ctypes.byref(_serving[0].table))
        CudaBackend.kind = EmulatedBackend.kind
        version = CudaBackend.version
        CudaBackend.version = lambda self, *target: f"{version(self, *target)}, for the stand-in"  # its own keys
        nvrtc.IMAGES["cuda"] = EmulatedBackend.kind
    return _serving[0]
