"""State spaces, atomics, asynchronous copies and faults of PTX kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.kernels.ptx_runs import HEAD, Run

LANE = """.reg .b32 %t; .reg .b64 %t64, %x, %y, %a, %b; mov.u32 %t, %tid.x; cvt.u64.u32 %t64, %t;
ld.param.u64 %x, [px]; ld.param.u64 %y, [py];"""


def kernel(body: str, module: str = "") -> Run:
    return Run(f"{HEAD}{module}.visible .entry k(.param .u64 px, .param .u64 py)\n{{ {LANE} {body} ret; }}")


@pytest.mark.parametrize("vector", ["v2", "v4"])
@pytest.mark.parametrize(
    ("kind", "dtype"), [("u8", np.uint8), ("b16", np.uint16), ("f32", np.float32), ("u64", np.uint64)]
)
def test_vectors_of_each_width(vector: str, kind: str, dtype: Any) -> None:
    n = int(vector[1])
    if n * np.dtype(dtype).itemsize > 16:
        n, vector = 2, "v2"
    held = "b16" if kind == "u8" else kind
    names = ", ".join(f"%r{i}" for i in range(n))
    back = ", ".join(f"%r{n - 1 - i}" for i in range(n))
    size = n * np.dtype(dtype).itemsize
    run = kernel(
        f".reg .{held} %r<4>; mad.lo.u64 %a, %t64, {size}, %x; mad.lo.u64 %b, %t64, {size}, %y;"
        f"ld.global.{vector}.{kind} {{{names}}}, [%a]; st.global.{vector}.{kind} [%b], {{{back}}};"
    )
    x = np.arange(64 * n).astype(dtype).reshape(64, n)
    at, to = run.memory.put(x), run.memory.put(np.zeros_like(x))
    assert run(1, 64, at, to) is None
    assert np.array_equal(run.memory.get(to, x), x[:, ::-1])


def test_signed_bytes_constants_and_generic_addresses() -> None:
    module = (
        ".const .align 4 .b8 table[8] = {1, 2, 3, 4, 255, 254, 128, 7};\n.global .align 8 .u64 where[1] = {table};\n"
    )
    run = kernel(
        """.reg .b32 %v, %w, %i; .shared .align 4 .b8 s[256]; .local .align 4 .b8 l[16]; .reg .pred %p, %q;
        and.b32 %i, %t, 7; cvt.u64.u32 %a, %i; mov.u64 %b, table; add.u64 %a, %a, %b; ld.const.s8 %v, [%a];
        mov.u32 %w, s; mad.lo.u32 %w, %t, 4, %w; st.shared.u32 [%w], %v; cvta.shared.u64 %a, s;
        mad.lo.u64 %a, %t64, 4, %a; ld.s32 %v, [%a]; isspacep.shared %p, %a;
        mov.u64 %b, l; st.local.u32 [%b+4], %v; cvta.local.u64 %b, %b; ld.u32 %v, [%b+4]; isspacep.local %q, %b;
        @!%p mov.u32 %v, 1000; @!%q mov.u32 %v, 2000; mad.lo.u64 %y, %t64, 4, %y; st.global.s32 [%y], %v;""",
        module,
    )
    to = run.memory.put(np.zeros(64, np.int32))
    assert run(1, 64, 0, to) is None
    got = run.memory.get(to, np.zeros(64, np.int32))
    assert np.array_equal(got, np.tile(np.array([1, 2, 3, 4, -1, -2, -128, 7], np.int32), 8))


@pytest.mark.parametrize(
    ("kind", "dtype"), [("u32", np.uint32), ("u64", np.uint64), ("f32", np.float32), ("f64", np.float64)]
)
def test_sums_of_all_threads(kind: str, dtype: Any) -> None:
    size = np.dtype(dtype).itemsize
    run = kernel(
        f".reg .{kind} %v; mad.lo.u64 %a, %t64, {size}, %x; ld.global.{kind} %v, [%a]; red.global.add.{kind} [%y], %v;"
    )
    x = np.arange(256).astype(dtype)
    at, to = run.memory.put(x), run.memory.put(np.zeros(1, dtype))
    assert run(40, 256, at, to) is None
    assert run.memory.get(to, np.zeros(1, dtype))[0] == 40 * x.sum()


@pytest.mark.parametrize("kind", ["f16", "bf16", "f16x2", "bf16x2"])
def test_sums_of_halves(kind: str) -> None:
    wide = kind.endswith("x2")
    bits, size = ("b32", 4) if wide else ("b16", 2)
    run = kernel(
        f".reg .{bits} %v; mad.lo.u64 %a, %t64, {size}, %x; ld.global.{bits} %v, [%a];"
        f"red.global.add.noftz.{kind} [%y], %v;"
    )
    values = np.arange(32 * (2 if wide else 1)) % 4
    bf = kind.startswith("bf16")
    x = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16) if bf else values.astype(np.float16)
    at, to = run.memory.put(x), run.memory.put(np.zeros(2, np.uint16))
    assert run(1, 32, at, to) is None
    got = run.memory.get(to, np.zeros(2, np.uint16))
    read = (got.astype(np.uint32) << 16).view(np.float32) if bf else got.view(np.float16).astype(np.float32)
    want = [values[0::2].sum(), values[1::2].sum()] if wide else [values.sum(), 0]
    assert list(read) == want


def test_atomics_return_what_was_there() -> None:
    operations = {
        "min.s32": (5, min), "max.s32": (5, max), "and.b32": (6, lambda a, b: a & b), "or.b32": (8, lambda a, b: a | b),
        "xor.b32": (3, lambda a, b: a ^ b), "exch.b32": (9, lambda a, b: b), "add.s32": (2, lambda a, b: a + b),
        "inc.u32": (12, lambda a, b: 0 if a >= b else a + 1),
        "dec.u32": (12, lambda a, b: b if a == 0 or a > b else a - 1), "min.u32": (5, min), "max.u64": (5, max),
    }  # fmt: skip
    for name, (operand, function) in operations.items():
        wide = "u64" if name.endswith("64") else "u32"
        size = 8 if wide == "u64" else 4
        run = kernel(
            f".reg .{wide} %v; mad.lo.u64 %a, %t64, {size}, %x; mad.lo.u64 %b, %t64, {size}, %y;"
            f"atom.global.{name} %v, [%a], {operand}; st.global.{wide} [%b], %v;"
        )
        x = np.arange(32).astype(np.uint64 if size == 8 else np.uint32)
        at, to = run.memory.put(x), run.memory.put(np.zeros_like(x))
        assert run(1, 32, at, to) is None
        assert np.array_equal(run.memory.get(to, x), x), name
        assert list(run.memory.get(at, x)) == [function(int(v), operand) for v in x], name


def test_compare_and_swap() -> None:
    run = kernel(
        """.reg .b32 %v, %n; .reg .pred %p;
        again: ld.volatile.global.u32 %v, [%x]; add.u32 %n, %v, 3; atom.global.cas.b32 %n, [%x], %v, %n;
        setp.ne.u32 %p, %n, %v; @%p bra again;"""
    )
    at = run.memory.put(np.zeros(1, np.uint32))
    assert run(8, 96, at, at) is None
    assert run.memory.get(at, np.zeros(1, np.uint32))[0] == 8 * 96 * 3


def test_asynchronous_copies_fill_with_zeros() -> None:
    run = kernel(
        """.shared .align 16 .b8 s[1024]; .reg .b32 %p, %n, %v; mov.u32 %p, s; mad.lo.u32 %p, %t, 16, %p;
        mad.lo.u64 %a, %t64, 16, %x; and.b32 %n, %t, 15; cp.async.cg.shared.global [%p], [%a], 16, %n;
        cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
        ld.shared.u8 %v, [%p+7]; add.u64 %y, %y, %t64; st.global.u8 [%y], %v;"""
    )
    x = np.arange(1024).astype(np.uint8)
    at, to = run.memory.put(x), run.memory.put(np.zeros(64, np.uint8))
    assert run(1, 64, at, to) is None
    lanes = np.arange(64)
    assert np.array_equal(run.memory.get(to, np.zeros(64, np.uint8)), np.where(lanes % 16 > 7, x[lanes * 16 + 7], 0))


def test_wild_and_misaligned_accesses_are_reported() -> None:
    run = kernel(".reg .b32 %v; mad.lo.u64 %a, %t64, 1073741824, %x;\nst.global.u32 [%a], %t;")
    at = run.memory.put(np.zeros(4, np.uint32))
    fault = run(4, 64, at, at)
    assert fault is not None and (fault.kind, fault.thread % 32, fault.size) == (1, 1 if fault.thread < 32 else 0, 4)
    assert fault.instruction.name == "st.global.u32" and "memory that does not exist" in str(fault)
    run = kernel(".reg .b32 %v; add.u64 %x, %x, %t64; ld.global.u32 %v, [%x]; st.global.u32 [%y], %v;")
    at = run.memory.put(np.zeros(64, np.uint32))
    fault = run(1, 32, at, at)
    assert fault is not None and fault.kind == 2 and fault.thread == 1 and fault.address == at + 1
    assert fault.lanes == 0xEEEEEEEE


def test_addresses_know_their_space_without_local_memory() -> None:
    run = kernel(".reg .pred %p; isspacep.global %p, %y; mad.lo.u64 %y, %t64, 4, %y; @%p st.global.u32 [%y], %t;")
    at = run.memory.put(np.zeros(32, np.uint32))
    assert run(1, 32, at, at) is None
    assert np.array_equal(run.memory.get(at, np.zeros(32, np.uint32)), np.arange(32))


def test_shared_memory_has_bounds() -> None:
    run = kernel(".shared .align 4 .b8 s[64]; .reg .b32 %v; mul.lo.u32 %v, %t, 4; st.shared.u32 [%v], %t;")
    fault = run(1, 32, 0, 0)
    assert fault is not None and fault.kind == 1 and fault.thread == 16
    assert run(1, 32, 0, 0, dynamic_shared=64) is None


def test_traps_end_the_launch() -> None:
    run = kernel(".reg .pred %p; setp.ne.u32 %p, %t, 7; @%p bra fine;\ntrap;\nfine: st.global.u32 [%y], %t;")
    at = run.memory.put(np.zeros(1, np.uint32))
    fault = run(1, 32, at, at)
    assert fault is not None and fault.kind == 3 and fault.thread == 7
