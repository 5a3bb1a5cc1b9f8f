"""The CPU backend, as far as code from the cache needs it: what is compiled for what by which LLVM.

The compiler itself (`compile.py`) is imported when something is compiled.
"""

from __future__ import annotations

from workbench.backends.base import Artifact, Backend, Options
from workbench.backends.cpu import machine
from workbench.ir.values import Function


class CpuBackend(Backend):
    """The compiler for CPUs: LLVM, through llvmlite.

    A target is a CPU's name; that of this machine goes with a digest of its features and its vector maths library,
    since only this machine uses such code.
    """

    name = machine.NAME

    def version(self, target: str = "") -> str:
        """Return the versions of llvmlite and LLVM, which are the same for every target."""
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

        An ELF object for this machine is already linked into an image where our own loader supports it.

        Raises:
            BuildError: an operation cannot be expressed in LLVM IR, LLVM refused the text (`log` holds its message), or
                it crashed or hung.
            DeviceError: `target` is no CPU of this platform.
        """
        from workbench.backends.cpu.compile import compiled

        return compiled(function, options, target)

    def prepare(self) -> None:
        """Start a worker process for compiling, unless one runs already."""
        from workbench.backends.cpu.compile import POOL

        POOL.prepare()
