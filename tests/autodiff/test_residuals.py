"""Kernels that store results of loops, adjoints that read them: the bits are those of the kernel and its adjoint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.checks.numeric import X1, X2, kernel
from workbench.autodiff import adjoint, derived
from workbench.autodiff.adjoint_signature import residual_counts
from workbench.autodiff.directions import READING, STORING
from workbench.autodiff.residuals import with_residuals
from workbench.backends.python.interpret import run
from workbench.errors import NotDifferentiable
from workbench.ir.values import Function
from workbench.types import ArrayType, float64, int32

SIGNATURE = {"x": X2, "z": X1, "y": X2, "n": int32}
GREATEST = "m = x[i, 0]\nfor j in range(n):\n    m = max(m, x[i, j])"
TOTAL = "s = 0.0\nfor j in range(n):\n    s += exp(x[i, j] - m)"
MAPPED = "for j in range(n):\n    y[i, j] = exp(x[i, j] - m) / s"
TWICE = "s = 0.0\nt = 0.0\nfor j in range(n):\n    s += x[i, j]\n    t += x[i, j] * x[i, j]"
COUNTED = "c = 0\nfor j in range(n):\n    if x[i, j] > 0.5:\n        c += 1\ns = float64(c)"
NESTED = (
    "s = 0.0\nfor j in range(n):\n    t = 0.0\n    for k in range(n):\n        t += x[i, k] * x[i, j]\n    s += exp(-t)"
)
STEPPED = "s = 1.0\nfor j in range(n - 1, 0, -2):\n    s += sin(x[i, j])"
FEW = "s = 0.0\nfor j in range(4):\n    s += exp(x[i, j])"
SQUARE = "for j in range(n):\n    y[i, j] = x[i, j] * s * s"
BOTH = "for j in range(n):\n    y[i, j] = x[i, j] * s * t"


def _kernel(*parts: str) -> Function:
    return kernel("def k(x, z, y, n):\n    " + "\n".join(["i = tid()", *parts]).replace("\n", "\n    "), SIGNATURE)


def _loops(function: Function) -> int:
    return [op.name for op in function.body.ops].count("for")


def _given(seed: int, threads: int, n: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    rows = np.round(random.uniform(0.0, 1.0, (threads, max(n, 5))), 1 + seed)
    return {"x": rows, "z": random.uniform(0.2, 1.2, threads), "y": np.zeros_like(rows), "n": n}


@pytest.mark.parametrize(
    ("parts", "kept", "saved"),
    [
        ((GREATEST, TOTAL, MAPPED), [2, 2], 2),
        ((GREATEST, TOTAL, "y[i, 0] = m + log(s)"), [2, 2], 2),
        ((GREATEST, "y[i, 0] = m * m"), [1, 2], 1),
        ((TWICE, BOTH), [2, 0], 1),
        ((TWICE, "s = s / (1.0 + t)", SQUARE), [2, 0], 1),
        ((COUNTED, SQUARE), [0, 1], 1),
        ((NESTED, SQUARE), [1, 0], 1),
        ((STEPPED, SQUARE), [1, 0], 1),
        ((TOTAL.replace("m", "z[i]"), SQUARE), [1, 0], 1),
    ],
)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_the_bits_are_those_of_the_kernel_and_of_its_adjoint(
    parts: tuple[str, ...], kept: list[int], saved: int, n: int
) -> None:
    function = _kernel(*parts)
    reverse = adjoint(function, numbers=False)
    forms = with_residuals(function, reverse)
    assert forms is not None
    storing, reading = forms
    assert residual_counts(storing) == kept
    assert (_loops(storing), _loops(reading)) == (_loops(function), _loops(reverse) - saved)
    given = _given(n, 3, n)
    residuals = [np.full((count, 3), 77, dtype) for count, dtype in zip(kept, (np.float64, np.int64), strict=True)]
    want, found = given["y"].copy(), given["y"].copy()
    run(function, 3, [given["x"], given["z"], want, n])
    run(storing, 3, [given["x"], given["z"], found, n, *residuals])
    assert found.tobytes() == want.tobytes()
    slopes = []
    for code, more in ((reverse, []), (reading, residuals)):
        cotangents = [np.zeros_like(given["x"]), np.zeros(3), np.ones_like(want) + given["x"]]
        run(code, 3, [given["x"], given["z"], want, n, *cotangents, *more])
        slopes.append(b"".join(c.tobytes() for c in cotangents))
    assert slopes[0] == slopes[1]


@pytest.mark.parametrize(
    "parts",
    [
        (FEW, SQUARE),  # few iterations are computed again
        ("s = 0.0\nfor j in range(n):\n    s += x[i, j]", "y[i, 0] = s"),  # the adjoint needs no result
        ("x[i, 0] = 2.0", TOTAL.replace("m", "1.0"), "y[i, 0] = s * s"),  # the kernel changes what the loop reads
        (TOTAL.replace("m", "1.0"), "y[i, 0] = s * s", "x[i, 0] = 2.0"),
        ("s = x[i, 0]", SQUARE),  # no loop
        (TOTAL.replace("m", "1.0"), "atomic_add(z, 0, x[i, 0] * s)", "atomic_add(z, i // 2, s)"),  # sums in an order
    ],
)
def test_kernels_without_residuals(parts: tuple[str, ...]) -> None:
    function = _kernel(*parts)
    for direction in (STORING, READING):
        with pytest.raises(NotDifferentiable):
            derived(function, direction, numbers=False)


def test_a_loop_that_only_looks_like_the_kernels_is_not_taken() -> None:
    """An adjoint of another kernel: other starts, other rows, other operations."""
    function = _kernel(TOTAL.replace("m", "1.0"), SQUARE)
    others = [
        TOTAL.replace("m", "2.0"),
        TOTAL.replace("m", "1.0").replace("s = 0.0", "s = 0.5"),
        TOTAL.replace("m", "1.0").replace("range(n)", "range(1, n)"),
        TOTAL.replace("m", "1.0").replace("exp", "sin"),
        TOTAL.replace("m", "1.0").replace("x[i, j]", "x[i, 0]"),
        TOTAL.replace("m", "1.0").replace("s +=", "s -="),
    ]
    for other in others:
        assert with_residuals(function, adjoint(_kernel(other, SQUARE), numbers=False)) is None
    assert with_residuals(function, adjoint(_kernel(TOTAL.replace("m", "1.0"), SQUARE), numbers=False)) is not None


def test_threads_of_two_dimensions_have_a_column_each() -> None:
    x3 = ArrayType(float64, 3)
    text = """
        def k(x, y, n):
            a, b = tid()
            s = 0.0
            for j in range(n):
                s += exp(x[a, b, j])
            y[a, b, 0] = s * s
    """
    function = kernel(text, {"x": x3, "y": x3, "n": int32})
    forms = with_residuals(function, adjoint(function, numbers=False))
    assert forms is not None
    x = np.random.default_rng(0).uniform(0.0, 1.0, (2, 3, 5))
    residuals, slope = [np.zeros((1, 6)), np.zeros((0, 6), np.int64)], np.zeros_like(x)
    run(forms[0], (2, 3), [x, np.zeros_like(x), 5, *residuals])
    np.testing.assert_allclose(residuals[0][0], np.exp(x).sum(2).reshape(-1))
    run(forms[1], (2, 3), [x, np.zeros_like(x), 5, slope, np.ones_like(x), *residuals])
    np.testing.assert_allclose(slope, 2 * np.exp(x) * np.exp(x).sum(2, keepdims=True))
