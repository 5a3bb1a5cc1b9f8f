"""Changes of one element by all threads, marked: a backend may combine them and change memory once per chunk.

`o[0] += v`, `wb.atomic_max(o, k, v)`: the index is the same in every thread, nothing looks at the old value, and the
kernel accesses the array in no other way. Then the element is read and written after the last thread as well as by each
of them, and the changes may be combined first: in a wider type, side by side, in an order that is always the same.

That holds as long as no argument overlaps another one; where arguments do, the launcher asks for the form without marks
(see `demote_atomics`).
"""

from __future__ import annotations

from workbench.deep import with_deep_stack
from workbench.ir.analysis import Analysis
from workbench.ir.attributes import KIND, REDUCTION
from workbench.ir.ops import ACCESSES
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Function, Op, Value, dtype_of, indices_of, walk
from workbench.limits import COMBINED_COMPONENTS
from workbench.passes.strip_custom_gradients import without_customs
from workbench.types import ArrayType, Kind, Vector, element

KINDS = frozenset({"add", "min", "max", "and", "or", "xor"})
"""Kinds of changes whose order has no meaning; `exch` and `cas` are not among them."""
_SAME = frozenset({"const", "shape", "cast", "add", "sub", "mul", "neg", "wrap_index"})
"""Operations whose result is the same in every thread if their operands are, and that are cheap to repeat."""


@with_deep_stack
def reductions(function: Function) -> Function:
    """Return the function with changes of one element by all threads marked (`REDUCTION`); itself if there are none."""
    marked = _elements_to_combine(function)

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        return (op.replace(attrs={**op.attrs, REDUCTION: True}),) if _changed_element(op) in marked else None

    return rewrite(function, change) if marked else function


@with_deep_stack
def reduces(function: Function) -> bool:
    """Return whether `reductions` would mark anything in the function without its custom gradients."""
    return bool(_elements_to_combine(without_customs(function)))


def kind_of(op: Op) -> str:
    """Return how the operation changes an element: "add", or the kind of an `atomic`; empty for any other operation."""
    if op.name in ("atomic_add", "reduce_add"):
        return "add"
    return op.attrs[KIND] if op.name == "atomic" else ""


def _changed_element(op: Op) -> tuple[Value, ...]:
    """Return the array and the indices of an atomic change of a kind in `KINDS`; empty for another operation."""
    changes = op.name in ("atomic_add", "atomic") and kind_of(op) in KINDS
    return (op.operands[0], *indices_of(op)) if changes else ()


def _elements_to_combine(function: Function) -> frozenset[tuple[Value, ...]]:
    """Return the elements, each an array and its indices, whose changes may be combined; empty if they are too many."""
    if function.body.op_names.isdisjoint(("atomic_add", "atomic")):
        return frozenset()
    operations = list(walk(function.body))
    analysis = Analysis(function)
    used = {v for op in operations for v in op.operands}
    kinds: dict[Value, set[str]] = {}
    elements: dict[Value, dict[tuple[Value, ...], None]] = {}
    for op in operations:
        for array in [v for v in op.operands if isinstance(v.type, ArrayType) and op.name != "shape"]:
            element = _changed_element(op)
            # `array is place[0]`: the array could also be an operand of another kind, such as the value.
            plain = element and array is element[0] and not used.intersection(op.results) and _combines(op)
            good = plain and all(analysis.uniform(v, _SAME) for v in element[1:])
            kinds.setdefault(array, set()).add(kind_of(op) if good and op.name in ACCESSES else "")
            elements.setdefault(array, {})[element] = None
    reduced = [p for array, k in kinds.items() if len(k) == 1 and "" not in k for p in elements[array]]
    # Each component costs a buffer and lanes, and a step after each chunk of threads.
    widths = sum(t.length if isinstance(t := dtype_of(p[0]), Vector) else 1 for p in reduced)
    return frozenset(reduced) if widths <= COMBINED_COMPONENTS else frozenset()


def _combines(op: Op) -> bool:
    """Return whether a change can be combined by its element's type: not of bools, and of halves sums alone."""
    scalar = element(op.operands[-1].type)
    return scalar.kind is not Kind.BOOL and (kind_of(op) == "add" or not scalar.is_half)
