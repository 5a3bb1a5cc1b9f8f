"""Threads of a block where a launch leaves them open (`block_dim=None`): by the code's registers and shared memory."""

from __future__ import annotations

from workbench.api.builds.build import compile_for
from workbench.api.kernels.kernel import Specialisation
from workbench.backends.base import Options
from workbench.backends.cuda.architectures import ARCHITECTURES
from workbench.errors import LaunchError
from workbench.runtime.device.device import driver_of
from workbench.runtime.launching.loaded import Loaded
from workbench.runtime.launching.occupancy import best_block
from workbench.runtime.launching.record import BLOCK_DIM


def block_size(specialisation: Specialisation, loaded: Loaded, options: Options) -> int:
    """Threads of a block with which the most warps are active at once; 256 on the CPU, where it means nothing.

    An emulated device has PTX alone: the cubin that says how many registers it takes is compiled, or from the cache.
    """
    if not loaded.device.is_cuda:
        return BLOCK_DIM
    arch = driver_of(loaded.device).arch(loaded.device.index)
    metadata = loaded.metadata
    if "registers" not in metadata:
        metadata = compile_for(specialisation, loaded.direction, options, arch).metadata
    known = ARCHITECTURES.get(arch)
    return best_block(known, metadata["registers"], metadata.get("shared", 0)) if known else BLOCK_DIM


def refuse_tiles(specialisation: Specialisation) -> None:
    """Code of tiles is made for one size of a block.

    Raises:
        LaunchError: the kernel has tiles.
    """
    if specialisation.tiling is not None:
        raise LaunchError(
            f"{specialisation.kernel.name}: a kernel of tiles is compiled for its block_dim, so None cannot choose it.",
            parameter="block_dim",
            advice="Give a number of threads, such as 128.",
        )
