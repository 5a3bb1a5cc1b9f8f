"""A program of a family on a path: by the oracle, or by the right values that it brings along."""

from __future__ import annotations

import numpy as np

import workbench as wb
from tests.judge.paths import PATHS, Launch
from tests.judge.program import Program
from tests.judge.verdicts import Verdict, judge


def paths_of(program: Program) -> list[str]:
    """Return the paths that a program of the table of limits is judged on."""
    plain = [] if program.notes.get("fault") else ["cpu"]
    return [*plain, "cpu, checks", *(["tape"] if program.smooth else [])]


def verdict(program: Program, path: str) -> Verdict:
    """Return what the path did with the program."""
    if "right" not in program.notes or PATHS[path].returns != "values":
        return judge(program, path)
    try:
        launch = Launch.of(program)
        checks = PATHS[path].checks
        if threads := program.notes["block_dim"]:
            wb.launch_tiled(launch.kernel, program.dim, launch.inputs, block_dim=threads, checks=checks)
        else:
            launch.go(checks=checks)
        values = launch.outputs()
    except wb.WorkbenchError as problem:
        return Verdict("refused", str(problem))
    total = 0
    for name, right in program.notes["right"]().items():
        bound = program.notes["bound"]
        wrong = np.abs(values[name] - right) > bound * np.abs(right) if bound else values[name] != right
        total += right.size
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            return Verdict("wrong", f"{name}, number {k}: {values[name].flat[k]!r}; right is {right.flat[k]!r}", total)
    return Verdict("right", "", total)
