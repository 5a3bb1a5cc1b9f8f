"""CUDA C++ text as a module of kernels: what `%%cuda` does, for scripts and tests too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from workbench.api.cuda_cpp import build
from workbench.api.cuda_cpp.build import EMULATED, Program
from workbench.api.cuda_cpp.in_double import wide_program
from workbench.api.cuda_cpp.kernel import ADJOINT, CudaKernel
from workbench.backends.cuda.compile.disassemble import sass
from workbench.backends.cuda.compile.nvrtc import DEFAULT_TARGET
from workbench.backends.cuda.user_source.declarations import macros
from workbench.backends.cuda.user_source.host_parts import device_part
from workbench.backends.cuda.user_source.preprocess import define_lines, expand_includes
from workbench.backends.cuda.user_source.signature import Signature, members, signatures, typed, variables
from workbench.cache.disk import Entry
from workbench.errors import BuildError, DeviceError, KernelSyntaxError, LaunchError, must_be
from workbench.events import Notice, publish
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.import_arrays import adopted
from workbench.runtime.arrays.shapes import dense
from workbench.runtime.device.device import Device, driver_of, get_device
from workbench.runtime.device.driver import driver, why_no_cuda
from workbench.runtime.device.driver_calls import LoadedKernel
from workbench.runtime.launching.checks import checks_wanted
from workbench.source import Location, Source
from workbench.types import Vector, uint8

RUNS = ("device", EMULATED)
NATIVE = "native"
_GRID = frozenset(("this_grid", "grid_group"))


@dataclass(eq=False)
class CudaModule:
    """The kernels of one piece of CUDA C++ source code.

        module = wb.cuda_module(text, run="emulated")
        saxpy = module["saxpy"]
        scale = module["scale<float, 3>"]      # of a template, as C++ writes it
        module.symbol("weights")[:] = [1, 2, 1]

    Attributes:
        program: what is compiled.
        run: "device": on the current device; "emulated": on the emulated device.
        arch: "native", or the architecture that is compiled for ahead of a launch.
        force: compile even what is cached.
        kernels: by name; NAME_adjoint is the gradient of NAME, and a kernel too.
        templates: kernels that have no code before their arguments are known.
        checks: whether their instances are launched with checks; None is the current setting.
    """

    program: Program
    run: str = "device"
    arch: str = NATIVE
    force: bool = False
    kernels: dict[str, CudaKernel] = field(default_factory=dict[str, CudaKernel])
    templates: Mapping[str, Signature] = field(default_factory=dict[str, Signature])
    checks: bool | None = None
    _entries: dict[str, tuple[str, Entry]] = field(default_factory=dict[str, tuple[str, Entry]], repr=False)
    _loaded: dict[tuple[str, Device], LoadedKernel] = field(default_factory=dict[tuple[str, Device], LoadedKernel])

    def __getitem__(self, name: str) -> CudaKernel:
        """Return the kernel of a name, with or without its namespace; `name<arguments>` is an instance of a template.

        A new instance is compiled, together with the rest of the module.

        Raises:
            KeyError: there is none, or several in different namespaces.
            LaunchError: it is a template's, and the module's variables are in use already.
            BuildError: NVRTC refused the template's arguments.
        """
        plain, _, arguments = name.partition("<")
        base = _matching(plain.strip(), self.templates) if arguments else None
        own = f"{base}<{arguments}" if base else _matching(name, self.kernels)
        template = self.templates[base] if base else None
        if own is None and "##" in self.program.text and name.isidentifier():  # a macro may write it
            own, template = name, Signature(name, (), Location(self.source, 1, 0, 1, 0), 1, 1, frozenset())
        if own is None:
            known = [*self.kernels, *(f"{n}<…>" for n in self.templates)]
            raise KeyError(f"the source code has no kernel {name}; it has {', '.join(known) or 'none'}")
        if template is not None and own not in self.kernels:
            self._instantiate(template, own)
        return self.kernels[own]

    def _instantiate(self, template: Signature, name: str) -> None:
        """Add a template's instance: the module is one piece of code, so it is compiled again.

        Raises:
            LaunchError: the module is loaded and has variables, which would be new ones.
            BuildError: NVRTC refused the template's arguments.
        """
        if self._loaded and self.program.variables:
            held = ", ".join(self.program.variables)
            raise LaunchError(
                f"{name} cannot be added: the module is loaded, and its variables ({held}) would be new ones.",
                template.location,
                f'Write module["{name}"] before the first launch.',
            )
        instance = replace(template, name=name, template=False)
        self.program = replace(self.program, kernels=(*self.program.kernels, instance))
        self.kernels[name] = CudaKernel(self, instance, None)
        self.kernels[name].checks = self.checks
        self._entries.clear()
        try:
            self.signature(name)
        except BaseException:
            del self.kernels[name]
            self.program = replace(self.program, kernels=self.program.kernels[:-1])
            raise

    def signature(self, name: str) -> Signature:
        """Return a kernel's signature with the types that NVRTC reports; the text is compiled if that is not done.

        Raises:
            BuildError, DeviceError: NVRTC rejected the source code, or is not installed.
            LaunchError: it stands under an `#if` that does not hold.
        """
        written = next(k for k in self.program.kernels if k.name == name)
        if self.program.typed:
            return written
        entry = next(iter(self._entries.values()), None) or self._entry(self.target)
        metadata = entry[1].metadata["kernels"].get(name)
        if metadata is None:
            problem = f"NVRTC knows no kernel {name}: an #if leaves it out, or another function has its name."
            raise LaunchError(problem, written.location)
        return typed(written, build.types_of(self.program, metadata))

    def symbol(self, name: str, device: Device | str | None = None) -> array:
        """Return a `__constant__`, `__device__` or `__managed__` variable, as an array that is its memory on a device.

            module.symbol("weights")[:] = [1, 2, 1]        # cudaMemcpyToSymbol
            module.symbol("count").numpy()                 # cudaMemcpyFromSymbol

        On an emulated device, launches with checks have variables of their own; the result belongs to launches with the
        current setting. Tapes, records and graphs see what is written to the array, not that a kernel reads it.

        Args:
            name: as in C++.
            device: where; None is the module's device.

        Returns:
            An array of one dimension, with one element if the variable is no array; of a class its bytes.

        Raises:
            KeyError: there is no such variable, or the module has no kernel.
            LaunchError: the module cannot run there.
        """
        known = _matching(name, {v: v for v in self.program.variables})
        where, first = (
            get_device(device) if device is not None else self.device,
            next(iter(self.kernels.values()), None),
        )
        if first is None:
            raise KeyError(f"the module has no kernel, so {name} is nowhere in memory: add a __global__ function")
        if known is None:
            raise KeyError(
                f"the source code has no variable {name}; it has {', '.join(self.program.variables) or 'none'}"
            )
        checked = where.is_emulated and checks_wanted(None, first.checks)
        code = self.code(first.name, where, checked)[1]
        entry = self._entry(self._target_on(where, checked))[1]
        metadata = entry.metadata["variables"].get(known)
        if metadata is None:
            raise KeyError(f"NVRTC knows no variable {known}: an #if leaves it out")
        (element,) = build.types_of(self.program, metadata)
        address, size = driver_of(where).symbol(where.index, code, metadata["symbol"])
        kind = element.type or uint8
        scalar = kind.dtype if isinstance(kind, Vector) else kind
        shape = (size // kind.size, *kind.shape)
        return adopted(code, where, address, shape, dense(shape, scalar.size), scalar, kind)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the kernels."""
        return iter(self.kernels)

    @property
    def source(self) -> Source:
        """The source code, without what it includes."""
        return self.program.source.sources[0]

    @property
    def names(self) -> dict[str, object]:
        """The kernels and templates that a cell adds to the namespace, by name without the C++ namespace."""
        values: dict[str, object] = {name: CudaTemplate(self, name) for name in self.templates}
        return {name.rpartition("::")[2]: value for name, value in (values | dict(self.kernels)).items()}

    def bind(self, namespace: dict[str, object]) -> None:
        """Add the module's kernels and templates to the namespace."""
        namespace.update(self.names)

    @property
    def device(self) -> Device:
        """The device of its kernels: the current one, or with `run="emulated"` an emulated one.

        If it is the CPU, the kernels can be read and not launched.

        Raises:
            DeviceError: emulated devices cannot be had here.
        """
        current = get_device()
        if self.run != EMULATED or (current.is_emulated and self._is_fitting(current)):
            return current
        return get_device(EMULATED if self.arch == NATIVE else f"{EMULATED}:{self.arch}")

    def _is_fitting(self, device: Device) -> bool:
        """Return whether an emulated device suits `arch`; True for any device if `run` is not "emulated"."""
        return self.run != EMULATED or self.arch in (NATIVE, driver_of(device).arch(device.index))

    @property
    def target(self) -> str:
        """The target that is compiled ahead: "sm_90", "emulated sm_90", or with checks "emulated with checks sm_90"."""
        device = self.device
        if device.is_emulated and (self.run == EMULATED or self.arch == NATIVE):
            checked = any(checks_wanted(None, kernel.checks) for kernel in self.kernels.values())
            return build.target_for(EMULATED, driver_of(device).arch(device.index), checked)
        cuda = driver()
        return (cuda.arch(0) if cuda else DEFAULT_TARGET) if self.arch == NATIVE else self.arch

    def compile(self) -> None:
        """Compile all kernels ahead of a launch, or load them from the cache; do nothing if there is none.

        Raises:
            WorkbenchError: NVRTC rejected the source code, or is not installed; a kernel cannot be called.
        """
        if self.kernels:
            target = self.target
            self._entries[target] = self._find(target, self.force)
            for kernel in self.kernels.values():
                if kernel.name in self._entries[target][1].metadata["kernels"]:
                    _ = kernel.signature, kernel.gradient  # which refuse what cannot be called

    def entry(self, target: str = "") -> Entry:
        """Return the artifact for a target: a cubin, or PTX for an emulated device; empty: for the module's own target.

        Raises:
            WorkbenchError: as `compile`.
        """
        return self._entry(target or self.target)[1]

    def code(self, name: str, device: Device, sanitized: bool = False) -> tuple[str, Any, dict[str, Any]]:
        """Return the digest, loaded code, and metadata of one kernel.

        Args:
            name: of a kernel of the module.
            device: where it is to run.
            sanitized: with checked accesses; on an emulated device only.

        Raises:
            LaunchError: the device is the CPU, or an emulated one of another architecture than the requested one.
            BuildError: the emulated device cannot execute an instruction; at its line.
        """
        self.refuse_elsewhere(name, device)
        own_driver = driver_of(device)
        digest, entry = self._entry(self._target_on(device, sanitized))
        own = entry.metadata["kernels"][name]
        metadata = {**entry.metadata, **own, "checks": sanitized, "prints": "printf" in self.program.text}
        try:
            # One library for all kernels: what one writes to a variable of the module, the others read.
            code = own_driver.load(device.index, entry.image, own["symbol"], beside=self._loaded.get((digest, device)))
            self._loaded[digest, device] = code
            return digest, replace(code, cooperative=self._waits_for_blocks(name)), metadata
        except BuildError as error:
            error.location = self.program.source.at(error.line) if error.line else None
            raise

    def refuse_elsewhere(self, name: str, device: Device) -> None:
        """Refuse a launch where the kernel cannot run.

        Raises:
            LaunchError: the device is the CPU, or an emulated one of another architecture than the requested one.
        """
        if device.is_emulated and not self._is_fitting(device):
            raise LaunchError(
                f"{name} is for {self.arch}, and {device} is of {driver_of(device).arch(device.index)}.",
                advice=f'Put its arrays on device="{EMULATED}:{self.arch}", or leave the architecture out.',
            )
        if device.is_cuda:
            return
        own = self.device if self.device.is_cuda else Device("cuda:0", "cuda") if driver() is not None else None
        here = own is not None
        advice = (
            f'Pass arrays on the device: x.to("{own}").'
            if here
            else 'The CPU runs it on the emulated device: pass x.to("emulated"), or run its cell as '
            "%%cuda --run emulated."
        )
        raise LaunchError(
            f"{name} was compiled for {self.target}; the launch is on the CPU." + ("" if here else f" {why_no_cuda()}"),
            self.kernels[name].place,
            advice,
            name,
        )

    def in_double(self) -> Mapping[str, CudaKernel]:
        """Return the module's kernels by name, with every float a double, on the emulated device: for `gradcheck`.

        Raises:
            DeviceError: it includes a header of CUDA's that is written for float.
        """
        signatures = [self.signature(k.name) for k in self.program.kernels]
        kernels = _with_kernels(CudaModule(wide_program(self.program, signatures), EMULATED)).kernels
        for kernel in kernels.values():
            kernel.checks = False
        return kernels

    def ptx(self, target: str = "") -> str:
        """Return the PTX of the source code, for inspection; `target` is an architecture, by default the module's own.

        Raises:
            BuildError, DeviceError: NVRTC refused, or is missing.
        """
        return build.ptx(self.program, target or self._device_target())

    def sass(self, target: str = "") -> str:
        """Return the machine code (SASS) of the source code as text, for an architecture; empty: the module's own.

        Raises:
            BuildError, DeviceError: NVRTC refused, or it or a disassembler is missing.
        """
        return sass(self.entry(target or self._device_target()).image)

    def key(self) -> build.Key:
        """Return the cache key of what is compiled ahead."""
        return build.key_of(self.program, self.target)

    def _waits_for_blocks(self, name: str) -> bool:
        """Return whether a kernel, or a function that it may call, can wait for all blocks (`this_grid().sync()`)."""
        named = {k.name for k in self.program.kernels if k.words & _GRID}
        return name in named if named else any(word in self.program.text for word in _GRID)

    @staticmethod
    def _target_on(device: Device, sanitized: bool) -> str:
        """Return the compilation target for a GPU or emulated device; `sanitized` is for checked accesses."""
        return build.target_for(device.kind, driver_of(device).arch(device.index), sanitized)

    def _device_target(self) -> str:
        """Return the architecture alone of the module's target (`sm_90`)."""
        return self.target.split()[-1]

    def _entry(self, target: str) -> tuple[str, Entry]:
        """Return the key's digest and the artifact for a target, compiled or from the cache on the first call."""
        if target not in self._entries:
            self._entries[target] = self._find(target, False)
        return self._entries[target]

    def _find(self, target: str, force: bool) -> tuple[str, Entry]:
        """Return the key's digest and the artifact for a target, from the cache unless `force`, else compiled."""
        key, entry = build.find(self.program, target, force)
        return key.digest, entry

    def __repr__(self) -> str:
        where = "run on the emulated device" if self.run == EMULATED else f"run on the {self.run}"
        return f"<CUDA C++ module of {', '.join(self.kernels) or 'no kernels'}, {where}>"


class CudaTemplate:
    """A template of a CUDA C++ kernel, as a cell binds it: `scale["float, 3"]` is the kernel for these arguments."""

    def __init__(self, module: CudaModule, name: str) -> None:
        """Stand for the template `name` of the module."""
        self.module, self.name = module, name

    def __getitem__(self, arguments: str) -> CudaKernel:
        """Return the kernel for these template arguments, as C++ writes them; for new ones all is compiled again.

        Raises:
            LaunchError: it is new, and the module's variables are in use already.
            BuildError: NVRTC refused the arguments.
        """
        return self.module[f"{self.name}<{arguments}>"]

    def __repr__(self) -> str:
        return f"<CUDA C++ template {self.name}: {self.name}[arguments] is a kernel>"


def cuda_module(
    text: str, *, name: str = "<text>", filename: str = "<text>", line_offset: int = 0, run: str = "device",
    arch: str = NATIVE, defines: Mapping[str, Any] | None = None, use: Iterable[str] = (),
    headers: Mapping[str, str | Source] | None = None, include: Iterable[str] = (),
    fast_math: bool = False, force: bool = False, compile: bool = True,
) -> CudaModule:  # fmt: skip
    """Compile CUDA C++ source code, and make its `__global__` functions callable.

    Their parameters are scalars, vectors (`float3`), structs and pointers to them; data behind a `const` pointer is
    read-only. Code of the host is left out; a notice says what its launches are in Python. A kernel `NAME_adjoint` is
    the gradient of `NAME`: it takes any of NAME's parameters by name, pointers as const, and for each pointer to floats
    `x` also `float* adj_x` (for a float scalar `a`, optionally `float* adj_a`). It adds to the adjoints of what NAME
    reads and clears those of what NAME overwrites; arrays are as NAME found them.

    Args:
        text: CUDA C++, a whole `.cu` file too; no header is needed, and CUDA's own (`cuda_fp16.h`, `mma.h`, …) and C's
            are there.
        name: the name of the source code, as people see it.
        filename: its name in Python's tracebacks.
        line_offset: lines above the source code that its reader counts as well.
        run: "device" compiles for the current device (for reading, if that is the CPU); "emulated" for the emulated
            device: the CPU runs what NVRTC makes for a GPU.
        arch: "native", or a GPU architecture such as "sm_90" to compile for; if emulated, that of the device.
        defines: macros; numbers keep all their bits, strings are used as they are.
        use: headers to include above the source code.
        headers: source code by the name under which it is included.
        include: folders in which other includes are looked for.
        fast_math: allow approximate maths.
        force: compile even what is cached.
        compile: False only reads the signatures; `CudaModule.compile()` or the first launch does the rest.

    Returns:
        The module; `module[name]` is a kernel.

    Raises:
        KernelSyntaxError: a header is not found, or device code uses textures, Thrust or cuRAND.
        KernelTypeError: a parameter cannot be passed from Python, or a gradient does not go with its kernel.
        BuildError: the compiler rejected the source code; the errors are at its lines.
        DeviceError: NVRTC is not installed, or does not know the architecture.
        LaunchError: a macro is neither a bool, a finite number nor text.
    """
    _refuse(run)
    must_be(text, str, "cuda_module() takes the text of a CUDA C++ source")
    must_be(defines or {}, Mapping, "cuda_module() takes macros by their names", advice='Write {"N": 64}.')
    source = Source(text, name, filename, line_offset)
    known = {n: h if isinstance(h, Source) else Source(h, n, n) for n, h in (headers or {}).items()}
    lines = define_lines(defines or {})
    expanded = device_part(expand_includes(source, use, known, include))
    defined = macros(expanded.text) | lines
    declared = [k for s in expanded.sources for k in signatures(s, defined)]
    named = tuple(v for s in expanded.sources for v in variables(s, defined))
    ready = tuple(k for k in declared if not k.template)
    program = Program(expanded, ready, lines, fast_math, named, members(expanded.text, defined))
    module = _with_kernels(CudaModule(program, run, arch, force, templates={k.name: k for k in declared if k.template}))
    if expanded.host:
        listed = "".join(f"; {note}" for note in expanded.notes)
        publish(Notice(f"{name}: code of the host is left out ({', '.join(expanded.host)}){listed}."))
    if compile:
        module.compile()
    return module


def _refuse(run: str) -> None:
    """Raise a DeviceError unless `run` is "device" or "emulated"."""
    if run == "host":
        raise DeviceError(
            'run="host" was removed: the emulated device runs CUDA C++ on the CPU.',
            advice='Write run="emulated" (%%cuda --run emulated).',
        )
    if run not in RUNS:
        raise DeviceError(f'run is "device" or "emulated", not {run!r}.')


def _with_kernels(module: CudaModule) -> CudaModule:
    """Fill the module's `kernels` with a launchable kernel for each name, with its `NAME_adjoint` if there is one.

    Returns:
        The module.
    """
    by_name = _by_name(module.program.kernels)
    for kernel in by_name.values():
        module.kernels[kernel.name] = CudaKernel(module, kernel, by_name.get(kernel.name + ADJOINT))
    return module


def _by_name(declared: Sequence[Signature]) -> dict[str, Signature]:
    """Map names to signatures; of those that an `#else` defines again, the first is taken.

    Raises:
        KernelSyntaxError: two have the same name, and the text has no `#else` or `#elif`.
    """
    twice = [k for n, k in enumerate(declared) if k.name in {other.name for other in declared[:n]}]
    if twice and not re.search(r"^\s*#\s*(else|elif)", twice[0].location.source.text, re.MULTILINE):
        raise KernelSyntaxError(f"{twice[0].name} is defined twice.", twice[0].location, "Give one another name.")
    return {k.name: k for k in (*declared, *reversed(declared))}  # in their order, and of one name the first


def _matching(name: str, known: Mapping[str, Any]) -> str | None:
    """Return the full name, in `known`, of a name that may lack its namespace; None if there is none, or several."""
    if name in known:
        return name
    same = [k for k in known if k.rpartition("::")[2] == name]
    return same[0] if len(same) == 1 else None
