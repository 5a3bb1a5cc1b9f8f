"""Pools of workers that may import the tests' tasks, and the CPU backend with a compiler that misbehaves."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.backends.cpu import compile as cpu
from workbench.backends.worker import process
from workbench.backends.worker.pool import Pool

ROOT = str(Path(__file__).parents[2])
LLVM = tuple(cpu.POOL.paths() or ())


def paths() -> list[str]:
    return [*LLVM, ROOT]


@pytest.fixture
def pool() -> Iterator[Pool]:
    """A pool of its own; its processes end with the test."""
    made = Pool("test", paths)
    yield made
    end(made)


def end(pool: Pool) -> None:
    mine = set(pool.processes())
    for each in tuple(process._processes):
        if each.pid in mine:
            each.kill()


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, pool: Pool) -> Callable[[Any], Pool]:
    """`compiler(task)` has the CPU backend compile with that task, in workers of its own."""

    def use(task: Any) -> Pool:
        monkeypatch.setattr(cpu, "POOL", pool)
        monkeypatch.setattr(cpu, "codegen", SimpleNamespace(generate=task))
        return pool

    return use


@pytest.fixture
def began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Waits until a task that hangs has begun; gives its process."""
    pipe = tmp_path / "began"
    os.mkfifo(pipe)
    monkeypatch.setenv("WORKER_BEGAN", str(pipe))
    return lambda: int(pipe.read_text())


def gone(pid: int) -> bool:
    """Wait until a process is gone, without a zombie that is ours."""
    for _ in range(600):
        if not running(pid):
            return True
        threading.Event().wait(0.05)
    return False


def running(pid: int) -> bool:
    """Whether there is such a process, be it a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
