"""Kernels that another process cannot import: of a script that it does not run, of a notebook, of a factory."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb

SCRIPT = """
import sys
import pickle
import numpy as np
import workbench as wb
from workbench import tid

SCALE = 2.0
TABLE = np.array([1.0, 4.0], dtype=np.float32)

@wb.func
def twice(v: float):
    return v * SCALE

@wb.kernel(enable_backward=False)
def k(x: wb.array[float]):
    i = tid()
    x[i] = twice(x[i]) + wb.static(float(TABLE[0]))

def factory(c, element):
    @wb.kernel
    def of_factory(x: wb.array[element]):
        x[wb.tid()] = x[wb.tid()] * c + 1.0
    return of_factory

kernels = [k, factory(2.0, float)]
if __name__ == "__main__":
    assert pickle.loads(pickle.dumps(k)) is k
    open(sys.argv[1], "wb").write(pickle.dumps(kernels))
"""
WORKER = """
import pickle, sys
import workbench as wb
for kernel in pickle.load(open(sys.argv[1], "rb")):
    x = wb.full(1, 3.0)
    wb.launch(kernel, 1, [x])
    print(kernel.name, kernel.enable_backward, x.numpy()[0])
"""


@pytest.mark.slow
def test_a_plain_pickle_takes_text_and_values_along(tmp_path: Path):
    script, pickled = tmp_path / "script.py", str(tmp_path / "kernels")
    script.write_text(SCRIPT)
    subprocess.run([sys.executable, str(script), pickled], check=True)
    script.unlink()
    run = subprocess.run([sys.executable, "-c", WORKER, pickled], check=True, capture_output=True, text=True)
    assert run.stdout.splitlines() == ["k False 7.0", "of_factory True 7.0"]


@wb.kernel
def importable(x: wb.array[float]):
    x[wb.tid()] = 1.0


def test_a_kernel_of_a_module_is_its_name_and_copies_are_itself():
    assert pickle.loads(pickle.dumps(importable)) is importable
    assert copy.copy(importable) is importable
    assert copy.deepcopy(importable) is importable


def test_a_function_that_uses_a_kernel_goes_by_value(tmp_path: Path):
    pytest.importorskip("cloudpickle")
    job = (
        "import cloudpickle\ndef job(v):\n"
        "    x = wb.full(1, v)\n    wb.launch(k, 1, [x])\n    return float(x.numpy()[0])\n"
        "open(sys.argv[1], 'wb').write(cloudpickle.dumps(job))\n"
    )
    script, pickled = tmp_path / "script.py", str(tmp_path / "job")
    script.write_text(SCRIPT + job)
    subprocess.run([sys.executable, str(script), pickled], check=True)
    worker = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb'))(3.0))"
    run = subprocess.run([sys.executable, "-c", worker, pickled], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "7.0"
