"""`%%cuda` in a shell: the card's line, errors at the cell's lines, headers, staleness, options that do not go."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb

CELL = """%%cuda --run emulated
__global__ void scale(float* x, float a) {
    x[threadIdx.x] *= a;
}
"""


class Notebook:
    """A shell with the extension and the real library."""

    def __init__(self, session: Any) -> None:
        self.session, self.shell = session, session.shell
        session.run("%load_ext kernel_ext\nimport workbench as wb")

    def run(self, cell: str) -> str:
        """What a cell shows, which must not fail."""
        out = self.session.run(cell)
        assert self.session.raised is None, self.session.errors
        return out

    def fail(self, cell: str) -> str:
        """How a cell fails."""
        self.session.run(cell)
        assert self.session.raised is not None
        return "\n".join(self.session.errors)


@pytest.fixture
def notebook(session: Any) -> Notebook:
    return Notebook(session)


def test_a_cell_is_compiled_found_again_and_recompiled_with_a_reason(notebook: Notebook) -> None:
    cell = CELL.replace("emulated", "emulated -n waves -D K=2").replace("*= a", "*= a * K").replace("scale", "waved")
    assert notebook.run(cell).startswith("compiled waved ")
    assert (
        notebook.run("x = wb.ones(3, device='emulated')\nwaved[3](x, 3.0, block_dim=3)\nprint(x.numpy())")
        == "[6. 6. 6.]\n"
    )
    assert notebook.run(cell).startswith("cache hit | ")
    assert notebook.run(cell.replace("K=2", "K=3")).startswith("recompiled: constant K: 2 -> 3 | ")
    assert notebook.run(cell.replace("-n", "-q -n")) == ""


def test_cells_in_python_run_beside_it(notebook: Notebook) -> None:
    python = "%%kernel\ndef plus(x: array[float], a: float):\n    x[tid()] += a"
    notebook.run(CELL.replace("scale", "beside"))
    assert notebook.run(python).startswith("compiled plus ")  # the CUDA kernel was not launched yet
    notebook.run("x = wb.ones(3, device='emulated')\nbeside[3](x, 3.0)")
    assert notebook.run(python.replace("+=", "-=")).startswith("recompiled: ")


def test_without_a_device_it_is_compiled_for_reading(notebook: Notebook) -> None:
    out = notebook.run(CELL.replace("--run emulated", "-a ptx,source"))
    assert "regs" in out.splitlines()[0] and ".visible .entry" in out
    assert "--- scale: Source\n__global__ void scale" in out
    error = notebook.fail("scale[3](wb.zeros(3), 1.0)")
    assert "compiled for sm_90" in error and "%%cuda --run emulated" in error


def test_an_error_stands_at_its_line_and_leaves_the_kernel_stale(notebook: Notebook) -> None:
    notebook.run(CELL)
    error = notebook.fail(CELL.replace("*= a", "*= aa"))
    assert "line 3" in error and "    x[threadIdx.x] *= aa;\n" in error and "^^" in error
    assert "no longer compiles" in notebook.fail("scale[3](wb.zeros(3), 1.0)")


def test_a_cell_can_be_a_header_of_others(notebook: Notebook) -> None:
    header = "%%cuda --header twice.h\n__device__ float twice(float x) {\n    return 2 * x;\n}\n"
    assert notebook.run(header).startswith("header twice.h saved · ")
    notebook.run("%%cuda --run emulated --use twice.h -q\n__global__ void k(float* x) { x[0] = twice(x[0]); }\n")
    assert notebook.run("x = wb.full(1, 4.0, device='emulated')\nk[1](x, block_dim=1)\nprint(x.numpy()[0])") == "8.0\n"
    assert notebook.run(header.replace("2 *", "3 *")).startswith("header twice.h replaced · ")
    again = '%%cuda --run emulated\n#include "twice.h"\n__global__ void k(float* x) { x[0] = twice(x[0]); }\n'
    assert notebook.run(again).startswith("recompiled: code changed | ")
    assert "There is no header no.h" in notebook.fail("%%cuda --use no.h\n__global__ void k() {}\n")
    broken = header.replace("2 * x", "2 * y")
    notebook.run(broken)
    error = notebook.fail(again)
    assert "line 3" in error and "return 2 * y" in error


def test_the_cell_itself_is_given_and_gradients_are_asked_for(notebook: Notebook) -> None:
    notebook.run(f"{CELL.replace('--run emulated', '--run emulated -r')}")
    assert isinstance(notebook.shell.user_ns["_"], wb.CudaModule)
    assert "asks for gradients, and scale has none" in notebook.fail(CELL.replace("emulated", "emulated --grad"))


def test_checks_are_on_in_notebooks_until_a_cell_says_otherwise(notebook: Notebook) -> None:
    text = "__global__ void past(float* x) { x[threadIdx.x + 1] = 1.0f; }\n"
    notebook.run("%%cuda --run emulated -q\n" + text)
    notebook.session.run("past[4](wb.zeros(4, device='emulated'), block_dim=4)")
    error = "\n".join(notebook.session.errors)
    assert "writes 4 bytes at x[4], beyond its 4 elements." in error and "__global__ void past(float* x)" in error
    error = notebook.fail("import numpy as np\npast[4](np.zeros(4, np.float32), block_dim=4)")
    assert "writes 4 bytes at x[4], beyond its 4 elements." in error
    notebook.run("%%cuda --run emulated -q --no-checks\n" + text)
    assert notebook.run("x = np.zeros(4, np.float32)\npast[3](x, block_dim=3)\nprint(x)") == "[0. 1. 1. 1.]\n"
    assert notebook.run("past[4](x, block_dim=4)\nprint(x)") == "[0. 1. 1. 1.]\n"


def test_it_can_compile_in_the_background(notebook: Notebook) -> None:
    out = notebook.run(CELL.replace("emulated", "emulated --bg -f"))
    assert out == "scale compiling in the background; %workbench wait waits for it\n"
    assert (
        notebook.run("x = wb.ones(2, device='emulated')\nscale[2](x, 5.0, block_dim=2)\nprint(x.numpy()[0])") == "5.0\n"
    )
    assert wb.wait() >= 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--checks", "%%cuda --checks needs --run emulated"),
        ("-b cuda --run emulated", "contradict each other"),
        ("-b cpu", "-b cpu: CUDA C++ runs on a GPU or on the emulated device; write --run emulated"),
        ("--run host", "--run host: CUDA C++ runs on a GPU or on the emulated device; write --run emulated"),
        ("--run moon", "--run moon: write --run device or --run emulated"),
        ("-l m", "unrecognized arguments: -l m"),
        ("--header h.h", "headers hold __device__ functions"),
    ],
)
def test_options_that_do_not_go_are_refused(notebook: Notebook, line: str, said: str) -> None:
    assert said in notebook.fail(CELL.replace("--run emulated", line))


def test_the_help_has_examples_and_the_run_can_be_set_for_a_session(notebook: Notebook) -> None:
    assert "--header NAME" in notebook.shell.find_cell_magic("cuda").__doc__
    notebook.run("%config CudaMagics.run = 'emulated'")
    notebook.run(CELL.replace(" --run emulated", " -q"))
    assert notebook.shell.user_ns["scale"].module.run == "emulated"
