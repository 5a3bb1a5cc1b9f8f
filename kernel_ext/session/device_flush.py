"""At the end of a cell: what CUDA devices still have to report is reported there, below the cell that caused it.

A launch on a device is over when it is queued, so a fault of it, or what it prints, would otherwise show below the
first cell that waits for the device.
"""

from __future__ import annotations

from typing import Any

from workbench.errors import WorkbenchError
from workbench.inspect import settle_all


def settle(shell: Any, result: Any = None) -> None:
    """Wait for the devices that owe something, and show a fault as the cell's own."""
    try:
        settle_all()
    except WorkbenchError as problem:
        shell.showtraceback((type(problem), problem, problem.__traceback__))
