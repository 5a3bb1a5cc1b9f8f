"""Funcs, builtins and vectors used from Python: the same numbers as in a kernel."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import workbench as wb


@wb.func
def blend(a: float, b: float, t: float):
    return a + (b - a) * t


@wb.func
def both(a: float, n: int):
    return a / 2.0, n + 1


@wb.func
def set_first(x: wb.array[float], v: float):
    x[0] = v
    return x[1]


@wb.struct
class Ball:
    pos: wb.vec3
    mass: float


@wb.func
def moved(ball: Ball, by: wb.vec3):
    ball.pos += by
    return ball


@wb.kernel
def in_kernel(q: wb.array[wb.quat], v: wb.array[wb.vec3], m: wb.array[wb.mat33], out: wb.array[wb.vec3]):
    i = wb.tid()
    u, s, _ = wb.svd3(m[i])
    out[i] = wb.quat_rotate(q[i] * q[i], v[i]) + u @ s - wb.normalize(v[i]) * blend(1.0, 2.0, v[i].x)


def test_funcs_on_numbers():
    assert blend(1.0, 3.0, 0.25) == 1.5 and type(blend(1, 3, t=0.25)) is np.float32
    assert both(3.0, 4) == (1.5, 5)
    assert blend(0.0, 1.0, np.inf) == np.inf and blend(1.0, np.float32(2.0), 0.5) == 1.5
    x = wb.array([1.0, 2.0])
    before = x.version
    assert set_first(x, 5.0) == 2 and x.numpy().tolist() == [5, 2] and x.version > before
    ball = Ball(wb.vec3(1, 2, 3), 2.0)
    after = moved(ball, wb.vec3(1.0))
    assert after.pos.tolist() == [2, 3, 4] and ball.pos.tolist() == [1, 2, 3] and after.mass == 2


def test_the_same_numbers_as_in_a_kernel():
    q, v, m = wb.normalize(wb.quat(0.1, 0.2, 0.3, 0.9)), wb.vec3(1.0, -2.0, 0.5), wb.mat33(*range(1, 9), 10)
    out = wb.zeros(1, dtype=wb.vec3)
    arguments = (wb.array([tuple(p)], dtype=p.type) for p in (q, v))
    wb.launch(in_kernel, 1, [*arguments, wb.array([m], dtype=wb.mat33)], [out])
    u, s, w = wb.svd3(m)
    here = wb.quat_rotate(q * q, v) + u @ s - wb.normalize(v) * blend(1.0, 2.0, v.x)
    np.testing.assert_allclose(out.numpy()[0], here, rtol=2e-5)
    np.testing.assert_allclose(u @ np.diag(s) @ w.T, m, rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: blend(1.0), wb.KernelTypeError, "needs an argument for b"),
        (lambda: blend("a", 1.0, 2.0), wb.KernelTypeError, "not a value that a kernel can compute with"),
        (lambda: set_first(wb.zeros(1), 1.0), wb.KernelFault, r"x\[1\] is out of range"),
        (lambda: wb.tid(), TypeError, "only inside a kernel"),
        (lambda: wb.atomic_add(wb.zeros(1), 0, 1.0), TypeError, "only inside a kernel"),
        (lambda: wb.randf(wb.rand_init(1)), TypeError, "advances the random state"),
        (lambda: wb.mat22(1.0) * wb.vec2(1.0), wb.KernelTypeError, "Write m @ n"),
        (lambda: wb.vec3(1.0).p, AttributeError, "vec3 has no attribute 'p'"),
    ],
)
def test_what_has_no_meaning(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


def test_vectors_have_names_and_types():
    v = wb.vec3(1.0, 2.0, 3.0)
    assert (v.x, v.y, v.z) == (1, 2, 3) and repr(v) == "vec3(1.0, 2.0, 3.0)" and repr(2 * v) == "vec3(2.0, 4.0, 6.0)"
    v.x = 5.0
    assert v.tolist() == [5, 2, 3] and repr(-v + v) == "vec3(0.0, 0.0, 0.0)"
    assert type(v > 2) is np.ndarray and isinstance(v[:2], wb.vec2) and type(v.sum()) is np.float32
    assert type(v.astype(np.float64)[0]) is np.float64 and v.astype(np.float64).type is None
    t = wb.transform(wb.vec3(1, 2, 3), wb.quat_identity())
    assert repr(t.p) == "vec3(1.0, 2.0, 3.0)" and repr(t.q) == "quat(0.0, 0.0, 0.0, 1.0)" and repr(t * t)[:4] == "tran"
    for again in (pickle.loads(pickle.dumps(v)), copy.deepcopy(v), v.copy()):
        assert repr(again) == repr(v)
    element = wb.array([(0, 0, 0, 1)], dtype=wb.quat)[0]
    assert repr(element * element) == "quat(0.0, 0.0, 0.0, 1.0)"
    assert repr(Ball(v).pos) == repr(v) and repr(wb.cross(v, v)) == "vec3(0.0, 0.0, 0.0)"


def test_on_arrays_they_are_mapped():
    q = wb.array([(0, 0, 1, 0)] * 2, dtype=wb.quat)
    v = wb.array([(1, 2, 3), (4, 5, 6)], dtype=wb.vec3)
    assert wb.quat_rotate(q, v).numpy().tolist() == [[-1, -2, 3], [-4, -5, 6]]
    assert wb.map(wb.quat_rotate, q, wb.vec3(1, 0, 0)).numpy().tolist() == [[-1, 0, 0]] * 2
    assert wb.isfinite(wb.vec3(1, np.inf, 0)) == False and wb.isnan(v).numpy().tolist() == [False] * 2  # noqa: E712
