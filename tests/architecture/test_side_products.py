"""What a kernel, its gradient, its record and its replay never need is loaded when it is used."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

SIDE_PRODUCTS = {
    "workbench.api.profiling": "wb.profile(step, 4, [x], [y])",
    "workbench.api.measurement": "wb.bench(lambda: wb.launch(step, 4, [x], [y]))",
    "workbench.api.diagnosis.": "wb.step(step, 4, [x], [y], thread=0)",
    "workbench.backends.ptx": "wb.profile",
    "workbench.api.cuda_cpp.": "wb.cuda_module",
    "workbench.backends.wasm": "",
    "workbench.runtime.emulated.": "wb.zeros(4, device='emulated')",
    "workbench.runtime.pages": "",
    "workbench.interop.jax.launches": "",
    "workbench.compat": "",
    "workbench.linear": "wb.linear",
    "workbench.optim": "wb.optim",
    "kernel_ext": "",
    "jax": "",
    "IPython": "",
}
"""Packages, by name, and what first loads them where one call in this program can show it."""

PROGRAM = """
import sys
import workbench as wb


@wb.kernel
def step(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = wb.sin(x[i]) * x[i]


x, y = wb.ones(4, requires_grad=True), wb.zeros(4, requires_grad=True)
with wb.record() as run, wb.Tape() as tape:
    wb.launch(step, 4, [x], [y])
tape.backward(grads={y: wb.ones(4)})
run.replay()
assert abs(x.grad.numpy()[0] - 1.38177329) < 1e-6
"""


def loaded(folder: Path, *more: str) -> list[set[str]]:
    """Return the names of the modules that are loaded after the program, and after each of these lines in turn."""
    report = "print(*sys.modules, file=sys.stderr)"
    (folder / "program.py").write_text("\n".join([PROGRAM, report, *(f"{line}\n{report}" for line in more)]))
    command = [sys.executable, folder / "program.py"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return [set(line.split()) for line in result.stderr.splitlines() if line.startswith("sys ")]


def test_each_of_them_is_a_package() -> None:
    own = [side.rstrip(".") for side in SIDE_PRODUCTS if side.startswith("workbench")]
    assert all(importlib.util.find_spec(name) for name in own)


def test_a_kernel_loads_none_of_them_and_each_is_loaded_when_it_is_used(tmp_path: Path) -> None:
    uses = {side: use for side, use in SIDE_PRODUCTS.items() if use}
    first, *later = loaded(tmp_path, *uses.values())
    assert "workbench.api.tapes.tape" in first
    assert not {m for m in first for side in SIDE_PRODUCTS if m.startswith(side)}
    for side, modules in zip(uses, later, strict=True):
        assert {m for m in modules if m.startswith(side)}, side
