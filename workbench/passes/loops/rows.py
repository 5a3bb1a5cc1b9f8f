"""What is the same in all threads of a row, and the loops that they go through together (`abreast`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import inf

import msgspec

from workbench.builtins import TABLE
from workbench.ir.attributes import AXIS, INTERIOR, REDUCTION
from workbench.ir.ops import ACCESSES, EFFECTS, LEAD, LOOPS, PURE, STRUCTURED
from workbench.ir.values import Block, Function, Op, Value, array_of, definitions, indices_of, walk
from workbench.limits import UNROLLED_ITERATIONS, UNROLLED_NEST_OPERATIONS
from workbench.passes.analysis.cost import constants, known_trips
from workbench.passes.loops.divergent import sums_along
from workbench.types import Scalar, Vector, element, int32, int64, is_float, is_integer

SLOTTED = frozenset({"slots", "slot_read", "slot_write"})


class Wide(msgspec.Struct, frozen=True):
    """What a target can do for several threads at once.

    Attributes:
        arithmetic: whether it can do all that is done in a block.
        gathers: whether it loads elements that lie apart.
        rows: whether its registers suffice for groups of several rows.
        masks: whether it reads and writes a part of a vector.
    """

    arithmetic: Callable[[Block], bool]
    gathers: bool
    rows: bool = False
    masks: bool = False


NOTHING = Wide(lambda block: False, False)


class Along(msgspec.Struct, frozen=True):
    """What a loop accesses in a row of each thread's own, an element per turn: a[i, k] in turn k of thread i.

    Attributes:
        array, indices: of the element.
        axis: which of the indices is the thread's own.
        ops: the accesses, which all turns make.
    """

    array: Value
    indices: tuple[Value, ...]
    axis: int
    ops: tuple[Op, ...]


class Rows:
    """What is the same in all threads of a row, and the loops that they go through together.

    Attributes:
        same: values that are the same in all of them.
        unit: the thread's own index along the row plus something that is the same.
        alike: values that are the same for the threads of neighbouring rows that have the same place in these.
        loops: those that stand outside.
        counters: the numbers of what a `while` carries that is the same in all threads that are still in it.
        straight: operations that stand in these or in the body itself.
        along: by loop, what it accesses in rows of the threads' own.
    """

    def __init__(self, function: Function, wide: Wide = NOTHING, dense: bool = False) -> None:
        """As for `abreast`."""
        self.function, self.wide, self.dense = function, wide, dense
        self.axis = function.launch_ndim - 1
        self.known = constants(function.body)
        self.changed = {op.operands[0] for op in walk(function.body) if op.name in EFFECTS}
        self.same = {p for p in function.params if isinstance(p.type, (Scalar, Vector))}
        self.alike = set(self.same)
        self.unit: set[Value] = set()
        self.made = definitions(function.body)
        self.tids = [v for v, op in self.made.items() if op.name == "tid" and op.attrs[AXIS] == self.axis]
        self.loops: dict[Op, None] = {}  # in the order of the program
        self.counters: dict[Op, list[int]] = {}
        self._note(function.body)
        self.straight: set[Op] = set()
        self.find(function.body)
        self.along = {op: found for op in self.loops if (found := self.own_rows(op))}
        for op in tuple(self.loops):
            if self.stays_outside(op):
                self.find_inner(op.blocks[0])

    def _note(self, block: Block) -> None:
        for op in block.ops:
            if op.name == "tid":
                (self.unit if op.attrs[AXIS] == self.axis else self.same).update(op.results)
                if op.attrs[AXIS] != self.axis - 1:
                    self.alike.update(op.results)
            elif op.name == "shape" or self.is_the_same(op):
                self.same.update(op.results)
            elif op.name in ("cast", "add", "sub") and op.result.type in (int32, int64):
                units = [v for v in op.operands if v in self.unit]
                rest = [v for v in op.operands if v not in self.unit]
                if len(units) == 1 and units[0] is op.operands[0 if op.name == "sub" else op.operands.index(units[0])]:
                    if self.same.issuperset(rest):
                        self.unit.update(op.results)
            if op.name == "shape" or self.is_the_same(op, self.alike):
                self.alike.update(op.results)
            if op.name == "for" and (self.stays_outside(op) or self.is_aligned(op)):
                self.same.add(op.blocks[0].params[0])
            if op.name == "for" and self.alike.issuperset(op.operands[:3]):
                self.alike.add(op.blocks[0].params[0])
            if op.name == "while":
                self.counters[op] = self._counters(op)
                self.same.update(op.blocks[1].params[k] for k in self.counters[op])
            for inner in op.blocks:
                self._note(inner)

    def is_the_same(self, op: Op, among: set[Value] | None = None) -> bool:
        """Return whether all threads of a row have the same results; an element may be asked for once for all of them.

        Args:
            op: an operation.
            among: values that are the same; those of a row's threads if it is not given.
        """
        same = self.same if among is None else among
        if op.name in SLOTTED or op.name == "tid":
            return False
        if op.name == "load":
            return op.operands[0] not in self.changed and same.issuperset(op.operands[1:])
        return (op.name in PURE or op.name in TABLE) and not op.blocks and same.issuperset(op.operands)

    def find(self, block: Block) -> None:
        """Look for such loops in a block that all threads of a row run."""
        self.straight.update(block.ops)
        for op in block.ops:
            if op.name == "if" and op.attrs.get(INTERIOR):
                self.find(op.blocks[0])
            if op.name in LOOPS and self.is_long(op) and self.goes(op):
                self.loops[op] = None
                self.find(op.blocks[-1])

    def goes(self, op: Op) -> bool:
        """Return whether a group goes through a loop together."""
        if not self.stays_outside(op):
            apart = is_rotated(op) or self.is_aligned(op)
            if not apart or not self.wide.arithmetic(op.blocks[-1]) or sums_along(op, self.made, self.nearby):
                return False
        return self.pays(op)

    def find_inner(self, block: Block) -> None:
        """Short loops in those that were found stand outside, too: a nest in one piece."""
        for op in block.ops:
            accesses = any(o.name in ACCESSES for o in with_blocks((op,)))
            if accesses and self.stays_outside(op) and op not in self.loops:
                self.loops[op] = None
                self.straight.update(op.blocks[0].ops)
                self.find_inner(op.blocks[0])

    def pays(self, op: Op) -> bool:
        """Whether in each turn neighbours access neighbours, or all the same element, and no loop is in the way."""
        for inner in op.blocks[-1].ops:
            long = [o for o in with_blocks((inner,)) if self.is_long(o)]
            if long and not (long[0] is inner and self.goes(inner)):
                return False
        gathered = self.wide.gathers and not self.stays_outside(op)
        near = EFFECTS if gathered else ACCESSES
        along = {o for loop in with_blocks((op,)) for row in self.own_rows(loop) for o in row.ops}
        return all(o in along or self.nearby(o) for o in walk(op.blocks[-1]) if o.name in near)

    def own_rows(self, op: Op) -> list[Along]:
        """What a loop accesses in rows of the threads' own; nothing if LLVM can do its turns side by side.

        Elements are read before the turns that ask for them: so all turns have to access them, and an array that the
        loop changes has to be accessed there only.
        """
        upwards = op.name == "for" and self.known.get(op.operands[2]) == 1 and op.operands[0].type == int32
        if not (self.dense and upwards and self.stays_outside(op) and self.is_long(op)):
            return []
        if not any(is_float(v.type) for v in initial(op)):
            return []
        (body,) = op.blocks
        places: dict[tuple[Value, ...], list[Op]] = {}
        for o in body.ops:
            if o.name in ("load", "store") and self.is_own_row(o, body.params[0]):
                places.setdefault((o.operands[0], *indices_of(o)), []).append(o)
        found: list[Along] = []
        for (array, *at), ops in places.items():
            every = [o for o in walk(body) if o.name in ACCESSES and o.operands[0] is array]
            if not any(o.name in EFFECTS for o in every):
                ops = [o for o in every if indices_of(o) == tuple(at)]
            elif len(every) > len(ops):
                continue
            axis = next(n for n, v in enumerate(at) if v in self.unit)
            found.append(Along(array, tuple(at), axis, tuple(ops)))
        return found

    def is_own_row(self, op: Op, counter: Value) -> bool:
        """Return whether it accesses, in the turn that is counted so, an element of a row of the thread's own."""
        array, (*outer, last) = array_of(op.operands[0]), indices_of(op)
        if last is not counter or array.pitch or not isinstance(array.dtype, Scalar) or array.dtype.size < 4:
            return False
        own = [v for v in outer if v in self.unit]
        return len(own) == 1 and self.same.issuperset(v for v in outer if v is not own[0])

    def is_long(self, op: Op) -> bool:
        """Return whether it is a loop that LLVM does not write out."""
        trips = known_trips(op, self.known)
        return op.name in LOOPS and (
            trips is None or trips > UNROLLED_ITERATIONS or self.written_out(op) > UNROLLED_NEST_OPERATIONS
        )

    def written_out(self, op: Op) -> float:
        """Operations of a loop in which there are others, if all their turns are written one after the other."""
        body = op.blocks[0]
        return self._cost(op) if any(o.name in LOOPS for o in walk(body)) else 0

    def _cost(self, op: Op) -> float:
        trips = known_trips(op, self.known) if op.name in LOOPS else 1
        return inf if trips is None else trips * (1 + sum(self._cost(o) for b in op.blocks for o in b.ops))

    def is_common_value(self, op: Op) -> bool:
        """Return whether it is computed once for a group."""
        return op.name not in STRUCTURED and bool(op.results) and self.same.issuperset(op.results)

    def is_common_place(self, op: Op) -> bool:
        """Return whether all threads add to one element a sum that is better made first."""
        return (
            not is_combined(op)
            and self.same.issuperset(op.operands[1:-1])
            and not element(op.operands[-1].type).is_half
        )

    def waits(self, op: Op, part: Iterable[Op]) -> bool:
        """Return whether it comes after all that the part does: in a row of one thread, two arguments may be one array.

        What is asked for once stands before the part's loop, and a sum of all threads behind it.
        """
        if self.is_common_value(op):
            return op.name == "load" and any(o.name in EFFECTS for o in with_blocks(part))
        reads = any(o.name in ACCESSES and o.name != "atomic_add" for o in with_blocks((op,)))
        return reads and any(o.name == "atomic_add" and self.is_common_place(o) for o in part)

    def stays_outside(self, op: Op) -> bool:
        """Return whether it may stand outside: a row's threads make the same turns of it."""
        return op.name == "for" and self.same.issuperset(op.operands[:3])

    def apart(self) -> bool:
        """Return whether threads make turns of their own in some loop."""
        return any(not self.stays_outside(op) for op in self.loops)

    def unaligned(self) -> list[Op]:
        """Loops upwards, not of plain sums, that threads begin and end in turns of their own."""
        loops = [op for op in walk(self.function.body) if op.name == "for" and self.known.get(op.operands[2]) == 1]
        found = [op for op in loops if any(o.name in STRUCTURED for o in op.blocks[0].ops)]
        narrow = [op for op in found if op.operands[0].type in (int32, int64)]
        return [op for op in narrow if self.same.isdisjoint(op.operands[:2]) and self.wide.arithmetic(op.blocks[0])]

    def is_aligned(self, op: Op) -> bool:
        """Return whether threads begin or end it in the same turn, and make turns one by one."""
        if op.name != "for" or abs(self.known.get(op.operands[2], 0)) != 1:
            return False
        return sum(v in self.same for v in op.operands[:2]) == 1

    def _counters(self, op: Op) -> list[int]:
        body = op.blocks[1]
        found: list[int] = []
        for k, (first, following) in enumerate(zip(op.operands, body.yielded, strict=True)):
            step = self.made.get(following)
            if first not in self.same or step is None or step not in body.ops or step.name not in ("add", "sub"):
                continue
            x, y = step.operands
            if x is body.params[k] and y is not x and (y in self.same or y in self.known) and is_integer(x.type):
                found.append(k)
        return found

    def nearby(self, op: Op) -> bool:
        """Return whether neighbouring threads access neighbouring elements, or all of them the same one."""
        if is_combined(op):
            return True
        *outer, last = indices_of(op)
        return self.same.issuperset(outer) and (last in self.same or last in self.unit)

    def maskable(self, body: Block) -> bool:
        """Return whether threads that are not there can go along, if only their accesses to arrays are left out.

        Loops of their own might not end, and what is not a number of 32 or 64 bits has no masked access.
        """
        for op in walk(body) if self.wide.masks else ():
            if op.name in SLOTTED or (op.name in LOOPS and op not in self.loops):
                return False
            if op.name in ACCESSES and not self.is_common_value(op):
                kind = array_of(op.operands[0]).dtype
                if op.name not in ("load", "store") or not isinstance(kind, Scalar) or kind.size < 4:
                    return False
                if not self.nearby(op):
                    return False
        return self.wide.masks

    def has_room(self, op: Op) -> bool:
        """Return whether a thread's slots, or an access to them, can be those of a group."""
        return op in self.straight and (op.name == "slots" or op.operands[1] in self.same)

    def independent(self, operations: Iterable[Op]) -> bool:
        """Whether no thread sees what another one writes: each array is read, or written, or each thread's own."""
        used = {v for op in operations for v in op.operands}
        arrays: dict[Value, list[Op]] = {}
        for op in operations:
            if op.name in ACCESSES:
                arrays.setdefault(op.operands[0], []).append(op)
            if op.name == "atomic_add" and not used.isdisjoint(op.results):
                return False
            # The body is written twice: both have to change what is surely the same element.
            if is_combined(op) and not self.known.keys() >= set(indices_of(op)):
                return False
            if op.name in SLOTTED and not self.has_room(op):
                return False
        for ops in arrays.values():
            names = {op.name for op in ops}
            # In one of the indices all accesses have the same number, which is the thread's own.
            columns = zip(*(indices_of(op) for op in ops), strict=True)
            own = any(column[0] in self.unit and len(set(column)) == 1 for column in columns)
            if len(names) > 1 and names & EFFECTS and not own:
                return False
        return True

    def is_alike_place(self, op: Op) -> bool:
        """Return whether the threads of neighbouring rows add to one element."""
        added = op.name == "atomic_add" and not element(op.operands[-1].type).is_half
        return added and self.alike.issuperset(op.operands[1:-1])

    def touch_rows(self, part: Iterable[Op]) -> bool:
        """Return whether a part changes elements that differ between rows, but for sums that stand behind it."""
        changes = (op for op in with_blocks(part) if op.name in EFFECTS)
        return any(
            not self.alike.issuperset(indices_of(op)) and not (op.name == "atomic_add" and self.is_common_place(op))
            for op in changes
        )

    def are_alike(self, operations: Iterable[Op]) -> bool:
        """Return whether several rows can go through the loops together, and thereby access fewer elements."""
        operations = tuple(operations)
        loops = {o for loop in self.loops for o in walk(loop.blocks[-1])}
        shared = [
            o for o in operations
            if o in loops and o.name in ("load", "atomic_add") and self.alike.issuperset(indices_of(o))
        ]  # fmt: skip
        if self.axis < 1 or all(self.same.issuperset(indices_of(o)) for o in shared):
            return False
        # Without a mask: all threads of all these rows make the same turns.
        if not all(self.stays_outside(op) and self.alike.issuperset(op.operands[:3]) for op in self.loops):
            return False
        if any(o.name in SLOTTED or is_combined(o) or o.attrs.get(INTERIOR) for o in operations):
            return False
        # A row must not see what another one wrote.
        rows = {v for v, op in self.made.items() if op.name == "tid" and op.attrs[AXIS] == self.axis - 1}
        names: dict[Value, set[str]] = {}
        for op in operations:
            if op.name in ACCESSES:
                names.setdefault(op.operands[0], set()).add(op.name)
        mixed = {array for array, found in names.items() if len(found) > 1 and found & EFFECTS}
        return all(
            rows.intersection(indices_of(o)) for o in operations if o.name in ACCESSES and o.operands[0] in mixed
        )


def is_rotated(op: Op) -> bool:
    """Return whether it is a `while` that carries whether it goes on (`divergent.rotated`)."""
    return op.name == "while" and len(op.blocks[0].ops) == 1 and op.blocks[0].yielded[0] in op.blocks[0].params


def is_combined(op: Op) -> bool:
    """Return whether all threads change one element, and the backend combines that (`passes/reductions`)."""
    return op.name == "reduce_add" or bool(op.attrs.get(REDUCTION))


def initial(op: Op) -> tuple[Value, ...]:
    """What a loop's carried values are in its first turn."""
    return op.operands[LEAD[op.name] :]


def added_type(op: Op) -> Scalar | Vector:
    """The type of what is added: of an element, or of the component that the addition is confined to."""
    type = op.operands[-1].type
    assert isinstance(type, (Scalar, Vector))
    return type


def with_blocks(ops: Iterable[Op]) -> Iterator[Op]:
    """The operations, and those in their blocks."""
    for op in ops:
        yield op
        for block in op.blocks:
            yield from walk(block)
