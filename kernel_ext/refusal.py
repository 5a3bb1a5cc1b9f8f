"""What a magic says that cannot do what its line requests."""

from __future__ import annotations

from workbench.errors import WorkbenchError


class Refusal(WorkbenchError, ValueError):
    """An option or a name that a magic cannot use; the message says which and what to write."""
