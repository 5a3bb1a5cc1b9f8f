"""Float instructions and conversions of PTX against numpy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.support.kernels.ptx_runs import Array, evaluate

RNG = np.random.default_rng(2)


def sample(dtype: Any, count: int = 400, unusual: bool = True) -> Array:
    bits = np.dtype(dtype).itemsize
    values = (RNG.normal(size=count) * 10.0 ** RNG.integers(-4, 5, count)).astype(dtype)
    if unusual:
        odd = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -2.5, 1e30, 1e-40, 65504], np.float64)
        with np.errstate(all="ignore"):
            values[: len(odd)] = odd.astype(dtype)
        random = RNG.integers(0, 256, 100 * bits).astype(np.uint8).view(dtype)
        values[50:150] = random
    return RNG.permutation(values)


def same(a: Array, b: Array) -> bool:
    """Equal bits, or both NaN."""
    kind = f"u{a.dtype.itemsize}"
    return bool(np.all((a.view(kind) == b.astype(a.dtype).view(kind)) | (np.isnan(a) & np.isnan(b))))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_basic_operations_are_exact(dtype: Any) -> None:
    a, b = sample(dtype), sample(dtype)
    t = f"f{8 * np.dtype(dtype).itemsize}"
    statements = [(f"{n}.{t} %o, %a, %b;", dtype) for n in ("add", "sub", "mul")]
    statements += [(f"neg.{t} %o, %a;", dtype), (f"abs.{t} %o, %a;", dtype)]
    if dtype != np.float16:
        statements += [
            (f"div.rn.{t} %o, %a, %b;", dtype),
            (f"sqrt.rn.{t} %o, %a;", dtype),
            (f"rcp.rn.{t} %o, %a;", dtype),
        ]
    statements += [(f"min.{t} %o, %a, %b;", dtype), (f"max.{t} %o, %a, %b;", dtype)]
    got = evaluate({"a": a, "b": b}, statements)
    with np.errstate(all="ignore"):
        want = [a + b, a - b, a * b, -a, abs(a)]
        want += [a / b, np.sqrt(a), dtype(1) / a] if dtype != np.float16 else []
        want += [np.fmin(a, b), np.fmax(a, b)]
    zero = (a == 0) & (b == 0)  # which zero is the less, numpy does not say
    for (text, _), x, y in zip(statements, got, want, strict=True):
        skip = zero if text.startswith(("min", "max")) else np.zeros(len(a), bool)
        assert same(x[~skip], y[~skip]), text


def rounded(value: Fraction) -> np.float32:
    """A fraction as the nearest float32, to even."""
    near = np.float32(float(value))
    around = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
    return min(around, key=lambda f: (abs(Fraction(float(f)) - value), int(f.view(np.uint32)) & 1))


def test_fused_and_directed_rounding() -> None:
    a, b, c = (sample(np.float32, 300, unusual=False) for _ in range(3))
    texts = ["fma.rn", "fma.rz", "fma.rm", "fma.rp"]
    got = evaluate({"a": a, "b": b, "c": c}, [(f"{t}.f32 %o, %a, %b, %c;", np.float32) for t in texts])
    for n in range(len(a)):
        exact = Fraction(float(a[n])) * Fraction(float(b[n])) + Fraction(float(c[n]))
        near, zero, down, up = (Fraction(float(r[n])) for r in got)
        assert got[0][n] == rounded(exact)
        assert down <= exact <= up and float(up - down) <= 2 * float(np.spacing(abs(got[0][n])))
        assert zero == (down if exact > 0 else up)
        assert near in (down, up)


def test_fused_halves_round_once() -> None:
    a, b, c = (sample(np.float16, 400, unusual=False) for _ in range(3))
    (got,) = evaluate({"a": a, "b": b, "c": c}, [("fma.rn.f16 %o, %a, %b, %c;", np.float16)])
    with np.errstate(all="ignore"):
        want = (a.astype(np.longdouble) * b + c).astype(np.float16)
    assert same(got, want)


def test_packed_halves() -> None:
    a, b = sample(np.float16), sample(np.float16)
    wide_a, wide_b = a.view(np.uint32), b.view(np.uint32)
    texts = [(f"{n}.f16x2 %o, %a, %b;", np.uint32) for n in ("add", "mul")]
    total, product = evaluate({"a": wide_a, "b": wide_b}, texts)
    with np.errstate(all="ignore"):
        assert same(total.view(np.float16), a + b) and same(product.view(np.float16), a * b)


def bf16(a: Array) -> Array:
    """float32 rounded to bf16's bits."""
    bits = a.view(np.uint32)
    near = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(a), 0x7FFF, near).astype(np.uint16)


def test_bf16() -> None:
    a, b = sample(np.float32), sample(np.float32)
    to_bf = "{ .reg .b16 %x, %y; cvt.rn.bf16.f32 %x, %a; cvt.rn.bf16.f32 %y, %b; "
    texts = [("cvt.rn.bf16.f32 %o, %a;", np.uint16), (to_bf + "add.rn.bf16 %o, %x, %y; }", np.uint16)]
    texts += [("{ .reg .b32 %w; cvt.rn.bf16x2.f32 %w, %a, %b; mov.b32 %o, %w; }", np.uint32)]
    cast, total, both = evaluate({"a": a, "b": b}, texts)
    assert np.array_equal(cast, bf16(a))

    def back(x: Array) -> Array:
        return (x.astype(np.uint32) << 16).view(np.float32)

    with np.errstate(all="ignore"):
        assert np.array_equal(total, bf16(back(bf16(a)) + back(bf16(b))))
    assert np.array_equal(both, bf16(a).astype(np.uint32) << 16 | bf16(b))


def test_float_comparisons() -> None:
    a, b = sample(np.float32), sample(np.float32)
    b[::4] = a[::4]
    nan = np.isnan(a) | np.isnan(b)
    with np.errstate(all="ignore"):
        want = {
            "eq": a == b, "ne": (a != b) & ~nan, "lt": a < b, "ge": a >= b, "equ": (a == b) | nan, "neu": a != b,
            "ltu": (a < b) | nan, "geu": (a >= b) | nan, "num": ~nan, "nan": nan,
        }  # fmt: skip
    got = evaluate({"a": a, "b": b}, [(f"setp.{k}.f32 %p, %a, %b; selp.b32 %o, 1, 0, %p;", np.int32) for k in want])
    for (name, expected), result in zip(want.items(), got, strict=True):
        assert np.array_equal(result, expected), name


@pytest.mark.parametrize("of", [np.float32, np.float64])
def test_floats_to_integers_saturate(of: Any) -> None:
    a = sample(of)
    a[:8] = [2.5, 3.5, -2.5, 1e10, -1e10, 1e25, -1e25, np.nan]
    t = f"f{8 * np.dtype(of).itemsize}"
    rounds = {"rzi": np.trunc, "rni": np.rint, "rmi": np.floor, "rpi": np.ceil}
    kinds = [(np.int32, "s32"), (np.uint32, "u32"), (np.int64, "s64"), (np.uint64, "u64")]
    statements = [(f"cvt.{m}.{k}.{t} %o, %a;", d) for m in rounds for d, k in kinds]
    got = iter(evaluate({"a": a}, statements))
    for function in rounds.values():
        for dtype, _ in kinds:
            info = np.iinfo(dtype)
            for x, r in zip(a, next(got), strict=True):
                if np.isnan(x):
                    want = 0 if info.bits == 32 else 1 << 63
                else:
                    f = function(float(x))
                    want = info.max if f >= info.max else info.min if f <= info.min else int(f)
                assert int(r) % (1 << 64) == want % (1 << 64) if info.bits == 64 else int(r) == want, (x, dtype)


def test_conversions_between_floats() -> None:
    a, d = sample(np.float32), sample(np.float64)
    texts = [
        ("cvt.f64.f32 %o, %a;", np.float64), ("cvt.rn.f32.f64 %o, %d;", np.float32),
        ("cvt.rn.f16.f32 %o, %a;", np.float16), ("cvt.rn.f16.f64 %o, %d;", np.float16),
        ("cvt.rz.f32.f64 %o, %d;", np.float32), ("cvt.rm.f32.f64 %o, %d;", np.float32),
        ("cvt.rni.f32.f32 %o, %a;", np.float32), ("cvt.sat.f32.f32 %o, %a;", np.float32),
        ("{ .reg .b16 %h; cvt.rn.f16.f32 %h, %a; cvt.f32.f16 %o, %h; }", np.float32),
    ]  # fmt: skip
    wide, narrow, half, half64, zero, down, whole, sat, back = evaluate({"a": a, "d": d}, texts)
    with np.errstate(all="ignore"):
        assert same(wide, a.astype(np.float64)) and same(narrow, d.astype(np.float32))
        assert same(half, a.astype(np.float16)) and same(half64, d.astype(np.float16))
        assert same(whole, np.rint(a)) and same(back, a.astype(np.float16).astype(np.float32))
        assert same(sat, np.where(np.isnan(a), 0, np.clip(a, 0, 1)).astype(np.float32) + np.float32(0))
        near = d.astype(np.float32)
        finite = np.isfinite(near) & np.isfinite(d)
        low = np.where(near.astype(np.float64) > d, np.nextafter(near, np.float32(-np.inf)), near)
        cut = np.where(abs(near.astype(np.float64)) > abs(d), np.nextafter(near, np.float32(0)), near)
    assert same(down[finite], low[finite]) and same(zero[finite], cut[finite])


def test_integers_to_floats() -> None:
    n = RNG.integers(-(2**63), 2**63, 300)
    m = n.astype(np.int32)
    texts = [
        ("cvt.rn.f32.s32 %o, %m;", np.float32), ("cvt.rn.f32.u32 %o, %m;", np.float32),
        ("cvt.rn.f32.s64 %o, %n;", np.float32), ("cvt.rn.f64.u64 %o, %n;", np.float64),
        ("cvt.rz.f32.s32 %o, %m;", np.float32),
    ]  # fmt: skip
    s, u, s64, u64, zero = evaluate({"n": n, "m": m}, texts)
    assert same(s, m.astype(np.float32)) and same(u, m.view(np.uint32).astype(np.float32))
    assert same(s64, n.astype(np.float32)) and same(u64, n.view(np.uint64).astype(np.float64))
    assert np.all(abs(zero.astype(np.float64)) <= abs(m.astype(np.float64)))


def test_approximations_are_correctly_rounded() -> None:
    a = sample(np.float32, unusual=False)
    names = {"ex2": np.exp2, "sin": np.sin, "cos": np.cos, "rcp": lambda x: 1 / x, "tanh": np.tanh}
    positive = {"lg2": np.log2, "rsqrt": lambda x: 1 / np.sqrt(x), "sqrt": np.sqrt}
    texts = [(f"{n}.approx.f32 %o, %a;", np.float32) for n in names]
    texts += [(f"{{ .reg .f32 %x; abs.f32 %x, %a; {n}.approx.f32 %o, %x; }}", np.float32) for n in positive]
    got = evaluate({"a": a}, texts)
    with np.errstate(all="ignore"):
        wide = a.astype(np.float64)
        want = [f(wide) for f in names.values()] + [f(abs(wide)) for f in positive.values()]
        for (text, _), x, y in zip(texts, got, want, strict=True):
            assert same(x, y.astype(np.float32)), text


def test_flush_to_zero() -> None:
    a = np.array([1e-40, -1e-40, 1e-38, 2e-38, 1.0, -0.0], np.float32)
    half = np.full(6, 0.5, np.float32)
    (got,) = evaluate({"a": a, "b": half}, [("mul.ftz.f32 %o, %a, %b;", np.float32)])
    assert same(got, np.array([0, -0.0, 0, 0, 0.5, -0.0], np.float32)) or same(
        got, np.array([0, -0.0, 0, np.float32(2e-38) * 0, 0.5, -0.0], np.float32)
    )
