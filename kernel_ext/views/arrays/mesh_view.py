"""Meshes and lines as points: so many, evenly laid over faces and along edges, that they close on a screen.

So they are drawn, turned, filmed and saved by what draws points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kernel_ext.refusal import Refusal
from kernel_ext.views.arrays.array_view import _on_host
from kernel_ext.views.arrays.points_view import PointsView, _coloured, points_view

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
        Refusal: as `mesh_view`, or there is no such option.
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
    host, _ = _on_host(value)
    if host.ndim < 2 or host.shape[-1] not in (2, 3):
        raise Refusal("a mesh takes points: an array of vec2 or vec3, or of shape (n, 2) or (n, 3)")
    points = host.reshape(-1, host.shape[-1]).astype(np.float64)
    return np.pad(points, ((0, 0), (0, 3 - points.shape[1])))


def _corners(corners: Any, ends: int) -> np.ndarray:
    host, _ = _on_host(corners)
    if host.dtype.kind not in "iu" or host.ndim < 1 or host.shape[-1] != ends:
        raise Refusal("faces takes the numbers of their corners, shape (n, 3); lines takes those of their ends, (n, 2)")
    return host.reshape(-1, host.shape[-1]).astype(np.int64)


def _laid_out(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the face or line of each point, drawn by area or length, and its shares of the corners."""
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
    v = number * 0.6180339887498949 % 1.0  # the golden section lies evenly beside equal steps
    root = np.sqrt(u)
    return each, np.stack([1 - root, root * (1 - v), root * v], axis=1)


def _shades(corners: np.ndarray) -> np.ndarray:
    """Return the lightness of each face, seen from both sides."""
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(across, axis=1)
    facing = np.abs(across @ _LIGHT) / np.where(length > 0, length, 1.0)
    return _DARKEST + (1 - _DARKEST) * np.nan_to_num(facing)
