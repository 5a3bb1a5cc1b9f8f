"""Names of the language that are written in the language: a call inlines the function, as it does a user's func.

Its source code is read and parsed when a kernel first calls it. Operations, errors and steps belong to the call.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import isqrt, prod
from typing import Any, cast

import numpy as np

from workbench.builtins.declaration import forms
from workbench.builtins.declaration.declare import TABLE, Form
from workbench.builtins.declaration.rules import promote_all
from workbench.frontend.functions.derivatives import Custom
from workbench.frontend.functions.inline import inlined
from workbench.frontend.state import coerce
from workbench.frontend.state.coerce import any_tile, argument, over
from workbench.frontend.state.context import Context, FormHandler
from workbench.frontend.state.definition import Definition, Scope
from workbench.frontend.state.operands import Bundle, Literal, Operand, Static, literal_of, value_of
from workbench.function_text import text_of
from workbench.ir.values import Value, slots_of
from workbench.types import Quaternion, Vector, element, int64, uint32, vector_of


@cache
def parsed(form: Form) -> tuple[Definition, dict[Definition, Custom] | None]:
    """Return the function of the kernel language that a form stands for, and a dict with its custom gradient.

    The dict's key is that definition, since gradients belong to one by identity; it is None if the form has none.
    """
    assert form.body is not None
    definition = _read(form.name, form.body)
    if not form.gradients:
        return definition, None
    return definition, {definition: Custom(_read(f"{form.name} (gradient)", form.gradients[-1]))}


def definition_of(form: Form) -> Definition:
    """Return the function of the kernel language that a form stands for."""
    return parsed(form)[0]


def _read(name: str, body: Callable[..., Any]) -> Definition:
    """Return the definition of a library function, parsed from the source of its Python body."""
    text = text_of(body)
    return Definition(name, text.node, text.source, Scope(user=body.__globals__), library=True)


def lower(context: Context, form: Form, node: ast.Call) -> Operand:
    """Lower a call of a function of the library; one that draws random numbers also advances the state it is given.

    Raises:
        KernelTypeError: the arguments are not what it takes.
        KernelSyntaxError: it advances a state where it may be computed or not, or twice.
    """
    draws = form.rebinds is not None
    nodes = _positional(context, definition_of(form), node)
    operands = [argument(context, a) for a in nodes[draws:]]
    if not draws:
        return call(context, form, operands)
    _typed(context, form, [Value(uint32), *operands] if nodes else [])
    name, state = _state(context, node)
    returned = call(context, form, [state, *operands])
    *results, context.env[name] = cast("tuple[Operand, ...]", returned)
    return results[0] if len(results) == 1 else tuple(results)


def call(context: Context, form: Form, args: Sequence[Operand]) -> Operand:
    """Inline a function of the library on operands, and return its result; parameters without one are None.

    Raises:
        KernelTypeError: they are not what it takes.
    """
    definition, gradients = parsed(form)
    operands = _typed(context, form, args)
    names = [p.arg for p in definition.parameters]
    absent = {name: Static(None, name) for name in names[len(operands) :]}
    env = dict(zip(names, operands, strict=False)) | absent
    return inlined(context, definition, env, gradients if form.gradients else None)  # forms equal without them, too


def over_elements(context: Context, form: Form, args: Sequence[Operand]) -> Operand:
    """Emit a function of the library on numbers, or on each element of the tiles or vectors among the arguments.

    Vectors and matrices have one shape; numbers beside them are the same for each element.
    """
    if not any_tile(args):
        shapes = [getattr(a.type, "shape", ()) if isinstance(a, Value) else () for a in args]
        shape = max(shapes)
        if not shape:
            return call(context, form, args)
        each = [
            coerce.scalar_components(context, value_of(a)) if own else (a,) * prod(shape)
            for a, own in zip(args, shapes, strict=True)
        ]
        elements = [coerce.materialise(context, call(context, form, parts)) for parts in zip(*each, strict=True)]
        return coerce.composed(context, elements, vector_of(shape, elements[0].type))
    return over(context, form.name, args, lambda parts: [coerce.materialise(context, call(context, form, parts))])[0]


def _positional(context: Context, definition: Definition, node: ast.Call) -> list[ast.expr]:
    """Return the arguments in the order of the parameters; those before a / in the def cannot be given by name.

    Raises:
        KernelTypeError: a name is of no such parameter.
    """
    named = {k.arg: k.value for k in node.keywords if k.arg}
    rest = [named.pop(p.arg, None) for p in definition.node.args.args[len(node.args) :]]
    while rest and rest[-1] is None:
        rest.pop()
    if named:
        raise context.type_error(f"{ast.unparse(node.func)}() takes its arguments without names.")
    return [*node.args, *(n or ast.Constant(None) for n in rest)]


def _typed(context: Context, form: Form, args: Sequence[Operand]) -> list[Operand]:
    """Return the arguments in the types that the function takes.

    Raises:
        KernelTypeError: one has another type, or a mesh, tree or grid is expected first.
    """
    if form.of is not None:
        name, field = form.of
        if not args or not isinstance(args[0], Bundle) or args[0].type.find(field) is None:
            shown = coerce.describe(args[0]) if args else "nothing"
            advice = f"Annotate the parameter as {name.lower()}: wb.{name}."
            raise context.type_error(f"{form.name}() takes a {name} first; this is {shown}.", advice)
        return [args[0], *_typed(context, replace(form, of=None, name=f"After the {name}, {form.name}"), args[1:])]
    if form.takes is None:
        return list(args)
    operands = [coerce.indexable(context, a) for a in args]
    types = form.takes(form.name, [coerce.weak(o) if isinstance(o, (Value, Literal)) else o.type for o in operands])
    return [o if t is None else coerce.convert(context, o, t) for o, t in zip(operands, types, strict=True)]


def _state(context: Context, node: ast.Call) -> tuple[str, Value]:
    """Return the local name of the random state that a call advances, and its value.

    Raises:
        KernelSyntaxError: the call may be computed or not, or twice.
        KernelTypeError: its argument is no local name, or not of a state.
    """
    name = ast.unparse(node.func)
    name_of_state = getattr(node, "uncertain", "")
    if name_of_state:
        message = f"{name}() advances its state, so it cannot stand {name_of_state}."
        raise context.syntax_error(message, "Draw the number on a line of its own, and use it here.")
    argument = node.args[0]
    if not isinstance(argument, ast.Name) or not isinstance(argument.ctx, ast.Store):
        raise context.type_error(
            f"{name}() advances its state, so it takes a local name.", "Write state = rand_init(seed, i) first."
        )
    if argument.id not in context.env:
        message = f"{name}() advances its state, and {argument.id} is not a local name here."
        raise context.type_error(message, f"Write {argument.id} = rand_init(seed, i) first.")
    state = coerce.usable(context, context.env[argument.id])
    if not isinstance(state, Value) or state.type != uint32:
        message = f"{name}() takes a state, a uint32; {argument.id} is {coerce.describe(state)}."
        raise context.type_error(message, "Write state = rand_init(seed, i) first, and draw from that.")
    return argument.id, state


# What such functions may ask of the front end, beyond the language.


def _composed(kind: type[Vector]) -> FormHandler:
    """Return the lowering of a call that builds a vector or quaternion (`kind`) of scalars, in their common type."""

    def construct(context: Context, node: ast.Call) -> Operand:
        parts = [coerce.materialise(context, context.lower(a)) for a in node.args]
        scalar = promote_all(element(p.type) for p in parts)
        assert scalar is not None
        return context.builder.one("vec", [context.builder.cast(p, scalar) for p in parts], kind(len(parts), scalar))

    return construct


def _natural(context: Context, node: ast.Call) -> Operand:
    """Return the argument as a value, and note that it is not negative."""
    number = coerce.materialise(context, context.lower(node.args[0]))
    context.shared.non_negative.add(number)
    return number


def _low_word(context: Context, node: ast.Call) -> Operand:
    """Return the low 32 bits of an integer, as a uint32."""
    operand = coerce.usable(context, context.lower(node.args[0]))
    if isinstance(operand, Literal) and operand.captured is None:
        return coerce.materialise(context, Literal(operand.value % 2**32), uint32)
    return context.builder.cast(coerce.materialise(context, operand, int64), uint32)


def _has_components(context: Context, node: ast.Call) -> Operand:
    """Return a compile-time bool: whether the first argument is a vector of as many components as the second says."""
    value, count = (context.lower(a) for a in node.args)
    type = value_of(value).type
    return Static(isinstance(type, Vector) and type.length == literal_of(count).value, ast.unparse(node))


def _is_double(context: Context, node: ast.Call) -> Operand:
    """Return a compile-time bool: whether the argument's numbers have 64 bits."""
    return Static(element(coerce.materialise(context, context.lower(node.args[0])).type).bits == 64, ast.unparse(node))


def _epsilon(context: Context, node: ast.Call) -> Operand:
    """Return the machine epsilon of the argument's float type, as a literal."""
    scalar = element(coerce.materialise(context, context.lower(node.args[0])).type)
    return Literal(float(np.finfo(scalar.numpy).eps))


def _factors(context: Context, node: ast.Call) -> Operand:
    """Return literals p and n / p for a literal n, where p is the largest factor of n up to its square root."""
    n = int(literal_of(context.lower(node.args[0])).value)
    p = next(p for p in range(isqrt(n), 0, -1) if n % p == 0)
    return Literal(p), Literal(n // p)


def _stack(context: Context, node: ast.Call) -> Operand:
    """Emit storage of the thread's own for `count` values of the type of the second argument; return its slots."""
    count, value = (context.lower(a) for a in node.args)
    return context.builder.slots(coerce.materialise(context, value).type, int(literal_of(count).value))  # type: ignore[arg-type]


def _pushed(context: Context, node: ast.Call) -> Operand:
    """Emit the write of a value to a slot (arguments: slots, position, value); return the position plus 1."""
    operand, position, value = (context.lower(a) for a in node.args)
    slots, index = value_of(operand), coerce.materialise(context, position)
    context.builder.slot_write(slots, index, coerce.convert(context, value, slots_of(slots).dtype))
    return coerce.apply(context, TABLE["add"], (index, Literal(1)))


def _popped(context: Context, node: ast.Call) -> Operand:
    """Emit the read of a slot (arguments: slots, position), and return the value."""
    slots, position = (context.lower(a) for a in node.args)
    return context.builder.slot_read(value_of(slots), coerce.materialise(context, position))


FORMS: dict[str, FormHandler] = {
    forms.vector.name: _composed(Vector), forms.quaternion.name: _composed(Quaternion), forms.natural.name: _natural,
    forms.low_word.name: _low_word, forms.has_components.name: _has_components, forms.is_double.name: _is_double,
    forms.epsilon.name: _epsilon, forms.factors.name: _factors, forms.stack.name: _stack, forms.pushed.name: _pushed,
    forms.popped.name: _popped,
}  # fmt: skip
