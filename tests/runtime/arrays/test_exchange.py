"""Arrays of other libraries and ours: the same memory where that can be, else a sentence that says what to do."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import workbench as wb

KINDS = ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64"]


class Speaks:
    """Another library's array, as far as DLPack goes: an old one, without versions."""

    def __init__(self, data: Any, device: tuple[int, int] = (1, 0)) -> None:
        self.data = data
        self.device = device
        self.streams: list[Any] = []

    def __dlpack__(self, stream: Any = None) -> Any:
        self.streams.append(stream)
        return self.data.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_shared_both_ways(kind: str) -> None:
    data = np.arange(24).reshape(4, 6).astype(kind)
    a = wb.from_dlpack(data)
    assert (a.shape, repr(a.dtype), a.address) == ((4, 6), kind, data.ctypes.data)
    data[1, 2] = 0
    np.testing.assert_array_equal(a.numpy(), data)
    back = np.from_dlpack(a)
    assert back.ctypes.data == data.ctypes.data
    np.testing.assert_array_equal(back, data)


@pytest.mark.parametrize("cut", [np.s_[::2, 1:5:3], np.s_[::-1], np.s_[:, 2], np.s_[1:1]])
def test_views_keep_their_strides(cut: Any) -> None:
    data = np.arange(24, dtype=np.float32).reshape(4, 6)
    a = wb.from_dlpack(data[cut])
    np.testing.assert_array_equal(a.numpy(), data[cut])
    a.fill_(-7)
    assert (data[cut] == -7).all() and (data == -7).sum() == data[cut].size
    np.testing.assert_array_equal(np.from_dlpack(a), data[cut])


def test_vectors_take_the_last_axis_and_give_it_back() -> None:
    data = np.arange(12, dtype=np.float32).reshape(4, 3)
    a = wb.from_dlpack(data, wb.vec3)
    assert (a.shape, a.dtype) == ((4,), wb.vec3)
    assert np.from_dlpack(a).shape == (4, 3)
    with pytest.raises(TypeError, match=r"shape \(4, 3\) cannot become one of vec2"):
        wb.from_dlpack(data, wb.vec2)


def test_the_memory_lives_as_long_as_somebody_uses_it() -> None:
    class Owned(np.ndarray):
        pass

    data = np.arange(6, dtype=np.float32).view(Owned)
    alive = weakref.ref(data)
    a = wb.from_dlpack(data)
    part = a[2:]
    del data, a
    gc.collect()
    assert alive() is not None and part.numpy().tolist() == [2, 3, 4, 5]
    del part
    gc.collect()
    assert alive() is None


def test_bfloat16_goes_through_our_own_capsules() -> None:
    a = wb.array([1.5, -2.0, 3.25], dtype=wb.bfloat16)
    b = wb.from_dlpack(a)
    assert b.address == a.address and b.dtype == wb.bfloat16
    kept = weakref.ref(a.memory.owner)
    del a
    gc.collect()
    assert [float(v) for v in b.numpy()] == [1.5, -2.0, 3.25]
    del b
    gc.collect()
    assert kept() is None
    unused = wb.array([1.0], dtype=wb.bfloat16)
    held = weakref.ref(unused.memory.owner)
    capsule = unused.__dlpack__()
    del unused, capsule
    gc.collect()
    assert held() is None


def test_a_capsule_is_taken_and_integers_are_read_as_others_of_their_size() -> None:
    host = np.array([1, -2, 3], np.int8)
    whole = wb.from_dlpack(host.__dlpack__())
    assert whole.dtype == wb.int8 and whole.address == host.ctypes.data
    assert np.array_equal(wb.from_dlpack(host, wb.uint8).numpy(), host.view(np.uint8))
    with pytest.raises(TypeError, match="cannot become"):
        wb.from_dlpack(host.__dlpack__(), wb.int16)


def test_jax_arrays_are_copied_and_jax_takes_ours() -> None:
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.arange(5.0)
    a = wb.from_jax(x, requires_grad=True)
    a.fill_(1)
    assert x.tolist() == [0, 1, 2, 3, 4] and a.grad is not None
    shared = wb.from_jax(x, copy=False)
    assert shared.numpy().tolist() == [0, 1, 2, 3, 4]
    assert jnp.from_dlpack(wb.array([1.0, 2.0])).tolist() == [1, 2]


def test_an_older_library_and_a_tensor_that_requires_a_gradient() -> None:
    data = np.arange(4, dtype=np.float32)
    assert wb.from_dlpack(Speaks(data)).address == data.ctypes.data
    tensor = SimpleNamespace(requires_grad=True, detach=lambda: data)
    a = wb.from_torch(tensor)
    assert a.requires_grad and a.address == data.ctypes.data


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: [1, 2], TypeError, "a list has neither __dlpack__ nor"),
        (lambda: np.zeros((1,) * 5), ValueError, "1 to 4 dimensions; this one has 5"),
        (lambda: np.array(1.0), ValueError, "1 to 4 dimensions; this one has 0"),
        (lambda: Speaks(np.zeros(3), (10, 0)), wb.LaunchError, "DLPack type 10"),
        (lambda: Speaks(np.zeros(3), (2, 99)), wb.DeviceError, "cuda:99"),
    ],
)
def test_what_cannot_be_shared_is_refused(make: Callable[[], Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        wb.from_dlpack(make())


def test_read_only_memory_is_refused_or_copied() -> None:
    data = np.arange(3.0)
    data.flags.writeable = False
    with pytest.raises((wb.LaunchError, BufferError)):
        wb.from_dlpack(data)
    taken = wb.from_dlpack(np.arange(3.0), copy=True)
    assert taken.numpy().tolist() == [0, 1, 2]


def test_structs_are_given_field_by_field() -> None:
    @wb.struct
    class Ball:
        place: wb.vec3
        mass: float

    balls = wb.zeros(3, Ball, device="cpu")
    with pytest.raises(BufferError, match="give a field"):
        np.from_dlpack(balls)
    assert np.from_dlpack(balls.field("mass")).shape == (3,)


def test_device_memory_is_shared_with_its_stream(mock: Any) -> None:
    a = wb.array(np.arange(12, dtype=np.float32).reshape(3, 4), device="cuda:0")
    facts = a[:, ::2].__cuda_array_interface__
    assert facts["shape"] == (3, 2) and facts["strides"] == (16, 8) and facts["typestr"] == "<f4"
    assert facts["data"] == (a.address, False) and facts["stream"] == 1 and facts["version"] == 3
    b = wb.from_dlpack(a[1:])
    assert b.device.is_cuda and b.address == a.address + 16 and a.__dlpack_device__() == (2, 0)
    np.testing.assert_array_equal(b.numpy(), a.numpy()[1:])
    theirs = wb.Stream("cuda:0")
    a.__dlpack__(stream=int(theirs.handle))
    assert [c[0] for c in mock.calls[-4:]] == [
        "cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuEventDestroy",
    ]  # fmt: skip
    cupy = SimpleNamespace(__cuda_array_interface__=a.__cuda_array_interface__, keeps=a)
    c = wb.from_dlpack(cupy)
    c.fill_(2.0)
    assert (a.numpy() == 2).all()
    with pytest.raises(BufferError, match="where it is"):
        a.__dlpack__(dl_device=(1, 0))


def test_a_cpu_array_has_no_cuda_interface() -> None:
    a = wb.zeros(3, float, device="cpu")
    assert not hasattr(a, "__cuda_array_interface__") and a.__dlpack_device__() == (1, 0)


def test_repr_shows_values_dtype_shape_and_device() -> None:
    assert repr(wb.array([1.0, 2.5], device="cpu")) == "array([1.  2.5], dtype=float32, shape=(2,), device=cpu)"
