"""The tape: what ran inside a `with`, to be walked backwards.

Every float array that a recorded launch touches has an adjoint, of the memory it lies in, so that views share theirs.
An adjoint launch reads arrays as the forward launch found them: what is about to change is copied first (`snapshots`),
and where a change was not seen, `backward` refuses and names the array.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import starmap
from operator import attrgetter, itemgetter

from workbench.api.narrow import is_float_array
from workbench.api.tapes.adjoint_launch import is_large
from workbench.api.tapes.branch_step import BranchStep
from workbench.api.tapes.checkpoints import Checkpoints, Snapshot, Snapshots, listed
from workbench.api.tapes.cuts import CutStep, Live, as_integers, refuse_conversion, refuse_parts, unseen, untaped
from workbench.api.tapes.gradients import (
    UNWRITTEN,
    Gradients,
    Requested,
    Seed,
    mark_partial_gradients,
    partial_gradients,
    seed,
    starts,
)
from workbench.api.tapes.launch_step import NONE, LaunchStep, stopped
from workbench.api.tapes.steps import FunctionStep, MoveStep, SolveStep, Step, Undo, carrying
from workbench.errors import LaunchError
from workbench.host.narrow import is_count
from workbench.limits import CLEARED_BYTES
from workbench.runtime.active_observers import OBSERVERS, without
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import FEW, is_whole, is_zero, refuse_apart, zeros_beside
from workbench.runtime.arrays.unseen_writes import notice
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import in_order
from workbench.runtime.launching.mapped import Mapped
from workbench.runtime.launching.opened import Opened
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.work import Add, Copy, Fill, Graph, Work
from workbench.structs import Struct
from workbench.types import is_complex, is_float

_FIRST, _MEMORY = itemgetter(0), attrgetter("memory")


class Tape(Opened):
    """Records launches, copies and fills inside a `with`; `backward` computes the gradients.

        x = wb.array([1.0, 2.0, 3.0], requires_grad=True)
        with wb.Tape() as tape:
            wb.launch(square, 3, inputs=[x], outputs=[y])
            wb.launch(total, 3, inputs=[y], outputs=[loss])
        tape.backward(loss)
        x.grad

    After `backward`, `.grad` of arrays made with `requires_grad=True`, and `tape.gradients[x]` of every float array,
    hold the sum of the gradients so far. The adjoint of what a launch wrote is read and cleared on the way. Arrays may
    be overwritten while the tape is open: it keeps copies of what a gradient needs (`snapshots`, `nbytes`). Tapes nest,
    and one tape may record what another one's `backward` runs: the gradient of a gradient.

    Args:
        into_grad: accumulate gradients in the arrays' own `.grad` if they have one; else in `gradients`.
        accumulate: `backward` adds to what the gradients hold. False: it sets them, to 0 where no gradient leads; the
            same as `zero()` before it, at a lower cost.
        deterministic: `backward` has the same bits in every run: its launches are as with `launch(deterministic=…)`.
            None: as `WORKBENCH_DETERMINISTIC` says.
        checkpoint_every: keep little: one copy of what changes in so many steps; `backward` runs the steps between
            again, so it costs one run more. 0: keep what gradients need of every step.
        checkpoint: keep about so many copies of what changes, however many steps there are: `backward` runs steps again
            by the binomial schedule, 10,000 steps with 50 copies about four times. 0: no such bound.
        only: the arrays whose gradients are requested; what leads to none is not computed (of a matrix product by
            one factor one product is made, not two). None: those of all arrays; with checkpoints all are computed.

    Raises:
        ValueError: `checkpoint_every` is not a number of steps, `checkpoint` none of copies, or both are given.
        LaunchError: `only` is not a list of arrays of floats.
    """

    differentiates = True
    _internal = f"{Opened._internal} adjoints again at in_place kept lend path seeds seen written"

    def __init__(
        self, *, into_grad: bool = True, accumulate: bool = True, deterministic: bool | None = None,
        checkpoint_every: int = 0, checkpoint: int = 0, only: Sequence[array] | None = None,
    ) -> None:  # fmt: skip
        little = (checkpoint_every, checkpoint) != (0, 0)
        if little:
            if not is_count(checkpoint_every):
                raise ValueError(f"checkpoint_every is a number of steps, not {checkpoint_every!r}")
            if not is_count(checkpoint):
                raise ValueError(f"checkpoint is a number of copies, not {checkpoint!r}")
            if checkpoint and checkpoint_every:
                raise ValueError("A tape has checkpoint_every, or checkpoint: one of the two.")
            little = bool(checkpoint or checkpoint_every)
        self.steps: list[Step] = []
        self.adjoints: dict[Memory, array] = {}
        self.in_place: dict[Memory, array] = {}  # seeds that a step may take, and read where they are
        self.written: set[Memory] = set()
        self.unset: set[Memory] = set()
        self._set: set[Memory] = set()  # those that a step of the pass sets
        self._versions: dict[Memory, int] = {}
        self._complex: dict[Memory, bool] = {}
        self.kept = Checkpoints(checkpoint_every, checkpoint) if little else Snapshots()
        self._starts: Sequence[Seed] = ()
        self._ends: dict[int, array] = {}  # the arrays that backward passes started at, by their ids
        self.deterministic = in_order(deterministic)
        requested = None if only is None else Requested(only)
        self._only = None if little else requested
        self._into_grad = into_grad
        self._accumulate = accumulate
        self._stopped: list[LaunchStep] = []
        self.at: Step | None = None  # the step that a backward pass asks whether it has a gradient

    @property
    def seeds(self) -> dict[array, array]:
        """The adjoints that the last backward pass started from, by array."""
        return {start.target: start.as_array() for start in self._starts}

    @property
    def seen(self) -> dict[int, array]:
        """The float arrays of all steps, and those that backward passes started at, by their ids."""
        arrays = {id(a): a for step in self.steps for a in step.touched if is_float(a.dtype)}
        return arrays | {k: a for k, a in self._ends.items() if k not in arrays}

    @property
    def gradients(self) -> Gradients:
        """The adjoint of each float array the tape saw."""
        return Gradients(self, self._only)

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """Copies of arrays that changed and that a gradient needs as they were, in order, with size and reason."""
        return tuple(self.kept.by_version.values())

    @property
    def nbytes(self) -> int:
        """Bytes of all snapshots."""
        return sum(s.nbytes for s in self.snapshots)

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.steps)

    def __iter__(self) -> Iterator[Work]:
        """Yield the work that ran, as records and graphs list it: `wb.Recorder(tape)` runs it again.

        Raises:
            LaunchError: one is a function given to `record_func`, or a solve, which cannot run again.
        """
        return (node for step in self.steps if (node := step.node) is not None)

    def __repr__(self) -> str:
        return listed(len(self), self.snapshots)

    # What it hears of.

    def launching(self, record: LaunchRecord) -> LaunchRecord | None:
        """Record a launch, and copy what a gradient needs of the arrays that it is about to change.

        Returns:
            The launch with residuals to run in its place; None if there are none, or others observe the launch.
        """
        changed = record.executable.written_of(record.values)
        touched = record.executable.arrays_of(record.values)
        versions = self._follow(touched, changed)
        unwanted = NONE if self._only is None else self._only.unwanted(record)
        sets = not (self._into_grad and self._accumulate)
        step = LaunchStep(record, touched, versions, unwanted, self.deterministic, sets)
        noted: Step = step if record.taped else untaped(step, self._taped())
        if record.taped and self._only is not None:
            self._only.follow(step)
        self.steps.append(noted)
        for value in self.kept.note(noted, changed):
            self._keep(value, record.kernel)
        if not record.taped or isinstance(self.kept, Checkpoints) or not is_large(touched) or len(OBSERVERS.get()) > 1:
            return None
        return step.storing()

    def stopped(self, record: LaunchRecord) -> None:
        """Record that a launch did not finish."""
        self._stopped += [s for s in self.steps[-1:] if isinstance(s, LaunchStep) and s.record is record]

    def branching(self, node: Graph) -> Graph:
        """Record a branch or loop; return the one to capture, which also stores what its gradient needs."""
        step = BranchStep(node)
        changed = [step.touched[k] for k in step.written]
        self._note(step, changed, node.kind)
        if isinstance(self.kept, Checkpoints):
            return node
        if self._only is not None:
            step.wanted = [a for a in (*step.used, *step.changed) if a.memory in self._only.memories]
        with without(self):
            return step.prepared()

    def copying(self, target: array, source: array) -> None:
        """Record a copy."""
        self._change(target, MoveStep(Copy(target, source)))

    def adding(self, target: array, source: array) -> None:
        """Record a sum."""
        self._change(target, MoveStep(Add(target, source)))

    def converting(self, source: array, dtype: object) -> None:
        """Refuse to convert an array of floats to another float type, through which no gradient would go.

        Raises:
            NotDifferentiable: its gradient, or one of what it is computed from, is requested.
        """
        carries = self._only is None or source.memory in self._only.memories
        if carries and is_float(source.dtype) and is_float(dtype):
            raise refuse_conversion(source, dtype)

    def mapping(self, mapped: Mapped) -> None:
        """Record the correction of a result whose derivatives have a rule of their own, such as a linear solve."""
        self._note(SolveStep(mapped), (), "solve")

    def filling(self, target: array, value: float) -> None:
        """Record a fill."""
        self._change(target, MoveStep(Fill(target, value)))

    def _change(self, target: array, step: MoveStep) -> None:
        """Record a copy, sum or fill that changes the target."""
        self._note(step, (target,), step.work.kind)

    def _note(self, step: Step, changed: Sequence[array], kind: str) -> None:
        """Record a step that is no launch, and copy what a gradient needs of the arrays that it is about to change."""
        self._follow(step.touched, changed)
        if self._only is not None:
            self._only.follow(step)
        if step.changed or isinstance(self.kept, Checkpoints):
            self.steps.append(step)
        for value in self.kept.note(step, changed):
            self._keep(value, kind)

    def _keep(self, target: array, changed_by: str) -> None:
        """Have the array copied before it changes, if that is needed."""
        with without(self):
            self.kept.before_change(target, changed_by)

    def _follow(self, touched: Collection[array], changed: Sequence[array]) -> list[int]:
        """Notice changes made outside the `with` since the last step; return the version of each array's memory.

        What other observers copy before a launch comes when the launch is announced and its changes are counted.
        """
        integers, versions = False, self._versions
        before: list[int] = []
        for value in touched:
            memory = value.memory
            version = memory.version if memory.sealed is None else notice(memory)
            before.append(version)
            if version > versions.setdefault(memory, version):
                self.kept.interrupt()
                versions[memory] = version
                if is_float(value.dtype) and memory in self._taped():
                    self.steps.append(unseen(value))
            if memory.as_integers:
                integers = True
            if memory.as_parts:
                self._one_kind(value)
        if integers:
            self.steps += as_integers(touched, [a.memory for a in changed], self._taped)
        for value in changed:
            versions[value.memory] += 1
            value.memory.needed = versions[value.memory]
        return before

    def _one_kind(self, value: array) -> None:
        """Refuse memory that is used as complex numbers and as floats.

        Raises:
            NotDifferentiable: it is, or its gradient is of the other kind.
        """
        first = value if value.memory.grad is None else value.memory.grad
        known = self._complex.setdefault(value.memory, is_complex(first.dtype))
        if known != is_complex(value.dtype):
            raise refuse_parts(value)

    def _taped(self) -> set[Memory]:
        """Return the memories of float arrays that the steps so far have changed, and can undo."""
        return {a.memory for s in self.steps for a in s.changed if not isinstance(s, CutStep)}

    def record_func(self, backward: Callable[[], None], arrays: Sequence[array]) -> None:
        """Record a computation by the user's own code, outside any launch.

        Args:
            backward: called with nothing in its turn of the backward pass; it reads the adjoints of what the
                computation wrote (`tape.gradients[y]`, `y.grad`), clears them, and adds to those of what it read.
            arrays: the float arrays it read and wrote.

        Raises:
            LaunchError: the tape is not open or has checkpoints, or an array holds no floats.
        """
        if isinstance(self.kept, Checkpoints):
            raise LaunchError("record_func() needs a tape without checkpoints: it cannot run again.")
        if not self._is_open:
            raise LaunchError("record_func() notes what runs inside the tape's `with`.", advice="Call it there.")
        for value in arrays:
            if not is_float_array(value):
                raise LaunchError(f"record_func() takes arrays of floats; this is {value!r}.")
        for earlier in self.steps:
            if isinstance(earlier, CutStep):
                earlier.lost.difference_update(a.memory for a in arrays)
        self._versions.update((a.memory, a.memory.version) for a in arrays)
        step = FunctionStep(backward, tuple(arrays))
        if self._only is not None:
            self._only.follow(step)
        self.steps.append(step)

    # Backwards.

    def backward(
        self, loss: array | None = None, grads: Mapping[array, object] | None = None, *, retain_grad: bool = False
    ) -> None:
        """Walk backwards from a loss, from given adjoints, or without either from the `.grad` that results have.

        Args:
            loss: a float array of one element, whose adjoint is set to 1.
            grads: arrays to their adjoints (arrays or NumPy arrays of the same shape, or one number for all elements),
                as they are before anything changes.
            retain_grad: leave in the adjoint of every array what it was after the array's last change; without, the
                adjoints of what a launch, a copy or a fill has overwritten are used up (0) at the end.

        Raises:
            LaunchError: both are given, the loss is not one float, nothing recorded wrote it (or used what `grads`
                names), an adjoint does not fit, or neither is given and no array that was written has a `.grad`. Also
                inside the tape's own `with`, and for `retain_grad` with checkpoints.
            NotDifferentiable: a kernel has no right adjoint, an array its adjoint reads has changed unseen, two arrays
                were made of the same memory, or a gradient is half added by a pass that was stopped.
            KeyboardInterrupt: it was stopped; the message names the gradients that are half added.
        """
        if self._is_open:
            raise LaunchError("backward() was called inside the tape's own `with`.", advice="Call it after the block.")
        seeded = starts(loss, grads, self._versions, self.steps)
        targets = [*map(_FIRST, seeded)]
        steps = carrying(self.steps, {*map(_MEMORY, targets)})
        if loss is not None and not steps:
            raise LaunchError("Nothing that this tape recorded has written the loss.", advice=UNWRITTEN)
        self._check(steps, retain_grad)
        self._ends.update(zip(map(id, targets), targets, strict=True))
        starting = [*starmap(Seed if loss is not None and type(seeded[0][1]) is bytes else seed, seeded)]
        stale = [] if self._accumulate else self._stale()
        earlier = self._prepared(steps)
        self.unset.difference_update(map(_MEMORY, targets))
        for k, start in enumerate(starting):
            if start.version >= 0:
                starting[k] = start.apart_from(self.adjoints.values())
        self._starts = starting
        live = Live(steps, self, targets)
        alone = len(starting) == 1
        self.in_place = starting[0].in_place(steps) if alone and not retain_grad and starting[0].version >= 0 else {}
        lent = bool(self.in_place)
        ready = self._undone(steps, live)
        try:
            aside = self._copies(earlier) if earlier else {}  # sums of earlier passes, added again in the end
            for memory in (*aside, *stale):
                if memory not in self._set:
                    self.adjoints[memory].zero_()
            for start in starting if lent == bool(self.in_place) else ():  # else its step has taken the seed
                # That of what a step wrote is 0 now.
                start.begin(self.adjoint_of(start.target), alone=alone and bool(steps))
            if isinstance(self.kept, Checkpoints):
                self.kept.backward(self, self.again, steps, {t.memory for t in targets}, live)
            for _, undo in self._retaining(ready) if retain_grad else ready:
                undo()
            from_grad = {*map(_MEMORY, targets)} if loss is None and grads is None else set[Memory]()
            for memory in aside.keys() - from_grad:  # what was a start is no sum
                self.adjoints[memory].add_(aside[memory])
        except BaseException as error:
            mark_partial_gradients(error, steps, self.adjoints)
            raise

    def _retaining(self, ready: Sequence[tuple[Step, Undo]]) -> Iterator[tuple[Step, Undo]]:
        """Yield the steps with what undoes them, which the caller calls before it asks for the next.

        In the end each adjoint is again what it was after its array's last change.
        """
        retained: dict[Memory, array] = {}
        for step, undo in ready:
            retained |= self._copies({a.memory for a in step.changed} - retained.keys())
            yield step, undo
        for memory, held in retained.items():
            self.adjoints[memory].copy_(held)

    def _undone(self, steps: Sequence[Step], live: Live) -> list[tuple[Step, Undo]]:
        """Return each step with the function that undoes it, and note which adjoints these set.

        With checkpoints the list is empty: it is only checked that no step refuses.

        Raises:
            NotDifferentiable: a step has no right gradient.
        """
        ready: list[tuple[Step, Undo]] = []
        held = {*self.adjoints} if self.unset else set[Memory]()
        self._set.clear()
        try:
            for step in steps:
                self.at = step
                if isinstance(self.kept, Checkpoints):
                    step.check()
                else:
                    ready.append((step, (live.through(step, self) if live.some else step).reversed(self)))
                if self.unset:  # only the first step that touches one may set it
                    self.unset.difference_update([a.memory for a in (*step.changed, *step.used)])
        except BaseException:
            for memory in self._set - held:  # nothing has set these, and nothing will
                del self.adjoints[memory]
            raise
        finally:
            self.unset.clear()
        self.at = None
        return ready

    def _stale(self) -> list[Memory]:
        """Return the memories that have adjoints, all of which a pass may set: what these hold no longer counts."""
        for value in self.seen.values():
            if self._into_grad and value.memory.grad is not None:
                self._base(value)
        if not isinstance(self.kept, Checkpoints):
            self.unset.update(self.adjoints)
        return [*self.adjoints]

    def may_set(self, value: array) -> bool:
        """Return whether the step at hand may set an array's adjoint instead of adding to it.

        It may if no step of the pass has used it before, what it holds does not count, and all of it is the array's.
        """
        if value.memory not in self.unset or not is_whole(value) or isinstance(value.dtype, Struct):
            return False
        return value.memory not in self.adjoints or is_whole(self.adjoint_of(value))

    def set_by_step(self, value: array) -> array:
        """Return the adjoint of an array that the step at hand will set; its elements may be undefined."""
        memory = value.memory
        self._set.add(memory)
        if memory not in self.adjoints:
            base = value.fresh_like()
            base.memory.version = 0
            memory.adjoint_apart = self._into_grad
            self.lend(memory, base)
        return self.adjoint_of(value)

    def _check(self, steps: Sequence[Step], retain_grad: bool) -> None:
        """Notice changes of memory that nobody reported, and check that a backward pass is possible.

        Raises:
            LaunchError: `retain_grad` is set, and the tape has checkpoints.
            NotDifferentiable: a step was stopped, or two arrays were made of the same bytes.
        """
        if retain_grad and isinstance(self.kept, Checkpoints):
            raise LaunchError("retain_grad needs a tape without checkpoints.")
        for step in self._stopped:
            if step in steps:
                raise stopped(step)
        alone = True
        for memory in self._versions:
            if memory.sealed is not None:
                notice(memory)
            alone = alone and memory.plain
        if not alone:  # some lie in memory that was not allocated here
            changed = {a.memory for s in self.steps for a in s.changed}
            refuse_apart(self._versions, changed | {m for m in self._versions if m.grad is not None})

    def _prepared(self, steps: Sequence[Step]) -> list[Memory]:
        """Create the adjoints that gradients go through and that are missing.

        Returns:
            The memories of changed arrays whose adjoints are not 0: they hold sums of earlier passes.

        Raises:
            NotDifferentiable: one is half added.
        """
        earlier: list[Memory] = []
        fresh: dict[Memory, array] = {}
        zero: set[Memory] = set()
        adjoints, unseen = self.adjoints, not OBSERVERS.get()
        deferred = unseen and not isinstance(self.kept, Checkpoints)
        for step in steps:
            for value in (*step.changed, *step.used):
                memory = value.memory
                base = adjoints.get(memory)
                if base is None:
                    base = memory.grad if self._into_grad else None
                    if base is None:
                        if memory.nbytes > CLEARED_BYTES and memory.plain and deferred:
                            self.unset.add(memory)  # the step that uses it first creates its adjoint
                        else:
                            fresh.setdefault(memory, value)
                        continue
                    adjoints[memory] = base
                    self.written.add(base.memory)
                if base.memory.partial_gradients == base.memory.version and self._accumulate:
                    raise partial_gradients(steps, memory)
            for value in step.changed:
                memory = value.memory
                if memory in adjoints and memory not in zero and self._accumulate:
                    zero.add(memory)
                    own = adjoints[memory].memory
                    few = unseen and own.plain and own.nbytes <= FEW
                    if not ((few and own.owner.tobytes().count(0) == own.nbytes) or is_zero(adjoints[memory])):
                        earlier.append(memory)
        if fresh:
            self._make(fresh)
        return earlier

    def _make(self, fresh: Mapping[Memory, array]) -> None:
        """Create adjoints that are 0, each of a whole memory, given one array in each."""
        with without(self):
            adjoints = zeros_beside(fresh.values())
        for memory, base in zip(fresh, adjoints, strict=True):
            memory.adjoint_apart = self._into_grad
            self.adjoints[memory] = base
            self.written.add(base.memory)

    def again(self, snapshots: Snapshots, only: Sequence[array] | None = None) -> Tape:
        """Return a new, empty tape for steps that run again, which takes its copies from `snapshots`.

        With `only` it computes gradients with respect to these arrays alone.
        """
        tape = type(self)(into_grad=False, deterministic=self.deterministic, only=only)
        tape.kept = snapshots
        return tape

    def path(self, ends: Mapping[array, object] | Sequence[array]) -> list[Step]:
        """Return the steps through which a gradient goes that starts at these arrays, the last one first."""
        return carrying(self.steps, {*map(_MEMORY, ends)})

    def _copies(self, memories: Collection[Memory]) -> dict[Memory, array]:
        """Return copies of the adjoints of those memories that have one."""
        return {m: self.adjoints[m].fresh_like().copy_(self.adjoints[m]) for m in memories if m in self.adjoints}

    def zero(self) -> None:
        """Set to 0 all adjoints, and with `into_grad` the `.grad` of all arrays that the tape saw; steps stay."""
        with without(self):
            for value in self.seen.values():
                if value.memory.grad is not None and self._into_grad:
                    self._base(value)
            for adjoint in self.adjoints.values():
                adjoint.zero_()

    def reset(self) -> None:
        """Forget all steps, snapshots and adjoints; `.grad` of the user's arrays keeps its values."""
        self.steps.clear()
        self.adjoints.clear()
        self.written.clear()
        self._set.clear()
        self._versions.clear()
        self._ends.clear()
        self.kept.clear()
        self._starts = ()
        self._stopped.clear()

    def adjoint_of(self, value: array) -> array:
        """Return the adjoint of an array: a view of its memory's adjoint, laid out alike.

        The latter is created if there is none.
        """
        if value.memory.as_parts:
            self._one_kind(value)
        base = self.adjoints.get(value.memory)
        if base is None:
            base = self._base(value)
        if value.requires_grad:
            own = value.grad
            if own is not None and own.memory is base.memory:
                return own
        same_layout = base.tag == value.tag and base.shape == value.shape
        if same_layout and base.address - base.memory.address == value.address - value.memory.address:
            return base
        return value.twin(base.memory)

    def _base(self, value: array) -> array:
        """Return the adjoint of all of an array's memory; it is created if there is none."""
        base = self.adjoints.get(value.memory)
        if base is None:
            base = value.memory.grad if self._into_grad else None
            if base is None:
                self._make({value.memory: value})
                return self.adjoints[value.memory]
            self.lend(value.memory, base)
        return base

    def lend(self, memory: Memory, base: array) -> None:
        """Use this array as the adjoint of all arrays in a memory.

        `written` has the memories that backward passes change.
        """
        self.adjoints[memory] = base
        self.written.add(base.memory)
