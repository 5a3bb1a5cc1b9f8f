"""Values of a saved record's JSON, each checked as it is read: nothing in a file is believed.

Every function raises `Wrong` with what is wrong; the file's reader makes a `RecordError` of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from workbench.host.narrow import is_list
from workbench.runtime.arrays.host_convert import item
from workbench.runtime.device.call_site import Site
from workbench.structs import Struct
from workbench.types import MAX_NDIM, Scalar, Vector


class Wrong(Exception):
    """The error of a file whose content makes no sense."""


def record(data: Any, what: str, names: Sequence[str]) -> dict[str, Any]:
    """Return a dict that must have exactly these fields; `what` names it in messages."""
    if not isinstance(data, dict) or data.keys() != set(names):
        raise Wrong(f"{what} has other fields than {', '.join(names)}")
    return cast("dict[str, Any]", data)


def member(name: Any, members: Mapping[str, bytes]) -> bytes:
    """Return the bytes of a member of the file, which must exist."""
    if not isinstance(name, str) or name not in members:
        raise Wrong(f"the member {str(name)[:80]} is missing")
    return members[name]


def index(data: Any, count: int, what: str) -> int:
    """Return a number that must be at least 0 and less than `count`; `what` names the things that it numbers."""
    if type(data) is not int or not 0 <= data < count:
        raise Wrong(f"there is no {what} {str(data)[:40]}")
    return data


def checked_int(data: Any) -> int:
    """Return an integer whose absolute value must be below 2⁶²."""
    if type(data) is not int or abs(data) >= 2**62:
        raise Wrong(f"{str(data)[:40]} where a whole number was expected")
    return data


def checked_ints(data: Any) -> tuple[int, ...]:
    """Return a shape or strides: at most `MAX_NDIM` integers."""
    if not is_list(data) or len(data) > MAX_NDIM:
        raise Wrong("an invalid shape or strides")
    return tuple(checked_int(n) for n in data)


def checked_str(data: Any) -> str:
    """Return a name, which must have at most 1000 characters."""
    if not isinstance(data, str) or len(data) > 1000:
        raise Wrong("a number where a name was expected")
    return data


def seconds(data: Any) -> float:
    """Return a time in seconds, which must be a finite number."""
    if type(data) not in (int, float) or not abs(data) < 1e18:
        raise Wrong("an invalid time")
    return float(data)


def fill_value(data: Any, dtype: Scalar | Vector | Struct) -> Any:
    """Return the value of a fill, a number or one element, which an array of this type must be able to hold."""
    try:
        match data:
            case ["bytes", str() as digits]:
                return np.frombuffer(bytes.fromhex(digits), item(dtype)).reshape(dtype.shape)[()]
            case ["float", str() as text]:
                value: float = float.fromhex(text)
            case bool() | int():
                value = data
            case _:
                raise Wrong("a fill with something that is not a number")
        with np.errstate(all="ignore"):
            np.full((), value, item(dtype))
    except (ValueError, OverflowError, TypeError):
        raise Wrong("a fill with a number that the array cannot hold") from None
    return value


def site(data: Any) -> Site | None:
    """Return a line of a source file; None if the file has none."""
    match data:
        case None:
            return None
        case [str() as filename, int() as line] if not isinstance(line, bool):
            return Site(filename, line)
        case _:
            raise Wrong("a place that is none")


def field_place(data: Any) -> tuple[int, int] | None:
    """Return the pitch of structs and the offset of a field in them, in bytes; None if the array is no such field."""
    match data:
        case None:
            return None
        case [int() as pitch, int() as offset] if not isinstance(pitch, bool) and not isinstance(offset, bool):
            if 0 < pitch < 2**31:
                return pitch, offset
        case _:
            pass
    raise Wrong("an array that is an improper field of structs")
