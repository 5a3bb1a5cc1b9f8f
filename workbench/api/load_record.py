"""`load_record`: a saved record, ready to be looked at and replayed in this process.

Kernels come back from their verified IR through the same build as any other: from the cache, else compiled. What the
file itself brings of machine code is used only where its maker is trusted; without that trust launches run with checks,
so that no index of theirs can reach outside an array.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.api.bind import bind
from workbench.api.kernel import Kernel, Specialisation
from workbench.autodiff.directions import parameters
from workbench.cache.entry import Damaged, decode
from workbench.cache.store import default_store
from workbench.errors import LaunchError, RecordError, WorkbenchError
from workbench.ir.values import Function
from workbench.passes.own import own
from workbench.runtime.archive import refused
from workbench.runtime.array import array
from workbench.runtime.contents import Contents, write_bytes
from workbench.runtime.device import get_device
from workbench.runtime.entries import CopyEntry, Entry, FillEntry, LaunchEntry
from workbench.runtime.memory import Memory, allocate
from workbench.runtime.recorder import Recorder
from workbench.runtime.saved import Ref, Saved, SavedEntry, SavedLaunch, SavedMove, read
from workbench.source import Location
from workbench.types import ArrayType


class SavedKernel(Kernel):
    """A kernel of a file: it has a name and IR, but no Python function."""

    def __init__(self, function: Function) -> None:
        """For this IR."""
        self.name = self.__name__ = function.name
        self.parameters = tuple(p.name for p in function.params)
        self.place = Location(function.source, 1)
        self._annotations = {p.name: p.type for p in function.params}
        self._families = {}
        self.plans = {}
        self.stale = "it comes from a file; launch it by replaying its record"
        self.checks = None


class SavedSpecialisation(Specialisation):
    """What a file holds of a kernel."""

    def __init__(self, function: Function) -> None:
        """For this IR."""
        self.kernel = SavedKernel(function)
        self.types = tuple(p.type for p in function.params)
        self.function = function
        self.adds_alone = own(function) is not function
        self.loaded = {}
        self.seconds = 0.0

    def is_current(self) -> bool:
        """Nothing that it was made of can change."""
        return True


def load_record(path: str | os.PathLike[str], *, trust: bool = False, device: str | None = None) -> Recorder:
    """The record that `Recorder.save` wrote, with arrays of its own that hold what they held before it ran.

    Args:
        path: the file.
        trust: whether the file's maker is trusted. Then its machine code is used where it fits this machine, and
            launches run with or without checks as they did; else everything is compiled anew and runs with checks.
        device: run everything there in place of the devices it ran on.

    Raises:
        RecordError: the file cannot be read, is damaged or foreign, or its kernels do not fit their arguments.
        DeviceError: it ran on a device that is not here.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise RecordError(f"The record {path} cannot be read: {error.strerror or error}.") from None
    return restore(read(data, trust), trust=trust, device=device)


def restore(saved: Saved, *, trust: bool = False, device: str | None = None) -> Recorder:
    """A record that was read, as a recorder; see `load_record`."""
    if trust:
        _take_artifacts(saved)
    return _Restorer(saved, trust, device).recorder()


def _take_artifacts(saved: Saved) -> None:
    store = default_store()
    for digest, data in saved.artifacts.items():
        with suppress(Damaged):
            entry = decode(data, digest)
            if store.get(digest) is None:
                store.put(digest, entry)


class _Restorer:
    def __init__(self, saved: Saved, trust: bool, device: str | None) -> None:
        self.saved = saved
        self.trust = trust
        self.device = device
        self.specialisations = [SavedSpecialisation(f) for f in saved.functions]
        self.contents = Contents()
        self.memories = [self.memory(m.device, m.data) for m in saved.memories]
        self.arrays = [self.array(k) for k in range(len(saved.arrays))]
        for made, told in zip(self.arrays, saved.arrays, strict=True):
            if told.grad is not None:
                self.link(made, self.arrays[told.grad])

    def recorder(self) -> Recorder:
        return Recorder([self.entry(e) for e in self.saved.entries], self.contents)

    def memory(self, device: str, data: Any) -> Memory:
        made = allocate(get_device(self.device or device), data.nbytes)
        write_bytes(made, made.address, data)
        self.contents.kept[made] = made.address, data
        return made

    def array(self, number: int) -> array:
        told = self.saved.arrays[number]
        memory = self.memories[told.memory]
        made = object.__new__(array)
        made._place(memory, told.dtype, told.shape, told.strides, False, memory.address + told.offset)
        return made

    def link(self, made: array, grad: array) -> None:
        if grad.shape != made.shape or grad.dtype != made.dtype or grad.device != made.device:
            raise refused("a gradient that does not match its array")
        made.requires_grad, made._grad = True, grad
        made.memory.grad = made.memory.grad or grad

    def entry(self, told: SavedEntry) -> Entry:
        facts: dict[str, Any] = {"started": told.started, "seconds": told.seconds, "site": told.site}
        what = told.what
        if isinstance(what, SavedLaunch):
            return LaunchEntry(self.launch(what), **facts)
        assert isinstance(what, SavedMove)
        target = self.arrays[what.target]
        if told.kind == "fill":
            return FillEntry(target, what.source, **facts)
        return CopyEntry(told.kind, target, self.arrays[what.source], **facts)

    def launch(self, told: SavedLaunch) -> Any:
        specialisation = self.specialisations[told.module]
        params = parameters(specialisation.function.params, told.direction)
        if [p.name for p in params] != list(told.arguments):
            raise refused(f"a launch of {specialisation.kernel.name} whose arguments are not the kernel's parameters")
        place = get_device(self.device or told.device)
        arguments = {}
        for p in params:
            value = told.arguments[p.name]
            arguments[p.name] = value = self.arrays[value.number] if isinstance(value, Ref) else value
            wanted = value.type == p.type and value.device == place if isinstance(value, array) else True
            if isinstance(value, array) != isinstance(p.type, ArrayType) or not wanted:
                raise refused(
                    f"the argument {p.name} of {specialisation.kernel.name} has another type than its parameter"
                )
        options = told.options if self.trust else replace(told.options, checks=True)
        try:
            return bind(specialisation, told.direction, told.dim, arguments, place, options, told.block_dim)
        except LaunchError as error:
            raise refused(error.message) from None
        except WorkbenchError:
            raise
        except Exception as error:  # legal IR that no front end would make, and that the generator does not expect
            raise refused(f"{specialisation.kernel.name} cannot be built ({type(error).__name__})") from error
