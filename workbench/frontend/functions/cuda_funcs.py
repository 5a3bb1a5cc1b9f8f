"""Funcs with CUDA text: what a call of one carries beside its Python body.

The body, where there is one, is the meaning: other backends run it, and gradients are derived from it. A func whose
body is `...` has a meaning on CUDA alone; what it does to the arrays it is given is not known, so the worst is assumed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import msgspec

from workbench.frontend.names.annotate import annotated, parameter_annotations, refuse_references
from workbench.frontend.state.context import Context, Env
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.operands import Operand
from workbench.ir import ops
from workbench.ir.build import Builder
from workbench.ir.values import Value
from workbench.source import Location
from workbench.structs import IndexedArray, Struct, StructArray
from workbench.types import ArrayType, Type, Vector


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
