"""A recorder as the content and members of a file: modules as IR, arrays as .npy, everything else as JSON.

An allocation is written once, as it was before its first use (or as it is now), and arrays are views of it; so what
shared memory shares it again. Kernels are written as IR; their machine code goes along, for readers who trust it.
"""

from __future__ import annotations

import io
import json
import platform
from typing import Any

import numpy as np

from workbench.backends.cpu.compile import CpuBackend
from workbench.cache.entry import encode
from workbench.cache.store import default_store
from workbench.errors import RecordError
from workbench.ir.data import Unwritable, to_data, type_data
from workbench.runtime import archive
from workbench.runtime.array import array
from workbench.runtime.contents import Contents
from workbench.runtime.entries import CopyEntry, Entry, FillEntry, LaunchEntry
from workbench.runtime.memory import Memory
from workbench.runtime.record import LaunchRecord
from workbench.structs import Struct
from workbench.types import element


def file_bytes(entries: list[Entry], contents: Contents) -> bytes:
    """The bytes of a `.wbr` file.

    Raises:
        RecordError: an entry or a kernel has no form in a file.
    """
    writer = _Writer(contents)
    listed = [writer.entry(e) for e in entries]
    content = {
        "entries": listed, "modules": writer.modules, "arrays": writer.arrays, "memories": writer.memories,
        "artifacts": writer.artifacts, "machine": [platform.system(), platform.machine(), CpuBackend().target()],
    }  # fmt: skip
    return archive.pack(content, writer.members)


class _Writer:
    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.members: dict[str, bytes] = {}
        self.modules: list[Any] = []
        self.artifacts: list[Any] = []
        self.arrays: list[Any] = []
        self.memories: list[Any] = []
        self._modules: dict[int, int] = {}
        self._artifacts: set[str] = set()
        self._arrays: dict[Any, int] = {}
        self._memories: dict[Memory, int] = {}

    def entry(self, entry: Entry) -> dict[str, Any]:
        site = [entry.site.filename, entry.site.line] if entry.site is not None else None
        told: dict[str, Any] = {"kind": "", "started": entry.started, "seconds": entry.seconds, "site": site}
        match entry:
            case LaunchEntry():
                return told | {"kind": "launch", **self.launch(entry.record)}
            case CopyEntry():
                return told | {
                    "kind": entry.what,
                    "target": self.array(entry.target),
                    "source": self.array(entry.source),
                }
            case FillEntry():
                return told | {"kind": "fill", "target": self.array(entry.target), "value": self.fill(entry.value)}
        raise RecordError(f"A record with a {entry.kind} in it cannot be saved yet.", advice="Save a part: rec[2:5].")

    def launch(self, record: LaunchRecord) -> dict[str, Any]:
        types = {s.name: s.type for s in record.loaded.layout.slots}
        arguments: dict[str, Any] = {}
        for name, value in record.arguments.items():
            one = isinstance(value, array)
            arguments[name] = ["array", self.array(value)] if one else ["number", self.number(value, types[name])]
        return {
            "module": self.module(record), "direction": record.direction, "dim": list(record.dim),
            "arguments": arguments, "options": dict(record.options.items()),
            "block_dim": record.block_dim, "device": record.loaded.device.name,
        }  # fmt: skip

    def number(self, value: Any, type: Any) -> Any:
        flat = np.asarray(value, element(type).numpy).reshape(-1)
        return flat.astype(flat.dtype.newbyteorder(">")).tobytes().hex()

    def fill(self, value: Any) -> Any:
        found = np.asarray(value)
        if found.ndim or found.dtype.kind not in "biuf":
            raise RecordError(f"A fill with {value!r} cannot be saved.")
        return found.item() if found.dtype.kind != "f" else ["float", float(found).hex()]

    def module(self, record: LaunchRecord) -> int:
        specialisation = record.specialisation
        if specialisation is None:
            raise RecordError(f"The launch of {record.kernel} was made without its kernel and cannot be saved.")
        if id(specialisation) not in self._modules:
            try:
                data = to_data(specialisation.function)
            except Unwritable as error:
                raise RecordError(f"{record.kernel} cannot be saved: {error}.", function=record.kernel) from None
            number = self._modules[id(specialisation)] = len(self.modules)
            member = f"modules/{number}-{record.kernel}.json"
            self.members[member] = json.dumps(data, separators=(",", ":")).encode()
            self.modules.append({"kernel": record.kernel, "member": member})
        self.artifact(record)
        return self._modules[id(specialisation)]

    def artifact(self, record: LaunchRecord) -> None:
        digest = record.loaded.digest
        found = default_store().get(digest) if digest not in self._artifacts else None
        if found is not None:
            self._artifacts.add(digest)
            member = f"artifacts/{digest}"
            self.members[member] = encode(digest, found)
            self.artifacts.append({"digest": digest, "member": member})

    def array(self, value: array) -> int:
        if isinstance(value.dtype, Struct) or value.type.pitch:
            raise RecordError("An array of structs cannot be saved yet.", advice="Keep each field in an array.")
        key = (value.memory, value.address, value.shape, value.strides, value.dtype, value.requires_grad)
        if key not in self._arrays:
            try:
                dtype = type_data(value.dtype)
            except Unwritable as error:
                raise RecordError(f"An array cannot be saved: {error}.") from None
            memory = self.memory(value)
            self._arrays[key] = len(self.arrays)
            told = {
                "memory": memory, "dtype": dtype, "shape": list(value.shape), "strides": list(value.strides),
                "offset": value.address - self.contents.kept[value.memory][0], "grad": None,
            }  # fmt: skip
            self.arrays.append(told)
            if value.grad is not None:
                self.contents.keep([value.grad])
                told["grad"] = self.array(value.grad)
        return self._arrays[key]

    def memory(self, value: array) -> int:
        if value.memory not in self._memories:
            self.contents.keep([value])
            _, data = self.contents.kept[value.memory]
            number = self._memories[value.memory] = len(self.memories)
            scalar = element(value.dtype)
            whole = data.nbytes % scalar.size == 0
            member = f"arrays/{number}.npy"
            self.members[member] = npy(data.view(scalar.numpy) if whole else data)
            self.memories.append({"member": member, "device": value.device.name, "nbytes": data.nbytes})
        return self._memories[value.memory]


def npy(data: np.ndarray[Any, Any]) -> bytes:
    """An array as the bytes of a `.npy` file."""
    made = io.BytesIO()
    np.lib.format.write_array(made, np.ascontiguousarray(data), allow_pickle=False)
    return made.getvalue()
