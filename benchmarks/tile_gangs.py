"""Tiles on one core of the CPU against the same elements as threads.

Run: python benchmarks/tile_gangs.py [--write] [NAME...]. A row is one computation, once as a launch over threads and
once as tiles; both run in turn, by processor time, and the row has the least of several rounds.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

os.environ.setdefault("WORKBENCH_THREADS", "1")

import numpy as np

import workbench as wb
from benchmarks.measure import OURS, Row, Table, write

N = 1 << 18
ROUNDS = 15


@wb.func
def polynomial(x: float):
    """Straight code."""
    return ((x * 0.5 + 1.0) * x - 0.25) * x + 2.0


@wb.func
def wave(x: float):
    """Maths functions."""
    return wb.sin(x) * wb.exp(-x * x)


@wb.func
def mandelbrot(x: float):
    """A `while` that elements leave one by one."""
    re, im, n = 0.0, 0.0, 0
    while n < 64 and re * re + im * im < 4.0:
        re, im = re * re - im * im + x, 2.0 * re * im + 0.3
        n += 1
    return float(n)


@wb.func
def root(x: float):
    """A `for` with an early return."""
    r = 1.0 + abs(x)
    for _ in range(30):
        f = r * r * r - abs(x)
        if abs(f) < 1e-6:
            return r
        r -= f / (3.0 * r * r)
    return r


@wb.func
def collatz(x: float):
    """A `while` over integers."""
    n, steps = int(abs(x) * 100.0) + 1, 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return float(steps)


@wb.func
def sided(x: float):
    """Two long sides."""
    if x > 0.0:
        y = wb.exp(-x) * wb.sqrt(x + 1.0)
    else:
        y = wb.sin(x) + x * x
    return y


@wb.func
def asserted(x: float):
    """An assert that holds."""
    assert x < 1e6
    return wb.exp(-x * x)


@wb.func
def printed(x: float):
    """A print that does not happen."""
    if x > 1e6:
        print("far", x)
    return wb.exp(-x * x)


@wb.func
def table(x: float, t: wb.array[float]):
    """A gather."""
    i = int(abs(x) * 100.0) % 1000
    return t[i] + t[i + 1] * x


@wb.func
def larger(a: float, b: float):
    """A combination that builtins do not have."""
    return wb.where(abs(a) > abs(b), a, b)


def mapped(f: Any, tile: int, dtype: Any = float) -> tuple[Any, Any]:
    """Return a func of one element as a kernel over threads, and as one over tiles of so many elements."""

    @wb.kernel
    def threads(x: wb.array[dtype], y: wb.array[dtype]):
        i = wb.tid()
        y[i] = f(x[i])

    @wb.kernel
    def tiles(x: wb.array[dtype], y: wb.array[dtype]):
        i = wb.tid()
        wb.tile_store(y, wb.tile_map(f, wb.tile_load(x, shape=tile, offset=i * tile)), offset=i * tile)

    return threads, tiles


@wb.func
def plain(i: int):
    """A cast."""
    return float(i)


@wb.kernel
def gather_threads(x: wb.array[float], y: wb.array[float], t: wb.array[float]):
    """A gather: threads."""
    i = wb.tid()
    y[i] = table(x[i], t)


@wb.kernel
def gather_lanes(x: wb.array[float], y: wb.array[float], t: wb.array[float]):
    """A gather: tiles."""
    i = wb.tid()
    v = wb.untile(wb.tile(x[i]))
    y[i] = table(v, t)


@wb.kernel
def simt_threads(x: wb.array[float], y: wb.array[float]):
    """A line per thread, a tile between: threads."""
    i = wb.tid()
    y[i] = mandelbrot(x[i]) * 2.0


@wb.kernel
def simt_lanes(x: wb.array[float], y: wb.array[float]):
    """A line per thread, a tile between: tiles."""
    i = wb.tid()
    v = mandelbrot(x[i])
    w = wb.untile(wb.tile(v) * 2.0)
    y[i] = w


@wb.kernel
def largest_threads(x: wb.array2d[float], y: wb.array[float]):
    """The number of the largest size in a row: threads."""
    i = wb.tid()
    m = x[i, 0]
    for j in range(1, x.shape[1]):
        m = larger(m, x[i, j])
    y[i] = m


@wb.kernel
def largest_tiles(x: wb.array2d[float], y: wb.array[float]):
    """The number of the largest size in a row: tiles."""
    i = wb.tid()
    y[i] = wb.tile_reduce(larger, wb.tile_load(x[i], shape=256))[0]


@wb.kernel
def argmax_threads(x: wb.array2d[float], y: wb.array[float]):
    """Find where a row's largest number is, by threads."""
    i = wb.tid()
    m, at = x[i, 0], 0
    for j in range(1, x.shape[1]):
        if x[i, j] > m:
            m, at = x[i, j], j
    y[i] = float(at)


@wb.kernel
def argmax_tiles(x: wb.array2d[float], y: wb.array[float]):
    """Find where a row's largest number is, by tiles."""
    i = wb.tid()
    y[i] = float(wb.tile_argmax(wb.tile_load(x[i], shape=256))[0])


@wb.kernel
def column_argmax_tiles(x: wb.array2d[float], y: wb.array[float]):
    """Find where the largest number of each column of 16 is, by tiles."""
    i = wb.tid()
    t = wb.tile_load(x, shape=(16, 16), offset=(i // 16 * 16, i % 16 * 16))
    wb.tile_store(y, wb.tile_map(plain, wb.tile_argmax(t, axis=0)), offset=i * 16)


@wb.kernel
def column_argmax_threads(x: wb.array2d[float], y: wb.array[float]):
    """Find where the largest number of each column of 16 is, by threads."""
    i = wb.tid()
    b, c = i // 16, i % 16
    m, at = x[b // 16 * 16, b % 16 * 16 + c], 0
    for j in range(1, 16):
        v = x[b // 16 * 16 + j, b % 16 * 16 + c]
        if v > m:
            m, at = v, j
    y[i] = float(at)


@wb.kernel
def scan_threads(x: wb.array2d[float], y: wb.array2d[float]):
    """Running sums of a row: threads."""
    i = wb.tid()
    s = 0.0
    for j in range(x.shape[1]):
        s += x[i, j]
        y[i, j] = s


@wb.kernel
def scan_tiles(x: wb.array2d[float], y: wb.array2d[float]):
    """Running sums of a row: tiles."""
    i = wb.tid()
    wb.tile_store(y[i], wb.tile_scan_inclusive(wb.tile_load(x[i], shape=256)))


@wb.kernel
def border_threads(x: wb.array2d[float], y: wb.array2d[float]):
    """Two long sides, tiles that do not divide the array: threads."""
    i, j = wb.tid()
    y[i, j] = sided(x[i, j])


@wb.kernel
def border_tiles(x: wb.array2d[float], y: wb.array2d[float]):
    """Two long sides, tiles that do not divide the array: tiles."""
    i, j = wb.tid()
    t = wb.tile_load(x, shape=(30, 30), offset=(i * 30, j * 30))
    wb.tile_store(y, wb.tile_map(sided, t), offset=(i * 30, j * 30))


@wb.kernel
def sums_tiles(x: wb.array2d[float], y: wb.array[float]):
    """The sum of a row's iterations: tiles."""
    i = wb.tid()
    y[i] = wb.tile_sum(wb.tile_map(mandelbrot, wb.tile_load(x[i], shape=256)))


@wb.kernel
def sums_threads(x: wb.array2d[float], y: wb.array[float]):
    """The sum of a row's iterations: threads."""
    i, j = wb.tid()
    wb.atomic_add(y, i, mandelbrot(x[i, j]))


@wb.func
def spin(v: wb.vec3):
    """A vector, and a loop that elements leave."""
    n = 0
    while n < 40 and wb.dot(v, v) > 0.01:
        v = wb.vec3(v[1] * 0.9, v[2] * 0.8, v[0] * 0.7)
        n += 1
    return v


@wb.func
def collatz_int(x: int):
    """A `while` over integers."""
    n, steps = abs(x) + 1, 0
    while n != 1:
        n = wb.where(n % 2 == 0, n // 2, 3 * n + 1)
        steps += 1
    return steps


Launch = Callable[[], object]
FUNCS = (polynomial, wave, sided, mandelbrot, root, collatz, asserted, printed)


class Pair(NamedTuple):
    """A launch over threads and one of tiles, and the arrays of each."""

    threads: Launch
    tiles: Launch
    arrays: tuple[list[Any], list[Any]]


def pair(
    threads: Any, tiles: Any, dims: tuple[Any, Any], arrays: list[np.ndarray], flat: bool = False, **options: Any
) -> Pair:
    """Return the launches of two kernels on equal arrays; with `flat` that of tiles counts threads."""
    first, second = ([wb.array(a, dtype=wb.vec3 if a.shape[-1:] == (3,) else None) for a in arrays] for _ in range(2))

    def over_blocks() -> None:
        if flat:
            wb.launch(tiles, dim=dims[0], inputs=second, block_dim=256, **options)
        else:
            wb.launch_tiled(tiles, dim=dims[1], inputs=second, block_dim=64, **options)

    return Pair(lambda: wb.launch(threads, dim=dims[0], inputs=first, **options), over_blocks, (first, second))


def of_map(
    f: Any, tile: int = 256, dtype: Any = float, kind: Any = np.float32, width: int = 1, **options: Any
) -> Callable[[], Pair]:
    """Return a function that creates the launches of a mapped func."""
    x = np.random.default_rng(0).standard_normal(N * width) * (100 if kind is np.int32 else 1)
    x = x.astype(kind).reshape((N, width) if width > 1 else N)
    return lambda: pair(*mapped(f, tile, dtype), (N, [N // tile]), [x, np.zeros_like(x)], **options)


def cases() -> dict[str, Callable[[], Pair]]:
    """Return, by name, a function that creates the two launches."""
    x = np.random.default_rng(0).standard_normal(N).astype(np.float32)
    rows, zeros, few = x[: 1 << 16].reshape(256, 256), np.zeros(N, np.float32), np.zeros(256, np.float32)
    some, lookup = rows[:250, :250].copy(), [x, zeros, np.abs(x[:1001])]
    launches = {f.__name__: of_map(f) for f in FUNCS}
    launches |= {f"{f.__name__} with checks": of_map(f, checks=True) for f in (wave, mandelbrot, asserted)}
    launches |= {f"{f.__name__}, tiles of {n}": of_map(f, n) for f in (wave, mandelbrot, sided) for n in (4, 8, 32)}
    launches["collatz of int32"] = of_map(collatz_int, dtype=int, kind=np.int32)
    launches["a vec3"] = of_map(spin, dtype=wb.vec3, width=3)
    for checks in (False, True):
        launches[f"gather{' with checks' if checks else ''}"] = lambda checks=checks: pair(
            gather_threads, gather_lanes, (N, None), lookup, flat=True, checks=checks
        )
    launches["between tile() and untile()"] = lambda: pair(simt_threads, simt_lanes, (N, None), [x, zeros], flat=True)
    for name, kernels in {
        "reduction by a func": (largest_threads, largest_tiles),
        "argmax": (argmax_threads, argmax_tiles),
    }.items():
        launches[name] = lambda kernels=kernels: pair(*kernels, (256, [256]), [rows, few])
    launches["argmax of columns"] = lambda: pair(
        column_argmax_threads, column_argmax_tiles, (4096, [256]), [rows, zeros[:4096]]
    )
    launches["scan"] = lambda: pair(scan_threads, scan_tiles, (256, [256]), [rows, rows * 0])
    launches["borders"] = lambda: pair(border_threads, border_tiles, ([250, 250], [9, 9]), [some, some * 0])
    launches["sum of a map"] = lambda: pair(sums_threads, sums_tiles, ([256, 256], [256]), [rows, few])
    return launches


def least(works: Sequence[Launch]) -> list[float]:
    """Return the least processor time of each of several launches, which run in turn."""
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for n, work in enumerate(works):
            start = time.process_time()
            work()
            best[n] = min(best[n], time.process_time() - start)
    return best


def main() -> None:
    """Print the ratios; with --write, write them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    table = Table("tile_gangs", "Tiles against threads, one core", ROUNDS, figure="Least processor time")
    for name, setup in cases().items():
        if not options.names or name in options.names:
            threads, tiles, arrays = setup()
            threads(), tiles()
            for a, b in zip(*arrays, strict=True):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, err_msg=name)
            over_threads, over_tiles = least([threads, tiles])
            table.rows.append(Row(name, {OURS: over_tiles, "threads": over_threads}))
            print(f"{name:32}{over_tiles / over_threads:6.2f} of {over_threads * 1e6:.1f} µs", flush=True)
    if options.write:
        write(table)


if __name__ == "__main__":
    main()
