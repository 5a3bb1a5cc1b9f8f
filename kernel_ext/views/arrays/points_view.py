"""Points in a plane or in space as a picture's data: places as shares of their box, and a colour each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernel_ext.refusal import Refusal
from kernel_ext.views import html, units
from kernel_ext.views.arrays.array_view import _kind, _on_host
from kernel_ext.views.arrays.colour_maps import Stops, blend, map_of

MOST = 200_000
"""Points that are drawn; of more, every second, third, …"""
PLAIN = (43, 123, 186)
_WIDTH, _HEIGHT, _GROUND = 480, 360, (17, 20, 24)


@dataclass(frozen=True)
class PointsView:
    """The view of points.

    Attributes:
        name, kind: what people call them; dtype, shape and device in one phrase.
        count, shown: how many there are and how many are drawn; those with a NaN or an infinity are left out.
        flat: whether they lie in a plane: `vec2`, or `vec3` of which all have the same z.
        low, high: the corners of their box.
        places: little-endian uint16[shown, 3]: shares of the box.
        colours: uint8[shown, 3]; uint8[3] if all have one.
        stops, range: the colour map and the values at both its ends; no stops if colours are not values.
        size: diameter of a point in pixels.
        bad: how many were left out.
    """

    name: str
    kind: str
    count: int
    shown: int
    flat: bool
    low: tuple[float, ...]
    high: tuple[float, ...]
    places: bytes
    colours: bytes
    stops: Stops
    range: tuple[float, float]
    size: float
    bad: int


def points_view(
    value: Any, name: str = "points", colour: Any = None, colours: str = "",
    range: tuple[float, float] | None = None, size: float = 3.0, box: tuple[Any, Any] | None = None,
) -> PointsView:  # fmt: skip
    """Return the view of points; see `kernel_ext.show.points`.

    Raises:
        Refusal: these are no points, or the colours do not fit.
    """
    host, ndim = _on_host(value)
    points = host.reshape(-1, host.shape[-1]).astype(np.float64) if host.ndim > 1 else host.reshape(-1, 1)
    if points.shape[-1] not in (2, 3):
        raise Refusal("points() takes an array of vec2 or vec3, or of shape (n, 2) or (n, 3)")
    if not 0 < size <= 50:
        raise Refusal(f"size takes the diameter of a point in pixels, to 50; it got {size!r}")
    rgb, stops, ends = _coloured(colour, len(points), colours, range)
    axes = np.ascontiguousarray(points.T)  # NumPy is several times as fast along a coordinate as along a point
    clear = np.isfinite(axes).all(axis=0)
    if not clear.all():
        axes, rgb = axes[:, clear], rgb[clear]
    every = max(1, -(-axes.shape[1] // MOST))
    axes, rgb = axes[:, ::every], rgb[::every]
    low, high = _box(axes, box)
    shares = np.zeros((axes.shape[1], 3), "<u2")
    for k, axis in enumerate(axes):
        scale = 65535 / (high[k] - low[k]) if high[k] > low[k] else 0.0
        shares[:, k] = np.clip((axis - low[k]) * scale, 0.0, 65535.0) + 0.5
    flat = points.shape[-1] == 2 or bool(low[2] == high[2])
    return PointsView(
        name, _kind(value, host, ndim), len(points), axes.shape[1], flat, tuple(map(float, low)),
        tuple(map(float, high)), shares.tobytes(), np.ascontiguousarray(rgb).tobytes() if colour is not None
        else bytes(PLAIN), stops, ends, float(size), len(points) - int(np.count_nonzero(clear)),
    )  # fmt: skip


def _box(axes: np.ndarray, box: tuple[Any, Any] | None) -> tuple[np.ndarray, np.ndarray]:
    width = len(axes)
    if box is None:
        return (axes.min(axis=1), axes.max(axis=1)) if axes.size else (np.zeros(width), np.ones(width))
    low, high = (np.asarray(corner, float) for corner in box)
    if low.shape != (width,) or high.shape != low.shape or (low > high).any() or (low == high).all():
        raise Refusal(f"box takes two corners of {width} numbers, the lower one first; it got {box!r}")
    return low, high


def _coloured(
    colour: Any, count: int, colours: str, range: tuple[float, float] | None
) -> tuple[np.ndarray, Stops, tuple[float, float]]:
    """Return a colour for each point, the colour map and its ends."""
    if colour is None:
        return np.broadcast_to(np.array(PLAIN, np.uint8), (count, 3)), (), (0.0, 0.0)
    host, _ = _on_host(colour)
    values = host.reshape(count, -1).astype(np.float64) if host.size % max(1, count) == 0 and count else host[:0]
    if len(values) != count or values.shape[-1] not in (1, 3):
        raise Refusal(f"color takes a number or a vec3 for each of the {count} points; it got shape {host.shape}")
    if values.shape[-1] == 3:
        return (np.clip(np.nan_to_num(values), 0.0, 1.0) * 255 + 0.5).astype(np.uint8), (), (0.0, 0.0)
    finite = values[np.isfinite(values)]
    low, high = range or ((float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0))
    stops, span = map_of(colours, low, high)
    return blend(values[:, 0], stops, span), stops, (low, high)


def scattered(view: PointsView, width: int = _WIDTH, height: int = _HEIGHT) -> np.ndarray:
    """Draw the points as `uint8[height, width, 4]`: from the front, in space turned a little, nearer ones above.

    The ground has a colour, for films, and an alpha of 0, so that a picture fits a light and a dark page.
    """
    points = np.frombuffer(view.places, "<u2").reshape(-1, 3) / 65535.0 - 0.5
    rgb = np.broadcast_to(np.frombuffer(view.colours, np.uint8).reshape(-1, 3), points.shape)
    extent = np.array([*(np.subtract(view.high, view.low)), 0.0][:3])
    points = points * (extent / (extent.max() or 1.0))
    if not view.flat:
        angle, tilt = 0.5, 0.35
        x = points[:, 0] * np.cos(angle) + points[:, 2] * np.sin(angle)
        z = points[:, 2] * np.cos(angle) - points[:, 0] * np.sin(angle)
        points = np.stack([x, points[:, 1] * np.cos(tilt) - z * np.sin(tilt), z * np.cos(tilt)], axis=1)
    order = np.argsort(points[:, 2], kind="stable")
    scale = 0.9 * min(width, height) / (1.0 if view.flat else 1.3)
    across = (points[order, 0] * scale + width / 2).astype(int)
    down = (height / 2 - points[order, 1] * scale).astype(int)
    picture = np.empty((height, width, 4), np.uint8)
    picture[:] = (*_GROUND, 0)
    inks = np.column_stack([rgb[order], np.full(len(order), 255, np.uint8)])
    for dy in (0, 1):
        for dx in (0, 1):
            picture[np.clip(down + dy, 0, height - 1), np.clip(across + dx, 0, width - 1)] = inks
    return picture


def points_headline(view: PointsView) -> str:
    """Format the points in one line."""
    drawn = f"{view.shown:,} of them drawn" if view.shown + view.bad < view.count else ""
    bad = f"{view.bad:,} NaN or infinite" if view.bad else ""
    return " · ".join(p for p in (f"{view.name}: {view.kind}", drawn, bad) if p)


def points_text(view: PointsView) -> str:
    """Format the headline and the box."""
    corners = " to ".join("(" + ", ".join(f"{x:.4g}" for x in corner) + ")" for corner in (view.low, view.high))
    return units.ascii_only(f"{points_headline(view)}\nfrom {corners}")


def points_html(view: PointsView) -> str:
    """Format the headline and a picture."""
    picture = html.image("image/png", html.png(scattered(view)), points_headline(view), f"width:{_WIDTH}px")
    return html.box(html.line(points_headline(view)), f"<div>{picture}</div>")
