"""Widgets after their static fallbacks: one at a time for a name, none where the front end cannot have one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.output import output_area, renderable
from kernel_ext.output.output_area import LiveViews
from kernel_ext.output.renderable import MIME, WIDGET_MIME, Shown, hide_dead
from kernel_ext.views.programs.timeline import SpanRow, TimelineView
from kernel_ext.views.view_data import InspectView, PaneView, StatusView

SHOWN = Shown("timeline", TimelineView("rec", (), (), 0.0), "nothing", "<b>nothing</b>")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The bundles displayed so far."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(output_area, "display", lambda bundle, raw, **_: found.append(bundle))
    monkeypatch.setattr(output_area, "update_display", lambda bundle, raw, **_: found.append(bundle))
    monkeypatch.setenv("WORKBENCH_WIDGETS", "1")
    return found


def test_the_twin_comes_first_and_the_widget_hides_it(shown: list[dict[str, Any]]) -> None:
    views = LiveViews(SimpleNamespace(kernel=object()))
    views.show("rec", SHOWN)
    twin, live = shown
    widget = views._shown["rec"].widget
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


def test_a_saved_notebook_shows_what_a_slider_showed_last(shown: list[dict[str, Any]]) -> None:
    views = LiveViews(SimpleNamespace(kernel=object()))
    film = Shown(
        "timeline", TimelineView("rec", (), (), 0.0), lambda view: view.title, lambda view: f"<b>{view.title}</b>"
    )
    views.show("rec", film)
    widget = views._shown["rec"].widget
    widget.latest = lambda: TimelineView("later", (), (), 0.0)
    widget._heard(None, {"ask": "rest"}, None)
    assert shown[-1]["text/plain"] == "later" and f'class="{widget.twin}"' in shown[-1]["text/html"]


def test_a_large_view_is_not_kept_in_the_notebook() -> None:
    rows = tuple(SpanRow(0.0, 1.0, "cpu", "forward", "step", (1,), 4, "cell [1]:1") for _ in range(5000))
    large = Shown("timeline", TimelineView("rec", ("cpu",), rows, 1.0), "text", "html")
    assert set(large.bundle()) == {"text/plain", "text/html"}


def test_a_widget_that_is_gone_is_hidden_by_its_twin() -> None:
    html = SHOWN.bundle("wb-twin-7")["text/html"]
    assert f"<style>{hide_dead('wb-twin-7')}</style>" in html
    assert "<style>" not in SHOWN.bundle()["text/html"], "without a widget there is nothing to hide"


class Cells:
    """A front end in which cells are run: `run(cell)` begins a run, `made` are the widgets displayed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[Any] = []
        self.shell = SimpleNamespace(kernel=object(), parent_header={})
        monkeypatch.setattr(output_area, "get_ipython", lambda: self.shell)
        monkeypatch.setattr(output_area, "_RUNS", {})
        monkeypatch.setattr(output_area, "_display_widget", self.made.append)

    def run(self, cell: str) -> None:
        number = len(self.made)
        self.shell.parent_header = {"metadata": {"cellId": cell}, "header": {"msg_id": f"{cell} {number}"}}

    def closed(self) -> list[bool]:
        return [widget.closed for widget in self.made]


@pytest.fixture
def cells(shown: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> Cells:
    return Cells(monkeypatch)


def test_a_cell_run_again_shows_with_the_widgets_of_its_earlier_run(cells: Cells, shown: list[dict[str, Any]]) -> None:
    cells.run("c1")
    SHOWN._ipython_display_()
    SHOWN._ipython_display_()
    first, second = cells.made
    first.selected = 3
    cells.run("c1")
    other = Shown("timeline", TimelineView("other", ("cpu",), (), 1.0), "o", "o")
    other._ipython_display_()
    assert cells.made[2] is first and first is not second
    assert first.view["title"] == "other" and first.selected == -1
    assert f'class="{first.twin}"' in shown[-1]["text/html"], "it hides the twin of what it shows now"
    assert not first.closed and not second.closed


def test_a_widget_that_a_run_did_not_use_is_closed_by_the_next(cells: Cells) -> None:
    cells.run("c1")
    SHOWN._ipython_display_()
    SHOWN._ipython_display_()
    for _ in range(2):
        cells.run("c1")
        SHOWN._ipython_display_()
    assert cells.made[2] is cells.made[0] and cells.made[3] is cells.made[0]
    assert cells.closed() == [False, True, False, False]


def test_other_cells_and_closed_widgets_do_not_serve(cells: Cells) -> None:
    cells.run("c1")
    SHOWN._ipython_display_()
    cells.run("c2")
    SHOWN._ipython_display_()
    cells.made[0].close()
    cells.run("c1")
    SHOWN._ipython_display_()
    assert len(set(cells.made)) == 3 and cells.closed() == [True, False, False]


def test_without_an_identity_a_cell_is_known_by_its_text_and_run_again_has_a_new_widget(cells: Cells) -> None:
    """As in Colab: another cell may have the same text, so the widget is closed instead of used again."""
    for number, code in enumerate(("rec", "other", "rec")):
        cells.shell.parent_header = {"content": {"code": code}, "header": {"msg_id": f"m{number}"}}
        SHOWN._ipython_display_()
    assert len(set(cells.made)) == 3 and cells.closed() == [True, False, False]


def test_a_widget_of_a_layout_is_drawn_again_until_its_host_closes_it() -> None:
    """As in marimo, which closes the comms of a cell that runs again, and not the widgets."""
    renderable.LAID_OUT.clear()
    x = wb.zeros(8)
    shown = show.array(x)
    widget = shown._display_()
    assert widget is shown.widget and widget.view["name"] == "array"
    x.fill_(2.0)
    assert output_area.redraw_views() == 1 and output_area.redraw_views() == 0
    widget.comm._closed = True
    x.fill_(3.0)
    assert output_area.redraw_views() == 0
    show.array(x)._display_()
    assert widget.comm is None and widget not in renderable.LAID_OUT


def test_without_anywidget_a_host_shows_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shown, "live", lambda *_: None)
    assert SHOWN.with_view(SHOWN.view)._display_()._repr_html_() == SHOWN.html


def test_a_name_shown_elsewhere_closes_its_widget_unless_that_shows_something_else(cells: Cells) -> None:
    views = LiveViews(cells.shell)
    cells.run("c1")
    views.show("first", SHOWN)
    cells.run("c1")
    views.show("second", SHOWN)
    assert cells.made[1] is cells.made[0]
    cells.run("c2")
    views.show("first", SHOWN)
    assert cells.closed() == [False, False, False], "the cell c1 shows the second now"
    cells.run("c3")
    views.show("second", SHOWN)
    assert cells.made[0].closed and cells.closed()[2:] == [False, False]


def test_a_late_answer_to_what_was_shown_before_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernel_ext.widgets.kernels import SourceView

    sent: list[Any] = []
    view = InspectView("f", ())

    def renewed_meanwhile(kernel: str, name: str) -> PaneView:
        widget.renew(view, "twin-2", make_pane=lambda k, n: PaneView(k, n, "new"))
        return PaneView(kernel, name, "old")

    widget = SourceView(view, "twin-1", make_pane=renewed_meanwhile)
    monkeypatch.setattr(widget, "send", sent.append)
    for _ in range(2):
        widget.on_message({"ask": "pane", "kernel": "f", "pane": "ir"})
    assert [answer["text"] for answer in sent] == ["new"]


def test_a_build_that_ends_late_does_not_change_the_card_of_the_next_run(cells: Cells) -> None:
    cells.run("c1")
    late, now = (output_area.StatusDisplay(live=True) for _ in range(2))
    late.open(StatusView("cell [1]", "compiling"), widgets=True)
    cells.run("c1")
    now.open(StatusView("cell [2]", "compiling"), widgets=True)
    now.close(StatusView("cell [2]", "compiled"))
    late.close(StatusView("cell [1]", "failed"))
    assert cells.made[1] is cells.made[0] and cells.made[0].view["state"] == "compiled"
