"""print and printf: one text from interpreter and compiled code, in the order of the threads, losses counted."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from tests.support.devices import on_gpu
from workbench import inspect
from workbench.autodiff import adjoint
from workbench.backends import prints
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.python.interpret import run

HEAD = "def k(x: array[float], y: array[float]):\n    i = tid()\n"
NAMES = {"N": np.float64(0.1), "W": 7}
SHOWN = {
    'print("x", x[i], i)': "x 1.5 0\nx -2.0 1\n",
    "print()": "\n\n",
    'print(x[i], x[i] > 0.0, sep="|", end=";")': "1.5|True;-2.0|False;",
    "print(0.1 * x[i], N, W, 3, 2.5, True)": "0.15 0.1 7 3 2.5 True\n-0.2 0.1 7 3 2.5 True\n",
    "print(vec3(x[i], 0.25, 1e10), vec2i(i, -i))": "[1.5, 0.25, 1e+10] [0, 0]\n[-2.0, 0.25, 1e+10] [1, -1]\n",
    "print(matrix_from_rows(vec2(x[i], 0.0), vec2(1.0, 2.0)))": "[[1.5, 0.0], [1.0, 2.0]]\n[[-2.0, 0.0], [1.0, 2.0]]\n",
    "print(int64(i) - int64(9223372036854775807), uint64(18446744073709551615), uint8(200), int8(-5))":
        "-9223372036854775807 18446744073709551615 200 -5\n-9223372036854775806 18446744073709551615 200 -5\n",
    "print(x[i] / 0.0, sqrt(-1.0))": "inf nan\n-inf nan\n",
    'print("50%", "%d", i)': "50% %d 0\n50% %d 1\n",
    'printf("%d: %5.2f %e|%x %u %%\\n", i, x[i], x[i], 255, uint32(7))':
        "0:  1.50 1.500000e+00|ff 7 %\n1: -2.00 -2.000000e+00|ff 7 %\n",
    'printf("%lld %c|%-4d|\\n", int64(i), 65 + i, i)': "0 A|0   |\n1 B|1   |\n",
    'print(f"x[{i}] = {x[i]:6.2f}, {x[i] * 0.5}|{i + 7:03d}|{i:<3d}| {i=} {{}} {i:.1f}", 1)':
        "x[0] =   1.50, 0.75|007|0  | i=0 {} 0.0 1\nx[1] =  -2.00, -1.0|008|1  | i=1 {} 1.0 1\n",
    "print(float16(x[i]), vec2h(float16(0.5), float16(i)), float16(0.1))": "1.5 [0.5, 0.0] 0.1\n-2.0 [0.5, 1.0] 0.1\n",
    'print(bfloat16(x[i] + 0.25)); printf("%.1f\\n", float16(x[i]))': "1.75\n1.5\n-1.75\n-2.0\n",
    "for j in range(2):\n        print(i, j)": "0 0\n0 1\n1 0\n1 1\n",
    "if x[i] < 0.0:\n        print(i)": "1\n",
    "print('é…', i)": "é… 0\né… 1\n",
}  # fmt: skip


def kernel(body: str):
    return meaning.define(HEAD + f"    {body}\n    y[i] = x[i] * x[i]\n", dict(NAMES))["k"]


def arrays() -> list[np.ndarray]:
    return [np.array([1.5, -2.0], np.float32), np.zeros(2, np.float32)]


@pytest.mark.parametrize("body", SHOWN)
def test_the_interpreter_shows_it(body, capsys):
    run(kernel(body).specialise().function, (2,), arrays())
    assert capsys.readouterr().out == SHOWN[body]


@pytest.mark.parametrize("body", SHOWN)
@pytest.mark.parametrize("checks", [False, True])
def test_compiled_code_shows_it(body, checks, capsys):
    x, y = (wb.array(a) for a in arrays())
    wb.launch(kernel(body), 2, inputs=[x], outputs=[y], checks=checks)
    assert capsys.readouterr().out == SHOWN[body]
    assert y.numpy().tolist() == [2.25, 4.0]


def test_lines_stand_in_the_order_of_the_threads(capsys):
    count = 20_000
    text = "def k(n: int):\n    i, j = tid()\n    if (i * n + j) % 997 == 0:\n        print(i, j)\n"
    wb.launch(meaning.define(text)["k"], (count // 100, 100), inputs=[100])
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"{n // 100} {n % 100}" for n in range(0, count, 997)]


def test_what_finds_no_room_is_counted(capsys):
    launched = meaning.define("def k(x: array[int]):\n    i = tid()\n    print(i, x[i])\n")["k"]
    count = prints.CAPACITY // 32 + 5
    for _ in range(2):  # the buffer is empty again after the first
        wb.launch(launched, count, inputs=[wb.zeros(count, dtype=int)])
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == count - 5 + 1
        assert lines[-1] == "… 5 more prints of k found no room and were dropped"


def test_kept_launches_and_recorded_ones_print_each_time(capsys):
    launched = kernel('print("again", i)')
    x, y = (wb.array(a) for a in arrays())
    command = wb.launch(launched, 1, inputs=[x], outputs=[y], record_cmd=True)
    for _ in range(3):
        command.launch()
    assert capsys.readouterr().out == "again 0\n" * 3
    with wb.record() as recorder:
        for _ in range(2):
            wb.launch(launched, 1, inputs=[x], outputs=[y])
    capsys.readouterr()
    recorder.replay()
    assert capsys.readouterr().out == "again 0\n" * 2


def test_two_threads_of_python_lose_no_line(capsys):
    launched = kernel('print("line", i)')

    def work() -> None:
        for _ in range(50):
            wb.launch(launched, 2, inputs=[wb.array(arrays()[0])], outputs=[wb.zeros(2, dtype=float)])

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines) == ["line 0"] * 100 + ["line 1"] * 100


def test_an_adjoint_prints_nothing(capsys):
    launched = kernel('print("once", i)')
    x, y = (wb.array(a, requires_grad=True) for a in arrays())
    with wb.Tape() as tape:
        wb.launch(launched, 2, inputs=[x], outputs=[y])
    assert capsys.readouterr().out == "once 0\nonce 1\n"
    tape.backward(grads={y: wb.ones(2, dtype=float)})
    assert capsys.readouterr().out == ""
    assert x.grad.numpy().tolist() == [3.0, -4.0]
    assert not prints.prints(adjoint(launched.used.function))


def test_a_fault_comes_after_what_was_printed(capsys):
    text = "def k(x: array[float]):\n    i = tid()\n    print(i)\n    x[i + 1] = 1.0\n"
    with pytest.raises(wb.KernelFault):
        wb.launch(meaning.define(text)["k"], 1, inputs=[wb.zeros(1, dtype=float)], checks=True)
    assert capsys.readouterr().out == "0\n"


HOST = """
import numpy as np
from tests.frontend.errors.test_prints import arrays, kernel, SHOWN
from tests.support.devices import on_gpu
from workbench.backends.base import Options
library = on_gpu.Library([kernel(b).specialise().function for b in {bodies!r}][:1], Options())
library.run("k", (2,), arrays())
"""


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ('print("x", x[i], i, x[i] > 0.0, "50%")', "x 1.5 0 True 50%\nx -2 1 False 50%\n"),
        ("print(vec3(x[i], 0.25, 1.0), 'é\"')", 'é"'.join(["[1.5, 0.25, 1] ", "\n[-2, 0.25, 1] ", "\n"])),
        ('printf("%d: %5.2f|%x %%\\n", i, x[i], int64(255))', "0:  1.50|ff %\n1: -2.00|ff %\n"),
        ("print(matrix_from_rows(vec2(x[i], 0.0), vec2(1.0, 2.0)))", "[[1.5, 0], [1, 2]]\n[[-2, 0], [1, 2]]\n"),
    ],
)  # fmt: skip
def test_cuda_text_prints_with_the_devices_printf(body, shown):
    found = subprocess.run(
        [sys.executable, "-c", HOST.format(bodies=[body])], capture_output=True, check=True, encoding="utf-8"
    )
    assert found.stdout == shown


def test_nvrtc_takes_it(need):
    need("nvrtc")
    body = 'print("x", x[i], vec2(x[i], 1.0), x[i] > 0.0)\n    printf("%d \\x1b[0m é\\n", i)'
    assert CudaBackend().compile(kernel(body).specialise().function, Options(), "sm_90").image
    assert '\\033[0m é\\n", (long long)(i));' in inspect.cuda(kernel(body))


REFUSED = [
    ('print(f"{x[i]:^9.2f}")', "In a kernel an f-string does not know the format of f'{x[i]:^9.2f}'."),
    ('print(f"{x[i]!a}")', "In a kernel an f-string does not know the format of f'{x[i]!a}'."),
    ('print(f"{x[i]:{i}}")', "In a kernel an f-string does not know the format of f'{x[i]:{i}}'."),
    ('print(f"{x[i]:d}")', "%d does not fit float32"),
    ("print(x)", "print() shows numbers, vectors and matrices; this is array[float32]"),
    ('print(i, file="a")', "print() takes sep and end, as plain strings"),
    ("print(i, sep=i)", "print() takes sep and end, as plain strings"),
    ('printf("%d\\n", x[i])', "%d does not fit float32"),
    ('printf("%f\\n", i)', "%f does not fit int32"),
    ('printf("%s\\n", i)', "printf() does not know '%s\\n' in its format"),
    ('printf("%d\\n")', "1 conversions in its format and 0 values"),
    ("printf(i)", "takes a format, a plain string"),
    ('printf("%f\\n", vec2(1.0, 2.0))', "printf() shows numbers; this is vec2"),
    ("z = print(i) + 1.0", "A number is expected here"),
]


@pytest.mark.parametrize(("body", "sentence"), REFUSED)
def test_refused(body, sentence):
    with pytest.raises(wb.WorkbenchError) as caught:
        kernel(body)
    assert sentence.replace("\\n", "\n") in caught.value.render().replace("\\n", "\n")


def test_the_shim_and_the_interpreter_agree_on_effects():
    function = kernel("if i < 0:\n        print(i)").specialise().function
    expected, got = arrays(), arrays()
    run(function, (2,), expected)
    on_gpu.run(function, (2,), got)
    np.testing.assert_array_equal(got[1], expected[1])
