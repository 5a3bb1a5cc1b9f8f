"""Tab on the magics' lines, as plain lists and through a shell's completer."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter

from kernel_ext.magics.completion import complete


@pytest.fixture
def notebook(session: Any) -> Any:
    """A shell with the extension, a kernel, an array and a record."""
    session.run("%load_ext kernel_ext")
    session.run("%%kernel -q\ndef saxpy(x: array(dtype=float)):\n    x[tid()] = 1.0\n")
    session.run("import workbench as wb\nx = wb.zeros(2)\nrec = wb.Recorder()\nDT = 0.1")
    session.run("%%cuda --header warp.h\n__device__ float same(float v) { return v; }")
    return session


def tab(session: Any, line: str) -> list[str]:
    with provisionalcompleter():
        return [found.text for found in session.shell.Completer.completions(line, len(line))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%%kernel --fa", ["--fast-math"]),
        ("%%kernel --no", ["--no-checks"]),
        ("%%kernel -q -b ", ["auto", "cpu", "cuda"]),
        ("%%kernel -a ir,adj", ["adjoint"]),
        ("%inspect sa", ["saxpy"]),
        ("%inspect saxpy so", ["source"]),
        ("%inspect saxpy di", ["diff"]),
        ("%cache ", ["clear", "export", "import", "list", "prune", "why"]),
        ("%cache why s", ["saxpy"]),
        ("%%kernel -D D", ["DT"]),
        ("%%cuda --use ", ["warp.h"]),
        ("%%cuda --run ", ["device", "emulated"]),
        ("%replay r", ["rec"]),
        ("%replay rec --only ", ["adjoint", "forward"]),
        ("%record o", ["off", "on"]),
        ("%workbench do", ["doctor"]),
    ],
)
def test_what_fits_is_offered(notebook: Any, line: str, expected: list[str]) -> None:
    assert tab(notebook, line) == expected


def test_all_options_are_offered_at_a_dash(notebook: Any) -> None:
    found = tab(notebook, "%%kernel -")
    assert {"-n", "-b", "-D", "-a", "-f", "-q", "-r", "--bg", "--grad", "--arch", "--checks"} <= set(found)
    assert "--help" not in found


@pytest.mark.slow
def test_other_lines_are_left_to_others(notebook: Any) -> None:
    assert complete("saxpy.", {}, {}) is None
    assert complete("%timeit ", {}, {}) is None
    assert complete("%timeit", {"timeit": None}, {}) is None
    assert "saxpy" in tab(notebook, "print(sax")


def test_where_a_file_is_asked_for_no_kernel_is_offered(notebook: Any) -> None:
    assert not {"saxpy", "why"} & set(tab(notebook, "%cache import "))
    assert "saxpy" not in tab(notebook, "%workbench export ")


def test_unloading_takes_it_away(notebook: Any) -> None:
    before = len(notebook.shell.Completer.custom_matchers)
    notebook.run("%unload_ext kernel_ext")
    assert len(notebook.shell.Completer.custom_matchers) == before - 1


KERNEL = "%%kernel\ndef f(x: array[float], p: vec3, q: Ray):\n    "


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (KERNEL + "y = sq", {"sqrt"}),
        (KERNEL + "clam", {"clamp"}),
        (KERNEL + "tile_ar", {"tile_arange", "tile_argmax", "tile_argmin"}),
        (KERNEL + "x.sh", {"x.shape"}),
        (KERNEL + "p.", {"p.x", "p.y", "p.z"}),
        (KERNEL + "q.o", {"q.origin"}),
        ("%%kernel\ndef f(x: arr", {"array", "array1d", "array2d", "array3d", "array4d"}),
        ("%%kernel\ndef f(x: array[flo", {"float16", "float32", "float64"}),
        ("%%cuda\n__global__ void f(float* x) {\n  x[thr", {"threadIdx"}),
    ],
)
def test_words_of_the_language_are_offered_in_cells_of_kernels(notebook: Any, cell: str, expected: set[str]) -> None:
    notebook.run("@wb.struct\nclass Ray:\n    origin: wb.vec3\n    length: float\n")
    with provisionalcompleter():
        found = {found.text for found in notebook.shell.Completer.completions(cell, len(cell))}
    assert expected <= found
    assert found - expected <= {"float", "array"} or "clam" in cell or "sq" in cell


def test_elsewhere_no_word_of_the_language_is_offered(notebook: Any) -> None:
    assert "clamp" not in tab(notebook, "clam") and "tile_load" not in tab(notebook, "x = tile_l")


def test_a_question_mark_shows_the_word_s_own_meaning(notebook: Any) -> None:
    asked = notebook.shell.object_inspect_mime
    for name in ("wb.clamp", "clamp"):
        text = asked(name)["text/plain"]
        rows = [line.split(": ", 1) for line in text.splitlines() if ": " in line]
        said = {head: text.strip() for head, text in rows}
        assert said["Signature"] == "clamp(x, low, high)" and said["Differentiable"] == "yes"
        assert said["Example"] == "clamp(0.5, -2.25, 2.75) = 0.5"
        assert "vec3" in text and "One elementwise" not in text
    text = asked("saxpy")["text/plain"]
    assert "kernel saxpy(x: array[float32])" in text and "x[tid()] = 1.0" in text
    assert asked("DT")["text/plain"].count("float"), "other values are IPython's"
    notebook.run("%unload_ext kernel_ext")
    with pytest.raises(KeyError):
        asked("clamp")


@pytest.mark.slow
def test_modules_list_what_is_for_users() -> None:
    import workbench as wb
    from kernel_ext import show

    assert {"array", "controls", "graph"} <= set(dir(show)) and not {"Any", "arrays", "units", "wb"} & set(dir(show))
    assert {"launch", "sqrt", "vec3", "Tape"} <= set(dir(wb)) and not {"api", "ir", "passes", "import_module"} & set(
        dir(wb)
    )
    arrays = {"shape", "grad", "numpy"}, {"memory", "twin", "tag"}
    records = {"replay", "launches"}, {"launching", "done"}
    tapes = {"backward", "gradients", "steps"}, {"launching", "adjoints", "lend"}
    for value, (shown, hidden) in ((wb.zeros(1), arrays), (wb.Recorder(), records), (wb.Tape(), tapes)):
        assert shown <= set(dir(value)) and not hidden & set(dir(value))
    for module in (wb.cache, wb.inspect, wb.optim, wb.utils):
        assert dir(module) == sorted(module.__all__)
    # In a process of its own: here other tests have imported what these names load when they are first used.
    program = "import workbench as wb; from kernel_ext import show; [getattr(m, n) for m in (wb, show) for n in dir(m)]"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr == ""
