"""From a Python function object to its definition: its text, and what it sees."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from workbench.api.kernels.watched import Closure
from workbench.errors import KernelSyntaxError
from workbench.frontend.state.definition import Definition, Scope, default_nodes, is_literal
from workbench.function_text import Text, shown_name, text_of
from workbench.source import Source


def definition_of(function: Callable[..., object], source: str | None = None) -> Definition:
    """Return the definition of a function written in a file, a notebook cell or a REPL, or given as `source` text.

    A lambda is the `def` that returns the same, and its lines are those of its file.
    A static method is its function, and a decorator that keeps `__wrapped__` stands for what it wraps: what it does
    when called is Python's, and a kernel is never called.

    Raises:
        KernelSyntaxError: the text cannot be found or has changed, or it is no plain `def`.
    """
    function = inspect.unwrap(function, stop=lambda f: hasattr(f, "__wb_kernel__"))
    code = getattr(function, "__code__", None)
    if code is None:
        name = getattr(function, "__name__", repr(function))
        raise KernelSyntaxError(f"{name} is not a Python function.", advice="Decorate a def.")
    if inspect.iscoroutinefunction(function):
        advice = "Write def, not async def."
        raise KernelSyntaxError(f"{code.co_name} is not defined with def.", advice=advice)
    _refuse_methods(function)
    text = _lambda_text(function) if code.co_name == "<lambda>" else text_of(function, source)
    scope = Scope(closure=Closure(function), user=getattr(function, "__globals__", {}))
    written = text.block, text.node.lineno - text.first + 1
    nodes, values = default_nodes(text.node), getattr(function, "__defaults__", None) or ()
    pairs = zip(nodes.items(), values, strict=True)
    defaults = {name: value for (name, node), value in pairs if not is_literal(node)}
    return Definition(text.node.name, text.node, text.source, scope, _annotations(function), defaults, written=written)


def _lambda_text(function: Callable[..., object]) -> Text:
    """Return a `def` for a lambda, which is looked up in its file by the position of its code.

    Raises:
        KernelSyntaxError: the file has no such lambda, or cannot be read.
    """
    file = function.__code__.co_filename
    source = Source("".join(linecache.getlines(file)), shown_name(file), file)
    positions = function.__code__.co_positions()
    at = next(((line, column) for line, _, column, end in positions if column != end), (0, 0))
    nodes: list[Any] = [n for n in ast.walk(ast.parse(source.text)) if isinstance(n, ast.Lambda)]
    spans = [(n, (n.body.lineno, n.body.col_offset), (n.body.end_lineno, n.body.end_col_offset)) for n in nodes]
    around = [n for n, start, end in spans if start <= at < end]
    if not around:
        raise KernelSyntaxError("The source code of this lambda cannot be found.", advice="Write def.")
    node: Any = ast.copy_location(ast.parse("def lambda_(): pass").body[0], around[-1])
    node.args, node.body = around[-1].args, [ast.copy_location(ast.Return(around[-1].body), around[-1].body)]
    return Text(node, source, "", node.lineno + 1)


def _refuse_methods(function: Callable[..., object]) -> None:
    """Refuse what expects an object as `self`: a launch has none to pass.

    Raises:
        KernelSyntaxError: the function is a method.
    """
    around = function.__qualname__.rpartition(".")[0]
    in_class = bool(around) and not around.endswith("<locals>")
    first = next(iter(function.__code__.co_varnames[: function.__code__.co_argcount]), "")
    if inspect.ismethod(function) or (in_class and first in ("self", "cls") and first not in function.__annotations__):
        raise KernelSyntaxError(
            f"{function.__name__} is a method; a launch has no object to pass as {first}.",
            advice="Make it a function or a @staticmethod, and pass what it needs of the object as arguments.",
        )


def caller() -> FrameType:
    """Return the frame that called the caller of this function: that of a decorator's user, if a decorator calls it."""
    frame = inspect.currentframe()
    for _ in range(2):
        assert frame is not None
        frame = frame.f_back
    assert frame is not None
    return frame


def _annotations(function: Callable[..., object]) -> dict[str, object]:
    """Return the annotations of a function nested in a function or class, as Python evaluates them at its decoration.

    A text (`from __future__ import annotations`) is evaluated if it uses a local name of the enclosing function or
    class: no closure has that, and it is known only while that runs. Empty for a function of a module.
    """
    if "." not in getattr(function, "__qualname__", ""):
        return {}  # names of a module are looked up each time: what they mean may be redefined
    try:
        written = dict(function.__annotations__)
    except NameError:  # Python 3.14 evaluates them when asked
        return {}
    names = _enclosing_locals(function)
    annotations: dict[str, object] = {}
    for name, value in written.items():
        try:
            if not isinstance(value, str):
                annotations[name] = value
            elif any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(ast.parse(value, mode="eval"))):
                annotations[name] = eval(value, getattr(function, "__globals__", {}), names)  # as Python would
        except Exception:  # reported at its place when it is needed
            continue
    return annotations


def _enclosing_locals(function: Callable[..., object]) -> Mapping[str, object]:
    """Return the locals of the running function whose body defines this one; empty if it does not run any more."""
    code, frame = getattr(function, "__code__", None), inspect.currentframe()
    while frame is not None and all(constant is not code for constant in frame.f_code.co_consts):
        frame = frame.f_back
    return frame.f_locals if frame is not None else {}
