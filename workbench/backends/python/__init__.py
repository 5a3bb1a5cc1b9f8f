"""The Python backend: it interprets the IR.

It defines what a kernel means; the other backends are tested against it.
"""

from workbench.backends.python.interpret import run, step
from workbench.backends.python.thread import Step

__all__ = ["Step", "run", "step"]
