"""Weak references by key, without Python code that runs in the garbage collector.

`weakref.WeakValueDictionary` removes a dead entry in Python, inside the collector, wherever that was started. In
CPython before 3.11.8 and 3.12.2 another thread that gets its turn there, while the collector interrupts `ast.parse`,
makes that fail ("AST constructor recursion depth mismatch", gh-106905).
"""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class WeakValueDict(Generic[K, V]):
    """Represents a mapping that holds its values weakly: each is there as long as something else holds it."""

    def __init__(self) -> None:
        self._refs: dict[K, weakref.ref[V]] = {}
        self._sweep_at = 64

    def get(self, key: K) -> V | None:
        """Return the value of a key; None if there is none, or it is gone."""
        value = self._refs.get(key)
        return value() if value is not None else None

    def put(self, key: K, value: V) -> None:
        """Set the value of a key; entries of dead values are dropped whenever the mapping has doubled."""
        self._refs[key] = weakref.ref(value)
        if len(self._refs) > self._sweep_at:
            self._refs = {k: r for k, r in list(self._refs.items()) if r() is not None}
            self._sweep_at = max(64, 2 * len(self._refs))

    def pop(self, key: K) -> None:
        """Remove a key, if it is there."""
        self._refs.pop(key, None)
