"""What the live pictures cost in the browser: spans, nodes, elements, points, modules, a field.

Each widget's own module stands alone in a page of headless Chromium without a GPU. A drawing is timed with the layout
that it causes; thirty zooms, turns or choices follow each other, one per frame: the median frame and the longest are
reported, and the processor time that the page's main thread spends on one, which other programs do not stretch.
"""

from __future__ import annotations

import base64
import json
import statistics
from typing import Any

import numpy as np
from measure import OURS, Row, Table, write
from playwright.sync_api import sync_playwright

import workbench as wb
from kernel_ext import show
from kernel_ext.views.programs.timeline import SpanRow, TimelineView
from kernel_ext.views.view_data import CacheView, EntryRow, as_data
from kernel_ext.widgets.modules import module_text, style_text

ROUNDS, ACTS = 9, 30
SPANS, FEW_SPANS, NODES, ELEMENTS, POINTS, MODULES, SIDE = 20_000, 4_000, 500, 1_000_000, 100_000, 10_000, 256
KINDS = ("forward", "adjoint", "copy", "jax")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]
PAGE = """<!doctype html><meta charset="utf-8"><style>{style}</style><div id="live" style="width: 1000px"></div>
<script type="module">
const ears = {{}}, traits = {traits};
window.model = {{ get: (n) => traits[n], on: (n, f) => (ears[n] ??= []).push(f), off() {{}}, save_changes() {{}},
  send() {{}}, set(n, v) {{ traits[n] = v; (ears[`change:${{n}}`] ?? []).forEach((f) => f()); }} }};
const {{ default: widget }} = await import("data:text/javascript;base64,{module}");
const place = document.getElementById("live");
window.drawn = () => {{
  place.replaceChildren();
  for (const n in ears) ears[n] = [];
  const began = performance.now();
  widget.render({{ model, el: place }});
  place.getBoundingClientRect();
  return performance.now() - began;
}};
window.frames = async (act) => {{
  let last = 0;
  const seen = [];
  for (let k = 0; k < 5; k += 1) await new Promise(requestAnimationFrame); // what was drawn before is painted first
  for (let k = 0; k < {acts}; k += 1) {{
    const now = await new Promise(requestAnimationFrame);
    if (last) seen.push(now - last);
    last = now;
    act(k);
  }}
  return seen.sort((a, b) => a - b);
}};
window.ready = true;
</script>"""


@wb.kernel
def add(x: wb.array[float], y: wb.array[float]):
    """One node of the graph."""
    i = wb.tid()
    y[i] = y[i] + x[i]


def timeline(spans: int = SPANS) -> dict[str, Any]:
    """So many spans in two lanes."""
    rows = tuple(
        SpanRow(k * 1e-3, 9e-4, "jax" if k % 4 == 3 else "cpu", KINDS[k % 4], f"step{k % 7}", (64,), 256, "cell [4]:2")
        for k in range(spans)
    )
    return as_data(TimelineView("rec", ("cpu", "jax"), rows, spans * 1e-3))


def graph() -> dict[str, Any]:
    """So many launches over a few arrays."""
    arrays = [wb.zeros(4) for _ in range(9)]
    with wb.capture() as captured:
        for k in range(NODES):
            wb.launch(add, 4, [arrays[k % 9], arrays[(k * 5 + 1) % 9]])
    return captured.layout()


def points(width: int) -> dict[str, Any]:
    """So many points in a plane or in space, each with its colour."""
    places = np.random.default_rng(0).normal(size=(POINTS, width)).clip(-3, 3)
    return show.points(places, color=places[:, 0]).data()


def modules() -> dict[str, Any]:
    """A cache of so many modules."""
    rows = (
        EntryRow(f"{k * 7919:064x}", f"step_{k}", "cpu", "znver4", 7000 + k, 900.0 + k, float(k))
        for k in range(MODULES)
    )
    return as_data(CacheView(MODULES, 7000 * MODULES, 9, 9, MODULES, "/home/x/.cache/workbench", "", tuple(rows)))


def slider() -> dict[str, Any]:
    """A slider over a field of so many pixels a side."""
    field = wb.zeros((SIDE, SIDE))

    def waves(speed: float = 1.0) -> None:
        down, across = np.mgrid[:SIDE, :SIDE]
        field.assign((np.sin(down * speed / 9) * np.cos(across / 7)).astype(np.float32))

    return show.controls(waves, speed=(0, 2), watch=field).data()


TURN = "() => document.querySelector('canvas').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}))"
ZOOM = "k => document.querySelector('[aria-label=\"Show less time\"]').click()"
SORT = "k => document.querySelector(`[aria-label=\"Sort by ${k % 2 ? 'size' : 'kernel'}\"]`).click()"
FIND = """k => { const find = document.querySelector('input'); find.value = String(k);
  find.dispatchEvent(new Event('input')); }"""
SLIDE = "k => model.set('view', { ...model.get('view'), runs: k })"  # as the kernel's answer does
TAB = "k => document.querySelector(`[data-tab=${k % 2 ? 'picture' : 'histogram'}]`).click()"
CASES = {
    f"timeline, {SPANS:,} spans, choosing": ("timeline", timeline, "k => model.set('selected', k * 600)"),
    f"timeline, {SPANS:,} spans, zooming": ("timeline", timeline, ZOOM),
    f"timeline, {FEW_SPANS:,} spans, choosing": (
        "timeline", lambda: timeline(FEW_SPANS), "k => model.set('selected', k * 100)"
    ),
    f"timeline, {FEW_SPANS:,} spans, zooming": ("timeline", lambda: timeline(FEW_SPANS), ZOOM),
    f"graph, {NODES} nodes, choosing": ("graph_view", graph, "k => model.set('selected', k * 16)"),
    f"array, {ELEMENTS:,} elements, another tab": (
        "array_view", lambda: show.array(np.sin(np.linspace(0, 900, ELEMENTS)), "x").data(), TAB
    ),
    f"{POINTS:,} points in space, turning": ("points", lambda: points(3), TURN),
    f"{POINTS:,} points in a plane, moving": ("points", lambda: points(2), TURN),
    f"cache of {MODULES:,} modules, sorting": ("cache_table", modules, SORT),
    f"cache of {MODULES:,} modules, searching": ("cache_table", modules, FIND),
    f"slider over a field of {SIDE}², another field": ("controls", slider, SLIDE),
}  # fmt: skip


def spent(inspector: Any) -> float:
    """Seconds of processor time that the page's main thread has spent so far."""
    metrics = {metric["name"]: metric["value"] for metric in inspector.send("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"]


def measured(browser: Any, kind: str, view: dict[str, Any], act: str) -> dict[str, float]:
    """Seconds of a drawing, of the median and the longest frame of thirty acts, and of the processor for each act."""
    page = browser.new_page(viewport={"width": 1100, "height": 700})
    traits = json.dumps({"view": view, "selected": -1, "twin": ""}).replace("</", "<\\/")
    module = base64.b64encode(module_text(kind).encode()).decode()
    page.set_content(PAGE.format(acts=ACTS, style=style_text(kind), traits=traits, module=module))
    page.wait_for_function("window.ready === true")
    drawn = statistics.median(page.evaluate("drawn()") for _ in range(ROUNDS))
    inspector = page.context.new_cdp_session(page)
    inspector.send("Performance.enable", {"timeDomain": "threadTicks"})
    began = spent(inspector)
    frames = [page.evaluate(f"frames({act})") for _ in range(3)]
    worked = (spent(inspector) - began) / (3 * ACTS)
    page.close()
    usual, longest = (statistics.median(f[k] for f in frames) for k in (len(frames[0]) // 2, -1))
    return {OURS: drawn / 1e3, "a frame": usual / 1e3, "longest frame": longest / 1e3, "processor per act": worked}


def main() -> None:
    """Draw each case."""
    table = Table("pictures", "Live pictures in the browser: a drawing, and frames of thirty acts", ROUNDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for name, (kind, make, act) in CASES.items():
            table.rows.append(Row(name, measured(browser, kind, make(), act)))
            print(table.rows[-1])
        browser.close()
    write(table)


if __name__ == "__main__":
    main()
