"""Edges, triangles and points: beside a search, a linear program, and matrices of 4 × 4 with NumPy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

import workbench as wb


@wb.kernel
def nearest(p: wb.array2d[wb.vec3d], out: wb.array[wb.vec3d], distance: wb.array[wb.float64]):
    i = wb.tid()
    found = wb.closest_point_edge_edge(p[i, 0], p[i, 1], p[i, 2], p[i, 3], wb.float64(1e-12))
    out[i] = found
    distance[i] = found[2]


def least(p):
    """The least distance, by minimising along the second segment at each of many points of the first, and back."""
    s, ends = np.linspace(0.0, 1.0, 2001)[:, None], []
    for a, b, c, d in (p, p[[2, 3, 0, 1]]):
        x = a + s * (b - a)
        t = np.clip(((x - c) @ (d - c)) / max((d - c) @ (d - c), 1e-30), 0.0, 1.0)[:, None]
        ends.append(np.linalg.norm(x - c - t * (d - c), axis=1).min())
    return min(ends)


def test_segments_are_as_near_as_a_search_finds_and_the_gradient_is_the_difference_quotient():
    points = np.random.default_rng(3).normal(size=(40, 4, 3))
    points[0, 1], points[1, 3], points[2, 2:] = points[0, 0], points[1, 2], points[2, :2] + 0.5  # points; parallel
    x = wb.array(points, dtype=wb.vec3d, requires_grad=True)
    out, distance = wb.zeros(40, wb.vec3d), wb.zeros(40, wb.float64, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(nearest, 40, [x], [out, distance])
    tape.backward(grads={distance: 1.0})
    s, t, d = out.numpy().T
    on_first = points[:, 0] + s[:, None] * (points[:, 1] - points[:, 0])
    on_second = points[:, 2] + t[:, None] * (points[:, 3] - points[:, 2])
    np.testing.assert_allclose(d, np.linalg.norm(on_first - on_second, axis=1), rtol=1e-12)
    np.testing.assert_allclose(d, [least(p) for p in points], atol=2e-5)
    assert ((s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)).all()
    # By the envelope theorem an end moves the distance by its share of the direction between the nearest points.
    way = (on_first - on_second) / d[:, None]
    shares = np.stack([1 - s, s, t - 1, -t], axis=1)
    np.testing.assert_allclose(x.grad.numpy()[3:], (shares[..., None] * way[:, None])[3:], atol=1e-9)


@wb.kernel
def moved(m: wb.mat44, v: wb.array[wb.vec3], out: wb.array2d[wb.vec3]):
    i = wb.tid()
    out[i, 0], out[i, 1] = wb.transform_point(m, v[i]), wb.transform_vector(m, v[i])


def test_points_and_directions_are_moved_by_matrices():
    rng = np.random.default_rng(1)
    m, v = rng.normal(size=(4, 4)).astype(np.float32), rng.normal(size=(5, 3)).astype(np.float32)
    out = wb.zeros((5, 2), wb.vec3)
    wb.launch(moved, 5, [wb.mat44(m), wb.array(v, dtype=wb.vec3)], [out])
    np.testing.assert_allclose(out.numpy()[:, 0], v @ m[:3, :3].T + m[:3, 3], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(out.numpy()[:, 1], v @ m[:3, :3].T, rtol=1e-5, atol=1e-6)


@wb.kernel
def meet(t: wb.array2d[wb.vec3], out: wb.array[int]):
    i = wb.tid()
    out[i] = wb.intersect_tri_tri(t[i, 0], t[i, 1], t[i, 2], t[i, 3], t[i, 4], t[i, 5])


def have_a_point_in_common(t):
    """Return whether the barycentric weights of both triangles give one point."""
    equal = np.vstack([np.hstack([t[:3].T, -t[3:].T]), [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]])
    return linprog(np.zeros(6), A_eq=equal, b_eq=[0, 0, 0, 1, 1], bounds=(0, 1)).status == 0


def test_triangles_meet_where_a_linear_program_finds_a_common_point():
    triangles = np.random.default_rng(5).integers(-3, 4, size=(120, 6, 3)).astype(np.float32)
    triangles[:40, :, 2] = 1  # in one plane
    triangles[40:50, 4:] = triangles[40:50, 3:4]  # points
    out = wb.zeros(len(triangles), int)
    wb.launch(meet, len(triangles), inputs=[wb.array(triangles, wb.vec3)], outputs=[out])
    wanted = [have_a_point_in_common(t) for t in triangles.astype(float)]
    assert 20 < sum(wanted) < 100
    assert out.numpy().tolist() == wanted
