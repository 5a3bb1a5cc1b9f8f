"""axe-core finds nothing, of any impact, in any live view, static picture or exported page, light or dark."""

from __future__ import annotations

import ast
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.output.html_export import page as exported
from kernel_ext.output.progress import line_html
from kernel_ext.output.renderable import Shown
from kernel_ext.output.session_page import markdown
from kernel_ext.puzzles.answer import Answer, Question
from kernel_ext.puzzles.pictures import Picture
from kernel_ext.views import html
from kernel_ext.views.kernels import renderers
from kernel_ext.views.view_data import KernelRow, StatusView
from kernel_ext.widgets import MODULES
from tests.support.checks.host_page import host_page
from workbench import inspect

ROOT = Path(__file__).parents[3]
PANES = [["source", "Source"], ["ptx", "PTX"]]
TEXT = "# A text\n\nA [link](https://example.org) and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ni = tid()\n```"
FIND = """async (places) => (await axe.run(places, { resultTypes: ["violations"] }))
  .violations.flatMap((wrong) =>
  wrong.nodes.map((node) => `${wrong.impact} ${wrong.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`))"""


@wb.kernel
def doubled(x: wb.array[float], y: wb.array[float], by: float):
    i = wb.tid()
    y[i] = by * x[i]


def views() -> list[Shown]:
    """One of each kind, some with what they have only in some states."""
    x, y = wb.array(np.linspace(-1, 1, 64).astype(np.float32), requires_grad=True), wb.zeros(64, requires_grad=True)
    with wb.record(inputs=True) as rec, wb.Tape() as tape:
        wb.launch(doubled, 64, [x], [y, 2.0])
        loss = y.sum()
    tape.backward(loss)
    card = StatusView("cell [2]", "compiled", "compiled", (KernelRow("doubled", "forward", "compiled"),), ("doubled",))
    failed = StatusView("cell [3]", "failed", "failed", (), ())
    cloud = np.random.default_rng(1).random((50, 3), np.float32)
    arguments = (doubled, 64, [x], [y, 2.0])
    return [
        *(Shown("status_card", c, renderers.status_text(c), renderers.status_html(c)) for c in (card, failed)),
        show.source(doubled, ["source", "ir"]), show.timeline(rec, "rec"), show.graph(tape), show.array(x, "x"),
        show.array(np.add.outer(np.arange(9.0), np.arange(9.0)), "field"), show.array(np.zeros((3, 4, 5)), "deep"),
        show.array(np.zeros(3, [("a", "f4"), ("b", "f4", 2)]), "structs"), show.mesh(cloud, [[0, 1, 2]]),
        show.controls(rec, watch=y), show.slider(-1, 1, wb.vec3(0.0, 0.0, 1.0)).shown, show.cache(),
        show.steps(wb.step(*arguments, thread=1)), show.grad(wb.gradcheck(doubled, 2, [np.ones(2)], [np.ones(2), 2.0])),
        show.grad(tape=tape, x=x), show.animate(lambda: None, watch=x), show.points(cloud, color=cloud[:, 0]),
        show.threads(*arguments), show.backward(*arguments), show.profile(wb.profile(*arguments)), show.tape(tape),
    ]  # fmt: skip


def statics() -> list[Any]:
    """A value of each class that shows itself in HTML, besides views."""
    x, y = wb.array([1.0, -2.0], requires_grad=True), wb.zeros(2, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(doubled, 2, [x], [y, 2.0])
    run = lambda n=2: wb.launch(doubled, n, [x], [y, 2.0])  # noqa: E731
    progress = wb.optim.progress(3)
    for step in progress:
        step.report(1.0 / (step + 1))
    with wb.record() as rec:
        run()
    return [
        progress, wb.profile(doubled, 2, [x], [y, 2.0]), wb.gradients_of(lambda: (x * x).sum(), {"x": x}, check=True),
        wb.gradcheck(doubled, 2, [x], [y, 2.0]), wb.explain_grad(tape, x), rec, wb.bench(run, number=1),
        wb.compare(run, run, number=1), wb.sweep(run, {"n": [1, 2]}, number=1), inspect.doctor(),
        Answer("copy", 0, "y[1] is 3.", ("y[i] = 3",), help=html.folded("hint", "look")), Answer("copy", 2, "Right."),
        wb.jacobian(lambda v: v * v, sparse=True)(wb.array([1.0, 2.0])), Question("Which thread?"),
        Picture("a picture", (), notes=((0.0, 0.0, "here"),)),
    ]  # fmt: skip


@pytest.mark.slow
def test_every_kind_of_view_is_looked_at() -> None:
    assert {shown.kind for shown in views()} == set(MODULES)
    files = [path for folder in ("workbench", "kernel_ext") for path in (ROOT / folder).rglob("*.py")]
    classes = {
        node.name
        for path in files
        if "def _repr_html_" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef) and any(getattr(f, "name", "") == "_repr_html_" for f in node.body)
    }
    assert {type(value).__name__ for value in statics()} == classes - {"Shown", "Still"}


@pytest.mark.browser
@pytest.mark.slow
def test_axe_finds_nothing(chromium: Any, need: Callable[[str], str]) -> None:
    script = (Path(need("axe")).parent / "axe.min.js").read_text(encoding="utf-8")
    found: list[str] = []
    mark = html.stale("stale: G changed")
    page = chromium.new_page(viewport={"width": 900, "height": 700})

    def look(name: str, *places: str) -> None:
        for dark in (False, True):
            page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", dark)
            found.extend(f"{name}{' in the dark' * dark}: {wrong}" for wrong in page.evaluate(FIND, places))

    def put(kind: str, view: dict[str, Any], still: str) -> None:
        traits = {"view": view, "twin": "wb-twin-1a", "stale": "stale: G changed", "answered": 0, "panes": PANES}
        document = host_page(kind, traits, {name: "i = tid()" for name, _ in PANES})
        page.set_content(document.replace("<!doctype html>", '<!doctype html><html lang="en">'))
        page.wait_for_selector("html[data-ready]")
        page.evaluate("html => { document.getElementById('static').innerHTML = html; }", still)
        page.add_style_tag(content=".wb-pressed[hidden] { display: inline !important }")  # as our extension has it
        page.evaluate("() => document.querySelectorAll('details').forEach((d) => (d.open = true))")
        page.evaluate(script)

    first, *_ = shown_views = views()
    for shown in shown_views:
        put(shown.kind, shown.data(), mark + shown.html)
        look(shown.kind, "#live", "#static")
        for tab in page.locator("#live [role=tab][aria-selected=false]").all():
            if tab.is_visible():
                tab.click()
                look(f"{shown.kind}, {tab.inner_text()}", "#live")
    line = line_html(Namespace(doing="running", seconds=3.0, what="doubled", done="38 % of its threads"))
    for name, text in (*((type(v).__name__, v._repr_html_()) for v in statics()), ("progress", line)):
        put(first.kind, first.data(), text)
        look(name, "#static")
    above = [f'<div class="wb-text">{markdown(TEXT)}</div><pre class="wb-cell" tabindex="0">x</pre>', "<p>end</p>"]
    page.set_content(exported("A session", [show.array([1.0, 2.0], "x")], above=above))
    page.wait_for_selector("html[data-ready]")
    page.evaluate(script)
    look("exported page", "html")
    page.close()
    assert not found, "\n".join(dict.fromkeys(found))
