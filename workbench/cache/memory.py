"""Artifacts of this process, least recently used first out; safe for threads."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from workbench.cache.folder.entry import Entry

_FACTS = 4096


class Memory:
    """At most `limit` bytes, by digest: some 300 kernels; what the disk has is there again in 0.1 ms."""

    def __init__(self, limit: int = 2 << 20) -> None:
        self.limit = limit
        self.bytes = 0
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._lock = Lock()

    def get(self, digest: str) -> Entry | None:
        """Return the entry, or None."""
        with self._lock:
            entry = self._entries.get(digest)
            if entry is not None:
                self._entries.move_to_end(digest)
            return entry

    def put(self, digest: str, entry: Entry) -> None:
        """Keep an entry; the newest one stays even where it is larger than the limit."""
        with self._lock:
            old = self._entries.pop(digest, None)
            self._entries[digest] = entry
            self.bytes += _weight(entry) - (_weight(old) if old else 0)
            while self.bytes > self.limit and len(self._entries) > 1:
                self.bytes -= _weight(self._entries.popitem(last=False)[1])

    def remove(self, digest: str) -> bool:
        """Forget an entry; whether there was one."""
        with self._lock:
            entry = self._entries.pop(digest, None)
            self.bytes -= _weight(entry) if entry else 0
            return entry is not None

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._entries.clear()
            self.bytes = 0

    def items(self) -> list[tuple[str, Entry]]:
        """Digests and entries, the least recently used first."""
        with self._lock:
            return list(self._entries.items())


def _weight(entry: Entry) -> int:
    """Bytes of an entry, its metadata by experience."""
    return len(entry.image) + _FACTS
