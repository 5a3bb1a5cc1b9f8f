"""The CUDA C++ of kernels, on the emulated device, means what the interpreter means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.support.devices import on_gpu
from tests.support.devices.undefined import undefined
from tests.support.kernels.cuda_kernels import KERNELS, Make, array
from workbench.backends.base import Options
from workbench.backends.cuda.emit import emit_cuda
from workbench.backends.python import interpret
from workbench.ir import Function
from workbench.types import SCALARS, Kind, Vector, float32, int32

RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _compiler(need: Callable[[str], str]) -> None:
    need("nvrtc")


def both(function: Function, dim: Any, args: Sequence[Any], options: Options | None = None) -> list[tuple[Any, Any]]:
    """Each array argument after the interpreter and after the host run."""
    mine, theirs = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    for copies in (mine, theirs):
        # `copy` packs an array: what was strided before is strided again.
        for n, a in enumerate(args):
            if isinstance(a, np.ndarray) and not a.flags.c_contiguous:
                copies[n] = like(a)
    interpret.run(function, dim, mine)
    on_gpu.run(function, dim, theirs, options=options)
    return [(a, b) for a, b in zip(mine, theirs, strict=True) if isinstance(a, np.ndarray)]


def like(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy with the same strides."""
    base = np.zeros(sum(abs(s) * (n - 1) for s, n in zip(a.strides, a.shape, strict=True)) + a.itemsize, np.uint8)
    start = sum(-s * (n - 1) for s, n in zip(a.strides, a.shape, strict=True) if s < 0)
    copy = np.ndarray(a.shape, a.dtype, base, start, a.strides)
    copy[...] = a
    return copy


def assert_same(pairs: list[tuple[Any, Any]]) -> None:
    for expected, got in pairs:
        if got.dtype.kind == "V":  # bfloat16: NumPy's tests do not know its NaN
            got, expected = got.astype(np.float32), expected.astype(np.float32)
        np.testing.assert_array_equal(got.view(got.dtype), expected)
        assert not np.any(np.signbit(got.astype(float)) != np.signbit(expected.astype(float)))


def f32(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.normal(size=shape).astype(np.float32)


ARGUMENTS: dict[str, Callable[[], tuple[Any, list[Any]]]] = {
    "saxpy": lambda: (101, [f32(101), f32(101), np.float32(0.1)]),
    "saxpy_adjoint": lambda: (77, [f32(77), f32(77), np.float32(0.7), f32(77), f32(77), np.zeros(1, np.float32)]),
    "blur": lambda: ((9, 13), [f32(9, 13), np.zeros((9, 13), np.float32), np.int32(2)]),
    "collatz": lambda: (60, [np.arange(-3, 57, dtype=np.int32), np.zeros(60, np.int32)]),
    "fibonacci": lambda: (9, [np.arange(-1, 8, dtype=np.int32), np.zeros(9, np.float32)]),
    "particles": lambda: (50, [f32(50, 3), f32(50, 3), np.zeros(50, np.float32)]),
    "histogram": lambda: (
        (20, 30),
        [
            RNG.integers(0, 256, (20, 30), np.uint8),
            np.zeros(256, np.int32),
            np.zeros(1, np.int64),
            np.zeros(257, np.int8),
        ],
    ),
    "hashing": lambda: (
        64,
        [RNG.integers(-(2**31), 2**31, 64, np.int32), np.zeros(64, np.int32), np.zeros(64, np.int64)],
    ),
    "early_out": lambda: (30, [RNG.normal(size=30) * 3, np.zeros(30), np.uint32(25)]),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_kernels_mean_what_the_interpreter_means(name: str) -> None:
    dim, args = ARGUMENTS[name]()
    pairs = both(KERNELS[name](), dim, args)
    if name in ("particles", "early_out"):
        for expected, got in pairs:
            np.testing.assert_allclose(got, expected, rtol=3e-7)
    elif name == "saxpy_adjoint":  # a warp's sum is a tree
        for expected, got in pairs:
            np.testing.assert_allclose(got, expected, rtol=2e-6)
    else:
        assert_same(pairs)
    assert any(np.any(a != b) for (a, _), b in zip(pairs, (a for a in args if isinstance(a, np.ndarray)), strict=True))


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_strides_are_read_where_arrays_may_be_views(name: str) -> None:
    dim, args = ARGUMENTS[name]()
    strided = [strewn(a) if isinstance(a, np.ndarray) else a for a in args]
    assert any(isinstance(a, np.ndarray) and not a.flags.c_contiguous for a in strided)
    dense = both(KERNELS[name](), dim, args)
    views = both(KERNELS[name](), dim, strided, Options(contiguous=False))
    for (expected, _), (_, got) in zip(dense, views, strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-6)


def strewn(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same values in every second element of the first axis, backwards; components of vectors stay together."""
    wide = np.zeros((2 * a.shape[0], *a.shape[1:]), a.dtype)
    view = wide[::-2]
    view[...] = a
    return view


def test_ranges_count_as_pythons_up_to_the_ends_of_the_type() -> None:
    low, high = -(2**31), 2**31 - 1
    starts = [0, 5, -5, 10, high - 3, low + 3, high - 2, low + 4, 0, 7]
    stops = [10, 5, 7, -10, high, low, high, low, -1, 6]
    steps = [3, 1, 2, -3, 2, -2, 2**30, -(2**30), 5, -1]
    columns = [np.array(c, np.int32) for c in (starts, stops, steps)]
    k = KERNELS["ranges"]()
    # The interpreter would take hours for the whole range, so the ends are reached from near.
    dim = len(starts)
    near = [np.abs(columns[1].astype(np.int64) - columns[0]) < 100]
    assert np.all(near)
    assert_same(both(k, dim, [*columns, np.zeros((dim, 5), np.int32)]))


def test_a_kernel_that_never_asks_its_index_runs_for_every_thread() -> None:
    k = Make("count", 0, out=array(int32))
    k.atomic_add(k.out, k.const(0), k.const(1))
    for dim in (1, 5, (3, 4), (2, 3, 4), (2, 1, 3, 5)):
        assert_same(both(k.done() if dim == 1 else count(), dim, [np.zeros(1, np.int32)]))


def count() -> Function:
    k = Make("count", 0, out=array(int32))
    k.atomic_add(k.out, k.const(0), k.const(1))
    return k.done()


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_thread_indices_are_row_major(ndim: int) -> None:
    k = Make("where_am_i", ndim, out=array(int32, ndim))
    indices = [k.tid(axis, "abcd"[axis]) for axis in range(ndim)]
    total = indices[0]
    for index in indices[1:]:
        total = total * 10 + index
    k.store(k.out, *indices, total)
    shape = (3, 4, 2, 5)[:ndim]
    assert_same(both(k.done(), shape, [np.zeros(shape, np.int32)]))


def test_no_thread_runs_in_an_empty_launch() -> None:
    ((_, got), *_) = both(KERNELS["saxpy"](), 0, [f32(3), f32(3), np.float32(2)])
    assert got.shape == (3,)


EDGES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.9, 127.5, 128.0, -128.5, 255.9, 256.0, 32767.5, -32769.0, 65535.5, 2147483520.0,
         2147483648.0, -2147483648.0, -2147483904.0, 4294967040.0, 4294967296.0, 9.223371487098962e18,
         9.223372036854775807e18, -9.223372036854775807e18, 1.8446742974197924e19, 1.8446744073709552e19, 1e30, -1e30,
         np.inf, -np.inf, np.nan, 1e-45, 1e-310]  # fmt: skip


def _casts(source: str, kinds: list[Any]) -> Function:
    k = Make(f"casts_{source}", 1, x=array(SCALARS[source]), **{f"to_{t.name}": array(t) for t in kinds})
    i = k.tid()
    v = k.named("v", k.load(k.x, i))
    for t in kinds:
        k.store(getattr(k, f"to_{t.name}"), i, v.cast(t))
    return k.done()


@pytest.mark.sample(5)
@pytest.mark.parametrize("source", SCALARS)
def test_casts_at_the_edges(source: str) -> None:
    kinds = [t for t in SCALARS.values() if t.name != source]
    dtype = SCALARS[source].numpy
    if dtype.kind in "fV":
        with np.errstate(all="ignore"):
            values = np.array(EDGES).astype(dtype)
    elif dtype.kind == "b":
        values = np.array([False, True])
    else:
        ends = np.iinfo(dtype)
        values = np.array([0, 1, 5, ends.min, ends.max, ends.max - 1, ends.max // 2 + 1], dtype)
    args = [values, *(np.zeros(len(values), t.numpy) for t in kinds)]
    assert_same(both(_casts(source, kinds), len(values), args))


def test_casts_of_vectors() -> None:
    wide, narrow = Vector(3, float32), Vector(3, SCALARS["int8"])
    k = Make("vector_casts", x=array(wide), out=array(narrow))
    i = k.tid()
    k.store(k.out, i, (k.load(k.x, i) * 100.0).cast(narrow))
    assert_same(both(k.done(), 20, [f32(20, 3), np.zeros((20, 3), np.int8)]))


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int32", "uint32", "int64", "uint64", "int8", "uint8", "int16", "uint16"]
)
def test_atomic_add_gives_the_old_value(dtype: str) -> None:
    t = SCALARS[dtype]
    k = Make(f"tally_{dtype}", x=array(t), sums=array(t), old=array(t))
    i = k.tid()
    k.store(k.old, i, k.atomic_add(k.sums, k.call("mod", i, i.like(3)), k.load(k.x, i)))
    values = np.arange(1, 41).astype(t.numpy) * t.numpy.type(7)
    assert_same(both(k.done(), 40, [values, np.zeros(3, t.numpy), np.zeros(40, t.numpy)]))


@pytest.mark.parametrize("name", ["vec2", "vec3d", "vec4i", "vec2l", "vec3ui"])
def test_vectors(name: str) -> None:
    from workbench.types import VECTORS

    vector = VECTORS[name]
    k = Make(f"vectors_{name}", x=array(vector), y=array(vector), out=array(vector), which=array(int32), s=vector.dtype)
    i = k.tid()
    x, y = k.named("x", k.load(k.x, i)), k.named("y", k.load(k.y, i))
    which = k.load(k.which, i)
    total = k.named("total", x * y - y + x * k.s)
    if vector.dtype.kind is not Kind.UINT:
        total = k.named("total", -total + k.s * x)
    if vector.dtype.kind is Kind.FLOAT:
        total = k.named("total", total / y)
    picked = k.extract(total, which)
    total = k.named("total", k.insert(total, which, picked + picked))
    total = k.named("total", k.insert(total, k.const(1), k.extract(total, k.const(0))))
    k.store(k.out, i, total)
    k.atomic_add(k.out, k.const(0), k.vec(vector, *(k.extract(y, k.const(n)) for n in range(vector.length))))
    shape = (30, vector.length)
    low = 0 if vector.dtype.kind is Kind.UINT else -(2**31)
    make = (lambda: RNG.normal(size=shape) + 4) if vector.dtype.kind is Kind.FLOAT else (
        lambda: RNG.integers(low, 2**31, shape))  # fmt: skip
    args = [make().astype(vector.dtype.numpy), make().astype(vector.dtype.numpy), np.zeros(shape, vector.dtype.numpy)]
    which_data = RNG.integers(0, vector.length, 30).astype(np.int32)
    assert_same(both(k.done(), 30, [*args, which_data, vector.dtype.numpy.type(3)]))


@pytest.mark.parametrize("name", ["hashing", "collatz", "histogram"])
def test_exact_arithmetic_has_nothing_that_cpp_leaves_undefined(name: str, need: Callable[[str], str]) -> None:
    need("g++")
    assert undefined(KERNELS[name](), *ARGUMENTS[name]()) == ""


def test_ranges_up_to_the_ends_have_nothing_that_cpp_leaves_undefined(need: Callable[[str], str]) -> None:
    need("g++")
    edge = [np.array(c, np.int32) for c in ([2**31 - 3, -(2**31) + 3], [2**31 - 1, -(2**31)], [2**30, -(2**30)])]
    assert undefined(KERNELS["ranges"](), 2, [*edge, np.zeros((2, 5), np.int32)]) == ""


def test_an_overflow_is_seen(need: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    need("g++")
    from tests.support.devices import undefined as tool

    def signed(function: Function, options: Options) -> str:
        return emit_cuda(function, options).replace("U", "")

    monkeypatch.setattr(tool, "emit_cuda", signed)
    assert "signed integer overflow" in undefined(KERNELS["hashing"](), *ARGUMENTS["hashing"]())
