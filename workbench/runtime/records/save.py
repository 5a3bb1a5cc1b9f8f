"""A recorder as the content and members of a file: modules as IR, arrays as .npy, everything else as JSON.

An allocation is written once, as it was before its first use (or as it is now), and arrays are views of it, so arrays
that shared memory share it again. Kernels are written as IR, with their machine code for readers who trust it.
"""

from __future__ import annotations

import io
import json
import platform
from typing import Any

import numpy as np

from workbench.backends.cpu.backend import CpuBackend
from workbench.cache.disk import encode
from workbench.cache.store import default_store
from workbench.errors import RecordError
from workbench.ir.data import Unwritable, to_data
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.host_convert import item, repeats
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.records import archive
from workbench.runtime.records.contents import Contents
from workbench.runtime.records.counters import Counters
from workbench.runtime.records.saved import element_data, facts_data
from workbench.runtime.work import Call, Copy, Fill, Graph, Launch, Work
from workbench.structs import Struct
from workbench.types import Scalar, bfloat16, element


def file_bytes(entries: list[Work], contents: Contents, counters: Counters) -> bytes:
    """Return the bytes of a `.wbr` file.

    Raises:
        RecordError: an entry or a kernel cannot be represented in a file.
    """
    writer = _Writer(contents)
    listed = [writer.entry(e) for e in entries]
    content = {
        "entries": listed,
        "graphs": writer.graphs,
        "modules": writer.modules,
        "arrays": writer.arrays,
        "memories": writer.memories,
        "artifacts": writer.artifacts,
        "counters": [[n, s, counters.amounts.get(n, 0)] for n, s in counters.steps.items()],
        "machine": [platform.system(), platform.machine(), CpuBackend().target()],
    }
    return archive.pack(content, writer.members)


class _Writer:
    """Collects the members of a file and its lists of modules, arrays, memories, graphs and artifacts.

    Methods return JSON values or numbers in these lists, and raise a RecordError for what no file can hold.
    """

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.members: dict[str, bytes] = {}
        self.modules: list[Any] = []
        self.artifacts: list[Any] = []
        self.arrays: list[Any] = []
        self.memories: list[Any] = []
        self.graphs: list[Any] = []
        self._graphs: dict[int, int] = {}
        self._modules: dict[int, int] = {}
        self._artifacts: set[str] = set()
        self._arrays: dict[Any, int] = {}
        self._memories: dict[Memory, int] = {}

    def entry(self, entry: Work) -> dict[str, Any]:
        """Return an entry of a record as JSON values, with its times and its line in the user's code."""
        entry = entry.unfolded()
        site = [entry.site.filename, entry.site.line] if entry.site is not None else None
        return {"started": entry.started, "seconds": entry.seconds, "site": site, **self.work(entry)}

    def work(self, node: Work) -> dict[str, Any]:
        """Return a piece of work as JSON values; raise a RecordError for kinds that no file holds."""
        match node:
            case Launch():
                return {"kind": "launch", **self.launch(node.record)}
            case Copy(target=target, source=source):
                return {"kind": node.kind, "target": self.array(target), "source": self.array(source)}
            case Fill(target=target):
                return {"kind": "fill", "target": self.array(target), "value": self.fill(target, node.value)}
            case Graph():
                bodies = {name: self.graph(body) for name, body in node.bodies.items()}
                condition = None if node.condition is None else self.array(node.condition)
                return {"kind": node.kind, "condition": condition, "bodies": bodies}
            case Call():
                steps, outputs = [self.work(step) for step in node.steps], [self.array(a) for a in node.outputs]
                return {"kind": "jax", "label": node.label, "dims": list(node.dims), "steps": steps, "outputs": outputs}
            case _:
                raise RecordError(
                    f"A graph with {node.title} in it cannot be saved.", advice="Save a part without it: rec[2:5]."
                )

    def launch(self, record: LaunchRecord) -> dict[str, Any]:
        """Return a launch as JSON values; raise a RecordError for CUDA C++."""
        if record.executable.geometry is not None:
            raise RecordError(
                f"{record.kernel} is CUDA C++, and a record of its launches cannot be saved.",
                advice="Save a part without them: rec[2:5].",
                function=record.kernel,
            )
        types = {s.name: s.type for s in record.executable.layout.slots}
        arguments: dict[str, Any] = {}
        for name, value in record.arguments.items():
            one = isinstance(value, array)
            arguments[name] = ["array", self.array(value)] if one else ["number", self.number(value, types[name])]
        return {
            "module": self.module(record),
            "direction": record.direction,
            "dim": list(record.dim),
            "arguments": arguments,
            "options": dict(record.options.items()),
            "block_dim": record.block_dim,
            "device": record.executable.device.name,
        }

    def number(self, value: Any, type: Any) -> Any:
        """Return a number or vector as the big-endian hexadecimal bytes of its type."""
        flat = np.asarray(value, type.numpy).reshape(-1)
        return flat.astype(flat.dtype.newbyteorder(">")).tobytes().hex()

    def fill(self, target: array, value: Any) -> Any:
        """Return the value of a fill: ["bytes", hex] of an element, ["float", hex] of a float, else a number."""
        if not repeats(target.dtype, value):
            element = np.empty(target.dtype.shape, item(target.dtype))
            element[...] = value
            return ["bytes", element.tobytes().hex()]
        host = np.asarray(value)
        return host.item() if host.dtype.kind != "f" else ["float", float(host).hex()]

    def graph(self, graph: Any) -> int:
        """Return the number of a graph in the file; graphs inside it are added, and numbered, before it."""
        if id(graph) not in self._graphs:
            nodes = [self.work(node) for node in graph.nodes]
            self._graphs[id(graph)] = len(self.graphs)
            self.graphs.append({"nodes": nodes})
        return self._graphs[id(graph)]

    def module(self, record: LaunchRecord) -> int:
        """Return the number of a kernel's IR in the file; it is added on first use. The launch's code is added too.

        Raises:
            RecordError: the launch has no kernel, or its IR cannot be written.
        """
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
            kernel = specialisation.kernel
            options: dict[str, Any] = {"checkpoints": kernel.checkpoints, **({"fma": True} if kernel.fma else {})}
            tiling = specialisation.tiling
            if tiling is not None:
                options["tiling"] = [tiling.block_dim, tiling.ndim, tiling.flat, list(tiling.threads)]
            kernel_facts = facts_data(specialisation, self.members[member])
            self.modules.append({"kernel": record.kernel, "member": member, **options, "facts": kernel_facts})
        self.artifact(record)
        return self._modules[id(specialisation)]

    def artifact(self, record: LaunchRecord) -> None:
        """Add a launch's compiled code to the file, if the cache has it and the file does not."""
        digest = record.executable.complete.digest
        entry = default_store().get(digest) if digest not in self._artifacts else None
        if entry is not None:
            self._artifacts.add(digest)
            member = f"artifacts/{digest}"
            self.members[member] = encode(digest, entry)
            self.artifacts.append({"digest": digest, "member": member})

    def array(self, value: array) -> int:
        """Return the number of an array in the file; it is added on first use, with its memory and gradient."""
        kind = value.type
        field = [kind.pitch, kind.offset] if getattr(kind, "pitch", 0) else None
        key = (value.memory, value.address, value.shape, value.strides, repr(kind), value.dtype, value.requires_grad)
        if key not in self._arrays:
            try:
                dtype = element_data(value.dtype)
            except Unwritable as error:
                raise RecordError(f"An array cannot be saved: {error}.") from None
            memory = self.memory(value)
            self._arrays[key] = len(self.arrays)
            fields = {
                "memory": memory,
                "dtype": dtype,
                "field": field,
                "shape": list(value.shape),
                "strides": list(value.strides),
                "grad": None,
                "offset": value.address - self.contents.saved[value.memory][0],
            }
            self.arrays.append(fields)
            if value.grad is not None:
                self.contents.keep([value.grad])
                fields["grad"] = self.array(value.grad)
        return self._arrays[key]

    def memory(self, value: array) -> int:
        """Return the number of an array's memory in the file; it is added on first use, with its recorded contents."""
        if value.memory not in self._memories:
            self.contents.keep([value])
            _, data = self.contents.saved[value.memory]
            number = self._memories[value.memory] = len(self.memories)
            scalar = None if isinstance(value.dtype, Struct) else element(value.dtype)
            typed = scalar is not None and data.nbytes % scalar.size == 0
            member = f"arrays/{number}.npy"
            self.members[member] = npy(data.view(_stored(scalar)) if scalar is not None and typed else data)
            self.memories.append({"member": member, "device": value.device.name, "nbytes": data.nbytes})
        return self._memories[value.memory]


def _stored(scalar: Scalar) -> np.dtype[Any]:
    """Return the NumPy type with which a `.npy` file holds such elements: for bfloat16 an unsigned integer."""
    return np.dtype(f"u{scalar.size}") if scalar == bfloat16 else scalar.numpy


def npy(data: np.ndarray[Any, Any]) -> bytes:
    """Return the bytes of a `.npy` file that holds an array."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(data), allow_pickle=False)
    return buffer.getvalue()
