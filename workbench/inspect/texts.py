"""Texts about a kernel: its source, IR, adjoint, generated code, key, parameters and products."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec

from workbench.api.builds import build, keys
from workbench.api.builds.cublasdx import ProductView, product_views
from workbench.api.builds.linking import BUILDER
from workbench.api.cuda_cpp import build as cuda_build
from workbench.api.cuda_cpp.kernel import CudaKernel
from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.api.launches.launch import launch_options, must_be_kernel
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cuda.compile.disassemble import sass as disassembled
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.cuda.emit import emit_cuda
from workbench.backends.cuda.lines import marked_cuda, marked_ptx
from workbench.errors import LaunchError, NotDifferentiable, WorkbenchError, must_be
from workbench.inspect.pane_names import PANES
from workbench.ir.data import show
from workbench.runtime.device.device import CPU
from workbench.types import Type

_OPTIONS = Options()
P = ParamSpec("P")


def _cuda_lines(kernel: CudaKernel, first: int, last: int) -> str:
    """Return the lines `first` to `last`, from 1, of the source that the CUDA C++ kernel is in."""
    return "\n".join(kernel.place.source.lines[first - 1 : last])


def _cuda_adjoint(kernel: CudaKernel) -> str:
    """Return the text of a CUDA C++ kernel's adjoint, the kernel `…_adjoint` of its cell.

    Raises:
        NotDifferentiable: the cell has none.
    """
    if kernel.gradient is None:
        raise NotDifferentiable(f"{kernel.name} is CUDA C++, and its cell has no {kernel.name}_adjoint.", kernel.place)
    return _cuda_lines(kernel, kernel.gradient.first, kernel.gradient.last)


def _cuda_key(kernel: CudaKernel) -> str:
    """Return the parts of the key of a CUDA C++ kernel's module, one a line, and the digest in the last line."""
    module_key = kernel.module.key()
    width = max(len(p.label) for p in module_key.parts)
    rows = [f"{p.label.ljust(width)}  {p.shown or f'{len(p.data)} bytes'}" for p in module_key.parts]
    return "\n".join([*rows, f"{'digest'.ljust(width)}  {module_key.digest}"])


_CUDA_TEXTS: dict[str, Callable[[CudaKernel], str]] = {
    "source": lambda kernel: _cuda_lines(kernel, kernel.signature.first, kernel.signature.last),
    "adjoint": _cuda_adjoint,
    "cuda": lambda kernel: kernel.module.program.text,
    "ptx": lambda kernel: kernel.module.ptx(),
    "sass": lambda kernel: kernel.module.sass(),
    "key": _cuda_key,
}

CUDA_PANES = tuple(_CUDA_TEXTS)
"""The names of the texts that a CUDA C++ kernel has."""


def _cuda_text(kernel: CudaKernel, pane: str) -> str:
    """Return a text about a CUDA C++ kernel by pane name: its source, PTX, machine code or the like.

    Raises:
        LaunchError: a CUDA C++ kernel has no such text.
        NotDifferentiable: the adjoint of a kernel that has none.
        BuildError, DeviceError: a tool is missing or refused.
    """
    make = _CUDA_TEXTS.get(pane)
    if make is None:
        raise LaunchError(f"{kernel.name} is CUDA C++ and has no {pane} text; it has {', '.join(_CUDA_TEXTS)}.")
    return make(kernel)


def _or_text(pane: str) -> Callable[[Callable[Concatenate[Kernel, P], str]], Callable[Concatenate[Kernel, P], str]]:
    """Decorate a function of a pane: of a CUDA C++ kernel it returns the text that this has for `pane`.

    Called with anything but a kernel, it raises.
    """

    def decorate(make: Callable[Concatenate[Kernel, P], str]) -> Callable[Concatenate[Kernel, P], str]:
        @functools.wraps(make)
        def asked(kernel: Kernel, *args: P.args, **named: P.kwargs) -> str:
            must_be_kernel(kernel, f"{make.__name__}()")
            return _cuda_text(kernel, pane) if isinstance(kernel, CudaKernel) else make(kernel, *args, **named)

        return asked

    return decorate


def _specialisation(kernel: Kernel) -> Specialisation:
    """Return the kernel's specialisation, with its annotated types, or, of a generic one, with those of its last use.

    Raises:
        LaunchError: a generic kernel that was never launched.
    """
    must_be_kernel(kernel, "inspect")
    if not kernel.is_generic:
        return kernel.specialise()
    if kernel.used is None:
        raise LaunchError(f"{kernel.name} is generic; no launch has given its types yet.", advice="Launch it.")
    return kernel.used


@_or_text("source")
def source(kernel: Kernel) -> str:
    """Return the kernel's own lines.

    Returns:
        The source code, as it was written.
    """
    node = kernel.definition.node
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return "\n".join(kernel.definition.source.lines[first - 1 : node.end_lineno])


@_or_text("ir")
def ir(kernel: Kernel, *, lines: bool = False) -> str:
    """Return the typed IR; with `lines`, each operation ends in `@ line` of the source.

        >>> import workbench as wb
        >>> @wb.kernel
        ... def twice(x: wb.array[float]):
        ...     x[wb.tid()] *= 2.0
        >>> print(wb.inspect.source(twice).splitlines()[1])
        def twice(x: wb.array[float]):
        >>> "mul" in wb.inspect.ir(twice)
        True

    Returns:
        Text as `workbench.ir.data` writes it.
    """
    return show(_specialisation(kernel).function, lines=lines)


@_or_text("adjoint")
def adjoint(kernel: Kernel, *, lines: bool = False) -> str:
    """Return the IR of the kernel that runs backwards, its adjoint.

    With `lines`, each operation ends in `@ line` of the source.

    Returns:
        Text as `workbench.ir.data` writes it.

    Raises:
        NotDifferentiable: there is no right adjoint; the message says which line prevents it.
    """
    return show(build.function_of(_specialisation(kernel), "adjoint"), lines=lines)


@_or_text("tangent")
def tangent(kernel: Kernel, *, lines: bool = False) -> str:
    """Return the IR of the kernel with its derivative along a direction, its tangent.

    With `lines`, each operation ends in `@ line` of the source.

    Returns:
        Text as `workbench.ir.data` writes it.

    Raises:
        NotDifferentiable: a derivative would flow through what has none; the message says at which line.
    """
    return show(build.function_of(_specialisation(kernel), "tangent"), lines=lines)


@_or_text("cuda")
def cuda(kernel: Kernel, direction: str = "forward", *, lines: bool = False) -> str:
    """Return the CUDA C++ text; with `lines`, each ends in `// @ line` of the source.

    Args:
        kernel: a kernel; a generic one must have been launched, as its last types are shown.
        direction: "forward", "adjoint" or "tangent".
        lines: mark each line with the line of the source it comes from.

    Returns:
        The source code that NVRTC compiles.
    """
    text = emit_cuda(build.function_of(_specialisation(kernel), direction, stack=False), _OPTIONS, lines=lines)
    return marked_cuda(text, *_origin(kernel)) if lines else text


def _origin(kernel: Kernel) -> tuple[str, int]:
    """Return the label of the kernel's source, and the number that is added to its lines when they are shown."""
    return kernel.definition.source.label, kernel.definition.source.line_offset


@_or_text("llvm")
def llvm(kernel: Kernel, direction: str = "forward") -> str:
    """Return the LLVM IR after optimisation, for this machine's CPU and the cores that launches have.

    Returns:
        The module as text.
    """
    function = build.function_of(_specialisation(kernel), direction)
    return cpu.optimised_text(function, build.options_on(CPU, _OPTIONS), CpuBackend().target())


@_or_text("asm")
def asm(kernel: Kernel, direction: str = "forward") -> str:
    """Return the machine code of this machine's CPU, for the cores that launches have, as assembly.

    Returns:
        Assembly in the syntax of LLVM's default for the CPU.
    """
    function = build.function_of(_specialisation(kernel), direction)
    return cpu.assembly(function, build.options_on(CPU, _OPTIONS), CpuBackend().target())


@_or_text("ptx")
def ptx(kernel: Kernel, arch: str = "sm_90", direction: str = "forward", *, lines: bool = False) -> str:
    """Return the PTX for a GPU architecture; needs NVRTC, no GPU. With `lines`, each ends in `// @ line` of the source.

    Args:
        kernel: a kernel; a generic one must have been launched, as its last types are shown.
        arch: a GPU architecture, such as "sm_90"; no GPU is needed.
        direction: "forward", "adjoint" or "tangent".
        lines: mark each line with the line of the source it comes from.

    Returns:
        The PTX text.

    Raises:
        BuildError, DeviceError: NVRTC is missing or refused.
    """
    text = CudaBackend().ptx(
        build.function_of(_specialisation(kernel), direction, stack=False), _OPTIONS, arch, lines=lines
    )
    return marked_ptx(text, *_origin(kernel)) if lines else text


@_or_text("sass")
def sass(kernel: Kernel, arch: str = "sm_90", direction: str = "forward") -> str:
    """Return the machine code of a GPU architecture; needs NVRTC and a disassembler (see `disassemble`), no GPU.

    Args:
        kernel: a kernel; a generic one must have been launched, as its last types are shown.
        arch: a GPU architecture, such as "sm_90"; no GPU is needed.
        direction: "forward", "adjoint" or "tangent".

    Returns:
        The disassembled machine code.

    Raises:
        BuildError, DeviceError: NVRTC or the disassembler is missing or refused.
    """
    return disassembled(
        CudaBackend().compile(build.function_of(_specialisation(kernel), direction, stack=False), _OPTIONS, arch).image
    )


def diff(kernel: Kernel, other: Kernel, pane: str = "ir") -> str:
    """Compare a text about `kernel` with that about `other`, as a unified diff; empty if they are equal.

    Args:
        kernel: the new side.
        other: the old side.
        pane: one of `PANES`.

    Returns:
        Lines as `difflib.unified_diff` writes them.

    Raises:
        KeyError: a pane that is none of `PANES`.
        WorkbenchError: the text of one cannot be made.
    """
    before, after = (_MAKE[pane](k).splitlines() for k in (other, kernel))
    names = f"{other.name} {pane}", f"{kernel.name} {pane}"
    return "\n".join(difflib.unified_diff(before, after, *names, lineterm=""))


@_or_text("key")
def key(kernel: Kernel, direction: str = "forward") -> str:
    """Return the parts of a kernel's module key, one per line, and its digest.

    They are those of a launch on the CPU without options of its own; of CUDA C++, those of its module.

    Returns:
        One line per part of the key, then the digest that names the artifact in the cache.
    """
    backend = build.backend_for("cpu")
    options = build.options_on(CPU, launch_options(kernel).code)
    module_key = keys.key_of(_specialisation(kernel), direction, options, backend, backend.target(), False)
    width = max(len(p.label) for p in module_key.parts)
    rows = [f"{p.label.ljust(width)}  {p.shown or f'{len(p.data)} bytes'}" for p in module_key.parts]
    return "\n".join([*rows, f"{'digest'.ljust(width)}  {module_key.digest}"])


_MAKE = {
    "source": source, "ir": ir, "adjoint": adjoint, "tangent": tangent, "cuda": cuda, "llvm": llvm, "ptx": ptx,
    "sass": sass, "asm": asm, "key": key,
}  # fmt: skip


def panes(kernel: Kernel, names: Iterable[str] = PANES) -> dict[str, str]:
    """Return text by pane name; a pane that cannot be made holds the reason.

    Returns:
        One text per name, in the order of `names`.

    Raises:
        KeyError: a name that is none of `PANES`.
    """
    result: dict[str, str] = {}
    for name in names:
        try:
            result[name] = _MAKE[name](kernel)
        except WorkbenchError as error:
            result[name] = error.render()
    return result


def parameters(kernel: Kernel) -> list[tuple[str, Type]]:
    """Return names and types of the kernel's IR parameters; a struct is one for each field.

    Returns:
        Pairs (name, type), in the order of the signature.

    Raises:
        LaunchError: a generic kernel that was never launched.
    """
    return [(p.name, p.type) for p in _specialisation(kernel).function.params]


def constants(kernel: Kernel) -> dict[str, Any]:
    """Return values that the kernel captured from outside, by the names that it reads them from.

    Returns:
        Values by name; they are compiled into the kernel, and a change of one compiles it again.

    Raises:
        LaunchError: a generic kernel that was never launched.
    """
    return {c.name: c.value for c in _specialisation(kernel).function.captured}


def why(kernel: Kernel | str, direction: str = "forward") -> tuple[str, ...]:
    """Return what differed from the key before when a kernel was last rebuilt in one direction.

    Args:
        kernel: a kernel, or the name of one.
        direction: "forward", "adjoint" or "tangent".

    Returns:
        One sentence per difference; empty if the kernel was never rebuilt.
    """
    if isinstance(kernel, CudaKernel):
        return cuda_build.why(kernel.name)
    must_be(kernel, (Kernel, str), "why() takes a kernel, or its name")
    name = kernel if isinstance(kernel, str) else kernel.name
    return keys.why(name, direction) or cuda_build.why(name)


def products(kernel: Kernel, arch: str = "sm_90", direction: str = "forward") -> tuple[ProductView, ...]:
    """Return the link-time products that the kernel's tile products would call on a GPU, and which are built.

    Args:
        kernel: a kernel; a generic one must have been launched, as its last types are shown.
        arch: a GPU architecture, such as "sm_90"; no GPU is needed.
        direction: "forward", "adjoint" or "tangent".

    Returns:
        One entry per product, in the order in which the kernel calls them.

    Raises:
        NotDifferentiable: with "adjoint", there is no right adjoint.
    """
    return product_views(_specialisation(kernel), arch, direction)


def can_link() -> str:
    """Return why cuBLASDx's products cannot be built here; empty if they can."""
    return BUILDER.missing()
