"""The view of what the threads of a launch did: the grid, the arrays, and each block step by step."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from kernel_ext.views import html
from workbench.inspect import Access, Drawing, Shape, Threads

DRAWN = 1024
"""Threads up to which the static picture has a square for each; above, one for each warp."""
BLOCKS = 256
"""Blocks of the static picture."""
_LOOKS = ("taken", "other", "free", "past")


class WarpRow(msgspec.Struct, frozen=True):
    """Represents the steps of one warp.

    Attributes:
        block, warp: its numbers.
        kinds: a digit per lane: 0 wrote, 1 only read, 2 touched no array, 3 past the end.
        dark: a mask of the lanes that were inactive in a step of their warp.
        steps: as JSON, so that a saved notebook has one line of it: the index of a line, a mask of active lanes, 1 if
            it ends at a barrier, and accesses: indices of a phrase and of an array (-1: shared memory, or none of the
            launch's), then where each lane begins: a first byte, the bytes between lanes and a mask of lanes, or a list
            with -1 for a lane that takes no part. Masks are signed.
    """

    block: int
    warp: int
    kinds: str
    dark: int
    steps: str


class Phrase(msgspec.Struct, frozen=True):
    """Represents accesses of one kind: a phrase, "read", "write" or "atomic", in "global" or "shared" memory.

    `size` is bytes per lane, `wasteful` whether they cost more than the least that they could.
    """

    said: str
    kind: str
    space: str
    size: int
    wasteful: bool


class ThreadsView(msgspec.Struct, frozen=True):
    """Represents what the threads of one launch did, for a widget.

    Attributes:
        title, said, notes: in words.
        dim, grid, block: of the launch, of the grid in blocks, of a block in threads.
        by_thread: whether `tid()` numbers threads; not in CUDA C++ and kernels of tiles.
        first, total: the first block that was followed, and how many there are.
        lines: a number, a text and the name of its source if that is not the kernel's own.
        phrases: descriptions of accesses.
        arrays: a name, a shape, bytes per element and strides.
        warps: of the blocks that were followed.
    """

    title: str
    said: str
    notes: tuple[str, ...]
    dim: tuple[int, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    by_thread: bool
    first: int
    total: int
    lines: tuple[tuple[int, str, str], ...]
    phrases: tuple[Phrase, ...]
    arrays: tuple[tuple[str, tuple[int, ...], int, tuple[int, ...]], ...]
    warps: tuple[WarpRow, ...]


def threads_view(threads: Threads) -> ThreadsView:
    """Return the view of a launch's threads."""
    making = _Making(threads)
    warps = tuple(making.warp(block, warp) for block, warp in threads.warps)
    lines = sorted(making.lines.items(), key=lambda item: item[1])
    return ThreadsView(
        threads.title, str(threads).split("\n")[0].split(": ", 1)[1], tuple(threads.notes), threads.dim, threads.grid,
        threads.block, threads.by_thread, threads.first, math.prod(threads.grid),
        tuple((number, making.texts[number, where], where) for (number, where), _ in lines), tuple(making.phrases),
        tuple((a.name, a.shape, a.itemsize, a.strides) for a in threads.arrays), warps,
    )  # fmt: skip


class _Making:
    """Makes rows of warps, and collects the lines and phrases that they refer to by number, each once."""

    def __init__(self, threads: Threads) -> None:
        """Begin with the lines of the kernel's own source, and no phrases."""
        self.threads = threads
        self.texts = {(number, ""): text for number, text in threads.lines.items()}
        self.lines = {key: k for k, key in enumerate(self.texts)}
        self.arrays = {a.name: k for k, a in enumerate(threads.arrays)}
        self.phrases: dict[Phrase, int] = {}

    def warp(self, block: int, warp: int) -> WarpRow:
        """Return the row of a warp: its lanes' outcomes and divergence, and its steps as JSON."""
        kinds, dark = self.threads.outcomes(block, warp)
        steps: list[tuple[int, int, int, tuple[Any, ...]]] = []
        for step in self.threads.warps[block, warp]:
            key = step.number, step.where
            self.texts.setdefault(key, step.text)
            row = self.lines.setdefault(key, len(self.lines))
            steps.append((row, _short(step.mask), int(step.barrier), tuple(map(self._access, step.accesses))))
        return WarpRow(block, warp, "".join(map(str, kinds)), _short(dark), json.dumps(steps, separators=(",", ":")))

    def _access(self, access: Access) -> tuple[Any, ...]:
        """Return an access as numbers of its phrase and its array (-1: unknown), and where its lanes begin."""
        phrase = Phrase(access.summary, access.kind, access.space, access.size, access.cost > access.least)
        number = self.phrases.setdefault(phrase, len(self.phrases))
        return number, self.arrays.get(access.array, -1), *_lanes(access.at)


def _lanes(at: tuple[int, ...]) -> tuple[Any, ...]:
    """Return where lanes begin: first byte, spacing and mask, if the active lanes are evenly spaced; else one list."""
    active = [lane for lane, byte in enumerate(at) if byte >= 0]
    if not active:
        return (list(at),)
    low = active[0]
    spacing = (at[active[-1]] - at[low]) // max(1, active[-1] - low)
    first = at[low] - low * spacing
    if any(at[lane] != first + lane * spacing for lane in active):
        return (list(at),)
    return first, spacing, _short(sum(1 << lane for lane in active))


def _short(mask: int) -> int:
    """Return a mask of 32 bits as a signed number: all lanes are -1, which is short as text."""
    return mask - (1 << 32) if mask >> 31 else mask


def threads_html(threads: Threads) -> str:
    """Format the launch as static HTML: in words, and the grid as a picture."""
    picture = grid_of(threads)
    lines = [html.line(text) for text in str(threads).split("\n")]
    lines.append(html.line("blue: wrote · light blue: only read · grey: touched no array · red: a warp that diverged"))
    return html.box(*lines, html.svg_image(picture.svg(), picture.title))


def grid_of(threads: Threads) -> Drawing:
    """Draw the grid: a square per thread, or per warp of larger launches; at most `BLOCKS` blocks side by side."""
    each = math.prod(threads.block)
    rows, single = -(-each // 32), threads.blocks * each <= DRAWN
    wide, high = (8 * 32, 8 * rows) if single else (9 * 8, 9 * -(-rows // 8))
    blocks = min(threads.blocks, BLOCKS)
    across = max(1, min(blocks, 640 // (wide + 12)))
    shapes: list[Shape] = []
    for k in range(blocks):
        left, top = (k % across) * (wide + 12), (k // across) * (high + 22)
        shapes.append(Shape("text", "ink", (left, top + 11), f"block {threads.first + k}"))
        for warp in range(rows):
            kinds, dark = threads.outcomes(threads.first + k, warp)
            if single:
                shapes += [
                    Shape("rect", _LOOKS[kind], (left + 8 * lane, top + 16 + 8 * warp, 7, 7))
                    for lane, kind in enumerate(kinds[: each - 32 * warp])
                ]
                continue
            box = (left + 9 * (warp % 8), top + 16 + 9 * (warp // 8), 8, 8)
            shapes.append(Shape("rect", "worst" if dark else _LOOKS[min(kinds)], box, f"warp {warp}"))
    return Drawing(f"The grid: {threads}", across * (wide + 12), -(-blocks // across) * (high + 22) + 4, tuple(shapes))


def threads_text(threads: Threads) -> str:
    """Format the launch in a few lines of ASCII."""
    return html.ascii_only(str(threads))
