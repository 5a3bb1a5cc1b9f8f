"""Derivatives of funcs: `grad(f)` in a kernel, and gradients or replays that the user wrote.

`grad(f)(x, y)` in a kernel is the derivatives of a func's number by the numbers and vectors it is called with. The func
is lowered for parameters of its own, and what differentiates it, which lives on another floor, writes down the
operations of its tangents: one for each number it depends on. So a derivative is code like any other, with derivatives
of its own.

A call of a func whose gradient or replay the user wrote is one `custom` operation with the body and both inside. A
gradient is a function of the func's inputs and of the adjoints of its results. `adjoint[x] += v` in it is, for a number
or vector x, a local name that begins at 0 and is returned at the end; for an array it is the adjoint array. Both are
made by rewriting the syntax tree, so branches, loops and early returns are what they are elsewhere.

A func may have CUDA text. Its Python body, where there is one, is the meaning: other backends run it, and gradients are
derived from it. A func whose body is `...` has a meaning on CUDA alone; what it does to the arrays it is given is not
known, so the worst is assumed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import msgspec

from workbench.builtins.declaration.declare import Form
from workbench.builtins.declaration.forms import adjoint as ADJOINT
from workbench.errors import KernelTypeError, WorkbenchError
from workbench.frontend.names.annotate import annotated, parameter_annotations, refuse_references
from workbench.frontend.names.python_names import as_builtin, reread
from workbench.frontend.names.rewriting import mark
from workbench.frontend.state.coerce import assign_type, convert, describe, materialise
from workbench.frontend.state.context import Context, Env, Shared
from workbench.frontend.state.definition import Definition, Dependency, watch
from workbench.frontend.state.operands import PENDING, POISON, Elements, Literal, Operand, Parts, Poison, Static, View
from workbench.ir import ops
from workbench.ir.build import Builder, Rewriter
from workbench.ir.ops import ADJOINTS, EFFECTS, NAME
from workbench.ir.values import DERIVE, GRADIENT, REPLAY, Block, Op, Value, walk
from workbench.source import Location
from workbench.structs import AnyType, IndexedArray, Struct, StructArray
from workbench.types import ArrayType, Scalar, Type, Vector, is_float


class CudaText(msgspec.Struct, frozen=True):
    """CUDA C++ statements, and where their first line stands."""

    text: str
    origin: Location


class Native(msgspec.Struct, frozen=True):
    """The CUDA text of a func.

    Attributes:
        cuda: statements; parameters by name, the result by `return`.
        adjoint: statements that add to `adj_x` for each input x of floats, given the result's adjoint `adj_ret`.
        replay: statements that give the result again, without effects.
        result: the type that is returned; None for nothing.
        reference: whether the Python body is the meaning.
    """

    cuda: CudaText
    adjoint: CudaText | None
    replay: CudaText | None
    result: Type | None
    reference: bool


def native_of(definition: Definition, cuda: object, adjoint: object, replay: object) -> Native:
    """Check a func with CUDA text, and return its texts with its result type.

    Args:
        definition: the func.
        cuda: the text of the func itself.
        adjoint, replay: texts as in `Native`; None if there are none.

    Raises:
        KernelTypeError: a parameter has no type, or it or the result is a struct.
        KernelSyntaxError: a text is no string, or a parameter is a reference.
    """
    refuse_references(definition, "a func with CUDA source")
    types = parameter_annotations(definition)
    for name, type in types.items():
        if type is None:
            message = f"{name} of {definition.name} has no type; a func with CUDA source needs one per parameter."
            raise definition.type_error(message, f"Annotate it, for example {name}: float.")
    texts: list[CudaText | None] = []
    for text in (cuda, adjoint, replay):
        if text is not None and not isinstance(text, str):
            raise definition.syntax_error("CUDA source is a string.")
        texts.append(None if text is None else CudaText(text, _origin(definition, text)))
    returns = definition.node.returns
    result = None if returns is None or ast.unparse(returns) == "None" else annotated(definition, returns, "The result")
    for name, type in (*types.items(), ("The result", result)):
        if isinstance(type, (IndexedArray, Struct, StructArray)):
            what = "a func with CUDA source takes numbers, vectors and arrays"
            message = f"{name} of {definition.name} is {type!r}; {what}."
            raise definition.type_error(message, "Pass the fields.")
    assert not isinstance(result, (Struct, StructArray))
    first, *others = texts
    assert first is not None
    return Native(first, others[0], others[1], result, not _is_empty(definition.node))


def _is_empty(node: ast.FunctionDef) -> bool:
    """Return whether the body does nothing: it is `...` or `pass`, perhaps after a docstring."""
    return all(
        isinstance(s, ast.Pass) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in node.body
    )


def _origin(definition: Definition, text: str) -> Location:
    """Return the location of the text: in the decorator, or as a string of the same cell or file; else the def."""
    nodes = [n for d in definition.node.decorator_list for n in ast.walk(d)]
    try:
        nodes += ast.walk(ast.parse(definition.source.text))
    except SyntaxError:
        pass
    literal = next((n for n in nodes if isinstance(n, ast.Constant) and n.value == text), None)
    return definition.locate(literal or definition.node)


def attributes(native: Native, env: Env) -> dict[str, Any]:
    """Return the attributes of the operation `custom` that a call of a func with CUDA text becomes.

    Args:
        native: the func's texts.
        env: the arguments by the names of the parameters, which the texts use.
    """
    texts = (
        (ops.CUDA, ops.CUDA_PLACE, native.cuda),
        (ops.ADJ_CUDA, ops.ADJ_CUDA_PLACE, native.adjoint),
        (ops.REPLAY_CUDA, ops.REPLAY_CUDA_PLACE, native.replay),
    )
    attrs: dict[str, Any] = {}
    for text, location, text_of in texts:
        attrs |= {text: text_of and text_of.text, location: text_of and text_of.origin}
    names = tuple(name for name, o in env.items() if isinstance(o, Value))
    return {**attrs, ops.INPUTS: names, ops.OUTPUTS: (), ops.REFERENCE: native.reference}


def unknown_body(context: Context, env: Mapping[str, Any], native: Native) -> Operand | None:
    """Emit the worst that a func without a body in Python may do: a change of each array.

    Returns:
        Zeros in place of its result; None if it has none.
    """
    touch(context.builder, [v for v in env.values() if isinstance(v, Value)])
    return None if native.result is None else blank(context.builder, native.result)


def touch(builder: Builder, values: list[Value]) -> None:
    """Emit a read and a write of an element of each array among the values, as if any of it were used and changed."""
    for array in values:
        if isinstance(array.type, ArrayType):
            zeros = [builder.const(0)] * array.type.ndim
            builder.store(array, *zeros, builder.load(array, *zeros))


def blank(builder: Builder, type: Type) -> Value:
    """Emit a constant of this type, all zeros."""
    return builder.const((0,) * type.length if isinstance(type, Vector) else 0, type)


Differentiator: TypeAlias = Callable[[str, Block, Sequence[Value]], tuple[Sequence[Op], Sequence[Value]]]
"""From a func's name, its operations (which yield one float) and the inputs to the operations of the derivatives, and
one derivative by each input."""
DIFFERENTIATORS: list[Differentiator] = []
"""The function that differentiates a func: the floor above sets it when it is imported."""


class Derivative(msgspec.Struct, frozen=True):
    """Represents `grad(f)`, which is called or given a local name; `func` is f, a func or a builtin."""

    func: Static


def of_func(context: Context, node: ast.Call) -> Operand:
    """Lower `grad(f)`, which is known at compile time, and can be called or given a local name.

    Raises:
        KernelTypeError: f is neither a func nor a builtin.
    """
    func = context.lower(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    value = func.value if isinstance(func, Static) else None
    is_form = isinstance(value, Form) and value.body is None
    if not (hasattr(value, "__wb_definitions__") or as_builtin(value) or isinstance(value, Form)) or is_form:
        message = "grad() takes a func or a builtin in a kernel, and is called with that one's arguments: grad(f)(x)."
        raise context.type_error(message)
    assert isinstance(func, Static)
    return Static(Derivative(func), f"grad({func.path})")


def call(context: Context, path: str, args: Sequence[Operand], apply: Callable[[list[Operand]], Operand]) -> Operand:
    """Emit the derivative of a func by the one float or vector among the arguments, or by each of several in a tuple.

    Args:
        context: of the caller.
        path: the func as the user wrote it.
        args: what it is called with.
        apply: lowers a call of the func.

    Raises:
        KernelTypeError: no argument is a float, the result is not one float, or the func changes arrays.
    """
    builder = context.builder
    actual_args = [builder.strong(materialise(context, a)) if isinstance(a, (Value, Literal)) else a for a in args]
    floats = [k for k, v in enumerate(actual_args) if isinstance(v, Value) and _is_float_value(v)]
    if not floats:
        raise context.type_error(f"grad({path})() takes at least one float or vector of floats.")
    inputs = {k: Value(v.type, v.name) for k, v in enumerate(actual_args) if k in floats and isinstance(v, Value)}
    location = builder.location
    with builder.block() as opened:
        result = apply([inputs.get(k, v) for k, v in enumerate(actual_args)])
        value = builder.strong(materialise(context, result))
        if not isinstance(value.type, Scalar) or not is_float(value.type):
            raise context.type_error(f"grad({path}) needs one float of {path}; this is {describe(result)}.")
        builder.yield_(value)
    if any(op.name in EFFECTS for op in walk(opened.block)):
        raise context.type_error(f"grad({path}): {path} changes an array.", "Take grad() of what it adds.")
    builder.location = location
    (derive,) = DIFFERENTIATORS
    ops, by_input = derive(path, opened.block, [*inputs.values()])
    actual = {inputs[k]: actual_args[k] for k in floats}
    mapping = {param: v for param, v in actual.items() if isinstance(v, Value)}
    builder.extend(Rewriter(lambda rewriter, op: None, mapping).block(Block((), tuple(ops))).ops)
    results = [mapping.get(v, v) for v in by_input]
    return tuple(results) if len(results) > 1 else results[0]


def _is_float_value(value: Value) -> bool:
    """Return whether a value is a float scalar, or a vector or matrix of floats."""
    return isinstance(value.type, (Scalar, Vector)) and not isinstance(value.type, ArrayType) and is_float(value.type)


class Custom(msgspec.Struct, frozen=True):
    """The custom parts of one version of a func.

    Attributes:
        gradient: the user's function that adds to adjoints; None if there is none.
        replay: the user's function that computes the results again, without effects; None if there is none.
        native: the CUDA text; None if there is none.
    """

    gradient: Definition | None = None
    replay: Definition | None = None
    native: Native | None = None

    @property
    def content(self) -> str:
        """The source of all three, as a text that changes when one of them does."""
        return repr([d.content if d is not None else "" for d in (self.gradient, self.replay)] + [self.native])


def watch_custom(definition: Definition, customs: Mapping[Definition, Custom]) -> Dependency:
    """Return a dependency on the custom parts that a version of a func has now; others make the kernel stale."""
    reevaluate = partial(customs.get, definition)
    return Dependency(definition, definition.name, reevaluate(), reevaluate, (customs, definition))


def custom_of(context: Context, customs: dict[Definition, Custom], definition: Definition) -> Custom | None:
    """Return the custom parts of a version of a func; None if it has none.

    It has none inside its own gradient or replay, either, where the func is its body alone.
    """
    custom = customs.get(definition)
    if definition.library:
        return None if custom is None or any(d is custom.gradient for d, _ in context.inside) else custom
    watch(watch_custom(definition, customs), "custom")
    if custom is None or any(d in (custom.gradient, custom.replay) for d, _ in context.inside):
        return None
    return custom


def emit_custom(
    context: Context, definition: Definition, custom: Custom, env: Env, body: Block, returned: Operand | None
) -> Operand:
    """Emit the operation `custom` for a call, and return what the call returns.

    Args:
        context: of the caller.
        definition: the func.
        custom: what the user wrote.
        env: the func's parameters.
        body: the func's operations.
        returned: what the body returns.

    Raises:
        KernelTypeError: gradient or replay do not fit the func; at their lines.
    """
    name = definition.name
    _check_inputs(context, name, env)
    parts = _values(returned)
    if any(isinstance(p, Poison) for p in parts):
        return POISON
    with context.builder.block() as opened:
        context.builder.extend(body.ops)
        values = [context.builder.strong(materialise(context, p)) for p in parts]
        if any(isinstance(v.type, ArrayType) for v in values):
            raise context.type_error(f"{name} returns an array, and has a custom gradient or replay.")
        context.builder.yield_(*values)
    types = [v.type for v in values]
    numbered = [k for k, o in enumerate(o for o in env.values() if isinstance(o, Value)) if _is_number(o.type)]
    attrs: dict[str, object] = {
        NAME: name,
        GRADIENT: custom.gradient and _gradient(context, name, custom.gradient, env, types),
        ADJOINTS: tuple(numbered) if custom.gradient or custom.native else (),
        REPLAY: custom.replay and _replay(context, name, custom.replay, env, types),
    }
    if custom.native is not None:
        attrs |= attributes(custom.native, env)
        is_whole = custom.native.adjoint and custom.native.reference
        attrs[DERIVE] = _derive(context, definition, env) if is_whole else None
        expected = [custom.native.result] if custom.native.result is not None else []
        if types != expected:
            message = f"The Python body of {name} returns {types}, its annotation says {expected}."
            raise context.type_error(message, "Annotate the one result that the CUDA source returns, such as -> float.")
    inputs = [o for o in env.values() if isinstance(o, Value)]
    results = context.builder.emit("custom", inputs, types, attrs, (opened.block,)).results
    return results if isinstance(returned, tuple) else results[0] if results else ()


def _values(returned: Operand | None) -> tuple[Operand, ...]:
    """Return the values that a function's body returns, none of a body that returns nothing."""
    return returned if isinstance(returned, tuple) else () if returned is None else (returned,)


def _check_inputs(context: Context, name: str, env: Env) -> None:
    """Refuse inputs that are more than one value each: gradient and replay get theirs one by one.

    Raises:
        KernelTypeError: one is a part of an array, a struct or a tuple.
    """
    for kinds, what, wanted, advice in _REFUSED_INPUTS:
        for own in (n for n, o in env.items() if isinstance(o, kinds)):
            message = f"{own} of {name}() is {what}; a func with a custom gradient or replay takes {wanted}."
            raise context.type_error(message, advice)


_REFUSED_INPUTS: tuple[tuple[tuple[type, ...], str, str, str], ...] = (
    ((View,), "a part of an array", "whole arrays", "Pass the array and the indices."),
    ((Parts, Elements), "a struct", "numbers, vectors and arrays", "Pass the fields."),
    ((tuple,), "a tuple", "numbers", "Pass its elements."),
)


def _is_number(type: Type) -> bool:
    """Return whether a type is a float scalar, vector or other type with float components that is no array."""
    return is_float(type) and not isinstance(type, ArrayType)


def _closed(context: Context, definition: Definition, env: Env) -> Context:
    """Return a context that lowers a definition by itself: its operations go to a block outside of the caller's."""
    outer = context.shared
    shared = Shared(
        outer.syntax,
        launch_ndim=outer.launch_ndim,
        captured=outer.captured,
        errors=outer.errors,
        tiling=outer.tiling,
        closed=True,
    )
    return Context(definition, env, shared, (*context.inside, (definition, ())))


def _parameters(inner: Context, env: Env, types: Sequence[AnyType | None]) -> list[Value]:
    """Return a block's parameters for the func's inputs that are values; inputs known at compile time have none.

    Args:
        inner: the context of the gradient or replay; its names get the parameters.
        env: the func's inputs.
        types: the annotated types of the gradient's or replay's parameters; None where there is none.

    Raises:
        KernelTypeError: an annotation is not the type of the input.
    """
    names = [a.arg for a in inner.definition.parameters]
    params: list[Value] = []
    for name, operand, wanted in zip(names, env.values(), types, strict=False):
        inner.env[name] = operand
        if isinstance(operand, Value):
            inner.env[name] = param = Value(operand.type, name)
            params.append(param)
            if wanted is not None and wanted != operand.type:
                message = f"{name} is {wanted!r} here, and {operand.type!r} in the call of the func."
                raise inner.definition.type_error(message, "Annotate it as the func does.")
    return params


def _gradient(context: Context, name: str, definition: Definition, env: Env, results: Sequence[Type]) -> Block:
    """Lower the gradient that a user wrote for a func, as a block.

    The block's parameters are the func's inputs that are values, the cotangents of its results, and the adjoint arrays
    of its float arrays. It yields the adjoints of the inputs that are float numbers or vectors.

    Args:
        context: of the func's call.
        name: the func's.
        definition: the gradient's.
        env: the func's arguments by name.
        results: the types of the func's results.

    Raises:
        KernelTypeError: its parameters or effects are not those of a gradient of this func.
    """
    inner = _closed(context, definition, {})
    wanted = list(parameter_annotations(definition).values())
    names = [a.arg for a in definition.parameters]
    if len(names) != len(env) + len(results):
        inputs, outputs = ", ".join(env), ", ".join(f"adj_{k}" for k in range(len(results))) or "nothing"
        raise inner.definition.type_error(
            f"The gradient of {name} takes its inputs ({inputs}) and an adjoint for each of its {len(results)} "
            f"results; this one takes ({', '.join(names)}).",
            f"Write {definition.name}({inputs}, {outputs}).",
        )
    params = _parameters(inner, env, wanted)
    for own, type, annotation in zip(names[len(env) :], results, wanted[len(env) :], strict=True):
        if annotation is not None and annotation != type:
            message = f"{own} is {annotation!r}; the result of {name} that it is the adjoint of is {type!r}."
            raise inner.definition.type_error(message, f"Write {own}: {type!r}.")
        inner.env[own] = param = Value(type, own)
        params.append(param)
    arrays = _adjoint_arrays(inner, names[: len(env)])
    sums = _sums(inner, names[: len(env)])
    body = _Adjoints(inner, names[: len(env)], list(sums)).body()
    with inner.builder.block(params + arrays) as opened:
        for own, type in sums.items():
            inner.env[f"{own}.adjoint"] = convert(inner, PENDING, type)
        returned = inner.shared.syntax.body(inner, mark(definition, body))
        returned_values = returned if isinstance(returned, tuple) else (returned,)
        if not any(isinstance(o, Poison) for o in returned_values):
            with inner.at(definition.node.body[-1]):
                inner.builder.yield_(*_converted_results(inner, sums, returned_values))
    _check(context, inner, opened.block, name, arrays)
    return opened.block


def _adjoint_arrays(inner: Context, names: Sequence[str]) -> list[Value]:
    """Return a new adjoint array for each input that is a float array, in order, and bind it in `inner.env`."""
    arrays: list[Value] = []
    for own in names:
        operand = inner.env[own]
        if isinstance(operand, Value) and isinstance(operand.type, ArrayType) and is_float(operand.type):
            inner.env[f"{own}.adjoint"] = array = Value(operand.type, f"adj_{own}")
            arrays.append(array)
    return arrays


def _sums(inner: Context, names: Sequence[str]) -> dict[str, Type]:
    """Return the types of the inputs whose adjoints are numbers or vectors, by name.

    An input that is a literal is not among them: its adjoint is bound to 0 in `inner.env`, and nobody asks for it.
    """
    sums: dict[str, Type] = {}
    for own in names:
        operand = inner.env[own]
        if isinstance(operand, Value) and _is_number(operand.type):
            sums[own] = operand.type
        elif isinstance(operand, Literal):
            inner.env[f"{own}.adjoint"] = Literal(0.0)
    return sums


def _converted_results(inner: Context, sums: Mapping[str, Type], results: Sequence[Operand | None]) -> list[Value]:
    """Return the adjoints that a gradient returns, without None, each in the type of its input in `sums`."""
    return [
        assign_type(inner, operand, type, f"The adjoint of {own}")
        for (own, type), operand in zip(sums.items(), results, strict=False)
        if operand is not None
    ]


def _check(context: Context, inner: Context, block: Block, name: str, writable: Sequence[Value]) -> None:
    """Refuse a gradient that writes to more than adjoint arrays, or has other threads than the kernel.

    Raises:
        KernelTypeError: it does.
    """
    for op in walk(block):
        if op.name in EFFECTS and op.operands[0] not in writable:
            raise KernelTypeError(
                f"The gradient of {name} changes {op.operands[0].name}; it may change only adjoints.",
                op.location,
                f"Write wb.adjoint[{op.operands[0].name}][…] += … .",
                inner.definition.name,
            )
    _same_threads(context, inner, name)


def _same_threads(context: Context, inner: Context, name: str) -> None:
    """Check that a gradient or replay calls `tid()` only as the func's caller has done.

    Raises:
        KernelTypeError: it asks for other launch dimensions.
    """
    if inner.shared.launch_ndim != context.shared.launch_ndim:
        raise inner.definition.type_error(f"tid() is called here before {name}'s caller calls it.", "Pass the index.")


def _derive(context: Context, definition: Definition, env: Env) -> Block:
    """Lower the func's own Python body as a block by itself, from which its derivatives can be computed."""
    inner = _closed(context, definition, {})
    params = _parameters(inner, env, list(parameter_annotations(definition).values()))
    with inner.builder.block(params) as opened:
        parts = _values(inner.shared.syntax.body(inner, mark(definition, definition.node.body)))
        inner.builder.yield_(*(inner.builder.strong(materialise(inner, p)) for p in parts))
    return opened.block


def _replay(context: Context, name: str, definition: Definition, env: Env, results: Sequence[Type]) -> Block:
    """Lower the replay that a user wrote for a func, as a block that takes its inputs and yields its results.

    Args:
        context: of the func's call.
        name: the func's.
        definition: the replay's.
        env: the func's arguments by name.
        results: the types of the func's results.

    Raises:
        KernelTypeError: its parameters or results are not those of the func, or it changes an array.
    """
    inner = _closed(context, definition, {})
    names = [a.arg for a in definition.parameters]
    if len(names) != len(env):
        raise inner.definition.type_error(
            f"The replay of {name} takes its inputs ({', '.join(env)}); this one takes ({', '.join(names)}).", ""
        )
    params = _parameters(inner, env, list(parameter_annotations(definition).values()))
    with inner.builder.block(params) as opened:
        parts = _values(inner.shared.syntax.body(inner, mark(definition, definition.node.body)))
        if not any(isinstance(p, Poison) for p in parts):
            values = [assign_type(inner, p, t, f"A result of {name}") for p, t in zip(parts, results, strict=False)]
            if len(parts) != len(results):
                raise inner.definition.type_error(f"{name} gives {len(results)} values, its replay {len(parts)}.", "")
            inner.builder.yield_(*values)
    for op in walk(opened.block):
        if op.name in EFFECTS:
            message = f"The replay of {name} changes {op.operands[0].name}; it may only read."
            raise KernelTypeError(message, op.location, "Leave the change to the func.", definition.name)
    _same_threads(context, inner, name)
    return opened.block


class _Adjoints(ast.NodeTransformer):
    """Rewrites a gradient's syntax tree: `adjoint[x]` becomes a name, and `return` a return of all sums.

    Attributes:
        context: of the gradient; its `env` has the inputs.
        inputs: the names of the func's inputs.
        sums: those of them whose adjoints are numbers or vectors, in the order in which they are returned.
    """

    def __init__(self, context: Context, inputs: Sequence[str], sums: Sequence[str]) -> None:
        """Prepare to rewrite the body of the definition of `context`; the inputs are bound in its `env` already."""
        self.context = context
        self.inputs = inputs
        self.sums = sums

    def body(self) -> list[ast.stmt]:
        """Return the definition's statements, rewritten, with the return at the end."""
        node = self.context.definition.node
        statements = [self.visit(copy.deepcopy(s)) for s in node.body]
        return [*statements, self._all(node.body[-1])]

    def _all(self, origin: ast.AST) -> ast.stmt:
        """Return the statement `return` of all summed adjoints, with the location of `origin`."""
        names: list[ast.expr] = [ast.Name(f"{n}.adjoint", ast.Load()) for n in self.sums]
        node = ast.Return(ast.Tuple(names, ast.Load()))
        for part in ast.walk(node):
            ast.copy_location(part, origin)
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        """Rewrite `return` as one of all sums.

        Raises:
            KernelSyntaxError: it returns something.
        """
        if node.value is not None:
            raise self._error(node, "A gradient returns nothing.", "Write wb.adjoint[x] += … .")
        return self._all(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Rewrite `adjoint[x] += v` and `-=`, also of a component, as a change of a name.

        Raises:
            KernelSyntaxError: the operator is another one.
        """
        target: ast.expr = node.target
        while isinstance(target, (ast.Attribute, ast.Subscript)) and not self._is_adjoint(target):
            target = target.value
        if self._is_adjoint(target):
            if not isinstance(node.op, (ast.Add, ast.Sub)):
                raise self._error(node, "An adjoint is added to.", "Write wb.adjoint[x] += … .")
            node.target = _Named(self, target).visit(node.target)
            node.value = self.visit(node.value)
            return node
        self.generic_visit(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Rewrite `adjoint[x]` that is not the target of `+=` as a name, which only an array's adjoint may be.

        Raises:
            KernelSyntaxError: x is a number or a vector.
        """
        if not self._is_adjoint(node):
            self.generic_visit(node)
            return node
        name = self.named(node)
        operand = self.context.env[name]
        if not (isinstance(operand, Value) and isinstance(operand.type, ArrayType)):
            raise self._error(node, f"wb.adjoint[{name}] is only added to.", f"Write wb.adjoint[{name}] += … .")
        return self.name(node)

    def name(self, node: ast.Subscript) -> ast.expr:
        """Return the name that stands for `adjoint[x]`."""
        return ast.copy_location(ast.Name(f"{self.named(node)}.adjoint", node.ctx), node)

    def named(self, node: ast.Subscript) -> str:
        """Return the name of the input x that `adjoint[x]` means.

        Raises:
            KernelSyntaxError: x is no input, or has no adjoint.
        """
        name = node.slice.id if isinstance(node.slice, ast.Name) else ""
        if name not in self.inputs:
            text = ast.unparse(node.slice)
            raise self._error(node, f"{text} is not an input of the func.", f"The inputs are {', '.join(self.inputs)}.")
        operand = self.context.env[name]
        if isinstance(operand, Value) and not is_float(operand.type):
            raise self._error(node, f"{name} is {operand.type!r}, which has no adjoint.", "Leave the line out.")
        return name

    def _is_adjoint(self, node: ast.AST) -> bool:
        """Return whether a node is a subscript of `adjoint`, such as `wb.adjoint[x]`."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, (ast.Name, ast.Attribute)):
            return False
        return reread(self.context.definition, ast.unparse(node.value)) is ADJOINT

    def _error(self, node: ast.AST, message: str, advice: str) -> WorkbenchError:
        """Return a syntax error located at a node."""
        with self.context.at(node):
            return self.context.syntax_error(message, advice)


class _Named(ast.NodeTransformer):
    """A rewrite of one `adjoint[x]` inside an assignment's target to its name."""

    def __init__(self, owner: _Adjoints, node: ast.AST) -> None:
        """Rewrite by `owner`, where `node` is the one `adjoint[x]` that becomes a name."""
        self.owner = owner
        self.node = node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Rewrite the one `adjoint[x]` as its name, and others inside of indices as `_Adjoints` does."""
        if node is self.node:
            return self.owner.name(node)
        node.value = self.visit(node.value)
        node.slice = self.owner.visit(node.slice)
        return node
