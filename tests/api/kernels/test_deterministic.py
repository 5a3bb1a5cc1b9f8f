"""deterministic=True: additions to shared elements in the order of the threads."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from workbench import inspect
from workbench.api.builds import build
from workbench.backends.base import Options

CELL = meaning.define("""
    @kernel
    def total(x: array[float], out: array[float]):
        out[tid() // 1_000_000] += x[tid()]

    @kernel
    def gather(x: array[float], at: array[int], a: float, y: array[float]):
        i = tid()
        y[i] = a * x[at[i]]

    @kernel
    def square(x: array[float], y: array[float]):
        i = tid()
        y[i] = x[i] * x[i]
""")
total, gather, square = CELL.values()
N = 200_000
RANDOM = np.random.default_rng(0)
X = (RANDOM.normal(size=N) * 10.0 ** RANDOM.integers(-4, 4, N)).astype(np.float32)
AT = RANDOM.integers(0, 50, N).astype(np.int32)


@pytest.mark.parametrize("kept", [False, True])
def test_a_sum_in_order(kept: bool) -> None:
    x, out = wb.array(X), wb.zeros(1)
    if kept:
        wb.launch(total, N, inputs=[x], outputs=[out], deterministic=True, record_cmd=True).launch()
    else:
        wb.launch(total, N, inputs=[x], outputs=[out], deterministic=True)
    assert out.numpy()[0] == np.cumsum(X, dtype=np.float32)[-1]


def test_a_gradient_in_order() -> None:
    x, y = wb.zeros(50, requires_grad=True), wb.zeros(N)
    with wb.Tape(deterministic=True) as tape:
        wb.launch(gather, N, inputs=[x, wb.array(AT), 1.0], outputs=[y])
    tape.backward(grads={y: X})
    expected = np.zeros(50, np.float32)
    np.add.at(expected, AT, X)
    assert np.array_equal(x.grad.numpy(), expected)


def test_a_number_gets_the_same_bits_each_time() -> None:
    seen = set()
    x, at = wb.array(RANDOM.normal(size=50).astype(np.float32), requires_grad=True), wb.array(AT)
    y = wb.zeros(N, requires_grad=True)
    for _ in range(5):
        y.grad.assign(X)
        adj = wb.zeros(1)
        wb.launch(
            gather, N, inputs=[x, at, 1.0], outputs=[y], adjoint=True, adj_inputs=[None, None, adj], deterministic=True
        )
        seen.add(adj.numpy()[0].tobytes())
    assert len(seen) == 1


def test_what_says_neither_yes_nor_no_is_refused() -> None:
    for make in (lambda: wb.launch(square, 1, [wb.ones(1)], [wb.ones(1)], deterministic="yes"),
                 lambda: wb.Tape(deterministic="yes")):  # fmt: skip
        with pytest.raises(wb.LaunchError, match="deterministic is True, False or None, not 'yes'"):
            make()


def test_threads_in_order_are_not_shared_among_cores() -> None:
    plain, ordered = (build.load(square.specialise(), options=Options(ordered=o)) for o in (False, True))
    assert ordered.threads_per_task > 10**9 > plain.threads_per_task
    assert "ordered" not in inspect.key(square)


def test_a_sum_over_threads_is_shared_with_other_launches() -> None:
    executable = build.load(gather.specialise(), "adjoint")
    assert {executable.layout.slots[k].name for k in executable.shared} == {"adj_x", "adj_a", "adj_y"}
    assert "adj_a" in executable.reads
