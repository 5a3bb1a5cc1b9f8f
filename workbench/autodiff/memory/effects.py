"""What a kernel does to its arrays, as far as the adjoint must know it.

The adjoint array of x mirrors x: an element is read and cleared where the kernel stores it, added to where the kernel
loads it. In one thread the reversed order makes this right whatever the indices are; between threads it is right where
no element that one thread writes is touched by another. That is proved here by `tid` among the indices, or refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from workbench.autodiff.memory.aliasing import overwritten_loads
from workbench.errors import NotDifferentiable
from workbench.ir.attributes import AXIS, KIND
from workbench.ir.ops import ACCESSES, EFFECTS, LOADS, OPAQUE, TILED
from workbench.ir.values import Function, Op, Value, is_opaque, number_of, walk
from workbench.types import ArrayType, element, is_float, is_integer


class Memory(msgspec.Struct, frozen=True):
    """Facts about the array parameters.

    Attributes:
        overwritten: loads that may see what this thread has written, or another one writes. The adjoint's arrays are as
            they were before the launch, so there they would see something else.
        private: float arrays of which every access that the adjoint mirrors has all the launch's `tid()` values among
            its indices, at the same places: no two threads touch one element of their adjoint.
    """

    overwritten: frozenset[Op]
    private: frozenset[Value]


def study(function: Function, active: frozenset[Value], aliased: bool) -> Memory:
    """The facts for this kernel; `aliased`: arrays that it writes may overlap others.

    Raises:
        NotDifferentiable: an array is written, and read or added to where another thread may write.
    """
    ops = list(walk(function.body))
    made = {v: op for op in ops for v in op.results}
    mirrored: dict[Value, list[Op]] = defaultdict(list)
    theirs = _under_own_gradient(ops)
    for op in ops:
        if op in theirs:
            if op.name in ACCESSES:
                mirrored[op.operands[0]].append(op)
            continue
        if op.name == "atomic" and is_float(op.operands[0].type):
            raise _refused_atomic(op, function.name)
        load = op.name in LOADS and op.result in active
        if load or (op.name in EFFECTS and is_float(op.operands[0].type)):
            mirrored[op.operands[0]].append(op)
    ndim, spread = function.launch_ndim, in_maps(function)
    # An array that is not private need not be refused: if the kernel only reads it, atomics make the sum right.
    private = frozenset(a for a, uses in mirrored.items() if is_private(uses, made, ndim, spread))
    for array, uses in mirrored.items():
        if array not in private:
            inside = [op for op in uses if op in theirs]
            if inside and any(op.name in EFFECTS for op in uses if op not in theirs):
                raise _refused_custom(array, inside[0], function.name)
            _refuse_shared(array, [op for op in uses if op not in theirs], function.name)
    # A gradient that the user wrote adds wherever it likes: its arrays are added to with atomics.
    customs = [op for op in ops if op.name == "custom" and is_opaque(op)]
    given = {v for op in customs for v in op.operands}
    return Memory(overwritten_loads(function, aliased) | _shared_loads(ops, made, ndim, spread), private - given)


def in_maps(function: Function) -> frozenset[Op]:
    """Operations that are done for every element of a tile."""
    maps = (op.blocks[0] for op in walk(function.body) if op.name == "tile_map")
    return frozenset(inner for block in maps for inner in walk(block))


def _shared_loads(ops: list[Op], made: dict[Value, Op], ndim: int, spread: frozenset[Op]) -> set[Op]:
    """Loads from arrays that the kernel writes, where another thread may write the element: what they see depends on
    the order of threads, also where only a predicate or an index comes of it.
    """
    uses: dict[Value, list[Op]] = defaultdict(list)
    for op in ops:
        if op.name in ACCESSES:
            uses[op.operands[0]].append(op)
    written = {array: found for array, found in uses.items() if any(op.name in EFFECTS for op in found)}
    shared = [found for found in written.values() if not is_private(found, made, ndim, spread)]
    return {op for found in shared for op in found if op.name in LOADS}


def _under_own_gradient(ops: list[Op]) -> set[Op]:
    """Operations in the bodies of funcs whose gradient the user wrote."""
    bodies = [op.blocks[0] for op in ops if op.name == "custom" and is_opaque(op)]
    return {inner for body in bodies for inner in walk(body)}


def _refused_custom(array: Value, op: Op, function: str) -> NotDifferentiable:
    return NotDifferentiable(
        f"{array.name} is written in this kernel, and used here in a func with a gradient of its own, at an element "
        "that another thread may write.",
        op.location, advice="Do one of them in a kernel of its own.", function=function,
    )  # fmt: skip


def is_private(uses: list[Op], made: dict[Value, Op], ndim: int, spread: frozenset[Op] = frozenset()) -> bool:
    """Whether each tid of the launch stands at one place of the indices, alike in every use: as itself, or so that a
    thread has a stretch of its own (tid * k + c, with all c closer together than k). What a block of threads does
    together, and what is in `spread`, is done by many.
    """
    return ndim > 0 and all(tid_places(uses, made, ndim, spread))


def tid_places(
    uses: list[Op], made: dict[Value, Op], ndim: int, spread: frozenset[Op] = frozenset()
) -> list[list[int]]:
    """For each axis of the launch, the places of the indices at which its tid stands so."""
    if any(op.name in TILED or op in spread for op in uses):
        return [[] for _ in range(ndim)]
    rows = [[_stretch(v, made) for v in _indices(op)] for op in uses]

    def alone(axis: int, place: int) -> bool:
        found = [row[place] if place < len(row) else None for row in rows]
        known = [f for f in found if f is not None]
        if len(known) < len(found) or {(f[0], f[1]) for f in known} != {(axis, known[0][1])}:
            return False
        return max(f[2] for f in known) - min(f[2] for f in known) < known[0][1]

    return [[place for place in range(4) if alone(axis, place)] for axis in range(ndim)]


def private_additions(function: Function) -> set[Value]:
    """The arrays that the function adds to atomically and loads from, at elements that no other thread touches.

    Such an addition is no effect to be mirrored: what the element holds after it is a value of the kernel, and is
    recomputed like any other. What runs as a block of threads adds for all of them, so there are none.
    """
    if function.block_dim:
        return set()
    uses: dict[Value, list[Op]] = defaultdict(list)
    made: dict[Value, Op] = {}
    for op in walk(function.body):
        made.update((v, op) for v in op.results)
        if op.name in ACCESSES:
            uses[op.operands[0]].append(op)
        elif op.name in OPAQUE:  # what it does to an array is not seen: as if at any element
            for value in op.operands:
                uses[value].append(Op("reduce_add", (value,)))
    return {
        array
        for array, ops in uses.items()
        if {"load", "atomic_add"} <= {op.name for op in ops} and is_private(ops, made, function.launch_ndim)
    }


def refuse_shifted(function: Function, one: str, two: str, shifts: Sequence[tuple[int, ...]] | None) -> None:
    """Refuse two arrays of one memory of which one is written, unless each thread keeps to elements of its own.

    Args:
        function: a kernel that is launched with several threads.
        one, two: the parameters.
        shifts: how many elements the second may begin behind the first along each axis; None if they lie otherwise.

    Raises:
        NotDifferentiable: a thread may touch an element that another one writes.
    """
    ops = list(walk(function.body))
    uses = [op for op in ops if op.name in ACCESSES and op.operands[0].name in (one, two)]
    if len({op.operands[0].name for op in uses}) < 2 or all(op.name == "atomic_add" for op in uses):
        return
    made = {v: op for op in ops for v in op.results}
    places = tid_places(uses, made, function.launch_ndim, in_maps(function))
    if places and shifts is not None and all(any(s[p] == 0 for p in found) for s in shifts for found in places):
        return
    place = next(op for op in uses if op.name in EFFECTS)
    raise NotDifferentiable(
        f"{one} and {two} share memory, and what one thread writes another may touch: the order is not known.",
        place.location, "Write to an array of its own.", function.name, parameter=two,
    )  # fmt: skip


def _indices(op: Op) -> tuple[Value, ...]:
    array = op.operands[0].type
    assert isinstance(array, ArrayType)
    return () if op.name == "reduce_add" else op.operands[1 : 1 + array.ndim]


def _stretch(value: Value, made: dict[Value, Op]) -> tuple[int, int, int] | None:
    """The index as tid(axis) * k + c, with k > 0; None if it is something else. A tid is not negative, an int32."""
    op = made.get(value)
    if op is None or len(op.results) != 1 or not is_integer(op.result.type) or element(op.result.type).bits < 32:
        return None
    if op.name == "tid":
        return op.attrs[AXIS], 1, 0
    if op.name in ("cast", "wrap_index"):
        inner = _stretch(op.operands[0], made)
        return inner if inner is not None and inner[2] >= 0 else None
    if op.name not in ("add", "sub", "mul"):
        return None
    for one, other in (op.operands, op.operands[::-1]):
        inner, number = _stretch(one, made), _number(other, made)
        if inner is None or number is None or (op.name == "sub" and one is not op.operands[0]):
            continue
        axis, k, c = inner
        if op.name == "mul":
            return (axis, k * number, c * number) if number > 0 else None
        return axis, k, c + (number if op.name == "add" else -number)
    return None


def _number(value: Value, made: dict[Value, Op]) -> int | None:
    op = made.get(value)
    while op is not None and op.name == "cast" and is_integer(op.result.type):
        op = made.get(op.operands[0])
    return int(number_of(op)) if op is not None and op.name == "const" and is_integer(op.result.type) else None


def _refused_atomic(op: Op, function: str) -> NotDifferentiable:
    name, kind = op.operands[0].name, op.attrs[KIND]
    return NotDifferentiable(
        f"atomic_{kind}() changes {name} here in a way that has no derivative yet.",
        op.location,
        advice=f"Sum with atomic_add({name}, …), or find the result in a kernel that is not differentiated.",
        function=function,
    )


def _refuse_shared(array: Value, uses: list[Op], function: str) -> None:
    kinds = {op.name.removeprefix("tile_"): op for op in reversed(uses)}
    load, store = kinds.get("load"), kinds.get("store")
    added = kinds.get("atomic_add") or kinds.get("reduce_add")
    if load is not None and (store is not None or added is not None):
        raise NotDifferentiable(
            f"{array.name} is written in this kernel, and read here at an element that another thread may write.",
            load.location,
            advice=f"Write the result to another array, use {array.name} with all of tid() among its indices "
            f"everywhere, or add with atomic_add({array.name}, …).",
            function=function,
        )
    if store is not None and added is not None:
        raise NotDifferentiable(
            f"{array.name} is both assigned and added to atomically, and the order between threads is not known.",
            added.location,
            advice="Do one of them in a kernel of its own.",
            function=function,
        )
