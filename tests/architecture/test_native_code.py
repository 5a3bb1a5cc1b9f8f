"""The LLVM IR that the wheel ships is what the pinned clang makes of the C beside it, and fits every platform."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.backends.cpu.native import dispatch, schedule, stopping
from workbench.interop.jax.launches.cuda import FUNCTIONS

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("generate_native", ROOT / ".ci/generate_native.py")
assert _spec is not None and _spec.loader is not None
generate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate)

MODULES = sorted(generate.SOURCES)
OTHERS = ("aarch64-unknown-linux-gnu", "arm64-apple-macosx11", "x86_64-w64-windows-gnu")


@pytest.mark.parametrize("path", sorted(generate.FILES))
def test_what_is_committed_is_what_the_pinned_clang_makes(path: str, need: Callable[[str], str]) -> None:
    need(generate.CLANG)
    assert (ROOT / path).read_text(encoding="utf-8") == generate.FILES[path](), "run .ci/generate_native.py"


def test_a_change_of_the_c_is_seen(need: Callable[[str], str], tmp_path: Path) -> None:
    need(generate.CLANG)
    source = tmp_path / "changed.c"
    source.write_text(f'#include "{generate.CPU}/copies.c"\nint added;\n')
    changed, committed = (text.split("\n", 1)[1] for text in (generate.ir(str(source)), _committed("copies.ll")))
    assert changed != committed


def _committed(name: str) -> str:
    return (ROOT / generate.CPU / name).read_text(encoding="utf-8")


@pytest.mark.sample(1)
@pytest.mark.parametrize("path", MODULES)
def test_every_platform_has_the_same_ir(path: str, need: Callable[[str], str]) -> None:
    """But for preferred alignments and for who extends small integers, which LLVM takes from its own target."""
    need(generate.CLANG)
    here, *others = (_bare(path, target) for target in (generate.TARGET, *OTHERS))
    assert "define" in here
    assert [target for target, text in zip(OTHERS, others, strict=True) if text != here] == []


def _bare(path: str, target: str) -> str:
    text = generate.ir(*generate.SOURCES[path], *generate.UNOPTIMISED, target=target)
    return re.sub(r"\b(zero|sign)ext |,? \balign \d+\b", "", text)


@pytest.mark.parametrize("path", MODULES)
def test_the_ir_names_no_target(path: str) -> None:
    text = re.sub(r'c?"[^"]*"', "", (ROOT / path).read_text(encoding="utf-8"))
    rows = [row for row in text.splitlines() if not row.startswith(";")]
    assert [row for row in rows if re.search(r"target|attributes|#\d|![\w\d]|va_list|byval|sret", row)] == []


def test_the_tables_that_python_fills_are_those_of_the_c() -> None:
    launcher, cuda = (ROOT / folder / name for folder, name in ((generate.CPU, "launcher.h"), (generate.JAX, "cuda.c")))
    assert _members(launcher, "Python") == [*dispatch.API, *dispatch.OBJECTS]
    assert _members(cuda, "Driver") == list(FUNCTIONS)
    scheduler, stops = (ROOT / generate.CPU / name for name in ("schedule.c", "stop_handler.c"))
    assert len(_members(scheduler, "Step")) == schedule.STEP_WORDS
    assert "enum { LAUNCH, IN_ORDER, SHARED, IF, WHILE };" in scheduler.read_text()
    assert [schedule.LAUNCH, schedule.IN_ORDER, schedule.SHARED, schedule.IF, schedule.WHILE] == [0, 1, 2, 3, 4]
    assert f"CALLS = {stopping.CALLS}," in stops.read_text()
    assert _members(stops, "Facts").index("called[CALLS]") == stopping.CALLED


def _members(file: Path, struct: str) -> list[str]:
    """The members of a struct in C, in order."""
    (body,) = re.findall(rf"^typedef struct {struct} {{(.*?)^}} {struct};", file.read_text(), flags=re.DOTALL | re.M)
    declared = re.sub(r"//[^\n]*", "", body).split(";")[:-1]
    return [name for row in declared for name in _declared(row)]


def _declared(row: str) -> list[str]:
    """The names that a declaration of members declares."""
    function = re.search(r"\(\*(\w+)\)", row)
    return [function[1]] if function else [part.split()[-1].lstrip("*") for part in row.split(",")]
