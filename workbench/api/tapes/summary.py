"""What a tape recorded, in few rows: what a view of it shows."""

from __future__ import annotations

import msgspec

from workbench.api.tapes.flow import kind_of
from workbench.api.tapes.launch_step import LaunchStep
from workbench.api.tapes.steps import Step
from workbench.api.tapes.tape import Tape


class TapeSteps(msgspec.Struct, frozen=True):
    """Steps of a tape of one kind: "launch", "copy", "add", "fill" or "function"; `dim` of the first."""

    kind: str
    name: str
    times: int
    dim: tuple[int, ...]
    changes: tuple[str, ...]


def tape_steps(tape: Tape) -> list[TapeSteps]:
    """What a tape recorded, one entry per kernel or kind, in the order of the first of each.

    Returns:
        Launches by kernel, and copies, sums and fills together.
    """
    groups: dict[tuple[str, str], list[Step]] = {}
    for step in tape.steps:
        record = step.record if isinstance(step, LaunchStep) else None
        groups.setdefault((kind_of(step), record.kernel if record else ""), []).append(step)
    found: list[TapeSteps] = []
    for (kind, name), steps in groups.items():
        first = steps[0]
        launch = first.record if isinstance(first, LaunchStep) else None
        dim = launch.dim if launch else first.changed[0].shape if first.changed else ()
        changes = tuple(sorted(launch.writes)) if launch else ()
        found.append(TapeSteps(kind, name, len(steps), tuple(dim), changes))
    return found
