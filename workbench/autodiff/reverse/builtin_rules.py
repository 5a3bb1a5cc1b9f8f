"""Builtins backwards, each by the adjoint rule of its declaration.

A cotangent that does not count (`Piece.live`), or is 0 because the value was never seen, must not meet an infinite
slope.
"""

from __future__ import annotations

import functools

import numpy as np

from workbench.autodiff.reverse.cotangents import Cotangent, Cotangents, Piece, both, truth
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.builtins import TABLE, Builtin, Ref
from workbench.builtins.scalars import operators
from workbench.ir.attributes import VALUE
from workbench.ir.values import Op, Value, vector_of
from workbench.types import Vector


def reverse_builtin(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Add the cotangents of a builtin's operands, by its adjoint rule.

    A rule for scalars is applied to vectors component by component.

    Raises:
        NotDifferentiable: the builtin has no rule.
    """
    entry = TABLE[op.name]
    if entry.gradient is None:
        why = entry.differentiable.removeprefix("no: ") or "it has no adjoint rule"
        raise sweep.not_differentiable(f"{op.name}() has no derivative: {why}.", op)
    if entry.passing and cotangent.whole is None and len(op.operands) == 1 and not entry.elementwise:
        _move(entry, op, cotangent, cotangents)
        return
    split = isinstance(op.result.type, Vector) and (entry.elementwise or entry.whole)
    # By component a part without a cotangent has no rule applied, so it cannot make a NaN out of 0 times infinity; a
    # rule for the whole vector is shorter where that cannot happen.
    if not split or (entry.whole and cotangent.whole is not None and not sweep.cautious):
        _apply(sweep, entry, op, cotangent.full(), None, cotangents)
        return
    for position, piece in enumerate(cotangent.components()):
        if piece is not None:
            _apply(sweep, entry, op, piece, position, cotangents)


def _move(entry: Builtin, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass the cotangent of each component to the operand's component from which it comes, as in a transposed matrix.

    Which those are is what the builtin's reference returns for the components' numbers, from 1 on; 0 is none.
    """
    (operand,) = op.operands
    type = vector_of(operand)
    numbers = np.arange(1, type.length + 1).reshape(type.parts_shape)
    for piece, source in zip(cotangent.parts, np.ravel(entry.reference(numbers)).tolist(), strict=True):
        if piece is not None and source:
            cotangents.add(operand, piece.at(source - 1))


def _apply(
    sweep: ReverseSweep, entry: Builtin, op: Op, piece: Piece, component: int | None, cotangents: Cotangents
) -> None:
    """Apply a rule and add what it returns to the operands' cotangents.

    Args:
        sweep: the sweep.
        entry: the builtin.
        op: its operation.
        piece: the result's cotangent, or that of one component.
        component: the component of each vector to which the rule is applied; None: to whole values.
        cotangents: receives the operands' cotangents.
    """

    def part(value: Value) -> Ref:
        ref = sweep.ref(value)
        return ref.component(component) if component is not None and isinstance(value.type, Vector) else ref

    assert entry.gradient is not None
    gradients = entry.gradient(piece.ref, part(op.result), *(part(v) for v in op.operands))
    for operand, ref in zip(op.operands, gradients, strict=True):
        if ref is None or operand not in sweep.active:
            continue
        live = both(piece.live, _where_counts(sweep, ref))
        # A rule that only hands the cotangent on makes no NaN; all others are masked.
        if piece.live is not None and not entry.passing:
            ref = operators.where(piece.live, ref, ref.like(0))
        if sweep.cautious and not entry.passing:
            ref = operators.where(_lost(piece.ref, ref), ref.like(0), ref)
        # A scalar operand of a vector operation gets the sum over components, one piece each.
        component_number = component if isinstance(operand.type, Vector) else None
        cotangents.add(operand, Piece(ref, component_number, live))


def _lost(cotangent: Ref, contribution: Ref) -> Ref:
    """Emit whether a cotangent of 0 met an infinite slope: it is 0, and the contribution is NaN."""
    none = functools.reduce(operators.and_, [g.equals(0) for g in cotangent.components()])
    return operators.and_(none, functools.reduce(operators.or_, [f.differs(f) for f in contribution.components()]))


def _where_counts(sweep: ReverseSweep, ref: Ref) -> Ref | None:
    """Return the condition under which a rule's result `where(…)` is not a constant 0; None if it always counts."""
    chosen = _chosen(sweep, ref.value)
    return chosen if isinstance(chosen, Ref) else None


def _chosen(sweep: ReverseSweep, value: Value) -> Ref | bool:
    """Return whether a value may be other than 0: a condition for a `where` with a constant 0, else True or False.

    Only `where` and constants are looked into; any other value counts as True.
    """
    op = sweep.builder.defs.get(value)
    if op is None or op.name not in ("where", "const"):
        return True
    if op.name == "const":
        number = op.attrs[VALUE]
        return any(number) if isinstance(number, tuple) else number != 0
    condition = sweep.builder.ref(op.operands[0])
    yes, no = (_chosen(sweep, v) for v in op.operands[1:])
    # Both sides alike: the condition does not matter.
    if yes is no:
        return yes
    if (yes, no) == (True, False):
        return condition
    if (yes, no) == (False, True):
        return operators.not_(condition)
    sides = [s if isinstance(s, Ref) else truth(sweep.builder, s) for s in (yes, no)]
    return operators.where(condition, *sides)
