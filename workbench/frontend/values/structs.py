"""Structs in the front end: a value is a bundle of operands, one per field; IR never hears of them.

Where a struct has a name, each field has one too (`p.x`), so that branches and loops join and carry fields as they do
numbers. Where a branch or a loop gives a name a tuple or a part of an array, its elements get names too (`spread`).
An array of structs is an array for each field; of an element those fields are loaded that are used.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType

from msgspec.structs import replace

from workbench.errors import WorkbenchError
from workbench.frontend.state import warp_notices
from workbench.frontend.state.coerce import assign_type, bound, describe, joined_if
from workbench.frontend.state.context import Context, Env
from workbench.frontend.state.operands import (
    PENDING,
    Axis,
    Bundle,
    Element,
    Elements,
    Literal,
    Operand,
    Parts,
    Pending,
    Row,
    Unset,
    View,
    Window,
    value_of,
)
from workbench.frontend.state.paths import is_same, joined_type
from workbench.frontend.values import views
from workbench.ir.values import Block, Value, array_of
from workbench.structs import ELEMENT, AnyType, Field, IndexedArray, Struct, StructArray, field_array, leaf_parameters
from workbench.types import ArrayType, Type, Vector, uint64


def parameter(name: str, type: AnyType) -> tuple[Operand, list[Value]]:
    """Return a parameter as an operand, and the IR parameters behind it, in the order of `leaf_parameters`."""
    if isinstance(type, StructArray):
        values: list[Value] = []
        return _elements(type.dtype, type, name, f"{name}{ELEMENT}", 0, values), values
    if isinstance(type, Struct):
        fields = [parameter(f"{name}.{f.name}", f.type) for f in type.fields]
        return Bundle(type, tuple(operand for operand, _ in fields)), [v for _, inner in fields for v in inner]
    if isinstance(type, IndexedArray):
        array, *tables = (Value(t, n) for n, t in leaf_parameters(name, type))
        positions = dict(zip(type.tables, tables, strict=True))
        return View(array, tuple(Axis(table=positions.get(k)) for k in range(type.ndim)), name), [array, *tables]
    value = Value(type, name)
    return value, [value]


def _elements(
    struct: Struct, array_type: StructArray, name: str, path: str, start: int, values: list[Value]
) -> Elements:
    """Return an array of structs as `Elements`, with an array value for each field, also of nested structs.

    Args:
        struct: the struct whose fields they are: that of the array's elements, or one nested in it.
        array_type: the array's type.
        name: how messages call it.
        path: the name from which the names of the field arrays are built.
        start: the offset of `struct` in an element, in bytes.
        values: receives the field arrays, in order.
    """
    fields: list[Value | Elements] = []
    leaves = {leaf.offset: field_array(leaf, array_type.dtype, array_type.ndim) for leaf in array_type.dtype.leaves}
    for f in struct.fields:
        here = f"{path}.{f.name}"
        if isinstance(f.type, Struct):
            fields.append(_elements(f.type, array_type, f"{name}.{f.name}", here, start + f.offset, values))
        else:
            values.append(Value(leaves[start + f.offset], here))
            fields.append(values[-1])
    return Elements(StructArray(struct, array_type.ndim), name, tuple(fields))


def bind(env: Env, name: str, operand: Operand) -> None:
    """Let a local name mean an operand; a struct's fields get names of their own."""
    if isinstance(operand, Bundle):
        env[name] = Parts(operand.type)
        for f, part in zip(operand.type.fields, operand.fields, strict=True):
            bind(env, f"{name}.{f.name}", part)
    else:
        env[name] = operand


def gather(env: Mapping[str, Operand], name: str) -> Operand:
    """Return what a local name means; a struct, tuple or part of an array is composed of its named parts."""
    composed = env[name]
    if not isinstance(composed, Parts):
        return composed
    return _composed(composed.type, [gather(env, inner) for inner in part_names(name, composed.type)])


def _composed(type: Struct | Row | Window, parts: list[Operand]) -> Operand:
    """Return the struct, tuple or part of an array with these parts."""
    if isinstance(type, Struct):
        return Bundle(type, tuple(parts))
    return tuple(parts) if isinstance(type, Row) else _view(type, parts)


def _apart(operand: Operand) -> Sequence[Operand] | None:
    """Return the parts of a struct, a tuple or a part of an array (a view's numbers); None for other operands."""
    if isinstance(operand, View):
        return [*_index_operands(operand)]
    return operand.fields if isinstance(operand, Bundle) else operand if isinstance(operand, tuple) else None


def part_names(name: str, type: Struct | Row | Window) -> list[str]:
    """Return the names of the parts of what a name is bound to."""
    if isinstance(type, Struct):
        return [f"{name}.{f.name}" for f in type.fields]
    if isinstance(type, Row):
        return [f"{name}.{k}e" for k in range(type.count)]
    return [f"{name}.{k}i" for k in range(sum(1 if a is None else 2 * a[1] for a in type.axes))]


def spread(env: Env, name: str) -> None:
    """Give the elements of a tuple, or the indices of a part of an array, names of their own; nothing else changes."""
    operand = env[name]
    if not isinstance(operand, (tuple, View)):
        return
    type = parts_type(operand)
    assert isinstance(type, (Row, Window))
    env[name] = Parts(type)
    for inner, leaf in zip(part_names(name, type), _apart(operand) or (), strict=True):
        bind(env, inner, leaf)
        spread(env, inner)


def parts_type(operand: Operand | None) -> Struct | Row | Window | None:
    """Return the form of what is made of parts, which branches and loops join one by one; None of anything else."""
    if isinstance(operand, tuple):
        return Row(len(operand))
    if isinstance(operand, View):
        axes = (
            None if isinstance(p, Value) else (Axis(None, p.step, None, p.table), p.length is not None)
            for p in operand.subscripts
        )
        return Window(operand.array, tuple(axes), operand.name)
    return operand.type if isinstance(operand, (Parts, Bundle)) else None


def _index_operands(view: View) -> Iterable[Operand]:
    """Yield a view's indices, and the starts and lengths of its slices."""
    for index in view.subscripts:
        if isinstance(index, Value):
            yield index
        elif index.length is not None:
            yield from (index.start or Literal(0), index.length)


def _view(type: Window, values: list[Operand]) -> Operand:
    """Return the view with these indices, starts and lengths; if one of them has no value, that operand."""
    for value in values:
        if not isinstance(value, (Value, Literal)):
            return value
    rest = iter(v if isinstance(v, Value) else None for v in values)
    indices: list[Value | Axis] = []
    for axis in type.axes:
        if axis is None:
            index = next(rest)
            assert index is not None
            indices.append(index)
        else:
            form, sliced = axis
            indices.append(replace(form, start=next(rest), length=next(rest)) if sliced else form)
    return View(type.array, tuple(indices), type.name)


def pending(type: AnyType | Row | Window) -> Operand:
    """Return the placeholder for a value of this type where no `return` was reached: a struct or tuple of such."""
    if isinstance(type, Row):
        return (PENDING,) * type.count
    return Bundle(type, tuple(pending(f.type) for f in type.fields)) if isinstance(type, Struct) else PENDING


def with_fields(names: Iterable[str], *envs: dict[str, Operand]) -> list[str]:
    """Return the names, and those of their parts where all that have the name have a struct or tuple of the same form.

    The elements of such tuples get names in the environments (`spread`). Where one of these has a struct and another
    has returned nothing yet, that gets pending fields.
    """
    shared: list[str] = []
    for name in names:
        shared.append(name)
        if all(isinstance(env.get(name), Value) for env in envs):
            continue
        parts = next((p for env in envs if isinstance(p := env.get(name), Parts)), None)
        for env in envs if parts is not None else ():
            if isinstance(env.get(name), Pending):
                bind(env, name, pending(parts.type))  # type: ignore[union-attr]
                spread(env, name)
        bound = [env for env in envs if not isinstance(env.get(name), (Unset, NoneType))]
        type = parts_type(bound[0][name]) if bound else None
        if type is None or any(parts_type(env[name]) != type for env in bound):
            continue
        for env in bound:
            spread(env, name)
        shared += with_fields(part_names(name, type), *envs)
    return shared


def no_field(context: Context, type: Struct, name: str) -> WorkbenchError:
    """Return the error for a field that a struct does not have."""
    near = difflib.get_close_matches(name, [f.name for f in type.fields], 1)
    known = ", ".join(f.name for f in type.fields)
    advice = f"Did you mean {near[0]}?" if near else f"Its fields: {known}."
    if hasattr(type.host, name):
        advice = f"{name} is a method or property, which only the host has: make it a func that takes a {type!r}."
    return context.type_error(f"{type!r} has no field {name}.", advice)


def position(context: Context, type: Struct, name: str) -> int:
    """Return the number of the field of this name.

    Raises:
        KernelTypeError: there is none; the message has the nearest name.
    """
    number = next((k for k, f in enumerate(type.fields) if f.name == name), None)
    if number is None:
        raise no_field(context, type, name)
    return number


def field(context: Context, base: Bundle | Element, name: str) -> Operand:
    """Lower `p.x`: of a struct its field; of an element of an array, that field alone is loaded.

    Raises:
        KernelTypeError: there is no such field.
    """
    if isinstance(base, Bundle):
        return base.fields[position(context, base.type, name)]
    part = base.array.fields[position(context, base.array.type.dtype, name)]
    return Element(part, base.indices) if isinstance(part, Elements) else context.builder.load(part, *base.indices)


def load_struct(context: Context, element: Element) -> Bundle:
    """Emit the loading of a struct from an array, with all its fields; unused ones are pruned later."""
    array = element.array
    parts = (field(context, element, f.name) for f in array.type.dtype.fields)
    return Bundle(array.type.dtype, tuple(load_struct(context, p) if isinstance(p, Element) else p for p in parts))


def stored(context: Context, element: Element, bundle: Bundle) -> None:
    """Emit the storing of a struct to an array, field by field."""
    for part, operand in zip(element.array.fields, bundle.fields, strict=True):
        if isinstance(part, Elements):
            assert isinstance(operand, Bundle)
            stored(context, Element(part, element.indices), operand)
        else:
            context.builder.store(part, *element.indices, value_of(operand))


def lead(array: Elements) -> View:
    """Return the view that has the shape of an array of structs: that of its first field, of the elements selected."""
    first: Value | Elements = array
    while isinstance(first, Elements):
        first = first.fields[0]
    return View(first, array.subscripts or (views.WHOLE,) * array_of(first).ndim, array.name)


def subscript(context: Context, array: Elements, node: ast.expr) -> Element | Elements:
    """Lower `ps[…]`: an element where every dimension has an index, else a part of the array."""
    view, indices = views.part(context, lead(array), node)
    if indices is not None:
        return Element(array, tuple(indices))
    return replace(array, type=StructArray(array.type.dtype, view.type.ndim), subscripts=view.subscripts)


def element(context: Context, array: Elements, node: ast.expr) -> Element:
    """Lower `ps[…]` where one element is expected.

    Raises:
        KernelTypeError: it is a part of the array.
    """
    return Element(array, tuple(views.element(context, lead(array), node)[1]))


def replaced(context: Context, base: Bundle, name: str, operand: Operand, what: str) -> Bundle:
    """Return the struct after `base.name = operand`.

    Raises:
        KernelTypeError: there is no such field, or the operand does not fit.
    """
    k = position(context, base.type, name)
    fields = list(base.fields)
    fields[k] = fitted(context, operand, base.type.fields[k].type, f"{what}.{name}")
    return Bundle(base.type, tuple(fields))


def fitted(context: Context, operand: Operand, type: AnyType, what: str) -> Operand:
    """Fit the operand to this type: a literal adopts it, an int may become a float, a struct must be the same.

    Raises:
        KernelTypeError: it does not fit.
    """
    if isinstance(type, Struct):
        if isinstance(operand, Bundle) and operand.type.fits(type):
            return operand
        if isinstance(operand, Bundle):
            raise context.type_error(f"{what} is {type!r}; the value is another struct, {operand.type!r}.")
        raise context.type_error(f"{what} is {type!r}; the value is {describe(operand)}.", f"Write {type!r}(…).")
    if isinstance(type, StructArray):
        if isinstance(operand, Elements) and operand.type == type:
            return operand
        raise context.type_error(f"{what} is {type!r}; the value is {describe(operand)}.")
    # The array itself is in memory; a part of it is a base and bounds, which the struct carries as it does a number.
    if isinstance(operand, View) and operand.type == type:
        return operand
    return assign_type(context, operand, type, what)


def construct(context: Context, type: Struct, args: Sequence[Operand], keywords: Mapping[str, Operand]) -> Bundle:
    """Lower `Particle(…)`: fields by position and by name; one that is left out has its default, or is zero.

    A field for an array that is left out is an `Unset`.

    Raises:
        KernelTypeError: too many, unknown, or given twice, or of another type.
    """
    for name in keywords:
        position(context, type, name)
    fields = [f.name for f in type.fields]
    by_name = bound(context, repr(type), fields, args, keywords, fields)
    values = tuple(_field_value(context, type, f, by_name.get(f.name)) for f in type.fields)
    pairs = zip(type.fields, values, strict=True)
    return Bundle(type.with_types({f.name: v.type for f, v in pairs if isinstance(v, Bundle)}), values)


def _field_value(context: Context, type: Struct, f: Field, operand: Operand | None) -> Operand:
    """Return the operand of a field of a struct that is constructed; None stands for the field's default.

    The default is 0 if the struct has no other; that of an array is an `Unset`.

    Raises:
        KernelTypeError: the operand does not fit the field's type.
    """
    if operand is not None and f.type == uint64 and warp_notices.is_handle(context, operand):
        return operand  # a mesh or a tree, which in Warp is a number
    if operand is not None:
        return fitted(context, operand, f.type, f"{type!r}.{f.name}")
    if isinstance(f.type, Struct):
        return construct(context, f.type, (), {})
    if isinstance(f.type, (ArrayType, StructArray)):
        return Unset(f"The field {f.name} of this {type!r} has no array: {type!r}() leaves it out.")
    zeros = (0,) * f.type.length if isinstance(f.type, Vector) else 0
    return context.builder.const(zeros if f.default is None else f.default, f.type)


def flatten(operand: Operand) -> list[Operand]:
    """Return the operands inside a struct, a tuple or a part of an array, in order; any other operand alone."""
    parts = _apart(operand)
    return [operand] if parts is None else [leaf for part in parts for leaf in flatten(part)]


def rebuilt(form: Operand, leaves: Iterable[Operand]) -> Operand:
    """Return the operand of this form with other leaves, in the order of `flatten`."""
    rest = iter(leaves)

    def build(part: Operand) -> Operand:
        parts, type = _apart(part), parts_type(part)
        return next(rest) if parts is None or type is None else _composed(type, [build(p) for p in parts])

    return build(form)


def form(operand: Operand) -> object:
    """Return the form that must agree for two operands to be merged leaf by leaf; None of what is a leaf itself."""
    parts = _apart(operand)
    return None if parts is None else (parts_type(operand), [form(p) for p in parts])


def chosen(
    context: Context, condition: Value, blocks: Sequence[Block], sides: tuple[Operand, Operand], what: str
) -> Operand:
    """Emit the `if` whose blocks yield operands of one form, leaf by leaf; equal ones stay outside.

    Args:
        context: where.
        condition: of the `if`.
        blocks: the operations of both sides.
        sides: the operands that they lead to.
        what: how messages call the result.

    Raises:
        KernelTypeError: a leaf has two types, or is an array on two paths.
    """
    pairs = list(zip(*map(flatten, sides), strict=True))
    differing = [k for k, pair in enumerate(pairs) if not is_same(*pair)]
    types: list[Type] = []
    for k in differing:
        type = joined_type(context, what, *pairs[k])
        if type is None or isinstance(type, ArrayType):
            message = f"{what} holds another array on each path, and the condition is not known."
            raise context.type_error(message, "Choose between elements of the arrays.")
        types.append(type)
    results = iter(joined_if(context, condition, blocks, [pairs[k] for k in differing], types))
    leaves = [next(results) if k in differing else a for k, (a, _) in enumerate(pairs)]
    return rebuilt(sides[0], leaves)
