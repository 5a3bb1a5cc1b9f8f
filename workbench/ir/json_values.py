"""JSON values that came from a file, believed only as far as they were checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol, TypeAlias, TypeVar, cast, get_origin, get_type_hints

from workbench.source import Location

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""The types of values in a JSON file; read-only, so that a list of one kind of values is one of JSON values."""
T = TypeVar("T")


class Locations(Protocol):
    """Writes and reads locations of operations, if the texts of their sources are not to be written with them."""

    def write(self, location: Location) -> list[Json]:
        """Return a location as JSON values."""
        ...

    def read(self, data: list[Json]) -> Location:
        """Return the location that `write` wrote."""
        ...


class Malformed(ValueError):
    """Raised for data that are no legal function, with the reason."""


def nth(items: list[T], number: Json, what: str) -> T:
    """Return the item with this number; `what` names the items in the error.

    Raises:
        Malformed: `number` is no number of an item.
    """
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(items):
        raise Malformed(f"there is no {what} {str(number)[:40]}")
    return items[number]


def checked(data: Json, what: str, form: type[T]) -> T:
    """Return the data as a dict with exactly the fields of a TypedDict, each of its type.

    What lists contain is checked when it is read.

    Args:
        data: JSON values.
        what: names them in the error.
        form: the TypedDict.

    Raises:
        Malformed: they are no such dict.
    """
    kinds = _kinds(form)
    if not isinstance(data, dict) or data.keys() != kinds.keys():
        raise Malformed(f"{what} with other fields than {', '.join(kinds)}")
    for name, value in data.items():
        if value.__class__ is not kinds[name]:
            raise Malformed(f"{what} whose {name} is no {kinds[name].__name__}")
    return cast(T, data)


@cache
def _kinds(form: type) -> dict[str, type]:
    """Return the classes of the fields of a TypedDict by name, `list` for `list[Json]`."""
    return {name: get_origin(kind) or kind for name, kind in get_type_hints(form).items()}
