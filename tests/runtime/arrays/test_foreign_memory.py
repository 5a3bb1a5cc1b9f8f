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
from workbench.errors import LaunchError
from workbench.runtime.arrays import dlpack


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
    "subclass": lambda folder: np.ones(3, np.float32).view(type("Subclass", (np.ndarray,), {})),
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


@wb.kernel
def twice(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = 2.0 * x[i]


@wb.kernel
def count(x: wb.array[float]):
    wb.atomic_add(x, 0, 1.0)


WRITES: dict[str, Callable[[wb.array], object]] = {
    "fill_": lambda x: x.fill_(9.0),
    "zero_ of a part": lambda x: x[1:].zero_(),
    "item": lambda x: x.__setitem__(0, 9.0),
    "slice": lambda x: x.__setitem__(slice(2), np.ones(2)),
    "assign": lambda x: x.assign([9.0] * 4),
    "copy": lambda x: wb.copy(x, wb.zeros(4)),
    "a sum": lambda x: x.add_(wb.ones(4)),
    "in place": lambda x: x.__iadd__(1.0),
    "another shape": lambda x: x.reshape(2, 2).fill_(9.0),
    "other type": lambda x: x.view(wb.int32).fill_(9),
    "an output": lambda x: wb.launch(twice, 4, [wb.zeros(4), x]),
    "a part as an output": lambda x: wb.launch(twice, 2, [wb.zeros(4), x[:2]]),
    "an atomic": lambda x: wb.launch(count, 1, [x]),
    "map": lambda x: wb.map(wb.sin, wb.zeros(4), out=x),
    "a launch that was kept": lambda x: wb.launch(
        twice, 4, [wb.zeros(4), wb.zeros(4)], record_cmd=True
    ).set_param_at_index(1, x),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_what_jax_counts_on_not_to_change_does_not(name: str) -> None:
    """Of `from_dlpack`, `array(copy=False)` a refusal, as for NumPy's read-only arrays; what is shared is read-only."""
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.arange(4.0)
    for share in (wb.from_dlpack, wb.from_torch, lambda x: wb.array(x, copy=False)):
        with pytest.raises(LaunchError, match="read-only"):
            share(x)
    shared = wb.from_jax(x, copy=False)
    for writable in (wb.clone(shared), shared.fresh_like(), wb.from_jax(x), wb.from_dlpack(x, copy=True)):
        WRITES[name](writable)  # also so that a plan of such a launch exists
    with pytest.raises(LaunchError, match=r"read-only.*wb\.clone"):
        WRITES[name](shared)
    with pytest.raises(ValueError, match="read-only"):
        shared.numpy()[0] = 9.0
    assert x.tolist() == [0, 1, 2, 3]


def test_what_is_read_only_is_read_and_has_derivatives() -> None:
    jnp = pytest.importorskip("jax.numpy")
    x, y = wb.from_jax(jnp.arange(4.0), copy=False), wb.zeros(4)
    wb.launch(twice, 4, [x, y])
    assert y.numpy().tolist() == [0, 2, 4, 6] and float(x.sum()) == 6
    assert wb.grad(lambda x: (x * x).sum())(x).numpy().tolist() == [0, 2, 4, 6]


def test_what_is_read_only_says_so_to_the_libraries_that_take_it() -> None:
    """bfloat16 has a capsule of Workbench's own; float32 has NumPy's, and both keep the promise."""
    jnp = pytest.importorskip("jax.numpy")
    for dtype in (jnp.bfloat16, jnp.float32):
        shared = wb.from_jax(jnp.arange(4, dtype=dtype), copy=False)
        with pytest.raises(BufferError, match=r"read-?only"):
            shared.__dlpack__()
        assert dlpack.Taken(shared.__dlpack__(max_version=(1, 0))).read_only
        assert not dlpack.Taken(wb.clone(shared).__dlpack__(max_version=(1, 0))).read_only


def test_numpy_is_told_where_a_copy_would_be_needed() -> None:
    x = wb.array([1.0, 2.0], dtype=float)
    view = np.asarray(x, copy=False)
    view[0] = 5.0
    assert x.numpy()[0] == 5.0 and np.asarray(x, np.float64).tolist() == [5.0, 2.0]
    for source, dtype in ((x, np.float64), (x.to("emulated"), None)):
        with pytest.raises(ValueError, match="without a copy"):
            np.asarray(source, dtype, copy=False)
