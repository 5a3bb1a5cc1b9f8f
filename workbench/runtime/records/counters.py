"""Numbers that advance from replay to replay: seeds, so that a Monte Carlo program draws other numbers each time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from workbench.errors import LaunchError
from workbench.ir.values import Function, Op, Value, definitions, walk
from workbench.runtime.launching.record import LaunchRecord
from workbench.types import ArrayType, Scalar, is_integer

Counter: TypeAlias = "str | Iterable[str] | Mapping[str, int]"
"""The parameters that advance with each replay; or these and by how much."""


class Counters:
    """Recorded numbers that advance with each replay, and by how much they have advanced.

    Attributes:
        steps: by how much each advances with a replay; 0: by enough for the recorded numbers not to come again.
        amounts: how much more than recorded each was in the last replay.
    """

    def __init__(self, counters: Counter = ()) -> None:
        """Begin with numbers as they were recorded.

        Raises:
            LaunchError: `counters` is neither names nor a mapping of names to whole numbers.
        """
        names = [counters] if isinstance(counters, str) else list(counters)
        self.steps: dict[str, int] = {n: counters[n] if isinstance(counters, Mapping) else 0 for n in names}
        self.amounts: dict[str, int] = {}
        steps: dict[Any, int] = self.steps
        if not all(isinstance(n, str) and type(s) is int for n, s in steps.items()):
            raise LaunchError(
                f"counter={counters!r}: it names parameters, or says by how much each advances.",
                advice='Write counter="seed" or counter={"seed": 100}.',
                parameter="counter",
            )

    def step(self, name: str, records: Sequence[LaunchRecord]) -> int:
        """Return by how much a number advances from replay to replay.

        Raises:
            LaunchError: it is a parameter of no recorded launch, or no whole number.
        """
        scalars = [r.arguments[name] for r in records if name in r.arguments]
        if not scalars or not all(isinstance(n, int) for n in scalars):
            what = "is no whole number" if scalars else "is a parameter of no recorded launch"
            raise LaunchError(f"The counter {name} {what}.", parameter=name)
        return self.steps.get(name) or max(scalars) - min(scalars) + 1

    def next(self, name: str, records: Sequence[LaunchRecord], step: int | None = None) -> int:
        """Return how much more than recorded a number is in the next replay.

        `step` replaces the step by which it advances.

        Raises:
            LaunchError: it is a parameter of no recorded launch, or no whole number.
        """
        own = self.step(name, records)
        return self.amounts.get(name, 0) + (own if step is None else step)


def step_of(name: str, value: Any) -> int | None:
    """Return the number in a step, given in place of a parameter's value: "+" and digits, such as "+20".

    Returns:
        The number; None if `value` is no text.

    Raises:
        LaunchError: it is a text, but not of that form ("-20" is not).
    """
    if not isinstance(value, str):
        return None
    if not (value.startswith("+") and value[1:].strip().isdecimal()):
        raise LaunchError(f"{name}={value!r} is neither a number nor a step.", parameter=name, advice='Write "+20".')
    return int(value[1:])


def seeds(function: Function) -> tuple[str, ...]:
    """Return the names of the whole-number parameters that seed a kernel's random numbers."""
    makers = definitions(function.body)
    users: dict[Value, list[Op]] = {}
    for op in walk(function.body):
        for v in op.operands:
            users.setdefault(v, []).append(op)
    seeding: dict[Value, None] = {}
    for op in walk(function.body):
        if op.name == "rand_next" and not _is_offset(op, users):
            seeding.update(dict.fromkeys(_sources(op.operands[0], makers)))
    return tuple(p.name for p in function.params if p in seeding and isinstance(p.type, Scalar) and is_integer(p.type))


def _is_offset(op: Op, users: Mapping[Value, list[Op]]) -> bool:
    """Return whether a `rand_next` only draws the word that gives a stream's offset, which is added to the seed."""
    words = users.get(op.result, [])
    after = [user for word in words for user in users.get(word.result, [])] if words else []
    return all(w.name == "rand_word" for w in words) and bool(after) and all(u.name == "add" for u in after)


def _sources(value: Value, makers: Mapping[Value, Op]) -> Iterator[Value]:
    """Yield the parameters that a value is computed from; random words count as computed from none."""
    pending, seen = [value], set[Value]()
    while pending:
        value = pending.pop()
        op = makers.get(value)
        if op is None:
            yield value
        elif value not in seen and op.name not in ("rand_word", "rand_next"):
            pending += [v for v in op.operands if not isinstance(v.type, ArrayType)]
        seen.add(value)
