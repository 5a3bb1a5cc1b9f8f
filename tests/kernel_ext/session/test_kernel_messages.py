"""The real library behind the real magics in a real kernel: what a notebook file holds after its cells ran.

One notebook, run once; each test reads its outputs, and the page that nbconvert makes of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import pytest

SAXPY = """%%kernel --grad -D DT=0.5
def saxpy(a: float, x: array(dtype=float), y: array(dtype=float)):
    i = tid()
    y[i] = a * x[i] + DT * y[i]
"""
LAUNCH = """import numpy as np
import workbench as wb
x, y = wb.array(np.ones(4, np.float32)), wb.array(np.ones(4, np.float32))
wb.launch(saxpy, dim=4, inputs=[2.0, x, y])
print(y.numpy())"""
BAD = SAXPY.replace("DT * y[i]", "nowhere * y[i]\n    z = sin(i)")
CELLS = {
    "load": "%load_ext kernel_ext",
    "first": SAXPY,
    "launch": LAUNCH,
    "again": SAXPY,
    "changed": SAXPY.replace("DT=0.5", "DT=0.25"),
    "inspect": "%inspect saxpy ir,adjoint",
    "cache": "%cache",
    "wrong": BAD,
    "stale": "wb.launch(saxpy, dim=4, inputs=[2.0, x, y])",
    "unknown": "%%kernel --nothing\ndef f(x: array(dtype=float)):\n    x[tid()] = 1.0",
    "energy": """%%kernel -q
def energy(x: array(dtype=float), e: array(dtype=float)):
    atomic_add(e, 0, x[tid()] * x[tid()])
""",
    "told": """def loss():
    e = wb.zeros(1)
    wb.launch(energy, 4, [x], [e])
    return e
%grad loss() --wrt x""",
    "losses": "for step in wb.optim.progress(3):\n    step.report(1.0 / (step + 1))",
    "unwatched": "for step in wb.optim.progress(3, watch=lambda: 1 / 0):\n    pass\nprint('to', step)",
    "unload": "%unload_ext kernel_ext",
    "gone": "%cache",
}


@pytest.fixture(scope="module")
def notebook(need: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The notebook after all cells ran in a fresh kernel with an empty cache."""
    need("nbclient")
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    book = new_notebook(cells=[new_code_cell(text) for text in CELLS.values()])
    folder = tmp_path_factory.mktemp("notebook")
    environment = {**os.environ, "WORKBENCH_CACHE": str(folder / "cache"), "WORKBENCH_WIDGETS": "1"}
    patience = {"timeout": 900, "startup_timeout": 900}
    client = NotebookClient(book, kernel_name="python3", allow_errors=True, store_widget_state=False, **patience)
    client.extra_arguments = ["--log-level=ERROR"]
    with client.setup_kernel(env=environment, cwd=str(folder)):
        for index, cell in enumerate(book.cells):
            client.execute_cell(cell, index)
    return dict(zip(CELLS, book.cells, strict=True))


def status_line(cell: Any) -> str:
    """The last view of the cell's static fallback."""
    return cell.outputs[0]["data"]["text/plain"]


def printed(cell: Any) -> str:
    """What a cell printed; a kernel may send a line and its end as two messages."""
    assert all(output.output_type == "stream" for output in cell.outputs), cell.outputs
    return "".join(output["text"] for output in cell.outputs)


def error(cell: Any) -> list[str]:
    found = [output for output in cell.outputs if output.output_type == "error"]
    assert len(found) == 1, cell.outputs
    return "\n".join(found[0]["traceback"]).splitlines()


def test_the_greeting_is_one_line(notebook: Any) -> None:
    assert re.fullmatch(r"Workbench \d+\.\d+ · cpu.* · cache 0 modules, 0 B\n", printed(notebook["load"]))


def test_the_states_follow_each_other(notebook: Any) -> None:
    assert re.fullmatch(
        r"compiled saxpy [0-9a-f]{8} \| \S+ m?s \| forward \S+ m?s, adjoint \S+ m?s", status_line(notebook["first"])
    )
    assert status_line(notebook["again"]).startswith("cache hit | memory ")
    assert status_line(notebook["changed"]).startswith("recompiled: constant DT")
    assert printed(notebook["launch"]) == "[2.5 2.5 2.5 2.5]\n"


def test_a_status_is_the_twin_and_then_the_card(notebook: Any) -> None:
    twin, card = notebook["first"].outputs
    assert set(twin["data"]) == {"text/plain", "text/html", "application/vnd.workbench+json"}
    assert set(card["data"]) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert "compiled" in twin["data"]["text/html"]


def test_inspect_and_cache_have_text_and_html(notebook: Any) -> None:
    panes, _ = notebook["inspect"].outputs
    assert "saxpy · Adjoint" in panes["data"]["text/html"]
    assert re.search(r"mul .*   @ 4$", panes["data"]["text/plain"], re.MULTILINE)
    cache, _ = notebook["cache"].outputs
    assert re.match(r"\d+ modules, .*misses", cache["data"]["text/plain"]) and "saxpy" in cache["data"]["text/html"]


def test_a_gradient_is_told_and_drawn(notebook: Any) -> None:
    twin, live = notebook["told"].outputs
    view = twin["data"]["application/vnd.workbench+json"]
    assert view["widget"] == "grad_view" and view["view"]["title"] == "loss() = 4"
    assert "application/vnd.jupyter.widget-view+json" in live["data"]


def test_a_loop_of_an_optimisation_is_one_picture_that_changes(notebook: Any) -> None:
    (picture,) = notebook["losses"].outputs
    assert picture["data"]["text/plain"] == "optimisation: 3 of 3 steps, loss 0.3333 (first 1, lowest 0.3333)"
    assert picture["data"]["text/html"].startswith("<img")


def test_a_loop_goes_on_without_pictures_where_what_it_watches_fails(notebook: Any) -> None:
    (said,) = notebook["unwatched"].outputs
    assert (
        said["text"]
        == "watch failed with ZeroDivisionError: division by zero. The loop goes on without pictures.\nto 2\n"
    )


def test_all_errors_of_the_cell_stand_at_its_lines(notebook: Any) -> None:
    assert status_line(notebook["wrong"]).splitlines()[0] == "failed | 2 errors"
    rows = error(notebook["wrong"])
    assert rows[0].endswith("saxpy, Cell In[8], line 4")
    assert rows[1].strip() == "y[i] = a * x[i] + nowhere * y[i]"
    assert rows[2].index("^") == rows[1].index("nowhere")
    assert any(row.endswith("Cell In[8], line 5") for row in rows)
    assert rows[-1] == "2 errors"
    assert not any("kernel_ext" in row or "workbench/" in row for row in rows)


def test_the_kernels_of_a_failed_cell_are_stale(notebook: Any) -> None:
    rows = error(notebook["stale"])
    assert "no longer compiles" in "\n".join(rows)
    assert rows[-1].strip() == CELLS["stale"]
    assert not any("kernel_ext" in row or "workbench/" in row for row in rows)


def test_a_wrong_option_is_an_error_output(notebook: Any) -> None:
    assert error(notebook["unknown"])[0].startswith("UsageError: %%kernel: unrecognized arguments: --nothing")


def test_unloading_takes_the_magics_away(notebook: Any) -> None:
    assert notebook["unload"].outputs == []
    assert "Line magic function `%cache` not found" in str(notebook["gone"].outputs)


def test_nbconvert_shows_the_twin_and_no_broken_widget(notebook: Any) -> None:
    from nbconvert import HTMLExporter
    from nbformat.v4 import new_notebook

    page, _ = HTMLExporter().from_notebook_node(new_notebook(cells=[notebook["first"]]))
    shown = page[page.index("<main") :]
    assert shown.count("adjoint</td>") == 1
    assert "widget-view" not in shown and "model_id" not in shown
