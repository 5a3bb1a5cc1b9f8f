"""The assignment of tiles to storage, and the tiles that are needed at the same time.

Where a tile is needed no more, what is made from it element by element takes its place, and a loop's next value that of
the one before. Decided by interference on the structured IR, as for scalars (`backends/cuda/cpp/locals.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.backends.cuda.cpp.locals import Classes
from workbench.backends.cuda.tiles.placement.plan import Plan, crossing, flowing, ties, uniform_ops
from workbench.ir.ops import LOOPS, STRUCTURED
from workbench.ir.values import Block, Op, Value
from workbench.tiles import is_tile

# Operations whose result may take the place of these operands, each thread reading an element before it writes it.
_IN_PLACE = {"tile_map": slice(None), "tile_insert": slice(0, 1), "tile_place": slice(0, 1), "tile_matmul": slice(2, 3)}


class Storage:
    """The assignment of a kernel's tiles to storage by liveness: tiles never needed at once may share one."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.classes = Classes()
        self._around: dict[Op, set[Value]] = {}
        body = plan.function.body
        for result, param in ties(uniform_ops(body)):
            self.classes.join(result, param)
        self._block(body, set())
        for op in uniform_ops(body):
            self._share(op)

    def of(self, value: Value) -> Value:
        """Return the tile that represents the storage of a tile, which must not be a view."""
        return self.classes.of(value)

    def is_exclusive(self, value: Value) -> bool:
        """Return whether no other tile shares the tile's storage."""
        return len(self.classes.members(value)) == 1

    def around(self, op: Op) -> set[Value]:
        """Return the storages, by their representatives, that are needed before, in or after an operation."""
        return {self.of(v) for v in self._around.get(op, ())}

    def _roots(self, values: Iterable[Value]) -> set[Value]:
        """Return the storages of the tiles among these values, by their representatives; views count as their roots."""
        return {self.of(self.plan.root(v)) for v in values if is_tile(v)}

    def _add_interference(self, values: set[Value], live: set[Value]) -> None:
        """Record that each of these storages is needed at the same time as all of `live`."""
        for value in values:
            self.classes.add_interference(value, live)

    def _block(self, block: Block, live: set[Value]) -> set[Value]:
        """Walk a block backwards from the storages that are needed after it; return those that are needed before it."""
        live = set(live)
        for op in reversed(block.ops):
            if op.name == "if":
                live = self._if(op, live)
            elif op.name in LOOPS:
                live = self._loop(op, live)
            else:
                # A view has no storage; reading it keeps its root.
                results = {v for v in op.results if is_tile(v) and v not in self.plan.views}
                read = self._roots(op.operands)
                self._around[op] = live | results | read
                # Results of one operation are written together, so they interfere with each other as well.
                self._add_interference(results, live | results)
                live = (live - results) | read
        return live

    def _if(self, op: Op, live: set[Value]) -> set[Value]:
        """Walk an `if` backwards from the storages that are needed after it; return those that are needed before it."""
        results = self._roots(op.results)
        after = live - results
        self._add_interference(results, after | results)
        self._around[op] = live | results
        before: set[Value] = set()
        for block in op.blocks:
            # What a branch ends with is copied to the results while all of it is still needed.
            self._around[block.ops[-1]] = live | results | self._roots(block.yielded)
            before |= self._block(block, after | self._roots(block.yielded))
        return before

    def _loop(self, op: Op, live: set[Value]) -> set[Value]:
        """Walk a loop backwards from the storages that are needed after it; return those that are needed before it."""
        carried = self._roots(op.results)
        outside = (live - carried) | self._from_outside(op)
        self._add_interference(carried, outside | carried)
        init = self._roots(op.operands)
        self._around[op] = outside | carried | init
        body = op.blocks[-1]
        after_turn = outside | self._roots(body.yielded)
        entering = self._block(body, after_turn)
        if op.name == "while":
            # The condition runs before each turn and once more at the end: what either needs is needed in it.
            self._block(op.blocks[0], outside | entering | (live & carried))
        self._around[body.ops[-1]] = after_turn | carried
        return outside | init

    def _from_outside(self, op: Op) -> set[Value]:
        """Return the storages that are read inside a loop and defined outside of it."""
        inside, read = self._roots(op.results), set[Value]()
        for block in op.blocks:
            for inner in uniform_ops(block):
                inside |= {self.of(v) for v in inner.results if is_tile(v) and v not in self.plan.views}
                read |= self._roots(inner.operands)
        return read - inside

    def _share(self, op: Op) -> None:
        """Let an operation's results share storage with the tiles that they replace, unless both are needed at once."""
        pairs: list[tuple[Value, Value]] = []
        if op.name in _IN_PLACE and op.results:
            # In place only what each thread reads at its own elements: another thread might be ahead with its writes.
            others = self._roots(v for v in op.operands if v in self.plan.views) | self._roots(crossing(op))
            mine = [v for v in op.operands[_IN_PLACE[op.name]] if is_tile(v) and self.of(v) not in others]
            pairs += ((r, v) for r in op.results for v in mine)
        elif op.name in STRUCTURED:
            pairs += flowing(op)
        for result, value in pairs:
            self._try(result, value)

    def _try(self, a: Value, b: Value) -> None:
        """Join the storages of two tiles of one type, memory and layout, unless both are needed at the same time."""
        views, layouts, shared = self.plan.views, self.plan.layouts, self.plan.shared
        if a in views or b in views or a.type != b.type or (a in shared) != (b in shared):
            return
        if layouts.get(a) == layouts.get(b):
            self.classes.join_unless_met(a, b)
