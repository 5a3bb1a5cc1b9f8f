"""Trees of boxes and meshes: beside NumPy's look at all of them, differentiated beside JAX, refitted, and refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import workbench as wb
from workbench.errors import KernelSyntaxError, KernelTypeError, LaunchError

DEVICES = ("cpu", pytest.param("emulated", marks=pytest.mark.slow))


@wb.kernel
def boxes_met(
    bvh: wb.Bvh, low: wb.array[wb.vec3], dir: wb.array[wb.vec3], in_box: wb.array2d[int], on_ray: wb.array2d[int],
    in_ball: wb.array2d[int], near_ray: wb.array2d[int],
):  # fmt: skip
    i = wb.tid()
    for j in wb.bvh_query_aabb(bvh, low[i], low[i] + wb.vec3(0.2, 0.2, 0.2)):
        in_box[i, j] += 1
    for j in wb.bvh_query_ray(bvh, low[i], dir[i]):
        on_ray[i, j] += 1
    for j in wb.bvh_query_sphere(bvh, low[i], 0.2):
        in_ball[i, j] += 1
    for j in wb.bvh_query_capsule(bvh, low[i], dir[i], 0.1):
        near_ray[i, j] += 1


def slabs(low, high, start, dir):
    with np.errstate(divide="ignore"):
        ends = (np.stack([low, high])[:, None] - start[:, None]) / dir[:, None]
    near, far = ends.min(0).max(2), ends.max(0).min(2)
    return np.maximum(near, 0.0) <= far


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("leaf_size", [1, 3])
def test_each_query_finds_the_boxes_that_numpy_finds(device, leaf_size):
    rng = np.random.default_rng(leaf_size)
    n, m = (600, 16) if device == "cpu" else (60, 4)
    low = rng.random((n, 3)).astype(np.float32)
    high = low + 0.1 * rng.random((n, 3)).astype(np.float32)
    start, dir = rng.random((m, 3)).astype(np.float32), rng.normal(size=(m, 3)).astype(np.float32)
    arrays = [wb.array(x, dtype=wb.vec3, device=device) for x in (low, high, start, dir)]
    bvh = wb.Bvh(*arrays[:2], leaf_size=leaf_size)
    results = [wb.zeros((m, n), dtype=int, device=device) for _ in range(4)]
    wb.launch(boxes_met, m, [bvh, *arrays[2:]], results, device=device)

    in_box, on_ray, in_ball, near_ray = (r.numpy() for r in results)
    assert np.array_equal(in_box, ((low <= start[:, None] + np.float32(0.2)) & (high >= start[:, None])).all(2))
    assert np.array_equal(on_ray, slabs(low, high, start, dir))
    gap = np.maximum(np.maximum(low - start[:, None], start[:, None] - high), 0.0)
    assert np.array_equal(in_ball, (gap**2).sum(2) <= np.float32(0.2) ** 2)
    assert np.array_equal(near_ray, slabs(low - 0.1, high + 0.1, start, dir))


@wb.kernel
def of_groups(
    bvh: wb.Bvh, low: wb.array[wb.vec3], dir: wb.array[wb.vec3], groups: wb.array[int], in_box: wb.array2d[int],
    on_ray: wb.array2d[int],
):  # fmt: skip
    i = wb.tid()
    root = wb.bvh_get_group_root(bvh, groups[i])
    for j in wb.bvh_query_aabb(bvh, low[i], low[i] + wb.vec3(0.2, 0.2, 0.2), root):
        in_box[i, j] += 1
    for j in wb.bvh_query_ray(bvh, low[i], dir[i], root):
        on_ray[i, j] += 1


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("leaf_size", [1, 3])
def test_a_query_below_the_root_of_a_group_finds_its_boxes(device, leaf_size):
    rng = np.random.default_rng(leaf_size)
    n, m = (300, 24) if device == "cpu" else (40, 6)
    group = rng.choice([0, 2, 7, 2**31 - 1], n).astype(np.int32)
    group[:2] = 5, 9  # of one box each
    wanted = rng.choice([0, 2, 5, 7, 9, 2**31 - 1], m).astype(np.int32)
    wanted[:2] = 1, -3  # of none: they find the boxes of all groups
    low = rng.random((n, 3)).astype(np.float32)
    high = low + 0.3 * rng.random((n, 3)).astype(np.float32)
    start, dir = rng.random((m, 3)).astype(np.float32), rng.normal(size=(m, 3)).astype(np.float32)
    arrays = [wb.array(x, dtype=wb.vec3, device=device) for x in (low, high, start, dir)]
    bvh = wb.Bvh(*arrays[:2], leaf_size=leaf_size, groups=wb.array(group, device=device))
    among = (group == wanted[:, None]) | ~np.isin(wanted, group)[:, None]
    for _ in range(2):
        results = [wb.zeros((m, n), dtype=int, device=device) for _ in range(2)]
        wb.launch(of_groups, m, [bvh, *arrays[2:], wb.array(wanted, device=device)], results, device=device)
        in_box, on_ray = (r.numpy() for r in results)
        met = ((low <= start[:, None] + np.float32(0.2)) & (high >= start[:, None])).all(2)
        assert np.array_equal(in_box, met & among)
        assert np.array_equal(on_ray, slabs(low, high, start, dir) & among)
        low, high = low[::-1].copy(), high[::-1].copy()
        arrays[0].assign(low)
        arrays[1].assign(high)
        bvh.refit()


def test_groups_are_one_number_for_each_box():
    corners = wb.zeros(3, wb.vec3)
    with pytest.raises(LaunchError, match="2 groups of 3 boxes"):
        wb.Bvh(corners, corners, groups=wb.zeros(2, int))
    with pytest.raises(LaunchError, match="groups as an array of int32"):
        wb.Bvh(corners, corners, groups=wb.zeros(3))


@wb.kernel
def in_parts(bvh: wb.Bvh, first: wb.array[int], rest: wb.array[int]):
    i = wb.tid()
    query = wb.bvh_query_ray(bvh, wb.vec3(-1.0, 0.5, 0.5), wb.vec3(1.0, 0.0, 0.0))
    j = 0
    count = 0
    while wb.bvh_query_next(query, j, 4.0):
        if j % 2 == 1:
            continue
        first[j] += 1
        count += 1
        if count == 2:
            break
    while wb.bvh_query_next(query, j, 4.0):
        rest[j] += i + 1


def test_a_query_is_left_and_goes_on_and_has_a_limit():
    low = np.array([[k, 0.0, 0.0] for k in range(6)], np.float32)
    bvh = wb.Bvh(wb.array(low, dtype=wb.vec3), wb.array(low + 1.0, dtype=wb.vec3))
    first, rest = wb.zeros(6, dtype=int), wb.zeros(6, dtype=int)
    wb.launch(in_parts, 1, [bvh], [first, rest])
    both = first.numpy() + rest.numpy()
    assert first.numpy().sum() == 2 and set(np.flatnonzero(first.numpy())) <= {0, 2}
    assert both.max() == 1 and both[0] == both[2] == 1 and both[4] == both[5] == 0  # beyond 4


def sphere(k=12):
    """A bumpy closed surface, its corners going around against the clock from outside."""
    a, b = np.linspace(0, np.pi, k + 1)[1:-1, None], np.linspace(0, 2 * np.pi, k, endpoint=False)[None]
    r = 1 + 0.2 * np.sin(3 * a) * np.cos(2 * b)
    ring = np.stack([r * np.sin(a) * np.cos(b), r * np.sin(a) * np.sin(b), r * np.cos(a)], -1).reshape(-1, 3)
    points = np.concatenate([ring, [[0, 0, 1], [0, 0, -1]]]).astype(np.float32)
    faces, last = [], (k - 2) * k
    for j in range(k):
        n = (j + 1) % k
        faces += [(len(points) - 2, j, n), (len(points) - 1, last + n, last + j)]
        for i in range(k - 2):
            p, q = i * k, (i + 1) * k
            faces += [(p + j, q + j, q + n), (p + j, q + n, p + n)]
    return points, np.array(faces, np.int32)


def rays(m, seed=0):
    rng = np.random.default_rng(seed)
    start = rng.normal(size=(m, 3))
    start *= 2.5 / np.linalg.norm(start, axis=1, keepdims=True)
    return start.astype(np.float32), (0.6 * rng.normal(size=(m, 3)) - start).astype(np.float32)


def all_hits(points, faces, start, dir):
    """Where each ray meets the plane of each face, and the weights of its corners, in float64."""
    a, b, c = (points[faces[:, k]].astype(float) for k in range(3))
    s, d = start[:, None].astype(float), dir[:, None].astype(float)
    normal = np.cross(b - a, c - a)
    t = ((a - s) * normal).sum(-1) / (normal * d).sum(-1)
    x = s + t[..., None] * d
    area = (normal**2).sum(-1)
    u = (np.cross(c - b, x - b) * normal).sum(-1) / area
    v = (np.cross(a - c, x - c) * normal).sum(-1) / area
    inside = (np.minimum(np.minimum(u, v), 1 - u - v) >= 0) & (t >= 0)
    return np.where(inside, t, np.inf), u, v, normal


@wb.kernel
def cast(
    mesh: wb.Mesh, start: wb.array[wb.vec3], dir: wb.array[wb.vec3], face: wb.array[int], t: wb.array[float],
    weights: wb.array[wb.vec2], normal: wb.array[wb.vec3], counts: wb.array2d[int],
):  # fmt: skip
    i = wb.tid()
    hit = wb.mesh_query_ray(mesh, start[i], dir[i], 10.0)
    face[i] = hit.face if hit.result else -1
    t[i] = hit.t
    weights[i] = wb.vec2(hit.u, hit.v)
    normal[i] = hit.normal * hit.sign
    counts[i, 0] = wb.mesh_query_ray_count_intersections(mesh, start[i], dir[i])
    counts[i, 1] = int(wb.mesh_query_ray_anyhit(mesh, start[i], dir[i], 10.0))
    counts[i, 2] = int(wb.mesh_query_ray_anyhit(mesh, start[i], dir[i], 0.1))


def meets(mesh, start, dir):
    """What `cast` writes."""
    m, device = len(start), mesh.device
    kinds = [int, float, wb.vec2, wb.vec3]
    results = [*(wb.zeros(m, dtype=k, device=device) for k in kinds), wb.zeros((m, 3), dtype=int, device=device)]
    given = [wb.array(x, dtype=wb.vec3, device=device) for x in (start, dir)]
    wb.launch(cast, m, [mesh, *given], results, device=device)
    return [r.numpy() for r in results]


@pytest.mark.parametrize("device", DEVICES)
def test_a_ray_meets_the_face_that_numpy_finds_first(device):
    points, faces = sphere(12 if device == "cpu" else 5)
    start, dir = rays(200 if device == "cpu" else 20)
    mesh = wb.Mesh(wb.array(points, dtype=wb.vec3, device=device), wb.array(faces.reshape(-1), device=device))
    for scale in (1.0, 0.8):
        face, t, weights, normal, counts = meets(mesh, start, dir)
        known, u, v, normals = all_hits(scale * points, faces, start, dir)
        first, each = known.argmin(1), np.arange(len(start))
        hit = np.isfinite(known.min(1))
        assert 0.2 < hit.mean() < 1.0
        assert np.array_equal(face, np.where(hit, first, -1))
        assert np.allclose(t[hit], known.min(1)[hit], rtol=1e-5)
        assert np.allclose(weights[hit], np.stack([u, v], -1)[each, first][hit], atol=2e-4)
        unit = normals[first] / np.linalg.norm(normals[first], axis=1, keepdims=True)
        assert np.allclose(normal[hit], unit[hit], atol=1e-4)  # sign 1: the rays come from outside
        assert np.array_equal(counts, np.stack([np.isfinite(known).sum(1), hit, (known < 0.1).any(1)], -1))
        mesh.points = wb.array(0.8 * points, dtype=wb.vec3, device=device)  # which refits


def test_a_ray_between_two_faces_is_not_lost():
    points, faces = sphere(6)
    corners = points[faces]
    there = np.concatenate([0.5 * (corners[:, 0] + corners[:, 1]), corners[:, 2]])  # edges and corners
    mesh = wb.Mesh(wb.array(points, dtype=wb.vec3), wb.array(faces.reshape(-1)))
    start = np.zeros_like(there) + np.float32(0.01)
    face, t, *_ = meets(mesh, start, there - start)
    assert (face >= 0).all() and np.allclose(t, 1.0, atol=1e-5)
    flat = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]], np.float32)
    mesh = wb.Mesh(wb.array(flat, dtype=wb.vec3), wb.array([0, 1, 2, 0, 2, 3]))
    start = np.array([[2, 1, 1], [0, 1, 1], [1, 2, 1], [1, 0, 1]], np.float32)  # on the box's faces, along them
    face, *_ = meets(mesh, start, np.tile(np.float32([0, 0, -1]), (4, 1)))
    assert (face >= 0).all()


@wb.kernel
def sides(mesh: wb.Mesh, x: wb.array[wb.vec3], signs: wb.array2d[float], places: wb.array2d[wb.vec3]):
    i = wb.tid()
    a = wb.mesh_query_point(mesh, x[i], 10.0)
    b = wb.mesh_query_point_sign_parity(mesh, x[i], 10.0, 3)
    c = wb.mesh_query_point_sign_normal(mesh, x[i], 10.0)
    d = wb.mesh_query_point_sign_winding_number(mesh, x[i], 10.0)
    e = wb.mesh_query_furthest_point_no_sign(mesh, x[i], 0.0)
    signs[i, 0], signs[i, 1], signs[i, 2], signs[i, 3] = a.sign, b.sign, c.sign, d.sign
    places[i, 0] = wb.mesh_eval_position(mesh, a.face, a.u, a.v)
    places[i, 1] = wb.mesh_eval_position(mesh, e.face, e.u, e.v)
    if wb.mesh_query_point_no_sign(mesh, x[i], 1.0e-4).result:
        signs[i, 0] = 7.0


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
def test_the_nearest_point_of_a_cube_and_its_side(device):
    points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float32)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([f for q in quads for f in ((q[0], q[1], q[2]), (q[0], q[2], q[3]))], np.int32)
    given = wb.array(points, dtype=wb.vec3, device=device), wb.array(faces.reshape(-1), device=device)
    mesh = wb.Mesh(*given, support_winding_number=device == "cpu")
    m = 400 if device == "cpu" else 20
    x = (2.0 * np.random.default_rng(0).random((m, 3)) - 0.5).astype(np.float32)
    x = np.concatenate([x, [[1.2, 1.2, 1.2], [0.55, 1.3, 1.3], [0.9, 0.8, 0.97]]]).astype(np.float32)
    signs = wb.zeros((len(x), 4), device=device)
    places = wb.zeros((len(x), 2), dtype=wb.vec3, device=device)
    wb.launch(sides, len(x), [mesh, wb.array(x, dtype=wb.vec3, device=device)], [signs, places], device=device)

    inside = ((x > 0) & (x < 1)).all(1)
    assert 0.05 < inside.mean() < 0.5
    assert np.array_equal(signs.numpy(), np.repeat(np.where(inside, -1.0, 1.0)[:, None], 4, 1))
    depth = np.minimum(x, 1 - x).min(1)
    away = np.linalg.norm(x - np.clip(x, 0, 1), axis=1)
    nearest, furthest = places.numpy()[:, 0], places.numpy()[:, 1]
    assert np.allclose(np.linalg.norm(nearest - x, axis=1), np.where(inside, depth, away), atol=1e-5)
    assert np.allclose(nearest[~inside], np.clip(x, 0, 1)[~inside], atol=1e-5)
    assert np.allclose(furthest, np.where(x > 0.5, 0, 1), atol=1e-6)


@wb.kernel
def image(mesh: wb.Mesh, start: wb.array[wb.vec3], dir: wb.array[wb.vec3], out: wb.array[float]):
    i = wb.tid()
    hit = wb.mesh_query_ray(mesh, start[i], dir[i], 10.0)
    if hit.result:
        place = wb.mesh_eval_position(mesh, hit.face, hit.u, hit.v)
        out[i] = hit.t + hit.u * hit.v + hit.normal[0] * hit.normal[2] + wb.dot(place, place) * place[1]
    near = wb.mesh_query_point_no_sign(mesh, start[i] * 0.6, 10.0)
    out[i] += wb.length(wb.mesh_eval_position(mesh, near.face, near.u, near.v) - start[i] * 0.6)


@pytest.mark.slow
def test_the_gradient_through_a_hit_is_that_of_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    points, faces = sphere(8)
    start, dir = rays(24, 3)
    arrays = [wb.array(x, dtype=wb.vec3, requires_grad=True) for x in (points, start, dir)]
    mesh = wb.Mesh(arrays[0], wb.array(faces.reshape(-1)))
    out = wb.zeros(24, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(image, 24, [mesh, *arrays[1:]], [out])
    tape.backward(grads={out: wb.ones(24)})
    face = jnp.array(meets(mesh, start, dir)[0])

    def distance(x, p):  # to all faces, by the nearest of the plane's foot, the edges' feet and the corners
        def to_edge(a, b):
            s = jnp.clip(((x - a) * (b - a)).sum(-1) / ((b - a) ** 2).sum(-1), 0, 1)
            return jnp.linalg.norm(a + s[:, None] * (b - a) - x, axis=-1)

        a, b, c = (p[faces[:, k]] for k in range(3))
        n = jnp.cross(b - a, c - a)
        n = n / jnp.linalg.norm(n, axis=-1, keepdims=True)
        h = ((x - a) * n).sum(-1)
        foot = x - h[:, None] * n
        inside = jnp.ones(len(faces), bool)
        for q, r in ((a, b), (b, c), (c, a)):
            inside &= (jnp.cross(r - q, foot - q) * n).sum(-1) > 0
        edges = jnp.stack([to_edge(a, b), to_edge(b, c), to_edge(c, a)]).min(0)
        return jnp.where(inside, jnp.abs(h), edges).min()

    def loss(p, s, d):
        a, b, c = (p[jnp.array(faces)[jnp.maximum(face, 0), k]] for k in range(3))
        n = jnp.cross(b - a, c - a)
        t = ((a - s) * n).sum(-1) / (n * d).sum(-1)
        x = s + t[:, None] * d
        u = (jnp.cross(c - b, x - b) * n).sum(-1) / (n * n).sum(-1)
        v = (jnp.cross(a - c, x - c) * n).sum(-1) / (n * n).sum(-1)
        unit = n / jnp.linalg.norm(n, axis=-1, keepdims=True)
        seen = t + u * v + unit[:, 0] * unit[:, 2] + (x * x).sum(-1) * x[:, 1]
        return jnp.where(face >= 0, seen, 0.0).sum() + jax.vmap(lambda y: distance(0.6 * y, p))(s).sum()

    assert 5 < (face >= 0).sum() < 24
    value, gradients = jax.jit(jax.value_and_grad(loss, (0, 1, 2)))(points, start, dir)
    assert np.isclose(out.numpy().sum(), value, rtol=1e-5)
    for ours, theirs in zip(arrays, gradients, strict=True):
        assert np.allclose(ours.grad.numpy(), theirs, atol=2e-3 * np.abs(theirs).max())


def test_a_mesh_in_a_record_and_in_a_graph_follows_its_points():
    points, faces = sphere(6)
    mesh = wb.Mesh(wb.array(points, dtype=wb.vec3), wb.array(faces.reshape(-1)))
    start, dir = (wb.array(x, dtype=wb.vec3) for x in rays(16))
    out = wb.zeros(16)
    with wb.capture() as graph:
        mesh.refit()
        wb.launch(image, 16, [mesh, start, dir], [out])
    mesh.points.copy_(wb.array(0.9 * points, dtype=wb.vec3))
    graph.launch()
    fresh = wb.zeros(16)
    other = wb.Mesh(wb.array(0.9 * points, dtype=wb.vec3), mesh.indices)
    wb.launch(image, 16, [other, start, dir], [fresh])
    assert fresh.numpy().any() and np.allclose(out.numpy(), fresh.numpy(), atol=1e-6)


def test_a_tree_of_nothing_and_of_equal_boxes():
    nothing = wb.zeros(0, dtype=wb.vec3)
    low = wb.zeros(5, dtype=wb.vec3)
    for bvh, count in ((wb.Bvh(nothing, nothing), 0), (wb.Bvh(low, low), 5)):
        results = [wb.zeros((1, 5), dtype=int) for _ in range(4)]
        wb.launch(boxes_met, 1, [bvh, wb.zeros(1, dtype=wb.vec3), wb.ones(1, dtype=wb.vec3)], results)
        assert results[0].numpy().sum() == results[2].numpy().sum() == count


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_faces_that_are_nowhere_disturb_no_other(value):
    points, faces = sphere(12)
    start, dir = rays(200)
    bad = np.full((30, 3), value, np.float32)
    bad[::3] = 0.0  # a third of the corners are ordinary
    order = np.random.default_rng(1).permutation(len(faces) + 10)
    both = np.concatenate([faces, len(points) + np.arange(30, dtype=np.int32).reshape(10, 3)])[order]
    mesh = wb.Mesh(wb.array(np.concatenate([points, bad]), dtype=wb.vec3), wb.array(both.astype(np.int32)))
    known = all_hits(points, faces, start, dir)[0]
    hit = np.isfinite(known.min(1))
    for _ in range(2):
        face, t, *_ = meets(mesh, start, dir)
        assert np.array_equal(face, np.where(hit, np.argsort(order)[known.argmin(1)], -1))
        assert np.allclose(t[hit], known.min(1)[hit], rtol=1e-5)
        mesh.refit()


@pytest.mark.parametrize("leaf_size", [1, 4])
def test_boxes_without_end_are_met_where_they_are(leaf_size):
    rng = np.random.default_rng(leaf_size)
    low = rng.random((300, 3)).astype(np.float32)
    high = low + np.float32(0.1) * rng.random((300, 3)).astype(np.float32)
    low[:20, 0], high[10:30, 1], low[30:40, 2], high[35:50, 2] = -np.inf, np.inf, -1e25, 1e30
    start = rng.random((20, 3)).astype(np.float32)
    start[:5, 1] = 1e20
    bvh = wb.Bvh(wb.array(low, dtype=wb.vec3), wb.array(high, dtype=wb.vec3), leaf_size=leaf_size)
    results = [wb.zeros((20, 300), dtype=int) for _ in range(4)]
    inputs = [bvh, wb.array(start, dtype=wb.vec3), wb.ones(20, dtype=wb.vec3)]
    expected = ((low <= start[:, None] + np.float32(0.2)) & (high >= start[:, None])).all(2)
    assert expected[5:, :50].any() and expected[:5].any()
    for _ in range(2):
        results[0].zero_()
        wb.launch(boxes_met, 20, inputs, results)
        assert np.array_equal(results[0].numpy(), expected)
        bvh.refit()


def test_faces_may_be_rows_of_three():
    points = wb.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], dtype=wb.vec3)
    faces = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    rows, flat = wb.Mesh(points, wb.array(faces)), wb.Mesh(points, wb.array(faces.reshape(-1)))
    assert rows.indices.numpy().tolist() == flat.indices.numpy().tolist() == faces.reshape(-1).tolist()


def test_what_is_refused():
    points, flat = wb.zeros(3, dtype=wb.vec3), wb.zeros(9)
    with pytest.raises(LaunchError, match="lowers as an array of vec3"):
        wb.Bvh(flat, points)
    with pytest.raises(LaunchError, match="3 lowers and 2 uppers"):
        wb.Bvh(points, points[:2])
    with pytest.raises(LaunchError, match="at least one item"):
        wb.Bvh(points, points, 0)
    with pytest.raises(LaunchError, match="outside of the 3 points"):
        wb.Mesh(points, wb.array([0, 1, 3]))
    with pytest.raises(LaunchError, match="no multiple of 3"):
        wb.Mesh(points, wb.array([0, 1]))
    mesh = wb.Mesh(points, wb.array([0, 1, 2]))
    with pytest.raises(LaunchError, match="as many points"):
        mesh.points = wb.zeros(4, dtype=wb.vec3)

    @wb.kernel
    def unnamed(bvh: wb.Bvh, out: wb.array[int]):
        i = wb.tid()
        while wb.bvh_query_next(wb.bvh_query_sphere(bvh, wb.vec3(0.0, 0.0, 0.0), 1.0), i):
            out[i] += 1

    with pytest.raises(KernelSyntaxError, match="local names of a query and of an item"):
        wb.launch(unnamed, 1, [wb.Bvh(points, points), wb.zeros(3, dtype=int)])

    @wb.kernel
    def too_many(mesh: wb.Mesh, x: wb.array[wb.vec3]):
        i = wb.tid()
        x[i] = wb.mesh_query_ray(mesh, x[i], x[i], 1.0, i).normal

    with pytest.raises(KernelTypeError, match=r"After the Mesh, mesh_query_ray\(\) takes 3 arguments; it got 4"):
        wb.launch(too_many, 1, [mesh, points])

    @wb.kernel
    def no_mesh(x: wb.array[wb.vec3]):
        i = wb.tid()
        x[i] = wb.mesh_query_ray(x, x[i], x[i], 1.0).normal

    with pytest.raises(KernelTypeError, match=r"takes a Mesh first; this is array\[vec3\].*mesh: wb.Mesh"):
        wb.launch(no_mesh, 1, [points])


@wb.kernel
def near(mesh: wb.Mesh, center: wb.vec3, radius: float, hits: wb.array[int]):
    for f in wb.mesh_query_sphere(mesh, center, radius):
        hits[f] += 1


def test_a_ball_meets_faces_and_not_their_boxes():
    mesh = wb.Mesh(wb.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], wb.vec3), wb.array([0, 1, 2]))
    met = []
    for center, radius in (((0.25, 0.25, 0.0), 0.0), ((0.9, 0.9, 0.0), 0.0), ((0.9, 0.9, 0.0), 0.57), ((0, 0, 1), 0.9)):
        hits = wb.zeros(1, int)
        wb.launch(near, 1, [mesh, center, radius, hits])
        met.append(int(hits.numpy()[0]))
    assert met == [1, 0, 1, 0]  # the edge is 0.5657 from (0.9, 0.9, 0)


@pytest.mark.parametrize("corners", list(itertools.product(range(3), repeat=3)))
def test_a_face_of_which_corners_coincide_is_a_segment_or_a_point(corners):
    points = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0]], np.float32)
    mesh = wb.Mesh(wb.array(points, wb.vec3), wb.array(np.array(corners, np.int32)))
    center = np.array([0.5, 0.25, 1.0])
    used = points[list(corners)]
    weights = np.array([(a, b, 200 - a - b) for a in range(201) for b in range(201 - a)]) / 200
    distance = np.linalg.norm(weights @ used - center, axis=1).min()
    for radius, wanted in ((distance - 0.01, 0), (distance + 0.01, 1)):
        hits = wb.zeros(1, int)
        wb.launch(near, 1, [mesh, wb.vec3(*center), radius, hits])
        assert hits.numpy()[0] == wanted


@wb.kernel
def of_several(meshes: wb.Meshes, t: wb.array[float]):
    i = wb.tid()
    hit = wb.mesh_query_ray(wb.mesh_at(meshes, i), wb.vec3(0.2, 0.2, 10.0), wb.vec3(0.0, 0.0, -1.0), 100.0)
    if hit.result:
        t[i] = hit.t


def test_a_kernel_chooses_one_of_several_meshes():
    meshes = [wb.Mesh(wb.array([[0, 0, z], [1, 0, z], [0, 1, z]], wb.vec3), wb.array([0, 1, 2])) for z in (0.0, 2.0)]
    t = wb.zeros(2)
    wb.launch(of_several, 2, [wb.Meshes(meshes), t])
    assert t.numpy().tolist() == [10.0, 8.0]
    with pytest.raises(wb.LaunchError, match="at least one"):
        wb.Meshes([])
