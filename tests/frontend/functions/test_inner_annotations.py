"""Annotations of kernels that functions make: names that nothing but the annotation uses are what Python found.

No `from __future__ import annotations` here: it would make texts of them, whose names are gone.
"""

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.api.builds import arguments

t = wb.int32  # another thing of the same name, which is not meant below


def doubled(t: Any) -> wb.Kernel:
    @wb.kernel
    def double(x: wb.array[t], y: wb.array(dtype=t)):  # pyright: ignore[reportInvalidTypeForm]
        i = wb.tid()
        y[i] = x[i] + x[i]

    return double


def first_of(n: int) -> wb.Kernel:
    @wb.func
    def first(v: wb.vector(n, float)) -> t:  # pyright: ignore[reportInvalidTypeForm]
        return int(v[0])

    @wb.kernel
    def firsts(x: wb.array[wb.vector(n, float)], y: wb.array[int]):
        i = wb.tid()
        y[i] = first(x[i])

    return firsts


@pytest.mark.parametrize("dtype", [wb.float32, wb.float64, wb.int64])
def test_a_type_given_to_the_function_around(dtype: Any) -> None:
    x, y = wb.array([1, 2], dtype=dtype), wb.zeros(2, dtype=dtype)
    wb.launch(doubled(dtype), 2, inputs=[x], outputs=[y])
    assert y.numpy().tolist() == [2, 4] and y.dtype == dtype


@pytest.mark.parametrize("n", [3, 5])
def test_a_length_given_to_the_function_around(n: int) -> None:
    x, y = wb.array(np.full((2, n), 7.9, np.float32), dtype=wb.vector(n, float)), wb.zeros(2, dtype=int)
    wb.launch(first_of(n), 2, inputs=[x], outputs=[y])
    assert y.numpy().tolist() == [7, 7]


@pytest.mark.parametrize("uniforms", [[], [True]], ids=["no_uniform", "uniforms"])
def test_a_text_whose_name_is_gone_says_what_to_do(uniforms: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    def make(kind: Any) -> Any:
        def fill(x: "wb.array[kind]"):
            x[wb.tid()] = 1

        return fill

    monkeypatch.setattr(arguments, "IN_USE", uniforms)  # a slider anywhere in the process
    kernel = wb.kernel(make(float))
    with pytest.raises(wb.KernelTypeError, match="name 'kind' is not defined") as caught:
        wb.launch(kernel, 1, [wb.zeros(1)])
    assert "is known where the body uses it too" in caught.value.advice
