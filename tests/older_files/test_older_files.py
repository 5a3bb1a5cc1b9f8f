"""Files written by an earlier version are read by this one, and give the numbers that they gave then.

`make.py` wrote them at commit 786ae84, on the CPU target x86-64-v3.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb

FILES = Path(__file__).parent / "files"
EXPECTED: Any = np.load(FILES / "gave.npz")
READER = """
import sys
import jax, numpy as np
import workbench as wb
for name in sys.argv[2:]:
    exported = jax.export.deserialize(bytearray(open(f"{sys.argv[1]}/{name}.jax", "rb").read()))
    wb.jax_preload(exported)
    expected = np.load(f"{sys.argv[1]}/gave.npz")
    np.testing.assert_array_equal(np.asarray(exported.call(expected[f"{name}.in"])), expected[f"{name}.out"])
    print(name)
"""


@pytest.mark.parametrize("trust", [False, True])
def test_a_recorded_simulation_and_its_gradient(trust: bool) -> None:
    record = wb.load_record(FILES / "simulation.wbr", trust=trust)
    record.replay()
    x, e = record.launches[0].arguments["x"], record.find("e")
    np.testing.assert_allclose(x.numpy(), EXPECTED["simulation.x"], rtol=1e-6)
    np.testing.assert_allclose(e.numpy(), EXPECTED["simulation.e"], rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), EXPECTED["simulation.grad"], rtol=1e-5)


@pytest.mark.parametrize(("file", "name"), [("structs", "out"), ("tiles", "c"), ("graph", "y")])
def test_recorded_structs_tiles_and_graphs(file: str, name: str) -> None:
    record, expected = wb.load_record(FILES / f"{file}.wbr"), EXPECTED[f"{file}.{name}"]
    (found,) = (a for a in record[0].arrays if a.shape == expected.shape and not a.numpy().any())
    record.replay()
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the exports' cache holds x86-64 code")
def test_exported_jax_programs_with_the_cache_of_their_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("flatbuffers")
    with tarfile.open(FILES / "cache.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "cache").chmod(0o700)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    names = ["kernel", "gradient", "callable"]
    run = [sys.executable, "-c", READER, str(FILES), *names]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == names, done.stderr
