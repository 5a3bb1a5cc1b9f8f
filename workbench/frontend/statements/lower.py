"""From a definition and its parameter types to IR."""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from types import NoneType
from typing import Any

import msgspec

from workbench.deep import with_deep_stack
from workbench.errors import CellErrors, WorkbenchError
from workbench.frontend.names.python_names import watch_annotations
from workbench.frontend.names.rewriting import mark
from workbench.frontend.state.coerce import materialise
from workbench.frontend.state.context import Context, Env, NeedsBlocks, Notice, Shared, Tiling
from workbench.frontend.state.definition import Definition, Dependency, Reads, dotted, noting, watch
from workbench.frontend.state.operands import Bundle, Operand, Poison, Static
from workbench.frontend.state.warp_notices import note_loops
from workbench.frontend.statements import control_flow
from workbench.frontend.values.structs import bind, parameter
from workbench.ir.values import Function, Value
from workbench.ir.verify import verify
from workbench.passes.pipeline import LOWERED, TYPED, run
from workbench.structs import Absent, AnyType
from workbench.types import strong


class Lowered(msgspec.Struct, frozen=True):
    """A kernel in IR, and what of the user's namespace it depends on.

    Attributes:
        function: the kernel.
        reads: the names that its lowering has read.
        notices: the lines that mean something else than in Warp; empty if not requested.
    """

    function: Function
    reads: Reads
    notices: tuple[Notice, ...] = ()


def lower(
    definition: Definition,
    types: Mapping[str, AnyType],
    *,
    trace: bool = False,
    from_warp: bool = False,
    warp_meanings: bool = False,
    tiling: Tiling | None = None,
) -> Lowered:
    """Lower a kernel to IR for parameters of these types.

    Args:
        definition: the kernel.
        types: the types of the parameters, by name.
        trace: every statement is marked, and nothing is simplified.
        from_warp: the lines that Warp gives another meaning are noted.
        warp_meanings: they get it, where that can be; the others are noted.
        tiling: how a kernel of tiles is launched; None for one that runs once per thread.

    Raises:
        NeedsBlocks: the kernel uses tiles, and there is no tiling.
        KernelSyntaxError, KernelTypeError: what is wrong, at its place; several at once as `CellErrors`.
    """
    with _as_deep_as_can_be(definition):
        options = {"trace": trace, "warp_meanings": warp_meanings, "tiling": tiling}
        return _lower(definition, types, from_warp or warp_meanings, **options)


@contextmanager
def _as_deep_as_can_be(definition: Definition) -> Generator[None]:
    """Turn a RecursionError inside the context into a KernelSyntaxError: the definition is nested too deeply."""
    try:
        yield
    except RecursionError:
        advice = "Give parts of it names of their own."
        raise definition.syntax_error(f"{definition.name} is nested too deeply.", advice) from None


@with_deep_stack
def _lower(definition: Definition, types: Mapping[str, AnyType], noted: bool, **options: Any) -> Lowered:
    """Lower a kernel to verified IR on a deep stack, simplified unless it is traced; its reads are noted.

    Args:
        definition: the kernel.
        types: the types of its parameters, by name.
        noted: whether the lines that mean something else than in Warp are noted.
        options: fields of `Shared`.
    """
    with noting() as reads:
        shared = Shared(control_flow.SYNTAX, notices=[] if noted else None, **options)
        simplified = run(TYPED if shared.trace else LOWERED, _function(definition, types, shared))
        return Lowered(verify(simplified), reads, tuple(shared.notices or ()))


def _function(definition: Definition, types: Mapping[str, AnyType], shared: Shared) -> Function:
    """Lower a kernel to IR with weak types.

    Raises:
        WorkbenchError: the error, or a `CellErrors` of several.
        NeedsBlocks: the kernel uses tiles, and there is no tiling.
    """
    errors = [*_signature_errors(definition), *_result_errors(definition)]
    params: list[Value] = []
    env: Env = {}
    for argument in definition.parameters:
        type = types[argument.arg]
        operand, values = parameter(argument.arg, type.present if isinstance(type, Absent) else type)
        operand = Static(None, argument.arg) if isinstance(type, Absent) else operand
        bind(env, argument.arg, operand)
        params += values
    shared.uniforms = {id(uniform): env[name] for name, uniform in definition.uniforms.items()}
    context = Context(definition, env, shared)
    note_loops(context, definition)
    watch_annotations(context)
    returned = _body(context)
    if returned is not None and not isinstance(returned, Poison):
        returning = next(n for n in ast.walk(definition.node) if isinstance(n, ast.Return) and n.value is not None)
        advice = "Write the result to an array, or make this a func."
        errors.append(definition.type_error("A kernel returns nothing.", advice, returning))
    errors += shared.errors
    if errors:
        raise CellErrors.of(_distinct(errors))
    function = Function(
        definition.name,
        tuple(params),
        shared.builder.body(),
        shared.launch_ndim or 0,
        tuple(shared.captured.values()),
        definition.source,
        shared.tiling.block_dim if shared.tiling is not None else 0,
    )
    for name, uniform in definition.uniforms.items():
        if definition.scope.lookup(name) is uniform:  # else a func reads it, and has noted that
            watch(Dependency(definition, name, uniform))
    return function


def _body(context: Context) -> Operand | None:
    """Lower the statements of the context's definition, and return what they return."""
    definition = context.definition
    return control_flow.body(context, mark(definition, definition.node.body))


def result_types(
    definition: Definition, types: Mapping[str, AnyType], warp_meanings: bool = False, nothing: bool = False
) -> tuple[AnyType, ...]:
    """Return the types of what a func returns for parameters of these types; one for each value of a tuple.

    Args:
        definition: the func.
        types: the types of the parameters, by name.
        warp_meanings: whether names mean what they mean in Warp.
        nothing: whether the func may return nothing, which gives an empty tuple.

    Raises:
        KernelSyntaxError, KernelTypeError: what is wrong with it, also where it returns nothing or uses tiles.
    """
    try:
        with _as_deep_as_can_be(definition):
            return _result_types(definition, types, warp_meanings, nothing)
    except NeedsBlocks:
        message = "What is mapped runs once per element; this func uses tiles."
        raise definition.type_error(message, "Write a kernel, and launch it with wb.launch_tiled.") from None


@with_deep_stack
def _result_types(
    definition: Definition, types: Mapping[str, AnyType], warp_meanings: bool, nothing: bool
) -> tuple[AnyType, ...]:
    """Return the types of what a func returns, one for each value of a tuple; its operations are discarded.

    It is lowered on a deep stack. With `nothing`, a func that returns nothing gives an empty tuple.

    Raises:
        WorkbenchError: the error in its body, or a `CellErrors` of several.
        KernelTypeError: it returns nothing, and `nothing` is False.
    """
    shared = Shared(control_flow.SYNTAX, notices=[] if warp_meanings else None, warp_meanings=warp_meanings)
    env: Env = {}
    for name, type in types.items():
        bind(env, name, parameter(name, type)[0])
    context = Context(definition, env, shared)
    returned = _body(context)
    if shared.errors:
        raise CellErrors.of(_distinct(shared.errors))
    results = returned if isinstance(returned, tuple) else (returned,)
    if nothing and returned in (None, ()):
        return ()
    if returned is None or not results:
        raise context.type_error(f"{definition.name} returns nothing.", "Return the result.")
    result_values = (r if isinstance(r, Bundle) else materialise(context, r) for r in results if r is not None)
    return tuple(strong(r.type) for r in result_values)


def check_signature(definition: Definition) -> None:
    """Refuse parameters the language does not have.

    Raises:
        KernelSyntaxError: there are `*args`, `**kwargs` or keyword-only parameters; several errors are `CellErrors`.
    """
    errors = list(_signature_errors(definition))
    if errors:
        raise CellErrors.of(errors)


def _signature_errors(definition: Definition) -> list[WorkbenchError]:
    """Return an error for each parameter of a definition that is variadic or keyword-only."""
    arguments = definition.node.args
    extra = [a for a in (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs) if a is not None]
    message, advice = "The parameter {} is variadic or keyword-only.", "Use ordinary parameters."
    return [definition.syntax_error(message.format(a.arg), advice, a) for a in extra]


def _result_errors(definition: Definition) -> Iterator[WorkbenchError]:
    """Yield an error if a kernel's result has an annotation other than None."""
    annotation = definition.node.returns
    path = dotted(annotation) if annotation is not None else None
    if path is not None:
        is_none = definition.annotations.get("return", definition.read(path)) in (None, NoneType)
    else:
        is_none = annotation is None or (isinstance(annotation, ast.Constant) and annotation.value in (None, "None"))
    if annotation is not None and not is_none:
        message = f"A kernel returns nothing; this one says {ast.unparse(annotation)}."
        yield definition.type_error(message, "Leave the annotation out, or make this a func.", annotation)


def _distinct(errors: list[WorkbenchError]) -> list[WorkbenchError]:
    """Return the errors without repetitions, which come about since a loop's body is lowered more than once."""
    seen: dict[tuple[str, str], WorkbenchError] = {}
    for error in errors:
        seen.setdefault((str(error.location) + str(error.location and error.location.column), error.message), error)
    return list(seen.values())
