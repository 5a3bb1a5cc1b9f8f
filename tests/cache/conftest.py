"""A store in a folder of its own, what the cache reported, and worker processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernels.cache_samples import ROOT
from workbench import events
from workbench.cache.store import Store


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def store(root: Path) -> Store:
    return Store(root)


@pytest.fixture
def told() -> Iterator[list[Any]]:
    """The CacheProblem and Notice events of the test, in order."""
    heard: list[Any] = []
    end = events.subscribe(heard.append, events.CacheProblem, events.Notice)
    yield heard
    end()


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """`start("hammer", root, ...)` runs a job of samples.py in a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(job: str, *arguments: object, cwd: Path | None = None, **env: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.support.kernels.cache_samples", job, *map(str, arguments)]
        process = subprocess.Popen(
            command, cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT), **env}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
