"""Literals, names and overflow: the small decisions of the CUDA text."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernels.cuda_kernels import Make, array
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import build
from workbench.backends.cuda.cpp.c_names import LOCAL_RESERVED, identifier, literal
from workbench.backends.cuda.cpp.signed_wrap import plain_arithmetic
from workbench.backends.cuda.emit import emit_cuda
from workbench.ir.values import walk
from workbench.types import VECTORS, float32, float64, int8, int32, int64, uint32, uint64
from workbench.types import bool as bool_

LITERALS = [
    (1, float32, "1.0f"), (0.1, float32, "0.1f"), (-0.0, float32, "-0.0f"), (1e30, float32, "1e+30f"),
    (1e-45, float32, "1e-45f"), (float("nan"), float32, "__int_as_float(0x7fc00000)"),
    (float("-inf"), float32, "__int_as_float(0xff800000)"), (0.1, float64, "0.1"), (1e300, float64, "1e+300"),
    (float("inf"), float64, "__longlong_as_double(0x7ff0000000000000LL)"), (7, int32, "7"),
    (-(2**31), int32, "(-2147483647 - 1)"), (-(2**63), int64, "(-9223372036854775807LL - 1LL)"), (5, int64, "5LL"),
    (2**32 - 1, uint32, "4294967295U"), (2**64 - 1, uint64, "18446744073709551615ULL"), (-3, int8, "(signed char)-3"),
    (True, bool_, "true"), ((1, 2, 3), VECTORS["vec3"], "vec3{1.0f, 2.0f, 3.0f}"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "type", "text"), LITERALS, ids=str)
def test_literals(value: object, type: object, text: str) -> None:
    assert literal(value, type) == text  # type: ignore[arg-type]


def _read(text: str) -> float:
    return float.fromhex(text) if "0x" in text else float(text)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float32_literals_keep_their_bits_also_through_double(value: float) -> None:
    text = literal(value, float32)
    assert text.endswith("f") and ("." in text or "e" in text)
    assert struct.pack("f", np.float32(_read(text[:-1]))) == struct.pack("f", value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_float64_literals_keep_their_bits(value: float) -> None:
    assert struct.pack("d", float(literal(value, float64))) == struct.pack("d", value)


def test_nvrtc_reads_literals_with_all_their_bits(need: Callable[[str], str]) -> None:
    need("nvrtc")
    rng = np.random.default_rng(5)
    values = rng.integers(0, 0x7F800000, 300, np.uint32).view(np.float32)
    rows = "".join(f"    x[{n}] = {literal(v, float32)};\n" for n, v in enumerate(values))
    ptx = build(f'extern "C" __global__ void k(float* x) {{\n{rows}}}\n', Options(), "sm_90", "ptx").image.decode()
    found = {int(number) & 0xFFFFFFFF for number in re.findall(r"mov\.[bu]32\s+%r\d+, (-?\d+);", ptx)}
    found |= {int(bits, 16) for bits in re.findall(r"0f([0-9A-F]{8})", ptx)}
    assert {int(bits) for bits in values.view(np.uint32)} <= found


def test_names_are_legal_and_unique() -> None:
    taken: set[str] = set(LOCAL_RESERVED)
    asked = ["x", "x", "x1", "float", "sinf", "__x", "wb_min", "größe", "_", "", "atomicAdd", "vec3", "dim", "λ"]
    given_ = []
    for name in asked:
        given_.append(identifier(name, taken))
        taken.add(given_[-1])
    assert len(set(given_)) == len(asked)
    assert all(re.fullmatch(r"[A-Za-z_]\w*", n, re.ASCII) and not n.startswith(("__", "wb_")) for n in given_)
    assert given_[:3] == ["x", "x1", "x1_1"] and given_[12] == "dim"


def test_signed_arithmetic_is_plain_only_where_it_cannot_overflow() -> None:
    k = Make("where_plain", x=array(int32), n=int32)
    i = k.tid()
    safe = [i + 1, k.shape(k.x) - 1, k.call("mod", k.n, i.like(100)) * 1000, i - k.shape(k.x)]
    unsafe = [i + 2, k.n + 1, k.n * 2, -k.n, k.shape(k.x) + 1]
    for value in [*safe, *unsafe]:
        k.store(k.x, i, value)
    function = k.done()
    plain = {op.result for op in plain_arithmetic(function)}
    assert all(value.value in plain for value in safe)
    assert not any(value.value in plain for value in unsafe)


def test_an_index_is_plain_unless_it_is_used_otherwise() -> None:
    k = Make("stencil", x=array(int32), n=int32)
    i = k.tid()
    only, shared = i + 5, i + 7
    k.store(k.x, i, k.load(k.x, only) + k.load(k.x, shared) + shared)
    text = emit_cuda(k.done(), Options())
    assert "x.data[i + 5]" in text
    assert "int t = int(i + 7U);" in text


def test_overflow_is_not_used_by_the_compiler(need: Callable[[str], str]) -> None:
    """`n * 2 // 2` and `n + 1 > n` would be folded if they were written plainly."""
    need("nvrtc")
    k = Make("folds", x=array(int32), n=int32)
    i = k.tid()
    k.store(k.x, i, k.call("where", k.n + 1 > k.n, i.like(1), i.like(0)))
    function = k.done()
    assert len([op for op in walk(function.body) if op.name == "add"]) == 1
    ptx = build(emit_cuda(function, Options()), Options(), "sm_90", "ptx").image.decode()
    assert re.search(r"setp\.\w+\.s32", ptx.split("x.data")[-1]) and "2147483647" in ptx
