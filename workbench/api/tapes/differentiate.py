"""The gradient of recorded work: it runs again under a tape, and the tape goes back through it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from workbench.api.tapes.tape import Tape
from workbench.errors import NotDifferentiable
from workbench.runtime.arrays.array import array
from workbench.runtime.work import Fill, Work, flattened


def differentiate(
    entries: Sequence[Work],
    loss: array | None,
    grads: Mapping[array, object] | None,
    checkpoint_every: int,
    checkpoint: int,
) -> Tape:
    """Run recorded work again under a new tape, then that tape's backward pass.

    Args:
        entries: the work, in order.
        loss: an array of one float to start from; or None.
        grads: arrays to the adjoints to start from; or None.
        checkpoint_every, checkpoint: as for `Tape`.

    Returns:
        The tape, which has the gradients; so has `.grad` of arrays, unless the work itself adds to such arrays.

    Raises:
        LaunchError: as `Tape.backward`, and of a call of JAX whose operands were not kept.
        NotDifferentiable: as `Tape.backward`; the message says which entry it is about.
    """
    # A recorded backward pass adds to `.grad` itself: together with what is computed here, that would be twice as much.
    into_grad, ends = not _adds_gradients(entries), list[int]()
    tape = Tape(into_grad=into_grad, checkpoint_every=checkpoint_every, checkpoint=checkpoint)
    try:
        with tape:
            for entry in entries:
                entry.launch()
                ends.append(len(tape))
        tape.backward(loss, grads)
    except NotDifferentiable as error:
        ran = len(ends) == len(entries)
        number = len(ends) if not ran else bisect_right(ends, tape.steps.index(tape.at)) if tape.at is not None else -1
        if number >= 0:
            error.message = f"Entry {number} of the record, {entries[number].title}: {error.message}"
        raise
    return tape


def _adds_gradients(entries: Sequence[Work]) -> bool:
    """Return whether work writes the `.grad` of an array that it uses, other than by a fill."""
    nodes = [node for entry in entries for node in flattened(entry)]
    gradients = {a.grad.memory for node in nodes for a in node.arrays if a.grad is not None}
    return any(memory in gradients for node in nodes if not isinstance(node, Fill) for memory in node.changes)
