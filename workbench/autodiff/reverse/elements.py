"""Operations without blocks, backwards: elements of arrays, components of vectors, builtins.

Effects are mirrored on the adjoint arrays: a store is read and cleared, an addition is read, a load is added to.

A builtin is reversed by the adjoint rule of its declaration. A cotangent that does not count (`Piece.live`), or is 0
because the value was never seen, must not meet an infinite slope.
"""

from __future__ import annotations

import functools

import numpy as np

from workbench.autodiff.reverse.emitter import Cotangent, Cotangents, Piece, both, truth, zero
from workbench.autodiff.reverse.sweep import EffectRule, ReverseSweep, ValueRule
from workbench.builtins import TABLE, Builtin, Ref
from workbench.builtins.scalars import operators
from workbench.ir.ops import VALUE
from workbench.ir.values import Op, Value, array_of, vector_of
from workbench.types import Complex, Type, Vector, element, is_float


def store(sweep: ReverseSweep, op: Op, cotangents: Cotangents) -> None:
    """Emit a store backwards: add the element's adjoint to the stored value's cotangent, then set it to 0.

    Elements of `sweep.uncleared` arrays are not set to 0. It does nothing for a store of integers.
    """
    if is_float(op.operands[0].type):
        added(sweep, op, cotangents)
        if op.operands[0] in sweep.uncleared:
            return
        array, indices = _adjoint_element(sweep, op)
        # The element held something else before this store, to which what came after owes nothing.
        sweep.builder.store(array, *indices, zero(sweep.builder, op.operands[-1].type).value)


def added(sweep: ReverseSweep, op: Op, cotangents: Cotangents) -> None:
    """Emit an addition backwards: add the element's adjoint to the added value's cotangent.

    Raises:
        NotDifferentiable: the old value that the addition returns has a derivative.
    """
    # Which old value a thread got depends on the order of threads, which the adjoint cannot repeat.
    if op.results and op.result in sweep.active:
        raise sweep.not_differentiable(
            "The old value that atomic_add returns is used here in a way that has no derivative yet.",
            op,
            "Use the array in a second kernel.",
        )
    if op.operands[-1] in sweep.active:
        array, indices = _adjoint_element(sweep, op)
        cotangents.add(op.operands[-1], Piece(sweep.builder.ref(sweep.builder.load(array, *indices))))


def load(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Emit a load backwards: add the cotangent to the adjoint array.

    That is without atomics in arrays of which this thread alone touches its elements.
    """
    value = cotangent.full().ref
    array, indices = _adjoint_element(sweep, op)
    if op.operands[0] in sweep.plain:
        old = sweep.builder.ref(sweep.builder.load(array, *indices))
        sweep.builder.store(array, *indices, (old + value).value)
    else:
        sweep.builder.emit("atomic_add", (array, *indices, value.value), (value.type,))


def _adjoint_element(sweep: ReverseSweep, op: Op) -> tuple[Value, list[Value]]:
    """Return the adjoint array and the indices that mirror a memory operation; those of a `reduce_add` are 0."""
    array = op.operands[0]
    if op.name == "reduce_add":
        # `reduce_add` sums into an array of one element, which stands for a parameter that is no array.
        return sweep.adjoints[array], [sweep.builder.const(0)]
    count = array_of(array).ndim
    return sweep.adjoints[array], [sweep.env[v] for v in op.operands[1 : 1 + count]]


def cast(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Emit a cast backwards: the cotangent in the operand's type."""
    type = element(op.operands[0].type)
    if cotangent.whole is not None:
        ref = cotangent.whole.ref.cast(op.operands[0].type)
        cotangents.add(op.operands[0], Piece(ref, None, cotangent.whole.live))
    else:
        for position, piece in enumerate(cotangent.parts):
            if piece is not None:
                cotangents.add(op.operands[0], Piece(piece.ref.cast(type), position, piece.live))


def _turned(type: Type, position: int, piece: Piece) -> Piece:
    """Return a contribution as it passes between a vector and one of its components.

    It is negated for the imaginary part of a complex number. The cotangent of a complex number is JAX's, (∂L/∂x) - i
    (∂L/∂y): where its imaginary part becomes a number, or a number's cotangent becomes that part, the sign changes.
    What works part by part (sums, choices, casts, memory) does not see it.
    """
    if isinstance(type, Complex) and position % 2:
        return Piece(-piece.ref, piece.component, piece.live)
    return piece


def vec(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass each component's cotangent to the scalar that is that component."""
    for position, (operand, piece) in enumerate(zip(op.operands, cotangent.components(), strict=True)):
        if piece is not None:
            cotangents.add(operand, _turned(op.result.type, position, piece))


def extract(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass the cotangent to the vector's component; if the index is not constant, to each one, masked."""
    vector, index = op.operands
    piece = cotangent.full()
    fixed = sweep.constant(index)
    if fixed is not None:
        cotangents.add(vector, _turned(vector.type, fixed, piece).at(fixed))
        return
    assert not isinstance(vector.type, Complex)
    # Where the index is known only at run time, each component is masked: a store by index would need memory.
    for position in range(vector_of(vector).length):
        here = sweep.ref(index).equals(position)
        ref = operators.where(here, piece.ref, piece.ref.like(0))
        cotangents.add(vector, Piece(ref, position, both(piece.live, here)))


def insert(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass the replaced component's cotangent to the scalar, the others to the vector."""
    vector, index, scalar = op.operands
    fixed = sweep.constant(index)
    for position, piece in enumerate(cotangent.components()):
        if piece is None:
            continue
        if fixed is not None:
            if position == fixed:
                cotangents.add(scalar, _turned(vector.type, position, piece).at(None))
            else:
                cotangents.add(vector, piece.at(position))
            continue
        here, none = sweep.ref(index).equals(position), piece.ref.like(0)
        # The component that was overwritten was not used: a NaN in its cotangent must not reach the old vector.
        others = both(piece.live, operators.not_(here))
        cotangents.add(vector, Piece(operators.where(here, none, piece.ref), position, others))
        cotangents.add(scalar, Piece(operators.where(here, piece.ref, none), None, both(piece.live, here)))


def _reject_slot_read(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Refuse a read of slots, of which an adjoint's loops write the same ones many times over.

    Raises:
        NotDifferentiable: always.
    """
    raise sweep.not_differentiable(
        "A loop here runs backwards from states that were kept, and that has no adjoint of its own yet.",
        op,
        "For second derivatives, use the tangent of the gradient (wb.hvp).",
    )


def _nothing(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Propagate nothing: the operation has no differentiable operand."""


def _no_gradient(sweep: ReverseSweep, op: Op, cotangents: Cotangents) -> None:
    """Do nothing: the operation changes integers alone (`memory.study` refuses the rest)."""


EFFECTS: dict[str, EffectRule] = {
    "store": store,
    "atomic_add": added,
    "reduce_add": added,
    "atomic": _no_gradient,
    "atomic_swap": _no_gradient,
}
VALUES: dict[str, ValueRule] = {
    "load": load,
    "cast": cast,
    "vec": vec,
    "extract": extract,
    "insert": insert,
    "slot_read": _reject_slot_read,
    "const": _nothing,
}


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
    # Both sides are the same, so the condition does not matter.
    if yes is no:
        return yes
    if (yes, no) == (True, False):
        return condition
    if (yes, no) == (False, True):
        return operators.not_(condition)
    sides = [s if isinstance(s, Ref) else truth(sweep.builder, s) for s in (yes, no)]
    return operators.where(condition, *sides)
