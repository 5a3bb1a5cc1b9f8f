"""mujoco-warp, which is written for Warp: its humanoid steps as with Warp, and as MuJoCo itself says.

All run on the CPU, in an environment of their own with mujoco-warp and the MuJoCo that it requires. Without a network
the tests skip.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.support.checks.environments import python_with

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow
PROGRAM = """
import importlib.resources, sys
library, out = sys.argv[1:]
if library == "workbench":
    import workbench.compat.warp
    workbench.compat.warp.install()
import mujoco, numpy as np
folder = importlib.resources.files("mujoco_warp") / "test_data" / "humanoid"
model = mujoco.MjModel.from_xml_path(str(folder / "humanoid.xml"))
data, positions = mujoco.MjData(model), []
mujoco.mj_resetDataKeyframe(model, data, 0)
mujoco.mj_forward(model, data)
if library == "mujoco":
    for _ in range(200):
        mujoco.mj_step(model, data)
        positions.append(data.qpos.copy())
else:
    import mujoco_warp
    m, d = mujoco_warp.put_model(model), mujoco_warp.put_data(model, data)
    for _ in range(200):
        mujoco_warp.step(m, d)
        positions.append(d.qpos.numpy()[0].copy())
np.save(out, positions)
"""


def test_a_humanoid_steps_as_with_warp(tmp_path: Path) -> None:
    packages = ["warp-lang==1.19.*", "mujoco-warp==4.0.0", "mujoco==4.0.0"]
    python = python_with("mujoco_warp", packages, tmp_path / "environment", inherits=True)
    positions = {}
    for library in ("warp", "workbench", "mujoco"):
        out = tmp_path / f"{library}.npy"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "WARP_CACHE_PATH": str(tmp_path / "cache")}
        command = [str(python), "-W", "ignore", "-c", PROGRAM, library, str(out)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stderr[-3000:]
        positions[library] = np.load(out)
    ours, theirs, exact = positions["workbench"], positions["warp"], positions["mujoco"]
    assert np.abs(ours - theirs)[:20].max() < 1e-5
    assert np.abs(ours - exact).max() <= 2.0 * np.abs(theirs - exact).max()
    assert np.abs(exact[-1] - exact[0]).max() > 0.01  # it moves
