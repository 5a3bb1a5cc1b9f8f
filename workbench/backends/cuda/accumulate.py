"""Changes of one element by all threads, in registers until the end of the kernel (marked by `passes/reductions.py`).

A marked change becomes one of a local of the thread, and the kernel ends with a `combine` per element: the threads of a
block combine their locals, and one of them changes memory. A thread goes through the launch with a step of all threads
there are, so a launch needs no more blocks than run at the same time, and memory is changed once for each.

Floats are added as float64. 16-bit floats and integers of fewer than 32 bits stay atomic changes.
"""

from __future__ import annotations

from workbench.ir.attributes import ACCUMULATOR, KIND, REDUCTION, VALUE
from workbench.ir.ops import ELEMENTS
from workbench.ir.rewrite import Rewriter, copy_op, replace_body, rewrite
from workbench.ir.values import Block, Function, Op, Value, definitions, walk
from workbench.passes.reductions import kind_of
from workbench.types import Kind, element

MOST = 16
"""At most so many scalars are kept in registers."""


def accumulate(function: Function) -> Function:
    """Turn marked changes into changes of thread locals, each with a `combine` at the end; else return the function."""
    by_element: dict[tuple[object, ...], list[Op]] = {}
    constants = {op.result: op.attrs[VALUE] for op in walk(function.body) if op.name == "const"}
    for op in walk(function.body):
        if _is_kept(op):
            same = (("const", constants[v]) if v in constants else v for v in _indices(op))
            by_element.setdefault((op.operands[0], *same), []).append(op)
    if not by_element or sum(_components(changes[0]) for changes in by_element.values()) > MOST:
        return function
    numbers = {op: number for number, changes in enumerate(by_element.values()) for op in changes}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        return (op.replace(attrs={**op.attrs, ACCUMULATOR: numbers[op]}),) if op in numbers else None

    defs = definitions(function.body)
    end: list[Op] = []
    for number, (first, *_) in enumerate(by_element.values()):
        end += _combine(first, number, defs)
    changed = rewrite(function, change)
    *ops, last = changed.body.ops
    ending = (*end, last) if last.name == "yield" else (last, *end)
    return replace_body(changed, Block(changed.body.params, (*ops, *ending)))


def _is_kept(op: Op) -> bool:
    if op.name != "reduce_add" and not op.attrs.get(REDUCTION):
        return False
    scalar = element(op.operands[-1].type)
    return scalar.bits >= 32 and scalar.kind is not Kind.BOOL


def _indices(op: Op) -> tuple[Value, ...]:
    return op.operands[1:-1] if op.name in ELEMENTS else ()


def _components(op: Op) -> int:
    return getattr(op.operands[-1].type, "length", 1)


def _combine(op: Op, number: int, defs: dict[Value, Op]) -> list[Op]:
    """Return the operations that end one accumulator. Its indices are the same in every thread (`same_in_all`), so they
    are recomputed here, outside of every branch."""
    needed: dict[Op, None] = {}

    def need(value: Value) -> None:
        if value in defs:
            for operand in defs[value].operands:
                need(operand)
            needed[defs[value]] = None

    for value in _indices(op):
        need(value)
    mapping: dict[Value, Value] = {}
    copies = [copy_op(one, mapping, lambda v: Value(v.type, "")) for one in needed]
    operands = (op.operands[0], *(mapping.get(v, v) for v in _indices(op)))
    attrs = {ACCUMULATOR: number, KIND: kind_of(op)}
    return [*copies, Op("combine", operands, (), attrs, (), op.location)]
