"""The choice of a CUDA kernel's matrix multiplication: the generated one at once, cuBLASDx's when its products are
built.

A linked kernel is an artifact of its own, under the generated one's key and its products' keys. So nothing waits and
nothing is swapped under a running launch: the launch after the linked artifact is there finds that one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from workbench.api.kernels.editions import Versioned
from workbench.backends.base import Artifact, Options
from workbench.backends.cuda.compile.lto import GENERATED, LINKED, compile_linked, products_of, version
from workbench.backends.cuda.products.spec import Product, ProductSpec, multiplies
from workbench.backends.cuda.products.workers import CUBLASDX, TIME_LIMIT, Builder, free_memory
from workbench.cache.disk import Entry
from workbench.cache.key import Key, Part
from workbench.cache.products import product_key, products
from workbench.cache.store import default_store
from workbench.config import settings
from workbench.errors import BuildError, WorkbenchError
from workbench.events import CacheMiss, CompileStarted, Linked, Notice, publish
from workbench.forks import after_fork
from workbench.ir.values import Function
from workbench.work import Work, go_on

MEMORY_FREE = 4 << 30
"""Bytes that must be free before products are built unasked."""
BUILDER: Builder = CUBLASDX
_SPECS: dict[str, tuple[ProductSpec, ...]] = {}  # by the generated kernel's key
_WORKS: dict[str, Work[object]] = {}  # by the linked kernel's key: one try per process
_WARNED: set[str] = set()
after_fork(_WORKS.clear)


class Request(msgspec.Struct, frozen=True):
    """A request for a kernel's code with linked products: in one direction, for one architecture.

    Attributes:
        kernel, direction: their names.
        key: of the generated artifact.
        function: returns the kernel's IR.
        options, target: of its compilation.
        finish: makes an entry for the store of an artifact, its IR and the seconds of each stage.
        on_stage: called with each stage's name and seconds, when a build that somebody waits for ends it.
    """

    kernel: str
    direction: str
    key: Key
    function: Callable[[], Function]
    options: Options
    target: str
    finish: Callable[[Artifact, Function, dict[str, float]], Entry]
    on_stage: Callable[[str, float], None]


def mode_of(kernel: Versioned) -> str:
    """Return "auto", "generated" or "cublasdx": as the kernel says, or else the setting `WORKBENCH_MATMUL`."""
    return kernel.matmul or settings().matmul


def linked_key(request: Request, specs: tuple[ProductSpec, ...]) -> Key:
    """Return the key of the linked kernel: that of the generated one with its products and the linker's version."""
    parts = [product_key(spec, BUILDER).digest for spec in specs]
    shown = ", ".join(spec.shown for spec in specs)
    return Key(
        (
            *request.key.parts,
            Part("products", "extra", "".join(parts).encode(), shown),
            Part("linker", "compiler", (linker := version(request.target)).encode(), linker),
        )
    )


def find_linked(request: Request, mode: str, ready: Callable[[], None] | None) -> tuple[Key, Entry] | None:
    """Return the key and code of the linked kernel, if it is the one to run now; None: the generated one is.

    Args:
        request: the kernel; its forward function multiplies tiles.
        mode: "auto", "generated" or "cublasdx".
        ready: called from another thread when a linked kernel, not there now, has been built; None: nothing waits for
            one, so that none is built unasked.

    Raises:
        BuildError: "cublasdx" was requested and cannot be had; the message says why.
        DeviceError: the same, for something that is not installed.
    """
    if mode == GENERATED or (mode == "auto" and BUILDER.missing()):
        return None
    specs = _specs(request)
    if not specs:
        return _nothing_to_link(request) if mode == "cublasdx" and request.direction == "forward" else None
    key = linked_key(request, specs)
    entry = default_store().get(key.digest)
    if entry is None and mode == "cublasdx":
        publish(CacheMiss(request.kernel, request.direction, key.digest))
        publish(CompileStarted(request.kernel, request.direction, "cuda", request.target))
        entry = _linked(request, key, specs, request.on_stage)
    elif entry is None and ready is not None:
        _begin(request, key, specs, ready)
    return None if entry is None else (key, entry)


def _specs(request: Request) -> tuple[ProductSpec, ...]:
    """Return the link-time products of a kernel's tile multiplications, remembered by key; empty if it has none."""
    specs = _SPECS.get(request.key.digest)
    if specs is None:
        function = request.function()
        specs = products_of(function, request.options, request.target) if multiplies(function) else ()
        _SPECS[request.key.digest] = specs
    return specs


def _nothing_to_link(request: Request) -> None:
    """Raise a BuildError: the kernel asks for cuBLASDx, which can compute none of its multiplications."""
    raise BuildError(
        f'{request.kernel} asks for matmul="cublasdx", and cuBLASDx has no code for its multiplications.',
        log="",
        advice="It multiplies float16, bfloat16, float32 and float64 and adds up in float32 or float64.",
    )


def _linked(request: Request, key: Key, specs: tuple[ProductSpec, ...], report: Callable[[str, float], None]) -> Entry:
    """Return the linked kernel, from the store or built now."""
    store, stages = default_store(), dict[str, float]()

    def done(stage: str, seconds: float) -> None:
        stages[stage] = seconds
        report(stage, seconds)

    with store.lock(key.digest, TIME_LIMIT):
        entry = store.get(key.digest, recheck=True)
        if entry is not None:
            return entry
        clock = time.perf_counter()
        images = products(specs, BUILDER)
        done("products", time.perf_counter() - clock)
        for product in images:
            done(*_own_stage(product))
        function = request.function()
        artifact = compile_linked(function, request.options, request.target, images)
        for stage, seconds in artifact.metadata["stages"].items():
            done(stage, seconds)
        entry = request.finish(artifact, function, stages)
        store.put(key.digest, entry)
    return entry


def _own_stage(product: Product) -> tuple[str, float]:
    """Return the name and seconds of a product's stage: how long its own process took; 0 if it was in the cache."""
    seconds = product.metadata["waited"] if product.where == "built" else 0.0
    return f"{product.spec.role} {product.spec.shown} ({product.where})", seconds


def _begin(request: Request, key: Key, specs: tuple[ProductSpec, ...], ready: Callable[[], None]) -> None:
    """Build the linked kernel in the background, once per process; the generated one runs meanwhile.

    Nothing is built where memory is short.
    """
    if key.digest in _WORKS:
        return
    if free_memory() < MEMORY_FREE:
        _tell_once(f"{request.kernel} keeps its generated matrix multiplication: {LINKED} needs 4 GB of free memory.")
        return
    _WORKS[key.digest] = Work(_in_background, request, key, specs, ready, name=f"{LINKED} for {request.kernel}")
    _tell_once(f"{request.kernel} runs its generated matrix multiplication until {LINKED}'s is ready.")


def _in_background(request: Request, key: Key, specs: tuple[ProductSpec, ...], ready: Callable[[], None]) -> None:
    """Build the linked kernel into the cache, publish `Linked`, and call `ready`; on failure publish a notice only."""
    started = time.perf_counter()
    try:
        entry = _linked(request, key, specs, lambda stage, seconds: go_on())
    except WorkbenchError as error:
        _tell_once(f"{request.kernel} keeps its generated matrix multiplication: {error.message}")
        return
    spent = time.perf_counter() - started
    publish(Linked(request.kernel, request.direction, key.digest, spent, dict(entry.metadata)))
    ready()


def _tell_once(message: str) -> None:
    """Publish a notice, once per process and message."""
    if message not in _WARNED:
        _WARNED.add(message)
        publish(Notice(message))
