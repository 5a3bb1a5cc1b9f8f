"""The way to a CUDA device, walked on a pretended one: driver layer, arrays, packing, launches, adjoints, replay.

It runs the tests of `tests/gpu` with the host shim behind the driver layer. It shows that addresses, parameters and
sizes are handed over rightly, not what hardware does with them.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb

TESTS = Path(__file__).parents[1]
if str(TESTS / "hostshim") not in sys.path:
    sys.path.insert(0, str(TESTS / "hostshim"))


def _on_the_device() -> Any:
    spec = importlib.util.spec_from_file_location("gpu_kernels_on_host", TESTS / "gpu/test_gpu_kernels.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GPU = _on_the_device()


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch, need: Callable[[str], str]) -> Iterator[str]:
    need("g++")
    import emulated

    with emulated.device(monkeypatch) as name:
        yield name


@pytest.fixture
def cell() -> Any:
    return wb.build_cell(GPU.CELL, {}, backend="cpu").names


@pytest.mark.parametrize("name", GPU.SUITE)
def test_exact_kernels(name: str, device: str, cell: Any) -> None:
    GPU.test_exact_kernels_give_the_cpus_bits(name, device, cell)


def test_the_device_is_seen(device: str) -> None:
    assert [str(d) for d in wb.get_devices()] == ["cpu", "cuda:0"]
    assert wb.zeros(3, float).device.is_cuda
    with pytest.raises(wb.DeviceError, match="cuda:7"):
        wb.zeros(3, float, device="cuda:7")


@pytest.mark.parametrize("name", ["maths_is_within_its_bounds", "vectors", "zero_threads_do_nothing"])
def test_other_kernels(name: str, device: str, cell: Any) -> None:
    getattr(GPU, f"test_{name}")(device, cell)


def test_copies_fills_and_memory(device: str) -> None:
    GPU.test_copies_fills_and_clones(device)
    GPU.test_memory_is_given_back(device)


@pytest.mark.parametrize("n", [1, 33, 1000])
def test_the_adjoint(n: int, device: str, cell: Any) -> None:
    GPU.test_the_adjoint_sums_over_whole_and_partial_warps(n, device, cell)


def test_a_kept_launch_runs_again_with_other_arguments(device: str, cell: Any) -> None:
    x, y = wb.ones(100, float, device=device), wb.zeros(100, float, device=device)
    kept = wb.launch(cell["saxpy"], 100, [2.0, x], [y], record_cmd=True)
    import emulated

    before = len(emulated.LAUNCHES)
    kept.launch()
    kept.launch()
    assert emulated.LAUNCHES[before:] == [(1, 256), (1, 256)]
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
