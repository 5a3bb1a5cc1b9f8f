"""The data of an array's picture, and its colours.

A picture is a line or an image, a histogram, and counts of elements that are not finite. Arrays are reduced here to
what a screen can show (1,024 columns of a line, each with its lowest and highest value; 256 by 256 points of an image),
so a view stays small however large the array is. NaN and infinities are counted, not drawn. RGB colours are one
picture, and so are complex numbers: the hue is the phase, the brightness the square root of the magnitude. A line of
complex numbers is two lines, of the real and the imaginary parts.

A colour map is a few evenly spaced colours, between which the browser and the static fallback blend.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

import workbench as wb
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


COLUMNS, SIDE, BINS, PARTS = 1024, 256, 40, 4
SIZES = (8, 1024)
"""The least and the largest `size` of a picture."""
_BRIGHT = 0.99
"""The share of complex numbers that are not as bright as can be."""
FEW, LISTED = 24, 200
"""Elements of an array whose values are shown before its picture, and of one whose values are listed in full."""


class PartView(msgspec.Struct, frozen=True):
    """Represents a component of the elements, reduced to what a picture shows.

    Attributes:
        name: of the component; empty for scalars.
        kind: "line", "image" or "rgb".
        rows, columns: points of the picture; a line has one row.
        low, high: little-endian float32: the lowest and highest finite value of each point; NaN where it has none. An
            image has its mean in `low`, colours theirs as uint8[rows, columns, 3]; `high` is empty, or has the
            means of complex numbers, float32[rows, columns, 2].
        bad: points (row-major) that hold a NaN or an infinity.
    """

    name: str
    kind: str
    rows: int
    columns: int
    low: bytes
    high: bytes
    bad: tuple[int, ...]


class HistogramView(msgspec.Struct, frozen=True):
    """Represents counts of finite values in bins of equal width from `low` to `high`."""

    counts: tuple[int, ...]
    low: float
    high: float


class ArrayView(msgspec.Struct, frozen=True):
    """Represents the view of one array.

    Attributes:
        name: what people call it.
        kind: dtype, shape and device in one phrase.
        shape: of the part that is drawn: one or two dimensions.
        at: indices of the leading dimensions that are not drawn, one each.
        sizes: the lengths of those dimensions.
        parts: one a component, at most four.
        histogram: of all elements; None if none is finite.
        facts: names and values, ready to read: smallest, largest, mean, NaN and where the first is.
        low, high: the range of colours and of the axis.
        stops: the colour map, evenly spaced colours from the least to the largest value.
        span: the values at both its ends.
        values: the elements as NumPy prints them, the middle of a large array left out; of structs a table.
        few: whether the values are shown before the picture: there are few of them, or they are structs.
        fields: of an array of structs: those that can be drawn, `a.b` of one inside another.
        field: the one that is drawn.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    at: tuple[int, ...]
    sizes: tuple[int, ...]
    parts: tuple[PartView, ...]
    histogram: HistogramView | None
    facts: tuple[tuple[str, str], ...]
    low: float
    high: float
    stops: Stops
    span: tuple[float, float]
    values: str = ""
    few: bool = False
    fields: tuple[str, ...] = ()
    field: str = ""


class Look(msgspec.Struct, frozen=True):
    """Represents options of drawing an array.

    Attributes:
        rgb: draw three components as one picture in colours; None: if `vec3` have values from 0 to 1 only.
        colours: the colour map; empty: chosen by the range.
        range: the values at the ends of the colours and of the axis; None: those of the array.
        size: points of the longer side of an image.
        values_first: show the values before the picture, if there are few.
        field: of an array of structs, the field to draw; empty: the first.
    """

    rgb: bool | None = None
    colours: str = ""
    range: tuple[float, float] | None = None
    size: int = SIDE
    values_first: bool = False
    field: str = ""


def array_view(value: Any, name: str = "array", at: tuple[int, ...] = (), look: Look | None = None) -> ArrayView:
    """Return the view of a Workbench, NumPy, JAX or PyTorch array of numbers.

    Args:
        value: the array; of a Workbench array of vectors or matrices each component is one picture, four at most.
        name: what to call it.
        at: indices of the leading dimensions if there are more than two; zeros if not given.
        look: colours, range, size.

    Raises:
        Refusal: it is not an array of numbers, or `at` or the look does not fit.
    """
    look = _checked(look or Look())
    elements, ndim = _on_host(value, structs=True)
    fields = _fields(elements.dtype)
    host, field = _of_field(elements, fields, look.field)
    if look.rgb and ndim == host.ndim and ndim > 2 and host.shape[-1] in (3, 4):
        ndim -= 1  # NumPy's way: the colours are the last dimension
    phases = host.dtype.kind == "c"
    numbers = np.stack([np.real(host), np.imag(host)], axis=-1) if phases else host
    inner = int(np.prod(numbers.shape[ndim:], dtype=int))
    components = numbers.reshape((*host.shape[:ndim], inner))
    leading = components.shape[: max(0, ndim - 2)]
    index = at or (0,) * len(leading)
    if len(index) != len(leading) or any(not 0 <= k < n for k, n in zip(index, leading, strict=True)):
        raise Refusal(f"at takes one index for each of the dimensions {leading}; it got {at}")
    shown = np.asarray(components, dtype=np.float64)
    drawn = shown[index]
    phases &= drawn.ndim == 3
    shown = np.hypot(shown[..., ::2], shown[..., 1::2]) if phases else shown
    clear = np.isfinite(shown)
    finite = shown.reshape(-1) if clear.all() else shown[clear]
    low, high = ends = _range(finite)
    names = _names(inner, host.dtype.kind == "c")
    coloured = look.rgb if look.rgb is not None else inner == 3 and drawn.ndim == 3 and _are_colours(shown, finite)
    if not drawn.size:
        parts: tuple[PartView, ...] = ()
    elif phases:
        low, high = look.range or (0.0, _bright(finite))
        pairs = [drawn[..., 2 * k : 2 * k + 2] for k in range(min(inner // 2, PARTS))]
        parts = tuple(
            replace(_phases(pair, high or 1.0, look.size), name=n)
            for n, pair in zip(_names(inner // 2, False), pairs, strict=False)
        )
    elif coloured:
        low, high = look.range or (0.0, 255.0 if host.dtype.kind in "iu" else 1.0)
        parts = (_colours(drawn, low, high, look.size),)
    else:
        low, high = look.range or (low, high)
        parts = tuple(_part(drawn[..., k], names[k], look.size) for k in range(min(inner, PARTS)))
    return ArrayView(
        name, _kind(value, elements, ndim) + (field and f" · {field}"), drawn.shape[:-1], tuple(index), leading, parts,
        _histogram(finite, *ends), _facts(shown, finite, shown.shape[-1], *ends), low, high,
        *map_of(look.colours, low, high), _table(elements, fields) if fields else _values(host),
        bool(fields) or (look.values_first and components.size <= FEW), fields, field,
    )  # fmt: skip


def with_range(view: ArrayView, low: float, high: float, colours: str = "") -> ArrayView:
    """Return the same picture with other values at the ends of its colours and of its axis."""
    stops, span = map_of(colours, low, high)
    return replace(view, low=low, high=high, stops=stops, span=span)


class Slices:
    """Draws other slices and fields of an array on request, as long as something else holds the array.

    A view outlives its cell in the shell's outputs and in the page, and would keep the memory.
    """

    def __init__(self, value: Any, view: ArrayView, look: Look) -> None:
        """Attach to the array `value`, of which `view` is shown first; the array is held weakly."""
        self._view, self._look, self._at = view, look, view.at
        try:
            self._held: Callable[[], Any] = weakref.ref(value)
        except TypeError:  # of no size to speak of: a list, say
            self._held = lambda: value

    def __call__(self, at: tuple[int, ...], field: str = "") -> ArrayView:
        """Choose other leading indices, or another field, and return the view of them; `draw` keeps to the choice.

        If the array is gone, return the view that was shown first, with a note that says so.
        """
        array = self._held()
        if array is None:
            return replace(self._view, kind="the array is gone; give it a name to look at the rest of it")
        self._at, self._look = at, replace(self._look, field=field or self._look.field)
        return self.draw(array)

    def draw(self, array: Any) -> ArrayView:
        """Return the view of the chosen slice and field of the array as it is now."""
        return array_view(array, self._view.name, self._at, self._look)


def _checked(look: Look) -> Look:
    """Return the look with its range as two floats.

    Raises:
        Refusal: the range, the size or the name of the colours is not valid.
    """
    if look.range is not None:
        try:
            low, high = map(float, look.range)
        except (TypeError, ValueError):
            raise Refusal(f"range takes (low, high); it got {look.range!r}") from None
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise Refusal(f"range takes (low, high) with low < high; it got {look.range!r}")
        look = replace(look, range=(low, high))
    if not isinstance(look.size, int) or not SIZES[0] <= look.size <= SIZES[1]:
        raise Refusal(f"size takes the points of the longer side, {SIZES[0]} to {SIZES[1]}; it got {look.size!r}")
    map_of(look.colours, 0.0, 1.0)
    return look


def _range(finite: np.ndarray) -> tuple[float, float]:
    """Return the smallest and largest of finite values; (0, 0) if there are none."""
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def _are_colours(shown: np.ndarray, finite: np.ndarray) -> bool:
    """Return whether values can be colours as they are: there are some, and all are finite and between 0 and 1."""
    low, high = _range(finite)
    return finite.size == shown.size > 0 and low >= 0.0 and high <= 1.0


def _values(host: np.ndarray) -> str:
    """Return the elements as NumPy prints them, the middle left out of more than `LISTED`."""
    return np.array2string(host, threshold=LISTED, edgeitems=3, precision=5, max_line_width=88)


def _colours(values: np.ndarray, low: float, high: float, size: int) -> PartView:
    """Return a picture of the first three components as red, green and blue, from `low` (none) to `high` (full).

    Raises:
        Refusal: there are fewer than three, or it is no picture.
    """
    if values.ndim != 3 or values.shape[-1] < 3:
        raise Refusal(
            "rgb=True takes a picture with three components: vec3[rows, columns], or shape (rows, columns, 3)"
        )
    means, bad = zip(*(_image(values[..., k], size) for k in range(3)), strict=True)
    shares = np.clip((np.nan_to_num(np.stack(means, axis=-1)) - low) / (high - low), 0.0, 1.0)
    packed = (shares * 255.0 + 0.5).astype(np.uint8).tobytes()
    rows, columns = means[0].shape
    return PartView("", "rgb", rows, columns, packed, b"", tuple(sorted({k for each in bad for k in each})))


def _names(inner: int, is_complex: bool) -> tuple[str, ...]:
    """Return the names of the numbers of an element: x, y, z and w of up to four, else their numbers in brackets."""
    if is_complex:
        return tuple(f"{n}.{part}".lstrip(".") for n in _names(inner // 2, False) for part in ("real", "imag"))
    return ("",) if inner == 1 else tuple("xyzw"[:inner]) if inner <= 4 else tuple(f"[{k}]" for k in range(inner))


def _bright(sizes: np.ndarray) -> float:
    """Return the magnitude above which complex numbers are fully bright, so that a pole does not darken the rest."""
    return float(np.partition(sizes, at := int(_BRIGHT * (sizes.size - 1)))[at]) if sizes.size else 0.0


def _phases(drawn: np.ndarray, high: float, size: int) -> PartView:
    """Return the picture of complex numbers, which also holds their real and imaginary parts for reading values off."""
    numbers = np.stack([_image(drawn[..., k], size)[0] for k in range(2)], axis=-1)
    return replace(_colours(_hues(drawn, high), 0.0, 1.0, size), high=_packed(numbers))


def _hues(parts: np.ndarray, high: float) -> np.ndarray:
    """Colour complex numbers: the hue is the phase (red at 0), the brightness the root of the magnitude / `high`."""
    x, y = parts[..., :1], parts[..., 1:]
    positions = (
        np.array([5.0, 3.0, 1.0]) + np.arctan2(y, x) * (3.0 / np.pi)
    ) % 6.0  # of red, green, blue on the circle
    dark = np.clip(np.minimum(positions, 4.0 - positions), 0.0, 1.0)
    return np.sqrt(np.minimum(np.hypot(x, y) / high, 1.0)) * (1.0 - dark)


def _fields(dtype: np.dtype) -> tuple[str, ...]:
    """Return the fields of a struct that can be drawn; those of a struct inside it as `a.b`."""
    return tuple(
        name + ("." + inner if inner else "")
        for name in dtype.names or ()
        for inner in _fields(dtype[name].base) or ("",)
        if dtype[name].base.kind in "fiubcV"
    )


def _of_field(host: np.ndarray, fields: tuple[str, ...], field: str) -> tuple[np.ndarray, str]:
    """Return the numbers of a field (the first if none is named) and its name; an array without fields itself.

    Raises:
        Refusal: there is no such field.
    """
    if field and field not in fields:
        wanted = f"takes one of {', '.join(fields)}" if fields else "is for arrays of structs"
        raise Refusal(f"field {wanted}; it got {field!r}")
    field = field or (*fields, "")[0]
    for name in filter(None, field.split(".")):
        host = host[name]
    return host, field


def _table(host: np.ndarray, fields: tuple[str, ...]) -> str:
    """Format an array of structs as a table: a row for each element, the middle of many left out."""
    rows = host.reshape(-1)
    listed = range(len(rows)) if len(rows) <= FEW else (*range(FEW - 3), -1, *range(len(rows) - 3, len(rows)))

    def cell(element: Any, field: str) -> str:
        for name in field.split("."):
            element = element[name]
        return " ".join(np.array2string(np.asarray(element), precision=5, separator=", ").split())

    def row(k: int) -> list[str]:
        index = ", ".join(map(str, np.unravel_index(k, host.shape)))
        return [f"[{index}]", *(cell(rows[k], field) for field in fields)]

    table = [["", *fields], *(row(k) if k >= 0 else ["…", *("" for _ in fields)] for k in listed)]
    wide = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join("  ".join(map(str.ljust, cells, wide)).rstrip() for cells in table)


def _on_host(value: Any, structs: bool = False) -> tuple[np.ndarray, int]:
    """Return the elements in host memory, and how many of the dimensions are the array's own, not its components'.

    Raises:
        Refusal: they are no numbers, or structs, unless `structs` allows those.
    """
    host = value.numpy() if isinstance(value, wb.array) else np.asarray(value)
    if host.dtype.names and not structs:
        fields = ", ".join(host.dtype.names)
        raise Refusal(
            f"this is an array of structs; take one field: array.field({host.dtype.names[0]!r}) of {fields}; the array "
            "itself on a cell's last line is a table of them"
        )
    if host.dtype.kind not in "fiubc" and not (structs and _fields(host.dtype)):
        raise Refusal(f"an array of {host.dtype} has no picture; it takes an array of numbers")
    ndim = value.ndim if isinstance(value, wb.array) else host.ndim
    return (host, ndim) if ndim else (host.reshape(1), 1)


def _kind(value: Any, host: np.ndarray, ndim: int) -> str:
    """Return dtype, shape (the first `ndim` dimensions) and, of a Workbench array, the device: `vec3[2 × 3] on cpu`."""
    plain = "struct" if host.dtype.names else str(host.dtype)
    dtype = getattr(value.dtype, "name", str(value.dtype)) if isinstance(value, wb.array) else plain
    device = f" on {value.device}" if isinstance(value, wb.array) else ""
    return f"{dtype}[{' × '.join(map(str, host.shape[:ndim]))}]{device}"


def _facts(
    components: np.ndarray, finite: np.ndarray, inner: int, low: float, high: float
) -> tuple[tuple[str, str], ...]:
    """Return names and values, ready to read: range, mean and deviation, zeros, and how many NaN and infinities where.

    Args:
        components: all numbers, the components of an element last.
        finite: the finite ones, in one dimension.
        inner: the number of components; an index names the component if there are several.
        low, high: the smallest and largest finite value.
    """

    def where(mask: np.ndarray) -> str:
        index = np.unravel_index(int(np.argmax(mask)), mask.shape)
        shown = index if inner > 1 else index[:-1]
        return f"{int(mask.sum())}, the first at [{', '.join(str(int(k)) for k in shown)}]"

    sums = []
    if finite.size:
        sums = [
            ("smallest", low),
            ("largest", high),
            ("mean", finite.mean()),
            ("deviation", finite.std()),
        ]
    rows = [(name, f"{number:.6g}") for name, number in sums]
    rows += [("zeros", str(finite.size - np.count_nonzero(finite)))] if finite.size else []
    for name, mask in (("NaN", np.isnan), ("infinite", np.isinf)):
        if finite.size < components.size and (bad := mask(components)).any():
            rows.append((name, where(bad)))
    return tuple(rows)


def _histogram(finite: np.ndarray, low: float, high: float) -> HistogramView | None:
    """Return the histogram of finite values, with one bin if all are equal; None if there are none."""
    if not finite.size:
        return None
    if low == high:
        return HistogramView((int(finite.size),), low, high)
    counts, _ = np.histogram(finite, BINS, (low, high))
    return HistogramView(tuple(int(c) for c in counts), low, high)


def _part(values: np.ndarray, name: str, size: int = SIDE) -> PartView:
    """Return the picture of numbers: of one dimension a line, of two an image of at most `size` points a side."""
    if values.ndim == 1:
        low, high, bad = _line(values)
        return PartView(name, "line", 1, low.size, _packed(low), _packed(high), bad)
    mean, bad = _image(values, size)
    rows, columns = mean.shape
    return PartView(name, "image", rows, columns, _packed(mean), b"", bad)


def _line(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Return the lowest and highest finite value of each column, and the columns with a NaN or an infinity."""
    edges = _edges(values.size, COLUMNS)
    clear = np.isfinite(values)
    low = np.fmin.reduceat(np.where(clear, values, np.nan), edges)
    high = np.fmax.reduceat(np.where(clear, values, np.nan), edges)
    return low, high, _true(np.logical_or.reduceat(~clear, edges))


def _image(values: np.ndarray, size: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return the mean of the finite values of each block, and the blocks with a NaN or an infinity."""
    rows, columns = values.shape
    shrink = max(1.0, max(rows, columns) / size)  # the same both ways: a circle stays one
    clear = np.isfinite(values)
    if shrink == 1.0:  # each value is its own block; the sums would take half the time of a slider's move
        return np.where(clear, values, np.nan), _true(~clear)
    down, across = _edges(rows, math.ceil(rows / shrink)), _edges(columns, math.ceil(columns / shrink))

    def blocks(what: np.ndarray) -> np.ndarray:
        return np.add.reduceat(np.add.reduceat(what, down, axis=0), across, axis=1)

    count = blocks(clear.astype(np.float64))
    mean = np.divide(blocks(np.where(clear, values, 0.0)), count, out=np.full(count.shape, np.nan), where=count > 0)
    return mean, _true(blocks((~clear).astype(np.int64)) > 0)


def _edges(length: int, most: int) -> np.ndarray:
    """Return the first indices of at most `most` nearly equal parts of `length` elements."""
    count = min(length, most)
    return (np.arange(count) * length) // count


def _true(mask: np.ndarray) -> tuple[int, ...]:
    """Return the flat indices at which the mask is true."""
    return tuple(int(k) for k in np.flatnonzero(mask))


def _packed(values: np.ndarray) -> bytes:
    """Return the numbers as bytes of little-endian float32, row by row."""
    return np.ascontiguousarray(values, "<f4").tobytes()


def unpacked(data: bytes) -> np.ndarray:
    """Return the numbers of a part's `low` or `high`, which are little-endian float32."""
    return np.frombuffer(data, "<f4")
