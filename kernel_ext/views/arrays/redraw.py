"""Arrays that a view drew, looked at again: they may have been written since."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import workbench as wb


class Redraw:
    """Draws the same values again if an array among them was written since; a view keeps no array alive.

    Only arrays of Workbench know when they are written.
    """

    def __init__(self, draw: Callable[..., Any], *values: Any) -> None:
        """`draw` makes a view of the values, and has done so."""
        self._draw = draw
        self._held = [weakref.ref(v) if isinstance(v, wb.array) else lambda v=v: v for v in values]
        self._versions = self._written(values)

    def __call__(self) -> Any:
        """Return the view of now; None if it is the same, or if an array is gone."""
        values = [held() for held in self._held]
        versions = self._written(values)
        if versions == self._versions or len(versions) < len(self._versions):
            return None
        self._versions = versions
        return self._draw(*values)

    @staticmethod
    def _written(values: Any) -> list[int]:
        return [v.memory.version for v in values if isinstance(v, wb.array)]
