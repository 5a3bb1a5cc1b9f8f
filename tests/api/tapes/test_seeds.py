"""Large seeds are read where they lie; what the pass changes is copied first."""

import itertools

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError

N = 3000
X = wb.array(dtype=float)


@wb.kernel
def doubled(x: X, y: X):
    i = wb.tid()
    y[i] = 2.0 * x[i]


def recorded(between: int = 1):
    """A tape of launches in a row, and their arrays."""
    arrays = [wb.zeros(N, device="cpu", requires_grad=True) for _ in range(between + 1)]
    with wb.Tape() as tape:
        for x, y in itertools.pairwise(arrays):
            wb.launch(doubled, N, [x], [y])
    return tape, arrays


def test_a_seed_that_changes_afterwards_is_no_longer_known():
    tape, (x, y) = recorded()
    seed = wb.array(np.arange(N, dtype=np.float32), device="cpu")
    tape.backward(grads={y: seed})
    assert tape.seeds[y] is seed
    np.testing.assert_array_equal(x.grad.numpy(), 2 * np.arange(N, dtype=np.float32))
    seed.fill_(1.0)
    with pytest.raises(LaunchError, match="has changed since"):
        wb.explain_grad(tape, x)
    tape.backward(grads={y: wb.clone(seed)})
    assert tape.seeds[y].numpy()[0] == 1.0


@pytest.mark.parametrize("whose", [0, 1, 2], ids=["of the input", "between", "of the result"])
def test_a_seed_in_an_adjoint_of_the_pass_is_as_it_was(whose: int):
    tape, arrays = recorded(2)
    held = arrays[whose].grad
    start = np.arange(N, dtype=np.float32)
    for seed in (held, wb.array(held.numpy(), copy=False)):  # the second has a memory of its own, of the same bytes
        for a in arrays:
            a.grad.zero_()
        held.assign(start)
        tape.backward(grads={arrays[2]: seed})
        want = [4 * start, np.zeros(N), np.zeros(N)]
        want[whose] = want[whose] + start  # the sum of earlier passes stays
        for a, expected in zip(arrays, want, strict=True):
            np.testing.assert_array_equal(a.grad.numpy(), expected)


def test_bytes_are_no_seed():
    tape, (x, y) = recorded()
    with pytest.raises(LaunchError, match="An adjoint holds numbers"):
        tape.backward(grads={y: bytes(4 * N)})
    assert not x.grad.numpy().any()


def test_one_array_for_two_results():
    tape, arrays = recorded(2)
    seed = wb.array(np.arange(N, dtype=np.float32), device="cpu")
    tape.backward(grads={arrays[1]: seed, arrays[2]: seed})
    np.testing.assert_array_equal(arrays[0].grad.numpy(), 6 * np.arange(N, dtype=np.float32))
    np.testing.assert_array_equal(seed.numpy(), np.arange(N, dtype=np.float32))
