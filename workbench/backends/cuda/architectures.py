"""The properties of GPUs by compute capability, which emulated devices and profiles have.

Limits are those of NVIDIA's table "Technical Specifications per Compute Capability" (CUDA C++ Programming Guide,
chapter "Compute Capabilities"); multiprocessors are those of one product of each kind, which is named.
"""

from __future__ import annotations

import msgspec

from workbench.backends.cuda.tiles.placement.arena import shared_limit


class Architecture(msgspec.Struct, frozen=True):
    """The limits of GPUs of one compute capability.

    Attributes:
        capability: 90 for compute capability 9.0.
        like: the product whose number of multiprocessors it has.
        units: the number of multiprocessors.
        threads: the most threads resident on a multiprocessor.
        blocks: the most blocks resident on a multiprocessor.
        shared: bytes of shared memory of a multiprocessor.
    """

    capability: int
    like: str
    units: int
    threads: int
    blocks: int
    shared: int

    @property
    def name(self) -> str:
        """The target to compile for: `sm_90`."""
        return f"sm_{self.capability}"

    def attributes(self) -> dict[str, int]:
        """Return the values of CUDA's device attributes by name, without the prefix `CU_DEVICE_ATTRIBUTE_`."""
        major, minor = divmod(self.capability, 10)
        return {
            "COMPUTE_CAPABILITY_MAJOR": major,
            "COMPUTE_CAPABILITY_MINOR": minor,
            "MULTIPROCESSOR_COUNT": self.units,
            "WARP_SIZE": 32,
            "MAX_THREADS_PER_BLOCK": 1024,
            "MAX_BLOCK_DIM_X": 1024,
            "MAX_BLOCK_DIM_Y": 1024,
            "MAX_BLOCK_DIM_Z": 64,
            "MAX_GRID_DIM_X": (1 << 31) - 1,
            "MAX_GRID_DIM_Y": 65535,
            "MAX_GRID_DIM_Z": 65535,
            "MAX_REGISTERS_PER_BLOCK": 65536,
            "MAX_REGISTERS_PER_MULTIPROCESSOR": 65536,
            "MAX_THREADS_PER_MULTIPROCESSOR": self.threads,
            "MAX_BLOCKS_PER_MULTIPROCESSOR": self.blocks,
            "MAX_SHARED_MEMORY_PER_BLOCK": 48 << 10,
            "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": shared_limit(self.name),
            "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": self.shared,
            "UNIFIED_ADDRESSING": 1,
            "MEMORY_POOLS_SUPPORTED": 1,
            "CONCURRENT_KERNELS": 1,
        }


ARCHITECTURES = {
    each.name: each
    for each in (
        Architecture(75, "T4", 40, 1024, 16, 64 << 10),
        Architecture(80, "A100", 108, 2048, 32, 164 << 10),
        Architecture(86, "A10", 72, 1536, 16, 100 << 10),
        Architecture(87, "Orin", 16, 1536, 16, 164 << 10),
        Architecture(89, "L4", 58, 1536, 24, 100 << 10),
        Architecture(90, "H100", 132, 2048, 32, 228 << 10),
        Architecture(100, "B200", 148, 2048, 32, 228 << 10),
        Architecture(103, "B300", 148, 2048, 32, 228 << 10),
        Architecture(120, "RTX 5090", 170, 1536, 24, 100 << 10),
    )
}
DEFAULT = "sm_90"
LABELS = ("0", "1", *ARCHITECTURES)
"""The labels of emulated devices, as after `emulated:` in their names; the first two have the default architecture."""


def architecture(index: int) -> Architecture:
    """Return the architecture of the emulated device at this position in `LABELS`; the default one for 0 and 1."""
    return ARCHITECTURES[DEFAULT if index < 2 else LABELS[index]]
