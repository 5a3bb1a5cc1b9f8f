"""Python ends while something compiles: threads stop without a word, the main thread still gets what it asks for."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.worker import tasks
from workbench import events
from workbench.backends.worker import pool as pools
from workbench.backends.worker import process
from workbench.backends.worker.pool import Pool
from workbench.work import Work


@pytest.fixture
def notices(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is said while this Python seems to end."""
    monkeypatch.setattr(process, "_closed", [True])
    monkeypatch.setattr(pools, "_told", set())
    said: list[str] = []
    stop = events.subscribe(lambda event: said.append(event.message), events.Notice)
    yield said
    stop()


def test_a_thread_ends_without_a_word(pool: Pool, notices: list[str]) -> None:
    over: list[object] = []

    def compiling() -> None:
        try:
            over.append(pools.call(pool, tasks.echo, {"given": 1}))
        except SystemExit:  # which ends a thread without a word
            over.append("ended")

    thread = threading.Thread(target=compiling)
    thread.start()
    thread.join()
    assert (over, notices) == (["ended"], [])


def test_work_in_the_background_is_dropped(pool: Pool, notices: list[str]) -> None:
    work = Work(pools.call, pool, tasks.echo, {"given": 1}, name="late")
    with pytest.raises(RuntimeError, match="late was dropped"):
        work.result()
    assert notices == []


def test_the_main_thread_compiles_itself(pool: Pool, notices: list[str]) -> None:
    assert pools.call(pool, tasks.echo, {"given": 1}, b"x")[1] == b"x"
    assert len(notices) == 1 and "this Python is ending" in notices[0]
