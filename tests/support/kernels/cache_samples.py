"""Small IR functions and artifacts for the tests of the cache, and what worker processes run on them."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench import events
from workbench.backends.base import Options
from workbench.cache.disk import Entry
from workbench.cache.key import Key, function_parts, key_of_parts
from workbench.cache.store import Store
from workbench.ir.build import Builder
from workbench.ir.values import Captured, Function, Op, Value
from workbench.source import UNKNOWN, Location, Source
from workbench.types import ArrayType, Scalar, Type, float32, int32

ROOT = Path(__file__).resolve().parents[3]
DEFAULTS: dict[str, Any] = {
    "options": Options(),
    "backend": "cpu",
    "backend_version": "llvmlite 0.50 LLVM 21",
    "target": "x86-64 znver3 +avx2",
    "direction": "forward",
    "generator": "tests",
}


def scaled(
    dt: Any = 0.01,
    dt_type: Any = float32,
    element: Scalar = float32,
    op: str = "mul",
    literal: Any = 2.0,
    params: tuple[str, str] = ("x", "y"),
    local: str = "v",
    name: str = "scaled",
    constant: str = "DT",
    location: Location = UNKNOWN,
    source: Source = UNKNOWN.source,
    attrs: dict[str, Any] | None = None,
    launch_ndim: int = 1,
    more: tuple[tuple[str, Type], ...] = (),
) -> Function:
    """y[i] = x[i] * literal, with a captured constant beside it."""
    b = Builder()
    b.location = location
    x, y = (Value(ArrayType(element), p) for p in params)
    i = b.one("tid", (), int32, {"axis": 0})
    v = Value(element, local)
    b.append(Op("load", (x, i), (v,), attrs or {}, (), location))
    product = b.one(op, (v, b.const(literal, element)), element)
    b.const(dt, dt_type, constant)
    b.store(y, i, product)
    extra = tuple(Value(t, n) for n, t in more)
    return Function(name, (x, y, *extra), b.body(), launch_ndim, (Captured(constant, dt_type, dt),), source)


def key(function: Function | None = None, **changes: Any) -> Key:
    """The key of a function (`scaled()` where none is given) under the default circumstances and `changes`."""
    return make_key(function if function is not None else scaled(), **{**DEFAULTS, **changes})


def make_key(function: Function, direction: str, **facts: Any) -> Key:
    """The key of what is made from a function, from `function_parts` and `key_of_parts`."""
    return key_of_parts(function_parts(function, direction), direction=direction, **facts)


def digest(n: object) -> str:
    """A digest made of anything with exact text."""
    return hashlib.sha256(str(n).encode()).hexdigest()


def entry(n: object, size: int = 2000) -> Entry:
    """An artifact whose bytes follow from `n`."""
    return Entry((hashlib.sha256(f"image {n}".encode()).digest() * (size // 32 + 1))[:size], {"name": f"kernel {n}"})


def build_all(root: str, count: str, log: str) -> None:
    """Get or build the same `count` keys in random order, as a builder does; each build is one line of `log`."""
    order = list(range(int(count)))
    random.Random(os.getpid()).shuffle(order)
    for n in order:
        store = Store(Path(root))  # a new one each time, so that memory never answers
        found = store.get(digest(n))
        if found is None:
            with store.lock(digest(n)) as held:
                assert held
                found = store.get(digest(n), recheck=True)
                if found is None:
                    append(log, f"{n}\n")
                    store.put(digest(n), found := entry(n))
        assert found == entry(n)


def hammer(root: str, rounds: str, log: str) -> None:
    """Put, get, prune and clear at random; every answer must be the right one and nothing may be told."""
    told: list[events.Event] = []
    events.subscribe(told.append, events.CacheProblem)
    dice = random.Random(os.getpid())
    for _ in range(int(rounds)):
        n, store = dice.randrange(6), Store(Path(root), limit=dice.choice((3000, 1 << 30)))
        found = store.get(digest(n))
        assert found in (None, entry(n)), f"a wrong artifact for {n}"
        if found is None or dice.random() < 0.3:
            store.put(digest(n), entry(n))
        if dice.random() < 0.1:
            store.prune(3000)
        if dice.random() < 0.02:
            store.clear()
    assert not told, told
    append(log, "done\n")


def die_writing(root: str, stage: str) -> None:
    """Be killed in the middle of overwriting key 1: at `write` (half is written) or `replace`."""
    real_write = os.write

    def half(fd: int, data: Any) -> int:
        real_write(fd, data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def die(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    store = Store(Path(root))
    setattr(os, stage, half if stage == "write" else die)
    store.put(digest(1), Entry(b"new" * 1000, {}))


def die_locked(root: str) -> None:
    """Be killed while holding the lock of key 1."""
    with Store(Path(root)).lock(digest(1)) as held:
        assert held
        os.kill(os.getpid(), signal.SIGKILL)


def print_digest() -> None:
    """The digest of the default key: must be the same wherever this runs."""
    print(key(extra=()).digest)


def append(path: str, text: str) -> None:
    """Add a short line to a file that several processes write."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, text.encode())
    os.close(fd)


JOBS: dict[str, Callable[..., None]] = {
    f.__name__: f for f in (build_all, hammer, die_writing, die_locked, print_digest)
}

if __name__ == "__main__":
    JOBS[sys.argv[1]](*sys.argv[2:])
