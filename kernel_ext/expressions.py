"""Expressions on a magic's line: read once, evaluated over the notebook's names; and the axes of sweeps."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import workbench as wb
from kernel_ext.refusal import Refusal

_RANGE = re.compile(r"^(?P<first>.+?)\.\.(?P<last>.+?)(?::(?P<kind>[x+])(?P<step>.+))?$")
MOST_VALUES = 1000


def expression(source: str, namespace: dict[str, Any], magic: str) -> Callable[..., Any]:
    """Return a function that evaluates the expression `source` over the namespace as it is at each call.

    Its keyword arguments replace names for one call: `f(m=64)`. `magic` is what an error calls the caller.

    Raises:
        Refusal: the text is empty, is the name of a kernel alone, or is no Python expression.
    """
    if not source.strip():
        such = "loss(x)" if magic == "%grad" else "wb.launch(saxpy, n, [2.0, x, y])"
        raise Refusal(f"{magic} takes an expression, such as {magic} {such}")
    if isinstance(namespace.get(name := source.strip()), wb.Kernel):
        if magic == "%grad":  # a launch returns nothing that has a gradient
            check = f"wb.gradcheck({name}, n, [...], [...])"
            raise Refusal(
                f"%grad takes what returns one float, such as %grad loss(x); {name} alone is checked by {check}"
            )
        raise Refusal(f"{magic} takes what launches {name}: {magic} wb.launch({name}, n, [...])")
    try:
        code = compile(source.strip(), f"<{magic}>", "eval")
    except SyntaxError as error:
        raise Refusal(f"{magic} takes one Python expression; {source.strip()!r} is not one ({error.msg})") from None
    # A traceback shows the expression as the line of a file.
    linecache.cache[code.co_filename] = (len(source), None, [source.strip()], code.co_filename)
    return lambda **values: eval(code, {**namespace, **values} if values else namespace)


def unquoted(source: str) -> str:
    """Return the text without white space at its ends, and without one pair of quotes around it if there is one."""
    source = source.strip()
    return source[1:-1] if len(source) > 1 and source[0] == source[-1] and source[0] in "\"'" else source


def names_in(source: str) -> list[str]:
    """Return the names that an expression contains, each once, breadth-first; attributes are not among them.

    Raises:
        SyntaxError: it is no Python expression.
    """
    names = [n.id for n in ast.walk(ast.parse(source.strip(), mode="eval")) if isinstance(n, ast.Name)]
    return list(dict.fromkeys(names))


def axis(item: str, namespace: Mapping[str, Any], magic: str) -> tuple[str, tuple[Any, ...]]:
    """Parse `m=64,128`, `block=32..1024:x2` (times 2) or `n=0..10:+5` (plus 5; else plus 1) to a name and values.

    Values are Python expressions over the namespace.

    Raises:
        Refusal: it is not of that form.
    """
    name, equals, source = unquoted(item).partition("=")
    if not (equals and name.isidentifier() and source.strip()):
        raise Refusal(f"{magic} takes NAME=VALUES, such as m=64,128 or block=32..1024:x2; it got {item!r}")
    try:
        match = _RANGE.match(source.strip())
        if match is None:
            values = eval(f"({source},)", dict(namespace))
        else:
            bounds = (eval(match[part], dict(namespace)) if match[part] else 1 for part in ("first", "last", "step"))
            values = _range(*bounds, times=match["kind"] == "x")
    except Refusal:
        raise
    except Exception as error:
        raise Refusal(f"{item}: the values do not evaluate ({type(error).__name__}: {error})") from None
    return name, tuple(values)


def _range(first: Any, last: Any, step: Any, times: bool) -> list[Any]:
    """Return `first`, then each value after it plus `step` (times `step` with `times`), up to and including `last`.

    Raises:
        Refusal: the range does not go upwards, or has more than `MOST_VALUES` values.
    """
    forward = step > 1 and first > 0 if times else step > 0
    if not forward or last < first:
        kind = "from a positive number by a factor above 1" if times else "upwards"
        raise Refusal(
            f"a range goes {kind}: 32..1024:x2 or 0..10:+5; it got {first}..{last}:{'x' if times else '+'}{step}"
        )
    values = [first]
    while (following := values[-1] * step if times else values[-1] + step) <= last:
        values.append(following)
        if len(values) > MOST_VALUES:
            raise Refusal(f"an axis has at most {MOST_VALUES} values; {first}..{last} has more")
    return values


def axes(items: Iterable[str], namespace: Mapping[str, Any], magic: str) -> dict[str, tuple[Any, ...]]:
    """Parse several axes; return the values of each by name.

    Raises:
        Refusal: one is not of its form, or two have one name.
    """
    parsed: dict[str, tuple[Any, ...]] = {}
    for item in items:
        name, values = axis(item, namespace, magic)
        if name in parsed:
            raise Refusal(f"{magic} has two axes {name}; give all its values in one")
        parsed[name] = values
    return parsed
