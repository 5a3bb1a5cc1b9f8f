"""A loop's variable that had a value before, NumPy's floats as constants, and what annotations may say."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Annotated, Any

import cloudpickle
import numpy as np
import pytest

import workbench as wb
from tests.frontend.meaning.test_plain_twins import Annotation
from tests.support.checks import meaning
from workbench.errors import KernelTypeError, WorkbenchError

LOOPS = {
    "a range": "for i in range(n):\n        out[0] += 1",
    "a range that is left": "for i in range(n):\n        if i == 1:\n            break",
    "a long range that is left": "for i in range(40):\n        if i == n:\n            break",
    "a short range that is left": "for i in range(4):\n        if i == n:\n            break",
    "its name is set in it": "for i in range(n):\n        i = i * 2",
    "down": "for i in range(n, 0, -1):\n        pass",
    "in another loop": "for j in range(3):\n        for i in range(j, n):\n            out[0] += i",
    "with an else": "for i in range(n):\n        if i == 3:\n            break\n    else:\n        out[0] += i",
    "a while behind it": "for i in range(n):\n        pass\n    while i < 9:\n        i += 2",
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loops_variable_that_had_a_value_is_pythons_after_it(name: str) -> None:
    body = f"    i = 7\n    {LOOPS[name]}\n    out[0] = out[0] * 100 + i\n"
    text = f"def k(n: int, out: array[int]):\n{body}"
    kernel, python = meaning.define(text)["k"], dict[str, Any](array=Annotation)
    exec(text, python)
    for n in (0, 1, 3, 5):
        out, expected = wb.zeros(1, dtype=int), [0]
        wb.launch(kernel, 1, [n, out])
        python["k"](n, expected)
        assert out.numpy()[0] == expected[0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_float64_of_numpy_is_a_float_of_python(dtype: str) -> None:
    g = np.mean([0.1, 0.1])
    assert isinstance(g, np.float64)
    text = f"def k(x: array[{dtype}], y: array[{dtype}]):\n    y[tid()] = x[tid()] * G / 2\n"
    x = np.ones(2, dtype)
    for found in meaning.results(text, x, {"G": g}):
        np.testing.assert_array_equal(found, x * 0.1 / 2)


def test_another_number_of_numpy_has_its_type() -> None:
    text = "def k(y: array[float]):\n    y[tid()] = tid() + G\n"
    with pytest.raises(KernelTypeError, match="An element of y is float32; the value is float64"):
        meaning.define("def k(y: array[float]):\n    y[tid()] = 2.0 * float64(G)\n", {"G": np.float32(1)})
    y = wb.zeros(2)
    wb.launch(meaning.define(text, {"G": np.float32(0.1)})["k"], 2, [y])
    np.testing.assert_array_equal(y.numpy(), np.float32(0.1) + np.arange(2, dtype=np.float32))


def test_a_constant_that_does_not_fit_is_named() -> None:
    with pytest.raises(KernelTypeError, match=r"The constant G is 1e\+300, which does not fit float32"):
        meaning.define("def k(y: array[float]):\n    y[tid()] = G\n", {"G": np.float64(1e300)})


Metres = Annotated[float, "metres"]
Row = Annotated[wb.array[float], "of the first row"]


@wb.func
def twice(v: Metres) -> Annotated[float, "feet"]:
    return 2 * v


@wb.kernel
def put(v: Annotated[float, "metres"], w: Metres, y: Row):
    y[wb.tid()] = v + twice(w)


def test_annotated_types_are_the_types() -> None:
    y = wb.zeros(1)
    wb.launch(put, 1, [2.0, 3.0, y])
    assert y.numpy()[0] == 8


@pytest.mark.parametrize("said", ["float", "array[float]", "'float'"])
def test_a_kernel_that_says_what_it_returns_is_refused(said: str) -> None:
    with pytest.raises(WorkbenchError, match="A kernel returns nothing; this one says") as caught:
        meaning.define(f"def k(x: array[float]) -> {said}:\n    x[0] = 1.0\n")
    assert caught.value.location is not None
    assert caught.value.location.line == 1


def test_a_kernel_may_say_that_it_returns_nothing() -> None:
    assert meaning.define("def k(x: array[float]) -> None:\n    x[0] = 1.0\n")["k"]


def _made(dtype: Any) -> Any:
    @wb.kernel
    def doubled(x: wb.array[dtype], y: wb.array[float]):
        i = wb.tid()
        y[i] = float(x[i]) * 2.0

    return doubled


@pytest.mark.parametrize("dtype", [wb.float64, wb.int32])
def test_an_annotation_in_text_may_use_a_local_of_the_function_around_it(dtype: Any) -> None:
    y = wb.zeros(1)
    wb.launch(_made(dtype), 1, [wb.ones(1, dtype=dtype), y])
    assert y.numpy()[0] == 2


@wb.kernel
def scaled(x: wb.array[float], y: wb.array[float], a: float = 2.0, b: int = -1):
    i = wb.tid()
    y[i] = x[i] * a + b


def test_a_launch_without_an_argument_takes_its_default() -> None:
    x, y = wb.array([1.0, 2.0], requires_grad=True), wb.zeros(2)
    wb.launch(scaled, 2, [x], [y])
    np.testing.assert_array_equal(y.numpy(), [1, 3])
    wb.launch(scaled, 2, [x, y, 3.0])
    np.testing.assert_array_equal(y.numpy(), [2, 5])
    scaled[2](x, y, 5.0, 1)
    np.testing.assert_array_equal(y.numpy(), [6, 11])
    scaled[2](x, y)
    np.testing.assert_array_equal(y.numpy(), [1, 3])
    later = wb.launch(scaled, 2, [x], [y], record_cmd=True)
    y.zero_()
    later.launch()
    np.testing.assert_array_equal(y.numpy(), [1, 3])


def test_defaults_on_a_tape_in_a_record_and_under_gradcheck() -> None:
    x, y = wb.array([1.0, 2.0], requires_grad=True), wb.zeros(2)
    with wb.Tape() as tape:
        wb.launch(scaled, 2, [x], [y])
    tape.backward(grads={y: np.ones(2)})
    np.testing.assert_array_equal(x.grad.numpy(), [2, 2])
    assert wb.gradcheck(scaled, 2, [x], [y])
    gradient = wb.zeros(2)
    wb.launch(scaled, 2, [x], [y], adjoint=True, adj_inputs=[gradient], adj_outputs=[wb.ones(2)])
    np.testing.assert_array_equal(gradient.numpy(), [2, 2])


C, FOUR = 2.0, np.int32(4)


@wb.kernel
def times_c(x: wb.array[float], y: wb.array[float], w: float = C):
    y[wb.tid()] = w * x[wb.tid()]


@wb.func
def plus_c(x: float, c=C + 1, n=FOUR):
    return x + c + float(n)


@wb.kernel
def adds_c(x: wb.array[float], y: wb.array[float]):
    y[wb.tid()] = plus_c(x[wb.tid()])


C = 50.0


def test_a_default_has_the_value_that_python_gave_it() -> None:
    """C means something else by now; as in Python, that changes no default."""
    x, y = wb.ones(2), wb.zeros(2)
    wb.launch(times_c, 2, [x, y])
    assert y.numpy().tolist() == [times_c.defaults["w"]] * 2 == [2.0, 2.0]
    wb.launch(adds_c, 2, [x, y])
    assert y.numpy().tolist() == [8.0, 8.0]
    for thing in (times_c, adds_c):
        again = cloudpickle.loads(cloudpickle.dumps(thing))
        wb.launch(again, 2, [x, y])
        assert y.numpy().tolist() == ([2.0, 2.0] if thing is times_c else [8.0, 8.0])


def test_functions_made_in_a_loop_keep_their_defaults() -> None:
    kernels = []
    for c in (1.0, 2.0, 3.0):

        @wb.kernel
        def k(y: wb.array[float], w: float = c):
            y[wb.tid()] = w

        kernels.append((k, c))

    def made(c: float) -> wb.Kernel:
        @wb.func
        def scaled_by(x: float, c=c):
            return c * x

        @wb.kernel
        def k(y: wb.array[float]):
            y[wb.tid()] = scaled_by(1.0)

        return k

    for k, c in [*kernels, *((made(c), c) for c in (4.0, 5.0))]:
        y = wb.zeros(1)
        wb.launch(k, 1, [y])
        assert y.numpy().tolist() == [c]


def test_defaults_in_a_cell_are_evaluated_when_it_is_built() -> None:
    text = "def f(x, c=G):\n    return c * x\n\ndef k(y: array[float], w: float = 2 * G):\n    y[0] = w + f(y[0])\n"
    for g in (1.0, 3.0):
        names = {"G": g}
        k = meaning.define(text, names)["k"]
        names["G"] = 100.0
        y = wb.ones(1)
        wb.launch(k, 1, [y])
        assert y.numpy().tolist() == [3 * g]


@pytest.mark.slow
def test_another_process_reads_no_default_of_this_one_from_the_cache(tmp_path: Path) -> None:
    """The text of the func is the same, the value of its default is not."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os, numpy as np, workbench as wb\nC = float(os.environ['C_OF_TEST'])\n"
        "@wb.func\ndef f(x: float, c=C):\n    return x * c\n"
        "@wb.kernel\ndef k(y: wb.array[float]):\n    y[0] = f(y[0])\n"
        "y = wb.ones(1)\nwb.launch(k, 1, [y])\nprint(y.numpy()[0])\n"
    )
    for c in ("2.0", "5.0"):
        environment = {**os.environ, "C_OF_TEST": c, "WORKBENCH_CACHE": str(tmp_path / "cache")}
        done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == c


def test_a_default_that_is_no_number_is_refused() -> None:
    with pytest.raises(KernelTypeError, match="The default of a in k is G; it must be a number"):
        meaning.define("def k(x: array[float], a: float = G):\n    x[0] = a\n", {"G": "two"})
    with pytest.raises(KernelTypeError, match="The default of a in k cannot be evaluated: name 'G' is not defined"):
        meaning.define("def k(x: array[float], a: float = G):\n    x[0] = a\n", {})


def test_an_argument_without_a_default_is_still_missed() -> None:
    with pytest.raises(wb.LaunchError, match="y, a, b are missing"):
        wb.launch(scaled, 2, [wb.ones(2)])


if sys.version_info >= (3, 12):  # the syntax of PEP 695

    def test_aliases_and_type_parameters_of_pep_695() -> None:
        text = """
            def k[T](x: array[T], v: T, y: Row):
                y[tid()] = float(x[tid()]) + float(v)
            """
        scope: dict[str, Any] = {"wb": wb}
        exec("type Row = wb.array[float]", scope)
        y = wb.zeros(1)
        kernel = wb.build_cell(textwrap.dedent(text), {"Row": scope["Row"]}).names["k"]
        wb.launch(kernel, 1, [wb.ones(1, dtype=wb.float64), 2.0, y])
        assert y.numpy()[0] == 3
