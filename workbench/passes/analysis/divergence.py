"""Differences between threads: their values, the elements that they access, and the order in which they add.

**Values** (`varying_values`) that differ between the threads of a row are computed to a fixed point. All others are
*uniform*: the same for all threads of a gang that compute them, and so kept in scalar registers.

**Elements** (`Neighbours`). If an index differs by the same number from each thread to the next, the elements are as
far apart, and a gang accesses them as vectors. This also holds for the counter of a loop that threads begin at
different numbers and advance by the same (`advancing`).

**The order of sums** (`sum_order`) of floats, which depend on the order of their terms, is fixed before any target is
known. How a launch may be divided among cores follows from which threads may add to one element (`design/cpu.md` has
the table), and code that adds is the same for any number of cores.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from workbench.deep import with_deep_stack
from workbench.ir.analysis import Analysis, Atom
from workbench.ir.ops import AXIS, INTERIOR, LEAD, LOOPS, READS, REDUCTION, SCALAR, UPDATES, VALUE
from workbench.ir.values import Block, Function, Op, Value, component_of, indices_of, walk
from workbench.types import Kind, Slots, element, is_integer


def varying_values(function: Function, axis: int = -1, besides: Iterable[Value] = ()) -> frozenset[Value]:
    """Return the values that may differ between threads that differ in one of the launch's indices alone.

    Args:
        function: the function.
        axis: the index, counted from the end: -1 for the last one. Without such an axis, only `besides` is a source.
        besides: values that are taken to differ, too.
    """
    return _varying(function, function.launch_ndim + axis, frozenset(besides))


@lru_cache(maxsize=8)  # emitters ask about the same function again and again
def _varying(function: Function, axis: int, besides: frozenset[Value]) -> frozenset[Value]:
    """Return the values that may differ between threads that differ in their index along one axis alone, cached.

    Args:
        function: the function.
        axis: of the launch, counted from the first one.
        besides: values that are taken to differ, too.
    """
    return frozenset(_Analysis(function, axis, besides).varying)


def is_divergent(op: Op, varying: frozenset[Value] | set[Value]) -> bool:
    """Return whether threads that run together may take different branches of an `if`, or leave a loop apart.

    Those inside and those at a border (`INTERIOR`) do not run together.

    Args:
        op: an `if` or a loop.
        varying: the values that differ between the threads.
    """
    if op.attrs.get(INTERIOR):
        return False
    if op.name == "while":
        return op.blocks[0].yielded[0] in varying
    return not varying.isdisjoint(op.operands[: LEAD[op.name]])


def advancing(loop: Op, varying: frozenset[Value] | set[Value]) -> dict[Value, Value]:
    """Return the parameters of a loop's blocks that change by the same in all threads, and what each begins with.

    Threads that have not left the loop are in the same iteration, so they stay as far apart as they begin. These are
    the index of a `for`, and carried integers to which an iteration adds, or from which it subtracts, a number. There
    are none where threads begin at different times to end together: they share the index, which is not in `varying`.
    """
    body, starts = loop.blocks[-1], dict[Value, Value]()
    if loop.name == "for" and loop.operands[0] in varying and body.params[0] not in varying:
        return starts
    definitions = {op.result: op for op in body.ops if op.name in ("add", "sub")}
    lead = LEAD[loop.name]
    if lead and loop.operands[2] not in varying:
        starts[body.params[0]] = loop.operands[0]
    carried = body.params[1 if lead else 0 :]
    for k, (param, following) in enumerate(zip(carried, body.yielded, strict=True)):
        op = definitions.get(following)
        if op is None or param not in op.operands or not is_integer(param.type):
            continue
        first, second = op.operands
        by = second if param is first else first
        if by not in varying and (op.name == "add" or param is first):
            starts |= {block.params[k - len(carried)]: loop.operands[lead + k] for block in loop.blocks}
    return starts


class Neighbours:
    """The distances between the elements that neighbouring threads access, along one axis of the launch.

    Attributes:
        analysis: of the function.
        varying: the values that differ between the threads.
        tid: the threads' index along the axis.
        starts: the parameters of loops that change by the same in all threads, and what each begins with.
    """

    def __init__(self, function: Function, axis: int | None = None) -> None:
        """Analyse a function, for threads along an axis; None: the last one, along which they are a row."""
        axis = function.launch_ndim - 1 if axis is None else axis
        self.analysis, self.varying = Analysis(function), varying_values(function, axis - function.launch_ndim)
        self.tid = Atom("tid", axis=axis)
        loops = [op for op in walk(function.body) if op.name in LOOPS]
        self.starts = {param: start for op in loops for param, start in advancing(op, self.varying).items()}

    def step(self, value: Value, alone: bool = False) -> int | None:
        """Return by how much a value differs between neighbouring threads; None if that is not always the same.

        An index that would count from the end if it were negative is taken not to be. With `alone`, the thread's index
        alone makes the difference: no counter of a loop does, and no index may be negative.
        """
        if value not in self.varying:
            return 0
        op = self.analysis.defs.get(value)
        if op is not None and op.name == "wrap_index" and not alone:
            return self.step(op.operands[0]) if op.operands[1] not in self.varying else None
        total = 0
        for atom, n in self.analysis.form(value).terms.items():
            start = self.starts.get(atom.value) if atom.value in self.varying and not alone else None
            apart = 1 if atom == self.tid else 0 if atom.value not in self.varying else start and self.step(start)
            if apart is None:
                return None
            total += n * apart
        return total

    def is_linear(self, op: Op, alone: bool = False) -> bool:
        """Return whether the elements that neighbouring threads access are always the same distance apart.

        With `alone`, as in `step`.
        """
        return all(self.step(v, alone) is not None for v in self._indices(op))

    def is_uniform(self, op: Op) -> bool:
        """Return whether all threads of a row access the same element."""
        return self.varying.isdisjoint(self._indices(op))

    def is_contiguous(self, op: Op, steps: Sequence[int] = (0, 1)) -> bool:
        """Return whether neighbouring threads access elements that are one of `steps` apart along the last axis alone.

        By default these are the same or the next element.
        """
        *outer, last = indices_of(op)
        return self.step(last) in steps and self.varying.isdisjoint(outer)

    def _indices(self, op: Op) -> tuple[Value, ...]:
        """Return the indices of an access, and behind them its component if it accesses one component alone."""
        component = component_of(op)
        return (*indices_of(op), component) if component is not None else indices_of(op)


_SHARED = frozenset({"lead", "quotient_is"})
"""Operations of a gang, whose result is the same for all its threads."""


class _Analysis:
    """The values that differ between threads along an axis of the launch, computed to a fixed point.

    Attributes:
        axis: of the launch, counted from the first one.
        single: constants that are 1 or -1.
        varying: the values that differ.
    """

    def __init__(self, function: Function, axis: int, besides: Iterable[Value]) -> None:
        self.axis = axis
        operations = walk(function.body)
        self.single = {op.result for op in operations if op.name == "const" and op.attrs[VALUE] in (1, -1)}
        self.varying: set[Value] = set(besides)
        before = -1
        while len(self.varying) != before:
            before = len(self.varying)
            self.block(function.body, False)

    def block(self, block: Block, divergent: bool) -> None:
        """Add a block's values that vary to `varying`; with `divergent`, threads may run it at different times."""
        for op in block.ops:
            ways = op.name in LEAD and (bool(op.attrs.get(SCALAR)) or is_divergent(op, self.varying))
            for inner in op.blocks:
                self.block(inner, divergent or ways)
            if op.name == "if":
                self.merge(op, op.results, [b.yielded for b in op.blocks])
            elif op.name == "for":
                index, *carried = op.blocks[0].params
                start, stop, step = op.operands[:3]
                if start in self.varying and stop not in self.varying and step in self.single:
                    self.varying.update(carried)  # threads end together, with the same index
                elif start in self.varying or step in self.varying:
                    self.varying.add(index)
                self.carry(op, [carried], op.operands[3:], op.blocks[0])
            elif op.name == "while":
                self.carry(op, [b.params for b in op.blocks], op.operands, op.blocks[1])
            elif op.name not in _SHARED and (
                op.name in UPDATES
                or not self.varying.isdisjoint(op.operands)
                or (op.name == "tid" and op.attrs[AXIS] == self.axis)
            ):
                self.varying.update(op.results)
            if op.name in ("slot_read", "slot_write"):
                # All threads have the same in them where they write the same, together, and look at the same elements.
                if (divergent and op.name == "slot_write") or not self.varying.isdisjoint(op.operands[1:]):
                    self.varying.add(op.operands[0])
            else:
                for value in op.operands:
                    if isinstance(value.type, Slots):
                        self.varying.add(value)

    def merge(self, op: Op, results: Sequence[Value], ways: Sequence[Sequence[Value]]) -> None:
        """Add results that vary to `varying`: an operation's results are the values of one of several branches."""
        differs = is_divergent(op, self.varying)
        for result, *values in zip(results, *ways, strict=True):
            if differs or not self.varying.isdisjoint(values):
                self.varying.add(result)

    def carry(self, op: Op, params: Sequence[Sequence[Value]], init: Sequence[Value], body: Block) -> None:
        """Add carried values and results of a loop that vary to `varying`.

        Threads that have not left the loop are all in the same iteration.
        """
        differs = is_divergent(op, self.varying)
        for first, following, result, *own in zip(init, body.yielded, op.results, *params, strict=True):
            if not self.varying.isdisjoint((first, following, *own)):
                self.varying.update(own)
            if differs or not self.varying.isdisjoint(own):
                self.varying.add(result)


FREE: Final = "free"
"""Sharing in which no two threads add a float to one element: any part of a launch may run on any core."""
ROWS: Final = "rows"
"""Sharing in which only threads of one row (or plane) add to one element: a row runs on one core, in order."""
LAUNCH: Final = "launch"
"""Sharing in which threads of several rows add to one element, at indices that do not depend on data.

The launch runs on one core, in order.
"""
DATA: Final = "data"
"""Sharing in which data decide which threads add to one element.

Their order is fixed within what one core runs, and not beyond.
"""


class SumOrder(msgspec.Struct, frozen=True):
    """The way in which a function's threads share elements to which they add floats.

    Attributes:
        sharing: `FREE`, `ROWS`, `LAUNCH` or `DATA`.
        axes: for `ROWS`: how many leading axes of the launch tell elements apart; else 0.
    """

    sharing: str = FREE
    axes: int = 0

    @property
    def is_fixed(self) -> bool:
        """True if threads share elements in an order that is always the same, since one core runs them."""
        return self.sharing in (ROWS, LAUNCH)


@with_deep_stack
def sum_order(function: Function) -> SumOrder:
    """Return how the function's threads share elements to which they add floats.

    Sums of all threads (`REDUCTION`), which are combined, are left out. A kernel of tiles that adds at all has `DATA`.

    sum_order(row_sums)    # SumOrder("rows", 1) of `wb.atomic_add(y, i, x[i, j])`
    """
    changes: dict[Value, list[Op]] = defaultdict(list)
    for op in walk(function.body):
        if op.name in _CHANGES and not op.attrs.get(REDUCTION) and _adds_floats(op):
            changes[op.operands[0]].append(op)
    if not changes or function.block_dim:
        return SumOrder(DATA if changes else FREE)
    analysis = Analysis(function)
    if any(_depends_on_data(analysis, v) for ops in changes.values() for op in ops for v in indices_of(op)):
        return SumOrder(DATA)
    axes = 0
    while axes < function.launch_ndim and all(analysis.own_positions(axes, ops) for ops in changes.values()):
        axes += 1
    if axes == function.launch_ndim and axes:
        return SumOrder(FREE)
    return SumOrder(ROWS, axes) if axes else SumOrder(LAUNCH)


_CHANGES = frozenset({"atomic_add", "atomic_swap"})
"""Changes on whose order the bits of floats depend; `atomic_swap` ends a loop that multiplies, say."""


def _adds_floats(op: Op) -> bool:
    """Return whether an operation that changes an element, such as `atomic_add`, does so by floats."""
    return element(op.operands[-1].type).kind is Kind.FLOAT


def _depends_on_data(analysis: Analysis, value: Value) -> bool:
    """Return whether an index is computed from elements of arrays, or from what a loop carries."""
    seen, waiting = set[Value](), [value]
    while waiting:
        one = waiting.pop()
        if one in seen or one in analysis.params:
            continue
        seen.add(one)
        op, loop = analysis.defs.get(one), analysis.counters.get(one)
        if loop is not None:
            waiting += [loop.operands[0], loop.operands[2]]
        elif op is None or op.name in READS or op.name in ("for", "while", "slot_read"):
            return True
        else:
            waiting += op.operands
            waiting += [v for block in op.blocks for v in block.yielded]
    return False
