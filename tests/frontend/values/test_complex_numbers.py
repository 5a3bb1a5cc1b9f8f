"""Complex numbers in kernels, against NumPy and CPython: infinities, NaN, zeros of both signs, tiny, huge numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from workbench.backends.python.interpret import run

ONE = ("exp", "log", "sqrt", "sin", "cos", "sinh", "cosh", "tanh", "conj", "square", "reciprocal", "negative")
TWO = ("add", "subtract", "multiply", "divide")
ULP = {"tanh": 10}
"""How far a part may be from NumPy's, in units of its last place; 4 of all others."""
WHOLE = ("square", "multiply")
"""Products, whose parts are differences of products: their errors are counted in units of the magnitude."""
KINDS = {np.complex64: np.float32, np.complex128: np.float64}


@wb.kernel
def functions(x: wb.array[Any], y: wb.array2d[Any], size: wb.array[Any]):
    i = wb.tid()
    z = x[i]
    y[0, i] = wb.exp(z)
    y[1, i] = np.log(z)
    y[2, i] = wb.sqrt(z)
    y[3, i] = wb.sin(z)
    y[4, i] = wb.cos(z)
    y[5, i] = wb.sinh(z)
    y[6, i] = wb.cosh(z)
    y[7, i] = wb.tanh(z)
    y[8, i] = wb.conj(z)
    y[9, i] = z**2
    y[10, i] = z**-1
    y[11, i] = -z
    size[i] = abs(z)


@wb.kernel
def operators(a: wb.array[Any], b: wb.array[Any], y: wb.array2d[Any], same: wb.array2d[bool]):
    i = wb.tid()
    y[0, i] = a[i] + b[i]
    y[1, i] = a[i] - b[i]
    y[2, i] = a[i] * b[i]
    y[3, i] = a[i] / b[i]
    same[0, i] = a[i] == b[i]
    same[1, i] = a[i] != b[i]
    same[2, i] = not a[i]


def values(kind: type, count: int = 500) -> np.ndarray:
    """Pairs of zeros, infinities, NaN, the largest and least parts; random numbers; some near the unit circle."""
    f = np.finfo(KINDS[kind])
    most = float(f.max) * 0.9
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -30.0, np.inf, -np.inf, np.nan, most, -most, most / 3, float(f.tiny) * 0.3]
    parts += [float(f.smallest_subnormal), np.log(most) + 1.0, -np.log(most) - 2.0]
    grid = np.array([complex(x, y) for x in parts for y in parts], kind)
    rng = np.random.default_rng(5)
    wide = rng.normal(size=(2, count)) * np.exp(2.0 * rng.normal(size=(2, count)))
    circle = np.exp(1j * rng.uniform(-np.pi, np.pi, count)) * (1.0 + 1e-4 * rng.normal(size=count))
    return np.concatenate([grid, (wide[0] + 1j * wide[1]).astype(kind), circle.astype(kind)])


def check(got: np.ndarray, want: np.ndarray, ulp: float, whole: bool = False) -> None:
    """Each part is near NumPy's, infinite or NaN where NumPy's is.

    Signs of infinities whose other part is NaN are unspecified in C's annex G, and differ between platforms.
    """
    parts = [(got.real, want.real, want.imag), (got.imag, want.imag, want.real)]
    most = np.fmax(abs(want.real), abs(want.imag))
    for ours, theirs, other in parts if want.dtype.kind == "c" else [(got, want, want)]:
        open_sign = np.isinf(theirs) & np.isnan(other)
        ours, theirs = (np.where(open_sign, abs(v), v) for v in (ours, theirs))
        sizes = np.where(np.isfinite(most), most, abs(theirs)) if whole else abs(theirs)
        if whole:  # NumPy fuses products with sums, which keeps an infinity where two overflows are a NaN
            kept = np.isfinite(most) | np.isfinite(ours)
            ours, theirs, sizes = ours[kept], theirs[kept], sizes[kept]
        unit = np.spacing(np.where(np.isfinite(sizes), sizes, 1).astype(ours.dtype))
        near = np.isfinite(ours) & np.isfinite(theirs) & (abs(ours - theirs) <= ulp * unit)
        bad = ~(near | (ours == theirs) | (np.isnan(ours) & np.isnan(theirs)))
        assert not bad.any(), (np.flatnonzero(bad)[:4], ours[bad][:4], theirs[bad][:4])


def check_functions(x: np.ndarray, y: np.ndarray, size: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        for name, ours in zip(ONE, y, strict=True):
            theirs = 1 / x if name == "reciprocal" else getattr(np, name)(x)
            check(ours, theirs, ULP.get(name, 4), name in WHOLE)
        check(size, np.abs(x), 4)


def check_operators(a: np.ndarray, b: np.ndarray, y: np.ndarray, same: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        for name, ours in zip(TWO, y, strict=True):
            check(ours, getattr(np, name)(a, b), 4, name in WHOLE)
    assert (same[0] == (a == b)).all() and (same[1] == (a != b)).all() and (same[2] == (a == 0)).all()


SLOWLY = pytest.param("emulated", marks=pytest.mark.slow)


@pytest.mark.parametrize("device", ["cpu", SLOWLY])
@pytest.mark.parametrize("kind", KINDS)
def test_functions_are_numpys(kind: type, device: str, need: Any) -> None:
    if device == "emulated":
        need("nvrtc")
    x = values(kind)
    with wb.ScopedDevice(device):
        y, size = wb.zeros((len(ONE), x.size), dtype=kind), wb.zeros(x.size, dtype=KINDS[kind])
        wb.launch(functions, x.size, [wb.array(x), y, size])
        check_functions(x, y.numpy(), size.numpy())


@pytest.mark.parametrize(("kind", "device"), [(k, "cpu") for k in KINDS] + [(np.complex64, "emulated")])
def test_operators_are_numpys(kind: type, device: str, need: Any) -> None:
    if device == "emulated":
        need("nvrtc")
    x = values(kind)
    b = np.roll(x[::-1], 77)
    with wb.ScopedDevice(device):
        y, same = wb.zeros((len(TWO), x.size), dtype=kind), wb.zeros((3, x.size), dtype=bool)
        wb.launch(operators, x.size, [wb.array(x), wb.array(b), y, same])
        check_operators(x, b, y.numpy(), same.numpy())


def test_the_interpreter_agrees_and_python() -> None:
    x = values(np.complex128, 20)[::3]
    y, size = np.zeros((len(ONE), x.size), x.dtype), np.zeros(x.size)
    wb.launch(functions, x.size, [wb.array(x), wb.array(y), wb.array(size)])
    run(functions.used.function, (x.size,), [x, y, size])
    check_functions(x, y, size)
    finite = [z for z in x.tolist() if 1e-100 < np.abs(z) < 1e100]
    assert len(finite) > 15
    for z in finite:
        place = x.tolist().index(z)
        assert np.allclose([z**2, 1 / z, -z, z.conjugate()], y[[9, 10, 11, 8], place], rtol=1e-14, atol=0)


TEXT = """
TURN = 0.6 + 0.8j

def promoted(x: array[complex64], d: array[float64], f: array[float], n: array[int], y: array2d[complex64],
             w: array2d[complex128]):
    i = tid()
    y[0, i] = x[i] * f[i] + n[i] - 1
    y[1, i] = 2.0 + 1j - x[i] / 2
    y[2, i] = f[i] * 1j
    y[3, i] = n[i]
    y[4, i] = TURN * x[i] if f[i] > 0.0 else 1j
    y[5, i] = complex(f[i], x[i].imag) + complex64(2, 3.5) + complex64(n[i])
    w[0, i] = x[i] * d[i]
    w[1, i] = d[i] * 0.1j
    w[2, i] = complex(d[i], 1.0) + complex128(x[i]) * TURN
    w[3, i] = exp(0.25j) * d[i]

def loops(c: array[complex128], z: array[complex128], steps: array[int]):
    i = tid()
    w, n = 0j, 0
    s = 0.0
    while abs(w) < 2.0 and n < 50:
        w = w * w + c[i]
        s += w
        n += 1
    z[i] = s
    steps[i] = n

def powers(x: array[complex128], n: array[int], y: array2d[complex128]):
    i = tid()
    y[0, i] = x[i] ** n[i]
    y[1, i] = x[i] ** 0.5
    y[2, i] = x[i] ** (1 - 2j)
    y[3, i] = x[i] ** 13

def sums(x: array[complex64], s: array[complex64], seen: array[bool]):
    i = tid()
    s[0] += x[i]
    s[1] -= x[i] * 2.0
    s[2] += 1
    atomic_add(s, 3, x[i])
    x[i] *= 1j
    seen[i] = isnan(x[i]) or isinf(x[i])

def says(x: array[complex64]):
    i = tid()
    print("z =", x[i], 1j)
"""


@pytest.fixture(scope="module")
def kernels() -> dict[str, Any]:
    return define(TEXT)


def test_promotion_literals_and_casts(kernels: dict[str, Any]) -> None:
    x = np.array([1 + 2j, -0.5j, 3], np.complex64)
    d, f, n = np.array([0.1, -2, 5]), np.array([1, -2, 0.5], np.float32), np.array([3, -4, 7], np.int32)
    y, w = wb.zeros((6, 3), dtype=complex), wb.zeros((4, 3), dtype=wb.complex128)
    wb.launch(kernels["promoted"], 3, [wb.array(v) for v in (x, d, f, n)], [y, w])
    turn = 0.6 + 0.8j
    want = [x * f + n - 1, 2 + 1j - x / 2, f * 1j, n, np.where(f > 0, turn * x, 1j)]
    want.append(f + 1j * x.imag + (2 + 3.5j) + n)
    np.testing.assert_allclose(y.numpy(), np.array(want), rtol=2e-7)
    wide = [x * d, d * 0.1j, d + 1j + x.astype(complex) * turn, np.exp(0.25j) * d]
    np.testing.assert_allclose(w.numpy(), np.array(wide), rtol=1e-15)


def test_mandelbrot_and_a_sum_that_becomes_complex_in_the_loop(kernels: dict[str, Any]) -> None:
    x, y = np.meshgrid(np.linspace(-2, 0.6, 14), np.linspace(-1.2, 1.2, 11))
    c = (x + 1j * y).ravel()
    z, steps = wb.zeros(c.size, dtype=wb.complex128), wb.zeros(c.size, dtype=int)
    wb.launch(kernels["loops"], c.size, [wb.array(c), z, steps])
    for k, point in enumerate(c.tolist()):
        w, total, n = 0j, 0j, 0
        while abs(w) < 2.0 and n < 50:
            w = w * w + point
            total += w
            n += 1
        assert steps.numpy()[k] == n and np.isclose(z.numpy()[k], total, rtol=1e-9)


def test_powers(kernels: dict[str, Any]) -> None:
    x = np.array([1.5 - 2j, -0.3 + 0.1j, 0, 0, 2, 1e-3j])
    n = np.array([5, -3, 0, 4, -60, 99], np.int32)
    y = wb.zeros((4, 6), dtype=wb.complex128)
    wb.launch(kernels["powers"], 6, [wb.array(x), wb.array(n), y])
    with np.errstate(all="ignore"):
        want = np.array([[a**b for a, b in zip(x, n.tolist(), strict=True)], x**0.5, x ** (1 - 2j), x**13])
    np.testing.assert_allclose(y.numpy()[:, [0, 1, 4]], want[:, [0, 1, 4]], rtol=1e-13)
    np.testing.assert_allclose(y.numpy()[[0, 1, 3]], want[[0, 1, 3]], rtol=1e-13)


def test_sums_in_memory_and_print(kernels: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    x = (np.arange(400) * 0.25 + 1j * np.arange(400)[::-1]).astype(np.complex64)
    x[7] = complex(np.inf, 1)
    a, s, seen = wb.array(x), wb.zeros(4, dtype=complex), wb.zeros(400, dtype=bool)
    wb.launch(kernels["sums"], 400, [a, s, seen])
    total = x.astype(complex).sum()
    np.testing.assert_allclose(s.numpy().real, [np.inf, -np.inf, 400, np.inf])
    np.testing.assert_allclose(s.numpy().imag, [total.imag, np.nan, 0, total.imag], rtol=1e-5)  # inf * 0, as NumPy's
    np.testing.assert_array_equal(a.numpy()[8:], x[8:] * np.complex64(1j))
    assert seen.numpy().sum() == 1 and seen.numpy()[7]
    wb.launch(kernels["says"], 2, [wb.array([1.5 - 2j, 1j])])
    wb.synchronize()
    assert capsys.readouterr().out == "z = (1.5-2j) 1j\nz = 1j 1j\n"


@wb.struct
class Wave:
    amplitude: wb.complex64
    phase: float
    deep: wb.complex128


@wb.func
def turned(w: Any, by: float, offset=0.5j):
    return w * wb.exp(1j * by) + offset


def test_structs_funcs_and_arguments() -> None:
    @wb.kernel
    def move(waves: wb.array[Wave], one: Wave, by: complex, y: wb.array[complex]):
        i = wb.tid()
        waves[i].amplitude = turned(waves[i].amplitude, waves[i].phase) + one.amplitude * by
        waves[i].deep += 1j
        y[i] = waves[i].amplitude

    waves, y = wb.zeros(2, dtype=Wave), wb.zeros(2, dtype=complex)
    waves["phase"][...] = np.array([0.5, 2.0], np.float32)
    waves["amplitude"][...] = np.array([1, 1 + 1j], np.complex64)
    one = Wave(amplitude=2 - 1j)
    for by in (1j, 2, np.float32(0.5), np.complex64(1 - 1j)):
        before = waves.numpy().copy()
        wb.launch(move, 2, [waves, one, by, y])
        want = before["amplitude"] * np.exp(1j * before["phase"]) + 0.5j + (2 - 1j) * by
        np.testing.assert_allclose(y.numpy(), want, rtol=1e-6)
    assert waves[0].deep == 4j and one.amplitude == 2 - 1j and waves.numpy().dtype["deep"] == np.complex128
    with pytest.raises(wb.LaunchError, match="does not fit by, which is complex64"):
        wb.launch(move, 2, [waves, one, 1e300j, y])
    with pytest.raises(wb.LaunchError, match="by takes complex64: a number; the argument is a str"):
        wb.launch(move, 2, [waves, one, "i", y])


REFUSED = {
    "v = z < w": "Complex numbers have no order: compare abs(z), or z.real and z.imag.",
    "v = 1j < 2j": "Complex numbers have no order",
    "v = max(z, 1.0)": "Complex numbers have no order",
    "v = z // w": "// takes numbers that are not complex",
    "v = z @ w": "@ takes matrices or vectors; it got complex64, complex64.",
    "v = z[0]": "complex64 cannot be indexed. Write z.real or z.imag.",
    "v = z.x": "complex64 has no x; it has real, imag and conjugate().",
    "v = z.conjugate(w)": "z.conjugate() takes no arguments; it got 1.",
    "v = len(z)": "len() takes an array or a vector; this is complex64.",
    "v = float(z)": "float32() takes a scalar; this is complex64. Take its .real, its .imag or abs().",
    "a, b = z": "complex64 cannot be unpacked into 2 names.",
    "v = length(z)": "length() takes numbers that are not complex",
    "v = vec2(z)": "A component of vec2 is float32; the value is complex64. Take its .real, its .imag or abs().",
    "v = complex(z, w)": "complex() takes a number, or a real and an imaginary part; it got complex64, complex64.",
    "v = conj(x)": "An array in a kernel has no conjugate",
    "z.real = 1.0": "The parts of a complex number are not assigned one by one; z is one.",
    "x[i].imag += 1.0": "Write x[i] = complex(x[i].real, …).",
    "o[i] = z": "An element of o is float32; the value is complex64. Take its .real, its .imag or abs().",
    "o[i] = 1j": "The complex number 1j does not fit float32.",
    "x[i] = float64(1.0)": "An element of x is complex64; the value is float64. Write complex64(…).",
    "atomic_min(x, i, z)": "x has complex64 elements. Of complex elements += and -= are atomic, part by part",
    "atomic_xor(x, i, z)": "and of complex64 atomic_exch() and atomic_cas().",
    "atomic_cas(x, i, z, float64(1.0))": "An element of x is complex64; the value is float64. Write complex64(…).",
    "atomic_exch(d, i, z)": "atomic_exch() changes an element in one step, and d has complex128 elements.",
    "atomic_cas(s, i, s[0], s[1])": "in one step, and s has vector(2, complex64) elements.",
    "t = tile_load(x, 2)": "x would have complex64 elements; tiles of complex numbers are not built.",
    "v = x[1j]": "Indices must be integers",
    "expect_near(z, w)": "of complex numbers abs(a - b).",
}


def test_what_complex_numbers_have_not_is_refused_with_what_to_write() -> None:
    for line, sentence in REFUSED.items():
        params = "x: array[complex], o: array[float], d: array[complex128], s: array[vector(2, complex)]"
        text = f"def k({params}):\n    i = tid()\n    z, w = x[i], x[i + 1]\n    {line}\n"
        with pytest.raises(wb.WorkbenchError) as caught:
            define(text)
        said = re.sub(r"\s+", " ", str(caught.value))
        assert sentence in said, (line, said)
