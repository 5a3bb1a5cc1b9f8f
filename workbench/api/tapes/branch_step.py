"""A captured branch or loop on a tape: which way it goes, and how often, is known when the graph runs.

The adjoint of a branch is a branch on the same condition, whose sides run again on copies of what they change and go
backwards through that. The adjoint of a loop counts its turns as it runs, and goes back through them one by one, each
run again from its beginning: from the nearest of a few states that are kept, by the binomial schedule of Griewank and
Walther (Algorithm 799, ACM TOMS 26, 2000), which a kernel of one thread follows.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportInvalidTypeForm=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from workbench.api.graphs.capture import capture_body, capture_if
from workbench.api.graphs.graph import Graph
from workbench.api.kernels.func import func
from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.api.tapes.checkpoints import Snapshots
from workbench.api.tapes.steps import ReadingStep, Tape, Undo, carrying
from workbench.builtins import FORMS
from workbench.runtime import work
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty, lying_in
from workbench.runtime.arrays.unseen_writes import notice
from workbench.runtime.device.memory import Memory, allocate
from workbench.runtime.work import Nodes, While
from workbench.types import element, int32, int64, is_float, uint8

tid = FORMS["tid"]

STATES = 16
"""States of a loop that its adjoint keeps: 153 turns run twice more, 4,845 four times."""
_AT, _LEFT, _TOP, _TARGET, _SAVE, _LOAD, _TURNS = range(7)
"""Positions in the schedule's plan: the turn at whose beginning the state is; how many turns are to be undone; the last
slot in use; the turn to advance to; the slot to save the state in, or to load it from, or -1; of each slot its turn."""


class BranchStep(ReadingStep):
    """A captured branch or loop on a tape.

    Attributes:
        work: the captured work.
        written: positions in `touched` of the arrays that it changes.
        wanted: those of `touched` whose gradients are requested; None: all.
        known: a copy of a branch's condition; of a loop the number of its turns.
    """

    __slots__ = ("_needed", "known", "wanted", "work", "written")

    def __init__(self, node: work.Graph) -> None:
        """Represent work that is about to be captured."""
        accesses = node.accesses
        read = {a.array.memory for a in accesses if a.reads}
        self.work = node
        self.touched = tuple([a.array for a in accesses])
        self.versions = tuple([notice(a.memory) for a in self.touched])
        self.written = tuple([k for k, a in enumerate(accesses) if a.writes])
        self._needed = tuple([k for k, a in enumerate(accesses) if a.array.memory in read])
        self.changed = tuple([a.array for a in accesses if a.writes and is_float(a.array.dtype)])
        self.used = tuple([a.array for a in accesses if a.reads and is_float(a.array.dtype)])
        self.wanted: Sequence[array] | None = None
        self.known: array | None = None

    @property
    def needed(self) -> Sequence[int]:
        """The positions in `touched` of the arrays that its bodies read."""
        return self._needed

    @property
    def node(self) -> work.Work:
        """The captured work."""
        return self.work

    @property
    def title(self) -> str:
        """The words for it in messages: "a loop" or "a branch"."""
        return "a loop" if isinstance(self.work, While) else "a branch"

    def name_of(self, k: int) -> str:
        """Return the parameter, of a kernel inside, that got `touched[k]`."""
        return self.work.accesses[k].name

    def again(self, instead: Callable[[array], array]) -> None:
        """Run it again with other arrays; inside a capture, capture it."""
        self.work.changed({}, lambda value: instead(value) if isinstance(value, array) else value).launch()

    def prepared(self) -> work.Graph:
        """Return the work as it is to be captured: a loop also counts its turns. A branch's condition is copied."""
        condition = self.work.condition
        assert condition is not None
        if not isinstance(self.work, While):
            self.known = condition.fresh_like().copy_(condition)
            return self.work
        self.known = condition.fresh_like().fill_(0)
        with capture_body() as counted:
            self.work.graph.launch()
            launch(_count, 1, [self.known], device=condition.device)
        return replace(self.work, graphs={"body": counted})

    def reversed(self, tape: Tape) -> Undo:
        """Return a function that runs, or captures, the branch or loop that is its adjoint.

        Raises:
            NotDifferentiable: a kernel inside has no right adjoint, or something that one reads has changed.
        """
        iteration = _Iteration(self, tape)
        if isinstance(self.work, While):
            return self._loop(iteration)
        sides = {name: iteration.backward(body, iteration.before) for name, body in self.work.bodies.items()}
        sides = {name: side for name, side in sides.items() if side.nodes}
        return work.If(sides, self.known).launch if sides else lambda: None

    def _loop(self, iteration: _Iteration) -> Undo:
        """Return a function that goes back through the turns of a loop, with room for `STATES` states."""
        count = self.known
        assert count is not None
        plan, device = empty(_TURNS + STATES, int32, count.device), count.device
        flags = [count.fresh_like() for _ in range(4)]
        going, forward, backward, moving = flags
        pairs = [(copy, _numbers(copy, iteration.substitutes[m])) for m, copy in iteration.before.items()]
        slots = [(empty((STATES, state.size), state.dtype, device), state) for _, state in pairs]

        def move() -> None:
            for states, state in slots:
                launch(_move, state.size, [plan, states, state], device=device)

        with capture_body() as step:
            capture_if(forward, iteration.forward(self.work.graph))
            capture_if(backward, iteration.backward(self.work.graph, {}))
            launch(_go_on, 1, [STATES, plan, *flags], device=device)
            capture_if(moving, move)
        loop = While({"body": step}, going)

        def undo() -> None:
            for (copy, state), (states, _) in zip(pairs, slots, strict=True):
                states[0].copy_(copy)
                state.copy_(copy)
            launch(_begin, 1, [count, STATES, plan, *flags], device=device)
            loop.launch()

        return undo


class _Iteration:
    """A run of the body of a branch or loop, on arrays beside the user's.

    Attributes:
        substitutes: by memory of the user's arrays, the memory used instead.
        before: by memory that the bodies change and read, its contents before the step, as one array of numbers.
    """

    def __init__(self, step: BranchStep, tape: Tape) -> None:
        """Prepare memories for a turn of a step; its gradients are added to the tape's adjoints."""
        self._tape = tape
        earlier = step.as_before(tape)
        self.substitutes = {
            a.memory: earlier[k].memory if k in earlier else a.memory for k, a in enumerate(step.touched)
        }
        self.before: dict[Memory, array] = {}
        for k in step.written:
            value = step.touched[k]
            if k in earlier:
                self.before[value.memory] = _numbers(value, earlier[k].memory)
            self.substitutes[value.memory] = allocate(value.device, value.memory.nbytes)
        floats = {a.memory: a for a in step.touched if is_float(a.dtype)}
        for value in floats.values():
            tape.adjoint_of(value)
        self._adjoints = {self.substitutes[memory]: tape.adjoints[memory] for memory in floats}
        self._wanted = None if step.wanted is None else [self._moved(a) for a in step.wanted]

    def _moved(self, value: Any) -> Any:
        """Return an array in the memory that the turn uses for it; any other value unchanged."""
        if not isinstance(value, array) or value.memory is self.substitutes.get(value.memory, value.memory):
            return value
        return value.twin(self.substitutes[value.memory])

    def forward(self, body: Nodes) -> Graph:
        """Capture one run of the body in a graph: on the turn's arrays instead of the user's."""
        with capture_body() as graph:
            body.changed({}, self._moved).launch()
        return graph

    def backward(self, body: Nodes, before: Mapping[Memory, array]) -> Graph:
        """Capture one run of the body, and the way back through it, in a graph; it is empty if no gradient flows.

        The run starts from the contents that `before` has, by memory, else from those of the turn's arrays.
        """
        with capture_body() as graph:
            for memory, copy in before.items():
                _numbers(copy, self.substitutes[memory]).copy_(copy)
            inner = self._tape.again(Snapshots(), self._wanted)
            for memory, adjoint in self._adjoints.items():
                inner.lend(memory, adjoint)
            with inner:
                body.changed({}, self._moved).launch()
            steps = carrying(inner.steps, {*self._adjoints})
            for step in steps:
                step.reversed(inner)()
        if not steps:
            graph.nodes.clear()
        return graph


def _numbers(like: array, memory: Memory) -> array:
    """Return all of a memory as one array of the scalars of `like`, or of bytes if its size is no multiple."""
    kind = element(like.dtype)
    kind = uint8 if memory.nbytes % kind.size else kind
    return lying_in(memory, kind, (memory.nbytes // kind.size,))


@kernel
def _count(turns: array[int32]):
    """Add 1 to the number of turns, in one thread."""
    turns[0] += 1


@kernel
def _move(plan: array[int32], states: array(dtype=Any, ndim=2), state: array[Any]):
    """Copy the state to the slot that the plan says to save it in, or else from the slot to load it from."""
    i = tid()
    if plan[_SAVE] >= 0:
        states[plan[_SAVE], i] = state[i]
    elif plan[_LOAD] >= 0:
        state[i] = states[plan[_LOAD], i]


@func
def _choose(slots: int32, plan: array[int32], going: array[int32], forward: array[int32], backward: array[int32]):
    """Set the flags of what comes next; at a state that is stored, plan the turn at which the next one is stored."""
    at, left, top = plan[_AT], plan[_LEFT], plan[_TOP]
    going[0] = 1 if left > 0 else 0
    forward[0] = 1 if at < left - 1 else 0
    backward[0] = 1 if at == left - 1 else 0
    if at < left - 1 and at == plan[_TURNS + top]:
        free, steps = int64(slots - top), int64(left - at)
        # So many turns go with `free` states, if none runs again more than `runs` times; `fewer` with one time less.
        most, fewer, runs = free, int64(1), int64(0)
        while most < steps:
            fewer = most
            runs += int64(1)
            most = most * (free + runs) // (runs + int64(1))
        ahead = steps - int64(1)
        if free > int64(1):
            ahead = max(int64(1), steps - (most - fewer))
        plan[_TARGET] = at + int32(ahead)


@kernel
def _begin(
    count: array[int32], slots: int32, plan: array[int32], going: array[int32], forward: array[int32],
    backward: array[int32], moving: array[int32],
):  # fmt: skip
    """Set the plan and the flags to the start of a loop's way back.

    Args:
        count: how many turns are to be undone.
        slots: how many states can be stored; slot 0 has that of the first turn.
        plan, going, forward, backward, moving: set.
    """
    plan[_AT] = 0
    plan[_LEFT] = count[0]
    plan[_TOP] = 0
    plan[_TURNS] = 0
    moving[0] = 0
    _choose(slots, plan, going, forward, backward)


@kernel
def _go_on(
    slots: int32,
    plan: array[int32],
    going: array[int32],
    forward: array[int32],
    backward: array[int32],
    moving: array[int32],
):
    """Note that a turn has run, or was undone; then choose what comes next."""
    plan[_SAVE] = -1
    plan[_LOAD] = -1
    moving[0] = 0
    if forward[0] != 0:
        plan[_AT] += 1
        if plan[_AT] == plan[_TARGET] and plan[_AT] < plan[_LEFT] - 1:
            plan[_TOP] += 1
            plan[_TURNS + plan[_TOP]] = plan[_AT]
            plan[_SAVE] = plan[_TOP]
            moving[0] = 1
    else:
        plan[_LEFT] -= 1
        if plan[_LEFT] > 0:
            while plan[_TURNS + plan[_TOP]] > plan[_LEFT] - 1:
                plan[_TOP] -= 1
            plan[_AT] = plan[_TURNS + plan[_TOP]]
            plan[_LOAD] = plan[_TOP]
            moving[0] = 1
    _choose(slots, plan, going, forward, backward)
