"""A CUDA C++ text compiled by NVRTC, or found in the cache: for a GPU, or for an emulated device.

One artifact a text, since a text is compiled as a whole; its key is the whole text with what it includes, macros,
options, target and compiler. The events are those of other kernels, so a card shows it in the same way.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import msgspec

from workbench.backends.base import Options
from workbench.backends.cuda.compile import nvrtc
from workbench.backends.cuda.user_source.preprocess import Whole, placed, warnings
from workbench.backends.cuda.user_source.signature import Signature
from workbench.cache.folder.entry import Entry
from workbench.cache.key import Key, Part
from workbench.cache.store import default_store
from workbench.config import settings
from workbench.errors import BuildError
from workbench.events import CacheHit, CacheMiss, CompileDone, CompileStarted, Notice, StageDone, publish
from workbench.work import go_on

EMULATED = "emulated"
"""What precedes the architecture in the target of PTX for emulated devices: `emulated sm_90`."""
SANITIZED = "emulated with checks"
"""The same for PTX whose accesses are looked at."""
FORCED = "recompilation was requested"
_LAST_KEYS: dict[str, Key] = {}
_WHY: dict[str, tuple[str, ...]] = {}


class Program(msgspec.Struct, frozen=True):
    """What is compiled.

    Attributes:
        whole: the text with its includes.
        kernels: what is called of it.
        defines: macros by name, as they are spelled.
        fast_math: allow approximate maths.
    """

    whole: Whole
    kernels: tuple[Signature, ...]
    defines: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    fast_math: bool = False

    @property
    def name(self) -> str:
        """What people call it: its kernels."""
        return ", ".join(k.name for k in self.kernels)

    @property
    def text(self) -> str:
        """What is compiled."""
        return "".join(f"#define {n} {v}\n" for n, v in self.defines.items()) + self.whole.text


def key_of(made: Program, target: str) -> Key:
    """The key of a program's artifact."""
    parts = [Part(f"constant {n}", "constant", v.encode(), v) for n, v in sorted(made.defines.items())]
    compiler = nvrtc.CudaBackend().version()
    parts.append(Part("code", "code", made.whole.text.encode()))
    parts.append(Part("names", "extra", made.name.encode()))
    parts.append(Part("option fast_math", "option", b"1" if made.fast_math else b"0", str(made.fast_math)))
    parts.append(Part("target", "target", target.encode(), target))
    parts.append(Part("compiler", "compiler", compiler.encode(), compiler))
    return Key(tuple(parts))


def find(made: Program, target: str, force: bool = False) -> tuple[Key, Entry]:
    """The artifact of a program for `sm_XX` or `emulated sm_XX`: from the cache, else compiled.

    Raises:
        BuildError: the compiler refused the text; at its lines, several as CellErrors.
        DeviceError: there is no compiler, or it does not know the target.
    """
    go_on()
    started = time.perf_counter()
    key = key_of(made, target)
    store = default_store()
    entry = None if force else store.get(key.digest)
    _remember(made, key, force)
    if entry is not None:
        seconds = time.perf_counter() - started
        for n, kernel in enumerate(made.kernels):
            facts = {**_facts(entry, kernel.name), "built": entry.built}
            publish(CacheHit(kernel.name, "forward", key.digest, entry.where, 0.0 if n else seconds, facts))
        return key, entry
    for kernel in made.kernels:
        publish(CacheMiss(kernel.name, "forward", key.digest, why(kernel.name)))
        publish(CompileStarted(kernel.name, "forward", _backend(target), target))
    with store.lock(key.digest):
        clock = time.perf_counter()
        entry = _compiled(made, target)
        spent = {"nvrtc": time.perf_counter() - clock}
        store.put(key.digest, entry)
    seconds = time.perf_counter() - started
    for n, kernel in enumerate(made.kernels):
        stages = {} if n else spent
        for stage, took in stages.items():
            publish(StageDone(kernel.name, "forward", stage, took))
        publish(
            CompileDone(kernel.name, "forward", key.digest, 0.0 if n else seconds, stages, _facts(entry, kernel.name))
        )
    return key, entry


def target_for(kind: str, arch: str, sanitized: bool = False) -> str:
    """The target of code for devices of a kind and an architecture; on emulated ones, to be sanitized."""
    return f"{SANITIZED if sanitized else EMULATED} {arch}" if kind == EMULATED else arch


def _backend(target: str) -> str:
    return EMULATED if target.startswith(EMULATED) else "cuda"


def why(name: str) -> tuple[str, ...]:
    """What differed from the key before, when the text that defines this kernel was last built."""
    return _WHY.get(name, ())


def _remember(made: Program, key: Key, force: bool) -> None:
    for kernel in made.kernels:
        before = _LAST_KEYS.get(kernel.name)
        if before is None or before.digest != key.digest or force:
            _WHY[kernel.name] = (FORCED,) if force else key.explain(before) if before else ()
            _LAST_KEYS[kernel.name] = key


def _facts(entry: Entry, kernel: str) -> dict[str, Any]:
    return {**entry.metadata, **entry.metadata.get("kernels", {}).get(kernel, {})}


def _compiled(made: Program, target: str) -> Entry:
    facts: dict[str, Any] = {"name": made.name, "entry": made.kernels[0].name if made.kernels else "", "stages": {}}
    backend, arch = _backend(target), target.split()[-1]
    kind = nvrtc.SANITIZED if target.startswith(SANITIZED) else nvrtc.IMAGES[backend]
    if kind == "ptx":  # what the emulated device cannot execute is named with its line
        kind = "ptx with lines"
    try:
        built = nvrtc.build(made.text, Options(fast_math=made.fast_math), arch, kind, made.name, _around(made))
    except BuildError as error:
        raise placed(error, made.whole) from None
    for said in warnings(built.log, made.whole):
        publish(Notice(said))
    used = nvrtc.resources_by_kernel(built.log)
    kernels = {name: {"symbol": symbol, **used.get(symbol, {})} for name, symbol in built.names.items()}
    return Entry(built.image, {**facts, "backend": backend, "target": arch, "kernels": kernels})


def _around(made: Program) -> nvrtc.Around:
    flags: tuple[str, ...] = ()
    if made.whole.own:
        folder = settings().cache_dir / f"nvrtc-headers-{nvrtc.CudaBackend().version().split(',')[0].split()[-1]}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = (f"--use-bundled-headers={folder.absolute()}",)
    return nvrtc.Around(tuple(k.name for k in made.kernels), flags)


def ptx(made: Program, target: str) -> str:
    """The PTX, for reading.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    return _ptx(made, target, "ptx").image.decode().rstrip("\0")


def ptx_with_lines(made: Program, target: str) -> tuple[str, Mapping[str, str]]:
    """The PTX with the places that `Whole.at` understands, and the symbols of the kernels by name.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    built = _ptx(made, target, "ptx with lines")
    return built.image.decode().rstrip("\0"), built.names


def _ptx(made: Program, target: str, kind: str) -> nvrtc.Built:
    try:
        return nvrtc.build(made.text, Options(fast_math=made.fast_math), target, kind, made.name, _around(made))
    except BuildError as error:
        raise placed(error, made.whole) from None


def resources(made: Program, target: str, kernel: str) -> Mapping[str, int]:
    """What ptxas said of a kernel: registers, spills, shared memory.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    return _facts(find(made, target)[1], kernel)
