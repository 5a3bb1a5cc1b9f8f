"""Panels: what neighbouring rows of threads read alike in a loop is read once for a block of rows, and held in slots.

A product's threads (i, j) read b[k, j] or b[j, k] for all k, whatever i is. Rows of b may lie so far apart that no
cache still holds what the next row of threads reads again, and b[j, k] is gathered. So a loop in front of the gangs of
a block of rows writes such elements to slots in the order in which they are read, and all these gangs read them there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import msgspec

from workbench.builtins import TABLE
from workbench.ir.build import Builder, copy_op, fresh, replace_body
from workbench.ir.ops import AXIS, EFFECTS, OPAQUE, PURE, REPORTS, TILED, UPDATES
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.limits import (
    GANG_DISTINCT_ARRAYS,
    GROUP_ROWS,
    PANEL_ITERATIONS,
    PANEL_LEAST,
    PANEL_LONG,
    PANEL_ROWS,
)
from workbench.passes.analysis.cost import constants
from workbench.passes.analysis.divergence import Neighbours, varying_values
from workbench.types import Scalar, int32, int64
from workbench.types import bool as bool_

_EXCLUDED = OPAQUE | TILED | REPORTS | UPDATES | {"while"}


class Paneled(msgspec.Struct, frozen=True):
    """A function as gangs of several rows run it.

    Attributes:
        function: the function. What fills its panels comes first, and is the same in all rows of a block.
        once: operations that compute these before all threads; none if there are no panels:
        fits: whether panels hold what loops read, which nothing changes.
        rows: how many rows of threads read the same panels, as int64.
    """

    function: Function
    once: tuple[Op, ...] = ()
    fits: Value | None = None
    rows: Value | None = None


def with_panels(function: Function) -> Paneled:
    """Return the function with panels for its outermost loops that read the same in all rows.

    Args:
        function: whose gangs span several rows.
    """
    paneled = _Panels(function).rewritten() if function.body.op_names.isdisjoint(_EXCLUDED) else None
    return paneled or Paneled(function)


class _Loop(msgspec.Struct):
    """A loop with panels.

    Attributes:
        op: the `for`.
        shared: the operations of its iterations that are the same in all rows.
        held: the loads whose elements its panels hold.
        gathers: these do not lie side by side in some load.
        used: whether panels are read, which is decided before all threads; None: whenever gangs have several rows.
    """

    op: Op
    shared: Sequence[Op]
    held: Sequence[Op]
    gathers: bool
    used: Value | None = None


class _Panels:
    """Finds what panels can hold, and writes the function with them.

    Attributes:
        function: the function.
        known: its constants.
        changed: the arrays that it changes.
        varying, by_row: the values that differ between the threads of a row, and between rows.
        outside: operations outside of loops that are the same in all rows, and only compute or load.
        once: of these, the ones that only compute, the same for all threads.
        slots, fill, tests: receive the slots, what fills them, and what tests whether they fit.
    """

    def __init__(self, function: Function) -> None:
        self.function, self.known = function, constants(function.body)
        self.changed = dict.fromkeys(op.operands[0] for op in walk(function.body) if op.name in EFFECTS)
        self.varying, self.by_row = varying_values(function), varying_values(function, axis=-2)
        self.near = Neighbours(function)
        self.outside = self._shared(function.body, set(function.params))
        differ = varying_values(function, besides=[o.result for o in walk(function.body) if o.name in ("tid", "load")])
        self.once = [op for op in self.outside if differ.isdisjoint(op.results)]
        self.slots, self.fill, self.tests = Builder(), Builder(), Builder()

    def rewritten(self) -> Paneled | None:
        """Return the function with panels; None if there are none."""
        loops = [loop for op in self.function.body.ops if op.name == "for" and (loop := self._loop(op))]
        if not loops:
            return None
        mapping: dict[Value, Value] = {}
        self.tests.extend(copy_op(op, mapping) for op in self.once)
        fits = list[Value]()
        for loop in loops:
            test = self._fits(loop, mapping)
            if loop.gathers:
                fits.append(test)
            else:
                loop.used = self._all("bit_and", [test, self._is_long(loop, mapping, PANEL_LEAST)])
        rows = self._rows(loops, mapping)
        instead = {loop.op: self._with_panels(loop) for loop in loops}
        fitting = self._all("bit_and", fits or [self.tests.const(True, bool_)])
        first = (*self.outside, *self.slots.body().ops, *self.fill.body().ops)
        rest = [instead.get(op, op) for op in self.function.body.ops if op not in self.outside]
        body = Block(self.function.body.params, (*first, *rest))
        return Paneled(replace_body(self.function, body), self.tests.body().ops, fitting, rows)

    def _shared(self, block: Block, known: set[Value]) -> list[Op]:
        """Return the operations of a block that only compute or load, from `known` values and the same in all rows."""
        shared = list[Op]()
        for op in block.ops:
            only = op.name in PURE or op.name in TABLE or (op.name == "load" and op.operands[0] not in self.changed)
            same = self.by_row.isdisjoint(op.results) and known.issuperset(op.operands)
            if only and same and not op.blocks and op.name != "yield":
                shared.append(op)
                known.update(op.results)
        return shared

    def _loop(self, op: Op) -> _Loop | None:
        """Return a loop with the values that panels are to hold; None if there are none.

        They are loaded in each iteration, the same in all rows, and differ within a row. All threads count alike.
        """
        (body,) = op.blocks
        start, stop, step = op.operands[:3]
        ends = {v for o in self.once for v in o.results} | set(self.function.params)
        if self.known.get(step) != 1 or not {start, stop} <= ends or body.params[0].type != int32:
            return None
        outside = {v for o in self.outside for v in o.results}
        shared = self._shared(body, {body.params[0], *self.function.params, *outside})
        others = [o for top in body.ops if top not in shared for o in (top, *(i for b in top.blocks for i in walk(b)))]
        used = {v for o in others for v in o.operands} & self.varying
        loads = [o for o in shared if o.name == "load" and o.result in used]
        held = [o for o in loads if isinstance(o.result.type, Scalar) and o.result.type.size >= 4]
        arrays = {o.operands[0] for o in (*self.outside, *shared) if o.name == "load"}
        few = len(arrays) * len(self.changed) <= GANG_DISTINCT_ARRAYS
        gathers = not all(self.near.is_contiguous(load) for load in held)
        return _Loop(op, shared, held, gathers) if held and few else None

    def _fits(self, loop: _Loop, mapping: Mapping[Value, Value]) -> Value:
        """Emit the test whether panels hold what a loop reads, and nothing changes that.

        Args:
            loop: the loop.
            mapping: the copies of the values that are computed once.
        """
        few = self.tests.one("le", (self._count(loop, mapping), self.tests.const(int(PANEL_ITERATIONS), int64)), bool_)
        arrays = dict.fromkeys(op.operands[0] for op in (*self.outside, *loop.shared) if op.name == "load")
        pairs = [(array, other) for array in arrays for other in self.changed]
        return self._all("bit_and", [few, *(self.tests.one("apart", pair, bool_) for pair in pairs)])

    def _rows(self, loops: Sequence[_Loop], mapping: Mapping[Value, Value]) -> Value:
        """Emit how many rows of threads read the same panels: few if loops are short, or the rows of a plane end."""
        b, axis = self.tests, self.function.launch_ndim - 2
        many = [loop.used or self._is_long(loop, mapping, PANEL_LONG) for loop in loops]
        long = self._all("bit_or", many)
        few = (4 if any(loop.gathers for loop in loops) else 1) * GROUP_ROWS
        if axis:
            rows = b.one("launch_dim", (), int64, {AXIS: axis})
            left = b.one("bit_and", (rows, b.const(PANEL_ROWS - 1, int64)), int64)
            long, few = self._all("bit_and", [long, b.one("eq", (left, b.const(0, int64)), bool_)]), GROUP_ROWS
        return b.one("where", (long, b.const(int(PANEL_ROWS), int64), b.const(int(few), int64)), int64)

    def _is_long(self, loop: _Loop, mapping: Mapping[Value, Value], least: int) -> Value:
        """Emit the test whether a loop has that many iterations at least."""
        return self.tests.one("ge", (self._count(loop, mapping), self.tests.const(int(least), int64)), bool_)

    def _count(self, loop: _Loop, mapping: Mapping[Value, Value]) -> Value:
        """Emit the number of a loop's iterations, as int64; it is negative or 0 if there are none."""
        self.tests.location = loop.op.location
        start, stop = (self.tests.cast(mapping.get(v, v), int64) for v in loop.op.operands[:2])
        return self.tests.one("sub", (stop, start), int64)

    def _all(self, name: str, conditions: Sequence[Value]) -> Value:
        """Emit an operation of two bools on all conditions, one after the other."""
        return reduce(lambda one, other: self.tests.one(name, (one, other), bool_), conditions)

    def _with_panels(self, loop: _Loop) -> Op:
        """Emit the slots of a loop's panels and what fills them; return the loop that reads them in its place."""
        types = [(load, load.result.type) for load in loop.held]
        panels = {op: self.slots.slots(t, PANEL_ITERATIONS) for op, t in types if isinstance(t, Scalar)}
        b, (start, stop, step) = self.fill, loop.op.operands[:3]
        b.location, counter = loop.op.location, fresh(loop.op.blocks[0].params[0])
        with b.block((counter,)) as body:
            mapping: dict[Value, Value] = {loop.op.blocks[0].params[0]: counter}
            b.extend(copy_op(op, mapping) for op in loop.shared)
            at = b.one("sub", (counter, start), int32)
            for load, panel in panels.items():
                b.slot_write(panel, at, mapping[load.result])
            b.yield_()
        if loop.used:
            stop = b.one("where", (loop.used, stop, start), int32)
        b.append(Op("for", (start, stop, step), (), loop.op.attrs, (body.block,), loop.op.location))
        return _reading(loop, panels)


def _reading(loop: _Loop, panels: Mapping[Op, Value]) -> Op:
    """Return a loop with reads of panels in place of what they hold, if they are used."""
    (body,) = loop.op.blocks
    b = Builder()
    b.location = loop.op.location
    at = b.one("sub", (body.params[0], loop.op.operands[0]), int32)
    for op in body.ops:
        panel = panels.get(op)
        if panel is None:
            b.append(op)
        elif loop.used is None:
            b.append(Op("slot_read", (panel, at), op.results, {}, (), op.location))
        else:
            with b.block() as then:
                b.yield_(b.slot_read(panel, at))
            with b.block() as orelse:
                b.yield_(b.append(op.replace(results=(fresh(op.result),))).result)
            b.append(Op("if", (loop.used,), op.results, {}, (then.block, orelse.block), op.location))
    return loop.op.replace(blocks=(Block(body.params, b.body().ops),))
