"""Numbers that advance from replay to replay, compared with launches that spell the numbers out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import workbench as wb


@wb.kernel
def noise(seed: int, scale: float, o: wb.array[float]):
    i = wb.tid()
    state = wb.rand_init(seed * 2 + 1, i)
    o[i] += scale * wb.randf(state)


@wb.kernel
def tagged(n: int, o: wb.array[float]):
    i = wb.tid()
    state = wb.rand_init(7, i * n)
    o[i] += wb.randf(state)


def spelled(seeds: list[int]) -> np.ndarray:
    o = wb.zeros(8)
    for seed in seeds:
        wb.launch(noise, 8, [seed, 1.0, o])
    return o.numpy()


def recorded(counter: object = (), seeds: tuple[int, ...] = (3, 4, 7)) -> tuple[wb.Recorder, wb.array]:
    o = wb.zeros(8)
    with wb.record(inputs=True, counter=counter) as record:
        for seed in seeds:
            wb.launch(noise, 8, [seed, 1.0, o])
    return record, o


def test_a_counter_draws_other_numbers_at_each_replay() -> None:
    record, o = recorded("seed")
    for _ in range(2):
        record.replay()
    # 3, 4, 7, then each 7 - 3 + 1 = 5 more: the least step with which none comes again.
    np.testing.assert_array_equal(o.numpy(), spelled([3, 4, 7, 8, 9, 12, 13, 14, 17]))


@pytest.mark.parametrize("counter", [{"seed": 20}, ()])
def test_a_step_is_said_once_or_at_each_replay(counter: object) -> None:
    record, o = recorded(counter)
    for _ in range(2):
        record.replay(**({} if counter else {"seed": "+20"}))
    np.testing.assert_array_equal(o.numpy(), spelled([3, 4, 7, 23, 24, 27, 43, 44, 47]))


def test_a_number_given_for_one_replay_does_not_advance_it() -> None:
    record, o = recorded({"seed": 20})
    record.replay(seed=1)
    record.replay()
    np.testing.assert_array_equal(o.numpy(), spelled([3, 4, 7, 1, 1, 1, 23, 24, 27]))


def test_rewinding_puts_arrays_back_and_the_counter_goes_on() -> None:
    record, o = recorded({"seed": 20})
    for _ in range(2):
        record.rewind()
        record.replay()
    np.testing.assert_array_equal(o.numpy(), spelled([43, 44, 47]))


def test_observed_replays_and_parts_advance_too() -> None:
    record, o = recorded({"seed": 20})
    with wb.record() as again:
        record.replay()
    assert [r.arguments["seed"] for r in again.launches] == [23, 24, 27]
    record[:1].replay()
    np.testing.assert_array_equal(o.numpy(), spelled([3, 4, 7, 23, 24, 27, 43]))


def test_a_saved_record_keeps_its_counter(tmp_path: Path) -> None:
    record, _ = recorded({"seed": 20})
    record.replay()
    record.save(tmp_path / "run.wbr")
    loaded = wb.load_record(tmp_path / "run.wbr")
    loaded.replay()
    np.testing.assert_array_equal(loaded.find("o").numpy(), spelled([43, 44, 47]))


def test_a_record_names_the_seeds_that_replays_repeat() -> None:
    record, _ = recorded()
    assert "seed feeds rand_init: replays draw the same random numbers" in repr(record)
    assert "seed feeds rand_init" in record._repr_html_()
    assert "seed advances by 5 with each replay" in repr(recorded("seed")[0])
    o = wb.zeros(8)
    with wb.record() as other:
        wb.launch(tagged, 8, [3, o])
    assert other.notes() == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": "20"}, "neither a number nor a step"),
        ({"scale": "+1"}, "scale is no whole number"),
        ({"sed": "+1"}, "no|No recorded launch has a parameter sed"),
    ],
)
def test_a_step_that_makes_no_sense_is_named(change: dict[str, str], said: str) -> None:
    record, o = recorded()
    before = o.numpy()
    with pytest.raises(wb.LaunchError, match=said):
        record.replay(**change)
    np.testing.assert_array_equal(o.numpy(), before)


def test_a_counter_that_no_launch_has_is_named() -> None:
    with pytest.raises(wb.LaunchError, match="sed is a parameter of no recorded launch"):
        recorded("sed")
