"""What is said when a constant or a helper changes: one line at the launch that recompiles, a mark on old outputs."""

from __future__ import annotations

from typing import Any

import pytest

from kernel_ext.output import output_area
from kernel_ext.output.output_area import _Run

KERNEL = """%%kernel
def g(x: array[float]):
    i = tid()
    x[i] = x[i] + G * half()
"""
HELPER = "%%kernel\n@func\ndef half():\n    return {}\n"
LAUNCH = "wb.launch(g, 3, [x], device='cpu')"


@pytest.fixture
def notebook(session: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A shell with a kernel `g` of a constant and a helper, launched once; runs are told apart by their cells."""
    monkeypatch.setattr(output_area, "_RUNS", {})
    for cell in ("%load_ext kernel_ext", "import workbench as wb\nx = wb.zeros(3, device='cpu')\nG = 2.0",
                 HELPER.format(0.5), KERNEL, LAUNCH):  # fmt: skip
        session.run(cell)
    return session


def test_a_launch_that_recompiles_says_why_once_for_each_kernel_and_cell(notebook: Any) -> None:
    assert "recompiled" not in notebook.run(LAUNCH)
    assert "recompiled" not in notebook.run("G = 5.0")
    said = notebook.run(f"{LAUNCH}\nG = 6.0\n{LAUNCH}")
    assert said.count("recompiled") == 1 and "g recompiled: constant G: 2.0 → 5.0 · " in said
    assert "g recompiled: constant G: 6.0 → 7.0" in notebook.run(f"G = 7.0\n{LAUNCH}")
    assert "recompiled" not in notebook.run("p = wb.profile(g, 3, [x])"), "a tool's own build"
    assert "constant G: 6.0 → 7.0" in notebook.run("%cache why g")
    scans = "wb.utils.array_scan(x, wb.zeros(3, device='cpu'), inclusive={})"
    assert "recompiled" not in notebook.run(scans.format(True)) + notebook.run(scans.format(False)), "not the user's"


class Widget:
    stale = ""


def test_outputs_are_marked_while_what_they_used_has_another_value(notebook: Any) -> None:
    run = _Run("m1", [])
    run.widgets.append(widget := Widget())
    output_area._RUNS["c1"] = run
    notebook.shell.parent_header = {"metadata": {"cellId": "c1"}, "header": {"msg_id": "m1"}}
    notebook.run(LAUNCH)
    notebook.shell.parent_header = {"metadata": {"cellId": "c2"}, "header": {"msg_id": "m2"}}
    assert widget.stale == ""
    notebook.run("G = 5.0")
    assert widget.stale == "stale: G changed"
    notebook.run(LAUNCH)
    assert widget.stale == "stale: G changed", "another cell's launch does not draw this one's picture again"
    notebook.run("G = 2.0")
    assert widget.stale == ""
    notebook.run(HELPER.format(0.25))
    assert widget.stale == "stale: half changed"
    notebook.run(KERNEL.replace("half()", "3.0"))
    assert widget.stale.endswith("g changed")


def test_a_card_is_marked_until_its_kernel_runs_with_the_new_value(notebook: Any) -> None:
    widget = Widget()
    run = next(run for run in output_area._RUNS.values() if run.views and "g" in run.views[0].view.kernels)
    run.widgets.append(widget)
    notebook.run("G = 5.0")
    assert widget.stale == "stale: G changed"
    notebook.run(LAUNCH)
    assert widget.stale == ""
