"""Captured graphs on the CPU: nothing runs while capturing, and a launch does what running the same lines does."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import workbench as wb
from workbench.api.graphs.graph import Graph

N = 64


@wb.kernel
def step(x: wb.array[float], v: wb.array[float], dt: float):
    i = wb.tid()
    x[i] = x[i] + v[i] * dt


@wb.kernel
def double(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = 2.0 * x[i]


@wb.kernel
def square(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def total(x: wb.array[float], out: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(out, 0, x[i])


@wb.kernel
def count_down(n: wb.array[int], turns: wb.array[int]):
    turns[0] = turns[0] + 1
    n[0] = n[0] - 1


@wb.kernel
def pick(x: wb.array[float], at: int, out: wb.array[float]):
    i = wb.tid()
    out[i] = x[at + i]


def ramp(n: int = N, **options: object) -> wb.array:
    return wb.array(np.arange(n, dtype=np.float32), device="cpu", **options)


def pairs(g: Graph) -> set[tuple[int, int]]:
    return {(e.source, e.target) for e in g.edges}


def test_capturing_runs_nothing_and_each_launch_runs_all() -> None:
    x, v = ramp(), wb.ones(N, float, device="cpu")
    with wb.capture() as g:
        wb.launch(step, N, [x, v, 0.5])
        wb.launch(step, N, [x, v, 0.25])
    np.testing.assert_array_equal(x.numpy(), np.arange(N))
    g.launch()
    g.launch()
    np.testing.assert_array_equal(x.numpy(), np.arange(N) + 1.5)
    assert len(g) == 2 and pairs(g) == {(0, 1)}


def test_independent_launches_are_parallel_branches() -> None:
    x, a, b, c = ramp(), *(wb.zeros(N, float, device="cpu") for _ in range(3))
    with wb.capture() as g:
        wb.launch(double, N, [x, a])
        wb.launch(square, N, [x, b])
        wb.launch(step, N, [a, b, 1.0])
        wb.launch(double, N, [x, c])
    assert pairs(g) == {(0, 2), (1, 2)} and g.levels == [[0, 1, 3], [2]]
    assert [e.arrays for e in g.edges] == [("y",), ("y#2",)]
    g.launch()
    np.testing.assert_array_equal(a.numpy(), 2 * np.arange(N) + np.arange(N) ** 2)
    np.testing.assert_array_equal(c.numpy(), 2 * np.arange(N))


def test_views_depend_on_the_bytes_they_share() -> None:
    x, y = ramp(), wb.zeros(N, float, device="cpu")
    with wb.capture() as g:
        wb.launch(double, N // 2, [x[: N // 2], y[: N // 2]])
        wb.launch(double, N // 2, [x[N // 2 :], y[N // 2 :]])
        wb.launch(square, 4, [y[N - 4 :], x[:4]])
    assert pairs(g) == {(0, 2), (1, 2)}
    assert next(e.because for e in g.edges)[0][0] == "WAR"


def test_large_launches_are_shared_over_the_cores_and_give_the_same() -> None:
    n = 1 << 19
    x, outs = ramp(n), [wb.zeros(n, float, device="cpu") for _ in range(4)]
    with wb.capture() as g:
        for k, out in enumerate(outs):
            wb.launch(double if k % 2 else square, n, [x, out])
    g.launch()
    for k, out in enumerate(outs):
        np.testing.assert_array_equal(out.numpy(), (np.float32(2) if k % 2 else x.numpy()) * x.numpy())


def test_copies_fills_and_sums_of_dense_and_strided_arrays() -> None:
    data = np.arange(24, dtype=np.float32).reshape(4, 6)
    a, b, c = (wb.array(data, device="cpu") for _ in range(3))
    vectors, others = wb.zeros(5, wb.vec3, device="cpu"), wb.ones(5, wb.vec3, device="cpu")
    whole = wb.array(np.arange(6, dtype=np.int64), device="cpu")
    with wb.capture() as g:
        a[1:3, ::2].fill_(7.0)
        b[:, 1].copy_(c[:, 4])
        b.add_(c)
        c[::2].add_(a[1::2])
        vectors.copy_(others)
        vectors.add_(others)
        others[1:4].zero_()
        whole.add_(whole[::-1])
    x, y, z = (data.copy() for _ in range(3))
    x[1:3, ::2] = 7
    y[:, 1] = z[:, 4]
    y += z
    z[::2] += x[1::2]
    np.testing.assert_array_equal(a.numpy(), data)
    g.launch()
    for got, expected in ((a, x), (b, y), (c, z)):
        np.testing.assert_array_equal(got.numpy(), expected)
    np.testing.assert_array_equal(vectors.numpy(), np.full((5, 3), 2))
    np.testing.assert_array_equal(others.numpy()[:, 0], [1, 0, 0, 0, 1])


def test_a_copy_onto_itself_goes_over_another_array() -> None:
    x = ramp(10)
    with wb.capture() as g:
        x[1:].copy_(x[:-1])
    g.launch()
    np.testing.assert_array_equal(x.numpy(), [0, *range(9)])
    assert [n.kind for n in g.nodes] == ["copy", "copy"]


def test_arrays_made_inside_belong_to_the_graph() -> None:
    x, out = ramp(), wb.zeros(N, float, device="cpu")
    with wb.capture() as g:
        between = wb.zeros(N, float, device="cpu")
        wb.launch(step, N, [between, x, 3.0])
        wb.launch(square, N, [between, out])
    alive = weakref.ref(between.memory.owner)
    del between
    gc.collect()
    for _ in range(2):
        g.launch()
        np.testing.assert_array_equal(out.numpy(), (3 * np.arange(N, dtype=np.float32)) ** 2)
    assert alive() is not None
    del g
    gc.collect()
    assert alive() is None


def test_changed_scalars_arrays_and_dims() -> None:
    x, v, w = ramp(), wb.ones(N, float, device="cpu"), wb.full(N, 10.0, float, device="cpu")
    kept = wb.zeros(N, float, device="cpu")
    with wb.capture() as g:
        wb.launch(step, N, [x, v, 0.5])
        kept.copy_(v)
    g.update(dt=2.0)
    g.launch()
    np.testing.assert_array_equal(x.numpy(), np.arange(N) + 2)
    g.update(v=w)
    g.launch()
    np.testing.assert_array_equal(x.numpy(), np.arange(N) + 22)
    np.testing.assert_array_equal(kept.numpy(), np.full(N, 10))
    g.update("step", dim=3, dt=1.0)
    g.launch()
    np.testing.assert_array_equal(x.numpy(), np.arange(N) + np.where(np.arange(N) < 3, 32, 22))


def test_two_arrays_can_change_places_and_edges_follow() -> None:
    a, b, c = ramp(), wb.zeros(N, float, device="cpu"), wb.zeros(N, float, device="cpu")
    with wb.capture() as g:
        wb.launch(double, N, [a, b])
        wb.launch(square, N, [a, c])
    assert pairs(g) == set()
    g.update(0, x=b, y=a)
    assert pairs(g) == {(0, 1)}
    b.fill_(5.0)
    g.launch()
    np.testing.assert_array_equal(a.numpy(), np.full(N, 10))
    np.testing.assert_array_equal(c.numpy(), np.full(N, 100))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda g: g.update(speed=1.0), "no parameter|has a parameter speed; there is dt, v, x"),
        (lambda g: g.update(dt="fast"), "dt"),
        (lambda g: g.update(v=wb.zeros(3, float, device="cpu")), r"shape \(64,\)"),
        (lambda g: g.update("blur", dt=1.0), "no launch of blur; it has step"),
        (lambda g: g.update(dim=(2, 2)), "captured with 1 dimensions"),
        (lambda g: g.update(5, dt=1.0), "Node 5"),
    ],
)
def test_wrong_changes_are_refused_and_change_nothing(change: Callable[[Graph], None], sentence: str) -> None:
    x, v = ramp(), wb.ones(N, float, device="cpu")
    with wb.capture() as g:
        wb.launch(step, N, [x, v, 0.5])
    with pytest.raises(wb.LaunchError, match=sentence):
        change(g)
    g.launch()
    np.testing.assert_array_equal(x.numpy(), np.arange(N) + 0.5)


def test_arrays_that_begin_to_overlap_get_code_that_suits_them() -> None:
    x, v = ramp(), wb.ones(N, float, device="cpu")
    with wb.capture() as g:
        wb.launch(step, N, [x, v, 0.5])
        wb.launch(total, N, [v, x[:1]])
    g.update(0, v=x)
    g.update("total", x=x)
    g.launch()
    assert g.nodes[1].record.arguments["x"] is x
    np.testing.assert_array_equal(x.numpy()[1:], 1.5 * np.arange(N)[1:])


def test_graphs_inside_graphs() -> None:
    x, v = ramp(), wb.ones(N, float, device="cpu")
    with wb.capture() as inner:
        wb.launch(step, N, [x, v, 0.5])
        wb.launch(step, N, [x, v, 0.5])
    with wb.capture() as outer:
        inner.launch()
        wb.launch(double, N, [x, v])
        inner.launch()
    outer.launch()
    expected = np.arange(N, dtype=np.float32) + 1
    np.testing.assert_array_equal(x.numpy(), 3 * expected)
    inner.update(dt=0.0)
    outer.launch()
    np.testing.assert_array_equal(x.numpy(), 3 * expected)
    inner.update(dim=0)
    inner.update(dt=9.0)
    outer.launch()
    np.testing.assert_array_equal(x.numpy(), 3 * expected)
    assert pairs(outer) == {(0, 1), (1, 2)}


def test_conditions_and_loops_are_decided_when_the_graph_runs() -> None:
    n, turns, flag = (wb.array([k], dtype=int, device="cpu") for k in (5, 0, 1))
    x = ramp(4)

    def turn(size: int) -> None:
        wb.launch(count_down, 1, [n, turns])
        wb.launch(double, size, [x, x])

    with wb.capture() as g:
        wb.capture_while(n, turn, size=4)
        wb.capture_if(flag, lambda: x.add_(wb.ones(4, float, device="cpu")), lambda: x.zero_())
    assert turns.numpy()[0] == 0
    g.launch()
    assert (n.numpy()[0], turns.numpy()[0]) == (0, 5)
    np.testing.assert_array_equal(x.numpy(), 32 * np.arange(4) + 1)
    flag[0] = 0
    g.launch()
    np.testing.assert_array_equal(x.numpy(), np.zeros(4))
    assert [node.kind for node in g.nodes] == ["while", "if"] and pairs(g) == {(0, 1)}


def test_outside_of_a_capture_they_run_at_once() -> None:
    n, turns = (wb.array([k], dtype=int, device="cpu") for k in (3, 0))
    wb.capture_while(n, lambda: wb.launch(count_down, 1, [n, turns]))
    assert turns.numpy()[0] == 3
    wb.capture_if(n, lambda: turns.zero_(), lambda: turns.fill_(8))
    assert turns.numpy()[0] == 8
    with pytest.raises(TypeError, match="int32 array of one element"):
        wb.capture_if(ramp(), None)
    with wb.capture(), pytest.raises(wb.LaunchError, match="never writes its condition"):
        wb.capture_while(n, lambda: turns.zero_())


def test_what_was_captured_cannot_be_read_yet() -> None:
    x, v = ramp(), wb.ones(N, float, device="cpu")
    with wb.capture() as g:
        wb.launch(step, N, [x, v, 1.0])
        with pytest.raises(wb.LaunchError, match="has not run"):
            x.numpy()
        assert v.numpy()[0] == 1
        with pytest.raises(wb.LaunchError, match="still being captured"):
            g.launch()
    g.launch()
    assert x.numpy()[1] == 2


def test_a_branch_reads_nothing_that_the_capture_around_it_writes() -> None:
    x, v, flag = ramp(), wb.ones(N, float, device="cpu"), wb.ones(1, int, device="cpu")
    with wb.capture():
        wb.launch(step, N, [x, v, 1.0])
        with pytest.raises(wb.LaunchError, match="has not run"):
            wb.capture_if(flag, lambda: x.numpy())
        with wb.capture(), pytest.raises(wb.LaunchError, match="has not run"):
            x.numpy()


def test_a_branch_is_a_function_or_a_graph_that_can_run() -> None:
    x, flag = ramp(), wb.ones(1, int, device="cpu")
    failed: list[Graph] = []
    with pytest.raises(ZeroDivisionError), wb.capture() as g:
        failed.append(g)
        raise ZeroDivisionError
    for run in (wb.capture_if, wb.capture_while):
        with pytest.raises(wb.LaunchError, match=r"has no (branch|body)\.  Pass a function"):
            run(flag, (x.zero_(), None)[1])
        with wb.capture() as g:
            with pytest.raises(wb.LaunchError, match="ended with ZeroDivisionError"):
                run(flag, failed[0])
            with pytest.raises(wb.LaunchError, match=r"still being captured.  Launch it after the with"):
                run(flag, g)
        assert len(g) == 0


def test_a_capture_that_fails_gives_no_graph() -> None:
    kept = []
    with pytest.raises(ZeroDivisionError), wb.capture() as g:
        kept.append(g)
        raise ZeroDivisionError
    with pytest.raises(wb.LaunchError, match="its capture ended with ZeroDivisionError"):
        kept[0].launch()


def test_a_fault_inside_is_raised_at_its_line_when_all_is_done() -> None:
    x, out, after = ramp(4), wb.zeros(4, float, device="cpu"), wb.zeros(4, float, device="cpu")
    with wb.capture() as g:
        wb.launch(pick, 4, [x, 2, out], checks=True)
        wb.launch(double, 4, [out, after])
    with pytest.raises(wb.KernelFault) as caught:
        g.launch()
    assert caught.value.function == "pick"
    np.testing.assert_array_equal(after.numpy(), [4, 6, 0, 0])
    g.update(at=0)
    g.launch()
    np.testing.assert_array_equal(out.numpy(), [0, 1, 2, 3])


def test_zero_threads_and_an_empty_graph_do_nothing() -> None:
    x, v = ramp(), wb.ones(N, float, device="cpu")
    with wb.capture() as g:
        wb.launch(step, 0, [x, v, 1.0])
    with wb.capture() as empty:
        pass
    g.launch()
    empty.launch()
    np.testing.assert_array_equal(x.numpy(), np.arange(N))
    assert repr(empty) == "Graph of 0 nodes on cpu" and empty.critical_path == []


def test_the_direct_way_counts_versions_and_is_left_when_something_changes() -> None:
    x, other = wb.ones(3), wb.full(3, 5.0)
    with wb.capture() as graph:
        x.add_(x)
    graph.launch()
    before = x.version
    graph.launch()
    assert x.version == before + 1 and x.numpy().tolist() == [4, 4, 4]
    with wb.record() as rec:
        graph.launch()
    assert [e.kind for e in rec] == ["graph"]
    with wb.capture() as outer:
        graph.launch()
    outer.launch()
    assert x.numpy().tolist() == [16, 16, 16]
    graph.nodes[0] = graph.nodes[0].on(lambda a: other)
    graph.stale()
    graph.launch()
    outer.launch()
    assert x.numpy().tolist() == [16, 16, 16] and other.numpy().tolist() == [20, 20, 20]


def test_a_run_keeps_its_plan_while_another_thread_changes_the_graph() -> None:
    x, v, other = ramp(), wb.ones(N, float, device="cpu"), ramp()
    with wb.capture() as g:
        wb.launch(step, N, [x, v, 1.0])
    g.launch()
    running = g._direct
    assert running is not None and running[1] is g._plan
    g.update(x=other)
    g.launch()
    before = x.numpy().copy(), other.numpy().copy()
    running[0]()
    changed = [not np.array_equal(a.numpy(), b) for a, b in zip((x, other), before, strict=True)]
    assert changed.count(True) == 1, "one plan, whichever the graph's buffers now say"


@wb.kernel
def collatz_half(n: wb.array(dtype=wb.int32)):
    n[0] = n[0] // 2


@wb.kernel
def collatz_up(n: wb.array(dtype=wb.int32)):
    n[0] = 3 * n[0] + 1


@wb.kernel
def collatz_test(n: wb.array(dtype=wb.int32), odd: wb.array(dtype=wb.int32), more: wb.array(dtype=wb.int32)):
    odd[0] = n[0] % 2
    more[0] = wb.where(n[0] > 1, 1, 0)


@pytest.mark.parametrize("start", [1, 6, 7])
def test_a_graph_is_stepped_through_its_branches_and_loops(start: int) -> None:
    n, odd, more = (wb.zeros(1, dtype=wb.int32, device="cpu") for _ in range(3))
    test = functools.partial(wb.launch, collatz_test, 1, [n, odd, more])

    def once() -> None:
        wb.capture_if(odd, lambda: wb.launch(collatz_up, 1, [n]), lambda: wb.launch(collatz_half, 1, [n]))
        test()

    with wb.capture() as graph:
        test()
        wb.capture_while(more, once)
    assert "while" in graph.to_svg()
    n.fill_(start)
    ran = [(node.name, int(n.numpy()[0])) for node in graph.step()]
    value, expected = start, [("collatz_test", start)]
    while value > 1:
        name, value = ("collatz_up", 3 * value + 1) if value % 2 else ("collatz_half", value // 2)
        expected += [(name, value), ("collatz_test", value)]
    assert ran == expected
    assert all(any(node is known for known in graph.walk()) for node in graph.step())  # it can be stepped again


def test_a_graph_whose_capture_is_open_is_not_stepped() -> None:
    with wb.capture() as graph, pytest.raises(wb.LaunchError, match="still being captured"):
        graph.step()
