"""Products built side by side, as many at once as cores and memory allow, each in a process of its own.

A worker process has one task, to build a product or to link a kernel; then it ends (`POOL`).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from workbench.backends.cuda.products import mathdx
from workbench.backends.cuda.products.nvjitlink import link
from workbench.backends.cuda.products.spec import Product, ProductSpec
from workbench.backends.worker.pool import Job, Limits, Lost, Pool, TaskFailed, raised, task_name
from workbench.backends.worker.process import Unavailable
from workbench.config import settings
from workbench.errors import BuildError, DeviceError
from workbench.events import ProductBuilt, ProductFailed, ProductStarted, publish
from workbench.work import go_on


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


TIME_LIMIT = 900.0
"""Seconds of wall-clock time for a product or a link.

One takes minutes if many share the cores; only what hangs takes as long as this.
"""
MEMORY_EACH = 2 << 30
POLL = 0.02
ENDING = 5.0
"""Seconds to wait for a cancelled process to end."""
POOL = Pool("products", lambda: None, most=64, once=True)
"""A pool with one process per product or link: they take gigabytes, which they free only when they end."""


class Builder(msgspec.Struct, frozen=True):
    """A tool that builds products.

    Attributes:
        name: for people, and in keys.
        version: returns everything that changes its output for a target.
        missing: returns why it cannot build here; empty if it can.
        task: the function that a worker calls, "module:function" (`build_product`).
    """

    name: str
    version: Callable[[str], str]
    missing: Callable[[], str]
    task: str


CUBLASDX = Builder("cuBLASDx", mathdx.version, mathdx.missing, task_name(build_product))


def build(
    specs: Iterable[ProductSpec],
    builder: Builder = CUBLASDX,
    *,
    done: Callable[[Product], None] = lambda product: None,
    parallel: int = 0,
    time_limit: float = TIME_LIMIT,
) -> dict[ProductSpec, Product]:
    """Build all of `specs`, several at once, and return the products by their specification.

    Each is reported as the events `ProductStarted` and `ProductBuilt`, or `ProductFailed`.

    Args:
        specs: what to build; equal ones are built once.
        builder: the tool that builds them.
        done: called with each product as it is ready, even if others fail later.
        parallel: processes at once; 0: as cores and memory allow.
        time_limit: seconds for each.

    Raises:
        BuildError: a product was refused, its process crashed or took too long; the other processes are ended.
        DeviceError: the builder is not installed.
        Dropped: this is background work that is no longer needed (`workbench.work`).
        KeyboardInterrupt: the user interrupted. No process is left, however it ends.
    """
    waiting = list(dict.fromkeys(specs))
    if waiting and (reason := builder.missing()):
        raise DeviceError(reason, advice=mathdx.advice())
    most = parallel or _process_count(len(waiting))
    products: dict[ProductSpec, Product] = {}
    running: list[_Running] = []
    with tempfile.TemporaryDirectory(prefix="workbench-products-", ignore_cleanup_errors=True) as folder:
        try:
            while waiting or running:
                while waiting and len(running) < most:
                    running.append(_start(waiting.pop(0), builder, Path(folder), time_limit))
                for each in [r for r in running if r.job.wait(0)]:
                    running.remove(each)
                    products[each.spec] = _finish(each, builder)
                    done(products[each.spec])
                go_on()
                if running:
                    time.sleep(POLL)
        finally:
            for each in running:
                each.job.cancel()
                publish(ProductFailed(*_names(each.spec, builder), "cancelled"))
            for each in running:
                each.job.wait(ENDING)
    return products


def _names(spec: ProductSpec, builder: Builder) -> tuple[str, str, str, str]:
    """Return the fields that all events about a product begin with: its description, role, architecture, builder."""
    return spec.shown, spec.role, spec.arch, builder.name


class _Running(msgspec.Struct, frozen=True):
    """A product that is being built, since the time `started` (of `time.monotonic`)."""

    spec: ProductSpec
    job: Job
    started: float


def _start(spec: ProductSpec, builder: Builder, folder: Path, time_limit: float) -> _Running:
    """Queue the building of a product, with a limit in seconds, and publish `ProductStarted`."""
    publish(ProductStarted(*_names(spec, builder)))
    request = {"task": builder.task, "product": spec.as_json(), "folder": str(folder)}
    return _Running(spec, POOL.submit(request, limits=Limits(clock=time_limit)), time.monotonic())


def _finish(running: _Running, builder: Builder) -> Product:
    """Wait for a product, publish `ProductBuilt` or `ProductFailed`, and return it.

    Raises:
        BuildError: it could not be built.
        DeviceError: what builds it is not installed.
    """
    names = _names(running.spec, builder)
    try:
        metadata, code = answer_of(running.job, f"builds {builder.name}'s {running.spec.shown} product for {names[2]}")
    except BuildError as error:
        publish(ProductFailed(*names, error.message))
        raise
    seconds = time.monotonic() - running.started
    publish(ProductBuilt(*names, seconds, len(code)))
    return Product(running.spec, code, {**metadata, "builder": builder.name, "waited": seconds})


def answer_of(job: Job, shown: str) -> tuple[dict[str, Any], bytes]:
    """Wait for a job; return the metadata and the bytes that its process answered.

    Args:
        job: one of `POOL`.
        shown: what the process does, for messages: "builds cuBLASDx's 16×16×16 f32 product".

    Raises:
        BuildError: the task refused, or its process did not answer.
        DeviceError: what the task needs is not installed.
    """
    try:
        return job.result()
    except TaskFailed as refusal:
        raise raised(refusal) from None
    except (Lost, Unavailable) as lost:
        advice = 'The generated matrix multiplication works without it: matmul="generated".'
        log = lost.log if isinstance(lost, Lost) else ""
        raise BuildError(f"The process that {shown} {lost}.", advice=advice, log=log) from None


def _process_count(count: int) -> int:
    """Return how many of `count` worker processes to run at once, by CPUs and free memory; at least 1."""
    return max(1, min(count, settings().threads, free_memory() // MEMORY_EACH))


def free_memory() -> int:
    """Return the bytes that can be had without swapping, within this container's limit; 8 GiB if that is not known."""
    machine = 8 << 30
    with suppress(OSError, StopIteration, ValueError):
        rows = Path("/proc/meminfo").read_text().splitlines()
        machine = next(int(row.split()[1]) << 10 for row in rows if row.startswith("MemAvailable:"))
    with suppress(OSError, ValueError):
        limit, used = (Path(f"/sys/fs/cgroup/memory.{name}").read_text().strip() for name in ("max", "current"))
        return min(machine, max(0, int(limit) - int(used)))
    return machine
