"""Corrections of results whose derivatives follow from a rule rather than from the steps that computed them.

A solver computes x unobserved. Then it launches the residual r of x, which is about 0, where observers see it, and adds
`x += map(r)`. That changes no value but carries all derivatives: those of r with respect to its inputs come from the
launches themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import msgspec

from workbench.runtime.active_observers import OBSERVERS, notify
from workbench.runtime.arrays.array import array

Map = Callable[[array], array]


class Mapped(msgspec.Struct, frozen=True, eq=False):
    """The correction `target += along(source)`, where the source is 0 up to rounding.

    Attributes:
        target: the array that gets a derivative.
        source: the array whose derivative it is computed from.
        along: a linear map, of tangents of the source to those of the target; launches what it computes.
        against: the transposed map, of adjoints of the target to those of the source.
        constants: arrays that the maps read, which must still have the contents that they had when the maps ran.
    """

    target: array
    source: array
    along: Map
    against: Map
    constants: Sequence[array] = ()

    def note(self) -> None:
        """Announce the correction to open tapes and forward modes."""
        notify("mapping", self)


def differentiated() -> bool:
    """Return whether a tape or a forward mode is open."""
    return any(o.differentiates for o in OBSERVERS.get())


@contextmanager
def undifferentiated() -> Generator[None]:
    """Hide what runs inside from tapes and forward modes; records and profiles see it."""
    token = OBSERVERS.set(tuple(o for o in OBSERVERS.get() if not o.differentiates))
    try:
        yield
    finally:
        OBSERVERS.reset(token)
