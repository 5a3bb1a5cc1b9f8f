"""The edges of a graph: the least that keep every conflicting pair in order, against all pairs looked at in turn."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.runtime.graphs.body import Edge, Use, edges, levels


def use(low: int, high: int, how: str, name: str = "a") -> Use:
    return Use(low, high, name, "r" in how, "w" in how)


def pairs(found: list[Edge]) -> set[tuple[int, int]]:
    return {(e.source, e.target) for e in found}


def test_each_reason_makes_its_edge() -> None:
    found = edges([[use(0, 8, "w")], [use(0, 8, "r")], [use(0, 8, "w")], [use(0, 8, "w")]])
    assert [(e.source, e.target, e.because) for e in found] == [
        (0, 1, (("RAW", "a"),)),
        (1, 2, (("WAR", "a"),)),
        (2, 3, (("WAW", "a"),)),
    ]
    assert [e.carries_data for e in found] == [True, False, False]


def test_readers_run_side_by_side_and_what_writes_waits_for_all() -> None:
    found = edges([[use(0, 8, "w")], [use(0, 8, "r")], [use(0, 8, "r")], [use(0, 8, "rw")]])
    assert pairs(found) == {(0, 1), (0, 2), (1, 3), (2, 3)}
    assert levels(4, found) == [[0], [1, 2], [3]]


def test_parts_of_one_array_are_independent() -> None:
    halves = [[use(0, 8, "w")], [use(8, 16, "w")], [use(4, 12, "r")], [use(12, 16, "rw")]]
    assert pairs(edges(halves)) == {(0, 2), (1, 2), (1, 3)}


def test_nothing_depends_on_empty_arrays_or_on_itself() -> None:
    assert edges([[use(4, 4, "w"), use(0, 8, "r"), use(0, 8, "w")], [use(4, 4, "rw")]]) == []


def test_an_edge_names_all_its_arrays() -> None:
    (found,) = edges([[use(0, 8, "w", "x"), use(8, 16, "r", "y")], [use(0, 8, "r", "x"), use(8, 16, "w", "y")]])
    assert found.because == (("RAW", "x"), ("WAR", "y")) and found.arrays == ("x", "y")


def conflict(before: list[Use], after: list[Use]) -> bool:
    return any(
        a.low < b.high and b.low < a.high and (a.writes or b.writes) for a, b in itertools.product(before, after)
    )


def closure(count: int, found: set[tuple[int, int]]) -> np.ndarray:
    reach = np.zeros((count, count), bool)
    for source, target in sorted(found, key=lambda e: e[1]):
        reach[source, target] = True
        reach[:, target] |= reach[:, source]
    return reach


spans = st.tuples(st.integers(0, 20), st.integers(1, 8), st.sampled_from(["r", "w", "rw"]))


@given(st.lists(st.lists(spans, max_size=3), max_size=12))
def test_the_order_kept_is_that_of_the_conflicts_and_no_edge_is_spare(given_nodes: list) -> None:
    nodes = [[use(low, low + size, how) for low, size, how in row] for row in given_nodes]
    count = len(nodes)
    all_pairs = {(i, j) for i in range(count) for j in range(i + 1, count) if conflict(nodes[i], nodes[j])}
    found = pairs(edges(nodes))
    whole = closure(count, all_pairs)
    assert np.array_equal(closure(count, found), whole)
    for spare in found:
        assert not closure(count, found - {spare})[spare], f"{spare} says nothing new"


def test_a_long_chain_has_one_edge_a_node() -> None:
    found = edges([[use(0, 8, "rw")] for _ in range(6000)])
    assert pairs(found) == {(n, n + 1) for n in range(5999)}
