"""Warp's own examples, read from its wheel: with one import changed they come to what they come to with Warp.

Both run on the CPU, in an environment of their own that holds Warp 1.19. Without a network the tests skip.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.compat.run_example import RUNS
from tests.support.checks.environments import python_with

ROOT = Path(__file__).parents[2]
RUN = Path(__file__).with_name("run_example.py")
pytestmark = pytest.mark.slow

ROUNDING = 2e-6
"""Of the largest number of an array."""
NEEDS = {
    "core/example_raymarch": "quat_rpy",
    "core/example_fft_poisson_navier_stokes_2d": "tile_fft",
    "core/example_dem": "HashGrid",
    "core/example_sph": "HashGrid",
    "optim/example_fluid_checkpoint": "optim",
    "optim/example_fluid_checkpoint_custom_backward": "optim",
    "optim/example_navier_stokes_perturbation": "tile_fft",
    "optim/example_particle_repulsion": "HashGrid",
}
"""Names of Workbench without which an example is refused."""


@pytest.fixture(scope="session")
def warp_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return python_with("warp", ["warp-lang==1.19.*"], tmp_path_factory.mktemp("warp"), inherits=True)


def run(python: Path, library: str, name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """One example with one library; its arrays are in `library.npz`."""
    (packages,) = (python.parents[1] / p for p in ("lib", "Lib") if (python.parents[1] / p).exists())
    (example,) = packages.rglob(f"warp/examples/{name}.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "WARP_CACHE_PATH": str(folder / "cache")}
    command = [str(python), str(RUN), library, str(example), str(folder / f"{library}.npz")]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment, cwd=folder)


def has(name: str) -> bool:
    try:
        return getattr(wb, name) is not None
    except AttributeError:
        return False


@pytest.mark.parametrize("name", sorted({*RUNS} - {"core/example_work_queue"}), ids=lambda name: name.partition("_")[2])
def test_an_example_comes_to_the_same(name: str, warp_python: Path, tmp_path: Path) -> None:
    if name in NEEDS and not has(NEEDS[name]):
        refused = run(warp_python, "workbench", name, tmp_path)
        assert refused.returncode == 1 and f"has no {'attribute ' * 0}" in refused.stderr
        pytest.skip(f"Workbench has no {NEEDS[name]}")
    for library in ("warp", "workbench"):
        done = run(warp_python, library, name, tmp_path)
        assert done.returncode == 0, done.stderr[-3000:]
    theirs, ours = (np.load(tmp_path / f"{library}.npz") for library in ("warp", "workbench"))
    assert theirs.files == ours.files
    for array in theirs.files:
        a, b = theirs[array].astype(float), ours[array].astype(float)
        assert a.shape == b.shape and np.isfinite(a).all()
        beyond = np.argwhere(~(np.abs(a - b) <= ROUNDING * max(np.abs(a).max(), 1e-30)))
        assert len(beyond) == 0, (array, np.abs(a - b).max(), np.abs(a).max(), len(beyond))


def test_the_work_queue_ends_with_the_line_that_writes_out_of_bounds(warp_python: Path, tmp_path: Path) -> None:
    """Its capacity is larger than its buffer; with Warp this is a crash or nothing, so only we run it."""
    done = run(warp_python, "workbench", "core/example_work_queue", tmp_path)
    assert done.returncode == 1 and "KernelFault" in done.stderr
    assert "queue.buffer[index] = item" in done.stderr and "queue.buffer has 4096 elements" in done.stderr
