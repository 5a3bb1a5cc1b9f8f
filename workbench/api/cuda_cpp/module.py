"""CUDA C++ text as a module of kernels: what `%%cuda` does, for scripts and tests too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.api.cuda_cpp import build
from workbench.api.cuda_cpp.build import EMULATED, HOST, Program
from workbench.api.cuda_cpp.kernel import ADJOINT, CudaKernel
from workbench.backends.cuda.compile.disassemble import sass
from workbench.backends.cuda.compile.nvrtc import DEFAULT_TARGET
from workbench.backends.cuda.user_source.preprocess import define_lines, whole
from workbench.backends.cuda.user_source.signature import Signature, signatures
from workbench.cache.folder.entry import Entry
from workbench.errors import DeviceError, KernelSyntaxError, LaunchError
from workbench.runtime.device.device import Device, driver_of, get_device
from workbench.runtime.device.driver import driver, why_no_cuda
from workbench.source import Source

RUNS = ("device", "host", EMULATED)
NATIVE = "native"


@dataclass(frozen=True)
class CudaModule:
    """The kernels of one piece of CUDA C++ source code.

        module = wb.cuda_module(text, run="host")
        saxpy = module["saxpy"]

    Attributes:
        program: what is compiled.
        run: "device": on a CUDA device; "host": on the CPU, by a C++ compiler; "emulated": on the emulated device.
        arch: "native", or the architecture that is compiled for ahead of a launch.
        force: compile even what is cached.
        kernels: by name; NAME_adjoint is the gradient of NAME, and a kernel too.
    """

    program: Program
    run: str = "device"
    arch: str = NATIVE
    force: bool = False
    kernels: dict[str, CudaKernel] = field(default_factory=dict[str, CudaKernel])
    _entries: dict[str, tuple[str, Entry]] = field(default_factory=dict[str, tuple[str, Entry]], repr=False)

    def __getitem__(self, name: str) -> CudaKernel:
        """The kernel of this name.

        Raises:
            KeyError: there is none.
        """
        if name not in self.kernels:
            raise KeyError(f"the source code has no kernel {name}; it has {', '.join(self.kernels) or 'none'}")
        return self.kernels[name]

    def __iter__(self) -> Iterator[str]:
        """The kernels' names."""
        return iter(self.kernels)

    @property
    def source(self) -> Source:
        """The text."""
        return self.program.whole.sources[0]

    @property
    def names(self) -> dict[str, object]:
        """The names that a cell adds to the namespace."""
        return dict(self.kernels)

    def bind(self, namespace: dict[str, object]) -> None:
        """Bind the kernels in the namespace."""
        namespace.update(self.kernels)

    @property
    def device(self) -> Device:
        """Where its kernels run: the CPU, the emulated device, or the current CUDA device.

        Raises:
            DeviceError: there is no compiler for emulated devices here.
        """
        if self.run == EMULATED:
            current = get_device()
            return current if current.is_emulated else get_device(EMULATED if self.arch == NATIVE else self._emulated)
        return get_device("cpu" if self.run == HOST or driver() is None else None)

    @property
    def _emulated(self) -> str:
        return f"{EMULATED}:{self.arch}"

    @property
    def target(self) -> str:
        """What is compiled ahead: "host", an architecture, or "emulated" and an architecture."""
        if self.run == HOST:
            return HOST
        if self.run == EMULATED:
            device = self.device
            return build.target_for(EMULATED, driver_of(device).arch(device.index))
        found = driver()
        return (found.arch(0) if found else DEFAULT_TARGET) if self.arch == NATIVE else self.arch

    def compile(self) -> None:
        """Compile, or take from the cache.

        Raises:
            WorkbenchError: a compiler rejected the source code, or there is no compiler.
        """
        if self.kernels:
            self._entries[self.target] = self._find(self.target, self.force)

    def entry(self, target: str = "") -> Entry:
        """The artifact for a target: a cubin, or the CPU's shared object.

        Raises:
            WorkbenchError: as `compile`.
        """
        return self._entry(target or self.target)[1]

    def code(self, name: str, device: Device, sanitized: bool = False) -> tuple[str, Any, int, dict[str, object]]:
        """Digest, loaded code, address on the CPU, and facts of one kernel.

        Args:
            name: of a kernel of the module.
            device: where it is to run.
            sanitized: with checked accesses; on an emulated device only.

        Raises:
            LaunchError: it was compiled for another kind of device.
        """
        self.refuse_elsewhere(name, device)
        if self.run == HOST:
            digest, entry = self._entry(HOST)
            code = build.host_code(digest, entry.image)
            return (
                digest,
                code,
                code.address(f"wb_entry_{name}"),
                {**entry.metadata, "prints": "printf" in self.program.text},
            )
        found = driver_of(device)
        digest, entry = self._entry(build.target_for(device.kind, found.arch(device.index), sanitized))
        own = entry.metadata["kernels"][name]
        facts: dict[str, object] = {**entry.metadata, **own, **({"checks": True} if sanitized else {})}
        return digest, found.load(device.index, entry.image, own["symbol"]), 0, facts

    def refuse_elsewhere(self, name: str, device: Device) -> None:
        """Refuse a launch where the kernel cannot run.

        Raises:
            LaunchError: it was compiled for the CPU and the device is a GPU, or the reverse.
        """
        if device.is_cuda == (self.run != HOST):
            return
        if device.is_cuda:
            raise LaunchError(
                f"{name} was compiled to run on the CPU; the launch is on {device}.", self.kernels[name].place,
                "Run its cell without --run host, or with --run emulated, or pass arrays on the CPU.", name,
            )  # fmt: skip
        here = driver() is not None or self.run == EMULATED
        advice = (
            f'Pass arrays on the device: x.to("{self.device}").' if here else
            'Run its cell as %%cuda --run host (wb.cuda_module(…, run="host")), which g++ compiles for the CPU, or as '
            '%%cuda --run emulated (run="emulated"): the CPU then runs what is made for a GPU.'
        )  # fmt: skip
        raise LaunchError(
            f"{name} was compiled for {self.target}; the launch is on the CPU."
            + ("" if here else f" {why_no_cuda()}"), self.kernels[name].place, advice, name,
        )  # fmt: skip

    def ptx(self, target: str = "") -> str:
        """The PTX of the source code, for inspection.

        Raises:
            BuildError, DeviceError: NVRTC refused, or is missing.
        """
        return build.ptx(self.program, target or self._device_target())

    def sass(self, target: str = "") -> str:
        """The machine code of the source code.

        Raises:
            BuildError, DeviceError: NVRTC refused, or it or a disassembler is missing.
        """
        return sass(self.entry(target or self._device_target()).image)

    def key(self) -> build.Key:
        """The key of what is compiled ahead."""
        return build.key_of(self.program, self.target)

    def _device_target(self) -> str:
        return self.target.split()[-1] if self.run != HOST else DEFAULT_TARGET if self.arch == NATIVE else self.arch

    def _entry(self, target: str) -> tuple[str, Entry]:
        if target not in self._entries:
            self._entries[target] = self._find(target, False)
        return self._entries[target]

    def _find(self, target: str, force: bool) -> tuple[str, Entry]:
        key, entry = build.find(self.program, target, force)
        return key.digest, entry

    def __repr__(self) -> str:
        where = "run on the emulated device" if self.run == EMULATED else f"run on the {self.run}"
        return f"<CUDA C++ module of {', '.join(self.kernels) or 'no kernels'}, {where}>"


def cuda_module(
    text: str, *, name: str = "<text>", filename: str = "<text>", line_offset: int = 0, run: str = "device",
    arch: str = NATIVE, defines: Mapping[str, object] | None = None, use: Iterable[str] = (),
    headers: Mapping[str, str | Source] | None = None, include: Iterable[str] = (), libraries: Iterable[str] = (),
    fast_math: bool = False, force: bool = False, compile: bool = True,
) -> CudaModule:  # fmt: skip
    """Compile CUDA C++ source code, and make its `__global__` functions callable.

    Their parameters are scalars, CUDA vectors (`float3`) and pointers to them; data behind a `const` pointer is
    read-only. A kernel `NAME_adjoint` is the gradient of `NAME`: it takes any of NAME's parameters by name, pointers as
    const, and for each pointer to floats `x` also `float* adj_x` (for a float scalar `a`, optionally `float* adj_a`).
    It adds to the adjoints of what NAME reads and clears those of what NAME overwrites; arrays are as NAME found them.

    Args:
        text: CUDA C++; no header is needed, and CUDA's own (`cuda_fp16.h`, `mma.h`, …) are there.
        name: the name of the source code, as people see it.
        filename: its name in Python's tracebacks.
        line_offset: lines above the source code that its reader counts as well.
        run: "device" compiles for CUDA (without a device, for reading); "host" for the CPU, if g++ is installed;
            "emulated" for the emulated device, which runs what NVRTC makes on the CPU.
        arch: "native", or a GPU architecture such as "sm_90" to compile for.
        defines: macros; numbers keep all their bits, strings are used as they are.
        use: headers to include above the source code.
        headers: source code by the name under which it is included.
        include: folders in which other includes are looked for.
        libraries: what code for the CPU is linked with.
        fast_math: allow approximate maths.
        force: compile even what is cached.
        compile: False only reads the signatures; `CudaModule.compile()` or the first launch does the rest.

    Returns:
        The module; `module[name]` is a kernel.

    Raises:
        KernelSyntaxError: a kernel is a template, or a header is not found.
        KernelTypeError: a parameter cannot be passed from Python, or a gradient does not go with its kernel.
        BuildError: the compiler rejected the source code; the errors are at its lines.
        DeviceError: NVRTC or g++ is not installed, or does not know the architecture.
    """
    libraries = tuple(libraries)
    _refuse(run, libraries)
    source = Source(text, name, filename, line_offset)
    known = {n: h if isinstance(h, Source) else Source(h, n, n) for n, h in (headers or {}).items()}
    macros = define_lines(defines or {})
    made = whole(source, use, known, include)
    found = signatures(source, macros)
    by_name = _by_name(found)
    module = CudaModule(Program(made, found, macros, fast_math, libraries), run, arch, force)
    for kernel in found:
        module.kernels[kernel.name] = CudaKernel(module, kernel, by_name.get(kernel.name + ADJOINT))
    if compile:
        module.compile()
    return module


def _refuse(run: str, libraries: Sequence[str]) -> None:
    if run not in RUNS:
        raise DeviceError(f'run is "device", "host" or "emulated", not {run!r}.')
    if libraries and run != HOST:
        raise DeviceError(
            f"-l{libraries[0]} is for code that runs on the CPU; device code is not linked with libraries.",
            advice='Leave it out, or use run="host" (--run host).',
        )


def _by_name(found: Sequence[Signature]) -> dict[str, Signature]:
    """The signatures by name.

    Raises:
        KernelSyntaxError: two have one name.
    """
    twice = [k for n, k in enumerate(found) if k.name in {other.name for other in found[:n]}]
    if twice:
        raise KernelSyntaxError(f"{twice[0].name} is defined twice.", twice[0].location, "Give one another name.")
    return {k.name: k for k in found}
