"""SciPy, where sparse matrices come from and go to: it is installed by whoever has such matrices."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any

import numpy as np

from workbench.api.measurement.chart import image

_SIDE = 240
"""Pixels of the longer side of a picture."""


def sparse() -> Any:
    """The module `scipy.sparse`.

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
    """The class of sparse Jacobians and Hessians: SciPy's `csr_array`, which says how it was computed."""

    class Derivative(sparse().csr_array):
        """A sparse derivative.

        Attributes:
            sweeps: how many runs along a direction, or backward passes, computed it; 0 of what was computed from one.
            mode: "forward" or "reverse".
            colours: of each column, or row in reverse mode: those of one colour were computed together.
        """

        sweeps = 0
        mode = ""
        colours: Any = None

        def __repr__(self) -> str:
            text = super().__repr__()
            return f"{text}\n\tby {self.sweeps} {self.mode} sweep{'s' * (self.sweeps > 1)}" if self.sweeps else text

        def _repr_html_(self) -> str:
            shown = repr(self)
            return f"<div>{image(_picture(self), shown)}<pre>{escape(shown)}</pre></div>"

    return Derivative


def _picture(matrix: Any) -> str:
    """Where a matrix is not 0, as SVG: a square for each cell of a grid, the darker the fuller."""
    rows, columns = matrix.shape
    cells = min(_SIDE // 4, max(rows, columns, 1))
    scale = max(rows, columns, 1) / cells
    found = matrix.tocoo()
    places, counts = np.unique(
        (found.row / scale).astype(int) * cells + (found.col / scale).astype(int), return_counts=True
    )
    wide, full = _SIDE / cells, counts.max(initial=1)
    parts = [
        f'<rect x="{k % cells * wide:.1f}" y="{k // cells * wide:.1f}" width="{wide:.1f}" height="{wide:.1f}" '
        f'fill-opacity="{0.3 + 0.7 * n / full:.2f}"/>'
        for k, n in zip(places.tolist(), counts.tolist(), strict=True)
    ]
    size = f"{columns / scale * wide:.1f} {rows / scale * wide:.1f}"
    width, height = size.split()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {size}" role="img" '
        f'fill="#2b7bba"><title>{escape(repr(matrix))}</title>'
        f'<rect width="{width}" height="{height}" fill="none" stroke="#8a8a8a"/>{"".join(parts)}</svg>'
    )
