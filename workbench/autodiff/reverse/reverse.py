"""The reverse sweep: a block's operations walked backwards, each giving cotangents to its operands.

One method or table row an operation; loops are in `loops`. Effects are mirrored on the adjoint arrays: a store is read
and cleared, an addition is read, a load is added to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from workbench.autodiff.analysis.activity import touches_floats
from workbench.autodiff.memory.effects import Memory
from workbench.autodiff.reverse import custom_gradients, loops, tiles
from workbench.autodiff.reverse.cotangents import Cotangent, Cotangents, Piece, both, truth, zero
from workbench.autodiff.reverse.emitter import Emitter
from workbench.autodiff.reverse.recompute import recompute
from workbench.builtins import TABLE, Builtin, Ref
from workbench.builtins.scalars import operators
from workbench.errors import NotDifferentiable
from workbench.ir.values import Block, Op, Value
from workbench.types import Vector, element, is_float

# Rules that hold on whole vectors as they stand.
WHOLE = frozenset({"add", "sub", "mul", "div", "neg", "where"})
# Rules that only pass the cotangent on: they cannot turn a 0 into a NaN.
PASSING = frozenset({"add", "sub", "neg", "where", "min", "max", "degrees", "radians"})


@dataclass(frozen=True)
class Reverse:
    """One sweep.

    Attributes:
        function: the kernel's name.
        active: the values that get a cotangent.
        memory: what the kernel does to its arrays.
        env: the kernel's values in the adjoint; grows with the sweep.
        adjoints: for each parameter of the kernel that has a gradient, its adjoint array.
        plain: arrays whose adjoint is added to without atomics.
        builder: where the adjoint is written.
        checkpointed: loops whose carried values are kept.
        slots: how many states of such a loop are kept at once.
        cautious: a thread may overwrite what it stored, so that a cotangent is 0 because nobody saw the value.
    """

    function: str
    active: frozenset[Value]
    memory: Memory
    env: dict[Value, Value]
    adjoints: dict[Value, Value]
    plain: frozenset[Value]
    builder: Emitter
    checkpointed: frozenset[Op] = frozenset()
    slots: int = 16
    cautious: bool = False

    def block(self, block: Block, cotangents: Cotangents) -> None:
        """Recompute the block's values, then walk it backwards; what is left in `cotangents` belongs outside."""
        ops = block.ops[:-1] if block.ops and block.ops[-1].name == "yield" else block.ops
        recompute(ops, self.env, self.builder, self.memory.late)
        for op in reversed(ops):
            self.builder.location = op.location
            if op.name in _EFFECTS:
                _EFFECTS[op.name](self, op, cotangents)
            elif op.results:
                found = cotangents.take(op.result)
                if found is not None:
                    _VALUES.get(op.name, Reverse.builtin)(self, op, found, cotangents)

    def new_cotangents(self) -> Cotangents:
        """An empty gathering, for a nested block."""
        return Cotangents(self.builder, self.active)

    def ref(self, value: Value) -> Ref:
        """The kernel's value in the adjoint."""
        return self.builder.ref(self.env[value])

    def refuse(self, message: str, op: Op, advice: str = "") -> NotDifferentiable:
        """The error for this operation."""
        return NotDifferentiable(message, op.location, advice=advice, function=self.function)

    def adjoint_element(self, op: Op) -> tuple[Value, list[Value]]:
        """The adjoint array and the indices that mirror a memory operation."""
        array = op.operands[0]
        if op.name == "reduce_add":
            return self.adjoints[array], [self.builder.const(0)]
        count = array.type.ndim  # type: ignore[union-attr]
        return self.adjoints[array], [self.env[v] for v in op.operands[1 : 1 + count]]

    # Effects.

    def store(self, op: Op, cotangents: Cotangents) -> None:
        """Read and clear."""
        if is_float(op.operands[0].type):
            self.added(op, cotangents)
            array, indices = self.adjoint_element(op)
            self.builder.store(array, *indices, zero(self.builder, op.operands[-1].type).value)

    def added(self, op: Op, cotangents: Cotangents) -> None:
        """Read."""
        if op.results and op.result in self.active:
            raise self.refuse(
                "The old value that atomic_add returns is used here in a way that has no derivative yet.", op,
                "Use the array in a second kernel.",
            )  # fmt: skip
        if op.operands[-1] in self.active:
            array, indices = self.adjoint_element(op)
            cotangents.add(op.operands[-1], Piece(self.builder.ref(self.builder.load(array, *indices))))

    # Operations with a value.

    def load(self, op: Op, found: Cotangent, cotangents: Cotangents) -> None:
        """Add to the adjoint array: plainly where this thread alone touches the element."""
        value = found.full().ref
        array, indices = self.adjoint_element(op)
        if op.operands[0] in self.plain:
            old = self.builder.ref(self.builder.load(array, *indices))
            self.builder.store(array, *indices, (old + value).value)
        else:
            self.builder.emit("atomic_add", (array, *indices, value.value), (value.type,))

    def cast(self, op: Op, found: Cotangent, cotangents: Cotangents) -> None:
        """Cast back."""
        type = element(op.operands[0].type)
        if found.whole is not None:
            ref = found.whole.ref.cast(op.operands[0].type)
            cotangents.add(op.operands[0], Piece(ref, None, found.whole.live))
        else:
            for position, piece in enumerate(found.parts):
                if piece is not None:
                    cotangents.add(op.operands[0], Piece(piece.ref.cast(type), position, piece.live))

    def vec(self, op: Op, found: Cotangent, cotangents: Cotangents) -> None:
        """Each component's cotangent to its scalar."""
        for operand, piece in zip(op.operands, found.components(), strict=True):
            if piece is not None:
                cotangents.add(operand, piece)

    def extract(self, op: Op, found: Cotangent, cotangents: Cotangents) -> None:
        """To one component; where the index is not a constant, to the one it is."""
        vector, index = op.operands
        piece = found.full()
        fixed = self.constant(index)
        if fixed is not None:
            cotangents.add(vector, piece.at(fixed))
            return
        for position in range(vector.type.length):  # type: ignore[union-attr]
            here = self.ref(index).equals(position)
            ref = operators.where(here, piece.ref, piece.ref.like(0))
            cotangents.add(vector, Piece(ref, position, both(piece.live, here)))

    def insert(self, op: Op, found: Cotangent, cotangents: Cotangents) -> None:
        """The inserted component's cotangent to the scalar, the others' to the vector."""
        vector, index, scalar = op.operands
        fixed = self.constant(index)
        for position, piece in enumerate(found.components()):
            if piece is None:
                continue
            if fixed is not None:
                target = (scalar, None) if position == fixed else (vector, position)
                cotangents.add(target[0], piece.at(target[1]))
                continue
            here, none = self.ref(index).equals(position), piece.ref.like(0)
            others = both(piece.live, operators.not_(here))
            cotangents.add(vector, Piece(operators.where(here, none, piece.ref), position, others))
            cotangents.add(scalar, Piece(operators.where(here, piece.ref, none), None, both(piece.live, here)))

    def constant(self, index: Value) -> int | None:
        """The number, where the index is a constant."""
        op = self.builder.made.get(self.env[index])
        while op is not None and op.name == "cast":
            op = self.builder.made.get(op.operands[0])
        return int(op.attrs["value"]) if op is not None and op.name == "const" else None

    def builtin(self, op: Op, found: Cotangent, cotangents: Cotangents) -> None:
        """By the builtin's own rule; on vectors component by component where the rule is one of scalars."""
        entry = TABLE[op.name]
        if entry.gradient is None:
            why = entry.differentiable.removeprefix("no: ") or "it has no adjoint rule"
            raise self.refuse(f"{op.name}() has no derivative: {why}.", op)
        split = isinstance(op.result.type, Vector) and entry.elementwise
        if not split or (op.name in WHOLE and found.whole is not None and not self.cautious):
            self.rule(entry, op, found.full(), None, cotangents)
            return
        for position, piece in enumerate(found.components()):
            if piece is not None:
                self.rule(entry, op, piece, position, cotangents)

    def rule(self, entry: Builtin, op: Op, piece: Piece, component: int | None, cotangents: Cotangents) -> None:
        """Apply the rule to the whole, or to one component of each vector."""

        def part(value: Value) -> Ref:
            ref = self.ref(value)
            return ref.component(component) if component is not None and isinstance(value.type, Vector) else ref

        assert entry.gradient is not None
        given = entry.gradient(piece.ref, part(op.result), *(part(v) for v in op.operands))
        for operand, ref in zip(op.operands, given, strict=True):
            if ref is None or operand not in self.active:
                continue
            live = both(piece.live, self.selected(ref))
            if piece.live is not None and op.name not in PASSING:
                ref = operators.where(piece.live, ref, ref.like(0))
            if self.cautious and op.name not in PASSING:
                ref = operators.where(_lost(piece.ref, ref), ref.like(0), ref)
            place = component if isinstance(operand.type, Vector) else None
            cotangents.add(operand, Piece(ref, place, live))

    def selected(self, ref: Ref) -> Ref | None:
        """Where a rule's result is `where(…)` of something and 0: when it is the something; None: always."""
        chosen = self._selected(ref.value)
        return chosen if isinstance(chosen, Ref) else None

    def _selected(self, value: Value) -> Ref | bool:
        op = self.builder.made.get(value)
        if op is None or op.name not in ("where", "const"):
            return True
        if op.name == "const":
            return bool(any(op.attrs["value"]) if isinstance(value.type, Vector) else op.attrs["value"] != 0)
        condition = self.builder.ref(op.operands[0])
        yes, no = (self._selected(v) for v in op.operands[1:])
        if yes is no:
            return yes
        if (yes, no) == (True, False):
            return condition
        if (yes, no) == (False, True):
            return operators.not_(condition)
        sides = [s if isinstance(s, Ref) else truth(self.builder, s) for s in (yes, no)]
        return operators.where(condition, *sides)

    # Branches.

    def branch(self, op: Op, cotangents: Cotangents) -> None:
        """An `if` with the same predicate: the taken side runs backwards; the other side's values get 0."""
        seeds = {slot: cotangents.take_full(v) for slot, v in enumerate(op.results)}
        if not any(seeds.values()) and not any(touches_floats(b) for b in op.blocks):
            return
        sides = []
        for block in op.blocks:
            with self.builder.block() as opened:
                inner = self.new_cotangents()
                for slot, seed in seeds.items():
                    if seed is not None:
                        inner.add(block.yielded[slot], seed)
                self.block(block, inner)
                self.builder.location = op.location
                found = inner.rest()
            sides.append((opened, found))
        outer = list(dict.fromkeys(v for _, found in sides for v in found))
        then, orelse = (self._side(opened.block, found, outer) for opened, found in sides)
        results = self.builder.if_(self.env[op.operands[0]], then, orelse)
        for value, result, live in zip(outer, results[::2], results[1::2], strict=True):
            self.builder.label(result, value.name and f"adj_{value.name}")
            always = all(value in found and found[value].live is None for _, found in sides)
            cotangents.add(value, Piece(self.builder.ref(result), None, None if always else self.builder.ref(live)))

    def _side(self, block: Block, found: dict[Value, Piece], outer: list[Value]) -> Block:
        """The block, yielding for each outer value its cotangent and whether it counts."""

        def tail() -> list[Value]:
            values = []
            for value in outer:
                piece = found.get(value)
                live = piece.live if piece is not None else None
                values.append(piece.ref.value if piece is not None else zero(self.builder, value.type).value)
                values.append(live.value if live is not None else truth(self.builder, piece is not None).value)
            return values

        return self.builder.reopened(block, (), tail)


def _lost(given: Ref, found: Ref) -> Ref:
    """Whether a cotangent of 0 met an infinite slope. Where the slope is finite nothing is cut: the 0 may vary."""
    none = functools.reduce(operators.and_, [g.equals(0) for g in given.components()])
    return operators.and_(none, functools.reduce(operators.or_, [f.differs(f) for f in found.components()]))


def _nothing(sweep: Reverse, op: Op, found: Cotangent, cotangents: Cotangents) -> None:
    """What depends on nothing that varies."""


def _no_gradient(sweep: Reverse, op: Op, cotangents: Cotangents) -> None:
    """What changes integers alone (`memory.study` refuses the rest)."""


_EFFECTS: dict[str, Callable[[Reverse, Op, Cotangents], None]] = {
    "store": Reverse.store,
    "atomic_add": Reverse.added,
    "reduce_add": Reverse.added,
    "atomic": _no_gradient,
    "if": Reverse.branch,
    "for": loops.reverse_loop,
    "while": loops.reverse_loop,
    "custom": custom_gradients.reverse_custom,
    **tiles.EFFECTS,
}
_VALUES: dict[str, Callable[[Reverse, Op, Cotangent, Cotangents], None]] = {
    "load": Reverse.load,
    "cast": Reverse.cast,
    "vec": Reverse.vec,
    "extract": Reverse.extract,
    "insert": Reverse.insert,
    "const": _nothing,
    **tiles.VALUES,
}
