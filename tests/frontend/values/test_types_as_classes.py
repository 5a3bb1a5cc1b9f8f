"""Types where Python asks for classes, defaults of structs, values made by `vector(…)`, products of integer vectors."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb


class vec5(wb.vector(5, float)):
    pass


@wb.struct
class Spring:
    stiffness: float = 2.5
    axis: wb.vec3 = wb.vec3(0.0, 1.0, 0.0)
    count: int


def test_types_answer_where_python_asks_for_classes():
    assert vec5 == wb.vector(5, float) and wb.vec3.__name__ == "vec3"
    assert isinstance(wb.vec3(1, 2, 3), wb.vec3) and not isinstance(wb.vec3(1, 2, 3), wb.vec2)
    assert isinstance(np.float32(1), wb.float32) and not isinstance(np.float64(1), wb.float32)
    with pytest.raises(TypeError, match="has no attributes of its own, and color is one"):

        class Colored(wb.vec3):
            color = 3


def test_two_values_of_a_vector_type_compare_to_one_bool():
    v = wb.vec3(1, 2, 3)
    assert v == wb.vec3(1, 2, 3) and v == (1, 2, 3) and v != wb.vec3(1, 2, 4) and v != (1, 2)
    assert (v == np.array([1, 0, 3])).tolist() == [True, False, True]


def test_defaults_of_a_struct_hold_here_and_in_kernels():
    @wb.kernel
    def k(y: wb.array[float]):
        s = Spring(count=3)
        y[0] = s.stiffness + s.axis.y + float(s.count)

    y = wb.zeros(1)
    wb.launch(k, 1, outputs=[y])
    assert y.numpy()[0] == 6.5
    assert Spring().stiffness == 2.5 and Spring(axis=(1, 0, 0)).axis == (1, 0, 0) and Spring().count == 0
    with pytest.raises(wb.KernelTypeError, match="The default of n of Bad does not fit"):

        @wb.struct
        class Bad:
            n: wb.int8 = 300


def test_vector_and_matrix_make_values_in_a_kernel():
    @wb.kernel
    def k(x: wb.array[wb.float64], y: wb.array[float]):
        v = wb.vector(x[0], 2.0, 3.0)
        m = wb.matrix(1.0, 2.0, 3.0, 4.0, shape=(2, 2), dtype=float)
        w = wb.vector(1.5, length=3, dtype=float)
        y[0] = float(v[0] + v[2]) + m[1, 0] + w[2]

    y = wb.zeros(1)
    wb.launch(k, 1, [wb.array([0.25], dtype=wb.float64), y])
    assert y.numpy()[0] == 7.75


def test_products_of_integer_vectors_and_matrices():
    @wb.kernel
    def k(a: wb.vec3i, m: wb.matrix((2, 2), int), y: wb.array[int]):
        y[0] = wb.dot(a, a)
        y[1] = (m @ m)[1, 0]
        y[2] = wb.trace(wb.outer(a, a))
        y[3] = wb.cross(a, wb.vec3i(0, 0, 1))[0]
        y[4] = wb.bit_count(a[2])

    y, m = wb.zeros(5, int), np.array([[1, 2], [3, 4]], np.int32)
    wb.launch(k, 1, [wb.vec3i(1, 2, 7), m, y])
    assert y.numpy().tolist() == [54, (m @ m)[1, 0], 54, 2, 3]


def test_spatial_vectors_have_their_products():
    a, b = np.arange(6.0), np.array([2.0, -1, 3, 0.5, 4, -2])
    u, v = wb.spatial_vectord(*a), wb.spatial_vectord(*b)
    top = np.cross(a[:3], b[:3])
    bottom = np.cross(a[3:], b[:3]) + np.cross(a[:3], b[3:])
    assert np.allclose(wb.spatial_cross(u, v), [*top, *bottom])
    dual = np.cross(a[:3], b[:3]) + np.cross(a[3:], b[3:])
    assert np.allclose(wb.spatial_cross_dual(u, v), [*dual, *np.cross(a[:3], b[3:])])
    assert wb.spatial_dot(u, v) == a @ b and np.allclose(wb.spatial_bottom(v), b[3:])


@wb.func
def twice(x: float):
    return 2.0 * x


@wb.func
def twice(x: int):  # noqa: F811
    return twice(float(x))


class Holder:
    @wb.func
    def inner(x: float):
        return x + 1.0

    @wb.func
    def outer(x: float):
        return Holder.inner(x) * 2.0


def test_source_code_of_an_overload_and_of_a_method_that_names_its_class():
    assert twice(3) == 6 and Holder.outer(2.0) == 6


def test_parts_of_vectors_and_matrices_on_the_host_know_their_types():
    v, m = wb.vec4(1, 2, 3, 4), wb.mat33(*range(9))
    assert v[1:3] == wb.vec2(2, 3) and isinstance(v[1:3], wb.vec2) and v[1:] == (2, 3, 4)
    assert m[1] == wb.vec3(3, 4, 5) and isinstance(m[1, 1:], wb.vec2) and isinstance(m[1:, :2], wb.mat22)
    m[1][0] = 7.0
    assert m[1, 0] == 7 and str(v) == "[1.0, 2.0, 3.0, 4.0]" and str(m[1:, 1:]) == "[[4.0, 5.0],\n [7.0, 8.0]]"
    assert type(v[None]) is type(m[None]) is np.ndarray and m[None].shape == (1, *m.shape)  # no part of theirs
    assert m[:, 0:1].shape == (3, 1) and wb.vec4(v[:2], v[2:]) == v == wb.vec4(v[:3], 4)
    with pytest.raises(TypeError, match=r"vec3\(\) takes 0, 1 or 3 components, not 5"):
        wb.vec3(v, 1)


def test_numpy_takes_scalar_types_as_its_own():
    assert np.zeros(2, wb.float64).dtype == np.float64 and np.dtype(wb.int8) == np.int8
    assert np.arange(3).astype(wb.uint16).dtype == np.uint16


@wb.kernel
def compared(v: wb.array[wb.vec3], m: wb.array[wb.mat22], o: wb.array2d[int]):
    i = wb.tid()
    o[i, 0] = int(v[i] == wb.vec3(1.0, 2.0, 3.0))
    o[i, 1] = int(v[i] != wb.vec3(1.0, 2.0, 3.0))
    o[i, 2] = int(m[i] == wb.mat22(1.0, 0.0, 0.0, 1.0))
    o[i, 3] = int(wb.vec4(v[i], 4.0) == wb.vec4(1.0, 2.0, 3.0, 4.0))
    wb.expect_near(v[i], v[i] + wb.vec3(0.25), tolerance=0.5)


def test_vectors_compare_whole_in_kernels_as_on_the_host():
    v = np.array([[1, 2, 3], [1, 2, 4], [np.nan, 2, 3]], np.float32)
    m = np.array([np.eye(2), np.ones((2, 2)), np.eye(2)], np.float32)
    o = wb.zeros((3, 4), int)
    wb.launch(compared, 3, [wb.array(v, wb.vec3), wb.array(m, wb.mat22), o], checks=False)
    same = (v == [1, 2, 3]).all(axis=1)
    assert o.numpy().tolist() == np.stack([same, ~same, (m == np.eye(2)).all(axis=(1, 2)), same], axis=1).tolist()


def test_vectors_of_two_lengths_do_not_compare():
    @wb.kernel
    def two_lengths(o: wb.array[int]):
        o[0] = int(wb.vec3(1.0) == wb.vec2(1.0))

    with pytest.raises(wb.WorkbenchError, match="vec3, vec2"):
        wb.launch(two_lengths, 1, [wb.zeros(1, int)])


def test_a_rotation_is_read_from_a_matrix_of_four_rows():
    q = wb.quat_rpy(0.3, -0.5, 0.7)
    m = np.eye(4)
    m[:3, :3], m[:3, 3] = wb.quat_to_matrix(q), (5, 6, 7)
    assert np.allclose(wb.quat_from_matrix(wb.mat44(m)), q, atol=1e-6)


@wb.func
def set_first(x: wb.array[float], value: float):
    x[0] = value


def test_a_func_without_a_result_can_be_called_from_python():
    x = wb.zeros(2)
    assert set_first(x, 3.0) is None and x.numpy().tolist() == [3, 0]
