"""How a draw advances its state: as Python would with a state that is changed in place; what is refused; gradients."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import workbench as wb
from tests.frontend.random.test_random_numbers import Pcg
from tests.support.checks.meaning import define
from workbench.backends.python.interpret import run

DRAWN = {
    "two draws differ": """
        a = randf(state)
        y[i] = randf(state) - a""",
    "in one expression, from left to right": """
        y[i] = randf(state) + 10.0 * randf(state)""",
    "an argument of a draw": """
        y[i] = float(randi(state, 0, randi(state, 1, 9)))""",
    "in a branch": """
        if i % 2 == 0:
            s = randf(state)
        else:
            s = randf(state) + randf(state)
        y[i] = s + randf(state)""",
    "in the test of an if": """
        if randf(state) < 0.5:
            y[i] = 1.0
        elif randf(state) < 0.5:
            y[i] = 2.0
        y[i] += randf(state)""",
    "in loops": """
        s = 0.0
        for q in range(i):
            for r in range(2):
                s += randf(state)
        y[i] = s + randf(state)""",
    "in a loop that is left": """
        s = 0.0
        while True:
            u = randf(state)
            if u < 0.2:
                break
            s += u
        y[i] = s + randf(state)""",
    "in the bounds of a loop": """
        s = 0.0
        for q in range(randi(state, 1, 5)):
            s += randf(state)
        y[i] = s""",
    "by a module's name": """
        y[i] = lib.randf(state) + lib.randf(state)""",
    "two streams": """
        other = rand_init(3, i)
        for q in range(4):
            y[i] += randf(state) + 2.0 * randf(other)""",
    "a copy of a state": """
        other = state
        a = randf(state)
        y[i] = a - randf(other) + randf(state)""",
    "a func has its own": """
        y[i] = twice(state) + randf(state)""",
    "in a loop over values": """
        s = 0.0
        for w in (1.0, 10.0, 100.0):
            s += w * randf(state)
        y[i] = s + randf(state)""",
    "in a loop over pairs": """
        s = 0.0
        for n, w in enumerate((3.0, 7.0)):
            if n == i % 2:
                s += w * randf(state)
        y[i] = s + randf(state)""",
    "in an else of a loop": """
        s = 0.0
        for q in range(40):
            if randf(state) < 0.05:
                break
            s += 1.0
        else:
            s += randf(state)
        y[i] = s + randf(state)""",
    "returned from a loop of a func": """
        y[i] = first_below(state, 0.3) + randf(state)""",
    "an unpacked pair": """
        a, b = randf(state), randf(state)
        y[i] = a - b""",
    "an early return": """
        if randf(state) < 0.5:
            y[i] = randf(state)
            return
        y[i] = -randf(state)""",
}
DRAWN = {name: textwrap.dedent(body).strip() for name, body in DRAWN.items()}


class Host:
    """What the language's draws do, on Python numbers: run by Python itself as the expectation."""

    def __init__(self, seed: int, offset: int) -> None:
        self.source = Pcg(seed, np.array([offset]))

    def copy(self) -> Host:
        twin = Host(0, 0)
        twin.source.state = self.source.state
        return twin


def python(body: str, i: int) -> float:
    """The body run by Python, with states as objects that a draw changes."""
    y = {i: 0.0}

    def randf(state: Host) -> float:
        return float(state.source.unit()[0])

    def randi(state: Host, low: int, high: int) -> int:
        return low + int(state.source.below(high - low)[0])

    def twice(state: Host) -> float:
        own = state.copy()
        return randf(own) + randf(own)

    def first_below(state: Host, limit: float) -> float:
        own = state.copy()
        return next(u for u in iter(lambda: randf(own), None) if u < limit)

    names = {
        "randf": randf,
        "randi": randi,
        "twice": twice,
        "first_below": first_below,
        "rand_init": Host,
        "float": float,
        "y": y,
        "i": i,
    }
    code = body.replace("lib.", "").replace("other = state", "other = state.copy()")
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    exec(f"def k(state):\n{lines}\nk(rand_init(8, i))", names)
    return y[i]


@pytest.mark.parametrize("name", DRAWN)
def test_a_draw_advances_its_state_as_in_python(name: str) -> None:
    lines = "".join(f"    {line}\n" for line in DRAWN[name].splitlines())
    text = (
        "def twice(state):\n    a = randf(state)\n    return a + randf(state)\n\n"
        "def first_below(state, limit):\n    for q in range(1000):\n        u = randf(state)\n        if u < limit:\n"
        "            return u\n    return 0.0\n\n@kernel\ndef k(y: array[float]):\n"
        f"    i = tid()\n    state = rand_init(8, i)\n{lines}"
    )
    kernel = define(text, {"lib": wb})["k"]
    y, interpreted = wb.array(np.zeros(12, np.float32)), np.zeros(12, np.float32)
    wb.launch(kernel, 12, inputs=[], outputs=[y])
    run(kernel.specialise().function, 12, [interpreted])
    assert np.array_equal(y.numpy(), interpreted)
    assert np.allclose(interpreted, [python(DRAWN[name], i) for i in range(12)], rtol=1e-5, atol=1e-5)


REFUSED = [
    ("z = randf(1)", "randf(1)", "takes a local name"),
    ("z = randf(seeds[i])", "randf(seeds[i])", "takes a local name"),
    ("z = randf()", "randf()", "takes a state, or a state, low and high"),
    ("z = randf(state, 1.0)", "randf(state, 1.0)", "low and high"),
    ("z = randf(state, low=0.0, high=1.0)", "randf(state, low=0.0, high=1.0)", "without names"),
    ("z = randi(state, 0.5, 2)", "randi(state, 0.5, 2)", "does not fit int32"),
    ("n = 3\n    z = randf(n)", "randf(n)", "n is an int literal"),
    ("z = randf(i)", "randf(i)", "a uint32; i is int32"),
    ("z = randf(state) if i > 3 else 0.0", "randf(state)", "in one side of a conditional expression"),
    ("b = i > 3 and randf(state) < 0.5", "randf(state)", "on the right of and/or"),
    ("while randf(state) < 0.5:\n        i += 1", "randf(state)", "in the condition of a while"),
    ("z = 0.0 < y[i] < randf(state)", "randf(state)", "in the middle of a chained comparison"),
    ("y[randi(state, 0, 3)] += 1.0", "randi(state, 0, 3)", "on the left of an augmented assignment"),
    ("z = rand_init(0.5)", "rand_init(0.5)", "takes integers"),
    ("z = rand_init()", "rand_init()", "a seed, or a seed and an offset"),
    ("z = sample_unit_disk(state, 1.0)", "sample_unit_disk(state, 1.0)", "takes a state, without names"),
    ("z = randf(wanted)", "randf(wanted)", "wanted is not a local name here"),
]


@pytest.mark.parametrize(("statement", "place", "sentence"), REFUSED)
def test_refused_at_its_place(statement: str, place: str, sentence: str) -> None:
    text = (
        "@kernel\ndef k(y: array[float], seeds: array[uint32]):\n    i = tid()\n    state = rand_init(8, i)\n"
        f"    {statement}\n"
    )
    with pytest.raises(wb.WorkbenchError) as caught:
        define(text, {"wanted": 3})
    error = caught.value
    assert not isinstance(error, wb.CellErrors)
    line, carets = error.location.excerpt().splitlines()
    start = carets.index("^")
    assert line[start : start + carets.count("^")] == place
    assert sentence in f"{error.message} {error.advice}"


def test_gradients_flow_through_bounds_and_past_draws() -> None:
    text = """
    @kernel
    def k(x: array[float64], y: array[float64]):
        i = tid()
        state = rand_init(1, i)
        a = float64(randf(state, -1.0, 1.0))
        s = float64(0.0)
        for q in range(3):
            s += x[i] * x[i] * float64(randn(state))
        y[i] = s * a + randf(state, x[i], 2.0 * x[i]) * float64(sample_unit_disk(state).x)
    """
    x, y = wb.array(np.linspace(0.5, 2, 6)), wb.array(np.zeros(6))
    verdict = wb.gradcheck(define(text)["k"], 6, inputs=[x], outputs=[y])
    assert verdict.ok and verdict.compared > 0


def test_a_gradient_through_a_loop_of_draws_from_the_counter_and_from_a_state_that_is_carried() -> None:
    text = """
    @kernel
    def k(n: int, x: array[float64], y: array[float64]):
        i = tid()
        {0}
        s = float64(0.0)
        for q in range(n):
            {1}
            s += x[i] * x[i] * float64(randf(state))
        y[i] = s
    """
    counted = define(text.format("", "state = rand_init(1, i * n + q)"))["k"]
    x, y = wb.array(np.linspace(0.5, 2, 4)), wb.array(np.zeros(4))
    assert wb.gradcheck(counted, 4, inputs=[5, x], outputs=[y]).ok
    carried = define(text.format("state = rand_init(1, i)", "pass"))["k"]
    assert wb.gradcheck(carried, 4, inputs=[5, x], outputs=[y]).ok
