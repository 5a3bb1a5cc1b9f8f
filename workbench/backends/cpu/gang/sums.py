"""Changes of one element by all threads (`text/reductions`): each thread of a gang puts its part into the buffer.

So the parts are combined in the order of threads one by one, with the same bits.
"""

from __future__ import annotations

from workbench.backends.cpu.emit.combine import Combining
from workbench.backends.cpu.gang.emitter import GangEmitter
from workbench.backends.cpu.gang.lanes import each_lane
from workbench.backends.cpu.gang.widen import splat, vector
from workbench.backends.cpu.text.reductions import Reduction, combined
from workbench.backends.cpu.text.values import cast
from workbench.ir.values import Op
from workbench.types import float32


def begin_gang(emitter: GangEmitter, combining: Combining) -> None:
    """Nothing is changed yet."""
    for reduction, k in combining.parts:
        kind = vector(reduction.register, emitter.width)
        empty = splat(reduction.register, reduction.identity)
        emitter.writer.do(f"store {kind} {empty}, ptr {_own(emitter, reduction, k)}")


def end_gang(emitter: GangEmitter, combining: Combining) -> None:
    """The threads' results go into the buffers, side by side."""
    w = emitter.writer
    for reduction, k in combining.parts:
        kind = vector(reduction.register, emitter.width)
        result = w.emit(f"load {kind}, ptr {_own(emitter, reduction, k)}")
        align = 8 if reduction.register == "double" else reduction.scalar.bits // 8
        w.do(f"store {kind} {result}, ptr {combining.place(reduction, k)}, align {align}")


def emit_change(emitter: GangEmitter, op: Op) -> None:
    """One change of such an element, in the lanes that are on; any other addition goes lane by lane."""
    reduction = emitter.reductions.get(op)
    if reduction is None:
        each_lane(emitter, op)
        return
    w, kind = emitter.writer, reduction.register
    value = _as_combined(emitter, op, reduction)
    for k, new in zip(reduction.components, value, strict=True):
        place, whole = _own(emitter, reduction, k), vector(kind, emitter.width)
        old = w.emit(f"load {whole}, ptr {place}")
        if not reduction.once:
            name = w.name("combined")
            for row in combined(reduction, whole, old, new, name):
                w.do(row)
            new = name
        w.do(f"store {whole} {emitter.merged(emitter.mask, kind, new, old)}, ptr {place}")
    for result in op.results:  # nothing looks at it
        emitter.bind(result, emitter.vector(op.operands[-1]))


def _as_combined(emitter: GangEmitter, op: Op, reduction: Reduction) -> list[str]:
    """The value's components in the type in which they are combined: floats are added as float64."""
    w, scalar = emitter.writer, reduction.scalar
    if scalar.is_half:
        emitter.needs_halves(scalar)
    parts = []
    w.lanes = emitter.width
    for part in emitter.operands(op.operands[-1]):
        if scalar.is_half:
            part = w.emit(cast(part, scalar, float32))
        if reduction.register == "double" and scalar.bits < 64:
            part = w.emit(f"fpext float {part} to double")
        parts.append(part if part.startswith("%") else splat(reduction.register, part))
    w.lanes = 0
    w.settle()
    return parts


def _own(emitter: GangEmitter, reduction: Reduction, k: int) -> str:
    """Where the threads' own results so far lie: registers after optimisation."""
    kind = vector(reduction.register, emitter.width)
    return emitter.writer.once(("gang", "reductions", k), f"alloca {kind}, align 64", "gang.sums")
