"""Static machine code of indices, structs and copies: what nvdisasm shows, and sectors that the emulated device counts.

No GPU runs. `SASS` are instructions of a kernel for sm_90, `loads` and `stores` those of global memory by their bits,
`sectors` the 32-byte sectors that a warp asks for over 4,096 threads, counted on the emulated device.
A matrix product's adjoint has more of them now because NVRTC writes out 16 turns of its loop instead of 4: the loop is
the same text, without a division before it. All warps together execute 101,248 instructions instead of 124,416
(emulated).
`python benchmarks/sass.py before` (with another checkout on PYTHONPATH) keeps the figures under that name, beside those
that are there.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from workbench.api.builds.build import compile_for
from workbench.backends.base import Options
from workbench.backends.cuda import copies
from workbench.backends.cuda.compile.disassemble import sass
from workbench.backends.cuda.compile.nvrtc import build

RESULTS = Path(__file__).parent / "results"
ARCH = "sm_90"


@wb.struct
class Particle:
    """32 bytes."""

    pos: wb.vec3
    mass: float
    vel: wb.vec3
    age: float


@wb.kernel
def particles(ps: wb.array[Particle], dt: float):
    """Move particles in place."""
    i = wb.tid()
    p = ps[i]
    v = p.vel - p.pos * (dt / p.mass)
    p.pos = p.pos + v * dt
    p.vel = v
    p.age = p.age + dt
    ps[i] = p


@wb.kernel
def moved(ps: wb.array[Particle], out: wb.array[Particle], dt: float):
    """Move particles from one array to another."""
    i = wb.tid()
    p = ps[i]
    p.pos = p.pos + p.vel * dt
    p.age = p.age + dt * p.mass
    out[i] = p


@wb.kernel
def stencil2d(x: wb.array2d[float], y: wb.array2d[float]):
    """Five points."""
    i, j = wb.tid()
    if i > 0 and j > 0 and i < x.shape[0] - 1 and j < x.shape[1] - 1:
        y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


@wb.kernel
def heat3d(x: wb.array3d[float], y: wb.array3d[float]):
    """Seven points."""
    i, j, k = wb.tid()
    if i > 0 and j > 0 and k > 0 and i < x.shape[0] - 1 and j < x.shape[1] - 1 and k < x.shape[2] - 1:
        around = x[i - 1, j, k] + x[i + 1, j, k] + x[i, j - 1, k] + x[i, j + 1, k] + x[i, j, k - 1] + x[i, j, k + 1]
        y[i, j, k] = around - 6.0 * x[i, j, k]


@wb.kernel
def matmul(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float]):
    """One element per thread."""
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def lbm(f: wb.array3d[float], g: wb.array3d[float], omega: float):
    """D2Q5, periodic: stream, then relax."""
    i, j = wb.tid()
    n, m = f.shape[1], f.shape[2]
    c = f[0, i, j]
    e = f[1, (i + n - 1) % n, j]
    w = f[2, (i + 1) % n, j]
    s = f[3, i, (j + m - 1) % m]
    t = f[4, i, (j + 1) % m]
    rho = c + e + w + s + t
    u = (e - w) / rho
    v = (s - t) / rho
    g[0, i, j] = c + omega * (rho / 3.0 - c)
    g[1, i, j] = e + omega * (rho / 6.0 * (1.0 + 3.0 * u) - e)
    g[2, i, j] = w + omega * (rho / 6.0 * (1.0 - 3.0 * u) - w)
    g[3, i, j] = s + omega * (rho / 6.0 * (1.0 + 3.0 * v) - s)
    g[4, i, j] = t + omega * (rho / 6.0 * (1.0 - 3.0 * v) - t)


def structs() -> wb.array:
    """Return 4,096 particles."""
    return wb.array(np.ones(4096, Particle.__wb_struct__.numpy), dtype=Particle)


def cases() -> list[tuple[Any, tuple[int, ...], list[Any]]]:
    """Return kernels with dimensions and arguments."""
    square = wb.ones((64, 64))
    return [
        (particles, (4096,), [structs(), 0.5]), (moved, (4096,), [structs(), structs(), 0.5]),
        (stencil2d, (64, 64), [square, wb.zeros((64, 64))]),
        (heat3d, (16, 16, 16), [wb.ones((16, 16, 16)), wb.zeros((16, 16, 16))]),
        (matmul, (64, 64), [square, square, wb.zeros((64, 64))]),
        (lbm, (64, 64), [wb.ones((5, 64, 64)), wb.zeros((5, 64, 64)), 0.5]),
    ]  # fmt: skip


def of_image(image: bytes) -> dict[str, Any]:
    """Return what nvdisasm shows of a cubin: instructions, and accesses of global memory by their bits."""
    lines = [x for x in sass(image).splitlines() if re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?!\s|NOP)", x)]
    found: dict[str, Counter[int]] = {"LDG": Counter(), "STG": Counter()}
    for line in lines:
        access = re.search(r"\b(LDG|STG)((?:\.\w+)*)", line)
        if access:
            bits = re.search(r"\.(128|64|U16|U8|S8|S16)\b", access[2])
            found[access[1]][int(re.sub(r"\D", "", bits[1])) if bits else 32] += 1
    said = {k: ", ".join(f"{n} of {b}" for b, n in sorted(c.items(), reverse=True)) for k, c in found.items()}
    return {"sass": len(lines), "calls": sum("CALL" in x for x in lines), "loads": said["LDG"], "stores": said["STG"]}


def figures() -> dict[str, Any]:
    """Return the figures by kernel and direction."""
    found: dict[str, Any] = {}
    for kernel, dims, given in cases():
        for direction in ("forward", "adjoint"):
            made = compile_for(kernel.specialise(), direction, Options(), ARCH)
            row = of_image(made.image) | {"registers": made.metadata["registers"]}
            if kernel is not particles or direction == "forward":  # in place, so a launch alone has no adjoint
                counted = wb.profile(kernel, dims, given, adjoint=direction == "adjoint", arch=ARCH)
                row["sectors"] = counted.total.global_sectors
            found[f"{kernel.name}, {direction}"] = row
    for entry in ("wb_copy_i32", "wb_add_float"):
        found[f"{entry} (strided copies, fills, sums)"] = of_image(
            build(copies.text(entry), Options(), ARCH, "cubin").image
        )
    return found


def main() -> None:
    """Count, and write the table."""
    name = sys.argv[1] if len(sys.argv) > 1 else "now"
    kept = RESULTS / "sass.json"
    every = json.loads(kept.read_text()) if kept.exists() else {}
    every[name] = figures()
    kept.write_text(json.dumps(every, indent=1) + "\n")
    title, about = (__doc__ or "").split("\n\n", 1)
    rows = [f"# {title}", "", " ".join(about.split()), ""]
    columns = ("sass", "calls", "registers", "loads", "stores", "sectors")
    rows += ["| kernel | | " + " | ".join(columns) + " |", "|" + "---|" * (len(columns) + 2)]
    for kernel in every[name]:
        for label in sorted(every):
            row = every[label].get(kernel, {})
            rows.append(f"| {kernel} | {label} | " + " | ".join(str(row.get(c, "–") or "–") for c in columns) + " |")
    (RESULTS / "sass.md").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
