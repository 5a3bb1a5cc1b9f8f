"""Sparse matrices, their solves and the derivatives of both, beside SciPy's and NumPy's dense ones."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import workbench as wb

scipy_sparse = pytest.importorskip("scipy.sparse")
DEVICES = ("cpu", pytest.param("emulated", marks=pytest.mark.slow))
RANDOM = np.random.default_rng(0)


def matrix(n: int, dtype: Any = np.float64) -> Any:
    """A matrix that is not symmetric, and regular."""
    found = scipy_sparse.random(n, n, 0.2, random_state=1, dtype=dtype) + 3 * scipy_sparse.eye_array(n)
    return scipy_sparse.csr_array(found.toarray().astype(dtype))  # a sum's arrays are views, which SciPy may copy


def laplacian(n: int, dtype: Any = np.float64) -> Any:
    """Symmetric and positive definite."""
    bands = [-np.ones(n - 1), 2.5 * np.ones(n), -np.ones(n - 1)]
    return scipy_sparse.diags_array(bands, offsets=[-1, 0, 1], format="csr", dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("device", DEVICES)
def test_solutions_are_numpy_s(device: str, dtype: Any) -> None:
    b = RANDOM.normal(size=25).astype(dtype)
    bound = {"rtol": 1e-3, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-8, "atol": 1e-9}
    for given, method in (
        (laplacian(25, dtype), "cg"),
        (laplacian(25, dtype), "bicgstab"),
        (matrix(25, dtype), "bicgstab"),
    ):
        a, expected = wb.linear.from_scipy(given, device), np.linalg.solve(given.toarray(), b)
        for how in ("jacobi", None):
            x = a.solve(wb.array(b, device=device), method=method, preconditioner=how)
            np.testing.assert_allclose(x.numpy(), expected, **bound)
        np.testing.assert_allclose((a.T @ wb.array(b, device=device)).numpy(), given.T @ b, rtol=1e-5, atol=1e-5)


def test_blocks_solve_for_vectors() -> None:
    scalars = scipy_sparse.kron(laplacian(6), np.ones((3, 3))) + 2 * scipy_sparse.eye_array(18)
    given = scipy_sparse.bsr_array(scalars, blocksize=(3, 3))
    a, b = wb.linear.from_scipy(given), RANDOM.normal(size=18)
    expected = np.linalg.solve(given.toarray(), b)
    assert repr(a) == "<BSR of float64, 18 × 18, 16 entries in blocks of 3 × 3 on cpu>"
    np.testing.assert_allclose(a.solve(b).numpy(), expected, atol=1e-9)
    vectors = a.solve(wb.array(b.reshape(6, 3), wb.vec3d), method="bicgstab")
    assert vectors.dtype == wb.vec3d
    np.testing.assert_allclose(vectors.numpy().reshape(-1), expected, atol=1e-8)
    np.testing.assert_allclose((a.T @ b).numpy(), given.T @ b, atol=1e-12)
    wide = scipy_sparse.bsr_array((RANDOM.normal(size=(3, 2, 3)), [0, 1, 1], [0, 2, 2, 3]), shape=(6, 6))
    np.testing.assert_allclose((wb.linear.from_scipy(wide) @ b[:6]).numpy(), wide @ b[:6], atol=1e-12)
    np.testing.assert_allclose((wb.linear.from_scipy(wide).T @ b[:6]).numpy(), wide.T @ b[:6], atol=1e-12)


def test_scipy_s_matrices_share_their_memory() -> None:
    for given in (matrix(8, np.float32), scipy_sparse.bsr_array(np.kron(np.eye(3), np.ones((2, 2))), blocksize=(2, 2))):
        a = wb.linear.from_scipy(given)
        back = a.to_scipy()
        assert type(back) is type(given) and abs(back - given).max() == 0
        for mine, theirs in ((a.values, given.data), (a.columns, given.indices), (a.starts, given.indptr)):
            assert np.shares_memory(mine.numpy(), theirs)
        assert np.shares_memory(back.data, given.data)


def test_rows_without_entries_and_entries_that_stand_twice() -> None:
    a = wb.linear.CSR([0, 2, 2, 3], [1, 1, 0], [1.0, 2.0, 4.0], shape=(3, 2))
    np.testing.assert_array_equal((a @ [10.0, 1.0]).numpy(), [3.0, 0.0, 40.0])
    np.testing.assert_array_equal((a.T @ [1.0, 1.0, 1.0]).numpy(), [4.0, 3.0])
    twice = wb.linear.CSR([0, 2, 3], [0, 0, 1], [1.0, 1.0, 4.0])
    np.testing.assert_allclose(twice.solve([2.0, 2.0]).numpy(), [1.0, 0.5])


@wb.kernel
def row_sums(a: wb.linear.CSR[float], out: wb.array[float]):
    i = wb.tid()
    for k in range(a.starts[i], a.starts[i + 1]):
        out[i] += a.values[k]


def test_a_kernel_takes_a_matrix_as_a_struct() -> None:
    given, out = matrix(8, np.float32), wb.zeros(8)
    wb.launch(row_sums, 8, [wb.linear.from_scipy(given).struct], [out])
    np.testing.assert_allclose(out.numpy(), given.sum(1), rtol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_derivatives_of_first_and_second_order_are_those_of_the_dense_solve(device: str) -> None:
    given = matrix(8)
    row, column, n = given.tocoo().row, given.tocoo().col, 8
    starts, columns = (wb.array(p.astype(np.int32), device=device) for p in (given.indptr, given.indices))
    point = given.data, RANDOM.normal(size=n)
    along = tuple(RANDOM.normal(size=p.shape) for p in point)

    def f(values: wb.array, b: wb.array) -> wb.array:
        x = wb.linear.CSR(starts, columns, values).solve(b, method="bicgstab")
        return (x * x * x).sum()

    def slopes(values: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dense = np.zeros((n, n))
        dense[row, column] = values
        x = np.linalg.solve(dense, b)
        adjoint = np.linalg.solve(dense.T, 3 * x**2)
        return -adjoint[row] * x[column], adjoint

    first = slopes(*point)
    ahead, back = (slopes(*(p + h * d for p, d in zip(point, along, strict=True))) for h in (1e-5, -1e-5))
    second = [(a - b) / 2e-5 for a, b in zip(ahead, back, strict=True)]
    tangent = sum(a @ b for a, b in zip(first, along, strict=True))
    here, there = ([wb.array(p, device=device) for p in part] for part in (point, along))
    for found, expected in zip(wb.grad(f, (0, 1))(*here), first, strict=True):
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-8)
    np.testing.assert_allclose(float(wb.jvp(f, (0, 1))(*here, along=there)[1]), tangent, rtol=1e-8)
    for found, expected in zip(wb.hvp(f, (0, 1))(*here, along=there), second, strict=True):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-5)
    twice = wb.grad(lambda v, b: sum(g.dot(d) for g, d in zip(wb.grad(f, (0, 1))(v, b), there, strict=True)))(*here)
    np.testing.assert_allclose(twice.numpy(), second[0], rtol=1e-5, atol=1e-5)


def test_a_gradient_of_cg_and_blocks_is_that_of_the_dense_solve() -> None:
    given = scipy_sparse.bsr_array(np.kron(laplacian(4).toarray(), np.eye(2)) + 0.1 * np.ones((8, 8)), blocksize=(2, 2))
    a, b = wb.linear.from_scipy(given, requires_grad=True), wb.array(RANDOM.normal(size=8), requires_grad=True)
    with wb.Tape() as tape:
        x = a.solve(b)
        loss = (x * x).sum()
    tape.backward(loss)
    solution = np.linalg.solve(given.toarray(), b.numpy())
    adjoint = np.linalg.solve(given.toarray().T, 2 * solution)
    np.testing.assert_allclose(b.grad.numpy(), adjoint, atol=1e-8)
    dense = wb.linear.BSR(a.starts, a.columns, a.values.grad).to_scipy().toarray()
    np.testing.assert_allclose(dense, -np.outer(adjoint, solution), atol=1e-8)  # every block is stored


def test_the_adjoint_is_one_solve_however_many_steps_the_solve_takes() -> None:
    a, b = wb.linear.from_scipy(laplacian(60)), wb.array(RANDOM.normal(size=60), requires_grad=True)
    with wb.Tape() as tape:
        loss = a.solve(b, tol=1e-12).sum()
    assert len(tape) < 10
    with pytest.raises(wb.LaunchError, match=r"(?s)steps of a solve are not on a tape.*wb\.record"):
        list(tape)
    with wb.record() as run:
        a.solve(wb.array(np.ones(60)), tol=1e-12)
    one = len(run)
    with wb.record() as run:
        tape.backward(loss)
    assert one < len(run) < one + 20


@pytest.mark.parametrize("options", [{"checkpoint_every": 2}, {"checkpoint": 2}])
def test_implicit_steps_of_heat_with_checkpoints(options: dict[str, int]) -> None:
    a = wb.linear.from_scipy(laplacian(12))
    start = wb.array(RANDOM.normal(size=12), requires_grad=True)
    with wb.Tape(**options) as tape:
        state = start
        for _ in range(5):
            state = a.solve(state)
        loss = (state * state).sum()
    tape.backward(loss)
    five = np.linalg.matrix_power(np.linalg.inv(laplacian(12).toarray()), 5)
    np.testing.assert_allclose(start.grad.numpy(), 2 * five.T @ five @ start.numpy(), atol=1e-8)


def test_values_that_change_after_a_solve_are_noticed() -> None:
    values = wb.array(np.array([2.0, 4.0]))
    a, b = wb.linear.CSR([0, 1, 2], [0, 1], values), wb.array(np.ones(2), requires_grad=True)
    with wb.Tape() as tape:
        loss = a.solve(b).sum()
        values.fill_(1.0)
    with pytest.raises(wb.NotDifferentiable, match="that a solve has used has changed since"):
        tape.backward(loss)


def test_several_right_sides_a_start_and_a_right_side_of_zeros() -> None:
    given = laplacian(10)
    a, b = wb.linear.from_scipy(given), RANDOM.normal(size=(10, 3))
    expected = np.linalg.solve(given.toarray(), b)
    np.testing.assert_allclose(a.solve(b).numpy(), expected, atol=1e-8)
    start = wb.array(expected[:, 0].copy())
    x, residual = a.solve(b[:, 0], x0=start, steps=0, raise_=False)
    assert np.array_equal(x.numpy(), start.numpy()) and float(residual) < 1e-8
    assert not a.solve(np.zeros(10)).numpy().any()
    every = wb.array(b, requires_grad=True)
    with wb.Tape() as tape:
        loss = a.solve(every[:, 1]).sum()
    tape.backward(loss)
    np.testing.assert_allclose(every.grad.numpy()[:, 1], np.linalg.solve(given.toarray(), np.ones(10)), atol=1e-8)
    assert wb.linear.from_scipy(scipy_sparse.csr_array((0, 0))).solve(np.zeros(0)).size == 0


def test_what_does_not_converge_raises_with_the_residual() -> None:
    given, b = laplacian(40), RANDOM.normal(size=40)
    a = wb.linear.from_scipy(given)
    with pytest.raises(wb.NotConverged, match="has not converged in 3 steps") as caught:
        a.solve(b, steps=3)
    x, residual = a.solve(b, steps=3, raise_=False)
    left = np.linalg.norm(b - given @ x.numpy()) / np.linalg.norm(b)
    assert caught.value.residual == pytest.approx(left) == float(residual) and caught.value.steps == 3
    with pytest.raises(wb.NotConverged, match="NaN or an infinity in b"):
        a.solve(np.full(40, np.nan))
    singular = scipy_sparse.csr_array(np.ones((2, 2)))
    for method in ("cg", "bicgstab"):
        with pytest.raises((wb.NotConverged, wb.LaunchError)):
            wb.linear.from_scipy(singular).solve(np.array([1.0, -1.0]), method=method)


@pytest.mark.parametrize("rows", [[[1.0, 3.0], [3.0, 1.0]], [[-1.0, 0.0], [0.0, 2.0]]])
def test_cg_finds_that_a_matrix_is_indefinite(rows: list[list[float]]) -> None:
    a = wb.linear.from_scipy(scipy_sparse.csr_array(np.array(rows)))
    with pytest.raises(wb.LaunchError, match=r'(?s)CG needs a positive definite matrix.*method="bicgstab"'):
        a.solve(np.array([1.0, -1.0]))
    x = a.solve(np.array([1.0, -1.0]), method="bicgstab")
    np.testing.assert_allclose(np.array(rows) @ x.numpy(), [1.0, -1.0], atol=1e-9)


def test_a_graph_iterates_as_often_as_its_right_side_needs() -> None:
    given, b = laplacian(20), wb.zeros(20, wb.float64)
    a = wb.linear.from_scipy(given)
    for method in ("cg", "bicgstab"):
        with wb.capture() as graph:
            x, residual = a.solve(b, method=method, raise_=False)
        for right in RANDOM.normal(size=(2, 20)):
            b.copy_(wb.array(right))
            graph.launch()
            np.testing.assert_allclose(x.numpy(), np.linalg.solve(given.toarray(), right), atol=1e-8)
            assert float(residual) < 1e-9
    with pytest.raises(wb.LaunchError, match=r"(?s)in a graph cannot raise.*raise_=False"), wb.capture():
        a.solve(b)


def test_a_long_solve_shows_its_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("workbench.linear.krylov.PATIENCE", -1.0)
    wb.linear.from_scipy(laplacian(40)).solve(RANDOM.normal(size=40), steps=5, raise_=False)
    assert "Solve by CG: 5 of 5 steps, residual" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: wb.linear.CSR([0, 1], [3], [1.0]), "a column is outside of 0 to 0"),
        (lambda: wb.linear.CSR([0, 2], [0], [1.0]), "starts has 2 elements for 1 rows"),
        (lambda: wb.linear.CSR([0, 1], [0], [1]), "the values are int32; they must be float32 or float64"),
        (lambda: wb.linear.from_scipy(scipy_sparse.csr_array([[1j]])), "this one has numbers of complex128"),
        (lambda: wb.linear.from_scipy(np.eye(2)), "this one is ndarray"),
        (lambda: wb.linear.CSR([0, 1], [0], [1.0], shape=(1, 2)).solve([1.0]), "only a square matrix"),
        (lambda: wb.linear.CSR([0, 1], [0], [1.0]).solve([1.0, 2.0]), "b must be 1 float32"),
        (
            lambda: wb.linear.CSR([0, 1], [0], [1.0]).solve(np.ones((1, 2), np.float32), raise_=False),
            "Several right-hand sides go with neither x0 nor raise_=False",
        ),
        (lambda: wb.linear.CSR([0, 1], [0], [1.0]) @ np.ones(2), "x must be 1 float32"),
        (
            lambda: wb.linear.BSR([0, 1], [0], np.eye(5)[None]).solve(np.ones(5)),
            "inverts blocks of up to 4 × 4; these are 5 × 5",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(make: Any, message: str) -> None:
    with pytest.raises(wb.LaunchError, match=message):
        make()
    with pytest.raises(ValueError, match="not 'gmres'"):
        wb.linear.CSR([0, 1], [0], [1.0]).solve([1.0], method="gmres")


def test_arrays_of_a_matrix_may_be_replaced_and_the_matrix_is_freed() -> None:
    """Products and transposes are those of the arrays that the matrix has now, and nothing holds it afterwards."""
    a, x = wb.linear.CSR([0, 1, 2], [0, 1], np.array([1, 2], np.float32)), wb.array([1.0, 10.0], dtype=float)
    assert (a @ x).numpy().tolist() == [1, 20] and (a.T @ x).numpy().tolist() == [1, 20]
    a.values = wb.array([5.0, 6.0], dtype=float)
    assert (a @ x).numpy().tolist() == [5, 60] and (a.T @ x).numpy().tolist() == [5, 60]
    a.columns = wb.array([1, 0], dtype=int)
    assert (a @ x).numpy().tolist() == [50, 6] and (a.T @ x).numpy().tolist() == [60, 5]
    known = weakref.ref(a)
    del a
    gc.collect()
    assert known() is None
