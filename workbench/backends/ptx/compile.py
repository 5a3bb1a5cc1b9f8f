"""A PTX kernel as an object file, through the CPU backend's isolated compiler; and what a launch must know about it."""

from __future__ import annotations

import msgspec

from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import compile_text
from workbench.backends.ptx.emit.kernel import KernelMetadata, emit_kernel
from workbench.backends.ptx.syntax.program import Program


class Options(msgspec.Struct, frozen=True):
    """Options for compiling a PTX kernel for the CPU.

    Attributes:
        counting: per basic block, count the warps and lanes that execute it (`Launch.counters`).
    """

    counting: bool = False


PLAIN = Options()
"""Default options: nothing is counted."""


class Compiled(msgspec.Struct, frozen=True):
    """A PTX kernel compiled to a native object file, with its metadata; it can be pickled and so cached.

    Attributes:
        image: the object file.
        metadata: what a launch needs to know besides.
    """

    image: bytes
    metadata: KernelMetadata


def compile_kernel(program: Program, name: str, options: Options = PLAIN) -> Compiled:
    """Compile one kernel of a PTX program to native code for this machine.

    Args:
        program: what `parse` returned.
        name: the kernel's name, a key of `program.entries`.
        options: whether the kernel counts what it executes.

    Returns:
        The object file and its metadata, which `load` takes.

    Raises:
        BuildError: there is no such kernel, it has an instruction that cannot be executed (the message names it, its
            line and the version of the PTX), or the LLVM process ended.

    Example:
        >>> kernel = load(compile_kernel(parse(text), "saxpy"))
    """
    emitted = emit_kernel(program, name, options.counting)
    image = compile_text(emitted.text, CpuBackend().target(), vectorise=False)
    return Compiled(image, emitted.metadata)
