"""Kernels whose adjoint would not be right: refused at the line that prevents it, saying what to do."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from tests.support.checks.numeric import I1, X1, X2, kernel
from workbench.autodiff import adjoint
from workbench.builtins import TABLE
from workbench.errors import NotDifferentiable
from workbench.types import float64, int32

# Body of a kernel (x, y, w, at, a, n), the text of the line it is refused at, part of the message.
REFUSED: dict[str, tuple[str, str, str]] = {
    "a predicate from another thread's element": (
        "if x[0] > 0.9:\n        y[i] = y[i] * a\n    x[i] = 2.0", "if x[0] > 0.9:", "x is overwritten"
    ),
    "an index, perhaps overwritten": ("at[at[0]] = 0\n    y[i] = x[at[i]]", "y[i] = x[at[i]]", "at is overwritten"),
    "overwritten in another iteration": (
        "for j in range(1, n):\n        w[i, j] = w[i, j - 1] * w[i, j]",
        "w[i, j] = w[i, j - 1] * w[i, j]",
        "w is overwritten",
    ),
    "the old value of an atomic": (
        "s = atomic_add(x, 0, 1.0)\n    y[i] = s * s", "s = atomic_add(x, 0, 1.0)", "old value"
    ),
    "the old value of a counter": ("""j = atomic_add(at, 0, 1)
    y[j] = x[i]""", "j = atomic_add(at, 0, 1)", "old value"),
    "another thread's element": ("y[i] = x[i]\n    x[i] = y[(i + 1) % n]", "x[i] = y[(i + 1) % n]", "another thread"),
    "shifted": ("if i > 0:\n        x[i] = x[i - 1] + a", "x[i] = x[i - 1] + a", "another thread"),
    "a sum into one element": ("y[0] = y[0] + x[i]", "y[0] = y[0] + x[i]", "another thread"),
    "assigned and added": ("""y[i] = x[i]
    atomic_add(y, at[i], x[i])""", "atomic_add(y, at[i], x[i])", "both assigned"),
    "added and read": ("atomic_add(y, at[i], x[i])\n    x[i] = y[i] * a", "x[i] = y[i] * a", "another thread"),
    "one row of two indices": ("""i2 = i + 0 * i
    w[0, i2] = w[i, 0] + a""", "w[0, i2] = w[i, 0] + a", "another thread"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_at_its_line(name: str) -> None:
    body, line, message = REFUSED[name]
    text = f"def k(x, y, w, at, a, n):\n    i = tid()\n    {body}"
    function = kernel(text, {"x": X1, "y": X1, "w": X2, "at": I1, "a": float64, "n": int32})
    with pytest.raises(NotDifferentiable, match=re.escape(message)) as caught:
        adjoint(function)
    error = caught.value
    assert error.location is not None and error.location.source.line(error.location.line).strip() == line
    assert error.function == "k"
    assert error.advice.endswith(".")


def test_a_kernel_that_never_asks_for_its_thread_owns_nothing() -> None:
    function = kernel("def k(x):\n    x[0] = x[0] + 1.0", {"x": X1})
    with pytest.raises(NotDifferentiable, match="another thread"):
        adjoint(function)


def test_one_of_two_thread_indices_is_not_enough() -> None:
    function = kernel("def k(x):\n    i, j = tid()\n    x[i] = x[i] + 1.0", {"x": X1})
    with pytest.raises(NotDifferentiable, match="another thread"):
        adjoint(function)


def test_a_builtin_without_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    function = kernel("def k(x, y):\n    i = tid()\n    t = float64(1.0)\n    y[i] = cbrt(x[i])", {"x": X1, "y": X1})
    bare = replace(TABLE["cbrt"], gradient=None, differentiable="no: nobody has worked it out")
    monkeypatch.setitem(TABLE, "cbrt", bare)
    with pytest.raises(NotDifferentiable, match=r"cbrt\(\) has no derivative: nobody has worked it out") as caught:
        adjoint(function)
    assert caught.value.location is not None and caught.value.location.line == 4


def test_the_need_is_found_through_what_a_branch_yields() -> None:
    text = "def k(x, y, n):\n    i = tid()\n    x[i, n] = 2.0\n    v = y[i]\n    w = v * 0.5\n"
    text += "    if v > 1.0:\n        w = x[i, 0]\n    y[i] = w\n    v = v * w\n    y[i] = v"
    with pytest.raises(NotDifferentiable, match=r"the value it had here \(line 9\)"):
        adjoint(kernel(text, {"x": X2, "y": X1, "n": int32}))


def test_a_builtin_without_a_rule_is_no_matter_where_nothing_depends_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def k(x, y):\n    i = tid()\n    y[i] = x[i] * float64(int(cbrt(x[i])))"
    function = kernel(text, {"x": X1, "y": X1})
    monkeypatch.setitem(TABLE, "cbrt", replace(TABLE["cbrt"], gradient=None))
    assert "cbrt" in {op.name for op in adjoint(function).body.ops}


def test_the_need_of_an_overwritten_value_is_named() -> None:
    text = "def k(x):\n    i = tid()\n    x[i, 0] = 2.0\n    t = x[i, int(x[i, 1])]\n    x[i, 1] = t * t"
    function = kernel(text, {"x": X2})
    with pytest.raises(NotDifferentiable, match=r"the value it had here \(line 5\)") as caught:
        adjoint(function)
    assert caught.value.location is not None and caught.value.location.line == 4


def test_the_adjoint_of_a_loop_backwards_from_kept_states() -> None:
    text = (
        "def k(x, y, n):\n    i = tid()\n    s = x[i]\n    for j in range(n):\n        s = sin(s * x[j])\n    y[i] = s"
    )
    function = kernel(text, {"x": X1, "y": X1, "n": int32})
    with pytest.raises(NotDifferentiable, match="backwards from states that were kept"):
        adjoint(adjoint(function))
