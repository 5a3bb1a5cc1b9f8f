"""Kernels whose compile time once grew without bound are built at four times the size that took seconds.

In a process of its own that is given far more time than it needs: what hangs there fails here, by name. No time is
asserted; `benchmarks/compile_growth.py` has the curves.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb
from tests.support.kernels.families import FAMILIES, LONG, NESTED, SAME_FOR_ALL, Family
from workbench.api.builds.build import function_of
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import _tuning as tuning
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.backends.cpu.emit.loops import repeated_loads
from workbench.ir.values import Function, walk

ROOT = Path(__file__).parents[3]
LIMIT = 1200  # seconds; all of a test's kernels take a few
CHILD = """
import sys
import workbench as wb
from tests.support.kernels.families import FAMILIES
for case in sys.argv[1:]:
    print(case, flush=True)
    name, direction, checks = case.split("; ")
    for size in (FAMILIES[name].size, FAMILIES[name].size // 4):
        gradient, checked = direction == "adjoint", checks == "checks"
        wb.build_cell(FAMILIES[name].text(size), {}, backend="cpu", gradient=gradient, checks=checked)
print("built")
"""
MANY = """
import workbench as wb
from tests.support.kernels.families import SAME_FOR_ALL
for family in SAME_FOR_ALL.values():
    for size in (family.size, family.size // 4):
        wb.build_cell(family.text(size), {}, backend="cpu", checks=False)
print("built")
"""


def lowered(text: str) -> Function:
    return wb.build_cell(text, {}, backend="cpu", compile=False).kernels["k"].specialise().function


def built(program: str, *arguments: str) -> None:
    """Run the program; where it hangs or fails, what it built last is in the message."""
    command = [sys.executable, "-c", program, *arguments]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"it hangs: {late.stdout!r}") from None
    assert done.returncode == 0 and done.stdout.endswith("built\n"), done.stdout + done.stderr[-2000:]


@pytest.mark.slow
def test_chains_that_are_the_same_for_all_threads_are_built() -> None:
    built(MANY)


CASES = [
    f"{name}; {direction}; {checks}"
    for name, family in FAMILIES.items()
    for direction in family.directions
    for checks in ("checks", "none")
]
SHARES = 8  # a process starts in a second, and there are too many cases for one each


@pytest.mark.slow
@pytest.mark.share(SHARES // 2)
@pytest.mark.parametrize("share", range(SHARES))
def test_each_family_is_built(share: int) -> None:
    built(CHILD, *CASES[share::SHARES])


def test_what_long_loops_load_again_and_again_is_frozen() -> None:
    text = SAME_FOR_ALL["in an inner loop"].text
    assert repeated_loads(lowered(text(48))) and not repeated_loads(lowered(text(8)))


def values(text: str, checks: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, c and what the kernel makes of them, all float32."""
    rng = np.random.default_rng(7)
    x, c = rng.random(77, np.float32), rng.random(77, np.float32)
    y = wb.zeros(77, dtype=wb.float32)
    kernel = wb.build_cell(text, {}, backend="cpu", compile=False).kernels["k"]
    wb.launch(kernel, dim=77, inputs=[wb.array(x), wb.array(c), y], checks=checks)
    return x, c, y.numpy()


@pytest.mark.parametrize("checks", [False, True])
def test_frozen_loads_change_no_bit(checks: bool) -> None:
    x, c, y = values(SAME_FOR_ALL["logistic map, lines"].text(40), checks)
    v = c[0]
    for _ in range(40):
        v = v * (np.float32(1.0) - v)
    assert (y == v * x).all()


@pytest.mark.parametrize("checks", [False, True])
def test_cut_chains_change_no_bit(checks: bool) -> None:
    x, _, y = values(LONG["one variable"].text(400), checks)
    v = x
    for _ in range(400):
        v = v * np.float32(1.0001) + x
    assert (y == v * x).all()


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint32", "int64"])
def test_cut_chains_of_integers_change_no_bit(dtype: str) -> None:
    def chain(v, w):  # type: ignore[no-untyped-def]
        for _ in range(400):
            v = v * w + v
            w = w ^ v
        return v

    head = f"def k(x: array[{dtype}], y: array[{dtype}]):\n    i = tid()\n    v = x[i]\n    w = x[i]\n"
    text = head + "    v = v * w + v\n    w = w ^ v\n" * 400 + "    y[i] = v\n"
    x = np.random.default_rng(3).integers(0, 255, 77).astype(dtype)
    y = wb.zeros(77, dtype=dtype)
    kernel = wb.build_cell(text, {}, backend="cpu", compile=False).kernels["k"]
    wb.launch(kernel, dim=77, inputs=[wb.array(x), y], checks=False)
    assert (y.numpy() == chain(x, x)).all()


@pytest.mark.parametrize(
    ("name", "count", "unrolled"),
    [("loops in a row", 4, True), ("loops in a row", 96, False), ("tiles", 4, True), ("tiles", 32, False)],
)
def test_among_many_loops_none_is_unrolled(name: str, count: int, unrolled: bool) -> None:
    assert tuning(lowered(LONG[name].text(count)))["loop_unrolling"] is unrolled


HALVING = "    while v > {k}.5 and n < m:\n        v = v * 0.5\n        n += 1\n"


def whiles(count: int) -> str:
    """A kernel of so many loops that carry two values, and a search, which carries its place."""
    head = "def k(x: array[float], m: int, y: array[float]):\n    i = tid()\n    v, n, at = x[i], int(0), int(0)\n"
    search = "    while x[at] != x[i]:\n        at += 1\n"
    loops = "".join(HALVING.format(k=k) for k in reversed(range(count)))
    return head + loops + search + "    y[i] = v + float(n) + float(at)\n"


@pytest.mark.parametrize(("count", "rolled"), [(7, 0), (8, 8), (15, 15)])
def test_among_many_loops_searches_alone_have_turns_written_out(count: int, rolled: int) -> None:
    assert emit_llvm(lowered(whiles(count)), Options()).count("llvm.loop.unroll.disable") == rolled


def test_many_whiles_give_the_right_values() -> None:
    kernel = wb.build_cell(whiles(12), {}, backend="cpu").kernels["k"]
    for length in (0, 1, 2, 13):
        data = np.random.default_rng(length).permutation(1000)[:length].astype(np.float32)
        y = wb.zeros(length)
        wb.launch(kernel, length, [wb.array(data), 30, y])
        expected = []
        for at, v in enumerate(data.tolist()):
            n = 0
            for k in reversed(range(12)):
                while v > k + 0.5 and n < 30:
                    v, n = v * 0.5, n + 1
            expected.append(v + n + at)
        assert y.numpy().tolist() == np.array(expected, np.float32).tolist()


@pytest.mark.parametrize(("count", "sought"), [(4, True), (200, False)])
def test_superwords_are_sought_in_short_functions(count: int, sought: bool) -> None:
    text = SAME_FOR_ALL["vectors in ifs"].text(count)
    assert tuning(lowered(text))["slp_vectorization"] is sought


@pytest.mark.parametrize(("depth", "level"), [(3, 3), (4, 2), pytest.param(20, 2, marks=pytest.mark.slow)])
def test_in_deeply_nested_loops_conditions_stay_where_they_are(depth: int, level: int) -> None:
    assert tuning(lowered(FAMILIES["sums in sums"].text(depth)))["speed_level"] == level


def test_copied_funcs_mean_what_they_say() -> None:
    x, _, y = values(NESTED["funcs that call twice"].text(6), False)

    def f(d: int, v: np.ndarray) -> np.ndarray:
        return v * v if d == 0 else f(d - 1, v) + f(d - 1, v * np.float32(0.5))

    assert (y == f(6, x)).all()


DOUBLING: dict[str, Family] = {
    name: NESTED[name] for name in ("elif", "ifs in ifs", "ifs in ifs, values used", "breaks")
}


@pytest.mark.parametrize("name", DOUBLING)
def test_an_adjoint_is_as_long_as_its_kernel(name: str) -> None:
    """Twice the branches, twice the operations: nothing is recomputed once a level."""
    from workbench.api.builds.build import function_of

    def operations(size: int) -> int:
        specialisation = wb.build_cell(DOUBLING[name].text(size), {}, compile=False).kernels["k"].specialise()
        return sum(1 for _ in walk(function_of(specialisation, "adjoint").body))

    assert operations(64) < 2.2 * operations(32)


THERE_AND_BACK = "v = v * 0.75 + sin(v) * w"
"""A line whose adjoint looks at what the line computed."""


def long_line(lines: int) -> wb.Kernel:
    body = f"    {THERE_AND_BACK}\n" * lines
    text = "def k(x: array[float], c: array[float], y: array[float]):\n    i = tid()\n    v = x[i]\n    w = c[i]\n"
    return wb.build_cell(text + body + "    y[i] = v\n", {}, backend="cpu", compile=False).kernels["k"]


def distances(lines: int) -> list[int]:
    """Return, for each number that a gang computes, how many lines of text lie between its definition and last use."""
    function = function_of(long_line(lines).specialise(), "adjoint")
    text = cpu.emitted(function, Options(), CpuBackend().target()).text
    _, gang = re.split(r"^gang\.\d+:", text, maxsplit=1, flags=re.M)
    defined: dict[str, int] = {}
    used: dict[str, int] = {}
    for number, row in enumerate(gang[: gang.index("gangs.end")].splitlines()):
        if name := re.match(r" +(%[\w.]+) = ", row):
            defined[name[1]] = number
        used.update(dict.fromkeys(re.findall(r"%[\w.]+", row), number))
    return [used[name] - number for name, number in defined.items()]


def test_a_value_of_a_long_line_is_not_held_until_it_is_used() -> None:
    """The work of a register allocator: what overlaps, not what is computed."""
    short, long = (sum(distances(lines)) for lines in (300, 600))
    assert long < 2.2 * short  # held in registers it is four times as much


def test_the_adjoint_of_a_long_line_is_that_of_jax() -> None:
    lines, kernel = 300, long_line(300)
    x, c = np.random.default_rng(0).uniform(-1, 1, (2, 53)).astype(np.float32)
    gx, gc = wb.zeros(53), wb.zeros(53)
    seed = wb.array(np.ones(53, np.float32))
    wb.launch(kernel, 53, [wb.array(x), wb.array(c), wb.zeros(53)], adjoint=True, adj_inputs=[gx, gc, seed])

    def function(x: jax.Array, c: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, lines, lambda _, v: v * 0.75 + jnp.sin(v) * c, x).sum()

    with jax.enable_x64(True):
        right = jax.jacrev(function, (0, 1))(*(jnp.asarray(v, jnp.float64) for v in (x, c)))
    for got, wanted in zip((gx, gc), right, strict=True):
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-3, atol=1e-5)
