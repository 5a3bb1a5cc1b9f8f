"""WebAssembly against native code: the same kernels on the same arguments, in a browser and on the CPU.

Equal bits wherever neither asks a library of maths; else within the bound that the builtin's declaration states.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.builtins.test_table_on_cpu import jobs as of_table
from tests.builtins.test_table_on_cpu import one_kernel
from tests.catalogue.test_catalogue import RIGHT, THREADS
from tests.catalogue.test_catalogue import _arguments as of_catalogue
from tests.catalogue.test_catalogue import _function as in_catalogue
from tests.frontend.meaning.test_typed_programs import SIZE, collected
from tests.frontend.meaning.test_typed_programs import arguments as of_program
from tests.support.checks import meaning
from tests.support.devices.in_browser import PLAIN, Browser, Job, copied, opened, run_natively
from tests.support.kernels.builtin_cases import expected, mismatch, rows
from tests.support.kernels.statement_bodies import BODIES
from tests.support.kernels.tile_cases import CASES
from workbench.api.builds.build import ir_of
from workbench.backends.base import Options
from workbench.builtins import TABLE
from workbench.errors import NotDifferentiable, WorkbenchError
from workbench.ir.values import Function
from workbench.types import SCALARS, ArrayType, Scalar, Vector

LIBRARY = frozenset(
    "acos acosh asin asinh atan atan2 atanh cbrt cosh erfc erfcinv erfinv exp2 expm1 hypot log10 log1p log2 "
    "sinh".split()
)
"""Builtins that ask the system's library, natively, and the browser's here."""
CHECKED = Options(few_cores=True, checks=True)


@pytest.fixture(scope="module")
def browser(need: Callable[[str], str]) -> Iterator[Browser]:
    need("playwright")
    with opened(need("chromium")) as found:
        yield found


def same_bits(a: Any, b: Any) -> bool:
    """Whether arrays have the same bits, but for those of a NaN."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    nan = (a != a) & (b != b)
    words = f"u{a.dtype.itemsize}"
    return bool((nan | (a.view(words) == b.view(words))).all())


def assert_same(browser: Browser, work: Sequence[Job]) -> None:
    """Each job leaves the same bits in its arrays, and the same fault, in the browser as natively."""
    native = [copied(job) for job in work]
    wanted = [run_natively(job) for job in native]
    found = browser.run(work)
    for job, other, fault, here in zip(work, native, wanted, found, strict=True):
        assert str(here) == str(fault), job.function.name
        for p, a, b in zip(job.function.params, job.args, other.args, strict=True):
            if isinstance(a, np.ndarray):
                assert same_bits(a, b), f"{job.function.name}: {p.name}\n{a}\n{b}"


TYPES = [
    pytest.param(s, n, id=f"{s!r}{n or ''}", marks=pytest.mark.slow if n or s.is_half else ())
    for s in SCALARS.values() for n in (0, 3) if s.name != "bool"
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(("type", "length"), TYPES)
def test_vocabulary(browser: Browser, type: Scalar, length: int) -> None:
    work = of_table(type, length)
    drawn = [rows(TABLE[name], operands) for name, (operands, _) in work]
    count = max(map(len, drawn))
    function, args, outputs = one_kernel(work, [(c * count)[:count] for c in drawn])
    job = Job(function, (count,), args)
    native = copied(job)
    assert run_natively(native) is None
    at = {id(a): k for k, a in enumerate(args)}
    for fused in (True, False):
        tried = copied(job)
        browser.run([tried], fused)
        for (name, (operands, result)), fresh, output in zip(work, drawn, outputs, strict=True):
            got, want = tried.args[at[id(output)]], expected(TABLE[name], fresh, result)
            assert not mismatch(got[: len(fresh)], want, fresh, TABLE[name].ulp), f"{name}{operands}, {fused}"
            if name not in LIBRARY:
                assert same_bits(got, native.args[at[id(output)]]), f"{name}{operands}, {fused}"


def directions(forward: Function, given: Sequence[Any], dims: tuple[int, ...], name: str) -> Iterator[Job]:
    """A kernel as it is, its adjoint and its tangent, on these arguments and on drawn cotangents and tangents."""
    drawn = np.random.default_rng(3)
    for direction in ("forward", "adjoint", "tangent"):
        try:
            function = replace(ir_of(forward, direction, False, 16), name=f"{name}_{direction}")
        except NotDifferentiable:
            continue
        more = [_companion(p, forward, given, drawn) for p in function.params[len(given) :]]
        yield copied(Job(function, dims, [*given, *more]))


def _companion(param: Any, forward: Function, given: Sequence[Any], drawn: np.random.Generator) -> Any:
    """What stands beside an argument: numbers of its shape, or one number."""
    own = next(a for p, a in zip(forward.params, given, strict=True) if param.name.endswith(f"_{p.name}"))
    if not isinstance(param.type, ArrayType):
        return float(drawn.uniform(-1, 1))
    element = param.type.dtype
    tail = element.shape if isinstance(element, Vector) else ()
    dtype = element.dtype.numpy if isinstance(element, Vector) else element.numpy
    shape = own.shape if isinstance(own, np.ndarray) else (1, *tail)
    return drawn.uniform(0.5, 1.5, shape).astype(dtype)


QUICK = random.Random(7).sample(sorted(RIGHT), 3)
REST = [name for name in RIGHT if name not in QUICK]
SHARES = [("sample", QUICK), *((f"share {k}", REST[k::4]) for k in range(4))]


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "names", [pytest.param(s, id=n, marks=() if n == "sample" else pytest.mark.slow) for n, s in SHARES]
)
def test_catalogue_of_gradients(browser: Browser, names: list[str]) -> None:
    given = list(of_catalogue().values())
    work = [
        job for k, name in enumerate(names)
        for job in directions(in_catalogue(*RIGHT[name]), given, (THREADS,), f"k{k}")
    ]  # fmt: skip
    assert len(work) > 2 * len(names)
    assert_same(browser, work)


@pytest.mark.parametrize("some", [pytest.param(5, id="sample"), pytest.param(0, id="all", marks=pytest.mark.slow)])
def test_statements(browser: Browser, some: int) -> None:
    names = random.Random(2).sample(sorted(BODIES), some) if some else sorted(BODIES)
    work = []
    for k, name in enumerate(names):
        kind, body = BODIES[name]
        xs = np.arange(-7, 8, dtype=np.int32) if kind == "int" else np.linspace(-3, 3, 13)
        type = "int32" if kind == "int" else "float64"
        head = f"def k{k}(x: array[{type}], y: array[{type}]):\n    i = tid()\n    v = x[i]\n"
        lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
        function = meaning.define(f"{head}{lines}\n    y[i] = r\n")[f"k{k}"].specialise().function
        work.append(Job(ir_of(function, "forward", False, 16), (xs.size,), [xs, np.zeros_like(xs)]))
    assert_same(browser, work)


SLOW = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "options"),
    [(4, CHECKED), pytest.param(150, PLAIN, marks=SLOW), pytest.param(150, CHECKED, marks=SLOW)],
    ids=["sample", "plain", "checked"],
)
def test_typed_programs(browser: Browser, count: int, options: Options) -> None:
    work = []
    for n, text in enumerate(collected(count)):
        try:
            function = meaning.define(text)["k"].specialise().function
        except WorkbenchError:  # a literal that does not fit, say
            continue
        made = replace(ir_of(function, "forward", False, 16), name=f"k{n}")
        work.append(Job(made, (SIZE,), of_program(), options))
    assert len(work) >= count // 2
    assert_same(browser, work)


@pytest.mark.parametrize("some", [pytest.param(3, id="sample"), pytest.param(0, id="all", marks=pytest.mark.slow)])
def test_tiles(browser: Browser, some: int) -> None:
    known = [c for c in CASES.values() if not c.name.startswith("matmul_4")]  # of integers: no CPU has them
    cases = random.Random(1).sample(known, some) if some else known
    work = [Job(c.function, (c.blocks,), list(c.arguments)) for c in cases]
    assert_same(browser, [copied(job) for job in work])


PROGRAMS = {
    "random numbers": """
        def k(x: array[float], y: array[float]):
            i = tid()
            state = rand_init(42, i)
            y[i] = randf(state) + randn(state) * x[i]
        """,
    "one sum of all threads": """
        def k(x: array[float], y: array[float]):
            i = tid()
            y[0] += x[i]
            atomic_max(y, 1, x[i])
        """,
    "matrices": """
        def k(x: array[float], y: array[float]):
            i = tid()
            m = mat33(x[i], 1.0, 2.0, 0.5, 3.0, x[i], 1.5, 0.25, 4.0)
            y[i] = determinant(inverse(m) @ transpose(m)) + length(m @ vec3(1.0, x[i], 2.0))
        """,
    "a func and a loop of unknown length": """
        def f(v: float, n: int):
            s = float(0.0)
            for j in range(n):
                if s > 5.0:
                    break
                s += v * float(j)
            return s

        def k(x: array[float], y: array[float]):
            i = tid()
            n = 0
            while f(x[i], n) < 3.0 and n < 40:
                n += 1
            y[i] = f(x[i], n + 1)
        """,
    "half precision": """
        def k(x: array[float], y: array[float]):
            i = tid()
            h = float16(x[i]) * float16(3.0)
            y[i] = float(h) + float(bfloat16(x[i]))
        """,
}


@pytest.mark.parametrize("all_", [False, pytest.param(True, marks=SLOW)], ids=["sample", "all"])
def test_programs_in_all_directions(browser: Browser, all_: bool) -> None:
    drawn = np.random.default_rng(1).uniform(0.25, 2, 37).astype(np.float32)
    work = []
    for n, text in enumerate(PROGRAMS.values() if all_ else random.Random(4).sample(list(PROGRAMS.values()), 3)):
        function = meaning.define(text)["k"].specialise().function
        work += directions(function, [drawn, np.zeros_like(drawn)], (drawn.size,), f"k{n}")
    assert_same(browser, work)


def test_a_fault_names_its_line(browser: Browser) -> None:
    function = (
        meaning.define(
            """
        def k(x: array[float], y: array[float]):
            i = tid()
            assert x[i] < 2.5, "too large"
            y[i] = x[i + 1]
        """
        )["k"]
        .specialise()
        .function
    )
    data = np.arange(4, dtype=np.float32)
    jobs = [Job(ir_of(function, "forward", False, 16), (4,), [data, np.zeros(3, np.float32)], CHECKED)]
    assert_same(browser, [copied(jobs[0])])
    (fault,) = browser.run([copied(jobs[0])])
    assert fault is not None and fault.count == 3 and "too large" in str(fault)
