"""In which type numbers of two types meet."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.types import SCALARS, Kind, Scalar, float32


def promote(a: Scalar, b: Scalar) -> Scalar | None:
    """The type in which `a` and `b` meet, by JAX's lattice; None if there is none (int64 with uint64).

    Source: JAX, "Type promotion semantics".
    """
    if a == b:
        return a
    if a.kind is Kind.BOOL or b.kind is Kind.BOOL:
        return b if a.kind is Kind.BOOL else a
    if Kind.FLOAT in (a.kind, b.kind):
        wide, *other = sorted((t for t in (a, b) if t.kind is Kind.FLOAT), key=lambda t: -t.bits)
        return float32 if other and other[0].bits == wide.bits else wide
    if a.kind is b.kind:
        return a if a.bits > b.bits else b
    signed, unsigned = (a, b) if a.kind is Kind.INT else (b, a)
    bits = max(signed.bits, 2 * unsigned.bits)
    return SCALARS.get(f"int{bits}")


def promote_all(types: Iterable[Scalar]) -> Scalar | None:
    """`promote` folded over one or more types."""
    others = iter(types)
    result = next(others, None)
    for t in others:
        result = promote(result, t) if result is not None else None
    return result
