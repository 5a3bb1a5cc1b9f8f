"""A page as the output of a cell: it stays alive in the saved notebook, with no kernel and no server.

The page is the text of a frame (`srcdoc`) that may run scripts and nothing else (`sandbox`). Behind the frame lie the
views' static pictures: a viewer that removes frames shows those.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from kernel_ext.output.html_export import made_page, parts_of
from kernel_ext.output.renderable import Shown

_WIDE = 640  # pixels: how wide pictures are in most front ends
_HEADING = 44
_PAGE, _BOX, _BUTTONS, _SLIDER, _PAD, _PLOT, _LINE, _CLOUD, _OTHER = 52, 66, 36, 27, 40, 180, 110, 420, 260
_TALLEST = 900


class CellPage(Shown):
    """Views as one page in a cell's output."""

    def __init__(self, views: Sequence[Shown], title: str) -> None:
        """See `show.page`.

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
        """The views."""
        return self._parts

    def bundle(self, twin: str = "") -> dict[str, Any]:
        """Return the static outputs; the page is one of them."""
        return {"text/plain": self.text, "text/html": self.html}

    def live(self, twin: str = "", spare: list[Any] | None = None) -> None:
        """Return None: the page needs no widget."""


def frame_height(views: Sequence[Shown]) -> int:
    """Return the pixels that a page of these views takes, as far as is known without a browser."""
    headings = _HEADING * (len(views) + 1) if len(views) > 1 else 0
    return min(_TALLEST, _PAGE + headings + sum(_height(shown.kind, shown.data()) for shown in views))


def _height(kind: str, view: dict[str, Any]) -> int:
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
    """Return a page's text between single quotes; it has many double ones."""
    return text.replace("&", "&amp;").replace("'", "&#39;")
