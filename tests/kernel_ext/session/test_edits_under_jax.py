"""An edited kernel, helper or constant under JAX: the new code or an error, never silently the old."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from workbench.interop.jax.native import edits  # noqa: E402  it needs JAX

SPRING = "%%kernel\ndef spring(x: array[float], y: array[float]):\n    i = tid()\n    y[i] = {} * x[i]\n"
MAKE = """f = wb.jax_kernel(spring)
def program(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    wb.launch(spring, dim=3, inputs=[x], outputs=[y])
c = wb.jax_callable(program)
compiled = {
    "jit": jax.jit(f), "names the global": jax.jit(lambda x: wb.jax_kernel(spring)(x)),
    "grad": jax.jit(jax.grad(lambda x: f(x).sum())), "vmap": jax.jit(lambda x: jax.vmap(f)(x[None])[0]),
    "scan": jax.jit(lambda x: jax.lax.scan(lambda a, _: (f(a) / x, None), x, None, length=1)[0]),
    "callable": jax.jit(c), "callable's gradient": jax.jit(jax.grad(lambda x: c(x).sum())),
}
eager = {"f": f, "c": c, "grad": jax.grad(lambda x: f(x).sum()), "vmap": lambda x: jax.vmap(f)(x[None])[0]}
x = jnp.ones(3)"""


@pytest.fixture
def shell(session: Any) -> Iterator[Any]:
    session.run("%load_ext kernel_ext")
    session.run("import workbench as wb, jax, jax.numpy as jnp")
    yield session
    session.shell.user_ns.clear()
    jax.clear_caches()
    gc.collect()
    for calls in edits._calls.values():  # kernels of one text are one target, and two notebooks may both have it
        calls.versions.clear()


def values(shell: Any, which: str) -> dict[str, Any]:
    """What each function gives, or the sentence of its error."""
    space = shell.shell.user_ns
    found = {}
    for name, call in space[which].items():
        try:
            found[name] = float(np.asarray(call(space["x"]))[0])
        except Exception as error:
            found[name] = str(error)
    return found


def ready(shell: Any, text: str) -> None:
    shell.run(text)
    shell.run(MAKE)
    assert set(values(shell, "eager").values()) == set(values(shell, "compiled").values()) == {2.0}


def stopped(shell: Any) -> str:
    """The one sentence with which all compiled functions fail."""
    (said,) = set(values(shell, "compiled").values())
    return str(said)


@pytest.mark.slow
def test_eager_functions_follow_and_compiled_ones_stop_until_they_are_compiled_again(shell: Any) -> None:
    ready(shell, SPRING.format(2.0))
    shown = shell.run(SPRING.format(5.0))
    assert "  7 compiled JAX functions hold the old spring: call jax.clear_caches()\n" in shown
    assert set(values(shell, "eager").values()) == {5.0}
    number = shell.shell.execution_count - 1
    assert f"spring was redefined in cell [{number}]. Call jax.clear_caches()" in stopped(shell)
    jax.clear_caches()
    assert set(values(shell, "compiled").values()) == {5.0}
    assert "hold the old" not in shell.run("%%kernel\ndef other(x: array[float]):\n    x[tid()] = 1.0\n")


@pytest.mark.slow
def test_the_same_text_again_or_restored_is_no_edit(shell: Any) -> None:
    ready(shell, SPRING.format(2.0))
    assert "hold" not in shell.run(SPRING.format(2.0) + "    # and a comment\n")
    assert set(values(shell, "compiled").values()) == {2.0}
    shell.run(SPRING.format(5.0))
    assert "redefined" in stopped(shell)
    shell.run(SPRING.format(2.0))
    assert set(values(shell, "compiled").values()) == set(values(shell, "eager").values()) == {2.0}


@pytest.mark.slow
def test_a_broken_cell_stops_all_and_mending_it_starts_them_again(shell: Any) -> None:
    ready(shell, SPRING.format(2.0))
    shell.run(SPRING.format("nowhere"))
    assert "spring is out of date" in stopped(shell) and "Fix its cell" in stopped(shell)
    assert all("spring is out of date" in str(said) for said in values(shell, "eager").values())
    shell.run(SPRING.format(2.0))
    assert set(values(shell, "compiled").values()) == set(values(shell, "eager").values()) == {2.0}


@pytest.mark.slow
def test_a_plain_cell_with_a_decorator_edits_as_well(shell: Any) -> None:
    text = "@wb.kernel\ndef spring(x: wb.array[wb.float32], y: wb.array[wb.float32]):\n"
    text += "    y[wb.tid()] = {} * x[wb.tid()]"
    ready(shell, text.format(2.0))
    shell.run(text.format(5.0))
    assert set(values(shell, "eager").values()) == {5.0}
    assert f"spring was redefined in cell [{shell.shell.execution_count - 1}]" in stopped(shell)


@pytest.mark.slow
def test_an_edited_helper_or_constant_stops_what_was_compiled_with_the_old_one(shell: Any) -> None:
    helper = "%%kernel -n h\ndef helper(a: float):\n    return a * {}\n"
    shell.run(helper.format(2.0))
    shell.run("K = 1.0")
    ready(shell, SPRING.format("K * helper(1.0)"))
    shown = shell.run(helper.format(3.0))
    assert "now calls this helper" in shown and "7 compiled JAX functions hold the old spring" in shown
    assert set(values(shell, "eager").values()) == {3.0}
    assert "spring uses helper, which was redefined in h." in stopped(shell)
    shell.run(helper.format(2.0))
    assert set(values(shell, "compiled").values()) == {2.0}
    shell.run("K = 4.0")
    assert set(values(shell, "eager").values()) == {8.0}
    assert "spring uses K, which has changed. Call jax.clear_caches()" in stopped(shell)
    jax.clear_caches()
    assert set(values(shell, "compiled").values()) == {8.0}


@pytest.mark.slow
def test_an_edit_that_takes_other_arguments_is_named(shell: Any) -> None:
    ready(shell, SPRING.format(2.0))
    shell.run("%%kernel\ndef spring(x: array[float], k: float, y: array[float]):\n    y[tid()] = k * x[tid()]\n")
    said = str(values(shell, "eager")["f"])
    assert said.startswith("spring was redefined in cell [") and "takes 2 inputs under JAX (x, k), not 1" in said
    assert "Wrap the new one" in said


def test_the_old_kernel_itself_cannot_be_wrapped_again(shell: Any) -> None:
    shell.run(SPRING.format(2.0))
    shell.run("old = spring")
    shell.run(SPRING.format(5.0))
    shell.run("wb.jax_kernel(old)")
    assert "this is the one from before" in "\n".join(shell.errors)


def test_two_live_kernels_of_one_name_are_no_edits(shell: Any) -> None:
    shell.run("import workbench as wb\nspaces = {}, {}")
    text = "def spring(x: array[float], y: array[float]):\n    y[tid()] = {} * x[tid()]\n"
    shell.run(f"for k, s in enumerate(spaces):\n    wb.build_cell({text!r}.format(k + 2.0), s).bind(s)")
    shell.run("both = [jax.jit(wb.jax_kernel(s['spring'])) for s in spaces]")
    for _ in range(2):
        assert "[2.0, 3.0]" in shell.run("print([float(g(jnp.ones(3))[0]) for g in both])")


@pytest.mark.slow
def test_exported_programs_keep_their_version(shell: Any) -> None:
    pytest.importorskip("flatbuffers")
    ready(shell, SPRING.format(2.0))
    shell.run("ones = [wb.jax_export(g)(x) for g in (f, compiled['jit'], c)]")
    shell.run("again = [jax.export.deserialize(e.serialize()) for e in ones]\n[wb.jax_preload(e) for e in again]")
    shell.run(SPRING.format(5.0))
    assert "[2.0, 2.0, 2.0, 2.0, 2.0, 2.0]" in shell.run("print([float(e.call(x)[0]) for e in ones + again])")


def test_records_and_graphs_keep_what_they_hold(shell: Any) -> None:
    shell.run(SPRING.format(2.0))
    shell.run("a, b = wb.ones(3, 'float32', device='cpu'), wb.zeros(3, 'float32', device='cpu')")
    shell.run("l = wb.launch(spring, 3, [a], [b], record_cmd=True)")
    shell.run("with wb.capture() as g:\n    wb.launch(spring, 3, [a], [b])")
    shell.run(SPRING.format(5.0))
    for how in ("l.launch()", "g.launch()"):
        assert "2.0" in shell.run(f"b.fill_(0.0)\n{how}\nprint(b.numpy()[0])")


def test_one_edit_says_the_same_of_all_older_programs() -> None:
    calls = [edits._Calls() for _ in range(3)]
    for each in calls:
        each.set_message("spring was redefined in cell [7].")
    assert len({id(each.message) for each in calls}) == 1
    calls[0].set_message("")
    assert calls[0].message is None and calls[1].message.value == b"spring was redefined in cell [7]."
