"""Types as values: names, sizes, host values, and promotion by JAX's lattice."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest

from workbench import types as t
from workbench.builtins.declaration.rules import promote, promote_all
from workbench.types import SCALARS, VECTORS, ArrayType, Kind, Scalar, Vector, as_type, vector

PAIRS = list(product(SCALARS.values(), repeat=2))
WHOLE = (Kind.INT, Kind.UINT)


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=repr)
def test_promotion_is_jaxs(a: Scalar, b: Scalar) -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        peer = jax.numpy.promote_types(a.name, b.name)
    ours = promote(a, b)
    if {a, b} & {t.uint64} and Kind.INT in (a.kind, b.kind):
        assert ours is None
    else:
        assert ours is not None and ours.numpy == peer


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=repr)
def test_promotion_is_symmetric_and_an_upper_bound(a: Scalar, b: Scalar) -> None:
    met = promote(a, b)
    assert met == promote(b, a)
    if met is not None:
        assert promote(met, a) == met == promote(met, b)


def test_promotion_of_many_stops_where_there_is_no_common_type() -> None:
    assert promote_all([t.int8, t.int32, t.float32]) == t.float32
    assert promote_all([t.int64, t.uint64, t.float32]) is None
    assert promote_all([]) is None


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=repr)
def test_a_scalar_type_is_its_numpy_dtype(scalar: Scalar) -> None:
    assert scalar.numpy.itemsize == scalar.size == scalar.bits // 8
    value = scalar(1)
    assert value.dtype == scalar.numpy and value == 1
    assert as_type(scalar.numpy) == as_type(scalar.name) == as_type(scalar.numpy.type) == scalar


@pytest.mark.parametrize("name", sorted(VECTORS))
def test_a_vector_type_makes_dense_numpy_vectors(name: str) -> None:
    kind = VECTORS[name]
    assert name in (kind.name, kind.name + "f") or name.startswith("spatial")
    assert kind.size == kind.length * kind.dtype.size
    components = list(range(1, kind.length + 1))
    assert kind(*components).tolist() == kind(components).tolist() == components
    assert kind().tolist() == [0] * kind.length and kind(2).tolist() == [2] * kind.length
    assert kind(2).dtype == kind.dtype.numpy


def test_a_vector_refuses_a_wrong_number_of_components() -> None:
    with pytest.raises(TypeError, match=r"vec3\(\) takes 0, 1 or 3 components, not 2"):
        t.VECTORS["vec3"](1, 2)


TOO_LARGE = [
    (t.float32, 1e300), (t.float32, np.float64(-1e300)), (t.float32, np.array([1.0, 1e300])), (t.float16, 65520),
    (t.bfloat16, 3.4e38), (t.float64, 10**400), (t.int8, 300), (t.int8, np.int64(300)), (t.uint8, np.float32(-1)),
    (t.int32, 3e9), (t.int32, float("inf")), (t.int64, float("nan")), (VECTORS["vec3"], (0.0, 1e300, 0.0)),
    (VECTORS["vec3ub"], np.array([1, 2, 300])), (t.MATRICES["mat22"], 1e300),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), TOO_LARGE, ids=str)
def test_a_number_that_does_not_fit_is_refused_and_never_another_number(kind: Any, value: Any) -> None:
    with pytest.raises(OverflowError, match="does not fit"):
        kind(value)


@pytest.mark.parametrize("scalar", [s for s in SCALARS.values() if s.kind is Kind.FLOAT], ids=repr)
def test_infinity_and_nan_fit_every_float(scalar: Scalar) -> None:
    assert np.isposinf(scalar(np.inf)) and np.isneginf(scalar(-np.inf)) and np.isnan(scalar(np.nan))


@pytest.mark.parametrize("value", ["1.5", None, object()])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="is not a number of type float32"):
        t.float32(value)


@pytest.mark.parametrize(("length", "dtype"), [(257, t.float32), (0, t.float32), (3, t.VECTORS["vec2"])])
def test_vector_refuses_other_lengths_and_elements(length: int, dtype: object) -> None:
    with pytest.raises(TypeError, match="length is 1 to 256"):
        vector(length, dtype)


def test_pythons_names_mean_32_bits() -> None:
    assert (as_type(int), as_type(float), as_type(bool)) == (t.int32, t.float32, t.bool)
    assert vector(3, float) == VECTORS["vec3"] == VECTORS["vec3f"]


@pytest.mark.parametrize("spec", ["clongdouble", "float128x", object, None, "U4"])
def test_other_types_are_refused_by_name(spec: object) -> None:
    if spec is None:
        spec = np.dtype("clongdouble")
    with pytest.raises(TypeError, match="is not a type of the kernel language"):
        as_type(spec)


def test_types_are_values() -> None:
    kind = ArrayType(Vector(3, t.float32), 2)
    assert kind == pickle.loads(pickle.dumps(kind)) and hash(kind) == hash(ArrayType(VECTORS["vec3"], 2))
    assert repr(kind) == "array2d[vec3]" and repr(ArrayType(t.int64)) == "array[int64]"


def test_a_type_without_a_name_of_its_own_is_shown_as_it_is_written() -> None:
    for text in ("vector(1, float32)", "vector(5, float64)", "matrix((1, 3), float32)", "matrix((3, 1), float64)"):
        assert repr(eval(text, vars(t))) == text
    named = {**VECTORS, **t.MATRICES}
    assert all(named[repr(kind)] == kind for kind in named.values() if repr(kind) in named)


def test_what_carries_a_gradient() -> None:
    assert t.is_float(ArrayType(VECTORS["vec3d"])) and t.is_float(t.float64)
    assert not t.is_float(VECTORS["vec2i"]) and not t.is_float(t.bool)
    assert [s.name for s in SCALARS.values() if t.is_integer(s)] == [
        s.name for s in SCALARS.values() if s.kind in WHOLE
    ]
    assert not t.is_integer(VECTORS["vec2i"])
