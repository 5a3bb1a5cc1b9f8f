"""What a name of another cell means to a kernel: in a real shell, with the real library."""

from __future__ import annotations

from typing import Any

import pytest

HELPER = "def helper(a: float):\n    return a * {}\n"
USE = "def use(x: array[float]):\n    i = tid()\n    x[i] = helper(x[i])\n"
START = "import workbench as wb\nx = wb.ones(2, 'float32', device='cpu')"
LAUNCH = "x.fill_(1.0)\nwb.launch(use, 2, [x])\nprint('gives', x.numpy()[0])"


@pytest.fixture
def shell(session: Any) -> Any:
    session.run("%load_ext kernel_ext")
    session.run(START)
    return session


def kernels(text: str, name: str = "") -> str:
    return f"%%kernel{' -n ' + name if name else ''}\n{text}"


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(
    "edit", ["%%kernel\n" + HELPER.format(3.0), "@wb.func\ndef helper(a: float):\n    return a * 3"]
)
def test_a_helper_is_looked_up_when_it_is_used_whichever_cell_it_came_from(
    shell: Any, together: bool, edit: str
) -> None:
    if together:
        shell.run(kernels(HELPER.format(2.0) + USE))
    else:
        shell.run(kernels(HELPER.format(2.0)))
        shell.run(kernels(USE))
    assert "gives 2.0" in shell.run(LAUNCH)
    shell.run(edit)
    assert "gives 3.0" in shell.run(LAUNCH)
    shell.run(kernels(HELPER.format(2.0) + USE))
    assert "gives 2.0" in shell.run(LAUNCH), "running a cell again binds its names again"


def test_the_card_of_the_cell_that_changed_something_says_for_whom(shell: Any) -> None:
    shell.run(kernels(HELPER.format(2.0) + USE, "motion"))
    shell.run(LAUNCH)
    assert "  use (motion) now calls this helper\n" in shell.run(kernels(HELPER.format(3.0)))
    shell.run(LAUNCH)
    again = shell.run(kernels("# the same\n" + HELPER.format(3.0)))
    assert "now calls" not in again, "the same text is no change"
    third = shell.run(kernels("def third(a: float):\n    return a\n"))
    assert "now calls" not in third, "nobody uses it"


def test_a_helper_of_a_helper_counts(shell: Any) -> None:
    shell.run(kernels("def inner(a: float):\n    return a * 2.0\ndef helper(a: float):\n    return inner(a)\n" + USE))
    assert "gives 2.0" in shell.run(LAUNCH)
    assert "now calls this inner" in shell.run(kernels("def inner(a: float):\n    return a * 7.0\n"))
    assert "gives 7.0" in shell.run(LAUNCH)


def test_a_broken_or_deleted_helper_is_an_error_where_it_is_used(shell: Any) -> None:
    shell.run(kernels(HELPER.format(2.0), "h"))
    shell.run(kernels(USE))
    shell.run(LAUNCH)
    shell.run(kernels("def helper(a: float):\n    return a *\n", "h"))
    shell.run(LAUNCH)
    said = "\n".join(shell.errors)
    assert (
        "helper is out of date: h, which defines helper, no longer compiles." in said and "x[i] = helper(x[i])" in said
    )
    shell.run(kernels("def other(a: float):\n    return a\n", "h"))
    shell.run(LAUNCH)
    assert "h was run again and no longer defines helper" in "\n".join(shell.errors)
    shell.run(kernels(HELPER.format(4.0), "h"))
    assert "gives 4.0" in shell.run(LAUNCH)
    shell.run("del helper")
    shell.run(LAUNCH)
    assert "The name helper is not defined" in "\n".join(shell.errors)


def test_structs_constants_and_modules_are_looked_up_as_well(shell: Any) -> None:
    struct = "@struct\nclass P:\n    a: float\n    b: float\n"
    use = "def use(ps: array[P], x: array[float]):\n    i = tid()\n    x[i] = ps[i].b + K + lib.SHIFT\n"
    launch = "ps = wb.zeros(2, P, device='cpu')\nwb.launch(use, 2, [ps, x])\nprint('gives', x.numpy()[0])"
    shell.run("from types import ModuleType\nlib = ModuleType('lib')\nlib.SHIFT = 1.0\nK = 2.0")
    shell.run(kernels(struct + use))
    assert "gives 3.0" in shell.run(launch)
    shell.run("K = 4.0\nlib.SHIFT = 2.0")
    assert "gives 6.0" in shell.run(launch)
    assert "now uses this P" in shell.run(kernels(struct + "    c: vec3\n"))
    shell.run("old = ps")
    assert "gives 6.0" in shell.run(launch)
    shell.run("wb.launch(use, 2, [old, x])")
    assert "another struct" in "\n".join(shell.errors)


def test_what_a_reader_may_not_have_meant_is_on_the_card(shell: Any) -> None:
    twice = "def step(x: array[float]):\n    x[tid()] = 1.0\n"
    shown = shell.run(kernels(twice + twice + "def print(a: float):\n    return a\n"))
    assert "  step is defined twice in this cell; the last one counts\n" in shown
    assert "  print hides Python's own print in this notebook; `del print` brings that back\n" in shown
    assert "twice" not in shell.run(kernels("def f(a: float):\n    return a\ndef f(a: int):\n    return a\n")), (
        "versions"
    )
