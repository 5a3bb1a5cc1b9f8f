"""Our own loader of objects on this machine: the same results as LLVM's, whole or not at all, and never a crash."""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.backends.cpu.conftest import execute
from tests.catalogue.test_catalogue import RIGHT, THREADS, _arguments, _function
from tests.support.checks.platforms import PLATFORMS
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu_compile
from workbench.backends.cpu import elf, jit
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import compile_text
from workbench.backends.cpu.elf import Object
from workbench.backends.cpu.jit import AARCH64, CpuCode, Damaged, Unsupported, load_symbols, machine
from workbench.backends.cpu.native import dispatch
from workbench.cache import native
from workbench.errors import BuildError
from workbench.ir.verify import verify

ours = pytest.mark.skipif(not machine(), reason="this system's objects are loaded by LLVM")
TEXT = """
@count = global i64 5
@zero = internal global [1000 x i64] zeroinitializer
@text = internal constant [4 x i8] c"abc\\00"
@table = internal global [2 x ptr] [ptr @count, ptr getelementptr (i8, ptr @text, i64 1)]

declare double @sin(double)
declare double @given(double)

define internal double @inner(double %x) noinline {
  %y = call double @sin(double %x)
  %z = call double @given(double %y)
  ret double %z
}

define double @entry(double %x) {
  %a = load i64, ptr @count
  %b = add i64 %a, 1
  store i64 %b, ptr @count
  %at = getelementptr i64, ptr @zero, i64 %a
  %c = load i64, ptr %at
  store volatile i64 %b, ptr %at
  %word = getelementptr ptr, ptr @table, i64 1
  %letter = load ptr, ptr %word
  %d = load i8, ptr %letter
  %e = zext i8 %d to i64
  %f = add i64 %b, %c
  %g = add i64 %f, %e
  %h = sitofp i64 %g to double
  %y = call double @inner(double %x)
  %z = fadd double %y, %h
  ret double %z
}
"""


def compiled(text: str) -> bytes:
    return compile_text(text, CpuBackend().target(), optimise=False)


def assembled(text: str) -> bytes:
    """The object, which is not linked yet."""
    return cpu_compile._generate(text, CpuBackend().target(), None, "object").image


@pytest.fixture(scope="module")
def image() -> bytes:
    return compiled(TEXT)


@pytest.fixture
def llvm_only(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What LLVM's loader was handed."""
    handed: list[bytes] = []
    link = jit._linked

    def noted(image: bytes, *how: Any) -> Any:
        handed.append(image)
        return link(image, *how)

    monkeypatch.setattr(jit, "_linked", noted)
    return handed


Double = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


def called(code: CpuCode, x: float) -> float:
    return Double(code.addresses["entry"])(x)


@ours
def test_data_tables_calls_and_imports(image: bytes, llvm_only: list[bytes]) -> None:
    given = Double(lambda v: 2.0 * v)
    imports = {"given": ctypes.cast(given, ctypes.c_void_p).value or 0}
    first, second = (load_symbols(image, ("entry", "count"), imports) for _ in range(2))
    assert [called(first, 0.5) for _ in range(3)] == [2.0 * np.sin(0.5) + n + ord("b") for n in (6, 7, 8)]
    assert ctypes.c_int64.from_address(first.addresses["count"]).value == 8
    assert ctypes.c_int64.from_address(second.addresses["count"]).value == 5, "each has data of its own"
    assert called(second, 0.5) == 2.0 * np.sin(0.5) + 6 + ord("b")
    assert llvm_only == []


@ours
@pytest.mark.parametrize("distance", [1 << 20, 1 << 40])
def test_a_call_of_any_distance(distance: int) -> None:
    """The address that a call goes to, followed through its stub: of a process that has it so far away."""
    read, base = Object(assembled(TEXT)), 0x7000_0000_0000
    memory = read.linked().at(base, lambda name: base + distance)
    assert sorted(read.needs.values()) == ["given", "sin"]
    stubs = [memory[at : at + 16] for at in read._stubs.values()]
    assert len(stubs) == 2 and all(struct.unpack_from("<Q", s, 8)[0] == base + distance for s in stubs)
    into = sum(
        at + 4 + struct.unpack_from("<i", memory, at)[0] == stub
        for stub in set(read._stubs.values())
        for section, offset, kind, symbol, _ in read._relocations
        if kind == 4 and read._stubs.get(symbol) == stub
        for at in [section.at + offset]
    )
    assert into == 2 or read._machine.rules.get(4) is None, "x86-64's calls; aarch64's: `test_relocations`"


@ours
@pytest.mark.sample(1)
@pytest.mark.parametrize("name", list(RIGHT)[::8])
def test_a_program_has_the_same_bits_by_both_loaders(
    name: str, llvm_only: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    function = verify(_function(*RIGHT[name]))
    results, images = [], []
    for use in (True, False):
        monkeypatch.setattr(elf, "machine", lambda use=use: machine() if use else 0)
        native._maths.cache_clear()
        artifact = CpuBackend().compile(function, Options(), CpuBackend().target())
        images.append(artifact.image)
        code = native.load_kernel(artifact.image, artifact.metadata["entry"])
        given = [np.array(v) if isinstance(v, np.ndarray) else v for v in _arguments().values()]
        execute(code, function, [THREADS], given)
        results.append([np.asarray(v).tobytes() for v in given])
    assert results[0] == results[1]
    assert llvm_only == [images[1]] and images[1][:4] == b"\x7fELF", "all that the first needs is loaded by ours"


@ours
def test_the_launcher_runs_by_both_loaders(llvm_only: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    busy = []
    for use in (True, False):
        monkeypatch.setattr(elf, "machine", lambda use=use: machine() if use else 0)
        image = dispatch.image()
        code = load_symbols(image, dispatch.symbols)
        busy.append(ctypes.c_int64.from_address(code.addresses["wb_busy"]).value)
        assert len(set(code.addresses.values())) == len(dispatch.symbols)
    assert busy == [0, 0] and llvm_only == [image]


THREADED = "@t = thread_local global i32 3\ndefine double @entry(double %x) {\n  %v = load i32, ptr @t\n" + (
    "  %y = sitofp i32 %v to double\n  ret double %y\n}\n"
)
COMMON = "@c = common global i64 0\ndefine double @entry(double %x) {\n  %v = load i64, ptr @c\n" + (
    "  %y = sitofp i64 %v to double\n  ret double %y\n}\n"
)


@ours
def test_what_ours_does_not_know_goes_to_llvm(llvm_only: list[bytes]) -> None:
    image = compiled(COMMON)
    assert called(load_symbols(image, ("entry",)), 1.5) == 0.0
    assert llvm_only == [image]


@ours
@pytest.mark.skipif(machine() == AARCH64, reason="the object is for this machine")
def test_an_object_of_another_machine_is_refused(llvm_only: list[bytes]) -> None:
    """A portable target names no machine that runs it, so a cache may hold such an object."""
    (other,) = (p for p in PLATFORMS if p.system == "linux")
    assert Object(other.object(COMMON.replace("common global", "global"))).machine == AARCH64
    with pytest.raises(BuildError, match="cannot be loaded"):
        load_symbols(other.object(TEXT), ("entry",))
    assert len(llvm_only) == 1


@ours
def test_variables_of_threads_are_not_ours() -> None:
    with pytest.raises(Unsupported):
        Object(assembled(THREADED))


@ours
def test_an_image_that_was_cut_off_is_an_error(image: bytes, llvm_only: list[bytes]) -> None:
    for size in range(8, len(image), 37):
        with pytest.raises(BuildError, match="The compiled code of entry cannot be loaded"):
            load_symbols(image[:size], ("entry",))
    assert llvm_only == [], "LLVM may crash of it"
    with pytest.raises(BuildError, match="cannot be loaded"):
        load_symbols(image, ("nowhere",), {"given": 1})


def altered(image: bytes, rng: random.Random) -> Iterator[bytes]:
    """The same with bytes changed: anywhere, in the header, in the table of sections."""
    table = int.from_bytes(image[40:48], "little")
    while True:
        made = bytearray(image)
        for _ in range(rng.choice((1, 1, 2, 6))):
            at = rng.choice((rng.randrange(len(made)), rng.randrange(7, 64), rng.randrange(table, len(made))))
            made[at] = rng.choice((0, 255, 127, 128, rng.randrange(256)))
        yield bytes(made)


@ours
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_an_altered_object_is_refused_or_stays_in_its_bounds(seed: int) -> None:
    """What it would run is the store's to check; here no number of it leads out of the bytes."""
    found = {"loaded": 0, "refused": 0}
    variants = altered(assembled(TEXT), random.Random(seed))
    for made in (next(variants) for _ in range(800 if seed == 1 else 8000)):
        try:
            read = Object(made)
            linked = read.linked()
            memory = linked.at(0x7000_0000_0000, lambda name: 1 << 46)
            assert len(memory) <= read.size >= read.code
            assert all(0 <= at <= read.size for at in linked.symbols.values())
            found["loaded"] += 1
        except (Unsupported, Damaged):
            found["refused"] += 1
    assert min(found.values()) > 50


PROGRAM = """
import sys
import numpy as np
import workbench as wb

@wb.kernel
def scaled(a: float, x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = a * wb.sin(x[i]) + 1.0

x, y = wb.array(np.arange(4, dtype=np.float32)), wb.zeros(4)
wb.launch(scaled, dim=4, inputs=[2.0, x, y])
assert np.allclose(y.numpy(), 2.0 * np.sin(x.numpy()) + 1.0)
print("llvmlite" in sys.modules, *sorted(m for m in sys.modules if m.startswith("workbench.backends.cpu.compile")))
"""


@ours
@pytest.mark.slow
def test_a_kernel_from_the_cache_needs_no_llvm(tmp_path: Any) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    said = [
        subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, timeout=300)
        for _ in range(2)
    ]
    assert [(s.returncode, s.stderr) for s in said] == [(0, "")] * 2
    assert said[1].stdout == "False\n"


@pytest.mark.parametrize("at", [-8, 1, 9, 4096])
def test_an_image_with_an_address_outside_of_it_is_damaged(at: int) -> None:
    whole = jit.Image(jit.machine(), 8, 4096, bytes(8), [0], [], {})
    assert whole.at(4096, int)[:8] == (4096).to_bytes(8, "little")
    altered = jit.Image(jit.machine(), 8, 4096, bytes(8), [at], [], {})
    with pytest.raises(jit.Damaged, match="an address outside of the image"):
        altered.at(4096, int)
