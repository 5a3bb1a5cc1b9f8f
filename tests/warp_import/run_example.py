"""Runs one of Warp's examples with Warp or with Workbench, and saves what it came to.

    python tests/warp_import/run_example.py warp|workbench EXAMPLE.py OUT.npz

The example's text is read from the installed Warp. With Workbench its import is another, or `install()` was called:
that is the test.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

UNIT_TEST_TOOLS = "from warp.tests.unittest_utils import *"
UNCHANGED = ("fem", "geometry", "interop", "tile")
"""Folders of examples that import more of Warp than `warp`: they run after `install()`."""
IMPORTS = ((r"^import warp as wp$", "import workbench.compat.warp as wp"),
           (r"^import warp\.\w+$", "import workbench.compat.warp as warp"))  # fmt: skip


def text_for(library: str, text: str) -> str:
    """The example's text for a library; both get NumPy in place of the tools of Warp's unit tests."""
    text = text.replace(UNIT_TEST_TOOLS, "import numpy as np")
    for pattern, ours in IMPORTS if library == "workbench" else ():
        text = re.sub(pattern, ours, text, flags=re.MULTILINE)
    return text


def loaded(text: str, folder: Path) -> Any:
    """The example as a module."""
    path = folder / "example.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("example", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules["example"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stepped(example: Any, steps: int, *names: str) -> dict[str, Any]:
    """The arrays of these names after some steps."""
    for _ in range(steps):
        example.step()
    return {name: getattr(example, name) for name in names}


def fdtd_3d(m: Any) -> dict[str, Any]:
    example = m.Example()
    for frame in range(4):
        example.step_and_render_frame(frame)
    example._check_em_energy(4)
    names = ("e_x", "e_y", "e_z", "h_x", "h_y", "h_z", "electric_energy_sum", "magnetic_energy_sum")
    return stepped(example, 0, *names)


def dem(m: Any) -> dict[str, Any]:
    grid = m.Example.particle_grid
    m.Example.particle_grid = lambda self, x, y, z, *rest: grid(self, x // 4, y // 4, z // 4, *rest)
    return stepped(m.Example(None), 1, "x", "v", "f")


def sph(m: Any) -> dict[str, Any]:
    example = m.Example(None)
    example.sim_step_to_frame_ratio = 4
    return stepped(example, 1, "x", "v", "rho")


def raymarch(m: Any) -> dict[str, Any]:
    example = m.Example(height=128, width=256)
    example.render()
    return {"pixels": example.pixels}


def checkpointed(m: Any) -> dict[str, Any]:
    example = m.Example(sim_steps=4, pressure_iterations=5, segment_size=2)
    found = {}
    for iteration in range(2):
        example.forward()
        example.backward()
        gradients = [example.vx_arrays[0].grad, example.vy_arrays[0].grad]
        found |= {f"{n}.{iteration}": g.numpy().copy() for n, g in enumerate(gradients)}
        found[f"loss.{iteration}"] = example.loss.numpy().copy()
        example.optimizer.step([g.flatten() for g in gradients])
        example.tape.zero()
    return {**found, "vx": example.vx_arrays[0]}


def perturbation(m: Any) -> dict[str, Any]:
    example = m.Example(spin_up_steps=3, lead_steps=2)
    return stepped(example, 2, "omega_0", "y_star", "delta_omega")


def work_queue(m: Any) -> dict[str, Any]:
    import workbench as wb

    with wb.checks():
        m.test_work_queue("cpu")
    return {}


def fields(m: Any, *names: str, steps: int = 1, **options: Any) -> dict[str, Any]:
    """What the fields of an example of `warp.fem` are after some steps."""
    example = m.Example(quiet=True, **options)
    for _ in range(steps):
        example.step()
    return {name: getattr(example, name).dof_values for name in names}


def particle_repulsion(m: Any) -> dict[str, Any]:
    example = m.Example()
    example.sim_substeps = 2
    return stepped(example, 2, "positions", "velocities", "forces")


def raycast(m: Any) -> dict[str, Any]:
    example = m.Example(height=64, width=64)
    example.render()
    return {"pixels": example.pixels}


def printed(m: Any, count: int) -> dict[str, Any]:
    """Return what the examples `example1` to `example{count}` of a module print."""
    import jax

    values: list[Any] = []
    m.print = lambda *shown: values.extend(shown)
    for number in range(1, count + 1):
        getattr(m, f"example{number}")()
    return {f"{k}": np.asarray(leaf) for k, leaf in enumerate(jax.tree.leaves(values))}


def tiled(m: Any, kernel: str, blocks: Any, threads: int, *arrays: np.ndarray) -> dict[str, Any]:
    """Launch one kernel of an example of tiles, and return its arrays."""
    values = [m.wp.array(a) for a in arrays]
    m.wp.launch_tiled(getattr(m, kernel), dim=blocks, inputs=values, block_dim=threads, device="cpu")
    return {f"{k}": v for k, v in enumerate(values)}


def spd(count: int) -> np.ndarray:
    """A symmetric positive definite matrix of random numbers."""
    a = np.random.default_rng(7).standard_normal((count, count))
    return a @ a.T + count * np.eye(count)


def block_cholesky(m: Any) -> dict[str, Any]:
    solver = m.BlockCholeskySolver(64, device="cpu")
    b = m.wp.array(np.arange(64.0).reshape(64, 1), dtype=float)
    x = m.wp.zeros_like(b)
    solver.factorize(m.wp.array(spd(64), dtype=float), 64)
    solver.solve(b, x)
    return {"L": np.tril(solver.L.numpy()), "x": x}


def tile_mcgp(m: Any) -> dict[str, Any]:
    example = m.Example(42, height=24, slices=3)
    example.render(1)
    return {"pixels": example.pixels}


def tile_matmul(m: Any) -> dict[str, Any]:
    draw = np.random.default_rng(42).random
    a, b = draw((7 * m.TILE_M, 48), dtype=np.float32), draw((48, 5 * m.TILE_N), dtype=np.float32).astype(np.float16)
    return tiled(m, "tile_gemm", (7, 5), 64, a, b, np.zeros((len(a), b.shape[1])))


def isosurface(m: Any) -> dict[str, Any]:
    example = m.Example(None)
    example.step()
    return {"verts": example.iso.verts, "indices": example.iso.indices}


def sparse_marching_cubes(m: Any) -> dict[str, Any]:
    example = m.Example(None)
    example.max_depth = 5
    return stepped(example, 1, "verts", "indices")


RUNS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "core/example_mesh": lambda m: stepped(m.Example(None), 1, "positions", "velocities"),
    "core/example_torch": lambda m: {"xy": stepped(m.Example(True, 3), 3, "xy")["xy"].detach()},
    "core/example_raycast": raycast,
    "core/example_wave": lambda m: stepped(m.Example(None), 3, "sim_grid0", "sim_verts"),
    "core/example_fluid": lambda m: stepped(m.Example(), 2, "rho0", "u0", "p0"),
    "core/example_graph_capture": lambda m: stepped(m.Example(), 2, "pixel_values"),
    "core/example_fdtd_3d": fdtd_3d,
    "core/example_raymarch": raymarch,
    "core/example_sample_mesh": lambda m: stepped(m.Example(None), 2, "points", "cdf"),
    "core/example_spin_lock": lambda m: m.test_spinlock("cpu") or {},
    "core/example_work_queue": work_queue,
    "core/example_fft_poisson_navier_stokes_2d": lambda m: stepped(m.Example(), 2, "omega_curr", "psi"),
    "core/example_dem": dem,
    "core/example_sph": sph,
    "optim/example_fluid_checkpoint": checkpointed,
    "optim/example_fluid_checkpoint_custom_backward": checkpointed,
    "optim/example_navier_stokes_perturbation": perturbation,
    "optim/example_particle_repulsion": particle_repulsion,
    "core/example_mesh_intersect": lambda m: stepped(m.Example(None), 1, "array_result"),
    "geometry/example_isosurface": isosurface,
    "geometry/example_sparse_marching_cubes": sparse_marching_cubes,
    "interop/example_jax_kernel": lambda m: printed(m, 8),
    "interop/example_jax_callable": lambda m: printed(m, 3),
    "tile/example_tile_block_cholesky": block_cholesky,
    "tile/example_tile_cholesky": lambda m: tiled(
        m, "cholesky", (1, 1), 128, spd(32), np.zeros((32, 32)), np.arange(32.0), np.zeros(32)
    ),
    "tile/example_tile_matmul": tile_matmul,
    "tile/example_tile_mcgp": tile_mcgp,
    "tile/example_tile_nbody": lambda m: stepped(m.Example(True, 128), 3, "pos_array_0", "vel_array"),
    "tile/example_tile_stream_compaction": lambda m: tiled(
        m,
        "stream_compaction_kernel",
        [4],
        32,
        np.arange(128, dtype=np.int32) % 2,
        np.arange(128, dtype=np.float32),
        np.zeros(1, np.int32),
        np.zeros(128, np.float32),
    ),
    "fem/example_diffusion": lambda m: fields(m, "_scalar_field", resolution=8),
    "fem/example_diffusion_3d": lambda m: fields(m, "_scalar_field", resolution=4),
    "fem/example_convection_diffusion": lambda m: fields(m, "_phi_field", resolution=8, steps=2),
    "fem/example_convection_diffusion_dg": lambda m: fields(m, "_phi_field", resolution=8, steps=2),
    "fem/example_deformed_geometry": lambda m: fields(m, "_scalar_field", resolution=8),
    "fem/example_stokes": lambda m: fields(m, "_u_field", "_p_field", resolution=6),
    "fem/example_mixed_elasticity": lambda m: fields(m, "_u_field", resolution=6),
}


def main() -> None:
    """Run the example named on the command line."""
    library, source, target = sys.argv[1:]
    path = Path(source)
    if library == "warp":
        import warp

        warp.init()

        warp.config.enable_backward = path.parent.name == "optim" or path.stem == "example_torch"  # else half the time
    elif path.parent.name in UNCHANGED:
        import workbench.compat.warp

        workbench.compat.warp.install()
    with tempfile.TemporaryDirectory() as folder:
        module = loaded(
            text_for("warp" if path.parent.name in UNCHANGED else library, path.read_text(encoding="utf-8")),
            Path(folder),
        )
        found = RUNS[f"{path.parent.name}/{path.stem}"](module)
        np.savez(target, **{k: v.numpy() if hasattr(v, "numpy") else v for k, v in found.items()})


if __name__ == "__main__":
    main()
