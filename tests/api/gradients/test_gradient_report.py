"""A program's gradient in numbers, and both checks: that they pass what is right and find what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb


@wb.kernel
def cubes(x: wb.array[float], out: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(out, 0, x[i] * x[i] * x[i])


@wb.kernel
def scaled(k: wb.array[float], x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = k[0] * x[i]


def energy(x: wb.array) -> wb.array:
    out = wb.zeros(1)
    wb.launch(cubes, len(x), [x], [out])
    return out


def test_the_gradient_is_told_in_numbers() -> None:
    x = wb.array([1.0, 2.0, 0.0])
    report = wb.gradients_of(lambda: energy(x), {"x": x}, what="energy(x)")
    assert report.value == 9.0 and list(report) == ["x"] and report.ok
    assert report["x"].numpy().tolist() == [3, 12, 0]
    (row,) = report.rows
    assert (row.largest, row.index, row.zeros, row.strange) == (12, (1,), 1, 0)
    assert row.norm == pytest.approx(np.hypot(3, 12))
    assert str(report).splitlines()[0] == "energy(x) = 9" and "<td" in report._repr_html_()
    assert not report.directions and not report.kernels


def test_what_is_right_is_found_right_and_arrays_are_put_back() -> None:
    x, k = wb.array(np.linspace(0.5, 1.5, 40, dtype=np.float32)), wb.array([2.0])

    def program() -> wb.array:
        y = wb.zeros_like(x)
        wb.launch(scaled, len(x), [k, x], [y])
        return energy(y)

    before = x.numpy().copy()
    report = wb.gradients_of(program, {"x": x, "k": k}, check=True)
    assert report.ok and {d.name: d.verdict for d in report.directions} == {"x": "right", "k": "right"}
    assert {v.kernel: v.ok for v in report.kernels} == {"cubes": True, "scaled": True}
    np.testing.assert_array_equal(x.numpy(), before)
    assert "each kernel alone, in float64" in str(report) and "right" in report._repr_html_()


def test_what_is_wrong_is_found_wrong() -> None:
    x = wb.array(np.linspace(1, 2, 16, dtype=np.float32))
    y = wb.zeros(1)

    def through_numpy() -> wb.array:
        y.zero_()
        wb.launch(cubes, len(x), [x], [y])
        y.add_(wb.array(x.numpy()[:1] * 100))  # NumPy has no derivative, and only the whole program's check sees that
        return y

    report = wb.gradients_of(through_numpy, {"x": x}, check=True)
    assert [d.verdict for d in report.directions] == ["WRONG"] and not report.ok
    assert all(report.kernels), "each kernel alone is right"


def test_a_program_that_changes_what_it_reads_is_not_compared_as_a_whole() -> None:
    x, out = wb.array([1.0, 2.0]), wb.zeros(1)

    def grows() -> wb.array:
        wb.launch(cubes, 2, [x], [out])
        return out

    report = wb.gradients_of(grows, {"x": x}, check=True)
    assert not report.directions and "it changes what it reads" in report.notes[-1]
    assert report.kernels and report.kernels[0].ok


def test_nan_is_counted_and_not_ok() -> None:
    x = wb.array([1.0, float("nan")])
    report = wb.gradients_of(lambda: energy(x), {"x": x})
    assert report.rows[0].strange == 1 and not report.ok and report.rows[0].index == (0,)


@pytest.mark.parametrize(
    ("call", "wrt", "message"),
    [
        (lambda: wb.zeros(3), {}, "a gradient is of one float"),
        (lambda: 3.0, {}, "returns a float"),
        (lambda: None, {}, "returns nothing; .* returns the array of one float"),
        (lambda: wb.zeros(1), {"n": wb.zeros(1, dtype=wb.int32)}, "n is not an array of floats"),
    ],
)
def test_what_has_no_gradient_is_refused(call: object, wrt: dict, message: str) -> None:
    with pytest.raises(wb.LaunchError, match=message):
        wb.gradients_of(call, wrt)


def test_a_program_whose_value_is_nan_says_so() -> None:
    x = wb.array([-1.0, 2.0])
    report = wb.gradients_of(lambda: wb.sqrt(x).sum(), {"x": x}, check=True)
    assert not report.directions and "NaN" in report.notes[-1] and "wb.find_nan()" in report.notes[-1]
