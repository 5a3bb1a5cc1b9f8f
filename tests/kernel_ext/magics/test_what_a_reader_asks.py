"""What a reader tries who knows none of it: `--help`, a wrong value, a value's own text; the real library answers."""

from __future__ import annotations

from typing import Any

import pytest

from workbench import events, inspect

CELL = "%%kernel\ndef step(x: array[float]):\n    x[tid()] += 1.0\n"


@pytest.fixture
def notebook(session):
    """A shell with the extension, a kernel and an array."""
    session.run("%load_ext kernel_ext")
    session.run("import workbench as wb\nfrom kernel_ext import show\nx = wb.zeros(4)")
    session.run(CELL.replace("%%kernel", "%%kernel -q"))
    return session


MAGICS = {
    "line": ("inspect", "cache", "record", "replay", "grad", "bench", "tune", "workbench"),
    "cell": ("kernel", "record", "graph", "tape", "cuda"),
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in MAGICS.items() for name in names])
def test_every_magic_answers_help(notebook, kind: str, name: str) -> None:
    signs, body = ("%", "") if kind == "line" else ("%%", "\nnothing that could run")
    for asked in ("--help", "-h"):
        said = notebook.run(f"{signs}{name} {asked}{body}")
        assert notebook.raised is None and said.startswith(f"{signs}{name} ") and "Examples::" in said
    assert set(notebook.shell.magics_manager.magics[kind]) >= set(MAGICS[kind])


def test_help_needs_no_body(notebook) -> None:
    said = notebook.run("%%kernel --help")
    assert notebook.raised is None and said.startswith("%%kernel [-n NAME]")
    notebook.run("%%kernel")
    assert "the cell body is empty" in str(notebook.raised)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%%kernel --chekcs", "unrecognized arguments: --chekcs (did you mean --checks?)"),
        ("%%kernel --hepl", "(did you mean --help?)"),
        ("%%kernel --zzz", "unrecognized arguments: --zzz; %%kernel?"),
    ],
)
def test_a_misspelled_option_names_the_nearest(notebook, line: str, said: str) -> None:
    notebook.run(CELL.replace("%%kernel", line))
    assert said in str(notebook.raised)


def test_h_that_is_no_first_word_belongs_to_the_expression(notebook) -> None:
    notebook.run("h = 1\n%bench -n 1 -r 1 3 -h")
    assert notebook.raised is None


def test_the_key_is_that_of_the_notebook_s_launches(notebook) -> None:
    heard: list[Any] = []
    stop = events.subscribe(heard.append, events.CacheHit, events.CompileDone)
    notebook.run(CELL.replace("%%kernel", "%%kernel -b cpu"))
    stop()
    rows = dict(row.rsplit(None, 1) for row in inspect.key(notebook.shell.user_ns["step"]).splitlines())
    assert rows["option checks"] == "on" and rows["digest"] == heard[-1].key


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("show.array('abc')", "an array of <U3 has no picture; it takes an array of numbers"),
        ("show.controls(3)", "controls() takes a record, a tape, a kept launch, a graph or a function; it got 'int'"),
    ],
)
def test_a_refused_value_shows_no_line_of_ours(notebook, line: str, said: str) -> None:
    notebook.run(line)
    assert notebook.errors[:2] == ["Refusal", said] and notebook.errors[-1].strip() == line


@pytest.mark.parametrize("line", ["%%record", "%%graph -q", "%%tape"])
def test_an_error_of_the_cell_s_own_shows_the_cell_s_lines(notebook, line: str) -> None:
    out = notebook.run(f"{line}\n1 / 0")
    assert isinstance(notebook.raised, ZeroDivisionError)
    assert "1 / 0" in out and "kernel_ext" not in out and "exec(code" not in out


def test_a_replay_runs_once_or_more(notebook) -> None:
    notebook.run("%%record rec -q\nwb.launch(step, 4, [x])")
    notebook.run("%replay rec -n 0")
    assert "a record is replayed once or more; -n got 0" in str(notebook.raised)


def test_values_tell_themselves_in_words(notebook) -> None:
    assert "<tape: " not in notebook.run("%%tape -n tape -q\nwb.launch(step, 4, [x])")
    assert "tape: 1 step, nothing had to be kept" in notebook.run("tape")
    assert ": step>" in notebook.run(CELL.replace("%%kernel", "%%kernel -r"))
    notebook.run("%%record rec -q\nwb.launch(step, 4, [x])")
    told = notebook.run("print(rec[0])")
    assert told.startswith("<forward step 4 ") and told.endswith(" cell:2>\n")
