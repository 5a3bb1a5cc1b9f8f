"""Dimensions of a launch that may be computed in parts: what is proved, what is refused, random kernels in parts."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.api.builds.build import ir_of
from workbench.api.kernels.kernel import Kernel, kernel
from workbench.backends.python.interpret import run
from workbench.errors import KernelFault
from workbench.passes.analysis.partition import Partition, partition
from workbench.passes.positioned import positioned


def made(body: str, params: str = "x: wb.array[float], n: int, y: wb.array[float]") -> Kernel:
    scope: dict[str, Any] = {"wb": wb}
    text = f"def k({params}):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    exec(text, scope)
    return kernel(scope["k"], source=text)


def known(
    body: str, params: str = "x: wb.array[float], n: int, y: wb.array[float]", step: str = "forward"
) -> Partition:
    found = made(body, params)
    return partition(ir_of(found.specialise().function, step, False, found.checkpoints))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("i = wb.tid()\ny[i] = x[i] + x[0]", "x is accessed at other elements"),
        ("i = wb.tid()\ny[i] = x[i]\ny[n] = 1.0", "y is accessed at other elements"),
        ("i = wb.tid()\ny[0] = x[i]", "write to one element of y"),
        ("i = wb.tid()\ny[n] += x[i]\nif y[0] > 1.0:\n    y[1] += 1.0", "write to one element of y"),
        ("i = wb.tid()\nx[i] = wb.atomic_add(y, 0, 1.0)", "the old value of an update of y"),
        ("i = wb.tid()\nwb.atomic_exch(y, 0, x[i])", "write to one element of y"),
        ("i = wb.tid()\nwb.atomic_add(y, 0, x[i])\nwb.atomic_min(y, 1, x[i])", "y is updated in several ways"),
    ],
)  # fmt: skip
def test_a_dimension_stays_whole(body: str, why: str) -> None:
    (dimension,) = known(body).dimensions
    assert dimension.refused is not None and why in dimension.refused.text


def test_an_index_as_two_subscripts_of_one_array() -> None:
    (dimension,) = known("i = wb.tid()\ny[i] = A[i, i]", "A: wb.array2d[float], y: wb.array[float]").dimensions
    assert dimension.refused is not None and "two subscripts of A" in dimension.refused.text


def test_what_is_proved_of_a_kernel_and_its_derivatives() -> None:
    params = "A: wb.array2d[float], v: wb.array[float], s: float, y: wb.array[float]"
    body = "i = wb.tid()\nt = 0.0\nfor j in range(A.shape[1]):\n    t += A[i, j] * v[j]\ny[i] = s * t"
    forward, adjoint, tangent = (known(body, params, step) for step in ("forward", "adjoint", "tangent"))
    (dimension,) = forward.dimensions
    assert dimension.refused is None and dimension.axes == {"A": 0, "y": 0} and not dimension.merged
    # The size of the axis that stays whole is used; that of the divided one is not.
    assert [(part.array, part.axis) for part in forward.sizes] == [("A", 1)]
    (dimension,) = adjoint.dimensions
    assert dimension.refused is None and dimension.merged == {"adj_v": "add", "adj_s": "add"}
    assert dimension.axes == {"A": 0, "adj_A": 0, "adj_y": 0}
    (dimension,) = tangent.dimensions
    assert dimension.refused is None and dimension.axes == {"A": 0, "tan_A": 0, "y": 0, "tan_y": 0}


@pytest.mark.parametrize(
    "body",
    [
        "i = wb.tid()\ny[i] = x[i] + float(i)",
        "i = wb.tid()\nif i < n:\n    y[i] = x[i]",
        "i = wb.tid()\nstate = wb.rand_init(1, i)\ny[i] = wb.randf(state)",
        "i = wb.tid()\nj = 0\nfor _ in range(n):\n    j = i\ny[i] = x[i] + float(j)",
    ],
)  # fmt: skip
def test_an_index_that_is_a_number_too_is_reported(body: str) -> None:
    (dimension,) = known(body).dimensions
    assert dimension.refused is None and dimension.numbered and dimension.axes["y"] == 0


def test_a_subscript_that_is_computed_is_none_of_the_index() -> None:
    (dimension,) = known("i = wb.tid()\ny[i] = x[i + 1]").dimensions
    assert dimension.refused is None and dimension.axes == {"y": 0}
    (dimension,) = known("i = wb.tid()\ny[i + 1] = x[i]").dimensions
    assert dimension.refused is not None and "write to one element of y" in dimension.refused.text


def test_each_dimension_is_looked_at_by_itself() -> None:
    params = "x: wb.array[float], z: wb.array[float], y: wb.array2d[float]"
    first, second = known("i, j = wb.tid()\ny[i, j] = x[i] + z[j] * float(j)", params).dimensions
    assert first.refused is None and first.axes == {"x": 0, "y": 0}
    assert second.refused is None and second.axes == {"z": 0, "y": 1}
    assert second.numbered and not first.numbered


_HEAD = "x: wb.array[float], z: wb.array[float], k: wb.array[int], n: int, t: wb.array[float], y: wb.array[float]"
_LINES = (
    "y[i] = s + x[i]", "s += x[i]", "s += z[n]", "s += z[k[i]]", "t[n] += s", "t[k[i]] += x[i]", "y[i] += s",
    "if x[i] > 0.5:\n    y[i] = s", "if i < x.shape[0]:\n    s += 1.0", "for j in range(n):\n    s += z[j] * x[i]",
    "s += float(k[i])", "if i < n:\n    s += 1.0", "s += float(i)", "s += x[n]", "s += float(x.shape[0])", "t[0] = s",
    "s += z[i % 4]", "y[x.shape[0] - 1 - i] = s", "s += float(z.shape[0])", "s += t[1]", "y[k[i]] = s",
    "for j in range(i):\n    s += 1.0", "wb.atomic_add(t, k[i], s)", "if i >= z.shape[0]:\n    return",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_parts_of_random_launches_are_the_whole(seed: int) -> None:
    chosen, proved, refused = random.Random(seed), 0, 0
    for _ in range(25):
        lines = chosen.sample(_LINES, chosen.randint(1, 4))
        found = known("\n".join(["i = wb.tid()", "s = 0.0", *lines]), _HEAD)
        (dimension,) = found.dimensions
        cut = dimension.axes
        if dimension.refused is not None:
            refused += 1
            continue
        proved += 1
        function = made("\n".join(["i = wb.tid()", "s = 0.0", *lines]), _HEAD).specialise().function
        numbers = np.random.default_rng(seed)
        # Whole numbers: sums of parts are the same, bit by bit.
        arrays: dict[str, Any] = {n: numbers.integers(0, 3, 8).astype(np.float32) for n in "xzy"}
        arrays |= {"k": numbers.integers(0, 4, 8).astype(np.int32), "t": np.zeros(8, np.float32)}
        whole = {n: a.copy() for n, a in arrays.items()}
        order = "xzknty"
        run(function, 8, [whole[n] if n != "n" else 3 for n in order])
        of_part = positioned(function, [0], {part: 0 for part in found.sizes if part.array in cut})
        merged = {n: np.zeros_like(arrays[n]) for n in dimension.merged}
        for part in (slice(0, 2), slice(2, 8)):
            given = {n: a[part] if n in cut else a.copy() for n, a in arrays.items()}
            try:
                values = [given[n] if n != "n" else 3 for n in order]
                run(of_part, part.stop - part.start, [*values, part.start, 8])
            except KernelFault as fault:
                raise AssertionError(lines) from fault
            for n in merged:
                merged[n] += given[n]
        for n in arrays:
            if n in merged:
                np.testing.assert_array_equal(merged[n], whole[n], err_msg=str(lines))
            elif n in cut:
                np.testing.assert_array_equal(arrays[n], whole[n], err_msg=str(lines))
    assert proved and refused
