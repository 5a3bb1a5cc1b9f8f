"""CUDA C++ in a cell of Python kernels: refused with where it belongs."""

from __future__ import annotations

import io
import re
import tokenize

from workbench.errors import KernelSyntaxError
from workbench.source import Location, Source

_INCLUDE = re.compile(r"#\s*include\s*[<\"]")
_CPP = re.compile(r"\s*(#\s*include\b|#\s*define\b|(extern\s+\"C\"\s+)?__(global|device)__\s)")


def refuse_cuda_cpp(source: Source) -> None:
    """Refuse a text that is no Python and has a line of CUDA C++."""
    for number, line in enumerate(source.lines, 1):
        if found := _CPP.match(line):
            raise _error(source, number, found.start(1))


def refuse_includes(source: Source) -> None:
    """Refuse an `#include` in a text that is Python, which takes it for a comment."""
    if _INCLUDE.search(source.text) is None:
        return
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT and _INCLUDE.match(token.string):
            raise _error(source, *token.start)


def _error(source: Source, line: int, column: int) -> KernelSyntaxError:
    place = Location(source, line, column, line, len(source.line(line)))
    advice = "Begin the cell with %%cuda, or pass the text to wb.cuda_module."
    return KernelSyntaxError("This is CUDA C++; kernels here are written in Python.", place, advice)
