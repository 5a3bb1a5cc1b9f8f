"""The state of one run of the oracle: its thread, the tape of derivatives, the disturbance of inexact values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.judge.oracle.types import BITS

Partials = Sequence[tuple["Node", float, float]]
"""Nodes, their derivatives, and the magnitudes that are added up in these."""


class Node:
    """A float's place on the tape: how it changes with the floats that it was computed from."""

    __slots__ = ("number", "partials")

    def __init__(self, number: int, partials: Partials) -> None:
        self.number = number
        self.partials = partials


@dataclass
class Joins:
    """The types of the values that met in a launch: those of a ternary, and those of a name that a loop carries.

    CPython evaluates one side of a ternary, and one iteration after another; the language gives all values that meet
    one type. So a launch in which values of several types met runs once more, and converts to what it was in all
    threads.

    Attributes:
        types: by the name that a loop carries, or "", and the calls that led to where the values met, since a func has
            types for each call; the type of a literal is "".
        settled: whether all threads have run, so that values are converted.
    """

    types: dict[tuple[Any, ...], set[str]] = field(default_factory=dict)
    settled: bool = False

    @property
    def is_mixed(self) -> bool:
        """Return whether values of several types met.

        A sum that starts with a literal and goes on in 32 bits or more is what it was, so it is not run twice.
        """
        return any(self._differ(bool(where[0]), types) for where, types in self.types.items())

    def _differ(self, carried: bool, types: set[str]) -> bool:
        typed = types - {""}
        met_a_literal = bool(typed) and "" in types
        return len(typed) > 1 or (met_a_literal and not (carried and all(BITS[t] >= 32 for t in typed)))


@dataclass
class Run:
    """One run of a launch.

    Attributes:
        disturbance: draws by how much of its bound an inexact value is off; None in the undisturbed run.
        taped: whether derivatives are wanted, and floats computed in float64 beside.
        thread: the number of the thread that runs.
        index: its index along each dimension.
        inexact: whether a condition that this thread met depends on an inexact value.
        diverged: the threads that go another way in float64.
        fma: whether a product that is added need not be rounded before.
        block_dim: the threads of a block of tiles.
        lanes: where these meet, if they have values of their own.
        lane: the number of the one that runs.
        suspect: what checks report and code without them defines: divisions of integers by zero, shifts too far.
        joins: the types in which values meet.
    """

    disturbance: Random | None = None
    taped: bool = False
    thread: int = -1
    index: tuple[int, ...] = ()
    inexact: bool = False
    diverged: set[int] = field(default_factory=set)
    suspect: set[str] = field(default_factory=set)
    fma: bool = False
    block_dim: int = 0
    lanes: Any = None
    lane: int = 0
    nodes: int = 0
    joins: Joins = field(default_factory=lambda: Joins())

    def node(self, partials: Partials) -> Node:
        """A new node of the tape."""
        self.nodes += 1
        return Node(self.nodes, partials)

    def choose(self, here: bool, in_float64: bool) -> bool:
        """A decision of the program; a thread that decides otherwise in float64 has no comparable derivative."""
        if here != in_float64:
            self.diverged.add(self.thread)
        return here


class Current:
    """The run in progress."""

    run: Run = Run()
