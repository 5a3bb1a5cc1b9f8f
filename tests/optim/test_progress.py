"""The loop that draws: what it keeps, what it prints, and what a notebook is given."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench import events


def test_the_history_is_kept(capsys):
    run = wb.optim.progress(4)
    for step in run:
        assert isinstance(step, int)
        step.report(wb.full(1, 1.0 / (step + 1)))
    assert len(run) == 4 and run.steps == [0, 1, 2, 3]
    assert run.history == pytest.approx([1.0, 1 / 2, 1 / 3, 1 / 4])
    assert capsys.readouterr().out == "optimisation: 4 of 4 steps, loss 0.25 (first 1, lowest 0.25)\n"


def test_an_interrupt_keeps_the_history(capsys):
    run = wb.optim.progress(100, "fit")
    with pytest.raises(KeyboardInterrupt):
        for step in run:
            step.report(5.0 - step)
            if step == 2:
                raise KeyboardInterrupt
    steps = iter(run)
    next(steps).report(1.0)
    steps.close()
    assert run.history == [1.0]
    out = capsys.readouterr().out
    assert "fit: 0 of 100 steps, stopped, loss 1" in out


def test_after_a_break_the_picture_says_that_it_stopped(capsys):
    run = wb.optim.progress(10)
    for step in run:
        step.report(float("nan") if step == 1 else 100.0 * 0.01**step)
        if step == 3:
            break
    assert not run.running and run.done == 3
    assert "stopped" in repr(run) and "lowest 0.0001" in repr(run)
    assert run._repr_html_().startswith("<img")
    capsys.readouterr()


def test_a_listener_draws_instead(capsys):
    seen = []
    end = events.subscribe(lambda event: seen.append(event.progress.running), events.LossReported)
    try:
        for step in wb.optim.progress(2):
            step.report(1.0)
    finally:
        end()
    assert seen[0] is True and seen[-1] is False
    assert capsys.readouterr().out == ""


def test_what_is_refused():
    with pytest.raises(ValueError, match="number of steps"):
        wb.optim.progress(-1)
    assert wb.optim.progress(0)._repr_html_().startswith("<img")


def test_what_is_watched_is_drawn_by_a_notebook_only() -> None:
    calls, seen = [], []
    for step in wb.optim.progress(5, watch=[lambda: calls.append(1), "loss"]):
        step.report(1.0)
    assert not calls, "a script draws nothing"
    end = events.subscribe(lambda event: seen.append(event.progress.watch), events.LossReported)
    try:
        for _ in wb.optim.progress(2, watch=wb.zeros(3)):
            pass
    finally:
        end()
    assert seen and len(seen[-1]) == 1
    for wrong in ("lose", [3]):
        with pytest.raises(TypeError, match="watch takes"):
            wb.optim.progress(2, watch=wrong)
