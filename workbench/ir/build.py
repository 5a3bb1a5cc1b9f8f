"""Building IR, and copying it with parts replaced.

IR is built with a stack of open blocks and a current location (`Builder`). Passes and autodiff are made of copies with
parts replaced (`Rewriter`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from workbench.ir.ops import CAPTURED, SHAPE, VALUE, Attributes, Number, attributes
from workbench.ir.values import Block, Function, Op, Value, dtype_of
from workbench.source import UNKNOWN, Location
from workbench.tiles import Tile, contents
from workbench.types import Scalar, Slots, Type, Vector, int32, is_weak, strong
from workbench.types import bool as bool_

_NONE = attributes({})


class Builder:
    """Appends operations to the innermost open block.

    `location` is stamped on every operation; set it as you go. `body()` closes the outermost block.
    """

    def __init__(self) -> None:
        self._stack: list[list[Op]] = [[]]
        self.location: Location = UNKNOWN

    def append(self, op: Op) -> Op:
        """Append an operation; return it."""
        self._stack[-1].append(op)
        return op

    def number(self, value: Value) -> float | int | bool | None:
        """Return the number of a scalar constant that was emitted in an open block; None for any other value."""
        consts = (op for ops in self._stack for op in ops if op.name == "const" and op.result is value)
        number = next((op.attrs[VALUE] for op in consts), None)
        return number if isinstance(number, (int, float)) else None

    def extend(self, ops: Iterable[Op]) -> None:
        """Append operations, such as those of a block that this builder has closed."""
        self._stack[-1].extend(ops)

    def emit(
        self,
        name: str,
        operands: Sequence[Value] = (),
        types: Sequence[Type] = (),
        attrs: Attributes | Mapping[str, object] | None = None,
        blocks: Sequence[Block] = (),
        names: Sequence[str] = (),
    ) -> Op:
        """Append an operation with one result for each type, and return it.

        `names` are the results' names for readers; those that are missing are empty.
        """
        labels = [*names, *[""] * (len(types) - len(names))]
        results = tuple(Value(t, n) for t, n in zip(types, labels, strict=True))
        held = attributes(attrs) if attrs else _NONE
        return self.append(Op(name, tuple(operands), results, held, tuple(blocks), self.location))

    def one(
        self, name: str, operands: Sequence[Value], type: Type, attrs: Attributes | Mapping[str, object] | None = None
    ) -> Value:
        """Append an operation with one result, and return that."""
        result = Value(type)
        self.append(Op(name, tuple(operands), (result,), attributes(attrs) if attrs else _NONE, (), self.location))
        return result

    def const(self, value: Number | tuple[Number, ...], type: Type = int32, captured: str | None = None) -> Value:
        """Append a constant, and return its value.

        Args:
            value: a Python number, or a tuple of numbers for a vector type.
            type: of the constant.
            captured: its name in the user's namespace; None for a literal.
        """
        return self.one("const", (), type, VALUE.of(value) if captured is None else {VALUE: value, CAPTURED: captured})

    def cast(self, value: Value, type: Type) -> Value:
        """Append a cast of `value` to `type`, and return its result; `value` itself if it has that type already."""
        same = value.type is type or (value.type == type and is_weak(value.type) == is_weak(type))
        return value if same else self.one("cast", (value,), type)

    def strong(self, value: Value) -> Value:
        """Return `value` cast from a weak type to its default type; `value` itself if its type is not weak."""
        return self.cast(value, strong(value.type))

    def load(self, array: Value, *indices: Value) -> Value:
        """Append a load of the element at `indices`, and return its value."""
        return self.one("load", (array, *indices), dtype_of(array))

    def store(self, array: Value, *indices_and_value: Value) -> Op:
        """Append a store of the last argument to the element at the indices before it."""
        return self.emit("store", (array, *indices_and_value))

    def slots(self, dtype: Scalar | Vector, count: int) -> Value:
        """Append storage for `count` values of one type, and return it; it is undefined until written."""
        return self.one("slots", (), Slots(dtype, count))

    def slot_read(self, slots: Value, index: Value) -> Value:
        """Append a read of the slot at an index, and return its value."""
        return self.one("slot_read", (slots, index), dtype_of(slots))

    def slot_write(self, slots: Value, index: Value, value: Value) -> Op:
        """Append a write of a value to the slot at an index."""
        return self.emit("slot_write", (slots, index, value))

    def block(self, params: Sequence[Value] = ()) -> OpenBlock:
        """Open a nested block for the length of a `with`; afterwards `.block` has it. End it with `yield_`."""
        return OpenBlock(self._stack, tuple(params))

    def yield_(self, *values: Value) -> None:
        """Append the `yield` that ends the innermost block."""
        self.emit("yield", values)

    def if_(self, condition: Value, then: Block, orelse: Block) -> tuple[Value, ...]:
        """Append an `if`, and return its results, of the types that the two blocks yield."""
        assert condition.type == bool_
        names = [v.name for v in then.yielded]
        return self.emit("if", (condition,), [v.type for v in then.yielded], None, (then, orelse), names).results

    def for_(
        self,
        start: Value,
        stop: Value,
        step: Value,
        init: Sequence[Value],
        body: Block,
        attrs: Attributes | Mapping[str, object] | None = None,
    ) -> tuple[Value, ...]:
        """Append a `for`, and return its results: the carried values after the last iteration.

        `body` takes (index, *carried) and yields the next carried values.
        """
        names = [v.name for v in body.params[1:]]
        return self.emit("for", (start, stop, step, *init), [v.type for v in init], attrs, (body,), names).results

    def while_(self, init: Sequence[Value], condition: Block, body: Block) -> tuple[Value, ...]:
        """Append a `while`, and return its results: the carried values at its end.

        Both blocks take the carried values; `condition` yields a bool, and `body` the next carried values.
        """
        names = [v.name for v in body.params]
        return self.emit("while", init, [v.type for v in init], None, (condition, body), names).results

    def tile_map(
        self,
        shape: tuple[int, ...],
        tiles: Sequence[Value],
        make: Callable[[list[Value], list[Value]], Sequence[Value]],
        names: Sequence[str] = (),
    ) -> tuple[Value, ...]:
        """Append a map over the elements of tiles of one shape.

        Args:
            shape: of the tiles.
            tiles: the operands.
            make: gets an element's indices and the operands' elements; emits the block, and returns the results'
                elements.
            names: of the results.

        Returns:
            A tile for each value that `make` returns.
        """
        indices = [Value(int32) for _ in shape]
        elements = [Value(contents(t.type), t.name) for t in tiles]
        with self.block((*indices, *elements)) as opened:
            yielded = tuple(map(self.strong, make(indices, elements)))
            self.yield_(*yielded)
        types = [Tile(contents(v.type), shape) for v in yielded]
        return self.emit("tile_map", tiles, types, {SHAPE: shape}, (opened.block,), names).results

    def body(self) -> Block:
        """Return the outermost block; no nested block may be open."""
        assert len(self._stack) == 1, "a nested block is still open"
        return Block((), tuple(self._stack[0]))


class OpenBlock:
    """A block that a builder is filling; `block` is empty until it is closed."""

    def __init__(self, stack: list[list[Op]], params: tuple[Value, ...]) -> None:
        self._stack = stack
        self._params = params
        self.block = Block(params)

    def __enter__(self) -> OpenBlock:
        """Open the block."""
        self._stack.append([])
        return self

    def __exit__(self, *_: object) -> None:
        """Close the block; an error inside goes on."""
        self.block = Block(self._params, tuple(self._stack.pop()))


Replacements = dict[Value, Value]


class Tested(msgspec.Struct, frozen=True):
    """Another form of a function, for the launches in which a test holds.

    Attributes:
        test: a function that ends in a `yield` of whether the form may run, the same for all threads; None: it always
            may.
        function: the form.
    """

    test: Function | None
    function: Function


class Rewriter(msgspec.Struct):
    """Writes blocks again with some of their operations replaced, in order and from the outside in.

    Attributes:
        change: gets the rewriter and each operation, its operands replaced but its blocks as they were; returns the
            operations that replace it, or None to keep it with its blocks rewritten.
        mapping: by value that is gone, its replacement. `change` adds to it.
    """

    change: Callable[[Rewriter, Op], Iterable[Op] | None]
    mapping: Replacements = msgspec.field(default_factory=dict[Value, Value])

    def block(self, block: Block) -> Block:
        """Return the block rewritten; parameters and results that are kept stay the same values."""
        ops: list[Op] = []
        for op in block.ops:
            if not self.mapping.keys().isdisjoint(op.operands):
                op = op.replace(tuple(self.mapping.get(v, v) for v in op.operands))
            changed = self.change(self, op)
            if changed is not None:
                ops += changed
            else:
                ops.append(self.inside(op) if op.blocks else op)
        return Block(block.params, tuple(ops))

    def inside(self, op: Op) -> Op:
        """Return the operation with its blocks rewritten."""
        return map_blocks(op, self.block)


def rewrite(function: Function, change: Callable[[Rewriter, Op], Iterable[Op] | None]) -> Function:
    """Return the function with operations replaced, in order and from the outside in.

    Args:
        function: stays unchanged.
        change: gets the rewriter and each operation; returns the operations that replace it, or None to keep it,
            with its blocks rewritten.
    """
    return replace_body(function, Rewriter(change).block(function.body))


def fresh(value: Value) -> Value:
    """Return a new value of the same type and name."""
    return Value(value.type, value.name)


def copy_op(
    op: Op, mapping: Replacements, new: Callable[[Value], Value] = fresh, location: Location | None = None
) -> Op:
    """Return a copy of an operation with new results.

    Args:
        op: the operation.
        mapping: replacements of operands; receives those of the results, and of values in the blocks.
        new: returns the new value for an old one.
        location: of the copy; None: as the operation's own.
    """
    operands = tuple(mapping.get(v, v) for v in op.operands)
    blocks = tuple(copy_block(b, mapping, new, location) for b in op.blocks)
    results = tuple(new(v) for v in op.results)
    mapping.update(zip(op.results, results, strict=True))
    return Op(op.name, operands, results, op.attrs, blocks, location or op.location)


def copy_block(
    block: Block, mapping: Replacements, new: Callable[[Value], Value] = fresh, location: Location | None = None
) -> Block:
    """Return a copy of a block with new parameters, operations and results.

    Args:
        block: the block.
        mapping: replacements of operands; receives those of the parameters and of all results.
        new: returns the new value for an old one.
        location: of all copied operations; None: each its own.
    """
    params = tuple(new(v) for v in block.params)
    mapping.update(zip(block.params, params, strict=True))
    return Block(params, tuple(copy_op(op, mapping, new, location) for op in block.ops))


def replace_body(function: Function, body: Block) -> Function:
    """Return a copy of the function that has another body."""
    return replace(function, body=body)


def map_blocks(op: Op, change: Callable[[Block], Block]) -> Op:
    """Return the operation with each of its blocks changed; the operation itself if it has none."""
    return op.replace(blocks=tuple(change(b) for b in op.blocks)) if op.blocks else op
