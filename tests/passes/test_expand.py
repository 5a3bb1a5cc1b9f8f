"""Expansion: nothing foreign is left, vectors are taken apart and put together once, places are kept."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.kernels.pass_programs import inputs, names, random_function, results, same
from workbench.builtins import TABLE, Builtin, Ref
from workbench.errors import BuildError
from workbench.ir import Builder, Function, Value
from workbench.ir.values import walk
from workbench.ir.verify import verify
from workbench.passes.dce import prune
from workbench.passes.expand import VECTOR_OPERATORS, expand
from workbench.source import Location, Source
from workbench.types import VECTORS, ArrayType, Vector, float32, float64, int32

VEC3 = VECTORS["vec3"]
A, B, S = Value(ArrayType(VEC3), "a"), Value(ArrayType(VEC3), "b"), Value(ArrayType(float32), "s")


def core(builtin: Builtin) -> bool:
    return builtin.expand is None


def on_vectors(make: object) -> Function:
    """`b[i] = make(a[i], b[i])`."""
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    result = make(Ref(b, b.load(A, i)), Ref(b, b.load(B, i)))  # type: ignore[operator]
    b.store(B, i, result.value)
    return verify(Function("f", (A, B), b.body(), 1))


def arrays() -> list[np.ndarray]:
    random = np.random.default_rng(5)
    return [random.normal(size=(4, 3)).astype(np.float32) for _ in range(2)]


def test_vectors_are_taken_apart_and_packed_once() -> None:
    f = on_vectors(lambda a, b: TABLE["sin"](a * b + a) * 2.0)
    g = verify(prune(expand(f, core)))
    assert names(g).count("vec") == 1 and names(g).count("extract") == 6
    assert all(not isinstance(op.result.type, Vector) for op in walk(g.body) if op.name in TABLE)
    assert same(results(f, 4, arrays()), results(g, 4, arrays()))


def test_vector_operators_may_stay_whole() -> None:
    f = on_vectors(lambda a, b: TABLE["max"](-(a + b) * a - b, a) / 2.0)
    g = verify(prune(expand(f, core, keep_vector_operators=True)))
    whole = [op.name for op in walk(g.body) if op.name in TABLE and isinstance(op.result.type, Vector)]
    assert sorted(whole) == sorted(["add", "neg", "mul", "sub", "div"]) and set(whole) == VECTOR_OPERATORS
    assert "max" not in names(g)
    assert same(results(f, 4, arrays()), results(g, 4, arrays()))


def test_where_on_vectors_keeps_its_scalar_condition() -> None:
    f = on_vectors(lambda a, b: TABLE["where"](a.component(0) < b.component(1), a, b))
    g = verify(prune(expand(f, core)))
    chosen = [op for op in walk(g.body) if op.name == "where"]
    assert len(chosen) == 3 and len({op.operands[0] for op in chosen}) == 1
    assert same(results(f, 4, arrays()), results(g, 4, arrays()))


@pytest.mark.parametrize("name", ["normalize", "cross", "smoothstep", "clamp", "floordiv"])
def test_expansions_reach_the_bottom(name: str) -> None:
    entry = TABLE[name]
    f = on_vectors(lambda a, b: entry(*(a, b, a + b)[: len(entry.params)]))
    g = verify(expand(f, core))
    assert all(TABLE[n].expand is None for n in names(g) if n in TABLE)
    assert same(results(f, 4, arrays()), results(g, 4, arrays()))


def test_native_builtins_stay() -> None:
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    x = Ref(b, b.load(S, i))
    b.store(S, i, TABLE["smoothstep"](x, x, x).value)
    f = verify(Function("f", (S,), b.body(), 1))
    assert names(expand(f, lambda e: e.name == "smoothstep")) == names(f)


def test_results_keep_their_names_and_places() -> None:
    source = Source("one\ntwo\n", "cell [1]")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    x = b.load(S, i)
    b.location = Location(source, 2)
    named = b.emit("clamp", (x, x, x), (float32,), names=("level",)).result
    b.store(S, i, named)
    g = verify(expand(Function("f", (S,), b.body(), 1), core))
    added = [op for op in walk(g.body) if op.name in TABLE]
    assert len(added) > 1 and all(op.location.line == 2 for op in added)
    assert added[-1].results == (named,)


def test_an_operation_that_cannot_be_emitted_is_refused_at_its_place() -> None:
    f = on_vectors(lambda a, b: TABLE["sin"](a))
    with pytest.raises(BuildError, match=r"cannot emit sin\(\)"):
        expand(f, lambda entry: entry.name != "sin")


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("scalar", [float64, int32], ids=repr)
def test_random_programs_mean_the_same(seed: int, scalar: object) -> None:
    f = random_function(seed, scalar)  # type: ignore[arg-type]
    g = verify(expand(f, core))
    assert same(results(f, 6, inputs(scalar)), results(g, 6, inputs(scalar)))  # type: ignore[arg-type]
