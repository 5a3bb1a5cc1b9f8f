"""Array elements that loops and branches read and write, as carried values instead.

`y[i] = f(y[i])` inside a loop in which i is constant hides a carried value in memory, where its earlier values are
lost. As a carried value it is saved like any other. It is read before the loop if its index is in range, and written
after it if the loop has written it, so there is no access that the program would not make. An element that another
access might touch is left alone.

A sum is an element that a loop only adds to atomically, at an index that differs between threads, if all accesses that
might touch it are such additions: it is added once, after the loop. (One that all threads add to is combined in
float64: `passes/memory/atomics`.)

`hoist` comes first: index arithmetic that is the same in all iterations of a loop is done before it, so that the
indices of such an element are the same values everywhere.

`in_registers` does the same to the CPU's forward code, for speed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce

import msgspec

from workbench.autodiff.memory.effects import IndexComparison
from workbench.autodiff.reverse.emitter import nothing
from workbench.builtins import Ref
from workbench.builtins.scalars import operators
from workbench.ir.build import Builder, Rewriter, Tested, fresh, replace_body, rewrite
from workbench.ir.ops import ACCESSES, AXIS, CAPTURED, EFFECTS, LOOPS, OPAQUE, REPORTS
from workbench.ir.values import Block, Function, Op, Value, array_of, dtype_of, indices_of, walk
from workbench.limits import GANG_DISTINCT_ARRAYS
from workbench.passes.analysis.divergence import varying_values
from workbench.passes.loops.dimensions import distinct_arrays
from workbench.passes.memory.atomics import owned_arrays
from workbench.passes.pipeline import HELD, run
from workbench.source import UNKNOWN, Location
from workbench.types import bool as bool_
from workbench.types import int32, int64, is_float, is_integer

Element = tuple[Value, ...]
WRITES = frozenset(("store", "atomic_add"))
CARRIED = WRITES | {"load"}  # what a carried value can stand for


class _State(msgspec.Struct, frozen=True):
    """The value that stands for an element of an array, as far as the code has come.

    Attributes:
        value: what it holds now.
        written: a bool: it was written since it was read.
    """

    value: Value
    written: Value


States = dict[Element, _State]


def promote(function: Function, aliased: bool, sums: bool = False, arrays: Collection[Value] | None = None) -> Function:
    """Return the function with elements that loops and branches access as carried values; itself if there are none.

    Args:
        function: a kernel without races; fold it first, so that equal indices are one value.
        aliased: arrays that it writes may overlap others.
        sums: additions in loops may become one, after the loop.
        arrays: whose elements may become values; None: all.
    """
    if function.block_dim or is_straight(function):  # a block's threads share what they touch
        return function
    promoter = _Promoter(function, aliased, sums, arrays)
    body = promoter.block(function.body, {})
    return replace_body(function, body) if promoter.done else function


def in_registers(function: Function, dense: bool) -> Tested | None:
    """Return the function with elements of each thread's own that its loops read and change as values.

    None if there are none, if the function reports something, or if it has too many arrays: those that it changes must
    share no memory with others.

    Args:
        function: in which checks are written out.
        dense: its arrays have no elements that share memory; otherwise there are none.
    """
    names = function.body.op_names
    if not dense or names.isdisjoint(LOOPS) or "store" not in names or not names.isdisjoint(REPORTS | OPAQUE):
        return None
    changed = {op.operands[0] for op in walk(function.body) if op.name in EFFECTS}
    held = promote(function, aliased=False, arrays=owned_arrays(function) & changed)
    pairs = distinct_arrays(function, dense)
    if held is function or len(pairs) > GANG_DISTINCT_ARRAYS:
        return None
    b, held = Builder(), run(HELD, held)
    if not pairs:
        return Tested(None, held)
    b.yield_(reduce(lambda x, y: b.one("and_", (x, y), bool_), [b.one("apart", pair, bool_) for pair in pairs]))
    return Tested(replace_body(function, b.body()), held)


def is_straight(function: Function) -> bool:
    """Return whether the body has no branches and loops, so that there is nothing to promote."""
    return not any([op.blocks for op in function.body.ops])


class _Promoter:
    """A walk over a function that replaces accesses to elements by values.

    Attributes:
        comparison: says which accesses may touch one element.
        arrays: whose elements may become values; None: all.
        mapping: results of loads and additions to the values that replace them.
        done: something was promoted.
        used: all values that some operation uses.
        own: values that differ between threads; empty if sums are not requested.
        sums: the elements that are only added to.
    """

    def __init__(self, function: Function, aliased: bool, sums: bool, arrays: Collection[Value] | None) -> None:
        self.comparison = IndexComparison(function, aliased)
        self.arrays = arrays
        self.mapping: dict[Value, Value] = {}
        self.builder = Builder()
        self.done = False
        operations = walk(function.body)
        self.used = {v for op in operations for v in op.operands}
        tids = [op.result for op in operations if op.name == "tid"]
        self.own = varying_values(function, besides=tids) if sums else frozenset[Value]()
        self.sums: set[Element] = set()

    def block(self, block: Block, states: States, tail: Sequence[Element] = ()) -> Block:
        """Return a copy of a block with accesses to elements replaced by values; set `done` if it promotes elements.

        Args:
            block: the original.
            states: the elements that are values around it.
            tail: elements whose states it yields, too.
        """
        regions = self.regions(block, states)
        self.done |= bool(regions)
        with self.builder.block(block.params) as opened:
            for position, op in enumerate(block.ops):
                for element in (e for e, (first, _) in regions.items() if first == position):
                    self.builder.location = _where(block, element, loads=True)
                    states[element] = self.before(element)
                self.builder.location = op.location
                if op.name == "yield":
                    more = [v for e in tail for v in (states[e].value, states[e].written)]
                    self.builder.yield_(*(self.of(v) for v in op.operands), *more)
                else:
                    self.op(op, states)
                for element in (e for e, (_, last) in regions.items() if last == position):
                    self.builder.location = _where(block, element, loads=False)
                    self.after(element, states.pop(element))
        return opened.block

    def regions(self, block: Block, states: States) -> dict[Element, tuple[int, int]]:
        """Return the elements to promote in this block, each with the positions of its first and last access.

        They are changed in nested blocks, in several operations or in a loop, and nothing else in the block may touch
        them. Those that are only added to are noted in `sums`.
        """
        trees = [[op, *(o for inner in op.blocks for o in walk(inner))] for op in block.ops]
        every = [op for tree in trees for op in tree]
        # What an opaque operation does inside may touch any element.
        if any(op.name in OPAQUE for op in every):
            return {}
        # An index that is made inside a nested block does not exist before it, where the element would be read.
        nested = {v for tree in trees for op in tree[1:] for v in op.results}
        nested |= {p for op in every for inner in op.blocks for p in inner.params}
        accesses = [op for op in every if op.name in ACCESSES]
        reused: dict[Element, tuple[int, int]] = {}
        for element in dict.fromkeys(self.element_of(op) for op in accesses):
            if not element or element in states or not nested.isdisjoint(element):
                continue
            if self.arrays is not None and element[0] not in self.arrays:
                continue
            held = [n for n, tree in enumerate(trees) if any(self.element_of(op) == element for op in tree)]
            mine = [op for n in held for op in trees[n] if self.element_of(op) == element]
            kinds = {op.name for op in mine}
            deep = any(self.element_of(op) == element and op.name != "load" for n in held for op in trees[n][1:])
            alone = len(held) == 1 and block.ops[held[0]].name not in LOOPS
            if not deep or alone:
                continue
            others = [op for op in accesses if self.element_of(op) != element]
            meeting = [op for op in others if self.comparison.may_alias(mine[0], op, lambda v: True)]
            if "load" in kinds and not meeting:
                reused[element] = held[0], held[-1]
            elif not self.own.isdisjoint(element) and all(map(self.only_adds, (*mine, *meeting))):
                if any(block.ops[n].name in LOOPS for n in held):
                    self.sums.add(element)
                    reused[element] = held[0], held[-1]
        return reused

    def only_adds(self, op: Op) -> bool:
        """Return whether an access is an addition of floats whose old value is not used, so that it may come later."""
        return op.name == "atomic_add" and op.result not in self.used and is_float(dtype_of(op.operands[0]))

    def element_of(self, op: Op) -> Element:
        """Return the element of an access that a value can replace; empty for other operations."""
        return (op.operands[0], *indices_of(op)) if op.name in CARRIED else ()

    def of(self, value: Value) -> Value:
        """Return the value that replaces a value of the original; itself if none does."""
        return self.mapping.get(value, value)

    def op(self, op: Op, states: States) -> None:
        """Emit an operation of the original with its accesses to elements in `states` replaced; update `states`."""
        element = self.element_of(op)
        if element in states:
            self.access(op, element, states)
        elif op.name in LOOPS:
            self.loop(op, states)
        elif op.name == "if":
            self.branch(op, states)
        else:
            blocks = tuple(self.block(b, states) for b in op.blocks)
            operands = tuple(self.of(v) for v in op.operands)
            self.builder.append(op.replace(operands, blocks=blocks))

    def access(self, op: Op, element: Element, states: States) -> None:
        """Replace an access to an element by the value in `states`; a store or addition changes that."""
        state = states[element]
        if op.name != "store" and op.results:
            self.mapping[op.result] = state.value
        if op.name == "load":
            return
        value = self.of(op.operands[-1])
        if op.name == "atomic_add":
            value = (Ref(self.builder, state.value) + Ref(self.builder, value)).value
        states[element] = _State(value, self.builder.const(True, bool_))

    def branch(self, op: Op, states: States) -> None:
        """Emit an `if` whose sides yield every element that either of them writes."""
        changed = [e for e in states if any(_writes(b, e) for b in op.blocks)]
        blocks = tuple(self.block(b, dict(states), changed) for b in op.blocks)
        extra = self.extra(changed, states)
        results = (*op.results, *(v for s in extra for v in (s.value, s.written)))
        self.builder.append(op.replace((self.of(op.operands[0]),), results=results, blocks=blocks))
        states.update(zip(changed, extra, strict=True))

    def extra(self, elements: Sequence[Element], states: States) -> list[_State]:
        """Return new values, of an element and of whether it was written, for each of these elements."""
        return [_State(fresh(states[e].value), Value(bool_)) for e in elements]

    def loop(self, op: Op, states: States) -> None:
        """Emit a loop that carries the elements that it writes."""
        changed = [e for e in states if any(_writes(b, e) for b in op.blocks)]
        blocks: list[Block] = []
        for number, block in enumerate(op.blocks):
            extra = self.extra(changed, states)
            params = (*block.params, *(v for s in extra for v in (s.value, s.written)))
            condition = op.name == "while" and number == 0
            inner = {**states, **dict(zip(changed, extra, strict=True))}
            blocks.append(self.block(Block(params, block.ops), inner, () if condition else changed))
        results = self.extra(changed, states)
        init = [v for e in changed for v in (states[e].value, states[e].written)]
        operands = (*(self.of(v) for v in op.operands), *init)
        every = (*op.results, *(v for s in results for v in (s.value, s.written)))
        self.builder.location = op.location
        self.builder.append(op.replace(operands, results=every, blocks=tuple(blocks)))
        states.update(zip(changed, results, strict=True))

    def before(self, element: Element) -> _State:
        """Emit the read of an element if its indices are in range, else a 0; return that as its state, not written.

        One that is only added to begins as 0.
        """
        array, *indices = (self.of(v) for v in element)
        builder = self.builder
        if element in self.sums:
            return _State(nothing(builder, array_of(array).dtype), builder.const(False, bool_))
        valid: Ref | None = None
        for axis, index in enumerate(indices):
            size = Ref(builder, builder.one("shape", (array,), int32, {AXIS: axis})).cast(int64)
            wide = Ref(builder, index).cast(int64)
            inside = operators.and_(wide >= 0, wide < size)
            valid = inside if valid is None else operators.and_(valid, inside)
        assert valid is not None
        with builder.block() as then:
            builder.yield_(builder.load(array, *indices))
        with builder.block() as orelse:
            builder.yield_(nothing(builder, array_of(array).dtype))
        (value,) = builder.if_(valid.value, then.block, orelse.block)
        return _State(value, builder.const(False, bool_))

    def after(self, element: Element, state: _State) -> None:
        """Emit the store of an element, or the addition of a sum to it, which runs if it was written."""
        with self.builder.block() as then:
            array, *indices = (self.of(v) for v in element)
            if element in self.sums:
                self.builder.one("atomic_add", (array, *indices, state.value), state.value.type)
            else:
                self.builder.store(array, *indices, state.value)
            self.builder.yield_()
        with self.builder.block() as orelse:
            self.builder.yield_()
        self.builder.if_(state.written, then.block, orelse.block)


def _where(block: Block, element: Element, loads: bool) -> Location:
    """Return the location at which the block first reads the element (`loads`), or first changes it; else `UNKNOWN`."""
    ops = (o for o in walk(block) if o.name in CARRIED and (o.name == "load") == loads)
    return next((o.location for o in ops if (o.operands[0], *indices_of(o)) == element), UNKNOWN)


def _writes(block: Block, element: Element) -> bool:
    """Return whether a block stores or adds to an element, at any depth."""
    return any(o.name in WRITES and (o.operands[0], *indices_of(o)) == element for o in walk(block))


# What can be done too often: whole, defined for all operands, and reported by no check.
REPEATABLE = frozenset({"const", "cast", "shape", "tid", "add", "sub", "mul", "neg", "wrap_index"})


def hoist(function: Function) -> Function:
    """Return the function with integer operations moved out of loops where their operands do not change in these."""
    return rewrite(function, _hoisted)


def _hoisted(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
    """Return a loop's invariant integer operations and then the loop without them; None of any other operation."""
    if op.name not in LOOPS:
        return None
    moved = _steady(op)
    rest = Rewriter(lambda _, inner: () if inner in moved else None).inside(op)
    return (*moved, on.inside(rest))


def _steady(loop: Op) -> dict[Op, None]:
    """Return the integer operations to move out of a loop, as the keys of a dictionary, in the order of the program."""
    ops = [op for block in loop.blocks for op in walk(block)]
    inside: set[Value] = {v for op in ops for v in op.results}
    inside |= {p for op in (loop, *ops) for block in op.blocks for p in block.params}
    moved: dict[Op, None] = {}
    for op in ops:
        if op.name not in REPEATABLE or not is_integer(op.result.type) or op.attrs.get(CAPTURED):
            continue
        is_steady = op.name == "shape" or all(is_integer(v.type) for v in op.operands)
        if is_steady and inside.isdisjoint(op.operands):
            moved[op] = None
            inside.discard(op.result)
    return moved
