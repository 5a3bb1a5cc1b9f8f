"""Many processes and threads at one folder, and processes that die in the middle."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernels.cache_samples import digest, entry
from workbench.cache.store import Store


@pytest.mark.slow
def test_four_processes_build_each_key_once(start, root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    jobs = [start("build_all", root, 40, log) for _ in range(4)]
    errors = [job.communicate()[1] for job in jobs]
    assert [job.returncode for job in jobs] == [0] * 4, errors
    assert Counter(log.read_text().split()) == {str(n): 1 for n in range(40)}
    assert all(Store(root).get(digest(n)) == entry(n) for n in range(40))
    assert not [p for p in root.rglob("*") if p.name.endswith(".tmp") or p.parent.name in ("damaged", "locks")]


@pytest.mark.slow
def test_four_processes_put_get_prune_and_clear_at_once(start, root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    jobs = [start("hammer", root, 400, log) for _ in range(4)]
    errors = [job.communicate()[1] for job in jobs]
    assert [job.returncode for job in jobs] == [0] * 4, errors
    assert log.read_text() == "done\n" * 4
    assert not (root / "damaged").exists()


@pytest.mark.sample(2)
@pytest.mark.parametrize("stage", ["write", "replace"])
@pytest.mark.parametrize("before", ["nothing", "an artifact"])
def test_a_writer_killed_at_any_stage(
    start, store: Store, root: Path, told: list[Any], stage: str, before: str
) -> None:
    if before == "an artifact":
        store.put(digest(1), entry(1))
    job = start("die_writing", root, stage)
    job.communicate()
    assert job.returncode == -signal.SIGKILL

    later = Store(root)
    assert later.get(digest(1)) == (entry(1) if before == "an artifact" else None)
    (left,) = (p for p in root.rglob("*.tmp"))
    later.put(digest(1), entry("later"))
    assert Store(root).get(digest(1)) == entry("later")
    assert told == []

    later.prune()
    assert left.exists()  # it may be somebody's work of this moment
    os.utime(left, (10, 10))
    later.prune()
    assert not left.exists() and Store(root).get(digest(1)) == entry("later")


def test_a_killed_holder_leaves_no_lock(start, store: Store, root: Path) -> None:
    job = start("die_locked", root)
    job.communicate()
    assert job.returncode == -signal.SIGKILL
    left = root / "v1" / "locks" / digest(1)
    assert left.exists()
    with store.lock(digest(1), timeout=0) as held:
        assert held
    assert not left.exists()


def test_threads_build_a_key_once(store: Store) -> None:
    built, answers, gate = [], [], threading.Barrier(8)

    def build() -> None:
        gate.wait()
        with store.lock(digest(1)) as held:
            if store.get(digest(1), recheck=True) is None:
                built.append(held)
                store.put(digest(1), entry(1))
        answers.append(store.get(digest(1)))

    threads = [threading.Thread(target=build) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [True]
    assert answers == [entry(1)] * 8


def test_a_lock_that_others_hold_is_waited_for_and_then_done_without(store: Store, root: Path) -> None:
    other = Store(root)  # as another process: it has its own descriptor
    with store.lock(digest(1), timeout=0) as first, other.lock(digest(1), timeout=0.02) as second:
        assert (first, second) == (True, False)
        with store.lock(digest(2), timeout=0) as another_key:
            assert another_key
    with other.lock(digest(1), timeout=0) as free:
        assert free


def test_a_thread_waits_for_a_thread_and_then_does_without(store: Store) -> None:
    seen = []

    def ask() -> None:
        with store.lock(digest(1), timeout=0.02) as held:
            seen.append(held)

    with store.lock(digest(1)):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    ask()
    assert seen == [False, True]
    assert store._locks._threads == {}


def test_an_error_under_the_lock_comes_through_and_frees_it(store: Store) -> None:
    with pytest.raises(KeyError, match="mine"), store.lock(digest(1)):
        raise KeyError("mine")
    with pytest.raises(OSError, match="mine"), store.lock(digest(1)):
        raise OSError("mine")
    with store.lock(digest(1), timeout=0) as held:
        assert held


def test_a_lock_where_there_can_be_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with Store(tmp_path / "file" / "cache").lock(digest(1), timeout=0) as held:
        assert held


def test_a_forked_child_has_a_store_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.cache.store import default_store

    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    parent = default_store()
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as os.fork would
    assert default_store() is not parent
