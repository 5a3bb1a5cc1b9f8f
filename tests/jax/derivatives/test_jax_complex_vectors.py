"""Vectors and matrices of complex numbers: values as NumPy's, gradients as JAX's, on tapes and through JAX."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define

jax = pytest.importorskip("jax")
jnp = jax.numpy

C = wb.complex128
Pair, Square = wb.vector(2, C), wb.matrix((2, 2), C)
PAULI = np.array([[0, -1j], [1j, 0]])

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "a matrix times a vector": lambda v, w, m, t: m @ v + v @ m,
    "dot": lambda v, w, m, t: jnp.stack([v @ w, jnp.vdot(v, w)]),
    "a captured matrix, a number, a real vector": lambda v, w, m, t: 2j * (PAULI @ v) - w * v[0] + t * w,
    "elements": lambda v, w, m, t: jnp.exp(v) * jnp.sqrt(w) / (v - 3.0) + v**2 + w**-1 + abs(v),
    "parts": lambda v, w, m, t: v.real + 1j * w.imag + jnp.conj(v) * m.T[0] + m.imag[:, 1],
    "determinant and trace": lambda v, w, m, t: jnp.linalg.det(m) * v + jnp.trace(m) * w,
    "inverse": lambda v, w, m, t: jnp.linalg.inv(m) @ v,
    "lengths": lambda v, w, m, t: jnp.linalg.norm(v) * w + v / jnp.linalg.norm(v) * jnp.vdot(w, w),
    "outer": lambda v, w, m, t: (jnp.outer(v, w) * m) @ v,
    "components and rows": lambda v, w, m, t: jnp.stack([v[1] * 1j, v[0]]) + m[1, 0] * m[1] + m[:, 0],
    "an index that is computed": lambda v, w, m, t: v[::-1] * m[1],
    "changes": lambda v, w, m, t: jnp.stack([w[0] + 2j, m[0, 1] * 3.0]),
    "a choice in a loop": lambda v, w, m, t: jnp.where(abs(v[0]) > 1.0, m @ (m @ v), w),
}


@wb.func
def turned(v: wb.vector(2, Any), m: Square, times: int):
    for _ in range(times):
        v = m @ v
    return v


@wb.kernel
def everything(v_: wb.array[Pair], w_: wb.array[Pair], m_: wb.array[Square], t: wb.vec2d, y: wb.array2d[Pair]):
    i = wb.tid()
    v, w, m = v_[i], w_[i], m_[i]
    y[0, i] = m @ v + v @ m
    y[1, i] = Pair(wb.dot(v, w), wb.dot(wb.conj(v), w))
    y[2, i] = 2j * (PAULI @ v) - w * v[0] + t * w
    y[3, i] = wb.exp(v) * wb.sqrt(w) / (v - 3.0) + v**2 + w**-1 + abs(v)
    y[4, i] = v.real + 1j * w.imag + v.conjugate() * m.T[0] + m.imag[:, 1]
    y[5, i] = wb.determinant(m) * v + wb.trace(m) * w
    y[6, i] = wb.inverse(m) @ v
    y[7, i] = wb.length(v) * w + wb.normalize(v) * wb.length_sq(w)
    y[8, i] = wb.cw_mul(wb.outer(v, w), m) @ v
    first, second = v
    (_, row), corner = m, m[1, 0]
    y[9, i] = Pair(second * 1j, first) + corner * row + m[:, 0]
    for k in range(2):
        y[10, i][k] = v[(k + i * 2 + 1) % 2] * m[(i + 1) // (i + 1), k]
    w[0] += 2j
    m[1] = w
    w.y = m[0, 1] * 3.0
    y[11, i] = w if m[1, 0] == w.x and m[1] != w else v
    y[12, i] = turned(v, m_[i], 2) if abs(v.x) > 1.0 else w_[i]


def points(count: int = 4) -> tuple[Any, ...]:
    rng = np.random.default_rng(4)
    v, w = rng.normal(size=(2, count, 2)) + 1j * rng.normal(size=(2, count, 2))
    m = rng.normal(size=(count, 2, 2)) + 1j * rng.normal(size=(count, 2, 2)) + np.eye(2)
    return v, w, m, np.array([0.5, -1.5])


def wanted(v: Any, w: Any, m: Any, t: Any) -> Any:
    return jnp.stack([jax.vmap(lambda v, w, m, f=f: f(v, w, m, t) + 0j)(v, w, m) for f in FUNCTIONS.values()])


@pytest.mark.slow
def test_values_and_adjoints_of_a_tape(x64: None) -> None:
    *numbers, t = points()
    ours = [wb.array(n, dtype=d, requires_grad=True) for n, d in zip(numbers, (Pair, Pair, Square), strict=True)]
    y = wb.zeros((len(FUNCTIONS), len(numbers[0])), dtype=Pair, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(everything, len(numbers[0]), [*ours, t], [y])
    value, pull = jax.vjp(jax.jit(lambda *n: wanted(*n, t)), *numbers)
    for name, mine, theirs in zip(FUNCTIONS, y.numpy(), value, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-13, err_msg=name)
    rng = np.random.default_rng(7)
    weights = rng.normal(size=value.shape) + 1j * rng.normal(size=value.shape)
    for row, name in enumerate(FUNCTIONS):
        only = np.zeros_like(weights)
        only[row] = weights[row]
        tape.zero()
        tape.backward(grads={y: wb.array(only, dtype=Pair)})
        for x, theirs in zip(ours, pull(only), strict=True):
            np.testing.assert_allclose(x.grad.numpy(), theirs, rtol=1e-11, atol=1e-12, err_msg=name)


@wb.kernel
def gate(s: wb.array[wb.vector(2, complex)], u: wb.matrix((2, 2), complex), y: wb.array[wb.vector(2, complex)]):
    i = wb.tid()
    y[i % 2] += wb.inverse(u) @ s[i] * wb.determinant(u)
    y[i % 2].x -= 2j * s[i].y


def gate_wanted(s: Any, u: Any) -> Any:
    each = s @ jnp.linalg.inv(u).T * jnp.linalg.det(u) - jnp.stack([2j * s[:, 1], 0 * s[:, 1]], 1)
    return jnp.stack([each[::2].sum(0), each[1::2].sum(0)])


@pytest.mark.slow
def test_sums_on_a_device_and_in_the_order_of_its_threads(need: Any) -> None:
    need("nvrtc")
    v, _, m, _ = points(40)
    s, u = v.astype(np.complex64), m[0].astype(np.complex64)
    with wb.ScopedDevice("emulated"):
        found = []
        for deterministic in (False, True, True):
            y = wb.zeros(2, dtype=wb.vector(2, complex))
            wb.launch(gate, len(s), [wb.array(s, dtype=y.dtype), u], [y], deterministic=deterministic)
            found.append(y.numpy())
        assert np.allclose(found[0], gate_wanted(s, u), rtol=1e-4) and np.allclose(found[1], found[0], rtol=1e-4)
        assert np.array_equal(found[1], found[2])


def test_within_jax() -> None:
    v, _, m, _ = points()
    s, u = jnp.asarray(v, "complex64"), jnp.asarray(m[0], "complex64")
    ours = wb.jax_kernel(gate, init={"y": 0}, launch_dims=4, output_dims=2)
    mine, theirs = (
        jax.jit(jax.value_and_grad(lambda s, u, of=of: jnp.sum(jnp.abs(of(s, u)) ** 2) + of(s, u)[0, 1].imag, (0, 1)))(
            s, u
        )
        for of in (ours, gate_wanted)
    )
    for a, b in zip(jax.tree.leaves(mine), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3)
    with pytest.raises(wb.LaunchError, match=re.escape("u of gate takes matrix((2, 2), complex64)")):
        ours(s, u[0])


def test_arrays_values_and_records_of_them(tmp_path: Any) -> None:
    v, _, m, _ = points()
    kind, host = wb.vector(2, complex), v.astype(np.complex64)
    shared = wb.array(host, dtype=kind, copy=False)
    assert shared.shape == (4,) and np.shares_memory(shared.numpy(), host)
    assert np.array_equal(jnp.from_dlpack(shared), host) and shared.view(complex).shape == (4, 2)
    assert np.array_equal(shared.real, host.real) and np.array_equal(shared[1:].imag, host.imag[1:])
    shared[0] = [1j, 2]
    assert (
        host[0].tolist() == [1j, 2]
        and shared[0] == kind(1j, 2)
        and repr(shared[0]) == "vector(2, complex64)(1j, (2+0j))"
    )
    a, b = kind(1 + 2j, 3), Square(1, 2j, 3, 4)
    assert (
        (a * 2j).tolist() == [-4 + 2j, 6j]
        and wb.dot(a, a) == 6 + 4j
        and (b @ np.array([1, 1j])).tolist() == [-1, 3 + 4j]
    )
    assert wb.conj(a).tolist() == [1 - 2j, 3] and np.allclose(wb.inverse(b), np.linalg.inv(b)) and a.y == 3
    assert wb.conj(1.0) == 1.0 and wb.vector(3, C)(1j).tolist() == [1j] * 3
    y = wb.zeros(2, dtype=kind)
    with wb.record(inputs=True) as record:
        wb.launch(gate, 4, [shared, m[0]], [y])
    want = gate_wanted(host, m[0])
    record.save(tmp_path / "gate.wbr")
    again = wb.load_record(tmp_path / "gate.wbr")
    again.replay()
    (launch,) = again.launches
    for result in (y, launch.arguments["y"]):
        np.testing.assert_allclose(result.numpy(), want, rtol=1e-4)
    assert launch.arguments["u"][1] == complex(np.complex64(m[0, 0, 1]))


@wb.kernel
def makers(o: wb.array[wb.vector(3, complex)], n: int, x: float):
    i = wb.tid()
    a = wb.vector(1j, 2.0, x)
    d = wb.identity(3, dtype=complex)
    for r in range(3):
        d[r, (r + n) % 3] += complex(x, 1.0) * a[r]
    d += wb.matrix_from_cols(a, wb.vector(length=3, dtype=complex) + 1.0, a * 2.0)
    a /= x + 1.0
    o[i] = d @ -a + wb.vec3(1.0, 2.0, 3.0) * a[n % 3] + type(a)(1j)
    o[i].z *= 2.0
    o[i].xy = o[i].yx
    o[i][0:2] += o[i][1:3] * (n.conjugate() + x.real + wb.conj(x) + x.imag)
    total = 0j
    for part in o[i]:
        total += part
    if total != wb.dot(o[i], wb.vec3(1.0)):
        o[i] = a


def test_what_makes_them_and_real_numbers_have_parts_too() -> None:
    o = wb.zeros(1, dtype=wb.vector(3, complex))
    wb.launch(makers, 1, [o, 4, 1.5])
    a, d = np.array([1j, 2, 1.5]), np.eye(3, dtype=complex)
    for r in range(3):
        d[r, (r + 4) % 3] += (1.5 + 1j) * a[r]
    d += np.stack([a, np.ones(3), a * 2], 1)
    a /= 2.5
    want = d @ -a + np.arange(1, 4) * a[1] + 1j
    want[2] *= 2
    want[:2] = want[1::-1].copy()
    want[:2] += want[1:] * (4 + 1.5 + 1.5 + 0)
    np.testing.assert_allclose(o.numpy()[0], want, rtol=1e-5)


REFUSED = {
    "q = a < b": "Complex numbers have no order",
    "q = max(a, b)": "Complex numbers have no order",
    "q = a @ vector(1.0, 2.0, 3.0)": "@ takes as many columns on the left as rows on the right; it got vector(2",
    "q = cross(a, b)": "cross() takes vectors of length 3; it got vector(2, complex64), vector(2, complex64).",
    "q = a + vector(1.0, 2.0, 3.0)": "+ takes vectors of one length",
    "q = m * m": "* between matrix((2, 2), complex64) and matrix((2, 2), complex64) could be two things.",
    "q = inverse(matrix(1j, shape=(2, 3), dtype=complex))": "inverse() takes a square matrix of up to 4 rows",
    "q = quat(0.0, 0.0, 0.0, 1.0) * a": "Quaternions have + - * among them",
    "a = vec2(a)": "vec2() takes 2 components, not a vector(2, complex64).",
    "q = vec2(a[0], 1.0)": "A component of vec2 is float32; the value is complex64. Take its .real",
    "a.x.real = 1.0": "The parts of a complex number are not assigned one by one; a.x is one.",
    "a.real = vec2(1.0, 2.0)": "The parts of a complex number are not assigned one by one; a is one.",
    "x[i] = vec2(1.0, 2.0)[0]": "An element of x is vector(2, complex64); the value is float32.",
    "q = 1 if a else 2": "A condition must be a bool or a number; this is vector(2, complex64).",
    "atomic_max(x, i, a)": "Of complex elements += and -= are atomic, part by part",
    "q = a.conjugate(1)": "a.conjugate() takes no arguments; it got 1.",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_they_have_not_is_refused_with_what_to_write(line: str) -> None:
    text = "def k(x: array[vector(2, complex)]):\n    i = tid()\n    a, b = x[i], x[i + 1]\n"
    with pytest.raises(wb.WorkbenchError) as caught:
        define(f"{text}    m = outer(a, b)\n    {line}\n")
    assert REFUSED[line] in re.sub(r"\s+", " ", str(caught.value))
