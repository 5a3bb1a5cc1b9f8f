"""From a Python function object to its definition: find the text, parse it, and see what it sees."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import re
import textwrap
from collections.abc import Callable
from types import FrameType

from workbench.api.kernels.watched import Closure
from workbench.errors import KernelSyntaxError
from workbench.frontend import Definition, Scope
from workbench.source import Source, nodes_of, parsed


def definition_of(function: Callable[..., object], source: str | None = None) -> Definition:
    """The definition of a function written in a file, a notebook cell or a REPL, or given as `source` text.

    A static method is its function, and a decorator that keeps `__wrapped__` stands for what it wraps: what it does
    when called is Python's, and a kernel is never called.

    Raises:
        KernelSyntaxError: the text cannot be found, or is no plain `def`.
    """
    function = inspect.unwrap(function, stop=lambda f: hasattr(f, "__wb_kernel__"))
    name = getattr(function, "__name__", repr(function))
    code = getattr(function, "__code__", None)
    if code is None:
        raise KernelSyntaxError(f"{name} is not a Python function.", advice="Decorate a def.")
    if source is not None:
        lines, first = source.splitlines(keepends=True), 1
        whole = source
    else:
        try:
            lines, first = _lines_of(function)
        except (OSError, TypeError):
            raise _no_source(name) from None
        whole = "".join(linecache.getlines(code.co_filename)) or "".join(lines)
    text = textwrap.dedent("".join(lines))
    indent = len(lines[0]) - len(lines[0].lstrip())
    try:
        node = _def_of(name, text, code.co_firstlineno - first + 1)
    except KernelSyntaxError:
        if source is not None:
            raise
        lines, first = inspect.getsourcelines(function)
        text = textwrap.dedent("".join(lines))
        node = _def_of(name, text, code.co_firstlineno - first + 1)
    if node is None and source is not None:
        advice = "Pass the source code it was made from."
        raise KernelSyntaxError(f"The source code given for {name} has no def {name}.", advice=advice)
    if node is None and code.co_name != "<lambda>" and not inspect.iscoroutinefunction(function):
        raise _no_source(name)  # Python 3.13 gives the text of `python -c` for whatever `exec` has made
    if node is None:
        raise KernelSyntaxError(f"{name} is not defined with def.", advice="Write def, not lambda or async def.")
    written = text, node.lineno
    ast.increment_lineno(node, first - 1)
    scope = Scope(closure=Closure(function), user=getattr(function, "__globals__", {}))
    place = Source(whole, _shown(code.co_filename), code.co_filename)
    return Definition(name, node, place, scope, indent, _annotations(function), written=written)


def _lines_of(function: Callable[..., object]) -> tuple[list[str], int]:
    """What `inspect.getsourcelines` returns, which reads Python's tokens in Python; this only looks at indentation.

    A line that is indented no deeper than the `def` ends the function, or stands inside its brackets or strings. Then
    what is returned is cut there, and is not Python.

    Raises:
        OSError, TypeError: there is no text.
    """
    whole, start = inspect.findsource(function)
    indent = len(whole[start]) - len(whole[start].lstrip())
    end, inside = start, False
    for number in range(start, len(whole)):
        text = whole[number].lstrip()
        if not text or text.startswith("#"):
            continue
        if len(whole[number]) - len(text) <= indent:
            if inside and not text.startswith(")"):
                break
            inside = inside or text.startswith("def ")
        end = number + 1
    return whole[start:end], start + 1


def caller() -> FrameType:
    """The frame that called the function which calls this: a decorator's user."""
    frame = inspect.currentframe()
    for _ in range(2):
        assert frame is not None
        frame = frame.f_back
    assert frame is not None
    return frame


def _no_source(name: str) -> KernelSyntaxError:
    return KernelSyntaxError(
        f"The source code of {name} cannot be found.", advice="Pass it: wb.kernel(function, source=text)."
    )


def _annotations(function: Callable[..., object]) -> dict[str, object]:
    """Annotations as Python evaluated them, of a function made by another one: those that are no text."""
    if "<locals>" not in getattr(function, "__qualname__", ""):
        return {}  # names of a module are looked up each time: what they mean may be redefined
    try:
        return {name: value for name, value in function.__annotations__.items() if not isinstance(value, str)}
    except NameError:  # Python 3.14 evaluates them when asked
        return {}


def _def_of(name: str, text: str, line: int) -> ast.FunctionDef | None:
    """The `def` of this name, the one that begins at `line` (its first decorator's) where there are several."""
    try:
        tree = parsed(text)
    except SyntaxError as error:
        raise KernelSyntaxError(f"The source code of {name} is not Python: {error.msg}.") from None
    except RecursionError:
        advice = "Give parts of its expressions names of their own."
        raise KernelSyntaxError(f"The source code of {name} is nested too deeply.", advice=advice) from None
    found = [n for n in nodes_of(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    begins = [min(n.lineno, *(d.lineno for d in n.decorator_list)) if n.decorator_list else n.lineno for n in found]
    return next((n for n, at in zip(found, begins, strict=True) if at == line), found[0] if found else None)


def _shown(filename: str) -> str:
    """What people call the file: a notebook's cell, or the file's name."""
    number = re.search(r"<ipython-input-(\d+)-", filename)
    if number:
        return f"cell [{number[1]}]"
    return "this cell" if "ipykernel_" in filename else os.path.basename(filename)
