"""Frames of a program: a step runs when its frame is requested, and frames are kept, so going back runs nothing.

All frames make a film: a GIF, written by Pillow, or an MP4, written by FFmpeg.
"""

from __future__ import annotations

import inspect as signatures
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

import workbench as wb
from kernel_ext.refusal import Refusal
from kernel_ext.views import html
from kernel_ext.views.arrays.array_fallback import array_html, array_text, pixels
from kernel_ext.views.arrays.array_view import ArrayView, unpacked, with_range
from kernel_ext.views.arrays.points_view import PointsView, points_html, points_text, scattered
from workbench.errors import WorkbenchError

Picture = ArrayView | PointsView
MOST_FRAMES = 10_000


class AnimationView(msgspec.Struct, frozen=True):
    """Represents a frame of an animation.

    Attributes:
        title: what moves.
        frames: how many there can be.
        frame: the number of this one, from 0: before the first step.
        kept: how many frames are stored.
        fps: frames per second when it plays.
        seconds: how long the last step took; None: no step has run here, frames are stored ones.
        said: what went wrong in it; empty if nothing did.
        picture: the frame.
        others: pictures next to it.
    """

    title: str
    frames: int
    frame: int
    kept: int
    fps: float
    seconds: float | None
    said: str
    picture: Picture
    others: tuple[Picture, ...] = ()

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All pictures of the frame."""
        return (self.picture, *self.others)


class Animation:
    """Represents a step of a program and the frames that it has made.

    Attributes:
        step: what makes the next frame, as it was given.
        watch: the array that is drawn, or a list of what is.
        options: of what draws it.
        fixed: whether the range of colours is given.
        colours: the name of the colour map; empty: chosen by the range.
        view: the frame that is shown.
    """

    def __init__(
        self, step: Any, draw: Callable[[], tuple[Picture, ...]], title: str, frames: int, fps: float,
        options: Mapping[str, Any], watch: Any = None,
    ) -> None:  # fmt: skip
        """Check the numbers and draw frame 0; without a `range` in `options`, the colours' grows with the frames.

        Raises:
            Refusal: `step` is nothing that can run, or a number is out of range.
        """
        if not (isinstance(frames, int) and 1 < frames <= MOST_FRAMES):
            raise Refusal(f"frames takes a number from 2 to {MOST_FRAMES:,}; it got {frames!r}")
        if not 0 < fps <= 120:
            raise Refusal(f"fps takes frames per second, to 120; it got {fps!r}")
        self.step, self.watch, self.options = step, watch, options
        self.fixed, self.colours = bool(options.get("range")), str(options.get("colours") or "")
        self._step, self._draw = runner(step), draw
        self._lock = threading.Lock()
        self._pictures = [draw()]
        first, *others = self._pictures[0]
        self.view = AnimationView(title, frames, 0, 1, fps, None, "", first, tuple(others))

    def frame(self, number: int) -> AnimationView:
        """Show a frame and return it; steps that have not run yet run now.

        A number out of range means the nearest frame. If a step fails, the frame before it is returned, with the error
        in `said`.
        """
        with self._lock:
            number = max(0, min(number, self.view.frames - 1))
            problem, spent = "", self.view.seconds
            while len(self._pictures) <= number and not problem:
                started = time.perf_counter()
                try:
                    self._step(len(self._pictures))
                    wb.synchronize()
                    self._pictures.append(self._drawn())
                except WorkbenchError as error:
                    problem = error.message
                spent = time.perf_counter() - started
            number = min(number, len(self._pictures) - 1)
            first, *others = self._pictures[number]
            self.view = replace(self.view, frame=number, kept=len(self._pictures), seconds=spent, said=problem,
                                picture=first, others=tuple(others))  # fmt: skip
            return self.view

    def _drawn(self) -> tuple[Picture, ...]:
        """Return the pictures of what is watched now, with colours over the range of all frames so far."""
        return tuple(map(self._with_range, self._draw(), self._pictures[-1]))

    def _with_range(self, picture: Picture, before: Picture) -> Picture:
        """Return a picture with colours over the range of all frames so far: a colour means the same number in each.

        Points, and pictures with a range that was given, are returned as they are.
        """
        if self.fixed or isinstance(picture, PointsView) or isinstance(before, PointsView):
            return picture
        return with_range(picture, min(picture.low, before.low), max(picture.high, before.high), self.colours)


class Reel:
    """Holds frames of a loop that runs by itself: at most so many and so large, thinned evenly, to be looked through.

    Attributes:
        view: the frame that is shown; None before the first.
    """

    MOST, LARGEST = 200, 20_000_000
    """The largest number of frames, and of bytes of them all."""

    def __init__(self) -> None:
        """Make a reel without frames."""
        self._frames: list[AnimationView] = []
        self._every, self._seen = 1, 0
        self.view: AnimationView | None = None

    def add(self, title: str, pictures: Sequence[Picture], last: bool = False) -> AnimationView:
        """Show a frame, and store it if its turn has come or it is the last; return it with its number."""
        first, *others = pictures
        frame = AnimationView(title, 2, 0, 0, 20.0, None, "", first, tuple(others))
        if last or self._seen % self._every == 0:
            self._frames.append(frame)
            while len(self._frames) > self.MOST or sum(map(_bytes, self._frames)) > self.LARGEST:
                self._frames, self._every = self._frames[::2], 2 * self._every
                if len(self._frames) == 1:
                    break
        self._seen += 1
        count = len(self._frames)
        self.view = replace(frame, frames=max(2, count), frame=count - 1, kept=count)
        return self.view

    def frame(self, number: int) -> AnimationView:
        """Show the stored frame of this number, or the nearest one there is, and return it."""
        count = len(self._frames)
        number = max(0, min(number, count - 1))
        self.view = replace(self._frames[number], frames=max(2, count), frame=number, kept=count)
        return self.view


def _bytes(frame: AnimationView) -> int:
    """Return the number of bytes of a frame's pictures."""
    size = 0
    for picture in frame.pictures:
        if isinstance(picture, PointsView):
            size += len(picture.places) + len(picture.colours)
        else:
            size += sum(len(part.low) + len(part.high) for part in picture.parts)
    return size


def runner(step: Any) -> Callable[[int], Any]:
    """Return the function that makes the next frame, from a function, a stored launch, a graph or a record.

    Raises:
        Refusal: it is none of these.
    """
    if isinstance(step, wb.Launch | wb.Graph):
        return lambda _: step.launch()
    if isinstance(step, wb.Recorder):
        return lambda _: step.replay()
    if isinstance(step, wb.Kernel) or not callable(step):
        raise Refusal(
            "animate() takes a function that makes the next frame, a graph, a record, or a launch made with "
            f"record_cmd=True; it got {type(step).__name__!r}"
        )
    try:
        required = [p for p in signatures.signature(step).parameters.values() if p.default is p.empty]
        numbered = any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in required)
    except (TypeError, ValueError):
        numbered = False
    return step if numbered else lambda _: step()


def animation_text(view: AnimationView) -> str:
    """Format an animation as ASCII: a line on it, and the text of its frame."""
    drawn = (points_text(p) if isinstance(p, PointsView) else array_text(p) for p in view.pictures)
    return html.ascii_only("\n".join([_headline(view), *drawn]))


def animation_html(view: AnimationView) -> str:
    """Format an animation as static HTML: its frame, and a line that says what it needs to play."""
    drawn = (points_html(p) if isinstance(p, PointsView) else array_html(p) for p in view.pictures)
    return html.box(html.line(_headline(view)), html.line("it plays with the notebook's kernel"), *drawn)


def _headline(view: AnimationView) -> str:
    """Return the line above an animation: its title, and which frame of how many is shown."""
    return f"{view.title}: frame {view.frame} of {view.frames}"


_INK, _GROUND, _WIDE, _TALL = (43, 123, 186), (255, 255, 255), 480, 180


def write_film(path: str, animation: Animation, fps: float, scale: int) -> str:
    """Run all frames of an animation and write them to a file; return a sentence on it.

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
    """Return the function that writes a file of this name; its package is looked for before any step runs.

    Raises:
        Refusal: the name ends in neither .gif nor .mp4, or the package is not installed.
    """
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
    """Write the images to `path` as a GIF that loops without end; `fps` is rounded to milliseconds per frame."""
    from PIL import Image

    first, *rest = map(Image.fromarray, images)
    first.save(path, "GIF", save_all=True, append_images=rest, duration=round(1000 / fps), loop=0)


def _write_mp4(path: str, images: list[np.ndarray], fps: float) -> None:
    """Write the images to `path` as an MP4 with FFmpeg; odd heights and widths get one row or column more.

    Raises:
        OSError: `path` cannot be written, or FFmpeg refuses the film.
    """
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
    """Return pictures side by side, shorter ones filled up with white below."""
    tall = max(image.shape[0] for image in images)
    padded = [np.pad(i, ((0, tall - i.shape[0]), (0, 0), (0, 0)), constant_values=255) for i in images]
    return np.concatenate(padded, axis=1)


def _drawn(picture: Picture) -> Any:
    """Return a picture as `uint8[rows, columns, 3]`: images of components side by side, lines one below the other.

    Raises:
        Refusal: the array has no elements.
    """
    if not isinstance(picture, ArrayView):
        return scattered(picture)[:, :, :3]
    if not picture.parts:
        raise Refusal("an array without elements has no picture")
    if picture.parts[0].kind == "line":
        return np.concatenate([_line(unpacked(p.low), unpacked(p.high), picture) for p in picture.parts])
    return np.concatenate([pixels(part, picture) for part in picture.parts], axis=1)


def _line(low: np.ndarray, high: np.ndarray, view: ArrayView) -> np.ndarray:
    """Return a plot of the midpoints of each column's lowest and highest value, as `uint8[rows, columns, 3]`."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (_WIDE, _TALL), _GROUND)
    across = np.linspace(4, _WIDE - 4, low.size)
    span = (view.high - view.low) or 1.0
    middle = (low + high) / 2
    down = _TALL - 6 - (_TALL - 12) * (middle - view.low) / span
    points = [(float(x), float(y)) for x, y in zip(across, down, strict=True) if np.isfinite(y)]
    ImageDraw.Draw(image).line(points, fill=_INK, width=2)
    return np.asarray(image)
