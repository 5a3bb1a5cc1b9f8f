"""A number that is not known while a function is noted down: it stands in a launch's arguments for what comes later.

Nothing can be computed with it here; whoever makes one (a JAX trace, say) may give it arithmetic.
"""

from __future__ import annotations

from workbench.types import Scalar, Vector


class Symbol:
    """A number whose type is known, and whose value is not.

    Attributes:
        type: a scalar type, or a vector type for several numbers.
    """

    def __init__(self, type: Scalar | Vector) -> None:
        self.type = type

    def become(self, kernel: str, name: str, type: Scalar | Vector) -> Symbol:
        """Return the number as an argument of another type.

        Args:
            kernel: the kernel that takes it, for messages.
            name: the parameter, for messages.
            type: the parameter's type.

        Raises:
            LaunchError: the conversion could lose something.
        """
        raise NotImplementedError
