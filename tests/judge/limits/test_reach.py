"""The programs of a limit really stand on both sides of it: the compiler compares it with more and with less."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judge.limits import code, derivatives, language, threads
from tests.judge.limits.families import FAMILIES, Family
from tests.judge.limits.judging import paths_of, verdict
from tests.judge.limits.reach import replaced, watched
from tests.judge.paths import Launch
from workbench import inspect, limits

pytestmark = pytest.mark.filterwarnings("ignore")
DECIDES: dict[str, tuple[Family, int, int, str]] = {
    "IDLE_ITERATIONS": (language.left_loop, 32, 31, "forward"),
    "REVERSED_CHUNK": (derivatives.state_bytes, 128, 4, "adjoint"),
    "GROUP_ROWS": (threads.plane_rows, 4, 3, "forward"),
    "EXPANDED_BYTES": (threads.row_functions, 40, 64, "forward"),
    "TRANSPOSED_BLOCK": (threads.row_length, 8, 4, "forward"),
    "REDUCTION_THREADS": (code.sum_threads, 512, 256, "forward"),
    "REDUCTION_BYTES": (code.sum_bytes, 2**15, 2**14, "forward"),
    "STRIP_OPERATIONS": (code.nest, 2, 2**10, "forward"),
    "LOOK_OPERATIONS": (code.nest, 2, 2**10, "forward"),
}
"""Limits that are operands rather than compared: a program, another number, and the direction whose code it changes."""
OTHERWISE = {
    "CHECKPOINTS": "a default of a parameter",
    "REVERSED_CHUNK_BYTES": "compared in adjoints for a GPU alone",
    "GROUP_OPERATIONS": "compared where launches are not divided, which larger bodies are",
    "INTERVAL_DEPTH": "a default of a parameter",
    "DISPATCH_GRAIN": "a default of a parameter",
    "MATMUL_VECTORS": "a width that is tried",
    "COPIED_CALLS": "compared for equality",
    "TRANSPOSED_STRIP": "a length of strips",
    "GROUP_THREADS": "how many threads compute before they add",
    **dict.fromkeys(("GANG_LANES", "GANG_BYTE_LANES"), "how many threads go side by side"),
    **dict.fromkeys(
        (
            "GANG_THIN_ROWS",
            "GANG_THIN_ROWS_GATHERED",
            "COLLAPSED_ROW_LEAST",
            "INTERCHANGED_ROW_LEAST",
            "SHARED_QUOTIENT_THREADS_LEAST",
        ),
        "compared by the code that was made",
    ),
    **dict.fromkeys(("EXPLAINED_OPERATIONS", "EXPLAINED_ITERATIONS", "REPORTED_INDICES"), "read when a fault is told"),
}
COMPARED = [
    name
    for name in FAMILIES
    if name not in DECIDES and name not in OTHERWISE and limits.table()[name].beyond != limits.REFUSED
]
"""The rest; that refusals begin where they should `test_limits` says."""


def _code(family: Family, size: int, direction: str) -> str:
    launch = Launch.of(family(size), grad=direction == "adjoint")
    launch.go(checks=False)
    return inspect.llvm(launch.kernel, direction)


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", DECIDES)
def test_another_number_makes_other_code(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    family, size, other, direction = DECIDES[name]
    before = _code(family, size, direction)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))  # what is kept there was lowered with the right number
    with replaced(name, other):
        assert _code(family, size, direction) != before


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
def test_the_compiler_compares_with_both_sides(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    limit = int(limits.table()[name])
    sides: set[bool] = set()
    for family, size, count in FAMILIES[name].cases(name):
        program = family(size)
        for path in paths_of(program) if len(sides) < 2 and count < 4 * limit else ():
            with watched(name) as seen:
                verdict(program, path)
            sides |= seen
    assert len(sides) == 2
