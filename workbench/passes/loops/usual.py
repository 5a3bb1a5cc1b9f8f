"""What a condition of a thread is in all threads but a few at a border (`passes/loops/interior.py`)."""

from __future__ import annotations

import msgspec

from workbench.ir.values import Value


class Usual(msgspec.Struct, frozen=True):
    """What a condition is in all threads but those at a border, and which these are.

    Attributes:
        holds: whether it holds in them.
        first, last: numbers of threads: none before, none behind.
        rows: what must hold for a row to have any.
        asked: how many comparisons these are.
    """

    holds: bool
    first: tuple[Value, ...]
    last: tuple[Value, ...]
    rows: tuple[Value, ...]
    asked: int = 1
