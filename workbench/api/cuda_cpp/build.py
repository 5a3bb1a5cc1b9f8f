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
from workbench.backends.cuda import toolkit
from workbench.backends.cuda.compile import nvrtc
from workbench.backends.cuda.user_source.preprocess import ExpandedSource, placed, unknown_names, warnings
from workbench.backends.cuda.user_source.probe import Element, asked, elements, probe
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
        source: the text with its includes.
        kernels: what is called of it; templates' instances, not templates.
        defines: macros by name, as they are spelled.
        fast_math: allow approximate maths.
        variables: those in the device's memory, by name.
        members: names of its classes' variables.
        typed: whether the kernels' types are known, so that NVRTC need not be asked.
    """

    source: ExpandedSource
    kernels: tuple[Signature, ...]
    defines: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    fast_math: bool = False
    variables: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    typed: bool = False

    @property
    def name(self) -> str:
        """What people call it: its kernels."""
        return ", ".join(k.name for k in self.kernels)

    @property
    def text(self) -> str:
        """What is compiled."""
        return "".join(f"#define {n} {v}\n" for n, v in self.defines.items()) + self.source.text


def key_of(made: Program, target: str) -> Key:
    """The key of a program's artifact."""
    parts = [Part(f"constant {n}", "constant", v.encode(), v) for n, v in sorted(made.defines.items())]
    compiler = nvrtc.CudaBackend().version(target.split()[-1])
    parts.append(Part("code", "code", made.source.text.encode()))
    names = "\n".join((made.name, *made.variables, "" if made.typed else probe(made.members)))
    parts.append(Part("names", "extra", names.encode(), made.name))
    parts.append(Part("option fast_math", "option", b"1" if made.fast_math else b"0", str(made.fast_math)))
    parts.append(Part("target", "target", target.encode(), target))
    parts.append(Part("compiler", "compiler", compiler.encode(), compiler))
    if made.source.own and (headers := toolkit.header_version(toolkit.compiler(target.split()[-1]))):
        parts.append(Part("headers", "compiler", headers.encode(), headers))
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
    built = _built(made, arch, kind, not made.typed)
    for said in warnings(built.log, made.source):
        publish(Notice(said))
    used = nvrtc.resources_by_kernel(built.log)
    kernels = {
        k.name: {"symbol": symbol, "types": built.names.get(asked(k.name), ""), **used.get(symbol, {})}
        for k in made.kernels if (symbol := built.names.get(k.name))
    }  # fmt: skip
    variables = {
        name: {"symbol": built.names.get(f"&{name}") or _mangled(name), "types": built.names[asked(name)]}
        for name in made.variables if asked(name) in built.names
    }  # fmt: skip
    return Entry(built.image, {**facts, "backend": backend, "target": arch, "kernels": kernels, "variables": variables})


def _mangled(name: str) -> str:
    """The symbol of a managed variable, whose address NVRTC takes for no constant."""
    parts = name.split("::")
    return name if len(parts) == 1 else f"_ZN{''.join(f'{len(p)}{p}' for p in parts)}E"


def types_of(made: Program, facts: Mapping[str, Any]) -> tuple[Element, ...]:
    """The parameters of a kernel, or a variable, of which these are an artifact's facts."""
    return elements(facts["types"], made.members)


def _built(made: Program, target: str, kind: str, types: bool = False) -> nvrtc.Built:
    """What NVRTC makes of a program, with the symbols of what is compiled: of all but what stands under an `#if`.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    text = made.text + probe(made.members) if types else made.text
    groups = [(k.name, asked(k.name)) if types else (k.name,) for k in made.kernels]
    groups += [(name,) for v in made.variables if types for name in (f"&{v}", asked(v))]
    while True:
        around = _around(made, tuple(name for group in groups for name in group), target)
        try:
            return nvrtc.build(text, Options(fast_math=made.fast_math), target, kind, made.name, around)
        except BuildError as error:
            unknown = unknown_names(error.log)
            left = [group for group in groups if not unknown.intersection("".join(n.split()) for n in group)]
            if len(left) == len(groups):
                raise placed(error, made.source) from None
            groups = left


def _around(made: Program, names: tuple[str, ...], target: str) -> nvrtc.Around:
    flags: tuple[str, ...] = ()
    if made.source.own:
        library = toolkit.compiler(target)
        flags = toolkit.header_options(library, settings().cache_dir / f"nvrtc-headers-{library.version}")
    if "thrust/complex.h" in made.source.own:  # whose stream operators have no annotation
        flags += ("--device-as-default-execution-space",)
    return nvrtc.Around(names, flags)


def ptx(made: Program, target: str) -> str:
    """The PTX, for reading.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    return _built(made, target, "ptx").image.decode().rstrip("\0")


def ptx_with_lines(made: Program, target: str) -> tuple[str, Mapping[str, str]]:
    """The PTX with the places that `ExpandedSource.at` understands, and the symbols of the kernels by name.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    built = _built(made, target, "ptx with lines")
    return built.image.decode().rstrip("\0"), built.names


def resources(made: Program, target: str, kernel: str) -> Mapping[str, int]:
    """What ptxas said of a kernel: registers, spills, shared memory.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    return _facts(find(made, target)[1], kernel)
