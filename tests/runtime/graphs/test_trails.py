"""The way that a run takes through a graph, a record or a tape, and how a notebook goes through it."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show


@wb.kernel
def double(y: wb.array[float]):
    i = wb.tid()
    y[i] = 2.0 * y[i]


@wb.kernel
def less(n: wb.array[int]):
    n[0] = n[0] - 1


@pytest.mark.parametrize("turns", [0, 2])
def test_a_trail_names_the_turn_the_branch_and_the_place_in_the_picture(turns: int) -> None:
    y, n, f = wb.zeros(2), wb.array([turns], dtype=int), wb.zeros(1, int)
    with wb.capture() as g:
        y.fill_(1.0)
        wb.capture_while(n, lambda: (wb.launch(double, 2, [y]), wb.launch(less, 1, [n])))
        wb.capture_if(f, lambda: y.fill_(7.0), lambda: wb.launch(double, 2, [y]))
    titles = [node["title"] for node in g.layout()["nodes"]]
    seen = [(titles[s.index], s.turns, s.chosen, y.numpy()[0]) for s in wb.inspect.trail(g)]
    loop = [
        row
        for k in range(turns)
        for row in (
            ("while", (), "body", 2.0**k),
            *((name, (k + 1,), "", 2.0 ** (k + 1)) for name in ("double", "less")),
        )
    ]
    last = 2.0**turns
    branch = [("if", (), "false", last), ("double", (), "", 2 * last), ("if", (), "", 2 * last)]
    assert seen == [("fill 1", (), "", 1.0), *loop, ("while", (), "", last), *branch]


def test_graphs_records_and_tapes_are_stepped_in_one_view() -> None:
    y, n = wb.ones(9, requires_grad=True), wb.array([2], dtype=int)
    with wb.capture() as inner:
        wb.capture_while(n, lambda: (wb.launch(double, 9, [y]), wb.launch(less, 1, [n])))
    with wb.record() as rec:
        inner.launch()
    assert y.numpy()[0] == 4.0
    n.fill_(1)
    shown = show.steps(rec)
    assert shown.kind == "graph_view" and y.numpy()[0] == 8.0, "it ran"
    assert shown.text.splitlines() == [
        "1 node on cpu | 6 steps", "0: graph  next the graph “body”", "1: while  condition 1; next the graph “body”",
        "2: double  turn 1; wrote y 8 8 8 8 8 8 ... (9 values)", "3: less  turn 1; wrote n 0",
        "4: while  condition 0; next it is over", "5: graph  next it is over",
    ]  # fmt: skip
    assert "<table" in shown.html and "data:image/svg+xml" in shown.html
    with wb.Tape() as tape:
        wb.launch(double, 9, [y])
    assert show.steps(tape).view["steps"] == [{"index": 0, "said": [("wrote y", "32 32 32 32 32 32 … (9 values)")]}]
    with pytest.raises(Exception, match=r"wb\.step returned, a graph, a record or a tape"):
        show.steps(3)
    with wb.capture() as open_one, pytest.raises(wb.LaunchError, match="still being captured"):
        show.steps(open_one)


def test_of_a_long_run_the_first_steps_are_shown_and_all_run() -> None:
    y, one, n = wb.zeros(1), wb.ones(1), wb.array([400], dtype=int)
    with wb.capture() as g:
        wb.capture_while(n, lambda: (y.add_(one), wb.launch(less, 1, [n])))
    made = show.steps(g).view
    assert len(made["steps"]) == 500 and "1201 steps · the first 500 are shown" in made["title"]
    assert y.numpy().tolist() == [400.0] and n.numpy().tolist() == [0]


def test_a_fault_ends_the_trail_where_it_is() -> None:
    y = wb.array(np.ones(4, np.float32))
    with wb.checks(True), wb.capture() as g:
        wb.launch(double, 4, [y])
        wb.launch(double, 5, [y])
        wb.launch(double, 4, [y])
    with pytest.raises(wb.KernelFault, match="index 4"):
        list(wb.inspect.trail(g))
    assert y.numpy()[0] in (2.0, 4.0), "nothing after the fault ran"
