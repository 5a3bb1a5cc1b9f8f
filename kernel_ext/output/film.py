"""An animation as a GIF, written by Pillow, or as an MP4, written by FFmpeg."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kernel_ext.refusal import Refusal
from kernel_ext.views.arrays.animation import Animation, Picture
from kernel_ext.views.arrays.array_fallback import pixels
from kernel_ext.views.arrays.array_view import ArrayView, unpacked
from kernel_ext.views.arrays.points_view import scattered

_INK, _GROUND, _WIDE, _TALL = (43, 123, 186), (255, 255, 255), 480, 180


def write_film(path: str, animation: Animation, fps: float, scale: int) -> str:
    """Run all frames of an animation and write them; returns what was written.

    Raises:
        Refusal: the name ends in neither .gif nor .mp4, what writes it is not installed, a step fails, or the file
            cannot be written.
    """
    write = _writer(path)
    images = []
    for number in range(animation.view.frames):
        view = animation.frame(number)
        if view.said:
            raise Refusal(f"frame {number} cannot be made: {view.said}")
        images.append(np.repeat(np.repeat(_beside([_drawn(p) for p in view.pictures]), scale, axis=0), scale, axis=1))
    try:
        write(path, images, fps)
    except OSError as error:
        raise Refusal(f"{path} cannot be written ({error.strerror or error})") from None
    return f"wrote {len(images)} frames to {path}, {Path(path).stat().st_size / 1000:,.1f} kB"


def _writer(path: str) -> Callable[[str, list[np.ndarray], float], None]:
    """Return the function that writes such a file: its package is looked for before any step runs."""
    suffix = Path(path).suffix.lower()
    if suffix == ".gif":
        try:
            import PIL  # noqa: F401
        except ImportError:
            raise Refusal("a GIF is written by Pillow: pip install pillow") from None
        return _write_gif
    if suffix == ".mp4":
        try:
            import imageio_ffmpeg  # noqa: F401  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise Refusal("an MP4 is written by FFmpeg: pip install imageio-ffmpeg") from None
        return _write_mp4
    raise Refusal(f"save() takes the name of a .gif or an .mp4 file; it got {str(path)!r}")


def _write_gif(path: str, images: list[np.ndarray], fps: float) -> None:
    from PIL import Image

    first, *rest = map(Image.fromarray, images)
    first.save(path, "GIF", save_all=True, append_images=rest, duration=round(1000 / fps), loop=0)


def _write_mp4(path: str, images: list[np.ndarray], fps: float) -> None:
    from imageio_ffmpeg import write_frames  # pyright: ignore[reportMissingImports]  # an extra

    Path(path).write_bytes(b"")  # FFmpeg's own answer to a folder that is not there is a broken pipe
    height, width = (size + size % 2 for size in images[0].shape[:2])  # H.264 halves the resolution of colours
    film = write_frames(path, (width, height), fps=fps, macro_block_size=1)
    film.send(None)
    for image in images:
        film.send(np.pad(image, ((0, height - image.shape[0]), (0, width - image.shape[1]), (0, 0)), "edge").tobytes())
    film.close()
    if not Path(path).stat().st_size:
        raise OSError("FFmpeg refused it")


def _beside(images: list[np.ndarray]) -> np.ndarray:
    """Return pictures side by side, the lower ones on white."""
    tall = max(image.shape[0] for image in images)
    padded = [np.pad(i, ((0, tall - i.shape[0]), (0, 0), (0, 0)), constant_values=255) for i in images]
    return np.concatenate(padded, axis=1)


def _drawn(picture: Picture) -> Any:
    """Return a frame as `uint8[rows, columns, 3]`; components stand side by side."""
    if not isinstance(picture, ArrayView):
        return scattered(picture)[:, :, :3]
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
