"""Stepping one thread: every name at every statement, what was touched, the stack of calls, faults, limits."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from workbench.api.diagnosis.stepper import Access

TEXT = """
def total(a: float, n: int):
    s = 0.0
    for j in range(n):
        if j == 2:
            break
        s += a
    return s

def k(x: array[float], y: array[float]):
    i = tid()
    two = 2
    alias = x
    v = vec2(x[i], 0.1)
    if x[i] < 0.0:
        return
    y[i] = total(v.x, 5) * two
    while two < 4:
        two += 1
    print("two", two)
    y[i] += 1.0
"""


def stepped(thread: int = 1, **options):
    arrays = [np.array([1, 2, -3], np.float32), np.zeros(3, np.float32)]
    kernel = meaning.define(TEXT)["k"]
    found = wb.step(kernel, 3, arrays[:1], arrays[1:], thread=thread, **options)
    assert arrays[0].tolist() == [1, 2, -3] and arrays[1].tolist() == [0, 0, 0], "the arguments were changed"
    return found


def test_lines_in_the_order_in_which_they_run(capsys):
    steps = stepped()
    shown = [s.source.strip() for s in steps]
    assert shown == [
        "i = tid()", "two = 2", "alias = x", "v = vec2(x[i], 0.1)", "if x[i] < 0.0:", "y[i] = total(v.x, 5) * two",
        "s = 0.0", "for j in range(n):", "if j == 2:", "s += a", "if j == 2:", "s += a", "if j == 2:", "return s",
        "while two < 4:", "two += 1", "two += 1", 'print("two", two)', "y[i] += 1.0", "",
    ]  # fmt: skip
    assert [s.number for s in steps] == list(range(len(steps)))
    assert steps[0].line == 10 and steps[6].line == 2
    assert steps[17].printed == "two 4\n"
    assert capsys.readouterr().out == ""


def test_all_names_before_each_statement():
    steps = stepped()
    assert steps[0].names == {"x": (1.0, 2.0, -3.0), "y": (0.0, 0.0, 0.0)}
    assert steps[3].names == {**steps[0].names, "i": 1, "two": 2, "alias": (1.0, 2.0, -3.0)}
    assert steps[4].names["v"] == (2.0, 0.1)
    assert [s.names["two"] for s in steps[14:]] == [2, 2, 3, 4, 4, 4]
    assert steps[-1].names["y"] == (0.0, 9.0, 0.0)


def test_calls_are_a_stack():
    steps = stepped()
    inner = steps[11]
    assert [f.function for f in inner.stack] == ["k", "total"]
    assert inner.function == "total"
    assert inner.names == {"a": 2.0, "n": 5, "s": 2.0, "j": 1}
    assert inner.stack[0].line == steps[5].line
    assert inner.stack[0].names == steps[5].names
    assert len(steps[14].stack) == 1


def test_what_a_statement_touches_belongs_to_it():
    steps = stepped()
    assert steps[3].accesses == (Access("load", "x", (1,), 2.0),)
    assert steps[5].accesses == (Access("store", "y", (1,), 8.0),)
    assert steps[18].accesses == (Access("add", "y", (1,), 1.0),)
    assert steps[9].accesses == ()


def test_an_early_return_ends_it():
    steps = stepped(2)
    assert steps[-1].source.strip() == "return"
    assert not steps[-1].fault


@pytest.mark.parametrize(
    ("body", "line", "fault"),
    [
        ("a = x[i]\n    x[a + 10] = 1", 4, "x[11] is out of range: x has shape (3,)."),
        ('assert x[i] > 5, "too small"', 3, "too small"),
        ("for j in range(0, 3, x[i] - 1):\n        x[j] = 0", 3, "The step of range() is 0."),
    ],
)
def test_a_fault_is_in_the_last_step(body, line, fault):
    kernel = meaning.define(f"def k(x: array[int]):\n    i = tid()\n    {body}\n    x[i] = 7\n")["k"]
    steps = wb.step(kernel, 3, [np.ones(3, np.int32)])
    assert steps[-1].line == line
    assert fault in steps[-1].fault
    assert not any(s.fault for s in steps[:-1])
    assert "fault: " in str(steps)


def test_a_step_is_frozen_and_the_limit_is_told():
    steps = stepped(limit=7)
    assert len(steps) == 7
    assert steps.note == "stopped after 7 steps; step(…, limit=…) goes further"
    assert str(steps).endswith(steps.note)
    with pytest.raises(AttributeError):
        steps[0].line = 3  # type: ignore[misc]
    assert stepped().note == ""


def test_the_table():
    rows = str(stepped()).splitlines()
    assert rows[0] == "k, thread 1"
    assert rows[1].split() == ["step", "line", "statement", "names", "memory"]
    assert rows[6].split() == ["4", "14", "if", "x[i]", "<", "0.0:", "v=(2.0,", "0.1)", "load", "x[1]", "2.0"]
    assert rows[8].startswith("6     2       s = 0.0")


def test_large_arrays_are_named_and_generics_and_arrays_of_ours_work():
    kernel = meaning.define("def k(x, m, b: bool):\n    i, j = tid()\n    m[i, j] = x[i] if b else 0.0\n")["k"]
    x, m = wb.array(np.arange(100.0)), wb.zeros((2, 2), dtype=wb.float64)
    steps = wb.step(kernel, (2, 2), [x, m, True], thread=(1, 0))
    assert steps[-1].names == {"x": "array of shape (100,)", "m": ((0.0, 0.0), (1.0, 0.0)), "b": True, "i": 1, "j": 0}
    assert m.numpy().sum() == 0


def test_constants_tuples_and_unrolled_loops():
    text = "def k(y: array[float]):\n    pair = (1, 2.5)\n    for f, c in zip((sin, cos), static(range(2))):\n"
    text += "        y[c] = f(W) + pair[1]\n"
    steps = wb.step(meaning.define(text, {"W": 0.0})["k"], 1, [np.zeros(2, np.float32)])
    assert [s.line for s in steps] == [2, 3, 3, 4, 3, 4, 4]
    assert steps[2].names["pair"] == (1, 2.5)
    assert [steps[n].names["c"] for n in (3, 5)] == [0, 1]
    assert steps[-1].names["y"] == (2.5, 3.5)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"thread": 3}, "There is no thread (3,)"),
        ({"thread": (0, 0)}, "There is no thread (0, 0)"),
        ({"dim": (2, 2), "thread": (0, 0)}, "asks tid() for 1 index; dim has 2"),
        ({"inputs": []}, "takes 1 argument; x is missing"),
        ({"inputs": [3.0]}, "x"),
    ],
)
def test_refused(options, sentence):
    kernel = meaning.define("def k(x: array[float]):\n    x[tid()] = 1.0\n")["k"]
    given = {"dim": 3, "inputs": [np.zeros(3, np.float32)], **options}
    with pytest.raises(wb.LaunchError) as caught:
        wb.step(kernel, **given)
    assert sentence in caught.value.render()


def test_a_traced_kernel_is_not_the_one_that_is_compiled():
    kernel = meaning.define("def k(x: array[float]):\n    x[tid()] = 1.0\n")["k"]
    before = kernel.specialise().function
    wb.step(kernel, 1, [np.zeros(1, np.float32)])
    assert kernel.specialise().function is before
    assert "mark" not in {op.name for op in before.body.ops}


@wb.struct
class Ball:
    mass: float
    speed: wb.vec2


@wb.kernel
def push(ball: Ball, x: wb.array[float]):
    i = wb.tid()
    ball.mass = 2.0 * ball.mass
    x[i] = ball.mass * ball.speed[0]


def test_structs_show_their_fields():
    ball = Ball(mass=1.5, speed=(2.0, 3.0))
    steps = wb.step(push, 1, [ball, np.zeros(1, np.float32)])
    assert steps[1].names["ball.mass"] == 1.5
    assert steps[2].names["ball.mass"] == 3.0
    assert steps[2].names["ball.speed"] == (2.0, 3.0)
    assert steps[-1].names["x"] == (6.0,)
    assert ball.mass == 1.5


def test_a_tuple_that_a_loop_changes_is_one_name():
    text = """
        def k(x: array[float], y: array[float]):
            i = tid()
            p = (x[i], 1)
            for j in range(3):
                p = (p[0] * 2.0, p[1] + j)
            y[i] = p[0]
    """
    x, y = np.array([1, 2, 3], np.float32), np.zeros(3, np.float32)
    steps = wb.step(meaning.define(text)["k"], 3, [x], [y], thread=1)
    assert [s.names["p"] for s in steps if s.source.strip().startswith("p = (p")] == [(2.0, 1), (4.0, 1), (8.0, 2)]
    assert steps[-1].names["p"] == (16.0, 4) and not any("." in name for s in steps for name in s.names)
