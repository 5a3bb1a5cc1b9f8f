"""`load_record`: a saved record, ready to be looked at and replayed in this process.

Kernels come back from their verified IR through the same build as any other: from the cache, else compiled. What the
file itself brings of machine code is used only where its maker is trusted; without that trust launches run with checks,
so that no index of theirs can reach outside an array.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

from msgspec.structs import replace

from workbench.api.builds.bind import bind
from workbench.api.graphs.graph import Graph as CapturedGraph
from workbench.api.kernels.editions import Edition
from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.api.kernels.struct import make_struct
from workbench.api.lowerings.lowering import known_function
from workbench.api.recorder import Recorder
from workbench.autodiff.directions import parameters
from workbench.cache.disk import Damaged, decode, distrust, own
from workbench.cache.store import default_store
from workbench.errors import LaunchError, RecordError, WorkbenchError
from workbench.frontend.state.context import Tiling
from workbench.host.narrow import HostArray
from workbench.ir.values import Function
from workbench.runtime.active_observers import observing
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import lying_in
from workbench.runtime.device.call_site import Site
from workbench.runtime.device.device import get_device
from workbench.runtime.device.memory import Memory, allocate
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.record import LaunchOptions, LaunchRecord
from workbench.runtime.records.archive import record_error
from workbench.runtime.records.contents import Contents, write_bytes
from workbench.runtime.records.counters import Counters
from workbench.runtime.records.saved import (
    KernelFacts,
    Ref,
    Saved,
    SavedBranch,
    SavedCall,
    SavedFill,
    SavedGraph,
    SavedLaunch,
    SavedWork,
    read,
)
from workbench.runtime.work import Add, Call, Copy, Fill, Graph, If, Launch, While, Work, make_ready
from workbench.source import UNKNOWN, Location
from workbench.structs import ELEMENT, Struct
from workbench.types import ArrayType


class _Edition(Edition):
    """The edition of a kernel from a file, which is never outdated."""

    def __init__(self, kernel: str) -> None:
        """Identify a kernel by its name alone: it has no digest, and no cell binds it."""
        self.kernel, self.content, self.name = kernel, "", None


class SavedKernel(Kernel):
    """A kernel loaded from a file: it has a name and IR, but no Python function, and `launch` refuses it."""

    def __init__(self, function: Function, checkpoints: int, fma: bool) -> None:
        """Hold the IR of a forward function with the options of its adjoint."""
        self.checkpoints, self.fma = checkpoints, fma
        self.name = self.__name__ = function.name
        self.parameters = tuple(p.name for p in function.params)
        self.place = Location(function.source, 1)
        self._annotations = {p.name: p.type for p in function.params}
        self._families = {}
        self.plans = {}
        self.stale = "it comes from a file; launch it by replaying its record"
        self.checks = None
        self.edition = _Edition(self.name)


class SavedSpecialisation(Specialisation):
    """A specialisation loaded from a file: the IR of a kernel, whose name is all that is known of its source."""

    def __init__(
        self,
        function: Function,
        checkpoints: int,
        fma: bool,
        kernel_facts: KernelFacts | None = None,
        tiling: tuple[int, int | None, bool, tuple[int, ...]] | None = None,
    ) -> None:
        """Hold IR of a file as the specialisation of a new `SavedKernel`.

        Args:
            function: the forward IR.
            checkpoints, fma: options of the kernel.
            kernel_facts: what the file says of the IR, so that it need not be derived: whether it adds alone, and
                the parts of its keys; None derives them.
            tiling: the fields of the `Tiling` of a kernel of tiles; None: it runs once per thread.
        """
        self.kernel = SavedKernel(function, checkpoints, fma)
        self.types = tuple(p.type for p in function.params)
        self.tiling = Tiling(*tiling) if tiling is not None else None
        known = (kernel_facts.adds_alone, (kernel_facts.forward, kernel_facts.others)) if kernel_facts else (None, None)
        self._lowering = known_function(function, *known)
        self.adds_alone = self._lowering.adds_alone
        self.executables = {}
        self.building = {}
        self.bound: dict[object, Any] = {}
        self.jax_plans, self.notices = {}, ()
        self._watched = ()
        self.seconds = 0.0

    def is_current(self) -> bool:
        """Return True: nothing that it depends on can change."""
        return True

    def over(self, threads: tuple[int, ...]) -> Specialisation:
        """Return itself: a file holds one form of a kernel, for threads of certain dimensions.

        Raises:
            LaunchError: `threads` are other dimensions than those of the file, which are constants in its IR.
        """
        assert self.tiling is not None
        if threads != self.tiling.threads:
            sizes = " × ".join(map(str, self.tiling.threads)) or "one dimension"
            raise LaunchError(
                f"{self.kernel.name} uses tiles and comes from a file, where it was launched over {sizes} of threads.",
                parameter="dim",
                advice="Keep these dimensions, or launch the kernel itself from its source.",
            )
        return self


class _Ran(TypedDict, total=False):
    """The time and duration of an entry's run, and the line of the user's code that launched it."""

    started: float
    seconds: float | None
    site: Site | None


def load_record(path: str | os.PathLike[str], *, trust: bool = False, device: str | None = None) -> Recorder:
    """Return the record that `Recorder.save` wrote, with new arrays that hold the contents from before it ran.

    Args:
        path: the file.
        trust: whether the file's author is trusted. Then its machine code is used where it fits this machine, and
            launches run with or without checks as they did; else everything is compiled again and runs with checks.
        device: run everything there in place of the devices it ran on.

    Returns:
        A recorder, as `wb.record` returns it: `replay()` runs it.

    Raises:
        RecordError: the file cannot be read, is damaged or foreign, or its kernels do not fit their arguments.
        DeviceError: it ran on a device that is not here.
    """
    source = Path(path)
    try:
        with source.open("rb") as file:
            saved = read(file.read(), trust, own=not distrust(os.fstat(file.fileno()), own()))
    except OSError as error:
        other = source.with_name(f"{source.name}.wbr") if source.name else source
        advice = f"Did you mean {other}?" if other.is_file() else ""
        raise RecordError(f"The record {source} cannot be read: {error.strerror or error}.", advice=advice) from None
    except RecordError as error:
        raise RecordError(error.message.replace("This file", f"The file {source}", 1)) from None
    return restore(saved, trust=trust, device=device)


def restore(saved: Saved, *, trust: bool = False, device: str | None = None) -> Recorder:
    """Turn a record that was read from a file into a recorder, with new memory and with kernels that are built.

    Args:
        saved: the file's content.
        trust: use its machine code, and run launches with or without checks as they ran; else with checks.
        device: run everything there; None: on the devices that it ran on.

    Raises:
        RecordError: the content could not have been saved by `Recorder.save`, or a kernel cannot be built.
        DeviceError: it ran on a device that is not here.
    """
    if trust:
        _take_artifacts(saved)
    with observing(_Deferring()):
        restorer = _Restorer(saved, trust, device)
        recorder = restorer.recorder()
    try:
        for nodes in (recorder.entries, *(graph.nodes for graph in restorer.graphs)):
            make_ready(nodes)
    except WorkbenchError:
        raise
    except Exception as error:  # legal IR that no front end would make, and that the generator does not expect
        raise record_error(f"one of its kernels cannot be built ({type(error).__name__})") from error
    return recorder


class _Deferring(Observer):
    """An observer under which kernels are built in the background, side by side."""

    defers = True


def _take_artifacts(saved: Saved) -> None:
    """Add the compiled code in a trusted file to this machine's cache; damaged or already cached code is skipped."""
    store = default_store()
    for digest, data in saved.artifacts.items():
        with suppress(Damaged):
            entry = decode(data, digest)
            if store.get(digest) is None:
                store.put(digest, entry)


class _Restorer:
    """A file's content turned into objects of this process: specialisations, memories, arrays, graphs and launches.

    Methods raise a RecordError where the content could not have been written by `save`.

    Attributes:
        saved: the file's content.
        trust: whether its launches run with or without checks as they did; else they run with checks.
        device: the device that everything is put on; None: those that it ran on.
        specialisations, memories, arrays, graphs: the restored objects, by their numbers in the file.
        structs: restored struct types, by those of the file.
        contents: what the memories held before the record ran.
    """

    def __init__(self, saved: Saved, trust: bool, device: str | None) -> None:
        """Allocate the file's memories with their contents, and restore its kernels, arrays and graphs."""
        self.saved = saved
        self.trust = trust
        self.device = device
        self.specialisations = [
            SavedSpecialisation(*kernel)
            for kernel in zip(saved.functions, saved.checkpoints, saved.fma, saved.facts, saved.tilings, strict=True)
        ]
        self.structs: dict[Struct, Struct] = {}
        self.contents = Contents()
        self.memories = [self.memory(m.device, m.data) for m in saved.memories]
        self.arrays = [self.array(k) for k in range(len(saved.arrays))]
        for ours, stored in zip(self.arrays, saved.arrays, strict=True):
            if stored.grad is not None:
                self.link(ours, self.arrays[stored.grad])
        self.graphs: list[CapturedGraph] = []
        for graph in saved.graphs:
            self.graphs.append(self.graph(graph))

    def recorder(self) -> Recorder:
        """Return a recorder with the file's entries, their arrays' contents and its counters."""
        counters = Counters({name: step for name, step, _ in self.saved.counters})
        counters.amounts = {name: amount for name, _, amount in self.saved.counters}
        ran = [_Ran(started=e.started, seconds=e.seconds, site=e.site) for e in self.saved.entries]
        works = [self.work(e.kind, e.what, times) for e, times in zip(self.saved.entries, ran, strict=True)]
        return Recorder(works, self.contents, counter=counters)

    def memory(self, device: str, data: HostArray) -> Memory:
        """Return a new memory with these bytes, on the device of the name unless another one was requested for all."""
        memory = allocate(get_device(self.device or device), data.nbytes)
        memory.version = 0
        write_bytes(memory, memory.address, data)
        self.contents.saved[memory] = memory.address, data
        return memory

    def array(self, number: int) -> array:
        """Return an array of the file by its number, as a view of its restored memory."""
        stored = self.saved.arrays[number]
        memory = self.memories[stored.memory]
        dtype = self.struct(stored.dtype) if isinstance(stored.dtype, Struct) else stored.dtype
        kind = None
        if stored.field is not None and not isinstance(dtype, Struct):
            kind = ArrayType(dtype, len(stored.shape), *stored.field)
        return lying_in(memory, dtype, stored.shape, stored.strides, stored.offset, kind)

    def struct(self, stored: Struct) -> Struct:
        """Return a struct type of the file with a class for its values; equal ones share the class."""
        if stored not in self.structs:
            fields = [(f.name, self.struct(f.type) if isinstance(f.type, Struct) else f.type) for f in stored.fields]
            self.structs[stored] = make_struct(stored.name, fields, UNKNOWN, "__record__", None).__wb_struct__
        return self.structs[stored]

    def graph(self, stored: SavedGraph) -> CapturedGraph:
        """Return a graph of the file, complete and not run; raise a RecordError if a node cannot be in a graph."""
        graph = CapturedGraph()
        try:
            for kind, what in stored.nodes:
                node = self.work(kind, what, {})
                if isinstance(node, Copy) and node.target.device != node.source.device:
                    raise record_error("a copy between devices in a graph")
                graph.add(node)
        except LaunchError as error:
            raise record_error(error.message) from None
        graph.close()
        return graph

    def link(self, primal: array, grad: array) -> None:
        """Make `grad` the gradient of `primal`; raise a RecordError if shape, dtype or device differ."""
        if grad.shape != primal.shape or grad.dtype != primal.dtype or grad.device != primal.device:
            raise record_error("a gradient that does not match its array")
        primal.link_grad(grad)

    def work(self, kind: str, what: SavedWork, ran: _Ran) -> Work:
        """Rebuild one node: of a record, of a graph, or a step of a call."""
        if isinstance(what, SavedLaunch):
            return Launch(self.launch(what), **ran)
        if isinstance(what, SavedCall):
            steps = tuple(self.work(kind, step, {}) for kind, step in what.steps)
            return Call(what.label, what.dims, steps, tuple(self.arrays[n] for n in what.outputs), **ran)
        if isinstance(what, SavedBranch):
            return self.branch(kind, what, ran)
        target = self.arrays[what.target]
        if isinstance(what, SavedFill):
            return Fill(target, what.value, **ran)
        return (Add if kind == "add" else Copy)(target, self.arrays[what.source], **ran)

    def branch(self, kind: str, what: SavedBranch, ran: _Ran) -> Graph:
        """Rebuild a graph, branch or loop ("graph", "if", "while") over restored bodies.

        Raises:
            RecordError: a body is on another device than the condition, or a loop never writes its condition.
        """
        condition = None if what.condition is None else self.arrays[what.condition]
        bodies = {name: self.graphs[number] for name, number in what.bodies.items()}
        if any(b.nodes and condition is not None and b.device != condition.device for b in bodies.values()):
            raise record_error("a branch of another device than its condition")
        # A loop without a condition in the file is no loop that capture_while could have made.
        looped = kind == "while"
        if looped and (condition is None or all(m is not condition.memory for m in bodies["body"].written())):
            raise record_error("a loop that never writes its condition")
        return {"graph": Graph, "if": If, "while": While}[kind](bodies, condition, **ran)

    def launch(self, stored: SavedLaunch) -> LaunchRecord:
        """Return the record of a launch in the file, checked against its kernel's parameters, with code for its device.

        The code has checks unless the file is trusted.

        Raises:
            RecordError: the arguments do not fit, or the kernel cannot be built.
        """
        specialisation = self.specialisations[stored.module]
        params = parameters(specialisation.function.params, stored.direction)
        if [p.name for p in params] != list(stored.arguments):
            raise record_error(
                f"a launch of {specialisation.kernel.name} whose arguments are not the kernel's parameters"
            )
        target = get_device(self.device or stored.device)
        arguments: dict[str, object] = {}
        for p in params:
            value = stored.arguments[p.name]
            arguments[p.name] = value = self.arrays[value.number] if isinstance(value, Ref) else value
            wanted = value.type == p.type and value.device == target if isinstance(value, array) else True
            if isinstance(value, array) != isinstance(p.type, ArrayType) or not wanted:
                raise record_error(
                    f"the argument {p.name} of {specialisation.kernel.name} has another type than its parameter"
                )
        if any(len(spacings) > 1 for spacings in _fields(arguments).values()):
            raise record_error(f"fields of one array of structs in different places, for {specialisation.kernel.name}")
        code = stored.options if self.trust else replace(stored.options, checks=True)
        options = LaunchOptions(code, stored.block_dim)
        try:
            return bind(specialisation, stored.direction, stored.dim, arguments, target, options)
        except LaunchError as error:
            raise record_error(error.message) from None
        except WorkbenchError:
            raise
        except Exception as error:  # legal IR that no front end would make, and that the generator does not expect
            raise record_error(f"{specialisation.kernel.name} cannot be built ({type(error).__name__})") from error


def _fields(arguments: dict[str, object]) -> dict[str, set[object]]:
    """Map each array of structs to the addresses of the structs that its fields are spread into, with their strides."""
    spacings: dict[str, set[object]] = {}
    for name, a in arguments.items():
        root, inside, _ = name.partition(ELEMENT)
        if inside and isinstance(a, array):
            spacing = (a.memory, a.address - a.type.offset, a.shape, a.strides, a.type.pitch)
            spacings.setdefault(root, set()).add(spacing)
    return spacings
