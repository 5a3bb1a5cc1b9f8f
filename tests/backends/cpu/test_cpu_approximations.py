"""Our own maths functions against mpmath, over their whole range, as wide code and as scalar code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.support.checks.minimax import coefficients
from workbench.backends.cpu.maths import approximations, names
from workbench.ir.build import Builder
from workbench.ir.values import Function, Value
from workbench.types import ArrayType, float32, float64, int32

TYPES = {32: float32, 64: float64}
# Worst error in units of the last place, by function: float32, float64. `design/cpu_maths.md` says the same.
BOUNDS = {
    "exp": (1.1, 1.1),
    "log": (1.0, 1.0),
    "sin": (1.5, 1.5),
    "cos": (1.5, 1.5),
    "tan": (3.0, 3.0),
    "tanh": (2.0, 2.0),
    "erf": (1.2, 1.2),
    "pow": (0.51, 1.1),
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan]


def kernel(name: str, bits: int) -> Function:
    t, count = TYPES[bits], 2 if name == "pow" else 1
    params = [Value(ArrayType(t), f"x{k}") for k in range(count)]
    out = Value(ArrayType(t), "out")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.store(out, i, b.one(name, [b.load(p, i) for p in params], t))
    return Function(name, (*params, out), b.body(), 1)


def arguments(name: str, bits: int, n: int) -> list[np.ndarray[Any, Any]]:
    """Half of them near 1 in size, half over the function's whole range."""
    rng = np.random.default_rng(bits)
    top = 127.9 if bits == 32 else 1023.9
    bottom = -149.0 if bits == 32 else -1074.0
    near = np.exp2(rng.uniform(-2, 2, n // 2))
    wide = {
        "exp": rng.uniform(*((-105, 89) if bits == 32 else (-747, 710)), n // 2),
        "tanh": rng.uniform(-25, 25, n // 2),
        "erf": rng.uniform(-7, 7, n // 2),
    }.get(name, np.exp2(rng.uniform(bottom, top, n // 2)))
    x = np.concatenate([near, wide])
    signs = rng.choice([-1.0, 1.0], len(x)) if name not in ("log", "pow") else 1.0
    x = (x * signs).astype(TYPES[bits].numpy)
    if name != "pow":
        return [x]
    limit = 104 if bits == 32 else 745
    logs = np.log(x.astype(np.longdouble)).astype(np.float64)
    y = rng.uniform(-limit, limit, len(x)) / np.where(np.abs(logs) < 1e-3, 1e-3, logs)
    return [x, y.astype(x.dtype)]


def worst(name: str, got: np.ndarray[Any, Any], args: list[np.ndarray[Any, Any]]) -> tuple[float, Any]:
    """The largest error in units of the last place of the true value, and where."""
    info = np.finfo(got.dtype)
    true: Callable[..., Any] = mpmath.power if name == "pow" else getattr(mpmath, name)
    most, place = 0.0, None
    with mpmath.workprec(1200 if name in ("sin", "cos", "tan") else 160):
        largest = mpmath.mpf(float(info.max))
        for g, *row in zip(got, *args, strict=True):
            want = true(*(mpmath.mpf(float(v)) for v in row))
            if abs(want) > largest:
                unit = mpmath.mpf(2) ** (math.frexp(float(info.max))[1] - 1 - info.nmant)
                over = abs(want) - largest
                error = 0.0 if math.isinf(g) or over < unit else math.inf
            else:
                exponent = info.minexp if want == 0 else max(int(mpmath.floor(mpmath.log(abs(want), 2))), info.minexp)
                error = float(abs(mpmath.mpf(float(g)) - want) / mpmath.mpf(2) ** (exponent - info.nmant))
            if error > most:
                most, place = error, row
    return most, place


def run(launch: Any, name: str, args: list[np.ndarray[Any, Any]], **how: Any) -> np.ndarray[Any, Any]:
    out = np.zeros_like(args[0])
    launch(kernel(name, 8 * out.itemsize), [len(out)], [*args, out], **how)
    return out


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_error_is_within_what_is_stated(launch, name, bits):
    args = arguments(name, bits, 500)
    error, place = worst(name, run(launch, name, args), args)
    assert error <= BOUNDS[name][bits // 64], f"{name}({place}) is wrong by {error} ulp"


@pytest.mark.slow
@pytest.mark.share(8)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_error_is_within_what_is_stated_at_many_places(launch, name, bits):
    args = arguments(name, bits, 40_000)
    error, place = worst(name, run(launch, name, args), args)
    assert error <= BOUNDS[name][bits // 64], f"{name}({place}) is wrong by {error} ulp"


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_wide_and_scalar_code_give_the_same_bits(launch, name, bits):
    args = arguments(name, bits, 64)
    assert run(launch, name, args).tobytes() == run(launch, name, args, cuts=list(range(1, 64))).tobytes()


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_special_values_are_the_c_library_s(launch, name, bits):
    dtype = TYPES[bits].numpy
    least = float(np.finfo(dtype).smallest_subnormal)
    values = np.array([*SPECIAL, least, -least, float(np.finfo(dtype).max), 2.5, -2.5, 3.0, -3.0, 1e30], dtype)
    args = [g.ravel().astype(dtype) for g in np.meshgrid(values, values)] if name == "pow" else [values]
    with np.errstate(all="ignore"):
        reference: Callable[..., Any] = np.vectorize(math.erf) if name == "erf" else getattr(np, name)
        want = reference(*(a.astype(np.float64) for a in args)).astype(dtype)
    got = run(launch, name, args)
    with np.errstate(all="ignore"):
        close = np.abs(got - want) <= 4 * np.spacing(np.abs(want))
    same = (np.isnan(got) & np.isnan(want)) | ((got == want) & (np.signbit(got) == np.signbit(want))) | close
    assert same.all(), [(*(float(a[k]) for a in args), got[k], want[k]) for k in np.flatnonzero(~same)]


def test_every_formula_is_tried_here():
    assert set(BOUNDS) == set(approximations.FORMULAS) == set(names.FORMULAS)


@pytest.mark.slow
def test_coefficients_are_those_of_the_remez_exchange():
    for bits, tables in approximations.TABLES.items():
        for name, numbers in tables.items():
            again, _ = coefficients(name, bits)
            assert np.allclose(again, numbers, rtol=1e-4, atol=0), name
            assert tuple(again[:2]) == numbers[:2], name


def test_the_parts_of_the_constants_add_up():
    with mpmath.workprec(300):
        for bits, about in approximations.FLOATS.items():
            last = about.half_pi[-1]
            assert abs(sum(map(mpmath.mpf, about.half_pi)) - mpmath.pi / 2) <= abs(last) * 2.0**-(about.mantissa)
            for parts in (about.log2, about.log2_short):
                error = abs(sum(map(mpmath.mpf, parts)) - mpmath.log(2))
                assert error <= abs(parts[-1]) * 2.0**-(about.mantissa), bits
        assert abs(sum(map(mpmath.mpf, approximations.THIRDS)) - mpmath.mpf(2) / 3) < 1e-32
