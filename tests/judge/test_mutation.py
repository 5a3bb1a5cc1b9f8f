"""The faults that are put into the compiler: what they are, what they leave alone, and that the harness sees one."""

from __future__ import annotations

import pickle
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.judge.mutation.__main__ import ROOT, Server, drawn
from tests.judge.mutation.battery import Case, Item, items
from tests.judge.mutation.mutants import ELSEWHERE, KINDS, Mutant, compiles, of_file
from tests.judge.programs.building import floats, output, program

SOURCE = b'''
"""A docstring with 1 < 2."""
LIMIT = 16


def scaled(value: int = 3, *, name: str = "x") -> int:
    """Return it."""
    assert value > 0
    if value < 10 and name in ("x", "y"):
        record.append(value - 2)
        return value * 2
    advice = "Write less." if value != 50 else "Write a number."
    if value > 100:
        raise ValueError(f"{value + 1} is too large")
    if value == 60:
        raise context.error(TypeError, "no")
    operation.location = value - 70
    return pair(value, name)


def cost(value: int) -> int:
    return value + 7
'''


def changes(source: bytes) -> dict[str, list[str]]:
    """The texts that the faults of a file put into it, by kind."""
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for mutant in of_file("workbench/frontend/sample.py", source):
        found[mutant.kind].append(f"{source[mutant.start : mutant.end].decode()} -> {mutant.text}")
    return found


def test_each_kind_of_fault_is_there() -> None:
    found = changes(SOURCE)
    assert found["comparison"] == [" <  ->  <= ", " in  ->  not in "]
    assert found["swapped operands"] == ["value - 2 -> 2 - value", "value, name -> name, value"]
    assert found["dropped statement"] == ["record.append(value - 2) -> pass"]
    assert found["and/or"] == [" and  ->  or "]
    assert found["operator"] == [" -  ->  + ", " *  ->  + "]
    assert any(text.startswith("value < 10 and") for text in found["negated condition"])
    assert "3 -> (3 + 1)" in found["constant"]


@pytest.mark.parametrize("left_alone", [
    "LIMIT", "16", "too large", "assert", "50", "7", "1 < 2", "value + 1", "60", "70", "100",
])  # fmt: skip
def test_messages_limits_costs_and_checks_are_left_alone(left_alone: str) -> None:
    texts = [text for found in changes(SOURCE).values() for text in found]
    assert not any(left_alone in text for text in texts)


def test_a_refusal_behind_the_front_end_is_a_fault_as_others_are() -> None:
    """A derivative that is not refused any more may be wrong."""
    found = of_file("workbench/autodiff/sample.py", b"if shared > 1:\n    raise Refused\n")
    assert {m.text for m in found} >= {" >= ", "(not (shared > 1))"}


def test_every_fault_of_a_sample_compiles_and_changes_the_tree() -> None:
    sample = list(islice(drawn(seed=3), 40))
    assert len({m.name for m in sample}) == 40
    for mutant in sample:
        source = (ROOT / mutant.file).read_bytes()
        assert compiles(mutant.applied(source))
        assert mutant.applied(source) != source


def test_a_seed_draws_the_same_faults() -> None:
    names = [m.name for m in islice(drawn(seed=1, only="passes/fold"), 20)]
    assert names == [m.name for m in islice(drawn(seed=1, only="passes/fold"), 20)]
    assert names != [m.name for m in islice(drawn(seed=2, only="passes/fold"), 20)]


def test_files_that_serve_something_else_exist() -> None:
    assert all((ROOT / file).exists() for file in ELSEWHERE)


def test_the_battery_has_each_kind_of_path() -> None:
    paths = {case.path for item in items() for case in item.cases}
    assert paths >= {"cpu", "cpu, checks", "cpu, strided", "cpu, in parts", "tape", "tangent", "jax, vmap of grad"}


HALF = program("half", "i = wb.tid()\ny[i] = x[i] / 2.0", {"x": floats(9), "y": output(9)}, (9,), smooth=True)


def test_an_item_learns_from_the_oracle() -> None:
    """Its answers are the oracle's, and what the path does not run is left out."""
    learned = Item("half", [Case(HALF, "cpu"), Case(HALF, "tape")]).learned(nullcontext())
    values, gradient = (case.answer for case in learned.cases)
    assert values.cells["y"] == [v / 2 for v in HALF.arrays["x"].values]
    assert gradient.values["x"].tolist() == pytest.approx(HALF.cotangents()["y"] / 2)


def fault(file: str, before: str, after: str) -> Mutant:
    """A fault made by hand."""
    source = (ROOT / file).read_bytes()
    start = source.index(before.encode())
    line = source[:start].count(b"\n") + 1
    return Mutant(file, line, "operator", start, start + len(before.encode()), after)


@pytest.mark.slow
def test_the_harness_sees_a_fault_and_only_a_fault(tmp_path: Path) -> None:
    learned = Item("half", [Case(HALF, "cpu"), Case(HALF, "tape")]).learned(nullcontext())
    (tmp_path / "items").write_bytes(pickle.dumps([learned]))
    server = Server(tmp_path / "items")

    def verdict(file: str = "") -> dict[str, Any]:
        return server.ask(items=[0], budget=120, objects=str(tmp_path), file=file)

    try:
        first = verdict()
        assert (first["verdict"], first["changed"] > 0) == ("survived", True)
        wrong = fault(
            "workbench/frontend/expressions/expression_table.py", '"div", _PYTHON.truediv', '"mul", _PYTHON.truediv'
        )
        server.mutate(wrong)
        assert verdict(wrong.file)["verdict"] in ("wrong", "crash", "refused")
        server.restore(wrong)
        again = verdict()
        assert (again["verdict"], again["changed"]) == ("survived", 0)
    finally:
        server.close()
