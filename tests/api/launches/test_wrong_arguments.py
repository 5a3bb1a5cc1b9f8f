"""What public functions say of arguments of the wrong kind: one error that names the function and what it got."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show


@wb.kernel
def doubled(x: wb.array[float]):
    x[wb.tid()] *= 2.0


@wb.kernel
def moved(x: wb.array[float], by: wb.vec3):
    x[wb.tid()] += by[0]


HOST = np.zeros(4, np.float32)
CASES: dict[str, tuple[Callable[[], object], str]] = {
    "copy from NumPy": (lambda: wb.copy(wb.zeros(4), HOST), "copy\\(\\) reads a Workbench array; it got 'ndarray'"),
    "copy to NumPy": (lambda: wb.copy(HOST, wb.zeros(4)), "copy\\(\\) writes to a Workbench array; it got 'ndarray'"),
    "clone": (lambda: wb.clone(HOST), "clone\\(\\) takes a Workbench array"),
    "zeros_like": (lambda: wb.zeros_like([1, 2]), "zeros_like\\(\\) .* a Workbench array; it got 'list'"),
    "empty_like": (lambda: wb.empty_like(HOST, device="cpu"), "a Workbench array; it got 'ndarray'"),
    "a set": (lambda: wb.launch(moved, 1, {wb.zeros(1), 1.0}), "inputs is a list .* this is a set"),
    "a complex number": (lambda: wb.launch(moved, 1, [wb.zeros(1), np.ones(3, complex)]), "by takes vec3: 3 numbers"),
    "gradcheck": (lambda: wb.gradcheck("doubled", 1, []), "gradcheck\\(\\) takes a kernel; this is a str"),
    "explain_grad": (lambda: wb.explain_grad(wb.zeros(1), wb.zeros(1)), "takes the tape, .* it got 'array'"),
    "gradients_of": (lambda: wb.gradients_of(lambda: wb.zeros(1), 3), "takes its arrays by name; it got 'int'"),
    "sweep": (lambda: wb.sweep(print, [1, 2]), "sweep\\(\\) takes the values of each axis by its name"),
    "bench": (lambda: wb.bench(3), "bench\\(\\) takes a function that launches kernels; it got 'int'"),
    "cuda_module": (lambda: wb.cuda_module(3), "cuda_module\\(\\) takes the text"),
    "struct": (lambda: wb.struct(lambda: 3), "@wb.struct decorates a class .* it got 'function'"),
    "inspect.ir": (lambda: wb.inspect.ir(abs), "ir\\(\\) takes a kernel"),
    "inspect.parameters": (lambda: wb.inspect.parameters(3), "takes a kernel; this is an int"),
    "step": (lambda: wb.step(3, 0, []), "step\\(\\) takes a kernel"),
    "Kernel": (lambda: wb.Kernel(3), "Kernel\\(\\) takes what @wb.kernel read; it got 'int'.  Write @wb.kernel"),
    "Func": (lambda: wb.Func(doubled), "Func\\(\\) takes what @wb.func read; it got 'Kernel'.  Write @wb.func"),
    "CudaKernel": (lambda: wb.CudaKernel("a", "b", None), "CudaKernel\\(\\) takes a signature; it got 'str'"),
    "LaunchPair": (lambda: wb.LaunchPair(None, {}), "LaunchPair\\(\\) takes a record"),
    "Recorder": (lambda: wb.Recorder(3), "Recorder\\(\\) takes entries; it got 'int'"),
    "build_cell": (lambda: wb.build_cell(None, {}), "build_cell\\(\\) takes the text of a cell"),
    "build_cell's names": (lambda: wb.build_cell("", 3), "the names that the cell sees; it got 'int'.  Write globals"),
    "get_device": (lambda: wb.get_device(HOST), "A device is given by its name; this is an ndarray"),
    "Stream": (lambda: wb.Stream(3), "A device is given by its name; this is an int"),
    "launch_tiled": (lambda: wb.launch_tiled(doubled, 1, None), "inputs is a list .*; this is None"),
    "gradcheck's inputs": (lambda: wb.gradcheck(doubled, 4, 3), "inputs is a list .*; this is an int"),
    "step's outputs": (lambda: wb.step(doubled, 4, [], "x"), "outputs is a list .*; this is a str"),
    "adj_inputs": (lambda: wb.launch(doubled, 4, [HOST], adj_inputs=3), "adj_inputs is a list of arrays; it got 'int'"),
    "checks": (lambda: wb.launch(doubled, 4, [HOST], checks="on"), "checks is True, False or None, not 'on'"),
    "copy_": (lambda: wb.zeros(4).copy_(HOST), "A copy needs a Workbench array; this is an ndarray"),
    "add_": (lambda: wb.zeros(4).add_(3), "A sum needs a Workbench array; this is an int"),
    "grad": (lambda: wb.grad(3)(wb.zeros(1)), "taken of a function that launches kernels; it got 'int'"),
    "sweep's axis": (lambda: wb.sweep(print, {"n": 3}), "takes the values of n as a list; it got 'int'"),
    "array_scan": (lambda: wb.utils.array_scan(wb.zeros(4), HOST), "array_scan\\(\\) writes to an array"),
    "macros": (lambda: wb.cuda_module("", defines=3), "cuda_module\\(\\) takes macros by their names"),
    "Adam": (lambda: wb.optim.Adam(3), "An optimiser takes arrays; it got 'int'.  Write \\[x, y\\]"),
    "SGD.step": (lambda: wb.optim.SGD([wb.zeros(1)]).step(3), "step\\(\\) takes a gradient for each parameter; it got"),
    "LBFGS.step": (
        lambda: wb.optim.LBFGS([wb.zeros(1, requires_grad=True)]).step(3),
        "takes a function that computes the loss; it got",
    ),
    "wait": (lambda: wb.wait(3), "takes a list of what runs in the background; it got 'int'.  Write \\[work\\]"),
    "wait's list": (lambda: wb.wait([3]), "waits for what runs in the background; it got 'int'"),
    "inspect.why": (lambda: wb.inspect.why(3), "why\\(\\) takes a kernel, or its name"),
    "show.source": (lambda: show.source(3), "source\\(\\) takes a kernel"),
}


def test_sizes_may_be_in_an_array_without_dimensions():
    x = wb.ones(np.array(3), device="cpu")
    wb.launch(doubled, np.array(3), [x])
    assert x.numpy().tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("name", CASES)
def test_the_error_names_the_function_and_what_it_got(name: str):
    call, words = CASES[name]
    with pytest.raises(wb.WorkbenchError, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: wb.length(3.0), "length\\(a\\) has no value for \\(float\\)"),
        (lambda: wb.inverse(3.0), "inverse\\(a\\) has no value for \\(float\\)"),
        (lambda: wb.rcp(None), "rcp\\(x\\) has no value for \\(NoneType\\)"),
        (lambda: wb.vec3(None), "vec3\\(\\) takes numbers, not None"),
        (lambda: wb.sin("x"), "sin\\(x\\) has no value for \\(str\\)"),
        (lambda: wb.sin(1, 2), "sin\\(x\\) has no value for \\(int, int\\)"),
    ],
)
def test_a_builtin_names_itself(call: Callable[[], object], words: str):
    with pytest.raises(TypeError, match=words):
        call()


def test_a_tape_has_no_gradient_of_what_is_no_array():
    with pytest.raises(KeyError, match="gradients are of arrays; this is an ndarray"):
        wb.Tape().gradients[HOST]
    assert 3 not in wb.Tape().gradients


def test_a_kernel_is_not_iterable():
    """Python would try [0], [1], … for ever, because brackets launch: `list(doubled)` took all memory."""
    with pytest.raises(TypeError, match="'Kernel' object is not iterable"):
        list(doubled)
    with pytest.raises(TypeError, match="not iterable"):
        3 in doubled  # noqa: B015
    with pytest.raises(TypeError, match=r"mat22\(\) takes numbers, not <kernel doubled"):
        wb.mat22(doubled)
