"""Tasks of a worker that hang, crash, grow or answer, as compilers do; some only while LLVM vectorises."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from typing import Any

import llvmlite.binding as llvm

from workbench.backends.cpu import codegen
from workbench.errors import BuildError

Facts = tuple[dict[str, Any], bytes]
_prepared: list[int] = []


def prepare() -> None:
    _prepared.append(os.getpid())


def prepare_in_vain() -> None:
    raise BuildError("no such library")


def prepared(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    return {"by": list(_prepared), "pid": os.getpid()}, data


def echo(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    tell("echo")
    return {"pid": os.getpid(), "given": request["given"]}, data


def spin(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    """As a compiler that does not end: in native code, without the GIL."""
    tell("spin")
    begun(request)
    hours = ctypes.CDLL(None).clock  # burns processor time
    while True:
        hours()


def sleep(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    tell("sleep")
    begun(request)
    threading.Event().wait()
    raise AssertionError


def grow(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    tell("grow")
    held = []
    while True:
        held.append(bytearray(os.urandom(1 << 20) * 16))
        time.sleep(0.001)


def crash(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    tell("crash")
    print("LLVM ERROR: Cannot select: t1", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGABRT)
    raise AssertionError


def refuse(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    raise BuildError("no such thing", advice="Take another.", log="what it said")


def shout(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    """Prints where answers go."""
    print("a compiler's remark", flush=True)
    os.system("echo from a child")
    return {}, b"x" * (3 << 20)


def descriptors(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    """What it has inherited: descriptors above the standard ones, and its session."""
    listed = [int(n) for n in os.listdir("/proc/self/fd")]
    mine = {n: os.readlink(f"/proc/self/fd/{n}") for n in listed if os.path.exists(f"/proc/self/fd/{n}")}
    return {"open": [f"{n} {path}" for n, path in mine.items()], "session": os.getsid(0)}, b""


def begun(request: dict[str, Any]) -> None:
    """Tell a test that it has begun."""
    if path := os.environ.get("WORKER_BEGAN", ""):
        with open(path, "w") as told:
            told.write(str(os.getpid()))


def _if_vectorised(bad: Any) -> Any:
    def task(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
        if (request["tuning"] or {}).get("loop_vectorization"):
            tell("optimise")
            return bad(request, data, lambda stage: None)
        return codegen.generate(request, data, tell)

    task.__module__ = __name__
    return task


spin_if_vectorised = _if_vectorised(spin)
spin_if_vectorised.__name__ = "spin_if_vectorised"
crash_if_vectorised = _if_vectorised(crash)
crash_if_vectorised.__name__ = "crash_if_vectorised"
sleep_if_vectorised = _if_vectorised(sleep)
sleep_if_vectorised.__name__ = "sleep_if_vectorised"


def table(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    """Machine code of many texts as one module, optimised for the first of several CPUs, for each: bytes by CPU."""
    machines = {name: codegen._machine(triple, name, features, "small") for name, features, triple in request["cpus"]}
    name, machine = next(iter(machines.items()))
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"\n'
    context = llvm.create_context()
    first, *rest = (llvm.parse_assembly(head + text, context) for text in data.decode().split("\0"))
    for module in rest:
        first.link_in(module)
    first.verify()
    tell(f"optimise for {name}")
    codegen._optimise(first, machine, request["tuning"])
    optimised, sizes = first.as_bitcode(), {}
    for name, machine in machines.items():
        tell(f"emit for {name}")
        sizes[name] = len(machine.emit_object(llvm.parse_bitcode(optimised, context)))
    return sizes, b""


def sleep_if_marked(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    return sleep(request, data, tell) if b"@wb_marked" in data else codegen.generate(request, data, tell)


def spin_if_marked(request: dict[str, Any], data: bytes, tell: Any) -> Facts:
    return spin(request, data, tell) if b"@wb_marked" in data else codegen.generate(request, data, tell)
