"""Tangents of kernels and of their adjoints: against difference quotients, for every kernel whose adjoint is tested."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.autodiff.test_loop_gradients import LOOPS
from tests.autodiff.test_right_gradients import ARRAYS, BRANCHES, NANS, STRAIGHT, VECTOR_KERNELS
from tests.builtins.test_adjoints import operand_types, wide_types_of
from tests.support.checks.numeric import I1, V1, X1, kernel, values
from tests.support.kernels.builtin_cases import drawn
from workbench.autodiff import adjoint, adjoint_params, parameters, tangent
from workbench.backends.python.interpret import run
from workbench.builtins import TABLE, Ref
from workbench.errors import NotDifferentiable
from workbench.ir.build import Builder
from workbench.ir.values import Function, Value
from workbench.types import VECTORS, ArrayType, float64, int32, is_float, uint32

SIGNATURE = {"x": X1, "y": X1, "a": float64, "n": int32, "m": int32, "at": I1}
N = 5


def ran(function: Function, dim: Any, args: list[Any]) -> list[Any]:
    """The arguments after a run of copies of them."""
    copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"):
        run(function, dim, copies)
    return copies


def directions(function: Function, args: list[Any]) -> list[Any]:
    """A random tangent for each float argument."""
    random = np.random.default_rng(7)
    found = []
    for p, a in zip(function.params, args, strict=True):
        if is_float(p.type):
            drawn = random.uniform(-1.0, 1.0, np.shape(a))
            found.append(drawn if np.ndim(a) else float(drawn))
    return found


def check_tangent(function: Function, dim: Any, args: list[Any], step: float = 1e-5) -> None:
    """The tangent function does what the function does, and its tangents are difference quotients."""
    made = tangent(function)
    along = directions(function, args)
    after = ran(made, dim, [*args, *along])
    plain = ran(function, dim, args)
    places = [k for k, p in enumerate(function.params) if is_float(p.type)]
    sides = []
    for sign in (step, -step):
        moved = list(args)
        for k, d in zip(places, along, strict=True):
            moved[k] = moved[k] + sign * d
        sides.append(ran(function, dim, moved))
    for position, name in enumerate(p.name for p in function.params):
        np.testing.assert_array_equal(after[position], plain[position], f"{name} itself")
    for position, k in enumerate(places):
        param = function.params[k]
        if isinstance(param.type, ArrayType):
            expected = (sides[0][k] - sides[1][k]) / (2 * step)
            scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
            got = after[len(args) + position]
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6 * scale, err_msg=f"tangent of {param.name}")


def adjoint_arguments(function: Function, dim: Any, args: list[Any]) -> tuple[Function, list[Any]]:
    """The adjoint, and arguments for it: what the kernel leaves, and random cotangents."""
    random = np.random.default_rng(3)
    reverse = adjoint(function)
    after = ran(function, dim, args)
    given = dict(zip((p.name for p in function.params), after, strict=True))
    for name in adjoint_params(reverse):
        tail = given[name].shape if isinstance(given[name], np.ndarray) and given[name].ndim else (1,)
        kind = next(p.type for p in function.params if p.name == name)
        shape = (1, *kind.shape) if not isinstance(kind, ArrayType) else tail
        after.append(random.uniform(0.5, 1.5, shape))
    return reverse, after


BODIES = {**STRAIGHT, **BRANCHES, **LOOPS}


def simple(name: str) -> tuple[Function, list[Any]]:
    text = f"def k(x, y, a, n, m, at):\n    i = tid()\n    {BODIES[name]}"
    return kernel(text, SIGNATURE), [values(N), values(N) + 0.1, 1.3, N, 1, np.arange(N, dtype=np.int32)]


@pytest.mark.parametrize("name", BODIES)
def test_first_and_second_derivatives(name: str) -> None:
    function, args = simple(name)
    check_tangent(function, N, args)
    reverse, given = adjoint_arguments(function, N, args)
    check_tangent(reverse, N, given)


@pytest.mark.parametrize("name", NANS)
def test_no_nan_of_what_was_not_taken(name: str) -> None:
    text = f"def k(x, y, a, n):\n    i = tid()\n    {NANS[name]}"
    function = kernel(text, {"x": X1, "y": X1, "a": float64, "n": int32})
    args = [np.array([-1.0, 0.7, -0.4, 1.6, 2.0]), values(N), 1.1, N]
    check_tangent(function, N, args)
    reverse, given = adjoint_arguments(function, N, args)
    check_tangent(reverse, N, given)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name: str) -> None:
    text, signature, dim, arguments = ARRAYS[name]
    function = kernel(text, signature)
    check_tangent(function, dim, arguments)
    reverse, given = adjoint_arguments(function, dim, arguments)
    check_tangent(reverse, dim, given)


@pytest.mark.parametrize("name", VECTOR_KERNELS)
def test_vectors(name: str) -> None:
    text = f"def k(p, q, b, a, n):\n    i = tid()\n    {VECTOR_KERNELS[name]}"
    function = kernel(text, {"p": V1, "q": V1, "b": VECTORS["vec3d"], "a": float64, "n": int32})
    args = [values(3, 3), values(3, 3), np.array([0.4, 1.2, 0.9]), 1.3, 3]
    check_tangent(function, 3, args)
    reverse, given = adjoint_arguments(function, 3, args)
    check_tangent(reverse, 3, given)


FORWARD_ONLY: dict[str, str] = {
    "a product": "s = x[i]\n    for j in range(n):\n        s = s * x[j] + sin(s)\n    y[i] = s",
    "a while that carries": "s = x[i]\n    while s < 9.0:\n        s = s * 1.9 + x[0]\n    y[i] = s",
    "a while with a counter": """s = x[i]
    c = 0
    while c < n:
        if c % 2 == 0:
            s = s * x[c]
        c += 1
    y[i] = s * a""",
    "break and continue": """s = x[i]
    for j in range(10):
        if j == m:
            continue
        if s > 5.0:
            break
        s = s * s + x[j % n]
    y[i] = s""",
    "in place": "x[i] = sin(x[i])\n    y[i] = x[i] * x[i]",
    "in place, product": "x[i] *= y[i]\n    y[i] /= x[i] + 2.0",
    "the old value of an own addition": "t = atomic_add(y, i, x[i])\n    y[i] = t * t + y[i]",
    "an integer between": "k = int(x[i] * 4.0)\n    y[i] = x[k % n] * float64(k) * a",
    "unused without a rule": "y[i] = x[i] * float64(bool(x[i] > 1.0))",
}


@pytest.mark.parametrize("name", FORWARD_ONLY)
def test_what_forward_mode_has_and_the_adjoint_may_not(name: str) -> None:
    text = f"def k(x, y, a, n, m):\n    i = tid()\n    {FORWARD_ONLY[name]}"
    function = kernel(text, {n: SIGNATURE[n] for n in ("x", "y", "a", "n", "m")})
    args = [values(N), values(N) + 0.1, 1.3, N, 1]
    check_tangent(function, N, args)
    once = tangent(function)
    check_tangent(once, N, [*args, *directions(function, args)])


def test_an_unsigned_range() -> None:
    text = "def k(x, y, n):\n    i = tid()\n    s = x[i]\n    for j in range(n):\n        s *= x[j]\n    y[i] = s"
    check_tangent(kernel(text, {"x": X1, "y": X1, "n": uint32}), N, [values(N), values(N), N])


def test_casts_between_floats() -> None:
    text = "def k(x, y):\n    i = tid()\n    y[i] = float64(float32(x[i]) * float32(3.0)) + x[i] * x[i]"
    made = tangent(kernel(text, {"x": X1, "y": X1}))
    after = ran(made, 3, [values(3), values(3), np.ones(3), np.zeros(3)])
    np.testing.assert_allclose(after[3], 3 + 2 * values(3), rtol=1e-6)


@pytest.mark.parametrize("name", sorted(n for n, b in TABLE.items() if b.gradient is not None))
def test_every_builtin(name: str) -> None:
    """The tangent is the transpose of the adjoint rule, and that is tested against difference quotients."""
    entry = TABLE[name]
    for types in [operand_types(name, 0), *wide_types_of(name)[:1]] if entry.elementwise else wide_types_of(name):
        check_builtin(name, types)


def check_builtin(name: str, types: list[Any]) -> None:
    """⟨ct, J t⟩ = ⟨Jᵀ ct, t⟩ for random ct and t."""
    entry, random = TABLE[name], np.random.default_rng(5)
    _, result = entry.rule(name, types)
    params = [Value(ArrayType(t), f"v{k}") for k, t in enumerate(types)]
    out = Value(ArrayType(result), "out")
    builder = Builder()
    zero = builder.const(0)
    found = entry(*(Ref(builder, builder.load(p, zero)) for p in params))
    builder.store(out, zero, found.value)
    function = Function("k", (*params, out), builder.body())
    point = [np.array(drawn(entry, k, t, random))[None] for k, t in enumerate(types)]
    blank = np.zeros((1, *result.shape))
    along = [random.uniform(-1, 1, p.shape) if is_float(t) else None for p, t in zip(point, types, strict=True)]
    pushed = ran(tangent(function), 1, [*point, blank, *(t for t in along if t is not None), blank])[-1]
    ct = random.uniform(0.5, 1.5, blank.shape)
    adjoints = [np.zeros_like(t) for t in along if t is not None]
    pulled = ran(adjoint(function), 1, [*point, blank, *adjoints, ct])[len(point) + 1 : -1]
    left = float(np.sum(ct * pushed))
    right = sum(float(np.sum(p * t)) for p, t in zip(pulled, (t for t in along if t is not None), strict=True))
    assert left == pytest.approx(right, rel=1e-9, abs=1e-9), (name, types)


REFUSED: dict[str, tuple[str, str, int]] = {
    "the old value of an addition": ("t = atomic_add(y, 0, x[i])\n    x[i] = t", "The old value that atomic_add", 3),
    "atomic_max": ("atomic_max(y, 0, x[i])", "atomic_max on y has no tangent", 3),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_at_its_line(name: str) -> None:
    body, message, line = REFUSED[name]
    with pytest.raises(NotDifferentiable, match=message) as caught:
        tangent(kernel(f"def k(x, y):\n    i = tid()\n    {body}", {"x": X1, "y": X1}))
    assert caught.value.location is not None and caught.value.location.line == line
    assert caught.value.function == "k" and caught.value.advice


def test_a_builtin_without_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TABLE["erf"], "gradient", None)
    monkeypatch.setattr(TABLE["erf"], "differentiable", "no: a test")
    with pytest.raises(NotDifferentiable, match=r"erf\(\) has no derivative: a test"):
        tangent(kernel("def k(x, y):\n    i = tid()\n    y[i] = erf(x[i])", {"x": X1, "y": X1}))


def test_names_and_parameters() -> None:
    function = kernel(
        "def k(x, tan_x, a, n):\n    x[0] = tan_x[0] * a", {"x": X1, "tan_x": X1, "a": float64, "n": int32}
    )
    made = tangent(function)
    assert made.name == "k_tangent"
    assert [p.name for p in made.params[4:]] == ["tan2_x", "tan2_tan_x", "tan2_a"]
    for direction in ("adjoint", "tangent", "adjoint tangent", "tangent tangent", "tangent adjoint"):
        step = function
        for word in direction.split():
            step = adjoint(step) if word == "adjoint" else tangent(step)
        known = parameters(function.params, direction)
        assert [(p.name, p.type) for p in known] == [(p.name, p.type) for p in step.params]
