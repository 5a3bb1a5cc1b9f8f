"""The memory of emulated devices: alignment, owners, limits, and what is freed."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from workbench.runtime.emulated.arena import ALIGNMENT, GAP, LEAST, POISONED, Arena
from workbench.runtime.emulated.status_error import CudaStatusError


@pytest.fixture
def arena() -> Arena:
    return Arena(LEAST)


def test_addresses_are_aligned_and_apart(arena: Arena) -> None:
    made = [arena.alloc(n, 0) for n in (1, 256, 257, 5000, 0)]
    assert all(a.start % ALIGNMENT == 0 for a in made)
    ordered = sorted(made, key=lambda a: a.start)
    for first, second in itertools.pairwise(ordered):
        assert second.start >= first.end + ALIGNMENT, "what overruns by a little meets no other allocation"


def test_an_address_belongs_to_whom_it_was_given(arena: Arena) -> None:
    mine, other = arena.alloc(100, 0), arena.alloc(100, 1)
    assert arena.find(mine.start + 99) == mine and arena.find(other.start) == other
    assert arena.find(mine.start + 100) is None
    assert (arena.used(0), arena.used(1)) == (100, 100)


def test_fresh_memory_holds_what_no_program_expects(arena: Arena) -> None:
    made = arena.alloc(64, 0)
    assert (arena.bytes_at(made.start, 64) == 0xA5).all()
    large = arena.alloc(POISONED + 1, 0)
    assert arena.bytes_at(large.start, 8).sum() == 0, "pages of large arrays are not touched before they are used"


def test_freed_memory_is_nobodys_and_is_given_out_again_late(arena: Arena) -> None:
    first = arena.alloc(1000, 0)
    arena.free(first.start)
    assert arena.find(first.start) is None and arena.used(0) == 0
    assert arena.alloc(1000, 0).start != first.start
    with pytest.raises(CudaStatusError, match="or it was freed before"):
        arena.free(first.start)


def test_what_was_freed_costs_nothing_any_more(arena: Arena) -> None:
    made = arena.alloc(8 << 20, 0)
    arena.bytes_at(made.start, 8 << 20)[:] = 7
    arena.free(made.start)
    inside = arena.bytes_at(made.start + 4096, (8 << 20) - 8192)
    assert inside.sum() == 0, "the pages went back to the system"


def test_all_of_it_can_be_had_again_in_one_piece(arena: Arena) -> None:
    made = [arena.alloc(1 << 20, 0) for _ in range(20)]
    random.Random(3).shuffle(made)
    for one in made:
        arena.free(one.start)
    assert arena.alloc(LEAST - 2 * GAP, 0).nbytes == LEAST - 2 * GAP


def test_more_than_there_is_is_refused(arena: Arena) -> None:
    with pytest.raises(CudaStatusError, match="addresses side by side are free") as refused:
        arena.alloc(1 << 30, 0)
    assert refused.value.status == "CUDA_ERROR_OUT_OF_MEMORY"


def test_a_thousand_of_them_in_any_order_keep_their_bytes(arena: Arena) -> None:
    chance = random.Random(5)
    kept: dict[int, tuple[int, int]] = {}
    for n in range(1000):
        if kept and chance.random() < 0.45:
            start, (size, value) = chance.choice(list(kept.items()))
            assert (arena.bytes_at(start, size) == value).all()
            arena.free(start)
            del kept[start]
        else:
            size = chance.randrange(1, 20000)
            made = arena.alloc(size, 0)
            arena.bytes_at(made.start, size)[:] = n % 256
            kept[made.start] = size, n % 256
    assert arena.used(0) == sum(size for size, _ in kept.values())
    assert [a.start for a in arena.live()] == sorted(kept)
    assert np.all([(arena.bytes_at(s, n) == v).all() for s, (n, v) in kept.items()])
