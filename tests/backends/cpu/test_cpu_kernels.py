"""Hand-built kernels on the CPU against NumPy: elements, dimensions, strides, vectors, types in memory."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.backends.base import Options
from workbench.ir import Builder, Function, Value
from workbench.types import (
    VECTORS,
    ArrayType,
    Vector,
    bool,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

STRIDED = Options(contiguous=False)


def tids(b: Builder, count: int) -> list[Value]:
    return [b.one("tid", (), int32, {"axis": a}) for a in range(count)]


def saxpy(dtype=float32) -> Function:
    a, x, y = Value(dtype, "a"), Value(ArrayType(dtype), "x"), Value(ArrayType(dtype), "y")
    b = Builder()
    (i,) = tids(b, 1)
    scaled = b.one("mul", (a, b.load(x, i)), dtype)
    b.store(y, i, b.one("add", (scaled, b.load(y, i)), dtype))
    return Function("saxpy", (a, x, y), b.body(), 1)


def copy(dtype, ndim: int) -> Function:
    x, y = Value(ArrayType(dtype, ndim), "x"), Value(ArrayType(dtype, ndim), "y")
    b = Builder()
    i = tids(b, ndim)
    b.store(y, *i, b.load(x, *i))
    return Function("copy", (x, y), b.body(), ndim)


@pytest.mark.parametrize("dtype", [float32, float64, int32, uint8, int64])
@pytest.mark.parametrize("options", [Options(), STRIDED])
def test_saxpy(launch, dtype, options):
    n = 1003
    x = (np.arange(n) * 7 % 256).astype(dtype.numpy)
    y = (np.arange(n) * 5 % 256).astype(dtype.numpy)
    with np.errstate(over="ignore"):
        expected = dtype.numpy.type(3) * x + y
    launch(saxpy(dtype), [n], [3, x, y], options)
    assert np.array_equal(y, expected)


def test_arithmetic_is_not_contracted(launch):
    n = 4096
    rng = np.random.default_rng(1)
    x, y = rng.random(n, np.float32), rng.random(n, np.float32)
    expected = np.float32(1.1) * x + y
    launch(saxpy(), [n], [1.1, x, y])
    assert expected.tobytes() == y.tobytes()


@pytest.mark.parametrize("shape", [(5,), (7, 13), (3, 5, 9), (2, 3, 4, 5), (1, 1, 17), (9, 1)])
@pytest.mark.parametrize("options", [Options(), STRIDED])
def test_every_thread_once(launch, shape, options):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    y = np.zeros_like(x)
    launch(copy(float32, len(shape)), shape, [x, y], options)
    assert np.array_equal(x, y)


@pytest.mark.parametrize("cuts", [[1], [12, 13, 14], [6, 100, 101, 389], [0, 0, 390]])
def test_any_split_gives_the_same(launch, cuts):
    shape = (10, 3, 13)
    ndim = len(shape)
    x = Value(ArrayType(int64, ndim), "x")
    b = Builder()
    i = tids(b, ndim)
    value = b.const(0, int64)
    for index in i:
        scaled = b.one("mul", (value, b.const(1000, int64)), int64)
        value = b.one("add", (scaled, b.cast(index, int64)), int64)
    old = b.load(x, *i)
    b.store(x, *i, b.one("add", (old, value), int64))
    out = np.zeros(shape, np.int64)
    launch(Function("where", (x,), b.body(), ndim), shape, [out], cuts=cuts)
    a, c, d = np.indices(shape)
    assert np.array_equal(out, (a * 1000 + c) * 1000 + d)


def test_no_thread_no_work(launch):
    y = np.ones(4, np.float32)
    launch(copy(float32, 1), [0], [np.zeros(0, np.float32), y])
    launch(copy(float32, 2), [3, 0], [np.zeros((3, 0), np.float32), np.zeros((3, 0), np.float32)])
    assert np.array_equal(y, np.ones(4))


def test_strided_and_reversed_views(launch):
    base = np.arange(60, dtype=np.float64).reshape(6, 10)
    out = np.zeros((10, 6))
    launch(copy(float64, 2), [5, 3], [base[::-2, ::2].T, out[::2, ::2]], STRIDED)
    assert np.array_equal(out[::2, ::2], base[::-2, ::2].T)
    assert not out[1::2].any() and not out[:, 1::2].any()


def test_broadcast_stride_zero(launch):
    row = np.arange(4, dtype=np.int32)
    out = np.zeros((3, 4), np.int32)
    launch(copy(int32, 2), [3, 4], [np.broadcast_to(row, (3, 4)), out], STRIDED)
    assert np.array_equal(out, np.broadcast_to(row, (3, 4)))


@pytest.mark.parametrize("options", [Options(), STRIDED])
@pytest.mark.parametrize("name", ["vec2", "vec3", "vec4d", "vec3i", "vec2ub"])
def test_vector_elements(launch, name, options):
    t = VECTORS[name]
    x = np.arange(20 * t.length, dtype=t.dtype.numpy).reshape(20, t.length)
    y = np.zeros_like(x)
    launch(copy(t, 1), [20], [x, y], options)
    assert np.array_equal(x, y)


def test_vector_operations(launch):
    vec3 = VECTORS["vec3"]
    x, s, y = Value(ArrayType(vec3), "x"), Value(vec3, "s"), Value(ArrayType(vec3), "y")
    b = Builder()
    (i,) = tids(b, 1)
    total = b.one("add", (b.load(x, i), s), vec3)
    first = b.one("extract", (total, b.const(0)), float32)
    packed = b.one("vec", (first, b.const(5.0, float32), b.one("dot", (total, s), float32)), vec3)
    axis = b.one("mod", (i, b.const(3)), int32)
    picked = b.one("extract", (packed, axis), float32)
    swapped = b.one("insert", (packed, axis, b.one("neg", (picked,), float32)), vec3)
    b.store(y, i, swapped)
    n = 30
    data = np.random.default_rng(0).random((n, 3), np.float32)
    shift = np.array([1, 2, 3], np.float32)
    out = np.zeros((n, 3), np.float32)
    launch(Function("vectors", (x, s, y), b.body(), 1), [n], [data, shift, out])
    total = data + shift
    expected = np.stack([total[:, 0], np.full(n, 5, np.float32), total @ shift], axis=1)
    expected[np.arange(n), np.arange(n) % 3] *= -1
    assert np.allclose(out, expected, rtol=1e-6)


def test_bools_in_memory_and_as_parameters(launch):
    x, flag, y = Value(ArrayType(bool), "x"), Value(bool, "flag"), Value(ArrayType(bool), "y")
    b = Builder()
    (i,) = tids(b, 1)
    b.store(y, i, b.one("xor_", (b.load(x, i), b.one("not_", (flag,), bool)), bool))
    kernel = Function("flip", (x, flag, y), b.body(), 1)
    data = np.arange(100) % 3 == 0
    for given in (True, False):
        out = np.zeros(100, np.bool_)
        launch(kernel, [100], [data, given, out])
        assert np.array_equal(out, data ^ (not given))
        assert set(np.unique(out.view(np.uint8))) <= {0, 1}


def test_shape_and_narrow_indices(launch):
    x, y = Value(ArrayType(float32, 2), "x"), Value(ArrayType(int32), "y")
    b = Builder()
    rows, columns = (b.one("shape", (x,), int32, {"axis": a}) for a in (0, 1))
    b.store(y, b.const(0, uint8), rows)
    b.store(y, b.const(1, int64), columns)
    out = np.zeros(2, np.int32)
    launch(Function("sizes", (x, y), b.body(), 0), [1], [np.zeros((6, 11), np.float32), out])
    assert out.tolist() == [6, 11]


EDGES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.5, -1.5, 3e9, -3e9, 5e18, 1e20, -1e20, 127.9, 128.0, 255.9, -128.9]
for _bits in (7, 8, 15, 16, 31, 32, 63, 64):  # each limit and its neighbours
    EDGES += [
        s * n for s in (1, -1) for n in (2.0**_bits, np.nextafter(2.0**_bits, 0), 2.0**_bits - 0.5, 2.0**_bits + 1)
    ]
EDGES *= 3  # vectors, and some behind


@pytest.mark.parametrize("source", [float32, float64])
@pytest.mark.parametrize("target", [int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool])
def test_float_to_integer_saturates(launch, source, target):
    x, y = Value(ArrayType(source), "x"), Value(ArrayType(target), "y")
    b = Builder()
    (i,) = tids(b, 1)
    b.store(y, i, b.cast(b.load(x, i), target))
    data = np.array(EDGES, source.numpy)
    out = np.zeros(len(EDGES), target.numpy)
    launch(Function("cast", (x, y), b.body(), 1), [len(EDGES)], [data, out])
    if target == bool:
        assert np.array_equal(out, data != 0)
        return
    info = np.iinfo(target.numpy)
    values = [0 if np.isnan(v) else info.max if v >= info.max else info.min if v <= info.min else int(v) for v in data]
    assert out.tolist() == values


@pytest.mark.parametrize("source", [int8, int32, uint32, int64, uint64, bool])
@pytest.mark.parametrize("target", [int8, uint8, int32, int64, uint64, float32, float64, bool])
def test_integer_casts_wrap(launch, source, target):
    x, y = Value(ArrayType(source), "x"), Value(ArrayType(target), "y")
    b = Builder()
    (i,) = tids(b, 1)
    b.store(y, i, b.cast(b.load(x, i), target))
    data = np.array([0, 1, -1, 127, 128, 300, -(2**31), 2**31 - 1, 2**40 + 3, -(2**63)]).astype(source.numpy)
    out = np.zeros(len(data), target.numpy)
    launch(Function("cast", (x, y), b.body(), 1), [len(data)], [data, out])
    assert np.array_equal(out, data.astype(target.numpy))


def test_two_kernels_of_one_name_live_side_by_side(packed):
    from workbench.backends.cpu.native.dispatch import dispatch

    x = np.arange(4, dtype=np.float32)
    outs = [np.zeros(4, np.float32) for _ in range(2)]
    codes = []
    for factor, out in zip((2, 3), outs, strict=True):
        a, y = Value(ArrayType(float32), "a"), Value(ArrayType(float32), "y")
        b = Builder()
        (i,) = tids(b, 1)
        b.store(y, i, b.one("mul", (b.load(a, i), b.const(factor, float32)), float32))
        codes.append(packed(Function("twin", (a, y), b.body(), 1), [4], [x, out]))
    for code, buffer in codes:
        dispatch(code.address, buffer.ctypes.data, 4, 1)
    assert np.array_equal(outs[0], 2 * x) and np.array_equal(outs[1], 3 * x)


def test_constants_keep_all_bits(launch):
    values = [0.1, 1e-45, -0.0, np.inf, -np.inf, np.nan, 3.4e38, 1 / 3]
    y = Value(ArrayType(float32), "y")
    b = Builder()
    for k, v in enumerate(values):
        b.store(y, b.const(k), b.const(v, float32))
    out = np.ones(len(values), np.float32)
    launch(Function("constants", (y,), b.body(), 0), [1], [out])
    assert out.tobytes() == np.array(values, np.float32).tobytes()


def test_a_vector_constant(launch):
    t = Vector(3, float64)
    y = Value(ArrayType(t), "y")
    b = Builder()
    b.store(y, b.const(0), b.const((0.1, 2, -3), t))
    out = np.zeros((1, 3))
    launch(Function("constant", (y,), b.body(), 0), [1], [out])
    assert out.tolist() == [[0.1, 2.0, -3.0]]
