"""What the live pictures cost in the browser: 20,000 spans, 500 graph nodes, a million elements, 2,000 steps.

Each widget's own module stands alone in a page of headless Chromium without a GPU. A drawing is timed with the layout
that it causes; thirty zooms or choices follow each other, one per frame: the median frame and the longest are reported.
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
from kernel_ext.views.view_data import SpanRow, TimelineView, as_data
from kernel_ext.widgets.modules import module_text, style_text

ROUNDS = 9
SPANS, NODES, ELEMENTS = 20_000, 500, 1_000_000
KINDS = ("forward", "adjoint", "copy", "jax")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]
PAGE = """<!doctype html><meta charset="utf-8"><style>{style}</style><div id="live" style="width: 1000px"></div>
<script type="module">
const ears = {{}}, traits = {traits};
window.model = {{ get: (n) => traits[n], on: (n, f) => (ears[n] ??= []).push(f), off() {{}}, save_changes() {{}},
  set(n, v) {{ traits[n] = v; (ears[`change:${{n}}`] ?? []).forEach((f) => f()); }} }};
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
  for (let k = 0; k < 30; k += 1) {{
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


def timeline() -> dict[str, Any]:
    """So many spans in two lanes."""
    rows = tuple(
        SpanRow(k * 1e-3, 9e-4, "jax" if k % 4 == 3 else "cpu", KINDS[k % 4], f"step{k % 7}", (64,), 256, "cell [4]:2")
        for k in range(SPANS)
    )
    return as_data(TimelineView("rec", ("cpu", "jax"), rows, SPANS * 1e-3))


def graph() -> dict[str, Any]:
    """So many launches over a few arrays."""
    arrays = [wb.zeros(4) for _ in range(9)]
    with wb.capture() as captured:
        for k in range(NODES):
            wb.launch(add, 4, [arrays[k % 9], arrays[(k * 5 + 1) % 9]])
    return captured.layout()


CASES = {
    f"timeline, {SPANS:,} spans": ("timeline", timeline, "k => model.set('selected', k * 600)"),
    f"timeline, {SPANS:,} spans, zooming": (
        "timeline", timeline, "k => document.querySelector('[aria-label=\"Show less time\"]').click()",
    ),
    f"graph, {NODES} nodes": ("graph_view", graph, "k => model.set('selected', k * 16)"),
    f"array, {ELEMENTS:,} elements": (
        "array_view", lambda: show.array(np.sin(np.linspace(0, 900, ELEMENTS)), "x").data(),
        "k => document.querySelector(`[data-tab=${k % 2 ? 'picture' : 'histogram'}]`).click()",
    ),
}  # fmt: skip


def measured(browser: Any, kind: str, view: dict[str, Any], act: str) -> tuple[float, float, float]:
    """Seconds of a drawing, and of the median and the longest frame of thirty acts."""
    page = browser.new_page(viewport={"width": 1100, "height": 700})
    traits = json.dumps({"view": view, "selected": -1, "twin": ""}).replace("</", "<\\/")
    module = base64.b64encode(module_text(kind).encode()).decode()
    page.set_content(PAGE.format(style=style_text(kind), traits=traits, module=module))
    page.wait_for_function("window.ready === true")
    drawn = statistics.median(page.evaluate("drawn()") for _ in range(ROUNDS))
    frames = [page.evaluate(f"frames({act})") for _ in range(3)]
    page.close()
    usual, longest = (statistics.median(f[k] for f in frames) for k in (len(frames[0]) // 2, -1))
    return drawn / 1e3, usual / 1e3, longest / 1e3


def main() -> None:
    """Draw each case."""
    table = Table("pictures", "Live pictures in the browser: a drawing, and frames of thirty acts", ROUNDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for name, (kind, make, act) in CASES.items():
            drawn, usual, longest = measured(browser, kind, make(), act)
            table.rows.append(Row(name, {OURS: drawn, "a frame": usual, "longest frame": longest}))
        browser.close()
    write(table)


if __name__ == "__main__":
    main()
