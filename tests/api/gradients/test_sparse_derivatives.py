"""Sparse Jacobians and Hessians beside dense ones and formulas."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import workbench as wb

pytest.importorskip("scipy")
DEVICES = ("cpu", pytest.param("emulated", marks=pytest.mark.slow))
RANDOM = np.random.default_rng(0)


@wb.kernel
def stretch(x: wb.array[wb.vec3d], ends: wb.array2d[int], energy: wb.array[wb.float64]):
    s = wb.tid()
    longer = wb.length(x[ends[s, 1]] - x[ends[s, 0]]) - 0.7
    wb.atomic_add(energy, 0, 0.5 * longer * longer)


def energy(x: wb.array, ends: wb.array) -> wb.array:
    total = wb.zeros(1, wb.float64, x.device)
    wb.launch(stretch, ends.shape[0], [x, ends], [total], device=x.device)
    return total


def net(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes of a net, shaken, and the ends of its springs."""
    nodes = np.arange(n * n, dtype=np.int32).reshape(n, n)
    pairs = ((nodes[1:], nodes[:-1]), (nodes[:, 1:], nodes[:, :-1]), (nodes[1:, 1:], nodes[:-1, :-1]))
    ends = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in pairs])
    flat = np.stack([nodes // n, nodes % n, 0 * nodes], -1).reshape(-1, 3)
    return flat + 0.1 * RANDOM.normal(size=flat.shape), ends


def by_hand(x: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The Hessian of the net's energy, spring by spring."""
    found = np.zeros((len(x), 3, len(x), 3))
    for i, j in ends:
        apart = x[j] - x[i]
        length = np.linalg.norm(apart)
        along = np.outer(apart, apart) / length**2
        block = along + (1 - 0.7 / length) * (np.eye(3) - along)
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            found[a, :, b] += sign * block
    return found.reshape(x.size, x.size)


def most(matrix: Any) -> int:
    """The most entries of a row."""
    return int(np.diff(matrix.indptr).max())


def same(sparse: Any, dense: wb.array) -> None:
    """Equal to the last bits, with a pattern that has every entry."""
    expected = dense.numpy().reshape(sparse.shape)
    np.testing.assert_allclose(sparse.toarray(), expected, rtol=1e-5, atol=1e-6 * abs(expected).max())


@pytest.mark.parametrize("device", DEVICES)
def test_the_hessian_of_a_net_of_springs_is_that_of_the_formula(device: str) -> None:
    x, ends = net(4)
    expected = by_hand(x, ends)
    given = wb.array(x, wb.vec3d, device=device), wb.array(ends, device=device)
    found = wb.hessian(energy, sparse=True)(*given)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-10)
    assert most(found) <= found.sweeps <= 2 * most(found)
    assert found.nnz == np.count_nonzero(np.kron(expected.reshape(16, 3, 16, 3).any((1, 3)), np.ones((3, 3))))
    again = wb.hessian(energy, sparse=found)(*given)  # with its pattern and colours
    assert (again.sweeps, again.nnz, abs(again - found).max()) == (found.sweeps, found.nnz, 0.0)


@pytest.mark.slow
def test_a_hundred_thousand_springs() -> None:
    x, ends = net(183)
    given = wb.array(x, wb.vec3d), wb.array(ends)
    found = wb.hessian(energy, sparse=True)(*given)
    along = RANDOM.normal(size=x.shape)
    moved = wb.hvp(energy)(*given, along=along).numpy().reshape(-1)
    np.testing.assert_allclose(found @ along.reshape(-1), moved, atol=1e-9)
    assert len(ends) > 99_000 and found.sweeps <= 2 * most(found)


@wb.kernel
def gather(x: wb.array[float], at: wb.array2d[int], y: wb.array[float]):
    i = wb.tid()
    total = x.dtype(0.0)
    for k in range(at.shape[1]):
        if at[i, k] >= 0:
            total += x[at[i, k]] * x[at[i, k]] * float(k + 1)
    y[i] = total


def test_indices_that_are_read_decide_the_pattern_and_empty_rows_stay_empty() -> None:
    at = np.array([[3, 1, -1], [-1, -1, -1], [0, 0, 4], [4, -1, 3]], np.int32)

    def f(scale: float, x: wb.array) -> wb.array:
        y = wb.zeros(4)
        wb.launch(gather, 4, [x, at], [y])
        return y * scale

    x = RANDOM.normal(size=6).astype(np.float32)
    found = wb.jacobian(f, 1, sparse=True)(2.0, x)
    same(found, wb.jacobian(f, 1)(2.0, x))
    assert found.shape == (4, 6) and found.nnz == 6 and found.sweeps == 2
    assert not {2, 5} & set(found.indices) and found.indptr[1] == found.indptr[2]


@wb.kernel
def squares_in_rows(x: wb.array2d[float], y: wb.array2d[float]):
    i = wb.tid()
    for j in range(x.shape[1]):
        y[i, j] = x[i, j] * x[i, j]


@wb.kernel
def running(x: wb.array[float], y: wb.array[float]):
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + x[i]


@wb.kernel
def shift(x: wb.array[float]):
    i = wb.tid()
    x[i] = x[i] * 3.0 + 1.0


def loops(x: wb.array) -> wb.array:
    y = wb.zeros_like(x)
    wb.launch(squares_in_rows, x.shape[0], [x], [y])
    return y


def recurrence(x: wb.array) -> wb.array:
    y = wb.zeros_like(x)
    wb.launch(running, 1, [x], [y])
    return y


def in_place(x: wb.array) -> wb.array:
    wb.launch(shift, len(x), [x])
    y = wb.clone(x[::2])
    z = wb.zeros(4)
    z[1:3].copy_(y[:2])
    z += wb.where(z > 0.0, z * 0.5, 1.0)
    y.fill_(0.0)
    return z


def whole_arrays(x: wb.array) -> wb.array:
    return wb.sin(x) * 2.0 + x.sum() * 0.0 + x


@pytest.mark.parametrize(
    ("f", "shape", "entries", "sweeps"),
    [
        (loops, (3, 4), 12, 1), (recurrence, (5,), 15, 5), (in_place, (5,), 2, 1), (whole_arrays, (4,), 16, 4),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_programs_beside_their_dense_jacobians(f: Any, shape: tuple[int, ...], entries: int, sweeps: int) -> None:
    x = RANDOM.uniform(0.5, 1.5, shape).astype(np.float32)
    found = wb.jacobian(f, sparse=True)(x)
    same(found, wb.jacobian(f)(x))
    assert (found.nnz, found.sweeps) == (entries, sweeps)


@wb.kernel
def attract(x: wb.array[float], near: wb.array2d[int], energy: wb.array[float]):
    i = wb.tid()
    own = x[i]
    for k in range(near.shape[1]):
        apart = own - x[near[i, k]]
        energy[0] += apart * apart * apart


def test_what_is_read_before_a_loop_does_not_mix_its_iterations() -> None:
    near = np.stack([(np.arange(20) + 1) % 20, (np.arange(20) + 3) % 20], 1).astype(np.int32)

    def f(x: wb.array) -> wb.array:
        total = wb.zeros(1)
        wb.launch(attract, 20, [x, near], [total])
        return total

    x = RANDOM.normal(size=20).astype(np.float32)
    found = wb.hessian(f, sparse=True)(x)
    same(found, wb.hessian(f)(x))
    assert np.diff(found.indptr).tolist() == [5] * 20  # itself, two ahead, two behind


@wb.kernel
def head(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]
    wb.atomic_add(y, len(x), x[i])


def arrow(x: wb.array) -> wb.array:
    y = wb.zeros(len(x) + 1)
    wb.launch(head, len(x), [x], [y])
    return y


def test_a_full_row_is_computed_backwards() -> None:
    x = RANDOM.normal(size=30).astype(np.float32)
    found = wb.jacobian(arrow, sparse=True)(x)
    same(found, wb.jacobian(arrow)(x))
    assert (found.mode, found.sweeps) == ("reverse", 2)
    forward = wb.jacobian(arrow, mode="forward", sparse=True)(x)
    same(forward, wb.jacobian(arrow)(x))
    assert (forward.mode, forward.sweeps) == ("forward", 30)


def test_a_pattern_that_is_given_is_checked() -> None:
    x = RANDOM.normal(size=30).astype(np.float32)
    right = wb.jacobian(arrow, sparse=True)(x)
    same(wb.jacobian(arrow, sparse=np.ones((31, 30)))(x), wb.jacobian(arrow)(x))
    wrong = right.tolil()
    wrong[4, 4] = 0.0
    with pytest.raises(wb.NotDifferentiable, match="The pattern leaves out what is not 0"):
        wb.jacobian(arrow, sparse=wrong.tocsr())(x)
    with pytest.raises(ValueError, match=r"The pattern has the shape \(30, 30\); the derivative has \(31, 30\)"):
        wb.jacobian(arrow, sparse=np.eye(30))(x)


@wb.func
def rounded(x: float):
    return wb.round(x)


@wb.func_grad(rounded)
def straight(x: float, adj_ret: float):
    wb.adjoint[x] += adj_ret


@wb.kernel
def steps(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = rounded(x[i])


def test_a_gradient_that_a_user_wrote_is_in_the_pattern() -> None:
    def f(x: wb.array) -> wb.array:
        y = wb.zeros_like(x)
        wb.launch(steps, len(x), [x], [y])
        return y

    found = wb.jacobian(f, mode="reverse", sparse=True)(np.float32([0.2, 0.7]))
    np.testing.assert_array_equal(found.toarray(), np.eye(2))


@wb.struct
class Body:
    place: wb.vec2
    mass: float


@wb.kernel
def moments(bodies: wb.array[Body], y: wb.array2d[float]):
    i, j = wb.tid()
    y[i, j] = bodies[i].mass * bodies[i].place[j]


def test_views_and_fields_lie_where_they_lie() -> None:
    def f(x: wb.array) -> wb.array:
        bodies = wb.zeros(2, Body)
        bodies["mass"].copy_(x[1::2])
        bodies["place"].fill_(2.0)
        y = wb.zeros((2, 2))
        wb.launch(moments, (2, 2), [bodies], [y])
        return y

    found = wb.jacobian(f, sparse=True)(np.float32([1, 2, 3, 4]))
    np.testing.assert_array_equal(found.toarray(), [[0, 2, 0, 0], [0, 2, 0, 0], [0, 0, 0, 2], [0, 0, 0, 2]])


@wb.kernel
def tiled(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    wb.tile_store(y, wb.tile_load(x, shape=4, offset=4 * i) * 2.0, offset=4 * i)


def test_kernels_of_tiles_need_a_pattern() -> None:
    def f(x: wb.array) -> wb.array:
        y = wb.zeros_like(x)
        wb.launch_tiled(tiled, 2, inputs=[x], outputs=[y], block_dim=32)
        return y

    with pytest.raises(wb.NotDifferentiable, match=r"(?s)kernel of tiles.*Give the pattern"):
        wb.jacobian(f, sparse=True)(np.ones(8, np.float32))
    found = wb.jacobian(f, mode="reverse", sparse=np.eye(8))(np.ones(8, np.float32))
    np.testing.assert_array_equal(found.toarray(), 2.0 * np.eye(8))


def test_the_result_says_how_it_was_computed() -> None:
    found = wb.jacobian(loops, sparse=True)(np.ones((3, 4), np.float32))
    assert repr(found).endswith("by 1 forward sweep")
    assert "by 1 forward sweep" in found._repr_html_() and "<img" in found._repr_html_()
    assert "sweep" not in repr(2.0 * found) and (2.0 * found).format == "csr"
    assert abs(pickle.loads(pickle.dumps(found)) - found).max() == 0


@pytest.mark.parametrize("pattern", ["yes", 3, np.ones(2)])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(wb.LaunchError, match="sparse is True, False, or a matrix that has the pattern"):
        wb.jacobian(lambda x: x * x, sparse=pattern)(wb.array([1.0, 2.0]))
