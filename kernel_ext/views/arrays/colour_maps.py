"""Colour maps: a few evenly spaced colours each, between which the browser and the static fallback blend."""

from __future__ import annotations

import numpy as np

from kernel_ext.refusal import Refusal

Stops = tuple[tuple[int, int, int], ...]
MAPS: dict[str, Stops] = {
    "viridis": ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)),
    "coolwarm": ((33, 102, 172), (146, 197, 222), (247, 247, 247), (244, 165, 130), (178, 24, 43)),
    "magma": ((0, 0, 4), (81, 18, 124), (183, 55, 121), (252, 137, 97), (252, 253, 191)),
    "gray": ((0, 0, 0), (255, 255, 255)),
}
"""The colour maps; "coolwarm" has white at zero."""


def map_of(name: str, low: float, high: float) -> tuple[Stops, tuple[float, float]]:
    """Return the colours of a map, and the values at both ends.

    Args:
        name: a map; "" is coolwarm if the range has both signs, else viridis.
        low, high: the range of the values.

    Raises:
        Refusal: there is no such map.
    """
    name = name or ("coolwarm" if low < 0 < high else "viridis")
    if name not in MAPS:
        raise Refusal(f"there is no colour map {name!r}; there is {', '.join(MAPS)}")
    most = max(abs(low), abs(high))
    return MAPS[name], (-most, most) if name == "coolwarm" else (low, high)


def blend(values: np.ndarray, stops: Stops, span: tuple[float, float]) -> np.ndarray:
    """Return the colours of values as `uint8[..., 3]`; values beyond `span` have the colour at its end.

    NaN has the first colour.
    """
    table = np.array(stops, float)
    share = np.clip((values - span[0]) / ((span[1] - span[0]) or 1.0), 0.0, 1.0)
    position = np.nan_to_num(share) * (len(table) - 1)
    first = np.minimum(position.astype(int), len(table) - 2)
    part = (position - first)[..., None]
    return (table[first] * (1 - part) + table[first + 1] * part).astype(np.uint8)
