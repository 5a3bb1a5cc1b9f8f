"""Kernels whose compiler hangs, crashes or is interrupted: one error, or slower code; nothing is stuck."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext.session import status
from kernel_ext.views.view_data import StatusView
from tests.worker import tasks
from tests.worker.conftest import ROOT, gone, running
from workbench import cache, events
from workbench.api.builds.build import UNVECTORISED
from workbench.backends.cpu import codegen
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.worker.pool import Pool, task_name
from workbench.errors import BuildError
from workbench.work import Work

pytestmark = pytest.mark.usefixtures("own_cache")

TEXT = """def {}(x: array(dtype=float), y: array(dtype=float)):
    for k in range(x.shape[0] // 3):
        y[tid()] += {} * x[tid()]
"""
"""With a loop of its own, in which LLVM may vectorise: straight code is vectors as it is written."""


def built(name: str, factor: float, **options: Any) -> wb.Kernel:
    return wb.build_cell(TEXT.format(name, factor), {}, backend="cpu", **options).kernels[name]


def launched(kernel: wb.Kernel) -> list[float]:
    x, y = wb.array(np.arange(3, dtype=np.float32)), wb.ones(3)
    wb.launch(kernel, 3, [x, y])
    return y.numpy().tolist()


@pytest.mark.parametrize(
    ("task", "how"),
    [
        (tasks.spin_if_vectorised, "took more than 1 s of processor time"),
        (tasks.crash_if_vectorised, "crashed (signal 6)"),
    ],
)
def test_a_kernel_is_compiled_without_vectorisation_where_llvm_does_not_manage(
    compiler: Callable[[Any], Pool], monkeypatch: pytest.MonkeyPatch, task: Any, how: str
) -> None:
    monkeypatch.setenv("WORKBENCH_COMPILE_SECONDS", "1")
    compiler(task)
    seen: list[events.Event] = []
    stop = events.subscribe(seen.append, events.CacheHit, events.CompileDone)
    try:
        kernel = built("slow", 3.0)
        assert launched(kernel) == [1.0, 4.0, 7.0]
        assert launched(built("again", 3.0)) == [1.0, 4.0, 7.0]
    finally:
        stop()
    done, hit = (next(e for e in seen if isinstance(e, kind)) for kind in (events.CompileDone, events.CacheHit))
    assert done.metadata[UNVECTORISED] == hit.metadata[UNVECTORISED] == f"LLVM {how} at stage optimise"
    assert done.key == hit.key, "the key that was asked for"
    view = StatusView("cell [1]")
    for event in seen:
        view = status.advance(view, event)
    assert f"not vectorised: LLVM {how} at stage optimise" in view.rows[0].facts
    digests = {
        entry.digest: entry.metadata.get(UNVECTORISED)
        for entry in cache.entries()
        if (entry.name, entry.backend) == ("slow", "cpu")
    }
    assert done.key not in digests and set(digests.values()) == {f"LLVM {how} at stage optimise"}


def test_asked_to_compile_it_again_llvm_may_vectorise(compiler: Callable[[Any], Pool]) -> None:
    compiler(tasks.crash_if_vectorised)
    built("late", 5.0)
    compiler(codegen.generate)
    done: list[events.CompileDone] = []
    stop = events.subscribe(done.append, events.CompileDone)
    built("late", 5.0)
    assert not done
    built("late", 5.0, force=True)
    stop()
    assert [UNVECTORISED in e.metadata for e in done] == [False]


def test_a_compiler_that_always_crashes_is_one_error_that_names_kernel_and_stage(
    compiler: Callable[[Any], Pool],
) -> None:
    compiler(tasks.crash)
    with pytest.raises(BuildError) as caught:
        built("doomed", 1.5)
    assert caught.value.message == (
        "LLVM, compiling doomed, crashed (signal 6) at stage crash: LLVM ERROR: Cannot select: t1. "
        "Without vectorisation it did not succeed either."
    )
    assert caught.value.function == "doomed"
    assert not [entry for entry in cache.entries() if (entry.name, entry.backend) == ("doomed", "cpu")]


def test_a_limit_that_was_passed_is_named_with_its_setting(
    compiler: Callable[[Any], Pool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_COMPILE_MEMORY", str(300 << 20))
    compiler(tasks.grow)
    with pytest.raises(BuildError, match=r"took more than 0.293 GiB of memory at stage grow.*WORKBENCH_COMPILE_MEMORY"):
        built("large", 1.25)


def test_a_dropped_build_holds_no_lock(compiler: Callable[[Any], Pool], began: Callable[[], int]) -> None:
    compiler(tasks.sleep)
    work = Work(built, "stuck", 2.5)
    pid = began()
    work.drop()
    assert work.wait(60) and gone(pid)
    compiler(codegen.generate)
    assert launched(built("stuck", 2.5)) == [1.0, 3.5, 6.0]


@pytest.mark.slow
def test_a_build_in_the_background_that_is_stuck_stops_no_other(
    compiler: Callable[[Any], Pool], began: Callable[[], int], pool: Pool
) -> None:
    compiler(tasks.sleep_if_marked)
    pool.most = 1
    work = Work(built, "marked", 7.5)
    pid = began()
    assert launched(built("other", 9.5)) == [1.0, 10.5, 20.0]
    work.drop()
    assert work.wait(60) and gone(pid)


PROGRAM = """
import os, signal, sys, types
import workbench as wb
from tests.worker import tasks
from tests.worker.conftest import paths
from workbench.backends.cpu import compile as cpu, llvm_pool
from workbench.backends.worker.pool import task_name
from workbench.backends.worker.pool import Pool
real = cpu.codegen.generate
cpu.POOL = llvm_pool.POOL = Pool("test", paths)
cpu.codegen = types.SimpleNamespace(generate=tasks.spin)
text = "def k(x: array(dtype=float)):\\n    x[tid()] *= {}\\n"
"""


def script(tmp_path: Path, body: str, **options: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PROGRAM + body], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


@pytest.mark.slow
def test_ctrl_c_in_a_script_ends_the_compilation_and_the_next_works(tmp_path: Path, began: Callable[[], int]) -> None:
    body = """
try:
    wb.build_cell(text.format(1.5), {}, backend="cpu")
except KeyboardInterrupt:
    print("interrupted", flush=True)
cpu.codegen = types.SimpleNamespace(generate=real)
x = wb.ones(2)
wb.launch(wb.build_cell(text.format(2.5), {}, backend="cpu").kernels["k"], 2, [x])
print(x.numpy().tolist())
"""
    with script(tmp_path, body) as process:
        pid = began()
        process.send_signal(2)
        out, err = process.communicate(timeout=120)
    assert (out, err, process.returncode) == ("interrupted\n[2.5, 2.5]\n", "", 0)
    assert gone(pid)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("signal", [15, 9])
def test_a_worker_dies_with_its_parent(tmp_path: Path, began: Callable[[], int], signal: int) -> None:
    with script(tmp_path, 'wb.build_cell(text.format(1.5), {}, backend="cpu")') as process:
        pid = began()
        assert running(pid)
        process.send_signal(signal)
        process.communicate(timeout=120)
    assert gone(pid)


@pytest.mark.slow
def test_a_process_of_cache_hits_starts_none(tmp_path: Path) -> None:
    body = """
cpu.codegen = types.SimpleNamespace(generate=real)
x = wb.ones(2)
wb.launch(wb.build_cell(text.format(2.5), {}, backend="cpu").kernels["k"], 2, [x])
import threading
print(len(cpu.POOL.processes()), [t.name for t in threading.enumerate() if "workbench" in t.name])
print("workbench.autodiff.reverse_mode" in sys.modules)  # forward code needs none of it, compiled or found
"""
    said = []
    for _ in range(2):
        with script(tmp_path, body) as process:
            out, err = process.communicate(timeout=120)
        assert (err, process.returncode) == ("", 0)
        said.append(out)
    assert said == ["1 ['workbench-test']\nFalse\n", "0 []\nFalse\n"]


def test_compiled_here_or_there_the_bytes_are_the_same(pool: Pool) -> None:
    text = "define i32 @f(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n"
    name, features = cpu.cpu_of(CpuBackend().target())
    request = {
        "cpu": name, "features": features, "code_model": "small", "form": "object", "tuning": {"speed_level": 1},
    }  # fmt: skip
    here = cpu.codegen.generate(request, text.encode(), lambda stage: None)[1]
    assert pool.run({**request, "task": task_name(cpu.codegen.generate)}, text.encode())[1] == here


def test_threads_compile_side_by_side() -> None:
    results: dict[int, list[float]] = {}

    def compile(n: int) -> None:
        results[n] = launched(built(f"k{n}", n + 0.125))

    threads = [threading.Thread(target=compile, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: [1.0, n + 1.125, 2 * n + 1.25] for n in range(6)}
