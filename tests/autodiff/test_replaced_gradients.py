"""Gradients that an adjoint sets: the bits are those of clearing and adding, in any order of threads."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.autodiff.test_gathered_adjoints import program
from tests.support.checks.numeric import X1, X2, kernel
from workbench.api.builds.build import ir_of
from workbench.api.builds.gathered import hold
from workbench.autodiff import GATHERED, adjoint, adjoint_params, gather_adjoint
from workbench.autodiff.memory.replaced import described, regions
from workbench.backends.python.interpret import run
from workbench.errors import NotDifferentiable
from workbench.ir.values import Function, written_arrays
from workbench.limits import CHECKPOINTS
from workbench.types import ArrayType, float64, int32

ROWS = {"x": X2, "z": X1, "y": X1, "n": int32}
STATEMENTS = (
    "for j in range(x.shape[1]):\n    s += sin(x[i, j]) * z[i]",
    "for j in range(x.shape[1]):\n    s = max(s, x[i, j])",
    "for j in range(x.shape[1]):\n    s = s * x[i, j] + 0.1",
    "for j in range(n):\n    s += x[i, j] * x[i, j + 1]",
    "for j in range(1, n):\n    s += x[i, j] * z[i]",
    "for j in range(0, n, 2):\n    s += x[i, j] * s",
    "for j in range(x.shape[1]):\n    if x[i, j] > s:\n        break\n    s += x[i, j]",
    "if s > 0.2:\n    s += x[i, 1] * z[i]",
    "if s > 0.2:\n    for j in range(x.shape[1]):\n        s += x[i, j]",
    "for u in range(2):\n    for j in range(x.shape[1]):\n        s += x[i, j] * z[i]",
    "s += x[i, 0] * s",
    "s += x[i, n] * z[i]",
    "s += x[i // 2, 1]",
    "s += x[0, 0] * z[i]",
)


def rows(seed: int) -> str:
    """The text of a kernel that reads a row per thread, now and then others' elements."""
    random = np.random.default_rng(seed)
    chosen = [str(random.choice(STATEMENTS)) for _ in range(int(random.integers(1, 4)))]
    return "\n".join(["def k(x, z, y, n):", "i = tid()", "s = 0.3 + z[i]", *chosen, "y[i] = s"]).replace("\n", "\n    ")


def _boxes(function: Function, dims: tuple[int, ...], given: dict[str, Any], seed: int) -> set[str]:
    """Compare both forms of the adjoint of a kernel; return the names of the gradients that it sets."""
    names: set[str] = set()
    for direction in ("adjoint", GATHERED):
        try:
            adds = ir_of(function, direction, False, CHECKPOINTS, False)
            sets = ir_of(function, direction, False, CHECKPOINTS, False, replaced=True)
        except NotDifferentiable:
            continue
        random = np.random.default_rng(seed)
        gathers = gather_adjoint(adjoint(function, numbers=False)) if direction == GATHERED else None
        cotangents = {f"adj_{n}": a for n, a in given.items() if isinstance(a, np.ndarray)}
        if gathers is not None and not hold(gathers, dims, {**given, **cotangents}):
            continue
        written = {f"adj_{p.name}" for p in function.params if p.name in written_arrays(function)}
        adjoints = {
            p.name: random.uniform(-1, 1, given[n].shape) if p.name in written else np.zeros_like(given[n])
            for n, p in adjoint_params(adds).items()
            if isinstance(given[n], np.ndarray)
        }
        adjoints |= {"adj_k": np.zeros(1)} if "k" in given else {}
        threads = [*itertools.product(*map(range, dims))]
        order = [threads[k] for k in random.permutation(len(threads))]
        values = [adjoints.get(p.name, given.get(p.name)) for p in adds.params]
        held = {
            adds.params[k].name: region
            for k, region in regions(described(sets), dims, values.__getitem__)
            if k >= len(function.params) and adds.params[k].name not in written
        }
        want, found = ({n: a.copy() for n, a in adjoints.items()} for _ in range(2))
        for name, region in held.items():
            found[name][region] = np.nan
        for code, arrays in ((adds, want), (sets, found)):
            run(code, dims, [{**given, **arrays}[p.name] for p in code.params], threads=order)
        for name in adjoints:
            assert found[name].tobytes() == want[name].tobytes(), (name, direction, held)
        names |= {name for name, region in held.items() if all(part.start < part.stop for part in region)}
    return names


def test_rows_by_chance() -> None:
    """Loops over a thread's own row in any order, in branches, broken off, beside elements of other rows."""
    counts: Counter[bool] = Counter()
    for seed in range(70):
        function = kernel(rows(seed), ROWS)
        random = np.random.default_rng(seed)
        given = {"x": random.uniform(0.2, 1.2, (4, 5)), "z": random.uniform(0.2, 1.2, 4), "y": np.zeros(4), "n": 4}
        counts["adj_x" in _boxes(function, (int(random.integers(1, 5)),), given, seed)] += 1
    assert counts[True] > 10 and counts[False] > 10, counts


@pytest.mark.parametrize("ndim", [1, 2])
def test_stencils_by_chance(ndim: int) -> None:
    """Gather forms of guarded, clamped, wrapped and shifted neighbours, in launches as large as the array."""
    counts: Counter[bool] = Counter()
    kind = ArrayType(float64, ndim)
    signature = {**dict.fromkeys("xzyw", kind), "k": float64, "n": int32, "m": int32}
    for seed in range(24):
        function = kernel(program(seed, ndim), signature)
        random = np.random.default_rng(seed)
        given: dict[str, Any] = {n: random.uniform(0.2, 1.2, (5, 4)[:ndim]) for n in "xzyw"}
        given |= {"k": 0.7, "n": 1, "m": 1}
        counts[bool(_boxes(function, (5, 4)[:ndim], given, seed))] += 1
    assert counts[True] > 5, counts


@pytest.mark.parametrize(
    ("body", "box"),
    [
        ("y[i] = x[i] * x[i]", (0, 4)),
        ("y[i] = x[i + 1] * 2.0", (1, 5)),
        ("y[i] = x[i] * x[i + 1]", (1, 5)),
        ("y[i] = 0.5 * x[i] + x[i + 1] + 0.5 * x[i + 2]", (1, 5)),
        ("y[i] = x[i * i // 2]", None),
        ("y[i] = x[2 * i]", None),
        ("y[i] = x[n - i]", None),
        ("y[i] = x[0]", None),
        ("y[i] = x[i]\n    x[i] = 0.0", None),
        ("x[i] = x[i] + 1.0\n    y[i] = x[i]", None),
    ],
)
def test_which_are_set(body: str, box: tuple[int, int] | None) -> None:
    """An array is set where threads add to an element of their own first, all of them, and the kernel leaves it."""
    function = kernel(f"def k(x, y, n):\n    i = tid()\n    {body}", {"x": X1, "y": X1, "n": int32})
    found: list[Any] = []
    for direction in ("adjoint", GATHERED):
        try:
            code = ir_of(function, direction, False, CHECKPOINTS, False, replaced=True)
        except NotDifferentiable:
            continue
        at = [p.name for p in code.params].index("adj_x")
        values: list[Any] = [np.zeros(9), np.zeros(9), 4]
        if "x" not in written_arrays(function):
            found += [r for k, r in regions(described(code), (4,), (values + values).__getitem__) if k == at]
    assert [*dict.fromkeys((r[0].start, r[0].stop) for r in found)] == ([] if box is None else [box])
