"""`@struct`: a class with annotations becomes a struct type, and the class of its values."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from workbench.api.kernels.editions import follow_reloads
from workbench.api.kernels.source_text import caller
from workbench.errors import KernelTypeError, must_be
from workbench.frontend.names.annotate import evaluated
from workbench.frontend.state.definition import Definition, Scope
from workbench.runtime.arrays.structure import StructValue
from workbench.source import UNKNOWN, Location, Source
from workbench.structs import AnyType, Field, Struct, StructArray, as_element
from workbench.types import ArrayType, Scalar, Vector


def struct(cls: type) -> Any:
    """Decorator: make a class with annotated fields a struct.

        @wb.struct
        class Particle:
            pos: wb.vec3
            mass: float

    `Particle(mass=2.0)` is a value, here and in kernels; what is not given is its default (`mass: float = 1.0`) or
    zero. Fields may be numbers, vectors, matrices, quaternions, structs and arrays. The layout in memory is C's,
    and that of NumPy's aligned dtypes. Methods and properties are there on the host, not in kernels; a base class
    adds its fields, first, and its methods.

    Returns:
        A class of values, which replaces the decorated one. A value copies its fields, except arrays, which are shared.

    Raises:
        KernelTypeError: a field has no type of the language, or a default does not fit, or there is an `__init__`.
    """
    must_be(cls, type, "@wb.struct decorates a class with annotated fields", KernelTypeError)
    follow_reloads()
    location = _location_of(cls)
    frame = caller()
    if "__init__" in vars(cls):
        message = f"{cls.__name__} has an __init__; a struct's values are made from its fields."
        raise KernelTypeError(message, location, "Make it a classmethod that returns a value.")
    fields: dict[str, AnyType] = {}
    defaults: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        inherited: Struct | None = vars(base).get("__wb_struct__")
        if inherited is not None:
            fields |= {f.name: f.type for f in inherited.fields}
            defaults |= {f.name: f.default for f in inherited.fields if f.default is not None}
            continue
        module = frame.f_globals if base is cls else vars(sys.modules.get(base.__module__, builtins))
        space = {**module, **frame.f_locals}
        annotations = {} if base is StructValue else inspect.get_annotations(base)
        for name, annotation in annotations.items():
            if isinstance(annotation, str):
                annotation = _evaluated(annotation, space, cls.__name__, name, location)
            fields[name] = field_type(annotation, cls.__name__, name, location)
        defaults |= {name: vars(base)[name] for name in annotations if name in vars(base)}
    for name, value in vars(cls).items():
        is_member = callable(value) or hasattr(value, "__get__")
        if name not in fields and not name.startswith("__") and not is_member:
            raise _extra(cls.__name__, name, False, location)
    members = () if cls.__bases__ == (object,) and not _has_members(cls, fields) else (cls,)
    return make_struct(cls.__name__, list(fields.items()), location, cls.__module__, cls.__doc__, defaults, members)


def _has_members(cls: type, fields: Mapping[str, object]) -> bool:
    """Return whether a class has methods, properties or other attributes of its own that are no fields."""
    return any(n not in fields and (not n.startswith("__") or callable(v)) for n, v in vars(cls).items())


def struct_of_node(node: ast.ClassDef, source: Source, scope: Scope) -> type[StructValue]:
    """Return the class that the text of a struct in a `%%kernel` cell defines, without running it as Python.

    Args:
        node: the class.
        source: the cell.
        scope: the names that annotations see.

    Raises:
        KernelTypeError: a field has no type of the language or is the struct itself, a default does not fit, there
            is a method, a base class or an attribute without annotation, or no field; at its line.
    """
    fields: list[tuple[str, AnyType]] = []
    defaults: dict[str, Any] = {}
    doc = ast.get_docstring(node)
    definition = Definition(node.name, node, source, scope)  # type: ignore[arg-type]  # places and names alone
    for position, statement in enumerate(node.body):
        location = definition.locate(statement)
        if isinstance(statement, ast.Pass) or (position == 0 and doc is not None):
            continue
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement
            label = getattr(target, "id", getattr(target, "name", ast.unparse(statement).splitlines()[0]))
            raise _extra(node.name, label, not isinstance(statement, ast.Assign), location)
        name = statement.target.id
        if statement.value is not None:
            defaults[name] = evaluated(definition, statement.value, f"the default of {name}")
        if isinstance(statement.annotation, ast.Name) and statement.annotation.id == node.name:
            raise _recursive(node.name, name, location)
        annotation = evaluated(definition, statement.annotation, name)
        fields.append((name, field_type(annotation, node.name, name, location)))
    if node.bases or node.keywords:
        raise KernelTypeError(f"{node.name} has a base class; a struct cannot inherit.", definition.locate(node))
    return make_struct(node.name, fields, definition.locate(node), "__main__", doc, defaults)


def make_struct(
    name: str,
    fields: list[tuple[str, AnyType]],
    location: Location,
    module: str,
    doc: str | None,
    defaults: Mapping[str, Any] = MappingProxyType({}),
    bases: tuple[type, ...] = (),
) -> type[StructValue]:
    """Create the class of the values of a new struct type; the type is its `__wb_struct__`.

    Args:
        name, module, doc: of the class.
        fields: names and types, in order.
        location: of the definition, for errors.
        defaults: values of fields that are not given, by name.
        bases: classes whose methods and properties the values have on the host; a kernel sees fields alone.

    Raises:
        KernelTypeError: there are no fields.
    """
    if not fields:
        raise KernelTypeError(f"{name} has no fields.", location, "Write name: type, one per line.")
    bases = bases if any(issubclass(b, StructValue) for b in bases) else (*bases, StructValue)
    result = type(name, bases, {"__module__": module, "__doc__": doc, "__slots__": ()})
    type_ = Struct.of(name, fields)
    type_ = Struct(name, tuple(_with_default(f, defaults.get(f.name), name, location) for f in type_.fields))
    result.__wb_struct__ = Struct(type_.name, type_.fields, result)
    return result


def _with_default(f: Field, value: Any, struct: str, location: Location) -> Field:
    """Return the field with a default value; unchanged if the value is None.

    Raises:
        KernelTypeError: the value is no number or vector of the field's type.
    """
    if value is None:
        return f
    try:
        if isinstance(f.type, Vector):
            return replace(f, default=tuple(f.type(value).reshape(-1).tolist()))
        if isinstance(f.type, Scalar):
            return replace(f, default=f.type(value).item())
    except (TypeError, OverflowError) as error:
        raise KernelTypeError(f"The default of {f.name} of {struct} does not fit: {error}.", location) from None
    raise KernelTypeError(
        f"{f.name} of {struct} is a {f.type!r}, and only numbers and vectors have defaults.", location
    )


def field_type(annotation: object, struct: str, name: str, location: Location) -> AnyType:
    """Return the type that a field's annotation means.

    Raises:
        KernelTypeError: the annotation is none that a field can have.
    """
    if isinstance(annotation, (ArrayType, StructArray)):
        return annotation
    try:
        return as_element(annotation)
    except TypeError as error:
        raise KernelTypeError(f"The field {name} of {struct} has no type of the language: {error}.", location) from None


def _evaluated(annotation: str, space: Mapping[str, object], struct: str, name: str, location: Location) -> object:
    """Return the value of a field's annotation text, evaluated in a namespace.

    Raises:
        KernelTypeError: it names the struct itself, or cannot be evaluated.
    """
    if annotation == struct:
        raise _recursive(struct, name, location)
    try:
        return eval(annotation, dict(space))
    except Exception as error:  # whatever the user's own annotation does
        message = f"The type of {name} in {struct} cannot be evaluated: {error}."
        raise KernelTypeError(message, location) from None


def _recursive(struct: str, name: str, location: Location) -> KernelTypeError:
    """Return the error for a field whose type is the struct itself."""
    advice = "Keep an index into an array of them instead."
    return KernelTypeError(f"{name} makes {struct} contain itself.", location, advice)


def _extra(struct: str, name: str, callable_: bool, location: Location) -> KernelTypeError:
    """Return the error for what is no field: a method if `callable_`, else an attribute without an annotation."""
    if callable_:
        return KernelTypeError(
            f"{struct} has a method, {name}; a struct holds only fields.",
            location,
            f"Make it a func that takes a {struct}.",
        )
    return KernelTypeError(f"{name} of {struct} has no annotation.", location, f"Write {name}: float, say.")


def _location_of(cls: type) -> Location:
    """Return the location of a class' first line, with its source text; UNKNOWN if Python cannot read the source."""
    try:
        lines, first = inspect.getsourcelines(cls)
        file = inspect.getsourcefile(cls) or ""
    except (OSError, TypeError, SyntaxError):  # the file may be half-written by now
        return UNKNOWN
    text = "".join(lines)
    return Location(Source(text, file.rpartition("/")[2], file, first - 1), 1, 0, 1, len(lines[0].rstrip()))
