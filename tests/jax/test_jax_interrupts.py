"""An interrupt ends kernels inside JAX: the call fails, the interrupt arrives once, and what comes next is right."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "interrupted.py"
LIMIT = 120
BUSY = 0.5
"""Seconds of processor time after which the kernel surely runs."""
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processor time is read from /proc")


def ticks(process: int) -> int:
    """Processor time so far, in hundredths of a second."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


@pytest.mark.parametrize(
    "case",
    ["jit", *(pytest.param(c, marks=pytest.mark.slow) for c in ("many threads", "behind", "turns", "grad", "program"))],
)
def test_an_interrupt_ends_a_kernel_inside_jax(case: str) -> None:
    pause = threading.Event()
    with subprocess.Popen([sys.executable, PROGRAM, case], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None and child.stdout.readline() == "go\n"
            before = ticks(child.pid)
            while ticks(child.pid) - before < 100 * BUSY:
                pause.wait(0.01)
            child.send_signal(signal.SIGINT)
            said, _ = child.communicate(timeout=LIMIT)
        finally:
            child.kill()
    found = json.loads(said.splitlines()[-1])
    assert found["error"] == "KeyboardInterrupt"
    assert (found["late"], found["right"]) == ("", True)
    assert "was interrupted: its results are half written" in found["context"] + found["poisoned"]
