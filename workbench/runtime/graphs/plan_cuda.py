"""A graph on a CUDA device: explicit nodes with our edges, instantiated once, launched as one.

A graph inside a graph is laid out flat, since child graphs may hold no conditional nodes. A condition lies in device
memory: a tiny kernel hands it to CUDA's conditional node, once before the node and, for a loop, at the end of a turn.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from workbench.backends.cuda.copies import CONDITION
from workbench.backends.layout import FAULT_SIZE
from workbench.errors import DeviceError, KernelFault
from workbench.runtime.arrays.copies import BLOCK, move_of
from workbench.runtime.device.device import driver_of
from workbench.runtime.device.device_code import own_kernel
from workbench.runtime.device.driver import Driver
from workbench.runtime.device.driver_handles import LoadedKernel
from workbench.runtime.graphs.foreign import ForeignNode
from workbench.runtime.graphs.nodes import BodyNode, LaunchNode, MoveNode, Node, Subgraph
from workbench.runtime.launching.loaded import Loaded
from workbench.runtime.launching.pending_faults import fault_of, read_records, settling

ASSIGN_DEFAULT = 1
"""CU_GRAPH_COND_ASSIGN_DEFAULT: a condition is 0 at each launch until a kernel sets it."""


class CudaPlan:
    """An instantiated graph, and all that it uses."""

    def __init__(self, body: Subgraph) -> None:
        self._driver: Driver = driver_of(body.device)
        found = self._driver
        self._index = body.device.index
        self._keep: list[Any] = []
        self._handles: dict[int, Any] = {}
        self._codes: dict[int, Loaded] = {}
        self._checked = [n for n in body.walk() if isinstance(n, LaunchNode) and n.record.loaded.checked]
        self._faults = found.alloc(self._index, FAULT_SIZE * len(self._checked))
        self._graph = self._executable = None
        self._prints = any(n.record.loaded.prints for n in body.walk() if isinstance(n, LaunchNode))
        self._owing = False
        found.fill(self._faults.handle, 0, FAULT_SIZE * len(self._checked), self._index)
        with found.keeping_current():
            found.use(self._index)
            self._graph = found.call("cuGraphCreate", 0)
            self._fill(self._graph, body, [])
            self._executable = found.call("cuGraphInstantiate", self._graph, 0)

    def run(self) -> None:
        """Queue it in the current stream; what it prints, and faults, are reported when something waits for the device.

        Raises:
            DeviceError: the device refused it.
        """
        told = settling(self._driver)
        if self._prints:
            told.prints(self._index)
        if self._checked:
            told.later(self._index, self, self._collect)
            self._owing = True
        self._driver.breakage.last[self._index] = "a graph"
        with self._driver.keeping_current():
            self._driver.call("cuGraphLaunch", self._executable, self._driver.stream_handle(self._index))

    def _collect(self) -> list[KernelFault]:
        """The faults of all runs since the last time, in the order of the nodes."""
        size, self._owing = FAULT_SIZE * len(self._checked), False
        records = read_records(self._driver, self._faults.handle, len(self._checked))
        self._driver.fill(self._faults.handle, 0, size, self._index)
        told = (
            fault_of(node.record.loaded, node.dims, node.buffer, record)
            for node, record in zip(self._checked, records, strict=True)
        )
        return [fault for fault in told if fault is not None]

    direct = None
    """Queueing takes more than a native call."""

    def patch(self, nodes: Sequence[LaunchNode]) -> bool:
        """Take over changed parameters in place; returns whether that was possible.

        Whoever changes the code, the order or an empty launch has to make another plan.
        """
        if any(self._codes.get(id(node)) is not node.record.loaded or not node.record.threads for node in nodes):
            return False
        if self._owing:
            self._driver.synchronize(self._index)  # its faults are reported with the parameters that it ran with
        for node in nodes:
            handle, params = self._handles[id(node)], self._launch_params(node)
            try:
                with self._driver.keeping_current():
                    self._driver.use(self._index)
                    self._driver.call("cuGraphExecKernelNodeSetParams", self._executable, handle, params)
            except DeviceError:
                # Nothing promises it for nodes in the body of a condition; whoever asked makes another plan.
                self._driver.breakage.check(self._index)
                return False
        return True

    def _fill(self, graph: Any, body: Subgraph, after: list[Any]) -> list[Any]:
        """Add the nodes of a body, the first ones after these; returns those that nothing in it comes after."""
        before: dict[int, list[int]] = {}
        for edge in body.edges:
            before.setdefault(edge.target, []).append(edge.source)
        ends: list[list[Any]] = []
        for k, node in enumerate(body.nodes):
            needed = [handle for source in before.get(k, ()) for handle in ends[source]]
            ends.append(self._add(graph, node, _distinct(needed) or after))
        leaves = set(range(len(body.nodes))) - {edge.source for edge in body.edges}
        return _distinct([handle for k in sorted(leaves) for handle in ends[k]]) or after

    def _add(self, graph: Any, node: Node, after: list[Any]) -> list[Any]:
        """One node; returns what comes after it has to wait for."""
        if isinstance(node, LaunchNode):
            if not node.record.threads:
                return after
            handle = self._kernel_node(graph, after, self._launch_params(node))
            self._handles[id(node)], self._codes[id(node)] = handle, node.record.loaded
            return [handle]
        if isinstance(node, MoveNode):
            move = move_of(node.kind, node.target, node.source, node.value)
            if not move.total:
                return after
            self._keep.append((node.target, node.source))
            kernel = move.kernel(self._driver)
            return [self._kernel_node(graph, after, self._params(kernel, move.blocks, BLOCK, move.parameters()))]
        if isinstance(node, ForeignNode):
            self._keep.append(node)
            return [self._driver.call("cuGraphAddChildGraphNode", graph, after or None, len(after), node.handle)]
        assert isinstance(node, BodyNode)
        return self._control(graph, node, after)

    def _control(self, graph: Any, node: BodyNode, after: list[Any]) -> list[Any]:
        if node.condition is None:
            return self._fill(graph, node.bodies["body"], after)
        self._keep.append(node.condition)
        loop = node.kind == "while"
        api = self._driver.api
        context = self._driver.call("cuCtxGetCurrent")
        handle = self._driver.call("cuGraphConditionalHandleCreate", graph, context, 0, ASSIGN_DEFAULT)
        setter = [self._setter(graph, after, handle, node)]
        params = api.CUgraphNodeParams()
        params.type = api.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        params.conditional.handle = handle
        kinds = api.CUgraphConditionalNodeType
        params.conditional.type = kinds.CU_GRAPH_COND_TYPE_WHILE if loop else kinds.CU_GRAPH_COND_TYPE_IF
        params.conditional.size = 1 if loop or "false" not in node.bodies else 2
        params.conditional.ctx = context
        made = self._driver.call("cuGraphAddNode", graph, setter, None, 1, params)
        inner = list(params.conditional.phGraph_out)
        main = node.bodies.get("body") or node.bodies.get("true")
        if main is not None:
            ends = self._fill(inner[0], main, [])
            if loop:
                self._setter(inner[0], ends, handle, node)
        if "false" in node.bodies:
            self._fill(inner[1], node.bodies["false"], [])
        return [made]

    def _setter(self, graph: Any, after: list[Any], handle: Any, node: BodyNode) -> Any:
        assert node.condition is not None
        kernel = own_kernel(self._driver, self._index, CONDITION)
        values = ctypes.c_uint64(int(handle)), ctypes.c_void_p(node.condition.address)
        return self._kernel_node(graph, after, self._params(kernel, 1, 1, values))

    def _kernel_node(self, graph: Any, after: list[Any], params: Any) -> Any:
        return self._driver.call("cuGraphAddKernelNode", graph, after or None, len(after), params)

    def _launch_params(self, node: LaunchNode) -> Any:
        record = node.record
        call = record.loaded.call(record.dim, ctypes.addressof(node.buffer), record.block_dim)
        places = list(call.places)
        if record.loaded.checked:
            at = next(k for k, n in enumerate(self._checked) if n is node)
            place = ctypes.c_void_p(self._faults.handle + FAULT_SIZE * at)
            self._keep.append(place)
            places.append(ctypes.addressof(place))
        if record.loaded.sanitized:
            settling(self._driver).watch(self._index, record.loaded)
        self._keep.append((record.loaded, list(record.arguments.values())))
        self._driver.allow_shared(record.loaded.handle, call.shared)
        return self._node_params(record.loaded.handle, call.grid, call.block, places, call.shared)

    def _params(self, kernel: LoadedKernel, blocks: int, block: int, values: Sequence[Any]) -> Any:
        self._keep.append(values)
        return self._node_params(kernel, (blocks, 1, 1), (block, 1, 1), [ctypes.addressof(v) for v in values])

    def _node_params(
        self, kernel: LoadedKernel, grid: Sequence[int], block: Sequence[int], places: Sequence[int], shared: int = 0
    ) -> Any:
        pointers = (ctypes.c_void_p * len(places))(*places)
        self._keep.append(pointers)
        params = self._driver.api.CUDA_KERNEL_NODE_PARAMS()
        params.kern = kernel.handle(self._driver.api)  # and no `func`: a CUkernel is no CUfunction
        params.gridDimX, params.gridDimY, params.gridDimZ = grid
        params.blockDimX, params.blockDimY, params.blockDimZ = block
        params.sharedMemBytes = shared
        params.kernelParams = ctypes.addressof(pointers)
        return params

    def __del__(self) -> None:
        with suppress(Exception):  # at the interpreter's end there may be no driver any more
            if self._executable is not None:
                self._driver.call("cuGraphExecDestroy", self._executable)
            if self._graph is not None:
                self._driver.call("cuGraphDestroy", self._graph)


def _distinct(handles: Sequence[Any]) -> list[Any]:
    return list({int(handle): handle for handle in handles}.values())
