"""Writes the files of one version that later versions must read: saved records, JAX exports, and what they gave.

    WORKBENCH_CPU=x86-64-v3 WORKBENCH_CACHE=$(mktemp -d) python tests/older_files/make.py tests/older_files/files

Run it at the version whose files are to be kept. The JAX exports need the cache they were written with, which is kept
beside them as a wheel-like archive; its code is for x86-64-v3, so that other machines can run it.
"""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import workbench as wb


@wb.struct
class Particle:
    """One moving point."""

    position: wb.vec3
    mass: wb.float32


@wb.func
def pull(distance: float, k: float):
    return -k * distance / (1.0 + distance * distance)


@wb.kernel
def spring(x: wb.array(dtype=float), v: wb.array(dtype=float), k: float, dt: float):
    i = wb.tid()
    total = 0.0
    for j in range(3):
        total += pull(x[i] + float(j), k)
    v[i] = v[i] + dt * total
    x[i] = x[i] + dt * v[i]


@wb.kernel
def energy(x: wb.array(dtype=float), e: wb.array(dtype=float)):
    i = wb.tid()
    if x[i] > 0.0:
        wb.atomic_add(e, 0, wb.sin(x[i]) * x[i])
    else:
        wb.atomic_add(e, 0, x[i] * x[i])


@wb.kernel
def weigh(ps: wb.array(dtype=Particle), out: wb.array(dtype=float, ndim=2)):
    i, j = wb.tid()
    out[i, j] = ps[i].mass * ps[i].position[j]


@wb.kernel
def product(a: wb.array(dtype=float, ndim=2), b: wb.array(dtype=float, ndim=2), c: wb.array(dtype=float, ndim=2)):
    i, j = wb.tid()
    s = wb.tile_zeros((8, 8), dtype=wb.float32)
    for k in range(2):
        s += wb.tile_matmul(
            wb.tile_load(a, shape=(8, 8), offset=(8 * i, 8 * k)), wb.tile_load(b, shape=(8, 8), offset=(8 * k, 8 * j))
        )
    wb.tile_store(c, s, offset=(8 * i, 8 * j))


@wb.kernel
def scale(x: wb.array(dtype=float), a: float, y: wb.array(dtype=float)):
    i = wb.tid()
    y[i] = a * x[i] * x[i]


def records(folder: Path) -> dict[str, Any]:
    """A simulation with its gradient, structs, tiles and a graph, saved; what each gave."""
    gave: dict[str, Any] = {}
    x = wb.array(np.linspace(-1, 1, 8, dtype=np.float32), requires_grad=True)
    v, e = wb.zeros(8, requires_grad=True), wb.zeros(1, requires_grad=True)
    with wb.record(inputs=True) as simulation:
        with wb.Tape() as tape:
            for _ in range(2):
                wb.launch(spring, 8, inputs=[x, v, 2.0, 0.1])
            wb.launch(energy, 8, inputs=[x], outputs=[e])
        tape.backward(e)
    simulation.save(folder / "simulation.wbr")
    gave |= {"simulation.x": x.numpy(), "simulation.e": e.numpy(), "simulation.grad": x.grad.numpy()}

    ps = wb.array([Particle((1.0, 2.0, 3.0), 2.0), Particle((4.0, 5.0, 6.0), 0.5)], dtype=Particle)
    out = wb.zeros((2, 3))
    with wb.record(inputs=True) as structs:
        wb.launch(weigh, (2, 3), inputs=[ps], outputs=[out])
    structs.save(folder / "structs.wbr")
    gave["structs.out"] = out.numpy()

    a = wb.array(np.arange(256, dtype=np.float32).reshape(16, 16) / 100)
    c = wb.zeros((16, 16))
    with wb.record(inputs=True) as tiles:
        wb.launch_tiled(product, (2, 2), inputs=[a, a], outputs=[c], block_dim=32)
    tiles.save(folder / "tiles.wbr")
    gave["tiles.c"] = c.numpy()

    y = wb.zeros(4)
    with wb.capture() as graph:
        wb.launch(scale, 4, inputs=[wb.array([1.0, 2.0, 3.0, 4.0]), 3.0], outputs=[y])
        wb.copy(y, wb.clone(y))
    with wb.record(inputs=True) as graphs:
        graph.launch()
    graphs.save(folder / "graph.wbr")
    gave["graph.y"] = y.numpy()
    return gave


def exports(folder: Path) -> dict[str, Any]:
    """A kernel, its gradient under vmap, and a function of two launches, exported; what each gave."""
    f = wb.jax_kernel(scale)

    @wb.jax_callable
    def twice(x: wb.array(dtype=float), y: wb.array(dtype=float)):
        middle = wb.zeros(x.shape[0])
        wb.launch(scale, x.shape[0], inputs=[x, 2.0], outputs=[middle])
        wb.launch(scale, x.shape[0], inputs=[middle, 0.5], outputs=[y])

    programs = {
        "kernel": lambda x: f(x, 3.0),
        "gradient": jax.vmap(jax.grad(lambda x: f(x, 3.0).sum()), in_axes=0),
        "callable": lambda x: twice(x),
    }
    x = np.linspace(0.5, 2.0, 6, dtype=np.float32)
    gave: dict[str, Any] = {}
    for name, program in programs.items():
        given = x.reshape(2, 3) if name == "gradient" else x
        jax.jit(program)(given)
        exported = wb.jax_export(program)(jax.ShapeDtypeStruct(given.shape, "float32"))
        (folder / f"{name}.jax").write_bytes(exported.serialize())
        gave[f"{name}.in"], gave[f"{name}.out"] = given, np.asarray(jnp.asarray(program(given)))
    return gave


def main() -> None:
    """Write all of it into the folder named on the command line."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    gave = {**records(folder), **exports(folder)}
    np.savez_compressed(folder / "gave.npz", **gave)
    with tarfile.open(folder / "cache.tar.xz", "w:xz") as archive:
        archive.add(os.environ["WORKBENCH_CACHE"], arcname="cache")


if __name__ == "__main__":
    main()
