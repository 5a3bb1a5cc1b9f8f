"""Runs one of Warp's examples with Warp or with Workbench, and saves what it came to.

    python tests/warp_import/run_example.py warp|workbench EXAMPLE.py OUT.npz

The example's text is read from the installed Warp. With Workbench its import is another: that is the test.
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


def raycast(m: Any) -> dict[str, Any]:
    example = m.Example(height=64, width=64)
    example.render()
    return {"pixels": example.pixels}


RUNS: dict[str, Callable[[Any], dict[str, Any]]] = {
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
    "optim/example_particle_repulsion": lambda m: stepped(m.Example(), 2, "positions", "velocities"),
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

        warp.config.enable_backward = path.parent.name == "optim"  # half of its compile time
    elif path.parent.name == "fem":  # its helpers import warp by themselves
        import workbench.compat.warp

        workbench.compat.warp.install()
    with tempfile.TemporaryDirectory() as folder:
        module = loaded(text_for(library, path.read_text(encoding="utf-8")), Path(folder))
        found = RUNS[f"{path.parent.name}/{path.stem}"](module)
        np.savez(target, **{k: v.numpy() if hasattr(v, "numpy") else v for k, v in found.items()})


if __name__ == "__main__":
    main()
