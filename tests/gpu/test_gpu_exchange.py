"""Device memory shared with CuPy and PyTorch: both ways, without copies, and in order with each other's streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

CELL = """
def double(x: array[float], y: array[float]):
    i = tid()
    y[i] = 2.0 * x[i]
"""
N = 1 << 20
pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def double() -> Any:
    return wb.build_cell(CELL, {}, backend="cpu").names["double"]


@pytest.fixture(params=["cupy", "torch"])
def library(request: pytest.FixtureRequest, device: str) -> Any:
    """CuPy or PyTorch, where it is installed and sees the device."""
    found = pytest.importorskip(request.param)
    if request.param == "torch" and not found.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return found


def ones(library: Any) -> Any:
    """A million ones, made by the library on the device."""
    if library.__name__ == "torch":
        return library.ones(N, dtype=library.float32, device="cuda:0")
    return library.ones(N, dtype=library.float32)


def host(value: Any) -> np.ndarray[Any, Any]:
    return value.get() if hasattr(value, "get") else value.cpu().numpy()


def test_dlpack_shares_memory_both_ways(library: Any, device: str, double: Any) -> None:
    theirs = ones(library)
    x, y = wb.from_dlpack(theirs), wb.zeros(N, float, device=device)
    wb.launch(double, N, [x, y])
    back = library.from_dlpack(y)
    back += 1
    wb.synchronize(device)
    np.testing.assert_array_equal(y.numpy(), np.full(N, 3, np.float32))
    x.fill_(5.0)
    wb.synchronize(device)
    assert host(theirs)[-1] == 5


def test_the_cuda_array_interface(library: Any, device: str) -> None:
    x = wb.array(np.arange(N, dtype=np.float32), device=device)
    taken = library.asarray(x[::2]) if library.__name__ == "cupy" else library.as_tensor(x, device="cuda:0")[::2]
    np.testing.assert_array_equal(host(taken), np.arange(0, N, 2, dtype=np.float32))


def test_work_in_a_stream_of_ours_is_captured_into_a_graph(library: Any, device: str, double: Any) -> None:
    x, y, z = (wb.zeros(N, float, device=device) for _ in range(3))
    theirs_x, theirs_y = library.from_dlpack(x), library.from_dlpack(y)
    wb.synchronize(device)
    with wb.capture() as graph:
        x.fill_(3.0)
        with wb.capture_stream(reads=[x], writes=[y]) as stream:
            if library.__name__ == "cupy":
                own = getattr(library.cuda.Stream, "from_external", None)  # since CuPy 14, which warns of the other
                with own(stream) if own else library.cuda.ExternalStream(int(stream.handle)):
                    library.multiply(theirs_x, 2.0, out=theirs_y)
            else:
                with library.cuda.stream(library.cuda.ExternalStream(int(stream.handle))):
                    library.mul(theirs_x, 2.0, out=theirs_y)
        wb.launch(double, N, [y, z])
    for _ in range(2):
        graph.launch()
    np.testing.assert_array_equal(z.numpy(), np.full(N, 12, np.float32))
