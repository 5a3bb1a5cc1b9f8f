"""The CPU backend, as far as code from the cache needs it: what is compiled for what by which LLVM.

The compiler itself (`compile.py`) is imported when something is compiled.
"""

from __future__ import annotations

from workbench.backends.base import Artifact, Backend, Options
from workbench.backends.cpu import machine
from workbench.ir.values import Function


class CpuBackend(Backend):
    """LLVM through llvmlite.

    A target is a CPU's name; the machine's own stands with a digest of its features and its vector maths library, which
    only code for this machine uses.
    """

    name = machine.NAME

    def version(self, target: str = "") -> str:
        """llvmlite's and LLVM's versions."""
        return machine.version()

    def target(self) -> str:
        """Return the target of `settings().cpu`: this machine (`sapphirerapids+1f2e…`), or a portable level."""
        return machine.target()

    def emit(self, function: Function, options: Options, target: str) -> str:
        """Return the function's LLVM IR before optimisation.

        Raises:
            BuildError: an operation cannot be expressed in LLVM IR.
        """
        from workbench.backends.cpu.compile import emitted

        return emitted(function, options, target).text

    def compile(self, function: Function, options: Options, target: str) -> Artifact:
        """Return the function as an ELF, Mach-O or COFF object of this platform, or as one of WebAssembly.

        Raises:
            BuildError: an operation cannot be expressed in LLVM IR, or LLVM refused the text; `log` holds what it said.
            DeviceError: `target` is no CPU of this platform.
        """
        from workbench.backends.cpu.compile import compiled

        return compiled(function, options, target)

    def prepare(self) -> None:
        """Start a worker process, if there is none."""
        from workbench.backends.cpu.compile import POOL

        POOL.prepare()
