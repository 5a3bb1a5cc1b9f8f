"""Code with checks has two versions on the CPU: a launch compiles the one it needs, and results do not tell which."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.kernels.fault_cases import untouched, with_canaries
from workbench import events
from workbench.api.builds import keys

TEXT = """
@kernel
def shift(x: array[float], y: array[float], n: int):
    i = tid()
    y[i] = x[i + n] * 2.0

@kernel
def gather(at: array[int], x: array[float], y: array[float]):
    i = tid()
    y[i] = x[at[i]]
"""


@pytest.fixture
def shift(own_cache: Path) -> wb.Kernel:
    return wb.build_cell(TEXT, {}, checks=True, compile=False).kernels["shift"]


@pytest.fixture
def builds() -> Any:
    done: list[Any] = []
    unsubscribe = events.subscribe(done.append, events.CompileDone)
    yield done
    unsubscribe()


def shifted(n: int, x: wb.array, y: wb.array, dim: int, shift: wb.Kernel) -> str:
    """The message of the launch's fault, or ""."""
    try:
        wb.launch(shift, dim, [x, y, n])
    except wb.KernelFault as fault:
        return fault.message
    return ""


def test_a_launch_compiles_the_version_that_it_needs(shift: wb.Kernel, builds: list[Any]) -> None:
    x, y = wb.array(np.arange(8, dtype=np.float32)), wb.zeros(8)
    assert shifted(2, x, y, 6, shift) == "" and len(builds) == 1
    assert y.numpy().tolist() == [4, 6, 8, 10, 12, 14, 0, 0]
    assert "asked for index 8" in shifted(3, x, y, 6, shift) and len(builds) == 2
    assert y.numpy().tolist() == [6, 8, 10, 12, 14, 0, 0, 0]
    assert keys.why("shift") == ("every check is needed",)
    assert shifted(2, x, y, 6, shift) == "" and shifted(9, x, y, 1, shift) and len(builds) == 2


@pytest.mark.parametrize("first", [0, 2, 5])
def test_whichever_launch_comes_first(first: int, shift: wb.Kernel) -> None:
    """Every order of launches that fit and that do not has the faults and numbers of Python's own indexing."""
    for n, dim in itertools.chain([(first, 4)], itertools.product((-1, 0, 2, 5, 9), (1, 4))):
        x, y = (with_canaries(np.arange(6, dtype=np.float32), False) for _ in range(2))
        want = np.arange(6, dtype=np.float32)
        for i in range(dim):
            want[i] = 2 * x[0][i + n] if -6 <= i + n < 6 else 0  # a load out of range gives 0
        message = shifted(n, *(wb.array(v[0], copy=False) for v in (x, y)), dim, shift)
        assert bool(message) == any(not -6 <= i + n < 6 for i in range(dim))
        assert np.array_equal(y[0], want) and untouched(*x) and untouched(*y)


def test_what_is_replayed_captured_and_taped_takes_all_launches(shift: wb.Kernel, tmp_path: Path) -> None:
    x, y = wb.array(np.arange(8, dtype=np.float32), requires_grad=True), wb.zeros(8, requires_grad=True)
    with wb.record(inputs=True) as record:
        wb.launch(shift, 4, [x, y, 1])
    with pytest.raises(wb.KernelFault, match="asked for index 8"):
        record.replay(n=5)
    record.save(tmp_path / "r.wbr")
    with pytest.raises(wb.KernelFault, match="asked for index 8"):
        wb.load_record(tmp_path / "r.wbr").replay(n=5)
    with wb.capture() as graph:
        wb.launch(shift, 4, [x, y, 2])
    graph.launch()
    assert y.numpy()[:4].tolist() == [4, 6, 8, 10]
    with wb.Tape() as tape:
        wb.launch(shift, 4, [x, y, 4])
    tape.backward(grads={y: wb.ones(8)})
    assert x.grad.numpy().tolist() == [0, 0, 0, 0, 2, 2, 2, 2]


def test_indices_from_data_are_checked_in_every_version(own_cache: Path) -> None:
    gather = wb.build_cell(TEXT, {}, checks=True, compile=False).kernels["gather"]
    x, y = wb.array(np.arange(4, dtype=np.float32)), wb.zeros(3)
    wb.launch(gather, 3, [wb.array([3, 0, -1]), x, y])
    assert y.numpy().tolist() == [3, 0, 3]
    with pytest.raises(wb.KernelFault, match="asked for index 4"):
        wb.launch(gather, 3, [wb.array([0, 4, 1]), x, y])
    with pytest.raises(wb.KernelFault, match="axis 0; thread"):
        wb.launch(gather, 4, [wb.array([0, 1, 2]), x, y])


def test_a_replay_of_several_launches_goes_on_where_one_needs_all_checks(own_cache: Path, builds: list[Any]) -> None:
    """A replay compiles nothing until a launch needs it; what ran before is not run again."""
    drag = "@kernel\ndef drag(x: array[float], y: array[float], m: int):\n    i = tid()\n    y[i] = x[i + m] * 3.0\n"
    text = f"{TEXT}\n{drag}"
    kernels = wb.build_cell(text, {}, checks=True, compile=False).kernels
    x, y, z = wb.array(np.arange(8, dtype=np.float32)), wb.zeros(8), wb.zeros(8)
    with wb.record() as record:
        z.fill_(1.0)
        wb.launch(kernels["shift"], 4, [x, y, 1])
        z.add_(y)
        wb.launch(kernels["drag"], 4, [z, y, 4])
        z.add_(y)
    assert len(builds) == 2 and z.numpy().tolist() == [6, 8, 10, 12, 1, 1, 1, 1]
    y.fill_(0.0)
    record.replay()
    assert len(builds) == 2 and z.numpy().tolist() == [6, 8, 10, 12, 1, 1, 1, 1]
    with pytest.raises(wb.KernelFault, match="asked for index 8"):
        record.replay(m=5)
    assert len(builds) == 3 and y.numpy()[:4].tolist() == [3, 3, 3, 0] and z.numpy()[:4].tolist() == [3, 5, 7, 9]
    with pytest.raises(wb.KernelFault, match="asked for index 8"):
        record.replay(n=5)
    assert len(builds) == 4 and z.numpy().tolist() == [1] * 8
    record.replay(n=2)
    assert len(builds) == 4 and z.numpy()[:4].tolist() == [8, 10, 12, 14]


def test_a_replay_of_thousands_of_launches_that_need_all_checks(shift: wb.Kernel, builds: list[Any]) -> None:
    x, y = wb.array(np.arange(8, dtype=np.float32)), wb.zeros(8)
    with wb.record() as record:
        for _ in range(3000):
            wb.launch(shift, 4, [x, y, 1])
    assert len(builds) == 1
    with pytest.raises(wb.KernelFault, match="asked for index 8"):
        record.replay(n=5)
    record.replay(n=2)
    assert len(builds) == 2 and y.numpy()[:4].tolist() == [4, 6, 8, 10]
    x, z = wb.array(np.arange(6, dtype=np.int32)), wb.zeros(6)
    gather = wb.build_cell(TEXT, {}, checks=True, compile=False).kernels["gather"]
    with wb.record() as record:
        for _ in range(3000):
            wb.launch(gather, 6, [x, wb.ones(6), z])
    record.replay()
    assert z.numpy().tolist() == [1] * 6
