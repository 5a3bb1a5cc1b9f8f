"""Sparse matrices as structs of arrays: CSR of numbers, BSR of blocks."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportInvalidTypeForm=false, reportCallIssue=false

from __future__ import annotations

from functools import cache, partial
from itertools import zip_longest
from typing import Any, Literal

import numpy as np

from workbench.api.gradients.sparse import sparse
from workbench.api.kernels.kernel import Kernel, kernel
from workbench.api.kernels.struct import make_struct
from workbench.api.launches.launch import launch
from workbench.builtins import FORMS, TABLE
from workbench.errors import LaunchError
from workbench.linear.krylov import NOT_POSITIVE, USE_BICGSTAB, Apply, Solve
from workbench.linear.roots import tolerance
from workbench.linear.solve import Operator, solved
from workbench.optim.optimizer import flat
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import clone, empty, zeros, zeros_like
from workbench.runtime.arrays.structure import StructValue
from workbench.runtime.device.device import Device
from workbench.source import UNKNOWN
from workbench.structs import as_element
from workbench.types import ArrayType, Matrix, Scalar, element, float32, float64, int32, matrix
from workbench.types import vector as vector_type

tid, identity = FORMS["tid"], FORMS["identity"]
determinant, inverse, transpose = TABLE["determinant"], TABLE["inverse"], TABLE["transpose"]
Method = Literal["cg", "bicgstab"]


class CSR:
    """Represents a sparse matrix of numbers, stored row by row.

        a = wb.linear.CSR(starts, columns, values, shape=(3, 3))    # arrays, or what arrays are made of
        a = wb.linear.from_scipy(matrix)
        y = a @ x
        x = a.solve(b)

    Row i has the `values[k]` at the `columns[k]` for k from `starts[i]` to `starts[i + 1]`. Products and solutions are
    differentiated by the values and by the vector. A kernel takes `a.struct` where its parameter is annotated
    `wb.linear.CSR[float]`, and has its fields: `a.values[k]`.

    Args:
        starts: int32 offsets into `columns`, one more than there are rows.
        columns: int32, one for each value; in a row in any order, and with repetitions, which add up.
        values: float32 or float64.
        shape: rows and columns; square if it is not given.
        device: for what is not an array yet.

    Raises:
        LaunchError: the arrays do not fit each other, or the values are not float32 or float64.
    """

    _word = "CSR"

    def __init__(
        self,
        starts: Any,
        columns: Any,
        values: Any,
        shape: tuple[int, int] | None = None,
        device: Device | str | None = None,
    ) -> None:
        """Make a matrix of these arrays, which are not copied; anything else is converted to an array."""
        starts, columns = (a if isinstance(a, array) else array(a, int32, device=device) for a in (starts, columns))
        values = values if isinstance(values, array) else self._values(values, device)
        self.starts, self.columns, self.values = starts, columns, values
        self._refuse()
        rows, wide = self.block
        self.shape: tuple[int, int] = shape or ((len(starts) - 1) * rows, (len(starts) - 1) * wide)
        self._refuse_structure()
        self._transposed: tuple[array, ...] = ()

    def __class_getitem__(cls, dtype: Any) -> Any:
        """Return the struct type of a matrix with values of `dtype`, for a kernel's annotation: `CSR[float]`."""
        return _struct_of(cls._word, as_element(dtype))

    def _values(self, values: Any, device: Any) -> array:
        """Return numbers that are no array yet as one, on `device`."""
        return array(values, device=device)

    @property
    def block(self) -> tuple[int, int]:
        """Rows and columns of an entry, in numbers: 1 and 1, or those of a block of `BSR`."""
        kind = self.values.dtype
        return kind.shape if isinstance(kind, Matrix) else (1, 1)  # type: ignore[return-value]

    @property
    def struct(self) -> StructValue:
        """The matrix as a struct of its three arrays, which are not copied, to pass to a kernel."""
        return _struct_of(self._word, self.values.dtype)(self.starts, self.columns, self.values)

    def _refuse(self) -> None:
        """Raise a LaunchError if one of the arrays has a wrong type or rank, or is not on the values' device."""
        kind, fits = self.values.dtype, Matrix if self._word == "BSR" else Scalar
        if not isinstance(kind, fits) or element(kind) not in (float32, float64):
            raise LaunchError(
                f"{self._word}: the values are {kind!r}; "
                f"they must be float32 or float64{' matrices' * (fits is Matrix)}.",
                parameter="values",
            )
        for name, value in (("starts", self.starts), ("columns", self.columns), ("values", self.values)):
            if value.ndim != 1 or value.device != self.values.device or (name != "values" and value.dtype != int32):
                raise LaunchError(
                    f"{self._word}: {name} is {value.type!r} on {value.device.name}; it has one dimension, on "
                    f"{self.values.device.name}{'' if name == 'values' else ', of int32'}.",
                    parameter=name,
                )

    def _refuse_structure(self) -> None:
        """Raise a LaunchError if starts and columns, read on the host, describe no matrix of this shape."""
        starts, columns = self.starts.numpy(), self.columns.numpy()
        rows, wide = (n // b for n, b in zip(self.shape, self.block, strict=True))
        well_formed = len(starts) == rows + 1 and starts[0] == 0 and starts[-1] <= len(columns) == len(self.values)
        if not well_formed or np.any(np.diff(starts) < 0):
            raise LaunchError(
                f"{self._word}: starts has {len(starts)} elements for {rows} rows; there is one more than there are "
                f"rows, they begin with 0 and never fall, up to the number of columns ({len(columns)}) and of values "
                f"({len(self.values)}).",
                parameter="starts",
            )
        if len(columns) and not (0 <= columns.min() and columns.max() < wide):
            raise LaunchError(f"{self._word}: a column is outside of 0 to {wide - 1}.", parameter="columns")

    @property
    def dtype(self) -> Scalar:
        """The type of the numbers, of BSR that of the blocks' components."""
        return element(self.values.dtype)

    @property
    def T(self) -> CSR:
        """The transposed matrix, a new one, whose values are computed from this one's by a launch that tapes see."""
        structure = self.starts, self.columns
        if any(a is not b for a, b in zip_longest(structure, self._transposed[:2])):
            rows, wide = (n // b for n, b in zip(self.shape, self.block, strict=True))
            order = np.arange(len(self.columns), dtype=np.int32)
            csc = sparse().csr_array((order, self.columns.numpy(), self.starts.numpy()), shape=(rows, wide)).tocsc()
            parts = (np.asarray(p, np.int32) for p in (csc.indptr, csc.indices, csc.data))
            self._transposed = (*structure, *(array(p, device=self.values.device) for p in parts))
        starts, columns, order = self._transposed[2:]
        kind = matrix(self.block[::-1], self.dtype)
        values = empty(len(order), kind if isinstance(self.values.dtype, Matrix) else self.dtype, self.values.device)
        _launch(_turn, [self.values.view(matrix(self.block, self.dtype))], order, values.view(kind))
        return type(self)(starts, columns, values, (self.shape[1], self.shape[0]))

    def __matmul__(self, x: Any) -> array:
        """Return the product with a 1-D array of numbers, one for each column; of BSR also with one of vectors.

        Raises:
            LaunchError: x has another size or type, or is on another device.
        """
        x = x if isinstance(x, array) else array(x, self.dtype, device=self.values.device)
        vector = self._vector(x, 1, "x")
        rows, wide = self.block
        y = zeros(self.shape[0] // rows, vector_type(rows, self.dtype), x.device)
        _launch(_multiply, [_blocks_of(self)], vector, y)
        return flat(y) if x.dtype == self.dtype or rows < min(wide, 2) else y

    def _vector(self, x: array, axis: int, name: str) -> array:
        """Return x as elements that fit the blocks: a copy if it is not contiguous.

        Args:
            x: as many numbers as there are rows (axis 0) or columns (axis 1), or vectors of the blocks' size.
            axis: which of them.
            name: how an error calls x.

        Raises:
            LaunchError: x has another size or type, or is on another device.
        """
        size, wide = self.shape[axis], self.block[axis]
        kind = vector_type(wide, self.dtype)
        if x.ndim == 1 and x.device == self.values.device:
            if x.dtype == kind and x.size * wide == size:
                return x.contiguous()
            if x.dtype == self.dtype and x.size == size:
                return x.contiguous().view(kind)
        raise LaunchError(
            f"{self._word} of shape {self.shape}: {name} must be {size} {self.dtype!r} in one dimension on "
            f"{self.values.device.name}, not {x.type!r} of shape {x.shape} on {x.device.name}.",
            parameter=name,
        )

    def diagonal(self) -> array:
        """Return the entries on the diagonal, 0 where there is none: an array of numbers, or of blocks."""
        d = zeros(min(len(self.starts) - 1, self.shape[1] // self.block[1]), self.values.dtype, self.values.device)
        if d.size:
            launch(_diagonal, d.size, [self.struct], [d], device=d.device, checks=False)
        return d

    def solve(
        self, b: Any, *, method: Method = "cg", preconditioner: Literal["jacobi"] | None = "jacobi",
        x0: array | None = None, tol: float | None = None, steps: int | None = None, raise_: bool = True,
    ) -> Any:  # fmt: skip
        """Solve A x = b for x by an iteration; the gradient is one more solve, to the same tolerance.

            x = a.solve(b)                       # A symmetric and positive definite
            x = a.solve(b, method="bicgstab")    # any other

        A tape and every transform differentiate it by `b` and by the values: the adjoint of x is solved for with the
        transposed matrix (with CG, which takes A for symmetric, with A), by the same method. Inside `wb.capture()` it
        needs raise_=False; the graph then iterates as often as it needs. A solve of over a second shows its progress,
        and can be interrupted.

        Args:
            b: as many numbers as there are rows; with blocks also vectors. Of two dimensions: several, as columns; not
                with x0 or raise_=False.
            method: "cg", for a matrix that is symmetric and positive definite, or "bicgstab".
            preconditioner: "jacobi" divides by the entries on the diagonal: of BSR, by the diagonal blocks (block
                Jacobi, blocks of up to 4 × 4); None: nothing.
            x0: where to start; at 0 if it is not given.
            tol: the largest length of ``b - A x`` in parts of that of b; if it is not given, 1e-5 for
                float32 and 1e-10 for float64.
            steps: the most steps; 10 for each row, at least 100, if it is not given.
            raise_: False returns the pair of x and that ratio, an array of one element, converged or not.

        Returns:
            x, like b.

        Raises:
            NotConverged: the tolerance was not reached; `residual` is what was.
            LaunchError: b or x0 does not fit, the matrix is not square, its blocks are too large for block Jacobi, CG
                found that it is not positive definite, or a graph is captured without raise_=False.
            ValueError: another method or preconditioner.
        """
        if method not in ("cg", "bicgstab") or preconditioner not in ("jacobi", None):
            raise ValueError(f'A method is "cg" or "bicgstab", not {method!r}; a preconditioner "jacobi" or None.')
        if self.shape[0] != self.shape[1] or self.block[0] != self.block[1]:
            raise LaunchError(f"{self._word} of shape {self.shape}: only a square matrix can be solved for.")
        b = b if isinstance(b, array) else array(b, self.dtype, device=self.values.device)
        if b.ndim == 2 and raise_ and x0 is None:
            options: Any = {"method": method, "preconditioner": preconditioner, "tol": tol, "steps": steps}
            x = zeros_like(b)
            for k in range(b.shape[1]):
                x[:, k].copy_(self.solve(b[:, k].contiguous(), **options))
            return x
        if b.ndim == 2:
            raise LaunchError("Several right-hand sides go with neither x0 nor raise_=False.", advice="Solve for one.")
        right = self._vector(b, 0, "b")
        start = None if x0 is None else self._vector(x0, 0, "x0")
        operator = _Matrix(self, method, preconditioner, start, tolerance(b, tol), steps, raise_)
        x = solved(operator, right)
        x = x.view(b.dtype).flatten() if x.dtype != b.dtype else x
        return x if raise_ else (x, operator.residual)

    def to_scipy(self) -> Any:
        """Convert to SciPy's `csr_array` or `bsr_array`; on the CPU it shares the memory of the arrays.

        Raises:
            ImportError: SciPy is not installed.
        """
        blocks = {"blocksize": self.block} if self._word == "BSR" else {}
        result = (sparse().bsr_array if blocks else sparse().csr_array)(self.shape, dtype=self.dtype.numpy, **blocks)
        # The constructor would copy arrays that are views of bytes.
        result.data, result.indices, result.indptr = self.values.numpy(), self.columns.numpy(), self.starts.numpy()
        return result

    def __repr__(self) -> str:
        """Return class, type, shape, number of entries, blocks and device, in angle brackets."""
        blocks = f" in blocks of {self.block[0]} × {self.block[1]}" if self._word == "BSR" else ""
        size = f"{self.shape[0]} × {self.shape[1]}, {len(self.columns)} entries"
        return f"<{self._word} of {self.dtype!r}, {size}{blocks} on {self.values.device.name}>"


class BSR(CSR):
    """Represents a sparse matrix of blocks, which are small matrices of one size, stored row by row.

        a = wb.linear.BSR(starts, columns, wb.zeros(n, wb.mat33))     # shape in numbers: (3 rows, 3 rows)
        forces = a @ positions                                        # arrays of vec3, or of 3 n floats

    It is used as a `CSR`, with vectors as elements of x and b. `starts` and `columns` count blocks, `shape` counts
    numbers.
    """

    _word = "BSR"

    def _values(self, values: Any, device: Any) -> array:
        """Return blocks, of shape (n, rows, columns), as an array of matrices of float64 if they are, else float32."""
        host = np.asarray(values)
        kind = float64 if host.dtype == np.float64 else float32
        return array(host, matrix(host.shape[1:], kind), device=device)


def from_scipy(source: Any, device: Device | str | None = None, requires_grad: bool = False) -> CSR:
    """Convert a matrix of SciPy's to `BSR` if it is in blocks, else to `CSR`.

    Args:
        source: a sparse matrix or array of float32 or float64.
        device: where to put it. On the CPU the arrays share the memory of a CSR or BSR matrix whose indices are int32.
        requires_grad: whether the values have a `.grad`.

    Raises:
        LaunchError: it is no sparse matrix, or holds other numbers.
        ImportError: SciPy is not installed.
    """
    if not sparse().issparse(source) or source.dtype not in (np.float32, np.float64):
        what = f"has numbers of {source.dtype}" if sparse().issparse(source) else f"is {type(source).__name__}"
        raise LaunchError(
            f"from_scipy() takes a sparse matrix of float32 or float64; this one {what}.",
            advice="Convert it: matrix.astype(float). Of a complex system solve for the real and imaginary parts.",
        )
    source = source if source.format == "bsr" and source.blocksize != (1, 1) else source.tocsr()
    kind = float64 if source.dtype == np.float64 else float32
    dtype = matrix(source.blocksize, kind) if source.format == "bsr" else kind
    indices = (np.asarray(p, np.int32) for p in (source.indptr, source.indices))
    starts, columns = (array(p, device=device, copy=False) for p in indices)
    values = array(source.data, dtype, device=device, copy=False, requires_grad=requires_grad)
    return (BSR if source.format == "bsr" else CSR)(starts, columns, values, source.shape)


class _Matrix(Operator):
    """Represents a `CSR` or `BSR` matrix as a linear operator, with the options that it is solved with."""

    def __init__(
        self, matrix: CSR, method: Any, preconditioner: str | None, start: array | None, tol: float,
        steps: int | None, raise_: bool,
    ) -> None:  # fmt: skip
        """Store the matrix and the options of its solves.

        Args:
            matrix: a square matrix.
            method: "cg" or "bicgstab".
            preconditioner: "jacobi" or None.
            start: where the first solve begins; None: at zeros.
            tol: the residual's length, in parts of that of b, to reach.
            steps: the most steps; None: 10 for each row, at least 100.
            raise_: whether it is an error not to reach `tol`.
        """
        self.matrix, self.method, self.preconditioner, self.start = matrix, method, preconditioner, start
        self.tol, self.steps, self.raise_ = tol, steps, raise_
        self.constants = [matrix.values]
        self.residual: array | None = None

    def __call__(self, x: array) -> array:
        """Return the product of the matrix with x."""
        return self.matrix @ x

    def solution(self, b: array) -> array:
        """Solve A x = b and return x, a new array; store the residual that is left as `residual`.

        The first solve begins at `start`, later ones at zeros.

        Raises:
            LaunchError: blocks are too large for the preconditioner, or the matrix is not positive, as CG needs.
            NotConverged: with `raise_`, if the tolerance is not reached.
        """
        a, x = self.matrix, zeros_like(b, requires_grad=False) if self.start is None else clone(self.start)
        self.start = None  # of the solves for derivatives
        divide: Apply | None = None
        if self.preconditioner is not None:
            d, blocks = a.diagonal(), isinstance(a.values.dtype, Matrix)
            if blocks and a.block[0] > 4:
                raise LaunchError(
                    f"Block Jacobi inverts blocks of up to 4 × 4; these are {a.block[0]} × {a.block[1]}.",
                    parameter="preconditioner",
                    advice="Pass preconditioner=None, or smaller blocks.",
                )
            known = not any(o.takes for o in OBSERVERS.get())  # in a graph there are no values yet
            if self.method == "cg" and known and not blocks and d.size and float(d.min()) <= 0.0:
                raise LaunchError(NOT_POSITIVE.format("the diagonal"), advice=USE_BICGSTAB)
            d = d.view(matrix(a.block, a.dtype))
            launch(_invert, d.size, [d], device=d.device, checks=False)
            divide = partial(_launch, _scale, [d])

        steps = self.steps if self.steps is not None else max(100, 10 * a.shape[0])
        self.residual = Solve(self.method, partial(_launch, _multiply, [_blocks_of(a)]), divide, b, x, steps).run(
            self.tol, self.raise_
        )
        return x

    def turned(self) -> Operator:
        """Return the operator of the transposed matrix, whose solves start at zeros.

        With CG that is the same matrix, which is symmetric.
        """
        a = self.matrix if self.method == "cg" else self.matrix.T
        return _Matrix(a, self.method, self.preconditioner, None, self.tol, self.steps, self.raise_)


def _launch(what: Kernel, first: list[Any], x: array, out: array) -> None:
    """Launch a kernel on `first`, `x` and `out` with a thread for each element of `out`, which it writes."""
    if out.size:
        launch(what, out.size, [*first, x], [out], device=out.device, checks=False)


def _blocks_of(of: CSR) -> StructValue:
    """Return a matrix as a struct with matrices as values, for kernels of products: numbers become blocks of 1 × 1."""
    kind = matrix(of.block, of.dtype)
    return _struct_of("BSR", kind)(of.starts, of.columns, of.values.view(kind))


@cache
def _struct_of(name: str, dtype: Any) -> Any:
    """Return the struct type of a sparse matrix with values of `dtype`, as kernels take it."""
    fields: Any = [("starts", ArrayType(int32)), ("columns", ArrayType(int32)), ("values", ArrayType(dtype))]
    return make_struct(name, fields, UNKNOWN, __name__, "A sparse matrix, as kernels see it.")


@kernel
def _multiply(a: Any, x: array[Any], y: array[Any]):
    """Compute y = A x, a row per thread; values are matrices, and elements of x and y vectors."""
    i = tid()
    total = y.dtype()
    for k in range(a.starts[i], a.starts[i + 1]):
        total += a.values[k] @ x[a.columns[k]]
    y[i] = total


@kernel
def _turn(values: array[Any], order: array[int32], turned: array[Any]):
    """Compute the values of the transposed matrix: turned[k] is the transpose of values[order[k]]."""
    k = tid()
    turned[k] = transpose(values[order[k]])


@kernel
def _diagonal(a: Any, d: array[Any]):
    """Add to d[i] the values of row i that are on the diagonal; a thread for each row."""
    i = tid()
    for k in range(a.starts[i], a.starts[i + 1]):
        if a.columns[k] == i:
            d[i] += a.values[k]


@kernel
def _invert(d: array[Any]):
    """Replace each matrix in d by its inverse, a singular one by the identity."""
    i = tid()
    d[i] = inverse(d[i]) if determinant(d[i]) != 0.0 else identity(len(d[i]), type(d[i][0, 0]))


@kernel
def _scale(d: array[Any], r: array[Any], z: array[Any]):
    """Compute z[i] = d[i] r[i], of matrices d."""
    i = tid()
    z[i] = d[i] @ r[i]
