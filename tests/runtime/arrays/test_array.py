"""Arrays: made from data, shared with NumPy, viewed, filled, copied."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.types import VECTORS, ArrayType, float32, float64, int32

vec3 = VECTORS["vec3"]


def test_dtype_follows_the_data():
    assert wb.array([1, 2]).dtype == int32
    assert wb.array([1.0, 2.0]).dtype == float32
    assert wb.array(np.array([1.0])).dtype == float64
    assert wb.array([1, 2], dtype=float).dtype == float32
    assert wb.array([True]).dtype == wb.types.bool


def test_without_data_it_is_an_annotation():
    assert wb.array(dtype=float) == ArrayType(float32, 1)
    assert wb.array(dtype=vec3, ndim=2) == ArrayType(vec3, 2)
    assert wb.array[float] == ArrayType(float32, 1)
    assert wb.array2d[float] == wb.array2d(dtype=float) == ArrayType(float32, 2)


def test_numpy_shares_memory_both_ways():
    a = wb.zeros((2, 3))
    a.numpy()[1, 2] = 5
    assert a[1, 2] == 5
    host = np.zeros(3, np.float32)
    shared = wb.from_numpy(host)
    shared.fill_(2)
    assert host.tolist() == [2, 2, 2]
    copied = wb.array(host)
    copied.fill_(3)
    assert host.tolist() == [2, 2, 2]


def test_vectors_take_the_last_axis():
    a = wb.array([[1, 2, 3], [4, 5, 6]], dtype=vec3)
    assert (a.shape, a.ndim, a.nbytes) == ((2,), 1, 24)
    assert a.numpy().shape == (2, 3)
    assert a[1].tolist() == [4, 5, 6]
    with pytest.raises(TypeError, match="last axis must be 3"):
        wb.array([[1, 2]], dtype=vec3)


def test_views_share_memory_and_version():
    a = wb.array(np.arange(12, dtype=np.float32).reshape(3, 4))
    row, column, back = a[1], a[:, 2], a[::-1, ::2]
    assert row.numpy().tolist() == [4, 5, 6, 7]
    assert column.numpy().tolist() == [2, 6, 10]
    assert back.numpy().tolist() == [[8, 10], [4, 6], [0, 2]]
    assert row.is_contiguous and not column.is_contiguous
    before = a.version
    column.fill_(0)
    assert a.version == before + 1 and a.numpy()[:, 2].tolist() == [0, 0, 0]
    assert column.contiguous().is_contiguous


@wb.struct
class Pair:
    weight: wb.float32
    at: wb.vec3


@pytest.mark.parametrize(
    "index",
    [np.s_[::2], np.s_[:, 1:2], np.s_[2:3], np.s_[0:0], np.s_[1], np.s_[:, 0], np.s_[None],
     np.s_[::-1], np.s_[3:, ::2], np.s_[3:, :1]],
)  # fmt: skip
def test_a_view_is_contiguous_where_numpys_is(index: object) -> None:
    a = wb.array(np.arange(20, dtype=np.float32).reshape(4, 5))
    ours, numpys = a[index], a.numpy()[index]
    for view, same in ((ours, numpys), (ours.transpose(), numpys.T), (wb.from_dlpack(ours), numpys)):
        assert view.is_contiguous == same.flags.c_contiguous and view.shape == same.shape
        assert view.contiguous().numpy().tolist() == same.tolist()
    assert a[::2][1:].is_contiguous == a.numpy()[::2][1:].flags.c_contiguous  # one row


def test_fields_of_structs_are_contiguous_where_numpys_are() -> None:
    pairs = wb.zeros(4, Pair)
    for name, field in pairs.field_arrays().items():
        numpys = pairs.numpy()[name]
        assert (field.is_contiguous, field.strides) == (False, numpys.strides[:1])
        assert pairs.field(name).is_contiguous is False and numpys.flags.c_contiguous is False
        assert field[:1].is_contiguous and field.contiguous().is_contiguous
    assert pairs.is_contiguous


def test_assignment_through_indices():
    a = wb.zeros((2, 3))
    a[0] = [1, 2, 3]
    a[1, 2] = 7
    a[:, 0] = 9
    a[-1, 1] = 4
    assert a.numpy().tolist() == [[9, 2, 3], [9, 4, 7]]
    with pytest.raises(IndexError, match="outside dimension 0 of size 2"):
        a[2]


def test_making_and_copying():
    a = wb.full(3, 2.5)
    assert a.dtype == float32 and a.numpy().tolist() == [2.5] * 3
    assert wb.full(2, 3).dtype == int32
    b = wb.clone(a)
    b.zero_()
    assert a.numpy().tolist() == [2.5] * 3
    wb.copy(b, a)
    assert b.numpy().tolist() == [2.5] * 3
    assert wb.ones((2, 2)).numpy().sum() == 4
    assert wb.zeros_like(a, int).dtype == int32
    assert float(wb.full(1, 4.0)) == 4.0
    with pytest.raises(wb.LaunchError, match="shape"):
        wb.copy(wb.zeros(2), a)


def test_gradients_belong_to_floats():
    a = wb.zeros(3, requires_grad=True)
    assert a.grad is not None and a.grad.shape == (3,)
    for make in (lambda: wb.zeros(3, int, requires_grad=True), lambda: wb.array([1, 2], requires_grad=True)):
        with pytest.warns(UserWarning, match="has no gradient") as caught:
            whole = make()
        assert not whole.requires_grad and whole.grad is None and caught[0].filename == __file__
    with pytest.raises(TypeError, match="no gradient"):
        whole.grad = 1.0


def test_what_cannot_be_an_array_is_refused():
    for wrong in (np.zeros((1, 1, 1, 1, 1)), np.float32(3)):
        with pytest.raises(ValueError, match="1 to 4 dimensions"):
            wb.array(wrong)
    with pytest.raises(TypeError, match=r"write \(2, 3\)"):
        wb.zeros(2, 3)
    with pytest.raises(TypeError, match="cannot become"):
        wb.array(["a"], dtype=float)
    with pytest.raises(ValueError, match="a shape is"):
        wb.zeros((2, -1))
    with pytest.raises(wb.DeviceError, match="There is no device 'cuda:99'"):
        wb.zeros(2, device="cuda:99")


def test_empty_arrays_and_repr():
    a = wb.zeros((0, 3))
    assert a.size == 0 and a.numpy().shape == (0, 3)
    assert "shape=(2,)" in repr(wb.zeros(2))


def test_dlpack_gives_numpy_the_same_memory():
    a = wb.array([1.0, 2.0])
    host = np.from_dlpack(a)
    a.fill_(3)
    assert host.tolist() == [3, 3]


@pytest.mark.parametrize("value", [[1e300, 0.0], np.array([1e300, 0.0])])
def test_parts_are_not_set_to_numbers_that_do_not_fit(value):
    x, n = wb.zeros(2), wb.zeros(2, dtype=wb.int8)
    for target, given in [(x, value), (n, np.array([300, 1])), (n, [300, 1]), (n, [float("nan"), 1.0])]:
        with pytest.raises(OverflowError, match="does not fit"):
            target[:] = given
    assert not x.numpy().any() and not n.numpy().any() and (x.version, n.version) == (0, 0)


def test_a_copy_begins_at_a_line_of_the_cache() -> None:
    """Vectors of a copy lie in one line each, wherever NumPy's memory begins."""
    for count in (0, 1, 7, 1000, 1 << 20):
        host = np.arange(count + 1, dtype=np.float16)[1:]
        x = wb.array(host)
        assert x.memory.address % 64 == 0 or not count
        assert np.array_equal(x.numpy(), host)
    columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert np.array_equal(wb.array(columns).numpy(), columns)
    assert wb.array(columns).is_contiguous
