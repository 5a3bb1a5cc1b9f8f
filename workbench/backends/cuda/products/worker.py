"""A worker process's tasks for products: to build one, or to link a kernel; then the process ends (`workers.POOL`)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from workbench.backends.cuda.products import mathdx
from workbench.backends.cuda.products.nvjitlink import link
from workbench.backends.cuda.products.spec import ProductSpec


def build_product(request: dict[str, Any], data: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """Build a product; return its metadata with the seconds that it took, and its LTO-IR.

    Args:
        request: `product`, a specification as JSON values, and `folder`, to which libmathdx writes its files.
        data: not used.
        tell: receives the name of the stage.

    Raises:
        BuildError: cuBLASDx refused.
        DeviceError: libmathdx is not installed.
    """
    tell("product")
    started = time.perf_counter()
    os.environ.update(TMPDIR=request["folder"], LIBMATHDX_TMPDIR=request["folder"])
    code, metadata = mathdx.generate(ProductSpec.from_json(request["product"]))
    return {**metadata, "seconds": time.perf_counter() - started}, code


def link_parts(request: dict[str, Any], data: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """Link a kernel's LTO-IR with that of its products; return the linker's `log`, and the image.

    Args:
        request: `library`, nvJitLink's path; `parts`, name and LTO-IR of each; `options`; `kind`, "cubin" or "ptx".
        data: not used.
        tell: receives the name of the stage.

    Raises:
        BuildError: nvJitLink refused.
        DeviceError: it cannot be loaded.
    """
    tell("link")
    linked = link(request["library"], request["parts"], request["options"], request["kind"])
    return {"log": linked.log}, linked.image
