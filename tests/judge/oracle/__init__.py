"""An oracle that shares nothing with the compiler: CPython runs a program's own source, thread by thread.

It imports nothing of `workbench`. `run` gives the arrays after a launch, `gradient` the derivatives of a weighted sum
of the outputs, `tangent` their derivatives along a direction, from a tape of the same run in float64.
"""

from tests.judge.oracle.launches import Gradient, Outcome, gradient, run, tangent
from tests.judge.oracle.types import Unsupported

__all__ = ["Gradient", "Outcome", "Unsupported", "gradient", "run", "tangent"]
