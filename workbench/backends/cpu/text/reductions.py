"""Changes of one element by all threads, combined before memory is changed (marked by `passes/memory/atomics.py`).

A thread combines its own changes in a register and leaves the result in a buffer. A full buffer is combined with 32
lanes (of four bytes 64), each of which takes every 32nd thread; at the end of a chunk of threads the lanes are combined
pairwise. So the loop over threads vectorises without a sum in it, and the order is the same however wide a machine's
vectors are. What chunks come to is combined in their order (below), and chunks are cut by what a thread costs, not by
how many cores there are: **the same bits in each run and on each machine**. Floats of up to 32 bits are added as
float64.

    entry(params, begin, end, fault, stop, sums)        begin < end: a chunk. What it comes to is written to `sums`, or,
                                                        if that is null, changes memory at once
    entry(params, chunks, 0, fault, stop, sums)         changes memory by what lies at `sums`: one chunk after another
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec

from workbench.backends.cpu.text.values import register, width
from workbench.backends.llvm.functions import Lane, LlvmFunction, Long, Ptr, Variable, count
from workbench.backends.llvm.values import Value as LlvmValue
from workbench.backends.llvm.values import bits_of
from workbench.ir.ops import ELEMENTS, LOOPS, REDUCTION, VALUE
from workbench.ir.values import Function, Op, dtype_of, walk
from workbench.limits import REDUCTION_BYTES, REDUCTION_THREADS
from workbench.passes.memory.atomics import kind_of
from workbench.types import Kind, Scalar, element

_BYTES, _ALIGNMENT = 256, 64  # of the lanes in memory


class Reduction(msgspec.Struct, frozen=True, eq=False, dict=True):
    """All changes of one element that are combined over threads before memory is changed.

    Attributes:
        op: the first of the changes in the function.
        kind: how they combine: "add", "min", "max", "and", "or" or "xor".
        first: the number of the element's first component among those of all reductions.
        once: a thread makes at most one of these changes.
    """

    op: Op
    kind: str
    first: int
    once: bool

    @cached_property
    def scalar(self) -> Scalar:
        """The type of a component in memory."""
        return element(dtype_of(self.op.operands[0]))

    @property
    def components(self) -> range:
        """The numbers of the element's components among those of all reductions."""
        return range(self.first, self.first + width(dtype_of(self.op.operands[0])))

    @cached_property
    def register(self) -> str:
        """The LLVM type in which a component is combined."""
        return "double" if self.kind == "add" and self.scalar.kind is Kind.FLOAT else register(self.scalar)

    @cached_property
    def lanes(self) -> int:
        """The number of lanes with which a component's results are combined."""
        return 8 * _BYTES // bits_of(self.register)

    @cached_property
    def identity(self) -> str:
        """The value that changes nothing, as an LLVM constant."""
        scalar, bits = self.scalar, self.scalar.bits
        if scalar.kind is Kind.FLOAT:
            return {"add": "-0.0", "min": "0x7FF0000000000000", "max": "0xFFF0000000000000"}[self.kind]
        signed = scalar.kind is Kind.INT
        most, least = (2 ** (bits - 1) - 1, -(2 ** (bits - 1))) if signed else (-1, 0)
        return str({"add": 0, "or": 0, "xor": 0, "and": -1, "min": most, "max": least}[self.kind])


def reductions_of(function: Function) -> dict[Op, Reduction]:
    """Return the reduction of each change that is to be combined, by operation.

    Changes that certainly are of the same element share one.
    """
    changes = [op for op in walk(function.body) if op.name == "reduce_add" or op.attrs.get(REDUCTION)]
    if not changes:
        return {}
    constants = {op.result: op.attrs[VALUE] for op in walk(function.body) if op.name == "const"}
    repeated = {o for op in walk(function.body) if op.name in LOOPS for block in op.blocks for o in walk(block)}
    by_element: dict[tuple[object, ...], list[Op]] = {}
    for op in changes:
        indices = op.operands[1:-1] if op.name in ELEMENTS else ()
        element = (op.operands[0], *(("const", constants[v]) if v in constants else v for v in indices))
        by_element.setdefault(element, []).append(op)
    reductions: dict[Op, Reduction] = {}
    components = 0
    for first, *others in by_element.values():
        reduction = Reduction(first, kind_of(first), components, not others and first not in repeated)
        components = reduction.components.stop
        reductions.update(dict.fromkeys((first, *others), reduction))
    return reductions


def size_of_buffer(reductions: Sequence[Reduction]) -> int:
    """Return how many threads' results a buffer holds: a multiple of the lanes."""
    components = max(1, sum(len(r.components) for r in reductions))
    lanes = padding(reductions)
    return max(lanes, min(REDUCTION_THREADS, REDUCTION_BYTES // (8 * components) // lanes * lanes))


def padding(reductions: Sequence[Reduction]) -> int:
    """Return the number that a buffer's results must be a multiple of: the most lanes of any reduction."""
    return max((r.lanes for r in reductions), default=1)


def combined(reduction: Reduction, a: LlvmValue, b: LlvmValue) -> LlvmValue:
    """Emit the combination of the result so far and a new value, or of vectors of them.

    Minimum and maximum of floats treat NaN as the atomic operations do: if `a` is NaN the result is, and so it is if
    `b` is.
    """
    kind, number = reduction.kind, reduction.scalar.kind
    if kind not in ("min", "max"):
        return a.do("fadd" if number is Kind.FLOAT else kind, b)
    side = "lt" if kind == "min" else "gt"
    if number is not Kind.FLOAT:
        return a.is_(f"{'s' if number is Kind.INT else 'u'}{side}", b).choose(a, b)
    # Only NaN is unordered with itself.
    return a.is_("uno", a).choose(a, a.is_(f"o{side}", b).choose(a, b))


def lanes_name(reduction: Reduction) -> str:
    """Return the name of the LLVM function that combines a buffer with the lanes."""
    return f"wb.lanes.{reduction.kind}.{_form(reduction)}"


def total_name(reduction: Reduction) -> str:
    """Return the name of the LLVM function that combines the lanes with each other."""
    return f"wb.total.{reduction.kind}.{_form(reduction)}"


def _form(reduction: Reduction) -> str:
    """Return the LLVM type of results, for functions' names; unsigned minima and maxima have "u" in front."""
    unsigned = reduction.kind in ("min", "max") and reduction.scalar.kind is Kind.UINT
    return f"{'u' if unsigned else ''}{reduction.register}"


def definitions(reduction: Reduction, inline: bool) -> dict[str, str]:
    """Return LLVM text of both functions of a reduction, by name.

    Args:
        reduction: the reduction.
        inline: the function that combines a buffer with the lanes is always inlined, else never.
    """
    functions = _lanes(reduction, inline), _total(reduction)
    return {function.name: function.text()[0] for function in functions}


def _lanes(reduction: Reduction, inline: bool) -> LlvmFunction:
    """Return the function that combines `end` results, a multiple of the lanes, with the lanes."""
    kind, size = reduction.register, reduction.lanes

    def body(lanes: Ptr, buffer: Ptr, end: Long) -> None:
        total = Variable(lanes.load(kind, size, align=_ALIGNMENT))
        with count(end, step=size) as at:
            new = buffer.at(at, kind).load(kind, size, align=_ALIGNMENT)
            total.set(combined(reduction, total.get(), new))
        lanes.store(total.get(), align=_ALIGNMENT)

    attributes = f"{'alwaysinline' if inline else 'noinline'} nounwind"
    return LlvmFunction(body, lanes_name(reduction), head="define internal", attributes=attributes)


def _total(reduction: Reduction) -> LlvmFunction:
    """Return the function that combines the lanes with each other: half with half, until one is left."""
    kind, size = reduction.register, reduction.lanes

    def body(lanes: Ptr) -> Lane:
        total = lanes.load(kind, size, align=_ALIGNMENT)
        # Lane n with lane n + half, at each step: the order is part of the result's bits.
        while total.lanes > 1:
            half = total.lanes // 2
            low, high = total.shuffled(range(half)), total.shuffled(range(half, 2 * half))
            total = combined(reduction, low, high)
        return total.lane(0)

    return LlvmFunction(body, total_name(reduction), kind, "define internal", "noinline nounwind")
