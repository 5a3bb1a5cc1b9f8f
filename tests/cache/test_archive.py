"""Exporting a cache and importing it: checked, and only where it is trusted."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernels.cache_samples import digest, entry
from workbench import events
from workbench.cache.disk import encode
from workbench.cache.store import Store
from workbench.errors import CacheError


@pytest.fixture
def exported(store: Store, tmp_path: Path) -> Path:
    for n in range(3):
        store.put(digest(n), entry(n))
    path = tmp_path / "class.zip"
    assert store.export(path) == 3
    return path


def test_a_trusted_archive_brings_everything(exported: Path, store: Store, tmp_path: Path, told: list[Any]) -> None:
    other = Store(tmp_path / "other")
    result = other.import_(exported, trust=True)
    assert (result.taken, result.ignored, result.damaged, result.message) == (3, 0, 0, "")
    later = Store(tmp_path / "other")
    assert [later.get(digest(n)) for n in range(3)] == [entry(n) for n in range(3)]
    assert {e.digest: e.built for e in later.entries()} == pytest.approx({e.digest: e.built for e in store.entries()})
    assert told == []


def test_without_trust_nothing_is_taken_and_that_is_said(exported: Path, tmp_path: Path, told: list[Any]) -> None:
    other = Store(tmp_path / "other")
    result = other.import_(exported)
    assert (result.taken, result.ignored, result.damaged) == (0, 3, 0)
    assert "none was imported" in result.message and "trust=True" in result.message
    assert told == [events.Notice(result.message)]
    assert other.info().modules == 0 and not (tmp_path / "other").exists()


def test_each_member_is_checked(exported: Path, tmp_path: Path, told: list[Any]) -> None:
    good = encode(digest(9), entry(9))
    with zipfile.ZipFile(exported, "a") as archive:
        archive.writestr(f"v1/{digest(9)}", good[:-1] + b"!")
        archive.writestr(f"v1/{digest(8)}", good)  # under another's name
        archive.writestr(f"v2/{digest(7)}", good)
        archive.writestr("../../evil", good)
        archive.writestr(f"v1/{digest(6).upper()}", good)
    other = Store(tmp_path / "other")
    result = other.import_(exported, trust=True)
    assert (result.taken, result.ignored, result.damaged) == (3, 3, 2)
    assert "2 damaged artifacts and 3 of another version" in result.message
    assert {e.digest for e in other.entries()} == {digest(n) for n in range(3)}
    assert not (tmp_path / "evil").exists()


def test_a_bit_flipped_in_the_archive(exported: Path, tmp_path: Path, told: list[Any]) -> None:
    data = bytearray(exported.read_bytes())
    data[200] ^= 4  # inside the first member
    exported.write_bytes(bytes(data))
    other = Store(tmp_path / "other")
    result = other.import_(exported, trust=True)
    assert (result.taken, result.damaged) == (2, 1)
    assert all(other.get(e.digest) == entry(n) for e in other.entries() for n in range(3) if e.digest == digest(n))


def test_a_member_larger_than_the_cache_is_not_opened(exported: Path, tmp_path: Path) -> None:
    other = Store(tmp_path / "other", limit=1000)
    assert other.import_(exported, trust=True).ignored == 3


@pytest.mark.parametrize("content", [b"", b"no zip", None])
def test_what_is_no_archive(content: bytes | None, store: Store, tmp_path: Path) -> None:
    path = tmp_path / "what.zip"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CacheError, match=r"what\.zip"):
        store.import_(path, trust=True)


def test_an_archive_is_written_whole_or_not_at_all(exported: Path, store: Store, tmp_path: Path) -> None:
    before = exported.read_bytes()
    store.export(exported)
    assert exported.read_bytes() == before
    with pytest.raises(CacheError, match="cannot be exported to"):
        store.export(tmp_path / "nowhere" / "class.zip")
    (tmp_path / "folder").mkdir()
    with pytest.raises(CacheError, match="cannot be exported to"):
        store.export(tmp_path / "folder")
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".tmp")] == []


def test_damaged_entries_are_not_exported_but_memory_is(
    store: Store, root: Path, tmp_path: Path, told: list[Any]
) -> None:
    store.put(digest(1), entry(1))
    store.put(digest(2), entry(2))
    store.disk.path(digest(1)).write_bytes(b"damaged")
    later = Store(root)
    assert later.export(tmp_path / "one.zip") == 1
    assert len(told) == 1
    root.chmod(0o777)
    memory_only = Store(root)
    memory_only.put(digest(5), entry(5))
    assert memory_only.export(tmp_path / "two.zip") == 1
    assert [e.where for e in memory_only.entries()] == ["memory"]
    assert os.listdir(tmp_path / "cache")
