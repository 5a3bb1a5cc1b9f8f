"""float16 and bfloat16: computed in float32, rounded after each operation, the same on all backends."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import compile_text
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.backends.cpu.emit.halves import definitions
from workbench.backends.cpu.jit import load
from workbench.backends.cpu.machine import converts_halves
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.python.interpret import run
from workbench.builtins.declaration.rules import promote
from workbench.ranges import rounded
from workbench.types import ArrayType, float32

HALVES = (wb.float16, wb.bfloat16)
BODY = """
def k(x: array(dtype=T), y: array(dtype=T), s: T, z: array(dtype=float), v: array(dtype=V), total: array(dtype=T)):
    i = tid()
    a = x[i] * 2.5 + s
    if a > 0.0:
        y[i] = sqrt(a) / (x[i] - 0.1)
    else:
        y[i] = a // 0.3 + a % 0.7
    y[i] += T(i) - max(x[i], s)
    z[i] = float(dot(v[i], v[i])) + float(x[i])
    v[i] = cross(v[i], V(x[i], 1.0, a)) * s
    total[0] += x[i]
    total[1] += T(float64(a) / 3.0) + T(i * 100)
"""


def _args(half: Any, n: int = 64) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        x = (random.normal(size=n) * 10 ** random.uniform(-8, 5, n)).astype(half.numpy)
    v = random.normal(size=(n, 3)).astype(half.numpy)
    return [x, np.zeros_like(x), np.zeros(n, np.float32), v, np.zeros(2, half.numpy)]


def _kernel(half: Any) -> wb.Kernel:
    kernel = define(BODY, {"T": half, "V": wb.types.vector(3, half)})["k"]
    assert isinstance(kernel, wb.Kernel)
    return kernel


def _with_scalar(args: list[Any]) -> list[Any]:
    return [*args[:2], 0.3, *args[2:]]


@pytest.mark.parametrize("half", HALVES, ids=repr)
def test_the_same_bits_everywhere(half, need):
    kernel, args = _kernel(half), _args(half)
    meant, shown = [a.copy() for a in args], [a.copy() for a in args]
    arrays = [wb.array(a, V) for a, V in zip(args, (half, half, float32, wb.types.vector(3, half), half), strict=True)]
    with np.errstate(all="ignore"):
        wb.launch(kernel, 64, _with_scalar(arrays), checks=True)
        function = kernel.used.function
        run(function, 64, _with_scalar(meant))
    assert any(np.any(m != 0) for m in meant)
    for got, want in zip(arrays[:-1], meant[:-1], strict=True):
        assert got.numpy().tobytes() == want.tobytes()
    # On the CPU a sum is rounded once; thread by thread it is rounded with each addition.
    with np.errstate(all="ignore"):
        exact = args[0].astype(np.float64).sum()
    np.testing.assert_allclose(arrays[-1].numpy().astype(np.float64)[0], exact, rtol=0.004)
    need("nvrtc")
    # A sum of halves may become inf or NaN, as its order has it: here that of the threads, one warp after the other.
    Library([function], Options()).run("k", 64, _with_scalar(shown), block=32, seed=1)
    for got, want in zip(shown, meant, strict=True):
        np.testing.assert_array_equal(_one_nan(got), _one_nan(want))


def _one_nan(x):
    """The bits, but that every NaN has the same: PTX leaves open which one a conversion makes."""
    return np.where(x != x, np.nan, x).astype(x.dtype).view(f"u{x.itemsize}") if x.dtype.kind in "fV" else x


@pytest.mark.sample(1)
@pytest.mark.parametrize("half", HALVES, ids=repr)
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_it_compiles_for_the_device(half, target, need):
    need("nvrtc")
    function = _kernel(half).used.function
    text = CudaBackend().ptx(function, Options(), target)
    assert "#include" not in CudaBackend().emit(function, Options(), target)
    assert ("cvt.rn.f16.f32" in text) is (half == wb.float16)
    assert CudaBackend().compile(function, Options(), target).image


def test_promotion_is_jaxs():
    f16, bf16 = HALVES
    assert promote(f16, bf16) == float32 and promote(bf16, f16) == float32
    assert promote(wb.int64, f16) == f16 and promote(bf16, wb.uint8) == bf16 and promote(wb.bool, bf16) == bf16
    assert promote(f16, float32) == float32 and promote(wb.float64, bf16) == wb.float64
    k = define("def k(a: array(dtype=float16), b: array(dtype=bfloat16), y: array(dtype=float)):\n"
               "    i = tid()\n    y[i] = a[i] + b[i] * 2\n")["k"]  # fmt: skip
    y = wb.zeros(1)
    wb.launch(k, 1, [wb.array([0.1], wb.float16), wb.array([3.0], wb.bfloat16), y])
    assert y.numpy()[0] == np.float32(np.float16(0.1)) + np.float32(6)


@settings(max_examples=200, deadline=None)
@given(st.floats(allow_nan=False, width=64))
def test_a_float64_is_rounded_once(number):
    def nearest(dtype: Any, value: float) -> Any:
        with np.errstate(all="ignore"):
            start = dtype(np.float32(value))
        near = [start, np.nextafter(start, dtype(np.inf)), np.nextafter(start, dtype(-np.inf))]
        finite = [n for n in near if np.isfinite(np.float32(n))]
        if not finite or not np.isfinite(np.float64(value)):
            return start
        return min(finite, key=lambda n: (abs(float(n) - value), int(n.view(np.uint16)) & 1))

    with np.errstate(all="ignore"):
        for half, dtype in ((wb.float16, np.float16), (wb.bfloat16, ml_dtypes.bfloat16)):
            got = rounded(number, half)
            if np.isfinite(np.float32(got)):
                assert float(got) == float(nearest(dtype, number))
            else:
                assert abs(number) >= float(ml_dtypes.finfo(dtype).max)


def _converter(half: str, direction: str, instructions: bool) -> str:
    a, b, t, u = ("i16", "float", half, "float32") if direction == "up" else ("float", "i16", "float32", half)
    a, t = ("double", "float64") if direction == "down twice" else (a, t)
    parts = definitions(half, instructions)
    step = f"  %v = load {a}, ptr %p\n  %r = call {b} @wb.{t}.{u}({a} %v)\n  store {b} %r, ptr %q\n"
    steps = {"i16": 2, "float": 4, "double": 8}
    loop = f"""define void @all(ptr %x, ptr %y, i64 %n) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %j, %head ]
  %o = mul i64 %i, {steps[a]}
  %w = mul i64 %i, {steps[b]}
  %p = getelementptr i8, ptr %x, i64 %o
  %q = getelementptr i8, ptr %y, i64 %w
{step}  %j = add i64 %i, 1
  %c = icmp slt i64 %j, %n
  br i1 %c, label %head, label %out
out:
  ret void
}}
"""
    return loop + "\n".join(parts.values())


@pytest.mark.sample(4)
@pytest.mark.parametrize("half", HALVES, ids=repr)
@pytest.mark.parametrize("instructions", [False, True] if converts_halves() else [False])
@pytest.mark.parametrize("direction", ["up", "down", "down twice"])
def test_conversions_without_instructions_are_numpys(half, instructions, direction):
    """All 65536 halves up; down, each half, its neighbours' midpoints, and what lies just beside those."""
    every = np.arange(65536, dtype=np.uint16).view(half.numpy)
    with np.errstate(all="ignore"):
        wide = np.sort(every.astype(np.float32)[np.isfinite(every.astype(np.float32))]).astype(np.float64)
        middles = (wide[1:] + wide[:-1]) / 2
        beside = np.concatenate([wide, middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf)])
        beside = np.concatenate([beside, [np.inf, -np.inf, 1e300, -1e300, 5e-324, 65520.0, 3.4e38]])
        if direction == "up":
            given_, wanted = every, every.astype(np.float32)
        elif direction == "down":
            given_ = beside.astype(np.float32)
            wanted = given_.astype(half.numpy)
        else:
            given_ = beside
            wanted = np.array([rounded(v, half) for v in given_], half.numpy)
    target = CpuBackend().target() if instructions else "x86-64"
    code = load(compile_text(_converter(half.name, direction, instructions), target), "all")
    found = np.zeros(len(given_), wanted.dtype)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(code.address)
    call(given_.ctypes.data, found.ctypes.data, len(given_))
    numbers = ~np.isnan(wanted.astype(np.float32))
    word = f"u{wanted.itemsize}"
    assert np.array_equal(found.view(word)[numbers], wanted.view(word)[numbers])
    assert np.all(np.isnan(found.astype(np.float32)[~numbers]))


@pytest.mark.parametrize("half", HALVES, ids=repr)
def test_gradients_and_sums(half):
    k = define("""
        def k(x: array(dtype=T), s: T, y: array(dtype=T)):
            i = tid()
            y[i] = x[i] * x[i] * s + sin(x[i])
        """, {"T": half})["k"]  # fmt: skip
    x = wb.array(np.linspace(-2, 2, 40), half, requires_grad=True)
    y = wb.zeros(40, half, requires_grad=True)
    assert wb.gradcheck(k, 40, inputs=[x, 0.5], outputs=[y]).ok
    with wb.Tape() as tape:
        wb.launch(k, 40, [x, 0.5], [y])
    tape.backward(grads={y: np.ones(40, half.numpy)})
    want = x.numpy().astype(np.float64) + np.cos(x.numpy().astype(np.float64))
    assert x.grad.dtype == half
    assert np.allclose(x.grad.numpy().astype(np.float64), want, atol=4 * float(ml_dtypes.finfo(half.numpy).eps))


@pytest.mark.parametrize("half", HALVES, ids=repr)
def test_arrays(half):
    a = wb.array([[1.5, 2.5, 3.5]], wb.types.vector(3, half))
    assert a.shape == (1,) and a.numpy().dtype == half.numpy
    assert wb.full(3, 0.1, half).numpy().astype(float)[0] == float(half(0.1))
    b = wb.zeros((2, 3), half)
    wb.copy(b[:, 1], wb.array(np.ones(2), half))
    assert b.numpy().astype(float).tolist() == [[0, 1, 0], [0, 1, 0]]
    k = define("def k(y: array(dtype=T), s: T):\n    y[tid()] = s * 2.0\n", {"T": half})["k"]
    y = wb.zeros(1, half)
    if half == wb.float16:
        with pytest.raises(wb.LaunchError, match="does not fit s, which is float16"):
            wb.launch(k, 1, [y, 1e30])
    wb.launch(k, 1, [y, np.inf if half == wb.float16 else 1e30])
    assert np.isinf(np.float32(y.numpy()[0])) == (half == wb.float16)
    shared = np.ones(4, half.numpy)
    wb.launch(k, 4, [shared, 1.5])
    assert shared.astype(float).tolist() == [3.0] * 4


def test_vec3h_has_its_name():
    assert repr(wb.vec3h) == "vec3h" and wb.vec3h.size == 6 and repr(wb.mat22h) == "mat22h"
    k = define(
        "def k(y: array(dtype=vec3h)):\n    i = tid()\n    y[i] = normalize(vec3h(1.0, 2.0, 2.0)) * float16(3)\n"
    )["k"]
    y = wb.zeros(1, wb.vec3h)
    wb.launch(k, 1, [y])
    assert np.allclose(y.numpy().astype(float), [[1, 2, 2]], atol=2e-3)


@pytest.mark.parametrize("half", HALVES, ids=repr)
def test_text_for_a_machine_without_instructions_is_plain_integers(half):
    function = replace(_kernel(half).used.function, name="plain")
    text = emit_llvm(function, Options(), half_instructions=False)
    assert " half " not in text and "bfloat " not in text


@pytest.mark.parametrize("half", HALVES, ids=repr)
def test_through_jax(half):
    jax = pytest.importorskip("jax")
    k = define(
        "def k(x: array(dtype=T), s: T, y: array(dtype=T)):\n    i = tid()\n    y[i] = x[i] * s + 0.1\n", {"T": half}
    )["k"]
    f = wb.jax_kernel(k)
    x = jax.numpy.linspace(-1, 1, 16).astype(half.numpy)
    y = jax.jit(lambda x: f(x, 0.5))(x)
    assert y.dtype == half.numpy
    want = np.zeros(16, half.numpy)
    run(k.specialise([ArrayType(half), half, ArrayType(half)]).function, 16, [np.asarray(x), 0.5, want])
    assert np.asarray(y).tobytes() == want.tobytes()
