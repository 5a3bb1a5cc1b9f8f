"""Our own CUDA kernels (copies, sums, conditions of graphs) on a device: compiled once per machine, loaded once."""

from __future__ import annotations

import functools
from typing import Any

from workbench.backends.base import Options
from workbench.backends.cuda import copies
from workbench.cache.disk import Entry
from workbench.cache.key import Key, Part
from workbench.cache.store import default_store
from workbench.runtime.device.driver import Driver
from workbench.runtime.device.driver_calls import LoadedKernel


@functools.cache
def own_kernel(driver: Driver, index: int, entry: str) -> LoadedKernel:
    """Return the kernel of `backends/cuda/copies` with this name, loaded on a device at the first call.

    Raises:
        BuildError, DeviceError: NVRTC or the device refused it.
    """
    return driver.load(index, _image(entry, driver.arch(index), driver.kind), entry)


def _image(entry: str, arch: str, device_kind: str) -> bytes:
    """Return the image of one of our own kernels for an architecture, from the cache or compiled by NVRTC."""
    from workbench.backends.cuda.compile.nvrtc import IMAGES, CudaBackend, build

    kind = IMAGES[device_kind]
    cuda_source, compiler = copies.text(entry), CudaBackend().version(arch)
    key = Key(
        (
            Part("code", "code", cuda_source.encode()),
            Part("target", "target", arch.encode(), arch),
            Part("compiler", "compiler", compiler.encode(), compiler),
            *((Part("image", "target", kind.encode(), kind),) if kind != "cubin" else ()),
        )
    )
    store = default_store()
    stored = store.get(key.digest)
    if stored is None:
        metadata: dict[str, Any] = {"name": entry, "entry": entry, "backend": "cuda", "target": arch, "stages": {}}
        stored = Entry(build(cuda_source, Options(), arch, kind, entry).image, metadata)
        store.put(key.digest, stored)
    return stored.image
