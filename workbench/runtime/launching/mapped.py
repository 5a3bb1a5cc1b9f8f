"""What is differentiated by a rule and not step by step: the correction of a result that has been computed already.

A solver computes x unobserved and launches the residual r of it, which is about 0, for all to see. Then
`x += map(r)` changes no value, but carries all derivatives: those of r by what r was made of are the launches' own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from workbench.runtime.active_observers import OBSERVERS, notify
from workbench.runtime.arrays.array import array

Map = Callable[[array], array]


class Mapped(msgspec.Struct, frozen=True, eq=False):
    """`target += along(source)`, where the source is 0 up to rounding.

    Attributes:
        target: what gets a derivative.
        source: what it gets it from.
        along: a linear map, of tangents of the source to those of the target; launches what it computes.
        against: the transposed map, of adjoints of the target to those of the source.
        constants: arrays that the maps read, which must be as they were when the maps run.
    """

    target: array
    source: array
    along: Map
    against: Map
    constants: Sequence[array] = ()

    def note(self) -> None:
        """Have the open tapes and forward modes take it into account."""
        notify("mapping", self)


def differentiated() -> bool:
    """Return whether a tape or a forward mode is open."""
    return any(o.differentiates for o in OBSERVERS.get())


@contextmanager
def undifferentiated() -> Iterator[None]:
    """Run what has a rule of its own: tapes and forward modes do not see it, records and profiles do."""
    token = OBSERVERS.set(tuple(o for o in OBSERVERS.get() if not o.differentiates))
    try:
        yield
    finally:
        OBSERVERS.reset(token)
