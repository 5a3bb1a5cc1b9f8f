"""The error of a magic that cannot do what its line requests."""

from __future__ import annotations

from typing import Any

from workbench import errors
from workbench.errors import WorkbenchError


class Refusal(WorkbenchError, ValueError):
    """An option or a name that a magic cannot use; the message says which and what to write."""


def must_be(value: Any, kinds: Any, what: str) -> None:
    """Refuse a value that is not of these types.

    Raises:
        Refusal: `what`, which reads "graph() takes a captured graph", and what it got.
    """
    errors.must_be(value, kinds, what, Refusal)
