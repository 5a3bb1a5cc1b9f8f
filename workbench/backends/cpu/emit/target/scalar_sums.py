"""Sums of elements by index, one by one, on CPUs whose gathers take as long as the loads.

`for k in range(row[i], row[i + 1]): s += value[k] * x[column[k]]`: LLVM gathers 16 elements of x and adds the products
one after the other, in order. On Zen 4 a gather is a load per element and more. Left as it is, with a branch around
the wrap of an index below 0, the loop takes three quarters of the time in the cache, and gives the same bits.

Only sums in order qualify, since these leave nothing but the terms to vectors, and only terms of little arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.backends.cpu.text.values import width
from workbench.ir.attributes import COLD, SCALAR, Number, attributes
from workbench.ir.build import Builder
from workbench.ir.ops import LOOPS
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Block, Function, Op, Value
from workbench.passes.analysis.cost import constants, known_trips
from workbench.passes.loops.later import by_index
from workbench.types import Kind, element, int64
from workbench.types import bool as bool_

CHEAP = frozenset({"add", "sub", "mul", "neg", "fma", "cast"})
"""Arithmetic that takes an instruction; divisions and functions gain more from vectors than gathers cost."""
COMPUTED = 4
"""Numbers computed for each one that is loaded by index, at most."""


def scalar_sums(function: Function) -> Function:
    """The function with such loops marked; itself if there are none."""
    known = constants(function.body)

    def change(on: Rewriter, op: Op) -> Iterator[Op] | None:
        if not _sums_by_index(op, known):
            return None
        (body,) = op.blocks
        marked = attributes({**op.attrs, SCALAR: True})
        return iter([op.replace(blocks=(_with_branches(on.block(body)),), attrs=marked)])

    return rewrite(function, change)


def _sums_by_index(op: Op, known: Mapping[Value, Number]) -> bool:
    if op.name != "for" or op.attrs.get(COLD) or known_trips(op, known) is not None or known.get(op.operands[2]) != 1:
        return False
    (body,) = op.blocks
    loaded = by_index(body.ops)
    if not loaded or any(o.blocks for o in body.ops):
        return False
    floats = [o for o in body.ops if o.results and element(o.result.type).kind is Kind.FLOAT]
    computed = [o for o in floats if o.name not in ("load", "const", "vec", "extract", "insert")]
    if not all(o.name in CHEAP for o in computed):
        return False
    sums = {v for v, now in zip(body.params[1:], body.yielded, strict=True) if _adds(now, v, computed)}
    gathered = sum(width(o.result.type) for o in loaded)
    return bool(sums) and sum(width(o.result.type) for o in computed) <= COMPUTED * gathered


def _adds(value: Value, carried: Value, computed: list[Op]) -> bool:
    """Whether a carried value is a sum in order."""
    return any(o.result is value and o.name in ("add", "sub", "fma") and carried in o.operands for o in computed)


def _with_branches(body: Block) -> Block:
    """With a branch around each wrap: the processor guesses right, and the load need not wait for it."""
    places = {v for op in body.ops if op.name == "load" for v in op.operands[1:]}
    others = {v for op in body.ops for v in (op.operands if op.name != "load" else ())}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name != "wrap_index" or op.result not in places or op.result in others:
            return None
        b = Builder()
        b.location = op.location
        # In 64 bits, as addresses are: x86 widens a number as it loads it.
        index, size = (b.cast(v, int64) for v in op.operands)
        plain = b.one("ge", (index, b.const(0, int64)), bool_)
        with b.block() as usual:
            b.yield_(index)
        with b.block() as wrapped:
            b.yield_(b.one("add", (index, size), int64))
        place = Value(int64, op.result.name)
        b.append(Op("if", (plain,), (place,), COLD.of(True), (usual.block, wrapped.block), op.location))
        on.mapping[op.result] = place
        return b.body().ops

    return Rewriter(change).block(body)
