"""Effects of a kernel on its arrays, as far as the adjoint depends on them.

The adjoint array of x mirrors x: an element is read and cleared where the kernel stores it, added to where the kernel
loads it. In one thread the reversed order makes this right whatever the indices are; between threads it is right where
no element that one thread writes is touched by another. That is proved here by the forms of the indices, or refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from workbench.autodiff.memory.aliasing import overwritten_loads
from workbench.errors import NotDifferentiable
from workbench.ir.analysis import Analysis, Dependence, Sizes
from workbench.ir.attributes import KIND
from workbench.ir.ops import ACCESSES, EFFECTS, LOADS, OPAQUE, TILED
from workbench.ir.values import Function, Op, Value, is_opaque, walk
from workbench.types import is_float


class Memory(msgspec.Struct, frozen=True):
    """A kernel's accesses to arrays, as far as its adjoint depends on them.

    Attributes:
        overwritten: loads that may see what this thread has written, or another one writes. The adjoint's arrays are as
            they were before the launch, so there they would see something else.
        private: float arrays of which every access that the adjoint mirrors has all the launch's `tid()` values among
            its indices, at the same positions: no two threads touch one element of their adjoint.
    """

    overwritten: frozenset[Op]
    private: frozenset[Value]


class Launch(msgspec.Struct, frozen=True):
    """The assumptions of an adjoint that is derived for certain launches only.

    Attributes:
        single: the axes of the launch along which there is one thread.
        disjoint: dependences between threads that must not exist; whoever launches the adjoint checks them
            (`check_disjoint_threads`).
    """

    single: tuple[int, ...] = ()
    disjoint: list[Dependence] = msgspec.field(default_factory=list[Dependence])

    @classmethod
    def like(cls, function: Function, dims: tuple[int, ...]) -> Launch:
        """Return the assumptions for launches of a kernel with one thread along the same axes as `dims`."""
        single = tuple(axis for axis, n in enumerate(dims) if n == 1)
        # A kernel that asks for no index is launched with any number of dimensions: all are single, or none counts.
        return cls(single if function.launch_ndim or len(single) == len(dims) else ())


class Threads:
    """Finds dependences between accesses of different threads.

    Attributes:
        analysis: of the function's indices.
        launch: receives dependences that are to be checked at a launch; None: they count as existing.
        spread: operations that run for every element of a tile.
        axes: the launch's axes with several threads; None if its threads have no index to tell them apart.
    """

    def __init__(self, function: Function, launch: Launch | None) -> None:
        self.analysis = Analysis(function)
        self.launch = launch
        self.spread = in_maps(function)
        single = () if launch is None else launch.single
        axes = tuple(axis for axis in range(function.launch_ndim) if axis not in single)
        self.axes = axes if function.launch_ndim or single else None

    def are_disjoint(self, one: Op, other: Op) -> bool:
        """Return whether no two threads touch one element by these accesses.

        Where it is unknown and a `Launch` is assumed, it is True, and the dependence goes to `Launch.disjoint`.
        """
        dependence = self.analysis.dependence(one, other, self.axes)
        if any(op in self.spread for op in (one, other)):
            dependence = Dependence(one, other, (), self.axes)
        if not dependence.exists():
            return True
        if self.launch is not None:
            self.launch.disjoint.append(dependence)
        return self.launch is not None

    def are_private(self, uses: list[Op]) -> bool:
        """Return whether no two threads touch one element by any of these accesses, whatever the launch is."""
        return self.axes is not None and all(self.axes_at(uses))

    def axes_at(self, uses: list[Op]) -> list[list[int]]:
        """Return, for each axis of the launch with several threads, the positions of indices that tell these apart.

        At such a position all of the accesses have the same index, that of the thread. No axis has any if one of
        the accesses is of tiles or in `spread`.
        """
        axes = self.axes or ()
        if any(op.name in TILED or op in self.spread for op in uses):
            return [[] for _ in axes]
        return [self.analysis.own_positions(axis, uses) for axis in axes]


def study(function: Function, active: frozenset[Value], aliased: bool, launch: Launch | None = None) -> Memory:
    """Return what the adjoint has to know of a kernel's accesses.

    Args:
        function: a kernel without races.
        active: its values with a derivative.
        aliased: arrays that it writes may overlap others.
        launch: the adjoint is for launches that are checked for what is noted there; None: for all.

    Raises:
        NotDifferentiable: an array is written, and read or added to where another thread may write; or floats are
            changed by an atomic operation that is not an addition.
    """
    ops = list(walk(function.body))
    mirrored: dict[Value, list[Op]] = defaultdict(list)
    theirs = _under_own_gradient(ops)
    for op in ops:
        if op in theirs:
            if op.name in ACCESSES:
                mirrored[op.operands[0]].append(op)
            continue
        if op.name in ("atomic", "atomic_load", "atomic_swap") and is_float(op.operands[0].type):
            raise (_atomic_error if op.name == "atomic" else _swap_error)(op, function.name)
        load = op.name in LOADS and op.result in active
        if load or (op.name in EFFECTS and is_float(op.operands[0].type)):
            mirrored[op.operands[0]].append(op)
    threads = Threads(function, launch)
    # An array that is not private need not be refused: if the kernel only reads it, atomics make the sum right.
    private = frozenset(a for a, uses in mirrored.items() if threads.are_private(uses))
    for array, uses in mirrored.items():
        if array not in private:
            inside = [op for op in uses if op in theirs]
            if inside and any(op.name in EFFECTS for op in uses if op not in theirs):
                raise _custom_error(array, inside[0], function.name)
            for one, other in _conflicts([op for op in uses if op not in theirs]):
                if not threads.are_disjoint(one, other):
                    raise dependence_error(one, other, function.name)
    # A gradient that the user wrote adds wherever it likes: its arrays are added to with atomics.
    customs = [op for op in ops if op.name == "custom" and is_opaque(op)]
    inputs = {v for op in customs for v in op.operands}
    overlaps = None if launch is None else launch.disjoint
    return Memory(overwritten_loads(function, aliased, overlaps) | _shared_loads(ops, threads), private - inputs)


def in_maps(function: Function) -> frozenset[Op]:
    """Return the operations that run for every element of a tile."""
    maps = (op.blocks[0] for op in walk(function.body) if op.name == "tile_map")
    return frozenset(inner for block in maps for inner in walk(block))


def _shared_loads(ops: list[Op], threads: Threads) -> set[Op]:
    """Return the loads of elements that another thread may write.

    What they see depends on the order of threads, even where only a predicate or an index comes of it.
    """
    uses: dict[Value, list[Op]] = defaultdict(list)
    for op in ops:
        if op.name in ACCESSES:
            uses[op.operands[0]].append(op)
    shared: set[Op] = set()
    for accesses in uses.values():
        effects = [op for op in accesses if op.name in EFFECTS]
        if effects and not threads.are_private(accesses):
            loads = (op for op in accesses if op.name in LOADS)
            shared.update(op for op in loads if not all(threads.are_disjoint(op, effect) for effect in effects))
    return shared


def _under_own_gradient(ops: list[Op]) -> set[Op]:
    """Return the operations in the bodies of funcs whose gradient the user wrote."""
    bodies = [op.blocks[0] for op in ops if op.name == "custom" and is_opaque(op)]
    return {inner for body in bodies for inner in walk(body)}


def _custom_error(array: Value, op: Op, function: str) -> NotDifferentiable:
    """Return the error for an access of a func with its own gradient to an array that other threads may write."""
    return NotDifferentiable(
        f"{array.name} is written in this kernel, and used here in a func with a gradient of its own, at an element "
        "that another thread may write.",
        op.location,
        advice="Do one of them in a kernel of its own.",
        function=function,
    )


def private_additions(function: Function, launch: Launch | None = None) -> set[Value]:
    """Return the arrays that are atomically changed and read, at elements that no other thread touches.

    Such a change is no effect to be mirrored: what the element holds after it is a value of the kernel, and is
    recomputed like any other. A function whose threads run as blocks has none, since these add for all their threads.
    """
    if function.block_dim:
        return set()
    uses: dict[Value, list[Op]] = defaultdict(list)
    for op in walk(function.body):
        if op.name in ACCESSES:
            uses[op.operands[0]].append(op)
        elif op.name in OPAQUE:  # what it does to an array is not seen: as if at any element
            for value in op.operands:
                uses[value].append(Op("reduce_add", (value,)))
    held = {array: ops for array, ops in uses.items() if _changes({op.name for op in ops})}
    threads = Threads(function, launch) if held else None
    return {array for array, ops in held.items() if threads is not None and threads.are_private(ops)}


def _changes(names: set[str]) -> bool:
    """Return whether operations of these names on an array both read and atomically change its elements."""
    return "atomic_swap" in names or {"load", "atomic_add"} <= names


def check_own_elements(function: Function, one: str, two: str, shifts: Sequence[tuple[int, ...]] | None) -> None:
    """Check two arrays of one memory: if either is written, each thread must keep to elements of its own.

    Args:
        function: a kernel that is launched with several threads.
        one, two: names of the parameters.
        shifts: how many elements the second may begin behind the first along each axis; None if they lie otherwise.

    Raises:
        NotDifferentiable: a thread may touch an element that another one writes.
    """
    ops = list(walk(function.body))
    uses = [op for op in ops if op.name in ACCESSES and op.operands[0].name in (one, two)]
    if len({op.operands[0].name for op in uses}) < 2 or all(op.name == "atomic_add" for op in uses):
        return
    axes = Threads(function, None).axes_at(uses)
    if axes and shifts is not None and all(any(s[p] == 0 for p in axis_list) for s in shifts for axis_list in axes):
        return
    use = next(op for op in uses if op.name in EFFECTS)
    raise NotDifferentiable(
        f"{one} and {two} share memory, and what one thread writes another may touch: the order is not known.",
        use.location,
        "Write to an array of its own.",
        function.name,
        parameter=two,
    )


def _atomic_error(op: Op, function: str) -> NotDifferentiable:
    """Return the error for an atomic operation without a derivative, such as `atomic_max`, on a float array."""
    name, kind = op.operands[0].name, op.attrs[KIND]
    return NotDifferentiable(
        f"atomic_{kind}() changes {name} here in a way that has no derivative yet.",
        op.location,
        advice=f"Sum with atomic_add({name}, …), or find the result in a kernel that is not differentiated.",
        function=function,
    )


def _swap_error(op: Op, function: str) -> NotDifferentiable:
    """Return the error for an atomic load or exchange of a float that other threads may change as well."""
    name = op.operands[0].name
    return NotDifferentiable(
        f"An element of {name} that another thread may change as well is changed here in a way that has no derivative.",
        op.location,
        advice=f"Use {name} with all of tid() among its indices everywhere, or write each thread's factor to an array.",
        function=function,
    )


def _conflicts(uses: list[Op]) -> Iterator[tuple[Op, Op]]:
    """Yield pairs of accesses to one array of which different threads must not touch the same element.

    They are a load and a store, a load and an addition, a store and an addition. Loads alone may meet, as their
    adjoints only add; stores alone, without races, only if they store the same; so may additions.
    """
    kinds = {op: op.name.removeprefix("tile_").replace("reduce_add", "atomic_add") for op in uses}
    for a, b in (("load", "store"), ("load", "atomic_add"), ("store", "atomic_add")):
        for one in uses:
            yield from ((one, other) for other in uses if (kinds[one], kinds[other]) == (a, b))


def check_disjoint_threads(
    function: Function, launch: Launch, dims: tuple[int, ...], arguments: Mapping[str, Any]
) -> None:
    """Check that a launch fulfils what its adjoint assumed: threads do not touch the same elements (`Launch.disjoint`).

    Args:
        function: the kernel.
        launch: what was assumed.
        dims: of the launch.
        arguments: of the launch, by name.

    Raises:
        NotDifferentiable: two threads may meet, or one reads an element after it wrote it.
    """
    numbers = Sizes.of_launch(function, dims, arguments)
    for dependence in launch.disjoint:
        if dependence.exists(numbers) and dependence.alone:
            load, name = dependence.one, dependence.one.operands[0].name
            raise NotDifferentiable(
                f"{name} is read here after the kernel wrote that element, counted from the array's other end.",
                load.location,
                "Read it before it is written.",
                function.name,
            )
        if dependence.exists(numbers):
            raise dependence_error(dependence.one, dependence.other, function.name)


def dependence_error(one: Op, other: Op, function: str) -> NotDifferentiable:
    """Return the error that two accesses of different threads may meet in an element.

    Args:
        one: a load or store.
        other: a store, addition or exchange by another thread.
        function: the kernel's name.
    """
    name = one.operands[0].name
    # What multiplies is no sum.
    instead = f"or add with atomic_add({name}, …)"
    if other.name == "atomic_swap":
        instead = "or write each thread's factor to an array"
    if one.name.removeprefix("tile_") == "load":
        return NotDifferentiable(
            f"{name} is written in this kernel, and read here at an element that another thread may write.",
            one.location,
            advice=f"Write the result to another array, use {name} with all of tid() among its indices "
            f"everywhere, {instead}.",
            function=function,
        )
    return NotDifferentiable(
        f"{name} is both assigned and added to atomically, and the order between threads is not known.",
        other.location,
        advice="Do one of them in a kernel of its own.",
        function=function,
    )
