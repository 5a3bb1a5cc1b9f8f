"""`%%record`, `%record on/off` and `%replay` in a shell of this process, with the real library behind them."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ElementTree

import pytest
from msgspec.structs import replace

from kernel_ext.session.recording import timeline_view
from kernel_ext.session.tracebacks import KernelUsageError
from kernel_ext.views.programs import timeline
from kernel_ext.views.programs.timeline import SpanRow, TimelineView


@pytest.fixture
def notebook(session):
    """A shell with the extension and a kernel."""
    session.run("%load_ext kernel_ext")
    session.run(
        "%%kernel -q\ndef step(dt: float, x: array(dtype=float), v: array(dtype=float)):\n"
        "    i = tid()\n    x[i] = x[i] + dt * v[i]\n"
    )
    session.run("import workbench as wb\nx, v = wb.zeros(2), wb.ones(2)")
    return session


def values(session, name: str = "x") -> list[float]:
    return session.shell.user_ns[name].numpy().tolist()


def test_a_recorded_cell_is_shown_and_named(notebook) -> None:
    out = notebook.run("%%record run\nfor _ in range(3):\n    wb.launch(step, 2, [0.5, x, v])\nx.fill_(0.0)")
    assert "run: 4 recorded | 3 forward, 1 fill | " in out and "array([0. 0.]" in out
    assert re.search(r"0  forward +step +2 +\S+ \S+ +cell \[4\]:3 +\|#", out)
    assert [e.kind for e in notebook.shell.user_ns["run"]] == ["forward"] * 3 + ["fill"]
    assert values(notebook) == [0, 0]


def test_a_record_shown_by_name_calls_its_cells_what_the_notebook_does(notebook, monkeypatch) -> None:
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: notebook.shell)
    notebook.run("with wb.record() as run:\n    wb.launch(step, 2, [0.5, x, v])")
    out = notebook.run("from kernel_ext import show\nprint(show.timeline(run))")
    assert "cell [4]:2" in out


def test_a_cell_that_fails_leaves_what_ran(notebook) -> None:
    notebook.run("%%record part\nwb.launch(step, 2, [0.5, x, v])\n1 / 0")
    assert isinstance(notebook.raised, ZeroDivisionError)
    assert [e.name for e in notebook.shell.user_ns["part"]] == ["step"]
    notebook.run("wb.launch(step, 2, [0.5, x, v])")
    assert len(notebook.shell.user_ns["part"]) == 1


def test_replay_by_name(notebook) -> None:
    notebook.run("%%record --inputs -q\nwb.launch(step, 2, [0.5, x, v])")
    assert notebook.run("%replay") == "replayed 1 entry\n" and values(notebook) == [1, 1]
    assert notebook.run("dt = 2\n%replay rec -p dt=dt/2") == "replayed 1 entry with dt=1.0\n"
    assert values(notebook) == [2, 2]
    assert notebook.run("%replay rec --rewind -n 3 --only forward -k step") == "replayed 1 entry 3 times\n"
    assert values(notebook) == [0.5, 0.5]
    notebook.run("y = wb.zeros(2)\n%replay rec -p x=y")
    assert values(notebook, "y") == [0.5, 0.5] and values(notebook) == [0.5, 0.5]


def test_recording_from_cell_to_cell(notebook) -> None:
    assert notebook.run("%record") == "not recording; %record on starts it\n"
    notebook.run("%record on")
    notebook.run("wb.launch(step, 2, [0.5, x, v])")
    notebook.run("wb.launch(step, 2, [0.25, x, v])")
    assert notebook.run("%record") == "recording: 2 so far\n"
    assert notebook.run("%record off run").startswith("run: 2 recorded | 2 forward | ")
    notebook.run("wb.launch(step, 2, [1.0, x, v])")
    assert len(notebook.shell.user_ns["run"]) == 2
    places = [str(e.site.line) for e in notebook.shell.user_ns["run"]]
    assert places == ["1", "1"]


def test_a_recorder_that_ends_a_cell_is_drawn(notebook) -> None:
    out = notebook.run("with wb.record() as r:\n    wb.launch(step, 2, [0.5, x, v])\nr")
    assert "r: 1 recorded | 1 forward" in out
    formatters = notebook.shell.display_formatter.formatters
    assert "data:image/svg+xml;base64," in formatters["text/html"](notebook.shell.user_ns["r"])
    notebook.run("%unload_ext kernel_ext")
    assert "data:image" not in formatters["text/html"](notebook.shell.user_ns["r"])


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%replay nothing", "there is no record nothing; %%record NAME makes one"),
        ("%record off", "recording is not on; %record on starts it"),
        ("%record maybe", "%record takes on or off [NAME]; it got 'maybe'"),
        ("%%record a b\n1", "%%record takes one name for the record; it got 'a b'"),
        ("%record on\n%record on", "recording is already on; %record off ends it"),
        ("%replay --fast", "%replay: unrecognized arguments: --fast; %replay? shows the options"),
    ],
)
def test_a_wrong_call_is_one_clear_error(notebook, cell: str, message: str) -> None:
    notebook.run(cell)
    assert isinstance(notebook.raised, KernelUsageError)
    assert notebook.errors[0].startswith(f"UsageError: {message}")


def test_wrong_values_are_told(notebook) -> None:
    notebook.run("%%record rec -q\nwb.launch(step, 2, [0.5, x, v])")
    for cell, message in (
        ("%replay rec -p dt", "-p takes NAME=VALUE"),
        ("%replay rec -p dt=1/0", "the value does not evaluate"),
        ("%replay rec --only adjoint", "no launch of the record is adjoint"),
    ):
        notebook.run(cell)
        assert message in notebook.errors[0]
    notebook.run("%replay rec -p dtt=1.0")
    assert "Did you mean dt?" in str(notebook.raised)


@pytest.mark.parametrize("name", ["record", "replay"])
def test_help_shows_options_and_examples(notebook, name: str) -> None:
    text = notebook.shell.find_magic(name, "line").__doc__
    assert "Examples::" in text and text.count(f"%{name}") >= 3


ROWS = (
    SpanRow(0.0, 2e-3, "cpu", "forward", "step", (100, 2), 800, "cell [1]:2"),
    SpanRow(2e-3, 1e-3, "cpu", "adjoint", "<b>&", (100,), 800, "a<b"),
    SpanRow(3e-3, None, "cuda:0", "copy", "", (5,), 20, ""),
)


def test_the_picture_is_sound_and_says_what_ran() -> None:
    view = TimelineView("run", ("cpu", "cuda:0"), ROWS, 4e-3, 2)
    page = timeline.timeline_html(view)
    (data,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    svg = ElementTree.fromstring(base64.b64decode(data))
    bars = [e for e in svg.iter("{http://www.w3.org/2000/svg}rect")]
    assert len(bars) == 3, "a bar for each span"
    widths = [float(b.get("width", "0")) for b in bars[:2]]
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.2)
    assert "<b>" not in page and "&lt;b&gt;&amp;" in page
    text = timeline.timeline_text(view)
    assert text.isascii() and "2 more could not be recorded" in text and "100x2" in text


def test_long_records_are_cut_and_empty_ones_said() -> None:
    view = TimelineView("run", ("cpu",), ROWS[:1] * 1000, 2e-3)
    assert "... 960 more" in timeline.timeline_text(view) and "800 more" in timeline.timeline_html(view)
    empty = replace(view, rows=(), lanes=(), seconds=0.0)
    assert timeline.timeline_text(empty) == "run: 0 recorded" and "<img" not in timeline.timeline_html(empty)


def test_what_the_host_did_explains_gaps() -> None:
    import time

    import workbench as wb

    x = wb.zeros(4)
    kernel = wb.build_cell("def host_lane(x: array[float]):\n    i = tid()\n    x[i] += 3.25\n", {}, name="c").kernels[
        "host_lane"
    ]
    with wb.record() as rec:
        wb.launch(kernel, 4, [x])
        time.sleep(0.02)
        wb.launch(kernel, 4, [x])
    view = timeline_view(rec)
    gaps = [row for row in view.host if row.kind == "Python"]
    assert max(row.seconds for row in gaps) >= 0.02 and {row.lane for row in view.host} == {"host"}
    first, second = view.rows
    assert any(first.start + first.seconds <= row.start + 1e-9 < second.start for row in gaps)
    (total,) = [t for t in view.totals if t.name == "host_lane" and t.kind == "forward"]
    assert total.calls == 2 and total.seconds == pytest.approx(first.seconds + second.seconds)
    assert "Python between launches" in timeline.timeline_text(view) and "host_lane" in timeline.timeline_html(view)


def test_a_build_has_its_bar() -> None:
    from workbench.events import CacheHit, CompileDone, publish
    from workbench.runtime.records.spans import BuildLog

    log = BuildLog()
    log.start()
    publish(CompileDone("made", "forward", "k", 0.5, {}))
    publish(CacheHit("loaded", "adjoint", "k", "disk", 0.1))
    publish(CacheHit("there", "forward", "k", "memory", 0.0))
    log.stop()
    publish(CompileDone("later", "forward", "k", 0.5, {}))
    assert [(b.kernel, b.direction, b.seconds) for b in log.noted] == [
        ("made", "forward", 0.5),
        ("loaded", "adjoint", 0.1),
    ]


def test_spans_become_rows() -> None:
    import workbench as wb

    x = wb.zeros(4)
    with wb.record() as rec:
        x.fill_(1.0)
    (row,) = timeline_view(rec, label=lambda _: "here").rows
    assert (row.kind, row.lane, row.size, row.bytes, row.start) == ("fill", "cpu", (4,), 16, 0.0)
    assert row.place.startswith("here:")
