"""A session as its cells: what each says, printed and showed, in the order of the notebook's file if there is one."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from kernel_ext.output.output_area import runs_by_count
from kernel_ext.output.renderable import Shown

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n)")
_LONGEST = 20_000
"""Characters of a cell's printed text that a page holds."""


class SessionCell(msgspec.Struct, frozen=True):
    """Represents a cell as it ran last.

    Attributes:
        name: its identity in the notebook's file, if the front end says it.
        code: its text.
        printed: what it printed, its value's text, and its error.
        pictures: HTML of other libraries' images, and of its value if that has some.
        views: what it showed.
    """

    name: str
    code: str
    printed: str
    pictures: str
    views: tuple[Shown, ...]


def session_cells(shell: Any) -> list[SessionCell]:
    """Return the cells that a shell ran, each as it ran last and in that order, without the one that is running."""
    history = shell.history_manager
    runs, outputs = runs_by_count(), getattr(history, "outputs", {})  # IPython 9 stores what is printed
    errors = getattr(history, "exceptions", {})
    last: dict[str, int] = {}
    for count, code in enumerate(history.input_hist_raw[:-1]):
        if code.strip():
            name = runs[count][0] if count in runs else f"text {code}"
            last.pop(name, None)
            last[name] = count
    last.pop(runs.get(len(history.input_hist_raw) - 1, ("", ()))[0], None)  # the cell that runs, when it ran before
    return [
        SessionCell(
            name,
            history.input_hist_raw[k].strip("\n"),
            _printed(outputs.get(k, ()), errors.get(k)),
            "".join(map(_picture, outputs.get(k, ()))),
            runs.get(k, ("", ()))[1],
        )
        for name, k in last.items()
    ]


def page_parts(cells: Sequence[SessionCell], notebook: Path | None) -> tuple[list[Shown], list[str]]:
    """Return what a page of a session consists of: views, and the HTML above each of them and below the last.

    The HTML is cells' code and output and the notebook's Markdown, in the file's order; cells that are not in it
    come last.

    Args:
        cells: of the session.
        notebook: the file, as it was saved last; None if there is none.
    """
    left = list(cells)
    views: list[Shown] = []
    above = [""]

    def put(cell: SessionCell, printed: str = "") -> None:
        above[-1] += _pre("wb-cell", cell.code) + _pre("wb-out", cell.printed or printed) + cell.pictures
        views.extend(cell.views)
        above.extend("" for _ in cell.views)

    for saved in _saved(notebook):
        text = "".join(saved.get("source", ""))
        if saved.get("cell_type") == "markdown":
            above[-1] += f'<div class="wb-text">{markdown(text)}</div>'
            continue
        same = [c for c in left if c.name == saved.get("id")] or [c for c in left if c.code == text.strip("\n")]
        if same:
            left.remove(same[0])
            streams = [o for o in saved.get("outputs", ()) if o.get("output_type") == "stream"]
            put(same[0], _plain("".join("".join(o.get("text", "")) for o in streams)))
    for cell in left:
        put(cell)
    return views, above


def markdown(text: str) -> str:
    """Convert Markdown to HTML, escaping HTML in it; without mistune, Jupyter's parser, return it preformatted."""
    try:
        import mistune
    except ImportError:
        return f'<div style="white-space: pre-wrap">{escape(text)}</div>'
    return str(mistune.create_markdown(escape=True, plugins=["table", "strikethrough", "url", "math"])(text))


def _saved(notebook: Path | None) -> list[dict[str, Any]]:
    """Return the cells of the notebook's file; empty if there is no file, or it cannot be read as a notebook."""
    try:
        return json.loads(notebook.read_text(encoding="utf-8"))["cells"] if notebook is not None else []
    except (OSError, ValueError, KeyError):
        return []


def _printed(outputs: Sequence[Any], error: Mapping[str, Any] | None) -> str:
    """Join what a cell printed, its value's text and its error, from what IPython stores."""
    texts = []
    for output in outputs:
        if output.output_type.endswith("_stream"):
            texts.append("".join(output.bundle["stream"]))
        elif output.output_type == "execute_result" and not _picture(output):
            texts.append(f"{output.bundle.get('text/plain', '')}\n")
    if error:
        message = f"{error['ename']}: {error['evalue']}"
        texts.append("\n".join(error.get("traceback") or [message]))
    return _plain("".join(texts))


def _picture(output: Any) -> str:
    """Return the HTML of an image, or of a value that has some; empty for the static pictures of our views."""
    text = output.bundle.get("text/html", "") if output.output_type == "execute_result" else ""
    if text:
        return f'<div class="wb-text wb-value">{text}</div>'
    for kind in ("image/png", "image/jpeg", "image/svg+xml"):
        if data := output.bundle.get(kind):
            raw = data if isinstance(data, bytes) else data.encode()
            packed = raw if raw is not data and "svg" not in kind else base64.b64encode(raw)
            alt = escape(str(output.bundle.get("text/plain", "")))
            return f'<div><img alt="{alt}" src="data:{kind};base64,{packed.decode()}"></div>'
    return ""


def _plain(text: str) -> str:
    """Return text as a terminal would finally show it: without colours and overwritten lines, cut at `_LONGEST`."""
    text = _OVERWRITTEN.sub("", _ESCAPES.sub("", text)).strip("\n")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n… {len(text) - _LONGEST:,} characters more"


def _pre(kind: str, text: str) -> str:
    """Return the text, escaped, as an HTML `<pre>` of the class `kind`; empty if the text is empty."""
    return f'<pre class="{kind}" tabindex="0">{escape(text)}</pre>' if text else ""
