"""Points, animations and sliders of graphs and functions as plain values: what is drawn, run and written."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.refusal import Refusal
from kernel_ext.views import html
from kernel_ext.views.arrays.animation import Reel
from kernel_ext.views.arrays.points_view import MOST, points_view, scattered
from kernel_ext.widgets.arrays import Animation


@wb.kernel
def grow(x: wb.array[float], by: float):
    i = wb.tid()
    x[i] = x[i] + by


def places(view: Any) -> np.ndarray:
    return np.frombuffer(view.places, "<u2").reshape(-1, 3)


def test_points_are_shares_of_their_box_and_have_a_colour_each() -> None:
    values = np.array([[0.0, 0.0, 1.0], [2.0, 4.0, 3.0], [np.nan, 0.0, 0.0], [1.0, 2.0, 2.0]], np.float32)
    view = show.points(wb.array(values, dtype=wb.vec3), "p", color=np.array([0.0, 1.0, 9.0, 0.5]), range=(0, 1)).view
    assert (view.count, view.shown, view.bad, view.flat) == (4, 3, 1, False)
    assert (view.low, view.high) == ((0.0, 0.0, 1.0), (2.0, 4.0, 3.0))
    assert places(view).tolist() == [[0, 0, 0], [65535] * 3, [32768] * 3]
    colours = np.frombuffer(view.colours, np.uint8).reshape(-1, 3).tolist()
    assert colours == [[68, 1, 84], [253, 231, 37], [33, 145, 140]], "viridis at 0, 1 and a half"
    rgb = show.points(np.eye(2), color=wb.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], dtype=wb.vec3)).view
    assert rgb.flat and not rgb.stops and rgb.colours == bytes([255, 0, 0, 0, 0, 255])
    picture = scattered(rgb)
    assert {(255, 0, 0, 255), (0, 0, 255, 255)} <= {tuple(p) for p in picture.reshape(-1, 4).tolist()}
    assert picture[0, 0, 3] == 0, "the page's own ground is seen through it"


def test_points_of_one_plane_are_seen_from_the_front() -> None:
    space = np.random.default_rng(0).random((9, 3))
    plane = space * [1, 1, 0]
    assert points_view(plane).flat and points_view(plane, box=((0, 0, 0), (1, 1, 0))).flat
    assert not points_view(space).flat and not points_view(plane, box=((0, 0, 0), (1, 1, 1))).flat


def test_many_points_are_thinned_and_wrong_ones_refused() -> None:
    view = show.points(np.random.default_rng(0).random((MOST + 10, 2))).view
    assert view.count == MOST + 10 and view.shown == MOST // 2 + 5
    for value, more in ((np.zeros((3, 4)), {}), (np.eye(2), {"color": [1.0]}), (np.eye(2), {"box": ((1, 1), (0, 0))}),
                        (np.eye(2), {"size": 0})):  # fmt: skip
        with pytest.raises(Refusal):
            show.points(value, **more)


def test_a_mesh_and_lines_are_laid_out_evenly_with_colours_between_their_corners() -> None:
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 2]], np.float32)
    square = wb.array([[0, 1, 2], [1, 3, 2]], dtype=wb.int32)
    view = show.mesh(wb.array(corners, dtype=wb.vec3), square, color=[0.0, 1.0, 0.0, 1.0, 5.0], colours="gray").view
    at, inks = places(view)[:, :2] / 65535, np.frombuffer(view.colours, np.uint8).reshape(-1, 3)
    assert view.flat and view.kind == "2 faces between 5 points" and view.range == (0, 5)
    cells = np.histogram2d(at[:, 0], at[:, 1], bins=10, range=((0, 1), (0, 1)))[0]
    assert cells.min() > 0.7 * cells.mean() and cells.max() < 1.3 * cells.mean()
    assert np.corrcoef(inks[:, 0], at[:, 0])[0, 1] > 0.99, "between the corners' colours"
    assert show.mesh(wb.Mesh(wb.array(corners, dtype=wb.vec3), square.flatten())).view.kind == view.kind
    upright = show.mesh(corners, [[0, 1, 4], [0, 1, 2]]).view
    assert len(np.unique(np.frombuffer(upright.colours, np.uint8).reshape(-1, 3), axis=0)) == 2
    rod = show.lines(corners[:4]).view
    assert rod.kind == "3 lines between 4 points" and rod.shown > 30_000
    flat = show.mesh(corners, [[0, 1, 2], [0, 0, 1]]).view
    assert flat.colours == show.mesh(corners, [[0, 1, 2]]).view.colours, (
        "a face without an area is not drawn as a dark one"
    )
    film = show.animate(lambda: None, watch=[lambda: show.mesh(corners, square)], frames=3)
    assert film._animation.frame(1).picture.shown > 30_000
    for wrong, more in (([[0, 1, 9]], {}), ([[0, 1]], {}), ([[0.0, 1, 2]], {}), ([[0, 1, 2]], {"cmap": "gray"})):
        with pytest.raises(Refusal):
            show.mesh(corners, wrong, **more)


def test_each_frame_is_one_step_and_going_back_runs_none() -> None:
    x, ran = wb.zeros(3), []

    def step(frame: int) -> None:
        ran.append(frame)
        wb.launch(grow, 3, [x, 1.0])

    shown = show.animate(step, watch=x, frames=5, name="x")
    widget = shown.live()
    assert isinstance(widget, Animation)
    widget.on_message({"ask": "frame", "at": 3, "number": 1})
    assert ran == [1, 2, 3] and (widget.view["frame"], widget.view["kept"], widget.answered) == (3, 4, 1)
    assert (widget.view["picture"]["low"], widget.view["picture"]["high"]) == (0.0, 3.0), "one scale for all so far"
    widget.on_message({"ask": "frame", "at": 1, "number": 2})
    assert ran == [1, 2, 3] and widget.view["frame"] == 1
    widget.on_message({"ask": "frame", "at": 99, "number": 3})
    assert widget.view["frame"] == 4 and ran == [1, 2, 3, 4]
    widget.close()


def test_frames_make_no_static_picture_and_the_last_one_is_drawn_when_they_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, drawn = wb.zeros((4, 5)), []
    plain = html.png
    monkeypatch.setattr(html, "png", lambda pixels: drawn.append(1) or plain(pixels))
    film = show.animate(lambda: wb.launch(grow, 20, [x.flatten(), 1.0]), watch=x, frames=9)
    widget = film.live()
    for at in range(1, 6):
        widget._heard(None, {"ask": "frame", "at": at, "number": at}, None)
    assert not drawn and widget.view["frame"] == 5
    rested = []
    widget.rested = lambda view: rested.append(film.with_view(view))
    widget._heard(None, {"ask": "rest"}, None)
    assert "frame 5 of 9" in rested[0].text and "smallest 5" in rested[0].text and "data:image/png" in rested[0].html
    assert "frame 0 of 9" in film.text, "each view has its own picture"


def test_a_film_of_several_things_shows_them_side_by_side(tmp_path: Path) -> None:
    x, means = wb.zeros(3), []

    def step() -> None:
        wb.launch(grow, 3, [x, 1.0])
        means.append(float(x.numpy().mean()))

    points = lambda: show.points(np.eye(3) * (1 + x.numpy()[0]))  # noqa: E731
    film = show.animate(step, watch=[x, points, lambda: np.array(means or [0.0])], frames=4)
    view = film._animation.frame(3)
    assert view.picture.high == 3 and view.others[0].high == (4.0, 4.0, 4.0) and view.others[1].shape == (3,)
    assert film.with_view(view).html.count("<img") >= 3 and "frame 3 of 4" in film.with_view(view).text
    assert "4 frames" in film.save(str(tmp_path / "side.gif"))
    with pytest.raises(Refusal, match="a view of kind"):
        show.animate(step, watch=[lambda: show.cache()])


def test_a_loop_s_frames_are_thinned_evenly_and_the_last_is_kept() -> None:
    reel, picture = Reel(), show.array(np.zeros(4)).view
    for k in range(1000):
        reel.add(f"step {k}", [picture], last=k == 999)
    titles = [reel.frame(k).title for k in range(reel.view.kept)]
    steps = [int(t.split()[1]) for t in titles]
    assert 100 <= len(steps) <= 200 and steps[0] == 0 and steps[-1] == 999
    assert len(set(np.diff(steps[:-1]))) == 1
    large = Reel()
    for k in range(40):
        large.add(str(k), [show.array(np.random.default_rng(k).random((512, 512)), size=512).view])
    assert 10 <= large.view.kept < 20, "20 MB"


def test_graphs_records_and_kept_launches_make_frames_and_a_step_that_fails_is_told() -> None:
    x = wb.zeros(2)
    with wb.record() as record:
        wb.launch(grow, 2, [x, 1.0])
    with wb.capture() as graph:
        wb.launch(grow, 2, [x, 1.0])
    kept = wb.launch(grow, 2, [x, 1.0], record_cmd=True)
    for step in (record, graph, kept):
        before = x.numpy()[0]
        assert show.animate(step, watch=x)._animation.frame(2).frame == 2 and x.numpy()[0] == before + 2
    failing = show.animate(lambda: wb.launch(grow, 2, [x]), watch=x)._animation.frame(3)
    assert failing.frame == 0 and "by is missing" in failing.said
    for wrong in (grow, 3):
        with pytest.raises(Refusal, match="takes a function"):
            show.animate(wrong, watch=x)
    with pytest.raises(Refusal, match="frames takes"):
        show.animate(record, watch=x, frames=1)


def test_a_gif_holds_every_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    u = wb.zeros((8, 12))
    shown = show.animate(lambda k: u.fill_(float(k)), watch=u, frames=4, range=(0, 3), colours="gray")
    assert shown.save(str(tmp_path / "u.gif"), scale=2).startswith("wrote 4 frames")
    with Image.open(tmp_path / "u.gif") as film:
        assert (film.n_frames, film.size) == (4, (24, 16))
        grays = []
        for k in range(4):
            film.seek(k)
            grays.append(film.convert("RGB").getpixel((3, 3))[0])
    assert grays == [0, 85, 170, 255]
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(Refusal, match="pip install pillow"):
        shown.save(str(tmp_path / "v.gif"))
    with pytest.raises(Refusal, match=r"a \.gif or an \.mp4 file; it got '.*png'"):
        shown.save(str(tmp_path / "v.png"))


def test_an_mp4_is_written_by_imageio_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    u, ran = wb.zeros((7, 12)), []
    shown = show.animate(lambda k: ran.append(k) or u.fill_(float(k)), watch=u, frames=4, range=(0, 3))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(Refusal, match="pip install imageio-ffmpeg"):
        shown.save(str(tmp_path / "u.mp4"))
    assert not ran and not (tmp_path / "u.mp4").exists()
    sent = []

    def write_frames(path: str, size: tuple[int, int], **options: Any) -> Any:
        assert (size, options) == ((12, 8), {"fps": 20.0, "macro_block_size": 1}), "H.264 takes even sizes"
        try:
            while True:
                sent.append((yield))
        except GeneratorExit:
            Path(path).write_bytes(b"".join(sent))

    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", SimpleNamespace(write_frames=write_frames))
    assert shown.save(str(tmp_path / "u.mp4")).startswith("wrote 4 frames")
    assert [len(frame) for frame in sent] == [12 * 8 * 3] * 4 and ran == [1, 2, 3]
    with pytest.raises(Refusal, match="cannot be written"):
        shown.save(str(tmp_path / "missing" / "u.mp4"))


def test_sliders_of_a_graph_and_of_a_function() -> None:
    x = wb.zeros(2)
    with wb.capture() as graph:
        wb.launch(grow, 2, [x, 1.0])
    bound = show.controls(graph, by=(0, 4), watch=x).live_parts["source"]
    assert bound.run({"by": 3.0}).compiled == 0 and x.numpy().tolist() == [3.0, 3.0]

    def shifted(by: float = 2.0) -> wb.array:
        y = wb.zeros(3)
        wb.launch(grow, 3, [y, by])
        return y

    view = show.controls(shifted).view
    assert view.title == "shifted" and view.sliders[0].value == 2.0 and view.picture.high == 2.0
    with pytest.raises(Refusal, match="a graph or a function"):
        show.controls(grow)
