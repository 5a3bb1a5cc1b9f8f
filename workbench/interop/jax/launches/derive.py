"""Calls of a launch's derivatives: the wires of its adjoint and its tangent, from its own.

Both functions take the wires of any plan, including an adjoint's or a tangent's, so nothing here limits the order of
derivatives: what the kernel language can differentiate does. An adjoint sees a kernel's arrays as they were before
the launch, which under JAX are its operands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from workbench.errors import NotDifferentiable
from workbench.interop.jax.native.descriptor import Kind, Wire
from workbench.runtime.launching.executable import Executable
from workbench.types import is_float


class Source(NamedTuple):
    """Represents a value that an operand of an adjoint takes, or whose gradient one of its results is.

    Attributes:
        role: "input" or "output" of the launch, "cotangent" of an output, "static" value, or "scratch": a result that
            holds what an input or output held before the launch and is dropped.
        position: of the value among those of its kind.
        of: of "scratch", "input" or "output"; otherwise empty.
    """

    role: str
    position: int
    of: str = ""


@dataclass(frozen=True)
class Gradient:
    """Represents the call of a launch's adjoint.

    Attributes:
        operands: the values that its operands take, in order.
        results: of each of its results, the value whose gradient (and shape) it has.
        views: of each view that it takes, the number of the launch's view with the same offset, shape and strides.
    """

    operands: tuple[Source, ...]
    results: tuple[Source, ...]
    views: tuple[int, ...]


@dataclass(frozen=True)
class Tangent:
    """Represents the call of a launch's tangent: the launch's operands and results, then those of tangents.

    Attributes:
        operands: numbers of the launch's operands that have a tangent, ascending.
        results: numbers of the launch's results that have one, ascending.
        statics: how many more static values, all 0, it takes.
        views: of each view that it takes, the number of the launch's view with the same offset, shape and strides.
    """

    operands: tuple[int, ...]
    results: tuple[int, ...]
    statics: int
    views: tuple[int, ...]


def unwanted(wires: Sequence[Wire], wanted: Collection[int]) -> frozenset[str]:
    """Return the parameters whose gradients an adjoint can leave out, if those of the operands `wanted` are requested.

    They are floats: static numbers, and operands not in `wanted` that the launch only reads.
    """
    floats = [w for w in wires if is_float(w.type) and w.kind in (Kind.ARRAY, Kind.SCALAR)]
    read = {w.name for w in floats if w.operand >= 0 and w.result < 0 and w.operand not in wanted}
    return frozenset(read | {w.name for w in floats if w.value >= 0})


def adjoint_wires(
    executable: Executable, wires: Sequence[Wire], left_out: Collection[str] = ()
) -> tuple[tuple[Wire, ...], Gradient]:
    """Return the wires of a loaded adjoint, and how it is called, from the wires of its launch.

    Its parameters are the launch's, then an adjoint array for each that is of floats. Parameters that share an operand
    or a result share its cotangent. The adjoint array of one that is `left_out` is not touched: the array itself is
    passed.

    Raises:
        NotDifferentiable: it needs what an undefined output held.
    """
    floats = [w for w in wires if is_float(w.type)]
    names = {w.name: s.name for w, s in zip(floats, executable.layout.slots[len(wires) :], strict=True)}
    operands: list[Source] = []
    results: list[Source] = []
    alone = {w.name for w in wires if w.name in left_out and w.kind is Kind.ARRAY}
    paired = {n: twin for n, twin in names.items() if n not in alone}
    primal = {w.name: _primal_wire(w, executable, paired, operands, results) for w in wires}
    shown = [w for w in floats if w.kind is not Kind.SHAPE and w.name in paired]
    twins = {w.name: _twin_wire(w, names[w.name], executable.writes, operands, results) for w in shown}
    twins |= {n: replace(primal[n], name=names[n]) for n in alone}
    shapes = {w.result: twins[w.name] for w in floats if w.name in twins and w.result >= 0}
    for w in wires:
        if w.kind is Kind.SHAPE:
            primal[w.name] = _shape_of(w, shapes[w.result])
            twins[w.name] = replace(primal[w.name], name=names[w.name])
        elif w.kind is not Kind.SCALAR and primal[w.name].operand < 0 and primal[w.name].result < 0:
            primal[w.name] = _shape_of(primal[w.name], twins[w.name])
    wires_in_order = (*primal.values(), *(twins[w.name] for w in floats))
    return wires_in_order, Gradient(tuple(operands), tuple(results), _views(wires, floats))


def _shape_of(wire: Wire, twin: Wire) -> Wire:
    """Return the wire of a parameter of which the adjoint uses the shape alone, taken from its adjoint array `twin`."""
    return replace(wire, kind=Kind.SHAPE, operand=twin.operand if twin.result < 0 else -1, result=twin.result)


def _views(wires: Sequence[Wire], more: Sequence[Wire]) -> tuple[int, ...]:
    """Return, for each view among `wires` and then `more`, the number of the view in `wires` with its name."""
    indices = {w.name: n for n, w in enumerate(w for w in wires if w.view)}
    return tuple(indices[w.name] for w in (*wires, *more) if w.view)


def _index_of(sources: list[Source], source: Source) -> int:
    """Return the index of `source` in `sources`, to which it is appended if it is not there yet."""
    if source not in sources:
        sources.append(source)
    # Parameters that share an operand share its cotangent, too: JAX has one value for both.
    return sources.index(source)


def _primal_wire(
    wire: Wire, executable: Executable, twins: Mapping[str, str], operands: list[Source], results: list[Source]
) -> Wire:
    """Return the wire of a parameter in the launch's adjoint; append its sources to `operands` and `results`.

    It is an operand if the adjoint uses more of it than its shape, and a dropped result too if the adjoint changes it.
    An output with an initial value is filled again.

    Raises:
        NotDifferentiable: the adjoint needs what an undefined output held.
    """
    used, changed = wire.name in executable.reads | executable.writes, wire.name in executable.writes
    plain = replace(wire, operand=-1, result=-1, fill=None)
    if wire.kind is Kind.SHAPE or wire.value >= 0 or (wire.kind is not Kind.SCALAR and not used and wire.name in twins):
        return plain
    if wire.operand >= 0:
        scratch = _index_of(results, Source("scratch", wire.operand, "input")) if changed else -1
        return replace(plain, operand=_index_of(operands, Source("input", wire.operand)), result=scratch)
    # Before the launch the output held its initial value, which can be filled in once more.
    if used and wire.fill is not None:
        return replace(plain, result=_index_of(results, Source("scratch", wire.result, "output")), fill=wire.fill)
    if used:
        raise NotDifferentiable(
            f"The gradient of {executable.name} needs what {wire.name} held before, which {executable.name} changes.",
            advice="Make it an input that is also an output (in_out_argnames), or give it an initial value (init).",
            function=executable.name,
        )
    return replace(plain, operand=_index_of(operands, Source("output", wire.result)))


def _twin_wire(wire: Wire, name: str, writes: Collection[str], operands: list[Source], results: list[Source]) -> Wire:
    """Return the wire of a parameter's adjoint array; append what it takes and gives to `operands` and `results`.

    Of an output it is the cotangent: read and cleared, so it goes in and out, or in gather form only read. Of an array
    input it starts as zeros; of a scalar it is one element that collects the sum.
    """
    twin = replace(wire, name=name, operand=-1, value=-1, fill=0)
    if wire.result >= 0:
        twin = replace(twin, operand=_index_of(operands, Source("cotangent", wire.result)), fill=None)
        if wire.operand < 0 and name not in writes:
            return replace(twin, result=-1)
    if wire.operand >= 0:
        source = Source("input", wire.operand)
    else:
        source = Source("output", wire.result) if wire.result >= 0 else Source("static", wire.value)
    kind = Kind.ACCUMULATOR if wire.kind is Kind.SCALAR else wire.kind
    return replace(twin, kind=kind, result=_index_of(results, source))


def tangent_wires(executable: Executable, wires: Sequence[Wire]) -> tuple[tuple[Wire, ...], Tangent]:
    """Return the wires of a loaded tangent, and how it is called, from the wires of its launch.

    These are the launch's own, unchanged, and then one for the tangent of each parameter that is of floats.
    """
    floats = [w for w in wires if is_float(w.type)]
    moved = [w for w in floats if w.kind is not Kind.SHAPE]
    operands = sorted({w.operand for w in moved if w.operand >= 0})
    results = sorted({w.result for w in moved if w.result >= 0})
    # Tangents come after what the launch has, so numbers of the launch keep their meaning.
    before = [1 + max((getattr(w, part) for w in wires), default=-1) for part in ("operand", "result", "value")]
    statics, wired = 0, []
    for wire, slot in zip(floats, executable.layout.slots[len(wires) :], strict=True):
        alone = wire.kind is not Kind.SHAPE and wire.result >= 0 and wire.operand < 0
        renamed = replace(wire, name=slot.name, fill=0 if alone else None)
        if wire.kind is not Kind.SHAPE:
            renamed = replace(
                renamed,
                operand=before[0] + operands.index(wire.operand) if wire.operand >= 0 else -1,
                result=before[1] + results.index(wire.result) if wire.result >= 0 else -1,
            )
        if wire.value >= 0:
            renamed = replace(renamed, value=before[2] + statics)
            statics += 1
        wired.append(renamed)
    return (*wires, *wired), Tangent(tuple(operands), tuple(results), statics, _views(wires, floats))
