"""The names that `x.<Tab>` lists: those for users, not those that the library asks of its own objects."""

from __future__ import annotations

from typing import ClassVar


class Listed:
    """A base class whose `dir` leaves out the names in `_internal`."""

    __slots__ = ()

    _internal: ClassVar[str] = ""

    def __dir__(self) -> list[str]:
        """Return the names without those in `_internal`, sorted."""
        return sorted(set(super().__dir__()) - set(self._internal.split()))
