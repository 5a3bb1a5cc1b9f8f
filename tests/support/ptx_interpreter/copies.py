"""Asynchronous copies of the interpreter: what is copied lands when its thread waits for it, and not before."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np


class Copies:
    """Copies under way, in groups by lane.

    Attributes:
        under_way: groups under way of each lane at each `wait_group`, over all launches.
    """

    under_way: ClassVar[list[np.ndarray]] = []

    def __init__(self, count: int, memory: Any) -> None:
        self.memory = memory
        self.committed = np.zeros(count, np.int64)
        self.done = np.zeros(count, np.int64)
        self.begun: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []

    def begin(self, lanes: np.ndarray, target: np.ndarray, found: np.ndarray) -> None:
        """Copy a row of bytes for each lane."""
        self.begun.append((lanes, self.committed[lanes], target, found))

    def commit(self, lanes: np.ndarray) -> None:
        """End a group."""
        self.committed[lanes] += 1

    def wait(self, lanes: np.ndarray, left: int, what: str) -> None:
        """Wait for all but some groups, or for all copies."""
        if what == "wait_group":
            Copies.under_way.append((self.committed - self.done)[lanes])
            self.done[lanes] = np.maximum(self.done[lanes], self.committed[lanes] - left)
        else:
            self.done[lanes] = self.committed[lanes]
        waits = np.zeros(len(self.committed), bool)
        waits[lanes] = True
        rest = []
        for of, group, target, found in self.begun:
            lands = waits[of] & ((group < self.done[of]) | (what == "wait_all"))
            for n in range(found.shape[1]):
                self.memory.memory[target[lands] + n] = found[lands, n]
            if not lands.all():
                rest.append((of[~lands], group[~lands], target[~lands], found[~lands]))
        self.begun = rest
