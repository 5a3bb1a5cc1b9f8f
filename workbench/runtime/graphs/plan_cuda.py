"""A graph on a CUDA device: explicit nodes with our edges, instantiated once, launched as one.

A graph inside a graph is laid out flat, since child graphs may hold no conditional nodes. A condition lies in device
memory: a tiny kernel hands it to CUDA's conditional node, once before the node and, for a loop, at the end of a turn.

Work that a library queued in a stream is one node of a graph: CUDA captures it, which sees all that enters it. Only
CUDA knows what is inside, so which arrays it reads and writes is what the user says; where nothing is said it runs
after all that was captured before it and before all that comes after.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from workbench.backends.cuda.copies import CONDITION
from workbench.backends.cuda.toolkit import shown
from workbench.backends.layout import FAULT_SIZE
from workbench.errors import DeviceError, KernelFault, LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.copies import BLOCK, move_of
from workbench.runtime.device.device import Device, driver_of
from workbench.runtime.device.device_code import own_kernel
from workbench.runtime.device.driver import Driver
from workbench.runtime.device.driver_calls import LoadedKernel
from workbench.runtime.device.streams import CapturedStream, Stream
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.execute import ordered_runner
from workbench.runtime.launching.pending_faults import fault_of, read_records, settling
from workbench.runtime.work import Access, Copy, Fill, Graph, Launch, Nodes, While, Work

_RELAXED = 2
"""CU_STREAM_CAPTURE_MODE_RELAXED: a library may still ask for memory while its work is captured."""


class CudaGraph:
    """CUDA's graph of a library's work, destroyed when no node uses it any more."""

    def __init__(self, driver: Driver, handle: Any) -> None:
        """Take over the graph of this handle."""
        self._driver, self.handle = driver, handle

    def __del__(self) -> None:
        """Destroy CUDA's graph; errors are ignored."""
        with suppress(Exception):  # at the interpreter's end there may be no driver any more
            self._driver.call("cuGraphDestroy", self.handle)


class Library(Work, frozen=True, eq=False, dict=True):
    """Work that a library queued in a stream, captured by CUDA as a graph.

    Attributes:
        label: what pictures call it.
        captured: CUDA's graph of it.
        where: the device.
        used: the arrays that the user says it uses; empty: nothing is known.
    """

    label: str
    captured: CudaGraph
    where: Device
    used: tuple[Access, ...]

    @property
    def name(self) -> str:
        """The name in pictures."""
        return self.label

    @property
    def size(self) -> tuple[int, ...]:
        """Empty: only CUDA knows what is inside."""
        return ()

    @property
    def device(self) -> Device:
        """The device that it runs on."""
        return self.where

    @property
    def accesses(self) -> Sequence[Access]:
        """The arrays that the user says it uses."""
        return self.used

    @property
    def is_barrier(self) -> bool:
        """Return whether nothing is known of the arrays that the work uses, so that it stays where it is."""
        return not self.used

    def launch(self) -> None:
        """Raise an error: it runs only as a node of its graph.

        Raises:
            LaunchError: always.
        """
        raise LaunchError(
            f"{self.label} is work of a library in a graph, and cannot be looked into.",
            advice="Launch the graph without a tape, jvp, jax_callable or find_nan around it.",
        )

    def on(self, instead: Callable[[Any], Any]) -> Work:
        """Return this node, if it uses none of the arrays that are replaced.

        Raises:
            LaunchError: it does; a library's work cannot be changed.
        """
        for access in self.used:
            if instead(access.array) is not access.array:
                raise LaunchError(
                    f"{access.name} is used by work of a library ({self.label}), which cannot be given another array.",
                    parameter=access.name,
                    advice="Capture the graph again.",
                )
        return self


@contextmanager
def foreign_work(
    device: Device, reads: Sequence[array], writes: Sequence[array], name: str, keep: Callable[[Library], None]
) -> Generator[Stream]:
    """Capture what is queued in the stream that this yields; it becomes one node of a graph.

    Args:
        device: the GPU.
        reads, writes: the arrays that the work reads, and those that it writes.
        name: what pictures and messages call it.
        keep: is passed the node when the `with` ends.

    Raises:
        DeviceError: CUDA could not capture it; `keep` is not called.
    """
    driver = driver_of(device)
    stream = CapturedStream(device)
    driver.call("cuStreamBeginCapture", stream.handle, driver.api.CUstreamCaptureMode(_RELAXED))
    try:
        yield stream
    except BaseException:
        with suppress(DeviceError):
            driver.call("cuGraphDestroy", driver.call("cuStreamEndCapture", stream.handle))
        raise
    try:
        with driver.keeping_current():
            driver.use(device.index)
            handle = driver.call("cuStreamEndCapture", stream.handle)
    except DeviceError as problem:
        raise DeviceError(
            f"What {name} did in the stream cannot be captured: {problem.message}",
            status=problem.status,
            advice="It may have waited for the stream, or used another one; call it before or after g.launch().",
        ) from None
    named = [Access(a, f"{name}.reads{k}", True, False) for k, a in enumerate(reads)]
    used = (*named, *_written(writes, name))
    keep(Library(name, CudaGraph(driver, handle), device, used))


def _written(writes: Sequence[array], name: str) -> list[Access]:
    """Return an access for each array that a library's work writes, which counts as read too, named after the work."""
    return [Access(a, f"{name}.writes{k}", True, True) for k, a in enumerate(writes)]


ASSIGN_DEFAULT = 1
"""CU_GRAPH_COND_ASSIGN_DEFAULT: a condition is 0 at each launch until a kernel sets it."""
CONDITIONS, ELSE = 12_040, 12_080
"""The first CUDA versions whose kernels can set conditions, and whose conditions can have two bodies."""


class CudaPlan:
    """An instantiated CUDA graph, and all that it uses."""

    def __init__(self, body: Nodes) -> None:
        """Add all nodes of a body to a new CUDA graph, and instantiate it."""
        self._driver: Driver = driver_of(body.device)
        driver = self._driver
        self._index = body.device.index
        self._keep: list[Any] = []
        self._steps: dict[int, Nodes] = {}  # what stands for launches in the order of their threads
        self._launches = self._listed(body)
        self._calls: dict[int, list[Any]] = {}  # what the parameters of each launch point to
        self._handles: dict[int, Any] = {}
        self._checked = {k: at for at, k in enumerate(k for k, n in enumerate(self._launches) if _code(n).checked)}
        self._faults = driver.alloc(self._index, FAULT_SIZE * len(self._checked))
        self._graph = self._executable = None
        self._prints = any(_code(n).prints for n in self._launches)
        self._owing = False
        driver.fill(self._faults.handle, 0, FAULT_SIZE * len(self._checked), self._index)
        with driver.keeping_current():
            driver.use(self._index)
            self._graph = driver.call("cuGraphCreate", 0)
            self._added = 0
            self._fill(self._graph, body, [])
            self._executable = driver.call("cuGraphInstantiate", self._graph, 0)
        self._queue = driver.graph_queue(self._index, self._executable)

    def run(self) -> None:
        """Queue the graph in the current stream.

        What it prints, and faults, are reported when something waits for the device.

        Raises:
            DeviceError: the device refused it.
        """
        reports = settling(self._driver)
        if self._prints:
            reports.prints(self._index)
        if self._checked:
            reports.add_pending(self._index, self, self._collect)
            self._owing = True
        self._driver.launch(self._queue, b"", b"", name="a graph")

    def _collect(self) -> list[KernelFault]:
        """Return the faults of all runs since the last call, in the order of the nodes."""
        size, self._owing = FAULT_SIZE * len(self._checked), False
        records = read_records(self._driver, self._faults.handle, len(self._checked))
        self._driver.fill(self._faults.handle, 0, size, self._index)
        faults = (
            fault_of(_code(self._launches[k]), self._launches[k].size, self._launches[k].record.buffer, record)
            for k, record in zip(self._checked, records, strict=True)
        )
        return [fault for fault in faults if fault is not None]

    direct = None
    """Always None: queueing the graph takes more than a native call."""

    def patch(self, body: Nodes) -> bool:
        """Overwrite the plan's parameters by those of the body's launches; return whether that was possible.

        It is not if code or order changed, or a launch that changed has no threads; another plan is needed then.
        """
        if self._steps:
            return False
        old, new = self._launches, self._listed(body)
        changed = [k for k, node in enumerate(new) if node.record is not old[k].record]
        if any(k not in self._handles or _code(old[k]) is not _code(new[k]) or not _threads(new[k]) for k in changed):
            return False
        if self._owing:
            self._driver.synchronize(self._index)  # its faults are reported with the parameters that it ran with
        for k in changed:
            handle, params = self._handles[k], self._launch_params(k, new[k])
            self._launches[k] = new[k]
            try:
                with self._driver.keeping_current():
                    self._driver.use(self._index)
                    self._driver.call("cuGraphExecKernelNodeSetParams", self._executable, handle, params)
            except DeviceError:
                # Nothing promises it for nodes in the body of a condition; whoever asked makes another plan.
                self._driver.breakage.check(self._index)
                return False
        return True

    def _listed(self, body: Nodes) -> list[Launch]:
        """Return the launches of a body and of those inside, in the order in which they are added to the CUDA graph.

        A launch that adds in the order of its threads is replaced by the launches that do so.
        """
        launches: list[Launch] = []
        for node in body.walk():
            if isinstance(node, Launch) and node.record.executable.in_order is not None:
                self._steps[id(node)] = ordered_runner().captured(node.record)
                self._keep.append(node)
                launches += self._listed(self._steps[id(node)])
            elif isinstance(node, Launch):
                launches.append(node)
        return launches

    def _fill(self, graph: Any, body: Nodes, after: list[Any]) -> list[Any]:
        """Add the nodes of a body to a CUDA graph; return the added nodes that no other comes after.

        The first ones come after the nodes `after`, which are returned if nothing was added.
        """
        before: dict[int, list[int]] = {}
        for edge in body.edges:
            before.setdefault(edge.target, []).append(edge.source)
        ends: list[list[Any]] = []
        for k, node in enumerate(body.nodes):
            needed = [handle for source in before.get(k, ()) for handle in ends[source]]
            ends.append(self._add(graph, node, _distinct(needed) or after))
        leaves = set(range(len(body.nodes))) - {edge.source for edge in body.edges}
        return _distinct([handle for k in sorted(leaves) for handle in ends[k]]) or after

    def _add(self, graph: Any, node: Work, after: list[Any]) -> list[Any]:
        """Add a node to a CUDA graph, after other nodes; return the nodes that the next one has to wait for."""
        if id(node) in self._steps:
            return self._fill(graph, self._steps[id(node)], after)
        if isinstance(node, Launch):
            k, self._added = self._added, self._added + 1
            if not _threads(node):
                return after
            self._handles[k] = handle = self._kernel_node(graph, after, self._launch_params(k, node))
            return [handle]
        if isinstance(node, Copy | Fill):
            source, value = (None, node.value) if isinstance(node, Fill) else (node.source, 0)
            move = move_of(node.kind, node.target, source, value)
            if not move.total:
                return after
            self._keep.append(node)
            pattern = move.repeated()
            if node.kind != "add" and move.words[3] and pattern is not None:
                return [self._dense_node(graph, after, move.words, pattern, node.target.nbytes)]
            kernel = move.kernel(self._driver)
            return [self._kernel_node(graph, after, self._params(kernel, move.blocks, BLOCK, move.parameters()))]
        if isinstance(node, Library):
            self._keep.append(node)
            handle = node.captured.handle
            return [self._driver.call("cuGraphAddChildGraphNode", graph, after or None, len(after), handle)]
        assert isinstance(node, Graph)
        return self._control(graph, node, after)

    def _dense_node(self, graph: Any, after: list[Any], words: Sequence[int], pattern: bytes, nbytes: int) -> Any:
        """Add the driver's own node for a copy or a fill of memory without gaps; return it."""
        api, (target, source) = self._driver.api, words[:2]
        if source:
            params = api.CUDA_MEMCPY3D()
            params.srcMemoryType = params.dstMemoryType = api.CUmemorytype.CU_MEMORYTYPE_DEVICE
            params.srcDevice, params.dstDevice = source, target
            params.WidthInBytes, params.Height, params.Depth = nbytes, 1, 1
        else:
            params = api.CUDA_MEMSET_NODE_PARAMS()
            params.dst, params.elementSize = target, len(pattern)
            params.value = int.from_bytes(pattern, "little")
            params.width, params.height, params.pitch = nbytes // len(pattern), 1, 0
        name = "cuGraphAddMemcpyNode" if source else "cuGraphAddMemsetNode"
        context = self._driver.call("cuCtxGetCurrent")
        return self._driver.call(name, graph, after or None, len(after), params, context)

    def _control(self, graph: Any, node: Graph, after: list[Any]) -> list[Any]:
        """Add a graph inside, a branch or a loop to a CUDA graph, after other nodes; return the nodes to wait for.

        Raises:
            DeviceError: the driver has no conditional nodes.
        """
        if node.condition is None:
            return self._fill(graph, node.bodies["body"], after)
        version = self._driver.call("cuDriverGetVersion")
        if version < CONDITIONS:
            raise DeviceError(
                f"`{node.kind}` in a graph needs a driver for CUDA {shown(CONDITIONS)} or later; the one here is for "
                f"CUDA {shown(version)}.",
                advice="Install NVIDIA's driver 550 or later, or launch what depends on the condition without a graph.",
            )
        self._keep.append(node.condition)
        if isinstance(node, While):
            handle = self._condition(graph)
            setter = self._setter(graph, after, handle, node)
            nodes, (body,) = self._conditional(graph, [setter], handle, "WHILE", 1)
            self._setter(body, self._fill(body, node.bodies["body"], []), handle, node)
            return [nodes]
        # A node with two bodies is newer than one with a single body: before, the second is another node's.
        groups = [["true", "false"]] if version >= ELSE and "false" in node.bodies else [["true"], ["false"]]
        groups = [group for group in groups if node.bodies.keys() & set(group)]
        handles = [self._condition(graph) for _ in groups]
        setters = [
            self._setter(graph, after, handle, node, holds=group[0] == "true")
            for group, handle in zip(groups, handles, strict=True)
        ]
        nodes: list[Any] = []
        for group, handle in zip(groups, handles, strict=True):
            # After all setters: a body may change what the other condition is read from.
            ended, inner = self._conditional(graph, setters, handle, "IF", len(group))
            for name, body in zip(group, inner, strict=True):
                if name in node.bodies:
                    self._fill(body, node.bodies[name], [])
            nodes.append(ended)
        return nodes or after

    def _condition(self, graph: Any) -> Any:
        """Return a new conditional handle of a CUDA graph, which each launch of the graph sets to 0 first."""
        context = self._driver.call("cuCtxGetCurrent")
        return self._driver.call("cuGraphConditionalHandleCreate", graph, context, 0, ASSIGN_DEFAULT)

    def _conditional(self, graph: Any, after: list[Any], handle: Any, kind: str, count: int) -> tuple[Any, list[Any]]:
        """Add a conditional node with so many bodies; return it, and the graphs of its bodies, which are empty."""
        api = self._driver.api
        params = api.CUgraphNodeParams()
        params.type = api.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        params.conditional.handle = handle
        params.conditional.type = getattr(api.CUgraphConditionalNodeType, f"CU_GRAPH_COND_TYPE_{kind}")
        params.conditional.size = count
        params.conditional.ctx = self._driver.call("cuCtxGetCurrent")
        edges = (None,) if api.CUDA_VERSION >= 13_000 else ()  # of the bindings: from 13 on it takes data of edges
        conditional = self._driver.call("cuGraphAddNode", graph, after, *edges, len(after), params)
        return conditional, list(params.conditional.phGraph_out)

    def _setter(self, graph: Any, after: list[Any], handle: Any, node: Graph, holds: bool = True) -> Any:
        """Add a kernel node that sets a conditional handle from a branch's or loop's condition; return the node.

        `holds`: the handle becomes true where the condition is not 0; False: where it is 0.
        """
        assert node.condition is not None
        kernel = own_kernel(self._driver, self._index, CONDITION)
        values = ctypes.c_uint64(int(handle)), ctypes.c_void_p(node.condition.address), ctypes.c_int(holds)
        return self._kernel_node(graph, after, self._params(kernel, 1, 1, values))

    def _kernel_node(self, graph: Any, after: list[Any], params: Any) -> Any:
        """Add a kernel node after other nodes, and return it."""
        return self._driver.call("cuGraphAddKernelNode", graph, after or None, len(after), params)

    def _launch_params(self, k: int, node: Launch) -> Any:
        """Return the driver's parameters of a node for launch number `k`; what they point to lives as long as the plan.

        Raises:
            LaunchError: the launch is cooperative, which no graph can hold.
        """
        record = node.record.ready()
        if record.executable.handle.cooperative:
            raise LaunchError(
                f"{record.executable.name} may wait for all blocks of its grid, and such a launch cannot be in a "
                "graph.",
                advice="Launch it outside of the capture.",
            )
        # The driver copies what the parameters point to when the node is added or set.
        call, start = record.executable.call(record.dim, record.block_dim), ctypes.addressof(record.buffer)
        addresses = [start + address for address in record.executable.param_offsets]
        owners: list[Any] = [node]
        self._calls[k] = owners
        if record.executable.checked:
            address = ctypes.c_void_p(self._faults.handle + FAULT_SIZE * self._checked[k])
            owners.append(address)
            addresses.append(ctypes.addressof(address))
        if record.executable.sanitized:
            settling(self._driver).watch(self._index, record.executable)
        self._driver.allow_shared(record.executable.handle, call.shared)
        return self._node_params(owners, record.executable.handle, call.grid, call.block, addresses, call.shared)

    def _params(self, kernel: LoadedKernel, blocks: int, block: int, values: Sequence[Any]) -> Any:
        """Return a node's parameters for one of our own kernels, with its arguments as ctypes values."""
        self._keep.append(values)
        return self._node_params(
            self._keep, kernel, (blocks, 1, 1), (block, 1, 1), [ctypes.addressof(v) for v in values]
        )

    def _node_params(
        self, owners: list[Any], kernel: LoadedKernel, grid: Sequence[int], block: Sequence[int],
        addresses: Sequence[int], shared: int = 0,
    ) -> Any:  # fmt: skip
        """Return the driver's parameters of a kernel node; they point to a table that is added to `owners`.

        `addresses` are those of the kernel's arguments, `shared` the bytes of dynamic shared memory.
        """
        pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        owners.append(pointers)
        params = self._driver.api.CUDA_KERNEL_NODE_PARAMS()
        params.kern = kernel.handle(self._driver.api)  # and no `func`: a CUkernel is no CUfunction
        params.gridDimX, params.gridDimY, params.gridDimZ = grid
        params.blockDimX, params.blockDimY, params.blockDimZ = block
        params.sharedMemBytes = shared
        params.kernelParams = ctypes.addressof(pointers)
        return params

    def __del__(self) -> None:
        """Destroy the CUDA graph and its executable; errors are ignored."""
        with suppress(Exception):  # at the interpreter's end there may be no driver any more
            if self._executable is not None:
                self._driver.call("cuGraphExecDestroy", self._executable)
            if self._graph is not None:
                self._driver.call("cuGraphDestroy", self._graph)


def _code(node: Launch) -> Executable:
    """Return the launch's loaded code."""
    return node.record.executable


def _threads(node: Launch) -> int:
    """Return the number of the launch's threads, all dimensions together."""
    return node.record.threads


def _distinct(handles: Sequence[Any]) -> list[Any]:
    """Return the handles without repeated ones, in order."""
    return list({int(handle): handle for handle in handles}.values())
