"""Building a mesh's tree and casting rays at it on the CPU, beside Warp: `python benchmarks/geometry.py [TRIANGLES …]`.

Warp has to be importable (`PYTHONPATH=…`). Both take turns, and each turn reads two clocks: processor time, of all
threads, and wall time. Warp runs a launch and a build on one thread. A row's note says how many rays met another face
than Warp's, how far the two hits are from one another at most, and how many met a face in one of both alone.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import warp as wp
from measure import OURS, Row, Table, write

import workbench as wb

ROUNDS = 9
RAYS = 200_000
SIZES = (10_000, 100_000, 1_000_000)


def surface(triangles: int) -> tuple[np.ndarray, np.ndarray]:
    """The points and indices of a bumpy sphere."""
    k = int((triangles / 2) ** 0.5)
    a, b = np.linspace(0, np.pi, k + 1)[:, None], np.linspace(0, 2 * np.pi, k, endpoint=False)[None]
    r = 1 + 0.15 * np.sin(7 * a) * np.cos(9 * b) + 0.05 * np.sin(31 * a) * np.sin(37 * b)
    points = np.stack([r * np.sin(a) * np.cos(b), r * np.sin(a) * np.sin(b), r * np.cos(a)], -1).reshape(-1, 3)
    i, j = (x.ravel() for x in np.meshgrid(np.arange(k), np.arange(k), indexing="ij"))
    p, q, n = i * k + j, (i + 1) * k + j, (j + 1) % k
    faces = np.concatenate([np.stack([p, q, (i + 1) * k + n], -1), np.stack([p, (i + 1) * k + n, i * k + n], -1)])
    return points.astype(np.float32), faces.astype(np.int32).reshape(-1)


def rays(coherent: bool) -> tuple[np.ndarray, np.ndarray]:
    """Starts and directions: of a camera, row by row, or between random points of two spheres."""
    k = int(RAYS**0.5)
    if coherent:
        y, x = (v.ravel() for v in np.meshgrid(np.linspace(-0.5, 0.5, k), np.linspace(-0.5, 0.5, k), indexing="ij"))
        start, dir = np.tile([0.0, 0.0, 3.0], (k * k, 1)), np.stack([x, y, -np.ones(k * k)], -1)
    else:
        start, there = (np.random.default_rng(seed).normal(size=(k * k, 3)) for seed in (0, 1))
        start *= 2.0 / np.linalg.norm(start, axis=1, keepdims=True)
        dir = there / np.linalg.norm(there, axis=1, keepdims=True) - start
    dir /= np.linalg.norm(dir, axis=1, keepdims=True)
    return start.astype(np.float32), dir.astype(np.float32)


@wb.kernel
def ours(mesh: wb.Mesh, start: wb.array[wb.vec3], dir: wb.array[wb.vec3], t: wb.array[float], face: wb.array[int]):
    """The first face along each ray."""
    i = wb.tid()
    hit = wb.mesh_query_ray(mesh, start[i], dir[i], 1.0e6)
    face[i] = -1
    if hit.result:
        t[i] = hit.t
        face[i] = hit.face


@wp.kernel(enable_backward=False)
def theirs(mesh: wp.uint64, start: wp.array[wp.vec3], dir: wp.array[wp.vec3], t: wp.array[float], face: wp.array[int]):
    """The same for Warp."""
    i = wp.tid()
    hit = wp.mesh_query_ray(mesh, start[i], dir[i], 1.0e6)
    face[i] = -1
    if hit.result:
        t[i] = hit.t
        face[i] = hit.face


def both_clocks(work: Callable[[], object]) -> tuple[float, float]:
    """Processor and wall seconds of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def rows(what: str, cases: dict[str, Callable[[], object]], note: str = "") -> list[Row]:
    """A row of processor time and one of wall time."""
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    for turn in range(ROUNDS + 1):
        for name, case in cases.items():
            took = both_clocks(case)
            if turn:
                seen[name].append(took)
    return [
        Row(f"{what}, {clock}", {n: statistics.median(t[k] for t in taken) for n, taken in seen.items()}, note)
        for k, clock in enumerate(("processor", "wall"))
    ]


def measured(triangles: int) -> list[Row]:
    """The rows of one size."""
    points, indices = surface(triangles)
    mine = wb.array(points, dtype=wb.vec3, device="cpu"), wb.array(indices, device="cpu")
    other = wp.array(points, dtype=wp.vec3, device="cpu"), wp.array(indices, dtype=int, device="cpu")
    found = rows(f"build, {triangles:,} triangles", {OURS: lambda: wb.Mesh(*mine), "warp": lambda: wp.Mesh(*other)})
    mesh, warps = wb.Mesh(*mine), wp.Mesh(*other)
    for coherent in (True, False):
        start, dir = rays(coherent)
        n = len(start)
        a = [*(wb.array(x, dtype=wb.vec3, device="cpu") for x in (start, dir)), wb.zeros(n), wb.zeros(n, dtype=int)]
        b = [wp.array(x, dtype=wp.vec3, device="cpu") for x in (start, dir)]
        b += [wp.zeros(n, dtype=kind, device="cpu") for kind in (float, int)]
        cases = {
            OURS: lambda a=a, n=n: wb.launch(ours, n, [mesh, *a]),
            "warp": lambda b=b, n=n: wp.launch(theirs, n, [warps.id, *b], device="cpu"),
        }
        for case in cases.values():
            case()
        other, apart = a[3].numpy() != b[3].numpy(), abs(a[2].numpy() - b[2].numpy())
        lost = int(((a[3].numpy() < 0) != (b[3].numpy() < 0)).sum())
        kind = "coherent" if coherent else "random"
        note = f"{other.sum()} ties, apart {apart[other].max(initial=0.0):.0e}; {lost} lost"
        found += rows(f"{n:,} {kind} rays, {triangles:,} triangles", cases, note)
    return found


def main() -> None:
    """Measure, and write the table."""
    sizes = [int(word) for word in sys.argv[1:]] or SIZES
    title = "Meshes on the CPU: the tree's build, and rays"
    write(Table("geometry", title, ROUNDS, [row for size in sizes for row in measured(size)]))


if __name__ == "__main__":
    main()
