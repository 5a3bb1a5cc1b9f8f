"""The JAX versions that work: the oldest, and one with deprecated names, each in an environment of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.checks.environments import LIBRARY, python_with

pytest.importorskip("jax")
HERE = Path(__file__).parents[1]
ROOT = HERE.parents[1]
NEEDS = (*LIBRARY, "pytest", "hypothesis", "absl-py", "flatbuffers")
FILES = (
    "native/test_ffi_abi.py", "native/test_ffi_faults.py", "kernels/test_jax_forward.py", "kernels/test_jax_batches.py",
    "functions/test_jax_callable.py", "derivatives/test_jax_one_sided.py", "errors/test_jax_checkify.py",
)  # fmt: skip
"""What has differed between versions: XLA's structures, tracing, batching, programs, derivatives, experimental rules.

More was run by hand on the versions that docs/guide/many-machines.md names.
"""


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.5.0", "0.9.2"])
def test_an_older_jax(version: str, tmp_path: Path) -> None:
    packages = (f"jax=={version}", f"jaxlib=={version}", *NEEDS)
    python = python_with(version, packages, tmp_path, kept="WORKBENCH_JAX_ENVIRONMENTS")
    command = [str(python), "-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, *(str(HERE / f) for f in FILES)], capture_output=True, text=True, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " passed" in done.stdout and "skipped" not in done.stdout
