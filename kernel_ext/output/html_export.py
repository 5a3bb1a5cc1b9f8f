"""A session as one page: its views drawn by the widgets' own modules, with no kernel, no server and no request.

The page holds styles, modules and views as text, and the programs of views that compute (`design/wasm.md`); its own
rule (Content-Security-Policy) forbids to load anything, and to run any script but its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from kernel_ext.output.computed import computed, measured, subject_of
from kernel_ext.output.renderable import Shown
from kernel_ext.refusal import Refusal
from kernel_ext.views.view_data import PANE_TITLES, PaneView
from kernel_ext.widgets.modules import module_text, script_text, style_text
from workbench.errors import RecordError, its_type

Texts = Callable[[Shown], Sequence[PaneView]]
"""Returns the texts that a view's widget offers in the page; a status card's are those of its kernels."""

Programs = Sequence[tuple[int, dict[str, Any]]]

_TYPES = re.compile(r"/\*\*.*?\*/ ?", re.DOTALL)
_RULE = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'{}; img-src data: blob:"
_COMPUTING = " 'wasm-unsafe-eval'; worker-src data:"
_TITLES = {
    "animation": "Film", "array_view": "Array", "cache_table": "Cache", "controls": "Sliders", "grad_view": "Gradients",
    "graph_view": "Graph", "points": "Points", "profile_view": "Profile", "source_view": "Texts", "status_card": "Cell",
    "stepper": "Steps", "sweeps_view": "Both sweeps", "threads_view": "Threads", "timeline": "Timeline",
}  # fmt: skip
_STYLE = """
:root { color-scheme: light dark; --jp-ui-font-color1: #1f2328; --jp-layout-color1: #fff; --jp-layout-color2: #f0f1f2;
  --jp-border-color2: #c9ccd0; --jp-brand-color1: #2b7bba }
:root.dark { --jp-ui-font-color1: #dcdfe3; --jp-layout-color1: #14171a; --jp-layout-color2: #262b30;
  --jp-border-color2: #4a5058; --jp-brand-color1: #5aa9e6; color-scheme: dark }
body { margin: 0 auto; max-width: 1100px; padding: 12px 16px; background: var(--jp-layout-color1);
  color: var(--jp-ui-font-color1); font: 15px/1.5 system-ui, sans-serif }
header { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline; justify-content: space-between }
h1 { font-size: 1.4em; margin: 0 } h2 { font-size: 1em; margin: 22px 0 4px }
.wb-cell, .wb-out, .wb-text pre { margin: 0 0 6px; padding: 6px 9px; overflow: auto; max-height: 40em;
  font: 13px/1.45 ui-monospace, monospace }
.wb-cell, .wb-text pre { background: var(--jp-layout-color2); border-radius: 3px }
.wb-cell, .wb-text { margin-top: 22px } .wb-cell ~ h2 { margin-top: 8px } .wb-text { overflow-wrap: anywhere }
.wb-value { margin-top: 6px } .wb-text.wb-value pre { background: none }
.wb-text a { color: var(--jp-brand-color1) } .wb-text table { border-collapse: collapse }
.wb-text th, .wb-text td { border: 1px solid var(--jp-border-color2); padding: 2px 8px }
nav a { color: var(--jp-brand-color1); margin-right: 10px; white-space: nowrap }
#theme { margin-left: auto }
#theme, .wb-runner button { font: inherit; color: inherit; background: var(--jp-layout-color2); cursor: pointer;
  border: 1px solid var(--jp-border-color2); border-radius: 3px }
.wb-runner { display: flex; flex-wrap: wrap; gap: 6px; margin: 4px 0 } .wb-printed { overflow: auto; max-height: 14em }
"""
_START = """
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => root.classList.toggle("dark", dark.matches);
dark.addEventListener("change", follow);
follow();
document.getElementById("theme").addEventListener("click", () => root.classList.toggle("dark"));
const views = JSON.parse(document.getElementById("views").textContent);
const models = views.map(({ widget, view, panes, texts }) =>
  stillModel({ ...traitsOf(widget, view), ...(panes && { panes }) }, texts));
const places = views.map((_, index) => document.getElementById(`view-${index}`));
const show = () => {
  views.forEach(({ widget }, index) => modules[widget].render({ model: models[index], el: places[index] }));
  root.dataset.ready = "yes";
};
"""
_COMPUTE = """
const programs = JSON.parse(document.getElementById("programs").textContent);
startComputing(document.getElementById("worker").textContent, programs, models, places).then(show);
"""


def page(
    title: str, views: Sequence[Shown], texts: Texts = lambda _: (), programs: Programs = (), above: Sequence[str] = ()
) -> str:
    """Return an HTML page of views that needs no kernel, with texts and with programs that compute in the browser.

    Args:
        title: its heading; empty: it has none.
        views: what it shows, in order.
        texts: those that each view offers.
        programs: what makes views compute: their numbers and what `computed` returns for each.
        above: HTML above each view, and below the last one.
    """
    kinds = sorted({shown.kind for shown in views})
    computing = {k for k, _ in programs}
    listed = [
        {
            "widget": shown.kind,
            "view": _emptied(shown.data()) if k in computing else shown.data(),
            **_offered(texts(shown)),
        }
        for k, shown in enumerate(views)
    ]
    names = [_name(shown) for shown in views]
    still = {k: f"<div>{shown.html}</div>" for k, shown in enumerate(views) if k in computing}
    links, heads = "", [""] * len(views)  # a page of one view has its name already
    if len(views) > 1:
        links = " ".join(f'<a href="#part-{k}">{escape(name)}</a>' for k, name in enumerate(names))
        links, heads = f"<nav>{links}</nav>", [f"<h2>{escape(name)}</h2>" for name in names]
    parts = "".join(
        f'<section id="part-{k}">{over}{head}<div id="view-{k}"></div>{still.get(k, "")}</section>'
        for k, (over, head) in enumerate(zip_longest(above[: len(views)], heads, fillvalue=""))
    ) + "".join(above[len(views) :])
    start = [_returned("computing", "startComputing"), _START, _COMPUTE] if programs else [_START, "show();"]
    head = f"<h1>{escape(title)}</h1>" if title else ""
    script = _bare(
        "\n".join(["'use strict';", "const modules = {};", script_text("still"), *map(_module, kinds), *start])
    )
    mark = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    held = _data("views", listed)
    if programs:
        held += _data("programs", [{"view": k, **program} for k, program in programs])
        held += f'<script type="text/plain" id="worker">{_bare(script_text("worker"))}</script>'
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title or "Workbench")}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_RULE.format(mark, _COMPUTING if programs else "")}">'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}{''.join(map(style_text, kinds))}</style></head><body>"
        f'<header>{head}<button id="theme" type="button">light / dark</button></header>'
        f"{links}<main>{parts}</main><noscript>The pictures of this page need JavaScript.</noscript>"
        f"{held}<script>{script}</script></body></html>"
    )


class Made(msgspec.Struct, frozen=True):
    """Represents a finished HTML page.

    Attributes:
        text: its HTML.
        computing: how many of its views compute.
        still: a clause, from `; ` on, on the last view that could not be made to compute, and why; else empty.
    """

    text: str
    computing: int
    still: str


def parts_of(shown: Sequence[Any]) -> tuple[Shown, ...]:
    """Return views as a flat tuple, with each page among them replaced by the views that it shows.

    Raises:
        Refusal: one is no view.
    """
    for value in shown:
        if not isinstance(value, Shown):
            raise Refusal(
                f"a page is made of views; this is {its_type(value)}. Write show.controls(…) or show.array(…)"
            )
    return tuple(part for value in shown for part in value.parts)


def made_page(
    title: str, views: Sequence[Shown], texts: Texts = lambda _: (), strict: bool = False, above: Sequence[str] = ()
) -> Made:
    """Make a page of views, with the programs of those that compute.

    Args:
        title: the page's heading.
        views: what it shows, in order.
        texts: those that each view offers.
        strict: refuse views whose program cannot run in a page; else they are pictures, and the result says why.
        above: HTML above each view, and below the last one.

    Raises:
        Refusal: there is nothing to show, or, if `strict`, a program cannot run in a page.
    """
    if not views and strict:
        raise Refusal("show.page takes views: show.page(path, show.controls(run, …), show.array(x))")
    if not views:
        raise Refusal("nothing has been shown yet: run a %%kernel, %%record or %%graph cell first")
    programs, still = [], ""
    for k, shown in enumerate(views):
        try:
            program = computed(shown.kind, shown.live_parts)
        except RecordError as error:
            if strict:
                raise Refusal(error.message, advice=error.advice) from None
            still = f"; {_name(shown)} does not compute there: {error.message}"
            continue
        if program:
            programs.append((k, {**program, "timelines": measured(subject_of(shown.live_parts), views)}))
    return Made(page(title, views, texts, programs, above), len(programs), still)


def write_page(
    path: str,
    title: str,
    views: Sequence[Shown],
    texts: Texts = lambda _: (),
    strict: bool = False,
    above: Sequence[str] = (),
) -> str:
    """Write a page of views to a file; return a sentence on its contents.

    Args:
        path: the file.
        title: the page's heading.
        views: what it shows, in order; pages among them are replaced by their views.
        texts: those that each view offers.
        strict: refuse views whose program cannot run in a page; else they are pictures, and the sentence says why.
        above: HTML above each view, and below the last one.

    Raises:
        Refusal: there is nothing to show, a program cannot run in a page (if `strict`), or the file cannot be written.
    """
    views = parts_of(views)
    built = made_page(title, views, texts, strict, above)
    try:
        Path(path).write_text(built.text, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{path} cannot be written ({error.strerror})") from None
    some = f" ({built.computing} can compute)" if built.computing else ""
    if not built.computing and any(shown.kind in ("controls", "animation") for shown in views):
        some = " (0 can compute: sliders and films of a function need Python)"
    size = len(built.text.encode()) // 1000
    plural = "s" if len(views) != 1 else ""
    return f"wrote {len(views)} view{plural}{some} to {path}, {size} kB; it opens in any browser, offline{built.still}"


def _offered(texts: Sequence[PaneView]) -> dict[str, Any]:
    """Return the tabs of a view and their texts as a widget's data; empty if there are no texts."""
    if not texts:
        return {}
    tabs = [[name, PANE_TITLES[name]] for name in PANE_TITLES if any(text.name == name for text in texts)]
    held = [{"kernel": t.kernel, "pane": t.name, "text": t.text, "first_line": t.first_line} for t in texts]
    return {"panes": tabs, "texts": held}


def _name(shown: Shown) -> str:
    """Return a view's heading in the page: its type's title and what it is about; of a status card only the latter."""
    data = shown.data()
    about = next((str(data[key]) for key in ("cell", "name", "kernel", "title") if data.get(key)), "")
    title = _TITLES[shown.kind]
    if shown.kind == "status_card" or about.lower() == title.lower():
        return about[:1].upper() + about[1:]
    return f"{title} {about}".strip()


def _module(kind: str) -> str:
    """Return a widget's JavaScript module in a block, so that its names do not clash with another one's."""
    return "{" + module_text(kind).replace("export default { render };", f'modules["{kind}"] = {{ render }};') + "}"


def _bare(code: str) -> str:
    """Return a script without its comments that declare types, which are a quarter of it."""
    return _TYPES.sub("", code)


def _emptied(view: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a view's data without the numbers of its picture, which are in its program."""
    picture = view.get("picture")
    if not picture:
        return view
    if "places" in picture:
        return {**view, "picture": {**picture, "places": ""}}
    parts = [{**part, "low": "", "high": "", "bad": []} for part in picture["parts"]]
    return {**view, "picture": {**picture, "parts": parts, "values": ""}}


def _returned(name: str, function: str) -> str:
    """Return JavaScript that binds `function`, which the module `name` exports, to a constant of that name."""
    return f"const {function} = (() => {{ {script_text(name)}\nreturn {function}; }})();"


def _data(name: str, value: Any) -> str:
    """Return a `<script>` element with the id `name` that holds `value` as JSON, safe inside HTML."""
    text = json.dumps(value).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


_WIDE = 640  # pixels: how wide pictures are in most front ends
_HEADING = 44
_PAGE, _BOX, _BUTTONS, _SLIDER, _PAD, _PLOT, _LINE, _CLOUD, _OTHER = 52, 66, 36, 27, 40, 180, 110, 420, 260
_TALLEST = 900


class CellPage(Shown):
    """Represents several views as one interactive page in a cell's output."""

    def __init__(self, views: Sequence[Shown], title: str) -> None:
        """Build a page of these views, with a heading unless `title` is empty; see `show.page`.

        Raises:
            Refusal: there is nothing to show, or a record holds what no page can run.
        """
        self._parts = parts_of(views)
        text = made_page(title, self.parts, strict=True).text
        behind = "".join(shown.html for shown in self.parts)
        here = "grid-area:1/1;min-width:0"
        size = f"width:100%;height:{frame_height(self.parts)}px"
        name = escape(title or "A page that computes")
        frame = (
            f'<iframe title="{name}" sandbox="allow-scripts" loading="lazy" style="{here};{size};border:0" '
            f"srcdoc='{_quoted(text)}'></iframe>"
        )
        super().__init__(
            "page",
            {},
            "\n".join(shown.text for shown in self.parts),
            f'<div style="display:grid"><div style="{here}">{behind}</div>{frame}</div>',
        )

    @property
    def parts(self) -> tuple[Shown, ...]:
        """The views that the page shows."""
        return self._parts

    def bundle(self, twin: str = "") -> dict[str, Any]:
        """Return the static outputs by MIME type; the page is the HTML one."""
        return {"text/plain": self.text, "text/html": self.html}

    def live(self, twin: str = "", spare: list[Any] | None = None) -> None:
        """Return None: the page needs no widget."""


def frame_height(views: Sequence[Shown]) -> int:
    """Return the height in pixels of a page of these views, estimated without a browser, at most `_TALLEST`."""
    headings = _HEADING * (len(views) + 1) if len(views) > 1 else 0
    return min(_TALLEST, _PAGE + headings + sum(_height(shown.kind, shown.data()) for shown in views))


def _height(kind: str, view: dict[str, Any]) -> int:
    """Return the estimated height in pixels of one view of a kind, by its JSON data."""
    if kind == "points":
        return _BOX + _CLOUD
    if kind not in ("controls", "animation", "array_view"):
        return _OTHER
    picture = view if kind == "array_view" else view.get("picture")
    runs = _SLIDER if kind == "animation" else 0
    if kind == "controls":  # a pad is higher than the sliders next to it
        pads = sum(slider["name"].endswith(".x") for slider in view["sliders"])
        runs = _BUTTONS + _SLIDER * len(view["sliders"]) + _PAD * pads
    if not picture:
        return _BOX + runs
    parts = picture.get("parts")
    if parts is None:
        return _BOX + runs + _CLOUD
    return _BOX + runs + max((_image(part) for part in parts), default=0) + (len(parts) - 1) * _LINE


def _image(part: dict[str, Any]) -> int:
    """Return the height of a part's picture in pixels; see `pictureOf` in `pictures.js`."""
    if part["kind"] == "line":
        return _PLOT
    wide = min(_WIDE, max(_PLOT, 3 * part["columns"]))
    return wide * part["rows"] // max(1, part["columns"]) + _SLIDER


def _quoted(text: str) -> str:
    """Return a page's text escaped for an attribute in single quotes; it has many double ones."""
    return text.replace("&", "&amp;").replace("'", "&#39;")
