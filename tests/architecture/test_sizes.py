"""Check sizes that a reader can follow: files under 800 lines, functions under 60, names that say something."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.support.checks.modules import ROOT, tree

FOLDERS = ("workbench", "kernel_ext", "tests", "benchmarks", "notebooks")
FILE_LINES = 800
FUNCTION_LINES = 60
EMPTY_NAMES = {"utils", "util", "common", "helpers", "helper", "misc"}


def files() -> list[Path]:
    return sorted(p for name in FOLDERS for p in (ROOT / name).rglob("*.py"))


def test_files_stay_under_800_lines() -> None:
    long = [(p, n) for p in files() if (n := len(p.read_text().splitlines())) > FILE_LINES]
    scripts = [
        (p, n) for p in (ROOT / "kernel_ext").rglob("*.js") if (n := len(p.read_text().splitlines())) > FILE_LINES
    ]
    assert not long + scripts, "\n".join(f"{p.relative_to(ROOT)} has {n} lines" for p, n in long + scripts)


def test_functions_stay_under_60_lines() -> None:
    long = []
    for path in files():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {lines} lines")
    assert not long, "\n".join(long)


def test_files_are_named_for_what_they_hold() -> None:
    vague = [p.relative_to(ROOT) for p in files() if p.stem in EMPTY_NAMES]
    assert not vague, vague
