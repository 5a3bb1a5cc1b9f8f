"""A kernel's PTX as `wb.profile` takes it: with what ptxas said, and how its lines become lines of a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from workbench.host.narrow import HostArray
from workbench.ir.values import Function
from workbench.source import Location


class Countable(msgspec.Struct, frozen=True):
    """PTX to be counted.

    Attributes:
        ptx: made with lines.
        entry: the kernel's symbol in it.
        resources: registers, spill_stores, shared (bytes; without dynamic shared memory that a launch adds).
        own: the kernel's place.
        lines: its source by line, as the reader of the cell counts.
        place: a file and a line of the PTX as a place; None if it is not in a cell.
        dynamic_shared: bytes of dynamic shared memory that the code itself asks for.
    """

    ptx: str
    entry: str
    resources: Mapping[str, int]
    own: Location
    lines: Mapping[int, str]
    place: Callable[[str, int], Location | None]
    dynamic_shared: int = 0


class InDouble(Protocol):
    """A kernel without IR and its gradient in double, for `gradcheck`.

    Attributes:
        function: its parameters, every float a double.
        checked: parameters whose derivative the gradient gives.
    """

    function: Function
    checked: frozenset[str]

    def forward(self, arguments: Mapping[str, HostArray]) -> None:
        """Run the kernel; arrays are changed in place."""

    def backward(self, arguments: Mapping[str, HostArray]) -> None:
        """Run the gradient."""
