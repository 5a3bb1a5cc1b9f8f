"""What XLA calls while a recorder is open: listed with all else, and run again outside JAX where operands were kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.interop.jax.recording import call_log
from workbench.runtime.records import external_calls

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def axpy(a: float, x: wb.array(dtype=float), y: wb.array(dtype=float), out: wb.array(dtype=float)):
    i = wb.tid()
    out[i] = a * x[i] + y[i]


@wb.kernel
def bump(x: wb.array(dtype=float)):
    i = wb.tid()
    x[i] = x[i] + 1.0


AXPY = wb.jax_kernel(axpy)
X, Y = np.arange(4, dtype=np.float32), np.ones(4, np.float32)


def calls(rec: wb.Recorder) -> list:
    return [e for e in rec if e.kind == "jax"]


def test_calls_stand_in_order_among_launches() -> None:
    f = jax.jit(lambda a, x, y: AXPY(a, AXPY(a, x, y), y))
    z = wb.zeros(4)
    f(2.0, X, Y).block_until_ready()
    with wb.record() as rec:
        wb.launch(bump, 4, [z])
        f(2.0, X, Y).block_until_ready()
        wb.launch(bump, 4, [z])
    assert [(e.kind, e.name, e.size) for e in rec] == [
        ("forward", "bump", (4,)), ("jax", "axpy", (4,)), ("jax", "axpy", (4,)), ("forward", "bump", (4,)),
    ]  # fmt: skip
    call = rec[1]
    assert [o.shape for o in call.operands] == [(), (4,), (4,)] and call.results[0].dtype == "float32"
    assert call.seconds is not None and 0 < call.seconds < 60 and call.bytes == 4 + 3 * 16
    assert rec[0].started <= call.started <= rec[3].started
    assert {s.lane for s in rec.spans()} == {"cpu", "jax"}


def test_the_first_use_of_jax_inside_a_record_is_seen_and_nothing_outside() -> None:
    with wb.record() as rec:
        wb.jax_kernel(axpy)(0.5, X, Y).block_until_ready()
    AXPY(0.5, X, Y).block_until_ready()
    assert len(calls(rec)) == 1


def test_calls_run_again_outside_jax() -> None:
    gradient = jax.jit(jax.grad(lambda a, x: jnp.sum(AXPY(a, x, Y) ** 2), argnums=(0, 1)))
    with wb.record(inputs=True) as rec:
        expected = gradient(2.0, X)
    assert [e.name for e in calls(rec)] == ["axpy", "axpy (adjoint)"]
    rec.replay()
    forward, adjoint = calls(rec)
    assert forward.outputs[0].numpy().tolist() == (2 * X + Y).tolist()
    found = [o.numpy() for o in adjoint.outputs]
    assert any(np.allclose(f, expected[1]) for f in found if f.shape == (4,))
    assert any(np.allclose(f, expected[0]) for f in found if f.shape == (1,))


def test_calls_become_nodes_of_a_graph() -> None:
    with wb.record(inputs=True) as rec:
        expected = np.asarray(AXPY(2.0, X, Y))
    (call,) = calls(rec)
    with wb.capture() as graph:
        rec.replay()
    assert [n.title for n in graph.nodes][-1] == "axpy" and not call.outputs[0].numpy().any(), "nothing ran"
    graph.launch()
    assert np.array_equal(call.outputs[0].numpy(), expected)


def test_batches_run_again() -> None:
    many = np.arange(12, dtype=np.float32).reshape(3, 4)
    with wb.record(inputs=True) as rec:
        expected = jax.vmap(lambda x: AXPY(3.0, x, Y))(many)
    (call,) = calls(rec)
    call.launch()
    assert np.array_equal(call.outputs[0].numpy(), expected)


def test_without_inputs_a_call_cannot_run_again() -> None:
    with wb.record() as rec:
        AXPY(1.0, X, Y).block_until_ready()
    with pytest.raises(wb.LaunchError, match=r"operands of JAX's call of axpy were not kept.*inputs=True"):
        rec.replay()


def test_a_large_call_runs_again_on_this_thread() -> None:
    size = 1_500_000
    x = np.linspace(0, 1, size, dtype=np.float32)
    with wb.record(inputs=True) as rec:
        expected = np.asarray(AXPY(2.0, x, x))
    (call,) = calls(rec)
    call.launch()
    assert np.array_equal(call.outputs[0].numpy(), expected)


def test_two_recorders_hear_their_own_time() -> None:
    with wb.record() as outer:
        AXPY(1.0, X, Y).block_until_ready()
        with wb.record() as inner:
            AXPY(2.0, X, Y).block_until_ready()
        AXPY(3.0, X, Y).block_until_ready()
    assert len(calls(outer)) == 3 and len(calls(inner)) == 1


def test_what_finds_no_room_is_counted() -> None:
    AXPY(1.0, X, Y).block_until_ready()
    (source,) = [s for s in external_calls._sources if isinstance(s, call_log.Notes)]
    with wb.record() as rec:
        source._head.value = call_log.CAPACITY - 1  # as if so many calls had been noted
        for _ in range(3):
            AXPY(1.0, X, Y).block_until_ready()
    assert len(calls(rec)) == 1 and rec.lost == 2
    assert "2 more could not be recorded" in repr(rec).splitlines()[0]


def test_operands_beyond_the_room_are_noted_without_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_log, "ROOM", 60)
    with wb.record(inputs=True) as rec:
        AXPY(1.0, X, Y).block_until_ready()
        AXPY(1.0, X, Y).block_until_ready()
    kept = [all(o.data is not None for o in c.operands) for c in calls(rec)]
    assert kept == [True, False]


def test_a_call_whose_operands_were_not_kept_is_not_saved(tmp_path: Path) -> None:
    with wb.record() as rec:
        AXPY(1.0, X, Y).block_until_ready()
    with pytest.warns(UserWarning, match="as they are now"), pytest.raises(wb.RecordError, match="were not kept"):
        rec.save(tmp_path / "run.wbr")
