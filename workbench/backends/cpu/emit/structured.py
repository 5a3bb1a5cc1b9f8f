"""`if`, `for` and `while` as basic blocks with phis; loops that may run long are cut into strips (see `loops`)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from workbench.backends.cpu.emit.effects.look import look, look_seldom
from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.types import register
from workbench.ir.ops import COLD, INDEPENDENT, SCALAR
from workbench.ir.values import Op, Value
from workbench.types import Kind, element


class _Phis:
    """LLVM phis of carried values at a loop's head; their lines stay reserved until the loop's end is emitted.

    Attributes:
        params: the values, whose operands are the phis.
        rows: for each component: the reserved line, the phi's register, its LLVM type, and its first operand.
    """

    def __init__(self, emitter: Emitter, params: Sequence[Value], init: Sequence[Value], before: str) -> None:
        """Reserve the lines of the phis in the open block, and bind `params` to them.

        Args:
            emitter: its open block is the loop's head.
            params: the carried values.
            init: what they begin with.
            before: label of the block from which the loop is entered.
        """
        self.emitter = emitter
        self.params = params
        self.rows: list[tuple[int, str, str, str]] = []
        for param, first in zip(params, init, strict=True):
            names = []
            for operand in emitter.carried(first, param):
                name = emitter.writer.name(param.name)
                kind = emitter.kind(param)
                # LLVM wants phis first in their block, and what comes around the loop is known last: hence a reserved
                # line.
                self.rows.append((emitter.writer.reserve(), name, kind, f"[ {operand}, %{before} ]"))
                names.append(name)
            emitter.bind(param, names)

    def close(self, values: Sequence[Value], after: str) -> None:
        """Write the phis into their reserved lines; `values` come around from the block `after`."""
        operands = [o for v, p in zip(values, self.params, strict=True) for o in self.emitter.carried(v, p)]
        for (address, name, kind, first), operand in zip(self.rows, operands, strict=True):
            self.emitter.writer.fill(address, name, f"phi {kind} {first}, [ {operand}, %{after} ]")


def emit_if(emitter: Emitter, op: Op) -> None:
    """Emit an `if` as two blocks that meet in phis of its results."""
    w = emitter.writer
    then, orelse, join = (w.block_name(hint) for hint in ("then", "else", "endif"))
    w.branch(emitter.operand(op.operands[0]), then, orelse, ", !prof !1" if op.attrs.get(COLD) else "")
    ends: list[tuple[list[tuple[str, ...]], str]] = []
    for block, label in zip(op.blocks, (then, orelse), strict=True):
        w.open(label)
        emitter.block(block)
        values = [emitter.carried(v, result) for v, result in zip(block.yielded, op.results, strict=True)]
        # The label now, not the one that was opened: the block may hold branches of its own.
        ends.append((values, w.label))
        w.jump(join)
    w.open(join)
    for n, result in enumerate(op.results):
        kind = emitter.kind(result)
        arms = [[f"[ {o}, %{end} ]" for o in values[n]] for values, end in ends]
        emitter.bind(result, [w.emit(f"phi {kind} {', '.join(pair)}", result.name) for pair in zip(*arms, strict=True)])


def emit_while(emitter: Emitter, op: Op) -> None:
    """Emit a `while`, whose condition stands at the loop's head.

    The body and the code after the loop use the carried values with which the condition was last computed.
    """
    w = emitter.writer
    condition, body = op.blocks
    turns, cut = emitter.strips.turns(op), emitter.strips.cut(op)
    # A search carries its place alone: several of its turns fit in the time of one. Others wait for what they carry.
    end = emitter.loop_end(known=len(op.results) == 1)
    head, inside, done = (w.block_name(hint) for hint in ("while", "do", "endwhile"))
    before, first = w.label, op.operands
    if cut:
        strip = w.block_name("strip")
        w.jump(strip)
        w.open(strip)
        strips = _Phis(emitter, condition.params, first, before)
        before, first = strip, condition.params
    w.jump(head)
    w.open(head)
    turn_row = w.reserve() if turns > 1 else -1
    phis = _Phis(emitter, condition.params, first, before)
    carried = [emitter.carried(p, p) for p in condition.params]
    emitter.block(condition)
    w.branch(emitter.operand(condition.yielded[0]), inside, done)
    w.open(inside)
    for param, names in zip(body.params, carried, strict=True):
        emitter.bind(param, names)
    emitter.block(body)
    if turns > 1:
        turn = w.name("turn")
        following = w.emit(f"add {'nuw nsw ' if cut else ''}i32 {turn}, 1", "turn")
    if turns and not cut:
        look_seldom(emitter, "i32", following if turns > 1 else "", turns)
    if turns > 1:
        w.fill(turn_row, turn, f"phi i32 [ 0, %{before} ], [ {following}, %{w.label} ]")
    phis.close(body.yielded, w.label)
    if cut:
        full, more = w.block_name("full"), w.emit(f"icmp ult i32 {following}, {turns}", "more")
        w.do(f"br i1 {more}, label %{head}, label %{full}{end}")
        w.open(full)
        look(emitter)
        strips.close(body.yielded, w.label)
        w.jump(strip)
    else:
        w.do(f"br label %{head}{end}")
    w.open(done)
    for result, names in zip(op.results, carried, strict=True):
        emitter.bind(result, names)


def emit_for(emitter: Emitter, op: Op) -> None:
    """Emit a `for` over Python's range; a step of 0 gives no iteration.

    With a constant step of 1 (or -1 if signed) the index is compared with the end, else iterations are counted
    beforehand. Neither form overflows at the ends of the index's type.
    """
    if emitter.separate and op.attrs.get(INDEPENDENT):
        emitter.separate(emitter, op)
    else:
        emit_loop(emitter, op)


def emit_loop(emitter: Emitter, op: Op) -> None:
    """Emit a `for` as a loop."""
    # Decided first: what a loop is cut into depends on what it costs (`loops.Strips`).
    loop = _For(emitter, op)
    strips = emitter.strips
    # Threads that go through a loop one by one start it often; LLVM makes little of a copy that is not vectorised.
    one_by_one = strips.few and (loop.serial or op.attrs.get(SCALAR)) and not op.attrs.get(COLD)
    often = one_by_one or strips.often(op)
    results = loop.single() if not strips.cut(op) else loop.short_or_long() if often else loop.in_strips()
    for result, names in zip(op.results, results, strict=True):
        emitter.bind(result, names)


class _For:
    """Emits one `for`. Its counter is the index where the step is 1 or -1, else a number of iterations beside it.

    Attributes:
        start, step: operands of the range.
        body: the block of an iteration.
        kind: LLVM type of the index.
        unsigned: that type is unsigned.
        by_one: the step is the constant 1 or -1, so the index is compared with the end.
        down: the step is the constant -1.
        serial: it is not vectorised, and indices are wrapped by branches.
        end: the count at which the loop ends.
        firsts: what the index, and a count beside it, begin with.
    """

    def __init__(self, emitter: Emitter, op: Op) -> None:
        self.emitter, self.op, self.writer = emitter, op, emitter.writer
        self.start, stop, self.step = (emitter.operand(v) for v in op.operands[:3])
        (self.body,) = op.blocks
        index_type = element(op.operands[0].type)
        self.kind, self.unsigned = register(index_type), index_type.kind is Kind.UINT
        known = emitter.constants.get(op.operands[2])
        # Comparing the index is enough, and cannot overflow before the comparison; any other step may jump over the
        # end.
        self.by_one = known == 1 or (known == -1 and not self.unsigned)
        self.down = self.by_one and known == -1
        self.serial = emitter.is_serial(op)
        self.end = stop if self.by_one else iterations(emitter, op, self.start, stop, self.step)
        self.firsts = (self.start,) if self.by_one else (self.start, "0")

    def short_or_long(self) -> list[tuple[str, ...]]:
        """Emit the loop twice: whole, for no more iterations than a strip has, and in strips.

        Returns:
            The registers of the carried results.
        """
        w, turns = self.writer, self.emitter.strips.turns(self.op)
        short, long, joined = (w.block_name(hint) for hint in ("short", "long", "joined"))
        # Where there are no turns at all this is any number, and either copy does nothing.
        remaining = self.remaining(self.firsts[-1])
        few = w.emit(f"icmp ule {self.kind} {remaining}, {turns}", "few")
        w.do(f"br i1 {few}, label %{short}, label %{long}, !prof !1")
        # The first copy is known to be short, so LLVM does not prepare it for many turns.
        ways: list[tuple[str, list[tuple[str, ...]]]] = []
        for label, form in ((short, self.whole), (long, self.in_strips)):
            w.open(label)
            carried = form()
            ways.append((w.label, carried))
            w.jump(joined)
        w.open(joined)
        return self.result_phis(ways)

    def single(self) -> list[tuple[str, ...]]:
        """Emit the loop as a single one, without strips; return the carried results."""
        w = self.writer
        head, inside, done = (w.block_name(hint) for hint in ("for", "body", "endfor"))
        before = w.label
        w.jump(head)
        w.open(head)
        counts, phis = self.phis(self.firsts, self.op.operands[3:], before)
        carried = self.operands(self.body.params[1:])
        w.branch(self.more(counts.names[-1], self.end), inside, done)
        w.open(inside)
        following = self.turn(counts)
        turns = self.emitter.strips.turns(self.op)
        if turns and not self.emitter.strips.cut(self.op):
            look_seldom(self.emitter, self.kind, counts.names[-1], turns)
        self.close(counts, following, phis)
        w.do(f"br label %{head}{self.mark()}")
        w.open(done)
        return carried

    def whole(self) -> list[tuple[str, ...]]:
        """Emit the loop as one that does not look, and is tested at its end; return the carried results."""
        w, before, init = self.writer, self.writer.label, self.op.operands[3:]
        inside, done = w.block_name("body"), w.block_name("endfor")
        w.branch(self.more(self.firsts[-1], self.end), inside, done)
        w.open(inside)
        self.iteration(self.firsts, init, before, inside, self.end, done)
        after = w.label
        w.open(done)
        return self.result_phis([(before, self.operands(init)), (after, self.operands(self.body.yielded))])

    def iteration(
        self, firsts: Sequence[str], init: Sequence[Value], before: str, inside: str, last: str, done: str
    ) -> tuple[str, ...]:
        """Emit the only block of a loop that has at least one iteration, so that LLVM counts them exactly.

        Args:
            firsts: what the counters begin with.
            init: what the carried values begin with.
            before: label of the block from which the loop is entered.
            inside: label of the open block.
            last: the count at which the loop ends.
            done: label of the block that follows.

        Returns:
            The counters of the iteration that would follow.
        """
        counts, phis = self.phis(firsts, init, before)
        following = self.turn(counts)
        self.close(counts, following, phis)
        more = self.writer.emit(f"icmp ne {self.kind} {following[-1]}, {last}", "more")
        self.writer.branch(more, inside, done, self.mark())
        return following

    def operands(self, values: Sequence[Value]) -> list[tuple[str, ...]]:
        """Return the LLVM operands of values in the forms of the values that the loop carries."""
        return [self.emitter.carried(v, p) for v, p in zip(values, self.body.params[1:], strict=True)]

    def result_phis(self, ends: Sequence[tuple[str, list[tuple[str, ...]]]]) -> list[tuple[str, ...]]:
        """Emit phis of the loop's results in the open block, and return them.

        Args:
            ends: for each block that it is entered from, its label and the carried values there.
        """
        collected: list[tuple[str, ...]] = []
        for n, param in enumerate(self.body.params[1:]):
            kind, count = self.emitter.kind(param), len(ends[0][1][n])
            arms = [", ".join(f"[ {remaining[n][k]}, %{label} ]" for label, remaining in ends) for k in range(count)]
            collected.append(tuple(self.writer.emit(f"phi {kind} {arm}") for arm in arms))
        return collected

    def in_strips(self) -> list[tuple[str, ...]]:
        """Emit the loop in strips, with a check after each but the last; return the carried results."""
        w, turns = self.writer, self.emitter.strips.turns(self.op)
        strip, inside, stripped, again, done = (
            w.block_name(hint) for hint in ("strip", "body", "stripped", "again", "endfor")
        )
        before, init = w.label, self.op.operands[3:]
        ahead = self.emitter.strips.few  # among many loops, what is hoisted fills the registers
        first_end = self.strip_end(self.firsts[-1], turns) if ahead else ""
        w.branch(self.more(self.firsts[-1], self.end), strip, done)
        w.open(strip)
        outer, outer_phis = self.phis(self.firsts, init, before)
        last, last_row = (w.name("last"), w.reserve()) if ahead else (self.strip_end(outer.names[-1], turns), -1)
        w.jump(inside)
        w.open(inside)
        following = self.iteration(outer.names, self.body.params[1:], strip, inside, last, stripped)
        w.open(stripped)
        over = w.emit(f"icmp eq {self.kind} {last}, {self.end}", "over")
        w.do(f"br i1 {over}, label %{done}, label %{again}{', !prof !1' if ahead else ''}")
        w.open(again)
        look(self.emitter)
        if ahead:
            end = self.strip_end(last, turns)
            w.fill(last_row, last, f"phi {self.kind} [ {first_end}, %{before} ], [ {end}, %{w.label} ]")
        self.close(outer, (*following[:-1], last), outer_phis)
        w.jump(strip)
        w.open(done)
        return self.result_phis([(before, self.operands(init)), (stripped, self.operands(self.body.yielded))])

    def remaining(self, at: str) -> str:
        """Emit the number of iterations that are left at a count, unsigned; it is meaningless if there are none."""
        ends = (at, self.end) if self.down else (self.end, at)
        return self.writer.emit(f"sub {self.kind} {ends[0]}, {ends[1]}", "left")

    def strip_end(self, at: str, turns: int) -> str:
        """Emit the count at which the strip ends that begins at the count `at` and has at most `turns` iterations."""
        w, flags = self.writer, "nuw" if self.unsigned or not self.by_one else "nsw"
        remaining = self.remaining(at)
        w.declare(f"llvm.umin.{self.kind}", f"declare {self.kind} @llvm.umin.{self.kind}({self.kind}, {self.kind})")
        few = w.emit(f"call {self.kind} @llvm.umin.{self.kind}({self.kind} {remaining}, {self.kind} {turns})", "few")
        return w.emit(f"{'sub' if self.down else 'add'} {flags} {self.kind} {at}, {few}", "last")

    def phis(self, firsts: Sequence[str], init: Sequence[Value], before: str) -> tuple[_Counts, _Phis]:
        """Open the phis at a loop's head: of the index, of a count if that is needed, and of carried values.

        Args:
            firsts: what the counters begin with.
            init: what the carried values begin with.
            before: label of the block from which the loop is entered.
        """
        w, name = self.writer, self.body.params[0].name
        names = [w.name(hint) for hint in ((name,) if self.by_one else (name, "count"))]
        rows = [(w.reserve(), n, f"phi {self.kind} [ {f}, %{before} ]") for n, f in zip(names, firsts, strict=True)]
        return _Counts(names, rows), _Phis(self.emitter, self.body.params[1:], init, before)

    def turn(self, counts: _Counts) -> tuple[str, ...]:
        """Emit the body; return the counters of the next iteration.

        Behind the last iteration the index may be poison, and is not read.
        """
        w, index = self.writer, counts.names[0]
        self.emitter.bind(self.body.params[0], [index])
        self.emitter.wide = {} if self.serial else None
        self.emitter.block(self.body)
        self.emitter.wide = None
        hint = self.body.params[0].name
        after = w.emit(f"add {'nuw' if self.unsigned else 'nsw'} {self.kind} {index}, {self.step}", f"{hint}.next")
        if self.by_one:
            return (after,)
        return after, w.emit(f"add nuw {self.kind} {counts.names[1]}, 1", "count.next")

    def close(self, counts: _Counts, following: Sequence[str], phis: _Phis) -> None:
        """Complete the phis of a loop's head, to which the open block jumps back."""
        for (row, name, text), value in zip(counts.rows, following, strict=True):
            self.writer.fill(row, name, f"{text}, [ {value}, %{self.writer.label} ]")
        phis.close(self.body.yielded, self.writer.label)

    def mark(self) -> str:
        """Return LLVM metadata for the loop's jump back; empty if there is nothing to say."""
        known = all(v in self.emitter.constants for v in self.op.operands[:3])
        # What a reversed loop wishes besides is meant for a GPU.
        return self.emitter.loop_end(self.serial or bool(self.op.attrs.get(COLD)), (), known)

    def more(self, count: str, end: str) -> str:
        """Emit the test whether an iteration is left at a count; return its i1."""
        sign = "u" if self.unsigned or not self.by_one else "s"
        return self.writer.emit(f"icmp {sign}{'gt' if self.down else 'lt'} {self.kind} {count}, {end}", "more")


class _Counts(msgspec.Struct, frozen=True):
    """The counters at a loop's head.

    Attributes:
        names: their registers: the index, and behind it the number of iterations where it is counted.
        rows: the phis so far: reserved line, register and text.
    """

    names: Sequence[str]
    rows: Sequence[tuple[int, str, str]]


def iterations(emitter: Emitter, op: Op, start: str, stop: str, step: str, wide: bool = False) -> str:
    """Emit the number of iterations of `range(start, stop, step)`, unsigned, in the index's width.

    If all three are constants, nothing is emitted, and it is a constant. With a step of 0 it is 0. With `wide` the
    operands are vectors.
    """
    w = emitter.writer
    scalar = element(op.operands[0].type)
    known = [emitter.constants.get(v) for v in op.operands[:3]]
    # Computed here, so that LLVM sees a number and may unroll.
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
    # LLVM's division by 0 is undefined even if its result is not used.
    divisor = w.emit(f"select i1 {some}, {kind} {size}, {kind} 1")
    # (distance - 1) / size + 1 rounds up without a sum that could overflow.
    shorter = w.emit(f"sub {kind} {distance}, 1")
    if wide and kind == "i32" and known[2] is None:
        # No target divides integers side by side; the quotient of doubles is exact.
        over, under = (w.emit(f"uitofp {kind} {x} to double") for x in (shorter, divisor))
        quotient = w.emit(f"fptoui double {w.emit(f'fdiv double {over}, {under}')} to {kind}")
    else:
        quotient = w.emit(f"udiv {kind} {shorter}, {divisor}")
    full = w.emit(f"add {kind} {quotient}, 1")
    return w.emit(f"select i1 {some}, {kind} {full}, {kind} 0", "iterations")
