"""Sparsity patterns: which numbers of a result may depend on which of an argument, by what kernels access.

Each launch runs once more on copies, in a form that writes down the elements that its threads read and write
(`autodiff/accesses.py`): indices are what they are in this run, those that were read from arrays too. What a thread
writes depends on what it read; put together launch by launch, that contains every derivative that is not 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.api.builds.bind import bind
from workbench.api.gradients.scipy_matrices import sparse
from workbench.autodiff import parameters, then
from workbench.errors import LaunchError
from workbench.host.narrow import HostArray
from workbench.runtime.active_observers import unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import copy_of
from workbench.runtime.arrays.create import zeros
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import execute
from workbench.runtime.launching.mapped import Mapped
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.record import LaunchRecord
from workbench.types import Vector, element, int32, is_float

LOAD, STORE = 0, 1
SITE, ELEMENT, ITERATION, THREAD = range(4)
"""The columns of a log; those from THREAD on are the thread's indices."""
_ROWS = 16
"""Rows of a log for each thread, at first."""


class Pattern(Observer):
    """An observer that tracks which numbers depend on those of one array."""

    differentiates = True

    def __init__(self, x: array) -> None:
        """Track dependencies on the numbers of `x`, of which each depends on itself at first."""
        scalars = _scalars(x)
        self.count = len(scalars)
        self._rows: dict[Memory, Any] = {}
        self._put(x, scalars, sparse().eye_array(self.count, dtype=bool, format="csr"))

    def of(self, value: array) -> Any:
        """Return a CSR matrix of bools: a row for each number of `value`, a column for each of the argument."""
        return self._of(value.memory, value)[_scalars(value)]

    def launching(self, record: LaunchRecord) -> None:
        """Add the dependencies of a launch, if one of its arrays depends on the argument."""
        floats = [a for a in record.arguments.values() if isinstance(a, array) and is_float(a.dtype)]
        if not any(a.memory in self._rows and self._rows[a.memory].nnz for a in floats):
            return
        with unobserved():
            names, log = _log(record)
        sites = log[:, SITE]
        kinds, indices = sites % 3, sites // 3 % len(names)
        keys = [sites // (3 * len(names)), *log.T[ITERATION:]]
        groups, count = _numbered(keys)
        read: list[tuple[Memory, Any]] = []
        written: dict[Memory, list[tuple[Any, HostArray]]] = {}
        for k, name in enumerate(names):
            value = record.arguments[name]
            for kind in np.unique(kinds[indices == k]):
                here = (indices == k) & (kinds == kind)
                scalars, group = _scalars(value, log[here, ELEMENT], groups[here])
                total = self._of(value.memory, value).shape[0]
                ones = np.ones(len(scalars), bool)
                if kind == LOAD:
                    read.append((value.memory, sparse().csr_array((ones, (group, scalars)), (count, total))))
                else:
                    matrix = sparse().csr_array((ones, (scalars, group)), (total, count))
                    written.setdefault(value.memory, []).append((matrix, scalars if kind == STORE else scalars[:0]))
        self._follow(read, written, count)

    def _follow(self, read: list[tuple[Memory, Any]], written: dict[Memory, Any], count: int) -> None:
        """Make what each thread wrote depend on all that it read.

        It is repeated until nothing changes, for arrays that are both read and written.
        """
        old = {m: _without(self._rows[m], np.concatenate([s for _, s in parts])) for m, parts in written.items()}
        before = {m: self._rows[m] for m, _ in read}
        known = dict(before)
        while True:
            gathered = sum((matrix @ known[m] for m, matrix in read), self._none(count))
            for memory, parts in written.items():
                self._rows[memory] = sum((matrix @ gathered for matrix, _ in parts), old[memory])
            both = {m: before[m] + self._rows[m] for m in written.keys() & before.keys()}
            if all(both[m].nnz == known[m].nnz for m in both):
                return
            known |= both

    def copying(self, target: array, source: array) -> None:
        """Give the target the source's dependencies."""
        self._put(target, _scalars(target), self.of(source))

    def adding(self, target: array, source: array) -> None:
        """Give the target the source's dependencies besides its own."""
        self._put(target, _scalars(target), self.of(target) + self.of(source))

    def mapping(self, mapped: Mapped) -> None:
        """Make each number of a linear solve's solution depend on all that the residual depends on.

        It depends on what it depended on before, too.
        """
        rows = self.of(mapped.source)
        every = sparse().csr_array(np.ones((rows.shape[0], 1), bool)) @ sparse().csr_array(rows.sum(0)[None] > 0)
        self._put(mapped.target, _scalars(mapped.target), self.of(mapped.target) + every)

    def filling(self, target: array, value: float) -> None:
        """Make the elements of a filled array depend on nothing."""
        if target.memory in self._rows:
            scalars = _scalars(target)
            self._put(target, scalars, self._none(len(scalars)))

    def _none(self, count: int) -> Any:
        """Return a CSR matrix of bools for `count` numbers that depend on nothing."""
        return sparse().csr_array((count, self.count), dtype=bool)

    def _put(self, target: array, scalars: HostArray, rows: Any) -> None:
        """Replace the dependencies of a target's numbers, at these positions in its memory, by the rows of a matrix."""
        others = _without(self._of(target.memory, target), scalars)
        ones, total = np.ones(len(scalars), bool), others.shape[0]
        moved = sparse().csr_array((ones, (scalars, np.arange(len(scalars)))), (total, len(scalars)))
        self._rows[target.memory] = others + moved @ rows

    def _of(self, memory: Memory, value: array) -> Any:
        """Return the dependencies of all numbers in a memory: a CSR matrix of a row for each, empty if it is new.

        Raises:
            LaunchError: the memory was used with elements of another size.
        """
        total = memory.nbytes // element(value.dtype).size
        rows = self._rows.setdefault(memory, self._none(total))
        if rows.shape[0] != total:
            raise LaunchError(
                "One memory is used as float32 and as float64, so which numbers depend on which is not known.",
                advice="Give the pattern: sparse=matrix.",
            )
        return rows


def _log(record: LaunchRecord) -> tuple[list[str], HostArray]:
    """Run the launch on copies, in the form that logs accesses; return its parameters' names, and a row per access."""
    direction = then(record.direction, "accesses")
    forward = record.specialisation.function.params
    names = [p.name for p in parameters(forward, record.direction)]
    log_name = parameters(forward, direction)[-1].name
    indices = record.specialisation.launch_ndim
    room = _ROWS * record.threads
    while True:
        copies = {a.memory: copy_of(a) for a in (record.arguments[n] for n in record.writes)}
        arguments = {
            n: a.twin(copies[a.memory]) if isinstance(a, array) and a.memory in copies else a
            for n, a in record.arguments.items()
        }
        log = zeros((room + 1, THREAD + indices), int32, record.executable.device)
        everything = {**arguments, log_name: log}
        execute(
            bind(
                record.specialisation,
                direction,
                record.dim,
                everything,
                record.executable.device,
                record.launch_options,
            )
        )
        rows = log.numpy()
        wanted = int(rows[0, 0])
        if wanted <= room:
            return names, rows[1 : 1 + wanted]
        room = wanted


def _numbered(columns: list[HostArray]) -> tuple[HostArray, int]:
    """Number the rows that these columns form from 0, equal rows alike; return the rows' numbers, and their count."""
    numbers = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, here = np.unique(column, return_inverse=True)
        _, numbers = np.unique(numbers * len(values) + here, return_inverse=True)
    return numbers, int(numbers.max(initial=-1)) + 1


def _scalars(value: array, elements: HostArray | None = None, beside: HostArray | None = None) -> Any:
    """Return the positions of an array's numbers in its memory, counted in numbers.

    Args:
        value: the array.
        elements: row-major numbers of the elements that count; None: all.
        beside: a value for each element; then it is repeated for each component, and returned as well.
    """
    size, length = element(value.dtype).size, value.dtype.length if isinstance(value.dtype, Vector) else 1
    indices = np.unravel_index(np.arange(value.size) if elements is None else elements, value.shape)
    first = np.full(np.shape(indices[0]), value.address - value.memory.address, np.int64)
    for index, stride in zip(indices, value.strides, strict=True):
        first += index * stride
    positions = (first[:, None] // size + np.arange(length)).reshape(-1)
    return positions if beside is None else (positions, np.repeat(beside, length))


def _without(rows: Any, emptied: HostArray) -> Any:
    """Return the matrix with the rows `emptied` set to 0."""
    if not len(emptied):
        return rows
    left = np.ones(rows.shape[0], bool)
    left[emptied] = False
    return sparse().diags_array(left, format="csr", dtype=bool) @ rows
