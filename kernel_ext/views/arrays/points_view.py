"""Points in a plane or in space as a picture's data: places as shares of their box, and a colour each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from kernel_ext.refusal import Refusal
from kernel_ext.views import html
from kernel_ext.views.arrays.array_view import Stops, _kind, _on_host, blend, map_of

MOST = 200_000
"""Points that are drawn; of more, every second, third, …"""
PLAIN = (43, 123, 186)
_WIDTH, _HEIGHT, _GROUND = 480, 360, (17, 20, 24)


class PointsView(msgspec.Struct, frozen=True):
    """Represents the view of points.

    Attributes:
        name, kind: what people call them; dtype, shape and device in one phrase.
        count, shown: how many there are and how many are drawn; those with a NaN or an infinity are left out.
        flat: whether they lie in a plane: `vec2`, or `vec3` of which all have the same z.
        low, high: the corners of their box.
        places: little-endian uint16[shown, 3]: fractions of the box.
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
    """Return the lowest and highest corner: those of `box`, or of all points (0 and 1 if there are none).

    Args:
        axes: the coordinates, a row for each axis.
        box: two corners; None: the points' own.

    Raises:
        Refusal: the box is not two corners of that many numbers, the lower one first.
    """
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
    """Return a colour for each point as uint8, the colour map and its ends; no map for colours that are not values.

    Raises:
        Refusal: the colours are not one number or vec3 for each point.
    """
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
    """Return a line on the points: name, dtype and shape, and how many are drawn or not finite."""
    drawn = f"{view.shown:,} of them drawn" if view.shown + view.bad < view.count else ""
    bad = f"{view.bad:,} NaN or infinite" if view.bad else ""
    return " · ".join(p for p in (f"{view.name}: {view.kind}", drawn, bad) if p)


def points_text(view: PointsView) -> str:
    """Format points in ASCII: the headline and the corners of their box."""
    corners = " to ".join("(" + ", ".join(f"{x:.4g}" for x in corner) + ")" for corner in (view.low, view.high))
    return html.ascii_only(f"{points_headline(view)}\nfrom {corners}")


def points_html(view: PointsView) -> str:
    """Format points as static HTML: the headline and a picture."""
    picture = html.image("image/png", html.png(scattered(view)), points_headline(view), f"width:{_WIDTH}px")
    return html.box(html.line(points_headline(view)), f"<div>{picture}</div>")


POINTS = 40_000
"""Points that a mesh or lines are laid out with."""
_WIDE = {2: 2.0, 3: 4.0}
"""Pixels of a point of lines, and of faces: below 4, gaps show what lies behind."""
_FLAT = 1e-6
_LIGHT = np.array([0.35, 0.55, 0.76])
_DARKEST = 0.35


def mesh_with(value: Any, corners: Any, ends: int, name: str, options: Mapping[str, Any]) -> PointsView:
    """Return the points of a mesh, or of lines, with the options of `kernel_ext.show.mesh`.

    Raises:
        Refusal: points or corners do not fit each other, an option does not fit, or there is no such option.
    """
    unknown = set(options) - {"color", "colours", "range", "size", "box"}
    if unknown:
        raise Refusal(f"there is no option {min(unknown)}; there are color, colours, range, size and box")
    renamed = {"colour" if option == "color" else option: setting for option, setting in options.items()}
    return mesh_view(value, corners, ends, name, **{"size": _WIDE[ends], **renamed})


def mesh_view(
    value: Any, corners: Any, ends: int, name: str, colour: Any = None, colours: str = "",
    range: tuple[float, float] | None = None, size: float = 2.0, box: tuple[Any, Any] | None = None,
) -> PointsView:  # fmt: skip
    """Return the points of faces (three corners each, shaded by their direction) or of lines (two ends each).

    Raises:
        Refusal: there are no such points, a corner is none of them, or an option does not fit.
    """
    points, chosen = _points_of(value), _corners(corners, ends)
    if len(chosen) and not (0 <= chosen.min() and chosen.max() < len(points)):
        raise Refusal(f"corners are numbers of the {len(points)} points; they go from {chosen.min()} to {chosen.max()}")
    each, shares = _laid_out(points[chosen])
    at = np.einsum("nk,nkd->nd", shares, points[chosen[each]])
    rgb, stops, values = _coloured(colour, len(points), colours, range)
    inks = np.einsum("nk,nkd->nd", shares, rgb[chosen[each]].astype(float)) / 255.0
    if ends == 3:
        inks *= _shades(points[chosen])[each, None]
    view = points_view(at, name, inks if len(at) else None, "", None, size, box)
    kind = f"{len(chosen):,} {'faces' if ends == 3 else 'lines'} between {len(points):,} points"
    return replace(view, kind=kind, stops=stops, range=values)


def _points_of(value: Any) -> np.ndarray:
    """Return the points of a mesh as `float64[n, 3]` on the host; points in a plane have z = 0.

    Raises:
        Refusal: these are no points.
    """
    host, _ = _on_host(value)
    if host.ndim < 2 or host.shape[-1] not in (2, 3):
        raise Refusal("a mesh takes points: an array of vec2 or vec3, or of shape (n, 2) or (n, 3)")
    points = host.reshape(-1, host.shape[-1]).astype(np.float64)
    return np.pad(points, ((0, 0), (0, 3 - points.shape[1])))


def _corners(corners: Any, ends: int) -> np.ndarray:
    """Return the corner numbers of a mesh's faces or lines as `int64[n, ends]` on the host.

    Raises:
        Refusal: these are no integers, or not `ends` for each.
    """
    host, _ = _on_host(corners)
    if host.dtype.kind not in "iu" or host.ndim < 1 or host.shape[-1] != ends:
        raise Refusal("faces takes the numbers of their corners, shape (n, 3); lines takes those of their ends, (n, 2)")
    return host.reshape(-1, host.shape[-1]).astype(np.int64)


def _laid_out(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Spread points over faces or lines by area or length; return the face and the corners' weights of each point."""
    count, ends = corners.shape[:2]
    sides = np.nan_to_num(corners[:, 1:] - corners[:, :1])
    sizes = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]) if ends == 3 else sides[:, 0], axis=1)
    total = sizes.sum() or 1.0
    numbers = 1 + (sizes / total * POINTS).astype(int) if count else np.zeros(0, int)
    if (
        ends == 3 and count and sizes.max() > 0
    ):  # a face without an area, as at a pole, has no direction to be shaded by
        numbers[sizes < _FLAT * sizes.max()] = 0
    each = np.repeat(np.arange(count), numbers)
    number = np.arange(len(each)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    u = (number + 0.5) / np.repeat(numbers, numbers)
    if ends == 2:
        return each, np.stack([1 - u, u], axis=1)
    v = number * 0.6180339887498949 % 1.0  # the golden section lies evenly next to equal steps
    root = np.sqrt(u)
    return each, np.stack([1 - root, root * (1 - v), root * v], axis=1)


def _shades(corners: np.ndarray) -> np.ndarray:
    """Return the lightness of each face by its direction, from `_DARKEST` to 1; both sides look the same."""
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(across, axis=1)
    facing = np.abs(across @ _LIGHT) / np.where(length > 0, length, 1.0)
    return _DARKEST + (1 - _DARKEST) * np.nan_to_num(facing)
