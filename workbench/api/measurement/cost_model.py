"""The work of a call: bytes that must move, and operations on floats, of all launches in it.

Bytes are those of the arrays: each read once, each written once, the least that a machine without caches would move;
where the threads touch fewer elements than the arrays have, those. Operations are counted by running a few threads in
the interpreter, so loops and branches count as they go; what takes too long to run there is not known, and said so.
"""

from __future__ import annotations

import contextlib
import io
import math
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from workbench.api.graphs.graph import Graph
from workbench.autodiff import parameters
from workbench.backends.python import interpret
from workbench.builtins import TABLE
from workbench.errors import WorkbenchError
from workbench.ir.values import Op
from workbench.runtime.active_observers import observing
from workbench.runtime.arrays.array import array
from workbench.runtime.device.device import CPU, Device
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.work import Launch
from workbench.types import ArrayType, Vector, element, is_float

SAMPLES = 5
"""Threads that are run to count; a prime number, above that of dimensions."""
MOST_STEPS = 20_000
"""Operations that are interpreted at most for one kernel."""
MOST_BYTES = 256 << 20
"""Bytes of arrays that are copied to the host at most."""
# Builtins that cost no floating-point operation.
_FREE = frozenset({"where", "select"})


class Effort(msgspec.Struct, frozen=True):
    """The work that a call does.

    Attributes:
        launches: how many, those of graphs included.
        bytes: that have to move.
        flops: operations on floats; None if they could not be counted.
        devices: where it ran.
    """

    launches: int = 0
    bytes: int = 0
    flops: float | None = 0.0
    devices: tuple[Device, ...] = ()

    def __add__(self, other: Effort) -> Effort:
        """Return the work of both together; its `flops` are None if one of them could not be counted."""
        both = None if self.flops is None or other.flops is None else self.flops + other.flops
        devices = tuple(dict.fromkeys((*self.devices, *other.devices)))
        return Effort(self.launches + other.launches, self.bytes + other.bytes, both, devices)


def effort_of(call: Callable[[], object]) -> Effort:
    """Run `call` once and return the work that it did: of its launches, and of the memory moved besides.

    A launch counts like an earlier one with equal code, dimensions, array shapes and arguments but floats.

    Raises:
        Exception: what the call raises.
    """
    seen = _Seen()
    with observing(seen):
        call()
    counted: dict[tuple[object, ...], Effort] = {}
    total = Effort()
    for record in seen.records:
        # Numbers that are no integers say nothing, as a rule, about how often a loop turns.
        sizes = (v.shape if isinstance(v, array) else v for v in record.arguments.values() if not isinstance(v, float))
        memo_key = (record.executable.digest, record.dim, *sizes)
        if memo_key not in counted:
            counted[memo_key] = effort_of_launch(record)
        total += counted[memo_key]
    moved = Effort(0, seen.moved, seen.added if seen.known else None, tuple(dict.fromkeys(seen.devices)))
    return total + moved


class _Seen(Observer):
    """An observer of launches, and of the bytes that copies, sums and fills move.

    Attributes:
        records: the launches, those of graphs included.
        devices: where copies, sums, fills and nodes of graphs ran.
        moved: bytes that copies, sums and fills read and write.
        added: operations on floats of sums.
        known: whether operations can be counted: no graph has branches or loops.
    """

    looks_inside = False

    def __init__(self) -> None:
        self.records: list[LaunchRecord] = []
        self.devices: list[Device] = []
        self.moved = 0
        self.added = 0.0
        self.known = True

    def launching(self, record: LaunchRecord) -> None:
        """Note the launch."""
        self.records.append(record)

    def copying(self, target: array, source: array) -> None:
        """Count the bytes of a copy: one read and one write."""
        self._move(target, 2)

    def adding(self, target: array, source: array) -> None:
        """Count the bytes of an addition, two reads and a write, and its operations."""
        self._move(target, 3)
        self.added += target.nbytes / element(target.dtype).size

    def filling(self, target: array, value: float) -> None:
        """Count the bytes of a fill."""
        self._move(target, 1)

    def replaying(self, graph: Graph) -> None:
        """Note the launches and devices of a graph; with branches or loops in it operations cannot be counted."""
        for node in graph.nodes:
            if isinstance(node, Launch):
                self.records.append(node.record)
            else:
                self.devices.append(node.device)
                self.known = self.known and not node.bodies

    def _move(self, target: array, times: int) -> None:
        """Count an array's bytes, so many times, and note its device."""
        self.moved += times * target.nbytes
        self.devices.append(target.device)


def effort_of_launch(record: LaunchRecord) -> Effort:
    """Return the work of one launch, which is not run: a sample of its threads is interpreted."""
    flops, touched = _sampled(record)
    total = 0
    for name, value in record.arguments.items():
        if isinstance(value, array):
            most = value.nbytes * ((name in record.reads) + (name in record.writes))
            total += min(most, math.ceil(touched[name])) if touched is not None else most
    return Effort(1, total, flops, (record.executable.device,))


def _sampled(record: LaunchRecord) -> tuple[float | None, Counter[str] | None]:
    """Count the operations on floats of a launch, and the bytes that accesses to each array move, from a few threads.

    Each is None if it is not known.
    """
    try:
        function = record.executable.function
        arguments = _on_host(record)
    except WorkbenchError:
        return None, None
    if arguments is None or not record.threads:
        return (None if record.threads else 0.0), None
    flops, steps = 0.0, 0
    touched: Counter[str] = Counter()
    threads = _spread_threads(record.dim)
    for thread in threads:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                for taken in interpret.step(function, record.dim, arguments, thread):
                    steps += 1
                    if steps > MOST_STEPS:
                        return None, None
                    flops += _flops(taken.op)
                    _touch(taken.op, touched)
        except (WorkbenchError, KeyError, NotImplementedError):
            return None, None
    share = record.threads / len(threads)
    return flops * share, Counter({name: count * share for name, count in touched.items()})


def _on_host(record: LaunchRecord) -> list[object] | None:
    """Return the arguments for the interpreter, with arrays that are written as copies; None if those are too large."""
    arrays = {n: v for n, v in record.arguments.items() if isinstance(v, array)}
    copied = [v for n, v in arrays.items() if n in record.writes or v.device != CPU]
    if sum(v.nbytes for v in copied) > MOST_BYTES:
        return None
    names = [p.name for p in parameters(record.specialisation.function.params, record.direction)]
    return [
        _host(value, name in record.writes) if isinstance(value := record.arguments[name], array) else value
        for name in names
    ]


def _host(value: array, copied: bool) -> object:
    """Return the array's elements as a NumPy array, with `copied` as a copy."""
    data = value.numpy()
    return data.copy() if copied else data


def _spread_threads(dims: Sequence[int]) -> list[tuple[int, ...]]:
    """Return threads that represent all: one from each fifth of every dimension, in another order along each.

    Equally spaced numbers would all lie in the last column of a square, where a stencil has nothing to do.
    """
    fifths = [[(2 * (k * m % SAMPLES) + 1, n) for m, n in enumerate(dims, 1)] for k in range(SAMPLES)]
    return sorted({tuple(n * part // (2 * SAMPLES) for part, n in along) for along in fifths})


def _touch(op: Op, touched: Counter[str]) -> None:
    """Add the bytes that an operation reads from and writes to an array to that array's count; an atomic does both."""
    if op.operands and isinstance(type := op.operands[0].type, ArrayType):
        times = {"load": 1, "store": 1, "atomic_add": 2, "atomic": 2, "reduce_add": 0}.get(op.name, 0)
        touched[op.operands[0].name] += times * type.dtype.size


def _flops(op: Op) -> float:
    """Return the number of operations on floats in an IR operation; a function such as `sin` counts as one.

    Operations on vectors count once per component.
    """
    if op.name == "atomic_add":
        return _width(op.operands[-1].type) if is_float(op.operands[-1].type) else 0.0
    if op.name not in TABLE or op.name in _FREE or not is_float(op.result.type):
        return 0.0
    first = op.operands[0].type if op.operands else op.result.type
    width = _width(op.result.type)
    if op.name in ("dot", "matmul"):
        inner = first.shape[-1] if isinstance(first, Vector) else 1
        return width * (2 * inner - 1)
    if isinstance(first, Vector) and width == 1:
        return 2.0 * _width(first)  # a length, a sum of squares
    return float(width)


def _width(type: object) -> int:
    """Return the number of scalars in a value of the type: 1 for what is no vector."""
    return math.prod(type.shape) if isinstance(type, Vector) else 1
