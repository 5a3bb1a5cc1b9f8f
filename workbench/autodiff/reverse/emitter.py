"""The state in which an adjoint is written: a builder that remembers how each value was computed, and cotangents.

The builder (`Emitter`) also has names for readers. `inlined` and `written` copy operations through it, with other
values for some: closed blocks (a gradient or a replay that a user wrote) and what is recomputed.

Cotangents are gathered in one block: pieces by value, summed when the value's own turn comes. A vector's cotangent may
be known by component, so that an unused component has none, rather than a 0 that a NaN would survive. For the same
reason a piece may carry `live`: a bool that is false where the program did not use the value (the side of a `where` or
an `if` that was not taken), so that rules can give 0 there whatever they compute. A tile's pieces are tiles, and `live`
may be one too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from workbench.autodiff.analysis.carried import Form, forms
from workbench.builtins import Ref
from workbench.builtins.declaration.refs import constant, pack
from workbench.builtins.scalars import operators
from workbench.ir.build import Builder, copy_block, fresh, replace_body
from workbench.ir.values import Block, Function, Op, Value, number_of, vector_of
from workbench.tiles import Tile
from workbench.types import Scalar, Type, Vector, element
from workbench.types import bool as bool_

Env = dict[Value, Value]


class Emitter(Builder):
    """A builder of adjoints and tangents that records how values were computed.

    Attributes:
        defs: the operation of each value.
        labels: names for readers, for values that had none when they were emitted.
        recomputed: values of the forward sweep.
        laters: for each branch or loop, the `later` (see `recompute`) that stood for it last.
        counts: for each `while`, as it was recomputed last, how many iterations it had, as int64.
        events: for each loop, as it was recomputed last, by the number of a carried value with a form (`forms`), the
            iterations of the last event of each kind.
    """

    def __init__(self) -> None:
        """Begin with the outermost block open, and empty."""
        super().__init__()
        self.defs: dict[Value, Op] = {}
        self.labels: dict[Value, str] = {}
        self.recomputed: set[Value] = set()
        self.laters: dict[Op, Op] = {}
        self.counts: dict[Op, Value] = {}
        self.events: dict[Op, dict[int, list[Value]]] = {}
        self._forms: dict[Op, dict[int, Form]] = {}
        self._free: dict[Op, tuple[Value, ...]] = {}

    def free(self, op: Op) -> tuple[Value, ...]:
        """Return the operands of an operation, and the values from outside that its blocks use."""
        if op not in self._free:
            used = dict.fromkeys(op.operands)
            for block in op.blocks:
                inside = set(block.params)
                for inner in block.ops:
                    # Kept by operation: nested blocks are asked about at every level, which would be quadratic in the
                    # depth.
                    names = self.free(inner) if inner.blocks else inner.operands
                    used.update(dict.fromkeys(v for v in names if v not in inside))
                    inside.update(inner.results)
            self._free[op] = tuple(used)
        return self._free[op]

    def forms(self, op: Op, env: Env) -> dict[int, Form]:
        """Return those carried values of a loop that need no history, by number, as a `Latch` or an `Extreme`.

        It is computed once for each loop; empty for other operations.

        Args:
            op: the kernel's loop.
            env: the kernel's values to those here, by which constants are recognised.
        """
        if op not in self._forms:
            self._forms[op] = forms(op, lambda value: self.defs.get(env[value]) if value in env else None)
        return self._forms[op]

    def append(self, op: Op) -> Op:
        """Add an existing operation to the open block, and return it."""
        self.defs.update((v, op) for v in op.results)
        return super().append(op)

    def number(self, value: Value) -> int | None:
        """Return an integer constant's number, also behind casts; None if the value is no constant."""
        op = self.defs.get(value)
        while op is not None and op.name == "cast":
            op = self.defs.get(op.operands[0])
        return int(number_of(op)) if op is not None and op.name == "const" else None

    def label(self, value: Value, name: str) -> None:
        """Set a value's name for readers, unless it has one."""
        if name and not value.name:
            self.labels.setdefault(value, name)

    def ref(self, value: Value) -> Ref:
        """Return the value wrapped for Python's operators, which emit here."""
        return Ref(self, value)

    def reopened(self, block: Block, params: Sequence[Value], tail: Callable[[], Sequence[Value]]) -> Block:
        """Return a block with the same operations, other parameters, and what `tail` emits and returns as its results.

        Args:
            block: operations without a `yield`.
            params: the parameters.
            tail: emits more operations; returns what to yield.
        """
        with self.block(params) as opened:
            for op in block.ops:
                self.append(op)
            self.yield_(*tail())
        return opened.block


def relabelled(function: Function, labels: dict[Value, str]) -> Function:
    """Return a copy of the function in which the values in `labels` have these names."""

    def label(value: Value) -> Value:
        return Value(value.type, labels[value]) if value in labels else value

    return replace_body(function, copy_block(function.body, {}, label))


Lost = Callable[[Op, Env], bool]


def inlined(
    block: Block, arguments: Sequence[Value], builder: Emitter, lost: Lost = lambda op, env: False
) -> list[Value]:
    """Emit copies of a block's operations with arguments in place of its parameters; return what it yields.

    Args:
        block: a closed block.
        arguments: for its parameters.
        builder: where to emit.
        lost: may emit something else for an operation, given that and the values so far, and returns whether it did.
    """
    # A map of its own: the block's values mean nothing to what comes after it.
    env = dict(zip(block.params, arguments, strict=True))
    written(block.ops[:-1], env, builder, lost)
    return [env[v] for v in block.yielded]


def written(ops: Sequence[Op], env: Env, builder: Emitter, lost: Lost = lambda op, env: False) -> None:
    """Emit copies of operations, with the blocks inside.

    Args:
        ops: the operations.
        env: their operands to the values to use; receives their results, and the parameters of their blocks.
        builder: where to emit.
        lost: takes an operation and `env`; an operation of which it is true is left out.
    """
    for op in ops:
        builder.location = op.location
        if lost(op, env):
            continue
        blocks: list[Block] = []
        for inner in op.blocks:
            params = tuple(fresh(p) for p in inner.params)
            env.update(zip(inner.params, params, strict=True))
            with builder.block(params) as opened:
                written(inner.ops, env, builder, lost)
            blocks.append(opened.block)
        builder.location = op.location
        types, names = [v.type for v in op.results], [v.name for v in op.results]
        emitted = builder.emit(op.name, [env[v] for v in op.operands], types, op.attrs, blocks, names)
        env.update(zip(op.results, emitted.results, strict=True))


class Piece(msgspec.Struct, frozen=True):
    """A contribution to a value's cotangent.

    Attributes:
        ref: the contribution.
        component: the component to which it goes; None: it goes to the whole value.
        live: a bool that says whether it counts; None: it always does.
    """

    ref: Ref
    component: int | None = None
    live: Ref | None = None

    def at(self, component: int | None) -> Piece:
        """Return the contribution as one to this component (None: to the whole value)."""
        return Piece(self.ref, component, self.live)


class Cotangent(msgspec.Struct, frozen=True):
    """The summed cotangent of a value.

    Attributes:
        builder: emits operations on it.
        type: of the value.
        whole: the cotangent as one value; None: it is known by component.
        parts: by component; None where one has no cotangent.
    """

    builder: Emitter
    type: Scalar | Vector | Tile
    whole: Piece | None = None
    parts: tuple[Piece | None, ...] = ()

    def full(self) -> Piece:
        """Return the cotangent as one value of the value's type, with 0 for components that have none."""
        if self.whole is not None:
            return self.whole
        assert isinstance(self.type, Vector)
        zero = constant(self.builder, 0.0, self.type.dtype)
        ref = pack([p.ref if p is not None else zero for p in self.parts], self.type)
        return Piece(ref, None, _any_live([p for p in self.parts if p is not None]))

    def components(self) -> tuple[Piece | None, ...]:
        """Return the cotangent by component; None where one has none."""
        whole_piece = self.whole
        if whole_piece is None:
            return self.parts
        return tuple(Piece(ref, None, whole_piece.live) for ref in whole_piece.ref.components())


class Cotangents(msgspec.Struct, frozen=True):
    """The contributions so far, in one open block, to the cotangents of active values.

    Attributes:
        builder: emits the sums.
        active: the values that have a cotangent.
        pieces: the contributions by value.
    """

    builder: Emitter
    active: frozenset[Value]
    pieces: dict[Value, list[Piece]] = msgspec.field(default_factory=dict[Value, list[Piece]])

    def add(self, value: Value, piece: Piece) -> None:
        """Add a contribution to a value's cotangent; one to a value that needs none is dropped."""
        if value in self.active:
            expected = value.type if piece.component is None else element(value.type)
            assert piece.ref.type == expected, f"cotangent of {value.type!r} is {piece.ref.type!r}"
            self.pieces.setdefault(value, []).append(piece)

    def take(self, value: Value) -> Cotangent | None:
        """Emit the sum of a value's contributions, and forget them; None if there are none."""
        pieces = self.pieces.pop(value, None)
        if not pieces:
            return None
        assert isinstance(value.type, (Scalar, Vector, Tile))
        whole_pieces = [p for p in pieces if p.component is None]
        # Adding whole vectors keeps one operation for all components; by component only where somebody used one alone.
        if len(whole_pieces) == len(pieces):
            return self._named(Cotangent(self.builder, value.type, _sum(whole_pieces)), value)
        columns = [[p for p in pieces if p.component == c] for c in range(vector_of(value).length)]
        parts = Cotangent(self.builder, value.type, None, tuple(_sum(c) if c else None for c in columns))
        if not whole_pieces:
            return parts
        return self._named(Cotangent(self.builder, value.type, _sum([*whole_pieces, parts.full()])), value)

    def take_full(self, value: Value) -> Piece | None:
        """Emit a value's cotangent as one value, and forget its contributions; None if there are none.

        Its `live` is a bool, never a tile.
        """
        cotangent = self.take(value)
        if cotangent is None:
            return None
        piece = cotangent.full()
        return settled(piece) if piece.live is not None and isinstance(piece.live.type, Tile) else piece

    def rest(self) -> dict[Value, Piece]:
        """Emit and return the cotangents of all values that are left, which are defined outside this block."""
        pieces_left: dict[Value, Piece] = {}
        for value in list(self.pieces):
            piece = self.take_full(value)
            assert piece is not None
            pieces_left[value] = piece
        return pieces_left

    def _named(self, cotangent: Cotangent, value: Value) -> Cotangent:
        """Label a cotangent that is one value as `adj_<name>`, if its value has a name; return it."""
        if value.name and cotangent.whole is not None:
            self.builder.label(cotangent.whole.ref.value, f"adj_{value.name}")
        return cotangent


def _sum(pieces: Sequence[Piece]) -> Piece:
    """Emit the sum of contributions, which counts where one of them does; the sum has no component."""
    ref = pieces[0].ref
    for piece in pieces[1:]:
        ref = ref + piece.ref
    return Piece(ref, None, _any_live(pieces))


def _any_live(pieces: Sequence[Piece]) -> Ref | None:
    """Emit the condition under which one of the contributions counts; None if one always does."""
    live: Ref | None = None
    for piece in pieces:
        if piece.live is None:
            return None
        live = piece.live if live is None else operators.or_(live, piece.live)
    return live


def both(a: Ref | None, b: Ref | None) -> Ref | None:
    """Emit the condition that holds where both do; None always holds."""
    return operators.and_(a, b) if a is not None and b is not None else a if a is not None else b


def zero(builder: Emitter, type: Type) -> Ref:
    """Return a cotangent of 0, that of a float value which was not used."""
    assert isinstance(type, (Scalar, Vector, Tile))
    return constant(builder, 0.0, type)


def settled(piece: Piece) -> Piece:
    """Emit the contribution with 0 where it does not count; return it as it is if it always counts."""
    if piece.live is None:
        return piece
    return Piece(operators.where(piece.live, piece.ref, piece.ref.like(0)), piece.component)


def nothing(builder: Builder, type: Type) -> Value:
    """Emit a 0 of any type: the cotangent of a result that has none, also of an integer."""
    return builder.const((0,) * type.length if isinstance(type, Vector) else 0, type)


def truth(builder: Emitter, value: bool) -> Ref:
    """Emit a bool constant."""
    return Ref(builder, builder.const(value, bool_))
