"""The arrays whose gradients a tape computes, and `tape.gradients`: a view of its adjoints by array."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from workbench.api.narrow import is_float_array
from workbench.api.tapes.launch_step import NONE
from workbench.api.tapes.steps import Step
from workbench.autodiff import FORWARD
from workbench.errors import LaunchError, its_type
from workbench.host.narrow import is_list
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.structure import StructValue
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.record import LaunchRecord
from workbench.types import is_float


class Requested:
    """The arrays whose gradients are requested of a tape, and all that was computed from them."""

    def __init__(self, only: object) -> None:
        """Read the tape's `only`: the arrays whose gradients are requested.

        Raises:
            LaunchError: it is not a list of arrays of floats.
        """
        arrays = [a for a in only if is_float_array(a)] if is_list(only) else []
        if not is_list(only) or len(arrays) < len(only):
            raise LaunchError(
                f"Tape(only=…) takes a list of arrays of floats; this is {only!r}.", advice="Write only=[x]."
            )
        self.memories = {a.memory for a in arrays}

    def unwanted(self, record: LaunchRecord) -> frozenset[str]:
        """Return the parameters of a forward launch that it only reads, and whose gradients are not requested.

        Empty for the launch of a derivative.
        """
        executable, values = record.executable, record.values
        left_out = [k for k in executable.only_read if values[k].memory not in self.memories]
        if not left_out or record.direction != FORWARD:
            return NONE
        return frozenset([executable.names[k] for k in left_out])

    def follow(self, step: Step) -> None:
        """Add what a step computes from requested arrays to them."""
        for value in step.used:
            if value.memory in self.memories:
                self.memories.update([a.memory for a in step.changed])
                return


class Adjoints(Protocol):
    """The part of a tape's interface that reading gradients needs."""

    adjoints: dict[Memory, array]

    @property
    def seen(self) -> dict[int, array]:
        """The float arrays that it recorded, by their ids."""
        ...

    def adjoint_of(self, value: array) -> array:
        """Return the array that accumulates this array's gradient."""
        ...


class Gradients(Mapping[array, array]):
    """`tape.gradients[x]`: the adjoint of any array the tape saw, of the same shape; 0 where no gradient led to it.

    Of a struct that holds arrays it is such a struct, in which the adjoints of those that require a gradient are in
    their place. Of a tape with `only`, what it did not compute is missing.
    """

    def __init__(self, tape: Adjoints, only: Requested | None) -> None:
        """View the adjoints of `tape`; `only` has the arrays whose gradients are requested, None: of all."""
        self._tape = tape
        self._only = only

    def __getitem__(self, key: Any) -> Any:
        """Return an array's adjoint; of a struct a copy with adjoints in place of arrays that require a gradient.

        Raises:
            KeyError: it is no array of floats, the tape did not record it, or its gradient is not computed.
        """
        if isinstance(key, StructValue):
            result = copy.copy(key)
            for name, value in vars(key).items():
                if isinstance(value, StructValue) or (isinstance(value, array) and value.requires_grad):
                    setattr(result, name, self[value])
            return result
        if not isinstance(key, array):
            raise KeyError(f"gradients are of arrays; this is {its_type(key)}")
        if not is_float(key.dtype):
            raise KeyError(f"an array of {key.dtype!r} has no gradient")
        if not self._has(key.memory) and all(a.memory is not key.memory for a in self):
            raise KeyError("the tape recorded no launch, copy or fill of this array, or computes no gradient of it")
        return self._tape.adjoint_of(key)

    def __iter__(self) -> Iterator[array]:
        """Iterate over the float arrays that the tape recorded and whose gradients it computes."""
        only = self._only
        seen = self._tape.seen.values()
        return iter([a for a in seen if only is None or a.memory in only.memories or self._has(a.memory)])

    def __len__(self) -> int:
        """Return the number of arrays that iterating yields."""
        return sum(1 for _ in self)

    def _has(self, memory: Memory) -> bool:
        """Return whether the memory has an adjoint on the tape or a gradient of its own."""
        return memory in self._tape.adjoints or memory.grad is not None
