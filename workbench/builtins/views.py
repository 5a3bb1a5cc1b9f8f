"""The index of an element of a view, or of a matrix: the only operation that knows the bounds of a slice or a row.

Code without checks drops it for its first operand (`passes/checks/bounds_checks.py`): a slice costs an addition.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Sequence

from workbench.builtins.declaration.declare import builtin
from workbench.builtins.declaration.rules import Arg, Signature, argument_error, count
from workbench.builtins.scalars.operators import and_, where
from workbench.types import int32, int64


def _three_of(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of an operation from three int32, or three int64, to one."""
    count(name, args, 3)
    for type in (int32, int64):
        if all(a == type for a in args):
            return (type,) * 3, type
    raise argument_error(name, args, "three int32 or three int64")


@builtin(_three_of, elementwise=False, hidden=True, differentiable="no: integers")
def view_index(at, i, n):
    """`at`, the index of element i of a view of n elements; -1, which is no index, if there is no such element."""
    return at if 0 <= i < n else type(at)(-1)


view_index.expansion(lambda at, i, n: where(and_(i >= 0, i < n), at, at.like(-1)))
