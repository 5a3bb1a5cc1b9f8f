"""Integer, bitwise and selection instructions of PTX against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.kernels.ptx_runs import Array, evaluate

RNG = np.random.default_rng(1)
EDGES = [0, 1, -1, 2, 31, 32, 33, 63, 64, 255, 256, -128, 127, -(2**31), 2**31 - 1]


def sample(dtype: Any, count: int = 300) -> Array:
    info = np.iinfo(dtype)
    edges = np.array([e % (2 * (info.max - info.min + 1)) for e in EDGES], object) & ((1 << info.bits) - 1)
    values = RNG.integers(0, 1 << 32, count, np.uint64) * RNG.integers(0, 1 << 32, count, np.uint64)
    values = np.concatenate([values, edges.astype(np.uint64)])
    RNG.shuffle(values)
    return values.astype(f"u{np.dtype(dtype).itemsize}").view(dtype)


def as_ints(a: Array) -> list[int]:
    return [int(v) for v in a]


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_arithmetic_wraps(dtype: Any) -> None:
    a, b = sample(dtype), sample(dtype)
    t = f"{'s' if np.dtype(dtype).kind == 'i' else 'u'}{8 * np.dtype(dtype).itemsize}"
    names = ["add", "sub", "mul.lo", "min", "max", "div", "rem", "mul.hi"]
    got = evaluate({"a": a, "b": b}, [(f"{n}.{t} %o, %a, %b;", dtype) for n in names])
    bits = 8 * np.dtype(dtype).itemsize
    x, y = as_ints(a), as_ints(b)

    def trunc_div(p: int, q: int) -> int:
        return abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)

    means = {
        "add": lambda p, q: p + q, "sub": lambda p, q: p - q, "mul.lo": lambda p, q: p * q, "min": min, "max": max,
        "div": trunc_div, "rem": lambda p, q: p - q * trunc_div(p, q), "mul.hi": lambda p, q: (p * q) >> bits,
    }  # fmt: skip
    for name, result in zip(names, got, strict=True):
        for p, q, r in zip(x, y, as_ints(result), strict=True):
            if q or name not in ("div", "rem"):
                assert (r - means[name](p, q)) % (1 << bits) == 0, (name, p, q, r)


def test_wide_products_and_sums_with_carry() -> None:
    a, b = sample(np.int32), sample(np.int32)
    text = "mul.wide.s32 %o, %a, %b;"
    carry = """{ .reg .b32 %l, %h; .reg .b32 %bl; mov.b32 %bl, -1; add.cc.u32 %l, %a, %bl; addc.u32 %h, %b, 0;
        mov.b64 %o, {%l, %h}; }"""
    borrow = """{ .reg .b32 %l, %h; sub.cc.u32 %l, %a, 5; subc.u32 %h, %b, 0; mov.b64 %o, {%l, %h}; }"""
    mad = "mad.wide.u32 %o, %a, %b, 7;"
    wide, sums, less, mads = evaluate(
        {"a": a, "b": b}, [(text, np.int64), (carry, np.uint64), (borrow, np.uint64), (mad, np.uint64)]
    )
    assert np.array_equal(wide, a.astype(np.int64) * b)
    whole = a.view(np.uint32).astype(np.uint64) | b.view(np.uint32).astype(np.uint64) << np.uint64(32)
    assert np.array_equal(sums, whole + np.uint64(2**32 - 1))
    assert np.array_equal(less, whole - np.uint64(5))
    assert np.array_equal(mads, a.view(np.uint32).astype(np.uint64) * b.view(np.uint32) + np.uint64(7))


@pytest.mark.parametrize("dtype", [np.int16, np.uint32, np.int32, np.uint64, np.int64])
def test_shifts_clamp(dtype: Any) -> None:
    a, b = sample(dtype), np.resize(np.array([0, 1, 5, 15, 16, 31, 32, 40, 63, 64, 200, 2**31], np.uint32), 315)
    bits = 8 * np.dtype(dtype).itemsize
    sign = "s" if np.dtype(dtype).kind == "i" else "u"
    left, right = evaluate(
        {"a": a, "b": b}, [(f"shl.b{bits} %o, %a, %b;", dtype), (f"shr.{sign}{bits} %o, %a, %b;", dtype)]
    )
    for p, n, x, y in zip(as_ints(a), as_ints(b), as_ints(left), as_ints(right), strict=True):
        n = min(n, 1000)
        assert (x - (p << n)) % (1 << bits) == 0
        assert y == p >> n


def test_bits() -> None:
    a, b, c = sample(np.uint32), sample(np.uint32), sample(np.uint32)
    n, w = (c >> 3) % 40, (c >> 9) % 40
    texts = [
        "popc.b32 %o, %a;", "clz.b32 %o, %a;", "brev.b32 %o, %a;", "bfind.u32 %o, %a;", "bfe.u32 %o, %a, %n, %w;",
        "bfe.s32 %o, %a, %n, %w;", "bfi.b32 %o, %a, %b, %n, %w;", "prmt.b32 %o, %a, %b, %c;",
        "lop3.b32 %o, %a, %b, %c, 0xE8;", "shf.l.wrap.b32 %o, %a, %b, %n;", "shf.r.clamp.b32 %o, %a, %b, %n;",
        "not.b32 %o, %a;", "cnot.b32 %o, %n;", "sad.u32 %o, %a, %b, %c;", "dp4a.s32.u32 %o, %a, %b, %c;",
        "slct.u32.s32 %o, %a, %b, %c;",
    ]  # fmt: skip
    got = [as_ints(r) for r in evaluate({"a": a, "b": b, "c": c, "n": n, "w": w}, [(t, np.uint32) for t in texts])]
    mask = 0xFFFFFFFF

    def field(p: int, start: int, length: int, signed: bool) -> int:
        value = p | (-1 << 32 if signed and p >> 31 else 0)
        value = value >> start & ((1 << length) - 1)
        if signed and length and value >> (length - 1):
            value |= -1 << length
        return value & mask

    def byte(p: int, q: int, nibble: int) -> int:
        value = ((q << 32 | p) >> 8 * (nibble & 7)) & 255
        return (255 if value > 127 else 0) if nibble & 8 else value

    def signed8(v: int) -> int:
        return v - 256 if v > 127 else v

    columns = zip(*(as_ints(v) for v in (a, b, c, n, w)), strict=True)
    for k, (x, y, z, s, length) in enumerate(columns):
        keep = ((1 << length) - 1) << s & mask
        expected = [
            x.bit_count(), 32 - x.bit_length(), int(f"{x:032b}"[::-1], 2), (x.bit_length() - 1) & mask,
            field(x, s, length, False), field(x, s, length, True), ((x << s) & keep) | (y & ~keep),
            sum(byte(x, y, z >> 4 * i & 15) << 8 * i for i in range(4)),
            (x & y) | (x & z) | (y & z), ((y << 32 | x) << s % 32) >> 32 & mask, (y << 32 | x) >> min(s, 32) & mask,
            ~x & mask, int(s == 0), (z + abs(x - y)) & mask,
            (z + sum(signed8(x >> 8 * i & 255) * (y >> 8 * i & 255) for i in range(4))) & mask, x if z < 2**31 else y,
        ]  # fmt: skip
        for text, result, want in zip(texts, got, expected, strict=True):
            assert result[k] == want, (text, x, y, z, s, length)


def test_comparisons_and_predicates() -> None:
    a, b = sample(np.int32), sample(np.int32)
    b[::3] = a[::3]
    u, v = a.view(np.uint32), b.view(np.uint32)
    kinds = {
        "eq.s32": a == b, "ne.s32": a != b, "lt.s32": a < b, "ge.s32": a >= b, "gt.u32": u > v, "lo.u32": u < v,
        "hs.u32": u >= v, "ls.u32": u <= v,
    }  # fmt: skip
    more = {"and": lambda p, q: p & q, "or": lambda p, q: p | q, "xor": lambda p, q: p ^ q}
    plain = [(f"setp.{k} %p, %a, %b; selp.b32 %o, 1, 0, %p;", np.int32) for k in kinds]
    joined = [
        (f"setp.gt.s32 %q, %a, 0; setp.lt.{n}.s32 %p|%q, %a, %b, !%q; selp.b32 %o, 1, 0, %q;", np.int32) for n in more
    ]
    guarded = [("mov.b32 %o, 5; setp.lt.s32 %p, %a, %b; @%p add.s32 %o, %o, 1; @!%p sub.s32 %o, %o, 1;", np.int32)]
    got = evaluate({"a": a, "b": b}, [*plain, *joined, *guarded])
    for (name, want), result in zip(kinds.items(), got, strict=False):
        assert np.array_equal(result, want), name
    for (name, function), result in zip(more.items(), got[len(plain) :], strict=False):
        assert np.array_equal(result, function(~(a < b), ~(a > 0))), name
    assert np.array_equal(got[-1], np.where(a < b, 6, 4))


def test_packing_and_narrow_types() -> None:
    a = sample(np.uint32)
    texts = [
        ("{ .reg .b16 %l, %h; mov.b32 {%l, %h}, %a; mov.b32 %o, {%h, %l}; }", np.uint32),
        ("cvt.s32.s8 %o, %a;", np.int32),
        ("cvt.u32.u16 %o, %a;", np.uint32),
        ("cvt.s64.s32 %o, %a;", np.int64),
        ("cvt.sat.s8.s32 %o, %a;", np.int32),
        ("cvt.sat.u8.s32 %o, %a;", np.int32),
        ("cvt.sat.s32.u32 %o, %a;", np.int32),
    ]
    swapped, s8, u16, wide, sat, satu, sats = evaluate({"a": a}, texts)
    signed = a.view(np.int32)
    assert np.array_equal(swapped, a >> 16 | a << 16)
    assert np.array_equal(s8, a.astype(np.int8)) and np.array_equal(u16, a.astype(np.uint16))
    assert np.array_equal(wide, signed.astype(np.int64))
    assert np.array_equal(sat, np.clip(signed, -128, 127)) and np.array_equal(satu, np.clip(signed, 0, 255))
    assert np.array_equal(sats, np.minimum(a, 2**31 - 1))
