"""Points and animations in a real browser: what is drawn, turned and played, with WebGL and without."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernel_ext import show

SCREENS = Path(__file__).parents[3] / "build" / "screens"
pytestmark = [pytest.mark.browser, pytest.mark.slow]
# What a page runs first: WebGL in software whose name is hidden, no WebGL, WebGL in software.
WEBGL = {
    "webgl": "WebGLRenderingContext.prototype.getExtension = () => null;",
    "canvas": """
const original = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind === 'webgl' ? null : original.call(this, kind, ...rest);
};
""",
    "software": "WebGLRenderingContext.prototype.getParameter = () => 'llvmpipe (LLVM 17.0)';",
}


def pixels(page: Any, selector: str) -> np.ndarray:
    """What an element shows, as int[rows, columns, 3]."""
    from PIL import Image

    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return np.asarray(Image.open(io.BytesIO(page.locator(selector).screenshot())).convert("RGB")).astype(int)


def inked(page: Any, selector: str, colour: tuple[int, int, int]) -> np.ndarray:
    """Where an element shows the colour."""
    return (np.abs(pixels(page, selector) - colour) < 40).all(axis=-1)


@pytest.fixture
def told(chromium: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """`told(script)`: pages run it before anything else."""
    plain = chromium.new_page

    def tell(script: str) -> None:
        def new_page(**options: Any) -> Any:
            page = plain(**options)
            page.add_init_script(script)
            page.goto("about:blank")
            return page

        monkeypatch.setattr(chromium, "new_page", new_page)

    return tell


@pytest.fixture(params=["webgl", "canvas"])
def points_page(request: Any, told: Callable[[str], None], widget_page: Callable[..., Any]) -> Any:
    """`points_page(view)` with WebGL, and as a browser without it shows them."""
    told(WEBGL[request.param])

    def put(shown: show.Shown, **options: Any) -> Any:
        page = widget_page("points", shown.data(), **options)
        by = page.locator("canvas").get_attribute("data-by")
        assert by == request.param if request.param == "canvas" else by in ("webgl", "canvas")
        return page

    return put


@pytest.mark.parametrize("wide", [2, 3])
def test_software_paints_the_picture_that_webgl_paints(
    told: Callable[[str], None], widget_page: Callable[..., Any], wide: int
) -> None:
    places = np.random.default_rng(3).uniform(-1, 1, (400, wide))
    view = show.points(places, color=(places[:, :1] * [[1, 0, 1]] + [[0, 1, 0]]), size=9).data()
    seen = {}
    for kind in ("webgl", "software"):
        told(WEBGL[kind])
        page = widget_page("points", view)
        seen[page.locator("canvas").get_attribute("data-by")] = pixels(page, "canvas")
    if "webgl" not in seen:
        pytest.skip("this browser has no WebGL")
    differs = (np.abs(seen["webgl"] - seen["canvas"]) > 40).any(axis=-1).mean()
    drawn = (np.abs(seen["canvas"] - seen["canvas"][0, 0]) > 40).any(axis=-1).mean()
    assert drawn > 0.05 and differs < 0.1 * drawn, "edges of discs may differ, no more"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_points_stand_where_they_are_in_their_colours(points_page: Callable[..., Any], dark: bool) -> None:
    corners = np.array([[0.0, 0.0], [1.0, 1.0]])
    page = points_page(show.points(corners, color=np.array([[1.0, 0, 0], [0, 0.5, 0]]), size=20), width=700, dark=dark)
    red, green = (np.argwhere(inked(page, "canvas", c)).mean(axis=0) for c in ((255, 0, 0), (0, 128, 0)))
    assert red[0] > green[0] and red[1] < green[1], "y points up, x to the right"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_dragging_turns_buttons_enlarge_and_reset_puts_back(points_page: Callable[..., Any]) -> None:
    page = points_page(show.points(np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 0.4, 0]]), size=16))
    blue = (43, 123, 186)
    first = inked(page, "canvas", blue)
    assert first.any()
    box = page.locator("canvas").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 150)
    page.mouse.down()
    page.mouse.move(box["x"] + 290, box["y"] + 150, steps=3)
    page.mouse.up()
    turned = inked(page, "canvas", blue)
    assert (turned != first).any()
    page.get_by_label("As at first").click()
    assert (inked(page, "canvas", blue) == first).mean() > 0.999
    page.get_by_label("Larger").click()
    spread = [np.ptp(np.argwhere(seen)[:, 1]) for seen in (first, inked(page, "canvas", blue))]
    assert spread[1] > spread[0]


def test_an_animation_plays_by_asking_for_one_frame_after_the_other(widget_page: Callable[..., Any]) -> None:
    u = np.zeros((4, 4))
    view = show.animate(lambda: None, watch=u, frames=4, fps=120, range=(0, 1), name="u").data()
    page = widget_page("animation", view, width=700, answered=0)
    page.evaluate(
        """() => { const send = window.model.send;
          window.model.send = (asked) => { send(asked); setTimeout(() => {
            window.model.set('view', { ...window.model.get('view'), frame: asked.at, kept: asked.at + 1 });
            window.model.set('answered', asked.number); }); }; }"""
    )
    page.get_by_label("Play").click()
    page.wait_for_function("window.sent.length >= 6")
    page.get_by_label("Pause").click()
    asked = page.evaluate("window.sent")
    assert [a["at"] for a in asked[:6]] == [1, 2, 3, 0, 1, 2] and [a["number"] for a in asked[:6]] == list(range(1, 7))
    count = len(asked)
    page.get_by_label("Frame").fill("2")
    page.wait_for_function(f"window.sent.length > {count - 1} && window.sent.at(-1).at === 2")
    # An answer on the way may still show another frame first.
    page.wait_for_function("document.querySelector('output').innerText === '2 / 3'")
    page.evaluate("window.cleanup()")
    assert page.evaluate("window.listeners()") == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("width, dark", [(900, False), (350, True)])
def test_several_pictures_of_a_film_stand_side_by_side_and_below_each_other_where_it_is_narrow(
    widget_page: Callable[..., Any], width: int, dark: bool
) -> None:
    cloud = lambda: show.points(np.random.default_rng(0).random((500, 3)))  # noqa: E731
    film = show.animate(lambda: None, watch=[np.sin(np.linspace(0, 9, 99)), cloud, np.eye(16)], frames=7, name="side")
    page = widget_page("animation", film.data(), width=width, dark=dark, answered=0)
    boxes = [stage.bounding_box() for stage in page.locator(".wb-stage").all()]
    assert len(boxes) == 3 and (boxes[0]["y"] == boxes[1]["y"]) == (width == 900)
    assert all(box["x"] + box["width"] <= width for box in boxes)
    page.get_by_role("button", name="Play").click()
    assert page.get_by_role("button", name="Pause").locator("svg").count() == 1
    assert page.evaluate("window.sent[0].ask") == "frame"
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / f"film-{width}-{'dark' if dark else 'light'}.png"), full_page=True)
    view = {**film.data(), "frames": 12, "frame": 11}
    page.evaluate("(view) => { model.set('view', view); model.set('answered', 1) }", view)
    assert page.get_by_role("slider").get_attribute("max") == "11", "a loop's film grows"
    page.get_by_role("button", name="Pause").click()
    page.evaluate("model.set('answered', Math.max(...window.sent.map((m) => m.number ?? 0)))")  # both on the way
    page.wait_for_function("window.sent.some((m) => m.ask === 'rest')")


@pytest.mark.parametrize(
    "seconds, words", [(None, "4 frames kept"), (0, "4 frames made · the last in less than 0.1 ms"),
                       (0.0031, "4 frames made · the last in 3.1 ms")],
)  # fmt: skip
def test_an_animation_says_whether_its_frames_were_made_here(
    widget_page: Callable[..., Any], seconds: float | None, words: str
) -> None:
    """A browser's clock has a resolution of 0.1 ms, so it may report 0 for a quick frame."""
    film = show.animate(lambda _: None, watch=np.zeros((4, 4)), frames=5)
    page = widget_page("animation", {**film.data(), "kept": 4, "seconds": seconds})
    assert page.locator(".wb-told").text_content() == words
