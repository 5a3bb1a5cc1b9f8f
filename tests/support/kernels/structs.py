"""Struct kernels and arguments to run them on: the CPU, the interpreter and the CUDA text must agree."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.backends.python.interpret import run
from workbench.runtime.arrays.structure import spread_all

CELL = """
@struct
class Body:
    mass: float
    id: int

@struct
class Particle:
    pos: vec3
    vel: vec3
    body: Body
    alive: bool
    turn: mat22
    age: float64
"""

# Each is the body of `def k(ps: array(dtype=Particle), p: Particle, x: array[float])`, run for 6 threads; `i` is set.
BODIES = {
    "fields of an element": "x[i] = ps[i].pos.y + ps[i].body.mass * float(ps[i].age)",
    "element to a name": "q = ps[i]\n    ps[i].pos = vec3(9.0)\n    x[i] = q.pos.x",
    "element to element": "if i < 3:\n        ps[i] = ps[5 - i]",
    "write a field": "ps[i].pos = vec3(float(i), 1.0, 2.0)\n    ps[i].body.id = i",
    "write a component": (
        "ps[i].pos.y = 3.0\n    ps[i].vel[2] = 4.0\n    ps[i].turn[1, 0] = 5.0\n    ps[i].turn[0] = vec2(1.0, 2.0)"
    ),
    "add to fields": "ps[i].pos += ps[i].vel * 2.0\n    ps[i].body.mass -= 1.0\n    ps[i].age *= 2.0",
    "add to components": (
        "ps[i].pos.x += 1.0\n    ps[i].vel[1] -= 2.0\n    ps[i].vel.z *= 3.0\n    ps[i].turn[1, 1] += 4.0"
    ),
    "many threads add": "ps[0].body.mass += 1.0\n    ps[1].vel.y += 2.0",
    "negative index": "ps[-1 - i].pos.x = float(i)\n    x[i] = ps[-1].body.mass",
    "parameter": "x[i] = p.pos.x + p.body.mass + float(p.age)\n    if p.alive:\n        x[i] += p.turn[0, 1]",
    "copies by value": (
        "a = p\n    b = a\n    b.pos.x = 100.0\n    b.body.mass = 200.0\n    x[i] = a.pos.x + p.body.mass + b.pos.x"
    ),
    "nested copies": "b = p.body\n    b.mass += 1.0\n    x[i] = b.mass - p.body.mass",
    "construct": (
        "a = Particle()\n    b = Particle(vec3(1.0), alive=True, body=Body(2.0, id=3))\n    ps[i] = b\n"
        "    x[i] = a.pos.x + b.body.mass"
    ),
    "literals adopt": (
        "ps[i] = Particle(age=0.1, body=Body(mass=1))\n    a = Body(2)\n    a.mass = 3\n    x[i] = a.mass"
    ),
    "joined by a branch": (
        "a = p\n    if i % 2 == 0:\n        a.pos.x = 5.0\n        a.body.id = i\n    else:\n"
        "        a = ps[i]\n    ps[i] = a"
    ),
    "carried by a loop": "a = p\n    for k in range(i):\n        a.pos += a.vel\n        a.body.id += k\n    ps[i] = a",
    "carried by a while": (
        "a = ps[i]\n    while a.body.mass < 10.0:\n        a.body.mass *= 2.0\n"
        "        if a.body.mass > 7.0:\n            break\n    ps[i] = a"
    ),
    "set in a loop": "for k in range(3):\n        q = ps[k]\n        x[i] += q.body.mass",
    "choice": "a = ps[i] if i < 3 else p\n    x[i] = a.body.mass\n    x[i] += (p if i == 0 else a).pos.x",
    "static loop": "s = 0.0\n    for q in (p, ps[i], Particle(vec3(1.0))):\n        s += q.pos.x\n    x[i] = s",
    "swap": "if i < 3:\n        ps[i].pos, ps[5 - i].pos = ps[5 - i].pos, ps[i].pos",
    "annotated": "a: Body = ps[i].body\n    a.mass = 7\n    x[i] = a.mass",
    "func": "x[i] = weight(ps[i]) + weight(p)",
    "func gives a struct": "q = moved(ps[i], 2.0)\n    ps[i] = q\n    x[i] = moved(p, 1.0).pos.x",
    "func gives a struct or another": "ps[i].body = heavier(ps[i].body, p.body)",
    "func changes its copy alone": "a = p\n    x[i] = changed(a) + a.pos.x",
    "func on an array": "x[i] = total(ps)",
    "size": "x[i] = float(len(ps) + ps.shape[0] + ps.ndim)",
    "part of an array": (
        "q = ps[1:4]\n    q[i % 3].pos.x = 4.0\n    x[i] = float(len(q)) + q[-1].body.mass + total(ps[::2])"
    ),
}
FUNCS = """
@func
def weight(q: Particle):
    return q.body.mass * 2.0 + q.pos.x

@func
def moved(q: Particle, dt: float):
    q.pos += q.vel * dt
    return q

@func
def heavier(a: Body, b: Body):
    if a.mass > b.mass:
        return a
    return b

@func
def changed(q: Particle):
    q.pos.x = 50.0
    return q.pos.x

@func
def total(qs: array(dtype=Particle)):
    s = 0.0
    for k in range(len(qs)):
        s += qs[k].body.mass
    return s
"""


def kernel(body: str) -> tuple[wb.Kernel, dict[str, Any]]:
    """The kernel with this body, and the cell's names."""
    head = "def k(ps: array(dtype=Particle), p: Particle, x: array[float]):\n    i = tid()\n    "
    names = define(f"{CELL}{FUNCS}\n{head}{body}\n")
    return names["k"], names


def arguments(names: dict[str, Any]) -> tuple[np.ndarray[Any, Any], Any, np.ndarray[Any, Any]]:
    """A structured array of 6 particles, a particle, and 6 numbers."""
    rng = np.random.default_rng(7)
    ps = np.zeros(6, names["Particle"].__wb_struct__.numpy)
    ps["pos"], ps["vel"], ps["turn"] = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), rng.normal(size=(6, 2, 2))
    ps["body"]["mass"], ps["body"]["id"] = rng.uniform(1, 4, 6), np.arange(6)
    ps["alive"], ps["age"] = np.arange(6) % 2, rng.uniform(size=6)
    p = names["Particle"](pos=(1, 2, 3), vel=(0.5, 0.25, -1), alive=True, turn=[[1, 2], [3, 4]], age=0.1)
    p.body.mass = 2.5
    return ps, p, np.zeros(6, np.float32)


def on_cpu(k: wb.Kernel, names: dict[str, Any], step: int = 1) -> tuple[Any, Any]:
    """What a launch makes of the arguments; with `step`, the particles lie that far apart."""
    ps, p, x = arguments(names)
    spaced = wb.array(np.repeat(ps, abs(step)), names["Particle"])[::step]
    spaced.copy_(wb.array(ps, names["Particle"]))
    out = wb.array(x)
    wb.launch(k, 6, inputs=[spaced, p, out])
    return spaced.numpy().copy(), out.numpy()


def expected(k: wb.Kernel, names: dict[str, Any]) -> tuple[Any, Any]:
    """What the interpreter makes of them."""
    ps, p, x = arguments(names)
    run(k.used.function, (6,), spread_values(k, names, ps, p, x))
    return ps, x


def spread_values(k: wb.Kernel, names: dict[str, Any], ps: Any, p: Any, x: Any) -> list[Any]:
    """The arguments of the IR's parameters, of the same memory."""
    given = {"ps": wb.array(ps, names["Particle"], copy=False), "p": p, "x": wb.array(x, copy=False)}
    return [v.numpy() if isinstance(v, wb.array) else v for v in spread_all(given).values()]


def on_gpu(library: Library, name: str, k: wb.Kernel, names: dict[str, Any]) -> tuple[Any, Any]:
    """What the CUDA text makes of them."""
    ps, p, x = arguments(names)
    library.run(name, (6,), spread_values(k, names, ps, p, x))
    return ps, x
