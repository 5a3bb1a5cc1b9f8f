"""Structs of arrays and numbers as JAX trees: in, out, differentiated, batched, and inside functions of launches."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.trees import assert_trees_close

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.struct
class Springs:
    stiff: wb.array[wb.float32]
    scale: wb.float32


@wb.struct
class Body:
    place: wb.array[wb.vec2]
    speed: wb.array[wb.vec2]
    springs: Springs
    turn: wb.mat22
    count: wb.int32


@wb.kernel
def energy(b: Body, half: wb.float32, out: wb.array[wb.float32]):
    i = wb.tid()
    v = b.turn @ b.speed[i]
    out[i] = half * wb.dot(v, v) + b.springs.scale * b.springs.stiff[i] * b.place[i][0] + wb.float32(b.count)


@wb.kernel
def drift(b: Body, dt: wb.float32):
    i = wb.tid()
    b.place[i] = b.place[i] + dt * b.speed[i]


class SpringTree(NamedTuple):
    stiff: Any
    scale: Any


@jax.tree_util.register_dataclass
@dataclass
class BodyTree:
    place: Any
    speed: Any
    springs: Any
    turn: Any
    count: Any


def tree(n: int = 3) -> dict[str, Any]:
    place = jnp.arange(2.0 * n).reshape(n, 2)
    turn = jnp.array([[1.0, 2.0], [0.5, -1.0]])
    return {
        "place": place, "speed": 0.1 * place + 1, "springs": SpringTree(jnp.arange(1.0, n + 1), 0.5), "turn": turn,
        "count": 2,
    }  # fmt: skip


def energy_jax(b: Any, half: Any) -> Any:
    v = b["speed"] @ b["turn"].T
    s = b["springs"]
    return half * (v * v).sum(1) + s.scale * s.stiff * b["place"][:, 0] + b["count"]


assert_same = functools.partial(assert_trees_close, rtol=2e-5)


ENERGY, DRIFT = wb.jax_kernel(energy), wb.jax_kernel(drift, in_out_argnames="b")


def test_a_tree_is_a_struct_in_every_form() -> None:
    b = tree()
    expected = energy_jax(b, 0.5)
    assert_same(ENERGY(b, 0.5), expected)
    assert_same(jax.jit(ENERGY)(b, 0.5), expected)
    assert_same(ENERGY(BodyTree(**b), half=0.5), expected)
    assert_same(jax.jit(ENERGY)(BodyTree(**{**b, "springs": b["springs"]._asdict()}), 0.5), expected)


@pytest.mark.slow
def test_gradients_are_trees_with_the_numbers_in_them() -> None:
    b = tree()
    rest = {k: v for k, v in b.items() if k != "count"}
    loss = lambda f: lambda rest, half: (f({**rest, "count": 2}, half) ** 2).sum()  # noqa: E731
    got = jax.jit(jax.grad(loss(ENERGY), (0, 1)))(rest, 0.5)
    assert_same(got, jax.grad(loss(energy_jax), (0, 1))(rest, 0.5))
    assert isinstance(got[0]["springs"], SpringTree)
    moved = (jax.tree.map(jnp.ones_like, rest), 1.0)
    assert_same(jax.jvp(loss(ENERGY), (rest, 0.5), moved), jax.jvp(loss(energy_jax), (rest, 0.5), moved))


def test_batches_of_trees() -> None:
    b = tree()
    many = {**b, "place": jnp.stack([b["place"], 3 * b["place"]])}
    axes = ({"place": 0, "speed": None, "springs": None, "turn": None, "count": None}, None)
    assert_same(jax.vmap(ENERGY, axes)(many, 0.5), jax.vmap(energy_jax, axes)(many, 0.5))


def test_a_struct_that_comes_out_is_the_same_kind_of_tree() -> None:
    for b in (tree(), BodyTree(**tree())):
        after = jax.jit(lambda b: DRIFT(b, 2.0, launch_dims=3))(b)
        assert type(after) is type(b)
        take = (lambda b, n: b[n]) if isinstance(b, dict) else getattr
        assert_same(take(after, "place"), take(b, "place") + 2 * take(b, "speed"))
        assert_same(take(after, "speed"), take(b, "speed"))
        assert isinstance(take(after, "springs"), SpringTree)
    slope = jax.grad(lambda s: DRIFT({**tree(), "speed": s}, 2.0, launch_dims=3)["place"].sum())(tree()["speed"])
    assert_same(slope, jnp.full((3, 2), 2.0))


def test_a_function_of_launches_makes_structs_of_its_arrays() -> None:
    def step(
        place: wb.array[wb.vec2], speed: wb.array[wb.vec2], stiff: wb.array[wb.float32], out: wb.array[wb.float32]
    ):
        now = wb.zeros(place.shape[0], dtype=wb.vec2)
        wb.copy(now, place)
        turn = np.array([[1.0, 2.0], [0.5, -1.0]], np.float32)
        b = Body(place=now, speed=speed, springs=Springs(stiff=stiff, scale=0.5), turn=turn, count=2)
        wb.launch(drift, dim=place.shape, inputs=[b, 2.0])
        wb.launch(energy, dim=place.shape, inputs=[b, 0.5], outputs=[out])

    b = tree()
    f = wb.jax_callable(step)
    args = (b["place"], b["speed"], b["springs"].stiff)

    def plain(place: Any, speed: Any, stiff: Any) -> Any:
        return energy_jax({**b, "place": place + 2 * speed, "speed": speed, "springs": SpringTree(stiff, 0.5)}, 0.5)

    assert_same(jax.jit(f)(*args), plain(*args))
    total = lambda f: lambda *a: f(*a).sum()  # noqa: E731
    assert_same(jax.grad(total(f), (0, 1, 2))(*args), jax.grad(total(plain), (0, 1, 2))(*args))


def test_traced_numbers_are_fields_of_structs_made_inside() -> None:
    def pull(tree: Any, scale: wb.float32, place: wb.array[wb.vec2], out: wb.array[wb.float32]):
        springs = Springs(stiff=tree["stiff"], scale=scale * 2.0)
        b = Body(place=place, speed=place, springs=springs, turn=np.zeros((2, 2), np.float32), count=1)
        wb.launch(energy, dim=place.shape, inputs=[b, 0.5], outputs=[out])

    f, b = wb.jax_callable(pull, output_dims=3), tree()
    plain = lambda stiff, scale: 2 * scale * stiff * b["place"][:, 0] + 1  # noqa: E731
    stiff = b["springs"].stiff
    assert_same(jax.jit(f)({"stiff": stiff}, 0.5, b["place"]), plain(stiff, 0.5))
    slope = jax.grad(lambda t, s: f(t, s, b["place"]).sum(), (0, 1))({"stiff": stiff}, 0.5)
    expected = jax.grad(lambda k, s: plain(k, s).sum(), (0, 1))(stiff, 0.5)
    assert_same((slope[0]["stiff"], slope[1]), expected)


@wb.struct
class Drop:
    x: wb.float32


@wb.kernel
def fall(drops: wb.array[Drop], out: wb.array[wb.float32]):
    out[wb.tid()] = drops[wb.tid()].x


@wb.kernel
def both(b: Body, x: wb.array[wb.float32], out: wb.array[wb.float32]):
    b.place[wb.tid()] = wb.vec2(x[wb.tid()], 0.0)
    out[wb.tid()] = 1.0


def test_what_does_not_fit_is_refused() -> None:
    b = tree()
    with pytest.raises(wb.LaunchError, match=r"b of energy is a Body, and dict has no turn\.\n* *Pass a dict.*count"):
        ENERGY({k: v for k, v in b.items() if k != "turn"}, 0.5)
    with pytest.raises(wb.LaunchError, match=r"b\.springs\.stiff of energy takes array\[float32\], not int32\[3\]"):
        ENERGY({**b, "springs": SpringTree(jnp.arange(3), 0.5)}, 0.5)
    with pytest.raises(wb.LaunchError, match=r"both writes to b\.place, which is an input"):
        wb.jax_kernel(both)(b, jnp.ones(3))
    with pytest.raises(wb.LaunchError, match="arrays of structs, and structs as outputs, are not supported under JAX"):
        wb.jax_kernel(fall)(jnp.ones(3))

    def take(b: Springs, out: wb.array[wb.float32]):
        out.fill_(1.0)

    with pytest.raises(wb.LaunchError, match="b of take is annotated as the struct Springs; it is a tree"):
        wb.jax_callable(take, output_dims=3)


@wb.struct
class Wave:
    turn: wb.vec2
    rate: wb.float32


@wb.kernel
def waved(x: wb.array[wb.float32], w: Wave, out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = wb.sin(w.rate * w.rate * x[i]) + w.turn[0] * x[i]


def test_a_structs_value_is_a_tree_of_its_fields() -> None:
    f, x, w = wb.jax_kernel(waved), jnp.linspace(0.0, 1.0, 4), Wave(wb.vec2(2.0, 3.0), 1.5)
    plain = {"turn": jnp.array([2.0, 3.0]), "rate": jnp.float32(1.5)}
    assert_trees_close(jax.jit(f)(x, w), f(x, plain))
    found = jax.grad(lambda w: f(x, w).sum())(w)
    expected = jax.grad(lambda w: f(x, w).sum())(plain)
    assert isinstance(found, Wave)
    assert_trees_close([found.turn, found.rate], [expected["turn"], expected["rate"]])
    doubled = jax.tree.map(lambda a: 2 * a, w)
    assert isinstance(doubled, Wave) and doubled.rate == 3.0 and doubled.turn.tolist() == [4.0, 6.0]
    assert [jax.tree_util.keystr(k) for k, _ in jax.tree_util.tree_flatten_with_path(w)[0]] == [".turn", ".rate"]
