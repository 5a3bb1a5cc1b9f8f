"""Arrays, launches and tapes on an emulated device: what tests/gpu does not try."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

CELL = """
def saxpy(a: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = a * x[i] + y[i]
"""


@pytest.fixture
def device(need: Any) -> str:
    need("nvrtc")
    return "emulated:0"


@pytest.fixture
def cell() -> Any:
    return wb.build_cell(CELL, {}, backend="cpu").names


def test_a_kept_launch_runs_again_with_other_arguments(device: str, cell: Any) -> None:
    x, y = wb.ones(100, float, device=device), wb.zeros(100, float, device=device)
    kept = wb.launch(cell["saxpy"], 100, [2.0, x], [y], record_cmd=True)
    kept.launch()
    kept.launch()
    np.testing.assert_array_equal(y.numpy(), np.full(100, 4.0, np.float32))


def test_views_are_launched_with_their_strides(device: str, cell: Any) -> None:
    data = np.arange(20, dtype=np.float32)
    x, y = wb.array(data, device=device), wb.zeros(10, float, device=device)
    wb.launch(cell["saxpy"], 10, [1.0, x[::2]], [y])
    np.testing.assert_array_equal(y.numpy(), data[::2])


def test_arrays_of_another_device_are_refused_by_name(device: str, cell: Any) -> None:
    x, y = wb.ones(4, float, device="cpu"), wb.ones(4, float, device=device)
    with pytest.raises(wb.LaunchError, match=r"\bx\b|\by\b"):
        wb.launch(cell["saxpy"], 4, [1.0, x], [y], device=device)


def test_a_tape_gives_gradients(device: str, cell: Any) -> None:
    x = wb.array(np.arange(5, dtype=np.float32), device=device, requires_grad=True)
    y = wb.zeros(5, float, device=device, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(cell["saxpy"], 5, [3.0, x], [y])
    tape.backward(grads={y: wb.ones(5, float, device=device)})
    np.testing.assert_array_equal(x.grad.numpy(), np.full(5, 3.0, np.float32))


@wb.struct
class Spring:
    rest: float
    ends: wb.vec2
    number: int


def test_fills_with_vectors_and_structs(device: str) -> None:
    v, s = wb.zeros((2, 3), dtype=wb.vec3, device=device), wb.zeros(4, dtype=Spring, device=device)
    v.fill_(np.array([1.0, 2.0, 3.0]))
    s[1:].fill_(Spring(rest=0.5, number=3))
    assert v.numpy().tolist() == [[[1, 2, 3]] * 3] * 2
    assert s.numpy()["number"].tolist() == [0, 3, 3, 3]
    with wb.capture() as graph:
        v.fill_(np.array([4.0, 5.0, 6.0]))
        s.add_(s)
    graph.launch()
    assert v.numpy().tolist() == [[[4, 5, 6]] * 3] * 2
    assert s.field_arrays()["rest"].numpy().tolist() == s.numpy()["rest"].tolist() == [0, 1, 1, 1]


def test_a_replay_takes_another_number_and_the_record_keeps_its_own(device: str, cell: Any) -> None:
    x, y = wb.ones(4, float, device=device), wb.zeros(4, float, device=device)
    with wb.record(inputs=True) as rec:
        for _ in range(3):
            wb.launch(cell["saxpy"], 4, [2.0, x], [y])
    for changes, expected in (({"a": 5.0}, 15.0), ({}, 6.0)):
        rec.rewind()
        rec.replay(**changes)
        assert y.numpy().tolist() == [expected] * 4
