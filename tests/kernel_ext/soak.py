"""One notebook kernel under thousands of random cells: edits, launches, interrupts, forks, damaged caches.

A model on this side knows what each kernel computes, so each number that comes back is checked. As many plain Python
cells, in a kernel of their own, show how much memory cells take by themselves.
"""

from __future__ import annotations

import os
import queue
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import start_new_kernel

KERNELS, HELPERS, SIZE = 6, 3, 64
PATIENCE = 120.0
"""Seconds after which a cell counts as hung: a safety limit, not a measurement."""
LOST = 10.0
"""Seconds after which the reply to an interrupted cell that is over counts as lost."""

SETUP = """%load_ext kernel_ext
import gc, os, signal
import numpy as np
import workbench as wb
X = np.arange(1, 65, dtype=np.float32)
def resident():
    gc.collect()
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")) / 1024
"""
HELPER = "%%kernel{options}\ndef h{number}(v: float):\n    return {factor}.0 * v\n"
KERNEL = """%%kernel{options}
def k{number}(x: array[float], y: array[float]):
    i = tid()
    s = {constant}.0
    for j in range(2):
        s += {constant}.0 * float(j)
    y[i] = s * h{helper}(x[i])
"""
ENDLESS = """%%kernel -q
def endless(x: array[float], n: int):
    i = tid()
    s = 0.0
    for j in range(n):
        s += sin(float(j) * x[i])
    x[i] = s
"""
LAUNCH = """y = wb.zeros(64)
wb.launch(k{number}, 64, [wb.array(X)], [y])
print("y", y.numpy()[0], (y.numpy() == y.numpy()[0] * X).all())
"""
TAPE = """x, y = wb.array(X, requires_grad=True), wb.zeros(64, requires_grad=True)
with wb.Tape() as tape:
    wb.launch(k{number}, 64, [x], [y])
tape.backward(grads={{y: wb.array(np.ones(64, np.float32))}})
print("y", x.grad.numpy()[0], (x.grad.numpy() == x.grad.numpy()[0]).all())
"""
RECORD = """y = wb.zeros(64)
with wb.record() as kept{slot}:
    wb.launch(k{number}, 64, [wb.array(X)], [y])
kept{slot}_y = y
print("y", y.numpy()[0], True)
"""
REPLAY = """kept{slot}_y.fill_(0.0)
kept{slot}.replay()
print("y", kept{slot}_y.numpy()[0], (kept{slot}_y.numpy() == kept{slot}_y.numpy()[0] * X).all())
"""
GRAPH = """y = wb.zeros(64)
with wb.capture() as g:
    wb.launch(k{number}, 64, [wb.array(X)], [y])
g.launch()
print("y", y.numpy()[0], (y.numpy() == y.numpy()[0] * X).all())
"""
FORK = """child = os.fork()
if child == 0:
    signal.alarm(100)
    status = 1
    try:
        y = wb.zeros(64)
        text = "def c(x: array[float], y: array[float]):\\n    i = tid()\\n    y[i] = {constant}.5 * x[i]\\n"
        wb.launch(wb.build_cell(text, globals()).kernels["c"], 64, [wb.array(X)], [y])
        good = (y.numpy() == np.float32({constant}.5) * X).all()
        wb.launch(k{number}, 64, [wb.array(X)], [y])
        status = 0 if good and y.numpy()[0] == {value}.0 else 2
    finally:
        os._exit(status)
print("child", os.waitpid(child, 0)[1])
"""
BROKEN = """%%kernel
def k{number}(x: array[float], y: array[float]):
    i = tid()
    y[i] = {constant}.0 * x[i] + nowhere
"""
JAX = """import jax, jax.numpy as jnp
def wrapped(x):
    return wb.jax_kernel(k{number})(x)
y = np.asarray(jax.jit(lambda x: wrapped(x))(jnp.asarray(X)))
print("y", y[0], (y == y[0] * X).all())
"""
PLAIN = """def k{number}(x, y):
    i = {constant}
    s = {constant}.0
    for j in range(2):
        s += {constant}.0 * float(j)
    y[i] = s * h(x[i])
print("plain", {constant})
"""


class Wrong(AssertionError):
    """What the notebook did and the model did not expect."""


@dataclass
class Reply:
    """How a cell ended."""

    status: str
    name: str
    text: str
    printed: str


class Kernel:
    """A Jupyter kernel with a cache of its own."""

    def __init__(self, manager: Any, client: Any, cache: Path) -> None:
        self.manager, self.client, self.cache = manager, client, cache
        self.cell = "setup"
        plain = client.session.msg

        def message(kind: str, *args: Any, **more: Any) -> dict[str, Any]:
            made = plain(kind, *args, **more)
            if kind == "execute_request":
                made["metadata"]["cellId"] = self.cell  # as JupyterLab does
            return made

        client.session.msg = message

    def run(self, code: str, cell: str = "cell", interrupt: float | None = None) -> Reply:
        """Run a cell; `interrupt`: seconds after it became busy at which it is interrupted."""
        self.cell = cell
        sent = self.client.execute(code, stop_on_error=False)
        printed, deadline, due = [], time.monotonic() + PATIENCE, None
        while True:
            if due is not None and time.monotonic() >= due:
                self.manager.interrupt_kernel()
                due = None
            if time.monotonic() > deadline:
                raise Wrong(f"no answer within {PATIENCE:.0f} s to\n{code}")
            if not self.manager.is_alive():
                raise Wrong(f"the kernel died of\n{code}")
            try:
                told = self.client.get_iopub_msg(timeout=0.02 if due is not None else 1.0)
            except queue.Empty:
                continue
            if told["parent_header"].get("msg_id") != sent:
                continue
            content = told["content"]
            if told["msg_type"] == "stream":
                printed.append(content["text"])
            elif told["msg_type"] == "status" and content["execution_state"] == "busy" and interrupt is not None:
                due = time.monotonic() + interrupt
            elif told["msg_type"] == "status" and content["execution_state"] == "idle":
                break
        content = self._reply(sent, PATIENCE if interrupt is None else LOST)
        if content is None and interrupt is not None:  # it came when the cell was over, and ipykernel sent no reply
            return Reply("error", "KeyboardInterrupt", "", "".join(printed))
        assert content is not None, f"no reply to\n{code}"
        return Reply(content["status"], content.get("ename", ""), content.get("evalue", ""), "".join(printed))

    def _reply(self, sent: str, patience: float) -> dict[str, Any] | None:
        """The reply to a cell that is over; None where none comes."""
        try:
            while (reply := self.client.get_shell_msg(timeout=patience))["parent_header"].get("msg_id") != sent:
                pass
        except queue.Empty:
            return None
        return reply["content"]

    def megabytes(self) -> float:
        """Resident memory of the kernel, after a collection."""
        return float(self.run("print(resident())").printed)


@contextmanager
def kernel(setup: str = SETUP) -> Iterator[Kernel]:
    """A fresh kernel with an empty cache and the extension loaded."""
    with tempfile.TemporaryDirectory(prefix="workbench-soak-") as folder:
        environment = {**os.environ, "WORKBENCH_CACHE": f"{folder}/cache", "IPYTHONDIR": f"{folder}/ipython"}
        manager, client = start_new_kernel(env=environment, extra_arguments=["--log-level=ERROR"])
        try:
            made = Kernel(manager, client, Path(folder) / "cache")
            reply = made.run(setup)
            assert reply.status == "ok", reply
            yield made
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


@dataclass
class Soak:
    """A kernel, what its notebook should hold, and what has been done to it."""

    kernel: Kernel
    random: random.Random
    jax: bool = False
    constants: dict[int, int] = field(default_factory=dict)
    uses: dict[int, int] = field(default_factory=dict)
    factors: dict[int, int] = field(default_factory=dict)
    kept: dict[int, int] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0

    def begin(self) -> None:
        """Define every helper and kernel once."""
        for number in range(HELPERS):
            self.edit_helper(number)
        for number in range(KERNELS):
            self.edit(number)
        self._good(ENDLESS, "endless")

    def step(self) -> None:
        """Do one random thing and check it."""
        actions: list[tuple[Callable[[], None], int]] = [
            (self.edit, 34), (self.edit_helper, 6), (self.launch, 22), (self.tape, 8), (self.record, 5),
            (self.replay, 4), (self.graph, 4), (self.stop_launch, 4), (self.stop_edit, 4), (self.fork, 3),
            (self.damage, 3), (self.break_cell, 3), (self.jax_call, 6 if self.jax else 0),
        ]  # fmt: skip
        action = self.random.choices([a for a, _ in actions], [w for _, w in actions])[0]
        begun = time.monotonic()
        action()
        self.slowest = max(self.slowest, time.monotonic() - begun)
        self.done[action.__name__] += 1

    def value(self, number: int) -> int:
        """What kernel `number` multiplies its input by."""
        return 2 * self.constants[number] * self.factors[self.uses[number]]

    def edit(self, number: int | None = None) -> None:
        """Change a kernel's constant and the helper it calls."""
        number = self.random.randrange(KERNELS) if number is None else number
        constant, helper = self.random.randrange(1, 400), self.random.randrange(HELPERS)
        options = self.random.choice(["", "", " -q", " --grad"])
        self._good(KERNEL.format(options=options, number=number, constant=constant, helper=helper), f"kernel {number}")
        self.constants[number], self.uses[number] = constant, helper

    def edit_helper(self, number: int | None = None) -> None:
        """Change a helper, which changes each kernel that calls it."""
        number = self.random.randrange(HELPERS) if number is None else number
        factor = self.random.randrange(1, 40)
        self._good(HELPER.format(options="", number=number, factor=factor), f"helper {number}")
        self.factors[number] = factor

    def launch(self) -> None:
        """Launch a kernel."""
        number = self.random.randrange(KERNELS)
        self._gives(LAUNCH.format(number=number), self.value(number))

    def tape(self) -> None:
        """Differentiate a kernel."""
        number = self.random.randrange(KERNELS)
        self._gives(TAPE.format(number=number), self.value(number))

    def record(self) -> None:
        """Record a launch and keep the record."""
        number, slot = self.random.randrange(KERNELS), self.random.randrange(4)
        self._gives(RECORD.format(number=number, slot=slot), self.value(number))
        self.kept[slot] = self.value(number)

    def replay(self) -> None:
        """Replay a kept record: it holds the kernel as it was then."""
        if self.kept:
            slot = self.random.choice(sorted(self.kept))
            self._gives(REPLAY.format(slot=slot), self.kept[slot])

    def graph(self) -> None:
        """Capture and run a graph."""
        number = self.random.randrange(KERNELS)
        self._gives(GRAPH.format(number=number), self.value(number))

    def stop_launch(self) -> None:
        """Interrupt a launch that would take hours."""
        reply = self.kernel.run("wb.launch(endless, 64, [wb.array(X), 2000000000])", interrupt=self._moment(0.5))
        if reply.name != "KeyboardInterrupt":
            raise Wrong(f"an interrupted launch ended with {reply}")

    def stop_edit(self) -> None:
        """Interrupt a build at any moment; its cell is run again."""
        number, constant, helper = self.random.randrange(KERNELS), self.random.randrange(400, 4000), 0
        text = KERNEL.format(options="", number=number, constant=constant, helper=helper)
        reply = self.kernel.run(text, f"kernel {number}", interrupt=self._moment(0.05))
        if reply.status != "ok" and reply.name not in ("KeyboardInterrupt", ""):
            raise Wrong(f"an interrupted build ended with {reply}")
        self._good(text, f"kernel {number}")
        self.constants[number], self.uses[number] = constant, helper

    def fork(self) -> None:
        """A child of the kernel compiles and launches."""
        number = self.random.randrange(KERNELS)
        constant = self.random.randrange(1, 100)
        reply = self._good(FORK.format(number=number, constant=constant, value=self.value(number)), "cell")
        if "child 0" not in reply.printed:
            raise Wrong(f"a forked child ended with {reply.printed}")

    def damage(self) -> None:
        """Damage some of the cache's files."""
        files = [path for path in self.kernel.cache.rglob("*") if path.is_file()]
        for path in self.random.sample(files, min(3, len(files))):
            data = bytearray(path.read_bytes())
            how = self.random.randrange(3)
            if how == 0 and data:
                data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
            path.write_bytes(bytes(data[: len(data) // 2] if how == 1 else data + b"?" * (how == 2)))

    def break_cell(self) -> None:
        """Run a cell that does not compile: its kernel is refused until it is mended."""
        number = self.random.randrange(KERNELS)
        reply = self.kernel.run(BROKEN.format(number=number, constant=3), f"kernel {number}")
        refused = self.kernel.run(LAUNCH.format(number=number))
        if "out of date" not in refused.text:
            raise Wrong(f"a broken cell ended with {reply}, and its launch with {refused}")
        self.edit(number)

    def jax_call(self) -> None:
        """Call a kernel from a jitted function that names it."""
        number = self.random.randrange(KERNELS)
        self._gives(JAX.format(number=number), self.value(number))

    def _moment(self, most: float) -> float:
        return self.random.random() * most

    def _good(self, code: str, cell: str) -> Reply:
        reply = self.kernel.run(code, cell)
        if reply.status != "ok":
            raise Wrong(f"{reply}\nof\n{code}")
        return reply

    def _gives(self, code: str, value: int) -> None:
        printed = self._good(code, "cell").printed
        if f"y {float(value)} True" not in printed:
            raise Wrong(f"{value} was expected, and {printed!r} came, of\n{code}")


def plain(number: int, chance: random.Random) -> str:
    """A plain Python cell about as long as a kernel's."""
    return PLAIN.format(number=number % KERNELS, constant=chance.randrange(1, 400))
