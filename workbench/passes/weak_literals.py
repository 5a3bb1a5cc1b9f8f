"""The types of what is made of literals: the widest that it meets, and never narrower than its default.

The front end emits a value of literals that only a run computes (`a = 0.1`, or 0.3 in a branch) in a weak type, and a
`cast` where it meets a type. Weak values that flow into one another, through branches, loops, funcs and arithmetic, are
of one type: float64 if one of their casts is to float64, else float32; int64 if one is to an integer of 64 bits or a
literal needs it, else int32. Behind this pass no type is weak.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.builtins import TABLE
from workbench.errors import KernelTypeError
from workbench.ir.build import Replacements, replace_body
from workbench.ir.ops import CAPTURED, VALUE
from workbench.ir.values import FUNC, Block, Function, Op, Value, closed_blocks, number_of, walk
from workbench.ranges import fits, misfit
from workbench.types import Kind, Scalar, Type, element, float32, float64, int32, int64, is_integer, is_weak, strong


def too_wide(number: int | float, scalar: Scalar, captured: str | None) -> KernelTypeError:
    """Return the error for a literal, or the constant `captured`, that does not fit its type."""
    text = misfit(number, scalar)
    if captured:
        text = f"The constant {captured} is {text.replace(' does', ', which does', 1)}"
    return KernelTypeError(
        f"{text}.", advice="Use a wider type, or write wb.inf." if scalar.kind is Kind.FLOAT else "Use a wider type."
    )


def decide(function: Function) -> Function:
    """Return the function in which no value has a weak type; itself if none has one.

    Raises:
        KernelTypeError: a literal does not fit the type that it gets, at its line.
    """
    if not any([is_weak(v.type) for op in _everywhere(function.body) for v in op.results]):
        return function
    return replace_body(function, _Decided(_Classes(function.body), function.name).block(function.body))


def _everywhere(block: Block) -> Iterable[Op]:
    """Return every operation, also of blocks that are attributes, each block once.

    Such are the blocks of gradients and replays, and those of calls, which several calls share.
    """
    if block.op_names.isdisjoint(_WITH_BLOCKS):
        return walk(block)
    ops: list[Op] = []
    entered, waiting = {block}, [block]
    while waiting:
        for op in walk(waiting.pop()):
            ops.append(op)
            attached = [b for b in _attached(op) if b not in entered]
            waiting += attached
            entered.update(attached)
    return ops


_WITH_BLOCKS = ("custom", "call")
"""The operations of which attributes may be blocks."""


def _attached(op: Op) -> tuple[Block, ...]:
    """Return the blocks that are attributes of an operation: of gradients and replays, and the func of a call."""
    func = op.attrs.get(FUNC)
    return (*closed_blocks(op), *((func,) if func is not None else ()))


class _Classes:
    """Classes of weak values that share one type (union-find), and which of them are of 64 bits.

    Attributes:
        parent: links of values to others of their class, up to the one that represents it.
        wide: values that represent a class of 64 bits.
    """

    def __init__(self, body: Block) -> None:
        self.parent: dict[Value, Value] = {}
        self.wide: set[Value] = set()
        casts: list[Value] = []
        for op in _everywhere(body):
            for together in _together(op):
                self.unite(together)
            if op.name == "cast" and _widens(op.result.type, op.operands[0].type):
                casts.append(op.operands[0])
            elif op.name == "const" and op.result.type == int32 and is_weak(op.result.type):
                casts += [] if fits(number_of(op), int32) else [op.result]
        self.wide.update(map(self.root, casts))

    def root(self, value: Value) -> Value:
        """Return the value that represents the class of a value."""
        while (parent := self.parent.get(value)) is not None:
            if (above := self.parent.get(parent)) is not None:
                self.parent[value] = above
            value = parent
        return value

    def unite(self, values: Iterable[Value]) -> None:
        """Merge the classes of the weak ones among these values, floats and integers apart."""
        first: dict[Type, Value] = {}
        for value in values:
            if is_weak(value.type):
                root = self.root(value)
                leader = self.root(first.setdefault(value.type, root))
                if leader is not root:
                    self.parent[root] = leader

    def type(self, value: Value) -> Type:
        """Return the type that a value gets: its own, if that is not weak."""
        if not is_weak(value.type) or self.root(value) not in self.wide:
            return strong(value.type)
        return float64 if value.type == float32 else int64


def _together(op: Op) -> Iterator[Sequence[Value]]:
    """Yield groups of values of an operation of which the weak ones get one type."""
    if op.name == "if":
        yield from zip(op.results, *(b.yielded for b in op.blocks), strict=True)
    elif op.name == "for":
        (body,) = op.blocks
        yield from zip(op.results, op.operands[3:], body.params[1:], body.yielded, strict=True)
    elif op.name == "while":
        condition, body = op.blocks
        yield from zip(op.results, op.operands, condition.params, body.params, body.yielded, strict=True)
    elif op.name == "mark":
        yield from zip(op.results, op.operands, strict=False)  # one that only keeps its operands has no results
    elif op.name == "call":
        func = op.attrs[FUNC]
        yield from zip(op.results, func.yielded, strict=True)
    elif _follows(op):
        yield (*op.results, *op.operands)


def _follows(op: Op) -> bool:
    """Return whether an operation is computed in the type of its weak operands.

    It is a builtin on at least one of these, whose results are weak or bools.
    """
    return op.name in TABLE and any(map(_is_weak, op.operands)) and all(map(_is_open, op.results))


def _is_weak(value: Value) -> bool:
    """Return whether a value has a weak type."""
    return is_weak(value.type)


def _is_open(value: Value) -> bool:
    """Return whether a value is weak or a bool."""
    return is_weak(value.type) or element(value.type).kind is Kind.BOOL


def _widens(type: Type, source: Type) -> bool:
    """Return whether a cast of a weak value is to 64 bits: of an integer to integers, of a float to floats."""
    if not is_weak(source) or is_weak(type) or not isinstance(type, Scalar) or type.bits < 64:
        return False
    return is_integer(type) if source == int32 else type.kind is Kind.FLOAT


class _Decided:
    """Rewrites blocks so that no value has a weak type.

    Attributes:
        classes: says which type a weak value gets.
        name: the function's, for messages.
        mapping: values to their replacements.
        funcs: blocks that are attributes, to their rewritten ones.
        ops: the open block's operations so far.
    """

    def __init__(self, classes: _Classes, name: str) -> None:
        self.classes = classes
        self.name = name
        self.mapping: Replacements = {}
        self.funcs: dict[Block, Block] = {}
        self.ops: list[Op] = []

    def block(self, block: Block, results: Sequence[Type] | None = None) -> Block:
        """Return a copy of the block in which no value has a weak type.

        Args:
            block: the block.
            results: the types to which its `yield` casts; None: those that its own values get.
        """
        outer, self.ops = self.ops, []
        params = tuple(map(self.value, block.params))
        for op in block.ops:
            if op.name == "yield" and results is not None:
                self.ops.append(op.replace(self.fitted(op, op.operands, results)))
            else:
                self.op(op)
        ops, self.ops = self.ops, outer
        return Block(params, tuple(ops))

    def value(self, value: Value) -> Value:
        """Return the replacement of a parameter or a result: a value of the type of its class, or itself."""
        if is_weak(value.type):
            self.mapping[value] = Value(self.classes.type(value), value.name)
        return self.mapping.get(value, value)

    def fitted(self, op: Op, operands: Sequence[Value], types: Sequence[Type]) -> tuple[Value, ...]:
        """Return the replacements of the operands, in these types."""
        values = (self.mapping.get(v, v) for v in operands)
        return tuple(v if v.type == t else self.cast(op, v, t) for v, t in zip(values, types, strict=True))

    def cast(self, op: Op, value: Value, type: Type) -> Value:
        """Append a cast of a value to another type, at the location of an operation; return its result."""
        self.ops.append(Op("cast", (value,), (Value(type, value.name),), location=op.location))
        return self.ops[-1].result

    def op(self, op: Op) -> None:
        """Append an operation rewritten without weak types, and casts that it needs; a needless cast is left out."""
        if op.name == "const" and is_weak(op.result.type):
            self.ops.append(self.constant(op))
        elif op.name == "cast" and (_is_weak(op.operands[0]) or _is_weak(op.result)):
            (value,) = self.fitted(op, op.operands, [self.classes.type(op.operands[0])])
            if value.type == self.classes.type(op.result):
                self.mapping[op.result] = value
            else:
                self.ops.append(op.replace((value,), results=(self.value(op.result),)))
        elif op.blocks or _attached(op):
            self.structured(op)
        elif any(map(_is_weak, (*op.operands, *op.results))):
            self.plain(op)
        elif self.mapping.keys().isdisjoint(op.operands):
            self.ops.append(op)
        else:
            self.ops.append(op.replace(tuple(self.mapping.get(v, v) for v in op.operands)))

    def constant(self, op: Op) -> Op:
        """Return a weak literal as a constant of the type of its class.

        Raises:
            KernelTypeError: it does not fit.
        """
        type, number = self.classes.type(op.result), number_of(op)
        assert isinstance(type, Scalar)
        if not fits(number, type):
            error = too_wide(number, type, op.attrs.get(CAPTURED))
            error.location, error.function = op.location, self.name
            raise error
        attrs: dict[str, object] = {**op.attrs, VALUE: float(number) if type.kind is Kind.FLOAT else number}
        return op.replace(results=(self.value(op.result),), attrs=attrs)

    def plain(self, op: Op) -> None:
        """Append an operation without blocks, rewritten without weak types, and casts that it needs.

        One on weak values alone is computed in their type; others get operands of the types that they have by default.
        """
        if _follows(op) or op.name == "mark":
            wanted = {strong(v.type): self.classes.type(v) for v in op.operands if is_weak(v.type)}
            types = [wanted.get(strong(v.type), v.type) for v in op.operands]
            if op.name == "mark":
                types = [self.classes.type(v) for v in op.operands]
            operands = self.fitted(op, op.operands, types)
            self.ops.append(op.replace(operands, results=tuple(map(self.value, op.results))))
            return
        exact = op.name in TABLE or op.name in _EXACT
        types = [strong(v.type) if exact else self.classes.type(v) for v in op.operands]
        results = tuple(Value(strong(v.type), v.name) if is_weak(v.type) else v for v in op.results)
        self.ops.append(op.replace(self.fitted(op, op.operands, types), results=results))
        for old, new in zip(op.results, results, strict=True):
            type = self.classes.type(old)
            self.mapping[old] = new if new.type == type else self.cast(op, new, type)

    def structured(self, op: Op) -> None:
        """Append an operation with blocks, or with blocks as attributes, in which no value has a weak type."""
        types = [self.classes.type(v) for v in op.results]
        operand_types = [self.classes.type(v) for v in op.operands]
        if op.name in ("for", "while"):
            operand_types[len(operand_types) - len(types) :] = types
        operands = self.fitted(op, op.operands, operand_types)
        if op.name in ("if", "for"):
            blocks = tuple(self.block(b, types) for b in op.blocks)
        elif op.name == "while":
            blocks = (self.block(op.blocks[0]), self.block(op.blocks[1], types))
        else:
            blocks = tuple(map(self.block, op.blocks))
        attrs: dict[str, object] = {k: self.attached(v) if isinstance(v, Block) else v for k, v in op.attrs.items()}
        results = tuple(map(self.value, op.results))
        self.ops.append(op.replace(operands, results=results, attrs=attrs, blocks=blocks))

    def attached(self, block: Block) -> Block:
        """Return a block that is an attribute, rewritten once: calls that share one share the result."""
        if block not in self.funcs:
            self.funcs[block] = self.block(block)
        return self.funcs[block]


_EXACT = frozenset({"vec", "insert", "store", "atomic", "atomic_add", "assert"})
"""Operations whose operands have the types that their results or arrays determine."""
