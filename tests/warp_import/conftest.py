"""An environment that holds Warp."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.checks.environments import python_with


@pytest.fixture(scope="session")
def warp_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has all that this one has, and Warp 1.19; without a network the test skips."""
    return python_with("warp", ["warp-lang==1.19.*", "usd-core"], tmp_path_factory.mktemp("warp"), inherits=True)
