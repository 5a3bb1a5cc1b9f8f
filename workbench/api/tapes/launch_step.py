"""A recorded launch: which arrays carry derivatives through it, what its adjoint reads, and what undoes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from workbench.api.builds import build
from workbench.api.builds.bind import adjoints_of
from workbench.api.builds.gathered import (
    Region,
    around,
    cleared_regions,
    gather_adjoint_of,
    hold,
    load_for,
    overwritten,
)
from workbench.api.builds.overlaps import all_disjoint, is_dense, overlap
from workbench.api.kernels.kernel import Specialisation
from workbench.api.tapes.adjoint_launch import (
    PlainAdjoint,
    adjoint_options,
    bind_adjoint,
    bound_before,
    is_large,
    lie_apart,
    plain_adjoint,
    replacing,
    uncleared,
)
from workbench.api.tapes.residuals import storing
from workbench.api.tapes.steps import ReadingStep, Tape, Undo
from workbench.autodiff import CLEARING, FORWARD, GATHERED, then
from workbench.autodiff.directions import READING
from workbench.errors import LaunchError, NotDifferentiable
from workbench.events import SUBSCRIBERS, Launched, listening
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.execute import cpu_threads, execute
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.work import Launch, Work
from workbench.source import Location
from workbench.types import Scalar, is_integer

NONE: frozenset[str] = frozenset()


class _Plan(msgspec.Struct, frozen=True):
    """The way to run the adjoint of a launch whose arrays are dense and lie apart.

    Attributes:
        plains: what is to be launched; nothing if the adjoint has to be bound for its arguments.
        cleared: regions of cotangents to fill with 0 afterwards: position of the argument, region, what is around it.
        replaced: gradients that it sets: position of the argument, and what is to be filled with 0 around the region.
    """

    plains: Sequence[PlainAdjoint]
    cleared: Sequence[tuple[int, Region, Sequence[Region]]]
    replaced: Sequence[tuple[int, Sequence[Region]]] = ()


class LaunchStep(ReadingStep):
    """A launch on a tape.

    Attributes:
        record: what ran.
        unwanted: parameters of arrays that it only reads, and whose gradients are not requested.
        ordered: whether its adjoint adds in the order of threads, even if the launch does not.
        sets: whether the tape's gradients hold nothing before its backward pass.
    """

    __slots__ = ("_needed", "_plain", "_residuals", "ordered", "record", "sets", "unwanted")

    def __init__(
        self,
        record: LaunchRecord,
        touched: Sequence[array],
        versions: Sequence[int],
        unwanted: frozenset[str] = NONE,
        ordered: bool = False,
        sets: bool = False,
    ) -> None:
        """Represent a launch that is about to run; as a tape creates one per launch, all else is computed later.

        Args:
            record: the launch.
            touched: its arrays.
            versions: of the memory of each.
            unwanted: parameters of arrays that it only reads, and whose gradients are not requested.
            ordered, sets: see the attributes.
        """
        executable, values = record.executable, record.values
        self.record = record
        self.unwanted = unwanted
        self.ordered = ordered
        self.sets = sets
        self.changed = executable.floats_written_of(values)
        self.used = executable.floats_read_of(values)
        if unwanted:
            self.used = tuple(
                [
                    a
                    for k, a in zip(executable.floats_read, self.used, strict=True)
                    if executable.names[k] not in unwanted
                ]
            )
        self.touched = touched
        self.versions = versions
        self._needed: tuple[int, ...] | None = None
        self._plain: PlainAdjoint | None = None
        self._residuals: Sequence[array] = ()

    @property
    def node(self) -> Work:
        """The launch, as records and graphs list it."""
        return Launch(self.record)

    @property
    def arrays(self) -> dict[str, array]:
        """The array arguments by parameter."""
        names, values = self.record.executable.names, self.record.values
        return {names[k]: values[k] for k in self.record.executable.arrays}

    @property
    def floats(self) -> dict[str, array]:
        """The array arguments that hold floats, by parameter."""
        names, values = self.record.executable.names, self.record.values
        return {names[k]: values[k] for k in self.record.executable.floats}

    @property
    def needed(self) -> tuple[int, ...]:
        """The positions in `touched` of the arrays that the adjoint reads; empty if there is no adjoint.

        `reversed` then says why.
        """
        if self._needed is None:
            apart = all_disjoint(self.touched)
            try:
                if apart:
                    self._plain = bound_before(self.record, self.unwanted, self.ordered, is_large(self.changed))
                self._needed = self._needed_by_code(apart) if self._plain is None else self._plain.needed
            except (NotDifferentiable, LaunchError):  # one that has no order
                self._needed = ()
        return self._needed

    def needs(self, name: str) -> bool:
        """Return whether the adjoint reads the array that this parameter got."""
        return any(name == self.name_of(k) for k in self.needed)

    @property
    def title(self) -> str:
        """The kernel's name."""
        return self.record.kernel

    @property
    def location(self) -> Location | None:
        """The kernel's `def` in the user's text; None if there is none."""
        return self.record.location

    def name_of(self, k: int) -> str:
        """Return the parameter that got `touched[k]`."""
        return self.record.executable.names[self.record.executable.arrays[k]]

    def _needed_by_code(self, apart: bool) -> tuple[int, ...]:
        """Derive the adjoint and begin to build it; return the positions in `touched` of the arrays that it reads.

        Args:
            apart: the arrays are known to be dense and to lie apart.
        """
        executable, launch_options = self.record.executable, self.record.launch_options
        contiguous, atomic = (True, False) if apart else (is_dense(self.arrays), overlap(self.floats))
        slot = "needed", id(launch_options), self.unwanted, self.ordered, contiguous, atomic
        if slot not in executable.bound:
            steps = () if atomic else self._gathers(self.floats)[0]
            read = self._code(contiguous, atomic, begin=not steps).touched
            for step in steps:
                self._code(contiguous, atomic, step)
            # With the options, so that no others get their id.
            needed = tuple([n for n, k in enumerate(executable.arrays) if executable.names[k] in read])
            executable.bound[slot] = launch_options, needed
        return executable.bound[slot][1]

    def _code(
        self, contiguous: bool | None = None, atomic: bool = False, step: str = "adjoint", begin: bool = True
    ) -> Executable:
        """Return the code of the adjoint or of a part of it, loaded, or with its build in the background.

        Args:
            contiguous: whether the code reads no strides; None: as the launch's own.
            atomic: never add without atomics.
            step: "adjoint", or a part of it.
            begin: whether a build begins now.
        """
        record = self.record
        options = adjoint_options(record, self.unwanted, contiguous, self.ordered)
        plain = contiguous and not atomic and len(OBSERVERS.get()) <= 1
        if step != "adjoint" or (plain and is_large(self.changed)):
            options = uncleared(record, options)
        if step != CLEARING and plain and is_large([a for a in self.used if self.sets or a.memory.grad is None]):
            options = replacing(record, options)
        direction, device, load = (
            then(record.direction, step),
            record.executable.device,
            partial(build.ahead, begin=begin),
        )
        return load_for(record.specialisation, direction, options, device, atomic, record.dim, load)[0]

    def again(self, instead: Callable[[array], array]) -> None:
        """Launch the kernel again with other arrays."""
        execute(self.record.on(instead))

    def storing(self) -> LaunchRecord | None:
        """Return the launch that also stores residuals for its adjoint; None if that has none, or is not built yet."""
        if self.ordered or not self.needed or not (all_disjoint(self.touched) or lie_apart(self.touched)):
            return None
        sets = is_large([a for a in self.used if self.sets or a.memory.grad is None])
        launch = storing(self.record, self.unwanted, sets, lambda: self._code(True, begin=False))
        self._residuals = launch.values[-2:] if launch is not None else ()
        return launch

    def check(self) -> None:
        """Derive the adjoint, to see whether there is one.

        Raises:
            NotDifferentiable: there is no right one.
        """
        self._code(begin=False)

    def reversed(self, tape: Tape) -> Undo:
        """Return a function that launches the adjoint, on the arrays as the launch found them.

        Raises:
            NotDifferentiable: there is no right adjoint, or an array has changed unseen.
        """
        if not (OBSERVERS.get() or (SUBSCRIBERS and listening(Launched))):
            plain = None if tape.deterministic or self._residuals else self._plain
            values = self.record.values
            for k in self.needed if self._needed is None else self._needed:  # without a call
                memory = self.touched[k].memory
                if memory.version != self.versions[k] or memory in tape.written:
                    values = self._as_before(tape)
                    break
            if plain is not None and not plain.overwritten and not (tape.unset and is_large(self.used)):
                return plain.call(self.record, values, tape.adjoints, tape.adjoint_of)
            plain_undo = self._reversed_plainly(tape, values)
            if plain_undo is not None:
                return plain_undo
        adjoints = self.adjoints(tape)
        launches = self.gathered(tape, adjoints) or [self.bound(tape, adjoints)]

        def undo() -> None:
            for one in launches:
                if isinstance(one, array):
                    one.zero_()
                else:
                    execute(one)

        return undo

    def _as_before(self, tape: Tape) -> Sequence[object]:
        """Return the launch's arguments, with its arrays as the launch found them."""
        earlier = self.as_they_were(tape)
        return [earlier.get(n, v) for n, v in zip(self.record.executable.names, self.record.values, strict=True)]

    def _reversed_plainly(self, tape: Tape, values: Sequence[object]) -> Undo | None:
        """Return a function that runs the adjoint by `PlainAdjoint`; None if that is not right.

        If no other step of the pass uses an array that the launch overwrote, its seed is read where it is.

        Args:
            tape: the tape.
            values: the launch's arguments as it found them.
        """
        if not (all_disjoint(self.touched) or lie_apart(self.touched)):
            return None
        record, seeds = self.record, dict[Memory, array]()
        replaced = bool(tape.unset) and is_large(self.used)
        plan = self._plan(tape.deterministic, replaced)
        if replaced and not all([tape.may_set(record.values[k]) for k, _ in plan.replaced]):
            plan = self._plan(tape.deterministic, False)
        if not plan.plains:
            return None
        around_set = [(tape.set_by_step(record.values[k]), rest) for k, rest in plan.replaced]
        adjoints = tape.adjoints
        if tape.in_place:
            memories = [record.values[k].memory for k, _, _ in plan.cleared]
            seeds = {memory: tape.in_place.pop(memory) for memory in memories if memory in tape.in_place}
            adjoints = {**adjoints, **seeds} if seeds else adjoints
        calls = [plain.call(record, values, adjoints, tape.adjoint_of, self._residuals) for plain in plan.plains]
        cleared = [
            (tape.adjoint_of(record.values[k]), region, rest, seeds.get(record.values[k].memory))
            for k, region, rest in plan.cleared
            if rest or record.values[k].memory not in seeds  # else nothing was written there
        ]

        def undo() -> None:
            for gradient, rest in around_set:
                for region in rest:
                    gradient.host()[region] = 0
            for call in calls:
                call()
            for cotangent, region, rest, seed in cleared:
                _clear(cotangent, region, rest, seed)

        return undo

    def _plan(self, ordered: bool, replaced: bool) -> _Plan:
        """Return the plan of the adjoint of a launch whose arrays lie apart, computed once for launches of equal sizes.

        With `ordered` the adjoint adds in the order of threads; with `replaced` it sets gradients where it can.
        """
        large, launch_options = is_large(self.changed), self.record.launch_options
        reads = bool(self._residuals)
        slot = "plan", id(launch_options), self.unwanted, ordered, large, cpu_threads(), replaced, reads
        return self._by_sizes(slot, lambda: self._planned(ordered, large, replaced), launch_options)

    def _planned(self, ordered: bool, large: bool, replaced: bool) -> _Plan:
        """Compute the plan that `_plan` returns."""
        record, unwanted = self.record, self.unwanted
        first = READING if self._residuals else "adjoint"
        plain = plain_adjoint(record, unwanted, ordered, large, first, replaced)
        steps: Sequence[str] = ()
        regions: Mapping[str, Region] = {}
        if plain is None and not ordered:
            steps, regions = self._gathers(self.floats)
        elif plain is not None and plain.overwritten:
            regions = self._overwritten()
        parts = [plain_adjoint(record, unwanted, False, large, s, replaced and s != CLEARING) for s in steps]
        plains = [part for part in (plain, *parts) if part is not None]
        if not plains or len(plains) < len(parts):
            return _Plan((), ())
        at = {name: k for k, name in enumerate(record.executable.names)}
        cleared = [(at[n], r, [*around(r, record.values[at[n]].shape)]) for n, r in regions.items()]
        set_regions = [one for part in plains for one in part.regions(record)]
        return _Plan(plains, cleared, [(k, [*around(r, record.values[k].shape)]) for k, r in set_regions])

    def _overwritten(self) -> dict[str, Region]:
        """Return, by parameter, the regions of arrays with which the launch does nothing but overwrite them."""
        record = self.record
        if not isinstance(record.specialisation, Specialisation):
            return {}
        return overwritten(record.specialisation, record.dim, record.executable.names, record.values)

    def _by_sizes(self, what: object, find: Callable[[], Any], *more: object) -> Any:
        """Return the result of `find`, kept until the launch's sizes or `more` change, on which it depends."""
        record, executable = self.record, self.record.executable
        numbers = executable.bound.get("integers")
        if numbers is None:
            kinds = enumerate(executable.types.values())
            numbers = executable.bound["integers"] = [k for k, t in kinds if isinstance(t, Scalar) and is_integer(t)]
        values = record.values
        key = (record.dim, [values[k].shape for k in executable.arrays], [int(values[k]) for k in numbers], more)
        known = executable.bound.get(what)
        if known is None or known[0] != key:
            known = executable.bound[what] = key, find()
        return known[1]

    def adjoint(self, tape: Tape) -> LaunchRecord:
        """Return the record of the adjoint launch.

        Raises:
            NotDifferentiable: there is no right one.
        """
        return self.bound(tape, self.adjoints(tape))

    def adjoints(self, tape: Tape) -> dict[str, array]:
        """Return the adjoint arrays by parameter; for an unwanted one the array itself stands in."""
        return {n: a if n in self.unwanted else tape.adjoint_of(a) for n, a in self.floats.items()}

    def _gathers(self, adjoints: Mapping[str, array]) -> tuple[tuple[str, ...], dict[str, Region]]:
        """Return the steps to launch for the gather form, and the regions of adjoints to fill with 0 afterwards.

        The regions are by the kernel's parameter. Both are empty if the form is not right. It is assumed that the
        adjoints share no memory.
        """
        record = self.record
        # Which order sums have in a loop is promised by `deterministic`: these have another one.
        if record.direction != FORWARD or self.ordered or record.options.ordered:
            return (), {}
        if not isinstance(record.specialisation, Specialisation):
            return (), {}
        gather_adjoint = gather_adjoint_of(record.specialisation, adjoint_options(record, self.unwanted).constant)
        if gather_adjoint is None:
            return (), {}

        def parts() -> tuple[tuple[str, ...], dict[str, Region]]:
            arguments = self._beside(adjoints)
            if not hold(gather_adjoint, record.dim, arguments):
                return (), {}
            more = cleared_regions(gather_adjoint, record.dim, arguments)
            whose = {adjoint: name for name, adjoint in adjoints_of(record.specialisation, "adjoint").items()}
            regions = {whose[n]: region for n, region in (more or {}).items()}
            steps = (GATHERED, CLEARING) if more is None else (GATHERED,)
            return steps, {**self._overwritten(), **regions}

        return self._by_sizes("gathers", parts, self.unwanted, [a.shape for a in adjoints.values()])

    def _beside(self, adjoints: Mapping[str, array]) -> dict[str, Any]:
        """Return the launch's arguments and adjoint arrays, the latter under the adjoint parameters' names."""
        names = adjoints_of(self.record.specialisation, "adjoint")
        return {**self.record.arguments, **{names[n]: a for n, a in adjoints.items()}}

    def bound(self, tape: Tape, adjoints: Mapping[str, array], step: str = "adjoint") -> LaunchRecord:
        """Return the record of the adjoint launch, or of a part of it (`step`), with these adjoint arrays."""
        earlier = self.as_they_were(tape)
        return bind_adjoint(self.record, adjoints, earlier, self.unwanted, tape.deterministic, step)

    def gathered(self, tape: Tape, adjoints: Mapping[str, array]) -> list[LaunchRecord | array]:
        """Return the adjoint in gather form: launches, then arrays to be filled with 0; empty if it is not right."""
        steps, regions = self._gathers(adjoints)
        if not steps or self._shares(adjoints):
            return []
        filled = [adjoints[name][region] for name, region in regions.items()]
        return [*(self.bound(tape, adjoints, step) for step in steps), *filled]

    def gathers(self, adjoints: Mapping[str, array]) -> bool:
        """Return whether the gather form of the adjoint is right with these adjoint arrays."""
        return bool(self._gathers(adjoints)[0]) and not self._shares(adjoints)

    def _shares(self, adjoints: Mapping[str, array]) -> bool:
        """Return whether any of the launch's arrays and these adjoints, by parameter, share memory."""
        return overlap({n: a for n, a in self._beside(adjoints).items() if isinstance(a, array)})

    def as_they_were(self, tape: Tape) -> dict[str, array]:
        """Return the arrays that have changed since as they were, by parameter, and copies of those that are adjoints.

        The pass itself changes the latter.

        Raises:
            NotDifferentiable: the adjoint reads one of which no copy was kept.
        """
        return {self.name_of(k): value for k, value in self.as_before(tape).items()}


def _clear(cotangent: array, region: Region, rest: Sequence[Region], seed: array | None) -> None:
    """Fill a region of an adjoint with 0; where its seed was read in place, the rest becomes a copy of that.

    Args:
        cotangent: the adjoint, on the CPU; no observer is open.
        region: of the adjoint.
        rest: all that is around it.
        seed: None: it was not read in place.
    """
    memory = cotangent.memory
    if seed is None and not rest:
        cotangent.zero_()
        return
    host, was_zero = cotangent.host(), seed is not None and memory.is_zero
    memory.version += 1
    if seed is None:
        host[region] = 0
        return
    source, besides = seed.host(), [host[part] for part in rest]
    for part, target in zip(rest, besides, strict=True):
        target[...] = source[part]
    if was_zero:
        memory.cleared(besides)


def stopped(step: LaunchStep) -> NotDifferentiable:
    """Return the error for a launch that was stopped while a tape recorded it."""
    name, written = step.record.executable.title, ", ".join(sorted(step.record.writes))
    return NotDifferentiable(
        f"{name} was stopped while this tape recorded: {written} is half written, so no gradient is right.",
        advice="Run the tape's block again.",
        function=step.record.kernel,
    )
