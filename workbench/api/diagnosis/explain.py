"""`explain_grad`: why a gradient is zero, NaN, infinite, or not there.

The backward pass runs once more, on a second tape, and is watched step by step: behind which step nothing is left of
what the array could be reached by, or from which on there is a NaN or an infinity. Then the kernel of that step is
looked into: what flows through its IR at all, where a derivative is cut, and, thread by thread in the interpreter,
where it dies.

The answer is plain data, an `Explanation`, with sentences for each cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import msgspec
import numpy as np
from msgspec.structs import replace

from workbench.api.diagnosis.find_nan import birth, operation, tangents_seen
from workbench.api.tapes.branch_step import BranchStep
from workbench.api.tapes.checkpoints import Checkpoints
from workbench.api.tapes.cuts import Live
from workbench.api.tapes.launch_step import LaunchStep
from workbench.api.tapes.steps import FunctionStep, MoveStep, Step
from workbench.api.tapes.tape import Tape
from workbench.autodiff.analysis.activity import Link, shortest_path
from workbench.builtins import TABLE
from workbench.errors import LaunchError, NotDifferentiable, must_be
from workbench.host.narrow import HostArray
from workbench.ir.values import Function, Op, walk
from workbench.runtime.active_observers import unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.device.memory import Memory
from workbench.types import Complex, is_float

ADVICE = {
    "": "",
    "backward": "Call tape.backward(loss) first.",
    "unseen": "Use the array in a launch inside `with tape:`; operations in NumPy are not recorded.",
    "integers": "Make it an array of floats.",
    "requires_grad": "Create it with requires_grad=True, or read tape.gradients[x].",
    "unused": "Pass it to a kernel that reads it, on the way to the loss.",
    "unreached": "Let the loss use what is computed from it.",
    "overwritten": "Write the new values to another array, or change the order. If the gradient of the new values is "
    "what you want: backward(loss, retain_grad=True).",
    "intermediate": "To keep it there: backward(loss, retain_grad=True).",
    "cast": "Keep the value a float up to the loss.",
    "comparison": "Use the value itself beside the comparison: where(test, x, …), or a smooth step.",
    "index": "An index says which element is used; only the element's value has a derivative.",
    "condition": "A condition says what runs; let the values inside depend on the array.",
    "builtin": "It is constant between jumps; use a smooth function in its place.",
    "branch": "Choose inputs for which the branch runs, or give the other branch a slope.",
    "chosen": "At these values the other argument is chosen; start elsewhere, or use a smooth version.",
    "factor": "Something that it is multiplied by is 0; start elsewhere.",
    "slope": "The slope is 0 at these values; start elsewhere.",
    "elements": "The loss reads other elements than those that depend on the array.",
    "function": "The backward function given to record_func adds nothing to it.",
    "adjoint": "Rewrite the line that the message names.",
    "seed": "Give an adjoint other than 0.",
    "infinite": "Keep the argument away from there: add a small number, or choose by `where` before the call.",
    "overflow": "Scale the loss down, or use a wider float.",
    "value": "Fix the value first; the gradient cannot be better. `with wb.find_nan():` stops where it is produced.",
    "lost": "Start from adjoints that are finite.",
}
CUTS = {
    "cast": "{op} makes it an integer, and that has no derivative.",
    "integers": "it is handled as an integer ({op}), and that has no derivative.",
    "comparison": "only a comparison ({op}) sees it, and that has no derivative.",
    "index": "it is only used as an index, and that has no derivative.",
    "condition": "it only decides what runs ({op}), and that has no derivative.",
    "builtin": "{op} has the derivative 0 everywhere.",
}
_CHOSEN = ("chosen", "{op} chose the other argument.")
STOPS = {
    "where": _CHOSEN,
    "min": _CHOSEN,
    "max": _CHOSEN,
    "clamp": ("chosen", "{op} is at its limit."),
    "saturate": ("chosen", "{op} is at its limit."),
    "mul": ("factor", "the other factor of {op} is 0."),
    "load": ("elements", "the elements that are read here have no part in it."),
}


class Explanation(msgspec.Struct, frozen=True):
    """An explanation of why a gradient is zero, NaN, infinite, absent or fine.

    Attributes:
        state: "fine", "zero", "nan", "infinite" or "absent".
        cause: the short name of the reason, a key of `ADVICE`; "" if all is well.
        message: a sentence.
        kernel: the kernel in which it happens; "" if there is none.
        launch: which of the tape's steps, counted from 0; -1 for none.
        line: the line in the kernel's cell, as its reader counts; 0 if there is none.
        place: the line in words: `cell [3], line 12`.
        text: the line itself.
        advice: what to do.
    """

    state: str
    cause: str
    message: str
    kernel: str = ""
    launch: int = -1
    line: int = 0
    place: str = ""
    text: str = ""

    @property
    def advice(self) -> str:
        """Advice on what to do; empty if there is none."""
        return ADVICE[self.cause]

    def __str__(self) -> str:
        where = f"  ({self.place})" if self.place else ""
        shown = [f"gradient {self.state}: {self.message}{where}"]
        if self.text:
            shown.append(f"    {self.text}")
        return "\n".join([*shown, f"  {self.advice}"] if self.advice else shown)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the explanation's text for a notebook."""
        return f"<pre>{escape(str(self))}</pre>"


def explain_grad(tape: Tape, x: array) -> Explanation:
    """Explain why the gradient of `x` on this tape is zero, NaN, infinite or absent; call it after `backward`.

        tape.backward(loss)
        wb.explain_grad(tape, x)

    Nothing of the tape, of arrays or of gradients changes. It runs the backward pass once more and some threads of one
    kernel in the interpreter, so it takes its time.

    Args:
        tape: a tape.
        x: an array whose gradient is not what was expected.

    Returns:
        The first cause that was found, with the kernel and the line, as plain data with a readable repr.

    Raises:
        LaunchError: `x` is not an array, or the tape has checkpoints.
    """
    must_be(tape, Tape, "explain_grad() takes the tape, then the array")
    _refuse_others(x)
    if isinstance(tape.kept, Checkpoints):
        raise LaunchError(
            "explain_grad() needs a tape without checkpoints.", advice="Record a few steps on a plain tape."
        )
    with unobserved():
        absent = _absent(tape, x)
        if absent is not None:
            return absent
        try:
            passed = _Pass(tape, x)
        except NotDifferentiable as error:
            location = error.location
            line, text = (location.shown_line, location.source.line(location.line).strip()) if location else (0, "")
            return Explanation(
                "absent", "adjoint", error.message, error.function or "", -1, line, str(location or ""), text
            )
        return passed.explained()


def _absent(tape: Tape, x: array) -> Explanation | None:
    """Explain a gradient without another backward pass: x has none or is unused, or `backward` has not started.

    None if it is neither.
    """
    if not is_float(x.dtype):
        return Explanation("absent", "integers", f"an array of {x.dtype!r} has no gradient.")
    known = any(a.memory is x.memory for s in tape.steps for a in (*s.used, *s.changed))
    if not known:
        taken = [k for k, s in enumerate(tape.steps) if isinstance(s, LaunchStep) and _is_argument(s, x)]
        if taken:
            kernel = _kernel(tape.steps[taken[0]])
            return Explanation("zero", "unused", f"{kernel} takes this array and reads no element.", kernel, taken[0])
        return Explanation("absent", "unseen", "nothing that the tape recorded used this array.")
    if not tape.seeds:
        return Explanation("absent", "backward", "backward() has not run.")
    if not any(_has_some(seed.numpy()) for seed in tape.seeds.values()):
        return Explanation("zero", "seed", "backward() started from adjoints of 0.")
    return None


def _is_argument(step: LaunchStep, x: array) -> bool:
    """Return whether an argument of a launch lies in the array's memory."""
    return any(a.memory is x.memory for a in step.arrays.values())


class _Finding(msgspec.Struct, frozen=True, eq=False):
    """The step at which the gradient of x dies, or at which a NaN or an infinity appears.

    Attributes:
        index: of the step, from 0.
        step: the step.
        incoming: memories computed from x whose adjoints were not 0 before the step was undone.
    """

    index: int
    step: Step
    incoming: frozenset[Memory]


class _Pass:
    """A repetition of a tape's backward pass that notes where the gradient dies and where a NaN is born.

    Attributes:
        x: the array whose gradient is to be explained.
        seeds: the adjoints that the pass starts from, by array.
        real: the user's tape.
        tape: a second tape of the same steps, with adjoints of its own.
        before: before each step and after the last, the memories that may hold something computed from x.
        died: the last undone step behind which no adjoint of anything computed from x is left, or None.
        born: the first undone step that makes a NaN or an infinity, or None.
        opaque: whether a function of the user's, which is not called again, is among the steps.
    """

    def __init__(self, tape: Tape, x: array) -> None:
        """Go through the tape's backward pass once more, on another tape, from the same seeds."""
        self.x, self.seeds, self.real = x, tape.seeds, tape
        self.tape = Tape(into_grad=False)
        self.tape.steps, self.tape.kept = tape.steps, tape.kept
        self.before = _downstream(tape.steps, x.memory)
        self.died: _Finding | None = None
        self.born: _Finding | None = None
        for target, seed in tape.seeds.items():
            self.tape.adjoint_of(target).add_(seed)
        self.run({s: k for k, s in enumerate(tape.steps)}, self.tape.path(tape.seeds))

    def run(self, indices: dict[Step, int], steps: Sequence[Step]) -> None:
        """Undo the steps, and note where the way to x ends and where a NaN appears."""
        self.opaque = any(isinstance(step, FunctionStep) for step in steps)
        live = Live(steps, self.tape, self.seeds)
        through = [(s, live.through(s, self.tape)) for s in steps]
        undo = {s: _unwatched if isinstance(s, FunctionStep) else part.reversed(self.tape) for s, part in through}
        for step in steps:
            index = indices[step]
            here = {a.memory for a in (*step.changed, *step.used)}
            nonzero = frozenset(m for m in self.before[index + 1] if self.any(m, _has_some))
            healthy = not any(self.any(m, _is_strange) for m in here)
            undo[step]()
            if nonzero and not any(self.any(m, _has_some) for m in self.before[index]):
                self.died = _Finding(index, step, nonzero)
            if self.born is None and healthy and any(self.any(m, _is_strange) for m in here):
                self.born = _Finding(index, step, nonzero)

    def any(self, memory: Memory, test: Callable[[HostArray], bool]) -> bool:
        """Return whether a memory has an adjoint, and the test holds for its present values."""
        base = self.tape.adjoints.get(memory)
        return base is not None and test(base.numpy())

    def explained(self) -> Explanation:
        """Explain the gradient: it has a NaN or an infinity, is 0, is absent, or is as it should be."""
        gradient = (self.real if self.opaque else self.tape).adjoint_of(self.x).numpy()
        gradient = _numbers(gradient)
        if not np.isfinite(gradient).all():
            return self.strange(gradient)
        if not np.any(gradient):
            return self.zero()
        if self.x.memory.grad is None:
            return Explanation(
                "absent", "requires_grad", "the array was created without requires_grad, so it has no .grad."
            )
        part = f", {np.count_nonzero(gradient == 0)} of {gradient.size} are 0" if not gradient.all() else ""
        parts = "its parts are" if isinstance(self.x.dtype, Complex) else "it is"
        return Explanation("fine", "", f"{parts} from {gradient.min():.6g} to {gradient.max():.6g}{part}.")

    # Zero.

    def zero(self) -> Explanation:
        """Explain a gradient that is 0 everywhere."""
        if self.died is None:
            return self.unreached()
        step, index = self.died.step, self.died.index
        if isinstance(step, MoveStep):
            message = (
                f"step {index}, a {'fill' if step.work.kind == 'fill' else 'copy'}, overwrote it before it was used."
            )
            return Explanation("zero", "overwritten", message, "", index)
        if not isinstance(step, LaunchStep):
            what = step.title if isinstance(step, BranchStep) else "a solve"
            what = "one of your functions" if isinstance(step, FunctionStep) else what
            return Explanation("zero", "function", f"step {index}, {what}, leads to it.", "", index)
        return self.in_kernel(step, index, self.died.incoming)

    def unreached(self) -> Explanation:
        """Explain a gradient that is zero because the loss does not come from x."""
        x, steps = self.x.memory, self.tape.steps
        readers = [(k, s) for k, s in enumerate(steps) if any(a.memory is x for a in s.used)]
        if not readers:
            return Explanation("zero", "unused", "launches write this array; none reads it.")
        last = max(k for k, s in enumerate(steps) if any(a.memory in self.before[k] for a in s.used))
        kernel = _kernel(steps[last])
        return Explanation(
            "zero",
            "unreached",
            f"what is computed from it ends in {kernel or 'a copy'}; the loss does not use it.",
            kernel,
            last,
        )

    def in_kernel(self, step: LaunchStep, index: int, incoming: frozenset[Memory]) -> Explanation:
        """Explain what in the step's kernel stops the derivative."""
        function = _function_of(step)
        sources = {n for n, a in step.arrays.items() if a.memory in self.before[index]}
        targets = {n for n, a in step.arrays.items() if a.memory in incoming and n in step.record.writes}
        links = shortest_path(function, sources, targets)
        name, shown = step.record.kernel, ", ".join(sorted(targets))
        x, earlier = self.x.memory, self.tape.steps[:index]
        made_of = any(a.memory is not x for a in step.used)
        if links is None and made_of and not any(a.memory is x for s in earlier for a in s.used):
            return Explanation(
                "zero",
                "intermediate",
                f"{name} computes it, and its gradient went on to what it is computed from.",
                name,
                index,
                *_line_of(_write(function, targets)),
            )
        if links is None:
            return Explanation(
                "zero",
                "overwritten",
                f"{name} overwrites {shown} with values that do not depend on it.",
                name,
                index,
                *_line_of(_write(function, targets)),
            )
        cut = next((link for link in links if link.cut), None)
        if cut is not None:
            return _explained(cut.cut, CUTS[cut.cut].format(op=operation(cut.op)), step, index, cut.op)
        return self.dynamic(step, index, function, links, sources)

    def dynamic(
        self, step: LaunchStep, index: int, function: Function, links: Sequence[Link], sources: set[str]
    ) -> Explanation:
        """Explain what stops the derivative at these values, by interpreting some threads.

        It is the first of `links` that did not run, or whose value does not change with x.
        """
        arguments = {**step.record.arguments, **step.as_they_were(self.tape)}
        seen = tangents_seen(function, step.record.dim, list(arguments.values()), sources)
        for link in links:
            waiting = next((o for o in (*link.inside, link.op) if o not in seen.ran), None)
            if waiting is not None:
                return _explained("branch", _not_run(link, seen.ran), step, index, _around(link, seen.ran))
            if link.value is not None and link.value not in seen.moving:
                cause, message = STOPS.get(link.op.name, ("slope", "the slope of {op} is 0 at these values."))
                return _explained(cause, message.format(op=operation(link.op)), step, index, link.op)
        message = "the elements that it changes are not those through which the loss depends on it."
        return _explained("elements", message, step, index, links[-1].op)

    # NaN and infinities.

    def strange(self, gradient: np.ndarray) -> Explanation:
        """Explain where the first NaN or infinity of the gradient was born."""
        infinite, size = int(np.isinf(gradient).sum()), gradient.size
        state = "nan" if np.isnan(gradient).any() else "infinite"
        parts = f" {infinite} of {size} {'is' if infinite == 1 else 'are'} infinite." if infinite else ""
        born = self.birth(state)
        return replace(born, state=state, message=born.message + parts)

    def birth(self, state: str) -> Explanation:
        """Explain at which step, and at which operation of its kernel, the first NaN or infinity arose."""
        if self.born is None:
            what = "is infinite" if state == "infinite" else "has a NaN"
            return Explanation(state, "lost", f"the adjoint that backward() started from {what}.")
        step, index = self.born.step, self.born.index
        if not isinstance(step, LaunchStep):
            return Explanation(state, "overflow", f"step {index} adds gradients up, and the sum overflows.", "", index)
        ill = self.ill(step, _has_nan)
        if ill:
            return self.forward(index, step, ill)
        function = _function_of(step)
        self.replay_to(step)
        adjoint = step.adjoint(self.tape)
        names = {n for n, a in adjoint.arguments.items() if isinstance(a, array) and n not in step.arrays}
        born = birth(adjoint, adjoint.arguments, names)
        if born is None:
            return _explained("overflow", "sums of gradients overflow; no single one does.", step, index, None, state)
        if born.array in step.arrays:
            return self.forward(index, step, born.array)
        line_op = _same_line(function, born.op)
        kind = "infinite or NaN" if state == "nan" else "infinite"
        message = f"the derivative of {operation(line_op or born.op)} is {kind} at these values."
        return _explained("infinite", message, step, index, line_op or born.op, state)

    def replay_to(self, stop: LaunchStep) -> None:
        """Restore the adjoints as they were when this step was about to be undone."""
        self.tape.zero()
        for target, seed in self.seeds.items():
            self.tape.adjoint_of(target).add_(seed)
        for step in self.tape.path(self.seeds):
            if step is stop:
                return
            step.reversed(self.tape)()

    def ill(self, step: LaunchStep, test: Callable[[np.ndarray], bool]) -> str:
        """Return the name of the first float array that the launch read and that passes the test; else ""."""
        snapshots = step.as_they_were(self.tape)
        unknown = step.record.writes - snapshots.keys()  # what they held before is gone, and no derivative needs it
        known = {n: a for n, a in {**step.arrays, **snapshots}.items() if n not in unknown}
        return next(
            (n for n, a in known.items() if n in step.record.reads and is_float(a.dtype) and test(a.numpy())), ""
        )

    def forward(self, index: int, step: LaunchStep, name: str) -> Explanation:
        """Explain a value that was NaN or infinite before any derivative, by the launch that computed it."""
        test = _has_nan if _has_nan({**step.arrays, **step.as_they_were(self.tape)}[name].numpy()) else _is_strange
        what = "NaN" if test is _has_nan else "infinite"
        memory = step.arrays[name].memory
        for k in range(index - 1, -1, -1):
            maker = self.tape.steps[k]
            if not any(a.memory is memory for a in maker.changed):
                continue
            if not isinstance(maker, LaunchStep):
                break
            ill = self.ill(maker, test)
            if ill and maker.needs(ill):
                memory, name = maker.arrays[ill].memory, ill
                continue
            arguments = {**maker.record.arguments, **maker.as_they_were(self.tape)}
            written = {n for n, a in maker.arrays.items() if a.memory is memory}
            _function_of(maker)
            born = birth(maker.record, arguments, written)
            detail = f" before any derivative: {born}" if born is not None else "."
            return _explained("value", f"the value is {what}{detail}", maker, k, born and born.op)
        held = "a NaN" if what == "NaN" else "an infinity"
        return _explained("value", f"{name} holds {held} before {step.record.kernel} runs.", step, index, None)


def _function_of(step: LaunchStep) -> Function:
    """Return the IR of the step's kernel.

    Raises:
        LaunchError: it is CUDA C++.
    """
    record = step.record
    if record.executable.geometry is not None:
        raise LaunchError(
            f"explain_grad() cannot look inside {record.kernel}, which is CUDA C++.",
            record.location,
            f"gradcheck() compares {record.kernel}_adjoint with difference quotients.",
        )
    return record.executable.function


def _downstream(steps: Sequence[Step], start: Memory) -> list[frozenset[Memory]]:
    """Return, before each step and after the last, the memories that may hold something computed from `start`."""
    reached = frozenset({start})
    reached_before = [reached]
    for step in steps:
        if any(a.memory in reached for a in step.used):
            reached |= {a.memory for a in step.changed}
        reached_before.append(reached)
    return reached_before


def _unwatched() -> None:
    """Do nothing, in place of a user's function, which would add to the gradients once more."""


def _numbers(values: np.ndarray) -> np.ndarray:
    """Flatten an array to its floats: fields of structs, parts of complex numbers; integers are left out."""
    if values.dtype.kind == "c":
        return values.reshape(-1).view(f"f{values.itemsize // 2}")
    if values.dtype.names is None:
        return values.reshape(-1) if values.dtype.kind in "fV" else np.zeros(0)
    return np.concatenate([np.zeros(0), *(_numbers(values[n]) for n in values.dtype.names)])


def _has_nan(values: np.ndarray) -> bool:
    """Return whether a number among the values is NaN."""
    return bool(np.isnan(_numbers(values)).any())


def _is_strange(values: HostArray) -> bool:
    """Return whether a number among the values is NaN or infinite."""
    return not np.isfinite(_numbers(values)).all()


def _has_some(values: HostArray) -> bool:
    """Return whether a number among the values is not 0."""
    return bool(np.any(_numbers(values)))


def _refuse_others(x: object) -> None:
    """Raise a LaunchError if the value is not a Workbench array."""
    if not isinstance(x, array):
        raise LaunchError(f"explain_grad() takes a tape and an array; this is {type(x).__name__}.")


def _kernel(step: Step) -> str:
    """Return the name of the kernel that a step launched; empty for another step."""
    return step.record.kernel if isinstance(step, LaunchStep) else ""


def _line_of(op: Op | None) -> tuple[int, str, str]:
    """Return line number, location and source text of an operation; 0 and empty if it has none."""
    if op is None or not op.location.line:
        return 0, "", ""
    return op.location.shown_line, str(op.location), op.location.source.line(op.location.line).strip()


def _explained(
    cause: str, message: str, step: LaunchStep, index: int, op: Op | None, state: str = "zero"
) -> Explanation:
    """Return the explanation that a launch is the cause, with the line of the operation `op` if there is one."""
    return Explanation(state, cause, message, step.record.kernel, index, *_line_of(op))


def _write(function: Function, targets: set[str]) -> Op | None:
    """Return the first store to an array named in `targets`; None if there is none."""
    return next((o for o in walk(function.body) if o.name == "store" and o.operands[0].name in targets), None)


def _around(link: Link, ran: frozenset[Op]) -> Op:
    """Return the innermost branch or loop around a link's operation that ran; the operation itself if none did."""
    entered = [o for o in link.inside if o in ran]
    return entered[-1] if entered else link.op


def _not_run(link: Link, ran: frozenset[Op]) -> str:
    """Return a sentence on why no examined thread ran a link's line: an untaken branch, a loop without iterations."""
    around = _around(link, ran)
    idle = "this loop ran no iteration"
    what = {"if": "this branch was not taken", "for": idle, "while": idle}
    return f"{what.get(around.name, 'this line was not reached')} in any thread that was examined."


def _same_line(function: Function, op: Op | None) -> Op | None:
    """Return the kernel's operation with a derivative at the place of an adjoint's operation; None if there is none."""
    if op is None:
        return None
    return next((o for o in walk(function.body) if o.location == op.location and o.name in TABLE), None)
