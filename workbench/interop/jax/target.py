"""An FFI target: a loaded kernel with its description, registered with XLA under a name made from its content.

XLA can neither replace nor remove a target, so the name says what it does and the code stays for the process's life.
The store keeps what a name stands for, so that another process can register it without the kernel's text: that is what
an exported program needs.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from workbench.backends.cpu import jit
from workbench.backends.cpu.compile import CpuBackend, compile_text
from workbench.cache.entry import Entry
from workbench.cache.key import Key, Part
from workbench.cache.native import load_kernel
from workbench.cache.store import default_store
from workbench.errors import CacheError
from workbench.interop.jax import known
from workbench.interop.jax.descriptor import DESCRIPTION, THUNK, Description, thunk_text
from workbench.interop.jax.handler import handler_address, handler_text
from workbench.interop.jax.library import library

_lock = threading.Lock()
_registered: dict[str, int] = {}
_NAME = re.compile(r"workbench\.[^\"\s]+?\.[0-9a-f]{32}")


@dataclass(frozen=True)
class Target:
    """What a launch under XLA calls; two targets are equal where their names, made from their content, are.

    Attributes:
        name: the name under which XLA knows it.
        description: its wires.
        entry: address of the kernel's entry.
        digest: the module key of the kernel's code.
    """

    name: str
    description: Description = field(compare=False, repr=False)
    entry: int = field(compare=False, repr=False)
    digest: str = field(compare=False, repr=False)

    def register(self) -> None:
        """Make the target known to XLA for CPU; once a process, after JAX's backend is up."""
        if _register(self.name, self._text, self.entry):
            kept = json.dumps({"artifact": self.digest, "description": self._text}).encode()
            key = _key(self.name)
            store = default_store()
            if store.get(key.digest) is None:
                facts = {"name": self.name, "entry": THUNK, "backend": "cpu", "target": "", "stages": {}}
                store.put(key.digest, Entry(kept, facts))

    @cached_property
    def _text(self) -> str:
        return self.description.text()

    def thunk(self) -> int:
        """The address of a handler for this kernel, made now; its code is never unloaded."""
        return _thunk(self.name, self._text, self.entry)


def make_target(description: Description, digest: str, entry: int) -> Target:
    """The target of a kernel loaded from the artifact `digest`, with its entry's address."""
    content = hashlib.sha256()
    for part in (handler_text(), description.text(), digest):
        data = part.encode()
        content.update(len(data).to_bytes(8, "big"))
        content.update(data)
    name = description.kernel.replace(" ", "_").replace("(", "").replace(")", "")
    return Target(f"workbench.{name}.{content.hexdigest()[:32]}", description, entry, digest)


def registered() -> tuple[str, ...]:
    """The names that XLA knows."""
    return tuple(_registered)


def jax_preload(programs: Iterable[object] | object) -> tuple[str, ...]:
    """Make known to XLA the kernels of programs that this process did not trace: exported ones.

        exported = jax.export.deserialize(data)
        wb.jax_preload(exported)
        exported.call(x)

    Args:
        programs: an `Exported`, a program's text, a target's name, or several of these.

    Returns:
        The names of the targets found.

    Raises:
        CacheError: the cache does not hold one of the kernels.
    """
    found: dict[str, None] = {}
    for program in [programs] if isinstance(programs, str) or hasattr(programs, "mlir_module") else programs:  # type: ignore[union-attr]
        text = program if isinstance(program, str) else program.mlir_module()  # type: ignore[attr-defined]
        found |= dict.fromkeys(_NAME.findall(text))
    for name in found:
        if name not in _registered:
            _preload(name)
    return tuple(found)


def _preload(name: str) -> None:
    store = default_store()
    kept = store.get(_key(name).digest)
    artifact = None if kept is None else store.get(json.loads(kept.image)["artifact"])
    if kept is None or artifact is None:
        raise CacheError(
            f"The cache does not hold the kernel {name.split('.')[1]} that this program calls as {name}.",
            advice="Run the program that made it once with this cache folder (WORKBENCH_CACHE).",
        )
    code = load_kernel(artifact.image, artifact.metadata["entry"])
    _register(name, json.loads(kept.image)["description"], code.address)


def _key(name: str) -> Key:
    return Key((Part("jax target", "code", name.encode(), name),))


def _register(name: str, text: str, entry: int) -> bool:
    """Make a target known, once; whether it was new.

    A registration queued before the backend exists would break the user's first operation if it were refused.
    """
    jax = library().jax
    with _lock:
        if name in _registered:
            return False
        jax.devices("cpu")
        address = _thunk(name, text, entry)
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(address), platform="cpu")
        _registered[name] = address
        return True


def _thunk(name: str, text: str, entry: int) -> int:
    image = compile_text(thunk_text(text, entry, handler_address()), CpuBackend().target())
    code = jit.load_symbols(image, (THUNK, DESCRIPTION))
    known.names[code.addresses[DESCRIPTION]] = name
    return code.address
