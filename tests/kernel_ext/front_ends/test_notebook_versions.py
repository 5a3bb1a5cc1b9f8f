"""Other IPythons and ipykernels, each in an environment of its own, asked over the protocol as a front end would.

The current ones are asked by the other tests of this folder. Widgets are comms here: what a browser makes of them is
not asked.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.checks.environments import LIBRARY, python_with

ROOT = Path(__file__).parents[3]
VERSIONS = {
    # What Colab has; Kaggle's is much like it.
    "colab": (
        "ipython==7.34.0", "ipykernel==6.17.1", "notebook==6.5.7", "ipywidgets==7.7.1", "anywidget==0.9.21",
        "jupyter-client==7.4.9", "traitlets==5.7.1", "tornado==6.5.1", "pyzmq==26.2.1", "numpy==2.0.2",
    ),
    # mybinder.org's kernel, which calls back from other threads.
    "ipython-8": ("ipython==8.37.0", "ipykernel==7.0.1", "ipywidgets", "anywidget"),
}  # fmt: skip
KERNEL = "%%kernel{}\ndef twice(x: array[float]):\n    i = tid()\n    x[i] = {} * x[i]\n"
HELD = """
import os, threading, workbench as wb
from workbench.backends.cpu.backend import CpuBackend
may_end, compile_now = threading.Event(), CpuBackend.compile
def held(self, *args):
    with open("began", "w") as told:
        told.write("yes")
    may_end.wait()
    return compile_now(self, *args)
CpuBackend.compile = held
"""


class Front:
    """A front end: sends cells and keeps what comes back."""

    def __init__(self, manager: Any, client: Any, folder: Path, python: Path) -> None:
        self.manager, self.client, self.folder, self.python = manager, client, folder, python

    def run(self, code: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """A cell's reply and its messages."""
        seen: list[dict[str, Any]] = []
        reply = self.client.execute_interactive(code, timeout=900, output_hook=seen.append, stop_on_error=False)
        return reply["content"], seen

    def text(self, code: str) -> str:
        """What a cell printed or showed as text."""
        reply, seen = self.run(code)
        assert reply["status"] == "ok", reply
        shown = [m["content"].get("text") or m["content"].get("data", {}).get("text/plain", "") for m in seen]
        return "".join(shown)


@pytest.fixture(scope="module", params=VERSIONS)
def front(request: pytest.FixtureRequest, need: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    need("nbclient")
    from jupyter_client import KernelManager
    from jupyter_client.kernelspec import KernelSpec

    folder = tmp_path_factory.mktemp("versions")
    python = python_with(request.param, (*LIBRARY, *VERSIONS[request.param]), folder)
    os.mkfifo(folder / "began")
    manager = KernelManager(kernel_name="other")
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
    manager._kernel_spec = KernelSpec(argv=command, display_name="other", language="python")
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "WORKBENCH_CACHE": str(folder / "cache"), "WORKBENCH_WIDGETS": "1",
        "JUPYTER_PLATFORM_DIRS": "1",
    }  # fmt: skip
    manager.start_kernel(env=environment, cwd=str(folder))
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=900)
    yield Front(manager, client, folder, python)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


class Steps:
    """What a reader does, in this order, in one kernel."""

    def __init__(self, front: Front) -> None:
        self.front = front

    def pip_would_replace_nothing(self) -> None:
        command = [str(self.front.python), "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-"]
        done = subprocess.run([*command, f"{ROOT}[notebook,cu12]"], capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stderr
        new = {each["metadata"]["name"].lower() for each in json.loads(done.stdout)["install"]}
        assert {"kernel-workbench", "nvidia-cuda-nvrtc-cu12"} <= new
        assert all(name.startswith(("kernel-workbench", "cuda-", "nvidia-")) for name in new), new

    def it_loads_and_says_one_line(self) -> None:
        front = self.front
        versions = front.text("import IPython, ipykernel; print(IPython.__version__, ipykernel.__version__)").split()
        assert versions in [[p.split("==")[1] for p in packages[:2]] for packages in VERSIONS.values()]
        greeting = front.text("%load_ext kernel_ext")
        assert re.fullmatch(r"Workbench \d+\.\d+ · cpu.* · cache 0 modules, 0 B\n", greeting)

    def a_cell_has_a_twin_and_a_card_over_a_comm(self) -> None:
        front = self.front
        reply, seen = front.run(KERNEL.format("", 2.0))
        assert reply["status"] == "ok", reply
        kinds = [m["msg_type"] for m in seen]
        assert "comm_open" in kinds and "update_display_data" in kinds
        shown = [m["content"]["data"] for m in seen if m["msg_type"] == "display_data"]
        assert "text/html" in shown[0] and "application/vnd.jupyter.widget-view+json" in shown[-1]
        last = next(m for m in reversed(seen) if m["msg_type"] == "update_display_data")
        assert last["content"]["data"]["text/plain"].startswith("compiled twice")

    def the_card_answers_a_message_of_the_browser(self) -> None:
        front = self.front
        _, seen = front.run(KERNEL.format("", 2.5))
        opened = next(m for m in seen if m["msg_type"] == "comm_open" and "view" in m["content"]["data"]["state"])
        content = {
            "comm_id": opened["content"]["comm_id"],
            "data": {"method": "custom", "content": {"ask": "pane", "kernel": "twice", "pane": "ir"}},
        }
        front.client.shell_channel.send(front.client.session.msg("comm_msg", content))
        while True:
            message = front.client.get_iopub_msg(timeout=900)
            answer = message["content"].get("data", {}).get("content") if message["msg_type"] == "comm_msg" else None
            if answer:
                break
        assert answer["pane"] == "ir" and "twice(" in json.dumps(answer)

    def a_launch_and_the_magics_run(self) -> None:
        front = self.front
        front.text(KERNEL.format("", 2.0))
        launch = "import workbench as wb\nx = wb.ones(2)\nwb.launch(twice, 2, [x])\nprint(x.numpy().tolist())"
        assert front.text(launch) == "[2.0, 2.0]\n"
        assert "twice" in front.text("%inspect twice ir") and "hits" in front.text("%cache")
        assert "CPU backend" in front.text("%workbench doctor")
        assert "per call (best of" in front.text("%bench -n 1 -r 1 wb.launch(twice, 2, [x])")
        assert "2 recorded" in front.text("%%record\nwb.launch(twice, 2, [x])\nwb.launch(twice, 2, [x])")
        assert "Graph of 1 node" in front.text("%%graph\nwb.launch(twice, 2, [x])")

    def the_views_are_widgets_with_twins(self) -> None:
        front = self.front
        front.text("from kernel_ext import show\nx, e = wb.ones(6, requires_grad=True), wb.zeros(1)")
        front.text("%%kernel\ndef energy(x: array[float], e: array[float]):\n    e[0] += x[tid()] * x[tid()]\n")
        front.text("%%kernel\ndef grow(x: array[float], by: float):\n    x[tid()] += by\n")
        front.text("%%record run -i\nwb.launch(grow, 6, [x, 0.5])")
        views = {
            "show.array(x, 'field')": "field: float32[6]",
            "show.controls(run, watch=x, by=(0, 1))": "record of 1 entry",
            "run": "1 recorded",
            "def loss():\n    e.zero_()\n    wb.launch(energy, 6, [x], [e])\n    return e\n%grad loss() --wrt x": "x",
        }
        for code, words in views.items():
            reply, seen = front.run(code)
            assert reply["status"] == "ok", reply
            shown = [m["content"]["data"] for m in seen if m["msg_type"] in ("display_data", "execute_result")]
            assert any("text/html" in data for data in shown), (code, shown)
            assert any(words in data.get("text/plain", "") for data in shown), (code, shown)
            assert any("application/vnd.jupyter.widget-view+json" in data for data in shown), (code, shown)

    def errors_stand_at_the_cells_lines(self) -> None:
        front = self.front
        reply, _ = front.run(KERNEL.format("", "nowhere"))
        rows = "\n".join(reply["traceback"]).splitlines()
        assert reply["ename"] == "KernelSyntaxError" and re.search(r"(Cell In|cell )\[\d+\], line 4$", rows[0])
        assert rows[2].index("^") == rows[1].index("nowhere") and len(rows) < 8
        reply, _ = front.run("wb.launch(twice, 2, [x])")
        assert "no longer compiles" in "\n".join(reply["traceback"])
        reply, _ = front.run("%%kernel --nothing\ndef f():\n    pass")
        assert reply["ename"] == "KernelUsageError" and len(reply["traceback"]) == 1

    def an_interrupt_is_answered_while_the_compiler_works(self) -> None:
        front = self.front
        front.text(HELD)
        sent = front.client.execute(KERNEL.format("", 5.0), stop_on_error=False)
        assert (front.folder / "began").read_text()
        front.manager.interrupt_kernel()
        while (message := front.client.get_shell_msg(timeout=900))["parent_header"].get("msg_id") != sent:
            pass
        assert message["content"]["ename"] == "KeyboardInterrupt"
        assert front.text("print(may_end.is_set())") == "False\n"
        front.text("may_end.set(); wb.wait(); CpuBackend.compile = compile_now")

    def unloading_takes_all_of_it_away(self) -> None:
        front = self.front
        front.text("%unload_ext kernel_ext")
        _, seen = front.run("%cache")
        assert "`%cache` not found" in str([m["content"] for m in seen])


@pytest.mark.slow
def test_a_session_over_other_versions(front: Front) -> None:
    steps = Steps(front)
    steps.pip_would_replace_nothing()
    steps.it_loads_and_says_one_line()
    steps.a_cell_has_a_twin_and_a_card_over_a_comm()
    steps.the_card_answers_a_message_of_the_browser()
    steps.a_launch_and_the_magics_run()
    steps.the_views_are_widgets_with_twins()
    steps.errors_stand_at_the_cells_lines()
    steps.an_interrupt_is_answered_while_the_compiler_works()
    steps.unloading_takes_all_of_it_away()
