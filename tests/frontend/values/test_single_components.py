"""Vectors of one component, and matrices of one row or column: what NumPy computes, and the gradients."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define

TEXT = """
@kernel
def k(a: array[A], b: array[B], v: array[V], ab: array[AB], av: array[AV], at: array[AT], s: array[float]):
    i = tid()
    ab[i] = a[i] @ b[i]
    av[i] = a[i] @ v[i]
    at[i] = transpose(a[i]) * 2.0
    w = v[i]
    w[0] = 3.0
    w += v[i]
    s[i] = dot(v[i], w) + length(v[i]) + trace(outer(v[i], v[i])) + min(w) + max(v[i]) + a[i][0][-1] + a[i][-1, 0]
"""


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 1, 1), (1, 3, 1), (3, 1, 2), (1, 2, 3), (2, 2, 1)])
def test_products_and_parts(rows, inner, columns, device):
    def matrix(n, m):
        return wb.types.matrix((n, m), float)

    names = {
        "A": matrix(rows, inner), "B": matrix(inner, columns), "AB": matrix(rows, columns), "AT": matrix(inner, rows),
        "V": wb.types.vector(inner, float), "AV": wb.types.vector(rows, float),
    }  # fmt: skip
    rng = np.random.default_rng(rows * 100 + inner * 10 + columns)
    a, b, v = (rng.normal(size=(4, *shape)).astype(np.float32) for shape in ((rows, inner), (inner, columns), (inner,)))
    with wb.ScopedDevice(device):
        inputs = [wb.array(x, dtype=names[n], requires_grad=True) for x, n in ((a, "A"), (b, "B"), (v, "V"))]
        outputs = [wb.zeros(4, dtype=names[n], requires_grad=True) for n in ("AB", "AV", "AT")]
        sums = wb.zeros(4, dtype=float, requires_grad=True)
        with wb.Tape() as tape:
            wb.launch(define(TEXT, names)["k"], 4, inputs=inputs, outputs=[*outputs, sums])
        seed = rng.normal(size=(4, rows, columns)).astype(np.float32)
        tape.backward(grads={outputs[0]: wb.array(seed, dtype=names["AB"])})
    w = v.copy()
    w[:, 0] = 3.0
    w += v
    squares = (v * v).sum(1)
    parts = w.min(1) + v.max(1) + a[:, 0, -1] + a[:, -1, 0]
    wanted = [a @ b, np.einsum("irc,ic->ir", a, v), 2 * a.transpose(0, 2, 1)]
    for got, right in zip(outputs, wanted, strict=True):
        np.testing.assert_allclose(got.numpy(), right, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sums.numpy(), (v * w).sum(1) + np.sqrt(squares) + squares + parts, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(inputs[0].grad.numpy(), seed @ b.transpose(0, 2, 1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(inputs[1].grad.numpy(), a.transpose(0, 2, 1) @ seed, rtol=1e-5, atol=1e-6)


def test_a_matrix_of_one_element_has_an_inverse():
    one = wb.types.matrix((1, 1), float)
    text = (
        "@kernel\ndef k(m: array[M], y: array[M], d: array[float]):\n    i = tid()\n    y[i] = inverse(m[i])\n"
        "    d[i] = determinant(m[i]) + trace(m[i])\n"
    )
    y, d = wb.zeros(2, dtype=one), wb.zeros(2, dtype=float)
    values = np.array([[[2.0]], [[-0.5]]])
    wb.launch(define(text, {"M": one})["k"], 2, inputs=[wb.array(values, dtype=one)], outputs=[y, d])
    assert y.numpy().tolist() == np.linalg.inv(values).tolist()
    assert d.numpy().tolist() == [4.0, -1.0]
    assert one(3.0).tolist() == [[3.0]]
    assert (wb.types.vector(1, float)(2.0) * 3.0).tolist() == [6.0]
