"""Kernels that LLVM could compile only without vectorisation: in the store under a key of their own.

The key of a kernel says that its code is vectorised, so nothing else may lie there. Who looks for it takes the other
one where that is all there is; asking to compile it again (`force`) tries vectorisation again.
"""

from __future__ import annotations

from workbench.cache.folder.entry import Entry
from workbench.cache.key import Key, Part
from workbench.cache.store import Store

FACT = "unvectorised"
"""In an artifact's metadata: why it was compiled without vectorisation."""


def key_for(key: Key, entry: Entry) -> Key:
    """Return the key of what was compiled for `key`."""
    return _unvectorised(key) if FACT in entry.metadata else key


def find(store: Store, key: Key, *, again: bool = False) -> Entry | None:
    """Return the entry of `key`, or None; `again` as in `Store.get`. Only if `again` is set is the unvectorised variant
    looked up too: it is rare, and a kernel that is in no cache pays for each lookup."""
    entry = store.get(key.digest, again=again)
    return store.get(_unvectorised(key).digest, again=True) if entry is None and again else entry


def keep(store: Store, key: Key, entry: Entry) -> None:
    """Put what was compiled for `key`.

    Raises:
        CacheError: as `Store.put`.
    """
    store.put(key_for(key, entry).digest, entry)


def _unvectorised(key: Key) -> Key:
    return Key((*key.parts, Part("vectorisation", "extra", b"0", "none")))
