"""Widgets after their static twins: one at a time for a name, none where the front end cannot have one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kernel_ext import display
from kernel_ext.display import LiveViews
from kernel_ext.views import TimelineView

BUNDLE = {"text/plain": "nothing", "text/html": "<b>nothing</b>"}
VIEW = TimelineView("rec", (), (), 0.0)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The bundles displayed so far."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(display, "display", lambda bundle, raw: found.append(bundle))
    monkeypatch.setenv("WORKBENCH_WIDGETS", "1")
    return found


def test_the_twin_comes_first_and_the_widget_hides_it(shown: list[dict[str, Any]]) -> None:
    views = LiveViews(SimpleNamespace(kernel=object()))
    views.show("rec", BUNDLE, "timeline", "Timeline", VIEW)
    twin, live = shown
    widget = views._shown["rec"]
    assert BUNDLE["text/html"] in twin["text/html"] and f'class="{widget.twin}"' in twin["text/html"]
    assert live["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    views.show("rec", BUNDLE, "timeline", "Timeline", VIEW)
    assert widget.comm is None and views._shown["rec"] is not widget, "the earlier one is closed"
    views.close()
    assert views._shown == {}


@pytest.mark.parametrize("shell", [SimpleNamespace(kernel=object()), SimpleNamespace()], ids=["lab", "terminal"])
def test_only_the_twin_where_widgets_are_off_or_nobody_can_have_one(
    shown: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, shell: SimpleNamespace
) -> None:
    if hasattr(shell, "kernel"):
        monkeypatch.setenv("WORKBENCH_WIDGETS", "0")
    LiveViews(shell).show("rec", BUNDLE, "timeline", "Timeline", VIEW)
    assert shown == [BUNDLE]
