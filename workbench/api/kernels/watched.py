"""Names that a kernel was made with: where to look whether they still mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

import numpy as np

from workbench.api.narrow import is_numpy_array, is_tuple
from workbench.frontend import MISSING, Watched, read_again


def plain_place(watched: Watched) -> tuple[Mapping[str, object], str, object] | None:
    """A dict and the key under which it holds the value, where looking there says all; None if it does not.

    So it is for a name of the user's globals and for an attribute of a module, as long as no closure is in the way; not
    for NumPy arrays, which can change in place.
    """
    if watched.place is not None:
        return (*watched.place, watched.value)
    root, *attrs = watched.path.split(".")
    scope = watched.definition.scope
    if watched.again is not None:
        return None
    if isinstance(watched.value, (np.ndarray, tuple)):
        return None
    if root in scope.own and root not in scope.defined:
        return None if attrs else (scope.own, root, watched.value)
    if root in scope.closure():
        return None
    if not attrs:
        return (scope.user, root, watched.value) if root in scope.user or root in scope.defined else None
    owner = read_again(watched.definition, ".".join([root, *attrs[:-1]]))
    place = vars(owner) if isinstance(owner, ModuleType) else {}
    return (place, attrs[-1], watched.value) if attrs[-1] in place else None


def same_value(before: object, now: object) -> bool:
    """Whether a captured constant is what it was; False if that cannot be known without comparing keys."""
    if is_tuple(before) and is_tuple(now):
        return len(before) == len(now) and all(same_value(a, b) for a, b in zip(before, now, strict=True))
    if before is now:
        return not is_numpy_array(before)  # an array can change in place: relower, the key decides
    if type(before) is not type(now) or now is MISSING:
        return False
    if isinstance(before, float) and isinstance(now, float):
        return before.hex() == now.hex()  # 0.0 is not -0.0, and NaN is itself
    return isinstance(before, (int, str)) and before == now
