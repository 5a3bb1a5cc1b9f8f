"""Replay: native, in part, with other arguments; faults and interrupts in it; contents kept and put back."""

from __future__ import annotations

import _thread
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.graphs.plan_cpu import CpuPlan
from workbench.runtime.records.replay import Prepared


@wb.kernel
def drift(dt: float, x: wb.array(dtype=float), v: wb.array(dtype=float)):
    i = wb.tid()
    x[i] = x[i] + dt * v[i]


@wb.kernel
def shifted(n: int, x: wb.array(dtype=float), y: wb.array(dtype=float)):
    i = wb.tid()
    y[i] = x[i + n]


@wb.kernel
def square(x: wb.array(dtype=float), y: wb.array(dtype=float)):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def count_up(rounds: int, x: wb.array(dtype=int)):
    i = wb.tid()
    for _ in range(rounds):
        x[i] = (x[i] * 3 + 1) % 1000003


def state() -> tuple[wb.array, wb.array]:
    return wb.array([0.0, 0.0]), wb.array([1.0, 2.0])


def test_neighbouring_launches_are_one_native_call() -> None:
    x, v = state()
    with wb.record() as rec:
        for _ in range(5):
            wb.launch(drift, 2, inputs=[0.5, x, v])
        v.fill_(1.0)
        for _ in range(3):
            wb.launch(drift, 2, inputs=[0.5, x, v])
    steps = Prepared(rec.entries).steps
    assert [len(s.nodes) if isinstance(s, CpuPlan) else s.kind for s in steps] == [9]
    before = x.version, v.version
    rec.replay()
    assert (x.version, v.version) == (before[0] + 8, before[1] + 1)
    assert x.numpy().tolist() == [2.5 + 1.5 + 2.5 + 1.5, 5 + 1.5 + 2.5 + 1.5]


def test_copies_sums_and_fills_are_part_of_it() -> None:
    x = wb.array(np.arange(6, dtype=np.float32))
    y, z = wb.zeros(3), wb.zeros(6)
    words = wb.zeros(4, dtype=wb.vec3)
    with wb.record() as rec:
        wb.copy(y, x[::2])
        y.add_(x[:3])
        z[1::2].fill_(7.0)
        words.fill_(2.0)
        wb.copy(x[:5], x[1:])
    steps = Prepared(rec.entries).steps
    assert [len(s.nodes) if isinstance(s, CpuPlan) else s.kind for s in steps] == [4, "copy"]
    x.assign(np.arange(6, dtype=np.float32))
    for array in (y, z, words):
        array.fill_(0.0)
    rec.replay()
    assert y.numpy().tolist() == [0, 3, 6] and z.numpy().tolist() == [0, 7, 0, 7, 0, 7]
    assert (words.numpy() == 2).all() and x.numpy().tolist() == [1, 2, 3, 4, 5, 5]


def test_a_number_is_for_one_replay_and_every_launch() -> None:
    x, v = state()
    with wb.record() as rec:
        wb.launch(drift, 2, inputs=[0.5, x, v])
        wb.launch(drift, 2, inputs=[1.0, x, v])
    for changes, expected in (({"dt": 2}, 4.0), ({}, 1.5), ({"dt": np.float32(0.25)}, 0.5)):
        x.fill_(0.0)
        rec.replay(**changes)
        assert x.numpy().tolist() == [expected, 2 * expected]


def test_a_number_that_does_not_fit_changes_nothing() -> None:
    x, y = wb.array([1.0, 2.0]), wb.zeros(2)
    with wb.record() as rec:
        wb.launch(shifted, 1, inputs=[1, x], outputs=[y])
    y.fill_(0.0)
    with pytest.raises(wb.LaunchError, match="is a float"):
        rec.replay(n=0.5)
    with pytest.raises(wb.LaunchError, match="Did you mean n"):
        rec.replay(nn=1)
    assert y.numpy().tolist() == [0, 0]
    rec.replay()
    assert y.numpy().tolist() == [2, 0]


def test_an_array_is_replaced_everywhere() -> None:
    x, y, z = wb.array([1.0, 2.0], requires_grad=True), wb.zeros(2, requires_grad=True), wb.zeros(2)
    with wb.record() as rec:
        with wb.Tape() as tape:
            wb.launch(square, 2, inputs=[x], outputs=[y])
        wb.copy(z, x)
        wb.copy(z[:1], x[1:])
        tape.backward(grads={y: np.ones(2)})
    new = wb.array([3.0, 4.0], requires_grad=True)
    rec.replay(x=new)
    assert y.numpy().tolist() == [9, 16] and z.numpy().tolist() == [4, 4]
    assert new.grad is not None and x.grad is not None
    assert new.grad.numpy().tolist() == [6, 8] and x.grad.numpy().tolist() == [2, 4]
    with pytest.raises(wb.LaunchError, match="the new one has none"):
        rec.replay(x=wb.array([3.0, 4.0]))


def test_several_arrays_of_one_name_are_told_apart_by_a_mapping() -> None:
    x, v = state()
    other = wb.zeros(2)
    with wb.record() as rec:
        wb.launch(drift, 2, inputs=[1.0, x, v])
        wb.launch(drift, 2, inputs=[1.0, other, v])
    new = wb.zeros(2)
    with pytest.raises(wb.LaunchError, match="2 different arrays"):
        rec.replay(x=new)
    rec.replay({other: new})
    assert [a.numpy().tolist() for a in (x, other, new)] == [[2, 4], [1, 2], [1, 2]]


def test_a_mapping_that_says_nothing_of_this_record_is_refused() -> None:
    x, v = state()
    with wb.record() as rec:
        wb.launch(drift, 2, inputs=[1.0, x, v])
    for given, sentence in (
        ({wb.zeros(2): x}, r"array\[float32\] of shape \(2,\) to replace is not used by this record"),
        ({"x": x}, "'x' is not an array.  By name it is rec.replay"),
        ({x: np.zeros(2, np.float32)}, r"this is ndarray.  Make it an array: wb.array"),
        (
            {x: wb.zeros(3)},
            r"The array was an array\[float32\] of shape \(2,\); this is array.*3,",
        ),
        ([x], "takes a mapping of recorded arrays to other ones; this is list"),
        (wb.zeros(2), "this is array"),
    ):
        with pytest.raises(wb.LaunchError, match=sentence):
            rec.replay(given)
    assert x.numpy().tolist() == [1, 2], "nothing ran"
    rec.replay({})
    assert x.numpy().tolist() == [2, 4]


def test_parts_of_a_record() -> None:
    x, v = state()
    y = wb.zeros(2)
    with wb.record() as rec:
        wb.launch(drift, 2, inputs=[1.0, x, v])
        wb.launch(square, 2, inputs=[x], outputs=[y])
        wb.launch(drift, 2, inputs=[1.0, x, v])
    assert [e.name for e in rec[1:]] == ["square", "drift"]
    assert len(rec.only(kernel=drift)) == len(rec.only(kernel="drift")) == 2
    rec[1:2].replay()
    assert y.numpy().tolist() == [4, 16]
    rec[-1].launch()
    assert x.numpy().tolist() == [3, 6]


def test_a_fault_ends_a_replay_as_it_ends_a_launch() -> None:
    x, v = state()
    with wb.record() as rec, wb.checks():
        wb.launch(drift, 2, inputs=[1.0, x, v])
        wb.launch(shifted, 2, inputs=[0, x], outputs=[v])
        wb.launch(drift, 2, inputs=[1.0, x, v])
    x.fill_(0.0)
    v.fill_(1.0)
    with pytest.raises(wb.KernelFault, match="index 4") as found:
        rec.replay(n=4)
    assert found.value.count == 2
    assert x.numpy().tolist() == [1, 1], "what came before has run, what comes after has not"
    rec.replay(n=0)


@pytest.mark.slow
def test_ctrl_c_ends_a_long_replay() -> None:
    # A shell that starts the tests in the background has Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    x = wb.zeros(1, dtype=int)
    with wb.record() as rec:
        wb.launch(count_up, 1, inputs=[20_000], outputs=[x])
    long = wb.Recorder(rec.entries * 20_000)
    long._table({})  # prepared, so that the interrupt meets the native call
    started = threading.Event()

    def interrupt() -> None:
        started.wait()
        _thread.interrupt_main()

    helper = threading.Thread(target=interrupt)
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        started.set()
        long.replay()
    helper.join()
    signal.signal(signal.SIGINT, before)
    rec.replay()


def test_contents_are_kept_before_first_use_and_put_back() -> None:
    x, v = state()
    y = wb.zeros(2)
    with wb.record(inputs=True) as rec:
        wb.launch(drift, 2, inputs=[1.0, x, v])
        wb.launch(square, 2, inputs=[x], outputs=[y])
    v.fill_(7.0)
    rec.rewind()
    assert [a.numpy().tolist() for a in (x, v, y)] == [[0, 0], [1, 2], [0, 0]]
    rec.replay(dt=2.0)
    assert y.numpy().tolist() == [4, 16]
    with wb.record() as plain:
        wb.launch(square, 2, inputs=[x], outputs=[y])
    with pytest.raises(wb.LaunchError, match="inputs=True"):
        plain.rewind()


def test_an_open_recorder_sees_a_replay() -> None:
    x, v = state()
    with wb.record() as first:
        wb.launch(drift, 2, inputs=[1.0, x, v])
    with wb.record() as second:
        first.replay(dt=3.0)
    assert [r.arguments["dt"] for r in second.launches] == [3.0]
    assert x.numpy().tolist() == [4, 8]


def test_entries_know_their_time_and_line() -> None:
    x, v = state()
    with wb.record() as rec:
        wb.launch(drift, 2, inputs=[1.0, x, v])
    (entry,) = rec
    assert entry.seconds is not None and entry.seconds > 0 and entry.bytes == 16
    assert entry.site is not None and entry.site.filename == __file__
    assert "wb.launch(drift" in Path(__file__).read_text().splitlines()[entry.site.line - 1]


def test_numbers_too_large_for_a_float32_are_refused_and_infinity_is_not() -> None:
    x, v = state()
    with wb.record() as rec, pytest.raises(wb.LaunchError, match="does not fit dt, which is float32"):
        wb.launch(drift, 2, inputs=[1e300, x, v])
    with wb.record() as rec:
        wb.launch(drift, 2, inputs=[np.inf, x, v])
    assert np.isinf(x.numpy()).all()
    x.fill_(0.0)
    with pytest.raises(wb.LaunchError, match="does not fit dt, which is float32"):
        rec.replay(dt=-1e300)
    assert (x.numpy() == 0.0).all()
    rec.replay(dt=-np.inf)
    assert (x.numpy() == -np.inf).all()


def test_a_number_in_a_recorded_graph_follows_what_its_owner_changes() -> None:
    x, v, n = wb.zeros(2), wb.array([1.0, 2.0]), wb.zeros(1, int)

    def turn() -> None:
        wb.launch(drift, 2, inputs=[0.5, x, v])
        n.zero_()

    with wb.capture() as graph:
        n.fill_(1)
        wb.launch(drift, 2, inputs=[0.5, x, v])
        wb.capture_while(n, turn)
    with wb.record() as rec:
        graph.launch()
    for other, expected in ((v, [2.0, 4.0]), (wb.array([3.0, 0.0]), [6.0, 0.0])):
        graph.update(v=other)
        for _ in range(2):
            x.fill_(0.0)
            version = x.version
            rec.replay(dt=1.0)
            assert x.numpy().tolist() == expected and x.version > version
        x.fill_(0.0)
        rec.replay()
        assert x.numpy().tolist() == [e / 2 for e in expected], "a number is for one replay"
    with pytest.raises(wb.LaunchError, match="neither a number nor a step"):
        rec.replay(dt="much")
    assert x.numpy().tolist() == [3.0, 0.0]


def test_graphs_are_run_again_and_not_changed_unseen() -> None:
    x, v = state()
    y = wb.zeros(2)
    with wb.capture() as graph:
        wb.launch(drift, 2, inputs=[0.5, x, v])
    with wb.record() as rec:
        graph.launch()
        wb.launch(square, 2, inputs=[v], outputs=[y])
        wb.launch(drift, 2, inputs=[0.25, y, v])
    assert [e.kind for e in rec] == ["graph", "forward", "forward"] and rec[0].seconds is not None
    before = x.numpy().copy()
    rec.replay()
    assert np.array_equal(x.numpy(), before + 0.5 * v.numpy())
    for n in range(1, 3):
        rec.replay(dt=1.0)
        assert np.array_equal(x.numpy(), before + (0.5 + n) * v.numpy())
    other = wb.array([5.0, 7.0])
    x.fill_(0.0)
    rec.replay({v: other})
    assert x.numpy().tolist() == [2.5, 3.5]
    graph.launch()
    assert np.array_equal(x.numpy(), [2.5, 3.5] + 0.5 * v.numpy()), "the graph itself is as it was"
    with pytest.raises(wb.LaunchError, match="dt"):
        rec[:1].replay(dt="fast")
