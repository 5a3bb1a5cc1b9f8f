"""Calls of funcs: the body is lowered in place with the arguments as its locals, or copied from an earlier call.

**Choice.** Of several funcs of one name a call takes the one whose parameters fit the arguments best. An argument fits
a parameter exactly, as a literal that adopts its type, as a member of a family, or because the parameter is generic, in
this order. One func must fit at least as well as any other in every argument, and better in one; else the call is
refused.

**Repeated calls.** A func that calls another twice, which calls another twice, would be lowered 2ⁿ times. So a call
whose arguments differ from an earlier call's only in identity, and can share what lowering made of them (`form_of`), is
a copy. What is copied is folded, so a call that computes what another has computed is small by then. A user's func is
lowered by itself for its third call. A long one is not even copied: the call becomes an operation, `call`, which `fold`
writes out when the whole kernel is simplified, and one only of those with the same arguments. So what is written out is
never copied again. The library's functions mean the same in every kernel, so theirs are remembered as long as the
process runs, and lowered once: the operations of the first call are kept, and folded if there is a second.

Loops use the same form of operands, for the types that they settle to.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import cast

from msgspec.structs import replace

from workbench.builtins import TABLE
from workbench.builtins.declaration.rules import WEAK_FLOAT, WEAK_INT, Weak
from workbench.errors import WorkbenchError
from workbench.frontend.functions.derivatives import Custom, custom_of, emit_custom, unknown_body
from workbench.frontend.names.annotate import FUNCTION, Family, Generic, parameter_types, references
from workbench.frontend.names.python_names import captured_value, usable_in_kernel, watch_annotations
from workbench.frontend.names.rewriting import mark, returning
from workbench.frontend.state import coerce
from workbench.frontend.state.coerce import bound
from workbench.frontend.state.context import Body, Calls, Context, Env
from workbench.frontend.state.definition import DEFAULT, Definition, note_name
from workbench.frontend.state.operands import (
    Axis,
    Bundle,
    Element,
    Elements,
    Literal,
    Operand,
    Poison,
    Static,
    Unset,
    View,
)
from workbench.frontend.state.warp_notices import note_loops
from workbench.frontend.values.structs import bind, fitted, flatten, rebuilt
from workbench.host.narrow import is_tuple
from workbench.ir.build import Builder, Replacements, copy_op, fresh
from workbench.ir.ops import PURE, STRUCTURED
from workbench.ir.values import FUNC, Block, Function, Op, Value, walk
from workbench.limits import CALL_DEPTH, CALL_FORMS, CALLED_OPERATIONS, COPIED_CALLS
from workbench.passes.fold import fold
from workbench.passes.pipeline import LOWERED, run
from workbench.source import Location
from workbench.structs import AnyType, IndexedArray, Struct, StructArray
from workbench.types import ArrayType, Kind, Scalar, float32, int32, is_weak
from workbench.types import bool as bool_

_VALUES_INSIDE = (View, Axis, Bundle, Elements, Element)
Lower = Callable[[Env], "Operand | None"]
"""Lowers a func's body for its parameters, and returns its result."""


def form_of(context: Context, operands: Iterable[Operand | None]) -> tuple[Hashable, ...]:
    """Return all that lowering sees of operands, for comparison by ==.

    Values are numbers in order of appearance, with the facts about them. It holds Python objects by their identity, so
    keep the operands as long as it.
    """
    numbers: dict[Value, int] = {}
    return tuple(_form_of(context, operand, numbers) for operand in operands)


def _form_of(context: Context, operand: object, numbers: dict[Value, int]) -> Hashable:
    """Return a hashable description of an operand that does not depend on the identity of IR values.

    Args:
        context: whose builder knows facts about values.
        operand: an operand, or a part of one.
        numbers: the values so far, numbered in order of appearance; new ones are added.
    """
    if isinstance(operand, Value):
        wide = isinstance(operand.type, ArrayType) and operand.type.wide  # which == leaves out
        known = context.shared.builder.known(operand)
        return (numbers.setdefault(operand, len(numbers)), operand.type, wide, is_weak(operand.type), *known)
    if isinstance(operand, Literal):
        return type(cast(object, operand.value)), repr(operand.value), operand.captured
    if isinstance(operand, Static):
        return id(operand.value), operand.path
    if is_tuple(operand):
        return tuple(_form_of(context, o, numbers) for o in operand)
    if isinstance(operand, _VALUES_INSIDE):
        parts = (_form_of(context, getattr(operand, name), numbers) for name in operand.__struct_fields__)
        return type(operand), *parts
    return operand


def values(operands: Iterable[object]) -> Iterable[Value]:
    """Yield the values that operands are made of, in order, with repetitions."""
    for operand in operands:
        if isinstance(operand, Value):
            yield operand
        elif is_tuple(operand):
            yield from values(operand)
        elif isinstance(operand, _VALUES_INSIDE):
            yield from values(getattr(operand, name) for name in operand.__struct_fields__)


def with_values(operand: Operand, mapping: Replacements) -> Operand:
    """Return a copy of an operand with the values in it replaced; those that the mapping lacks stay."""
    return _with_values(operand, mapping)  # type: ignore[return-value]


def _with_values(operand: object, mapping: Replacements) -> object:
    """Return an operand, or a part of one, with its IR values replaced by `mapping`; other objects unchanged."""
    if isinstance(operand, Value):
        return mapping.get(operand, operand)
    if is_tuple(operand):
        return tuple(_with_values(o, mapping) for o in operand)
    if isinstance(operand, _VALUES_INSIDE):
        names = operand.__struct_fields__
        return replace(operand, **{name: _with_values(getattr(operand, name), mapping) for name in names})
    return operand


_LIBRARY: dict[Hashable, Calls] = {}


def lowered_or_copied(context: Context, definition: Definition, env: Env, lower: Lower) -> Operand | None:
    """Return the result of a func, by lowering it here or by copying what an earlier call like this one became.

    It is None if the func returns nothing.

    Args:
        context: of the caller.
        definition: the func.
        env: the arguments by name; `lower` gets it, or one like it.
        lower: lowers the func's body for such arguments.
    """
    shared = context.shared
    args = tuple(env.values())
    free = bool(shared.uniforms) and not definition.library  # its body may use parameters of the kernel
    if free or shared.trace or shared.notices is not None or any(is_weak(v.type) for v in values(args)):
        return lower(env)
    if definition.library and any(isinstance(a, Static) and hasattr(a.value, "__wb_definitions__") for a in args):
        return lower(env)  # what a user's func reads may mean something else in the next kernel
    key: Hashable = (id(definition), shared.lifted, *env, *form_of(context, args))
    table = _LIBRARY if definition.library else shared.calls
    if len(table) >= CALL_FORMS and definition.library:
        table.clear()
    calls = table.setdefault(key, Calls(definition, args))
    calls.count += 1
    if definition.library and calls.count == 1:
        body, sound = _noted(context, env, lower)
        context.builder.extend(body.block.ops[:-1])
        calls.body = body if sound else None
        return body.result
    if definition.library and calls.count == 2 and calls.body is not None:
        calls.body = _folded(context, definition, calls.body)
    if not definition.library and calls.count == COPIED_CALLS:
        calls.body = _by_itself(context, definition, env, lower)
    if calls.body is None:
        return lower(env)
    return _copied(context, calls.body, args, context.builder.location if definition.library else None)


def _by_itself(context: Context, definition: Definition, env: Env, lower: Lower) -> Body | None:
    """Lower a func apart from its caller, to be copied; None if an error was noted, which lowering in place reports."""
    shared = context.shared
    mapping: Replacements = {v: fresh(v) for v in values(env.values())}
    for old, new in mapping.items():
        shared.builder.learn(new, shared.builder.known(old))
    errors_before = len(shared.errors)
    noted, sound = _noted(context, {name: with_values(operand, mapping) for name, operand in env.items()}, lower)
    del shared.errors[errors_before:]
    return _folded(context, definition, noted) if sound else None


def _noted(context: Context, env: Env, lower: Lower) -> tuple[Body, bool]:
    """Lower a func's body into a block of its own.

    Returns:
        The body, and whether it can be copied: no error was noted meanwhile.
    """
    shared = context.shared
    errors_before = len(shared.errors)
    with context.builder.block() as opened:
        result = lower(env)
    yielded = tuple(dict.fromkeys(values([result])))
    sound = len(shared.errors) == errors_before and not isinstance(result, Poison)
    known = tuple(shared.builder.known(v) for v in yielded)
    block = Block(tuple(dict.fromkeys(values(env.values()))), (*opened.block.ops, Op("yield", yielded)))
    return Body(block, result, known, called=False), sound


def _folded(context: Context, definition: Definition, body: Body) -> Body:
    """Return a func's lowered body, simplified, with `called` set if a call of it is to be an operation.

    One whose results have weak types is not simplified.
    """
    if any(is_weak(v.type) for v in body.block.yielded):  # what it is computed in, each call decides
        return replace(body, called=_worth_a_call(body.block))
    ends = Builder()
    ends.extend(body.block.ops[:-1])
    ends.emit("mark", body.block.yielded)  # what is kept for its own sake
    alone = Function(context.definition.name, body.block.params, ends.body())
    copied = definition.library or context.shared.closed
    *ops, end = run(LOWERED, alone, fold=partial(fold, calls=copied)).body.ops
    results: Replacements = dict(zip(body.block.yielded, end.operands, strict=True))
    result = with_values(body.result, results) if body.result is not None else None
    block = Block(alone.params, (*ops, Op("yield", end.operands)))
    return Body(block, result, body.known, not copied and _worth_a_call(block))


def _worth_a_call(block: Block) -> bool:
    """Return whether a body is long, and equal arguments give equal results.

    Then a call stays one operation for now, and of several with the same arguments only one is written out.
    """
    if len(block.ops) < CALLED_OPERATIONS:
        return False
    return all(op.name in STRUCTURED | PURE | {"yield"} or op.name in TABLE for op in walk(block))


def _copied(context: Context, body: Body, args: tuple[Operand, ...], location: Location | None) -> Operand | None:
    """Emit a func's remembered body for new arguments, or a `call` of it; return its result, None if it has none.

    Args:
        context: of the caller.
        body: the remembered body.
        args: the arguments.
        location: the location of the copied operations; None: they retain their own.
    """
    builder, yielded = context.shared.builder, body.block.yielded
    mapping: Replacements = dict(zip(body.block.params, dict.fromkeys(values(args)), strict=True))
    if body.called:
        types, names = [v.type for v in yielded], [v.name for v in yielded]
        op = builder.emit("call", tuple(mapping.values()), types, FUNC.of(body.block), (), names)
        mapping.update(zip(yielded, op.results, strict=True))
    else:
        for op in body.block.ops[:-1]:
            builder.append(copy_op(op, mapping, location=location))
    for value, known in zip(yielded, body.known, strict=True):
        builder.learn(mapping[value], known)
    return with_values(body.result, mapping) if body.result is not None else None


def call(context: Context, callee: Static, args: list[Operand], keywords: dict[str, Operand]) -> Operand:
    """Lower a call of a func, by inlining the version that fits the arguments best; return its result.

    Raises:
        KernelSyntaxError: the func calls itself or is out of date, or it changes names of its caller and this call
            cannot show that.
        KernelTypeError: the arguments do not fit.
    """
    if callee.value.stale:
        what = f"{callee.path} is out of date: {callee.value.stale}"
        raise context.syntax_error(what, "Fix its cell and run it again.")
    definitions = callee.value.__wb_definitions__
    definition, arranged = choose(context, definitions, lambda d: _arrange(context, d, args, keywords))
    changed = references(definition)
    if changed and (not getattr(context.node, "gives_back", False) or changed != references(definitions[0])):
        message = f"{callee.path}() changes {changed[0]} of its caller, and this call cannot see what it changes."
        raise context.syntax_error(message, f"Call {definition.name}() by its name: it stands for all versions.")
    env = _bind(context, definition, arranged)
    return inlined(context, definition, env, callee.value.__wb_customs__)


def inlined(
    context: Context, definition: Definition, env: Env, customs: dict[Definition, Custom] | None = None
) -> Operand:
    """Lower the body of a func whose parameters are bound; return its result, an empty tuple if it returns nothing.

    Args:
        context: of the caller.
        definition: the func.
        env: the arguments by the names of the parameters.
        customs: gradients, replays and CUDA texts of versions of the func; None if there are none.

    Raises:
        KernelSyntaxError: it calls itself, or too many funcs call one another.
    """
    frame = (definition, tuple(id(o.value) for o in env.values() if isinstance(o, Static)))
    if len(context.inside) >= CALL_DEPTH:
        raise context.syntax_error(f"More than {CALL_DEPTH} funcs call one another here.", "Write a loop.")
    if frame in context.inside:
        raise context.syntax_error(f"{definition.name} calls itself; a kernel has no recursion.", "Write a loop.")
    note_loops(context, definition)
    location = context.builder.location

    def inside(env: Env) -> Context:
        return Context(definition, dict(env), context.shared, (*context.inside, frame), caller=context)

    def lower(env: Env) -> Operand | None:
        returned = context.shared.syntax.body(inside(env), prepared(definition))
        return decided(context, returned) if definition.library else returned

    watch_annotations(inside(env))
    custom = custom_of(context, customs, definition) if customs is not None else None
    if custom is not None:
        env = {n: context.builder.strong(o) if isinstance(o, Value) else o for n, o in env.items()}
        with context.builder.block() as opened:
            if custom.native is not None and not custom.native.reference:
                returned = unknown_body(inside(env), env, custom.native)
            else:
                returned = lower(env)
        context.builder.location = location
        return emit_custom(context, definition, custom, env, opened.block, returned)
    value = lowered_or_copied(context, definition, env, lower)
    context.builder.location = location
    return value if value is not None else ()


def decided(context: Context, operand: Operand | None) -> Operand | None:
    """Return the operand with weak numbers in their default types, as functions of the language return them."""
    if operand is None:
        return None
    leaves = (context.builder.strong(o) if isinstance(o, Value) else o for o in flatten(operand))
    return rebuilt(operand, leaves)


def prepared(definition: Definition) -> Sequence[ast.stmt]:
    """Return a func's statements for lowering: rebound names are marked, each `return` gives its references."""
    if not definition.library:
        return returning(definition, mark(definition, definition.node.body))
    if definition not in _PREPARED:
        _PREPARED[definition] = mark(definition, definition.node.body)
    return _PREPARED[definition]


_PREPARED: dict[Definition, Sequence[ast.stmt]] = {}  # of the library's functions, whose names mean the same always


def _arrange(
    context: Context, definition: Definition, args: list[Operand], keywords: dict[str, Operand]
) -> dict[str, Operand]:
    """Return the arguments by the names of the parameters; those left out have defaults and are not among them.

    Raises:
        KernelTypeError: there are too many, one is missing, unknown, or given twice.
    """
    parameters = [p.arg for p in definition.parameters]
    optional = parameters[len(parameters) - len(definition.node.args.defaults) :]
    return bound(context, definition.name, parameters, args, keywords, optional)


def _bind(context: Context, definition: Definition, arguments: Mapping[str, Operand]) -> Env:
    """Return a func's local names at its start: each parameter with its argument or default, in the parameter's type.

    Raises:
        KernelTypeError: an argument does not fit its parameter.
    """
    parameters = definition.parameters
    wanted, families = parameter_types(definition)
    env: Env = {}
    for parameter in parameters:
        name = parameter.arg
        operand = arguments[name] if name in arguments else _default(context, definition, name)
        if name in families and not (isinstance(operand, Static) and operand.value is None):
            operand = _member(context, definition, name, operand, families[name])
        bind(env, name, _fit(context, definition, name, operand, wanted[name]))
    return env


def _default(context: Context, definition: Definition, name: str) -> Operand:
    """Return the operand that a call without this argument passes.

    Raises:
        KernelTypeError: the default is nothing that a kernel can use.
    """
    value = definition.default(name)
    note_name(definition, DEFAULT, name, value)
    if value is None:
        return Static(None, name)
    if isinstance(value, bool):
        return context.builder.const(value, bool_)
    if isinstance(value, (int, float, complex)):
        return Literal(complex(value) if isinstance(value, complex) else value)
    if not usable_in_kernel(value):
        text = ast.unparse(definition.default_nodes[name])
        message = f"The default of {name} in {definition.name}() is {text}, which no kernel can use."
        raise context.type_error(message, f"Give {name} at the call, or use {text} inside of {definition.name}.")
    return captured_value(context, value, f"{definition.name}.{name}")


def _member(context: Context, definition: Definition, name: str, operand: Operand, family: Generic) -> Operand:
    """Return the argument of a parameter that takes a family of types; an int becomes a float where one is expected.

    Raises:
        KernelTypeError: it is not of the family.
    """
    if not accepts(family, operand):
        coerce.usable(context, operand) if isinstance(operand, (Unset, Poison)) else None
        raise context.type_error(
            f"{name} of {definition.name}() is {family!r}; the argument is {coerce.describe(operand)}."
        )
    wants_float = isinstance(family, Family) and not family.accepts(int32)
    if isinstance(operand, Literal) and wants_float:
        return Literal(float(operand.value))
    is_int = isinstance(operand, Value) and operand.type == int32
    return coerce.convert(context, operand, coerce.default_type(Literal(0.0))) if is_int and wants_float else operand


def _fit(context: Context, definition: Definition, name: str, operand: Operand, type: AnyType | None) -> Operand:
    """Return an argument in its parameter's type; unchanged for a generic parameter, a tuple or a Python object.

    Raises:
        KernelTypeError: it is of another type.
    """
    if type is None or isinstance(operand, (tuple, Static)):
        return operand
    if isinstance(type, (Struct, StructArray)):
        return fitted(context, operand, type, f"{name} of {definition.name}()")
    operand = coerce.indexable(context, operand)
    type = type.behind if isinstance(type, IndexedArray) else type
    if isinstance(operand, View) and operand.type == type:
        return operand
    if isinstance(operand, (Value, View)) and operand.type != type and not coerce.adopts(operand, type):
        message = f"{name} of {definition.name}() is {type!r}; the argument is {operand.type!r}."
        raise context.type_error(message, f"Write {type!r}(…)." if not hasattr(type, "ndim") else "")
    return coerce.assign_type(context, operand, type, f"{name} of {definition.name}()")


Given = Mapping[str, Operand]
EXACT, ADOPTED, WIDENED, FAMILY, OPEN = range(5)


def choose(
    context: Context, definitions: Sequence[Definition], arrange: Callable[[Definition], Given]
) -> tuple[Definition, Given]:
    """Return the definition that a call means, with its arguments by name.

    Raises:
        KernelTypeError: none fits, or none fits best; the candidates are listed.
    """
    if len(definitions) == 1:
        return definitions[0], arrange(definitions[0])
    fitting: list[tuple[Definition, Given, list[int]]] = []
    shown = ""
    for definition in definitions:
        try:
            arguments = arrange(definition)
        except WorkbenchError:
            continue
        shown = shown or ", ".join(coerce.describe(o) for o in arguments.values())
        scores = _scores(definition, arguments)
        if scores is not None:
            fitting.append((definition, arguments, scores))
    best = [f for f in fitting if all(f is g or _better(f[2], g[2]) for g in fitting)]
    if best:
        return best[0][:2]
    name = definitions[0].name
    versions = "; ".join(signature(d) for d in definitions)
    if fitting:
        message = f"Several versions of {name}() fit the arguments equally well."
        raise context.type_error(message, f"Cast an argument. The versions: {versions}.")
    what = f"takes ({shown})" if shown else "takes this many arguments"
    raise context.type_error(f"No version of {name}() {what}.", f"The versions: {versions}.")


def signature(definition: Definition) -> str:
    """Return a definition as a message lists it: `f(a: float32, b)`."""
    types, families = parameter_types(definition)
    parts = [f"{n}: {t!r}" if t else f"{n}: {families[n]!r}" if n in families else n for n, t in types.items()]
    return f"{definition.name}({', '.join(parts)})"


def _better(a: Sequence[int], b: Sequence[int]) -> bool:
    """Return whether scores `a` are as good as scores `b` in every argument, and better in one; low ones are good."""
    return all(x <= y for x, y in zip(a, b, strict=False)) and list(a) != list(b)


def _scores(definition: Definition, arguments: Given) -> list[int] | None:
    """Return, for each argument, how well it fits its parameter: 0 is best; None if one does not fit."""
    types, families = parameter_types(definition)
    scores = [_score(o, types[n], families.get(n)) for n, o in arguments.items()]
    return None if any(s is None for s in scores) else [s for s in scores if s is not None]


def _score(operand: Operand, type: AnyType | None, family: Generic | None) -> int | None:
    """Return how well an argument fits a parameter, from `EXACT` (best) to `OPEN`; None if it does not.

    Args:
        operand: the argument.
        type: the parameter's type; None if it is generic.
        family: the family of types that it takes, if it is generic and has one.
    """
    if type is not None:
        if isinstance(operand, Static) and operand.value is None:  # an array that is not there
            return EXACT if isinstance(type, (ArrayType, StructArray)) else None
        if isinstance(operand, (Literal, Value)) and isinstance(coerce.weak(operand), Weak):
            return _adopted(coerce.weak(operand) == WEAK_FLOAT, type)
        type = type.behind if isinstance(type, IndexedArray) else type
        if isinstance(operand, Bundle):
            return EXACT if operand.type.fits(type) else None
        return EXACT if isinstance(operand, (Value, View, Elements)) and operand.type == type else None
    if family is None:
        return OPEN
    return FAMILY if accepts(family, operand) else None


def _adopted(is_float: bool, type: AnyType) -> int | None:
    """Return how well a number without a type of its own, float or int, fits a type; None if it does not."""
    if not isinstance(type, Scalar) or type.kind is Kind.BOOL:
        return None
    if is_float:
        return (EXACT if type == float32 else ADOPTED) if type.kind is Kind.FLOAT else None
    return WIDENED if type.kind is Kind.FLOAT else EXACT if type == int32 else ADOPTED


def accepts(family: Generic, operand: Operand) -> bool:
    """Return whether an argument is of a family; an int without a type yet counts as a float where one is expected."""
    if isinstance(operand, Static):
        return family is FUNCTION and not isinstance(operand.value, bool)
    if isinstance(operand, (Literal, Value)) and isinstance(coerce.weak(operand), Weak):
        return family.accepts(float32) or (coerce.weak(operand) == WEAK_INT and family.accepts(int32))
    return isinstance(operand, (Value, View, Elements)) and family.accepts(operand.type)
