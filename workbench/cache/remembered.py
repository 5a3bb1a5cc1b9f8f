"""Facts that take long to find out, kept with artifacts: what this machine is, the digest of our sources.

An entry lies under all that decides the fact, so there is none that could be out of date.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from workbench.backends.cpu import machine
from workbench.cache import generator
from workbench.cache.folder.entry import Entry
from workbench.cache.key import Key, Part
from workbench.cache.store import default_store

KIND = "fact"
"""What lists of the cache show as the backend of such an entry."""


def remembered(name: str, known_by: bytes, find: Callable[[], bytes]) -> bytes:
    """The fact `name`, from the cache or found now.

    Args:
        name: what lists of the cache call it.
        known_by: all that decides it.
        find: finds it out.
    """
    store, digest = default_store(), Key((Part(name, "extra", known_by),)).digest
    entry = store.get(digest, counted=False)
    if entry is None:
        facts: dict[str, Any] = {"name": name, "entry": "", "backend": KIND, "target": "", "stages": {}}
        entry = Entry(find(), facts)
        store.put(digest, entry)
    return entry.image


# Both are asked for below the store, which they do not know.
machine.REMEMBER[:] = [partial(remembered, "this machine")]
generator.REMEMBER[:] = [partial(remembered, "our sources")]
