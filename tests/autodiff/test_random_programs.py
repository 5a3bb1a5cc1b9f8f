"""Programs made by chance: the adjoint is refused, or it is right; never silently wrong.

Each has straight-line code, branches and loops over arrays that threads share, without races: an array is stored to at
one index everywhere, which is another one for each thread. One random direction through all inputs is compared with a
difference quotient (Richardson's, of two steps that must agree: else the program jumps there, and proves nothing).
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.checks.numeric import X1, gradients, kernel
from workbench.backends.python.interpret import run
from workbench.errors import NotDifferentiable
from workbench.types import float64, int32

SIZE = 3
SIGNATURE = {"x": X1, "y": X1, "z": X1, "w": X1, "v": X1, "a": float64, "n": int32}
OWN = {"y": "i", "z": "(i + 1) % 3", "v": "i"}
FUNCTIONS = ("sin({})", "cos({})", "tanh({})", "sqrt({0} * {0} + 0.5)", "exp(0.3 * sin({}))", "-{}")
OPERATORS = ("{} + {}", "{} - {}", "{} * {}", "{} / ({} * 0.1 + 3.0)", "min({}, {})", "where({} > 0.4, {}, 0.7)")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The body of a kernel."""
    first = ["t1 = x[i] * a", "t2 = sin(x[0])"]
    lines = _block(draw, ["a", "t1", "t2"], ["i"], depth=2, least=3, most=6)
    return "\n".join([*first, *lines, "y[i] = y[i] + t1 * t2"])


def _block(draw: st.DrawFn, floats: list[str], ints: list[str], depth: int, least: int, most: int) -> list[str]:
    floats = list(floats)
    lines: list[str] = []
    for _ in range(draw(st.integers(least, most))):
        lines += _statement(draw, floats, ints, depth)
    return lines


def _statement(draw: st.DrawFn, floats: list[str], ints: list[str], depth: int) -> list[str]:
    kinds = ["new", "assign", "assign", "assign", "store", "update", "atomic"]
    kinds += ["if", "for", "for", "break", "while"] * (depth > 0)
    kind = draw(st.sampled_from(kinds))
    value = _expression(draw, floats, ints, 2)
    locals_ = [f for f in floats if f.startswith("t")]
    if kind == "new":
        name = f"t{len(floats)}_{depth}"
        floats.append(name)
        return [f"{name} = {value}"]
    if kind == "assign" and locals_:
        name = draw(st.sampled_from(locals_))
        return [f"{name} = {draw(st.sampled_from([value, f'{name} + {value}', f'0.5 * {name} + {value}']))}"]
    if kind == "update":
        name = draw(st.sampled_from(list(OWN)))
        sign = draw(st.sampled_from(["{0} += {1}", "{0} -= {1}", "{0} = 0.5 * {0} + {1}", "{0} *= {1}"]))
        return [sign.format(f"{name}[{OWN[name]}]", value)]
    if kind == "atomic":
        return [f"atomic_add(w, {_index(draw, ints)}, {value})"]
    if kind == "if":
        condition = draw(st.sampled_from(["i > 0", "n > 3", f"{value} > 0.5", f"{ints[-1]} % 2 == 0"]))
        then, orelse = (_block(draw, floats, ints, depth - 1, 1, 2) for _ in range(2))
        return [f"if {condition}:", *_indent(then), *(["else:", *_indent(orelse)] if draw(st.booleans()) else [])]
    if kind == "for":
        ranges = ["n", "2", "i + 1", "3, n - 4, -1", "n, 2"]
        name = f"j{depth}"
        body = _block(draw, floats, [*ints, name], depth - 1, 1, 3)
        return [f"for {name} in range({draw(st.sampled_from(ranges))}):", *_indent(body)]
    if kind == "break":
        body = _block(draw, floats, [*ints, f"b{depth}"], depth - 1, 1, 3)
        return [f"for b{depth} in range(n):", *_indent([*body, f"if {value} > 0.9:", "    break"])]
    if kind == "while":
        name, local = f"c{depth}", draw(st.sampled_from(locals_ or ["a"]))
        body = _block(draw, floats, [*ints, name], depth - 1, 1, 3)
        return [f"{name} = 0", f"while {name} < n and {local} < 2.0:", *_indent([*body, f"{name} += 1"])]
    name = draw(st.sampled_from(list(OWN)))
    return [f"{name}[{OWN[name]}] = {value}"]


def _expression(draw: st.DrawFn, floats: list[str], ints: list[str], depth: int) -> str:
    kind = draw(st.sampled_from(["name", "load", "number", "function", "operator", "operator"][: 6 if depth else 3]))
    if kind == "name":
        return draw(st.sampled_from(floats))
    if kind == "number":
        return draw(st.sampled_from(["float64(0.8)", "float64(1.3)", f"float64({draw(st.sampled_from(ints))})"]))
    if kind == "load":
        name = draw(st.sampled_from(["x", "x", "x", "y", "z", "v"]))
        own = name in OWN and draw(st.integers(0, 3))
        return f"{name}[{OWN[name] if own else _index(draw, ints)}]"
    inner = [f"({_expression(draw, floats, ints, depth - 1)})" for _ in range(2)]
    return draw(st.sampled_from(FUNCTIONS if kind == "function" else OPERATORS)).format(*inner)


def _index(draw: st.DrawFn, ints: list[str]) -> str:
    name = draw(st.sampled_from(ints))
    return draw(st.sampled_from([f"{name} % 3", f"({name} + 1) % 3", "0", "i"]))


def _indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _objective(function: Any, args: list[Any], seeds: dict[str, np.ndarray]) -> float:
    copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    run(function, SIZE, copies)
    return float(
        sum(np.sum(seeds[p.name] * c) for p, c in zip(function.params, copies, strict=True) if p.name in seeds)
    )


def _verdict(body: str) -> str:
    text = "def k(x, y, z, w, v, a, n):\n    i = tid()\n" + textwrap.indent(body, "    ")
    function = kernel(text, SIGNATURE)
    random = np.random.default_rng(len(body))
    arrays = [random.uniform(0.2, 1.2, SIZE) for _ in range(5)]
    seeds = {name: random.uniform(-1.0, 1.0, SIZE) for name in "xyzwv"}
    try:
        found = gradients(function, SIZE, [*arrays, 0.9, 4], seeds)
    except NotDifferentiable as error:
        assert error.location is not None and error.location.line > 1
        return "refused"
    directions = [random.uniform(-1.0, 1.0, SIZE) for _ in range(5)]
    along = 0.6

    def slope(step: float) -> float:
        sides = []
        for sign in (step, -step):
            moved = [a + sign * d for a, d in zip(arrays, directions, strict=True)]
            sides.append(_objective(function, [*moved, 0.9 + sign * along, 4], seeds))
        return (sides[0] - sides[1]) / (2 * step)

    coarse, fine = slope(2e-4), slope(1e-4)
    expected = (4 * fine - coarse) / 3
    parts = [float(np.sum(found[n] * d)) for n, d in zip("xyzwv", directions, strict=True)] + [
        float(found["a"][0]) * along
    ]
    scale = max(1.0, *(abs(p) for p in parts))
    if not np.isfinite([coarse, fine]).all() or abs(coarse - fine) > 1e-6 * scale or scale > 1e5:
        return "no verdict"
    assert abs(sum(parts) - expected) <= 1e-6 * scale, f"gradient {sum(parts)}, difference quotient {expected}\n{text}"
    return "right"


def _verdicts(examples: int, change: Callable[[str], str]) -> Counter[str]:
    counts: Counter[str] = Counter()

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
        phases=[Phase.explicit, Phase.generate],
    )
    @given(programs())
    def each(body: str) -> None:
        with np.errstate(all="ignore"):
            counts[_verdict(change(body))] += 1

    each()
    return counts


@pytest.mark.slow
def test_right_or_refused() -> None:
    counts = _verdicts(60, lambda body: body)
    assert counts["right"] > 15 and counts["refused"] > 5 and counts["no verdict"] < 20, counts


@pytest.mark.slow
def test_right_or_refused_often() -> None:
    counts = _verdicts(500, lambda body: body)
    assert counts["right"] > 150 and counts["refused"] > 50 and counts["no verdict"] < 125, counts


@pytest.mark.slow
def test_right_or_refused_among_nans() -> None:
    counts = _verdicts(500, lambda body: body.replace("tanh(", "log(-0.7 + ").replace("cos(", "sqrt(-0.8 + "))
    assert counts["right"] > 100 and counts["refused"] > 50, counts
