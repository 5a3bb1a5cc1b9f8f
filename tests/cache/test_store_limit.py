"""The size limit: least recently used first."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernels.cache_samples import digest, entry
from workbench.cache import disk
from workbench.cache.store import Store


def _size(root: Path) -> int:
    return sum(p.stat().st_size for p in root.glob("v1/??/*"))


def _kept(store: Store, count: int) -> list[int]:
    return [n for n in range(count) if store.disk.path(digest(n)).exists()]


def test_prune_removes_the_least_recently_used(store: Store, root: Path) -> None:
    for n in range(6):
        store.put(digest(n), entry(n))
        os.utime(store.disk.path(digest(n)), (100 * n, 100 * n))
    one = _size(root) // 6
    assert store.prune() == 0
    os.utime(store.disk.path(digest(0)), (1000, 1000))  # used again
    assert store.prune(3 * one + 50) == 3
    assert _kept(store, 6) == [0, 4, 5]
    assert store.prune(0) == 3
    assert _size(root) == 0
    assert store.get(digest(1)) == entry(1)  # memory still has it


def test_a_hit_renews_the_time_of_use_at_most_once_an_hour(store: Store, root: Path) -> None:
    store.put(digest(1), entry(1))
    path = store.disk.path(digest(1))
    now = time.time()
    os.utime(path, (now - 600, now - 600))
    assert Store(root).get(digest(1)) is not None
    assert path.stat().st_mtime == pytest.approx(now - 600, abs=1e-3)
    os.utime(path, (now - 7200, now - 7200))
    assert Store(root).get(digest(1)) is not None
    assert path.stat().st_mtime >= now - 1


def test_writing_keeps_the_folder_under_its_limit(root: Path) -> None:
    store = Store(root, limit=20_000)
    for n in range(30):
        store.put(digest(n), entry(n))
        assert _size(root) <= 20_000
        os.utime(store.disk.path(digest(n)), (100 * n + 1, 100 * n + 1))
    kept = _kept(store, 30)
    assert kept == list(range(30 - len(kept), 30)) and len(kept) >= 7
    assert store.memory.get(digest(0)) is not None


def test_several_writers_share_the_limit(root: Path) -> None:
    stores = [Store(root, limit=20_000) for _ in range(3)]
    for n in range(60):
        stores[n % 3].put(digest(n), entry(n))
    assert _size(root) <= 3 * 20_000  # each counts what it wrote since the last sum, not what the others did
    Store(root, limit=20_000).prune()
    assert _size(root) <= 20_000


def test_the_folder_is_summed_up_once_an_hour(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sums: list[int] = []
    note = disk._note_total
    monkeypatch.setattr(disk, "_note_total", lambda path, total: (sums.append(total), note(path, total)))
    store = Store(root)
    for n in range(5):
        store.put(digest(n), entry(n))
    Store(root).put(digest(9), entry(9))
    assert len(sums) == 1
    total = root / "v1" / "total"
    os.utime(total, (10, 10))
    store.put(digest(5), entry(5))
    assert len(sums) == 2 and sums[1] == _size(root)
    total.write_bytes(b"nonsense")
    store.put(digest(6), entry(6))
    assert len(sums) == 3


def test_old_locks_and_many_damaged_files_go(store: Store, root: Path, told: list[Any]) -> None:
    store.put(digest(0), entry(0))
    locks = root / "v1" / "locks"
    locks.mkdir(0o700)
    old, new = locks / digest(1), locks / digest(2)
    for path in (old, new):
        path.touch()
    os.utime(old, (10, 10))
    (root / "damaged").mkdir(0o700)
    for n in range(disk.KEEP_DAMAGED + 5):
        (root / "damaged" / digest(n)).touch()
    store.prune()
    assert (old.exists(), new.exists()) == (False, True)
    assert len(list((root / "damaged").iterdir())) == disk.KEEP_DAMAGED
    assert _kept(store, 1) == [0]
