"""axe-core finds nothing, of any impact, in any live view or static picture, light or dark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.output.renderable import Shown
from kernel_ext.views import html
from kernel_ext.views.kernels import renderers
from kernel_ext.views.view_data import KernelRow, StatusView
from kernel_ext.widgets import MODULES
from tests.support.checks.host_page import host_page

FIND = """async () => (await axe.run(["#live", "#static"], { resultTypes: ["violations"] }))
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
        show.controls(rec, watch=y), show.slider(-1, 1, wb.vec3(0.0, 0.0, 1.0)).shown, show.cache(),
        show.steps(wb.step(*arguments, thread=1)), show.grad(wb.gradcheck(doubled, 2, [np.ones(2)], [np.ones(2), 2.0])),
        show.grad(tape=tape, x=x), show.animate(lambda: None, watch=x), show.points(cloud, color=cloud[:, 0]),
        show.threads(*arguments), show.backward(*arguments), show.profile(wb.profile(*arguments)), show.tape(tape),
    ]  # fmt: skip


def test_every_kind_of_view_is_looked_at() -> None:
    assert {shown.kind for shown in views()} == set(MODULES)


@pytest.mark.browser
@pytest.mark.slow
def test_axe_finds_nothing(chromium: Any, need: Callable[[str], str]) -> None:
    script = (Path(need("axe")).parent / "axe.min.js").read_text(encoding="utf-8")
    found: list[str] = []
    mark = html.stale("stale: G changed")
    page = chromium.new_page(viewport={"width": 900, "height": 700})
    for shown in views():
        traits = {"view": shown.data(), "twin": "wb-twin-1a", "stale": "stale: G changed", "answered": 0}
        page.set_content(
            host_page(shown.kind, traits, {}).replace("<!doctype html>", '<!doctype html><html lang="en">')
        )
        page.wait_for_selector("html[data-ready]")
        page.evaluate("html => { document.getElementById('static').innerHTML = html; }", mark + shown.html)
        page.add_style_tag(content=".wb-pressed[hidden] { display: inline !important }")  # as our extension has it
        page.evaluate(script)
        for dark in (False, True):
            page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", dark)
            found += [f"{shown.kind}{' in the dark' * dark}: {wrong}" for wrong in page.evaluate(FIND)]
    page.close()
    assert not found, "\n".join(dict.fromkeys(found))
