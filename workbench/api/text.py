"""From a Python function object to its definition: find the text, parse it, and see what it sees."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import KernelSyntaxError
from workbench.frontend import Definition, Scope
from workbench.source import Source


def definition_of(function: Callable[..., Any], source: str | None = None) -> Definition:
    """The definition of a function written in a file, a notebook cell or a REPL, or given as `source` text.

    Raises:
        KernelSyntaxError: the text cannot be found, or is no plain `def`.
    """
    name = getattr(function, "__name__", repr(function))
    code = getattr(function, "__code__", None)
    if code is None:
        raise KernelSyntaxError(f"{name} is not a Python function.", advice="Decorate a def.")
    if source is not None:
        lines, first = source.splitlines(keepends=True), 1
        whole = source
    else:
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise KernelSyntaxError(
                f"The text of {name} cannot be found.", advice="Give it: wb.kernel(function, source=text)."
            ) from None
        whole = "".join(linecache.getlines(code.co_filename)) or "".join(lines)
    text = textwrap.dedent("".join(lines))
    indent = len(lines[0]) - len(lines[0].lstrip())
    tree = ast.parse(text)
    node = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name), None)
    if node is None:
        raise KernelSyntaxError(f"{name} is not written as a def.", advice="Write def, not lambda or async def.")
    ast.increment_lineno(tree, first - 1)
    scope = Scope(closure=lambda: _closure(function), user=getattr(function, "__globals__", {}))
    return Definition(name, node, Source(whole, _shown(code.co_filename), code.co_filename), scope, indent)


def _closure(function: Callable[..., Any]) -> Mapping[str, Any]:
    cells = getattr(function, "__closure__", None) or ()
    found = {}
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _shown(filename: str) -> str:
    """What people call the file: a notebook's cell, or the file's name."""
    number = re.search(r"<ipython-input-(\d+)-", filename)
    if number:
        return f"cell [{number[1]}]"
    return "this cell" if "ipykernel_" in filename else os.path.basename(filename)
