"""Arithmetic on arrays: each operator beside NumPy's, on the tape, on every device, and what is refused."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError, NotDifferentiable


@wb.kernel
def sine(x: wb.array[float]):
    i = wb.tid()
    x[i] = wb.sin(x[i])


DEVICES = ("cpu", pytest.param("emulated", marks=pytest.mark.slow))
A = np.array([[1.5, -2.0, 3.0], [0.25, 5.0, -6.0]], np.float32)
B = np.array([[2.0, 4.0, -1.0], [0.5, 5.0, 3.0]], np.float32)
BINARY = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.lt,
    operator.le, operator.gt, operator.ge,
)  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
def test_operators_as_numpy_has_them(device):
    a, b = wb.array(A, device=device), wb.array(B, device=device)
    for op in BINARY:
        pairs = [(op(a, b), op(A, B)), (op(A, b), op(A, B))]
        if op in (operator.sub, operator.floordiv, operator.lt):
            pairs += [(op(a, 2), op(A, np.float32(2))), (op(0.5, b), op(np.float32(0.5), B))]
        for ours, theirs in pairs:
            assert isinstance(ours, wb.array) and ours.device == a.device and ours.dtype.numpy == theirs.dtype, op
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-6, err_msg=op.__name__)
    assert np.array_equal((-a).numpy(), -A) and np.array_equal(abs(a).numpy(), abs(A))
    np.testing.assert_allclose((abs(a) ** 1.5).numpy(), abs(A) ** 1.5, rtol=1e-5)
    np.testing.assert_allclose((2 ** b).numpy(), np.float32(2) ** B, rtol=1e-6)  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
def test_masks(device):
    a, b = wb.array(A, device=device), wb.array(B, device=device)
    mask = (a > 0) & (b < 4) | ~(a >= -3) ^ (b > 0)
    expected = (A > 0) & (B < 4) | ~(A >= -3) ^ (B > 0)
    assert np.array_equal(mask.numpy(), expected)
    assert int(mask.sum()) == expected.sum()
    assert np.array_equal(wb.where(a > b, a, 0).numpy(), np.where(A > B, A, 0))
    assert np.array_equal(wb.max(a, b).numpy(), np.maximum(A, B))
    bits = wb.array([12, 10], device=device)
    assert [(bits & 6).numpy().tolist(), (bits | 1).numpy().tolist(), (~bits).numpy().tolist()] == [
        [4, 2], [13, 11], [-13, -11],
    ]  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
def test_reductions(device):
    a, b = wb.array(A, device=device), wb.array(B, device=device)
    assert a.sum().shape == (1,) and float(a.sum()) == A.sum()
    assert float(a.mean()) == pytest.approx(A.mean()) and float(a.T[1:].sum()) == A.T[1:].sum()
    assert float(a.dot(b)) == (A * B).sum()
    assert float(a.max()) == 5 and float(a.min()) == -6
    assert int(wb.array([3, 4, 5], device=device).sum()) == 12
    assert float(wb.array([3, 4], device=device).mean()) == 3.5
    assert wb.array(A, dtype=wb.vec3, device=device).sum().numpy().tolist() == [A.sum(0).tolist()]
    assert float(wb.zeros((0, 3), device=device).sum()) == 0
    for spot in range(3):
        holed = wb.array(np.where(np.arange(3) == spot, np.nan, A[0]).astype(np.float32), device=device)
        assert np.isnan(float(holed.max())) and np.isnan(float(holed.min()))


@pytest.mark.parametrize("device", DEVICES)
def test_reductions_along_an_axis(device):
    host = np.arange(24, dtype=np.float32).reshape(2, 3, 4) % 7
    x = wb.array(host, device=device)
    for axis in (0, 1, 2, -1):
        for keepdims in (False, True):
            for name in ("sum", "mean", "max", "min"):
                found = getattr(x, name)(axis=axis, keepdims=keepdims)
                expected = getattr(host, name)(axis=axis, keepdims=keepdims)
                assert found.shape == expected.shape and found.device == x.device
                np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    assert x[0, 0].sum(axis=0).shape == (1,) and (x > 3).sum(axis=1).numpy().tolist() == (host > 3).sum(1).tolist()
    narrow = wb.array([[200, 3], [100, 250]], dtype=wb.uint8, device=device)
    assert narrow.mean(axis=0).numpy().tolist() == [150.0, 126.5]
    assert (int(narrow.max()), int(narrow.min())) == (250, 3) and narrow.max().dtype == wb.uint8
    half = wb.array([1.5, -2.0], dtype=wb.float16, device=device)
    assert float(half.max()) == 1.5 and half.min().dtype == wb.float16


@pytest.mark.parametrize("device", DEVICES)
def test_shapes_broadcast(device):
    a, row, column = wb.array(A, device=device), wb.array(B[0], device=device), wb.array(B[:, :1], device=device)
    assert np.array_equal((a + row).numpy(), A + B[0]) and np.array_equal((column * row).numpy(), B[:, :1] * B[0])
    assert np.array_equal((a - np.array([1, 2, 3], np.float32)).numpy(), A - np.array([1, 2, 3]))
    points = wb.ones(2, dtype=wb.vec3, device=device)
    assert (points * wb.vec3(1.0, 2.0, 3.0)).numpy().tolist() == [[1, 2, 3]] * 2
    assert np.array_equal(wb.where(a > row, 1.0, -1.0).numpy(), np.where(A > B[0], 1, -1))
    centred = a - a.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(centred.numpy(), A - A.mean(1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_products(device):
    a, b, v = wb.array(A, device=device), wb.array(B.T.copy(), device=device), wb.array(B[0], device=device)
    for ours, theirs in ((a @ b, A @ B.T), (a @ v, A @ B[0]), (v @ a.T, B[0] @ A.T), (v @ v, [B[0] @ B[0]])):
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-6)
    assert (wb.zeros((2, 0), device=device) @ wb.zeros((0, 3), device=device)).numpy().tolist() == [[0] * 3] * 2
    np.testing.assert_allclose((A @ b).numpy(), A @ B.T, rtol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_gradients(device):
    """Against the formulas: loss = Σ(2x - y)² + mean(where(x < 0, x², x)) + (x - mean x)·y + Σ(M x)."""
    y, m = B[0], A
    x = wb.array(A[0], device=device, requires_grad=True)
    ours_y, ours_m = wb.array(y, device=device), wb.array(m, device=device)
    with wb.Tape() as tape:
        loss = ((x * 2 - ours_y) ** 2).sum() + wb.where(x < 0, x * x, x).mean()
        loss = loss + (x - x.mean()).dot(ours_y) + (ours_m @ x).sum()
    tape.backward(loss)
    h = A[0].astype(np.float64)
    expected = 4 * (2 * h - y) + np.where(h < 0, 2 * h, 1) / 3 + (y - y.mean()) + m.sum(0)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)


def test_gradients_along_an_axis_and_of_what_is_repeated():
    """loss = Σ (x c) + 2 Σ max over rows + Σ (mean over columns)²."""
    x, c = wb.array(A, requires_grad=True), wb.array([[2.0], [3.0]], requires_grad=True)
    with wb.Tape() as tape:
        loss = (x * c).sum() + (x.max(axis=1) * 2).sum() + (x.mean(axis=0) ** 2).sum()
    tape.backward(loss)
    np.testing.assert_allclose(c.grad.numpy()[:, 0], A.sum(1), rtol=1e-6)
    largest = A == A.max(1, keepdims=True)
    np.testing.assert_allclose(x.grad.numpy(), [[2.0], [3.0]] + 2 * largest + A.mean(0), rtol=1e-6)


def test_double_precision_and_numbers():
    x = wb.array(A.astype(np.float64))
    assert (x * 0.1).dtype == wb.float64 and np.array_equal((x * 0.1).numpy(), A.astype(np.float64) * 0.1)
    assert (wb.array([1, 2], dtype=wb.int64) + 2**40).numpy().tolist() == [2**40 + 1, 2**40 + 2]
    assert (wb.ones(2, dtype=wb.vec3) * 2.0 + wb.ones(2, dtype=wb.vec3)).numpy().tolist() == [[3] * 3] * 2
    assert (wb.array([1, 2]) / 2).numpy().tolist() == [0.5, 1.0]


def test_in_place_the_array_stays_the_one_that_others_hold():
    x = wb.array(A)
    same, row = x, x[0]
    x += 1
    x *= 2
    row -= 3
    assert x is same and np.array_equal(x.numpy()[0], (A[0] + 1) * 2 - 3)
    x[1] /= 2
    assert np.array_equal(x.numpy()[1], A[1] + 1)
    p = wb.array(A[0], requires_grad=True)
    with wb.Tape() as tape:
        q = p * 1.0
        q *= p
        loss = q.sum()
    tape.backward(loss)
    np.testing.assert_allclose(p.grad.numpy(), 2 * A[0])


def test_equality_is_identity_and_truth_is_of_one_element():
    x, y = wb.array([1.0, 2.0]), wb.array([1.0, 2.0])
    assert x == x and x != y and len({x: 0, y: 1}) == 2
    assert x.sum() > 2 and not x.sum() < 2
    with pytest.raises(TypeError, match="only an array of one element is true or false"):
        bool(x < y)


def test_elements_as_numbers_of_python():
    assert wb.array([2.5]).item() == 2.5 and type(wb.array([3]).item()) is int
    assert wb.array([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match=r"only an array of one element .* shape \(3,\)"):
        wb.zeros(3).item()
    with pytest.raises(TypeError, match="a vec3 is no number"):
        float(wb.zeros(1, wb.vec3))


def test_functions_of_vectors_say_what_does_it_for_whole_arrays():
    x = wb.ones(3)
    for call, advice in ((lambda: wb.dot(x, x), r"x\.dot\(y\)"), (lambda: wb.argmax(x), r"np\.argmax\(x\)")):
        with pytest.raises(LaunchError, match=f"is of each element, .*Write {advice}"):
            call()
    assert wb.length(wb.ones(2, wb.vec4)).tolist() == [2.0, 2.0]


def test_numpy_keeps_its_functions():
    x, host = wb.array(A), A.copy()
    for found, expected in (
        (np.sum(x), A.sum()), (np.mean(x, axis=0), A.mean(0)), (np.sin(x), np.sin(A)), (np.max(x), A.max()),
        (np.reshape(x, 6), A.reshape(6)), (np.concatenate([x, x]), np.concatenate([A, A])), (host == x, A == A),
        (np.multiply(x, x), A * A), (np.add.reduce(x), A.sum(0)), (np.where(x, x, 0), np.where(A, A, 0)),
    ):  # fmt: skip
        assert isinstance(found, (np.ndarray, np.generic)) and np.array_equal(found, expected)
    same = host
    host += x
    assert host is same and np.array_equal(host, 2 * A)
    assert isinstance(np.float32(2) * x, wb.array) and isinstance(A @ x.T, wb.array)
    for write in (
        lambda: np.add(A, A, out=x), lambda: np.put(x, [0], 1), lambda: np.copyto(x, A), lambda: np.clip(x, 0, 1, x),
        lambda: np.fill_diagonal(x, 0), lambda: np.add.at(x, 0, 1), lambda: np.cumsum(A, 1, None, x),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"would change a Workbench array.*write x\[...\] = "):
            write()
    assert np.array_equal(x.numpy(), A) and x.version == 0
    np.reshape(x, 6)[0] = 7.0  # a view, as x.numpy() is
    assert x[0, 0] == 7


def test_captured_and_recorded():
    x = wb.array(A)
    with wb.record() as rec:
        y = x * 2.0
    assert len(rec) >= 1
    x.fill_(3)
    rec.replay()
    assert (y.numpy() == 6).all()


def shifted(x: wb.array[float], a: float, y: wb.array[float]):
    wb.copy(y, (a * x + 1) * a)


@pytest.mark.slow
def test_in_a_function_of_jax_with_a_traced_number(need):
    need("jax")
    import jax

    f = wb.jax_callable(shifted)
    x = A[0]
    np.testing.assert_allclose(jax.jit(f)(x, 2.0), (2 * x + 1) * 2)
    assert float(jax.grad(lambda a: f(x, a).sum())(2.0)) == pytest.approx((4 * x + 1).sum())


def test_captured():
    x = wb.array(A)
    with wb.capture() as g:
        y = x * 2 + 1
        total = y.sum()
    g.launch()
    assert np.array_equal(y.numpy(), A * 2 + 1) and float(total) == (A * 2 + 1).sum()


@pytest.mark.slow
def test_differentiated_twice():
    def loss(x):
        return (x * x * x).sum()

    x = wb.array(A)
    assert np.allclose(wb.hvp(loss)(x, along=wb.ones_like(x)).numpy(), 6 * A)


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda x: x + wb.zeros(5), LaunchError, "do not fit together"),
        (lambda x: x + "text", TypeError, "unsupported operand"),
        (lambda x: None * x, TypeError, "unsupported operand"),
        (lambda x: wb.array([1, 2]) * 0.5, LaunchError, "Convert the array"),
        (lambda x: x * 1e300, OverflowError, "float32"),
        (lambda x: x @ x, LaunchError, r"\(n, k\) @ \(k, m\)"),
        (lambda x: x @ 2, TypeError, "unsupported operand"),
        (lambda x: x.dot(wb.zeros(5)), LaunchError, "one shape and dtype"),
        (lambda x: wb.zeros(0).max(), LaunchError, "not empty"),
        (lambda x: wb.zeros(2, dtype=wb.vec3).min(), LaunchError, "array of numbers"),
    ],
)
def test_what_has_no_meaning_is_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(wb.array(A))


def test_the_largest_element_has_no_gradient():
    x = wb.array(A, requires_grad=True)
    with wb.Tape() as tape:
        loss = x.max()
    with pytest.raises(NotDifferentiable):
        tape.backward(loss)


@pytest.mark.parametrize(
    "values",
    [np.full(2, 200, np.uint8), np.full(4, 2**30, np.int32), np.full(10, 2**61), np.full(70_000, 100, np.float16)],
)
def test_a_mean_does_not_overflow(values: np.ndarray) -> None:
    assert float(wb.array(values).mean()) == values[0]


def test_every_operator_in_place_writes_through_a_view() -> None:
    a = wb.array([1.0, 2.0, 3.0, 4.0])
    view = a[1:]
    view **= 2
    view %= 5
    view //= 2
    assert a.numpy().tolist() == [1, 2, 2, 0]
    mask = kept = wb.array(np.array([True, True]))
    mask &= wb.array(np.array([True, False]))
    mask ^= wb.array(np.array([True, True]))
    mask |= wb.array(np.array([False, False]))
    assert kept is mask and kept.numpy().tolist() == [False, True]


def test_scalars_of_numpy_go_with_arrays_on_either_side() -> None:
    a = wb.array([1.0, 3.0])
    assert (np.float32(2) < a).numpy().tolist() == [False, True]
    assert (
        (a * np.array(2.0, np.float32)).numpy().tolist() == (np.array(2.0, np.float32) * a).numpy().tolist() == [2, 6]
    )


def test_a_type_does_not_take_an_array_off_the_tape() -> None:
    with pytest.raises(TypeError, match="makes a number; this is an array"):
        wb.float32(wb.zeros(3, dtype=wb.float64))


def test_writes_through_a_view_as_integers_are_no_silent_cut():
    x = wb.array(A, requires_grad=True)
    for write in (lambda y: y.view(wb.uint32).fill_(0), lambda y: y.view(wb.uint32)[0].zero_()):
        with wb.Tape() as tape:
            y = x * x
            write(y)
            loss = y.sum()
        with pytest.raises(NotDifferentiable, match="through a view of them as array"):
            tape.backward(loss)
    with wb.Tape() as tape:
        y = x * x
        bits = y.view(wb.uint32) + 0  # reading them is no change
        loss = y.sum()
    tape.backward(loss)
    assert bits.dtype == wb.uint32 and np.array_equal(x.grad.numpy(), 2 * A)


@pytest.mark.sample(5)
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(), (1,), (2,), (3,), (4,), (5,), (2, 1), (2, 3), (1, 4), (4, 3), (0,)])
def test_arrays_of_numpy_broadcast_or_fail_as_numpy_s_do(shape: tuple[int, ...], device: str) -> None:
    x, other = wb.array(A, device=device), np.full(shape, 2, np.float32)
    programs: list[tuple[Any, Any]] = [(lambda v, o, op=op: op(v, o), lambda h, o, op=op: op(h, o)) for op in BINARY]
    programs += [(lambda v, o, op=op: op(o, v), lambda h, o, op=op: op(o, h)) for op in BINARY]
    programs += [
        (lambda v, o: wb.where(v > 0, v, o), lambda h, o: np.where(h > 0, h, o)),
        (lambda v, o: wb.where(o > 1, o, v), lambda h, o: np.where(o > 1, o, h)),
        (lambda v, o: wb.max(v, o), np.maximum),
        (lambda v, o: wb.map(wb.min, o, v), np.minimum),
        (lambda v, o: (v > 0) & (o > 1), lambda h, o: (h > 0) & (o > 1)),
        (lambda v, o: (o > 1) ^ (v > 0), lambda h, o: (o > 1) ^ (h > 0)),
    ]
    for ours, theirs in programs:
        try:
            expected = theirs(A, other)
        except ValueError:
            with pytest.raises(LaunchError, match=re.escape(str(shape))):
                ours(x, other)
        else:
            found = ours(x, other)
            assert isinstance(found, wb.array) and (found.shape, found.device) == (expected.shape, x.device)
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(3,), (4,), (2, 3)])
def test_in_place_and_reductions_with_arrays_of_numpy(shape: tuple[int, ...]) -> None:
    x, other = wb.array(A), np.full(shape, 2, np.float32)
    if shape[-1] == 3:
        x += other
        assert np.array_equal(x.numpy(), A + 2) and x.dtype == wb.float32
        assert float((x * other).sum()) == ((A + 2) * other).sum()
        x[:] = other
        assert (x.numpy() == 2).all()
        assert float(wb.array(A[0]).dot(A[1])) == A[0] @ A[1]
    else:
        with pytest.raises(LaunchError, match=r"The shapes \(2, 3\), \(4,\) do not fit"):
            x += other
        with pytest.raises(ValueError, match=r"\(4,\)"):
            x[:] = other
        assert np.array_equal(x.numpy(), A)


@pytest.mark.parametrize("shape", [(3,), (5, 3), (3, 3)])
def test_an_array_of_numpy_beside_vectors_is_numbers_or_vectors_by_what_is_written(shape: tuple[int, ...]) -> None:
    points = wb.array(np.arange(15, dtype=np.float32).reshape(5, 3), dtype=wb.vec3)
    for program in (lambda: points + np.ones(shape, np.float32), lambda: wb.where(True, points, np.ones(shape))):
        with pytest.raises(LaunchError, match=r"wb\.vec3\(…\)"):
            program()
    weights = np.float32([1, 2, 3, 4, 5])
    assert np.array_equal((points * weights).numpy(), points.numpy() * weights[:, None])
    assert np.array_equal((points + wb.vec3(1.0, 2.0, 3.0)).numpy(), points.numpy() + np.float32([1, 2, 3]))


def test_a_generic_parameter_takes_an_array_of_any_size() -> None:
    """2 to 4 elements, too: as a vector it would be passed by value, and what the kernel writes would be lost."""

    @wb.kernel
    def double(x: Any):
        i = wb.tid()
        x[i] = x[i] * 2.0

    for n in (1, 2, 3, 4, 5):
        host = np.arange(n, dtype=np.float32)
        wb.launch(double, n, [host])
        assert np.array_equal(host, 2 * np.arange(n))


MASKED = np.ma.masked_array(np.float32([1, 999, 3]), mask=[0, 1, 0])


@pytest.mark.parametrize(
    "program",
    [
        lambda: wb.array(MASKED), lambda: wb.array([MASKED, MASKED]), lambda: wb.array([1.0, np.ma.masked, 3.0]),
        lambda: wb.from_numpy(MASKED), lambda: wb.from_dlpack(MASKED), lambda: wb.zeros(3).assign(MASKED),
        lambda: wb.zeros(3).fill_(MASKED), lambda: wb.zeros(3).__setitem__(slice(None), MASKED),
        lambda: wb.zeros(3).__setitem__(0, np.ma.masked), lambda: wb.zeros(3) + MASKED, lambda: wb.zeros(3) < MASKED,
        lambda: wb.where(wb.zeros(3) > 0, MASKED, 0.0), lambda: wb.zeros(3) + np.ma.masked,
        lambda: wb.zeros((2, 3)) @ MASKED, lambda: wb.zeros(3).dot(MASKED), lambda: wb.map(wb.sin, MASKED),
        lambda: setattr(wb.zeros(3, requires_grad=True), "grad", MASKED), lambda: wb.launch(sine, 3, [MASKED]),
        lambda: wb.grad(lambda x: x.sum())(MASKED), lambda: wb.launch(sine, 3, [np.ma.masked_array(np.zeros(3))]),
    ],
)  # fmt: skip
def test_masked_arrays_are_refused(program: Callable[[], object]) -> None:
    with pytest.raises(LaunchError, match=r"mask.*\.filled\("):
        program()


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_matrices_of_numpy_are_no_operands() -> None:
    matrix = np.asmatrix(A)
    assert np.array_equal(wb.array(matrix).numpy(), A)
    for program in (
        lambda: wb.array(A) * matrix,
        lambda: matrix * wb.array(A),
        lambda: wb.where(True, matrix, wb.array(A)),
    ):
        with pytest.raises(LaunchError, match=r"np\.asarray"):
            program()
