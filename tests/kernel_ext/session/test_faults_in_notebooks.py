"""A launch that faults, in a shell with the real library: the cell's line with its caret, and the next cell runs."""

from __future__ import annotations

import sys

import pytest

import workbench as wb
import workbench.inspect
from kernel_ext import launch_views

CELL = "%%kernel{options}\ndef k(x: array(dtype=float), n: int):\n    i = tid()\n    x[i + n] = 1.0\n"
LAUNCH = "import workbench as wb\nx = wb.zeros(4, float)\nwb.launch(k, 4, [x, 1])"


def test_a_fault_shows_the_line_and_the_session_lives(session) -> None:
    session.run("%load_ext kernel_ext")
    assert "checks" in session.run(CELL.format(options=""))
    assert "checks" in session.run(CELL.format(options=""))
    session.run(LAUNCH)
    assert isinstance(session.raised, wb.KernelFault)
    assert session.errors == [
        "KernelFault  k, Cell In[3], line 4",
        "        x[i + n] = 1.0",
        "        ^^^^^^^^",
        "x has 4 elements along axis 0; thread (3,) asked for index 4.",
        "",
        "raised at Cell In[4], line 3",
        "    wb.launch(k, 4, [x, 1])",
        "",
        "%fault steps through thread (3,); %fault threads shows all of them",
    ]
    assert session.run("wb.launch(k, 4, [x, 0]); print(x.numpy())") == "[1. 1. 1. 1.]\n"


def test_fault_opens_the_thread_that_failed_at_its_statement(session) -> None:
    for cell in ("%load_ext kernel_ext", CELL.format(options=""), LAUNCH):
        session.run(cell)
    said = session.run("%fault")
    assert "k, thread 3" in said and "x[4] is out of range" in said and said.rstrip().count("\n") == 4
    assert "4 wrote" in session.run("%fault threads"), "which runs on copies"
    session.run("1 / 0")
    session.run("%fault")
    assert "the last error is another one" in session.errors[-1]
    shown = launch_views.fault(fault_of(session), "steps")
    assert shown.live().selected == 1, "the last statement"


def test_fault_is_of_the_launch_that_failed_and_opens_at_its_thread(session) -> None:
    for cell in ("%load_ext kernel_ext", CELL.format(options=""), LAUNCH, "wb.launch(k, 2, [x, 0])"):
        session.run(cell)
    assert "x[4] is out of range" in session.run("%fault"), "whatever ran since"
    shown = launch_views.fault(sys.last_value, "threads")
    assert shown.live().at == [0, 3]
    session.run("z = wb.zeros((40, 30), float)\n@wb.kernel\ndef m(z: wb.array2d[float]):\n    i, j = wb.tid()\n"
                "    if i == 20 and j == 7:\n        z[i + 20, j] = 1.0\nwb.launch(m, (40, 30), [z])")  # fmt: skip
    block, within = launch_views.fault(sys.last_value, "threads").live().at
    threads = workbench.inspect.threads(session.shell.user_ns["m"], (40, 30), [session.shell.user_ns["z"]])
    assert threads.thread(block, within) == (20, 7)


@pytest.mark.slow
def test_fault_opens_a_race_at_its_thread(session, need) -> None:
    need("nvrtc")
    race = "%%kernel\ndef r(z: array2d[float]):\n    i, j = tid()\n    z[i, 0 if i == 19 else j] = float(j)\n"
    for cell in ("%load_ext kernel_ext", race, "import workbench as wb\nz = wb.zeros((20, 30), float)"):
        session.run(cell)
    session.run("with wb.checks('races'):\n    wb.launch(r, (20, 30), [z])")
    assert sys.last_value.kind == "race" and sys.last_value.block == (2, 0, 0)
    number = 2 * 256 + sys.last_value.thread[0]
    assert number // 30 == 19 and f"r, thread 19, {number % 30}\n" in session.run("%fault")
    assert launch_views.fault(sys.last_value, "threads").live().at == [2, number % 256]


def fault_of(session) -> wb.KernelFault:
    session.run("try:\n    wb.launch(k, 4, [x, 1])\nexcept wb.KernelFault as e:\n    held = e")
    return session.shell.user_ns["held"]


def test_no_checks_on_request_and_none_after_unloading(session) -> None:
    session.run("%load_ext kernel_ext")
    assert "· checks" not in session.run(CELL.format(options=" --no-checks"))
    assert session.shell.user_ns["k"].checks is False
    session.run(CELL.format(options=" --checks"))
    assert session.shell.user_ns["k"].checks is True
    assert wb.set_checks(True) is True
    session.run("%unload_ext kernel_ext")
    assert wb.set_checks(False) is False
