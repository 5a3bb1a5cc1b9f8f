"""The runtime on a device: graphs, streams, events, page-locked memory, strided moves, a simulation of many steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

CELL = """
def step(x: array[float], v: array[float], dt: float):
    i = tid()
    v[i] = v[i] - x[i] * dt
    x[i] = x[i] + v[i] * dt

def square(x: array[float], y: array[float]):
    i = tid()
    y[i] = x[i] * x[i]

def total(x: array[float], out: array[float]):
    i = tid()
    atomic_add(out, 0, x[i])

def count_down(n: array[int], turns: array[int]):
    turns[0] = turns[0] + 1
    n[0] = n[0] - 1

def pick(x: array[float], at: int, out: array[float]):
    i = tid()
    out[i] = x[at + i]
"""
N = 1000
pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def cell() -> Any:
    return wb.build_cell(CELL, {}, backend="cpu").names


def ramp(device: str, n: int = N, **options: Any) -> wb.array:
    return wb.array(np.arange(n, dtype=np.float32), device=device, **options)


def test_a_graph_runs_what_was_captured(device: str, cell: Any) -> None:
    results = []
    for place in ("cpu", device):
        x, v = ramp(place), wb.ones(N, float, device=place)
        y, out, kept = wb.zeros(N, float, device=place), wb.zeros(1, float, device=place), wb.zeros(N, float, place)
        with wb.capture() as g:
            wb.launch(cell["step"], N, [x, v, 0.5])
            out.zero_()
            wb.launch(cell["square"], N, [x, y])
            kept.copy_(x)
            kept.add_(v)
            y[::2].fill_(3.0)
            wb.launch(cell["total"], N, [kept, out])
        for dt in (0.5, 0.25):
            g.update(dt=dt)
            g.launch()
        results.append([a.numpy() for a in (x, v, y, kept, out)])
        assert {(e.source, e.target) for e in g.edges} == {(0, 2), (0, 3), (2, 5), (3, 4), (1, 6), (4, 6)}
    for expected, got in zip(*results, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_a_changed_array_and_changed_dims(device: str, cell: Any) -> None:
    x, v, w = ramp(device), wb.zeros(N, float, device=device), wb.ones(N, float, device=device)
    with wb.capture() as g:
        wb.launch(cell["step"], N, [x, v, 0.0])
    g.launch()
    g.update(v=w, dt=1.0)
    g.launch()
    np.testing.assert_array_equal(w.numpy(), 1 - np.arange(N))
    g.update(dim=2, dt=1.0)
    before = w.numpy()
    g.launch()
    assert (w.numpy() != before).sum() <= 2


def test_forward_and_adjoint_in_one_graph(device: str, cell: Any) -> None:
    x, loss = ramp(device, 33, requires_grad=True), wb.zeros(1, float, device=device)
    with wb.capture() as g:
        loss.zero_()
        with wb.Tape() as tape:
            y = wb.zeros(33, float, device=device)
            wb.launch(cell["square"], 33, [x, y])
            wb.launch(cell["total"], 33, [y, loss])
        tape.backward(loss)
    g.launch()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * np.arange(33))
    np.testing.assert_allclose(loss.numpy(), [np.sum(np.arange(33.0) ** 2)], rtol=1e-5)


def test_conditions_and_loops_of_a_graph(device: str, cell: Any) -> None:
    n, turns, flag = (wb.array([k], dtype=int, device=device) for k in (5, 0, 1))
    x = ramp(device, 4)
    with wb.capture() as g:
        wb.capture_while(n, lambda: wb.launch(cell["count_down"], 1, [n, turns]))
        wb.capture_if(flag, lambda: x.fill_(7.0), lambda: x.zero_())
    g.launch()
    assert (n.numpy()[0], turns.numpy()[0], x.numpy()[3]) == (0, 5, 7)
    flag.zero_()
    n.fill_(3)
    g.launch()
    assert (n.numpy()[0], turns.numpy()[0], x.numpy()[3]) == (0, 8, 0)


def test_a_fault_in_a_graph_is_told_with_its_thread(device: str, cell: Any) -> None:
    x, out = ramp(device, 4), wb.zeros(4, float, device=device)
    with wb.capture() as g:
        wb.launch(cell["pick"], 4, [x, 2, out], checks=True)
    g.launch()
    with pytest.raises(wb.KernelFault) as caught:
        wb.synchronize(device)
    assert caught.value.function == "pick"
    g.update(at=0)
    g.launch()
    np.testing.assert_array_equal(out.numpy(), np.arange(4))


def test_streams_wait_for_each_other(device: str, cell: Any) -> None:
    x, y = ramp(device), wb.zeros(N, float, device=device)
    first, second = wb.Stream(device), wb.Stream(device, priority=-1)
    with wb.ScopedStream(first):
        wb.launch(cell["square"], N, [x, y])
    before = first.record()
    second.wait_for(before)
    wb.launch(cell["square"], N, [y, x], stream=second)
    after = second.record()
    second.synchronize()
    first.wait_for(second)
    assert after - before >= 0
    np.testing.assert_allclose(x.numpy(), np.arange(N, dtype=np.float32) ** 4, rtol=1e-6)


def test_page_locked_memory_is_copied_from_and_to(device: str, cell: Any) -> None:
    host, back = (wb.empty(N, float, device="cpu", pinned=True) for _ in range(2))
    host.numpy()[...] = np.arange(N)
    x = wb.zeros(N, float, device=device)
    x.copy_(host)
    back.copy_(x)
    wb.synchronize(device)
    assert host.memory.is_pinned
    np.testing.assert_array_equal(back.numpy(), np.arange(N))


def test_a_timer_waits_for_the_device(device: str, cell: Any) -> None:
    x, y = ramp(device), wb.zeros(N, float, device=device)
    with wb.ScopedTimer("square", device) as timer:
        wb.launch(cell["square"], N, [x, y])
    assert timer.elapsed is not None and timer.elapsed > 0


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "int32", "int16", "uint8", "bool", "vec3", "mat22"])
def test_views_are_filled_copied_and_added_on_the_device(kind: str, device: str) -> None:
    dtype = getattr(wb, kind)
    shape = (6, 8, *dtype.shape)
    data = np.random.default_rng(3).integers(0, 2, shape).astype(np.float64)
    results = []
    for place in ("cpu", device):
        a, b = (wb.array(data, dtype, device=place) for _ in range(2))
        a[1:4, ::3].fill_(1)
        b[::2].copy_(a[::-2])
        a[:, 1:3].copy_(b[:, 5:7])
        if kind != "bool":
            b.add_(a)
            b[1:3].add_(a[3:5])
        results.append((a.numpy(), b.numpy()))
    for expected, got in zip(*results, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_simulation_of_many_steps_is_the_same_launched_recorded_and_as_a_graph(device: str, cell: Any) -> None:
    def fresh() -> tuple[wb.array, wb.array]:
        return ramp(device), wb.zeros(N, float, device=device)

    x, v = fresh()
    for _ in range(100):
        wb.launch(cell["step"], N, [x, v, 0.01])
    a, b = fresh()
    with wb.capture() as g:
        for _ in range(10):
            wb.launch(cell["step"], N, [a, b, 0.01])
    for _ in range(10):
        g.launch()
    np.testing.assert_array_equal(a.numpy(), x.numpy())
    np.testing.assert_array_equal(b.numpy(), v.numpy())
    assert len(g.edges) == 9
