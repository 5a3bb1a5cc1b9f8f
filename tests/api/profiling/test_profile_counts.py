"""`wb.profile` on kernels whose numbers are known by hand: the arithmetic stands beside each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

N = 1024
WARPS = N // 32

CELL = """
def copied(x: array[float], y: array[float]):
    i = tid()
    y[i] = x[i]

def strided(x: array[float], y: array[float], stride: int):
    i = tid()
    v = x[i * stride]
    y[i] = v

def shifted(x: array[float], y: array[float]):
    i = tid()
    v = x[i + 1]
    y[i] = v

def reversed_(x: array[float], y: array[float], n: int):
    i = tid()
    v = x[n - 1 - i]
    y[i] = v

def broadcast(x: array[float], y: array[float]):
    i = tid()
    v = x[0]
    y[i] = v

def gathered(k: array[int], x: array[float], y: array[float]):
    i = tid()
    at = k[i]
    v = x[at]
    y[i] = v

def halves(x: array[float16], y: array[float16]):
    i = tid()
    y[i] = x[i]

def doubles(x: array[float64], y: array[float64]):
    i = tid()
    y[i] = x[i] * 2.0

def points(p: array[vec3], y: array[float]):
    i = tid()
    v = p[i]
    y[i] = v[0] + v[1] + v[2]

def parity(x: array[float], y: array[float]):
    i = tid()
    if i % 2 == 0:
        y[i] = x[i]
    else:
        y[i] = -x[i]

def early(x: array[float], y: array[float]):
    i = tid()
    if x[i] > 0.5:
        return
    y[i] = x[i] * 3.0

def total(x: array[float], s: array[float]):
    i = tid()
    atomic_add(s, 0, x[i])

def numbered(x: array[float], s: array[float], order: array[float]):
    i = tid()
    order[i] = atomic_add(s, 0, x[i])

def histogram(k: array[int], h: array[int]):
    i = tid()
    atomic_add(h, k[i], 1)

def horner(x: array[float], y: array[float]):
    i = tid()
    v = x[i]
    y[i] = (v * 2.0 + 1.0) * v + 3.0

def transposed(x: array2d[float], y: array2d[float]):
    i, j = tid()
    y[j, i] = x[i, j]

def looped(x: array[float], y: array[float]):
    i = tid()
    s = 0.0
    for k in range(10):
        s = s + x[i * 10 + k]
    y[i] = s
"""


@pytest.fixture(scope="module")
def kernels() -> dict[str, Any]:
    return wb.build_cell(CELL, {"vec3": wb.types.vector(3, wb.types.float32)}, name="cell").kernels


def profile(kernels: dict[str, Any], name: str, *values: Any, dim: Any = N, **more: Any) -> wb.Profile:
    return wb.profile(kernels[name], dim, values, **more)


def line(p: wb.Profile, text: str) -> Any:
    """The counts of the one line with this text."""
    (found,) = [found for found in p.lines.values() if text in found.text]
    return found


def sectors(found: Any) -> tuple[int, int]:
    return found.global_sectors, found.global_sectors_least


def floats(*shape: int, dtype: Any = np.float32) -> wb.array:
    return wb.from_numpy(np.zeros(shape, dtype))


def test_unit_stride(kernels):
    # A warp reads 32 × 4 = 128 bytes: 4 sectors; it writes as many.
    p = profile(kernels, "copied", floats(N), floats(N))
    assert sectors(p.total) == (2 * 4 * WARPS, 2 * 4 * WARPS)
    assert p.total.bytes == 2 * 4 * N
    assert p.total.efficiency == 1.0 and p.total.threads == 32 * p.total.instructions
    assert p.total.flops == p.total.atomics == p.total.barriers == p.total.shared_wavefronts == 0
    assert p.findings == []


@pytest.mark.parametrize(("stride", "each"), [(1, 4), (2, 8), (3, 12), (4, 16), (8, 32), (32, 32)])
def test_strides(kernels, stride, each):
    # 32 elements `stride` × 4 bytes apart lie in min(32, 4 × stride) sectors; 4 would do.
    p = profile(kernels, "strided", floats(32 * N), floats(N), stride)
    assert sectors(line(p, "x[i * stride]")) == (each * WARPS, 4 * WARPS)
    assert sectors(line(p, "y[i] = v")) == (4 * WARPS, 4 * WARPS)


def test_advice_on_a_stride(kernels):
    p = profile(kernels, "strided", floats(32 * N), floats(N), 32)
    ((where, finding),) = p.findings
    assert where.text.strip() == "v = x[i * stride]"
    assert finding.text == ("stride 32: 8.0× the sectors needed; let neighbouring threads read neighbouring elements")


def test_a_shift_by_one_element(kernels):
    # 128 bytes from byte 4 on lie in 5 sectors.
    p = profile(kernels, "shifted", floats(N + 1), floats(N))
    assert sectors(line(p, "x[i + 1]")) == (5 * WARPS, 4 * WARPS)


def test_backwards(kernels):
    p = profile(kernels, "reversed_", floats(N), floats(N), N)
    assert sectors(line(p, "x[n - 1 - i]")) == (4 * WARPS, 4 * WARPS)


def test_broadcast(kernels):
    # All lanes read 4 bytes: one sector per warp; each lane asks for 4 bytes.
    p = profile(kernels, "broadcast", floats(1), floats(N))
    found = line(p, "x[0]")
    assert sectors(found) == (WARPS, WARPS)
    assert found.bytes == 4 * N


def test_a_scattered_gather(kernels):
    # Lane l of a warp reads element 8 × ((5 l) mod 32): all in sectors of their own.
    at = np.tile(8 * (5 * np.arange(32) % 32), WARPS).astype(np.int32)
    p = profile(kernels, "gathered", wb.from_numpy(at), floats(256), floats(N))
    assert sectors(line(p, "x[at]")) == (32 * WARPS, 4 * WARPS)
    assert "scattered addresses: 8.0×" in p.findings[0][1].text


def test_halves_and_doubles(kernels):
    # 32 × 2 bytes are 2 sectors, 32 × 8 are 8.
    half, double = np.dtype("float16"), np.dtype("float64")
    p = profile(kernels, "halves", floats(N, dtype=half), floats(N, dtype=half))
    assert sectors(p.total) == (2 * 2 * WARPS, 2 * 2 * WARPS)
    p = profile(kernels, "doubles", floats(N, dtype=double), floats(N, dtype=double))
    assert sectors(p.total) == (2 * 8 * WARPS, 2 * 8 * WARPS)
    assert p.total.flops == N


def test_an_array_of_vec3(kernels):
    # Three loads, each over 32 × 12 = 384 bytes: 12 sectors for 128 bytes. Two additions per thread.
    vec3 = wb.types.vector(3, wb.types.float32)
    p = profile(kernels, "points", wb.zeros(N, vec3), floats(N))
    reads = sectors(p.total)[0] - 4 * WARPS, sectors(p.total)[1] - 4 * WARPS
    assert reads == (3 * 12 * WARPS, 3 * 4 * WARPS)
    assert p.total.flops == 2 * N
    assert any("an array of its own" in f.text for _, f in p.findings)


def test_a_transpose(kernels):
    # Over 64 × 64, threads along a row: reads of 4 sectors, writes 64 × 4 bytes apart, 32 sectors.
    p = profile(kernels, "transposed", floats(64, 64), floats(64, 64), dim=(64, 64))
    warps = 64 * 64 // 32
    assert sectors(p.total) == ((4 + 32) * warps, (4 + 4) * warps)


def test_parity_halves_the_lanes(kernels):
    p = profile(kernels, "parity", floats(N), floats(N))
    assert line(p, "y[i] = -x[i]").efficiency == 0.5
    # 16 lanes write every second element: 64 bytes, 2 sectors' worth, in 4 sectors. NVRTC 13 reads before it branches,
    # NVRTC 12.9 on each side, 16 lanes again.
    sides = 2 if line(p, "y[i] = -x[i]").bytes == 4 * N else 1
    for text in ("y[i] = x[i]", "y[i] = -x[i]"):
        assert line(p, text).bytes == sides * 4 * N // 2
        assert sectors(line(p, text)) == (sides * 4 * WARPS, sides * 2 * WARPS)
    assert sectors(p.total) == ((2 + sides) * 4 * WARPS, 2 * 4 * WARPS)
    texts = [f.text for _, f in p.findings]
    assert "gaps left by idle lanes: 2.0× the sectors needed; let the threads of a warp take the same branch" in texts
    assert "16.0 of 32 lanes active; let the threads of a warp take the same branch" in texts


def test_an_early_return(kernels):
    # Every fourth thread goes on: 8 of 32 lanes.
    x = np.ones(N, np.float32)
    x[::4] = 0
    p = profile(kernels, "early", wb.from_numpy(x), floats(N))
    found = line(p, "y[i] = x[i] * 3.0")
    assert found.efficiency == 0.25
    assert found.flops == N // 4


def test_a_last_warp_that_is_not_full(kernels):
    # 1000 = 31 × 32 + 8 threads in 4 blocks of 256: 32 warps run the body, in 1000 lanes; all 1024 return.
    p = profile(kernels, "copied", floats(1000), floats(1000), dim=1000)
    body = line(p, "y[i] = x[i]")
    assert body.threads == (body.instructions // 32 - 1) * 1000 + 1024
    assert sectors(p.total) == (2 * 125, 2 * 125)
    assert p.total.bytes == 8000


def test_a_sum_into_one_element(kernels):
    # A block of 256 threads changes memory once; its 8 warps meet for the flag and for their sums.
    p = profile(kernels, "total", floats(N), floats(1))
    assert (p.total.atomics, p.total.atomic_conflicts, p.total.barriers) == (N // 256, 0, 2 * WARPS)


def test_atomics_on_one_element(kernels):
    # What was there is used, so each thread has to ask: 31 of a warp's 32 lanes find that another has the address.
    p = profile(kernels, "numbered", floats(N), floats(1), floats(N))
    assert (p.total.atomics, p.total.atomic_conflicts) == (N, 31 * WARPS)
    assert p.bound is not None and p.bound.by == "atomics" and p.bound.cycles["atomics"] == N
    assert any("32.0 lanes of a warp update the same element" in f.text for _, f in p.findings)


def test_a_histogram_of_eight_bins(kernels):
    # Each warp has 4 lanes on each of 8 counters, which are one sector.
    k = wb.from_numpy((np.arange(N) % 8).astype(np.int32))
    p = profile(kernels, "histogram", k, floats(8, dtype=np.int32))
    assert (p.total.atomics, p.total.atomic_conflicts) == (N, 24 * WARPS)
    assert sectors(line(p, "atomic_add")) == ((4 + 1) * WARPS, (4 + 1) * WARPS)
    assert p.bound is not None and p.bound.cycles["atomics"] == N // 8


def test_floating_point_operations(kernels):
    # Two multiplications and two additions; nothing is contracted.
    assert profile(kernels, "horner", floats(N), floats(N)).total.flops == 4 * N


def test_a_loop(kernels):
    # 10 reads per thread, 40 bytes apart: 32 × 40 = 1280 bytes; each lane in a sector of its own.
    p = profile(kernels, "looped", floats(10 * N), floats(N))
    found = line(p, "s = s + x[i * 10 + k]")
    assert sectors(found) == (10 * 32 * WARPS, 10 * 4 * WARPS)
    assert found.flops == 10 * N


TILES = """
def product(a: array2d[float16], b: array2d[float16], c: array2d[float32]):
    x = tile_load(a, shape=(64, 32))
    y = tile_load(b, shape=(32, 64))
    sums = tile_zeros(shape=(64, 64), dtype=float32)
    tile_matmul(x, y, sums)
    tile_store(c, sums)
"""


def test_tiles_of_halves():
    # 64 × 64 × 32 products in mma instructions, 2 operations each; 4096 + 4096 bytes in, 16384 out.
    kernel = wb.build_cell(TILES, {}, name="tiles").kernels["product"]
    half = np.dtype("float16")
    values = [floats(64, 32, dtype=half), floats(32, 64, dtype=half), floats(64, 64)]
    p = wb.profile(kernel, 1, values, tiled=True, block_dim=128)
    assert p.total.flops == 2 * 64 * 64 * 32
    assert p.total.bytes == 4096 + 4096 + 16384
    assert p.total.global_sectors_least == p.total.bytes // 32
    assert p.total.barriers >= 4 and p.total.shared_wavefronts >= p.total.shared_wavefronts_least > 0


def test_adjoint(kernels):
    # The adjoint of y[i] = 2 x[i] reads and clears adj_y, and reads, adds to and writes adj_x: 16 bytes of 4 kinds.
    double = np.dtype("float64")
    values = [floats(N, dtype=double), floats(N, dtype=double)]
    p = profile(kernels, "doubles", *values, adjoint=True)
    assert p.direction == "adjoint"
    assert p.total.efficiency == 1.0
    assert sectors(p.total)[0] == sectors(p.total)[1] >= 4 * 8 * WARPS
    assert p.lines.keys() <= set(range(1, 80))
