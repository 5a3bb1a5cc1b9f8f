"""A pretended CUDA driver: the functions of `cuda.bindings.driver` and the classes of `cuda.core` that Workbench calls.

Structures, enumerations and the number of each function's arguments are the installed package's own. Device memory is
host memory, kernels are what the host shim built of their text. It checks what a driver would not tell kindly: handles
that do not exist or are gone, memory used after it was freed or of another device, parameters that outlive nothing. It
runs the nodes of a graph in the last order that its edges allow, so that a missing edge shows. Errors can be injected.
It is no evidence of what hardware does.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from cuda.bindings import driver as real
from mockparts import Block, Graph, Node, can_launch
from mockqueues import NUMBERS, Queues

from workbench.backends.cuda.host.code import HostCode

GUARD = 64
CAPACITY = 1 << 24
OK = real.CUresult.CUDA_SUCCESS
FUNCTIONS: dict[int, tuple[int, Any]] = {}
"""Address to device, code and name of each kernel: Workbench keeps loaded code for the process, so this does too."""


class MockDriver(Queues):
    """Stands for the module `cuda.bindings.driver`.

    Attributes:
        calls: name and arguments of each call.
        failing: name to the status to give in place of an answer.
        launches: blocks and threads of each launch.
        problems: what was done wrong; a test ends with none.
    """

    def __init__(self, devices: int = 1) -> None:
        self.devices = devices
        self.calls: list[tuple[Any, ...]] = []
        self.failing: dict[str, Any] = {}
        self.launches: list[tuple[int, int]] = []
        self.problems: list[str] = []
        self.broken: Any = None
        self.current = 0
        self.blocks: list[Block] = []
        self.functions = FUNCTIONS
        self.streams: dict[int, int] = {}
        self.events: dict[int, bool] = {}
        self.graphs: dict[int, Graph] = {}
        self.executables: dict[int, dict[int, Graph]] = {}
        self.conditions: dict[int, Any] = {}
        self.kept: list[Any] = []
        self.printed = b""
        self.allowed: dict[int, int] = {}
        self.peers: set[tuple[int, int]] = set()
        self.strangers: set[tuple[int, int]] = set()
        self.captured: dict[int, Graph] = {}
        self.core = SimpleNamespace(Device=self._device, ObjectCode=SimpleNamespace(from_cubin=self._from_cubin))
        self.CUdevice_attribute = SimpleNamespace(
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR="major",
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR="minor",
            CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT="units",
        )

    def __getattr__(self, name: str) -> Any:
        found = getattr(real, name)
        if not name.startswith("cu"):
            return found
        own: Callable[..., Any] = getattr(type(self), f"_{name}")
        wanted = len([a for a in re.search(r"\((.*)\)", found.__doc__.split("\n")[0])[1].split(",") if a.strip()])

        def call(*args: Any) -> tuple[Any, ...]:
            if len(args) != wanted and name != "cuGraphAddKernelNode":
                self._wrong(f"{name} takes {wanted} arguments, not {len(args)}")
            self.calls.append((name, *args))
            if self.broken is not None:
                return (self.broken,)
            if name in self.failing:
                status = self.failing[name]
                if int(status) in (700, 719):
                    self.broken = status
                return (status,)
            given = own(self, *args)
            return (OK, *(given if isinstance(given, tuple) else () if given is None else (given,)))

        return call

    def _wrong(self, sentence: str) -> None:
        self.problems.append(sentence)
        raise AssertionError(sentence)

    def _expect(self, holds: bool, sentence: str) -> None:
        if not holds:
            self._wrong(sentence)

    # Devices and memory.

    def _device(self, index: int) -> Any:
        """What the driver layer asks of `cuda.core.Device`."""
        self.streams[index] = index

        def set_current() -> None:
            self.current = index

        def sync() -> None:
            if self.broken is not None or "sync" in self.failing:
                raise RuntimeError(f"{self.broken or self.failing['sync']!r}")
            self._waited()

        def allocate(size: int, *, stream: Any) -> Any:
            if "allocate" in self.failing:
                raise RuntimeError(f"{self.failing['allocate']!r}")
            used = sum(b.size for b in self.blocks if b.alive and b.device == index)
            if used + size > CAPACITY:
                raise MemoryError("CUDA_ERROR_OUT_OF_MEMORY")
            block = self._block(size, index)
            return SimpleNamespace(handle=block.start, close=lambda: self._free(block))

        return SimpleNamespace(
            set_current=set_current, sync=sync, allocate=allocate, default_stream=SimpleNamespace(handle=index)
        )

    def _block(self, size: int, device: int) -> Block:
        block = Block(np.full(size + GUARD, 0xA5, np.uint8), size, device)
        self.blocks.append(block)
        return block

    def _free(self, block: Block) -> None:
        self._expect(block.alive, "memory was freed twice")
        self._expect(bool((block.data[block.size :] == 0xA5).all()), "something was written behind an allocation")
        block.alive = False
        block.data[:] = 0x5A

    def _touch(self, address: int, size: int, what: str) -> None:
        for block in self.blocks:
            if block.start <= address < block.start + max(block.size, 1):
                self._expect(block.alive, f"{what} uses memory after it was freed")
                self._expect(address + size <= block.start + block.size, f"{what} goes beyond its allocation")
                return
        self._wrong(f"{what} uses {address:#x}, which is no device memory")

    def _is_device(self, address: int) -> bool:
        return any(b.start <= address < b.start + max(b.size, 1) for b in self.blocks)

    def _queue(self, stream: Any, what: str) -> None:
        known = self.streams.get(int(stream))
        self._expect(known is not None, f"{what} uses a stream that does not exist")
        self._expect(known == self.current, f"{what} uses a stream of another device than the current one")

    def _cuInit(self, flags: int) -> None: ...

    def _cuDeviceGetCount(self) -> int:
        return self.devices

    def _cuDeviceGet(self, index: int) -> int:
        return index

    def _cuDeviceGetName(self, length: int, device: int) -> bytes:
        return b"host shim\0"

    def _cuDeviceTotalMem(self, device: int) -> int:
        return CAPACITY

    def _cuDeviceGetAttribute(self, attribute: Any, device: int) -> int:
        # No such architecture exists, so nothing made here is ever found in a cache by a real device.
        return 1 if attribute == "units" else 0

    def _cuCtxGetCurrent(self) -> Any:
        return real.CUcontext(self.current + 1)

    def _cuMemGetInfo(self) -> tuple[int, int]:
        return CAPACITY - sum(b.size for b in self.blocks if b.alive and b.device == self.current), CAPACITY

    def _cuMemHostAlloc(self, size: int, flags: int) -> int:
        return self._block(size, -1).start

    def _cuMemFreeHost(self, address: int) -> None:
        self._free(next(b for b in self.blocks if b.start == address and b.device == -1))

    def _cuMemcpyHtoD(self, target: int, source: int, size: int) -> None:
        self._touch(target, size, "cuMemcpyHtoD")
        ctypes.memmove(target, source, size)

    def _cuMemcpyDtoH(self, target: int, source: int, size: int) -> None:
        self._touch(source, size, "cuMemcpyDtoH")
        self._waited()
        ctypes.memmove(target, source, size)

    def _cuMemcpyAsync(self, target: int, source: int, size: int, stream: Any) -> None:
        self._queue(stream, "cuMemcpyAsync")
        self._touch(target, size, "cuMemcpyAsync")
        self._touch(source, size, "cuMemcpyAsync")
        self._now_or_captured(stream, lambda: ctypes.memmove(target, source, size))

    def _set(self, address: int, value: int, count: int, stream: Any, kind: Any) -> None:
        self._queue(stream, "cuMemset")
        self._touch(address, count * np.dtype(kind).itemsize, "cuMemset")
        (ctypes.c_char * (count * np.dtype(kind).itemsize)).from_address(address)[:] = np.full(
            count, value, kind
        ).tobytes()

    def _cuMemsetD8Async(self, address: int, value: int, count: int, stream: Any) -> None:
        self._set(address, value, count, stream, np.uint8)

    def _cuMemsetD16Async(self, address: int, value: int, count: int, stream: Any) -> None:
        self._set(address, value, count, stream, np.uint16)

    def _cuMemsetD32Async(self, address: int, value: int, count: int, stream: Any) -> None:
        self._set(address, value, count, stream, np.uint32)

    # Code and launches.

    def _from_cubin(self, image: bytes, *, name: str = "") -> Any:
        code = HostCode(image)

        def kernel(entry: str) -> Any:
            address = ctypes.cast(getattr(code.library, f"wb_host_{entry}"), ctypes.c_void_p).value
            assert address is not None
            self.functions[address] = (self.current, (code, entry))
            return SimpleNamespace(handle=address)

        return SimpleNamespace(get_kernel=kernel)

    def _values(self, function: int, pointers: int) -> tuple[bytes, ...]:
        """Copies of the parameters, as a driver takes them when a launch or a node is made."""
        _, (code, entry) = self.functions[function]
        sizes = code.sizes(entry)
        places = (ctypes.c_void_p * len(sizes)).from_address(pointers)
        return tuple(ctypes.string_at(p or 0, size) for p, size in zip(places, sizes, strict=True))

    def _run(
        self, function: int, blocks: Sequence[int], threads: Sequence[int], shared: int, params: Sequence[bytes]
    ) -> None:
        self._expect(function in self.functions, "a launch of a kernel that is not loaded")
        self._expect(self.functions[function][0] == self.current, "a launch of a kernel of another device")
        self._expect(can_launch(blocks, threads), f"a launch of {blocks} blocks of {threads} threads")
        self._expect(
            shared <= max(48 << 10, self.allowed.get(function, 0)), f"{shared} bytes of shared memory, not allowed"
        )
        kept = [ctypes.create_string_buffer(p, len(p)) for p in params]
        places = (ctypes.c_void_p * len(kept))(*(ctypes.addressof(k) for k in kept))
        self.launches.append((math.prod(blocks), math.prod(threads)))
        code, entry = self.functions[function][1]
        code.show_printed = lambda: self._keep_printed(code)
        code.launch(entry, ctypes.addressof(places), blocks, threads, shared)

    def _cuKernelSetAttribute(self, attribute: Any, value: int, kernel: Any, device: int) -> None:
        self._expect(
            attribute == real.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, "an attribute"
        )
        self._expect(
            int(kernel) in self.functions and device == self.current, "an attribute of another device's kernel"
        )
        self.allowed[int(kernel)] = value

    def _cuLaunchKernel(self, function: Any, *rest: Any) -> None:
        *sizes, shared, stream, pointers, _ = rest
        self._queue(stream, "cuLaunchKernel")
        values = self._values(int(function), pointers)
        self._now_or_captured(stream, lambda: self._run(int(function), sizes[:3], sizes[3:], shared, values))

    # Graphs.

    def _cuGraphCreate(self, flags: int) -> Any:
        handle = next(NUMBERS)
        self.graphs[handle] = Graph()
        return real.CUgraph(handle)

    def _after(self, graph: Any, dependencies: Any, count: int) -> tuple[int, ...]:
        given = tuple(int(d) for d in dependencies or ())
        self._expect(len(given) == count, f"{count} dependencies are told, {len(given)} given")
        self._expect(len(set(given)) == count, "a dependency is given twice")
        self._expect(set(given) <= self.graphs[int(graph)].nodes.keys(), "a dependency on a node of another graph")
        return given

    def _cuGraphAddKernelNode(self, graph: Any, dependencies: Any, count: int, params: Any) -> Any:
        node = self._kernel_node(next(NUMBERS), self._after(graph, dependencies, count), params)
        self.graphs[int(graph)].nodes[node.handle] = node
        return real.CUgraphNode(node.handle)

    def _cuGraphAddChildGraphNode(self, graph: Any, dependencies: Any, count: int, child: Any) -> Any:
        inside = Graph(dict(self.graphs[int(child)].nodes))
        node = Node(next(NUMBERS), self._after(graph, dependencies, count), child=inside)
        self.graphs[int(graph)].nodes[node.handle] = node
        return real.CUgraphNode(node.handle)

    def _kernel_node(self, handle: int, after: tuple[int, ...], params: Any) -> Node:
        assert isinstance(params, real.CUDA_KERNEL_NODE_PARAMS)
        function = int(params.func)
        values = self._values(function, int(params.kernelParams))
        blocks = params.gridDimX, params.gridDimY, params.gridDimZ
        threads = params.blockDimX, params.blockDimY, params.blockDimZ
        return Node(handle, after, function, blocks, threads, values, shared=params.sharedMemBytes)

    def _cuGraphConditionalHandleCreate(self, graph: Any, context: Any, default: int, flags: int) -> Any:
        self._expect(int(context) == self.current + 1, "a condition of another context")
        word = ctypes.c_uint32(default)
        self.conditions[ctypes.addressof(word)] = word
        return real.CUgraphConditionalHandle(ctypes.addressof(word))

    def _cuGraphAddNode(self, graph: Any, dependencies: Any, data: Any, count: int, params: Any) -> Any:
        asked = params.conditional
        self._expect(int(asked.handle) in self.conditions, "a condition that was never made")
        bodies = [self._cuGraphCreate(0) for _ in range(asked.size)]
        # The driver answers with a pointer to the bodies, at its place in the structure (cuda.h).
        out = (ctypes.c_void_p * len(bodies))(*(int(b) for b in bodies))
        self.kept.append(out)
        ctypes.c_void_p.from_address(int(asked.getPtr()) + 16).value = ctypes.addressof(out)
        kinds = real.CUgraphConditionalNodeType
        node = Node(
            next(NUMBERS), self._after(graph, dependencies, count), condition=int(asked.handle),
            loop=asked.type == kinds.CU_GRAPH_COND_TYPE_WHILE, bodies=tuple(int(b) for b in bodies),
        )  # fmt: skip
        self.graphs[int(graph)].nodes[node.handle] = node
        return real.CUgraphNode(node.handle)

    def _cuGraphInstantiate(self, graph: Any, flags: int) -> Any:
        whole: dict[int, Graph] = {}
        left = [int(graph)]
        while left:
            handle = left.pop()
            whole[handle] = Graph(dict(self.graphs[handle].nodes))
            left += [b for node in whole[handle].nodes.values() for b in node.bodies]
        executable = next(NUMBERS)
        self.executables[executable] = {0: whole[int(graph)], **whole}
        return real.CUgraphExec(executable)

    def _cuGraphExecKernelNodeSetParams(self, executable: Any, node: Any, params: Any) -> None:
        for graph in self.executables[int(executable)].values():
            if int(node) in graph.nodes:
                old = graph.nodes[int(node)]
                new = self._kernel_node(old.handle, old.after, params)
                self._expect(new.function == old.function, "an update in place to another kernel")
                graph.nodes[int(node)] = replace(new)

    def _cuGraphLaunch(self, executable: Any, stream: Any) -> None:
        self._queue(stream, "cuGraphLaunch")
        self._expect(int(executable) in self.executables, "a launch of a graph that is gone")
        whole = self.executables[int(executable)]
        self._play(whole, whole[0])

    def _play(self, whole: dict[int, Graph], graph: Graph) -> None:
        """Each node once all it depends on is done, the one that was added last first."""
        left = dict(graph.nodes)
        while left:
            handle = [h for h, node in left.items() if not set(node.after) & left.keys()][-1]
            node = left.pop(handle)
            if node.work is not None:
                node.work()
                continue
            if node.child is not None:
                self._play(whole, node.child)
                continue
            if node.function:
                self._run(node.function, node.blocks, node.threads, node.shared, node.params)
                continue
            word = self.conditions[node.condition]
            while node.loop and word.value:
                self._play(whole, whole[node.bodies[0]])
            if not node.loop and (word.value or len(node.bodies) == 2):
                self._play(whole, whole[node.bodies[0 if word.value else 1]])

    def _cuGraphExecDestroy(self, executable: Any) -> None:
        self._expect(self.executables.pop(int(executable), None) is not None, "a graph was destroyed twice")

    def _cuGraphDestroy(self, graph: Any) -> None:
        self._expect(self.graphs.pop(int(graph), None) is not None, "a graph was destroyed twice")
