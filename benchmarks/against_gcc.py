"""Compiled code against a C++ compiler's: the same five kernels through `g++ -O3 -march=native`, one thread each.

Both sides run on the same arrays in turn. Neither contracts a·b + c, neither reorders sums: the answers have to be
equal, and are compared before anything is timed.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measure import OURS, Row, Table, clock, take_turns, write

os.environ["WORKBENCH_THREADS"] = "1"
import workbench as wb

ROUNDS = 21
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC", "-x", "c++")
COMPILER = "g++"
CPP = r"""
#include <cmath>
struct vec3 { float x, y, z; };
struct mat33 { float m[3][3]; };
extern "C" void saxpy(long n, float a, const float* x, const float* y, float* z) {
    for (long i = 0; i < n; ++i) z[i] = a * x[i] + y[i];
}
extern "C" void stencil(long rows, long columns, const float* x, float* y) {
    for (long i = 0; i < rows; ++i)
        for (long j = 0; j < columns; ++j)
            if (i > 0 && i < rows - 1 && j > 0 && j < columns - 1)
                y[i * columns + j] = 0.25f * (x[(i - 1) * columns + j] + x[(i + 1) * columns + j]
                    + x[i * columns + j - 1] + x[i * columns + j + 1]) - x[i * columns + j];
}
extern "C" void bodies(long n, const vec3* p, vec3* force) {
    for (long i = 0; i < n; ++i) {
        vec3 f = {0, 0, 0};
        for (long j = 0; j < n; ++j) {
            vec3 d = {p[j].x - p[i].x, p[j].y - p[i].y, p[j].z - p[i].z};
            float r = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
            float s = 1.0f / (r * std::sqrt(r));
            f.x += d.x * s; f.y += d.y * s; f.z += d.z * s;
        }
        force[i] = f;
    }
}
extern "C" void row_largest(long rows, long columns, const float* x, float* y) {
    for (long i = 0; i < rows; ++i) {
        float best = x[i * columns];
        for (long j = 1; j < columns; ++j) { float v = x[i * columns + j]; best = v > best ? v : best; }
        y[i] = best;
    }
}
extern "C" void product(long n, const mat33* a, const mat33* b, mat33* c) {
    for (long i = 0; i < n; ++i) {
        mat33 r;
        for (int p = 0; p < 3; ++p)
            for (int q = 0; q < 3; ++q)
                r.m[p][q] = a[i].m[p][0] * b[i].m[0][q] + a[i].m[p][1] * b[i].m[1][q] + a[i].m[p][2] * b[i].m[2][q];
        c[i] = r;
    }
}
"""


@wb.kernel
def saxpy(a: float, x: wb.array(dtype=float), y: wb.array(dtype=float), z: wb.array(dtype=float)):
    """One multiplication and one addition for twelve bytes."""
    i = wb.tid()
    z[i] = a * x[i] + y[i]


@wb.kernel
def stencil(x: wb.array2d(dtype=float), y: wb.array2d(dtype=float)):
    """Five neighbours, inside of the border alone."""
    i, j = wb.tid()
    if i > 0 and i < x.shape[0] - 1 and j > 0 and j < x.shape[1] - 1:
        y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]) - x[i, j]


@wb.kernel
def bodies(p: wb.array(dtype=wb.vec3), force: wb.array(dtype=wb.vec3)):
    """Gravity of all on one."""
    i = wb.tid()
    f = wb.vec3(0.0, 0.0, 0.0)
    for j in range(p.shape[0]):
        d = p[j] - p[i]
        r = wb.dot(d, d) + 0.01
        f += d * (1.0 / (r * wb.sqrt(r)))
    force[i] = f


@wb.kernel
def row_largest(x: wb.array2d(dtype=float), y: wb.array(dtype=float)):
    """The largest element of each row."""
    i = wb.tid()
    best = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        best = v if v > best else best
    y[i] = best


@wb.kernel
def product(a: wb.array(dtype=wb.mat33), b: wb.array(dtype=wb.mat33), c: wb.array(dtype=wb.mat33)):
    """A product of small matrices for each thread."""
    i = wb.tid()
    c[i] = a[i] @ b[i]


def compiled(folder: str) -> ctypes.CDLL:
    """The C++ kernels as a library."""
    path = Path(folder) / "kernels.so"
    subprocess.run([COMPILER, *FLAGS, "-o", str(path), "-"], input=CPP, text=True, check=True)
    return ctypes.CDLL(str(path))


def theirs(function: Callable[..., None], *arguments: int | float | np.ndarray) -> Callable[[], None]:
    """A call of a C++ function on these arguments; whole numbers go as `long`."""
    converted = [
        a.ctypes.data_as(ctypes.c_void_p)
        if isinstance(a, np.ndarray)
        else ctypes.c_float(a)
        if isinstance(a, float)
        else ctypes.c_long(a)
        for a in arguments
    ]
    return lambda: function(*converted)


def main() -> None:
    """Compare the answers, time all kernels, write the table."""
    if shutil.which(COMPILER) is None:
        sys.exit(f"{COMPILER} is not installed: nothing to compare with")
    draw = np.random.default_rng(1)
    n, side, many, small = 100_000, 600, 1500, 30_000
    flat = [draw.random(n, np.float32) for _ in range(2)]
    square = draw.random((side, side), np.float32)
    points = draw.random((many, 3), np.float32)
    matrices = [draw.random((small, 3, 3), np.float32) for _ in range(2)]
    table = Table("against_gcc", f"Compiled code against {COMPILER}, one thread", ROUNDS)
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
        for kernel, dim, sizes, inputs, shape, dtype, first in (
            (saxpy, n, (n,), flat, n, wb.float32, (2.5,)),
            (stencil, (side, side), (side, side), [square], (side, side), wb.float32, ()),
            (bodies, many, (many,), [points], (many, 3), wb.vec3, ()),
            (row_largest, side, (side, side), [square], side, wb.float32, ()),
            (product, small, (small,), matrices, (small, 3, 3), wb.mat33, ()),
        ):
            out = np.zeros(shape, np.float32)
            ours = wb.array(np.zeros(shape, np.float32), dtype=dtype)
            kinds = [wb.array(a, dtype=dtype if dtype is not wb.float32 else None) for a in inputs]
            other = theirs(getattr(library, kernel.name), *sizes, *first, *inputs, out)
            command = wb.launch(kernel, dim, [*first, *kinds, ours], record_cmd=True, checks=False)
            other()
            command.launch()
            assert np.array_equal(ours.numpy().reshape(out.shape), out), f"{kernel.name} differs"
            cases = {OURS: clock(command.launch, 5), COMPILER: clock(other, 5)}
            table.rows.append(Row(f"{kernel.name}, {np.prod(dim):.0e} threads", take_turns(cases, ROUNDS)))
    write(table)


if __name__ == "__main__":
    main()
