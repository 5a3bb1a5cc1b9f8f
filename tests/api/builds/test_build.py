"""Building: hits and misses, in this process and in a new one, with the reason for each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import workbench as wb
from tests.support.checks import meaning
from workbench import events, inspect


@pytest.fixture
def seen():
    heard = []
    stop = events.subscribe(heard.append)
    yield heard
    stop()


def build(dt: float, comment: str = "", **options):
    text = f"def move(x: array[float], v: array[float]):\n    i = tid() {comment}\n    x[i] = x[i] + v[i] * DT\n"
    return meaning.define(text, {"DT": dt}, **options)["move"]


def kinds(heard) -> list[str]:
    wanted = (events.CacheHit, events.CacheMiss, events.CompileDone, events.CompileFailed)
    return [type(e).__name__ for e in heard if isinstance(e, wanted)]


def test_first_a_miss_then_hits_and_the_reason_for_the_next_miss(seen, own_cache):
    build(0.125)
    assert kinds(seen) == ["CacheMiss", "CompileDone"]
    done = next(e for e in seen if isinstance(e, events.CompileDone))
    assert {"parse", "spell", "optimise", "emit", "load"} <= done.stages.keys()
    seen.clear()
    build(0.125, "# a comment changes nothing")
    assert kinds(seen) == ["CacheHit"] and seen[-1].where == "memory"
    seen.clear()
    kernel = build(0.25)
    miss = next(e for e in seen if isinstance(e, events.CacheMiss))
    assert miss.why == ("constant DT: 0.125 → 0.25",) == inspect.why(kernel)


def test_the_adjoint_is_built_only_when_it_is_asked_for(seen, own_cache):
    build(0.375)
    assert {e.direction for e in seen if isinstance(e, events.CompileDone)} == {"forward"}
    seen.clear()
    build(0.375, gradient=True)
    assert [(e.direction, type(e).__name__) for e in seen if kinds([e])] == [
        ("forward", "CacheHit"), ("adjoint", "CacheMiss"), ("adjoint", "CompileDone"),
    ]  # fmt: skip


def test_a_failed_cell_says_so_and_builds_nothing(seen):
    with pytest.raises(wb.WorkbenchError):
        meaning.define(
            "def good(x: array[float]):\n    x[tid()] = 8.5\ndef bad(x: array[float]):\n    x[tid()] = foo\n"
        )
    assert kinds(seen) == ["CompileFailed"] and len(seen[-1].errors) == 1


PROGRAM = """
import json, sys
import numpy as np
import workbench as wb
from workbench import events
heard = []
events.subscribe(heard.append)
cell = wb.build_cell(sys.argv[1], {"DT": 0.5}, gradient=True)
x, v = wb.zeros(3), wb.ones(3)
wb.launch(cell.kernels["move"], 3, inputs=[x, v])
hits = [(e.direction, e.where) for e in heard if isinstance(e, events.CacheHit)]
misses = [e.direction for e in heard if isinstance(e, events.CacheMiss)]
problems = [e.message for e in heard if isinstance(e, events.CacheProblem)]
print(json.dumps([hits, misses, problems, x.numpy().tolist()]))
"""
TEXT = "def move(x: array[float], v: array[float]):\n    i = tid()\n    x[i] = x[i] + v[i] * DT\n"


def run_program(cache: Path, text: str = TEXT, seed: str = "0"):
    env = {**os.environ, "WORKBENCH_CACHE": str(cache), "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), text], env=env, capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    return json.loads(done.stdout)


def test_a_new_process_finds_what_an_earlier_one_built(tmp_path):
    first = run_program(tmp_path / "cache")
    assert first == [[], ["forward", "adjoint"], [], [0.5, 0.5, 0.5]]
    renamed = TEXT.replace("i = tid()", "index = tid()  # renamed").replace("[i]", "[index]")
    second = run_program(tmp_path / "cache", renamed, seed="7")
    assert second == [[["forward", "disk"], ["adjoint", "disk"]], [], [], [0.5, 0.5, 0.5]]


@pytest.mark.slow
def test_damaged_artifacts_are_rebuilt(tmp_path):
    run_program(tmp_path / "cache")
    files = [f for f in (tmp_path / "cache").rglob("*") if f.is_file() and len(f.name) == 62]
    assert len(files) >= 2
    for file in files:
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    hits, misses, problems, x = run_program(tmp_path / "cache")
    assert (hits, misses, x) == ([], ["forward", "adjoint"], [0.5, 0.5, 0.5])
    assert len(problems) >= 2


def test_a_cache_that_cannot_be_written_only_says_so(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    hits, misses, problems, x = run_program(blocked / "cache")
    assert (hits, misses, x) == ([], ["forward", "adjoint"], [0.5, 0.5, 0.5])
    assert len(problems) == 1


def test_every_pane_has_text_or_a_reason():
    kernel = build(0.5)
    panes = inspect.panes(kernel)
    assert set(panes) == set(inspect.PANES)
    assert "def move" in panes["source"] and "load" in panes["ir"] and "adj_x" in panes["adjoint"]
    assert "__global__" in panes["cuda"] and "define" in panes["llvm"] and "digest" in panes["key"]
    assert ".visible .entry" in panes["ptx"] or "NVRTC" in panes["ptx"]
    loop = meaning.define(
        "def k(x: array[float]):\n    s = 1.0\n    for q in range(len(x)):\n        s *= x[q]\n    x[tid()] = s\n"
    )["k"]
    assert "NotDifferentiable" in inspect.panes(loop, ["adjoint"])["adjoint"]
