"""Writes that Workbench does not carry out: NumPy's views, shared memory, other libraries. Noticed, or no matter."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError, NotDifferentiable

VALUES = np.float32([3.0, -1.0, 2.0])


@wb.kernel
def square(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def double(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = 2.0 * x[i]


def given() -> tuple[wb.array, Any]:
    return wb.array(VALUES, requires_grad=True), None


def shared() -> tuple[wb.array, Any]:
    host = VALUES.copy()
    return wb.array(host, copy=False, requires_grad=True), host


def wrapped() -> tuple[wb.array, Any]:
    host = VALUES.copy()
    return wb.from_numpy(host, requires_grad=True), host


def with_gaps() -> tuple[wb.array, Any]:
    host = np.zeros((3, 2), np.float32)
    host[:, 0] = VALUES
    return wb.from_numpy(host[:, 0], requires_grad=True), host[:, 0]


def of_dlpack() -> tuple[wb.array, Any]:
    host = VALUES.copy()
    return wb.from_dlpack(host, requires_grad=True), host


def of_buffer() -> tuple[wb.array, Any]:
    host = bytearray(VALUES.tobytes())
    return wb.array(np.frombuffer(host, np.float32), copy=False, requires_grad=True), np.frombuffer(host, np.float32)


MAKERS = (given, shared, wrapped, with_gaps, of_dlpack, of_buffer)
VIEWS: dict[str, Callable[[wb.array], Any]] = {
    "numpy": lambda x: x.numpy(),
    "asarray": np.asarray,
    "a view of a view": lambda x: x.numpy()[::-1][::-1],
    "dlpack": lambda x: np.from_dlpack(_Writable(x)),
    "memoryview": lambda x: np.asarray(memoryview(x.numpy())),
    "transposed by NumPy": lambda x: np.transpose(x),
    "of a view": lambda x: x[0:3].numpy(),
}


class _Writable:
    """What a library sees that takes DLPack's unversioned capsule to be writable, as most do."""

    def __init__(self, x: wb.array) -> None:
        self.x = x

    def __dlpack__(self, **options: Any) -> Any:
        return self.x.__dlpack__(**{**options, "max_version": (1, 0)})

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.__dlpack_device__()


def recorded(x: wb.array, kernel: Any = square, options: Any = None) -> tuple[wb.Tape, wb.array]:
    y = wb.zeros(3, requires_grad=True)
    with wb.Tape(**(options or {})) as tape:
        wb.launch(kernel, 3, [x], [y])
        loss = y.sum()
    return tape, loss


@pytest.mark.sample(24)
@pytest.mark.parametrize("options", [{}, {"checkpoint_every": 1}], ids=["kept", "run again"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("make", MAKERS)
def test_a_write_through_a_view_is_noticed(make: Any, name: str, when: str, options: dict[str, Any]) -> None:
    """The view is taken before the tape records, or after it."""
    x, _ = make()
    view = VIEWS[name](x) if when == "before" else None
    tape, loss = recorded(x, options=options)
    view = VIEWS[name](x) if view is None else view
    view[0] = 100.0
    del view
    gc.collect()
    with pytest.raises(NotDifferentiable, match="changed"):
        tape.backward(loss)
    assert not x.grad.numpy().any()


@pytest.mark.parametrize("make", MAKERS[1:])
def test_a_write_to_the_memory_that_was_shared_is_noticed(make: Any) -> None:
    x, host = make()
    tape, loss = recorded(x)
    host[1] = 7.0
    with pytest.raises(NotDifferentiable, match="x of square has changed since the launch"):
        tape.backward(loss)
    host[1] = VALUES[1]  # again as it was when it was recorded, but a change has been counted
    tape, loss = recorded(x)
    tape.backward(loss)
    assert np.array_equal(x.grad.numpy(), 2 * VALUES)


def test_an_array_of_numpy_that_a_launch_was_given() -> None:
    host, y = VALUES.copy(), wb.zeros(3, requires_grad=True)
    with wb.Tape() as tape:
        z = wb.ones(3, requires_grad=True)
        wb.launch(products, 3, [host, z], [y])
    host[0] = 50.0
    with pytest.raises(NotDifferentiable, match="x of products"):
        tape.backward(grads={y: 1.0})


@wb.kernel
def products(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * z[i]


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("make", MAKERS)
def test_views_that_nobody_writes_to_are_no_matter(make: Any, name: str) -> None:
    x, _ = make()
    view = VIEWS[name](x)
    tape, loss = recorded(x)
    again = VIEWS[name](x)
    view[:] = again.copy()  # the same bits
    tape.backward(loss)
    assert np.array_equal(x.grad.numpy(), 2 * VALUES)


def test_what_no_adjoint_reads_and_what_lies_in_gaps_may_change() -> None:
    x, _ = given()
    tape, loss = recorded(x, kernel=double)
    x.numpy()[:] = 0.0
    tape.backward(loss)
    assert x.grad.numpy().tolist() == [2, 2, 2]
    host = np.zeros((3, 2), np.float32)
    column = wb.from_numpy(host[:, 0], requires_grad=True)
    tape, loss = recorded(column)
    host[:, 1] = 5.0
    tape.backward(loss)


def test_a_write_before_the_launch_is_what_the_launch_reads() -> None:
    x, _ = given()
    view = x.numpy()
    view[0] = 10.0
    tape, loss = recorded(x)
    tape.backward(loss)
    assert x.grad.numpy().tolist() == [20, -2, 4]


def test_writes_between_two_launches_of_a_tape() -> None:
    """Each launch has read other values: the first one's are lost; also if they are restored before the end."""
    for restored in (False, True):
        x, _ = given()
        y, view = wb.zeros(3, requires_grad=True), x.numpy()
        with wb.Tape() as tape:
            wb.launch(square, 3, [x], [y])
            view[0] = 5.0
            wb.launch(square, 3, [x], [y])
            if restored:
                view[0] = VALUES[0]
            loss = y.sum()
        with pytest.raises(NotDifferentiable, match="changed"):
            tape.backward(loss)


def test_a_result_overwritten_through_numpy_between_two_launches() -> None:
    x, _ = given()
    y, z = wb.zeros(3), wb.zeros(3)
    with wb.Tape() as tape:
        wb.launch(square, 3, [x], [y])
        y.numpy()[:] = 1.0
        wb.launch(square, 3, [y], [z])
        loss = z.sum()
    with pytest.raises(NotDifferentiable, match="changed outside the tape"):
        tape.backward(loss)


def test_a_view_written_before_an_overwriting_is_not_kept_as_it_never_was() -> None:
    """A copy before an overwriting must be of what the launch read."""
    x, _ = given()
    y, view = wb.zeros(3, requires_grad=True), x.numpy()
    with wb.Tape() as tape:
        wb.launch(square, 3, [x], [y])
        view[0] = 9.0
        x.fill_(1.0)
        loss = y.sum()
    with pytest.raises(NotDifferentiable, match="x of square has changed"):
        tape.backward(loss)


def test_a_kept_pair_notices_it_as_well() -> None:
    x, y = wb.array(VALUES, requires_grad=True), wb.zeros(3, requires_grad=True)
    pair = wb.launch_pair(square, 3, [x], [y])
    for write in (False, True):
        y.grad = 1.0
        pair.forward()
        x.numpy()[0] += float(write)
        if not write:
            pair.backward()
            assert np.array_equal(x.grad.numpy(), 2 * VALUES)
        else:
            with pytest.raises(LaunchError, match="x has changed since forward"):
                pair.backward()


def test_every_bit_of_every_size_counts() -> None:
    """Sizes around the digest's blocks; two equal flips, of neighbours and at every distance, are no way around it."""
    for size in (1, 3, 31, 63, 64, 65, 127, 129, 200):
        x = wb.array(np.arange(size, dtype=np.float32), requires_grad=True)
        y = wb.zeros(size)
        bits = x.numpy().view(np.uint32)
        for first in range(0, size, max(1, size // 7)):
            for second in {first, (first + 1) % size, (first + 64) % size, (first + 65) % size}:
                with wb.Tape() as tape:
                    wb.launch(square, size, [x], [y])
                    loss = y.sum()
                before = bits.copy()
                bits[first] ^= 1 << 31
                bits[second] ^= (1 << 31) if second != first else 1
                with pytest.raises(NotDifferentiable):
                    tape.backward(loss)
                bits[:] = before


@pytest.mark.parametrize("alive", [True, False], ids=["a view that lives", "a view that is gone"])
def test_zeros_that_were_written_through_a_view_are_cleared_and_summed(alive: bool) -> None:
    """Memory that is known to be zero is not cleared twice; what a view may have changed is."""
    a = wb.zeros(3000)
    view = a.numpy()
    view[5] = 2.0
    if not alive:
        del view
    a.zero_()
    assert a.numpy()[5] == 0.0
    a.zero_()
    assert not a.numpy().any()
    if alive:
        view[7] = 3.0
        a.zero_()
        assert view[7] == 0.0


def test_a_gradient_written_through_a_view_is_a_sum_of_earlier_passes() -> None:
    x, y = wb.ones(3000, requires_grad=True), wb.zeros(3000, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(double, 3000, [x], [y])
    tape.zero()
    y.grad.numpy()[9] = 4.0  # unseen
    tape.backward(grads={y: wb.ones(3000)})
    assert y.grad.numpy()[9] == 4.0
    assert x.grad.numpy()[9] == 2.0
