"""deterministic=True on a device: sums have the bits of a loop over the threads, in whatever order blocks come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from tests.support.devices import on_gpu
from workbench.api.profiling.profile import profiles
from workbench.runtime.device.device import driver_of
from workbench.runtime.launching.execute import in_order

CELL = meaning.define("""
    @kernel
    def last(out: array[int]):
        atomic_exch(out, 0, tid())

    @kernel
    def scatter(x: array[Any], at: array[int], out: array[Any]):
        i = tid()
        out[at[i]] += x[i]

    @kernel
    def one_component(x: array[float], at: array[int], out: array[vec3]):
        i = tid()
        out[at[i]].y += x[i]

    @struct
    class Body:
        pos: vec3
        mass: float

    @kernel
    def collect(x: array[float], at: array[int], bodies: array[Body]):
        i = tid()
        bodies[at[i]].mass += x[i]
        bodies[at[i]].pos += vec3(x[i], 1.0, 2.0)

    @kernel
    def extremes(x: array[float], at: array[int], low: array[float], high: array[float]):
        i = tid()
        atomic_min(low, at[i], x[i])
        atomic_max(high, at[i], x[i])

    @kernel
    def several(x: array2d[float], out: array2d[float]):
        i, j = tid()
        for k in range(3):
            out[j % 4, (i + k) % 5] += x[i, j] * float(k + 1)

    @kernel
    def as_often_as_said(x: array[float], at: array[int], n: array[int], out: array[float]):
        i = tid()
        for k in range(n[i]):
            out[(at[i] + k) % out.shape[0]] += x[i] * float(k)

    @kernel
    def total(x: array[float], out: array[float]):
        out[0] += x[tid()]

    @kernel
    def gather(x: array[float], at: array[int], a: float, y: array[float]):
        i = tid()
        y[i] = a * x[at[i]] * x[at[i] // 2]

    @kernel
    def product(x: array[float], z: array[float], at: array[int], y: array[float]):
        i = tid()
        y[i] = x[at[i]] * z[at[i] // 2]

    @kernel
    def uses_the_old_value(x: array[float], n: array[int], out: array[float]):
        i = tid()
        k = atomic_add(n, 0, 1)
        out[k] = x[i]

    @kernel
    def swaps(x: array[int], out: array[int]):
        atomic_cas(out, 0, 0, x[tid()])

    @kernel
    def exchanges(x: array[float], out: array[float]):
        atomic_exch(out, 0, x[tid()])

    @kernel
    def reads_sums(x: array[float], at: array[int], out: array[float]):
        i = tid()
        out[at[i]] += x[i] * out[0]

    @kernel
    def two_ways(x: array[float], at: array[int], out: array[float]):
        i = tid()
        out[at[i]] += x[i]
        atomic_max(out, at[i], x[i])

    @kernel
    def counts_what_it_writes(x: array[float], n: array[int], out: array[float]):
        i = tid()
        n[i] = n[i] + 1
        for k in range(n[(i + 1) % 5]):
            out[0] += x[i]

    @kernel
    def one_stays(x: array[float], out: array[float]):
        out[0] = x[tid()]
""")
TILES = meaning.define("""
    @kernel
    def block_sums(x: array[float], out: array[float]):
        tile_atomic_add(out, tile_load(x, shape=32))
""")
N = 2000
RANDOM = np.random.default_rng(0)
X = (RANDOM.normal(size=N) * 10.0 ** RANDOM.integers(-4, 4, N)).astype(np.float32)
AT = RANDOM.integers(0, 50, N).astype(np.int32)
TURNS = RANDOM.integers(0, 4, N).astype(np.int32)


def added(terms: Any, at: Any = AT) -> Any:
    """What a loop over the threads makes of them."""
    out = np.zeros((50, *terms.shape[1:]), terms.dtype)
    np.add.at(out, at, terms)
    return out


@pytest.fixture
def device() -> Iterator[Any]:
    """A device that takes its blocks in an order by chance."""
    place = wb.get_device("emulated")
    with on_gpu.shuffled(driver_of(place), 77):
        yield place


def test_blocks_come_in_another_order_for_each_seed() -> None:
    place, ended = wb.get_device("emulated"), set()
    for seed in (2, 77, on_gpu.ONE_BY_ONE):
        with on_gpu.shuffled(driver_of(place), seed):
            out = wb.zeros(1, int, place)
            wb.launch(CELL["last"], 64, outputs=[out], block_dim=1)
            ended.add(int(out.numpy()[0]))
    assert len(ended) == 3 and 63 in ended


@pytest.mark.parametrize("type", [np.float32, np.float64, np.float16, np.complex64])
def test_sums_of_numbers(type: Any, device: Any) -> None:
    terms = (X / 100).astype(type) * (1 + 2j if type is np.complex64 else 1)
    terms = terms.astype(type)
    x, at = wb.array(terms, device=device), wb.array(AT, device=device)
    out = wb.zeros(50, x.dtype, device)
    wb.launch(CELL["scatter"], N, [x, at], [out], deterministic=True)
    assert np.array_equal(out.numpy(), added(terms))


def test_sums_of_vectors_and_of_one_component(device: Any) -> None:
    rows = np.stack([X, X[::-1], -X], 1)
    at, out, other = wb.array(AT, device=device), wb.zeros(50, wb.vec3, device), wb.zeros(50, wb.vec3, device)
    wb.launch(CELL["scatter"], N, [wb.array(rows, wb.vec3, device=device), at], [out], deterministic=True)
    wb.launch(CELL["one_component"], N, [wb.array(X, device=device), at], [other], deterministic=True)
    assert np.array_equal(out.numpy(), added(rows))
    assert np.array_equal(other.numpy(), added(np.stack([0 * X, X, 0 * X], 1)))


def test_sums_of_fields(device: Any) -> None:
    found = []
    for place in (device, "cpu"):
        bodies = wb.zeros(50, CELL["Body"], place)
        wb.launch(CELL["collect"], N, [wb.array(a, device=place) for a in (X, AT)], [bodies], deterministic=True)
        found.append(bodies.numpy())
    assert np.array_equal(*found)
    assert np.array_equal(found[0]["mass"], added(X)) and np.array_equal(found[0]["pos"][:, 0], added(X))


def test_smallest_and_largest(device: Any) -> None:
    x, at = wb.array(X, device=device), wb.array(AT, device=device)
    low, high = wb.zeros(50, device=device), wb.zeros(50, device=device)
    wb.launch(CELL["extremes"], N, [x, at], [low, high], deterministic=True)
    expected = np.zeros((2, 50), np.float32)
    np.minimum.at(expected[0], AT, X)
    np.maximum.at(expected[1], AT, X)
    assert np.array_equal([low.numpy(), high.numpy()], expected)


def test_loops_dimensions_and_views_with_gaps(device: Any) -> None:
    x, whole = X.reshape(40, 50), wb.zeros((5, 4), device=device)
    wb.launch(CELL["several"], (40, 50), [wb.array(x, device=device)], [whole.T], deterministic=True)
    expected = np.zeros((4, 5), np.float32)
    for i, j in np.ndindex(40, 50):
        for k in range(3):
            expected[j % 4, (i + k) % 5] += x[i, j] * np.float32(k + 1)
    assert np.array_equal(whole.numpy().T, expected)


def as_often_as_said(place: Any) -> Callable[[], Any]:
    """What launches the kernel whose rows have to be counted."""
    x, at, turns = (wb.array(a, device=place) for a in (X, AT, TURNS))
    out = wb.zeros(50, device=place)

    def run() -> Any:
        out.zero_()
        wb.launch(CELL["as_often_as_said"], N, [x, at, turns], [out], deterministic=True)
        return out

    return run


def test_a_loop_whose_turns_are_read_is_counted_first(device: Any) -> None:
    expected = np.zeros(50, np.float32)
    for i in range(N):
        for k in range(TURNS[i]):
            expected[(AT[i] + k) % 50] += X[i] * np.float32(k)
    assert np.array_equal(as_often_as_said(device)().numpy(), expected)
    with pytest.raises(wb.LaunchError, match=r"as_often_as_said adds in a loop \(.*line.*counted"):
        with wb.capture() as graph:
            as_often_as_said(device)()
        graph.launch()


def gradients(place: Any, **how: Any) -> Any:
    x, y = wb.array(X[:50], device=place, requires_grad=True), wb.zeros(N, device=place)
    with wb.Tape(**how) as tape:
        wb.launch(CELL["gather"], N, [x, wb.array(AT, device=place), 1.5], [y])
    tape.backward(grads={y: X})
    return x.grad.numpy()


@pytest.mark.parametrize("seed", [0, 2, 3, 77])
def test_a_gradient_has_the_bits_of_the_cpu(seed: int) -> None:
    place = wb.get_device("emulated")
    with on_gpu.shuffled(driver_of(place), seed):
        assert np.array_equal(gradients(place, deterministic=True), gradients("cpu", deterministic=True))


def test_the_gradient_of_a_number(device: Any) -> None:
    x = wb.array(X[:50], device=device, requires_grad=True)
    y, adj = wb.zeros(N, device=device, requires_grad=True), wb.zeros(1, device=device)
    y.grad.assign(X)
    wb.launch(
        CELL["gather"], N, [x, wb.array(AT, device=device), 1.0], [y], adjoint=True, adj_inputs=[None, None, adj],
        deterministic=True,
    )  # fmt: skip
    terms = X[:50][AT] * X[:50][AT // 2] * X
    assert adj.numpy()[0] == np.cumsum(terms, dtype=np.float32)[-1]


def test_the_gradient_of_a_gradient(device: Any) -> None:
    found = []
    for place in (device, "cpu"):
        x, z = (wb.array(X[:50], device=place, requires_grad=True) for _ in range(2))
        y = wb.zeros(N, device=place, requires_grad=True)
        with wb.Tape(deterministic=True) as outer:
            with wb.Tape(deterministic=True) as inner:
                wb.launch(CELL["product"], N, [x, z, wb.array(AT, device=place)], [y])
            inner.backward(grads={y: X})
            gradient = inner.gradients[x]
        outer.backward(grads={gradient: X[:50]})
        found.append(outer.gradients[z].numpy())
    assert np.array_equal(*found)


def test_graphs_records_and_files(device: Any, tmp_path: Path) -> None:
    x, at, out = wb.array(X, device=device), wb.array(AT, device=device), wb.zeros(50, device=device)
    with wb.capture() as graph:
        out.zero_()
        wb.launch(CELL["scatter"], N, [x, at], [out], deterministic=True)
    for _ in range(2):
        graph.launch()
        assert np.array_equal(out.numpy(), added(X))
    other, doubled = wb.zeros(50, device=device), wb.array(2 * X, device=device)
    graph.update(out=other, x=doubled)
    graph.launch()
    assert np.array_equal(other.numpy(), added(2 * X))
    out.zero_()
    with wb.record(inputs=True) as run:
        wb.launch(CELL["scatter"], N, [x, at], [out], deterministic=True)
    run.save(tmp_path / "run.wbr")
    out.zero_()
    run.replay()
    assert np.array_equal(out.numpy(), added(X))
    loaded = wb.load_record(tmp_path / "run.wbr")
    loaded.replay()
    assert loaded.launches[0].options.ordered
    assert np.array_equal(loaded.launches[0].arguments["out"].numpy(), added(X))


def test_a_captured_gradient(device: Any) -> None:
    x, y = wb.array(X[:50], device=device, requires_grad=True), wb.zeros(N, device=device)
    at, ct = wb.array(AT, device=device), wb.array(X, device=device)
    with wb.capture() as graph:
        with wb.Tape(deterministic=True) as tape:
            wb.launch(CELL["gather"], N, [x, at, 1.5], [y])
        tape.backward(grads={y: ct})
    graph.launch()
    assert np.array_equal(x.grad.numpy(), gradients("cpu", deterministic=True))


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        ("uses_the_old_value", "uses what n held before another thread's change"),
        ("swaps", "exchanges an element of out"),
        ("exchanges", "exchanges an element of out"),
        ("reads_sums", "reads out, which other threads add to"),
        ("two_ways", "changes out in two ways, add and max"),
        ("counts_what_it_writes", "adds as often as n says, which it writes"),
        ("one_stays", "writes one element of out from all threads"),
    ],
)
def test_what_has_no_order_is_refused_at_its_line(kernel: str, why: str) -> None:
    values = {"x": X[:5], "at": AT[:5], "n": TURNS[:5], "out": X[:5]}
    values |= {n: AT[:5] for n in ("x", "out") if kernel == "swaps"}
    arrays = [wb.array(values[n], device="emulated") for n in CELL[kernel].parameters]
    with pytest.raises(wb.LaunchError, match=rf"deterministic=True: {kernel} {why} \(.*line \d+\)"):
        wb.launch(CELL[kernel], 5, arrays, deterministic=True)
    assert np.array_equal(arrays[-1].numpy(), values["out"])


def test_tiles_and_memory_that_is_shared_are_refused() -> None:
    x, out = wb.array(X[:64], device="emulated"), wb.zeros(64, device="emulated")
    with pytest.raises(wb.LaunchError, match=r"adds to out from blocks of threads \(.*line"):
        wb.launch_tiled(TILES["block_sums"], 1, [x], [out], deterministic=True)
    at = wb.array(AT[:64], device="emulated")
    with pytest.raises(wb.LaunchError, match="adds to out, which shares memory with x"):
        wb.launch(CELL["scatter"], 64, [x, at], [x], deterministic=True)


def test_checks_find_an_index_out_of_range() -> None:
    wrong = AT.copy()
    wrong[7] = 50
    x, at, out = wb.array(X, device="emulated"), wb.array(wrong, device="emulated"), wb.zeros(50, device="emulated")
    with pytest.raises(wb.KernelFault, match="an index of out is out of range") as caught:
        wb.launch(CELL["scatter"], N, [x, at], [out], deterministic=True, checks=True)
        wb.synchronize("emulated")
    assert caught.value.thread == (7,)
    assert np.array_equal(out.numpy(), added(np.delete(X, 7), np.delete(AT, 7)))


@pytest.mark.slow
def test_a_profile_says_what_it_costs() -> None:
    x, at, out = wb.array(X, device="emulated"), wb.array(AT, device="emulated"), wb.zeros(50, device="emulated")
    (plain,) = profiles(lambda: wb.launch(CELL["scatter"], N, [x, at], [out]))
    out.zero_()
    (ordered,) = profiles(lambda: wb.launch(CELL["scatter"], N, [x, at], [out], deterministic=True))
    assert (
        plain.order.startswith("Order not fixed")
        and "launches stand for this one" in str(ordered)
        and "bytes more of memory" in ordered.order
    )
    assert np.array_equal(out.numpy(), added(X))
    here = [a.to("cpu") for a in (x, at, out)]
    assert wb.profile(CELL["scatter"], N, here[:2], here[2:], deterministic=True).order == ordered.order
    refused = wb.profile(CELL["reads_sums"], N, here[:2], here[2:], deterministic=True).order
    assert refused.startswith("On a device this is refused.") and "reads out" in refused


def test_the_environment_asks_for_all(monkeypatch: pytest.MonkeyPatch, device: Any) -> None:
    x, at, out = wb.array(X, device=device), wb.array(AT, device=device), wb.zeros(50, device=device)
    monkeypatch.setenv("WORKBENCH_DETERMINISTIC", "1")
    in_order.cache_clear()
    try:
        wb.launch(CELL["scatter"], N, [x, at], [out])
        assert np.array_equal(out.numpy(), added(X))
        assert np.array_equal(gradients(device), gradients("cpu"))
    finally:
        in_order.cache_clear()
        monkeypatch.undo()
        in_order.cache_clear()
