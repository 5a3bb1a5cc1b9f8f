"""SciPy's sparse matrices, imported when they are used: SciPy is an optional dependency."""

# SciPy has no types.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any

import numpy as np

from workbench.api.measurement.chart import image

_CELLS = 60
"""Squares along the longer side of a picture."""


def sparse() -> Any:
    """Import and return the module `scipy.sparse`.

    Raises:
        ImportError: SciPy is not installed.
    """
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError("Sparse matrices are SciPy's, which is not installed: pip install scipy") from error
    return scipy.sparse


@cache
def derivative_type() -> Any:
    """Return the class of sparse Jacobians and Hessians: SciPy's `csr_array`, which says how it was computed."""

    class Derivative(sparse().csr_array):
        """Represents a sparse derivative, a row for each number of the result.

        Attributes:
            sweeps: the runs along a direction, or backward passes, that computed it; 0 of a matrix computed from one.
            mode: "forward" or "reverse".
            colours: of each column, or row in reverse mode: those of the same colour were computed together.
        """

        sweeps = 0
        mode = ""
        colours: Any = None

        def __repr__(self) -> str:
            text = super().__repr__()
            return f"{text}\n\tby {self.sweeps} {self.mode} sweep{'s' * (self.sweeps > 1)}" if self.sweeps else text

        def __reduce__(self) -> Any:
            return sparse().csr_array, ((self.data, self.indices, self.indptr), self.shape)

        def _repr_html_(self) -> str:
            shown = repr(self)
            return f"<div>{image(_picture(self), shown)}<pre>{escape(shown)}</pre></div>"

    return Derivative


def _picture(matrix: Any) -> str:
    """Draw where a matrix has entries, as SVG: a square for each part of it that has some."""
    size = -(-max(matrix.shape) // _CELLS) or 1
    entries = matrix.tocoo()
    cells = np.unique(np.stack([entries.col // size, entries.row // size]), axis=1).T.tolist()
    squares = "".join(f"M{x} {y}h1v1h-1z" for x, y in cells)
    tall, wide = (max(1, -(-n // size)) for n in matrix.shape)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{4 * wide}" height="{4 * tall}" viewBox="0 0 {wide} {tall}" '
        f'role="img"><title>{escape(repr(matrix))}</title><path d="M0 0h{wide}v{tall}h-{wide}z" fill="#8a8a8a" '
        f'fill-opacity="0.15"/><path d="{squares}" fill="#2b7bba"/></svg>'
    )
