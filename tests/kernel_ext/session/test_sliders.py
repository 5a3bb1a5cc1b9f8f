"""`beta = show.slider(0, 1)`: what was recorded runs again when it moves; other cells that used it are stale."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.output import output_area, slider
from kernel_ext.refusal import Refusal
from workbench import events

SETUP = (
    "%load_ext kernel_ext",
    "import workbench as wb\nfrom kernel_ext import show\nu, v = (wb.zeros((4, 4), device='cpu') for _ in range(2))",
    "beta = show.slider(0.0, 1.0, 0.5)",
    "%%kernel\ndef paint(u: array2d[float], by: float):\n    i, j = tid()\n    u[i, j] = u[i, j] + beta * by",
)


@pytest.fixture
def notebook(session: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A shell with a kernel that reads `beta` by name; cells are told apart by the name given to `run_as`."""
    monkeypatch.setattr(output_area, "_RUNS", {})
    count = iter(range(10_000))

    def run_as(cell: str, text: str) -> str:
        session.shell.parent_header = {"metadata": {"cellId": cell}, "header": {"msg_id": f"m{next(count)}"}}
        return session.run(text)

    session.run_as = run_as
    for k, cell in enumerate(SETUP):
        said = run_as(f"setup{k}", cell)
        assert not session.errors, session.errors
        session.said = said if "slider" in cell else getattr(session, "said", "")
    return session


def move(notebook: Any, value: float, name: str = "beta") -> Any:
    return notebook.shell.user_ns[name].run({name: value})


def test_its_cell_shows_it_under_its_name(notebook: Any) -> None:
    assert "beta = 0.5  (0 to 1)" in notebook.said
    assert notebook.run_as("again", "beta").count("beta = 0.5") == 1, "not once more at the cell's end"


def test_a_move_runs_the_record_again_from_its_start_and_compiles_nothing(notebook: Any) -> None:
    notebook.run_as(
        "run", "with wb.record(inputs=True) as rec:\n    for _ in range(3): wb.launch(paint, (4, 4), [u, 2.0])"
    )
    u = notebook.shell.user_ns["u"]
    assert (u.numpy() == 3.0).all()
    compiled: list[Any] = []
    stop = events.subscribe(compiled.append, events.CompileStarted)
    view = move(notebook, 1.0)
    stop()
    assert (u.numpy() == 6.0).all() and compiled == [] and view.said == ""
    assert view.note.startswith("1 record replayed, 0 views drawn in ") and view.note.endswith("0 compiled")
    notebook.run_as("away", "del rec")
    move(notebook, 0.0)
    assert (u.numpy() == 6.0).all(), "what no name of the notebook reaches is left alone"


def test_given_as_an_argument_it_moves_too(notebook: Any) -> None:
    notebook.run_as("run", "gain = show.slider(1, 10, 2)\nbeta = 1.0\nwith wb.record(inputs=True) as rec:\n"
                    "    wb.launch(paint, (4, 4), [u, gain])\n    wb.launch(paint, (4, 4), [v, 0.5])")  # fmt: skip
    move(notebook, 7, "gain")
    assert (notebook.shell.user_ns["u"].numpy() == 7.0).all() and (notebook.shell.user_ns["v"].numpy() == 0.5).all()


class Widget:
    """A widget of a cell's output as far as marks and drawing go."""

    rested = None

    def __init__(self, again: Callable[[], Any] | None = None) -> None:
        self.stale, self.again, self.views = "", again, 0

    def redraw(self) -> Any:
        view = self.again() if self.again else None
        self.views += view is not None
        return view


def test_pictures_of_what_was_replayed_are_drawn_again_and_no_others(notebook: Any) -> None:
    notebook.run_as("run", "with wb.record(inputs=True) as rec: wb.launch(paint, (4, 4), [u, 2.0])\nshow.array(u)")
    namespace = notebook.shell.user_ns
    mine, other = Widget(show.array(namespace["u"]).again), Widget(show.points(wb.zeros((5, 2))).again)
    output_area._RUNS["run"].widgets += [mine, other]
    assert move(notebook, 0.25).note.startswith("1 record replayed, 1 view drawn")
    assert (mine.views, other.views, mine.stale) == (1, 0, "")
    assert mine.again() is None, "not written since"
    namespace.pop("u")


@pytest.mark.parametrize(
    "cell",
    ["print(beta * 2)", "wb.launch(paint, (4, 4), [u, 2.0])", "gain = float(beta)", "if beta > 2: pass"],
    ids=["arithmetic", "a launch that is not recorded", "float", "a comparison"],
)
def test_other_cells_that_used_it_are_stale_until_it_is_put_back(notebook: Any, cell: str) -> None:
    notebook.run_as("used", f"show.array(wb.zeros(3))\n{cell}\nshow.array(wb.zeros(3))")
    notebook.run_as("not", "show.array(wb.zeros(3))")
    used, free = Widget(), Widget()
    output_area._RUNS["used"].widgets.append(used)
    output_area._RUNS["not"].widgets.append(free)
    move(notebook, 0.75)
    assert (used.stale, free.stale) == ("stale: beta changed", "")
    move(notebook, 0.5)
    assert used.stale == ""
    notebook.run_as("again", SETUP[2])
    assert used.stale == "stale: beta changed", "the name means another slider"


def test_outputs_without_a_widget_and_printed_ones_get_marks(notebook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, list[str]] = {}

    def put(bundle: Any, raw: bool, display_id: str, **_: Any) -> None:
        sent.setdefault(display_id, []).append(bundle["text/html"])

    monkeypatch.setenv("WORKBENCH_WIDGETS", "0")
    monkeypatch.setattr(notebook.shell, "kernel", SimpleNamespace(), raising=False)
    monkeypatch.setattr(output_area, "display", lambda bundle, raw, display_id="", **_: put(bundle, raw, display_id))
    monkeypatch.setattr(output_area, "update_display", put)
    notebook.run_as("printed", "print(beta + 1)")
    notebook.run_as("shown", "wb.launch(paint, (4, 4), [u, 2.0])\nshow.array(u)")
    printed, shown = sent.values()
    assert printed == ["<span></span>"]
    move(notebook, 0.75)
    assert all(
        len(one) == 2 and "stale: beta changed · " in one[1] and "run the cell again" in one[1]
        for one in (printed, shown)
    )
    assert shown[0] in shown[1]
    move(notebook, 0.5)
    assert printed[2] == printed[0] and shown[2] == shown[0]


def test_three_sliders_for_a_vector_and_what_goes_wrong() -> None:
    light = show.slider(-1, 1, wb.vec3(0.0, 0.5, 1.0))
    assert [(s.name, s.value, s.low, s.high) for s in light.view.sliders] == [
        ("value.x", 0.0, -1.0, 1.0), ("value.y", 0.5, -1.0, 1.0), ("value.z", 1.0, -1.0, 1.0),
    ]  # fmt: skip
    light.run({"value.y": -0.5})
    assert light.peek().tolist() == [0.0, -0.5, 1.0] and light.type is wb.vec3
    whole = show.slider(0, 10)
    assert whole.peek() == 5 and whole.type is wb.int32 and whole.run({"value": 7.0}).note == "no record used it yet"
    assert repr(whole) == "<slider value: 7>" and slider.NOTEBOOK == []
    for wrong in ((1, 0), (0, "a"), (0, np.zeros(7)), (0, 1, 2)):
        with pytest.raises(Refusal):
            show.slider(*wrong)


def test_a_complex_value_has_a_slider_for_each_part_and_moves_without_compiling() -> None:
    @wb.kernel
    def shifted(z: wb.array[complex], by: complex, y: wb.array[complex]):
        i = wb.tid()
        y[i] = z[i] - by

    pole = show.slider(-2, 2, 0.5 + 1j)
    assert [(s.name, s.value) for s in pole.view.sliders] == [("value.real", 0.5), ("value.imag", 1.0)]
    z, y = wb.array(np.array([1j, 2.0], np.complex64)), wb.zeros(2, dtype=wb.complex64)
    with wb.record() as run:
        wb.launch(shifted, 2, [z, pole], [y])
    assert y.numpy().tolist() == [-0.5, 1.5 - 1j]
    assert "0 compiled" in pole.run({"value.imag": -1.0}).note and len(run) == 1
    assert y.numpy().tolist() == [-0.5 + 2j, 1.5 + 1j] and pole * 2 == 1 - 2j
    with pytest.raises(Refusal, match=r"it got 0, 1 and \(2\+0j\)|between its ends"):
        show.slider(0, 1, 2 + 0j)


def test_a_fault_in_a_replay_is_said(notebook: Any) -> None:
    notebook.run_as("kernel", "%%kernel\ndef reach(u: array2d[float], at: int):\n    u[at, 0] = 1.0")
    notebook.run_as("run", "at = show.slider(0, 10, 0)\nwith wb.record() as rec: wb.launch(reach, 1, [u, at])")
    assert "index" in move(notebook, 9, "at").said
    assert move(notebook, 1, "at").said == ""


def test_a_graph_is_updated_with_it(notebook: Any) -> None:
    notebook.run_as("run", "with wb.capture() as g: wb.launch(paint, (4, 4), [u, 2.0])")
    notebook.run_as("update", "g.update(beta=beta)\ng.launch()")
    u, graph = notebook.shell.user_ns["u"], notebook.shell.user_ns["g"]
    assert not notebook.errors and (u.numpy() == 1.0).all()
    move(notebook, 0.25)
    graph.update(beta=notebook.shell.user_ns["beta"])
    graph.launch()
    assert (u.numpy() == 1.5).all()


@pytest.mark.slow
def test_functions_of_jax_take_it(need: Any) -> None:
    need("jax")
    import jax
    import jax.numpy as jnp

    beta, x = show.slider(0.0, 1.0, 0.5), jnp.arange(4.0)
    double = wb.jax_kernel(times, launch_dims=4, output_dims=4)
    for value in (0.5, 0.25):
        beta.run({"value": value})
        expected = (value * np.arange(4)).tolist()
        assert double(beta, x).tolist() == (beta * x).tolist() == (x * beta).tolist() == expected
        assert jax.jit(double)(jnp.asarray(beta), x).tolist() == expected
        assert jax.grad(lambda b: double(b, x).sum())(float(beta)) == 6.0


@wb.kernel
def times(by: float, x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = by * x[i]
