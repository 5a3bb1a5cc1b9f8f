"""Gradients of augmented assignments to parts of elements, against derivatives written by hand."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import NotDifferentiable


@wb.kernel
def parts(x: wb.array[float], m: wb.array[wb.mat33], t: wb.array[wb.transform], v: wb.array[wb.vec3]):
    i = wb.tid()
    m[0][1, 2] -= x[i] * 5.0
    m[0][i % 3] += wb.vec3(x[i], x[i] * x[i], 0.0)
    t[0].p.x += x[i] * 2.0
    v[0][i % 3] += x[i] * x[i]


def arrays(device: str = "cpu") -> tuple[wb.array, wb.array, wb.array, wb.array]:
    x = wb.array(np.arange(1, 5, dtype=np.float32), requires_grad=True, device=device)
    rest = (wb.zeros(1, dtype=d, requires_grad=True, device=device) for d in (wb.mat33, wb.transform, wb.vec3))
    return x, *rest  # type: ignore[return-value]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_the_adjoint_of_a_sum_into_a_part_reads_that_part(device: str) -> None:
    x, m, t, v = arrays(device)
    random = np.random.default_rng(0)
    gm, gt, gv = (random.normal(size=(1, *s)).astype(np.float32) for s in ((3, 3), (7,), (3,)))
    with wb.Tape() as tape:
        wb.launch(parts, 4, [x, m, t, v], device=device)
    seeds = {a: wb.array(g, dtype=a.dtype, device=device) for a, g in ((m, gm), (t, gt), (v, gv))}
    tape.backward(grads=seeds)
    n, row = np.arange(1, 5), np.arange(4) % 3
    want = -5 * gm[0, 1, 2] + gm[0, row, 0] + 2 * n * gm[0, row, 1] + 2 * gt[0, 0] + 2 * n * gv[0, row]
    assert np.allclose(x.grad.numpy(), want, rtol=1e-5)


def test_sums_into_parts() -> None:
    x, m, t, v = arrays()
    wb.launch(parts, 4, [x, m, t, v])
    before = [a.numpy().astype(np.float64) for a in (m, t, v)]
    n, row = np.arange(1, 5), np.arange(4) % 3
    want_m = np.zeros((3, 3))
    for k, r in zip(n, row, strict=True):
        want_m[r] += [k, k * k, 0]
        want_m[1, 2] -= 5 * k
    assert np.allclose(before[0][0], want_m)
    assert before[1][0].tolist() == [20, 0, 0, 0, 0, 0, 0]
    assert before[2][0].tolist() == [17, 4, 9]


@wb.kernel
def own(x: wb.array[float], y: wb.array[float], m: wb.array[wb.mat22]):
    i = wb.tid()
    y[i] *= x[i]
    m[i][0, 1] /= x[i]


def test_of_an_element_of_the_threads_own_every_operator_is_differentiated() -> None:
    n = np.arange(1, 5, dtype=np.float32)
    x, y = wb.array(n, requires_grad=True), wb.array(n + 2, requires_grad=True)
    m = wb.ones(4, dtype=wb.mat22, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(own, 4, [x, y, m])
    tape.backward(grads={y: wb.ones_like(y), m: wb.ones_like(m)})
    assert np.allclose(x.grad.numpy(), n + 2 - 1 / n**2)
    assert np.allclose(y.grad.numpy(), n)
    assert np.allclose(m.grad.numpy()[:, 0, 1], 1 / n)


@wb.kernel
def shared(x: wb.array[float], y: wb.array[float]):
    y[0] *= x[wb.tid()]


def test_a_product_that_threads_share_is_refused_at_its_line() -> None:
    x, y = wb.ones(4, requires_grad=True), wb.ones(1, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(shared, 4, [x, y])
    with pytest.raises(NotDifferentiable, match=r"y\[0\] \*= x"):
        tape.backward(grads={y: wb.ones_like(y)})


@wb.kernel
def shared_and_read(x: wb.array[float], y: wb.array[float], z: wb.array[float]):
    i = wb.tid()
    y[0] *= x[i]
    z[i] = y[0]


def test_who_reads_a_product_that_threads_share_is_not_told_to_sum() -> None:
    x, y, z = (wb.ones(n, requires_grad=True) for n in (4, 1, 4))
    with wb.Tape() as tape:
        wb.launch(shared_and_read, 4, [x, y, z])
    with pytest.raises(NotDifferentiable, match="write each thread's factor to an array") as refused:
        tape.backward(grads={z: wb.ones_like(z)})
    assert "atomic_add" not in str(refused.value)


@wb.kernel
def products_in_a_loop(n: int, x: wb.array[float], y: wb.array[float], z: wb.array[float]):
    i = wb.tid()
    for _ in range(3):
        y[n + i] *= x[i]
        z[i] += y[n + i]


@pytest.mark.parametrize("n", [2, -2])
def test_a_product_in_a_loop_that_another_thread_may_share_is_no_value_that_the_loop_carries(n: int) -> None:
    """n + i counts from the end where it is negative, so which elements threads share is decided by the launch."""
    x, y, z = (wb.full(size, 2.0, requires_grad=True) for size in (4, 8, 4))
    with wb.Tape() as tape:
        wb.launch(products_in_a_loop, 4, [n, x, y, z])
    with pytest.raises(NotDifferentiable, match=r"y\[n \+ i\] \*= x"):
        tape.backward(grads={z: wb.ones_like(z)})


@wb.kernel
def scaled(s: wb.array[float], m: wb.array[wb.mat33]):
    m[0][1, 2] -= s[0] * 5.0


def test_of_one_element_of_a_matrix() -> None:
    s, m = wb.array(np.array([2.0], np.float32), requires_grad=True), wb.zeros(1, dtype=wb.mat33, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(scaled, 1, [s, m])
    tape.backward(grads={m: wb.ones_like(m)})
    assert s.grad.numpy()[0] == -5


def test_forward_mode_of_a_part() -> None:
    s = wb.array(np.array([2.0], np.float32))

    def run(s: wb.array) -> wb.array:
        m = wb.zeros(1, dtype=wb.mat33)
        wb.launch(scaled, 1, [s, m])
        return m

    _, tangent = wb.jvp(run)(s, along=wb.ones_like(s))
    assert tangent.numpy()[0, 1, 2] == -5
    assert np.count_nonzero(tangent.numpy()) == 1


@wb.kernel
def squares(x: wb.array[float], m: wb.array[wb.mat22]):
    i = wb.tid()
    m[0][i % 2, 1] += x[i] * x[i]


def test_jax_differentiates_a_sum_into_a_part() -> None:
    jax = pytest.importorskip("jax")
    run = wb.jax_kernel(squares, launch_dims=4, in_out_argnames=["m"])

    def total(x: object) -> object:
        return run(x, jax.numpy.zeros((1, 2, 2)))[0].sum()

    assert jax.grad(total)(jax.numpy.arange(4.0)).tolist() == [0, 2, 4, 6]
