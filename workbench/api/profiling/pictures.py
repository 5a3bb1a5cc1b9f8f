"""The pictures of a profile: a roofline with the launch as a dot, and the warps that a multiprocessor holds.

Each is plain shapes (`Drawing`): a widget draws them in the page's colours, and `svg` in colours for light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from itertools import pairwise

import msgspec

from workbench.api.profiling.bound import SCHEDULERS, Bound
from workbench.api.profiling.warp import Access
from workbench.backends.ptx.counters import Counts
from workbench.runtime.launching.occupancy import Occupancy

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


WIDTH, HEIGHT = 430, 250
LANE = 20
"""Pixels of a lane."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 24, 30, 46
Scale = Callable[[float], float]
"""A number's place in pixels."""
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


class Roof(msgspec.Struct, frozen=True):
    """The data of a roofline; work is operations on floats, or warp instructions of a launch that has none.

    Attributes:
        work: of the launch.
        unit: of work.
        peak: the most work per second of the GPU, and what that is called.
        bandwidth: bytes per second.
        traffic: bytes of all sectors, and of the distinct ones.
        rate: the most work per second of this launch, by the limit that it meets first.
        ceiling: the most work per second if memory were no limit, and the name of the limit then.
    """

    work: int
    unit: str
    peak: tuple[float, str]
    bandwidth: float
    traffic: tuple[int, int]
    rate: float
    ceiling: tuple[float, str]


def roof_of(total: Counts, touched: int, limit: Bound) -> Roof:
    """Return the roofline of a launch on the GPU of its bound (Williams, Waterman, Patterson, CACM 52(4), 2009)."""
    rates = limit.rates
    issue = SCHEDULERS * rates.units * rates.clock
    work, unit, peak = total.flops, "FLOP", (rates.fp32, "float32, fused multiply-add")
    if not work:
        work, unit, peak = total.instructions, "instructions", (issue, "issue of warp instructions")
    others = {name: cycles for name, cycles in limit.cycles.items() if name != "memory"}
    worst = max(others, key=lambda name: others[name])
    traffic = 32 * total.global_sectors, 32 * min(touched, total.global_sectors)
    rate = work * rates.clock / limit.cycles[limit.by]
    return Roof(work, unit, peak, rates.bandwidth, traffic, rate, (work * rates.clock / others[worst], worst))


def roofline(total: Counts, touched: int, limit: Bound) -> Drawing:
    """Draw the roofline of a launch: work per byte to the right, what rates allow upwards, on logarithmic axes.

    Args:
        total: the counts of the launch.
        touched: distinct sectors of global memory.
        limit: what bounds it.
    """
    roof = roof_of(total, touched, limit)
    all_bytes, least = roof.traffic
    ridge = roof.peak[0] / roof.bandwidth
    known = [ridge, *(roof.work / n for n in roof.traffic if n)]
    low, high = math.floor(math.log10(min(known)) - 0.3), math.ceil(math.log10(max(known)) + 0.5)
    top = math.ceil(math.log10(roof.peak[0]) + 0.1)
    bottom = math.floor(min(math.log10(roof.rate), math.log10(roof.ceiling[0]), low + math.log10(roof.bandwidth)))

    def x(value: float) -> float:
        return round(_LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - _LEFT - _RIGHT), 1)

    def y(value: float) -> float:
        return round(HEIGHT - _BOTTOM - (math.log10(value) - bottom) / (top - bottom) * (HEIGHT - _TOP - _BOTTOM), 1)

    left, right = x(10.0**low), x(10.0**high)
    shapes = [Shape("text", "strong", (8, 15), f"roofline on {limit.gpu}: arithmetic on counts, nothing measured")]
    shapes += _axes(low, high, bottom, top, x, y, roof.unit)
    start = max(10.0**low, 10.0**bottom / roof.bandwidth)
    shapes.append(Shape("line", "roof", (x(start), y(start * roof.bandwidth), x(ridge), y(roof.peak[0])), "memory"))
    shapes.append(Shape("line", "roof", (x(ridge), y(roof.peak[0]), right, y(roof.peak[0])), roof.peak[1]))
    shapes.append(Shape("text", "ink", (right, y(roof.peak[0]) - 5), roof.peak[1], "end"))
    ceiling, name = roof.ceiling
    if ceiling < roof.peak[0]:
        near = y(ceiling) - y(roof.peak[0]) < 20
        shapes.append(Shape("line", "ceiling", (left, y(ceiling), right, y(ceiling)), f"its {name}"))
        shapes.append(Shape("text", "ink", (right, y(ceiling) + (13 if near else -5)), f"its {name}", "end"))
    if all_bytes:
        if least < all_bytes:
            best = min(roof.bandwidth * roof.work / least, ceiling)
            tooltip = f"if each sector came from memory once: {_si(best)}{roof.unit}/s at the most"
            shapes.append(Shape("dot", "ring", (x(roof.work / least), y(best), 5), tooltip))
        tooltip = f"{roof.work / all_bytes:.3g} {roof.unit} per byte; {_si(roof.rate)}{roof.unit}/s at the most"
        shapes.append(Shape("dot", "dot", (x(roof.work / all_bytes), y(roof.rate), 5), tooltip))
    else:
        shapes.append(Shape("dot", "dot", (right - 6, y(roof.rate), 5), "no traffic of global memory"))
    return Drawing(_caption(roof, limit), WIDTH, HEIGHT, tuple(shapes))


def _axes(low: int, high: int, bottom: int, top: int, x: Scale, y: Scale, unit: str) -> list[Shape]:
    """Return the grid lines and labels of a roofline; limits are powers of ten, `x` and `y` map values to positions."""
    shapes = list[Shape]()
    across, up = max(1, (high - low) // 5), max(1, (top - bottom) // 5)
    for power in range(low, high + 1):
        shapes.append(Shape("line", "rule", (x(10.0**power), y(10.0**bottom), x(10.0**power), y(10.0**top))))
        if (power - low) % across == 0:
            shapes.append(Shape("text", "ink", (x(10.0**power), HEIGHT - _BOTTOM + 15), f"{10.0**power:g}", "middle"))
    for power in range(bottom, top + 1):
        shapes.append(Shape("line", "rule", (x(10.0**low), y(10.0**power), x(10.0**high), y(10.0**power))))
        if (power - bottom) % up == 0:
            shapes.append(Shape("text", "ink", (_LEFT - 6, y(10.0**power) + 4), _si(10.0**power), "end"))
    shapes.append(Shape("text", "ink", (WIDTH - _RIGHT, HEIGHT - 12), f"{unit} per byte of sectors", "end"))
    shapes.append(Shape("text", "ink", (8, HEIGHT - 12), f"up: {unit}/s"))
    return shapes


def _caption(roof: Roof, limit: Bound) -> str:
    """Return the sentence on what a roofline shows: work per byte, attainable and peak rate, and what limits it."""
    all_bytes, least = roof.traffic
    at = f"{roof.work / all_bytes:.3g} {roof.unit} per byte" if all_bytes else "no traffic of global memory"
    once = f"; {roof.work / least:.3g} if each sector came from memory once" if 0 < least < all_bytes else ""
    return (
        f"Roofline on {limit.gpu}, from counts and published rates: {at}{once}; at the most "
        f"{_si(roof.rate)}{roof.unit}/s of {_si(roof.peak[0])}{roof.unit}/s, limited by {limit.by}."
    )


def _si(value: float) -> str:
    """Return a number with three digits and the prefix of a unit: "1.23 G"."""
    unit, name = next(((u, n) for u, n in _PREFIXES if value >= u), (1.0, ""))
    return f"{value / unit:.3g} {name}"


def occupied(fits: Occupancy) -> Drawing:
    """Draw the warps that a multiprocessor can hold and those that are taken, and how many blocks each limit allows."""
    row, side = 16, 17
    rows = fits.slots // row
    taken = fits.blocks * fits.warps
    shapes = [Shape("text", "strong", (8, 15), f"occupancy {fits.share:.0%}: {taken} of {fits.slots} warps")]
    for slot in range(fits.slots):
        block = slot // fits.warps
        look = "free" if slot >= taken else "taken" if block % 2 == 0 else "other"
        at = (8 + side * (slot % row), 26 + side * (slot // row), side - 2, side - 2)
        shapes.append(
            Shape("rect", look, at, "free" if slot >= taken else f"warp {slot % fits.warps} of block {block}")
        )
    y, most = 26 + side * rows + 20, max(fits.limits.values())
    for name, blocks in fits.limits.items():
        limiting = blocks == fits.blocks
        shapes.append(Shape("text", "strong" if limiting else "ink", (104, y + 10), name, "end"))
        long = max(2.0, round(170 * blocks / most, 1))
        shapes.append(
            Shape("rect", "worst" if limiting else "free", (112, y + 1, long, 11), f"{name}: {blocks} blocks")
        )
        label = f"{blocks} {'block' if blocks == 1 else 'blocks'}{' – the limit' if limiting else ''}"
        shapes.append(Shape("text", "strong" if limiting else "ink", (118 + long, y + 10), label))
        y += 19
    label = ", ".join(f"{name} {blocks}" for name, blocks in fits.limits.items())
    title = (
        f"Occupancy {fits.share:.0%}: {fits.blocks} blocks of {fits.warps} warps in a multiprocessor for {fits.slots}; "
        f"blocks that each limit allows: {label}."
    )
    return Drawing(title, WIDTH, y + 6, tuple(shapes))


def lanes_of(access: Access) -> Drawing:
    """Draw a warp's 32 lanes above the sectors of global, or the banks of shared memory, that an access touches."""
    shapes = [Shape("text", "strong", (8, 15), access.summary)]
    centres = [8 + LANE * lane + LANE / 2 for lane in range(len(access.at))]
    for lane, at in enumerate(access.at):
        tooltip = f"lane {lane}: {'does not take part' if at < 0 else f'byte {at:,}'}"
        shapes.append(Shape("rect", "taken" if at >= 0 else "free", (8 + LANE * lane, 26, LANE - 2, LANE - 2), tooltip))
    width = LANE * len(access.at)
    draw = _sectors if access.space == "global" else _banks
    boxes, ends = draw(access, width)
    rays = [
        Shape("line", "ray", (x, 26 + LANE - 2, ends[at], 92))
        for x, at in zip(centres, access.at, strict=True)
        if at >= 0
    ]
    height = max([140, *(round(b.at[1] + b.at[3]) + 22 for b in boxes if b.kind == "rect")])
    return Drawing(f"A warp: {access.summary}.", width + 16, height, (*shapes, *rays, *boxes))


def _sectors(access: Access, width: float) -> tuple[list[Shape], dict[int, float]]:
    """Draw a box per sector, with gaps where some are left out; also return the x of each lane's first byte."""
    touched = sorted({at // 32 for at in access.at if at >= 0})
    gaps = sum(b != a + 1 for a, b in pairwise(touched))
    each = min(80.0, (width - 6 * gaps) / max(len(touched), 1))
    shapes, ends, x = list[Shape](), dict[int, float](), 8.0
    for n, sector in enumerate(touched):
        if n and sector != touched[n - 1] + 1:
            x += 6
        shapes.append(
            Shape(
                "rect",
                "free",
                (round(x, 1), 92, round(each - 2, 1), 16),
                f"bytes {32 * sector:,} to {32 * sector + 31:,}",
            )
        )
        for at in {at for at in access.at if at // 32 == sector and at >= 0}:
            left = x + (at % 32) / 32 * (each - 2)
            ends[at] = round(left + (each - 2) * min(access.size, 32) / 64, 1)
            shapes.append(
                Shape(
                    "rect",
                    "taken",
                    (round(left, 1), 92, max(1.0, round((each - 2) * min(access.size, 32) / 32 - 0.5, 1)), 16),
                )
            )
        x += each
    count = len(touched)
    legend = f"{count} {'sector' if count == 1 else 'sectors'} of 32 bytes; blue: what the lanes use"
    return [*shapes, Shape("text", "ink", (8, 124), legend)], ends


def _banks(access: Access, width: float) -> tuple[list[Shape], dict[int, float]]:
    """Draw a column per bank with a box per word; also return the x of the bank of each lane's first byte."""
    words: dict[int, set[int]] = {}
    for at in access.at:
        for word in range(at // 4, at // 4 + max(1, access.size // 4)) if at >= 0 else ():
            words.setdefault(word % 32, set()).add(word)
    shapes, ends = list[Shape](), {at: round(8 + LANE * (at // 4 % 32) + LANE / 2, 1) for at in access.at if at >= 0}
    tall = 16 if max(map(len, words.values()), default=1) <= 4 else 4
    for bank in range(32):
        held = sorted(words.get(bank, ()))
        x = 8 + LANE * bank
        if not held:
            shapes.append(Shape("rect", "free", (x, 92, LANE - 2, 16), f"bank {bank}"))
        for k, word in enumerate(held):
            look = "worst" if len(held) > 1 and access.cost > access.least else "taken"
            shapes.append(Shape("rect", look, (x, 92 + tall * k, LANE - 2, tall - 1), f"bank {bank}: word {word:,}"))
    low = max(16, tall * max(map(len, words.values()), default=1))
    return [
        *shapes,
        Shape("text", "ink", (8, 92 + low + 16), "32 banks of shared memory; a box for each word that is touched"),
    ], ends
