"""What a device reports when something waits for it: faults of launches with checks, and what kernels printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.device.driver import driver
from workbench.runtime.launching import pending_faults

real = pytest.importorskip("cuda.bindings.driver")
DEVICES = 2

CELL = """
def pick(x: array[float], at: int, out: array[float]):
    i = tid()
    out[i] = x[at + i]

def halve(x: array[int], by: int):
    i = tid()
    x[i] = x[i] // by

def tell(x: array[int]):
    i = tid()
    if i == 0:
        print("seen", x[i])
"""


@pytest.fixture
def cell() -> Any:
    return wb.build_cell(CELL, {}, backend="cpu").names


def arrays(device: str = "cuda:0") -> tuple[wb.array, wb.array, wb.array]:
    return wb.ones(4, float, device=device), wb.zeros(4, float, device=device), wb.full(3, 8, int, device=device)


WAITS: dict[str, Callable[[wb.array, wb.Stream], object]] = {
    "synchronize": lambda x, s: wb.synchronize("cuda:0"),
    "read": lambda x, s: x.numpy(),
    "stream": lambda x, s: s.synchronize(),
    "event": lambda x, s: s.record().wait(),
    "cell": lambda x, s: pending_faults.settle_all(),
}


@pytest.mark.parametrize("wait", WAITS)
def test_a_fault_is_told_when_something_waits(wait: str, mock: Any, cell: Any) -> None:
    x, out, _ = arrays()
    stream = wb.Stream("cuda:0")
    before = len(mock.calls)
    wb.launch(cell["pick"], 4, [x, 0, out], checks=True, stream=stream)
    wb.launch(cell["pick"], 4, [x, 2, out], checks=True, stream=stream)
    assert "cuMemcpyDtoH" not in {c[0] for c in mock.calls[before:]}, "a launch with checks waits for nothing"
    with pytest.raises(wb.KernelFault, match=r"thread \(2,\) asked for index 4") as caught:
        WAITS[wait](x, stream)
    assert caught.value.function == "pick" and caught.value.location.line == 4 and caught.value.count == 2
    WAITS[wait](x, stream)
    wb.launch(cell["pick"], 4, [x, 0, out], checks=True)
    assert out.numpy().tolist() == [1, 1, 1, 1]


def test_the_first_of_several_faults_is_raised_and_the_others_are_named(mock: Any, cell: Any) -> None:
    x, out, n = arrays()
    wb.launch(cell["pick"], 4, [x, 3, out], checks=True)
    wb.launch(cell["halve"], 3, [n, 0], checks=True)
    wb.launch(cell["halve"], 3, [n, 2], checks=True)
    with pytest.raises(wb.KernelFault, match="asked for index 4") as caught:
        wb.synchronize("cuda:0")
    (note,) = caught.value.__notes__
    assert note.startswith("1 more launches on cuda:0 met faults: halve (")
    assert n.numpy().tolist() == [-1, -1, -1], "-1 is 8 // 0, and 8 // 0 // 2"


def test_devices_tell_apart(mock: Any, cell: Any) -> None:
    x, out, _ = arrays("cuda:1")
    wb.launch(cell["pick"], 4, [x, 2, out], checks=True)
    wb.synchronize("cuda:0")
    with pytest.raises(wb.KernelFault):
        wb.synchronize("cuda:1")


def test_launches_beyond_the_table_wait_for_those_before(mock: Any, cell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_faults, "SLOTS", 3)
    x, out, _ = arrays()
    for _ in range(3):
        wb.launch(cell["pick"], 4, [x, 2, out], checks=True)
    with pytest.raises(wb.KernelFault):
        wb.launch(cell["pick"], 4, [x, 0, out], checks=True)
    wb.launch(cell["pick"], 4, [x, 0, out], checks=True)
    wb.synchronize("cuda:0")


def test_a_graph_tells_its_faults_once_by_the_arguments_it_ran_with(mock: Any, cell: Any) -> None:
    x, out, _ = arrays()
    with wb.capture() as graph:
        wb.launch(cell["pick"], 4, [x, 2, out], checks=True)
    graph.launch()
    graph.launch()
    with pytest.raises(wb.KernelFault, match="asked for index 4") as caught:
        graph.update(at=0)
    assert caught.value.count == 4, "two faults in each of two runs"
    graph.update(at=0)
    graph.launch()
    wb.synchronize("cuda:0")
    assert out.numpy().tolist() == [1, 1, 1, 1]


def test_what_a_kernel_prints_is_shown_when_something_waits(mock: Any, cell: Any, capsys: Any) -> None:
    n = wb.full(3, 8, int, device="cuda:0")
    with wb.capture() as graph:
        wb.launch(cell["tell"], 3, [n])
    wb.launch(cell["tell"], 3, [n])
    graph.launch()
    wb.synchronize("cuda:0")
    assert capsys.readouterr().out == "seen 8\nseen 8\n"
    wb.synchronize("cuda:0")
    wb.launch(cell["tell"], 3, [n])
    pending_faults.settle_all()
    assert capsys.readouterr().out == "seen 8\n"
    assert pending_faults.settling(driver()).owes() == []


LATER: dict[str, Callable[[wb.array, Any, wb.Graph], object]] = {
    "launch": lambda n, cell, graph: wb.launch(cell["halve"], 3, [n, 1]),
    "strided copy": lambda n, cell, graph: wb.copy(n[::2], n[1:]),
    "graph": lambda n, cell, graph: graph.launch(),
    "load": lambda n, cell, graph: wb.launch(cell["pick"], 0, (arrays()[0], 0, arrays()[0])),
    "copy from the host": lambda n, cell, graph: n.assign(np.arange(3, dtype=np.int32)),
}


@pytest.mark.parametrize("later", LATER)
def test_text_that_the_driver_writes_with_a_later_call_is_shown(later: str, mock: Any, cell: Any, capsys: Any) -> None:
    """CUDA's driver writes printed text at the start of a launch, too: to the process's output, not to Python's."""
    n = wb.full(3, 8, int, device="cuda:0")
    with wb.capture() as graph:
        wb.launch(cell["halve"], 3, [n, 1])
    wb.launch(cell["halve"], 3, [n, 1])
    wb.launch(cell["tell"], 3, [n])
    stream = driver().stream_handle(0)
    assert driver().api.cuStreamQuery(stream)[0] == real.CUresult.CUDA_SUCCESS, "the kernel has printed"
    LATER[later](n, cell, graph)
    assert capsys.readouterr().out == "seen 8\n"
    wb.launch(cell["tell"], 3, [wb.full(3, 9, int, device="cuda:0")])
    wb.synchronize("cuda:0")
    assert capsys.readouterr().out == "seen 9\n"


def test_a_broken_device_keeps_no_faults_to_tell(mock: Any, cell: Any) -> None:
    x, out, _ = arrays()
    wb.launch(cell["pick"], 4, [x, 2, out], checks=True)
    mock.failing["cuCtxSynchronize"] = real.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(wb.DeviceError, match="CUDA refused cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS"):
        wb.synchronize("cuda:0")
    mock.failing.clear()
    assert pending_faults.settling(driver()).owes() == []
