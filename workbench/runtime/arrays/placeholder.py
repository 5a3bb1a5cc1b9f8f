"""A number that is not known while a function is noted down: it stands in a launch's arguments for what comes later.

Nothing can be computed with it here; whoever makes one (a JAX trace, say) may give it arithmetic.
"""

from __future__ import annotations

from workbench.types import Scalar, Vector


class Symbol:
    """A number of a known type and an unknown value.

    Attributes:
        type: its type: a scalar, or a vector of several.
    """

    def __init__(self, type: Scalar | Vector) -> None:
        self.type = type

    def become(self, kernel: str, name: str, type: Scalar | Vector) -> Symbol:
        """Return the same number as an argument of this type.

        Raises:
            LaunchError: something would be lost.
        """
        raise NotImplementedError
