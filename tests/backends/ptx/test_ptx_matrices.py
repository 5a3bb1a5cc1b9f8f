"""mma.sync in all its forms and ldmatrix, with fragments placed by the formulas of the PTX ISA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.kernels.ptx_runs import HEAD, Array, Run

RNG = np.random.default_rng(3)
LANE = np.arange(32)
GROUP, QUAD = LANE >> 2, LANE % 4

FORMS = [
    (m, n, k, a, b, c)
    for m, n, k, a, b, c in (
        (16, 8, 16, "f16", "f16", "f32"), (16, 8, 8, "f16", "f16", "f32"), (16, 8, 16, "f16", "f16", "f16"),
        (16, 8, 8, "f16", "f16", "f16"), (16, 8, 16, "bf16", "bf16", "f32"), (16, 8, 8, "bf16", "bf16", "f32"),
        (16, 8, 8, "tf32", "tf32", "f32"), (16, 8, 4, "tf32", "tf32", "f32"), (16, 8, 32, "s8", "s8", "s32"),
        (16, 8, 16, "s8", "u8", "s32"), (16, 8, 32, "u8", "s8", "s32"), (16, 8, 16, "u8", "u8", "s32"),
        (8, 8, 4, "f64", "f64", "f64"), (16, 8, 8, "f64", "f64", "f64"),
    )
]  # fmt: skip


def parts(kind: str) -> int:
    return {"f16": 2, "bf16": 2, "s8": 4, "u8": 4}.get(kind, 1)


def a_element(i: int, kind: str, m: int) -> tuple[Array, Array]:
    """Rows and columns of element a_i of all lanes (PTX ISA 9.7.14.5)."""
    p = parts(kind)
    if m == 8:
        return GROUP, QUAD
    row = GROUP + 8 * ((i // p) % 2)
    return row, QUAD * p + i % p + 4 * p * (i // (2 * p))


def b_element(i: int, kind: str) -> tuple[Array, Array]:
    p = parts(kind)
    return QUAD * p + i % p + 4 * p * (i // p), GROUP


def c_element(i: int) -> tuple[Array, Array]:
    return GROUP + 8 * (i // 2), QUAD * 2 + i % 2


def values(kind: str, shape: tuple[int, int]) -> tuple[Array, Array]:
    """Small values that all types hold: as they are stored, and as float64."""
    low = 0 if kind == "u8" else -8
    whole = RNG.integers(low, 9, shape)
    if kind == "bf16":
        return (whole.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), whole.astype(np.float64)
    stored = {
        "f16": np.float16,
        "tf32": np.float32,
        "f32": np.float32,
        "s8": np.int8,
        "u8": np.uint8,
        "f64": np.float64,
    }
    return whole.astype(stored.get(kind, np.int32)), whole.astype(np.float64)


def fragment(matrix: Array, count: int, element: Any) -> Array:
    """Registers of all lanes: lane, element."""
    return np.ascontiguousarray(np.stack([matrix[element(i)] for i in range(count)], 1))


@pytest.mark.parametrize("form", FORMS, ids=lambda f: "m{}n{}k{}.{}.{}.{}".format(*f))
def test_products(form: tuple[int, int, int, str, str, str]) -> None:
    m, n, k, ka, kb, kc = form
    (a, wa), (b, wb), (c, wc) = values(ka, (m, k)), values(kb, (k, n)), values(kc, (m, n))
    fa = fragment(a, m * k // 32, lambda i: a_element(i, ka, m))
    fb = fragment(b, k * n // 32, lambda i: b_element(i, kb))
    fc = fragment(c, m * n // 32, c_element)
    bits = 64 if kc == "f64" else 32
    rows, lists = [], []
    for name, f, parameter in (("a", fa, "pa"), ("b", fb, "pb"), ("c", fc, "pc")):
        words = f.shape[1] * f.dtype.itemsize * 8 // bits
        rows.append(f".reg .b{bits} %{name}<{words}>; ld.param.u64 %x, [{parameter}];")
        rows.append(f"mad.lo.u64 %x, %t64, {words * bits // 8}, %x;")
        rows += [f"ld.global.b{bits} %{name}{i}, [%x+{i * bits // 8}];" for i in range(words)]
        lists.append("{" + ", ".join(f"%{name}{i}" for i in range(words)) + "}")
    words = fc.shape[1] * fc.dtype.itemsize * 8 // bits
    shape = f"m{m}n{n}k{k}"
    rows.append(f"mma.sync.aligned.{shape}.row.col.{kc}.{ka}.{kb}.{kc} {lists[2]}, {lists[0]}, {lists[1]}, {lists[2]};")
    rows += [f"st.global.b{bits} [%x+{i * bits // 8}], %c{i};" for i in range(words)]
    run = Run(
        f"{HEAD}.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc)\n{{ .reg .b32 %t; .reg .b64 %t64, %x;"
        f" mov.u32 %t, %tid.x; cvt.u64.u32 %t64, %t; {' '.join(rows)} ret; }}"
    )
    places = [run.memory.put(f) for f in (fa, fb, fc)]
    assert run(1, 32, *places) is None
    got = run.memory.get(places[2], fc)
    assert np.array_equal(got.astype(np.float64), fragment(wa @ wb + wc, m * n // 32, c_element))


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_and_stmatrix(count: int, trans: str) -> None:
    x = np.arange(count * 64, dtype=np.uint16).reshape(count, 8, 8)
    names = ", ".join(f"%r{i}" for i in range(count))
    run = Run(
        f"{HEAD}.visible .entry k(.param .u64 px, .param .u64 py)\n"
        f"""{{ .shared .align 16 .b8 s[512]; .shared .align 16 .b8 q[512]; .reg .b32 %t, %p, %o, %v, %r<4>;
        .reg .b64 %x, %y, %t64; mov.u32 %t, %tid.x; cvt.u64.u32 %t64, %t; ld.param.u64 %x, [px]; ld.param.u64 %y, [py];
        mov.u32 %p, s; mad.lo.u32 %p, %t, 16, %p; mad.lo.u64 %x, %t64, 16, %x; .reg .pred %in;
        setp.lt.u32 %in, %t, {8 * count}; @%in cp.async.ca.shared.global [%p], [%x], 16; bar.sync 0;
        ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{names}}}, [%p];
        mov.u32 %o, q; mad.lo.u32 %o, %t, 16, %o; 
        stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%o], {{{names}}};
        bar.sync 0; mov.u32 %o, q; mad.lo.u32 %o, %t, 16, %o; ld.shared.b32 %v, [%o];
        mad.lo.u64 %y, %t64, 20, %y; st.global.b32 [%y+16], %v;
        {" ".join(f"st.global.b32 [%y+{4 * i}], %r{i};" for i in range(count))} ret; }}"""
    )
    at, to = run.memory.put(x), run.memory.put(np.zeros((32, 10), np.uint16))
    assert run(1, 32, at, to) is None
    got = run.memory.get(to, np.zeros((32, 10), np.uint16))
    held = x.transpose(0, 2, 1) if trans else x
    for i in range(count):
        assert np.array_equal(got[:, 2 * i : 2 * i + 2], held[i].reshape(32, 2))
    assert np.array_equal(got[: 8 * count, 8:], x.reshape(-1, 8)[:, :2])
