"""Stencil, n-body and reduction on a device, beside what limits each. Needs a CUDA device."""

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
"""
SIDE, BODIES, COUNT = 1 << 14, 1 << 15, 1 << 28
FLOPS_A_PAIR = 20
"""As n-body codes count them: a root and a division as one each, and the rest."""


def measured(
    gpu: Driver, side: int = SIDE, bodies: int = BODIES, count: int = COUNT
) -> tuple[dict[str, float], dict[str, float]]:
    """Bytes a second of what memory limits, the copy first; operations a second of what arithmetic limits."""
    kernels = wb.build_cell(CELL, {}, backend="cpu").names
    x, y = (wb.full(count, 1.0, float, device=DEVICE) for _ in range(2))
    speeds = {"device copy": 2 * x.nbytes / device_seconds(gpu, lambda: gpu.copy(y.address, x.address, x.nbytes, 0))}
    u, out = (wb.full((side, side), 1.0, float, device=DEVICE) for _ in range(2))
    stencil = wb.launch(kernels["stencil"], (side, side), [u, out], record_cmd=True)
    speeds["stencil"] = 2 * u.nbytes / device_seconds(gpu, stencil.launch)
    total = wb.zeros(1, float, device=DEVICE)
    reduction = wb.launch(kernels["squares"], count, [x, total], record_cmd=True)
    speeds["reduction"] = x.nbytes / device_seconds(gpu, reduction.launch)
    p, f = (wb.zeros(bodies, dtype=wb.vec3, device=DEVICE) for _ in range(2))
    rates = {}
    for label, fast in (("n-body", False), ("n-body, fast_math", True)):
        run = wb.launch(kernels["forces"], bodies, [p, f], record_cmd=True, fast_math=fast)
        rates[label] = FLOPS_A_PAIR * bodies**2 / device_seconds(gpu, run.launch)
    return speeds, rates


def main() -> None:
    """Measure and print a table."""
    gpu = the_driver()
    speeds, rates = measured(gpu)
    print(title(gpu))
    for name, value in speeds.items():
        print(f"  {name:<18} {value / 1e9:9.1f} GB/s  {value / speeds['device copy']:6.1%} of a copy")
    for name, value in rates.items():
        print(f"  {name:<18} {value / 1e12:9.2f} Tflop/s")


if __name__ == "__main__":
    main()
