"""Kernels that fault, and what is to be said of each: for the interpreter, the CPU, and CUDA text on the host."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import workbench as wb
from workbench.backends.python.interpret import run
from workbench.ir import Function
from workbench.types import ArrayType

CANARY = 77


@dataclass(frozen=True)
class Case:
    """A cell with the kernel `k`, its launch, and the fault.

    Attributes:
        text: the cell.
        dim: the launch's dimensions.
        args: NumPy arrays (elements CANARY wide of what the kernel gets lie around each) and numbers.
        line: the line of the fault, counted from 1.
        excerpt: the text under the caret.
        thread, values: the fault's.
        sentence: its message.
        after: what the last array is then.
        count: how many faults there were.
    """

    text: str
    dim: tuple[int, ...]
    args: tuple[Any, ...]
    line: int
    excerpt: str
    thread: tuple[int, ...]
    values: tuple[Any, ...]
    sentence: str
    after: Any
    count: int = 1


def ints(*numbers: int) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.int32)


def floats(*numbers: float) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.float32)


CASES = {
    "load": Case(
        "def k(x: array[float], y: array[float], n: int):\n    i = tid()\n    y[i] = x[i + n]\n",
        (4,), (floats(1, 2, 3, 4), floats(9, 9, 9, 9), 1), 3, "x[i + n]", (3,), (4,),
        "x has 4 elements along axis 0; thread (3,) asked for index 4.", [2, 3, 4, 0],
    ),
    "negative": Case(
        "def k(x: array[float], y: array[float], n: int):\n    i = tid()\n    y[i] = x[i - n]\n",
        (4,), (floats(1, 2, 3), floats(9, 9, 9, 9), 4), 3, "x[i - n]", (0,), (-4,),
        "x has 3 elements along axis 0; thread (0,) asked for index -4.", [0, 1, 2, 3],
    ),
    "store": Case(
        "def k(y: array[float]):\n    i = tid()\n    y[i * 2] = 1.0\n",
        (4,), (floats(9, 9, 9, 9, 9),), 3, "y[i * 2]", (3,), (6,),
        "y has 5 elements along axis 0; thread (3,) asked for index 6.", [1, 9, 1, 9, 1],
    ),
    "atomic": Case(
        "def k(y: array[int], n: int):\n    i = tid()\n    atomic_add(y, n // 2, i)\n    atomic_max(y, n, 5)\n",
        (3,), (ints(1, 1), 2), 4, "atomic_max(y, n, 5)", (0,), (2,),
        "y has 2 elements along axis 0; thread (0,) asked for index 2.", [1, 4], 3,
    ),
    "two axes": Case(
        "def k(x: array2d[float], y: array2d[float]):\n    i, j = tid()\n    y[i, j] = x[j, i + 1]\n",
        (2, 2), (floats(1, 2, 3, 4).reshape(2, 2), floats(9, 9, 9, 9).reshape(2, 2)), 3, "x[j, i + 1]", (1, 0), (0, 2),
        "x has 2 elements along axis 1; thread (1, 0) asked for index 2.", [[2, 4], [0, 0]], 2,
    ),
    "vectors": Case(
        "def k(x: array[vec3], y: array[vec3]):\n    i = tid()\n    y[i] = x[i + 1] + vec3(1.0, 1.0, 1.0)\n",
        (2,), (np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)), 3, "x[i + 1]", (1,), (2,),
        "x has 2 elements along axis 0; thread (1,) asked for index 2.", [[2, 2, 2], [1, 1, 1]],
    ),
    "component": Case(
        "def k(y: array[float], n: int):\n    i = tid()\n    v = vec3(1.0, 2.0, 3.0)\n    y[i] = v[i + n]\n",
        (3,), (floats(9, 9, 9), 1), 4, "v[i + n]", (2,), (3,),
        "A vec3 has components 0 to 2; thread (2,) asked for component 3.", [2, 3, 0],
    ),
    "component set": Case(
        "def k(y: array[float], n: int):\n    i = tid()\n    v = vec2(1.0, 2.0)\n    v[i + n] = 5.0\n"
        "    y[i] = v[0] + v[1]\n",
        (3,), (floats(9, 9, 9), 0), 4, "v[i + n]", (2,), (2,),
        "A vec2 has components 0 to 1; thread (2,) asked for component 2.", [7, 6, 3],
    ),
    "matrix row": Case(
        "def k(y: array[float], n: int):\n    i = tid()\n    m = mat22(1.0, 2.0, 3.0, 4.0)\n    y[i] = m[i + n, 1]\n",
        (3,), (floats(9, 9, 9), -3), 4, "m[i + n, 1]", (0,), (-3,),
        "A mat22 has rows 0 to 1; thread (0,) asked for row -3.", [0, 2, 4],
    ),
    "matrix column": Case(
        "def k(y: array[float], n: int):\n    i = tid()\n    m = mat22(1.0, 2.0, 3.0, 4.0)\n    y[i] = m[0, i + n]\n",
        (3,), (floats(9, 9, 9), 0), 4, "m[0, i + n]", (2,), (2,),
        "A mat22 has columns 0 to 1; thread (2,) asked for column 2.", [1, 2, 0],
    ),
    "matrix column set": Case(
        "def k(y: array[float], n: int):\n    i = tid()\n    m = mat22(1.0, 2.0, 3.0, 4.0)\n    m[i + n, i + n] = 9.0\n"
        "    y[i] = m[0, 0] + m[1, 0]\n",
        (3,), (floats(9, 9, 9), 1), 4, "m[i + n, i + n]", (1,), (2,),
        "A mat22 has columns 0 to 1; thread (1,) asked for column 2.", [4, 4, 4], 2,
    ),
    "assert": Case(
        'def k(x: array[int], y: array[int]):\n    i = tid()\n    assert x[i] < 5, "x must be small"\n'
        '    y[i] = x[i]\n',
        (3,), (ints(1, 7, 2), ints(0, 0, 0)), 3, "x[i] < 5", (1,), (7, 5),
        "x must be small.  Thread (1,): 7 < 5 does not hold.", [1, 7, 2],
    ),
    "assert of floats": Case(
        "def k(x: array[float], y: array[float]):\n    i = tid()\n    assert x[i] != 0.5\n    y[i] = x[i]\n",
        (2,), (floats(1, 0.5), floats(0, 0)), 3, "x[i] != 0.5", (1,), (0.5, 0.5),
        "An assertion failed in thread (1,): 0.5 != 0.5 does not hold.", [1, 0.5],
    ),
    "assert of a condition": Case(
        'def k(x: array[float], y: array[float]):\n    i = tid()\n    assert isfinite(x[i]) and i < 9, "No inf!"\n'
        "    y[i] = x[i]\n",
        (2,), (floats(1, np.inf), floats(0, 0)), 3, "isfinite(x[i]) and i < 9", (1,), (),
        "No inf!  Thread (1,) failed this assertion.", [1, np.inf],
    ),
    "quotient": Case(
        "def k(x: array[int], y: array[int]):\n    i = tid()\n    y[i] = 7 // x[i]\n",
        (3,), (ints(2, 0, -2), ints(0, 0, 0)), 3, "7 // x[i]", (1,), (7, 0),
        "An integer was divided by zero: thread (1,) computed 7 // 0.", [3, -1, -4],
    ),
    "remainder": Case(
        "def k(x: array[uint64], y: array[uint64]):\n    i = tid()\n    y[i] = y[i] % x[i]\n",
        (2,), (np.array([2, 0], np.uint64), np.array([7, 2**63 + 1], np.uint64)), 3, "y[i] % x[i]", (1,),
        (2**63 + 1, 0),
        f"An integer was divided by zero: thread (1,) computed {2**63 + 1} % 0.", [1, 2**63 + 1],
    ),
    "shift": Case(
        "def k(x: array[int], y: array[int]):\n    i = tid()\n    y[i] = 1 << x[i]\n",
        (3,), (ints(31, 32, 3), ints(0, 0, 0)), 3, "1 << x[i]", (1,), (1, 32),
        "Shifts of int32 go by 0 to 31 bits; thread (1,) computed 1 << 32.", [-(2**31), 0, 8],
    ),
    "negative shift": Case(
        "def k(x: array[int], y: array[int]):\n    i = tid()\n    y[i] = -8 >> x[i]\n",
        (3,), (ints(1, 2, -1), ints(0, 0, 0)), 3, "-8 >> x[i]", (2,), (-8, -1),
        "Shifts of int32 go by 0 to 31 bits; thread (2,) computed -8 >> -1.", [-4, -2, -1],
    ),
    "step": Case(
        "def k(x: array[int], y: array[int]):\n    i = tid()\n    s = 0\n    for j in range(0, 6, x[i]):\n"
        "        s += 1\n    y[i] = s\n",
        (3,), (ints(2, 0, 3), ints(9, 9, 9)), 4, "for j in range(0, 6, x[i]):", (1,), (0, 6, 0),
        "The step of range() is 0 in thread (1,): range(0, 6, 0) has no turn.", [3, 0, 2],
    ),
    "in a loop": Case(
        "def k(x: array[int], y: array[int]):\n    i = tid()\n    s = 0\n    j = 0\n    while x[j] != i:\n"
        "        j += 1\n        if j > 5:\n            break\n    y[i] = j\n",
        (3,), (ints(0, 2), ints(9, 9, 9)), 5, "x[j]", (1,), (2,),
        "x has 2 elements along axis 0; thread (1,) asked for index 2.", [0, 6, 1], 4,
    ),
    "short cut": Case(
        "def k(x: array[int], y: array[int]):\n    i = tid()\n    if i < 2 and x[i] > 0 and 6 // x[i] == 3:\n"
        "        y[i] = 1\n    y[i + 1] += 1\n",
        (3,), (ints(2, 0), ints(0, 0, 0)), 5, "y[i + 1]", (2,), (3,),
        "y has 3 elements along axis 0; thread (2,) asked for index 3.", [1, 1, 1],
    ),
}  # fmt: skip


def kernel_of(case: Case, **options: Any) -> wb.Kernel:
    """The case's kernel."""
    return wb.build_cell(case.text, {}, **options).kernels["k"]


def with_canaries(arg: Any, strided: bool) -> tuple[Any, Any]:
    """The argument in the middle of a larger array of canaries, and that array; a number as it is."""
    if not isinstance(arg, np.ndarray):
        return arg, None
    step = 2 if strided else 1
    whole = np.full((arg.shape[0] * step + 8, *arg.shape[1:]), CANARY, arg.dtype)
    view = whole[4 : 4 + arg.shape[0] * step : step]
    view[...] = arg
    return view, whole


def untouched(view: np.ndarray[Any, Any], whole: np.ndarray[Any, Any]) -> bool:
    """Whether every canary lives."""
    inside = np.zeros(whole.shape, bool)
    step = view.strides[0] // whole.strides[0]
    inside[4 : 4 + view.shape[0] * step : step] = True
    return bool((whole[~inside] == CANARY).all())


def on_interpreter(function: Function, case: Case, args: list[Any]) -> None:
    run(function, case.dim, args, checks=True)


def on_cpu(kernel: wb.Kernel) -> Callable[[Function, Case, list[Any]], None]:
    """A launch with checks on the arrays' own memory."""

    def launch(function: Function, case: Case, args: list[Any]) -> None:
        given = [
            wb.array(a, p.type.dtype, copy=False) if isinstance(p.type, ArrayType) else a
            for p, a in zip(function.params, args, strict=True)
        ]
        wb.launch(kernel, case.dim, given, checks=True)

    return launch


def check(case: Case, function: Function, runner: Callable[..., None], strided: bool = False) -> None:
    """Run the case and compare everything."""
    pairs = [with_canaries(a, strided) for a in case.args]
    try:
        runner(function, case, [view for view, _ in pairs])
    except wb.KernelFault as fault:
        found = fault
    else:
        raise AssertionError("no fault was raised")
    assert found.message == case.sentence
    assert (found.thread, found.values, found.count) == (case.thread, case.values, case.count)
    place = found.location
    assert place is not None and place.line == case.line
    row = textwrap.dedent(place.source.line(place.line))
    assert case.excerpt in row and "^" * len(case.excerpt) in place.excerpt()
    for view, whole in pairs:
        assert whole is None or untouched(view, whole)
    last = [view for view, whole in pairs if whole is not None][-1]
    assert np.array_equal(last, np.array(case.after, last.dtype))
