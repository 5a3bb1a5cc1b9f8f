"""Names that are written out in other builtins: checked, brought to one float type, and built into the kernel's IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from workbench.builtins.declaration.declare import FORMS as DECLARED
from workbench.builtins.declaration.declare import Form
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.vectors.quaternions import COMPOSITIONS, NUMBER, Composition, of_kind
from workbench.errors import KernelTypeError
from workbench.frontend.state.coerce import convert, describe, usable
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand, counted
from workbench.ir.values import Value
from workbench.types import Kind, Quaternion, Scalar, Transform, as_type, float32, promote_all

Expression = Callable[[Context, ast.expr], Operand]


def build(context: Context, entry: Composition, args: Sequence[Operand]) -> Operand:
    """The composition on these arguments.

    Raises:
        KernelTypeError: an argument is of another kind.
    """
    operands = [usable(context, a) for a in args]
    if len(operands) != len(entry.kinds):
        message = f"{entry.name}() takes {counted(len(entry.kinds))}; it got {len(operands)}."
        advice = f"It returns what it computes: … = {entry.name}(…)." if len(operands) > len(entry.kinds) else ""
        raise context.error(KernelTypeError, message, advice)
    for operand, kind in zip(operands, entry.kinds, strict=True):
        if not _fits(operand, kind):
            wanted = ", ".join(f"a {k}" for k in entry.kinds)
            got = ", ".join(map(describe, operands))
            raise context.error(KernelTypeError, f"{entry.name}() takes {wanted}; it got {got}.")
    scalars = [o.type if isinstance(o.type, Scalar) else o.type.dtype for o in operands if isinstance(o, Value)]  # type: ignore[union-attr]
    scalar = promote_all(s for s in scalars if s.kind is Kind.FLOAT) or float32  # type: ignore[union-attr]
    values = [convert(context, o, of_kind(k, scalar)) for o, k in zip(operands, entry.kinds, strict=True)]
    result = entry.build(*(Ref(context.builder, v) for v in values))
    return tuple(r.value for r in result) if isinstance(result, tuple) else result.value


def _fits(operand: Value | Literal, kind: str) -> bool:
    if kind == NUMBER:
        return isinstance(operand, Literal) or isinstance(operand.type, Scalar)
    if isinstance(operand, Literal) or isinstance(operand.type, Scalar) or not hasattr(operand.type, "with_dtype"):
        return False
    return operand.type.dtype.kind is Kind.FLOAT and operand.type == of_kind(kind, operand.type.dtype)  # type: ignore[union-attr]


def _called(entry: Composition) -> Callable[[Context, ast.Call, Expression], Operand]:
    def lower(context: Context, node: ast.Call, expression: Expression) -> Operand:
        if node.keywords:
            raise context.error(KernelTypeError, f"{entry.name}() takes its arguments without names.")
        return build(context, entry, [expression(context, a) for a in node.args])

    return lower


def _identity(name: str) -> Callable[[Context, ast.Call, Expression], Operand]:
    """`quat_identity(dtype=float)` and `transform_identity(dtype=float)`."""
    form = Quaternion if name == "quat_identity" else Transform
    value = (0.0,) * (3 if form is Quaternion else 6) + (1.0,)

    def lower(context: Context, node: ast.Call, expression: Expression) -> Operand:
        return context.builder.const(value, form(len(value), _float_dtype(context, name, node, expression)))

    return lower


def _float_dtype(context: Context, name: str, node: ast.Call, expression: Expression) -> Scalar:
    given = [*node.args, *(k.value for k in node.keywords if k.arg == "dtype")]
    if len(given) > 1 or len(given) != len(node.args) + len(node.keywords):
        raise context.error(KernelTypeError, f"{name}() takes a dtype, or nothing.")
    scalar = float32
    if given:
        kind = expression(context, given[0])
        try:
            scalar = as_type(getattr(kind, "value", None))
        except TypeError:
            scalar = None
    if not isinstance(scalar, Scalar) or scalar.kind is not Kind.FLOAT:
        raise context.error(KernelTypeError, f"The dtype of {name}() is a float type.", "Write dtype=float.")
    return scalar


FORMS: dict[str, Callable[[Context, ast.Call, Expression], Operand]] = {
    **{name: _called(entry) for name, entry in COMPOSITIONS.items() if isinstance(DECLARED.get(name), Form)},
    **{name: _identity(name) for name in ("quat_identity", "transform_identity")},
}
