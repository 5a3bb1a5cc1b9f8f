"""Facts of a walk over blocks: learnt in one block, one holds in the blocks inside and nowhere else."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Scopes(dict[K, V]):
    """A dictionary for a walk over blocks: at the end of a block, it removes the entries that were added in it.

    A lookup takes as long however deep the block.
    """

    def __init__(self) -> None:
        """Open the outermost block."""
        super().__init__()
        self._learnt: list[list[K]] = [[]]

    def __setitem__(self, key: K, value: V) -> None:
        """Store an entry until the end of the open block; if the key has a value already, that stays."""
        if key not in self:
            self.learn(key, value)

    def learn(self, key: K, value: V) -> None:
        """Store an entry until the end of the open block, under a key that has none yet; this is not checked."""
        self._learnt[-1].append(key)
        super().__setitem__(key, value)

    def __enter__(self) -> None:
        """Open a block for the length of a `with`."""
        self._learnt.append([])

    def __exit__(self, *_: object) -> None:
        """Close the block: remove the entries that were added in it."""
        for key in self._learnt.pop():
            del self[key]
