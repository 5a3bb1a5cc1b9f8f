"""A launch as a value: what ran, over which threads, on which arguments.

A record is frozen; it holds its arrays by reference and its scalars by value, so it can be run again, shown, or walked
backwards by a tape.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from workbench.runtime.array import array
from workbench.runtime.loaded import Loaded
from workbench.source import Location


@dataclass(frozen=True, eq=False)
class LaunchRecord:
    """One launch, forward or adjoint.

    Attributes:
        loaded: the code.
        dim: the launch's dimensions, 1 to 4.
        arguments: parameter name to value, in order; an adjoint's include the `adj_…` ones.
        specialisation: what the code was built from (opaque here); a tape asks it for the adjoint.
        location: the kernel's `def` in the user's text.
        versions: of each array's memory, just before the launch.
    """

    loaded: Loaded
    dim: tuple[int, ...]
    arguments: Mapping[str, Any]
    specialisation: Any = None
    location: Location | None = None
    versions: Mapping[str, int] = field(default_factory=dict, repr=False)

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.loaded.name

    @property
    def direction(self) -> str:
        """ "forward", "adjoint", "tangent" (see autodiff/directions.py)."""
        return self.loaded.direction

    @property
    def reads(self) -> frozenset[str]:
        """Array parameters whose elements are read."""
        return self.loaded.reads

    @property
    def writes(self) -> frozenset[str]:
        """Array parameters whose elements may change."""
        return self.loaded.writes

    @cached_property
    def threads(self) -> int:
        """Threads of the launch: the product of its dimensions."""
        return math.prod(self.dim)

    @cached_property
    def buffer(self) -> Any:
        """The packed parameters."""
        made = self.loaded.packer.new()
        self.loaded.packer.write(made, self.dim, list(self.arguments.values()))
        return made

    def again(self) -> LaunchRecord:
        """The same launch, to be run now: it shares the packed parameters and notes the arrays' versions of now."""
        made = replace(self, versions=memory_versions(self.arguments))
        made.__dict__["buffer"] = self.buffer
        return made

    def with_arguments(self, changes: Mapping[str, Any]) -> LaunchRecord:
        """The same launch with other arguments."""
        return LaunchRecord(self.loaded, self.dim, {**self.arguments, **changes}, self.specialisation, self.location)

    def __repr__(self) -> str:
        dims = "×".join(map(str, self.dim))
        return f"<{self.direction} launch {self.kernel}[{dims}] on {self.loaded.device}>"


def memory_versions(arguments: Mapping[str, Any]) -> dict[str, int]:
    """The version of each array argument's memory now."""
    return {name: a.memory.version for name, a in arguments.items() if isinstance(a, array)}
