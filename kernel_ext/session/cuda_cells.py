"""The functions behind `%%cuda`: a cell of CUDA C++ is read with its options and headers.

A header is a cell that others include. The session keeps it, so a cell that uses it is compiled with its latest text.
"""

from __future__ import annotations

from typing import Any

import msgspec

import workbench as wb
from kernel_ext.refusal import Refusal
from kernel_ext.session.cells import CellOptions, CellOrigin, Reader
from workbench.errors import NotDifferentiable
from workbench.source import Source

RUNS = ("device", "emulated")


class CudaOptions(msgspec.Struct, frozen=True):
    """Represents the options of a `%%cuda` line besides those of `%%kernel`.

    Attributes:
        run: "device" or "emulated".
        use: headers to include above the cell.
        include: folders of other headers.
    """

    run: str = "device"
    use: tuple[str, ...] = ()
    include: tuple[str, ...] = ()


class Headers(msgspec.Struct):
    """Holds the cells of a session that others include, by name."""

    sources: dict[str, Source] = msgspec.field(default_factory=dict)

    def save(self, name: str, text: str, origin: CellOrigin) -> str:
        """Store a cell under a name; return a sentence on what was stored.

        Raises:
            Refusal: the cell defines a kernel: that would be in every cell that includes it.
        """
        if "__global__" in text:
            raise Refusal(f"--header {name}: the cell has a __global__ function; headers hold __device__ functions")
        again = "replaced" if name in self.sources else "saved"
        self.sources[name] = Source(text, origin.name, origin.filename, origin.line_offset)
        return f'header {name} {again} · %%cuda --use {name}, or #include "{name}"'


def run_of(backend: str, run: str) -> str:
    """Return where the cell's kernels run, "device" or "emulated"; empty if neither option says it.

    `-b cuda` and `--run device` mean the same.

    Raises:
        Refusal: they contradict each other, or CUDA C++ cannot run there.
    """
    if run == "host" or backend == "cpu":
        option = f"--run {run}" if run == "host" else f"-b {backend}"
        raise Refusal(f"{option}: CUDA C++ runs on a GPU or on the emulated device; write --run emulated")
    if run not in ("", *RUNS):
        raise Refusal(f"--run {run}: write --run {' or --run '.join(RUNS)}")
    wanted = "device" if backend == "cuda" else ""
    if wanted and run and wanted != run:
        raise Refusal(f"-b {backend} and --run {run} contradict each other; leave one out")
    return run or wanted


def reader(cuda_options: CudaOptions, headers: Headers) -> Reader:
    """Return the function that makes a CUDA C++ module from a cell's text, with these options and headers."""

    def read(text: str, namespace: dict[str, Any], options: CellOptions, origin: CellOrigin) -> Any:
        module = wb.cuda_module(
            text,
            name=origin.name,
            filename=origin.filename,
            line_offset=origin.line_offset,
            run=cuda_options.run,
            arch=options.arch,
            defines=dict(options.constants),
            use=cuda_options.use,
            headers=headers.sources,
            include=cuda_options.include,
            fast_math=options.fast_math,
            force=options.force,
            compile=False,
        )
        module.checks = options.checks
        for kernel in module.kernels.values():
            kernel.checks = options.checks
        if options.gradient:
            _need_gradients(module)
        if not options.background:
            module.compile()
        return module

    return read


def _need_gradients(module: wb.CudaModule) -> None:
    """Raise NotDifferentiable if a kernel of the module has no matching `…_adjoint` kernel."""
    for name, kernel in module.kernels.items():
        if f"{name}_adjoint" not in module.kernels and not name.endswith("_adjoint"):
            raise NotDifferentiable(
                f"--grad asks for gradients, and {name} has none.",
                kernel.place,
                f"Write a kernel {name}_adjoint in this cell, or leave --grad out.",
                name,
            )
