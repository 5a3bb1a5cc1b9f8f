"""The prelude's sum over a warp, with 32 real threads that meet at every shuffle."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from workbench.backends.cuda.prelude import prelude

WARP = Path(__file__).parents[2] / "hostshim/warp.cpp"


def test_a_whole_warp_touches_memory_once_and_a_partial_one_for_each_thread(
    tmp_path: Path, need: Callable[[str], str]
) -> None:
    compiler = need("g++")
    (tmp_path / "prelude.hpp").write_text(prelude([("reduce",)], [], []))
    program = tmp_path / "warp"
    define = f'-DPRELUDE="{tmp_path / "prelude.hpp"}"'
    command = [compiler, "-std=c++20", "-O1", "-pthread", define, str(WARP), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[:2000]
    rows = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    assert rows == [
        "float 1 264 1", "double 1 132 1", "int 1 1584 1", "float 0 264 32", "double 0 132 32", "int 0 1584 32",
    ]  # fmt: skip
