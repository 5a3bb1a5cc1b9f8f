"""Tab on the magics' lines, as plain lists and through a shell's completer."""

from __future__ import annotations

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
