"""Grids, n-body, a polynomial and a reduction on a device, beside what limits each. Needs a CUDA device."""

from __future__ import annotations

from on_device import DEVICE, device_seconds, the_driver, title

import workbench as wb
from workbench.runtime.device.driver import Driver

CELL = """
def stencil(u: array2d[float], out: array2d[float]):
    i, j = tid()
    if i > 0 and i < u.shape[0] - 1 and j > 0 and j < u.shape[1] - 1:
        out[i, j] = 0.2 * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

def forces(p: array[vec3], f: array[vec3]):
    i = tid()
    total = vec3(0.0, 0.0, 0.0)
    for j in range(p.shape[0]):
        d = p[j] - p[i]
        r = dot(d, d) + 0.01
        total += d * (1.0 / (r * sqrt(r)))
    f[i] = total

def squares(x: array[float], total: array[float]):
    i = tid()
    atomic_add(total, 0, x[i] * x[i])

def axpy2d(a: float, x: array2d[float], y: array2d[float]):
    i, j = tid()
    y[i, j] = a * x[i, j] + y[i, j]

def heat3d(u: array3d[float], out: array3d[float], k: float):
    i, j, l = tid()
    if i > 0 and i < u.shape[0] - 1 and j > 0 and j < u.shape[1] - 1 and l > 0 and l < u.shape[2] - 1:
        around = u[i - 1, j, l] + u[i + 1, j, l] + u[i, j - 1, l] + u[i, j + 1, l] + u[i, j, l - 1] + u[i, j, l + 1]
        out[i, j, l] = u[i, j, l] + k * (around - 6.0 * u[i, j, l])

def poly(x: array[float], y: array[float], terms: int):
    i = tid()
    v = 0.0
    for _ in range(terms):
        v = v * x[i] + 0.5
    y[i] = v
"""
SIDE, SIDE_3D, BODIES, COUNT, TERMS = 1 << 14, 1 << 9, 1 << 15, 1 << 28, 1 << 10
FLOPS_PER_PAIR = 20
"""As n-body codes count them: a root and a division as one each, and the rest."""


def copy_speed(gpu: Driver, count: int = COUNT) -> float:
    """Bytes per second, read and written, of a copy of `count` floats."""
    x, y = (wb.full(count, 1.0, float, device=DEVICE) for _ in range(2))
    return 2 * x.nbytes / device_seconds(gpu, lambda: gpu.copy(y.address, x.address, x.nbytes, 0))


def grids(gpu: Driver, side: int = SIDE, side_3d: int = SIDE_3D) -> dict[str, float]:
    """Bytes per second, read once and written, of kernels over two and three dimensions."""
    kernels = wb.build_cell(CELL, {}, backend="cpu").names
    u, out = (wb.full((side, side), 1.0, float, device=DEVICE) for _ in range(2))
    stencil = wb.launch(kernels["stencil"], (side, side), [u, out], record_cmd=True)
    axpy = wb.launch(kernels["axpy2d"], (side, side), [0.5, u, out], record_cmd=True)
    speeds = {"stencil": 2 * u.nbytes / device_seconds(gpu, stencil.launch)}
    speeds["axpy2d"] = 3 * u.nbytes / device_seconds(gpu, axpy.launch)
    u, out = (wb.full((side_3d,) * 3, 1.0, float, device=DEVICE) for _ in range(2))
    heat = wb.launch(kernels["heat3d"], (side_3d,) * 3, [u, out, 0.1], record_cmd=True)
    speeds["heat3d"] = 2 * u.nbytes / device_seconds(gpu, heat.launch)
    return speeds


def reduction_speed(gpu: Driver, count: int = COUNT) -> float:
    """Bytes per second, read, of a sum of `count` squares into one element."""
    kernels = wb.build_cell(CELL, {}, backend="cpu").names
    x, total = wb.full(count, 1.0, float, device=DEVICE), wb.zeros(1, float, device=DEVICE)
    reduction = wb.launch(kernels["squares"], count, [x, total], record_cmd=True)
    return x.nbytes / device_seconds(gpu, reduction.launch)


def arithmetic(gpu: Driver, bodies: int = BODIES, count: int = COUNT >> 4, terms: int = TERMS) -> dict[str, float]:
    """Operations per second of what arithmetic limits, with and without `fast_math`, which contracts `a * b + c`."""
    kernels = wb.build_cell(CELL, {}, backend="cpu").names
    p, f = (wb.zeros(bodies, dtype=wb.vec3, device=DEVICE) for _ in range(2))
    x, y = (wb.full(count, 0.5, float, device=DEVICE) for _ in range(2))
    rates = {}
    for label, fast in (("", False), (", fast_math", True)):
        run = wb.launch(kernels["forces"], bodies, [p, f], record_cmd=True, fast_math=fast)
        rates[f"n-body{label}"] = FLOPS_PER_PAIR * bodies**2 / device_seconds(gpu, run.launch)
        run = wb.launch(kernels["poly"], count, [x, y, terms], record_cmd=True, fast_math=fast)
        rates[f"poly{label}"] = 2 * count * terms / device_seconds(gpu, run.launch)
    return rates


def main() -> None:
    """Measure and print a table."""
    gpu = the_driver()
    copy, rates = copy_speed(gpu), arithmetic(gpu)
    speeds = {"device copy": copy, **grids(gpu), "reduction": reduction_speed(gpu)}
    print(title(gpu))
    for name, value in speeds.items():
        print(f"  {name:<18} {value / 1e9:9.1f} GB/s  {value / copy:6.1%} of a copy")
    for name, value in rates.items():
        print(f"  {name:<18} {value / 1e12:9.2f} Tflop/s")


if __name__ == "__main__":
    main()
