"""Views as ASCII text and as static HTML.

The HTML is what stays in a committed notebook, so it uses only what an untrusted JupyterLab and nbconvert keep: tables,
`<details>`, inline `style=`. Colours are a front end's variables with fallbacks that read on light and on dark.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from kernel_ext.views import html
from kernel_ext.views.view_data import CacheView, InspectView, KernelRow, PaneView, StatusView

_MONO = "font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:var(--jp-code-font-size,13px)"
_LINE = "var(--jp-border-color2,rgba(128,128,128,0.35))"
_DIM = "opacity:0.7"
_CELL = "text-align:left;padding:1px 12px 1px 0;vertical-align:top"
_MOST = 100  # modules that a static view lists
_COLOURS = {
    "compiling": "#5a6b7b",
    "compiled": "#2166ac",
    "recompiled": "#7b4ea3",
    "memory hit": "#1b7837",
    "disk hit": "#1b7837",
    "failed": "#b2182b",
    "ready": "#5a6b7b",
}


def status_text(view: StatusView) -> str:
    """Format the status as lines of ASCII."""
    rows = [view.headline]
    rows += [f"  line {e.line}: {e.message}" if e.line else f"  {e.message}" for e in view.errors]
    rows += [f"  {remark}" for remark in _remarks(view)]
    rows += [f"  note: {notice}" for notice in view.notices]
    rows += [f"\n--- {p.kernel}: {p.title}\n{p.text.rstrip()}" for p in view.panes]
    return html.ascii_only("\n".join(rows))


def status_html(view: StatusView) -> str:
    """Format the status as static HTML."""
    head = f"{_badge(view)} <span>{escape(view.rest)}</span> {_dim(view.about)}"
    parts = [_errors(view), _stages(view), _reasons(view)]
    parts += [f'<div style="{_DIM}">{escape(notice)}</div>' for notice in view.notices]
    inner = "".join(parts)
    body = f"<details><summary>{head}</summary>{_box(inner)}</details>" if inner else f"<div>{head}</div>"
    body += "".join(f'<div style="padding:1px 2px">{escape(remark)}</div>' for remark in _remarks(view))
    panes = "".join(_folded(p) for p in view.panes)
    return f'<div style="{_MONO};padding:2px 0">{body}{panes}</div>'


def _remarks(view: StatusView) -> tuple[str, ...]:
    """Return the view's remarks, and one on outdated JAX functions if there are any."""
    return (*view.remarks, *((f"{view.outdated}: call jax.clear_caches()",) if view.outdated else ()))


def inspect_text(view: InspectView) -> str:
    """Format the panes in ASCII, one below the other."""
    return html.ascii_only("\n\n".join(f"--- {p.kernel}: {p.title}\n{p.text.rstrip()}" for p in view.panes))


def inspect_html(view: InspectView) -> str:
    """Format the panes side by side as static HTML, each with its line numbers."""
    titles = "".join(_th(f"{view.kernel} · {p.title}") for p in view.panes)
    texts = "".join(f'<td style="{_CELL};padding-right:24px">{_code(p)}</td>' for p in view.panes)
    wide = f"table-layout:fixed;width:100%;min-width:{22 * len(view.panes)}em"
    return (
        f'<div style="overflow-x:auto"><table style="{_MONO};border-collapse:collapse;text-align:left;{wide}">'
        f"<thead><tr>{titles}</tr></thead><tbody><tr>{texts}</tr></tbody></table></div>"
    )


def cache_text(view: CacheView) -> str:
    """Format the cache as lines of ASCII."""
    rows = [_cache_line(view), *_problem(view)]
    for e in view.entries[:_MOST]:
        columns = (html.size(e.bytes).rjust(7), e.backend, e.target, f"built {html.age(e.built)}")
        rows.append(f"  {e.digest[:8]}  {e.name:<20} {'  '.join(columns)}")
    return html.ascii_only("\n".join(rows + _rest(view)))


def cache_html(view: CacheView) -> str:
    """Format the cache as an HTML table in the view's order, at most `_MOST` modules."""
    head = f"<div>{escape(_cache_line(view))}</div>" + "".join(f"<div>{escape(p)}</div>" for p in _problem(view))
    if not view.entries:
        return f'<div style="{_MONO}">{head}</div>'
    titles = "".join(map(_th, ("key", "kernel", "backend", "target", "size", "built", "used")))
    rows = (
        (e.digest[:8], e.name, e.backend, e.target, html.size(e.bytes), html.age(e.built), html.age(e.used))
        for e in view.entries[:_MOST]
    )
    rest = "".join(f"<div>{escape(line)}</div>" for line in _rest(view))
    return f'<div style="{_MONO}">{head}{_table(titles, rows)}{rest}</div>'


def _rest(view: CacheView) -> list[str]:
    """Return a line that counts the modules not listed, if there are any: a cache may hold ten thousand."""
    left = len(view.entries) - _MOST
    return [f"  and {html.count(left, 'more module')}, which were used longer ago"] if left > 0 else []


def _cache_line(view: CacheView) -> str:
    """Return the cache in one line: how many modules and bytes, hits and misses, and its path."""
    sums = f"{html.count(view.modules, 'module')}, {html.size(view.bytes)}"
    hits = f"hits: memory {view.hits_memory}, disk {view.hits_disk}; misses {view.misses}"
    return " · ".join(p for p in (sums, hits, view.path) if p)


def _problem(view: CacheView) -> list[str]:
    """Return a line on why the cache is not usable; no line if it is."""
    return [f"not usable: {view.problem}"] if view.problem else []


def _badge(view: StatusView) -> str:
    """Return the first word of the headline as HTML, on the colour of the view's state."""
    look = f"background:{_COLOURS[view.state]};color:#fff;border-radius:3px;padding:1px 7px;margin-right:2px"
    return f'<span style="{look}">{escape(view.lead)}</span>'


def _dim(text: str) -> str:
    """Return the text, escaped, as HTML in a dim colour."""
    return f'<span style="{_DIM};padding-left:8px">{escape(text)}</span>'


def _box(inner: str) -> str:
    """Return HTML indented behind a vertical line; `inner` is HTML."""
    return f'<div style="border-left:2px solid {_LINE};margin:4px 0 4px 6px;padding-left:12px">{inner}</div>'


def _th(text: str) -> str:
    """Return the heading of a column as HTML, with its text escaped."""
    return f'<th style="{_CELL};border-bottom:1px solid {_LINE}">{escape(text)}</th>'


def _table(titles: str, rows: Iterable[Iterable[str]]) -> str:
    """Return an HTML table; `titles` is the HTML of its headings, empty without; the cells' texts are escaped."""
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{escape(c)}</td>' for c in row) + "</tr>" for row in rows)
    head = f"<thead><tr>{titles}</tr></thead>" if titles else ""
    return f'<table style="border-collapse:collapse;text-align:left">{head}<tbody>{body}</tbody></table>'


def _errors(view: StatusView) -> str:
    """Return the view's errors as an HTML table of line and message; empty if there are none."""
    rows = [(f"line {e.line}" if e.line else "", e.message) for e in view.errors]
    return _table("", rows) if rows else ""


def _reasons(view: StatusView) -> str:
    """Return an HTML table of why kernels were compiled again; empty if none has a reason."""
    rows = [(row.kernel, row.direction, reason) for row in view.rows for reason in row.why]
    return _table("".join(map(_th, ("kernel", "", "recompiled because"))), rows) if rows else ""


def _stages(view: StatusView) -> str:
    """Return an HTML table of each kernel's state, times, key, target and stages; empty without rows."""
    if not view.rows:
        return ""
    titles = "".join(map(_th, ("kernel", "direction", "what", "time", "key", "target", "stages (ms)")))
    return _table(titles, ((*_facts(row), _stage_list(row)) for row in view.rows))


def _facts(row: KernelRow) -> tuple[str, ...]:
    """Return a row's texts: kernel, direction, state, time (empty while there is none), key, target and facts."""
    target = " ".join(p for p in (row.backend, row.target, *row.facts) if p)
    time = "" if row.state in ("compiling", "failed") else html.seconds(row.seconds)
    return row.kernel, row.direction, row.state, time, row.key[:8], target


def _stage_list(row: KernelRow) -> str:
    """Return the stages of a row with their milliseconds, separated by commas."""
    return ", ".join(f"{s.name} {html.milliseconds(s.seconds)}" for s in row.stages)


def _folded(pane: PaneView) -> str:
    """Return a pane as HTML that is folded below its kernel and title."""
    return f"<details><summary>{escape(f'{pane.kernel} · {pane.title}')}</summary>{_box(_code(pane))}</details>"


def _code(pane: PaneView) -> str:
    """Return a pane's text as HTML, each line behind its number: wrapping long lines cannot part the two."""
    lines = pane.text.rstrip("\n").split("\n")
    width = len(str(pane.first_line + len(lines) - 1))
    quiet = "opacity:0.65;user-select:none"
    rows = "\n".join(
        f'<span style="{quiet}">{str(number).rjust(width)}  </span>{escape(line)}'
        for number, line in enumerate(lines, pane.first_line)
    )
    look = (
        "margin:0;padding:2px 0;line-height:1.35;background:transparent;text-align:left;white-space:pre;overflow-x:auto"
    )
    return f'<pre tabindex="0" style="{look}">{rows}</pre>'
