"""Sliders: a move replays what was recorded and compiles nothing; only the last move is sent."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.refusal import Refusal
from kernel_ext.views.arrays.array_view import unpacked
from kernel_ext.views.programs.controls import Bound

SCREENS = Path(__file__).parents[3] / "build" / "screens"


@wb.kernel
def move(x: wb.array[float], dt: float, n: int):
    i = wb.tid()
    x[i] = x[i] + dt * float(n)


def recorded(x: wb.array) -> wb.Recorder:
    with wb.record(inputs=True) as rec:
        for _ in range(3):
            wb.launch(move, 4, [x, 0.5, 2])
    return rec


def test_each_number_gets_a_slider() -> None:
    view = show.controls(recorded(wb.zeros(4))).view
    assert [(s.name, s.value, s.low, s.high, s.integer) for s in view.sliders] == [
        ("dt", 0.5, 0.0, 1.0, False), ("n", 2.0, 0.0, 4.0, True),
    ]  # fmt: skip


def test_a_move_replays_from_the_start_and_compiles_nothing() -> None:
    x = wb.zeros(4)
    shown = show.controls(recorded(x), watch=x, dt=(0, 2, 0.25))
    for dt in (1.0, 0.25):
        view = shown.live_parts["source"].run({"dt": dt})
    assert x.numpy().tolist() == [1.5] * 4, "rewound before each replay"
    assert (view.runs, view.compiled, view.said) == (2, 0, "")
    assert unpacked(view.picture.parts[0].low).tolist() == [1.5] * 4
    assert "dt = 0.5  (0 to 2)" in shown.text


def test_a_kept_launch_is_run_with_other_numbers() -> None:
    x = wb.zeros(4)
    kept = wb.launch(move, 4, [x, 0.5, 2], record_cmd=True)
    view = show.controls(kept, n=(0, 9)).live_parts["source"].run({"n": 3.0})
    assert x.numpy().tolist() == [1.5] * 4 and view.sliders[0].value == 3


def test_what_a_tape_recorded_is_run_with_other_numbers() -> None:
    x = wb.zeros(4, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(move, 4, [x, 0.5, 2])
    assert show.controls(tape).live_parts["source"].run({"dt": 1.0}).runs == 1
    assert x.numpy().tolist() == [3.0] * 4


@wb.kernel
def lit(n: wb.array[float], light: wb.vec3, at: wb.vec2i):
    i = wb.tid()
    n[i] = wb.dot(wb.vec3(1.0, 10.0, 100.0), light) + float(at[i])


@pytest.mark.parametrize("of", ["record", "graph", "launch", "function"])
def test_a_vector_has_a_slider_for_each_component(of: str) -> None:
    n, light, at = wb.zeros(2), wb.vec3(0.0, 0.25, -0.5), wb.vec2i(3, 4)
    with wb.capture() as graph:
        wb.launch(lit, 2, [n, light, at])
    with wb.record(inputs=True) as rec:
        wb.launch(lit, 2, [n, light, at])
    kept = wb.launch(lit, 2, [n, light, at], record_cmd=True)
    subjects = {
        "record": rec, "graph": graph, "launch": kept,
        "function": lambda light=light, at=at: wb.launch(lit, 2, [n, light, at]),
    }  # fmt: skip
    shown = show.controls(subjects[of], watch=n)
    assert [(s.name, s.value, s.low, s.high, s.integer) for s in shown.view.sliders] == [
        ("light.x", 0.0, -1.0, 1.0, False), ("light.y", 0.25, -1.0, 1.0, False), ("light.z", -0.5, -1.0, 1.0, False),
        ("at.x", 3, -8.0, 8.0, True), ("at.y", 4, -8.0, 8.0, True),
    ]  # fmt: skip
    view = shown.live_parts["source"].run({"light.x": 1.0, "light.z": 0.5, "at.y": 7.0})
    assert n.numpy().tolist() == [56.5, 60.5] and (view.said, view.compiled) == ("", 0)
    assert [s.low for s in show.controls(rec, light=(-2, 2)).view.sliders] == [-2.0] * 3


def test_a_complex_number_has_a_slider_for_each_part() -> None:
    @wb.kernel
    def turned(z: wb.array2d[complex], by: complex):
        i, j = wb.tid()
        z[i, j] = by * complex(float(i), float(j))

    z = wb.zeros((2, 2), dtype=complex)
    with wb.record() as rec:
        wb.launch(turned, z.shape, [z, 0.5j])
    bound = Bound(rec, {}, z)
    assert [(s.name, s.value, s.high) for s in bound.view.sliders] == [("by.real", 0.0, 1.0), ("by.imag", 0.5, 1.0)]
    view = bound.run({"by.real": 1.0})
    assert z.numpy().tolist() == [[0, -0.5 + 1j], [1 + 0.5j, 0.5 + 1.5j]] and not view.said
    (picture,) = view.picture.parts
    red, green, blue = np.frombuffer(picture.low, np.uint8).reshape(4, 3)[2].tolist()
    assert picture.kind == "rgb" and red > green > blue == 0, "1 + 0.5j, a phase of 27°, is orange"


def test_what_goes_wrong_in_a_replay_is_said() -> None:
    with wb.record() as rec, wb.checks(True):
        wb.launch(reaching, 4, [wb.zeros(4), 0])
    bound = show.controls(rec, by=(0, 10, 1)).live_parts["source"]
    assert "index" in bound.run({"by": 9}).said
    assert bound.run({"by": 0}).said == ""


@wb.kernel
def reaching(x: wb.array[float], by: int):
    i = wb.tid()
    x[i + by] = 1.0


@pytest.mark.parametrize(
    ("ranges", "sentence"),
    [
        ({"speed": (0, 1)}, "no launch here takes a number speed; there is dt, n"),
        ({"dt": (1, 0)}, "low < high"),
        ({"dt": "fast"}, "takes \\(low, high\\)"),
    ],
)
def test_wrong_ranges_are_refused(ranges: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Refusal, match=sentence):
        show.controls(recorded(wb.zeros(4)), **ranges)


def test_what_cannot_be_replayed_is_refused() -> None:
    with wb.record() as rec:
        wb.launch(move, 4, [wb.zeros(4), 0.5, 2])
    with pytest.raises(Refusal, match="nothing to rewind to"):
        show.controls(rec, rewind=True)
    with pytest.raises(Refusal, match="takes a record"):
        show.controls(np.zeros(3))


def test_the_widget_answers_with_the_new_view() -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    x = wb.zeros(4)
    shown = show.controls(recorded(x), watch=x)
    widget = shown.widget
    kept, sent = (data["picture"]["parts"][0]["low"] for data in (shown.data(), widget.view))
    assert base64.b64decode(kept) == sent, "a file holds text; to the page bytes travel beside the message"
    content = {"ask": "replay", "values": {"dt": 0.25}, "number": 7}
    widget._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})
    assert widget.answered == 7 and widget.view["runs"] == 1 and widget.view["compiled"] == 0


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("seconds, ahead", [(0.001, 2), (0.3, 1)])
def test_moves_wait_for_the_answer_and_only_the_last_is_sent(
    widget_page: Callable[..., Any], seconds: float, ahead: int
) -> None:
    """Where the kernel is quick, it works on one answer while another travels."""
    x = wb.array(np.arange(4, dtype=np.float32))
    data = {**show.controls(recorded(x), watch=x).data(), "seconds": seconds}
    page = widget_page("controls", data, 700, answered=41)
    slider = page.locator("input[data-name=dt]")
    for value in ("0.6", "0.7", "0.75", "0.8"):
        slider.fill(value)
    sent = page.evaluate("window.sent")
    assert [(m["number"], m["values"]["dt"]) for m in sent] == [(42, 0.6), (43, 0.7)][:ahead]
    assert page.locator(".wb-told").inner_text() == "replaying …"
    page.evaluate("window.model.set('answered', 42)")
    last = {"ask": "replay", "values": {"dt": 0.8, "n": 2}, "number": 42 + ahead}
    assert page.evaluate("ahead => window.sent.slice(ahead)", ahead) == [last]
    page.evaluate("([view, last]) => { window.model.set('view', view); window.model.set('answered', last); }",
                  [{**data, "runs": 2}, 42 + ahead])  # fmt: skip
    assert "2 replays, 0 compiled" in page.locator(".wb-told").inner_text()
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / "controls.png"))
    page.evaluate("window.cleanup()")
    assert page.evaluate("window.listeners()") == 0


@pytest.mark.browser
def test_a_pad_moves_two_components(widget_page: Callable[..., Any]) -> None:
    with wb.record() as rec:
        wb.launch(lit, 2, [wb.zeros(2), wb.vec3(0.0, 0.25, -0.5), wb.vec2i(3, 4)])
    page = widget_page("controls", show.controls(rec).data(), 700, answered=0)
    at = lambda name: float(page.locator(f"input[data-name='{name}']").input_value())  # noqa: E731
    pads = page.locator(".wb-pad")
    assert pads.count() == 2 and page.get_by_label("Components on the pad of light").count() == 1
    box = pads.first.bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 0.25 * box["height"])
    page.mouse.move(box["x"] + box["width"] + 300, box["y"] + 0.25 * box["height"])
    page.mouse.up()
    assert (at("light.x"), at("light.z")) == (1.0, -0.5) and at("light.y") == pytest.approx(0.5, abs=0.03)
    assert page.evaluate("window.sent.length") == 2, "the moves after the second wait for an answer"
    page.get_by_label("Components on the pad of light").select_option("x z")
    pads.first.press("ArrowDown")
    pads.first.press("ArrowLeft")
    assert (at("light.x"), at("light.z")) == (0.99, -0.51)
    pads.last.press("ArrowUp")
    assert (at("at.x"), at("at.y")) == (3, 5)
    dot = page.locator(".wb-dot").first.evaluate("dot => [dot.style.left, dot.style.bottom]")
    assert [float(part.rstrip("%")) for part in dot] == pytest.approx([99.5, 24.5])
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / "pad.png"))
    page.set_viewport_size({"width": 360, "height": 700})
    page.evaluate("document.documentElement.classList.add('dark')")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.screenshot(path=str(SCREENS / "pad-narrow-dark.png"))


def test_the_picture_is_drawn_as_asked() -> None:
    watched = wb.array(np.array([[0.25, 0.5], [0.75, 1.0]], np.float32))
    shown = show.controls(lambda a=1.0: watched, watch=watched, look={"colours": "gray", "range": (0, 2)})
    picture = shown.view.picture
    assert (picture.low, picture.high) == (0, 2) and list(picture.stops) == [(0, 0, 0), (255, 255, 255)]
    with pytest.raises(Refusal, match="look takes rgb, colours, range and size; it got color"):
        show.controls(lambda a=1.0: watched, watch=watched, look={"color": "gray"})
