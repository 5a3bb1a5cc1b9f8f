"""Arrays as picture data and static fallbacks: reduced to a screen's size, with what is wrong counted and marked."""

from __future__ import annotations

import base64
import re
import struct
import zlib

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.refusal import Refusal
from kernel_ext.views.arrays.array_fallback import array_html, array_text
from kernel_ext.views.arrays.array_view import array_view, blend, map_of, unpacked


def test_a_short_line_is_itself() -> None:
    view = array_view(np.array([1.0, -2.0, 3.5]), "y")
    (part,) = view.parts
    assert (part.kind, part.rows, part.columns, part.bad) == ("line", 1, 3, ())
    assert unpacked(part.low).tolist() == unpacked(part.high).tolist() == [1.0, -2.0, 3.5]
    assert (view.low, view.high, view.shape) == (-2.0, 3.5, (3,))
    assert view.histogram is not None and sum(view.histogram.counts) == 3


def test_a_long_line_keeps_each_spike_and_each_nan() -> None:
    values = np.zeros(1_000_000, np.float32)
    values[123_456], values[500_000] = 9.0, np.nan
    (part,) = array_view(values).parts
    assert part.columns == 1024
    assert np.nanmax(unpacked(part.high)) == 9.0, "the spike of one element is seen"
    assert part.bad == (500_000 * 1024 // 1_000_000,)


def test_an_image_is_reduced_to_means_and_stays_in_shape() -> None:
    values = np.add.outer(np.arange(1024.0), np.zeros(512))
    (part,) = array_view(values).parts
    assert (part.kind, part.rows, part.columns) == ("image", 256, 128)
    assert unpacked(part.low).reshape(256, 128)[1, 0] == pytest.approx(np.mean([4, 5, 6, 7]))
    small = np.where(values[:2, :3] > 0, values[:2, :3], np.inf)
    (part,) = array_view(small).parts
    assert (part.bad, part.high) == ((0, 1, 2), b"") and np.isnan(unpacked(part.low)[:3]).all()
    assert unpacked(part.low)[3:].tolist() == [1.0, 1.0, 1.0]


def test_what_is_no_number_is_counted_and_placed() -> None:
    values = np.ones((4, 5))
    values[2, 3], values[0, 1] = np.nan, -np.inf
    view = array_view(values)
    facts = dict(view.facts)
    assert facts["NaN"] == "1, the first at [2, 3]" and facts["infinite"] == "1, the first at [0, 1]"
    assert view.parts[0].bad == (1, 13) and (view.low, view.high) == (1.0, 1.0)
    assert "1 NaN" in array_text(view) and "!" in array_text(view)


def test_vectors_are_one_picture_a_component() -> None:
    points = wb.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=wb.vec3)
    view = array_view(points, "p")
    assert [p.name for p in view.parts] == ["x", "y", "z"]
    assert unpacked(view.parts[2].low).tolist() == [3.0, 6.0]
    assert view.kind == "vec3[2] on cpu"


def test_a_slice_of_more_dimensions_is_chosen() -> None:
    values = np.arange(24.0).reshape(2, 3, 4)
    assert unpacked(array_view(values).parts[0].low)[0] == 0.0
    chosen = array_view(values, at=(1,))
    assert unpacked(chosen.parts[0].low)[0] == 12.0 and chosen.sizes == (2,) and chosen.high == 23.0
    with pytest.raises(Refusal, match="one index for each"):
        array_view(values, at=(2,))


@pytest.mark.parametrize("value", [np.zeros(0), np.full(3, np.nan), np.float64(2.0), np.array([True, False])])
def test_empty_broken_and_single_values_are_shown(value: np.ndarray) -> None:
    shown = show.array(value, "v")
    assert shown.text.startswith("v: ") and "<div" in shown.html


@pytest.mark.parametrize("value", [np.array(["a"]), np.array([None])])
def test_what_has_no_picture_is_refused(value: np.ndarray) -> None:
    with pytest.raises(Refusal, match="no picture"):
        array_view(value)


def test_the_twin_s_image_is_a_png_of_the_values() -> None:
    page = array_html(array_view(np.array([[0.0, 1.0], [2.0, np.nan]]), "f"))
    data, _ = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    raw = base64.b64decode(data)
    assert raw[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", raw[16:24]) == (2, 2)
    start = raw.index(b"IDAT")
    (length,) = struct.unpack(">I", raw[start - 4 : start])
    rows = zlib.decompress(raw[start + 4 : start + 4 + length])
    assert rows[1:4] == bytes([68, 1, 84]) and rows[-3:] == bytes([255, 0, 200]), "the lowest colour, and NaN's mark"


def test_a_range_with_both_signs_is_white_at_zero() -> None:
    low, zero, high = blend(np.array([-1.0, 0.0, 3.0]), *map_of("", -1.0, 3.0))
    assert tuple(zero) == (247, 247, 247) and low[2] > low[0] and high[0] > high[2]


def test_an_image_says_what_its_colours_mean() -> None:
    html = array_html(array_view(np.array([[0.5, 2.0], [1.0, np.nan]])))
    assert re.search(r'<div>0.5 <img alt="colours from the smallest to the largest"[^>]*> 2</div>', html)
    assert "colours from" not in array_html(array_view(np.arange(3.0)))
    assert "colours from" not in array_html(array_view(np.full((2, 2), np.nan))), "no number has a colour"


def test_a_point_alone_is_a_dot_in_the_twin() -> None:
    (drawn,) = re.findall(r"svg\+xml;base64,([^\"]+)", array_html(array_view(np.array([1.0, np.nan, 2.0, 3.0]))))[:1]
    assert base64.b64decode(drawn).count(b"<circle") == 1
