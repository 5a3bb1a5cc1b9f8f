"""Every native object, compiled for macOS, Windows and Linux on ARM, asks only for what those systems have.

Checked, not run: the objects are made here, and their undefined symbols held against lists of exports (`exports/`, with
their sources). What is loaded there, and how, is `systems.py`'s to say.
"""

from __future__ import annotations

import textwrap
from contextlib import suppress

import pytest

import workbench as wb
from tests.builtins.test_table_on_cpu import jobs
from tests.catalogue.test_catalogue import RIGHT, _function
from tests.support.checks.objects import has_unwind_tables, undefined
from tests.support.checks.platforms import PLATFORMS, Platform
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cpu.maths import vecmath
from workbench.backends.cpu.maths.approximations import FORMULAS
from workbench.backends.cpu.native import copies, dispatch
from workbench.builtins import TABLE, Ref
from workbench.errors import NotDifferentiable
from workbench.interop.jax.native.descriptor import handler_text
from workbench.ir import Builder, Function, Value
from workbench.ir.verify import verify
from workbench.types import SCALARS, ArrayType, int32, is_float

EVERY = pytest.mark.parametrize("platform", PLATFORMS, ids=lambda p: f"{p.triple}-{p.cpu}")


def check(platform: Platform, image: bytes) -> None:
    assert platform.missing(image) == set()
    assert platform.system != "win32" or not has_unwind_tables(image)


@pytest.mark.sample(2)
@EVERY
def test_the_launcher(platform: Platform) -> None:
    image = platform.object(dispatch.text(platform.system), 0)
    check(platform, image)
    threads = "CreateThread" if platform.system == "win32" else "pthread_create"
    assert threads in undefined(image), "helpers are made everywhere"


@pytest.mark.sample(1)
@EVERY
def test_the_handler_for_jax(platform: Platform) -> None:
    check(platform, platform.object(handler_text(platform.system, platform.triple.split("-")[0]), 1))


@pytest.mark.sample(1)
@EVERY
def test_copies_fills_and_sums(platform: Platform) -> None:
    check(platform, platform.object(copies.text()))


@pytest.mark.sample(3)
@EVERY
@pytest.mark.parametrize("bits", [32, 64])
def test_maths_formulas(platform: Platform, bits: int) -> None:
    with platform.widths():
        for name in FORMULAS:
            check(platform, platform.object(vecmath.module(name, bits)))


def table_kernel(scalar: str, length: int, differentiable: bool) -> Function | None:
    """All builtins of a type in one kernel, each with arrays of its own; None where there is none."""
    b, params = Builder(), []
    i = b.one("tid", (), int32, {"axis": 0})
    for number, (name, (operands, result)) in enumerate(jobs(SCALARS[scalar], length)):
        if differentiable and (TABLE[name].gradient is None or not is_float(result)):
            continue
        sources = [Value(ArrayType(t), f"{name}{number}_{n}") for n, t in enumerate(operands)]
        target = Value(ArrayType(result), f"{name}{number}_result")
        b.store(target, i, TABLE[name](*(Ref(b, b.load(s, i)) for s in sources)).value)
        params += [*sources, target]
    return Function("table", tuple(params), b.body(), 1) if params else None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scalar", "length"), [(s, n) for s in SCALARS for n in ((0, 3) if s.startswith("float") else (0,))]
)
def test_the_vocabulary_and_its_adjoints(scalar: str, length: int) -> None:
    level = 1 if length else 3  # what vectors make of the library is the same; their kernels are large
    forward = table_kernel(scalar, length, False)
    assert forward is not None
    differentiated = table_kernel(scalar, length, True)
    if differentiated is None:  # an integer type, which few libraries know: three of the platforms, by turns
        for platform in PLATFORMS[list(SCALARS).index(scalar) % 2 :: 2]:
            check(platform, platform.kernel(forward, level=level))
        return
    reverse = adjoint(verify(differentiated))
    for platform in PLATFORMS:
        check(platform, platform.kernel(forward, level=level))
        check(platform, platform.kernel(reverse, level=level))


def function_of(text: str) -> Function:
    """The function of the kernel `k` of a cell."""
    return wb.build_cell(textwrap.dedent(text).strip("\n"), {}).names["k"].specialise().function


PROGRAMS = {
    "numbers that wait for each other": """
        def k(x: array[float], y: array[float]):
            i = tid()
            v = sin(x[i]) + cos(x[i]) * pow(x[i], 2.5) + x[i] % 0.3
            for n in range(200):
                v = atan2(v, hypot(v, 1.5)) + fmod_or(v)
            y[i] = v

        @func
        def fmod_or(v: float):
            return v % 0.7
        """,
    "atomics, prints, asserts": """
        def k(x: array[float], y: array[float], n: array[int], w: array[int64]):
            i = tid()
            assert x[i] > 0.0
            atomic_add(y, 0, x[i])
            atomic_max(y, 1, x[i])
            atomic_add(w, 0, int64(1))
            atomic_min(n, 0, i)
            atomic_or(n, 1, i)
            if atomic_cas(n, 2, 0, 1) == 0:
                print("first", i, x[i], w[0] // int64(7))
        """,
    "halves": """
        def k(x: array[float16], y: array[bfloat16], z: array[float64]):
            i = tid()
            y[i] = bfloat16(float(x[i]) * 2.0)
            z[i] = float64(x[i]) + float64(y[i])
            x[i] = float16(z[i])
            atomic_add(x, 0, x[i])
        """,
    "random numbers and noise": """
        def k(x: array[vec3], y: array[vec3], z: array[float]):
            i = tid()
            state = rand_init(42, i)
            y[i] = curlnoise(state, x[i]) + sample_unit_sphere(state) * randn(state)
            z[i] = pnoise(state, x[i], 2, 3, 4) + randf(state, -1.0, 3.0) + float(poisson(state, 40.0))
        """,
    "tiles": """
        def k(x: array2d[float], y: array2d[float]):
            b = tid()
            t = tile_load(x, shape=(32, 32), offset=(b * 32, 0))
            u = tile_matmul(t, tile_transpose(t))
            tile_store(y, u * tile_sum(sin(t)) + tile_scan(t), offset=(b * 32, 0))
        """,
    "tiles on the stack and on the heap": """
        def k(x: array2d[float64], y: array2d[float64]):
            b = tid()
            t = tile_load(x, shape=(64, 64))
            u = tile_load(x, shape=(128, 128), offset=(0, b))
            tile_store(y, tile_matmul(t, t) * tile_max(t))
            tile_store(y, u * u)
        """,
    "decompositions": """
        def k(x: array[mat33], y: array[mat33], z: array[vec3]):
            i = tid()
            u, s, v = svd3(x[i])
            q, r = qr3(x[i])
            y[i] = u @ q + inverse(v @ r)
            z[i] = s
        """,
}


QUICK = {"numbers that wait for each other", "atomics, prints, asserts", "halves"}


@pytest.mark.sample(3)
@EVERY
@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in PROGRAMS])
def test_programs_and_their_adjoints(platform: Platform, name: str) -> None:
    function = function_of(PROGRAMS[name])
    for options in (Options(), Options(checks=True), Options(contiguous=False, fast_math=True)):
        check(platform, platform.kernel(function, options))
    with suppress(NotDifferentiable):
        check(platform, platform.kernel(adjoint(function)))


SHARES = 8


@pytest.mark.slow
@pytest.mark.share(SHARES // 2)
@pytest.mark.parametrize("share", range(SHARES))
def test_the_catalogue_of_traps(share: int) -> None:
    """Each kernel on three of the six platforms: macOS, Windows and ARM are always among them."""
    for number, name in enumerate(list(RIGHT)[share::SHARES]):
        function = _function(*RIGHT[name])
        reverse = adjoint(function)
        for platform in PLATFORMS[number % 2 :: 2]:
            check(platform, platform.kernel(function))
            check(platform, platform.kernel(reverse))


def test_what_is_not_there_is_found() -> None:
    text = (
        "declare float @exp10f(float)\ndefine float @f(float %x) {\n%y = call float @exp10f(float %x)\nret float %y\n}"
    )
    assert {p.exports for p in PLATFORMS if p.missing(p.object(text))} == {
        "macos-arm64",
        "macos-x86_64",
        "windows-x86_64",
    }
