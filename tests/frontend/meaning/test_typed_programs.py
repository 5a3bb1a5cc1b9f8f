"""Typed programs by chance mean the same everywhere: bit by bit on the interpreter, the CPU and the CUDA text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from msgspec.structs import replace

import workbench as wb
from tests.support.checks import meaning
from tests.support.devices import on_gpu
from tests.support.kernels.typed_programs import INPUTS, OUTPUTS, programs
from workbench.backends.base import Options
from workbench.backends.python.interpret import run

SIZE = 3
BATCH = 25


def collected(count: int) -> list[str]:
    """Programs, the same ones each time."""
    found: list[str] = []

    @settings(max_examples=count, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(programs())
    def each(text: str) -> None:
        found.append(text)

    each()
    return list(dict.fromkeys(found))


def arguments() -> list[np.ndarray]:
    random = np.random.default_rng(5)
    values = {
        "int32": [-7, 2147483647, 3], "uint8": [0, 255, 6], "int64": [-(2**62), 5, 2**40],
        "float32": [0.0, -2.5, 1e20], "float64": [1.5, -0.0, random.uniform(1, 2)],
    }  # fmt: skip
    given = [np.array(values[t], t) for t in INPUTS]
    return [*given, *(np.zeros(SIZE, t) for t in OUTPUTS)]


def check(texts: list[str]) -> int:
    """Compare; how many of the programs the language takes."""
    kernels = []
    for text in texts:
        try:
            kernels.append((text, meaning.define(text)["k"]))
        except wb.WorkbenchError:  # a literal that does not fit, say
            continue
    functions = [replace(k.specialise().function, name=f"k{n}") for n, (_, k) in enumerate(kernels)]
    library = on_gpu.Library(functions, Options())
    for function, (text, kernel) in zip(functions, kernels, strict=True):
        expected, shim, native = arguments(), arguments(), [wb.array(a) for a in arguments()]
        run(function, SIZE, expected)
        library.run(function.name, SIZE, shim)
        wb.launch(kernel, SIZE, inputs=native)
        for one, two, three in zip(expected, shim, native, strict=True):
            np.testing.assert_array_equal(three.numpy(), one, err_msg=f"CPU\n{text}")
            np.testing.assert_array_equal(two, one, err_msg=f"CUDA text\n{text}")
    return len(kernels)


@pytest.mark.slow
def test_a_few():
    texts = collected(15)
    assert check(texts) > len(texts) / 2


@pytest.mark.slow
def test_many():
    texts = collected(350)[15:]
    taken = sum(check(texts[n : n + BATCH]) for n in range(0, len(texts), BATCH))
    assert taken >= 200
