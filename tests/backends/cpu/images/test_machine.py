"""What machine this is: what LLVM says, remembered only under all that decides it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from workbench.backends.cpu import llvm_pool, machine
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.worker.pool import Lost
from workbench.cache.native import Facts
from workbench.errors import BuildError

CPUINFO = """processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Some CPU
cpu MHz\t\t: {mhz}
flags\t\t: fpu sse2 {flags}
"""
linux = pytest.mark.skipif(not machine.known_by_files(), reason="elsewhere LLVM is asked each time")


class Kept:
    """A memory in a dictionary."""

    def __init__(self) -> None:
        self.facts: dict[tuple[str, bytes], bytes] = {}

    def get(self, name: str, known_by: bytes) -> bytes:
        return self.facts.get((name, known_by), b"")

    def put(self, name: str, known_by: bytes, fact: bytes) -> None:
        self.facts[name, known_by] = fact


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    memory = Kept()
    monkeypatch.setattr(machine, "REMEMBER", [memory])
    return memory


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Each time that LLVM was asked."""
    times: list[bool] = []
    ask = machine._ask

    def noted(in_worker: bool = False) -> machine.Facts:
        times.append(in_worker)
        return ask(in_worker)

    monkeypatch.setattr(machine, "_ask", noted)
    return times


facts = machine.facts.__wrapped__


@linux
def test_llvm_is_asked_once(kept: Kept, asked: list[bool]) -> None:
    assert facts() == facts() == machine._ask() == machine.facts()
    assert asked == [True, False] and len(kept.facts) == 1  # the process that will compile, and the call itself


def test_a_worker_that_is_lost_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object) -> None:
        raise Lost("crashed (signal 11)", log="cannot load")

    monkeypatch.setattr(llvm_pool, "call", lost)
    with pytest.raises(BuildError, match=r"LLVM crashed \(signal 11\): cannot load"):
        machine._ask(in_worker=True)


def files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A system and an llvmlite of our own making."""
    package = folder / "llvmlite"
    (package / "binding").mkdir(parents=True)
    found = {
        "_BOOT": folder / "boot_id", "_CPU": folder / "cpuinfo", "version": package / "_version.py",
        "library": package / "binding" / "libllvmlite.so",
    }  # fmt: skip
    found["_BOOT"].write_text("0f0e\n")
    found["_CPU"].write_text(CPUINFO.format(mhz=1800, flags="avx2"))
    found["version"].write_text("version_version = '0.50.0'\n")
    found["library"].write_bytes(b"\x7fELF")
    for name in ("_BOOT", "_CPU"):
        monkeypatch.setattr(machine, name, str(found[name]))
    monkeypatch.setattr(machine, "_WHOLE", 0)
    (package / "__init__.py").touch()
    monkeypatch.setattr(machine.sys, "path", ["", str(folder)])
    return found


Change = Callable[[dict[str, Path]], object]
CHANGES: dict[str, Change] = {
    "another cpu": lambda f: f["_CPU"].write_text(CPUINFO.format(mhz=1800, flags="avx2 avx512f")),
    "another machine, or another start of it": lambda f: f["_BOOT"].write_text("0a0b\n"),
    "another llvmlite": lambda f: f["version"].write_text("version_version = '0.51.0'\n"),
    "another build of the same llvmlite": lambda f: f["library"].write_bytes(b"\x7fELF2"),
}


@linux
@pytest.mark.parametrize("name", CHANGES)
def test_what_decides_the_answer_is_what_it_is_known_by(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: Kept, asked: list[bool]
) -> None:
    found = files(tmp_path, monkeypatch)
    facts()
    found["_CPU"].write_text(CPUINFO.format(mhz=3600, flags="avx2"))
    facts()
    assert len(asked) == 1, "a clock that changes decides nothing"
    CHANGES[name](found)
    facts()
    assert len(asked) == len(kept.facts) == 2


@linux
@pytest.mark.parametrize("lost", ["_BOOT", "_CPU", "version", "library"])
def test_llvm_is_asked_where_that_is_not_known(
    lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: Kept, asked: list[bool]
) -> None:
    found = files(tmp_path, monkeypatch)
    found[lost].unlink()
    assert machine.known_by_files() == b""
    assert facts() == facts()
    assert len(asked) == 2 and kept.facts == {}


@linux
def test_llvm_is_asked_where_it_is_a_library_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: Kept, asked: list[bool]
) -> None:
    """As Debian has it: LLVM is updated, and no file of llvmlite shows it."""
    files(tmp_path, monkeypatch)
    monkeypatch.setattr(machine, "_WHOLE", 100)
    assert facts() == facts()
    assert len(asked) == 2 and kept.facts == {}


def test_llvm_is_asked_on_other_systems(monkeypatch: pytest.MonkeyPatch, kept: Kept, asked: list[bool]) -> None:
    monkeypatch.setattr(machine.sys, "platform", "darwin")
    facts()
    assert asked == [False] and kept.facts == {}


@linux
def test_what_cannot_be_read_is_asked_again(kept: Kept, asked: list[bool]) -> None:
    facts()
    ((key, fact),) = kept.facts.items()
    for wrong in (b"", b"{", msgspec.json.encode({"cpu": "other"}), fact[:-1]):
        kept.facts[key] = wrong
        assert facts() == machine.facts()
        assert kept.facts[key] == fact


def test_a_portable_level_stands_as_it_is(monkeypatch: pytest.MonkeyPatch, kept: Kept) -> None:
    monkeypatch.setenv("WORKBENCH_CPU", "x86-64-v2")
    assert CpuBackend().target() == "x86-64-v2"
    monkeypatch.delenv("WORKBENCH_CPU")
    assert CpuBackend().target() == machine.native()


def test_the_cache_keeps_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    memory = Facts()
    assert memory.get("a", b"1") == b""
    memory.put("a", b"1", b"first")
    memory.put("a", b"1", b"second")
    assert (memory.get("a", b"1"), memory.get("a", b"2"), memory.get("b", b"1")) == (b"second", b"", b"")


def test_features() -> None:
    some = machine.Facts("zen", "+avx2,-avx512f,+f16c", (22, 1, 0), "0.50")
    assert [some.has(f) for f in ("avx2", "avx512f", "avx", "f16c")] == [True, False, False, True]
