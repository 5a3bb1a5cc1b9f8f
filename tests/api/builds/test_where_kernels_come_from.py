"""Kernels of classes, of decorated functions, of `exec`, of a REPL, and of two modules with one name."""

from __future__ import annotations

import functools
import linecache
import sys
import types
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import KernelSyntaxError, LaunchError, WorkbenchError


def first_of(kernel, *numbers) -> float:
    x = wb.zeros(1, float)
    wb.launch(kernel, 1, inputs=[x, *numbers])
    return float(x.numpy()[0])


def keeping(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)

    return inner


class Tools:
    FACTOR = 7.0

    @staticmethod
    @wb.kernel
    def one(x: wb.array[float]):
        x[wb.tid()] = 1.0

    @wb.kernel
    @staticmethod
    def two(x: wb.array[float]):
        x[wb.tid()] = 2.0

    @wb.func
    def triple(a):
        return a * 3.0


def test_static_methods_funcs_and_constants_of_a_class():
    @wb.kernel
    def k(x: wb.array[float]):
        x[wb.tid()] = Tools.triple(2.0) + Tools.FACTOR

    assert (first_of(Tools.one), first_of(Tools().two), first_of(k)) == (1.0, 2.0, 13.0)


def test_a_decorator_below_that_keeps_the_function_it_wraps():
    by = 3.0

    @wb.kernel
    @keeping
    @keeping
    def k(x: wb.array[float]):
        x[wb.tid()] = by

    assert first_of(k) == 3.0


def test_a_decorator_above_is_refused_at_the_launch():
    @keeping
    @wb.kernel
    def k(x: wb.array[float]):
        x[wb.tid()] = 3.0

    with pytest.raises(LaunchError, match=r"Put @wb\.kernel above the other decorators"):
        first_of(k)


TEXT = """
import workbench as wb

C = 4.0

def make():
    def k(x: wb.array[float]):
        x[0] = 1.0

    return k

@wb.func(source=TEXT)
def f(a):
    return a * C

@wb.kernel(source=TEXT)
def k(x: wb.array[float]):
    x[wb.tid()] = f(2.0)
"""


def test_exec_with_its_text():
    space = {"TEXT": TEXT}
    exec(TEXT, space)
    assert first_of(space["k"]) == 8.0
    assert space["k"].place.line == 17
    space["C"] = 5.0
    assert first_of(space["k"]) == 10.0
    assert first_of(wb.kernel(space["make"](), source=TEXT)) == 1.0  # the other k of the text


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (None, "The source code of k cannot be found.  Pass it: wb.kernel(function, source=text)."),
        ("def other():\n    pass\n", "The source code given for k has no def k that compiles to it."),
        ("def k(:\n    pass\n", "The source code of k is not Python: invalid syntax."),
        (f"def k():\n    y = {'-' * 30_000}1\n", "The source code of k is nested too deeply."),
    ],
)
def test_exec_without_its_text_is_refused(source, sentence):
    space: dict = {"wb": wb}
    exec("def k(x: wb.array[float]):\n    x[0] = 1.0\n", space)
    with pytest.raises(KernelSyntaxError) as caught:
        wb.kernel(space["k"], source=source)
    assert sentence in caught.value.render()


def test_an_error_in_given_text_stands_at_its_line():
    text = "import workbench as wb\n\ndef k(x: wb.array[float]):\n    x[0] = nowhere\n"
    space: dict = {}
    exec(text, space)
    with pytest.raises(WorkbenchError) as caught:
        first_of(wb.kernel(space["k"], source=text))
    assert caught.value.location.line == 4 and caught.value.location.excerpt().splitlines()[0] == "    x[0] = nowhere"


def test_a_repl_that_keeps_what_was_typed(monkeypatch):
    """Python 3.13 and later keep each input in `linecache` under a name like this."""
    text, name = "@wb.kernel\ndef k(x: wb.array[float], a: float):\n    x[wb.tid()] = a\n", "<python-input-3>"
    monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(keepends=True), name))
    module = types.ModuleType("typed")
    monkeypatch.setitem(sys.modules, "typed", module)
    module.__dict__["wb"] = wb
    exec(compile(text, name, "exec"), module.__dict__)
    assert first_of(module.k, 2.5) == 2.5
    assert str(module.k.place) == "<python-input-3>, line 2"


def test_two_kernels_of_one_name_in_two_modules(tmp_path: Path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []
    for name, number in (("first_place", 1.0), ("second_place", 2.0)):
        text = f"import workbench as wb\nC = {number}\n@wb.kernel\ndef k(x: wb.array[float]):\n    x[wb.tid()] = C\n"
        (tmp_path / f"{name}.py").write_text(text)
        made.append(__import__(name).k)
        monkeypatch.delitem(sys.modules, name)
    assert [first_of(k) for k in made] == [1.0, 2.0]
    assert [first_of(k) for k in reversed(made)] == [2.0, 1.0]
