"""Fills with a vector or a struct, and sums of structs: at once, in a graph, and in a replay."""

from __future__ import annotations

import numpy as np

import workbench as wb


@wb.struct
class Spring:
    rest: float
    ends: wb.vec2
    number: int


def spring() -> Spring:
    return Spring(rest=0.5, ends=wb.vec2(1.0, 2.0), number=3)


def test_a_graph_fills_with_vectors_and_structs() -> None:
    v, s = wb.zeros((2, 3), dtype=wb.vec3), wb.zeros(4, dtype=Spring)
    with wb.capture() as graph:
        v.fill_(np.array([1.0, 2.0, 3.0]))
        s[1:].fill_(spring())
    assert not v.numpy().any() and not s.numpy()["number"].any()
    graph.launch()
    assert v.numpy().tolist() == [[[1, 2, 3]] * 3] * 2
    assert s.numpy()["number"].tolist() == [0, 3, 3, 3] and s[3] == spring()
    v.zero_()
    graph.launch()
    assert v.numpy().sum() == 36


def test_a_replay_fills_with_vectors_and_structs() -> None:
    v, s = wb.zeros(3, dtype=wb.vec2), wb.zeros(2, dtype=Spring)
    with wb.record(inputs=True) as rec:
        v.fill_(np.array([1.0, 2.0]))
        s.fill_(spring())
        v.fill_(4.0)
        s[:1].fill_(0)
    rec.rewind()
    rec.replay()
    assert v.numpy().tolist() == [[4, 4]] * 3
    assert s[1] == spring() and s[0] == Spring()


def test_sums_of_structs_in_a_graph_and_a_replay() -> None:
    a, b = wb.zeros(3, dtype=Spring), wb.full(3, 0, dtype=Spring)
    b.fill_(spring())
    with wb.capture() as graph:
        a.add_(b)
        a.add_(b)
    graph.launch()
    assert a.numpy()["rest"].tolist() == [1, 1, 1] and a.numpy()["ends"].tolist() == [[2, 4]] * 3
    assert a.numpy()["number"].tolist() == [0, 0, 0], "integers are not summed"
    with wb.record(inputs=True) as rec:
        a.add_(b)
    rec.rewind()
    rec.replay()
    assert a.numpy()["rest"].tolist() == [1.5, 1.5, 1.5]


def test_a_negative_zero_keeps_its_sign() -> None:
    x = wb.array([1.0, 2.0, 3.0], device="cpu")
    assert not np.signbit(x.fill_(0.0).numpy()).any()
    assert np.signbit(x.fill_(-0.0).numpy()).all()


def test_a_sum_of_arrays_that_overlap() -> None:
    x = wb.array(np.arange(5000, dtype=np.float32), device="cpu")
    x[1:].add_(x[:-1])
    assert x.numpy().tolist() == [0.0, *(2.0 * k - 1.0 for k in range(1, 5000))]
