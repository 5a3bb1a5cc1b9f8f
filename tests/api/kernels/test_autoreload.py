"""IPython's `%autoreload`: names that other modules imported mean what the reloaded module defines now."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.api.kernels.editions import newest
from workbench.errors import LaunchError

autoreload = pytest.importorskip("IPython.extensions.autoreload")

TEXT = """
import workbench as wb

@wb.struct
class Body:
    mass: float

@wb.func
def twice(a: float):
    return 2.0 * a

@wb.kernel
def step(x: wb.array[float], b: Body):
    x[wb.tid()] = twice(b.mass)
"""


@wb.kernel
def heavier(x: wb.array[float], b: wb.Any):
    x[wb.tid()] = user.twice(b.mass) + 1.0


user = types.ModuleType("user_of_reloaded")


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Replaces text of a module that is imported, and reloads it as `%autoreload 2` does."""
    file = tmp_path / "reloaded_by_test.py"
    file.write_text(TEXT)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(autoreload, "UPDATE_RULES", list(autoreload.UPDATE_RULES))
    module = importlib.import_module(file.stem)
    monkeypatch.setitem(sys.modules, user.__name__, user)
    for name in ("Body", "twice", "step"):
        setattr(user, name, getattr(module, name))

    def replaced(old: str, new: str) -> None:
        file.write_text(file.read_text().replace(old, new))
        importlib.invalidate_caches()
        autoreload.superreload(module)

    yield replaced
    del sys.modules[file.stem]


def _launched(kernel: Any, body: Any) -> float:
    x = wb.zeros(1, device="cpu")
    for _ in range(2):  # the second launch is by the plan of the first
        wb.launch(kernel, 1, [x, body])
    return float(x.numpy()[0])


def test_kernels_and_funcs_are_the_new_ones_wherever_they_were_imported(edit: Callable[[str, str], None]) -> None:
    body = user.Body(mass=3.0)
    assert (_launched(user.step, body), _launched(heavier, body)) == (6.0, 7.0)
    edit("return 2.0 * a", "return 20.0 * a")
    assert (_launched(user.step, user.Body(mass=3.0)), _launched(heavier, body)) == (60.0, 61.0)
    old = user.step
    edit("= twice(b.mass)", "= twice(b.mass) + 5.0")
    assert newest(old) is user.step is not old and old.edition.outdated == "step was redefined in reloaded_by_test"
    assert _launched(user.step, user.Body(mass=3.0)) == 65.0


def test_values_of_a_struct_stay_what_they_are_when_its_fields_change(edit: Callable[[str, str], None]) -> None:
    body = user.Body(mass=3.0)
    assert (_launched(user.step, body), _launched(heavier, body)) == (6.0, 7.0)
    edit("    mass: float", "    charge: float\n    mass: float")
    assert repr(user.Body(mass=2.0)) == "Body(charge=0.0, mass=2.0)" and repr(body) == "Body(mass=3.0)"
    assert _launched(user.step, user.Body(mass=2.0)) == 4.0
    assert (_launched(heavier, user.Body(mass=2.0)), _launched(heavier, body)) == (5.0, 7.0)
    with pytest.raises(LaunchError, match="this Body is another struct"):
        wb.launch(user.step, 1, [wb.zeros(1, device="cpu"), body])
