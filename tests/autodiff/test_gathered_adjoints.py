"""Adjoints in gather form: the same sums as the adjoint that adds to its neighbours, whatever is guarded or clamped."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.support.checks.numeric import kernel
from workbench.api.builds.gathered import cleared_regions, hold
from workbench.autodiff import GatherAdjoint, adjoint, adjoint_params, gather_adjoint
from workbench.autodiff.gather.own import owned
from workbench.backends.python.interpret import run
from workbench.errors import NotDifferentiable
from workbench.ir.ops import EFFECTS, LOADS
from workbench.ir.values import Function, walk
from workbench.types import ArrayType, float64, int32

NAMES = "ijl"


def _index(random: np.random.Generator, name: str, size: str, low: int, high: int, plain: bool) -> str:
    """An index that is in range where the thread's own is at least `low` and that much below the end as `high` says."""
    c = int(random.integers(0, 3))
    ways = [
        name, f"max({name} - {c}, 0)", f"min({name} + {c}, {size} - 1)", f"wb_clamp({name} - {c}, 0, {size} - 1)",
        f"wb_clamp({name} + {c}, 0, {size} - 1)", f"min(max({name} - {c}, 0), {size} - 1)",
    ]  # fmt: skip
    ways = [name] if plain else ways
    if c <= 1 and not plain:
        ways += [f"({name} - {c}) % {size}", f"({name} + {c}) % {size}", f"{name} - {c}"]
        ways += [f"({name} + {size} - {c}) % {size}"]
    ways += [f"{name} - {low}"] * 3 * (low > 0) + [f"{name} + {high}"] * 3 * (high > 0)
    return str(random.choice(ways))


def program(seed: int, ndim: int, flat: str = "") -> str:
    """The text of a kernel: sums of neighbours in branches, stored to the thread's own element.

    `flat`: of one that divides the index of a launch of one dimension; "array": so are its arrays.
    """
    random = np.random.default_rng(seed)
    names, sizes = list(NAMES[:ndim]), [f"n{a}" for a in range(ndim)]
    own = ", ".join(names)
    lines = [f"{own} = tid()", *(f"n{a} = x.shape[{a}]" for a in range(ndim))]
    if flat == "array":
        lines = ["t = tid()", "i = t // m", "j = t % m", "n0, n1 = n, m"]
    elif flat:
        lines[:1] = ["t = tid()", "i = t // x.shape[1]", "j = t % x.shape[1]"]

    def at(places: list[str]) -> str:
        return f"({places[0]}) * m + {places[1]}" if flat == "array" else ", ".join(places)

    own = at(names)

    def term(guard: list[tuple[int, int]]) -> str:
        def element() -> str:
            array = random.choice(["x", "x", "z"])
            # In an array of one dimension only such threads are found as are known to be in the row.
            plain = flat == "array" and seed % 4 > 0
            places = [_index(random, n, s, *g, plain) for n, s, g in zip(names, sizes, guard, strict=True)]
            keep = int(random.integers(0, ndim))
            # Most stencils reach along one axis at a time.
            short = random.random() < 0.7
            return f"{array}[{at([p if not short or a == keep else names[a] for a, p in enumerate(places)])}]"

        form = random.choice(["{} * {}", "k * {}", "sin({})", "0.5 * {} + {}", "where({} > 0.9, {}, 0.1)"])
        return str(form).replace("{}", "{e}").format(e="{e}").replace("{e}", "%s") % tuple(
            element() for _ in range(str(form).count("{}"))
        )

    def assigned(target: str, guard: list[tuple[int, int]], indent: int) -> list[str]:
        sums = " + ".join(term(guard) for _ in range(int(random.integers(1, 4))))
        return [f"{' ' * indent}{target}[{own}] = {sums}"]

    none = [(0, 0)] * ndim
    for target in ("y", "w")[: int(random.integers(1, 3))]:
        if random.random() < 0.3:
            lines += assigned(target, none, 0)
            continue
        guard = [(int(random.integers(0, 3)), int(random.integers(0, 3))) for _ in names]
        asked = [f"{n} >= {low} and {n} < {s} - {high}" for n, s, (low, high) in zip(names, sizes, guard, strict=True)]
        lines += [f"if {' and '.join(asked)}:", *assigned(target, guard, 4)]
        if random.random() < 0.4:
            lines += ["else:", *assigned(target, none, 4)]
    body = "\n".join(f"    {line}" for line in lines).replace("wb_clamp", "clamp")
    return f"def made(x, z, y, w, k, n, m):\n{body}\n"


def _signature(ndim: int) -> dict[str, Any]:
    array = ArrayType(float64, ndim)
    return {"x": array, "z": array, "y": array, "w": array, "k": float64, "n": int32, "m": int32}


def _same(
    function: Function, reverse: Function, form: GatherAdjoint, dims: tuple[int, ...], seed: int, flat: str = ""
) -> bool:
    """Compare both forms on some arrays; whether the gather form may be used for this launch."""
    random = np.random.default_rng(seed)
    shape = dims if seed % 5 else tuple(n + 1 for n in dims)
    sizes = dims if flat else (1, 1)
    dims = (dims[0] * dims[1],) if flat else dims
    shape = dims if flat == "array" else shape
    arrays = [random.uniform(0.2, 1.7, shape) for _ in range(4)]
    given = dict(zip(("x", "z", "y", "w"), arrays, strict=True)) | {"k": 0.7, "n": sizes[0], "m": sizes[1]}
    adjoints = {p.name: random.uniform(-1, 1, shape) for p in adjoint_params(reverse).values()}
    adjoints["adj_k"] = np.zeros(1)
    if not hold(form, dims, {**given, **adjoints}):
        return False
    want = {n: a.copy() for n, a in adjoints.items()}
    run(reverse, dims, [*given.values(), *want.values()])
    found = {n: a.copy() for n, a in adjoints.items()}
    again = {n: a.copy() for n, a in adjoints.items()}
    threads = list(np.ndindex(*dims))
    run(form.sums, dims, [*given.values(), *found.values()])
    run(form.sums, dims, [*given.values(), *again.values()], threads=threads[::-1])
    for name in found:
        if any(op.name == "atomic_add" for op in walk(form.sums.body)):
            np.testing.assert_allclose(found[name], again[name], rtol=1e-14, atol=1e-14)
        else:
            np.testing.assert_array_equal(found[name], again[name], "the order of threads matters")
    regions = cleared_regions(form, dims, {**given, **adjoints})
    if regions is not None:
        for name, region in regions.items():
            found[name][region] = 0
    else:
        run(form.cleared, dims, [*given.values(), *found.values()])
    for name, array in want.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-12, atol=1e-12, err_msg=name)
    return True


def _verdict(seed: int, flat: str = "") -> str:
    ndim = 2 if flat or not seed % 4 else 1 + seed % 3
    text = program(seed, ndim, flat)
    function = kernel(text, _signature(1 if flat == "array" else ndim))
    reverse = adjoint(function, numbers=False)
    form = gather_adjoint(reverse)
    if form is None:
        return "none"
    touched = {op.operands[0] for op in walk(form.sums.body) if op.name in EFFECTS}
    others = {op.operands[0].name for op in walk(form.sums.body) if op.name in LOADS} - {a.name for a in touched}
    assert others.isdisjoint(a.name for a in touched)
    assert (form.width is not None) is bool(flat)
    random = np.random.default_rng(seed)
    used = False
    for least in (1, 2, 3):
        dims = tuple(int(n) for n in random.integers(least, least + 3, ndim))
        try:
            used |= _same(function, reverse, form, dims, seed + least, flat)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{dims}\n{text}") from None
    return "same" if used else "unused"


def _verdicts(seeds: range, flat: str = "") -> Counter[str]:
    return Counter(_verdict(seed, flat) for seed in seeds)


@pytest.mark.slow
def test_the_same_sums() -> None:
    counts = _verdicts(range(40))
    assert counts["same"] > 15, counts


def test_the_same_sums_of_a_flattened_launch() -> None:
    counts = _verdicts(range(4), "launch") + _verdicts(range(8), "array")
    assert counts["same"] > 3, counts


@pytest.mark.parametrize(
    ("index", "size"),
    [("(i + n0 - 1) % n0", "x.shape[0]"), ("(i + 2 * n - 2) % n", "7"), ("(i + 6) % 7", "7"), ("(n - 1 + i) % n", "7")],
)
def test_a_size_that_is_added_before_a_remainder(index: str, size: str) -> None:
    """A ring in the spelling of languages whose remainders may be negative: the gradient by NumPy's roll."""
    text = f"def made(x, z, y, w, k, n, m):\n    i = tid()\n    n0 = {size}\n    y[i] = x[i] * x[{index}]\n"
    reverse = adjoint(kernel(text, _signature(1)), numbers=False)
    form = gather_adjoint(reverse)
    assert form is not None and not any(op.name == "atomic_add" for op in walk(form.sums.body))
    x, seed = np.random.default_rng(0).random((2, 7))
    given = {"x": x, "z": x, "y": np.zeros(7), "w": x, "k": 0.0, "n": 7, "m": 1}
    adjoints = {p.name: np.zeros(7) for p in adjoint_params(reverse).values()} | {"adj_y": seed.copy()}
    assert hold(form, (7,), {**given, **adjoints})
    assert not hold(form, (8,), {**given, **adjoints})
    run(form.sums, 7, [*given.values(), *adjoints.values()])
    by = 2 if "- 2" in index else 1
    right = seed * np.roll(x, by) + np.roll(seed * x, -by)
    np.testing.assert_allclose(adjoints["adj_x"], right, rtol=1e-14)


INSIDE = {
    "1": "    i = tid()\n    y[i + 1] = x[i] * x[i + 2] - k * x[i + 1] + z[i + 3]\n    w[i] = z[i + 1] * x[i + 1]\n",
    "2": """    i, j = tid()
    y[i + 1, j + 1] = x[i, j + 1] * x[i + 2, j + 1] + x[i + 1, j] * x[i + 1, j + 2] - k * x[i + 1, j + 1]
    if x[i + 1, j + 1] > 1.0:
        w[i, j] = z[i + 2, j + 3] * x[i + 2, j + 2]
""",
}


@pytest.mark.parametrize("ndim", [1, 2])
def test_a_launch_over_the_inside_of_an_array(ndim: int) -> None:
    """Of elements that no thread adds up, each thread adds its own part: no matter how few threads there are."""
    text = f"def made(x, z, y, w, k, n, m):\n{INSIDE[str(ndim)]}"
    reverse = adjoint(kernel(text, _signature(ndim)), numbers=False)
    form = gather_adjoint(reverse)
    assert form is not None and not form.needs
    assert gather_adjoint(reverse, local=True) is None or gather_adjoint(reverse, local=True).needs
    random = np.random.default_rng(ndim)
    for size, threads in ((9, 6), (9, 3), (4, 1), (12, 0)):
        shape, dims = (size,) * ndim, (threads,) * ndim
        given = {n: random.uniform(0.5, 1.5, shape) for n in "xzyw"} | {"k": 0.7, "n": 1, "m": 1}
        adjoints = {p.name: random.uniform(-1, 1, shape) for p in adjoint_params(reverse).values()}
        adjoints["adj_k"] = np.zeros(1)
        want, found = ({n: a.copy() for n, a in adjoints.items()} for _ in range(2))
        run(reverse, dims, [*given.values(), *want.values()])
        run(form.sums, dims, [*given.values(), *found.values()], threads=list(np.ndindex(*dims))[::-1])
        run(form.cleared, dims, [*given.values(), *found.values()])
        for name, array in want.items():
            np.testing.assert_allclose(found[name], array, rtol=1e-12, atol=1e-12, err_msg=name)


PLANES = """def made(x, z, y, w, k, n, m):
    i, j = tid()
    h = x.shape[1]
    c = x.shape[2]
    y[0, i, j] = x[0, (i + 1) % h, j] * x[1, i, (j + c - 1) % c] + x[2, i - 1, j] * z[0, i, j]
"""


def test_permutations_of_a_launch_are_added_to_plainly() -> None:
    """Each element is added to by one thread if the launch is no larger than the sizes that turn the indices."""
    reverse = adjoint(kernel(PLANES, _signature(3)), numbers=False)
    plain = owned(reverse)
    assert plain is not None and not any(op.name == "atomic_add" for op in walk(plain[0].body))
    random = np.random.default_rng(0)
    given = {n: random.uniform(0.5, 1.5, (3, 4, 5)) for n in "xzyw"} | {"k": 0.7, "n": 1, "m": 1}
    adjoints = {p.name: random.uniform(-1, 1, (3, 4, 5)) for p in adjoint_params(reverse).values()}
    adjoints["adj_k"] = np.zeros(1)
    form = GatherAdjoint(plain[0], reverse, frozenset(), {}, plain[1], frozenset())
    assert hold(form, (4, 5), {**given, **adjoints})
    assert not hold(form, (5, 5), {**given, **adjoints})
    want, found = ({n: a.copy() for n, a in adjoints.items()} for _ in range(2))
    run(reverse, (4, 5), [*given.values(), *want.values()])
    run(form.sums, (4, 5), [*given.values(), *found.values()])
    for name, array in want.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("other", ["x[0, (i + 2) % h, j]", "x[n, i, j]", "x[2, j, i]", "x[2, 2 * i, j]", "x[1, 0, j]"])
def test_what_is_no_permutation_is_added_to_atomically(other: str) -> None:
    text = PLANES.replace("z[0, i, j]", other)
    assert owned(adjoint(kernel(text, _signature(3)), numbers=False)) is None


@pytest.mark.slow
def test_the_same_sums_often() -> None:
    counts = _verdicts(range(40, 220))
    assert counts["same"] > 65, counts
    counts = _verdicts(range(40, 60), "launch") + _verdicts(range(40, 80), "array")
    assert counts["same"] > 25, counts


IN_PLACE = """def made(x, y, w):
    t = tid()
    y[t // w, t % w] = y[t // w, t % w] * x[t]
    y[t // w, t % w] *= y[t // w, t % w]
"""


def test_a_flattened_launch_in_place() -> None:
    # No two threads have the same quotient and remainder.
    function = kernel(IN_PLACE, {"x": ArrayType(float64), "y": ArrayType(float64, 2), "w": int32})
    reverse = adjoint(function, numbers=False)
    assert reverse.launch_ndim == 1
    random = np.random.default_rng(0)
    for shape, left_out in (((1, 1), 0), ((3, 5), 0), ((4, 3), 2)):
        x, y, seed = random.random(shape), random.random(shape), random.random(shape)
        of_x, of_y = np.zeros(x.size), seed.copy()
        n = x.size - left_out
        run(reverse, (n,), [x.ravel(), y, shape[1], of_x, of_y])
        there = (np.arange(x.size) < n).reshape(shape)
        np.testing.assert_allclose(of_x.reshape(shape), np.where(there, 2 * x * y * y * seed, 0))
        np.testing.assert_allclose(of_y, np.where(there, 2 * x * x * y * seed, seed))


def test_other_divisions_in_place_are_refused() -> None:
    text = IN_PLACE.replace("t // w", "t // (w + 1)")
    with pytest.raises(NotDifferentiable):
        adjoint(kernel(text, {"x": ArrayType(float64), "y": ArrayType(float64, 2), "w": int32}), numbers=False)
