"""What a call costs in Python, and what XLA may do with it: nothing runs in Python once a function is jitted."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError
from workbench.events import CompileStarted, subscribe
from workbench.interop.jax.native import target
from workbench.interop.jax.native.thunk import thunk_imports

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def triple(x: wb.array[wb.float32], out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = x[i] * 3.0


@wb.kernel
def tally(x: wb.array[wb.int32], calls: wb.array[wb.int32]):
    i = wb.tid()
    calls[i] = calls[i] + x[i]


def python_calls(run: Any) -> list[str]:
    """Names of the Python functions that run while `run()` does, without `run` itself."""
    seen: list[str] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            seen.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return [name for name in seen if name != "run"]


@pytest.mark.parametrize("size", [8, 1_000_000])
def test_a_jitted_call_runs_no_python(size: int) -> None:
    f, x = jax.jit(wb.jax_kernel(triple)), jnp.ones(size)
    expected = f(x).block_until_ready()
    f(x)  # JAX 0.12 traces the first function of a process twice
    out: list[Any] = []

    def run() -> None:
        out.append(f(x))

    assert python_calls(run) == []
    np.testing.assert_array_equal(out[0], expected)


def test_a_jitted_gradient_runs_no_python() -> None:
    f = jax.jit(jax.grad(lambda x: (wb.jax_kernel(triple)(x) ** 2).sum()))
    x = jnp.arange(8.0)
    f(x).block_until_ready()
    out: list[Any] = []

    def run() -> None:
        out.append(f(x))

    assert python_calls(run) == []
    np.testing.assert_array_equal(out[0], 18 * x)


def test_new_values_do_not_trace_again() -> None:
    traced = []
    kernel = wb.jax_kernel(triple)

    @jax.jit
    def f(x: Any) -> Any:
        traced.append(1)
        return kernel(x)

    for value in range(3):
        np.testing.assert_array_equal(f(jnp.full(4, float(value))), np.full(4, 3.0 * value))
    assert len(traced) == 1


def calls_in(text: str) -> int:
    return text.count('custom_call_target="workbench.')


def compiled(effect: bool) -> str:
    f = wb.jax_kernel(triple, has_side_effect=effect)

    @jax.jit
    def program(x: Any) -> Any:
        f(x + 1.0)
        return f(x), f(x)

    return program.lower(jnp.ones(4)).compile().as_text()


def test_equal_calls_are_merged_and_unused_ones_dropped_unless_they_have_effects() -> None:
    assert calls_in(compiled(effect=False)) == 1
    assert calls_in(compiled(effect=True)) == 3


def test_effects_work_under_vmap_and_scan_and_grad() -> None:
    f = wb.jax_kernel(triple, has_side_effect=True)
    x = jnp.ones((2, 4))
    np.testing.assert_array_equal(jax.jit(jax.vmap(f))(x), 3 * x)
    last, _ = jax.lax.scan(lambda c, _: (f(c), None), x[0], None, length=2)
    np.testing.assert_array_equal(last, 9 * x[0])
    np.testing.assert_array_equal(jax.grad(lambda x: f(x).sum())(x[0]), 3 * x[0])


def test_memory_is_reused_only_where_nobody_needs_it() -> None:
    f = wb.jax_kernel(tally, num_outputs=1, in_out_argnames=["calls"])

    @jax.jit
    def twice(calls: Any) -> Any:
        first = f(jnp.arange(4), calls)
        return f(jnp.arange(4), first), first, calls

    results = twice(jnp.zeros(4, jnp.int32))
    assert [r.tolist() for r in results] == [[0, 2, 4, 6], [0, 1, 2, 3], [0, 0, 0, 0]]


def test_the_same_kernel_wrapped_twice_shares_its_target() -> None:
    lower = lambda: jax.jit(wb.jax_kernel(triple)).lower(jnp.ones(4)).as_text()  # noqa: E731
    assert lower() == lower()


def test_the_adjoint_is_built_only_for_a_gradient() -> None:
    built: list[str] = []

    @wb.kernel
    def fresh(x: wb.array[wb.float32], out: wb.array[wb.float32]):
        i = wb.tid()
        out[i] = x[i] * 7.25

    end = subscribe(lambda e: built.append(e.direction), CompileStarted)  # type: ignore[attr-defined]
    f = wb.jax_kernel(fresh)
    np.testing.assert_array_equal(f(jnp.ones(3)), np.full(3, 7.25))
    assert built == ["forward"]
    np.testing.assert_array_equal(jax.grad(lambda x: f(x).sum())(jnp.ones(3)), np.full(3, 7.25))
    end()
    assert built == ["forward", "adjoint"]


def test_a_changed_constant_is_seen_by_the_next_call() -> None:
    scope: dict[str, Any] = {"wb": wb, "FACTOR": 2.0}
    text = "def k(x: wb.array[wb.float32], y: wb.array[wb.float32]):\n    y[wb.tid()] = x[wb.tid()] * FACTOR\n"
    exec(text, scope)
    f = wb.jax_kernel(wb.kernel(scope["k"], source=text))
    assert f(jnp.ones(2)).tolist() == [2, 2]
    scope["FACTOR"] = 5.0
    assert f(jnp.ones(2)).tolist() == [5, 5]
    assert jax.jit(f)(jnp.ones(2)).tolist() == [5, 5]


def test_a_kernel_of_a_broken_cell_is_refused() -> None:
    @wb.kernel
    def old(x: wb.array[wb.float32], out: wb.array[wb.float32]):
        out[wb.tid()] = x[wb.tid()]

    f = wb.jax_kernel(old)
    assert f(jnp.ones(2)).tolist() == [1, 1]
    old.mark_stale("its cell has an error in line 2.")
    with pytest.raises(LaunchError, match="old is out of date: its cell has an error in line 2"):
        f(jnp.ones(2))


def test_jax_and_wb_launch_give_the_same_bits() -> None:
    x = np.random.default_rng(0).random(1000, np.float32)
    out = wb.zeros(1000, dtype=wb.float32, device="cpu")
    wb.launch(triple, 1000, inputs=[wb.array(x, device="cpu")], outputs=[out])
    np.testing.assert_array_equal(wb.jax_kernel(triple)(x), out.numpy())


@pytest.mark.slow
def test_jax_is_neither_imported_nor_started_before_the_first_call() -> None:
    program = """
import sys
import workbench as wb
text = "def k(x: wb.array[wb.float32], y: wb.array[wb.float32]):\\n    y[wb.tid()] = x[wb.tid()]\\n"
scope = {"wb": wb}
exec(text, scope)
f = wb.jax_kernel(wb.kernel(scope["k"], source=text))
assert "jax" not in sys.modules
import jax
from jax._src.xla_bridge import backends_are_initialized as started
assert not started()
assert jax.eval_shape(f, jax.ShapeDtypeStruct((3,), "float32")).shape == (3,)
assert not started()
x = jax.jit(lambda x: x + 1)(jax.numpy.zeros(3))
before = set(sys.modules)
print(jax.jit(f)(x), f(x))
needed = {"workbench.interop.jax.wrappers.jax_kernel", "workbench.api.launches.launch_tiled"}
late = {*wb._MODULES, "jax.extend", "jax._src.pallas", "workbench.autodiff.reverse_mode"}
print(late & (set(sys.modules) - before), {*wb._MODULES} & before - needed)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[1. 1. 1.] [1. 1. 1.]\nset() set()\n", done.stderr


def test_a_kernels_handler_is_one_for_all_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    made = target.native_image
    monkeypatch.setattr(target, "native_image", lambda name, text, **how: texts.append(text) or made(name, text, **how))

    @wb.kernel
    def plus_77(x: wb.array[wb.float32], y: wb.array[wb.float32]):
        y[wb.tid()] = x[wb.tid()] + 77.0

    np.testing.assert_array_equal(wb.jax_kernel(plus_77)(jnp.zeros(3)), [77.0] * 3)
    (text,) = texts
    assert "inttoptr" not in text  # what is at an address of this process is linked
    assert not [a for a in thunk_imports(0).values() if a and str(a) in text]
