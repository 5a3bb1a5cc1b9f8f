"""Gradients to look at: values next to their adjoints, and what a gradcheck compared; with its static fallback."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

import workbench as wb
from kernel_ext.refusal import Refusal
from kernel_ext.views import html
from kernel_ext.views.arrays import array_fallback
from kernel_ext.views.arrays.array_view import ArrayView, array_view


class PointRow(msgspec.Struct, frozen=True):
    """Represents a compared derivative.

    Attributes:
        place: the element of an input, `x[3]`.
        adjoint: the derivative by the adjoint.
        difference: the central difference quotient.
        error: how far they are apart, relative to the larger of the derivative and the input's typical one.
        line: where the kernel uses the input, or in a report the sentence on its kernel; may be empty.
    """

    place: str
    adjoint: float
    difference: float
    error: float
    line: str


class CheckView(msgspec.Struct, frozen=True):
    """Represents what a gradcheck, or the checks of a `%grad` report, compared.

    Attributes:
        ok: whether the derivatives agree.
        said: a sentence on that.
        tolerance: the largest relative error that is accepted.
        points: the compared derivatives with the largest errors.
    """

    ok: bool
    said: str
    tolerance: float
    points: tuple[PointRow, ...]


class PairView(msgspec.Struct, frozen=True):
    """Represents an array next to its adjoint; in the view of a `%grad` report `value` is None."""

    name: str
    value: ArrayView | None
    adjoint: ArrayView

    @property
    def sides(self) -> tuple[ArrayView, ...]:
        """The arrays to draw: the value, if there is one, and its adjoint."""
        return (self.adjoint,) if self.value is None else (self.value, self.adjoint)


class GradsView(msgspec.Struct, frozen=True):
    """Represents the view of arrays with their adjoints, and of a gradcheck; `check` is None if there was none."""

    title: str
    pairs: tuple[PairView, ...]
    check: CheckView | None


def grads_view(verdict: wb.Verdict | None, tape: wb.Tape | None, arrays: Mapping[str, Any]) -> GradsView:
    """Return the view of arrays with gradients, and of a gradcheck.

    Raises:
        Refusal: there is nothing to show, or an array has no gradient.
    """
    if verdict is None and not arrays:
        raise Refusal("grad() takes a gradcheck's verdict, or arrays by name: show.grad(x=x, y=y)")
    pairs = []
    for name, value in arrays.items():
        gradient = _adjoint(name, value, tape)
        pairs.append(PairView(name, array_view(value, name), array_view(gradient, f"adjoint of {name}")))
    title = f"gradcheck {verdict.kernel}" if verdict is not None else f"gradients of {', '.join(arrays)}"
    return GradsView(title, tuple(pairs), _check(verdict) if verdict is not None else None)


def report_view(report: wb.GradientReport) -> GradsView:
    """Return the view of `%grad`'s answer: the gradients, and what its kernels' checks compared.

    Gradients that cannot be drawn, those of arrays of structs, are left out.
    """
    pairs = []
    for name, gradient in report.gradients.items():
        with suppress(Refusal):  # an array of structs has numbers in the report, and no picture
            pairs.append(PairView(name, None, array_view(gradient, f"d/d{name}")))
    checks = [_check(verdict) for verdict in report.kernels]
    check = None
    if checks or report.directions:
        points = tuple(replace(p, line=p.line or c.said) for c in checks for p in c.points)
        verdict_text = "right" if report.ok else "WRONG"
        summary = f"checked: {verdict_text} ({len(report.directions)} directions, {len(checks)} kernels)"
        check = CheckView(report.ok, summary, max((c.tolerance for c in checks), default=0.0), points)
    return GradsView(f"{report.what} = {report.value:.6g}", tuple(pairs), check)


def _adjoint(name: str, value: Any, tape: wb.Tape | None) -> Any:
    """Return the gradient of a value: of the tape if there is one, else that of the array itself.

    Raises:
        Refusal: it has none; `name` is what the text calls it.
    """
    gradient = getattr(value, "grad", None)
    if tape is not None:
        try:
            gradient = tape.gradients[value]
        except KeyError as missing:
            raise Refusal(f"{name}: {missing.args[0]}") from None
    if gradient is None:
        raise Refusal(f"{name} has no gradient: create it with requires_grad=True, or give the tape: tape=tape")
    return gradient


def _check(verdict: wb.Verdict) -> CheckView:
    """Return the view of a gradcheck's verdict, with a row for each of its worst elements."""
    rows = tuple(
        PointRow(f"{p.parameter}[{', '.join(map(str, p.index))}]", p.adjoint, p.difference, p.error, p.line)
        for p in verdict.worst
    )
    return CheckView(verdict.ok, str(verdict).splitlines()[0], verdict.tolerance, rows)


def grads_text(view: GradsView) -> str:
    """Format the checks and the arrays with their adjoints as lines of ASCII."""
    rows = [view.title] if view.check is None else [view.check.said]
    if view.check is not None:
        cells = [("input", "adjoint", "difference", "error", "where"), *map(_cells, view.check.points)]
        rows += [f"  {row}" for row in html.text_table(cells)]
    for pair in view.pairs:
        for side in pair.sides:
            rows.append(f"{array_fallback.headline(side)}  {'  '.join(f'{n} {v}' for n, v in side.facts[:2])}")
    return html.ascii_only("\n".join(rows))


def grads_html(view: GradsView) -> str:
    """Format a table of the compared derivatives, and the arrays with their adjoints, as static HTML."""
    parts = [html.line(view.title if view.check is None else view.check.said)]
    if view.check is not None:
        titles = ("input", "adjoint", "difference", "error", "where")
        parts.append(html.table(titles, map(_cells, view.check.points)))
    for pair in view.pairs:
        parts += map(array_fallback.array_html, pair.sides)
    return html.box(*parts)


def _cells(point: PointRow) -> tuple[str, ...]:
    """Return the texts of a row: element, adjoint, difference quotient, error and line."""
    return point.place, f"{point.adjoint:.9g}", f"{point.difference:.9g}", f"{point.error:.1e}", point.line
