"""Kernels of tiles: the operations, their gradients, products, and what a block's threads do for themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tests.judge.program import Argument, Program
from tests.judge.programs.building import array, floats, integers, output, program
from tests.tiles.test_gradients import CASES as GRADIENTS
from tests.tiles.test_operations import CASES as OPERATIONS
from tests.tiles.test_operations import LOAD


def _tiles(
    name: str, body: str, arguments: dict[str, Argument], dim: tuple[int, ...] = (1,), block_dim: int = 32, **more: Any
) -> Program:
    lanes = more.pop("lanes", False)
    return replace(program(f"tiles, {name}", body, arguments, dim, **more), block_dim=block_dim, lanes=lanes)


def _operation(name: str, body: str, shape: tuple[int, ...], smooth: bool) -> Program:
    return _tiles(name, LOAD + body, {"x": floats(6, 10), "y": output(*shape)}, smooth=smooth)


LEFT_OUT = {"power and builtins", "len and shape", "dtype"}
"""Roots of negative numbers, and types as values."""
ONES = [
    *(_operation(n, body, np.shape(want), False) for n, (body, want) in OPERATIONS.items() if n not in LEFT_OUT),
    *(_operation(f"gradient of {name}", body, shape, True) for name, (body, shape) in GRADIENTS.items()),
]
GEMM = """
i, j = wb.tid()
acc = wb.tile_zeros(shape=(8, 8), dtype=float)
for q in range((a.shape[1] + 7) // 8):
    left = wb.tile_load(a, shape=(8, 8), offset=(i * 8, q * 8))
    right = wb.tile_load(b, shape=(8, 8), offset=(q * 8, j * 8))
    wb.tile_matmul(left, right, acc)
wb.tile_store(c, acc, offset=(i * 8, j * 8))
"""
FACTORS = {"a": floats(19, 21), "b": floats(21, 18, seed=2), "c": output(19, 18)}
BENT = """
@wb.func
def bent(v: float, w: float):
    if v > w:
        return v * v
    return v * w
"""
OTHERS = [
    _tiles("product", GEMM, FACTORS, (3, 3), smooth=True),
    _tiles(
        "product of halves",
        GEMM,
        FACTORS | {"a": floats(19, 21, dtype=np.float16), "b": floats(21, 18, seed=2, dtype=np.float16)},
        (3, 3),
    ),
    _tiles(
        "product of halves as halves",
        """
        left = wb.tile_load(a, shape=(4, 6))
        wb.tile_store(c, left @ wb.tile_load(b, shape=(6, 5)))
        """,
        {
            "a": floats(4, 6, dtype=np.float16),
            "b": floats(6, 5, seed=2, dtype=np.float16),
            "c": output(4, 5, dtype="wb.float16", held=np.float16),
        },
    ),
    _tiles(
        "product of turned tiles, added",
        """
        acc = wb.tile_load(c, shape=(5, 6))
        for q in range(3):
            left = wb.tile_load(a, shape=(4, 5), offset=(q * 4, 1))
            acc += wb.tile_matmul(left.T, wb.tile_load(b, shape=(6, 4), offset=(0, q * 4)).T)
        wb.tile_store(d, acc * 0.5)
        """,
        {"a": floats(12, 7), "b": floats(6, 12), "c": floats(5, 6), "d": output(5, 6)},
        smooth=True,
    ),
    _tiles(
        "product read where it lies",
        """
        i = wb.tid()
        left = wb.tile_load(a, shape=(4, 16), offset=(i * 4, 0))
        right = wb.tile_load(b, shape=(16, 8))
        wb.tile_store(c, left @ right + 1.0, offset=(i * 4, 0))
        """,
        {"a": floats(12, 16), "b": floats(16, 8), "c": output(12, 8)},
        (3,),
        smooth=True,
    ),
    _tiles(
        "a row's numbers less their largest",
        """
        i = wb.tid()
        t = wb.tile_load(x[i], shape=10)
        e = wb.exp(t - wb.tile_max(t))
        wb.tile_store(y[i], e / wb.tile_sum(e))
        """,
        {"x": floats(6, 10), "y": output(6, 10)},
        (6,),
        smooth=True,
    ),
    _tiles(
        "integers",
        """
        t = wb.tile_load(x, shape=(5, 7))
        u = t // 3 + (t % 4) * 2 - (t << 1)
        wb.tile_store(y, wb.where(u > 2, u, -u))
        z[0] = wb.tile_sum(t)
        z[1] = wb.tile_min(t)
        z[2] = wb.tile_argmax(t)
        wb.tile_store(z, wb.tile_max(u, axis=0), offset=3)
        wb.tile_store(z, wb.tile_sum(u, axis=1), offset=10)
        """,
        {
            "x": integers(5, 7, below=40, low=-40),
            "y": output(5, 7, dtype="wb.int32", held=np.int32),
            "z": output(15, dtype="wb.int32", held=np.int32),
        },
    ),
    _tiles(
        "bytes",
        """
        t = wb.tile_load(x, shape=(4, 8), offset=(-1, 2))
        wb.tile_store(y, t + t, offset=(1, -2))
        z[0] = wb.tile_min(t)
        z[1] = wb.tile_max(t[1:3, 0:4])
        """,
        {
            "x": integers(5, 7, below=120, low=10, dtype=np.uint8),
            "y": output(5, 7, dtype="wb.uint8", held=np.uint8),
            "z": output(2, dtype="wb.uint8", held=np.uint8),
        },
    ),
    _tiles(
        "parts that are assigned",
        """
        t = wb.tile_load(x, shape=(6, 10))
        row = t[1]
        k = 2
        t[1, k] = 7.0
        t[0] = row * 2.0
        t[3:5, 0:2] = t[k:4, 4:6]
        t[5, 5] += t[-1, -1]
        t[2, 1:9] = 1.5
        wb.tile_assign(t, wb.tile_ones((2, 2)), offset=(1, 7))
        wb.tile_store(y, t)
        wb.tile_store(z, row + t[1] + t[:, 3][2])
        """,
        {"x": floats(6, 10), "y": output(6, 10), "z": output(10)},
        smooth=True,
    ),
    _tiles(
        "loops and branches that carry tiles",
        """
        i = wb.tid()
        t = wb.tile_load(x, shape=(3, 4), offset=(0, i * 4))
        u = wb.tile_full((3, 4), 0.5)
        n = 0
        while n < 3 + i:
            if wb.tile_sum(u) > 9.0:
                u, t = t, u * 0.5
            else:
                u = u + t * t
            n += 1
        wb.tile_atomic_add(y, u, offset=(0, i * 2))
        wb.tile_store(z, t, offset=(i, i))
        """,
        {"x": floats(3, 12), "y": output(3, 9), "z": array(floats(5, 7, seed=4).values, output=True)},
        (3,),
    ),
    _tiles(
        "vectors",
        """
        b = wb.tid()
        t = wb.tile_load(x, shape=8, offset=b * 8)
        wb.tile_store(y, t * w[0] + t * wb.dot(wb.tile_sum(t), t[0]), offset=b * 8)
        """,
        {"x": array(floats(16, 3).values, "wb.vec3"), "w": floats(1), "y": output(16, 3, dtype="wb.vec3")},
        (2,),
        smooth=True,
    ),
    _tiles(
        "a func over two tiles and a number",
        """
        t = wb.tile_load(x, shape=(6, 10))
        wb.tile_store(y, wb.tile_map(bent, t, t[0, 0]) + wb.tile_map(bent, t * 0.5, 0.25))
        """,
        {"x": floats(6, 10), "y": output(6, 10)},
        above=BENT,
        smooth=True,
    ),
    _tiles(
        "scans along rows and numbers",
        """
        t = wb.tile_load(x, shape=(6, 10))
        s = wb.tile_scan(t[0])
        wb.tile_store(y, wb.tile_scan(t) * t + wb.tile_broadcast(s, shape=(6, 10)))
        """,
        {"x": floats(6, 10), "y": output(6, 10)},
        smooth=True,
    ),
    _tiles(
        "doubles in four dimensions",
        """
        t = wb.tile_load(x, shape=(2, 3, 2, 4), offset=(0, 1, 0, -1))
        wb.tile_store(y, wb.tile_sum(t, axis=2) * wb.tile_max(t, axis=1)[1, 1, 2])
        """,
        {"x": floats(2, 5, 2, 3, dtype=np.float64), "y": output(2, 3, 4, dtype="wb.float64", held=np.float64)},
        smooth=True,
    ),
    _tiles(
        "threads with values of their own",
        """
        b, lane = wb.tid()
        v = x[b, lane]
        s = wb.tile_sum(wb.tile(v * v))
        if lane > 3:
            v = v * 2.0
            if v > 1.0:
                v = v - 0.5
        n = 0.0
        for k in range(lane % 3):
            n += 0.25 * x[b, k]
        u = wb.tile_map(bent, wb.tile(v), 0.5)
        y[b, lane] = v * s + wb.untile(u) + n
        """,
        {"x": floats(3, 32), "y": output(3, 32)},
        (3,),
        above=BENT,
        smooth=True,
        lanes=True,
    ),
    _tiles(
        "threads that use tiles within their lines",
        """
        b, lane = wb.tid()
        v = x[b, lane] + 2.5
        y[b, lane] = v / wb.tile_sum(wb.tile(v)) - 0.5 * float(lane)
        m = wb.tile_max(wb.tile(v), axis=0)
        w = wb.where(lane % 2 == 0, v, m)
        while w > 3.0:
            w -= 0.75
        z[b, lane] = w
        wb.tile_store(t, wb.tile(w), offset=b * 16)
        """,
        {"x": floats(2, 16), "y": output(2, 16), "z": output(2, 16), "t": output(32)},
        (2,),
        16,
        lanes=True,
    ),
    _tiles(
        "sums of integers as indices from the end",
        """
        b = wb.tid()
        t = wb.tile_load(k, shape=(8,), offset=(b * 8,))
        n = wb.tile_sum(t)
        y[b] = x[n] + x[wb.tile_max(t) - 30] + x[wb.tile_min(t)]
        """,
        {
            "k": array(np.array([-1, -2, 0, 1, -3, 0, 2, 1, 3, -1, 0, -2, -2, 0, 1, 0], np.int32)),
            "x": floats(40),
            "y": output(2),
        },
        (2,),
        8,
    ),
    _tiles(
        "tiles whose memory is used again",
        """
        b = wb.tid()
        a = wb.tile_load(x, shape=(16,), offset=(b * 16,))
        c = a * 2.0
        d = wb.tile_map(wb.sin, c)
        e = d + c
        f = wb.tile_map(wb.cos, e)
        g = f * e
        h = g + f
        if b % 2 == 0:
            h = h - g
            u = h * h
            h = u + e
        for k in range(3):
            v = h * 0.5
            w = v + g
            h = w * v - h
        wb.tile_store(y, h + d, offset=(b * 16,))
        wb.tile_store(z, e * g, offset=(b * 16,))
        """,
        {"x": floats(64), "y": output(64), "z": output(64)},
        (4,),
        16,
    ),
]
TILES: list[Program] = [*ONES, *OTHERS]
