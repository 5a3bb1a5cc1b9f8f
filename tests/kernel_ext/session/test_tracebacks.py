"""What a user sees of an error: the cell's line, a caret, a sentence; our files only when `%tb` asks for them."""

from __future__ import annotations

import re

import pytest

from kernel_ext.session import tracebacks
from workbench.errors import CellErrors, KernelTypeError, LaunchError, WorkbenchError
from workbench.source import Location, Source

CELL = "%%kernel\ndef saxpy(a):\n    return a\n"
BAD = "%%kernel\ndef saxpy(a):\n    b = nope\n    return nope + a\n"


def test_all_errors_of_a_cell_at_their_lines(loaded) -> None:
    loaded.run("1")
    loaded.run(BAD)
    assert loaded.errors == [
        "KernelTypeError  f, Cell In[3], line 3",
        "        b = nope",
        "            ^^^^",
        "unknown name nope.  Did you mean note?",
        "",
        "KernelTypeError  f, Cell In[3], line 4",
        "        return nope + a",
        "               ^^^^",
        "unknown name nope.  Did you mean note?",
        "",
        "2 errors",
    ]


def test_a_single_error_has_no_count(loaded) -> None:
    loaded.run(BAD.replace("b = nope", "b = 1"))
    assert loaded.errors[0] == "KernelTypeError  f, Cell In[2], line 4"
    assert loaded.errors[-1] == "unknown name nope.  Did you mean note?"


def test_a_refused_launch_shows_the_users_own_line(loaded) -> None:
    loaded.run(CELL)
    loaded.run(BAD)
    loaded.run("x = 1\nsaxpy.launch()")
    assert loaded.errors == [
        "LaunchError",
        "cell [3], which defines saxpy, no longer compiles.",
        "",
        "raised at Cell In[4], line 2",
        "    saxpy.launch()",
    ]


def test_tb_then_shows_everything(loaded) -> None:
    loaded.run(BAD)
    loaded.run("%tb")
    text = "\n".join(loaded.errors)
    assert "Traceback (most recent call last)" in text
    assert re.search(r"kernel_ext/session/cells\.py", text) and "CellErrors" in text


def test_errors_of_others_look_as_ever(loaded) -> None:
    loaded.run("1 / 0")
    assert "ZeroDivisionError" in "\n".join(loaded.errors) and len(loaded.errors) > 3


def test_a_misspelt_attribute_of_ours_has_the_name_that_may_be_meant(loaded) -> None:
    loaded.run("import workbench as wb\nx = wb.zeros(3, device='cpu')\nx.shapes")
    text = "\n".join(loaded.errors)
    assert "has no attribute 'shapes'" in text and loaded.errors[-1] == "Did you mean shape?"
    assert "x.shapes" in text, "IPython's own traceback"
    loaded.run("%tb")
    assert "\n".join(loaded.errors).count("Did you mean") == 1
    loaded.run("try:\n    x.shpae\nexcept AttributeError as e:\n    held = e\nraise held")
    assert loaded.errors[-1] == "Did you mean shape?"
    loaded.run("from kernel_ext import show\nshow.aray(x)")
    assert loaded.errors[-1] == "Did you mean array?"
    for other in ("x.nothing_like_it", "''.uper()", "x.astype", "raise AttributeError('bare')"):
        loaded.run(other)
        assert "AttributeError" in loaded.errors[-1] and "Did you mean" not in "\n".join(loaded.errors)


OURS = re.compile(r"(workbench|kernel_ext)/\S+\.py")


@pytest.mark.parametrize("cell", [
    "x[10]", "if x > 0: pass", "wb.array([1], dtype='blah')", "wb.nothere", "f'{x:.2f}'",
    "%bench wb.launch(nothing, 3, [x])",
    "%grad nothing(x)", "%profile nothing(x)", "try:\n    x[10]\nexcept IndexError:\n    x[11]",
])  # fmt: skip
def test_plain_errors_inside_ours_show_only_the_users_lines(loaded, cell) -> None:
    loaded.run("import workbench as wb\nx = wb.array([1.0, 2.0], device='cpu')")
    loaded.run(cell)
    text = "\n".join(loaded.errors)
    assert "Error: " in loaded.errors[-1] and not OURS.search(text) and "Could not get source" not in text
    assert cell.split("(")[0].split()[-1] in text and len(loaded.errors) < 25
    loaded.run("%tb")
    assert OURS.search("\n".join(loaded.errors)), "%tb shows everything"


def test_callbacks_of_the_user_stay_in_a_traceback(loaded) -> None:
    loaded.run("import workbench as wb\nx = wb.array([1.0, 2.0], device='cpu')\ndef loss(x):\n    return 1 / 0")
    loaded.run("%grad loss(x)")
    text = "\n".join(loaded.errors)
    assert "return 1 / 0" in text and "in loss(x)" in text and not OURS.search(text)


def test_an_interrupt_of_ours_shows_the_users_line(loaded, monkeypatch) -> None:
    import workbench

    def long(*_):
        raise KeyboardInterrupt

    long.__code__ = long.__code__.replace(co_filename=workbench.__file__)
    loaded.shell.user_ns["long"] = long
    loaded.run("long()")
    assert "long()" in "\n".join(loaded.errors) and not OURS.search("\n".join(loaded.errors))


def test_a_handler_of_someone_else_stays(session, library) -> None:
    seen = []
    session.shell.set_custom_exc((LaunchError,), lambda shell, kind, error, tb, tb_offset=None: seen.append(error))
    session.run("%load_ext kernel_ext")
    assert session.shell.custom_exceptions == (LaunchError,)
    session.run(BAD)
    assert session.errors[0] == "KernelTypeError  f, cell [2], line 3", "the error's own hook still shows it short"
    session.run("%unload_ext kernel_ext")
    assert session.shell.custom_exceptions == (LaunchError,)


def test_places_outside_cells_keep_their_names() -> None:
    source = Source("x = 1\n", "blur.py", "/home/me/blur.py")
    error = KernelTypeError("no.", Location(source, 1, 0, 1, 1), function="blur")
    assert tracebacks.render(error, lambda name: name) == [
        "KernelTypeError  blur, blur.py, line 1",
        "    x = 1",
        "    ^",
        "no.",
    ]


def test_errors_without_a_place_are_one_sentence() -> None:
    errors = CellErrors("2", errors=(WorkbenchError("one."), WorkbenchError("two.", advice="Do it.")))
    assert tracebacks.render(errors, str) == [
        "WorkbenchError", "one.", "", "WorkbenchError", "two.  Do it.", "", "2 errors",
    ]  # fmt: skip


class _Compile:
    """IPython 7.34's compiler gives no label, neither for its own names nor for ipykernel's files."""


class _Shell:
    compile = _Compile()


def test_older_shells_name_cells_too() -> None:
    assert tracebacks.cell_label(_Shell(), "<ipython-input-6-3fa982f4d195>") == "Cell In[6]"
    assert tracebacks.cell_label(_Shell(), "/tmp/ipykernel_77/123.py") == "a cell"
    assert tracebacks.cell_label(_Shell(), "/home/me/blur.py") == "/home/me/blur.py"
