"""The cell that is running: its text as it was typed, the file that its code carries, and the notebook's."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from pathlib import Path
from typing import Any


def whole_cell(shell: Any, cell: str) -> str:
    """Return the cell as it was typed, its magic's line included; empty if the shell does not say."""
    typed = getattr(shell.history_manager, "input_hist_raw", None) or [""]
    return typed[-1] + ("\n" if cell.endswith("\n") and not typed[-1].endswith("\n") else "")


def notebook_file() -> Path | None:
    """Return the file of the running notebook, which Jupyter's servers name to kernels that they start; else None."""
    name = os.environ.get("JPY_SESSION_NAME", "")
    return Path(name) if name.endswith(".ipynb") else None


def running_file(shell: Any, cell: str) -> str:
    """Return the file name in the running cell's code; with no cell on the stack, the one IPython would give."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals is shell.user_global_ns and frame.f_code.co_name == "<module>":
            return frame.f_code.co_filename
        frame = frame.f_back
    return shell.compile.cache(cell, shell.execution_count)


def lines_before(shell: Any, cell: str) -> int:
    """Return the number of lines of the typed cell before `cell`: its magic's, and empty ones above; 1 if unknown."""
    typed = whole_cell(shell, cell)
    return typed[: -len(cell)].count("\n") if typed.endswith(cell) else 1


def keep_lines(shell: Any, filename: str, line: str, cell: str) -> None:
    """Store the typed cell in `linecache` under `filename`, its code's, so that tracebacks show the reader's lines."""
    typed = whole_cell(shell, cell)
    lines = (typed if typed.endswith(cell) else f"{line}\n{cell}").splitlines(keepends=True)
    linecache.cache[filename] = (sum(map(len, lines)), None, lines, filename)


def run_below(shell: Any, line: str, cell: str) -> None:
    """Run the lines below a magic's `line` under the cell's own file and line numbers.

    The last one may be a value, which is shown unless a semicolon ends it, as in every cell.
    """
    __tracebackhide__ = True  # of an error of the cell's own, the reader sees the cell's lines
    filename = running_file(shell, cell)
    keep_lines(shell, filename, line, cell)
    tree = ast.parse(shell.transform_cell(cell), filename)
    ast.increment_lineno(tree, lines_before(shell, cell))
    shown = tree.body and isinstance(tree.body[-1], ast.Expr) and not cell.rstrip().endswith(";")
    last = [tree.body.pop()] if shown else []
    for code in (compile(tree, filename, "exec"), compile(ast.Interactive(last), filename, "single")):
        exec(code, shell.user_global_ns, shell.user_ns)
