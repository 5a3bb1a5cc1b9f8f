"""How much Python a first launch runs: of a kernel that the cache has, and of one that it has not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workbench.backends.cpu.jit import machine

PROGRAM = """
import json, os, sys, threading
import numpy as np
import workbench as wb

@wb.kernel
def spring_energy(x: wb.array[float], stiffness: float, energy: wb.array[float]):
    i = wb.tid()
    stretch = x[i + 1] - x[i] - 1.0
    wb.atomic_add(energy, 0, 0.5 * stiffness * stretch * stretch)

x, energy = wb.array(np.linspace(0.0, 12.0, 11, dtype=np.float32)), wb.zeros(1)
package, calls, files, before = os.path.dirname(wb.__file__), [0], set(), set(sys.modules)

def note(frame, what, _):
    if what == "call" and frame.f_code.co_filename.startswith(package):
        calls[0] += 1
        files.add(frame.f_code.co_filename)

threading.setprofile(note)
sys.setprofile(note)
wb.launch(spring_energy, 10, [x, 100.0], [energy])
sys.setprofile(None)
threading.setprofile(None)
modules = sorted(set(sys.modules) - before)
print(json.dumps({"energy": float(energy.numpy()[0]), "calls": calls[0], "files": len(files), "modules": modules}))
"""


def first_launch(program: Path, cache: Path) -> dict[str, Any]:
    environment = {**os.environ, "WORKBENCH_CACHE": str(cache)}
    run = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not machine(), reason="elsewhere LLVM loads what the cache has")
def test_a_first_launch_runs_little_python(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    cold, hit = (first_launch(program, tmp_path / "cache") for _ in range(2))
    assert cold["energy"] == hit["energy"] == pytest.approx(20.0)
    assert cold["calls"] <= 6_000 and cold["files"] <= 125 and hit["calls"] <= 862
    assert hit["files"] <= 53
    assert hit["modules"] == ["workbench.backends.cpu.jit"], "what a hit needs beyond `import workbench`"
