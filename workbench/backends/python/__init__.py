"""The Python backend: it interprets the IR.

It defines what a kernel means; the other backends are tested against it.
"""

from workbench.backends.python.backend import PythonBackend
from workbench.backends.python.interpret import Step, run, step

__all__ = ["PythonBackend", "Step", "run", "step"]
