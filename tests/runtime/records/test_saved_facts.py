"""What an analysis derived from a kernel's IR is read from the user's own file, if it is the same analysis and IR."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.api.lowerings import lowering
from workbench.runtime.records.archive import pack, unpack

Module = dict[str, Any]


@wb.kernel
def add_up(x: wb.array(dtype=float), total: wb.array(dtype=float)):
    i = wb.tid()
    total[0] += x[i] * x[i]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    x, total = wb.array(np.arange(1000, dtype=np.float32), device="cpu"), wb.zeros(1, device="cpu")
    with wb.record(inputs=True) as rec:
        wb.launch(add_up, 1000, [x], [total])
    path = tmp_path / "run.wbr"
    rec.save(path)
    path.chmod(0o600)
    return path


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the analyses that ran."""
    ran: list[str] = []
    for name in ("adds_alone", "function_parts"):
        real = getattr(lowering, name)
        monkeypatch.setattr(lowering, name, lambda *a, _real=real, _name=name: (ran.append(_name), _real(*a))[1])
    return ran


def replayed(path: Path) -> float:
    rec = wb.load_record(path)
    rec.replay()
    return float(rec.find("total").numpy()[0])


def edited(path: Path, change: Callable[[Module, dict[str, bytes]], None]) -> Path:
    told, members = unpack(path.read_bytes())
    told = json.loads(json.dumps(told))
    change(told["modules"][0], members)
    path.write_bytes(pack(told, members))
    return path


WANTED = float(np.sum(np.arange(1000, dtype=np.float64) ** 2))


def test_the_users_own_file_has_them(file: Path, derived: list[str]) -> None:
    assert replayed(file) == pytest.approx(WANTED, rel=1e-5)
    assert not derived
    told, _ = unpack(file.read_bytes())
    assert told["modules"][0]["facts"]["adds_alone"] is True


def test_they_are_those_that_would_be_derived(file: Path, tmp_path: Path) -> None:
    """A record of a record has the same facts, whether they were read or derived."""
    facts = []
    for change in (lambda m, _: None, lambda m, _: m.pop("facts")):
        again = tmp_path / "again.wbr"
        wb.load_record(edited(file, change)).save(again)
        facts.append(unpack(again.read_bytes())[0]["modules"][0]["facts"])
    assert facts[0] == facts[1]


def another_digest(module: Module, members: dict[str, bytes]) -> None:
    module["facts"]["digest"] = "0" * 64


def another_ir(module: Module, members: dict[str, bytes]) -> None:
    members[module["member"]] += b" "


def an_old_file(module: Module, members: dict[str, bytes]) -> None:
    del module["facts"]


def no_facts(module: Module, members: dict[str, bytes]) -> None:
    module["facts"] = {"adds_alone": "yes"}


@pytest.mark.parametrize("change", [another_digest, another_ir, an_old_file, no_facts])
def test_others_are_derived_again(
    file: Path, derived: list[str], change: Callable[[Module, dict[str, bytes]], None]
) -> None:
    assert replayed(edited(file, change)) == pytest.approx(WANTED, rel=1e-5)
    assert {"adds_alone", "function_parts"} <= {*derived}


def test_those_of_somebody_elses_file_are_derived_again(
    file: Path, derived: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def claim(module: Module, members: dict[str, bytes]) -> None:
        module["facts"]["adds_alone"] = False

    edited(file, claim)
    somebody = frozenset({file.stat().st_uid + 1})
    monkeypatch.setattr("workbench.api.load_record.own", lambda: somebody)
    assert replayed(file) == pytest.approx(WANTED, rel=1e-5)
    assert {"adds_alone", "function_parts"} <= {*derived}
