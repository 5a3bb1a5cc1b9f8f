"""Names of an array: those that `x.<Tab>` lists, and advice for those that it lacks.

Advice is for names that NumPy and PyTorch have, and for `.grad` if there is none. The names listed are those for users,
not those that the library asks of its own objects.
"""

from __future__ import annotations

from typing import ClassVar, NoReturn

import numpy as np

from workbench.runtime.device.call_site import warn_of_user

_CLONE = "wb.clone(x) is a copy, which tapes and records see."
_INSTEAD = {
    "astype": "wb.array(x, dtype=wb.float64) is a copy of another dtype.",
    "fill": "x.fill_(value) sets every element.",
    **dict.fromkeys(("copy", "clone"), _CLONE),
    "detach": "x.numpy() has its elements, apart from every tape.",
    "cpu": 'x.to("cpu") is on the CPU; x.numpy() has its elements.',
    "cuda": 'x.to("cuda") is on the GPU.',
    "backward": "Launch inside `with wb.Tape() as tape:`, then call tape.backward(x).",
    "zero_grad": "x.grad.zero_() clears its gradient; wb.Tape(accumulate=False) sets it.",
    "numel": "x.size is the number of elements.",
    "dim": "x.ndim is the number of dimensions.",
    "ravel": "x.flatten() has one dimension.",
    "sort": "wb.utils.radix_sort_pairs sorts keys with their values; np.sort(x) is a NumPy array.",
    "cumsum": "wb.utils.array_scan(x, out) writes the running sums.",
    "norm": "wb.sqrt(x.dot(x)) is its length.",
    "itemsize": "x.dtype.size is the number of bytes of an element.",
}
"""Advice on what to write instead, by a name that NumPy's or PyTorch's arrays have and ours lack."""


class Lacking:
    """The last base class of `array`: a name that only NumPy's or PyTorch's arrays have says what to write instead.

    One descriptor per name, and no `__getattr__`: with one, CPython 3.11 reads *every* attribute of an array in 50 ns,
    not 7, and a launch reads dozens. To misspelt names Python itself says which one may be meant.
    """

    __slots__ = ()

    def __dir__(self) -> list[str]:
        """Return the names that can be read: without those that only NumPy's or PyTorch's arrays have."""
        return [name for name in super().__dir__() if hasattr(type(self), name)]


class _Absent:
    """A descriptor for a name that arrays lack: reading it raises an AttributeError that says what to write instead."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, value: object, owner: object = None) -> NoReturn:
        """Raise an AttributeError that says what to write instead of the name."""
        # Without `obj`, Python would give it one and add a name of ours that is spelt alike: `type` to `astype`.
        raise AttributeError(
            f"an array has no attribute {self.name!r}. {_instead_of(self.name)}", name=self.name, obj=None
        )


def _instead_of(name: str) -> str:
    """Return a sentence on what to use for a name of NumPy's or PyTorch's that arrays do not have."""
    if name in _INSTEAD:
        return _INSTEAD[name]
    if callable(getattr(np, name, None)):
        return f"np.{name}(x) takes it and returns what NumPy does; in a kernel, write a loop."
    return f"x.numpy().{name} is NumPy's."


for _name in {*_INSTEAD, *dir(np.ndarray)}:
    if not _name.startswith("_"):
        setattr(Lacking, _name, _Absent(_name))


def warn_no_grad() -> None:
    """Warn that `.grad` is None though a tape has computed the gradient, if a line of the user's reads the property."""
    warn_of_user(
        "This array's .grad is None: it was made without requires_grad=True. "
        "tape.gradients[x] has its gradient; or make it with requires_grad=True, before the tape records."
    )


class Listed:
    """A base class whose `dir` leaves out the names in `_internal`."""

    __slots__ = ()

    _internal: ClassVar[str] = ""

    def __dir__(self) -> list[str]:
        """Return the names without those in `_internal`, sorted."""
        return sorted(set(super().__dir__()) - set(self._internal.split()))
