"""What stands left of `=`: a name, an element of an array, or a part of either, `p.vel.x`, `ps[i].pos[1]`.

A part is changed by rebuilding the whole around it (`insert`, a struct with another field) and putting that where the
whole came from. Only memory is not: of an element of an array of structs one field is written and the others are left
alone. A component of a vector in memory takes its vector along, so it is for one thread at a time to change.
"""

from __future__ import annotations

import ast

import msgspec
from msgspec.structs import replace

from workbench.builtins.declaration.declare import TABLE
from workbench.errors import KernelSyntaxError, KernelTypeError
from workbench.frontend.expressions.expression_table import binary, expression, part_of
from workbench.frontend.state.coerce import apply, assign_type, describe, indexable
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Bundle, Element, Elements, Literal, Operand, Poison, View
from workbench.frontend.tiles import slicing
from workbench.frontend.tiles.part_copies import check_alone, check_seen
from workbench.frontend.values import atomics, matrices, structs, subscripts, transforms, views
from workbench.ir.values import Value
from workbench.tiles import Tile
from workbench.types import ArrayType, Matrix, Transform, Vector


class Name(msgspec.Struct, frozen=True):
    """A local name."""

    id: str


class Slot(msgspec.Struct, frozen=True, eq=False):
    """An element of an array, or one field of it; `what` is how messages call it."""

    array: Value
    indices: tuple[Value, ...]
    what: str


class Part(msgspec.Struct, frozen=True, eq=False):
    """A field, component or row: what it is a part of, the value of that, and how it is written."""

    owner: Place
    base: Bundle | Value
    node: ast.Attribute | ast.Subscript


class Held(msgspec.Struct, frozen=True, eq=False):
    """A part of an array left of another index: no place of its own."""

    value: View | Elements


Place = Name | Slot | Element | Part | Held


def locate(context: Context, target: ast.expr, inner: bool = False) -> Place:
    """The place that a target means; `inner`: what stands left of a dot or bracket, which may be a part of an array.

    Raises:
        KernelSyntaxError: nothing can be assigned there.
    """
    if isinstance(target, ast.Name):
        return Name(target.id)
    if not isinstance(target, (ast.Attribute, ast.Subscript)):
        raise context.error(KernelSyntaxError, "A kernel cannot assign to this.")
    with context.at(target):
        if not isinstance(target.value, (ast.Name, ast.Attribute, ast.Subscript)):
            text = ast.unparse(target.value)
            raise context.error(
                KernelSyntaxError, f"A component of {text} cannot be assigned in place.",
                f"Write v = {text}, and change v.",
            )  # fmt: skip
        owner = locate(context, target.value, inner=True)
        if isinstance(owner, Element) and isinstance(target, ast.Attribute):
            return _field_in_memory(context, owner, target.attr)
        base = expression(context, target.value) if isinstance(owner, Name) else read(context, owner)
        if isinstance(target, ast.Subscript) and isinstance(base, Elements):
            if not inner:
                return structs.element(context, base, target.slice, expression)
            found = structs.subscript(context, base, target.slice, expression)
            return Held(found) if isinstance(found, Elements) else found
        if isinstance(base, Bundle):
            return Part(owner, base, target)
        base = indexable(context, base)
        if views.is_array(base) and isinstance(target, ast.Subscript):
            return _in_array(context, base, target.slice, inner)
        if isinstance(base, Value) and isinstance(base.type, (Vector, Tile)):
            return Part(owner, base, target)
        if isinstance(target, ast.Subscript):
            raise context.error(KernelTypeError, f"{describe(base)} cannot be indexed.")
        raise context.error(KernelSyntaxError, f"A component of {describe(base)} cannot be assigned.")


def _in_array(context: Context, base: Value | View, node: ast.expr, inner: bool) -> Place:
    what = f"An element of {base.name}"
    if inner:
        view, places = views.part(context, base, node, expression)
        return Held(view) if places is None else Slot(view.array, tuple(places), what)
    array, indices = views.element(context, base, node, expression)
    return Slot(array, tuple(indices), what)


def _field_in_memory(context: Context, owner: Element, name: str) -> Place:
    part = owner.array.fields[structs.position(context, owner.array.type.dtype, name)]
    if isinstance(part, Elements):
        return Element(part, owner.indices)
    return Slot(part, owner.indices, f"The field {name} of an element of {owner.array.name}")


def read(context: Context, place: Place) -> Operand:
    """What stands there now."""
    if isinstance(place, Name):
        name = ast.Name(place.id, ast.Load())
        return expression(context, ast.copy_location(name, context.node) if context.node else name)
    if isinstance(place, Slot):
        return context.builder.load(place.array, *place.indices)
    if isinstance(place, Element):
        return structs.loaded(context, place)
    if isinstance(place, Held):
        return place.value
    return part_of(context, place.base, place.node)


def write(context: Context, place: Place, operand: Operand) -> None:
    """Put the operand there.

    Raises:
        KernelTypeError: it does not fit.
    """
    if isinstance(place, Name):
        structs.bind(context.env, place.id, named(operand, place.id))
    elif isinstance(place, Slot):
        assert isinstance(place.array.type, ArrayType)
        value = assign_type(context, operand, place.array.type.dtype, place.what)
        context.builder.store(place.array, *place.indices, value)
    elif isinstance(place, Element):
        value = structs.fitted(context, operand, place.array.type.dtype, f"An element of {place.array.name}")
        assert isinstance(value, Bundle)
        structs.stored(context, place, value)
    elif isinstance(place, Part):
        whole = _replaced(context, place, operand)
        if isinstance(place.owner, Name):
            check_seen(context, place.owner.id)
        write(context, place.owner, whole)


def named(operand: Operand, name: str) -> Operand:
    """The operand; where it is a fresh value without a name, it takes this one for readers."""
    if isinstance(operand, Value) and not operand.name:
        msgspec.structs.force_setattr(operand, "name", name)  # a label for readers, set once, before anyone has read it
    elif isinstance(operand, Bundle):
        for f, part in zip(operand.type.fields, operand.fields, strict=True):
            named(part, f"{name}.{f.name}")
    return replace(operand, name=name) if isinstance(operand, View) else operand


def _replaced(context: Context, place: Part, operand: Operand) -> Operand:
    """The whole with this part changed."""
    base, node, label = place.base, place.node, _label(place.owner)
    text = ast.unparse(node.value)
    if isinstance(base, Bundle):
        if isinstance(node, ast.Subscript):
            raise context.error(KernelTypeError, f"{describe(base)} cannot be indexed.", "Write its field's name.")
        return structs.replaced(context, base, node.attr, operand, text)
    if isinstance(base.type, Tile):
        if isinstance(node, ast.Attribute):
            raise context.error(KernelSyntaxError, f"{node.attr} of {describe(base)} cannot be assigned.")
        return slicing.changed(context, label, base, node.slice, operand, expression)
    assert isinstance(base.type, Vector)
    if isinstance(node, ast.Subscript) and isinstance(base.type, Matrix):
        return matrices.changed(context, label, base, node.slice, operand, expression)
    if isinstance(node, ast.Attribute) and isinstance(base.type, Transform):
        return transforms.changed(context, base, node.attr, operand, label)
    where = _component(context, base.type, node)
    part = assign_type(context, operand, base.type.dtype, f"A component of {text}")
    return context.builder.emit("insert", (base, where, part), (base.type,), names=(label,)).result


def _component(context: Context, type: Vector, node: ast.Attribute | ast.Subscript) -> Value:
    if isinstance(node, ast.Subscript):
        return subscripts.component(context, type, expression(context, node.slice))
    if isinstance(type, Matrix) or node.attr not in tuple("xyzw"[: type.length]):
        raise context.error(KernelSyntaxError, f"{type!r} has no component {node.attr}.")
    return subscripts.component(context, type, Literal(subscripts.COMPONENTS[node.attr]))


def _label(place: Place) -> str:
    return place.id if isinstance(place, Name) else ""


def _is_plain(slot: Slot) -> bool:
    """Whether it holds a vector whose parts are its components."""
    assert isinstance(slot.array.type, ArrayType)
    return not isinstance(slot.array.type.dtype, (Matrix, Transform))


def augment(context: Context, node: ast.AugAssign) -> None:
    """`target op= value`: in an array, `+=` and `-=` are atomic adds (other threads may add there too)."""
    place = locate(context, node.target)
    sign = type(node.op)
    adds = sign in (ast.Add, ast.Sub)
    if isinstance(place, Element) and adds:
        text = ast.unparse(node.target)
        raise context.error(
            KernelTypeError, "+= and -= on an element of an array are atomic, which they cannot be on a struct.",
            f"Write {text} = {text} + …, where no other thread changes it.",
        )  # fmt: skip
    slot = place if isinstance(place, Slot) else place.owner if isinstance(place, Part) else None
    if not isinstance(slot, Slot) or not adds or (place is not slot and not _is_plain(slot)):
        current = read(context, place)
        if isinstance(place, Name):
            check_alone(context, place.id, current)
            if isinstance(current, Value) and isinstance(current.type, Tile):
                check_seen(context, place.id)
        write(context, place, binary(context, sign, current, expression(context, node.value)))
        return
    operand = expression(context, node.value)
    if isinstance(operand, Poison):
        return
    assert isinstance(slot.array.type, ArrayType)
    kind = slot.array.type.dtype
    if isinstance(place, Part):
        assert isinstance(kind, Vector)
        where = _component(context, kind, place.node)
        part = assign_type(context, operand, kind.dtype, f"A component of {ast.unparse(place.node.value)}")
        zero = context.builder.const((0,) * kind.length, kind)
        value = context.builder.one("insert", (zero, where, part), kind)
    else:
        value = assign_type(context, operand, kind, slot.what)
    atomics.check_sum(context, slot.array)
    if sign is ast.Sub:
        value = apply(context, TABLE["neg"], (value,))
    context.builder.one("atomic_add", (slot.array, *slot.indices, value), kind)
