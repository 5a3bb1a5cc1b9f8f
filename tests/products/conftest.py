"""A store of its own for each test, and a builder whose products can be counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.products.fake_builder import NOTES
from workbench.backends.cuda.products.workers import Builder


class Fake:
    """A builder, and what it has built."""

    def __init__(self, notes: Path, mode: str = "build", version: str = "1") -> None:
        self.notes = notes
        self.builder = Builder("fake", lambda target: version, lambda: "", f"tests.products.fake_builder:{mode}")

    @property
    def built(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in self.notes.iterdir()]

    @property
    def roles(self) -> list[str]:
        return sorted(spec["role"] for spec in self.built)


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("WORKBENCH_CACHE", str(folder))
    return folder


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Fake]:
    """`fake(mode="build", version="1")`; all of one test note what they build in one place."""
    notes = tmp_path / "notes"
    notes.mkdir()
    monkeypatch.setenv(NOTES, str(notes))
    return lambda mode="build", version="1": Fake(notes, mode, version)
