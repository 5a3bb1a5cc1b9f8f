"""What the notebook's side costs: a cell's card, a slider's move, the hundredth kernel cell, 500 re-runs, an interrupt.

A real kernel is asked over its protocol, as a front end does. Cells that show nothing (`-q`), a static status, and a
live card take turns; a cell's time is from the request to the reply.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jupyter_client.manager import start_new_kernel
from measure import Row, Table, take_turns, write

ROUNDS = 40
CELLS = 100
RERUNS = 500
SIDE, MOVES = 256, 60
CELL = """%%kernel {options}
def k{number}(x: array[float], y: array[float]):
    i = tid()
    y[i] = {number}.0 * x[i] + y[i]
"""
FIELD = f"""
import workbench as wb
from kernel_ext import show
@wb.kernel
def waves(u: wb.array2d[float], speed: float):
    i, j = wb.tid()
    u[i, j] = wb.sin(0.1 * speed * float(i)) * wb.cos(0.07 * float(j))
u = wb.zeros(({SIDE}, {SIDE}))
slider = show.controls(wb.launch(waves, ({SIDE}, {SIDE}), [u, 1.0], record_cmd=True), speed=(0, 2), watch=u).widget
"""
MEMORY = """
import gc as _gc
_gc.collect()
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmRSS")))
"""
HELD = """
import threading
from workbench.backends.cpu.backend import CpuBackend
_began, _end, _compile = threading.Event(), threading.Event(), CpuBackend.compile
def _held(self, *args):
    open({path!r}, "w").close()
    _end.wait()
    return _compile(self, *args)
CpuBackend.compile = _held
"""


class Notebook:
    """A kernel with the extension loaded."""

    def __init__(self, client: Any, manager: Any) -> None:
        """For a kernel that runs."""
        self.client, self.manager = client, manager
        self.messages = 0
        self.cell = "first"
        plain = client.session.msg

        def message(kind: str, *args: Any, **more: Any) -> dict[str, Any]:
            made = plain(kind, *args, **more)
            if kind == "execute_request":
                made["metadata"]["cellId"] = self.cell  # as JupyterLab does
            return made

        client.session.msg = message

    def run(self, code: str) -> str:
        """Run a cell to its end; what it printed."""
        printed: list[str] = []

        def seen(message: dict[str, Any]) -> None:
            self.messages += 1
            printed.append(message["content"].get("text", ""))

        reply = self.client.execute_interactive(code, timeout=120, output_hook=seen)
        assert reply["content"]["status"] == "ok", reply["content"]
        return "".join(printed)

    def timed(self, code: str) -> float:
        """Seconds from the request to the reply and to all its outputs."""
        started = time.perf_counter()
        self.run(code)
        return time.perf_counter() - started


@contextmanager
def notebook() -> Iterator[Notebook]:
    """A fresh kernel with an empty cache."""
    with tempfile.TemporaryDirectory(prefix="workbench-notebook-") as folder:
        environment = {**os.environ, "WORKBENCH_CACHE": f"{folder}/cache", "IPYTHONDIR": f"{folder}/ipython"}
        manager, client = start_new_kernel(env=environment, extra_arguments=["--log-level=ERROR"])
        try:
            made = Notebook(client, manager)
            made.run("%load_ext kernel_ext")
            yield made
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def card(book: Notebook, table: Table) -> None:
    """One unchanged cell: shown not at all, statically, with a live card."""
    text = {kind: CELL.format(options=options, number=1) for kind, options in {"-q": "-q", "": ""}.items()}
    magics = "get_ipython().magics_manager.registry['KernelMagics'].widgets"
    book.run(text["-q"])

    def static() -> float:
        book.run(f"{magics} = False")
        return book.timed(text[""])

    def live() -> float:
        book.run(f"{magics} = True")
        return book.timed(text[""])

    medians = take_turns(
        {"nothing shown": lambda: book.timed(text["-q"]), "workbench": static, "live card": live}, ROUNDS
    )
    table.rows.append(Row("an unchanged %%kernel cell", medians))
    spent = take_turns(
        {
            "nothing shown": lambda: own(book, text["-q"]),
            "workbench": lambda: book.run(f"{magics} = False") or own(book, text[""]),
            "live card": lambda: book.run(f"{magics} = True") or own(book, text[""]),
        },
        9,
    )
    note = f"the live card adds {1e3 * (spent['live card'] - spent['nothing shown']):.1f} ms"
    table.rows.append(Row("the same, processor time of the kernel", spent, note))


def own(book: Notebook, cell: str, times: int = 10) -> float:
    """Seconds of processor time that the kernel spends on a cell, whatever else the machine does."""
    clock = "import time; print(time.process_time())"
    before = float(book.run(clock))
    for _ in range(times):
        book.run(cell)
    return (float(book.run(clock)) - before) / times


def slider(book: Notebook, table: Table) -> None:
    """A slider over a field: from the page's message to the new picture, as JupyterLab sends and gets them."""
    book.run(FIELD)
    name = book.run("print(slider.model_id)").strip()
    clock = "import time; print(time.process_time())"

    def moved(number: int) -> float:
        content = {"ask": "replay", "values": {"speed": 0.1 + 0.01 * number}, "number": number}
        data = {"comm_id": name, "data": {"method": "custom", "content": content}}
        started = time.perf_counter()
        book.client.shell_channel.send(book.client.session.msg("comm_msg", data))
        while True:
            said = book.client.get_iopub_msg(timeout=60)["content"]
            if said.get("comm_id") == name and said["data"].get("state", {}).get("answered") == number:
                return time.perf_counter() - started

    moved(1)
    before = float(book.run(clock))
    seconds = statistics.median(moved(number) for number in range(2, 2 + MOVES))
    worked = (float(book.run(clock)) - before) / MOVES
    note = f"{1e3 * worked:.1f} ms of the kernel's processor"
    table.rows.append(Row(f"a slider moved: a field of {SIDE}² replayed and sent", {"workbench": seconds}, note))


def many(book: Notebook, table: Table) -> None:
    """A hundred different kernel cells, each compiled."""
    seconds = []
    for k in range(CELLS):
        book.cell = f"cell {k}"
        seconds.append(book.timed(CELL.format(options="", number=100 + k)))
    first, last = statistics.median(seconds[:20]), statistics.median(seconds[-20:])
    table.rows.append(Row(f"a new cell, the first 20 of {CELLS}", {"workbench": first}))
    table.rows.append(Row(f"a new cell, the last 20 of {CELLS}", {"workbench": last}, f"{last / first:.2f}× the first"))


def again(book: Notebook, table: Table) -> None:
    """One cell run again and again."""
    kept, book.cell = {}, "again"
    for k in range(1, RERUNS + 1):
        book.run(CELL.format(options="", number=1))
        if k in (100, 300, RERUNS):
            kept[k] = int(book.run(MEMORY)) / 1024
    told = ", ".join(f"{size:.1f} MB after {k}" for k, size in kept.items())
    seconds = statistics.median(book.timed(CELL.format(options="", number=1)) for _ in range(10))
    table.rows.append(Row(f"the cell after {RERUNS} re-runs", {"workbench": seconds}, f"the kernel's memory: {told}"))


def interrupt(book: Notebook, table: Table) -> None:
    """From the interrupt to the answer while a compiler stands still."""
    seconds = []
    for k in range(5):
        path = f"{tempfile.mkdtemp()}/began"
        book.run(HELD.format(path=path))
        sent = book.client.execute(CELL.format(options="", number=5000 + k), stop_on_error=False)
        while not os.path.exists(path):
            time.sleep(0.002)
        started = time.perf_counter()
        book.manager.interrupt_kernel()
        while book.client.get_shell_msg(timeout=60)["parent_header"].get("msg_id") != sent:
            pass
        seconds.append(time.perf_counter() - started)
        book.run("_end.set(); CpuBackend.compile = _compile; import workbench as wb; wb.wait()")
    table.rows.append(Row("an interrupt during a build is answered", {"workbench": statistics.median(seconds)}))


def main() -> None:
    """Measure in one kernel and write the table."""
    table = Table("notebooks", "The notebook's side", ROUNDS)
    with notebook() as book:
        for work in (card, slider, many, again, interrupt):
            work(book, table)
    write(table)


if __name__ == "__main__":
    main()
