"""Loops that load elements by index, one after the other, on CPUs where gathers do not pay.

`for k in range(row[i], row[i + 1]): s += value[k] * x[column[k]]`: LLVM gathers 16 elements of x, or without such an
instruction loads one after the other into a vector, and adds the products in order. On Zen 4 a gather takes longer than
the loads. So these loops stay scalar, with a branch around the wrap of an index below 0: the same bits in two thirds of
the time, in the cache.

Only loops of little arithmetic qualify: divisions and functions gain more from vectors than gathers cost. So do sums of
integers, which LLVM adds in any order.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.backends.cpu.text.values import width
from workbench.ir.attributes import COLD, SCALAR, attributes
from workbench.ir.build import Builder
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.limits import GATHER_OPERATIONS
from workbench.passes.analysis.cost import constants, known_trips
from workbench.passes.loops.later import by_index
from workbench.types import Kind, element, int64
from workbench.types import bool as bool_

MOVED = frozenset({"load", "const", "vec", "extract", "insert"})
CHEAP = frozenset({"add", "sub", "mul", "neg", "fma", "min", "max", "cast"})
"""Arithmetic of about an instruction."""


def scalar_loops(function: Function) -> Function:
    """The function with such loops marked."""
    known = constants(function.body)
    groups = {op.result for op in walk(function.body) if op.name == "group_size"}

    def change(on: Rewriter, op: Op) -> Iterator[Op] | None:
        if op.name != "for" or op.attrs.get(COLD) or known_trips(op, known) is not None:
            return None
        _, stop, step = op.operands[:3]
        if stop in groups or known.get(step) != 1 or not _loads_by_index(op.blocks[0]):
            return None
        marked = attributes({**op.attrs, SCALAR: True})
        return iter([op.replace(blocks=(_with_branches(on.block(op.blocks[0])),), attrs=marked)])

    return rewrite(function, change)


def _loads_by_index(body: Block) -> bool:
    """Whether that is most of what is done in a turn."""
    loaded = by_index(body.ops)
    if not loaded or any(op.blocks for op in body.ops):
        return False
    if any(element(v.type).kind is not Kind.FLOAT for v in body.params[1:]):
        return False
    floats = [op for op in body.ops if op.results and element(op.result.type).kind is Kind.FLOAT]
    computed = [op for op in floats if op.name not in MOVED]
    numbers, gathered = (sum(width(op.result.type) for op in ops) for ops in (computed, loaded))
    return all(op.name in CHEAP for op in computed) and numbers <= GATHER_OPERATIONS * gathered


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
