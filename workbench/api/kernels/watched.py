"""Names that a kernel was made with: where to look whether they still mean the same."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from types import CellType, ModuleType
from typing import Protocol

import numpy as np

from workbench.frontend.expressions.statics import PURE
from workbench.frontend.state.definition import MISSING, Dependency, Scope
from workbench.host.narrow import is_numpy_array, is_tuple


class Holder(Protocol):
    """A dict, or the variable of an enclosing function, as far as a value is read from it."""

    def get(self, name: str, /) -> object:
        """Return the name's current value in this scope; None where it is not defined."""
        ...


NameBinding = tuple[Holder, str, object]
"""The scope that holds a name, the name, and its value: as long as it is held there, the name means what it did."""


class Closure:
    """The variables of the enclosing functions of a function; calling it returns their present values."""

    def __init__(self, function: Callable[..., object]) -> None:
        """Hold the cells of the variables that a function takes from those around it; none of any other object."""
        code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
        self.cells: dict[str, CellType] = dict(zip(code.co_freevars if code else (), cells, strict=True))

    def __call__(self) -> Mapping[str, object]:
        """Return the values of the variables by name, without those that are not assigned yet."""
        values: dict[str, object] = {}
        for name, cell in self.cells.items():
            try:
                values[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
        return values


class _Variable:
    """A variable of an enclosing function, by its cell."""

    __slots__ = ("cell",)

    def __init__(self, cell: CellType) -> None:
        """Hold the cell in which Python keeps the variable's value."""
        self.cell = cell

    def get(self, _: str, /) -> object:
        """Return the variable's value, whatever the name asked for; None if none is assigned."""
        try:
            return self.cell.cell_contents
        except ValueError:
            return None


def name_bindings(dependency: Dependency) -> tuple[NameBinding, ...] | None:
    """Return the scopes that decide whether a name still means what it did; None if looking there is not enough.

    It is enough for names of the user's globals, of enclosing functions and of the language, and for attributes of
    modules. It is not for values that can change in place: NumPy arrays, and tuples of those.
    """
    if dependency.place is not None:
        return ((*dependency.place, dependency.value),)
    scope = dependency.definition.scope
    if dependency.reevaluate is None:
        return _bindings(scope, dependency.path, dependency.value) if _lasts(dependency.value) else None
    if dependency.paths is None:
        return None
    scopes: list[NameBinding] = []
    for path in dependency.paths:
        parts = _bindings(scope, path)
        if parts is None or not _constant(parts[-1][2]):
            return None
        scopes += parts
    return tuple(scopes)


def _bindings(scope: Scope, path: str, value: object = MISSING) -> tuple[NameBinding, ...] | None:
    """Return the scopes of the parts of a dotted name.

    None if they are not known, or if `value`, where passed, is not the name's value there.
    """
    root, *attrs = path.split(".")
    scopes = _root(scope, root)
    if not scopes or (attrs and root in scope.own):
        return None
    for attr in attrs:
        owner = scopes[-1][2]
        if not isinstance(owner, ModuleType) or attr not in vars(owner):
            return None
        scopes.append((vars(owner), attr, vars(owner)[attr]))
    return tuple(scopes) if value is MISSING or scopes[-1][2] is value else None


def _root(scope: Scope, name: str) -> list[NameBinding]:
    """Return the scope that holds a name, after those that would hide it if they defined it; empty if unknown."""
    if name in scope.defined:  # looked up in the namespace, which will hold it
        return [(scope.user, name, scope.defined[name])]
    if name in scope.own:
        return [(scope.own, name, scope.own[name])]
    cell = scope.closure.cells.get(name) if isinstance(scope.closure, Closure) else None
    if cell is not None:
        held = _Variable(cell)
        value = held.get(name)
        return [] if value is None else [(held, name, value)]
    if name in scope.user:
        # Which of two it is, the user's or the language's, is a question of what can be used.
        return [] if name in scope.language or name in scope.closure() else [(scope.user, name, scope.user[name])]
    outer = scope.language if name in scope.language else vars(builtins)
    return [(scope.user, name, None), (outer, name, outer[name])] if name in outer else []


def _lasts(value: object) -> bool:
    """Return whether a value cannot change in place: it is no NumPy array, and no tuple that holds one."""
    return all(map(_lasts, value)) if is_tuple(value) else not is_numpy_array(value)


def _constant(value: object) -> bool:
    """Return whether the value is a number, a text, a tuple of these, or a builtin function without side inputs.

    The result of such a function depends on its arguments alone.
    """
    if is_tuple(value):
        return all(map(_constant, value))
    number = type(value) in (bool, int, float, str) or isinstance(value, np.generic)
    return number or any(value is getattr(builtins, name) for name in PURE)


def same_value(before: object, now: object) -> bool:
    """Return whether a captured constant is what it was; False if that cannot be known without comparing keys."""
    if is_tuple(before) and is_tuple(now):
        return len(before) == len(now) and all(same_value(a, b) for a, b in zip(before, now, strict=True))
    if before is now:
        return not is_numpy_array(before)  # an array can change in place: relower, the key decides
    if type(before) is not type(now) or now is MISSING:
        return False
    if isinstance(before, float) and isinstance(now, float):
        return before.hex() == now.hex()  # 0.0 is not -0.0, and NaN is itself
    return isinstance(before, (int, str)) and before == now
