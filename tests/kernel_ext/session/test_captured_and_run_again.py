"""Cells under other magics, and cells that are run again, in a front end that gives cells no identity."""

from __future__ import annotations

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

pytestmark = pytest.mark.slow


def run(cells: list[tuple[str, int]]) -> list[str]:
    """Return what the cells print, each run as often as it says; an error in one of them is raised."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(text) for text, _ in cells]
    client = nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3")
    with client.setup_kernel():
        for number, (_, times) in enumerate(cells):
            for _ in range(times):
                client.execute_cell(notebook.cells[number], number)
    return ["".join(o.get("text", "") for o in cell.outputs if o.output_type == "stream") for cell in notebook.cells]


def test_a_captured_cell_holds_what_was_printed_and_no_error():
    printed = run([("%load_ext kernel_ext", 1), ("%%capture c\nprint('hello')", 1), ("print(repr(c.stdout))", 1)])
    assert printed[2].strip() == repr("hello\n")


def test_a_cell_that_is_run_again_leaves_no_widget_and_no_array():
    begin = (
        "import gc, weakref, ipywidgets.widgets.widget as w, workbench as wb\n"
        "from kernel_ext import show\n%load_ext kernel_ext\nrefs = []"
    )
    display = "x = wb.ones(1000); refs.append(weakref.ref(x)); display(show.array(x)); None"
    count = "gc.collect(); print(len(w._instances), sum(r() is not None for r in refs))"
    once = run([(begin, 1), (display, 1), (count, 1)])[2].split()
    often = run([(begin, 1), (display, 6), (count, 1)])[2].split()
    assert all(int(b) <= int(a) + 1 for a, b in zip(once, often, strict=True))
