"""`python -m workbench.compat.warp` and `install()`: programs for Warp with no import changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import workbench.compat.warp as compat
from workbench.compat.warp import finder

PROGRAM = """
import sys
import warp as wp
import warp.optim, warp.utils
from warp.types import vector
from warp.optim import Adam

@wp.kernel
def halve(x: wp.array(dtype=int), y: wp.array(dtype=int)):
    i = wp.tid()
    y[i] = x[i] / 2

x, y = wp.array([-7, 7], dtype=int), wp.zeros(2, dtype=int)
wp.launch(halve, dim=2, inputs=[x], outputs=[y])
print(y.numpy().tolist(), wp.__version__, warp.optim.Adam is Adam, sys.argv[1:])
print(vector(length=3, dtype=float) == wp.vec3)
try:
    import warp._src.context
    print(warp._src.context.runtime.core.wp_is_cuda_enabled())
    warp._src.context.runtime.core.wp_alloc_host
except AttributeError as error:
    print(error)
"""


def test_a_program_runs_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "workbench.compat.warp", str(path), "--steps", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=tmp_path)
    assert done.stdout.splitlines() == [
        "[-3, 3] 1.19.0 True ['--steps', '3']",
        "True",
        "False",
        "wp._src.context.runtime.core.wp_alloc_host: wp._src.context.runtime.core is not in Workbench",
    ], done.stderr


def test_a_warp_that_is_already_imported_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ModuleType("warp")
    real.__version__ = "1.19.0"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "warp", real)
    with pytest.raises(ImportError, match=r"warp 1\.19\.0 is already imported: call install"):
        compat.install()


def test_parts_of_another_wheel_are_refused_with_both_versions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "warp").mkdir()
    (tmp_path / "warp" / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(finder.importlib.metadata, "version", lambda name: "1.20.1")
    with pytest.raises(ImportError, match=r"warp.fem of warp-lang 1.20.1: only that of warp-lang 1.19"):
        finder.FINDER.find_spec("warp.fem")


def test_a_part_of_the_wheel_needs_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finder.PathFinder, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install warp-lang==1\.19"):
        finder.FINDER.find_spec("warp.sparse")


@pytest.mark.parametrize("arguments", [[], ["no_such_program.py"], ["--compare"]])
def test_wrong_arguments_show_how_it_is_used(arguments: list[str]) -> None:
    from workbench.compat.warp.__main__ import main

    with pytest.raises(SystemExit, match=r"usage: python -m workbench.compat.warp \[--compare\] program.py"):
        main(arguments)
