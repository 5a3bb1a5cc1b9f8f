"""Atomic changes of array elements, besides `atomic_add`: the names, and what each makes of an element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.builtins.declaration.declare import form
from workbench.builtins.scalars.extrema import max as larger
from workbench.builtins.scalars.extrema import min as smaller
from workbench.ir.values import ATOMIC_KINDS

_SAFELY = "safely against other threads; gives the element's old value."
_ELEMENTS = "Elements of 32 or 64 bits, complex64 too."

atomic_min = form(
    "atomic_min(array, i, …, value)",
    f"The smaller of the element and the value (NaN where one is NaN, as min), {_SAFELY} Elements of 32 or 64 bits.",
)
atomic_max = form(
    "atomic_max(array, i, …, value)",
    f"The larger of the element and the value (NaN where one is NaN, as max), {_SAFELY} Elements of 32 or 64 bits.",
)
atomic_cas = form(
    "atomic_cas(array, i, …, old, new)",
    f"`new` in the place of an element that equals `old` (bit by bit), {_SAFELY} {_ELEMENTS}",
)
atomic_exch = form("atomic_exch(array, i, …, value)", f"The value in the place of the element, {_SAFELY} {_ELEMENTS}")
atomic_and = form(
    "atomic_and(array, i, …, value)", f"Bitwise and into an element, {_SAFELY} Integers of 32 or 64 bits."
)
atomic_or = form("atomic_or(array, i, …, value)", f"Bitwise or into an element, {_SAFELY} Integers of 32 or 64 bits.")
atomic_xor = form(
    "atomic_xor(array, i, …, value)", f"Bitwise exclusive or into an element, {_SAFELY} Integers of 32 or 64 bits."
)


def _exchanged(element: Any, value: Any) -> Any:
    """Return what an element is after `atomic_exch`: the value."""
    return value


def _swapped(element: Any, old: Any, new: Any) -> Any:
    """Return what an element is after `atomic_cas`: `new` if it equals `old` bit by bit, else itself."""
    return new if element.tobytes() == old.tobytes() else element


# From the element's value and the operands to the element's new value, on NumPy scalars of one type.
AFTER: dict[str, Callable[..., Any]] = {
    "min": smaller.reference,
    "max": larger.reference,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": _exchanged,
    "cas": _swapped,
}
assert AFTER.keys() == ATOMIC_KINDS.keys()
