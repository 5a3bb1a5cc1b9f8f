"""The last launch of each kernel, for a notebook that is asked who wrote an array; in scripts nothing is noted."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.api.kernels.kernel import Kernel
from workbench.host.vectors import HostVector

NOTING: list[bool] = []
"""Not empty: launches are noted. A hot path tests it."""
_LAST: dict[str, tuple[Any, ...]] = {}
_KEPT = (int, float, np.generic, HostVector)


@dataclass(frozen=True)
class LastLaunch:
    """A launch as it was made, which keeps none of its arrays alive.

    Attributes:
        kernel, dim, block_dim, tiled: as for `wb.launch`, or `wb.launch_tiled`.
        held: its arguments; of each that is no number a weak reference.
    """

    kernel: Kernel
    dim: Any
    block_dim: Any
    tiled: bool
    held: Sequence[Any]

    @property
    def arguments(self) -> list[Any] | None:
        """The arguments; None if an array is gone."""
        if any(isinstance(v, weakref.ref) and v() is None for v in self.held):
            return None
        return [v() if isinstance(v, weakref.ref) else v for v in self.held]

    def parameter(self, value: object) -> str:
        """The parameter that got this array; empty if none did."""
        pairs = zip(self.kernel.parameters, self.arguments or (), strict=False)
        return next((name for name, v in pairs if v is value), "")


def note_launches(on: bool) -> None:
    """Begin to note launches, or end it and forget them."""
    NOTING[:] = [True] * on
    _LAST.clear()


def note(kernel: object, dim: Any, values: Sequence[Any], block_dim: Any, tiled: bool) -> None:
    """Note a launch in the place of the kernel's one before."""
    # Each line costs every launch of a notebook's loop: a tuple, since a dataclass takes three times as long.
    if isinstance(kernel, Kernel):
        try:
            held: list[Any] = [v if isinstance(v, _KEPT) else weakref.ref(v) for v in values]
        except TypeError:  # it will be refused, or it is of another library
            return
        _LAST.pop(kernel.name, None)
        _LAST[kernel.name] = kernel, dim, block_dim, tiled, held


def last_launch_with(value: object) -> LastLaunch | None:
    """The last launch that was given this array, while launches are noted.

    Args:
        value: the array itself, not another view of its memory.

    Returns:
        The launch; None if there is none all of whose arrays are still there.
    """
    launches = (LastLaunch(*noted) for noted in reversed(_LAST.values()))
    return next((found for found in launches if found.parameter(value)), None)
