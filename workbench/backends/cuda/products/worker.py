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
    """Build the LTO-IR of `product`, a specification as JSON values; libmathdx writes its files to `folder`.

    Raises:
        BuildError, DeviceError: as `mathdx.generate`.
    """
    tell("product")
    started = time.perf_counter()
    os.environ.update(TMPDIR=request["folder"], LIBMATHDX_TMPDIR=request["folder"])
    code, metadata = mathdx.generate(ProductSpec.from_json(request["product"]))
    return {**metadata, "seconds": time.perf_counter() - started}, code


def link_parts(request: dict[str, Any], data: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """Link `parts` into an image of `kind` by the nvJitLink at the path `library`; also return its `log`.

    Raises:
        BuildError, DeviceError: as `nvjitlink.link`.
    """
    tell("link")
    linked = link(request["library"], request["parts"], request["options"], request["kind"])
    return {"log": linked.log}, linked.image
