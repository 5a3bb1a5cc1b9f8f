"""Folding: the same bits as running, captured constants stay names, repeated operations are shared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.support.kernels.pass_programs import inputs, names, random_function, results, same
from workbench.builtins import TABLE, Ref
from workbench.ir import Builder, Captured, Function, Value
from workbench.ir.data import canonical, show
from workbench.ir.values import walk
from workbench.ir.verify import verify
from workbench.passes.dce import prune
from workbench.passes.expand import expand
from workbench.passes.fold import fold
from workbench.types import VECTORS, ArrayType, Scalar, Vector, float32, float64, int8, int32
from workbench.types import bool as bool_


def folded(compute: Callable[[Ref], Ref], type: Scalar | Vector = float32) -> Function:
    """`y[0] = compute(x[0])`, folded and pruned, checked to mean the same."""
    result = _result_type(compute, type)
    x, y = Value(ArrayType(type), "x"), Value(ArrayType(result), "y")
    b = Builder()
    zero = b.const(0)
    b.store(y, zero, compute(Ref(b, b.load(x, zero))).value)
    f = verify(Function("f", (x, y), b.body()))
    g = verify(prune(fold(f)))
    scalar = type.dtype if isinstance(type, Vector) else type
    tail = (type.length,) if isinstance(type, Vector) else ()
    out = result.dtype if isinstance(result, Vector) else result
    out_tail = (result.length,) if isinstance(result, Vector) else ()
    for number in (-3, 0, 5):
        arrays = [np.full((1, *tail), number, scalar.numpy), np.zeros((1, *out_tail), out.numpy)]
        assert same(results(f, 1, arrays), results(g, 1, arrays))
    return g


def _result_type(compute: Callable[[Ref], Ref], type: Scalar | Vector) -> Scalar | Vector:
    b = Builder()
    return compute(Ref(b, Value(type))).type  # type: ignore[return-value]


def work(function: Function) -> list[str]:
    """Its operations but constants, loads and stores."""
    return [n for n in names(function) if n not in ("const", "load", "store")]


LITERAL: list[tuple[Callable[[Ref], Ref], str]] = [
    (lambda x: x.like(3) * 2.0 + 1.0, "const 7.0"),
    (lambda x: TABLE["sqrt"](x.like(2)), f"const {float(np.sqrt(np.float32(2)))!r}"),
    (lambda x: x.like(1) / 0.0, "const inf"),
    (lambda x: -x.like(0), "const -0.0"),
    (lambda x: TABLE["where"](x.like(1) < 2.0, x.like(4), x), "const 4"),
    (lambda x: x.like(300).cast(int8), "const 127"),
    (lambda x: TABLE["mod"](x.like(-7).cast(int8), 4), "const 1"),
    (lambda x: TABLE["dot"](x.like(2).splat(VECTORS["vec3"]), x.like(3).splat(VECTORS["vec3"])), "const 18.0"),
]


@pytest.mark.parametrize("number", range(len(LITERAL)))
def test_literals_are_computed(number: int) -> None:
    compute, text = LITERAL[number]
    g = folded(compute)
    assert not work(g) and text in show(g)


def test_nan_is_left_to_the_device() -> None:
    assert work(folded(lambda x: x.like(0) / 0.0)) == ["div"]


UNCHANGED: list[tuple[Callable[[Ref], Ref], Scalar | Vector]] = [
    (lambda x: x * 1.0, float32), (lambda x: 1 * x, int32), (lambda x: x + 0, int32), (lambda x: 0 + x, int32),
    (lambda x: x - 0.0, float32), (lambda x: x + (-0.0), float64), (lambda x: x / 1.0, float64),
    (lambda x: TABLE["neg"](-x), float32), (lambda x: TABLE["where"](x < x.like(0), x, x), float32),
    (lambda x: Ref(x.builder, x.builder.one("cast", (x.value,), float32)), float32),
    (lambda x: x * x.like(1), VECTORS["vec3"]),
    (lambda x: x.component(0).splat(VECTORS["vec2"]).component(1).splat(VECTORS["vec3"]).component(2), VECTORS["vec3"]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(UNCHANGED)))
def test_identities(number: int) -> None:
    compute, type = UNCHANGED[number]
    left = [n for n in work(folded(compute, type)) if n != "extract"]
    assert left == []


KEPT: list[Callable[[Ref], Ref]] = [lambda x: x + 0.0, lambda x: x * 0.0, lambda x: x - (-0.0), lambda x: 0.0 - x]


@pytest.mark.parametrize("number", range(len(KEPT)))
def test_what_is_not_exact_in_ieee_stays(number: int) -> None:
    assert len(work(folded(KEPT[number]))) == 1


def test_two_negations_cancel() -> None:
    assert work(folded(lambda x: TABLE["not_"](TABLE["not_"](x < 0)))) == ["lt"]


def test_zero_absorbs_integers() -> None:
    assert work(folded(lambda x: x * 0, int32)) == []


@pytest.mark.parametrize(
    ("name", "literal", "kept"), [("and_", 1, True), ("and_", 0, False), ("or_", 0, True), ("or_", 1, False)]
)
def test_logic_with_a_literal(name: str, literal: int, kept: bool) -> None:
    g = folded(lambda x: TABLE[name](x < 0, x.like(literal) > 0))
    assert work(g) == (["lt"] if kept else [])


def test_a_captured_constant_is_never_folded() -> None:
    y = Value(ArrayType(float32), "y")

    def scaled(value: float) -> Function:
        b = Builder()
        dt = b.const(value, float32, captured="DT")
        again = b.const(value, float32, captured="DT")
        twice = b.one("add", (b.one("mul", (dt, b.const(2.0, float32)), float32), again), float32)
        one = b.one("mul", (twice, b.const(1.0, float32)), float32)
        b.store(y, b.const(0), one)
        return verify(Function("f", (y,), b.body(), 0, (Captured("DT", float32, np.float32(value)),)))

    f, g = (verify(prune(fold(scaled(v)))) for v in (1.0, 2.0))
    assert canonical(f) == canonical(g)
    assert work(f) == ["mul", "add"] and canonical(f).count("@DT") == 1
    assert results(g, 1, [np.zeros(1, np.float32)])[0][0] == 6.0


def test_a_branch_on_a_literal_is_decided() -> None:
    y = Value(ArrayType(float32), "y")
    for truth in (True, False):
        b = Builder()
        with b.block() as then:
            b.store(y, b.const(0), b.const(1.0, float32))
            b.yield_(b.const(5.0, float32))
        with b.block() as orelse:
            b.yield_(b.const(6.0, float32))
        (value,) = b.if_(b.const(truth, bool_), then.block, orelse.block)
        b.store(y, b.const(1), value)
        f = verify(Function("f", (y,), b.body()))
        g = verify(prune(fold(f)))
        assert "if" not in names(g) and names(g).count("store") == 1 + truth
        assert results(g, 1, [np.zeros(2, np.float32)])[0].tolist() == ([1.0, 5.0] if truth else [0.0, 6.0])


@pytest.mark.parametrize(
    ("start", "step", "kept"), [(0, 1, []), (2, 3, []), (-1, 1, ["mod", "wrap_index"]), (0, -1, ["mod", "wrap_index"])]
)
def test_a_counter_is_in_its_range(start: int, step: int, kept: list[str]) -> None:
    """`x[k % n]` of `k in range(start, n, step)` is `x[k]`, if k is never negative."""
    x, n, y = Value(ArrayType(float32), "x"), Value(int32, "n"), Value(ArrayType(float32), "y")
    b = Builder()
    first, by, place = b.const(start), b.const(step), b.const(0)
    index, total = Value(int32, "k"), Value(float32, "s")
    with b.block((index, total)) as body:
        at = b.one("wrap_index", (b.one("mod", (index, n), int32), n), int32)
        b.yield_(b.one("add", (total, b.load(x, at)), float32))
    b.store(y, place, b.for_(first, n, by, [b.const(0.0, float32)], body.block)[0])
    f = verify(Function("f", (x, n, y), b.body()))
    g = verify(prune(fold(f)))
    assert [name for name in names(g) if name in ("mod", "wrap_index")] == kept


def test_equal_operations_are_shared_inwards_but_not_outwards() -> None:
    x, c = Value(ArrayType(float32), "x"), Value(bool_, "c")
    b = Builder()
    zero = b.const(0)
    value = b.load(x, zero)
    b.store(x, zero, b.one("sin", (value,), float32))
    with b.block() as then:
        b.store(x, zero, b.one("sin", (value,), float32))
        b.store(x, zero, b.one("cos", (value,), float32))
        b.yield_()
    with b.block() as orelse:
        b.yield_()
    b.if_(c, then.block, orelse.block)
    b.store(x, zero, b.one("cos", (value,), float32))
    g = verify(prune(fold(verify(Function("f", (x, c), b.body())))))
    assert names(g).count("sin") == 1 and names(g).count("cos") == 2


def test_loads_are_not_shared() -> None:
    x = Value(ArrayType(float32), "x")
    b = Builder()
    zero = b.const(0)
    first = b.load(x, zero)
    b.store(x, zero, b.one("add", (first, first), float32))
    second = b.load(x, zero)
    b.store(x, zero, b.one("add", (second, first), float32))
    g = verify(fold(verify(Function("f", (x,), b.body()))))
    assert names(g).count("load") == 2
    assert results(g, 1, [np.ones(1, np.float32)])[0][0] == 3.0


def test_constants_of_different_bits_are_not_shared() -> None:
    x = Value(ArrayType(float32), "x")
    b = Builder()
    for i, number in enumerate((0.0, -0.0, 0.0)):
        b.store(x, b.const(i), b.const(number, float32))
    g = verify(fold(verify(Function("f", (x,), b.body()))))
    assert np.signbit(results(g, 1, [np.ones(3, np.float32)])[0]).tolist() == [False, True, False]
    assert sum(op.name == "const" and op.result.type == float32 for op in walk(g.body)) == 2


@pytest.mark.sample(40)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("scalar", [float64, int32], ids=repr)
def test_random_programs_mean_the_same(seed: int, scalar: Scalar) -> None:
    f = random_function(seed, scalar)
    want = results(f, 6, inputs(scalar))
    once = verify(fold(f))
    assert same(want, results(once, 6, inputs(scalar)))
    tidy = verify(prune(fold(expand(prune(once), lambda entry: entry.expand is None))))
    assert same(want, results(tidy, 6, inputs(scalar)))
    assert names(verify(prune(fold(tidy)))) == names(tidy)
