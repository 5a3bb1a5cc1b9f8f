"""What is built before somebody waits for it: adjoints that a tape holds, cells, graphs, records; and how that ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import events
from workbench.backends.cpu.backend import CpuBackend
from workbench.errors import BuildError
from workbench.work import Work

TEXT = """
@kernel
def layer{n}(x: array[float], y: array[float]):
    i = tid()
    y[i] = sin(x[i] * {c}) + 0.5 * x[i]
"""
N = 32
_fresh = iter(range(1000))
_STAMP = time.time_ns() // 1000
"""Constants of kernels that no cache has; 10⁻⁶ apart, which float32 can tell."""


def kernels(count: int) -> list[Any]:
    """So many kernels that no cache has, in a cell that was only read."""
    numbers = [next(_fresh) for _ in range(count)]
    text = "".join(TEXT.format(n=n, c=f"1.{(_STAMP + 7 * n) % 10**6:06}") for n in numbers)
    return list(wb.build_cell(text, {}, compile=False).kernels.values())


def arrays(count: int) -> list[Any]:
    first = wb.array(np.linspace(0, 1, N, dtype=np.float32), requires_grad=True)
    return [first, *(wb.zeros(N, requires_grad=True) for _ in range(count))]


def step(layers: list[Any], values: list[Any]) -> wb.Tape:
    with wb.Tape() as tape:
        for kernel, x, y in zip(layers, values, values[1:], strict=False):
            wb.launch(kernel, N, [x], [y])
    return tape


def gradient(layers: list[Any], x: Any) -> Any:
    """By NumPy: the product of the layers' derivatives."""
    value, slope = x.astype(np.float64), np.ones(N)
    for kernel in layers:
        factor = float(kernel.definition.source.text.split(f"def {kernel.name}(")[1].split("* ")[1].split(")")[0])
        slope *= factor * np.cos(factor * value) + 0.5
        value = np.sin(factor * value) + 0.5 * value
    return slope


@pytest.fixture
def built() -> Iterator[list[Any]]:
    """What is built: kernel and direction."""
    found: list[Any] = []
    stop = events.subscribe(lambda e: found.append((e.kernel, e.direction)), events.CompileDone)
    yield found
    stop()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The compiler waits, in the background alone, until this is set."""
    free, compiled = threading.Event(), CpuBackend.compile

    def waits(self: Any, *args: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            free.wait(60)
        return compiled(self, *args)

    monkeypatch.setattr(CpuBackend, "compile", waits)
    yield free
    free.set()
    wb.wait()


def test_each_is_built_once_and_nothing_else(built: list[Any]) -> None:
    layers, values = kernels(3), arrays(3)
    tape = step(layers, values)
    tape.backward(grads={values[-1]: np.ones(N, np.float32)})
    names = [k.name for k in layers]
    assert Counter(built) == Counter((n, d) for n in names for d in ("forward", "adjoint"))
    np.testing.assert_allclose(values[0].grad.numpy(), gradient(layers, values[0].numpy()), rtol=1e-4, atol=1e-4)
    step(layers, values)
    assert len(built) == 6


def test_a_tape_does_not_wait_for_adjoints(held: threading.Event, built: list[Any]) -> None:
    layers, values = kernels(2), arrays(2)
    tape = step(layers, values)
    assert [d for _, d in built] == ["forward"] * 2
    assert {w.name for w in Work.running()} >= {f"{k.name} (adjoint)" for k in layers}
    held.set()
    tape.backward(grads={values[-1]: np.ones(N, np.float32)})
    assert Counter(d for _, d in built) == {"forward": 2, "adjoint": 2}


def test_only_the_form_that_runs_is_built(built: list[Any]) -> None:
    text = "@kernel\ndef spread(x: array[float], y: array[float]):\n    i = tid()\n"
    text += f"    y[i] = x[(i + 1) % {N}] * {os.getpid() % 977}.5 + x[i]\n"
    (spread,) = wb.build_cell(text, {}, compile=False).kernels.values()
    values = arrays(1)
    step([spread], values).backward(grads={values[-1]: np.ones(N, np.float32)})
    assert len({d for _, d in built if "adjoint" in d}) == len([d for _, d in built if d != "forward"]) == 1


def test_a_capture_builds_side_by_side_and_is_complete_at_its_end(held: threading.Event) -> None:
    layers, values = kernels(2), arrays(2)
    at_once: list[int] = []

    def told() -> None:
        at_once.append(len(Work.running()))
        held.set()

    with wb.capture() as graph:
        for kernel, x, y in zip(layers, values, values[1:], strict=False):
            wb.launch(kernel, N, [x], [y])
        told()
    assert at_once[0] >= 2
    graph.launch()
    assert (values[-1].numpy()[1:] != 0).all()
    assert all(node.record.executable.build_later is None for node in graph.nodes)


def test_a_recorder_inside_a_capture_can_replay() -> None:
    layers, values = kernels(1), arrays(1)
    with wb.capture(), wb.record() as run:
        wb.launch(layers[0], N, [values[0]], [values[1]])
    run.replay()
    assert (values[1].numpy()[1:] != 0).all()


def refusing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(self: Any, *args: Any) -> Any:
        raise BuildError("LLVM refused this.", log="")

    monkeypatch.setattr(CpuBackend, "compile", refuses)


def test_errors_come_out_where_the_code_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    layers, values = kernels(1), arrays(1)
    wb.launch(layers[0], N, [values[0]], [values[1]])
    with monkeypatch.context() as patch:
        refusing(patch)
        tape = step(layers, values)
        for _ in range(2):
            with pytest.raises(BuildError, match="LLVM refused this"):
                tape.backward(grads={values[-1]: np.ones(N, np.float32)})
        with pytest.raises(BuildError, match="LLVM refused this"):
            with wb.capture() as graph:
                wb.launch(kernels(1)[0], N, [values[0]], [values[1]])
        with pytest.raises(wb.LaunchError, match="This graph cannot run: its capture ended with BuildError"):
            graph.launch()
    tape.backward(grads={values[-1]: np.ones(N, np.float32)})


def test_what_is_replaced_before_it_ran_is_dropped(held: threading.Event) -> None:
    namespace: dict[str, Any] = {}
    text = TEXT.format(n=0, c=f"3.{os.getpid()}")
    cell = wb.build_cell(text, namespace, compile=False)
    cell.bind(namespace)
    values = arrays(1)
    step([namespace["layer0"]], values)
    (work,) = [w for w in Work.running() if w.name == "layer0 (adjoint)"]
    wb.build_cell(text + "    y[i] += 1.0\n", namespace, compile=False).bind(namespace)
    assert work.dropped
    held.set()
    wb.wait()
    with pytest.raises(RuntimeError, match="dropped"):
        work.result()


def test_an_interrupt_ends_the_waiting_and_the_builds(held: threading.Event) -> None:
    layers, values = kernels(2), arrays(2)
    tape = step(layers, values)
    works = [w for w in Work.running() if w.ahead]
    assert len(works) == 2
    threading.Timer(0.3, lambda: os.kill(os.getpid(), 2)).start()
    with pytest.raises(KeyboardInterrupt):
        tape.backward(grads={values[-1]: np.ones(N, np.float32)})
    assert all(w.dropped for w in works)
    held.set()
    tape.zero()
    tape.backward(grads={values[-1]: np.ones(N, np.float32)})
    np.testing.assert_allclose(values[0].grad.numpy(), gradient(layers, values[0].numpy()), rtol=1e-4, atol=1e-4)


def test_without_room_for_a_thread_all_is_built_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    layers, values = kernels(1), arrays(1)
    wb.launch(layers[0], N, [values[0]], [values[1]])
    with monkeypatch.context() as patch:

        def no_room(self: Any) -> None:
            raise RuntimeError("can't start new thread")

        patch.setattr(threading.Thread, "start", no_room)
        tape = step(layers, values)
    assert not Work.running()
    tape.backward(grads={values[-1]: np.ones(N, np.float32)})
    np.testing.assert_allclose(values[0].grad.numpy(), gradient(layers, values[0].numpy()), rtol=1e-4, atol=1e-4)


PROGRAM = """
import os, sys, numpy as np, workbench as wb
head = "@kernel\\ndef layer{}(x: array[float], y: array[float]):\\n    i = tid()\\n"
text = "".join(head.format(n) + f"    y[i] = sin(x[i] * {n + 1}.25)\\n" for n in range(3))
layers = list(wb.build_cell(text, {}, compile=False).kernels.values())
values = [wb.ones(8, requires_grad=True), *(wb.zeros(8, requires_grad=True) for _ in layers)]
with wb.Tape() as tape:
    for kernel, x, y in zip(layers, values, values[1:]):
        wb.launch(kernel, 8, [x], [y])
if sys.argv[1] == "fork":
    child = os.fork()
    if child:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    tape.backward(grads={values[-1]: np.ones(8, np.float32)})
    assert values[0].grad.numpy()[0] != 0
    sys.stdout.flush()
    os._exit(0) if not child else None
if sys.argv[1] == "raise":
    raise SystemExit(3)
print("over")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("how", "status"), [("leave", 0), ("raise", 3), ("fork", 0)])
def test_processes_end_and_fork_while_something_is_built(how: str, status: int, tmp_path: Path) -> None:
    environment = {**os.environ, "WORKBENCH_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM, how]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    assert (ended.returncode, ended.stderr) == (status, "")
