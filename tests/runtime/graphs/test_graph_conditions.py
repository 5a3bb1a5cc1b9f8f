"""`if`, `else` and `while` in a graph on drivers of several versions: what one lacks is made of what it has."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import DeviceError
from workbench.runtime.device.device import driver_of

DEVICE = "emulated"
WITH_ELSE, WITHOUT_ELSE = (12_080, 13_000), (12_040, 12_060)


@wb.kernel
def change(flag: wb.array[int], y: wb.array[int], by: int):
    flag[0] = 1 - flag[0]
    y[0] = 10 * y[0] + by


@wb.kernel
def count(flag: wb.array[int], y: wb.array[int]):
    flag[0] -= 1
    y[0] += 1


@pytest.fixture
def of_version(need: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Any]:
    """Makes the emulated driver one of this version; returns it."""
    need("nvrtc")

    def become(version: int) -> Any:
        found = driver_of(wb.get_device(DEVICE))
        monkeypatch.setattr(found.api.state, "version", version)
        return found

    return become


def numbers(*values: int) -> Any:
    return wb.array(np.array(values, np.int32), device=DEVICE)


@pytest.mark.parametrize("version", [*WITHOUT_ELSE, *WITH_ELSE])
@pytest.mark.parametrize("branches", ["both", "true", "false"])
def test_one_branch_runs_though_it_changes_the_condition(
    of_version: Callable[[int], Any], version: int, branches: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, sizes = of_version(version), []
    add = found.api.cuGraphAddNode
    monkeypatch.setattr(
        found.api, "cuGraphAddNode", lambda *args: sizes.append(args[-1].conditional.size) or add(*args)
    )
    flag, y = numbers(1), numbers(0)
    made: dict[str, Any] = {
        name: lambda by=by: wb.launch(change, 1, [flag, y, by], device=DEVICE)
        for name, by in (("true", 1), ("false", 2))
        if branches in (name, "both")
    }
    with wb.capture() as g:
        wb.capture_if(flag, made.get("true"), made.get("false"))
        wb.launch(change, 1, [flag, y, 3], device=DEVICE)
    for start in (1, 0):
        flag.fill_(start)
        y.zero_()
        g.launch()
        taken = branches == "both" or start == (branches == "true")
        assert y.numpy().tolist() == [(10 * (2 - start) if taken else 0) + 3]
        assert flag.numpy().tolist() == [start if taken else 1 - start]
    expected = {"true": [1], "false": [2] if version in WITH_ELSE else [1]}
    expected["both"] = [2] if version in WITH_ELSE else [1, 1]
    assert sizes == expected[branches]


@pytest.mark.parametrize("version", [12_040, 13_000])
def test_a_loop_within_a_branch_ends(of_version: Callable[[int], Any], version: int) -> None:
    of_version(version)
    flag, turns, y = numbers(0), numbers(3), numbers(0)
    with wb.capture() as g:
        loop = lambda: wb.capture_while(turns, lambda: wb.launch(count, 1, [turns, y], device=DEVICE))  # noqa: E731
        wb.capture_if(flag, lambda: y.fill_(-1), loop)
    for start, expected in ((0, 3), (1, -1)):
        flag.fill_(start)
        turns.fill_(3)
        y.zero_()
        g.launch()
        assert y.numpy().tolist() == [expected]


@pytest.mark.parametrize(("version", "kind"), [*itertools.product((12_000, 12_030), ("if", "while"))])
def test_a_driver_without_conditions_is_refused_with_the_one_that_is_needed(
    of_version: Callable[[int], Any], version: int, kind: str
) -> None:
    of_version(version)
    flag, y = numbers(0), numbers(0)
    step = lambda: wb.launch(count, 1, [flag, y], device=DEVICE)  # noqa: E731
    with wb.capture() as g:
        (wb.capture_if if kind == "if" else wb.capture_while)(flag, step)
    with pytest.raises(
        DeviceError, match=rf"`{kind}` in a graph needs a driver for CUDA 12.4 .* CUDA 12.{version % 1000 // 10}"
    ):
        g.launch()
    step()
    assert y.numpy().tolist() == [1], "what is no graph runs"
