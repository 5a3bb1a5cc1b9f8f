"""What an adjoint looks like: parameters, names, places, how it accumulates, what it reads and leaves out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.support.checks.numeric import I1, V1, X1, X2, check, gradients, kernel
from workbench.autodiff import adjoint, adjoint_params, primal_params, reads
from workbench.backends.python.interpret import run
from workbench.errors import NotDifferentiable
from workbench.ir.data import canonical, show
from workbench.ir.values import Function, walk, written_arrays
from workbench.ir.verify import verify
from workbench.types import VECTORS, ArrayType, float32, float64, int32

SAXPY = "def saxpy(x, y, a):\n    i = tid()\n    y[i] = a * x[i] + y[i]"


def accumulation(function: Function, name: str) -> set[str]:
    """How the adjoint array `name` is written, apart from clearing."""
    zeros = {op.result for op in walk(function.body) if op.name == "const" and op.attrs["value"] == 0}
    return {
        op.name
        for op in walk(function.body)
        if op.operands and op.operands[0].name == name and op.name != "load" and op.operands[-1] not in zeros
    }


def test_its_parameters() -> None:
    function = kernel("""def k(x, at, a, n, v):
    x[tid()] = a""", {"x": X1, "at": I1, "a": float64, "n": int32, "v": VECTORS["vec3d"]})  # fmt: skip
    result = adjoint(function)
    assert result.name == "k_adjoint" and result.launch_ndim == 1
    assert [p.name for p in result.params] == ["x", "at", "a", "n", "v", "adj_x", "adj_a", "adj_v"]
    assert [p.type for p in result.params[5:]] == [X1, ArrayType(float64), ArrayType(VECTORS["vec3d"])]
    assert [p.name for p in primal_params(result)] == ["x", "at", "a", "n", "v"]
    assert {k: p.name for k, p in adjoint_params(result).items()} == {"x": "adj_x", "a": "adj_a", "v": "adj_v"}


def test_a_parameter_called_adj_x_keeps_its_name() -> None:
    function = kernel("def k(x, adj_x):\n    i = tid()\n    adj_x[i] = x[i] * x[i]", {"x": X1, "adj_x": X1})
    names = [p.name for p in check(function, 3, np.ones(3), np.ones(3)).params]
    assert names == ["x", "adj_x", "adj2_x", "adj2_adj_x"]


def test_an_owned_element_is_added_to_plainly() -> None:
    result = adjoint(kernel(SAXPY, {"x": X1, "y": X1, "a": float64}))
    assert accumulation(result, "adj_x") == accumulation(result, "adj_y") == {"store"}
    assert accumulation(result, "adj_a") == {"reduce_add"}


def test_atomic_adds_everywhere_where_asked() -> None:
    result = adjoint(kernel(SAXPY, {"x": X1, "y": X1, "a": float64}), atomic=True)
    assert accumulation(result, "adj_x") == accumulation(result, "adj_y") == {"atomic_add"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("i = tid()\n    y[i] = x[i] * x[i]", "store"),
        ("i = tid()\n    if x[i + 1] > 0.5:\n        y[i] = x[i] * x[i]", "store"),
        ("i = tid()\n    y[i] = x[i] * x[i + 1]", "atomic_add"),
        ("i = tid()\n    y[i] = x[0]", "atomic_add"),
        ("i, j = tid()\n    w[i, j] = x[i]", "atomic_add"),
        ("y[0] = x[0]", "atomic_add"),
        ("i = tid()\n    y[i] = x[int(float32(i))]", "atomic_add"),
        ("i = tid()\n    y[i] = x[int64(i)]", "store"),
        ("i = tid()\n    y[i] = x[int8(i)]", "atomic_add"),
    ],
)
def test_ownership(body: str, expected: str) -> None:
    function = kernel(f"def k(x, y, w):\n    {body}", {"x": X1, "y": X1, "w": X2})
    assert accumulation(adjoint(function), "adj_x") == {expected}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("w[j, i] = x[i, j] * 2.0", "store"),
        ("w[j, i] = x[j, i] * 2.0 + x[j, i]", "store"),
        ("w[j, i] = x[i, j] * x[j, i]", "atomic_add"),
        ("w[j, i] = x[i, i]", "atomic_add"),
    ],
)
def test_ownership_in_two_dimensions(body: str, expected: str) -> None:
    function = kernel(f"def k(x, w):\n    i, j = tid()\n    {body}", {"x": X2, "w": X2})
    assert accumulation(adjoint(function), "adj_x") == {expected}


def test_a_row_that_belongs_to_a_thread_is_owned() -> None:
    text = "def k(x, y):\n    i = tid()\n    for j in range(x.shape[1]):\n        y[i] += x[i, j] * x[i, 0]"
    assert accumulation(adjoint(kernel(text, {"x": X2, "y": X1})), "adj_x") == {"store"}


def test_an_element_read_three_times_is_added_to_once() -> None:
    text = "def k(x, y, n):\n    i = tid()\n    j = n - i\n    y[i] = x[j] * x[j] + sin(x[j])"
    result = adjoint(kernel(text, {"x": X1, "y": X1, "n": int32}))
    assert [op.name for op in walk(result.body)].count("atomic_add") == 1


def test_what_it_reads() -> None:
    text = """def k(x, y, z, u):
    i = tid()
    y[i] = x[i] * x[i] + 2.0 * z[i]
    if u[i] > 0.0:
        z[i] = x[i]"""
    result = adjoint(kernel(text, {"x": X1, "y": X1, "z": X1, "u": X1}))
    assert reads(result) == {"x", "u"}
    assert written_arrays(result) == {"adj_x", "adj_y", "adj_z"}


def test_linear_kernels_read_nothing() -> None:
    text = "def k(x, y):\n    i = tid()\n    y[i] = 2.0 * x[i] + y[i]"
    assert reads(adjoint(kernel(text, {"x": X1, "y": X1}))) == frozenset()


def test_what_has_no_derivative_leaves_nothing() -> None:
    text = "def k(x, at, n):\n    i = tid()\n    for j in range(n):\n        at[i] += int(x[j] * 3.0)"
    assert adjoint(kernel(text, {"x": X1, "at": I1, "n": int32})).body.ops == ()


def test_names_and_places() -> None:
    text = "def k(x, y):\n    i = tid()\n    u = sin(x[i])\n\n    y[i] = u * u"
    result = adjoint(kernel(text, {"x": X1, "y": X1}))
    assert {"i", "u", "adj_u"} <= {v.name for op in walk(result.body) for v in op.results}
    lines = {op.name: op.location.line for op in walk(result.body)}
    assert lines["cos"] == 3 and lines["mul"] == 3 and lines["store"] == 3 and lines["tid"] == 2
    assert {op.location.line for op in walk(result.body)} <= {2, 3, 5}


def test_loop_cotangents_have_the_names_of_what_they_belong_to() -> None:
    text = "def k(x, y, n):\n    s = x[0]\n    for j in range(n):\n        s = 0.5 * s + x[j]\n    y[tid()] = s * s"
    shown = show(adjoint(kernel(text, {"x": X1, "y": X1, "n": int32})))
    assert "%adj_s" in shown and "{ %j" in shown


def test_it_depends_on_the_kernel_alone() -> None:
    text = """
    def k(x, y, a, n):
        s = a
        for j in range(n):
            if x[j] > a:
                s += x[j] * a
        y[tid()] = s * s
    """
    signature = {"x": X1, "y": X1, "a": float64, "n": int32}
    assert canonical(adjoint(kernel(text, signature))) == canonical(adjoint(kernel(text, signature)))


def test_captured_constants_stay_captured() -> None:
    function = kernel(
        "def k(x, y):\n    i = tid()\n    y[i] = x[i] * G", {"x": X1, "y": X1}, own={"G": np.float64(9.81)}
    )
    result = check(function, 3, np.ones(3), np.ones(3))
    assert result.captured == function.captured and "@G" in canonical(result)


def test_float32_and_float64_mixed() -> None:
    text = "def k(x, y):\n    i = tid()\n    y[i] = float64(float32(x[i]) * float32(3.0)) * x[i]"
    function = kernel(text, {"x": X1, "y": X1})
    found = gradients(function, 2, [np.array([1.0, 2.0]), np.zeros(2)], {"y": np.ones(2)})
    np.testing.assert_allclose(found["x"], [6.0, 12.0])


def test_it_adds_to_what_is_there_and_clears_what_was_written() -> None:
    function = kernel(SAXPY.replace("+ y[i]", ""), {"x": X1, "y": X1, "a": float64})
    adj_x, adj_y, adj_a = np.array([10.0, 20.0]), np.array([1.0, 2.0]), np.array([100.0])
    run(adjoint(function), 2, [np.array([3.0, 4.0]), np.zeros(2), 5.0, adj_x, adj_y, adj_a])
    assert adj_x.tolist() == [15.0, 30.0] and adj_y.tolist() == [0.0, 0.0] and adj_a.tolist() == [111.0]


def test_the_adjoint_of_a_linear_kernel_can_be_differentiated_again() -> None:
    function = kernel("def k(x, y):\n    i = tid()\n    y[i] = y[i] + 3.0 * x[i]", {"x": X1, "y": X1})
    twice = check(adjoint(function), 3, *(np.arange(3.0) + k for k in range(4)))
    assert verify(twice).name == "k_adjoint_adjoint"


def test_the_adjoint_of_a_scalar_can_be_differentiated_again() -> None:
    function = kernel("def k(y, a):\n    i = tid()\n    atomic_add(y, 0, a * float64(i))", {"y": X1, "a": float64})
    check(adjoint(function), 3, np.ones(1), 2.0, np.ones(1), np.ones(1))


def test_a_refusal_pickles() -> None:
    function = kernel("def k(x):\n    i = tid()\n    x[i] = x[i + 1] * x[i]", {"x": X1})
    with pytest.raises(NotDifferentiable) as caught:
        adjoint(function)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_vector_component_alone_makes_no_detour() -> None:
    text = "def k(p, y):\n    i = tid()\n    v = p[i] - p[i] * 0.5\n    y[i] = v.x * v.x"
    names = [op.name for op in walk(adjoint(kernel(text, {"p": V1, "y": X1})).body)]
    assert "insert" not in names and names.count("vec") == 1


def test_float32_is_kept_throughout() -> None:
    x1 = ArrayType(float32)
    function = kernel("def k(x, y, a):\n    i = tid()\n    y[i] = sin(x[i]) * a", {"x": x1, "y": x1, "a": float32})
    types = {v.type for op in walk(adjoint(function).body) for v in op.results}
    assert types == {int32, float32}
