"""Changes of one element by all threads, combined before memory is changed (marked by `passes/reductions.py`).

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
from workbench.ir.attributes import REDUCTION, VALUE
from workbench.ir.ops import ELEMENTS, LOOPS
from workbench.ir.values import Function, Op, dtype_of, walk
from workbench.limits import REDUCTION_BYTES, REDUCTION_THREADS
from workbench.passes.reductions import kind_of
from workbench.types import Kind, Scalar, element

_PARTS, _PART_BYTES = 4, 64  # vector values that the lanes are, and the bytes of one


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

    @property
    def lanes(self) -> int:
        """The number of lanes with which a component's results are combined."""
        return _PARTS * self.part

    @cached_property
    def part(self) -> int:
        """The number of lanes that one LLVM vector holds."""
        return _PART_BYTES // _bytes(self.register)

    @property
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
    count = 0
    for first, *others in by_element.values():
        reduction = Reduction(first, kind_of(first), count, not others and first not in repeated)
        count = reduction.components.stop
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


def combined(reduction: Reduction, type: str, a: str, b: str, name: str) -> list[str]:
    """Return LLVM lines that combine two values, or two vectors of them, into the register `name`.

    Minimum and maximum of floats treat NaN as the atomic operations do: if `a` is NaN the result is, and so it is if
    `b` is.

    Args:
        reduction: how they combine.
        type: their LLVM type.
        a: the result so far.
        b: the new value.
        name: the register of the result.
    """
    kind, number = reduction.kind, reduction.scalar.kind
    if kind not in ("min", "max"):
        return [f"{name} = {'fadd' if number is Kind.FLOAT else kind} {type} {a}, {b}"]
    flags = type.replace(reduction.register, "i1")
    side = "lt" if kind == "min" else "gt"
    if number is not Kind.FLOAT:
        return [
            f"{name}.ahead = icmp {'s' if number is Kind.INT else 'u'}{side} {type} {a}, {b}",
            f"{name} = select {flags} {name}.ahead, {type} {a}, {type} {b}",
        ]
    return [
        f"{name}.ahead = fcmp o{side} {type} {a}, {b}",
        f"{name}.best = select {flags} {name}.ahead, {type} {a}, {type} {b}",
        # Only NaN is unordered with itself.
        f"{name}.nan = fcmp uno {type} {a}, {a}",
        f"{name} = select {flags} {name}.nan, {type} {a}, {type} {name}.best",
    ]


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
    return {lanes_name(reduction): _lanes(reduction, inline), total_name(reduction): _total(reduction)}


def _lanes(reduction: Reduction, inline: bool) -> str:
    """Return LLVM text of the function that combines `count` results, a multiple of the lanes, with the lanes."""
    kind, size, parts = reduction.register, reduction.part, range(_PARTS)
    vector = f"<{size} x {kind}>"
    inlining = "alwaysinline" if inline else "noinline"
    head = f"define internal void @{lanes_name(reduction)}(ptr %lanes, ptr %buffer, i64 %count)"
    rows = [f"{head} {inlining} nounwind {{"]
    rows += ["entry:"]
    for k in parts:
        rows += _load(f"%lane{k}", vector, kind, "%lanes", str(k * size))
    rows += ["  br label %more", "more:", "  %at = phi i64 [ 0, %entry ], [ %next, %more ]"]
    rows += [f"  %sum{k} = phi {vector} [ %lane{k}, %entry ], [ %new{k}, %more ]" for k in parts]
    for k in parts:
        rows += [f"  %at{k} = add nuw nsw i64 %at, {k * size}"]
        rows += _load(f"%value{k}", vector, kind, "%buffer", f"%at{k}")
        rows += [f"  {row}" for row in combined(reduction, vector, f"%sum{k}", f"%value{k}", f"%new{k}")]
    rows += [f"  %next = add nuw nsw i64 %at, {reduction.lanes}", "  %left = icmp ult i64 %next, %count"]
    rows += ["  br i1 %left, label %more, label %done", "done:"]
    for k in parts:
        rows += [f"  %to{k} = getelementptr {kind}, ptr %lanes, i64 {k * size}"]
        rows += [f"  store {vector} %new{k}, ptr %to{k}, align {_PART_BYTES}"]
    return "\n".join([*rows, "  ret void", "}"])


def _total(reduction: Reduction) -> str:
    """Return LLVM text of the function that combines the lanes with each other: half with half, until one is left."""
    kind, size = reduction.register, reduction.part
    rows = [f"define internal {kind} @{total_name(reduction)}(ptr %lanes) noinline nounwind {{"]
    for k in range(_PARTS):
        rows += _load(f"%lane{k}", f"<{size} x {kind}>", kind, "%lanes", str(k * size))
    # Lane n with lane n + half, as each later step does it: the order is part of the result's bits.
    pairs = [("%lane0", "%lane2", "%even"), ("%lane1", "%lane3", "%odd"), ("%even", "%odd", f"%sum{size}")]
    for a, b, name in pairs:
        rows += [f"  {row}" for row in combined(reduction, f"<{size} x {kind}>", a, b, name)]
    while size > 1:
        vector, size = f"<{size} x {kind}> %sum{size}", size // 2
        for half, first in (("low", 0), ("high", size)):
            mask = ", ".join(f"i32 {first + n}" for n in range(size))
            rows += [f"  %{half}{size} = shufflevector {vector}, {vector.split('%')[0]}poison, <{size} x i32> <{mask}>"]
        halves = f"%low{size}", f"%high{size}", f"%sum{size}"
        rows += [f"  {row}" for row in combined(reduction, f"<{size} x {kind}>", *halves)]
    return "\n".join([*rows, f"  %total = extractelement <1 x {kind}> %sum1, i32 0", f"  ret {kind} %total", "}"])


def _load(name: str, type: str, kind: str, base: str, at: str) -> list[str]:
    """Return the LLVM lines that load a scalar or vector into a register, aligned to its size.

    Args:
        name: the register.
        type: LLVM type to load: a scalar or a vector.
        kind: LLVM type of an element.
        base: the address of element 0.
        at: the number of the first element.
    """
    align = _bytes(kind) * (int(type[1:].split()[0]) if type.startswith("<") else 1)
    return [
        f"  {name}.at = getelementptr {kind}, ptr {base}, i64 {at}",
        f"  {name} = load {type}, ptr {name}.at, align {align}",
    ]


def _bytes(kind: str) -> int:
    """Return the size in bytes of an LLVM scalar type, such as "double" or "i32"."""
    return {"double": 8, "float": 4}.get(kind) or int(kind[1:]) // 8
