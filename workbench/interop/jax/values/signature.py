"""Signatures and copies of our JAX functions, as Python and JAX ask for them.

`jax.jit(f, static_argnames=…, donate_argnames=…)` finds the places of names in `inspect.signature(f)`; without them it
would donate nothing, silently.
"""

from __future__ import annotations

import inspect
from typing import Any


class _Signature:
    """Provides `__signature__` of an object: its parameters, then the keyword-only options of its class's call."""

    def __get__(self, owner: Any, kind: Any) -> inspect.Signature:
        """Return the signature of `owner`, an object of the class `kind`.

        Raises:
            AttributeError: it is read from the class itself, which has its constructor's signature.
        """
        if owner is None:  # the class has its constructor's
            raise AttributeError("__signature__")
        names = getattr(owner, kind.taking)
        positional = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
        own = inspect.signature(kind.__call__).parameters.values()
        options = [p for p in own if p.kind is inspect.Parameter.KEYWORD_ONLY and p.name not in names]
        return inspect.Signature([*positional, *options])


class FunctionObject:
    """Represents an object that is called as a function; `taking` names the attribute with its parameters' names.

    Copies of it are itself, as those of a `def` are: settings and layers are copied with the functions in them.
    """

    taking: str
    __signature__ = _Signature()

    def __init_subclass__(cls, *, taking: str) -> None:
        """Store the name of the attribute that holds the parameters' names."""
        cls.taking = taking

    def __copy__(self) -> Any:
        """Return itself."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Return itself."""
        return self
