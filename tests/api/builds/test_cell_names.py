"""Cells of scripts: their own names until they are bound, then what the namespace says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench import events
from workbench.api.builds import build
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
    assert build.why(name) == ("option checks: on → off",)
    wb.build_cell(text.format("4.0 * sin(x[tid()])"), {}, checks=True)
    assert build.why(name) == ("code changed",)
    wb.build_cell(text.format("5.0 * cos(x[tid()])"), {}, fast_math=True, checks=True)
    assert build.why(name)[0] == "code changed"
