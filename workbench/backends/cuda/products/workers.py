"""Products built side by side, as many at once as cores and memory allow, each in a process of its own."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.backends.cuda.products import mathdx
from workbench.backends.cuda.products.process import WORKER, Process
from workbench.backends.cuda.products.spec import Product, ProductSpec
from workbench.config import settings
from workbench.errors import BuildError, DeviceError
from workbench.events import ProductBuilt, ProductFailed, ProductStarted, publish
from workbench.work import go_on

TIME_LIMIT = 900.0
"""Seconds on the clock for a product or a link: minutes where many share the cores; only what hangs takes as long."""
MEMORY_EACH = 2 << 30
POLL = 0.02


@dataclass(frozen=True)
class Builder:
    """What builds products.

    Attributes:
        name: for people, and in keys.
        version: everything that changes its output.
        missing: why it cannot build here; empty where it can.
        command: its process (`Process`).
    """

    name: str
    version: Callable[[], str]
    missing: Callable[[], str]
    command: tuple[str, ...]


CUBLASDX = Builder("cuBLASDx", mathdx.version, mathdx.missing, WORKER)


def build(
    specs: Iterable[ProductSpec],
    builder: Builder = CUBLASDX,
    *,
    done: Callable[[Product], None] = lambda product: None,
    parallel: int = 0,
    time_limit: float = TIME_LIMIT,
) -> dict[ProductSpec, Product]:
    """Build all of `specs`, several at once; told as `ProductStarted`, `ProductBuilt`, `ProductFailed`.

    Args:
        specs: what to build; equal ones are built once.
        builder: what builds them.
        done: called with each product as it is ready: it is whole, whatever becomes of the others.
        parallel: processes at once; 0: as cores and memory allow.
        time_limit: seconds for each.

    Raises:
        BuildError: a product was refused, its process crashed or took too long; the other processes are ended.
        DeviceError: the builder is not installed.
        Dropped: this is background work that nobody wants any more (`workbench.work`).
        KeyboardInterrupt: as ever. No process is left, however it ends.
    """
    waiting = list(dict.fromkeys(specs))
    if waiting and (reason := builder.missing()):
        raise DeviceError(reason, advice=mathdx.ADVICE)
    most = parallel or _at_once(len(waiting))
    found: dict[ProductSpec, Product] = {}
    running: list[tuple[ProductSpec, Process]] = []
    with tempfile.TemporaryDirectory(prefix="workbench-products-", ignore_cleanup_errors=True) as folder:
        try:
            while waiting or running:
                while waiting and len(running) < most:
                    running.append(_start(waiting.pop(0), builder, Path(folder), time_limit))
                for spec, process in [each for each in running if each[1].is_over()]:
                    running.remove((spec, process))
                    found[spec] = _finish(spec, process, builder)
                    done(found[spec])
                go_on()
                if running:
                    time.sleep(POLL)
        finally:
            for spec, process in running:
                process.kill()
                publish(ProductFailed(*_names(spec, builder), "cancelled"))
    return found


def _names(spec: ProductSpec, builder: Builder) -> tuple[str, str, str, str]:
    return spec.shown, spec.role, spec.arch, builder.name


def _start(spec: ProductSpec, builder: Builder, folder: Path, time_limit: float) -> tuple[ProductSpec, Process]:
    publish(ProductStarted(*_names(spec, builder)))
    shown = f"builds {builder.name}'s {spec.shown} product for {spec.arch}"
    request = {"product": spec.as_json()}
    return spec, Process(builder.command, request, folder, spec.symbol, shown, time_limit)


def _finish(spec: ProductSpec, process: Process, builder: Builder) -> Product:
    try:
        answer, code = process.answer()
    except BuildError as error:
        publish(ProductFailed(*_names(spec, builder), error.message))
        raise
    publish(ProductBuilt(*_names(spec, builder), process.seconds, len(code)))
    return Product(spec, code, {**answer["facts"], "builder": builder.name, "waited": process.seconds})


def _at_once(count: int) -> int:
    """How many processes this machine bears."""
    return max(1, min(count, settings().threads, free_memory() // MEMORY_EACH))


def free_memory() -> int:
    """Bytes that can be had without swapping, within what this container may use; where nobody says, 8 GiB."""
    machine = 8 << 30
    with suppress(OSError, StopIteration, ValueError):
        rows = Path("/proc/meminfo").read_text().splitlines()
        machine = next(int(row.split()[1]) << 10 for row in rows if row.startswith("MemAvailable:"))
    with suppress(OSError, ValueError):
        limit, used = (Path(f"/sys/fs/cgroup/memory.{name}").read_text().strip() for name in ("max", "current"))
        return min(machine, max(0, int(limit) - int(used)))
    return machine
