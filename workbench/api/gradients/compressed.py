"""Sparse derivatives from few products: columns that share no row are computed together (Curtis, Powell and Reid)."""

# SciPy has no types.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.api.gradients.colouring import colours_of
from workbench.api.gradients.scipy_matrices import derivative_type, sparse
from workbench.api.narrow import HostArray
from workbench.errors import NotDifferentiable

_ROUNDING = {8: 1e-6, 4: 1e-3, 2: 0.1}
"""How far two products may be apart, beside the sum of their terms' sizes, by the bytes of a number."""
Product = Callable[[HostArray], HostArray]
"""A flat vector to its product with the derivative, or with the transposed one."""


def as_pattern(given: Any, shape: tuple[int, int]) -> Any:
    """A SciPy matrix, or what it makes one of, as a pattern in CSR form: 1 where it stores an entry.

    Raises:
        ValueError: it has another shape than the derivative.
    """
    made = sparse().csr_array(given).astype(bool)
    if made.shape != shape:
        raise ValueError(f"The pattern has the shape {made.shape}; the derivative has {shape}.")
    made.data[:] = True
    made.sum_duplicates()
    return made


def compressed(pattern: Any, mode: str, products: dict[str, Product], dtype: Any, known: Any = None) -> Any:
    """The derivative of this pattern.

    Args:
        pattern: in CSR form; entries outside of it are 0.
        mode: "forward": by columns; "reverse": by rows; "auto": whichever has fewer colours.
        products: of the modes that are possible.
        dtype: of the entries.
        known: an earlier derivative of the same pattern, whose colours serve again.

    Returns:
        A `csr_array` with `sweeps`, `mode` and `colours`.

    Raises:
        NotDifferentiable: two products with random vectors are not those of the derivative: the pattern is wrong.
    """
    mode, colours = _chosen(pattern, mode, products, known)
    found = pattern if mode == "forward" else pattern.T.tocsr()
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    shades = colours[found.indices].astype(np.uint16 if colours.max(initial=0) < 1 << 16 else np.int32)
    order = np.argsort(shades, kind="stable")
    sweeps = int(colours.max(initial=-1)) + 1
    ends = np.searchsorted(shades[order], np.arange(sweeps + 1))
    data = np.zeros(len(shades), dtype)
    for colour in range(sweeps):
        here = order[ends[colour] : ends[colour + 1]]
        data[here] = products[mode]((colours == colour).astype(dtype))[rows[here]]
    made = sparse().csr_array((data, found.indices, found.indptr), shape=found.shape)
    _check(made, products[mode], dtype)
    made = derivative_type()(made if mode == "forward" else made.T.tocsr())
    made.sweeps, made.mode, made.colours = sweeps, mode, colours
    return made


def _chosen(pattern: Any, mode: str, products: dict[str, Product], known: Any) -> tuple[str, HostArray]:
    """The mode, and the colours of its columns or rows; an order is tried only if it may have fewer colours."""
    if known is not None and getattr(known, "sweeps", 0) and mode in ("auto", known.mode):
        return known.mode, known.colours
    sides = {"forward": pattern, "reverse": pattern.T.tocsr()}
    # A row of k entries needs k colours.
    least = {m: int(np.diff(sides[m].indptr).max(initial=0)) for m in products if mode in ("auto", m)}
    best: tuple[str, HostArray] | None = None
    fewest = np.inf
    for name in sorted(least, key=least.__getitem__):
        if least[name] < fewest:
            colours = colours_of(sides[name])
            if (count := int(colours.max(initial=-1)) + 1) < fewest:
                best, fewest = (name, colours), count
    assert best is not None
    return best


def _check(made: Any, product: Product, dtype: Any) -> None:
    random = np.random.default_rng(0)
    for _ in range(2):
        along = (random.uniform(0.5, 1.5, made.shape[1]) * random.choice([-1, 1], made.shape[1])).astype(dtype)
        found, expected = product(along), made @ along
        bound = abs(made) @ abs(along)
        allowed = _ROUNDING[np.dtype(dtype).itemsize] * (bound + np.abs(found))
        wrong = np.flatnonzero(~(np.abs(found - expected) <= allowed) & np.isfinite(found))
        if len(wrong):
            raise NotDifferentiable(
                f"The pattern leaves out what is not 0: in {len(wrong)} of {made.shape[0]} rows or columns, {wrong[0]} "
                "the first, a product with a random vector is not that of the derivative.",
                advice="Give a pattern that has every entry that may not be 0, or leave sparse=True to find it.",
            )
