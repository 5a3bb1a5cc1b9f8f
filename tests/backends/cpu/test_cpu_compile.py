"""Text to bytes to code: what is vectorised, what stands in the artifact, what is refused."""

from __future__ import annotations

import ctypes
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu import jit
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import compile_text
from workbench.backends.cpu.emit.emit_module import emit_llvm, entry_name
from workbench.backends.cpu.maths import names, vecmath
from workbench.builtins import TABLE
from workbench.cache.native import load_kernel
from workbench.errors import BuildError, DeviceError
from workbench.ir import Builder, Function, Value
from workbench.types import VECTORS, ArrayType, Type, bool, float32, float64, int32

BACKEND = CpuBackend()


def elementwise(name: str, t: Type, operands: int) -> Function:
    """out[i] = name(x0[i], …)."""
    assert not isinstance(t, ArrayType)
    params = [Value(ArrayType(t), f"x{n}") for n in range(operands)]
    out = Value(ArrayType(t), "out")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.store(out, i, b.one(name, [b.load(p, i) for p in params], t))
    return Function(name, (*params, out), b.body(), 1)


def saxpy() -> Function:
    a, x, y = Value(float32, "a"), Value(ArrayType(float32), "x"), Value(ArrayType(float32), "y")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    scaled = b.one("mul", (a, b.load(x, i)), float32)
    b.store(y, i, b.one("add", (scaled, b.load(y, i)), float32))
    return Function("saxpy", (a, x, y), b.body(), 1)


def stencil() -> Function:
    """Inside: the mean of four neighbours, with indices that are wrapped although they cannot be negative."""
    x, y = Value(ArrayType(float32, 2), "x"), Value(ArrayType(float32, 2), "y")
    b = Builder()
    i, j = (b.one("tid", (), int32, {"axis": a}) for a in (0, 1))
    zero, one = b.const(0), b.const(1)
    rows, columns = (b.one("shape", (x,), int32, {"axis": a}) for a in (0, 1))
    inside = b.one("gt", (i, zero), bool)
    last_row, last_column = (b.one("sub", (n, one), int32) for n in (rows, columns))
    for name, p, q in (("gt", j, zero), ("lt", i, last_row), ("lt", j, last_column)):
        inside = b.one("and_", (inside, b.one(name, (p, q), bool)), bool)
    with b.block() as then:
        up, left = (b.one("sub", (v, one), int32) for v in (i, j))
        down, right = (b.one("add", (v, one), int32) for v in (i, j))
        up, left = (b.one("wrap_index", (v, n), int32) for v, n in ((up, rows), (left, columns)))
        total = b.load(x, up, j)
        for p, q in ((down, j), (i, left), (i, right)):
            total = b.one("add", (total, b.load(x, p, q)), float32)
        b.store(y, i, j, b.one("mul", (total, b.const(0.25, float32)), float32))
        b.yield_()
    with b.block() as orelse:
        b.yield_()
    b.if_(inside, then.block, orelse.block)
    return Function("stencil", (x, y), b.body(), 2)


@pytest.mark.parametrize("kernel", [saxpy(), stencil()], ids=lambda k: k.name)
@pytest.mark.parametrize("target", ["native", "x86-64-v3"])
def test_threads_are_vectorised(kernel, target):
    asked = BACKEND.target() if target == "native" else target
    text = cpu.optimised_text(kernel, Options(), asked)
    assert re.search(r"<\d+ x float>", text)
    assert "alloca" not in text


def test_sums_are_vectors_in_the_same_order_everywhere():
    values, out = Value(ArrayType(float32), "values"), Value(ArrayType(float32), "out")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.emit("reduce_add", (out, b.load(values, i)))
    function = Function("total", (values, out), b.body(), 1)
    for target in (BACKEND.target(), "x86-64-v3"):
        text = cpu.optimised_text(function, Options(), target)
        assert "fadd <32 x double>" in text and "reassoc" not in text
        assert text.count("atomicrmw") == 1


def test_stencil_means_the_stencil(launch):
    x = np.random.default_rng(0).random((37, 41), np.float32)
    y = np.zeros_like(x)
    launch(stencil(), x.shape, [x, y], threads=2, grain=100)
    want = np.zeros_like(x)
    want[1:-1, 1:-1] = (((x[:-2, 1:-1] + x[2:, 1:-1]) + x[1:-1, :-2]) + x[1:-1, 2:]) * np.float32(0.25)
    assert want.tobytes() == y.tobytes()


def test_the_text_is_readable_and_the_same_twice():
    text = BACKEND.emit(saxpy(), Options(), BACKEND.target())
    assert text == BACKEND.emit(saxpy(), Options(), BACKEND.target())
    assert "define i32 @wb_saxpy(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums)" in text
    assert "%x.data" in text and "contract" not in text and "fast" not in text


def test_fast_math_keeps_nan_and_infinity():
    text = BACKEND.emit(saxpy(), Options(fast_math=True), BACKEND.target())
    assert "fmul reassoc nsz arcp contract afn float" in text
    assert "nnan" not in text and "ninf" not in text


def test_an_artifact_holds_what_the_loader_needs():
    artifact = BACKEND.compile(saxpy(), Options(checks=True), BACKEND.target())
    assert artifact.metadata["entry"] == entry_name(saxpy()) == "wb_saxpy"
    assert set(artifact.metadata["stages"]) == {"spell", "parse", "optimise", "emit"}
    assert artifact.metadata["backend"] == "cpu" and artifact.metadata["target"] == BACKEND.target()
    assert artifact.image == BACKEND.compile(saxpy(), Options(checks=True), BACKEND.target()).image


def test_names_that_are_no_symbols():
    kernel = saxpy()
    odd = Function("größe", kernel.params, kernel.body, 1)
    artifact = BACKEND.compile(odd, Options(), BACKEND.target())
    assert artifact.metadata["entry"].isascii()
    assert load_kernel(artifact.image, artifact.metadata["entry"]).address


@wb.kernel
def shows(x: wb.array(dtype=wb.float32)):
    i = wb.tid()
    assert x[i] > 0.0
    print(i)


@pytest.mark.parametrize("name", ["prints", "print1", "fault"])
def test_names_of_what_else_a_module_defines(name: str):
    made = shows.specialise().function
    text = emit_llvm(Function(name, made.params, made.body, 1), Options(checks=True))
    found = re.findall(r"^(?:define .*?|)@(\S+?)(?:\(| = )", text, re.MULTILINE)
    assert sorted(found) == sorted(["wb_fault", "wb_print1", "wb_prints", f"wb_{name}$"])


def test_assembly_is_this_machines():
    assert "wb_saxpy" in cpu.assembly(saxpy(), Options(), BACKEND.target())


def test_target_and_version(monkeypatch):
    monkeypatch.setenv("WORKBENCH_CPU", "x86-64-v3")
    assert BACKEND.target() == "x86-64-v3"
    monkeypatch.delenv("WORKBENCH_CPU")
    assert re.fullmatch(r".+\+[0-9a-f]{12}", BACKEND.target())
    assert re.fullmatch(r"llvmlite \S+ / LLVM \d+\.\d+\.\d+", BACKEND.version())


def test_another_machines_target_is_refused():
    with pytest.raises(DeviceError, match="another machine"):
        BACKEND.compile(saxpy(), Options(), "skylake+0123456789ab")


def test_an_operation_that_cannot_be_emitted_is_a_build_error():
    x = Value(ArrayType(float32), "x")
    b = Builder()
    b.store(x, b.const(0), b.emit("unavailable", (), (float32,), {"reason": "it was overwritten"}).result)
    with pytest.raises(BuildError, match="it was overwritten"):
        BACKEND.compile(Function("lost", (x,), b.body(), 0), Options(), BACKEND.target())


def test_text_that_llvm_refuses_is_a_build_error():
    with pytest.raises(BuildError) as caught:
        cpu.compile_text("define i32 @f() { ret i64 0 }", BACKEND.target())
    assert "expected" in caught.value.log or "doesn't match" in caught.value.log


def test_what_is_no_object_is_refused_when_loaded():
    artifact = BACKEND.compile(saxpy(), Options(), BACKEND.target())
    with pytest.raises(BuildError, match="cannot be loaded"):
        load_kernel(b"no object at all", "wb_saxpy")
    with pytest.raises(BuildError, match="cannot be loaded"):
        load_kernel(artifact.image, "wb_other")
    missing = cpu.compile_text(
        "declare i32 @wb_nowhere()\ndefine i32 @f() {\n  %x = call i32 @wb_nowhere()\n  ret i32 %x\n}\n",
        BACKEND.target(),
    )
    with pytest.raises(BuildError, match="cannot be loaded"):
        load_kernel(missing, "f")
    assert load_kernel(artifact.image, "wb_saxpy").address


def mapped(address: int) -> bool:
    """Whether the address lies in memory that this process may run."""
    for row in Path("/proc/self/maps").read_text().splitlines():
        low, high = (int(n, 16) for n in row.split()[0].split("-"))
        if low <= address < high:
            return "x" in row.split()[1]
    return False


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads Linux's list of a process's memory")
def test_code_without_an_owner_is_unloaded_by_the_next_load():
    artifact = BACKEND.compile(saxpy(), Options(), BACKEND.target())
    load = partial(load_kernel, artifact.image, artifact.metadata["entry"])
    kept, dropped = load(), load()
    address = dropped.address
    assert mapped(address)
    del dropped
    assert mapped(address), "a finalizer only makes a note"
    assert jit.unload() == 1
    assert not mapped(address) and mapped(kept.address)


def test_code_keeps_the_code_that_it_calls():
    text = (
        "declare double @f(double)\ndefine double @g(double %x) {\n  %y = call double @f(double %x)\n  ret double %y\n}"
    )
    own = "define double @f(double %x) {\n  %y = fadd double %x, 1.0\n  ret double %y\n}"
    inner = jit.load(compile_text(own, BACKEND.target()), "f")
    outer = jit.load_symbols(compile_text(text, BACKEND.target()), ["g"], {"f": inner.address}, [inner])
    jit.unload()
    del inner
    assert jit.unload() == 0
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(outer.address)(1.5) == 2.5


def library_calls() -> list[str]:
    return [b.name for b in TABLE.values() if isinstance(b.llvm, str) and (b.wide or b.llvm.startswith("libm:"))]


@pytest.mark.parametrize("name", library_calls())
def test_library_functions_resolve_and_agree_with_any_split(launch, name):
    """As vectorised code where there is some, however the range is cut."""
    entry = TABLE[name]
    rng = np.random.default_rng(7)
    n = 77
    for t in (float32, float64):
        data = [rng.uniform(low, high, n).astype(t.numpy) for low, high in entry.domain]
        outs = [np.zeros(n, t.numpy) for _ in range(2)]
        kernel = elementwise(name, t, len(data))
        launch(kernel, [n], [*data, outs[0]])
        launch(kernel, [n], [*data, outs[1]], cuts=[1, 3, 20, 29, 61])
        assert outs[0].tobytes() == outs[1].tobytes(), "a result depends on where the range was cut"
        want = np.array([entry.reference(*row) for row in zip(*(d.astype(np.float64) for d in data), strict=True)])
        error = np.abs(outs[0].astype(np.float64) - want) / np.spacing(np.abs(want).astype(t.numpy)).astype(np.float64)
        assert error.max() <= entry.ulp + 1


def test_maths_is_vectorised_and_position_does_not_matter(launch):
    x, y = Value(ArrayType(float32), "x"), Value(ArrayType(float64), "y")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    e = b.one("exp", (b.load(x, i),), float32)
    b.store(y, i, b.one("sin", (b.cast(e, float64),), float64))
    kernel = Function("mixed", (x, y), b.body(), 1)
    text = cpu.optimised_text(kernel, Options(), BACKEND.target())
    wide = [f"@wbm_sin_64x{vecmath.WIDTH // 64}(", f"@wbm_exp_32x{vecmath.WIDTH // 64}("]
    assert all(call in text for call in wide)
    if not vecmath.ARM:
        portable = cpu.optimised_text(kernel, Options(), "x86-64-v3")
        assert all(call in portable for call in wide), "portable code is vectorised too"
        assert "wbm_" not in cpu.optimised_text(kernel, Options(), "x86-64-v2"), "it has no fused multiply-add"
    data = np.linspace(-2, 2, 103, dtype=np.float32)
    outs = [np.zeros(103) for _ in range(2)]
    launch(kernel, [103], [data, outs[0]])
    launch(kernel, [103], [data, outs[1]], cuts=list(range(1, 103)))
    assert outs[0].tobytes() == outs[1].tobytes()
    assert np.allclose(outs[0], np.sin(np.exp(data.astype(np.float64))), rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(not names.library(), reason="this machine has no libmvec")
def test_the_library_is_used_on_this_machine_alone():
    x = Value(ArrayType(float32), "x")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.store(x, i, b.one("acosh", (b.load(x, i),), float32))
    kernel = Function("library", (x,), b.body(), 1)
    assert "@_ZGVdN8v_acoshf(" in cpu.optimised_text(kernel, Options(), BACKEND.target())
    assert "_ZGV" not in cpu.optimised_text(kernel, Options(), "x86-64-v3")


@pytest.mark.skipif(not names.library(), reason="this machine has no libmvec")
def test_a_literal_argument_leaves_it_vectorised():
    """LLVM drops an argument that is the same number in all calls, and a wide function of two fits no call of one."""
    x = Value(ArrayType(float32), "x")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.store(x, i, b.one("atan2", (b.load(x, i), b.const(1.5, float32)), float32))
    text = cpu.optimised_text(Function("literal", (x,), b.body(), 1), Options(), BACKEND.target())
    assert text.count("call <8 x float> @_ZGVdN8vv_atan2f(") > 1, "in the loop, and in the function of one number"


def test_lanes_of_a_sign_mask(launch):
    """LLVM 22 miscompiles this for AVX-512DQ (llvm/llvm-project#174871): floordiv on vec2i beside another vector."""
    t = VECTORS["vec2i"]
    x, y, q, m = (Value(ArrayType(t), n) for n in ("x", "y", "q", "m"))
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.store(q, i, b.one("floordiv", (b.load(x, i), b.load(y, i)), t))
    b.store(m, i, b.one("neg", (b.load(x, i),), t))
    rng = np.random.default_rng(3)
    values = np.array([-(2**31), -7, -2, -1, 0, 1, 2, 32, 2**31 - 1], np.int32)
    a, c = rng.choice(values, (300, 2)), rng.choice(values[values != 0], (300, 2))
    quotient, negative = np.zeros_like(a), np.zeros_like(a)
    launch(Function("lanes", (x, y, q, m), b.body(), 1), [300], [a, c, quotient, negative])
    assert np.array_equal(quotient, (a.astype(np.int64) // c).astype(np.int32))
    assert np.array_equal(negative, (-a.astype(np.int64)).astype(np.int32))
