"""Atomic changes of elements: plain where no thread meets them, combined where all do, deferred where they can wait.

**Plain** (`demote_atomics`). `y[i] += v` is an atomic add, because other threads may add there too. Where every access
to an array in the kernel is at the thread's own index, none can, and a plain add vectorises. The front end writes other
augmented assignments out both ways, plainly and atomically, and `owned` decides between the two. Which arrays those are
is a question of its own: code that is to run asks `owned_arrays`; autodiff, which needs what the element held as a
value like any other, asks `workbench.autodiff.memory.effects.private_additions`.

**Combined** (`reductions`). Changes of one element by all threads are marked: a backend may combine them and change
memory once per chunk. In `o[0] += v` or `wb.atomic_max(o, k, v)` the index is the same in every thread, nothing looks
at the old value, and the kernel accesses the array in no other way. Then the element is read and written after the last
thread as well as by each of them, and the changes may be combined first: in a wider type, side by side, in an order
that is always the same.

Both hold as long as no argument overlaps another one; where arguments do, the launcher asks for the atomic form,
without marks.

**Deferred** (`defer_atomics`). No thread sees what another one adds in `atomic_add(counts, int(x[i] * 256.0), 1)`. So a
gang first computes what its threads add and where, side by side; then they add, one thread after the other, as they
did: the same bits. What they add stands in an `if` at the end of the body, whose condition always holds, with the
attribute `SCALAR`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

from workbench.builtins import TABLE
from workbench.deep import with_deep_stack
from workbench.ir.analysis import Analysis
from workbench.ir.build import Builder, Rewriter, fresh, replace_body, rewrite
from workbench.ir.ops import ACCESSES, EFFECTS, ELEMENTS, INTERIOR, KIND, PURE, REDUCTION, SCALAR, TILED
from workbench.ir.values import Block, Function, Op, Value, dtype_of, indices_of, walk
from workbench.limits import COMBINED_COMPONENTS, DEFERRED_OPERATIONS_LEAST, DEFERRED_VALUES, GROUP_OPERATIONS
from workbench.passes.analysis.divergence import Neighbours
from workbench.passes.expand import without_customs
from workbench.types import ArrayType, Kind, Scalar, Vector, element
from workbench.types import bool as bool_


def owned_arrays(function: Function) -> frozenset[Value]:
    """Return the array parameters of which no two threads touch the same element.

    Each `tid()` stands at a position of the indices that is the same in every access, so that different threads differ
    there, whatever the other indices are: `y[i, j]`, `y[j, i]`, or rows `w[i, k]` of a launch of one dimension; but not
    `y[i, j]` together with `y[j, i]`. A multiple of it may stand there too, plus what is the same for all threads
    (`y[2 * i]` with `y[2 * i + 1]`).
    """
    uses: dict[Value, list[Op]] = defaultdict(list)
    shared: set[Value] = set()
    for op in walk(function.body):
        if op.name in ELEMENTS:
            uses[op.operands[0]].append(op)
        # It is the sum of all threads, into one element.
        elif op.name == "reduce_add":
            shared.add(op.operands[0])
        if op.name in TILED:  # by many threads, or at many places
            inside = (inner for block in op.blocks for inner in walk(block))
            shared.update(v for o in (op, *inside) for v in o.operands if isinstance(v.type, ArrayType))
    analysis, axes = Analysis(function), range(function.launch_ndim)
    # Without axes the kernel never asks which thread it is, so that all do the same.
    shared |= {a for a, ops in uses.items() if not axes or not all(analysis.own_positions(n, ops) for n in axes)}
    return frozenset(p for p in function.params if isinstance(p.type, ArrayType) and p not in shared)


_DECIDED = frozenset({"atomic_add", "owned"})
"""Operations that `demote_atomics` looks for: most kernels have none of them."""


@with_deep_stack
def demote_atomics(function: Function, owned: Callable[[Function], Collection[Value]] = owned_arrays) -> Function:
    """Return the function with its atomic additions to some arrays as loads and stores, and no `owned` left.

    An `if` on an `owned` is replaced by the branch for such an array, or for any other.

    Args:
        function: a kernel.
        owned: returns the array parameters whose elements no two threads share.
    """
    if _DECIDED.isdisjoint(function.body.op_names):
        return function
    arrays = owned(function)
    decided = {op.result: op.operands[0] in arrays for op in walk(function.body) if op.name == "owned"}

    def change(on: Rewriter, op: Op) -> Iterable[Op] | None:
        if op.name == "atomic_add" and op.operands[0] in arrays:
            return _plain(on, op)
        if op.name == "if" and op.operands[0] in decided:
            return on.block(op.blocks[0 if decided[op.operands[0]] else 1]).ops[:-1]
        return () if op.name == "owned" else None

    return rewrite(function, change) if decided or _adds(function, arrays) else function


def atomic(function: Function) -> Function:
    """Return the function in which each change that is written both ways, plainly and atomically, is atomic.

    That is each that `demote_atomics` has not decided before.
    """
    return demote_atomics(function, lambda _: frozenset())


@with_deep_stack
def adds_alone(function: Function) -> bool:
    """Return whether `demote_atomics` changes the function, so that arguments that overlap need other code."""
    names = function.body.op_names
    return "owned" in names or ("atomic_add" in names and _adds(function, owned_arrays(function)))


def _adds(function: Function, arrays: Collection[Value]) -> bool:
    """Return whether the function has an `atomic_add` to one of the arrays."""
    return any([op.name == "atomic_add" and op.operands[0] in arrays for op in walk(function.body)])


def _plain(on: Rewriter, op: Op) -> list[Op]:
    """Return an atomic addition as a load, an add and a store; its result is mapped to the loaded value."""
    *element, value = op.operands
    old, new = fresh(op.result), Value(op.result.type)
    # An atomic addition gives the old value, so that is what later uses mean.
    on.mapping[op.result] = old
    return [
        Op("load", tuple(element), (old,), {}, (), op.location),
        Op("add", (old, value), (new,), {}, (), op.location),
        Op("store", (*element, new), (), {}, (), op.location),
    ]


KINDS = frozenset({"add", "min", "max", "and", "or", "xor"})
"""Kinds of changes whose order has no meaning; `exch` and `cas` are not among them."""
_CHANGES = ("atomic_add", "atomic")
_SAME = frozenset({"const", "shape", "cast", "add", "sub", "mul", "neg", "wrap_index"})
"""Operations whose result is the same in every thread if their operands are, and that are cheap to repeat."""


@with_deep_stack
def reductions(function: Function) -> Function:
    """Return the function with changes of one element by all threads marked (`REDUCTION`); itself if there are none."""
    marked = _elements_to_combine(function)

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name not in _CHANGES or _changed_element(op) not in marked:
            return None
        return (op.replace(attrs={**op.attrs, REDUCTION: True}),)

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
    changes = op.name in _CHANGES and kind_of(op) in KINDS
    return (op.operands[0], *indices_of(op)) if changes else ()


def _elements_to_combine(function: Function) -> frozenset[tuple[Value, ...]]:
    """Return the elements, each an array and its indices, whose changes may be combined; empty if they are too many."""
    if function.body.op_names.isdisjoint(_CHANGES):
        return frozenset()
    operations = list(walk(function.body))
    analysis = Analysis(function)
    used = {v for op in operations for v in op.operands}
    kinds: dict[Value, set[str]] = {}
    elements: dict[Value, dict[tuple[Value, ...], None]] = {}
    accesses = [(op, v) for op in operations if op.name != "shape" for v in op.operands]
    for op, array in accesses:
        if isinstance(array.type, ArrayType):
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


def defer_atomics(function: Function) -> Function:
    """Return the function with its additions to shared elements behind the rest of the body.

    It is the function itself if they cannot be moved, or if that does not pay.
    """
    ops = function.body.ops
    if function.block_dim or not function.launch_ndim or len(ops) > GROUP_OPERATIONS:
        return function
    added = [op for op in ops if any(inner.name == "atomic_add" for inner in _inside(op))]
    used = {v for op in walk(function.body) for v in op.operands}
    if not added or not all(_only_adds(op, used) for op in added):
        return function
    neighbours = Neighbours(function)
    changed = {op.operands[0] for op in walk(function.body) if op.name in EFFECTS}
    before = [op for op in ops if op not in added]
    # A load behind an addition would see it where arguments overlap.
    last = ops[: ops.index(added[0])]
    gathered = by_index(ops)
    # Of arrays that nothing changes: beside its neighbours, the same for all, or by index.
    loads = {op for op in last if op.name == "load" and op.operands[0] not in changed}
    if not all(_is_pure(op) or (op in loads and (op in gathered or neighbours.is_contiguous(op))) for op in before):
        return function
    needed = {v for op in added for inner in _inside(op) for v in inner.operands}
    own = [op for op in before if op.name != "tid" and not neighbours.varying.isdisjoint(op.results)]
    yielded = [v for op in own for v in op.results if v in needed]
    if not all(isinstance(v.type, (Scalar, Vector)) for v in yielded):  # structs are in no slot
        return function
    computed = sum(op.name != "load" and any(neighbours.step(v) != 1 for v in op.results) for op in own)
    if (
        computed < DEFERRED_OPERATIONS_LEAST
        or sum(v.type.length if isinstance(v.type, Vector) else 1 for v in yielded) > DEFERRED_VALUES
    ):
        return function
    b = Builder()
    b.location = added[0].location
    for op in before:
        b.append(op)
    end = Op("yield", location=b.location)
    blocks = Block((), (*added, end)), Block((), (end,))
    b.append(Op("if", (b.const(True, bool_),), (), SCALAR.of(True), blocks, b.location))
    return replace_body(function, b.body())


def _inside(op: Op) -> list[Op]:
    """Return an operation, followed by all operations in its blocks."""
    return [op, *(inner for block in op.blocks for inner in walk(block))]


def _is_pure(op: Op) -> bool:
    """Return whether an operation has neither blocks nor effects, and loads nothing."""
    return not op.blocks and (op.name in PURE or op.name in TABLE)


def _only_adds(op: Op, used: set[Value]) -> bool:
    """Return whether an operation only adds, or computes what is added; an `if` may be around both, and a report.

    The old value of the element must not be used, and the operation be no reduction.
    """
    if op.name == "if":
        plain = used.isdisjoint(op.results) and not op.attrs.get(INTERIOR)
        return plain and all(_only_adds(o, used) for block in op.blocks for o in block.ops)
    if op.name == "atomic_add":
        return not op.attrs.get(REDUCTION) and used.isdisjoint(op.results)
    return op.name in ("yield", "fault") or (_is_pure(op) and op.name != "tid")


def by_index(ops: Iterable[Op]) -> set[Op]:
    """Return the loads whose index is computed from what was loaded before."""
    loads, loaded = set[Op](), set[Value]()
    for op in ops:
        is_by_index = not loaded.isdisjoint(op.operands)
        if op.name == "load" and is_by_index:
            loads.add(op)
        if op.name == "load" or is_by_index:
            loaded.update(op.results)
    return loads
