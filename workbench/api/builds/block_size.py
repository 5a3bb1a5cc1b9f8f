"""Threads of a block where a launch leaves them open (`block_dim=None`): by the code's registers and shared memory."""

from __future__ import annotations

from workbench.api.builds.build import compile_for
from workbench.api.kernels.kernel import Specialisation
from workbench.backends.base import Options
from workbench.backends.cuda.architectures import ARCHITECTURES
from workbench.errors import LaunchError
from workbench.runtime.device.device import driver_of
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.occupancy import best_block
from workbench.runtime.launching.record import BLOCK_DIM


def block_size(specialisation: Specialisation, executable: Executable, options: Options) -> int:
    """Return the threads per block with which most warps are active at once, by the code's registers and shared memory.

    It is `BLOCK_DIM` on the CPU, where it means nothing, and on unknown architectures. For an emulated device, which
    runs PTX, the cubin that says how many registers it takes is compiled, or read from the cache.
    """
    if not executable.device.is_cuda:
        return BLOCK_DIM
    arch = driver_of(executable.device).arch(executable.device.index)
    metadata = executable.metadata
    if "registers" not in metadata:
        metadata = compile_for(specialisation, executable.direction, options, arch).metadata
    known = ARCHITECTURES.get(arch)
    return best_block(known, metadata["registers"], metadata.get("shared", 0)) if known else BLOCK_DIM


def refuse_tiles(specialisation: Specialisation) -> None:
    """Refuse to choose a block size for a kernel of tiles, whose code is compiled for one size.

    Raises:
        LaunchError: the kernel has tiles.
    """
    if specialisation.tiling is not None:
        raise LaunchError(
            f"{specialisation.kernel.name}: a kernel of tiles is compiled for its block_dim, so None cannot choose it.",
            parameter="block_dim",
            advice="Give a number of threads, such as 128.",
        )
