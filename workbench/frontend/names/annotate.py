"""Annotations of parameters: a type, or nothing (a generic parameter)."""

from __future__ import annotations

import ast
import difflib
import types as python_types
import typing
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.errors import KernelTypeError, WorkbenchError
from workbench.frontend.names.generic import Generic, Ref, generic
from workbench.frontend.state import reads
from workbench.frontend.state.definition import MISSING, Definition, Scope, anything, default_nodes, is_literal
from workbench.source import Location, Source
from workbench.structs import AnyType, IndexedArray, Struct, StructArray, as_element
from workbench.tiles import Tile
from workbench.types import ArrayType, Scalar, Vector

_OUTER = (
    "A name of the function around this one is known where the body uses it too, and without quotes around the "
    "annotation or `from __future__ import annotations`."
)


_PYTHON = ("bool", "float", "int")
"""Types of the language that are Python's."""


class _Names(Mapping[str, Any]):
    """A scope as a mapping from names to values, for the globals of an `eval`.

    `usable` says whether a user's value of a name that the language has, too, is taken.
    """

    def __init__(self, scope: Scope, usable: Callable[[Any], bool]) -> None:
        """Look names up in `scope`; `usable` says of a user's value whether a kernel can use it."""
        self.scope, self.usable = scope, usable

    def __getitem__(self, name: str) -> Any:
        """Return the present value of a name; KeyError if the scope has none."""
        value = self.scope.lookup(name, self.usable)
        if value is MISSING:
            raise KeyError(name)
        return value

    def __iter__(self) -> Any:
        """Return an iterator over all names that can be seen in the scope, without Python's builtins."""
        return iter(self.scope.known())

    def __len__(self) -> int:
        """Return the number of names that can be seen in the scope, without Python's builtins."""
        return len(self.scope.known())


def is_annotation(value: Any) -> bool:
    """Return whether a name in an annotation can mean the value: only then a user's name wins over the language's."""
    return (
        isinstance(value, (type, Scalar, Vector, ArrayType, Struct, StructArray, IndexedArray))
        or value is Any
        or hasattr(value, "__dict__")
        or type(value).__name__ == "TypeAliasType"
    )


def parameter_annotations(definition: Definition) -> dict[str, AnyType | None]:
    """Return each parameter's type, or None if it is generic.

    Raises:
        KernelTypeError: an annotation that is not a type of the language.
    """
    return parameter_types(definition)[0]


def parameter_types(definition: Definition) -> tuple[dict[str, AnyType | None], dict[str, Generic]]:
    """Return each parameter's type, or None if it is generic, and the families of types that generic ones take.

    A generic parameter that takes every type has no family.

    Raises:
        KernelTypeError: an annotation that is not a type of the language.
    """
    types: dict[str, AnyType | None] = {}
    families: dict[str, Generic] = {}
    for argument in definition.parameters:
        name, node = argument.arg, argument.annotation
        value = _value(definition, argument) if node is not None else None
        family = generic(value)
        if family is not None:
            families[name] = family
        types[name] = None
        if node is not None and family is None:
            types[name] = parameter_type(value, name, definition.locate(node), definition.name)
    return types, families


def evaluated(definition: Definition, node: ast.expr, name: str) -> Any:
    """Return the value of an annotation, as Python would have it in the definition's scope.

    Args:
        name: what an error calls it.

    Raises:
        KernelTypeError: it cannot be evaluated.
    """
    try:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = ast.parse(node.value, mode="eval").body
        value = _plain(definition, node)
        if value is not MISSING:
            return unwrapped(value)
        reads.expression(definition, node, is_annotation)
        code = compile(ast.Expression(node), "<annotation>", "eval")
        # The user's own annotation, as Python would.
        names = ChainMap(_type_parameters(definition), _Names(definition.scope, is_annotation))  # type: ignore[arg-type]
        return unwrapped(eval(code, {"__builtins__": {}}, names))
    except WorkbenchError:
        raise
    except Exception as error:
        message = f"The annotation of {name} cannot be evaluated: {error}."
        raise definition.type_error(message, _meant(definition, error) or _brackets(node), node) from None


def _meant(definition: Definition, error: Exception) -> str:
    """Return advice for an annotation with a name that is not defined; empty if there is none, or for other errors."""
    if not isinstance(error, NameError):
        return ""
    near = difflib.get_close_matches(error.name or "", sorted({*definition.scope.known(), *_PYTHON}), 1, 0.75)
    return f"Did you mean {near[0]}?" if near else _OUTER if definition.scope.closure is not dict else ""


def evaluated_defaults(node: ast.FunctionDef, source: Source, scope: Scope) -> dict[str, Any]:
    """Return the values of a def's defaults that are no literals, by parameter, as Python would evaluate them now.

    Raises:
        KernelTypeError: one cannot be evaluated.
    """
    values: dict[str, Any] = {}
    for name, default in default_nodes(node).items():
        if not is_literal(default):
            location = Definition(node.name, node, source, scope).locate(default)
            values[name] = value_in(scope, default, location, f"The default of {name} in {node.name}", node.name)
    return values


def value_in(scope: Scope, node: ast.expr, location: Location, what: str, function: str = "") -> Any:
    """Return the value of an expression of a cell, as Python evaluates it over the scope's names.

    Args:
        scope: where its names are looked up.
        node: the expression.
        location: where it stands.
        what: what an error calls it: `The default of a in k`.
        function: the def that it belongs to.

    Raises:
        KernelTypeError: it cannot be evaluated.
    """
    try:
        code = compile(ast.Expression(node), "<cell>", "eval")
        return eval(code, {"__builtins__": {}}, _Names(scope, anything))  # type: ignore[arg-type]
    except Exception as error:
        what, advice = f"{what} cannot be evaluated: {error}.", "Define what it reads above it, or before this cell."
        raise KernelTypeError(what, location, advice, function) from None


def _plain(definition: Definition, node: ast.expr) -> Any:
    """Return the value of a name or dotted name, or of such a one indexed by another, without Python's compiler.

    Returns:
        The value; MISSING where the node is something else, or where Python will say what is wrong with it.
    """
    if isinstance(node, ast.Subscript):
        base, index = _plain(definition, node.value), _plain(definition, node.slice)
        return MISSING if base is MISSING or index is MISSING else base[index]
    path = reads.dotted(node)
    if path in _type_parameters(definition):
        return Any
    return MISSING if path is None else definition.read(path, is_annotation)


def _type_parameters(definition: Definition) -> dict[str, Any]:
    """Return the type parameters of `def k[T](…)`, which leave a type open as `Any` does."""
    return dict.fromkeys((p.name for p in getattr(definition.node, "type_params", ())), Any)


def _brackets(node: ast.expr) -> str:
    """Return how to annotate an array that is written `float[:, :]` or `array[float, 2]`, as elsewhere; else empty."""
    if not isinstance(node, ast.Subscript):
        return ""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    kind, slices = ast.unparse(node.value), sum(isinstance(part, ast.Slice) for part in parts)
    if slices:
        spelling = f"array[{kind}]" if slices == 1 else f"array{slices}d[{kind}]"
        return f"Write {spelling} for an array of {slices} dimension{'s' * (slices > 1)}."
    if kind.rpartition(".")[2] == "array" and len(parts) > 1:
        return f"Write array2d[{ast.unparse(parts[0])}] for an array of 2 dimensions; array3d and array4d have more."
    return ""


def parameter_annotation(definition: Definition, argument: ast.arg) -> AnyType | None:
    """Return one parameter's type; None if it is generic.

    Raises:
        KernelTypeError: its annotation is not a type of the language.
    """
    if argument.annotation is None:
        return None
    location = definition.locate(argument.annotation)
    return parameter_type(_value(definition, argument), argument.arg, location, definition.name)


def _value(definition: Definition, argument: ast.arg) -> Any:
    """Return the Python value of a parameter's annotation: the one Python evaluated, or else its evaluated source."""
    assert argument.annotation is not None
    if argument.arg in definition.annotations:
        return unwrapped(reads.given_annotation(definition, argument.arg))
    return evaluated(definition, argument.annotation, argument.arg)


def unwrapped(value: Any) -> Any:
    """Return the type that `Annotated[T, …]`, `ref[T]`, `T | None`, or an alias by a `type` statement stands for.

    Any other value is returned as it is.
    """
    if isinstance(value, Ref):  # one inside of others is no type
        value = value.type
    while True:
        origin = typing.get_origin(value)
        if origin is typing.Annotated:
            value = value.__origin__
        elif type(value).__name__ == "TypeAliasType":
            value = value.__value__
        elif origin in (typing.Union, python_types.UnionType) and value.__args__[1:] == (type(None),):
            value = value.__args__[0]
        else:
            return value


def result(definition: Definition, node: ast.expr) -> Any:
    """Return the value of the annotation of a definition's result.

    Raises:
        KernelTypeError: it cannot be evaluated.
    """
    if "return" in definition.annotations:
        return unwrapped(reads.given_annotation(definition, "return"))
    return evaluated(definition, node, "the result")


def annotated(definition: Definition, node: ast.expr, what: str) -> AnyType | None:
    """Return the type that the annotation of something else than a parameter means; None if it leaves it open.

    Raises:
        KernelTypeError: it is not a type.
    """
    value = evaluated(definition, node, what.lower())
    return parameter_type(value, what, definition.locate(node), definition.name)


def parameter_type(value: Any, name: str, location: Any, function: str) -> AnyType | None:
    """Return the type that an annotation's value means; None if it leaves the type open.

    That is so for `Any`, None, type variables, tuples, families such as `Float`, and arrays of these.

    Args:
        value: the annotation's value.
        name: what an error calls the annotated name.
        location: the annotation's.
        function: the name of the function around it.

    Raises:
        KernelTypeError: it is not a type of the language.
    """
    if (
        value is Any
        or value is None
        or isinstance(value, typing.TypeVar)
        or getattr(value, "__wb_generic__", False)
        or getattr(value, "__origin__", None) is tuple  # its parts have the types of what is given
        or generic(value) is not None
    ):
        return None
    if isinstance(value, (ArrayType, StructArray, IndexedArray, Tile)):
        return value
    if hasattr(value, "__wb_kernel__") or hasattr(value, "__wb_definitions__"):
        message = f"The annotation of {name} is not a type: {getattr(value, '__name__', 'it')} is a function."
        raise KernelTypeError(message, location, function=function)
    try:
        return as_element(value)
    except TypeError as error:
        message, advice = f"The annotation of {name} is not a type: {error}.", ""
        if _is_list(value):
            shown = getattr(value, "__name__", None) or repr(value)
            message = f"The annotation of {name}: {shown} is not a type of the kernel language."
            advice = "Write array[float] for an array."
        if value is str:
            advice = "Pass a number or a bool: a kernel has no strings but those that it prints."
        raise KernelTypeError(message, location, advice, function) from None


def _is_list(value: Any) -> bool:
    """Return whether an annotation is what other Python code calls a list, a tuple or an array, as `list[float]` is."""
    return getattr(value, "__origin__", value) in (list, tuple, np.ndarray, np.array) or isinstance(value, list)
