"""Every adjoint rule against central difference quotients of the reference, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.kernels.builtin_cases import accepted, blank, drawn, rowwise
from workbench.backends.python import run
from workbench.builtins import TABLE, Builtin, Ref
from workbench.builtins.declaration.meaning import apply
from workbench.passes.expand import VECTOR_OPERATORS, expand
from workbench.types import Scalar, Vector, element, float64, is_float
from workbench.types import bool as bool_

Types = list[Scalar | Vector]

RULES = sorted(name for name, entry in TABLE.items() if entry.gradient is not None)
ON_VECTORS = sorted(n for n in RULES if n in VECTOR_OPERATORS or not TABLE[n].elementwise)
POINTS = 12
STEPS = (1e-5, 2e-5)


def operand_types(name: str, length: int) -> Types:
    t = Vector(length, float64) if length else float64
    return [bool_ if p == "condition" else t for p in TABLE[name].params]


def rule_results(entry: Builtin, types: Types, points: list[tuple[Any, ...]], ct: list[Any]) -> list[np.ndarray]:
    """The rule's cotangent for each float operand at each point, run by the interpreter; zeros where it gives None."""
    _, result = entry.rule(entry.name, types)
    wanted = [n for n, t in enumerate(types) if is_float(t)]

    def compute(ct: Ref, *operands: Ref) -> list[Ref]:
        assert entry.gradient is not None
        cotangents = entry.gradient(ct, entry(*operands), *operands)
        assert len(cotangents) == len(types)
        assert all(c is None or is_float(operands[n].type) for n, c in enumerate(cotangents))
        return [operands[n].like(0) if cotangents[n] is None else cotangents[n] for n in wanted]  # type: ignore[misc]

    function = rowwise(entry.name, [result, *types], [types[n] for n in wanted], compute)
    function = expand(function, lambda b: b.expand is None, keep_vector_operators=True)
    outputs = [blank(len(points), types[n]) for n in wanted]
    inputs = [np.array([p[n] for p in points]) for n in range(len(types))]
    run(function, len(points), [np.array(ct), *inputs, *outputs])
    return outputs


def quotient(entry: Builtin, point: tuple[Any, ...], result: Any, operand: int, ct: Any, h: float) -> np.ndarray:
    """d(ct · f) / d operand, component by component, by central differences of step `h`."""
    shape = np.shape(point[operand])
    slope = np.zeros(shape or (1,))
    for k in range(slope.size):
        values = []
        for sign in (1, -1):
            moved = np.array(point[operand], dtype=np.float64, copy=True).reshape(-1)
            moved[k] += sign * h
            changed = moved.reshape(shape) if shape else moved[0]
            row = (*point[:operand], changed, *point[operand + 1 :])
            values.append(np.sum(ct * apply(entry, row, result)))
        slope.flat[k] = (values[0] - values[1]) / (2 * h)
    return slope.reshape(shape)


def wide_types_of(name: str) -> list[Types]:
    """Vectors and matrices of float64 that the builtin takes."""
    if TABLE[name].elementwise:
        return [operand_types(name, n) for n in (2, 3, 4)]
    return [list(types) for types, _ in accepted(TABLE[name]) if element(types[0]) == float64]


def check(name: str, types: Types) -> None:
    entry, random = TABLE[name], np.random.default_rng(3)
    _, result = entry.rule(name, types)
    assert isinstance(result, (Scalar, Vector))
    points = [tuple(drawn(entry, n, t, random) for n, t in enumerate(types)) for _ in range(POINTS)]
    cts = [random.uniform(0.5, 2, result.shape or None) for _ in range(POINTS)]
    got = rule_results(entry, types, points, cts)
    smooth = 0
    for column, operand in enumerate(n for n, t in enumerate(types) if is_float(t)):
        for row, point in enumerate(points):
            fine, coarse = (quotient(entry, point, result, operand, cts[row], h) for h in STEPS)
            scale = max(1.0, float(np.max(np.abs(fine))))
            if np.max(np.abs(fine - coarse)) > 1e-6 * scale:
                continue
            smooth += 1
            error = np.max(np.abs(got[column][row] - fine)) / scale
            assert error < 1e-6, f"{name}: operand {operand} at {point}: rule {got[column][row]}, quotient {fine}"
    assert smooth >= POINTS // 2


@pytest.mark.parametrize("name", sorted(n for n in RULES if TABLE[n].elementwise))
def test_rule_on_scalars(name: str) -> None:
    with np.errstate(all="ignore"):
        check(name, operand_types(name, 0))


@pytest.mark.parametrize(
    ("name", "types"), [pytest.param(n, t, id=f"{n}-{t}") for n in ON_VECTORS for t in wide_types_of(n)]
)
def test_rule_on_vectors_and_matrices(name: str, types: Types) -> None:
    with np.errstate(all="ignore"):
        check(name, types)


@pytest.mark.parametrize("name", RULES)
def test_rule_keeps_the_type_of_its_operands(name: str) -> None:
    """float32 stays float32: no rule drifts into float64 through a literal."""
    entry = TABLE[name]
    narrow = Scalar("float32", float64.kind, 32)
    types = [bool_ if p == "condition" else narrow for p in entry.params]
    if not entry.elementwise:
        types = next(list(types) for types, _ in accepted(entry) if element(types[0]) == narrow)
    _, result = entry.rule(name, types)
    seen: list[Any] = []

    def compute(ct: Ref, *operands: Ref) -> list[Ref]:
        assert entry.gradient is not None
        seen.extend(entry.gradient(ct, entry(*operands), *operands))
        return []

    rowwise(name, [result, *types], [], compute)
    assert all(c is None or c.type == t for c, t in zip(seen, types, strict=True))


def test_zero_vectors_have_zero_gradient() -> None:
    for name in ("length", "normalize"):
        entry = TABLE[name]
        t = Vector(3, float64)
        _, result = entry.rule(name, [t])
        ct = np.ones(3) if isinstance(result, Vector) else 1.0
        (got,) = rule_results(entry, [t], [(np.zeros(3),)], [ct])
        assert np.array_equal(got, np.zeros((1, 3)))


def test_pow_has_finite_gradients_where_they_exist() -> None:
    points = [(np.float64(x), np.float64(y)) for x, y in ((0, 0), (0, 2), (-2, 3), (-2, 0), (2, 0))]
    dx, dy = rule_results(TABLE["pow"], [float64, float64], points, [1.0] * len(points))
    assert np.allclose(dx, [0, 0, 12, 0, 0])
    assert np.allclose(dy, [0, 0, 0, 0, np.log(2)])
