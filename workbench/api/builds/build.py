"""From a specialisation to loaded code: key, cache, and only on a miss adjoint and compiler.

Forward and adjoint are artifacts of their own: an adjoint is derived and compiled on first use, and a use
that is forward only never pays for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import replace

from workbench.api.builds.keys import key_of, note_forced, remember, target_of, why_built
from workbench.api.kernels.kernel import Building, Specialisation
from workbench.autodiff import adjoint_names, derived, parameters
from workbench.autodiff.adjoint_signature import residual_counts
from workbench.autodiff.directions import STORING, repeats_loops
from workbench.autodiff.memory.replaced import described, replacing
from workbench.backends.base import Artifact, Backend, Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cuda.products.spec import multiplies
from workbench.backends.layout import access_bytes, layout
from workbench.backends.prints import SYMBOL
from workbench.cache.disk import Entry
from workbench.cache.key import Key, Part
from workbench.cache.native import load_kernel
from workbench.cache.store import Store, default_store
from workbench.deep import with_deep_stack
from workbench.errors import LaunchError, NotDifferentiable
from workbench.events import CacheHit, CacheMiss, CompileDone, CompileStarted, StageDone, publish
from workbench.ir.values import Function, read_arrays, written_arrays
from workbench.passes.analysis.cost import cost
from workbench.passes.pipeline import CONTRACTED, RUNNABLE, RUNNABLE_ADJOINT, run
from workbench.runtime.device.device import Device, driver_of, get_device
from workbench.runtime.launching.executable import Executable, InOrder, titled
from workbench.runtime.launching.execute import cpu_threads
from workbench.runtime.native.launcher import compiles
from workbench.types import ArrayType, Type
from workbench.weak import WeakValueDict
from workbench.work import POLL, Work, go_on

if TYPE_CHECKING:
    from workbench.autodiff.memory.effects import Launch

Found = TypeVar("Found")
Slot = tuple[str, Options, Device, bool]
"""A direction, its options, its device, and whether it never adds without atomics."""
FEW_CORES = 8
"""Up to so many cores of a CPU launch, one that adds plainly beats all that add atomically to shared elements."""
_CODE: WeakValueDict[str, Any] = WeakValueDict()  # by digest: one copy in a process, while used
_DEVICE_CODE: dict[tuple[str, str], Any] = {}  # by digest and device: what is queued may still be about to run it


@cache
def backend_for(kind: str) -> Backend:
    """Return the backend of a kind of device: `"cpu"`, `"cuda"`, `"emulated"`.

    Raises:
        KeyError: there is no such kind.
    """
    # Here, not at the top: an import of the library reads neither half, a session on the CPU never that of CUDA.
    if kind == "cpu":
        return CpuBackend()
    from workbench.backends.cuda.compile.nvrtc import CudaBackend, EmulatedBackend

    return {"cuda": CudaBackend, "emulated": EmulatedBackend}[kind]()


def options_on(device: Device, options: Options) -> Options:
    """Return the options as they apply on a device.

    The CPU ignores those for sizes, alignment and overlaps, and has code of its own for few cores. Code with checks
    begins with its quick version alone.
    """
    if device.is_cuda:
        return options
    few = cpu_threads() <= FEW_CORES
    usual = options.index32 and options.aligned and options.apart
    usual = usual and options.few_cores == few and options.quick == options.checks
    return options if usual else _on_cpu(options, few)


@lru_cache(maxsize=256)
def _on_cpu(options: Options, few_cores: bool) -> Options:
    """Return the options for the CPU: index32, aligned and apart are set, so that code does not depend on them."""
    return replace(options, few_cores=few_cores, index32=True, aligned=True, apart=True, quick=options.checks)


def load(
    specialisation: Specialisation,
    direction: str = "forward",
    options: Options = Options(),
    device: Device | str | None = None,
    atomic: bool = False,
    force: bool = False,
) -> Executable:
    """Return the code of one direction, built or from the cache.

    Args:
        specialisation: a kernel with types.
        direction: "forward", "adjoint", "tangent" (see autodiff/directions.py).
        options: what changes the code.
        device: where it will run; None: the default device.
        atomic: for arguments that overlap: never add without atomics.
        force: compile it even where it is cached.

    Raises:
        NotDifferentiable: there is no right adjoint; the message says which line prevents it.
        BuildError: the compiler refused the generated text.
        LaunchError: a deterministic order is asked for, and the kernel is CUDA C++ or adds in a way that has none.
        DeviceError: there is no such device.
    """
    target = get_device(device)
    own_code = specialisation.load(direction, target, options.checks)
    if own_code is not None and options.ordered and target.is_cuda:
        raise LaunchError(
            f"deterministic=True: {own_code.name} is CUDA C++, and the order in which it adds is unknown.",
            advice="Leave it out.",
            function=own_code.name,
        )
    if own_code is not None:
        return own_code
    return _load(specialisation, (direction, options_on(target, options), target, atomic), force)


def _load(specialisation: Specialisation, slot: Slot, force: bool = False) -> Executable:
    """Return the code for a slot (direction, options, device, atomic), built or from the cache.

    It is noted in the specialisation's `executables`, and taken from there the next time unless `force` is set.
    Raise as `load` does.
    """
    direction, options, target, _ = slot
    executable = specialisation.executables.get(slot)
    building = specialisation.building.pop(slot, None) if executable is None else None
    if building is not None and building.work is not None and not force:
        executable = _awaited(building.work)
        if executable is not None:
            specialisation.executables[slot] = executable
    if executable is None or force:
        wanted = _wanted(specialisation, direction, slot)
        ordered = _in_order(wanted) if options.ordered and target.is_cuda else None
        executable = ordered or _built(wanted, force)
        specialisation.executables[slot] = executable
    return executable


def ahead(
    specialisation: Specialisation,
    direction: str = "forward",
    options: Options = Options(),
    device: Device | str | None = None,
    atomic: bool = False,
    begin: bool = True,
) -> Executable:
    """Return the description of one direction's code that launches need, and build the code in the background.

    The result's `ready()`, and `load`, wait for that build and raise what it raised. Code that is loaded, cached or
    cannot wait (the user's own; ordered additions or matrix products on a GPU) is returned loaded.

    Args:
        specialisation, direction, options, device, atomic: as for `load`.
        begin: begin to build; False: build when it is needed.

    Raises:
        NotDifferentiable, DeviceError: as `load`.
    """
    target = get_device(device)
    slot = (direction, options_on(target, options), target, atomic)
    executable = specialisation.executables.get(slot)
    if executable is not None:
        return executable
    known = specialisation.building.get(slot)
    if known is not None:
        return known.described
    own = specialisation.load(direction, target, options.checks) is not None
    if own or (options.ordered and target.is_cuda) or (target.is_cuda and multiplies(specialisation.function)):
        return load(specialisation, direction, options, target, atomic)
    wanted = _wanted(specialisation, direction, slot)
    executable = _from_cache(wanted, partial(_load_entry, wanted, target))
    if executable is not None:
        specialisation.executables[slot] = executable
        return executable
    clock = time.perf_counter()
    function = wanted.function()
    metadata = _metadata(wanted, Artifact(b"", {"backend": wanted.backend.name}), function, {})
    build_later = partial(load, specialisation, direction, options, target, atomic)
    executable = replace(_described(wanted, wanted.key.digest, None, metadata), build_later=build_later)
    work = None
    if begin:
        vars(wanted)["derived"] = function, time.perf_counter() - clock
        with suppress(RuntimeError):  # without room for a thread it is built when it is needed
            work = Work(_built, wanted, name=titled(wanted.name, direction), ahead=True)
    specialisation.building[slot] = Building(executable, work)
    return executable


def when_built(specialisation: Specialisation, direction: str, options: Options, device: Device) -> Executable | None:
    """Return the code of one direction if it has been built; otherwise build it in the background, and return None.

    Raises:
        NotDifferentiable, BuildError, DeviceError: as `load`.
    """
    executable = ahead(specialisation, direction, options, device)
    building = specialisation.building.get((direction, options_on(device, options), device, False))
    if executable.build_later is not None and building is not None and building.work and not building.work.done:
        return None
    return executable.ready()


def _wanted(specialisation: Specialisation, direction: str, slot: Slot) -> _Wanted:
    """Return the description of what is to be compiled for a slot (direction, options, device, atomic).

    Raises:
        NotDifferentiable: it is an adjoint, and the kernel has `enable_backward=False`.
    """
    _, options, device, atomic = slot
    _refuse_unwanted(specialisation, direction)
    backend = backend_for(device.kind)
    return _Wanted(specialisation, direction, options, backend, target_of(device, backend), atomic, device)


def _built(wanted: _Wanted, force: bool = False) -> Executable:
    """Return the loaded code, from the cache or compiled; raise as `load` does.

    If a linked kernel (cuBLASDx) is ready later, the specialisation's loaded code, bindings and plans are dropped.
    """
    specialisation, device = wanted.specialisation, wanted.device
    assert device is not None

    def ready() -> None:
        specialisation.executables.pop((wanted.direction, wanted.options, device, wanted.atomic), None)
        specialisation.bound.clear()
        specialisation.kernel.plans.clear()

    return _find(wanted, force, partial(_load_entry, wanted, device), ready)


@compiles(lambda frame: _shown_work(frame["work"]))
def _awaited(work: Work[Executable]) -> Executable | None:
    """Wait for a build in the background and return its result; None if that build was dropped.

    Raises:
        BuildError: the compiler refused the generated text.
        KeyboardInterrupt: the user interrupted; all builds ahead of need are dropped.
    """
    try:
        while not work.wait(POLL):
            go_on()
    except KeyboardInterrupt:
        for each in Work.running():
            if each.ahead:
                each.drop()
        raise
    return None if work.dropped else work.result()


def _shown_work(work: Work[Executable]) -> str:
    """Return a build's name for a status line, with the number of other builds that nobody waits for yet."""
    more = sum(each.ahead for each in Work.running()) - 1
    return f"{work.name}, and {more} more" if more > 0 else work.name


@with_deep_stack
def _in_order(wanted: _Wanted) -> Executable | None:
    """Return a substitute for code that adds to floats from many threads, which adds in the threads' order.

    None for code that has no such additions.

    Raises:
        LaunchError: the additions cannot be ordered.
    """
    from workbench.autodiff.instrumented import runnable, sums_of

    specialisation, options = wanted.specialisation, wanted.options
    function = derived(
        specialisation.function, wanted.direction, wanted.atomic, options.numbers, specialisation.kernel.checkpoints,
        frozenset(specialisation.function.params[k].name for k in options.constant), False, launch_like(options),
        options.uncleared,
    )  # fmt: skip
    function = runnable(function, wanted.direction.endswith("adjoint"), wanted.atomic)
    sums = sums_of(function)
    if sums is None:
        return None
    metadata = _metadata(wanted, Artifact(b"", {"backend": wanted.backend.name}), function, {})
    described = _described(wanted, wanted.key.digest, None, metadata)
    return replace(described, in_order=InOrder(sums, specialisation, replace(options, ordered=False), wanted.atomic))


def compile_for(
    specialisation: Specialisation, direction: str, options: Options, target: str, force: bool = False
) -> Entry:
    """Return the cubin of one direction for a GPU architecture (`sm_90`), compiled or from the cache; no GPU is needed.

    Raises:
        NotDifferentiable, BuildError: as `load`.
        DeviceError: NVRTC is missing, or does not know the architecture.
    """
    _refuse_unwanted(specialisation, direction)
    return _find(
        _Wanted(specialisation, direction, options, backend_for("cuda"), target), force, lambda _, entry: entry
    )


def function_for(specialisation: Specialisation, direction: str, options: Options) -> Function:
    """Return the IR that `compile_for` compiles for a GPU; adjoints for the CPU differ."""
    return _Wanted(specialisation, direction, options, backend_for("cuda"), "").function()


class _Wanted(msgspec.Struct, frozen=True, dict=True):
    """A direction of a kernel to compile, with the options, backend and target of the code.

    Attributes:
        atomic: arguments overlap, so that the code never adds without atomics.
        device: where it will run; None: on some machine with this target, so that it is not loaded here.
    """

    specialisation: Specialisation
    direction: str
    options: Options
    backend: Backend
    target: str
    atomic: bool = False
    device: Device | None = None

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.specialisation.kernel.name

    @cached_property
    def key(self) -> Key:
        """The key under which the cache stores the code."""
        return key_of(self.specialisation, self.direction, self.options, self.backend, self.target, self.atomic)

    def repeats(self, function: Function) -> bool:
        """Return whether this is an adjoint for the CPU, as `function`, that repeats loops of the kernel."""
        adjoint = self.direction == "adjoint" and self.backend.name == "cpu"
        return adjoint and repeats_loops(self.specialisation.function, function)

    def function(self) -> Function:
        """Return the IR of the direction."""
        o, stack = self.options, self.backend.name != "cuda"
        return function_of(
            self.specialisation, self.direction, self.atomic, o.numbers, o.constant, stack, launch_like(o),
            o.uncleared, o.replaced,
        )  # fmt: skip


def _find(
    wanted: _Wanted, force: bool, use: Callable[[Key, Entry], Found], ready: Callable[[], None] | None = None
) -> Found:
    """Apply `use` to the artifact and return its result; it comes from the cache, or is compiled here.

    If several processes want the same one, one compiles it and the others wait. In place of a quick version the code
    with both versions is used where the cache has it.

    Args:
        wanted: what is compiled.
        force: compile it even if it is cached.
        use: makes the result of the artifact and its key, for example loaded code.
        ready: called from another thread once a kernel with linked products, not there now, has been built; None
            builds none in the background.
    """
    go_on()
    started = time.perf_counter()
    if wanted.backend.name == "cuda" and not force:
        linked = _linked(wanted, ready)
        if linked is not None:
            return use(*linked)
    used = _from_cache(wanted, use, force)
    if used is not None:
        return used
    store, key = default_store(), wanted.key
    with store.lock(key.digest):
        entry = None if force else find_entry(store, key, recheck=True)
        if entry is None and not force and wanted.options.quick:
            key = replace(wanted, options=replace(wanted.options, quick=False)).key
            entry = find_entry(store, key, recheck=True)
        if entry is None:
            if force:
                _forget(wanted)
            return _build(wanted, store, use, started)
    used = use(key, entry)
    _report_hit(wanted, key, started, entry)
    return used


def _from_cache(wanted: _Wanted, use: Callable[[Key, Entry], Found], force: bool = False) -> Found | None:
    """Return what `use` makes of the artifact in the cache; None if there is none, or with `force`.

    In any case the key is noted as the kernel's last one, and the kernel's lowering is stored.
    """
    started, key = time.perf_counter(), wanted.key
    entry = None if force else find_entry(default_store(), key)
    remember(wanted.name, wanted.direction, wanted.backend, key)
    wanted.specialisation.keep()
    if entry is None:
        return None
    used = use(key, entry)
    _report_hit(wanted, key, started, entry)
    return used


def _forget(wanted: _Wanted) -> None:
    """Drop this process' loaded code of what is about to be compiled again."""
    note_forced(wanted.name, wanted.direction, wanted.backend, wanted.key)
    if wanted.device is not None:
        _CODE.pop(wanted.key.digest)
        _DEVICE_CODE.pop((wanted.key.digest, wanted.device.name), None)


def _build(wanted: _Wanted, store: Store, use: Callable[[Key, Entry], Found], started: float) -> Found:
    """Compile the direction, store the entry in the cache, report the end of the build, and return the result of `use`.

    `started` is a time of `perf_counter`, from which the build's seconds are counted.
    """
    stages = _Stages(wanted.name, wanted.direction)
    entry = _compiled(wanted, stages)
    store_entry(store, wanted.key, entry)
    clock = time.perf_counter()
    used = use(wanted.key, entry)
    if wanted.device is not None:
        stages.done("load", time.perf_counter() - clock)
    _tell_done(stages, wanted.key, started, entry)
    return used


def _linked(wanted: _Wanted, ready: Callable[[], None] | None) -> tuple[Key, Entry] | None:
    """Return key and cubin of a kernel whose matrix products are linked in (see `workbench.api.builds.linking`).

    None if it has no products, or is not to run in that form now.
    """
    if not multiplies(wanted.specialisation.function):
        return None
    from workbench.api.builds.linking import Request, find_linked, mode_of

    started = time.perf_counter()
    stages = _Stages(wanted.name, wanted.direction)

    def finish(artifact: Artifact, function: Function, spent: dict[str, float]) -> Entry:
        return Entry(artifact.image, _metadata(wanted, artifact, function, spent))

    request = Request(
        wanted.name, wanted.direction, wanted.key, wanted.function, wanted.options, wanted.target, finish, stages.done
    )
    linked = find_linked(request, mode_of(wanted.specialisation.kernel), ready)
    if linked is not None and stages.seconds:
        _tell_done(stages, linked[0], started, linked[1])
    elif linked is not None:
        _report_hit(wanted, linked[0], started, linked[1])
    return linked


class _Stages:
    """The stages of one build: reports each as it ends, and stops there a build that is no longer needed."""

    def __init__(self, kernel: str, direction: str) -> None:
        """Begin without stages, for the build of one direction of the kernel of this name."""
        self.kernel = kernel
        self.direction = direction
        self.seconds: dict[str, float] = {}

    def done(self, stage: str, seconds: float) -> None:
        """Note and report the seconds of a finished stage; a build that is no longer needed stops here."""
        self.seconds[stage] = seconds
        publish(StageDone(self.kernel, self.direction, stage, seconds))
        go_on()


def _tell_done(stages: _Stages, key: Key, started: float, entry: Entry) -> None:
    """Report a finished compilation to listeners, with its total seconds since `started`, its stages and metadata."""
    spent = time.perf_counter() - started
    publish(CompileDone(stages.kernel, stages.direction, key.digest, spent, stages.seconds, dict(entry.metadata)))


def _report_hit(wanted: _Wanted, key: Key, started: float, entry: Entry) -> None:
    """Report to listeners that the code came from the cache, with seconds since `started` and the entry's metadata."""
    metadata = {**entry.metadata, "built": entry.built}
    publish(CacheHit(wanted.name, wanted.direction, key.digest, entry.where, time.perf_counter() - started, metadata))


@compiles(lambda frame: titled(frame["wanted"].name, frame["wanted"].direction))
def _compiled(wanted: _Wanted, stages: _Stages) -> Entry:
    """Return the entry of a direction, compiled now by its backend; it is not stored.

    Listeners learn of the cache miss, the start and each stage.

    Raises:
        NotDifferentiable, BuildError: as `load`.
    """
    name, direction, options = wanted.name, wanted.direction, wanted.options
    publish(CacheMiss(name, direction, wanted.key.digest, why_built(name, direction, wanted.backend, wanted.key)))
    publish(CompileStarted(name, direction, wanted.backend.name, wanted.target))
    wanted.backend.prepare()
    if direction == "forward":
        stages.done("parse", wanted.specialisation.seconds)
    clock = time.perf_counter()
    function, before = vars(wanted).pop("derived", None) or (wanted.function(), 0.0)
    if direction != "forward":
        stages.done("autodiff" if " " in direction else direction, time.perf_counter() - clock + before)
    artifact = wanted.backend.compile(function, options, wanted.target)
    for stage, seconds in artifact.metadata.get("stages", {}).items():
        stages.done(stage, seconds)
    return Entry(artifact.image, _metadata(wanted, artifact, function, dict(stages.seconds)))


def launch_like(options: Options) -> Launch | None:
    """Return the launch that an adjoint's code assumes, by `options.single`; None if it is right for all."""
    if options.single is None:
        return None
    from workbench.autodiff.memory.effects import Launch

    return Launch(options.single)


@with_deep_stack
def function_of(
    specialisation: Specialisation,
    direction: str,
    atomic: bool = False,
    numbers: bool = True,
    constant: tuple[int, ...] = (),
    stack: bool = True,
    launch: Launch | None = None,
    uncleared: bool = False,
    replaced: bool = False,
) -> Function:
    """Return the IR of one direction, ready for a backend.

    Args:
        specialisation: a kernel with types.
        direction: "forward", "adjoint", "tangent", or several of these applied in turn.
        atomic: never add without atomics, because arguments overlap.
        numbers: compute gradients of number parameters too.
        constant: positions of parameters whose gradients are not computed.
        stack: an adjoint may keep all states of a short loop in the thread's own memory; not so on a GPU.
        launch: the launches that an adjoint is for; None: all.
        uncleared: leave adjoints of arrays that are overwritten in boxes as they are; the caller clears them.
        replaced: set gradients where that is possible, instead of adding to them.

    Raises:
        NotDifferentiable: there is no right adjoint or tangent, or the kernel has `enable_backward=False`.
    """
    _refuse_unwanted(specialisation, direction)
    kernel = specialisation.kernel
    return ir_of(
        specialisation.function, direction, atomic, kernel.checkpoints, numbers, constant, kernel.fma, stack, launch,
        uncleared, replaced,
    )  # fmt: skip


def ir_of(
    forward: Function, direction: str, atomic: bool, checkpoints: int, numbers: bool = True,
    constant: tuple[int, ...] = (), fma: bool = False, stack: bool = True, launch: Launch | None = None,
    uncleared: bool = False, replaced: bool = False,
) -> Function:  # fmt: skip
    """Return the IR of one direction, derived from a kernel's forward IR alone; otherwise as `function_of`.

    With `fma` products and sums are contracted; `checkpoints` is the kernel's option.

    Raises:
        NotDifferentiable: there is no right adjoint or tangent.
    """
    names = frozenset(forward.params[k].name for k in constant)
    function = derived(forward, direction, atomic, numbers, checkpoints, names, stack, launch, uncleared)
    if direction.endswith("adjoint"):
        function = run(RUNNABLE_ADJOINT, function, reductions=not atomic)
    else:
        function = run(RUNNABLE, function, demote_atomics=not atomic, reductions=not atomic)
    if replaced:
        function = replacing(function, _gradients(forward))
    return run(CONTRACTED, function) if fma else function


def _gradients(forward: Function) -> list[str]:
    """Return the names of the gradients of the arrays that a kernel does not write."""
    written, names = written_arrays(forward), adjoint_names(forward.params)
    return [names[p.name] for p in forward.params if p.name in names and p.name not in written]


def _refuse_unwanted(specialisation: Specialisation, direction: str) -> None:
    """Raise NotDifferentiable for an adjoint of a kernel with `enable_backward=False`."""
    if "adjoint" in direction and not specialisation.kernel.enable_backward:
        raise NotDifferentiable(
            f"{specialisation.kernel.name} was made with enable_backward=False.",
            specialisation.kernel.place,
            "Leave that out to differentiate it.",
            specialisation.kernel.name,
        )


def _metadata(wanted: _Wanted, artifact: Artifact, function: Function, stages: dict[str, float]) -> dict[str, object]:
    """Return the metadata to store with compiled code: the compiler's, name, stages, arrays that it accesses, cost.

    Arrays are named by their parameters' positions, since the key has no parameter names.
    """
    names = [p.name for p in function.params]
    return {
        **({"matmul": "generated"} if artifact.metadata["backend"] == "cuda" and multiplies(function) else {}),
        **artifact.metadata,
        **({"checks": True} if wanted.options.checks else {}),
        "name": wanted.name,
        "stages": stages,
        "reads": sorted(names.index(n) for n in read_arrays(function)),
        "writes": sorted(names.index(n) for n in written_arrays(function)),
        "launch_ndim": function.launch_ndim,
        "cost": cost(function),
        **({"block_dim": function.block_dim} if function.block_dim else {}),
        **({"replaced": described(function)} if wanted.options.replaced else {}),
        **({"residuals": residual_counts(function)} if wanted.direction == STORING else {}),
        **({"repeats": True} if wanted.repeats(function) else {}),
    }


def _load_entry(wanted: _Wanted, device: Device, key: Key, entry: Entry) -> Executable:
    """Return an entry of the cache as launchable code, loaded into this process or onto the device."""
    digest = entry_key(key, entry).digest
    return _described(wanted, digest, _code(digest, entry, device), entry.metadata)


def _described(wanted: _Wanted, digest: str, code: Any, metadata: Mapping[str, Any]) -> Executable:
    """Return the `Executable` for one direction: its compiled code with the metadata that launching needs.

    `code` is None while it is still to be built.
    """
    specialisation, direction, options, device = wanted.specialisation, wanted.direction, wanted.options, wanted.device
    assert device is not None
    params = [(p.name, p.type) for p in parameters(specialisation.params, direction)]
    reads: list[int] = metadata["reads"]  # positions: names of parameters are not in the key
    writes: list[int] = metadata["writes"]
    return Executable(
        name=wanted.name,
        direction=direction,
        device=device,
        address=0 if device.is_cuda or code is None else code.address,
        handle=code,
        layout=layout(params),
        launch_ndim=metadata["launch_ndim"],
        reads=frozenset(params[k][0] for k in reads),
        writes=frozenset(params[k][0] for k in writes),
        cost=metadata["cost"],
        digest=digest,
        contiguous=options.contiguous,
        index32=options.index32 and device.is_cuda,
        aligned=options.aligned and device.is_cuda and any(map(_is_wide, (t for _, t in params))),
        apart=options.apart and device.is_cuda,
        checked=options.checks,
        ordered=options.ordered or metadata.get("one_core", False),
        metadata=dict(metadata),
        make_function=wanted.function,
        compile_for=partial(_compiled_for, wanted),
        load_complete=partial(_complete, wanted) if metadata.get("declines") else None,
    )


def _complete(wanted: _Wanted) -> Executable:
    """Return the code of a direction with both of its versions, built or from the cache.

    The quick one leaves out the checks that a test of the launch's arguments makes needless; the other has all.
    """
    assert wanted.device is not None
    options = replace(wanted.options, quick=False)
    return _load(wanted.specialisation, (wanted.direction, options, wanted.device, wanted.atomic))


def _is_wide(type: Type) -> bool:
    """Return whether a parameter's type is an array whose elements vector loads can access whole."""
    return isinstance(type, ArrayType) and bool(access_bytes(type))


def _compiled_for(wanted: _Wanted, target: str) -> Entry:
    """Return the same code compiled for another target of the CPU backend, for few cores."""
    options = replace(_on_cpu(wanted.options, few_cores=True), quick=False)
    other = replace(wanted, options=options, backend=backend_for("cpu"), target=target, device=None)
    return _find(other, False, lambda _, entry: entry)


def _code(digest: str, entry: Entry, device: Device) -> Any:
    """Return the code, loaded into this process or onto the device; each is loaded once.

    Code of the CPU is unloaded when nothing refers to it any more.
    """
    if not device.is_cuda:
        code = _CODE.get(digest)
        if code is None:
            more = (SYMBOL,) if entry.metadata.get("prints") else ()
            code = load_kernel(entry.image, entry.metadata["entry"], *more)
            _CODE.put(digest, code)
        return code
    slot = (digest, device.name)
    if slot not in _DEVICE_CODE:
        metadata, driver = entry.metadata, driver_of(device)
        _DEVICE_CODE[slot] = driver.load(
            device.index, entry.image, metadata["entry"], metadata.get("dynamic_shared", 0)
        )
    return _DEVICE_CODE[slot]


UNVECTORISED = "unvectorised"
"""In an artifact's metadata: why it was compiled without vectorisation."""


def entry_key(key: Key, entry: Entry) -> Key:
    """Return the key under which an entry compiled for `key` is stored: another one if it was not vectorised."""
    return _unvectorised(key) if UNVECTORISED in entry.metadata else key


def find_entry(store: Store, key: Key, *, recheck: bool = False) -> Entry | None:
    """Return the stored entry of `key`; None if there is none.

    With `recheck` (a second look, under the lock, whose miss is not counted) the unvectorised variant, which is
    rare, is looked up too.
    """
    entry = store.get(key.digest, recheck=recheck)
    return store.get(_unvectorised(key).digest, recheck=True) if entry is None and recheck else entry


def store_entry(store: Store, key: Key, entry: Entry) -> None:
    """Store what was compiled for `key`.

    Raises:
        CacheError: as `Store.put`.
    """
    store.put(entry_key(key, entry).digest, entry)


def _unvectorised(key: Key) -> Key:
    """Return the key of the variant of this code that is compiled without vectorisation."""
    return Key((*key.parts, Part("vectorisation", "extra", b"0", "none")))
