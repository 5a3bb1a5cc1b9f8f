"""The tests of `tests/gpu`, to be run on a device that stands for a GPU."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from typing import Any

import pytest

GPU = Path(__file__).parents[2] / "gpu"


def module(name: str) -> Any:
    """A second copy of tests/gpu/`name`.py, so that what a test sets in it stays apart."""
    spec = importlib.util.spec_from_file_location(f"{name}_on_host", GPU / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def cases(tests: Any) -> list[Any]:
    """Each test function of a module with each value of its first parametrisation; None if it has none."""
    found = []
    for name, test in inspect.getmembers(tests, inspect.isfunction):
        if name.startswith("test_"):
            marks = [m for m in getattr(test, "pytestmark", []) if m.name == "parametrize"]
            values = marks[0].args[1] if marks else [None]
            found += [pytest.param(test, v, id=f"{name}-{v}" if marks else name) for v in values]
    return found
