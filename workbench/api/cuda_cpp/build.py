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
from workbench.backends.cuda.user_source.probe import Element, elements, name_expression, probe
from workbench.backends.cuda.user_source.signature import Signature
from workbench.cache.disk import Entry
from workbench.cache.key import Key, Part
from workbench.cache.store import default_store
from workbench.config import settings
from workbench.errors import BuildError
from workbench.events import CacheHit, CacheMiss, CompileDone, CompileStarted, Notice, StageDone, publish
from workbench.work import go_on

EMULATED = "emulated"
"""The prefix of the architecture in targets of PTX for emulated devices: `emulated sm_90`."""
SANITIZED = "emulated with checks"
"""The prefix of the architecture in targets of PTX for emulated devices whose memory accesses are checked."""
FORCED = "recompilation was requested"
_LAST_KEYS: dict[str, Key] = {}
_WHY: dict[str, tuple[str, ...]] = {}


class Program(msgspec.Struct, frozen=True):
    """A CUDA C++ program to be compiled.

    Attributes:
        source: the text with its includes.
        kernels: the kernels that may be launched; instances of templates, not the templates.
        defines: macros by name, as they are spelled.
        fast_math: allow approximate maths.
        variables: names of variables in the device's memory.
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
        """The names of its kernels, separated by commas, as messages show it."""
        return ", ".join(k.name for k in self.kernels)

    @property
    def text(self) -> str:
        """The complete text that NVRTC compiles: `#define` lines, then the source."""
        return "".join(f"#define {n} {v}\n" for n, v in self.defines.items()) + self.source.text


def key_of(program: Program, target: str) -> Key:
    """Return the key under which a program compiled for a target is cached.

    It is made of the text, constants, names, options, target and compiler, and, where `source.own` is set, of the
    CUDA headers' version.
    """
    parts = [Part(f"constant {n}", "constant", v.encode(), v) for n, v in sorted(program.defines.items())]
    compiler = nvrtc.CudaBackend().version(target.split()[-1])
    parts.append(Part("code", "code", program.source.text.encode()))
    names = "\n".join((program.name, *program.variables, "" if program.typed else probe(program.members)))
    parts.append(Part("names", "extra", names.encode(), program.name))
    parts.append(Part("option fast_math", "option", b"1" if program.fast_math else b"0", str(program.fast_math)))
    parts.append(Part("target", "target", target.encode(), target))
    parts.append(Part("compiler", "compiler", compiler.encode(), compiler))
    if program.source.own and (headers := toolkit.header_version(toolkit.compiler(target.split()[-1]))):
        parts.append(Part("headers", "compiler", headers.encode(), headers))
    return Key(tuple(parts))


def find(program: Program, target: str, force: bool = False) -> tuple[Key, Entry]:
    """Return the key and artifact of a program for `sm_XX` or `emulated sm_XX`: from the cache, else compiled.

    Raises:
        BuildError: the compiler refused the text; at its lines, several as CellErrors.
        DeviceError: there is no compiler, or it does not know the target.
    """
    go_on()
    started = time.perf_counter()
    key = key_of(program, target)
    store = default_store()
    entry = None if force else store.get(key.digest)
    _remember(program, key, force)
    if entry is not None:
        seconds = time.perf_counter() - started
        for n, kernel in enumerate(program.kernels):
            metadata = {**_metadata_of(entry, kernel.name), "built": entry.built}
            publish(CacheHit(kernel.name, "forward", key.digest, entry.where, 0.0 if n else seconds, metadata))
        return key, entry
    for kernel in program.kernels:
        publish(CacheMiss(kernel.name, "forward", key.digest, why(kernel.name)))
        publish(CompileStarted(kernel.name, "forward", _backend(target), target))
    with store.lock(key.digest):
        clock = time.perf_counter()
        entry = _compiled(program, target)
        spent = {"nvrtc": time.perf_counter() - clock}
        store.put(key.digest, entry)
    seconds = time.perf_counter() - started
    for n, kernel in enumerate(program.kernels):
        stages = {} if n else spent
        for stage, took in stages.items():
            publish(StageDone(kernel.name, "forward", stage, took))
        publish(
            CompileDone(
                kernel.name, "forward", key.digest, 0.0 if n else seconds, stages, _metadata_of(entry, kernel.name)
            )
        )
    return key, entry


def target_for(kind: str, arch: str, sanitized: bool = False) -> str:
    """Return the target of code for devices of a kind ("cuda", "emulated") and an architecture such as `sm_90`.

    `sanitized` asks for checked memory accesses, which only emulated devices have.
    """
    return f"{SANITIZED if sanitized else EMULATED} {arch}" if kind == EMULATED else arch


def _backend(target: str) -> str:
    """Return the backend of a target: "emulated" for an emulated device, checked or not, else "cuda"."""
    return EMULATED if target.startswith(EMULATED) else "cuda"


def why(name: str) -> tuple[str, ...]:
    """Return what differed from the previous key when the text that defines this kernel was last built.

    Empty for a first build, or a kernel that was never built.
    """
    return _WHY.get(name, ())


def _remember(program: Program, key: Key, force: bool) -> None:
    """Note for each kernel of a program the key it is built under, and why it differs from the one before."""
    for kernel in program.kernels:
        before = _LAST_KEYS.get(kernel.name)
        if before is None or before.digest != key.digest or force:
            _WHY[kernel.name] = (FORCED,) if force else key.explain(before) if before else ()
            _LAST_KEYS[kernel.name] = key


def _metadata_of(entry: Entry, kernel: str) -> dict[str, Any]:
    """Return an entry's metadata as that of one kernel: the program's, with the kernel's own entries on top."""
    return {**entry.metadata, **entry.metadata.get("kernels", {}).get(kernel, {})}


def _compiled(program: Program, target: str) -> Entry:
    """Compile a program with NVRTC and return the entry, which is not stored; its warnings are published as notices.

    The entry's metadata has the symbol, types and resources of each kernel, and the symbol and type of each variable.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    metadata: dict[str, Any] = {
        "name": program.name,
        "entry": program.kernels[0].name if program.kernels else "",
        "stages": {},
    }
    backend, arch = _backend(target), target.split()[-1]
    kind = nvrtc.SANITIZED if target.startswith(SANITIZED) else nvrtc.IMAGES[backend]
    if kind == "ptx":  # what the emulated device cannot execute is named with its line
        kind = "ptx with lines"
    built = _built(program, arch, kind, not program.typed)
    for warning in warnings(built.log, program.source):
        publish(Notice(warning))
    used = nvrtc.resources_by_kernel(built.log)
    kernels = {
        k.name: {"symbol": symbol, "types": built.names.get(name_expression(k.name), ""), **used.get(symbol, {})}
        for k in program.kernels
        if (symbol := built.names.get(k.name))
    }
    variables = {
        name: {"symbol": built.names.get(f"&{name}") or _mangled(name), "types": built.names[name_expression(name)]}
        for name in program.variables
        if name_expression(name) in built.names
    }
    return Entry(
        built.image, {**metadata, "backend": backend, "target": arch, "kernels": kernels, "variables": variables}
    )


def _mangled(name: str) -> str:
    """Return the linker symbol of a managed variable, for which NVRTC gives none."""
    parts = name.split("::")
    return name if len(parts) == 1 else f"_ZN{''.join(f'{len(p)}{p}' for p in parts)}E"


def types_of(program: Program, metadata: Mapping[str, Any]) -> tuple[Element, ...]:
    """Return the types of a kernel's parameters, or of a variable, from the metadata of it in an artifact."""
    return elements(metadata["types"], program.members)


def _built(program: Program, target: str, kind: str, types: bool = False) -> nvrtc.Built:
    """Compile a program by NVRTC, with the symbols of the kernels that exist: an `#if` may leave some out.

    With `types` NVRTC is asked for the types of parameters and variables too.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    text = program.text + probe(program.members) if types else program.text
    groups = [(k.name, name_expression(k.name)) if types else (k.name,) for k in program.kernels]
    groups += [(name,) for v in program.variables if types for name in (f"&{v}", name_expression(v))]
    while True:
        around = _around(program, tuple(name for group in groups for name in group), target)
        try:
            return nvrtc.build(text, Options(fast_math=program.fast_math), target, kind, program.name, around)
        except BuildError as error:
            unknown = unknown_names(error.log)
            left = [group for group in groups if not unknown.intersection("".join(n.split()) for n in group)]
            if len(left) == len(groups):
                raise placed(error, program.source) from None
            groups = left


def _around(program: Program, names: tuple[str, ...], target: str) -> nvrtc.ExtraOptions:
    """Return NVRTC's additional options: names whose symbols are requested, and flags for headers in the text."""
    flags: tuple[str, ...] = ()
    if program.source.own:
        library = toolkit.compiler(target)
        flags = toolkit.header_options(library, settings().cache_dir / f"nvrtc-headers-{library.version}")
    if "thrust/complex.h" in program.source.own:  # whose stream operators have no annotation
        flags += ("--device-as-default-execution-space",)
    return nvrtc.ExtraOptions(names, flags)


def ptx(program: Program, target: str) -> str:
    """Compile a program to PTX and return its text.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    return _built(program, target, "ptx").image.decode().rstrip("\0")


def ptx_with_lines(program: Program, target: str) -> tuple[str, Mapping[str, str]]:
    """Compile a program to PTX with line numbers, which `ExpandedSource.at` understands.

    Returns:
        The PTX, and the kernels' symbols by name.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    built = _built(program, target, "ptx with lines")
    return built.image.decode().rstrip("\0"), built.names


def resources(program: Program, target: str, kernel: str) -> Mapping[str, int]:
    """Return the metadata of a kernel's artifact, with ptxas's report: registers, spills, shared memory.

    Raises:
        BuildError, DeviceError: as `find`.
    """
    return _metadata_of(find(program, target)[1], kernel)
