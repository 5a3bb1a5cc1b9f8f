"""What a call does is counted exactly, a sweep covers every combination, and the rates follow from both."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.api.measurement import bench as benches
from workbench.api.measurement.bench import Ceiling, ceiling
from workbench.api.measurement.chart import heat_map, line_chart
from workbench.api.measurement.cost_model import Effort, effort_of
from workbench.api.measurement.sweep import using_threads
from workbench.runtime.device.device import CPU
from workbench.runtime.launching.execute import cpu_threads


@wb.kernel
def saxpy(a: float, x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] += a * x[i]


@wb.kernel
def product(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float]):
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def norms(m: wb.array[wb.mat33], v: wb.array[wb.vec3], out: wb.array[float]):
    i = wb.tid()
    out[i] = wb.length(m[i] @ v[i])


@wb.kernel
def endless(x: wb.array[float]):
    i = wb.tid()
    for _k in range(10000):
        x[i] = x[i] * 0.5


def effort(kernel: wb.Kernel, dim: object, *values: object) -> Effort:
    return effort_of(lambda: wb.launch(kernel, dim, list(values)))


@wb.kernel
def stencil(x: wb.array2d[float], y: wb.array2d[float]):
    i, j = wb.tid()
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        y[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]


@pytest.mark.parametrize("side", [8, 512])
def test_the_inside_of_a_square_is_counted_too(side: int) -> None:
    found = effort(stencil, (side, side), wb.ones((side, side)), wb.ones((side, side)))
    assert 0.3 < found.bytes / (8 * side * side) <= 1.0 and found.flops and found.flops > side * side


def test_bytes_and_operations_of_straight_code() -> None:
    x, y = wb.ones(1000), wb.ones(1000)
    found = effort(saxpy, 1000, 2.0, x, y)
    assert (found.launches, found.bytes, found.flops) == (1, 12000, 2000)
    assert found.devices == (CPU,)
    assert y.numpy()[0] == 3, "the call ran once, and was counted on copies"
    assert effort(saxpy, 10, 2.0, x, y).bytes == 120, "fewer threads than elements touch fewer bytes"


def test_loops_count_as_they_go_and_arrays_once() -> None:
    a, b, c = (wb.ones((8, 8)) for _ in range(3))
    found = effort(product, (8, 8), a, b, c)
    assert (found.bytes, found.flops) == (3 * 8 * 8 * 4, 2 * 8**3)


def test_vectors_and_matrices_count_their_components() -> None:
    m, v = wb.zeros(4, dtype=wb.mat33), wb.zeros(4, dtype=wb.vec3)
    found = effort(norms, 4, m, v, wb.zeros(4))
    assert found.flops == 4 * (3 * 5 + 2 * 3)
    assert found.bytes == 4 * (36 + 12 + 4)


def test_what_takes_too_long_to_count_is_not_known() -> None:
    found = effort(endless, 1, wb.ones(1))
    assert found.flops is None and found.bytes == 8
    assert benches.Bench("", (1.0,), 1, found, ceiling()).bound == ""


def test_copies_fills_sums_graphs_and_adjoints_are_part_of_it() -> None:
    x, y = wb.ones(100), wb.ones(100)
    assert effort_of(lambda: x.copy_(y)).bytes == 800
    assert effort_of(lambda: x.fill_(1.0)).bytes == 400
    found = effort_of(lambda: x.add_(y))
    assert (found.bytes, found.flops) == (1200, 100)
    with wb.capture() as graph:
        wb.launch(saxpy, 100, [2.0, x, y])
        wb.launch(saxpy, 100, [2.0, x, y])
    assert effort_of(graph.launch) == Effort(2, 2400, 400, (CPU,))

    def backwards() -> None:
        with wb.Tape() as tape:
            wb.launch(saxpy, 100, [2.0, x, y])
        tape.backward(grads={y: np.ones(100, np.float32)})

    assert effort_of(backwards).launches == 2
    assert effort_of(lambda: None) == Effort()


def test_rates_and_what_binds_follow_from_effort_and_time() -> None:
    most = Ceiling(CPU, 10e9, 100e9)
    by_memory = benches.Bench("f", (2e-3, 1e-3, 3e-3), 5, Effort(1, 5_000_000, 1e6, (CPU,)), most)
    assert by_memory.seconds == 1e-3 and by_memory.spread == 1.0
    assert (by_memory.bytes_per_second, by_memory.flops_per_second) == (5e9, 1e9)
    assert (by_memory.bound, by_memory.share) == ("memory", 0.5)
    text = str(by_memory)
    assert "1 ms per call (best of 3 rounds of 5, median +100%)" in text
    assert "5 GB/s of 10 GB/s measured (50%)" in text and "bound by memory: 50%" in text
    by_maths = benches.Bench("f", (1e-3,), 1, Effort(1, 1000, 50e6, (CPU,)), most)
    assert (by_maths.bound, by_maths.share) == ("arithmetic", 0.5)
    assert "f: 1 ms" in by_maths._repr_html_()


def test_a_bench_calls_as_often_as_it_says() -> None:
    calls: list[int] = []
    found = wb.bench(lambda: calls.append(1), number=3, repeat=2)
    assert len(calls) == 1 + 1 + 3 * 2 and found.number == 3 and len(found.rounds) == 2
    assert found.ceiling is None and found.share is None
    x, y = wb.ones(1000), wb.ones(1000)
    timed = wb.bench(lambda: wb.launch(saxpy, 1000, [0.0, x, y]), repeat=1)
    assert timed.number > 1 and timed.bound == "memory" and timed.seconds > 0
    with pytest.raises(wb.LaunchError, match="takes a number of calls"):
        wb.bench(lambda: None, repeat=0)


def test_the_ceiling_is_measured_once() -> None:
    assert ceiling() is ceiling("cpu")
    assert ceiling().bytes_per_second > 1e8 and ceiling().flops_per_second > 1e8


def test_a_sweep_times_every_combination_and_names_the_best() -> None:
    asked: list[tuple[int, str]] = []
    found = wb.sweep(lambda m, how: asked.append((m, how)), {"m": [1, 2], "how": ["a", "b"]}, number=1, repeat=1)
    assert found.choices == [{"m": m, "how": h} for m in (1, 2) for h in "ab"]
    assert set(asked) == {(1, "a"), (1, "b"), (2, "a"), (2, "b")} and len(found) == 4
    assert found.best in found.choices and found.verdict.startswith("shortest: m=")
    assert found.to_svg().count("<rect") == 4 and "image/svg+xml" in found._repr_html_()
    assert str(found).splitlines()[0].split() == ["m", "how", "time", "memory", "arithmetic"]


def test_one_axis_is_drawn_as_time_and_as_a_rate_under_the_ceiling() -> None:
    x, y = wb.ones(4000), wb.ones(4000)
    found = wb.sweep(lambda n: wb.launch(saxpy, n, [0.0, x, y]), {"n": [1000, 4000]}, number=2, repeat=1)
    assert [p.effort.bytes for p in found.points] == [12000, 48000]
    assert found.to_svg().count("<circle") == 2
    assert "measured ceiling" in found.rates_svg()


def test_a_refused_combination_is_noted() -> None:
    x, y = wb.ones(10), wb.ones(10)
    found = wb.sweep(lambda n: wb.launch(saxpy, n, [0.0, x, y]), {"n": [10, -1]}, number=1, repeat=1)
    assert found[1] is None and "1 refused" in found.verdict and found.to_svg() == ""
    with pytest.raises(wb.LaunchError):
        wb.sweep(lambda n: wb.launch(saxpy, n, [0.0, x, y]), {"n": [-1]})
    for axes in ({}, {"n": []}, {"n": range(5000)}):
        with pytest.raises(wb.LaunchError):
            wb.sweep(lambda **values: None, axes)


def test_threads_are_an_axis_of_their_own_and_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_THREADS", "2")
    cpu_threads.cache_clear()
    seen: list[int] = []
    wb.sweep(lambda: seen.append(cpu_threads()), {"threads": [1, 3]}, number=1, repeat=1)
    assert set(seen) == {1, 3} and cpu_threads() == 2
    monkeypatch.delenv("WORKBENCH_THREADS")
    with using_threads(5):
        assert cpu_threads() == 5
    assert "WORKBENCH_THREADS" not in os.environ
    with pytest.raises(wb.LaunchError, match="threads is a whole number"), using_threads(0):
        pass
    cpu_threads.cache_clear()


def test_pictures_frame_the_best_and_escape_what_users_write() -> None:
    svg = heat_map("a < b", ["<r>"], ["c1", "c2"], [[2.0, 1.0]], str)
    assert svg.count("stroke-width") == 1 and "a &lt; b" in svg and "&lt;r&gt;" in svg
    line = line_chart("t", [1.0, 10.0, 100.0], ["1", "10", "100"], [1.0, 2.0, 3.0], str)
    xs = [float(part.split('"')[0]) for part in line.split('cx="')[1:]]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2), "a wide range is drawn by its logarithm"


def test_an_emulated_device_has_no_times(need: Any) -> None:
    need("nvrtc")
    kernel = wb.build_cell("def k(x: array[float]):\n    x[tid()] = 1.0\n", {}, backend="cpu").names["k"]
    x = wb.zeros(4, float, device="emulated")
    with pytest.raises(wb.DeviceError, match=r"emulated:0 has no times.*wb\.profile"):
        wb.bench(lambda: wb.launch(kernel, 4, [x]))
