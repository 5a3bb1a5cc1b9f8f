"""A compiler that hangs, in a real kernel: the interrupt ends it, and other cells compile beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kernel_ext.session.test_background import Kernel
from tests.worker.conftest import gone

ROOT = str(Path(__file__).parents[3])
STUCK = """
import types, workbench as wb
from tests.worker import tasks
from tests.worker.conftest import paths
from workbench.backends.cpu import compile as cpu, llvm_pool
from workbench.backends.worker.pool import Pool
cpu.POOL = llvm_pool.POOL = Pool("test", paths)
cpu.codegen = types.SimpleNamespace(generate=tasks.spin_if_marked)
"""
CELL = "%%kernel{}\ndef {}(x: array(dtype=float)):\n    x[tid()] = {} * x[tid()]\n"


@pytest.fixture(scope="module")
def kernel(need: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    need("nbclient")
    from jupyter_client.manager import start_new_kernel

    folder = tmp_path_factory.mktemp("stuck")
    os.mkfifo(folder / "began")
    paths = os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "WORKBENCH_CACHE": str(folder / "cache"), "PYTHONPATH": paths}
    environment["WORKER_BEGAN"] = str(folder / "began")
    manager, client = start_new_kernel(env=environment, cwd=str(folder), extra_arguments=["--log-level=ERROR"])
    made = Kernel(manager, client, folder / "began")
    assert made.run("%load_ext kernel_ext")[0] == "ok"
    assert made.run(STUCK)[0] == "ok"
    yield made
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def launched(kernel: Kernel, name: str) -> str:
    return kernel.run(f"x = wb.ones(2)\nwb.launch({name}, 2, [x])\nx.numpy().tolist()")[1]


@pytest.mark.slow
def test_an_interrupt_ends_the_compiler_and_the_next_cell_compiles(kernel: Kernel) -> None:
    sent = kernel.client.execute(CELL.format("", "marked", 2.0), stop_on_error=False)
    pid = int(kernel.pipe.read_text())
    kernel.manager.interrupt_kernel()
    reply = kernel.reply(sent)
    assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt")
    assert kernel.run(CELL.format(" -q", "free", 3.0))[0] == "ok"
    assert launched(kernel, "free") == "[3.0, 3.0]"
    assert gone(pid)


@pytest.mark.slow
def test_a_cell_compiles_beside_one_that_is_stuck_in_the_background(kernel: Kernel) -> None:
    sent = kernel.client.execute(CELL.format(" --bg", "marked", 4.0), stop_on_error=False)
    assert kernel.reply(sent)["status"] == "ok"
    pid = int(kernel.pipe.read_text())
    assert kernel.run(CELL.format(" -q", "free", 5.0))[0] == "ok"
    assert launched(kernel, "free") == "[5.0, 5.0]"
    assert not gone_now(pid)
    assert kernel.run("%workbench stop")[1].startswith("ended cell [")
    assert gone(pid)


def gone_now(pid: int) -> bool:
    return not os.path.exists(f"/proc/{pid}")
