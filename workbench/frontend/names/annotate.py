"""Annotations: a parameter's type, or nothing (a generic parameter); references; and the type of a func's result.

A generic parameter (`Float`, `Int`, `Scalar`, `Any`, alone and as an array's element, or a function) has no type of its
own: each call or launch decides it, within the family.

A func's annotation of its result, `-> float`, is compared with the result itself. A literal takes the type that is
said. A number of another type becomes it where nothing is lost (an int a float, a float a wider one) and is refused
elsewhere: an annotation that is not true would mislead whoever reads the call. Annotations that are no types of the
language say nothing here, as in Python.
"""

from __future__ import annotations

import ast
import difflib
import types as python_types
import typing
from collections import ChainMap
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np

from workbench.errors import KernelSyntaxError, KernelTypeError, WorkbenchError
from workbench.frontend.state.coerce import adopts, convert, describe
from workbench.frontend.state.context import Context
from workbench.frontend.state.definition import (
    MISSING,
    Definition,
    Scope,
    anything,
    default_nodes,
    dotted,
    given_annotation,
    is_literal,
    note_expression,
)
from workbench.frontend.state.operands import Bundle, Literal, Operand, Poison
from workbench.frontend.values.structs import fitted
from workbench.ir.values import Value
from workbench.source import Location, Source
from workbench.structs import AnyType, IndexedArray, Struct, StructArray, as_element
from workbench.tiles import Tile
from workbench.types import AnyVector, ArrayType, Complex, Kind, Vector
from workbench.types import Scalar as ScalarType


class Family(msgspec.Struct, frozen=True):
    """A generic annotation, `Float`, `Int` or `Scalar`: a parameter takes any scalar type of these kinds."""

    name: str
    kinds: tuple[Kind, ...]
    __wb_generic__ = True

    def accepts(self, type: Any) -> bool:
        """Return whether a type belongs to the family."""
        return isinstance(type, ScalarType) and type.kind in self.kinds

    def __repr__(self) -> str:
        """Return the name of the family, such as `Float`."""
        return self.name


class ArrayOf(msgspec.Struct, frozen=True):
    """A generic annotation for arrays of `ndim` dimensions.

    Attributes:
        family: what it takes as types of elements; None: any.
        ndim: the number of dimensions.
    """

    family: Family | AnyVector | None
    ndim: int
    __wb_generic__ = True

    def accepts(self, type: Any) -> bool:
        """Return whether a type is an array of so many dimensions, with elements that the family takes."""
        if not isinstance(type, (ArrayType, StructArray)) or type.ndim != self.ndim:
            return False
        return self.family is None or self.family.accepts(type.dtype)

    def __repr__(self) -> str:
        """Return the annotation as it is written, such as `array2d[Float]` or `array[Any]`."""
        return f"array{'' if self.ndim == 1 else f'{self.ndim}d'}[{self.family or 'Any'!r}]".replace("'", "")


class Function(msgspec.Struct, frozen=True):
    """A generic annotation for functions: a parameter that accepts funcs and builtins, shown as `Callable`."""

    __wb_generic__ = True

    def accepts(self, type: AnyType) -> bool:
        """Return whether a type fits, which no type of the language does: none is a function."""
        return False

    def __repr__(self) -> str:
        """Return `Callable`."""
        return "Callable"


class Ref(msgspec.Struct, frozen=True):
    """The annotation `ref[T]`: a func's parameter that its caller sees changed.

    Attributes:
        type: of the parameter.
    """

    type: Any

    def __repr__(self) -> str:
        """Return the annotation as it is written, such as `ref[float32]`."""
        return f"ref[{self.type!r}]"


class _Refs:
    """`ref[float]` annotates a parameter of a func that changes a number, vector or struct of its caller.

        >>> import workbench as wb
        >>> @wb.func
        ... def bump(x: wb.ref[float], by: float):
        ...     x += by
        >>> @wb.kernel
        ... def k(y: wb.array[float]):
        ...     bump(y[wb.tid()], 2.0)

    The argument is a name, an element of an array, a component or a field; the call is a statement of its own.
    """

    def __getitem__(self, type: Any) -> Ref:
        """Return the annotation of a reference to a value of this type."""
        return Ref(type)

    def __repr__(self) -> str:
        """Return `ref`."""
        return "ref"


ref = _Refs()
Float = Family("Float", (Kind.FLOAT,))
Int = Family("Int", (Kind.INT, Kind.UINT))
Scalar = Family("Scalar", (Kind.FLOAT, Kind.INT, Kind.UINT))
FUNCTION = Function()
Generic = Family | ArrayOf | Function | AnyVector


def array_of(dtype: Any, ndim: int | None) -> ArrayOf | None:
    """Return the annotation of an array with this generic element, in 1 dimension by default; None if it is a type."""
    dtype = bound(dtype)
    if dtype is Any or isinstance(dtype, typing.TypeVar):
        return ArrayOf(None, ndim or 1)
    return ArrayOf(dtype, ndim or 1) if isinstance(dtype, (Family, AnyVector)) else None


def bound(value: Any) -> Any:
    """Return the family that a type variable is bound to, `TypeVar("T", bound=Float)`; anything else itself."""
    family = value.__bound__ if isinstance(value, typing.TypeVar) else None
    return family if isinstance(family, Family) else value


_CALLABLE: Any = typing.get_origin(Callable[..., Any])


def generic(value: Any) -> Generic | None:
    """Return the generic annotation that restricts an argument; None if an annotation is a type or takes everything."""
    value = bound(value)
    if isinstance(value, (Family, ArrayOf, AnyVector)):
        return value
    origin = typing.get_origin(value) or value
    return FUNCTION if origin is _CALLABLE else None


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
        isinstance(value, (type, ScalarType, Vector, ArrayType, Struct, StructArray, IndexedArray))
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


def parameter_types(
    definition: Definition, without_references: str = ""
) -> tuple[dict[str, AnyType | None], dict[str, Generic]]:
    """Return each parameter's type, or None if it is generic, and the families of types that generic ones take.

    A generic parameter that takes every type has no family.

    Args:
        definition: the function.
        without_references: what an error calls functions of its sort, which have no references; empty: they may.

    Raises:
        KernelTypeError: an annotation that is not a type of the language.
        KernelSyntaxError: a parameter is a reference, `without_references`.
    """
    types: dict[str, AnyType | None] = {}
    families: dict[str, Generic] = {}
    for argument in definition.parameters:
        name, node = argument.arg, argument.annotation
        value = _value(definition, argument) if node is not None else None
        if isinstance(value, Ref) and without_references:
            raise _reference(definition, name, without_references)
        value = unwrapped(value)
        family = generic(value)
        if family is not None:
            families[name] = family
        types[name] = None
        if node is not None and family is None:
            types[name] = parameter_type(value, name, definition.locate(node), definition.name)
    return types, families


def evaluated(definition: Definition, node: ast.expr, name: str) -> Any:
    """Return the type that an annotation means, as Python would evaluate it in the definition's scope; else its value.

    Args:
        name: what an error calls it.

    Raises:
        KernelTypeError: it cannot be evaluated.
    """
    return unwrapped(_evaluated(definition, node, name))


def _evaluated(definition: Definition, node: ast.expr, name: str) -> Any:
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
            return value
        note_expression(definition, node, is_annotation)
        code = compile(ast.Expression(node), "<annotation>", "eval")
        # The user's own annotation, as Python would.
        names = ChainMap(_type_parameters(definition), _Names(definition.scope, is_annotation))  # type: ignore[arg-type]
        return eval(code, {"__builtins__": {}}, names)
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
    path = dotted(node)
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
    return parameter_type(unwrapped(_value(definition, argument)), argument.arg, location, definition.name)


def _value(definition: Definition, argument: ast.arg) -> Any:
    """Return the Python value of a parameter's annotation: the one Python evaluated, or else its evaluated source."""
    assert argument.annotation is not None
    if argument.arg in definition.annotations:
        return given_annotation(definition, argument.arg)
    return _evaluated(definition, argument.annotation, argument.arg)


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
        return unwrapped(given_annotation(definition, "return"))
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


def references(definition: Definition) -> list[str]:
    """Return the names of the parameters that are references, in order."""

    def is_ref(argument: ast.arg) -> bool:
        if argument.arg in definition.annotations:
            return isinstance(definition.annotations[argument.arg], Ref)
        node = argument.annotation
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "ref" in node.value:
            with suppress(SyntaxError):  # reported where it is evaluated
                node = ast.parse(node.value, mode="eval").body
        path = dotted(node.value if isinstance(node, ast.Subscript) else node) if node is not None else None
        value = definition.read(path, is_annotation) if path is not None else None
        return isinstance(value, Ref) or (value is ref and isinstance(node, ast.Subscript))

    return [a.arg for a in definition.parameters if is_ref(a)]


def refuse_references(definition: Definition, of: str) -> None:
    """Refuse references of a function that cannot return them to its caller.

    Args:
        definition: the function.
        of: what an error calls functions of its sort, "a func with CUDA source".

    Raises:
        KernelSyntaxError: a parameter is one.
    """
    for name in references(definition):
        raise _reference(definition, name, of)


def _reference(definition: Definition, name: str, of: str) -> KernelSyntaxError:
    """Return the error for a reference of a function that cannot return it to its caller."""
    message = f"{name} of {definition.name} is a reference, which {of} does not have."
    return definition.syntax_error(message, "Return the result.")


def convert_result(context: Context, operand: Operand) -> Operand:
    """Convert the value of a `return` to the type that the func's annotation says, and its references to theirs.

    An annotation that is no type of the language changes nothing.

    Raises:
        KernelTypeError: the value has another type, or is another number of values.
    """
    if context.of_expression:
        return operand
    names = references(context.definition)
    if names and isinstance(operand, tuple):
        types = parameter_annotations(context.definition)
        values, changed = operand[: -len(names)], operand[-len(names) :]
        values = tuple(_as_annotated(context, v) for v in values)
        return *values, *(_typed(context, v, types[n], n) for v, n in zip(changed, names, strict=True))
    return _as_annotated(context, operand)


def _typed(context: Context, operand: Operand, type: AnyType | None, name: str) -> Operand:
    """Return an operand converted to the type of the reference parameter `name`; unchanged without a type."""
    return operand if type is None else fitted(context, operand, type, f"{name} of {context.definition.name}()")


def _as_annotated(context: Context, operand: Operand) -> Operand:
    """Return a func's result converted to its annotation; unchanged if there is none that is a type of the language.

    Raises:
        KernelTypeError: the result has another type, or another number of values.
    """
    node = context.definition.node.returns
    if node is None or not context.inside or isinstance(operand, Poison):
        return operand
    try:
        annotated = result(context.definition, node)
    except KernelTypeError:
        return operand
    if typing.get_origin(annotated) is not tuple:
        return _fitted(context, operand, _type(context, annotated))
    types = typing.get_args(annotated)
    if not isinstance(operand, tuple) or Ellipsis in types:
        return operand
    if len(types) != len(operand):
        count = f"{len(operand)} values; its annotation says {len(types)}"
        raise context.type_error(f"{context.definition.name} returns {count}.")
    return tuple(_fitted(context, o, _type(context, t)) for o, t in zip(operand, types, strict=True))


def _type(context: Context, annotated: Any) -> AnyType | None:
    """Return the type that an evaluated annotation stands for; None if it is generic or no type of the language."""
    try:
        return parameter_type(annotated, "the result", None, context.definition.name)
    except KernelTypeError:
        return None


def _fitted(context: Context, operand: Operand, type: AnyType | None) -> Operand:
    """Return a func's result in its annotated type, widened if nothing is lost; unchanged without a type.

    Raises:
        KernelTypeError: it is of a type that does not widen to that.
    """
    if type is None:
        return operand
    if adopts(operand, type):
        return convert(context, operand, type)  # type: ignore[arg-type]
    if isinstance(operand, (Value, Bundle)) and operand.type == type:
        return operand
    if isinstance(operand, Value) and _widens(operand.type, type):
        return convert(context, operand, type)  # type: ignore[arg-type]
    if not isinstance(operand, (Value, Bundle, Literal, tuple)):
        return operand
    raise context.type_error(
        f"{context.definition.name} returns {describe(operand)}; its annotation says {type!r}.",
        f"Return {type!r}(…), or change the annotation." if isinstance(type, ScalarType) else "Change the annotation.",
    )


def _is_float(type: Any) -> bool:
    """Return whether a type is a float scalar."""
    return isinstance(type, ScalarType) and type.kind is Kind.FLOAT


def _widens(source: Any, wanted: Any) -> bool:
    """Return whether each number of the one type is one of the other, or an int that becomes a float."""
    if isinstance(wanted, Complex):
        return source == wanted.real or _widens(source, wanted.real)
    if not isinstance(source, ScalarType) or not _is_float(wanted):
        return False
    return source.kind is not Kind.FLOAT or source.bits < wanted.bits
