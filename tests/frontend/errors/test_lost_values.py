"""A kernel that ends with a value nothing reads, and CUDA C++ in a cell of Python: what is said, and where."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.support.checks.meaning import define
from workbench import events

HEAD = "def k(x: array[float], y: array[float], n: int):\n    i = tid()\n"
SAID = {
    "y = x[i]": "line 3: y = … gives the name y another value and leaves the array as it is. Write y[i] = … to set",
    "y = y[i + 1] * 2.0": "Write y[i + 1] = … to set an element.",
    "y = sin(x[i])": "Write y[i] = … to set an element.",
    "if i < n:\n        y = x[i]": "line 4: y = … gives",
    "for j in range(n):\n        y = x[j]": "Write y[j] = …",
    "z = x[i] * 2.0": "line 3: z is set here and never used. Write it to an array to keep it.",
    "z = 0.0\n    for j in range(n):\n        z += x[j]": "line 5: z is set here and never used.",
}
SILENT = [
    "y[i] = x[i]",
    "old = atomic_add(y, 0, x[i])",
    "_ = x[i]",
    "z = 0.0\n    for j in range(n):\n        y[j] = z\n        z = z + x[j]",
    "a = x\n    for j in range(n):\n        y[i] = a[j]",
]


def remarks(body: str) -> list[str]:
    said: list[str] = []
    stop = events.subscribe(lambda event: said.append(event.message), events.Remark)
    try:
        define(f"{HEAD}    {body}\n", compile=False)
    finally:
        stop()
    return said


@pytest.mark.parametrize("body", SAID)
def test_a_lost_value_is_named_at_its_line(body: str) -> None:
    (said,) = remarks(body)
    assert SAID[body] in said


@pytest.mark.parametrize("body", SILENT)
def test_what_is_read_or_acts_is_not(body: str) -> None:
    assert remarks(body) == []


def test_a_kernel_of_a_script_warns_where_it_is_defined() -> None:
    with pytest.warns(UserWarning, match=r"y = … gives the name y another value") as caught:

        @wb.kernel
        def k(x: wb.array[float], y: wb.array[float]):
            i = wb.tid()
            y = x[i]  # noqa: F841

    assert caught[0].filename == __file__ and k.name == "k"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('#include "a.h"\ndef k(x: array[float]):\n    x[0] = 1.0', 1),
        ("\n__global__ void k(float* x) { x[0] = 1; }", 2),
        ('extern "C" __global__ void k(float* x) {}', 1),
    ],
)
def test_cuda_cpp_is_sent_to_its_own_cells(text: str, line: int) -> None:
    with pytest.raises(wb.KernelSyntaxError, match=r"This is CUDA C\+\+; .*Begin the cell with %%cuda") as caught:
        wb.build_cell(text, {})
    assert caught.value.location is not None and caught.value.location.line == line


def test_an_include_within_a_text_or_a_sentence_is_none() -> None:
    text = (
        'def k(x: array[float]):\n    """Like\n    #include <a.h>\n    """\n    x[0] = 1.0  # not the #include <a.h>\n'
    )
    assert wb.build_cell(text, {}, compile=False).kernels


def test_a_header_that_nobody_knows_is_said_to_be_none() -> None:
    with pytest.raises(wb.KernelSyntaxError, match=r"no header iostreams.*give its folder with -I"):
        wb.cuda_module("#include <iostreams>\n__global__ void k(float* x) { x[0] = 1; }", compile=False)
