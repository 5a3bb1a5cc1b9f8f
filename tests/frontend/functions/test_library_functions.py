"""Functions of the language that are written in it: what a user's kernel shows of them, and what it does not."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from workbench.builtins import FORMS
from workbench.frontend.functions import inline, library
from workbench.frontend.state.definition import Definition
from workbench.frontend.statements.lower import lower
from workbench.ir.values import walk

WRITTEN = sorted(name for name, form in FORMS.items() if form.body is not None)
SEARCHES = """
@kernel
def k(x: array[float], wide: array[float], y: array[int]):
    y[0] = lower_bound(x, 1.0)
    y[1] = lower_bound(x, 2.0)
    y[2] = lower_bound(x, 3.0)
    y[3] = lower_bound(x, 4.0)
"""


@pytest.mark.parametrize("name", WRITTEN)
def test_the_function_found_in_the_source_is_the_declared_one(name: str) -> None:
    definition = library.definition_of(FORMS[name])
    body = FORMS[name].body
    assert body is not None
    assert definition.node.name == body.__name__
    assert [p.arg for p in definition.parameters] == list(body.__code__.co_varnames[: body.__code__.co_argcount])
    assert definition.library


@pytest.fixture(autouse=True)
def lowered_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests lowered is not known."""
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))


def test_a_function_is_parsed_when_a_kernel_calls_it_and_once() -> None:
    library.parsed.cache_clear()
    text = "@kernel\ndef k(y: array[float]):\n    state = rand_init(1)\n    y[0] = randn(state)\n"
    define("@kernel\ndef k(y: array[float]):\n    y[0] = sin(y[0])\n")
    assert library.parsed.cache_info().currsize == 0
    define(text)
    parsed = library.parsed.cache_info().misses
    assert parsed == 3  # rand_init, randn, and the randf in it
    define(text)
    assert library.parsed.cache_info().misses == parsed


def test_a_function_is_lowered_once_for_arguments_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    inline._LIBRARY.clear()
    lowered = []
    prepared = inline.prepared

    def noted(definition: Definition) -> Sequence[ast.stmt]:
        lowered.append(definition.name)
        return prepared(definition)

    monkeypatch.setattr(inline, "prepared", noted)
    for name in ("first", "second"):
        lines = "".join(f"    y[{n}] = noise(state, vec2(y[{n}], 0.5))\n" for n in range(3))
        define(f"@kernel\ndef {name}(y: array[float]):\n    state = rand_init(1, tid())\n{lines}")
    of_library = [name for name in lowered if name not in ("first", "second")]
    assert {"noise", "_noise", "rand_init"} <= set(of_library)
    again = {name for name in of_library if of_library.count(name) > 1}
    assert again == {"_sides", "_slope"}  # of the component that is a literal, and of the other axis


def test_every_operation_stands_at_its_call() -> None:
    inline._LIBRARY.clear()
    function = define(SEARCHES)["k"].specialise().function
    lines = [(op.name, op.location.line) for op in walk(function.body) if op.name in ("while", "load", "store")]
    assert lines == [(name, line) for line in (3, 4, 5, 6) for name in ("while", "load", "store")]


def test_an_error_inside_points_at_the_call() -> None:
    text = "@kernel\ndef k(y: array[float]):\n    state = rand_init(1)\n    y[0] = randf(state, vec2(), vec3())\n"
    with pytest.raises(wb.KernelTypeError) as caught:
        define(text)
    location = caught.value.location
    assert location is not None and location.line == 4
    assert "randf(state, vec2(), vec3())" in location.excerpt()


def test_a_kernel_depends_on_no_name_of_the_library() -> None:
    kernel = define(SEARCHES)["k"]
    assert {w.path for w in kernel.specialise().watched} == {"lower_bound"}


def test_stepping_shows_a_call_as_one_statement() -> None:
    x, y = np.array([1.0, 2.0], np.float32), np.zeros(4, np.int32)
    steps = wb.step(define(SEARCHES)["k"], 1, [x, x], [y], thread=0)
    assert [s.line for s in steps[:4]] == [3, 4, 5, 6]


def test_the_third_search_is_an_index_that_needs_no_wrapping_either() -> None:
    inline._LIBRARY.clear()
    text = "@kernel\ndef k(x: array[float], y: array[float]):\n    i = tid()\n"
    text += "".join(f"    y[{n}] = x[lower_bound(x, {n}.0)]\n" for n in range(5))
    function = define(text)["k"].specialise().function
    assert "wrap_index" not in [op.name for op in walk(function.body)]


def test_a_func_called_with_arrays_of_two_sizes_is_not_one_func() -> None:
    """A call with int32 sizes is no pattern for one with int64 sizes."""
    text = """
    def size(a):
        return len(a)

    @kernel
    def k(x: array[float], y: array[int64]):
        y[0] = int64(size(y)) + int64(size(y)) + int64(size(y)) + int64(size(x))
    """
    kernel = define(text)["k"]
    types = {p.name: p.type for p in kernel.specialise().function.params}
    wide = {**types, "y": wb.types.ArrayType(types["y"].dtype, wide=True)}
    found = lower(kernel.definition, wide).function
    sizes = [repr(op.result.type) for op in walk(found.body) if op.name == "shape"]
    assert sorted(sizes) == ["int32", "int64"]
