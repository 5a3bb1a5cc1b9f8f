"""Pages that compute: opened from a file in a real browser without network, driven, and held against native numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.output.html_export import write_page
from kernel_ext.output.renderable import Shown
from kernel_ext.refusal import Refusal
from workbench.runtime.launching.execute import cpu_threads
from workbench.runtime.pages import program

ROOT = Path(__file__).parents[3]
SCREENS = ROOT / "build" / "screens"
SIZE = 48


@wb.kernel
def heat(u: wb.array(dtype=float, ndim=2), v: wb.array(dtype=float, ndim=2), c: float):
    i, j = wb.tid()
    n = u.shape[0]
    if i > 0 and j > 0 and i < n - 1 and j < n - 1:
        v[i, j] = u[i, j] + c * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])


@wb.kernel
def squares(x: wb.array[float], target: wb.array[float], loss: wb.array[float]):
    i = wb.tid()
    d = wb.sin(x[i]) - target[i]
    loss[0] += d * d


@wb.kernel
def descend(x: wb.array[float], gradient: wb.array[float], rate: float):
    i = wb.tid()
    x[i] -= rate * gradient[i]


@wb.kernel
def halve(x: wb.array[float], more: wb.array[int], turns: wb.array[int]):
    x[0] = x[0] * 0.5
    turns[0] += 1
    more[0] = 1 if x[0] > 1.0 else 0


@wb.kernel
def shifted(x: wb.array[float], y: wb.array[float], by: int):
    i = wb.tid()
    print("at", i, x[i])
    y[i] = x[i + by]


@wb.struct
class Particle:
    pos: wb.vec2
    speed: wb.vec2
    number: int


@wb.kernel
def fly(ps: wb.array(dtype=Particle), dt: float, places: wb.array(dtype=wb.vec2), heights: wb.array[float]):
    i = wb.tid()
    ps[i].speed += dt * wb.vec2(0.0, -1.0)
    ps[i].pos += dt * ps[i].speed
    ps[i].number += 1
    places[i] = ps[i].pos
    heights[i] = ps[i].pos.y


@wb.kernel
def slower(ps: wb.array(dtype=Particle), slope: wb.array(dtype=Particle), rate: float):
    i = wb.tid()
    ps[i].speed -= rate * slope[i].speed


@wb.kernel
def marked(ps: wb.array(dtype=Particle), marks: wb.array(dtype=wb.vec2), places: wb.array(dtype=wb.vec2)):
    i = wb.tid()
    places[i] = marks[i] + ps[i].pos + wb.vec2(float(ps[i].number), 0.0)


@wb.kernel
def doubled(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = 2.0 * x[i]


@wb.kernel
def lit(n: wb.array2d[float], light: wb.vec3, at: wb.vec2i, wave: wb.vector(2, complex), m: wb.matrix((2, 2), complex)):
    i, j = wb.tid()
    m[i % 2] = m[i % 2] * 1j
    n[i, j] = wb.dot(wb.vec3(float(i), float(j), 1.0), light) + float(at[0] - at[1]) + wb.dot(m @ wave, wave).imag


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """`opened(shown, …)` writes a page and opens it offline; any request and any error of the page fails the test."""
    found: list[tuple[Any, list[str]]] = []

    def put(*shown: Shown, width: int = 700, text: Callable[[str], str] = str) -> Any:
        path = tmp_path / f"page{len(found)}.html"
        assert "compute" in show.page(str(path), *shown)
        path.write_text(text(path.read_text("utf-8")), "utf-8")
        page = chromium.new_page(viewport={"width": width, "height": 900}, offline=True, color_scheme="light")
        heard: list[str] = []
        page.on("request", lambda r: heard.append(r.url) if not r.url.startswith(("file:", "blob:")) else None)
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("console", lambda said: heard.append(said.text) if said.type == "error" else None)
        found.append((page, heard))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield put
    for page, heard in found:
        page.close()
        assert heard == []


def read(page: Any, name: str, view: int = 0) -> np.ndarray:
    code = "async ([view, name]) => Array.from(await workbench.views[view].read(name), Number)"
    return np.array(page.evaluate(code, [view, name]))


def diffusion() -> tuple[wb.Recorder, Any]:
    start = np.zeros((SIZE, SIZE), np.float32)
    start[10:20, 12:30], start[30:40, 8:14] = 1.0, -0.5
    u, v = wb.array(start), wb.array(start)
    with wb.record(inputs=True) as rec:
        for _ in range(5):
            wb.launch(heat, (SIZE, SIZE), [u, v, 0.2])
            wb.launch(heat, (SIZE, SIZE), [v, u, 0.2])
    return rec, u


@pytest.mark.slow
@pytest.mark.browser
def test_components_of_vectors_are_numbers_of_the_page(opened: Callable[..., Any]) -> None:
    n = wb.zeros((6, 8))
    with wb.record(inputs=True) as rec:
        wb.launch(lit, (6, 8), [n, wb.vec3(0.25, 0.5, 1.0), wb.vec2i(3, 1), [1, 2j], [[1, 1j], [3, -2j]]])
    page = opened(show.controls(rec, watch=n))
    page.locator("input[data-name='light.y']").fill("-1")
    page.locator(".wb-told", has_text="1 replay").wait_for()
    page.locator(".wb-pad").last.press("ArrowUp")
    page.locator(".wb-told", has_text="2 replays").wait_for()
    rec.replay(light=wb.vec3(0.25, -1.0, 1.0), at=wb.vec2i(3, 2))
    assert np.array_equal(read(page, "watch").reshape(6, 8), n.numpy())


@pytest.mark.slow
@pytest.mark.browser
def test_a_slider_changes_the_picture_and_rewind_puts_it_back(opened: Callable[..., Any]) -> None:
    rec, u = diffusion()
    page = opened(show.controls(rec, c=(0, 0.25), watch=u))
    rec.rewind()
    start = u.numpy().copy()
    assert np.array_equal(read(page, "watch").reshape(SIZE, SIZE), start)
    slider = page.locator(".wb-controls input")
    before = page.locator(".wb-controls canvas").evaluate("c => c.toDataURL()")
    slider.fill("0.1")
    page.locator(".wb-told", has_text="1 replay").wait_for()
    rec.replay(c=0.1)
    assert np.array_equal(read(page, "watch").reshape(SIZE, SIZE), u.numpy()), "the same bits"
    assert page.locator(".wb-controls canvas").evaluate("c => c.toDataURL()") != before
    page.get_by_role("button", name="Run once more").click()
    page.locator(".wb-told", has_text="2 replays").wait_for()
    rec.replay(c=0.1)
    assert "there is no array u; there is watch" in page.evaluate("() => workbench.read('u').catch(String)")
    assert np.array_equal(read(page, "watch").reshape(SIZE, SIZE), u.numpy()), "it goes on from where it was"
    page.get_by_role("button", name="Put the arrays back").click()
    page.wait_for_function("() => document.querySelector('.wb-controls output').textContent === '0.2'")
    assert np.array_equal(read(page, "watch").reshape(SIZE, SIZE), start)
    assert page.locator(".wb-controls canvas").evaluate("c => c.toDataURL()") == before
    ended = page.evaluate("""async () => {
      const long = workbench.run(1e9).catch(String);
      setTimeout(() => document.querySelector("[aria-label='Stop what runs']").click(), 50);
      return long;
    }""")
    assert "stopped" in ended and "stopped" in page.locator(".wb-fault").inner_text()
    page.evaluate("() => workbench.rewind()")
    assert page.locator(".wb-fault").count() == 0
    assert np.array_equal(read(page, "watch").reshape(SIZE, SIZE), start)
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(
        "() => Number(/(\\d+) replays/.exec(document.querySelector('.wb-told').textContent)?.[1]) > 6"
    )
    page.get_by_role("button", name="Pause").click()
    for width, dark in ((700, False), (1400, False), (700, True), (1400, True)):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", dark)
        page.screenshot(path=str(SCREENS / f"computes-{width}{'-dark' if dark else ''}.png"))
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.slow
@pytest.mark.browser
def test_a_descent_goes_on_as_it_does_natively(opened: Callable[..., Any]) -> None:
    x, target, loss = (
        wb.zeros(200, requires_grad=True),
        wb.array(np.linspace(-0.9, 0.9, 200, dtype=np.float32)),
        wb.zeros(1, requires_grad=True),
    )
    with wb.record(inputs=True) as rec:
        for _ in range(3):
            loss.zero_()
            x.grad.zero_()
            with wb.Tape() as tape:
                wb.launch(squares, 200, [x, target, loss])
            tape.backward(loss)
            wb.launch(descend, 200, [x, x.grad, 0.1])
    page = opened(show.controls(rec, rate=(0, 0.5), watch=x, rewind=False), show.timeline(rec))
    lanes = page.get_by_test_id("wb-timeline").locator("svg").first
    assert "cpu" in lanes.text_content() and "browser" not in lanes.text_content()
    rec.rewind()
    losses = []
    for _ in range(4):
        page.evaluate("() => workbench.run()")
        rec.replay()
        losses.append(loss.numpy()[0])
        assert np.array_equal(read(page, "loss"), loss.numpy())
        assert np.array_equal(read(page, "watch"), x.numpy())
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.1 * losses[0]
    assert "browser" in lanes.text_content() and "cpu" not in lanes.text_content(), "its times are measured there"
    assert page.locator("[data-testid=wb-timeline] .wb-span").count() == len(rec.entries)


@pytest.mark.browser
def test_a_graph_with_a_loop_and_an_animation(opened: Callable[..., Any]) -> None:
    x, more, turns = wb.array([1000.0]), wb.ones(1, dtype=int), wb.zeros(1, dtype=int)
    wb.launch(halve, 1, [x, more, turns])
    with wb.capture() as graph:
        more.fill_(1)
        wb.capture_while(more, lambda: wb.launch(halve, 1, [x, more, turns]))
    x.fill_(1000.0)
    turns.zero_()
    rec, u = diffusion()
    page = opened(show.animate(graph, watch=x, frames=3), show.animate(rec, watch=u, frames=4))
    page.evaluate("() => workbench.views[0].run(1)")
    graph.launch()
    assert read(page, "watch").tolist() == x.numpy().tolist() and read(page, "turns").tolist() == [10.0]
    page.get_by_role("slider").nth(1).fill("3")
    page.locator(".wb-told", has_text="4 frames made").wait_for()
    for _ in range(3):
        rec.replay()
    assert np.array_equal(read(page, "watch", 1).reshape(SIZE, SIZE), u.numpy())


@pytest.mark.browser
def test_structs_and_points(opened: Callable[..., Any]) -> None:
    """A copy, a sum and a fill of structs as wholes, a film of points with colours, and the gradient of both."""
    ps, kept = wb.zeros(9, dtype=Particle, requires_grad=True), wb.zeros(9, dtype=Particle)
    start = ps.numpy().copy()
    start["speed"] = [(k / 4 - 1, 1 + k / 9) for k in range(9)]
    ps.assign(start)
    places, heights = wb.zeros(9, dtype=wb.vec2, requires_grad=True), wb.zeros(9, requires_grad=True)
    with wb.record(inputs=True) as rec:
        with wb.Tape() as tape:
            wb.launch(fly, 9, [ps, 0.1, places, heights])
        tape.backward(grads={heights: np.ones(9, np.float32)})
        wb.launch(slower, 9, [ps, ps.grad, 0.5])
        wb.copy(kept, ps)
        tape.zero()
    rec.rewind()
    film = show.animate(rec, watch=places, frames=5, draw=show.points, color=heights, colours="magma")
    page = opened(film)
    page.evaluate("() => workbench.run(3)")
    for _ in range(3):
        rec.replay()
    assert np.array_equal(read(page, "watch").reshape(9, 2), places.numpy())
    assert np.array_equal(read(page, "slower.ps[].speed").reshape(9, 2), ps.numpy()["speed"])
    assert np.array_equal(read(page, "slower.ps[].number"), ps.numpy()["number"]) and ps.numpy()["number"][0] == 3
    assert np.array_equal(read(page, "colour"), heights.numpy())
    assert page.locator("canvas.wb-cloud").count() == 1 and "3 / 4" in page.locator("main").inner_text()


@pytest.mark.browser
def test_fills_with_vectors_and_structs(opened: Callable[..., Any]) -> None:
    one, marks, ps = Particle(), wb.zeros((2, 3), dtype=wb.vec2), wb.zeros(4, dtype=Particle)
    one.pos, one.number = wb.vec2(3.0, 4.0), 7
    places = wb.ones(4, dtype=wb.vec2)
    with wb.record(inputs=True) as rec:
        places.fill_(0.0)
        marks.fill_(wb.vec2(1.0, 2.0))
        ps.fill_(one)
        wb.launch(marked, 4, [ps, marks.flatten(), places])
    page = opened(show.animate(rec, watch=places, frames=2, draw=show.points))
    page.evaluate("() => workbench.run(1)")
    assert read(page, "watch").reshape(4, 2).tolist() == places.numpy().tolist() == [[11.0, 6.0]] * 4
    assert read(page, "marks").tolist() == [1.0, 2.0] * 6


@pytest.mark.browser
def test_copies_within_an_array(opened: Callable[..., Any]) -> None:
    x = wb.array(np.arange(6, dtype=np.float32))
    with wb.record(inputs=True) as rec:
        wb.copy(x[1:], x[:5])
        wb.copy(x[:2], x[2:4])
    assert x.numpy().tolist() == [1.0, 2.0, 1.0, 2.0, 3.0, 4.0]
    page = opened(show.animate(rec, watch=x, frames=2))  # which runs it once
    page.evaluate("() => workbench.run(1)")
    assert read(page, "watch").tolist() == [2.0, 1.0, 2.0, 1.0, 2.0, 3.0]


@pytest.mark.browser
def test_faults_and_prints_are_shown(opened: Callable[..., Any]) -> None:
    x, y = wb.array(np.arange(3, dtype=np.float32) / 4), wb.zeros(3)
    with wb.record(inputs=True) as rec:
        wb.launch(shifted, 3, [x, y, 0], checks=True)
    page = opened(show.controls(rec, by=(0, 3)))
    page.locator("input").fill("2")
    page.locator(".wb-fault").wait_for()
    said = page.locator(".wb-told").inner_text()
    assert "shifted: line" in said and "y[i] = x[i + by]" in said and "thread 1" in said and "2 faults" in said
    assert page.locator(".wb-printed").inner_text().strip().split("\n") == ["at 0 0.0", "at 1 0.25", "at 2 0.5"]
    page.locator("input").fill("0")
    page.wait_for_function("() => !document.querySelector('.wb-fault')")


@pytest.mark.browser
def test_what_does_not_open_says_so_and_keeps_its_picture(opened: Callable[..., Any]) -> None:
    rec, u = diffusion()
    shown = show.controls(rec, c=(0, 0.25), watch=u)
    damaged = opened(shown, text=lambda page: page.replace('"payload": "eN', '"payload": "eM'))
    assert "The picture is as it was saved." in damaged.locator("main").inner_text()
    assert damaged.locator("main img").count() > 0 and damaged.get_by_role("button", name="Play").count() == 0
    old = opened(shown, text=lambda page: page.replace("WebAssembly.validate(", "!WebAssembly.validate("))
    assert "simd128" in old.locator("main").inner_text() and old.locator("main img").count() > 0


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rec, u = diffusion()
    monkeypatch.setattr(program, "LARGEST", 10_000)
    with pytest.raises(Refusal, match="the arrays take"):
        show.page(str(tmp_path / "a.html"), show.controls(rec, c=(0, 0.25), watch=u))
    assert not (tmp_path / "a.html").exists()


@pytest.mark.slow
def test_what_no_page_can_run_is_refused_by_name(tmp_path: Path) -> None:
    x, y = wb.zeros(4, device="emulated"), wb.zeros(4, device="emulated")
    with wb.record(inputs=True) as rec:
        wb.launch(shifted, 3, [x, y, 0])
    with pytest.raises(Refusal, match="shifted ran on emulated:0, and a page has a CPU only"):
        show.page(str(tmp_path / "a.html"), show.controls(rec, by=(0, 3)))
    # Of a whole session it is a picture, and the answer says why.
    said = write_page(str(tmp_path / "a.html"), "all", [show.controls(rec, by=(0, 3))])
    assert "does not compute there" in said and "emulated:0" in said and (tmp_path / "a.html").exists()


@pytest.mark.slow
@pytest.mark.browser
def test_calls_of_jax_run_in_a_page(opened: Callable[..., Any], need: Callable[[str], str]) -> None:
    need("jax")
    import jax

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    with wb.record(inputs=True) as rec:
        expected = np.asarray(jax.vmap(wb.jax_kernel(doubled))(x))
    page = opened(show.animate(rec, watch=rec[0].outputs[0], frames=2))
    page.evaluate("() => workbench.run(1)")
    assert read(page, "watch").reshape(2, 3).tolist() == expected.tolist() == (2 * x).tolist()


def test_calls_of_jax_without_inputs_and_cuda_cells_are_refused_by_name(
    tmp_path: Path, need: Callable[[str], str]
) -> None:
    need("jax")
    import jax.numpy as jnp

    with wb.record() as rec:
        wb.jax_kernel(doubled)(jnp.ones(4)).block_until_ready()
    text = "__global__ void twice(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }"
    x = wb.ones(4, device="emulated")
    with wb.record() as other:
        wb.cuda_module(text, run="emulated")["twice"][1](x, 4, block_dim=32)
    for record, said in (
        (rec, "The operands of JAX's call of doubled were not kept.*Record with inputs=True"),
        (other, "twice is CUDA C\\+\\+, which no browser runs.*A page can hold launches of kernels"),
    ):
        with pytest.raises(Refusal, match=said):
            show.page(str(tmp_path / "a.html"), show.animate(record, watch=wb.ones(4), frames=3))
    assert not (tmp_path / "a.html").exists()


@pytest.mark.slow
@pytest.mark.browser
def test_the_tour_deblurs_in_a_page(opened: Callable[..., Any], need: Callable[[str], str]) -> None:
    """One step of the tour's descent is recorded, and the page goes on with the notebook's loss curve."""
    need("skimage")
    from skimage import data

    cells = nbformat.read(ROOT / "notebooks" / "00-tour.ipynb", as_version=4).cells
    found: dict[str, Any] = {"wb": wb, "np": np, "RADIUS": 3}
    for text in (next(c.source for c in reversed(cells) if f"def {name}(" in c.source) for name in ("blur", "descend")):
        found |= wb.build_cell(text.partition("\n")[2], found).names
    photo = data.camera().reshape(64, 8, 64, 8).mean(axis=(1, 3)).astype(np.float32) / 255
    sharp, found["blurred"] = wb.array(photo), wb.zeros((64, 64))
    wb.launch(found["blur"], (64, 64), [sharp, 2.0, found["blurred"]])
    exec(next(c.source for c in cells if "def step():" in c.source).partition("losses = []")[0], found)
    with wb.record(inputs=True) as rec:
        found["step"]()
    page = opened(show.controls(rec, sigma=(0.5, 4), rate=(0, 1), watch=found["guess"], rewind=False))
    rec.rewind()
    native = []
    for _ in range(30):
        rec.replay()
        native.append(float(found["loss"].numpy()[0]))
    code = """async () => {
      const all = [];
      for (let k = 0; k < 30; k++) { await workbench.run(); all.push((await workbench.read("loss"))[0]); }
      return all;
    }"""
    curve = page.evaluate(code)
    # Threads that add to one element at the border have an order only where one core runs them.
    np.testing.assert_allclose(curve, native, rtol=1e-4)
    assert curve[-1] < curve[0] / 10
    if cpu_threads() == 1:
        assert curve == native
    before = page.locator(".wb-controls canvas").evaluate("c => c.toDataURL()")
    page.evaluate("() => workbench.set('sigma', 1).then(() => workbench.run())")
    assert page.locator(".wb-controls canvas").evaluate("c => c.toDataURL()") != before


@wb.kernel
def noisy(seed: int, scale: float, o: wb.array[float]):
    i = wb.tid()
    state = wb.rand_init(seed, i)
    o[i] += scale * wb.randf(state)


def test_a_recorded_seed_that_is_a_counter_advances_with_every_run(opened: Callable[..., Any]) -> None:
    o, spelled = wb.zeros(8), wb.zeros(8)
    with wb.record(inputs=True, counter={"seed": 20}) as rec:
        for seed in (3, 4):
            wb.launch(noisy, 8, [seed, 1.0, o])
    rec.replay()
    page = opened(show.controls(rec, scale=(0, 2), watch=o, rewind=False))
    page.evaluate("() => workbench.run(2)")
    page.evaluate("() => workbench.rewind().then(() => workbench.run(1))")
    for seed in (83, 84):
        wb.launch(noisy, 8, [seed, 1.0, spelled])
    assert page.evaluate("async () => [...(await workbench.read('o'))]") == spelled.numpy().tolist()
