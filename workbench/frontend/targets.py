"""The left side of an assignment: names, tuples, array elements, vector components."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace

from workbench.builtins.table import TABLE
from workbench.errors import KernelSyntaxError, KernelTypeError
from workbench.frontend import atomics, matrices, subscripts, views
from workbench.frontend.coerce import apply, assign_type, describe, indexable, usable
from workbench.frontend.context import Context
from workbench.frontend.expressions import binary, expression
from workbench.frontend.operands import Literal, Operand, Poison, View
from workbench.ir.values import Value
from workbench.types import Matrix, Vector


def assign(context: Context, target: ast.expr, operand: Operand) -> None:
    """`target = operand`."""
    with context.at(target):
        if isinstance(target, ast.Name):
            context.env[target.id] = _named(context, operand, target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            _unpack(context, target, operand)
        elif isinstance(target, ast.Subscript):
            _element(context, target, operand)
        elif isinstance(target, ast.Attribute):
            _component(context, target.value, target.attr, None, operand)
        else:
            raise context.error(KernelSyntaxError, "A kernel cannot assign to this.")


def _named(context: Context, operand: Operand, name: str) -> Operand:
    """The operand; where it is a fresh value without a name, it takes this one for readers."""
    if isinstance(operand, Value) and not operand.name:
        object.__setattr__(operand, "name", name)  # a label for readers, set once, before anyone has read it
    return replace(operand, name=name) if isinstance(operand, View) else operand


def _unpack(context: Context, target: ast.Tuple | ast.List, operand: Operand) -> None:
    wanted = len(target.elts)
    if isinstance(operand, Value) and isinstance(operand.type, Vector):
        parts: list[Operand] = list(matrices.parts(context, operand))
    elif isinstance(operand, tuple):
        parts = list(operand)
    else:
        raise context.error(KernelTypeError, f"{describe(operand)} cannot be unpacked into {wanted} names.")
    if len(parts) != wanted:
        raise context.error(KernelTypeError, f"{len(parts)} values cannot be unpacked into {wanted} names.")
    for part, operand_ in zip(target.elts, parts, strict=True):
        assign(context, part, operand_)


def _element(context: Context, target: ast.Subscript, operand: Operand) -> None:
    base = indexable(context, expression(context, target.value))
    if views.is_array(base):
        array, indices = views.element(context, base, target.slice, expression)
        value = assign_type(context, operand, views.type_of(base).dtype, f"An element of {base.name}")
        context.builder.store(array, *indices, value)
    elif isinstance(base, Value) and isinstance(base.type, Matrix) and isinstance(target.value, ast.Name):
        owner = target.value.id
        context.env[owner] = matrices.changed(context, owner, base, target.slice, operand, expression)
    elif isinstance(base, Value) and isinstance(base.type, Vector):
        _component(context, target.value, "", target.slice, operand)
    else:
        raise context.error(KernelTypeError, f"{describe(base)} cannot be indexed.")


def _component(context: Context, owner: ast.expr, attr: str, index: ast.expr | None, operand: Operand) -> None:
    """`v.x = operand` or `v[k] = operand`: v becomes a new vector."""
    vector = usable(context, expression(context, owner))
    if not isinstance(vector, Value) or not isinstance(vector.type, Vector):
        raise context.error(KernelSyntaxError, f"A component of {describe(vector)} cannot be assigned.")
    if not isinstance(owner, ast.Name):
        text = ast.unparse(owner)
        raise context.error(
            KernelSyntaxError, f"A component of {text} cannot be assigned in place.",
            f"Write v = {text}, change v, and then {text} = v.",
        )  # fmt: skip
    if index is None and (isinstance(vector.type, Matrix) or attr not in tuple("xyzw"[: vector.type.length])):
        raise context.error(KernelSyntaxError, f"{vector.type!r} has no component {attr}.")
    chosen: Operand = Literal(subscripts.COMPONENTS[attr]) if index is None else expression(context, index)
    where = subscripts.component(context, vector.type, chosen)
    part = assign_type(context, operand, vector.type.dtype, f"A component of {owner.id}")
    context.env[owner.id] = context.builder.emit(
        "insert", (vector, where, part), (vector.type,), names=(owner.id,)
    ).result


def augmented(context: Context, node: ast.AugAssign) -> None:
    """`target op= value`: on an array element, `+=` and `-=` are atomic adds (other threads may add there too)."""
    target = node.target
    if isinstance(target, ast.Subscript):
        base = indexable(context, expression(context, target.value))
        if views.is_array(base):
            _augmented_element(context, node, base, target.slice)
            return
    current = expression(context, _as_read(target))
    assign(context, target, binary(context, type(node.op), current, expression(context, node.value)))


def _augmented_element(context: Context, node: ast.AugAssign, target: Value | View, index: ast.expr) -> None:
    array, indices = views.element(context, target, index, expression)
    dtype, what = views.type_of(target).dtype, f"An element of {target.name}"
    operand = expression(context, node.value)
    if isinstance(operand, Poison):
        return
    if isinstance(node.op, (ast.Add, ast.Sub)):
        value = assign_type(context, operand, dtype, what)
        atomics.check_sum(context, array)
        if isinstance(node.op, ast.Sub):
            value = apply(context, TABLE["neg"], (value,))
        context.builder.one("atomic_add", (array, *indices, value), dtype)
        return
    old = context.builder.load(array, *indices)
    new = binary(context, type(node.op), old, operand)
    context.builder.store(array, *indices, assign_type(context, new, dtype, what))


def _as_read(target: ast.expr) -> ast.expr:
    assert isinstance(target, (ast.Name, ast.Attribute, ast.Subscript))
    read = copy.copy(target)
    read.ctx = ast.Load()
    return read
