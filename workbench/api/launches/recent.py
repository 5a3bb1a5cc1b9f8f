"""The last launch of each kernel, for a notebook that is asked who wrote an array; in scripts nothing is noted."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.frontend.names.python_names import meaning
from workbench.host.vectors import HostVector

NOTING: list[bool] = []
"""Not empty: launches are noted. A hot path tests it."""
_LAUNCHED: weakref.WeakSet[Kernel] = weakref.WeakSet()
_turns = itertools.count()
_KEPT = (int, float, np.generic, HostVector)


@dataclass(frozen=True)
class LastLaunch:
    """A launch as it was requested, without keeping its arrays alive.

    Attributes:
        kernel, dim, block_dim, tiled: as for `wb.launch`, or `wb.launch_tiled`.
        held: its arguments; a weak reference to each that is no number or vector.
    """

    kernel: Kernel
    dim: Any
    block_dim: Any
    tiled: bool
    held: Sequence[Any]

    @property
    def arguments(self) -> list[Any] | None:
        """The arguments; None if an array no longer exists."""
        if any(isinstance(v, weakref.ref) and v() is None for v in self.held):
            return None
        return [v() if isinstance(v, weakref.ref) else v for v in self.held]

    def parameter(self, value: object) -> str:
        """Return the parameter that got this array; empty if none did, or an argument no longer exists."""
        pairs = zip(self.kernel.parameters, self.arguments or (), strict=False)
        return next((name for name, v in pairs if v is value), "")


def note_launches(on: bool) -> None:
    """Begin to note launches, or end it and forget them."""
    NOTING[:] = [True] * on
    for kernel in _LAUNCHED:
        kernel.last_launch = None
    _LAUNCHED.clear()


def note(kernel: object, dim: Any, values: Sequence[Any], block_dim: Any, tiled: bool) -> None:
    """Note a launch as the last one of its kernel."""
    # Each line costs every launch of a notebook's loop: a tuple, since a dataclass takes three times as long.
    if isinstance(kernel, Kernel):
        try:
            held: list[Any] = [v if isinstance(v, _KEPT) else weakref.ref(v) for v in values]
        except TypeError:  # it will be refused, or it is of another library
            return
        if kernel.last_launch is None:
            _LAUNCHED.add(kernel)
        kernel.last_launch = next(_turns), dim, block_dim, tiled, held


def next_launch() -> int:
    """Return a number below that of every later launch, for `used_since`."""
    return next(_turns)


def used_since(number: int) -> list[Specialisation]:
    """Return the specialisation that ran last of each kernel launched since `next_launch` returned `number`.

    Returns:
        Specialisations, in the order of the launches; none while launches are not noted.
    """
    newer = [(last[0], k.used) for k in _LAUNCHED if (last := k.last_launch) is not None and last[0] > number]
    return [used for _, used in sorted(newer, key=lambda item: item[0]) if used is not None]


def changes_of(used: Specialisation, namespace: Mapping[str, object]) -> list[str]:
    """Return the names in the namespace that mean something else than when a kernel ran.

    Returns:
        Names: `G` of a constant or a helper; the kernel's own if it means another kernel now.
    """
    name, kernel = used.kernel.name, namespace.get(used.kernel.name)
    other = isinstance(kernel, Kernel) and kernel is not used.kernel and meaning(kernel) != meaning(used.kernel)
    return [*dict.fromkeys(used.reads(namespace, namespace)), *([name] if other else [])]


def last_launch_with(value: object) -> LastLaunch | None:
    """Return the last launch that was given this array, while launches are noted.

    Args:
        value: the array itself, not another view of its memory.

    Returns:
        The launch; None if there is none, or another of its arrays no longer exists.
    """
    return next((launch for launch in _last_launches() if launch.parameter(value)), None)


def last_launch() -> LastLaunch | None:
    """Return the latest launch of any kernel, also one that failed; None if none was noted."""
    return next(iter(_last_launches()), None)


def _last_launches() -> list[LastLaunch]:
    """Return the last launch of each kernel, the latest first."""
    launches = [(kernel, last) for kernel in _LAUNCHED if (last := kernel.last_launch) is not None]
    launches.sort(key=lambda launch: launch[1][0], reverse=True)
    return [LastLaunch(kernel, *last[1:]) for kernel, last in launches]
