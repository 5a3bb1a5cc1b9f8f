"""CUDA C++ text as a module of kernels: what `%%cuda` does, for scripts and tests too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.api.cuda_cpp import build
from workbench.api.cuda_cpp.build import EMULATED, Program
from workbench.api.cuda_cpp.gradient_signature import ADJOINT
from workbench.api.cuda_cpp.in_double import wide_program
from workbench.api.cuda_cpp.kernel import CudaKernel
from workbench.backends.cuda.compile.disassemble import sass
from workbench.backends.cuda.compile.nvrtc import DEFAULT_TARGET
from workbench.backends.cuda.user_source.preprocess import define_lines, whole
from workbench.backends.cuda.user_source.signature import Signature, signatures
from workbench.cache.folder.entry import Entry
from workbench.errors import BuildError, DeviceError, KernelSyntaxError, LaunchError, must_be
from workbench.runtime.device.device import Device, driver_of, get_device
from workbench.runtime.device.driver import driver, why_no_cuda
from workbench.runtime.launching.checks import checks_wanted
from workbench.source import Source

RUNS = ("device", EMULATED)
NATIVE = "native"


@dataclass(frozen=True)
class CudaModule:
    """The kernels of one piece of CUDA C++ source code.

        module = wb.cuda_module(text, run="emulated")
        saxpy = module["saxpy"]

    Attributes:
        program: what is compiled.
        run: "device": on the current device; "emulated": on the emulated device.
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
        """Where its kernels run: the current device, or the emulated one; the CPU if they are for reading alone.

        Raises:
            DeviceError: emulated devices cannot be had here.
        """
        current = get_device()
        if self.run != EMULATED or (current.is_emulated and self._fits(current)):
            return current
        return get_device(EMULATED if self.arch == NATIVE else f"{EMULATED}:{self.arch}")

    def _fits(self, device: Device) -> bool:
        """Whether an emulated device is of the architecture that was requested with `run="emulated"`, if one was."""
        return self.run != EMULATED or self.arch in (NATIVE, driver_of(device).arch(device.index))

    @property
    def target(self) -> str:
        """What is compiled ahead: an architecture, or "emulated" (with checks, if they are on) and one."""
        device = self.device
        if device.is_emulated and (self.run == EMULATED or self.arch == NATIVE):
            checked = any(checks_wanted(None, kernel.checks) for kernel in self.kernels.values())
            return build.target_for(EMULATED, driver_of(device).arch(device.index), checked)
        found = driver()
        return (found.arch(0) if found else DEFAULT_TARGET) if self.arch == NATIVE else self.arch

    def compile(self) -> None:
        """Compile, or take from the cache.

        Raises:
            WorkbenchError: NVRTC rejected the source code, or is not installed.
        """
        if self.kernels:
            self._entries[self.target] = self._find(self.target, self.force)

    def entry(self, target: str = "") -> Entry:
        """The artifact for a target: a cubin, or PTX for an emulated device.

        Raises:
            WorkbenchError: as `compile`.
        """
        return self._entry(target or self.target)[1]

    def code(self, name: str, device: Device, sanitized: bool = False) -> tuple[str, Any, dict[str, Any]]:
        """Digest, loaded code, and facts of one kernel.

        Args:
            name: of a kernel of the module.
            device: where it is to run.
            sanitized: with checked accesses; on an emulated device only.

        Raises:
            LaunchError: the device is the CPU.
            BuildError: the emulated device cannot execute an instruction; at its line.
        """
        self.refuse_elsewhere(name, device)
        found = driver_of(device)
        digest, entry = self._entry(build.target_for(device.kind, found.arch(device.index), sanitized))
        own = entry.metadata["kernels"][name]
        facts = {**entry.metadata, **own, "checks": sanitized, "prints": "printf" in self.program.text}
        try:
            return digest, found.load(device.index, entry.image, own["symbol"]), facts
        except BuildError as error:
            error.location = self.program.whole.at(error.line) if error.line else None
            raise

    def refuse_elsewhere(self, name: str, device: Device) -> None:
        """Refuse a launch where the kernel cannot run.

        Raises:
            LaunchError: the device is the CPU, or an emulated one of another architecture than the requested one.
        """
        if device.is_emulated and not self._fits(device):
            raise LaunchError(
                f"{name} is for {self.arch}, and {device} is of {driver_of(device).arch(device.index)}.",
                advice=f'Put its arrays on device="{EMULATED}:{self.arch}", or leave the architecture out.',
            )
        if device.is_cuda:
            return
        own = self.device if self.device.is_cuda else Device("cuda:0", "cuda") if driver() is not None else None
        here = own is not None
        advice = (
            f'Pass arrays on the device: x.to("{own}").' if here else
            'The CPU runs it on the emulated device: pass x.to("emulated"), or run its cell as %%cuda --run emulated.'
        )  # fmt: skip
        raise LaunchError(
            f"{name} was compiled for {self.target}; the launch is on the CPU."
            + ("" if here else f" {why_no_cuda()}"), self.kernels[name].place, advice, name,
        )  # fmt: skip

    def in_double(self) -> Mapping[str, CudaKernel]:
        """Its kernels with every float a double, on the emulated device: for difference quotients.

        Raises:
            DeviceError: it includes a header of CUDA's that is written for float.
        """
        kernels = _with_kernels(CudaModule(wide_program(self.program), EMULATED)).kernels
        for kernel in kernels.values():
            kernel.checks = False
        return kernels

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
        return self.target.split()[-1]

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
    arch: str = NATIVE, defines: Mapping[str, Any] | None = None, use: Iterable[str] = (),
    headers: Mapping[str, str | Source] | None = None, include: Iterable[str] = (),
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
        KernelSyntaxError: a kernel is a template, or a header is not found.
        KernelTypeError: a parameter cannot be passed from Python, or a gradient does not go with its kernel.
        BuildError: the compiler rejected the source code; the errors are at its lines.
        DeviceError: NVRTC is not installed, or does not know the architecture.
    """
    _refuse(run)
    must_be(text, str, "cuda_module() takes the text of a CUDA C++ source")
    must_be(defines or {}, Mapping, "cuda_module() takes macros by their names", advice='Write {"N": 64}.')
    source = Source(text, name, filename, line_offset)
    known = {n: h if isinstance(h, Source) else Source(h, n, n) for n, h in (headers or {}).items()}
    macros = define_lines(defines or {})
    made = whole(source, use, known, include)
    found = signatures(source, macros)
    module = _with_kernels(CudaModule(Program(made, found, macros, fast_math), run, arch, force))
    if compile:
        module.compile()
    return module


def _refuse(run: str) -> None:
    if run == "host":
        raise DeviceError(
            'run="host" was removed: the emulated device runs CUDA C++ on the CPU.',
            advice='Write run="emulated" (%%cuda --run emulated).',
        )
    if run not in RUNS:
        raise DeviceError(f'run is "device" or "emulated", not {run!r}.')


def _with_kernels(module: CudaModule) -> CudaModule:
    by_name = _by_name(module.program.kernels)
    for kernel in by_name.values():
        module.kernels[kernel.name] = CudaKernel(module, kernel, by_name.get(kernel.name + ADJOINT))
    return module


def _by_name(found: Sequence[Signature]) -> dict[str, Signature]:
    """The signatures by name.

    Raises:
        KernelSyntaxError: two have one name.
    """
    twice = [k for n, k in enumerate(found) if k.name in {other.name for other in found[:n]}]
    if twice:
        raise KernelSyntaxError(f"{twice[0].name} is defined twice.", twice[0].location, "Give one another name.")
    return {k.name: k for k in found}
