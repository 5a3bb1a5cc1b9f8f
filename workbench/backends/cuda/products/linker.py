"""A kernel's LTO-IR linked with its products, in a process that can be ended."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from workbench.backends.base import Options
from workbench.backends.cuda.nvjitlink import Linked, link_options
from workbench.backends.cuda.products.process import WORKER, Process
from workbench.backends.cuda.products.spec import Product
from workbench.backends.cuda.products.workers import POLL, TIME_LIMIT
from workbench.work import go_on


def link_kernel(
    kernel: bytes,
    products: Sequence[Product],
    options: Options,
    target: str,
    kind: str = "cubin",
    *,
    function: str = "kernel",
    command: tuple[str, ...] = WORKER,
    time_limit: float = TIME_LIMIT,
) -> Linked:
    """A cubin (or PTX) for exactly `target`.

    Args:
        kernel: LTO-IR of the kernel.
        products: those that it calls.
        options: what changes the code.
        target: `sm_90`.
        kind: "cubin" or "ptx".
        function: the kernel's name, for messages.
        command: the process (`Process`).
        time_limit: seconds.

    Raises:
        BuildError: the linker refused, crashed or took too long.
        KeyboardInterrupt: as ever; no process is left.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-link-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        parts = []
        for n, (label, code) in enumerate([(function, kernel), *((p.spec.symbol, p.code) for p in products)]):
            path = folder / f"{n}.ltoir"
            path.write_bytes(code)
            parts.append((label, str(path)))
        request = {"link": {"parts": parts, "options": link_options(options, target, kind), "kind": kind}}
        process = Process(command, request, folder, "link", f"links {function} for {target}", time_limit)
        try:
            while not process.is_over():
                go_on()
                time.sleep(POLL)
            facts, image = process.answer()
        finally:
            process.kill()
    return Linked(image, facts["facts"]["log"])
