"""Facts that take long to find out, kept with artifacts: what this machine is, the digest of our sources.

An entry lies under all that decides the fact, or holds it, so none can be out of date.
"""

from __future__ import annotations

from typing import Any

from workbench.backends.cpu import machine
from workbench.cache import generator
from workbench.cache.folder.entry import Entry
from workbench.cache.key import Key, Part
from workbench.cache.store import default_store

KIND = "fact"
"""The backend of such an entry in lists of the cache."""


class Facts:
    """The facts in the cache; `known_by` is all that decides one, or that says whose it is."""

    def get(self, name: str, known_by: bytes) -> bytes:
        """Return the bytes that `put` stored under this name and identity; empty if there are none."""
        entry = default_store().get(_digest(name, known_by), counted=False)
        return entry.image if entry is not None else b""

    def put(self, name: str, known_by: bytes, fact: bytes) -> None:
        """Keep a fact, which lists of the cache call `name`."""
        shown: dict[str, Any] = {"name": name, "entry": "", "backend": KIND, "target": "", "stages": {}}
        default_store().put(_digest(name, known_by), Entry(fact, shown))


def _digest(name: str, known_by: bytes) -> str:
    return Key((Part(name, "extra", known_by),)).digest


def keep_facts() -> None:
    """Keep in the cache, from now on, what this machine is and the digest of our sources."""
    # They lie on a lower floor than the store, so it is handed to them.
    machine.REMEMBER[:] = generator.REMEMBER[:] = [Facts()]
