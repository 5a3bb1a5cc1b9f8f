"""Every name's value at each statement, for stepping: marks in the IR of a lowering that is never compiled.

A mark's operands are the values of all names in all open functions; the rest (numbers that have no type yet, functions,
parts of arrays) is known at compile time and stands in its attribute. Names with a dot are ours and left out.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from workbench.frontend.state.context import Context, Env
from workbench.frontend.state.operands import Elements, Literal, Operand, Parts, Static, View
from workbench.frontend.values.structs import gather
from workbench.ir.ops import END, FRAMES
from workbench.ir.values import Value
from workbench.source import Location
from workbench.structs import Struct


class Shown(msgspec.Struct, frozen=True):
    """A name's value as text or number, where it is known at compile time."""

    value: object


# How to find a name's value: among the mark's operands, a value known now, or a tuple of those.
Place = int | Shown | tuple["Place", ...]


class Frame(msgspec.Struct, frozen=True):
    """An open function: its location and its names.

    Attributes:
        function: its name.
        place: the location of what runs in it now.
        names: for each local name how its value is found.
    """

    function: str
    place: Location
    names: Mapping[str, Place]


def mark(context: Context, statement: ast.stmt | None) -> None:
    """Emit a mark with the values of all names before a statement, or at the kernel's end (None), if requested."""
    if not context.shared.trace or context.definition.library or (statement is not None and _is_ours(statement)):
        return
    values: list[Value] = []
    frames: list[Frame] = []
    current: Context | None = context
    node: ast.AST | None = statement
    while current is not None:
        shown = [n for n in current.env if not _is_hidden(n, current.env)]
        named = {n: _shown_operand(_recomposed(current.env, n), values) for n in shown}
        location = current.definition.locate(node or current.definition.node)
        location = location if node is not None else replace(location, line=location.end_line, column=0)
        known = {n: p for n, p in named.items() if p is not None}
        frames.append(Frame(current.definition.name, location, known))
        current, node = current.caller, current.caller.node if current.caller is not None else None
    frames.reverse()
    attrs: dict[str, object] = {FRAMES: tuple(frames), END: statement is None}
    context.builder.emit("mark", values, [v.type for v in values], attrs)


def _is_hidden(name: str, env: Env) -> bool:
    """Return whether a name is one of our own, which have a dot; a struct's fields have one too, and are shown."""
    root = env.get(name.split(".")[0])
    return "." in name and not (isinstance(root, Parts) and isinstance(root.type, Struct))


def _recomposed(env: Env, name: str) -> Operand:
    """Return what a name means, a tuple or a part of an array as one."""
    operand = env[name]
    return gather(env, name) if isinstance(operand, Parts) and not isinstance(operand.type, Struct) else operand


def _is_ours(statement: ast.stmt) -> bool:
    """Return whether a statement only assigns names of ours, such as a flag that stands for a `break`."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return bool(targets) and all(isinstance(t, ast.Name) and "." in t.id for t in targets)


def _shown_operand(operand: Operand, values: list[Value]) -> Place | None:
    """Return what a trace shows of a name's operand; None if it is nothing to show.

    Args:
        operand: the operand.
        values: the operands of the `mark` so far; IR values are appended.

    Returns:
        The position of an IR value in `values`, a `Shown` text or number, or a tuple of these for a tuple.
    """
    if isinstance(operand, Value):
        values.append(operand)
        return len(values) - 1
    if isinstance(operand, Literal):
        return Shown(operand.value)
    if isinstance(operand, tuple):
        parts = [_shown_operand(o, values) for o in operand]
        return tuple(p if p is not None else Shown("?") for p in parts)
    if isinstance(operand, Static):
        return Shown(operand.value if isinstance(operand.value, bool) else operand.path)
    if isinstance(operand, Elements):
        return Shown("an array of structs")
    return Shown(f"a part of {operand.array.name}") if isinstance(operand, View) else None
