"""Widgets after their static twins: one at a time for a name, none where the front end cannot have one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kernel_ext import display
from kernel_ext.display import LiveViews
from kernel_ext.shown import MIME, WIDGET_MIME, Shown, hide_dead
from kernel_ext.views import SpanRow, TimelineView

SHOWN = Shown("timeline", TimelineView("rec", (), (), 0.0), "nothing", "<b>nothing</b>")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The bundles displayed so far."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(display, "display", lambda bundle, raw: found.append(bundle))
    monkeypatch.setenv("WORKBENCH_WIDGETS", "1")
    return found


def test_the_twin_comes_first_and_the_widget_hides_it(shown: list[dict[str, Any]]) -> None:
    views = LiveViews(SimpleNamespace(kernel=object()))
    views.show("rec", SHOWN)
    twin, live = shown
    widget = views._shown["rec"]
    assert SHOWN.html in twin["text/html"] and f'class="{widget.twin}"' in twin["text/html"]
    assert live[WIDGET_MIME]["model_id"] == widget.model_id
    views.show("rec", SHOWN)
    assert widget.comm is None and views._shown["rec"] is not widget, "the earlier one is closed"
    views.close()
    assert views._shown == {}


@pytest.mark.parametrize("shell", [SimpleNamespace(kernel=object()), SimpleNamespace()], ids=["lab", "terminal"])
def test_only_the_twin_where_widgets_are_off_or_nobody_can_have_one(
    shown: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, shell: SimpleNamespace
) -> None:
    if hasattr(shell, "kernel"):
        monkeypatch.setenv("WORKBENCH_WIDGETS", "0")
    LiveViews(shell).show("rec", SHOWN)
    assert shown == [SHOWN.bundle()]


def test_one_object_serves_each_front_end() -> None:
    bundle = SHOWN._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", MIME, WIDGET_MIME}
    assert bundle[WIDGET_MIME]["model_id"] == SHOWN.widget.model_id
    assert bundle[MIME] == {"widget": "timeline", "twin": "", "view": SHOWN.widget.view}
    assert repr(SHOWN) == "nothing" and SHOWN._repr_html_() == "<b>nothing</b>"


def test_a_large_view_is_not_kept_in_the_notebook() -> None:
    rows = tuple(SpanRow(0.0, 1.0, "cpu", "forward", "step", (1,), 4, "cell [1]:1") for _ in range(5000))
    large = Shown("timeline", TimelineView("rec", ("cpu",), rows, 1.0), "text", "html")
    assert set(large.bundle()) == {"text/plain", "text/html"}


def test_a_widget_that_is_gone_is_hidden_by_its_twin() -> None:
    html = SHOWN.bundle("wb-twin-7")["text/html"]
    assert f"<style>{hide_dead('wb-twin-7')}</style>" in html
    assert "<style>" not in SHOWN.bundle()["text/html"], "without a widget there is nothing to hide"


def test_running_a_cell_again_closes_what_it_showed(
    shown: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    run = {"metadata": {"cellId": "c1"}, "header": {"msg_id": "1"}}
    shell = SimpleNamespace(kernel=object(), parent_header=run)
    monkeypatch.setattr(display, "get_ipython", lambda: shell)
    monkeypatch.setattr(display, "_RUNS", {})
    monkeypatch.setattr(display, "_display_widget", made.append)
    for msg in ("1", "1", "2"):
        run["header"] = {"msg_id": msg}
        SHOWN._ipython_display_()
    assert [widget.comm is None for widget in made] == [True, True, False]
