"""`%workbench` and its plain functions."""

from __future__ import annotations

import json
import re
import sys
import threading
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.magics.workbench_magic import waited
from kernel_ext.session.tracebacks import KernelUsageError
from workbench import doctor, inspect
from workbench.backends.cuda import toolkit
from workbench.runtime.device.driver_calls import CudaDevice


@pytest.fixture
def notebook(session: Any) -> Any:
    """A shell with the extension and the real library."""
    session.run("%load_ext kernel_ext")
    session.run("import workbench as wb")
    return session


def test_the_doctor_names_each_thing_and_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    report = inspect.doctor()
    assert bool(report), str(report)
    found = {f.what: f for f in report.findings}
    assert found["CPU backend"].state == "ok" and "llvmlite" in found["CPU backend"].found
    assert {"CUDA driver", "NVRTC", "GPU architecture", "JAX", "widgets", "cache folder"} <= set(found)
    monkeypatch.setattr(doctor, "_version", lambda name: "")
    missing = {f.what: f for f in inspect.doctor().findings}
    assert "pip install 'jax>=0.5'" in missing["JAX"].advice
    assert "pip install anywidget ipywidgets" in missing["widgets"].advice
    assert all(missing[name].state == "optional" for name in ("JAX", "widgets"))
    monkeypatch.setattr(doctor, "_version", lambda name: "0.4.30")
    assert not inspect.doctor() and "older than 0.5" in str(inspect.doctor())
    assert "older than 0.5" in inspect.doctor()._repr_html_()


@pytest.mark.parametrize("modules, variables, name, advice", [
    ((), (), "a script or a terminal", ""),
    (("ipykernel.zmqshell",), (), "a Jupyter front end", ""),
    (("ipykernel.zmqshell", "google.colab"), (), "Colab", "enable_custom_widget_manager"),
    (("ipykernel.zmqshell",), ("KAGGLE_KERNEL_RUN_TYPE",), "Kaggle", "static pictures"),
    (("ipykernel.zmqshell",), ("VSCODE_PID",), "VS Code", "widgetScriptSources"),
    (("ipykernel.zmqshell",), ("VSCODE_CWD",), "VS Code", ""),
    (("marimo",), (), "marimo", "no magics"),
])  # fmt: skip
def test_the_doctor_names_the_front_end(
    modules: tuple[str, ...], variables: tuple[str, ...], name: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("ipykernel.zmqshell", "google.colab", "marimo"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    for variable in ("KAGGLE_KERNEL_RUN_TYPE", "VSCODE_PID", "VSCODE_CWD"):
        monkeypatch.delenv(variable, raising=False)
    for module in modules:
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
    for variable in variables:
        monkeypatch.setenv(variable, "1")
    found = doctor._front_end()
    assert name in found.found and advice in found.advice


def test_the_doctor_names_the_extra_that_fits_gpu_and_driver(need: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench import doctor

    need("nvrtc")
    major = toolkit.compiler().major
    # What the compiler of the other major knows and this one does not, on a driver that loads either.
    arch, other = ("sm_110", "cu13") if major == 12 else ("sm_70", "cu12")
    monkeypatch.setattr(doctor, "devices", lambda: (CudaDevice(0, "A GPU", arch, 1 << 30, 1),))
    monkeypatch.setattr(toolkit, "driver_version", lambda: 13_000)
    found = {f.what: f for f in inspect.doctor().findings}
    assert found["GPU architecture"].state == "problem" and arch in found["GPU architecture"].found
    assert f"pip install 'kernel-workbench[{other}]'" in found["GPU architecture"].advice
    # A driver of CUDA 12.4 loads what the compilers of 12 make, and nothing of 13.
    monkeypatch.setattr(doctor, "devices", lambda: (CudaDevice(0, "A GPU", "sm_90", 1 << 30, 1),))
    monkeypatch.setattr(toolkit, "driver_version", lambda: 12_040)
    nvrtc = {f.what: f for f in inspect.doctor().findings}["NVRTC"]
    assert nvrtc.state == ("ok" if major == 12 else "problem")
    assert major == 12 or ("CUDA 12.4" in nvrtc.found and "kernel-workbench[cu12]" in nvrtc.advice)


def test_info_and_doctor_are_shown(notebook: Any) -> None:
    out = notebook.run("%workbench")
    assert out.startswith("Workbench 0.1") and "arrays held" in out and "CPU " in out
    assert "CPU backend" in notebook.run("%workbench doctor")


def test_wait_and_stop_tell_what_goes_on(notebook: Any) -> None:
    assert notebook.run("%workbench wait") == "0 builds in the background: nothing to wait for\n"
    assert notebook.run("%workbench stop") == "nothing is being built in the background\n"
    may_end = threading.Event()
    works = [wb.Work(may_end.wait, name=name) for name in ("cell [3]", "cell [4]")]
    assert notebook.run("%workbench stop") == "ended cell [3], cell [4]\n"
    assert all(w.dropped for w in works)
    said: list[str] = []

    def progress(text: str) -> None:
        said.append(text)
        may_end.set()

    assert waited(progress) in ("2 builds in the background done", "1 build in the background done")
    assert said == ["waiting for cell [3], cell [4]"]


@pytest.mark.slow
def test_free_drops_outputs_that_keep_arrays(notebook: Any) -> None:
    notebook.run("wb.zeros(1_000_000)")
    held = inspect.held()["cpu"]
    out = notebook.run("%workbench free")
    assert out.startswith("freed 4.0 MB of arrays")
    assert inspect.held().get("cpu", 0) <= held - 4_000_000
    notebook.run("mine = wb.zeros(1_000_000)")
    assert notebook.run("%workbench free").startswith("freed 0 B")
    assert notebook.shell.user_ns["mine"].shape == (1_000_000,)


@pytest.mark.slow
def test_free_drops_views_and_says_who_holds_the_rest(notebook: Any) -> None:
    notebook.run("from kernel_ext import show\nu, v = wb.zeros((10, 300, 300)), wb.zeros(500_000)")
    notebook.run("u, view = wb.zeros((10, 300, 300)), show.array(u)\nw = u")  # the first u is gone: a view holds none
    notebook.run("show.animate(lambda: None, watch=wb.zeros(1_000_000))")
    assert not notebook.run("%workbench free").startswith("freed 0 B")
    said = notebook.run("%workbench free")
    assert said.startswith("freed 0 B of arrays; ") and "by w 3.6 MB, v 2.0 MB" in said.replace("u 3.6", "w 3.6")


def test_a_view_of_an_array_that_is_gone_says_so() -> None:
    import numpy as np

    u = wb.array(np.arange(24.0, dtype=np.float32).reshape(2, 3, 4))
    slice_at = show.array(u, "u").live_parts["slice_at"]
    assert slice_at((1,)).at == (1,)
    del u
    assert slice_at((0,)).kind.startswith("the array is gone")
    assert show.array(wb.zeros((3, 4))).live_parts["slice_at"] is None  # nothing to ask for


def test_an_export_reads_as_the_notebook_does(notebook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text as it was saved, each cell that ran with what it printed and showed; a cell that ran again once."""
    cells = [
        "a = 1 < 2; print('\\x1b[31mred\\x1b[0m <b>')\na",
        "from kernel_ext import show\nfor k in range(3): print(f'{k} %', end='\\r')\nprint('done')",
        "print('array'); show.array([1.0, 2.0], 'first')",
        "show.array([3.0], 'later')",
    ]
    saved = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_markdown_cell("# About *it*\n\n| a |\n|---|\n| `1 < 2` |\n\n<script>alert(1)</script>"),
        *[nbformat.v4.new_code_cell(cell, id=f"cell-{k}") for k, cell in enumerate((*cells[:3], "never_ran()"))],
        nbformat.v4.new_markdown_cell("The end."),
    ])  # fmt: skip

    def run(number: int, name: str, cell: str) -> None:
        header = {"metadata": {"cellId": name}, "header": {"msg_id": str(number)}, "content": {"code": cell}}
        monkeypatch.setattr(notebook.shell, "parent_header", header, raising=False)
        notebook.run(cell)

    edited = cells[2].replace("2.0", "9.0")
    notebook.shell.history_manager.outputs.clear()  # all shells of a process share them
    for n, (k, cell) in enumerate([(2, edited), *enumerate(cells[:3]), (7, "b = 2"), (2, cells[2]), (8, cells[3])]):
        run(n, f"cell-{k}", cell)
    nbformat.write(saved, tmp_path / "it.ipynb")
    path = tmp_path / "page.html"
    pages = []
    for name in ("", str(tmp_path / "it.ipynb")):
        monkeypatch.setenv("JPY_SESSION_NAME", name)
        run(99, "export", f"%workbench export {path}")
        found = re.findall(
            r'<(pre class="wb-[^"]*|h2|div class="wb-text|div id="view-\d)[^>]*>([^<]*)', path.read_text()
        )
        pages.append([(kind.partition('"')[2] or kind, text.strip()) for kind, text in found])
    ran = [
        [
            ("wb-cell", "a = 1 &lt; 2; print(&#x27;\\x1b[31mred\\x1b[0m &lt;b&gt;&#x27;)\na"),
            ("wb-out", "red &lt;b&gt;\nTrue"),
        ],
        [("wb-cell", escape(cells[1])), ("wb-out", "done")],
        [("wb-cell", escape(cells[2])), ("wb-out", "array"), ("h2", "Array first"), ("view-0", "")],
        [("wb-cell", "b = 2")],
        [("wb-cell", escape(cells[3])), ("h2", "Array later"), ("view-1", "")],
    ]
    alone, read = pages
    assert alone[0] == ("wb-cell", "%load_ext kernel_ext")
    assert alone[2:] == [*ran[0], *ran[1], *ran[3], *ran[2], *ran[4]], "in the order of the runs that were the last"
    assert read[0] == ("wb-text", "") and read[1:9] == [*ran[0], *ran[1], *ran[2]], "in the order of the file"
    text = path.read_text()
    assert "<h1>About <em>it</em></h1>" in text and "<code>1 &lt; 2</code>" in text
    assert "<script>alert" not in text and "never_ran" not in text and "9.0" not in read
    assert text.index("The end.") < text.index(">b = 2<") < text.rindex("show.array("), (
        "what is not in the file comes after it"
    )


def test_an_export_has_errors_images_and_formulas(
    notebook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("$$\\int x\\,dx$$")])
    nbformat.write(saved, tmp_path / "it.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "it.ipynb"))
    notebook.run("from kernel_ext import show\nshow.array([1.0])")
    notebook.run("print('before'); [][3]")
    notebook.run("class Table:\n    def _repr_html_(self): return '<table><td>7</td></table>'\nTable()")
    notebook.run(
        "from IPython.display import SVG, display\ndisplay(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>'))"
    )
    notebook.run(f"%workbench export {tmp_path / 'page.html'}")
    text = (tmp_path / "page.html").read_text()
    assert "before\n" in text and "IndexError: list index out of range" in text
    assert "<table><td>7</td></table>" in text and "object at 0x" not in text
    assert "data:image/svg+xml;base64,PHN2Zy" in text and r"\int x\,dx" in text


def test_export_writes_what_the_session_showed(notebook: Any, tmp_path: Path) -> None:
    path = tmp_path / "session.html"
    notebook.run(f"%workbench export {path}")
    assert "nothing has been shown yet" in str(notebook.raised)
    notebook.run("%%kernel\ndef step(x: array[float]):\n    i = tid()\n    x[i] += 1.0")
    notebook.run("%%record rec\nwb.launch(step, 3, [wb.zeros(3)])")
    notebook.run("%%cuda\n__global__ void shift(float* x) { x[threadIdx.x] += 1.0f; }")
    assert notebook.run(f"%workbench export {path}").startswith(f"wrote 3 views to {path}")
    views = json.loads(path.read_text().partition('id="views">')[2].partition("</script>")[0])
    assert [view["widget"] for view in views] == ["status_card", "timeline", "status_card"]
    step, _, shift = views
    assert step["panes"] == [
        ["source", "Source"],
        ["ir", "IR"],
        ["adjoint", "Adjoint"],
        ["cuda", "CUDA"],
        ["key", "Key"],
    ]
    assert [name for name, _ in shift["panes"]] == ["source", "adjoint", "cuda", "key"]
    assert {text["kernel"] for text in step["texts"]} == {"step"} == set(step["view"]["kernels"])
    assert step["texts"][0]["first_line"] == 2 and "x[i] += 1.0" in step["texts"][0]["text"]
    assert "shift is CUDA C++, and its cell has no shift_adjoint" in shift["texts"][1]["text"]
    notebook.run(f"%workbench export {tmp_path}")
    assert "cannot be written" in str(notebook.raised)


@pytest.mark.parametrize("line", ["frob", "export", "info more", "wait --long"])
def test_wrong_lines_are_refused(line: str, notebook: Any) -> None:
    notebook.run(f"%workbench {line}")
    assert isinstance(notebook.raised, KernelUsageError)
    assert notebook.errors[0].startswith("UsageError: %workbench")


def test_a_notice_outside_of_a_build_is_shown_below_the_cell(notebook: Any) -> None:
    tell = "from workbench import events\nevents.publish(events.Notice('one of every 3'))"
    assert notebook.run(tell) == "one of every 3\n"
    notebook.run("%unload_ext kernel_ext")
    assert notebook.run(tell) == ""
