"""Matrices and quaternions in kernels: NumPy's meaning, the same by the interpreter, on the CPU and as CUDA text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import workbench as wb
from tests.frontend.errors.test_refusals import under_caret
from tests.support.checks import meaning
from tests.support.devices.on_gpu import Library
from tests.support.kernels.cache_samples import make_key
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.python.interpret import run
from workbench.types import ArrayType, Matrix, Vector, element, float32, float64, int32, matrix

TYPES = {"a": wb.mat33d, "b": wb.mat33d, "v": wb.vec3d, "w": wb.mat23d, "s": float64, "n": matrix((2, 2), int32)}
HEAD = "a, b, v, w, s, n = A[i], B[i], V[i], W[i], S[i], N[i]"
# An expression of two matrices a, b, a vector v, a 2 × 3 matrix w, a number s, an int matrix n; and NumPy's for it.
EXPRESSIONS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "a + b - a / 2": (wb.mat33d, lambda a, b, v, w, s, n: a + b - a / 2),
    "-a * s + s * b": (wb.mat33d, lambda a, b, v, w, s, n: -a * s + s * b),
    "a @ b": (wb.mat33d, lambda a, b, v, w, s, n: a @ b),
    "w @ a @ w.T": (wb.mat22d, lambda a, b, v, w, s, n: w @ a @ w.T),
    "a @ v + v @ b": (wb.vec3d, lambda a, b, v, w, s, n: a @ v + v @ b),
    "v @ v": (float64, lambda a, b, v, w, s, n: v @ v),
    "a[1, -1] + a[i % 3, 0] + a[0, i % 3]": (float64, None),
    "a[-1] + a[i % 3]": (wb.vec3d, None),
    "inverse(a) @ v": (wb.vec3d, lambda a, b, v, w, s, n: np.linalg.inv(a) @ v),
    "determinant(a) + trace(b)": (float64, lambda a, b, v, w, s, n: np.linalg.det(a) + np.trace(b)),
    "transpose(w)": (wb.mat32d, lambda a, b, v, w, s, n: w.T),
    "outer(v, v) + skew(v)": (wb.mat33d, lambda a, b, v, w, s, n: np.outer(v, v) + np.cross(np.eye(3), v)),
    "diag(get_diag(a))": (wb.mat33d, lambda a, b, v, w, s, n: np.diag(np.diag(a))),
    "cw_mul(a, b) + cw_div(a, b)": (wb.mat33d, lambda a, b, v, w, s, n: a * b + a / b),
    "ddot(a, b)": (float64, lambda a, b, v, w, s, n: np.sum(a * b)),
    "matrix_from_rows(v, a[0])": (wb.mat23d, lambda a, b, v, w, s, n: np.stack([v, a[0]])),
    "matrix_from_cols(v, a[0], b[1])": (wb.mat33d, lambda a, b, v, w, s, n: np.stack([v, a[0], b[1]], 1)),
    "identity(n=3, dtype=float64) * s": (wb.mat33d, lambda a, b, v, w, s, n: np.eye(3) * s),
    "mat22d(s, 1.0, 2.0, s) + mat22d(3.0) + mat22d()": (
        wb.mat22d, lambda a, b, v, w, s, n: np.array([[s, 1], [2, s]]) + 3),
    "sin(a) + abs(b) * 2.0": (wb.mat33d, lambda a, b, v, w, s, n: np.sin(a) + abs(b) * 2),
    "a if s > 0 else b": (wb.mat33d, lambda a, b, v, w, s, n: a if s > 0 else b),
    "n * 2 - n // 3": (matrix((2, 2), int32), lambda a, b, v, w, s, n: n * 2 - n // 3),
    "mat33d(mat33(a))": (wb.mat33d, lambda a, b, v, w, s, n: a.astype(np.float32)),
    "len(w) + len(v) + s": (float64, lambda a, b, v, w, s, n: 2 + 3 + s),
    "C @ v": (wb.vec2d, lambda a, b, v, w, s, n: CONSTANT @ v),
}  # fmt: skip
CONSTANT = np.arange(6.0).reshape(2, 3)
# Statements that make r from the same names.
STATEMENTS = {
    "components": ("r = a\n    r[0, 1] = s\n    r[-1, 2] += v.x\n    r[1] = v", wb.mat33d),
    "places known at run time": (
        "r = b\n    for p in range(3):\n        for q in range(3):\n            r[p, q] = a[q, p] + r[q, p]\n"
        "        r[p] = r[p] * 2.0", wb.mat33d),
    "rows unpacked": ("x, y, z = a\n    r = x + z * y.x", wb.vec3d),
    "rows in turn": ("r = vec3d()\n    for line in a:\n        r += line", wb.vec3d),
    "a name that two paths set": ("r = a\n    if s > 0.0:\n        r = b @ a\n        r[2, 2] = 0.0", wb.mat33d),
    "carried through a loop": ("r = a\n    for k in range(4):\n        r = r @ b * s + a", wb.mat33d),
}  # fmt: skip


def peer(name: str) -> Callable[..., Any]:
    found = {
        "a[1, -1] + a[i % 3, 0] + a[0, i % 3]": lambda i, a: a[1, -1] + a[i % 3, 0] + a[0, i % 3],
        "a[-1] + a[i % 3]": lambda i, a: a[-1] + a[i % 3],
    }
    if name in found:
        return lambda i, a, *rest: found[name](i, a)
    return lambda i, *values: EXPRESSIONS[name][1](*values)


def statement(name: str, a: Any, b: Any, v: Any, s: Any) -> Any:
    """What the statements of this name make of NumPy values."""
    local = {
        "a": a.copy(), "b": b.copy(), "v": v.view(_Named), "s": s, "vec3d": lambda: np.zeros(3), "float64": float,
        "identity": lambda n, t: np.eye(n), "range": range,
    }  # fmt: skip
    text = STATEMENTS[name][0].replace("r = a", "r = a.copy()").replace("r = b\n", "r = b.copy()\n")
    exec("if 1:\n    " + text.replace("y.x", "y[0]"), {}, local)
    return local["r"]


class _Named(np.ndarray):
    """A vector with `.x`."""

    @property
    def x(self) -> Any:
        return self[0]


def inputs(count: int = 5) -> list[np.ndarray]:
    random = np.random.default_rng(11)
    found = []
    for t in TYPES.values():
        shape = (count, *t.shape)
        draws = random.uniform(-2, 2, shape) if element(t) == float64 else random.integers(-9, 9, shape)
        found.append(draws.astype(element(t).numpy))
    return found


def kernel(body: str) -> Any:
    params = ", ".join(n.upper() for n in TYPES)
    text = f"def k({params}, Y):\n    i = tid()\n    {HEAD}\n    {body}\n    Y[i] = r\n"
    return meaning.define(text, {"C": CONSTANT})["k"]


def made(kernel: Any, result: Any) -> Any:
    return kernel.specialise([*map(ArrayType, TYPES.values()), ArrayType(result)]).function


BODIES = {e: (f"r = {e}", t) for e, (t, _) in EXPRESSIONS.items()} | STATEMENTS


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", BODIES)
def test_the_interpreter_means_numpy_and_the_cpu_the_interpreter(name: str) -> None:
    body, result = BODIES[name]
    k, columns = kernel(body), inputs()
    y = wb.zeros(5, result)
    wb.launch(k, 5, [wb.array(c, t) for c, t in zip(columns, TYPES.values(), strict=True)], [y])
    got = np.zeros((5, *result.shape), element(result).numpy)
    run(made(k, result), 5, [*columns, got])
    if name in EXPRESSIONS:
        want = [peer(name)(i, *(c[i] for c in columns)) for i in range(5)]
    else:
        want = [statement(name, *(columns[n][i] for n in (0, 1, 2, 4))) for i in range(5)]
    assert np.allclose(got, want, rtol=1e-12)
    assert np.allclose(y.numpy(), got, rtol=1e-14) and y.numpy().shape == got.shape


@pytest.mark.slow
def test_the_cuda_text_means_the_interpreter(need) -> None:
    need("nvrtc")
    functions = [replace(made(kernel(b), t), name=f"k{n}") for n, (b, t) in enumerate(BODIES.values())]
    library, columns = Library(functions, Options()), inputs()
    for function, (body, t) in zip(functions, BODIES.values(), strict=True):
        expected, got = (np.zeros((5, *t.shape), element(t).numpy) for _ in range(2))
        run(function, 5, [*columns, expected])
        library.run(function.name, 5, [*columns, got])
        assert np.allclose(got, expected, rtol=1e-13), body


def annotated(text: str) -> Any:
    """The IR of a kernel whose parameters all have types."""
    k: Any = meaning.define(text)["k"]
    return k.specialise([*k.annotations.values()]).function


STEP = """
def k(m: array[mat33], v: array[vec3], f: mat33, y: array[vec3], z: array[mat33]):
    i = tid()
    p = inverse(m[i]) @ f + outer(v[i], v[i]) * determinant(f)
    p[0, 1] = p[1, 0] * trace(f)
    y[i] = p @ v[i] + v[i] @ transpose(m[i])
    z[i] = skew(v[i]) - p * 0.5 + diag(p[2])
"""


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_nvrtc_takes_the_text(target: str) -> None:
    pytest.importorskip("cuda.bindings")
    function = annotated(STEP)
    assert CudaBackend().compile(function, Options(), target).image


def test_the_cuda_text_reads_like_matrices() -> None:
    from workbench.backends.cuda.emit import emit_cuda

    head, body = "def k(x: array[mat22], a: mat22, y: array[mat22]):", "m = x[tid()] + a * 0.5\n    m[0, 1] = 1.0"
    text = f"{head}\n    {body}\n    y[tid()] = m\n"
    cuda = emit_cuda(annotated(text), Options())
    assert "mat22 a," in cuda and "m.m[0][1] = 1.0f;" in cuda and "(y.data[i]) = m;" in cuda


def test_matrices_are_registers_after_optimisation() -> None:
    function = annotated(STEP)
    text = cpu.optimised_text(function, Options(), CpuBackend().target())
    assert "alloca" not in text and "memcpy" not in text


def test_gradients_of_matrices_are_right() -> None:
    k, random = meaning.define(STEP)["k"], np.random.default_rng(4)
    m = random.normal(size=(4, 3, 3)) + 3 * np.eye(3)
    x = [wb.array(m, wb.mat33), wb.array(random.normal(size=(4, 3)), wb.vec3), random.normal(size=(3, 3)) + np.eye(3)]
    verdict = wb.gradcheck(k, 4, x, [wb.zeros(4, wb.vec3), wb.zeros(4, wb.mat33)])
    assert verdict.ok and verdict.compared >= 50, str(verdict)


def test_a_tape_gives_the_gradient_of_the_determinant() -> None:
    k = meaning.define("def k(m: array[mat33d], y: array[float64]):\n    y[tid()] = determinant(m[tid()])\n")["k"]
    m = np.random.default_rng(0).normal(size=(3, 3, 3))
    x, y = wb.array(m, wb.mat33d, requires_grad=True), wb.zeros(3, float64, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(k, 3, [x], [y])
    tape.backward(grads={y: wb.ones(3, float64)})
    want = np.linalg.det(m)[:, None, None] * np.linalg.inv(m).transpose(0, 2, 1)
    assert np.allclose(x.grad.numpy(), want)


# Arrays and arguments.


def test_arrays_of_matrices_share_numpys_memory_and_have_two_more_axes() -> None:
    data = np.arange(24, dtype=np.float32).reshape(2, 2, 2, 3)
    x = wb.from_numpy(data, wb.mat23)
    assert x.shape == (2, 2) and x.dtype == wb.mat23 and x.numpy().base is not None
    assert np.shares_memory(x.numpy(), data) and np.array_equal(x[1, 0], data[1, 0])
    x[0, 1] = np.ones((2, 3), np.float32)
    assert data[0, 1].sum() == 6
    with pytest.raises(TypeError, match="its last axes must be 3 and 3"):
        wb.array(data, wb.mat33)


def test_strided_arrays_of_matrices() -> None:
    k = meaning.define("def k(x: array[mat22], y: array[mat22]):\n    i = tid()\n    y[i] = x[i] @ x[i]\n")["k"]
    data = np.random.default_rng(1).normal(size=(6, 2, 2)).astype(np.float32)
    turned = np.asfortranarray(data)
    out = wb.zeros(6, wb.mat22)
    wb.launch(k, 3, [wb.array(data, wb.mat22)[::2]], [out[::2]])
    assert np.allclose(out.numpy()[::2], data[::2] @ data[::2], rtol=1e-5) and not out.numpy()[1::2].any()
    assert np.array_equal(wb.array(turned, wb.mat22, copy=False).numpy(), data)


def test_matrix_arguments_and_constants_and_their_keys() -> None:
    namespace = {"R": np.eye(2, dtype=np.float32)}
    k = meaning.define("def k(a: mat22, y: array[mat22]):\n    y[tid()] = a @ R\n", namespace)["k"]
    y = wb.zeros(1, wb.mat22)
    digests = []
    for change in (1.0, 2.0):
        namespace["R"] = np.eye(2, dtype=np.float32) * np.float32(change)
        wb.launch(k, 1, [[[1, 2], [3, 4]]], [y])
        assert np.array_equal(y.numpy()[0], np.array([[1, 2], [3, 4]]) * change)
        facts = {"backend": "cpu", "backend_version": "1", "target": "x86-64-v3", "direction": "forward"}
        digests.append(make_key(k.used.function, options=Options(), **facts).digest)
    assert len(set(digests)) == 2
    with pytest.raises(wb.LaunchError, match="a takes mat22: 2 × 2 numbers"):
        wb.launch(k, 1, [[1, 2, 3, 4]], [y])


def test_types_are_values() -> None:
    assert matrix((3, 3), float) == wb.mat33 == wb.mat33f != Vector(9, float32)
    assert isinstance(wb.mat24, Matrix) and wb.mat24.shape == (2, 4)
    assert repr(matrix((2, 2), int)) == "matrix((2, 2), int32)"
    assert np.array_equal(wb.mat22(1, 2, 3, 4), [[1, 2], [3, 4]]) and np.array_equal(wb.mat22(), np.zeros((2, 2)))
    with pytest.raises(TypeError, match="up to 256 components"):
        matrix((13, 20), float)


# Quaternions.

TURN = """
def k(
    qs: array[quatd], v: array[vec3d], r: quatd, y: array[quatd], z: array[vec3d], m: array[mat33d], t: array[float64]
):
    i = tid()
    q = normalize(qs[i])
    p = q * r * 0.5 + quat_identity(float64)
    p.w += 1.0
    y[i] = quat_slerp(normalize(p), q, 0.3)
    axis, angle = quat_to_axis_angle(q)
    z[i] = quat_rotate(q, v[i]) - quat_rotate_inv(quat_from_axis_angle(axis, angle), v[i]) * 0.5
    m[i] = quat_to_matrix(q * quat_inverse(normalize(r)))
    t[i] = angle + dot(q, p) + q[3]
"""


def turning() -> tuple[Any, list[Any], list[Any]]:
    random = np.random.default_rng(0)
    given = [random.normal(size=(5, 4)), random.normal(size=(5, 3)), np.array([0.1, 0.2, 0.3, 0.9])]
    return meaning.define(TURN)["k"], given, [wb.quatd, wb.vec3d, wb.mat33d, float64]


def test_quaternions_turn_as_their_matrices_do(need) -> None:
    need("nvrtc")
    k, (q, v, r), types = turning()
    outputs = [wb.zeros(5, t) for t in types]
    wb.launch(k, 5, [wb.array(q, wb.quatd), wb.array(v, wb.vec3d), r], outputs)
    _, z, m, _ = (o.numpy() for o in outputs)
    assert np.allclose(m @ m.transpose(0, 2, 1), np.eye(3)) and np.allclose(np.linalg.det(m), 1)
    unit, pole = q / np.linalg.norm(q, axis=1, keepdims=True), r / np.linalg.norm(r)
    turn, back = (np.array([rotation(p) for p in ps]) for ps in (unit, np.tile(pole * [-1, -1, -1, 1], (5, 1))))
    assert np.allclose(m, turn @ back)
    assert np.allclose(z, np.einsum("nij,nj->ni", turn - turn.transpose(0, 2, 1) * 0.5, v))
    function = k.used.function
    for runs in (lambda a: run(function, 5, a), lambda a: Library([function], Options()).run("k", 5, a)):
        got = [np.zeros_like(o.numpy()) for o in outputs]
        runs([q, v, r, *got])
        assert all(np.allclose(g, o.numpy(), rtol=1e-12, atol=1e-14) for g, o in zip(got, outputs, strict=True))


def rotation(q: np.ndarray) -> np.ndarray:
    """Rodrigues' formula."""
    axis, w = q[:3], q[3]
    cross = np.cross(np.eye(3), axis)
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def test_gradients_of_quaternions_are_right() -> None:
    k, (q, v, r), types = turning()
    verdict = wb.gradcheck(k, 5, [wb.array(q, wb.quatd), wb.array(v, wb.vec3d), r], [wb.zeros(5, t) for t in types])
    assert verdict.ok and verdict.compared > 90, str(verdict)


def test_slerp_of_near_and_of_equal_quaternions_is_finite() -> None:
    body = "i = tid()\n    y[i] = quat_slerp(q, q * (1.0 - 2.0 * i), 0.5)"
    k = meaning.define(f"def k(q: quat, y: array[quat]):\n    {body}\n")["k"]
    y = wb.zeros(2, wb.quat)
    wb.launch(k, 2, [[0, 0, 0.6, 0.8]], [y])
    assert np.allclose(y.numpy(), [[0, 0, 0.6, 0.8]] * 2)


# Refusals: statement, text under the caret, part of the sentence or of the advice.
REFUSED = [
    ("z = m * m", "m * m", "Write m @ n, or cw_mul(m, n)"),
    ("z = m * v", "m * v", "Write m @ n, or cw_mul(m, n)"),
    ("z = m / m", "m / m", "cw_div(m, n)"),
    ("z = m ** 2", "m ** 2", "Write m @ m"),
    ("z = m @ 2.0", "m @ 2.0", "@ takes matrices or vectors"),
    ("z = m @ mat22()", "m @ mat22()", "3 × 3 and 2 × 2"),
    ("z = m + mat22()", "m + mat22()", "one shape"),
    ("z = m[3, 0]", "3", "rows 0 to 2"),
    ("z = m[0, 1, 2]", "m[0, 1, 2]", "1 or 2 indices"),
    ("z = m.x", "m.x", "Write m[i, j]"),
    ("m.x = 1.0", "m.x", "has no component x"),
    ("m[0] = 1.0", "m[0]", "Write vec3(…)"),
    ("z = mat22(v, v)", "mat22(v, v)", "matrix_from_rows"),
    ("z = mat22(1.0, 2.0)", "mat22(1.0, 2.0)", "0, 1 or 4 components"),
    ("z = identity(17)", "identity(17)", "1 to 16"),
    ("z = determinant(mat23())", "determinant(mat23())", "a square matrix"),
    ("z = dot(m, m)", "dot(m, m)", "takes vectors"),
    ("z = sqrt(q)", "sqrt(q)", "Take the components"),
    ("z = q * v", "q * v", "quat_rotate(q, v)"),
    ("z = q / q", "q / q", "quat_inverse(r)"),
    ("z = q + 1.0", "q + 1.0", "Quaternions have"),
    ("z = quat_rotate(v, q)", "quat_rotate(v, q)", "takes a quaternion, a vector of length 3"),
    ("if m < m:\n        z = 1", "m < m", "takes scalars"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "sentence"), REFUSED)
def test_refused_at_its_place(text: str, place: str, sentence: str) -> None:
    body = f"def k(m: mat33, v: vec3, q: quat, x: array[float]):\n    i = tid()\n    {text}\n"
    with pytest.raises(wb.WorkbenchError) as caught:
        meaning.define(body)
    assert under_caret(caught.value) == place
    assert sentence in f"{caught.value.message} {caught.value.advice}"


def test_matrices_cross_to_jax_as_their_two_last_axes() -> None:
    jax = pytest.importorskip("jax")
    k = meaning.define("def k(x: array[mat22], y: array[float]):\n    y[tid()] = trace(x[tid()])\n")["k"]
    x = jax.numpy.arange(12.0).reshape(3, 2, 2)
    assert wb.jax_kernel(k)(x).tolist() == [3.0, 11.0, 19.0]


@wb.kernel
def made_again(m: wb.mat22, out: wb.array[wb.mat22]):
    out[0] = wb.mat22(m, shape=(2, 2))


def test_a_matrix_may_be_made_with_the_shape_that_it_has():
    out = wb.zeros(1, wb.mat22)
    wb.launch(made_again, 1, [wb.mat22(1.0, 2.0, 3.0, 4.0), out])
    assert out.numpy()[0].tolist() == [[1.0, 2.0], [3.0, 4.0]]
