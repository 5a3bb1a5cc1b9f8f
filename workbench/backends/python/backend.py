"""The interpreter behind the interface of a backend. Nothing is compiled: its text and its image are the IR itself."""

from __future__ import annotations

import platform

import numpy as np

from workbench.backends.base import Artifact, Backend, Options
from workbench.ir.show import canonical, show
from workbench.ir.values import Function


class PythonBackend(Backend):
    """Interprets: `emit` shows the IR, `compile` keeps its canonical text (there is nothing to load; call `run`)."""

    name = "python"

    def version(self) -> str:
        """The versions of Python and NumPy, which do the arithmetic."""
        return f"python {platform.python_version()}, numpy {np.__version__}"

    def target(self) -> str:
        """Always `python`."""
        return "python"

    def emit(self, function: Function, options: Options, target: str) -> str:
        """The IR as readable text."""
        return show(function)

    def compile(self, function: Function, options: Options, target: str) -> Artifact:
        """The canonical IR text as bytes; `run(function, …)` needs no artifact."""
        facts = {"entry": function.name, "stages": {}, "backend": self.name, "target": target}
        return Artifact(canonical(function).encode(), facts)
