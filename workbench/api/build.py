"""From a specialisation to loaded code: key, cache, and only on a miss adjoint and compiler.

Forward and adjoint are artifacts of their own: an adjoint is derived and compiled when it is first asked for, and a use
that is forward only never pays for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from workbench.api.kernel import Specialisation
from workbench.autodiff import derived, parameters
from workbench.backends.base import Artifact, Backend, Options
from workbench.backends.cpu.compile import CpuBackend
from workbench.backends.cuda.nvrtc import CudaBackend
from workbench.backends.layout import layout
from workbench.backends.prints import SYMBOL
from workbench.cache.entry import Entry
from workbench.cache.key import Key, Part, make_key
from workbench.cache.native import load_kernel
from workbench.cache.store import Store, default_store
from workbench.errors import DeviceError
from workbench.events import CacheHit, CacheMiss, CompileDone, CompileStarted, StageDone, publish
from workbench.ir.values import Function, read_arrays, written_arrays
from workbench.passes.cost import cost
from workbench.passes.customs import without_customs
from workbench.passes.own import own
from workbench.runtime.device import Device, get_device
from workbench.runtime.driver import driver
from workbench.runtime.execute import cpu_threads
from workbench.runtime.loaded import Loaded
from workbench.structs import Struct, StructArray

BACKENDS: dict[str, Backend] = {"cpu": CpuBackend(), "cuda": CudaBackend()}
FEW_CORES = 8
"""Up to so many cores of a CPU launch, one that adds plainly beats all that add atomically to shared elements."""
_CODE: dict[tuple[str, str], Any] = {}  # digest and device to loaded code: one copy in a process
_LAST_KEYS: dict[tuple[str, str, str], Key] = {}  # kernel, direction, backend to the key built last: for "why"
_WHY: dict[tuple[str, str], tuple[str, ...]] = {}


def target_of(device: Device, backend: Backend) -> str:
    """What code for this device is compiled for."""
    if not device.is_cuda:
        return backend.target()
    found = driver()
    if found is None:
        raise DeviceError("There is no CUDA device to load a kernel on.")
    return found.arch(device.index)


def key_of(
    specialisation: Specialisation, direction: str, options: Options, backend: Backend, target: str, atomic: bool
) -> Key:
    """The module key of one direction of a specialisation."""
    extra = (
        *((Part("atomic", "extra", b"1", "yes"),) if atomic else ()),
        *(_checkpoints(specialisation) if "adjoint" in direction else ()),
        *_structs(specialisation),
    )
    return make_key(
        specialisation.function, options=options, backend=backend.name, backend_version=backend.version(),
        target=target, direction=direction, extra=extra,
    )  # fmt: skip


def _checkpoints(specialisation: Specialisation) -> Iterator[Part]:
    """How many states of a loop the adjoint keeps."""
    shown = str(specialisation.kernel.checkpoints)
    yield Part("checkpoints", "extra", shown.encode(), shown)


def _structs(specialisation: Specialisation) -> Iterator[Part]:
    """The structs among the parameters: fields in order, with their names, which the code alone does not show."""
    for n, (name, type) in enumerate(zip(specialisation.kernel.parameters, specialisation.types, strict=True)):
        struct = type.dtype if isinstance(type, StructArray) else type
        if isinstance(struct, Struct):
            yield Part(f"struct {n}", "signature", struct.content.encode(), f"{name} {type!r}({struct.content})")


def load(
    specialisation: Specialisation,
    direction: str = "forward",
    options: Options = Options(),  # noqa: B008  (frozen)
    device: Device | str | None = None,
    atomic: bool = False,
) -> Loaded:
    """The code of one direction, built or from the cache.

    Args:
        specialisation: a kernel with types.
        direction: "forward", "adjoint", "tangent" (see autodiff/directions.py).
        options: what changes the code.
        device: where it will run.
        atomic: for arguments that overlap: never add without atomics.

    Raises:
        NotDifferentiable: there is no right adjoint; the message says which line prevents it.
        BuildError: the compiler refused our text.
        DeviceError: there is no such device.
    """
    place = get_device(device)
    if not place.is_cuda and cpu_threads() <= FEW_CORES:
        options = replace(options, few_cores=True)
    slot = (direction, options, place, atomic)
    found = specialisation.loaded.get(slot)
    if found is None:
        found = specialisation.loaded[slot] = _find(specialisation, direction, options, place, atomic)
    return found


def _find(specialisation: Specialisation, direction: str, options: Options, device: Device, atomic: bool) -> Loaded:
    started = time.perf_counter()
    backend = BACKENDS[device.kind]
    target = target_of(device, backend)
    key = key_of(specialisation, direction, options, backend, target, atomic)
    name = specialisation.kernel.name
    store = default_store()
    entry = store.get(key.digest)
    _remember(name, direction, backend, key)
    if entry is None:
        with store.lock(key.digest):
            entry = store.get(key.digest, again=True)
            if entry is None:
                return _build(specialisation, direction, options, device, atomic, key, target, store, started)
    loaded = _loaded(specialisation, direction, options, device, atomic, key, entry)
    seconds = time.perf_counter() - started
    publish(CacheHit(name, direction, key.digest, entry.where, seconds, {**entry.metadata, "built": entry.built}))
    return loaded


def _remember(name: str, direction: str, backend: Backend, key: Key) -> None:
    slot = (name, direction, backend.name)
    before = _LAST_KEYS.get(slot)
    if before is None or before.digest != key.digest:
        _WHY[name, direction] = key.explain(before) if before else ()
        _LAST_KEYS[slot] = key


def why(name: str, direction: str = "forward") -> tuple[str, ...]:
    """What differed from the key before, when the kernel of this name was last built anew; empty for a first build."""
    return _WHY.get((name, direction), ())


def _build(
    specialisation: Specialisation, direction: str, options: Options, device: Device, atomic: bool, key: Key,
    target: str, store: Store, started: float,
) -> Loaded:  # fmt: skip
    name = specialisation.kernel.name
    backend = BACKENDS[device.kind]
    publish(CacheMiss(name, direction, key.digest, why(name, direction)))
    publish(CompileStarted(name, direction, backend.name, target))
    stages: dict[str, float] = {}

    def done(stage: str, seconds: float) -> None:
        stages[stage] = seconds
        publish(StageDone(name, direction, stage, seconds))

    if direction == "forward":
        done("parse", specialisation.seconds)
    clock = time.perf_counter()
    function = function_of(specialisation, direction, atomic, options.numbers)
    if direction != "forward":
        done("autodiff" if " " in direction else direction, time.perf_counter() - clock)
    artifact = backend.compile(function, options, target)
    for stage, seconds in artifact.metadata.get("stages", {}).items():
        done(stage, seconds)
    entry = Entry(artifact.image, _metadata(name, artifact, function, options, dict(stages)))
    store.put(key.digest, entry)
    clock = time.perf_counter()
    loaded = _loaded(specialisation, direction, options, device, atomic, key, entry)
    done("load", time.perf_counter() - clock)
    publish(CompileDone(name, direction, key.digest, time.perf_counter() - started, stages, dict(entry.metadata)))
    return loaded


def function_of(specialisation: Specialisation, direction: str, atomic: bool = False, numbers: bool = True) -> Function:
    """The IR of one direction; `atomic`: no plain adds, because arguments overlap; `numbers`: their gradients too.

    Raises:
        NotDifferentiable: there is no right adjoint or tangent.
    """
    function = derived(specialisation.function, direction, atomic, numbers, specialisation.kernel.checkpoints)
    if direction.endswith("adjoint"):
        return function
    function = without_customs(function)
    return function if atomic else own(function)


def _metadata(
    name: str, artifact: Artifact, function: Function, options: Options, stages: dict[str, float]
) -> dict[str, Any]:
    """Facts kept with the artifact; parameters by position, since their names are not in the key."""
    names = [p.name for p in function.params]
    return {
        **artifact.metadata,
        **({"checks": True} if options.checks else {}),
        "name": name,
        "stages": stages,
        "reads": sorted(names.index(n) for n in read_arrays(function)),
        "writes": sorted(names.index(n) for n in written_arrays(function)),
        "launch_ndim": function.launch_ndim,
        "cost": cost(function),
    }


def _loaded(
    specialisation: Specialisation,
    direction: str,
    options: Options,
    device: Device,
    atomic: bool,
    key: Key,
    entry: Entry,
) -> Loaded:
    code = _CODE.get((key.digest, device.name))
    if code is None:
        code = _CODE[key.digest, device.name] = _link(entry, device)
    params = [(p.name, p.type) for p in parameters(specialisation.function.params, direction)]
    facts = entry.metadata
    return Loaded(
        name=specialisation.kernel.name,
        direction=direction,
        device=device,
        address=0 if device.is_cuda else code.address,
        handle=code,
        layout=layout(params),
        launch_ndim=facts["launch_ndim"],
        reads=frozenset(params[k][0] for k in facts["reads"]),
        writes=frozenset(params[k][0] for k in facts["writes"]),
        cost=facts["cost"],
        digest=key.digest,
        contiguous=options.contiguous,
        checked=options.checks,
        ordered=options.ordered or facts.get("one_core", False),
        metadata=dict(facts),
        make_function=lambda: function_of(specialisation, direction, atomic, options.numbers),
    )


def _link(entry: Entry, device: Device) -> Any:
    if not device.is_cuda:
        more = (SYMBOL,) if entry.metadata.get("prints") else ()
        return load_kernel(entry.image, entry.metadata["entry"], *more)
    found = driver()
    assert found is not None
    return found.load(device.index, entry.image, entry.metadata["entry"])
