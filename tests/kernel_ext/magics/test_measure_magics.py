"""`%bench`, `%tune`, `%%tape` and `%grad` in a shell of this process, with the real library behind them."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from kernel_ext import expressions
from kernel_ext.magics.measure_magics import split
from kernel_ext.refusal import Refusal
from kernel_ext.session.tracebacks import KernelUsageError
from kernel_ext.views.programs import tape_view

KERNELS = """%%kernel -q -D UNROLL=2
def push(a: float, x: array(dtype=float), y: array(dtype=float)):
    i = tid()
    for k in range(UNROLL):
        y[i] = y[i] + a * x[i]

def cubes(x: array(dtype=float), out: array(dtype=float)):
    i = tid()
    atomic_add(out, 0, x[i] * x[i] * x[i])
"""
NAMES = """import workbench as wb
n = 64
x, y = wb.ones(n), wb.zeros(n)
kept = wb.launch(push, n, [2.0, x, y], record_cmd=True)
def energy(x):
    out = wb.zeros(1)
    wb.launch(cubes, len(x), [x], [out])
    return out
"""
COOL = """%%kernel -q
def cool(x: array(dtype=float)):
    i = tid()
    x[i] -= 0.1 * x[i] * x[i]
"""
FALL = """def fall(x):
    z = wb.clone(x)
    for _ in range(40):
        wb.launch(cool, n, [z])
    return energy(z)
"""


@pytest.fixture
def notebook(session: Any) -> Any:
    """A shell with the extension, two kernels, arrays and a kept launch."""
    for cell in ("%load_ext kernel_ext", KERNELS, NAMES):
        session.run(cell)
        assert session.raised is None
    return session


def test_bench_tells_time_and_rates(notebook: Any) -> None:
    out = notebook.run("%bench -n 2 -r 2 wb.launch(push, n, [0.0, x, y])")
    assert "per call (best of 2 rounds of 2" in out and "GB/s measured" in out.replace("MB/s of", "GB/s of")
    assert notebook.run("b = %bench -n 1 -r 1 -o wb.launch(push, n, [0.0, x, y])") == ""
    found = notebook.shell.user_ns["b"]
    assert isinstance(found, wb.Bench) and found.effort.flops == 64 * 4
    assert found.what == "wb.launch(push, n, [0.0, x, y])"


def test_bench_times_two_expressions_by_turns(notebook: Any) -> None:
    turns: list[str] = []
    notebook.shell.user_ns.update(one=lambda: turns.append("one"), other=lambda: turns.append("other"))
    found = notebook.run("r = %bench -o -n 1 -r 3 one() vs other()\nprint(r)")
    assert turns[-6:] == ["one", "other"] * 3, "rounds by turns"
    r = notebook.shell.user_ns["r"]
    assert found.splitlines()[2].startswith(f"other() takes {r.ratio:.2f} of the time of one() (rounds ")
    assert r.ratios == tuple(b / a for a, b in zip(r.first.rounds, r.second.rounds, strict=True))
    for wrong in ("one() vs other() vs one()", "-p m=1,2 one() vs other()"):
        notebook.run(f"%bench {wrong}")
        assert isinstance(notebook.raised, KernelUsageError) and "two expressions" in str(notebook.raised)


def test_bench_sweeps_names_of_the_expression(notebook: Any) -> None:
    out = notebook.run('%bench -n 1 -r 1 -p "m=16..64:x2" -p a=0.0,1.0 wb.launch(push, m, [a, x, y])')
    assert out.splitlines()[0].split()[:2] == ["m", "a"] and len(out.splitlines()) == 1 + 6 + 1
    assert "shortest: m=" in out


def test_tune_sweeps_constants_and_puts_them_back(notebook: Any) -> None:
    kernel = notebook.shell.user_ns["push"]
    line = '%tune push UNROLL=1,4 threads=1,2 -r 1 -o --run "wb.launch(push, n, [0.0, x, y])"'
    notebook.run(f"s = {line}")
    found = notebook.shell.user_ns["s"]
    assert [p.effort.flops for p in found.points] == [128, 128, 512, 512]
    assert kernel.definition.scope.own["UNROLL"] == 2
    assert found.to_svg().count("<rect") == 4


def test_tune_sweeps_a_constant_of_the_notebook(notebook: Any) -> None:
    notebook.run("SCALE = 3.0")
    notebook.run("%%kernel -q\ndef scale(x: array(dtype=float)):\n    x[tid()] = SCALE * x[tid()]\n")
    notebook.run('s = %tune scale SCALE=1.0,2.0 -o -r 1 --run "wb.launch(scale, n, [x])"')
    assert notebook.shell.user_ns["s"].axes == {"SCALE": (1.0, 2.0)}
    assert notebook.shell.user_ns["SCALE"] == 3.0


def test_tune_sweeps_a_kept_launch_and_a_function(notebook: Any) -> None:
    assert "shortest: dim=" in notebook.run("%tune kept dim=8,16 -r 1")
    assert notebook.shell.user_ns["kept"].dim == (64,)
    notebook.run("def work(m): return wb.launch(push, m, [0.0, x, y])")
    assert "shortest: m=" in notebook.run("%tune work m=8,16 -r 1")


def test_tape_shows_steps_and_gradients(notebook: Any) -> None:
    out = notebook.run("%%tape -n t --loss out\nout = wb.zeros(1)\ny.fill_(1.0)\nwb.launch(push, n, [2.0, x, y])\n"
                       "wb.launch(cubes, n, [y], [out])")  # fmt: skip
    # Where another test of this process has compiled a `push`, a line before them says what differs.
    lines = [line for line in out.splitlines() if " recompiled: " not in line]
    assert lines[0].startswith("t: 4 steps")
    assert [line.split()[:2] for line in lines if line.startswith("launch")] == [
        ["launch", "push"],
        ["launch", "cubes"],
    ]
    assert any(line.split()[:2] == ["x", "64"] for line in lines)
    tape = notebook.shell.user_ns["t"]
    assert tape.gradients[notebook.shell.user_ns["x"]].numpy()[0] == 3 * 25 * 4
    assert notebook.run("%%tape -q\nwb.launch(push, n, [2.0, x, y])") == ""
    view = tape_view.tape_view(tape, "t", notebook.shell.user_ns)
    assert view.steps == 4 and "<td" in tape_view.tape_html(view)


def test_grad_shows_what_the_tape_keeps(notebook: Any) -> None:
    for cell in (COOL, FALL):
        notebook.run(cell)
    out = notebook.run("%grad fall(x) --memory")
    assert "bytes kept in" in out and "bytes per launch" in out
    out = notebook.run("%grad --checkpoint 6 --memory fall(x)")
    assert "without checkpoints" in out and "recomputed" in out
    notebook.run("%%tape --checkpoint 6 --loss s\ns = fall(x)\n")
    plain, little = (wb.Tape(checkpoint=n) for n in (0, 6))
    names = notebook.shell.user_ns
    for tape in (plain, little):
        with tape:
            names["fall"](names["x"])
    assert wb.inspect.tape_memory(little).plain == plain.nbytes > 4 * little.nbytes


def test_grad_gives_a_report(notebook: Any) -> None:
    out = notebook.run("%grad energy(x) --check")
    assert "energy(x) = 64" in out and "each kernel alone" in out
    notebook.run("g = %grad energy(x) --wrt x")
    assert notebook.shell.user_ns["g"]["x"].numpy()[0] == 3
    notebook.run("h = %grad --wrt=x energy(x)")
    assert list(notebook.shell.user_ns["h"]) == ["x"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%bench", "%bench takes an expression"),
        ("%bench 1 +", "%bench takes one Python expression"),
        ("%bench -p m=3.. f(m)", "m=3..: the values do not evaluate"),
        ("%bench -p m f(m)", "-p takes NAME=VALUES"),
        ("%bench -p m=1 -p m=2 f(m)", "-p has two axes m"),
        ("%bench -r 0 energy(x)", "%bench takes -n from 0 and -r from 1"),
        ("%bench --frob energy(x)", "%bench: "),
        ("%bench push", "%bench takes what launches push: %bench wb.launch(push, n, [...])"),
        ("%grad push", "such as %grad loss(x); push alone is checked by wb.gradcheck(push, n, [...], [...])"),
        ("%tune push UNROLL=1,2", "%tune of a kernel needs what launches it"),
        (
            '%tune push FROB=1 --run "wb.launch(push, n, [2.0, x, y])"',
            "FROB is neither in the expression nor a constant",
        ),
        ("%tune kept block=32..64:x2", "block is the threads of a CUDA block"),
        ("%tune kept zzz=1", "the launch of push has no parameter zzz"),
        ("%tune kept dim=4 --run f()", "--run is for a kernel"),
        ("%tune n m=1", "%tune takes a kernel, a kept launch or a function; n is an int"),
        ("%tune nothing m=1", "nothing is not defined"),
        ("%grad energy(x) --wrt n", "--wrt takes names of arrays of floats; n is none"),
        ("%grad 3", "the expression contains no array of floats"),
        ("%%tape -n 3x\n1", "%%tape takes a name for the tape"),
        ("%%tape --loss zzz\n1", "--loss takes the name of an array"),
    ],
)
def test_a_wrong_line_is_one_clear_error(notebook: Any, line: str, message: str) -> None:
    if line.startswith("%grad 3"):
        notebook.run("del x, y")
    notebook.run(line)
    assert isinstance(notebook.raised, KernelUsageError)
    assert notebook.errors[0].startswith(f"UsageError: {message}") or message in notebook.errors[0]


@pytest.mark.parametrize(
    ("item", "values"),
    [
        ("m=64,128", (64, 128)), ("block=32..256:x2", (32, 64, 128, 256)), ("n=0..10:+5", (0, 5, 10)),
        ("k=1..3", (1, 2, 3)), ("dt=h,2*h", (0.5, 1.0)), ("'m=1'", (1,)), ("s='a','b'", ("a", "b")),
    ],
)  # fmt: skip
def test_axes_are_lists_or_ranges(item: str, values: tuple[Any, ...]) -> None:
    assert expressions.axis(item, {"h": 0.5}, "%tune")[1] == values


@pytest.mark.parametrize("item", ["m=8..1", "m=0..8:x2", "m=1..8:x1", "m=1..8:+0", "m=1..1e9"])
def test_a_range_without_end_is_refused(item: str) -> None:
    with pytest.raises(Refusal):
        expressions.axis(item, {}, "%tune")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("f(x)", ("", "f(x)")), ("-n 3 f(-1, '-r 4')", ("-n 3", "f(-1, '-r 4')")),
        ('-p "m=1, 2" -o f(m)', ('-p "m=1, 2" -o', "f(m)")), ("-1 + x", ("", "-1 + x")), ("-o", ("-o", "")),
    ],
)  # fmt: skip
def test_options_end_where_the_expression_begins(line: str, expected: tuple[str, str]) -> None:
    assert split(line) == expected


def test_profile_counts_without_a_gpu(notebook: Any) -> None:
    notebook.run("%%kernel -q\ndef numbered(x: array[float], out: array[float], y: array[float]):\n"
                 "    i = tid()\n    y[i] = atomic_add(out, 0, x[i])\n")  # fmt: skip
    shown = notebook.run("%profile wb.launch(numbered, n, [x], [wb.zeros(1), y])")
    assert "32.0 lanes of a warp update the same element" in shown
    assert notebook.run("p = %profile -o -a sm_80 wb.launch(numbered, n, [x], [wb.zeros(1), y])") == ""
    found = notebook.shell.user_ns["p"]
    assert isinstance(found, wb.Profile) and found.arch == "sm_80"
    assert (found.total.atomics, found.total.atomic_conflicts) == (64, 62)
    (line,) = [line for line in found.lines.values() if line.atomics]
    assert line.number == 4 and line.text.strip().startswith("y[i] = atomic_add")


def test_profile_refuses_what_launches_nothing(notebook: Any) -> None:
    notebook.run("%profile 1 + 1")
    assert "launched nothing" in str(notebook.raised)
