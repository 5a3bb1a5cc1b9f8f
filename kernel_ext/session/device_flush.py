"""At the end of a cell: what CUDA devices still have to tell is told there, below the cell that caused it.

A launch on a device is over when it is queued, so a fault of it, or what it prints, would otherwise show below the
first cell that waits for the device.
"""

from __future__ import annotations

from typing import Any

from workbench.errors import WorkbenchError
from workbench.inspect import settle_all


class Settler:
    """Settles after each cell of a shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def install(self) -> None:
        """Begin."""
        self._shell.events.register("post_run_cell", self.cell_ends)

    def remove(self) -> None:
        """End."""
        self._shell.events.unregister("post_run_cell", self.cell_ends)

    def cell_ends(self, result: Any = None) -> None:
        """Wait for the devices that owe something, and show a fault as the cell's own."""
        try:
            settle_all()
        except WorkbenchError as problem:
            self._shell.showtraceback((type(problem), problem, problem.__traceback__))
