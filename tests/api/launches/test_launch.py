"""Launches: every argument that does not fit is refused by name, before anything runs."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning

SCALE = 2.0


@wb.kernel
def scale(a: float, n: int, x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = a * x[i] * SCALE + float(n)


@wb.kernel
def generic(x, y):
    i, j = wb.tid()
    y[i, j] = x[j, i]


def test_runs_and_gives_nothing():
    x, y = wb.array([1.0, 2.0]), wb.zeros(2)
    assert wb.launch(scale, 2, inputs=[3.0, 1, x], outputs=[y]) is None
    assert y.numpy().tolist() == [7, 13]


@pytest.mark.parametrize(
    ("arguments", "parameter", "sentence"),
    [
        ([1.0, 1, "x"], None, "y is missing"),
        ([1.0, 1, "x", "y", 3], None, "5 were given"),
        (["x", 1, "x", "y"], "a", "the argument is an array"),
        ([1.0, 1.5, "x", "y"], "n", "1.5 is a float"),
        ([1.0, 2**40, "x", "y"], "n", "does not fit"),
        ([1.0, 1, 3.0, "y"], "x", "takes array"),
        ([1.0, 1, "x64", "y"], "x", "another dtype"),
        ([1.0, 1, "x2", "y"], "x", "another number of dimensions"),
        (["a", 1, "x", "y"], "a", "str"),
        ([1.0, 1, "frozen", "y"], "x", "read-only"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments, parameter, sentence):
    frozen = np.ones(2, np.float32)
    frozen.flags.writeable = False
    y = wb.zeros(2)
    table = {"x": wb.ones(2), "y": y, "x64": wb.ones(2, wb.types.float64), "x2": wb.ones((2, 1)), "frozen": frozen}
    values = [table.get(a, a) if isinstance(a, str) else a for a in arguments]
    with pytest.raises(wb.LaunchError) as caught:
        wb.launch(scale, 2, inputs=values)
    assert sentence in str(caught.value) and "scale" in str(caught.value)
    assert parameter is None or caught.value.parameter == parameter
    assert y.numpy().tolist() == [0, 0]


@pytest.mark.parametrize("dim", [-1, 1.5, (), (1, 1, 1, 1, 1), "2", None, 2**31])
def test_dimensions_that_do_not_fit_are_refused(dim):
    with pytest.raises(wb.LaunchError, match="dim"):
        wb.launch(scale, dim, inputs=[1.0, 1, wb.ones(2), wb.ones(2)])


def test_dimensions_must_be_as_many_as_tid_asks_for():
    with pytest.raises(wb.LaunchError, match=r"asks tid\(\) for 1 index; dim has 2 dimensions.*Write i, j = tid"):
        wb.launch(scale, (2, 2), inputs=[1.0, 1, wb.ones(2), wb.ones(2)])


def test_generic_kernels_take_the_arguments_types():
    for dtype in (np.float64, np.int16, np.float32):
        x = np.arange(6, dtype=dtype).reshape(2, 3)
        y = wb.array(np.zeros((3, 2), dtype))
        wb.launch(generic, (3, 2), inputs=[x, y])
        assert np.array_equal(y.numpy(), x.T)


def test_strided_arrays_are_read_by_their_strides():
    base = wb.array(np.arange(10, dtype=np.float32))
    y = wb.zeros(10)
    wb.launch(scale, 5, inputs=[1.0, 0, base[::2], y[::-2]])
    assert y.numpy()[::-2].tolist() == [0, 4, 8, 12, 16]
    wb.launch(scale, 5, inputs=[1.0, 0, base[5:], y[:5]])
    assert y.numpy()[:5].tolist() == [10, 12, 14, 16, 18]


def test_nan_goes_through():
    y = wb.zeros(2)
    wb.launch(scale, 2, inputs=[1.0, 1, wb.array([np.nan, 1.0]), y])
    assert np.isnan(y.numpy()[0]) and y.numpy()[1] == 3


def test_a_changed_constant_is_seen_by_the_next_launch():
    global SCALE
    x, y = wb.ones(1), wb.zeros(1)
    wb.launch(scale, 1, inputs=[1.0, 0, x, y])
    assert y.numpy()[0] == 2
    SCALE = 5.0
    try:
        wb.launch(scale, 1, inputs=[1.0, 0, x, y])
        assert y.numpy()[0] == 5
        SCALE = np.float64(0.1)  # a Python float, which takes the type of what it meets
        wb.launch(scale, 1, inputs=[1.0, 0, x, y])
        assert y.numpy()[0] == np.float32(0.1)
        SCALE = "0.1"
        with pytest.raises(wb.KernelTypeError):
            wb.launch(scale, 1, inputs=[1.0, 0, x, y])
    finally:
        SCALE = 2.0
    wb.launch(scale, 1, inputs=[1.0, 0, x, y])
    assert y.numpy()[0] == 2


def test_a_stale_kernel_refuses():
    kernel = meaning.define("def k(x: array[float]):\n    x[tid()] = 1.0\n")["k"]
    kernel.mark_stale("its cell no longer compiles.")
    x = wb.zeros(1)
    with pytest.raises(wb.LaunchError, match="out of date: its cell no longer compiles"):
        wb.launch(kernel, 1, inputs=[x])
    assert x.numpy()[0] == 0


def test_a_broken_kernel_leaves_the_others_launchable():
    names = meaning.define("def k(x: array[float]):\n    x[tid()] = 1.0\n")
    with pytest.raises(wb.WorkbenchError):
        meaning.define("def broken(x: array[float]):\n    x[tid()] = foo\n")
    x = wb.zeros(1)
    wb.launch(names["k"], 1, inputs=[x])
    assert x.numpy()[0] == 1


@wb.func
def twice(x: float) -> float:
    return 2.0 * x


def test_kernels_are_launched_not_called():
    with pytest.raises(wb.LaunchError, match="Launch it"):
        scale(1.0)
    with pytest.raises(wb.LaunchError, match="launch\\(\\) takes a kernel"):
        wb.launch(print, 1)
    with pytest.raises(wb.LaunchError, match=r"twice is a function, which kernels call.*a kernel returns nothing"):
        wb.launch(twice, 1)


def test_large_launches_use_all_cores_and_agree():
    n = 1_000_003
    x = np.random.default_rng(0).random(n, np.float32)
    y = wb.zeros(n)
    wb.launch(scale, n, inputs=[1.5, 2, x, y])
    assert np.array_equal(y.numpy(), np.float32(1.5) * x * np.float32(2) + np.float32(2))


def test_threads_may_launch_and_compile_at_once():
    kernel = meaning.define("def k(x, y):\n    i = tid()\n    y[i] = x[i] + 1\n")["k"]
    outcomes = []

    def work(dtype):
        x, y = np.arange(100, dtype=dtype), wb.array(np.zeros(100, dtype))
        for _ in range(20):
            wb.launch(kernel, 100, inputs=[x, y])
        outcomes.append(np.array_equal(y.numpy(), x + 1))

    types = [np.float32, np.float64, np.int32, np.int64] * 2
    threads = [threading.Thread(target=work, args=(t,)) for t in types]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert outcomes == [True] * 8


def test_kernels_of_one_name_do_not_mix():
    one = meaning.define("def k(x: array[float]):\n    x[tid()] = 1.0\n")["k"]
    two = meaning.define("def k(x: array[float]):\n    x[tid()] = 2.0\n")["k"]
    x = wb.zeros(1)
    wb.launch(two, 1, inputs=[x])
    assert x.numpy()[0] == 2
    wb.launch(one, 1, inputs=[x])
    assert x.numpy()[0] == 1


def test_a_function_made_by_exec_needs_its_source():
    text = "def k(x: array[float]):\n    x[tid()] = 4.0\n"
    namespace = dict(wb.LANGUAGE)
    exec(text, namespace)
    with pytest.raises(wb.KernelSyntaxError, match="source code of k cannot be found"):
        wb.kernel(namespace["k"])
    x = wb.zeros(1)
    wb.launch(wb.kernel(namespace["k"], source=text), 1, inputs=[x])
    assert x.numpy()[0] == 4


def test_closures_are_seen_and_watched():
    def make(factor):
        @wb.kernel
        def times(x: wb.array[float]):
            i = wb.tid()
            x[i] = x[i] * factor

        return times

    x = wb.ones(2)
    wb.launch(make(3.0), 2, inputs=[x])
    wb.launch(make(5.0), 2, inputs=[x])
    assert x.numpy().tolist() == [15, 15]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("output", r"launch\(\) has no option output\.  Write outputs=…"),
        ("args", "Write inputs=…"),
        ("threads", "Write dim=…"),
        ("block", "Write block_dim=…"),
        ("xyzzy", "It takes kernel, dim, inputs"),
    ],
)
def test_an_option_of_another_name_is_refused_with_the_one_that_is_meant(name, said):
    x, y = wb.ones(2), wb.zeros(2)
    with pytest.raises(wb.LaunchError, match=said):
        wb.launch(scale, 2, inputs=[1.0, 1, x, y], **{name: 3})
    with pytest.raises(wb.LaunchError, match=rf"launch_tiled\(\) has no option {name}"):
        wb.launch_tiled(scale, 2, inputs=[1.0, 1, x, y], **{name: 3})
    assert not y.numpy().any()
