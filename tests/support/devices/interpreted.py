"""Emulated devices whose PTX the interpreter runs: slow, without cleverness, and the judge of what is compiled."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.ptx_interpreter.lanes import Trap
from tests.support.ptx_interpreter.machine import Module
from workbench.backends.cuda.architectures import Architecture
from workbench.runtime.emulated.code import Entry, Executable, Launch
from workbench.runtime.emulated.execution import fitting
from workbench.runtime.emulated.state import Machine
from workbench.runtime.emulated.status_error import CudaStatusError

_TRAPS = {
    "address": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "misaligned": "CUDA_ERROR_MISALIGNED_ADDRESS",
    "trap": "CUDA_ERROR_LAUNCH_FAILED",
    "assert": "CUDA_ERROR_ASSERT",
    "timeout": "CUDA_ERROR_LAUNCH_TIMEOUT",
    "unsupported": "CUDA_ERROR_ILLEGAL_INSTRUCTION",
}


class Interpreted:
    """A module that the interpreter runs."""

    sanitized = False

    def __init__(self, module: Module) -> None:
        self.module = module
        self.variables = {v.name: v.size for v in module.program.variables.values()}
        self.entries: Mapping[str, Entry] = {}
        for name in module.program.entries:
            code = module.code(name)
            sizes = tuple(p.size for p in code.parameters)
            self.entries = {**self.entries, name: Entry(name, sizes, code.shared)}

    def addresses(self, machine: Machine) -> Mapping[str, int]:
        """Addresses of its variables by symbol, on the machine's device."""
        return self.module.placed(machine)

    def run(self, name: str, launch: Launch, machine: Machine) -> None:
        """Run a launch to its end.

        Raises:
            CudaStatusError: it did what a GPU does not survive.
        """
        try:
            self.module.run(name, launch.grid, launch.block, launch.params, launch.shared, machine)
        except Trap as trap:
            raise CudaStatusError(_TRAPS[trap.kind], str(trap)) from None


def load_interpreted(text: bytes, architecture: Architecture) -> Executable:
    """What `load` is to compiled kernels.

    Raises:
        BuildError, DeviceError: as `load`.
    """
    module = Module(text.decode())
    fitting(module.program, architecture)
    return Interpreted(module)
