"""Neighbours in a grid of cells: beside SciPy's tree, periodic, rebuilt, differentiated, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

import workbench as wb
from workbench.errors import KernelSyntaxError, KernelTypeError, LaunchError

DEVICES = ("cpu", pytest.param("emulated", marks=pytest.mark.slow))


@wb.kernel
def neighbours(grid: wb.HashGrid, x: wb.array[wb.vec3d], r: wb.float64, count: wb.array[int], sums: wb.array[int]):
    i = wb.tid()
    n, s = 0, 0
    for j in wb.hash_grid_query(grid, x[i], r):
        if wb.length(wb.hash_grid_offset(grid, x[i], x[j])) < r:
            n += 1
            s += j
    count[i], sums[i] = n, s


@wb.kernel
def ways_out(grid: wb.HashGrid, x: wb.array[wb.vec3], first: wb.array[int], odd: wb.array[int], none: wb.array[int]):
    i = wb.tid()
    for j in wb.hash_grid_query(grid, x[i], 0.2):
        if j == i or wb.length(x[i] - x[j]) > 0.2:
            continue
        if j % 2 == 1:
            odd[i] += 1
        if first[i] < 0:
            first[i] = j
        if odd[i] == 2:
            break
    else:
        none[i] = 1


@wb.kernel
def repulsion(grid: wb.HashGrid, x: wb.array[wb.vec3d], r: wb.float64, energy: wb.array[wb.float64]):
    i = wb.tid()
    for j in wb.hash_grid_query(grid, x[i], r):
        d = wb.length(wb.hash_grid_offset(grid, x[i], x[j]))
        if j != i and d < r:
            energy[0] += (r - d) * (r - d)


def found(grid, points, radius):
    x = wb.array(points, dtype=wb.vec3d, device=grid.device)
    count, sums = (wb.zeros(len(points), dtype=int, device=grid.device) for _ in range(2))
    wb.launch(neighbours, len(points), [grid, x, radius], [count, sums])
    return count.numpy(), sums.numpy()


def check(grid, points, radius, box=None):
    tree = cKDTree(points if box is None else points % box, boxsize=box)
    lists = tree.query_ball_point(points if box is None else points % box, radius)
    count, sums = found(grid, points, radius)
    np.testing.assert_array_equal(count, [len(near) for near in lists])
    np.testing.assert_array_equal(sums, [sum(near) for near in lists])


@pytest.mark.parametrize("device", DEVICES)
def test_neighbours_are_those_of_a_tree(device):
    rng = np.random.default_rng(5)
    points = rng.standard_normal((400, 3)) * [1.0, 0.3, 2.0]
    grid = wb.HashGrid(5, 9, 4, device=device)
    grid.build(wb.array(points, dtype=wb.vec3d, device=device), 0.31)
    for radius in (0.05, 0.31, 0.9, 30.0):  # within a cell, as wide as one, some cells, more than the grid has
        check(grid, points, radius)
    points = rng.integers(-3, 4, (300, 3)) * 0.5  # on the edges of cells, and many at one place
    grid.build(wb.array(points, dtype=wb.vec3d, device=device), 0.5)
    check(grid, points, 0.5000001)


@pytest.mark.parametrize("device", DEVICES)
def test_space_that_repeats(device):
    rng = np.random.default_rng(6)
    box = np.array([1.0, 2.0, 0.7])
    points = rng.random((300, 3)) * box * 3 - box  # some outside of the box
    grid = wb.HashGrid(6, 7, 3, device=device, period=box)
    grid.build(wb.array(points, dtype=wb.vec3d, device=device))
    for radius in (0.1, 0.3):
        check(grid, points, radius, box)


@pytest.mark.parametrize("device", DEVICES)
def test_a_loop_over_neighbours_can_be_left(device):
    points = np.random.default_rng(7).random((200, 3)).astype(np.float32)
    x = wb.array(points, dtype=wb.vec3, device=device)
    first, odd, none = wb.full(200, -1, device=device), wb.zeros(200, int, device), wb.zeros(200, int, device)
    grid = wb.HashGrid(8, 8, 8, device=device)
    grid.build(x, 0.2)
    wb.launch(ways_out, 200, [grid, x], [first, odd, none])
    near = [set(ball) - {i} for i, ball in enumerate(cKDTree(points).query_ball_point(points, 0.2))]
    np.testing.assert_array_equal(odd.numpy(), [min(2, sum(j % 2 for j in ball)) for ball in near])
    np.testing.assert_array_equal(none.numpy(), odd.numpy() < 2)
    assert all(f in ball or (f == -1 and not ball) for f, ball in zip(first.numpy(), near, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_gradients_flow_through_the_particles(device):
    points = np.random.default_rng(8).random((60, 3))
    x = wb.array(points, dtype=wb.vec3d, device=device, requires_grad=True)
    grid, radius = wb.HashGrid(4, 4, 4, device=device, period=(1.0, 1.0, 1.0)), 0.3
    energy = wb.zeros(1, wb.float64, device, requires_grad=True)
    with wb.Tape() as tape:
        grid.build(x)
        wb.launch(repulsion, 60, [grid, x, radius], [energy])
    tape.backward(energy)
    offsets = points[:, None] - points[None]
    offsets -= np.round(offsets)
    d = np.linalg.norm(offsets, axis=2) + np.eye(60)
    near = d < radius
    assert float(energy) == pytest.approx(np.sum(near * (radius - d) ** 2))
    expected = np.sum((near * -4 * (radius - d) / d)[..., None] * offsets, axis=1)
    np.testing.assert_allclose(x.grad.numpy(), expected, atol=1e-12)


def test_gradients_through_steps_that_move_the_particles_and_build_again():
    @wb.kernel
    def push(grid: wb.HashGrid, x: wb.array[wb.vec3d], v: wb.array[wb.vec3d]):
        i = wb.tid()
        for j in wb.hash_grid_query(grid, x[i], 0.25):
            d = x[i] - x[j]
            near = wb.length(d)
            if j != i and near < 0.25:
                v[i] += (0.25 - near) * d

    @wb.kernel
    def move(x: wb.array[wb.vec3d], v: wb.array[wb.vec3d]):
        x[wb.tid()] += 0.5 * v[wb.tid()]

    rng = np.random.default_rng(12)
    points, way = rng.random((40, 3)), rng.standard_normal((40, 3)) * 0.1
    grid = wb.HashGrid(4, 4, 4)

    def end(start):
        x = wb.clone(start, requires_grad=True)
        v = wb.array(way, dtype=wb.vec3d, requires_grad=True)
        for _ in range(4):
            grid.build(x, 0.25)
            wb.launch(push, 40, [grid, x], [v])
            wb.launch(move, 40, [x, v])
        return (x.view(wb.float64).flatten() ** 2).sum()

    start = wb.array(points, dtype=wb.vec3d, requires_grad=True)
    with wb.Tape() as tape:
        loss = end(start)
    tape.backward(loss)
    nudge = rng.standard_normal((40, 3))
    step = 1e-6
    ends = [float(end(wb.array(points + s * step * nudge, dtype=wb.vec3d, requires_grad=True))) for s in (1, -1)]
    assert np.sum(start.grad.numpy() * nudge) == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)


@pytest.mark.slow
def test_a_graph_builds_it_again():
    rng = np.random.default_rng(9)
    x = wb.array(rng.random((50, 3)), dtype=wb.vec3d)
    count, sums = wb.zeros(50, dtype=int), wb.zeros(50, dtype=int)
    grid = wb.HashGrid(4, 4, 4)
    grid.build(x, 0.25)
    with wb.capture() as graph:
        grid.build(x, 0.25)
        wb.launch(neighbours, 50, [grid, x, 0.25], [count, sums])
    moved = rng.random((50, 3))
    x[...] = moved
    graph.launch()
    np.testing.assert_array_equal(count.numpy(), [len(b) for b in cKDTree(moved).query_ball_point(moved, 0.25)])


@pytest.mark.slow
def test_fewer_points_and_none():
    grid = wb.HashGrid(4, 4, 4)
    points = np.random.default_rng(10).random((30, 3))
    grid.build(wb.array(points, dtype=wb.vec3d), 0.25)
    grid.build(wb.array(points[:7], dtype=wb.vec3d))
    check(grid, points[:7], 0.25)
    grid.build(wb.zeros(0, dtype=wb.vec3))
    assert found(grid, points[:3], 0.5)[0].tolist() == [0, 0, 0]
    assert grid.starts.numpy().max() == 0


@pytest.mark.slow
def test_points_in_the_order_of_cells():
    @wb.kernel
    def order(grid: wb.HashGrid, out: wb.array[int]):
        out[wb.tid()] = wb.hash_grid_point_id(grid, wb.tid())

    grid, out = wb.HashGrid(3, 1, 1), wb.zeros(3, dtype=int)
    grid.build(wb.array([[2.5, 0, 0], [0.5, 0, 0], [1.5, 0, 0]], dtype=wb.vec3), 1.0)
    wb.launch(order, 3, [grid], [out])
    assert out.numpy().tolist() == [1, 2, 0] and grid.starts.numpy().tolist() == [0, 1, 2, 3]


def test_what_is_refused():
    x = wb.zeros(3, dtype=wb.vec3)
    for call, words in (
        (lambda: wb.HashGrid(0, 4, 4), "positive numbers of cells"),
        (lambda: wb.HashGrid(4, 4, 4, period=(1.0, 0.0, 1.0)), "three positive lengths"),
        (lambda: wb.HashGrid(4, 4, 4).build(wb.zeros(3), 1.0), "takes an array of vec3"),
        (lambda: wb.HashGrid(4, 4, 4).build(x, 0.0), "must be positive"),
        (lambda: wb.HashGrid(4, 4, 4, period=(1.0, 1.0, 1.0)).build(x, 1.0), "cells of its own width"),
    ):
        with pytest.raises(LaunchError, match=words):
            call()

    @wb.kernel
    def not_a_grid(x: wb.array[wb.vec3], out: wb.array[int]):
        for j in wb.hash_grid_query(x, x[0], 1.0):
            out[0] += j

    @wb.kernel
    def not_in_a_loop(grid: wb.HashGrid, x: wb.array[wb.vec3], out: wb.array[int]):
        out[0] = wb.hash_grid_query(grid, x[0], 1.0)

    with pytest.raises(KernelTypeError, match="takes a grid, a point of 3 floats, a radius"):
        wb.launch(not_a_grid, 1, [x], [wb.zeros(1, dtype=int)])
    with pytest.raises(KernelSyntaxError, match="stands only in"):
        wb.launch(not_in_a_loop, 1, [wb.HashGrid(2, 2, 2), x], [wb.zeros(1, dtype=int)])


@wb.kernel
def of_one_group(grid: wb.HashGrid, x: wb.array[wb.vec3], group: wb.array[int], r: float, out: wb.array[int]):
    i = wb.tid()
    for j in wb.hash_grid_query(grid, x[i], r, group[i]):
        if j == i:
            continue
        if wb.length(x[i] - x[j]) < r:
            out[i] += 1


def test_a_query_of_a_group_returns_its_points_alone():
    rng = np.random.default_rng(7)
    points, group = rng.random((200, 3)).astype(np.float32), rng.integers(-2, 3, 200).astype(np.int32)
    x, groups, out = wb.array(points, dtype=wb.vec3), wb.array(group), wb.zeros(200, int)
    grid = wb.HashGrid(8, 8, 8)
    grid.build(x, 0.2, groups)
    wb.launch(of_one_group, 200, [grid, x, groups, 0.2], [out])
    near = np.linalg.norm(points[:, None] - points[None], axis=2) < 0.2
    assert out.numpy().tolist() == ((near & (group[:, None] == group)).sum(1) - 1).tolist()
    with pytest.raises(wb.LaunchError, match="200 groups of int32"):
        grid.build(x, 0.2, wb.zeros(3, int))


def test_a_graph_queries_the_grid_as_it_was_built_last() -> None:
    points = np.random.default_rng(7).random((200, 3))
    x, grid = wb.array(points, dtype=wb.vec3d), wb.HashGrid(8, 8, 8)
    count, sums = wb.zeros(200, int), wb.zeros(200, int)
    grid.build(x, 0.1)
    with wb.capture() as graph:
        wb.launch(neighbours, 200, [grid, x, 0.25], [count, sums])
    kept = wb.launch(neighbours, 200, [grid, x, 0.25], [count, sums], record_cmd=True)
    for scale, radius in ((1.0, 0.4), (2.0, 0.13)):  # other cells than those of the capture
        x.assign(scale * points)
        grid.build(x, radius)
        near = cKDTree(scale * points).query_ball_point(scale * points, 0.25)
        for launched in (graph, kept):
            count.fill_(-1)
            launched.launch()
            np.testing.assert_array_equal(count.numpy(), [len(found) for found in near])


def test_a_graph_of_fewer_points_finds_its_own_arrays() -> None:
    points = np.random.default_rng(8).random((300, 3))
    few, many = (wb.array(p, dtype=wb.vec3d) for p in (points[:20], points))
    count, sums = wb.zeros(20, int), wb.zeros(20, int)
    grid = wb.HashGrid(8, 8, 8)
    grid.build(few, 0.3)
    with wb.capture() as graph:
        wb.launch(neighbours, 20, [grid, few, 0.3], [count, sums])
    grid.build(many, 0.3)  # more than before: other arrays
    graph.launch()
    near = cKDTree(points[:20]).query_ball_point(points[:20], 0.3)
    np.testing.assert_array_equal(count.numpy(), [len(found) for found in near])
    check(grid, points, 0.3)
