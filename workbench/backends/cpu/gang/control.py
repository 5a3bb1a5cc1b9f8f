"""`if`, `for` and `while` of a gang whose threads go different ways: masks, and loops until no lane is left."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from workbench.backends.cpu.emit.effects.look import look_seldom
from workbench.backends.cpu.emit.structured import iterations
from workbench.backends.cpu.emit.types import register
from workbench.backends.cpu.gang.emitter import DIVISIONS, GangEmitter
from workbench.backends.cpu.gang.lanes import each_lane
from workbench.backends.cpu.gang.memory import is_bad_under_mask
from workbench.backends.cpu.gang.width import is_retry
from workbench.backends.llvm.values import vector
from workbench.builtins import TABLE
from workbench.ir.ops import ACCESSES, CHEAP, LOOPS, SCALAR
from workbench.ir.values import Block, Op, Value, carried_params, walk
from workbench.limits import GANG_STRAIGHT_OPERATIONS, GANG_TWICE_OPERATIONS
from workbench.passes.analysis.divergence import advancing
from workbench.types import element, int32, int64

_STRAIGHT = CHEAP | {"yield", "vec", "insert"}
_INSTRUCTIONS = frozenset({"llvm.fabs", "llvm.sqrt", "llvm.floor", "llvm.ceil", "llvm.trunc", "llvm.rint", "llvm.fma"})


def _is_straight(block: Block) -> bool:
    """Return whether a block is a few cheap instructions without effects, no more than a branch around it costs."""
    operations = list(walk(block))
    return len(operations) <= GANG_STRAIGHT_OPERATIONS and all(map(_is_instruction, operations))


def _is_instruction(op: Op) -> bool:
    """Return whether an operation is cheap, an `if`, or a builtin that LLVM has an instruction for."""
    if op.name in _STRAIGHT or op.name == "if":
        return True
    native = TABLE[op.name].llvm if op.name in TABLE and op.name not in DIVISIONS else None
    return isinstance(native, dict) or native in _INSTRUCTIONS


def emit_if(emitter: GangEmitter, op: Op) -> None:
    """Emit an `if` of a gang.

    Where lanes differ, each side runs under the mask of the lanes that take it, and is skipped if there are none. Where
    all lanes agree it is a branch; one marked as scalar runs lane by lane. Where rows differ, each row has its own.
    """
    if emitter.rows > 1 and not emitter.by_row.isdisjoint(op.operands):
        for row in range(emitter.rows):
            with emitter.alone(row):
                emit_if(emitter, op)
        return
    if op.attrs.get(SCALAR):
        each_lane(emitter, op)
        return
    if not emitter.is_divergent(op):
        emitter.structured(op)
        return
    outer = emitter.masks
    conditions = emitter.of_all_parts(op.operands[0])
    sides, masks = [], dict[bool, list[str]]()
    for block, holds in zip(op.blocks, (True, False), strict=True):
        if not block.ops or (len(block.ops) == 1 and block.ops[0].name == "yield"):
            sides.append([emitter.of_all_parts(v) for v in block.yielded])
            continue
        own = conditions if holds else map(emitter.negated, conditions)
        emitter.masks = masks[holds] = [emitter.both(m, c) for m, c in zip(outer, own, strict=True)]
        sides.append(_side(emitter, block, op.results, full=not any(outer)))
    emitter.masks = outer
    if not masks:
        masks[True] = list(conditions)
    chosen, (on_side, off_side) = (masks[True], sides) if True in masks else (masks[False], sides[::-1])
    for result, on, off in zip(op.results, on_side, off_side, strict=True):
        emitter.bind(result, emitter.chosen(chosen, result, on, off))


def _side(emitter: GangEmitter, block: Block, results: Sequence[Value], full: bool) -> list[tuple[str, ...]]:
    """Emit a side of an `if` under the current mask; return its results, which have any value in lanes that are off.

    Args:
        emitter: its masks are those of the side.
        block: the side.
        results: of the `if`.
        full: all lanes are on around the `if`.
    """
    if _is_straight(block):
        emitter.block(block)
        return [emitter.of_all_parts(v) for v in block.yielded]
    w, masks = emitter.writer, emitter.masks
    inside, join = w.block_name("side"), w.block_name("side.end")
    arms: list[tuple[str, list[tuple[str, ...]]]] = []
    if full and _takes_masks_badly(emitter, block):
        all_on, some = w.block_name("side.full"), w.block_name("side.some")
        w.branch(emitter.all(masks), all_on, some)
        w.open(all_on)
        emitter.masks = [""] * emitter.parts
        arms.append(_arm(emitter, block, join))
        emitter.masks = masks
        w.open(some)
    before = w.label
    w.branch(emitter.any(masks), inside, join)
    w.open(inside)
    arms.append(_arm(emitter, block, join))
    w.open(join)
    joined = []
    for n, result in enumerate(results):
        kind = vector(emitter.form(result), emitter.width)
        rows = [f"[ zeroinitializer, %{before} ]"] * len(arms[0][1][n])
        for end, values in arms:
            rows = [f"{row}, [ {part}, %{end} ]" for row, part in zip(rows, values[n], strict=True)]
        joined.append(tuple(w.emit(f"phi {kind} {row}", result.name) for row in rows))
    return joined


def _arm(emitter: GangEmitter, block: Block, join: str) -> tuple[str, list[tuple[str, ...]]]:
    """Emit a block and a jump to `join`; return the label of the block where it ended, and what it yields."""
    emitter.block(block)
    values = [emitter.of_all_parts(v) for v in block.yielded]
    end = emitter.writer.label
    emitter.writer.jump(join)
    return end, values


def _takes_masks_badly(emitter: GangEmitter, block: Block) -> bool:
    """Return whether a side of an `if` is worth emitting a second time, without masks, for when all lanes take it."""
    operations = list(walk(block))
    if len(operations) > GANG_TWICE_OPERATIONS:
        return False
    accesses = [op for op in operations if op.name in ("load", "store") and _varies(emitter, op)]
    return any(map(partial(is_bad_under_mask, emitter), accesses))


def _varies(emitter: GangEmitter, op: Op) -> bool:
    """Return whether an operand of an access other than the array differs between the gang's threads."""
    return not emitter.varying.isdisjoint(op.operands[1:])


def emit_for(emitter: GangEmitter, op: Op) -> None:
    """Emit a `for` of a gang.

    If lanes have different numbers of iterations, it runs as often as the longest of them needs. Where gathering would
    be slow, or the loop is marked as scalar, it runs lane by lane.
    """
    if op.attrs.get(SCALAR) or (emitter.rows == 1 and op in emitter.lone):
        each_lane(emitter, op)
        return
    if not emitter.is_divergent(op):
        emitter.structured(op)
        return
    w, index = emitter.writer, op.blocks[0].params[0]
    kind = register(element(index.type))
    varies = index in emitter.varying
    turns = []
    for _ in emitter.each_part():
        w.lanes = emitter.width
        start, stop, step = (emitter.operand(v) for v in op.operands[:3])
        turns.append(iterations(emitter, op, start, stop, step, wide=True))
        w.lanes = 0
        w.settle()
    if not varies and op.operands[0] in emitter.varying:
        _ending_together(emitter, op, kind, turns)
        return
    if _begins_together(emitter, op):
        op = _together(emitter, op, kind, turns)
    apart = _distance(emitter, op, index)
    parts = varies and not apart
    firsts, steps = (
        emitter.of_all_parts(v) if parts else (emitter.uniform(v),) for v in (op.operands[0], op.operands[2])
    )
    type, wide = vector(kind, emitter.width) if parts else kind, vector(kind, emitter.width)
    loop = _Loop(emitter, op, carried_params(op), op.operands[3:], kind)
    at = [(w.name(index.name), w.reserve()) for _ in firsts]
    if apart:
        emitter.bind_linear(index, at[0][0], apart)
    else:
        emitter.bind(index, [name for name, _ in at])
    loop.begin()
    going = [w.emit(f"icmp ult {wide} {emitter.spread(loop.count, kind)}, {count}", "going") for count in turns]
    loop.enter(list(map(emitter.as_mask, going)))
    emitter.block(op.blocks[0])
    following = [
        w.emit(f"add {type} {name}, {by}", f"{index.name}.next") for (name, _), by in zip(at, steps, strict=True)
    ]
    loop.close(op.blocks[0].yielded)
    for (name, row), first, after in zip(at, firsts, following, strict=True):
        w.fill(row, name, f"phi {type} [ {first}, %{loop.before} ], [ {after}, %{loop.end} ]")


def _distance(emitter: GangEmitter, loop: Op, param: Value) -> int:
    """Return the constant difference between neighbouring lanes' values of a loop's parameter; 0 if there is none."""
    start = advancing(loop, emitter.varying).get(param)
    return emitter.steps.get(start, 0) if start is not None and emitter.rows == 1 else 0


def _begins_together(emitter: GangEmitter, op: Op) -> bool:
    """Return whether the iterations that all lanes make are worth a loop without masks, before the one for the others.

    That is so for innermost loops in which lanes share the index, if they are short, access arrays, and no mask is on.
    """
    operations = list(walk(op.blocks[0]))
    if any(emitter.masks) or len(operations) > GANG_TWICE_OPERATIONS or any(o.name in LOOPS for o in operations):
        return False
    by_one = abs(emitter.constants.get(op.operands[2], 0)) == 1 and op.operands[0].type in (int32, int64)
    together = by_one and emitter.varying.isdisjoint((op.operands[0], op.operands[2]))
    return together and any(o.name in ACCESSES for o in operations)


def _together(emitter: GangEmitter, op: Op, kind: str, turns: list[str]) -> Op:
    """Emit the iterations that all lanes make; return the loop of those that are left.

    Args:
        emitter: its block is open, and no mask is on.
        op: the loop.
        kind: LLVM type of the index.
        turns: the lanes' numbers of iterations, a vector for each part; changed to those that are left.
    """
    w, wide, least = emitter.writer, vector(kind, emitter.width), turns[0]
    start, stop, step, *init = op.operands
    for other in turns[1:]:
        less = w.emit(f"icmp ult {wide} {other}, {least}")
        least = w.emit(f"select {vector('i1', emitter.width)} {less}, {wide} {other}, {wide} {least}")
    common = emitter.typed(least, kind).reduced("umin").text
    for part in emitter.each_part():
        turns[part] = w.emit(f"sub {wide} {turns[part]}, {emitter.spread(common, kind)}")
    middle, results = Value(start.type, "middle"), [Value(v.type, v.name) for v in init]
    verb = "add" if int(emitter.constants[step]) == 1 else "sub"
    emitter.bind(middle, [w.emit(f"{verb} {kind} {emitter.uniform(start)}, {common}", "middle")])
    params = carried_params(op)
    emitter.varying |= {r for r, p in zip(results, params, strict=True) if p in emitter.varying}
    first = op.replace((start, middle, step, *init), results=tuple(results))
    left = op.replace((middle, stop, step, *results))
    for loop in (first, left):
        emitter.strips.treat_alike(op, loop)
    emitter.structured(first)
    return left


def _ending_together(emitter: GangEmitter, op: Op, kind: str, turns: list[str]) -> None:
    """Emit a `for` whose lanes begin at different indices, end at one, and have one step.

    A lane joins when the index has reached its start, so all lanes that are on share the index.

    Args:
        emitter: its block is open.
        op: the loop.
        kind: LLVM type of the index.
        turns: the lanes' numbers of iterations, a vector for each part.
    """
    w, index, wide = emitter.writer, op.blocks[0].params[0], vector(kind, emitter.width)
    for part in emitter.each_part():
        turns[part] = emitter.merged(emitter.mask, kind, turns[part], "zeroinitializer")
    highest = turns[0]
    for other in turns[1:]:
        more = w.emit(f"icmp ugt {wide} {other}, {highest}")
        highest = w.emit(f"select {vector('i1', emitter.width)} {more}, {wide} {other}, {wide} {highest}")
    most = emitter.typed(highest, kind).reduced("umax").text
    begins = [w.emit(f"sub {wide} {emitter.spread(most, kind)}, {count}") for count in turns]
    stop, step = map(emitter.uniform, op.operands[1:3])
    first = w.emit(f"sub {kind} {stop}, {w.emit(f'mul {kind} {most}, {step}')}", index.name)
    loop = _Loop(emitter, op, carried_params(op), op.operands[3:], kind)
    loop.begin()
    more = w.emit(f"icmp ult {kind} {loop.count}, {most}", "more")
    begun = [w.emit(f"icmp uge {wide} {emitter.spread(loop.count, kind)}, {begin}") for begin in begins]
    loop.enter(list(map(emitter.as_mask, begun)), more)
    emitter.bind(index, [w.emit(f"add {kind} {first}, {w.emit(f'mul {kind} {loop.count}, {step}')}", index.name)])
    emitter.block(op.blocks[0])
    loop.close(op.blocks[0].yielded)


def emit_while(emitter: GangEmitter, op: Op) -> None:
    """Emit a `while` of a gang; each lane leaves it when its condition is false.

    A loop that tries to swap an element (`is_retry`) runs lane by lane.
    """
    if is_retry(op):
        each_lane(emitter, op)
        return
    if not emitter.is_divergent(op):
        emitter.structured(op)
        return
    condition, body = op.blocks
    loop = _Loop(emitter, op, condition.params, op.operands, "i32")
    loop.begin()
    emitter.block(condition)
    loop.enter(emitter.of_all_parts(condition.yielded[0]))
    for k, param in enumerate(body.params):
        loop.bind(param, k)
    emitter.block(body)
    loop.close(body.yielded)


class _Loop:
    """A loop that lanes leave one by one, on its way to text; creating it opens the phis of its head.

    Attributes:
        before, end: the blocks from which the head is entered.
        count: the register with the number of iterations so far.
        params: the carried values at the head.
        apart: by such a value, the constant difference from lane to lane; 0: there is none.
        current: their registers; scalars where all lanes that have not left agree, or stay as far apart.
        names: the same as vectors; lanes that have left keep the values with which they did.
    """

    def __init__(self, emitter: GangEmitter, op: Op, params: Sequence[Value], init: Sequence[Value], kind: str) -> None:
        """Open the loop's head and reserve its phis.

        Args:
            emitter: its block is open.
            op: the loop.
            params: the carried values at the head.
            init: what they begin with.
            kind: LLVM type of the count of iterations.
        """
        w = emitter.writer
        self.emitter, self.op, self.kind, self.outer, self.params = emitter, op, kind, emitter.masks, params
        flags = emitter.mask_kind
        self.apart = {p: _distance(emitter, op, p) for p in params}
        scalars = [
            emitter.scalar_operands(v) if self.apart[p] or p not in emitter.varying else ()
            for v, p in zip(init, params, strict=True)
        ]
        firsts = [emitter.of_all_parts(v) for v in init]
        self.before, self.end = w.label, ""
        self.on, self.following = list[str](), list[str]()
        self.head, self.inside, self.done = (w.block_name(h) for h in ("lanes", "lanes.body", "lanes.end"))
        w.jump(self.head)
        w.open(self.head)
        self.count, self.count_row = w.name("count"), w.reserve()
        self.left = [w.name("lanes") for _ in self.outer]
        first_masks = [f"phi {flags} [ {mask or emitter.all_on}, %{self.before} ]" for mask in self.outer]
        self.left_rows = [(w.reserve(), *left) for left in zip(self.left, first_masks, strict=True)]
        self.rows: list[tuple[int, str, str]] = []
        self.names = [self._phis(p, emitter.form(p), parts) for p, parts in zip(params, firsts, strict=True)]
        self.current = list(self.names)
        for k, (param, parts) in enumerate(zip(params, scalars, strict=True)):
            if parts:
                self.current[k] = self._phis(param, "", parts)
            self.bind(param, k)

    def bind(self, param: Value, number: int) -> None:
        """Bind a parameter of one of the loop's blocks to the carried value with that number."""
        apart = self.apart[self.params[number]]
        if apart:
            self.emitter.bind_linear(param, self.current[number][0], apart)
        else:
            self.emitter.bind(param, self.current[number])

    def _phis(self, param: Value, lane: str, parts: Sequence[str]) -> tuple[str, ...]:
        """Reserve phis of a carried value; return their registers.

        Args:
            param: the value.
            lane: LLVM type of a vector's lane; empty: the phis are of scalars.
            parts: the values at the loop's start.
        """
        w, names = self.emitter.writer, []
        kind = vector(lane, self.emitter.width) if lane else self.emitter.scalar_kind(param)
        for part in parts:
            names.append(w.name(param.name))
            self.rows.append((w.reserve(), names[-1], f"phi {kind} [ {part}, %{self.before} ]"))
        return tuple(names)

    def begin(self) -> None:
        """Set the current mask to the lanes that have not left; called behind the phis."""
        self.emitter.loops += 1
        self.emitter.masks = self.left

    def enter(self, going: Sequence[str], more: str = "") -> None:
        """Begin the body.

        Args:
            going: the condition of each part's lanes to run it.
            more: i1 that says whether there is another iteration, where lanes that are off may join in a later one;
                empty: the loop ends when no lane is on.
        """
        emitter, w = self.emitter, self.emitter.writer
        emitter.masks = self.on = [emitter.both(m, c) for m, c in zip(self.left, going, strict=True)]
        self.following = self.left if more else self.on
        w.branch(more or emitter.any(self.on), self.inside, self.done)
        w.open(self.inside)

    def close(self, values: Sequence[Value]) -> None:
        """End the body and the loop; bind the loop's results.

        Args:
            values: what the body hands on to the next iteration.
        """
        emitter, w = self.emitter, self.emitter.writer
        following = w.emit(f"add {self.kind} {self.count}, 1", "count")
        following_values = [
            part
            for v, names in zip(values, self.names, strict=True)
            for part in emitter.chosen(self.on, v, emitter.of_all_parts(v), names)
        ]
        for v, names, current in zip(values, self.names, self.current, strict=True):
            if current is not names:
                following_values += emitter.scalar_operands(v)
        turns = emitter.strips.turns(self.op)
        if turns:
            look_seldom(emitter, self.kind, self.count, turns)
        self.end = w.label
        w.do(f"br label %{self.head}{emitter.loop_end(wishes=(('unroll.disable', ''),))}")
        w.fill(self.count_row, self.count, f"phi {self.kind} [ 0, %{self.before} ], [ {following}, %{self.end} ]")
        for (row, name, first), on in zip(self.left_rows, self.following, strict=True):
            w.fill(row, name, f"{first}, [ {on}, %{self.end} ]")
        for (row, name, first), value in zip(self.rows, following_values, strict=True):
            w.fill(row, name, f"{first}, [ {value}, %{self.end} ]")
        w.open(self.done)
        emitter.masks = self.outer
        emitter.loops -= 1
        for result, names in zip(self.op.results, self.names, strict=True):
            emitter.bind(result, names)
