"""`%%graph` in a shell of this process, with the real library behind it."""

from __future__ import annotations

import re

import pytest

from kernel_ext.magics.work_magics import replayed
from kernel_ext.session.tracebacks import KernelUsageError


@pytest.fixture
def notebook(session):
    """A shell with the extension, a kernel and two arrays."""
    session.run("%load_ext kernel_ext")
    session.run(
        "%%kernel -q\ndef step(dt: float, x: array(dtype=float), v: array(dtype=float)):\n"
        "    i = tid()\n    x[i] = x[i] + dt * v[i]\n"
    )
    session.run("import workbench as wb\nx, v = wb.zeros(2), wb.ones(2)")
    return session


def test_a_captured_cell_runs_when_its_graph_is_launched(notebook) -> None:
    out = notebook.run("%%graph -n steps\nfor _ in range(3):\n    wb.launch(step, 2, [0.5, x, v])")
    names = notebook.shell.user_ns
    assert "Graph of 3 nodes on cpu: 3 forward" in out and names["x"].numpy().tolist() == [0, 0]
    names["steps"].launch()
    assert names["x"].numpy().tolist() == [1.5, 1.5]


def test_replay_tells_the_time_of_one_launch(notebook) -> None:
    out = notebook.run("%%graph -q --replay 4\nwb.launch(step, 2, [0.5, x, v])")
    assert re.fullmatch(r"launched 4 times, \S+ [mµ]?s each\n", out)
    assert notebook.shell.user_ns["x"].numpy().tolist() == [2, 2]
    assert replayed(notebook.shell.user_ns["g"], 1).startswith("launched 1 times")


def test_profile_shows_times(notebook) -> None:
    assert " ms" in notebook.run("%%graph --profile\nwb.launch(step, 2, [0.5, x, v])")


def test_a_value_that_was_captured_is_shown_without_values(notebook) -> None:
    assert "array(written by a capture, dtype=float32" in notebook.run("%%graph -q\nx.fill_(1.0)")


@pytest.mark.parametrize("line", ["-n 3x", "--replay -1", "--replay much", "--what"])
def test_wrong_lines_are_refused(line: str, notebook) -> None:
    notebook.run(f"%%graph {line}\nwb.launch(step, 2, [0.5, x, v])")
    assert isinstance(notebook.raised, KernelUsageError)
    assert notebook.errors[0].startswith("UsageError: %%graph")


def test_making_a_graph_ready_runs_nothing_and_is_no_part_of_the_time(notebook, monkeypatch) -> None:
    notebook.run("%%graph -q\nwb.launch(step, 2, [0.5, x, v])")
    graph = notebook.shell.user_ns["g"]
    monkeypatch.setattr(type(graph), "launch", lambda self: order.append(self._plan is not None))
    order: list[bool] = []
    replayed(graph, 2)
    assert order == [True, True]
    assert notebook.shell.user_ns["x"].numpy().tolist() == [0, 0]
