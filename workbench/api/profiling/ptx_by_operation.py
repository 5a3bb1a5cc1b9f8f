"""PTX whose `.loc` lines are the numbers of IR operations (`backends/cuda/operation_lines.py`)."""

from __future__ import annotations

from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend, build
from workbench.backends.cuda.emit import EmittedKernel, emit_kernel
from workbench.backends.cuda.lines import repeated
from workbench.backends.cuda.operation_lines import NUMBERS, lines_by_operation
from workbench.cache.folder.entry import Entry
from workbench.cache.key import Key, Part
from workbench.cache.store import default_store
from workbench.ir.values import Function

FILE = f"/cell/{NUMBERS.label}"
"""The file of the PTX whose lines are operations."""


def numbered_ptx(function: Function, options: Options, arch: str) -> tuple[EmittedKernel, str]:
    """Return the CUDA C++ text of a function, and its PTX for an architecture, compiled or from the cache.

    Raises:
        BuildError, DeviceError: NVRTC refused the text, is missing, or does not know the architecture.
    """
    emitted = emit_kernel(lines_by_operation(function), options, arch, lines=True)
    text = repeated(emitted.text)
    backend, kind = CudaBackend(arch), "ptx with lines"
    version = backend.version(arch)
    key = Key(
        (
            Part("code", "code", text.encode()),
            Part("fast_math", "option", bytes([options.fast_math])),
            Part("kind", "option", kind.encode(), kind),
            Part("target", "target", arch.encode(), arch),
            Part("compiler", "compiler", version.encode(), version),
        )
    )
    store = default_store()
    entry = store.get(key.digest)
    if entry is None:
        image = build(text, options, arch, kind, function.name).image.rstrip(b"\0")
        name = f"{function.name} (PTX to count)"
        entry = Entry(image, {"name": name, "entry": name, "backend": backend.name, "target": arch, "stages": {}})
        store.put(key.digest, entry)
    return emitted, entry.image.decode()
