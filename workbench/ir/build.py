"""Making IR: a builder with a stack of open blocks and a current location."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager

from workbench.ir.attributes import CAPTURED, SHAPE, VALUE, Attributes, Number, attributes
from workbench.ir.values import Block, Op, Value, dtype_of
from workbench.source import UNKNOWN, Location
from workbench.tiles import Tile, contents
from workbench.types import Scalar, Slots, Type, Vector, int32, is_weak, strong
from workbench.types import bool as bool_


class Builder:
    """Appends operations to the innermost open block.

    `location` is stamped on every operation; set it as you go. `body()` closes the outermost block.
    """

    def __init__(self) -> None:
        self._stack: list[list[Op]] = [[]]
        self.location: Location = UNKNOWN

    def append(self, op: Op) -> Op:
        """Add a ready-made operation."""
        self._stack[-1].append(op)
        return op

    def number(self, value: Value) -> float | int | bool | None:
        """Return the number that a constant of the open blocks has; None of any other value."""
        consts = (op for ops in self._stack for op in ops if op.name == "const" and op.result is value)
        number = next((op.attrs[VALUE] for op in consts), None)
        return number if isinstance(number, (int, float)) else None

    def extend(self, ops: Iterable[Op]) -> None:
        """Add operations of a block that this builder has closed; they may be many, and nothing is noted again."""
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
        """Add an operation with one result for each type; `names` are the results' names for readers."""
        labels = [*names, *[""] * (len(types) - len(names))]
        results = tuple(Value(t, n) for t, n in zip(types, labels, strict=True))
        return self.append(Op(name, tuple(operands), results, attributes(attrs or {}), tuple(blocks), self.location))

    def one(
        self, name: str, operands: Sequence[Value], type: Type, attrs: Attributes | Mapping[str, object] | None = None
    ) -> Value:
        """Add an operation with one result and give that."""
        result = Value(type)
        self.append(Op(name, tuple(operands), (result,), attributes(attrs or {}), (), self.location))
        return result

    def const(self, value: Number | tuple[Number, ...], type: Type = int32, captured: str | None = None) -> Value:
        """Return a constant of a scalar type (a Python number) or a vector type (a tuple of numbers)."""
        return self.one("const", (), type, {VALUE: value, CAPTURED: captured})

    def cast(self, value: Value, type: Type) -> Value:
        """Convert `value` to `type`, unless it has that already."""
        same = value.type == type and is_weak(value.type) == is_weak(type)
        return value if same else self.one("cast", (value,), type)

    def strong(self, value: Value) -> Value:
        """Convert a weak `value` to its default type; return any other as it is."""
        return self.cast(value, strong(value.type))

    def load(self, array: Value, *indices: Value) -> Value:
        """Return the element at `indices`."""
        return self.one("load", (array, *indices), dtype_of(array))

    def store(self, array: Value, *indices_and_value: Value) -> Op:
        """Write the last argument to the element at the indices before it."""
        return self.emit("store", (array, *indices_and_value))

    def slots(self, dtype: Scalar | Vector, count: int) -> Value:
        """Storage for values of one type."""
        return self.one("slots", (), Slots(dtype, count))

    def slot_read(self, slots: Value, index: Value) -> Value:
        """Read the slot at an index."""
        return self.one("slot_read", (slots, index), dtype_of(slots))

    def slot_write(self, slots: Value, index: Value, value: Value) -> Op:
        """Keep a value there."""
        return self.emit("slot_write", (slots, index, value))

    @contextmanager
    def block(self, params: Sequence[Value] = ()) -> Generator[OpenBlock]:
        """Open a nested block; after the `with`, `.block` holds it. The body must end with `yield_`."""
        opened = OpenBlock(tuple(params))
        self._stack.append([])
        try:
            yield opened
        finally:
            ops = self._stack.pop()
            opened.block = Block(opened.params, tuple(ops))

    def yield_(self, *values: Value) -> None:
        """End the innermost block."""
        self.emit("yield", values)

    def if_(self, condition: Value, then: Block, orelse: Block) -> tuple[Value, ...]:
        """Return an `if`; its results have the types the two blocks yield."""
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
        """Return a `for`; `body` takes (index, *carried) and yields the next carried."""
        names = [v.name for v in body.params[1:]]
        return self.emit("for", (start, stop, step, *init), [v.type for v in init], attrs, (body,), names).results

    def while_(self, init: Sequence[Value], condition: Block, body: Block) -> tuple[Value, ...]:
        """Return a `while`; both blocks take the carried values."""
        names = [v.name for v in body.params]
        return self.emit("while", init, [v.type for v in init], None, (condition, body), names).results

    def tile_map(
        self,
        shape: tuple[int, ...],
        tiles: Sequence[Value],
        make: Callable[[list[Value], list[Value]], Sequence[Value]],
        names: Sequence[str] = (),
    ) -> tuple[Value, ...]:
        """Elements of tiles of one shape: `make(indices, elements)` emits what is done for each, and gives its values.

        Returns:
            A tile for each value that `make` gives.
        """
        indices = [Value(int32) for _ in shape]
        elements = [Value(contents(t.type), t.name) for t in tiles]
        with self.block((*indices, *elements)) as opened:
            yielded = tuple(map(self.strong, make(indices, elements)))
            self.yield_(*yielded)
        types = [Tile(contents(v.type), shape) for v in yielded]
        return self.emit("tile_map", tiles, types, {SHAPE: shape}, (opened.block,), names).results

    def body(self) -> Block:
        """Close the outermost block and give it."""
        assert len(self._stack) == 1, "a nested block is still open"
        return Block((), tuple(self._stack[0]))


class OpenBlock:
    """A block being filled."""

    def __init__(self, params: tuple[Value, ...]) -> None:
        self.params = params
        self.block = Block(params)
