"""A kernel's PTX as `wb.profile` takes it: with what ptxas said, and how its lines become lines of a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from workbench.host.narrow import HostArray
from workbench.ir.values import Function
from workbench.source import Location


class Countable(msgspec.Struct, frozen=True):
    """PTX of a kernel whose instructions are to be counted.

    Attributes:
        ptx: the text, with line numbers of the source.
        entry: the kernel's symbol in it.
        resources: registers, spill_stores, shared (bytes; without dynamic shared memory that a launch adds).
        own: the kernel's location.
        lines: its source by line, as the reader of the cell counts.
        locate: maps a file and a line of the PTX to a location; None if it is not in a cell.
        dynamic_shared: bytes of dynamic shared memory that the code itself asks for.
    """

    ptx: str
    entry: str
    resources: Mapping[str, int]
    own: Location
    lines: Mapping[int, str]
    locate: Callable[[str, int], Location | None]
    dynamic_shared: int = 0


class InDouble(Protocol):
    """A kernel without IR and its gradient, both in double precision, for `gradcheck`.

    Attributes:
        function: an IR function that only has the kernel's parameters, every float a double.
        checked: names of the parameters whose derivatives the gradient computes.
    """

    function: Function
    checked: frozenset[str]

    def forward(self, arguments: Mapping[str, HostArray]) -> None:
        """Run the kernel; arrays are changed in place."""

    def backward(self, arguments: Mapping[str, HostArray]) -> None:
        """Run the gradient; adjoint arrays are changed in place."""
