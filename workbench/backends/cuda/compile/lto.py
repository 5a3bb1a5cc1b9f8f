"""A kernel with link-time products: its text calls them, NVRTC makes LTO-IR of it, nvJitLink makes both one cubin."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

from workbench.backends.base import Artifact, Options
from workbench.backends.cuda import toolkit
from workbench.backends.cuda.compile.nvrtc import build, metadata_of
from workbench.backends.cuda.emit import emit_kernel
from workbench.backends.cuda.products import nvjitlink
from workbench.backends.cuda.products.nvjitlink import Linked, link_options
from workbench.backends.cuda.products.spec import Product, ProductSpec
from workbench.backends.cuda.products.workers import POOL, TIME_LIMIT, answer_of, link_parts
from workbench.backends.cuda.tiles.placement.arena import check_shared
from workbench.backends.worker.pool import Limits, task_name
from workbench.ir.values import Function

LINKED = "cuBLASDx"
GENERATED = "generated"


def products_of(function: Function, options: Options, target: str) -> tuple[ProductSpec, ...]:
    """Return the specifications of the link-time products that a function's text for `target` calls, each once.

    Nothing is compiled or linked.

    Raises:
        BuildError: the function cannot be emitted as CUDA C++.
    """
    return emit_kernel(function, options, link=target).products


def version(target: str = "") -> str:
    """Return the exact version of nvJitLink for `target` (empty: the default architecture), for keys.

    Raises:
        DeviceError: nvJitLink is not installed.
    """
    return nvjitlink.version(target)


def compile_linked(function: Function, options: Options, target: str, products: Sequence[Product]) -> Artifact:
    """Compile a kernel that calls link-time products, and link it with them into a cubin for exactly `target`.

    Metadata are those of `CudaBackend.compile`, with the stages spell, nvrtc and link; besides, `matmul` is
    "cuBLASDx", and `products` has a string for each product, its role and its description.

    Raises:
        BuildError: NVRTC or nvJitLink refused, or tiles need more shared memory than a block of the target has.
        DeviceError: one of them is not installed.
    """
    clocks = [time.perf_counter()]
    emitted = emit_kernel(function, options, link=target)
    check_shared(emitted.shared, emitted.regions, target, function.name)
    clocks.append(time.perf_counter())
    code = build(emitted.text, options, target, "ltoir", function.name).image
    clocks.append(time.perf_counter())
    linked = link_kernel(code, products, options, target, function=function.name)
    clocks.append(time.perf_counter())
    spent = [after - before for before, after in itertools.pairwise(clocks)]
    metadata = metadata_of(
        function, emitted, target, linked.log, dict(zip(("spell", "nvrtc", "link"), spent, strict=True))
    )
    metadata |= {"matmul": LINKED, "products": [f"{p.spec.role} {p.spec.shown}" for p in products]}
    return Artifact(linked.image, metadata)


def link_kernel(
    kernel: bytes,
    products: Sequence[Product],
    options: Options,
    target: str,
    kind: str = "cubin",
    *,
    function: str = "kernel",
) -> Linked:
    """Link a kernel's LTO-IR with its products in a worker process; return the cubin, or PTX, and the log.

    Args:
        kernel: LTO-IR of the kernel.
        products: the compiled products that it calls.
        options: what changes the code.
        target: such as `sm_90`.
        kind: "cubin" or "ptx".
        function: the kernel's name, for messages.

    Raises:
        BuildError: the linker refused, crashed or took too long.
        DeviceError: nvJitLink is not installed, or the driver here does not load its code.
        KeyboardInterrupt: the user interrupted; no process is left.
    """
    library = toolkit.matching_library(toolkit.NVJITLINK, target)
    if kind == "cubin":
        toolkit.check_loads(library)
    parts = [(function, kernel), *((p.spec.symbol, p.code) for p in products)]
    request = {
        "task": task_name(link_parts),
        "library": library.path,
        "parts": parts,
        "options": link_options(options, target, kind),
        "kind": kind,
    }
    job = POOL.submit(request, limits=Limits(clock=TIME_LIMIT))
    POOL.wait_for(job)
    answer, image = answer_of(job, f"links {function} for {target}")
    return Linked(image, answer["log"])
