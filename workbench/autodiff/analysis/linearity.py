"""Linearity of a kernel in some of its inputs, proved from its IR.

Each value, and the contents of each array, is nothing (0), fixed (does not depend on the linear inputs) or linear (a
sum of multiples of them). Sums and choices join, products multiply, and the first operation that leaves these three
is the line that is not linear. Loops and memory only ever move upwards, so they are followed until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import IntEnum

from workbench.builtins import TABLE
from workbench.errors import NotDifferentiable
from workbench.ir.ops import ADDITIONS, EFFECTS, KIND, LEAD, LOADS, LOOPS, REFERENCE, REPORTS, VALUE, VIEWS, Number
from workbench.ir.values import Block, Function, Op, Value
from workbench.types import ArrayType, is_float


class Share(IntEnum):
    """The dependence of a value on the linear inputs: it is 0, does not depend on them, or is linear in them."""

    NOTHING = 0
    FIXED = 1
    LINEAR = 2


_NOTHING, _FIXED, _LINEAR = Share
# Sums: linear in all operands together. Products: in each, where the others are fixed. Quotients: in the first.
_SUMS = frozenset("add sub neg degrees radians transpose trace diag get_diag skew vec".split())
_PRODUCTS = frozenset("mul dot cross matmul outer ddot cw_mul tile_matmul".split())
_QUOTIENTS = frozenset("div cw_div".split())
_VERBS = {"if": "decides by", "while": "decides by", "where": "decides by", "div": "divides by", "cast": "rounds"}
_FIRST = frozenset("extract tile_extract".split()) | VIEWS


def refuse_nonlinear(
    function: Function, starts: Mapping[str, Share], memory: Mapping[str, Hashable], linear: Sequence[str]
) -> None:
    """Check that a kernel's results are linear in some of its inputs.

    Args:
        function: the kernel, or a derivative of it.
        starts: for each parameter, by name, its dependence on those inputs before the launch.
        memory: by array parameter, the memory it lies in; those in one memory have equal values.
        linear: names of the inputs in which it should be linear, for the message.

    Raises:
        NotDifferentiable: an operation is not linear; `location` is its line.
    """
    walk = _Walk(function.name, {p: starts[p.name] for p in function.params}, memory, linear)
    while True:
        before = dict(walk.contents)
        walk.block(function.body)
        if walk.contents == before:
            return


class _Walk:
    """A walk over one kernel that finds how its values depend on the linear inputs.

    Attributes:
        name: the kernel's, for messages.
        memory: by name of an array, the key of the memory in which it lies; without one it lies in its own.
        linear: names of the linear inputs, for messages.
        shares: of values, as far as they were met.
        contents: of what arrays and a thread's slots hold, joined over all their elements.
    """

    def __init__(
        self, name: str, starts: Mapping[Value, Share], memory: Mapping[str, Hashable], linear: Sequence[str]
    ) -> None:
        self.name, self.memory, self.linear = name, dict(memory), linear
        self.shares: dict[Value, Share] = {}
        self.contents: dict[Hashable, Share] = {}
        for value, share in starts.items():
            if isinstance(value.type, ArrayType):
                self.contents[self.location_key(value)] = max(
                    share, self.contents.get(self.location_key(value), _NOTHING)
                )
            else:
                self.shares[value] = share

    def location_key(self, array: Value) -> Hashable:
        """Return the key of an array's memory in `contents`."""
        return self.memory.get(array.name, array.name)

    def block(self, block: Block, shares: Sequence[Share] = ()) -> list[Share]:
        """Walk a block; return how what it yields depends on the linear inputs.

        Its last parameters depend on them as `shares` says; the others do not depend on them.
        """
        count = len(block.params) - len(shares)
        self.shares |= dict.fromkeys(block.params[:count], _FIXED)
        self.shares |= zip(block.params[count:], shares, strict=True)
        for op in block.ops:
            self.op(op)
        return [self.shares[v] for v in block.yielded]

    def op(self, op: Op) -> None:
        """Note how an operation's results, and the array that it writes to, depend on the linear inputs.

        Raises:
            NotDifferentiable: it is not linear.
        """
        if op.name in REPORTS:
            self.shares |= ((r, self.of(v)) for r, v in zip(op.results, op.operands, strict=False))
            return
        shares = self.results(op)
        # Integers and conditions carry no derivative: what made one of a linear value was refused.
        self.shares |= zip(op.results, shares, strict=True)

    def of(self, value: Value) -> Share:
        """Return how a value depends on the linear inputs; of an array, how its contents do."""
        return self.contents[self.location_key(value)] if isinstance(value.type, ArrayType) else self.shares[value]

    def results(self, op: Op) -> list[Share]:
        """Return how an operation's results depend on the linear inputs.

        Raises:
            NotDifferentiable: it is not linear.
        """
        operand_shares = [self.of(v) for v in op.operands]
        if op.name == "const":
            return [_FIXED if _some(op.attrs[VALUE]) else _NOTHING]
        handler = _HANDLERS.get(op.name)
        if handler is not None:
            return handler(self, op, operand_shares)
        if op.name in LOADS:
            self.fixed(op, operand_shares[1:])
            return [operand_shares[0]]
        if op.name in EFFECTS:
            return self.effect(op, operand_shares)
        if op.name in _SUMS:
            return [self.joined(op, operand_shares)]
        if op.name in _PRODUCTS:
            return [self.product(op, operand_shares)]
        if op.name in _QUOTIENTS or op.name in _FIRST:
            self.fixed(op, operand_shares[1:])
            return [operand_shares[0]]
        self.fixed(op, operand_shares)
        return [_FIXED] * len(op.results)

    def joined(self, op: Op, shares: Sequence[Share]) -> Share:
        """Return how a sum or a choice depends on the linear inputs, if its terms depend on them as `shares` says.

        Raises:
            NotDifferentiable: some are linear and some are fixed, so there is an offset.
        """
        if _LINEAR in shares and _FIXED in shares:
            verb = "adds" if op.name in TABLE or op.name in EFFECTS else "mixes"
            names = " or ".join(self.linear)
            raise self.error(op, f"{verb} a value that depends on {names} and one that does not")
        return max(shares, default=_NOTHING)

    def product(self, op: Op, shares: Sequence[Share]) -> Share:
        """Return how a product of the first two values, to which the others are added, depends on the linear inputs.

        Raises:
            NotDifferentiable: both factors are linear, or a fixed and a linear value are added.
        """
        factors = shares[:2]
        if factors.count(_LINEAR) > 1:
            raise self.error(op, f"multiplies two values that depend on {' or '.join(self.linear)}")
        share = _NOTHING if _NOTHING in factors else max(factors)
        return self.joined(op, [share, *shares[2:]])  # a matrix product has a sum that it is added to

    def fixed(self, op: Op, shares: Sequence[Share]) -> None:
        """Check that operands are not linear where only fixed ones will do.

        Raises:
            NotDifferentiable: one is linear.
        """
        if _LINEAR in shares:
            verb = _VERBS.get(op.name, f"takes {TABLE[op.name].operator or op.name} of" if op.name in TABLE else "uses")
            raise self.error(op, f"{verb} a value that depends on {' or '.join(self.linear)}")

    def effect(self, op: Op, shares: Sequence[Share]) -> list[Share]:
        """Join an array's contents with what is written to it, at whatever element; return the results' shares.

        Raises:
            NotDifferentiable: the change is not linear.
        """
        array, last = op.operands[0], shares[-1]
        self.fixed(op, shares[1:-1])
        if op.name not in ADDITIONS and op.name not in ("store", "tile_store"):
            self.fixed(op, [shares[0], last])
        self.contents[self.location_key(array)] = self.joined(op, [shares[0], last])
        return [shares[0]] * len(op.results)

    def error(self, op: Op, why: str) -> NotDifferentiable:
        """Return the error for an operation that is not linear; `why` is a verb with its object."""
        names = " and ".join(self.linear)
        option = repr(self.linear[0]) if len(self.linear) == 1 else repr(list(self.linear))
        return NotDifferentiable(
            f"{self.name} is not linear in {names}: this line {why}.",
            op.location,
            f"Transpose its derivative, jax.vjp(f, x)[1]; if it is linear all the same, wrap it with linear={option}.",
            self.name,
        )


def _some(value: Number | tuple[Number, ...]) -> bool:
    """Return whether a constant is not 0, in one of its components at least."""
    return any(value) if isinstance(value, tuple) else bool(value)


def _where(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Return how a `where` depends on the linear inputs: as a sum of its sides; its condition must not be linear."""
    walk.fixed(op, shares[:1])
    return [walk.joined(op, shares[1:])]


def _lerp(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Return how a `lerp` depends on the linear inputs: as a sum of its ends; its weight must not be linear."""
    walk.fixed(op, shares[2:])
    return [walk.joined(op, shares[:2])]


def _cast(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Return how a cast depends on the linear inputs: as its operand, which, cast to no float, must not be linear."""
    if not is_float(op.result.type):
        walk.fixed(op, shares)
    return shares


def _if(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Return how an `if`'s results depend on the linear inputs: as sums of its sides; its condition must not."""
    walk.fixed(op, shares[:1])
    then, other = (walk.block(b) for b in op.blocks)
    return [walk.joined(op, pair) for pair in zip(then, other, strict=True)]


def _loop(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Return how a loop's results depend on the linear inputs, walking its blocks until nothing changes.

    Its bounds, or the condition of a `while`, must not be linear in them.
    """
    walk.fixed(op, shares[: LEAD[op.name]])
    carried = shares[LEAD[op.name] :]
    while True:
        contents = dict(walk.contents)
        if op.name == "while":
            walk.fixed(op, walk.block(op.blocks[0], carried))
        yielded = walk.block(op.blocks[-1], carried)
        after = [walk.joined(op, pair) for pair in zip(carried, yielded, strict=True)]
        if after == carried and walk.contents == contents:
            return after
        carried = after


def _custom(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Return how a func's results depend on the linear inputs, by its body; without one, its operands must not."""
    if not op.attrs.get(REFERENCE, True):
        walk.fixed(op, shares)
        return [_FIXED] * len(op.results)
    (body,) = op.blocks
    # Inside, the arrays that it is given have names of their own.
    pairs = zip(body.params, op.operands, strict=True)
    walk.memory |= {p.name: walk.location_key(v) for p, v in pairs if isinstance(v.type, ArrayType)}
    return walk.block(body, shares)


def _map(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Return how the results of a `tile_map` depend on the linear inputs, by its block."""
    return walk.block(op.blocks[0], shares)


def _reduced(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Return how a reduction or scan depends on the linear inputs: as its tile, which must not unless it is a sum."""
    if op.attrs[KIND] != "sum":
        walk.fixed(op, shares)
    return shares


def _slots(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Return that new slots hold nothing (0), and note that in `walk.contents`."""
    # Storage of the thread's own is memory too, under the value that stands for it.
    walk.contents.setdefault(op.result, _NOTHING)
    return [_NOTHING]


def _slot_write(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Join what slots hold with what is written; return nothing. The position must not be linear."""
    walk.fixed(op, shares[1:2])
    walk.contents[op.operands[0]] = walk.joined(op, [walk.contents[op.operands[0]], shares[2]])
    return []


def _slot_read(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Return how what slots hold depends on the linear inputs; the position must not be linear."""
    walk.fixed(op, shares[1:])
    return [walk.contents[op.operands[0]]]


def _placed(walk: _Walk, op: Op, shares: list[Share]) -> list[Share]:
    """Return how a value with a part replaced depends on the linear inputs: as a sum of both; positions must not."""
    walk.fixed(op, shares[1:-1])
    return [walk.joined(op, [shares[0], shares[-1]])]


_HANDLERS: Mapping[str, Callable[[_Walk, Op, list[Share]], list[Share]]] = {
    "where": _where,
    "lerp": _lerp,
    "cast": _cast,
    "if": _if,
    **dict.fromkeys(LOOPS, _loop),
    "custom": _custom,
    "slots": _slots,
    "slot_write": _slot_write,
    "slot_read": _slot_read,
    "tile_map": _map,
    "tile_reduce": _reduced,
    "tile_scan": _reduced,
    "insert": _placed,
    "tile_insert": _placed,
    "tile_place": _placed,
    "shape": lambda walk, op, given: [_FIXED],
    "yield": lambda walk, op, given: [],
}
