"""The live card without a browser: a comm that records plays one."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from kernel_ext.views.view_data import KernelRow, PaneView, StatusView

VIEW = StatusView(
    "cell [4]", "compiled", "compiled saxpy · 9.0 ms", (KernelRow("saxpy", "forward", "compiled"),), ("saxpy",)
)


class Browser:
    """What the cards sent, as (type, data)."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, Any]] = []

    def custom(self) -> list[dict[str, Any]]:
        return [data["content"] for kind, data in self.heard if kind == "comm_msg" and data.get("method") == "custom"]

    def updates(self) -> list[dict[str, Any]]:
        return [data["state"] for kind, data in self.heard if kind == "comm_msg" and data.get("method") == "update"]


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Browser:
    comm = pytest.importorskip("comm", reason="anywidget is not installed")
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    from comm.base_comm import BaseComm

    seen = Browser()

    class Recorder(BaseComm):
        def publish_msg(self, msg_type: str, data: Any = None, *args: Any, **rest: Any) -> None:
            seen.heard.append((msg_type, data))

    monkeypatch.setattr(comm, "create_comm", Recorder)
    return seen


def ask(card: Any, **content: Any) -> None:
    card._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})


def opened(browser: Browser) -> dict[str, Any]:
    return next(data["state"] for kind, data in browser.heard if kind == "comm_open" and "view" in data["state"])


def test_a_card_opens_with_its_view_and_module(browser: Browser) -> None:
    from kernel_ext.widgets.kernels import StatusCard

    StatusCard(VIEW, "wb-twin-1")
    state = opened(browser)
    assert state["view"]["headline"] == "compiled saxpy · 9.0 ms"
    assert state["view"]["rows"][0]["kernel"] == "saxpy"
    assert state["twin"] == "wb-twin-1" and ["ir", "IR"] in state["panes"]
    assert "export default { render }" in state["_module"] and ".wb-card" in state["_css"]


def test_a_view_is_pushed_when_it_changes(browser: Browser) -> None:
    from kernel_ext.widgets.kernels import StatusCard

    card = StatusCard(StatusView("cell [4]"))
    card.show(VIEW)
    assert [u["view"]["state"] for u in browser.updates()] == ["compiled"]


def test_a_pane_is_made_once_and_only_when_asked(browser: Browser) -> None:
    from kernel_ext.widgets.kernels import StatusCard

    made: list[tuple[str, str]] = []

    def make(kernel: str, name: str) -> PaneView:
        made.append((kernel, name))
        return PaneView(kernel, name, "text", 7)

    card = StatusCard(VIEW)
    card.show(VIEW, make)
    assert made == []
    ask(card, ask="pane", kernel="saxpy", pane="ir")
    ask(card, ask="pane", kernel="saxpy", pane="ir")
    assert made == [("saxpy", "ir")]
    assert browser.custom() == [{"pane": "ir", "kernel": "saxpy", "text": "text", "first_line": 7}] * 2


@pytest.mark.parametrize(
    "content", [{}, {"ask": "files", "pane": "ir"}, {"ask": "pane", "kernel": "f", "pane": "../x"}]
)
def test_other_questions_get_no_answer(browser: Browser, content: dict[str, Any]) -> None:
    from kernel_ext.widgets.kernels import StatusCard

    card = StatusCard(VIEW)
    ask(card, **content)
    assert browser.custom() == []


def test_a_pane_that_fails_is_answered_all_the_same(browser: Browser) -> None:
    from kernel_ext.widgets.kernels import StatusCard

    def make(kernel: str, name: str) -> PaneView:
        raise RuntimeError("no compiler")

    card = StatusCard(VIEW)
    ask(card, ask="pane", kernel="saxpy", pane="ir")
    card.show(VIEW, make)
    ask(card, ask="pane", kernel="saxpy", pane="ir")
    assert [a["text"] for a in browser.custom()] == ["not compiled yet", "RuntimeError: no compiler"]


def test_questions_from_another_thread_wait_their_turn(browser: Browser) -> None:
    from kernel_ext.widgets.kernels import StatusCard

    inside, crowd = [], []

    def make(kernel: str, name: str) -> PaneView:
        inside.append(name)
        crowd.append(len(inside))
        inside.pop()
        return PaneView(kernel, name, name)

    card = StatusCard(VIEW)
    card.show(VIEW, make)
    names = ("source", "ir", "adjoint", "cuda", "llvm", "ptx")
    threads = [
        threading.Thread(target=ask, args=(card,), kwargs={"ask": "pane", "kernel": "f", "pane": n}) for n in names
    ]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sorted(a["pane"] for a in browser.custom()) == sorted(names)
    assert set(crowd) == {1}


class Kernel:
    """A shell with this attribute runs in a notebook."""


def test_the_twin_comes_first_then_the_card_then_the_last_view(browser: Browser, loaded, library, monkeypatch) -> None:
    from IPython.core.displaypub import CapturingDisplayPublisher

    shell = loaded.shell
    publisher = CapturingDisplayPublisher(parent=shell)
    monkeypatch.setattr(shell, "display_pub", publisher)
    monkeypatch.setattr(shell, "kernel", Kernel(), raising=False)
    loaded.run("%%kernel\ndef saxpy(a):\n    return a\n")
    first, second, third = publisher.outputs
    assert "compiling" in first["data"]["text/html"] and first["transient"] == third["transient"]
    assert "application/vnd.jupyter.widget-view+json" in second["data"]
    assert {"text/html", "text/plain"} <= set(second["data"])
    assert third["update"] and third["data"]["text/plain"] == "compiled saxpy 5f2a0d32 | 9.0 ms"
    twin = opened(browser)["twin"]
    assert f'class="{twin}"' in third["data"]["text/html"]
    assert browser.updates()[-1]["view"]["state"] == "compiled"


def test_without_widgets_there_is_the_twin_alone(loaded, library, monkeypatch) -> None:
    from IPython.core.displaypub import CapturingDisplayPublisher

    shell = loaded.shell
    publisher = CapturingDisplayPublisher(parent=shell)
    monkeypatch.setattr(shell, "display_pub", publisher)
    monkeypatch.setattr(shell, "kernel", Kernel(), raising=False)
    loaded.run("%config KernelMagics.widgets = False")
    loaded.run("%%kernel\ndef saxpy(a):\n    return a\n")
    assert all("application/vnd.jupyter.widget-view+json" not in o["data"] for o in publisher.outputs)
    assert len(publisher.outputs) == 2 and not any("wb-live" in o["data"]["text/html"] for o in publisher.outputs)


@pytest.mark.parametrize(("value", "wanted"), [("0", False), ("off", False), ("1", True), (None, True)])
def test_the_environment_can_keep_outputs_static(
    monkeypatch: pytest.MonkeyPatch, value: str | None, wanted: bool
) -> None:
    from kernel_ext.output.output_area import widgets_wanted

    monkeypatch.delenv("WORKBENCH_WIDGETS", raising=False)
    if value is not None:
        monkeypatch.setenv("WORKBENCH_WIDGETS", value)
    assert widgets_wanted() is wanted


def test_running_a_cell_again_closes_its_old_card(browser: Browser, loaded, library, monkeypatch) -> None:
    monkeypatch.setattr(loaded.shell, "kernel", Kernel(), raising=False)
    cell = "%%kernel -n waves\ndef saxpy(a):\n    return a\n"
    loaded.run(cell)
    assert "comm_close" not in [kind for kind, _ in browser.heard]
    loaded.run(cell)
    assert [kind for kind, _ in browser.heard].count("comm_close") == 1
    loaded.run("%unload_ext kernel_ext")
    assert [kind for kind, _ in browser.heard].count("comm_close") == 2


def test_the_button_lets_jax_forget_what_it_compiled(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    from kernel_ext.widgets.kernels import StatusCard

    called: list[str] = []
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(clear_caches=lambda: called.append("clear")))
    card = StatusCard(replace(VIEW, outdated="2 compiled JAX functions hold the old saxpy"), "wb-twin-1")
    ask(card, ask="clear")
    assert called == ["clear"] and card.view["outdated"] == ""
    assert card.view["remarks"] == [
        "jax.clear_caches() was called: JAX functions are compiled again at their next call"
    ]
