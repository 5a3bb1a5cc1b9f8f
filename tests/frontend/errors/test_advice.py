"""What to write instead: the advice of errors that newcomers meet, in kernels and around them."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.frontend.errors.test_refusals import under_caret
from tests.support.checks import meaning
from workbench.errors import KernelTypeError, LaunchError

OUTSIDE = {
    "np": np, "math": math, "wb": wb, "random": random, "table": np.zeros(1000), "items": [1.0, 2.0],
    "texts": {"a": 1.0},
}  # fmt: skip
# statement, text under the caret, part of the advice
ADVICE = [
    ("z = np.sum(x)", "np.sum(x)", "Compute it before the launch and pass the result, or write it as a loop."),
    ("z = np.arctan3(x[i])", "np.arctan3", "Did you mean np.arctan"),
    ("z = math.gamma(x[i])", "math.gamma(x[i])", "Compute it before the launch"),
    ("z = random.random()", "random.random()", "Draw with randf(state)"),
    ("z = np.random.rand()", "np.random.rand()", "Draw with randf(state)"),
    ("z = sum(i)", "sum(i)", "Write a loop: for v in x"),
    (
        "z = wb.zeros(3)", "wb.zeros(3)",
        "A thread's own numbers are a vector: vector(length=3, dtype=float). Make arrays before the launch.",
    ),
    ("z = x.sum()", "x.sum", "Write a loop over its elements."),
    ("z = x.T[0]", "x.T", "the other way round"),
    ("y[i] = vec3()", "y[i]", "Take one component of it: v[0]."),
    ("z = vec3(1.0, 2.0, x)", "vec3(1.0, 2.0, x)", "Take one element of it: x[i]."),
    ("z = table[i]", "table[i]", "Pass it as an argument, to a parameter annotated array(dtype=…)."),
    ("z = items[0]", "items[0]", "Make it a tuple"),
    ("z = texts['a']", "texts['a']", "Numbers, vectors and tuples"),
    ("y[i] == 1.0", "y[i] == 1.0", "Write = to assign"),
    ("z = '-inf'", "'-inf'", "Write wb.inf, -wb.inf or wb.nan."),
    ("for a, b in zip(x, y, strict=True):\n        z = a", "x", "Write for i in range(len(x)), and index every"),
    ("for q in reversed(range(wb.uint32(len(x)))):\n        z = q", "reversed(range(wb.uint32(len(x))))", "Count down"),
    ("U, s, V = svd3(x, x, x, x)", "svd3(x, x, x, x)", "It returns what it computes: … = svd3(…)."),
    ("z = wb.float(i)", "wb.float", "Write float(x) and int(x)"),
    ("z = vec5()", "vec5", "Write vector(5, float)."),
    ("z = wb.mat55()", "wb.mat55", "Write matrix((rows, columns), float)."),
    ("z = cuda.grid(1)", "cuda", "i = tid()"),
    ("z = idx + 1", "idx", "i = tid()"),
    ("z = norm(x[i])", "norm", "Write length(v)."),
    ("wb.syncthreads()", "wb.syncthreads", "work together on tiles"),
    ("z = wb.Volume()", "wb.Volume", "Queries of geometry are not in the language"),
    ("z = none(i)\n    y[i] = z", "y[i]", "End the func with a return of a value."),
    ("z = one(i, i)", "one(i, i)", "one() takes 1 argument; it got 2."),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "place", "advice"), ADVICE)
def test_in_kernels(statement: str, place: str, advice: str) -> None:
    funcs = "@func\ndef none(a):\n    b = a\n\n@func\ndef one(a):\n    return a\n\n"
    text = f"{funcs}@kernel\ndef k(x: array[float], y: array[float]):\n    i = tid()\n    {statement}\n"
    with pytest.raises(wb.WorkbenchError) as caught:
        meaning.define(text, dict(OUTSIDE))
    error = caught.value
    assert under_caret(error) == place
    assert advice in f"{error.message} {error.advice}"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("init", "nothing has to be initialised"), ("set_device", "ScopedDevice"),
        ("is_cuda_available", "get_devices"), ("capture_begin", "with wb.capture()"), ("Volume", "Queries of geometry"),
        ("sparse", "library beside the language"), ("overload", "first launch"), ("to_torch", "torch.from_dlpack"),
        ("vec5", "Write vector(5, float)"), ("select", "Write where("), ("lunch", "Did you mean launch?"),
        ("arange", "NumPy has it: wb.array(np.arange(…))."), ("sum", "Write x.sum()"), ("cumsum", "array_scan"),
    ],
)  # fmt: skip
def test_names_of_other_libraries(name: str, advice: str) -> None:
    with pytest.raises(AttributeError, match="has no attribute") as caught:
        getattr(wb, name)
    assert advice in str(caught.value)


def test_a_name_that_nobody_knows_has_no_advice() -> None:
    with pytest.raises(AttributeError, match=r"^module 'workbench' has no attribute 'nobody'\.$"):
        wb.nobody  # noqa: B018


def _launched(*arguments: Any, **options: Any) -> str:
    kernel = meaning.define("def k(x: array[float], n: int):\n    x[tid()] = n\n")["k"]
    with pytest.raises(LaunchError) as caught:
        wb.launch(kernel, 2, *arguments, **options)
    return str(caught.value)


def test_around_launches() -> None:
    x = wb.zeros(2)
    assert "inputs is a list with one value per parameter; this is a dict.  Write inputs=[…]." in _launched({"x": x})
    assert "inputs is a list with one value per parameter; this is an array." in _launched(x)
    assert "outputs is a list with one value per parameter; this is an ndarray." in _launched([x], outputs=np.zeros(1))
    assert "n takes int32; the argument is None." in _launched([x, None])
    assert "n is int32; the argument is an array.  Pass a number" in _launched([x, wb.zeros(1)])
    assert "k takes 2 arguments; n is missing." in _launched([x])


def test_around_launches_over_blocks() -> None:
    kernel = meaning.define("def k(x: array[float]):\n    tile_store(x, tile_zeros(4), offset=0)\n")["k"]
    with pytest.raises(LaunchError, match=r"inputs is a list with one value per parameter; this is an array\."):
        wb.launch_tiled(kernel, 1, wb.zeros(4))


def test_a_block_is_checked_after_a_launch_that_went_well_too() -> None:
    kernel = meaning.define("def k(x: array[float]):\n    x[tid()] = 1.0\n")["k"]
    x = wb.zeros(2)
    wb.launch(kernel, 2, [x])
    with pytest.raises(LaunchError, match=r"block_dim is an int from 1 to 1024 or None, not 256\.0"):
        wb.launch(kernel, 2, [x], block_dim=256.0)


@pytest.mark.parametrize("shape", [2.5, (2, 1.5), "ab", -1, (1, 2, 3, 4, 5), ()])
def test_a_shape_is_whole_numbers(shape: Any) -> None:
    with pytest.raises(ValueError, match="1 to 4 sizes of at least 0"):
        wb.zeros(shape)


def test_a_struct_without_a_place_shows_none() -> None:
    names: dict[str, Any] = {"wb": wb}
    with pytest.raises(KernelTypeError) as caught:
        exec("@wb.struct\nclass Drop:\n    mass: float = 'heavy'\n", names)
    assert "The default of mass of Drop does not fit" in str(caught.value)
    assert "^" not in str(caught.value) and "line 0" not in str(caught.value)


def test_annotations() -> None:
    assert wb.array(float) == wb.array[float] and wb.array(wb.vec3, ndim=2) == wb.array2d[wb.vec3]
    with pytest.raises(KernelTypeError, match=r"list is not a type of the kernel language") as caught:
        meaning.define("def k(x: list):\n    x[tid()] = 1.0\n")
    assert caught.value.advice == "Write array[float] for an array."


@pytest.mark.parametrize(
    ("annotation", "advice"),
    [
        ("float[:]", "Write array[float] for an array of 1 dimension."),
        ("wb.vec3[:, :]", "Write array2d[wb.vec3] for an array of 2 dimensions."),
        ("array[float, 2]", "Write array2d[float] for an array of 2 dimensions"),
        ("list[float]", "Write array[float] for an array."),
        ("str", "Pass a number or a bool"),
        ("[float]", "Write array[float] for an array."),
    ],
)
def test_arrays_annotated_as_elsewhere(annotation: str, advice: str) -> None:
    with pytest.raises(KernelTypeError) as caught:
        wb.build_cell(f"def k(x: {annotation}):\n    x[tid()] = 1.0\n", {"wb": wb})
    assert advice in caught.value.advice and caught.value.location.line == 1


def test_a_builtin_is_not_the_kernel_of_its_name() -> None:
    scope = dict(wb.build_cell("def step(x: array[float]):\n    x[tid()] = 1.0\n", {}).kernels)
    with pytest.raises(KernelTypeError, match=r"step\(\) is the builtin here.*it got 1 argument") as caught:
        wb.build_cell("def k(x: array[float]):\n    step(x)\n", scope)
    assert "make the shared part a func" in caught.value.advice
    with pytest.raises(KernelTypeError) as caught:
        wb.build_cell("def k(x: array[float]):\n    x[0] = step(x[0])\n", {})
    assert caught.value.message.startswith("step() takes an edge")
    wb.build_cell("def k(x: array[float]):\n    x[0] = step(0.0, x[0])\n", scope)


@pytest.mark.parametrize(
    ("value", "advice"),
    [("x[0] ^ 2.0", "**"), ("x[0] > 0.0 & x[0] < 1.0", "`and`"), ("x[0] > 0.0 | x[0] < -1.0", "`or`")],
)
def test_operators_of_bits_between_floats(value: str, advice: str) -> None:
    with pytest.raises(KernelTypeError, match="takes integers") as caught:
        wb.build_cell(f"def k(x: array[float]):\n    x[0] = 1.0 if ({value}) else 0.0\n", {})
    assert f"Write {advice}" in caught.value.advice
