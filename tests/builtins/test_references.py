"""The references themselves: the real functions against mpmath, the rest against Python and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.kernels.builtin_cases import columns, distance, drawn, edges, expected, rows
from workbench.builtins import TABLE
from workbench.builtins.declaration.meaning import apply, convert
from workbench.types import SCALARS, Kind, float32, float64, is_integer

mpmath = pytest.importorskip("mpmath")

WIDE = sorted(name for name, entry in TABLE.items() if entry.wide)
EXACT: dict[str, Callable[..., Any]] = {
    "exp2": lambda x: mpmath.power(2, x),
    "log2": lambda x: mpmath.log(x, 2),
    "log10": lambda x: mpmath.log(x, 10),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "pow": mpmath.power,
    "erfcinv": lambda x: mpmath.erfinv(1 - x),
}
WHOLE = [t for t in SCALARS.values() if is_integer(t)]


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("type", [float32, float64], ids=repr)
def test_wide_functions_are_mpmath_rounded(name: str, type: Any) -> None:
    entry, random = TABLE[name], np.random.default_rng(1)
    exact = EXACT.get(name) or getattr(mpmath, name)
    bound = 1 if type == float32 else 3
    cases = [tuple(drawn(entry, n, type, random) for n in range(len(entry.params))) for _ in range(60)]
    got = expected(entry, cases, type)
    with mpmath.workdps(40):
        want = [exact(*(mpmath.mpf(float(v)) for v in row)) for row in cases]
        rounded = np.array([float(w) for w in want], dtype=type.numpy)
    assert distance(got, rounded).max() <= bound


def test_every_wide_function_has_a_peer_in_mpmath() -> None:
    assert all(name in EXACT or hasattr(mpmath, name) for name in WIDE)


@pytest.mark.parametrize("type", WHOLE, ids=repr)
def test_integer_arithmetic_wraps(type: Any) -> None:
    for name, python in (("add", int.__add__), ("sub", int.__sub__), ("mul", int.__mul__)):
        cases = rows(TABLE[name], (type, type))
        got = expected(TABLE[name], cases, type)
        for row, result in zip(cases, got, strict=True):
            assert (int(result) - python(*map(int, row))) % (1 << type.bits) == 0


@pytest.mark.parametrize("type", WHOLE, ids=repr)
def test_integer_division_is_pythons_and_defined_everywhere(type: Any) -> None:
    low, high = int(np.iinfo(type.numpy).min), int(np.iinfo(type.numpy).max)
    all_bits = -1 if type.kind is Kind.INT else high
    for x, y in rows(TABLE["floordiv"], (type, type)):
        with np.errstate(all="ignore"):
            quotient, rest = (int(apply(TABLE[n], (x, y), type)) for n in ("floordiv", "mod"))
        if y == 0:
            assert (quotient, rest) == (all_bits, int(x))
        elif type.kind is Kind.INT and int(x) == low and y == -1:
            assert (quotient, rest) == (low, 0)
        else:
            assert (quotient, rest) == divmod(int(x), int(y))


@pytest.mark.parametrize("type", [float32, float64], ids=repr)
def test_float_division_is_pythons(type: Any) -> None:
    cases = [c for c in rows(TABLE["mod"], (type, type), 100) if c[1] != 0 and np.isfinite(c).all()]
    cases += [(type(1.0), type(0.1)), (type(-1.0), type(1.0)), (type(7), type(-2)), (type(-7), type(2))]
    for name, python in (("floordiv", float.__floordiv__), ("mod", float.__mod__)):
        got = expected(TABLE[name], cases, type)
        if type == float64:
            want = np.array([python(*map(float, c)) for c in cases])
            assert distance(got, want).max() == 0
        x, y = columns(cases, (type, type))
        with np.errstate(all="ignore"):
            peer = getattr(np, "floor_divide" if name == "floordiv" else "remainder")(x, y)
        assert distance(got, peer).max() == 0


@pytest.mark.parametrize("type", WHOLE, ids=repr)
def test_shifts_past_the_width(type: Any) -> None:
    for x, n in rows(TABLE["lshift"], (type, type)):
        left, right = (int(TABLE[name](x, n)) for name in ("lshift", "rshift"))
        amount = int(n) if 0 <= int(n) < type.bits else type.bits
        assert (left - (int(x) << amount)) % (1 << type.bits) == 0
        assert right == int(x) >> amount


@pytest.mark.parametrize("name", ["dot", "cross", "length_sq", "length", "normalize"])
def test_vector_products_are_numpys(name: str) -> None:
    entry, random = TABLE[name], np.random.default_rng(2)
    peers: dict[str, Callable[..., Any]] = {
        "dot": np.dot, "cross": np.cross, "length_sq": lambda a: a @ a, "length": np.linalg.norm,
        "normalize": lambda a: a / np.linalg.norm(a),
    }  # fmt: skip
    for _ in range(20):
        values = [random.uniform(-2, 2, 3) for _ in entry.params]
        assert np.allclose(entry.reference(*values), peers[name](*values), rtol=1e-14)


def test_normalize_keeps_zero_and_shows_nan() -> None:
    normalize = TABLE["normalize"]
    assert np.array_equal(normalize(np.zeros(3)), np.zeros(3))
    assert np.isnan(normalize(np.array([1.0, np.nan, 0.0]))).all()


@pytest.mark.parametrize(
    "name", ["min", "max", "abs", "floor", "ceil", "trunc", "rint", "copysign", "fmod", "isnan", "isinf"]
)
@pytest.mark.parametrize("type", [float32, float64], ids=repr)
def test_references_are_numpys_functions(name: str, type: Any) -> None:
    entry = TABLE[name]
    cases = rows(entry, (type,) * len(entry.params))
    _, result = entry.rule(name, (type,) * len(entry.params))
    peer = {"min": "minimum", "max": "maximum"}.get(name, name)
    with np.errstate(all="ignore"):
        want = getattr(np, peer)(*columns(cases, (type,) * len(entry.params)))
    got = expected(entry, cases, result)  # type: ignore[arg-type]
    assert np.array_equal(got, want, equal_nan=got.dtype.kind == "f")


@pytest.mark.parametrize("type", WHOLE, ids=repr)
def test_casts_from_float_saturate(type: Any) -> None:
    low, high = int(np.iinfo(type.numpy).min), int(np.iinfo(type.numpy).max)
    for value in [*edges(float64), *edges(float32), np.float64(1e300), np.float32(-300.7), np.float64(2.0**63)]:
        got = convert(value, type)
        assert got.dtype == type.numpy
        if np.isnan(value):
            assert got == 0
        else:
            inside = min(max(float(value), float(low)), float(high))
            assert int(got) == min(max(int(inside), low), high)


def test_casts_between_integers_wrap_and_to_bool_ask_for_nonzero() -> None:
    assert convert(np.int32(-1), SCALARS["uint8"]) == 255
    assert convert(np.uint64(2**63 + 5), SCALARS["int32"]) == 5
    assert convert(np.int64(256), SCALARS["bool"]) == np.True_
    assert (
        convert(np.float32(0.25), SCALARS["bool"]) == np.True_
        and convert(np.float32(-0.0), SCALARS["bool"]) == np.False_
    )
    assert convert(np.float64("nan"), SCALARS["bool"]) == np.True_
    assert convert(np.True_, float32) == np.float32(1) and type(convert(np.True_, float32)) is np.float32
