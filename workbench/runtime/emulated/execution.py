"""PTX made executable for the emulated devices: compiled for the CPU, in the driver's terms."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping

import numpy as np

from workbench.backends.cuda.architectures import Architecture
from workbench.backends.cuda.user_source.preprocess import STEP
from workbench.backends.ptx import kernel as compiled
from workbench.backends.ptx.compile import Compiled
from workbench.backends.ptx.emit.kernel import emit_kernel
from workbench.backends.ptx.library import library_object
from workbench.backends.ptx.printf import formatted, placed_variables
from workbench.backends.ptx.syntax.expansions import CLUSTERS, MOST_CLUSTERS, WORKSPACE
from workbench.backends.ptx.syntax.parse import parse
from workbench.backends.ptx.syntax.program import SANITIZED, Loc, Program
from workbench.cache.native import native_image
from workbench.errors import BuildError, DeviceError
from workbench.runtime.emulated.arena import Arena
from workbench.runtime.emulated.code import Entry, Executable, Launch
from workbench.runtime.emulated.findings import Finding, pointed
from workbench.runtime.emulated.state import Machine
from workbench.runtime.emulated.status_error import CudaStatusError, expect

_FAULTS = {
    1: "CUDA_ERROR_ILLEGAL_ADDRESS", 2: "CUDA_ERROR_MISALIGNED_ADDRESS", 3: "CUDA_ERROR_LAUNCH_FAILED",
    4: "CUDA_ERROR_LAUNCH_TIMEOUT", 5: "CUDA_ERROR_LAUNCH_TIMEOUT", 6: "CUDA_ERROR_LAUNCH_TIMEOUT",
    7: "CUDA_ERROR_ILLEGAL_INSTRUCTION", 8: "CUDA_ERROR_ASSERT",
    12: "CUDA_ERROR_LAUNCH_TIMEOUT",
}  # fmt: skip
"""CUDA's status of each fault, by the kinds of `backends/ptx/context.py`.

What waits forever is ended on a GPU by its watchdog, if it has one.
"""


class _Entries(dict[str, Entry]):
    """The kernels of a module by symbol, each compiled at its first use, so that a faulty one hinders no other."""

    def __init__(self, make: Callable[[str], Entry]) -> None:
        """Begin empty; `make` compiles the kernel of a symbol and returns its entry."""
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> Entry:
        """Compile a kernel when it is first requested; store and return its entry.

        Raises:
            KeyError: the program has no such kernel.
            BuildError: the kernel cannot be compiled.
        """
        self[name] = self._make(name)
        return self[name]


class Native:
    """A PTX module whose kernels are compiled for the CPU, each on first use."""

    def __init__(self, program: Program, sanitized: bool = False) -> None:
        """Wrap a parsed program; `sanitized`: its kernels are compiled with checked accesses."""
        self.program, self.sanitized = program, sanitized
        self.entries: Mapping[str, Entry] = _Entries(self._entry)
        self._kernels: dict[str, compiled.Kernel] = {}
        self._places: dict[int, dict[str, int]] = {}
        self.variables = {v.name: v.size for v in program.variables.values() if v.space in ("global", "const")}

    def _entry(self, name: str) -> Entry:
        """Return symbol, sizes of parameters and static shared memory of a kernel, compiled at its first use.

        Raises:
            KeyError: the program has no such kernel.
            BuildError: it cannot be compiled.
        """
        if name not in self.program.entries:
            raise KeyError(name)
        sizes = tuple(p.size for p in self.program.entry(name).parameters)
        return Entry(name, sizes, self._kernel(name).metadata.shared)

    def _kernel(self, name: str) -> compiled.Kernel:
        """Return a kernel compiled for the CPU, at its first use; a sanitized module's has checked accesses.

        Raises:
            BuildError: an instruction is not emulated, or a sanitized kernel runs in clusters.
        """
        if name not in self._kernels:
            try:
                emitted = emit_kernel(self.program, name, sanitizing=self.sanitized)
            except BuildError as error:
                raise self._placed(error) from None
            if self.sanitized and emitted.metadata.cluster != (1, 1, 1):
                what = f"{name} runs in clusters, whose shared memory checks do not know."
                raise BuildError(what, advice="Launch it without checks: with wb.checks(False).", function=name)
            image = native_image(f"{name} (PTX)", emitted.text, vectorise=False)
            _library()
            self._kernels[name] = compiled.load(Compiled(image, emitted.metadata))
        return self._kernels[name]

    def run(self, name: str, launch: Launch, machine: Machine) -> None:
        """Run a launch to its end; what a sanitized one does wrong is reported to the machine.

        Raises:
            CudaStatusError: the launch did what a GPU does not survive.
            BuildError: the kernel cannot be compiled.
        """
        if not self.sanitized:
            machine.check(launch.params)
        kernel, code = self._kernel(name), self.program.entry(name)
        packed = bytearray(max(code.parameter_size, 1))
        for parameter, value in zip(code.parameters, launch.params, strict=True):
            packed[parameter.offset : parameter.offset + len(value)] = value
        prints = any(i.opcode == "call" for i in kernel.metadata.code)
        workers = 1 if prints or machine.seed else 0  # what blocks print comes in their order; a seed repeats a run
        size, blocks = kernel.metadata.cluster, math.prod(launch.grid)
        fits = (
            all(g % c == 0 for g, c in zip(launch.grid, size, strict=True))
            and blocks // math.prod(size) <= MOST_CLUSTERS
        )
        expect(fits or size == (1, 1, 1), f"{name} cannot run {launch.grid} blocks in clusters of {size}")
        # Blocks that may wait for one another run at once.
        together = blocks if (launch.cooperative and kernel.metadata.syncs_grid) or size != (1, 1, 1) else 0
        size = max(1, kernel.scratch_size(launch.block, launch.shared, workers, together))
        scratch, symbols = machine.alloc(size), self.addresses(machine)
        for counts in (n for n in (WORKSPACE, CLUSTERS) if n in symbols):
            at = symbols[counts] - machine.base
            machine.memory[at : at + self.variables[counts]] = 0

        def show(format_address: int, values: int) -> int:
            machine.write(formatted(format_address, values, machine).encode())
            return 0

        options = compiled.Launch(
            dynamic_shared=launch.shared, symbols=symbols, prints=show,
            condition=machine.set_condition, workers=workers, together=bool(together), seed=machine.seed,
            spans=np.stack(machine.spans(), 1).copy() if self.sanitized else None,
            written=machine.unwritten.distance() if self.sanitized and machine.unwritten is not None else 0,
        )  # fmt: skip
        try:
            arena = compiled.Arena(*machine.span(), scratch, size)
            fault = kernel.launch(launch.grid, launch.block, bytes(packed), arena, options)
        finally:
            machine.free(scratch)
            if machine.unwritten is not None:
                machine.unwritten.clear(scratch, size)
        if fault is not None and self.sanitized:
            machine.report(self._finding(kernel, launch, fault, machine.arena, scratch))
        elif fault is not None:
            line = self._line(fault.loc)
            where = f", line {line % STEP} of its text" if line else ""
            raise CudaStatusError(_FAULTS.get(fault.kind, "CUDA_ERROR_LAUNCH_FAILED"), str(fault).rstrip(".") + where)

    def addresses(self, machine: Machine) -> Mapping[str, int]:
        """Return the addresses of the module's variables on the machine's device, by symbol; allocate them at first."""
        if machine.device not in self._places:
            self._places[machine.device] = placed_variables(self.program, machine)
        return self._places[machine.device]

    def _finding(
        self, kernel: compiled.Kernel, launch: Launch, fault: compiled.Fault, arena: Arena, scratch: int
    ) -> Finding:
        """Return what the sanitizer reports of a fault: lines, allocation at the address, offset in shared memory."""
        at, size = fault.address, kernel.metadata.shared + launch.shared
        scratch_size, slot = (
            kernel.scratch_size(launch.block, launch.shared),
            kernel.scratch_size(launch.block, launch.shared, 1),
        )
        inside = scratch <= at < scratch + scratch_size
        shared = at - fault.shared if fault.shared else (at - scratch) % slot
        meant = "shared" in fault.instruction.name or (inside and 0 <= shared < size)
        other = fault.other.loc if fault.other is not None else None
        return Finding(
            0, launch, fault, self._line(fault.loc), self._line(other), pointed(launch.params, arena), arena.find(at),
            arena.found_freed(at),
            shared if meant else None, size, inside and not meant,
        )  # fmt: skip

    def _placed(self, error: BuildError) -> BuildError:
        """Replace, in place, the line of an error in the PTX by that in the CUDA C++ (0: unknown); return the error."""
        code = (i for function in self.program.functions.values() for i in function.code)
        error.line = next((self._line(i.loc) for i in code if i.line == error.line), 0)
        return error

    def _line(self, at: Loc | None) -> int:
        """Return the line of a cell that a source line is in, or that it was inlined into; 0 if there is none."""
        while at is not None and not self.program.files.get(at.file, "").startswith(CELL):
            at = at.inlined_at
        return at.line if at is not None else 0


@functools.cache
def _library() -> None:
    """Load the library that compiled kernels call, from the cache if it is there, once per process."""
    library_object.install(native_image("wb_ptx_library", library_object.text, vectorise=False))


CELL = "/cell/"
"""The prefix of the names of files that stand for cells."""


def load(ptx: bytes, architecture: Architecture) -> Executable:
    """Parse a PTX text for devices of an architecture; its kernels are compiled for the CPU when they are used.

    Raises:
        BuildError: it is not PTX that can be executed here.
        DeviceError: it was made for a newer architecture.
    """
    return Native(fitting(parse(ptx.decode()), architecture), ptx.startswith(SANITIZED))


def fitting(program: Program, architecture: Architecture) -> Program:
    """Check that an architecture can run a program, and return the program.

    Raises:
        DeviceError: it was made for a newer architecture.
    """
    made_for = int("".join(c for c in program.target.partition("_")[2] if c.isdigit()) or 0)
    if made_for > architecture.capability:
        raise DeviceError(
            f"The code is for {program.target}; the emulated device is {architecture.name}.",
            advice=f'Compile it for that architecture, or use another device: "emulated:{program.target}".',
        )
    return program
