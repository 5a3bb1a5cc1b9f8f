"""An interrupt ends kernels inside JAX: the call fails, the interrupt arrives once, and what comes next is right."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parents[1] / "programs"
LIMIT = 120
BUSY = 0.5
"""Seconds of processor time after which the kernel surely runs."""
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processor time is read from /proc")


def ticks(process: int) -> int:
    """Processor time so far, in hundredths of a second."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


def interrupted(program: str, case: str) -> dict[str, Any]:
    """What a program says that was interrupted while its kernel ran."""
    pause = threading.Event()
    command = [sys.executable, PROGRAMS / program, case]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        try:
            assert child.stdout is not None and child.stdout.readline() == "go\n"
            before = ticks(child.pid)
            while ticks(child.pid) - before < 100 * BUSY:
                pause.wait(0.01)
            child.send_signal(signal.SIGINT)
            said, _ = child.communicate(timeout=LIMIT)
        finally:
            child.kill()
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def slowly(*cases: str) -> list[Any]:
    """Cases of the slow tests."""
    return [pytest.param(case, marks=pytest.mark.slow) for case in cases]


@pytest.mark.parametrize("case", ["jit", *slowly("many threads", "behind", "turns", "grad", "program")])
def test_an_interrupt_ends_a_kernel_inside_jax(case: str) -> None:
    found = interrupted("interrupted.py", case)
    assert found["error"] == "KeyboardInterrupt"
    assert (found["late"], found["right"]) == ("", True)
    assert "was interrupted: its results are half written" in found["context"] + found["poisoned"]


@pytest.mark.parametrize(
    "case", ["called back", *slowly("called back behind", "called back eagerly", "called back for a gradient")]
)
def test_an_interrupt_of_a_function_that_jax_calls_back_is_an_interrupt(case: str) -> None:
    found = interrupted("interrupted.py", case)
    assert found["error"] == "KeyboardInterrupt"
    assert (found["late"], found["right"]) == ("", True)
    assert "slow" in found["said"] and "was stopped after" in found["said"] and "Half written: " in found["said"]


@pytest.mark.slow
@pytest.mark.parametrize("case", ["kernel", *slowly("scan", "gradient", "checks", "called back")])
def test_an_interrupted_device_does_not_leave_others_waiting(case: str) -> None:
    found = interrupted("interrupted_devices.py", case)
    assert found["error"].startswith("KeyboardInterrupt")
    assert "was stopped on one of several devices: the results of its program are half written." in found["late"]
    assert found["right"]
