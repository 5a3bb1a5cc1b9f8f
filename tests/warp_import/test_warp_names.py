"""`import workbench.compat.warp as wp`: Warp's names, what has no effect, and the guide's table of them."""

from __future__ import annotations

import ctypes
from importlib.machinery import PathFinder
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
import workbench.compat.warp as wp
from workbench.compat.warp import absent
from workbench.compat.warp.names import TABLE, page

ROOT = Path(__file__).parents[2]


@wp.kernel
def double(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 2.0 * x[i]


def test_the_guide_has_the_table():
    assert page() in (ROOT / "docs" / "guide" / "from-warp.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(TABLE))
def test_each_row_is_a_name_and_says_what_is_ours(name):
    assert getattr(wp, name) is TABLE[name].value and name in dir(wp)
    ours = TABLE[name].ours.removeprefix("with ").split("(")[0]
    if ours.startswith("wb."):
        found = wb
        for part in ours.split(".")[1:]:
            found = getattr(found, part)
    assert TABLE[name].ours or TABLE[name].remark


def test_all_other_names_are_workbench_s_and_absent_ones_are_refused_with_advice():
    assert wp.vec3 == wb.vec3 and wp.tid is wb.tid and wp.pi == wb.pi
    assert (
        wp.sin(0.5) == pytest.approx(np.sin(0.5))
        and type(wp.sin(0.5)) is float
        and wp.sign is not wb.sign
        and wp.noise is not wb.noise
    )
    wide, determinant = wp.sin(wp.float64(0.5)), wp.determinant(wp.mat22d(1, 2, 3, 4))
    assert isinstance(wide, wp.float64) and isinstance(determinant, wp.float64) and type(wp.abs(wp.int32(-3))) is int
    with pytest.raises(NotImplementedError, match=r"wp\.Volume is not in Workbench.*geometry"):
        wp.Volume(None)
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        wp.no_such_name  # noqa: B018


def test_components_are_the_numbers_of_python_or_of_warp_and_products_are_those_of_warp():
    v, m = wp.vec2(1.0, 0.1), wp.mat22(1.0, 2.0, 3.0, 4.0)
    assert type(v[0]) is float and v.y == float(np.float32(0.1)) and type(wp.vec3i(1, 2, 3)[0]) is int
    assert isinstance(wp.vec3d(1.0, 2.0, 3.0)[0], wp.float64)
    assert wp.vec2b(200, -129)[0] == ctypes.c_int8(200).value and wp.vec2b(200, -129).y == ctypes.c_int8(-129).value
    np.testing.assert_allclose(m * v, np.array(m) @ np.array(v))
    assert wp.zeros(2, dtype=wp.vec3).dtype is wp.vec3


@wp.struct
class Factors:
    x: wp.array[float]
    scale: float


@wp.kernel
def multiply(f: Factors, y: wp.array[float]):
    i = wp.tid()
    y[i] = f.scale * f.x[i] * f.x[i]


def test_a_launch_is_set_by_hand_and_reads_the_fields_of_its_structs_when_it_runs():
    f, y = Factors(), wp.zeros(3, dtype=float)
    f.x, f.scale = wp.array([1.0, 2.0, 3.0], dtype=float), 2.0
    command = wp.Launch(multiply, "cpu")
    command.set_dim(3)
    command.set_param_by_name("f", f)
    command.set_param_at_index(1, y)
    command.launch()
    assert y.list() == [2.0, 8.0, 18.0]
    f.scale = 3.0
    command.launch()
    assert y.list() == [3.0, 12.0, 27.0]


def test_a_tape_has_scopes_and_gradients_of_structs():
    f, y = Factors(), wp.zeros(2, dtype=float, requires_grad=True)
    f.x, f.scale = wp.array([1.0, 3.0], dtype=float, requires_grad=True), 2.0
    with wp.Tape() as tape:
        tape.record_scope_begin("squares")
        wp.launch(multiply, 2, inputs=[f], outputs=[y])
        tape.record_scope_end()
    tape.backward(grads={y: wp.ones_like(y)})
    assert tape.gradients[f].x.list() == [4.0, 12.0]
    assert [scope[:2] for scope in tape.scopes] == [(0, "squares"), (1, None)]
    with pytest.raises(RuntimeError, match="scope"):
        tape.record_scope_end()


def test_hints_and_settings_are_accepted_and_mentioned_once_where_they_are_given(recwarn, monkeypatch):
    monkeypatch.setattr(absent, "_MENTIONED", set())
    for _ in range(2):
        wp.init()
        wp.load_module()
        wp.config.max_unroll = 4
        wp.config.max_unroll = 16
        wp.config.quiet = True
        wp.kernel(module="unique", launch_bounds=64)(smooth)
        wp.launch(double, 1, [wp.ones(1)], [wp.zeros(1)], max_blocks=3)
        renderer = wp.render.UsdRenderer("stage.usd")
        renderer.begin_frame(0.0)
        renderer.render_sphere("ball", (0, 0, 0), radius=1.0)
    said = [str(w.message) for w in recwarn.list]
    assert [s.split(" has no effect")[0] for s in said] == [
        "wp.load_module()", "wp.config.max_unroll", "wp.kernel(launch_bounds=…)",
        "wp.launch(max_blocks=…)", "warp.render",
    ]  # fmt: skip
    assert all(w.filename == __file__ for w in recwarn.list)


def smooth(x: wp.array(dtype=float)):
    x[wp.tid()] *= 0.5


def test_settings_that_mean_something():
    assert wp.config.mode == "release" and wp.config.enable_backward and not wp.config.verify_autograd_array_access
    before = wb.set_checks(False)
    try:
        wp.config.mode = "debug"
        assert wb.set_checks(True)
        wp.config.enable_backward = False
        assert not wp.kernel(smooth).enable_backward and wp.kernel(enable_backward=True)(smooth).enable_backward
    finally:
        wp.config.mode, wp.config.enable_backward = "release", True
        wb.set_checks(before)


def test_captures_in_both_spellings():
    x, y = wp.array([1.0, 2.0], dtype=float), wp.zeros(2)
    with wp.ScopedCapture() as capture:
        wp.launch(double, 2, inputs=[x], outputs=[y])
    assert y.numpy().tolist() == [0, 0]
    wp.capture_launch(capture.graph)
    assert y.numpy().tolist() == [2, 4]
    wp.capture_begin()
    wp.launch(double, 2, inputs=[y], outputs=[x])
    graph = wp.capture_end()
    wp.capture_launch(graph)
    assert x.numpy().tolist() == [4, 8]
    with pytest.raises(wb.LaunchError, match="no open capture"):
        wp.capture_end()


@wp.kernel
def neighbours(grid: wp.uint64, x: wp.array(dtype=wp.vec3), o: wp.array(dtype=int)):
    i = wp.tid()
    p = wp.vec3(0.1 * float(i), 0.0, 0.0)
    for j in wp.hash_grid_query(grid, p, 0.15):
        if wp.length(x[j] - p) < 0.15:
            o[i] += 1


@pytest.mark.parametrize("built", ["before", "inside", "again", "after"])
def test_a_capture_finds_the_points_of_a_grid_with_fewer_points_than_threads(built):
    x = np.random.default_rng(3).random((7, 3)).astype(np.float32) * np.float32(0.4)
    points, few, o = wp.array(x, dtype=wp.vec3), wp.array(x[:2], dtype=wp.vec3), wp.zeros(20, dtype=int)
    grid = wp.HashGrid(4, 4, 4)
    if built in ("before", "again"):
        grid.build(points, 0.2)
    with wp.ScopedCapture() as capture:
        if built == "inside":
            grid.build(points, 0.2)
        wp.launch(neighbours, 20, inputs=[grid.id, points, o])
    if built in ("again", "after"):
        grid.build(few if built == "again" else points, 0.2)
    wp.capture_launch(capture.graph)
    x = x[:2] if built == "again" else x
    apart = np.linalg.norm(x[None] - np.outer(np.arange(20) * 0.1, [1, 0, 0])[:, None], axis=-1)
    assert o.numpy().tolist() == (apart < 0.15).sum(1).tolist()


def test_a_timer_prints_and_keeps_its_time(capsys):
    times: dict[str, list[float]] = {}
    for active in (True, False):
        with wp.ScopedTimer("step", active=active, dict=times) as timer:
            pass
    assert capsys.readouterr().out.startswith("step took ") and len(times["step"]) == 1 and timer.elapsed == 0


def test_arrays_made_after_another_have_a_gradient_if_it_has():
    x = wp.ones(2, requires_grad=True)
    made = [wp.clone(x), wp.zeros_like(x), wp.ones_like(x), wp.empty_like(x), wp.full_like(x, 3.0)]
    assert all(a.requires_grad for a in made) and made[-1].numpy().tolist() == [3, 3]
    assert not wp.clone(x, requires_grad=False).requires_grad and not wp.zeros_like(wp.ones(2)).requires_grad


def test_map_of_several_results_is_a_list():
    @wp.func
    def both(a: float):
        return a, a + 1.0

    found = wp.map(both, wp.ones(2))
    assert isinstance(found, list) and [f.numpy().tolist() for f in found] == [[1, 1], [2, 2]]


def test_devices():
    assert wp.get_device("cpu").is_cpu and wp.is_cpu_available()
    assert wp.get_cuda_device_count() == len(wp.get_cuda_devices()) == len(wb.get_devices()) - 1
    assert wp.is_cuda_available() == bool(wp.get_cuda_devices())


def test_the_default_device_can_be_set(monkeypatch):
    monkeypatch.setenv("WORKBENCH_DEVICE", "emulated:1")
    wp.set_device("cpu")
    assert wp.zeros(1).device == wp.get_device("cpu") == wp.get_preferred_device()


def test_warp_s_assets_need_warp(monkeypatch):
    monkeypatch.setattr(PathFinder, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install warp-lang==1\.19"):
        wp.examples.get_asset_directory()


def test_tiles_in_a_launch_of_threads_of_several_dimensions():
    x, total = wp.array(np.arange(64.0).reshape(4, 2, 8), dtype=float), wp.zeros(1)
    wp.launch(summed, (4, 2, 8), inputs=[x, total], block_dim=32)
    i, j, k = np.indices((4, 2, 8))
    assert total.numpy()[0] == (x.numpy() * (100 * i + 10 * j + k)).sum()


@wp.kernel
def summed(x: wp.array3d(dtype=float), total: wp.array(dtype=float)):
    i, j, k = wp.tid()
    weight = float(100 * i + 10 * j + k)
    wp.tile_atomic_add(total, wp.tile_sum(wp.tile(x[i, j, k] * weight)))


@wp.func
def depth(mesh: wp.uint64, x: wp.vec3):
    query = wp.mesh_query_ray(mesh, x, wp.vec3(0.0, 0.0, -1.0), 10.0)
    return query.t


@wp.kernel
def asked(
    mesh: wp.uint64, bvh: wp.uint64, x: wp.array(dtype=wp.vec3), t: wp.array(dtype=float), n: wp.array(dtype=int)
):
    i = wp.tid()
    t[i] = depth(mesh, x[i])
    query = wp.bvh_query_aabb(bvh, x[i] - wp.vec3(1.0), x[i])
    item = 0
    while wp.bvh_query_next(query, item):
        n[i] += item
    for face in wp.mesh_query_aabb(mesh, x[i] - wp.vec3(3.0), x[i]):
        n[i] += 100 * (face + 1)


def test_kernels_take_the_numbers_of_meshes_and_trees():
    corners = wp.array([[0, 0, 0], [2, 0, 0], [0, 2, 0]], dtype=wp.vec3)
    mesh = wp.Mesh(points=corners, indices=wp.array([0, 1, 2], dtype=int), bvh_constructor="sah")
    low = wp.array([[5, 0, 0], [0.2, 0.2, 1.5], [0, 0, 9]], dtype=wp.vec3)
    bvh = wp.Bvh(low, low, constructor=None)
    t, n = wp.zeros(1), wp.zeros(1, dtype=int)
    wp.launch(asked, dim=1, inputs=[mesh.id, bvh.id, wp.array([[0.5, 0.5, 2.0]], dtype=wp.vec3), t, n])
    assert t.numpy().tolist() == [2.0] and n.numpy().tolist() == [101]
    with pytest.raises(NotImplementedError, match="a mesh of each group"):
        wp.Mesh(corners, wp.array([0, 1, 2], dtype=int), groups=wp.zeros(1, dtype=int))
