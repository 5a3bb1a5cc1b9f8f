"""The CUDA text of ten kernels, kept as golden files: reviewers see generated code as a diff."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import workbench as wb
from tests.support.checks import meaning
from tests.support.kernels.cuda_kernels import KERNELS, Make, array
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cuda.emit import emit_cuda, entry_name
from workbench.errors import BuildError
from workbench.types import Vector, bool, float32, int32


@pytest.mark.parametrize("name", KERNELS)
def test_the_text_is_the_golden_one(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"cuda/{name}.cu", emit_cuda(KERNELS[name](), Options()))


def test_the_strided_text_is_the_golden_one(golden: Callable[[str, str], None]) -> None:
    golden("cuda/blur-strided.cu", emit_cuda(KERNELS["blur"](), Options(contiguous=False)))


@pytest.mark.parametrize("name", KERNELS)
def test_emitting_twice_gives_the_same_text(name: str) -> None:
    assert emit_cuda(KERNELS[name](), Options()) == emit_cuda(KERNELS[name](), Options())


def test_nothing_is_included_and_only_what_is_used_is_there() -> None:
    text = emit_cuda(KERNELS["saxpy"](), Options())
    assert "#include" not in text
    assert "WB_FN" not in text
    assert "wb_vec" not in text


def test_lines_lead_back_to_the_cell() -> None:
    from workbench.source import Location, Source

    k = Make("twice", x=array(float32))
    cell = Source("def twice(x):\n    i = tid()\n    x[i] = x[i] * 2.0\n")
    k.b.location = Location(cell, 2)
    i = k.tid()
    k.b.location = Location(cell, 3)
    k.store(k.x, i, k.load(k.x, i) * 2.0)
    text = emit_cuda(k.done(), Options(), lines=True)
    assert f'#line 3 "/cell/{cell.label}"\n    x.data[i] = x.data[i] * 2.0f;\n' in text
    assert "#line" not in emit_cuda(KERNELS["saxpy"](), Options())


def test_names_that_mean_something_in_cuda_are_changed() -> None:
    k = Make("exp", threadIdx=array(float32), int=int32, dim=float32, naïve=float32)
    i = k.tid(0, "for")
    k.store(k.threadIdx, i, k.dim * k.naïve + k.call("exp", k.dim) + k.int.cast(float32))
    function = k.done()
    text = emit_cuda(function, Options())
    assert entry_name(function) == "exp1"
    assert "wb_array<float, 1> threadIdx1, int int1, float dim, float na_ve" in text
    assert "threadIdx1.data[for1] = dim * na_ve + expf(dim) + float(int1);" in text
    assert "wb_dims dim1" in text


def test_a_load_does_not_move_past_a_store() -> None:
    k = Make("exchange", x=array(float32), y=array(float32))
    i = k.tid()
    x, y = k.load(k.x, i), k.load(k.y, i)
    k.store(k.x, i, y)
    k.store(k.y, i, x)
    rows = [row.strip() for row in emit_cuda(k.done(), Options()).splitlines()]
    assert rows[-4:-1] == ["float t = x.data[i];", "x.data[i] = y.data[i];", "y.data[i] = t;"]


def test_long_expressions_get_names() -> None:
    k = Make("powers", x=array(float32))
    i = k.tid()
    v = k.named("v", k.load(k.x, i))
    total = v
    for n in range(40):
        total = total * v + float(n)
    k.store(k.x, i, total)
    assert max(len(row) for row in emit_cuda(k.done(), Options()).splitlines()) < 120


def test_a_sum_of_bools_is_refused() -> None:
    k = Make("flags", x=array(bool))
    k.atomic_add(k.x, k.tid(), k.const(True, bool))
    with pytest.raises(BuildError, match="no meaning for bools"):
        emit_cuda(k.done(), Options())


def test_a_scalar_times_a_vector_stays_one() -> None:
    vec3 = Vector(3, float32)
    k = Make("scale", v=array(vec3), s=float32)
    i = k.tid()
    k.store(k.v, i, k.load(k.v, i) * k.s)
    assert "v.data[i] = v.data[i] * s;" in emit_cuda(k.done(), Options())


def test_the_same_function_has_the_same_text() -> None:
    f = (
        meaning.define("""
        def first(u: float64, m: int32):
            r = u
            for j in range(m):
                r = r * 1.3 + 0.1 * u
                if r > 2.0:
                    return r * r
            return r

        def k(x: array[float64], y: array[float64], a: float64, n: int32):
            i = tid()
            s = 0.0 * a
            for q in range(n):
                s = s * 0.5 + first(x[q], 4)
            y[i] = s
    """)["k"]
        .specialise()
        .function
    )
    assert len({emit_cuda(adjoint(f), Options()) for _ in range(30)}) == 1


def test_a_condition_on_floats_is_computed_whole_and_others_are_not() -> None:
    text = """
def bounded(x: array[float], n: array[int]):
    i = tid()
    v = float(0.0)
    k = 0
    while {test}:
        v = v * v + x[i]
        k += 1
    n[i] = k
"""
    found = {}
    for test in ("k < 50 and v * v < 4.0", "k < 50 and k * n[i] < 40", "k < 50 and x[k] < 4.0"):
        kernel = wb.build_cell(text.format(test=test), {}, backend="cpu", compile=False).kernels["bounded"]
        found[test] = emit_cuda(kernel.specialise().function, Options())
    assert [" & " in made for made in found.values()] == [True, False, False]
    assert "(k < 50) & (v * v < 4.0f);" in found["k < 50 and v * v < 4.0"]
