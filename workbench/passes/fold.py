"""Arithmetic made smaller: constants, identities and repeated operations, and products that are only added.

**Folding.** Constants are computed, identities applied, repeated operations shared. Every rule gives the same bits as
running the operation (NaN results are left alone: their sign and payload differ between devices). A captured constant
stays a name, never computed into a literal: a key can say which one changed.

**Contraction.** `a * b + c` rounds once: what `fma=True` asks for. One rule for all backends, so that their bits stay
equal: a product of floats of 32 or 64 bits, or of vectors of them, that is used once, by a sum or a difference, becomes
part of it. Where both sides are such products, the left one does. `a * b - c` and `c - a * b` change a sign, which is
exact. It runs after differentiation, on the code that is compiled. Builtins of whole vectors (`dot`, `length`, products
of matrices) are written out first, where no backend has its own form of them. What other builtins (`noise`) compute
inside is not contracted, nor are 16-bit floats or atomic additions.

**Products of tiles.** `acc + tile_matmul(a, b)` is `tile_matmul(a, b, acc)`, always: `acc += tile_matmul(a, b)` in a
loop keeps its sums where the product has them, and its adjoint keeps no states, as with the accumulator. That runs
right after lowering, so it means the same everywhere: a product of 16-bit tiles that is added to one of float32 is not
rounded to 16 bits in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np

from workbench.builtins import TABLE, Builtin
from workbench.builtins.declaration.meaning import apply, convert, value_of
from workbench.deep import with_deep_stack
from workbench.ir.build import Rewriter, copy_op, map_blocks, replace_body, rewrite
from workbench.ir.data import literal_bits
from workbench.ir.ops import CAPTURED, PURE, VALUE, Number
from workbench.ir.values import FUNC, Block, Function, NumPyValue, Op, Value, scalar_or_vector_of, walk
from workbench.passes.analysis.intervals import Scopes
from workbench.passes.expand import expand
from workbench.tiles import Tile, contents
from workbench.types import Scalar, Type, Vector, element, float32, is_float, is_half


def fold(function: Function, calls: bool = True) -> Function:
    """Return the function with constants folded, branches on constants decided and common subexpressions shared.

    Sharing reaches from a block into the blocks inside it; loads are never shared. Operations that are no longer used
    are left for `prune`.

    Args:
        function: any legal IR.
        calls: replace each `call` by the operations of its func; else these operations stay.
    """
    # Folding 1 / 0 computes an infinity, as the operation would; NumPy's warning would reach the user.
    with np.errstate(all="ignore"):
        return replace_body(function, _Folder(calls).block(function.body))


class _Folder:
    """Rewrites a function with constants folded, branches on constants decided and equal operations shared.

    Attributes:
        calls: replace each `call` by the operations of its func.
        mapping: values to those that replace them.
        known: the values that are literals.
        defs: the operation that computes each value.
        counters: the `for` that counts in each loop index.
        shared: by key of an operation, the results that the open block may reuse.
        ops: the open block's operations so far.
    """

    def __init__(self, calls: bool) -> None:
        self.calls = calls
        self.mapping: dict[Value, Value] = {}
        self.known: dict[Value, NumPyValue] = {}
        self.defs: dict[Value, Op] = {}
        self.counters: dict[Value, Op] = {}
        self.shared: Scopes[Hashable, tuple[Value, ...]] = Scopes()
        self.ops: list[Op] = []

    def block(self, block: Block) -> Block:
        """Return the block with its operations folded; blocks around it do not share what it computes."""
        outer, self.ops = self.ops, []
        with self.shared:
            self.into(block)
        ops, self.ops = self.ops, outer
        return Block(block.params, tuple(ops))

    def into(self, block: Block) -> None:
        """Emit a block's operations, folded, behind those that are already in `ops`."""
        for op in block.ops:
            self.op(op)

    def op(self, op: Op) -> None:
        """Emit an operation unless it folds; then `mapping` gets what replaces its results."""
        operands = op.operands
        if not self.mapping.keys().isdisjoint(operands):
            operands = tuple([self.mapping.get(v, v) for v in operands])
            op = op.replace(operands)
        if op.name == "if" and operands[0] in self.known:
            self.decided(op, bool(self.known[operands[0]]))
        # Only one that holds is dropped; a false one has to be reported when its line runs, if it runs.
        elif op.name == "assert" and bool(self.known.get(operands[0], False)):
            return
        elif op.blocks:
            if op.name == "for":
                self.counters[op.blocks[0].params[0]] = op
            self.ops.append(map_blocks(op, self.block))
        elif op.name == "call":
            self.call(op)
        # Loads and calls of unknown text fall through: what they read may change between two of them.
        elif op.name in PURE or op.name in TABLE:
            value = self.pure(op)
            if value is not op.results[0]:
                self.mapping[op.results[0]] = value
        else:
            self.ops.append(op)

    def decided(self, op: Op, condition: bool) -> None:
        """Emit the operations of the block that runs, in place of an `if` with a known condition; map its results."""
        chosen = op.blocks[0] if condition else op.blocks[1]
        for inner in chosen.ops[:-1]:
            self.op(inner)
        for result, value in zip(op.results, chosen.yielded, strict=True):
            self.mapping[result] = self.mapping.get(value, value)

    def call(self, op: Op) -> None:
        """Reuse the results of an equal call before, or replace this one by the operations of its func."""
        # A func is pure up to its arguments, so equal calls are shared before their bodies are written out at all.
        key = "call", op.attrs[FUNC], op.operands
        if key not in self.shared:
            self.shared[key] = self.written_out(op) if self.calls else op.results
            self.ops += () if self.calls else (op,)
        self.mapping.update(zip(op.results, self.shared[key], strict=True))

    def written_out(self, op: Op) -> tuple[Value, ...]:
        """Emit the operations of the func that is called; return its results."""
        func = op.attrs[FUNC]
        env = dict(zip(func.params, op.operands, strict=True))
        for inner in func.ops[:-1]:
            self.op(copy_op(inner, env))
        values = (env.get(v, v) for v in func.yielded)
        return tuple(self.mapping.get(v, v) for v in values)

    def pure(self, op: Op) -> Value:
        """Return the value that replaces a pure operation's result.

        It is an operand, a constant, the result of an equal operation, or its own after it was emitted.
        """
        identity = _IDENTITIES.get(op.name)
        same = identity(self, op) if identity is not None else None
        if same is not None:
            return same
        number = self.computed(op)
        if number is not None:
            op = Op("const", (), op.results, VALUE.of(_plain(number)), (), op.location)
        return self.share(op)

    def share(self, op: Op) -> Value:
        """Return the result of an equal operation that was emitted before; else emit this one, and return its."""
        key, (result,) = _key(op), op.results
        same = self.shared.get(key)
        if same is not None:
            return same[0]
        self.ops.append(op)
        self.defs[result] = op
        self.shared.learn(key, op.results)
        if op.name == "const" and not op.attrs.get(CAPTURED):
            self.known[result] = value_of(op.attrs[VALUE], contents(result.type))
        return result

    def computed(self, op: Op) -> NumPyValue | None:
        """Return the operation's value if all operands are literals.

        None if they are not, if the value is NaN, or if the operation divides by zero or cannot be computed here.
        """
        if self.known.keys().isdisjoint(op.operands):
            return None
        values = [self.known[v] for v in op.operands if v in self.known]
        if len(values) < len(op.operands):
            return None
        builtin = TABLE.get(op.name)
        if builtin is None:
            # The other operations of the core have effects or depend on the thread.
            return _CORE[op.name](values, contents(op.result.type)) if op.name in _CORE else None
        try:
            number = apply(builtin, values, contents(op.result.type))
        # Left to run: with checks it is a fault at its line, which folding would lose.
        except ZeroDivisionError:
            return None
        # A NaN computed here would have NumPy's sign and payload, not the device's.
        return None if is_float(op.result.type) and np.isnan(number).any() else number

    def is_literal(self, value: Value, number: float) -> bool:
        """Return whether the value is the literal `number` in every component; of floats, 0 means +0."""
        known = self.known.get(value)
        if known is None:
            return False
        # -0.0 == 0.0, hence the look at the sign.
        if not known.ndim:
            return bool(known == number and not np.signbit(known))
        return bool(np.all(known == np.asarray(number, dtype=known.dtype)) and not np.signbit(known).any())


def _key(op: Op) -> Hashable:
    """Return the key that equal operations share; that of a constant has its type, its bits and its captured name."""
    result = op.results[0].type
    # A scalar by name: to hash a type takes Python code.
    kind = result.name if type(result) is Scalar else result
    if op.name == "const":
        # By bits: 0.0 and -0.0 are equal numbers and different constants, and a NaN equals nothing.
        return "const", kind, op.attrs.get(CAPTURED), literal_bits(op.attrs[VALUE], scalar_or_vector_of(op.result))
    return op.name, op.operands, kind, tuple(sorted(op.attrs.items())) if op.attrs else ()


def _plain(number: NumPyValue) -> Number | tuple[Number, ...]:
    """Return a NumPy value as the Python number, or tuple of them, that a `const` has."""
    if number.dtype.kind == "V":  # bfloat16, whose own numbers are no Python numbers
        number = number.astype(np.float32)
    return tuple(number.reshape(-1).tolist()) if number.ndim else number.item()


def _component(values: Sequence[NumPyValue], type: Type) -> NumPyValue | None:
    """Return the component of a constant vector at a constant index; None if the index is outside."""
    vector, index = values[0].reshape(-1), values[1].item()
    return vector[index] if 0 <= index < vector.size else None


_CORE: dict[str, Callable[[Sequence[NumPyValue], Scalar | Vector], NumPyValue | None]] = {
    "cast": lambda values, type: convert(values[0], type),
    "vec": value_of,
    "extract": _component,
}


def _neutral(number: int, both: bool) -> Callable[[_Folder, Op], Value | None]:
    """Return a rule by which `x op number` is x, and with `both`, `number op x` as well."""

    def rule(folder: _Folder, op: Op) -> Value | None:
        x, y = op.operands
        if folder.is_literal(y, number) and x.type == op.result.type:
            return x
        return y if both and folder.is_literal(x, number) and y.type == op.result.type else None

    return rule


def _add(folder: _Folder, op: Op) -> Value | None:
    """Return x for `x + 0`, or for floats `x + -0.0`, since -0.0 + 0.0 is 0.0; None for other sums."""
    for zero, x in (op.operands, op.operands[::-1]):
        number = folder.known.get(zero)
        # Types differ where a scalar is added to a vector: then the result is not the operand.
        if number is not None and x.type == op.result.type and not number.any():
            if not is_float(op.result.type) or np.signbit(number).all():
                return x
    return None


def _mul(folder: _Folder, op: Op) -> Value | None:
    """Return 0 for a product of integers with a literal 0, and x for `x * 1`; None for other products."""
    # Of floats 0 * x is NaN for an infinite x, and -0.0 for a negative one.
    if not is_float(op.result.type):
        for v in op.operands:
            if folder.is_literal(v, 0):
                return v
    return _neutral(1, both=True)(folder, op)


def _junction(neutral: bool) -> Callable[[_Folder, Op], Value | None]:
    """Return a rule that folds `and` or `or` of bools if an operand is known, or if both are the same value.

    Args:
        neutral: the operand with which the result is the other one.
    """

    def rule(folder: _Folder, op: Op) -> Value | None:
        for v, other in (op.operands, op.operands[::-1]):
            if v in folder.known:
                return other if bool(folder.known[v]) is neutral else v
        return op.operands[0] if op.operands[0] is op.operands[1] else None

    return rule


def _exclusive(folder: _Folder, op: Op) -> Value | None:
    """Return x for `x xor False`; None if no operand is known to be False."""
    for v, other in (op.operands, op.operands[::-1]):
        if v in folder.known and not folder.known[v]:
            return other
    return None


def _twice(folder: _Folder, op: Op) -> Value | None:
    """Return x for `not not x` and `- - x`; None for others."""
    definition = folder.defs.get(op.operands[0])
    return definition.operands[0] if definition is not None and definition.name == op.name else None


def _where(folder: _Folder, op: Op) -> Value | None:
    """Return the operand that a known condition chooses, or x where both are x; None otherwise."""
    condition, x, y = op.operands
    if condition in folder.known:
        return x if folder.known[condition] else y
    return x if x is y else None


def _extract(folder: _Folder, op: Op) -> Value | None:
    """Return the component that a `vec` puts at a known index; None for other vectors, and outside."""
    definition, known = folder.defs.get(op.operands[0]), folder.known.get(op.operands[1])
    if definition is None or definition.name != "vec" or known is None:
        return None
    index = int(known.item())
    return definition.operands[index] if 0 <= index < len(definition.operands) else None


def _in_range(folder: _Folder, op: Op) -> Value | None:
    """Return k for `k % n` and a wrapped index k, if k counts up in a `range` from 0 or more, to n; None for others."""
    index, size = op.operands
    loop = folder.counters.get(index)
    if loop is None or (op.name == "mod" and loop.operands[1] is not size):
        return None
    start, _, step = (folder.known.get(v) for v in loop.operands[:3])
    return index if start is not None and step is not None and start.item() >= 0 < step.item() else None


_IDENTITIES: dict[str, Callable[[_Folder, Op], Value | None]] = {
    "add": _add,
    "sub": _neutral(0, both=False),
    "mul": _mul,
    "div": _neutral(1, both=False),
    "neg": _twice,
    "not_": _twice,
    "and_": _junction(neutral=True),
    "or_": _junction(neutral=False),
    "xor_": _exclusive,
    "where": _where,
    "cast": lambda folder, op: op.operands[0] if op.operands[0].type == op.result.type else None,
    "extract": _extract,
    "mod": _in_range,
    "wrap_index": _in_range,
}


@with_deep_stack
def contract(function: Function) -> Function:
    """Return the function with products contracted into sums as `fma`; the unused products are left for `prune`."""
    function = _written_out(function)
    uses = Counter(v for op in walk(function.body) for v in op.operands)
    products = {op.result: op for op in walk(function.body) if op.name == "mul" and uses[op.result] == 1}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        factor = _summand(op, products)
        if factor is None:
            return None
        (x, y), other = products[op.operands[factor]].operands, op.operands[1 - factor]
        signs: list[Op] = []
        if op.name == "sub" and factor:
            signs = [_negative(x, op)]
            x = signs[0].result
        elif op.name == "sub":
            signs = [_negative(other, op)]
            other = signs[0].result
        operands = tuple(on.mapping.get(v, v) for v in (x, y, other))
        return (*signs, Op("fma", operands, op.results, {}, (), op.location))

    return rewrite(function, change) if products else function


def _written_out(function: Function) -> Function:
    """Return the function with builtins of vectors expressed by their components.

    It is left as it is with 16-bit floats, which such a builtin rounds once, and with a `custom`.
    """
    ops = list(walk(function.body))
    if any(op.name == "custom" or any(is_half(v.type) for v in (*op.operands, *op.results)) for op in ops):
        return function
    if all(_is_whole(TABLE[op.name]) for op in ops if op.name in TABLE):
        return function
    return expand(function, _is_whole, keep_vector_operators=True)


def _is_whole(builtin: Builtin) -> bool:
    """Return whether a builtin is not written out: it is elementwise, native to a backend, or has no expansion."""
    return builtin.elementwise or builtin.expand is None or builtin.cuda is not None or builtin.llvm is not None


def _summand(op: Op, products: dict[Value, Op]) -> int | None:
    """Return the position of the operand of a sum or difference that is a product to be contracted; None if neither is.

    Both have to be of one type, of floats of 32 or 64 bits.
    """
    if op.name not in ("add", "sub"):
        return None
    type = op.result.type
    if not isinstance(type, (Scalar, Vector)) or not is_float(type) or element(type).bits < 32:
        return None
    for number, value in enumerate(op.operands):
        definition = products.get(value)
        if definition is not None and all(v.type == type for v in (*definition.operands, *op.operands)):
            return number
    return None


def _negative(value: Value, op: Op) -> Op:
    """Return an operation, at the location of `op`, whose new result is the negated value."""
    return Op("neg", (value,), (Value(value.type, ""),), {}, (), op.location)


@with_deep_stack
def added_products(function: Function) -> Function:
    """Return the function with `tile + tile_matmul(a, b)` as products with an accumulator.

    The products alone, which are then unused, are left for `prune`.
    """
    if "tile_matmul" not in function.body.op_names:
        return function
    uses = Counter([v for op in walk(function.body) for v in op.operands])
    # Only within a block: a product in front of a loop is not made again in each turn.
    products = {
        op.result: op
        for block in _blocks(function.body)
        for op in block.ops
        if op.name == "tile_matmul"
        and len(op.operands) == 2
        and uses[op.result] == 1
        and any(op.result in other.operands for other in block.ops)
    }

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name != "tile_map" or len(op.operands) != 2:
            return None
        for product, other in (op.operands, op.operands[::-1]):
            if product in products and _is_sum(op, product, other):
                produced = products[product]
                operands = (*(on.mapping.get(v, v) for v in produced.operands), other)
                return (produced.replace(operands, results=op.results),)
        return None

    return rewrite(function, change) if products else function


def _blocks(block: Block) -> Iterator[Block]:
    """Yield a block and all blocks nested in it, outer ones first."""
    yield block
    for op in block.ops:
        for inner in op.blocks:
            yield from _blocks(inner)


def _is_sum(op: Op, product: Value, other: Value) -> bool:
    """Return whether a map adds a product of tiles to another tile, which has the type of the result.

    The product has that type too; or it is of 16 bits, and the other one of float32.
    """
    product_type, added, block = product.type, other.type, op.blocks[0]
    if len(op.results) != 1 or added != op.result.type:
        return False
    assert isinstance(product_type, Tile) and isinstance(added, Tile)
    term, rest = block.params[-2:] if product is op.operands[0] else block.params[:-3:-1]
    if len(block.ops) < 2:
        return False
    *casts, total, end = block.ops
    if casts and (len(casts) > 1 or casts[0].name != "cast" or casts[0].operands != (term,)):
        return False
    if casts and not (element(product_type.dtype).is_half and added.dtype == float32):
        return False
    if not casts and product_type.dtype != added.dtype:
        return False
    term = casts[0].result if casts else term
    return total.name == "add" and {*total.operands} == {term, rest} and end.operands == (total.result,)
