"""A session as its cells: what each says, printed and showed, in the order of the notebook's file if there is one."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from kernel_ext.output.output_area import runs_by_count
from kernel_ext.output.renderable import Shown

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n)")
_LONGEST = 20_000
"""Characters of a cell's printed text that a page holds."""


@dataclass(frozen=True)
class SessionCell:
    """A cell as it ran last.

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
    """The cells that a shell ran, each as it ran last and in that order, without the one that runs."""
    history = shell.history_manager
    runs, kept = runs_by_count(), getattr(history, "outputs", {})  # IPython 9 keeps what is printed
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
            _printed(kept.get(k, ()), errors.get(k)),
            "".join(map(_picture, kept.get(k, ()))),
            runs.get(k, ("", ()))[1],
        )
        for name, k in last.items()
    ]


def page_parts(cells: Sequence[SessionCell], notebook: Path | None) -> tuple[list[Shown], list[str]]:
    """Views, and the HTML above each and below the last: the cells' code and printed text, and a notebook's Markdown.

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
    """Markdown as HTML, in which HTML is text; the text as it is if Jupyter's reader, mistune, is not installed."""
    try:
        import mistune
    except ImportError:
        return f'<div style="white-space: pre-wrap">{escape(text)}</div>'
    return str(mistune.create_markdown(escape=True, plugins=["table", "strikethrough", "url", "math"])(text))


def _saved(notebook: Path | None) -> list[dict[str, Any]]:
    try:
        return json.loads(notebook.read_text(encoding="utf-8"))["cells"] if notebook is not None else []
    except (OSError, ValueError, KeyError):
        return []


def _printed(outputs: Sequence[Any], error: Mapping[str, Any] | None) -> str:
    """What a cell printed, its value's text and its error, of what IPython keeps."""
    found = []
    for output in outputs:
        if output.output_type.endswith("_stream"):
            found.append("".join(output.bundle["stream"]))
        elif output.output_type == "execute_result" and not _picture(output):
            found.append(f"{output.bundle.get('text/plain', '')}\n")
    if error:
        said = f"{error['ename']}: {error['evalue']}"
        found.append("\n".join(error.get("traceback") or [said]))
    return _plain("".join(found))


def _picture(output: Any) -> str:
    """HTML of an image, or of a value that has some; nothing for the static pictures of our views."""
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
    """Text as a terminal would show it in the end: without colours, and lines that were written over."""
    text = _OVERWRITTEN.sub("", _ESCAPES.sub("", text)).strip("\n")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n… {len(text) - _LONGEST:,} characters more"


def _pre(kind: str, text: str) -> str:
    return f'<pre class="{kind}" tabindex="0">{escape(text)}</pre>' if text else ""
