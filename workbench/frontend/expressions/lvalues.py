"""Targets of assignments: a name, an element of an array, or a part of either, `p.vel.x`, `ps[i].pos[1]`.

A part is changed by rebuilding the whole around it (`insert`, a struct with another field) and putting that where the
whole came from. Only memory is not: of an element of an array of structs one field is written and the others are left
alone. A component of a vector in memory takes its vector along, so it is for one thread at a time to change.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from workbench.builtins.declaration.declare import TABLE
from workbench.frontend.expressions import complex_numbers
from workbench.frontend.expressions.expression_table import BINARY, binary, expression, part_of
from workbench.frontend.state import coerce
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Bundle, Element, Elements, Literal, Operand, Poison, View, value_of
from workbench.frontend.tiles import slicing
from workbench.frontend.tiles.slicing import check_alone, check_seen
from workbench.frontend.values import structs, vectors, views
from workbench.ir.ops import EFFECTS, KIND, REFERENCE
from workbench.ir.values import Op, Value, array_of, dtype_of, vector_of, walk
from workbench.tiles import Tile, is_tile
from workbench.types import Complex, Kind, Matrix, Scalar, Transform, Vector, element, int32
from workbench.types import bool as bool_


class Name(msgspec.Struct, frozen=True):
    """A local name, as the target of an assignment."""

    id: str


class Slot(msgspec.Struct, frozen=True, eq=False):
    """An element of an array, or one field of it in an array of structs, as the target of an assignment.

    Attributes:
        array: the array that holds it.
        indices: one for each dimension.
        what: how messages call it.
    """

    array: Value
    indices: tuple[Value, ...]
    what: str


class Part(msgspec.Struct, frozen=True, eq=False):
    """A field, component, row or slice of another target's value, as the target of an assignment.

    Attributes:
        owner: the target that it is a part of.
        base: the present value of that.
        node: the attribute or subscript as it is written.
    """

    owner: Place
    base: Bundle | Value
    node: ast.Attribute | ast.Subscript


class Held(msgspec.Struct, frozen=True, eq=False):
    """A part of an array, `a[i]` in `a[i][j] = v`, which a further index follows: nothing is assigned to it itself."""

    value: View | Elements


Place = Name | Slot | Element | Part | Held


def locate(context: Context, target: ast.expr, inner: bool = False) -> Place:
    """Return what a target of an assignment stands for; its indices are evaluated.

    Args:
        context: where it is assigned.
        target: the target.
        inner: whether an attribute or a subscript of it is meant, so that it may be a part of an array.

    Raises:
        KernelSyntaxError, KernelTypeError: nothing can be assigned there.
    """
    if isinstance(target, ast.Name):
        return Name(target.id)
    if not isinstance(target, (ast.Attribute, ast.Subscript)):
        raise context.syntax_error("A kernel cannot assign to this.")
    with context.at(target):
        if not isinstance(target.value, (ast.Name, ast.Attribute, ast.Subscript)):
            text = ast.unparse(target.value)
            raise context.syntax_error(
                f"A component of {text} cannot be assigned in place.", f"Write v = {text}, and change v."
            )
        owner = locate(context, target.value, inner=True)
        if isinstance(owner, Element) and isinstance(target, ast.Attribute):
            return _field_in_memory(context, owner, target.attr)
        base = expression(context, target.value) if isinstance(owner, Name) else read(context, owner)
        if isinstance(target, ast.Subscript) and isinstance(base, Elements):
            if not inner:
                return structs.element(context, base, target.slice)
            element = structs.subscript(context, base, target.slice)
            return Held(element) if isinstance(element, Elements) else element
        if isinstance(base, Bundle):
            return Part(owner, base, target)
        base = coerce.indexable(context, base)
        if views.is_array(base) and isinstance(target, ast.Subscript):
            return _in_array(context, base, target.slice, inner)
        if isinstance(base, Value) and isinstance(base.type, (Vector, Tile)):
            return Part(owner, base, target)
        if isinstance(target, ast.Subscript):
            raise context.type_error(f"{coerce.describe(base)} cannot be indexed.")
        raise context.syntax_error(f"A component of {coerce.describe(base)} cannot be assigned.")


def _in_array(context: Context, base: Value | View, node: ast.expr, inner: bool) -> Place:
    """Return `base[node]` of an array as a target: a `Slot`, or with `inner` a `Held` if it is a part of the array."""
    what = f"An element of {base.name}"
    if inner:
        view, subscripts = views.part(context, base, node)
        return Held(view) if subscripts is None else Slot(view.array, tuple(subscripts), what)
    array, indices = views.element(context, base, node)
    return Slot(array, tuple(indices), what)


def _field_in_memory(context: Context, owner: Element, name: str) -> Place:
    """Return a field of an element of an array of structs as a target: a `Slot`, or an `Element` if it is a struct."""
    part = owner.array.fields[structs.position(context, owner.array.type.dtype, name)]
    if isinstance(part, Elements):
        return Element(part, owner.indices)
    return Slot(part, owner.indices, f"The field {name} of an element of {owner.array.name}")


def read(context: Context, lvalue: Place) -> Operand:
    """Emit the reading of a target's present value, and return it."""
    if isinstance(lvalue, Name):
        if type(known := context.env.get(lvalue.id)) is Value:
            return known
        name = ast.Name(lvalue.id, ast.Load())
        return expression(context, ast.copy_location(name, context.node) if context.node else name)
    if isinstance(lvalue, Slot):
        return context.builder.load(lvalue.array, *lvalue.indices)
    if isinstance(lvalue, Element):
        return structs.load_struct(context, lvalue)
    if isinstance(lvalue, Held):
        return lvalue.value
    return part_of(context, lvalue.base, lvalue.node)


def write(context: Context, lvalue: Place, operand: Operand) -> None:
    """Emit the assignment of an operand to a target: a name, memory, or the value that a part belongs to, rebuilt.

    Raises:
        KernelTypeError: it does not fit.
        KernelSyntaxError: the part cannot be assigned.
    """
    if isinstance(lvalue, Name):
        structs.bind(context.env, lvalue.id, named(operand, lvalue.id))
    elif isinstance(lvalue, Slot):
        value = coerce.assign_type(context, operand, array_of(lvalue.array).dtype, lvalue.what)
        context.builder.store(lvalue.array, *lvalue.indices, value)
    elif isinstance(lvalue, Element):
        value = structs.fitted(context, operand, lvalue.array.type.dtype, f"An element of {lvalue.array.name}")
        assert isinstance(value, Bundle)
        structs.stored(context, lvalue, value)
    elif isinstance(lvalue, Part):
        changed = _replaced(context, lvalue, operand)
        if isinstance(lvalue.owner, Name):
            check_seen(context, lvalue.owner.id)
        write(context, lvalue.owner, changed)


def named(operand: Operand, name: str) -> Operand:
    """Name an operand for readers of the IR, and return it.

    Values without a name get it in place, those of a struct's fields too; a part of an array is copied with it.
    """
    if type(operand) is Value:
        if not operand.name:
            msgspec.structs.force_setattr(operand, "name", name)  # for readers, set once, before anyone has read it
        return operand
    if isinstance(operand, Bundle):
        for f, part in zip(operand.type.fields, operand.fields, strict=True):
            named(part, f"{name}.{f.name}")
    return replace(operand, name=name) if isinstance(operand, View) else operand


def _replaced(context: Context, lvalue: Part, operand: Operand) -> Operand:
    """Emit the value that a part belongs to, with that part replaced by an operand; return it.

    Raises:
        KernelTypeError: the operand does not fit.
        KernelSyntaxError: the part cannot be assigned.
    """
    base, node, label = lvalue.base, lvalue.node, _label(lvalue.owner)
    text = ast.unparse(node.value)
    if isinstance(base, Bundle):
        if isinstance(node, ast.Subscript):
            raise context.type_error(f"{coerce.describe(base)} cannot be indexed.", "Write its field's name.")
        return structs.replaced(context, base, node.attr, operand, text)
    if isinstance(base.type, Tile):
        if isinstance(node, ast.Attribute):
            raise context.syntax_error(f"{node.attr} of {coerce.describe(base)} cannot be assigned.")
        return slicing.changed(context, label, base, node.slice, operand)
    type = vector_of(base)
    if complex_numbers.is_complex(base):
        return _replaced_in_complex(context, lvalue, operand, text)
    if isinstance(node, ast.Subscript) and isinstance(base.type, Matrix):
        return vectors.matrix_changed(context, label, base, node.slice, operand)
    if isinstance(node, ast.Attribute) and isinstance(type, Transform):
        return vectors.transform_changed(context, base, node.attr, operand, label)
    several = _several(context, base, node)
    if several is not None:
        return vectors.replaced(context, base, several, operand, f"These components of {text}", label)
    where = _component(context, type, node)
    if type.dtype == bool_ and isinstance(operand, Literal) and operand.value not in (0, 1):
        raise context.type_error(
            f"A component of {text} is a bool; this is {coerce.describe(operand)}.", "Write bool(…)."
        )
    part = coerce.assign_type(context, operand, type.dtype, f"A component of {text}")
    return context.builder.emit("insert", (base, where, part), (type,), names=(label,)).result


def _replaced_in_complex(context: Context, lvalue: Part, operand: Operand, text: str) -> Value:
    """Emit a complex vector or matrix with a part replaced, in its real and in its imaginary parts; return it.

    Raises:
        KernelSyntaxError: the part is `.real` or `.imag`.
    """
    base = lvalue.base
    assert isinstance(base, Value) and isinstance(base.type, Complex)
    if not base.type.shape or getattr(lvalue.node, "attr", "") in complex_numbers.PARTS:
        message = f"The parts of a complex number are not assigned one by one; {text} is one."
        raise context.syntax_error(message, f"Write {text} = complex({text}.real, …).")
    names: list[str] = []
    node = _evaluated(context, lvalue.node, names)
    sides = zip(coerce.in_parts(context, base), coerce.in_parts(context, coerce.usable(context, operand)), strict=True)
    changed = [_replaced(context, replace(lvalue, base=part, node=node), new) for part, new in sides]
    for name in names:
        del context.env[name]
    return coerce.joined(context, *changed)  # type: ignore[arg-type]


def _several(context: Context, base: Value, node: ast.Attribute | ast.Subscript) -> Sequence[int] | None:
    """Return the positions that a slice `v[1:3]` or letters `v.xy` select; None of anything else, and of `v.xx`."""
    type = vector_of(base)
    if isinstance(node, ast.Attribute):
        distinct = vectors.is_swizzle(base, node.attr) and len(set(node.attr)) == len(node.attr)
        return [vectors.LETTERS.index(letter) for letter in node.attr] if distinct else None
    if not isinstance(node.slice, ast.Slice):
        return None
    return vectors.of_slice(context, type, type.length, vectors.bounds(context, node.slice))


def _component(context: Context, type: Vector, node: ast.Attribute | ast.Subscript) -> Value:
    """Emit the position of the component of a vector that `v[i]` or `v.x` assigns to.

    Raises:
        KernelSyntaxError: the type has no component of this letter.
    """
    if isinstance(node, ast.Subscript):
        return vectors.component(context, type, expression(context, node.slice))
    if isinstance(type, Matrix) or node.attr not in tuple("xyzw"[: type.length]):
        raise context.syntax_error(f"{type!r} has no component {node.attr}.")
    return vectors.component(context, type, Literal(vectors.LETTERS.index(node.attr)))


def _label(lvalue: Place) -> str:
    """Return the name of a local target, as a label for its new value; empty for any other target."""
    return lvalue.id if isinstance(lvalue, Name) else ""


def assign(context: Context, target: ast.expr, operand: Operand) -> None:
    """Lower `target = operand`, where the target may be a tuple, which unpacks the operand.

    Raises:
        KernelTypeError, KernelSyntaxError: nothing can be assigned there, or the operand does not fit.
    """
    if isinstance(target, ast.Name):
        structs.bind(context.env, target.id, named(operand, target.id))
        return
    with context.at(target):
        if isinstance(target, (ast.Tuple, ast.List)):
            _unpack(context, target, operand)
        else:
            write(context, locate(context, target), operand)


def _unpack(context: Context, target: ast.Tuple | ast.List, operand: Operand) -> None:
    """Assign the components of a vector or the items of a tuple to the targets in order; `*rest` receives a tuple.

    Raises:
        KernelTypeError: the operand is neither, or has another number of items.
    """
    wanted = len(target.elts)
    if isinstance(operand, Value) and isinstance(operand.type, Vector) and operand.type.shape:
        parts: list[Operand] = list(vectors.parts(context, operand))
    elif isinstance(operand, tuple):
        parts = list(operand)
    else:
        raise context.type_error(f"{coerce.describe(operand)} cannot be unpacked into {wanted} names.")
    for k in [k for k, part in enumerate(target.elts) if isinstance(part, ast.Starred)][: len(parts) >= wanted - 1]:
        several = slice(k, k + len(parts) - wanted + 1)
        parts[several] = [tuple(parts[several])]
    if len(parts) != wanted:
        raise context.type_error(f"{len(parts)} values cannot be unpacked into {wanted} names.")
    for part, operand_ in zip(target.elts, parts, strict=True):
        assign(context, part.value if isinstance(part, ast.Starred) else part, operand_)


def augment(context: Context, node: ast.AugAssign) -> None:
    """Lower `target op= value`.

    What lies in an array is changed atomically, unless no other thread can touch the element. Where the right side
    writes to the array itself, the statement is Python's: read, evaluate, write.

    Raises:
        KernelTypeError, KernelSyntaxError: nothing can be assigned there, or the operands do not fit.
    """
    names: list[str] = []
    lvalue = locate(context, _evaluated(context, node.target, names))
    slot = lvalue
    while isinstance(slot, Part):
        slot = slot.owner
    if isinstance(slot, Slot):
        _augment_in_array(context, node, lvalue, slot)
    else:
        if isinstance(lvalue, Element) and isinstance(node.op, (ast.Add, ast.Sub)):
            text = ast.unparse(node.target)
            message = "+= and -= on an element of an array are atomic, which they cannot be on a struct."
            raise context.type_error(message, f"Write {text} = {text} + …, where no other thread changes it.")
        current = read(context, lvalue)
        if isinstance(lvalue, Name):
            check_alone(context, lvalue.id, current)
            if isinstance(current, Value) and isinstance(current.type, Tile):
                check_seen(context, lvalue.id)
        result = binary(context, type(node.op), current, expression(context, node.value))
        if isinstance(current, Value) and isinstance(current.type, Scalar) and is_tile(result):
            result = slicing.only_element(context, result)  # a number stays one: s += tile_load(x, shape=1)
        write(context, lvalue, result)
    for name in names:
        del context.env[name]


def _evaluated(context: Context, target: ast.expr, names: list[str]) -> ast.expr:
    """Evaluate a target's indices that contain calls, so that reading and writing it does so only once.

    Args:
        context: where; its local names get the indices.
        target: the target.
        names: receives the names of the indices, which no name in Python looks like.

    Returns:
        The target with these names in place of the indices.
    """
    if isinstance(target, ast.Attribute):
        value = _evaluated(context, target.value, names)
        return ast.copy_location(ast.Attribute(value, target.attr, target.ctx), target)
    if not isinstance(target, ast.Subscript):
        return target
    value = _evaluated(context, target.value, names)
    index = vectors.once(context, target.slice, names)
    return ast.copy_location(ast.Subscript(value, index, target.ctx), target)


def _augment_in_array(context: Context, node: ast.AugAssign, lvalue: Place, slot: Slot) -> None:
    """Lower `x[i] op= v` on an element of an array.

    It is atomic for `+=` and `-=`, and for other componentwise operators unless `owned` is true of the array in the
    run. It is a plain read and write for all others, and where evaluating v changes x.
    """
    sign, builder = type(node.op), context.builder
    with builder.block() as right:
        operand = expression(context, node.value)
    array = slot.array
    if any(array in op.operands and (op.name in EFFECTS or _may_write(op)) for op in walk(right.block)):
        current = read(context, lvalue)
        builder.extend(right.block.ops)
        write(context, lvalue, binary(context, sign, current, operand))
        return
    builder.extend(right.block.ops)
    if isinstance(operand, Poison):
        return
    if sign in (ast.Add, ast.Sub):
        _add(context, sign, lvalue, slot, operand, ast.unparse(node.target))
        return
    with builder.block() as plain:
        current = read(context, lvalue)
        result = binary(context, sign, current, operand)
        write(context, lvalue, result)
        builder.yield_()
    if isinstance(current, Value) and _by_component(context, sign, current, operand):
        with builder.block() as atomic:
            _update(context, sign, lvalue, slot, operand)
            builder.yield_()
        builder.if_(builder.one("owned", (array,), bool_), plain.block, atomic.block)
    else:
        builder.extend(plain.block.ops[:-1])


def _may_write(op: Op) -> bool:
    """Return whether an operation is the user's CUDA text without a body in Python, which may write to its arrays."""
    return op.name == "custom" and not op.attrs.get(REFERENCE, True)


def _add(context: Context, sign: type[ast.operator], lvalue: Place, slot: Slot, operand: Operand, text: str) -> None:
    """Emit `target += operand` or `-=` in an array as an atomic sum on the whole element.

    For a part of an element, the neutral value (-0.0 or 0) is added to all other parts.
    """
    kind = dtype_of(slot.array)
    views.check_sum(context, slot.array)
    if isinstance(lvalue, Part):
        assert isinstance(kind, Vector)
        nothing = context.builder.const(((-0.0 if kind.dtype.kind is Kind.FLOAT else 0),) * kind.length, kind)
        part = value_of(_part(context, lvalue, nothing))
        value = coerce.assign_type(context, operand, part.type, f"A component of {text}")
        value = value if sign is ast.Add else coerce.apply(context, TABLE["neg"], (value,))
        changed = _with_part(context, lvalue, nothing, value)
    else:
        changed = coerce.assign_type(context, operand, kind, slot.what)
        changed = changed if sign is ast.Add else coerce.apply(context, TABLE["neg"], (changed,))
    context.builder.one("atomic_add", (slot.array, *slot.indices, changed), kind)


def _part(context: Context, lvalue: Place, element: Value) -> Operand:
    """Return the part that a target names of the value `element`, as if that lay there; for a `Slot`, all of it."""
    return part_of(context, _part(context, lvalue.owner, element), lvalue.node) if isinstance(lvalue, Part) else element


def _with_part(context: Context, lvalue: Place, element: Value, operand: Operand) -> Value:
    """Emit the value `element` with the part that a target names replaced by `operand`; return it."""
    while isinstance(lvalue, Part):
        base = _part(context, lvalue.owner, element)
        assert isinstance(base, (Bundle, Value))
        lvalue, operand = lvalue.owner, _replaced(context, replace(lvalue, base=base), operand)
    return value_of(operand)


def _by_component(context: Context, sign: type[ast.operator], current: Value, operand: Operand) -> bool:
    """Return whether each component of the result depends on that of both sides alone.

    Products of matrices and the like do not, and nothing complex counts.
    """
    name = BINARY[sign][0]
    if complex_numbers.is_complex(current):
        return False
    if not isinstance(current.type, Vector) or isinstance(operand, Literal):
        return True
    operand = coerce.usable(context, operand)
    return vectors.sign_of(context, name, current, operand) == name and name != "matmul"


def _update(context: Context, sign: type[ast.operator], lvalue: Place, slot: Slot, operand: Operand) -> None:
    """Emit an atomic change of an element, or of the part of it that a target names, each component by itself."""
    kind, builder, numbered = dtype_of(slot.array), context.builder, list[Value]()
    if isinstance(kind, Vector):
        numbers = builder.const(tuple(range(kind.length)), kind.with_dtype(int32))
        chosen = value_of(_part(context, lvalue, numbers))
        numbered = coerce.components(context, chosen)
    values = coerce.components(context, operand) if isinstance(operand, Value) else [operand]
    values = values * len(numbered) if len(values) == 1 and numbered else values
    for where, value in zip([(c,) for c in numbered] or [()], values, strict=True):
        _try(context, sign, slot, where, value)


_IN_ONE_STEP: dict[type[ast.operator], tuple[str, int]] = {
    ast.BitAnd: ("and", -1),
    ast.BitOr: ("or", 0),
    ast.BitXor: ("xor", 0),
}


def _try(context: Context, sign: type[ast.operator], slot: Slot, where: tuple[Value, ...], operand: Operand) -> None:
    """Emit an atomic change of one scalar: as one operation, or as a loop of compare and swap.

    `where` has the index of the component of the element; it is empty for an element that is a scalar.
    """
    builder, scalar = context.builder, element(slot.array.type)
    kind, neutral = _IN_ONE_STEP.get(sign, ("", 0))
    if kind and not where and scalar.kind in (Kind.INT, Kind.UINT) and scalar.bits >= int32.bits:
        # With what changes nothing the operand gets the type that the result would have, or its error.
        nothing = builder.const(neutral % 2**scalar.bits if scalar.kind is Kind.UINT else neutral, scalar)
        combined = binary(context, sign, nothing, operand)
        value = coerce.assign_type(context, combined, scalar, slot.what)
        builder.one("atomic", (slot.array, *slot.indices, value), scalar, {KIND: kind})
        return

    def change(old: Value) -> Value:
        return coerce.assign_type(context, binary(context, sign, old, operand), scalar, slot.what)

    views.exchanged(context, (slot.array, *slot.indices, *where), scalar, change)
