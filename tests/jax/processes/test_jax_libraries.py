"""Kernels in programs of equinox, optax, diffrax, optimistix, lineax, blackjax, numpyro and flax, and of this JAX."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.checks.environments import python_with

pytest.importorskip("jax")
ROOT = Path(__file__).parents[3]
PROGRAMS = ROOT / "tests/jax/programs/libraries.py"
# These versions go together; they take the JAX of the environment that the tests run in.
LIBRARIES = (
    "equinox==0.13.8", "optax==0.2.8", "diffrax==0.7.2", "optimistix==0.1.0", "lineax==0.1.1", "blackjax==1.7.1",
    "numpyro==0.22.0", "flax==0.12.8",
)  # fmt: skip


@pytest.mark.slow
def test_programs_of_other_libraries_give_what_their_jnp_twins_give(tmp_path: Path) -> None:
    python = python_with("jax-libraries", LIBRARIES, tmp_path, inherits=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    command = [str(python), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(PROGRAMS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert re.search(r"\d+ passed in", done.stdout) and "skipped" not in done.stdout
