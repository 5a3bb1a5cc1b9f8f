"""Functions of the driver that are about graphs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.runtime.emulated.arena import host_bytes
from workbench.runtime.emulated.calls.stream_calls import of_function
from workbench.runtime.emulated.code import Kernel, Launch, check, parameters
from workbench.runtime.emulated.graphs import Condition, Conditional, Executing, Graph, Node, NodeWork, executing, play
from workbench.runtime.emulated.state import Context, State, Table, function
from workbench.runtime.emulated.status_error import CudaStatusError, expect

TABLE: Table = {}
_BODIES = 16
"""The offset of `phGraph_out` in CUDA_CONDITIONAL_NODE_PARAMS (cuda.h): behind the handle, the type and the size."""


@function(TABLE)
def _cuGraphCreate(state: State, flags: int) -> Any:
    """Return the handle of a new, empty graph of the current device."""
    expect(flags == 0, "cuGraphCreate takes 0")
    return _new(state, Graph(state.device()))


def _new(state: State, graph: Graph) -> Any:
    """Return a new handle of a graph."""
    return state.api.CUgraph(state.handles.new(graph))


@function(TABLE, context=False)
def _cuGraphDestroy(state: State, graph: Any) -> None:
    """Release a graph's handle; refuse the body of a conditional node."""
    expect(
        not state.handles.get(graph, Graph, "cuGraphDestroy").inner,
        "the body of a conditional node belongs to its graph, and is not destroyed by itself",
    )
    state.handles.drop(graph, Graph, "cuGraphDestroy")


def _after(state: State, dependencies: Any, count: int, where: str) -> list[Node]:
    """Return the nodes of the handles that a new node depends on; refuse if there are not `count` of them."""
    handles = list(dependencies or ())
    expect(len(handles) == count, f"{where}: {len(handles)} dependencies were given, not {count}")
    return [state.handles.get(d, Node, where) for d in handles]


def _add(state: State, graph: Any, dependencies: Any, count: int, work: Any, where: str) -> Any:
    """Add a node with this work (None: empty) to a graph, after its dependencies; return the node's handle."""
    owner = state.handles.get(graph, Graph, where)
    node = owner.add(_after(state, dependencies, count, where), work)
    return state.api.CUgraphNode(state.handles.new(node))


def _launch(state: State, params: Any, where: str) -> tuple[Kernel, Launch]:
    """Return kernel and launch of a kernel node: of the function `func` or, if that is null, of the kernel `kern`.

    Raises:
        CudaStatusError: a handle or a parameter is invalid, or the device cannot execute the launch.
    """
    device = state.device()
    if int(params.func or 0):
        kernel = of_function(state, params.func, f"{where}, func")
    else:
        kernel = state.handles.get(params.kern, Kernel, f"{where}, kern")
    grid = params.gridDimX, params.gridDimY, params.gridDimZ
    block = params.blockDimX, params.blockDimY, params.blockDimZ
    launch = Launch(grid, block, parameters(kernel, int(params.kernelParams or 0)), params.sharedMemBytes)
    check(kernel, launch, device, state.devices[device])
    return kernel, launch


@function(TABLE)
def _cuGraphAddKernelNode(state: State, graph: Any, dependencies: Any, count: int, params: Any) -> Any:
    """Add a kernel node after its dependencies, and return its handle; refuse a launch that cannot be executed."""
    where = "cuGraphAddKernelNode"
    return _add(state, graph, dependencies, count, _launch(state, params, where), where)


@function(TABLE)
def _cuGraphAddEmptyNode(state: State, graph: Any, dependencies: Any, count: int) -> Any:
    """Add a node that does nothing after its dependencies, and return its handle."""
    return _add(state, graph, dependencies, count, None, "cuGraphAddEmptyNode")


@function(TABLE)
def _cuGraphAddMemcpyNode(state: State, graph: Any, dependencies: Any, count: int, params: Any, context: Any) -> Any:
    """Add a copy as a node after its dependencies, and return its handle; refuse memory that is not allocated."""
    where = "cuGraphAddMemcpyNode"
    state.handles.get(context, Context, where)
    return _add(state, graph, dependencies, count, copying(state, params, where), where)


@function(TABLE)
def _cuGraphAddMemsetNode(state: State, graph: Any, dependencies: Any, count: int, params: Any, context: Any) -> Any:
    """Add a fill as a node after its dependencies, and return its handle; refuse memory that is not allocated."""
    where = "cuGraphAddMemsetNode"
    state.handles.get(context, Context, where)
    return _add(state, graph, dependencies, count, filling(state, params, where), where)


@function(TABLE)
def _cuGraphAddChildGraphNode(state: State, graph: Any, dependencies: Any, count: int, child: Any) -> Any:
    """Add a copy of another graph as a node; refuse one with conditional nodes."""
    where = "cuGraphAddChildGraphNode"
    inside = state.handles.get(child, Graph, where)
    expect(not inside.conditions(), f"{where}: a child graph has no conditional nodes", "CUDA_ERROR_NOT_SUPPORTED")
    return _add(state, graph, dependencies, count, executing(inside).graph, where)


@function(TABLE)
def _cuGraphAddNode(state: State, graph: Any, dependencies: Any, *rest: Any) -> Any:
    """Add a conditional node, `if` or `while`, with empty bodies, whose handles are stored into the parameters.

    Other kinds of nodes, and what the emulated driver's version does not have, are refused. The arguments between
    `dependencies` and the count and parameters are as the bindings of CUDA 12 or 13 have them.
    """
    where, of_bindings = "cuGraphAddNode", 3 if state.api.CUDA_VERSION >= 13_000 else 2
    if len(rest) != of_bindings:
        raise TypeError(f"{where} takes {of_bindings + 2} arguments ({len(rest) + 2} given)")
    *_, count, params = rest
    expect(state.version >= 12_030, f"{where}: this driver has no conditional nodes", "CUDA_ERROR_NOT_SUPPORTED")
    kinds = state.api.CUgraphConditionalNodeType
    if params.type != state.api.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL:
        raise CudaStatusError("CUDA_ERROR_NOT_SUPPORTED", f"{where}: only conditional nodes are emulated here")
    conditional = params.conditional
    condition = state.handles.get(conditional.handle, Condition, where)
    state.handles.get(conditional.ctx, Context, where)
    expect(condition.graph is state.handles.get(graph, Graph, where), f"{where}: the condition is of another graph")
    loop = conditional.type == kinds.CU_GRAPH_COND_TYPE_WHILE
    expect(loop or conditional.type == kinds.CU_GRAPH_COND_TYPE_IF, f"{where}: a switch is not emulated")
    most = 2 if state.version >= 12_080 and not loop else 1
    expect(1 <= conditional.size <= most, f"{where}: a condition has no {conditional.size} bodies here")
    bodies = [Graph(state.device(), inner=True) for _ in range(conditional.size)]
    node = _add(state, graph, dependencies, count, Conditional(condition, loop, tuple(bodies)), where)
    out = (ctypes.c_void_p * len(bodies))(*(state.handles.new(body) for body in bodies))
    state.kept.append(out)  # the driver owns the bodies' handles
    ctypes.c_void_p.from_address(int(conditional.getPtr()) + _BODIES).value = ctypes.addressof(out)
    return node


@function(TABLE)
def _cuGraphInstantiate(state: State, graph: Any, flags: int) -> Any:
    """Return the handle of an executable copy of a graph; refuse the body of a conditional node."""
    graph_object = state.handles.get(graph, Graph, "cuGraphInstantiate")
    expect(not graph_object.inner, "cuGraphInstantiate: the body of a conditional node is no graph of its own")
    return state.api.CUgraphExec(state.handles.new(executing(graph_object)))


@function(TABLE)
def _cuGraphExecKernelNodeSetParams(state: State, executable: Any, node: Any, params: Any) -> None:
    """Replace the launch of a kernel node in an executable graph."""
    where = "cuGraphExecKernelNodeSetParams"
    _set(state, executable, node, where, lambda: _launch(state, params, where))


@function(TABLE)
def _cuGraphExecMemcpyNodeSetParams(state: State, executable: Any, node: Any, params: Any, context: Any) -> None:
    """Replace the copy of a node in an executable graph."""
    where = "cuGraphExecMemcpyNodeSetParams"
    state.handles.get(context, Context, where)
    _set(state, executable, node, where, lambda: copying(state, params, where))


@function(TABLE)
def _cuGraphExecMemsetNodeSetParams(state: State, executable: Any, node: Any, params: Any, context: Any) -> None:
    """Replace the fill of a node in an executable graph."""
    where = "cuGraphExecMemsetNodeSetParams"
    state.handles.get(context, Context, where)
    _set(state, executable, node, where, lambda: filling(state, params, where))


def _set(state: State, executable: Any, node: Any, where: str, work: Callable[[], NodeWork]) -> None:
    """Replace the work of a node of an executable graph by other work of the same kind.

    Raises:
        CudaStatusError: the node is of another kind, or not among the graph's own.
    """
    target = state.handles.get(executable, Executing, where)
    updated = state.handles.get(node, Node, where)
    if updated.number not in {n.number for n in target.graph.nodes}:
        # The documentation says nothing of nodes in the body of a conditional node: it cannot be relied upon.
        raise CudaStatusError("CUDA_ERROR_INVALID_VALUE", f"{where}: the node is not among those of the graph itself")
    replacement, now = work(), target.work.get(updated.number)
    expect(_kind(now) == _kind(replacement), f"{where}: the node is of another kind")
    target.work[updated.number] = replacement


def _kind(work: NodeWork | None) -> str:
    """Return the kind of a node's work: "launch", "copy", "fill", or "" for none."""
    return "launch" if isinstance(work, tuple) else getattr(work, "__name__", "")


@function(TABLE)
def _cuGraphLaunch(state: State, executable: Any, stream: Any) -> None:
    """Queue a run of an executable graph, as it is now, in a stream; write what kernels have printed."""
    launched_graph = state.handles.get(executable, Executing, "cuGraphLaunch")
    stream_object, device = state.stream(stream, "cuGraphLaunch"), state.device()
    state.flush()
    now = Executing(launched_graph.graph, dict(launched_graph.work))  # later updates are for later launches
    state.put(stream_object, lambda: play(now, state.streams.shuffled, state.run, device), "a graph")


@function(TABLE, context=False)
def _cuGraphExecDestroy(state: State, executable: Any) -> None:
    """Release the handle of an executable graph."""
    state.handles.drop(executable, Executing, "cuGraphExecDestroy")


_HOST, _DEVICE, _ARRAY, _UNIFIED = 1, 2, 3, 4
"""Values of CUmemorytype."""
_KINDS = {1: np.uint8, 2: np.uint16, 4: np.uint32}


@dataclass(frozen=True)
class _Side:
    """The source or the target of a strided copy.

    Attributes:
        first: the address of the first row.
        pitch: bytes from a row to the next.
        plane: bytes from a plane to the next.
        pageable: it is the process's own memory, outside of the arena.
    """

    first: int
    pitch: int
    plane: int
    pageable: bool

    def bytes(self, state: State, y: int, z: int, width: int) -> np.ndarray:
        """Return a view of row y of plane z, of `width` bytes.

        Raises:
            CudaStatusError: they are not allocated.
        """
        at = self.first + y * self.pitch + z * self.plane
        if self.pageable:
            return host_bytes(at, width)
        state.touch(at, width, "a copy")
        return state.arena.bytes_at(at, width)


def _side(state: State, params: Any, name: str, where: str) -> _Side:
    """Return one side of a CUDA_MEMCPY3D, its source (`name` "src") or target ("dst"); refuse CUDA arrays."""
    kind = int(getattr(params, f"{name}MemoryType"))
    if kind not in (_HOST, _DEVICE, _UNIFIED):
        raise CudaStatusError("CUDA_ERROR_NOT_SUPPORTED", f"{where}: CUDA arrays are not emulated")
    base = int(getattr(params, f"{name}Host" if kind == _HOST else f"{name}Device") or 0)
    pitch = int(getattr(params, f"{name}Pitch")) or params.WidthInBytes
    height = int(getattr(params, f"{name}Height")) or params.Height
    x, y, z = (int(getattr(params, f"{name}{part}")) for part in ("XInBytes", "Y", "Z"))
    expect(pitch >= params.WidthInBytes or params.Height == 1, f"{where}: {name}Pitch is less than a row")
    first = base + x + y * pitch + z * pitch * height
    return _Side(first, pitch, pitch * height, kind == _HOST and not state.arena.holds(first))


def copying(state: State, params: Any, where: str) -> Callable[[], None]:
    """Return a function that does the copy that a CUDA_MEMCPY3D describes.

    Raises:
        CudaStatusError: it is of arrays, or of memory that is not allocated.
    """
    width, rows, planes = int(params.WidthInBytes), int(params.Height), int(params.Depth)
    expect(width and rows and planes, f"{where}: a copy of {width} × {rows} × {planes} has no bytes")
    source, target = _side(state, params, "src", where), _side(state, params, "dst", where)

    def pairs() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for z in range(planes):
            for y in range(rows):
                yield target.bytes(state, y, z, width), source.bytes(state, y, z, width)

    def copy() -> None:
        for to, of in pairs():
            to[:] = of.copy()
        for z in range(planes if not target.pageable else 0):
            for y in range(rows):
                state.unwritten.wrote(target.first + y * target.pitch + z * target.plane, width)

    for _ in pairs():  # all of it is allocated now
        pass
    return copy


def filling(state: State, params: Any, where: str) -> Callable[[], None]:
    """Return a function that does the fill that a CUDA_MEMSET_NODE_PARAMS describes.

    Raises:
        CudaStatusError: a size, the value or the alignment is invalid, or memory is not allocated.
    """
    first, size, width, rows = int(params.dst), int(params.elementSize), int(params.width), int(params.height)
    expect(size in _KINDS and width and rows, f"{where}: a fill of {width} × {rows} elements of {size} bytes is none")
    kind = _KINDS[size]
    value = int(params.value)
    expect(0 <= value < 1 << 8 * size, f"{where}: {value} has more than {8 * size} bits")
    expect(first % size == 0, f"{where}: {first:#x} is not aligned to {size} bytes")
    pitch = int(params.pitch) if rows > 1 else width * size
    rows_at = [first + y * pitch for y in range(rows)]

    def fill() -> None:
        for at in rows_at:
            state.touch(at, width * size, "a fill")
            state.arena.bytes_at(at, width * size).view(kind)[:] = value
            state.unwritten.wrote(at, width * size)

    for at in rows_at:
        state.touch(at, width * size, where)
    return fill
