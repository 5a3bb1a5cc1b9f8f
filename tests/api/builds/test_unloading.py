"""Machine code goes with its last owner, and not before: many threads edit, launch, keep and drop."""

from __future__ import annotations

import gc
import random
import sys
import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.backends.cpu import jit

TEXT = "def {0}(x: array[float], y: array[float]):\n    i = tid()\n    y[i] = x[i] * {1} + sin(x[i])\n"
N = 32


def edit(name: str, factor: float, namespace: dict[str, Any]) -> Any:
    cell = wb.build_cell(TEXT.format(name, factor), namespace)
    cell.bind(namespace)
    return cell.kernels[name]


@pytest.mark.slow
def test_editing_a_kernel_leaves_no_code_behind() -> None:
    namespace: dict[str, Any] = {}
    x, y = wb.ones(N, "float32", device="cpu"), wb.zeros(N, "float32", device="cpu")
    counts = []
    for k in range(30):
        wb.launch(edit("edited", k + 0.5, namespace), N, [x], [y])
        gc.collect()
        jit.unload()
        counts.append(len(jit._trackers))
    assert counts[-1] == counts[2]


@pytest.mark.sample(2)
@pytest.mark.parametrize("keep", ["launch", "record", "graph", "tape", "kernel"])
def test_whoever_can_still_run_code_keeps_it(keep: str) -> None:
    namespace: dict[str, Any] = {}
    x = wb.ones(N, "float32", device="cpu", requires_grad=True)
    y = wb.zeros(N, "float32", device="cpu", requires_grad=True)
    kernel = edit("kept", 2.0, namespace)
    run, tape = wb.launch(kernel, N, [x], [y], record_cmd=True).launch, wb.Tape()
    if keep == "kernel":
        run = partial(wb.launch, kernel, N, [x], [y])
    elif keep == "graph":
        with wb.capture() as graph:
            wb.launch(kernel, N, [x], [y])
        run = graph.launch
    elif keep == "record":
        with wb.record() as recorder:
            wb.launch(kernel, N, [x], [y])
        run = recorder.replay
    elif keep == "tape":
        with tape:
            wb.launch(kernel, N, [x], [y])
        run = partial(tape.backward, grads={y: wb.ones(N, "float32", device="cpu")})
    del kernel
    for k in range(40):
        other = edit("kept", k + 10.0, namespace)
        wb.launch(other, N, [wb.ones(N, "float32", device="cpu")], [wb.zeros(N, "float32", device="cpu")])
    del other
    gc.collect()
    jit.unload()
    if keep != "tape":
        y.fill_(0.0)
    run()
    wanted = 2.0 + np.cos(1.0) if keep == "tape" else 2.0 + np.sin(1.0)
    np.testing.assert_allclose((x.grad if keep == "tape" else y).numpy(), wanted, rtol=1e-5)


def test_the_end_of_code_runs_no_python() -> None:
    """A finalizer that did could let another thread into `ast.parse`, which the collector had interrupted."""
    kernel = edit("quiet", 2.0, {})
    wb.launch(kernel, N, [wb.ones(N, "float32", device="cpu")], [wb.zeros(N, "float32", device="cpu")])
    code = next(iter(kernel.specialise().executables.values())).handle
    assert sys.getrefcount(code) >= 2
    del kernel
    gc.collect()
    calls: list[str] = []
    before = len(jit._unowned)
    sys.setprofile(lambda frame, what, _: calls.append(frame.f_code.co_name) if what == "call" else None)
    del code
    sys.setprofile(None)
    assert (calls, len(jit._unowned)) == ([], before + 1)


def test_many_threads_edit_launch_keep_and_drop() -> None:
    errors: list[BaseException] = []
    shared: dict[str, Any] = {}

    def work(seed: int) -> None:
        rng, own = random.Random(seed), {}
        x, y = wb.ones(N, "float32", device="cpu"), wb.zeros(N, "float32", device="cpu")
        kept: list[tuple[Any, float]] = []
        try:
            for _ in range(25):
                factor = rng.randrange(12) + 0.5
                name, namespace = rng.choice([("both", shared), (f"own{seed}", own)])
                kernel = edit(name, factor, namespace)
                kept.append((wb.launch(kernel, N, [x], [y], record_cmd=True), factor))
                with wb.capture() as graph:
                    wb.launch(kernel, N, [x], [y])
                kept.append((graph, factor))
                while len(kept) > 4:
                    kept.pop(rng.randrange(len(kept)))
                thing, wanted = rng.choice(kept)
                thing.launch()
                np.testing.assert_allclose(y.numpy(), wanted + np.sin(1.0), rtol=1e-5)
                if rng.random() < 0.1:
                    gc.collect()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
