"""Dead code, and carried values that never change, removed.

Dead code is operations without effect whose results are unused. Need is found backwards from the effects, through
results of `if` and carried values of loops one by one, so that a value that a loop carries for itself alone is dropped.
A `while` that may go on for ever is an effect: what comes after it must not run, whoever needs its results. In
derivatives all loops end, since the kernel's did.

A carried value that never changes becomes the value it starts from. A loop backwards carries the cotangent of whatever
its loop carried, also where each turn yields it as it came: that of a sum, and the condition under which it counts. As
outer values they cost no register in a turn, and backends see a loop that carries less.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.ir.build import Rewriter, map_blocks, replace_body
from workbench.ir.ops import LASTING, LEAD, LOOPS, SLOT_WRITES, STRUCTURED
from workbench.ir.values import Block, Function, Op, Value
from workbench.passes.analysis.cost import constants
from workbench.passes.analysis.endless import ends


def prune(function: Function) -> Function:
    """Return the function without operations, results of `if` and carried values that no effect depends on.

    A `while` that is not known to end counts as an effect.
    """
    body = function.body
    known = constants(body) if "while" in body.op_names else {}
    return replace_body(function, _Liveness(body, lambda op: not ends(op, known)).rebuilt(body))


def prune_derivative(function: Function) -> Function:
    """Return a derivative without operations, results of `if` and carried values that no effect depends on.

    All its loops end, as the kernel's did: unlike in `prune`, no `while` counts as an effect.
    """
    return replace_body(function, _Liveness(function.body, lambda op: False).rebuilt(function.body))


class _Liveness:
    """Finds the operations, and the results and carried values of structured ones, that effects depend on.

    Attributes:
        lasts: returns whether a `while` counts as an effect.
        parent: the operation around each one, or None.
        made_by: by value, the operation that defines it, and its number among the results or carried values.
        kept: operations to keep.
        live: numbers of results and carried values to keep, with their operation.
        pending: values that are needed, and were not looked at yet.
        seen: values that are needed, and were looked at.
        writers: the operations that write to slots.
        sources: elements in a map's block, to the tiles that they come from.
    """

    def __init__(self, body: Block, lasts: Callable[[Op], bool]) -> None:
        self.lasts = lasts
        self.parent: dict[Op, Op | None] = {}
        self.made_by: dict[Value, tuple[Op, int | None]] = {}
        self.kept: set[Op] = set()
        self.live: set[tuple[Op, int]] = set()
        self.pending: list[Value] = []
        self.seen: set[Value] = set()
        self.writers: dict[Value, list[Op]] = {}
        self.sources: dict[Value, Value] = {}
        effects = self.index(body, None)
        for op in effects:
            self.keep(op)
        while self.pending:
            self.mark_live(self.pending.pop())

    def index(self, body: Block, parent: Op | None) -> list[Op]:
        """Record which operation defines each value; return the operations with an effect."""
        effects: list[Op] = []
        for op in body.ops:
            self.parent[op] = parent
            slotted = op.name in STRUCTURED or op.name == "tile_map"
            for slot, value in enumerate(op.results):
                self.made_by[value] = (op, slot if slotted else None)
            for inner in op.blocks:
                if op.name in ("tile_map", "tile_reduce"):
                    self.made_by.update((param, (op, None)) for param in inner.params)
                    elements = inner.params[-len(op.operands) :] if op.operands else ()
                    self.sources.update(zip(elements, op.operands, strict=True) if op.name == "tile_map" else ())
                    effects += self.index(inner, op)
                    continue
                lead = len(inner.params) - len(op.results) if op.name != "if" else 0
                for position, value in enumerate(inner.params):
                    self.made_by[value] = (op, position - lead if position >= lead else None)
                effects += self.index(inner, op)
            if op.name in SLOT_WRITES:
                self.writers.setdefault(op.operands[0], []).append(op)
            if op.name in LASTING or (op.name == "while" and self.lasts(op)):
                effects.append(op)
        return effects

    def keep(self, op: Op | None) -> None:
        """Keep an operation and those around it; the operands that these need in any case become pending."""
        while op is not None and op not in self.kept:
            self.kept.add(op)
            if op.name == "custom":
                self.pending += [*op.operands, *op.blocks[0].yielded]
            elif op.name in STRUCTURED:
                self.pending += op.operands[: LEAD[op.name]]
                if op.name == "while":
                    self.pending += op.blocks[0].yielded
            elif op.name == "tile_reduce":
                self.pending += [*op.operands, *(v for b in op.blocks for v in b.yielded)]
            elif op.name != "tile_map":
                self.pending += op.operands
            op = self.parent[op]

    def mark_live(self, value: Value) -> None:
        """Keep what defines a value and what writes to it; of a result or carried value, its sources become pending."""
        if value in self.seen or value not in self.made_by:
            return
        self.seen.add(value)
        op, slot = self.made_by[value]
        self.keep(op)
        for writer in self.writers.get(value, ()):
            self.keep(writer)
        if value in self.sources:
            self.pending.append(self.sources[value])
        if slot is None or (op, slot) in self.live:
            return
        self.live.add((op, slot))
        if op.name not in ("if", "tile_map"):
            self.pending.append(op.operands[LEAD[op.name] + slot])
        ends = op.blocks if op.name == "if" else op.blocks[-1:]
        self.pending += [block.yielded[slot] for block in ends]

    def rebuilt(self, block: Block) -> Block:
        """Return the block with the operations that are kept."""
        ops = [self.narrowed(op) if op.blocks else op for op in block.ops if op in self.kept or op.name == "yield"]
        return Block(block.params, tuple(ops))

    def narrowed(self, op: Op) -> Op:
        """Return a structured operation with its live results and carried values alone.

        A `custom` or `tile_reduce` keeps all of them.
        """
        if op.name in ("custom", "tile_reduce"):
            return map_blocks(op, self.rebuilt)
        if op.name == "tile_map":
            return self.narrowed_map(op)
        slots = [s for s in range(len(op.results)) if (op, s) in self.live]
        lead = LEAD[op.name]
        operands = op.operands[:lead]
        if op.name != "if":
            operands += tuple(op.operands[lead + s] for s in slots)
        blocks: list[Block] = []
        for number, inner in enumerate(op.blocks):
            body = self.rebuilt(inner)
            condition = op.name == "while" and number == 0
            blocks.append(_with_slots(body, slots, len(op.results) if op.name != "if" else 0, not condition))
        results = tuple(op.results[s] for s in slots)
        return op.replace(operands, results=results, blocks=tuple(blocks))

    def narrowed_map(self, op: Op) -> Op:
        """Return a map with its live results, and the operands that its block reads."""
        (block,) = op.blocks
        lead = len(block.params) - len(op.operands)
        pairs = [(p, v) for p, v in zip(block.params[lead:], op.operands, strict=True) if p in self.seen]
        slots = [s for s in range(len(op.results)) if (op, s) in self.live]
        params = (*block.params[:lead], *(p for p, _ in pairs))
        body = _with_slots(Block(params, self.rebuilt(block).ops), slots, 0, True)
        results = tuple(op.results[s] for s in slots)
        return op.replace(tuple(v for _, v in pairs), results=results, blocks=(body,))


def _with_slots(block: Block, slots: list[int], carried: int, narrow_yield: bool) -> Block:
    """Return a block with some of its carried parameters, and with what it yields for them.

    Args:
        block: of an `if`, a loop or a map.
        slots: numbers of the parameters and yielded values that stay.
        carried: how many of the last parameters are carried; 0: all parameters stay.
        narrow_yield: whether yielded values are dropped, too.
    """
    lead = len(block.params) - carried
    params = block.params[:lead] + tuple(block.params[lead + s] for s in slots) if carried else block.params
    if not narrow_yield:
        return Block(params, block.ops)
    last = block.ops[-1]
    end = Op("yield", tuple(last.operands[s] for s in slots), (), last.attrs, (), last.location)
    return Block(params, (*block.ops[:-1], end))


def unchanged(function: Function) -> Function:
    """Return the function with carried values that never change replaced by their starts.

    `prune` then drops what carried them. It is the function itself if there are none.

    >>> unchanged(function)  # for j in range(n): { s, t -> yield s, t + s } reads the outer s in each turn
    """
    starts: dict[Value, Value] = {}
    _find(function.body, starts)
    if not starts:
        return function
    mapping = {value: _resolved(value, starts) for value in starts}
    return replace_body(function, Rewriter(lambda _, op: None, mapping).block(function.body))


def _find(block: Block, starts: dict[Value, Value]) -> None:
    """Add the values of the block's loops that never change to `starts`, with their starting values, inner loops first.

    A value that an inner loop returns unchanged is then yielded unchanged by the outer one.
    """
    for op in block.ops:
        for inner in op.blocks:
            _find(inner, starts)
        if op.name not in LOOPS:
            continue
        for slot, result in enumerate(op.results):
            start = op.operands[LEAD[op.name] + slot]
            param, *tested = (b.params[len(b.params) - len(op.results) + slot] for b in reversed(op.blocks))
            if _resolved(op.blocks[-1].yielded[slot], starts) in (param, _resolved(start, starts)):
                starts.update((value, start) for value in (param, *tested, result))


def _resolved(value: Value, starts: dict[Value, Value]) -> Value:
    """Return the value that a chain of starts ends at; a value without a start as it is."""
    while value in starts:
        value = starts[value]
    return value
