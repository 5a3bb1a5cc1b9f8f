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
from workbench.ir.analysis import Sizes
from workbench.passes.analysis.partition import Halo, Part, Partition, partition
from workbench.passes.positioned import Cut, positioned


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
        ("i = wb.tid()\ny[i + 1] = x[i]", "y is written, and not only at the thread's own index"),
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


def bounded(line: str, n: int = 16, threads: int = 16, params: str = "", step: str = "forward") -> Partition:
    """What is known of a launch of so many threads over arrays of n elements."""
    head = params or "x: wb.array[float], k: wb.array[int], m: int, y: wb.array[float]"
    found = made(f"i = wb.tid()\nn = x.shape[0]\n{line}", head)
    shapes = dict.fromkeys(["x", "k", "y", "adj_x", "adj_y"], (n,))
    function = ir_of(found.specialise().function, step, False, found.checkpoints)
    return partition(function, Sizes((threads,), shapes, {"m": 3}))


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        ("y[i] = x[max(i - 2, 0)] + x[min(i + 1, n - 1)]", 2, 1),
        ("y[i] = x[wb.clamp(i + 3, 0, n - 1)]", 0, 3),
        ("y[i] = x[min(i + 1, n - 2)]", 1, 1),
        ("y[i] = x[(i + n - 3) % n] + x[(i + 1) % n]", 3, 1),
        ("y[i] = x[(i - 3) % n]", 3, 0),
        ("y[i] = x[i - m]", 3, 0),
        ("y[i] = x[i]\nif i > 0:\n    y[i] += x[i - 1]", 1, 0),
        ("s = 0.0\nfor d in range(-2, 4):\n    s += x[(i + d + n) % n]\ny[i] = s", 2, 3),
        ("j = i\nif i > 0:\n    j = i - 1\ny[i] = x[j]", 1, 0),
        ("j = i - 1 if i > 0 else 0\ny[i] = x[j]", 1, 0),
        ("j = i + 1 if i < n - 1 else n - 1\ny[i] = x[j]", 0, 1),
    ],
)  # fmt: skip
def test_a_part_has_as_much_of_its_neighbours_as_subscripts_reach(line: str, before: int, after: int) -> None:
    (dimension,) = bounded(line).dimensions
    assert dimension.refused is None and dimension.axes == {"x": 0, "y": 0}
    assert dimension.halos == {"x": Halo(before, after)}


def test_an_adjoint_adds_to_what_its_kernel_reads() -> None:
    (dimension,) = bounded("y[i] = wb.sin(x[(i + 1) % n])", step="adjoint").dimensions
    assert dimension.refused is None
    assert dimension.halos == {"x": Halo(0, 1), "adj_x": Halo(0, 1, added=True)}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("y[(i + 1) % n] = x[i]", "y is written, and not only at the thread's own index"),
        ("x[i] = x[(i + 1) % n]", "x is written, and not only at the thread's own index"),
        ("s = 0.0\nfor d in range(n):\n    s += x[(i + d) % n]\ny[i] = s", "as far away as it is large"),
    ],
)  # fmt: skip
def test_what_reaches_too_far_or_is_written_there_stays_whole(line: str, why: str) -> None:
    (dimension,) = bounded(line).dimensions
    assert dimension.refused is not None and why in dimension.refused.text


@pytest.mark.parametrize("line", ["y[i] = x[n - 1 - i]", "y[i] = x[k[i]]", "y[i] = x[2 * i % n]", "y[i] = x[i % 4]"])
def test_a_subscript_without_a_bounded_offset_says_so(line: str) -> None:
    found = bounded(line)
    assert found.dimensions[0].axes.keys() <= {"y", "k"}
    assert "is not the thread's index plus a bounded number" in found.unbounded[Part("x", 0)].text


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
        if dimension.refused is not None or not cut:
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
        sizes = {part: 0 for part in found.sizes if part.array in cut}
        cuts = {Part(name, axis): Cut(0, 0) for name, axis in cut.items()}
        of_part = positioned(function, sizes, cuts, Sizes())
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


_READS = (
    "x[max(i - {a}, 0)]", "x[min(i + {a}, n - 1)]", "x[(i + {a}) % n]", "x[(i + n - {a}) % n]", "x[i - {a}]",
    "x[wb.clamp(i - {a}, 0, n - 1)]", "x[(i - {a}) % n]", "x[max(min(i + {a}, n - 2), 1)]", "x[i]",
    "(x[i - {a}] if i >= {a} else 2.0)", "x[i - {a} if i >= {a} else 0]", "(x[i + {a}] if i + {a} < n else 1.0)",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_parts_with_halos_of_random_launches_are_the_whole(seed: int) -> None:
    chosen = random.Random(seed)
    for _ in range(12):
        reads = [chosen.choice(_READS).format(a=chosen.randint(1, 3)) for _ in range(chosen.randint(1, 3))]
        line = f"y[i] = float(i) * 0.5 + {' + '.join(reads)}"
        params, n = "x: wb.array[float], y: wb.array[float]", 12
        (dimension,) = (found := bounded(line, n, n, params)).dimensions
        assert dimension.refused is None, line
        function = made(f"i = wb.tid()\nn = x.shape[0]\n{line}", params).specialise().function
        x, y = np.random.default_rng(seed).integers(0, 9, n).astype(np.float32), np.zeros(n, np.float32)
        run(function, n, [x, y])
        halo = dimension.halos.get("x", Halo(0, 0))
        cuts = {Part("x", 0): Cut(0, halo.before), Part("y", 0): Cut(0, 0)}
        of_part = positioned(function, dict.fromkeys(found.sizes, 0), cuts, Sizes((n,), {"x": (n,), "y": (n,)}))
        for begin, end in ((0, 5), (5, 12)):
            reached = np.arange(begin - halo.before, end + halo.after) % n
            mine = np.zeros(end - begin, np.float32)
            run(of_part, end - begin, [x[reached], mine, begin, n])
            np.testing.assert_array_equal(mine, y[begin:end], err_msg=line)


_STAGGERED = (
    "x[min(i, n - 1)]", "x[max(i - 1, 0)]", "x[wb.clamp(i - 2, 0, n - 1)]", "(x[i] if i < n else 1.0)",
    "(x[i - 1] if i > 0 else 2.0)", "float(n)", "float(y.shape[0] - i)", "x[min(i + 2, n - 1)]",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_padded_parts_of_staggered_launches_are_the_whole(seed: int) -> None:
    """Parts of one size have more threads together than the launch, and arrays are of several lengths."""
    chosen = random.Random(seed)
    for _ in range(12):
        n, threads, size = 12, chosen.choice([11, 12, 13]), chosen.choice([5, 7])
        line = f"y[i] = float(i) + {' + '.join(chosen.sample(_STAGGERED, 2))}"
        params = "x: wb.array[float], y: wb.array[float]"
        function = made(f"i = wb.tid()\nn = x.shape[0]\n{line}", params).specialise().function
        sizes = Sizes((threads,), {"x": (n,), "y": (threads,)})
        (dimension,) = (found := partition(function, sizes)).dimensions
        assert dimension.refused is None, line
        x, y = np.random.default_rng(seed).integers(1, 9, n).astype(np.float32), np.zeros(threads, np.float32)
        run(function, threads, [x, y])
        halo = dimension.halos.get("x", Halo(0, 0))
        cuts = {Part("x", 0): Cut(0, halo.before), Part("y", 0): Cut(0, 0)}
        extra = {Part("x", 0): n - threads}
        used = dict.fromkeys(found.sizes, 0)
        of_part = positioned(function, used, cuts, sizes, padded=(0,), extra=extra)
        padded, filled = np.zeros(3 * size, np.float32), np.full(3 * size, -1, np.float32)
        padded[:n] = x
        for begin in range(0, 3 * size, size):
            reached = np.arange(begin - halo.before, begin + size + halo.after) % len(padded)
            run(of_part, size, [padded[reached], filled[begin : begin + size], begin, threads])
        np.testing.assert_array_equal(filled[:threads], y, err_msg=line)
        assert (filled[threads:] == -1).all()
