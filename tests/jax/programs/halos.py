"""Stencils divided by XLA: edges are exchanged, nothing is gathered, and values are those of one device."""

from __future__ import annotations

import os
import sys

# `benchmarks/jax_halos.py` takes kernels from here.
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={sys.argv[1] if __name__ == '__main__' else 8}"

import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import workbench as wb
from workbench.runtime.launching.checks import set_checks

COUNT = jax.device_count()
TYPES = getattr(jax.sharding, "AxisType", None)  # not in JAX 0.5, which divides nothing
DIVIDES = TYPES is not None and jax.config.jax_use_shardy_partitioner
TWO = (2, COUNT // 2) if COUNT > 1 else (1, 1)
FLOATS, TABLE = wb.array[float], wb.array2d[float]
_MOVES = r"= (\(?[a-z0-9]+\[[^=]*?) (collective-permute|all-gather|all-to-all|reduce-scatter)(?:-start)?\("


@wb.kernel
def five(u: TABLE, y: TABLE):
    i, j = wb.tid()
    total = -4.0 * u[i, j]
    if i > 0:
        total += u[i - 1, j]
    if i < u.shape[0] - 1:
        total += u[i + 1, j]
    if j > 0:
        total += u[i, j - 1]
    if j < u.shape[1] - 1:
        total += u[i, j + 1]
    y[i, j] = u[i, j] + 0.1 * total


@wb.kernel
def ring(u: FLOATS, y: FLOATS):
    i = wb.tid()
    n = u.shape[0]
    y[i] = u[i] * u[(i + 1) % n] - 0.5 * u[(i + n - 2) % n]


@wb.kernel
def heat(u: TABLE, y: TABLE):
    i, j = wb.tid()
    total = -4.0 * u[i, j]
    if i > 0:
        total += u[i - 1, j]
    if i < u.shape[0] - 1:
        total += u[i + 1, j]
    if j > 0:
        total += u[i, j - 1]
    if j < u.shape[1] - 1:
        total += u[i, j + 1]
    y[i, j] = u[i, j] + 0.1 * wb.sin(total)


@wb.kernel
def nine(u: TABLE, y: TABLE):
    i, j = wb.tid()
    n, m = u.shape[0], u.shape[1]
    total = 0.0
    for a in range(-1, 2):
        for b in range(-1, 2):
            total += float(1 + a + 3 * b) * u[(i + a + n) % n, wb.clamp(j + b, 0, m - 1)]
    y[i, j] = wb.tanh(total)


@wb.kernel
def taps(u: FLOATS, w: FLOATS, y: FLOATS):
    i = wb.tid()
    n = u.shape[0]
    s = 0.0
    for k in range(6):
        s += w[k] * wb.tanh(u[(i + k - 3 + n) % n])
    y[i] = s


@wb.kernel
def spread(u: FLOATS, y: FLOATS):
    i = wb.tid()
    n = u.shape[0]
    wb.atomic_add(y, max(i - 1, 0), u[i] * float(i))
    wb.atomic_add(y, (i + 2) % n, wb.sin(u[i]))


@wb.kernel
def turned(p: wb.array[wb.vec3], q: wb.array[wb.vec3]):
    i = wb.tid()
    q[i] = wb.cross(p[max(i - 1, 0)], p[min(i + 1, p.shape[0] - 1)])


@wb.kernel
def counted(k: wb.array[int], bins: wb.array[int]):
    i = wb.tid()
    wb.atomic_add(bins, min(i + 1, k.shape[0] - 1), k[i])


@wb.kernel
def flux(u: FLOATS, q: FLOATS):
    i = wb.tid()
    n = u.shape[0]
    q[i] = wb.sin(u[min(i, n - 1)]) - u[max(i - 1, 0)] * float(q.shape[0])


@wb.kernel
def balance(q: FLOATS, u: FLOATS):
    i = wb.tid()
    u[i] = wb.tanh(q[i + 1] - q[i]) + 0.01 * float(i)


@wb.kernel
def edges(u: TABLE, q: TABLE):
    i, j = wb.tid()
    after = 0.0
    before = 0.0
    if i < u.shape[0]:
        after = u[i, j]
    if i > 0:
        before = u[i - 1, j]
    q[i, j] = after - before


@wb.kernel
def weighed(q: FLOATS, total: FLOATS):
    i = wb.tid()
    wb.atomic_add(total, 0, q[i] * float(i))


def moved(text: str) -> dict[str, int]:
    """The bytes that collectives give one device, by kind."""
    found: dict[str, int] = {}
    for shapes, kind in re.findall(_MOVES, text):
        sizes = re.findall(r"[a-z]+(\d+)\[([\d,]*)\]", shapes)
        total = sum(int(bits) // 8 * math.prod(int(n) for n in dims.split(",") if n) for bits, dims in sizes)
        found[kind] = found.get(kind, 0) + total
    return found


def check(f: Callable[..., Any], *args: Any, mesh: Any, spec: P, exact: bool = True) -> str:
    """Equal to one device, bit by bit if `exact`; nothing but edges moves, and the result stays where it is."""
    given = [jax.device_put(x, NamedSharding(mesh, spec if n == 0 else P())) for n, x in enumerate(args)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = jax.jit(f).lower(*given).compile()
    found, expected = compiled(*given), jax.jit(f)(*args)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        if exact:
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)
    text = compiled.as_text()
    if not DIVIDES:
        return text
    assert moved(text).keys() <= {"collective-permute"}, (spec, moved(text))
    first = jax.tree.leaves(found)[0]
    if first.shape == np.shape(args[0]):
        assert first.sharding.is_equivalent_to(given[0].sharding, first.ndim), first.sharding
    return text


def transforms(f: Callable[..., Any], *args: Any, mesh: Any, spec: P) -> None:
    """Gradients add to neighbours' elements in another order than one device does: so they are close, not equal."""
    every = tuple(range(len(args)))

    def loss(*a: Any) -> Any:
        return jnp.sum(jnp.sin(0.3 * f(*a)))

    def steps(u: Any, *rest: Any) -> Any:
        return jax.lax.scan(lambda u, _: (jnp.tanh(f(u, *rest)), None), u, None, length=5)[0]

    tangents = [jnp.cos(x) for x in args]
    check(f, *args, mesh=mesh, spec=spec)
    check(steps, *args, mesh=mesh, spec=spec)
    check(lambda *a: jax.jvp(f, a, tuple(tangents)), *args, mesh=mesh, spec=spec)
    check(lambda u, *rest: jax.vmap(lambda k: f(k * u, *rest))(jnp.arange(3.0)), *args, mesh=mesh, spec=spec)
    close = dict(mesh=mesh, spec=spec, exact=False)
    check(jax.grad(loss, every), *args, **close)
    check(lambda *a: jax.jvp(jax.grad(loss, every), a, tuple(tangents)), *args, **close)
    check(jax.grad(lambda *a: jnp.sum(steps(*a) ** 2)), *args, **close)


def shapes(*sizes: int) -> Any:
    """Numbers of some shape."""
    return jax.random.normal(jax.random.key(0), sizes)


def meshes(rank: int, kind: str = "Auto") -> list[tuple[Any, P]]:
    """Meshes of all devices, and how they divide an array of so many axes."""
    kinds = [{} if TYPES is None else {"axis_types": (getattr(TYPES, kind),) * n} for n in (1, 2)]
    one, two = jax.make_mesh((COUNT,), ("d",), **kinds[0]), jax.make_mesh(TWO, ("a", "b"), **kinds[1])
    found = [(one, P("d")), (two, P(("a", "b")))]
    return [*found, (one, P(None, "d")), (two, P("a", "b")), (two, P("b", "a"))] if rank > 1 else found


def explicit(f: Callable[..., Any], *args: Any) -> None:
    """The same where types say how arrays are divided."""
    for mesh, spec in meshes(args[0].ndim, "Explicit")[-1:]:
        with jax.set_mesh(mesh):
            u, *rest = (jax.device_put(x, spec if n == 0 else P()) for n, x in enumerate(args))
            assert jax.typeof(f(u, *rest)).sharding.spec == jax.typeof(u).sharding.spec
            program = jax.jit(jax.grad(lambda u, rest=rest: jnp.sum(jnp.sin(f(u, *rest)))))
            text, found = program.lower(u).compile().as_text(), program(u)
        assert "all-gather" not in text
        expected = jax.grad(lambda u: jnp.sum(jnp.sin(f(u, *args[1:]))))(args[0])
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


def gathered() -> None:
    """An adjoint in gather form adds what one device adds, in its order; of one that scatters the error is bounded."""
    for kernel, u in ((five, shapes(32, 16)), (ring, shapes(32)), (turned, shapes(16, 3))):
        f = wb.jax_kernel(kernel)
        slope = jax.grad(lambda u, f=f: jnp.sum(jnp.sin(f(u))))
        for mesh, spec in meshes(1 if kernel is turned else u.ndim):
            check(slope, u, mesh=mesh, spec=spec)
    # Of `heat`, an element's gradient has 6 terms. Two orders of adding k numbers differ by 2 (k - 1) units in the last
    # place of the sum of their sizes, at most.
    u, weights, f = shapes(32, 16), jnp.cos(shapes(32, 16)), wb.jax_kernel(heat)
    slope = jax.jit(jax.grad(lambda u: jnp.sum(weights * f(u))))
    size = jnp.pad(jnp.abs(weights), 1)
    near = size[:-2, 1:-1] + size[2:, 1:-1] + size[1:-1, :-2] + size[1:-1, 2:]
    bound = 2 * 5 * 2.0**-24 * (1.4 * size[1:-1, 1:-1] + 0.1 * near)
    for mesh, spec in meshes(2):
        found = slope(jax.device_put(u, NamedSharding(mesh, spec)))
        assert (jnp.abs(found - slope(u)) <= bound).all()


def staggered() -> None:
    """Grids of n and n + 1, and of sizes that no mesh divides: parts are padded."""
    to_edges = wb.jax_kernel(flux, input_dims={"u": "n"}, launch_dims="n + 1", sharding="i -> i")
    to_cells = wb.jax_kernel(balance, input_dims={"q": "n"}, launch_dims="n - 1", sharding="i -> i")
    rows = wb.jax_kernel(edges, input_dims={"u": "n, m"}, launch_dims="n + 1, m", sharding="i j -> i j")
    total = wb.jax_kernel(weighed, output_dims=1, init={"total": 0})

    def step(u: Any) -> Any:
        return to_cells(to_edges(u))

    def coarse(u: Any) -> Any:
        return jnp.pad(wb.jax_kernel(heat)(2.0 * u[:13]), ((0, u.shape[0] - 13), (0, 0)))

    for kernel, *more in ((ring,), (taps, jnp.linspace(-1.0, 1.0, 6))):
        # What comes around stands in the padding.
        f = wb.jax_kernel(kernel)

        def around(u: Any, f: Any = f, more: Any = more) -> Any:
            return jnp.pad(f(f(2.0 * u[:29], *more), *more), (0, u.shape[0] - 29))

        for mesh, spec in meshes(1):
            check(around, shapes(32), mesh=mesh, spec=spec)
            slope = jax.grad(lambda u, g=around: jnp.sum(jnp.sin(g(u))))
            check(slope, shapes(32), mesh=mesh, spec=spec, exact=False)
    for number, (mesh, spec) in enumerate(meshes(2)):
        check(lambda u: rows(rows(u))[1:-1], shapes(16, 8), mesh=mesh, spec=spec)
        check(coarse, shapes(16, 8), mesh=mesh, spec=spec)
        if number in (0, 3):
            for f in (rows, coarse):
                slope = jax.grad(lambda u, f=f: jnp.sum(jnp.sin(f(u))))
                check(slope, shapes(16, 8), mesh=mesh, spec=spec, exact=False)
    for mesh, spec in meshes(1):
        for n in (16, 24, 64):
            check(step, shapes(n), mesh=mesh, spec=spec)
            check(jax.grad(lambda u: jnp.sum(jnp.sin(step(u)))), shapes(n), mesh=mesh, spec=spec, exact=False)
        check(
            lambda u: jax.lax.scan(lambda u, _: (step(u), None), u, None, length=4)[0], shapes(24), mesh=mesh, spec=spec
        )
    mesh, spec = meshes(1)[0]
    placed = jax.device_put(shapes(16), NamedSharding(mesh, spec))
    summed = jax.jit(lambda u: total(to_edges(u)))
    np.testing.assert_allclose(summed(placed), total(to_edges(shapes(16))), rtol=1e-5)
    before = set_checks(True)
    check(lambda u: jnp.where(step(u) > 0.0, u, 0.0), shapes(16), mesh=mesh, spec=spec)
    set_checks(before)


def main() -> None:
    """Everything, or the `few` that the default tests take."""
    mesh, spec = meshes(1)[0]
    f = wb.jax_kernel(heat)
    text = check(f, shapes(32, 16), mesh=mesh, spec=spec)
    # Two rows of 16 floats.
    assert COUNT == 1 or not DIVIDES or moved(text) == {"collective-permute": 2 * 16 * 4}, moved(text)
    if sys.argv[2:] == ["few"]:
        check(jax.grad(lambda u: jnp.sum(jnp.sin(f(u)))), shapes(32, 16), mesh=mesh, spec=spec, exact=False)
        check(jax.grad(lambda u: jnp.sum(wb.jax_kernel(ring)(u) ** 2)), shapes(32), mesh=mesh, spec=spec)
        to_edges = wb.jax_kernel(flux, input_dims={"u": "n"}, launch_dims="n + 1")
        check(lambda u: to_edges(u)[1:] - to_edges(u)[:-1], shapes(16), mesh=mesh, spec=spec)
        print("equal")
        return
    staggered()
    gathered()
    cases = [(f, shapes(32, 16)), (wb.jax_kernel(nine), shapes(16, 24)), (wb.jax_kernel(turned), shapes(16, 3))]
    # Of 16 elements a device has fewer than the halo is wide.
    cases += [(wb.jax_kernel(taps), shapes(n), jnp.linspace(-1.0, 1.0, 6)) for n in (64, 16)]
    for case, *args in cases:
        rank = 1 if case is cases[2][0] else args[0].ndim
        for number, (mesh, spec) in enumerate(meshes(rank)):
            (transforms if number in (0, 3) else check)(case, *args, mesh=mesh, spec=spec)
    mesh, spec = meshes(1)[1]
    added = wb.jax_kernel(spread, init={"y": 0})
    check(added, shapes(32), mesh=mesh, spec=spec, exact=False)
    check(jax.grad(lambda u: jnp.sum(jnp.sin(added(u)))), shapes(32), mesh=mesh, spec=spec, exact=False)
    check(wb.jax_kernel(counted, init={"bins": 0}), jnp.arange(16, dtype=jnp.int32), mesh=mesh, spec=spec)
    # A function of launches.
    twice = wb.jax_callable(two_steps)
    check(lambda u: twice(u), shapes(32, 16), mesh=mesh, spec=P(("a", "b")))
    if hasattr(jax, "set_mesh") and DIVIDES:
        explicit(f, shapes(32, 16))
        explicit(wb.jax_kernel(taps), shapes(32), jnp.linspace(-1.0, 1.0, 6))
    print("equal")


def two_steps(u: TABLE, y: TABLE) -> None:
    """Two steps of `heat`."""
    between = wb.empty_like(u)
    wb.launch(heat, dim=u.shape, inputs=[u], outputs=[between])
    wb.launch(heat, dim=u.shape, inputs=[between], outputs=[y])


if __name__ == "__main__":
    main()
