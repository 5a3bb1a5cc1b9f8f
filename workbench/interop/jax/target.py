"""An FFI target: a loaded kernel with its description, registered with XLA under a name made from its content.

XLA can neither replace nor remove a target, so the name says what it does and the code stays for the process's life.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field

from workbench.backends.cpu.compile import CpuBackend, compile_text
from workbench.backends.cpu.jit import load
from workbench.interop.jax.descriptor import THUNK, Description
from workbench.interop.jax.handler import handler_address, handler_text
from workbench.interop.jax.library import library

_lock = threading.Lock()
_registered: dict[str, int] = {}


@dataclass(frozen=True)
class Target:
    """What a launch under XLA calls; two targets are equal where their names, made from their content, are.

    Attributes:
        name: the name under which XLA knows it.
        description: its wires.
        entry: address of the kernel's entry.
    """

    name: str
    description: Description = field(compare=False, repr=False)
    entry: int = field(compare=False, repr=False)

    def register(self) -> None:
        """Make the target known to XLA for CPU; once a process, after JAX's backend is up.

        A registration queued before the backend exists would break the user's first operation if it were refused.
        """
        jax = library().jax
        with _lock:
            if self.name in _registered:
                return
            jax.devices("cpu")
            address = self.thunk()
            jax.ffi.register_ffi_target(self.name, jax.ffi.pycapsule(address), platform="cpu")
            _registered[self.name] = address

    def thunk(self) -> int:
        """The address of a handler for this kernel, made now; its code is never unloaded."""
        text = self.description.thunk_text(self.entry, handler_address())
        return load(compile_text(text, CpuBackend().target()), THUNK).address


def make_target(description: Description, digest: str, entry: int) -> Target:
    """The target of a kernel loaded from the artifact `digest`, with its entry's address."""
    content = hashlib.sha256()
    for part in (handler_text(), description.text(), digest):
        data = part.encode()
        content.update(len(data).to_bytes(8, "big"))
        content.update(data)
    return Target(f"workbench.{description.kernel}.{content.hexdigest()[:32]}", description, entry)
