"""The device's catalogue walked on the mock driver, so that its test is right before it meets a device."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gpu.test_gpu_catalogue import RIGHT, compare

pytest.importorskip("cuda.bindings.driver")
MOCK = Path(__file__).parents[1] / "mockdriver"
if str(MOCK) not in sys.path:
    sys.path.insert(0, str(MOCK))
FEW = [*RIGHT][::60]


@pytest.fixture
def mock(monkeypatch: pytest.MonkeyPatch, need: Callable[[str], str]) -> Iterator[Any]:
    need("g++")
    import emulated

    with emulated.device(monkeypatch) as made:
        yield made


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in FEW else pytest.mark.slow) for n in RIGHT])
def test_the_catalogue(name: str, mock: Any) -> None:
    compare(name, "cuda:0")
