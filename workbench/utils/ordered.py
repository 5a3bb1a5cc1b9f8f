"""A launch on a device whose float sums have the order of its threads: rows, sorted by place, added up place by place.

The kernel's ordered form (`autodiff/instrumented.py`) writes a row for each number that it would add. Where it cannot
be known how many these are, a form that only counts runs first. Rows come in the order of threads and the sort is
stable; so one thread per place that adds its rows up one after the other has the bits of a loop over the threads.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportInvalidTypeForm=false, reportCallIssue=false

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from msgspec.structs import replace

from workbench.api.builds.bind import record_of
from workbench.api.builds.gathered import load_for
from workbench.api.builds.overlaps import launch_assumptions, overlap
from workbench.api.graphs.capture import capture
from workbench.api.graphs.graph import Graph
from workbench.api.kernels.kernel import Kernel, kernel
from workbench.api.launches.launch import launch
from workbench.autodiff import parameters, then
from workbench.builtins import FORMS
from workbench.errors import LaunchError
from workbench.runtime.active_observers import unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty, full
from workbench.runtime.device.streams import ScopedStream
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.execute import execute
from workbench.runtime.launching.record import LaunchOptions, LaunchRecord
from workbench.types import SCALARS, element, float64, int32
from workbench.utils.scan import array_scan
from workbench.utils.sort import QUIET, sorted_by_bits

tid, atomic_min, atomic_max = FORMS["tid"], FORMS["atomic_min"], FORMS["atomic_max"]
uint32, uint64 = SCALARS["uint32"], SCALARS["uint64"]
UNUSED = 2**64 - 1
"""A row that was not written: behind all others."""


def run(executable: Executable, dims: tuple[int, ...], values: Sequence[Any], block_dim: Any, stream: Any) -> None:
    """Queue the launches that stand for one launch whose sums are added in order; open observers do not see them.

    Args:
        executable: the loaded kernel of that one launch, which observers have seen already.
        dims: its dimensions.
        values: its arguments, in the order of `executable.names`.
        block_dim: its threads per block.
        stream: where to queue them; None: on the current stream.

    Raises:
        LaunchError: arguments share memory in a way that has no order, or there are too many rows.
    """
    with unobserved(), ScopedStream(stream) if stream is not None else nullcontext():
        steps(executable, dims, dict(zip(executable.names, values, strict=True)), block_dim)


def captured(record: LaunchRecord) -> Graph:
    """Return a graph of the launches that stand for a recorded launch whose sums are added in order.

    Raises:
        LaunchError: arguments share memory in a way that has no order, there are too many rows, or how many there are
            would have to be counted first.
    """
    loop = record.executable.in_order.sums.loop if record.executable.in_order is not None else ""
    if loop:
        raise LaunchError(
            f"deterministic=True: {record.executable.title} adds in a loop ({loop}) whose turns are counted before "
            "each launch, which a graph cannot do.",
            advice="Launch it outside of the capture.",
            function=record.kernel,
        )
    with capture() as graph:
        steps(record.executable, record.dim, dict(record.arguments), record.block_dim)
    return graph


def steps(executable: Executable, dims: tuple[int, ...], arguments: Mapping[str, Any], block_dim: Any) -> None:
    """Queue the launches that stand for one launch whose sums are added in order; open observers see each of them.

    Args:
        executable: the loaded kernel of that one launch.
        dims: its dimensions.
        arguments: its arguments by name.
        block_dim: its threads per block.

    Raises:
        LaunchError: arguments share memory in a way that has no order, or there are too many rows.
    """
    ordered = executable.in_order
    assert ordered is not None
    targets = {name: arguments[name] for name, _ in ordered.sums.arrays}
    _refuse_shared(executable, targets, arguments)
    dims = dims if executable.launch_ndim else (math.prod(dims),)
    device, threads = executable.device, math.prod(dims)

    def step(word: str, *logs: array) -> None:
        direction = then(executable.direction, word)
        names = [p.name for p in parameters(ordered.specialisation.params, direction)]
        complete = dict(zip(names, (*arguments.values(), *logs), strict=True))
        arrays = {n: a for n, a in complete.items() if isinstance(a, array)}
        options = replace(ordered.options, **launch_assumptions(dims, arrays)._asdict())
        code, options = load_for(ordered.specialisation, direction, options, device, ordered.atomic, dims)
        execute(record_of(code, ordered.specialisation, dims, complete, LaunchOptions(options, block_dim)))

    none = empty(1, uint64, device), empty(1, float64, device)
    starts = empty(threads if ordered.sums.loop else 1, int32, device)
    count = threads * ordered.sums.rows
    if ordered.sums.loop:
        step("counted", *none, starts)
        last = starts[-1:].numpy()[0] if threads else 0
        array_scan(starts, starts, inclusive=False)
        count = int(starts[-1:].numpy()[0]) + int(last)
    total = sum(a.size * _length(a) for a in targets.values())
    if count >= 2**31 or total >= 2**32 - 1:
        raise LaunchError(
            f"deterministic=True: {executable.title} adds {count:,} numbers to {total:,}; fewer than 2³¹ to fewer than "
            "2³² can be sorted.",
            advice="Launch it in parts.",
            function=executable.name,
        )
    if count:
        rows, values = full(count, UNUSED, uint64, device), empty(count, float64, device)
        step("ordered", rows, values, starts)
        rows, _ = sorted_by_bits(rows, None, 32, 32 + total.bit_length())
        _add(ordered.sums.arrays, targets, rows, values)


def _add(arrays: Sequence[tuple[str, str]], targets: Mapping[str, array], rows: array, values: array) -> None:
    """Change each element by its rows, one after the other.

    Args:
        arrays: names of arrays, each with the kind of change: "add", "min" or "max".
        targets: the arrays by name.
        rows: sorted numbers: in the upper 32 bits an element's index among all elements of the arrays, one array after
            the other; in the lower ones the index of its value.
        values: what to change elements by.
    """
    base = 0
    for name, kind in arrays:
        target = targets[name]
        dense = target.contiguous()
        numbers = dense.view(element(target.dtype)).reshape(-1)
        launch(_KINDS[kind], rows.size, [rows, values, base, numbers.size], [numbers], device=rows.device, **QUIET)
        if dense.memory is not target.memory:  # a view with gaps, or a field of structs
            target.copy_(dense)
        base += numbers.size


def _length(a: array) -> int:
    """Return the number of components of an array's elements; 1 if these have no length, as scalars."""
    return getattr(a.dtype, "length", 1)


def _refuse_shared(executable: Executable, targets: Mapping[str, array], arguments: Mapping[str, Any]) -> None:
    """Raise a LaunchError if the kernel adds in memory that it also uses otherwise, or where two elements are one.

    Args:
        executable: the kernel.
        targets: the arrays that it adds to, by parameter.
        arguments: all arguments, by parameter.
    """
    others = {n: arguments[n] for n in executable.touched if n not in targets}
    for name, target in targets.items():
        twice = name if overlap({name: target}) else ""
        other = twice or next((n for n, a in others.items() if overlap({name: target, n: a}, within=False)), "")
        if other:
            raise LaunchError(
                f"deterministic=True: {executable.title} adds to {name}, which shares memory with {other}, so its sums "
                "have no order.",
                parameter=name,
                advice=f"Give {other} memory of its own: wb.clone(…).",
            )


def _applied(change: Any) -> Kernel:
    """Return a kernel of one thread per sorted row, which applies `change`, an atomic, in the rows' order."""

    @kernel
    def in_order(rows: array[uint64], values: array[float64], base: uint64, size: uint64, out: array[Any]):
        """Change an element by all its rows, if this one is the first of them."""
        r = tid()
        index = rows[r] >> uint64(32)
        if index >= base and index < base + size and (r == 0 or rows[r - 1] >> uint64(32) != index):
            at = int(index - base)
            k = r
            while k < len(rows) and rows[k] >> uint64(32) == index:
                change(out, at, out.dtype(values[int(rows[k] & uint64(0xFFFFFFFF))]))
                k += 1

    return in_order


_KINDS = {"add": _applied(FORMS["atomic_add"]), "min": _applied(atomic_min), "max": _applied(atomic_max)}
"""The kernel for each kind of change. Only one thread changes an element, so its atomic changes are in order."""
