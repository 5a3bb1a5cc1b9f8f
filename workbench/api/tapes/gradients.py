"""`tape.gradients`: a view of a tape's adjoints by array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from workbench.runtime.arrays.array import array
from workbench.runtime.device.memory import Memory
from workbench.types import is_float


class Adjoints(Protocol):
    """A tape, as far as its gradients are read."""

    adjoints: dict[Memory, array]

    @property
    def seen(self) -> dict[int, array]:
        """The float arrays that it recorded, by their ids."""
        ...

    def adjoint_of(self, value: array) -> array:
        """The array that gathers this one's gradient."""
        ...


class Gradients(Mapping[array, array]):
    """`tape.gradients[x]`: the adjoint of any array the tape saw, of the same shape."""

    def __init__(self, tape: Adjoints) -> None:
        self._tape = tape

    def __getitem__(self, key: array) -> array:
        if not is_float(key.dtype):
            raise KeyError(f"an array of {key.dtype!r} has no gradient")
        if key.memory not in self._tape.adjoints and key.memory.grad is None:
            raise KeyError("the tape recorded no launch, copy or fill of this array")
        return self._tape.adjoint_of(key)

    def __iter__(self) -> Iterator[array]:
        return iter(self._tape.seen.values())

    def __len__(self) -> int:
        return len(self._tape.seen)
