"""Kernels as they are written for Warp, run after changing the import; and the lines that mean something else here."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import workbench as wp
from workbench.errors import KernelTypeError


@wp.struct
class Body:
    pos: wp.vec3
    vel: wp.vec3
    inv_mass: float
    fixed: int


@wp.func
def spring(a: wp.vec3, b: wp.vec3, rest: float, ke: float):
    d = a - b
    length = wp.length(d)
    return d / length * (ke * (length - rest))


@wp.kernel(import_from_warp=True)
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    tid = wp.tid()
    y[tid] = a * x[tid] + y[tid]


@wp.kernel(import_from_warp=True)
def integrate(bodies: wp.array(dtype=Body), gravity: wp.vec3, dt: float):
    tid = wp.tid()
    b = bodies[tid]
    if b.fixed == 1:
        return
    b.vel = b.vel + (gravity * b.inv_mass) * dt
    b.pos = b.pos + b.vel * dt
    bodies[tid] = b


@wp.kernel(import_from_warp=True)
def springs(bodies: wp.array(dtype=Body), pairs: wp.array(dtype=wp.vec2i), f: wp.array(dtype=wp.vec3), ke: float):
    tid = wp.tid()
    i, j = pairs[tid][0], pairs[tid][1]
    s = spring(bodies[i].pos, bodies[j].pos, 1.0, ke)
    wp.atomic_sub(f, i, s)
    wp.atomic_add(f, j, s)


@wp.kernel(import_from_warp=True)
def laplace(src: wp.array2d(dtype=float), dst: wp.array2d(dtype=float)):
    i, j = wp.tid()
    left = src[i, wp.max(j - 1, 0)]
    right = src[i, wp.min(j + 1, src.shape[1] - 1)]
    dst[i, j] = left + right - 2.0 * src[i, j]


@wp.kernel(import_from_warp=True)
def rotate(q: wp.array(dtype=wp.quat), v: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    tid = wp.tid()
    t = wp.transform(v[tid], q[tid])
    out[tid] = wp.transform_point(wp.transform_inverse(t), wp.quat_rotate(q[tid], v[tid]))


@wp.kernel(import_from_warp=True)
def sample(seed: int, out: wp.array(dtype=float)):
    tid = wp.tid()
    state = wp.rand_init(seed, tid)
    out[tid] = wp.randf(state) + wp.randf(state, 0.0, 2.0)
    out[tid] += wp.noise(state, out[tid])
    k = wp.lower_bound(out, 3.0)
    out[tid] += wp.quat_to_matrix(wp.quat_identity())[0, 0] + float(k)


@wp.kernel(import_from_warp=True)
def nearest(points: wp.array(dtype=wp.vec3), best: wp.array(dtype=int)):
    tid = wp.tid()
    closest = 1.0e10
    found = -1
    for k in range(points.shape[0]):
        d = wp.length_sq(points[k] - points[tid])
        if k != tid and d < closest:
            closest = d
            found = k
    best[tid] = found


@wp.kernel(import_from_warp=True)
def matrices(m: wp.array(dtype=wp.mat33), v: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    tid = wp.tid()
    out[tid] = wp.transpose(m[tid]) @ v[tid] + wp.cross(v[tid], wp.vec3(0.0, 0.0, 1.0))


@wp.kernel(import_from_warp=True)
def divides(x: wp.array(dtype=int), y: wp.array(dtype=float), z: wp.array(dtype=int)):
    tid = wp.tid()
    y[tid] = x[tid] / 2
    z[tid] = x[tid] % 3 + tid % 3 + x[tid] // 2
    y[tid] += y[tid] / 2.0


@wp.kernel(import_from_warp=True)
def searches(x: wp.array(dtype=int), y: wp.array(dtype=int)):
    tid = wp.tid()
    for k in range(10):
        if x[tid] == k:
            break
    else:
        y[tid] = 1


BODIES = [Body((1, 2, 3), (0, 0, 0), 1.0, 0), Body((0, 0, 0), (1, 0, 0), 1.0, 1)]


def arguments() -> dict[str, tuple[Any, tuple[int, ...], list[Any]]]:
    """A launch of each kernel that means what it means in Warp."""
    rng = np.random.default_rng(5)
    v = wp.array(rng.normal(size=(4, 3)), wp.vec3)
    q = rng.normal(size=(4, 4))
    q = wp.array(q / np.linalg.norm(q, axis=1, keepdims=True), wp.quat)
    bodies = wp.array(BODIES, dtype=Body)
    return {
        "saxpy": (saxpy, (4,), [wp.ones(4), wp.ones(4), 2.0]),
        "integrate": (integrate, (2,), [bodies, wp.vec3(0.0, -1.0, 0.0), 0.5]),
        "springs": (springs, (1,), [bodies, wp.array([[0, 1]], wp.vec2i), wp.zeros(2, wp.vec3), 10.0]),
        "laplace": (laplace, (3, 4), [wp.array(rng.normal(size=(3, 4)), float), wp.zeros((3, 4))]),
        "rotate": (rotate, (4,), [q, v, wp.zeros(4, wp.vec3)]),
        "nearest": (nearest, (4,), [v, wp.zeros(4, int)]),
        "matrices": (matrices, (4,), [wp.array(rng.normal(size=(4, 3, 3)), wp.mat33), v, wp.zeros(4, wp.vec3)]),
    }


@pytest.mark.parametrize("name", list(arguments()))
def test_kernels_run_as_they_are_and_nothing_is_said(name):
    kernel, dim, values = arguments()[name]
    before = [v.numpy().copy() for v in values if isinstance(v, wp.array)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wp.launch(kernel, dim=dim, inputs=values, device="cpu")
    after = [v.numpy() for v in values if isinstance(v, wp.array)]
    assert any(not np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_what_they_compute():
    _, _, values = launched("integrate")
    assert values[0].numpy()["pos"][0].tolist() == [1, 1.75, 3] and values[0][1] == BODIES[1]
    _, _, values = launched("rotate")
    assert np.allclose(values[2].numpy(), values[1].numpy() - rotated_back(*values[:2]), atol=1e-5)


def rotated_back(q: Any, v: Any) -> np.ndarray[Any, Any]:
    """v rotated by the inverse of q."""
    axis, w = -q.numpy()[:, :3], q.numpy()[:, 3:]
    cross = np.cross(axis, v.numpy())
    return v.numpy() + 2 * (w * cross + np.cross(axis, cross))


def launched(name: str) -> Any:
    """The kernel's arguments after the launch."""
    kernel, dim, values = arguments()[name]
    wp.launch(kernel, dim=dim, inputs=values, device="cpu")
    return kernel, dim, values


def test_lines_that_mean_something_else_are_named():
    with pytest.warns(UserWarning, match="divides means something else here than in Warp") as told:
        wp.launch(divides, 2, inputs=[wp.array([-7, 7]), wp.zeros(2), wp.zeros(2, int)])
    lines = str(told[0].message).splitlines()[1:]
    said = ["/ on integers returns a float here", "% takes the divisor's sign"]
    assert len(lines) == 2 and all(sentence in line for sentence, line in zip(said, lines, strict=True))
    notices = divides.used.notices
    assert [n.location.source.line(n.location.line).strip()[:9] for n in notices] == [
        "y[tid] = ",
        "z[tid] = ",
    ]
    with pytest.warns(UserWarning, match="The else of a loop runs here"):
        wp.launch(searches, 2, inputs=[wp.array([3, 30]), wp.zeros(2, int)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        wp.launch(divides, 2, inputs=[wp.array([-7, 7]), wp.zeros(2), wp.zeros(2, int)])


def test_other_kernels_are_not_looked_at():
    names = wp.build_cell("def k(x: array[int]):\n    x[tid()] = x[0] % 3\n", {}).names
    assert names["k"].specialise().notices == ()


def test_builtins_that_give_other_numbers_are_named():
    said = {
        "sign(v)": "sign(0) is 0 here", "round(v)": "halves to the even number", "acos(v)": "outside -1 to 1 is NaN",
        "asin(v)": "Warp uses the nearer", "mod(n, 2)": "% takes the divisor's sign", "div(n, 2)": "/ on integers",
        "floordiv(n, 2)": "", "max(v, 1.0)": "", "mod(i, 2)": "", "v // 2.0": "", "i // 2": "",
    }  # fmt: skip
    for call, sentence in said.items():
        head = "def k(x: wp.array[float], at: wp.array[int]):\n    i = wp.tid()\n    v, n = x[i], at[i]\n"
        text = f"{head}    x[i] = {call if call[0] in 'vi' else 'wp.' + call}\n"
        names: dict[str, Any] = {"wp": wp}
        exec(text, names)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kernel = wp.kernel(names["k"], source=text, import_from_warp=True)
            told = [str(n) for n in kernel.specialise().notices]
        assert len(told) == bool(sentence) and all(sentence in t for t in told), (call, told)


def test_forms_that_give_other_numbers_are_named():
    with pytest.warns(UserWarning, match="sample means something else here"):
        wp.launch(sample, 4, inputs=[42, wp.zeros(4)])
    said = [(n.location.source.line(n.location.line).strip()[:9], n.message) for n in sample.used.notices]
    assert [line for line, _ in said] == ["state = w", "out[tid] ", "k = wp.lo"]
    for (_, message), what in zip(said, ("later ones differ", "noise", "Warp returns the last"), strict=True):
        assert what in message


def test_the_step_of_one_argument_is_refused_with_what_to_write():
    with pytest.raises(KernelTypeError, match=r"where\(x < 0.0, 1.0, 0.0\)"):
        wp.build_cell("def k(x: array[float]):\n    x[0] = step(x[tid()])\n", {})
