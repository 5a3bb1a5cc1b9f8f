"""An FFI target: a loaded kernel with its description, registered with XLA under a name made from its content.

XLA can neither replace nor remove a target, so the name says what it does and the code stays for the process's life.
The store keeps what a name stands for, so that another process can register it without the kernel's text: that is what
an exported program needs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from workbench.backends.cpu import jit
from workbench.cache.disk import Entry
from workbench.cache.key import Key, Part
from workbench.cache.native import load_kernel, native_image
from workbench.cache.store import default_store
from workbench.errors import CacheError
from workbench.forks import fork_safe_lock
from workbench.interop.jax.native import edits, registry
from workbench.interop.jax.native.descriptor import DESCRIPTION, OUTDATED, THUNK, Description, completed, handler_text
from workbench.interop.jax.native.thunk import thunk_imports, thunk_source, thunk_text
from workbench.interop.jax.values.library import library
from workbench.ir.data import Unwritable, from_data, to_data
from workbench.ir.values import Function

_lock = fork_safe_lock(__name__, "_lock")
_registered: dict[str, int] = {}
_thunks_lock = fork_safe_lock(__name__, "_thunks_lock")
_thunks: dict[str, int] = {}
_code: list[jit.CpuCode] = []
NAME = re.compile(r"workbench\.[^\"\s]+?\.[0-9a-f]{32}")


@dataclass(frozen=True)
class Target:
    """Represents the code that a launch under XLA calls; equal names, made from the content, mean equal targets.

    Attributes:
        name: the name under which XLA knows it.
        description: its wires.
        code: the kernel's, which XLA will call as long as the process lives.
        digest: the module key of the kernel's code.
        function: makes its IR, where the code has checks: for the text of its faults.
        origin: returns what its code is made from, as JSON values; None for a target that is not rebuilt elsewhere.
        is_exported: whether exported programs call it, which keep their version of the kernel.
    """

    name: str
    description: Description = field(compare=False, repr=False)
    code: jit.CpuCode = field(compare=False, repr=False)
    digest: str = field(compare=False, repr=False)
    function: Callable[[], Function] | None = field(default=None, compare=False, repr=False)
    origin: Callable[[], Any] | None = field(default=None, compare=False, repr=False)
    is_exported: bool = field(default=False, compare=False, repr=False)

    @cached_property
    def exported(self) -> Target:
        """The same code under another name, for exported programs: an edit of the kernel never stops it."""
        # "2": the store keeps the origin of these, too.
        name = content_name(self.description, self.digest, "exported 2")
        return replace(self, name=name, is_exported=True)

    def register(self) -> None:
        """Register the target with XLA for the CPU, once per process, and write it to the store."""
        if make_known(self.name, self.thunk):
            self.keep()

    def keep(self) -> None:
        """Write to the store what the target's name stands for, so that another process can register it."""
        keep(self.name, self._described)

    def _described(self) -> dict[str, Any]:
        """Return, as JSON values, what the store holds under the target's name.

        These are its artifact and description, the IR of code with checks, and the origin of an exported target. IR
        or an origin that cannot be written is left out.
        """
        described: dict[str, Any] = {"artifact": self.digest, "description": self._text}
        if self.function is not None:
            # Without the IR a fault in another process is reported by numbers instead of lines; the program still runs.
            with suppress(Unwritable):
                described["function"] = to_data(self.function())
        if self.is_exported and self.origin is not None:
            with suppress(Unwritable):
                described["origin"] = self.origin()
                described |= {"label": self.description.kernel, "late": self.description.late}
        return described

    @cached_property
    def _text(self) -> str:
        """The LLVM IR of the target's description and thunk."""
        return f"{self.description.to_llvm_ir()}\n{thunk_source(self.description)}"

    def thunk(self) -> int:
        """Return the address of a handler for this kernel; its code is never unloaded."""
        if self.function is not None:
            registry.functions[self.name] = self.function
        return _thunk(self.name, self._text, self.code)


def make_target(
    description: Description,
    digest: str,
    code: jit.CpuCode,
    function: Callable[[], Function] | None = None,
    origin: Callable[[], Any] | None = None,
) -> Target:
    """Create the target of a launch, named by its content; it is not registered with XLA yet.

    Args:
        description: its wires.
        digest: the module key of the artifact that the code was loaded from.
        code: the loaded code.
        function: makes the code's IR, where the code has checks.
        origin: returns what the code is made from, as JSON values; None for a target that is not rebuilt elsewhere.
    """
    return Target(content_name(description, digest), description, code, digest, function, origin)


def content_name(description: Description, digest: str, *more: str) -> str:
    """Return the name of a target: a hash of its description, of its code's digest and of `more`."""
    content = hashlib.sha256()
    # Also the handler's text: a new version of it is another target, and never meets an old description.
    for part in (handler_text(), description.to_llvm_ir(), thunk_source(description), digest, *more):
        data = part.encode()
        # With lengths, so that no two lists of parts give one string of bytes.
        content.update(len(data).to_bytes(8, "big"))
        content.update(data)
    name = description.kernel.replace(" ", "_").replace("(", "").replace(")", "")
    return f"workbench.{name}.{content.hexdigest()[:32]}"


def registered() -> tuple[str, ...]:
    """Return the names of all targets that were registered with XLA in this process."""
    return tuple(_registered)


def keep(name: str, described: Callable[[], dict[str, Any]]) -> None:
    """Write to the store what a target's name stands for; `described` is called only if the store lacks it."""
    key, store = _key(name), default_store()
    if store.get(key.digest) is None:
        metadata = {"name": name, "entry": THUNK, "backend": "cpu", "target": "", "stages": {}}
        store.put(key.digest, Entry(json.dumps(described()).encode(), metadata))


def stored_description(name: str) -> dict[str, Any]:
    """Return what the store says a target's name stands for.

    Raises:
        CacheError: it does not hold the name.
    """
    entry = default_store().get(_key(name).digest)
    if entry is None:
        raise _missing(name)
    return json.loads(entry.image)


def _missing(name: str) -> CacheError:
    """Return the error for a target that the cache does not hold."""
    return CacheError(
        f"The cache does not hold the kernel {name.split('.')[1]} that this program calls as {name}.",
        advice="Run the program that made it once with this cache folder (WORKBENCH_CACHE).",
    )


def thunk_named(name: str) -> int:
    """Return the address of the handler of a target that the store describes by name.

    Raises:
        CacheError: the store does not hold it, or its kernel's code.
    """
    described = stored_description(name)
    artifact = default_store().get(described["artifact"])
    if artifact is None:
        raise _missing(name)
    if "function" in described:
        registry.functions.setdefault(name, partial(from_data, described["function"]))
    code = load_kernel(artifact.image, artifact.metadata["entry"])
    return _thunk(name, completed(described["description"]), code)


def _key(name: str) -> Key:
    """Return the key under which the store holds a target of this name."""
    return Key((Part("jax target", "code", name.encode(), name),))


def make_known(name: str, thunk: Callable[[], int]) -> bool:
    """Register a target with XLA for the CPU, once per process; return whether it was new.

    JAX's backend is started first: a registration queued before it exists would break the user's first operation if it
    were refused.
    """
    jax = library().jax
    with _lock:
        if name in _registered:
            return False
        # Starts the backend: see above.
        jax.devices("cpu")
        address = thunk()
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(address), platform="cpu")
        _registered[name] = address
        return True


def make_known_on_gpus(name: str, thunks: Callable[[], dict[str, int]]) -> None:
    """Register a target with XLA for CUDA, once per process; `thunks` returns its handlers by XLA's stage."""
    jax = library().jax
    with _lock:
        if name not in _registered:
            jax.devices()
            stages = thunks()
            bundle = {stage: jax.ffi.pycapsule(address) for stage, address in stages.items()}
            jax.ffi.register_ffi_target(name, bundle, platform="CUDA")
            _registered[name] = stages["execute"]


def _thunk(name: str, llvm_ir: str, kernel: jit.CpuCode) -> int:
    """Return the address of the thunk of the target `name`, compiled at the first call and kept for all threads.

    Args:
        name: the target's name.
        llvm_ir: what the thunk is made from.
        kernel: the code that it calls.
    """
    with _thunks_lock:
        if name not in _thunks:
            # Without optimisation, since a thunk is branches and moves.
            image = native_image(THUNK, thunk_text(llvm_ir), optimise=False)
            word = (OUTDATED,) if f"@{OUTDATED}" in llvm_ir else ()  # exports of before have none, and need none
            symbols, imports = (THUNK, DESCRIPTION, *word), thunk_imports(kernel.address)
            code = for_ever(jit.load_symbols(image, symbols, imports, needs=[kernel]))
            if word:
                edits.watch_word(name, code.addresses[OUTDATED])
            registry.names[code.addresses[DESCRIPTION]] = name
            _thunks[name] = code.address
        return _thunks[name]


def for_ever(code: jit.CpuCode) -> jit.CpuCode:
    """Keep code that XLA is given, since XLA cannot be asked to forget a target; return it."""
    _code.append(code)
    return code
