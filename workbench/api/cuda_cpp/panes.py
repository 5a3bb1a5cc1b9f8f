"""The texts about a CUDA C++ kernel that a reader may ask for: a table by the panes' names."""

from __future__ import annotations

from collections.abc import Callable

from workbench.api.cuda_cpp.kernel import CudaKernel
from workbench.errors import LaunchError, NotDifferentiable


def lines_of(kernel: CudaKernel, first: int, last: int) -> str:
    """Return the lines `first` to `last`, from 1, of the text that the kernel is in."""
    return "\n".join(kernel.place.source.lines[first - 1 : last])


def _source(kernel: CudaKernel) -> str:
    return lines_of(kernel, kernel.signature.first, kernel.signature.last)


def _adjoint(kernel: CudaKernel) -> str:
    if kernel.gradient is None:
        raise NotDifferentiable(f"{kernel.name} is CUDA C++, and its cell has no {kernel.name}_adjoint.", kernel.place)
    return lines_of(kernel, kernel.gradient.first, kernel.gradient.last)


def _key(kernel: CudaKernel) -> str:
    module_key = kernel.module.key()
    width = max(len(p.label) for p in module_key.parts)
    rows = [f"{p.label.ljust(width)}  {p.shown or f'{len(p.data)} bytes'}" for p in module_key.parts]
    return "\n".join([*rows, f"{'digest'.ljust(width)}  {module_key.digest}"])


_TEXTS: dict[str, Callable[[CudaKernel], str]] = {
    "source": _source,
    "adjoint": _adjoint,
    "cuda": lambda kernel: kernel.module.program.text,
    "ptx": lambda kernel: kernel.module.ptx(),
    "sass": lambda kernel: kernel.module.sass(),
    "key": _key,
}

PANES = tuple(_TEXTS)


def text(kernel: CudaKernel, pane: str) -> str:
    """Return the text of a pane of the kernel's card: its source, PTX, machine code or the like.

    Raises:
        LaunchError: a CUDA C++ kernel has no such text.
        NotDifferentiable: the adjoint of a kernel that has none.
        BuildError, DeviceError: a tool is missing or refused.
    """
    make = _TEXTS.get(pane)
    if make is None:
        raise LaunchError(f"{kernel.name} is CUDA C++ and has no {pane} text; it has {', '.join(_TEXTS)}.")
    return make(kernel)
