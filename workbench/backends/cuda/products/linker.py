"""A kernel's LTO-IR linked with its products, in a process that can be ended."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.backends.base import Options
from workbench.backends.cuda import toolkit
from workbench.backends.cuda.products.nvjitlink import Linked, link_options
from workbench.backends.cuda.products.spec import Product
from workbench.backends.cuda.products.worker import link_parts
from workbench.backends.cuda.products.workers import POOL, TIME_LIMIT, answer_of
from workbench.backends.worker.calls import task_name
from workbench.backends.worker.jobs import Limits


def link_kernel(
    kernel: bytes,
    products: Sequence[Product],
    options: Options,
    target: str,
    kind: str = "cubin",
    *,
    function: str = "kernel",
) -> Linked:
    """Return a cubin (or PTX) for exactly `target`.

    Args:
        kernel: LTO-IR of the kernel.
        products: those that it calls.
        options: what changes the code.
        target: `sm_90`.
        kind: "cubin" or "ptx".
        function: the kernel's name, for messages.

    Raises:
        BuildError: the linker refused, crashed or took too long.
        DeviceError: it is not installed, or the driver here does not load its code.
        KeyboardInterrupt: as ever; no process is left.
    """
    library = toolkit.beside(toolkit.NVJITLINK, target)
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
