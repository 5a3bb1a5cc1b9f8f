"""Files with JAX's calls in them, damaged: each is refused with a reason, or is the record that was saved."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import workbench as wb
from tests.jax.recording.test_saved_calls import CASES, SHIFTED, V, X
from tests.support.checks import record_files
from workbench.runtime.records.saved import read

jax = pytest.importorskip("jax")


@functools.cache
def calls() -> bytes:
    """The file of a gradient, a batch, halves, and a call that changes its operand and has vectors."""
    with wb.record(inputs=True) as rec:
        for case in ("gradient", "batches", "half"):
            jax.block_until_ready(CASES[case]())
        jax.block_until_ready(SHIFTED(2, V, X, launch_dims=6, output_dims={"hits": 1}))
        wb.launch(record_files.double, 6, [wb.array(np.array(X))])
    return record_files.without_artifacts(rec)


def test_the_file_has_all_kinds_of_calls() -> None:
    steps = [kind for entry in read(calls()).entries if entry.kind == "jax" for kind, _ in entry.what.steps]
    assert {"launch", "copy", "fill"} == set(steps) and len(steps) > 12


@pytest.mark.parametrize("resealed", [False, True])
def test_damaged_files_of_calls_are_refused_or_right(resealed: bool) -> None:
    assert record_files.fuzz(60, 3, resealed, calls()) == []


@pytest.mark.slow
@pytest.mark.parametrize("resealed", [False, True])
def test_many_damaged_files_of_calls(resealed: bool) -> None:
    assert record_files.fuzz(6_000, 4, resealed, calls()) == []
