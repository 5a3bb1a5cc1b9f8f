"""compute-sanitizer over the kernels of this folder, where it is installed: no access out of bounds, no race."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = {
    # An atomic addition to a half exchanges the aligned 32-bit word around it. Behind an odd number of halves, the rest
    # of that word belongs to no array: it is read and written back as it was, within the same allocation.
    "initcheck": " and not gradients_of_a_product[float16] and not gradients_of_a_product[bfloat16]",
}
"""The tests that a tool leaves out, beside the one that takes a quarter of the memory twenty times."""


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("tool", ["memcheck", "racecheck", "initcheck"])
def test_the_sanitizer_finds_nothing(tool: str, device: str) -> None:
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer is None:
        pytest.skip("compute-sanitizer is not installed")
    tests = [
        str(ROOT / "tests/gpu" / name) for name in ("test_gpu_kernels.py", "test_gpu_runtime.py", "test_gpu_tiles.py")
    ]
    chosen = "not memory_is_given_back" + LEFT_OUT.get(tool, "")
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", "--target-processes", "all", sys.executable, "-m",
               "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", chosen, *tests]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
