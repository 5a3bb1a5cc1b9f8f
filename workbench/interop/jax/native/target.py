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
from workbench.cache.folder.entry import Entry
from workbench.cache.key import Key, Part
from workbench.cache.native import load_kernel, native_image
from workbench.cache.store import default_store
from workbench.errors import CacheError
from workbench.forks import renewed
from workbench.interop.jax.native import edits, registry
from workbench.interop.jax.native.descriptor import DESCRIPTION, OUTDATED, THUNK, Description, completed
from workbench.interop.jax.native.handler import handler_text
from workbench.interop.jax.native.thunk import thunk_imports, thunk_source, thunk_text
from workbench.interop.jax.values.library import library
from workbench.ir.data import Unwritable, from_data, to_data
from workbench.ir.values import Function

_lock = renewed(__name__, "_lock")
_registered: dict[str, int] = {}
_thunks_lock = renewed(__name__, "_thunks_lock")
_thunks: dict[str, int] = {}
_kept: list[jit.CpuCode] = []
NAME = re.compile(r"workbench\.[^\"\s]+?\.[0-9a-f]{32}")


@dataclass(frozen=True)
class Target:
    """The code that a launch under XLA calls; two targets are equal where their names, derived from their content, are.

    Attributes:
        name: the name under which XLA knows it.
        description: its wires.
        code: the kernel's, which XLA will call as long as the process lives.
        digest: the module key of the kernel's code.
        function: makes its IR, where the code has checks: for the text of its faults.
        origin: what its code is made from, as JSON values; None if that has no such form.
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
        """The same for programs that are exported: it keeps its version whatever becomes of the kernel."""
        # "2": the store keeps the origin of these, too.
        name = content_name(self.description, self.digest, "exported 2")
        return replace(self, name=name, is_exported=True)

    def register(self) -> None:
        """Make the target known to XLA for CPU; once per process, after JAX's backend is up."""
        if make_known(self.name, self.thunk):
            self.keep()

    def keep(self) -> None:
        """Let the store say what the name stands for."""
        keep(self.name, self._described)

    def _described(self) -> dict[str, Any]:
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
        return f"{self.description.text()}\n{thunk_source(self.description)}"

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
    """Create the target of a kernel whose code was loaded from the artifact `digest`; `function` and `origin` as
    there."""
    return Target(content_name(description, digest), description, code, digest, function, origin)


def content_name(description: Description, digest: str, *more: str) -> str:
    """Return the name of a target, made from all that it does; `digest` is that of its code."""
    content = hashlib.sha256()
    # Also the handler's text: a new version of it is another target, and never meets an old description.
    for part in (handler_text(), description.text(), thunk_source(description), digest, *more):
        data = part.encode()
        # With lengths, so that no two lists of parts give one string of bytes.
        content.update(len(data).to_bytes(8, "big"))
        content.update(data)
    name = description.kernel.replace(" ", "_").replace("(", "").replace(")", "")
    return f"workbench.{name}.{content.hexdigest()[:32]}"


def registered() -> tuple[str, ...]:
    """Return the names that XLA knows."""
    return tuple(_registered)


def keep(name: str, described: Callable[[], dict[str, Any]]) -> None:
    """Let the store say what a target's name stands for; it is asked where the store does not say it yet."""
    key, store = _key(name), default_store()
    if store.get(key.digest) is None:
        metadata = {"name": name, "entry": THUNK, "backend": "cpu", "target": "", "stages": {}}
        store.put(key.digest, Entry(json.dumps(described()).encode(), metadata))


def kept(name: str) -> dict[str, Any]:
    """Return the store's data of a name.

    Raises:
        CacheError: nothing.
    """
    entry = default_store().get(_key(name).digest)
    if entry is None:
        raise _missing(name)
    return json.loads(entry.image)


def _missing(name: str) -> CacheError:
    return CacheError(
        f"The cache does not hold the kernel {name.split('.')[1]} that this program calls as {name}.",
        advice="Run the program that made it once with this cache folder (WORKBENCH_CACHE).",
    )


def thunk_named(name: str) -> int:
    """Return the address of the handler that a kernel's kept target had.

    Raises:
        CacheError: the store does not hold it.
    """
    described = kept(name)
    artifact = default_store().get(described["artifact"])
    if artifact is None:
        raise _missing(name)
    if "function" in described:
        registry.functions.setdefault(name, partial(from_data, described["function"]))
    code = load_kernel(artifact.image, artifact.metadata["entry"])
    return _thunk(name, completed(described["description"]), code)


def _key(name: str) -> Key:
    return Key((Part("jax target", "code", name.encode(), name),))


def make_known(name: str, thunk: Callable[[], int]) -> bool:
    """Make a target known to XLA, once; whether it was new.

    A registration queued before the backend exists would break the user's first operation if it were refused.
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
    """Make a target known to XLA for CUDA, once: a handler for each of XLA's stages that it has something to do in."""
    jax = library().jax
    with _lock:
        if name not in _registered:
            jax.devices()
            stages = thunks()
            bundle = {stage: jax.ffi.pycapsule(address) for stage, address in stages.items()}
            jax.ffi.register_ffi_target(name, bundle, platform="CUDA")
            _registered[name] = stages["execute"]


def _thunk(name: str, text: str, kernel: jit.CpuCode) -> int:
    """Return the address of the thunk of a name: one per name, also where several threads ask for it."""
    with _thunks_lock:
        if name not in _thunks:
            # Without optimisation, since a thunk is branches and moves.
            image = native_image(THUNK, thunk_text(text), optimise=False)
            word = (OUTDATED,) if f"@{OUTDATED}" in text else ()  # exports of before have none, and need none
            symbols, imports = (THUNK, DESCRIPTION, *word), thunk_imports(kernel.address)
            code = for_ever(jit.load_symbols(image, symbols, imports, needs=[kernel]))
            if word:
                edits.watch_word(name, code.addresses[OUTDATED])
            registry.names[code.addresses[DESCRIPTION]] = name
            _thunks[name] = code.address
        return _thunks[name]


def for_ever(code: jit.CpuCode) -> jit.CpuCode:
    """Keep code that XLA is given: it cannot be asked to forget a target."""
    _kept.append(code)
    return code
