"""Sparse derivatives: their pattern, and their values from few products.

A **pattern** says which numbers of a result may depend on which of an argument, by what kernels access. Each launch
runs once more on copies, in a form that writes down the elements that its threads read and write
(`autodiff/instrumented.py`): indices are what they are in this run, those that were read from arrays too. What a thread
writes depends on what it read; put together launch by launch, that contains every derivative that is not 0.

**Values** come from few products: columns that share no row are computed together (Curtis, Powell and Reid).

SciPy's sparse matrices are imported when they are used: SciPy is an optional dependency.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any

import numpy as np

from workbench.api.builds.bind import bind
from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.api.measurement.chart import image
from workbench.autodiff import parameters, then
from workbench.errors import LaunchError, NotDifferentiable
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

# SciPy has no types.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false


_CELLS = 60
"""Squares along the longer side of a picture."""


def sparse() -> Any:
    """Import and return the module `scipy.sparse`.

    Raises:
        ImportError: SciPy is not installed.
    """
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError("Sparse matrices are SciPy's, which is not installed: pip install scipy") from error
    return scipy.sparse


@cache
def derivative_type() -> Any:
    """Return the class of sparse Jacobians and Hessians: SciPy's `csr_array`, which says how it was computed."""

    class Derivative(sparse().csr_array):
        """Represents a sparse derivative, a row for each number of the result.

        Attributes:
            sweeps: the runs along a direction, or backward passes, that computed it; 0 of a matrix computed from one.
            mode: "forward" or "reverse".
            colours: of each column, or row in reverse mode: those of the same colour were computed together.
        """

        sweeps = 0
        mode = ""
        colours: Any = None

        def __repr__(self) -> str:
            text = super().__repr__()
            return f"{text}\n\tby {self.sweeps} {self.mode} sweep{'s' * (self.sweeps > 1)}" if self.sweeps else text

        def __reduce__(self) -> Any:
            return sparse().csr_array, ((self.data, self.indices, self.indptr), self.shape)

        def _repr_html_(self) -> str:
            shown = repr(self)
            return f"<div>{image(_picture(self), shown)}<pre>{escape(shown)}</pre></div>"

    return Derivative


def _picture(matrix: Any) -> str:
    """Draw where a matrix has entries, as SVG: a square for each part of it that has some."""
    size = -(-max(matrix.shape) // _CELLS) or 1
    entries = matrix.tocoo()
    cells = np.unique(np.stack([entries.col // size, entries.row // size]), axis=1).T.tolist()
    squares = "".join(f"M{x} {y}h1v1h-1z" for x, y in cells)
    tall, wide = (max(1, -(-n // size)) for n in matrix.shape)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{4 * wide}" height="{4 * tall}" viewBox="0 0 {wide} {tall}" '
        f'role="img"><title>{escape(repr(matrix))}</title><path d="M0 0h{wide}v{tall}h-{wide}z" fill="#8a8a8a" '
        f'fill-opacity="0.15"/><path d="{squares}" fill="#2b7bba"/></svg>'
    )


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
    """Number the different rows that these columns form, from 0; return each row's number, and how many there are."""
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


# SciPy has no types.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false


_ROUNDS = 8
"""The maximum number of recolouring rounds, run where the first colouring needs many colours."""


def colours_of(pattern: Any) -> HostArray:
    """Assign each column the first free colour, from 0, beginning with the columns that meet most others.

    Two columns that are not 0 in a common row have different colours (a distance-1 colouring of the graph in which such
    columns are neighbours), so the columns of one colour can be told apart in their sum.

    Args:
        pattern: a SciPy matrix in CSR form, not 0 where a derivative may be.

    Returns:
        int32, as long as there are columns.
    """
    rows, columns = pattern, pattern.tocsc()
    tables = (columns.indptr, columns.indices, rows.indptr, rows.indices)
    order = -(np.diff(rows.indptr).astype(np.int64) @ columns.astype(np.int64))  # how many others a column meets
    least, colours = int(np.diff(rows.indptr).max(initial=0)), order
    with unobserved():
        on_device = [array(np.append(t, 0).astype(np.int32), device="cpu") for t in tables]  # none is empty
        for _ in range(_ROUNDS):
            colours = _greedy(np.argsort(order, kind="stable"), on_device)
            if colours.max(initial=-1) < 1.5 * least:
                break
            order = -colours  # colour by colour, so that no more are needed; often fewer are
    return colours


def _greedy(order: HostArray, tables: list[array]) -> HostArray:
    """Return a colour for each column, int32 from 0: columns in this order get the least colour that is free.

    `tables` are the pattern's columns (CSC starts and rows), then its rows (CSR starts and columns), on the CPU.
    """
    first = array(np.append(order, 0).astype(np.int32), device="cpu")
    marks, colours = (array(np.full(len(order) + 1, -1, np.int32), device="cpu") for _ in range(2))
    launch(_colour, 1, [len(order), first, *tables], [marks, colours], device="cpu", checks=False)
    return colours.numpy()[:-1].copy()


@kernel
def _colour(
    n: int, order: array[int32], starts: array[int32], rows: array[int32], row_starts: array[int32],
    columns: array[int32], marks: array[int32], colours: array[int32],
):  # fmt: skip
    """Give each column the least colour that no column sharing a row with it has, in one thread.

    Args:
        n: how many columns there are.
        order: the columns, in the order in which they get colours.
        starts, rows: of each column its rows (CSC).
        row_starts, columns: of each row its columns (CSR).
        marks: scratch, by colour.
        colours: the result, by column; -1 before.
    """
    for k in range(n):
        column = order[k]
        for p in range(starts[column], starts[column + 1]):
            row = rows[p]
            for q in range(row_starts[row], row_starts[row + 1]):
                taken = colours[columns[q]]
                if taken >= 0:
                    marks[taken] = column
        colour = 0
        while marks[colour] == column:
            colour += 1
        colours[column] = colour


_ROUNDING = {8: 1e-6, 4: 1e-3, 2: 0.1}
"""The largest difference of two products, relative to the sum of their terms' magnitudes, by size in bytes."""
Product = Callable[[HostArray], HostArray]
"""Maps a flat vector to its product with the derivative, or with the transposed one."""


def as_pattern(matrix: Any, shape: tuple[int, int]) -> Any:
    """Convert what `scipy.sparse.csr_array` takes to a pattern: in CSR form, True where it stores an entry.

    Raises:
        ValueError: it has another shape than the derivative.
    """
    pattern = sparse().csr_array(matrix).astype(bool)
    if pattern.shape != shape:
        raise ValueError(f"The pattern has the shape {pattern.shape}; the derivative has {shape}.")
    pattern.data[:] = True
    pattern.sum_duplicates()
    return pattern


def compressed(pattern: Any, mode: str, products: dict[str, Product], dtype: Any, known: Any = None) -> Any:
    """Compute a derivative of this pattern from one product for each colour.

    Args:
        pattern: in CSR form; entries outside of it are 0.
        mode: "forward": by columns; "reverse": by rows; "auto": whichever has fewer colours.
        products: for each mode that is possible, the product with the derivative, or with the transposed one.
        dtype: of the entries.
        known: an earlier derivative of the same pattern, whose colours are used again.

    Returns:
        A `csr_array` with `sweeps`, `mode` and `colours`.

    Raises:
        NotDifferentiable: two products with random vectors are not those of the derivative: the pattern is wrong.
    """
    mode, colours = _chosen(pattern, mode, products, known)
    oriented = pattern if mode == "forward" else pattern.T.tocsr()
    rows = np.repeat(np.arange(oriented.shape[0]), np.diff(oriented.indptr))
    shades = colours[oriented.indices].astype(np.uint16 if colours.max(initial=0) < 1 << 16 else np.int32)
    order = np.argsort(shades, kind="stable")
    sweeps = int(colours.max(initial=-1)) + 1
    ends = np.searchsorted(shades[order], np.arange(sweeps + 1))
    data = np.zeros(len(shades), dtype)
    for colour in range(sweeps):
        here = order[ends[colour] : ends[colour + 1]]
        data[here] = products[mode]((colours == colour).astype(dtype))[rows[here]]
    matrix = sparse().csr_array((data, oriented.indices, oriented.indptr), shape=oriented.shape)
    _check(matrix, products[mode], dtype)
    derivative = derivative_type()(matrix if mode == "forward" else matrix.T.tocsr())
    derivative.sweeps, derivative.mode, derivative.colours = sweeps, mode, colours
    return derivative


def _chosen(pattern: Any, mode: str, products: dict[str, Product], known: Any) -> tuple[str, HostArray]:
    """Return the mode, and the colours of its columns or rows.

    Both are those of `known`, if it has colours for this mode. A side is coloured only if it may need fewer colours.
    """
    if known is not None and getattr(known, "sweeps", 0) and mode in ("auto", known.mode):
        return known.mode, known.colours
    sides = {"forward": pattern, "reverse": pattern.T.tocsr()}
    # A row of k entries needs k colours.
    least = {m: int(np.diff(sides[m].indptr).max(initial=0)) for m in products if mode in ("auto", m)}
    best: tuple[str, HostArray] | None = None
    fewest = np.inf
    for name in sorted(least, key=least.__getitem__):
        if least[name] < fewest:
            colours = colours_of(sides[name])
            if (count := int(colours.max(initial=-1)) + 1) < fewest:
                best, fewest = (name, colours), count
    assert best is not None
    return best


def _check(matrix: Any, product: Product, dtype: Any) -> None:
    """Compare a sparse derivative with the product it was computed by, along two random vectors.

    Raises:
        NotDifferentiable: they differ, so the pattern leaves out entries.
    """
    random = np.random.default_rng(0)
    for _ in range(2):
        along = (random.uniform(0.5, 1.5, matrix.shape[1]) * random.choice([-1, 1], matrix.shape[1])).astype(dtype)
        result, expected = product(along), matrix @ along
        bound = abs(matrix) @ abs(along)
        allowed = _ROUNDING[np.dtype(dtype).itemsize] * (bound + np.abs(result))
        wrong = np.flatnonzero(~(np.abs(result - expected) <= allowed) & np.isfinite(result))
        if len(wrong):
            raise NotDifferentiable(
                f"The pattern leaves out what is not 0: in {len(wrong)} of {matrix.shape[0]} rows or columns, "
                f"{wrong[0]} the first, a product with a random vector is not that of the derivative.",
                advice="Give a pattern that has every entry that may not be 0, or leave sparse=True to find it.",
            )
