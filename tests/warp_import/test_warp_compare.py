"""`python -m workbench.compat.warp --compare`: the first array that differs between Warp and Workbench."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import numpy as np
import pytest

from workbench.compat.warp.__main__ import main
from workbench.compat.warp.compare import difference, report

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
import numpy as np
import warp as wp

@wp.kernel
def power(x: wp.array(dtype=float), n: wp.array(dtype=int), y: wp.array(dtype=float)):
    i = wp.tid()
    total = float(1.0)
    for k in range(n[i]):
        total = total * x[i]
    y[i] = total

x = wp.array(np.random.default_rng().random(3) + 1.0, dtype=float, requires_grad=True)
y = wp.zeros(3, requires_grad=True)
n = wp.full(3, 3, dtype=int)
for step in range(2):
    with wp.Tape() as tape:
        wp.launch(power, dim=3, inputs=[x, n], outputs=[y])
    if sys.argv[1:] == ["--backward"]:
        tape.backward(grads={y: wp.ones(3)})
    print("lost")
"""
LINE = 1 + PROGRAM[: PROGRAM.index("wp.launch")].count("\n")

# Stands for Warp where its wheel is not: Workbench itself, with a fault that the test knows.
DOUBLE = """
import workbench.compat.warp as compat

def __getattr__(name):
    return getattr(compat, name)

class Tape(compat.Tape):
    def backward(self, *args, **options):
        super().backward(*args, **options)
        x = self.launches[0][3][0]
        x.grad.assign(x.grad.numpy() * [1.0, 2.0, 1.0])
"""


def compared(path: Path, *arguments: str, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), str(ROOT)]), "WARP_CACHE_PATH": str(path)}
    (path / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [python, "-m", "workbench.compat.warp", "--compare", "program.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=path, env=environment)


@pytest.mark.slow
def test_a_wrong_gradient_is_reported_by_launch_array_and_element(tmp_path: Path) -> None:
    (tmp_path / "warp").mkdir()
    (tmp_path / "warp" / "__init__.py").write_text(DOUBLE, encoding="utf-8")
    done = compared(tmp_path, "--backward")
    x = np.random.default_rng(0).random(3).astype(np.float32)[1] + np.float32(1)
    start = f"gradient of power, program.py:{LINE}: x.grad[1]: Warp "
    assert done.stdout.startswith(start) and done.returncode == 1, done.stdout + done.stderr
    theirs, ours = (float(t.split()[1]) for t in done.stdout.removeprefix(start[:-5]).split(" (")[0].split(", "))
    assert np.allclose([theirs, ours], [6 * x * x, 3 * x * x], rtol=1e-6)
    assert done.stdout.endswith("(1 of 3 numbers differ)\n")
    done = compared(tmp_path)
    assert done.stdout == "No difference in 2 launches and 0 gradients of launches\n", done.stdout + done.stderr


@pytest.mark.slow
def test_the_gradient_that_warp_has_wrong_is_named(warp_python: Path, tmp_path: Path) -> None:
    done = compared(tmp_path, "--backward", python=str(warp_python))
    x = np.random.default_rng(0).random(3).astype(np.float32)[0] + np.float32(1)
    assert done.returncode == 1 and f"gradient of power, program.py:{LINE}: x.grad[0]: Warp " in done.stdout, done
    ours = float(done.stdout.split("Workbench ")[1].split()[0])
    assert np.isclose(ours, 3 * x * x, rtol=1e-6)


def test_differences_are_those_beyond_rounding() -> None:
    a = np.array([1000.0, 1.0, np.nan, np.inf], np.float32)
    assert not difference(a, a + np.float32([0.1, 0.1, 0, 0]))
    assert difference(a, a + np.float32([0.1, 1, 0, 0])) == "[1]: Warp 1.0, Workbench 2.0 (1 of 4 numbers differ)"
    assert difference(np.array([[3, 4]]), np.array([[3, 5]])).startswith("[0, 1]: Warp 4, Workbench 5")
    assert "shape (2,)" in difference(np.zeros(3), np.zeros(2))
    pairs = np.zeros(2, [("a", "i4"), ("b", "f4")])
    other = pairs.copy()
    other["b"][1] = 2
    assert difference(pairs, other).startswith(".b[1]: Warp 0.0, Workbench 2.0")
    assert not difference(np.zeros(0), np.zeros(0))


def test_runs_that_stop_or_part_say_after_how_many_launches() -> None:
    one = ("launch", "step", "a.py:3", [])
    assert report(iter([(one, one), (one, None)])) == (False, "Workbench stopped after 1 launches: the error is above")
    is_equal, text = report(iter([(one, one), (one, ("launch", "other", "a.py:9", []))]))
    assert not is_equal
    assert text == "The runs part after 1 launches: Warp has launch step a.py:3, Workbench has launch other a.py:9"


def test_without_warp_there_is_nothing_to_compare_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PathFinder, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install warp-lang"):
        main(["--compare", __file__])
