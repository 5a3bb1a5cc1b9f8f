"""The choice among several funcs of one name: the one whose parameters fit the arguments best.

An argument fits a parameter exactly, as a literal that adopts its type, as a member of a family, or because the
parameter is generic, in this order. One func must fit at least as well as any other in every argument, and better in
one; else the call is ambiguous and refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from workbench.builtins.declaration.rules import WEAK_FLOAT, WEAK_INT, Weak
from workbench.errors import KernelTypeError, WorkbenchError
from workbench.frontend.names.annotate import parameter_types
from workbench.frontend.names.generic import FUNCTION, Generic
from workbench.frontend.state.coerce import describe, weak
from workbench.frontend.state.context import Context
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.operands import Bundle, Elements, Literal, Operand, Static, View
from workbench.ir.values import Value
from workbench.structs import AnyType, IndexedArray, StructArray
from workbench.types import ArrayType, Kind, Scalar, float32, int32

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
        shown = shown or ", ".join(describe(o) for o in arguments.values())
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
        raise context.error(KernelTypeError, message, f"Cast an argument. The versions: {versions}.")
    what = f"takes ({shown})" if shown else "takes this many arguments"
    raise context.error(KernelTypeError, f"No version of {name}() {what}.", f"The versions: {versions}.")


def signature(definition: Definition) -> str:
    """Return a definition as a message lists it: `f(a: float32, b)`."""
    types, families = parameter_types(definition)
    parts = [f"{n}: {t!r}" if t else f"{n}: {families[n]!r}" if n in families else n for n, t in types.items()]
    return f"{definition.name}({', '.join(parts)})"


def _better(a: Sequence[int], b: Sequence[int]) -> bool:
    """Return whether `a` fits at least as well everywhere, and better somewhere; arguments stand in the call's
    order."""
    return all(x <= y for x, y in zip(a, b, strict=False)) and list(a) != list(b)


def _scores(definition: Definition, arguments: Given) -> list[int] | None:
    types, families = parameter_types(definition)
    scores = [_score(o, types[n], families.get(n)) for n, o in arguments.items()]
    return None if any(s is None for s in scores) else [s for s in scores if s is not None]


def _score(operand: Operand, type: AnyType | None, family: Generic | None) -> int | None:
    if type is not None:
        if isinstance(operand, Static) and operand.value is None:  # an array that is not there
            return EXACT if isinstance(type, (ArrayType, StructArray)) else None
        if isinstance(operand, (Literal, Value)) and isinstance(weak(operand), Weak):
            return _adopted(weak(operand) == WEAK_FLOAT, type)
        type = type.behind if isinstance(type, IndexedArray) else type
        return EXACT if isinstance(operand, (Value, View, Bundle, Elements)) and operand.type == type else None
    if family is None:
        return OPEN
    return FAMILY if accepts(family, operand) else None


def _adopted(is_float: bool, type: AnyType) -> int | None:
    if not isinstance(type, Scalar) or type.kind is Kind.BOOL:
        return None
    if is_float:
        return (EXACT if type == float32 else ADOPTED) if type.kind is Kind.FLOAT else None
    return WIDENED if type.kind is Kind.FLOAT else EXACT if type == int32 else ADOPTED


def accepts(family: Generic, operand: Operand) -> bool:
    """Return whether an argument is of a family; an int literal counts as a float where one is expected."""
    if isinstance(operand, Static):
        return family is FUNCTION and not isinstance(operand.value, bool)
    if isinstance(operand, (Literal, Value)) and isinstance(weak(operand), Weak):
        return family.accepts(float32) or (weak(operand) == WEAK_INT and family.accepts(int32))
    return isinstance(operand, (Value, View, Elements)) and family.accepts(operand.type)
