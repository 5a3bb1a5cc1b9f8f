"""Gradients and replays that users write: used where they are given, right, and refused where they misfit."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning, numeric
from tests.support.devices import on_gpu
from workbench import inspect
from workbench.api.builds import build
from workbench.autodiff import adjoint, tangent
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.python.interpret import run

HEAD = "def k(x: array[float64], y: array[float64]):\n    i = tid()\n"
SQUARE = """
def f(x: float64):
    return x * x

@func_grad(f)
def adj_f(x: float64, adj: float64):
    adjoint[x] += 2.0 * x * adj
"""
RIGHT = {
    "plain": (SQUARE, "y[i] = f(x[i]) * 3.0"),
    "in a branch": (SQUARE, "if x[i] > 1.0:\n        y[i] = f(x[i])\n    else:\n        y[i] = f(2.0 * x[i]) + 1.0"),
    "in a loop": (SQUARE, "s = float64(0.0)\n    for j in range(3):\n        s += f(x[j] + s)\n    y[i] = s"),
    "in a loop of unknown length": (
        SQUARE,
        "s = float64(0.1)\n    for j in range(len(x) * 3):\n        s = 0.1 * f(s) + x[j % 4]\n    y[i] = s",
    ),
    "in a while": (
        SQUARE,
        "s = float64(0.1)\n    c = 0\n    while s < 3.0 and c < 9:\n        s += f(0.4 * x[i] + 0.1 * s)\n"
        "        c += 1\n    y[i] = s",
    ),
    "of a sum": (SQUARE, "s = float64(0.0)\n    for j in range(len(x)):\n        s += f(x[j])\n    y[i] = s"),
    "results and inputs": (
        """
        def f(x: float64, n: int, y: float64):
            return x * y, n, sin(x)

        @func_grad(f)
        def adj_f(a: float64, n: int, b: float64, adj_p: float64, adj_n: int, adj_s: float64):
            adjoint[a] += b * adj_p + cos(a) * adj_s
            adjoint[b] -= -a * adj_p
        """,
        "p, n, s = f(x[i], 2, x[i] + 1.0)\n    y[i] = p * s * float64(n)",
    ),
    "an array": (
        """
        def f(a: array[float64], i: int):
            return a[i] * a[i + 1]

        @func_grad(f)
        def adj_f(a: array[float64], i: int, adj: float64):
            adjoint[a][i] += a[i + 1] * adj
            atomic_add(adjoint[a], i + 1, a[i] * adj)
        """,
        "if i < 2:\n        y[i] = f(x, i)",
    ),
    "a func that stores": (
        """
        def f(a: array[float64], i: int, v: float64):
            a[i] = exp(v)

        @func_grad(f)
        def adj_f(a: array[float64], i: int, v: float64):
            adjoint[v] += exp(v) * adjoint[a][i]
            adjoint[a][i] = 0.0
        """,
        "f(y, i, x[i])",
    ),
    "early returns and a loop": (
        """
        def f(x: float64, n):
            if x < 1.0:
                return x
            return x ** 3

        @func_grad(f)
        def adj_f(x: float64, n, adj: float64):
            if x < 1.0:
                adjoint[x] += adj
                return
            for k in range(n):
                adjoint[x] += x * x * adj
        """,
        "y[i] = f(x[i], 3)",
    ),
    "a vector": (
        """
        def f(v: vec2d, s: float64):
            return v * s

        @func_grad(f)
        def adj_f(v: vec2d, s: float64, adj: vec2d):
            adjoint[v][0] += adj.x * s
            adjoint[v].y += adj.y * s
            adjoint[s] += dot(adj, v)
        """,
        "v = f(vec2d(x[i], 2.0), x[i] + 1.0)\n    y[i] = v.x * v.y",
    ),
    "generic, by a literal": (
        """
        def f(a, b):
            return a * b

        @func_grad(f)
        def adj_f(a, b, adj):
            adjoint[a] += b * adj
            adjoint[b] += a * adj
        """,
        "y[i] = f(x[i], 0.5) + f(x[i], x[i])",
    ),
    "one of two versions": (
        SQUARE + "\n@func\ndef f(v: vec2d):\n    return v.x * v.y\n",
        "y[i] = f(x[i]) + f(vec2d(x[i], 3.0))",
    ),
    "that calls its func": (
        """
        def f(x: float64):
            return exp(x)

        @func_grad(f)
        def adj_f(x: float64, adj: float64):
            adjoint[x] += f(x) * adj
        """,
        "y[i] = f(f(x[i]) * 0.1)",
    ),
    "inside another's body": (
        SQUARE + "\ndef g(x: float64):\n    return f(x) + 1.0\n\n@func_grad(g)\ndef adj_g(x: float64, adj: float64):\n"
        "    adjoint[x] += 2.0 * x * adj\n",
        "y[i] = g(x[i]) * f(x[i])",
    ),
    "a constant": (
        "def f(x: float64):\n    return x * C\n@func_grad(f)\ndef adj_f(x: float64, adj: float64):\n"
        "    adjoint[x] += C * adj\n",
        "y[i] = f(x[i])",
    ),
}  # fmt: skip


def cell(funcs: str, body: str, **constants: object):
    """The kernel `k` of a cell of these funcs and this body."""
    text = numeric.textwrap.dedent(funcs) + "\n" + HEAD + "    " + body + "\n"
    return meaning.define(text, {"C": 2.5, **constants})["k"]


def doubled(text: str) -> str:
    """The same funcs with gradients twice as large."""
    lines = [line + " * 2.0" if "adjoint[" in line and "= 0.0" not in line and "_add(" not in line else line
             for line in text.splitlines()]  # fmt: skip
    return "\n".join(lines).replace("* adj)", "* adj * 2.0)")


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", RIGHT)
def test_gradients_meet_difference_quotients(name):
    function = cell(*RIGHT[name]).specialise().function
    numeric.check(function, (3,), numeric.values(4), numeric.values(4))


@pytest.mark.slow
@pytest.mark.sample(5)
@pytest.mark.parametrize("name", RIGHT)
def test_compiled_code_means_the_same(name):
    kernel = cell(*RIGHT[name])
    function = adjoint(kernel.specialise().function)
    arguments = [numeric.values(4), numeric.values(4), np.zeros(4), np.ones(4)]
    expected = [a.copy() for a in arguments]
    run(function, (3,), expected)
    shim = [a.copy() for a in arguments]
    on_gpu.run(function, (3,), shim)
    native = [wb.array(a) for a in arguments]
    wb.launch(kernel, 3, inputs=native[:2], adjoint=True, adj_inputs=native[2:])
    for one, two, three in zip(expected, shim, native, strict=True):
        np.testing.assert_allclose(two, one, rtol=1e-13)
        np.testing.assert_allclose(three.numpy(), one, rtol=1e-13)


@pytest.mark.parametrize("name", ["plain", "in a branch", "in a loop", "an array", "a vector", "generic, by a literal"])
def test_what_was_written_is_what_runs(name):
    funcs, body = RIGHT[name]
    found = []
    for text in (funcs, doubled(funcs)):
        adj = [np.zeros(4), np.ones(4)]
        run(adjoint(cell(text, body).specialise().function), (3,), [numeric.values(4), numeric.values(4), *adj])
        found.append(adj[0])
    assert np.abs(found[0]).max() > 0
    if name != "in a loop":  # there the factor compounds
        np.testing.assert_allclose(found[1], 2 * found[0])
    assert not np.allclose(found[1], found[0])


def test_a_result_that_was_not_used_lets_no_infinite_slope_through():
    funcs = "def f(x: float64):\n    return sqrt(x)\n@func_grad(f)\ndef adj_f(x: float64, adj: float64):\n"
    funcs += "    adjoint[x] += adj / (2.0 * sqrt(x))\n"
    function = cell(funcs, "y[i] = where(x[i] > 0.0, f(x[i]), 0.0)").specialise().function
    adj = [np.zeros(2), np.ones(2)]
    run(adjoint(function), (2,), [np.array([0.0, 4.0]), np.zeros(2), *adj])
    np.testing.assert_array_equal(adj[0], [0.0, 0.25])


def test_second_order_goes_through_the_gradients_own_lines():
    funcs = "def f(x: float64):\n    return sin(x)\n@func_grad(f)\ndef adj_f(x: float64, adj: float64):\n"
    funcs += "    adjoint[x] += cos(x) * adj\n"
    text = numeric.textwrap.dedent(funcs) + "\ndef g(x: float64, adj: float64):\n    return f(x) * adj\n" + HEAD
    kernel = meaning.define(text + "    y[i] = g(x[i], f(x[i]))\n")["k"]
    numeric.check(kernel.specialise().function, (3,), numeric.values(3), numeric.values(3))


REPLAY = """
def count(n: array[int], order: array[int], i: int):
    at = atomic_add(n, 0, 1)
    return at

@func_replay(count)
def again(n: array[int], order: array[int], i: int):
    return order[i]

def k(n: array[int], order: array[int], x: array[float64], y: array[float64]):
    i = tid()
    at = count(n, order, i)
    y[at] = x[i] * x[i] * float64(at + 1)
"""


def test_a_replay_stands_for_what_is_not_kept():
    function = meaning.define(REPLAY)["k"].specialise().function
    threads = [np.zeros(1, np.int32), np.arange(3, dtype=np.int32), numeric.values(3), numeric.values(3)]
    numeric.check(function, (3,), *threads)
    plain = REPLAY.replace("@func_replay(count)", "@func")
    with pytest.raises(wb.NotDifferentiable, match="old value that atomic_add"):
        adjoint(meaning.define(plain)["k"].specialise().function)
    writes = REPLAY.replace("    return at\n", "    order[i] = at\n    return at\n", 1)
    with pytest.raises(wb.NotDifferentiable, match="replay of count reads order here, which this kernel writes"):
        adjoint(meaning.define(writes)["k"].specialise().function)


def test_the_gradient_of_a_part_of_an_array_is_refused():
    with pytest.raises(wb.KernelTypeError, match="takes whole arrays"):
        cell(RIGHT["an array"][0], "y[i] = f(x[1:], 0)")


FORWARD = sorted(set(RIGHT) - {"an array", "a func that stores"})


@pytest.mark.parametrize("name", FORWARD)
def test_forward_mode_is_the_transpose(name):
    function = cell(*RIGHT[name]).specialise().function
    x, along, weights = numeric.values(4), numeric.values(2, 2).ravel(), numeric.values(2, 2).ravel()[::-1].copy()
    weights[3] = 0.0
    pushed = np.zeros(4)
    run(tangent(function), (3,), [x.copy(), np.zeros(4), along, pushed])
    pulled = np.zeros(4)
    run(adjoint(function), (3,), [x.copy(), np.zeros(4), pulled, weights.copy()])
    assert np.abs(pushed).max() > 0
    assert pushed @ weights == pytest.approx(pulled @ along, rel=1e-12)


def test_forward_mode_through_a_gradient_of_arrays_is_refused():
    with pytest.raises(wb.NotDifferentiable, match="takes an array: it has no tangent yet"):
        tangent(cell(*RIGHT["an array"]).specialise().function)


def test_with_a_replay_alone_the_funcs_own_lines_are_differentiated():
    text = "def f(x: float64):\n    return x * x\n@func_replay(f)\ndef again(x: float64):\n    return x * x\n"
    function = cell(text, "y[i] = sin(f(x[i]))").specialise().function
    numeric.check(function, (3,), numeric.values(3), numeric.values(3))


def test_the_forward_keeps_its_key_and_the_adjoint_gets_a_new_one():
    bodies = [SQUARE, SQUARE.replace("2.0 *", "C *"), ""]
    bodies[2] = SQUARE.split("@func_grad")[0]
    keys = {direction: [] for direction in ("forward", "adjoint")}
    for text in bodies:
        specialisation = cell(text, "y[i] = f(x[i])").specialise()
        for direction, found in keys.items():
            backend = build.backend_for("cpu")
            target = backend.target()
            found.append(build.key_of(specialisation, direction, Options(), backend, target, False).digest)
    assert len(set(keys["forward"])) == 1
    assert len(set(keys["adjoint"])) == 3


def test_a_gradient_given_later_and_a_changed_constant_reach_the_next_adjoint():
    scope = {"SLOPE": 3.0}

    @wb.func
    def f(x: float):
        return x

    @wb.kernel
    def k(x: wb.array[float], y: wb.array[float]):
        i = wb.tid()
        y[i] = f(x[i])

    def slope() -> float:
        adj = wb.zeros(1, dtype=float)
        wb.launch(k, 1, [wb.ones(1, dtype=float)], [wb.zeros(1, dtype=float)], adjoint=True, adj_inputs=[adj],
                  adj_outputs=[wb.ones(1, dtype=float)])  # fmt: skip
        return float(adj.numpy()[0])

    assert slope() == 1.0
    text = "def adj_f(x: float, adj: float):\n    wb.adjoint[x] += SLOPE * adj\n"
    scope.update(wb=wb)
    exec(text, scope)
    wb.func_grad(f, source=text)(scope["adj_f"])
    assert slope() == 3.0
    scope["SLOPE"] = 5.0
    assert slope() == 5.0


def test_gradcheck_calls_a_wrong_gradient_wrong_and_names_its_line():
    wrong = cell(SQUARE.replace("2.0", "2.1"), "y[i] = f(x[i])")
    arguments = [numeric.values(3)], [numeric.values(3)]
    verdict = wb.gradcheck(wrong, 3, *arguments)
    assert not verdict
    assert "WRONG" in str(verdict)
    assert verdict.worst[0].line.endswith("line 6, in the gradient of f")
    assert wb.gradcheck(cell(SQUARE, "y[i] = f(x[i])"), 3, *arguments)


def test_the_panes_show_it():
    text = inspect.ir(cell(SQUARE, "y[i] = f(x[i])"))
    assert "custom[adjoints=(0,), name=f]" in text
    assert "gradient { %x1: float64, %adj: float64" in text
    assert "custom" not in inspect.cuda(cell(SQUARE, "y[i] = f(x[i])"))
    assert "custom" not in inspect.llvm(cell(SQUARE, "y[i] = f(x[i])"), "adjoint")


def test_nvrtc_takes_the_adjoint(need):
    need("nvrtc")
    for name in ("results and inputs", "an array", "a vector"):
        function = adjoint(cell(*RIGHT[name]).specialise().function)
        assert CudaBackend().compile(function, Options(), "sm_90").image


F = "def f(x: float64):\n    return x * x\n"
REFUSED = [
    (F + "@func_grad(f)\ndef g(x: float64):\n    adjoint[x] += x\n", "an adjoint for each of its 1 results", 4),
    (F + "@func_grad(f)\ndef g(x: float64, a: float32):\n    adjoint[x] += x\n", "is float64", 4),
    (F + "@func_grad(f)\ndef g(x: int, a: float64):\n    adjoint[x] += x\n", "begin with the func's inputs", 4),
    (F + "@func_grad(nobody)\ndef g(x: float64, a: float64):\n    adjoint[x] += x\n", "does not find nobody", 3),
    (F + "@func_grad(f)\ndef g(x: float64, a: float64):\n    adjoint[x] = a\n", "only added to", 5),
    (F + "@func_grad(f)\ndef g(x: float64, a: float64):\n    adjoint[x] *= a\n", "An adjoint is added to", 5),
    (F + "@func_grad(f)\ndef g(x: float64, a: float64):\n    adjoint[a] += a\n", "a is not an input", 5),
    (F + "@func_grad(f)\ndef g(x: float64, a: float64):\n    return a\n", "A gradient returns nothing", 5),
    (F + "@func_grad(f)\ndef g(x: float64, a: float64):\n    adjoint[x] += vec3(1.0)\n", "vec3", 5),
    (F + "@func_replay(f)\ndef g(x: float64, a: float64):\n    return a\n", "are the func's inputs", 4),
    (F + "@func_replay(f)\ndef g(x: float64):\n    return x, x\n", "gives 1 values, its replay 2", 4),
    (
        "def f(x: array[float64]):\n    return x[0]\n"
        "@func_grad(f)\ndef g(x: array[float64], a: float64):\n    x[0] = a\n",
        "may change only adjoints", 5,
    ),
    (
        "def f(n: int):\n    return 2.0\n@func_grad(f)\ndef g(n: int, a: float):\n    adjoint[n] += a\n",
        "n is int32, which has no adjoint", 5,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("funcs", "sentence", "line"), REFUSED)
def test_misfits_are_refused_at_their_lines(funcs, sentence, line):
    argument = "x" if "array[float64])" in funcs else "1" if "n: int" in funcs else "x[i]"
    with pytest.raises(wb.WorkbenchError) as caught:
        cell("\n" + funcs, f"y[i] = float64(f({argument}))")
    assert sentence in caught.value.render()
    assert caught.value.location.line == line


def test_the_gradient_of_a_kernel_is_refused():
    kernel = cell("", "y[i] = x[i]")
    with pytest.raises(wb.KernelTypeError, match="k is a kernel"):

        @wb.func_grad(kernel)
        def g(x: wb.array[float]):
            pass


def test_adjoint_outside_a_gradient_is_refused():
    with pytest.raises(wb.WorkbenchError) as caught:
        cell("", "adjoint[x] += 1.0")
    assert "stands in the body of a @wb.func_grad" in caught.value.render()


def test_an_array_that_is_also_written_elsewhere_is_refused():
    text = RIGHT["an array"][0]
    function = cell(text, "if i < 2:\n        y[i] = f(x, i)\n    x[2 - i] = 1.0").specialise().function
    with pytest.raises(wb.NotDifferentiable, match="used here in a func with a gradient of its own"):
        adjoint(function)
