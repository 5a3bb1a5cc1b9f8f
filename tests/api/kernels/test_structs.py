"""Structs around a launch: what does not fit, gradients, keys, kept launches and replays, NumPy."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.frontend.errors.test_refusals import under_caret
from tests.support.checks.meaning import define
from workbench.api.builds.keys import key_of
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.errors import CellErrors
from workbench.events import subscribe

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

def step(ps: array(dtype=Particle), g: Particle, qs: array(dtype=Particle), e: array[float]):
    i = tid()
    p = ps[i]
    p.vel += g.vel * p.body.mass / g.body.mass
    if p.pos.x > 0.0:
        p.pos += p.vel * p.vel
    qs[i] = p
    qs[i].body.mass += p.pos.y * p.pos.z
    qs[i].vel.x += p.pos.x * p.pos.x
    e[0] += dot(p.pos, p.vel) * g.pos.x

def fall(ps: array(dtype=Particle), dt: float):
    i = tid()
    ps[i].vel -= ps[i].pos * ps[i].pos * dt
    ps[i].pos += ps[i].vel * dt

def energy(ps: array(dtype=Particle), e: array[float]):
    i = tid()
    e[0] += dot(ps[i].pos, ps[i].pos)
"""


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    return define(CELL)


def particles(names: dict[str, Any], **options: Any) -> wb.array:
    """Four particles with numbers drawn at random."""
    rng = np.random.default_rng(3)
    host = np.zeros(4, names["Particle"].__wb_struct__.numpy)
    host["pos"], host["vel"], host["body"]["mass"] = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), 1.5
    return wb.array(host, names["Particle"], **options)


WRONG = [
    ("a = ps[i].poss", "ps[i].poss", "Did you mean pos?"),
    ("a = p.zzz", "p.zzz", "Its fields: pos, vel, n."),
    ("p.poss = vec3()", "p.poss", "P has no field poss"),
    ("p.n = 1.5", "p.n", "does not fit int32"),
    ("p.pos = 1.0", "p.pos", "is vec3"),
    ("ps[i].pos = x[i]", "ps[i].pos", "The field pos of an element of ps is vec3"),
    ("ps[i] = q", "ps[i]", "another struct, Q"),
    ("ps[i] = 1.0", "ps[i]", "An element of ps is P"),
    ("a = p == p", "p == p", "Structs do not compare"),
    ("a = p + p", "p + p", "there is no func named add for it"),
    ("a = ps[i] * 2.0", "ps[i] * 2.0", "or take the fields: pos, vel, n"),
    ("a = ps.pos", "ps.pos", "ps is an array of structs, so it has no pos"),
    ("a = P(1.0, 2.0, 3.0, 4.0)", "P(1.0, 2.0, 3.0, 4.0)", "takes 3 arguments; it got 4"),
    ("a = P(n=1.5)", "P(n=1.5)", "does not fit int32"),
    ("a = P(vec3(), pos=vec3())", "P(vec3(), pos=vec3())", "pos is given twice"),
    ("a = P(colour=1)", "P(colour=1)", "has no field colour"),
    ("a = weight(q)", "weight(q)", "p of weight() is P; the value is another struct, Q"),
    ("if i > 2:\n        a = p\n    else:\n        a = q\n    x[i] = a.n", "a", "a is P or Q here"),
    ("a = p if i > 2 else q", "p if i > 2 else q", "between P and Q"),
    ("if i > 2:\n        a = P()\n    x[i] = a.pos.x", "a", "set only if i > 2 holds"),
    ("p[0] = 1.0", "p[0]", "Write its field's name"),
    ("p.pos.w = 1.0", "p.pos.w", "has no component w"),
    ("p.pos = p.vel.x", "p.pos", "is vec3"),
]
STRUCTS = "@struct\nclass P:\n    pos: vec3\n    vel: vec3\n    n: int\n@struct\nclass Q:\n    n: float\n"
FUNC = "@func\ndef weight(p: P):\n    return p.n\n"


@pytest.mark.parametrize(("statement", "place", "sentence"), WRONG)
def test_refused_at_its_place(statement, place, sentence):
    head = "def k(ps: array(dtype=P), p: P, q: Q, x: array[float]):\n    i = tid()\n    "
    with pytest.raises(wb.WorkbenchError) as caught:
        define(f"{STRUCTS}{FUNC}{head}{statement}\n")
    error = caught.value
    assert not isinstance(error, CellErrors), error.render()
    assert under_caret(error) == place
    assert sentence in f"{error.message} {error.advice}"


@pytest.mark.parametrize(
    ("body", "line", "sentence"),
    [
        ("    x = 1.0\n", 3, "x of P has no annotation"),
        ("    x: array[float] = 1.0\n", 2, "only numbers and vectors have defaults"),
        ("    x: float\n    def f(self):\n        return 1\n", 4, "has a method, f"),
        ("    x: float\n    p: P\n", 4, "p makes P contain itself"),
        ("    x: str\n", 3, "no type of the language"),
        ("    x: nonsense\n", 3, "cannot be evaluated"),
        ("    pass\n", 1, "P has no fields"),
    ],
)
def test_structs_that_are_none(body, line, sentence):
    with pytest.raises(wb.KernelTypeError, match=sentence) as caught:
        define(f"@struct\nclass P:\n{body}def k(x: array[float]):\n    x[tid()] = 1.0\n")
    assert caught.value.location.line in (line, 2)


def test_a_decorated_class_is_checked_too():
    with pytest.raises(wb.KernelTypeError, match="x of Plain has no annotation"):

        @wb.struct
        class Plain:
            x = 1.0

    with pytest.raises(wb.KernelTypeError, match="Own has an __init__; a struct's values are made from its fields"):

        @wb.struct
        class Own:
            x: float

            def __init__(self) -> None:
                self.x = 1.0

    @wb.struct
    class Grid:
        cells: wb.array[float]

    for make in (lambda: wb.zeros(2, dtype=Grid), lambda: wb.array(dtype=Grid)):
        with pytest.raises(TypeError, match="Grid holds arrays"):
            make()


def test_what_does_not_fit_a_field_on_the_host(names):
    p = names["Particle"]()
    for name, value, sentence in (
        ("poss", 1, "Did you mean pos"),
        ("pos", (1, 2), "Particle.pos is vec3: 3 numbers"),
        ("body", p, "another struct: field mass comes where the other has pos"),
        ("body", 3.0, "this is a float"),
    ):
        with pytest.raises(wb.KernelTypeError, match=sentence):
            setattr(p, name, value)
    with pytest.raises(wb.KernelTypeError, match=r"2.5 is a float"):
        p.body.id = 2.5
    assert p == names["Particle"]()


def test_a_launch_names_the_parameter_and_the_field_that_differs(names):
    other = define(CELL.replace("vel: vec3", "vel: vec2").split("def step")[0])
    ps, e = particles(names), wb.zeros(1)
    with pytest.raises(wb.LaunchError, match=r"step: g is Particle; .*vel is vec3, not vec2") as caught:
        wb.launch(names["step"], 4, inputs=[ps, other["Particle"](), ps, e])
    assert caught.value.parameter == "g"
    with pytest.raises(wb.LaunchError, match=r"ps is array\[Particle\]; .*vel is vec3, not vec2") as caught:
        wb.launch(names["step"], 4, inputs=[wb.zeros(4, dtype=other["Particle"]), names["Particle"](), ps, e])
    assert caught.value.parameter == "ps"
    with pytest.raises(wb.LaunchError, match="g is Particle; this is a float"):
        wb.launch(names["step"], 4, inputs=[ps, 1.0, ps, e])


def test_gradients_meet_difference_quotients(names):
    ps, qs, e = particles(names), wb.zeros(4, dtype=names["Particle"]), wb.zeros(1)
    g = names["Particle"]((1, 2, 3), (1, 1, 1), names["Body"](2.0, 1))
    verdict = wb.gradcheck(names["step"], 4, [ps, g], [qs, e])
    assert verdict and verdict.compared > 50 and {p.parameter for p in verdict.worst} >= {"g.body.mass", "ps[].pos"}
    assert wb.gradcheck(names["fall"], 4, [ps, 0.1])


def test_a_tape_gives_gradients_of_arrays_of_structs(names):
    def run(host: np.ndarray[Any, Any]) -> tuple[Any, wb.Tape, wb.array]:
        ps, e = wb.array(host, names["Particle"], requires_grad=True), wb.zeros(1, requires_grad=True)
        tape = wb.Tape()
        with tape:
            for _ in range(3):
                wb.launch(names["fall"], 4, inputs=[ps, 0.1])
            wb.launch(names["energy"], 4, inputs=[ps], outputs=[e])
        return e, tape, ps

    host = particles(names).numpy()
    e, tape, ps = run(host)
    tape.backward(e)
    found = ps.grad.numpy()
    assert np.array_equal(found, tape.gradients[ps].numpy())
    for field, k, c in (("pos", 1, 2), ("vel", 3, 0), ("pos", 0, 1)):
        ends = []
        for sign in (1, -1):
            moved = host.copy()
            moved[field][k, c] += sign * 1e-2
            ends.append(float(run(moved)[0]))
        assert found[field][k, c] == pytest.approx((ends[0] - ends[1]) / 2e-2, rel=2e-3)
    assert not found["body"]["mass"].any() and not found["body"]["id"].any()


def test_the_gradient_of_a_struct_parameter_is_a_struct(names):
    Particle = names["Particle"]
    ps, qs = particles(names, requires_grad=True), wb.zeros(4, dtype=Particle, requires_grad=True)
    e, g = wb.zeros(1, requires_grad=True), Particle((1, 2, 3), (1, 1, 1), names["Body"](2.0, 1))
    adj = wb.zeros(1, dtype=Particle)
    e.grad.fill_(1)
    launched = dict(inputs=[ps, g], outputs=[qs, e])
    wb.launch(names["step"], 4, **launched)
    wb.launch(names["step"], 4, **launched, adjoint=True, adj_inputs=[None, adj])
    assert isinstance(adj[0], Particle)
    verdict = wb.gradcheck(names["step"], 4, [ps, g], [qs, e])
    assert verdict.ok and adj[0].pos[0] == pytest.approx(float((qs.numpy()["pos"] * ps.numpy()["vel"]).sum()), rel=5)
    eps = 1e-2
    ends = []
    for mass in (2 + eps, 2 - eps):
        sums = wb.zeros(1)
        wb.launch(names["step"], 4, inputs=[ps, Particle(g.pos, g.vel, names["Body"](mass))], outputs=[qs, sums])
        ends.append(float(sums))
    assert adj[0].body.mass == pytest.approx((ends[0] - ends[1]) / (2 * eps), rel=1e-3)


def test_kept_launches_and_replays_take_structs(names):
    Particle = names["Particle"]
    ps, qs, e = particles(names), wb.zeros(4, dtype=Particle), wb.zeros(1)
    g = Particle((1, 0, 0), body=names["Body"](1.0))
    kept = wb.launch(names["step"], 4, inputs=[ps, g], outputs=[qs, e], record_cmd=True)
    kept.launch()
    first = float(e)
    kept.set_param_by_name("g", Particle((3, 0, 0), body=names["Body"](1.0)))
    e.zero_()
    kept.launch()
    assert float(e) == pytest.approx(3 * first, rel=1e-5)
    kept.set_param_by_name("g.pos", (2, 0, 0))
    other = wb.zeros(4, dtype=Particle)
    kept.set_param_by_name("qs", other)
    e.zero_()
    kept.launch()
    assert float(e) == pytest.approx(2 * first, rel=1e-5) and np.array_equal(other.numpy(), qs.numpy())
    with pytest.raises(wb.LaunchError, match="g is Particle"):
        kept.set_param_by_name("g", 1.0)
    with wb.record() as rec:
        wb.launch(names["fall"], 4, inputs=[ps, 0.1])
    moved = wb.array(ps)
    before = ps.numpy().copy()
    rec.replay({ps: moved})
    assert np.array_equal(ps.numpy(), before) and not np.array_equal(moved.numpy(), before)


def test_structured_arrays_of_numpy_cross_both_ways(names):
    Particle = names["Particle"]
    host = np.zeros(3, [("pos", "f4", 3), ("vel", "f8", 3), ("body", [("mass", "f4"), ("id", "i8")])])
    host["vel"], host["body"]["id"] = 2.0, [1, 2, 3]
    ps = wb.array(host, dtype=Particle)
    assert ps.numpy().dtype == Particle.__wb_struct__.numpy and ps.numpy()["body"]["id"].tolist() == [1, 2, 3]
    shared = wb.from_numpy(ps.numpy(), dtype=Particle)
    shared[1] = Particle((1, 2, 3))
    assert ps[1] == Particle((1, 2, 3)) and ps["pos"].numpy()[1].tolist() == [1, 2, 3]
    ps["vel"] = np.float32([7, 8, 9])
    assert ps.numpy()["vel"].tolist() == [[7, 8, 9]] * 3 and ps["body"]["id"].numpy().tolist() == [1, 0, 3]
    wb.launch(names["fall"], 3, inputs=[ps.numpy(), 0.0])
    assert ps.zero_()[2] == Particle() and wb.full(2, Particle((1, 1, 1)), Particle)[1].pos.tolist() == [1, 1, 1]
    with pytest.raises(TypeError, match="with pos where Body has mass"):
        wb.array(host, dtype=names["Body"])


def test_a_struct_defined_again_alike_is_the_same(names):
    again = define(CELL.split("def step")[0])
    ps = wb.zeros(4, dtype=again["Particle"])
    with events() as seen:
        wb.launch(names["fall"], 4, inputs=[ps, 0.1])
    assert ps.type.dtype == names["Particle"].__wb_struct__ and not [s for s in seen if type(s).__name__ == "CacheMiss"]


@contextmanager
def events() -> Iterator[list[Any]]:
    """What is published inside a `with`."""
    seen: list[Any] = []
    stop = subscribe(seen.append)
    try:
        yield seen
    finally:
        stop()


KEY = """
import sys
from tests.api.kernels.test_structs import digest
print(digest(sys.argv[1]))
"""
TEXT = "@struct\nclass P:\n    a: float\n    b: float\n\ndef k(ps: array(dtype=P)):\n    ps[tid()].a = 1.0\n"


def digest(text: str) -> str:
    """The key of the cell's kernel `k`."""
    specialisation = wb.build_cell(text, {}).names["k"].specialise()
    return key_of(specialisation, "forward", Options(), CpuBackend(), "x86-64-v3", False).digest


@pytest.mark.slow
def test_the_key_is_the_same_in_every_process():
    found = {digest(TEXT)}
    for seed in ("1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", KEY, TEXT]
        found.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip())
    assert len(found) == 1


def test_order_name_and_type_of_fields_are_in_the_key():
    changed = ("b: float\n    a: float", "a: float\n    c: float", "a: float\n    b: int", "a: float\n    b: float64")
    texts = [TEXT, *(TEXT.replace("a: float\n    b: float", fields) for fields in changed)]
    assert len({digest(text) for text in texts}) == len(texts)
    assert digest(TEXT.replace("P", "Q")) == digest(TEXT)


def test_arrays_of_structs_do_not_cross_to_jax(names):
    pytest.importorskip("jax")
    with pytest.raises(wb.LaunchError, match="arrays of structs, and structs as outputs, are not supported under JAX"):
        wb.jax_kernel(names["energy"])(np.zeros(4, np.float32))


def test_methods_and_bases_are_there_on_the_host_and_fields_of_both_in_kernels():
    @wb.struct
    class Body:
        pos: wb.vec3
        mass: float = 2.0

        @property
        def weight(self) -> float:
            return 9.5 * self.mass

        @classmethod
        def heavy(cls) -> Any:
            return cls(mass=100.0)

        def __repr__(self) -> str:
            return f"<{self.mass}>"

    @wb.struct
    class Charged(Body):
        charge: float

        def force(self, field: float) -> float:
            return self.charge * field

    charged = Charged.heavy()
    charged.charge = -3.0
    assert (charged.weight, charged.force(2.0), repr(charged), repr(Body())) == (950.0, -6.0, "<100.0>", "<2.0>")
    assert isinstance(charged, Body)
    with pytest.raises(wb.KernelTypeError, match="Charged has no field wieght"):
        charged.wieght = 1.0

    @wb.kernel
    def k(c: Charged, bodies: wb.array[Body], y: wb.array[float]):
        i = wb.tid()
        y[i] = c.charge * c.mass + bodies[i].mass

    y = wb.zeros(2, dtype=float)
    wb.launch(k, 2, inputs=[charged, wb.array([Body(), Body(mass=5.0)], dtype=Body)], outputs=[y])
    assert y.numpy().tolist() == [-298.0, -295.0]
    again = copy.copy(charged)
    assert again == charged
    assert again.force(1.0) == -3.0

    @wb.kernel
    def calls(c: Charged, y: wb.array[float]):
        y[wb.tid()] = c.force(2.0)

    with pytest.raises(wb.WorkbenchError, match="which only the host has: make it a func that"):
        wb.launch(calls, 1, inputs=[charged], outputs=[y])


@wb.struct
class Spring:
    rest: wb.array[float]
    numbers: wb.array[int]
    k: float


@wb.kernel
def stretched(s: Spring, e: wb.array[float]):
    i = wb.tid()
    e[i] = s.k * s.rest[s.numbers[i]] * s.rest[i]


def test_the_gradients_of_the_arrays_in_a_struct_are_in_such_a_struct():
    rest = wb.array([2.0, 3.0], dtype=float, requires_grad=True)
    s, e = Spring(rest, wb.array([1, 0], dtype=int), 0.5), wb.zeros(2, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(stretched, 2, [s], [e])
    tape.backward(grads={e: wb.ones(2)})
    found = tape.gradients[s]
    assert found.rest.numpy().tolist() == [3.0, 2.0] and found.numbers is s.numbers and found.k == 0.5
    assert s.rest.numpy().tolist() == [2.0, 3.0]
