"""Memory for code: where the system refuses it, one error or LLVM's loader; and all of it goes back."""

from __future__ import annotations

import ctypes
import errno
import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench.backends.cpu import jit
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import compile_text
from workbench.backends.cpu.jit import load_symbols
from workbench.errors import BuildError

pytestmark = pytest.mark.skipif(not jit.machine(), reason="this system's objects are loaded by LLVM")
TEXT = """
@count = internal global i32 6
define i32 @entry() {
  %a = load volatile i32, ptr @count
  %b = add i32 %a, 1
  store volatile i32 %b, ptr @count
  ret i32 %b
}
"""
REFUSED = """
import ctypes
import workbench as wb
from workbench.errors import BuildError

@wb.kernel
def scaled(a: float, x: wb.array[float]):
    i = wb.tid()
    x[i] = a * x[i]

x = wb.ones(4)
if ctypes.CDLL(None).prctl(65, ctypes.c_ulong(1), 0, 0, 0):  # PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
    print("unknown")
else:
    try:
        wb.launch(scaled, dim=4, inputs=[2.0, x])
    except BuildError as error:
        print("refused" if "lets no program run code" in str(error) else error)
"""
Int = ctypes.CFUNCTYPE(ctypes.c_int32)


@pytest.fixture(scope="module")
def image() -> bytes:
    return compile_text(TEXT, CpuBackend().target(), optimise=False)


def fails(number: int, result: int) -> Callable[..., int]:
    def call(*_: object) -> int:
        ctypes.set_errno(number)
        return result

    return call


def limited(monkeypatch: pytest.MonkeyPatch, **functions: Callable[..., int]) -> None:
    """The system with some of its functions replaced."""
    real = jit._system()
    all_of_them = {name: getattr(real, name) for name in ("mmap", "mprotect", "munmap")}
    monkeypatch.setattr(jit, "_system", lambda: SimpleNamespace(**all_of_them | functions))


@pytest.mark.parametrize(
    ("name", "function"),
    [("mmap", fails(errno.ENOMEM, jit._FAILED or 0)), ("mprotect", fails(errno.ENOMEM, -1))],
)
def test_no_memory_is_one_error_and_llvm_which_would_end_the_process_is_not_asked(
    name: str, function: Callable[..., int], image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "_linked", lambda *_: pytest.fail("LLVM was asked"))
    with monkeypatch.context() as patch:
        limited(patch, **{name: function})
        with pytest.raises(BuildError, match="The compiled code of entry cannot be loaded: there is no memory left"):
            load_symbols(image, ("entry",))
    code = load_symbols(image, ("entry",))
    assert Int(code.address)() == 7, "it goes on when there is some"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM])
def test_a_system_that_runs_nothing_that_was_written_is_named(
    number: int, image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "_linked", lambda *_: pytest.fail("LLVM was asked"))
    jit.unload()
    closed: list[jit.Block] = []
    close = jit.Block.close
    monkeypatch.setattr(jit.Block, "close", lambda block: (closed.append(block), close(block)))
    limited(monkeypatch, mprotect=fails(number, -1))
    with pytest.raises(BuildError, match="lets no program run code") as caught:
        load_symbols(image, ("entry",))
    assert "MemoryDenyWriteExecute" in str(caught.value)
    assert len(closed) == 1, "the pages went back"


@pytest.mark.slow
def test_a_process_that_may_run_nothing_it_wrote_goes_on(tmp_path: Path) -> None:
    """Linux's own refusal, which systemd's `MemoryDenyWriteExecute` asks for."""
    program = tmp_path / "program.py"
    program.write_text(REFUSED)
    said = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=300)
    if said.stdout == "unknown\n":
        pytest.skip("this system cannot refuse it")
    assert (said.stdout, said.returncode, said.stderr) == ("refused\n", 0, "")


def test_what_threads_loaded_and_dropped_is_all_given_back(image: bytes) -> None:
    wrong: list[int] = []

    def work() -> None:
        for _ in range(300):
            code = load_symbols(image, ("entry",))  # kept: unowned code goes
            result = Int(code.address)()
            if result != 7:
                wrong.append(result)

    def maps() -> int:
        gc.collect()
        jit.unload()
        return len(Path("/proc/self/maps").read_text().splitlines())

    before = maps()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert maps() < before + 100, "1,200 objects of two maps each; threads have some of their own"
