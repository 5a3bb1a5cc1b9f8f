"""What `pickle` and `copy` make of arrays, records, graphs and kept launches: the same again, or a refusal."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.record_files import Particle, double, particles

AGAIN: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("way", AGAIN)
def test_an_array_comes_back_with_its_gradient_in_memory_of_its_own(way: str) -> None:
    for dtype in (wb.float32, wb.int8, wb.float16, wb.bfloat16, wb.vec3, wb.mat22):
        x = wb.full((2, 3), 3, dtype)
        y = AGAIN[way](x)
        assert (y.dtype, y.shape, y.device, y.requires_grad) == (x.dtype, x.shape, x.device, False)
        assert y.numpy().tobytes() == x.numpy().tobytes() and y.memory is not x.memory
        wb.launch(double, 3, [wb.ones(3)])
        x.fill_(4)
        assert y.numpy().tobytes() == np.full_like(y.numpy(), 3).tobytes()
    x = wb.array([1.0, 2.0], requires_grad=True)
    x.grad.fill_(5.0)
    y = AGAIN[way](x)
    x.grad.zero_()
    assert y.requires_grad and y.grad.numpy().tolist() == [5, 5]
    strided = AGAIN[way](wb.array(np.arange(6, dtype=np.float32))[::2])
    assert strided.numpy().tolist() == [0, 2, 4] and strided.is_contiguous


@pytest.mark.parametrize("way", AGAIN)
def test_an_array_of_structs_comes_back(way: str) -> None:
    ps = particles()
    again = AGAIN[way](ps)
    ps.zero_()
    assert again.dtype == ps.dtype and ps[1].mass == 0
    assert again[1].mass == 1.5 and again[2].position.tolist() == [3, 2, 3]
    assert again[0].alive == 0 and isinstance(again[0], Particle)


def test_one_array_in_a_state_stays_one() -> None:
    x = wb.ones(2)
    state = copy.deepcopy({"now": x, "same": x, "other": wb.ones(2)})
    assert state["now"] is state["same"] and state["now"] is not state["other"] and state["now"] is not x


def test_what_has_code_is_not_pickled_and_says_what_to_do() -> None:
    x = wb.ones(3)
    with wb.record() as rec:
        kept = wb.launch(double, 3, [x], record_cmd=True)
        kept.launch()
    with wb.capture() as graph:
        kept.launch()
    for thing, error, advice in (
        (rec, wb.RecordError, "rec.save"), (graph, wb.LaunchError, "record a launch of it"),
        (kept, wb.LaunchError, "rec.save"),
    ):  # fmt: skip
        for way in ("pickle", "deepcopy"):
            with pytest.raises(error, match="pickled") as caught:
                AGAIN[way](thing)
            assert advice in caught.value.advice
    twin = copy.copy(kept)
    twin.set_dim(1)
    assert (kept.dim, twin.dim) == ((3,), (1,))
    part = copy.copy(rec)
    part.entries.pop()
    assert len(rec) == len(part) + 1
