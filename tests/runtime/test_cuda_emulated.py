"""The way to a CUDA device, walked on the mock driver: arrays, packing, launches, adjoints, replay, graphs, streams.

It runs the tests of `tests/gpu` with the host shim behind the mock driver. It shows that addresses, parameters, sizes
and handles are handed over rightly, not what hardware does with them.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb

pytest.importorskip("cuda.bindings.driver")
TESTS = Path(__file__).parents[1]
if str(TESTS / "mockdriver") not in sys.path:
    sys.path.insert(0, str(TESTS / "mockdriver"))


def _on_the_device(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"{name}_on_host", TESTS / f"gpu/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GPU, RUNTIME = _on_the_device("test_gpu_kernels"), _on_the_device("test_gpu_runtime")


def _cases() -> list[Any]:
    """Every test of the runtime, once for each of its parameters."""
    cases = []
    for name, test in inspect.getmembers(RUNTIME, inspect.isfunction):
        if name.startswith("test_"):
            marks = [m for m in getattr(test, "pytestmark", []) if m.name == "parametrize"]
            values = marks[0].args[1] if marks else [None]
            cases += [pytest.param(test, v, id=f"{name}-{v}" if marks else name) for v in values]
    return cases


@pytest.fixture
def mock(monkeypatch: pytest.MonkeyPatch, need: Callable[[str], str]) -> Iterator[Any]:
    need("g++")
    import emulated

    with emulated.device(monkeypatch) as made:
        yield made


@pytest.fixture
def device(mock: Any) -> str:
    return "cuda:0"


@pytest.mark.parametrize(("test", "value"), _cases())
def test_the_runtime(test: Callable[..., None], value: Any, device: str) -> None:
    names = inspect.signature(test).parameters
    given: dict[str, Any] = {"device": device}
    if "cell" in names:
        given["cell"] = wb.build_cell(RUNTIME.CELL, {}, backend="cpu").names
    test(**given, **{name: value for name in names if name not in ("device", "cell")})


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


def test_a_kept_launch_runs_again_with_other_arguments(device: str, cell: Any, mock: Any) -> None:
    x, y = wb.ones(100, float, device=device), wb.zeros(100, float, device=device)
    kept = wb.launch(cell["saxpy"], 100, [2.0, x], [y], record_cmd=True)
    before = len(mock.launches)
    kept.launch()
    kept.launch()
    assert mock.launches[before:] == [(1, 256), (1, 256)]
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
