"""What a value that ends a cell shows: its view with its own name, its text as ever, and all of it taken back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show, values
from kernel_ext.output.renderable import Shown
from kernel_ext.refusal import Refusal
from kernel_ext.views.arrays.array_view import array_view
from workbench import inspect


@wb.kernel
def square(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.struct
class Pair:
    a: float
    b: float


@pytest.fixture
def shown(session: Any, monkeypatch: pytest.MonkeyPatch) -> list[Shown]:
    """What the cells of a loaded session have shown."""
    found: list[Shown] = []
    session.run("%load_ext kernel_ext\nimport workbench as wb")
    monkeypatch.setattr(values, "show_here", found.append)
    session.shell.user_ns.update(square=square, Pair=Pair)
    return found


def test_an_array_of_structs_is_a_table_and_a_picture_of_one_field(session: Any, shown: list[Shown]) -> None:
    session.run("pairs = wb.zeros(50, dtype=Pair)\npairs['b'].assign(list(range(50)))\npairs")
    (value,) = shown
    assert value.text.startswith("array([(0.,  0.)") and value.view.few, "the table first"
    rows = [line.split() for line in value.view.values.splitlines()]
    assert rows[0] == ["a", "b"] and rows[2] == ["[1]", "0.", "1."] and rows[-1] == ["[49]", "0.", "49."]
    assert rows[-4] == ["…"] and len(rows) == 26
    assert (value.view.fields, value.view.field, value.view.kind) == (("a", "b"), "a", "Pair[50] on cpu · a")
    pairs = session.shell.user_ns["pairs"]
    same = show.array(pairs, "pairs", field="b")
    assert same.view.high == 49.0 and same.text.splitlines()[2].split() == ["[0]", "0.", "0."]
    choose = value.live_parts["slice_at"]
    assert choose((), "b").high == 49.0
    pairs["b"].fill_(7.0)
    assert value.again().field == "b" and choose(()).low == 7.0, "what was chosen is drawn again"
    nested = np.zeros((2, 2), [("p", [("at", "f4", 3)]), ("name", "U3")])
    assert show.array(nested).view.fields == ("p.at",) and "name" not in show.array(nested).text
    with pytest.raises(Refusal, match="field takes one of a, b; it got 'c'"):
        show.array(pairs, field="c")
    with pytest.raises(Refusal, match="field is for arrays of structs"):
        show.array([1.0], field="c")


def test_each_kind_of_value_shows_its_view_under_its_own_name(session: Any, shown: list[Shown]) -> None:
    session.run("u = wb.ones(3, requires_grad=True); y = wb.zeros(3, requires_grad=True)")
    for text, kind in {
        "u": "array_view",
        "with wb.Tape() as t: wb.launch(square, 3, [u, y])\nt": "graph_view",
        "square": "source_view",
        "with wb.record() as run: wb.launch(square, 3, [u, y])\nrun": "timeline",
        "with wb.capture() as g: wb.launch(square, 3, [u, y])\ng": "graph_view",
    }.items():
        session.run(text)
        assert session.raised is None and shown[-1].kind == kind
    array, tape, kernel, record, _ = shown
    assert array.view.name == "u" and array.view.few and array.text == repr(session.shell.user_ns["u"])
    assert tape.view["title"].startswith("t: 1 step") and record.view.title == "run"
    assert kernel.text.startswith("<kernel square(") and kernel.view.panes[0].name == "source"
    session.run("%unload_ext kernel_ext")
    session.run("u")
    assert len(shown) == 5, "unloading takes the views back"


def test_records_tapes_and_graphs_are_drawn_by_one_view(session: Any, shown: list[Shown]) -> None:
    """Three launches, of which the second needs the first one, and the third neither."""
    session.run("u, v, w, z = wb.ones(3, requires_grad=True), wb.zeros(3), wb.zeros(3), wb.zeros(3)")
    session.run(
        "def work():\n    wb.launch(square, 3, [u, v]); wb.launch(square, 3, [v, w]); wb.launch(square, 3, [u, z])"
    )
    session.run("with wb.record() as a: work()\nwith wb.Tape() as b: work()\nwith wb.capture() as c: work()")
    names = session.shell.user_ns
    for work in (names["a"], names["b"], names["c"]):
        view = show.graph(work)
        made = view.view
        assert [n["name"] for n in made["nodes"]] == ["square"] * 3 and view.kind == "graph_view"
        assert [(e["source"], e["target"]) for e in made["edges"]] == [(0, 1)]
    with pytest.raises(Exception, match="captured graph, a record or a tape"):
        show.graph(3)
    with pytest.raises(wb.LaunchError, match="picture of a record"):
        wb.inspect.graph_of(names["a"], "a record").launch()


def test_what_has_no_picture_shows_its_text(session: Any, shown: list[Shown], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "LARGEST_GRAPH", 0)
    out = session.run("u = wb.ones(3)\nwith wb.capture() as g: wb.launch(square, 3, [u, u])\ng")
    assert session.raised is None and not shown and "square" in out


def test_a_tape_s_graph_says_what_is_kept_and_why() -> None:
    x, y = wb.ones(4, requires_grad=True), wb.zeros(4, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(square, 4, [x, y])
        wb.launch(square, 4, [y, x])
    made = inspect.tape_graph(tape, lambda value: "X" if value is x else "")
    first, second = made["nodes"]
    assert (
        first["detail"] == "4  keeps x"
        and "16 bytes" in first["said"][0][1]
        and "square changed it" in first["said"][0][1]
    )
    assert second["said"][0][1].startswith("nothing")
    (edge,) = made["edges"]
    assert (edge["source"], edge["target"], edge["arrays"]) == (0, 1, ["x"])


def test_colours_range_and_size() -> None:
    image = np.linspace(0.0, 1.0, 400 * 300 * 3).reshape(400, 300, 3)
    assert [p.kind for p in array_view(wb.array(image.astype("f4"), dtype=wb.vec3)).parts] == ["rgb"]
    assert [p.kind for p in array_view(wb.array(2 * image.astype("f4"), dtype=wb.vec3)).parts] == ["image"] * 3
    whole = show.array((255 * image).astype(np.uint8), rgb=True, size=400).view
    assert (whole.parts[0].rows, whole.parts[0].columns, whole.high) == (400, 300, 255.0)
    cut = show.array(image[..., 0], range=(0.0, 0.5), colours="magma").view
    assert (cut.low, cut.high, cut.stops[0]) == (0.0, 0.5, (0, 0, 4))
    assert show.array(image[..., 0], range=(-2, 1)).view.span == (-2.0, 2.0), "white is at zero"
    for wrong in ({"colours": "jet"}, {"range": (1, 0)}, {"range": 3}, {"size": 4}, {"rgb": True}):
        with pytest.raises(Refusal):
            show.array(image[..., 0], **wrong)


@pytest.mark.parametrize("name", ["grad", "graph", "profile", "steps", "tape", "timeline"])
def test_what_a_view_is_not_of_is_refused_by_name(name: str) -> None:
    with pytest.raises(Refusal, match=rf"^{name}\(\) takes .*; it got 'int'"):
        getattr(show, name)(3)
