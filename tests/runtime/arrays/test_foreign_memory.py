"""Memory that is not ours: copied where a copy is wanted, shared where it can be, never written where it must not."""

from __future__ import annotations

import array as pythons
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.record_files import double


class Holder:
    """Gives NumPy its own memory, as tensors and data frames do."""

    def __init__(self) -> None:
        self.data = np.ones(3, np.float32)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.data


def mapped(folder: Path) -> np.memmap[Any, Any]:
    np.ones(3, np.float32).tofile(folder / "numbers")
    return np.memmap(folder / "numbers", np.float32, "r+")


def frozen(folder: Path) -> np.ndarray[Any, Any]:
    return np.frombuffer(np.ones(3, np.float32).tobytes(), np.float32)


FOREIGN: dict[str, Callable[[Path], Any]] = {
    "holder": lambda folder: Holder(),
    "memory map": mapped,
    "bytes": frozen,
    "broadcast": lambda folder: np.broadcast_to(np.float32(1), 3),
    "python's array": lambda folder: pythons.array("f", [1, 1, 1]),
    "view": lambda folder: memoryview(pythons.array("f", [1, 1, 1])),
    "subclass": lambda folder: np.ma.masked_array(np.ones(3, np.float32)),
    "ours": lambda folder: wb.ones(3),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_copy_is_one(kind: str, tmp_path: Path) -> None:
    source = FOREIGN[kind](tmp_path)
    x = wb.array(source)
    wb.launch(double, 3, [x])
    assert x.numpy().tolist() == [2, 2, 2] and np.asarray(source).tolist() == [1, 1, 1]


@pytest.mark.parametrize("share", [wb.from_numpy, lambda data: wb.array(data, copy=False)])
def test_what_is_read_only_is_not_shared(share: Callable[[Any], wb.array], tmp_path: Path) -> None:
    for kind in ("bytes", "broadcast"):
        with pytest.raises(wb.LaunchError, match=r"read-only.*makes a copy"):
            share(FOREIGN[kind](tmp_path))
    shared = np.ones(3, np.float32)
    share(shared)[1] = 5.0
    assert shared.tolist() == [1, 5, 1]


def test_from_numpy_shares_or_refuses() -> None:
    data = np.arange(6, dtype=np.float64)
    assert np.shares_memory(wb.from_numpy(data[::2]).numpy(), data)
    for wrong, dtype in ((data, float), (data.astype(">f8"), None), (data.reshape(2, 3), wb.vec3)):
        with pytest.raises(TypeError, match=r"shares memory.*wb.array"):
            wb.from_numpy(wrong, dtype)
    for wrong in ([1, 2], 3.0, None, Holder()):
        with pytest.raises(TypeError, match="takes a NumPy array"):
            wb.from_numpy(wrong)  # type: ignore[arg-type]
    assert wb.from_numpy(np.zeros((0, 3))).shape == (0, 3)


def test_an_indexed_array_of_what_is_read_only_is_one_of_a_copy(tmp_path: Path) -> None:
    seen = wb.indexedarray(frozen(tmp_path), wb.array([2, 0], dtype=int))
    assert seen.numpy().tolist() == [1, 1]


def test_an_index_that_is_none_is_refused_and_changes_nothing() -> None:
    x, m = wb.array([1.0, 2.0, 3.0]), wb.zeros((2, 3))
    for at in (3, -4, (0, 0), (..., 3)):
        with pytest.raises(IndexError):
            x[at]
        with pytest.raises(IndexError):
            x[at] = 9.0
    for at in (1.0, [0, 1], x, (1.5,)):
        with pytest.raises(TypeError, match="indexed by integers, slices"):
            x[at] = 9.0
    with pytest.raises(IndexError):
        m[0, 3] = 1.0
    assert x.numpy().tolist() == [1, 2, 3] and not m.numpy().any()
    x[np.int64(-1)], m[-1, -1], m[0, ...] = 4.0, 5.0, 6.0
    assert x.numpy().tolist() == [1, 2, 4] and m.numpy().tolist() == [[6, 6, 6], [0, 0, 5]]
    v = wb.zeros((2, 2), dtype=wb.vec3)
    v[1, 0] = (1.0, 2.0, 3.0)
    assert v.numpy()[1, 0].tolist() == [1, 2, 3] and v.numpy().sum() == 6
