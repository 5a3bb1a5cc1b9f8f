"""What `--help` shows as examples runs as it is written, for names that are what the examples take them for."""

from __future__ import annotations

import inspect as python_inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SAXPY = """%%kernel -q
def saxpy(a: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = a * x[i] + y[i]

def saxpy2(a: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = y[i] + a * x[i]
"""
STEP = """%%kernel -q
def step(x: array[float], v: array[float], dt: float):
    i = tid()
    x[i] = x[i] + dt * v[i]

def energy(x: array[float], loss: array[float]):
    atomic_add(loss, 0, x[tid()] * x[tid()])

def noisy(x: array[float], seed: int):
    i = tid()
    state = rand_init(seed, i)
    x[i] += randf(state)
"""
BLUR = """UNROLL = 1
%%kernel -q
def blur(x: array[float], y: array[float]):
    i = tid()
    for _ in range(UNROLL):
        y[i] = 0.5 * x[i]
"""
LOSSES = """def energy(x): return (x * x).sum()
def loss(x, k): return (x * x * k).sum()"""
TAPED = """with wb.record(inputs=True) as rec:
    with wb.Tape() as tape:
        wb.launch(step, n, [x, v, 0.01])
        wb.launch(noisy, n, [x, 7])
        loss = (x * x).sum()
    tape.backward(loss)"""
SETUP = {
    "bench": (SAXPY, "def old(x): pass\ndef product(m): return wb.ones(m) * 2.0", "old, new = step1, step1"),
    "cache": (SAXPY,),
    "cuda": ("x, y = (wb.ones(n, device='emulated:0') for _ in range(2))",),
    "fault": ("%%kernel -q\ndef reach(x: array[float]):\n    x[tid() + 60] = 1.0",),
    "grad": (LOSSES,),
    "graph": (STEP,),
    "inspect": (SAXPY,),
    "kernel": (),
    "profile": (BLUR, "def step(x): wb.launch(blur, n, [x], [y])"),
    "record": (
        STEP,
        "def simulate(n): wb.launch(step, 64, [x, v, 0.01])",
        "def sweeps(n): wb.launch(noisy, 64, [x, 7])",
    ),
    "replay": (STEP, TAPED),
    "tape": (STEP, "loss = wb.zeros(1, requires_grad=True)"),
    "tune": (BLUR, "def step(block): wb.launch(blur, n, [x], [y])"),
    "workbench": ("show.array(x)",),
}
BEFORE = {"fault": "wb.launch(reach, n, [x])"}
"""What runs before each example, and may fail."""
START = (
    "%load_ext kernel_ext", "import workbench as wb\nfrom kernel_ext import show",
    "n = 64\nx, y, v, k = (wb.ones(n, requires_grad=True, device='cpu') for _ in range(4))",
    "%%kernel -q\ndef step1(x: array[float]):\n    x[tid()] += 1.0",
)  # fmt: skip


def examples(magic: Any) -> list[str]:
    """The cells of its help: paragraphs of a cell magic, lines of a line magic."""
    text = python_inspect.cleandoc(magic.__doc__ or "").partition("Examples::")[2]
    text = re.split(r"\n(?:positional arguments|options):", text)[0]
    text = textwrap.dedent(text.strip("\n")).strip()
    return [part for block in text.split("\n\n") for part in ([block] if "%%" in text else block.splitlines())]


def run(notebook: Any, *texts: str) -> None:
    """Run cells; the part of one before a `%%` line is a cell of its own."""
    for text in texts:
        head, sign, rest = text.partition("%%") if not text.startswith("%") else ("", "", text)
        for cell in (head, sign + rest):
            if cell.strip():
                notebook.run(cell)
                assert notebook.raised is None, f"{cell}\n{notebook.raised}"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SETUP))
def test_examples_run_as_written(
    session: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, need: Callable[[str], str]
) -> None:
    if name == "cuda":
        need("nvrtc")
    monkeypatch.chdir(tmp_path)
    run(session, *START, *SETUP[name])
    kinds = session.shell.magics_manager.magics
    written = examples(kinds["line"].get(name) or kinds["cell"][name])
    assert written
    for example in written:
        if name in BEFORE:
            session.run(BEFORE[name])
        session.run(example)
        assert session.raised is None, f"{example}\n{session.raised}"


def test_no_magic_is_left_out(session: Any) -> None:
    session.run("%load_ext kernel_ext")
    loaded = session.shell.magics_manager.registry["kernel_ext"]
    assert {name for each in loaded.magics for names in each.magics.values() for name in names} == set(SETUP)
