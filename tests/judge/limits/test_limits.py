"""Programs on both sides of every limit of the compiler: right numbers on each, or one clear refusal beyond.

By default a sample; all of them in the slow tier.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.judge.limits.families import FAMILIES, LONG, OUT_OF_REACH, Family
from tests.judge.limits.judging import paths_of, verdict
from tests.judge.limits.language import waiting_types
from workbench import limits

pytestmark = pytest.mark.filterwarnings("ignore")
REFUSALS = {
    "CALL_DEPTH": "More than 2000 funcs call one another",
    "STATIC_ELEMENTS": "a kernel's constant sequence has up to 4096",
    "UNROLLED_SEQUENCE": "a loop over one is unrolled, up to 256",
    "BLOCK_THREADS": "block_dim is an int from 1 to 1024",
    "LOOP_TYPE_CHANGES": "at the start of an iteration",
    "LITERAL_BITS": "An integer of more than 1023 bits is too large",
    "CHECKPOINTS_LEAST": "a whole number from 2 to 1024",
    "CHECKPOINTS_MOST": "a whole number from 2 to 1024",
}
"""What is said beyond a limit that is a refusal."""


def _cases(long: bool) -> list[object]:
    return [
        pytest.param(name, family, size, id=f"{name}-{family.__name__}-{size}")
        for name, row in FAMILIES.items()
        for family, size, count in row.cases(name)
        if (count >= LONG.get(name, count + 1)) == long
    ]


def _refused(name: str, size: int) -> bool:
    """Whether the size is beyond a limit that is a refusal."""
    limit = limits.table()[name]
    return name in REFUSALS and (size < limit if name.endswith("_LEAST") else size > limit)


def _judged(name: str, family: Family, size: int) -> None:
    program = family(size)
    for path in paths_of(program):
        result = verdict(program, path)
        if _refused(name, size):
            assert result.said == "refused", f"{name}, {size}, {path}: {result}"
            assert REFUSALS[name] in result.detail
        else:
            assert result.said == "right", f"{name}, {size}, {path}: {result}\n{program.text[:4000]}"


@pytest.mark.sample(16)
@pytest.mark.parametrize(("name", "family", "size"), _cases(long=False))
def test_both_sides_of_a_limit(name: str, family: Family, size: int) -> None:
    _judged(name, family, size)


@pytest.mark.slow
@pytest.mark.share(24)
@pytest.mark.parametrize(("name", "family", "size"), _cases(long=True))
def test_both_sides_of_a_limit_that_takes_long(name: str, family: Family, size: int) -> None:
    _judged(name, family, size)


@pytest.mark.parametrize("names", [7, 9, 32])
def test_any_number_of_names_may_wait_for_the_type_of_another(names: int) -> None:
    """They begin as literals, which have no type of their own."""
    assert verdict(waiting_types(names), "cpu").said == "right"


def test_every_row_has_programs_or_a_reason() -> None:
    rows = limits.table()
    weights = {name for name, row in rows.items() if row.beyond == limits.COST}
    assert {*FAMILIES} | {*OUT_OF_REACH} | weights == {*rows}
    assert not {*FAMILIES} & {*OUT_OF_REACH} and all(OUT_OF_REACH.values())


def test_every_refusal_is_judged() -> None:
    refused = {name for name, row in limits.table().items() if row.beyond == limits.REFUSED}
    assert refused - {*OUT_OF_REACH} == {*REFUSALS}


def test_sizes_are_on_both_sides() -> None:
    for name, row in FAMILIES.items():
        sizes, limit = row.counts(name), int(limits.table()[name])
        assert row.sizes or min(sizes) < limit < max(sizes), name


def test_a_wrong_number_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    ((family, _),) = FAMILIES["DISPATCH_GRAIN"].families
    program = family(5)
    right = program.notes["right"]()["y"]
    monkeypatch.setitem(program.notes, "right", lambda: {"y": np.nextafter(right, np.float32(9))})  # type: ignore[arg-type]
    assert verdict(program, "cpu").said == "wrong"
