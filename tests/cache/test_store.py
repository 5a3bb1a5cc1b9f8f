"""What the store answers, from where, and what it counts."""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tests.support.kernels.cache_samples import digest, entry
from workbench.cache import key as keys
from workbench.cache.disk import Entry
from workbench.cache.store import Memory, Store, default_store
from workbench.errors import CacheError


def test_a_new_store_is_empty_and_makes_no_folder(store: Store, root: Path) -> None:
    assert store.get(digest(1)) is None
    assert not root.exists()
    assert store.entries() == []
    assert store.info().modules == 0


def test_memory_answers_first_then_disk(store: Store, root: Path) -> None:
    store.put(digest(1), entry(1))
    found = store.get(digest(1))
    assert found == entry(1) and found.where == "memory"

    later = Store(root)
    first, second = later.get(digest(1)), later.get(digest(1))
    assert first == second == entry(1)
    assert (first.where, second.where) == ("disk", "memory")


def test_memory_and_disk_give_the_same_metadata(store: Store, root: Path) -> None:
    store.put(digest(1), Entry(b"image", {"b": (1, 2), "a": {1: None}, "é": 0.1}))
    metadata = {"a": {"1": None}, "b": [1, 2], "é": 0.1}
    assert store.get(digest(1)).metadata == Store(root).get(digest(1)).metadata == metadata


def test_a_later_artifact_takes_the_place_of_an_earlier_one(store: Store, root: Path) -> None:
    store.put(digest(1), entry("old"))
    store.put(digest(1), entry("new"))
    assert store.get(digest(1)) == Store(root).get(digest(1)) == entry("new")


def test_an_empty_image_is_an_artifact(store: Store, root: Path) -> None:
    store.put(digest(1), Entry(b"", {}))
    assert Store(root).get(digest(1)) == Entry(b"", {})


def test_the_place_and_mode_of_a_file(store: Store, root: Path) -> None:
    before = os.umask(0)
    try:
        store.put(digest(1), entry(1))
    finally:
        os.umask(before)
    path = root / "v1" / digest(1)[:2] / digest(1)[2:]
    assert path.is_file()
    modes = {p: stat.S_IMODE(p.stat().st_mode) for p in (root, root / "v1", path.parent, path)}
    assert modes == {root: 0o700, root / "v1": 0o700, path.parent: 0o700, path: 0o600}
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name]


@pytest.mark.parametrize("wrong", ["", "ab", "../" * 20 + "etc/passwd", digest(1).upper(), digest(1) + "\n", "z" * 64])
def test_a_key_is_64_hex_digits(store: Store, wrong: str) -> None:
    for ask in (store.get, lambda d: store.put(d, entry(1)), store.lock):
        with pytest.raises(CacheError, match="64 hex digits"):
            ask(wrong)


@pytest.mark.parametrize("metadata", [{"a": object()}, {"a": float("nan")}, {"a": b"bytes"}, {"a": {(1, 2): 3}}])
def test_metadata_are_json(store: Store, metadata: dict[str, object]) -> None:
    with pytest.raises(CacheError, match="plain JSON"):
        store.put(digest(1), Entry(b"", metadata))
    assert store.get(digest(1)) is None


def test_info_counts(store: Store, root: Path) -> None:
    store.get(digest(1))
    store.get(digest(1), recheck=True)  # the second look under the lock
    store.put(digest(1), entry(1))
    store.put(digest(2), entry(2))
    for _ in range(3):
        store.get(digest(1))
    info = store.info()
    assert (info.modules, info.hits_memory, info.hits_disk, info.misses) == (2, 3, 0, 1)
    assert info.bytes == sum(p.stat().st_size for p in root.glob("v1/??/*"))
    assert (info.path, info.problem) == (str(root), "")

    later = Store(root)
    later.get(digest(1), recheck=True)
    later.get(digest(2))
    later.get(digest(3))
    info = later.info()
    assert (info.modules, info.hits_memory, info.hits_disk, info.misses) == (2, 0, 2, 1)


def test_entries_list_what_there_is_the_last_used_first(store: Store, root: Path) -> None:
    metadata = {"name": "blur", "backend": "cpu", "target": "x86-64-v3", "registers": 12}
    store.put(digest(1), Entry(b"12345", metadata))
    store.put(digest(2), entry(2))
    os.utime(store.disk.path(digest(1)), (10, 10))
    second, first = store.entries()
    assert (first.digest, first.name, first.backend, first.target) == (digest(1), "blur", "cpu", "x86-64-v3")
    assert (first.metadata, first.used, first.where) == (metadata, 10.0, "disk")
    assert first.bytes == store.disk.path(digest(1)).stat().st_size
    assert first.built > 1e9
    assert (second.digest, second.name, second.backend) == (digest(2), "kernel 2", "")


def test_clear_removes_what_is_ours_and_nothing_else(store: Store, root: Path) -> None:
    store.put(digest(1), entry(1))
    store.put(digest(2), entry(2))
    store.disk.path(digest(2)).write_bytes(b"damaged")
    assert Store(root).get(digest(2)) is None
    foreign = [root / "notes.txt", root / "v1" / "notes.txt", store.disk.path(digest(1)).parent / "notes.txt"]
    for path in foreign:
        path.write_text("mine")
    assert store.clear() == 2  # memory still had the damaged one
    assert store.get(digest(1)) is None and Store(root).get(digest(1)) is None
    assert sorted(p for p in root.rglob("*") if p.is_file()) == sorted(foreign)
    store.put(digest(1), entry(1))
    assert Store(root).get(digest(1)) == entry(1)


def test_memory_forgets_the_least_recently_used_first() -> None:
    facts = 4096  # what an entry's metadata count for
    memory = Memory(limit=250 + 2 * facts)
    for n in range(2):
        memory.put(digest(n), Entry(bytes(100)))
    memory.get(digest(0))
    memory.put(digest(2), Entry(bytes(100)))
    assert [memory.get(digest(n)) is not None for n in range(3)] == [True, False, True]
    memory.put(digest(2), Entry(bytes(150)))  # in place of the smaller one
    assert (memory.bytes, len(memory.items())) == (250 + 2 * facts, 2)
    memory.put(digest(3), Entry(bytes(1000 + facts)))
    assert [d for d, _ in memory.items()] == [digest(3)]
    memory.clear()
    assert (memory.bytes, memory.items()) == (0, [])


def test_the_default_store_follows_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "a"))
    first = default_store()
    assert default_store() is first
    first.put(digest(1), entry(1))
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "b"))
    assert default_store().get(digest(1)) is None
    monkeypatch.setenv("WORKBENCH_CACHE_READONLY", str(tmp_path / "a"))
    assert default_store().get(digest(1)) == entry(1)
    assert default_store().info().path == str(tmp_path / "b")


def test_a_relative_folder_is_where_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store(Path("here"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    store.put(digest(1), entry(1))
    assert Store(tmp_path / "here").get(digest(1)) == entry(1)


def _package(folder: Path, text: str = "a = 1\n") -> Path:
    for name in ("ir/values.py", "backends/cuda/prelude.cuh", "types.py", "frontend/statements/lower.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_the_generator_is_known_by_its_text(tmp_path: Path) -> None:
    package = _package(tmp_path / "one")
    before, newest = keys.digest_of(package)
    assert before == keys.digest_of(_package(tmp_path / "two"))[0]  # not by its folder or its times
    assert newest == max(p.stat().st_ctime_ns for p in package.rglob("*.*") if "frontend" not in p.parts)

    (package / "ir" / "__pycache__").mkdir()
    (package / "ir" / "__pycache__" / "values.pyc").write_bytes(b"x")
    (package / "frontend" / "lower.py").write_text("a = 2\n")  # speaks through the IR alone
    assert keys.digest_of(package)[0] == before

    seen = {before}
    for change in ("ir/values.py", "backends/cuda/prelude.cuh", "types.py", "passes/new.py"):
        (package / change).parent.mkdir(exist_ok=True)
        (package / change).write_text("a = 2\n")
        seen.add(keys.digest_of(package)[0])
    assert len(seen) == 5


def test_a_generator_edited_while_it_runs_is_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_PACKAGE", _package(tmp_path))

    def version() -> str:
        keys._digests.cache_clear()
        return keys.generator_version.__wrapped__()

    newest = keys.digest_of(tmp_path)[1]
    monkeypatch.setattr(keys, "_IMPORTED", newest)
    assert version() == version() == keys.digest_of(tmp_path)[0]
    monkeypatch.setattr(keys, "_IMPORTED", newest - 1)
    assert version() != version()
    os.utime(tmp_path / "types.py", (1e9, 1e9))  # by `rsync -t`, an archive: edited all the same
    assert version() != version()
    with monkeypatch.context() as patch:
        patch.setattr(keys.time, "time_ns", lambda: newest - 1)
        assert version() == version(), "a wrong clock is no edit"


def test_a_digest_is_remembered_until_something_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[bytes, bytes] = {}
    memory = SimpleNamespace(get=lambda _, key: kept.get(key, b""), put=lambda _, key, fact: kept.update({key: fact}))
    monkeypatch.setattr(keys, "REMEMBER", [memory])
    monkeypatch.setattr(keys, "SETTLED", 0)
    package, read = _package(tmp_path / "package"), []
    real = keys.digest_of
    monkeypatch.setattr(keys, "digest_of", lambda *a: (read.append(1), real(*a))[1])

    def version() -> str:
        time.sleep(0.02)  # a tick of the clock of the file system, which `SETTLED` allows for
        found = keys._digests.__wrapped__(str(package))
        assert found[1] == real(package, keys.FRONT_END)
        return found[0][0]

    file = package / "ir" / "values.py"
    state = file.stat()

    def edit() -> None:
        file.write_text("a = 3\n")  # as long as before, and its time is set back
        os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))

    def swap() -> None:
        (package / "ir").rename(package / "passes")

    found = [version(), version()]
    assert (len(read), len(kept)) == (2, 1)
    changes = (edit, lambda: (package / "ir" / "more.py").write_text("b = 1\n"), lambda: file.unlink(), swap)
    for count, change in enumerate(changes, 2):
        change()
        found += [version()]
        assert found[-1] == version() == real(package)[0]
        assert len(read) == 2 * count
    assert len(set(found)) == 5
    (key,) = kept
    for wrong in (b"", b"x", kept[key][:-1]):
        kept[key] = wrong
        assert version() == found[-1]
    monkeypatch.setattr(keys, "SETTLED", 10**18)
    kept.clear()
    assert version() == version() == found[-1]
    assert kept == {}, "it may have changed in this very moment"


def test_of_an_installed_wheel_the_record_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[bytes, bytes] = {}
    memory = SimpleNamespace(get=lambda _, key: kept.get(key, b""), put=lambda _, key, fact: kept.update({key: fact}))
    monkeypatch.setattr(keys, "REMEMBER", [memory])
    monkeypatch.setattr(keys, "SETTLED", 0)
    monkeypatch.setattr(keys, "_SEEN", {})
    package = _package(tmp_path / "workbench")
    record = tmp_path / "kernel_workbench-1.0.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("workbench/__init__.py,sha256=abc,10\n")
    read, asked, real, stat = [], [], keys.digest_of, os.stat
    monkeypatch.setattr(keys, "digest_of", lambda *a: (read.append(1), real(*a))[1])

    def version() -> str:
        time.sleep(0.02)
        with monkeypatch.context() as patch:
            patch.setattr(keys.os, "stat", lambda path, **how: (asked.append(str(path)), stat(path, **how))[1])
            return keys._digests.__wrapped__(str(package))[0][0]

    first = version()
    asked.clear()
    monkeypatch.setitem(sys.modules, "workbench.ir.values", ModuleType("values"))
    assert version() == first and len(read) == 2
    assert sorted(os.path.basename(path) for path in asked) == ["RECORD", "workbench"]
    monkeypatch.setitem(sys.modules, "workbench.ir.more", ModuleType("more"))
    monkeypatch.setattr(keys, "_PACKAGE", package)
    assert not keys.is_outdated()
    (package / "ir" / "values.py").write_text("a = 4\n")
    record.write_text("workbench/__init__.py,sha256=def,10\n")  # an upgrade
    monkeypatch.setitem(sys.modules, "workbench.ir.other", ModuleType("other"))
    assert keys.is_outdated()
    assert version() != first and len(read) == 4
    record.write_text("../../bin/workbench,sha256=abc,10\n")  # an editable install: files are asked
    version()
    (package / "ir" / "values.py").write_text("a = 6\n")
    assert version() == real(package)[0]


@pytest.mark.parametrize("back", [0, 3600])
def test_an_edit_by_a_clock_that_was_set_back_is_seen(back: int, tmp_path: Path) -> None:
    states = [path.stat() for path in _package(tmp_path).rglob("*.py")]
    before = keys._state(states)
    fields = {name: getattr(states[0], name) for name in ("st_size", "st_ino", "st_ctime_ns", "st_mtime_ns")}
    fields["st_ctime_ns"] -= back * 10**9
    after = keys._state([SimpleNamespace(**fields), *states[1:]])  # type: ignore[list-item]
    assert (after == before) is (back == 0)


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ("/dev/a / ext4 rw 0 0\n", True),
        ("/dev/a / ext4 rw 0 0\nme@there /home fuse.sshfs rw 0 0\n", False),
        ("/dev/a / ext4 rw 0 0\n/dev/b /ho vfat rw 0 0\n", True),
        ("/dev/a / ext4 rw 0 0\n/dev/b /home/my\\040files vfat rw 0 0\n", False),
        ("/dev/b /home vfat rw 0 0\noverlay /home overlay rw 0 0\n", True),
        ("/dev/b\n", False),
        ("", False),
        (None, False),
    ],
)
def test_a_file_system_whose_times_of_change_can_be_set_is_read_each_time(
    lines: str | None, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys.sys, "platform", "linux")
    monkeypatch.setattr(keys, "_MOUNTS", str(tmp_path / "mounts"))
    if lines is not None:
        (tmp_path / "mounts").write_text(lines)
    assert keys._has_change_times("/home/my files/workbench") is kept


@pytest.mark.parametrize("name", ["edited", "new"])
def test_what_an_updated_package_compiles_stays_in_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its digests were taken before; what is imported only to compile is of the new version."""

    def imports(*names: str) -> None:
        for module in names:
            monkeypatch.setitem(sys.modules, f"workbench.{module}", ModuleType(module))

    package = _package(tmp_path / "package")
    for old in ("edited", "removed"):
        (package / "ir" / f"{old}.py").write_text("a = 1\n")
    monkeypatch.setattr(keys, "_PACKAGE", package)
    monkeypatch.setattr(keys, "_SEEN", {})
    assert not keys.is_outdated(), "no digest was taken"
    keys._digests.__wrapped__(str(package))
    store = Store(tmp_path / "cache")
    (package / "ir" / "__pycache__").mkdir()  # as the first import does
    store.put(digest(1), entry(1))
    file = package / "ir" / f"{name}.py"
    state = (package / "types.py").stat()
    time.sleep(0.02)
    file.write_text("a = 2\n")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    imports("types", "elsewhere.module")
    store.put(digest(2), entry(2))  # what runs has not changed
    imports(f"ir.{name}")
    store.put(digest(3), entry(3))
    assert store.get(digest(3)) == entry(3)
    imports("elsewhere.another")
    store.put(digest(4), entry(4))  # it stays of two versions
    other = Store(tmp_path / "cache")
    assert [other.get(digest(n)) for n in range(1, 5)] == [entry(1), entry(2), None, None]
    keys._digests.__wrapped__(str(package))  # another reading
    (package / "ir" / "removed.py").unlink()
    assert not keys.is_outdated()
    imports("ir.removed")
    assert keys.is_outdated()


def test_a_generator_without_its_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CacheError, match="source code is not in"):
        keys.digest_of(tmp_path)
    assert keys.generator_version() == keys.generator_version()
