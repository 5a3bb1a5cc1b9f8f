"""A PTX kernel as an object file, through the CPU backend's isolated compiler; and what a launch must know about it."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.backends.cpu.compile import CpuBackend, compile_text
from workbench.backends.ptx.counters import empty_table
from workbench.backends.ptx.emit.kernel import KernelText, emit_kernel
from workbench.backends.ptx.syntax.program import Instruction, Program


@dataclass(frozen=True)
class Options:
    """How a kernel is compiled.

    Attributes:
        counting: per basic block, count the warps and lanes that execute it (`Launch.counters`).
    """

    counting: bool = False


@dataclass(frozen=True)
class Facts:
    """What a launch needs beside the object.

    Attributes:
        name: the kernel's.
        code: its instructions after inlining; faults name an index in it.
        suspends: its warps may wait for each other.
        shared: bytes of static shared memory.
        local: bytes of local memory per thread.
        symbols: module variables whose addresses a launch passes, in this order.
        blocks: index in `code` of each basic block's first instruction.
        parameter_size: bytes of its packed parameters.
        counters: words of the table that it counts in; 0 if it does not count.
    """

    name: str
    code: tuple[Instruction, ...]
    suspends: bool
    shared: int
    local: int
    symbols: tuple[str, ...]
    blocks: tuple[int, ...]
    parameter_size: int
    counters: int = 0


@dataclass(frozen=True)
class Compiled:
    """An object file and its facts; it pickles, so that a cache may keep it."""

    image: bytes
    facts: Facts


def compile_kernel(program: Program, name: str, options: Options = Options()) -> Compiled:
    """Compile one kernel of a program for this machine.

    Args:
        program: what `parse` returned.
        name: the kernel's, as `program.entries` has it.
        options: counters.

    Returns:
        The object, which `load` takes.

    Raises:
        BuildError: there is no such kernel, it has an instruction that cannot be executed (the message names it, its
            line and the version of the PTX), or LLVM was lost.

    Example:
        >>> kernel = load(compile_kernel(parse(text), "saxpy"))
    """
    made = emit_kernel(program, name, options.counting)
    image = compile_text(made.text, CpuBackend().target(), vectorise=False)
    return Compiled(image, facts_of(name, made, options.counting))


def facts_of(name: str, made: KernelText, counting: bool = False) -> Facts:
    """What a kernel's object does not say of itself."""
    return Facts(
        name, made.code, made.suspends, made.shared, made.local, made.symbols, made.blocks, made.parameter_size,
        len(empty_table(len(made.blocks), len(made.code))) if counting else 0,
    )  # fmt: skip
