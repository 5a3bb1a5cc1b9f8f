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
