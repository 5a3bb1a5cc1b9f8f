"""What a worker process does for products: build one, or link a kernel. It ends after that (`workers.POOL`)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from workbench.backends.cuda.products import mathdx
from workbench.backends.cuda.products.nvjitlink import link
from workbench.backends.cuda.products.spec import ProductSpec


def build_product(request: dict[str, Any], data: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """LTO-IR of `product`, in JSON values of its specification; libmathdx's files go to `folder`.

    Raises:
        BuildError, DeviceError: as `mathdx.generate`.
    """
    tell("product")
    started = time.perf_counter()
    os.environ.update(TMPDIR=request["folder"], LIBMATHDX_TMPDIR=request["folder"])
    code, facts = mathdx.generate(ProductSpec.from_json(request["product"]))
    return {**facts, "seconds": time.perf_counter() - started}, code


def link_parts(request: dict[str, Any], data: bytes, tell: Callable[[str], None]) -> tuple[dict[str, Any], bytes]:
    """What the nvJitLink at the path `library` makes of `parts`, with `options`, as `kind`; the fact `log`.

    Raises:
        BuildError, DeviceError: as `nvjitlink.link`.
    """
    tell("link")
    linked = link(request["library"], request["parts"], request["options"], request["kind"])
    return {"log": linked.log}, linked.image
