"""Adjoints that are bound once and only called: what makes one launch unlike the next is still seen."""

import itertools
import sys

import numpy as np
import pytest

import workbench as wb
from workbench.errors import NotDifferentiable

X = wb.array(dtype=float)


@wb.kernel
def scale(a: float, b: float, x: X, y: X):
    i = wb.tid()
    y[i] = a * b * x[i] * x[i]


def gradient(x, y, seed=1.0, a=2.0, tape=None):
    tape = tape or wb.Tape()
    with tape:
        wb.launch(scale, len(x), inputs=[a, 1.0, x], outputs=[y])
    tape.backward(grads={y: seed})
    return tape.gradients[x].numpy().copy()


def arrays():
    return wb.array([1.0, 2.0, 3.0], device="cpu"), wb.zeros(3, device="cpu")


def test_numbers_sizes_and_layouts_of_each_launch_count():
    for a in (2.0, 3.0):
        x, y = arrays()
        assert gradient(x, y, a=a).tolist() == [2 * a, 4 * a, 6 * a]
    x, y = wb.array(np.arange(12, dtype=np.float32), device="cpu"), wb.zeros(12, device="cpu")
    assert gradient(x[::2], y[::2]).tolist() == [0.0, 8.0, 16.0, 24.0, 32.0, 40.0]
    assert gradient(x[:2], y[2:4]).tolist() == [0.0, 4.0]


def test_an_output_that_is_a_part_of_the_input_is_not_taken_to_lie_apart():
    x = wb.array([1.0, 2.0, 3.0, 4.0], device="cpu")
    assert gradient(*arrays()).tolist() == [4.0, 8.0, 12.0]
    tape = wb.Tape()
    with tape:
        wb.launch(scale, 2, inputs=[2.0, 1.0, x[:2]], outputs=[x[2:]])
    tape.backward(grads={x: 1.0})
    # x[2:] was overwritten: what it held has no influence, and x[:2] has its own part and that of the launch.
    assert tape.gradients[x].numpy().tolist() == [1 + 4.0, 1 + 8.0, 0.0, 0.0]


def test_a_tape_around_the_backward_pass_sees_its_launches():
    x, y = arrays()
    assert gradient(x, y).tolist() == [4.0, 8.0, 12.0]
    outer, inner = wb.Tape(), wb.Tape(into_grad=False)
    with outer:
        with inner:
            wb.launch(scale, 3, inputs=[2.0, 1.0, x], outputs=[y])
        inner.backward(grads={y: 1.0})
        first = inner.gradients[x]
    outer.backward(grads={first: 1.0})
    assert outer.gradients[x].numpy().tolist() == [4.0, 4.0, 4.0]


def test_what_changed_behind_the_tape_is_refused_or_taken_from_a_copy():
    x, y = arrays()
    tape = wb.Tape()
    with tape:
        wb.launch(scale, 3, inputs=[2.0, 1.0, x], outputs=[y])
        x.fill_(100.0)
    tape.backward(grads={y: 1.0})
    assert tape.gradients[x].numpy().tolist() == [4.0, 8.0, 12.0]  # of what it held at the launch
    x, y = arrays()
    tape = wb.Tape()
    with tape:
        wb.launch(scale, 3, inputs=[2.0, 1.0, x], outputs=[y])
    x.fill_(100.0)
    with pytest.raises(NotDifferentiable, match="x of scale has changed"):
        tape.backward(grads={y: 1.0})


def test_a_kernel_written_again_has_its_own_adjoint():
    found = []
    for power in (2, 3):

        @wb.kernel
        def powers(x: X, y: X):
            i = wb.tid()
            y[i] = x[i] ** float(power)  # noqa: B023

        x, y = arrays()
        with wb.Tape() as tape:
            wb.launch(powers, 3, inputs=[x], outputs=[y])
        tape.backward(grads={y: 1.0})
        found.append(tape.gradients[x].numpy().tolist())
    assert np.allclose(found, [[2.0, 4.0, 6.0], [3.0, 12.0, 27.0]])


def test_only_some_gradients_of_small_launches():
    @wb.kernel
    def product(x: X, z: X, y: X):
        i = wb.tid()
        y[i] = x[i] * z[i]

    for _ in range(2):
        x, y = arrays()
        z = wb.array([5.0, 6.0, 7.0], device="cpu")
        tape = wb.Tape(only=[x])
        with tape:
            wb.launch(product, 3, inputs=[x, z], outputs=[y])
        tape.backward(grads={y: 1.0})
        assert tape.gradients[x].numpy().tolist() == [5.0, 6.0, 7.0]
        assert z.numpy().tolist() == [5.0, 6.0, 7.0]


def test_a_seed_is_what_was_given_and_passes_add_up():
    x, y = wb.array([1.0, 2.0, 3.0], device="cpu"), wb.zeros(3, device="cpu", requires_grad=True)
    seed = wb.array([1.0, 0.0, 2.0], device="cpu")
    tape = wb.Tape()
    with tape:
        wb.launch(scale, 3, inputs=[2.0, 1.0, x], outputs=[y])
    tape.backward(grads={y: seed})
    seed.fill_(7.0)
    assert tape.seeds[y].numpy().tolist() == [1.0, 0.0, 2.0]
    y.grad.fill_(1.0)
    tape.backward(grads={y: y.grad})  # itself an adjoint of the pass, and kept as a sum of earlier ones
    assert tape.gradients[x].numpy().tolist() == [8.0, 8.0, 36.0]
    assert y.grad.numpy().tolist() == [1.0, 1.0, 1.0]


def test_an_array_that_the_adjoint_does_not_read_may_change():
    @wb.kernel
    def double(x: X, y: X):
        i = wb.tid()
        y[i] = 2.0 * x[i]

    x, y = arrays()
    tape = wb.Tape()
    with tape:
        wb.launch(double, 3, inputs=[x], outputs=[y])
    x.fill_(9.0)
    tape.backward(grads={y[1:]: 1.0})
    assert tape.gradients[x].numpy().tolist() == [0.0, 2.0, 2.0] and not tape.snapshots


def test_seeds_of_every_layout_are_read_as_they_lie():
    @wb.kernel
    def doubled(x: wb.array2d[float], y: wb.array2d[float]):
        i, j = wb.tid()
        y[i, j] = 2.0 * x[i, j]

    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    whole = wb.array(given, device="cpu")
    layouts = [
        (whole, given),
        (wb.array(given.T.copy(), device="cpu").T, given),  # all of its memory, in another order
        (wb.array(np.repeat(given, 2, 1), device="cpu")[:, ::2], given),
        (wb.from_numpy(given.copy()), given),
        (wb.array(np.arange(12, dtype=np.float32).reshape(4, 3), device="cpu")[2:], np.arange(6, 12).reshape(2, 3)),
    ]
    for seed, held in layouts:
        x, y = wb.ones((2, 3), device="cpu"), wb.zeros((2, 3), device="cpu")
        tape = wb.Tape()
        with tape:
            wb.launch(doubled, (2, 3), inputs=[x], outputs=[y])
        tape.backward(grads={y: seed})
        assert tape.gradients[x].numpy().tolist() == (2 * held).tolist()
        seed.fill_(0.0)
        assert tape.seeds[y].numpy().tolist() == held.tolist()  # read before


def test_a_seed_for_a_part_of_what_was_written():
    x, y = arrays()
    tape = wb.Tape()
    with tape:
        wb.launch(scale, 3, inputs=[2.0, 1.0, x], outputs=[y])
    tape.backward(grads={y[1:2]: wb.array([10.0], device="cpu")})
    assert tape.gradients[x].numpy().tolist() == [0.0, 80.0, 0.0]


def test_launches_that_are_more_than_one_call_run_under_a_tape():
    @wb.kernel
    def checked(x: X, y: X):
        i = wb.tid()
        assert x[i] < 10.0
        y[i] = 3.0 * x[i]

    x, y = arrays()
    with wb.Tape() as tape:
        wb.launch(checked, 3, inputs=[x], outputs=[y], checks=True)
        wb.launch(checked, 0, inputs=[x], outputs=[y])
    assert (x.version, y.version) == (0, 2)
    tape.backward(grads={y: 1.0})
    assert tape.gradients[x].numpy().tolist() == [3.0, 3.0, 3.0]
    x.fill_(20.0)
    with wb.Tape(), pytest.raises(wb.KernelFault, match="assert"):
        wb.launch(checked, 3, inputs=[x], outputs=[y], checks=True)
    assert y.version == 3


@pytest.mark.parametrize(("launches", "most"), [(1, 16), (2, 20), (20, 92)])
def test_a_backward_pass_makes_few_calls(launches: int, most: int) -> None:
    """Python calls of a pass that has been made before: time would depend on the machine."""
    arrays = [wb.ones(1, device="cpu", requires_grad=True) for _ in range(launches + 1)]
    for _ in range(4):
        calls = 0

        def count(frame: object, event: str, _: object) -> None:
            nonlocal calls
            calls += event == "call"

        with wb.Tape() as tape:
            for source, target in itertools.pairwise(arrays):
                wb.launch(scale, 1, inputs=[0.5, 1.0, source], outputs=[target])
        sys.setprofile(count)
        try:
            tape.backward(arrays[-1])
        finally:
            sys.setprofile(None)
    assert calls <= most
