"""What loops compute alike is computed once: the same bits as without, whatever the arrays and the length of rows."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.backends.cpu.conftest import build, execute
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.ir.values import Function, walk
from workbench.limits import EXPANDED_BYTES
from workbench.passes import pipeline
from workbench.passes.loops.expansion import expand_scalars

ROWS = wb.array2d[wb.float32]
LONGEST = EXPANDED_BYTES // 4
"""Elements of the longest row whose values are held."""


@wb.kernel
def softmax(x: ROWS, y: ROWS):
    i = wb.tid()
    m = x[i, 0]
    for j in range(x.shape[1]):
        m = wb.max(m, x[i, j])
    s = 0.0
    for j in range(x.shape[1]):
        s += wb.exp(x[i, j] - m)
    for j in range(x.shape[1]):
        y[i, j] = wb.exp(x[i, j] - m) / s


@wb.kernel
def downwards(x: ROWS, y: ROWS):
    i = wb.tid()
    s = 0.0
    for j in range(x.shape[1]):
        s += wb.sin(x[i, j])
    for j in range(x.shape[1] - 1, -1, -1):
        y[i, j] = wb.sin(x[i, j]) * s
        s = s * 0.5


@wb.kernel
def upwards(x: ROWS, y: ROWS):
    i = wb.tid()
    s = 0.0
    for j in range(x.shape[1]):
        s += wb.sin(x[i, j])
    for j in range(x.shape[1]):
        y[i, j] = wb.sin(x[i, j]) * s


@wb.kernel
def scores(x: ROWS, y: ROWS):
    """An inner loop, computed twice, and a function of its result."""
    i = wb.tid()
    m = -1e30
    for t in range(x.shape[0]):
        s = 0.0
        for c in range(x.shape[1]):
            s += x[i, c] * x[t, c]
        m = wb.max(m, s)
    for t in range(x.shape[0]):
        s = 0.0
        for c in range(x.shape[1]):
            s += x[i, c] * x[t, c]
        y[i, 0] = y[i, 0] + wb.exp(s - m)


@wb.kernel
def distances(x: ROWS, y: ROWS):
    """An inner loop with two results, as a tangent's, computed twice."""
    i = wb.tid()
    m = -1e30
    for t in range(x.shape[0]):
        s = 0.0
        n = 0.0
        for c in range(x.shape[1]):
            s += x[i, c] * x[t, c]
            n += x[t, c] * x[t, c]
        m = wb.max(m, s / n)
    for t in range(x.shape[0]):
        s = 0.0
        n = 0.0
        for c in range(x.shape[1]):
            s += x[i, c] * x[t, c]
            n += x[t, c] * x[t, c]
        y[i, 0] = y[i, 0] + wb.exp(s / n - m)


def _twice(count: int) -> wb.Kernel:
    """Return a kernel whose two loops have an inner loop of so many iterations alike."""

    @wb.kernel
    def twice(x: ROWS, y: ROWS):
        i = wb.tid()
        m = -1e30
        for t in range(x.shape[0]):
            s = 0.0
            for c in range(count):
                s += x[i, c] * x[t, c]
            m = wb.max(m, s)
        for t in range(x.shape[0]):
            s = 0.0
            for c in range(count):
                s += x[i, c] * x[t, c]
            y[i, 0] = y[i, 0] + s * m

    return twice


short, longer = _twice(8), _twice(9)  # the short one is computed again in less time than a slot is read


@wb.kernel
def short_with_functions(x: ROWS, y: ROWS):
    i = wb.tid()
    m = 0.0
    for t in range(x.shape[0]):
        s = 0.0
        for c in range(8):
            s += wb.exp(x[t, c])
        m += s
    for t in range(x.shape[0]):
        s = 0.0
        for c in range(8):
            s += wb.exp(x[t, c])
        y[i, 0] = y[i, 0] + s * m


@wb.kernel
def changes_what_it_reads(x: ROWS, y: ROWS):
    """The second exponential is of another element."""
    i = wb.tid()
    s = 0.0
    for j in range(x.shape[1]):
        s += wb.exp(x[i, j])
    for j in range(x.shape[1]):
        x[i, j] = x[i, j] * 0.5
    for j in range(x.shape[1]):
        y[i, j] = wb.exp(x[i, j]) / s


@wb.kernel
def carried(x: ROWS, y: ROWS):
    """What depends on other turns is computed again."""
    i = wb.tid()
    s = 0.0
    for j in range(x.shape[1]):
        s = wb.cos(s + x[i, j])
    t = 0.5
    for j in range(x.shape[1]):
        t = wb.cos(t + x[i, j])
        y[i, j] = s + t


@wb.kernel
def other_ranges(x: ROWS, y: ROWS):
    i = wb.tid()
    s = 0.0
    for j in range(x.shape[1]):
        s += wb.log(x[i, j] * x[i, j] + 1.0)
    for j in range(1, x.shape[1]):
        y[i, j] = wb.log(x[i, j] * x[i, j] + 1.0) * s
    for j in range(0, x.shape[1], 2):
        y[i, j] = y[i, j] + wb.log(x[i, j] * x[i, j] + 1.0)


@wb.kernel
def under_conditions(x: ROWS, y: ROWS):
    """The first loop computes it for some elements alone."""
    i = wb.tid()
    s = 0.0
    for j in range(x.shape[1]):
        if x[i, j] > 0.0:
            s += wb.log(x[i, j])
    for j in range(x.shape[1]):
        y[i, j] = s + wb.log(x[i, j])


@wb.kernel
def in_a_loop(x: ROWS, y: ROWS):
    i = wb.tid()
    a = 0.25
    for _ in range(3):
        s = 0.0
        for j in range(x.shape[1]):
            s += wb.exp(a * x[i, j])
        for j in range(x.shape[1]):
            y[i, j] = y[i, j] + wb.exp(a * x[i, j]) / s
        a = a + 0.5


UNLIKE = [short, changes_what_it_reads, carried, other_ranges, under_conditions]
EXPANDED = [softmax, downwards, scores, distances, short_with_functions, longer, in_a_loop]
KERNELS = [*EXPANDED, *UNLIKE]


def values(*shape: int) -> np.ndarray:
    """Numbers, and some that are none."""
    x = np.random.default_rng(shape[-1]).normal(size=shape).astype(np.float32)
    if x.size > 8:
        x.flat[[1, 3, 5, 7]] = np.nan, np.inf, -np.inf, -0.0
    return x


def results(
    function: Function, dims: tuple[int, ...], args: list[np.ndarray], options: Options, patched: pytest.MonkeyPatch
) -> list[list[np.ndarray]]:
    """What a launch leaves in its arguments, with the pass and without it."""
    every = []
    for step in (expand_scalars, lambda function: function):
        patched.setitem(pipeline.PASSES, "scalar_expansion", step)
        code = build(function, options)
        # Of arrays that are one before, the copies are one too.
        copies = {id(a): a.copy() for a in args}
        execute(code, function, dims, [copies[id(a)] for a in args])
        every.append([copies[id(a)] for a in args])
    return every


def runnable(kernel: wb.Kernel) -> Function:
    return pipeline.run(pipeline.RUNNABLE, kernel.specialise().function)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_where_it_applies(kernel: wb.Kernel) -> None:
    """For rows that are short enough one loop computes what several need."""
    function = runnable(kernel)
    again = expand_scalars(function)
    assert (again is not function) == (kernel in EXPANDED)
    if kernel in EXPANDED:
        (chosen,) = [op for op in walk(again.body) if op.name == "if" and "slot_read" in op.blocks[0].op_names]
        costly = "mul" if kernel in (scores, distances, longer) else "sin" if kernel is downwards else "exp"
        counts = [sum(op.name == costly for op in walk(block)) for block in chosen.blocks]
        assert counts[0] < counts[1]
        assert "slot_read" not in chosen.blocks[1].op_names


@pytest.mark.parametrize("width", [17, LONGEST, LONGEST + 1])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_the_bits_are_those_without(kernel: wb.Kernel, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    args = [values(21, width), np.zeros((21, width), np.float32)]
    one, other = results(runnable(kernel), (21,), args, Options(contiguous=width != LONGEST), monkeypatch)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.view(np.int32), b.view(np.int32))


@pytest.mark.parametrize("kernel", [softmax, downwards, scores, distances], ids=lambda k: k.name)
def test_arguments_that_are_one_array(kernel: wb.Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    both = values(1, 50)
    one, other = results(runnable(kernel), (1,), [both, both], Options(apart=False), monkeypatch)
    np.testing.assert_array_equal(one[0].view(np.int32), other[0].view(np.int32))


def test_an_array_that_begins_behind_another_one() -> None:
    """Each element that is written is the next one that is read."""
    memory = wb.array(np.linspace(-1.0, 1.0, 66, dtype=np.float32))
    x, y = memory[:64].reshape((1, 64)), memory[1:65].reshape((1, 64))
    expected = memory.numpy().astype(np.float64)
    total = np.sin(expected[:64]).sum()
    wb.launch(upwards, 1, [x, y])
    for j in range(64):
        expected[j + 1] = np.sin(expected[j]) * total
    np.testing.assert_allclose(memory.numpy(), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [softmax, downwards, scores, distances], ids=lambda k: k.name)
@pytest.mark.parametrize("width", [40, LONGEST + 1])
def test_adjoints(kernel: wb.Kernel, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    function = pipeline.run(pipeline.RUNNABLE_ADJOINT, adjoint(kernel.specialise().function))
    args = [np.abs(values(21, width)) for _ in range(4)]
    one, other = results(function, (21,), args, Options(few_cores=True), monkeypatch)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.view(np.int32), b.view(np.int32))
