"""Warp's own examples, read from its wheel: with one import changed they come to what they come to with Warp.

Both run on the CPU, in an environment of their own that holds Warp 1.19. Without a network the tests skip.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.warp_import.run_example import RUNS

ROOT = Path(__file__).parents[2]
RUN = Path(__file__).with_name("run_example.py")
pytestmark = pytest.mark.slow

ROUNDING = dict.fromkeys(RUNS, 2e-6) | {
    "core/example_fft_poisson_navier_stokes_2d": 3e-5,  # another fast transform
    "core/example_sph": 1e-3,  # neighbours in another order: large forces that nearly cancel
    "optim/example_fluid_checkpoint": 1e-4,  # Adam's steps have one size, so gradients near 0 show their rounding
    "optim/example_fluid_checkpoint_custom_backward": 1e-4,
    "optim/example_navier_stokes_perturbation": 1e-4,
    "fem/example_diffusion": 1e-5,
    "core/example_mesh": 1e-5,
    "tile/example_tile_mcgp": 1e-2,  # random walks: one step at the border of a ball is taken, or not
    "optim/example_particle_repulsion": 1e-5,
    # Iterative solves that end at a tolerance, one step earlier or later.
    "fem/example_convection_diffusion_dg": 3e-3,
    "fem/example_mixed_elasticity": 1e-3,
}
"""Of the largest number of an array."""
EDGES = (
    22657, 23169, 23171, 23425, 23426, 23428, 23680, 23681, 23936, 23937, 23939, 23940, 23941, 24193, 24195, 24196,
    24197, 24451, 24453, 24455, 24709, 24711, 24712, 24968, 25225, 25482, 25995, 26251, 26508,
)  # fmt: skip
"""Pixels along an edge of raymarch's box. Their normals are differences over 1e-5 of numbers that round at 1e-7."""
END_OTHERWISE = ("core/example_work_queue",)
"""Examples that do not run to their end here."""


def run(python: Path, library: str, name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """One example with one library; its arrays are in `library.npz`."""
    (packages,) = (python.parents[1] / p for p in ("lib", "Lib") if (python.parents[1] / p).exists())
    (example,) = packages.rglob(f"warp/examples/{name}.py")
    # The environment's Python has all that this one has, and Warp; Workbench is this repository's.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "WARP_CACHE_PATH": str(folder / "cache")}
    command = [str(python), str(RUN), library, str(example), str(folder / f"{library}.npz")]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment, cwd=folder)


@pytest.mark.share(8)
@pytest.mark.parametrize("name", sorted({*RUNS} - {*END_OTHERWISE}), ids=lambda name: name.partition("_")[2])
def test_an_example_comes_to_the_same(name: str, warp_python: Path, tmp_path: Path) -> None:
    if name == "core/example_torch":
        pytest.importorskip("torch")
    for library in ("warp", "workbench"):
        done = run(warp_python, library, name, tmp_path)
        assert done.returncode == 0, done.stderr[-3000:]
    theirs, ours = (np.load(tmp_path / f"{library}.npz") for library in ("warp", "workbench"))
    assert theirs.files == ours.files
    for array in theirs.files:
        a, b = theirs[array].astype(float), ours[array].astype(float)
        assert a.shape == b.shape and np.isfinite(a).all()
        apart = np.abs(a - b)
        if name == "core/example_raymarch":
            assert apart[[*EDGES]].max() < 0.03
            apart[[*EDGES]] = 0
        assert apart.max() <= ROUNDING[name] * np.abs(a).max(), (array, apart.max(), np.abs(a).max())


def test_the_work_queue_ends_with_the_line_that_writes_out_of_bounds(warp_python: Path, tmp_path: Path) -> None:
    """Its capacity is larger than its buffer; with Warp this is a crash or nothing, so only we run it."""
    done = run(warp_python, "workbench", "core/example_work_queue", tmp_path)
    assert done.returncode == 1 and "KernelFault" in done.stderr
    assert "queue.buffer[index] = item" in done.stderr and "queue.buffer has 4096 elements" in done.stderr
