"""The first warp step by step: which lanes are active, what each access touches, and the pictures drawn of it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.api.profiling import warp
from workbench.api.profiling.pictures import lanes_of, occupied, roof_of, roofline
from workbench.api.profiling.warp import Access

N = 256
CELL = """
def strided(x: array[float], y: array[float], stride: int):
    i = tid()
    v = x[i * stride]
    y[i] = v

def parity(x: array[float], y: array[float]):
    i = tid()
    if i % 2 == 0:
        y[i] = sin(x[i])
    else:
        y[i] = exp(x[i])

def numbered(x: array[float], s: array[float], order: array[float]):
    i = tid()
    order[i] = atomic_add(s, 0, x[i])

def looped(x: array[float], y: array[float], n: int):
    i = tid()
    s = 0.0
    for k in range(n):
        s = s + x[i]
    y[i] = s
"""
ALL = (1 << 32) - 1


@pytest.fixture(scope="module")
def kernels() -> dict[str, Any]:
    return wb.build_cell(CELL, {}, name="cell").kernels


def steps(p: wb.Profile, text: str) -> list[Any]:
    return [step for step in p.warp if text in step.text]


def test_each_access_is_that_of_its_lanes(kernels):
    p = wb.profile(kernels["strided"], N, [wb.zeros(8 * N), wb.zeros(N), 8])
    (read,), (written,) = steps(p, "x[i * stride]"), steps(p, "y[i] = v")
    (access,) = read.accesses
    assert access == Access("read", "global", "x", 4, tuple(32 * lane for lane in range(32)))
    assert (access.sectors, access.least) == (32, 4) and read.mask == ALL
    assert written.accesses == (Access("write", "global", "y", 4, tuple(4 * lane for lane in range(32))),)
    assert p.worst_access == (read, access)
    assert access.summary == "32 of 32 lanes: each reads 4 bytes of x, 32 sectors where 4 would do"


def test_a_view_begins_at_its_own_first_element(kernels):
    x = wb.zeros(2 * N)
    p = wb.profile(kernels["strided"], N, [x[N:], wb.zeros(N), 1])
    assert steps(p, "x[i * stride]")[0].accesses[0].at[:2] == (0, 4)


def test_lanes_go_dark_in_turn(kernels):
    p = wb.profile(kernels["parity"], N, [wb.zeros(N), wb.zeros(N)])
    even = {step.mask for step in steps(p, "sin(x[i])")}
    odd = {step.mask for step in steps(p, "exp(x[i])")}
    assert 0x55555555 in even and 0xAAAAAAAA in odd and not even & odd
    (written,) = [a for step in steps(p, "exp(x[i])") for a in step.accesses if a.kind == "write"]
    assert [at >= 0 for at in written.at] == [lane % 2 == 1 for lane in range(32)]


def test_threads_past_the_end_are_dark(kernels):
    p = wb.profile(kernels["numbered"], 5, [wb.zeros(5), wb.zeros(1), wb.zeros(5)])
    (update,) = [a for step in p.warp for a in step.accesses if a.kind == "atomic"]
    assert update.array == "s" and update.at == (0,) * 5 + (-1,) * 27


def test_a_long_warp_is_shown_from_its_beginning(kernels):
    p = wb.profile(kernels["looped"], N, [wb.ones(N), wb.zeros(N), 10_000])
    assert len(p.warp) == warp.STEPS and not p.warp_ends
    assert wb.profile(kernels["looped"], N, [wb.ones(N), wb.zeros(N), 3]).warp_ends


def test_what_is_watched_is_what_is_counted(kernels):
    # One warp: what it touches step by step comes to what the counters say.
    for name, values in (("strided", [wb.zeros(128), wb.zeros(32), 3]), ("parity", [wb.zeros(32), wb.zeros(32)])):
        p = wb.profile(kernels[name], 32, values, block_dim=32)
        accesses = [a for step in p.warp for a in step.accesses]
        assert sum(a.sectors for a in accesses) == p.total.global_sectors
        assert sum(a.least for a in accesses) == p.total.global_sectors_least


@pytest.mark.parametrize(
    ("size", "step", "waves", "least"),
    [(4, 4, 1, 1), (4, 8, 2, 1), (4, 128, 32, 1), (8, 8, 2, 2), (16, 16, 4, 4), (1, 1, 1, 1)],
)  # fmt: skip
def test_wavefronts_of_an_access(size, step, waves, least):
    access = Access("read", "shared", "", size, tuple(step * lane for lane in range(32)))
    assert (access.wavefronts, access.least) == (waves, least)


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    """Where rectangles and circles of a picture are: left, top, right, bottom."""
    found = []
    for node in ET.fromstring(svg):
        a = {k: float(v) for k, v in node.attrib.items() if k in ("x", "y", "width", "height", "cx", "cy", "r")}
        if node.tag.endswith("rect"):
            found.append((a["x"], a["y"], a["x"] + a["width"], a["y"] + a["height"]))
        elif node.tag.endswith("circle"):
            found.append((a["cx"] - a["r"], a["cy"] - a["r"], a["cx"] + a["r"], a["cy"] + a["r"]))
    return found


def test_pictures_stay_within_their_ground(kernels):
    x = wb.from_numpy(np.zeros(8 * N, np.float32))
    for name, values in (("strided", [x, wb.zeros(N), 8]), ("numbered", [x, wb.zeros(1), wb.zeros(N)])):
        p = wb.profile(kernels[name], N, values)
        assert p.worst_access is not None
        for picture in (*p.drawings(), lanes_of(p.worst_access[1])):
            assert boxes(picture.svg()) and picture.title
            for left, top, right, bottom in boxes(picture.svg()):
                assert 0 <= left < right <= picture.width and 0 <= top < bottom <= picture.height


def test_the_roofline_s_numbers(kernels):
    # No operations on floats: instructions per byte of (32 + 4) sectors per warp.
    p = wb.profile(kernels["strided"], N, [wb.zeros(8 * N), wb.zeros(N), 8])
    assert p.bound is not None
    roof = roof_of(p.total, p.touched, p.bound)
    assert (roof.work, roof.unit) == (p.total.instructions, "instructions")
    assert roof.traffic == (32 * 36 * 8, 32 * 36 * 8)
    assert roof.peak[0] == 4 * 132 * 1.98e9 and roof.bandwidth == 3350e9
    # Bound by memory, the rate is on the roof: work per byte times bandwidth.
    assert roof.rate == pytest.approx(roof.work / roof.traffic[0] * roof.bandwidth)
    assert "nothing measured" in roofline(p.total, p.touched, p.bound).shapes[0].text


def test_a_slot_per_warp(kernels):
    p = wb.profile(kernels["strided"], N, [wb.zeros(N), wb.zeros(N), 1], arch="sm_86", block_dim=64)
    shapes = occupied(p.fits).shapes
    slots = [shape for shape in shapes if shape.kind == "rect" and "blocks" not in shape.text]
    assert len(slots) == 48 and sum(shape.look == "free" for shape in slots) == 48 - 32
    assert "16 blocks – the limit" in [shape.text for shape in shapes]
