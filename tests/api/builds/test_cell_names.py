"""Cells of scripts: their own names until they are bound, then what the namespace says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench import events
from workbench.api.builds import keys
from workbench.errors import KernelSyntaxError

HELPER = "def helper(a: float):\n    return a * {}\n"
BOTH = HELPER + "def use(x: array[float]):\n    i = tid()\n    x[i] = helper(x[i])\n"


def result(kernel: Any) -> float:
    x = wb.ones(2, "float32", device="cpu")
    wb.launch(kernel, 2, [x])
    return float(x.numpy()[0])


def test_a_cell_that_nothing_binds_is_complete_in_itself() -> None:
    namespace: dict[str, Any] = {}
    cell = wb.build_cell(BOTH.format(2.0), namespace)
    assert result(cell.kernels["use"]) == 2 and namespace == {}


def test_a_cell_sees_its_own_names_and_not_those_that_it_will_replace() -> None:
    namespace: dict[str, Any] = {}
    wb.build_cell(BOTH.format(2.0), namespace).bind(namespace)
    cell = wb.build_cell(BOTH.format(3.0), namespace)
    assert result(cell.kernels["use"]) == 3 and result(namespace["use"]) == 2


CONSTANTS = """DT = 0.25
TWICE: float = 2 * DT
DOWN = vec3(0.0, -DT, 0.0)
STENCIL = (1.0, -2.0)
def use(x: array[float], by: float = TWICE):
    i = tid()
    x[i] = DT + DOWN[1] + STENCIL[1] + by
"""


def test_constants_stand_above_the_defs_and_are_names_of_the_notebook() -> None:
    namespace: dict[str, Any] = {}
    wb.build_cell(CONSTANTS, namespace).bind(namespace)
    assert namespace["DT"] == 0.25 and namespace["STENCIL"] == (1.0, -2.0) and list(namespace["DOWN"]) == [0, -0.25, 0]
    assert result(namespace["use"]) == -1.5
    namespace["DT"] = 1.0  # as in another cell: the next launch reads it
    assert result(namespace["use"]) == -0.75
    cell = wb.build_cell(CONSTANTS, namespace, constants={"DT": 8.0})
    assert "DT" not in cell.names and result(cell.kernels["use"]) == 8 - 8 - 2 + 16, "the options go before the text"


@pytest.mark.parametrize("line, sentence", [
    ("x0 = wb.zeros(3)", "x0 is an array, which is no constant"),
    ("X = 1 + nothing", "X cannot be evaluated: name 'nothing'"),
    ("a, b = 1, 2", "only defs and constants"), ("X += 1", "only defs and constants"),
])  # fmt: skip
def test_what_is_no_constant_is_refused_at_its_line(line: str, sentence: str) -> None:
    with pytest.raises(wb.WorkbenchError, match=sentence) as caught:
        wb.build_cell(f"# constants\n{line}\n{CONSTANTS}", {"wb": wb})
    assert caught.value.location.line == 2


@pytest.mark.parametrize("how", ["bind", "update"])
def test_once_bound_the_namespace_says_what_a_name_means(how: str) -> None:
    namespace: dict[str, Any] = {}

    def run(text: str) -> None:
        cell = wb.build_cell(text, namespace)
        cell.bind(namespace) if how == "bind" else namespace.update(cell.names)

    run(BOTH.format(2.0))
    run(HELPER.format(5.0))
    assert result(namespace["use"]) == 5
    run(BOTH.format(2.0))
    assert result(namespace["use"]) == 2
    del namespace["helper"]
    with pytest.raises(KernelSyntaxError, match="helper is not defined"):
        result(namespace["use"])


def test_binding_says_whose_kernels_get_something_else() -> None:
    namespace: dict[str, Any] = {}
    said: list[str] = []
    wb.build_cell(BOTH.format(2.0), namespace, name="cell [4]").bind(namespace)
    unsubscribe = events.subscribe(lambda e: said.append(e.message), events.Remark)
    try:
        wb.build_cell(HELPER.format(5.0), namespace, name="cell [5]").bind(namespace)
    finally:
        unsubscribe()
    assert said == ["use (cell [4]) now calls this helper"]


def test_the_reason_for_a_recompile_names_the_text_and_not_options_of_other_builds(own_cache: Path) -> None:
    name = f"reason_{own_cache.name}"  # which no earlier build had
    text = f"def {name}(x: array[float]):\n    x[tid()] = {{}}\n"
    wb.build_cell(text.format("1.0 + 2.0 * x[tid()]"), {}, checks=True)
    wb.build_cell(text.format("1.0 + 2.0 * x[tid()]"), {}, checks=False)
    assert keys.why(name) == ("option checks: on → off",)
    wb.build_cell(text.format("4.0 * sin(x[tid()])"), {}, checks=True)
    assert keys.why(name) == ("code changed",)
    wb.build_cell(text.format("5.0 * cos(x[tid()])"), {}, fast_math=True, checks=True)
    assert keys.why(name)[0] == "code changed"
