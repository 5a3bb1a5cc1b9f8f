"""The error of a magic that cannot do what its line requests."""

from __future__ import annotations

from typing import Any

from workbench import errors
from workbench.errors import WorkbenchError


class Refusal(WorkbenchError, ValueError):
    """Raised for an option, a name or a value that a magic or a view cannot use; the message says what to write."""


def must_be(value: Any, kinds: Any, what: str) -> None:
    """Check that a value is of one of the types `kinds`.

    Raises:
        Refusal: it is not; the message is `what`, such as "graph() takes a captured graph", and the value's type.
    """
    errors.must_be(value, kinds, what, Refusal)
