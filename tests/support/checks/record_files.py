"""A small record with everything in it, and files made from it by damage, sealed again or not."""

from __future__ import annotations

import copy
import functools
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from workbench.api.load_record import restore
from workbench.errors import WorkbenchError
from workbench.ir.data import show
from workbench.runtime.records.archive import pack, unpack
from workbench.runtime.records.saved import read


@wb.kernel
def double(x: wb.array(dtype=float)):
    i = wb.tid()
    x[i] = 2.0 * x[i]


@wb.kernel
def scaled(a: float, shift: int, x: wb.array(dtype=float), y: wb.array(dtype=float)):
    i = wb.tid()
    total = 0.0
    for _ in range(2):
        total += 0.25
    if x[i + shift] > 0.0:
        y[i] = a * x[i + shift] * x[i + shift] + total
    else:
        y[i] = wb.sin(x[i])


@wb.struct
class Settings:
    scale: float
    shift: wb.vec3


@wb.kernel
def settle(settings: Settings, x: wb.array(dtype=float)):
    i = wb.tid()
    x[i] = settings.scale * x[i] + settings.shift[1]


@functools.cache
def simulation() -> tuple[wb.Recorder, wb.array, wb.array]:
    """A record of a forward and an adjoint launch, a copy, a sum and a fill; its input and its result."""
    x, y = wb.array([1.0, 2.0, 3.0], requires_grad=True), wb.zeros(3, requires_grad=True)
    z = wb.zeros(3)
    with wb.record(inputs=True) as rec:
        with wb.Tape() as tape:
            wb.launch(scaled, 3, inputs=[0.5, 0, x], outputs=[y])
        wb.copy(z, y)
        z.fill_(2.0)
        tape.backward(grads={y: np.ones(3)})
    return rec, x, y


@wb.struct
class Particle:
    position: wb.vec3
    mass: float
    alive: wb.int32


@wb.kernel
def move(ps: wb.array(dtype=Particle), dt: float, out: wb.array(dtype=float)):
    i = wb.tid()
    p = ps[i]
    ps[i].position = p.position * (1.0 + dt)
    out[i] = p.mass * p.position[0] + wb.float32(p.alive)


@wb.kernel
def countdown(n: wb.array(dtype=wb.int32), x: wb.array(dtype=float)):
    n[0] = n[0] - 1
    x[0] = 2.0 * x[0]


@wb.kernel(checkpoints=5)
def power(x: wb.array(dtype=float), n: int, y: wb.array(dtype=float)):
    i = wb.tid()
    v = x[i]
    for _ in range(n):
        v = v * v + 0.1 * wb.sin(v)
    y[i] = v


def particles(requires_grad: bool = False) -> wb.array:
    """Three particles."""
    return wb.array(
        [Particle(wb.vec3(1.0 + k, 2.0, 3.0), 0.5 + k, k % 2) for k in range(3)], Particle, requires_grad=requires_grad
    )


def graph_of(ps: wb.array, x: wb.array, y: wb.array, n: wb.array) -> Any:
    """A graph with everything in it: structs, a gradient, copies, sums, fills, graphs in graphs, a branch, a loop
    with a branch inside."""
    one = wb.ones(1, dtype=wb.int32)
    with wb.capture() as innermost:
        wb.launch(double, 3, [x])
    with wb.capture() as inner:
        innermost.launch()

    def turn() -> None:
        wb.launch(countdown, 1, [n, y])
        wb.capture_if(n, on_true=lambda: wb.launch(double, 3, [y]))

    with wb.capture() as graph:
        n.fill_(3)
        y.grad.fill_(1.0)
        wb.launch(move, 3, [ps, 0.5], [x])
        with wb.Tape() as tape:
            wb.launch(scaled, 3, inputs=[0.5, 0, x], outputs=[y])
        tape.backward(grads={y: y.grad})
        inner.launch()
        wb.copy(x.grad, y)
        x.grad.add_(y)
        wb.capture_if(one, on_true=lambda: wb.launch(double, 3, [y]), on_false=lambda: y.zero_())
        wb.capture_while(n, turn)
    return graph


@functools.cache
def everything() -> tuple[wb.Recorder, dict[str, wb.array]]:
    """A record of structs, a graph, and a kernel with checkpoints; its arrays by name."""
    a = {
        "ps": particles(), "x": wb.ones(3, requires_grad=True), "y": wb.zeros(3, requires_grad=True),
        "n": wb.zeros(1, dtype=wb.int32), "z": wb.array([0.3, 0.4, 0.5], requires_grad=True),
        "w": wb.zeros(3, requires_grad=True), "copied": wb.zeros(3, dtype=Particle), "v": wb.zeros(2, dtype=wb.vec3),
    }  # fmt: skip
    graph = graph_of(a["ps"], a["x"], a["y"], a["n"])
    with wb.record(inputs=True) as rec:
        graph.launch()
        wb.launch(move, 3, [a["ps"], 0.25], [a["x"]])
        a["copied"].copy_(a["ps"])
        a["ps"].fill_(Particle(wb.vec3(1.0, 2.0, 3.0), 4.0, 1))
        a["v"].fill_(np.array([1.0, 2.0, 3.0]))
        graph.launch()
        with wb.Tape() as tape:
            wb.launch(power, 3, [a["z"], 7], [a["w"]])
        tape.backward(grads={a["w"]: np.ones(3)})
    return rec, a


@functools.cache
def sound(whole: bool = False) -> bytes:
    """The file of `simulation`, or of `everything`, without machine code."""
    return without_artifacts((everything if whole else simulation)()[0])


def without_artifacts(rec: wb.Recorder) -> bytes:
    """The record's file without machine code."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.wbr"
        rec.save(path)
        content, members = unpack(path.read_bytes())
    kept = {name: data for name, data in members.items() if not name.startswith("artifacts")}
    return pack({**content, "artifacts": []}, kept)


def fuzz(count: int, seed: int, resealed: bool, data: bytes) -> list[str]:
    """Damages the file `data` `count` times and reads it; what went wrong: any error that is not Workbench's, any wrong
    record.

    Of those whose checksums were made anew, some are also compiled. None is run: a damaged kernel may never end.
    """
    draw = random.Random(seed)
    expected = told(data)
    content, members = unpack(data)
    wrong = []
    for n in range(count):
        damaged = sealed(draw, content, members) if resealed else bytes(scratched(draw, bytearray(data)))
        try:
            found = told(damaged)
            if resealed and n % 4 == 0:
                restore(read(damaged))
        except WorkbenchError:
            continue
        except BaseException as error:
            wrong.append(f"{n}: {type(error).__name__}: {error}")
            continue
        if not resealed and found != expected:
            wrong.append(f"{n}: another record than the one that was saved")
    return wrong


def told(data: bytes) -> Any:
    """All that a file says, read through every check."""
    saved = read(data)
    return (
        [e.kind for e in saved.entries], str(saved.entries), saved.arrays, str(saved.graphs), saved.checkpoints,
        [m.data.tobytes() for m in saved.memories],
        [show(f, lines=True) for f in saved.functions],
    )  # fmt: skip


def scratched(draw: random.Random, data: bytearray) -> bytearray:
    """The bytes with a few of them changed, cut off, doubled or moved."""
    for _ in range(draw.choice((1, 1, 2, 5))):
        at = draw.randrange(len(data) or 1)
        match draw.randrange(5):
            case 0:
                data[at : at + 1] = bytes([draw.randrange(256)])
            case 1:
                data[at : at + 1] = bytes([data[at] ^ (1 << draw.randrange(8))]) if data else b""
            case 2:
                del data[at : at + draw.choice((1, 8, 200))]
            case 3:
                data[at:at] = data[max(0, at - 16) : at]
            case _:
                data[at : at + 4] = draw.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff"))
    return data


def sealed(draw: random.Random, content: Any, members: dict[str, bytes]) -> bytes:
    """A file whose checksums agree with what it holds, after a change in its JSON or in a member."""
    members = dict(members)
    names = sorted(members)
    if draw.random() < 0.3:
        content = changed(draw, json.loads(json.dumps(content)))
    else:
        name = draw.choice([n for n in names if n.endswith(".json") == (draw.random() < 0.8)] or names)
        if name.endswith(".json") and draw.random() < 0.85:
            members[name] = json.dumps(changed(draw, json.loads(members[name]))).encode()
        else:
            members[name] = bytes(scratched(draw, bytearray(members[name])))
    return pack(content, members)


def changed(draw: random.Random, value: Any) -> Any:
    """JSON values with one or two of them replaced, dropped, doubled or swapped."""
    for _ in range(draw.choice((1, 1, 2))):
        holder, key = place(draw, value)
        if holder is None:
            return copy.deepcopy(draw.choice(ODD))
        match draw.randrange(5):
            case 0:
                holder[key] = copy.deepcopy(draw.choice(ODD))
            case 1:
                del holder[key]
            case 2 if isinstance(holder, list):
                holder.insert(key, holder[key])
            case 3:
                other, there = place(draw, value)
                if other is not None:
                    holder[key], other[there] = copy.deepcopy(other[there]), copy.deepcopy(holder[key])
            case _:
                holder[key] = nudged(draw, holder[key])
    return value


def place(draw: random.Random, value: Any) -> tuple[Any, Any]:
    """A random container inside and one of its keys."""
    holder, key = None, None
    while isinstance(value, (dict, list)) and value and (holder is None or draw.random() < 0.93):
        holder, key = value, draw.choice(list(value) if isinstance(value, dict) else range(len(value)))
        value = value[key]
    return holder, key


def nudged(draw: random.Random, value: Any) -> Any:
    """Something near the value."""
    match value:
        case bool():
            return not value
        case int():
            return value + draw.choice((-1, 1, 2, 8, -4, 2**31, -(2**40)))
        case str() if value:
            at = draw.randrange(len(value))
            return value[:at] + draw.choice('x0"%\n{é') + value[at + 1 :]
    return copy.deepcopy(draw.choice(ODD))


ODD: list[Any] = [
    None, True, -1, 0, 1, 2**31, 2**63, -(2**70), 1.5, 1e308, "", "x", "add", "store", "float64", "../../etc/passwd",
    [], {}, [[]], ["array", 0], ["block", {"params": [], "ops": []}], ["tuple", ["float", "0x1p0"]], [0, 0], "if",
]  # fmt: skip
