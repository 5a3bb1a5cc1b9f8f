"""Checkpoints of loops (`autodiff/reverse/loops/states.py`): right at any trip count, with any number of slots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.checks.numeric import X1, check, compiled, kernel, values
from tests.support.devices import on_gpu
from workbench.autodiff import adjoint, reverse_mode
from workbench.backends.python.interpret import run, step
from workbench.ir.values import Function, walk
from workbench.limits import REVERSED_CHUNK
from workbench.types import VECTORS, ArrayType, Slots, float64, int32

# Bodies of a kernel (x, y, a, n, m) in which rules, indices or predicates read what a loop carries.
LOOPS: dict[str, str] = {
    "product": "s = float64(1.0)\n    for j in range(n):\n        s = s * x[j]\n    y[i] = s",
    "maximum": "s = x[0]\n    for j in range(n):\n        s = max(s, x[j])\n    y[i] = s",
    "needed behind a sum": """s = float64(0.0)
    t = float64(0.0)
    for j in range(n):
        s = s + x[j]
        u = s + 1.0
        t += sin(u)
    y[i] = t""",
    "an index that changes irregularly": """s = float64(0.0)
    c = 1
    for j in range(n):
        s += x[c] * x[c]
        c = (c * 3) % 5
    y[i] = s""",
    "a flag": """s = float64(0.0)
    f = i > 0
    for j in range(n):
        if f:
            s += x[j]
        f = not f
    y[i] = s""",
    "while": "s = x[i]\n    while s < 10.0:\n        s = s * 2.0 + a\n    y[i] = s",
    "while, stores": """c = 0
    while c < n:
        y[c] = x[c]
        c += 1""",
    "while, squares": """s = x[i] + 1.0
    c = 0
    while c < n and s < 500.0:
        s = s * s * 0.6 + x[c]
        c += m
    y[i] = s * a""",
    "nested": """s = x[i]
    for j in range(n):
        t = a
        for k in range(j):
            t = t * x[k] * 0.4 + sin(s)
        s = s * 0.5 + t * t
    y[i] = s""",
    "while in for": """s = x[i]
    for j in range(n):
        t = s
        while t > 0.4:
            t = sin(t) * 0.8
        s = s + t * x[j]
    y[i] = s""",
    "break": """s = x[i]
    for j in range(n):
        s = s * x[j] + 0.3
        if s > 2.0:
            break
    y[i] = s * s""",
    "continue": """s = x[i]
    for j in range(n):
        if s > 1.0:
            s = s * 0.3
            continue
        s = s * s + x[j]
    y[i] = s * s""",
    "else": """s = x[i]
    for j in range(n):
        s = sin(s) * 2.0
        if s > x[j] + 0.5:
            break
    else:
        s = s * s
    y[i] = s""",
    "early return": """s = x[i]
    for j in range(n):
        s = s * x[j] * 1.5
        if s > 1.1:
            y[i] = s * s
            return
    y[i] = -s""",
    "names exchanged": """u = x[i]
    v = a
    for j in range(n):
        u, v = v * u, u
    y[i] = u * 2.0 + v * v""",
    "backwards by two": """s = x[i]
    for j in range(n - 1, 0, -2):
        s = s * x[j] + s
    y[i] = s""",
}


def _kernel(body: str) -> Function:
    text = f"def k(x, y, a, n, m):\n    i = tid()\n    {body}"
    return kernel(text, {"x": X1, "y": X1, "a": float64, "n": int32, "m": int32})


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", LOOPS)
def test_right(name: str) -> None:
    for n in (0, 1, 5):
        check(_kernel(LOOPS[name]), 3, values(6), values(6), 0.7, n, 1)


V1, AT = ArrayType(VECTORS["vec2"]), ArrayType(int32)
MIXED = """
def k(x, at, y, n):
    i = tid()
    v = x[i]
    left = i % 2 == 0
    c = uint8(3)
    for j in range(n):
        w = v * 0.5
        k = 0
        while k < at[j] and length(w) < 1.5:
            w = vec2(w.y, w.x * 1.25) + x[int(c)] * 0.125
            k += 1
        if left:
            v = vec2(sin(w.x), w.y)
        else:
            v.y = w.x * v.y
        left = k > 1
        c = c + uint8(k) & uint8(3)
    y[i] = v
"""


def _arguments(function: Function) -> list[Any]:
    random = np.random.default_rng(4)
    x, y = (random.uniform(0.2, 0.8, (4, 2)).astype(np.float32) for _ in range(2))
    seed = random.uniform(0.5, 1.5, (4, 2)).astype(np.float32)
    return [x, np.array([2, 0, 3, 1] * 10, np.int32), y, 30, np.zeros((4, 2), np.float32), seed]


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("slots", [2, 16])
def test_states_of_every_kind_on_cpu_and_as_cuda_text(need: Callable[[str], str], slots: int) -> None:
    need("nvrtc")
    function = kernel(MIXED, {"x": V1, "at": AT, "y": V1, "n": int32})
    reverse = adjoint(function, checkpoints=slots)
    expected, text = _arguments(function), _arguments(function)
    run(reverse, 4, expected)
    on_gpu.run(reverse, 4, text)
    native = _arguments(function)
    compiled(reverse, 4, native)
    for a, b, c in zip(expected, text, native, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=1e-6)
        np.testing.assert_allclose(c, a, rtol=2e-5, atol=1e-6)


FORMS = [(1, True, {1}), (2, True, {1, 2}), (3, True, {1, 3}), (16, True, {64}), (16, False, {7, 8})]


@pytest.mark.parametrize(("slots", "stack", "storage"), FORMS)
def test_every_trip_count(slots: int, stack: bool, storage: set[int]) -> None:
    function = _kernel(LOOPS["product"])
    reverse = adjoint(function, checkpoints=slots, stack=stack)
    assert {v.type.count for op in walk(reverse.body) for v in op.results if isinstance(v.type, Slots)} == storage
    for n in (*range(26), 60, 150, 300 if slots == 16 else 0):
        x = np.random.default_rng(n).uniform(0.9, 1.1, 300)
        found, seed = np.zeros(300), np.ones(1)
        run(reverse, 1, [x, np.zeros(1), 0.0, n, 1, found, seed, np.zeros(1)])
        np.testing.assert_allclose(found[:n], np.prod(x[:n]) / x[:n], rtol=1e-12)


KNOWN = [name for name, body in LOOPS.items() if "while" not in body and name != "nested"]


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", KNOWN)
def test_few_iterations_keep_every_state(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reverse_mode, "REVERSED_UNROLLED", 0)
    for n in (1, 6):
        function = _kernel(LOOPS[name].replace("range(n", f"range({n}"))
        reverse = check(function, 3, values(6), values(6), 0.7, n, 1)
        slots = {v.type.count for op in walk(reverse.body) for v in op.results if isinstance(v.type, Slots)}
        iterations = 3 if "-2" in LOOPS[name] else 6
        assert slots == {iterations} or n == 1


def test_more_iterations_than_asked_for_are_run_in_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reverse_mode, "REVERSED_UNROLLED", 0)
    for n, slots, storage in ((64, 16, {64}), (65, 16, {64}), (64, 15, {1, 15}), (8, 2, {8})):
        reverse = adjoint(_kernel(LOOPS["product"].replace("range(n)", f"range({n})")), checkpoints=slots)
        assert {v.type.count for op in walk(reverse.body) for v in op.results if isinstance(v.type, Slots)} == storage
        x = np.random.default_rng(n).uniform(0.9, 1.1, 65)
        found, seed = np.zeros(65), np.ones(1)
        run(reverse, 1, [x, np.zeros(1), 0.0, 0, 1, found, seed, np.zeros(1)])
        np.testing.assert_allclose(found[:n], np.prod(x[:n]) / x[:n], rtol=1e-12)


def _forward_iterations(n: int, slots: int) -> int:
    """Count the forward runs of the body while `n` iterations run backwards on a GPU, which stores few states."""
    function = _kernel("s = x[i]\n    for j in range(n):\n        s = sin(s)\n    y[i] = s")
    reverse = adjoint(function, checkpoints=slots, stack=False)
    arguments = [values(1), np.zeros(1), 0.0, n, 1, np.zeros(1), np.ones(1), np.zeros(1)]
    return sum(s.op.name == "sin" for s in step(reverse, 1, arguments, 0))


def _least(n: int, slots: int) -> int:
    """The least possible number of iterations forward, by trying every choice of where the next state is kept.

    One of the slots has the first state; the state that is in use has none.
    """
    best: dict[tuple[int, int], int] = {}
    for length in range(1, n + 1):
        for free in range(slots):
            if length <= free + 2:
                best[length, free] = length - 1
            elif free == 0:
                best[length, free] = length * (length - 1) // 2
            else:
                choices = (far + best[length - far, free - 1] + best[far, free] for far in range(1, length))
                best[length, free] = min(choices)
    return best[n, slots - 1]


@pytest.mark.parametrize(("n", "slots"), [(10, 2), (17, 3), (30, 3), (40, 5)])
def test_no_choice_of_states_runs_fewer_iterations(n: int, slots: int) -> None:
    assert _forward_iterations(n, slots) == _least(n, slots)


@pytest.mark.parametrize("n", [1, 8, 9, 64, 83, 200])
def test_no_choice_of_chunks_runs_fewer_iterations(n: int) -> None:
    chunks = -(-n // REVERSED_CHUNK)
    # Each iteration but a chunk's last is run once more, to keep the states inside.
    assert (
        _forward_iterations(n, 2 * REVERSED_CHUNK) == REVERSED_CHUNK * _least(chunks, REVERSED_CHUNK - 1) + n - chunks
    )
