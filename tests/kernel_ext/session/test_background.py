"""Builds that an interrupt ends, and builds in the background, in a real kernel with a compiler that stands still."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SLOW = """
import os, threading, workbench as wb
from workbench.backends.cpu.backend import CpuBackend
may_end, compile_now = threading.Event(), CpuBackend.compile
def held(self, function, options, target):
    with open(os.environ["BEGAN"], "w") as told:
        told.write(function.name)
    may_end.wait()
    return compile_now(self, function, options, target)
CpuBackend.compile = held
"""
KERNEL = "%%kernel{}\ndef twice(x: array(dtype=float)):\n    x[tid()] = {} * x[tid()]\n"
LAUNCH = "x = wb.ones(2)\nwb.launch(twice, 2, [x])\nx.numpy().tolist()"


class Kernel:
    """A kernel and its client; a named pipe reports when its compiler began."""

    def __init__(self, manager: Any, client: Any, pipe: Path) -> None:
        self.manager, self.client, self.pipe = manager, client, pipe

    def run(self, code: str, at_first_output: Callable[[], object] = lambda: None) -> tuple[str, str]:
        """Run a cell; its status, and what it showed or raised."""
        shown: list[str] = []

        def keep(message: dict[str, Any]) -> None:
            content = message["content"]
            data = content.get("data", {}).get("text/plain", "")
            shown.append(content.get("text") or data or "\n".join(content.get("traceback", [])))
            if len([s for s in shown if s]) == 1 and shown[-1]:
                at_first_output()

        reply = self.client.execute_interactive(code, timeout=900, output_hook=keep)
        return reply["content"]["status"], "\n".join(s for s in shown if s)

    def begin(self, code: str) -> str:
        """Send a cell and wait until its compiler has begun; the message's id."""
        sent = self.client.execute(code, stop_on_error=False)
        assert self.pipe.read_text()
        return sent

    def reply(self, sent: str) -> dict[str, Any]:
        while True:
            message = self.client.get_shell_msg(timeout=900)
            if message["parent_header"].get("msg_id") == sent:
                return message["content"]


@pytest.fixture
def kernel(started: Kernel) -> Kernel:
    """The kernel, with a compiler that stands still and without what an earlier test built."""
    state = "CpuBackend.compile = held; may_end.clear(); globals().pop('twice', None) is None"
    assert started.run(state)[0] == "ok"
    return started


@pytest.fixture(scope="module")
def started(need: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    need("nbclient")
    from jupyter_client.manager import start_new_kernel

    folder = tmp_path_factory.mktemp("kernel")
    os.mkfifo(folder / "began")
    os.mkfifo(folder / "may_end")
    environment = {**os.environ, "WORKBENCH_CACHE": str(folder / "cache"), "BEGAN": str(folder / "began")}
    options = {"env": environment, "cwd": str(folder), "extra_arguments": ["--log-level=ERROR"]}
    manager, client = start_new_kernel(startup_timeout=900, **options)
    made = Kernel(manager, client, folder / "began")
    assert made.run("%load_ext kernel_ext")[0] == "ok"
    assert made.run(SLOW)[0] == "ok"
    yield made
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.slow
def test_an_interrupt_is_answered_while_the_compiler_works(kernel: Kernel) -> None:
    sent = kernel.begin(KERNEL.format("", 2.0))
    kernel.manager.interrupt_kernel()
    reply = kernel.reply(sent)
    assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt")
    assert len(reply["traceback"]) == 1 and "was interrupted" in reply["traceback"][0]
    assert kernel.run("may_end.is_set(), 'twice' in globals()") == ("ok", "(False, False)")
    kernel.run("may_end.set(); wb.wait()")
    assert kernel.run("CpuBackend.compile = compile_now")[0] == "ok"
    assert kernel.run(KERNEL.format(" -q", 2.0))[0] == "ok"
    assert kernel.run(LAUNCH) == ("ok", "[2.0, 2.0]")


def test_a_cell_in_the_background_returns_at_once_and_its_launch_waits(kernel: Kernel) -> None:
    sent = kernel.begin(KERNEL.format(" --bg", 3.0))
    assert kernel.reply(sent)["status"] == "ok"
    assert kernel.run("may_end.is_set(), len(wb.Work.running())") == ("ok", "(False, 1)")
    release = kernel.pipe.with_name("may_end")
    kernel.run(f"threading.Thread(target=lambda: (open({str(release)!r}).read(), may_end.set())).start()")
    shown = kernel.run("%workbench wait", at_first_output=lambda: release.write_text("now"))[1]
    assert shown.startswith("waiting for cell [")
    assert kernel.run(LAUNCH) == ("ok", "[3.0, 3.0]")


def test_what_does_not_compile_in_the_background_is_stale(kernel: Kernel) -> None:
    sent = kernel.begin(KERNEL.format(" --bg", 4.0))
    kernel.reply(sent)
    assert kernel.run("%workbench stop")[1].startswith("ended cell [")
    kernel.run("may_end.set(); wb.wait()")
    status, shown = kernel.run(LAUNCH)
    assert status == "error" and "in the background was ended." in shown
