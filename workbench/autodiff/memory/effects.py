"""Effects of a kernel on its arrays, and dependences between accesses of one thread.

The effects are studied as far as the adjoint depends on them. The adjoint array of x mirrors x: an element is read and
cleared where the kernel stores it, added to where the kernel loads it. In one thread the reversed order makes this
right whatever the indices are; between threads it is right where no element that one thread writes is touched by
another. That is proved here by the forms of the indices, or refused.

Accesses of one thread are compared by the affine forms of their indices. A value made inside a loop is another one in
the next iteration, and is compared only where the caller says that it stands still.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from workbench.errors import NotDifferentiable
from workbench.ir.analysis import Analysis, Atom, Dependence, Sizes
from workbench.ir.ops import ACCESSES, EFFECTS, KIND, LOADS, OPAQUE, TILED
from workbench.ir.values import Block, Function, Op, Value, closed_blocks, definitions, indices_of, is_opaque, walk
from workbench.passes.memory.elements import may_overlap
from workbench.types import is_float

LoopInvariant = Callable[[Value], bool]


class IndexComparison:
    """Compares the indices of a function's accesses.

    Attributes:
        aliased: arguments may overlap, in whatever way their types allow.
        disjoint: receives dependences that must be checked at a launch; None: nothing can be left to that, so they
            count.
    """

    def __init__(self, function: Function, aliased: bool, disjoint: list[Dependence] | None = None) -> None:
        self.aliased = aliased
        self.disjoint = disjoint
        self._function = function

    @cached_property
    def analysis(self) -> Analysis:
        """The analysis of the function's indices: computed once there are two accesses to compare."""
        return Analysis(self._function)

    def may_alias(self, a: Op, b: Op, loop_invariant: LoopInvariant) -> bool:
        """Return whether two accesses may touch one element, except as noted in `disjoint`.

        Args:
            a, b: the accesses.
            loop_invariant: whether a value is the same at both.
        """
        x, y = a.operands[0], b.operands[0]
        if x is not y:
            # Different parameters: only an overlap of the arguments can bring them together.
            return self.aliased and may_overlap(x, y, disjoint=False)
        dependence = self.analysis.dependence(a, b, None, lambda atom: atom.value is None or loop_invariant(atom.value))
        if self.disjoint is None or not any(d.is_fixed() for d in dependence.differences):
            return dependence.exists()
        self.disjoint += [dependence] if dependence.exists() else []
        return False

    def ahead(self, load: Op, effect: Op, loop: Op) -> bool:
        """Return whether a loop's index keeps a load away from what an effect changed in earlier iterations."""
        if loop.name != "for" or load.operands[0] is not effect.operands[0]:
            return False
        step = self.analysis.number(loop.operands[2])
        counter = Atom("value", value=loop.blocks[0].params[0])
        for one, other in zip(indices_of(load), indices_of(effect), strict=False):
            (now, first), (before, second) = self.analysis.index(one), self.analysis.index(other)
            k, back = now.terms.get(counter, 0), before.constant - now.constant
            loop_invariant = all(atom.value is None for atom in now.terms if atom != counter)
            if k == 0 or now.terms != before.terms or not loop_invariant or first or second:
                continue
            # The index of an earlier iteration lies a positive multiple of the step behind: it can have met this
            # element only if `back` is such a multiple.
            if back == 0 or (step and (back * k * step < 0 or back % (k * step))):
                return True
        return False


def overwritten_loads(function: Function, aliased: bool, disjoint: list[Dependence] | None = None) -> frozenset[Op]:
    """Return the loads that may see what the same thread has written; others see what the array held before the launch.

    Args:
        function: a kernel without races.
        aliased: arrays that it writes may overlap others.
        disjoint: receives dependences that must be checked at a launch and do not count; None: they count.
    """
    return frozenset(_Order(function, aliased, disjoint).block(function.body, []))


def overwrites(function: Function, aliased: bool) -> bool:
    """Return whether a thread may store a float where it has stored one before."""
    order = _Order(function, aliased)
    order.block(function.body, [])
    return order.twice


class _Order:
    """A walk over a function in the order of the program.

    Attributes:
        earlier: for each loop around: the loop, its effects, which may have happened in earlier iterations, and the
            values computed in it.
        twice: a float may have been stored where the thread stored one before.
    """

    def __init__(self, function: Function, aliased: bool, disjoint: list[Dependence] | None = None) -> None:
        self.comparison = IndexComparison(function, aliased, disjoint)
        self.earlier: list[tuple[Op, list[Op], set[Value]]] = []
        self.twice = False

    def block(self, block: Block, done: list[Op]) -> list[Op]:
        """Return the loads in a block that may see what the thread has written before; append its effects to `done`."""
        overwritten: list[Op] = []
        for op in block.ops:
            if op.name in LOADS and self.is_overwritten(op, done):
                overwritten.append(op)
            elif op.name in EFFECTS:
                if op.name == "store" and is_float(op.operands[0].type):
                    self.twice |= self.is_overwritten(op, done, "store")
                done.append(op)
            elif op.name == "if":
                # The two sides exclude each other, so what one does has not happened in the other; after the `if`
                # either may have.
                before = len(done)
                sides = [list(done) for _ in op.blocks]
                for inner, side in zip(op.blocks, sides, strict=True):
                    overwritten += self.block(inner, side)
                done += [effect for side in sides for effect in side[before:]]
            elif op.name == "custom":
                overwritten += self.custom(op, done)
            elif op.blocks:
                overwritten += self.loop(op, done)
        return overwritten

    def loop(self, op: Op, done: list[Op]) -> list[Op]:
        """Return the loads in a loop that may see what the thread has written, also in earlier iterations.

        The loop's effects are appended to `done`.
        """
        ops = [o for inner in op.blocks for o in walk(inner)]
        inside = {*definitions(*op.blocks)} | {p for o in (op, *ops) for b in o.blocks for p in b.params}
        effects = [o for o in ops if o.name in EFFECTS]
        self.earlier.append((op, effects, inside))
        # The loop's own effects are in `earlier` while its body is walked: a load may follow them by one iteration.
        overwritten = [load for inner in op.blocks for load in self.block(inner, list(done))]
        self.earlier.pop()
        done += effects
        return overwritten

    def is_overwritten(self, load: Op, done: list[Op], after: str = "") -> bool:
        """Return whether an access may touch an element that an earlier effect of the thread changed.

        Args:
            load: the access.
            done: the effects that may have happened in this iteration of every loop around.
            after: only effects of this name count; empty: all.
        """
        if any(
            self.comparison.may_alias(load, effect, lambda v: True)
            for effect in done
            if effect.name == (after or effect.name)
        ):
            return True
        return any(
            effect.name == (after or effect.name)
            and self.comparison.may_alias(load, effect, lambda v, inside=inside: v not in inside)
            and not self.comparison.ahead(load, effect, loop)
            for loop, effects, inside in self.earlier
            for effect in effects
        )

    def custom(self, op: Op, done: list[Op]) -> list[Op]:
        """Return the overwritten loads of a func's body, and those of its gradient and replay.

        The latter two read the adjoint's arrays, which are as they were before the launch, so that every earlier write
        counts.
        """
        # The body is recomputed in its place; a gradient and a replay read the adjoint's arrays, which are as they were
        # before the launch, so that every earlier write counts.
        overwritten = self.block(op.blocks[0], done)
        before = [effect for _, effects, _ in self.earlier for effect in effects]
        written = {effect.operands[0] for effect in (*done, *before)}
        for closed in closed_blocks(op):
            arguments = dict(zip(closed.params, op.operands, strict=False))
            for inner in walk(closed):
                array = arguments.get(inner.operands[0]) if inner.name == "load" else None
                if array in written or (array is not None and written and self.comparison.aliased):
                    overwritten.append(inner)
        return overwritten


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
