"""Checks under JAX: what was traced with them reports its fault as an error with line, index and thread."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.jax.processes.test_jax_processes import finish, start
from workbench.errors import KernelFault, LaunchError
from workbench.interop.jax.native import faults
from workbench.interop.jax.native.descriptor import address_of

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.struct
class Table:
    values: wb.array[float]
    at: wb.array[int]


@wb.kernel
def gather(x: wb.array[float], k: wb.array[int], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[k[i]]


@wb.kernel
def logs(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    assert x[i] > 0.0, "x must be positive"
    y[i] = wb.log(x[i])


@wb.kernel
def shares(a: wb.array[int], b: wb.array[int], y: wb.array[int]):
    i = wb.tid()
    y[i] = a[i] // b[i] + a[i] % b[i]


@wb.kernel
def shifts(a: wb.array[int], n: int, y: wb.array[int]):
    i = wb.tid()
    y[i] = a[i] << n


@wb.kernel
def scatter(k: wb.array2d[int], out: wb.array2d[float]):
    i, j = wb.tid()
    wb.atomic_add(out, k[i, j], j, 1.0)


@wb.kernel
def looked_up(t: Table, y: wb.array[float]):
    i = wb.tid()
    y[i] = t.values[t.at[i]]


@wb.kernel
def parts(v: wb.array[wb.vec3], k: wb.array[int], m: wb.array[wb.mat22], y: wb.array[float]):
    i = wb.tid()
    y[i] = v[i][k[i]] + m[i][k[i], 0]


@wb.kernel
def moved(x: wb.array[float], k: wb.array[int], s: float):
    i = wb.tid()
    x[i] = s * x[k[i]]


@wb.kernel
def counted(n: wb.array[int], y: wb.array[float]):
    i = wb.tid()
    y[i] = 0.0
    for _ in range(0, 10, n[i]):
        y[i] += 1.0


def twice(x: wb.array[float], k: wb.array[int], y: wb.array[float]):
    t = wb.empty(3)
    wb.launch(gather, dim=3, inputs=[x, k], outputs=[t])
    wb.launch(gather, dim=3, inputs=[t, k], outputs=[y])


X = jnp.arange(1.0, 5.0, dtype=jnp.float32)
BAD, GOOD = jnp.array([0, 100, 2], jnp.int32), jnp.array([0, 1, 2], jnp.int32)
INDEX = "x has 4 elements along axis 0; thread (1,) asked for index 100."


def ints(*numbers: int) -> Any:
    return jnp.array(numbers, jnp.int32)


def f() -> Any:
    return wb.jax_kernel(gather, launch_dims=3, output_dims=3)


def g(mode: str | None = None) -> Any:
    return wb.jax_callable(twice, output_dims=3, graph_mode=mode)


Case = tuple[Callable[[], Any], str]
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "eager": lambda k: f()(X, k),
    "jit": lambda k: jax.jit(f())(X, k),
    "grad": lambda k: jax.grad(lambda x: f()(x, k).sum())(X),
    "jit of grad": lambda k: jax.jit(jax.grad(lambda x: f()(x, k).sum()))(X),
    "value_and_grad": lambda k: jax.value_and_grad(lambda x: f()(x, k).sum())(X)[1],
    "jvp": lambda k: jax.jvp(lambda x: f()(x, k), (X,), (X,))[1],
    "jit of jvp": lambda k: jax.jit(lambda x: jax.jvp(lambda x: f()(x, k), (x,), (x,))[1])(X),
    "hessian": lambda k: jax.hessian(lambda x: (f()(x, k) ** 2).sum())(X),
    "vmap": lambda k: jax.vmap(f(), (0, None))(jnp.stack([X, X]), k),
    "jit of vmap": lambda k: jax.jit(jax.vmap(f(), (None, 0)))(X, jnp.stack([GOOD, k])),
    "vmap of grad": lambda k: jax.vmap(jax.grad(lambda x, k: f()(x, k).sum()), (None, 0))(X, jnp.stack([GOOD, k])),
    "scan": lambda k: jax.lax.scan(lambda c, k: (c, f()(c, k)), X, jnp.stack([GOOD, k]))[1],
    "gradient of scan": lambda k: jax.grad(
        lambda x: jax.lax.scan(lambda c, k: (c + f()(x, k).sum(), None), 0.0, jnp.stack([GOOD, k]))[0]
    )(X),
    "while_loop": lambda k: jax.lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, f()(X, k)), (0, X[:3]))[1],
    "cond": lambda k: jax.lax.cond(X[0] > 0, lambda: f()(X, k), lambda: X[:3]),
    "checkpoint": lambda k: jax.grad(jax.checkpoint(lambda x: (f()(x, k) ** 2).sum()))(X),
    "linearize": lambda k: jax.linearize(lambda x: f()(x, k), X)[1](X),
    "lax.map": lambda k: jax.lax.map(lambda k: f()(X, k), jnp.stack([GOOD, k])),
    "disable_jit": lambda k: without_jit(lambda: f()(X, k)),
    "compiled ahead": lambda k: jax.jit(f()).lower(X, k).compile()(X, k),
    "callable": lambda k: g()(X, k),
    "jit of callable": lambda k: jax.jit(g())(X, k),
    "gradient of callable": lambda k: jax.grad(lambda x: g()(x, k).sum())(X),
    "vmap of callable": lambda k: jax.vmap(g(), (0, None))(jnp.stack([X, X]), k),
    "callable, a call per launch": lambda k: jax.jit(g("jax"))(X, k),
    "callable, called back": lambda k: g("none")(X, k),
    "callable, called back in jit": lambda k: jax.jit(g("none"))(X, k),
}


def without_jit(run: Callable[[], Any]) -> Any:
    with jax.disable_jit():
        return run()


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_fault_is_an_exception_and_breaks_nothing(name: str) -> None:
    run = TRANSFORMS[name]
    with wb.checks():
        with pytest.raises((KernelFault, jax.errors.JaxRuntimeError)) as error:
            jax.block_until_ready(run(BAD))
        said = str(error.value)
        assert "asked for index 100" in said and "y[i] = x[k[i]]" in said and "thread (1,)" in said
        checked = run(GOOD)
    plain = run(GOOD)
    assert np.array_equal(checked, plain) and np.isfinite(plain).all()


KINDS: dict[str, Case] = {
    "an assert": (lambda: wb.jax_kernel(logs)(X - 3), "x must be positive.  Thread (0,): -2.0 > 0.0 does not hold."),
    "an assert in jit": (lambda: jax.jit(wb.jax_kernel(logs))(X - 3), "x must be positive.  Thread (0,)"),
    "division by zero": (
        lambda: wb.jax_kernel(shares)(ints(4, 5), ints(2, 0)), "divided by zero: thread (1,) computed 5 // 0."
    ),
    "a shift": (lambda: jax.jit(wb.jax_kernel(shifts))(ints(4, 5), 40), "go by 0 to 31 bits; thread (0,) computed"),
    "two dimensions": (
        lambda: wb.jax_kernel(scatter, output_dims=(3, 2), init={"out": 0})(ints(0, 1, 2, 5).reshape(2, 2)),
        "out has 3 elements along axis 0; thread (1, 1) asked for index 5.",
    ),
    "a struct": (
        lambda: wb.jax_kernel(looked_up, launch_dims=2, output_dims=2)({"values": X, "at": ints(1, -9)}),
        "t.values has 4 elements along axis 0; thread (1,) asked for index -9.",
    ),
    "components": (
        lambda: wb.jax_kernel(parts, launch_dims=2)(jnp.ones((2, 3)), ints(0, 3), jnp.ones((2, 2, 2))),
        "components 0 to 2; thread (1,) asked for component 3.",
    ),
    "in and out": (
        lambda: wb.jax_kernel(moved, in_out_argnames="x", launch_dims=2)(X, ints(0, 4), 2.0), "asked for index 4."
    ),
    "a step of 0": (lambda: jax.jit(wb.jax_kernel(counted))(ints(1, 0)), "The step of range() is 0 in thread (1,)"),
    "which batch": (
        lambda: jax.vmap(jax.vmap(f(), (0, None)), (None, 0))(jnp.stack([X, X]), jnp.stack([GOOD, BAD])),
        "This was batch (1, 0) of jax.vmap.  2 faults in this launch",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_fault_says_what_it_says_in_a_launch(name: str) -> None:
    run, said = KINDS[name]
    with wb.checks(), pytest.raises((KernelFault, jax.errors.JaxRuntimeError)) as error:
        jax.block_until_ready(run())
    assert said in str(error.value), str(error.value)


def test_an_eager_fault_is_that_of_the_launch() -> None:
    out = wb.zeros(3)
    with wb.checks():
        with pytest.raises(KernelFault) as launched:
            wb.launch(gather, dim=3, inputs=[wb.array(np.asarray(X)), wb.array(np.asarray(BAD))], outputs=[out])
        with pytest.raises(KernelFault) as called:
            f()(X, BAD)
        with pytest.raises(jax.errors.JaxRuntimeError) as jitted:
            jax.jit(f())(X, BAD).block_until_ready()
    assert str(called.value) == str(launched.value) and str(launched.value) in str(jitted.value)
    assert (called.value.thread, called.value.values, called.value.count) == ((1,), (100,), 1)


def test_a_large_launch_fails_when_its_last_thread_is_done() -> None:
    count = 1_000_000
    k = jnp.zeros(count, jnp.int32).at[-1].set(4)
    large = wb.jax_kernel(gather, launch_dims=count, output_dims=count)
    with wb.checks():
        with pytest.raises(KernelFault, match=r"thread \(999999,\) asked for index 4"):
            large(X, k)
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"thread \(999999,\) asked for index 4"):
            jax.jit(lambda x, k: large(x, k) + 1)(X, k).block_until_ready()
        assert large(X, k - 1)[-1] == 4


def test_who_decides_is_as_for_a_launch() -> None:
    before = wb.set_checks(True)
    try:
        with pytest.raises(KernelFault):
            f()(X, BAD)
        with wb.checks(False):
            assert f()(X, BAD).shape == (3,)
    finally:
        wb.set_checks(before)
    assert f()(X, BAD).shape == (3,)
    gather.checks = True  # as its cell may say
    try:
        with pytest.raises(KernelFault), wb.checks(False):
            f()(X, BAD)
    finally:
        gather.checks = None


def test_a_program_keeps_the_checks_it_was_traced_with() -> None:
    plain, checked = jax.jit(f()), jax.jit(f())
    assert plain(X, BAD).shape == (3,)
    with wb.checks():
        assert plain(X, BAD).shape == (3,)
        with pytest.raises(jax.errors.JaxRuntimeError):
            checked(X, BAD).block_until_ready()
    with pytest.raises(jax.errors.JaxRuntimeError):
        checked(X, BAD).block_until_ready()


@pytest.mark.slow
def test_a_fault_outlives_the_kernel_and_python_may_be_silent() -> None:
    """The kernel may be gone, and at the end of a process Python: the handler then says the numbers."""

    @wb.kernel
    def gather(x: wb.array[float], k: wb.array[int], y: wb.array[float]):
        i = wb.tid()
        y[i] = 3.0 * x[k[i]]

    with wb.checks():
        compiled = jax.jit(wb.jax_kernel(gather, launch_dims=3, output_dims=3)).lower(X, BAD).compile()
    del gather
    place = faults.ctypes.c_void_p.from_address(address_of(faults.EXPLAIN))
    before, place.value = place.value, None
    try:
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"'gather': operation .* faulted in thread 1; .*: 100"):
            compiled(X, BAD).block_until_ready()
    finally:
        place.value = before
    jax.clear_caches()
    gc.collect()
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"thread \(1,\) asked for index 100\."):
        compiled(X, BAD).block_until_ready()


def test_a_recorded_call_runs_again_with_its_checks() -> None:
    with wb.checks():
        call = f()
        with wb.record(inputs=True) as recording, pytest.raises(KernelFault):
            call(X, BAD)
        entry = next(e for e in recording.entries if e.kind == "jax")
        with pytest.raises(KernelFault, match="asked for index 100"):
            entry.launch()


@pytest.mark.slow
def test_an_export_keeps_its_checks_and_their_words(tmp_path: Path) -> None:
    pytest.importorskip("flatbuffers")
    shapes = jax.ShapeDtypeStruct((4,), "float32"), jax.ShapeDtypeStruct((3,), "int32")
    with wb.checks(), pytest.raises(LaunchError, match=r"Export outside of it\. wb\.set_checks\(True\) exports tests"):
        wb.jax_export(f())(*shapes)
    before = wb.set_checks(True)
    try:
        program = wb.jax_export(f())(*shapes)
    finally:
        wb.set_checks(before)
    file = tmp_path / "program"
    file.write_bytes(program.serialize())
    (said,) = finish(start("loaded_checks.py", file))
    assert INDEX in said and "y[i] = x[k[i]]" in said


@pytest.mark.slow
def test_one_device_of_several_does_not_fail_alone() -> None:
    assert finish(start("faults.py")) == ["late, and at once\n"]


@wb.kernel
def guarded(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    if i > 0:
        y[i] = x[i]


def copied(x: wb.array[float], y: wb.array[float]):
    wb.launch(guarded, 4, [x], [y])


@pytest.mark.parametrize("wrapped", [wb.jax_kernel, lambda _: wb.jax_callable(copied, output_dims=4)])
def test_what_no_thread_writes_is_nan_where_checks_are_the_default(wrapped: Callable[..., Any]) -> None:
    """As in notebooks: no leftover of XLA's memory."""
    before = wb.set_checks(True)
    try:
        f = jax.jit(wrapped(guarded))
        found = [np.asarray(f(jnp.ones(4))).tolist() for _ in range(3)]
    finally:
        wb.set_checks(before)
    assert all(np.isnan(row[0]) and row[1:] == [1.0, 1.0, 1.0] for row in found)


@pytest.mark.parametrize("wrap", [lambda: wb.jax_kernel(logs), lambda: wb.jax_callable(launches_logs)])
@pytest.mark.parametrize(
    "transform",
    [
        jax.jit,
        lambda f: jax.jit(jax.grad(lambda x: f(x).sum())),
        lambda f: jax.jit(lambda x: (f(x), x)[1]),
        lambda f: jax.jit(jax.grad(jax.checkpoint(lambda x: f(x).sum()))),
        lambda f: jax.jit(lambda x: jax.vmap(jax.grad(lambda x: f(x).sum()))(x[None])),
        lambda f: lambda x: jax.lax.scan(lambda c, _: (jax.grad(lambda x: f(x).sum())(c), 0), x, None, length=2),
        lambda f: lambda x: jax.vjp(f, x)[1](x),
        lambda f: lambda x: jax.jvp(f, (x,), (x,)),
        lambda f: jax.hessian(lambda x: f(x).sum()),
    ],
)
def test_an_assert_is_reported_whatever_uses_the_results(
    wrap: Callable[[], Any], transform: Callable[[Any], Callable[..., Any]]
) -> None:
    with wb.checks():
        function = transform(wrap())
        with pytest.raises(Exception, match="x must be positive"):
            jax.block_until_ready(function(jnp.array([1.0, -1.0], jnp.float32)))
        jax.block_until_ready(function(jnp.array([1.0, 2.0], jnp.float32)))


def launches_logs(x: wb.array[float], y: wb.array[float]) -> None:
    wb.launch(logs, x.shape, inputs=[x], outputs=[y])
