"""`if`, `for` and `while` as basic blocks with phis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.backends.cpu.values import register
from workbench.ir.values import Block, Op, Value
from workbench.types import Kind, element

if TYPE_CHECKING:
    from workbench.backends.cpu.spell import Speller


class _Phis:
    """The carried values at a loop's head: their lines are kept free until the loop's end is written."""

    def __init__(self, speller: Speller, params: Sequence[Value], init: Sequence[Value], before: str) -> None:
        self.speller = speller
        self.rows: list[tuple[int, str, str, str]] = []
        for param, first in zip(params, init, strict=True):
            names = []
            for operand in speller.operands(first):
                name = speller.writer.name(param.name)
                kind = register(element(param.type))
                self.rows.append((speller.writer.reserve(), name, kind, f"[ {operand}, %{before} ]"))
                names.append(name)
            speller.bind(param, names)

    def close(self, values: Sequence[Value], after: str) -> None:
        """Write them: `values` come around from the block `after`."""
        operands = [o for v in values for o in self.speller.operands(v)]
        for (place, name, kind, first), operand in zip(self.rows, operands, strict=True):
            self.speller.writer.fill(place, name, f"phi {kind} {first}, [ {operand}, %{after} ]")


def spell_if(speller: Speller, op: Op) -> None:
    """Two blocks that meet."""
    w = speller.writer
    then, orelse, join = (w.block_name(hint) for hint in ("then", "else", "endif"))
    w.branch(speller.operand(op.operands[0]), then, orelse)
    ends: list[tuple[Block, str]] = []
    for block, label in zip(op.blocks, (then, orelse), strict=True):
        w.open(label)
        speller.block(block)
        ends.append((block, w.label))
        w.jump(join)
    w.open(join)
    for n, result in enumerate(op.results):
        kind = register(element(result.type))
        arms = [[f"[ {o}, %{end} ]" for o in speller.operands(block.yielded[n])] for block, end in ends]
        speller.bind(result, [w.emit(f"phi {kind} {', '.join(pair)}", result.name) for pair in zip(*arms, strict=True)])


def spell_while(speller: Speller, op: Op) -> None:
    """Condition at the head; what it computed is seen by the body and after the loop."""
    w = speller.writer
    condition, body = op.blocks
    head, inside, done = (w.block_name(hint) for hint in ("while", "do", "endwhile"))
    before = w.label
    w.jump(head)
    w.open(head)
    phis = _Phis(speller, condition.params, op.operands, before)
    carried = [speller.operands(p) for p in condition.params]
    speller.block(condition)
    w.branch(speller.operand(condition.yielded[0]), inside, done)
    w.open(inside)
    for param, names in zip(body.params, carried, strict=True):
        speller.bind(param, names)
    speller.block(body)
    phis.close(body.yielded, w.label)
    w.do(f"br label %{head}{speller.loop_end()}")
    w.open(done)
    for result, names in zip(op.results, carried, strict=True):
        speller.bind(result, names)


def spell_for(speller: Speller, op: Op) -> None:
    """Python's range: by comparing the index where the step is ±1, else by counting the iterations beforehand.

    Neither form overflows at the ends of the index's type; a step of 0 gives no iteration.
    """
    w = speller.writer
    start, stop, step = (speller.operand(v) for v in op.operands[:3])
    (body,) = op.blocks
    index_type = element(op.operands[0].type)
    kind, unsigned = register(index_type), index_type.kind is Kind.UINT
    known = speller.constants.get(op.operands[2])
    by_one = known == 1 or (known == -1 and not unsigned)
    count = "" if by_one else _iterations(speller, op, start, stop, step)
    head, inside, done = (w.block_name(hint) for hint in ("for", "body", "endfor"))
    before = w.label
    w.jump(head)
    w.open(head)
    index, following = w.name(body.params[0].name), w.name(f"{body.params[0].name}.next")
    index_row = w.reserve()
    if by_one:
        more_text = f"icmp {'u' if unsigned else 's'}{'lt' if known == 1 else 'gt'} {kind} {index}, {stop}"
        counter_row, counter, counted = -1, "", ""
    else:
        counter, counted = w.name("count"), w.name("count.next")
        counter_row = w.reserve()
        more_text = f"icmp ult {kind} {counter}, {count}"
    phis = _Phis(speller, body.params[1:], op.operands[3:], before)
    carried = [speller.operands(p) for p in body.params[1:]]
    w.branch(w.emit(more_text, "more"), inside, done)
    w.open(inside)
    speller.bind(body.params[0], [index])
    speller.block(body)
    # Past the last iteration the index may be poison: nothing reads it there.
    w.do(f"{following} = add {'nuw' if unsigned else 'nsw'} {kind} {index}, {step}")
    w.fill(index_row, index, f"phi {kind} [ {start}, %{before} ], [ {following}, %{w.label} ]")
    if not by_one:
        w.do(f"{counted} = add nuw {kind} {counter}, 1")
        w.fill(counter_row, counter, f"phi {kind} [ 0, %{before} ], [ {counted}, %{w.label} ]")
    phis.close(body.yielded, w.label)
    w.do(f"br label %{head}{speller.loop_end(bool(op.attrs.get('cold')))}")
    w.open(done)
    for result, names in zip(op.results, carried, strict=True):
        speller.bind(result, names)


def _iterations(speller: Speller, op: Op, start: str, stop: str, step: str) -> str:
    """How many iterations `range(start, stop, step)` has, as an unsigned number of the index's width."""
    w = speller.writer
    scalar = element(op.operands[0].type)
    known = [speller.constants.get(v) for v in op.operands[:3]]
    if all(k is not None for k in known):
        first, last, by = (int(k) for k in known)  # type: ignore[arg-type]
        return str(max(0, -((first - last) // by)) if by else 0)
    kind = register(scalar)
    if scalar.kind is Kind.UINT:
        runs = w.emit(f"icmp ult {kind} {start}, {stop}")
        distance = w.emit(f"sub {kind} {stop}, {start}")
        size = step
        moves = w.emit(f"icmp ne {kind} {step}, 0")
    else:
        up = w.emit(f"icmp sgt {kind} {step}, 0")
        low = w.emit(f"select i1 {up}, {kind} {start}, {kind} {stop}")
        high = w.emit(f"select i1 {up}, {kind} {stop}, {kind} {start}")
        runs = w.emit(f"icmp slt {kind} {low}, {high}")
        distance = w.emit(f"sub {kind} {high}, {low}")
        back = w.emit(f"sub {kind} 0, {step}")
        size = w.emit(f"select i1 {up}, {kind} {step}, {kind} {back}")
        moves = w.emit(f"icmp ne {kind} {step}, 0")
    some = w.emit(f"and i1 {runs}, {moves}")
    divisor = w.emit(f"select i1 {some}, {kind} {size}, {kind} 1")
    shorter = w.emit(f"sub {kind} {distance}, 1")
    quotient = w.emit(f"udiv {kind} {shorter}, {divisor}")
    full = w.emit(f"add {kind} {quotient}, 1")
    return w.emit(f"select i1 {some}, {kind} {full}, {kind} 0", "iterations")
