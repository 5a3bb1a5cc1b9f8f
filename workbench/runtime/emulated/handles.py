"""Handles: the numbers that stand for CUDA's objects. Each is of one kind, and no number is used twice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, TypeVar

from workbench.runtime.emulated.status_error import CudaStatusError

Kind = TypeVar("Kind")
_NUMBERS = itertools.count(0x7A0010, 16)
_ARTICLES = ("a", "an")


def called(kind: type) -> str:
    """Return a kind with its article: "a stream", "an event"."""
    name = kind.__name__.lower()
    return f"{_ARTICLES[name[0] in 'aeiou']} {name}"


class Handles:
    """Numbers to objects; the class of the object is the kind of the handle."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._gone: dict[int, str] = {}

    def new(self, thing: Any) -> int:
        """Create a handle of an object."""
        number = next(_NUMBERS)
        self._objects[number] = thing
        return number

    def get(self, handle: Any, kind: type[Kind], where: str) -> Kind:
        """Return the object of a handle.

        Raises:
            CudaStatusError: it stands for nothing, for nothing any more, or for another kind of thing.
        """
        number = int(handle or 0)
        value = self._objects.get(number)
        if isinstance(value, kind):
            return value
        if value is not None:
            what = f"{number:#x} is {called(type(value))}, not {called(kind)}"
        elif number in self._gone:
            what = f"{called(kind)} was used after it was destroyed"
        else:
            what = f"{number:#x} is no handle of {called(kind)}"
        raise CudaStatusError("CUDA_ERROR_INVALID_HANDLE", f"{where}: {what}")

    def drop(self, handle: Any, kind: type[Kind], where: str) -> Kind:
        """End a handle.

        Raises:
            CudaStatusError: as `get`.
        """
        value = self.get(handle, kind, where)
        del self._objects[int(handle)]
        self._gone[int(handle)] = called(kind)
        return value

    def all(self, kind: type[Kind]) -> Iterator[tuple[int, Kind]]:
        """Return the handles and objects of one kind."""
        return ((n, thing) for n, thing in list(self._objects.items()) if isinstance(thing, kind))
