"""With `workbench.compat.warp`, names mean what they mean in Warp 1.19. The numbers are those that Warp gave."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import workbench as wb
import workbench.compat.warp as wp

NAN = float("nan")


@wp.kernel
def of_integers(a: wp.array(dtype=int), b: wp.array(dtype=int), o: wp.array2d(dtype=int)):
    i = wp.tid()
    o[i, 0], o[i, 1], o[i, 2], o[i, 3] = a[i] / b[i], a[i] // b[i], a[i] % b[i], wp.mod(a[i], b[i])
    o[i, 4], o[i, 5], o[i, 6], o[i, 7] = -7 / 2, wp.div(7, 2), -7 % 3, wp.sign(a[i] - a[i])


def test_integers_divide_as_in_c():
    a, b = wp.array([-7, 7, -7, 7, 1, -1, 5], dtype=int), wp.array([2, -2, -2, 2, 3, 3, 0], dtype=int)
    o = wp.zeros((7, 8), dtype=int)
    wp.launch(of_integers, 7, inputs=[a, b, o])
    constants = [-3, 3, -1, 1]
    expected = [[-3, -4, -1, -1], [-3, -4, 1, 1], [3, 3, -1, -1], [3, 3, 1, 1], [0, 0, 1, 1], [0, -1, -1, -1]]
    assert o.numpy()[:6].tolist() == [[*row, *constants] for row in expected]
    assert o.numpy()[6].tolist() == [-1, -1, 5, 5, *constants]  # by 0 nothing traps; what Warp does is undefined


@wp.kernel
def of_floats(a: wp.array(dtype=float), b: wp.array(dtype=float), o: wp.array2d(dtype=float)):
    i = wp.tid()
    o[i, 0], o[i, 1], o[i, 2], o[i, 3] = a[i] // b[i], a[i] % b[i], wp.min(a[i], b[i]), wp.max(a[i], b[i])
    o[i, 4], o[i, 5], o[i, 6] = wp.clamp(a[i], 0.0, 1.0), wp.sign(a[i]), wp.round(a[i])
    o[i, 7], o[i, 8], o[i, 9] = wp.acos(a[i]), wp.asin(a[i]), wp.step(a[i])


def test_floats_at_ties_and_outside_of_their_domain():
    a = wp.array([-7.0, 1.0, 0.0, NAN, 2.5, 0.49999997], dtype=float)
    b = wp.array([2.0, 0.1, 1.0, 1.0, NAN, -0.1], dtype=float)
    o = wp.zeros((6, 10), dtype=float)
    wp.launch(of_floats, 6, inputs=[a, b, o])
    pi, half = np.pi, np.pi / 2
    expected = [
        [-4, -1, -7, 2, 0, -1, -7, pi, -half, 1],
        [10, 0.1, 0.1, 1, 1, 1, 1, 0, half, 0],
        [0, 0, 0, 1, 0, 1, 0, half, 0, 0],
        [NAN, NAN, 1, 1, 0, 1, NAN, pi, -half, 0],
        [NAN, NAN, 2.5, 2.5, 1, 1, 3, 0, half, 0],
        [-5, 0.1, -0.1, 0.5, 0.5, 1, 0, pi / 3, pi / 6, 0],
    ]
    assert np.allclose(o.numpy(), expected, atol=1e-6, equal_nan=True)


@wp.kernel
def draws(o: wp.array2d(dtype=float), cdf: wp.array(dtype=float)):
    i = wp.tid()
    s = wp.rand_init(7, i)
    o[i, 0] = wp.randf(s)
    o[i, 1] = wp.randf(s, -2.0, 3.0)
    o[i, 2] = wp.randn(s)
    o[i, 3] = float(wp.randi(s, -5, 20))
    o[i, 4] = float(wp.randu(s) % wp.uint32(1000))
    h = wp.sample_unit_hemisphere(s)
    o[i, 5] = h[0]
    b = wp.sample_unit_sphere(s)
    o[i, 6] = b[2]
    o[i, 7] = float(wp.sample_cdf(s, cdf))
    o[i, 8] = float(wp.lower_bound(cdf, 7.0))
    x = wp.vec4(0.37 - 2.0, 1.21, 0.3 * float(i), -4.6)
    o[i, 9] = wp.noise(s, x[0])
    o[i, 10] = wp.noise(s, wp.vec2(x[0], x[1]))
    o[i, 11] = wp.noise(s, wp.vec3(x[0], x[1], x[2]))
    o[i, 12] = wp.noise(s, x)
    o[i, 13] = wp.pnoise(s, wp.vec2(x[0], x[1]), 3, 2)
    o[i, 14] = wp.pnoise(s, x, 2, 3, 4, 5)


DRAWN = [
    [
        0.671995,
        0.2580204,
        0.003637352,
        16,
        746,
        0.5894641,
        -0.4456092,
        2,
        3,
        0.1529091,
        -0.3544321,
        -0.2740175,
        0.01795186,
        -0.3689727,
        -0.03765188,
    ],
    [
        0.9301432,
        0.5395491,
        -1.774153,
        5,
        577,
        -0.5878847,
        0.1245311,
        3,
        3,
        -0.1671209,
        0.390701,
        0.1182693,
        0.1456221,
        0.3322595,
        0.01356793,
    ],
]


@pytest.mark.parametrize("device", ["cpu", pytest.param("emulated", marks=pytest.mark.slow)])
def test_draws_noise_and_search(device):
    o = wp.zeros((2, 15), dtype=float, device=device)
    wp.launch(draws, 2, inputs=[o, wp.array([0.1, 0.4, 0.5, 1.0], dtype=float, device=device)])
    assert np.allclose(o.numpy(), DRAWN, rtol=2e-5, atol=2e-6)


@wp.kernel
def smaller(a: wp.array(dtype=float), b: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    o[i] = wp.min(a[i], b[i])


def test_at_a_tie_the_second_operand_has_the_gradient():
    a, b, o = (wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True) for _ in range(3))
    tape = wp.Tape()
    with tape:
        wp.launch(smaller, 3, inputs=[a, b], outputs=[o])
    tape.backward(grads={o: wp.ones(3)})
    assert a.grad.numpy().tolist() == [0, 0, 0] and b.grad.numpy().tolist() == [1, 1, 1]
    tape.reset()
    assert b.grad.numpy().tolist() == [0, 0, 0]


@wp.kernel
def of_tiles(x: wp.array2d(dtype=int)):
    t = wp.tile_load(x, shape=(1, 4))
    wp.tile_store(x, t / 2 + t % 3)


def test_tiles_divide_element_by_element():
    x = wp.array([[-7, 7, 4, -4]], dtype=int)
    wp.launch_tiled(of_tiles, dim=[1], inputs=[x], block_dim=32)
    assert x.numpy().tolist() == [[-3 - 1, 3 + 1, 2 + 1, -2 - 1]]


@wp.kernel
def of_vectors(n: wp.array(dtype=wp.vec3i), v: wp.array(dtype=wp.vec2)):
    a, b = wp.vec3i(-7, 7, 8), wp.vec3i(2, -2, 3)
    n[0], n[1], n[2] = a / 2, a % b, wp.cw_div(a, b)
    x = wp.vec2(wp.nan, -5.5)
    v[0], v[1] = wp.min(x, wp.vec2(2.0, wp.nan)), wp.mod(x, wp.vec2(2.0, 2.0))


def test_vectors_compute_component_by_component():
    n, v = wp.zeros(3, dtype=wp.vec3i), wp.zeros(2, dtype=wp.vec2)
    wp.launch(of_vectors, 1, inputs=[n, v])
    assert n.numpy().tolist() == [[-3, 3, 4], [-1, 1, 2], [-3, -3, 2]]
    assert v.numpy()[0].tolist() == [2, -5.5] and v.numpy()[1, 1] == -1.5


@wp.kernel
def factors(
    a: wp.array2d(dtype=float), b: wp.array(dtype=float), u: wp.array2d(dtype=float), x: wp.array2d(dtype=float)
):
    m, right = wp.tile_load(a, shape=(4, 4)), wp.tile_load(b, shape=4)
    upper = wp.tile_cholesky(wp.tile_diag_add(m, right), fill_mode="upper")
    wp.tile_store(u, upper)
    empty = wp.tile_empty(shape=(wp.static(len(right)),), dtype=float)
    empty = wp.tile_cholesky_solve(upper, right, fill_mode="upper")
    wp.tile_store(x[0], empty)
    wp.tile_cholesky_inplace(m)
    wp.tile_lower_solve_inplace(m, right)
    wp.tile_axpy(2.0, right, empty)
    wp.tile_store(x[1], empty)


def test_factors_above_the_diagonal_and_in_place():
    a = np.random.default_rng(1).uniform(size=(4, 4)).astype(np.float32)
    a, b = a @ a.T + np.eye(4, dtype=np.float32), np.arange(1, 5, dtype=np.float32)
    u, x = wp.zeros((4, 4)), wp.zeros((2, 4))
    wp.launch_tiled(factors, dim=[1], inputs=[wp.array(a, dtype=float), wp.array(b, dtype=float), u, x], block_dim=32)
    whole = a + np.diag(b)
    solved = np.linalg.solve(whole, b)
    assert np.allclose(u.numpy(), np.linalg.cholesky(whole).T, atol=1e-5)
    assert np.allclose(x.numpy()[0], solved, atol=1e-5)
    assert np.allclose(x.numpy()[1], solved + 2 * np.linalg.solve(np.linalg.cholesky(a), b), atol=1e-4)


@wp.kernel
def parts_by_name(o: wp.array(dtype=wp.transform), m: wp.array(dtype=wp.vec3)):
    o[0] = wp.transformation(p=wp.vec3(1.0, 2.0, 3.0), q=wp.quaternion(x=0.0, y=0.0, z=1.0, w=0.0))
    o[1] = wp.transform(wp.vec3(1.0, 2.0, 3.0))
    m[0] = wp.mul(wp.identity(n=3, dtype=float) * 2.0, wp.vec3(1.0, 2.0, 3.0))


def test_arguments_have_warp_s_names():
    o, m = wp.zeros(2, dtype=wp.transform), wp.zeros(1, dtype=wp.vec3)
    wp.launch(parts_by_name, 1, inputs=[o, m])
    assert o.numpy().tolist() == [[1, 2, 3, 0, 0, 1, 0], [1, 2, 3, 0, 0, 0, 1]] and m.numpy().tolist() == [[2, 4, 6]]
    assert wp.transform(p=(1, 2, 3), q=(0, 0, 1, 0)) == o.numpy()[0].tolist() == wp.transformation()(*o.numpy()[0])
    with pytest.raises(TypeError, match="has the arguments p and q, and not r"):
        wp.transform(r=1)


def test_named_arguments_of_calls_outside_of_kernels_have_any_order():
    assert (wp.clamp(high=2.0, x=5.0, low=0.0), wp.min(b=1.0, a=2.0), wp.mod(b=3, a=-7)) == (2.0, 1.0, -1)
    assert wp.pow(2.0, y=3.0) == 8.0 and wp.dot(b=wp.vec3(1.0, 0.0, 1.0), a=wp.vec3(1.0, 2.0, 3.0)) == 4.0
    with pytest.raises(TypeError, match=r"clamp\(\) has no further argument x; it takes x, low, high"):
        wp.clamp(1.0, low=0.0, x=2.0)
    with pytest.raises(TypeError, match=r"clamp\(\) has no further argument high"):
        wp.clamp(1.0, high=2.0)
    with pytest.raises(TypeError, match=r"sub\(\) has no further argument a"):
        wp.sub(a=5.0, x=3.0, b=1.0)


def test_backward_may_be_called_inside_of_the_tape():
    x, o = wp.array([1.0, 5.0], dtype=float, requires_grad=True), wp.zeros(2, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(smaller, 2, inputs=[x, wp.full(2, 3.0)], outputs=[o])
        tape.backward(grads={o: wp.ones(2)})
    assert x.grad.numpy().tolist() == [1, 0]


@wp.kernel
def of_loops(v: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    for _ in range(3):
        v[i] = v[i] * 2.0
    else:
        v[i] = v[i] + wp.curlnoise(wp.rand_init(1), v[i])


def test_what_has_no_meaning_of_its_own_is_named_at_its_line():
    with pytest.warns(UserWarning, match="of_loops means something else here than in Warp") as told:
        wp.launch(of_loops, 1, inputs=[wp.zeros(1, dtype=wp.vec3)])
    said = str(told[0].message)
    assert "The else of a loop" in said
    assert len(said.splitlines()) == 2


@wp.func
def half(a: int):
    return a / 2


def test_map_has_the_meaning_of_its_func_and_of_a_builtin():
    assert wp.map(half, wp.array([-7, 7], dtype=int)).numpy().tolist() == [-3, 3]
    assert wp.map(wp.min, wp.array([NAN, 1.0], dtype=float), 2.0).numpy().tolist() == [2, 1]
    assert np.isnan(wb.map(wb.min, wb.array([NAN, 1.0]), 2.0).numpy()).tolist() == [True, False]


def remainder(x: wb.array(dtype=int)):
    i = wb.tid()
    x[i] = x[i] % 3


def test_one_function_may_be_a_kernel_of_both():
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in (wb.kernel, wp.kernel, wb.kernel, wp.kernel):
            x = wb.array([-7], dtype=int)
            wb.launch(make(remainder), 1, [x])
            found.append(int(x.numpy()[0]))
    assert found == [2, -1, 2, -1]


def test_arrays_of_numbers_have_numpys_types():
    assert [a.dtype for a in (wp.array([1.0]), wp.array([1]), wp.array([True]))] == [wb.float64, wb.int64, wb.bool]
    assert wp.array2d([[1.0]]).dtype == wb.float64 and wp.array([[1.0]], dtype=float).dtype == wb.float32
    assert wp.array(dtype=float) == wb.array(dtype=float) and wp.array2d[int] == wb.array2d[int]
    assert isinstance(wb.zeros(3), wp.array) and not isinstance(3, wp.array)
    assert wb.array([1.0]).dtype == wb.float32 and wp.full(2, wp.vec3(1.0, 2.0, 3.0)).dtype == wb.vec3


def test_arrays_made_by_warps_names_divide_as_in_warp():
    a, b = wp.array([7, -7], dtype=int), wp.array([2, 2], dtype=int)
    found = [a / b, a / 2, 7 / b, a // 2, a % 3]
    assert [x.numpy().tolist() for x in found] == [[3, -3], [3, -3], [3, 3], [3, -4], [1, -1]]
    assert (wp.array([7.0, -7.0], dtype=float) % 3.0).numpy().tolist() == [1.0, -1.0]
    assert a.mean().numpy().tolist() == [0.0] and all(x.dtype == wb.int32 for x in found)
    ours = wb.array([7, -7])
    assert [x.numpy().tolist() for x in (ours / 2, ours % 3)] == [[3.5, -3.5], [1, 2]]
    derived = [a.reshape(2, 1), wp.clone(a), a + b, pickle.loads(pickle.dumps(a)), a[::-1], wp.zeros_like(a)]
    assert all(type(x) is type(a) for x in derived) and not hasattr(ours, "ptr")


def test_a_remainder_has_its_gradient():
    x = wp.array([-7.5], dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        y = x % 3.0
    tape.backward(grads={y: wp.array([2.0], dtype=float)})
    assert y.numpy().tolist() == [-1.5] and x.grad.numpy().tolist() == [2.0]


@wp.kernel
def in_warps_words(grid: wp.uint64, x: wp.array(dtype=wp.vec3), group: wp.array(dtype=int), n: wp.array(dtype=int)):
    i = wp.tid()
    query = wp.hash_grid_query(grid, x[i], 0.5, group[i])
    j = 0
    seen = 0
    while seen < 2:
        if not wp.hash_grid_query_next(query, j):
            break
        seen += 1
    wp.atomic_add(n, 0, seen) if seen > 0 else wp.atomic_add(n, 1, 1)
    n[2] = x.shape[3]


@wp.kernel
def with_a_stack(out: wp.array(dtype=int), counts: wp.array(dtype=int)):
    _i, lane = wp.tid()
    s = wp.tile_stack(capacity=4, dtype=int)
    slot = wp.tile_stack_push(s, lane * 10, lane % 2 == 0)
    counts[lane] = 10 * wp.tile_stack_count(s) + slot
    value, place = wp.tile_stack_pop(s)
    if place != -1:
        out[place] = value
    wp.tile_stack_clear(s)


@pytest.fixture
def cpu_blocks():
    wp.config.enable_cpu_blocks = True
    yield
    wp.config.enable_cpu_blocks = False


def test_queries_stacks_and_statements_in_warps_words(cpu_blocks):
    points = wp.array(np.zeros((4, 3)), dtype=wp.vec3)
    grid, groups, n = wp.HashGrid(4, 4, 4), wp.array([0, 0, 0, 1], dtype=int), wp.zeros(3, dtype=int)
    grid.build(points, 1.0, groups)
    wp.launch(in_warps_words, dim=4, inputs=[wp.uint64(grid.id), points, groups, n])
    assert n.numpy().tolist() == [7, 0, 0]
    out, counts = wp.full(4, -1, dtype=int), wp.zeros(12, dtype=int)
    wp.launch_tiled(with_a_stack, dim=[1], inputs=[out, counts], block_dim=12)
    assert out.numpy().tolist() == [0, 20, 40, 60]
    assert counts.numpy().tolist() == [40, 39, 41, 39, 42, 39, 43, 39, 39, 39, 39, 39]


@wp.kernel
def visits(counts: wp.array2d(dtype=int), sizes: wp.array(dtype=int)):
    i, j = wp.tid()
    wp.atomic_add(counts, i, j, 1)
    sizes[0] = wp.block_dim()


@pytest.mark.parametrize("dim, shape, times", [(3, (3, 1), 1), ((2, 3), (2, 3), 1), ((2, 3, 4), (2, 3), 4)])
def test_missing_dimensions_are_1_and_those_without_an_index_repeat_threads(dim, shape, times):
    counts, sizes = wp.zeros(shape, dtype=int), wp.zeros(1, dtype=int)
    wp.launch(visits, dim=dim, inputs=[counts, sizes])
    assert counts.numpy().tolist() == np.full(shape, times).tolist()
    launch = wp.launch(visits, dim=dim, inputs=[counts, sizes], record_cmd=True)
    assert launch.bounds.shape == shape and launch.bounds.coord_mult == times
    with pytest.raises(wb.LaunchError, match="non-negative"):
        launch.set_dim([1, -1])


@wp.kernel
def by_thread(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    total = wp.tile_sum(wp.tile(x[i]))
    if i % 2 == 0:
        y[i] = total[0] * float(wp.block_dim())


def test_a_block_of_the_cpu_has_one_thread_unless_a_program_asks_for_more():
    x, y = wp.array([1.0, 2.0, 3.0], dtype=float), wp.zeros(3)
    wp.launch(by_thread, dim=3, inputs=[x, y], block_dim=64)
    assert y.numpy().tolist() == [1.0, 0.0, 3.0]


@wp.kernel
def by_number(meshes: wp.array(dtype=wp.uint64), t: wp.array(dtype=float)):
    for k in range(meshes.shape[0]):
        mesh = meshes[k]
        hit = wp.mesh_query_ray(mesh, wp.vec3(0.2, 0.2, 9.0), wp.vec3(0.0, 0.0, -1.0), 100.0)
        if hit.result:
            t[k] += hit.t


def test_an_array_may_hold_the_numbers_of_meshes():
    flat = [wp.array([[0, 0, z], [1, 0, z], [0, 1, z]], dtype=wp.vec3) for z in (0.0, 2.0)]
    meshes = [wp.Mesh(points=points, indices=wp.array([0, 1, 2], dtype=int)) for points in flat]
    t = wp.zeros(2)
    wp.launch(by_number, dim=1, inputs=[wp.array([m.id for m in meshes], dtype=wp.uint64), t])
    assert np.allclose(t.numpy(), [9.0, 7.0])


@wp.kernel
def in_blocks(bvh: wp.uint64, counts: wp.array(dtype=int)):
    query = wp.tile_bvh_query_aabb(bvh, wp.vec3(-1.0, -1.0, -1.0), wp.vec3(2.5, 2.0, 2.0))
    while wp.tile_query_valid(query):
        k = wp.untile(wp.tile_bvh_query_next(query))
        if k >= 0:
            wp.atomic_add(counts, k, 1)


def test_a_block_asks_a_tree_for_each_item_once():
    lowers = wp.array([[0, 0, 0], [2, 0, 0], [4, 0, 0]], dtype=wp.vec3)
    uppers = wp.array([[1, 1, 1], [3, 1, 1], [5, 1, 1]], dtype=wp.vec3)
    bvh, counts = wp.Bvh(lowers, uppers), wp.zeros(3, dtype=int)
    wp.launch_tiled(in_blocks, dim=1, inputs=[bvh.id], outputs=[counts], block_dim=4)
    assert counts.numpy().tolist() == [1, 1, 0]


@wp.kernel
def field(at: wp.array(dtype=wp.vec2), out: wp.array(dtype=wp.vec2), height: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(3)
    out[i] = wp.curlnoise(state, at[i], wp.uint32(1), 2.0, 0.5)
    height[i] = wp.noise(state, at[i])


def test_curlnoise_is_the_rotated_gradient_of_noise():
    at = wp.array(np.random.default_rng(0).random((5, 2)), dtype=wp.vec2, requires_grad=True)
    out, height = wp.zeros(5, dtype=wp.vec2), wp.zeros(5, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(field, dim=5, inputs=[at, out], outputs=[height])
    tape.backward(grads={height: wp.ones(5)})
    slope = at.grad.numpy()
    assert np.allclose(out.numpy(), np.stack([-slope[:, 1], slope[:, 0]], 1), atol=1e-5) and slope.any()


@wp.kernel
def of_blocks(mesh: wp.uint64, t: wp.array(dtype=float)):
    i = wp.tid()
    hit = wp.mesh_query_ray(mesh, wp.vec3(0.2, 0.2, 1.0), wp.vec3(0.0, 0.0, -1.0), 9.0)
    wp.tile_store(t, wp.tile_full((1,), hit.t, dtype=float), offset=i)


def test_blocks_take_the_numbers_of_meshes():
    corners = wp.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=wp.vec3)
    mesh, t = wp.Mesh(points=corners, indices=wp.array([0, 1, 2], dtype=int)), wp.zeros(2)
    wp.launch_tiled(of_blocks, dim=[2], inputs=[mesh.id], outputs=[t], block_dim=4)
    assert t.numpy().tolist() == [1.0, 1.0]


@wp.struct
class Scene:
    id: wp.uint64
    scale: wp.array(dtype=float)
    shift: int


@wp.kernel
def seen(scene: Scene, t: wp.array(dtype=float)):
    i = wp.tid()
    hit = wp.mesh_query_ray(scene.id, wp.vec3(0.2, 0.2, 1.0), wp.vec3(0.0, 0.0, -1.0), 9.0)
    if hit.result:
        t[i] = hit.t * scene.scale[i] + float(scene.shift)


def test_a_struct_may_hold_the_number_of_a_mesh():
    corners = wp.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=wp.vec3)
    mesh, t = wp.Mesh(points=corners, indices=wp.array([0, 1, 2], dtype=int)), wp.zeros(2, requires_grad=True)
    scene = Scene()
    scene.id, scene.scale, scene.shift = mesh.id, wp.array([1.0, 2.0], dtype=float, requires_grad=True), 3
    with wp.Tape() as tape:
        wp.launch(seen, dim=2, inputs=[scene], outputs=[t])
    tape.backward(grads={t: wp.ones(2)})
    assert t.numpy().tolist() == [4.0, 5.0] and scene.scale.grad.numpy().tolist() == [1.0, 1.0]


def test_numbers_of_warps_types_wrap_around_and_are_equal_types():
    assert [int(wp.int8(200)), int(wp.uint8(-1)), wp.float32(1.5).value] == [-56, 255, 1.5]
    assert wp.int8 == wb.int8 and hash(wp.int8) == hash(wb.int8) and wp.zeros(1, dtype=wp.int8).dtype is wp.int8
    kinds = (
        wp.clone(wp.ones(2)).dtype,
        wp.ones((2, 2))[0].dtype,
        wp.dtype_from_numpy(np.float32),
        wp.types.float_types[-2],
    )
    assert all(kind is wp.float32 for kind in kinds) and wp.array([True]).dtype is wp.bool
    assert wp.sin(1.23) == float(np.sin(np.float32(1.23))) and wp.mul(2**20, 2**20) == 0
    with pytest.raises(OverflowError):
        wb.int8(200)


def test_a_view_has_its_part_of_the_gradient_and_copies_count_elements():
    x, y = wp.zeros(6, requires_grad=True), wp.zeros((2, 3))
    x.grad.fill_(2.0)
    assert x[::2].grad.numpy().tolist() == [2.0, 2.0, 2.0]
    wp.copy(y, x)
    wp.copy(x, wp.ones(3)[::2], dest_offset=1, count=2)
    assert y.shape == (2, 3) and x.numpy().tolist() == [0, 1, 1, 0, 0, 0]


@wp.func
def put(a: wp.array(dtype=float), i: int, v: float):
    wp.atomic_add(a, i, v)


@wp.kernel
def behind_a_flag(flag: int, a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    if flag > 0:
        put(a, i, 1.0)
    put(b, i, 2.0)


def test_no_array_may_be_handed_on_behind_a_flag():
    b = wp.zeros(3)
    wp.launch(behind_a_flag, dim=3, inputs=[0, None, b])
    assert b.numpy().tolist() == [2.0, 2.0, 2.0]


@wp.kernel
def set_in_some_rounds(ids: wp.array(dtype=int), w: wp.array(dtype=float), out: wp.array(dtype=float), n: int):
    before = -1
    for j in range(n):
        c = ids[j]
        if c != before:
            before = c
            v = w[c] * 2.0
            u = wp.vec3(v)
        out[j] = v + u[1]


def test_a_name_keeps_the_value_of_an_earlier_round():
    ids, w = wp.array([0, 0, 1, 1, 1, 2, 0], dtype=int), wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True)
    out = wp.zeros(7, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(set_in_some_rounds, 1, inputs=[ids, w, out, 7])
    out.grad.fill_(1.0)
    tape.backward()
    assert out.numpy().tolist() == [4, 4, 8, 8, 8, 12, 4] and w.grad.numpy().tolist() == [12, 12, 4]


@wp.kernel
def set_in_some_rounds_of_tiles(ids: wp.array(dtype=int), w: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    before = -1
    for j in range(ids.shape[0]):
        c = ids[j]
        if c != before:
            before = c
            row = wp.tile_load(w[c], shape=4)
        wp.tile_store(out[j], row)


def test_a_tile_keeps_the_elements_of_an_earlier_round():
    ids, w = wp.array([0, 0, 1, 2, 2, 0], dtype=int), np.arange(12, dtype=np.float32).reshape(3, 4)
    out = wp.zeros((6, 4), dtype=float)
    wp.launch_tiled(set_in_some_rounds_of_tiles, dim=[1], inputs=[ids, wp.array(w), out], block_dim=4)
    assert np.array_equal(out.numpy(), w[ids.numpy()])


@wp.kernel
def read_behind_a_loop(a: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    at = 3
    for _ in range(2):
        while at >= 0:
            s = at + 10
            if a[at] <= i:
                break
            at -= 1
        if at >= 0 and a[s - 10] == i:
            out[i] += s


def test_a_name_that_only_a_loop_sets_is_read_behind_it():
    out = wp.zeros(4, dtype=int)
    wp.launch(read_behind_a_loop, 4, inputs=[wp.array([0, 1, 2, 3], dtype=int), out])
    assert out.numpy().tolist() == [20, 22, 24, 26]


@wp.kernel
def summed_vectors(x: wp.array(dtype=wp.vec2), out: wp.array(dtype=float)):
    total = wp.tile_reduce(wp.add, wp.tile_load(x, shape=4))[0]
    s = wp.tile_sum(wp.tile_load(x, shape=4))
    v = s[0]
    out[0] = total[1]
    out[1] = v[0]


def test_the_sum_of_vectors_is_a_tile_of_one_vector():
    out = wp.zeros(2, dtype=float)
    x = wp.array(np.arange(8, dtype=np.float32).reshape(4, 2), dtype=wp.vec2)
    wp.launch_tiled(summed_vectors, dim=[1], inputs=[x, out], block_dim=4)
    assert out.numpy().tolist() == [16, 12]


@wp.kernel
def tiles_of_draws(x: wp.array2d(dtype=int), y: wp.array2d(dtype=float), z: wp.array2d(dtype=float)):
    i = wp.tid()
    rng = wp.rand_init(42, i)
    wp.tile_store(x[i], wp.tile_randi(shape=3, rng=rng, storage="shared"))
    wp.tile_store(y[i], wp.tile_randf(shape=3, rng=rng, min=-5.0, max=5.0))
    wp.tile_store(z[i], wp.tile_from_thread(shape=2, value=float(i) + 0.5, thread_idx=0, storage="shared"))


def test_tiles_of_draws():
    x, y, z = wp.zeros((2, 3), dtype=int), wp.zeros((2, 3), dtype=float), wp.zeros((2, 2), dtype=float)
    wp.launch_tiled(tiles_of_draws, dim=[2], inputs=[x, y, z], block_dim=4)
    integers = [[798497746, -1161279442, -169969590], [-955788638, -592663987, -1145120241]]
    floats = [[-3.140852928, 2.296185493, 4.604258537], [2.774630547, 3.620096207, 2.333808899]]
    assert x.numpy().tolist() == integers and np.allclose(y.numpy(), floats, rtol=1e-7)
    assert z.numpy().tolist() == [[0.5, 0.5], [1.5, 1.5]]


@wp.kernel
def parts_of_vectors(x: wp.array(dtype=wp.quat), y: wp.array(dtype=wp.quat), same: wp.array(dtype=bool)):
    v = wp.vec4(1.0, 2.0, 3.0, 4.0)
    m = wp.matrix_from_rows(v)
    same[0] = v[7:] == nothing()
    same[1] = m[0] == v
    v[9:] = wp.vec4(0.0)
    same[2] = v == wp.vec4(1.0, 2.0, 3.0, 4.0)
    y[0] = 1.0 / x[0]


nothing = wp.types.vector(0, float)


def test_slices_without_components_and_numbers_over_quaternions():
    x, y = wp.array([wp.quat(1.0, 2.0, 4.0, 8.0)], dtype=wp.quat), wp.zeros(1, dtype=wp.quat)
    same = wp.zeros(3, dtype=bool)
    wp.launch(parts_of_vectors, 1, inputs=[x, y, same])
    assert y.numpy().tolist() == [[1.0, 0.5, 0.25, 0.125]] and same.numpy().all()


@wp.func
def mul(a: float, b: float):
    return a + 10.0 * b


@wp.kernel
def with_own_names(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = mul(x[i], 2.0) + wp.mul(x[i], 2.0)


def test_a_func_of_the_user_s_keeps_its_meaning_under_a_name_of_warp_s():
    x, y = wp.array([1.0, 3.0], dtype=float), wp.zeros(2)
    wp.launch(with_own_names, 2, [x], [y])
    assert y.list() == [1.0 + 20.0 + 2.0, 3.0 + 20.0 + 6.0]


@wp.kernel
def with_local_sizes(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    n = i + 1
    y[i] = x[i] * float(wp.static(n))
    for k in range(3):
        y[i] += float(wp.static(k * k))


def test_static_of_a_local_is_its_value_and_loops_over_one_are_unrolled():
    x, y = wp.array([1.0, 3.0], dtype=float), wp.zeros(2)
    wp.launch(with_local_sizes, 2, [x], [y])
    assert y.list() == [1.0 + 5.0, 6.0 + 5.0]


@wp.struct
class Lookup:
    tree: wp.uint64
    least: float


@wp.struct
class World:
    lookup: Lookup
    mesh: wp.uint64


@wp.func
def boxes_of(lookup: Lookup, p: wp.vec3):
    count = 0
    if lookup.tree != wp.uint64(0):
        query, item = wp.bvh_query_aabb(lookup.tree, p, p), 0
        while wp.bvh_query_next(query, item):
            count += 1
    return count


@wp.kernel
def looks_up(world: World, p: wp.array(dtype=wp.vec3), o: wp.array2d(dtype=float)):
    i = wp.tid()
    moved = World(Lookup(world.lookup.tree, world.lookup.least + 1.0), world.mesh)
    o[i, 0], o[i, 1] = float(boxes_of(moved.lookup, p[i])), moved.lookup.least
    if wp.mesh_query_point_no_sign(moved.mesh, p[i], 9.0).result:
        o[i, 2] = 1.0


def test_numbers_of_trees_and_meshes_in_nested_structs_stand_for_these():
    low, high = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0]]), np.array([[1, 1, 1], [2, 1, 1], [3, 3, 3]])
    tree = wp.Bvh(wp.array(low, dtype=wp.vec3), wp.array(high, dtype=wp.vec3))
    corners = wp.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=wp.vec3)
    mesh = wp.Mesh(corners, wp.array([0, 1, 2], dtype=int))
    world = World()
    world.lookup.tree, world.lookup.least, world.mesh = tree.id, 2.0, mesh.id
    p = np.array([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5], [2.5, 2.5, 2.5], [9, 9, 9]])
    o = wp.zeros((4, 3), dtype=float)
    wp.launch(looks_up, 4, inputs=[world, wp.array(p, dtype=wp.vec3)], outputs=[o])
    inside = ((low <= p[:, None]) & (p[:, None] <= high)).all(2).sum(1)
    assert o.numpy()[:, 0].tolist() == inside.tolist() and (o.numpy()[:, 1] == 3).all()
    assert o.numpy()[:, 2].tolist() == [1, 1, 1, 0]


@wp.kernel
def through_views(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    a, b = wp.tile_load(x, shape=(4, 8)), wp.tile_zeros(shape=(4, 8), dtype=float)
    for k in range(4):
        row = b[3 - k]
        wp.tile_assign(row, a[k])
    wp.tile_store(y, b)


@wp.kernel
def assigned_row_of_another_number(k: int, o: wp.array[float]):
    t = wp.tile_zeros(shape=(4, 2), dtype=float)
    row = t[k]
    k += 1
    wp.tile_assign(row, wp.tile_ones(shape=(2,), dtype=float))
    o[0] = t[1, 0]


def test_tile_assign_is_refused_where_the_index_has_changed():
    with pytest.raises(wb.KernelTypeError, match="a part of t, and tiles are values"):
        wp.launch_tiled(assigned_row_of_another_number, 1, [1, wp.zeros(1)])


def test_tile_assign_writes_through_a_row():
    x, y = wp.array(np.arange(32).reshape(4, 8), dtype=float), wp.zeros((4, 8))
    wp.launch_tiled(through_views, 1, inputs=[x], outputs=[y], block_dim=32)
    assert np.array_equal(y.numpy(), x.numpy()[::-1])


def test_modules_of_kernels_say_whether_gradients_exist_and_list_what_they_hold():
    module = wp.get_module("tests.of_a_module")
    module.options["enable_backward"] = False

    @wp.kernel(module="tests.of_a_module")
    def plain(x: wp.array(dtype=float)):
        x[wp.tid()] *= 2.0

    @wp.kernel(module=module, enable_backward=True)
    def smooth(x: wp.array(dtype=float)):
        x[wp.tid()] *= 2.0

    assert not plain.enable_backward and smooth.enable_backward and plain.module is smooth.module is module
    assert module.kernels == {"plain": plain, "smooth": smooth}


def test_a_map_returns_its_kernel_and_integers_have_a_gradient_of_0():
    with pytest.warns(UserWarning, match="only floats have one"):
        x, y = wp.array([1, 2], dtype=int, requires_grad=True), wp.zeros(2, dtype=int)
    kernel = wp.map(wp.bit_and, x, x, return_kernel=True)
    wp.launch(kernel, 2, inputs=[x, wp.array([1, 3], dtype=int)], outputs=[y])
    assert y.numpy().tolist() == [1, 2] and x.grad.numpy().tolist() == [0, 0]
    v = wp.vec3(1.0, 2.0, 3.0)
    assert wp.vec3.from_ptr(v.ctypes.data) == v
    with pytest.raises(RuntimeError):
        wp.vec3.from_ptr(0)
