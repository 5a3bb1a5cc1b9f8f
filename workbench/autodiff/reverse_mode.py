"""Reverse mode: the adjoint of a kernel, and that of an adjoint.

An adjoint recomputes the forward values, then walks backwards. The result is plain IR, so every backend runs it and it
can be differentiated again. A loop that carries a value the adjoint needs is unrolled where its range is constant and
small; if such a value is still missing, the kernel is refused at the line that needs it (or, for an array element that
was overwritten, at the line that reads it).

The adjoint of an adjoint that keeps states is the adjoint of a tangent (`adjoint_of_adjoint`). A kernel y = f(x) has
the adjoint dx += Jᵀ dy. Of cotangents u of its result dx, the adjoint of that makes two things: J u, for dy, and for x
the derivative of dy · J u. The first is the kernel's tangent along u, the second is the adjoint of this tangent.
Neither runs anything backwards but loops that run forward in a kernel. So states are kept once more, where the adjoint
of kept states would be one of slots.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from workbench.autodiff.adjoint_signature import adjoint_names, adjoint_type
from workbench.autodiff.analysis.activity import active_values
from workbench.autodiff.forward_mode import tangent
from workbench.autodiff.gather.flat import by_rows
from workbench.autodiff.memory.effects import Launch, check_disjoint_threads, overwrites, private_additions, study
from workbench.autodiff.promote import hoist, is_straight, promote
from workbench.autodiff.reverse.emitter import Cotangents, Emitter, nothing, relabelled
from workbench.autodiff.reverse.recompute import Missing, written_out
from workbench.autodiff.reverse.rules import RULES
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.errors import NotDifferentiable
from workbench.ir.build import Builder, Replacements, Rewriter, fresh, rewrite
from workbench.ir.ops import ACCESSES, AXIS, EFFECTS, OPAQUE, REASON, TILED, VALUE, attributes
from workbench.ir.values import Block, Function, Op, Value, dtype_of, walk
from workbench.ir.verify import verify
from workbench.limits import CHECKPOINTS, REVERSED_UNROLLED
from workbench.passes.memory.atomics import demote_atomics
from workbench.passes.memory.elements import drop_overwritten, may_overlap, reuse
from workbench.passes.pipeline import ADJOINT, ADJOINT_INPUT, HOISTED, REVERSED, SIMPLIFIED, SWEPT, TWICE, run
from workbench.passes.unroll import unroll
from workbench.source import Location
from workbench.types import ArrayType, is_float


class _Options(msgspec.Struct, frozen=True):
    """The options of `adjoint` for one kernel.

    Attributes:
        atomic: every addition to an adjoint array is atomic.
        aliased: arrays that the kernel writes may overlap others.
        numbers: parameters that are no arrays get gradients.
        checkpoints: how many states of a loop are kept at once.
        constant: names of parameters whose gradients are not requested.
        stack: every state of a short loop may be kept.
        launch: the launches that the adjoint is for; None: all.
        uncleared: names of arrays whose adjoints are read, but not cleared.
    """

    atomic: bool
    aliased: bool
    numbers: bool
    checkpoints: int
    constant: frozenset[str]
    stack: bool
    launch: Launch | None = None
    uncleared: frozenset[str] = frozenset()


def adjoint(
    function: Function, *, atomic: bool = False, aliased: bool = False, numbers: bool = True,
    checkpoints: int = CHECKPOINTS, constant: frozenset[str] = frozenset(), stack: bool = True,
    launch: Launch | None = None, uncleared: frozenset[str] = frozenset(),
) -> Function:  # fmt: skip
    """Return the function that turns cotangents of a kernel's results into cotangents of its inputs.

    Its parameters are the kernel's, then for each one with a float type an array `adj_<name>`: of an array of the same
    type and shape, of a scalar or vector with one element. A launch of it has the kernel's dimensions. It reads what
    the caller put into the adjoint arrays of what the kernel writes, clears those elements, and adds to the adjoint
    arrays of what the kernel reads. The kernel's own arrays must be what they were before the launch (see `kept`), and
    are left so.

    Args:
        function: a kernel, or an adjoint.
        atomic: always accumulate atomically: for adjoint arrays that overlap.
        aliased: arrays that the kernel writes may overlap others; implies `atomic`.
        numbers: compute the gradients of parameters that are no arrays; else their adjoint arrays stay as they are.
        checkpoints: how many states of a loop are kept at once (at least 1), where its carried values are needed.
        constant: names of parameters whose gradients are not requested: what the kernel reads of them counts as
            constant, and their adjoint arrays, which are parameters all the same, are not added to.
        stack: every state of a short loop may be kept, in memory of the thread's own; not so on a GPU, where what is in
            no register is far.
        launch: the adjoint is only for launches with these assumptions, and adds to them what it relies on; None: for
            all.
        uncleared: names of arrays of `stored_boxes`, whose adjoints it leaves as they are; the caller clears them.

    Raises:
        NotDifferentiable: the adjoint would not be right; `location` is the line that prevents it.
    """
    options = _Options(atomic or aliased, aliased, numbers, checkpoints, constant, stack, launch, uncleared)
    if launch is not None:
        return _adjoint(_at_single(function, launch.single), options)
    try:
        return _adjoint(function, options)
    except NotDifferentiable as dependence_error:
        # No two threads have the same row and place, as none have the same index.
        rows = by_rows(function)
        if rows is None:
            raise
        with suppress(NotDifferentiable):
            return rows.linearised(_adjoint(rows.rows, options))
        raise dependence_error


def adjoint_at(
    function: Function, dims: tuple[int, ...], arguments: Mapping[str, Any], checkpoints: int = CHECKPOINTS
) -> Function:
    """Return the adjoint for one launch: one for all launches, or else one that is right for this.

    Args:
        function: a kernel.
        dims: of the launch.
        arguments: of the launch, by name.
        checkpoints: how many states of a loop are kept at once.

    Raises:
        NotDifferentiable: neither is possible.
    """
    try:
        return adjoint(function, checkpoints=checkpoints)
    except NotDifferentiable:
        if function.block_dim:  # whose threads are not the launch's
            raise
    launch = Launch.like(function, dims)
    result = adjoint(function, checkpoints=checkpoints, launch=launch)
    check_disjoint_threads(function, launch, dims, arguments)
    return result


def _at_single(function: Function, axes: tuple[int, ...]) -> Function:
    """Return the function for launches with one thread along these axes: the index along them is 0."""

    def change(_: Rewriter, op: Op) -> list[Op] | None:
        one = op.name == "tid" and op.attrs[AXIS] in axes
        return [Op("const", (), op.results, attributes({VALUE: 0}), (), op.location)] if one else None

    return rewrite(function, change)


def _adjoint(function: Function, options: _Options) -> Function:
    """Return the adjoint of a function, simplified and verified, with short loops unrolled where that is needed.

    Raises:
        NotDifferentiable: a value that it needs stays missing, or the sweep refuses an operation.
    """
    current = _simplified(run(ADJOINT_INPUT, function, early_exits=options.stack), options)
    checkpointed: frozenset[tuple[Op, int]] = frozenset()
    # Each turn either succeeds or gets smaller: a loop whose carried values are missing is unrolled, and once that is
    # no longer possible more of them are kept or computed (`reverse/loops`), so the turns end.
    while True:
        disjoint = Launch(options.launch.single) if options.launch is not None else None
        result, own = _attempt(current, replace(options, launch=disjoint), checkpointed)
        missing = _missing(result)
        if not missing:
            break
        loops = frozenset(m.loop for _, m in missing if m.loop is not None)
        # A value that is missing for another reason than a loop stays missing, however much is unrolled.
        if len(loops) == 0 or any(m.loop is None for _, m in missing):
            raise _refusal(result, missing, own)
        smaller = unroll(current, REVERSED_UNROLLED, loops.__contains__)
        if smaller is current:
            more = checkpointed.union((m.loop, m.carry) for _, m in missing if m.loop is not None)
            if more == checkpointed:
                raise _refusal(result, missing, own)
            checkpointed = more
        else:
            # Unrolling made new operations, so the loops in `kept` are no longer those of this function.
            current, checkpointed = _simplified(smaller, options), frozenset[tuple[Op, int]]()
    if options.launch is not None and disjoint is not None:
        options.launch.disjoint.extend(disjoint.disjoint)
    labels = own.labels
    promoted = partial(promote, aliased=options.atomic, sums=True)
    return verify(relabelled(run(REVERSED, result, promote=promoted), labels))


def _simplified(function: Function, options: _Options) -> Function:
    """Return a function simplified for the reverse sweep: atomics demoted, elements promoted, dead stores dropped."""
    overlap = partial(may_overlap, disjoint=not options.atomic)
    return run(
        SIMPLIFIED,
        function,
        demote_atomics=partial(demote_atomics, owned=partial(private_additions, launch=options.launch)),
        promote=partial(_promoted, aliased=options.aliased),
        load_forwarding=partial(reuse, overlap=overlap),
        dead_stores=partial(drop_overwritten, overlap=overlap),
    )


def _promoted(function: Function, aliased: bool) -> Function:
    """Return a function with elements of arrays promoted to values; the same object if there are none."""
    if is_straight(function):
        return function
    # Indices that are computed again in each iteration would look like other places: hoisting is for promotion's sake
    # only, and is undone where nothing was promoted.
    steady = run(HOISTED, function, hoist=hoist)
    promoted = promote(steady, aliased)
    return function if promoted is steady else promoted


def _attempt(
    function: Function, options: _Options, checkpointed: frozenset[tuple[Op, int]]
) -> tuple[Function, Emitter]:
    """Return the adjoint, perhaps with `unavailable` operations, and the builder that wrote it.

    Args:
        function: the simplified kernel.
        options: the options.
        checkpointed: loops with the numbers of carried values that must be known in each iteration.
    """
    active = active_values(function, options.numbers, options.constant)
    memory = study(function, active, options.aliased, options.launch)
    # An adjoint may be differentiated again: its parameters must be other values than those of the kernel.
    primal = [fresh(p) for p in function.params]
    env = dict(zip(function.params, primal, strict=True))
    names = adjoint_names(function.params)
    adjoints = {p: _adjoint_param(p, names[p.name]) for p in function.params if is_float(p.type)}
    builder = Emitter()
    cautious = overwrites(function, options.aliased)
    plain = frozenset[Value]() if options.atomic else memory.private
    sweep = ReverseSweep(
        RULES, function.name, active, memory, env, adjoints, plain, builder, checkpointed, options.checkpoints,
        options.stack, cautious, options.atomic, frozenset([p for p in function.params if p.name in options.uncleared]),
    )  # fmt: skip
    cotangents = Cotangents(builder, active)
    sweep.block(function.body, cotangents)
    # Parameters that are no arrays are read by every thread: their cotangents are summed over the launch.
    for param, total in adjoints.items():
        if not isinstance(param.type, ArrayType):
            cotangent = cotangents.take_full(param)
            if cotangent is not None:
                builder.emit("reduce_add", (total, cotangent.ref.value))
    params = (*primal, *adjoints.values())
    name = f"{function.name}_adjoint"
    result = replace(function, name=name, params=params, body=builder.body())
    return run(SWEPT, result, recompute=written_out), builder


def _adjoint_param(param: Value, name: str) -> Value:
    """Return the new array parameter that collects the adjoint of a parameter."""
    return Value(adjoint_type(param.type), name)


def _missing(function: Function) -> list[tuple[Op, Missing]]:
    """Return the `unavailable` operations of an adjoint with their reasons; empty if nothing is missing."""
    unavailable = [(op, op.attrs[REASON]) for op in walk(function.body) if op.name == "unavailable"]
    return [(op, reason) for op, reason in unavailable if isinstance(reason, Missing)]


def _refusal(result: Function, missing: list[tuple[Op, Missing]], own: Emitter) -> NotDifferentiable:
    """Return the error for one of the missing values.

    It is the first in the source of those that no unrolling and no checkpoint would help, or else of all.
    """
    name = result.name.removesuffix("_adjoint")
    needs = [(op, reason, _needing_location(result, op, own)) for op, reason in missing]
    # What no unrolling and no checkpoint would mend comes first, then the order of the source code.
    op, reason, need = min(needs, key=lambda n: (n[1].loop is not None, n[0].location.line, n[2].line))
    if reason.loop is not None:
        return NotDifferentiable(f"{reason.message}.", need, advice=reason.advice, function=name)
    where = f" (line {need.shown_line})" if need.line and need.line != op.location.line else ""
    return NotDifferentiable(f"{reason.message}{where}.", op.location, advice=reason.advice, function=name)


def _needing_location(function: Function, missing: Op, own: Emitter) -> Location:
    """Return the location of the first operation that needs a missing value, past what is merely recomputed from it."""
    users: dict[Value, list[Op]] = defaultdict(list)
    yielded: dict[Value, list[Value]] = defaultdict(list)
    for op in walk(function.body):
        for value in op.operands:
            users[value].append(op)
        for value, result in ((v, r) for b in op.blocks for v, r in zip(b.yielded, op.results, strict=False)):
            yielded[value].append(result)
    pending, seen = [missing.result], set[Value]()
    while pending:
        value = pending.pop(0)
        for user in users[value]:
            # What was only recomputed is no need by itself: look at who uses it.
            if user.name != "yield" and not own.recomputed.issuperset(user.results):
                return user.location
            results = yielded[value] if user.name == "yield" else user.results
            pending += [v for v in results if v not in seen]
            seen.update(results)
    return users[missing.result][0].location


def adjoint_of_adjoint(
    function: Function, checkpoints: int, stack: bool, numbers: bool, constant: frozenset[str]
) -> Function | None:
    """Return the adjoint of a kernel's adjoint, derived by way of the tangent; None if the kernel is not simple enough.

    It has the parameters that `adjoint` of the kernel's adjoint would have.

    Args:
        function: a kernel; see `_is_plain`.
        checkpoints: states of a loop that are kept at once.
        stack: every state of a short loop may be kept.
        numbers: compute the gradients of parameters that are no arrays.
        constant: names of parameters to whose adjoints the kernel's adjoint does not add.

    Raises:
        NotDifferentiable: the kernel has no tangent, or that has no adjoint.
    """
    kernel = run(TWICE, function)
    if not _is_plain(kernel):
        return None
    pushed = tangent(kernel)
    directions = frozenset(p.name for p in pushed.params[len(kernel.params) :])
    pulled = adjoint(pushed, numbers=numbers, checkpoints=checkpoints, constant=directions, stack=stack)

    # The adjoint's parameters, and beside each of floats (an adjoint, too) what is its cotangent.
    params = [fresh(p) for p in kernel.params]
    first = _new_adjoint_arrays(params)
    second = _new_adjoint_arrays((*params, *first.values()))
    builder, along, unseen = Builder(), list[Value](), set[Value]()
    for param, adjoints in first.items():
        unseen |= {second[adjoints]} if param.name in constant else set()
        is_array = isinstance(param.type, ArrayType)
        along.append(second[adjoints] if is_array else builder.load(second[adjoints], builder.const(0)))
    changed = {op.operands[0].name for op in walk(kernel.body) if op.name in EFFECTS}
    results = {p for p in params if p.name in changed}
    there = dict(zip(pushed.params, (*params, *along), strict=True))
    ops = [*_without(builder.body(), {}, (), unseen), *_without(pushed.body, there, results, unseen)]
    # The tangent's adjoint looks at the cotangents of tangents; a result has none of its own.
    back = (*params, *along, *(second[p] for p in first), *first.values())
    unseen |= {second[p] for p in first if p in results}
    ops += _without(pulled.body, dict(zip(pulled.params, back, strict=True)), {*first.values(), *unseen}, unseen)
    every = (*params, *first.values(), *second.values())
    result = replace(kernel, name=f"{function.name}_adjoint_adjoint", params=every, body=Block((), tuple(ops)))
    return verify(run(ADJOINT, result))


def _is_plain(function: Function) -> bool:
    """Return whether a kernel is simple enough for the adjoint of its adjoint to be that of its tangent.

    Each array is accessed in one way (read, stored to, or added to), no element is stored to twice, nothing uses what
    an addition returns, and there are no tiles and no code of the user's own.
    """
    kinds: dict[Value, set[str]] = {}
    used = {v for op in walk(function.body) for v in op.operands}
    for op in walk(function.body):
        if op.name in OPAQUE or op.name in TILED or (op.name in EFFECTS and not used.isdisjoint(op.results)):
            return False
        if op.name in ACCESSES:
            kinds.setdefault(op.operands[0], set()).add(op.name)
    return not function.block_dim and all(len(k) == 1 for k in kinds.values()) and not overwrites(function, False)


def _new_adjoint_arrays(params: Sequence[Value]) -> dict[Value, Value]:
    """Return a new adjoint array for each parameter with a float type."""
    names = adjoint_names(params)
    return {p: Value(adjoint_type(p.type), names[p.name]) for p in params if p.name in names}


def _without(
    block: Block, mapping: Replacements, unchanged: Collection[Value], unseen: Collection[Value]
) -> tuple[Op, ...]:
    """Return a copy of a block's operations, without changes of some arrays.

    Args:
        block: the block.
        mapping: its values to others.
        unchanged: arrays that are not changed.
        unseen: arrays of which every element is read as 0.
    """

    def change(on: Rewriter, op: Op) -> Sequence[Op] | None:
        if op.name in EFFECTS and op.operands[0] in unchanged:
            return ()
        if op.name == "load" and op.operands[0] in unseen:
            builder = Builder()
            on.mapping[op.result] = nothing(builder, dtype_of(op.operands[0]))
            return builder.body().ops
        return None

    return Rewriter(change, dict(mapping)).block(block).ops
