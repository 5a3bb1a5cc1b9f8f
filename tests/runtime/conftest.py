"""The mock driver as a fixture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def mock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, need: Callable[[str], str]) -> Iterator[Any]:
    """The mock driver, with as many devices as the module's `DEVICES` says (1 if it says nothing)."""
    pytest.importorskip("cuda.bindings.driver")
    need("nvrtc")
    from tests.support.devices import mock_device

    with mock_device.device(monkeypatch, getattr(request.module, "DEVICES", 1)) as made:
        yield made
