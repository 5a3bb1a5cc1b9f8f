"""Looking into programs: what kernels print under JAX, reports of unwritten outputs, what JAX refuses."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

import workbench as wb
from workbench.errors import KernelFault, LaunchError, NotDifferentiable

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.struct
class Body:
    place: wb.array[wb.vec3]
    mass: float


@wb.kernel
def shown(x: wb.array[float], s: float, y: wb.array[float]):
    i = wb.tid()
    print("x", i, x[i], s)
    y[i] = s * x[i] * x[i]


@wb.kernel
def weigh(body: Body, turn: wb.array[wb.mat22], out: wb.array[wb.vec3]):
    i = wb.tid()
    print(body.place[i], body.mass, turn[i])
    out[i] = body.mass * body.place[i]


@wb.kernel
def doubled(x: wb.array[float], y: wb.array[float]):
    y[wb.tid()] = 2.0 * x[wb.tid()]


x = jnp.array([1.0, -2.0])


def test_prints_of_jitted_programs(capsys: pytest.CaptureFixture[str]) -> None:
    f = wb.jax_kernel(shown)
    jitted = jax.jit(f)

    def printed(result: Any) -> list[str]:
        jax.block_until_ready(result)
        jax.effects_barrier()
        return capsys.readouterr().out.splitlines()

    assert printed(f(x, 2.0)) == ["x 0 1.0 2.0", "x 1 -2.0 2.0"]
    assert printed(jitted(x, 3.0)) == ["x 0 1.0 3.0", "x 1 -2.0 3.0"]
    assert printed(jitted(x, 4.0)) == ["x 0 1.0 4.0", "x 1 -2.0 4.0"]
    batches = jax.jit(jax.vmap(f, (0, None)))(jnp.stack([x, x + 5.0]), 1.0)
    assert sorted(printed(batches)) == sorted(["x 0 1.0 1.0", "x 1 -2.0 1.0", "x 0 6.0 1.0", "x 1 3.0 1.0"])
    scanned = jax.jit(lambda x: jax.lax.scan(lambda c, _: (f(c, 0.5), None), x, None, 3)[0])(x)
    assert sorted(printed(scanned)) == sorted(
        ["x 0 1.0 0.5", "x 1 -2.0 0.5", "x 0 0.5 0.5", "x 1 2.0 0.5", "x 0 0.125 0.5", "x 1 2.0 0.5"]
    )
    # A derivative runs the kernel's lines again, and says nothing twice.
    value, slope = jax.jit(jax.value_and_grad(lambda x: f(x, 1.0).sum()))(x)
    assert printed(slope) == ["x 0 1.0 1.0", "x 1 -2.0 1.0"]
    assert value == 5.0 and slope.tolist() == [2, -4]


def test_prints_of_structs_and_static_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    out = wb.jax_kernel(weigh, launch_dims=1)({"place": jnp.ones((1, 3)), "mass": 2.0}, jnp.ones((1, 2, 2)))
    assert out.tolist() == [[2, 2, 2]]
    assert capsys.readouterr().out == "[1.0, 1.0, 1.0] 2.0 [[1.0, 1.0], [1.0, 1.0]]\n"
    wb.jax_kernel(shown, static_argnames="s")(x[:1], 3.0)
    assert capsys.readouterr().out == "x 0 1.0 3.0\n"


def test_a_function_of_launches_does_not_print() -> None:
    def function(x: wb.array[float], y: wb.array[float]) -> None:
        wb.launch(shown, dim=x.shape, inputs=[x, 1.0], outputs=[y])

    with pytest.raises(LaunchError, match=r"inside a jax_callable nothing reads .* Call wb.jax_kernel\(shown\)"):
        wb.jax_callable(function)(x)


@pytest.mark.slow
def test_unwritten_outputs_without_frames_of_jax(caplog: pytest.LogCaptureFixture) -> None:
    message = "1 of 3 elements of the result y were never written by doubled."
    with wb.checks():
        f = wb.jax_kernel(doubled, launch_dims=2, output_dims=3)
        with pytest.raises(KernelFault, match=message):
            f(x)
        for program, given in [
            (f, x), (jax.vmap(f), jnp.stack([x, x])), (jax.grad(lambda x: (f(x) ** 2).sum()), x),
            (lambda x: jax.lax.scan(lambda c, _: (f(c)[:2], None), x, None, 2)[0], x),
        ]:  # fmt: skip
            with caplog.at_level(logging.DEBUG, "jax._src.debugging"), pytest.raises(Exception, match=message) as error:
                jax.jit(program)(given).block_until_ready()
            assert "Traceback" not in str(error.value) and not caplog.records
        whole = jax.checkpoint(wb.jax_kernel(doubled))
        slope = jax.grad(lambda x: jax.lax.scan(lambda c, _: (whole(c), None), x, None, 3)[0].sum())(x)
        assert slope.tolist() == [8, 8]
    jax.effects_barrier()  # the programs that failed have left nothing behind


def test_jet_is_refused_with_the_way_round() -> None:
    jet = pytest.importorskip("jax.experimental.jet").jet
    f = wb.jax_kernel(shown, static_argnames="s")
    quiet = wb.jax_kernel(doubled)
    with pytest.raises(NotDifferentiable, match=r"jet has no rule for doubled.  Nest jax.jvp for each order"):
        jet(quiet, (x,), ((x, x),))
    first = lambda x: jax.jvp(lambda x: f(x, 1.0), (x,), (jnp.ones(2),))[1]  # noqa: E731
    assert jax.jvp(first, (x,), (jnp.ones(2),))[1].tolist() == [2, 2]


@wb.kernel
def powers(x: wb.array[float], n: int, y: wb.array[float]):
    i = wb.tid()
    total = 0.0
    for _ in range(n):
        total = total * x[i] + 1.0
    y[i] = total


def test_the_cost_of_calls() -> None:
    f = wb.jax_kernel(doubled)
    small = {"flops": 100.0, "bytes accessed": 800.0}
    assert f.cost_analysis(jnp.ones(100)) == f.cost_analysis(jax.ShapeDtypeStruct((100,), "float32")) == small
    g = wb.jax_kernel(powers)
    costs = [
        g.cost_analysis(jnp.ones(50), n)["flops"] for n in (1, 10, jnp.int32(4), jax.ShapeDtypeStruct((), "int32"))
    ]
    assert costs == [100, 1000, 400, 100]
    assert wb.jax_kernel(powers, static_argnames="n").cost_analysis(jnp.ones(50), 10)["flops"] == 1000

    def twice(x: wb.array[float], y: wb.array[float]) -> None:
        between = wb.empty(x.shape[0])
        wb.launch(doubled, dim=x.shape, inputs=[x], outputs=[between])
        wb.launch(doubled, dim=x.shape, inputs=[between], outputs=[y])

    assert wb.jax_callable(twice).cost_analysis(jnp.ones(100)) == {"flops": 200.0, "bytes accessed": 1600.0}


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="JAX 0.5 names every foreign call `call`")
def test_calls_have_the_kernel_s_name_in_hlo() -> None:
    """Profiles show these names."""

    def once(x: wb.array[float], y: wb.array[float]) -> None:
        wb.launch(doubled, dim=x.shape, inputs=[x], outputs=[y])

    def calls(f: Any) -> list[str]:
        text = jax.jit(f).lower(x).compile().as_text()
        return re.findall(r"([A-Za-z_]+)[.\d]* = .*custom-call\(", text)

    assert calls(wb.jax_kernel(doubled)) == ["doubled"]
    assert calls(lambda x: jax.vjp(wb.jax_kernel(shown), x, 2.0)[1](x)[0])[-1] == "shown_adjoint"
    assert calls(wb.jax_callable(once)) == ["once"]
