"""Folders and files that cannot be trusted, read or written: reported once, in a sentence, and the work goes on."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernels.cache_samples import digest, entry
from workbench.cache.disk import distrust, own, own_or_root
from workbench.cache.store import Store, default_store

FOREIGN = 54321


def _give_away(store: Store, path: Path) -> None:
    """Make `path` somebody else's; where this user cannot, let the store take itself for somebody else."""
    if os.geteuid() == 0:
        os.chown(path, FOREIGN, -1)
    else:
        store.disk.owners = frozenset({FOREIGN})


def _assert_it_goes_on_in_memory(store: Store, told: list[Any], *words: str) -> None:
    """The store keeps and gives artifacts, and has said one sentence with these words."""
    for n in range(3):
        store.put(digest(n), entry(n))
        assert store.get(digest(n)) == entry(n)
    store.get(digest(99))
    assert store.info().modules == 3
    (problem,) = told
    for word in (*words, "kept in memory only", "WORKBENCH_CACHE"):
        assert word in problem.message
    assert store.info().problem == problem.message


def _filled(root: Path) -> Store:
    Store(root).put(digest(1), entry(1))
    return Store(root)


@pytest.mark.parametrize("which", ["root", "schema", "inner"])
def test_a_foreign_folder_is_refused(root: Path, told: list[Any], which: str) -> None:
    store = _filled(root)
    inner = store.disk.path(digest(1)).parent
    _give_away(store, {"root": root, "schema": root / "v1", "inner": inner}[which])
    assert store.get(digest(1)) is None
    assert "belongs to another user" in told[0].message and "could run their code" in told[0].message
    assert str(root) in told[0].message
    store.put(digest(1), entry("mine"))
    assert store.get(digest(1)) == entry("mine")
    assert len(told) == 1


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_can_write_is_refused(root: Path, told: list[Any], mode: int) -> None:
    store = _filled(root)
    root.chmod(mode)
    assert store.get(digest(1)) is None
    _assert_it_goes_on_in_memory(store, told, "can be written by other users", f"{mode:03o}", "chmod go-w", str(root))
    assert sum(1 for _ in (root / "v1").rglob("*")) == 2 + (root / "v1" / "total").exists()


def test_a_folder_that_others_can_read_is_used(root: Path, told: list[Any]) -> None:
    root.mkdir()
    root.chmod(0o755)
    assert _filled(root).get(digest(1)) == entry(1)
    assert told == []


def test_a_refused_folder_is_used_again_once_it_is_put_right(root: Path, told: list[Any]) -> None:
    store = _filled(root)
    root.chmod(0o777)
    assert store.get(digest(1)) is None
    root.chmod(0o700)
    store.put(digest(2), entry(2))
    assert store.info().problem == ""
    assert store.get(digest(1)) == entry(1)


def test_a_foreign_file_is_refused_and_replaced(root: Path, told: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    store = _filled(root)
    path = store.disk.path(digest(1))
    if os.geteuid() == 0:
        os.chown(path, FOREIGN, -1)
    else:
        real = os.fstat
        monkeypatch.setattr(os, "fstat", lambda fd: os.stat_result((*real(fd)[:4], FOREIGN, *real(fd)[5:])))
    assert store.get(digest(1)) is None and store.get(digest(1)) is None
    monkeypatch.undo()
    (problem,) = told
    assert str(path) in problem.message and f"uid {FOREIGN}" in problem.message and "not loaded" in problem.message
    assert store.info().problem == ""
    store.put(digest(1), entry("mine"))
    assert Store(root).get(digest(1)) == entry("mine")


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_refused(root: Path, told: list[Any], mode: int) -> None:
    store = _filled(root)
    store.disk.path(digest(1)).chmod(mode)
    assert store.get(digest(1)) is None
    assert f"mode {mode:03o}" in told[0].message


def test_links_and_what_is_no_file_are_refused(root: Path, told: list[Any]) -> None:
    store = _filled(root)
    path = store.disk.path(digest(1))
    aside = path.with_name("aside")
    path.rename(aside)

    path.symlink_to(aside)
    assert store.get(digest(1)) is None
    path.unlink()
    os.mkfifo(path, 0o600)  # opening it must not wait for a writer
    assert store.get(digest(1)) is None
    path.unlink()
    path.mkdir(0o700)
    assert store.get(digest(1)) is None
    assert [str(path) in t.message and "not loaded" in t.message for t in told] == [True] * 2
    store.put(digest(1), entry(1))
    assert store.get(digest(1)) == entry(1)
    path.rmdir()
    aside.rename(path)
    assert Store(root).get(digest(1)) == entry(1)


def test_a_linked_root_is_used_and_a_link_inside_is_not(root: Path, tmp_path: Path, told: list[Any]) -> None:
    _filled(root)
    link = tmp_path / "link"
    link.symlink_to(root)
    assert Store(link).get(digest(1)) == entry(1)
    (root / "v1").rename(tmp_path / "moved")
    (root / "v1").symlink_to(tmp_path / "moved")
    assert Store(root).get(digest(1)) is None
    assert Store(root).clear() == 0
    assert sum(p.is_file() for p in (tmp_path / "moved" / digest(1)[:2]).iterdir()) == 1


def test_a_file_where_the_folder_should_be(root: Path, told: list[Any]) -> None:
    root.write_text("not a folder")
    _assert_it_goes_on_in_memory(Store(root), told, str(root), "Not a directory")
    assert root.read_text() == "not a folder"


def test_a_folder_below_a_file(tmp_path: Path, told: list[Any]) -> None:
    (tmp_path / "file").write_text("")
    _assert_it_goes_on_in_memory(Store(tmp_path / "file" / "cache"), told, "Not a directory")


def test_a_folder_that_cannot_be_made(tmp_path: Path, told: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "mkdir", _fails(errno.EACCES))
    _assert_it_goes_on_in_memory(Store(tmp_path / "cache"), told, "cannot be used (Permission denied)")


def test_no_home_folder(tmp_path: Path, told: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pwd = pytest.importorskip("pwd")

    def nobody(_: int) -> None:
        raise KeyError("uid not found")

    for name in ("HOME", "XDG_CACHE_HOME", "WORKBENCH_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.chdir(tmp_path)
    _assert_it_goes_on_in_memory(default_store(), told, "no home folder")
    with default_store().lock(digest(1), timeout=0) as held:
        assert held
    assert default_store().prune() == 0 and default_store().clear() == 3


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a current folder cannot be deleted")
def test_no_current_folder(tmp_path: Path, told: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    _assert_it_goes_on_in_memory(Store(Path("cache")), told, "the current folder was deleted")
    assert list(tmp_path.iterdir()) == []


def _fails(number: int) -> Any:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("call", ["open", "write", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO])
def test_a_disk_that_takes_nothing(
    root: Path, told: list[Any], monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    _filled(root)
    store = Store(root)
    with monkeypatch.context() as m:
        m.setattr(os, call, _fails(number))
        for n in (5, 6, 7):
            store.put(digest(n), entry(n))
    assert [store.get(digest(n)) for n in (5, 6, 7)] == [entry(5), entry(6), entry(7)]
    (problem,) = told
    assert f"cannot be used ({os.strerror(number)})" in problem.message and str(root) in problem.message
    assert list(root.rglob("*.tmp")) == []
    assert Store(root).get(digest(5)) is None and Store(root).get(digest(1)) == entry(1)
    store.put(digest(5), entry(5))
    assert Store(root).get(digest(5)) == entry(5) and store.info().problem == ""


def test_a_disk_that_fills_up_in_the_middle(root: Path, told: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    store, real, calls = _filled(root), os.write, []

    def some(fd: int, data: Any) -> int:
        calls.append(len(data))
        if len(calls) > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data[:100])

    with monkeypatch.context() as m:
        m.setattr(os, "write", some)
        store.put(digest(1), entry("new"))
    assert len(calls) == 4 and len(told) == 1
    assert Store(root).get(digest(1)) == entry(1)


def test_short_writes_and_reads_are_gone_on_with(root: Path, told: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    write, read = os.write, os.read
    with monkeypatch.context() as m:
        m.setattr(os, "write", lambda fd, data: write(fd, data[:300]))
        m.setattr(os, "read", lambda fd, size: read(fd, min(size, 300)))
        Store(root).put(digest(1), entry(1))
        assert Store(root).get(digest(1)) == entry(1)
    assert told == []


def test_a_file_that_cannot_be_read(root: Path, told: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    store = _filled(root)
    with monkeypatch.context() as m:
        m.setattr(os, "read", _fails(errno.EIO))
        assert store.get(digest(1)) is None and store.get(digest(1)) is None
    assert [t.path for t in told] == [str(store.disk.path(digest(1)))]
    assert "Input/output error" in told[0].message
    assert store.get(digest(1)) == entry(1)


def test_a_damaged_file_that_cannot_be_moved(root: Path, told: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    store = _filled(root)
    store.disk.path(digest(1)).write_bytes(b"damaged")
    with monkeypatch.context() as m:
        m.setattr(os, "replace", _fails(errno.EROFS))
        assert store.get(digest(1)) is None and store.get(digest(1)) is None
    assert len(told) == 1 and "could not be moved aside" in told[0].message


def test_the_readonly_folder_is_read_and_never_touched(root: Path, tmp_path: Path, told: list[Any]) -> None:
    shared = tmp_path / "shared"
    lab = Store(shared)
    for n in (1, 2):
        lab.put(digest(n), entry(n))
        os.utime(lab.disk.path(digest(n)), (10, 10))
    lab.disk.path(digest(2)).write_bytes(b"damaged")
    before = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in shared.rglob("*")}

    store = Store(root, shared)
    found = store.get(digest(1))
    assert found == entry(1) and found.where == "disk"
    assert store.get(digest(1)).where == "memory"
    assert store.get(digest(2)) is None and store.get(digest(2)) is None
    store.put(digest(3), entry(3))
    store.clear()
    assert {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in shared.rglob("*")} == before
    assert len(told) == 1 and str(lab.disk.path(digest(2))) in told[0].message


def test_the_readonly_folder_must_be_trusted(root: Path, tmp_path: Path, told: list[Any]) -> None:
    shared = tmp_path / "shared"
    Store(shared).put(digest(1), entry(1))
    shared.chmod(0o777)
    store = Store(root, shared)
    assert store.get(digest(1)) is None and store.get(digest(1)) is None
    (problem,) = told
    assert "can be written by other users" in problem.message and "WORKBENCH_CACHE_READONLY" in problem.message
    assert store.info().problem == problem.message


def _status(uid: int, mode: int) -> os.stat_result:
    return os.stat_result((mode, 1, 1, 1, uid, uid, 0, 0, 0, 0))


def test_who_is_trusted() -> None:
    me = os.geteuid()
    assert own() == {me} and own_or_root() == {me, 0}
    assert distrust(_status(me, 0o100600), own()) == ""
    assert distrust(_status(me, 0o100644), own()) == ""
    assert "another user" in distrust(_status(me + 1, 0o100600), own())
    assert "another user" in distrust(_status(me + 1, 0o100600), own_or_root())
    assert distrust(_status(0, 0o100644), own_or_root()) == ""
    assert "other users" in distrust(_status(0, 0o100664), own_or_root())
    assert distrust(_status(5, 0o100666), frozenset()) == ""  # a system without owners
