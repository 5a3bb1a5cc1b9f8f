"""Arrays in other shapes and of other types: made like others, from flat data, reshaped, transposed, copied in part."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError, NotDifferentiable

DEVICES = ("cpu", pytest.param("emulated", marks=pytest.mark.slow))
COUNT = np.arange(6, dtype=np.float32)


@wb.func
def square(a):
    return a * a


@pytest.mark.parametrize("device", DEVICES)
def test_arrays_like_others(device):
    x = wb.zeros((2, 3))
    for made, value in ((wb.zeros_like, 0), (wb.ones_like, 1), (wb.empty_like, None)):
        y = made(x, dtype=wb.float64, device=device, requires_grad=True)
        assert (y.shape, y.dtype, str(y.device).split(":")[0]) == ((2, 3), wb.float64, device)
        assert y.grad is not None and not y.grad.numpy().any()
        assert value is None or (y.numpy() == value).all()
    assert (wb.full_like(x, 2.5, device=device).numpy() == 2.5).all()
    assert wb.full_like(x, (1, 2), dtype=wb.vec2).numpy()[0, 0].tolist() == [1, 2]
    copied = wb.clone(wb.array(COUNT), device=device, requires_grad=True)
    assert copied.numpy().tolist() == COUNT.tolist() and copied.requires_grad
    assert wb.from_numpy(COUNT, shape=(3, 2), device=device).numpy().tolist() == COUNT.reshape(3, 2).tolist()
    with pytest.raises(OverflowError):
        wb.full_like(x, 300, dtype=wb.uint8)


def test_flat_data_fills_vectors_and_matrices():
    assert wb.array([1, 2, 3, 4, 5, 6], dtype=wb.vec3).numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert wb.array(range(8), dtype=wb.mat22).numpy()[1].tolist() == [[4, 5], [6, 7]]
    assert wb.array([1, 2, 3, 4], shape=(2, 2)).numpy().tolist() == [[1, 2], [3, 4]]
    shared = wb.from_numpy(COUNT.copy(), dtype=wb.vec3)
    assert shared.shape == (2,)
    host = COUNT.copy()
    wb.array(host, dtype=wb.vec3).fill_(9)
    assert host.tolist() == COUNT.tolist(), "a copy, though the data was seen in another shape"
    with pytest.raises(TypeError, match="last axis must be 3"):
        wb.array([1, 2, 3, 4], dtype=wb.vec3)
    with pytest.raises(ValueError, match="reshape"):
        wb.array([1, 2, 3], shape=(2, 2))


def test_constructors_by_dimension():
    assert wb.array2d([[1, 2]]).shape == (1, 2) and wb.array1d(COUNT, dtype=wb.vec2).shape == (3,)
    assert wb.array3d(float) == wb.array3d[float] == wb.array(dtype=float, ndim=3)
    assert wb.array4d(shape=(1, 2, 1, 2), dtype=wb.float64).numpy().shape == (1, 2, 1, 2)
    with pytest.raises(ValueError, match="here 2"):
        wb.array2d([1, 2, 3])


@pytest.mark.parametrize("device", DEVICES)
def test_shapes_as_numpy_has_them(device):
    host = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    x = wb.array(host, device=device)
    cases = {
        "reshape": (x.reshape(4, -1), host.reshape(4, -1)),
        "of a tuple": (x.reshape((6, 4)), host.reshape(6, 4)),
        "flat": (x.flatten(), host.flatten()),
        "T": (x.T, host.T),
        "axes": (x.transpose(1, 2, 0), host.transpose(1, 2, 0)),
        "a transpose, reshaped": (x.T.reshape(-1), host.T.reshape(-1)),
        "a slice, reshaped": (x[:, ::2, 1:].reshape(3, 4), host[:, ::2, 1:].reshape(3, 4)),
        "none": (x[:0].reshape(0, 5), host[:0].reshape(0, 5)),
    }
    for what, (ours, theirs) in cases.items():
        assert ours.shape == theirs.shape and np.array_equal(ours.numpy(), theirs), what
    x.reshape(-1)[0] = 100
    assert x.numpy()[0, 0, 0] == 100 and x.T.memory is x.memory


@pytest.mark.parametrize("device", DEVICES)
def test_new_axes_as_numpy_has_them(device):
    held = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = wb.array(held, device=device)
    for index in (
        np.s_[:, None],
        np.s_[None],
        np.s_[..., None],
        np.s_[1, None],
        np.s_[None, 1:, ::2],
        np.s_[None, ..., 0],
    ):
        assert np.array_equal(x[index].numpy(), held[index]), index
    x[:, None] = 7.0
    assert (x.numpy() == 7).all()
    with pytest.raises(IndexError, match="at most 4 dimensions; this would have 5"):
        x[None, None, None]
    with pytest.raises(IndexError, match="takes at most 2 indices, not 3"):
        x[0, None, 0, 0]


@pytest.mark.parametrize("device", DEVICES)
def test_the_same_bytes_as_another_type(device):
    x = wb.array(COUNT, device=device)
    points = x.view(wb.vec3)
    assert points.shape == (2,) and points.view(float).numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x.view(wb.uint32).numpy().tolist() == COUNT.view(np.uint32).tolist()
    assert wb.zeros((5, 2, 2)).view(wb.mat22).shape == (5,) and wb.zeros(3, dtype=wb.mat22).view(wb.vec2).shape == (
        3,
        2,
    )
    points[1] = (7, 8, 9)
    assert x.numpy().tolist() == [0, 1, 2, 7, 8, 9]


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda x: x.reshape(4), "has 6 elements; the shape"),
        (lambda x: x.reshape(-1, 4), "has 6 elements"),
        (lambda x: x.reshape(1, 1, 1, 1, 6), "1 to 4"),
        (lambda x: x.transpose(0, 0), "each of"),
        (lambda x: x.view(wb.float64), "4 bytes and float64 has 8"),
        (lambda x: x.view(wb.vec4), "last dimensions must be 4"),
        (lambda x: x.reshape(2, 3).T.view(wb.vec2), "side by side"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        wrong(wb.array(COUNT))


@pytest.mark.parametrize("device", DEVICES)
def test_gradients_flow_through_views(device):
    x = wb.array(COUNT, device=device, requires_grad=True)
    with wb.Tape() as tape:
        turned = wb.map(square, x.reshape(2, 3).T)
        vectors = wb.map(square, x.view(wb.vec3))
        copied = wb.map(square, x.reshape(2, 3).T.reshape(6))
    weights = np.arange(6, dtype=np.float32).reshape(3, 2)
    tape.backward(grads={turned: weights, vectors: 10.0, copied: 100.0})
    assert np.array_equal(x.grad.numpy(), 2 * COUNT * (weights.T.reshape(-1) + 110))


def test_floats_as_other_floats_are_refused_on_a_tape():
    x = wb.zeros(4, dtype=wb.float64, requires_grad=True)
    with wb.Tape(), pytest.raises(NotDifferentiable):
        wb.map(square, x).view(wb.vec2)


@pytest.mark.parametrize("device", DEVICES)
def test_copies_of_parts(device):
    x = wb.zeros((2, 3), device=device)
    wb.copy(x, wb.array(COUNT), dest_offset=1, src_offset=2, count=3)
    assert x.numpy().tolist() == [[0, 2, 3], [4, 0, 0]]
    wb.copy(x, wb.array(COUNT[:2], device=device), 4)
    assert x.numpy().tolist() == [[0, 2, 3], [4, 0, 1]]
    for offsets in ((5, 0, 2), (0, 5, 2), (-1, 0, 2)):
        with pytest.raises(LaunchError, match="exceeds"):
            wb.copy(x, wb.array(COUNT, device=device), *offsets)
    with pytest.raises(LaunchError, match="not dense"):
        wb.copy(x.T, wb.array(COUNT), count=2)
    assert x.numpy().tolist() == [[0, 2, 3], [4, 0, 1]], "a copy that is refused has written nothing"


@pytest.mark.parametrize("device", DEVICES)
def test_backward_from_gradients_that_are_there(device):
    x = wb.array(COUNT, device=device, requires_grad=True)
    y, z = wb.zeros_like(x, requires_grad=True), wb.zeros_like(x)
    with wb.Tape() as tape:
        wb.map(square, x, out=y)
        wb.map(square, y, out=z)
    y.grad = COUNT
    z.grad = wb.ones_like(z)
    assert z.requires_grad
    tape.backward()
    assert np.array_equal(x.grad.numpy(), 2 * COUNT * (COUNT + 2 * COUNT**2))
    x.grad = None
    assert not x.grad.numpy().any()


def test_backward_from_nothing_is_refused():
    x, y = wb.array(COUNT, requires_grad=True), wb.zeros(6)
    with wb.Tape() as tape:
        wb.map(square, x, out=y)
    with pytest.raises(LaunchError, match="no such array has one"):
        tape.backward()
    with pytest.raises(TypeError, match="no gradient"):
        wb.zeros(2, dtype=int).grad = 1


def test_arrays_can_be_referred_to_weakly():
    x = wb.zeros(3)
    found = weakref.ref(x)
    assert found() is x
    del x
    assert found() is None
