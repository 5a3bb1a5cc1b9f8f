"""Hot paths stay short: how many functions of Python's a launch, a graph, a replay and a tape enter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

import workbench as wb
from tests.support.checks.python_calls import python_calls
from workbench.host.uniform import IN_USE


@wb.kernel
def scale(a: float, x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = a * x[i]


@pytest.fixture(autouse=True)
def without_sliders() -> Iterator[None]:
    """Forget another test's sliders, for which each launch would look."""
    before = IN_USE[:]
    IN_USE.clear()
    yield
    IN_USE[:] = before


def test_launches_graphs_and_backward_passes_enter_few_functions() -> None:
    x, y, z = (wb.ones(1, requires_grad=True) for _ in range(3))
    calls = python_calls(lambda: wb.launch(scale, 1, [2.0, x, y]))
    assert len(calls) <= 17, calls
    with wb.capture() as graph:
        wb.launch(scale, 1, [2.0, x, y])
    assert len(python_calls(lambda: graph.launch())) == 1
    for _ in range(2):  # the first tape of such launches binds their adjoints
        with wb.Tape() as tape:
            wb.launch(scale, 1, [2.0, x, y])
            wb.launch(scale, 1, [2.0, y, z])
        calls = python_calls(partial(tape.backward, z))
    assert len(calls) <= 20, calls


def test_a_long_replay_enters_no_more_functions_than_a_short_one() -> None:
    x, y = wb.ones(4), wb.zeros(4)
    counts: list[list[int]] = []
    for launches in (2, 200):
        with wb.record() as rec:
            for _ in range(launches):
                wb.launch(scale, 4, [2.0, x, y])
        counts.append([len(python_calls(partial(rec.replay, **changes))) for changes in ({}, {"a": 0.25})])
    assert counts[0] == counts[1] and counts[0][0] <= 20
