"""Gradients of a backward pass that ended in the middle: an interrupt, or a fault of an adjoint.

They are half added, and nothing can take that back: copies of all gradients beforehand would cost every pass. So the
error names them, and their memory knows it until something changes it: no later pass, of this tape or of another one,
adds to such a gradient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.api.tapes.launch_step import LaunchStep
from workbench.api.tapes.steps import Step
from workbench.errors import NotDifferentiable
from workbench.runtime.arrays.array import array
from workbench.runtime.device.memory import Memory
from workbench.runtime.native.in_flight import append_note

_MOST = 6
"""Gradients that an error names."""


def mark_partial_gradients(error: BaseException, steps: Sequence[Step], adjoints: Mapping[Memory, array]) -> None:
    """Mark the gradients of a pass that an error has ended, and name them in the error's notes.

    Args:
        error: the error that ended it.
        steps: the steps that gradients go through, the last one first.
        adjoints: by memory; those that the steps carry are there.
    """
    names = _names(steps)
    for memory in names:
        if memory in adjoints:
            gradient_memory = adjoints[memory].memory
            gradient_memory.partial_gradients = gradient_memory.version
    listed = [*dict.fromkeys(names.values())]  # arrays of several launches may have one name
    more = f" and {len(listed) - _MOST} more" if len(listed) > _MOST else ""
    append_note(
        error,
        f"backward() ended midway and left these gradients half added: {', '.join(listed[:_MOST])}{more}. "
        "Set them to 0 (tape.zero()) before the next backward().",
    )


def partial_gradients(steps: Sequence[Step], memory: Memory) -> NotDifferentiable:
    """Return the error for the gradient of a memory that was left half added, and that nothing has changed since."""
    return NotDifferentiable(
        f"The gradient of {_names(steps)[memory]} is half added: a backward() ended midway.",
        advice="Set it to 0 first: tape.zero(), or x.grad.zero_().",
    )


def _names(steps: Sequence[Step]) -> dict[Memory, str]:
    """Return names, as users call them, of the arrays through which the steps carry gradients, by memory."""
    known: dict[Memory, str] = {}
    for step in reversed(steps):
        names = {id(a): n for n, a in step.arrays.items()} if isinstance(step, LaunchStep) else {}
        for value in (*step.used, *step.changed):
            name = names.get(id(value))
            called = f"{name} of {step.record.kernel}" if isinstance(step, LaunchStep) else f"a {value.type!r}"
            known.setdefault(value.memory, called)
    return known
