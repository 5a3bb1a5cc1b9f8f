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
    "inspect.parameters": (lambda: wb.inspect.parameters(3), "takes a kernel; this is a int"),
    "step": (lambda: wb.step(3, 0, []), "step\\(\\) takes a kernel"),
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
        (lambda: wb.sin("x"), "sin\\(x\\) has no value for \\(str\\)"),
        (lambda: wb.sin(1, 2), "sin\\(x\\) has no value for \\(int, int\\)"),
    ],
)
def test_a_builtin_names_itself(call: Callable[[], object], words: str):
    with pytest.raises(TypeError, match=words):
        call()


def test_a_kernel_is_not_iterable():
    """Python would try [0], [1], … for ever, because brackets launch: `list(doubled)` took all memory."""
    with pytest.raises(TypeError, match="'Kernel' object is not iterable"):
        list(doubled)
    with pytest.raises(TypeError, match="not iterable"):
        3 in doubled  # noqa: B015
    with pytest.raises(TypeError, match="not iterable"):
        wb.mat22(doubled)
