"""An animation as a GIF, written by Pillow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kernel_ext.refusal import Refusal
from kernel_ext.views.arrays.animation import Animation, Picture
from kernel_ext.views.arrays.array_fallback import pixels
from kernel_ext.views.arrays.array_view import ArrayView, unpacked
from kernel_ext.views.arrays.points_view import scattered

_INK, _GROUND, _WIDE, _TALL = (43, 123, 186), (255, 255, 255), 480, 180


def write_gif(path: str, animation: Animation, fps: float, scale: int) -> str:
    """Run all frames of an animation and write them; returns what was written.

    Raises:
        Refusal: Pillow is not installed, a step fails, or the file cannot be written.
    """
    try:
        from PIL import Image
    except ImportError:
        raise Refusal("a GIF is written by Pillow: pip install pillow") from None
    images = []
    for number in range(animation.view.frames):
        view = animation.frame(number)
        if view.said:
            raise Refusal(f"frame {number} cannot be made: {view.said}")
        images.append(Image.fromarray(np.repeat(np.repeat(_drawn(view.picture), scale, axis=0), scale, axis=1)))
    try:
        images[0].save(path, "GIF", save_all=True, append_images=images[1:], duration=round(1000 / fps), loop=0)
    except OSError as error:
        raise Refusal(f"{path} cannot be written ({error.strerror})") from None
    return f"wrote {len(images)} frames to {path}, {Path(path).stat().st_size // 1000} kB"


def _drawn(picture: Picture) -> Any:
    """A frame as `uint8[rows, columns, 3]`; components stand side by side."""
    if not isinstance(picture, ArrayView):
        return scattered(picture)
    if not picture.parts:
        raise Refusal("an array without elements has no picture")
    if picture.parts[0].kind == "line":
        return np.concatenate([_line(unpacked(p.low), unpacked(p.high), picture) for p in picture.parts])
    return np.concatenate([pixels(part, picture) for part in picture.parts], axis=1)


def _line(low: np.ndarray, high: np.ndarray, view: ArrayView) -> np.ndarray:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (_WIDE, _TALL), _GROUND)
    across = np.linspace(4, _WIDE - 4, low.size)
    span = (view.high - view.low) or 1.0
    middle = (low + high) / 2
    down = _TALL - 6 - (_TALL - 12) * (middle - view.low) / span
    points = [(float(x), float(y)) for x, y in zip(across, down, strict=True) if np.isfinite(y)]
    ImageDraw.Draw(image).line(points, fill=_INK, width=2)
    return np.asarray(image)
