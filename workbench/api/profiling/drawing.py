"""A picture as plain shapes: a widget draws them in the page's colours, and `svg` in colours for light and dark."""

from __future__ import annotations

from html import escape

import msgspec

_LOOKS = {
    "ink": 'fill="#7a7a7a"', "strong": 'fill="#7a7a7a" font-weight="bold"', 
    "rule": 'stroke="#7a7a7a" stroke-opacity="0.25"', "roof": 'stroke="#2b7bba" stroke-width="2"',
    "ceiling": 'stroke="#d6604d" stroke-dasharray="5 4"', "dot": 'fill="#d6604d"',
    "ring": 'fill="none" stroke="#d6604d" stroke-width="1.5"', "free": 'fill="#7a7a7a" fill-opacity="0.22"',
    "taken": 'fill="#2b7bba"', "other": 'fill="#77acd1"', "worst": 'fill="#d6604d"',
    "past": 'fill="none" stroke="#7a7a7a" stroke-opacity="0.25"', "ray": 'stroke="#2b7bba" stroke-opacity="0.7"',
}  # fmt: skip
"""The style of shapes where no style sheet reaches: inside an `<img>`."""


class Shape(msgspec.Struct, frozen=True):
    """A shape of a drawing.

    Attributes:
        kind: "line" (x, y, x, y), "rect" (x, y, width, height), "dot" (x, y, radius) or "text" (x, y).
        look: its style, a key of `_LOOKS`.
        at: its coordinates, in pixels, as listed for its kind.
        text: the text of a "text"; of others the tooltip.
        anchor: of a text "start", "middle" or "end".
    """

    kind: str
    look: str
    at: tuple[float, ...]
    text: str = ""
    anchor: str = "start"


class Drawing(msgspec.Struct, frozen=True):
    """A drawing: shapes in an area of some width and height, in pixels; screen readers read `title`."""

    title: str
    width: int
    height: int
    shapes: tuple[Shape, ...]

    def svg(self) -> str:
        """Return the picture as SVG text."""
        body = "".join(map(_element, self.shapes))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="ui-monospace,monospace" font-size="11" role="img">'
            f"<title>{escape(self.title)}</title>{body}</svg>"
        )


def _element(shape: Shape) -> str:
    """Return the SVG element of a shape; its text is a tooltip unless the shape is text."""
    look, at = _LOOKS[shape.look], shape.at
    tooltip = f"<title>{escape(shape.text)}</title>" if shape.text else ""
    if shape.kind == "text":
        return f'<text x="{at[0]:g}" y="{at[1]:g}" text-anchor="{shape.anchor}" {look}>{escape(shape.text)}</text>'
    if shape.kind == "line":
        return f'<path d="M{at[0]:g} {at[1]:g}L{at[2]:g} {at[3]:g}" fill="none" {look}>{tooltip}</path>'
    if shape.kind == "dot":
        return f'<circle cx="{at[0]:g}" cy="{at[1]:g}" r="{at[2]:g}" {look}>{tooltip}</circle>'
    return f'<rect x="{at[0]:g}" y="{at[1]:g}" width="{at[2]:g}" height="{at[3]:g}" {look}>{tooltip}</rect>'
